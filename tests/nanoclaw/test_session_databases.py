"""Databases of a live, stopped, foreign or broken NanoClaw: read, and never touched."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval_nanoclaw.session.store import read_tables
from agenteval_nanoclaw.session.values import iso, milliseconds
from nanoclaw.recordings import converted, files_of, inspected, replayed, unpack

NEXT = "copy the transcript (*.jsonl) to another folder and name the copy; it is read without databases"


@pytest.fixture
def install(tmp_path: Path) -> Path:
    """A v2 install."""
    return unpack("v2-scheduled-task", tmp_path)


def database(root: Path, name: str) -> Path:
    """A database of the install."""
    (path,) = root.rglob(name)
    return path


def test_a_log_that_is_not_written_back_is_read_and_left(install: Path) -> None:
    """What a running NanoClaw wrote last stands in the write-ahead log: it counts, and the log stays as it is."""
    with closing(sqlite3.connect(database(install, "v2.db"))) as live:
        live.execute("PRAGMA journal_mode=WAL")
        live.execute("PRAGMA wal_autocheckpoint=0")
        live.execute("UPDATE agent_groups SET folder='renamed'")
        live.commit()
        before = files_of(install)
        assert {"data/v2.db-wal", "data/v2.db-shm"} < set(before)
        assert inspected(install).runs[0].group_id == "renamed"
        assert files_of(install) == before


def test_a_transaction_that_was_never_finished_does_not_count(install: Path) -> None:
    """Its journal is beside the database; the copy is rolled back, the original left to NanoClaw."""
    path = database(install, "outbound.db")
    with closing(sqlite3.connect(path)) as live:
        live.execute("PRAGMA cache_size=1")
        live.execute("BEGIN EXCLUSIVE")
        live.execute('UPDATE messages_out SET content=\'{"text":"half done"}\'')
        live.executemany(
            "INSERT INTO session_state (key, value, updated_at) VALUES (?, ?, '')",
            [(f"k{number}", "x" * 900) for number in range(200)],
        )
        before = files_of(install)
        assert f"{path.relative_to(install)}-journal" in before
        trace = replayed(install, turn=1)
        assert trace.of_type("final_output")[0].data["delivered"] is True
        assert files_of(install) == before
        live.rollback()


def test_a_locked_database_is_read(install: Path) -> None:
    """Nobody waits for the lock."""
    with closing(sqlite3.connect(database(install, "inbound.db"))) as live:
        live.execute("BEGIN EXCLUSIVE")
        assert len(inspected(install).runs) == 2
        live.rollback()


def test_databases_that_must_not_be_written_are_read(install: Path) -> None:
    """Neither files nor folders need to be writable."""
    for path in [*install.rglob("*"), install]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert len(inspected(install).runs) == 2
    for path in [install, *install.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_a_file_that_is_no_database(install: Path) -> None:
    """Says which, and what to do."""
    path = database(install, "inbound.db")
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(AdapterError) as caught:
        inspected(install)
    assert caught.value.reason_code == "adapter.database_unreadable"
    assert caught.value.message == f"{path} cannot be read as a database: file is not a database"
    assert caught.value.next_step == "stop NanoClaw, or copy the recording once it is idle, and try again"


@pytest.mark.parametrize(
    ("name", "change", "missing"),
    [
        ("inbound.db", "DROP TABLE messages_in", "table messages_in"),
        (
            "inbound.db",
            "ALTER TABLE messages_in RENAME COLUMN content TO body",
            "columns content in table messages_in",
        ),
        (  # a table that may be missing has its columns when it is there
            "outbound.db",
            "ALTER TABLE session_state RENAME COLUMN value TO content",
            "columns value in table session_state",
        ),
    ],
)
def test_a_database_of_another_version(install: Path, name: str, change: str, missing: str) -> None:
    """Says what is missing, and that the transcript can be read alone."""
    path = database(install, name)
    with closing(sqlite3.connect(path)) as old:
        old.execute(change)
        old.commit()
    with pytest.raises(AdapterError) as caught:
        inspected(install)
    assert caught.value.reason_code == "adapter.database_version"
    assert caught.value.message == (
        f"{path} has no {missing}: not a database of NanoClaw, or one of an unknown version"
    )
    assert caught.value.next_step == NEXT


@pytest.mark.parametrize("name", ["v1-scheduled-task", "v2-cross-group-leak"])
def test_every_column_may_have_another_name(tmp_path: Path, name: str) -> None:
    """The recording is read without it, or what is missing is said."""
    root = unpack(name, tmp_path)
    for path in root.rglob("*.db"):
        with closing(sqlite3.connect(path)) as other:
            tables = [
                row[0]
                for row in other.execute(
                    "SELECT name FROM sqlite_master WHERE sql NOTNULL AND type = 'table' AND name != 'sqlite_sequence'"
                )
            ]
            filled = [table for table in tables if other.execute(f"SELECT * FROM {table}").fetchone()]
            columns = [
                (table, row[1]) for table in filled for row in other.execute(f"PRAGMA table_info({table})")
            ]
            for table, column in columns:
                other.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO renamed")
                other.commit()
                try:
                    assert inspected(root).runs
                except AdapterError as error:
                    assert f" has no columns {column} in table {table}: " in error.message
                other.execute(f"ALTER TABLE {table} RENAME COLUMN renamed TO {column}")
                other.commit()


def test_tables_that_are_not_needed_may_be_missing(install: Path) -> None:
    """Older and newer versions have others."""
    with closing(sqlite3.connect(database(install, "inbound.db"))) as old:
        old.execute("DROP TABLE delivered")
        old.execute("DROP TABLE destinations")
        old.commit()
    trace = replayed(install, turn=1)
    assert trace.of_type("final_output")[0].data["delivered"] is False


def test_a_failure_of_the_agent_s_process_ends_the_run_as_failed(tmp_path: Path) -> None:
    """NanoClaw sends it in the agent's name, in reply to nothing; a send by tool that begins so is none."""
    text = '{"text": "Error: Claude Code process exited with code 1"}'
    other = unpack("v2-outbound-tools", tmp_path)
    with closing(sqlite3.connect(database(other, "outbound.db"))) as out:
        (seq,) = out.execute("SELECT min(seq) FROM messages_out WHERE in_reply_to IS NULL").fetchone()
        out.execute("UPDATE messages_out SET content = ? WHERE seq = ?", (text, seq))
        out.commit()
    assert replayed(other).status == "success"
    root = unpack("v2-current-news", tmp_path)
    with closing(sqlite3.connect(database(root, "outbound.db"))) as out:
        row = "INSERT INTO messages_out SELECT ?, ?, NULL, timestamp, NULL, NULL, kind, NULL, NULL, NULL, ? FROM messages_out"
        out.execute(row, ("failed", 103, text))
        out.commit()
    trace = replayed(root)
    assert trace.status == "failed"
    assert trace.events[-1].type == "error"
    assert trace.events[-1].data == {
        "scope": "runtime",
        "tool": None,
        "call_id": None,
        "error_type": "runner_failed",
        "message": "Error: Claude Code process exited with code 1",
        "retryable": False,
    }


