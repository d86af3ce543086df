"""Reads the databases of NanoClaw: of v2, `data/v2.db` and those of each session; of v1, `store/messages.db`.

A database may be one that is running. It is copied, with its journal or write-ahead log, into a private temporary
folder, and the copy is opened. Opening the original, even for reading, may create files beside it, wait for locks, or
finish a transaction.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from agenteval.contracts.errors import AdapterError
from agenteval.reading.documents import opened, readable
from agenteval.reading.jsonsource import is_too_deep
from agenteval_nanoclaw.session.source import Source, shown
from agenteval_nanoclaw.session.values import (
    Record,
    milliseconds,
    record_of,
    records_in,
    text_of,
    whole_characters,
)
from agenteval_nanoclaw.versions import HOST_IDS, IDLE, MESSAGE_GATE, NOTE_IDS, SENT, TO_AGENTS

Row = dict[str, Any]
Columns = Mapping[str, Sequence[str]]
"""The required columns, by table."""

BESIDE = ("", "-journal", "-wal")
"""The suffixes of a database's files. SQLite makes the shared memory of a log, `-shm`, anew."""
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
"""Real tables alone: the rows of a view, or of a virtual table over one, are made by a query that may never end."""
ATTEMPTS = 5
"""The number of copies that are tried when the database changes meanwhile."""


def read_tables(path: Path, required: Columns, optional: Columns) -> dict[str, list[Row]]:
    """Read the rows of tables, by table; a table of `optional` that is not there is empty.

    Raises `AdapterError`: `adapter.database_unreadable`, or `adapter.database_version` when a required table is missing,
    or a column of a table that is there.
    """
    import sqlite3

    found: dict[str, list[Row]] = {}
    with TemporaryDirectory(prefix="agenteval-") as folder:
        try:
            copy = _copied(Path(readable(path)[0]).resolve(), Path(folder))
            with closing(sqlite3.connect(copy)) as connection:
                connection.row_factory = sqlite3.Row
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                present = {row[0] for row in connection.execute(_TABLES)}
                for table, needed in {**required, **optional}.items():
                    # generated columns, which may be of any size, are not among those that are listed
                    listed = connection.execute(f'PRAGMA table_info("{table}")') if table in present else ()
                    columns = [row["name"] for row in listed]
                    if table in present or table in required:
                        _check(path, table, needed, columns)
                    named = ", ".join('"{}"'.format(column.replace('"', '""')) for column in columns)
                    query = f'SELECT {named} FROM "{table}"'  # noqa: S608 - all quoted
                    found[table] = list(map(dict, connection.execute(query))) if columns else []
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # the last: of what SQLite says
            raise AdapterError(
                f"{shown(path)} cannot be read as a database: {error}",
                reason_code="adapter.database_unreadable",
                next_step="stop NanoClaw, or copy the recording once it is idle, and try again",
            ) from error
    return found


def _copied(path: Path, folder: Path) -> Path:
    """Copy the database as it was at one moment, judged by the sizes and times of its files."""
    for _ in range(ATTEMPTS):
        before = _state(path)
        for suffix in BESIDE:
            target = folder / (path.name + suffix)
            target.unlink(missing_ok=True)
            with suppress(FileNotFoundError):  # a transaction ended meanwhile
                if suffix in before:
                    with opened(Path(f"{path}{suffix}")) as file, target.open("wb") as copy:
                        shutil.copyfileobj(file, copy)
        if _state(path) == before:
            break
    return folder / path.name


def _state(path: Path) -> dict[str, tuple[int, int]]:
    """Return sizes and times of a database's files. A link is no log: a log is always beside its database."""
    files = {suffix: Path(f"{path}{suffix}") for suffix in BESIDE}
    found = {}
    for suffix, file in files.items():
        with suppress(FileNotFoundError):
            if not (suffix and file.is_symlink()):
                found[suffix] = file.stat().st_size, file.stat().st_mtime_ns
    return found


def _check(path: Path, table: str, needed: Sequence[str], present: Sequence[str]) -> None:
    if missing := [column for column in needed if column not in present]:
        what = f"columns {', '.join(missing)} in table {table}" if present else f"table {table}"
        raise AdapterError(
            f"{shown(path)} has no {what}: not a database of NanoClaw, or one of an unknown version",
            reason_code="adapter.database_version",
            next_step="copy the transcript (*.jsonl) to another folder and name the copy; it is read without databases",
        )


def json_of(value: Any) -> Any:
    """Parse the text of a column as JSON; None when it is none, or too deep. `NaN` and `Infinity` become text."""
    try:
        found = json.loads(value, parse_constant=str) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None
    return None if is_too_deep(found) else whole_characters(found)


