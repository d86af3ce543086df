"""Tool and process assertions (SPEC 14): the tools that were called, how often, and with which arguments.

A tool call is a `tool_call` event (see `agenteval.contracts.trace`). Tool names match exactly, or as a glob if they
hold `*`, `?` or `[`. Results are judged only where `result` is given.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

from agenteval.assertions.base import (
    ANY_TOOL,
    Assertion,
    Category,
    Proof,
    Scope,
    Verdict,
    called,
    closest_calls,
    failed,
    first_of,
    ids,
    in_order,
    listed,
    passed,
    times,
    unfinished,
    vacuous,
)
from agenteval.contracts.json_values import args_key
from agenteval.contracts.models import Between, NotEmpty, NotNull, model
from agenteval.contracts.testcase import Name, TestCase
from agenteval.contracts.trace import Event, ToolCall, Trace, tool_names
from agenteval.matching.selectors import (
    ArgsMatch,
    Note,
    ResultMatch,
    Selector,
    calls_of,
    is_any_of,
    is_forbidden,
    is_named,
)
from agenteval.text.fitting import counted, plural
from agenteval.text.names import name_matches

Count = Annotated[int, Between(0)]

NOT_USED = "required tool not used"
TOO_FEW = "too few tool calls"
WRONG_ARGUMENTS = "wrong tool arguments"
WRONG_RESULT = "wrong tool result"


@model
class MustCallTool(Assertion):
    """A tool was called.

    Passes if at least `min_calls` calls of `tool` have the given `args` and `result`. Failed calls count.
    """

    type: ClassVar[str] = "must_call_tool"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = NOT_USED
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("pass",)
    example: ClassVar[str] = """\
tool: web_search
args:
  args_contains:
    query: AI
"""

    tool: Name
    """A name or glob."""
    min_calls: Annotated[int, Between(1)] = 1
    """The fewest calls."""
    args: Annotated[ArgsMatch | None, NotNull()] = None
    """The required arguments."""
    result: ResultMatch | None = None
    """The required result."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        selector = Selector(event_type="tool_call", tool=self.tool, args=self.args, result=self.result)
        calls = selector.find(trace)
        matching = f" with {_matching(self.args, self.result)}" if self.args or self.result else ""
        observed: dict[str, Any] = {"calls": len(calls), "tool_counts": trace.tool_counts()}
        if len(calls) >= self.min_calls:
            return passed(
                f"{self.tool} was called {times(len(calls))}{matching}, expected at least {self.min_calls}",
                events=calls,
                **observed,
            )
        return failed(
            f"expected at least {counted(self.min_calls, 'call')} of {self.tool}{matching}, got {len(calls)}; "
            f"{called(trace)}",
            events=calls,
            closest=closest_calls(selector, trace),
            category=self._kind(trace),
            **observed,
        )

    def _kind(self, trace: Trace) -> str:
        """Return the kind of failure: no call, too few calls, wrong arguments, or a wrong result."""
        calls = calls_of(trace, self.tool)
        if len(calls) < self.min_calls:
            return TOO_FEW if calls else NOT_USED
        right = [call for call in calls if self.args is None or not self.args.differences_of(call)]
        return WRONG_ARGUMENTS if len(right) < self.min_calls else WRONG_RESULT


def _matching(args: ArgsMatch | None, result: ResultMatch | None) -> str:
    """Name what must match, for a message: `matching arguments and result`."""
    return "matching " + " and ".join(
        word for word, match in (("arguments", args), ("result", result)) if match
    )


@model
class MustNotCallTool(Assertion):
    """A tool was not called.

    Failed calls count. So do calls under another spelling of the name: `deleteAll` or `functions.delete_all` for `delete_all`.
    Vacuous if the trace has no tool calls at all and the agent did not have the tool.
    """

    type: ClassVar[str] = "must_not_call_tool"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "forbidden tool used"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    example: ClassVar[str] = "tool: outbound_send\n"

    tool: Name | None = None
    """A name or glob."""
    tools: Annotated[list[Name], NotEmpty()] | None = None
    """Several names or globs, instead of `tool`."""
    args: Annotated[ArgsMatch | None, NotNull()] = None
    """The arguments that make a call forbidden; by default any."""

    def __post_init__(self) -> None:
        if (self.tool is None) == (self.tools is None):
            found = "neither" if self.tool is None else "both"
            raise ValueError(f"needs exactly one of tool and tools, got {found}")

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        forbidden = self.tools or [self.tool or ""]
        named = " or ".join(forbidden)
        every = [call for call in trace.calls() if is_forbidden(forbidden, call, case.tools.available)]
        calls = [call.event for call in every if self.args is None or not self.args.differences_of(call)]
        matching = " with matching arguments" if self.args else ""
        if calls:
            return failed(
                f"expected no call of {named}{matching}, got {len(calls)}; {called(trace)}",
                events=calls,
                calls=len(calls),
                tool_counts=trace.tool_counts(),
            )
        absent = [tool for tool in forbidden if not is_available(tool, case)]
        note = f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not in tools.available"
        if not trace.calls() and len(absent) == len(forbidden):
            return vacuous(f"no tool_call events in the trace, and {note}", calls=0, not_available=absent)
        return passed(
            f"{named} was not called{matching}; {called(trace)}{f' ({note})' if absent else ''}{unfinished(trace)}",
            events=[call.event for call in every],
            calls=0,
            tool_counts=trace.tool_counts(),
            not_available=absent,
        )


