"""A recording as a whole: its files, what its databases tell, its runs."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError
from agenteval_nanoclaw.session.runs import Run, know, split
from agenteval_nanoclaw.session.source import STREAM, TRANSCRIPT, Source, Transcript, find_source
from agenteval_nanoclaw.session.store import Store
from agenteval_nanoclaw.session.transcript import Index, read_index


@dataclass(slots=True, kw_only=True)
class Reading:
    """What was read of a recording; the lines of its runs are read when they are asked for."""

    source: Source
    store: Store
    runs: list[Run]
    skipped: Counter[str]
    max_bytes: int


def read_recording(path: Path, context: AdapterContext, *, within: Path | None) -> Reading:
    """The runs of a recording, in the order of time. Raises `AdapterError` when it cannot be read, or has none."""
    source = find_source(path, within=within)
    store = _store(source)
    runs: list[Run] = []
    skipped: Counter[str] = Counter()
    for transcript in source.transcripts:
        index = _index(transcript, context, alone=len(source.transcripts) == 1)
        if index is None:
            skipped["file that is not a transcript"] += 1
            continue
        if index.stream and source.what == TRANSCRIPT:
            source.what = STREAM
        skipped.update(index.skipped)
        runs += split(transcript, index)
    know(runs, store)
    if source.chosen:
        name = source.chosen.path.name
        runs = [run for run in runs if run.session is not None and run.session.id == name]
    runs.sort(key=lambda run: (run.started, str(run.transcript.path), run.lines[0].number))
    for number, run in enumerate(runs, 1):
        run.number = number
    if not runs:
        raise AdapterError(
            f"{path}: a {source.what} without a run: {_why_none(source)}",
            reason_code="adapter.no_run",
            next_step="copy the agent group's .claude-shared folder (v2), or data/sessions (v1), along with it",
        )
    return Reading(source=source, store=store, runs=runs, skipped=skipped, max_bytes=context.max_file_bytes)


def _store(source: Source) -> Store:
    if source.kind == "v2":
        from agenteval_nanoclaw.session import v2

        return v2.read_store(source)
    if source.kind == "v1":
        from agenteval_nanoclaw.session import v1

        return v1.read_store(source)
    return Store()


def _index(transcript: Transcript, context: AdapterContext, *, alone: bool) -> Index | None:
    try:
        return read_index(transcript.path, max_line=context.max_file_bytes, progress=context.progress)
    except AdapterError:
        if alone:
            raise
        return None


def _why_none(source: Source) -> str:
    if not source.transcripts:
        return "there is no transcript"
    if source.chosen:
        return "no transcript holds a message of this session"
    return "no message to the agent is in its transcripts"
