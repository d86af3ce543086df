"""Finds the adapter that reads the recording at a path of the command line."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import (
    NOT_THIS_KIND,
    Adapter,
    AdapterContext,
    RecordedRun,
    RecordedTest,
    Recorder,
    Recording,
    reading,
)
from agenteval.contracts.errors import AdapterError, AgentEvalError, FileError, Problem, saying
from agenteval.plugins.contract import check_foreign
from agenteval.plugins.registry import Registry
from agenteval.reading.documents import refuse_link_out

NO_RECORDING = ("record.not_a_recording", NOT_THIS_KIND)
"""The reason codes of a path that no adapter knows, or that the named adapter does not know."""
MOST_LISTED = 20
"""The number of runs that an error lists."""


@dataclass(slots=True, kw_only=True)
class Source:
    """A recording, and the adapter that reads it."""

    path: Path
    adapter: Adapter
    recorder: Recorder
    recording: Recording
    context: AdapterContext

    def convert(self, run: RecordedRun) -> RecordedTest:
        """Turn one run into the files of a test. Raises `AdapterError`."""
        with _crashes_as_errors(self.adapter.name):
            made = self.recorder.convert(self.path, run, self.context)
            check_foreign(made, RecordedTest, self.adapter.name)
            return made


def find_source(path: Path, registry: Registry, context: AdapterContext, *, adapter: str = "") -> Source:
    """Read the recording at a path with the named adapter, or with the first one that knows its kind.

    Raises `AdapterError`: `record.not_a_recording` when no adapter knows the kind, else the adapter's own error; and
    `FileError` (`file.missing`).
    """
    _must_exist(path)
    refusals: list[str] = []
    empty: Source | None = None
    for reader in _adapters(registry, adapter):
        try:
            with _crashes_as_errors(reader.name):
                recorder: Recorder | None = getattr(reader, "recorder", None)
                if recorder is None:
                    continue
                recording = recorder.inspect(path, context)
                check_foreign(recording, Recording, reader.name)
        except AdapterError as error:
            if error.reason_code != NOT_THIS_KIND or adapter:
                raise
            expected = f" ({error.next_step})" if error.next_step else ""
            refusals.append(f"{reader.name}: {error.message}{expected}")
            continue
        source = Source(path=path, adapter=reader, recorder=recorder, recording=recording, context=context)
        if recording.runs or adapter:
            return source
        # An adapter may pass over all lines of a foreign file, and so accept it without runs. Another may know them.
        empty = empty or source
    if empty is not None:
        return empty
    reasons = "".join(f"\n  {refusal}" for refusal in refusals) or ": no installed adapter reads recordings"
    raise AdapterError(
        f"{path} is not a recording that can be read{reasons}",
        reason_code="record.not_a_recording",
        next_step="name a recording that one of these adapters reads; --adapter NAME says which one to use",
    )


def replay_reader(path: Path, registry: Registry, *, adapter: str) -> Adapter | None:
    """Find the adapter that reads a file as the `adapter_input.replay_file` of a test; None when there is none.

    Raises `FileError` (`file.missing`).
    """
    _must_exist(path)
    for reader in _adapters(registry, adapter) if path.is_file() else ():
        with _crashes_as_errors(reader.name):
            reads = getattr(reader, "reads", None)
            if reads is not None and reads(path):
                return reader
    return None


def receiving_adapter(registry: Registry, *, adapter: str) -> Any:
    """Find the first adapter, or the named one, that receives the exports of a running agent (see `recordings.Receiving`)."""
    for reader in _adapters(registry, adapter):
        if hasattr(reader, "receive"):
            return reader
    which = f"adapter {adapter} does not take" if adapter else "no installed adapter takes"
    raise AdapterError(
        f"{which} what a running agent sends",
        reason_code="record.no_receiver",
        next_step="leave --adapter out, or install an adapter that does",
    )


def context_for(
    path: Path,
    *,
    max_file_bytes: int,
    run_id: str = "record",
    progress: Callable[[Path, int, int], None],
) -> AdapterContext:
    """Return the context for a recording that a person named: the adapter may read all of its folder."""
    folder = path if path.is_dir() else path.parent
    return AdapterContext(
        base_dir=folder, root=folder, run_id=run_id, max_file_bytes=max_file_bytes, progress=progress
    )


def runs_in(source: Source) -> list[RecordedRun]:
    """List all runs. Raises `AdapterError` (`record.no_runs`) when there is none; it lists the lines that were ignored."""
    recording = source.recording
    if not recording.runs:
        skipped = ", ".join(f"{count} of {kind}" for kind, count in recording.skipped.items())
        raise AdapterError(
            f"{source.path} ({recording.kind}) holds no runs{f'; ignored: {skipped}' if skipped else ''}",
            reason_code="record.no_runs",
            next_step="agenteval record --inspect shows what it holds",
        )
    return recording.runs


def chosen_runs(source: Source, turns: Sequence[int]) -> list[RecordedRun]:
    """Return the runs with these numbers; without numbers, the only run.

    Raises `AdapterError`: `record.no_runs`, `record.choose_run` when there are several to choose from, or
    `record.unknown_run`. Both list the runs.
    """
    runs = {run.number: run for run in runs_in(source)}
    unknown = next((turn for turn in turns if turn not in runs), None)
    if unknown is None and (turns or len(runs) == 1):
        return [runs[turn] for turn in dict.fromkeys(turns)] or list(runs.values())
    lines = [f"\n  {run.number}  {run.started_at}  {run.trigger}  {run.first_words}" for run in runs.values()]
    more = f"\n  and {len(runs) - MOST_LISTED} more: --list shows them" if len(runs) > MOST_LISTED else ""
    what = f"holds {len(runs)} runs" if unknown is None else f"has no run {unknown}; it holds"
    raise AdapterError(
        f"{source.path} {what}:{''.join(lines[:MOST_LISTED])}{more}",
        reason_code="record.choose_run" if unknown is None else "record.unknown_run",
        next_step="choose one with --turn N",
    )


@contextmanager
def _crashes_as_errors(name: str) -> Iterator[None]:
    """Turn a foreign exception into the error that the adapter has a bug, and limit the time of the adapter."""
    try:
        with reading(name):
            yield
    except (AgentEvalError, OSError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise AdapterError(
            f"adapter {name} crashed: {type(error).__name__}: {saying(error)}",
            reason_code="adapter.crashed",
            next_step="this is a bug in the adapter: report it with the recording that shows it",
        ) from error


def _must_exist(path: Path) -> None:
    refuse_link_out(path)
    if not path.exists():
        problem = Problem(
            reason_code="file.missing",
            message="a symbolic link to nothing" if path.is_symlink() else "no such file or directory",
            path=path,
            next_step="name a recording: an install root, a session folder, a transcript or spans",
        )
        raise FileError([problem])


def _adapters(registry: Registry, name: str) -> Iterator[Adapter]:
    """List the named adapter, or all that load. `agenteval doctor` explains why another one does not."""
    if name:
        yield registry.find_adapter(name)
        return
    for each in registry.adapter_names():
        # One broken plugin must not keep the recordings of other adapters from being read.
        with suppress(AgentEvalError):
            yield registry.find_adapter(each)
