"""What a run took: time, tokens, money, turns and retries (SPEC 14).

Durations, tokens and cost are what the recording states; turns and retries are counted in the trace.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

from agenteval.assertions.base import (
    Assertion,
    Category,
    Proof,
    Verdict,
    failed,
    not_applicable,
    passed,
    unsupported,
    vacuous,
)
from agenteval.contracts.json_values import show
from agenteval.contracts.models import Between, model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Event, Trace, retries

Limit = Annotated[int, Between(0)]

CACHE_KEYS = ("cache_read_input_tokens", "cache_creation_input_tokens")


class Measure(NamedTuple):
    """What the trace says about one limit: a number, or None and why there is none; and the events behind it."""

    value: float | None
    lacking: str = ""
    events: tuple[Event, ...] = ()


@model
class EfficiencyWithin(Assertion):
    """The run stays within limits of time, tokens, cost, turns and retries.

    By what the recording states; tokens of a prompt cache count as input. A limit without a measure is not judged; if that is so
    for every limit, the assertion is skipped. Vacuous if only retries are judged, and there was no tool call.
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

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        measured = {name: _measure(name, trace) for name in self._limits()}
        observed: dict[str, Any] = {
            "measured": {name[4:]: each.value for name, each in measured.items() if each.value is not None},
            "not_judged": {name: each.lacking for name, each in measured.items() if each.value is None},
        }
        if not observed["measured"]:
            lacks = f"the recording lacks what the limits need: {_lacking(observed['not_judged'])}"
            if self.max_retries is not None:
                return unsupported("supports_tool_trace", lacks, **observed)
            return not_applicable(lacks, **observed)
        beside = f"; not judged: {_lacking(observed['not_judged'])}" if observed["not_judged"] else ""
        over: list[str] = []
        within: list[str] = []
        events: list[Event] = []
        for name, limit in self._limits().items():
            value = measured[name].value
            if value is None:
                continue
            if value > limit:
                over.append(f"expected at most {_amount(limit, name)}, got {_number(value)}")
                events += measured[name].events
            else:
                within.append(f"{_amount(value, name)} (at most {_number(limit)})")
        if over:
            return failed("; ".join(over) + beside, events=events, **observed)
        if list(observed["measured"]) == ["retries"] and not trace.calls():
            return vacuous("no tool_call events in the trace", **observed)
        proven = {*observed["measured"]} <= {"duration_ms", "turns"}
        verdict = passed(f"within the limits: {', '.join(within)}{beside}", proven=proven, **observed)
        if "max_retries" in observed["not_judged"]:
            verdict.missing = ("supports_tool_trace",)
        return verdict


UNITS = {
    "max_duration_ms": "ms",
    "max_total_tokens": "tokens in all",
    "max_input_tokens": "input tokens",
    "max_output_tokens": "output tokens",
    "max_cost_usd": "USD",
    "max_turns": "turns",
    "max_retries": "retries",
}
"""What each limit counts, in words."""


def _amount(value: float, name: str) -> str:
    unit = UNITS[name]
    if value == 1:
        unit = unit.replace("tokens", "token").replace("turns", "turn").replace("retries", "retry")
    return f"{_number(value)} {unit}"


def _number(value: float) -> str:
    return f"{value:d}" if isinstance(value, int) else f"{value:.15g}"


def _lacking(reasons: dict[str, str]) -> str:
    return ", ".join(f"{name} ({reason})" for name, reason in reasons.items())


def _measure(name: str, trace: Trace) -> Measure:
    if name == "max_duration_ms":
        duration = trace.metrics.timing_ms_total
        return Measure(duration) if duration else Measure(None, "no duration is recorded")
    if name == "max_cost_usd":
        cost = trace.metrics.cost_usd  # 0.1 + 0.2 is 0.3
        return Measure(None, "no cost is recorded") if cost is None else Measure(round(cost, 15))
    if name == "max_turns":
        return _turns(trace)
    if name == "max_retries":
        if not trace.capabilities.supports_tool_trace:
            return Measure(None, "tool calls are not recorded")
        again = tuple(retry.call.event for retry in retries(trace.calls()))
        return Measure(len(again), events=again)
    return _tokens(name, trace.metrics.token_usage or {})


def _tokens(name: str, usage: dict[str, Any]) -> Measure:
    read, written = _input_tokens(usage), _stated(usage, "output_tokens", "completion_tokens")
    both = None if read is None or written is None else read + written
    stated = [each for each in (_stated(usage, "total_tokens"), both) if each is not None]
    values = {
        "max_input_tokens": read,
        "max_output_tokens": written,
        "max_total_tokens": max(stated, default=None),
    }
    value = values[name]
    if value is not None:
        return Measure(value)
    lacking = f"no {UNITS[name].removesuffix(' in all')} are recorded"
    held = ", ".join(f"{key}: {show(value)}" for key, value in [*usage.items()][:5])
    return Measure(None, f"{lacking}: token_usage has only {held}" if usage else lacking)


def _input_tokens(usage: dict[str, Any]) -> int | None:
    stated = _stated(usage, "input_tokens")
    cached = [count for key in CACHE_KEYS if (count := _stated(usage, key)) is not None]
    if stated is None and not cached:
        return _stated(usage, "prompt_tokens")
    return (stated or 0) + sum(cached)


def _stated(usage: dict[str, Any], *keys: str) -> int | None:
    """The first count of these keys, in snake or camel case."""
    for key in keys:
        first, *others = key.split("_")
        for spelling in (key, first + "".join(map(str.title, others))):
            count = usage.get(spelling)
            if isinstance(count, float) and count.is_integer():
                count = int(count)
            if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
                return count
    return None


def _turns(trace: Trace) -> Measure:
    active = [event for event in trace.events if event.type != "message_received"]
    if not active:
        return Measure(None, "no activity of the agent is recorded")
    ends = trace.of_type("final_output")
    last = ends[-1].seq if ends else 0
    unfinished = [event for event in active if event.seq > last and (event.type == "tool_call" or not ends)]
    return Measure(len(ends) + bool(unfinished), events=(*ends, *unfinished[-1:]))
