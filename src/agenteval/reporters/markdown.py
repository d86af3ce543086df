"""A run for GitHub: Markdown for a comment or the summary of a step, and annotations at lines of test files."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from agenteval.comparing.check_report import CheckedTest, CheckReport, check_of
from agenteval.comparing.comparison import Comparison, known_failures
from agenteval.contracts.results import CategoryScore, InvalidSpec, RunSummary
from agenteval.judging.stored import StoredRun
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed_text
from agenteval.reporters.check import (
    MOST_PARTS,
    base_words,
    difference_rows,
    few,
    has_differences,
    idle_lines,
    measured,
    measured_words,
    more_trials,
    notes_of,
    rate_words,
    reach_words,
    unseen_lines,
)
from agenteval.reporters.console import counted_outcomes, located
from agenteval.reporters.entries import Entry, entries, problem_text
from agenteval.text.fitting import abridged, clipped, ends, plural, printable

LONGEST_COMMENT = 65_536
"""The most characters that GitHub accepts as a comment; bytes are counted here, which are never fewer."""
LONGEST_EVIDENCE = 4_000
LONGEST_HEADLINE = 300
_RESERVE = 500
"""The bytes reserved for the line about omitted entries, and for redaction tokens that are longer than the secret."""

_WORDS = {
    "fail": "FAIL",
    "error": "ERROR",
    "skip": "SKIP",
    "xfail": "XFAIL",
    "known": "KNOWN",
    "pass": "WARN",
}
_SIGNS = {0: "✅", 1: "❌"}
_VERDICT_SIGNS = {"worse": "❌", "unclear": "❔", "better": "✅", "held": "✅"}
_MOST_FILES = 10
_MOST_ROWS = 100
"""The measured tests in the table of a comment; the worst ones come first."""


def render(run: StoredRun, redactor: Redactor) -> bytes:
    """Render the report, no longer than a comment may be; entries that do not fit are counted."""
    return sealed_text(within(run, LONGEST_COMMENT), redactor)


def render_comparison(comparison: Comparison, code: int, reason: str, redactor: Redactor) -> bytes:
    """Render a comparison of two runs, as `agenteval compare` prints it, no longer than a comment may be.

    Raises `LeakError`.
    """
    from io import BytesIO, TextIOWrapper

    from agenteval.reporters.comparison import print_comparison
    from agenteval.reporters.terminal import Terminal

    stream = TextIOWrapper(BytesIO(), "utf-8")  # a terminal takes its signs from what the stream can hold
    terminal = Terminal(stream, color="never")
    print_comparison(terminal, comparison)
    terminal.flush()
    stream.seek(0)
    shown = stream.read().strip("\n").split("\n")
    cut = False
    while _size(shown) > LONGEST_COMMENT - 500:
        cut, shown = True, shown[: len(shown) // 2]
    lines = [f"## {_SIGNS.get(code, '⛔')} {printable(reason)}", "", *_fenced("\n".join(shown)), ""]
    return sealed_text("\n".join(lines + ["More: `agenteval compare`.", ""] * cut), redactor)


def within(run: StoredRun, longest: int) -> str:
    """Write the report in at most `longest` bytes of UTF-8: invalid files first, then failures, as many as fit."""
    summary, check = run.summary, check_of(run)
    name = "agenteval check" if check else "agenteval"
    head = [f"## {_SIGNS.get(summary.exit_code, '⛔')} {name}: {_code(summary.exit_reason, '')}", ""]
    head += _check(check) if check else [*_counts(summary, len(known_failures(run))), ""]
    head += [_facts(run), ""]
    tail = _scorecard(summary.scorecard)
    room = longest - _RESERVE - _size(head) - _size(tail)
    body: list[str] = []
    left_out = 0
    sections = [_differences(test) for test in measured(check) if has_differences(test)] if check else []
    sections += [_section(entry) for entry in _urgent_first(run) if _is_shown(entry)]
    for section in sections:
        size = _size(section)
        # Once an entry is left out, later ones are too: the most urgent must not be missing between lesser ones.
        if left_out or size > room:
            left_out += 1
            continue
        room -= size
        body += section
    if left_out:
        body += [f"{left_out} more did not fit here; `agenteval report` shows all of them.", ""]
    return "\n".join([*head, *body, *tail])


def _is_shown(entry: Entry) -> bool:
    """Return whether an entry has a fold: a measured test that passes stands in the table of rates, which is enough."""
    return bool(entry.text) and not (entry.measurement and entry.kind == "pass")


def _check(check: CheckReport) -> list[str]:
    """Write a check: what it reaches, a table of the measured tests, the worst first, and what no test saw.

    It is HTML, where Markdown does not apply: names and prompts of the author may look like markup.
    """
    files = [_code(file.path) for file in check.files[:_MOST_FILES]]
    files += [f"{more} more"] if (more := len(check.files) - _MOST_FILES) > 0 else []
    changed = f"Changed since {_code(base_words(check.base))}: {', '.join(files) or 'nothing'}."
    unmeasured = f"{len(check.unmeasured)} of {len(check.tests)} tests"
    lines = [f"<p><b>NOT MEASURED:</b> {unmeasured}</p>"] * bool(check.unmeasured and check.allow_unmeasured)
    lines += [f"<p>{changed} It {reach_words(check)}.</p>"]
    parts = check.parts[:MOST_PARTS]
    lines += _list(
        [f"{_code(ends(part.difference, LONGEST_HEADLINE))}: {_code(few(part.tests))}" for part in parts]
    )
    if tests := measured(check):
        lines += ["<table>", "<tr><th></th><th>test</th><th>before</th><th>now</th><th></th></tr>"]
        lines += map(_row, tests[:_MOST_ROWS])
        lines += ["</table>"]
        remarks = [measured_words(check), more_trials(check)]
        remarks += [f"and {len(tests) - _MOST_ROWS} more tests"] * (len(tests) > _MOST_ROWS)
        lines += [f"<p>{_code('; '.join(filter(None, remarks)))}</p>"]
    lines += _list(map(_code, [*idle_lines(check)[:_MOST_FILES], *(line for line, _ in unseen_lines(check))]))
    return [*lines, *([f"<p>Next: {_code(check.next_step)}</p>"] if check.next_step else ()), ""]


def _list(items: Iterable[str]) -> list[str]:
    lines = [f"<li>{item}</li>" for item in items]
    return ["<ul>", *lines, "</ul>"] if lines else []


def _row(test: CheckedTest) -> str:
    """Write the line of a measured test."""
    made = test.measurement
    assert made is not None
    p = [f"p {made.p:.2g}"] * (made.verdict == "worse")
    verdict = f"{_VERDICT_SIGNS[made.verdict]} {made.verdict}"
    rates = [rate_words(side) for side in (made.before, made.after)]
    cells = [verdict, _code(test.test_case_id), *rates, _code("; ".join([*p, *notes_of(test)]), "")]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _differences(test: CheckedTest) -> list[str]:
    """Write a fold with what today's agent does differently in a measured test."""
    made = test.measurement
    assert made is not None
    rows = [f"{label:<8} {text}" for label, text in difference_rows(made, None)]
    headline = f"<b>{made.verdict.upper()}</b> {_code(test.test_case_id)}: what it does differently"
    lines = [
        f"<details><summary>{headline}</summary>",
        "",
        *_fenced(abridged("\n".join(rows), LONGEST_EVIDENCE)),
    ]
    return [*lines, "", "</details>", ""]


