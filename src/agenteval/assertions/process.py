"""Tool and process assertions (SPEC 14): which tools were called, how often, in which order, with what.

A tool call is a `tool_call` event (see `agenteval.trace`). Tool names match exactly, or as a glob when they
hold `*`, `?` or `[`. Nothing here looks at results, unless a selector asks for `success`.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

from agenteval.assertions.base import Assertion, Category, Verdict, failed, passed, vacuous
from agenteval.assertions.looks import ANY_TOOL, Looks
from agenteval.patterns import name_matches
from agenteval.selectors import ArgsMatch, Selector, counted, tool_of
from agenteval.spec import Name, TestCase
from agenteval.strict import Between, NotEmpty, model
from agenteval.trace import Event, Trace

Count = Annotated[int, Between(0)]


@model
class MustCallTool(Assertion):
    """A tool was called.

    Counts the `tool_call` events of `tool`, and when `args` is given only those whose arguments match. Passes
    when there are at least `min_calls`. Whether the calls succeeded does not matter. A failure shows the calls
    that came closest, each with what is different about it.
    """

    type: ClassVar[str] = "must_call_tool"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "required tool not used"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
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
    """How many calls are needed."""
    args: ArgsMatch | None = None
    """What the arguments of a call must be for it to count."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        selector = Selector(event_type="tool_call", tool=self.tool, args=self.args)
        calls = selector.find(trace)
        matching = " with matching arguments" if self.args else ""
        observed: dict[str, Any] = {"calls": len(calls), "tool_counts": trace.tool_counts()}
        if len(calls) >= self.min_calls:
            return passed(
                f"{self.tool} was called {_times(len(calls))}{matching}, expected at least {self.min_calls}",
                events=calls,
                **observed,
            )
        return failed(
            f"expected at least {counted(self.min_calls, 'call')} of {self.tool}{matching}, got {len(calls)}; "
            f"{called(trace)}",
            events=calls,
            closest=[(event, note) for event, note in selector.closest(trace) if event.type == "tool_call"],
            **observed,
        )


@model
class MustNotCallTool(Assertion):
    """A tool was not called.

    Passes when there is no `tool_call` event of `tool`, or of any of `tools`; a call that failed is a call.
    Had nothing to judge when the trace holds no tool call at all and the agent did not have the tool: then
    nothing else could have happened.
    """

    type: ClassVar[str] = "must_not_call_tool"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "forbidden tool used"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    example: ClassVar[str] = "tool: outbound_send\n"

    tool: Name | None = None
    """The tool that must not be called: a name, or a glob."""
    tools: Annotated[list[Name], NotEmpty()] | None = None
    """Several such tools, in place of `tool`."""

    def __post_init__(self) -> None:
        if (self.tool is None) == (self.tools is None):
            found = "neither" if self.tool is None else "both"
            raise ValueError(f"must_not_call_tool needs exactly one of tool and tools, got {found}")

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace."""
        forbidden = self.tools or [self.tool or ""]
        named = " or ".join(forbidden)
        calls = _calls_of(trace, forbidden)
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
            f"{named} was not called; {called(trace)}" + (f" ({note})" if absent else ""),
            calls=0,
            tool_counts=trace.tool_counts(),
            not_available=absent,
        )


@model
class ToolCallOrder(Assertion):
    """Events happened in an order.

    With `before` and `after`: the first event that matches `before` precedes the first that matches `after`.
    When either never happened the check fails and says which. `every: true` holds each match of `after` to
    it, and a failure lists all that came too early.
    With `sequence`: the selectors match in this order; other events may stand between. Name only what has to
    be in order, not everything that happens.
    """

    type: ClassVar[str] = "tool_call_order"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "wrong order of steps"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    example: ClassVar[str] = """\
