"""Operators on the sequence of tool calls."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from agenteval.mutation.base import Mutant, Operator, Remedy, Subject, in_order, numbered, told
from agenteval.mutation.traces import (
    before_output,
    block,
    inserted,
    new_call,
    rebuilt,
    with_call_before,
    with_call_twice,
    without,
)
from agenteval.outbound import OUTBOUND
from agenteval.patterns import is_glob
from agenteval.trace import ToolCall, Trace

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
