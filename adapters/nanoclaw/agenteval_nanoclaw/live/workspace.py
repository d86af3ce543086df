"""A scratch install of NanoClaw v2, in the situation that a test describes: databases, group folders, settings."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
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

CHANNEL = "chat"
"""The channel that all destinations of a scratch install are on."""
ASSISTANT = "Andy"
"""NanoClaw's default name of an assistant; a template may have another."""
SESSION = "sess-live"
BEFORE = "0be40e00-0000-4000-8000-000000000000"
"""The id of the SDK's session in which the conversation before was led."""
EXTRA = "/workspace/extra/"
_MOST_STEPS = 5_000_000
"""How many steps of SQLite's machine a query may take: some tenths of a second."""
_HOST_CREATED = "2026-01-01T00:00:00.000Z"
_SETTINGS = {
    "env": {
        "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1",
        "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0",
    },
    "hooks": {
        "PreCompact": [{"hooks": [{"type": "command", "command": "bun /app/src/compact-instructions.ts"}]}]
    },
}
"""What the host writes for a new group."""
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
_LOCAL_TIME = "%b %-d, %Y, %-I:%M"


@dataclass(slots=True, kw_only=True)
class Workspace:
    """A scratch install. `group`, `session` and `shared` are the folders of the one agent that runs.

    `mounts` are folders of ours by their path in the container, with whether they are read-only; `clock` has times of
    this run, as the agent is told them, with what stands for each.
    """

    root: Path
    owner: str
    group: Path
    session: Path
    shared: Path
    timezone: str
    began: str = field(default_factory=lambda: iso(int(time.time() * 1000)))
    """When it was made; what is told of earlier times was before this run."""
    mounts: dict[str, tuple[Path, bool]] = field(default_factory=dict)
    clock: dict[str, str] = field(default_factory=dict)

    @property
    def inbound(self) -> Path:
        """What the host writes."""
        return self.session / "inbound.db"

    @property
    def outbound(self) -> Path:
        """What the agent's side writes."""
        return self.session / "outbound.db"

    def is_done(self) -> bool:
        """Whether every message was acknowledged."""
        pending = set(rows(self.inbound, "SELECT id FROM messages_in WHERE trigger = 1"))
        done = "SELECT message_id FROM processing_ack WHERE status IN ('completed', 'failed')"
        return bool(pending) and pending <= set(rows(self.outbound, done))

    def sent(self) -> list[tuple[str, str, str]]:
        """What the agent sent so far: id, kind and content."""
        return rows(self.outbound, "SELECT id, kind, content FROM messages_out ORDER BY seq")

    def known(self) -> dict[str, str]:
        """Times and ids of this run alone, with what stands for each."""
        found = dict(self.clock)
        ids = (each for row in self.sent() for text in row for each in _ID.findall(text))
        for each in dict.fromkeys(ids):
            found[each] = f"<{each.partition('-')[0]} {len(found) + 1}>"
        return found

    def deliver(self) -> None:
        """Write that what was sent has arrived, and the tasks that were scheduled, as the host does."""
        with _writing(self.inbound) as database:
            (last,) = database.execute("SELECT coalesce(max(seq), 0) FROM messages_in").fetchone()
            for number, (message, kind, text) in enumerate(self.sent(), 1):
                asked = record_of(json_of(text)) if kind == "system" else {}
                if asked.get("action") == "schedule_task":
                    task = {row: asked.get(key) for row, key in _OF_TASK.items()}
                    task |= {
                        "seq": last + 2 * number,
                        "kind": "task",
                        "timestamp": _seconds(datetime.now(UTC)),
                    }
                    task |= {"status": "pending", "tries": 0, "trigger": 1}
                    content = {"prompt": asked.get("prompt"), "script": asked.get("script")}
                    put(database, "messages_in", **task, content=json.dumps(content))
                put(
                    database,
                    "delivered",
                    message_out_id=message,
                    platform_message_id=None if kind == "system" else f"live:{number}",
                    status="delivered",
                    delivered_at=_seconds(datetime.now(UTC)),
                )


