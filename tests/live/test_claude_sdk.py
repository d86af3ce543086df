"""The real Claude Agent SDK with its own CLI, in a sandbox, against a model that is made up.

`CLAUDE_SDK_PYTHON` names a Python that has it (`make live` installs one); `CLAUDE_CLIS` may name several
CLIs, divided by colons, to be tried one against the recordings of the other.
"""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenteval.live.fixtures import Fixtures
from live_projects import SHIPS, LiveProject, Service, kept_by, needs_sandbox, remove_kept, tool_use

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


def make(root: Path, monkeypatch: pytest.MonkeyPatch) -> LiveProject:
    """A project whose agent is a script with the SDK."""
    monkeypatch.chdir(root)
    made = LiveProject(root, monkeypatch, words=(), run=(SDK, "agent.py"))
    made.write("agent.py", AGENT.read_text(encoding="utf-8"))
    settle(made)
    shop(made)
    return made


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveProject, Service]]:
    """A project whose cassette was recorded, and the service that is gone."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in [each for each in os.environ if each.startswith("AGENTEVAL_")]:
            monkeypatch.delenv(name)  # what names the parts of tests is no setting
        made = make(tmp_path_factory.mktemp("recorded"), monkeypatch)
        yield made, made.recorded(TURNS, "--save-traces")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LiveProject:
    return make(tmp_path, monkeypatch)


@pytest.fixture
def recorded(project: LiveProject, recording: tuple[LiveProject, Service]) -> LiveProject:
    """A project with that cassette."""
    shutil.copy(recording[0].root / "evals/order/cassette.json", project.root / "evals/order")
    return project


def settle(project: LiveProject, **settings: Any) -> None:
    """What the agent reads when it starts."""
    project.write("settings.json", json.dumps(settings))
    project.track()


def shop(project: LiveProject, *others: dict[str, Any], **changes: Any) -> None:
    """The test of the agent, with other fixtures than its usual ones if there are any."""
    answers = list(others) or [
        {"id": "fx.order", "tool": "lookup_order", "response": SHIPS},
        {"id": "fx.web", "tool": "web_search", "response": "no delays"},
    ]
    project.test(
        **{
            "fixtures": answers,
            "tools": {"available": [LOOKUP, "web_search"], "fixtures": answers},
            "assertions": [
                {"id": "looked-up", "type": "must_call_tool", "params": {"tool": LOOKUP}},
                {"id": "grounded", "type": "claims_supported_by_fixtures", "params": {"min_support": 0.66}},
            ],
            **changes,
        }
    )


def only(project: LiveProject, *flags: str) -> dict[str, Any]:
    """The result of a live run."""
    return project.live("--live", *flags).only_result()


def events(project: LiveProject) -> list[tuple[str, dict[str, Any]]]:
    """What happened in the last run, without times and ids."""
    path = project.root / f"artifacts/run-{project.runs}/command.order.lookup.once.trace.json"
    return [(each["type"], each["data"]) for each in json.loads(path.read_text())["events"]]


def test_records_and_plays(recorded: LiveProject, recording: tuple[LiveProject, Service]) -> None:
    """Built-in and MCP tools get fixtures; what is played is, but for times and ids, what was recorded."""
    first, service = recording
    results = [b for m in service.bodies[-1]["messages"] for b in m["content"] if isinstance(b, dict)]
    texts = {
        b["content"] for b in results if b.get("type") == "tool_result" and isinstance(b["content"], str)
    }
    assert texts == {SHIPS, "no delays"}
    result = only(recorded, "--save-traces")
    assert (result["status"], result["live"]["model"], result["live"]["drift"]) == ("pass", "played", [])
    assert result["live"]["provenance"]["client"].startswith("claude-cli/")
    assert events(recorded) == events(first)
    assert ("tool_result", SHIPS) in [(kind, data.get("result")) for kind, data in events(recorded)]


def test_what_the_author_changes_is_a_miss_that_names_it(recorded: LiveProject) -> None:
    """Its prompt."""
    settle(recorded, prompt="You are a bank's assistant.")
    error = only(recorded)["error"]
    assert error["reason_code"] == "live.cassette_miss"
    assert '"You are a shop\'s assistant." → "You are a bank\'s assistant."' in error["message"]


def test_a_tool_that_runs_is_judged_by_what_it_answers_now(recorded: LiveProject) -> None:
    """Only the test lets it run."""
    shop(
        recorded,
        {"id": "fx.web", "tool": "web_search", "response": "no delays"},
        live={"run_tools": [LOOKUP]},
    )
    settle(recorded, answer="order 42: lost")
    result = only(recorded)
    assert (result["status"], result["live"]["ran"]) == ("fail", [LOOKUP])
    assert [each["id"] for each in result["assertions"] if each["status"] == "fail"] == ["grounded"]
    assert result["warnings"][0].startswith("stale: result of call 1 (mcp__shop__lookup_order) changed")


def scripted(project: LiveProject, *turns: Any, **spec: Any) -> dict[str, Any]:
    """What a test says for hand-written turns."""
    project.write("evals/order/turns.yaml", json.dumps(turns))
    return {"live": {"script": "turns.yaml", **spec}}


def test_a_call_without_a_fixture(project: LiveProject) -> None:
    """Of a built-in tool; scripted turns need no cassette."""
    shop(project, **scripted(project, tool_use("Read", file_path="/etc/passwd"), "Done."))
    error = only(project)["error"]
    assert error["reason_code"] == "live.no_fixture"
    assert 'called Read with {"file_path": "/etc/passwd"}' in error["message"]


@pytest.mark.parametrize("cli", CLIS or [None])
def test_nothing_really_runs_in_subagents_either(project: LiveProject, cli: str | None) -> None:
    """Each call is denied, of built-in and of MCP tools, and each gets its fixture."""
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(BlockingIOError):
        server.setblocking(False)
        outside = project.root / "outside"
        command = f"touch {outside} /out/REALLY-RAN; curl http://127.0.0.1:{server.getsockname()[1]}"
        call = [*tool_use("Bash", command=command), *tool_use(LOOKUP, order_id="42")]
        agent = tool_use(
            "Agent",
            description="look",
            prompt="Look.",
            subagent_type="general-purpose",
            run_in_background=False,
        )
        turns = [agent, call, "The subagent is done.", call, "Your order 42 ships tomorrow."]
        shop(
            project,
            {"id": "fx.sh", "tool": "bash", "response": "not from a shell"},
            {"id": "fx.order", "tool": "lookup_order", "response": SHIPS},
            **scripted(project, *turns),
        )
        project.configure(command={"run": [SDK, "agent.py"], "mounts": CLIS})
        settle(project, cli=cli)
        run = project.live("--live", "--save-traces", "--keep")
        result, kept = run.only_result(), kept_by(run)
        assert (result["status"], result["live"]["ran"]) == ("pass", [])
        answers = [data["result"] for kind, data in events(project) if kind == "tool_result"]
        # the CLI may ask for both agents at once: who gets which scripted turn, and how many, is then chance
        assert "not from a shell" in answers
        assert list(kept.glob("agent/*"))
        assert not [*kept.rglob("REALLY-RAN"), *project.root.glob("outside")]
        remove_kept()
        server.accept()


def test_a_hook_that_dies_in_the_middle_is_noticed(
    project: LiveProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The CLI lets calls run whose hook cannot be asked: what it reaches is the sandbox, and there is no verdict."""
    decide, asked = Fixtures.decide, list[object]()

    def dying(fixtures: Fixtures, event: Any) -> dict[str, Any]:
        asked.append(event)
        if len(asked) > 1:
            raise ConnectionError
        return decide(fixtures, event)

    monkeypatch.setattr(Fixtures, "decide", dying)
    outside = project.root / "outside"
    call = tool_use(LOOKUP, order_id="42")
    turns = [call, [*tool_use("Bash", command=f"touch {outside}"), *call], "It ships."]
    shop(project, **scripted(project, *turns))
    error = only(project)["error"]
    assert error["reason_code"] == "live.tool_escaped"
    assert len(asked) > 1
    assert not outside.exists()


