"""Assertions on the order of events, on calls after success, and on the whole sequence of calls (SPEC 14)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar, Literal

from agenteval.assertions.base import (
    ANY_TOOL,
    Assertion,
    Category,
    Proof,
    Scope,
    Verdict,
    called,
    failed,
    ids,
    in_order,
    listed,
    passed,
    unfinished,
    unsupported,
    vacuous,
)
from agenteval.contracts.errors import AssertionCrashError
from agenteval.contracts.json_values import show
from agenteval.contracts.models import Model, NotEmpty, NotNull, OneOrMore, WrongPart, model
from agenteval.contracts.testcase import Name, TestCase
from agenteval.contracts.trace import Event, ToolCall, Trace
from agenteval.matching.alignment import Alignment, align_in_any_order, align_in_order
from agenteval.matching.selectors import ArgsMatch, Selector, Selectors, is_event_of, is_forbidden, is_of
from agenteval.text.fitting import counted, cut
from agenteval.text.parts import is_blank


@model
class ToolCallOrder(Assertion):
    """Events happened in the given order.

    The first match of `before` precedes the first match of `after`; or events match the steps of `sequence` in order, with others in
    between. Fails if one of them never happened. With `every: before`, each match of `before` must be followed by a match of
    `after`, for example every edit by a run of the tests. This is vacuous if nothing matches `before`.
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
    """The event that must come first."""
    after: Selector | None = None
    """The event that must come later."""
    sequence: Annotated[list[Selector], NotEmpty(), OneOrMore()] | None = None
    """Two or more steps, instead of `before` and `after`."""
    every: bool | Literal["before", "after"] = False
    """`after`, or true: every match of `after` needs an earlier one of `before`. `before`: every match of it needs a later one of `after`."""

    def __post_init__(self) -> None:
        pair = [name for name in ("before", "after") if getattr(self, name) is not None]
        if len(pair) < 2 if self.sequence is None else pair:
            given = " and ".join([*(["sequence"] if self.sequence is not None else []), *pair]) or "nothing"
            raise ValueError(f"needs either sequence, or before and after; got {given}")
        if self.sequence is not None and len(self.sequence) < 2:
            raise WrongPart("a sequence needs at least two selectors", "sequence")
        if self.sequence is not None and self.every:
            raise ValueError("every goes with before and after, not with sequence")

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        named = self.sequence or [each for each in (self.before, self.after) if each is not None]
        if unseen := _unrecorded(named, trace):
            return unsupported("supports_memory_events", unseen)
        if self.sequence is not None:
            return _in_sequence(self.sequence, trace)
        assert self.before is not None
        assert self.after is not None
        if self.every == "before":
            return _followed(self.before, self.after, trace)
        return _in_pair(self.before, self.after, trace, every=bool(self.every))


MISSING_STEP = "required step missing"
"""The kind of failure if a required event did not happen at all."""


def _unrecorded(selectors: Iterable[Selector], trace: Trace) -> str:
    """Return a type of memory event that a selector asks for and the recording cannot show; "" if there is none.

    A recording without the capability may hold some memory events after all. These are judged.
    """
    if trace.capabilities.supports_memory_events:
        return ""
    kinds = {selector.event_type for selector in selectors}
    return next((kind for kind in Selector.MEMORY_EVENTS if kind in kinds and not trace.of_type(kind)), "")


