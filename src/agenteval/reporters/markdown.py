"""A run as Markdown: for a comment on a pull request, and for the summary of a GitHub Actions step."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from agenteval.comparing.comparison import known_failures
from agenteval.contracts.results import CategoryScore, InvalidSpec, RunSummary
from agenteval.judging.stored import StoredRun
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed_text
from agenteval.reporters.console import counted_outcomes, located
from agenteval.reporters.entries import Entry, entries, problem_text
from agenteval.text.fitting import abridged, clipped, ends, plural, printable

LONGEST_COMMENT = 65_536
"""Characters that GitHub accepts as a comment; bytes are counted here, which are never fewer."""
LONGEST_EVIDENCE = 4_000
LONGEST_HEADLINE = 300
_RESERVE = 500
"""Bytes reserved for the line about what is left out, and for tokens longer than what they hide."""

_WORDS = {
    "fail": "FAIL",
    "error": "ERROR",
    "skip": "SKIP",
    "xfail": "XFAIL",
    "known": "KNOWN",
    "pass": "WARN",
}
_SIGNS = {0: "✅", 1: "❌"}


def render(run: StoredRun, redactor: Redactor) -> bytes:
    """The report, no longer than a comment may be; what does not fit is counted."""
    return sealed_text(within(run, LONGEST_COMMENT), redactor)


def within(run: StoredRun, longest: int) -> str:
    """The report in at most `longest` bytes of UTF-8: what could not be loaded, then failures, as long as they fit."""
    summary = run.summary
    head = [f"## {_SIGNS.get(summary.exit_code, '⛔')} agenteval: {_code(summary.exit_reason, '')}", ""]
    head += [*_counts(summary, len(known_failures(run))), "", _facts(run), ""]
    tail = _scorecard(summary.scorecard)
    room = longest - _RESERVE - _size(head) - _size(tail)
    body: list[str] = []
    left_out = 0
    for entry in (each for each in _urgent_first(run) if each.text):
        section = _section(entry)
        size = _size(section)
        if left_out or size > room:
            left_out += 1
            continue
        room -= size
        body += section
    if left_out:
        body += [f"{left_out} more did not fit here; `agenteval report` shows all of them.", ""]
    return "\n".join([*head, *body, *tail])


def _urgent_first(run: StoredRun) -> list[Entry]:
    """Where room is short, what is about no test says most about the exit code, then failures and errors."""
    return sorted(
        entries(run), key=lambda each: (each.result is not None, each.kind not in ("fail", "error"))
    )


def _section(entry: Entry) -> list[str]:
    """A fold with the evidence. Nothing of it is Markdown or HTML, and nobody named in it is notified."""
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
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *shown, fence]


def _code(text: str, tag: str = "code") -> str:
    """A text on one line that is shown literally, as HTML in a block of HTML, where Markdown does not apply."""
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
"""Annotations of one kind that GitHub keeps for a step."""
LONGEST_SUMMARY = 2**20
"""Bytes that GitHub accepts as the summary of a step."""
LONGEST_MESSAGE = 4_000


def annotations(run: StoredRun) -> Iterator[str]:
    """A command for each test that failed or warns; beyond what GitHub keeps, the last one counts the rest."""
    listed = _urgent_first(run)
    errors = [
        _command("error", each, each.name, each.text) for each in listed if each.kind in ("fail", "error")
    ]
    remarks = [problem for problem in run.summary.problems if problem.severity == "warning"]
    told = {(each.path, each.message) for each in remarks}
    warnings = [_command("warning", each, each.name, each.text) for each in listed if _warns(each, told)]
    warnings += [_command("warning", each, each.reason_code, problem_text(each)) for each in remarks]
    yield from _kept(errors, "error", "tests did not pass")
    yield from _kept(warnings, "warning", "warnings")


def write_summary(run: StoredRun, path: Path, redactor: Redactor) -> None:
    """Append the run to the summary of the step; GitHub would show nothing of one that is too long.

    Raises `LeakError`, `OSError`.
    """
    room = LONGEST_SUMMARY - (path.stat().st_size if path.exists() else 0)
    content = sealed_text(within(run, room), redactor)
    if len(content) <= room:
        with path.open("ab") as file:
            file.write(content)


def _warns(entry: Entry, told: set[tuple[str, str]]) -> bool:
    """Whether a test that passed warns of anything that is not told as a problem of its file."""
    result = entry.result
    if entry.kind != "pass" or result is None:
        return False
    return bool(result.summary.assertions_warned) or any(
        (result.path, each) not in told for each in result.warnings
    )


def _kept(commands: list[str], kind: str, noun: str) -> list[str]:
    if len(commands) <= MOST_ANNOTATIONS:
        return commands
    kept = commands[: MOST_ANNOTATIONS - 1]
    text = f"{len(commands) - len(kept)} more {noun}: see the summary of the step"
    return [*kept, _command(kind, None, "agenteval", text)]


def _command(kind: str, at: Entry | InvalidSpec | None, title: str, text: str) -> str:
    """One workflow command. A property may hold neither `:` nor `,`, and no value a line break or a bare `%`."""
    properties: dict[str, str | int | None] = {}
    if at and at.path:
        properties = {"file": _in_workspace(at.path), "line": at.line or 1, "col": at.column}
    properties["title"] = title
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    return f"::{kind} {given}::{_data(clipped(text, LONGEST_MESSAGE))}"


def _in_workspace(path: str) -> str:
    """The path from the top of the repository, where GitHub looks for the file."""
    top = os.environ.get("GITHUB_WORKSPACE")
    if not top:
        return path
    full = Path(path).absolute()
    return str(full.relative_to(top)) if full.is_relative_to(top) else path


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