FIRST = "SELECT {}, sender, sender_name, {}, {}, is_from_me, {} FROM messages WHERE id = '41'"


def test_a_message_is_known_by_its_chat_its_text_and_its_time(tmp_path: Path) -> None:
    """The first generation gives prompts no ids: another that is like it, or what the agent said, is not it."""
    root = unpack("v1-memory", tmp_path)
    others = [
        ("'0', 'tg:2'", "content", "timestamp", "0"),
        ("'1', chat_jid", "'Hello'", "timestamp", "0"),
        ("'2', chat_jid", "content", "'2026-11-21T20:59:07.300Z'", "0"),
        ("'3', chat_jid", "content", "'2026-11-21T20:59:07.400Z'", "0"),
        ("'4', chat_jid", "content", "timestamp", "1"),
    ]
    with closing(sqlite3.connect(database(root, "messages.db"))) as store:
        store.execute(
            "INSERT INTO registered_groups SELECT 'tg:2', 'Nora', 'family', 'x', added_at, NULL, 0, 0 FROM registered_groups"
        )
        for other in others:
            store.execute("INSERT INTO messages " + FIRST.format(*other))
        store.execute(
            "INSERT INTO messages SELECT '5', chat_jid, sender, sender_name, content || ' ', timestamp, 0, 0 FROM messages WHERE id = '41'"
        )
        store.execute("DELETE FROM messages WHERE id = '41'")
        store.commit()
    trace = replayed(root, turn=1)
    (message,) = trace.of_type("message_received")
    assert message.data == {
        "role": "user",
        "content": "I want 5 bullets in briefs from now on",
        "sender": "Dana",
        "message_id": "5",
    }
    assert message.ts == "2026-11-21T20:59:07.344Z"
    assert trace.of_type("final_output")[0].data["to"] == "tg:5550100"
    assert "delivered" not in trace.of_type("final_output")[0].data


