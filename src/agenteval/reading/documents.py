"""Reads files that people write, safely: regular files in UTF-8, up to a size."""

import os
import stat
from pathlib import Path
from typing import NoReturn

from agenteval import budget
from agenteval.errors import FileError
from agenteval.reading.faults import EXCERPT_WIDTH, Fault, Place, place_at, problem_at

MAX_FILE_BYTES = 64 * 2**20
"""The default limit on the size of any file, in bytes."""

MAX_YAML_NODES = 200_000
"""The default limit on the values and keys of a YAML file; what an alias stands for counts each time it is used."""

MAX_DEPTH = 100
"""How deep mappings and lists may nest in any file."""

INTEGERS = range(-(2**63), 2**64)
"""The integers a file may hold: those that fit into 64 bits, signed or not."""


def checking(path: Path) -> budget.step:
    """All that is done inside with the content of a file is one step. Raises `FileError` (`file.timeout`)."""

    def too_slow(told: str) -> FileError:
        message = f"checking the file {told}"
        step = "make the file smaller, or raise limits.step_seconds in agenteval.yaml"
        return FileError([problem_at(None, Fault("file.timeout", message, next_step=step), path)])

    return budget.step(too_slow)


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
            ):  # changed meanwhile, of no known size, as in /proc, or read in parts
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
    raise FileError([problem_at(place, Fault(code, message, next_step=next_step), path)]) from None


def _refuse_size(path: Path, size: int, limit: int) -> NoReturn:
    _refuse(
        path,
        "file.too_large",
        f"the file has {size:,} bytes; the limit is {limit:,}",
        next_step="make the file smaller, or raise limits.max_file_bytes in agenteval.yaml",
    )


def _refuse_encoding(path: Path, data: bytes, offset: int) -> NoReturn:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        what = "the file is in UTF-16; only UTF-8 is supported"
    else:
        what = f"the byte 0x{data[offset]:02x} is not UTF-8"
    text = data[:offset].decode()
    rest = data[offset : offset + EXCERPT_WIDTH].decode(errors="backslashreplace")
    _refuse(
        path,
        "file.encoding",
        what,
        next_step="save the file in UTF-8",
        place=place_at((text + rest).removeprefix("\ufeff"), len(text.removeprefix("\ufeff"))),
    )
