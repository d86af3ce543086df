"""Reads transcripts of the Claude Agent SDK: one JSON object a line.

A transcript may be hundreds of megabytes. It is read once for an index of the lines, with their offsets and parents; then
only the lines of one run are read again in full.
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
"""Receives a file, the number of bytes read so far, and its size."""
TELL_EVERY = 8 << 20
UNTIMED = -1
"""The time of lines without one, until the time of another line is known."""
SPAWNS = ("Agent", "Task")
"""The names of the tool that starts a subagent."""
WORKFLOW = "Workflow"
"""The tool that runs a script which starts agents."""
TASKS = ("agentId", "agent_id", "teammate_id", "name", "taskId", "runId", "backgroundTaskId")
"""Keys in a result with the id of the background work that its call began."""
HARNESS_KEYS = ("isSynthetic", "isCompactSummary", "isVisibleInTranscriptOnly")
"""Keys that mark a line as the harness's own, beside `isMeta`."""
PEOPLE = ("human", "channel")
"""Origins of lines that people send, directly or through a chat."""
_ARRAY = re.compile(rb"\s*(?:\[\s*[{\]]|\{\s*\n)")
"""The beginning of an array of lines, or of objects that are written over several lines."""
_BETWEEN = re.compile(r"[\s,\[\]]*")


@dataclass(slots=True)
class Line:
    """The position of a line, and its parent. `parent` is a place in the index, or -1.

    A line without a time of its own has the time of the line before; lines before the first time have the first.
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
    """The place of the first line of its subagent in this transcript; -1 for the agent itself."""
    mark: Literal["", "news", "notice"] = ""
    """`news` for a message to the agent or the result of a call; `notice` for any other notice after its turn."""
    aside: bool = False
    """True if the agent's last input is a notice, after it answered. Its next text is then no answer to the message."""


@dataclass(slots=True)
class Index:
    """The lines of one transcript that belong to a run, with facts about the others."""

    path: Path
    lines: list[Line] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    """The number of unknown lines that were passed over, by type."""
    damaged: list[int] = field(default_factory=list)
    """The numbers of lines that cannot be read: no JSON, or too long."""
    begun: list[int] = field(default_factory=list)
    """The times of a subagent's prompts: one, and one more whenever it is resumed."""
    cut: bool = False
    """True if the last line is not whole."""
    folder: str = ""
    """The agent's working directory, which differs between the generations of NanoClaw."""
    session: str = ""
    """The id of the session, as the lines have it."""
    opened: bool = False
    """True if nothing came before it: it begins with a line of the harness or another agent, or as a stream does."""
    stream: bool = False
    """True if it is the output of `--output-format stream-json`, and no session that Claude Code saved."""
    timed: bool = True
    """True if any of its lines has a time; else they are numbered, a millisecond each."""
    tasks: dict[str, int] = field(default_factory=dict)
    """The places of calls, and of the work that they began, by id."""
    agents: set[str] = field(default_factory=set)
    """The ids of agents, and of the calls that started them."""
    fetched: set[str] = field(default_factory=set)
    """The ids of background work with a result that a call has fetched."""
    costs: list[tuple[int, float]] = field(default_factory=list)
    """The cost of a stream in US dollars, with the place of the line."""


def read_index(path: Path, *, max_line: int, progress: Progress | None = None) -> Index:
    """Read the index of a transcript. Lines of more than `max_line` bytes are passed over.

    `progress` is called every few megabytes, and at the end.

    Raises `AdapterError` (`adapter.no_recording`) when the file cannot be read, or no line of it is of a transcript.
    """
    index = Index(path)
    places: dict[str, int] = {}
    objects = reported = 0
    for number, offset, data, whole in _records(path, max_line):
        if offset - reported >= TELL_EVERY:
            reported = offset
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
            _count_damaged(index, number, data)
    if progress and reported:
        progress(path, size := path.stat().st_size, size)
    _complete_times(index)
    if not objects:
        raise AdapterError(
            f"{shown(path)}: none of its lines belongs to a transcript",
            reason_code="adapter.no_recording",
            next_step="name a transcript of the Claude Agent SDK: one JSON object with a `type` per line",
        )
    return index


def _count_damaged(index: Index, number: int, data: bytes) -> None:
    """Count a line that is not JSON. Programs print between the lines of a stream, which lose nothing of the run."""
    index.skipped["line that is not JSON"] += 1
    if not index.stream or data.lstrip().startswith(b"{"):
        index.damaged.append(number)


