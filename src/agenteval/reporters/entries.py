"""The entries of a report for machines: the tests of a run, and the other reasons for its exit code.

A file that could not be loaded has no result, and a run may fail though each of its tests passed: a list of results
alone would show neither.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from agenteval.comparing.check_report import Measurement, check_of
from agenteval.comparing.comparison import known_failures, unseen_regressions
from agenteval.contracts.results import AssertionResult, InvalidSpec, TestResult
from agenteval.judging.stored import StoredRun
from agenteval.reporters.console import (
    is_trace_too_large,
    located,
    other_events,
    place_of_error,
    place_of_expectation,
)
from agenteval.text.fitting import ends

Kind = Literal["pass", "fail", "error", "skip", "xfail", "known"]
"""`known` is a failure that the run's baseline accepts."""
LONGEST_LINE = 600
"""The most characters of a message on one line; the text below it is complete."""
RUN = "agenteval"
"""The name of the entry about the run as a whole."""


@dataclass(slots=True, frozen=True, kw_only=True)
class Entry:
    """A test, a file that could not be loaded, or the run. `line` and `column` count from 1.

    `message` is the reason why it did not pass, on one line, `text` the same in full. For a pass they hold its
    warnings, if any. Only a test has a `result`.
    """

    kind: Kind
    name: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    reason_code: str = ""
    message: str = ""
    text: str = ""
    result: TestResult | None = None
    measurement: Measurement | None = None
    """The rates before and after, of a test that `agenteval check` has measured."""


def entries(run: StoredRun) -> Iterator[Entry]:
    """Yield all entries: tests in the order of the run, then files that could not be loaded or written, then the run.

    The run itself is an entry only when it failed and the others do not show every reason.
    """
    summary = run.summary
    bad, known = False, known_failures(run)
    check = check_of(run)
    measured = {test.test_case_id: test.measurement for test in check.tests} if check else {}
    warnings: list[tuple[str, str]] = []
    for result in run.results():
        warnings += [(result.path, warning) for warning in result.warnings]
        entry = _test(result, known.get(result.test_case_id, ""), is_kept=run.is_kept)
        if measurement := measured.get(result.test_case_id):
            entry = _measured(entry, measurement)
        bad |= entry.kind in ("fail", "error")
        yield entry
    errors = (problem for problem in summary.problems if problem.severity == "error")
    # All problems of one file are one entry; each problem without a file is one of its own.
    for _, each in groupby(errors, key=lambda problem: problem.path or id(problem)):
        bad = True
        yield _invalid(list(each))
    unseen = unseen_regressions(run)
    if summary.exit_code and (unseen or not bad):
        yield _run_entry(run, warnings)


def _run_entry(run: StoredRun, warnings: Sequence[tuple[str, str]]) -> Entry:
    """Make the entry of the run, with regressions that no failed test shows, and warnings that fail a strict run."""
    summary, unseen = run.summary, unseen_regressions(run)
    lines = [
        f"{change.kind.replace('_', ' ')}: {change.test_case_id} {change.assertion or '(the test)'}"
        # A rate has no state that would say it.
        + (f": {change.before}, now {change.after}" if change.kind == "lower_rate" else "")
        for change in unseen
    ]
    if unseen:
        lines.append("next: bring back what the baseline has, or accept the change with --update-baseline")
    if summary.forbidden_warnings:
        remarks = [problem for problem in summary.problems if problem.severity == "warning"]
        listed = {(problem.path, problem.message) for problem in remarks}
        lines += map(_located_problem, remarks)
        lines += [f"{path}: warning: {text}" for path, text in warnings if (path, text) not in listed]
    return Entry(
        kind="fail" if summary.exit_code == 1 else "error",
        name=RUN,
        reason_code=f"exit {summary.exit_code}",
        message=summary.exit_reason,
        text="\n".join([summary.exit_reason, *lines]),
    )


def reason_of(result: TestResult) -> str:
    """Explain on one line why a test did not pass; for a pass, return its warnings, if any."""
    return _test(result).message


def evidence_of(each: AssertionResult) -> Iterator[str]:
    """Yield the lines of an assertion's evidence: the reason for the check, then the events that decide its verdict."""
    if each.description:
        yield f"why it is checked: {each.description.strip()}"
    for excerpt in each.evidence.excerpts:
        yield f"{excerpt.event_id} {excerpt.text}"
        if excerpt.note:
            yield f"  {excerpt.note}"
    if others := other_events(each.evidence):
        yield others


def conditions_of(result: TestResult) -> list[str]:
    """List the conditions of a live test, its pass rate, and the differences between its trials."""
    conditions = [", ".join(result.conditions)] if result.conditions else []
    return conditions + [f"  {line}" for line in (result.trials.lines() if result.trials else ())]


def problem_text(problem: InvalidSpec) -> str:
    """Return the message of a problem with its advice."""
    return problem.message + (f"\nnext: {problem.next_step}" if problem.next_step else "")


