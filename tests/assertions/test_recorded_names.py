"""Assertions that name a tool as the runtime does, in traces that have another name for it."""

from typing import Any

import pytest

from agenteval.trace import Trace
from builders import Step, call, error, judge, make_case, make_trace, result

SEND = "mcp__nanoclaw__send_message"


def recorded(tool: str, name: str, call_id: str, **args: Any) -> Step:
    """A call of a tool that the runtime calls otherwise."""
    step = call(tool, call_id, **args)
    step.data["recorded_tool"] = name
    return step


def run() -> Trace:
    """A search that failed and was tried again, and a message that went out twice."""
    return make_trace(
        recorded("web_search", "WebSearch", "c1", query="AI"),
        error("web_search", "c1"),
        recorded("web_search", "WebSearch", "c2", query="AI"),
        result("web_search", "c2", {"title": "Chips"}),
        recorded("outbound_send", SEND, "c3", to="dana", text="Chips"),
        result("outbound_send", "c3", {"ok": True}),
        recorded("outbound_send", SEND, "c4", to="dana", text="Chips"),
        output="Which chips?",
        trigger="scheduler",
    )


@pytest.mark.parametrize(
    ("kind", "params", "passes"),
    [
        ("must_call_tool", {"tool": "WebSearch", "min_calls": 2}, True),
        ("must_not_call_tool", {"tool": "mcp__nanoclaw__*"}, False),
        ("must_not_call_tool", {"tool": "mcp__github__*"}, True),
        ("max_tool_calls", {"tool": SEND, "max": 1}, False),
        ("tool_args_match", {"tool": SEND, "match": {"args_equal": {"to": "dana"}}}, True),
        ("tool_call_order", {"before": {"tool": "WebSearch"}, "after": {"tool": SEND}}, True),
        ("stop_after_success", {"success_event": {"tool": SEND, "success": True}}, False),
        (
            "stop_after_success",
            {"success_event": {"tool": SEND, "success": True}, "allowed_following_tools": [SEND]},
            True,
        ),
        (
            "trajectory_matches",
            {
                "mode": "unordered",
                "expected": [{"tool": tool} for tool in (SEND, SEND, "WebSearch", "web_search")],
            },
            True,
        ),
        ("trajectory_matches", {"mode": "subset", "expected": [{"tool": SEND}]}, False),
        ("no_duplicate_tool_calls", {"tools": [SEND]}, False),
        ("no_duplicate_tool_calls", {"ignore_tools": [SEND]}, True),
        ("ask_clarifying_when_ambiguous", {"forbidden_tools": [SEND]}, False),
        ("outbound_destinations", {"tool": SEND, "forbidden": ["dana"]}, False),
        ("no_duplicate_outbound", {"tool": SEND}, False),
        ("scheduler_outbound_count", {"tool": SEND, "exact": 2}, True),
        ("retry_policy_respected", {"tool": "WebSearch", "max_retries": 0}, False),
        ("retry_policy_respected", {"tool": "WebSearch", "max_retries": 1}, True),
        ("no_fabricated_source_or_citation", {"allowed_sources": ["WebSearch"]}, True),
    ],
)
def test_a_tool_may_be_named_as_the_runtime_does(kind: str, params: dict[str, Any], passes: bool) -> None:
    """What is forbidden under that name is seen, and what is expected is found."""
    assert judge(kind, params, run()).passed is passes


@pytest.mark.parametrize(
    ("tools", "passes"),
    [
        ({"available": ["WebSearch", SEND]}, True),
        ({"available": ["WebSearch"]}, False),
        ({"available": ["*"], "policy": {"deny": ["mcp__*"]}}, False),
        ({"available": ["*"], "policy": {"max_calls": {SEND: 1}}}, False),
    ],
)
def test_so_may_the_policy(tools: dict[str, Any], passes: bool) -> None:
    """`tools.available` and `tools.policy` alike."""
    assert judge("tools_within_policy", {}, run(), make_case(tools=tools)).passed is passes
