"""A run that was written, read back: the names of its files (SPEC 19), and what they hold."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import AgentEvalError, FileError, Problem
from agenteval.contracts.results import RESULT_SCHEMA_VERSION, InvalidSpec, RunSummary, TestResult, TestRow
from agenteval.reading.documents import read_data, sha256
from agenteval.reading.jsonsource import M, load_json, load_model
from agenteval.text.lazy_regexes import lazy

SUMMARY = "summary.json"
"""Written last: a directory without one belongs to a run that did not finish."""
EVAL_SUMMARY = "eval-summary.json"
EVENTS = "events.jsonl"
COMPARISON = "comparison.json"
CHECK = "check.json"
"""The report of `agenteval check`, which is a run like any other beside it."""
SHARD = "shard.json"
"""The file that a shard writes for merging."""
RESULT_ENDING = ".result.json"
"""Follows the stem of a test, as does the next."""
TRACE_ENDING = ".trace.json"
REPLAY_ENDING = ".replay.json"
"""Of a live run: what replays it."""


LAST = "last"
"""The name of the newest run of the project, wherever a run is named."""
_OWN_ID = lazy(r"run-([0-9]{8}T[0-9]{6})Z-[0-9a-f]{8}")
"""The form of the ids that runs get without `--run-id`: they begin with the time."""
_ANY_SIZE = sys.maxsize
"""The limit for files that a run wrote: none. The limits of the configuration are for files that people write."""


class StoredRunError(AgentEvalError):
    """A directory that does not hold a complete run (exit 2)."""

    default_reason = "run.unreadable"


class StoredRun:
    """The files of one run (SPEC 19). Everything in them is redacted already.

    Raises `StoredRunError` for a directory that is not there (`run.missing`), whose run did not finish
    (`run.incomplete`) or is of another version of the format (`run.other_version`), and `FileError` for a file that
    does not say what it should. A run that is not kept is removed once its reports are written, which must not refer to it.
    """

    def __init__(self, path: Path, *, is_kept: bool = True) -> None:
        self.is_kept = is_kept
        self.path = path.parent if path.name == SUMMARY else path
        if not self.path.is_dir():
            why = "it is a file" if path.exists() else "there is no such directory"
            raise StoredRunError(
                f"no run in {path}: {why}",
                reason_code="run.missing",
                next_step="name the directory of a run, for instance artifacts/run-20260102T030405Z-1a2b3c4d",
            )
        if not (self.path / SUMMARY).is_file():
            raise StoredRunError(
                f"no complete run in {self.path}: {SUMMARY} is missing{_runs_below(self.path)}",
                reason_code="run.incomplete",
                next_step="name the directory of one run that finished",
            )
        self.summary = self.read(RunSummary, SUMMARY)
        if self.summary.schema_version != RESULT_SCHEMA_VERSION:
            raise StoredRunError(
                f"the run in {self.path} uses version {self.summary.schema_version!r} of the format, "
                f"but only {RESULT_SCHEMA_VERSION!r} can be read",
                reason_code="run.other_version",
                next_step="use the version of agenteval that wrote it, or run the tests again",
            )

    def results(self) -> Iterator[TestResult]:
        """The results of the run, in its order; read one by one. Raises `StoredRunError` for one that is missing."""
        return (self.result(row) for row in self.summary.tests if row.result is not None)

    def result(self, row: TestRow) -> TestResult:
        """The result that a row of the summary names. Raises `StoredRunError`, `FileError`."""
        if row.result is None:
            raise StoredRunError(f"the run in {self.path} has no result for {row.test_case_id}")
        return self.stored_result(row.result)

    def stored_result(self, name: str) -> TestResult:
        """The result in a file of the run. Raises `StoredRunError`, `FileError`."""
        return self.read(TestResult, self.file(name).name)

    def trace(self, result: TestResult) -> dict[str, Any] | None:
        """The stored trace of a test as plain data, or None when the run did not keep it."""
        return self.data(result.artifacts.trace) if result.artifacts.trace else None

    def data(self, name: str) -> dict[str, Any]:
        """Read a JSON file of the run. Raises `StoredRunError`, `FileError`."""
        data: dict[str, Any] = load_json(self.file(name), max_bytes=_ANY_SIZE, within=self.path)
        return data

    def read(self, cls: type[M], name: str) -> M:
        """A model from a file of the run, which is in its folder, wherever links lead. Raises `FileError`."""
        return _written(cls, self.path / name, within=self.path)

    def digest(self, name: str) -> str:
        """The SHA-256 of a file of the run. Raises `StoredRunError`, `FileError`."""
        return sha256(read_data(self.file(name), _ANY_SIZE, self.path))

    def file(self, name: str) -> Path:
        """A file of the run; its summary may name only files beside it."""
        path = self.path / name
        if os.path.basename(name) != name:  # noqa: PTH119 - the words of a file are no path yet
            raise StoredRunError(f"the run in {self.path} names {name!r}, which is not a file of the run")
        try:
            found = path.is_file()
        except (OSError, ValueError):  # a name that no file can have
            found = False
        if not found:
            raise StoredRunError(
                f"the run in {self.path} is damaged: {name} is missing",
                reason_code="run.damaged",
                next_step="run the tests again",
            )
        return path


def _written(cls: type[M], path: Path, within: Path) -> M:
    """A model from a file that a run has written. Raises `FileError`."""
    try:
        return load_model(cls, path, max_bytes=_ANY_SIZE, within=within)
    except FileError as error:
        raise error.advising("run the tests again") from None


def load_result(path: Path) -> TestResult:
    """The result in a file that a run has written. Raises `FileError`."""
    return _written(TestResult, path, within=path.parent)


def stored_problem(stored: InvalidSpec) -> Problem:
    """A stored problem, to be shown again."""
    return Problem(
        reason_code=stored.reason_code,
        message=stored.message,
        path=Path(stored.path) if stored.path else None,
        line=stored.line,
        column=stored.column,
        severity=stored.severity,
        next_step=stored.next_step,
    )


def _runs_below(path: Path) -> str:
    """A hint at the newest runs, when a directory of runs was named; else empty."""
    runs = sorted(entry.parent.name for entry in path.glob(f"*/{SUMMARY}"))[-3:]
    return f"; runs in it: {', '.join(runs)}" if runs else ""


_HOST_RUN = lazy(r"[A-Za-z0-9._-]{1,64}/[0-9a-f]{32}")
"""The id of a host's run with its tenant."""


