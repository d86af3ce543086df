"""What a recording shows and what it cannot, in words: for `record --inspect`, and as notes of a trace."""

from collections.abc import Iterator

from agenteval.plurals import counted
from agenteval_nanoclaw.session.context import generation_of, mounts_are_known
from agenteval_nanoclaw.session.reading import Reading
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.saying import Sayings
from agenteval_nanoclaw.session.usage import Usage

IMPLICIT = "memory that was loaded into the prompt is not recorded: without a read by tool, nothing shows whether it was known"


def notes_on(run: Run, reading: Reading, generation: str, sayings: Sayings, usage: Usage) -> Iterator[str]:
    """What the recording of one run cannot show."""
    if run.last and run.index.cut:
        yield "the last line of the transcript is cut: what came after it is missing"
    if not run.received:
        yield "no message began this run: what came before it is missing, so tools are not judged"
    if not run.index.set_back.isdisjoint(line.number for line in run.lines):
        yield "the clock was set back during this run: times after that are not known"
    for agent in sayings.missing:
        yield f"the transcript of subagent {agent} is missing: what it did is not shown, so tools are not judged"
    for agent in sayings.damaged:
        yield f"a part of the transcript of subagent {agent} cannot be read: what it did there is not shown, so tools are not judged"
    if run.damaged:
        yield f"{counted(run.damaged, 'line')} of this run cannot be read: what is missing is not shown, so tools are not judged"
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
    if count := sum(len(run.transcript.sidechains()) for run in _one_each(reading)):
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
    if any(run.index.cut for run in reading.runs):
        lines.append("the end of a transcript, whose last line is cut: the last run is partial")
    if reading.store.folders is not None and source.kind != "transcript":
        lines.append(
            "memory at the start of a run, but for what the run shows; group folders are as they were copied"
        )
    return lines


def _one_each(reading: Reading) -> list[Run]:
    return list({str(run.transcript.path): run for run in reading.runs}.values())
