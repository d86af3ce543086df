"""The lines of one run, read whole: those of the agent itself, and those of its subagents, in the order of time."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from math import inf
from pathlib import Path

from agenteval.errors import AdapterError, FileError
from agenteval.reading.documents import opened
from agenteval.reading.jsonsource import load_json
from agenteval_nanoclaw.session.runs import CLOCK_SLACK, Run
from agenteval_nanoclaw.session.source import Source
from agenteval_nanoclaw.session.transcript import Index, Line, read_index, read_record
from agenteval_nanoclaw.session.values import Record, record_of, records_in, text_of

SPAWNS = ("Agent", "Task")
"""The tool that starts a subagent, by its names."""
RESUMES = "SendMessage"
"""The tool that lets a subagent go on, named in `to`."""
MAIN_AGENT = "main"
"""The agent itself, by the name that its lines have in a trace."""
UNNAMED = "subagent"
"""A subagent whose lines do not name it."""
MOST_KEPT = 4 << 20
"""Bytes of a run's lines that are kept once they are read."""


@dataclass(slots=True)
class Said:
    """One line, and who it is of. `spawn` is the id of the call that started the subagent."""

    line: Line
    record: Record
    agent: str = MAIN_AGENT
    spawn: str = ""

    @property
    def message(self) -> Record:
        """The message of the API that it holds."""
        return record_of(self.record.get("message"))

    def blocks(self, kind: str) -> Iterator[Record]:
        """The content blocks of a kind."""
        return (block for block in records_in(self.message.get("content")) if block.get("type") == kind)

    def served(self) -> int:
        """How many calls it has of tools that the model's service runs itself."""
        blocks = records_in(self.message.get("content"))
        return sum(text_of(block.get("type")).endswith("_tool_use") for block in blocks)

    @property
    def is_failure(self) -> bool:
        """Whether it is an answer that the CLI made up to tell of a failure of the API."""
        return bool(self.record.get("isApiErrorMessage"))

    @property
    def is_made_up(self) -> bool:
        """Whether no model said it."""
        return self.is_failure or self.message.get("model") == "<synthetic>"


@dataclass(slots=True)
class Place:
    """Where a line is, who it is of, and the line itself when it is kept."""

    path: Path
    line: Line
    agent: str
    spawn: str
    said: Said | None


@dataclass(slots=True)
class Sayings:
    """All lines of a run in the order of time, and the subagents whose transcripts are not there, or not whole.

    A long run is not held in memory: most of its lines are read anew whenever they are gone through.
    """

    places: list[Place] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    """Subagents of whose transcripts a part cannot be read."""
    size: int = 0
    """Of all lines, in bytes."""

    def __iter__(self) -> Iterator[Said]:
        return self._told(self.places)

    def of_type(self, kind: str) -> Iterator[Said]:
        """The lines of a type. The others, which may be far longer, are not read for it."""
        return self._told(place for place in self.places if place.line.type == kind)

    def _told(self, places: Iterable[Place]) -> Iterator[Said]:
        for path, those in groupby(places, key=lambda place: place.path):
            with opened(path) as file:
                for place in those:
                    if place.said:
                        yield place.said
                    elif (record := read_record(file, place.line)) is not None:
                        yield Said(place.line, record, place.agent, place.spawn)

    def read(self, path: Path, lines: Iterable[Line], agent: str = "", spawn: str = "") -> Iterator[Said]:
        """Add lines, and tell them. Where no agent is named, the lines say whose they are."""
        with opened(path) as file:
            for line in lines:
                record = read_record(file, line)
                if record is None:
                    continue
                said = Said(line, record, agent or _agent_of(record), spawn)
                self.size += line.length
                kept = said if self.size <= MOST_KEPT else None
                self.places.append(Place(path, line, said.agent, spawn, kept))
                yield said


@dataclass(slots=True)
class _Spawn:
    """A call that started a subagent, or resumed it. `agent` is empty when nothing tells which."""

    call: str
    time: int
    agent: str = ""
    prompt: str = ""
    message: bool = False
    """Whether it is a message to a subagent, which resumes it when it was done."""


