"""What a recording shows and what it cannot, in words: for `record --inspect`, and as notes of a trace."""

from collections.abc import Iterator

from agenteval.text.fitting import counted
from agenteval_nanoclaw.session.context import generation_of, mounts_are_known
from agenteval_nanoclaw.session.ending import Usage
from agenteval_nanoclaw.session.reading import Reading
from agenteval_nanoclaw.session.runs import Run

IMPLICIT = "memory that was loaded into the prompt is not recorded: without a read by a tool, nothing shows whether it was known"

NO_PROMPT = "the prompt: a stream does not tell what the agent was asked"


def notes_on(run: Run, reading: Reading, generation: str, usage: Usage) -> Iterator[str]:
    """What the recording of one run cannot show, beside what is `unseen` of what it did."""
    if run.begun and not run.received:
        yield (
            f"not in the recording: {NO_PROMPT}"
            if run.index.stream
            else "no message of a user began this run"
        )
    if not run.index.set_back.isdisjoint(line.number for line in run.lines):
        yield "the clock was set back during this run: times after that are not known"
    if not usage.output_is_recorded:
        yield "output tokens were not recorded"
    if generation != "v2":
        yield IMPLICIT
    if run.by_scheduler and run.task is None:
        yield "no database says which task this was: scheduler context is not judged"
    if run.session is None or not run.session.outbound_is_stored:
        yield "what was delivered is not recorded: sends are known by their calls, the answer by its text"
    if generation and not mounts_are_known(run, reading):
        yield "mounts are not recorded: memory under /workspace/extra belongs to the group that the folder is named for"
    if unknown := run.index.skipped:
        told = ", ".join(f"{kind} ({count})" for kind, count in sorted(unknown.items()))
        yield f"unknown lines of the transcript were ignored: {told}"


def holds(reading: Reading) -> list[str]:
    """What a recording shows, a line each."""
    source = reading.source
    transcripts = {str(run.transcript.path) for run in reading.runs}
    lines = [
        f"messages, tool calls with their results, and answers: {counted(len(transcripts), 'transcript')}"
    ]
    each = {path for run in reading.runs for path in run.transcript.sidechains(source.allowed)}
    beside = {run.transcript.path.parent for run in reading.runs}  # they may be of other sessions
    if count := sum(path.parent not in beside for path in each):
        lines.append(f"what subagents did: {counted(count, 'transcript')}")
    if source.kind == "v2" and reading.store.sessions:
        lines.append("what went out, where to, and whether it was delivered: outbound.db and inbound.db")
    if source.kind != "transcript" and reading.store.sessions:
        lines.append("scheduled tasks: ids, recurrence" + ", times" * (source.kind == "v2"))
    if any(mounts_are_known(run, reading) for run in reading.runs):
        lines.append("mounts, and so whose memory a path leads to")
    if reading.store.folders is not None:
        lines.append("the group folders, with the memory as it was when they were copied")
    return lines


def lacks(reading: Reading) -> list[str]:
    """What a recording cannot show, and what follows, a line each."""
    source = reading.source
    generations = {generation_of(run, reading) for run in reading.runs}
    lines = ["the system prompt, the tools that the agent had, and sampling parameters"]
    if any(run.index.stream for run in reading.runs):
        lines = ["the system prompt, and sampling parameters", NO_PROMPT]
    if "v1" in generations:
        lines.append("output tokens: a limit on them is not judged")
    if generations != {"v2"}:
        lines.append(f"{IMPLICIT}; runs without memory events have supports_memory_events: false")
    if not any(run.session and run.session.outbound_is_stored for run in reading.runs):
        lines.append("what was delivered: sends are known by their calls, the answer by its text")
    if not any(run.session for run in reading.runs):
        lines.append("task ids: runs by the scheduler have supports_scheduler_context: false")
    if not any(mounts_are_known(run, reading) for run in reading.runs):
        lines.append(
            "mounts: memory under /workspace/extra belongs to the group that the folder is named for"
        )
    if reading.store.folders is not None and source.kind != "transcript":
        lines.append(
            "memory at the start of a run, except for what the run shows; group folders are as they were copied"
        )
    return lines
