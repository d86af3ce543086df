"""A run as a stream of events, one JSON object a line: `run_started`, `test_finished` for each test, `run_finished`.

A check has `check_finished`, with its report, before the last.

The events hold the run's files as they are, so that whoever reads those can read the stream.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

from agenteval import __version__
from agenteval.comparing.check_report import check_of
from agenteval.contracts.results import TestResult
from agenteval.judging.stored import StoredRun
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed_lines


def render(run: StoredRun, redactor: Redactor) -> bytes:
    """Render all events of a finished run, the same as `Stream` writes."""
    events = [
        _started(run.summary.test_run_id, run.summary.agenteval_version),
        *(_tested(result) for result in run.results()),
        *_finished(run),
    ]
    return sealed_lines(events, redactor)


class Stream:
    """Writes the events of a run while it goes on, each at once. A run without `run_finished` did not finish."""

    def __init__(self, file: BinaryIO, redactor: Redactor, run_id: str) -> None:
        self.file = file
        self.redactor = redactor
        self._write(_started(run_id, __version__))

    def test(self, result: TestResult) -> None:
        """Write the event of a test, with its result as written. Raises `LeakError`, `OSError`."""
        self._write(_tested(result))

    def finish(self, run: StoredRun) -> None:
        """Write the events of the end, with the summary as written. Raises `LeakError`, `OSError`."""
        for event in _finished(run):
            self._write(event)

    def _write(self, event: dict[str, Any]) -> None:
        """Write the whole line: without a buffer, one write to a full disk may take a part of it and not fail."""
        line = sealed_lines([event], self.redactor)
        done = self.file.write(line)
        while done < len(line):
            done += self.file.write(line[done:])


def _started(run_id: str, version: str) -> dict[str, Any]:
    return {"event": "run_started", "test_run_id": run_id, "agenteval_version": version}


def _tested(result: TestResult) -> dict[str, Any]:
    return {"event": "test_finished", "result": result}


def _finished(run: StoredRun) -> Iterator[dict[str, Any]]:
    if check := check_of(run):
        yield {"event": "check_finished", "check": check}
    yield {"event": "run_finished", "summary": run.summary}
