"""What GitHub Actions shows of a run: annotations at lines of test files, and the summary of the step.

Workflow commands are lines that begin with `::`. The same log quotes recorded agents: what else is printed is none
(`stream.NoCommands`).
"""

import os
from collections.abc import Iterator
from pathlib import Path

from agenteval.redaction import Redactor
from agenteval.reporters.entries import Entry, entries, problem_text
from agenteval.reporters.markdown import within
from agenteval.reporters.sealing import sealed_text
from agenteval.results import InvalidSpec
from agenteval.shortening import clipped
from agenteval.stored import StoredRun

MOST_ANNOTATIONS = 10
"""Annotations of one kind that GitHub keeps for a step."""
LONGEST_SUMMARY = 2**20
"""Bytes that GitHub accepts as the summary of a step."""
LONGEST_MESSAGE = 4_000


def annotations(run: StoredRun) -> Iterator[str]:
    """A command for each test that failed or warns; beyond what GitHub keeps, the last one counts the rest."""
    listed = list(entries(run, files_first=True))
    errors = [_annotation("error", each) for each in listed if each.kind in ("fail", "error")]
    remarks = [problem for problem in run.summary.problems if problem.severity == "warning"]
    told = {(each.path, each.message) for each in remarks}
    warnings = [_annotation("warning", each) for each in listed if _warns(each, told)]
    warnings += map(_remark, remarks)
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


def _annotation(kind: str, entry: Entry) -> str:
    return _command(kind, entry.path, entry.line, entry.column, entry.name, entry.text)


def _remark(problem: InvalidSpec) -> str:
    return _command(
        "warning", problem.path, problem.line, problem.column, problem.reason_code, problem_text(problem)
    )


def _kept(commands: list[str], kind: str, noun: str) -> list[str]:
    if len(commands) <= MOST_ANNOTATIONS:
        return commands
    kept = commands[: MOST_ANNOTATIONS - 1]
    text = f"{len(commands) - len(kept)} more {noun}: see the summary of the step"
    return [*kept, _command(kind, "", None, None, "agenteval", text)]


def _command(kind: str, path: str, line: int | None, column: int | None, title: str, text: str) -> str:
    """One workflow command. A property may hold neither `:` nor `,`, and no value a line break or a bare `%`."""
    place = {"file": _in_workspace(path), "line": line or 1, "col": column} if path else {}
    properties = {**place, "title": title}
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