# Contents, the same for both generations ----------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Inbound:
    """A message that woke the agent, or was shown to it. Times are milliseconds since 1970."""

    id: str
    kind: str
    """NanoClaw's kind: `chat`, `chat-sdk`, `task`, `webhook`, `system` …"""
    text: str
    time: int
    session: str
    seq: str = ""
    sender: str = ""
    channel: str = ""
    platform_id: str = ""
    process_after: int | None = None
    recurrence: str = ""
    series: str = ""
    source_session: str = ""
    """The session of the agent that sent it."""
    is_note: bool = False
    """True if the host itself wrote it, to report the outcome of a request."""
    is_idle: bool = False
    """True if it is a task that was paused or cancelled before it ran."""
    acknowledged: str = ""
    """`processing`, `completed` or `failed`; empty where nothing is stored."""
    ended: int | None = None
    error: str = ""

    @property
    def begun(self) -> int:
        """The time at which it was due."""
        return self.time if self.process_after is None else self.process_after


State = Literal["delivered", "queued", "failed", "held", "refused", "lost"]
"""The outcome of a message: it arrived; it was not sent yet; it could not be sent; it waits for an approval; somebody
refused the approval; the host took it, and it arrived nowhere."""


@dataclass(slots=True, kw_only=True)
class Outbound:
    """One message that was queued for sending. `time` is the earliest at which it was written, `until` the latest."""

    id: str
    seq: str
    number: int
    time: int
    until: int
    content: Record
    channel: str
    platform_id: str
    in_reply_to: str
    state: State
    platform_message_id: str

    @property
    def text(self) -> str:
        """The text that people read."""
        texts = (self.content.get(key) for key in ("text", "fallbackText", "question", "title"))
        return next((text for text in texts if isinstance(text, str) and text), "")

    @property
    def operation(self) -> str:
        """The operation on an earlier message: `edit`, `reaction`; empty for a message of its own."""
        return text_of(self.content.get("operation"))

    @property
    def args(self) -> Record:
        """Its content, with the names of the send tools' arguments."""
        left_out = ("type", "operation", "questionId")
        return {key: value for key, value in self.content.items() if key not in left_out}


@dataclass(slots=True, kw_only=True)
class Request:
    """One command of `ncl` from the agent to the host, with the host's answer."""

    command: str
    """Resource and verb: `tasks-create`."""
    args: Record
    time: int
    until: int
    answer: Record
    """Empty while there is none."""


@dataclass(slots=True, kw_only=True)
class Session:
    """One session: what came in and went out."""

    id: str
    owner: str
    """The agent group (v2) or group folder (v1)."""
    inbound: list[Inbound] = field(default_factory=list)
    outbound: list[Outbound] = field(default_factory=list)
    outbound_is_stored: bool = False
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    """The agent's names of its destinations, by channel and platform id."""
    requests: list[Request] = field(default_factory=list)
    """The agent's requests to the host."""
    routing: tuple[str, str] = ("", "")
    """Channel and platform id of the conversation."""
    continuation: str = ""
    """The id of the SDK session that continues it."""

    def name_of(self, channel: str, platform_id: str) -> str:
        """Return the name of a destination, else its platform id."""
        return self.names.get((channel, platform_id), platform_id)


@dataclass(slots=True, kw_only=True)
class Mount:
    """A folder of the host inside the agent's container."""

    inside: str
    host: str
    readonly: bool = False

    @property
    def group(self) -> str:
        """The folder of the group that it is, or is in; empty for a folder outside all groups."""
        parts = [part for part in self.host.replace("\\", "/").split("/") if part]
        return parts[parts.index("groups") + 1] if "groups" in parts[:-1] else ""

    @property
    def holds_all(self) -> bool:
        """True if it is the folder of all groups."""
        return self.host.replace("\\", "/").rstrip("/").endswith("/groups")


def listed_mounts(listed: Any) -> list[Mount]:
    """List the additional mounts of a group's configuration. Entries of another form are passed over."""
    return [
        Mount(
            inside="/workspace/extra/" + text_of(each.get("containerPath")).strip("/"),
            host=text_of(each.get("hostPath")),
            readonly=bool(each.get("readonly")),
        )
        for each in records_in(listed)
    ]


@dataclass(slots=True)
class Group:
    """A group: its folder's name is its id in traces."""

    folder: str
    mounts: list[Mount] | None = None
    """Additional mounts; None where they are not recorded."""


