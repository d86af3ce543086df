"""What assertions say of a changed trace. One that breaks down says something too: its test would be no pass."""

from collections.abc import Iterable
from typing import Any

from agenteval import budget, judging
from agenteval.assertions.base import Assertion, Verdict
from agenteval.errors import AssertionCrashError
from agenteval.loading import BoundAssertion
from agenteval.spec import TestCase
from agenteval.trace import Trace


def verdict_on(trace: Trace, check: Assertion, case: TestCase) -> Verdict | None:
    """The verdict of an assertion; None when it crashes, or answers something else, as those of plugins may."""
    try:
        with budget.step(AssertionCrashError):
            verdict: Any = judging.verdict_on(check, trace, case)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever a check raises, it came to no verdict
        return None
    return verdict if isinstance(verdict, Verdict) else None


def noes(checks: Iterable[BoundAssertion], trace: Trace, case: TestCase) -> frozenset[str]:
    """The ids of the assertions that do not accept a trace. One that crashes counts: its test would be an error."""
    found = []
    for bound in checks:
        if any(not getattr(trace.capabilities, flag) for flag in bound.requires):
            continue
        verdict = verdict_on(trace, bound.check, case)
        if verdict is None or (verdict.applicable and not verdict.passed):
            found.append(bound.spec.id)
    return frozenset(found)
