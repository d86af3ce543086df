"""An AgentEvalSuite whose agent is run again: its fixtures injected, or, in live-shadow, its tools for real."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.cli import main
from hosts import HostProcess
from live_projects import LOOKED_UP, SHIPS, LiveProject, needs_sandbox, service, tool_use
from openwop.suites import golden, make_suite, make_task

pytestmark = needs_sandbox
RESPONSES = {"toolResponses": [{"tool": "shop:lookup", "response": SHIPS}]}
KEY = "sk-ant-api03-the-real-key-0123456789"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LiveProject:
    """A project with a suite of one task, and no recording."""
    monkeypatch.chdir(tmp_path)
    made = LiveProject(tmp_path, monkeypatch)
    suite(made)
    return made


def suite(project: LiveProject, fixtures: dict[str, Any] | None = None, **changes: Any) -> None:
    task = make_task("order-42", golden(value="tomorrow"), fixtures=fixtures or RESPONSES)
    project.write("suite.json", json.dumps(make_suite({**task, "input": "Where is order 42?"}, **changes)))


def run(project: LiveProject, *flags: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the result of the task; none where nothing was run."""
    project.runs += 1
    code = main(["run", "suite.json", "--run-id", f"run-{project.runs}", *flags])
    path = project.root / f"artifacts/run-{project.runs}/order-42.result.json"
    return code, json.loads(path.read_text()) if path.exists() else {}


def asked(project: LiveProject, turns: Any, *flags: str) -> tuple[int, dict[str, Any], list[Any]]:
    """The same with a service that answers with turns, and what tools answered."""
    with service(turns) as made:
        project.configure(model={"base_url": made.base_url, "key_env": "LIVE_TEST_KEY"})
        project.monkeypatch.setenv("LIVE_TEST_KEY", KEY)
        code, result = run(project, *flags)
    blocks = [b for m in made.bodies[-1]["messages"] for b in m["content"] if isinstance(b, dict)]
    return code, result, [b["content"] for b in blocks if b["type"] == "tool_result"]


def test_a_suite_is_recorded_and_played(project: LiveProject) -> None:
    """No recording is needed: the responses are injected, and the cassette is where recordings are."""
    code, _, answers = asked(project, LOOKED_UP, "--live", "record")
    assert (code, answers) == (0, [SHIPS])
    assert (project.root / "replays/order-42/cassette.json").is_file()
    code, result = run(project, "--live")
    assert (code, result["mode"], result["live"]["model"], result["live"]["ran"]) == (0, "live", "played", [])
    assert [each["type"] for each in result["assertions"]] == ["golden"]
    assert run(project, "--live", "--json")[0] == 0


@pytest.mark.parametrize(
    ("responses", "turns", "told"),
    [
        ([], LOOKED_UP, "no fixture answers that; no fixture or recorded result of this tool is there"),
        (
            [{"tool": "lookup", "response": SHIPS}],
            [LOOKED_UP[0], *LOOKED_UP],
            "no fixture answers that; the closest is toolResponses[0] of the suite, which was used before",
        ),
    ],
    ids=["none", "used"],
)
def test_a_call_without_a_response_is_an_error(
    project: LiveProject, responses: list[Any], turns: list[Any], told: str
) -> None:
    """Each answers once; nothing else does."""
    suite(project, {"toolResponses": responses})
    code, result, _ = asked(project, turns, "--live", "real")
    assert (code, result["error"]["reason_code"]) == (2, "live.no_fixture")
    assert told in result["error"]["message"]


def test_responses_come_in_their_order_and_one_that_is_left_is_told(project: LiveProject) -> None:
    """Of any JSON."""
    suite(project, {"toolResponses": [{"tool": "lookup", "response": each} for each in ("a", {"b": 1}, "c")]})
    code, result, answers = asked(project, [LOOKED_UP[0], *LOOKED_UP], "--live", "real")
    assert (code, answers) == (0, ["a", '{"b": 1}'])
    assert result["warnings"] == ["toolResponses[2] of the suite, of lookup, was never used"]


