"""Installs of NanoClaw 2.2: those in `tests/data/nanoclaw-2.2`, made by its own host, and small ones that a test makes."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from agenteval.contracts.trace import Trace
from nanoclaw.recordings import PROJECT, replayed
from nanoclaw.transcripts import TIME, Script

MADE = PROJECT / "tests" / "data" / "nanoclaw-2.2"
LAB = PROJECT.parent / "shared" / "lab" / "nanoclaw-2.2"
INBOUND = """
CREATE TABLE messages_in (id TEXT PRIMARY KEY, seq INTEGER UNIQUE, kind TEXT NOT NULL, timestamp TEXT NOT NULL,
  status TEXT DEFAULT 'pending', process_after TEXT, recurrence TEXT, series_id TEXT, tries INTEGER DEFAULT 0,
  trigger INTEGER NOT NULL DEFAULT 1, platform_id TEXT, channel_type TEXT, thread_id TEXT, content TEXT NOT NULL,
  source_session_id TEXT, on_wake INTEGER NOT NULL DEFAULT 0);
CREATE TABLE delivered (message_out_id TEXT PRIMARY KEY, platform_message_id TEXT,
  status TEXT NOT NULL DEFAULT 'delivered', delivered_at TEXT NOT NULL);
CREATE TABLE destinations (name TEXT PRIMARY KEY, display_name TEXT, type TEXT NOT NULL, channel_type TEXT,
  platform_id TEXT, agent_group_id TEXT);
CREATE TABLE session_routing (id INTEGER PRIMARY KEY CHECK (id = 1), channel_type TEXT, platform_id TEXT, thread_id TEXT);
"""
OUTBOUND = """
CREATE TABLE messages_out (id TEXT PRIMARY KEY, seq INTEGER UNIQUE, in_reply_to TEXT, timestamp TEXT NOT NULL,
  deliver_after TEXT, recurrence TEXT, kind TEXT NOT NULL, platform_id TEXT, channel_type TEXT, thread_id TEXT,
  content TEXT NOT NULL);