def _in_pair(before: Selector, after: Selector, trace: Trace, *, every: bool) -> Verdict:
    firsts, seconds = before.find(trace), after.find(trace)
    observed: dict[str, Any] = {"before": ids(firsts), "after": ids(seconds)}
    missing = [(n, s) for n, s, found in (("before", before, firsts), ("after", after, seconds)) if not found]
    if missing:
        return failed(
            f"expected {before} before {after}; "
            f"{' and '.join(f'nothing matches {name} ({selector})' for name, selector in missing)}; "
            f"{called(trace)}",
            events=[*firsts[:1], *seconds[:1]],
            closest=[near for _, selector in missing for near in selector.closest(trace)][:3],
            proven=any(selector.always_recorded for _, selector in missing),
            category=MISSING_STEP,
            **observed,
        )
    first, judged = firsts[0], seconds if every else seconds[:1]
    early = [event for event in judged if event.seq <= first.seq]
    if not early:
        return passed(
            f"{before} ({first.event_id}) came before {after} ({listed(judged)})",
            events=[first, *judged],
            proven=after.always_recorded,
            **observed,
        )
    got = f", got {listed(early)} before {first.event_id}"
    if early[0] is first:
        got = f"; one event, {first.event_id}, is the first match of both"
    return failed(
        f"expected {before} before {after}{got}",
        events=in_order([*early, first]),
        proven=before.always_recorded,
        **observed,
    )


def _followed(before: Selector, after: Selector, trace: Trace) -> Verdict:
    firsts, seconds = before.find(trace), after.find(trace)
    observed: dict[str, Any] = {"before": ids(firsts), "after": ids(seconds)}
    if not firsts:
        return vacuous(f"nothing matches before ({before})", **observed)
    last = seconds[-1].seq if seconds else -1
    open_ones = [event for event in firsts if event.seq >= last]
    if not open_ones:
        return passed(
            f"every {before} ({listed(firsts)}) was followed by {after} ({seconds[-1].event_id})",
            events=[*firsts, seconds[-1]],
            proven=before.always_recorded,
            **observed,
        )
    since = f"the last one is {seconds[-1].event_id}" if seconds else f"nothing matches after ({after})"
    return failed(
        f"expected every {before} to be followed by {after}, got {listed(open_ones)} without one; {since}",
        events=in_order([*open_ones, *seconds[-1:]]),
        closest=[] if seconds else after.closest(trace),
        proven=after.always_recorded,
        category="" if seconds else MISSING_STEP,
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
                f"step {number} ({selector}) did not happen{place}; {called(trace)}",
                events=found,
                closest=too_early or selector.closest(trace),
                proven=selector.always_recorded and not matches,
                category="" if too_early else MISSING_STEP,
                found=ids(found),
                missing_step=number,
            )
        found.append(following)
    return passed(
        f"all {len(found)} steps happened in order ({listed(found)})",
        events=found,
        proven=True,
        found=ids(found),
    )


