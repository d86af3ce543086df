"""Operators on messages that are sent by a tool."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from agenteval.mutation.base import Mutant, Operator, Remedy, Subject, numbered, shown, told
from agenteval.mutation.traces import again, block, inserted, rebuilt, with_data, without
from agenteval.outbound import DESTINATION_KEYS, OUTBOUND, destinations
from agenteval.trace import ToolCall, Trace

ELSEWHERE = "another-group"


def _sends(trace: Trace) -> Iterator[tuple[str, ToolCall]]:
    return ((name, call) for name, call in numbered(trace) if call.tool == OUTBOUND)


class SendTwice(Operator):
    """A message is sent a second time to the same place."""

    name = "send-twice"
    category = "scheduler"
    stands_for = "duplicate messages in a chat (nanocoai/nanoclaw issues 211, 529 and 2404)"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each send."""
        trace = subject.trace
        count = trace.tool_counts().get(OUTBOUND, 0)
        for name, call in _sends(trace):
            events = block(trace, call)
            yield Mutant(
                what=f"the message of {name} is sent twice",
                build=partial(rebuilt, trace, inserted(trace.events, events[-1], again(events, "again"))),
                lines=(f"  {told(call)}", f"+ {told(call)}"),
                remedies=[
                    ("no_duplicate_outbound", {}),
                    ("max_tool_calls", {"tool": OUTBOUND, "max": count}),
                    ("scheduler_outbound_count", {"exact": count}),
                ],
                calls=(call,),
            )


class SendElsewhere(Operator):
    """A message goes to another destination."""

    name = "send-elsewhere"
    category = "safety"
    stands_for = "a reply leaks to another channel (nanocoai/nanoclaw issue 1902)"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each send of which the arguments, or else the tool's answer, name the destination."""
        trace = subject.trace
        everywhere = sorted({each for _, call in _sends(trace) for each in destinations(call)})
        for name, call in _sends(trace):
            place = _place(call)
            if place is None:
                continue
            key, here = place
            yield Mutant(
                what=f"the message of {name} goes to {ELSEWHERE}",
                build=partial(_redirected, trace, call, key),
                lines=(f"- {OUTBOUND} {key}: {shown(here)}", f"+ {OUTBOUND} {key}: {ELSEWHERE}"),
                remedies=[("outbound_destinations", {"allowed": everywhere})],
                calls=(call,),
            )


def _place(call: ToolCall) -> tuple[str, str] | None:
    """The name and the value of a send's destination: as asked for, else as the tool reports it."""
    told = [call.args, *(each.data.get("result") for each in call.results)]
    return next(
        (
            (key, value)
            for each in told
            if isinstance(each, dict)
            for key, value in each.items()
            if key in DESTINATION_KEYS and isinstance(value, str)
        ),
        None,
    )


def _redirected(trace: Trace, call: ToolCall, key: str) -> Trace:
    """The trace in which a message goes elsewhere; what the tool reports back about that goes with it."""
    changed = {id(each): _reported(each.data.get("result"), key) for each in call.results}
    events = [
        with_data(each, result=report) if (report := changed.get(id(each))) else each for each in trace.events
    ]
    if key in call.args:
        asked = with_data(call.event, args={**call.args, key: ELSEWHERE})
        events = [asked if each is call.event else each for each in events]
    return rebuilt(trace, events)


def _reported(result: Any, key: str) -> dict[str, Any] | None:
    return (
        {**result, key: ELSEWHERE} if isinstance(result, dict) and isinstance(result.get(key), str) else None
    )


class SendEarly(Operator):
    """A message is sent before the work that it tells of."""

    name = "send-early"
    category = "tool_process"
    stands_for = "the agent writes to the group first and looks afterwards"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each send that comes after another tool's call."""
        trace = subject.trace
        calls = trace.calls()
        for name, call in _sends(trace):
            first = next((each for each in calls if each.tool != OUTBOUND), None)
            if first is None or first.event.seq > call.event.seq:
                continue
            moved = block(trace, call)
            rest = without(trace, moved)
            at = next(i for i, each in enumerate(rest) if each is first.event)
            order: Remedy = (
                "tool_call_order",
                {
                    "before": {"event_type": "tool_call", "tool": first.tool},
                    "after": {"event_type": "tool_call", "tool": OUTBOUND},
                },
            )
            yield Mutant(
                what=f"the message of {name} is sent before anything else is done",
                build=partial(rebuilt, trace, [*rest[:at], *moved, *rest[at:]]),
                lines=(f"+ {told(call)}", f"  {told(first)}", f"- {told(call)}"),
                remedies=[order],
                calls=(call, first),
            )
