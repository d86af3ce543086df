"""A run as a stream of events, one JSON object a line: `run_started`, `test_finished` for each test, `run_finished`.

The events hold the run's files as they are, so that whoever reads those can read the stream.
"""

from typing import BinaryIO

from agenteval import __version__
from agenteval.contracts.results import RunSummary, TestResult
from agenteval.judging.stored import StoredRun
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed_lines


def render(run: StoredRun, redactor: Redactor) -> bytes:
    """All events of a finished run, the same as `Stream` writes."""
    lines = [_started(run.summary.test_run_id, run.summary.agenteval_version, redactor)]
    lines += [_test(result, redactor) for result in run.results()]
    return b"".join([*lines, _finished(run.summary, redactor)])


class Stream:
    """Writes the events of a run while it goes on, each at once. A run without `run_finished` did not finish."""

    def __init__(self, file: BinaryIO, redactor: Redactor, run_id: str) -> None:
        self.file = file
        self.redactor = redactor
        self._write(_started(run_id, __version__, redactor))

    def test(self, result: TestResult) -> None:
        """One test, as its result has been written. Raises `LeakError`, `OSError`."""
        self._write(_test(result, self.redactor))

    def finish(self, summary: RunSummary) -> None:
        """The end of the run, as its summary has been written. Raises `LeakError`, `OSError`."""
        self._write(_finished(summary, self.redactor))

    def _write(self, line: bytes) -> None:
        """Write the whole line: without a buffer, one write to a full disk may take a part of it and not fail."""
        done = self.file.write(line)
        while done < len(line):
            done += self.file.write(line[done:])


def _started(run_id: str, version: str, redactor: Redactor) -> bytes:
    event = {"event": "run_started", "test_run_id": run_id, "agenteval_version": version}
    return sealed_lines([event], redactor)


def _test(result: TestResult, redactor: Redactor) -> bytes:
    return sealed_lines([{"event": "test_finished", "result": result}], redactor)


def _finished(summary: RunSummary, redactor: Redactor) -> bytes:
    return sealed_lines([{"event": "run_finished", "summary": summary}], redactor)