@model
class ToolArgsMatch(Assertion):
    """A tool was called with the right arguments, or returned the right result.

    Fails if the tool was not called.
    """

    type: ClassVar[str] = "tool_args_match"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = WRONG_ARGUMENTS
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    example: ClassVar[str] = """\
tool: outbound_send
which: all
args:
  required_keys: [content]
  args_equal:
    channel: group-ops
  regex:
    content: ^- .+
"""

    tool: Name
    """A name or glob."""
    args: Annotated[ArgsMatch | None, NotNull()] = None
    """The required arguments."""
    match: ArgsMatch | None = None
    """Another name for `args`."""
    result: ResultMatch | None = None
    """The required result."""
    which: Literal["any", "all", "first", "last"] = "any"
    """The calls that must match; for `any`, one call is enough."""

    def __post_init__(self) -> None:
        if self.args and self.match:
            raise ValueError("args and match are the same: give one of them")
        self.args, self.match = self.args or self.match, None
        if not self.args and not self.result:
            raise ValueError("nothing to match: give args, result or both")

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        calls = [call.event for call in calls_of(trace, self.tool)]
        if not calls:
            return failed(
                f"expected a call of {self.tool} with {self._what}, got no call of it; {called(trace)}",
                closest=closest_calls(Selector(event_type="tool_call", tool=self.tool), trace),
                category=NOT_USED,
                calls=0,
                matching=[],
            )
        judged = {"first": calls[:1], "last": calls[-1:]}.get(self.which, calls)
        differing = [(event, self._differences(trace.call_at(event))) for event in judged]
        right = [event for event, found in differing if not found]
        wrong = [(event, found) for event, found in differing if found]
        observed: dict[str, Any] = {"calls": len(calls), "matching": ids(right), "which": self.which}
        if (right and self.which == "any") or not wrong:
            message = f"{len(right)} of {counted(len(judged), 'call')} of {self.tool} had {self._what}"
            if self.which in ("first", "last"):
                message = f"the {self.which} call of {self.tool} ({right[0].event_id}) had {self._what}"
            return passed(message, events=right, proven=self.which == "any", **observed)
        wrong.sort(key=lambda item: (len(item[1]), item[0].seq))
        notes = [(event, Note(found)) for event, found in wrong]
        nearest, note = notes[0]
        differ = f"{len(wrong)} of {counted(len(judged), 'call')} {plural(len(wrong), 'differs', 'differ')}"
        differ = differ if len(judged) > 1 else "it differs"
        return failed(
            f"expected {_WHICH[self.which]} of {self.tool} with {self._what}, {differ}; {nearest.event_id}: {note}",
            events=[event for event, _ in wrong] if self.which != "any" else (),
            closest=notes[:3],
            proven=self.which == "all",
            category="" if self.args and self.args.differences_of(trace.call_at(nearest)) else WRONG_RESULT,
            differences={event.event_id: list(map(str, found)) for event, found in wrong},
            **observed,
        )

    @property
    def _what(self) -> str:
        return _matching(self.args, self.result)

    def _differences(self, call: ToolCall) -> list[str]:
        return [each for match in (self.args, self.result) if match for each in match.differences_of(call)]


_WHICH = {"any": "a call", "all": "every call", "first": "the first call", "last": "the last call"}


@model
class MaxToolCalls(Assertion):
    """A tool, or all tools together, were not called too often.

    Failed calls and retries count. Vacuous if there was no call that a limit applies to.
    """

    type: ClassVar[str] = "max_tool_calls"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "too many tool calls"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    example: ClassVar[str] = "tool: web_search\nmax: 3\n"

    tool: Name | None = None
    """A name or glob. Requires `max`."""
    max: Count | None = None
    """The most calls of `tool`."""
    max_total: Count | None = None
    """The most calls in total."""

    def __post_init__(self) -> None:
        if (self.tool is None) != (self.max is None) or (self.max is None and self.max_total is None):
            raise ValueError("needs tool with max, or max_total for all tools together")

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        limits = [*self._limits(trace, case)]
        observed: dict[str, Any] = {
            "calls": {name: len(calls) for name, _, calls in limits},
            "tool_counts": trace.tool_counts(),
        }
        over = [(name, most, calls) for name, most, calls in limits if len(calls) > most]
        if over:
            too_many = [f"expected at most {counted(n, 'call')} of {who}, got {len(c)}" for who, n, c in over]
            events = max((calls for _, _, calls in over), key=len)
            return failed(f"{'; '.join(too_many)}; {called(trace)}", events=events, **observed)
        if not trace.calls():
            return vacuous("no tool_call events in the trace", **observed)
        name, most, calls = limits[-1]  # all tools together, where they are limited too
        if not calls and most:
            return vacuous(f"no call of {name} in the trace", **observed)
        within = [f"{counted(len(c), 'call')} of {who}, at most {most} allowed" for who, most, c in limits]
        return passed("; ".join(within) + unfinished(trace), events=calls, **observed)

    def _limits(self, trace: Trace, case: TestCase) -> Iterator[tuple[str, int, list[Event]]]:
        """Yield the limits: a name for messages, the most calls, and the calls that count. All tools together come last."""
        if self.tool is not None and self.max is not None:
            tools = case.tools.available
            own = [call.event for call in trace.calls() if is_forbidden([self.tool], call, tools)]
            yield self.tool, self.max, own
        if self.max_total is not None:
            yield "all tools", self.max_total, [call.event for call in trace.calls()]

    def looks_at(self) -> Scope:
        """Return the calls of the tool, or of all tools."""
        limited = {ANY_TOOL} if self.max_total is not None else {self.tool or ANY_TOOL}
        return Scope(frozenset(limited), frozenset({"tool_call"}))


