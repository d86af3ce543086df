"""no_duplicate_tool_calls."""

from agenteval.assertions import assertion_class


def test_it_needs_a_tool_trace() -> None:
    """Without one it is skipped."""
    cls = assertion_class("no_duplicate_tool_calls")
    assert cls is not None
    assert (cls.implied, cls.category) == (("supports_tool_trace",), "tool_process")
