"""The kinds of failure: what happened, whatever the type of the assertion that noticed."""

from typing import Any

import pytest

from agenteval.assertions.base import failed, vacuous
from agenteval.contracts.trace import Capabilities, Trace
from agenteval.judging.verdicts import JudgingRules
from builders import call, error, make_trace, memory_write, result
from run_builders import asserted, make_test, run_one, says

SCHEDULED: dict[str, Any] = {"trigger": "scheduler", "task_id": "t"}
SEND = (call("outbound_send", to="dana", text="a"), result("outbound_send"))
BROKEN = (call("web_search", q="AI"), error("web_search"))


@pytest.mark.parametrize(
    ("kind", "params", "trace", "category"),
    [
        ("scheduler_outbound_count", {"exact": 1}, make_trace(**SCHEDULED), "missing outbound message"),
        ("scheduler_outbound_count", {"exact": 1}, make_trace(*SEND, *SEND, **SCHEDULED), "too many outbound messages"),
        ("scheduler_outbound_count", {"exact": 1}, make_trace(*SEND), "wrong scheduled run"),
        ("scheduler_task_runs", {"task_id": "t"}, make_trace(), "wrong scheduled run"),
        ("must_call_tool", {"tool": "web_search"}, make_trace(), "required tool not used"),
        ("must_call_tool", {"tool": "web_search", "min_calls": 3}, make_trace(*BROKEN), "too few tool calls"),
        ("output_contains", {"any_of": ["x"]}, make_trace(output=None), "missing output"),
        ("output_contains", {"any_of": ["x"]}, make_trace(), "missing content in the output"),
        ("output_matches_format", {"format": "bullet_list"}, make_trace(output=""), "missing output"),
        ("ask_clarifying_when_ambiguous", {}, make_trace(output=None), "missing output"),
        ("ask_clarifying_when_ambiguous", {}, make_trace(), "guessed instead of asking"),
        ("ask_clarifying_when_ambiguous", {"max_questions": 1}, make_trace(output="Which one? And when?"), "too many questions"),
        ("ask_clarifying_when_ambiguous", {"topics": ["report"]}, make_trace(output="Which colour?"), "other question asked"),
        (
            "memory_update_on_correction",
            {"new_value": "Friday", "old_value": "Tuesday"},
            make_trace(memory_write("family", "Friday"), output="On Tuesday."),
            "outdated value in the output",
        ),
        ("memory_update_on_correction", {"new_value": "Friday"}, make_trace(), "memory not updated"),
        ("no_cross_group_memory_use", {"require_event_level_proof": True}, make_trace(), "isolation not shown"),
        ("outbound_destinations", {"allowed": ["dana"]}, make_trace(call("outbound_send", text="a")), "message without a destination"),
        ("outbound_destinations", {"allowed": ["leo"]}, make_trace(*SEND), "message to the wrong destination"),
        ("retry_policy_respected", {"tool": "web_search", "max_retries": 1}, make_trace(), "expected failure missing"),
        ("retry_policy_respected", {"tool": "web_search", "max_retries": 0}, make_trace(*BROKEN, *BROKEN), "retry policy broken"),
        ("graceful_failure_output", {}, make_trace(), "expected failure missing"),
        ("graceful_failure_output", {}, make_trace(*BROKEN, output="Hello."), "failure not admitted"),
        ("graceful_failure_output", {}, make_trace(*BROKEN, output="It failed. All done!"), "success claimed after a failure"),
    ],
)  # fmt: skip
def test_the_kind_is_that_of_what_happened(
    kind: str, params: dict[str, Any], trace: Trace, category: str
) -> None:
    """In the assertion's result, and among the kinds of the test's."""
    test = make_test(asserted({"id": "a", "type": kind, "params": params}))
    outcome = run_one(test, trace).result
    assert outcome.status == "fail"
    assert [each.failure_category for each in outcome.assertions] == [category]
    assert outcome.failure_categories == [category]


def test_what_fails_without_a_fault_is_a_kind_of_its_own() -> None:
    """By a flag, an assertion fails that found nothing wrong."""
    rules = JudgingRules(fail_on_vacuous=True, strict_capabilities=True)
    gated = asserted({"id": "g", "type": "must_not_call_tool", "params": {"tool": "rm"}})
    trace = make_trace(capabilities=Capabilities(supports_replay=True))
    outcome = run_one(make_test(says(vacuous("no bread"), "v"), gated), trace, rules=rules).result
    assert outcome.failure_categories == ["nothing to judge", "missing capability"]


def test_an_assertion_that_does_not_fail_has_no_kind() -> None:
    """A warning has one, which counts in a strict run."""
    warns = says(failed("hm"), severity="warning")
    found = run_one(make_test(warns)).result
    assert (found.assertions[0].failure_category, found.failure_categories) == ("did not do as told", [])
    assert run_one(make_test(warns), strict=True).result.failure_categories == ["did not do as told"]
    held = asserted({"id": "a", "type": "output_contains", "params": {"any_of": ["Done"]}})
    assert run_one(make_test(held)).result.assertions[0].failure_category is None
