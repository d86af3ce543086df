"""`ncl` in a live run: what the host's side answers from a scratch install, and which calls really run."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agenteval_nanoclaw.live import ncl
from agenteval_nanoclaw.live.ncl import Desk, is_plain_call
from agenteval_nanoclaw.live.schedule import Schedule
from agenteval_nanoclaw.live.workspace import Workspace
from agenteval_nanoclaw.versions import RELEASES, Host
from fork_projects import SCHEMA

INBOUND, OUTBOUND = (
    SCHEMA.partition(f"{name}_SCHEMA = `")[2].partition("`")[0] for name in ("INBOUND", "OUTBOUND")
)
CENTRAL = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, agent_group_id TEXT, messaging_group_id TEXT, thread_id TEXT,
  agent_provider TEXT, status TEXT, container_status TEXT, last_active TEXT, created_at TEXT NOT NULL);
CREATE TABLE agent_groups (id TEXT PRIMARY KEY, name TEXT NOT NULL, folder TEXT NOT NULL, created_at TEXT NOT NULL);
INSERT INTO agent_groups VALUES ('ag-family', 'Andy', 'family', '2026-01-01'), ('ag-work', 'Other', 'work', '2026-01-01');
"""


class Agent:
    """An agent that asks with `ncl`, and reads the answer in its inbound database."""

    def __init__(self, root: Path, *, tasks: bool = True) -> None:
        release = RELEASES[0]
        host = Host(
            release=release,
            schemas=(CENTRAL, INBOUND, OUTBOUND),
            header="",
            settings={},
            ncl_tasks=tasks,
            series_sessions=tasks,
        )
        shared = root / "install/data/v2-sessions/ag-family/.claude-shared"
        self.workspace = Workspace(
            root=root / "install",
            owner="ag-family",
            group=root / "install/groups/family",
            session=shared.parent / "sess-live",
            shared=shared,
            timezone="Europe/Brussels",
            host=host,
        )
        for path in (self.workspace.session, self.workspace.inbound.parent):
            path.mkdir(parents=True)
        for path, schema in (
            (self.workspace.inbound, INBOUND),
            (self.workspace.outbound, OUTBOUND),
            (self.workspace.database, CENTRAL),
        ):
            with closing(sqlite3.connect(path)) as database:
                database.executescript(schema)
        self.asked = 0
        self.desk = Desk(self.workspace)

    def ask(self, command: str, **args: Any) -> dict[str, Any]:
        """The frame that the host answers a command with; its words are joined by dashes, as the client does."""
        self.asked += 1
        request = f"cli-{self.asked}"
        content = json.dumps(
            {"action": "cli_request", "requestId": request, "command": command, "args": args}
        )
        with closing(sqlite3.connect(self.workspace.outbound)) as database, database:
            row = (request, self.asked, "now", "system", content)
            database.execute(
                "INSERT INTO messages_out (id, seq, timestamp, kind, content) VALUES (?, ?, ?, ?, ?)", row
            )
        self.desk.attend()
        query = f"SELECT content FROM messages_in WHERE id = 'cli-resp-{request}' AND content LIKE '%\"requestId\":\"{request}\"%'"
        with closing(sqlite3.connect(self.workspace.inbound)) as database:
            ((text,),) = database.execute(query).fetchall()
        frame: dict[str, Any] = json.loads(text)["frame"]
        return frame

    def data(self, command: str, **args: Any) -> Any:
        frame = self.ask(command, **args)
        assert frame["ok"], frame
        return frame["data"]

    def refusal(self, command: str, **args: Any) -> tuple[str, str]:
        error: Mapping[str, str] = self.ask(command, **args)["error"]
        return error["code"], error["message"]


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ncl, "_LOOK_SECONDS", 0.0)


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


DAILY = {"name": "Daily brief!", "prompt": "Send the brief.", "recurrence": "0 9 * * *"}
ONCE = {"prompt": "Call Ada.", "process-after": "2030-01-05 18:00"}


