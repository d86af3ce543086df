"""SQLite databases of a running or stopped NanoClaw, read without touching them.

A database is copied, with its journal or write-ahead log, into a private temporary folder, and the copy is opened:
opening the original, even for reading, may create files beside it, wait for locks, or finish a transaction.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agenteval.errors import AdapterError
from agenteval.reading.containment import readable
from agenteval.reading.documents import opened
from agenteval_nanoclaw.session.source import shown

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
