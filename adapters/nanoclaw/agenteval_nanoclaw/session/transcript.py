"""Transcripts of the Claude Agent SDK: one JSON object a line, read one by one.

A transcript may be hundreds of megabytes. It is read once for an index, which holds where each line is and what it
continues; then only the lines of one run are read again, whole.
"""

import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, Literal

from agenteval.contracts import time_limits
from agenteval.contracts.errors import AdapterError
from agenteval.reading.documents import MAX_DEPTH, opened
from agenteval.reading.jsonsource import is_too_deep
from agenteval_nanoclaw.session.prompts import (
    INTERRUPTED,
    LINES,
    OTHER_KNOWN,
    PASSED_OVER,
    TOLD,
    Notice,
    notices_in,
    words_of,
)
from agenteval_nanoclaw.session.source import shown, unreadable
from agenteval_nanoclaw.session.values import (
    Record,
    milliseconds,
    record_of,
    records_in,
    text_of,
    whole_characters,
)

Progress = Callable[[Path, int, int], None]
"""Told a file, the bytes of it that are read, and its size."""
TELL_EVERY = 8 << 20
UNTIMED = -1
"""The time of lines that have none, until that of another is known."""
SPAWNS = ("Agent", "Task")
"""The tool that starts a subagent, by its names."""
WORKFLOW = "Workflow"
"""The tool that runs a script which starts agents."""
TASKS = ("agentId", "agent_id", "teammate_id", "name", "taskId", "runId", "backgroundTaskId")
"""What a result calls the work that its call began, and that goes on."""
HARNESS_KEYS = ("isSynthetic", "isCompactSummary", "isVisibleInTranscriptOnly")
"""What marks a line as the harness's own, beside `isMeta`."""
PEOPLE = ("human", "channel")
"""The origins of lines that people send, be it through a chat."""
_ARRAY = re.compile(rb"\s*(?:\[\s*[{\]]|\{\s*\n)")
"""How an array of lines begins, or lines that are written over several."""
_BETWEEN = re.compile(r"[\s,\[\]]*")


@dataclass(slots=True)
class Line:
    """Where a line is, and what it continues. `parent` is a place in the index, or -1.

    A line without a time of its own has that of the line before; what stands before all times has the first.
    """

    number: int
    offset: int
    length: int
    time: int = 0
    place: int = -1
    parent: int = -1
    type: str = ""
    prompt: str | None = None
    """The text of messages to the agent. On an attachment: of messages that came while it worked."""
    chain: int = -1
    """The place at which the subagent's part of this transcript began that it is of; -1 for the agent itself."""
    mark: Literal["", "news", "notice"] = ""
    """Whether it tells the agent something: a message, or the result of a call; or any other notice after its turn."""
    aside: bool = False
    """Whether a notice is the last thing that the agent was told: once it has answered, what it says is no answer."""


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
    cut: bool = False
    """Whether the last line is not whole."""
    folder: str = ""
    """The agent's working directory: it tells the generations of NanoClaw apart."""
    session: str = ""
    """The id of the session, as the lines have it."""
    opened: bool = False
    """Whether it begins with what the harness or another agent said, or as a stream does: nothing came before."""
    stream: bool = False
    """Whether it is what `--output-format stream-json` puts out, and no session that Claude Code saved."""
    timed: bool = True
    """Whether any of its lines has a time; else they are numbered, a millisecond each."""
    tasks: dict[str, int] = field(default_factory=dict)
    """Where calls, and the work that they began, are: places by id."""
    agents: set[str] = field(default_factory=set)
    """The ids of agents, and of the calls that started them."""
    told: set[str] = field(default_factory=set)
    """The ids of work whose result a call has fetched."""
    costs: list[tuple[int, float]] = field(default_factory=list)
    """What a stream had cost, in US dollars, at some places."""