def test_a_run_of_a_task_is_known_by_the_log(tmp_path: Path) -> None:
    """By the time of its end and what it took: an earlier run of the task, and the task of another group, are others."""
    root = unpack("v1-scheduled-task", tmp_path)
    with closing(sqlite3.connect(database(root, "messages.db"))) as store:
        store.execute(
            "INSERT INTO registered_groups SELECT 'tg:2', 'Nora', 'family', 'x', added_at, NULL, 0, 0 FROM registered_groups"
        )
        store.execute(
            "INSERT INTO scheduled_tasks SELECT 'task-0', 'family', chat_jid, prompt, schedule_type, 'other', next_run, last_run, last_result, status, created_at, context_mode FROM scheduled_tasks"
        )
        for number, task, ended in ((2, "task-1763740800000-abc123", "20:59"), (3, "task-0", "21:01")):
            store.execute(
                f"INSERT INTO task_run_logs VALUES ({number}, '{task}', '2026-11-21T{ended}:06.490Z', 28829, 'error', NULL, 'boom')"
            )
        store.commit()
    trace = replayed(root)
    assert (trace.status, trace.scenario.task_id) == ("success", "task-1763740800000-abc123")
    assert trace.scenario.scheduler_context == {
        "task_id": "task-1763740800000-abc123",
        "recurrence": "0 9 * * 1-5",
    }
    with closing(sqlite3.connect(database(root, "messages.db"))) as store:
        store.execute(
            "UPDATE scheduled_tasks SET schedule_type = 'once', schedule_value = '2026-11-21T21:00:00.000Z'"
        )
        store.commit()
    assert replayed(root).scenario.scheduler_context == {"task_id": "task-1763740800000-abc123"}


@pytest.mark.parametrize(
    ("folder", "is_main", "mounts"),
    [
        ("main", 0, [{"path": "/workspace/project", "readonly": True}]),
        ("home", 1, [{"path": "/workspace/project", "readonly": True}]),
        ("home", 0, None),
    ],
)
def test_the_main_group_has_the_project_mounted(
    tmp_path: Path, folder: str, is_main: int, mounts: list[dict[str, object]] | None
) -> None:
    """It is marked as the main one; in older stores it is known by the name of its folder."""
    root = unpack("v1-memory", tmp_path)
    (root / "data" / "sessions" / "main").rename(root / "data" / "sessions" / folder)
    with closing(sqlite3.connect(database(root, "messages.db"))) as store:
        store.execute("UPDATE registered_groups SET folder = ?, is_main = ?", (folder, is_main))
        store.commit()
    scenario = converted(root, inspected(root).runs[0]).scenario
    assert (scenario["group_id"], scenario.get("mounts")) == (folder, mounts)


def test_a_task_whose_log_has_an_error_failed(tmp_path: Path) -> None:
    """The error that v1 logged is told, whatever the agent said."""
    root = unpack("v1-scheduled-task", tmp_path)
    with closing(sqlite3.connect(database(root, "messages.db"))) as store:
        store.execute(
            "UPDATE task_run_logs SET status = 'error', result = NULL, error = 'Container timed out'"
        )
        store.commit()
    trace = replayed(root)
    assert trace.status == "failed"
    assert trace.events[-1].data["error_type"] == "task_failed"
    assert trace.events[-1].data["message"] == "Container timed out"


