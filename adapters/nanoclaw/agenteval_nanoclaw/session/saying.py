"""The lines of one run, read whole: those of the agent itself, and those of its subagents, in the order of time."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from agenteval.errors import AdapterError
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.source import Source
from agenteval_nanoclaw.session.transcript import Line, Record, read_index, read_record, text_of

SPAWNS = ("Agent", "Task")
"""The tool that starts a subagent, by its names."""
MAIN = "main"
MOST_KEPT = 4 << 20
"""Bytes of a run's lines that are kept once they are read."""


@dataclass(slots=True)
class Said:
    """One line, and who it is of. `spawn` is the id of the call that started the subagent."""

    line: Line
    record: Record
    agent: str = MAIN
    spawn: str = ""

    @property
    def message(self) -> Record:
        """The message of the API that it holds."""
        message = self.record.get("message")
        return message if isinstance(message, dict) else {}

    def blocks(self, kind: str) -> Iterator[Record]:
        """The content blocks of a kind."""
        content = self.message.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == kind:
                yield block

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
            with path.open("rb") as file:
                for place in those:
                    if place.said:
                        yield place.said
                    elif (record := read_record(file, place.line)) is not None:
                        yield Said(place.line, record, place.agent, place.spawn)

    def read(self, path: Path, lines: Iterable[Line], agent: str = "", spawn: str = "") -> Iterator[Said]:
        """Add lines, and tell them. Where no agent is named, the lines say whose they are."""
        with path.open("rb") as file:
            for line in lines:
                record = read_record(file, line)
                if record is None:
                    continue
                said = Said(line, record, agent or _agent_of(record), spawn)
                self.size += line.length
                kept = said if self.size <= MOST_KEPT else None
                self.places.append(Place(path, line, said.agent, spawn, kept))
                yield said


def read_sayings(run: Run, source: Source, *, max_line: int) -> Sayings:
    """The lines of a run, with those of its subagents, and of theirs."""
    sayings = Sayings()
    files = {
        path.stem.removeprefix("agent-"): path for path in run.transcript.sidechains() if source.allowed(path)
    }
    waiting = list(_spawned(sayings.read(run.transcript.path, run.lines), files))
    inline = {place.agent for place in sayings.places}
    while waiting:
        call, agent = waiting.pop(0)
        path = files.pop(agent, None)
        if path is None:
            if agent not in inline:
                sayings.missing.append(agent or call)
            continue
        try:
            index = read_index(path, max_line=max_line)
        except AdapterError:
            sayings.missing.append(agent)
            continue
        if index.cut or index.damaged:
            sayings.damaged.append(agent)
        waiting += _spawned(sayings.read(path, index.lines, agent, call), files)
    sayings.places.sort(key=lambda place: (place.line.time, place.agent != MAIN, place.line.number))
    return sayings


def _agent_of(record: Record) -> str:
    return (text_of(record.get("agentId")) or "subagent") if record.get("isSidechain") else MAIN


def _spawned(lines: Iterable[Said], files: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """The calls that started subagents, each with the id of the subagent; it is empty when nothing tells."""
    started: dict[str, Any] = {}
    answered: dict[str, str] = {}
    for said in lines:
        for block in said.blocks("tool_use"):
            if block.get("name") in SPAWNS:
                started[text_of(block.get("id"))] = block.get("input")
        detail = said.record.get("toolUseResult")
        for block in said.blocks("tool_result"):
            agent = text_of(detail.get("agentId")) if isinstance(detail, dict) else ""
            answered[text_of(block.get("tool_use_id"))] = agent or (
                "" if block.get("is_error") is not True else "-"
            )
    for call, given in started.items():
        agent = answered.get(call) or _by_file(call, given, files)
        if agent != "-":  # refused before it began
            yield call, agent


def _by_file(call: str, given: Any, files: dict[str, Path]) -> str:
    """The subagent whose file says that this call started it, or begins with its prompt."""
    for agent, path in files.items():
        try:
            meta = json.loads(path.with_suffix("").with_suffix(".meta.json").read_bytes())
        except (OSError, ValueError):
            meta = None
        if isinstance(meta, dict) and meta.get("toolUseId") == call:
            return agent
        with path.open("rb") as file:
            first = file.readline(1 << 20)
        prompt = given.get("prompt") if isinstance(given, dict) else None
        if isinstance(prompt, str) and prompt and json.dumps(prompt, ensure_ascii=False).encode() in first:
            return agent
    return ""
