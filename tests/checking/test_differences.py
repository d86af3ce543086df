"""The trials of both agents side by side."""

from types import SimpleNamespace
from typing import Any

import pytest

from agenteval.checking.differences import compared
from agenteval.contracts.results import TrialsResult
from agenteval.redaction.redactor import Redactor
from builders import make_trace


def series(*answers: str) -> Any:
    """Trials that end in these answers, of which those with a 42 pass."""
    outcomes = [
        SimpleNamespace(
            trace=make_trace(output=each),
            redactor=Redactor(),
            result=SimpleNamespace(status="pass" if "42" in each else "fail"),
        )
        for each in answers
    ]
    return SimpleNamespace(outcomes=outcomes, number=len(answers), bar=1.0)


def rate(side: Any) -> TrialsResult:
    passed = sum(each.result.status == "pass" for each in side.outcomes)
    return TrialsResult(asked=side.number, judged=side.number, passed=passed, pass_at_least=1.0)


@pytest.mark.parametrize(
    ("before", "after", "answers"),
    [
        (("42 a", "42 b"), ("42 c", "none"), ["42 a", "none"]),
        (("none", "42 b"), ("none", "42 d"), ["none", "none"]),
        (("none", "42 b"), ("42 c", "42 d"), ["none", "42 c"]),
    ],
)
def test_the_answers_that_are_shown(before: Any, after: Any, answers: list[str]) -> None:
    """Of today's agent one that fails, where more trials fail than before."""
    was, now = series(*before), series(*after)
    assert compared(was, now, rate(was), rate(now), stopped=False).answers == answers
