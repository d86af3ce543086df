"""Lists the runs in a recording for `agenteval record`, and turns a run into the files of a test.

The files of a test are scenario, replay bundle and fixtures. They replay to the same trace.
"""

import re
from pathlib import Path
from posixpath import basename
from typing import Any

from agenteval.contracts.adapters import (
    AdapterContext,
    Owners,
    RecordedRun,
    RecordedTest,
    Recording,
    owners_of,
    without_homes,
)
from agenteval.contracts.trace import CAPABILITY_FLAGS, AdapterInfo, Event, Trace
from agenteval.matching.sends import OUTBOUND
from agenteval.text.fitting import counted
from agenteval_nanoclaw.session.lines import MAIN_AGENT
from agenteval_nanoclaw.session.mapping import IMPLICIT, MOUNTS, NO_PROMPT, NOT_DELIVERED, TraceMapper
from agenteval_nanoclaw.session.memory import (
    LOCAL,
    MAIN,
    OWN_FOLDERS,
    SHARED,
    MemoryEvents,
    group_file,
    memory_files,
    memory_of,
)
from agenteval_nanoclaw.session.results import OWN_SERVER
from agenteval_nanoclaw.session.runs import Reading, Run, choose, read_recording
from agenteval_nanoclaw.session.values import iso

Data = dict[str, Any]

UNKNOWN_GROUP = "unknown-group"
"""The group of a run in a recording that does not name it."""
MOST_NAMED = 10
_OF_MEMORY = ("group_id", "source", "path", "content", "change_summary", "call_id", "names_only", "implicit")
KEPT = {
    "message_received": ("role", "content", "sender"),
    "tool_call": ("tool", "call_id", "args", "recorded_tool", "parent_call_id", "said"),
    "tool_result": ("tool", "call_id", "success", "result"),
    "memory_read": _OF_MEMORY,
    "memory_write": _OF_MEMORY,
    "error": ("scope", "tool", "call_id", "error_type", "message", "retryable"),
    "final_output": ("role", "content", "to", "sent_by", "said"),
}
"""The keys of an event's data that a step of the bundle keeps, by type."""
ACTING = frozenset({OUTBOUND, "edit", "multi_edit", "write", "todo_write", "notebook_edit"})
"""Tools with results that only confirm the action. These results stay in the bundle, and become no fixtures."""
LONGEST_SLUG = 40


class SessionRecorder:
    """Reads recordings of NanoClaw (`agenteval.contracts.adapters.Recorder`)."""

    def __init__(self, adapter: AdapterInfo) -> None:
        self.adapter = adapter

    def inspect(self, source: Path, context: AdapterContext) -> Recording:
        """List the runs in a source, with the contents of the recording."""
        reading = read_recording(source, context, within=None)
        runs, unseen = [], []
        for run in reading.runs:
            trace, _ = self.map_run(run, reading)
            unseen += [f"run {run.number}: {part}" for part in trace.unseen]
            runs.append(
                RecordedRun(
                    number=run.number,
                    choice={"turn": run.number},
                    started_at=iso(run.started) if run.index.timed else "unknown time",
                    group_id=trace.scenario.group_id or UNKNOWN_GROUP,
                    trigger=trace.scenario.trigger,
                    first_words=run.first_words,
                    tools=trace.tool_counts(),
                    status=trace.status,
                )
            )
        if len(unseen) > MOST_NAMED:
            unseen[MOST_NAMED:] = [f"and {len(unseen) - MOST_NAMED} more of this kind"]
        return Recording(
            kind=reading.source.what,
            runs=runs,
            holds=_holds(reading),
            lacks=[*_lacks(reading), *unseen],
            skipped=dict(sorted(reading.skipped.items())),
        )

    def convert(self, source: Path, run: RecordedRun, context: AdapterContext) -> RecordedTest:
        """Turn one run into the files of a test. The same source gives the same data."""
        reading = read_recording(source, context, within=None)
        return self.test_of(choose(reading.runs, run.choice), reading)

    def test_of(self, chosen: Run, reading: Reading) -> RecordedTest:
        """Turn a run of a recording that was read into the files of a test."""
        trace, mapper = self.map_run(chosen, reading)
        folder = chosen.index.folder
        fixtures = FixtureSet(owners_of([folder, *(event.data for event in trace.events)]))
        script = [fixtures.step(event) for event in trace.events]
        sending = [OUTBOUND] if chosen.generation else []  # every agent of NanoClaw can
        return RecordedTest(
            scenario=_scenario(self, chosen, reading, trace, mapper.memory),
            replay=_bundle(trace, script),
            fixtures=fixtures.fixtures,
            tools=list(dict.fromkeys([*trace.tool_counts(), *mapper.tools, *sending])),
            trace=trace,
            folder=folder,
        )

    def map_run(self, run: Run, reading: Reading) -> tuple[Trace, TraceMapper]:
        """Build the trace of a run; return its mapper, too."""
        mapper = TraceMapper(run, reading, aliases={}, adapter=self.adapter, default_group=UNKNOWN_GROUP)
        return mapper.trace("recording", "record"), mapper


