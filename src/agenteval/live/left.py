"""The one door for what an agent has left in folders that it could write.

Nothing in these folders is opened by its path. Once the sandbox has ended, each folder is moved aside, and copies of
the wanted files take its place. Whoever reads or writes afterwards meets plain files that no agent can change. No
link is followed in any part of a path, and only regular files are opened. A link named `replay.json` once had the
user's own files judged and shown. A link to a folder had all transcripts in it rewritten.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn

from agenteval.contracts.errors import AdapterError
from agenteval.live.options import live_error
from agenteval.reading.documents import MAX_FILE_BYTES

ALL = ("**/*",)
"""The patterns of all files but hidden ones."""
MOST_BYTES = 512 * 2**20
"""The most bytes that are copied from one folder, in all of its files together."""
MOST_FILES = 10_000
MOST_ENTRIES = 200_000
"""The most names that are looked at, in all folders that may hold a wanted file."""
MOST_DEPTH = 32
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_NOT_ENTERED = "node_modules"
_PIECE = 2**20
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}

State = Mapping[str, tuple[int, int]]
"""The sizes and times of files, by their paths in a folder."""


def take_over(
    folder: Path, wanted: Sequence[str], aside: Path, *, inside: str, max_file_bytes: int = MAX_FILE_BYTES
) -> None:
    """Move a folder that an agent could write aside; in its place are copies of the files that are wanted.

    `wanted` are patterns of paths in the folder. As in a shell, `*` and `**` pass over hidden names; `**` also passes
    over installed packages. `inside` is the folder as the agent calls it, for errors.

    Raises `AdapterError` (`live.no_replay`) for a link, or anything else that is no regular file of its own, where a
    wanted file would be, and for too much of it.
    """
    folder.rename(aside)
    folder.mkdir()
    copy_left(aside, folder, wanted, inside=inside, max_file_bytes=max_file_bytes)


def copy_left(
    folder: Path, target: Path, wanted: Sequence[str], *, inside: str, max_file_bytes: int = MAX_FILE_BYTES
) -> State:
    """Copy the files that are wanted, as `take_over` does, while the agent may still write. Returns what was copied."""
    copying = _Copying(inside, max_file_bytes, {})
    with copying.reading("", folder) as opened:
        copying.folder(opened, target, [pattern.split("/") for pattern in wanted], "")
    return copying.taken


@dataclass(slots=True)
class _Copying:
    """One folder, on its way: `taken` are the files so far."""

    inside: str
    max_file_bytes: int
    taken: dict[str, tuple[int, int]]
    bytes: int = 0
    entries: int = 0

    def folder(self, opened: int, target: Path, patterns: Sequence[Sequence[str]], where: str) -> None:
        if where.count("/") > MOST_DEPTH:
            self.refuse(where, f"lies deeper than {MOST_DEPTH} folders")
        with os.scandir(opened) as found:
            for entry in found:
                self.entries += 1
                if self.entries > MOST_ENTRIES:
                    self.refuse(where, f"is one of more than {MOST_ENTRIES:,} names")
                if rests := list(_rests(patterns, entry.name)):
                    self.entry(entry, opened, target, rests, f"{where}/{entry.name}")

    def entry(
        self,
        entry: "os.DirEntry[str]",
        opened: int,
        target: Path,
        rests: Sequence[Sequence[str]],
        where: str,
    ) -> None:
        deeper = [rest for rest in rests if rest]
        is_wanted = len(deeper) < len(rests)
        with suppress(FileNotFoundError):  # of an agent that is still at work
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode) and deeper:
                with self.reading(where, entry.name, opened) as folder:
                    self.folder(folder, target / entry.name, deeper, where)
            elif stat.S_ISREG(mode) and is_wanted:
                self.copy(entry.name, opened, target, where)
            elif is_wanted or (stat.S_ISLNK(mode) and _leads_to_folder(entry)):
                self.refuse(where, f"is {_KINDS.get(stat.S_IFMT(mode), 'a device')}")

    def copy(self, name: str, folder: int, target: Path, where: str) -> None:
        with self.reading(where, name, folder, _FILE) as source:
            status = os.fstat(source)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                self.refuse(where, "has another name as well (a hard link)")
            if len(self.taken) >= MOST_FILES:
                self.refuse(where, f"is one of more than {MOST_FILES:,} files")
            target.mkdir(parents=True, exist_ok=True)
            size, most = 0, min(self.max_file_bytes, MOST_BYTES - self.bytes)
            with (target / name).open("xb") as copy:
                while piece := os.read(source, _PIECE):
                    size += len(piece)
                    if size > most:
                        limit = (
                            "limits.max_file_bytes" if most == self.max_file_bytes else "all files together"
                        )
                        self.refuse(where, f"has more bytes than {limit} may have")
                    copy.write(piece)
            self.bytes += size
            self.taken[where] = (size, status.st_mtime_ns)

    @contextmanager
    def reading(
        self, where: str, name: str | Path, folder: int | None = None, how: int = _FOLDER
    ) -> Iterator[int]:
        try:
            opened = os.open(name, how | os.O_CLOEXEC, dir_fd=folder)
        except FileNotFoundError:
            raise
        except OSError as error:  # a link that took its place meanwhile is one, too
            self.refuse(where, f"cannot be opened: {error.strerror}")
        try:
            yield opened
        finally:
            os.close(opened)

    def refuse(self, where: str, why: str) -> NoReturn:
        raise refused(f"{self.inside}{where}", why)


def refused(path: str, why: str) -> AdapterError:
    """The error for what an agent left at a path of its sandbox, and that is not read."""
    named = path if path.isprintable() else ascii(path)
    return live_error(
        "live.no_replay",
        f"what the agent left is not read: {named} {why}",
        "have the agent leave plain files, not links, each within limits.max_file_bytes",
    )


def _leads_to_folder(link: "os.DirEntry[str]") -> bool:
    try:
        return link.is_dir()
    except OSError:  # a circle of links
        return False


def _rests(patterns: Sequence[Sequence[str]], name: str) -> Iterator[Sequence[str]]:
    """Yield the rests of the patterns for the entries of a folder `name`; a pattern that the name fulfils has none."""
    for first, *rest in patterns:
        if first == "**":
            yield from _rests([rest], name)
            if not name.startswith(".") and name != _NOT_ENTERED:
                yield [first, *rest]
        elif fnmatchcase(name, first) and (first.startswith(".") or not name.startswith(".")):
            yield rest
