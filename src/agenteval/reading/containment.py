"""Which files may be read: a link that leads out of the project is not followed.

One process works on one project, which `keep_inside` names. A path outside of it is one that a person has named.
"""

import errno
import os
import stat
from functools import cache, lru_cache
from pathlib import Path

STAY_INSIDE = (
    "keep the file inside the project, or allow files anywhere with --allow-outside; "
    "symbolic links that lead out of the project are not followed"
)
"""The next step for a file outside."""

_root = ""
"""The real path of the project in force, with a separator at its end; empty when there is none."""
_admitted: set[str] = set()


class LeadsOutError(OSError):
    """A link leads out of a folder, called `what`, that it has to stay in. `message` says so; `real` is where it leads."""

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
    """Whether a path, of a file or of none, is inside the root. Raises ValueError for what cannot be a path."""
    return os.path.realpath(path).startswith(real_folder(str(root)))


def leads_out(path: Path) -> bool:
    """Whether a path belongs to the project in force, and a link in it leads out."""
    return _leads_out(os.fspath(path), os.path.realpath(path))


def readable(path: Path, within: Path | None = None) -> tuple[str, os.stat_result]:
    """The path to open for a file, and its status. Raises `LeadsOutError`, OSError, ValueError.

    `within` is a folder that must hold it too, as the folder of a run holds all files of the run.
    """
    text = os.fspath(path)
    real, status = looked_up(*os.path.split(text))
    if within is not None and not real.startswith(real_folder(str(within))):
        raise LeadsOutError("folder", real_folder(str(within)), real)
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
    """The folder without symbolic links, with a separator at its end; that of a test, and the one it stands in."""
    above, name = os.path.split(folder)
    real = looked_up(above, name)[0] if name else os.path.realpath(folder)
    return os.path.join(real, "")  # noqa: PTH118