def read_index(path: Path, *, max_line: int, progress: Progress | None = None) -> Index:
    """The index of a transcript. `max_line` is the size from which on a line is passed over, in bytes.

    `progress` is told now and then how far it is, and when it is done.

    Raises `AdapterError` (`adapter.no_recording`) when the file cannot be read, or no line of it is of a transcript.
    """
    index = Index(path)
    places: dict[str, int] = {}
    objects = told = 0
    for number, offset, data, whole in _records(path, max_line):
        if offset - told >= TELL_EVERY:
            told = offset
            time_limits.renew()
            if progress:
                progress(path, offset, path.stat().st_size)
        if data is None:
            index.skipped[f"line over {max_line:,} bytes"] += 1
            index.damaged.append(number)
        elif (record := parse_line(data)) is not None:
            objects += text_of(record.get("type")) in LINES
            _add(index, places, record, Line(number, offset, len(data)))
        elif not whole:
            index.cut = True
        elif data.strip():
            index.skipped["line that is not JSON"] += 1
            if not index.stream or data.lstrip().startswith(b"{"):  # programs print between the lines
                index.damaged.append(number)
    if progress and told:
        progress(path, size := path.stat().st_size, size)
    first = next((line.time for line in index.lines if line.time != UNTIMED), None)
    index.timed = first is not None
    for line in takewhile(lambda line: line.time == UNTIMED, index.lines):
        line.time = line.place if first is None else first
    if not objects:
        raise AdapterError(
            f"{shown(path)}: none of its lines belongs to a transcript",
            reason_code="adapter.no_recording",
            next_step="name a transcript of the Claude Agent SDK: one JSON object with a `type` per line",
        )
    return index


def _records(path: Path, max_line: int) -> Iterator[tuple[int, int, bytes | None, bool]]:
    """Number, offset, bytes (None when there are too many) and whether it is whole, of each line or element."""
    try:
        with opened(path) as file:
            start = len(BOM_UTF8) if file.read(len(BOM_UTF8)) == BOM_UTF8 else 0
            file.seek(start)
            is_array = _ARRAY.match(file.read(1 << 12))
            file.seek(start)
            yield from (_elements if is_array else _lines)(file, start, max_line)
    except OSError as error:
        raise unreadable(path, error) from error


def _lines(file: BinaryIO, offset: int, max_line: int) -> Iterator[tuple[int, int, bytes | None, bool]]:
    number = 0
    while data := file.readline(max_line + 1):
        number += 1
        whole = data.endswith(b"\n")
        is_long = not whole and len(data) > max_line
        yield number, offset, None if is_long else data, whole or is_long
        offset += len(data)
        while is_long and (rest := file.readline(1 << 20)):
            offset += len(rest)
            is_long = not rest.endswith(b"\n")


def _elements(file: BinaryIO, offset: int, max_line: int) -> Iterator[tuple[int, int, bytes | None, bool]]:
    """The values of an array, or one after another. A sign is a byte here: where values end, only ASCII matters."""
    decode = json.JSONDecoder(parse_constant=str).raw_decode
    text, at, number, more = "", 0, 0, 1 << 16
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        try:
            _, end = decode(text, at)
        except (ValueError, RecursionError):
            offset, text, at = offset + at, text[at:], 0
            if len(text) <= max_line and (chunk := file.read(more)):
                text, more = text + chunk.decode("latin-1"), max(more, len(text))
                continue
            if text:
                yield number + 1, offset, text.encode("latin-1") if len(text) <= max_line else None, False
            return
        number += 1
        yield number, offset + at, text[at:end].encode("latin-1"), True
        at = end


