"""Transcripts of the Claude Agent SDK: one JSON object a line, read one by one.

A transcript may be hundreds of megabytes. It is read once for an index, which holds where each line is and what it
continues; then only the lines of one run are read again, whole.
"""

import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from agenteval import budget
from agenteval.errors import AdapterError
from agenteval_nanoclaw.session.clock import milliseconds
from agenteval_nanoclaw.session.line_types import OTHER_KNOWN, PASSED_OVER, TOLD
from agenteval_nanoclaw.session.prompts import INTERRUPTED, is_harness
from agenteval_nanoclaw.session.source import shown
from agenteval_nanoclaw.session.values import Record, record_of, records_in, text_of

Progress = Callable[[Path, int, int], None]
"""Told a file, the bytes of it that are read, and its size."""
TELL_EVERY = 8 << 20
DEEPEST = 100
UNTIMED = -1
"""The time of lines that have none, until that of another is known."""


@dataclass(slots=True)
class Line:
    """Where a line is, and what it continues. `parent` is a place in the index, or -1.

    A line without a time of its own has that of the line before; what stands before all times has the first.
    """

    time: int
    number: int
    offset: int
    length: int
    place: int
    parent: int
    type: str
    prompt: str | None = None
    """The text of messages to the agent. On an attachment: of messages that came while it worked."""


@dataclass(slots=True)
class Index:
    """The lines of one transcript that tell something, and what else was found in it."""

    path: Path
    lines: list[Line] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    """Lines that were passed over because nobody knows them, by type."""
    damaged: list[int] = field(default_factory=list)
    """The numbers of lines that cannot be read: no JSON, or too long. What they told is missing."""
    begun: list[int] = field(default_factory=list)
    """When a subagent was asked: once, and again whenever it is resumed."""
    set_back: set[int] = field(default_factory=set)
    """The numbers of lines whose clock was behind that of the line that they continue."""
    cut: bool = False
    """Whether the last line is not whole."""
    folder: str = ""
    """The agent's working directory: it tells the generations of NanoClaw apart."""


def read_index(path: Path, *, max_line: int, progress: Progress | None = None) -> Index:
    """The index of a transcript. `max_line` is the size from which on a line is passed over, in bytes.

    `progress` is told now and then how far it is, and when it is done.

    Raises `AdapterError` (`adapter.no_recording`) when the file cannot be read, or no line of it is of a transcript.
    """
    index = Index(path)
    places: dict[str, int] = {}
    objects = 0
    told = 0
    for number, offset, data, whole in _raw_lines(path, max_line):
        if offset - told >= TELL_EVERY:
            told = offset
            budget.renew()
            if progress:
                progress(path, offset, path.stat().st_size)
        record = parse_line(data) if data is not None else None
        if record is None:
            if data is None:
                index.skipped[f"line over {max_line:,} bytes"] += 1
                index.damaged.append(number)
            elif not whole:
                index.cut = True
            elif data.strip():
                index.skipped["line that is not JSON"] += 1
                index.damaged.append(number)
            continue
        objects += "type" in record
        _add(index, places, record, Line(0, number, offset, len(data or b""), -1, -1, ""))
    if progress and told:
        progress(path, size := path.stat().st_size, size)
    first = next((line.time for line in index.lines if line.time != UNTIMED), 0)
    for line in takewhile(lambda line: line.time == UNTIMED, index.lines):
        line.time = first
    if not objects:
        raise AdapterError(
            f"{shown(path)}: none of its lines belongs to a transcript",
            reason_code="adapter.no_recording",
            next_step="name a transcript of the Claude Agent SDK: one JSON object with a `type` per line",
        )
    return index


def _raw_lines(path: Path, max_line: int) -> Iterator[tuple[int, int, bytes | None, bool]]:
    """Number, offset, bytes (None when there are too many) and whether it ends in a line break, of each line."""
    try:
        with path.open("rb") as file:
            number = offset = 0
            if file.read(len(BOM_UTF8)) == BOM_UTF8:
                offset = len(BOM_UTF8)
            file.seek(offset)
            while data := file.readline(max_line + 1):
                number += 1
                length = len(data)
                whole = data.endswith(b"\n")
                if not whole and length > max_line:
                    while (rest := file.readline(1 << 20)) and not rest.endswith(b"\n"):
                        length += len(rest)
                    yield number, offset, None, True
                    length += len(rest)
                else:
                    yield number, offset, data, whole
                offset += length
    except OSError as error:
        raise AdapterError(
            f"{shown(path)} cannot be read: {error.strerror or error}",
            reason_code="adapter.no_recording",
            next_step="check the permissions",
        ) from error


