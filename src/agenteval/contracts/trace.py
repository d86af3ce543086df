"""The normalized trace (SPEC 16): the contract between adapters, which write it, and assertions, which read it.

The terms, which hold everywhere in this project:

tool call
    A `tool_call` event. `call_id` names it.
name of a tool
    The canonical name (`tool`), the runtime's (`recorded_tool`), and that without the server of an MCP tool, which it begins
    with: `outbound_send`, `mcp__nanoclaw__send_message` and `send_message` are one tool. A test may use any of them.
result of a call
    The `tool_result` events linked to the call, by equal `call_id` or by `parent_event_id`.
failed call
    A call to which an `error` event, or a `tool_result` with `success: false`, is linked. Where a recording does not state
    success, a result that reports a failure at its top (`success: false`, `ok: false` or `isError: true`) failed; any other
    succeeded.
successful call
    A call to which a `tool_result` with `success: true` is linked, and nothing that makes it failed.
retry
    A call of the same tool with equal arguments, after a failed call of it, before any success of that tool
    with those arguments.
turn
    One stretch of agent activity up to the final output; a trace holds one.

`data` of an event, by type; adapters may add keys, which no check reads:

`message_received`  role, content, sender (where there is one)
`tool_call`         tool, call_id, args (null where the recording lacks them), recorded_tool (the runtime's name
                    for it), parent_call_id (of a subagent, or of a command in a shell), said (what the agent wrote, where
                    something else went out, which args has)
`tool_result`       tool, call_id, success, result, fixture_id (when it came from a fixture)
`memory_read`       group_id (the owner of the memory), source, path, content, call_id (of the call that did it),
                    names_only (only the file's name was shown), implicit (loaded into the prompt, without a call)
`memory_write`      group_id, source, path, content, change_summary ("instead of: …": what it took out), call_id
`error`             scope, tool, call_id, error_type, message, retryable
`final_output`      role, content, to (the conversation's name), sent_by (the calls that sent it: it is no other message),
                    said (what the agent wrote, where content is what went out instead)
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.json_values import args_key, held_in
from agenteval.contracts.models import Model, model

TRACE_SCHEMA_VERSION = "0.1"
ASSISTANT = "assistant"
"""The role of the agent in messages: its words are not the user's."""

EventType = Literal[
    "message_received", "tool_call", "tool_result", "memory_read", "memory_write", "error", "final_output"
]
EVENT_TYPES: tuple[str, ...] = get_args(EventType)
ALWAYS_RECORDED = frozenset({"message_received", "final_output"})
"""Types of event that are taken as they stand: what was asked and answered. The others may be among the `unseen` parts."""
TraceStatus = Literal["success", "partial", "failed", "blocked"]


@model
class AdapterInfo(Model):
    """The adapter that wrote a trace (SPEC 12)."""

    name: str
    version: str


@model
class Capabilities(Model):
    """The abilities of a trace (SPEC 12): an assertion that needs a flag which is false is not judged."""

    supports_tool_trace: bool = False
    supports_memory_events: bool = False
    supports_scheduler_context: bool = False
    supports_container_metadata: bool = False
    supports_live_run: bool = False
    supports_replay: bool = False


CAPABILITY_FLAGS: tuple[str, ...] = tuple(Capabilities.__slots__)
HOW_TO_RECORD: dict[str, str] = {
    "supports_tool_trace": "record tool calls with their arguments and results",
    "supports_memory_events": "record what is read from memory and written to it",
    "supports_scheduler_context": "record what the scheduler knew (scheduler_context)",
    "supports_container_metadata": "record containers and mounts",
    "supports_live_run": "use an adapter that runs the agent",
    "supports_replay": "use an adapter that replays recordings",
}
"""Advice for each capability that a recording lacks."""


@model
class Event(Model):
    """One thing that happened. `ts` is ISO 8601 in UTC; `seq` counts from 1."""

    event_id: str
    seq: int
    ts: str
    type: EventType
    actor: str
    data: dict[str, Any]
    group_id: str | None = None
    session_id: str | None = None
    task_id: str | None = None
    agent_id: str | None = None
    parent_event_id: str | None = None


@model
class TraceMessage(Model):
    """A message the agent was given or gave."""

    role: str
    content: str


@model
class TraceScenario(Model):
    """The scenario of a run, as far as the recording shows it."""

    trigger: str
    group_id: str | None = None
    session_id: str | None = None
    task_id: str | None = None
    scheduler_context: dict[str, Any] | None = None