def _urgent_first(run: StoredRun) -> list[Entry]:
    """Sort entries for a short report: those about no test, which explain the exit code best, then failures and errors."""
    return sorted(
        entries(run), key=lambda each: (each.result is not None, each.kind not in ("fail", "error"))
    )


def _section(entry: Entry) -> list[str]:
    """Write a fold with the evidence. Its text is never read as Markdown or HTML, and notifies nobody who is named in it."""
    message = ends(entry.message, LONGEST_HEADLINE)
    result, facts = entry.result, ""
    word = _WORDS[entry.kind]
    if result and result.conditions:
        facts = f" {_code(' · '.join(result.conditions), '')}"
        word = (
            "PASS" if word == "WARN" and not (result.warnings or result.summary.assertions_warned) else word
        )
    headline = f"<b>{word}</b> {_code(entry.name)}{facts}" + (f" {_code(message)}" if message else "")
    lines = [f"<details><summary>{headline}</summary>", ""]
    if entry.path:
        lines += [f"<p>{_code(located(entry.path, entry.line, None))}</p>", ""]
    lines += [*_fenced(abridged(entry.text, LONGEST_EVIDENCE)), ""]
    return [*lines, "</details>", ""]


def _fenced(text: str) -> list[str]:
    shown = [printable(line) for line in text.split("\n")]
    # A row of backticks in the text would end a fence of the same length.
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *shown, fence]


