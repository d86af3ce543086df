"""Tool and process assertions (SPEC 14): which tools were called, how often, with what.

A tool call is a `tool_call` event (see `agenteval.trace`). Tool names match exactly, or as a glob when they
hold `*`, `?` or `[`. Nothing here looks at results.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from agenteval.assertions.base import Assertion, Category, Verdict, failed, passed, vacuous
from agenteval.assertions.looks import ANY_TOOL, Looks
from agenteval.assertions.telling import called, closest_calls, ids, times, unfinished
from agenteval.patterns import name_matches
from agenteval.plurals import counted
from agenteval.selectors import ArgsMatch, Selector, calls_of, is_named
from agenteval.spec import Name, TestCase
from agenteval.strict import Between, NotEmpty, model
from agenteval.trace import Event, Trace, tool_names

Count = Annotated[int, Between(0)]


@model
class MustCallTool(Assertion):
    """A tool was called.

    Counts the `tool_call` events of `tool`; with `args`, only those whose arguments match. Passes if there
    are at least `min_calls`. Whether the calls succeeded does not matter. A failure shows the calls that came
    closest, and how each one differs.
    """

    type: ClassVar[str] = "must_call_tool"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "required tool not used"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[bool] = True
    example: ClassVar[str] = """\
tool: web_search
min_calls: 1
args:
  args_contains:
    query: AI
"""

    tool: Name
    """The tool that must be called: a name, or a glob."""
    min_calls: Annotated[int, Between(1)] = 1
    """The minimum number of calls."""
    args: ArgsMatch | None = None
    """What the arguments must be for a call to count."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        selector = Selector(event_type="tool_call", tool=self.tool, args=self.args)
        calls = selector.find(trace)
        matching = " with matching arguments" if self.args else ""
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
            **observed,
        )


@model
class MustNotCallTool(Assertion):
    """A tool was not called.

    Passes if there is no `tool_call` event of `tool`, or of any of `tools`. Failed calls count as calls.
    Vacuous if the trace has no tool calls at all and the agent did not have the tool.
    """

    type: ClassVar[str] = "must_not_call_tool"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "forbidden tool used"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    example: ClassVar[str] = "tool: outbound_send\n"

    tool: Name | None = None
    """The tool that must not be called: a name, or a glob."""
    tools: Annotated[list[Name], NotEmpty()] | None = None
    """Several such tools, instead of `tool`."""

    def __post_init__(self) -> None:
        if (self.tool is None) == (self.tools is None):
            found = "neither" if self.tool is None else "both"
            raise ValueError(f"needs exactly one of tool and tools, got {found}")

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace."""
        forbidden = self.tools or [self.tool or ""]
        named = " or ".join(forbidden)
        calls = [call.event for call in calls_of(trace, *forbidden)]
        if calls:
            return failed(
                f"expected no call of {named}, got {len(calls)}; {called(trace)}",
                events=calls,
                calls=len(calls),
                tool_counts=trace.tool_counts(),
            )
        absent = [tool for tool in forbidden if not is_available(tool, case)]
        note = f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not in tools.available"
        if not trace.calls() and len(absent) == len(forbidden):
            return vacuous(f"no tool_call events in the trace, and {note}", calls=0, not_available=absent)
        return passed(
            f"{named} was not called; {called(trace)}{f' ({note})' if absent else ''}{unfinished(trace)}",
            calls=0,
            tool_counts=trace.tool_counts(),
            not_available=absent,
        )


@model
class ToolArgsMatch(Assertion):
    """A tool was called with the right arguments.

    `match` says what the arguments must be; all matchers given in it must hold. `which` says which calls of
    `tool` have to match: `any` (at least one), `all`, the `first` or the `last`. Fails if the tool was not
    called. Keys may be dotted paths (`filters.0.name`). `args_contains` compares strings by substring,
    ignoring case, and everything else by equality.
    """

    type: ClassVar[str] = "tool_args_match"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "wrong tool arguments"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[bool] = True
    example: ClassVar[str] = """\
tool: outbound_send
which: all
match:
  required_keys: [content]
  args_equal:
    channel: group-ops
  regex:
    content: ^- .+
