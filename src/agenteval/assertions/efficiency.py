"""Limits on the time, tokens, cost, turns and retries of a run (SPEC 14).

Durations, tokens and cost are read from the recording. Turns and retries are counted in the trace.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from agenteval.assertions.base import (
    Assertion,
    Category,
    Proof,
    Verdict,
    failed,
    not_applicable,
    passed,
    vacuous,
)
from agenteval.contracts.json_values import show
from agenteval.contracts.models import Between, model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Event, Trace, retries

Limit = Annotated[int, Between(0)]

CACHE_KEYS = ("cache_read_input_tokens", "cache_creation_input_tokens")


@model
class EfficiencyWithin(Assertion):
    """The run stays within limits of time, tokens, cost, turns and retries.

    Time, tokens and cost are read from the recording; tokens of a prompt cache count as input. A limit is not judged if the
    recording lacks its measure. If no limit is judged, the assertion is skipped. Vacuous if only retries are judged and there was
    no tool call.
    """

    type: ClassVar[str] = "efficiency_within"
    category: ClassVar[Category] = "efficiency"
    failure_category: ClassVar[str] = "limit of time or cost exceeded"
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    example: ClassVar[str] = "max_duration_ms: 30000\nmax_total_tokens: 20000\nmax_retries: 2\n"

    max_duration_ms: Annotated[float, Between(0)] | None = None
    """The longest time."""
    max_total_tokens: Limit | None = None
    """The most tokens in total."""
    max_input_tokens: Limit | None = None
    """The most tokens read, cached ones included."""
    max_output_tokens: Limit | None = None
    """The most tokens written."""
    max_cost_usd: Annotated[float, Between(0)] | None = None
    """The highest cost."""
    max_turns: Limit | None = None
    """The most turns."""
    max_retries: Limit | None = None
    """The most retries, of all tools together."""

    def __post_init__(self) -> None:
        if not self._limits():
            raise ValueError(f"nothing to judge: give at least one of {', '.join(UNITS)}")

    def _limits(self) -> dict[str, float]:
        given = {name: getattr(self, name) for name in UNITS}
        return {name: limit for name, limit in given.items() if limit is not None}

    def _exceeded(self, over: dict[str, float]) -> Iterator[str]:
        """Describe the limits that were exceeded. `over` holds the measures by the names of their limits."""
        limits = self._limits()
        for name, value in over.items():
            yield f"expected at most {_amount(limits[name], name)}, got {_number(value)}"

    def _kept(self, measured: dict[str, float]) -> Iterator[str]:
        """Describe the limits that were kept."""
        limits = self._limits()
        for name, value in measured.items():
            yield f"{_amount(value, name)} (at most {_number(limits[name])})"

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        limits, counts = self._limits(), _counts(trace)
        measured = {name: value for name, value in _measured(trace, counts).items() if name in limits}
        not_judged = {name: _why_not(name, trace) for name in limits if name not in measured}
        lacking = ", ".join(f"{name} ({reason})" for name, reason in not_judged.items())
        observed: dict[str, Any] = {
            "measured": {name.removeprefix("max_"): value for name, value in measured.items()},
            "not_judged": not_judged,
        }
        missing = ("supports_tool_trace",) if "max_retries" in not_judged else ()
        if not measured:
            verdict = not_applicable(f"the recording lacks what the limits need: {lacking}", **observed)
            return replace(verdict, missing=missing)
        beside = f"; not judged: {lacking}" if lacking else ""
        if over := {name: value for name, value in measured.items() if value > limits[name]}:
            events = [event for name in over for event in counts.get(name, ())]
            return failed("; ".join(self._exceeded(over)) + beside, events=events, **observed)
        if list(measured) == ["max_retries"] and not trace.calls():
            return vacuous("no tool_call events in the trace", **observed)
        # Tokens, cost and retries of an incomplete recording may be higher than it shows.
        proven = {*measured} <= {"max_duration_ms", "max_turns"}
        within = ", ".join(self._kept(measured))
        verdict = passed(f"within the limits: {within}{beside}", proven=proven, **observed)
        return replace(verdict, missing=missing)


UNITS = {
    "max_duration_ms": "ms",
    "max_total_tokens": "tokens in all",
    "max_input_tokens": "input tokens",
    "max_output_tokens": "output tokens",
    "max_cost_usd": "USD",
    "max_turns": "turns",
    "max_retries": "retries",
}
"""The unit of each limit, in words."""


def _amount(value: float, name: str) -> str:
    unit = UNITS[name]
    if value == 1:
        unit = unit.replace("tokens", "token").replace("turns", "turn").replace("retries", "retry")
    return f"{_number(value)} {unit}"


def _number(value: float) -> str:
    return f"{value:d}" if isinstance(value, int) else f"{value:.15g}"


def _counts(trace: Trace) -> dict[str, list[Event]]:
    """Find the events that are counted: those that end turns, and the retries."""
    active = [event for event in trace.events if event.type != "message_received"]
    ends = trace.of_type("final_output")
    last = ends[-1].seq if ends else 0
    # A run that ends in the middle of a turn has had that turn, too.
    unfinished = [event for event in active if event.seq > last and (event.type == "tool_call" or not ends)]
    again = [retry.call.event for retry in retries(trace.calls())]
    return {"max_turns": [*ends, *unfinished[-1:]], "max_retries": again}


def _measured(trace: Trace, counts: dict[str, list[Event]]) -> dict[str, float]:
    """Return the measure for each limit that the recording has one for."""
    usage, cost = trace.metrics.token_usage or {}, trace.metrics.cost_usd
    read, written = _input_tokens(usage), _stated(usage, "output_tokens", "completion_tokens")
    both = None if read is None or written is None else read + written
    # A total below the sum of its parts leaves something out, for example the cached tokens. The larger number is right.
    stated = [each for each in (_stated(usage, "total_tokens"), both) if each is not None]
    values = {
        "max_duration_ms": trace.metrics.timing_ms_total or None,  # no run takes 0 ms: it was not measured
        "max_total_tokens": max(stated, default=None),
        "max_input_tokens": read,
        "max_output_tokens": written,
        "max_cost_usd": None if cost is None else round(cost, 15),  # 0.1 + 0.2 is 0.3
        "max_turns": len(counts["max_turns"]) or None,
        "max_retries": len(counts["max_retries"]) if trace.capabilities.supports_tool_trace else None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _why_not(name: str, trace: Trace) -> str:
    """Explain why there is no measure for a limit."""
    if "tokens" not in name:
        return _LACKING[name]
    usage = trace.metrics.token_usage or {}
    held = ", ".join(f"{key}: {show(value)}" for key, value in [*usage.items()][:5])
    lacking = f"no {UNITS[name].removesuffix(' in all')} are recorded"
    return f"{lacking}: token_usage has only {held}" if usage else lacking


_LACKING = {
    "max_duration_ms": "no duration is recorded",
    "max_cost_usd": "no cost is recorded",
    "max_turns": "no activity of the agent is recorded",
    "max_retries": "tool calls are not recorded",
}


def _input_tokens(usage: dict[str, Any]) -> int | None:
    """Return the tokens read, with cached ones. `prompt_tokens` (OpenAI) includes these, `input_tokens` (Anthropic) does not."""
    stated = _stated(usage, "input_tokens")
    cached = [count for key in CACHE_KEYS if (count := _stated(usage, key)) is not None]
    if stated is None and not cached:
        return _stated(usage, "prompt_tokens")
    return (stated or 0) + sum(cached)


def _stated(usage: dict[str, Any], *keys: str) -> int | None:
    """Return the first count under one of these keys, in snake or camel case."""
    for key in keys:
        first, *others = key.split("_")
        for spelling in (key, first + "".join(map(str.title, others))):
            count = usage.get(spelling)
            if isinstance(count, float) and count.is_integer():
                count = int(count)
            if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
                return count
    return None
