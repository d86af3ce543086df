"""What an assertion is: one class, whose fields are its parameters and whose `check` judges a trace.

To add one: write the class in the module of its category, add a line to the catalogue in `__init__.py`, and
give it a passing, a failing, a vacuous and a gated test. CONTRIBUTING.md shows it step by step.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from agenteval.assertions.looks import BY_CATEGORY, Looks, looks_by_fields
from agenteval.spec import TestCase
from agenteval.strict import Model
from agenteval.trace import Event, Trace

Category = Literal[
    "outcome",
    "tool_process",
    "groundedness",
    "memory",
    "isolation",
    "scheduler",
    "recovery",
    "efficiency",
    "safety",
]


Proof = Literal["pass", "fail"]
"""A verdict, as `Assertion.proves` names it."""


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What a check found.

    `events` decide the verdict; `closest` are events that almost did, each with what is different about it.
    `observed` holds the values judged, as JSON. `exercised` is False when there was nothing to judge, and
    `reason` then says why; `applicable` is False when the trace lacks what the check needs, which skips it. `missing`
    names capabilities these parameters need beyond `implied` that the recording lacks: because of that, nothing
    was judged, or, when `applicable`, not everything, which does not pass where missing capabilities fail.
    """

    passed: bool
    message: str
    observed: dict[str, Any] = field(default_factory=dict)
    events: Sequence[Event] = ()
    closest: Sequence[tuple[Event, str]] = ()
    exercised: bool = True
    reason: str = ""
    applicable: bool = True
    missing: Sequence[str] = ()
    lacks: str = ""
    proven: bool | None = None
    category: str = ""


def passed(
    message: str, *, events: Sequence[Event] = (), proven: bool | None = None, **observed: Any
) -> Verdict:
    """The behaviour is as expected."""
    return Verdict(passed=True, message=message, events=events, proven=proven, observed=observed)


def failed(
    message: str,
    *,
    events: Sequence[Event] = (),
    closest: Sequence[tuple[Event, str]] = (),
    proven: bool | None = None,
    category: str = "",
    **observed: Any,
) -> Verdict:
    """The behaviour is not as expected. The message says expected and got."""
    return Verdict(
        passed=False,
        message=message,
        events=events,
        closest=closest,
        proven=proven,
        category=category,
        observed=observed,
    )


def vacuous(reason: str, **observed: Any) -> Verdict:
    """A pass that means nothing, since there was nothing to judge."""
    return Verdict(
        passed=True, message=f"nothing to judge: {reason}", exercised=False, reason=reason, observed=observed
    )


def not_applicable(reason: str, **observed: Any) -> Verdict:
    """The recording lacks what the check needs: it is skipped."""
    return Verdict(
        passed=True, message=reason, exercised=False, reason=reason, applicable=False, observed=observed
    )


def unsupported(capability: str, message: str, **observed: Any) -> Verdict:
    """These parameters need a capability that is missing: the gate of capabilities decides, as for `implied`."""
    verdict = not_applicable(message, **observed)
    verdict.missing = (capability,)
    return verdict


class Assertion(Model, ABC):
    """Base of all assertion types.

    A subclass is decorated with `@model`, documents what it counts and when it passes in its docstring (shown
    by `agenteval explain` and in the reference), and each parameter in the docstring under its field.
    """

    __slots__ = ()

    type: ClassVar[str]
    """The name in test files."""
    category: ClassVar[Category]
    """The scorecard category (SPEC 10)."""
    failure_category: ClassVar[str]
    """The kind of failure, in words a person uses; of one of another kind, the verdict says which."""
    implied: ClassVar[tuple[str, ...]] = ()
    """The capabilities without which the check cannot judge."""
    event_types_judged: ClassVar[tuple[str, ...] | None] = None
    """The types of event that the check looks at; those of its category, when not given."""
    proves: ClassVar[tuple[Proof, ...]] = ()
    """Which verdicts rest on what was found, and so stand whatever the recording does not show; where that depends on more, a
    verdict says so itself (`proven`). What was asked and answered is taken as it stands: so does what rests on it alone."""
    example: ClassVar[str]
    """The `params` of an example, as YAML."""

    @abstractmethod
    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace. Anything raised here makes the test an error."""

    def stands(self, verdict: Verdict) -> bool:
        """Whether nothing that a recording does not show could change a verdict: parts of the run, or arguments of calls."""
        if verdict.proven is not None:
            return verdict.proven
        return ("pass" if verdict.passed else "fail") in self.proves

    def looks_at(self) -> Looks:
        """Which tools and types of event the check looks at: it cannot see anything else go wrong.

        By default the types of `event_types_judged`, and what the parameters name (see `looks`).
        """
        types = self.event_types_judged
        return looks_by_fields(self, BY_CATEGORY.get(self.category, ()) if types is None else types)

    def judge(self, trace: Trace, case: TestCase) -> Verdict:
        """The entry point for callers: `check`, unless a type has a parameter of that name and so overrides this."""
        return self.check(trace, case)
