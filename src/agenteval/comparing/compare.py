"""Compares a run, while it goes on or once stored, with an earlier one or with a baseline."""

from agenteval.comparing.changes import changes_of, missing_test
from agenteval.comparing.comparison import KINDS, Change, ComparedSide, Comparison, TestDifference
from agenteval.comparing.facts import FAILING
from agenteval.comparing.sides import Side, SideTest
from agenteval.comparing.trajectories import call_changes, output_lines
from agenteval.openwop.summary import score_delta


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