@model
class StopAfterSuccess(Assertion):
    """The agent stopped once it had succeeded.

    The result of the successful call itself may follow. Fails if `success_event` never happened.
    """

    type: ClassVar[str] = "stop_after_success"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "went on after success"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    example: ClassVar[str] = """\
success_event: {event_type: tool_result, tool: outbound_send, success: true}
forbid_following:
  - {event_type: tool_call, tool: web_search}
  - {event_type: tool_call, tool: outbound_send}
"""

    success_event: Selector
    """The event that counts as success."""
    forbid_following: Selectors = field(default_factory=list)
    """The events that must not follow it; by default every tool call."""
    allowed_following_tools: list[Name] = field(default_factory=list)
    """Tools (names or globs) that may still be used after it."""

    def __post_init__(self) -> None:
        if self.allowed_following_tools and all(map(self._is_allowed, self._forbidden)):
            raise ValueError(
                "allowed_following_tools allows everything that forbid_following forbids: nothing could ever fail"
            )

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        if unseen := _unrecorded([self.success_event], trace):
            return unsupported("supports_memory_events", unseen)
        successes = self.success_event.find(trace)
        if not successes:
            return failed(
                f"expected {self.success_event}, got none: there is no success to stop after; {called(trace)}",
                closest=self.success_event.closest(trace),
                proven=self.success_event.always_recorded,
                category=MISSING_STEP,
                success_event=None,
                following=[],
            )
        success = successes[0]
        forbidden = self._forbidden
        own = trace.call_of(success)
        own_call = own.event if own else success
        following = [
            event
            for event in trace.events
            if event.seq > success.seq and any(_is_meant(each, event, trace, case) for each in forbidden)
        ]
        later = [event for event in following if not self._exempt(event, own_call, trace)]
        observed: dict[str, Any] = {"success_event": success.event_id, "following": ids(later)}
        named = " or ".join(map(str, forbidden))
        if later:
            return failed(
                f"expected no {named} after {self.success_event} ({success.event_id}), "
                f"got {len(later)}: {listed(later)}",
                events=[success, *later],
                **observed,
            )
        if unseen := _unrecorded(forbidden, trace):
            return unsupported("supports_memory_events", unseen, **observed)
        beside = f", except {listed(following)}, which may" if following else ""
        return passed(
            f"no {named} came after {self.success_event} ({success.event_id}){beside}{unfinished(trace)}",
            events=[success],
            **observed,
        )

    def looks_at(self) -> Scope:
        """Return what the selectors name; all tool calls, if the test does not name what must not follow."""
        named = Assertion.looks_at(self)
        if self.forbid_following:
            return named
        return Scope(named.tools | {ANY_TOOL}, named.event_types | {"tool_call"})

    @property
    def _forbidden(self) -> list[Selector]:
        return self.forbid_following or [Selector(event_type="tool_call")]

    def _is_allowed(self, forbidden: Selector) -> bool:
        """Return whether all events that a selector can match are exempt, judged by names alone."""
        if forbidden.tool is None and forbidden.event_type not in ("tool_call", "tool_result"):
            return False  # such events may belong to no tool
        return not {"*", forbidden.tool}.isdisjoint(self.allowed_following_tools)

    def _exempt(self, event: Event, own_call: Event, trace: Trace) -> bool:
        """Return whether an event may follow: the first successful result of the call that succeeded, or an allowed tool."""
        owner = trace.call_of(event)
        is_first = owner is not None and all(result.seq >= event.seq for result in owner.results)
        if owner is not None and owner.event is own_call and event.data.get("success") and is_first:
            return True
        return any(is_event_of(pattern, event, trace) for pattern in self.allowed_following_tools)


def _is_meant(selector: Selector, event: Event, trace: Trace, case: TestCase) -> bool:
    """Return whether a forbidden selector matches an event, also under another spelling of the tool."""
    if selector.matches(event, trace):
        return True
    call = trace.call_of(event)
    if selector.tool is None or call is None or not is_forbidden([selector.tool], call, case.tools.available):
        return False
    return replace(selector, tool=call.tool).matches(event, trace)


MOST_PAIRS = 200_000
"""The most pairs of an expected and a real call that are compared: 20 expected calls and 10,000 real ones, for example."""
MATCHERS = ("required_keys", "args_contains", "args_equal", "args_time")


@model
class ExpectedCall(Model):
    """One expected call."""

    tool: Name
    """A name or glob."""
    args: Annotated[dict[str, Any] | None, NotNull()] = None
    """Arguments, as in `args_contains`; a blank text by equality. `{}`: there are none."""

    def __post_init__(self) -> None:
        if slip := next((key for key in MATCHERS if self.args and key in self.args), None):
            message = f"args holds the arguments themselves, compared as args_contains does; leave out {slip}"
            raise WrongPart(message, "args", slip)

    def __str__(self) -> str:
        if self.args == {}:
            return f"{self.tool} without arguments"
        return f"{self.tool} with {cut(show(self.args))}" if self.args else self.tool

    def differences(self, call: ToolCall) -> Sequence[str]:
        """List the differences between the arguments of a call and the expected ones."""
        if self.args is None:
            return []
        # Every text contains a blank one, so blank arguments are compared by equality.
        blank = {key: value for key, value in self.args.items() if isinstance(value, str) and is_blank(value)}
        rest = {key: value for key, value in self.args.items() if key not in blank}
        match = ArgsMatch(args_contains=rest, args_equal=blank or (None if rest else {}))
        return match.differences_of(call)


