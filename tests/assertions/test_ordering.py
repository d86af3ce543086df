"""tool_call_order and stop_after_success: each with a passing, a failing and an edge case, by exact message."""

from builders import call, judge, make_trace

EDIT = {"event_type": "tool_call", "tool": "edit"}
TESTS = {"event_type": "tool_call", "tool": "bash", "args": {"args_contains": {"command": "pytest"}}}
EVERY_EDIT = {"before": EDIT, "after": TESTS, "every": "before"}


def test_every_after_is_every_true() -> None:
    """Two names for one thing."""
    trace = make_trace(call("bash", command="pytest"), call("edit"))
    for every in (True, "after"):
        assert not judge("tool_call_order", {**EVERY_EDIT, "every": every}, trace).passed
