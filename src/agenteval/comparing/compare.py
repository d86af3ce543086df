"""The changes of one test: its states before and after, and the kind of each change."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from agenteval.comparing.baseline import (
    FAILING,
    OF_THE_TEST,
    BaselineFile,
    Side,
    SideTest,
    TestFacts,
    facts_of,
    renewed,
    side_test,
)
from agenteval.comparing.comparison import KINDS, Change, ChangeKind, ComparedSide, Comparison, TestDifference
from agenteval.comparing.trajectories import Trajectory, call_changes, output_lines, recorded
from agenteval.judging.runner import Outcome
from agenteval.openwop.summary import score_delta


def changes_of(before: SideTest | None, after: SideTest, today: str) -> list[Change]:
    """The changes of one test of the second run. `today` is YYYY-MM-DD; known failures expire after their day."""
    facts = after.facts
    known = before.facts if before else None
    found = list(_changes(known, after))
    if known and not after.left_out:
        found += _score_change(known, facts, {change.kind for change in found})
    for change in found:
        change.message = change.message or after.messages.get(change.assertion or OF_THE_TEST, "")
        if known and change.kind == "still_failing":
            change.owner, change.reason, change.expires = known.owner, known.reason, known.expires
            if known.expires and known.expires < today:
                change.kind, change.regression = "expired", True
    return found


def missing_test(facts: TestFacts) -> Change:
    """The change of a test that only the first run has."""
    return Change(
        kind="missing",
        test_case_id=facts.test_case_id,
        before=facts.status,
        regression=facts.status == "pass",
    )


def _changes(before: TestFacts | None, side: SideTest) -> Iterator[Change]:
    after = side.facts
    name, was = after.test_case_id, before.status if before else None
    if after.status == "error":
        yield _change("still_failing" if was == "error" else "newly_failing", name, None, was, "error")
        return
    whole = before is not None and before.status != "error"
    states = before.assertions if before and whole else {}
    changes = [
        _change(kind, name, each, states.get(each), now)
        for each, now in after.assertions.items()
        if (kind := _assertion_kind(states.get(each), now, known_test=whole))
    ]
    yield from changes
    gone = [each for each in states if each not in after.assertions and each not in side.left_out]
    yield from (_change("missing", name, each, states[each], None) for each in gone)
    if of_test := _test_kind(before, side, changes):
        yield _change(of_test, name, None, was, after.status)


def _score_change(before: TestFacts, after: TestFacts, kinds: set[ChangeKind]) -> Iterator[Change]:
    """The change of a score, if no other change explains it: the score of a rubric may change by itself."""
    was, now = before.score, after.score
    if was is None or now is None or was == now or kinds - {"still_failing"}:
        return
    kind: ChangeKind = "lower_score" if now < was else "higher_score"
    change = _change(kind, after.test_case_id, None, before.status, after.status)
    change.message = f"score {was:.4g} → {now:.4g}"
    yield change


def _assertion_kind(was: str | None, now: str, *, known_test: bool) -> ChangeKind | None:
    if now == "fail":
        return "still_failing" if was == "fail" else "newly_failing"
    if was is None:
        return "new" if known_test else None
    if was == now:
        return None
    if now == "xfail":
        return "newly_expected"
    if now == "warn":
        return "newly_warning"
    if was in ("vacuous", "skip"):
        return None
    if now == "vacuous":
        return "newly_vacuous"
    return "newly_skipped" if now == "skip" else "fixed"


def _test_kind(before: TestFacts | None, side: SideTest, changes: Sequence[Change]) -> ChangeKind | None:
    """The change of a test as a whole, if the changes of its assertions do not imply it."""
    after = side.facts
    if after.status == "fail":
        if any(change.kind in ("newly_failing", "still_failing") for change in changes):
            return None
        same = before is not None and before.status == "fail" and "fail" not in before.assertions.values()
        other = any(_may_fail(side, change) for change in changes)
        return "still_failing" if same and not other else "newly_failing"
    if side.left_out:
        return None
    if before is None:
        return "new"
    as_a_whole = before.failing and "fail" not in before.assertions.values()
    return "fixed" if as_a_whole and after.status == "pass" else None


def _may_fail(side: SideTest, change: Change) -> bool:
    """Whether a change may be why a test fails of which no assertion does: a new warning, or a failure that was expected."""
    warns = change.after == "warn" and side.reason_code != "xfail.unexpected_pass"
    return warns or (change.before == "xfail" and side.reason_code != "assertion.warning_strict")


def _change(kind: ChangeKind, test: str, assertion: str | None, was: str | None, now: str | None) -> Change:
    lost = kind in ("newly_vacuous", "newly_skipped", "missing") and was == "pass"
    return Change(
        kind=kind,
        test_case_id=test,
        assertion=assertion,
        before=was,
        after=now,
        regression=kind == "newly_failing" or lost,
    )


class Comparer:
    """Collects the differences from `before`. Known failures expire after their day; `today` is YYYY-MM-DD, in UTC."""

    def __init__(self, before: Side, today: str) -> None:
        self.before = before
        self.today = today
        self._changes: list[Change] = []
        self._differences: list[TestDifference] = []
        self._seen: set[str] = set()
        self._failing: set[str] = set()
        self._without_traces = 0

    def add(self, test: SideTest) -> list[Change]:
        """Compare one test; returns its changes."""
        name = test.facts.test_case_id
        self._seen.add(name)
        if test.facts.failing:
            self._failing.add(name)
        before = self.before.tests.get(name)
        changes = changes_of(before, test, self.today)
        self._changes += changes
        if before is not None and (difference := self._difference(before, test)):
            self._differences.append(difference)
        return changes

    def _difference(self, before: SideTest, after: SideTest) -> TestDifference | None:
        name = after.facts.test_case_id
        if (one := before.trajectory()) is not None and (other := after.trajectory()) is not None:
            calls, output = call_changes(one, other), output_lines(one, other)
            if calls or output:
                return TestDifference(test_case_id=name, calls=calls, output=output, tools={})
            return None
        if before.tools is None or after.tools is None:
            return (
                None  # it ended in an error, without a trace, or a baseline holds too many calls to keep each
            )
        self._without_traces += 1
        tools = {
            tool: [before.tools.get(tool, 0), after.tools.get(tool, 0)]
            for tool in dict.fromkeys((*before.tools, *after.tools))
            if before.tools.get(tool, 0) != after.tools.get(tool, 0)
        }
        return TestDifference(test_case_id=name, calls=[], output=[], tools=tools) if tools else None

    def close(self, after: ComparedSide, *, not_selected: frozenset[str] | None = frozenset()) -> Comparison:
        """The comparison, once all tests were added.

        `not_selected` are tests that were left out on purpose, and so are not missing. None is for a run that left out
        unknown tests.
        """
        absent = [test.facts for name, test in self.before.tests.items() if name not in self._seen]
        left_out = [each for each in absent if not_selected is None or each.test_case_id in not_selected]
        gone = [] if not_selected is None else [each for each in absent if each not in left_out]
        changes = [*self._changes, *map(missing_test, gone)]
        changes.sort(key=lambda change: (KINDS.index(change.kind), not change.regression))
        present = self._seen | {each.test_case_id for each in gone}
        return Comparison(
            before=self.before.head,
            after=after,
            score_delta=score_delta(self.before.head.score, after.score),
            regressions=sum(change.regression for change in changes),
            counts={kind: sum(change.kind == kind for change in changes) for kind in KINDS},
            changes=changes,
            differences=self._differences,
            not_selected=len(left_out),
            without_traces=self._without_traces,
            unused=[
                test.facts.test_case_id
                for name, test in self.before.tests.items()
                if self.before.baseline and name in present and name not in self._failing and _is_unused(test)
            ],
        )


def _is_unused(test: SideTest) -> bool:
    """Whether a baseline's entry still describes a failure, of a test that does not fail."""
    return test.facts.explained or test.facts.status in FAILING


def compare(before: Side, after: Side, today: str) -> Comparison:
    """Two sides compared. Raises `UsageError` when they are not of one suite and version."""
    head = after.head
    before.must_be_of(head.suite_id, head.suite_version, head.label)
    comparer = Comparer(before, today)
    for test in after.tests.values():
        comparer.add(test)
    return comparer.close(head, not_selected=None if after.partial else frozenset())


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