def _complete_times(index: Index) -> None:
    """Give a time to the lines before the first one with a time: that time, or without any their numbers, in order."""
    first = next((line.time for line in index.lines if line.time != UNTIMED), None)
    index.timed = first is not None
    for line in takewhile(lambda line: line.time == UNTIMED, index.lines):
        line.time = line.place if first is None else first


def _records(path: Path, max_line: int) -> Iterator[tuple[int, int, bytes | None, bool]]:
    """List the lines or elements: number, offset, bytes (None when there are too many), and whether it is whole."""
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
    """List the values of an array, or values one after another.

    The bytes are decoded as Latin-1, so a character is a byte and offsets stay right: only ASCII ends a value.
    """
    decode = json.JSONDecoder(parse_constant=str).raw_decode
    text, at, number, more = "", 0, 0, 1 << 16
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # the pattern matches the empty text, too
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
    # A line with the same id and another length is a longer version of the answer, which is read as well.
    if known >= 0 and index.lines[known].length == line.length:  # Claude Code wrote the line twice
        return
    parent = places.get(text_of(record.get("parentUuid")), -1)
    line.prompt = prompt_of(record)
    notices = notices_of(record) if line.prompt is None and kind != "assistant" else []
    line.type, line.place = kind, len(index.lines)
    if not _belongs_to_run(index, record, line, notices):
        _count_unknown(index, record, kind)
        if uuid:
            places[uuid] = parent  # its children become children of its parent
        return
    is_passing = kind == "attachment" and notices  # it arrived within a turn, which goes on after it
    if uuid:  # the command that asked for a compaction is written after the boundary, and belongs to the turn before
        places[uuid] = parent if is_passing or _subtype(record) == "compact_boundary" else line.place
    _connect(index, record, line, parent, notices)
    _add_facts_of_stream(index, record, line)
    _add_tasks(index, record, line.place)
    index.lines.append(line)


def _add_facts_of_stream(index: Index, record: Record, line: Line) -> None:
    """Note the first line and the result of a stream, with its cost. Transcripts of a session have neither."""
    if line.type == "result":
        index.stream = True
        cost = record.get("total_cost_usd", record.get("cost_usd"))
        index.costs += [(line.place, float(cost))] if isinstance(cost, int | float) and cost >= 0 else []
    elif _subtype(record) == "init":
        line.type, index.stream, index.opened = "init", True, index.opened or not index.lines


def _connect(index: Index, record: Record, line: Line, parent: int, notices: list[Notice]) -> None:
    """Set parent, time, subagent and mark of a line. `parent` is the place of the line that it names as such.

    A line of a subagent, or a notice, belongs to the call that began the work, wherever it stands.
    """
    named = [text_of(record.get("parent_tool_use_id"))]
    named += [name for each in notices for name in (each.call, each.task)]
    line.parent = next((index.tasks[name] for name in named if name in index.tasks), parent)
    line.time = _time_of(index, record, line)
    if is_side(record):
        line.chain = index.lines[parent].chain if parent >= 0 else -1
        line.chain = line.place if line.chain < 0 else line.chain
    if line.prompt is not None or any(_is_news(each, index) for each in notices):
        line.mark = "news"
    elif notices and line.type != "attachment":
        line.mark = "notice"


def _count_unknown(index: Index, record: Record, kind: str) -> None:
    """Count a line of an unknown type or subtype: a new release may write something that a trace should hold."""
    if kind not in ("user", *PASSED_OVER) and _subtype(record) not in OTHER_KNOWN:
        index.skipped[f"{kind}/{_subtype(record)}" if kind in TOLD else kind] += 1


def _belongs_to_run(index: Index, record: Record, line: Line, notices: list[Notice]) -> bool:
    """Return whether a line belongs to the run. The harness writes many `user` lines itself."""
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
    """Return the time of a line. It is not before the time of its parent."""
    time = milliseconds(record.get("timestamp"))
    if time is None:
        time = index.lines[-1].time if index.lines else UNTIMED
    return max(time, index.lines[line.parent].time) if line.parent >= 0 else time


def _add_tasks(index: Index, record: Record, place: int) -> None:
    """Record the calls of a line, and the background work named in its results."""
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
        index.fetched.add(task)


def _is_news(notice: Notice, index: Index) -> bool:
    """Return whether a notice brings the result of a call for the first time."""
    names = {notice.call, notice.task}
    done = notice.result or (notice.status == "completed" and names & index.agents)
    return bool(done and names & index.tasks.keys()) and notice.task not in index.fetched


