"""Sums up a run from the records of its tests: totals, scores, the exit code, unjudged parts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from agenteval import __version__
from agenteval.assertions.base import Category
from agenteval.contracts.errors import ExitCode, Problem
from agenteval.contracts.results import CategoryScore, Coverage, InvalidSpec, RunCounts, RunSummary
from agenteval.openwop.summary import Baseline, Scores, Suite
from agenteval.records.record import TestRecord
from agenteval.text.fitting import counted
from agenteval.text.names import name_matches

GIVEN = frozenset({"message_received"})
"""Types of event that are what the agent was given, not what it did."""
CATEGORIES: tuple[str, ...] = get_args(Category)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class RunSettings:
    """The facts about a run that were settled before its first test. `strict` lets warnings fail it.

    `unnamed_tests` counts test files that the configuration names, and the command line does not. `selection` are the
    options that may leave out tests or assertions. A shard is a part of a run, and thresholds are for the whole.
    """

    run_id: str
    suite: Suite
    strict: bool = False
    baseline: Baseline | None = None
    unnamed_tests: int = 0
    selection: Sequence[str] = ()
    is_shard: bool = False


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class RunTotals:
    """The counts of a run that no result holds: of files that are no tests, of problems, of what was left out.

    `remarks` are warnings of the run itself. `stopped_after` is the number of failures after which the run was stopped;
    0 when it was not. The failures that a baseline knows do not fail the run, and regressions against it do.
    """

    problems: list[InvalidSpec] = field(default_factory=list)
    invalid: int = 0
    leaks: int = 0
    remarks: int = 0
    deselected: int = 0
    stopped_after: int = 0
    compared_with: str = ""
    regressions: int = 0
    known_failures: int = 0
    conclusion: tuple[ExitCode, str] | None = None
    """The exit code and its reason where a check decides on them: it knows more than its tests show."""

    def compare(self, baseline: str, *, regressions: int, known_failures: int) -> None:
        """Judge the run against a baseline."""
        self.compared_with = baseline
        self.regressions = regressions
        self.known_failures = known_failures

    def add_invalid(self, problems: Iterable[Problem]) -> None:
        """Count one spec file that could not be loaded, or a selection of nothing."""
        self.invalid += 1
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


class Summaries(NamedTuple):
    """A run summed up: for `summary.json`, and for `eval-summary.json`."""

    run: RunSummary
    evaluation: dict[str, Any]

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the run."""
        return ExitCode(self.run.exit_code)


def summarise(
    records: Sequence[TestRecord],
    totals: RunTotals,
    settings: RunSettings,
    *,
    started_at: str = "",
    finished_at: str = "",
    duration_ms: float = 0,
) -> Summaries:
    """Sum up a run. The same records give the same summaries, wherever their tests were judged and by how many processes."""
    counts, scores = count(records, totals), scores_of(records, totals, settings)
    forbidden = sum(record.remarks for record in records) + totals.remarks if settings.strict else 0
    code, reason = totals.conclusion or _exit(counts, totals, settings, scores, forbidden)
    if totals.stopped_after:
        reason += f"; stopped after {counted(totals.stopped_after, 'failure')}"
    deselected_assertions = sum(len(record.deselected_assertions) for record in records)
    is_part = totals.deselected or settings.unnamed_tests or deselected_assertions
    by_category = category_scores(records)
    summary = RunSummary(
        test_run_id=settings.run_id,
        agenteval_version=__version__,
        started_at=started_at,
        finished_at=finished_at,
        duration_ms=round(duration_ms, 3),
        exit_code=int(code),
        exit_reason=reason,
        counts=counts,
        scorecard=[s for s in by_category if s.passed or s.failed or s.warnings or s.skipped or s.xfailed],
        tests=[record.row for record in records],
        problems=totals.problems,
        coverage=coverage(records, by_category),
        unnamed_tests=settings.unnamed_tests,
        deselected_assertions=deselected_assertions,
        selection=list(settings.selection) if is_part else [],
        stopped_after=totals.stopped_after,
        forbidden_warnings=forbidden,
        pass_score=settings.suite.pass_score,
    )
    return Summaries(summary, scores.summary())


def scores_of(records: Iterable[TestRecord], totals: RunTotals, settings: RunSettings) -> Scores:
    """Gather the tasks of a run. Where a file was invalid, or a failure ended the run, it is not whole."""
    return Scores(
        settings.suite,
        [record.task for record in records if record.task],
        settings.baseline,
        whole=not (totals.invalid or totals.stopped_after),
    )