def rows(path: Path, query: str) -> list[Any]:
    """What a query finds in a copy of a database; nothing while the other side is writing.

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
    )
    (root / "groups").mkdir(parents=True)
    for made in (shared / "skills", session / "outbox", session / "inbox"):
        made.mkdir(parents=True)
    container = _group_folder(workspace, checkout, recorded, templates)
    _others(workspace, case, context)
    _fill_memory(workspace, scenario.group_id, scenario.memory_snapshot, workspace.group)
    _databases(workspace, checkout, case, recorded, container)
    if scenario.prior_messages:
        _conversation(workspace, case)
    return workspace


def _folder_name(group: str) -> str:
    return group if _is_plain(group) else re.sub(r"[^\w-]+", "-", group).strip("-") or "group"


def _is_plain(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None


def _timezone(case: TestCase) -> str:
    """The host's time zone: the one that the test names, and UTC everywhere else, so that it is the same everywhere."""
    told = (case.scenario.scheduler_context or {}).get("timezone")
    try:
        return str(ZoneInfo(told)) if isinstance(told, str) else "UTC"
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
    (group / "container.json").write_text(json.dumps(container, indent=2, ensure_ascii=False) + "\n")
    (shared / "settings.json").write_text(json.dumps(_SETTINGS, indent=2) + "\n")
    skills = checkout.skills if container["skills"] == "all" else container["skills"]
    for skill in skills:
        (shared / "skills" / str(skill)).symlink_to(f"/app/skills/{skill}")
    _compose(group, checkout, servers)
    (group / LOCAL).touch()
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


def _compose(group: Path, checkout: Checkout, servers: Mapping[str, Any]) -> None:
    """Write the group's instructions as the host composes them: imports of what the checkout and its servers say."""
    fragments = group / ".claude-fragments"
    fragments.mkdir()
    (group / ".claude-shared.md").symlink_to("/app/CLAUDE.md")
    names = []
    container = checkout.files / "container"
    for path in container.glob("skills/*/instructions.md"):
        names.append(f"skill-{path.parent.name}.md")
        (fragments / names[-1]).symlink_to(f"/app/skills/{path.parent.name}/{path.name}")
    for path in container.glob("agent-runner/src/mcp-tools/*.instructions.md"):
        names.append(f"module-{path.name.removesuffix('.instructions.md')}.md")
        (fragments / names[-1]).symlink_to(f"/app/src/mcp-tools/{path.name}")
    for server, config in servers.items():
        if isinstance(config, dict) and config.get("instructions"):
            names.append(f"mcp-{server}.md")
            (fragments / names[-1]).write_text(str(config["instructions"]), encoding="utf-8")
    imports = ["@./.claude-shared.md", *(f"@./.claude-fragments/{name}" for name in sorted(names))]
    (group / MAIN).write_text("\n".join([checkout.header, *imports, ""]), encoding="utf-8")


# Memory -------------------------------------------------------------------------------------------------------


def _others(workspace: Workspace, case: TestCase, context: AdapterContext) -> None:
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
    for group, told in _told_of_others(case):
        folder = workspace.root / "groups" / _folder_name(group)
        folder.mkdir(exist_ok=True)
        keys = [key for key in ("memory_snapshot", "memory") if isinstance(told, dict) and key in told]
        _fill_memory(workspace, group, told[keys[0]] if keys else told, folder)


def _told_of_others(case: TestCase) -> list[tuple[str, Any]]:
    return [(group, told) for group, told in other_memories(case.scenario) if group]


def _fill_memory(workspace: Workspace, group: str, memory: Any, folder: Path) -> None:
    """Write the files that hold a group's memory; what names no file is in the group's memory file."""
    if memory is None:
        return
    entries = memory if isinstance(memory, list) else [memory]
    loose: list[str] = []
    for entry in entries:
        told = entry if isinstance(entry, dict) else {}
        named = told.get("path") or told.get("source")
        place = _place(workspace, str(named), folder) if named else None
        content = told["content"] if isinstance(told.get("content"), str) else "\n".join(memory_text(entry))
        if told.get("group_id") not in (None, group) and not told.get("path"):
            continue  # of a group that is not told of here
        if place is None:
            loose.append(content)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8")
    if loose:
        (folder / LOCAL).write_text("\n".join(loose).rstrip("\n") + "\n", encoding="utf-8")


