"""The project that a command works in, and what it keeps out of all output."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval.adapters import AdapterContext
from agenteval.config import from_here, load_config, project_root
from agenteval.errors import UsageError
from agenteval.hiding import SHORTEST_TEXT
from agenteval.redaction import RedactionRules, Redactor
from agenteval.reporters.stream import redact_with
from agenteval.settings import Config

if TYPE_CHECKING:
    from agenteval.plugins.registry import Registry


@dataclass(kw_only=True)
class OpenProject:
    """A project's root, its configuration, and the rules of redaction that follow from it."""

    root: Path
    config: Config
    rules: RedactionRules

    @cached_property
    def registry(self) -> "Registry":
        """The assertion types and adapters that its tests can use."""
        from agenteval.plugins.registry import Registry

        return Registry(self.root, self.config.plugins)

    @property
    def runs(self) -> Path:
        """The directory of its runs, relative to the current directory."""
        return from_here(self.root, self.config.artifacts_dir)

    def context_of(self, test: Path, run_id: str, *, allow_outside: bool) -> AdapterContext:
        """What an adapter may know of a test file of the project."""
        return AdapterContext(
            base_dir=test.parent,
            root=self.root,
            run_id=run_id,
            max_file_bytes=self.config.limits.max_file_bytes,
            allow_outside=allow_outside,
        )


def project_registry() -> "Registry":
    """The assertion types and adapters of the current directory's project. Raises `SpecError`."""
    from agenteval.plugins.registry import Registry

    root = project_root()
    return Registry(root, load_config(root).plugins)


def open_project(paths: Sequence[str] = (), secrets: Sequence[str] | None = None) -> OpenProject:
    """The project that the paths belong to (by default: that the current directory belongs to).

    From now on all output is redacted as it asks; `secrets` are as in `rules_of`. Raises `SpecError`, `UsageError`.
    """
    root = project_root(paths)
    config = load_config(root)
    rules = rules_of(config, secrets)
    redact_with(Redactor(rules=rules))
    return OpenProject(root=root, config=config, rules=rules)


def rules_of(config: Config, names: Sequence[str] | None = None) -> RedactionRules:
    """The rules of redaction that a configuration and a command line ask for.

    `names` are the environment variables of the command line; None is for a command that runs nothing, which accepts
    that a variable of the configuration is not set. Raises `UsageError`.
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