def read_sayings(run: Run, source: Source, *, max_line: int) -> Sayings:
    """The lines of a run, with those of its subagents, and of theirs."""
    sayings = Sayings()
    files = {
        path.stem.removeprefix("agent-"): path for path in run.transcript.sidechains() if source.allowed(path)
    }
    waiting = list(_spawned(sayings.read(run.transcript.path, run.lines), files))
    inline = {place.agent for place in sayings.places}
    indexes: dict[str, Index] = {}
    while waiting:
        spawn = waiting.pop(0)
        agent = spawn.agent
        path = files.pop(agent, None)
        try:
            if path:
                indexes[agent] = read_index(path, max_line=max_line)
        except AdapterError:
            path = None
        index = indexes.get(agent)
        if index is None:
            if (agent or UNNAMED) not in inline:
                sayings.missing.append(agent or spawn.call)
            continue
        if path and (index.cut or index.damaged):
            sayings.damaged.append(agent)
        lines = _taken(index, spawn, run.ended + CLOCK_SLACK)
        waiting += _spawned(sayings.read(index.path, lines, agent, spawn.call), files)
    sayings.places.sort(key=lambda place: (place.line.time, place.agent != MAIN_AGENT, place.line.number))
    return sayings


def _agent_of(record: Record) -> str:
    return (text_of(record.get("agentId")) or UNNAMED) if record.get("isSidechain") else MAIN_AGENT


def _taken(index: Index, spawn: _Spawn, end: int) -> list[Line]:
    """Take the lines of a subagent that a call brought about: all, unless it was resumed by another call."""
    asked = [begin for begin in index.begun if spawn.time <= begin <= end]
    if not asked and spawn.message:  # the subagent was at work, and got it in passing
        return []
    lines, index.lines = index.lines, []
    if asked and len(index.begun) > 1:
        later = next((begin for begin in index.begun if begin > asked[0]), inf)
        index.lines = [line for line in lines if not asked[0] <= line.time < later]
        lines = [line for line in lines if asked[0] <= line.time < later]
    return lines


def _spawned(lines: Iterable[Said], files: dict[str, Path]) -> Iterator[_Spawn]:
    """The calls that started or resumed subagents. Skills may run in subagents, too: the answer says so."""
    started: dict[str, _Spawn] = {}
    times: dict[str, int] = {}
    known = set(files)
    for said in lines:
        for block in said.blocks("tool_use"):
            call, args = text_of(block.get("id")), record_of(block.get("input"))
            times[call] = said.line.time
            if block.get("name") in SPAWNS:
                started[call] = _Spawn(call, said.line.time, prompt=text_of(args.get("prompt")))
            elif block.get("name") == RESUMES and (agent := text_of(args.get("to"))) in known:
                started[call] = _Spawn(call, said.line.time, agent, message=True)
        detail = record_of(said.record.get("toolUseResult"))
        for block in said.blocks("tool_result"):
            agent = text_of(detail.get("agentId"))
            call = text_of(block.get("tool_use_id"))
            if agent:
                started.setdefault(call, _Spawn(call, times.get(call, 0))).agent = agent
            elif block.get("is_error") is True:  # refused before it began
                started.pop(call, None)
    for spawn in started.values():
        spawn.agent = spawn.agent or _by_file(spawn, files)
        yield spawn


def _by_file(spawn: _Spawn, files: dict[str, Path]) -> str:
    """The subagent whose file says that this call started it, or begins with its prompt."""
    for agent, path in files.items():
        try:
            meta = load_json(path.with_suffix("").with_suffix(".meta.json"))
        except FileError:
            meta = None
        if record_of(meta).get("toolUseId") == spawn.call:
            return agent
        with opened(path) as file:
            first = file.readline(1 << 20)
        if spawn.prompt and json.dumps(spawn.prompt, ensure_ascii=False).encode() in first:
            return agent
    return ""
