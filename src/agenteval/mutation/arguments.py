"""Operators on the arguments of tool calls."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

from agenteval.mutation.base import Mutant, Operator, Remedy, Subject, beside, numbered, shown
from agenteval.mutation.calls import trajectory
from agenteval.mutation.traces import rebuilt, with_data
from agenteval.outbound import DESTINATION_KEYS, OUTBOUND
from agenteval.trace import Event, ToolCall, Trace

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