def _subtype(record: Record) -> str:
    attachment = record.get("attachment")
    return text_of(attachment.get("type") if isinstance(attachment, dict) else record.get("subtype"))


def prompt_of(record: Record) -> str | None:
    """Return the text of a message to the agent; None for lines of the harness in a user's name, and for tool results."""
    if record.get("type") == "attachment":
        attached = record_of(record.get("attachment"))
        is_prompt = attached.get("commandMode", "prompt") == "prompt"
        queued = attached.get("type") == "queued_command" and is_prompt
        by_user = _is_by_user(attached if "origin" in attached else record)
        return _words_in(attached.get("prompt"), by_user=by_user) if queued and by_user is not False else None
    if record.get("type") != "user" or is_side(record) or _is_result(record):
        return None
    by_user = _is_by_user(record)
    meta = record.get("isMeta") and record_of(record.get("origin")).get("kind") != "channel"
    if meta or by_user is False or any(record.get(key) for key in HARNESS_KEYS):
        return None
    return _words_in(content_of(record), by_user=by_user)


def _is_by_user(record: Record) -> bool | None:
    """Return whether the line names a user, or a program in their place, as its sender; None where it names nobody."""
    kind = record_of(record.get("origin")).get("kind")
    if isinstance(kind, str):
        return kind in PEOPLE
    if isinstance(source := record.get("promptSource"), str):
        return source != "system"
    turn = record.get("turnOrigin")
    return turn in (*PEOPLE, "sdk") if isinstance(turn, str) else None


def is_side(record: Record) -> bool:
    """Return whether a line is of a subagent."""
    return bool(record.get("isSidechain") or record.get("parent_tool_use_id"))


def asked_of(record: Record) -> str | None:
    """Return the prompt of a subagent in a line; None for any other line."""
    marked = any(record.get(key) for key in ("isMeta", *HARNESS_KEYS))
    if record.get("type") != "user" or not is_side(record) or marked or _is_result(record):
        return None
    return _words_in(content_of(record), by_user=True)


def notices_of(record: Record) -> list[Notice]:
    """List the notices about background work in a line that is no message."""
    if record.get("type") == "system" and record.get("subtype") == "task_notification":
        outcome = {key: text_of(record.get(key)) for key in ("status", "summary")}
        call, task = text_of(record.get("tool_use_id")), text_of(record.get("task_id"))
        return [Notice(call=call, task=task, **outcome)]
    content = content_of(record) if record.get("type") == "user" else None
    attachment = record_of(record.get("attachment"))
    if attachment.get("type") == "queued_command":
        content = attachment.get("prompt")
    texts = [content] if isinstance(content, str) else texts_in(content)
    return [notice for text in texts for notice in notices_in(text)]


def detail_of(record: Record) -> Any:
    """Return the structured result of a line, beside its text. Streams use another key."""
    return record.get("toolUseResult", record.get("tool_use_result"))


def is_interruption(record: Record) -> bool:
    """Return whether a line states that the agent was stopped."""
    content = content_of(record)
    first = content[0] if isinstance(content, list) and content else {"text": content}
    return text_of(record_of(first).get("text")).startswith(INTERRUPTED)


def _is_result(record: Record) -> bool:
    return any(block.get("type") == "tool_result" for block in records_in(content_of(record)))


def content_of(record: Record) -> Any:
    """Return the content of the message of a line: a text, or blocks."""
    return record_of(record.get("message")).get("content")


def texts_in(content: Any) -> list[str]:
    """List the texts of blocks."""
    return [text_of(block.get("text")) for block in records_in(content) if block.get("type") == "text"]


def _words_in(content: Any, *, by_user: bool | None) -> str | None:
    if isinstance(content, str):
        return words_of([content], by_user=bool(by_user))
    words = words_of(texts_in(content), by_user=bool(by_user))
    others = [kind for block in records_in(content) if (kind := text_of(block.get("type"))) != "text"]
    return words or "\n".join(f"[{kind}]" for kind in others) or None


def read_record(file: BinaryIO, line: Line) -> Record | None:
    """Read a line again from its open transcript; None when the file has changed since."""
    file.seek(line.offset)
    return parse_line(file.read(line.length))


def parse_line(data: bytes) -> Record | None:
    """Parse the object of a line; None when there is none. `NaN` and `Infinity` become text."""
    try:
        record = json.loads(data.decode("utf-8", "replace"), parse_constant=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or (
        data.count(b"{") + data.count(b"[") > MAX_DEPTH and is_too_deep(record)
    ):
        return None
    return whole_characters(record) if b"\\ud" in data or b"\\uD" in data else record
