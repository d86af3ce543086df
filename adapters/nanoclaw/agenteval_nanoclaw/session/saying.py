"""The lines of one run, read whole: those of the agent itself, and those of its subagents, in the order of time."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenteval.errors import AdapterError
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.source import Source
from agenteval_nanoclaw.session.transcript import Line, Record, read_index, read_records, text_of

SPAWNS = ("Agent", "Task")
"""The tool that starts a subagent, by its names."""
MAIN = "main"


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
class Sayings:
    """All lines of a run in the order of time, and the subagents whose transcripts are not there, or not whole."""

    lines: list[Said]
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    """Subagents of whose transcripts a part cannot be read."""


def read_sayings(run: Run, source: Source, *, max_line: int) -> Sayings:
    """The lines of a run, with those of its subagents, and of theirs."""
    own = [
        Said(line, record, *_side(record)) for line, record in read_records(run.transcript.path, run.lines)
    ]
    sayings = Sayings(own)
    files = {
        path.stem.removeprefix("agent-"): path for path in run.transcript.sidechains() if source.allowed(path)
    }
    inline = {said.agent for said in own}
    waiting = list(_spawned(own, files))
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
        lines = [Said(line, record, agent, call) for line, record in read_records(path, index.lines)]
        sayings.lines += lines
        waiting += _spawned(lines, files)
    sayings.lines.sort(key=lambda said: (said.line.time, said.agent != MAIN, said.line.number))
    return sayings


def _side(record: Record) -> tuple[str, str]:
    if not record.get("isSidechain"):
        return MAIN, ""
    return text_of(record.get("agentId")) or "subagent", ""


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
