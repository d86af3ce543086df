"""Compares a run while it goes on, and makes a new baseline of it."""

from functools import partial
from pathlib import Path

from agenteval.comparing.baseline import BaselineFile, renewed
from agenteval.comparing.compare import Comparer
from agenteval.comparing.comparison import ComparedSide, Comparison
from agenteval.comparing.facts import TestFacts, facts_of
from agenteval.comparing.sides import Side, SideTest, side_test
from agenteval.comparing.trajectories import Trajectory, recorded
from agenteval.runner import Outcome


def seen(outcome: Outcome, score: float | None) -> SideTest:
    """What a comparison needs of a test that was just judged; `score` is None for a skipped one."""
    trace, test = outcome.trace, outcome.test
    facts = facts_of(outcome.result, score)
    trajectory = recorded(trace, outcome.redactor) if trace is not None else None
    if trajectory is not None:
        facts.calls = [call.key for call in trajectory.calls]
        facts.output = trajectory.output_digest
    side = side_test(outcome.result, facts, partial(_itself, trajectory))
    judged = {bound.spec.id for bound in test.checks}
    left_out = (each.id for each in test.case.assertions if each.id not in judged)
    side.left_out = frozenset(map(outcome.redactor.name, left_out))
    return side


def _itself(trajectory: Trajectory | None) -> Trajectory | None:
    """The trajectory; a partial of this can be sent to another process, and a lambda cannot."""
    return trajectory


class Watch:
    """The work of `--baseline` and `--update-baseline` during a run; it gets each test as it ends.

    `before` is what the run is compared with, `target` the file for a new baseline, `old` its present content.
    """

    def __init__(
        self, *, before: Side | None, today: str, target: Path | None, old: BaselineFile | None
    ) -> None:
        self.target = target
        self.known_failures = 0
        """Failed tests whose failures the baseline all knows, and accepts today."""
        self._old = old
        self._comparer = Comparer(before, today) if before else None
        self._facts: list[TestFacts] = []
        self._not_selected: set[str] = set()

    def add(self, test: SideTest) -> None:
        """Compare a test that was judged."""
        changes = self._comparer.add(test) if self._comparer else []
        failed = test.facts.status == "fail"
        if self._comparer and failed and not any(change.regression for change in changes):
            self.known_failures += 1
        if self.target:
            self._facts.append(test.facts)

    def leave_out(self, test_id: str) -> None:
        """Note a test that was not selected, and so is not missing."""
        self._not_selected.add(test_id)

    def close(self, after: ComparedSide, *, complete: bool) -> Comparison | None:
        """The comparison; None when there is nothing to compare with. `complete`: every selected test was judged."""
        if self._comparer is None:
            return None
        return self._comparer.close(after, not_selected=frozenset(self._not_selected) if complete else None)

    def baseline(self, after: ComparedSide) -> BaselineFile:
        """The baseline that this run makes."""
        return renewed(self._facts, after, old=self._old, kept=frozenset(self._not_selected))
