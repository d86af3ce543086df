"""Traces of which the recording shows only a part: what is there is judged, what the rest could change is not."""

from typing import Any

import pytest

from agenteval.assertions.base import failed, passed
from agenteval.contracts.results import AssertionResult
from agenteval.contracts.trace import Capabilities, Trace
from agenteval.judging.verdicts import JudgingRules
from builders import Step, call, error, make_trace, memory_read, memory_write, received, result
from run_builders import asserted, make_test, run_one, says

UNSEEN = ("what subagent g1 did",)
CASE: dict[str, Any] = {"tools": {"available": ["web_search", "outbound_send"]}}
SEND = (call("outbound_send", to="dana", text="Chips"), result("outbound_send", value={"ok": True}))
SEARCH = (call("web_search", q="AI"), result("web_search", value="Chips are new."))
BROKEN = (call("web_search", q="AI"), error("web_search"))
ANSWER = {"event_type": "final_output"}


def part(*steps: Step, **given: Any) -> Trace:
    """A trace of these steps that is not the whole run."""
    return make_trace(*steps, unseen=UNSEEN, **given)


def judged(
    kind: str, params: dict[str, Any], trace: Trace, rules: JudgingRules | None = None
) -> AssertionResult:
    """What becomes of one assertion."""
    check = asserted({"id": "a", "type": kind, "params": params})
    (found,) = run_one(make_test(check, **CASE), trace, rules=rules).result.assertions
    return found


