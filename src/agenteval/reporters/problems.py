"""Redacts the problems of files, also by the rules of the files themselves (`redact_fields`), and prints them."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import FileError, Problem
from agenteval.reading.documents import read_data, read_text
from agenteval.redaction.redactor import RedactionRules, Redactor


def redacted_problems(problems: Sequence[Problem], rules: RedactionRules) -> list[Problem]:
    """Redact problems by these rules, and by the `redact_fields` of the test files that they are about.

    A file may be wrong in any other way, as long as it is YAML. Of a file that is not, and yet mentions
    `redact_fields`, no line is shown: nobody knows which of its words are the values of these fields.
    """
    quoted = {path for each in problems if each.excerpt and (path := each.path)}
    readers = {path: _redactor_of(path, rules, problems) for path in quoted}
    general = Redactor(rules=rules)
    made = []
    for problem in problems:
        redactor, is_readable = readers[problem.path] if problem.path and problem.excerpt else (general, True)
        made.append(redacted(problem if is_readable else replace(problem, excerpt=(), hint=""), redactor))
    return made


def redacted(problem: Problem, redactor: Redactor) -> Problem:
    """Redact a problem. The caret stays under the part that it points at, as far as that is still shown."""
    excerpt = [(number, redactor.redacted(text)) for number, text in problem.excerpt]
    made = replace(
        problem,
        message=redactor.redacted(problem.message),
        pointer=redactor.redacted(problem.pointer),
        excerpt=excerpt,
        hint=redactor.redacted(problem.hint),
        allowed=[redactor.redacted(name) for name in problem.allowed],
        next_step=redactor.redacted(problem.next_step),
    )
    for (number, text), (_, now) in zip(problem.excerpt, excerpt, strict=True):
        if number == problem.line and problem.column is not None and text != now:
            before, width = problem.caret or (problem.column - 1, problem.span)
            shown = len(redactor.redacted(text[:before]))
            made.caret = (min(shown, len(now)), max(1, min(width, len(now) - shown)))
    return made


def _redactor_of(path: Path, rules: RedactionRules, problems: Sequence[Problem]) -> tuple[Redactor, bool]:
    """Return the redactor of a file that some problems quote, and whether lines of it may be shown.

    It learns the values of `reporting.redact_fields` twice, as they are meant and as they are written: an excerpt shows
    `010`, which means 8.
    """
    import yaml

    from agenteval.reading.yamlsource import load_yaml, loader_of_texts

    names: list[str] = []
    readings: list[Any] = []
    is_readable = True
    with suppress(FileError):
        is_readable = b"redact_fields" not in read_data(path, sys.maxsize, a_test=True)
        text = read_text(path, max_bytes=sys.maxsize, a_test=True)
        data = load_yaml(text, path)
        is_readable = True
        reporting = data.get("reporting") if isinstance(data, dict) else None
        given = reporting.get("redact_fields") if isinstance(reporting, dict) else None
        names = [name for name in given if isinstance(name, str)] if isinstance(given, list) else []
        readings = [data, yaml.load(text, Loader=loader_of_texts())] if names else [data]  # noqa: S506 - texts only
    redactor = Redactor(names, rules)
    for data in readings:
        redactor.learn_fields(data)
    redactor.learn_files(problem for problem in problems if problem.path == path)
    return redactor, is_readable


def remarks_of(warnings: Iterable[str], path: Path) -> list[Problem]:
    """Turn the warnings of an adapter about a file into problems."""
    return [
        Problem(reason_code="adapter.remark", message=warning, path=path, severity="warning")
        for warning in warnings
    ]


def print_problems(problems: Iterable[Problem]) -> None:
    """Print problems on stderr: stdout is for the output of the command."""
    from agenteval.reporters.console import Console

    console = Console(sys.stderr)
    for problem in problems:
        console.problem(problem)
    console.flush()


def problem_as_json(problem: Problem) -> dict[str, object]:
    """Return a problem as plain data."""
    return {
        "path": str(problem.path) if problem.path else None,
        "line": problem.line,
        "column": problem.column,
        "pointer": problem.pointer,
        "severity": problem.severity,
        "reason_code": problem.reason_code,
        "message": problem.message,
        "hint": problem.hint,
        "allowed": list(problem.allowed),
        "next_step": problem.next_step,
    }