def _add(index: Index, places: dict[str, int], record: Record, line: Line) -> None:
    kind = record.get("type")
    if not isinstance(kind, str):
        index.skipped["line without a type"] += 1
        return
    index.folder = index.folder or text_of(record.get("cwd"))
    uuid = text_of(record.get("uuid"))
    known = places.get(uuid, -1)
    if known >= 0 and index.lines[known].length == line.length:  # written twice
        return
    parent = places.get(text_of(record.get("parentUuid")), -1)
    prompt = prompt_of(record)
    if kind == "user":  # the rest is what the harness writes in a user's name
        told = _is_result(record) or prompt is not None or is_interruption(record)
        if not told and record.get("isSidechain") and not record.get("isMeta") and _said(_content(record)):
            begun = milliseconds(record.get("timestamp"))
            index.begun += [] if begun is None else [begun]
    else:
        told = kind == "assistant" or _subtype(record) in TOLD.get(kind, ())
    if not told:
        if kind not in ("user", *PASSED_OVER) and _subtype(record) not in OTHER_KNOWN:
            index.skipped[f"{kind}/{_subtype(record)}" if kind in TOLD else kind] += 1
        if uuid:
            places[uuid] = parent  # what continues it continues what it continues
        return
    time = milliseconds(record.get("timestamp"))
    if time is None:
        time = index.lines[-1].time if index.lines else UNTIMED
    if parent >= 0 and time < index.lines[parent].time:  # what continues a line does not come before it
        time = index.lines[parent].time
        index.set_back.add(line.number)
    line.time, line.type, line.parent, line.place = time, kind, parent, len(index.lines)
    if uuid and _subtype(record) != "compact_boundary":  # the command that asked for it is written after it
        places[uuid] = line.place
    line.prompt = prompt
    index.lines.append(line)


def _subtype(record: Record) -> str:
    attachment = record.get("attachment")
    return text_of(attachment.get("type") if isinstance(attachment, dict) else record.get("subtype"))


def prompt_of(record: Record) -> str | None:
    """What a line says to the agent; None for what the harness writes in a user's name, and for tool results."""
    if record.get("type") == "attachment":
        told = record_of(record.get("attachment"))
        queued = told.get("type") == "queued_command" and told.get("commandMode", "prompt") == "prompt"
        return _said(told.get("prompt")) if queued else None
    if record.get("type") != "user":
        return None
    if any(
        record.get(key) for key in ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
    ):
        return None
    if record_of(record.get("origin")).get("kind") == "task-notification":
        return None
    return None if _is_result(record) else _said(_content(record))


def is_interruption(record: Record) -> bool:
    """Whether a line says that the agent was stopped."""
    content = _content(record)
    first = content[0] if isinstance(content, list) and content else {"text": content}
    return text_of(record_of(first).get("text")).startswith(INTERRUPTED)


def _is_result(record: Record) -> bool:
    return any(block.get("type") == "tool_result" for block in records_in(_content(record)))


def _content(record: Record) -> Any:
    return record_of(record.get("message")).get("content")


def _said(content: Any) -> str | None:
    if isinstance(content, list):
        blocks = records_in(content)
        texts = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
        said = [text for text in texts if not is_harness(text)]
        content = "\n".join(said if texts else (f"[{text_of(block.get('type'))}]" for block in blocks))
    return content if isinstance(content, str) and content and not is_harness(content) else None


def read_record(file: BinaryIO, line: Line) -> Record | None:
    """A line itself, of the open transcript that it is in; None when the file has changed since."""
    file.seek(line.offset)
    return parse_line(file.read(line.length))


def parse_line(data: bytes) -> Record | None:
    """The object of a line, or None when there is none. `NaN` and its like become text."""
    try:
        record = json.loads(data.decode("utf-8", "replace"), parse_constant=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or (data.count(b"{") + data.count(b"[") > DEEPEST and _too_deep(record)):
        return None
    return _whole(record) if b"\\ud" in data or b"\\uD" in data else record


def _too_deep(record: Record) -> bool:
    level: list[Any] = [record]
    for _ in range(DEEPEST):
        level = [
            item
            for each in level
            for item in (each.values() if isinstance(each, dict) else each)
            if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


def _whole(value: Any) -> Any:
    """A value in which halves of characters, which no file can hold, are replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value