STANDS: list[tuple[str, dict[str, Any], Trace, str]] = [
    ("must_call_tool", {"tool": "web_search"}, part(*SEARCH), "pass"),
    (
        "must_call_tool",
        {"tool": "web_search", "result": {"contains": {"text": "chips"}}},
        part(*SEARCH),
        "pass",
    ),
    ("must_not_call_tool", {"tool": "web_search"}, part(*SEARCH), "fail"),
    (
        "must_not_call_tool",
        {"tool": "web_search", "args": {"args_equal": {"q": "AI"}}},
        part(*SEARCH),
        "fail",
    ),
    (
        "tool_call_order",
        {"sequence": [{"tool": "web_search"}, {"tool": "outbound_send"}]},
        part(*SEARCH, *SEND),
        "pass",
    ),
    ("tool_call_order", {"before": {"tool": "web_search"}, "after": ANSWER}, part(*SEARCH), "pass"),
    ("tool_call_order", {"before": ANSWER, "after": {"tool": "web_search"}}, part(*SEARCH), "fail"),
    (
        "tool_call_order",
        {"before": ANSWER, "after": {"tool": "web_search"}},
        part(*SEARCH, output=None),
        "fail",
    ),
    ("tool_args_match", {"tool": "web_search", "args": {"args_equal": {"q": "AI"}}}, part(*SEARCH), "pass"),
    (
        "tool_args_match",
        {"tool": "web_search", "args": {"args_equal": {"q": "x"}}, "which": "all"},
        part(*SEARCH),
        "fail",
    ),
    ("max_tool_calls", {"max_total": 0}, part(*SEARCH), "fail"),
    (
        "stop_after_success",
        {"success_event": {"tool": "web_search", "success": True}},
        part(*SEARCH, *SEND),
        "fail",
    ),
    ("trajectory_matches", {"mode": "superset", "expected": [{"tool": "web_search"}]}, part(*SEARCH), "pass"),
    ("trajectory_matches", {"mode": "in_order", "expected": [{"tool": "web_search"}]}, part(*SEARCH), "pass"),
    ("trajectory_matches", {"mode": "subset", "expected": [{"tool": "x"}]}, part(*SEARCH), "fail"),
    ("trajectory_matches", {"mode": "unordered", "expected": [{"tool": "x"}]}, part(*SEARCH), "fail"),
    ("trajectory_matches", {"expected": [{"tool": "x"}]}, part(*SEARCH), "fail"),
    (
        "trajectory_matches",
        {"expected": [{"tool": "outbound_send"}, {"tool": "web_search"}]},
        part(*SEARCH, *SEND),
        "fail",
    ),
    ("no_duplicate_tool_calls", {}, part(*SEARCH, *SEARCH), "fail"),
    ("output_contains", {"any_of": ["Done"]}, part(), "pass"),
    ("output_contains", {"any_of": ["Failed"]}, part(), "fail"),
    ("output_matches_format", {"format": "paragraphs", "exact_paragraphs": 1}, part(), "pass"),
    ("output_matches_format", {"format": "paragraphs", "exact_paragraphs": 2}, part(), "fail"),
    ("output_omits", {"patterns": ["Failed"]}, part(), "pass"),
    ("output_omits", {"patterns": ["Done"]}, part(), "fail"),
    ("ask_clarifying_when_ambiguous", {}, part(output="Which one?"), "pass"),
    ("ask_clarifying_when_ambiguous", {}, part(), "fail"),
    (
        "ask_clarifying_when_ambiguous",
        {"forbidden_tools": ["web_search"]},
        part(*SEARCH, output="Which?"),
        "fail",
    ),
    ("claims_supported_by_fixtures", {}, part(*SEARCH, output="Chips are new."), "pass"),
    ("claims_supported_by_fixtures", {}, part(*SEARCH, output=None), "pass"),
    ("no_fabricated_source_or_citation", {"allow": ["example.com"]}, part(output="See example.com."), "pass"),
    (
        "memory_recall_same_group",
        {"expected_memory_fact": "zoo", "evidence": "event"},
        part(memory_read("family", "zoo")),
        "pass",
    ),
    (
        "memory_recall_same_group",
        {"expected_memory_fact": "Zoo", "evidence": "output"},
        part(output="The zoo."),
        "pass",
    ),
    ("memory_recall_same_group", {"expected_memory_fact": "Zoo", "evidence": "output"}, part(), "fail"),
    ("memory_recall_same_group", {"expected_memory_fact": "Zoo", "evidence": "both"}, part(), "fail"),
    (
        "memory_update_on_correction",
        {"new_value": "Friday", "old_value": "Tuesday"},
        part(memory_write("family", "Friday"), output="On Tuesday."),
        "fail",
    ),
    ("no_cross_group_memory_use", {"forbidden_group_ids": ["work"]}, part(memory_read("work", "x")), "fail"),
    ("no_cross_group_memory_use", {"forbidden_content": ["Done"]}, part(), "fail"),
    ("outbound_destinations", {"forbidden": ["dana"]}, part(*SEND), "fail"),
    ("scheduler_task_runs", {"task_id": "t"}, part(trigger="scheduler", task_id="t"), "pass"),
    (
        "scheduler_task_runs",
        {"task_id": "t"},
        part(received("Hello?"), trigger="scheduler", task_id="t"),
        "fail",
    ),
    ("scheduler_outbound_count", {"min": 1}, part(*SEND, trigger="scheduler"), "pass"),
    ("scheduler_outbound_count", {"max": 0}, part(*SEND, trigger="scheduler"), "fail"),
    ("scheduler_outbound_count", {"exact": 1}, part(*SEND), "fail"),
    ("no_duplicate_outbound", {}, part(*SEND, *SEND), "fail"),
    ("retry_policy_respected", {"tool": "web_search", "max_retries": 0}, part(*BROKEN, *BROKEN), "fail"),
    ("graceful_failure_output", {}, part(*BROKEN, output="It failed."), "pass"),
    ("graceful_failure_output", {}, part(*BROKEN), "fail"),
    ("efficiency_within", {"max_duration_ms": 5000, "max_turns": 1}, part(*SEARCH), "pass"),
    ("efficiency_within", {"max_duration_ms": 5}, part(*SEARCH), "fail"),
    ("no_sensitive_data", {"where": ["output"]}, part(), "pass"),
    ("no_sensitive_data", {}, part(call("web_search", q="eve@corp.example.org")), "fail"),
    ("tools_within_policy", {}, part(call("bash")), "fail"),
]
"""Verdicts that no part of a run which is not recorded could change."""