def test_a_script_that_fails_and_one_that_takes_too_long(project: LiveProject) -> None:
    """An error of the SDK is no verdict."""
    shop(project, **scripted(project, "Done."))
    settle(project, cli="/nowhere")
    error = only(project)["error"]
    assert (error["reason_code"], "/nowhere" in error["message"]) == ("live.runner_failed", True)
    shop(project, **scripted(project, "Done.", timeout_s=0.5))
    assert only(project)["error"]["reason_code"] == "live.timeout"


BROKEN = """
mcp_servers={"shop": create_sdk_mcp_server("shop", "1", [lookup_order]),
             "mail": {"command": "python3", "args": ["-c", "raise SystemExit('no module named mail')"]}},
"""


@pytest.mark.parametrize("cli", CLIS or [None])
def test_a_server_that_does_not_start_is_named(project: LiveProject, cli: str | None) -> None:
    """By the log that the CLI keeps of it; the server in the script itself has none, and starts."""
    project.configure(command={"run": [SDK, "agent.py"], "mounts": CLIS})
    code, whole = (
        AGENT.read_text(encoding="utf-8"),
        'mcp_servers={"shop": create_sdk_mcp_server("shop", "1", [lookup_order])},',
    )
    assert whole in code
    project.write("agent.py", code.replace(whole, BROKEN.strip()))
    settle(project, cli=cli)
    shop(project, **scripted(project, tool_use(LOOKUP, order_id="42"), "Your order 42 ships tomorrow."))
    (warning,) = [each for each in only(project)["warnings"] if "live.mcp_server" in each]
    assert warning.startswith("live.mcp_server: the MCP server mail did not start: Connection failed")
    assert warning.endswith("\n    no module named mail")
    shop(project, **scripted(project, tool_use("mcp__mail__send"), "Your order 42 ships tomorrow."))
    assert only(project)["error"]["reason_code"] == "live.mcp_server"


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
