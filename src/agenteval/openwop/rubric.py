"""Rubric tasks: a judge decides criterion by criterion; the score is the share of the weights that are met."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from agenteval.assertions.base import Assertion, Category, Proof, Verdict, failed, passed
from agenteval.openwop.models import Criterion, Score, Text
from agenteval.spec import TestCase
from agenteval.strict import Model, model, plain
from agenteval.trace import Trace

MOST_TOLD = 5


@model
class RubricVerdict(Model):
    """What a judge says of one criterion."""

    criterion: Text
    """The criterion, as the suite has it."""
    met: bool
    """Whether the output meets it."""
    reason: str = ""
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a judge is asked: the task, the agent's input and output, and the criteria."""

    suite_id: str
    suite_version: str
    task_id: str
    input: Any
    output: str
    criteria: Sequence[Criterion]


Judge = Callable[[Question], Sequence[RubricVerdict]]
"""Answers a question with one verdict per criterion, in their order. What it raises makes the test an error."""


class _Decided(Assertion):
    """The state of a rubric beside its parameters: what decides on an output, and the score it came to."""

    __slots__ = ("decide", "share")
    decide: Callable[[str], Sequence[RubricVerdict]]
    share: Fraction


@model
class RubricMet(_Decided):
    """The final output meets the suite's criteria, by their weight.

    The score is the weight of the criteria that are met, of the weight of all; 0 when they weigh nothing. Passes when it
    is at least `pass_score`. A run without a final output meets none.
    """

    type: ClassVar[str] = "rubric"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "rubric not met"
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    example: ClassVar[str] = "rubric: [{criterion: names the 30 days, weight: 1}]\npass_score: 0.8\n"

    rubric: list[Criterion]
    """The criteria."""
    pass_score: Score
    """The least score, from 0 to 1."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        if trace.final_output is None:
            self.share = Fraction(0)
            return failed("expected an output that meets the rubric, got no final output", score=0.0)
        verdicts = self.decide(trace.output)
        self.share = share(self.rubric, [each.met for each in verdicts])
        unmet = [
            f"{each.criterion!r}{f' ({each.reason})' * bool(each.reason)}"
            for each in verdicts
            if not each.met
        ]
        beyond = f" and {len(unmet) - MOST_TOLD} more" if len(unmet) > MOST_TOLD else ""
        score = float(self.share)
        got = f"score {score:.6g}: {len(verdicts) - len(unmet)} of {len(verdicts)} criteria met"
        got += f"; not met: {', '.join(unmet[:MOST_TOLD])}{beyond}" if unmet else ""
        events = trace.of_type("final_output")[-1:]
        observed: dict[str, Any] = {"score": score, "verdicts": [plain(each) for each in verdicts]}
        if self.share < exact(self.pass_score):
            return failed(
                f"expected a score of at least {self.pass_score:g}, got {got}", events=events, **observed
            )
        return passed(got, events=events, **observed)


def share(rubric: Sequence[Criterion], met: Sequence[bool]) -> Fraction:
    """The share of all weights that is met: exact, with the weights as they are written."""
    weights = [exact(criterion.weight) for criterion in rubric]
    total = sum(weights, Fraction(0))
    reached = sum((weight for weight, yes in zip(weights, met, strict=True) if yes), Fraction(0))
    return reached / total if total else Fraction(0)


def exact(number: float) -> Fraction:
    """A number as it is written: 0.1 is a tenth."""
    return Fraction(repr(number))