def test_a_task_lives_from_its_creation_to_its_end(agent: Agent) -> None:
    """Each verb does in the scratch install what the host does, and answers as it does."""
    made = agent.data("tasks-create", **DAILY)
    series = made["series_id"]
    assert (series[:-4], made["status"], made["recurrence"]) == ("daily-brief-", "pending", "0 9 * * *")
    assert (made["origin_session_id"], made["session_id"]) == ("sess-live", f"sess-{series}")
    local = datetime.fromisoformat(made["process_after"]).astimezone(
        Schedule("* * * * *", "Europe/Brussels").zone
    )
    assert (local.hour, local.minute) == (9, 0)
    listed = agent.ask("tasks-list")
    assert [each["series_id"] for each in listed["data"]] == [series]
    assert listed["human"].splitlines()[0].split() == (
        ["SERIES", "SCHEDULE", "RUNS", "FAILED", "LAST", "RUN", "NEXT", "RUN", "STATUS", "AGE", "PROMPT"]
    )
    assert agent.data(f"tasks-pause-{series}") == {"series_id": series, "touched": 1}
    assert agent.data("tasks-get", id=series)["status"] == "paused"
    assert agent.data(f"tasks-resume-{series}")["touched"] == 1
    assert agent.data(f"tasks-update-{series}", prompt="Shorter.") == {
        "series_id": series, "touched": 1, "fields": ["prompt"],
    }  # fmt: skip
    assert agent.data(f"tasks-run-{series}")["series_id"] == series
    agent.data("tasks-append-log", id=series, msg="Nothing new.")
    got = agent.data(f"tasks-get-{series}")
    assert (got["prompt"], got["recent_log"][0][-14:]) == ("Shorter.", "— Nothing new.")
    assert agent.data(f"tasks-cancel-{series}")["touched"] == 2
    assert agent.ask("tasks-list")["human"] == "No tasks."
    assert agent.data(f"tasks-delete-{series}") == {"series_id": series, "touched": 1}
    assert agent.refusal(f"tasks-get-{series}") == ("handler-error", f"task not found: {series}")


def test_a_task_has_the_same_id_in_every_run(tmp_path: Path) -> None:
    """A played model knows ids from the recorded run; two tasks of one name still differ."""
    found = [[Agent(tmp_path / name).data("tasks-create", **ONCE)["series_id"]] for name in ("a", "b")]
    assert found[0] == found[1]
    agent = Agent(tmp_path / "c")
    first, second = (agent.data("tasks-create", **DAILY)["series_id"] for _ in range(2))
    assert first != second


def test_all_is_the_kill_switch(agent: Agent) -> None:
    """It cancels every task of the group."""
    for _ in range(2):
        agent.data("tasks-create", **ONCE)
    assert agent.data("tasks-cancel", all=True) == {"cancelled": 2}


