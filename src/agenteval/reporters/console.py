"""A run on a terminal: each test with its evidence, the scorecard, and the last line with the exit code and its reason."""

from collections.abc import Collection, Iterable, Sequence
from shlex import quote
from typing import TextIO

from agenteval.contracts.errors import Problem
from agenteval.contracts.results import (
    AssertionResult,
    CategoryScore,
    Coverage,
    ErrorInfo,
    Evidence,
    InvalidSpec,
    LiveResult,
    RunCounts,
    RunSummary,
    TestResult,
    TestRow,
    TrialsResult,
)
from agenteval.reporters.terminal import Part, Terminal
from agenteval.text.fitting import counted, plural


def located(path: str, line: int | None, column: int | None) -> str:
    """Return `path:line:column`, as far as they are known; they count from 1."""
    return ":".join([path, *(str(number) for number in (line, column) if number is not None)])


def place_of_error(result: TestResult) -> str:
    """Return the place in the test file of an error or a crashed assertion; "" if there is none, or the message has it."""
    if result.error is None or result.error.is_located:
        return ""
    found: list[ErrorInfo | AssertionResult] = [result.error]
    found += [each for each in result.assertions if each.crashed]
    return next((located(result.path, each.line, each.column) for each in found if each.line is not None), "")


def place_of_expectation(result: TestResult) -> str:
    """Return the place where the test file expects a failure that did not come; "" when there is none."""
    return located(result.path, result.line, result.column) if result.line is not None else ""


def next_step_of(result: TestResult) -> str:
    """Return the advice for a test; "" if the evidence or the error message has it already."""
    step = result.next_step or ""
    in_message = result.error is not None and f"next: {step}" in result.error.message
    return "" if in_message or result.reason_code == "assertion.failed" else step


TOO_LARGE = "it is not written"
"""The end of the warning about a trace that is too large to be kept."""


def is_trace_too_large(result: TestResult) -> bool:
    """Return whether the trace of a test was left out for its size, so that even `--save-traces` would not keep it."""
    return any(each.startswith("the trace has ") and each.endswith(TOO_LARGE) for each in result.warnings)


def other_events(evidence: Evidence) -> str:
    """Count the deciding events that are not shown; "" if there are no others, or none is shown."""
    others = len(evidence.event_refs) - len(evidence.excerpts)
    return f"… and {counted(others, 'more event')}" if evidence.excerpts and others > 0 else ""


_STATUS = {
    "pass": ("PASS", "green"),
    "fail": ("FAIL", "red bold"),
    "error": ("ERROR", "red bold"),
    "skipped": ("SKIP", "yellow"),
}
_XFAIL = ("XFAIL", "yellow")
_MARK_STYLE = {
    "pass": "green",
    "fail": "red",
    "warn": "yellow",
    "skip": "dim",
    "vacuous": "yellow",
    "xfail": "yellow",
}

MOST_INVALID_LINES = 200
MOST_REASONS = 3
"""The most reasons for skipped assertions on the line of a test."""
MANY_TESTS = 10
"""A run of more tests lists the failed and invalid ones again at its end: their output has scrolled away."""
MOST_DIFFERENCES = 6


