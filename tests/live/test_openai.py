"""The real OpenAI Agents SDK in a sandbox, against a model that is made up.

`OPENAI_SDK_PYTHON` names a Python that has it (`make live` installs one).
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from live_projects import LiveProject, needs_sandbox, tool_use

SDK = os.environ.get("OPENAI_SDK_PYTHON", "")
pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(not SDK, reason="OPENAI_SDK_PYTHON names no Python with the OpenAI Agents SDK"),
]
AGENT = Path(__file__).parents[1] / "data" / "live" / "openai_agent.py"
TURNS = [tool_use("lookup_order", order_id="42"), "Your order 42 ships tomorrow."]
LOOKED_UP = {
    "id": "looked-up",
    "type": "must_call_tool",
    "params": {"tool": "lookup_order", "args": {"args_equal": {"order_id": "42"}}},
}
SHIPS = [LOOKED_UP, {"id": "tells", "type": "output_contains", "params": {"all_of": ["ships tomorrow"]}}]


@pytest.fixture(params=["chat", "responses"])
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> LiveProject:
    """A project whose agent is a script with the SDK."""
    monkeypatch.chdir(tmp_path)
    made = LiveProject(tmp_path, monkeypatch, words=(request.param,), run=(SDK, "agent.py"))
    made.write("agent.py", AGENT.read_text(encoding="utf-8"))
    made.write("CLAUDE.md", "You are a shop's assistant.")
    made.write("answer.txt", "ships tomorrow")
    made.track()
    made.test(
        fixtures=[],
        assertions=SHIPS,
        tools={"available": ["lookup_order"]},
        live={"run_tools": ["lookup_order"]},
    )
    return made


def only(project: LiveProject) -> dict[str, Any]:
    """The result of a played run."""
    return project.live("--live").only_result()


def test_records_and_plays(project: LiveProject) -> None:
    """With the key put in outside; a changed tool is judged, a changed prompt is a miss that names it."""
    made = project.recorded(TURNS)
    assert made.keys == ["Bearer sk-ant-api03-the-real-key-0123456789"] * 2
    result = only(project)
    assert (result["status"], result["live"]["ran"], result["warnings"]) == ("pass", ["lookup_order"], [])
    assert [each["status"] for each in result["assertions"]] == ["pass", "pass"]
    assert result["live"]["offered"] == ["lookup_order"]
    project.write("answer.txt", "lost")
    project.track()
    (warning,) = only(project)["warnings"]
    assert warning.startswith("stale: result of call 1 (lookup_order) changed: 'order 42: ships tomorrow'")
    project.write("CLAUDE.md", "You are a bank's assistant.")
    project.track()
    error = only(project)["error"]
    assert error["reason_code"] == "live.cassette_miss"
    assert '"You are a shop\'s assistant." → "You are a bank\'s assistant."' in error["message"]


def test_a_tool_that_is_not_let_run_is_no_verdict(project: LiveProject) -> None:
    """Such an agent runs its tools itself."""
    project.test(fixtures=[], assertions=SHIPS, live={"script": "turns.yaml"})
    project.write("evals/order/turns.yaml", json.dumps(TURNS))
    assert only(project)["error"]["reason_code"] == "live.tool_escaped"
