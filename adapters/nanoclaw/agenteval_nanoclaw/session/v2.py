"""The databases of NanoClaw v2: `data/v2.db`, and `inbound.db` and `outbound.db` of each session."""

from agenteval_nanoclaw.session.source import SessionFolder, Source
from agenteval_nanoclaw.session.store import (
    Destination,
    Group,
    Inbound,
    Mount,
    Outbound,
    Row,
    Session,
    Store,
    json_of,
    listed_mounts,
    read_tables,
)
from agenteval_nanoclaw.session.values import milliseconds, record_of, text_of

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
CENTRAL_TABLES = {"agent_groups": ("id", "folder")}
CENTRAL_OPTIONAL = {"container_configs": ("agent_group_id",)}

CONTINUATION = "continuation:claude"
SENT = ("chat", "chat-sdk")
"""The kinds of outbound rows that people read; others are requests to the host."""


def read_store(source: Source) -> Store:
    """What the databases of an install, or of a single session folder, tell."""
    store = Store(folders=source.groups)
    if source.central is not None:
        tables = read_tables(source.central, CENTRAL_TABLES, CENTRAL_OPTIONAL)
        configs = {text_of(row["agent_group_id"]): row for row in tables["container_configs"]}
        for row in tables["agent_groups"]:
            owner = text_of(row["id"])
            mounts = _mounts(configs.get(owner))
            store.groups[owner] = Group(folder=text_of(row["folder"]), owner=owner, mounts=mounts)
    for folder in source.sessions:
        store.sessions.append(_session(folder, source))
    return store


def _mounts(config: Row | None) -> list[Mount] | None:
    return None if config is None else listed_mounts(json_of(config.get("additional_mounts")))


def _session(folder: SessionFolder, source: Source) -> Session:
    session = Session(id=folder.path.name, owner=folder.owner)
    acknowledged: dict[str, Row] = {}
    delivered: dict[str, Row] = {}
    inside, outside = folder.path / "inbound.db", folder.path / "outbound.db"
    inside_is_told, outside_is_told = (each.is_file() and source.allowed(each) for each in (inside, outside))
    # the one has what was sent, the other what arrived
    session.outbound_is_stored = inside_is_told and outside_is_told
    if inside_is_told:
        tables = read_tables(inside, IN_TABLES, IN_OPTIONAL)
        session.inbound = [_inbound(row, session.id) for row in tables["messages_in"]]
        session.destinations = [_destination(row) for row in tables["destinations"]]
        delivered = {text_of(row["message_out_id"]): row for row in tables["delivered"]}
        for row in tables["session_routing"]:
            session.routing = text_of(row["channel_type"]), text_of(row["platform_id"])
    if outside_is_told:
        tables = read_tables(outside, OUT_TABLES, OUT_OPTIONAL)
        acknowledged = {text_of(row["message_id"]): row for row in tables["processing_ack"]}
        states = {text_of(row["key"]): text_of(row["value"]) for row in tables["session_state"]}
        session.continuation = states.get(CONTINUATION, "")
        rows = sorted(
            tables["messages_out"], key=lambda row: row["seq"] if isinstance(row["seq"], int) else 0
        )
        session.outbound = [
            _outbound(row, delivered.get(row["id"]))
            for row in rows
            if row["kind"] in SENT and session.outbound_is_stored
        ]
    for message in session.inbound:
        if acknowledgement := acknowledged.get(message.id):
            message.acknowledged = text_of(acknowledgement["status"])
            message.ended = milliseconds(acknowledgement["status_changed"])
    return session


def _inbound(row: Row, session: str) -> Inbound:
    content = record_of(json_of(row["content"]))
    task = row["kind"] == "task"
    name = record_of(content.get("author")).get("fullName")
    return Inbound(
        id=str(row["id"]),
        kind=text_of(row["kind"]),
        text=text_of(content.get("prompt" if task else "text")).strip(),
        time=milliseconds(row["timestamp"]) or 0,
        session=session,
        seq=str(row["seq"]),
        sender=text_of(content.get("sender")) or text_of(name),
        channel=text_of(row.get("channel_type")),
        platform_id=text_of(row.get("platform_id")),
        process_after=milliseconds(row.get("process_after")),
        recurrence=text_of(row.get("recurrence")),
        series=text_of(row.get("series_id")),
    )


def _outbound(row: Row, delivered: Row | None) -> Outbound:
    return Outbound(
        id=str(row["id"]),
        seq=str(row["seq"]),
        time=milliseconds(row["timestamp"]) or 0,
        content=record_of(json_of(row["content"])),
        channel=text_of(row.get("channel_type")),
        platform_id=text_of(row.get("platform_id")),
        in_reply_to=text_of(row.get("in_reply_to")),
        delivered=delivered is not None and delivered.get("status") == "delivered",
        platform_message_id=text_of(delivered.get("platform_message_id")) if delivered else "",
    )


def _destination(row: Row) -> Destination:
    agent = row.get("type") == "agent"
    return Destination(
        name=text_of(row["name"]),
        channel="agent" if agent else text_of(row.get("channel_type")),
        platform_id=text_of(row.get("agent_group_id" if agent else "platform_id")),
    )