@model
class Metrics(Model):
    """Measures of the recorded run: milliseconds, counts, tokens, US dollars; None for a measure that the recording lacks."""

    timing_ms_total: float | None = None
    tool_call_count: int = 0
    retry_count: int = 0
    token_usage: dict[str, Any] | None = None
    cost_usd: float | None = None


@dataclass(slots=True, eq=False)
class ToolCall:
    """A call with what came of it: a view of the events, made once per trace."""

    event: Event
    results: list[Event] = field(default_factory=list)
    errors: list[Event] = field(default_factory=list)
    missed: bool = False
    """True if a check asked for arguments that the recording does not have."""

    @property
    def tool(self) -> str:
        """The tool's canonical name."""
        return str(self.event.data.get("tool", ""))

    @property
    def recorded_tool(self) -> str:
        """The name of the tool in the runtime; empty when the trace does not have it."""
        return str(self.event.data.get("recorded_tool") or "")

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the tool, the canonical one first."""
        return tool_names(self.tool, self.recorded_tool) or ("",)

    @property
    def call_id(self) -> str:
        """The id that links results and errors to the call."""
        return str(self.event.data.get("call_id", ""))

    @property
    def args(self) -> dict[str, Any]:
        """The arguments as the agent gave them; empty where the recording lacks them, which `missed` then notes."""
        args = self.event.data.get("args")
        if isinstance(args, dict):
            return args
        self.missed = self.missed or args is None
        return {}

    @property
    def shows_arguments(self) -> bool:
        """True if the recording has the arguments, be they empty."""
        return self.event.data.get("args") is not None

    def failures(self) -> list[Event]:
        """The events that say that the call failed, in order."""
        unsuccessful = [result for result in self.results if not result.data.get("success")]
        return sorted([*self.errors, *unsuccessful], key=lambda event: event.seq)

    @property
    def failed(self) -> bool:
        """True if an error or an unsuccessful result is linked to the call."""
        return bool(self.errors) or any(not result.data.get("success") for result in self.results)

    @property
    def succeeded(self) -> bool:
        """True if a successful result is linked to the call, and no failure."""
        return bool(self.results) and not self.failed


@lru_cache(maxsize=1024)
def tool_names(tool: str, recorded: str = "") -> tuple[str, ...]:
    """Every name of a tool (see above), each once: the canonical one, the runtime's, and that without its MCP server."""
    own = recorded or tool
    bare = own.split("__", 2)[-1] if own.startswith("mcp__") else own
    return tuple(dict.fromkeys(name for name in (tool, own, bare) if name))


@dataclass(kw_only=True, repr=False)
class Trace:
    """One recorded run, normalized. Treat it as read-only: every assertion of a test reads the same one."""

    schema_version: str = TRACE_SCHEMA_VERSION
    trace_id: str
    test_case_id: str
    test_run_id: str
    adapter: AdapterInfo
    capabilities: Capabilities
    scenario: TraceScenario
    input_messages: list[TraceMessage]
    events: list[Event]
    final_output: TraceMessage | None
    status: TraceStatus
    metrics: Metrics
    artifacts: dict[str, Any] = field(default_factory=dict)
    """Files of the recording by name, where an adapter names any."""
    notes: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    """Parts of the run that the recording does not show, in words ("what subagent g1 did"); none when it is whole.

    They may hold any calls, results, errors and uses of memory; what was asked and answered is taken as it stands. What is in a
    trace is judged all the same; a verdict that these parts could change is not given.
    """

    @cached_property
    def _calls(self) -> list[ToolCall]:
        return link_calls(self.events)

    @cached_property
    def _by_type(self) -> dict[str, list[Event]]:
        groups: dict[str, list[Event]] = {}
        for event in self.events:
            groups.setdefault(event.type, []).append(event)
        return groups

    @cached_property
    def _call_of_event(self) -> dict[str, ToolCall]:
        return {
            event.event_id: call
            for call in self._calls
            for event in (call.event, *call.results, *call.errors)
        }

    @cached_property
    def _by_call_id(self) -> dict[str, ToolCall]:
        return {call.call_id: call for call in self._calls if call.call_id}

    def calls(self) -> Sequence[ToolCall]:
        """All tool calls in order, each with its results and errors."""
        return self._calls

    @cached_property
    def _calls_without_arguments(
        self,
    ) -> list[ToolCall]:  # what is kept under a public name would be written with the trace
        return [call for call in self._calls if not call.shows_arguments]

    @property
    def calls_without_arguments(self) -> Sequence[ToolCall]:
        """The calls without their arguments in the recording."""
        return self._calls_without_arguments

    @cached_property
    def _tools(self) -> frozenset[tuple[str, ...]]:
        return frozenset(call.names for call in self._calls)

    @property
    def tools(self) -> frozenset[tuple[str, ...]]:
        """The names of each tool that was called."""
        return self._tools

    def of_type(self, *types: str) -> Sequence[Event]:
        """The events of the given types, in order."""
        if len(types) == 1:
            return self._by_type.get(types[0], [])
        return [event for event in self.events if event.type in types]

    def event_types(self) -> Iterable[str]:
        """The types of event that happened, in order of first occurrence."""
        return self._by_type.keys()

    def call_at(self, event: Event) -> ToolCall:
        """The view of a `tool_call` event."""
        return self._call_of_event[event.event_id]

    def call_of(self, event: Event) -> ToolCall | None:
        """The call that an event is, or that it answers; None for an event that does neither."""
        return self._call_of_event.get(event.event_id)

    def call_by_id(self, call_id: Any) -> ToolCall | None:
        """The last call that has this id, or None."""
        return self._by_call_id.get(call_id) if isinstance(call_id, str) else None

    @property
    def output(self) -> str:
        """The text of the final output, empty when there is none."""
        return self.final_output.content if self.final_output else ""

    def tool_counts(self) -> dict[str, int]:
        """Calls by tool, in order of first use."""
        return dict(Counter(call.tool for call in self._calls))