@dataclass(slots=True)
class Store:
    """All sessions and groups. `groups` are by owner: the agent group (v2), or the folder again (v1)."""

    sessions: list[Session] = field(default_factory=list)
    groups: dict[str, Group] = field(default_factory=dict)


def read_store(source: Source) -> Store:
    """Read the databases of a recording; empty where there are none. Raises `AdapterError`, as `read_tables` does."""
    store = Store()
    approvals: list[Row] = []
    if source.kind == "v1" and source.database:
        _read_v1(source.database, store)
    elif source.database:
        approvals = _read_central(source.database, store)
    store.sessions += [_session(folder, owner, source) for folder, owner in source.sessions.items()]
    sessions = store.sessions
    if any(row.channel == TO_AGENTS for session in sessions for row in session.outbound):
        sessions = [*sessions, *(_session(folder, owner, source) for folder, owner in source.others.items())]
    copies: dict[str, list[Inbound]] = {}
    for message in (each for session in sessions for each in session.inbound):
        if message.channel == TO_AGENTS and message.source_session:
            copies.setdefault(message.source_session, []).append(message)
    for session in store.sessions:
        _set_states(session, sessions, approvals, copies.get(session.id, []))
    return store


def _read_central(database: Path, store: Store) -> list[Row]:
    """Read the groups of an install of v2, with their mounts, into the store; return the approvals that it waits for."""
    tables = read_tables(database, CENTRAL_TABLES, CENTRAL_OPTIONAL)
    mounts = {
        text_of(row["agent_group_id"]): listed_mounts(json_of(row.get("additional_mounts")))
        for row in tables["container_configs"]
    }
    for row in tables["agent_groups"]:
        owner = text_of(row["id"])
        store.groups[owner] = Group(text_of(row["folder"]), mounts.get(owner))
    return tables["pending_approvals"]


# Version 2 ----------------------------------------------------------------------------------------------------

CENTRAL_TABLES = {"agent_groups": ("id", "folder")}
CENTRAL_OPTIONAL = {
    "container_configs": ("agent_group_id",),
    "pending_approvals": ("session_id", "action", "payload", "status"),
}
IN_TABLES = {"messages_in": ("id", "seq", "kind", "timestamp", "content")}
IN_OPTIONAL = {
    "delivered": ("message_out_id",),
    "destinations": ("name",),
    "session_routing": ("channel_type", "platform_id"),
}
OUT_TABLES = {"messages_out": ("id", "seq", "timestamp", "kind", "content")}
OUT_OPTIONAL = {
    "processing_ack": ("message_id", "status", "status_changed"),
    "session_state": ("key", "value"),
}
CONTINUATION = "continuation:claude"
_REFUSED = f"Your {MESSAGE_GATE} request was rejected"
_NOT_APPLIED = (f"Your {MESSAGE_GATE} was approved, but", f"{MESSAGE_GATE} failed:")
"""Beginnings of the host's notes to the agent that a held message was not sent."""


def _session(folder: Path, owner: str, source: Source) -> Session:
    session = Session(id=folder.name, owner=owner)
    inside, outside = folder / "inbound.db", folder / "outbound.db"
    has_inside, has_outside = (each.is_file() and source.allowed(each) for each in (inside, outside))
    # outbound.db holds the messages that were sent, inbound.db their deliveries: only both together show what arrived
    session.outbound_is_stored = has_inside and has_outside
    inbound = read_tables(inside, IN_TABLES, IN_OPTIONAL) if has_inside else {}
    if inbound:
        _add_inbound(session, inbound)
    if has_outside:
        outbound = read_tables(outside, OUT_TABLES, OUT_OPTIONAL)
        states = {text_of(row["key"]): text_of(row["value"]) for row in outbound["session_state"]}
        session.continuation = states.get(CONTINUATION, "")
        if inbound:
            _add_outbound(session, inbound, outbound["messages_out"])
        _add_acknowledgements(session, outbound["processing_ack"])
    return session


def _add_inbound(session: Session, tables: dict[str, list[Row]]) -> None:
    session.inbound = [_inbound(row, session) for row in tables["messages_in"]]
    for row in tables["destinations"]:
        agent = row.get("type") == "agent"
        channel = "agent" if agent else text_of(row.get("channel_type"))
        address = text_of(row.get("agent_group_id" if agent else "platform_id"))
        session.names.setdefault((channel, address), text_of(row["name"]))
    for row in tables["session_routing"]:
        session.routing = text_of(row["channel_type"]), text_of(row["platform_id"])


