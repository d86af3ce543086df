"""The real Claude Agent SDK with its own CLI, in a sandbox, against a model that is made up.

`CLAUDE_SDK_PYTHON` names a Python that has it (`make live` installs one); `CLAUDE_CLIS` may name several
CLIs, divided by colons, to be tried one against the recordings of the other.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from live_projects import SHIPS, LiveProject, needs_sandbox, tool_use

SDK = os.environ.get("CLAUDE_SDK_PYTHON", "")
CLIS = list(filter(None, os.environ.get("CLAUDE_CLIS", "").split(":")))
pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(not SDK, reason="CLAUDE_SDK_PYTHON names no Python with the Claude Agent SDK"),
]
LOOKUP = "mcp__shop__lookup_order"
AGENT = Path(__file__).parents[1] / "data" / "live" / "sdk_agent.py"
TURNS = [
    [*tool_use(LOOKUP, order_id="42"), *tool_use("WebSearch", query="delays")],
    "Your order 42 ships tomorrow.",
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LiveProject:
    """A project whose agent is a script with the SDK."""
    monkeypatch.chdir(tmp_path)
    made = LiveProject(tmp_path, monkeypatch, words=(), run=(SDK, "agent.py"))
    made.write("agent.py", AGENT.read_text(encoding="utf-8"))
    settle(made)
    shop(made)
    return made


def settle(project: LiveProject, **settings: Any) -> None:
    """What the agent reads when it starts."""
    project.write("settings.json", json.dumps(settings))
    project.track()


def shop(project: LiveProject, **changes: Any) -> None:
    """The test of the agent."""
    answers = [
        {"id": "fx.order", "tool": "lookup_order", "response": SHIPS},
        {"id": "fx.web", "tool": "web_search", "response": "no delays"},
    ]
    project.test(
        **{
            "fixtures": answers,
            "tools": {"available": [LOOKUP, "web_search"], "fixtures": answers},
            "assertions": [
                {"id": "looked-up", "type": "must_call_tool", "params": {"tool": LOOKUP}},
                {"id": "grounded", "type": "claims_supported_by_fixtures"},
            ],
            **changes,
        }
    )


def only(project: LiveProject, *flags: str) -> dict[str, Any]:
    """The result of a live run."""
    return project.live("--live", *flags).only_result()


def test_records_and_plays(project: LiveProject) -> None:
    """Built-in and MCP tools get fixtures; what ran is told; the second trace is the first but for times and ids."""
    made = project.recorded(TURNS)
    results = [b for m in made.bodies[-1]["messages"] for b in m["content"] if isinstance(b, dict)]
    texts = {
        b["content"] for b in results if b.get("type") == "tool_result" and isinstance(b["content"], str)
    }
    assert texts == {SHIPS, "no delays"}
    first, second = (project.live("--live", "--save-traces") for _ in range(2))
    result = first.only_result()
    assert (result["status"], result["live"]["model"], result["live"]["drift"]) == ("pass", "played", [])
    assert result["live"]["provenance"]["client"].startswith("claude-cli/")
    traces = [
        json.loads((run.folder / "command.order.lookup.once.trace.json").read_text())
        for run in (first, second)
    ]
    told = [[(e["type"], e["data"]) for e in trace["events"]] for trace in traces]
    assert told[0] == told[1]
    assert ("tool_result", SHIPS) in [(kind, data.get("result")) for kind, data in told[0]]


def test_what_the_author_changes(project: LiveProject) -> None:
    """The prompt and a message are named by a miss; the prompt can be marked instead."""
    project.recorded(TURNS)
    settle(project, prompt="You are a bank's assistant.")
    error = only(project)["error"]
    assert error["reason_code"] == "live.cassette_miss"
    assert '"You are a shop\'s assistant." → "You are a bank\'s assistant."' in error["message"]
    assert only(project, "--stale", "mark")["live"]["stale"]
    settle(project)
    scenario = {"group_id": "shop", "trigger": "user_message"}
    shop(
        project, scenario={**scenario, "input_messages": [{"role": "user", "content": "Where is order 43?"}]}
    )
    assert (
        "turn 1 (user) changed: 'Where is order 42?' → 'Where is order 43?'"
        in only(project)["error"]["message"]
    )


def test_tools_that_run(project: LiveProject) -> None:
    """Their code is judged when it changes; only the test lets them run."""
    answers = [{"id": "fx.web", "tool": "web_search", "response": "no delays"}]
    shop(
        project,
        fixtures=answers,
        tools={"available": [LOOKUP], "fixtures": answers},
        live={"run_tools": [LOOKUP]},
    )
    settle(project, answer=SHIPS)
    project.recorded(TURNS)
    result = only(project)
    assert (result["status"], result["live"]["ran"]) == ("pass", [LOOKUP])
    settle(project, answer="order 42 does not ship tomorrow")
    result = only(project)
    assert result["status"] == "fail"
    assert [each["id"] for each in result["assertions"] if each["status"] == "fail"] == ["grounded"]
    assert result["warnings"][0].startswith("stale: result of call 1 (mcp__shop__lookup_order) changed")


def test_a_call_without_a_fixture(project: LiveProject) -> None:
    """Of a built-in tool; scripted turns need no cassette."""
    turns = [tool_use("Read", file_path="/etc/passwd"), "Done."]
    project.write("evals/order/turns.yaml", json.dumps(turns))
    shop(project, live={"script": "turns.yaml"})
    error = only(project)["error"]
    assert error["reason_code"] == "live.no_fixture"
    assert 'called Read with {"file_path": "/etc/passwd"}' in error["message"]


def test_a_dead_hook_is_noticed(project: LiveProject) -> None:
    """The CLI lets a call run whose hook cannot be asked: the run is worth no verdict."""
    project.write("evals/order/turns.yaml", json.dumps([tool_use(LOOKUP, order_id="42"), "It ships."]))
    shop(project, live={"script": "turns.yaml"})
    project.monkeypatch.setattr("agenteval.live.run.HOOK_PATH", "/nowhere")
    error = only(project)["error"]
    assert error["reason_code"] == "live.tool_escaped"


@pytest.mark.skipif(len(CLIS) < 2, reason="CLAUDE_CLIS does not name two CLIs")
def test_another_version_of_the_cli_is_a_note(project: LiveProject) -> None:
    """Recorded with one, played with the others: what the vendor changed is told, and the run plays on."""
    old, *others = CLIS
    project.configure(command={"run": [SDK, "agent.py"], "mounts": CLIS})
    settle(project, cli=old, model="claude-sonnet-4-6")
    project.recorded(TURNS)
    for cli in others:
        settle(project, cli=cli, model="claude-sonnet-4-6")
        result = only(project)
        assert (result["status"], result["live"]["stale"]) == ("pass", [])
        assert result["live"]["drift"]
        version = subprocess.run(
            [cli, "--version"], capture_output=True, text=True, check=True
        ).stdout.split()[0]
        assert result["live"]["provenance"]["client"] == f"claude-cli/{version}"