def link_calls(events: Iterable[Event]) -> list[ToolCall]:
    """Tool calls with their results and errors, linked by call id, else by parent event."""
    calls: list[ToolCall] = []
    by_call_id: dict[str, ToolCall] = {}
    by_event_id: dict[str, ToolCall] = {}
    for event in events:
        if event.type == "tool_call":
            call = ToolCall(event)
            calls.append(call)
            by_event_id[event.event_id] = call
            # Runtimes use an id again, in a second conversation for instance: results belong to the latest call.
            if call_id := event.data.get("call_id"):
                by_call_id[call_id] = call
        elif event.type in ("tool_result", "error"):
            owner = by_call_id.get(event.data.get("call_id") or "") or by_event_id.get(
                event.parent_event_id or ""
            )
            if owner:
                (owner.results if event.type == "tool_result" else owner.errors).append(event)
    return calls


@dataclass(slots=True, eq=False)
class Retry:
    """One retry: the call, the first and the latest failed call that it repeats, and its number from 1."""

    call: ToolCall
    first: ToolCall
    after: ToolCall
    number: int


def retries(calls: Iterable[ToolCall], ignore_args: Iterable[str] = ()) -> Iterator[Retry]:
    """The retries among the calls, in order, by the definition above.

    A call is a retry only if the failure came before it. Calls made side by side are no retries of each other, and
    retries made side by side count one each.
    """
    calls = list(calls)
    if not any(call.failed for call in calls):  # the arguments of most calls never need to be compared
        return
    failed: dict[
        tuple[str, str], list[ToolCall]
    ] = {}  # the equal calls that failed since the last success of one
    repeated: Counter[tuple[str, str]] = Counter()
    for _, step, call in sorted(_timeline(calls), key=lambda item: item[0]):
        key = call.tool, args_key(call.args, ignore_args)
        if step == "success":
            failed.pop(key, None)
            repeated.pop(key, None)
        elif step == "failure":
            failed.setdefault(key, []).append(call)
        elif before := failed.get(key):
            repeated[key] += 1
            yield Retry(call, before[0], before[-1], repeated[key])


def _timeline(calls: Iterable[ToolCall]) -> Iterator[tuple[int, str, ToolCall]]:
    """List the moments at which each call was made, and at which it failed or succeeded."""
    for call in calls:
        yield call.event.seq, "call", call
        if call.failed:
            yield call.failures()[0].seq, "failure", call
        elif call.succeeded:
            yield call.results[0].seq, "success", call


