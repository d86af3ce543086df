"""Runs that mutation operators can change, and the outcome of judging one by given assertions."""

from collections.abc import Sequence
from typing import Any

from agenteval.contracts.trace import Trace
from agenteval.judging.runner import Outcome
from agenteval.mutation.engine import MutationOptions, mutate
from agenteval.mutation.results import TestMutation
from agenteval.operators.catalogue import chosen_operators
from agenteval.plugins.registry import BUILT_IN
from agenteval.redaction.redactor import Redactor
from builders import call, error, make_trace, memory_read, memory_write, received, result
from run_builders import asserted, make_result, make_test

NOTES = [{"group_id": "work", "memory_snapshot": "The merger with Brightwave is called off"}]
TOOLS = {"available": ["web_search", "web_fetch", "outbound_send", "update_task"]}


def searching() -> Trace:
    """A search, a page that it found, and three bullets about it."""
    return make_trace(
        call("web_search", query="tram lines Oslo", limit=3),
        result(
            "web_search",
            value={"results": [{"url": "https://tram.example/17", "text": "Line 17 opens in 2026"}]},
        ),
        call("web_fetch", url="https://tram.example/17", format="text"),
        result("web_fetch", value="Line 17 opens on 4 May 2026 with 12 stops. It was built by Nordspor."),
        output="- Line 17 opens on 4 May 2026 (https://tram.example/17)\n- It has 12 stops\n- Nordspor built it",
    )


def sending() -> Trace:
    """A scheduled search whose finding is sent to a group."""
    return make_trace(
        call("web_search", query="weather"),
        result("web_search", value="Rain from noon"),
        call("outbound_send", channel="ops", content="Rain from noon"),
        result("outbound_send", value={"channel": "ops", "ok": True}),
        output="Sent the forecast.",
        trigger="scheduler",
        task_id="task-1",
        scheduler_context={"task_id": "task-1", "scheduled_for": "2026-01-05T08:00:00Z", "timezone": "UTC"},
    )


def failing() -> Trace:
    """A page that could not be reached, twice, and an answer that says so."""
    return make_trace(
        call("web_fetch", url="https://pool.example"),
        error("web_fetch"),
        call("web_fetch", url="https://pool.example"),
        error("web_fetch"),
        output="I could not reach the page.",
    )


def retried() -> Trace:
    """A search that failed once and was tried again."""
    return make_trace(
        call("web_search", query="cats"),
        error("web_search"),
        call("web_search", query="cats"),
        result("web_search", value="Cats sleep 13 hours a day"),
        output="Cats sleep 13 hours a day.",
    )


def remembering() -> Trace:
    """A correction that is written down, after what was known had been read."""
    return make_trace(
        received("Not Tuesday, Thursday."),
        memory_read("family", "Swimming is on Tuesday"),
        memory_write("family", "Swimming is on Thursday"),
        output="Noted: swimming is on Thursday.",
        asked=None,
    )


def mutated(
    trace: Trace, operator: str, *assertions: dict[str, Any], redacted: Sequence[str] = (), **spec: Any
) -> TestMutation:
    """The mutants of one operator, or of several with commas between, judged by assertions that all hold on the trace.

    `redacted` names fields that are redacted.
    """
    spec.setdefault("tools", TOOLS)
    test = make_test(*map(asserted, assertions), assertions=list(assertions), **spec)
    redactor = Redactor(redacted)
    redactor.learn(trace)
    outcome = Outcome(test, make_result("pass"), trace, redactor)
    options = MutationOptions(operators=chosen_operators(operator.split(","), BUILT_IN.operators()))
    return mutate(outcome, options, BUILT_IN)


def check(kind: str, name: str = "fits", /, **params: Any) -> dict[str, Any]:
    """An assertion as a test file has it."""
    return {"id": name, "type": kind, "params": params}
