"""What the HTML report holds: the run in numbers, and its tests by how they ended, the failures first."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenteval.comparing.known import known_failures, unseen_regressions
from agenteval.plurals import grouped
from agenteval.reporters.html.beside import Step, beside
from agenteval.reporters.html.checks import Check, checks
from agenteval.reporters.html.timeline import Timeline, timeline
from agenteval.reporters.places import is_trace_too_large, place_of_error
from agenteval.results import RunSummary, TestResult, TestRow
from agenteval.stored import StoredRun

SHOWN_REMARKS = 3
"""Warnings about files at most that are shown at once, above the tests."""
KINDS = {
    "fail": "Failed",
    "error": "Error",
    "known": "Known failure",
    "skipped": "Skipped",
    "xfail": "Expected failure",
    "pass": "Passed",
}
"""How a test ended, in the order of the report."""
GROUPS = {
    "fail": "Failed",
    "error": "Ended in an error",
    "known": "Failed as in the baseline",
    "skipped": "Skipped",
    "xfail": "Failed as expected",
    "pass": "Passed",
}
CHANGES = {
    "newly-failing": "Newly failing",
    "fixed": "Fixed",
    "still-failing": "Still failing",
    "new": "New",
}
"""What became of a test since the baseline."""
CHECK_WORDS = {
    "fail": "Failed",
    "warn": "Warning",
    "xfail": "Expected failure",
    "skip": "Skipped",
    "vacuous": "Nothing to judge",
    "pass": "Passed",
}

_ANCHOR = re.compile(r"[A-Za-z0-9._-]{1,200}")
_REASONS_IN_A_ROW = 4
_NO = frozenset(("fail", "error", "known"))


@dataclass(slots=True, kw_only=True)
class Test:
    """One test. `before` is its kind in the baseline, empty when it was not there or there is no baseline.

    `known` says why its failure is accepted.
    """

    __test__ = False

    result: TestResult
    kind: str
    known: str
    anchor: str
    before: str
    change: str
    checks: list[Check]
    timeline: Timeline | None
    steps: list[Step]
    """Both traces, when there are two and they differ."""
    same_trace: bool
    before_without_trace: bool
    events_of_before_left_out: int
    anchors: dict[str, str]
    """Where an event of the trace stands in the report, by its id."""

    @property
    def place_of_error(self) -> str:
        """Where in its file is what kept it from being judged, unless the message says it."""
        return place_of_error(self.result)

    @property
    def trace_too_large(self) -> bool:
        """Whether the trace was too large to be kept, as a warning says."""
        return is_trace_too_large(self.result)

    @property
    def next_step(self) -> str:
        """What to do, unless the evidence or the error says it already."""
        step = self.result.next_step or ""
        said = self.result.error is not None and f"next: {step}" in self.result.error.message
        return "" if said or self.result.reason_code == "assertion.failed" else step

    @property
    def reasons(self) -> list[Check]:
        """The first assertions that failed or warned."""
        return [each for each in self.checks if each.kind in ("fail", "warn", "xfail")][:_REASONS_IN_A_ROW]

    @property
    def marks(self) -> list[str]:
        """The marks by which filters find it, beside its text."""
        kinds = {each.kind for each in self.checks}
        return [self.kind, *(kind for kind in ("warn", "vacuous") if kind in kinds), self.change]

    @property
    def categories(self) -> list[str]:
        """The categories of its assertions."""
        return list(dict.fromkeys(each.result.category for each in self.checks))


@dataclass(slots=True, kw_only=True)
class Group:
    """The tests that ended in one way; iterating over them reads one file after the other."""

    kind: str
    title: str
    rows: list[TestRow]
    page: "Page" = field(repr=False)

    def tests(self) -> Iterator[Test]:
        """The tests of the group. Raises `StoredRunError`, `FileError`."""
        return (self.page.test(row) for row in self.rows)


class Page:
    """A stored run, and the one it is compared with, if any."""

    def __init__(self, run: StoredRun, baseline: StoredRun | None) -> None:
        self.run = run
        self.baseline = baseline
        self.summary: RunSummary = run.summary
        self._known = known_failures(run)
        self.unseen_regressions = unseen_regressions(run)
        self._places = {id(row): number for number, row in enumerate(run.summary.tests, 1)}
        self._before = {row.test_case_id: row for row in baseline.summary.tests} if baseline else {}
        rows = [row for row in run.summary.tests if row.result is not None]
        self.unwritten = [row for row in run.summary.tests if row.result is None]
        self.groups = [
            Group(kind=kind, title=title, rows=chosen, page=self)
            for kind, title in GROUPS.items()
            if (chosen := [row for row in rows if self._kind(row) == kind])
        ]

    @property
    def headline(self) -> str:
        """The outcome of the run in one line: how much of each kind went wrong."""
        counts = self.summary.counts
        wrong = [
            grouped(number, "test") + said
            for number, said in (
                (counts.failed - len(self._known), " failed"),
                (counts.errors, " ended in an error"),
            )
            if number
        ]
        if counts.invalid:
            wrong.append(grouped(counts.invalid, "invalid test spec"))
        told = ", ".join(wrong) if self.summary.exit_code and counts.total else ""
        told = told or self.summary.exit_reason
        return told[:1].upper() + told[1:]

    @property
    def missing(self) -> list[TestRow]:
        """The tests that only the baseline has."""
        now = {row.test_case_id for row in self.summary.tests}
        return [row for test_id, row in self._before.items() if test_id not in now]

    @property
    def changes(self) -> dict[str, int]:
        """The number of tests for each way of changing since the baseline."""
        found = dict.fromkeys(CHANGES, 0)
        for row in self.summary.tests:
            if change := self._change(row):
                found[change] += 1
        return {change: number for change, number in found.items() if number}

    def test(self, row: TestRow) -> Test:
        """All that is shown of a test. Raises `StoredRunError`, `FileError`."""
        result = self.run.result(row)
        name = row.test_case_id
        anchor = f"test-{name}" if _ANCHOR.fullmatch(name) else f"test-number-{self._places[id(row)]}"
        row_before = self._before.get(name)
        before = self._result_before(row_before)
        judged = checks(result.assertions, before.assertions if before else (), anchor)
        events = _timeline(self.run, result, judged, anchor)
        old = _timeline(self.baseline, before, (), f"{anchor}--before") if before else None
        steps = beside(old.events, events.events) if old and events else []
        same = bool(steps) and all(step.same for step in steps)
        return Test(
            result=result,
            kind=self._kind(row),
            known=self._known.get(name, ""),
            anchor=anchor,
            before=_kind_of(row_before) if row_before else "",
            change=self._change(row),
            checks=judged,
            timeline=events,
            steps=[] if same else steps,
            same_trace=same,
            before_without_trace=before is not None and old is None,
            events_of_before_left_out=old.left_out if old else 0,
            anchors={each.event_id: each.anchor for each in events.events} if events else {},
        )

    def _kind(self, row: TestRow) -> str:
        return "known" if row.test_case_id in self._known else _kind_of(row)

    def _result_before(self, row: TestRow | None) -> TestResult | None:
        if self.baseline is None or row is None or row.result is None:
            return None
        return self.baseline.result(row)

    def _change(self, row: TestRow) -> str:
        if self.baseline is None:
            return ""
        before = self._before.get(row.test_case_id)
        was, now = before is not None and _kind_of(before) in _NO, self._kind(row) in _NO
        if was and now:
            return "still-failing"
        if now:
            return "newly-failing"
        if before is None:
            return "new"
        return "fixed" if was and _kind_of(row) in ("pass", "xfail") else ""


def _kind_of(row: TestRow) -> str:
    """One of `KINDS`, without regard to what a baseline accepts."""
    return "xfail" if row.xfail else row.status


def _timeline(
    run: StoredRun | None, result: TestResult, judged: Sequence[Check], anchor: str
) -> Timeline | None:
    trace: Mapping[str, Any] | None = run.trace(result) if run else None
    return timeline(trace, judged, anchor) if isinstance(trace, Mapping) else None
