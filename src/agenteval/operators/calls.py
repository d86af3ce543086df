"""Operators on the sequence of tool calls."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from agenteval.contracts.trace import Event, ToolCall, Trace
from agenteval.matching.sends import DESTINATION_KEYS, OUTBOUND, destinations
from agenteval.operators.base import (
    Mutant,
    Operator,
    Remedy,
    Subject,
    beside,
    in_order,
    numbered,
    shown,
    told,
)
from agenteval.operators.traces import (
    again,
    before_output,
    block,
    inserted,
    new_call,
    rebuilt,
    with_call_before,
    with_call_twice,
    with_data,
    without,
)
from agenteval.text.names import is_glob

MOST_ADDED = 2
"""Tools that are called although nobody asked."""
MOST_TOLD = 5
"""Calls that a difference shows."""


def steps(trace: Trace) -> list[dict[str, object]]:
    """The calls of a trace as `expected` of `trajectory_matches`: short texts, numbers and booleans of their arguments."""
    return [
        {"tool": call.tool, "args": plain} if (plain := _plain(call)) else {"tool": call.tool}
        for call in trace.calls()
    ]


def _plain(call: ToolCall) -> dict[str, object]:
    return {
        key: value
        for key, value in call.args.items()
        if isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= 80)
    }


def trajectory(trace: Trace, mode: str = "strict") -> Remedy:
    """A `trajectory_matches` assertion that expects the calls of a trace."""
    return "trajectory_matches", {"mode": mode, "expected": steps(trace)}


class DropCall(Operator):
    """A tool call is left out, with its result; or all calls of a tool. The answer stays as it is."""

    name = "drop-call"
    category = "tool_process"
    stands_for = "the agent answers from memory, or says that it did what it did not do"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each call, and one for each tool that is called more than once."""
        trace = subject.trace
        as_recorded = trajectory(trace, "superset")
        for name, call in numbered(trace):
            count = trace.tool_counts()[call.tool]
            yield Mutant(
                what=f"{name} is not made",
                build=partial(rebuilt, trace, without(trace, block(trace, call))),
                lines=(f"- {told(call)}",),
                remedies=[
                    ("must_call_tool", {"tool": call.tool} | ({"min_calls": count} if count > 1 else {})),
                    as_recorded,
                ],
                calls=(call,),
            )
        for tool, count in trace.tool_counts().items():
            if count > 1:
                calls = [call for call in trace.calls() if call.tool == tool]
                gone = [event for call in calls for event in block(trace, call)]
                yield Mutant(
                    what=f"{tool} is not called at all",
                    build=partial(rebuilt, trace, without(trace, gone)),
                    lines=tuple(f"- {told(call)}" for call in calls[:MOST_TOLD]),
                    remedies=[("must_call_tool", {"tool": tool})],
                )


class DuplicateCall(Operator):
    """A tool call is made a second time, with the same arguments and the same result. Sends are left to `send-twice`."""

    name = "duplicate-call"
    category = "tool_process"
    stands_for = "the same tool call executed repeatedly (nanocoai/nanoclaw issue 1855)"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each call."""
        trace = subject.trace
        as_recorded = trajectory(trace)
        for name, call in numbered(trace):
            if call.tool == OUTBOUND:
                continue
            yield Mutant(
                what=f"{name} is made twice",
                build=partial(rebuilt, trace, with_call_twice(trace, call)),
                lines=(f"  {told(call)}", f"+ {told(call)}"),
                remedies=[
                    ("no_duplicate_tool_calls", {"tools": [call.tool]}),
                    ("max_tool_calls", {"tool": call.tool, "max": trace.tool_counts()[call.tool]}),
                    as_recorded,
                ],
                calls=(call,),
            )


class ReorderCalls(Operator):
    """Two consecutive calls are swapped, each with its result."""

    name = "reorder-calls"
    category = "tool_process"
    stands_for = "the agent acts first and looks afterwards"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each pair of neighbours."""
        trace = subject.trace
        as_recorded = trajectory(trace)
        for (name, call), (later_name, later) in pairwise(numbered(trace)):
            yield Mutant(
                what=f"{later_name} comes before {name}",
                build=partial(rebuilt, trace, with_call_before(trace, later, call.event)),
                lines=(f"- {told(call)}", f"  {told(later)}", f"+ {told(call)}"),
                remedies=[
                    in_order(
                        {"event_type": "tool_call", "tool": call.tool},
                        {"event_type": "tool_call", "tool": later.tool},
                    ),
                    as_recorded,
                ],
                calls=(call, later),
            )