def _add(index: Index, places: dict[str, int], record: Record, line: Line) -> None:
    kind = record.get("type")
    if not isinstance(kind, str):
        index.skipped["line without a type"] += 1
        return
    index.folder = index.folder or text_of(record.get("cwd"))
    index.session = index.session or text_of(record.get("sessionId")) or text_of(record.get("session_id"))
    uuid = text_of(record.get("uuid"))
    known = places.get(uuid, -1)
    if known >= 0 and index.lines[known].length == line.length:  # written twice
        return
    parent = places.get(text_of(record.get("parentUuid")), -1)
    line.prompt = prompt_of(record)
    notices = notices_of(record) if line.prompt is None and kind != "assistant" else []
    line.type, line.place = kind, len(index.lines)
    if not _is_told(index, record, line, notices):
        if kind not in ("user", *PASSED_OVER) and _subtype(record) not in OTHER_KNOWN:
            index.skipped[f"{kind}/{_subtype(record)}" if kind in TOLD else kind] += 1
        if uuid:
            places[uuid] = parent  # what continues it continues what it continues
        return
    is_passing = kind == "attachment" and notices  # what comes after it is of the turn in which it came
    if uuid:  # the command that asked for a compaction is written after it
        places[uuid] = parent if is_passing or _subtype(record) == "compact_boundary" else line.place
    named = [text_of(record.get("parent_tool_use_id"))]
    named += [name for each in notices for name in (each.call, each.task)]
    line.parent = next((index.tasks[name] for name in named if name in index.tasks), parent)
    line.time = _time_of(index, record, line)
    if is_side(record):
        line.chain = index.lines[parent].chain if parent >= 0 else -1
        line.chain = line.place if line.chain < 0 else line.chain
    if line.prompt is not None or any(_is_news(each, index) for each in notices):
        line.mark = "news"
    elif notices and kind != "attachment":
        line.mark = "notice"
    if kind == "result":
        index.stream = True
        cost = record.get("total_cost_usd", record.get("cost_usd"))
        index.costs += [(line.place, float(cost))] if isinstance(cost, int | float) and cost >= 0 else []
    elif _subtype(record) == "init":
        line.type, index.stream, index.opened = "init", True, index.opened or not index.lines
    _add_tasks(index, record, line.place)
    index.lines.append(line)


def _is_told(index: Index, record: Record, line: Line, notices: list[Notice]) -> bool:
    """Whether a line tells something of the run; much of what stands in a user's name does not."""
    if line.type != "user":
        return line.type in ("assistant", "result") or _subtype(record) in TOLD.get(line.type, ())
    if _is_result(record):
        return True
    index.opened |= not (index.lines or record.get("parentUuid") or record.get("isCompactSummary"))
    asked = asked_of(record) is not None
    if asked and (begun := milliseconds(record.get("timestamp"))) is not None:
        index.begun.append(begun)
    return asked or line.prompt is not None or bool(notices) or is_interruption(record)


def _time_of(index: Index, record: Record, line: Line) -> int:
    """When a line was written. What continues a line does not come before it."""
    time = milliseconds(record.get("timestamp"))
    if time is None:
        time = index.lines[-1].time if index.lines else UNTIMED
    return max(time, index.lines[line.parent].time) if line.parent >= 0 else time


def _add_tasks(index: Index, record: Record, place: int) -> None:
    """Note the calls of a line, and the work that the calls began whose results it has."""
    for block in records_in(content_of(record)):
        if block.get("type") == "tool_use" and (call := text_of(block.get("id"))):
            index.tasks[call] = place
            if block.get("name") in (*SPAWNS, WORKFLOW):
                index.agents.add(call)
    if not (detail := record_of(detail_of(record))):
        return
    names = [name for key in TASKS if (name := text_of(detail.get(key)))]
    index.tasks.update(dict.fromkeys(names, place))
    if "backgroundTaskId" not in detail:
        index.agents.update(names)
    fetched = record_of(detail.get("task"))
    if fetched.get("status") == "completed" and (task := text_of(fetched.get("task_id"))):
        index.told.add(task)


def _is_news(notice: Notice, index: Index) -> bool:
    """Whether a notice brings the result of a call, which nothing has told yet."""
    names = {notice.call, notice.task}
    done = notice.result or (notice.status == "completed" and names & index.agents)
    return bool(done and names & index.tasks.keys()) and notice.task not in index.told


def _subtype(record: Record) -> str:
    attachment = record.get("attachment")
    return text_of(attachment.get("type") if isinstance(attachment, dict) else record.get("subtype"))