def find_run(name: str | Path, runs: Path) -> Path:
    """Find the run that a person names: a path as it is, else the id of one of the `runs`, or `last` for the newest.

    Raises `StoredRunError` if there is no last run.
    """
    path = Path(name)
    if path.exists():
        return path
    if (runs / path).is_dir():
        return runs / path
    # Version 2 of the protocol writes the tenant before the id of a host's run; its directory has the id alone.
    if _HOST_RUN.fullmatch(str(name)) and (runs / path.name).is_dir():
        return runs / path.name
    return last_run(runs) if str(name) == LAST else path


def run_directories(folder: Path) -> list[Path]:
    """List the directories in a folder that look like runs, finished or not, by name; links are passed over.

    Raises `StoredRunError` for a folder that cannot be listed.
    """
    try:
        with os.scandir(folder) as entries:
            found = [Path(each.path) for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise StoredRunError(
            f"no runs in {folder}: {error.strerror}",
            reason_code="run.missing",
            next_step="name the folder that holds the directories of runs, or run tests first",
        ) from None
    return sorted(path for path in found if _looks_like_a_run(path))


def _looks_like_a_run(path: Path) -> bool:
    if os.path.lexists(path / SUMMARY) or (path / EVENTS).is_file() or _OWN_ID.fullmatch(path.name):
        return True
    return any(path.glob(f"*{RESULT_ENDING}"))


def last_run(folder: Path) -> Path:
    """Find the newest run of a folder, also if it did not finish. Raises `StoredRunError` if there is none.

    A run that broke off must not make the one before it the last: a gate would open for it.
    """
    directories = run_directories(folder)
    if not directories:
        raise StoredRunError(
            f"there is no last run: {folder} has no run",
            reason_code="run.missing",
            next_step="run tests first, without --no-artifacts",
        )
    return max(directories, key=lambda path: (_start_of(path), path.name))


def _start_of(path: Path) -> float:
    """Return the start of a run in seconds since 1970; of one without a readable summary by its id, else its files' time."""
    from datetime import UTC, datetime

    import orjson

    with suppress(AgentEvalError, ValueError, TypeError, KeyError):
        summary = orjson.loads(read_data(path / SUMMARY, _ANY_SIZE, path))
        return datetime.fromisoformat(summary["started_at"]).timestamp()
    if own := _OWN_ID.fullmatch(path.name):
        with suppress(ValueError):
            return datetime.strptime(own[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC).timestamp()
    return path.stat().st_mtime


def is_run(path: Path) -> bool:
    """Return whether a path is a run's directory, or its `summary.json`; nothing is read."""
    return path.name == SUMMARY or (path / SUMMARY).is_file()
