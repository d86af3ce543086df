"""A scratch install of NanoClaw v2, in the situation that a test describes: databases, group folders, settings."""

import json
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from posixpath import normpath
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError, FileError
from agenteval.contracts.testcase import TestCase, memory_text, other_memories
from agenteval.contracts.trace import Trace
from agenteval.live.command import copy_files, tracked_files
from agenteval.live.left import copy_left
from agenteval.live.options import live_error
from agenteval.reading.documents import read_text
from agenteval_nanoclaw.live.checkout import Checkout, unsupported_table
from agenteval_nanoclaw.session.memory import LOCAL, MAIN
from agenteval_nanoclaw.session.store import BESIDE, CONTINUATION, json_of
from agenteval_nanoclaw.session.values import iso, milliseconds, record_of
from agenteval_nanoclaw.versions import RUN_LOG, TASK_SESSION, Host

CHANNEL = "chat"
"""The channel that all destinations of a scratch install are on."""
ASSISTANT = "Andy"
"""NanoClaw's default name of an assistant; a template may have another."""
SESSION = "sess-live"
BEFORE = "0be40e00-0000-4000-8000-000000000000"
"""The id of the SDK's session in which the conversation before was led."""
EXTRA = "/workspace/extra/"
_MOST_STEPS = 5_000_000
"""The most steps of SQLite's machine that a query may take: some tenths of a second."""
INBOUND = "inbound.db"
CONTEXT = "session-context.json"
"""The file beside a session's folder that tells the runner which session it serves."""
_PERSONA = "persona.md"
_PAUSE_SECONDS = 60
"""The seconds between the end of the earlier conversation and the run."""
_HOST_CREATED = "2026-01-01T00:00:00.000Z"
_PLAIN = re.compile(r"[\w][\w.-]*")
_ID = re.compile(r"\b[a-z0-9]+-\d{13}-[a-z0-9]{4,}\b")
"""The ids that NanoClaw makes up: a kind, the time in milliseconds, and something random."""
_OF_TASK = {
    "id": "taskId",
    "series_id": "taskId",
    "process_after": "processAfter",
    "recurrence": "recurrence",
    "platform_id": "platformId",
    "channel_type": "channelType",
    "thread_id": "threadId",
}
"""Columns of a task that was scheduled, with the names that the request to the host has for them."""
_ACKNOWLEDGED = "SELECT message_id FROM processing_ack WHERE status IN ('completed', 'failed')"
_MOST_MINUTES = 60
_FULL_TIME = "%A, %B %-d, %Y at %-I:%M"
"""The format of the time at which a task begins to run."""
_APPROVALS = """CREATE TABLE IF NOT EXISTS pending_approvals (approval_id TEXT PRIMARY KEY, session_id TEXT, request_id TEXT,
  action TEXT, payload TEXT, created_at TEXT, agent_group_id TEXT, channel_type TEXT, platform_id TEXT,
  platform_message_id TEXT, expires_at TEXT, status TEXT, title TEXT, options_json TEXT, approver_user_id TEXT,
  question TEXT, instance TEXT)"""
"""The tables that only migrations of the host make; its schema files lack them."""
_LOCAL_TIME = "%b %-d, %Y, %-I:%M"