def is_available(tool: str, case: TestCase) -> bool:
    """Return whether the agent had the tool, or one that the glob matches."""
    return any(is_named(tool, tool_names(name)) or name_matches(name, tool) for name in case.tools.available)


@model
class NoDuplicateToolCalls(Assertion):
    """No tool call is repeated.

    Two calls are the same if tool and arguments are equal. With `allow_after_error`, a call may be repeated if every identical call
    before it had failed. Parallel calls are no retries of each other. Vacuous if there was no call of the tools.
    """

    type: ClassVar[str] = "no_duplicate_tool_calls"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "repeated tool call"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    example: ClassVar[str] = """\
ignore_tools: [get_time]
ignore_args: [request_id]
"""

    tools: Annotated[list[Name], NotEmpty()] | None = None
    """Tools (names or globs) that are judged; by default all."""
    ignore_tools: list[Name] = field(default_factory=list)
    """Tools (names or globs) that may be called repeatedly."""
    ignore_args: list[Name] = field(default_factory=list)
    """Keys or dotted paths of arguments that are not compared."""
    allow_after_error: bool = True
    """True if a failed call may be repeated."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        judged = [call for call in trace.calls() if self._judges(call)]
        if not judged:
            return vacuous(f"no call{self._named()} in the trace", calls=0)
        same: dict[tuple[str, str], list[ToolCall]] = {}
        repeats: dict[tuple[str, str], list[Event]] = {}
        retried = 0
        for call in judged:
            key = self._key(call)
            earlier = same.setdefault(key, [])
            if earlier and self.allow_after_error and _all_failed(earlier, call):
                retried += 1
            elif earlier:
                repeats.setdefault(key, []).append(call.event)
            earlier.append(call)
        again = [(same[key], events) for key, events in repeats.items()]
        observed: dict[str, Any] = {
            "calls": len(judged),
            "distinct_calls": len(same),
            "repeats_after_error": retried,
            "repeated": [
                {
                    "tool": first.tool,
                    "args": first.args,
                    "first": first.event.event_id,
                    "repeats": ids(events),
                }
                for (first, *_), events in again
            ],
        }
        if not again:
            after_error = f", {counted(retried, 'repeat')} after an error" if retried else ""
            return passed(
                f"{counted(len(judged), 'call')}{self._named()}, {'each ' * (len(judged) > 1)}made once{after_error}",
                events=[call.event for call in judged],
                **observed,
            )
        repetitions = [
            f"{first.tool} again ({listed(events)}) with the arguments of {first.event.event_id}"
            for (first, *_), events in again
        ]
        return failed(
            f"expected each call{self._named()} once, got {first_of(repetitions)}",
            events=in_order(call.event for calls, _ in again for call in calls),
            **observed,
        )

    def _key(self, call: ToolCall) -> tuple[str, str]:
        """Return the key that equal calls share. A call without recorded arguments cannot be compared, so it equals none."""
        # The arguments are read in any case: that notes what is missing, and the check is skipped for it.
        args = args_key(call.args, self.ignore_args)
        return call.tool, args if call.shows_arguments else call.event.event_id

    def _judges(self, call: ToolCall) -> bool:
        is_meant = self.tools is None or is_any_of(self.tools, call)
        return is_meant and not is_any_of(self.ignore_tools, call)

    def _named(self) -> str:
        """Name the tools that are judged, for a message; "" for all."""
        if self.tools is None and not self.ignore_tools:
            return ""
        tools = " or ".join(self.tools) if self.tools else "any tool"
        return f" of {tools} but {' and '.join(self.ignore_tools)}" if self.ignore_tools else f" of {tools}"


def _all_failed(earlier: Sequence[ToolCall], call: ToolCall) -> bool:
    """Return whether each of the earlier calls had failed when the call was made."""
    return all(any(failure.seq < call.event.seq for failure in each.failures()) for each in earlier)
