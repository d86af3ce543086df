"""Arguments that a recording does not tell: nothing is green because they are not there."""

from typing import Any

import pytest

from agenteval.assertions.base import passed
from agenteval.contracts.results import AssertionResult
from agenteval.contracts.trace import Trace
from agenteval.judging.verdicts import JudgingRules
from agenteval.loading.testfile import BoundAssertion
from builders import Step, call, error, make_trace, result
from run_builders import asserted, make_test, run_one, told

STRICT = JudgingRules(strict_capabilities=True)


def untold(tool: str, call_id: str | None = None) -> Step:
    """A call of which the name is known, and nothing else."""
    return Step("tool_call", {"tool": tool, "call_id": call_id, "args": None})


def checks(kind: str, params: dict[str, Any]) -> BoundAssertion:
    """An assertion with these parameters."""
    return asserted({"id": kind, "type": kind, "params": params})


def judged(
    kind: str, params: dict[str, Any], *steps: Step, rules: JudgingRules | None = None
) -> AssertionResult:
    """What becomes of one assertion on a trace of these steps."""
    trace: Trace = make_trace(*steps)
    (found,) = run_one(make_test(checks(kind, params)), trace, rules=rules).result.assertions
    return found


UNTOLD = "args: not in the recording"
OF_ARGS = {"args_contains": {"q": "AI"}}
TWO = (untold("web_search"), result("web_search"), untold("web_search"), result("web_search"))
SENT = (untold("outbound_send"), result("outbound_send"), untold("outbound_send"), result("outbound_send"))
AGAIN = (untold("web_search"), error("web_search"), untold("web_search"), result("web_search"))


@pytest.mark.parametrize(
    ("kind", "params", "steps", "places"),
    [
        ("no_duplicate_tool_calls", {}, TWO, "evt-2, evt-4"),
        ("no_sensitive_data", {"where": ["tool_args"]}, TWO, "evt-2, evt-4"),
        ("no_sensitive_data", {}, TWO, "evt-2, evt-4"),
        ("no_sensitive_data", {"where": ["output", "outbound"]}, (*TWO, *SENT), "evt-6, evt-8"),
        ("outbound_destinations", {"allowed": ["family"]}, SENT, "evt-2, evt-4"),
        ("outbound_destinations", {"forbidden": ["work"]}, SENT, "evt-2, evt-4"),
        ("no_duplicate_outbound", {}, SENT, "evt-2, evt-4"),
        ("no_duplicate_outbound", {"similarity": 0.5}, SENT, "evt-2, evt-4"),
        ("no_cross_group_memory_use", {"forbidden_group_ids": ["work"]}, TWO, "evt-2, evt-4"),
        (
            "stop_after_success",
            {
                "success_event": {"event_type": "tool_result"},
                "forbid_following": [{"event_type": "tool_call", "args": OF_ARGS}],
            },
            TWO,
            "evt-4",
        ),
        (
            "tool_call_order",
            {"before": {"event_type": "message_received"}, "after": {"tool": "web_search", "args": OF_ARGS}},
            (*TWO, call("web_search", q="AI")),
            "evt-2, evt-4",
        ),
        ("retry_policy_respected", {"tool": "web_search", "max_retries": 1}, AGAIN, "evt-2, evt-4"),
        ("efficiency_within", {"max_retries": 1}, AGAIN, "evt-2, evt-4"),
    ],
)
def test_a_check_that_needs_what_is_not_told_is_skipped(
    kind: str, params: dict[str, Any], steps: tuple[Step, ...], places: str
) -> None:
    """It would pass, since nothing is there that it could find; where missing capabilities fail, it fails."""
    skipped = judged(kind, params, *steps)
    needed = f"the arguments of tool calls ({places}), which this recording does not have"
    assert (skipped.status, skipped.reason_code) == ("skip", "capability.missing")
    assert skipped.message == f"skipped: it needs {needed}"
    assert skipped.capability_check.missing == ["supports_tool_trace"]
    assert not skipped.exercised
    failed = judged(kind, params, *steps, rules=STRICT)
    assert (failed.status, failed.message) == ("fail", f"needs {needed}")
    assert failed.evidence.event_refs == places.split(", ")


