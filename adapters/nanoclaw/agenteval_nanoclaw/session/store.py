"""SQLite databases of a running or stopped NanoClaw, read without touching them.

A database is copied, with its journal or write-ahead log, into a private temporary folder, and the copy is opened:
opening the original, even for reading, may create files beside it, wait for locks, or finish a transaction.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agenteval.contracts.errors import AdapterError
from agenteval.reading.documents import opened, readable
from agenteval_nanoclaw.session.source import shown
from agenteval_nanoclaw.session.values import records_in, text_of

Row = dict[str, Any]
Columns = Mapping[str, Sequence[str]]
"""The columns that are needed, by table."""

BESIDE = ("", "-journal", "-wal")
"""The files that make up a database. The shared memory of a log, `-shm`, is made anew from it."""
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
"""Real tables alone: the rows of a view, or of a virtual table over one, are made by a query that may never end."""
ATTEMPTS = 5
"""How often a copy is taken again when the database changes meanwhile."""


def read_tables(path: Path, required: Columns, optional: Columns) -> dict[str, list[Row]]:
    """The rows of tables, by table; a table of `optional` that is not there is empty.

    Raises `AdapterError`: `adapter.database_unreadable`, or `adapter.database_version` when a required table is missing,
    or a column of a table that is there.
    """
    import sqlite3

    with TemporaryDirectory(prefix="agenteval-") as folder:
        try:
            copy = _copied(Path(readable(path)[0]).resolve(), Path(folder))
            with closing(sqlite3.connect(copy)) as connection:
                connection.row_factory = sqlite3.Row
                connection.text_factory = _text
                present = {str(row[0]) for row in connection.execute(_TABLES)} & {*required, *optional}
                there = {table: columns for table, columns in optional.items() if table in present}
                columns = {table: _columns(connection, table) for table in present}
                _check(columns, path, {**required, **there})
                return {
                    table: _rows(connection, table, columns[table]) if table in columns else []
                    for table in (*required, *optional)
                }
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # the last: of what SQLite says
            raise AdapterError(
                f"{shown(path)} cannot be read as a database: {error}",
                reason_code="adapter.database_unreadable",
                next_step="stop NanoClaw, or copy the recording once it is idle, and try again",
            ) from error


def json_of(value: Any) -> Any:
    """What the text of a column says as JSON, or None when it is none."""
    try:
        return json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _copied(path: Path, folder: Path) -> Path:
    """A copy of the database as it was at one moment, as far as its files tell."""
    for _ in range(ATTEMPTS):
        before = _state(path)
        for suffix in BESIDE:
            target = folder / (path.name + suffix)
            target.unlink(missing_ok=True)
            if before[suffix] is not None:
                with (
                    suppress(FileNotFoundError),  # a transaction ended meanwhile
                    opened(Path(f"{path}{suffix}")) as file,
                    target.open("wb") as copy,
                ):
                    shutil.copyfileobj(file, copy)
        if _state(path) == before:
            break
    return folder / path.name


def _state(path: Path) -> dict[str, tuple[int, int] | None]:
    found: dict[str, tuple[int, int] | None] = {}
    for suffix in BESIDE:
        try:
            beside = Path(f"{path}{suffix}")
            status = beside.stat()
            foreign = suffix and beside.is_symlink()  # a log is beside its database, never elsewhere
            found[suffix] = None if foreign else (status.st_size, status.st_mtime_ns)
        except FileNotFoundError:
            found[suffix] = None
    return found


def _check(given: Columns, path: Path, required: Columns) -> None:
    for table, columns in required.items():
        present = given.get(table, ())
        missing = [column for column in columns if column not in present]
        if missing:
            what = f"columns {', '.join(missing)} in table {table}" if present else f"table {table}"
            raise AdapterError(
                f"{shown(path)} has no {what}: not a database of NanoClaw, or one of an unknown version",
                reason_code="adapter.database_version",
                next_step="copy the transcript (*.jsonl) to another folder and name the copy; it is read without databases",
            )


def _columns(connection: Any, table: str) -> list[str]:
    """The columns that are stored: generated ones, which may be of any size, are not among them."""
    return [row["name"] for row in connection.execute(f'PRAGMA table_info("{table}")')]


def _rows(connection: Any, table: str, columns: Sequence[str]) -> list[Row]:
    named = ", ".join('"{}"'.format(column.replace('"', '""')) for column in columns)
    return [dict(row) for row in connection.execute(f'SELECT {named} FROM "{table}"')]  # noqa: S608 - all quoted


@dataclass(slots=True, kw_only=True)
class Inbound:
    """Something that woke the agent, or was shown to it. Times are milliseconds since 1970."""

    id: str
    kind: str
    """`chat`, `chat-sdk`, `task`, `webhook`, `system` … as NanoClaw says."""
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
    acknowledged: str = ""
    """`processing`, `completed` or `failed`; empty when nothing says so."""
    ended: int | None = None
    error: str = ""


@dataclass(slots=True, kw_only=True)
class Outbound:
    """One message that was queued for sending."""

    id: str
    seq: str
    time: int
    content: dict[str, Any]
    channel: str
    platform_id: str
    in_reply_to: str = ""
    delivered: bool = False
    platform_message_id: str = ""

    @property
    def text(self) -> str:
        """What people read."""
        text = self.content.get("text") or self.content.get("fallbackText")
        return text if isinstance(text, str) else ""


@dataclass(slots=True, kw_only=True)
class Destination:
    """A name that the agent may send to."""

    name: str
    channel: str
    platform_id: str


@dataclass(slots=True, kw_only=True)
class Session:
    """One session: what came in and went out."""

    id: str
    owner: str
    """The agent group (v2) or group folder (v1)."""
    inbound: list[Inbound] = field(default_factory=list)
    outbound: list[Outbound] = field(default_factory=list)
    outbound_is_stored: bool = True
    destinations: list[Destination] = field(default_factory=list)
    routing: tuple[str, str] = ("", "")
    """Channel and platform id of the conversation."""
    continuation: str = ""
    """The SDK session that it goes on in."""

    def name_of(self, channel: str, platform_id: str) -> str:
        """The name of a destination, else its platform id."""
        for each in self.destinations:
            if (each.channel, each.platform_id) == (channel, platform_id):
                return each.name
        return platform_id


@dataclass(slots=True, kw_only=True)
class Mount:
    """A folder of the host inside the agent's container."""

    inside: str
    host: str
    readonly: bool = False

    @property
    def group(self) -> str:
        """The folder of the group that it is, or is in; empty when it is none."""
        parts = [part for part in self.host.replace("\\", "/").split("/") if part]
        return parts[parts.index("groups") + 1] if "groups" in parts[:-1] else ""

    @property
    def holds_all(self) -> bool:
        """Whether it is the folder of all groups."""
        return self.host.replace("\\", "/").rstrip("/").endswith("/groups")


def listed_mounts(listed: Any) -> list[Mount]:
    """The additional mounts that a group's configuration lists; what has not the form of one is passed over."""
    return [
        Mount(
            inside="/workspace/extra/" + text_of(each.get("containerPath")).strip("/"),
            host=text_of(each.get("hostPath")),
            readonly=bool(each.get("readonly")),
        )
        for each in records_in(listed)
    ]


@dataclass(slots=True, kw_only=True)
class Group:
    """A group: its folder's name is its id in traces."""

    folder: str
    owner: str
    """The agent group (v2), or the folder again (v1)."""
    mounts: list[Mount] | None = None
    """Additional mounts; None when nothing tells."""


@dataclass(slots=True, kw_only=True)
class Store:
    """All of it."""

    sessions: list[Session] = field(default_factory=list)
    groups: dict[str, Group] = field(default_factory=dict)
    """By owner."""
    folders: Path | None = None
    """The host's `groups` folder, as it was when the recording was copied."""

    def group_of(self, owner: str) -> Group | None:
        """The group of an owner; the only one there is when the owner is not known."""
        if not owner and len(self.groups) == 1:
            return next(iter(self.groups.values()))
        return self.groups.get(owner)
