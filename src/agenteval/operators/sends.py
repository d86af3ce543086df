"""Operators on messages that are sent, and on the run as a whole."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from agenteval.contracts.trace import ToolCall, Trace
from agenteval.matching.sends import DESTINATION_KEYS, OUTBOUND, destinations
from agenteval.operators.base import Mutant, Remedy, Subject, in_order, numbered, operator, shown, told
from agenteval.operators.traces import (
    again,
    block,
    inserted,
    rebuilt,
    with_call_before,
    with_call_twice,
    with_data,
)

ELSEWHERE = "another-group"
MORE = "That was all for now. Tell me when you want to hear more."


def _sends(trace: Trace) -> Iterator[tuple[str, ToolCall]]:
    return ((f"the message of {name}", call) for name, call in numbered(trace) if call.tool == OUTBOUND)


def _counted(trace: Trace) -> list[Remedy]:
    """What notices a message more than there were."""
    count = trace.tool_counts().get(OUTBOUND, 0)
    return [
        ("scheduler_outbound_count", {"exact": count}),
        ("max_tool_calls", {"tool": OUTBOUND, "max": count}),
    ]


@operator(
    "send-twice",
    "scheduler",
    "duplicate messages in a chat (nanocoai/nanoclaw issues 211, 529 and 2404)",
)
def send_twice(subject: Subject) -> Iterator[Mutant]:
    """A message is sent a second time to the same place."""
    trace = subject.trace
    for name, call in _sends(trace):
        remedies = [("no_duplicate_outbound", {}), *_counted(trace)]
        twice = partial(rebuilt, trace, with_call_twice(trace, call))
        yield Mutant(
            f"{name} is sent twice", twice, (f"  {told(call)}", f"+ {told(call)}"), remedies, (call,)
        )


@operator("send-more", "scheduler", "a digest that should be one message, and has a second one after it")
def send_more(subject: Subject) -> Iterator[Mutant]:
    """A message is followed by another of other words, to the same place."""
    trace = subject.trace
    for name, call in _sends(trace):
        texts = [
            key for key, value in call.args.items() if isinstance(value, str) and key not in DESTINATION_KEYS
        ]
        if texts:
            said = dict.fromkeys(texts, MORE)
            events = block(trace, call)
            more = again(with_data(events, call.event, args={**call.args, **said}))
            yield Mutant(
                f"{name} is followed by another",
                partial(rebuilt, trace, inserted(trace.events, events[-1], more)),
                (f"  {told(call)}", f"+ {OUTBOUND} {shown(said)}"),
                _counted(trace),
                (call,),
            )


@operator("send-elsewhere", "safety", "a reply leaks to another channel (nanocoai/nanoclaw issue 1902)")
def send_elsewhere(subject: Subject) -> Iterator[Mutant]:
    """A message goes to another destination."""
    trace = subject.trace
    everywhere = sorted({each for _, call in _sends(trace) for each in destinations(call)})
    for name, call in _sends(trace):
        given = [call.args, *(each.data.get("result") for each in call.results)]
        places = [
            (key, value)
            for each in given
            if isinstance(each, dict)
            for key, value in each.items()
            if key in DESTINATION_KEYS and isinstance(value, str)
        ]
        for key, here in places[:1]:
            yield Mutant(
                f"{name} goes to {ELSEWHERE}",
                partial(_redirected, trace, call, key),
                (f"- {OUTBOUND} {key}: {shown(here)}", f"+ {OUTBOUND} {key}: {ELSEWHERE}"),
                [("outbound_destinations", {"allowed": everywhere})],
                (call,),
            )


def _redirected(trace: Trace, call: ToolCall, key: str) -> Trace:
    """The trace in which a message goes elsewhere; what the tool reports back about that goes with it."""
    events = trace.events
    for each in call.results:
        reported = each.data.get("result")
        if isinstance(reported, dict) and isinstance(reported.get(key), str):
            events = with_data(events, each, result={**reported, key: ELSEWHERE})
    if key in call.args:
        events = with_data(events, call.event, args={**call.args, key: ELSEWHERE})
    return rebuilt(trace, events)


@operator("send-early", "tool_process", "the agent writes to the group first and looks afterwards")
def send_early(subject: Subject) -> Iterator[Mutant]:
    """A message is sent before the work that it reports."""
    trace = subject.trace
    first = next((each for each in trace.calls() if each.tool != OUTBOUND), None)
    for name, call in _sends(trace):
        if first and first.event.seq < call.event.seq:
            looked = {"event_type": "tool_call", "tool": first.tool}
            yield Mutant(
                f"{name} is sent before anything else is done",
                partial(rebuilt, trace, with_call_before(trace, call, first.event)),
                (f"+ {told(call)}", f"  {told(first)}", f"- {told(call)}"),
                [in_order(looked, {"event_type": "tool_call", "tool": OUTBOUND})],
                (call, first),
            )


@operator(
    "run-twice",
    "scheduler",
    "a scheduled task that fires twice (nanocoai/nanoclaw issues 211, 529 and 2404)",
)
def run_twice(subject: Subject) -> Iterator[Mutant]:
    """The whole run happens a second time: the message is received again, and everything is done again."""
    trace = subject.trace
    remedies: list[Remedy] = []
    if trace.scenario.task_id:
        remedies.append(("scheduler_task_runs", {"task_id": trace.scenario.task_id}))
    if calls := len(trace.calls()):
        remedies += [
            ("max_tool_calls", {"max_total": calls}),
            ("no_duplicate_outbound", {}),
            subject.as_recorded,
        ]
    remedies.append(("efficiency_within", {"max_turns": len(trace.of_type("final_output"))}))
    last = max((each.seq for each in trace.events), default=0)
    # the second run takes as long as the first: none of it was moved, so that it keeps its times
    second = [replace(each, seq=each.seq + last) for each in again(trace.events)]
    yield Mutant(
        "the whole run happens twice",
        partial(rebuilt, trace, [*trace.events, *second], times=2),
        (f"+ all {len(trace.events)} events again",),
        remedies,
    )
