"""An MCP server that did not start is named: its tools are missing, and the CLI goes on without a word."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from agenteval.live.servers import failed_servers
from live_projects import LiveProject, needs_sandbox

STARTING = {"debug": "Starting connection with timeout of 30000ms"}
WROTE = {"error": "Server stderr: starting\nno module named shop\n"}
RESTARTED = {"debug": "stderr of the stdio server before restarting it: no module named shop\n"}
CLOSED = {"error": "Connection failed: MCP error -32000: Connection closed"}
TIMED_OUT = {
    "error": 'Connection failed (CONNECT_TIMEOUT): MCP server "shop" connection timed out after 30000ms'
}
CONNECTED = {"debug": "Successfully connected (transport: stdio) in 3877ms"}
SHOP, LINES = "the MCP server shop did not start", "the last lines of its log:"
LOG = ".cache/claude-cli-nodejs/-workspace/mcp-logs-{}/2026-11-28T11-50-11-144Z.jsonl"


def log(home: Path, entries: Sequence[dict[str, str]], server: str = "shop") -> Path:
    """A log of a server, as the CLI writes it."""
    path = home / LOG.format(server)
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in entries))
    return path


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            [STARTING, WROTE, CLOSED],
            f"{SHOP}: Connection failed: MCP error -32000: Connection closed; {LINES}\n    starting\n    no module named shop",
        ),
        (
            [STARTING, RESTARTED, TIMED_OUT],
            f"{SHOP}: {TIMED_OUT['error']}; {LINES}\n    no module named shop",
        ),
        ([STARTING], f"{SHOP}: it was still starting when the run was over"),
        ([STARTING, CLOSED, CONNECTED], ""),
        ([STARTING, WROTE, CONNECTED, {"error": "Connection failed: closed"}], ""),
        ([], ""),
    ],
)
def test_a_log_without_a_connection_is_of_a_server_that_did_not_start(
    tmp_path: Path, entries: Sequence[dict[str, str]], message: str
) -> None:
    """One that was connected at any time has started."""
    log(tmp_path / "home", entries)
    found = failed_servers(tmp_path / "home", tmp_path / "copies", [])
    assert [each.message for each in found] == [message] * bool(message)


def test_a_server_with_tools_that_were_offered_has_started(tmp_path: Path) -> None:
    """Logs and tools write other signs than letters and digits differently."""
    log(tmp_path / "home", [STARTING, CLOSED], "My-shop-v2")
    log(tmp_path / "home", [STARTING, CLOSED], "mail")
    found = failed_servers(tmp_path / "home", tmp_path / "copies", ["Read", "mcp__my_shop_v2__look_up"])
    assert [each.name for each in found] == ["mail"]


def test_logs_that_are_no_logs(tmp_path: Path) -> None:
    """An agent can write them: links lead nowhere, and broken lines are passed over."""
    outside = log(tmp_path / "outside", [STARTING, CLOSED])
    link = tmp_path / "home" / LOG.format("linked")
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    assert failed_servers(tmp_path / "home", tmp_path / "copies", []) == []
    broken = log(tmp_path / "other", [STARTING])
    broken.write_bytes(b'[]\n"text"\n\xff{\n' + json.dumps(CLOSED).encode() + b'\n{"error": "cut o')
    assert [each.why for each in failed_servers(tmp_path / "other", tmp_path / "copies-2", [])] == [
        "Connection failed: MCP error -32000: Connection closed"
    ]


@needs_sandbox
@pytest.mark.parametrize(
    ("available", "called", "status"),
    [
        (["lookup"], "lookup", "warns"),
        (["lookup", "mcp__mail__send"], "lookup", "mcp__mail__send"),
        (["lookup", "mcp__mail__*"], "lookup", "mcp__mail__*"),
        (["lookup", "send"], "lookup", "send"),
        (["lookup"], "mcp__mail__send", "mcp__mail__send"),
    ],
)
def test_a_test_that_needs_the_server_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, available: list[str], called: str, status: str
) -> None:
    """Its tools are available to the test, or the played model called one; else the failure is a warning."""
    monkeypatch.chdir(tmp_path)
    project = LiveProject(tmp_path, monkeypatch)
    code = (tmp_path / "agent.py").read_text()
    failing = [STARTING, WROTE, CLOSED]
    lines = "".join(f"{json.dumps(each)}\n" for each in failing)
    project.write(
        "agent.py",
        f"from pathlib import Path\nlog = Path.home() / {LOG.format('mail')!r}\nlog.parent.mkdir(parents=True)\n"
        f"log.write_text({lines!r})\n{code}",
    )
    project.track()
    turns = [[{"type": "tool_use", "name": called, "input": {}}], "It ships tomorrow."]
    project.write("evals/order/turns.yaml", json.dumps(turns))
    answers = [
        {"id": name, "tool": name, "response": "order 42: ships tomorrow"} for name in ("lookup", "send")
    ]
    project.test(tools={"available": available, "fixtures": answers}, live={"script": "turns.yaml"})
    result = project.live("--live").only_result()
    said = "the MCP server mail did not start: Connection failed: MCP error -32000: Connection closed"
    if status == "warns":
        assert result["error"] is None
        assert result["warnings"][0].startswith(f"live.mcp_server: {said}; the last lines of its log:")
    else:
        assert result["error"]["reason_code"] == "live.mcp_server"
        assert result["error"]["message"].startswith(said)
        assert f"the test needs its tool {status}" in result["error"]["message"]
