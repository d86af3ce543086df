"""Reads files, and only those that may be read: a link that leads out of the project is not followed.

One process works on one project, which `keep_inside` names. A path outside of it is one that a person has named.
"""

import errno
import os
import stat
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from agenteval.contracts import time_limits
from agenteval.contracts.errors import FileError
from agenteval.reading.places import EXCERPT_WIDTH, Fault, Place, place_at, problem_at

STAY_INSIDE = (
    "keep the file inside the project, or allow files anywhere with --allow-outside; "
    "symbolic links that lead out of the project are not followed"
)
"""The next step for a file outside."""

_root = ""
"""The real path of the project in force, with a separator at its end; empty when there is none."""
_admitted: set[str] = set()


class LeadsOutError(OSError):
    """A link leads out of a folder, called `what`, that it has to stay in. `message` states this; `real` is its target."""

    def __init__(self, what: str, folder: str, real: str) -> None:
        self.message = f"a link leads out of the {what} {folder.rstrip(os.sep) or folder}"
        self.real = real
        super().__init__(errno.EACCES, self.message)


def keep_inside(root: Path | None) -> None:
    """From now on follow no link out of this project; None: out of none."""
    global _root  # noqa: PLW0603 - there is one process, and one project
    real_folder.cache_clear()
    _last_folders.cache_clear()
    _admitted.clear()
    _root = real_folder(str(root)) if root else ""


def admit(path: Path, real: str = "") -> None:
    """Let a file or folder be read wherever it is: the user allows it, the run has made it, or it is within reach of a test.

    `real` is its path without symbolic links, where that is known.
    """
    real = real or os.path.realpath(path)
    if not real.startswith(_root):
        _admitted.add(os.path.join(real, ""))  # noqa: PTH118


def is_inside(path: Path | str, root: Path) -> bool:
    """Return whether a path, of a file or of none, is inside the root. Raises ValueError for an impossible path."""
    return os.path.realpath(path).startswith(real_folder(str(root)))


def leads_out(path: Path) -> bool:
    """Return whether a path belongs to the project in force, and a link in it leads out."""
    return _leads_out(os.fspath(path), os.path.realpath(path))


def readable(path: Path, within: Path | None = None) -> tuple[str, os.stat_result]:
    """The path to open for a file, and its status. Raises `LeadsOutError`, OSError, ValueError.

    `within` is a folder that must hold it too, as the folder of a run holds all files of the run.
    """
    text = os.fspath(path)
    real, status = looked_up(*os.path.split(text))
    if within is not None and not real.startswith(real_folder(str(within))):
        raise LeadsOutError("folder", real_folder(str(within)), real)
    # The real path is opened, and not the one that was named: a link that changes meanwhile leads nowhere else.
    if _root and real.startswith(_root):
        return real, status or os.stat(real)  # noqa: PTH116 - once per file of a test
    if _leads_out(text, real):
        raise LeadsOutError("project", _root, real)
    return text, os.stat(text)  # noqa: PTH116


def _leads_out(text: str, real: str) -> bool:
    inside = os.path.join(real, "")  # noqa: PTH118
    if not _root or inside.startswith((_root, *_admitted)):
        return False
    above = os.path.dirname(os.path.abspath(text))  # noqa: PTH100, PTH120 - without `..`, which are no links
    while not os.path.join(os.path.realpath(above), "").startswith(_root):  # noqa: PTH118
        above, last = os.path.dirname(above), above  # noqa: PTH120
        if above == last:
            return False
    return True


@cache
def real_folder(folder: str) -> str:
    """The real path of a folder with a separator at its end, with which all paths inside begin."""
    return os.path.join(os.path.realpath(folder), "")  # noqa: PTH118