"""

    tool: Name
    """The tool whose calls are judged: a name, or a glob."""
    match: ArgsMatch
    """What the arguments must be."""
    which: Literal["any", "all", "first", "last"] = "any"
    """Which calls must match."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        calls = [call.event for call in calls_of(trace, self.tool)]
        if not calls:
            near = Selector(event_type="tool_call", tool=self.tool)
            return failed(
                f"expected a call of {self.tool} with matching arguments, got no call of it; {called(trace)}",
                closest=closest_calls(near, trace),
                calls=0,
                matching=[],
            )
        judged = {"first": calls[:1], "last": calls[-1:]}.get(self.which, calls)
        differing = [(event, self.match.differences_of(trace.call_at(event))) for event in judged]
        right = [event for event, found in differing if not found]
        wrong = [(event, found) for event, found in differing if found]
        observed: dict[str, Any] = {"calls": len(calls), "matching": ids(right), "which": self.which}
        if (right and self.which == "any") or not wrong:
            return passed(f"{self._got(right, calls)} as expected", events=right, **observed)
        wrong.sort(key=lambda item: (len(item[1]), item[0].seq))
        notes = [(event, "; ".join(found)) for event, found in wrong]
        nearest = notes[0]
        return failed(
            f"expected {self._expected(calls)} to match, {self._misses(wrong, judged)}; "
            f"{nearest[0].event_id}: {nearest[1]}",
            events=[event for event, _ in wrong] if self.which != "any" else (),
            closest=notes[:3],
            differences={event.event_id: found for event, found in wrong},
            **observed,
        )

    def _got(self, right: Sequence[Event], calls: Sequence[Event]) -> str:
        if self.which in ("first", "last"):
            return f"the arguments of the {self.which} call of {self.tool} ({right[0].event_id}) are"
        has = "has" if len(right) == 1 else "have"
        return f"{len(right)} of {counted(len(calls), 'call')} of {self.tool} {has} arguments"

    def _expected(self, calls: Sequence[Event]) -> str:
        if self.which in ("first", "last"):
            return f"the arguments of the {self.which} call of {self.tool}"
        if len(calls) == 1:
            return f"the arguments of the only call of {self.tool}"
        which = "any" if self.which == "any" else "each"
        return f"the arguments of {which} of {len(calls)} calls of {self.tool}"

    def _misses(self, wrong: Sequence[object], judged: Sequence[Event]) -> str:
        if len(judged) == 1:
            return "they do not"
        if self.which == "all":
            return f"{len(wrong)} of {len(judged)} {'does' if len(wrong) == 1 else 'do'} not"
        return "none does"


@model
class MaxToolCalls(Assertion):
    """A tool, or all tools together, were not called too often.

    Passes if there are at most `max` calls of `tool`, and at most `max_total` calls in total. Failed calls
    and retries count. Vacuous if there was no such call.
    """

    type: ClassVar[str] = "max_tool_calls"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "too many tool calls"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    example: ClassVar[str] = "tool: web_search\nmax: 3\n"

    tool: Name | None = None
    """The tool whose calls are counted: a name, or a glob. Requires `max`."""
    max: Count | None = None
    """The maximum number of calls of `tool`."""
    max_total: Count | None = None
    """The maximum number of calls in total."""

    def __post_init__(self) -> None:
        if self.tool is None and self.max is not None:
            raise ValueError("max needs tool: whose calls are meant? For all tools together use max_total")
        if self.tool is not None and self.max is None:
            raise ValueError("tool needs max: how many calls of it are allowed?")
        if self.max is None and self.max_total is None:
            raise ValueError("needs tool with max, or max_total")

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        every = [call.event for call in trace.calls()]
        limits = []
        if self.tool is not None and self.max is not None:
            own = [call.event for call in calls_of(trace, self.tool)]
            limits.append((self.tool, self.max, own))
        if self.max_total is not None:
            limits.append(("all tools", self.max_total, every))
        observed: dict[str, Any] = {
            "calls": {name: len(calls) for name, _, calls in limits},
            "tool_counts": trace.tool_counts(),
        }
        over = [(name, most, calls) for name, most, calls in limits if len(calls) > most]
        if over:
            too_many = [f"expected at most {counted(n, 'call')} of {who}, got {len(c)}" for who, n, c in over]
            events = max((calls for _, _, calls in over), key=len)
            return failed(f"{'; '.join(too_many)}; {called(trace)}", events=events, **observed)
        if not every:
            return vacuous("no tool_call events in the trace", **observed)
        name, most, calls = limits[-1]  # all tools together, where they are limited too
        if not calls and most:
            return vacuous(f"no call of {name} in the trace", **observed)
        within = [f"{counted(len(c), 'call')} of {who}, at most {most} allowed" for who, most, c in limits]
        return passed("; ".join(within) + unfinished(trace), events=calls, **observed)

    def looks_at(self) -> Looks:
        """The calls of the tool, or of all tools."""
        limited = {ANY_TOOL} if self.max_total is not None else {self.tool or ANY_TOOL}
        return Looks(frozenset(limited), frozenset({"tool_call"}))


def is_available(tool: str, case: TestCase) -> bool:
    """Whether the agent had the tool, or one that the glob means."""
    return any(is_named(tool, tool_names(name)) or name_matches(name, tool) for name in case.tools.available)