REFUSED: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "no prompt": ("tasks-create", {}, "invalid-args", "--prompt is required"),
    "no time": ("tasks-create", {"prompt": "x"}, "handler-error", "--process-after is required"),
    "no moment": ("tasks-create", {"prompt": "x", "process-after": "soon"}, "handler-error", "invalid --process-after: soon"),
    "no cron": ("tasks-create", {"prompt": "x", "recurrence": "daily"}, "handler-error", "invalid --recurrence"),
    "too often": ("tasks-create", {"prompt": "x", "recurrence": "*/5 * * * *"}, "handler-error", "more than 4 times a day"),
    "unknown flag": ("tasks-create", {"prompt": "x", "promt": "y"}, "invalid-args", "unknown flag --promt"),
    "no value": ("tasks-create", {"prompt": True}, "invalid-args", "--prompt requires a value"),
    "no task": ("tasks-pause-none", {}, "handler-error", "no live task matched: none"),
    "no id": ("tasks-get", {}, "invalid-args", "--id is required"),
    "another group": ("tasks-list", {"group": "ag-work"}, "forbidden", "scoped to this agent group"),
    "users": ("users-list", {}, "forbidden", 'Cannot access "users"'),
    "unknown verb": ("tasks-explode", {}, "unknown-command", "verbs for tasks: list, get, create"),
    "unknown": ("frobnicate", {}, "unknown-command", 'no command "frobnicate"'),
    "approval": ("groups-restart", {}, "approval-pending", "Approval request sent to admin"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_has_the_hosts_code(agent: Agent, name: str) -> None:
    """Nothing of it is carried out."""
    command, args, code, message = REFUSED[name]
    found = agent.refusal(command, **args)
    assert found[0] == code
    assert message in found[1]
    assert agent.data("tasks-list") == []


def test_what_an_owner_approves_is_held(agent: Agent) -> None:
    """It waits in the central database, as on a host where nobody has tapped yet."""
    agent.ask("groups-config-update", model="claude-own")
    query = "SELECT action, status, title, question FROM pending_approvals"
    assert agent.workspace.central(query) == [
        ("cli_command", "pending", "CLI: groups-config-update", "ncl groups-config-update --model claude-own")
    ]


def test_an_agent_looks_up_its_own_group_alone(agent: Agent) -> None:
    """Others are neither listed nor found."""
    assert [each["id"] for each in agent.data("groups-list")] == ["ag-family"]
    assert agent.data("groups-get")["name"] == "Andy"
    assert agent.data("destinations-list") == []
    assert agent.refusal("groups-get", id="ag-work")[0] == "handler-error"
    assert "tasks" in agent.ask("help")["human"]


def test_a_release_without_series_has_no_tasks_command(tmp_path: Path) -> None:
    """NanoClaw 2.0 has tools for that."""
    assert Agent(tmp_path, tasks=False).refusal("tasks-list")[0] == "unknown-command"


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("ncl tasks list", True),
        ("/usr/local/bin/ncl tasks create --prompt 'a; b | c'", True),
        ("ncl tasks list | head", False),
        ("ncl tasks list; rm -rf /", False),
        ("ncl tasks list && date", False),
        ('ncl tasks create --prompt "$(cat /etc/passwd)"', False),
        ("ncl tasks list > out", False),
        ("ncl tasks list\ndate", False),
        ("ncl 'unclosed", False),
        ("nclx tasks list", False),
        ("", False),
    ],
)  # fmt: skip
def test_only_a_plain_call_runs_without_leave(command: str, runs: bool) -> None:
    """A second command beside it would run, too."""
    assert is_plain_call(command) == runs


@pytest.mark.parametrize(
    ("expression", "timezone", "after", "due"),
    [
        ("0 7 * * *", "UTC", "2026-11-27T06:59:59", "2026-11-27T07:00:00"),
        ("0 7 * * *", "UTC", "2026-11-27T07:00:00", "2026-11-28T07:00:00"),
        ("0 7 * * *", "Europe/Brussels", "2026-07-01T06:00:00", "2026-07-02T05:00:00"),
        ("*/15 9-10 * * 1-5", "UTC", "2026-11-27T10:46:00", "2026-11-30T09:00:00"),
        ("30 0 1,15 jan,JUL ?", "UTC", "2026-07-15T00:30:00", "2027-01-01T00:30:00"),
        ("0 0 29 2 *", "UTC", "2026-03-01T00:00:00", "2028-02-29T00:00:00"),
        ("0 12 13 * fri", "UTC", "2026-11-28T00:00:00", "2026-12-04T12:00:00"),
        ("15 30 8 * * *", "UTC", "2026-11-28T08:00:00", "2026-11-28T08:30:15"),
        ("@weekly", "UTC", "2026-11-28T00:00:00", "2026-11-29T00:00:00"),
        ("0 9 * * 7", "UTC", "2026-11-28T00:00:00", "2026-11-29T09:00:00"),
    ],
)
def test_a_cron_expression_is_due(expression: str, timezone: str, after: str, due: str) -> None:
    """In the group's time zone; where day and weekday are both given, either is enough."""
    moment = datetime.fromisoformat(after).replace(tzinfo=UTC)
    assert Schedule(expression, timezone).after(moment).isoformat() == f"{due}+00:00"


@pytest.mark.parametrize(
    "expression", ["", "daily", "* * *", "61 * * * *", "0 9 * * mo-", "0 0 30 2 *", "*/0 * * * *"]
)
def test_no_cron_expression_is_refused(expression: str) -> None:
    """In words, with what is wrong of it."""
    with pytest.raises(ValueError, match="--recurrence"):
        Schedule(expression, "UTC").after(datetime(2026, 1, 1, tzinfo=UTC))
