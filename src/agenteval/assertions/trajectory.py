"""The whole course of tool calls, compared with the one that is expected."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from agenteval.assertions.base import ANY_TOOL, Assertion, Category, Looks, Verdict, failed, passed, vacuous
from agenteval.contracts.errors import AssertionCrashError
from agenteval.contracts.json_values import MISSING, equal, lookup, show
from agenteval.contracts.models import Model, WrongPart, model
from agenteval.contracts.testcase import Name, TestCase
from agenteval.contracts.trace import Event, ToolCall, Trace
from agenteval.matching.alignment import Alignment, align_in_any_order, align_in_order
from agenteval.matching.selectors import ArgsMatch, is_of
from agenteval.text.fitting import counted, cut
from agenteval.text.names import name_matches
from agenteval.text.parts import fold, holds

MOST_PAIRS = 10_000_000
"""The most pairs of an expected and a real call that are compared: some 3,000 by 3,000."""
LONGEST_RUN = 3
"""Matched calls that follow each other and are listed one by one; more of them share a line."""
MATCHERS = ("required_keys", "args_contains", "args_equal", "args_time")


@model
class ExpectedCall(Model):
    """One expected call."""

    tool: Name
    """The tool: a name, or a glob."""
    args: dict[str, Any] = field(default_factory=dict)
    """Arguments of the call, as in `args_contains`: strings by substring, everything else by equality."""

    def __post_init__(self) -> None:
        if slip := next((key for key in MATCHERS if key in self.args), None):
            message = f"args holds the arguments themselves, compared as args_contains does; leave out {slip}"
            raise WrongPart(message, "args", slip)

    def __str__(self) -> str:
        return f"{self.tool} with {cut(show(self.args))}" if self.args else self.tool

    def differences(self, call: ToolCall) -> list[str]:
        """What keeps the arguments of a call of the tool from being the expected ones."""
        return ArgsMatch(args_contains=self.args).differences_of(call)


Mode = Literal["strict", "in_order", "unordered", "subset", "superset"]
NOT_ALLOWED: dict[Mode, tuple[str, ...]] = {
    "strict": ("missing", "unexpected", "out of order"),
    "in_order": ("missing", "out of order"),
    "unordered": ("missing", "unexpected"),
    "subset": ("unexpected",),
    "superset": ("missing",),
}
"""What makes the comparison fail, by mode."""


@model
class TrajectoryMatches(Assertion):
    """The tool calls are the expected ones.

    Each expected call is matched with at most one call, so that as many as possible match. What passes depends on `mode`:
    `strict`: the same calls in the same order, and no others.
    `in_order`: the expected calls in this order; others may come in between.
    `unordered`: the same calls in any order, and no others.
    `subset`: no calls beyond the expected ones, which need not all happen; with an empty list, no call at all.
    `superset`: every expected call, in any order; others may happen.

    A failure shows the alignment, and the closest call for each that is missing. Failed calls and retries are calls.
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
    """What passes."""

    def __post_init__(self) -> None:
        if not self.expected and self.mode != "subset":
            raise ValueError(
                f"expected is empty, and mode is {self.mode}: name the calls, or use mode: subset for no call at all"
            )

    def looks_at(self) -> Looks:
        """Where no other call is allowed, every tool is looked at."""
        looks = Assertion.looks_at(self)
        return Looks(looks.tools | {ANY_TOOL}, looks.event_types) if self._is_closed else looks

    @property
    def _is_closed(self) -> bool:
        """Whether no call may happen beyond the expected ones."""
        return "unexpected" in NOT_ALLOWED[self.mode]

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace. Raises `AssertionCrashError` (`trajectory.too_long`) over the limit of pairs."""
        calls = trace.calls()
        if self.mode == "subset" and not calls and (self.expected or not case.tools.available):
            return vacuous("no tool_call events in the trace", mode=self.mode, calls=0)
        rows = _rows(self.expected, calls)
        ordered = self.mode in ("strict", "in_order")
        alignment = (align_in_order if ordered else align_in_any_order)(rows, len(calls))
        comparison = _Comparison(self, calls, alignment)
        wrong = {
            label: number for label, number in comparison.counts().items() if label in NOT_ALLOWED[self.mode]
        }
        observed = {"mode": self.mode, "calls": len(calls), **comparison.observed()}
        if not any(wrong.values()):
            matched = [calls[at].event for _, at in alignment.matched]
            told = f"{self._got(alignment, calls)}, {self._wanted()}"
            return passed(told, events=matched, proven=not self._is_closed, **observed)
        told = ", ".join(f"{number} {label}" for label, number in wrong.items() if number)
        head = (
            f"{self._wanted()}, got {counted(len(calls), 'call')}: {len(alignment.matched)} matched, {told}"
        )
        return failed(
            "\n".join([head, *(f"  {line}" for line in comparison.lines())]),
            events=comparison.events(),
            closest=comparison.closest(),
            proven=self._is_closed and bool(alignment.unexpected or alignment.out_of_order),
            **observed,
        )

    def _wanted(self) -> str:
        number = counted(len(self.expected), "call")
        if not self.expected:
            return "expected no tool call"
        if self.mode == "subset":
            return f"expected no call beyond {number}"
        exactly = "exactly " if self.mode in ("strict", "unordered") else ""
        order = "in order" if self.mode in ("strict", "in_order") else "in any order"
        return f"expected {exactly}{number}{f' {order}' * (len(self.expected) > 1)}"

    def _got(self, alignment: Alignment, calls: Sequence[ToolCall]) -> str:
        beside = f" and {counted(len(alignment.unexpected), 'other')}" if alignment.unexpected else ""
        return (
            f"{len(alignment.matched)} of {counted(len(calls), 'call')} matched{beside}"
            if calls
            else "no call"
        )


def _rows(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> list[int]:
    """For each expected call the calls that it may be, as bits."""
    if len(expected) * len(calls) > MOST_PAIRS:
        raise AssertionCrashError(
            f"{len(expected)} expected calls and {len(calls)} calls of the trace are more than can be compared: "
            f"{MOST_PAIRS} pairs at most",
            reason_code="trajectory.too_long",
            next_step="expect fewer calls, or split the recording",
        )
    of_tool: dict[str, int] = {}
    for at, call in enumerate(calls):
        for tool in call.names:
            of_tool[tool] = of_tool.get(tool, 0) | 1 << at
    columns = _Columns(calls)
    known: dict[tuple[str, str], int] = {}
    rows = []
    for each in expected:
        key = (each.tool, repr(each.args))  # equal only for equal ones
        if key not in known:
            row = 0
            for tool, bits in of_tool.items():
                if name_matches(each.tool, tool):
                    row |= bits
            for path, want in each.args.items():
                row &= columns.having(path, want)
            known[key] = row
        rows.append(known[key])
    return rows


class _Columns:
    """The arguments of all calls by path, each looked up once: thousands of calls are compared with thousands."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self.calls = calls
        self._values: dict[str, list[Any]] = {}

    def having(self, path: str, want: Any) -> int:
        """The calls whose argument is as wanted by the rule of `args_contains`, as bits."""
        values = self._values.get(path)
        if values is None:
            found = [lookup(call.args, path) if call.tells_args else MISSING for call in self.calls]
            values = self._values[path] = [fold(each) if isinstance(each, str) else each for each in found]
        if isinstance(want, str):
            folded = fold(want)
            places = [
                at for at, value in enumerate(values) if isinstance(value, str) and holds(value, folded)
            ]
        else:
            places = [at for at, value in enumerate(values) if equal(value, want)]
        return sum(1 << at for at in places)