class TraceBuilder:
    """Builds a normalized trace from what an adapter finds, by the rules of SPEC 16.

    It numbers events, copies the scenario's ids to events that lack them, links results and errors to their
    calls, synthesises missing timestamps (never from the clock) and a missing `final_output` event, and counts.
    """

    def __init__(self, *, adapter: AdapterInfo, capabilities: Capabilities, scenario: TraceScenario) -> None:
        self.adapter = adapter
        self.capabilities = capabilities
        self.scenario = scenario
        self.events: list[Event] = []
        self._call_events: dict[str, str] = {}

    def add(
        self,
        event_type: EventType,
        data: dict[str, Any],
        *,
        actor: str = "agent",
        ts: str | None = None,
        group_id: str | None = None,
        session_id: str | None = None,
        task_id: str | None = None,
        agent_id: str | None = None,
        parent_event_id: str | None = None,
    ) -> Event:
        """Append one event and return it. A `tool_result` without `success`, or with null, gets it from the result itself."""
        if event_type == "tool_result" and data.get("success") is None:
            data = {**data, "success": not reports_failure(data.get("result"))}
        seq = len(self.events) + 1
        event_id = f"evt-{seq}"
        call_id = data.get("call_id")
        if call_id and event_type == "tool_call":
            self._call_events[call_id] = event_id
        elif call_id and parent_event_id is None:
            parent_event_id = self._call_events.get(call_id)
        scenario = self.scenario
        event = Event(
            event_id=event_id,
            seq=seq,
            ts=ts or synthetic_timestamp(seq),
            type=event_type,
            actor=actor,
            group_id=group_id or scenario.group_id,
            session_id=session_id or scenario.session_id,
            task_id=task_id or scenario.task_id,
            agent_id=agent_id or "main",
            parent_event_id=parent_event_id,
            data=data,
        )
        self.events.append(event)
        return event

    def event_of_call(self, call_id: str | None) -> str | None:
        """The id of the event of a call that was added, or None."""
        return self._call_events.get(call_id) if call_id else None

    def build(
        self,
        *,
        test_case_id: str,
        test_run_id: str,
        input_messages: list[TraceMessage],
        final_output: TraceMessage | None,
        status: TraceStatus,
        timing_ms_total: float | None = None,
        token_usage: dict[str, Any] | None = None,
        cost_usd: float | None = None,
        notes: Sequence[str] = (),
        unseen: Sequence[str] = (),
    ) -> Trace:
        """The finished trace."""
        if final_output and not any(event.type == "final_output" for event in self.events):
            self.add("final_output", {"role": final_output.role, "content": final_output.content})
        trace = Trace(
            trace_id=f"{test_case_id}.trace",
            test_case_id=test_case_id,
            test_run_id=test_run_id,
            adapter=self.adapter,
            capabilities=self.capabilities,
            scenario=self.scenario,
            input_messages=input_messages,
            events=self.events,
            final_output=final_output,
            status=status,
            metrics=Metrics(timing_ms_total=timing_ms_total, token_usage=token_usage, cost_usd=cost_usd),
            notes=list(notes),
            unseen=list(unseen),
        )
        trace.metrics.tool_call_count = len(trace.calls())
        trace.metrics.retry_count = sum(1 for _ in retries(trace.calls()))
        return trace


def reports_failure(result: Any) -> bool:
    """Return whether a result reports a failure at its top, be it an object or the text of one."""
    held = held_in(result)
    if not isinstance(held, dict):
        return False
    return held.get("success") is False or held.get("ok") is False or held.get("isError") is True


def synthetic_timestamp(seq: int) -> str:
    """A timestamp for a step that has none: 1970, with one millisecond for each step."""
    return iso_time(seq)


def iso_time(millis: int) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC."""
    return f"{_to_the_second(millis // 1000)}.{millis % 1000:03}Z"


@lru_cache(maxsize=2)
def _to_the_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def is_synthetic(timestamp: str) -> bool:
    """Return whether a timestamp was made up, for a step that has none."""
    return timestamp.startswith("1970-")


def check_trace(trace: Trace) -> None:
    """Refuse a trace that breaks the contract: an adapter's mistake must not become a verdict.

    Raises `AdapterError` (`adapter.invalid_trace`).
    """
    seen: set[str] = set()
    last = 0
    for event in trace.events:
        if event.seq <= last:
            _refuse(
                trace, f"event {event.event_id} has seq {event.seq} after {last}; events are ordered by seq"
            )
        if event.event_id in seen:
            _refuse(trace, f"two events have the id {event.event_id}")
        if event.type not in EVENT_TYPES:
            _refuse(trace, f"event {event.event_id} has the unknown type {event.type!r}")
        if event.parent_event_id is not None and event.parent_event_id not in seen:
            _refuse(
                trace,
                f"event {event.event_id} has a parent, {event.parent_event_id}, that does not come before it",
            )
        last = event.seq
        seen.add(event.event_id)
    if trace.final_output and not any(event.type == "final_output" for event in trace.events):
        _refuse(trace, "there is a final output but no final_output event")


def _refuse(trace: Trace, what: str) -> None:
    raise AdapterError(
        f"adapter {trace.adapter.name} {trace.adapter.version} made an invalid trace: {what}",
        reason_code="adapter.invalid_trace",
        next_step="report it to the author of the adapter",
    )
