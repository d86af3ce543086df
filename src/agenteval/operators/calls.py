"""Operators on tool calls: their sequence, arguments and failures, messages sent among them; and on the whole run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from agenteval.contracts.trace import Event, ToolCall, Trace, retries
from agenteval.matching.sends import DESTINATION_KEYS, OUTBOUND, destinations
from agenteval.operators.base import (
    Mutant,
    Remedy,
    Subject,
    beside,
    call_line,
    in_order,
    numbered,
    operator,
    shown,
    trajectory,
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
"""The number of tools that are called although nobody asked."""
MOST_TOLD = 5
"""The number of calls that a difference shows."""
ANSWER = {"event_type": "final_output"}


@operator(
    "drop-call", "tool_process", "the agent answers from memory, or says that it did what it did not do"
)
def drop_call(subject: Subject) -> Iterator[Mutant]:
    """A tool call is left out, with its result; or all calls of a tool. The answer stays as it is."""
    trace, counts = subject.trace, subject.trace.tool_counts()
    as_recorded = trajectory(trace, "superset")
    for name, call in numbered(trace):
        as_often = {"min_calls": counts[call.tool]} if counts[call.tool] > 1 else {}
        remedies: list[Remedy] = [("must_call_tool", {"tool": call.tool, **as_often}), as_recorded]
        events = without(trace, block(trace, call))
        yield subject.mutant(f"{name} is not made", events, (f"- {call_line(call)}",), remedies, call)
    for tool in (tool for tool, count in counts.items() if count > 1):
        calls = [call for call in trace.calls() if call.tool == tool]
        events = without(trace, [event for call in calls for event in block(trace, call)])
        lines = tuple(f"- {call_line(call)}" for call in calls[:MOST_TOLD])
        what = f"{tool} is not called at all"
        yield subject.mutant(what, events, lines, [("must_call_tool", {"tool": tool})])


@operator(
    "duplicate-call", "tool_process", "the same tool call executed repeatedly (nanocoai/nanoclaw issue 1855)"
)
def duplicate_call(subject: Subject) -> Iterator[Mutant]:
    """A tool call is made a second time, with the same arguments and the same result. Sends are left to `send-twice`."""
    trace = subject.trace
    for name, call in numbered(trace):
        if call.tool != OUTBOUND:
            remedies: list[Remedy] = [
                ("no_duplicate_tool_calls", {"tools": [call.tool]}),
                ("max_tool_calls", {"tool": call.tool, "max": trace.tool_counts()[call.tool]}),
                subject.as_recorded,
            ]
            lines = (f"  {call_line(call)}", f"+ {call_line(call)}")
            yield subject.mutant(f"{name} is made twice", with_call_twice(trace, call), lines, remedies, call)


@operator("reorder-calls", "tool_process", "the agent acts first and looks afterwards")
def reorder_calls(subject: Subject) -> Iterator[Mutant]:
    """Two consecutive calls are swapped, each with its result."""
    trace = subject.trace
    for (name, call), (later_name, later) in pairwise(numbered(trace)):
        what = f"{later_name} comes before {name}"
        events = with_call_before(trace, later, call.event)
        lines = (f"- {call_line(call)}", f"  {call_line(later)}", f"+ {call_line(call)}")
        remedies = [_called_before(call, later.tool), subject.as_recorded]
        yield subject.mutant(what, events, lines, remedies, call, later)


def _called_before(call: ToolCall, tool: str) -> Remedy:
    return in_order(*({"event_type": "tool_call", "tool": each} for each in (call.tool, tool)))


@operator("add-call", "tool_process", "a side effect that nobody asked for")
def add_call(subject: Subject) -> Iterator[Mutant]:
    """A tool that the agent has but did not need is called once, with a successful result."""
    trace = subject.trace
    used = {name for names in trace.tools for name in names}
    unused = [tool for tool in subject.case.tools.available if tool not in used and not is_glob(tool)]
    last = before_output(trace)
    for tool in unused[:MOST_ADDED] if trace.events else ():
        events = inserted(trace.events, last, new_call(last or trace.events[-1], tool))
        remedies = [("must_not_call_tool", {"tool": tool}), trajectory(trace, "subset")]
        yield subject.mutant(f"{tool} is called without need", events, (f"+ {tool} {{}}",), remedies)


_NUMBER = re.compile(r"\d{1,18}(?!\d)")
"""A number, or the end of one with more digits than Python would read."""
_EXACT = 2**53
"""Beyond it, adding 1 changes no fraction, and may make a whole number too long to be written."""
_HOUR = re.compile(r"(?<=\d{4}-\d\d-\d\d[T ])\d\d(?=:\d\d)")
_SHORT = 80
_OTHER_WORDS = ("yesterday", "Ostrava", "tax returns", "llamas")


def with_args(trace: Trace, call: ToolCall, args: dict[str, Any]) -> Trace:
    """Replace the arguments of one call, and with them the text that the call wrote to memory or sent."""
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
    """Replace the value of an argument in a text by its new value; remove it if the argument is gone."""
    for key, value in before.items():
        if isinstance(value, str) and value.strip() and after.get(key) != value and value in text:
            return text.replace(value, str(after.get(key, "")))
    return text


def is_label(call: ToolCall, key: str) -> bool:
    """Return whether an argument only describes the call to people: `description` beside a command or prompt."""
    return key == "description" and not {"command", "prompt"}.isdisjoint(call.args)


def _of_args(subject: Subject) -> Iterator[tuple[str, ToolCall, str, Any]]:
    """Yield every argument of every call, without labels, as the call's name, the call, key and value."""
    for name, call in numbered(subject.trace):
        for key, value in call.args.items():
            if not is_label(call, key):
                yield name, call, key, value


