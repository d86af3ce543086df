"""Results added up: totals, scores by category, the exit code, and what no assertion looked at."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from agenteval import __version__
from agenteval.assertions.base import Category
from agenteval.contracts.errors import ExitCode, Problem
from agenteval.contracts.results import (
    AssertionResult,
    AssertionState,
    CategoryScore,
    Coverage,
    InvalidSpec,
    RunCounts,
    RunSummary,
    TestResult,
    TestRow,
)
from agenteval.contracts.trace import Trace
from agenteval.loading.testfile import LoadedTest
from agenteval.matching.selectors import is_named
from agenteval.text.fitting import counted
from agenteval.text.names import name_matches

GIVEN = frozenset({"message_received"})
"""Types of event that are what the agent was given, not what it did."""


class CoverageTally:
    """Adds up what the tests of a run have and what their assertions look at, as sets of names."""

    def __init__(self, names: Mapping[str, Iterable[str]] | None = None) -> None:
        kinds = ("available", "happened", "tools", "event_types")
        self.seen = {kind: set((names or {}).get(kind, ())) for kind in kinds}

    def add(
        self,
        test: LoadedTest,
        judged: Sequence[AssertionResult],
        trace: Trace | None,
        shown: Callable[[str], str] = str,
    ) -> None:
        """Count one test; `shown` is how its names are told. An assertion that was skipped has looked at nothing."""
        seen = self.seen
        seen["available"].update(map(shown, test.case.tools.available))
        if trace is not None:
            seen["happened"].update(trace.event_types())
        for bound, result in zip(test.checks, judged, strict=False):
            if result.status != "skip":
                looks = bound.check.looks_at()
                seen["tools"].update(map(shown, looks.tools))
                seen["event_types"] |= looks.event_types
                # an assertion may call the tool otherwise than the test does
                for names in trace.tools if trace else ():
                    if any(is_named(tool, names) for tool in looks.tools):
                        seen["tools"].update(names)

    def include(self, other: "CoverageTally") -> None:
        """Add the names of another tally."""
        for kind, names in other.seen.items():
            self.seen[kind].update(names)

    def names(self) -> dict[str, list[str]]:
        """The names as plain data, of which another tally can be made."""
        return {kind: sorted(names) for kind, names in self.seen.items()}

    def coverage(self, scores: Iterable[CategoryScore]) -> Coverage:
        """What the run had, and which of it no assertion looked at; `scores` are those of all categories."""
        seen = self.seen
        happened = seen["happened"] - GIVEN
        unseen = (
            tool
            for tool in seen["available"]
            if not any(name_matches(each, tool) or name_matches(tool, each) for each in seen["tools"])
        )
        return Coverage(
            tools_available=sorted(seen["available"]),
            tools_not_looked_at=sorted(unseen),
            event_types=sorted(happened),
            event_types_not_looked_at=sorted(happened - seen["event_types"]),
            categories_not_exercised=[
                each.category
                for each in scores
                if each.passed - each.vacuous + each.failed + each.warnings + each.xfailed <= 0
            ],
        )


CATEGORIES: tuple[str, ...] = get_args(Category)


@dataclass(slots=True, eq=False, repr=False)
class Tallied:
    """The part of a result that is added up. `states` are the category and state of each assertion.

    `warnings` counts assertions that warn, `remarks` what else the result warns of.
    """

    row: TestRow
    warnings: int
    remarks: int
    states: list[tuple[str, AssertionState]]


def tallied(result: TestResult) -> Tallied:
    """The part of a result that is added up."""
    row = TestRow(
        test_case_id=result.test_case_id,
        path=result.path,
        status=result.status,
        reason_code=result.reason_code,
        duration_ms=result.duration_ms,
        vacuous=result.summary.vacuous,
        result=result.artifacts.result,
        xfail=result.xfail,
        trials=[result.trials.passed, result.trials.judged] if result.trials else None,
    )
    states = [(each.category, each.state) for each in result.assertions]
    return Tallied(row, result.summary.assertions_warned, len(result.warnings), states)


class Tally:
    """Adds up tests while a run goes on. It keeps one short row of each, and no result."""

    def __init__(self) -> None:
        self.counts = RunCounts()
        self.rows: list[TestRow] = []
        self.problems: list[InvalidSpec] = []
        self.unmet_thresholds: list[str] = []
        self.threshold_met = False
        """Whether the score meets a threshold that was set."""
        self.unnamed_tests = 0
        """Test files that the configuration names, and the command line does not."""
        self.deselected_assertions = 0
        """Assertions that were left out of tests that were run."""
        self.selection: Sequence[str] = ()
        """The options that may have left out tests or assertions."""
        self.stopped_after = 0
        """After how many failures the run was stopped; 0 when it was not."""
        self.regressions = 0
        self.known_failures = 0
        self.compared_with = ""
        self.leaks = 0
        self.strict = False
        """Whether the run fails for its remarks."""
        self.remarks = 0
        """Warnings that are no verdict of an assertion."""
        self.coverage = CoverageTally()
        self._scores = {name: CategoryScore(category=name) for name in CATEGORIES}

    def add(self, test: Tallied) -> None:
        """Count one test."""
        counts, row = self.counts, test.row
        counts.total += 1
        counted_as = "xfailed" if row.xfail else _COUNTED_AS[row.status]
        setattr(counts, counted_as, getattr(counts, counted_as) + 1)
        counts.vacuous_passes += row.vacuous
        counts.warnings += test.warnings
        self.remark(test.remarks)
        for category, state in test.states:
            score, name = self._scores[category], _COUNTED_AS[state]
            setattr(score, name, getattr(score, name) + 1)
            score.passed += state == "vacuous"  # which is also among the passed
        self.rows.append(row)

    def remark(self, number: int) -> None:
        """Count warnings that are no verdict of an assertion."""
        self.counts.warnings += number
        self.remarks += number

    @property
    def forbidden_warnings(self) -> int:
        """How many warnings fail the run though they fail no test."""
        return self.remarks if self.strict else 0

    def compare(self, baseline: str, *, regressions: int, known_failures: int) -> None:
        """Judge the run against a baseline: tests whose failure it knows do not fail the run, and regressions do."""
        self.compared_with = baseline
        self.regressions = regressions
        self.known_failures = known_failures

    def add_invalid(self, problems: Iterable[Problem]) -> None:
        """Count one spec file that could not be loaded, or a selection of nothing."""
        self.counts.invalid += 1
        self.add_problems(problems)

    def add_leaks(self, problems: Sequence[Problem]) -> None:
        """Count files that were not written because of what they would have shown."""
        self.leaks += len(problems)
        self.add_problems(problems)

    def add_problems(self, problems: Iterable[Problem]) -> None:
        """Keep located findings, warnings among them."""
        for problem in problems:
            self.problems.append(
                InvalidSpec(
                    path=str(problem.path) if problem.path else "",
                    line=problem.line,
                    column=problem.column,
                    reason_code=problem.reason_code,
                    message=problem.message,
                    severity=problem.severity,
                    next_step=problem.advice,
                )
            )

    def scorecard(self) -> list[CategoryScore]:
        """The categories that occurred in the run, in the order of SPEC 10."""
        return [
            s for s in self._scores.values() if s.passed or s.failed or s.warnings or s.skipped or s.xfailed
        ]

    def _nothing_found(self) -> bool:
        """Whether all errors are about what was asked for, none about a file that was found."""
        errors = [each.reason_code for each in self.problems if each.severity == "error"]
        return all(code.startswith("select.") or code == "file.missing" for code in errors)

    def exit(self) -> tuple[ExitCode, str]:
        """The exit code and its reason: of all that occurred, the highest."""
        counts = self.counts
        if counts.invalid and self._nothing_found():
            return ExitCode.INVALID, "not every path has a test to run" if counts.total else "nothing to run"
        if counts.invalid:
            return ExitCode.INVALID, counted(counts.invalid, "invalid test spec")
        if counts.total == 0:
            return ExitCode.INVALID, "no test to run"
        if self.leaks:
            return ExitCode.ERROR, f"redaction.leak: redaction failed for {counted(self.leaks, 'file')}"
        if counts.errors:
            return ExitCode.ERROR, f"{counted(counts.errors, 'test')} ended in an error"
        if self.regressions:
            return ExitCode.FAILED, f"{counted(self.regressions, 'regression')} against {self.compared_with}"
        if counts.failed > self.known_failures:
            failed = f"{counted(counts.failed - self.known_failures, 'test')} failed"
            enough = ", though the score meets its threshold (agenteval gate goes by that)"
            return ExitCode.FAILED, failed + enough * self.threshold_met
        if counts.passed + counts.xfailed + self.known_failures == 0:
            return ExitCode.INVALID, f"nothing was judged: {counted(counts.skipped, 'test')} skipped"
        if self.unmet_thresholds:
            return ExitCode.FAILED, f"suite.threshold: {'; '.join(self.unmet_thresholds)}"
        if self.forbidden_warnings:
            return ExitCode.FAILED, f"{counted(self.forbidden_warnings, 'warning')} (--strict allows none)"
        if self.known_failures:
            known = counted(self.known_failures, "known failure")
            return ExitCode.PASSED, f"no regression against {self.compared_with}, {known}"
        if counts.xfailed:
            return ExitCode.PASSED, f"no test failed, except {counted(counts.xfailed, 'test')} that should"
        return ExitCode.PASSED, "all tests passed" if not counts.skipped else "no test failed"

    def summary(self, *, run_id: str, started_at: str, finished_at: str, duration_ms: float) -> RunSummary:
        """The run summary, once the run is over."""
        code, reason = self.exit()
        if self.stopped_after:
            reason += f"; stopped after {counted(self.stopped_after, 'failure')}"
        is_part = self.counts.deselected or self.unnamed_tests or self.deselected_assertions
        return RunSummary(
            test_run_id=run_id,
            agenteval_version=__version__,
            started_at=started_at,
            finished_at=finished_at,
            duration_ms=round(duration_ms, 3),
            exit_code=int(code),
            exit_reason=reason,
            counts=self.counts,
            scorecard=self.scorecard(),
            tests=self.rows,
            problems=self.problems,
            coverage=self.coverage.coverage(self._scores.values()),
            unnamed_tests=self.unnamed_tests,
            deselected_assertions=self.deselected_assertions,
            selection=list(self.selection) if is_part else [],
            stopped_after=self.stopped_after,
            forbidden_warnings=self.forbidden_warnings,
        )


_COUNTED_AS = {
    "pass": "passed",
    "vacuous": "vacuous",
    "fail": "failed",
    "warn": "warnings",
    "skip": "skipped",
    "skipped": "skipped",
    "xfail": "xfailed",
    "error": "errors",
}
"""Where a test of some status, or an assertion in some state, is counted."""