def _place(workspace: Workspace, path: str, folder: Path) -> Path | None:
    """Where a file of memory is in the scratch install; None for what is no place of a group."""
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
    names = _destinations(case, recorded)
    own = next(iter(names))
    try:
        with _writing(workspace.inbound) as database:
            database.executescript(checkout.schemas["INBOUND_SCHEMA"])
            for name, shown in names.items():
                address = {"channel_type": CHANNEL, "platform_id": f"{CHANNEL}:{name}"}
                put(database, "destinations", name=name, display_name=shown, type="channel", **address)
                if name == own:
                    put(database, "session_routing", id=1, **address)
            for row in _inbound(workspace, case, own):
                put(database, "messages_in", **row)
        with _writing(workspace.outbound) as database:
            database.executescript(checkout.schemas["OUTBOUND_SCHEMA"])
        with _writing(workspace.root / "data" / "v2.db") as database:
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
    database.executescript(checkout.schemas["SCHEMA"])
    database.execute(
        "CREATE TABLE IF NOT EXISTS container_configs (agent_group_id TEXT PRIMARY KEY, additional_mounts TEXT)"
    )
    groups = {_folder_name(group): group for group, _ in reversed(_told_of_others(case))}
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
    row = {"agent_group_id": workspace.owner, "additional_mounts": mounted, "updated_at": _HOST_CREATED}
    put(database, "container_configs", **row)


def _destinations(case: TestCase, recorded: Trace | None) -> dict[str, str]:
    """Where the agent can send to, by name, with the names that people read; first the conversation itself."""
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
    told = case.scenario.scheduler_context or {}
    now = datetime.now(UTC)
    address = f"{CHANNEL}:{conversation}"
    for number, message in enumerate(case.scenario.input_messages, 1):
        row = {"seq": 2 * number, "status": "pending", "tries": 0, "trigger": 1, "on_wake": 0}
        row |= {"platform_id": address, "channel_type": CHANNEL}
        if case.scenario.trigger == "scheduler":
            name = str(told.get("task_id") or "task-live") + (f"-{number}" if number > 1 else "")
            due = _moment(told.get("scheduled_for"))
            row |= {"kind": "task", "timestamp": _seconds(_time(workspace, due, now))}
            # a task of the future would not be picked up
            row["process_after"] = told["scheduled_for"] if due and due <= now else None
            row |= {"series_id": str(told.get("series_id") or name), "recurrence": told.get("recurrence")}
            content = {"prompt": message.content, "script": None}
        else:
            name = f"{number}:{workspace.owner}"
            moment = _time(workspace, _moment(message.ts), now)
            row |= {"kind": "chat-sdk", "timestamp": iso(int(moment.timestamp() * 1000)), "series_id": name}
            content = {"text": message.content, "sender": message.sender or conversation, "senderId": address}
        yield {**row, "id": name, "content": json.dumps(content, ensure_ascii=False)}


def _conversation(workspace: Workspace, case: TestCase) -> None:
    """A transcript of what was said before, which the agent's session goes on from."""
    folder = workspace.shared / "projects" / "-workspace-agent"
    folder.mkdir(parents=True)
    lines: list[dict[str, Any]] = []
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
            "timestamp": said.ts or f"2026-01-01T00:00:{number % 60:02d}.000Z",
        }
        lines.append(line)
    (folder / f"{BEFORE}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    with _writing(workspace.outbound) as database:
        put(database, "session_state", key=CONTINUATION, value=BEFORE, updated_at=_HOST_CREATED)


def _time(workspace: Workspace, told: datetime | None, now: datetime) -> datetime:
    """When something happened: as the test says, or now; then the agent is told a time of this run alone."""
    if told is not None:
        return told
    local = now.astimezone(ZoneInfo(workspace.timezone))
    for shown in (local, now.replace(tzinfo=None)):
        for gap in (" ", "\u202f"):
            workspace.clock[f"{shown.strftime(_LOCAL_TIME)}{gap}{shown.strftime('%p')}"] = "<now>"
    return now


def _moment(text: Any) -> datetime | None:
    told = milliseconds(text)
    return None if told is None else datetime.fromtimestamp(told / 1000, UTC)


def _seconds(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def far_from_today(case: TestCase, days: float) -> Sequence[str]:
    """The times that a test states, and that are further from today than this."""
    told = [each.ts for each in case.scenario.input_messages]
    told.append((case.scenario.scheduler_context or {}).get("scheduled_for"))
    now = datetime.now(UTC)
    moments = ((text, _moment(text)) for text in told)
    return [str(text) for text, each in moments if each and abs((now - each).total_seconds()) > days * 86400]