class Console(Terminal):
    """A terminal to which a run is reported.

    `verbosity` is -1 (only the summary), 0 (failures in full, passes one line) or 1 (everything).
    """

    def __init__(self, stream: TextIO, *, verbosity: int = 0, color: str = "auto") -> None:
        super().__init__(stream, color=color)
        self.verbosity = verbosity
        self.suite_options: str | None = None
        """The options of a suite's run, each after a blank; None where they are unknown."""
        self.strict = False
        """True if warnings fail the run, so that they are printed even when only the summary is."""

    def problem(self, problem: Problem) -> None:
        """Print a spec error or warning, with its excerpt. With `--quiet`, warnings about a file are left out unless strict."""
        is_about_file = problem.severity == "warning" and not problem.reason_code.startswith("select.")
        if self.verbosity < 0 and is_about_file and not self.strict:
            return
        first, *rest = problem.render().split("\n")
        self.paragraph(first, style="red" if problem.severity == "error" else "yellow")
        for line in rest[:MOST_INVALID_LINES]:
            self.paragraph(line, indent=0 if line.startswith(" ") else 2)
        self.gap()

    def console_lines(
        self, result: TestResult, run_dir: str | None, *, already_printed: Collection[str] = ()
    ) -> list[str]:
        """Make the lines about a test, for `replay`, without the warnings that were printed as problems of its file."""
        if self.verbosity >= 0:
            return self.capture(lambda: self._test(result, run_dir, already_printed))
        return self.capture(lambda: self._warnings(result, already_printed)) if self.strict else []

    def _warnings(self, result: TestResult, already_printed: Collection[str]) -> None:
        """Print the warnings that fail a strict run, each on a line that can be read alone."""
        for warning in result.warnings:
            if warning not in already_printed:
                self.paragraph(f"{result.path}: warning: {warning}")

    def _test(self, result: TestResult, run_dir: str | None, already_printed: Collection[str]) -> None:
        self._headline(result)
        warns = result.summary.assertions_warned or any(
            warning not in already_printed for warning in result.warnings
        )
        if self.verbosity > 0 or result.status != "pass" or warns:
            self.evidence(result, run_dir, already_printed=already_printed)
            self.gap()

    def _headline(self, result: TestResult) -> None:
        word, style = _XFAIL if result.xfail else _STATUS[result.status]
        version = "" if result.adapter.version == "unknown" else f" {result.adapter.version}"
        # A pass shows on its own line what makes it worth less: a vacuous or skipped assertion, an incomplete trace.
        facts = [f"{result.duration_ms:.0f} ms", f"{result.adapter.name}{version}", result.mode]
        facts += result.conditions
        if result.summary.vacuous:
            facts.append(f"{result.summary.vacuous} vacuous")
        if result.summary.assertions_skipped and result.status == "pass":
            facts.append(f"{result.summary.assertions_skipped} skipped{_why_not_judged(result)}")
        if result.trace_summary.status != "success" and result.status == "pass":
            facts.append(f"trace {result.trace_summary.status}")
        if result.xfail and result.xfail_reason:
            facts.append(result.xfail_reason)
        text = self.dotted(facts)
        head: list[Part] = [(word, style), " ", (result.test_case_id, "bold")]
        if len(word) + len(result.test_case_id) + len(text) + 4 <= self.width:
            self.emit(*head, "   ", (text, "dim"))
        else:
            self.emit(*head)
            self.paragraph(text, indent=2, style="dim")

    def evidence(
        self,
        result: TestResult,
        run_dir: str | None,
        *,
        reason: str = "",
        already_printed: Collection[str] = (),
    ) -> None:
        """Print everything about a test after its headline, or after `reason` in its place."""
        if reason and result.error:
            self._error(result, indent=0)
        elif reason:
            self.emit(reason)
        if result.status != "pass" and result.title:
            self.paragraph(result.title, indent=2)
        self._trace_line(result)
        if result.error and not reason:
            self._error(result, indent=2)
        for each in filter(self._is_in_full, result.assertions):
            self._assertion(each)
        if rest := [each for each in result.assertions if not self._is_in_full(each)]:
            self._tally_line(rest, result.error)
        for warning in result.warnings:
            if warning not in already_printed:
                self.paragraph(f"warning: {warning}", indent=2)
        self._causes(result, reason)
        if result.live:
            self._live(result.live)
        if result.trials:
            self._trials(result.trials)
        for name in (result.artifacts.result, result.artifacts.trace, result.artifacts.replay):
            if name and run_dir:
                self.emit((f"  {run_dir}/{name}", "dim"))
        if result.status in ("fail", "error"):
            self._again(result.path)

    def _is_in_full(self, assertion: AssertionResult) -> bool:
        return self.verbosity > 0 or assertion.status in ("fail", "warn")

    def _causes(self, result: TestResult, reason: str) -> None:
        if result.failure_categories:
            self.paragraph(f"failure categories: {', '.join(result.failure_categories)}", indent=2)
        if result.expected_failure_categories and result.status == "fail":
            self.paragraph(
                f"the test guards against: {', '.join(result.expected_failure_categories)}", indent=2
            )
        if (step := next_step_of(result)) and step not in reason:
            code = "" if result.error else f"{result.reason_code}: "
            self.paragraph(f"{code}next: {step}", indent=2)

    def _live(self, live: LiveResult) -> None:
        """Print what ran, and the differences from the recording; with `-v`, also the changes by the agent's vendor."""
        ran = ", ".join(f"{name} {value}" for name, value in live.provenance.items() if value)
        cost = "" if live.cost_usd is None else f", {live.cost_usd:.4f} US dollars"
        self.paragraph(f"ran: {ran}; {counted(live.requests, 'model request')}{cost}", indent=2, style="dim")
        if live.changes:
            self.emit("  behaves otherwise than the recording:")
            for line in live.changes:
                self.clipped(f"    {line}")
        changed = live.drift
        if changed and self.verbosity <= 0:
            changed = [f"{counted(len(changed), 'part')} of its requests; -v lists them"]
        for line in changed:
            self.clipped(f"  note: the agent's vendor changed {line}")

    def _trials(self, trials: TrialsResult) -> None:
        """Print the failed trials, the pass rate of each assertion, and the calls of trials that went another way."""
        for line in trials.lines():
            self.clipped(f"  {line}")
        for way in trials.trajectories[1:]:
            numbers = ", ".join(map(str, way.trials))
            self.emit(f"  {plural(len(way.trials), 'trial')} {numbers} went another way:")
            for line in way.difference[:MOST_DIFFERENCES]:
                self.clipped(f"    {line}")

    def _again(self, path: str) -> None:
        """Print the command that runs a test again; none for a suite (a JSON file) if its options are unknown."""
        options = self.suite_options if path.endswith(".json") else ""
        if options is not None:
            self.emit((f"  agenteval run {quote(path)}{options}", "dim"))

    def _trace_line(self, result: TestResult) -> None:
        summary = result.trace_summary
        if summary.status is None:
            return
        times = self.signs["times"]
        tools = " ".join(f"{each.tool}{times}{each.count}" for each in summary.tool_calls) or "none"
        facts = (f"trace {summary.status}", f"tools {tools}", f"retries {summary.retry_count}")
        self.paragraph(self.dotted(facts), indent=2, style="dim")
        if self.verbosity > 0:
            for note in summary.notes:
                self.paragraph(f"note: {note}", indent=2)

    def _error(self, result: TestResult, *, indent: int) -> None:
        assert result.error is not None
        error = result.error
        place = f"{place}: " if (place := place_of_error(result)) else ""
        code = "" if error.is_located else f"{place}error[{error.reason_code}]: "
        self.paragraph(f"{code}{error.message}", indent=indent)
        for line in error.details.rstrip().splitlines() if self.verbosity > 0 else ():
            self.emit(f"    {line}")

    def _assertion(self, result: AssertionResult) -> None:
        kind = result.state
        mark = {"vacuous": "  vacuous", "xfail": "  expected to fail"}.get(kind, "")
        mark += "  evidence: recorded model" if result.recorded_model else ""
        self.columns(
            ["  ", (self.signs[kind], _MARK_STYLE[kind]), " ", (result.id, "bold")],
            f"{result.type}  {result.severity}{mark}",
            indent=6,
        )
        if kind == "pass" and self.verbosity < 1:
            return
        self.paragraph(result.message, indent=6)
        if result.status not in ("fail", "warn"):
            return
        if result.description:
            self.paragraph(f"why it is checked: {result.description.strip()}", indent=6)
        for excerpt in result.evidence.excerpts:
            self.clipped(f"      {excerpt.event_id} {excerpt.text}")
            if excerpt.note:
                self.paragraph(excerpt.note, indent=10)
        if others := other_events(result.evidence):
            self.paragraph(others, indent=6)

    def _tally_line(self, results: Sequence[AssertionResult], error: ErrorInfo | None) -> None:
        skipped = [each for each in results if each.status == "skip"]
        parts = (
            ("pass", sum(each.status == "pass" for each in results), "passed"),
            ("vacuous", sum(each.vacuous for each in results), "of them vacuous"),
            ("skip", len(skipped), "skipped"),
        )
        counted = (f"{self.signs[sign]} {number} {word}" for sign, number, word in parts if number)
        self.emit("  " + self.dotted(counted))
        for each in skipped:
            # An error of the whole run is the reason for each skipped assertion; it is printed once, above.
            if not (error and error.message in each.message):
                self.paragraph(f"{self.signs['skip']} {each.id}: {each.message}", indent=4, style="dim")

    def summary(
        self, summary: RunSummary, *, slowest: Iterable[tuple[str, float]] = (), summary_path: str | None
    ) -> None:
        """Print totals, scorecard and slowest tests; `ending` prints the last line."""
        counts = summary.counts
        if summary.scorecard and self.verbosity >= 0:
            self.gap()
            self.emit(("scorecard", "bold"))
            self._scorecard(summary.scorecard)
            self._coverage(summary.coverage, tests=counts.total)
        if self.verbosity < 0 or counts.total > MANY_TESTS:
            self._not_passed(summary.tests)
        if counts.total > MANY_TESTS:
            self._invalid(summary.problems)
        if slow := list(slowest):
            self.gap()
            self.emit((f"slowest {len(slow)}", "bold"))
        for name, duration in slow:
            self.emit(f"  {duration:8.1f} ms  {name}")
        self.gap()
        outcomes = _outcomes(counts, not_judged=summary.not_judged)
        self.series(outcomes or ["no tests"], f" in {summary.duration_ms / 1000:.2f} s")
        if summary_path:
            self.emit((summary_path, "dim"))

    def so_far(self, counts: RunCounts, rows: Sequence[TestRow]) -> None:
        """Print the totals of a run that was broken off."""
        self.gap()
        if self.verbosity < 0 or counts.total > MANY_TESTS:
            self._not_passed(rows)
        if outcomes := _outcomes(counts):
            self.series(outcomes)

    def _not_passed(self, rows: Sequence[TestRow]) -> None:
        failed = [row for row in rows if row.status in ("fail", "error")]
        if failed:
            self.gap()
        for row in failed:
            word, style = _STATUS[row.status]
            why = f"  {row.reason_code}" if row.status == "error" else ""
            self.columns([(word, style), f" {row.test_case_id}{why}"], (row.path, "dim"))

    def _invalid(self, problems: Sequence[InvalidSpec]) -> None:
        """List the files that could not be loaded, each with its first problem."""
        files: dict[str, InvalidSpec] = {}
        for each in problems:
            if each.severity == "error":
                files.setdefault(each.path, each)
        if files:
            self.gap()
        for each in files.values():
            place = located(each.path, each.line, each.column) if each.path else ""
            self.emit(("INVALID", "red bold"), *((" ", place, " ") if place else ()), f" {each.reason_code}")

    def _scorecard(self, rows: Sequence[CategoryScore]) -> None:
        width = max(len(row.category) for row in rows)
        shares = [f"{row.passed}/{row.passed + row.failed + row.warnings}" for row in rows]
        most = max(map(len, shares))
        for row, share in zip(rows, shares, strict=True):
            extras = (
                (row.failed, "failed"),
                (row.xfailed, "xfailed"),
                (row.warnings, plural(row.warnings, "warning")),
                (row.vacuous, "vacuous"),
                (row.skipped, "skipped"),
            )
            tail = ", ".join(f"{number} {word}" for number, word in extras if number)
            kind = "fail" if row.failed else "warn" if row.warnings else "pass" if row.passed else "skip"
            line = f" {row.category:<{width}}  {share:>{most}}{tail and '  '}{tail}"
            self.emit("  ", (self.mark(kind), _MARK_STYLE[kind]), line)

    def _coverage(self, coverage: Coverage, *, tests: int) -> None:
        """Print what no assertion looks at; nothing for a single test, which need not look at everything."""
        unseen = [
            f"{what} {', '.join(names)}"
            for what, names in (
                ("tools", coverage.tools_not_looked_at),
                ("events", coverage.event_types_not_looked_at),
                ("categories", coverage.categories_not_exercised),
            )
            if names
        ]
        if unseen and tests > 1:
            self.paragraph(f"nothing looks at: {self.dotted(unseen)}", indent=2, style="dim")