class AddCall(Operator):
    """A tool that the agent has but did not need is called once, with a successful result."""

    name = "add-call"
    category = "tool_process"
    stands_for = "a side effect that nobody asked for"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each of two tools of `tools.available` that the recording does not use."""
        trace = subject.trace
        used = {name for names in trace.tools for name in names}
        unused = [tool for tool in subject.case.tools.available if tool not in used and not is_glob(tool)]
        last = before_output(trace)
        for tool in unused[:MOST_ADDED] if trace.events else ():
            added = new_call(last or trace.events[-1], tool)
            yield Mutant(
                what=f"{tool} is called without need",
                build=partial(rebuilt, trace, inserted(trace.events, last, added)),
                lines=(f"+ {tool} {{}}",),
                remedies=[("must_not_call_tool", {"tool": tool}), trajectory(trace, "subset")],
            )


_NUMBER = re.compile(r"\d{1,18}(?!\d)")
"""A number, or the end of one with more digits than Python would read."""
_EXACT = 2**53
"""Beyond it, adding 1 changes no fraction, and may make a whole number too long to be written."""
_HOUR = re.compile(r"(?<=\d{4}-\d\d-\d\d[T ])\d\d(?=:\d\d)")
_SHORT = 80
_OTHER_WORDS = ("yesterday", "Ostrava", "tax returns", "llamas")


def with_args(trace: Trace, call: ToolCall, args: dict[str, Any]) -> Trace:
    """The trace with the arguments of one call replaced, and with them what was written to memory or sent by it."""
    events: list[Event] = with_data(trace.events, call.event, args=args)
    output = None
    for event in trace.events:
        sent = event.type == "final_output" and call.call_id in (event.data.get("sent_by") or ())
        if not sent and not (event.type == "memory_write" and event.parent_event_id == call.event.event_id):
            continue
        text = event.data.get("content")
        if isinstance(text, str) and (other := _retold(text, call.args, args)) != text:
            events = with_data(events, event, content=other)
            output = other if sent and text == trace.output else output
    return rebuilt(trace, events, output=output)


def _retold(text: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    """A text that holds the value of an argument, with the value that this has now; without it where it is gone."""
    for key, value in before.items():
        if isinstance(value, str) and value.strip() and after.get(key) != value and value in text:
            return text.replace(value, str(after.get(key, "")))
    return text


LABELLED = ("command", "prompt")


def is_label(call: ToolCall, key: str) -> bool:
    """Whether an argument only tells people what the call does: `description` beside a command, or a prompt."""
    return key == "description" and not set(LABELLED).isdisjoint(call.args)


def _remedies(trace: Trace, call: ToolCall, match: dict[str, Any], as_recorded: Remedy) -> list[Remedy]:
    """Assertions about the arguments of a call: of any one, and where there are several, of one by its place or of all.

    For one in the middle, which none of them may tell from its neighbours, there is what was called `as_recorded`.
    """
    base = {"tool": call.tool, "args": match}
    if trace.tool_counts()[call.tool] == 1:
        return [("tool_args_match", base), as_recorded]
    return [
        *(
            ("tool_args_match", {**base, "which": which} if which != "any" else base)
            for which in ("any", "all", "first", "last")
        ),
        as_recorded,
    ]


class ChangeArgument(Operator):
    """One argument gets another value: a number in it is raised (the hour of a moment), a boolean is flipped, a text asks for something else.

    A message's destination is left to `send-elsewhere`, a label to people (the `description` of a command) alone. What
    was sent or written to memory changes with it.
    """

    name = "change-argument"
    category = "tool_process"
    stands_for = "the agent asks for the wrong thing, and the tool does what it was told"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each argument at the top of a call."""
        trace = subject.trace
        as_recorded = trajectory(trace)
        for name, call in numbered(trace):
            for key, value in call.args.items():
                if is_label(call, key) or (call.tool == OUTBOUND and key in DESTINATION_KEYS):
                    continue
                other = _other(value, subject)
                if other is None:
                    continue
                expected = (
                    {"args_equal": {key: value}}
                    if len(shown(value)) <= _SHORT
                    else _longer(key, value, other)
                )
                was, now = beside(value, other)
                yield Mutant(
                    what=f"{key} of {name} is changed",
                    build=partial(with_args, trace, call, {**call.args, key: other}),
                    lines=(f"- {call.tool} {key}: {was}", f"+ {call.tool} {key}: {now}"),
                    remedies=_remedies(trace, call, expected, as_recorded),
                    calls=(call,),
                )