OPEN: list[tuple[str, dict[str, Any], Trace]] = [
    ("must_call_tool", {"tool": "web_search"}, part()),
    ("must_call_tool", {"tool": "web_search", "args": {"args_equal": {"q": "x"}}}, part(*SEARCH)),
    ("must_not_call_tool", {"tool": "web_search"}, part()),
    ("must_not_call_tool", {"tool": "web_search"}, part(*SEND)),
    ("must_not_call_tool", {"tool": "web_search", "args": {"args_equal": {"q": "x"}}}, part(*SEARCH)),
    (
        "tool_call_order",
        {"before": {"tool": "web_search"}, "after": {"tool": "outbound_send"}},
        part(*SEARCH, *SEND),
    ),
    (
        "tool_call_order",
        {"before": {"tool": "outbound_send"}, "after": {"tool": "web_search"}},
        part(*SEARCH, *SEND),
    ),
    ("tool_call_order", {"before": {"tool": "web_fetch"}, "after": ANSWER}, part(*SEARCH)),
    (
        "tool_call_order",
        {"sequence": [{"tool": "outbound_send"}, {"tool": "web_search"}]},
        part(*SEARCH, *SEND),
    ),
    ("tool_call_order", {"sequence": [{"tool": "outbound_send"}, ANSWER]}, part(*SEARCH)),
    ("tool_args_match", {"tool": "web_search", "args": {"args_equal": {"q": "x"}}}, part(*SEARCH)),
    (
        "tool_args_match",
        {"tool": "web_search", "args": {"args_equal": {"q": "AI"}}, "which": "all"},
        part(*SEARCH),
    ),
    (
        "tool_args_match",
        {"tool": "web_search", "args": {"args_equal": {"q": "AI"}}, "which": "first"},
        part(*SEARCH),
    ),
    (
        "tool_args_match",
        {"tool": "web_search", "args": {"args_equal": {"q": "x"}}, "which": "last"},
        part(*SEARCH),
    ),
    (
        "tool_args_match",
        {"tool": "web_fetch", "args": {"args_equal": {"q": "x"}}, "which": "all"},
        part(*SEARCH),
    ),
    ("max_tool_calls", {"max_total": 9}, part(*SEARCH)),
    ("max_tool_calls", {"max_total": 9}, part()),
    ("stop_after_success", {"success_event": {"tool": "web_search", "success": True}}, part(*SEARCH)),
    ("stop_after_success", {"success_event": {"tool": "web_fetch", "success": True}}, part(*SEARCH)),
    ("trajectory_matches", {"expected": [{"tool": "web_search"}]}, part(*SEARCH)),
    ("trajectory_matches", {"expected": [{"tool": "web_search"}, {"tool": "x"}]}, part(*SEARCH)),
    ("trajectory_matches", {"mode": "subset", "expected": [{"tool": "web_search"}]}, part(*SEARCH)),
    ("trajectory_matches", {"mode": "superset", "expected": [{"tool": "x"}]}, part(*SEARCH)),
    (
        "trajectory_matches",
        {"mode": "in_order", "expected": [{"tool": "outbound_send"}, {"tool": "web_search"}]},
        part(*SEARCH, *SEND),
    ),
    ("no_duplicate_tool_calls", {}, part(*SEARCH)),
    ("ask_clarifying_when_ambiguous", {"forbidden_tools": ["web_search"]}, part(output="Which?")),
    ("claims_supported_by_fixtures", {}, part(*SEARCH, output="It rains in Bremen.")),
    ("claims_supported_by_fixtures", {}, part(output="It rains in Bremen.")),
    ("no_fabricated_source_or_citation", {}, part(*SEARCH, output="See example.com.")),
    ("memory_recall_same_group", {"expected_memory_fact": "zoo", "evidence": "event"}, part()),
    (
        "memory_recall_same_group",
        {"expected_memory_fact": "Zoo", "evidence": "both"},
        part(output="The zoo."),
    ),
    ("memory_update_on_correction", {"new_value": "Friday"}, part(memory_write("family", "Friday"))),
    ("memory_update_on_correction", {"new_value": "Friday", "old_value": "Tuesday"}, part()),
    ("no_cross_group_memory_use", {"forbidden_group_ids": ["work"]}, part(memory_read("family", "x"))),
    ("no_cross_group_memory_use", {"forbidden_group_ids": ["work"]}, part()),
    ("no_cross_group_memory_use", {"require_event_level_proof": True}, part()),
    ("outbound_destinations", {"allowed": ["dana"]}, part(*SEND)),
    ("outbound_destinations", {"allowed": ["dana"]}, part()),
    ("scheduler_outbound_count", {"exact": 1}, part(*SEND, trigger="scheduler")),
    ("scheduler_outbound_count", {"min": 2}, part(*SEND, trigger="scheduler")),
    ("no_duplicate_outbound", {}, part(*SEND)),
    ("retry_policy_respected", {"tool": "web_search", "max_retries": 1}, part(*BROKEN, *SEARCH)),
    ("retry_policy_respected", {"tool": "web_search", "max_retries": 1}, part(*SEARCH)),
    ("graceful_failure_output", {}, part(*SEARCH)),
    ("efficiency_within", {"max_retries": 1}, part(*SEARCH)),
    ("no_sensitive_data", {}, part(*SEARCH)),
    ("tools_within_policy", {}, part(*SEARCH)),
    ("tools_within_policy", {}, part()),
]
"""Verdicts that such a part could change."""


