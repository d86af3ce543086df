"""Recordings with values of any type where others belong: a trace or a clear error comes of each, never a crash."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agenteval.errors import AdapterError
from agenteval.trace import check_trace
from nanoclaw.recordings import converted, inspected, unpack

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    "\ud83d",
    [],
    [1],
    {},
    {"type": "text"},
    [{"type": 7}],
    [[]],
    1 << 70,
]
NAMES = ["v2-outbound-tools", "v2-subagent", "v2-memory-write", "v1-scheduled-task", "v2-api-retry"]
ROUNDS = 20


def read_all(root: Path) -> None:
    """Inspect, and convert each run."""
    try:
        for run in inspected(root).runs:
            check_trace(converted(root, run).trace)
    except AdapterError as error:
        assert error.next_step


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a value, with each of its keys."""
    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


@pytest.mark.parametrize("name", NAMES)
def test_odd_values_in_transcripts(name: str, tmp_path: Path) -> None:
    """Each round puts one into some lines."""
    root = unpack(name, tmp_path)
    files = {path: path.read_text(encoding="utf-8") for path in root.rglob("projects/**/*.jsonl")}
    for seed in range(ROUNDS):
        random = Random(seed)
        for path, text in files.items():
            records = [json.loads(line) for line in text.splitlines()]
            for record in records:
                if random.random() < 0.4:
                    container, key = random.choice(list(places(record)))
                    container[key] = random.choice(ODD)
            path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        read_all(root)


@pytest.mark.parametrize("name", NAMES)
def test_odd_values_in_databases(name: str, tmp_path: Path) -> None:
    """SQLite keeps any type in any column."""
    root = unpack(name, tmp_path)
    files = {path: path.read_bytes() for path in root.rglob("*.db")}
    odd = [
        None,
        7,
        1.5,
        "",
        "x",
        b"\xff",
        '{"text": 7}',
        '[{"containerPath": 7}]',
        "[]",
        "{",
        "2026-11-21 20:55:27",
    ]
    for seed in range(ROUNDS):
        random = Random(seed)
        for path, data in files.items():
            path.write_bytes(data)
            with closing(sqlite3.connect(path)) as database:
                query = "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite%'"
                for (table,) in database.execute(query).fetchall():
                    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
                    try:
                        change = f"UPDATE {table} SET {random.choice(columns)}=?"
                        database.execute(change, (random.choice(odd),))
                    except sqlite3.IntegrityError:
                        continue
                database.commit()
        read_all(root)