def count(records: Iterable[TestRecord], totals: RunTotals) -> RunCounts:
    """Count tests by status, each once."""
    counts = RunCounts(invalid=totals.invalid, deselected=totals.deselected, warnings=totals.remarks)
    for record in records:
        row = record.row
        counts.total += 1
        name = "xfailed" if row.xfail else _COUNTED_AS[row.status]
        setattr(counts, name, getattr(counts, name) + 1)
        counts.vacuous_passes += row.vacuous
        counts.warnings += record.warned + record.remarks
    return counts


def category_scores(records: Iterable[TestRecord]) -> list[CategoryScore]:
    """Count assertions by category and state; every category has a score, in the order of SPEC 10."""
    scores = {name: CategoryScore(category=name) for name in CATEGORIES}
    for record in records:
        for _, category, state in record.assertions:
            score, name = scores[category], _COUNTED_AS[state]
            setattr(score, name, getattr(score, name) + 1)
            score.passed += state == "vacuous"  # which is also among the passed
    return list(scores.values())


def coverage(records: Iterable[TestRecord], scores: Iterable[CategoryScore]) -> Coverage:
    """List what the run had, and which of it no assertion looked at; `scores` are those of all categories."""
    available, happened, tools, event_types = set[str](), set[str](), set[str](), set[str]()
    for record in records:
        available.update(record.coverage.tools_available)
        happened.update(record.coverage.event_types)
        tools.update(record.coverage.tools_looked_at)
        event_types.update(record.coverage.event_types_looked_at)
    happened -= GIVEN
    not_looked_at = (
        tool
        for tool in available
        if not any(name_matches(each, tool) or name_matches(tool, each) for each in tools)
    )
    return Coverage(
        tools_available=sorted(available),
        tools_not_looked_at=sorted(not_looked_at),
        event_types=sorted(happened),
        event_types_not_looked_at=sorted(happened - event_types),
        categories_not_exercised=[
            each.category
            for each in scores
            if each.passed - each.vacuous + each.failed + each.warnings + each.xfailed <= 0
        ],
    )


def _exit(
    counts: RunCounts, totals: RunTotals, settings: RunSettings, scores: Scores, forbidden_warnings: int
) -> tuple[ExitCode, str]:
    """Return the exit code and its reason: of all that occurred, the highest."""
    if counts.invalid and _nothing_found(totals):
        return ExitCode.INVALID, "not every path has a test to run" if counts.total else "nothing to run"
    if counts.invalid:
        return ExitCode.INVALID, counted(counts.invalid, "invalid test spec")
    if counts.total == 0:
        return ExitCode.INVALID, "no test to run"
    if totals.leaks:
        return ExitCode.ERROR, f"redaction.leak: redaction failed for {counted(totals.leaks, 'file')}"
    if counts.errors:
        return ExitCode.ERROR, f"{counted(counts.errors, 'test')} ended in an error"
    if totals.regressions:
        return ExitCode.FAILED, f"{counted(totals.regressions, 'regression')} against {totals.compared_with}"
    if counts.failed > totals.known_failures:
        failed = f"{counted(counts.failed - totals.known_failures, 'test')} failed"
        return ExitCode.FAILED, failed + _though_the_score_is_met(settings, scores, forbidden_warnings)
    if counts.passed + counts.xfailed + totals.known_failures == 0:
        return ExitCode.INVALID, f"nothing was judged: {counted(counts.skipped, 'test')} skipped"
    if not settings.is_shard and (unmet := scores.unmet()):
        return ExitCode.FAILED, f"suite.threshold: {'; '.join(unmet)}"
    if forbidden_warnings:
        return ExitCode.FAILED, f"{counted(forbidden_warnings, 'warning')} (--strict allows none)"
    if totals.known_failures:
        known = counted(totals.known_failures, "known failure")
        return ExitCode.PASSED, f"no regression against {totals.compared_with}, {known}"
    if counts.xfailed:
        return ExitCode.PASSED, f"no test failed, except {counted(counts.xfailed, 'test')} that should"
    return ExitCode.PASSED, "all tests passed" if not counts.skipped else "no test failed"


def _though_the_score_is_met(settings: RunSettings, scores: Scores, forbidden_warnings: int) -> str:
    """Explain why the gate may open for a run that failed: it goes by the score, where one was set."""
    if settings.is_shard or settings.suite.pass_score is None or forbidden_warnings:
        return ""
    is_met = scores.passed() and not scores.unscored()
    return ", though the score meets its threshold (agenteval gate goes by that)" * is_met


def _nothing_found(totals: RunTotals) -> bool:
    """Return whether all errors are about what was asked for, none about a file that was found."""
    errors = [each.reason_code for each in totals.problems if each.severity == "error"]
    return all(code.startswith("select.") or code == "file.missing" for code in errors)


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
"""The count of a test of some status, or of an assertion in some state."""