def test_the_memory_of_a_task_is_the_scenarios(project: LiveProject) -> None:
    """The agent gets it, and any input as JSON."""
    project.write("agent.py", "import sys\n" + (project.root / "agent.py").read_text().replace(
        'given["scenario"]["input_messages"][-1]["content"]', 'json.dumps(given["scenario"])'))  # fmt: skip
    project.track()
    memory = [{"content": "Prefers short answers"}]
    task = make_task("order-42", golden(value="tomorrow"), fixtures={**RESPONSES, "memorySeed": memory})
    project.write("suite.json", json.dumps(make_suite({**task, "input": {"order": 42}})))
    with service(LOOKED_UP) as made:
        project.configure(model={"base_url": made.base_url, "key_env": "LIVE_TEST_KEY"})
        project.monkeypatch.setenv("LIVE_TEST_KEY", KEY)
        assert run(project, "--live", "real")[0] == 0
    told = json.loads(made.bodies[0]["messages"][0]["content"])
    assert (told["memory_snapshot"], told["input_messages"][0]["content"]) == (memory, '{"order": 42}')


def test_an_adapter_that_runs_no_agent_is_refused(
    project: LiveProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """It does not replay in silence what was to be run."""
    project.write("replays/order-42/replay.json", "{}")
    test = project.test(adapter="otel", mode="replay", adapter_input={"replay_file": "replay.json"})
    project.write("replays/order-42/test.yaml", test.read_text())
    assert run(project, "--live") == (2, {})
    assert "the adapters of these tests only read recordings" in capsys.readouterr().err


def test_a_live_shadow_really_runs_its_tools_and_says_so(
    project: LiveProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the network, whatever the fixtures say; the key stays outside."""
    suite(project, modes=["golden", "live-shadow"])
    agent = (project.root / "agent.py").read_text()
    with socket.create_server(("127.0.0.1", 0)) as server:
        reaches = f"import socket; socket.create_connection({server.getsockname()}).close()\n"
        project.write("agent.py", agent.replace("given = ", reaches + "given = ", 1))
        project.track()
        code, result, answers = asked(project, LOOKED_UP, "--modes", "live-shadow", "--live", "real")
    assert (code, answers) == (0, ["lookup really ran: the real answer"])
    assert (result["mode"], result["live"]["ran"]) == ("live-shadow", ["lookup"])
    said = "live-shadow: its tools really ran, with the network: neither deterministic nor isolated"
    assert result["warnings"] == [said]
    shown = capsys.readouterr().out
    assert f"warning: {said}" in shown
    assert "· command 0.1.0 · live-shadow · model claude-test" in shown
    assert KEY not in "".join(p.read_text() for p in (project.root / "artifacts").rglob("*") if p.is_file())


def test_a_live_shadow_does_not_wait_for_a_person(project: LiveProject) -> None:
    """Nobody is there to answer."""
    suite(project, modes=["live-shadow"])
    project.write("tool.json", '{"name": "AskUserQuestion"}')
    project.track()
    code, result, _ = asked(project, [tool_use("AskUserQuestion"), "Done."], "--live", "real")
    assert (code, result["error"]["reason_code"]) == (2, "live.interactive")


def test_a_host_runs_the_agent_again(project: LiveProject) -> None:
    """`serve.agents.ID.live`: each task by the agent itself, played from its cassette."""
    pytest.importorskip("fastapi", reason="the extra serve is not installed")
    assert asked(project, LOOKED_UP, "--live", "record")[0] == 0
    settings = yaml.safe_load((project.root / "agenteval.yaml").read_text())
    settings["serve"] = {"suites": ["suite.json"], "agents": {"shop.agent": {"live": True}}}
    project.write("agenteval.yaml", json.dumps(settings))
    project.track()
    suite_id = json.loads((project.root / "suite.json").read_text())["suiteId"]
    host = HostProcess(project.root).start()
    try:
        wanted = {"evalSuiteRef": f"{suite_id}@1.2.3", "agentId": "shop.agent"}
        path = host.post(wanted)
        assert host.ended(path)["status"] == "completed"
        assert host.ask(f"{path}/eval-summary").body["passed"] is True
        kinds = [each["type"] for each in host.ask(f"{path}/events/poll").body["events"]]
        assert "agent.tool-called" in kinds
    finally:
        host.kill()
