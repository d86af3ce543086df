"""Describes what is wrong with a file: faults, places, and the problems that show both."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agenteval.contracts.errors import Problem
from agenteval.contracts.models import DataPath
from agenteval.text.lazy_regexes import lazy

if TYPE_CHECKING:
    from agenteval.contracts.explaining import Finding

MAX_PROBLEMS = 100
"""The most problems of one file that are reported."""
EXCERPT_WIDTH = 100
"""The most characters of a line that an excerpt shows."""
_CONTEXT_LINES = 2


class Place(NamedTuple):
    """A stretch of a text, on one line.

    `line` and `column` count from 1, in characters; `span` is the length in characters. `excerpt` holds the line,
    after up to two lines before it, fit for a terminal. `caret` is the part to underline in the last line: the number
    of cells before it, and its width in cells.
    """

    line: int
    column: int
    span: int
    excerpt: tuple[tuple[int, str], ...]
    caret: tuple[int, int]


def place_at(text: str, offset: int, span: int = 1) -> Place:
    """The place of `span` characters from `offset` on, cut to the end of the line."""
    before = text[:offset]
    if "\r" in before:
        before = before.replace("\r\n", "\n").replace("\r", "\n")
    *context, head = before.rsplit("\n", _CONTEXT_LINES + 1)[-_CONTEXT_LINES - 1 :]
    ends = [end for end in (text.find("\n", offset), text.find("\r", offset)) if end >= 0]
    tail = text[offset : min(ends, default=len(text))]
    line = before.count("\n") + 1
    span = max(1, min(span, len(tail)))
    window, caret = _window(head, tail, span)
    shown = [*context, head + tail]
    return Place(
        line=line,
        column=len(head) + 1,
        span=span,
        excerpt=tuple((line - len(context) + index, window(text)) for index, text in enumerate(shown)),
        caret=caret,
    )


def _window(head: str, tail: str, span: int) -> tuple[Callable[[str], str], tuple[int, int]]:
    """A function that cuts the lines of an excerpt so that the caret is in sight, and where the caret then is."""
    from agenteval.text.fitting import cells, printable

    def shown(text: str) -> str:
        return printable(text.replace("\t", " "))

    start = 0
    if len(head) + min(span, EXCERPT_WIDTH // 2) > EXCERPT_WIDTH:
        start = len(head) - EXCERPT_WIDTH // 2
    marked = min(span, start + EXCERPT_WIDTH - len(head))

    def window(line: str) -> str:
        left = "…" if line[:start].strip() else " " * bool(start)
        right = "…" if len(line) > start + EXCERPT_WIDTH else ""
        return left + shown(line[start : start + EXCERPT_WIDTH]) + right

    before = bool(start) + cells(shown(head[start:]))
    return window, (before, max(1, cells(shown(tail[:marked]))))


class Fault(NamedTuple):
    """Something wrong with a file, from which a located problem is made.

    `data_path` leads to the value at fault or, with `at_key`, to the value under the key at fault.
    """

    code: str
    message: str
    data_path: DataPath = ()
    at_key: bool = False
    suggestion: str | None = None
    allowed: Sequence[str] = ()
    next_step: str = ""
    severity: Literal["error", "warning"] = "error"


def fault_of(finding: "Finding", family: str) -> Fault:
    """The fault of a model's finding in a file; `family` begins its reason code."""
    return Fault(
        code=f"{family}.{finding.code}",
        message=finding.sentence,
        data_path=finding.path,
        at_key=finding.at_key,
        suggestion=finding.suggestion,
        allowed=finding.allowed,
        # What a program wrote is not corrected by hand: who reads it knows better what to do.
        next_step=""
        if family == "json" and finding.code in ("missing_key", "wrong_type")
        else finding.next_step,
    )


def problem_at(
    place: Place | None, fault: Fault, path: Path, *, severity: Literal["error", "warning"] = "error"
) -> Problem:
    """The problem of a fault at a place of a file, or in the file as a whole."""
    problem = Problem(
        reason_code=fault.code,
        message=fault.message,
        path=path,
        pointer=pointer(fault.data_path),
        hint=f"did you mean {fault.suggestion!r}?" if fault.suggestion else "",
        allowed=fault.allowed,
        next_step=fault.next_step,
        severity=severity,
    )
    if place:
        problem.line, problem.column, problem.span = place.line, place.column, place.span
        problem.excerpt, problem.caret = place.excerpt, place.caret
    return problem


def pointer(path: DataPath) -> str:
    """A path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


Places = Callable[[str, Sequence[tuple[DataPath, bool]]], list[Place]]
"""Finds the places of data paths in a text: `yamlsource.places` or `jsonsource.places`."""


def problems_at(faults: Sequence[Fault], *, text: str, places: Places, path: Path) -> list[Problem]:
    """The faults as located problems, in order of line: the first `MAX_PROBLEMS`, and whether there are more."""
    shown = faults[:MAX_PROBLEMS]
    found = places(text, [(fault.data_path, fault.at_key) for fault in shown])
    problems = [problem_at(place, fault, path) for fault, place in zip(shown, found, strict=True)]
    problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
    if len(faults) > len(shown):
        message = f"there are more problems; the first {len(shown)} are shown"
        problems.append(problem_at(None, Fault("file.many_problems", message), path))
    return problems


# TOML ------------------------------------------------------------------------------------------------------------

_TABLE = ("tool", "agenteval")
_LINE = lazy(
    r"^[ \t]*(?:\[+(?P<header>[^\]\n]+)\]|(?P<key>[\w.\"' -]+?)[ \t]*=[ \t]*(?P<value>[^\n#]*))", re.MULTILINE
)


_DIGITS = lazy(r"\d+")


def as_json(value: Any) -> Any:
    """TOML data as JSON can hold it: times, NaN and infinity become text."""
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and value - value == 0):
        return value
    return str(value)


def toml_places(text: str, wanted: Sequence[tuple[DataPath, bool]]) -> list[Place]:
    """The place of each (path, at_key) below [tool.agenteval] of a TOML file, or of what is nearest above it.

    Good enough to point at a line: it knows tables and plain keys.
    """
    keys: dict[DataPath, tuple[int, int]] = {}
    values: dict[DataPath, tuple[int, int]] = {}
    table: DataPath = ()
    for line in _LINE.finditer(text):
        if line["header"]:
            table = _names(line["header"])
            keys.setdefault(table, line.span("header"))
        else:
            path = (*table, *_names(line["key"]))
            keys.setdefault(path, line.span("key"))
            values.setdefault(path, line.span("value"))
    places = []
    for inner, at_key in wanted:
        path = (*_TABLE, *inner)
        while path and path not in keys:
            path = path[:-1]
        start, end = (keys if at_key or path not in values else values).get(path, (0, 1))
        places.append(place_at(text, start, len(text[start:end].rstrip())))
    return places


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip(" \t\"'") for name in dotted.split("."))


def toml_syntax(text: str, message: str) -> tuple[str, Place | None]:
    """Explain why a text is not TOML, and where, from tomllib's message."""
    what, _, where = message.partition(" (at ")
    numbers = [int(number) for number in _DIGITS.findall(where)]
    place = None
    if len(numbers) == 2:
        line, column = numbers
        text = text.replace("\r\n", "\n")
        before = text.split("\n")[: line - 1]
        place = place_at(text, sum(len(each) + 1 for each in before) + column - 1)
    return f"not valid TOML: {what}", place
