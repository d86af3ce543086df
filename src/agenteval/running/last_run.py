"""The memory of earlier runs, in `.agenteval_cache/`: which tests failed last time, and how long each took.

It is a cache: git ignores it, what is damaged or out of date in it is passed over, and losing it does no harm.
"""

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import FileError
from agenteval.contracts.results import InvalidSpec, TestRow
from agenteval.reading.documents import is_inside, read_text
from agenteval.redaction.occurrences import tokens_in
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import LeakError, sealed

FOLDER = ".agenteval_cache"
_FILE = "last-run.json"
_VERSION = "0.1"


@dataclass(slots=True)
class LastRun:
    """Test files by their path from the project's root: those that failed, and milliseconds by file."""

    failed: set[str] = field(default_factory=set)
    duration_ms: dict[str, float] = field(default_factory=dict)


def keys(root: Path) -> Callable[[str], str]:
    """Return a function that maps a path to its key in the cache: the path from the project's root, with `/`."""
    current, top = os.getcwd(), os.path.join(root, "")  # noqa: PTH109, PTH118 - once per test

    def key(path: str) -> str:
        full = os.path.normpath(os.path.join(current, path))  # noqa: PTH118
        name = full.removeprefix(top).replace(os.sep, "/")
        return name.encode(errors="backslashreplace").decode()  # as it stands in a file, if it is not UTF-8

    return key


def load_last_run(root: Path) -> LastRun:
    """Load what earlier runs left in the cache; nothing without a cache that can be read."""
    import orjson

    if not is_inside(root / FOLDER, root):
        return LastRun()
    try:
        data = orjson.loads(read_text(root / FOLDER / _FILE))
    except (FileError, ValueError):
        return LastRun()
    if not isinstance(data, dict) or data.get("schema_version") != _VERSION:
        return LastRun()
    failed, durations = data.get("failed"), data.get("duration_ms")
    return LastRun(
        {path for path in failed if isinstance(path, str)} if isinstance(failed, list) else set(),
        {path: ms for path, ms in durations.items() if _is_duration(ms)}
        if isinstance(durations, dict)
        else {},
    )


def _is_duration(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def remember(
    root: Path,
    rows: Sequence[TestRow],
    problems: Sequence[InvalidSpec],
    *,
    parts: Collection[str],
    timed: bool,
    redactor: Redactor,
) -> None:
    """Update the cache with the results of a run. Tests that were not run are remembered as before.

    `parts` are files of which only some assertions were judged: a pass of these does not mean that the test passes, and
    their durations are too short. Durations are kept if `timed`. A cache that cannot be written is no error.
    """
    if not is_inside(root / FOLDER, root):  # a link out of the project, which would write elsewhere
        return
    last, key = load_last_run(root), keys(root)
    known = len(last.duration_ms)
    part = {key(path) for path in parts}
    for row in rows:
        path = key(row.path)
        if row.status in ("fail", "error"):
            last.failed.add(path)
        elif path not in part:  # a pass of some assertions does not mend the test
            last.failed.discard(path)
        if timed and path not in part:
            last.duration_ms[path] = row.duration_ms
    wrong = (each.path for each in problems if each.severity == "error" and each.path)
    last.failed.update(key(path) for path in wrong if os.path.isfile(path))  # noqa: PTH113 - no folder that was named
    if len(last.duration_ms) > known:  # a new file may be an old one under another name
        _forget_the_gone(last, root)
    data = {"schema_version": _VERSION, "failed": sorted(last.failed), "duration_ms": last.duration_ms}
    with suppress(OSError, LeakError):
        _write(root / FOLDER, sealed(data, redactor))


def _forget_the_gone(last: LastRun, root: Path) -> None:
    for path in [path for path in last.duration_ms if _is_gone(root, path)]:
        del last.duration_ms[path]
    last.failed = {path for path in last.failed if not _is_gone(root, path)}


def _is_gone(root: Path, path: str) -> bool:
    """Return whether the file is there no more; false for a path that cannot be looked up: redacted, or not UTF-8."""
    return not (tokens_in(path) or "\\udc" in path or os.path.exists(root / path))  # noqa: PTH110


def _write(folder: Path, content: bytes) -> None:
    if not folder.is_dir():
        folder.mkdir()
        _fill(folder / ".gitignore", b"*\n")
    part = folder / f"{_FILE}-{os.getpid()}"
    # Written beside and renamed: two runs at once never leave half a file.
    part.unlink(missing_ok=True)  # left by a run that was broken off: in containers ids of processes recur
    _fill(part, content)
    os.replace(part, folder / _FILE)  # noqa: PTH105


def _fill(path: Path, content: bytes) -> None:
    with open(path, "xb") as file:  # noqa: PTH123 - a link that was put there leads elsewhere
        file.write(content)