def _add_outbound(session: Session, inbound: dict[str, list[Row]], rows: list[Row]) -> None:
    """Add the messages that were sent, and the requests to the host. The answers of both are in inbound.db."""
    delivered = {text_of(row["message_out_id"]): row for row in inbound["delivered"]}
    sent = [
        _outbound(row, delivered.get(row["id"], {}))
        for row in rows
        if row["kind"] in SENT and not str(row["id"]).startswith(HOST_IDS)
    ]
    session.outbound = sorted(sent, key=lambda row: row.number)
    contents = [record_of(json_of(row["content"])) for row in inbound["messages_in"]]
    answers = {text_of(each.get("requestId")): record_of(each.get("frame")) for each in contents}
    session.requests = list(_requests(rows, answers))


def _add_acknowledgements(session: Session, rows: list[Row]) -> None:
    acknowledged = {text_of(row["message_id"]): row for row in rows}
    for message in session.inbound:
        if row := acknowledged.get(message.id, {}):
            message.acknowledged = text_of(row["status"])
            message.ended = milliseconds(row["status_changed"])


def _inbound(row: Row, session: Session) -> Inbound:
    content = record_of(json_of(row["content"]))
    task = row["kind"] == "task"
    name = record_of(content.get("author")).get("fullName")
    channel, platform_id = text_of(row.get("channel_type")), text_of(row.get("platform_id"))
    by_host = channel == TO_AGENTS and content.get("senderId") == "system"
    return Inbound(
        id=str(row["id"]),
        kind=text_of(row["kind"]),
        text=text_of(content.get("prompt" if task else "text")).strip(),
        time=milliseconds(row["timestamp"]) or 0,
        session=session.id,
        seq=str(row["seq"]),
        sender=text_of(content.get("sender")) or text_of(name),
        channel=channel,
        platform_id=platform_id,
        process_after=milliseconds(row.get("process_after")),
        recurrence=text_of(row.get("recurrence")),
        series=text_of(row.get("series_id")),
        source_session=text_of(row.get("source_session_id")),
        is_idle=row.get("status") in IDLE,
        is_note=by_host or str(row["id"]).startswith(NOTE_IDS),
    )


def _written(row: Row) -> tuple[int, int]:
    """Return the earliest and the latest time of a row: some releases leave the milliseconds out."""
    time = milliseconds(row["timestamp"]) or 0
    return time, time if "." in text_of(row["timestamp"]) else time + 999


def _outbound(row: Row, delivered: Row) -> Outbound:
    channel, platform_id = text_of(row.get("channel_type")), text_of(row.get("platform_id"))
    time, until = _written(row)
    state: State = "queued"
    if delivered:
        # The host marks a message without an address as delivered, and drops it.
        arrived = delivered.get("status", "delivered") == "delivered" and bool(channel and platform_id)
        state = "delivered" if arrived else "failed"
    return Outbound(
        id=str(row["id"]),
        seq=str(row["seq"]),
        number=row["seq"] if isinstance(row["seq"], int) else 0,
        time=time,
        until=until,
        content=record_of(json_of(row["content"])),
        channel=channel,
        platform_id=platform_id,
        in_reply_to=text_of(row.get("in_reply_to")),
        state=state,
        platform_message_id=text_of(delivered.get("platform_message_id")),
    )


def _requests(rows: list[Row], answers: dict[str, Record]) -> Iterator[Request]:
    for row in rows:
        asked = record_of(json_of(row["content"]))
        if asked.get("action") == "cli_request":
            time, until = _written(row)
            yield Request(
                command=text_of(asked.get("command")),
                args=record_of(asked.get("args")),
                time=time,
                until=until,
                answer=answers.get(text_of(asked.get("requestId")), {}),
            )


def _set_states(
    session: Session, sessions: list[Session], approvals: list[Row], copies: list[Inbound]
) -> None:
    """Set the state of messages to other agents. `copies` are the messages that arrived in any session.

    The host marks a message as delivered once it has taken it, even if it holds the message for an approval.
    """
    taken = [row for row in session.outbound if row.channel == TO_AGENTS and row.state == "delivered"]
    if not taken:
        return
    gates = _gates(session, approvals)
    notes = [message for message in session.inbound if message.is_note]
    for row in taken:
        owned = [other for other in sessions if other.owner == row.platform_id]
        row.state = _state_of(row, owned, gates, notes, copies)