def _other(value: Any, subject: Subject) -> Any:
    """Another value of the same kind, or None for one that has no obvious other."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if abs(value) < _EXACT else -value
    if not isinstance(value, str) or not value.strip():
        return None
    if match := _HOUR.search(value):
        return f"{value[: match.start()]}{(int(match[0]) + 1) % 24:02}{value[match.end() :]}"
    if match := _NUMBER.search(value):
        return f"{value[: match.start()]}{int(match[0]) + 1}{value[match.end() :]}"
    words = value.split(" ")
    at = max(range(len(words)), key=lambda i: (len(words[i]), -i))
    other = subject.random.choice(_OTHER_WORDS)
    return " ".join([*words[:at], other, *words[at + 1 :]])


def _longer(key: str, value: Any, other: Any) -> dict[str, Any]:
    """What a long text must contain: the stretch around what was changed."""
    if not isinstance(value, str):
        return {"args_equal": {key: value}}
    at = next((i for i, (one, two) in enumerate(zip(value, str(other), strict=False)) if one != two), 0)
    start = value.rfind(" ", 0, max(0, at - _SHORT // 4)) + 1
    return {"args_contains": {key: value[start : start + _SHORT].strip()}}


class DropArgument(Operator):
    """One argument is left out of a call, but no label. What was sent or written to memory goes with it."""

    name = "drop-argument"
    category = "tool_process"
    stands_for = "a changed tool description makes the agent forget a parameter"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each argument at the top of a call."""
        trace = subject.trace
        as_recorded = trajectory(trace)
        for name, call in numbered(trace):
            for key, value in call.args.items():
                if is_label(call, key):
                    continue
                rest = {each: kept for each, kept in call.args.items() if each != key}
                yield Mutant(
                    what=f"{name} has no {key}",
                    build=partial(with_args, trace, call, rest),
                    lines=(f"- {call.tool} {key}: {shown(value)}",),
                    remedies=_remedies(trace, call, {"required_keys": [key]}, as_recorded),
                    calls=(call,),
                    dropped=value,
                )


class SwapArguments(Operator):
    """Two text arguments of a call are swapped."""

    name = "swap-arguments"
    category = "tool_process"
    stands_for = "a renamed parameter, filled with what belongs in another"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each pair of neighbouring texts that differ."""
        trace = subject.trace
        as_recorded = trajectory(trace)
        for name, call in numbered(trace):
            texts = [key for key, value in call.args.items() if isinstance(value, str)]
            for one, two in pairwise(texts):
                first, second = call.args[one], call.args[two]
                if first == second:
                    continue
                swapped = {**call.args, one: second, two: first}
                short = min((one, two), key=lambda key: len(call.args[key]))
                yield Mutant(
                    what=f"{one} and {two} of {name} are swapped",
                    build=partial(with_args, trace, call, swapped),
                    lines=(
                        f"- {call.tool} {one}: {shown(first, 70)}, {two}: {shown(second, 70)}",
                        f"+ {call.tool} {one}: {shown(second, 70)}, {two}: {shown(first, 70)}",
                    ),
                    remedies=_remedies(trace, call, {"args_equal": {short: call.args[short]}}, as_recorded),
                    calls=(call,),
                )


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


class RunTwice(Operator):
    """The whole run happens a second time: the message is received again, and everything is done again."""

    name = "run-twice"
    category = "scheduler"
    stands_for = "a scheduled task that fires twice (nanocoai/nanoclaw issues 211, 529 and 2404)"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One."""
        trace = subject.trace
        remedies: list[Remedy] = []
        if trace.scenario.task_id:
            remedies.append(("scheduler_task_runs", {"task_id": trace.scenario.task_id}))
        if trace.calls():
            remedies += [
                ("max_tool_calls", {"max_total": len(trace.calls())}),
                ("no_duplicate_outbound", {}),
                trajectory(trace),
            ]
        yield Mutant(
            what="the whole run happens twice",
            build=partial(rebuilt, trace, _twice(trace.events), times=2),
            lines=(f"+ all {len(trace.events)} events again",),
            remedies=[*remedies, ("efficiency_within", {"max_turns": len(trace.of_type("final_output"))})],
        )


def _twice(events: Sequence[Event]) -> list[Event]:
    """The events twice. The second run takes as long as the first: none of it was moved, so that it keeps its times."""
    last = max((each.seq for each in events), default=0)
    return [*events, *(replace(each, seq=each.seq + last) for each in again(events))]
