"""efficiency_within."""

from typing import Any

import pytest

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.trace import Capabilities, Trace
from builders import Step, call, judge, make_trace


def measured(
    *steps: Step, usage: dict[str, Any] | None = None, cost: float | None = None, **given: Any
) -> Trace:
    """A trace of 1200 ms with these measures."""
    trace = make_trace(*steps, **given)
    trace.metrics.token_usage = usage
    trace.metrics.cost_usd = cost
    return trace


def within(trace: Trace, **limits: float) -> Verdict:
    """The verdict on limits."""
    return judge("efficiency_within", limits, trace)


def tokens(usage: dict[str, Any]) -> dict[str, Any]:
    """What is measured of a token usage."""
    limits = {"max_input_tokens": 0, "max_output_tokens": 0, "max_total_tokens": 0}
    found = within(measured(usage=usage), **limits).observed
    return {name.split("_")[0]: value for name, value in found["measured"].items()}


def test_nothing_is_implied() -> None:
    """What a recording lacks is found by its measures, limit by limit."""
    cls = assertion_class("efficiency_within")
    assert cls is not None
    assert (cls.implied, cls.category) == ((), "efficiency")


def test_passes_within_all_limits() -> None:
    """A limit is kept when it is just reached."""
    trace = measured(usage={"input_tokens": 5000, "output_tokens": 100}, cost=0.25)
    limits = {
        "max_duration_ms": 1200,
        "max_total_tokens": 5100,
        "max_input_tokens": 5000,
        "max_output_tokens": 100,
        "max_cost_usd": 0.25,
        "max_turns": 1,
        "max_retries": 0,
    }
    verdict = within(trace, **limits)
    assert (verdict.passed, verdict.exercised, verdict.missing) == (True, True, ())
    assert verdict.message == (
        "within the limits: 1200 ms (at most 1200), 5100 tokens in all (at most 5100), "
        "5000 input tokens (at most 5000), 100 output tokens (at most 100), 0.25 USD (at most 0.25), "
        "1 turn (at most 1), 0 retries (at most 0)"
    )
    assert verdict.observed == {
        "measured": {
            "duration_ms": 1200,
            "total_tokens": 5100,
            "input_tokens": 5000,
            "output_tokens": 100,
            "cost_usd": 0.25,
            "turns": 1,
            "retries": 0,
        },
        "not_judged": {},
    }


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"max_duration_ms": 1000.5}, "expected at most 1000.5 ms, got 1200"),
        ({"max_total_tokens": 99}, "expected at most 99 tokens in all, got 100"),
        ({"max_total_tokens": 1}, "expected at most 1 token in all, got 100"),
        ({"max_input_tokens": 79}, "expected at most 79 input tokens, got 80"),
        ({"max_input_tokens": 1}, "expected at most 1 input token, got 80"),
        ({"max_output_tokens": 1}, "expected at most 1 output token, got 20"),
        ({"max_output_tokens": 19}, "expected at most 19 output tokens, got 20"),
        ({"max_cost_usd": 0.1}, "expected at most 0.1 USD, got 0.100000000000001"),
        ({"max_turns": 0}, "expected at most 0 turns, got 1"),
    ],
)
def test_fails_over_a_limit(limit: dict[str, float], message: str) -> None:
    """The message says what was expected and what was measured."""
    trace = measured(usage={"input_tokens": 80, "output_tokens": 20}, cost=0.100000000000001)
    verdict = within(trace, **limit)
    assert not verdict.passed
    assert verdict.message == message


def test_a_sum_of_amounts_is_as_much_as_it_says() -> None:
    """0.1 and 0.2 USD are 0.3 USD, though not in binary; more is more."""
    assert within(measured(cost=0.1 + 0.2), max_cost_usd=0.3).passed
    assert not within(measured(cost=0.1 + 0.2), max_cost_usd=0.2999999).passed


def test_all_broken_limits_are_told() -> None:
    """Not only the first."""
    verdict = within(measured(cost=2), max_duration_ms=1, max_cost_usd=1)
    assert verdict.message == "expected at most 1 ms, got 1200; expected at most 1 USD, got 2"


