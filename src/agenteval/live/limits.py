"""The bounds of what an agent uses up: processes, memory, disk. They hold for root as well.

The kernel's own limits do not hold for root (`RLIMIT_NPROC`), are for one process each (`RLIMIT_AS`), or need control groups, which
no container and few users may make. So `Watch` counts what a sandbox uses, many times a second, and a run that uses
too much is ended.
"""

import os
import re
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from agenteval.reading.documents import read_of_kernel

PROCESSES = 512
"""The most processes and threads at once."""
MEMORY_BYTES = 4 * 2**30
FILE_BYTES = DISK_BYTES = 2 * 2**30
FILES = 200_000
"""The most new files in the folders that an agent may write."""
_LOOK_SECONDS = 0.05
_SLOW_SECONDS = 0.5
"""The seconds between two looks at figures that take longer to find out."""
_ASK_SECONDS = 5.0
"""The seconds between two questions to a runtime for figures that it has to count itself."""
_STEP_BYTES, _STEP_FILES = 2**28, 20_000
"""The bytes and files that a disk has to lose before the folders are counted again."""
_MEMORY = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+)", re.MULTILINE)
_SHARE = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+)", re.MULTILINE)
_THREADS = re.compile(rb"^Threads:\s+(\d+)", re.MULTILINE)


class Watch:
    """Looks at what a sandbox uses. `first` is its first process, None for a container: its runtime bounds that.

    `sized` is the command that prints how many bytes a container has written beside the folders it was given.
    """

    def __init__(self, scratch: Path, first: int | None, sized: Sequence[str] = ()) -> None:
        self.scratch, self.first, self.sized = scratch, first, sized
        self._start = _size(scratch) or (0, 0)
        self._free = self._least = _free(scratch)
        self._looked = self._slowly = self._asked = time.monotonic()
        self._in_memory = self._on_disk = 0
        """The bytes of files that are open and have no name any more."""

    def exceeded(self) -> str:
        """The bound that is broken, as the end of "the agent ..."; empty while all is well."""
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return ""
        self._looked = now
        is_slow = now - self._slowly > _SLOW_SECONDS
        running = list(processes(self.first)) if self.first else []
        if is_slow:
            self._slowly = now
            self._in_memory, self._on_disk = _unnamed(running)
        return self._too_busy(running) or (self._too_much_written(now) if is_slow else "")

    def _too_busy(self, running: Sequence[int]) -> str:
        tasks = memory = 0
        for process in running:
            with suppress(OSError):
                status = read_of_kernel(f"/proc/{process}/status")
                tasks += sum(map(int, _THREADS.findall(status)))
                memory += _kilobytes(_MEMORY, status)
        if tasks > PROCESSES:
            return f"has {tasks} processes and threads at once, and {PROCESSES} are allowed"
        if memory + self._in_memory > MEMORY_BYTES:
            memory = 0  # what processes share was counted once for each
            for process in running:
                with suppress(OSError):
                    memory += _kilobytes(_SHARE, read_of_kernel(f"/proc/{process}/smaps_rollup"))
            if memory + self._in_memory > MEMORY_BYTES:
                return f"uses {_in_units(memory + self._in_memory)} of memory, and {_in_units(MEMORY_BYTES)} are allowed"
        return ""

    def _too_much_written(self, now: float) -> str:
        """Folders are counted only where the disk as a whole has lost something since the last time."""
        written, free = self._on_disk, _free(self.scratch)
        if self._least[0] - free[0] > _STEP_BYTES or self._least[1] - free[1] > _STEP_FILES:
            self._least = free
            if size := _size(self.scratch):
                files = size[1] - self._start[1]
                written += size[0] - self._start[0]
            else:  # where nobody can look there may be all that the disk has lost
                written, files = self._free[0] - free[0], self._free[1] - free[1]
            if files > FILES:
                return f"made {files:,} files, and {FILES:,} are allowed"
        self._least = (max(self._least[0], free[0]), max(self._least[1], free[1]))
        if self.sized and now - self._asked > _ASK_SECONDS:
            self._asked = now
            written += _printed(self.sized)
        if written > DISK_BYTES:
            return f"wrote {_in_units(written)} to the disk, and {_in_units(DISK_BYTES)} are allowed"
        return ""


def processes(first: int) -> Iterator[int]:
    """A process, and all that it and its threads have started, and theirs."""
    waiting = [first]
    while waiting:
        process = waiting.pop()
        yield process
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208 - names alone
                with suppress(OSError):
                    children = read_of_kernel(f"/proc/{process}/task/{thread}/children")
                    waiting += map(int, children.split())


def _kilobytes(pattern: re.Pattern[bytes], text: bytes) -> int:
    return 1024 * sum(map(int, pattern.findall(text)))


def _unnamed(running: Iterable[int]) -> tuple[int, int]:
    """The bytes of open files without a name, in memory and on a disk: no folder shows them."""
    found: dict[tuple[int, int], tuple[bool, int]] = {}
    for process in running:
        with suppress(OSError):
            for name in os.listdir(f"/proc/{process}/fd"):  # noqa: PTH208 - names alone
                with suppress(OSError):
                    file = Path(f"/proc/{process}/fd/{name}")
                    status = file.stat()
                    if stat.S_ISREG(status.st_mode) and not status.st_nlink:
                        in_memory = str(file.readlink()).startswith("/memfd:")
                        found[status.st_dev, status.st_ino] = in_memory, status.st_blocks * 512
    sizes = [sum(size for where, size in found.values() if where is in_memory) for in_memory in (True, False)]
    return sizes[0], sizes[1]


def _size(folder: Path) -> tuple[int, int] | None:
    """The bytes and the number of all files in a folder; None where one cannot be looked into, or lies too deep."""
    size = files = 0
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):
                        files += 1
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return size, files


def _free(folder: Path) -> tuple[int, int]:
    """The bytes and the files for which its disk has room."""
    status = os.statvfs(folder)
    return status.f_bfree * status.f_frsize, status.f_ffree


def _printed(command: Sequence[str]) -> int:
    """The number that a command prints; 0 where it prints none."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=_ASK_SECONDS, check=False)  # noqa: S603
        return int(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0


def _in_units(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
