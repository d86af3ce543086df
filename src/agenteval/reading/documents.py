"""Files that people write: reading them safely, and showing where in them something is wrong."""

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from agenteval.errors import FileError, Problem
from agenteval.findings import DataPath, Finding

MAX_FILE_BYTES = 64 * 2**20
"""The default limit on the size of any file, in bytes."""

MAX_YAML_NODES = 200_000
"""The default limit on the values and keys of a YAML file; what an alias stands for counts each time it is used."""

MAX_DEPTH = 100
"""How deep mappings and lists may nest in any file."""

INTEGERS = range(-(2**63), 2**64)
"""The integers a file may hold: those that fit into 64 bits, signed or not."""

MAX_PROBLEMS = 100
"""The most problems of one file that are reported."""

_EXCERPT_WIDTH = 100
_CONTEXT_LINES = 2


class Place(NamedTuple):
    """A stretch of a text, on one line.

    `line` and `column` count from 1, in characters; `span` is the length in characters. `excerpt` holds up to two
    lines before and the line itself, fit for a terminal; `caret` says what to underline in its last line: the number
    of cells before the caret, and its width in cells.
    """

    line: int
    column: int
    span: int
    excerpt: tuple[tuple[int, str], ...]
    caret: tuple[int, int]


def read_text(path: Path, *, max_bytes: int = MAX_FILE_BYTES) -> str:
    """The text of a regular file in UTF-8, without the byte order mark it may begin with.

    Raises `FileError`: `file.missing`, `file.not_a_file`, `file.unreadable`, `file.too_large`,
    `file.encoding` or `file.nul_byte`. Never waits: a named pipe is refused before it is opened.
    """
    data = _read(path, max_bytes)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        _refuse_encoding(path, data, error.start)
    if "\0" in text:
        _refuse(
            path,
            "file.nul_byte",
            "a NUL byte: this is not a text file",
            next_step="save the file as text in UTF-8",
            place=place_at(text, text.index("\0")),
        )
    return text.removeprefix("\ufeff")


def _read(path: Path, max_bytes: int) -> bytes:
    try:
        status = os.stat(path)  # noqa: PTH116 - a third of the time of Path.stat
        if not stat.S_ISREG(status.st_mode):
            _refuse(path, "file.not_a_file", f"{_kind(status.st_mode)}, not a file")
        if status.st_size > max_bytes:
            _refuse_size(path, status.st_size, max_bytes)
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - the same
            data = file.read(status.st_size + 1)
            if (
                len(data) != status.st_size
            ):  # it has changed, has no known size, as in /proc, or came in parts
                while len(data) <= max_bytes and (more := file.read(max_bytes + 1 - len(data))):
                    data += more
    except (FileNotFoundError, NotADirectoryError):
        what = "a symbolic link to nothing" if os.path.islink(path) else "no such file"  # noqa: PTH114
        _refuse(path, "file.missing", what)
    except OSError as error:
        _refuse(path, "file.unreadable", f"the file cannot be read: {error.strerror}")
    except ValueError:  # a NUL, or half a character; the message differs between versions of Python
        _refuse(path, "file.unreadable", "the file cannot be read: no file can have this name")
    if len(data) > max_bytes:
        _refuse_size(path, len(data), max_bytes)
    return data


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _refuse(
    path: Path, code: str, message: str, *, next_step: str = "", place: Place | None = None
) -> NoReturn:
    raise FileError([problem_at(place, code=code, message=message, path=path, next_step=next_step)]) from None


def _refuse_size(path: Path, size: int, limit: int) -> NoReturn:
    _refuse(
        path,
        "file.too_large",
        f"the file has {size:,} bytes; the limit is {limit:,}",
        next_step="make the file smaller, or raise limits.max_file_bytes in agenteval.yaml",
    )


