"""A run that is compared while it goes on, and of which a new baseline can be made."""

from dataclasses import dataclass
from pathlib import Path

from agenteval.comparing.baseline import BaselineFile, renewed
from agenteval.comparing.compare import Comparer
from agenteval.comparing.comparison import ComparedSide, Comparison
from agenteval.comparing.facts import TestFacts, facts_of
from agenteval.comparing.sides import Side, side_test
from agenteval.comparing.trajectories import Trajectory, recorded
from agenteval.results import TestResult
from agenteval.runner import Outcome


@dataclass(slots=True)
class Seen:
    """What a comparison needs of a test beside its result: what its trace shows, and assertions that were not judged."""

    trajectory: Trajectory | None
    left_out: frozenset[str]


def seen(outcome: Outcome) -> Seen:
    """What a comparison needs of a test that was just judged."""
    trace, test = outcome.trace, outcome.test
    return Seen(
        recorded(trace, outcome.redactor) if trace is not None else None,
        frozenset(each.id for each in test.case.assertions) - {bound.spec.id for bound in test.checks},
    )


class Watch:
    """What `--baseline` and `--update-baseline` ask for, told of each test as it ends.

    `before` is what the run is compared with, `target` the file that takes a new baseline, `old` what stands there.
    """

    def __init__(
        self, *, before: Side | None, today: str, target: Path | None = None, old: BaselineFile | None = None
    ) -> None:
        self.before = before
        self.target = target
        self.known_failures = 0
        """Failed tests of which the baseline knows all failures, and accepts them today."""
        self._old = old
        self._comparer = Comparer(before, today) if before else None
        self._facts: list[TestFacts] = []
        self._not_selected: set[str] = set()

    def add(self, result: TestResult, seen: "Seen", score: float | None) -> None:
        """Compare a test that was judged, with its score; a skipped one has none."""
        facts = facts_of(result, score)
        trajectory = seen.trajectory
        if trajectory is not None:
            facts.calls = [call.key for call in trajectory.calls]
            facts.output = trajectory.output_digest
        test = side_test(result, facts, lambda: trajectory)
        test.left_out = seen.left_out
        changes = self._comparer.add(test) if self._comparer else []
        if self._comparer and result.status == "fail" and not any(change.regression for change in changes):
            self.known_failures += 1
        if self.target:
            self._facts.append(facts)

    def leave_out(self, test_id: str) -> None:
        """A test that is there and was not selected: it is not missing."""
        self._not_selected.add(test_id)

    def close(self, after: ComparedSide, *, complete: bool) -> Comparison | None:
        """The comparison; None when there is nothing to compare with. `complete`: every selected test was judged."""
        if self._comparer is None:
            return None
        return self._comparer.close(after, not_selected=frozenset(self._not_selected) if complete else None)

    def baseline(self, after: ComparedSide) -> BaselineFile:
        """The baseline that this run makes."""
        return renewed(
            self._facts,
            suite_id=after.suite_id,
            suite_version=after.suite_version,
            score=after.score,
            old=self._old,
            kept=frozenset(self._not_selected),
        )
