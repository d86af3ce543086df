"""The database of NanoClaw v1, `store/messages.db`: messages, groups, scheduled tasks. What was sent is not stored."""

from agenteval_nanoclaw.session.source import Source
from agenteval_nanoclaw.session.store import (
    Destination,
    Group,
    Inbound,
    Mount,
    Row,
    Session,
    Store,
    json_of,
    listed_mounts,
    read_tables,
)
from agenteval_nanoclaw.session.values import milliseconds, record_of, text_of

TABLES = {
    "messages": ("id", "chat_jid", "content", "timestamp"),
    "registered_groups": ("jid", "folder"),
}
OPTIONAL = {
    "scheduled_tasks": ("id", "group_folder"),
    "task_run_logs": ("task_id",),
    "sessions": ("group_folder", "session_id"),
}


def read_store(source: Source) -> Store:
    """What the store tells: a session for each registered group, with its messages and the runs of its tasks."""
    store = Store(folders=source.groups)
    if source.store is None:
        return store
    tables = read_tables(source.store, TABLES, OPTIONAL)
    logs: dict[str, list[Row]] = {}
    for row in tables["task_run_logs"]:
        logs.setdefault(text_of(row["task_id"]), []).append(row)
    continued = {text_of(row["group_folder"]): text_of(row["session_id"]) for row in tables["sessions"]}
    for row in tables["registered_groups"]:
        folder, jid = text_of(row["folder"]), text_of(row["jid"])
        mounts = _mounts(row, is_main=bool(row.get("is_main")) or folder == "main")
        store.groups[folder] = Group(folder=folder, owner=folder, mounts=mounts)
        session = Session(id=folder, owner=folder, routing=("", jid), outbound_is_stored=False)
        session.continuation = continued.get(folder, "")
        session.destinations = [Destination(name=jid, channel="", platform_id=jid)]
        session.inbound = [
            _message(each, folder)
            for each in tables["messages"]
            if each["chat_jid"] == jid and not each.get("is_bot_message", each.get("is_from_me"))
        ]
        for task in tables["scheduled_tasks"]:
            if task["group_folder"] == folder:
                session.inbound += _task_runs(task, logs.get(text_of(task["id"]), []))
        store.sessions.append(session)
    return store


def _mounts(row: Row, *, is_main: bool) -> list[Mount]:
    """The mounts that a group asks for; the main group has the whole project mounted besides."""
    config = record_of(json_of(row.get("container_config")))
    mounts = listed_mounts(config.get("additionalMounts"))
    return [Mount(inside="/workspace/project", host="", readonly=True), *mounts] if is_main else mounts


def _message(row: Row, session: str) -> Inbound:
    return Inbound(
        id=str(row["id"]),
        kind="chat",
        text=text_of(row["content"]).strip(),
        time=milliseconds(row["timestamp"]) or 0,
        session=session,
        sender=text_of(row.get("sender_name")),
        platform_id=text_of(row["chat_jid"]),
    )


def _task_runs(task: Row, logs: list[Row]) -> list[Inbound]:
    """One for each logged run of a task; the log has the time of the end. One for the task when nothing is logged."""
    cron = task.get("schedule_type") in ("cron", "interval")
    runs = []
    for log in logs or [{}]:
        ended = milliseconds(log.get("run_at"))
        took = log.get("duration_ms")
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