before: {event_type: tool_result, tool: web_search, success: true}
after: {event_type: tool_call, tool: outbound_send}
"""

    before: Selector | None = None
    """What must come first."""
    after: Selector | None = None
    """What must come later."""
    sequence: Annotated[list[Selector], NotEmpty()] | None = None
    """More than two steps, in place of `before` and `after`."""
    every: bool = False
    """Whether each match of `after`, not only the first, needs a match of `before` earlier."""

    def __post_init__(self) -> None:
        pair = [name for name in ("before", "after") if getattr(self, name) is not None]
        if self.sequence is None and len(pair) < 2:
            got = f"only {pair[0]} is given" if pair else "none of them is given"
            raise ValueError(f"tool_call_order needs either sequence, or before and after; {got}")
        if self.sequence is not None and pair:
            raise ValueError(
                f"tool_call_order needs either sequence, or before and after; "
                f"sequence and {' and '.join(pair)} are given"
            )
        if self.sequence is not None and len(self.sequence) < 2:
            raise ValueError("a sequence needs at least two selectors")
        if self.sequence is not None and self.every:
            raise ValueError("every goes with before and after, not with sequence")

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        if self.sequence is not None:
            return _in_sequence(self.sequence, trace)
        assert self.before is not None
        assert self.after is not None
        return _in_pair(self.before, self.after, trace, every=self.every)


def _in_pair(before: Selector, after: Selector, trace: Trace, *, every: bool) -> Verdict:
    firsts, seconds = before.find(trace), after.find(trace)
    observed: dict[str, Any] = {"before": _ids(firsts), "after": _ids(seconds)}
    missing = [(n, s) for n, s, found in (("before", before, firsts), ("after", after, seconds)) if not found]
    if missing:
        return failed(
            f"expected {before} before {after}; "
            f"{' and '.join(f'nothing matches {name} ({selector})' for name, selector in missing)}; "
            f"{called(trace)}",
            events=[*firsts[:1], *seconds[:1]],
            closest=[near for _, selector in missing for near in selector.closest(trace)][:3],
            **observed,
        )
    first = firsts[0]
    early = [event for event in (seconds if every else seconds[:1]) if event.seq <= first.seq]
    if not early:
        return passed(
            f"{before} ({first.event_id}) came before {after} ({_listed(seconds if every else seconds[:1])})",
            events=[first, *(seconds if every else seconds[:1])],
            **observed,
        )
    if early[0] is first:
        return failed(
            f"expected {before} before {after}; one event, {first.event_id}, is the first match of both",
            events=[first],
            **observed,
        )
    return failed(
        f"expected {before} before {after}, got {_listed(early)} before {first.event_id}",
        events=[*early, first],
        **observed,
    )


def _in_sequence(sequence: Sequence[Selector], trace: Trace) -> Verdict:
    found: list[Event] = []
    for number, selector in enumerate(sequence, 1):
        after = found[-1].seq if found else 0
        matches = selector.find(trace)
        following = next((event for event in matches if event.seq > after), None)
        if following is None:
            place = f" after {found[-1].event_id}" if found else ""
            too_early = [(event, "matches, but too early") for event in matches[-3:]]
            return failed(
                f"expected {', then '.join(map(str, sequence))}; "
                f"step {number} ({selector}) does not happen{place}; {called(trace)}",
                events=found,
                closest=too_early or selector.closest(trace),
                found=_ids(found),
                missing_step=number,
            )
        found.append(following)
    return passed(
        f"all {len(found)} steps happened in order ({_listed(found)})", events=found, found=_ids(found)
    )


@model
class ToolArgsMatch(Assertion):
    """A tool was called with the right arguments.

    `match` says what arguments must be; all matchers given in it must hold. `which` says which calls of
    `tool` have to match: `any` (at least one), `all`, the `first` or the `last`. Fails when the tool was not
    called. Keys may be dotted paths (`filters.0.name`); `args_contains` compares strings by substring,
    ignoring case, and everything else by equality.
    """

    type: ClassVar[str] = "tool_args_match"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "wrong tool arguments"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
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
        calls = _calls_of(trace, [self.tool])
        if not calls:
            near = Selector(event_type="tool_call", tool=self.tool).closest(trace)
            return failed(
                f"expected a call of {self.tool} with matching arguments, got no call of it; {called(trace)}",
                closest=[(event, note) for event, note in near if event.type == "tool_call"],
                calls=0,
                matching=[],
            )
        judged = {"first": calls[:1], "last": calls[-1:]}.get(self.which, calls)
        differing = [(event, self.match.differences(trace.call_at(event).args)) for event in judged]
        right = [event for event, found in differing if not found]
        wrong = [(event, found) for event, found in differing if found]
        observed: dict[str, Any] = {"calls": len(calls), "matching": _ids(right), "which": self.which}
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
        which = "any of" if self.which == "any" else "each of"
        return f"the arguments of {which} {counted(len(calls), 'call')} of {self.tool}"

    def _misses(self, wrong: Sequence[object], judged: Sequence[Event]) -> str:
        if self.which == "all":
            return f"{len(wrong)} of {len(judged)} {'does' if len(wrong) == 1 else 'do'} not"
        return "none does" if self.which == "any" else "they do not"


@model
class MaxToolCalls(Assertion):
    """A tool, or all tools together, were not called too often.

    Passes when there are at most `max` calls of `tool`, and at most `max_total` calls in all. Failed calls
    and retries count. Had nothing to judge when there was no such call.
    """

    type: ClassVar[str] = "max_tool_calls"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "too many tool calls"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    example: ClassVar[str] = "tool: web_search\nmax: 3\n"

    tool: Name | None = None
    """The tool whose calls are counted: a name, or a glob. Goes with `max`."""
    max: Count | None = None
    """The most calls of `tool`."""
    max_total: Count | None = None
    """The most calls in all."""

    def __post_init__(self) -> None:
        if self.tool is None and self.max is not None:
            raise ValueError("max needs tool: whose calls are meant? For all tools together use max_total")
        if self.tool is not None and self.max is None:
            raise ValueError("tool needs max: how many calls of it are allowed?")
        if self.max is None and self.max_total is None:
            raise ValueError("max_tool_calls needs tool with max, or max_total")

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        every = [call.event for call in trace.calls()]
        limits = []
        if self.tool is not None and self.max is not None:
            limits.append((self.tool, self.max, _calls_of(trace, [self.tool])))
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
        return passed("; ".join(within), events=calls, **observed)

    def looks_at(self) -> Looks:
        """The calls of the tool, or of all tools."""
        limited = {ANY_TOOL} if self.max_total is not None else {self.tool or ANY_TOOL}
        return Looks(frozenset(limited), frozenset({"tool_call"}))


@model
class StopAfterSuccess(Assertion):
    """Once it had succeeded, the agent stopped.

    After the first match of `success_event`, nothing that matches `forbid_following` may come; without
    `forbid_following`, no tool call at all may come. Events of tools in `allowed_following_tools` are exempt
    from both, and so are the results of the very call that succeeded. Fails when `success_event` never
    happened.
    """

    type: ClassVar[str] = "stop_after_success"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "went on after success"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    example: ClassVar[str] = """\
