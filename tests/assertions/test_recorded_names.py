"""Assertions that name a tool as the runtime does, in traces that have another name for it."""

import json
from typing import Any

import pytest

from agenteval.contracts.trace import Trace, tool_names
from builders import Step, call, error, judge, make_case, make_trace, result
from run_builders import asserted, covered_by, make_test, run_one

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
@pytest.mark.parametrize("name", [SEND, "send_message", "outbound_send"])
def test_a_tool_may_be_named_as_the_runtime_does(
    kind: str, params: dict[str, Any], passes: bool, name: str
) -> None:
    """What is forbidden under that name is seen, and what is expected is found; the name of the server may be left out."""
    params = json.loads(json.dumps(params).replace(f'"{SEND}"', f'"{name}"'))
    assert judge(kind, params, run()).passed is passes


@pytest.mark.parametrize(
    ("tool", "recorded", "names"),
    [
        ("outbound_send", SEND, ("outbound_send", SEND, "send_message")),
        ("bash", "Bash", ("bash", "Bash")),
        ("read", "", ("read",)),
        ("mcp__github__search", "", ("mcp__github__search", "search")),
        ("mcp__files__read__all", "", ("mcp__files__read__all", "read__all")),
        ("mcp__odd", "", ("mcp__odd", "odd")),
        ("", "", ()),
    ],
)
def test_the_names_of_a_tool(tool: str, recorded: str, names: tuple[str, ...]) -> None:
    """The canonical one first; without the server only where there is one."""
    assert tool_names(tool, recorded) == names


def test_a_tool_is_looked_at_under_any_name() -> None:
    """What an assertion calls otherwise than `tools.available` does is not told to be unwatched."""
    check = asserted({"id": "a", "type": "must_call_tool", "params": {"tool": "send_message"}})
    test = make_test(check, tools={"available": ["outbound_send", "web_search"]})
    assert covered_by(run_one(test, run())).tools_not_looked_at == ["web_search"]


SPELLINGS = [
    *(
        "deleteAll",
        "DeleteAll",
        "DELETE_ALL",
        "delete-all",
        "delete.all",
        "deleteall",
        "delete_all()",
        " delete_all ",
    ),
    *("functions.delete_all:0", "delete_all<|channel|>commentary", '"delete_all"'),
    *("functions.delete_all", "srv.delete_all", "srv/delete_all", "srv:delete_all", "mcp__srv__delete_all"),
    *(
        "mcp__srv__deleteAll",
        "delete_all\u200b",
        "del\u00adete_all",
        "d\u0435lete_all",
        "\uff44elete_all",
        "delete\u2011all",
    ),
    *("functions.mcp__srv__DeleteAll",),
]


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("must_not_call_tool", {"tool": "delete_all"}),
        ("must_not_call_tool", {"tools": ["shell", "delete_*"]}),
        ("ask_clarifying_when_ambiguous", {"forbidden_tools": ["delete_all"]}),
        ("max_tool_calls", {"tool": "delete_all", "max": 0}),
        (
            "stop_after_success",
            {
                "success_event": {"event_type": "tool_result", "tool": "send"},
                "forbid_following": {"event_type": "tool_call", "tool": "delete_all"},
            },
        ),
        ("tools_within_policy", {}),
    ],
)
def test_a_forbidden_tool_is_seen_in_any_spelling(name: str, kind: str, params: dict[str, Any]) -> None:
    """What must not be used is not missed for a letter; the glob needs the words apart."""
    if name == "deleteall" and params.get("tools"):
        return
    case = make_case(tools={"available": ["send", "delete_all", "*"], "policy": {"deny": ["delete_all"]}})
    trace = make_trace(call("send"), result("send"), call(name), output="Which ones?")
    assert not judge(kind, params, trace, case).passed


@pytest.mark.parametrize("name", [each for each in SPELLINGS if each != "mcp__srv__delete_all"])
def test_a_required_tool_is_no_other_spelling(name: str) -> None:
    """A pass needs the tool itself."""
    assert not judge("must_call_tool", {"tool": "delete_all"}, make_trace(call(name))).passed