def _holds(reading: Reading) -> list[str]:
    source, runs = reading.source, reading.runs
    transcripts = {str(run.transcript.path) for run in runs}
    subagents = {path for run in runs for path in run.transcript.sidechains(source.allowed)}
    beside = {run.transcript.path.parent for run in runs}  # they may be of other sessions
    known = sum(path.parent not in beside for path in subagents)
    v2, sessions = source.kind == "v2", source.kind != "transcript" and bool(reading.store.sessions)
    lines = {
        f"messages, tool calls with their results, and answers: {counted(len(transcripts), 'transcript')}": True,
        f"what subagents did: {counted(known, 'transcript')}": known,
        "what went out, where to, and whether it was delivered: outbound.db and inbound.db": sessions and v2,
        "scheduled tasks: ids, recurrence" + ", times" * v2: sessions,
        "mounts, and so whose memory a path leads to": any(run.mounts_are_known for run in runs),
        "the group folders, with the memory as it was when they were copied": source.groups,
    }
    return [line for line, is_held in lines.items() if is_held]


def _lacks(reading: Reading) -> list[str]:
    """List the facts that a recording cannot show, with the consequence for tests, a line each."""
    runs = reading.runs
    generations = {run.generation for run in runs}
    stream, folders = any(run.index.stream for run in runs), reading.source.groups
    tools = "" if stream else ", the tools that the agent had,"
    lines = {
        f"the system prompt{tools or ','} and sampling parameters": True,
        NO_PROMPT: stream,
        "output tokens: a limit on them is not judged": "v1" in generations,
        f"{IMPLICIT}; runs without memory events have supports_memory_events: false": generations != {"v2"},
        f"what was delivered: {NOT_DELIVERED}": not any(run.outbound_is_stored for run in runs),
        f"the runs in which {counted(reading.strays, 'message')} went out: no transcript has them": reading.strays,
        "task ids: runs by the scheduler have supports_scheduler_context: false": not any(
            run.session for run in runs
        ),
        f"mounts: {MOUNTS}": not any(run.mounts_are_known for run in runs),
        "memory at the start of a run, except for what the run shows; group folders are as they were copied": folders,
    }
    return [line for line, is_lacking in lines.items() if is_lacking]


# A run as the files of a test ---------------------------------------------------------------------------------


def _bundle(trace: Trace, script: list[Data]) -> Data:
    return {
        "schema_version": "0.1",
        "adapter": "nanoclaw-replay",
        "scenario": _of(trace.scenario, "trigger", "group_id", "session_id", "task_id", "scheduler_context"),
        "capabilities": _of(trace.capabilities, *CAPABILITY_FLAGS),
        "input_messages": [_of(message, "role", "content") for message in trace.input_messages],
        "script": script,
        "status": trace.status,
        "metrics": _of(trace.metrics, "timing_ms_total", "retry_count", "token_usage", "cost_usd"),
        **_given(**{"unseen": trace.unseen or None, "x-notes": trace.notes or None}),
    }


class FixtureSet:
    """Turns events into steps, and results of tools into fixtures. Equal results of a tool share one."""

    def __init__(self, owners: Owners) -> None:
        self.owners = owners
        """The people with a home folder in the run."""
        self.fixtures: list[Data] = []
        self.ids: dict[tuple[str, str], str] = {}
        self.calls: dict[str, Event] = {}

    def step(self, event: Event) -> Data:
        """Return the step of the bundle for an event."""
        data = {name: event.data[name] for name in KEPT[event.type] if event.data.get(name) is not None}
        if event.type == "tool_call":
            self.calls[data["call_id"]] = event
        elif event.type == "tool_result" and (fixture := self._fixture(event)):
            del data["result"]
            data["fixture_id"] = fixture
        agent = {} if event.agent_id == MAIN_AGENT else {"agent_id": event.agent_id}
        return {"type": event.type, **data, "ts": event.ts, **agent}

    def _fixture(self, event: Event) -> str | None:
        """Return the id of a result's fixture, made if new; None for a result that stays in the bundle."""
        tool, result = event.data["tool"], event.data["result"]
        call = self.calls[event.data["call_id"]].data
        own = str(call["recorded_tool"]).startswith(OWN_SERVER)
        if tool in ACTING or own or not event.data["success"] or not isinstance(result, str) or not result:
            return None
        if (tool, result) not in self.ids:
            name = base = f"fx.{_slug(tool)}.{_subject(call['args'], self.owners)}"
            number = 1
            while name in self.ids.values():
                number += 1
                name = f"{base}_{number}"
            self.ids[tool, result] = name
            self.fixtures.append({"id": name, "tool": tool, "response": result})
        return self.ids[tool, result]


