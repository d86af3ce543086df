"""The reports of a run: files in the formats that were asked for, and annotations in GitHub Actions."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval.contracts.errors import AgentEvalError, ExitCode, UsageError
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.formats import FORMATS
from agenteval.reporters.terminal import Terminal

if TYPE_CHECKING:
    from agenteval.judging.stored import StoredRun
    from agenteval.reporters.ndjson import Stream


STREAMED = "ndjson"
"""The format that is written while a run goes on."""
_TESTS = (".yaml", ".yml")


class ReportError(AgentEvalError):
    """A report that cannot be written (exit 2)."""

    default_reason = "report.unwritable"


@dataclass(slots=True, eq=False, repr=False)
class Reporting:
    """The reports of one run: files by format, and annotations for GitHub Actions when `github` is set."""

    reports: Mapping[str, Path]
    _: KW_ONLY
    github: bool
    redactor: Redactor
    terminal: Terminal
    stream: "Stream | None" = None

    @contextmanager
    def during(self, run_id: str, artifacts: Path | None) -> Iterator[Path | None]:
        """Wrap a run: yield the parent of its directory, and write the reports once the run is complete.

        Without `artifacts` the parent is a temporary directory, or None when no report is asked for. The paths of the
        reports have been prepared (`prepare`). Raises `ReportError`, `LeakError`.
        """
        if not (self.reports or self.github):
            yield artifacts
            return
        from contextlib import ExitStack

        from agenteval.judging.stored import StoredRun, is_run

        with ExitStack() as stack:
            parent = artifacts or stack.enter_context(_temporary())
            if path := self.reports.get(STREAMED):
                stack.enter_context(self._streaming(path, run_id))
            yield parent
            if is_run(parent / run_id):
                code, reason = ExitCode.PASSED, ""
                try:
                    run = StoredRun(parent / run_id, is_kept=artifacts is not None)
                    code, reason = ExitCode(run.summary.exit_code), run.summary.exit_reason
                    self.write(run)
                    self.annotate(run)
                except AgentEvalError as error:
                    # The run may have failed worse than its report: the higher code stays, and both reasons are named.
                    reasons = f"{reason}; " * (code >= error.exit_code) + error.reason_code
                    error.exit_code = max(error.exit_code, code)
                    self.terminal.ending(error.exit_code, reasons)
                    self.terminal.flush()
                    raise

    @contextmanager
    def _streaming(self, path: Path, run_id: str) -> Iterator[None]:
        from agenteval.reporters.ndjson import Stream

        with _writing(path):
            file = path.open("wb", buffering=0)
        with file:
            with _writing(path):
                self.stream = Stream(file, self.redactor, run_id)
            yield

    def add(self, written: Path) -> None:
        """Add a test that has ended to the stream, if there is one; `written` is the file of its result."""
        if self.stream:
            from agenteval.judging.stored import load_result

            with _writing(self.reports[STREAMED]):
                self.stream.test(load_result(written))

    def write(self, run: "StoredRun") -> None:
        """Write all reports of a finished run. Raises `ReportError`, `LeakError`, `StoredRunError`, `FileError`."""
        for form in FORMATS:
            if (path := self.reports.get(form.name)) is None:
                continue
            with _writing(path):
                if self.stream and form.name == STREAMED:
                    self.stream.finish(run)
                else:
                    write_report(path, form.render(run, self.redactor))

    def annotate(self, run: "StoredRun") -> None:
        """Annotate a finished run, and append the step summary; one that cannot be written is mentioned, and no error."""
        if not self.github:
            return
        from agenteval.reporters.markdown import annotations, write_summary

        for line in annotations(run):
            self.terminal.command(line)
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            try:
                write_summary(run, Path(summary), self.redactor)
            except OSError as error:
                self.terminal.emit(f"cannot write the step summary: {error.strerror}: {summary}")
        self.terminal.flush()


def shows_traces(reports: Mapping[str, Path]) -> bool:
    """Return whether one of the reports shows traces: the run then has to keep them."""
    return any(form.of_traces and form.name in reports for form in FORMATS)


@contextmanager
def _temporary() -> Iterator[Path]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="agenteval-") as folder:
        yield Path(folder)


def prepare(reports: Mapping[str, Path]) -> None:
    """Make the directories of reports, and remove the files of an earlier run.

    Otherwise a run that breaks down would leave the reports of the run before it. Raises `UsageError`, `ReportError`,
    `MissingExtraError`.
    """
    for form in FORMATS:
        if form.name in reports:
            form.check()
    taken: dict[Path, str] = {}
    for name, path in reports.items():
        other = taken.setdefault(path.absolute(), name)
        if other != name:
            raise UsageError(
                f"--{other} and --{name} name the same file: {path}",
                next_step="give each report its own file",
            )
        _refuse_place(name, path)
    for path in reports.values():
        with _writing(path):
            _make_room(path)


def _refuse_place(name: str, path: Path) -> None:
    """Refuse a report over a test or into stdout. Raises `UsageError`."""
    # `agenteval run a --html b/test.yaml` is a slip, for instance of completion: the author's test would be lost.
    if str(path).endswith(_TESTS) or os.path.realpath(path).endswith(_TESTS):
        raise UsageError(
            f"--{name} {path}: a report never overwrites a YAML file, which may be a test",
            next_step=f"name the file to write: --{name} FILE",
        )
    if _is_stdout(path):
        raise UsageError(
            f"--{name} {path}: a report cannot be written to stdout, which holds other output",
            next_step=f"name the file to write: --{name} FILE",
        )


def _make_room(path: Path) -> None:
    """Make the directory of a report, and remove an earlier report. Raises `OSError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(20, f"{path.parent} is not a directory") from error
    if path.is_dir():
        raise IsADirectoryError(21, "it is a directory")
    if path.is_symlink():  # it stays: the report is written where it leads
        path.write_bytes(b"")
    elif path.is_file():
        path.unlink()


def keep_out(reports: Mapping[str, Path], run: Path) -> None:
    """Refuse reports in the run's own directory, which must not exist before the run. Raises `UsageError`."""
    folder = run.resolve()
    for name, path in reports.items():
        above = path.resolve().parents
        if folder in above:
            for made in above[: above.index(folder) + 1]:  # by `prepare`; it looks like an earlier run
                with suppress(OSError):
                    made.rmdir()
            raise UsageError(
                f"--{name} {path}: {run} is the directory that the run itself creates",
                next_step=f"name a file next to it, for instance {run}-{path.name}",
            )


def _is_stdout(path: Path) -> bool:
    """Return whether a path is `-`, or a link to the file or terminal that stdout is."""
    try:
        return str(path) == "-" or (path.is_symlink() and os.path.samestat(path.stat(), os.fstat(1)))
    except OSError:  # a link that leads nowhere, a stdout that is closed
        return False


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_report(path: Path, content: bytes) -> None:
    """Write a sealed report, whole or not at all. Raises `ReportError`."""
    with _writing(path):
        try:
            path.write_bytes(content)
        except OSError:
            if path.is_file() and not path.is_symlink():
                path.unlink()
            raise


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ReportError(
            f"cannot write {path}: {error.strerror or error}",
            next_step=f"{'free some space, or ' * (error.errno in _NO_ROOM)}name another file",
        ) from error