Mode = Literal["strict", "in_order", "unordered", "subset", "superset"]
NOT_ALLOWED: dict[Mode, tuple[str, ...]] = {
    "strict": ("missing", "unexpected", "out of order"),
    "in_order": ("missing", "out of order"),
    "unordered": ("missing", "unexpected"),
    "subset": ("unexpected",),
    "superset": ("missing",),
}
"""The kinds of difference that fail, by mode."""


@model
class TrajectoryMatches(Assertion):
    """The tool calls are the expected ones.

    Each expected call is matched with at most one call, so that as many as possible match. `mode` decides what passes:
    `strict`: the same calls in the same order.
    `in_order`: the expected calls in this order, and any others.
    `unordered`: the same calls in any order.
    `subset`: no calls beyond the expected ones, which need not all happen.
    `superset`: every expected call, in any order, and any others.

    Failed calls and retries are calls.
    """

    type: ClassVar[str] = "trajectory_matches"
    category: ClassVar[Category] = "tool_process"
    failure_category: ClassVar[str] = "wrong course of tool calls"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    example: ClassVar[str] = """\
mode: in_order
expected:
  - tool: web_search
    args: {query: AI}
  - tool: web_fetch
  - tool: outbound_send
    args: {channel: group-ops}
"""

    expected: list[ExpectedCall]
    """The expected calls."""
    mode: Mode = "strict"
    """The kind of comparison."""

    def __post_init__(self) -> None:
        if not self.expected and self.mode != "subset":
            raise ValueError(
                f"expected is empty, and mode is {self.mode}: name the calls, or use mode: subset for no call at all"
            )

    def looks_at(self) -> Scope:
        """Return the expected tools; all tools, if no other call is allowed."""
        looks = Assertion.looks_at(self)
        return Scope(looks.tools | {ANY_TOOL}, looks.event_types) if self._is_closed else looks

    @property
    def _is_closed(self) -> bool:
        """True if no call may happen beyond the expected ones."""
        return "unexpected" in NOT_ALLOWED[self.mode]

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        calls = trace.calls()
        if self.mode == "subset" and not calls and (self.expected or not case.tools.available):
            return vacuous("no tool_call events in the trace", mode=self.mode, calls=0)
        rows = _rows(self.expected, calls)
        ordered = self.mode in ("strict", "in_order")
        found = (align_in_order if ordered else align_in_any_order)(rows, len(calls))
        near = self._near(found, calls)
        counts = {
            "missing": len(found.missing),
            "unexpected": len(found.unexpected),
            "out of order": len(found.out_of_order),
        }
        wrong = {label: counts[label] for label in NOT_ALLOWED[self.mode] if counts[label]}
        observed = {"mode": self.mode, "calls": len(calls), **self._observed(found, calls, near)}
        if not wrong:
            matched = [calls[at].event for _, at in found.matched]
            message = f"{_got(found, calls)}, {self._wanted()}"
            return passed(message, events=matched, proven=not self._is_closed, **observed)
        events = [calls[at] for _, at in found.out_of_order if "out of order" in wrong]
        events += [calls[at] for at in found.unexpected if "unexpected" in wrong]
        head = f"{self._wanted()}, got {counted(len(calls), 'call')}: {len(found.matched)} matched, "
        head += ", ".join(f"{wrong[label]} {label}" for label in counts if label in wrong)
        return failed(
            "\n  ".join([head, *self._lines(found, calls, near)]),
            events=in_order(call.event for call in events),
            closest=[(calls[at].event, note) for at, note in near.values()],
            proven=self._is_closed and bool(found.unexpected or found.out_of_order),
            **observed,
        )

    def _near(self, found: Alignment, calls: Sequence[ToolCall]) -> dict[int, tuple[int, str]]:
        """Find for each missing call the closest unexpected one of its tool, with the difference."""
        near: dict[int, tuple[int, str]] = {}
        left = [*found.unexpected]
        for step in found.missing[:MOST_NEAR]:
            wanted = self.expected[step]
            candidates = [at for at in left if is_of(wanted.tool, calls[at])][:MOST_NEAR]
            if compared := [(at, wanted.differences(calls[at])) for at in candidates]:
                at, differences = min(compared, key=lambda item: len(item[1]))
                left.remove(at)
                near[step] = at, "; ".join(differences)
        return near

    def _observed(
        self, found: Alignment, calls: Sequence[ToolCall], near: dict[int, tuple[int, str]]
    ) -> dict[str, Any]:
        missing: list[dict[str, Any]] = []
        for step in found.missing:
            wanted = self.expected[step]
            missing.append({"step": step + 1, "tool": wanted.tool, "args": wanted.args or {}})
            if step in near:
                at, note = near[step]
                missing[-1] |= {"closest": calls[at].event.event_id, "difference": note}
        placed = [{"event_id": call.event.event_id, "tool": call.tool} for call in calls]
        return {
            "matched": [{"step": step + 1, **placed[at]} for step, at in found.matched],
            "missing": missing,
            "unexpected": [{**placed[at], "args": calls[at].args} for at in found.unexpected],
            "out_of_order": [{"step": step + 1, **placed[at]} for step, at in found.out_of_order],
        }

    def _lines(
        self, found: Alignment, calls: Sequence[ToolCall], near: dict[int, tuple[int, str]]
    ) -> Iterator[str]:
        """Yield one line for each call that differs: expected calls in order, then the others as they happened."""
        early = dict(found.out_of_order)
        for step in sorted([*early, *found.missing]):
            wanted = self.expected[step]
            if step in early:
                yield f"out of order: {_named(calls[early[step]])}, expected as step {step + 1}: {wanted}"
                continue
            label = "not called" if self.mode == "subset" else "missing"
            closest = (
                f"; closest is {calls[near[step][0]].event.event_id}: {near[step][1]}" if step in near else ""
            )
            yield f"{label}: {wanted}, expected as step {step + 1}{closest}"
        label = "unexpected" if self._is_closed else "other"
        for at in found.unexpected:
            args = f" {cut(show(calls[at].args))}" if calls[at].args else ""
            yield f"{label}: {_named(calls[at])}{args}"

    def _wanted(self) -> str:
        number = counted(len(self.expected), "call")
        if not self.expected:
            return "expected no tool call"
        if self.mode == "subset":
            return f"expected no call beyond {number}"
        exactly = "exactly " if self.mode in ("strict", "unordered") else ""
        order = "in order" if self.mode in ("strict", "in_order") else "in any order"
        return f"expected {exactly}{number}{f' {order}' * (len(self.expected) > 1)}"


def _got(found: Alignment, calls: Sequence[ToolCall]) -> str:
    if not calls:
        return "no call"
    beside = f" and {counted(len(found.unexpected), 'other')}" if found.unexpected else ""
    return f"{len(found.matched)} of {counted(len(calls), 'call')} matched{beside}"


def _named(call: ToolCall) -> str:
    return f"{call.tool} ({call.event.event_id})"


def _rows(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> list[int]:
    """Return for each expected call the real calls that it matches, as bits."""
    if len(expected) * len(calls) > MOST_PAIRS:
        raise AssertionCrashError(
            f"{len(expected)} expected calls and {len(calls)} calls of the trace are more than can be compared: "
            f"{MOST_PAIRS} pairs at most",
            reason_code="trajectory.too_long",
            next_step="expect fewer calls, or split the recording",
        )
    return [
        sum(1 << at for at, call in enumerate(calls) if is_of(each.tool, call) and not each.differences(call))
        for each in expected
    ]


MOST_NEAR = 50
"""The most missing calls for which the closest call is searched, and the most candidates for each."""