def _subject(args: Data, owners: Owners) -> str:
    """Return a short name of a call: its first text argument that holds nothing sensitive.

    A shortened secret would still be one, or make two secrets equal, so a sensitive text is skipped.
    """
    from agenteval.redaction.redactor import DEFAULT_RULES
    from agenteval.redaction.secrets import names_secret

    texts = (value for key, value in args.items() if isinstance(value, str) and not names_secret(key))
    text = next((each for each in texts if _slug(each) and not DEFAULT_RULES.found(each)), "answer")
    text = text.removeprefix("https://").removeprefix("http://").removeprefix("/workspace/")
    return _slug(without_homes(text, owners))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:LONGEST_SLUG].strip("_")


def _scenario(
    recorder: SessionRecorder, run: Run, reading: Reading, trace: Trace, memory: MemoryEvents
) -> Data:
    mounts = [
        _given(
            path=mount.inside,
            source=f"groups/{mount.group}" if mount.group else None,
            readonly=mount.readonly,
        )
        for mount in (run.group.mounts if run.group else None) or []
    ]
    messages = [
        _given(
            role=each.data["role"],
            content=each.data["content"],
            sender=each.data.get("sender"),
            ts=each.ts,
        )
        for each in trace.of_type("message_received")
    ]
    return _given(
        **_of(trace.scenario, "group_id", "session_id", "trigger"),
        input_messages=messages,
        memory_snapshot=_own_memory(recorder, run, reading, memory) or None,
        other_group_state=_other_groups(run, reading, memory) or None,
        mounts=mounts or None,
        scheduler_context=trace.scenario.scheduler_context,
    )


def _own_memory(recorder: SessionRecorder, run: Run, reading: Reading, memory: MemoryEvents) -> list[Data]:
    """List the group's own memory at the start: as the run shows it, else files that nothing changed since."""
    own = memory.memory.group
    entries = {
        file.path: _entry(file.source, file.path, content)
        for file, content in memory.before.items()
        if file.group == own and content is not None
    }
    stored = {
        path: entry
        for path, entry in _stored_memory(run, reading, own).items()
        if path not in entries and path not in memory.written
    }
    # A later run may have changed the file since: then it does not show what this run had.
    later = [each for each in reading.runs[run.number :] if stored and each.group is run.group]
    written = {path for each in later for path in recorder.map_run(each, reading)[1].memory.written}
    entries |= {path: entry for path, entry in stored.items() if path not in written}
    group = {"group_id": own} if own else {}
    return [{**group, **entry} for entry in entries.values()]


def _stored_memory(run: Run, reading: Reading, group: str) -> dict[str, Data]:
    """Return an entry for each memory file of the group that the recording holds, by its path in the container."""
    names, folder = [MAIN], OWN_FOLDERS[1]
    if run.generation == "v2":
        folder = OWN_FOLDERS[0]
        listed = [LOCAL, *memory_of(run, reading, group).indexed(), *memory_files(reading, group)]
        names = list(dict.fromkeys(listed))
    contents = {name: group_file(reading, group, name) for name in names}
    return {
        f"{folder}/{name}": _entry(basename(name), f"{folder}/{name}", content)
        for name, content in contents.items()
        if content is not None
    }


def _other_groups(run: Run, reading: Reading, memory: MemoryEvents) -> list[Data]:
    """List memory of the other groups: as the run shows it, else from their folders as they were copied."""
    ours = (memory.memory.group, SHARED)
    found: dict[str, dict[str, Data]] = {}
    for file, content in memory.before.items():
        if file.group not in ours and content is not None:
            found.setdefault(file.group, {})[file.source] = _entry(file.source, file.path, content)
    for group in memory.memory.groups:
        names = [LOCAL, *memory_files(reading, group)] if run.generation == "v2" else [MAIN]
        for name in names if group not in ours else ():
            if (content := group_file(reading, group, name)) is not None:
                entry = _entry(name, f"groups/{group}/{name}", content)
                found.setdefault(group, {}).setdefault(name, entry)
    return [
        {"group_id": group, "memory_snapshot": list(entries.values())}
        for group, entries in sorted(found.items())
    ]


def _entry(source: str, path: str, content: str) -> Data:
    return {"source": source, "path": path, "content": content}


def _of(value: Any, *names: str) -> Data:
    return _given(**{name: getattr(value, name) for name in names})


def _given(**values: Any) -> Data:
    return {name: value for name, value in values.items() if value is not None}
