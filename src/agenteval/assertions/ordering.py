"""Assertions on the order of events, and on nothing happening after success (SPEC 14).

Unlike in `process`, any event can be meant, by a selector.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

from agenteval.assertions.base import (
    ANY_TOOL,
    Assertion,
    Category,
    Looks,
    Proof,
    Verdict,
    called,
    failed,
    ids,
    listed,
    passed,
    unfinished,
    unsupported,
)
from agenteval.contracts.models import NotEmpty, OneOrMore, WrongPart, model
from agenteval.contracts.testcase import Name, TestCase
from agenteval.contracts.trace import Event, Trace
from agenteval.matching.selectors import Selector, Selectors, is_event_of
from agenteval.text.fitting import plural


@model
class ToolCallOrder(Assertion):
    """Events happened in the given order.

    With `before` and `after`, the first match of `before` precedes the first match of `after`, or, with `every`, each match.
    With `sequence`, events match the selectors in this order; others may come in between. Fails if any never happened.
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
    sequence: Annotated[list[Selector], NotEmpty(), OneOrMore()] | None = None
    """Two or more steps, instead of `before` and `after`."""
    every: bool = False
    """Whether every match of `after` needs an earlier one of `before`."""

    def __post_init__(self) -> None:
        pair = [name for name in ("before", "after") if getattr(self, name) is not None]
        if self.sequence is None and len(pair) < 2:
            got = f"only {pair[0]} is given" if pair else "none of them is given"
            raise ValueError(f"needs either sequence, or before and after; {got}")
        if self.sequence is not None and pair:
            raise ValueError(
                f"needs either sequence, or before and after; sequence and {' and '.join(pair)} are given"
            )
        if self.sequence is not None and len(self.sequence) < 2:
            raise WrongPart("a sequence needs at least two selectors", "sequence")
        if self.sequence is not None and self.every:
            raise ValueError("every goes with before and after, not with sequence")

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        named = self.sequence or [each for each in (self.before, self.after) if each is not None]
        if kinds := _unrecorded(named, trace):
            return unsupported(_FLAG, _lacking(kinds))
        if self.sequence is not None:
            return _in_sequence(self.sequence, trace)
        assert self.before is not None
        assert self.after is not None
        return _in_pair(self.before, self.after, trace, every=self.every)


_FLAG = "supports_memory_events"
MISSING_STEP = "required step missing"
"""The kind of failure where what should come before or after something did not happen."""


def _unrecorded(selectors: Iterable[Selector], trace: Trace) -> list[str]:
    """The types of event that selectors mean and the recording cannot show: memory, unless it shows some after all."""
    if trace.capabilities.supports_memory_events:
        return []
    kinds = dict.fromkeys(selector.event_type for selector in selectors)
    return [kind for kind in Selector.MEMORY_EVENTS if kind in kinds and not trace.of_type(kind)]


def _lacking(kinds: Sequence[str]) -> str:
    return f"{' and '.join(kinds)} {plural(len(kinds), 'needs', 'need')} {_FLAG}, which the recording lacks"


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
    first = firsts[0]
    early = [event for event in (seconds if every else seconds[:1]) if event.seq <= first.seq]
    if not early:
        return passed(
            f"{before} ({first.event_id}) came before {after} ({listed(seconds if every else seconds[:1])})",
            events=[first, *(seconds if every else seconds[:1])],
            proven=after.always_recorded,
            **observed,
        )
    if early[0] is first:
        return failed(
            f"expected {before} before {after}; one event, {first.event_id}, is the first match of both",
            events=[first],
            proven=before.always_recorded,
            **observed,
        )
    return failed(
        f"expected {before} before {after}, got {listed(early)} before {first.event_id}",
        events=[*early, first],
        proven=before.always_recorded,
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

    After the first match of `success_event`, nothing may match `forbid_following`, but for events of
    `allowed_following_tools` and the first successful result of the call that succeeded. Fails if `success_event` never happened.
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
    """What counts as success."""
    forbid_following: Selectors = field(default_factory=list)
    """What must not follow it; every tool call, when left out."""
    allowed_following_tools: list[Name] = field(default_factory=list)
    """Tools (names or globs) that may be used after it."""

    def __post_init__(self) -> None:
        if self.allowed_following_tools and all(map(self._is_allowed, self._forbidden)):
            raise ValueError(
                "allowed_following_tools allows everything that forbid_following forbids: nothing could ever fail"
            )

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        if kinds := _unrecorded([self.success_event], trace):
            return unsupported(_FLAG, _lacking(kinds))
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
            if event.seq > success.seq and any(selector.matches(event, trace) for selector in forbidden)
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
        kinds = _unrecorded(forbidden, trace)
        if kinds and all(selector.event_type in kinds for selector in forbidden):
            return unsupported(_FLAG, _lacking(kinds), **observed)
        verdict = passed(
            f"no {named} came after {self.success_event} ({success.event_id})"
            + (f", except {listed(following)}, which may" if following else "")
            + unfinished(trace)
            + (f"; not judged: {_lacking(kinds)}" if kinds else ""),
            events=[success],
            **observed,
        )
        verdict.missing = [_FLAG] if kinds else []
        return verdict

    def looks_at(self) -> Looks:
        """What the selectors name; the calls of all tools, when nothing says what must not follow."""
        named = Assertion.looks_at(self)
        if self.forbid_following:
            return named
        return Looks(named.tools | {ANY_TOOL}, named.event_types | {"tool_call"})

    @property
    def _forbidden(self) -> list[Selector]:
        return self.forbid_following or [Selector(event_type="tool_call")]

    def _is_allowed(self, forbidden: Selector) -> bool:
        """Whether all events a selector can match are exempt, judged by names alone."""
        if forbidden.tool is None and forbidden.event_type not in ("tool_call", "tool_result"):
            return False  # such events may belong to no tool
        return not {"*", forbidden.tool}.isdisjoint(self.allowed_following_tools)

    def _exempt(self, event: Event, own_call: Event, trace: Trace) -> bool:
        owner = trace.call_of(event)
        is_first = owner is not None and all(result.seq >= event.seq for result in owner.results)
        if owner is not None and owner.event is own_call and event.data.get("success") and is_first:
            return True
        return any(is_event_of(pattern, event, trace) for pattern in self.allowed_following_tools)
