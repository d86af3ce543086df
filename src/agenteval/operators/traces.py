"""Changes of a trace: it is taken apart and put together again with one thing changed.

The original is never touched.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from agenteval.contracts.trace import Event, ToolCall, Trace, TraceBuilder, TraceMessage


def rebuilt(trace: Trace, events: Iterable[Event], *, output: str | None = None, times: int = 1) -> Trace:
    """Build a trace of these events in this order, numbered and linked anew; `output` replaces the final output.

    Events keep their times; an event that moved behind a later one gets the time of that. `times` is the number of
    times that the whole run happened, and was paid for.
    """
    builder = TraceBuilder(adapter=trace.adapter, capabilities=trace.capabilities, scenario=trace.scenario)
    ids: dict[str | None, str] = {}
    latest: Event | None = None
    for event in events:
        # An event that moved behind a later one cannot have happened before it, so it takes its time.
        if latest is None or event.seq >= latest.seq:
            latest = event
        added = builder.add(
            event.type,
            event.data,
            actor=event.actor,
            ts=latest.ts,
            group_id=event.group_id,
            session_id=event.session_id,
            task_id=event.task_id,
            agent_id=event.agent_id,
            parent_event_id=ids.get(event.parent_event_id),
        )
        ids[event.event_id] = added.event_id
    final = trace.final_output
    if final is not None and output is not None:
        final = TraceMessage(role=final.role, content=output)
    usage, cost, took = trace.metrics.token_usage, trace.metrics.cost_usd, trace.metrics.timing_ms_total
    return builder.build(
        test_case_id=trace.test_case_id,
        test_run_id=trace.test_run_id,
        input_messages=trace.input_messages,
        final_output=final,
        status=trace.status,
        timing_ms_total=took and took * times,
        token_usage=usage
        and {name: count * times if isinstance(count, int) else count for name, count in usage.items()},
        cost_usd=cost and cost * times,
        notes=trace.notes,
        unseen=trace.unseen,
    )


def with_output(trace: Trace, text: str) -> Trace:
    """Return the trace with another final output."""
    last = trace.of_type("final_output")[-1]
    return rebuilt(trace, with_data(trace.events, last, content=text), output=text)


def with_data(events: Sequence[Event], event: Event, **changed: Any) -> list[Event]:
    """Return the events with values in the data of one replaced."""
    other = replace(event, data={**event.data, **changed})
    return [other if each is event else each for each in events]


def block(trace: Trace, call: ToolCall) -> list[Event]:
    """Return a call with its results, its errors and its effects on memory, in order."""
    own = {call.event.event_id} | {each.event_id for each in (*call.results, *call.errors)}
    return [
        each
        for each in trace.events
        if each.event_id in own or (each.type.startswith("memory_") and each.parent_event_id in own)
    ]


def without(trace: Trace, left_out: Sequence[Event]) -> list[Event]:
    """Return the events of a trace except these."""
    ids = {each.event_id for each in left_out}
    return [each for each in trace.events if each.event_id not in ids]


def inserted(events: Sequence[Event], after: Event | None, new: Sequence[Event]) -> list[Event]:
    """Insert events after one of the others, or before everything that the agent did."""
    if after is None:
        at = next((i for i, each in enumerate(events) if each.type != "message_received"), len(events))
    else:
        at = next(i for i, each in enumerate(events) if each.event_id == after.event_id) + 1
    return [*events[:at], *new, *events[at:]]


def before_output(trace: Trace) -> Event | None:
    """Return the last event before the last final output; None if only messages come before it."""
    earlier = [each for each in trace.events if each.type not in ("final_output", "message_received")]
    return earlier[-1] if earlier else None


def with_call_before(trace: Trace, call: ToolCall, event: Event) -> list[Event]:
    """Move the events of a call before another event."""
    moved = block(trace, call)
    rest = without(trace, moved)
    at = next(i for i, each in enumerate(rest) if each is event)
    return [*rest[:at], *moved, *rest[at:]]


def with_call_twice(trace: Trace, call: ToolCall) -> list[Event]:
    """Repeat the events of a call."""
    events = block(trace, call)
    return inserted(trace.events, events[-1], again(events))


def again(events: Sequence[Event]) -> list[Event]:
    """Copy events, with new ids of events and calls."""
    copied = {each.event_id for each in events}
    copies = []
    for each in events:
        data, parent = each.data, each.parent_event_id
        if data.get("call_id"):
            data = {**data, "call_id": f"{data['call_id']}-again"}
        if parent in copied:
            parent = f"{parent}-again"
        copies.append(replace(each, event_id=f"{each.event_id}-again", data=data, parent_event_id=parent))
    return copies


def new_call(like: Event, tool: str) -> list[Event]:
    """Make up a call with a successful result; times and ids are those of an event beside it."""
    link = {"tool": tool, "call_id": "call-added"}
    call = replace(
        like,
        event_id="evt-added",
        type="tool_call",
        actor="agent",
        data={**link, "args": {}},
        parent_event_id=None,
    )
    answer = replace(
        call,
        event_id="evt-added-result",
        type="tool_result",
        actor="tool",
        data={**link, "success": True, "result": "ok"},
        parent_event_id=call.event_id,
    )
    return [call, answer]


Behaviour = tuple[tuple[str, ...], tuple[str, ...], int]
"""The agent's behaviour without numbers, ids and times: its steps, its answers, the number of its retries."""
_IDS = ("call_id", "fixture_id")


def behaviour(trace: Trace) -> Behaviour:
    """Return the behaviour in a trace, to compare two traces of one test."""
    steps = tuple(
        repr((each.type, each.group_id, [item for item in each.data.items() if item[0] not in _IDS]))
        for each in trace.events
        if each.type != "final_output"
    )
    outputs = tuple(str(each.data.get("content")) for each in trace.of_type("final_output"))
    return steps, outputs, trace.metrics.retry_count
