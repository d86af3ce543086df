"""What a run is of: its group, session, task and mounts."""

import re

from agenteval.reading.documents import read_bytes
from agenteval.trace import TraceScenario
from agenteval_nanoclaw.session.clock import iso
from agenteval_nanoclaw.session.memory import LOCAL, Memory
from agenteval_nanoclaw.session.reading import Reading
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.store import Group

MAX_MEMORY = 1_000_000
"""Memory files of more bytes are not read."""
_PLAIN = re.compile(r"\w[\w.-]*")


def generation_of(run: Run, reading: Reading) -> str:
    """`v2` or `v1` of NanoClaw, by the databases or the agent's working directory; empty for another agent."""
    if reading.source.kind != "transcript":
        return reading.source.kind
    folder = run.index.folder
    if folder.startswith("/workspace/agent"):
        return "v2"
    if folder.startswith("/workspace/group"):
        return "v1"
    return "v2" if run.timezone or any(each.message.seq for each in run.received) else ""


def group_of(run: Run, reading: Reading) -> Group | None:
    """The group that a run acts for."""
    owner = run.session.owner if run.session else run.transcript.owner
    return reading.store.group_of(owner)


def scenario_of(run: Run, reading: Reading, default_group: str) -> TraceScenario:
    """The situation of a run, as the recording shows it."""
    group = group_of(run, reading)
    session = run.session.id if run.session and reading.source.kind == "v2" else run.transcript.sdk_session
    scenario = TraceScenario(
        trigger="scheduler" if run.by_scheduler else "user_message",
        group_id=(group.folder if group else run.transcript.owner) or default_group or None,
        session_id=session,
    )
    if run.by_scheduler:
        context = {"timezone": run.timezone} if run.timezone else {}
        if task := run.task:
            scenario.task_id = context["task_id"] = task.id
            if task.process_after is not None:
                context["scheduled_for"] = iso(task.process_after)
            if task.series and task.series != task.id:
                context["series_id"] = task.series
            if recurrence := task.recurrence or _later_recurrence(run):
                context["recurrence"] = recurrence
        scenario.scheduler_context = context
    return scenario


def _later_recurrence(run: Run) -> str:
    """The recurrence of the series: it moves on to the next occurrence when one is done."""
    task = run.task
    rows = run.session.inbound if run.session else []
    return next((row.recurrence for row in rows if task and row.recurrence and row.series == task.series), "")


def mounts_are_known(run: Run, reading: Reading) -> bool:
    """Whether the recording tells what was mounted into the container."""
    group = group_of(run, reading)
    return group is not None and group.mounts is not None


def memory_of(run: Run, reading: Reading, group_id: str) -> Memory:
    """What tells the memory files of a run from others."""
    group = group_of(run, reading)
    groups = [each.folder for each in reading.store.groups.values()]
    memory = Memory(group=group_id, mounts=(group.mounts if group else None) or [], groups=groups)
    if text := group_file(reading, group_id, LOCAL):
        memory.index_text = text
    return memory


def group_file(reading: Reading, folder: str, name: str) -> str | None:
    """A file of a group's folder, as it was when the recording was copied; None when it is not there."""
    if reading.store.folders is None or not _PLAIN.fullmatch(folder):
        return None
    path = reading.store.folders / folder / name
    try:
        if not path.is_file() or not reading.source.allowed(path) or path.stat().st_size > MAX_MEMORY:
            return None
        return read_bytes(path).decode(errors="replace")
    except (OSError, ValueError):
        return None