def test_retries_alone_are_vacuous_without_a_call() -> None:
    """Nothing could be retried; another limit that is judged makes it a pass."""
    verdict = within(measured(), max_retries=0, max_cost_usd=1)
    assert (verdict.passed, verdict.exercised) == (True, False)
    assert verdict.message == "nothing to judge: no tool_call events in the trace"
    assert within(measured(call("web_search")), max_retries=0).exercised
    assert within(measured(cost=0.5), max_retries=0, max_cost_usd=1).exercised


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 5, "output_tokens": 3}, {"input": 5, "output": 3, "total": 8}),
        (
            {
                "input_tokens": 5,
                "output_tokens": 3,
                "cache_read_input_tokens": 7,
                "cache_creation_input_tokens": 2,
            },
            {"input": 14, "output": 3, "total": 17},
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 9},
            {"input": 5, "output": 3, "total": 9},
        ),
        ({"inputTokens": 5, "outputTokens": 3, "totalTokens": 8}, {"input": 5, "output": 3, "total": 8}),
        ({"total_tokens": 8}, {"total": 8}),
        ({"input_tokens": 5}, {"input": 5}),
        ({"input_tokens": 5, "output_tokens": 3, "total_tokens": 1}, {"input": 5, "output": 3, "total": 8}),
        ({"input_tokens": 5.0, "output_tokens": 3.5, "total_tokens": float("inf")}, {"input": 5}),
        ({"input_tokens": "5", "output_tokens": True, "total_tokens": -1}, {}),
    ],
    ids=[
        "plain",
        "cached",
        "prompt",
        "camel",
        "total-only",
        "input-only",
        "total-too-small",
        "floats",
        "no-counts",
    ],
)
def test_tokens_in_common_spellings(usage: dict[str, Any], expected: dict[str, int]) -> None:
    """Cached tokens count as input; the larger of a stated and an added total counts."""
    assert tokens(usage) == expected


def test_what_the_trace_lacks_is_not_judged() -> None:
    """The other limits are, and both pass and failure say so."""
    verdict = within(measured(), max_duration_ms=2000, max_total_tokens=10, max_cost_usd=1)
    assert verdict.passed
    assert verdict.message == (
        "within the limits: 1200 ms (at most 2000); "
        "not judged: max_total_tokens (no tokens are recorded), max_cost_usd (no cost is recorded)"
    )
    assert verdict.observed["not_judged"] == {
        "max_total_tokens": "no tokens are recorded",
        "max_cost_usd": "no cost is recorded",
    }
    failing = within(measured(), max_duration_ms=1, max_cost_usd=1)
    assert (
        failing.message == "expected at most 1 ms, got 1200; not judged: max_cost_usd (no cost is recorded)"
    )
    later = within(measured(cost=2), max_total_tokens=10, max_cost_usd=1)
    assert (
        later.message
        == "expected at most 1 USD, got 2; not judged: max_total_tokens (no tokens are recorded)"
    )


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"input": 9, "output": 3}, "no tokens are recorded: token_usage has only input: 9, output: 3"),
        ({"output_tokens": 3}, "no tokens are recorded: token_usage has only output_tokens: 3"),
        ({"total_tokens": "12"}, 'no tokens are recorded: token_usage has only total_tokens: "12"'),
        (
            dict.fromkeys("abcdef", 1),
            "no tokens are recorded: token_usage has only a: 1, b: 1, c: 1, d: 1, e: 1",
        ),
        ({}, "no tokens are recorded"),
    ],
)
def test_tokens_by_other_names_are_told(usage: dict[str, int], told: str) -> None:
    """Whoever wrote the recording learns why a limit is not judged."""
    verdict = within(measured(usage=usage), max_total_tokens=10)
    assert verdict.observed["not_judged"] == {"max_total_tokens": told}


def test_is_skipped_when_the_trace_lacks_everything() -> None:
    """It is no pass: nothing was measured."""
    trace = measured(output=None, capabilities=Capabilities(), status="failed")
    trace.metrics.timing_ms_total = 0
    verdict = within(
        trace, max_duration_ms=1, max_input_tokens=1, max_output_tokens=1, max_turns=1, max_retries=1
    )
    assert (verdict.applicable, verdict.exercised, verdict.missing) == (
        False,
        False,
        ("supports_tool_trace",),
    )
    assert within(trace, max_duration_ms=1).missing == ()
    assert verdict.reason == (
        "the recording lacks what the limits need: max_duration_ms (no duration is recorded), "
        "max_input_tokens (no input tokens are recorded), max_output_tokens (no output tokens are recorded), "
        "max_turns (no activity of the agent is recorded), max_retries (tool calls are not recorded)"
    )


def test_at_least_one_limit_is_needed() -> None:
    """Without one there is nothing to judge."""
    cls = assertion_class("efficiency_within")
    assert cls is not None
    with pytest.raises(Invalid) as caught:
        parse(cls, {})
    assert caught.value.findings[0].message == (
        "nothing to judge: give at least one of max_duration_ms, max_total_tokens, max_input_tokens, "
        "max_output_tokens, max_cost_usd, max_turns, max_retries"
    )
