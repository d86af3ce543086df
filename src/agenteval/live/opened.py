"""The files of a project that an agent opened, as the kernel's file notifications (inotify) show them.

A change of a file that no test's agent opens turns no test red, so a green run must not stand for it. Access times do
not show what was opened: read-only mounts and many disks keep none, and a file that the agent deletes has none.
"""

import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_READ, _CLOSED_WRITABLE, _CLOSED_READABLE, _OPENED = 0x1, 0x8, 0x10, 0x20
"""A file was read; closed after it was opened for writing, or for reading alone; opened."""
_OVERFLOW, _OF_FOLDER = 0x4000, 0x40000000
_FOLDERS_ONLY, _NO_LINKS = 0x1000000, 0x2000000
_KINDS = _READ | _CLOSED_WRITABLE | _CLOSED_READABLE | _OPENED
_EVENT = struct.Struct("iIII")
"""The watch, the kind, a cookie, and the length of the name that follows."""
_PIECE = 2**16
_MOST_FOLDERS = 10_000
"""The folders that are watched at once: other programs of the user need watches, too."""


@dataclass(slots=True)
class OpenedFiles:
    """Collects the files that are opened in folders. `shown` maps each to the one that it is a copy of."""

    shown: Mapping[str, Path]
    is_complete: bool = True
    """False once something was missed: the kernel has few watches left, or more events came than it keeps."""
    _file: int = -1
    _folders: dict[int, str] = field(default_factory=dict)
    _links: list[str] = field(default_factory=list)
    _seen: dict[tuple[int, bytes], int] = field(default_factory=dict)
    """The kinds of what happened to each file, by its watch and name."""

    def start(self) -> None:
        """Watch the folders, with all folders in them."""
        try:
            libc = _libc()
            self._file = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            self.is_complete = self._file >= 0 and all(self._watch(libc, each) for each in self.shown)
        except (AttributeError, OSError):  # a system without inotify
            self.is_complete = False

    def _watch(self, libc: Any, top: str) -> bool:
        """Watch a folder; false where the kernel refuses one more watch, or too many would be needed."""
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            if len(self._folders) == _MOST_FOLDERS:
                return False
            watch = libc.inotify_add_watch(
                self._file, os.fsencode(folder), _KINDS | _FOLDERS_ONLY | _NO_LINKS
            )
            if watch < 0:
                return False
            self._folders[watch] = folder
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        self._links.append(entry.path)
                    elif entry.is_dir():
                        waiting.append(entry.path)
        return True

    def take_in(self) -> None:
        """Take in what happened since the last time. The kernel keeps 16,384 events, and drops the rest."""
        with suppress(BlockingIOError):
            while self.is_complete:
                content, at = os.read(self._file, _PIECE), 0
                while at < len(content):
                    watch, kind, _, length = _EVENT.unpack_from(content, at)
                    at += _EVENT.size + length
                    if kind & _OVERFLOW:
                        self.is_complete = False
                    elif kind & _KINDS and not kind & _OF_FOLDER:
                        file = watch, content[at - length : at].rstrip(b"\0")
                        self._seen[file] = self._seen.get(file, 0) | kind

    def close(self) -> None:
        """End watching."""
        if self._file >= 0:
            os.close(self._file)

    def names(self, root: Path) -> frozenset[str] | None:
        """The files opened so far, named by their originals' paths from `root`; None where some may be missing.

        A link counts as opened where its target was, or a file in the folder that it leads to.
        """
        self.take_in()
        if not self.is_complete:
            return None
        opened = {
            os.path.join(self._folders[watch], os.fsdecode(name))  # noqa: PTH118 - thousands of them
            for (watch, name), kinds in self._seen.items()
            if _was_read(kinds)
        }
        ways = {way for each in opened for way in _ways(each)} if self._links else set()
        opened |= {link for link in self._links if os.path.realpath(link) in ways}
        found = set()
        for folder, source in self.shown.items():
            start, original = f"{folder}/", f"{os.path.relpath(source, root)}/".removeprefix("./")
            found |= {original + each.removeprefix(start) for each in opened if each.startswith(start)}
        # an agent also opens files that it has made itself
        return frozenset(each for each in found if os.path.lexists(root / each))


def _was_read(kinds: int) -> bool:
    """Return whether a file was read, by the events of the kernel about it.

    A file that is mapped into memory is closed with the last process that has it, maybe later than we look.
    """
    return bool(kinds & (_READ | _CLOSED_READABLE)) or not kinds & _CLOSED_WRITABLE


def _ways(path: str) -> Iterator[str]:
    """A path, and all folders that lead to it."""
    while len(path) > 1:
        yield path
        path = os.path.dirname(path)  # noqa: PTH120 - thousands of them


@contextmanager
def opened_files(shown: Mapping[Path, Path]) -> Iterator[OpenedFiles]:
    """The files that are opened while the context lasts."""
    made = OpenedFiles({os.path.realpath(copy): original for copy, original in shown.items()})
    try:
        made.start()
        yield made
    finally:
        made.close()


def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None)
