"""One run as the files of a test: scenario, replay bundle and fixtures, which replay to the same trace."""

import re
from collections.abc import Callable, Iterator
from posixpath import basename
from typing import Any

from agenteval.contracts.adapters import Owners, RecordedTest, owners_of, without_homes
from agenteval.contracts.trace import CAPABILITY_FLAGS, Event, Trace
from agenteval.matching.sends import OUTBOUND
from agenteval.redaction.redactor import DEFAULT_RULES
from agenteval.redaction.secrets import names_secret
from agenteval_nanoclaw.session.context import (
    LOCAL,
    MAIN,
    OWN_FOLDERS,
    SHARED,
    generation_of,
    group_file,
    group_of,
    memory_of,
)
from agenteval_nanoclaw.session.mapping import Told
from agenteval_nanoclaw.session.reading import Reading
from agenteval_nanoclaw.session.results import OWN_SERVER
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.saying import MAIN_AGENT

Tell = Callable[[Run, Reading], Told]
Data = dict[str, Any]

_OF_MEMORY = (
    "group_id",
    "source",
    "path",
    "content",
    "change_summary",
    "call_id",
    "names_only",
    "implicit",
)
KEPT = {
    "message_received": ("role", "content", "sender"),
    "tool_call": ("tool", "call_id", "args", "recorded_tool", "parent_call_id"),
    "tool_result": ("tool", "call_id", "success", "result"),
    "memory_read": _OF_MEMORY,
    "memory_write": _OF_MEMORY,
    "error": ("scope", "tool", "call_id", "error_type", "message", "retryable"),
    "final_output": ("role", "content", "to", "sent_by"),
}
"""What a step of the bundle keeps of an event's data, by type."""
ACTING = frozenset({OUTBOUND, "edit", "multi_edit", "write", "todo_write", "notebook_edit"})
"""Tools whose answers say only that it was done: they stay in the bundle, and become no fixtures."""
LONGEST_SLUG = 40


def converted(run: Run, reading: Reading, tell: Tell) -> RecordedTest:
    """A run as the files of a test. `tell` makes the trace of a run."""
    told = tell(run, reading)
    shelf = _Shelf(owners_of([run.index.folder, *(event.data for event in told.trace.events)]))
    script = [shelf.step(event) for event in told.trace.events]
    return RecordedTest(
        scenario=_scenario(run, reading, told, tell),
        replay=_bundle(told.trace, script),
        fixtures=shelf.fixtures,
        tools=_tools(told, run, reading),
        trace=told.trace,
        folder=run.index.folder,
    )


def _tools(told: Told, run: Run, reading: Reading) -> list[str]:
    """The tools that the agent is known to have: those the run shows or lists; every agent of NanoClaw can send."""
    sending = [OUTBOUND] if generation_of(run, reading) else []
    return list(dict.fromkeys([*told.trace.tool_counts(), *told.tools, *sending]))


def _bundle(trace: Trace, script: list[Data]) -> Data:
    scenario = trace.scenario
    bundle = {
        "schema_version": "0.1",
        "adapter": "nanoclaw-replay",
        "scenario": _given(
            trigger=scenario.trigger,
            group_id=scenario.group_id,
            session_id=scenario.session_id,
            task_id=scenario.task_id,
            scheduler_context=scenario.scheduler_context,
        ),
        "capabilities": {flag: getattr(trace.capabilities, flag) for flag in CAPABILITY_FLAGS},
        "input_messages": [
            {"role": message.role, "content": message.content} for message in trace.input_messages
        ],
        "script": script,
        "status": trace.status,
        "metrics": _given(
            timing_ms_total=trace.metrics.timing_ms_total,
            retry_count=trace.metrics.retry_count,
            token_usage=trace.metrics.token_usage,
            cost_usd=trace.metrics.cost_usd,
        ),
    }
    if trace.unseen:
        bundle["unseen"] = trace.unseen
    return bundle | ({"x-notes": trace.notes} if trace.notes else {})