def _why_not_judged(result: TestResult) -> str:
    """Return the reasons for skipped assertions, each with the way to record what they need, as the end of a phrase."""
    lacks = dict.fromkeys(
        f"{each.reason} ({each.next_step})" if each.next_step else each.reason
        for each in result.assertions
        if each.status == "skip" and each.reason
    )
    reasons, more = [*lacks][:MOST_REASONS], len(lacks) - MOST_REASONS
    return f"{': ' if reasons else ''}{'; '.join(reasons)}{f'; {more} more' if more > 0 else ''}"


def counted_outcomes(counts: RunCounts, *, not_judged: int = 0, known: int = 0) -> list[tuple[int, str, str]]:
    """List the counts that are not 0, each with its word and style; `known` of the failures are accepted."""
    parts = [
        (counts.passed, "passed", "green"),
        (counts.xfailed, "xfailed", "yellow"),
        (known, plural(known, "known failure"), "yellow"),
        (counts.failed - known, "failed", "red bold"),
        (counts.errors, plural(counts.errors, "error"), "red bold"),
        (counts.skipped, "skipped", "yellow"),
        (counts.invalid, "invalid", "red bold"),
        (counts.deselected, "deselected", "dim"),
        (
            counts.vacuous_passes,
            plural(counts.vacuous_passes, "vacuous pass", "vacuous passes"),
            "yellow",
        ),
        (not_judged, f"{plural(not_judged, 'assertion')} not judged", "yellow"),
        (counts.warnings, plural(counts.warnings, "warning"), "yellow"),
    ]
    return [part for part in parts if part[0]]


def _outcomes(counts: RunCounts, *, not_judged: int = 0) -> list[Part]:
    """List the counts as text: `3 passed`, `1 failed`."""
    parts = counted_outcomes(counts, not_judged=not_judged)
    return [(f"{number} {word}", style) for number, word, style in parts]
