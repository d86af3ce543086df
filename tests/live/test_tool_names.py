"""Tools of the author's that have the name of a harness tool: they run only where the test asks for them."""

from pathlib import Path
from typing import Any

import pytest

from agenteval.live.fixtures import FILE_TOOLS, Fixtures, ToolAnswer
from agenteval.live.run import LiveAgent
from agenteval.live.sandbox import Sandbox
from agenteval.live.wires import Block
from agenteval_nanoclaw.live.agent import RUNS

NAMES = LiveAgent(sandbox=Sandbox(command=[], socket=Path())).names


def asked(tool: str, **given: Any) -> tuple[bool, str]:
    """Whether a call may run, and the reason code of the error where nothing answers it."""
    fixtures = Fixtures(**{"names": NAMES, "has_harness": True, **given})
    event = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": "t", "tool_input": {}}
    return fixtures.decide(event) == {}, "".join(each.reason_code for each in fixtures.trouble)


RUNS_UNASKED: list[tuple[str, dict[str, Any]]] = [
    *((f"mcp__shop__{tool}", {"harness_runs": RUNS}) for tool in FILE_TOOLS),
    *((f"mcp__shop__{tool}", {"runs": [tool]}) for tool in (*FILE_TOOLS, "Bash", "WebSearch", "WebFetch", "Task", "TaskStop")),
    *((f"mcp__shop__{tool}", {}) for tool in ("Agent", "Task", "TaskCreate", "TodoWrite", "Skill", "ToolSearch")),
    ("mcp__shop__Read", {"runs": ["R*"]}),
    ("mcp__shop__Read", {"runs": ["[A-Z]*"]}),
    ("mcp__shop__WebSearch", {"runs": ["web_search"]}),
    ("mcp__a__nanoclaw__Read", {"harness_runs": RUNS}),
    ("mcp__nanoclaw_2__Write", {"harness_runs": RUNS}),
    ("mcp__shop__lookup", {"harness_runs": ["lookup"]}),
    *((tool, {"has_harness": False}) for tool in ("Task", "Agent", "Skill", "TaskList", "ToolSearch")),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given"), RUNS_UNASKED)
def test_a_namesake_of_a_harness_tool_does_not_run_unasked(tool: str, given: dict[str, Any]) -> None:
    """By a list of the adapter's, of the test's, or as one of the harness's own."""
    assert asked(tool, **given) == (False, "live.no_fixture")


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__shop__Read", {"runs": ["mcp__shop__Read"]}),
        ("mcp__shop__Read", {"runs": ["mcp__shop__*"]}),
        ("mcp__shop__lookup_order", {"runs": ["lookup_order"]}),
        ("Read", {"runs": ["Read"]}),
        ("Read", {"runs": ["read"]}),
        ("WebSearch", {"runs": ["web_search"]}),
        ("Read", {"harness_runs": RUNS}),
        ("mcp__nanoclaw__send_message", {"harness_runs": RUNS}),
        ("Task", {}),
        ("Task", {"has_harness": False, "runs": ["Task"]}),
    ],
)
def test_a_tool_that_is_asked_for_runs(tool: str, given: dict[str, Any]) -> None:
    """By its whole name, by a short one that is its alone, or as the harness's."""
    assert asked(tool, **given) == (True, "")


def test_the_fixture_of_a_harness_tool_is_no_answer_of_its_namesake() -> None:
    """A fixture for the namesake has its whole name."""
    of_harness = ToolAnswer(tool="WebSearch", text="found", source="fixture")
    assert asked("mcp__shop__WebSearch", own=[of_harness]) == (False, "live.no_fixture")
    assert asked("WebSearch", own=[of_harness]) == (False, "")
    of_namesake = ToolAnswer(tool="mcp__shop__WebSearch", text="found", source="fixture")
    assert asked("mcp__shop__WebSearch", own=[of_namesake]) == (False, "")


@pytest.mark.parametrize("text", ["done", "<tool_use_error>none", "No such tool available"])
@pytest.mark.parametrize("tool", ["Task", "Skill", "Read"])
def test_a_tool_of_an_agent_without_a_harness_is_noticed_when_it_ran(tool: str, text: str) -> None:
    """Whatever it is called, and whatever it answers."""
    fixtures = Fixtures(names=NAMES, has_harness=True)
    fixtures.put_into([Block("result", text, "t", tool)], has_harness=False)
    assert [each.reason_code for each in fixtures.trouble] == ["live.tool_escaped"]