@pytest.mark.parametrize(("kind", "params", "trace", "status"), STANDS)
def test_a_verdict_that_nothing_could_change_is_given(
    kind: str, params: dict[str, Any], trace: Trace, status: str
) -> None:
    """A recorded forbidden call fails, a recorded required call passes, and so on, in strict runs too."""
    for rules in (None, JudgingRules(strict_capabilities=True)):
        found = judged(kind, params, trace, rules)
        assert (found.status, found.reason_code) in [
            (status, "assertion.failed" if status == "fail" else None),
            (status, "assertion.vacuous"),
        ]


@pytest.mark.parametrize(("kind", "params", "trace"), OPEN)
def test_a_verdict_that_the_rest_could_change_is_not_given(
    kind: str, params: dict[str, Any], trace: Trace
) -> None:
    """It is skipped and says what is missing, and what it would be; in strict runs it fails."""
    found = judged(kind, params, trace)
    assert (found.status, found.reason_code, found.exercised) == ("skip", "trace.unseen", False)
    assert found.message.startswith(
        "skipped: it needs what subagent g1 did, which this recording does not show; by what it shows: "
    )
    assert (found.reason, found.next_step) == (
        "not recorded: what subagent g1 did",
        "record that part of the run, too",
    )
    assert found.capability_check.missing == []
    strict = judged(kind, params, trace, JudgingRules(strict_capabilities=True))
    assert (strict.status, strict.reason_code) == ("fail", "trace.unseen")
    assert strict.message == found.message.replace("skipped: it needs", "needs")
    assert strict.failure_category == "part of the run not recorded"


@pytest.mark.parametrize(("verdict", "status"), [(passed("yes"), "skip"), (failed("no"), "skip")])
def test_a_check_that_does_not_say_what_stands_is_not_judged(verdict: Any, status: str) -> None:
    """Such as one of a plugin: neither of its verdicts is known to stand."""
    (found,) = run_one(make_test(says(verdict)), part()).result.assertions
    assert (found.status, found.reason_code) == (status, "trace.unseen")
    assert [each.status for each in run_one(make_test(says(verdict)), make_trace()).result.assertions] != [
        "skip"
    ]


@pytest.mark.parametrize(
    ("verdict", "status"), [(passed("yes", proven=True), "pass"), (failed("no", proven=True), "fail")]
)
def test_a_verdict_may_say_so_itself(verdict: Any, status: str) -> None:
    """Whatever its type says."""
    (found,) = run_one(make_test(says(verdict)), part()).result.assertions
    assert found.status == status


def test_a_missing_capability_comes_first() -> None:
    """A recording that states that it shows no tools is gated as ever."""
    trace = part(*SEARCH, capabilities=Capabilities(supports_replay=True))
    found = judged("must_not_call_tool", {"tool": "web_search"}, trace)
    assert (found.status, found.reason_code) == ("skip", "capability.missing")


def test_what_is_missing_is_listed() -> None:
    """All parts, on one line."""
    trace = make_trace(unseen=["what subagent g1 did", "3 spans of the scope langchain"])
    found = judged("must_call_tool", {"tool": "web_search"}, trace)
    assert found.reason == "not recorded: what subagent g1 did and 3 spans of the scope langchain"


def test_a_test_of_which_nothing_could_be_judged_says_what_to_do() -> None:
    """It is skipped, not passed."""
    check = asserted({"id": "a", "type": "must_call_tool", "params": {"tool": "web_search"}})
    outcome = run_one(make_test(check), part()).result
    assert (outcome.status, outcome.reason_code) == ("skipped", "test.all_skipped")
    assert outcome.next_step == (
        "no assertion could be judged: record that part of the run, too, or add an assertion that needs less"
    )