def looked_up(folder: str, name: str) -> tuple[str, os.stat_result | None]:
    """The path without symbolic links, and what kind of thing is there, when that is known already.

    Most files lie beside the test, and most tests side by side: then only the file and the folder of the test are
    looked up, and what is above them once for all.
    """
    if os.path.basename(name) == name and name not in ("", os.curdir, os.pardir):  # noqa: PTH119
        beside = _last_folders(folder, "" if os.path.isabs(folder) else os.getcwd()) + name  # noqa: PTH109, PTH117
        try:
            status = os.lstat(beside)
        except OSError:
            return beside, None
        if not stat.S_ISLNK(status.st_mode):
            return beside, status
    return os.path.realpath(os.path.join(folder, name)), None  # noqa: PTH118


@lru_cache(maxsize=2)
def _last_folders(folder: str, where: str) -> str:  # noqa: ARG001 - what a relative path depends on
    """The folder without symbolic links, with a separator at its end; the last two are remembered: the folder of a test and the one above it."""
    above, name = os.path.split(folder)
    real = looked_up(above, name)[0] if name else os.path.realpath(folder)
    return os.path.join(real, "")  # noqa: PTH118


MAX_FILE_BYTES = 64 * 2**20
"""The default limit on the size of any file, in bytes."""

MAX_YAML_NODES = 200_000
"""The default limit on the values and keys of a YAML file; what an alias stands for counts each time it is used."""

MAX_DEPTH = 100
"""The most mappings and lists within each other, in any file."""

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
        pass  # the error follows when the file is read


def read_of_kernel(path: str) -> bytes:
    """Return a file of `/proc`. Nobody can put a link there, and to look for one took more time than to read."""
    with Path(path).open("rb", buffering=0) as file:
        return file.read()


def read_bytes(path: Path) -> bytes:
    """Read the content of a file. Raises OSError as `opened` does."""
    with opened(path) as file:
        return file.read()


def checking(path: Path) -> time_limits.step:
    """All that is done inside with the content of a file is one step. Raises `FileError` (`file.timeout`)."""

    def too_slow(limit: str) -> FileError:
        message = f"checking the file {limit}"
        step = "make the file smaller, or raise limits.step_seconds in agenteval.yaml"
        return FileError([problem_at(None, Fault("file.timeout", message, next_step=step), path)])

    return time_limits.step(too_slow)


_ARCHIVES = (
    (0, b"\x1f\x8b", "gzip"), (0, b"PK\x03\x04", "zip"), (0, b"BZh", "bzip2"), (0, b"\xfd7zXZ\0", "xz"),
    (0, b"\x28\xb5\x2f\xfd", "zstd"), (257, b"ustar", "tar"),
)  # fmt: skip
"""The beginnings of packed files, each with its place. Packs of suites come so, and "not UTF-8" would help nobody."""


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
    if kind := next((kind for at, sign, kind in _ARCHIVES if data.startswith(sign, at)), ""):
        _refuse(
            path, "file.encoding", f"a packed file ({kind})", next_step="unpack it, and name a file in it"
        )
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
    """Read the content of a file as `read_text` does. Raises `FileError`, except the errors that only texts have."""
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


def sha256(data: bytes) -> str:
    """The SHA-256 of data in hexadecimal, as `sha256sum` prints it."""
    digest: str = _algorithm()(data).hexdigest()
    return digest


def digest_of(real: str) -> str:
    """The SHA-256 of a regular file at a path without links, wherever it is: nothing else is kept of it."""
    with open(real, "rb") as file:  # noqa: PTH123 - a plan digests thousands of files
        return sha256_of(file)


def sha256_of(file: BinaryIO) -> str:
    """The digest of the rest of an open file, which is not held in memory."""
    digest = _algorithm()()
    while part := file.read(1 << 20):
        digest.update(part)
    hexadecimal: str = digest.hexdigest()
    return hexadecimal


@cache
def _algorithm() -> Any:
    """Choose the SHA-256 of builds without OpenSSL, else the one of hashlib: loading that takes a tenth of a small run."""
    for module in ("_sha2", "_sha256"):  # from 3.12 on, and before
        try:
            return import_module(module).sha256
        except ImportError:
            continue
    return import_module("hashlib").sha256