@dataclass(slots=True, kw_only=True)
class Workspace:
    """A scratch install. `group`, `session` and `shared` are the folders of the one agent that runs.

    `mounts` are folders of ours by their path in the container; True marks a read-only one. `clock` maps times of
    this run, as the agent reads them, to their placeholders.
    """

    root: Path
    owner: str
    group: Path
    session: Path
    shared: Path
    timezone: str
    host: Host
    series: str = ""
    """The series of tasks that the session belongs to alone; empty for a session with people."""
    began: str = field(default_factory=lambda: iso(int(time.time() * 1000)))
    """The time at which it was made; anything earlier was before this run."""
    config: dict[str, Any] = field(default_factory=dict)
    """The content of the group's container.json."""
    mounts: dict[str, tuple[Path, bool]] = field(default_factory=dict)
    clock: dict[str, str] = field(default_factory=dict)
    instructions: dict[str, str] = field(default_factory=dict)
    """The files with the author's instructions that a group has, each with its text."""
    messages: dict[str, str] = field(default_factory=dict)
    """The test's texts of memory and of the earlier conversation, by their place in the test."""
    logs: dict[str, list[str]] = field(default_factory=dict)
    """The logs of series of tasks, line by line: not files, since the agent may make links where those would be."""

    @property
    def before(self) -> Path:
        """The transcript of what was said before."""
        return self.shared / "projects" / "-workspace-agent" / f"{BEFORE}.jsonl"

    @property
    def has_before(self) -> bool:
        """True if there was an earlier conversation."""
        return self.before.is_file()

    @property
    def inbound(self) -> Path:
        """The database that the host writes; the agent can only read it: in a folder of its own it could put a link there."""
        return self.root.parent / "host" / INBOUND

    @property
    def outbound(self) -> Path:
        """The database that the agent's side writes."""
        return self.session / "outbound.db"

    def acknowledged(self) -> tuple[set[Any], set[Any]]:
        """Return the messages that the agent has to answer, and those that its runner acknowledged."""
        pending = rows(self.inbound, "SELECT id FROM messages_in WHERE trigger = 1")
        return set(pending), set(left_rows(self.outbound, _ACKNOWLEDGED))

    def sweep(self) -> bool:
        """Mark acknowledged messages as completed, as the host does once a minute; return whether there were any.

        The runner looks at ten pending messages at a time. Until 2.2, the acknowledged ones among them hid all others.
        """
        pending = set(rows(self.inbound, "SELECT id FROM messages_in WHERE status = 'pending'"))
        if done := pending & set(left_rows(self.outbound, _ACKNOWLEDGED)):
            with _writing(self.inbound) as database:
                database.executemany("UPDATE messages_in SET status = 'completed' WHERE id = ?", sorted(done))
        return bool(done)

    def stamp(self, moment: datetime) -> str:
        """A time as the host of this checkout writes it into rows of tasks."""
        if self.host.zoned_tasks:
            return iso(int(moment.timestamp() * 1000))
        return moment.strftime("%Y-%m-%d %H:%M:%S")

    def sent(self) -> list[tuple[str, str, str]]:
        """The messages that the agent has sent so far: id, kind and content."""
        return left_rows(self.outbound, "SELECT id, kind, content FROM messages_out ORDER BY seq")

    def known(self) -> dict[str, str]:
        """Times and ids of this run alone, with what stands for each."""
        found = self.clock | self._minutes()
        ids = (each for row in self.sent() for text in row for each in _ID.findall(text))
        for each in dict.fromkeys(ids):
            found[each] = f"<{each.partition('-')[0]} {len(found) + 1}>"
        return found

    def _minutes(self) -> dict[str, str]:
        """The minutes of this run, as the agent is told what time it is when a task begins."""
        began = datetime.fromtimestamp((milliseconds(self.began) or 0) / 1000, ZoneInfo(self.timezone))
        passed = min(int(time.time() - began.timestamp()) // 60 + 2, _MOST_MINUTES)
        found = {}
        for minute in range(passed):
            moment = began + timedelta(minutes=minute)
            for gap in (" ", "\u202f"):
                shown = f"{moment.strftime(_FULL_TIME)}{gap}{moment.strftime('%p')}"
                found[f'current_time="{shown}"'] = 'current_time="<now>"'
        return found

    # What the host does while the agent runs, and after ------------------------------------------------------

    def answer(self, message: str, name: str, content: str) -> None:
        """Write the host's answer to a message that the agent waits for, and that the message has arrived."""
        with _writing(self.inbound) as database:
            put(
                database,
                "messages_in",
                id=name,
                seq=_next_seq(database),
                kind="system",
                timestamp=_now(),
                status="pending",
                tries=0,
                trigger=0,
                on_wake=0,
                content=content,
            )
            _delivered(database, message, None)

    @property
    def database(self) -> Path:
        """The central database."""
        return self.root / "data" / "v2.db"

    def central(self, query: str, *values: Any) -> list[Any]:
        """Run a query on the central database; return nothing if it has no such table."""
        return rows(self.database, query, *values)

    def destinations(self) -> list[dict[str, Any]]:
        """List the agent's destinations, as the host does."""
        found = rows(
            self.inbound,
            "SELECT name, type, channel_type, display_name, platform_id FROM destinations ORDER BY name",
        )
        return [
            {
                "agent_group_id": self.owner,
                "local_name": name,
                "target_type": kind,
                "target_id": address,
                "channel_type": channel,
                "display_name": shown,
                "created_at": _HOST_CREATED,
            }
            for name, kind, channel, shown, address in found
        ]

    def hold(self, action: str, payload: Mapping[str, Any], title: str, question: str) -> None:
        """Write that something waits for an owner's approval."""
        with _writing(self.database) as database:
            database.execute(_APPROVALS)
            (number,) = database.execute("SELECT count(*) + 1 FROM pending_approvals").fetchone()
            put(
                database,
                "pending_approvals",
                approval_id=f"appr-live-{number}",
                session_id=self.session.name,
                request_id=f"appr-live-{number}",
                action=action,
                payload=json.dumps(payload, ensure_ascii=False),
                created_at=_now(),
                agent_group_id=self.owner,
                status="pending",
                title=title,
                question=question,
                options_json="[]",
            )

    def task_sessions(self) -> list[str]:
        """The sessions that belong to one series of tasks each."""
        query = (
            "SELECT id FROM sessions WHERE agent_group_id = ? AND thread_id LIKE ? ORDER BY created_at, rowid"
        )
        return [name for (name,) in self.central(query, self.owner, f"{TASK_SESSION}%")]

    def open_series(self, session: str, series: str) -> None:
        """Make the session of a new series of tasks."""
        folder = self.session.parent / session
        folder.mkdir()
        _, inbound, outbound = self.host.schemas
        for name, schema in (("inbound", inbound), ("outbound", outbound)):
            with _writing(folder / f"{name}.db") as database:
                database.executescript(schema)
        with _writing(self.database) as database:
            _session_row(database, self.owner, session, f"{TASK_SESSION}{series}")

    def read(self, session: str, query: str) -> list[Any]:
        """Run a query on the database that the host wrote for a session."""
        return rows(self.session.parent / session / "inbound.db", query)

    def put_task(self, session: str, **task: Any) -> dict[str, Any]:
        """Add a run of a task to a session; the row."""
        with _writing(self.session.parent / session / "inbound.db") as database:
            row = {"kind": "task", "timestamp": _now(), "tries": 0, "trigger": 1, "on_wake": 0, **task}
            row["seq"] = _next_seq(database)
            put(database, "messages_in", **row)
        return row

    def change(self, session: str, change: str, **values: Any) -> None:
        """Change rows of what the host wrote for a session."""
        with _writing(self.session.parent / session / "inbound.db") as database:
            database.execute(f"UPDATE messages_in SET {change}", values)  # noqa: S608 - ours

    def remove_task(self, session: str, row: str) -> None:
        """Remove a run of a task."""
        with _writing(self.session.parent / session / "inbound.db") as database:
            database.execute("DELETE FROM messages_in WHERE id = ?", [row])

    def log_task(self, series: str, text: str) -> str:
        """Add a line to the log of a series of tasks; the time that it has."""
        stamp = datetime.now(ZoneInfo(self.timezone)).strftime("%Y-%m-%d %H:%M")
        self.logs.setdefault(series, []).append(f"{stamp} — {text}")
        return stamp

    def deliver(self) -> None:
        """Do with all that was sent what the host does: deliver, log, hold for approval, schedule."""
        with _writing(self.inbound) as database:
            known = {row for (row,) in database.execute("SELECT message_out_id FROM delivered")}
            for number, (message, kind, text) in enumerate(self.sent(), 1):
                if message in known:
                    continue
                content_sent = record_of(json_of(text))
                if kind == "system" and content_sent.get("action") == "schedule_task":
                    task = {row: content_sent.get(key) for row, key in _OF_TASK.items()}
                    content = {"prompt": content_sent.get("prompt"), "script": content_sent.get("script")}
                    task |= {
                        "seq": _next_seq(database),
                        "kind": "task",
                        "timestamp": self.stamp(datetime.now(UTC)),
                    }
                    task |= {"status": "pending", "tries": 0, "trigger": 1, "content": json.dumps(content)}
                    put(database, "messages_in", **task)
                elif kind == "system" and (action := str(content_sent.get("action"))) in self.host.held:
                    self.hold(action, content_sent, action, json.dumps(content_sent, ensure_ascii=False))
                elif kind == RUN_LOG and self.series:
                    self.log_task(self.series, str(content_sent.get("text") or ""))
                arrives = kind not in ("system", RUN_LOG)
                _delivered(database, message, f"live:{number}" if arrives else None)
        shutil.copyfile(self.inbound, self.session / INBOUND)


def _next_seq(database: sqlite3.Connection) -> int:
    """The number of the host's next row: the host has the even ones."""
    (last,) = database.execute("SELECT coalesce(max(seq), 0) FROM messages_in").fetchone()
    return int(last) + 2 - int(last) % 2


def _delivered(database: sqlite3.Connection, message: str, arrived: str | None) -> None:
    put(
        database,
        "delivered",
        message_out_id=message,
        platform_message_id=arrived,
        status="delivered",
        delivered_at=_seconds(datetime.now(UTC)),
    )


def _session_row(database: sqlite3.Connection, owner: str, session: str, thread: str | None) -> None:
    if database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sessions'").fetchone():
        created = {"status": "active", "container_status": "stopped", "created_at": _now()}
        put(database, "sessions", id=session, agent_group_id=owner, thread_id=thread, **created)


def _now() -> str:
    return iso(int(time.time() * 1000))


def rows(path: Path, query: str, *values: Any) -> list[Any]:
    """Run a query on a database that only we write; return nothing if a table is missing."""
    try:
        with _writing(path) as database:
            return database.execute(query, values).fetchall()
    except sqlite3.OperationalError:
        return []


def left_rows(path: Path, query: str) -> list[Any]:
    """Run a query on a copy of a database of the agent's; return nothing while the agent is writing.

    SQLite follows links, also in place of the files beside a database, and writes to some of them. Raises `AdapterError`
    (`live.no_replay`) for a link.
    """
    names = [path.name + suffix for suffix in BESIDE]
    with TemporaryDirectory(prefix="agenteval-") as folder:
        copied = [
            copy_left(path.parent, Path(folder, number), names, inside="/workspace") for number in ("1", "2")
        ]
        if copied[0] != copied[1] or f"/{path.name}" not in copied[0]:
            return []
        try:
            with _writing(Path(folder, "1", path.name)) as database:
                return database.execute(query).fetchall()
        except sqlite3.DatabaseError:
            return []


@contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A database of the scratch install; what is written counts once the context ends without an error."""
    with closing(sqlite3.connect(path)) as database, database:
        database.set_progress_handler(lambda: True, _MOST_STEPS)  # an agent can make a view that never ends
        yield database


def put(database: sqlite3.Connection, table: str, **values: Any) -> None:
    """Add a row, of the columns that the checkout's table has. Raises `AdapterError` where it needs others."""
    columns = {row[1]: row for row in database.execute(f"PRAGMA table_info({table})")}
    needed = [name for name, row in columns.items() if row[3] and row[4] is None and not row[5]]
    if missing := [name for name in needed if name not in values] or ([] if columns else ["any"]):
        raise unsupported_table(
            f"the table {table} needs the column {missing[0]}, and nobody knows what is in it"
        )
    given = {name: value for name, value in values.items() if name in columns}
    marks = ", ".join("?" * len(given))
    database.execute(
        f"INSERT INTO {table} ({', '.join(given)}) VALUES ({marks})",  # noqa: S608 - names of ours
        list(given.values()),
    )


def build(
    checkout: Checkout,
    case: TestCase,
    context: AdapterContext,
    recorded: Trace | None,
    *,
    scratch: Path,
    templates: Path | None,
) -> Workspace:
    """The install for a test. `recorded` is the trace of its recording; `templates` the folder of group templates, if there is one.

    Raises `AdapterError`.
    """
    scenario = case.scenario
    root, folder = scratch / "install", _folder_name(scenario.group_id)
    owner = f"ag-{folder}"
    shared = root / "data" / "v2-sessions" / owner / ".claude-shared"
    named = scenario.session_id or ""
    session = shared.parent / (named if _is_plain(named) else SESSION)
    workspace = Workspace(
        root=root,
        owner=owner,
        group=root / "groups" / folder,
        session=session,
        shared=shared,
        timezone=_timezone(case),
        host=checkout.host,
        series=_series(case)
        if checkout.host.series_sessions and case.scenario.trigger == "scheduler"
        else "",
    )
    (root / "groups").mkdir(parents=True)
    workspace.inbound.parent.mkdir()
    for made in (shared / "skills", session / "outbox", session / "inbox"):
        made.mkdir(parents=True)
    container = _group_folder(workspace, checkout, recorded, templates)
    _others(workspace, case, context, checkout.host.memory)
    _fill_memory(
        workspace, scenario.group_id, scenario.memory_snapshot, workspace.group, checkout.host.memory
    )
    _databases(workspace, checkout, case, recorded, container)
    workspace.messages |= _messages(case)
    for index, message in enumerate(scenario.input_messages):
        if message.role != "user":
            context.warn(
                f"scenario.input_messages[{index}] is of the role {message.role}, and a live run hands it to the agent "
                "as a message of a user"
            )
    if scenario.prior_messages:
        _conversation(workspace, case)
    return workspace


def _folder_name(group: str) -> str:
    return group if _is_plain(group) else re.sub(r"[^\w-]+", "-", group).strip("-") or "group"


def _is_plain(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None


def _messages(case: TestCase) -> dict[str, str]:
    """Collect a test's texts of its group's memory and of the earlier conversation, by their place in the test."""
    scenario, memory = case.scenario, case.scenario.memory_snapshot
    found = {f"prior_messages[{index}]": each.content for index, each in enumerate(scenario.prior_messages)}
    if memory is not None and not isinstance(memory, list):
        found["memory_snapshot"] = "\n".join(memory_text(memory))
    for index, entry in enumerate(memory if isinstance(memory, list) else ()):
        if not isinstance(entry, dict) or entry.get("group_id") in (None, scenario.group_id):
            found[f"memory_snapshot[{index}]"] = "\n".join(memory_text(entry))
    return found


def _series(case: TestCase) -> str:
    context = case.scenario.scheduler_context or {}
    return str(context.get("series_id") or context.get("task_id") or "task-live")


def _timezone(case: TestCase) -> str:
    """The host's time zone: the one that the test names, and UTC everywhere else, so that it is the same everywhere."""
    name = (case.scenario.scheduler_context or {}).get("timezone")
    try:
        return str(ZoneInfo(name)) if isinstance(name, str) else "UTC"
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"


# Group folders ------------------------------------------------------------------------------------------------


def _group_folder(
    workspace: Workspace, checkout: Checkout, recorded: Trace | None, templates: Path | None
) -> dict[str, Any]:
    """Make the group's folder, from its template if there is one; what is returned stands in its container.json."""
    group, shared = workspace.group, workspace.shared
    template = templates / group.name if templates else None
    if template and template.is_dir():
        copy_files(template, tracked_files(template), group)
    else:
        group.mkdir()
    container = _container(group / "container.json", template)
    servers: dict[str, Any] = container.setdefault("mcpServers", {})
    for server, tools in _stand_ins(recorded).items():
        given = json.dumps(list(tools.values()), ensure_ascii=False)
        servers.setdefault(server, {"command": "bun", "args": ["/agenteval/tools.mjs", given], "env": {}})
    for name, default in (
        ("packages", {"apt": [], "npm": []}),
        ("skills", "all"),
        ("groupName", ASSISTANT),
        ("assistantName", ASSISTANT),
    ):
        container.setdefault(name, default)
    container |= {"additionalMounts": [], "agentGroupId": workspace.owner}
    workspace.config = container
    (group / "container.json").write_text(json.dumps(container, indent=2, ensure_ascii=False) + "\n")
    (shared / "settings.json").write_text(json.dumps(checkout.host.settings, indent=2) + "\n")
    skills = checkout.skills if container["skills"] == "all" else container["skills"]
    for skill in skills:
        (shared / "skills" / str(skill)).symlink_to(f"/app/skills/{skill}")
    workspace.instructions |= _compose(group, checkout.host, checkout.files, container)
    (group / LOCAL).touch()
    if checkout.host.session_context:
        context = {"agentGroupId": workspace.owner, "sessionId": workspace.session.name, "mailbox": None}
        (shared.parent / CONTEXT).write_text(json.dumps(context))
    return container


def _container(path: Path, template: Path | None) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        container = json.loads(read_text(path))
        if isinstance(container, dict) and isinstance(container.get("mcpServers", {}), dict):
            return container
        problem = "its form is not that of a container.json"
    except FileError as error:
        raise AdapterError.of(error.problems) from None
    except ValueError as error:
        problem = str(error)
    raise live_error(
        "live.bad_template",
        f"{template}/container.json: {problem}",
        "correct the group's template, as NanoClaw writes it: {mcpServers: {...}, skills: all, ...}",
        "adapter",
    )


def _stand_ins(recorded: Trace | None) -> dict[str, dict[str, Any]]:
    """The MCP servers that a recording shows beside NanoClaw's own: their tools, as far as calls tell them."""
    servers: dict[str, dict[str, Any]] = {}
    for call in recorded.calls() if recorded else ():
        kind, _, rest = call.recorded_tool.partition("__")
        server, _, tool = rest.partition("__")
        if kind != "mcp" or not tool or server == "nanoclaw":
            continue
        tools = servers.setdefault(server, {})
        schema = {"type": "object", "properties": {}}
        known = tools.setdefault(tool, {"name": tool, "description": "As recorded.", "inputSchema": schema})
        known["inputSchema"]["properties"] |= {name: {} for name in sorted(call.args)}
    return servers


def _compose(group: Path, host: Host, files: Path, config: Mapping[str, Any]) -> dict[str, str]:
    """Write the group's instructions as the host composes them: its persona, and imports of what checkout and servers say.

    Returns the files with what they say, as the author knows them.
    """
    fragments = group / ".claude-fragments"
    fragments.mkdir()
    (group / ".claude-shared.md").symlink_to("/app/CLAUDE.md")
    skipped = host.without_cli if config.get("cliScope") == "disabled" else ()
    container = files / "container"
    links = {".claude-shared.md": container / MAIN}
    for path in container.glob("skills/*/instructions.md"):
        name = f"skill-{path.parent.name}.md"
        (fragments / name).symlink_to(f"/app/skills/{path.parent.name}/{path.name}")
        links[f".claude-fragments/{name}"] = path
    for path in container.glob("agent-runner/src/mcp-tools/*.instructions.md"):
        module = path.name.removesuffix(".instructions.md")
        if module not in skipped:
            (fragments / f"module-{module}.md").symlink_to(f"/app/src/mcp-tools/{path.name}")
            links[f".claude-fragments/module-{module}.md"] = path
    written = {
        f".claude-fragments/mcp-{server}.md": (
            f"the instructions of the MCP server {server}",
            str(each["instructions"]),
        )
        for server, each in config["mcpServers"].items()
        if isinstance(each, dict) and each.get("instructions")
    }
    first = [".claude-shared.md"]
    if persona := _persona(group, host):
        first.insert(0, f".claude-fragments/{_PERSONA}")
        written[first[0]] = (f"groups/{group.name}/{host.persona}", persona)
    for name, (_, text) in written.items():
        (group / name).write_text(text, encoding="utf-8")
    imports = [*first, *sorted({*links, *written} - set(first))]
    (group / MAIN).write_text(
        "\n".join([host.header, *(f"@./{name}" for name in imports), ""]), encoding="utf-8"
    )
    linked = {str(path.relative_to(files)): read_text(path) for path in links.values() if path.is_file()}
    return linked | dict(written.values())


def _persona(group: Path, host: Host) -> str:
    """The text that comes first in a group's instructions; empty where it has none. The host follows no link there."""
    path = group / host.persona if host.persona else group
    return read_text(path).strip() if path.is_file() and not path.is_symlink() else ""


# Memory -------------------------------------------------------------------------------------------------------


def _others(workspace: Workspace, case: TestCase, context: AdapterContext, memory: str) -> None:
    for number, mount in enumerate(case.scenario.mounts, 1):
        if not isinstance(mount, dict) or not str(mount.get("path", "")).startswith(EXTRA):
            context.warn(f"a live run cannot mount {mount!r}: only folders under {EXTRA} are known")
            continue
        inside, source = normpath(mount["path"]), str(mount.get("source") or "")
        of_group = source.startswith("groups/")
        name = _folder_name(source.removeprefix("groups/").strip("/") if of_group else f"mount-{number}")
        ours = workspace.root / ("groups" if of_group else "extra") / name
        ours.mkdir(parents=True, exist_ok=True)
        workspace.mounts[inside] = (ours, bool(mount.get("readonly", True)))
    for group, known in _known_of_others(case):
        folder = workspace.root / "groups" / _folder_name(group)
        folder.mkdir(exist_ok=True)
        # A group is given as its memory alone, or as an object with its memory beside other facts.
        fields = known if isinstance(known, dict) else {}
        content = next((fields[key] for key in ("memory_snapshot", "memory") if key in fields), known)
        _fill_memory(workspace, group, content, folder, memory)


def _known_of_others(case: TestCase) -> list[tuple[str, Any]]:
    return [(group, known) for group, known in other_memories(case.scenario) if group]


def _fill_memory(workspace: Workspace, group: str, memory: Any, folder: Path, file: str) -> None:
    """Write the files that hold a group's memory; what names no file is in `file`, the one that the agent is given."""
    if memory is None:
        return
    entries = memory if isinstance(memory, list) else [memory]
    loose: list[str] = []
    for entry in entries:
        fields = entry if isinstance(entry, dict) else {}
        named = fields.get("path") or fields.get("source")
        place = _place(workspace, str(named), folder) if named else None
        content = (
            fields["content"] if isinstance(fields.get("content"), str) else "\n".join(memory_text(entry))
        )
        if fields.get("group_id") not in (None, group) and not fields.get("path"):
            continue  # the memory of another group, without a place in its folder
        if place is None:
            loose.append(content)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8")
    if loose:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("\n".join(loose).rstrip("\n") + "\n", encoding="utf-8")


def _place(workspace: Workspace, path: str, folder: Path) -> Path | None:
    """Return the place of a file of memory in the scratch install; None for a path outside of any group."""
    if not path.startswith("/"):
        path = f"/workspace/agent/{path}" if path.endswith(".md") else "/"
    path = normpath(path)
    if path == "/workspace/group/CLAUDE.md":  # as v1 called it
        path = f"/workspace/agent/{LOCAL}"
    places = {inside: ours for inside, (ours, _) in workspace.mounts.items()}
    places |= {"/workspace/agent": folder, "/workspace/group": folder, "/home/node/.claude": workspace.shared}
    for inside, ours in places.items():
        if path.startswith(f"{inside}/") and path != f"/workspace/agent/{MAIN}":
            return ours / path[len(inside) + 1 :]
    return None


# Databases ----------------------------------------------------------------------------------------------------


def _databases(
    workspace: Workspace,
    checkout: Checkout,
    case: TestCase,
    recorded: Trace | None,
    container: Mapping[str, Any],
) -> None:
    _, inbound, outbound = checkout.host.schemas
    names = _destinations(case, recorded)
    own = next(iter(names))
    try:
        with _writing(workspace.inbound) as database:
            database.executescript(inbound)
            for name, shown in names.items():
                address = {"channel_type": CHANNEL, "platform_id": f"{CHANNEL}:{name}"}
                put(database, "destinations", name=name, display_name=shown, type="channel", **address)
                if name == own and not (series := workspace.series):
                    put(database, "session_routing", id=1, **address)
            if series:
                put(database, "session_routing", id=1, thread_id=f"{TASK_SESSION}{series}")
            for row in _inbound(workspace, case, own):
                put(database, "messages_in", **row)
        with _writing(workspace.outbound) as database:
            database.executescript(outbound)
        with _writing(workspace.database) as database:
            _central(database, workspace, checkout, case, container)
    except sqlite3.Error as error:
        raise unsupported_table(f"the databases of {checkout.root} cannot be made: {error}") from error


def _central(
    database: sqlite3.Connection,
    workspace: Workspace,
    checkout: Checkout,
    case: TestCase,
    container: Mapping[str, Any],
) -> None:
    database.executescript(checkout.host.schemas[0])
    database.execute(
        "CREATE TABLE IF NOT EXISTS container_configs (agent_group_id TEXT PRIMARY KEY, additional_mounts TEXT)"
    )
    groups = {_folder_name(group): group for group, _ in reversed(_known_of_others(case))}
    groups |= {workspace.group.name: case.scenario.group_id}
    for name, group in groups.items():  # the trace has groups by the names that the test has for them
        named = container["assistantName"] if name == workspace.group.name else group
        put(database, "agent_groups", id=f"ag-{name}", name=named, folder=group, created_at=_HOST_CREATED)
    mounted = json.dumps(
        [
            {"hostPath": str(ours), "containerPath": inside.removeprefix(EXTRA), "readonly": readonly}
            for inside, (ours, readonly) in workspace.mounts.items()
        ]
    )
    thread = f"{TASK_SESSION}{workspace.series}" if workspace.series else None
    _session_row(database, workspace.owner, workspace.session.name, thread)
    row = {"agent_group_id": workspace.owner, "additional_mounts": mounted, "updated_at": _HOST_CREATED}
    put(database, "container_configs", **row)


def _destinations(case: TestCase, recorded: Trace | None) -> dict[str, str]:
    """Return the agent's destinations by name, with the names that people read; first the conversation itself."""
    sender = next((each.sender for each in case.scenario.input_messages if each.sender), "") or ""
    own = re.sub(r"[^\w]+", "-", sender.lower()).strip("-")
    named: list[str] = []
    for event in recorded.of_type("final_output", "tool_result") if recorded else ():
        result = event.data.get("result")
        to = event.data.get("to") or (result.get("to") if isinstance(result, dict) else None)
        named += [to] if isinstance(to, str) else []
    if own not in named:
        own = (named or [own or _folder_name(case.scenario.group_id)])[0]
    return {name: sender if name == own and sender else name for name in dict.fromkeys([own, *named])}


def _inbound(workspace: Workspace, case: TestCase, conversation: str) -> Iterator[dict[str, Any]]:
    """A row for each message, pending: of a chat, or a task when the scheduler wakes the agent."""
    context = case.scenario.scheduler_context or {}
    now = datetime.now(UTC)
    address = f"{CHANNEL}:{conversation}"
    for number, message in enumerate(case.scenario.input_messages, 1):
        row = {"seq": 2 * number, "status": "pending", "tries": 0, "trigger": 1, "on_wake": 0}
        if not workspace.series:
            row |= {"platform_id": address, "channel_type": CHANNEL}
        if case.scenario.trigger == "scheduler":
            name = str(context.get("task_id") or "task-live") + (f"-{number}" if number > 1 else "")
            due = _moment(context.get("scheduled_for"))
            row |= {"kind": "task", "timestamp": workspace.stamp(_time(workspace, due, now))}
            # a task of the future would not be picked up
            row["process_after"] = context["scheduled_for"] if due and due <= now else None
            row |= {
                "series_id": str(context.get("series_id") or name),
                "recurrence": context.get("recurrence"),
            }
            content = {"prompt": message.content, "script": None}
        else:
            name = f"{number}:{workspace.owner}"
            moment = _time(workspace, _moment(message.ts), now)
            row |= {"kind": "chat-sdk", "timestamp": iso(int(moment.timestamp() * 1000)), "series_id": name}
            content = {"text": message.content, "sender": message.sender or conversation, "senderId": address}
        yield {**row, "id": name, "content": json.dumps(content, ensure_ascii=False)}


def _conversation(workspace: Workspace, case: TestCase) -> None:
    """A transcript of what was said before, which the agent's session goes on from."""
    workspace.before.parent.mkdir(parents=True)
    lines: list[dict[str, Any]] = []
    before = milliseconds(workspace.began) or 0
    before -= 1000 * (len(case.scenario.prior_messages) + _PAUSE_SECONDS)
    for number, said in enumerate(case.scenario.prior_messages, 1):
        message: dict[str, Any] = {"role": "user", "content": said.content}
        if said.role == "assistant":
            message = {
                "role": "assistant",
                "content": [{"type": "text", "text": said.content}],
                "id": f"msg_before_{number}",
                "type": "message",
                "model": "<before>",
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            }
        line = {
            "parentUuid": lines[-1]["uuid"] if lines else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/workspace/agent",
            "sessionId": BEFORE,
            "version": "2.1.128",
            "type": message["role"],
            "message": message,
            "uuid": f"{number:08x}-0000-4000-8000-000000000000",
            # the runner drops a session that began weeks ago, whatever the test says of when it was
            "timestamp": iso(before + 1000 * number),
        }
        lines.append(line)
    workspace.before.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    with _writing(workspace.outbound) as database:
        put(database, "session_state", key=CONTINUATION, value=BEFORE, updated_at=_HOST_CREATED)


def _time(workspace: Workspace, stated: datetime | None, now: datetime) -> datetime:
    """Return the time of an event: the test's, or now; then the agent gets a time that only this run has."""
    if stated is not None:
        return stated
    local = now.astimezone(ZoneInfo(workspace.timezone))
    for shown in (local, now.replace(tzinfo=None)):
        for gap in (" ", "\u202f"):
            workspace.clock[f"{shown.strftime(_LOCAL_TIME)}{gap}{shown.strftime('%p')}"] = "<now>"
    return now


def _moment(text: Any) -> datetime | None:
    time = milliseconds(text)
    return None if time is None else datetime.fromtimestamp(time / 1000, UTC)


def _seconds(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def far_from_today(case: TestCase, days: float) -> Sequence[str]:
    """The times that a test states, and that are further from today than this."""
    texts = [each.ts for each in case.scenario.input_messages]
    texts.append((case.scenario.scheduler_context or {}).get("scheduled_for"))
    now = datetime.now(UTC)
    moments = ((text, _moment(text)) for text in texts)
    return [str(text) for text, each in moments if each and abs((now - each).total_seconds()) > days * 86400]
