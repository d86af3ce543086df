"""Puts in force what the project and the command line want redacted."""

import os
from collections.abc import Iterator, Sequence

from agenteval.errors import UsageError
from agenteval.hiding import SHORTEST_TEXT
from agenteval.redaction import RedactionRules, Redactor
from agenteval.reporters.stream import redact_with
from agenteval.settings import Config


def redact_as(config: Config, names: Sequence[str] | None = None) -> RedactionRules:
    """The rules of a project and a command line, in force from now on. Raises `UsageError`."""
    rules = rules_of(config, names)
    redact_with(Redactor((), rules))
    return rules


def rules_of(config: Config, names: Sequence[str] | None = None) -> RedactionRules:
    """The rules of a project and a command line.

    `names` are the variables that the command line names; None stands for a command that runs nothing, to which a
    variable of the configuration that is not set does not matter. Raises `UsageError`.
    """
    wanted = dict.fromkeys([*(names or ()), *config.secrets])
    return RedactionRules(config.redaction.kinds, _values(list(wanted), lenient=names is None))


def _values(names: Sequence[str], *, lenient: bool) -> Iterator[str]:
    for name in names:
        value = os.environ.get(name, "")
        if len(value.strip()) >= SHORTEST_TEXT:
            yield value
        elif value.strip() and not lenient:
            raise UsageError(
                f"the value of {name} has fewer than {SHORTEST_TEXT} characters: it would be found everywhere",
                reason_code="usage.secret_short",
                next_step=f"use a longer value, or take {name} out of --secret and of `secrets` in the configuration",
            )
        elif not lenient:
            raise UsageError(
                f"the environment variable {name} is not set, so its value cannot be redacted",
                reason_code="usage.secret_unset",
                next_step=f"set {name}, or take it out of --secret and of `secrets` in the configuration",
            )