def _code(text: str, tag: str = "code") -> str:
    """Write a text literally, on one line of an HTML block, where Markdown does not apply."""
    shown = escape(printable(" ".join(text.split())), quote=False)
    return f"<{tag}>{shown}</{tag}>" if tag else shown


def _counts(summary: RunSummary, known: int) -> list[str]:
    counts = summary.counts
    total = [(counts.total, plural(counts.total, "test"), "")] if counts.total else []
    named = [*total, *counted_outcomes(counts, not_judged=summary.not_judged, known=known)]
    return _table([[word for _, word, _ in named], [str(number) for number, _, _ in named]])


def _facts(run: StoredRun) -> str:
    summary = run.summary
    return (
        f"{_code(summary.test_run_id)} · agenteval {_code(summary.agenteval_version, '')} · "
        f"exit {summary.exit_code} in {summary.duration_ms / 1000:.2f} s"
    )


def _scorecard(rows: Sequence[CategoryScore]) -> list[str]:
    if not rows:
        return []
    names = ["passed", "failed", "xfailed", "warnings", "vacuous", "skipped"]
    cells = [[row.category, *(str(getattr(row, name) or "") for name in names)] for row in rows]
    return ["### Scorecard", "", *_table([["category", *names], *cells]), ""]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows[0]:
        return []
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return [head, f"|{' --- |' * len(rows[0])}", *body]


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode(errors="backslashreplace")) + 1 for line in lines)


MOST_ANNOTATIONS = 10
"""The most annotations of one kind that GitHub keeps for a step."""
LONGEST_SUMMARY = 2**20
"""The most bytes that GitHub accepts as the summary of a step."""
LONGEST_MESSAGE = 4_000


def annotations(run: StoredRun) -> Iterator[str]:
    """Yield a command for each test that failed or warns; beyond the number GitHub keeps, the last one counts the rest."""
    listed = _urgent_first(run)
    errors = [
        _command("error", each, each.name, each.text) for each in listed if each.kind in ("fail", "error")
    ]
    remarks = [problem for problem in run.summary.problems if problem.severity == "warning"]
    in_problems = {(each.path, each.message) for each in remarks}
    warnings = [
        _command("warning", each, each.name, each.text) for each in listed if _warns(each, in_problems)
    ]
    warnings += [_command("warning", each, each.reason_code, problem_text(each)) for each in remarks]
    yield from _kept(errors, "error", "tests did not pass")
    yield from _kept(warnings, "warning", "warnings")


def write_summary(run: StoredRun, path: Path, redactor: Redactor) -> None:
    """Append the run to the summary of the step, if it fits: GitHub shows nothing of a summary that is too long.

    Raises `LeakError`, `OSError`.
    """
    room = LONGEST_SUMMARY - (path.stat().st_size if path.exists() else 0)
    content = sealed_text(within(run, room), redactor)
    if len(content) <= room:  # redaction tokens may have made it longer
        with path.open("ab") as file:
            file.write(content)


def _warns(entry: Entry, in_problems: set[tuple[str, str]]) -> bool:
    """Return whether a test that passed has a warning that is not listed as a problem of its file."""
    result = entry.result
    if entry.kind != "pass" or result is None:
        return False
    return bool(result.summary.assertions_warned) or any(
        (result.path, each) not in in_problems for each in result.warnings
    )


def _kept(commands: list[str], kind: str, noun: str) -> list[str]:
    if len(commands) <= MOST_ANNOTATIONS:
        return commands
    kept = commands[: MOST_ANNOTATIONS - 1]
    text = f"{len(commands) - len(kept)} more {noun}: see the summary of the step"
    return [*kept, _command(kind, None, "agenteval", text)]


def _command(kind: str, at: Entry | InvalidSpec | None, title: str, text: str) -> str:
    """Write a workflow command. A property may hold neither `:` nor `,`, and no value a line break or a bare `%`."""
    properties: dict[str, str | int | None] = {}
    if at and at.path:
        properties = {"file": _in_workspace(at.path), "line": at.line or 1, "col": at.column}
    properties["title"] = title
    # GitHub shows an annotation only at a line, so a file without a known place gets its first one.
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    return f"::{kind} {given}::{_data(clipped(text, LONGEST_MESSAGE))}"


def _in_workspace(path: str) -> str:
    """Return the path from the top of the repository, where GitHub looks for the file."""
    top = os.environ.get("GITHUB_WORKSPACE")
    if not top:
        return path
    full = Path(path).absolute()
    return str(full.relative_to(top)) if full.is_relative_to(top) else path


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
