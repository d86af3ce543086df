"""The one door for everything that is read: regular files, to which no link leads out of the project.

Texts are in UTF-8, up to a size.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, NoReturn

from agenteval import budget
from agenteval.errors import FileError
from agenteval.reading.containment import LeadsOutError, readable
from agenteval.reading.faults import EXCERPT_WIDTH, Fault, Place, place_at, problem_at

MAX_FILE_BYTES = 64 * 2**20
"""The default limit on the size of any file, in bytes."""

MAX_YAML_NODES = 200_000
"""The default limit on the values and keys of a YAML file; what an alias stands for counts each time it is used."""

MAX_DEPTH = 100
"""How deep mappings and lists may nest in any file."""

INTEGERS = range(-(2**63), 2**64)
"""The integers a file may hold: those that fit into 64 bits, signed or not."""


def opened(path: Path) -> BinaryIO:
    """A file, open for reading its bytes. Raises OSError: `LeadsOutError`, and for a pipe, which would be waited for."""
    target, status = readable(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, f"{_kind(status.st_mode)}, not a file")
    return open(target, "rb")  # noqa: PTH123 - the caller closes it


def refuse_link_out(path: Path) -> None:
    """Refuse a file or folder to which a link leads out of the project. Raises `FileError` (`file.outside_root`)."""
    try:
        readable(path)
    except LeadsOutError as error:
        _refuse_link(path, error)
    except (OSError, ValueError):
        pass  # whoever reads it says so


def read_bytes(path: Path) -> bytes:
    """What is in a file. Raises OSError as `opened` does."""
    with opened(path) as file:
        return file.read()


def checking(path: Path) -> budget.step:
    """All that is done inside with the content of a file is one step. Raises `FileError` (`file.timeout`)."""

    def too_slow(told: str) -> FileError:
        message = f"checking the file {told}"
        step = "make the file smaller, or raise limits.step_seconds in agenteval.yaml"
        return FileError([problem_at(None, Fault("file.timeout", message, next_step=step), path)])

    return budget.step(too_slow)


def read_text(
    path: Path, *, max_bytes: int = MAX_FILE_BYTES, within: Path | None = None, a_test: bool = False
) -> str:
    """The text of a regular file in UTF-8, without the byte order mark it may begin with.

    `within` is a folder that must hold it, beside the project. A test file may be a link that leads out (`a_test`):
    nothing is shown of it unless it is a valid test.

    Raises `FileError`: `file.missing`, `file.not_a_file`, `file.unreadable`, `file.too_large`, `file.outside_root`,
    `file.encoding` or `file.nul_byte`. Never waits: a named pipe is refused before it is opened.
    """
    data = read_data(path, max_bytes, within, a_test=a_test)
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


def read_data(
    path: Path, max_bytes: int = MAX_FILE_BYTES, within: Path | None = None, *, a_test: bool = False
) -> bytes:
    """What is in a file, as `read_text` reads it. Raises `FileError`, but for what is about texts."""
    try:
        target, status = (os.fspath(path), os.stat(path)) if a_test else readable(path, within)  # noqa: PTH116
        if not stat.S_ISREG(status.st_mode):
            _refuse(path, "file.not_a_file", f"{_kind(status.st_mode)}, not a file")
        if status.st_size > max_bytes:
            _refuse_size(path, status.st_size, max_bytes)
        with open(target, "rb", buffering=0) as file:  # noqa: PTH123 - a third of the time of Path.open
            data = file.read(status.st_size + 1)
            if (
                len(data) != status.st_size
            ):  # changed meanwhile, of no known size, as in /proc, or read in parts
                while len(data) <= max_bytes and (more := file.read(max_bytes + 1 - len(data))):
                    data += more
    except (FileNotFoundError, NotADirectoryError):
        what = "a symbolic link to nothing" if os.path.islink(path) else "no such file"  # noqa: PTH114
        _refuse(path, "file.missing", what)
    except LeadsOutError as error:
        _refuse_link(path, error)
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


def _refuse_link(path: Path, error: LeadsOutError) -> NoReturn:
    step = f"put the file itself there, or name it where it is: {error.real}"
    _refuse(path, "file.outside_root", error.message, next_step=step)


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
