"""The folders in which agents run: made for one command, found again after a kill, always removed."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agenteval.reading.documents import read_bytes

CONTAINER = "container"
"""The file in a scratch folder that names the runtime and the container that runs for it."""
_SCRATCH = "agenteval-live-"
_LONGEST = 40
"""A socket's name may have 107 bytes, and ours lie two folders deeper."""
_PATIENCE = 100
"""The number of refused attempts to remove a folder before it is given up."""


def scratch_name() -> Path:
    """A new name for the folder that holds the scratch folders of this process and its workers."""
    return Path(_temporary_folder(), f"{_SCRATCH}{os.getpid()}-{os.urandom(4).hex()}")


def _temporary_folder() -> str:
    import tempfile

    folder = tempfile.gettempdir()
    return folder if len(folder) <= _LONGEST else "/tmp"  # noqa: S108


@contextmanager
def scratch_folder(*, keep: bool) -> Iterator[Path]:
    """The name of a folder for the scratch folders of one run, in whatever process; nothing of it is left behind."""
    folder = scratch_name()
    if keep:
        folder = folder.with_name(folder.name.replace("live", "kept"))
    try:
        yield folder
    finally:
        if folder.exists():
            _remove(folder, keep=keep)  # processes that were killed could not clean up


def remove_leftovers() -> None:
    """Remove what runs have left behind that were killed, and could not clean up after themselves."""
    for folder in Path(_temporary_folder()).glob(f"{_SCRATCH}*"):
        process = folder.name.removeprefix(_SCRATCH).partition("-")[0]
        with suppress(OSError):
            if process.isdecimal() and folder.lstat().st_uid == os.getuid():
                try:
                    os.kill(int(process), 0)
                except ProcessLookupError:
                    _remove(folder)


def _remove(folder: Path, *, keep: bool = False) -> None:
    """End the containers that run for a folder; remove it, unless it is to be kept."""
    import subprocess

    for file in folder.glob(f"*/{CONTAINER}"):
        with suppress(OSError, ValueError, subprocess.TimeoutExpired):
            runtime, name = read_bytes(file).decode().split()
            stop = [runtime, "rm", "--force", name]
            subprocess.run(stop, capture_output=True, timeout=20, check=False)  # noqa: S603
    if not keep:
        with suppress(OSError):
            remove_tree(folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, however deep, however long its paths; links are removed, never followed.

    An agent can nest folders deeper than a recursion, a path or the number of open files may go. So each folder's own
    folders are first moved up to the top, and no more than two folders are ever open. Raises `OSError` for what cannot
    be removed.
    """
    above = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        top = _opened(folder.name, above)
        try:
            refused = 0
            while names := os.listdir(top):  # noqa: PTH208 - by an open folder
                for name in names:
                    try:
                        _flatten(name, top)
                    except OSError:
                        refused += 1  # a process that is about to end may still add files
                        if refused > _PATIENCE:
                            raise
        finally:
            os.close(top)
        os.rmdir(folder.name, dir_fd=above)
    finally:
        os.close(above)


def _flatten(name: str, top: int) -> None:
    """Remove what has a name in a folder; of a folder, the folders in it move up beside it, under new names."""
    if _unlinked(name, top):
        return
    folder = _opened(name, top)
    try:
        for each in os.listdir(folder):  # noqa: PTH208
            if not _unlinked(each, folder):
                os.close(_opened(each, folder))  # to move a folder takes the right to write in it
                os.rename(each, os.urandom(16).hex(), src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _unlinked(name: str, folder: int) -> bool:
    """Remove what is no folder; false for a folder."""
    if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
        return False
    os.unlink(name, dir_fd=folder)
    return True


def _opened(name: str, parent: int) -> int:
    """A folder, opened without following a link, with all rights for its owner: an agent may have taken them away."""
    found = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=parent)
    try:
        here = f"/proc/self/fd/{found}"
        if os.fstat(found).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            Path(here).chmod(stat.S_IRWXU)
        return os.open(here, os.O_RDONLY | os.O_DIRECTORY)
    finally:
        os.close(found)
