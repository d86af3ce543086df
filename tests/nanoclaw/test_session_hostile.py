"""Recordings with values of any type where others belong: a trace or a clear error comes of each, never a crash."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import check_trace
from agenteval_nanoclaw.session.outgoing import Part, parts_of, sent_to
from agenteval_nanoclaw.session.prompts import parse_prompt
from agenteval_nanoclaw.session.results import result_text
from nanoclaw.recordings import PROJECT, converted, inspected, unpack

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
CLAUDE_CODE = PROJECT / "tests" / "data" / "claude-code"
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
                    container[key] = deepcopy(random.choice(ODD))
            path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        read_all(root)


@pytest.mark.parametrize("name", sorted(path.name for path in CLAUDE_CODE.iterdir()))
def test_odd_values_in_transcripts_of_claude_code(name: str, tmp_path: Path) -> None:
    """With notices, workflows and streams; all of them as lines, and as one array."""
    shutil.copytree(CLAUDE_CODE, tmp_path / "data")
    (path,) = [*(tmp_path / "data" / name).glob("*.jsonl")] or [tmp_path / "data" / name]
    text = path.read_text(encoding="utf-8")
    for seed in range(ROUNDS * 2):
        random = Random(seed)
        records = [json.loads(line) for line in text.splitlines()]
        for record in records:
            for _ in range(random.choice((0, 1, 1, 4))):
                container, key = random.choice(list(places(record)))
                container[key] = deepcopy(random.choice(ODD))
        lines = json.dumps(records) if seed % 2 else "".join(json.dumps(record) + "\n" for record in records)
        path.write_text(lines, encoding="utf-8")
        read_all(path)


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


MANY = 500_000
"""Of these, what takes a time that grows with the square of the size would take hours."""
BLANKS = " " * MANY


@pytest.mark.parametrize(
    ("prompt", "kind", "text"),
    [
        (f'<message id="1">look:{BLANKS}end</message>', "chat", f"look:{BLANKS}end"),
        (f'<task id="1">look:{BLANKS}end</task>', "task", f"look:{BLANKS}end"),
        ('<message id="1">' * MANY, "plain", '<message id="1">' * MANY),
        ("<task <webhook " * MANY, "plain", ("<task <webhook " * MANY).strip()),
        (f"<message {'a' * MANY}>Hi</message>", "chat", "Hi"),
        (f"<message id=>{'<quoted_message>' * MANY}</message>", "chat", "<quoted_message>" * MANY),
        (f"<message id=>{'<quoted_message ' * MANY}</message>", "chat", ("<quoted_message " * MANY).strip()),
        (f"<task id=>{'Script output:' * MANY}</task>", "task", "Script output:" * MANY),
        (f"<command-name>/go</command-name>{'<command-args>' * MANY}", "command", "/go"),
        (
            f"<command-name>/go</command-name>{'<command-args>' * 2}now</command-args>",
            "command",
            "/go <command-args>now",
        ),
        ('<message id="1"><task id="2">Tidy up</task>', "task", "Tidy up"),
        ("<message id=><quoted_message>No</quoted_message>\nYes</message>", "chat", "Yes"),
        ("<task id=>Script output:\n1\n\nInstructions:\nCount</task>", "task", "Count"),
    ],
    ids=range(13),
)
def test_prompts_are_read_in_one_pass(prompt: str, kind: str, text: str) -> None:
    """What is not closed is text, however often it is opened; so are blanks."""
    (message,) = parse_prompt(prompt).messages
    assert message.kind == kind
    assert message.text == text


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ('<message to="dana">' * MANY, []),
        ('<message to="dana" ' * MANY, []),
        (f'<message to="dana">{BLANKS}Hi</message>', [Part("dana", "Hi")]),
        (
            '<message to="a>b" id="1">Hi</message> <message to="c">Ho</message>',
            [Part("a>b", "Hi"), Part("c", "Ho")],
        ),
    ],
    ids=range(4),
)
def test_parts_of_an_answer_are_read_in_one_pass(answer: str, parts: list[Part]) -> None:
    """What opens a message makes none by itself."""
    assert parts_of(answer, "v2") == parts


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (f"a{BLANKS}b <system-reminder>x</system-reminder>", f"a{BLANKS}b"),
        ("<system-reminder>" * MANY, "<system-reminder>" * MANY),
        (" a\n<system-reminder>x</system-reminder>\n\nb \n", " a\nb "),
        ("<system-reminder>x</system-reminder> <system-reminder>y</system-reminder> b", "\n\nb"),
    ],
    ids=range(4),
)
def test_reminders_are_taken_out_in_one_pass(told: str, text: str) -> None:
    """With the blanks around them; one that is not closed stays."""
    assert result_text({"content": told}, {}, "Bash").rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize(
    ("answer", "to"),
    [
        ("sent to a " * MANY, ""),
        ("Message sent to Dana (id: 5)", "Dana"),
        ("(1) It was sent to the group of Dana (id: 5), not sent to Ann (id: 6)", "the group of Dana"),
        ("sent to  nobody and sent to Dana (id: 5)", "Dana"),
        ("resent to Dana (id: 5)", ""),
    ],
    ids=range(5),
)
def test_where_a_message_went_is_read_in_one_pass(answer: str, to: str) -> None:
    """The first destination with an id."""
    assert sent_to(answer) == to
