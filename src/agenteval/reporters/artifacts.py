"""The files of a run: names that are safe everywhere, sealed contents, and the directory that they are written to."""

import os
import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import AgentEvalError, Problem
from agenteval.contracts.results import RunSummary
from agenteval.judging.runner import Outcome
from agenteval.judging.stored import EVAL_SUMMARY, EVENTS, REPLAY_ENDING, RESULT_ENDING, SUMMARY, TRACE_ENDING
from agenteval.judging.verdicts import MOST_ITEMS
from agenteval.loading.config import MAX_RESULT_BYTES
from agenteval.reading.documents import admit, read_bytes, sha256
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import LeakError, sealed, sealed_lines, sealed_result
from agenteval.reporters.console import TOO_LARGE
from agenteval.text.lazy_regexes import lazy

LONGEST_STEM = 150
LONGEST_RUN_ID = 128
_SIGNS = str.maketrans("._-", "aaa")
_UNSAFE = lazy(r"[^A-Za-z0-9._-]+")
_RESERVED = {"con", "prn", "aux", "nul"} | {
    f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)
}
"""The names that Windows takes for a device, with any ending."""


@dataclass(slots=True, eq=False, repr=False)
class Filed:
    """The files of one test by name, and a problem for each that is left out because it would show something sensitive."""

    stem: str
    files: list[tuple[str, bytes]] = field(default_factory=list)
    leaks: list[Problem] = field(default_factory=list)


def packed(outcome: Outcome, stem: str, max_bytes: int, *, save_trace: bool) -> Filed:
    """Seal a test's result, and its trace when asked, and note the names of the files in the result.

    `max_bytes` bounds a file: a longer trace is left out, a result is cut; both become a warning of the result.
    """
    result, redactor = outcome.result, outcome.redactor
    filed = Filed(stem)

    def kept(ending: str, seal: Callable[[], bytes | None]) -> str | None:
        """Seal a file, and return its name; None when it is not to be written."""
        name = f"{stem}{ending}"
        try:
            content = seal()
        except LeakError as leak:
            filed.leaks.append(leak.problem(name))
            return None
        if content is not None:
            filed.files.append((name, content))
        return name if content is not None else None

    def trace() -> bytes | None:
        content = sealed(outcome.trace, redactor)
        if len(content) <= max_bytes:
            return content
        result.warnings.append(redactor.text(_too_large("trace", content, max_bytes, TOO_LARGE)))
        return None

    if save_trace and outcome.trace is not None:
        result.artifacts.trace = kept(TRACE_ENDING, trace)
    if outcome.replay is not None:
        result.artifacts.replay = kept(REPLAY_ENDING, lambda: sealed(outcome.replay, redactor))
    result.artifacts.result = f"{stem}{RESULT_ENDING}"
    result.artifacts.result = kept(RESULT_ENDING, lambda: _result(outcome, max_bytes))
    return filed


def unfiled(outcome: Outcome) -> Filed:
    """Make no files, but report the leaks that the result would have."""
    filed = Filed("")
    try:
        sealed_result(outcome.result, outcome.redactor)
    except LeakError as leak:
        filed.leaks.append(leak.problem(f"the result of {outcome.result.test_case_id}"))
    return filed


def safe_stem(test_id: str, redactor: Redactor, taken: AbstractSet[str] = frozenset()) -> str:
    """Return the stem of a test's file names: safe on every system, and in lower case none of those taken.

    Nor is it a name that redaction would change: a printed path that is redacted leads nowhere.
    """
    stem = (test_id if _is_plain(test_id) else _UNSAFE.sub("_", test_id))[:LONGEST_STEM]
    is_reserved = stem.partition(".")[0].lower() in _RESERVED
    safe = stem == test_id and not stem.startswith(".") and not is_reserved
    if redactor.redacted(name := f"{stem}{RESULT_ENDING}") != name:
        safe, stem, is_reserved = False, "", False
    if not safe:
        stem = f"test-{stem}" if is_reserved else stem.lstrip(".") or "test"
    if safe and stem.lower() not in taken:
        return stem
    # Two ids may have the same safe form ("a/b" and "a_b"): the digest of the id keeps their files apart.
    digest = sha256(test_id.encode(errors="surrogatepass"))
    names = (f"{stem}-{digest[:length]}" for length in range(8, len(digest) + 1, 8))
    return next(name for name in names if name.lower() not in taken)


def _result(outcome: Outcome, max_bytes: int) -> bytes:
    content = sealed_result(outcome.result, outcome.redactor)
    if len(content) <= max_bytes:
        return content
    what = "it lacks what the assertions observed, their parameters and most events of their evidence"
    outcome.result.warnings.append(outcome.redactor.text(_too_large("result", content, max_bytes, what)))
    for each in outcome.result.assertions:
        each.observed = {}
        each.params = {}
        del each.evidence.event_refs[MOST_ITEMS:]
    evidence = outcome.result.evidence
    del evidence.event_refs[MOST_ITEMS:], evidence.excerpts[MOST_ITEMS:]
    return sealed_result(outcome.result, outcome.redactor)


def _too_large(what: str, content: bytes, max_bytes: int, outcome: str) -> str:
    return (
        f"the {what} has {len(content):,} bytes, but limits.max_result_bytes in agenteval.yaml "
        f"is {max_bytes:,}: {outcome}"
    )


def _is_plain(name: str) -> bool:
    """Return whether a name has only letters, digits, dots, dashes and underscores of ASCII."""
    return name.isascii() and name.translate(_SIGNS).isalnum()


class ArtifactError(AgentEvalError):
    """The run's directory cannot be written (exit 2)."""

    default_reason = "artifacts.unwritable"


