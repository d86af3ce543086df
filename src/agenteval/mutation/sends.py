"""Operators on messages that are sent by a tool."""

from collections.abc import Iterator
from functools import partial

from agenteval.mutation.base import Mutant, Operator, Subject, in_order, numbered, shown, told
from agenteval.mutation.traces import (
    again,
    block,
    inserted,
    rebuilt,
    with_call_before,
    with_call_twice,
    with_data,
)
from agenteval.outbound import DESTINATION_KEYS, OUTBOUND, destinations
from agenteval.trace import ToolCall, Trace

ELSEWHERE = "another-group"
MORE = "That was all for now. Tell me when you want to hear more."


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
            yield Mutant(
                what=f"the message of {name} is sent twice",
                build=partial(rebuilt, trace, with_call_twice(trace, call)),
                lines=(f"  {told(call)}", f"+ {told(call)}"),
                remedies=[
                    ("no_duplicate_outbound", {}),
                    ("max_tool_calls", {"tool": OUTBOUND, "max": count}),
                    ("scheduler_outbound_count", {"exact": count}),
                ],
                calls=(call,),
            )


class SendMore(Operator):
    """A message is followed by another of other words, to the same place."""

    name = "send-more"
    category = "scheduler"
    stands_for = "a digest that should be one message, and has a second one after it"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each send that has its text among its arguments."""
        trace = subject.trace
        count = trace.tool_counts().get(OUTBOUND, 0)
        for name, call in _sends(trace):
            texts = [
                key
                for key, value in call.args.items()
                if isinstance(value, str) and key not in DESTINATION_KEYS
            ]
            if not texts:
                continue
            yield Mutant(
                what=f"the message of {name} is followed by another",
                build=partial(_followed, trace, call, texts),
                lines=(f"  {told(call)}", f"+ {OUTBOUND} {shown(dict.fromkeys(texts, MORE))}"),
                remedies=[
                    ("scheduler_outbound_count", {"exact": count}),
                    ("max_tool_calls", {"tool": OUTBOUND, "max": count}),
                ],
                calls=(call,),
            )


def _followed(trace: Trace, call: ToolCall, texts: list[str]) -> Trace:
    """The trace in which a message is sent once more with `MORE` as its text."""
    events = block(trace, call)
    more = again(with_data(events, call.event, args={**call.args, **dict.fromkeys(texts, MORE)}))
    return rebuilt(trace, inserted(trace.events, events[-1], more))


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
    events = trace.events
    for each in call.results:
        told = each.data.get("result")
        if isinstance(told, dict) and isinstance(told.get(key), str):
            events = with_data(events, each, result={**told, key: ELSEWHERE})
    if key in call.args:
        events = with_data(events, call.event, args={**call.args, key: ELSEWHERE})
    return rebuilt(trace, events)


class SendEarly(Operator):
    """A message is sent before the work that it reports."""

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
            yield Mutant(
                what=f"the message of {name} is sent before anything else is done",
                build=partial(rebuilt, trace, with_call_before(trace, call, first.event)),
                lines=(f"+ {told(call)}", f"  {told(first)}", f"- {told(call)}"),
                remedies=[
                    in_order(
                        {"event_type": "tool_call", "tool": first.tool},
                        {"event_type": "tool_call", "tool": OUTBOUND},
                    )
                ],
                calls=(call, first),
            )