CREATE TABLE processing_ack (message_id TEXT PRIMARY KEY, status TEXT NOT NULL, status_changed TEXT NOT NULL);
CREATE TABLE session_state (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL);
"""
CENTRAL = """
CREATE TABLE agent_groups (id TEXT PRIMARY KEY, name TEXT NOT NULL, folder TEXT NOT NULL);
CREATE TABLE pending_approvals (approval_id TEXT PRIMARY KEY, session_id TEXT, action TEXT NOT NULL,
  payload TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending');
CREATE TABLE container_configs (agent_group_id TEXT PRIMARY KEY, additional_mounts TEXT);
INSERT INTO container_configs VALUES ('ag-andy', '[]');
"""
PLACES = {
    "dana": ("telegram", "telegram:1"),
    "family": ("telegram", "telegram:7"),
    "finder": ("agent", "ag-finder"),
}
"""Where the agent may send to, by the names that it has for them."""


def unpack_made(name: str, folder: Path) -> Path:
    """A copy of an install that the host made, with its databases: the rows of each, and the schema that all have."""
    root = folder / name
    shutil.copytree(MADE / name, root)
    for dump in root.rglob("*.db.sql"):
        schema = MADE / dump.name.replace(".db.sql", ".schema.sql")
        with closing(sqlite3.connect(dump.with_suffix(""))) as database:
            database.executescript(schema.read_text(encoding="utf-8") + dump.read_text(encoding="utf-8"))
        dump.unlink()
    return root


class Install(Script):
    """An install with one session of the agent Andy, in Dana's chat, and one of a peer, Finder. Rows are of the last line's time."""

    def __init__(self, *, task: bool = False) -> None:
        super().__init__("s-1")
        self.task = task
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.seq = 1

    def put(self, table: str, **values: Any) -> None:
        """Add a row to a table of the session; `finder.messages_in` is of the peer's."""
        self.tables.setdefault(table, []).append(values)

    @property
    def now(self) -> str:
        """The time of the last line, and a bit."""
        second = len(self.lines)
        return TIME.format(second // 60, second % 60).replace(".000Z", ".100Z")

    def hears(
        self, text: str, *, channel: str = "telegram", place: str = "telegram:1", name: str = "", **more: Any
    ) -> str:
        """A message, with its row and its prompt; returns its id."""
        self.seq += 2 - self.seq % 2
        name = name or f"in-{self.seq}"
        known = next(
            (each for each, where in PLACES.items() if where == (channel, place)),
            f"unknown:{channel}:{place}",
        )
        sender = more.get("sender", "Dana")
        content = {"text": text, **({"sender": sender, "senderId": sender} if sender else {})}
        row = {"id": name, "seq": self.seq, "kind": "chat", "timestamp": self.now, "channel_type": channel}
        self.put("messages_in", **row, platform_id=place, content=json.dumps(content))
        shown = sender or "Unknown"
        self.user(
            f'<context timezone="UTC" />\n<message id="{self.seq}" from="{known}" sender="{shown}" '
            f'time="Nov 21, 2026, 8:00 PM">{text}</message>'
        )
        return name

    def wakes(self, text: str, **row: Any) -> None:
        """An occurrence of a task, as 2.2 hands it out."""
        self.seq += 2 - self.seq % 2
        due = {"kind": "task", "timestamp": TIME.format(0, 0), "process_after": TIME.format(0, 0), **row}
        values = {"id": f"task-{self.seq}", "seq": self.seq, "content": json.dumps({"prompt": text}), **due}
        self.put("messages_in", **values)
        now = 'time="Nov 21, 2026, 8:00 PM" current_time="Saturday, November 21, 2026 at 8:00 PM"'
        self.user(f'<context timezone="UTC" />\n<task {now}>Instructions:\n{text}</task>')

    def row(self, content: Any, to: str | None = "dana", state: str = "delivered", **more: Any) -> str:
        """A message that went out; `state` is what `delivered` has of it, if anything. Returns its id."""
        self.seq += 1 + self.seq % 2
        channel, place = PLACES.get(to or "", (None, None))
        content = {"text": content} if isinstance(content, str) else content
        values = {"id": f"m-{self.seq}", "seq": self.seq, "timestamp": self.now, "kind": "chat", **more}
        self.put(
            "messages_out", **values, channel_type=channel, platform_id=place, content=json.dumps(content)
        )
        if state:
            shown = f"p:{self.seq}" if state == "delivered" and channel == "telegram" else None
            proof = {"message_out_id": values["id"], "platform_message_id": shown, "status": state}
            self.put("delivered", **proof, delivered_at=self.now)
        return str(values["id"])

    def tells(self, text: str, to: str = "dana", **more: Any) -> None:
        """A block of a text, and the row that it became."""
        self.says(f'<message to="{to}">{text}</message>')
        self.row(text, to, **more)

    def sends_by_tool(
        self, text: str, to: str = "dana", *, stored: Any = None, call_id: str = "c-1", **more: Any
    ) -> None:
        """A send by tool, and its row; `stored` is what the row has, when that is something else."""
        self.calls("mcp__nanoclaw__send_message", call_id, to=to, text=text)
        self.row(text if stored is None else stored, to, **more)
        self.answers(f"Message sent to {to} (id: {self.seq})", call_id)

    def install(self, root: Path) -> Path:
        """Write the install."""
        folder = root / "data" / "v2-sessions" / "ag-andy"
        self.write(folder / ".claude-shared" / "projects" / "-workspace-agent")
        known = [
            {"name": name, "type": "agent" if channel == "agent" else "channel", "channel_type": channel}
            | {"agent_group_id" if channel == "agent" else "platform_id": place}
            for name, (channel, place) in PLACES.items()
        ]
        channel, place = (None, None) if self.task else PLACES["dana"]
        thread = "system:tasks:t" if self.task else None
        home = {"channel_type": channel, "platform_id": place, "thread_id": thread}
        own: dict[str, list[dict[str, Any]]] = {"destinations": known, "session_routing": [{"id": 1, **home}]}
        own["session_state"] = [{"key": "continuation:claude", "value": "s-1", "updated_at": self.now}]
        groups = [{"id": f"ag-{name}", "name": name, "folder": name} for name in ("andy", "finder")]
        for path, schema, prefix in (
            (folder / "sess-1" / "inbound.db", INBOUND, ""),
            (folder / "sess-1" / "outbound.db", OUTBOUND, ""),
            (folder.parent / "ag-finder" / "sess-2" / "inbound.db", INBOUND, "finder."),
            (folder.parent / "ag-finder" / "sess-2" / "outbound.db", OUTBOUND, "finder."),
            (root / "data" / "v2.db", CENTRAL, ""),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path)) as database:
                database.executescript(schema)
                names = [
                    name
                    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                ]
                given = {**self.tables, **own, "agent_groups": groups} if not prefix else self.tables
                for name in names:
                    for values in given.get(prefix + name, ()):
                        marks = ", ".join("?" * len(values))
                        database.execute(
                            f"INSERT INTO {name} ({', '.join(values)}) VALUES ({marks})",
                            list(values.values()),
                        )
                database.commit()
        return root

    def trace(self, folder: Path, **chosen: Any) -> Trace:
        """Write it, and the trace of a run of it."""
        return replayed(self.install(folder), **chosen)

    def arrives_at_peer(self, text: str, *, source: str = "sess-1") -> None:
        """The copy of a message in the session of the peer."""
        number = len(self.tables.get("finder.messages_in", ())) * 2 + 2
        row = {
            "id": f"a2a-{number}",
            "seq": number,
            "kind": "chat",
            "timestamp": self.now,
            "channel_type": "agent",
        }
        content = {
            "platform_id": "ag-andy",
            "content": json.dumps({"text": text}),
            "source_session_id": source,
        }
        self.put("finder.messages_in", **row, **content)

    def holds(self, message: str, status: str = "pending", **more: Any) -> None:
        """An approval that a message to the peer waits for."""
        row = {
            "approval_id": f"appr-{message}",
            "session_id": "sess-1",
            "action": "a2a_message_gate",
            "status": status,
        }
        self.put("pending_approvals", **{**row, **more}, payload=json.dumps({"id": message}))

    def notes(self, text: str, name: str = "appr-note-1") -> None:
        """What the host tells the agent of an approval, without a run of its own."""
        self.seq += 2 - self.seq % 2
        content = {"text": text, "sender": "system", "senderId": "system"}
        row = {"id": name, "seq": self.seq, "kind": "chat", "timestamp": self.now, "channel_type": "agent"}
        self.put("messages_in", **row, platform_id="ag-andy", content=json.dumps(content))


def sends_of(trace: Trace) -> list[tuple[str, str, bool]]:
    """Each send of a trace: what the tool is called, its text, and whether it arrived."""
    calls = [call for call in trace.calls() if call.tool == "outbound_send"]
    return [(call.recorded_tool, str(call.args.get("text")), not call.failed) for call in calls]