@dataclass(slots=True)
class _Comparison:
    """An alignment in words: `near` has for each missing call the closest one of its tool, with the difference."""

    check: TrajectoryMatches
    calls: Sequence[ToolCall]
    alignment: Alignment
    near: dict[int, tuple[int, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        left = [*self.alignment.unexpected]
        for expected in self.alignment.missing[:MOST_NEAR]:
            wanted = self.check.expected[expected]
            candidates = [at for at in left if is_of(wanted.tool, self.calls[at])]
            told = [(at, wanted.differences(self.calls[at])) for at in candidates[:MOST_NEAR]]
            if told:
                at, differences = min(told, key=lambda item: len(item[1]))
                left.remove(at)
                self.near[expected] = at, "; ".join(differences)

    def counts(self) -> dict[str, int]:
        """How many calls differ, by kind."""
        found = self.alignment
        return {
            "missing": len(found.missing),
            "unexpected": len(found.unexpected),
            "out of order": len(found.out_of_order),
        }

    def events(self) -> list[Event]:
        """The calls that the mode does not allow, in the order of the trace."""
        not_allowed = NOT_ALLOWED[self.check.mode]
        found = [at for _, at in self.alignment.out_of_order if "out of order" in not_allowed]
        found += self.alignment.unexpected if "unexpected" in not_allowed else []
        return [self.calls[at].event for at in sorted(found)]

    def closest(self) -> list[tuple[Event, str]]:
        """For each missing call the closest one; where there is none and order counts, the calls around the gap."""
        found = list(self.near.values())
        gaps = [step for step in self.alignment.missing[:MOST_NEAR] if step not in self.near]
        if "out of order" in NOT_ALLOWED[self.check.mode]:
            for gap in gaps:
                before = [at for step, at in self.alignment.matched if step < gap]
                after = [at for step, at in self.alignment.matched if step > gap]
                found += [(max(before), f"the last call matched before step {gap + 1}")] if before else []
                found += [(min(after), f"the first call matched after step {gap + 1}")] if after else []
        return [(self.calls[at].event, note) for at, note in found]

    def observed(self) -> dict[str, Any]:
        """The alignment as data."""
        return {
            "matched": [self._pair(*pair) for pair in self.alignment.matched],
            "missing": [self._missing(expected) for expected in self.alignment.missing],
            "unexpected": [self._fact(at) for at in self.alignment.unexpected],
            "out_of_order": [self._pair(*pair) for pair in self.alignment.out_of_order],
        }

    def _fact(self, at: int) -> dict[str, Any]:
        call = self.calls[at]
        return {"event_id": call.event.event_id, "tool": call.tool, "args": call.args}

    def _pair(self, expected: int, at: int) -> dict[str, Any]:
        call = self.calls[at]
        return {"step": expected + 1, "event_id": call.event.event_id, "tool": call.tool}

    def _missing(self, expected: int) -> dict[str, Any]:
        wanted = self.check.expected[expected]
        found: dict[str, Any] = {"step": expected + 1, "tool": wanted.tool, "args": wanted.args}
        if expected in self.near:
            at, note = self.near[expected]
            found |= {"closest": self.calls[at].event.event_id, "difference": note}
        return found

    def lines(self) -> Iterator[str]:
        """The alignment, a call on a line: the expected ones in order, the others where they happened."""
        at_step = dict(self.alignment.matched)
        early = dict(self.alignment.out_of_order)
        others = [*self.alignment.unexpected]
        run: list[int] = []
        for step, wanted in enumerate(self.check.expected):
            at = at_step.get(step)
            if at is not None and not (others and others[0] < at):
                run.append(at)
                continue
            yield from self._matched(run)
            run = [] if at is None else [at]
            while at is not None and others and others[0] < at:
                yield self._other(others.pop(0))
            if step in early:
                yield f"out of order: {self._named(early[step])}, expected as step {step + 1}: {wanted}"
            elif at is None:
                yield self._not_found(step, wanted)
        yield from self._matched(run)
        yield from map(self._other, others)

    def _matched(self, run: Sequence[int]) -> Iterator[str]:
        if len(run) > LONGEST_RUN:
            ids = [self.calls[at].event.event_id for at in (run[0], run[-1])]
            yield f"matched: {len(run)} calls ({ids[0]} to {ids[1]})"
        else:
            yield from (f"matched: {self._named(at)}" for at in run)

    def _not_found(self, step: int, wanted: ExpectedCall) -> str:
        line = f"{'not called' if self.check.mode == 'subset' else 'missing'}: {wanted}, expected as step {step + 1}"
        if step in self.near:
            at, note = self.near[step]
            line += f"; closest is {self.calls[at].event.event_id}: {note}"
        return line

    def _other(self, at: int) -> str:
        label = "unexpected" if "unexpected" in NOT_ALLOWED[self.check.mode] else "other"
        call = self.calls[at]
        return f"{label}: {self._named(at)}" + (f" {cut(show(call.args))}" if call.args else "")

    def _named(self, at: int) -> str:
        return f"{self.calls[at].tool} ({self.calls[at].event.event_id})"


MOST_NEAR = 50
"""Missing calls, and calls that could be meant by one, among which the closest are looked for."""