class RunDirectory:
    """The directory of one run's files. Raises `ArtifactError` whenever a file cannot be written.

    `max_bytes` bounds a file about one test; `packed` keeps to it. `redactor` is for files that belong to no test.
    With `again` a run that was begun goes on; else `if_taken` is the advice when a run of that name exists.
    A file that would show something sensitive even after redaction is not written, and becomes one of `leaks`.
    """

    def __init__(
        self,
        parent: Path,
        run_id: str,
        *,
        max_bytes: int = MAX_RESULT_BYTES,
        redactor: Redactor | None = None,
        again: bool = False,
        if_taken: str = "give another --run-id, or none to have one generated",
    ) -> None:
        self.path = parent / run_id
        self._folder = os.path.join(self.path, "")  # noqa: PTH118
        self.max_bytes = max_bytes
        self.redactor = redactor or Redactor()
        self.leaks: list[Problem] = []
        """A problem for each file that was not written because something sensitive would have shown."""
        self.eval_summary_sha256: str | None = None
        """The digest of the EvalSummary, once it is written."""
        self._taken: set[str] = set()
        self._written: set[str] = set()
        if not _is_plain(run_id) or not run_id[0].isalnum() or len(run_id) > LONGEST_RUN_ID:
            raise ArtifactError(
                f"run id {run_id!r} cannot be a directory name",
                reason_code="usage.run_id",
                next_step="use letters, digits, dots, dashes and underscores, at most 128 of them",
            )
        try:
            parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir()
        except FileExistsError as error:
            if not self.path.is_dir():
                in_the_way = self.path if os.path.lexists(self.path) else parent
                raise _unwritable(in_the_way, "it is not a directory") from error
            if not again:
                raise ArtifactError(
                    f"there is already a run in {self.path}",
                    reason_code="artifacts.run_exists",
                    next_step=if_taken,
                ) from error
        except OSError as error:
            raise _unwritable(self.path, error.strerror) from error
        admit(self.path)  # its files may be read later: the run itself has written them

    def keep(self, filed: Filed) -> None:
        """Write the sealed files of a test."""
        self.leaks += filed.leaks
        for name, content in filed.files:
            self._write(name, content)

    def log(self, events: Sequence[dict[str, Any]]) -> None:
        """Write the run's OpenWOP events, one a line."""
        try:
            self._write(EVENTS, sealed_lines(events, self.redactor))
        except LeakError as leak:
            self.leaks.append(leak.problem(EVENTS))

    def close(self, eval_summary: dict[str, Any]) -> None:
        """Write the EvalSummary, and check every file that was not written through this class."""
        if content := self.add_file(EVAL_SUMMARY, eval_summary):
            self.eval_summary_sha256 = sha256(content)
        # A plugin or an adapter may have written here, without the redaction that our own files have passed.
        for folder, _, names in os.walk(self.path):
            own = self._written if folder == str(self.path) else set()
            for name in sorted(set(names) - own):
                self._check(Path(folder, name))

    def _check(self, file: Path) -> None:
        """Remove a file that shows something sensitive. It is not ours: a plugin may have put it there."""
        if not file.is_file():  # reading a pipe would block
            return
        try:
            text = read_bytes(file).decode(errors="replace")
        except OSError:  # a link that leads elsewhere: nothing is in it
            return
        if kinds := self.redactor.leaks(text, ()):
            file.unlink()
            self.leaks.append(LeakError(kinds).problem(file.name))

    def add_file(self, name: str, data: Any) -> bytes | None:
        """Write a file about the run as a whole if it may be written, and return the bytes; None when it may not."""
        try:
            content = sealed(data, self.redactor)
        except LeakError as leak:
            self.leaks.append(leak.problem(name))
            return None
        self._write(name, content)
        return content

    def finish(self, summary: RunSummary) -> None:
        """Write the summary: with this the run is complete. Raises `LeakError`."""
        # Renamed at the end: a run with a summary is complete, so half of one must never be there.
        part = f"{SUMMARY}.part"
        self._write(part, sealed(summary, self.redactor))
        try:
            os.replace(self.path / part, self.path / SUMMARY)  # noqa: PTH105
        except OSError as error:
            raise _unwritable(self.path / SUMMARY, error.strerror) from error

    def stem(self, test_id: str, redactor: Redactor) -> str:
        """Return the stem of a test's file names, and take it."""
        stem = safe_stem(test_id, redactor, self._taken)
        self.take(stem)
        return stem

    def take(self, stem: str) -> bool:
        """Take a stem that `safe_stem` has made; false when another test has it."""
        is_free = stem.lower() not in self._taken
        self._taken.add(stem.lower())
        return is_free

    def _write(self, name: str, content: bytes) -> None:
        self._written.add(name)
        target = self._folder + name  # once or twice per test: pathlib, and files with buffers, take longer
        try:
            with open(target, "wb", buffering=0) as file:  # noqa: PTH123
                done = file.write(content)
                while done < len(content):
                    done += file.write(content[done:])
        except (OSError, KeyboardInterrupt) as error:
            with suppress(OSError):  # no half of a file
                os.unlink(target)  # noqa: PTH108
            if isinstance(error, OSError):
                raise _unwritable(Path(target), error.strerror) from error
            raise


def _unwritable(path: Path, why: str | None) -> ArtifactError:
    return ArtifactError(
        f"cannot write {path}: {why or 'the system does not say why'}",
        next_step="free some space or give another --artifacts-dir; --no-artifacts runs without writing",
    )


def new_run_id() -> str:
    """Make a run id that sorts by time, and differs even for runs that start at the same time."""
    return f"run-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(4).hex()}"