def _state_of(
    row: Outbound, owned: list[Session], gates: dict[str, str], notes: list[Inbound], copies: list[Inbound]
) -> State:
    """Return the state of a message to another agent, with the sessions `owned`; take its copy or note out of the lists.

    A copy at the receiver proves the delivery. Else the approval, the host's note, or the receiver's silence decides.
    """
    if found := next((each for each in copies if _is_copy(each, row, owned)), None):
        copies.remove(found)
        return "delivered"
    if row.id in gates:
        return "refused" if gates[row.id] == "rejected" else "held"
    if note := next((each for each in notes if _is_refusal(each, row)), None):
        notes.remove(note)
        return "refused" if note.text.startswith(_REFUSED) else "failed"
    # A receiver without any message may not have been copied along with the recording: then nothing is known.
    return "lost" if any(other.inbound for other in owned) else "delivered"


def _is_copy(message: Inbound, row: Outbound, owned: list[Session]) -> bool:
    is_there = any(message.session == other.id for other in owned)
    return is_there and message.text == row.text.strip() and message.time >= row.time


def _gates(session: Session, approvals: list[Row]) -> dict[str, str]:
    """Return the status of each message of a session that the host held for an approval, by the message's id."""
    gates: dict[str, str] = {}
    for approval in approvals:
        payload = record_of(json_of(approval["payload"]))
        if approval["session_id"] == session.id and approval["action"] == MESSAGE_GATE:
            gates[text_of(payload.get("id"))] = text_of(approval["status"])
    return gates


def _is_refusal(note: Inbound, row: Outbound) -> bool:
    """Return whether a note of the host reports that a message was refused, or could not be passed on."""
    return note.text.startswith((_REFUSED, *_NOT_APPLIED)) and note.time >= row.time


# Version 1, which does not store what was sent ----------------------------------------------------------------

V1_TABLES = {"messages": ("id", "chat_jid", "content", "timestamp"), "registered_groups": ("jid", "folder")}
V1_OPTIONAL = {
    "scheduled_tasks": ("id", "group_folder"),
    "task_run_logs": ("task_id",),
    "sessions": ("group_folder", "session_id"),
}


def _read_v1(path: Path, store: Store) -> None:
    """Add a session for each registered group, with its messages and the runs of its tasks."""
    tables = read_tables(path, V1_TABLES, V1_OPTIONAL)
    logs: dict[str, list[Row]] = {}
    for row in tables["task_run_logs"]:
        logs.setdefault(text_of(row["task_id"]), []).append(row)
    continued = {text_of(row["group_folder"]): text_of(row["session_id"]) for row in tables["sessions"]}
    for row in tables["registered_groups"]:
        folder, jid = text_of(row["folder"]), text_of(row["jid"])
        mounts = listed_mounts(record_of(json_of(row.get("container_config"))).get("additionalMounts"))
        if row.get("is_main") or folder == "main":  # the main group has the whole project mounted, too
            mounts.insert(0, Mount(inside="/workspace/project", host="", readonly=True))
        store.groups[folder] = Group(folder, mounts)
        session = Session(id=folder, owner=folder, routing=("", jid), continuation=continued.get(folder, ""))
        session.inbound = [
            Inbound(
                id=str(each["id"]),
                kind="chat",
                text=text_of(each["content"]).strip(),
                time=milliseconds(each["timestamp"]) or 0,
                session=folder,
                sender=text_of(each.get("sender_name")),
                platform_id=jid,
            )
            for each in tables["messages"]
            if each["chat_jid"] == jid and not each.get("is_bot_message", each.get("is_from_me"))
        ]
        for task in tables["scheduled_tasks"]:
            if task["group_folder"] == folder:
                session.inbound += _v1_task_runs(task, logs.get(text_of(task["id"]), []))
        store.sessions.append(session)


def _v1_task_runs(task: Row, logs: list[Row]) -> list[Inbound]:
    """Return a message for each logged run of a task, or one for the task without a log. A log has the time of the end."""
    cron = task.get("schedule_type") in ("cron", "interval")
    runs = []
    for log in logs or [{}]:
        ended = milliseconds(log.get("run_at"))
        took = log.get("duration_ms")
        # A log has the end and the duration of a run; the run began that much earlier.
        start = ended - took if ended is not None and isinstance(took, int) else ended
        runs.append(
            Inbound(
                id=text_of(task["id"]),
                kind="task",
                text=text_of(task.get("prompt")).strip(),
                time=start if start is not None else milliseconds(task.get("created_at")) or 0,
                session=text_of(task.get("group_folder")),
                platform_id=text_of(task.get("chat_jid")),
                recurrence=text_of(task.get("schedule_value")) if cron else "",
                acknowledged="failed" if log.get("error") else "completed" if log else "",
                ended=ended,
                error=text_of(log.get("error")),
            )
        )
    return runs