@pytest.mark.parametrize(
    ("kind", "params", "steps", "message"),
    [
        (
            "must_call_tool",
            {"tool": "web_search", "args": OF_ARGS},
            TWO,
            "expected at least 1 call of web_search with matching arguments, got 0; the trace calls web_search×2",
        ),
        *(
            (
                "tool_args_match",
                {
                    "tool": "web_search",
                    "which": which,
                    "match": {"json_schema": {"not": {"required": ["q"]}}},
                },
                TWO[:2],
                f"expected {named} of web_search with matching arguments, it differs; evt-2: {UNTOLD}",
            )
            for which, named in (("any", "a call"), ("all", "every call"), ("last", "the last call"))
        ),
    ],
)
def test_a_call_that_is_looked_for_is_not_found(
    kind: str, params: dict[str, Any], steps: tuple[Step, ...], message: str
) -> None:
    """What is not told matches nothing, not even a schema that no arguments satisfy."""
    found = judged(kind, params, *steps)
    assert (found.status, found.message) == ("fail", message)
    assert found.evidence.excerpts[-1].note == UNTOLD


@pytest.mark.parametrize("mode", ["strict", "in_order", "unordered", "subset", "superset"])
def test_a_course_of_calls_is_not_matched(mode: str) -> None:
    """A call with arguments is expected, and none is known to be it."""
    expected = [{"tool": "web_search", "args": {"q": "AI"}}]
    assert judged("trajectory_matches", {"mode": mode, "expected": expected}, *TWO[:2]).status == "fail"


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("must_call_tool", {"tool": "web_search", "args": OF_ARGS}),
        ("tool_args_match", {"tool": "web_search", "match": OF_ARGS}),
        (
            "trajectory_matches",
            {"mode": "superset", "expected": [{"tool": "web_search", "args": {"q": "AI"}}]},
        ),
        ("must_not_call_tool", {"tool": "web_fetch"}),
        ("max_tool_calls", {"max_total": 4}),
        ("no_sensitive_data", {"where": ["output"]}),
        ("no_duplicate_tool_calls", {"ignore_tools": ["web_search"], "tools": ["*"]}),
    ],
)
def test_a_check_that_does_not_need_them_is_judged(kind: str, params: dict[str, Any]) -> None:
    """What was found is proof, and who does not look at arguments misses none."""
    steps = (*TWO, call("web_search", q="AI"), call("look"))
    assert judged(kind, params, *steps).status == "pass"


def test_what_is_wrong_is_told_all_the_same() -> None:
    """Arguments that are told are judged: a failure stays one."""
    repeated = (call("look", at="sky"), call("look", at="sky"))
    found = judged("no_duplicate_tool_calls", {}, *TWO, *repeated)
    assert (found.status, found.message) == (
        "fail",
        "expected each call once, got look again (evt-7) with the arguments of evt-6",
    )
    leaked = judged("no_sensitive_data", {"kinds": ["email"]}, *TWO, call("look", at="eve@corp.example.org"))
    assert leaked.status == "fail"


def test_each_check_is_held_to_what_it_asked_for() -> None:
    """One that looked at arguments leaves no trace on the next."""
    both = [checks("no_duplicate_tool_calls", {}), checks("max_tool_calls", {"max_total": 9})]
    results = run_one(make_test(*both), make_trace(*TWO)).result.assertions
    assert [each.status for each in results] == ["skip", "pass"]


def test_a_check_of_a_project_is_held_to_it_too() -> None:
    """It passes by arguments that are none: unless it says that a pass proves itself, it is skipped."""
    check = told(lambda trace, _: passed(f"{[call.args for call in trace.calls()]}"))
    (found,) = run_one(make_test(check), make_trace(*TWO)).result.assertions
    assert (found.status, found.reason_code) == ("skip", "capability.missing")


def test_evidence_says_that_they_are_not_told() -> None:
    """A call without them is not shown as one with `null`."""
    found = judged("must_call_tool", {"tool": "web_search", "args": OF_ARGS}, *TWO[:2])
    assert [(each.event_id, each.text, each.note) for each in found.evidence.excerpts] == [
        ("evt-2", "web_search with arguments that are not recorded", UNTOLD)
    ]


@pytest.mark.parametrize("kind", ["claims_supported_by_fixtures", "no_fabricated_source_or_citation"])
def test_what_a_tool_returned_that_is_not_told_supports_nothing(kind: str) -> None:
    """A claim that rests on it fails."""
    trace = make_trace(*TWO, output="Revenue rose 41 % (https://news.example.com/a).", asked="What is new?")
    (found,) = run_one(make_test(checks(kind, {})), trace).result.assertions
    assert found.status == "fail"