def _test(result: TestResult, known: str = "", *, is_kept: bool = True) -> Entry:
    """Make the entry of a test; `known` is the reason why its failure is accepted, `is_kept` true if its files stay."""
    kind: Kind = "xfail" if result.xfail else "skip" if result.status == "skipped" else result.status
    found = [each for each in result.assertions if each.status in ("fail", "warn") and not each.xfail]
    found.sort(key=lambda each: each.status)
    reasons = _reasons(result, kind, found)
    lines = [] if found and kind in ("pass", "fail") else list(reasons)
    if lines and (place := place_of_error(result) or place_of_expectation(result)):
        lines[0] = f"{place}: {lines[0]}"
    if known:  # the reason why it is accepted comes first, the failure itself stays below it
        kind, reasons, lines = "known", [known], [known, *lines]
    lines += [line for each in found for line in _lines_of(each, result.path)]
    remarks = [f"warning: {warning}" for warning in result.warnings]
    lines += remarks
    # A live test that passes only sometimes shows its trials even when it passed.
    if kind != "pass" or (result.trials and any(result.trials.lines())):
        lines += conditions_of(result)
    if kind == "pass":
        reasons = [*reasons, *remarks]
    if result.next_step and result.next_step not in "\n".join(lines):
        lines.append(f"next: {result.next_step}{_whole_trace(result, is_kept=is_kept)}")
    line, column = _place_of(result, found)
    return Entry(
        kind=kind,
        name=result.test_case_id,
        path=result.path,
        line=line,
        column=column,
        reason_code=result.reason_code or "",
        message=_on_one_line(reasons, first_line=kind == "error"),
        text="\n".join(lines),
        result=result,
    )


def _measured(entry: Entry, measurement: Measurement) -> Entry:
    """Put the verdict and both rates before the reasons of a measured test: they decide how these are read."""
    words = measurement.words()
    message = f"{words}; {entry.message}" if entry.message else words
    return replace(entry, message=message, text=f"{words}\n{entry.text}".rstrip(), measurement=measurement)


def _place_of(result: TestResult, found: Sequence[AssertionResult]) -> tuple[int | None, int | None]:
    """Return line and column of the first deciding part that has them: an assertion, the error, the expected failure."""
    decisive = found or [each for each in result.assertions if each.crashed]
    parts = (*decisive, result.error, result)
    return next(((each.line, each.column) for each in parts if each and each.line is not None), (None, None))


def _lines_of(assertion: AssertionResult, path: str) -> Iterator[str]:
    word = "failed" if assertion.status == "fail" else "warns"
    place = located(path, assertion.line, assertion.column)
    yield f"{place}: {assertion.id} ({assertion.type}) {word}"
    for line in (*assertion.message.split("\n"), *evidence_of(assertion)):
        yield f"  {line}"


def _whole_trace(result: TestResult, *, is_kept: bool) -> str:
    """Name the file of the whole trace, or the option that writes it, when evidence is to be read."""
    if result.reason_code not in ("assertion.failed", "assertion.warning_strict"):
        return ""
    if name := result.artifacts.trace:
        return f"; the whole trace is in {name}" if is_kept else ""
    return "" if is_trace_too_large(result) else "; --save-traces writes the whole trace"


def _reasons(result: TestResult, kind: Kind, found: Sequence[AssertionResult]) -> list[str]:
    """List the reasons why a test did not pass, the most useful first."""
    if kind == "xfail":
        ids = ", ".join(each.id for each in result.assertions if each.xfail)
        return [result.xfail_reason or f"fails as expected: {ids}"]
    if result.error:
        text = result.error.message
        return [text if result.error.is_located else f"{result.error.reason_code}: {text}"]
    if kind == "skip":
        return [f"{each.id}: {each.message}" for each in result.assertions if each.status == "skip"]
    reasons = [f"{each.id}: {each.message}" for each in found]
    if kind == "fail" and (not reasons or (result.reason_code or "").startswith("xfail.")):
        reasons.insert(0, f"{result.reason_code}: {result.next_step}")
    return reasons


def _on_one_line(reasons: Sequence[str], *, first_line: bool) -> str:
    """Return the first reason on one line, with the count of the others. Of an error, an excerpt may follow: it is left out."""
    if not reasons:
        return ""
    first, *lines = [" ".join(line.split()) for line in reasons[0].split("\n")]
    for line in filter(None, lines):
        if first_line and not first.endswith(":"):  # "cannot be read:" needs its next line
            break
        first += f" {line}" if first.endswith((":", ";", ",")) else f"; {line}"
    first = ends(first, LONGEST_LINE)
    return f"{first} (and {len(reasons) - 1} more)" if len(reasons) > 1 else first


def _located_problem(problem: InvalidSpec) -> str:
    line = f"{problem.reason_code}: {problem_text(problem)}"
    return f"{located(problem.path, problem.line, problem.column)}: {line}" if problem.path else line


def _invalid(problems: Sequence[InvalidSpec]) -> Entry:
    """Make the entry of a file with all its problems, or of a problem that is about no file."""
    first = problems[0]
    lines = [f"{problem.reason_code}: {problem_text(problem)}" for problem in problems]
    return Entry(
        kind="error",
        name=first.path or first.reason_code,
        path=first.path,
        line=first.line,
        column=first.column,
        reason_code=first.reason_code,
        message=_on_one_line(lines, first_line=True),
        text="\n".join(map(_located_problem, problems)),
    )
