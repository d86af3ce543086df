"""Parameters that would be read and then ignored, or let everything pass, are refused when the spec is loaded."""

from typing import Any

import pytest

from agenteval.assertions import assertion_class
from agenteval.contracts.models import Invalid, parse
from builders import make_case

EMPTY = "holds an empty phrase, which every output contains: remove it"
ALL_ALLOWED = (
    "allowed_following_tools allows everything that forbid_following forbids: nothing could ever fail"
)
NOT_ONE_BY_ONE = "but groups are named one by one: leave the parameter out to forbid every other group"


@pytest.mark.parametrize(
    ("kind", "params", "message"),
    [
        (
            "stop_after_success",
            {"success_event": {"event_type": "tool_result"}, "allowed_following_tools": ["*"]},
            ALL_ALLOWED,
        ),
        (
            "stop_after_success",
            {
                "success_event": {"event_type": "tool_result"},
                "forbid_following": [{"event_type": "tool_call"}, {"tool": "web_*"}],
                "allowed_following_tools": ["*"],
            },
            ALL_ALLOWED,
        ),
        (
            "stop_after_success",
            {
                "success_event": {"event_type": "tool_result"},
                "forbid_following": [{"tool": "web_search"}],
                "allowed_following_tools": ["web_fetch", "web_search"],
            },
            ALL_ALLOWED,
        ),
        (
            "tool_call_order",
            {"before": {"event_type": "error", "success": True}, "after": {"tool": "web_search"}},
            "an error is not a success: this selector could never match",
        ),
        (
            "memory_update_on_correction",
            {"new_value": "Thursday", "old_value": " "},
            "old_value is blank: no output could be found to use it",
        ),
        (
            "memory_update_on_correction",
            {"new_value": "\u200b"},
            "new_value is blank, and every memory holds it",
        ),
        (
            "memory_recall_same_group",
            {"expected_memory_fact": " "},
            "expected_memory_fact is blank: no answer could be held to it",
        ),
        ("ask_clarifying_when_ambiguous", {"topics": ["\u00ad"]}, f"topics {EMPTY}"),
        ("no_cross_group_memory_use", {"forbidden_content": ["\u2060 "]}, f"forbidden_content {EMPTY}"),
        (
            "no_cross_group_memory_use",
            {"forbidden_group_ids": ["family", "work-*"]},
            f"forbidden_group_ids holds 'work-*', {NOT_ONE_BY_ONE}",
        ),
        ("no_cross_group_memory_use", {"forbidden_content": [" "]}, f"forbidden_content {EMPTY}"),
        ("graceful_failure_output", {"allowed_failure_phrases": ["\t"]}, f"allowed_failure_phrases {EMPTY}"),
        (
            "graceful_failure_output",
            {"forbidden_success_phrases": []},
            "expected a non-empty value, got an empty list",
        ),
        (
            "no_sensitive_data",
            {"allow": ["*@example.com", "**"]},
            "allow holds '**', which matches everything: say which values are allowed",
        ),
        (
            "no_sensitive_data",
            {"allow": ["*@example.com", "?*"]},
            "allow holds '?*', which matches everything: say which values are allowed",
        ),
    ],
)
def test_what_could_judge_nothing_is_refused(kind: str, params: dict[str, Any], message: str) -> None:
    """With what is wrong, and what to write instead."""
    cls = assertion_class(kind)
    assert cls is not None
    with pytest.raises(Invalid) as caught:
        parse(cls, params)
    assert [finding.message for finding in caught.value.findings] == [message]


@pytest.mark.parametrize("limit", [-1, {"web_search": 2, "*": -1}])
def test_a_negative_number_of_calls_is_refused(limit: Any) -> None:
    """In `tools.policy`, which is part of the test."""
    with pytest.raises(Invalid) as caught:
        make_case(tools={"available": ["web_search"], "policy": {"max_calls": limit}})
    assert [finding.message for finding in caught.value.findings] == [
        "max_calls is negative: 0 allows no call"
    ]
