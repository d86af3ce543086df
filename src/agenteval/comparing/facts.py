"""What a comparison needs of a test: states and digests, no content."""

from typing import Annotated

from agenteval.results import AssertionState, TestResult, TestStatus
from agenteval.strict import Between, Matching, Model, model

FAILING = ("fail", "error")


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
                raise ValueError(f"expires: there is no day {self.expires}") from None

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