def prompt_of(record: Record) -> str | None:
    """What a line says to the agent; None for what the harness writes in a user's name, and for tool results."""
    if record.get("type") == "attachment":
        told = record_of(record.get("attachment"))
        queued = told.get("type") == "queued_command" and told.get("commandMode", "prompt") == "prompt"
        by_user = _is_by_user(told if "origin" in told else record)
        return _said(told.get("prompt"), by_user=by_user) if queued and by_user is not False else None
    if record.get("type") != "user" or is_side(record) or _is_result(record):
        return None
    by_user = _is_by_user(record)
    meta = record.get("isMeta") and record_of(record.get("origin")).get("kind") != "channel"
    if meta or by_user is False or any(record.get(key) for key in HARNESS_KEYS):
        return None
    return _said(content_of(record), by_user=by_user)


def _is_by_user(record: Record) -> bool | None:
    """Whether a line says that a user sent it, or a program in their place; None when it does not say."""
    kind = record_of(record.get("origin")).get("kind")
    if isinstance(kind, str):
        return kind in PEOPLE
    if isinstance(source := record.get("promptSource"), str):
        return source != "system"
    turn = record.get("turnOrigin")
    return turn in (*PEOPLE, "sdk") if isinstance(turn, str) else None


def is_side(record: Record) -> bool:
    """Whether a line is of a subagent."""
    return bool(record.get("isSidechain") or record.get("parent_tool_use_id"))


def asked_of(record: Record) -> str | None:
    """What a line asks of a subagent; None for one that does not."""
    marked = any(record.get(key) for key in ("isMeta", *HARNESS_KEYS))
    if record.get("type") != "user" or not is_side(record) or marked or _is_result(record):
        return None
    return _said(content_of(record), by_user=True)


def notices_of(record: Record) -> list[Notice]:
    """What a line tells of work that goes on beside the conversation, where it is no message."""
    if record.get("type") == "system" and record.get("subtype") == "task_notification":
        told = {key: text_of(record.get(key)) for key in ("status", "summary")}
        call, task = text_of(record.get("tool_use_id")), text_of(record.get("task_id"))
        return [Notice(call=call, task=task, **told)]
    content = content_of(record) if record.get("type") == "user" else None
    attachment = record_of(record.get("attachment"))
    if attachment.get("type") == "queued_command":
        content = attachment.get("prompt")
    texts = [content] if isinstance(content, str) else texts_in(content)
    return [notice for text in texts for notice in notices_in(text)]


def detail_of(record: Record) -> Any:
    """What a line has of a result beside its text; streams spell it otherwise."""
    return record.get("toolUseResult", record.get("tool_use_result"))


def is_interruption(record: Record) -> bool:
    """Whether a line says that the agent was stopped."""
    content = content_of(record)
    first = content[0] if isinstance(content, list) and content else {"text": content}
    return text_of(record_of(first).get("text")).startswith(INTERRUPTED)


def _is_result(record: Record) -> bool:
    return any(block.get("type") == "tool_result" for block in records_in(content_of(record)))


def content_of(record: Record) -> Any:
    """The content of the message of a line: a text, or blocks."""
    return record_of(record.get("message")).get("content")


def texts_in(content: Any) -> list[str]:
    """The texts of blocks."""
    return [text_of(block.get("text")) for block in records_in(content) if block.get("type") == "text"]


def _said(content: Any, *, by_user: bool | None) -> str | None:
    if isinstance(content, str):
        return words_of([content], by_user=bool(by_user))
    words = words_of(texts_in(content), by_user=bool(by_user))
    others = [kind for block in records_in(content) if (kind := text_of(block.get("type"))) != "text"]
    return words or "\n".join(f"[{kind}]" for kind in others) or None


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
    if not isinstance(record, dict) or (
        data.count(b"{") + data.count(b"[") > MAX_DEPTH and is_too_deep(record)
    ):
        return None
    return whole_characters(record) if b"\\ud" in data or b"\\uD" in data else record