def _refuse_encoding(path: Path, data: bytes, offset: int) -> NoReturn:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        what = "the file is in UTF-16; only UTF-8 is read"
    else:
        what = f"the byte 0x{data[offset]:02x} is not UTF-8"
    text = data[:offset].decode()
    rest = data[offset : offset + _EXCERPT_WIDTH].decode(errors="backslashreplace")
    _refuse(
        path,
        "file.encoding",
        what,
        next_step="save the file in UTF-8",
        place=place_at((text + rest).removeprefix("\ufeff"), len(text.removeprefix("\ufeff"))),
    )


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
    from agenteval.shortening import cells

    start = 0
    if len(head) + min(span, _EXCERPT_WIDTH // 2) > _EXCERPT_WIDTH:
        start = len(head) - _EXCERPT_WIDTH // 2
    marked = min(span, start + _EXCERPT_WIDTH - len(head))

    def window(line: str) -> str:
        left = "…" if line[:start].strip() else " " * bool(start)
        right = "…" if len(line) > start + _EXCERPT_WIDTH else ""
        return left + _shown(line[start : start + _EXCERPT_WIDTH]) + right

    before = bool(start) + cells(_shown(head[start:]))
    return window, (before, max(1, cells(_shown(tail[:marked]))))


def _shown(text: str) -> str:
    """The text with tabs as blanks, and with escapes for all that a terminal would obey or hide."""
    text = text.replace("\t", " ")
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def problem_at(
    place: Place | None,
    *,
    code: str,
    message: str,
    path: Path,
    data_path: DataPath = (),
    suggestion: str | None = None,
    allowed: Sequence[str] = (),
    next_step: str = "",
) -> Problem:
    """A problem at a place of a file, or with the file as a whole."""
    problem = Problem(
        reason_code=code,
        message=message,
        path=path,
        pointer=pointer(data_path),
        hint=f"did you mean {suggestion!r}?" if suggestion else "",
        allowed=allowed,
        next_step=next_step,
    )
    if place:
        problem.line, problem.column, problem.span = place.line, place.column, place.span
        problem.excerpt, problem.caret = place.excerpt, place.caret
    return problem


def pointer(path: DataPath) -> str:
    """A path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


class Fault(NamedTuple):
    """Something wrong with a file's data, from which a located problem is made.

    `data_path` leads to the value at fault or, with `at_key`, to the value whose key is at fault.
    """

    code: str
    message: str
    data_path: DataPath
    at_key: bool = False
    suggestion: str | None = None
    allowed: Sequence[str] = ()
    next_step: str = ""


def fault_of(finding: Finding, family: str) -> Fault:
    """The fault of a model's finding in a file; `family` begins its reason code."""
    return Fault(
        code=f"{family}.{finding.code}",
        message=finding.sentence,
        data_path=finding.path,
        at_key=finding.at_key,
        suggestion=finding.suggestion,
        allowed=finding.allowed,
        next_step=finding.next_step,
    )


Places = Callable[[str, Sequence[tuple[DataPath, bool]]], list[Place]]
"""Finds the places of data paths in a text: `yamlsource.places` or `jsonsource.places`."""


def problems_at(faults: Sequence[Fault], *, text: str, places: Places, path: Path) -> list[Problem]:
    """The faults as located problems, in order of line: the first `MAX_PROBLEMS`, and whether there are more."""
    told = faults[:MAX_PROBLEMS]
    found = places(text, [(fault.data_path, fault.at_key) for fault in told])
    problems = [
        problem_at(
            place,
            code=fault.code,
            message=fault.message,
            path=path,
            data_path=fault.data_path,
            suggestion=fault.suggestion,
            allowed=fault.allowed,
            next_step=fault.next_step,
        )
        for fault, place in zip(told, found, strict=True)
    ]
    problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
    if len(faults) > len(told):
        message = f"there are more problems; the first {len(told)} are shown"
        problems.append(problem_at(None, code="file.many_problems", message=message, path=path))
    return problems
