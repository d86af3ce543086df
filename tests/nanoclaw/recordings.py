"""The recordings in `tests/data/recordings`: real ones, made small, whose databases are kept as SQL."""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import AdapterContext, RecordedRun, RecordedTest, Recording
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace, check_trace
from agenteval_nanoclaw import NanoClawAdapter
from builders import make_case

PROJECT = Path(__file__).resolve().parents[2]
KEPT = PROJECT / "tests" / "data" / "recordings"
ORIGINALS = Path(os.environ.get("NANOCLAW_RECORDINGS", PROJECT.parent / "shared" / "data" / "recordings"))
"""Where the recordings lie as they were made, when they are there."""

NAMES = sorted(path.name for path in KEPT.iterdir() if path.is_dir())


def sources() -> Iterator[tuple[str, bool]]:
    """Every recording that there is: its name, and whether it is an original."""
    yield from ((name, False) for name in NAMES)
    if ORIGINALS.is_dir():
        yield from ((path.name, True) for path in sorted(ORIGINALS.iterdir()) if path.is_dir())


def unpack(name: str, folder: Path, *, original: bool = False) -> Path:
    """A copy of a recording with its databases, in a folder of its own."""
    root = folder / name
    shutil.copytree((ORIGINALS if original else KEPT) / name, root, symlinks=True)
    for dump in root.rglob("*.db.sql"):
        with closing(sqlite3.connect(dump.with_suffix(""))) as database:
            database.executescript(dump.read_text(encoding="utf-8"))
        dump.unlink()
    return root


def context_of(root: Path, **given: Any) -> AdapterContext:
    """A project whose root is the folder, with the test in it."""
    return AdapterContext(base_dir=root, root=root, run_id="run-1", max_file_bytes=10_000_000, **given)


def case_of(session: str = ".", **given: Any) -> TestCase:
    """A test that replays a recording."""
    return make_case(adapter_input={"session": session, **given}, scenario={"input_messages": []})


def replayed(root: Path, session: str = ".", **given: Any) -> Trace:
    """The trace of a test that replays a run of a recording."""
    trace = NanoClawAdapter().trace(case_of(session, **given), context_of(root))
    check_trace(trace)
    return trace


def inspected(root: Path) -> Recording:
    """What the recorder says of a recording."""
    return NanoClawAdapter().recorder.inspect(root, context_of(root))


def converted(root: Path, run: RecordedRun) -> RecordedTest:
    """A run as the files of a test."""
    return NanoClawAdapter().recorder.convert(root, run, context_of(root))


def scenario_of(root: Path) -> dict[str, Any]:
    """What was put in: the messages, and what the model was told to say."""
    data: dict[str, Any] = json.loads((root / "scenario.json").read_text(encoding="utf-8"))
    return data


def files_of(root: Path) -> dict[str, tuple[bytes, int]]:
    """All files below a folder: contents and times."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