class _Shelf:
    """Turns events into steps, and answers of tools into fixtures; equal answers of a tool share one."""

    def __init__(self, owners: Owners) -> None:
        self.owners = owners
        """Whose home folders the run names."""
        self.fixtures: list[Data] = []
        self.ids: dict[tuple[str, str], str] = {}
        self.calls: dict[str, Event] = {}

    def step(self, event: Event) -> Data:
        """The step of the bundle that an event becomes."""
        data = {name: event.data[name] for name in KEPT[event.type] if event.data.get(name) is not None}
        if event.type == "tool_call":
            self.calls[data["call_id"]] = event
        elif event.type == "tool_result" and (fixture := self._fixture(event)):
            del data["result"]
            data["fixture_id"] = fixture
        agent = {} if event.agent_id == MAIN_AGENT else {"agent_id": event.agent_id}
        return {"type": event.type, **data, "ts": event.ts, **agent}

    def _fixture(self, event: Event) -> str | None:
        """The id of the fixture that a result is; None for one that stays where it is."""
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
    """A short name for what a call asks, of its first text that holds nothing sensitive: two keys, cut, may be one."""
    texts = (value for key, value in args.items() if isinstance(value, str) and not names_secret(key))
    text = next((each for each in texts if _slug(each) and not DEFAULT_RULES.found(each)), "answer")
    text = text.removeprefix("https://").removeprefix("http://").removeprefix("/workspace/")
    return _slug(without_homes(text, owners))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:LONGEST_SLUG].strip("_")


# The scenario -------------------------------------------------------------------------------------------------


def _scenario(run: Run, reading: Reading, told: Told, tell: Tell) -> Data:
    recorded = told.trace.scenario
    group = group_of(run, reading)
    events = told.trace.of_type("message_received")
    messages = [
        _given(role="user", content=each.data["content"], sender=each.data.get("sender"), ts=each.ts)
        for each in events
    ]
    mounts = [
        _given(
            path=mount.inside,
            source=f"groups/{mount.group}" if mount.group else None,
            readonly=mount.readonly,
        )
        for mount in (group.mounts if group and group.mounts else [])
    ]
    return _given(
        group_id=recorded.group_id,
        session_id=recorded.session_id,
        trigger=recorded.trigger,
        input_messages=messages,
        memory_snapshot=_memory(run, reading, told, tell) or None,
        other_group_state=_others(run, reading, told) or None,
        mounts=mounts or None,
        scheduler_context=recorded.scheduler_context,
    )


def _memory(run: Run, reading: Reading, told: Told, tell: Tell) -> list[Data]:
    """What the group's own memory held at the start: what the run shows, else files that nothing changed since."""
    own = told.trace.scenario.group_id or ""
    entries = {
        file.path: _entry(own, file.source, file.path, content)
        for file, content in told.before.items()
        if file.group == own and content is not None
    }
    unknown = [
        (path, content)
        for path, content in _own_files(run, reading, own)
        if path not in entries and path not in told.written
    ]
    if unknown:
        written = _written_later(run, reading, tell)
        for path, content in unknown:
            if path not in written:
                entries[path] = _entry(own, basename(path), path, content)
    return list(entries.values())


def _own_files(run: Run, reading: Reading, own: str) -> Iterator[tuple[str, str]]:
    """The memory files in the group's folder, by their path in the container."""
    v2 = generation_of(run, reading) == "v2"
    folder = OWN_FOLDERS[0] if v2 else OWN_FOLDERS[1]
    names = [LOCAL, *memory_of(run, reading, own).indexed()] if v2 else [MAIN]
    for name in dict.fromkeys(names):
        if (content := group_file(reading, own, name)) is not None:
            yield f"{folder}/{name}", content


def _written_later(run: Run, reading: Reading, tell: Tell) -> set[str]:
    group = group_of(run, reading)
    later = [each for each in reading.runs if each.number > run.number and group_of(each, reading) is group]
    return {path for each in later for path in tell(each, reading).written}


def _others(run: Run, reading: Reading, told: Told) -> list[Data]:
    """Memory of the other groups: what the run shows of it, and their folders as they were copied."""
    own = told.trace.scenario.group_id
    found: dict[str, dict[str, Data]] = {}
    for file, content in told.before.items():
        if file.group not in (own, SHARED) and content is not None:
            found.setdefault(file.group, {})[file.source] = _entry("", file.source, file.path, content)
    name = LOCAL if generation_of(run, reading) == "v2" else MAIN
    for group in reading.store.groups.values():
        if group.folder not in (own, SHARED):
            content = group_file(reading, group.folder, name)
            if content is not None and name not in found.get(group.folder, {}):
                entry = _entry("", name, f"groups/{group.folder}/{name}", content)
                found.setdefault(group.folder, {})[name] = entry
    return [
        {"group_id": group, "memory_snapshot": list(entries.values())}
        for group, entries in sorted(found.items())
    ]


def _entry(group: str, source: str, path: str, content: str) -> Data:
    return {**({"group_id": group} if group else {}), "source": source, "path": path, "content": content}


def _given(**values: Any) -> Data:
    return {name: value for name, value in values.items() if value is not None}
