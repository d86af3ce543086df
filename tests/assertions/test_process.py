"""Tool and process assertions."""

import pytest

from agenteval.assertions import assertion_class
from builders import judge, make_case
from verdicts import SEARCHES, SILENT


@pytest.mark.parametrize(
    "kind",
    [
        "must_call_tool",
        "must_not_call_tool",
        "tool_call_order",
        "tool_args_match",
        "max_tool_calls",
        "stop_after_success",
    ],
)
def test_process_types_need_a_tool_trace(kind: str) -> None:
    """Without a tool trace none of them can judge."""
    cls = assertion_class(kind)
    assert cls is not None
    assert (cls.implied, cls.category) == (("supports_tool_trace",), "tool_process")


class TestMustNotCallTool:
    """must_not_call_tool."""

    def test_a_glob_is_available_when_it_matches_an_available_tool(self) -> None:
        """And an available glob covers a forbidden name."""
        assert judge("must_not_call_tool", {"tool": "web_*"}, SILENT).exercised
        case = make_case(tools={"available": ["mcp__*"]})
        assert judge("must_not_call_tool", {"tool": "mcp__gh"}, SILENT, case).exercised


class TestMaxToolCalls:
    """max_tool_calls."""

    def test_a_limit_of_none_is_exercised_by_other_calls(self) -> None:
        """max: 0 forbids the tool, so that no call of it is what was judged."""
        assert judge("max_tool_calls", {"tool": "web_fetch", "max": 0}, SEARCHES).exercised