success_event: {event_type: tool_result, tool: outbound_send, success: true}
forbid_following:
  - {event_type: tool_call, tool: web_search}
  - {event_type: tool_call, tool: outbound_send}
"""

    success_event: Selector
    """What counts as having succeeded."""
    forbid_following: list[Selector] = field(default_factory=list)
    """What must not come after it; every tool call, when left out or empty."""
    allowed_following_tools: list[Name] = field(default_factory=list)
    """Tools that may be used after it all the same: names, or globs."""

    def __post_init__(self) -> None:
        if "*" in self.allowed_following_tools and not self.forbid_following:
            raise ValueError(
                "allowed_following_tools allows every tool, and nothing else is forbidden to follow"
            )

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        successes = self.success_event.find(trace)
        if not successes:
            return failed(
                f"expected {self.success_event}, got none: there is no success to stop after; {called(trace)}",
                closest=self.success_event.closest(trace),
                success_event=None,
                following=[],
            )
        success = successes[0]
        forbidden = self.forbid_following or [Selector(event_type="tool_call")]
        own = trace.call_of(success)
        own_call = own.event if own else success
        later = [
            event
            for event in trace.events
            if event.seq > success.seq
            and any(selector.matches(event, trace) for selector in forbidden)
            and not self._exempt(event, own_call, trace)
        ]
        observed: dict[str, Any] = {"success_event": success.event_id, "following": _ids(later)}
        named = " or ".join(map(str, forbidden))
        if later:
            return failed(
                f"expected no {named} after {self.success_event} ({success.event_id}), "
                f"got {len(later)}: {_listed(later)}",
                events=[success, *later],
                **observed,
            )
        return passed(
            f"no {named} came after {self.success_event} ({success.event_id})", events=[success], **observed
        )

    def looks_at(self) -> Looks:
        """What the selectors name; the calls of all tools, when nothing says what must not follow."""
        named = Assertion.looks_at(self)
        if self.forbid_following:
            return named
        return Looks(named.tools | {ANY_TOOL}, named.event_types | {"tool_call"})

    def _exempt(self, event: Event, own_call: Event, trace: Trace) -> bool:
        owner = trace.call_of(event)
        if owner is not None and owner.event is own_call:
            return True
        tool = tool_of(event, trace)
        return bool(tool) and any(name_matches(pattern, tool) for pattern in self.allowed_following_tools)


def called(trace: Trace) -> str:
    """What the trace calls, for a message."""
    counts = trace.tool_counts()
    if not counts:
        return "the trace holds no tool call"
    return "the trace calls " + " ".join(f"{tool}×{number}" for tool, number in counts.items())  # noqa: RUF001


def _calls_of(trace: Trace, tools: Sequence[str]) -> list[Event]:
    return [call.event for call in trace.calls() if any(name_matches(tool, call.tool) for tool in tools)]


def is_available(tool: str, case: TestCase) -> bool:
    """Whether the agent had the tool, or one that the glob means."""
    return any(name_matches(tool, name) or name_matches(name, tool) for name in case.tools.available)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _ids(events: Sequence[Event]) -> list[str]:
    return [event.event_id for event in events]


def _listed(events: Sequence[Event]) -> str:
    shown = ", ".join(_ids(events[:MOST_LISTED]))
    return shown if len(events) <= MOST_LISTED else f"{shown} and {len(events) - MOST_LISTED} more"


MOST_LISTED = 5
"""Events named in a message."""