def test_broken_values_are_survived(install: Path) -> None:
    """Text that is not UTF-8, content that is not JSON, times that are none."""
    with closing(sqlite3.connect(database(install, "inbound.db"))) as odd:
        odd.execute("UPDATE messages_in SET content=CAST(x'ff7b' AS TEXT), timestamp='soon' WHERE seq=2")
        odd.commit()
    assert [run.status for run in inspected(install).runs] == ["success", "success"]


def test_a_missing_table_is_empty_and_a_required_one_is_an_error(tmp_path: Path) -> None:
    """The reader of tables, by itself."""
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as new:
        new.execute("CREATE TABLE a (b)")
        new.execute("INSERT INTO a VALUES (1)")
        new.commit()
    assert read_tables(path, {"a": ("b",)}, {"c": ()}) == {"a": [{"b": 1}], "c": []}
    with pytest.raises(AdapterError):
        read_tables(path, {"c": ("d",)}, {})


@pytest.mark.parametrize(
    "made",
    [
        "CREATE VIEW a AS WITH RECURSIVE n(b) AS (SELECT 1 UNION ALL SELECT b + 1 FROM n) SELECT b FROM n",
        "CREATE VIRTUAL TABLE a USING fts5(b)",
    ],
)
def test_a_table_that_is_none_is_not_there(tmp_path: Path, made: str) -> None:
    """A view is a query, which may have no end."""
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as new:
        new.execute(made)
        new.commit()
    assert read_tables(path, {}, {"a": ("b",)}) == {"a": []}
    with pytest.raises(AdapterError, match="has no table a"):
        read_tables(path, {"a": ("b",)}, {})


def test_what_is_generated_is_not_read(tmp_path: Path) -> None:
    """A column of a gigabyte a row takes no room in the file."""
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as new:
        new.execute('CREATE TABLE a (b, "c""d", e AS (zeroblob(900000000)))')
        new.execute("INSERT INTO a VALUES (1, 2)")
        new.commit()
    assert read_tables(path, {"a": ("b",)}, {}) == {"a": [{"b": 1, 'c"d': 2}]}


@pytest.mark.parametrize("linked", [False, True])
def test_a_log_that_is_a_link_is_not_read(tmp_path: Path, linked: bool) -> None:
    """A write-ahead log belongs beside its database."""
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(tmp_path / "x.db")) as live:
        live.execute("PRAGMA journal_mode=WAL")
        live.execute("CREATE TABLE a (b)")
        live.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        live.execute("INSERT INTO a VALUES (1)")
        live.commit()
        shutil.copyfile(tmp_path / "x.db", copy)
        log = shutil.copyfile(tmp_path / "x.db-wal", tmp_path / ("log" if linked else "copy.db-wal"))
    if linked:
        (tmp_path / "copy.db-wal").symlink_to(log)
    assert read_tables(copy, {"a": ("b",)}, {})["a"] == ([] if linked else [{"b": 1}])


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1970-01-01T00:00:01.500Z", 1500),
        ("1970-01-01 00:00:01", 1000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("soon", None),
        ("", None),
        (None, None),
        (7, None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59.000-12:00", None),
        ("0001-01-01T00:00:00Z", -62135596800000),
        ("9999-12-31T23:59:59.999Z", 253402300799999),
    ],
)
def test_times_in_both_forms(text: object, time: int | None) -> None:
    """ISO 8601, and what SQLite writes, which is UTC too."""
    assert milliseconds(text) == time


def test_times_are_told_in_utc() -> None:
    """With milliseconds."""
    assert iso(1500) == "1970-01-01T00:00:01.500Z"


def test_a_schema_that_is_no_text_is_damage(install: Path) -> None:
    """What SQLite says of it quotes bytes that are no UTF-8."""
    path = database(install, "outbound.db")
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE", b"CREATE \xff\xffBLE"))
    with pytest.raises(
        AdapterError, match="cannot be read as a database: 'utf-8' codec can't decode"
    ) as caught:
        inspected(install)
    assert caught.value.reason_code == "adapter.database_unreadable"