def _with(
    subject: Subject, call: ToolCall, args: dict[str, Any], what: str, lines: tuple[str, ...], match: Any
) -> Mutant:
    """Make the mutant in which a call has other arguments; the recorded ones fulfil `match`.

    The remedies ask `match` of any call of the tool and, if there are several, of the first, the last or all. None of
    these may notice a call in the middle: for that, the last remedy expects the calls as recorded.
    """
    trace = subject.trace
    base = {"tool": call.tool, "args": match}
    # A check of any call passes on the neighbour that still has the right argument.
    ways = ("all", "first", "last") if trace.tool_counts()[call.tool] > 1 else ()
    remedies: list[Remedy] = [("tool_args_match", base)]
    remedies += [("tool_args_match", {**base, "which": which}) for which in ways]
    build = partial(with_args, trace, call, args)
    return Mutant(what, build, lines, [*remedies, subject.as_recorded], (call,))


@operator(
    "change-argument",
    "tool_process",
    "the agent asks for the wrong thing, and the tool does what it was told",
)
def change_argument(subject: Subject) -> Iterator[Mutant]:
    """One argument gets another value: a number in it is raised (the hour of a moment), a boolean is flipped, a text asks for something else.

    A message's destination is left to `send-elsewhere`, a label to people (the `description` of a command) alone. What
    was sent or written to memory changes with it.
    """
    for name, call, key, value in _of_args(subject):
        other = _other(value, subject)
        if other is None or (call.tool == OUTBOUND and key in DESTINATION_KEYS):
            continue
        was, now = beside(value, other)
        match = {"args_equal": {key: value}}
        if isinstance(value, str) and len(shown(value)) > _SHORT:
            at = next((i for i, (one, two) in enumerate(zip(value, other, strict=False)) if one != two), 0)
            start = value.rfind(" ", 0, max(0, at - _SHORT // 4)) + 1
            match = {"args_contains": {key: value[start : start + _SHORT].strip()}}
        lines = (f"- {call.tool} {key}: {was}", f"+ {call.tool} {key}: {now}")
        yield _with(subject, call, {**call.args, key: other}, f"{key} of {name} is changed", lines, match)


def _other(value: Any, subject: Subject) -> Any:
    """Return another value of the same kind, or None if there is no obvious one."""
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
    # The longest word most likely carries the meaning: "the" for "a" would be no regression.
    at = max(range(len(words)), key=lambda i: (len(words[i]), -i))
    return " ".join([*words[:at], subject.random.choice(_OTHER_WORDS), *words[at + 1 :]])


@operator("drop-argument", "tool_process", "a changed tool description makes the agent forget a parameter")
def drop_argument(subject: Subject) -> Iterator[Mutant]:
    """One argument is left out of a call, but no label. What was sent or written to memory goes with it."""
    for name, call, key, value in _of_args(subject):
        rest = {each: kept for each, kept in call.args.items() if each != key}
        lines = (f"- {call.tool} {key}: {shown(value)}",)
        mutant = _with(subject, call, rest, f"{name} has no {key}", lines, {"required_keys": [key]})
        mutant.dropped = value
        yield mutant


@operator("swap-arguments", "tool_process", "a renamed parameter, filled with what belongs in another")
def swap_arguments(subject: Subject) -> Iterator[Mutant]:
    """Two text arguments of a call are swapped."""
    for name, call in numbered(subject.trace):
        texts = [key for key, value in call.args.items() if isinstance(value, str)]
        for one, two in pairwise(texts):
            first, second = call.args[one], call.args[two]
            if first != second:
                short = min((one, two), key=lambda key: len(call.args[key]))
                lines = (
                    f"- {call.tool} {one}: {shown(first, 70)}, {two}: {shown(second, 70)}",
                    f"+ {call.tool} {one}: {shown(second, 70)}, {two}: {shown(first, 70)}",
                )
                match = {"args_equal": {short: call.args[short]}}
                swapped = {**call.args, one: second, two: first}
                yield _with(subject, call, swapped, f"{one} and {two} of {name} are swapped", lines, match)


@operator("fail-result", "recovery", "a tool breaks, and the answer hides it")
def fail_result(subject: Subject) -> Iterator[Mutant]:
    """A successful result becomes an error, nothing is written to memory, and the agent goes on all the same."""
    trace = subject.trace
    for name, call in numbered(trace):
        if not call.succeeded:
            continue
        happens = without(trace, [each for each in block(trace, call) if each.type == "memory_write"])
        happened = {"event_type": "tool_result", "tool": call.tool, "success": True}
        wins = sum(each.succeeded for each in trace.calls() if each.tool == call.tool)
        remedies: list[Remedy] = [
            in_order(happened, ANSWER),
            ("claims_supported_by_fixtures", {"allowed_sources": [call.tool]}),
            in_order({**happened, "args": {"args_equal": call.args}}, ANSWER),
        ]
        if trace.scenario.trigger == "scheduler":
            count = {"tool": call.tool, "count": "successes", "exact": wins}
            remedies.append(("scheduler_outbound_count", count))
        error = {"error": "500 Internal Server Error"}
        events = with_data(happens, call.results[-1], success=False, result=error)
        lines = (f"  {call_line(call)}", "- ok", "+ failed: 500 Internal Server Error")
        yield subject.mutant(f"{name} fails, and the agent goes on", events, lines, remedies, call)


@operator("add-retry", "recovery", "the agent hammers a service that is down")
def add_retry(subject: Subject) -> Iterator[Mutant]:
    """A call that failed for good is retried once more, and fails again."""
    trace = subject.trace
    last_of = {call.tool: (name, call) for name, call in numbered(trace)}
    for name, call in last_of.values():
        if call.failed:
            count = sum(1 for each in retries(trace.calls()) if each.call.tool == call.tool)
            what = f"{name}, which failed, is tried once more"
            lines = (f"  {call_line(call)}", "  failed", f"+ {call_line(call)}", "+ failed")
            remedies: list[Remedy] = [
                ("retry_policy_respected", {"tool": call.tool, "max_retries": count}),
                ("efficiency_within", {"max_retries": trace.metrics.retry_count}),
            ]
            yield subject.mutant(what, with_call_twice(trace, call), lines, remedies, call)


@operator("claim-success", "recovery", "the agent reports success for what failed")
def claim_success(subject: Subject) -> Iterator[Mutant]:
    """After a failure without a later success, the answer claims that all went well."""
    trace = subject.trace
    last_success = {call.tool: call.event.seq for call in trace.calls() if call.succeeded}
    unmended = any(call.failed and last_success.get(call.tool, -1) < call.event.seq for call in trace.calls())
    if unmended and trace.output.strip():
        first = trace.output.strip().split("\n")[0]
        phrase = " ".join([word.strip(".,;:!?") for word in first.split()][:6])
        claimed = "All done! Everything went through successfully."
        remedies: list[Remedy] = [
            ("graceful_failure_output", {"allowed_failure_phrases": [phrase]}),
            ("output_omits", {"patterns": ["successfully", "all done"]}),
        ]
        lines = (f"- {shown(first)}", f"+ {claimed}")
        yield subject.saying("the answer claims success after a failure", claimed, lines, *remedies)


ELSEWHERE = "another-group"
MORE = "That was all for now. Tell me when you want to hear more."


def _sends(trace: Trace) -> Iterator[tuple[str, ToolCall]]:
    return ((f"the message of {name}", call) for name, call in numbered(trace) if call.tool == OUTBOUND)


def _counted(trace: Trace) -> list[Remedy]:
    """List the assertions that notice one message too many."""
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
        lines = (f"  {call_line(call)}", f"+ {call_line(call)}")
        yield subject.mutant(f"{name} is sent twice", with_call_twice(trace, call), lines, remedies, call)


@operator("send-more", "scheduler", "a digest that should be one message, and has a second one after it")
def send_more(subject: Subject) -> Iterator[Mutant]:
    """A message is followed by another of other words, to the same place."""
    trace = subject.trace
    for name, call in _sends(trace):
        args = call.args.items()
        said = {key: MORE for key, value in args if isinstance(value, str) and key not in DESTINATION_KEYS}
        if said:
            events = block(trace, call)
            more = again(with_data(events, call.event, args={**call.args, **said}))
            longer = inserted(trace.events, events[-1], more)
            lines = (f"  {call_line(call)}", f"+ {OUTBOUND} {shown(said)}")
            yield subject.mutant(f"{name} is followed by another", longer, lines, _counted(trace), call)


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
        # One place is enough: a mutant for each key of one message would be the same regression several times.
        for key, here in places[:1]:
            lines = (f"- {OUTBOUND} {key}: {shown(here)}", f"+ {OUTBOUND} {key}: {ELSEWHERE}")
            remedies: list[Remedy] = [("outbound_destinations", {"allowed": everywhere})]
            events = _redirected(trace.events, call, key)
            yield subject.mutant(f"{name} goes to {ELSEWHERE}", events, lines, remedies, call)


def _redirected(events: Sequence[Event], call: ToolCall, key: str) -> Sequence[Event]:
    """Return the events with another destination of a message, also in what the tool reports back."""
    for each in call.results:
        reported = each.data.get("result")
        if isinstance(reported, dict) and isinstance(reported.get(key), str):
            events = with_data(events, each, result={**reported, key: ELSEWHERE})
    if key in call.args:
        events = with_data(events, call.event, args={**call.args, key: ELSEWHERE})
    return events


@operator("send-early", "tool_process", "the agent writes to the group first and looks afterwards")
def send_early(subject: Subject) -> Iterator[Mutant]:
    """A message is sent before the work that it reports."""
    trace = subject.trace
    first = next((each for each in trace.calls() if each.tool != OUTBOUND), None)
    for name, call in _sends(trace):
        if first and first.event.seq < call.event.seq:
            what = f"{name} is sent before anything else is done"
            events = with_call_before(trace, call, first.event)
            lines = (f"+ {call_line(call)}", f"  {call_line(first)}", f"- {call_line(call)}")
            yield subject.mutant(what, events, lines, [_called_before(first, OUTBOUND)], call, first)


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
