"""What a comparison needs of a test: states and digests, no content."""

from typing import Annotated

from agenteval.results import AssertionState, TestResult, TestStatus
from agenteval.strict import Between, Matching, Model, model

FAILING = ("fail", "error")
SCORED_OTHERWISE = frozenset({"golden", "rubric"})
"""Assertions of tasks of a suite, whose scores are not shares of passed assertions."""
CLOSE = 1e-9
"""How far two equal scores may be apart."""


@model
class TestFacts(Model):
    """One test of a baseline.

    An entry of a test that fails says that the failure is known: until `expires`, it fails no run.
    """

    __test__ = False  # not a pytest class

    test_case_id: str
    """The test's id."""
    status: TestStatus
    """What became of it."""
    score: Annotated[float, Between(0, 1)] | None = None
    """Its score, from 0 to 1; a skipped test has none."""
    assertions: dict[str, AssertionState]
    """What became of each assertion, by its id."""
    calls: list[str] | None = None
    """The tool calls in order, each as the tool's name, a colon, and a digest of the arguments."""
    output: str | None = None
    """A digest of the final output."""
    owner: str | None = None
    """Who looks after the known failure."""
    reason: str | None = None
    """Why it is known and not fixed."""
    expires: Annotated[str, Matching("[0-9]{4}-[0-9]{2}-[0-9]{2}")] | None = None
    """The last day on which it may fail, as YYYY-MM-DD, in UTC."""

    def __post_init__(self) -> None:
        if self.expires is not None:
            from datetime import date

            try:
                date.fromisoformat(self.expires)
            except ValueError:
                raise ValueError(f"expires: {self.expires} is not a date") from None

    @property
    def failing(self) -> bool:
        """Whether the test failed, or could not be judged."""
        return self.status in FAILING

    @property
    def explained(self) -> bool:
        """Whether a person wrote something about it."""
        return bool(self.owner or self.reason or self.expires)


def facts_of(result: TestResult, score: float | None) -> TestFacts:
    """The facts of a result, except those that need a trace."""
    return TestFacts(
        test_case_id=result.test_case_id,
        status=result.status,
        score=score,
        assertions={each.id: each.state for each in result.assertions},
    )


def contradiction(facts: TestFacts) -> str:
    """How the facts of a test contradict each other, so that no run can have found them; empty when they do not."""
    status, states = facts.status, facts.assertions
    failed = next((name for name, state in states.items() if state == "fail"), "")
    judged = next((name for name, state in states.items() if state != "skip"), "")
    if status == "pass" and failed:
        return f"status is pass, and the assertion {failed} fails"
    if status == "pass" and states and not judged:
        return "status is pass, and every assertion is skipped"
    if status == "skipped" and judged:
        return f"status is skipped, and the assertion {judged} is not: {states[judged]}"
    if status == "skipped" and facts.score is not None:
        return "status is skipped, and it has a score"
    if status == "error" and states and "skip" not in states.values():
        return "status is error, and every assertion came to a verdict"
    if facts.score is not None and all(abs(facts.score - each) > CLOSE for each in _scores(facts)):
        return f"score is {facts.score:g}, which a {status} with these assertions cannot have"
    return ""


def _scores(facts: TestFacts) -> list[float]:
    """The scores that a test may have: which assertions are critical is not known, but those that fail are."""
    states = list(facts.assertions.values())
    failed, passed = states.count("fail"), states.count("pass") + states.count("vacuous")
    if facts.status == "error":
        return [0]
    if not states or facts.score is None or not SCORED_OTHERWISE.isdisjoint(facts.assertions):
        return [facts.score or 0]
    if facts.status == "pass":
        return [1]
    if failed:
        return [most / (most + failed) for most in range(passed + 1)]
    return (
        [0, 1] if "warn" in states else [0]
    )  # a warning costs no score; a failure that did not come costs all
