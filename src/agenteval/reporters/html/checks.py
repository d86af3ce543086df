"""Assertion results as the HTML report shows them: what was expected, what was observed, and at which events."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agenteval.reporters.html.texts import Text, named_values, text
from agenteval.results import AssertionResult, Excerpt

KINDS = ("fail", "warn", "xfail", "skip", "vacuous", "pass")
"""What an assertion result is shown as, the most urgent first."""

_DIFFERENCE = re.compile(r"(?s)(\S+): expected (.*), got (.*)")
_NEXT_DIFFERENCE = re.compile(r"; (?=\S+: expected )")
_SAYS = re.compile(r"expected ([^;]+?)(?:, got:? |, but )(.+)")
"""With a semicolon before `got`, a message lists places or quotes the agent: it is not taken apart."""
_NEXT_SAYS = re.compile(r"; (?=expected )")


@dataclass(slots=True, frozen=True)
class Difference:
    """Where something is not as expected; `place` and `got` are empty for a note in other words."""

    place: str
    expected: str
    got: str


@dataclass(slots=True, kw_only=True)
class Check:
    """One assertion result. `message` is all but what was expected, and what was got; `before` its kind in the baseline, if any."""

    result: AssertionResult
    kind: str
    anchor: str
    against: list[tuple[str, str]]
    message: Text
    asked: list[tuple[str, Text]]
    observed: list[tuple[str, Text]]
    differences: dict[str, list[Difference]] = field(default_factory=dict)
    before: str = ""

    @property
    def excerpts(self) -> Sequence[Excerpt]:
        """The events of its evidence, for a run that kept no traces."""
        return self.result.evidence.excerpts


def checks(results: Sequence[AssertionResult], before: Sequence[AssertionResult], anchor: str) -> list[Check]:
    """The assertion results of a test, the most urgent first. `before` are those of the baseline."""
    kinds_before = {each.id: each.state for each in before}
    made = [
        _check(result, kinds_before.get(result.id, ""), f"{anchor}--check-{number}")
        for number, result in enumerate(results, 1)
    ]
    return sorted(made, key=lambda check: KINDS.index(check.kind))


def _check(result: AssertionResult, before: str, anchor: str) -> Check:
    kind = result.state
    first, _, rest = result.message.partition("\n")
    against = _against(first) if kind in ("fail", "warn", "xfail") else []
    return Check(
        result=result,
        kind=kind,
        anchor=anchor,
        against=against,
        message=text(rest if against else result.message),
        asked=named_values(result.params),
        observed=named_values(result.observed),
        differences={each.event_id: differences(each.note) for each in result.evidence.excerpts if each.note},
        before=before,
    )


def _against(message: str) -> list[tuple[str, str]]:
    """What was expected, and what was got, for each thing that a message tells so; none, if it has other parts.

    A message that quotes tells of one thing: what is quoted may have any form.
    """
    told = [message] if '"' in message else _NEXT_SAYS.split(message)
    says = list(map(_SAYS.fullmatch, told))
    return [(found[1], found[2]) for found in says if found] if all(says) else []


def differences(note: str) -> list[Difference]:
    """A note of the evidence, as far as possible place by place."""
    found = []
    for part in _NEXT_DIFFERENCE.split(note):
        match = _DIFFERENCE.fullmatch(part)
        found.append(Difference(*match.groups()) if match else Difference("", part, ""))
    return found
