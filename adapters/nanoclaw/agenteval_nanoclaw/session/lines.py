"""Reads the lines of one run in full: the agent's own and its subagents', in the order of time."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import inf
from pathlib import Path

from agenteval.contracts.errors import AdapterError, FileError
from agenteval.reading.documents import opened
from agenteval.reading.jsonsource import load_json
from agenteval_nanoclaw.session.runs import CLOCK_SLACK, Run
from agenteval_nanoclaw.session.source import Head, Source
from agenteval_nanoclaw.session.transcript import (
    SPAWNS,
    WORKFLOW,
    Index,
    Line,
    asked_of,
    content_of,
    detail_of,
    is_side,
    parse_line,
    read_index,
    read_record,
)
from agenteval_nanoclaw.session.values import Record, milliseconds, record_of, records_in, text_of

RESUMES = "SendMessage"
"""The tool that resumes the subagent named in `to`."""
MAIN_AGENT = "main"
"""The name of the agent itself in a trace."""
UNNAMED = "subagent"
"""The name of a subagent without one in its lines. The id of the call that started it follows, where it is known."""
OWN_AGENTS = ("acompact-", "aside_question-", "aprompt_suggestion-")
"""Prefixes of the ids of Claude Code's internal agents. Their transcripts repeat the conversation."""
WARM_UP = "Warmup"
"""The prompt of agents that Claude Code starts only to have them ready."""
CHAIN = "\0"
"""The prefix of a subagent's provisional name, until the call that started it is known."""


@dataclass(slots=True)
class Entry:
    """One line, read in full, and its agent. `spawn` is the id of the call that started the subagent."""

    line: Line
    record: Record
    agent: str = MAIN_AGENT
    spawn: str = ""

    @property
    def message(self) -> Record:
        """The message of the API in the line."""
        return record_of(self.record.get("message"))

    @property
    def has_id(self) -> bool:
        """True if it names its answer. Lines that a converter or a person wrote may not."""
        return bool(text_of(self.message.get("id")) or text_of(self.record.get("uuid")))

    @property
    def answer_id(self) -> str:
        """The id of its answer. A line without an id is an answer of its own."""
        own = text_of(self.message.get("id")) or text_of(self.record.get("uuid"))
        return own or f"line {self.line.number} of {self.agent}"

    def blocks(self, kind: str) -> Iterator[Record]:
        """List the content blocks of a kind. A plain text is a block."""
        content = content_of(self.record)
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        return (block for block in records_in(content) if block.get("type") == kind)

    def texts(self) -> list[str]:
        """List the texts of its blocks."""
        return [text_of(block.get("text")) for block in self.blocks("text")]

    @property
    def is_failure(self) -> bool:
        """True if the CLI wrote it as an answer to report a failure of the API."""
        return bool(self.record.get("isApiErrorMessage"))

    @property
    def is_made_up(self) -> bool:
        """True if the CLI wrote it, and no model."""
        return self.is_failure or self.message.get("model") == "<synthetic>"


def _read_entries(path: Path, lines: Iterable[Line], agent: str = "", spawn: str = "") -> list[Entry]:
    """Read lines in full. Without `agent`, each line names its own."""
    with opened(path) as file:
        records = [(line, record) for line in lines if (record := read_record(file, line)) is not None]
    return [Entry(line, record, agent or _agent_of(line, record), spawn) for line, record in records]


def _name(lines: list[Entry], spawns: "list[_Spawn]") -> None:
    """Name the agents of the subagents' lines within the transcript: by id, by prompt, else in order."""
    names: dict[str, tuple[str, str]] = {}
    prompts: dict[str, str] = {}
    for entry in (each for each in lines if each.agent.startswith(CHAIN)):
        prompts[entry.agent] = prompts.get(entry.agent) or asked_of(entry.record) or ""
    for spawn in spawns:
        own = f"{UNNAMED}-{spawn.call}"
        name = spawn.agent or own
        names.setdefault(name, (name, spawn.call))
        names.setdefault(own, (name, spawn.call))
    matched = _match_by_prompt(prompts, spawns)
    names |= {chain: names[f"{UNNAMED}-{spawn.call}"] for chain, spawn in matched.items()}
    for number, chain in enumerate((chain for chain in prompts if chain not in matched), 1):
        names[chain] = UNNAMED if number == 1 else f"{UNNAMED}-{number}", ""
    for entry in lines:
        entry.agent, entry.spawn = names.get(entry.agent, (entry.agent, entry.spawn))


def _match_by_prompt(prompts: dict[str, str], spawns: "list[_Spawn]") -> "dict[str, _Spawn]":
    """Match subagents, by their provisional names and prompts, with the calls that started them."""
    free = list(spawns)
    matched: dict[str, _Spawn] = {}
    # Equal prompts come first. The others are matched in order, with the calls of which nothing else is known.
    for exactly, (chain, asked) in product((True, False), prompts.items()):
        if chain in matched:
            continue
        fitting = (each for each in free if asked == each.prompt or not (exactly or each.is_known))
        if found := next(fitting, None):
            free.remove(found)
            matched[chain] = found
    return matched


@dataclass(slots=True)
class _Spawn:
    """A call that started a subagent, or resumed it. `agent` is empty while it is not known."""

    call: str
    time: int
    agent: str = ""
    prompt: str = ""
    name: str = ""
    """The name of the subagent. Members of a team have one."""
    message: bool = False
    """True if it is a message to a subagent. The message resumes a subagent that was done."""
    workflow: str = ""
    """The run of a workflow that it started."""
    whole: str = ""
    """A description of its work, where that is not one subagent with a transcript here."""

    @property
    def described(self) -> str:
        """The name of what it started, for a note."""
        return self.whole or f"subagent {self.agent or self.call}"

    @property
    def is_known(self) -> bool:
        """True if its subagent or work is known."""
        return bool(self.agent or self.whole)


def read_lines(run: Run, source: Source, *, max_line: int) -> tuple[list[Entry], list[str]]:
    """Read the lines of a run and of its subagents at any depth, in the order of time; list the missing parts of these."""
    files = _Files(run, source)
    found, unseen = _read_entries(run.transcript.path, run.lines), []
    waiting = _spawned(found, files)
    _name(found, waiting)
    within = {name for entry in found for name in (entry.agent, entry.spawn)}
    indexes: dict[str, Index] = {}
    while waiting or (waiting := files.left_over()):
        spawn = waiting.pop(0)
        agent = spawn.agent
        if path := files.paths.pop(agent, None):
            with suppress(AdapterError):
                indexes[agent] = read_index(path, max_line=max_line)
        index = indexes.get(agent)
        if index is None:
            # The transcript itself may hold the subagent's lines, as streams do: then nothing is missing.
            if spawn.whole or within.isdisjoint({agent, spawn.call} - {""}):
                unseen.append(f"what {spawn.described} did")
            continue
        if path and (index.cut or index.damaged):
            unseen.append(f"a part of what subagent {agent} did")
        lines = _read_entries(index.path, _taken(index, spawn, run.ended + CLOCK_SLACK), agent, spawn.call)
        found += lines
        waiting += _spawned(lines, files)
    # At one millisecond the agent itself comes first: its call is the reason for the line of the subagent.
    found.sort(key=lambda entry: (entry.line.time, entry.agent != MAIN_AGENT, entry.line.number))
    return found, unseen


def _agent_of(line: Line, record: Record) -> str:
    if not is_side(record):
        return MAIN_AGENT
    call = text_of(record.get("parent_tool_use_id"))
    return text_of(record.get("agentId")) or (f"{UNNAMED}-{call}" if call else f"{CHAIN}{line.chain}")


def _taken(index: Index, spawn: _Spawn, end: int) -> list[Line]:
    """Take the lines of a subagent that belong to a call: all, unless another call resumed it."""
    asked = [begin for begin in index.begun if spawn.time <= begin <= end]
    if not asked and spawn.message:  # the subagent was at work, and got it in passing
        return []
    lines, index.lines = index.lines, []
    if asked and len(index.begun) > 1:
        later = next((begin for begin in index.begun if begin > asked[0]), inf)
        index.lines = [line for line in lines if not asked[0] <= line.time < later]
        lines = [line for line in lines if asked[0] <= line.time < later]
    return lines


def _spawned(lines: Iterable[Entry], files: "_Files") -> list[_Spawn]:
    """List the calls that started or resumed subagents. A skill may run in one, too: then its result names the agent."""
    started: dict[str, _Spawn] = {}
    times: dict[str, int] = {}
    for entry in lines:
        for block in entry.blocks("tool_use"):
            call = text_of(block.get("id"))
            times[call] = entry.line.time
            if spawn := _spawn_of(block, call, entry.line.time, files):
                started[call] = spawn
        detail = record_of(detail_of(entry.record))
        agent = text_of(detail.get("agentId"))
        for block in entry.blocks("tool_result"):
            call = text_of(block.get("tool_use_id"))
            if agent:
                started.setdefault(call, _Spawn(call, times.get(call, 0))).agent = agent
            elif block.get("is_error") is True:  # refused before it began
                started.pop(call, None)
            elif call in started:
                _complete(started[call], detail)
    return [found for spawn in started.values() for found in files.of(spawn)]


def _spawn_of(block: Record, call: str, time: int, files: "_Files") -> _Spawn | None:
    """Return the start of a subagent by a call: of the agent's tool for it, of a workflow, or of a message to one."""
    name, args = block.get("name"), record_of(block.get("input"))
    if name in SPAWNS:
        return _Spawn(call, time, prompt=text_of(args.get("prompt")), name=text_of(args.get("name")))
    if name == WORKFLOW:
        return _Spawn(call, time, whole=f"the agents of workflow {call}")
    # A message to somebody without a transcript here resumes no subagent.
    if name == RESUMES and (agent := text_of(args.get("to"))) in files.paths:
        return _Spawn(call, time, agent, message=True)
    return None


def _complete(spawn: _Spawn, detail: Record) -> None:
    """Add the facts in the result of the call, where the result names no agent."""
    spawn.name = spawn.name or text_of(detail.get("name"))
    spawn.workflow = Path(text_of(detail.get("runId"))).name
    if detail.get("status") == "remote_launched":
        spawn.whole = f"remote agent {text_of(detail.get('taskId'))}"


class _Files:
    """The transcripts of a session's subagents that no call of the run has taken yet, by the id of the agent."""

    def __init__(self, run: Run, source: Source) -> None:
        self.run = run
        self.source = source
        files = run.transcript.sidechains(source.allowed)
        self.paths = {path.stem.removeprefix("agent-"): path for path in reversed(files)}

    def of(self, spawn: _Spawn) -> list[_Spawn]:
        """List the agents that a call started: one, or those of a workflow, by its folder and its journal."""
        if spawn.whole and spawn.workflow:
            agents = self._of_workflow(spawn.workflow)
            return [_Spawn(spawn.call, spawn.time, agent) for agent in agents] or [spawn]
        if not spawn.is_known:
            spawn.agent = next((agent for agent, path in self.paths.items() if self._fits(spawn, path)), "")
        return [spawn]

    def _of_workflow(self, workflow: str) -> list[str]:
        """List the agents of a workflow's run: those with a transcript in its folder, then others in its journal."""
        folder = self.run.transcript.path.with_suffix("") / "subagents" / "workflows" / workflow
        journal = folder / "journal.jsonl"
        agents = [agent for agent, path in self.paths.items() if path.parent == folder]
        # The journal also names agents without a transcript here: their work is then reported as missing.
        if journal.is_file() and self.source.allowed(journal):
            with opened(journal) as file:
                agents += [text_of((parse_line(line) or {}).get("agentId")) for line in file]
        return [agent for agent in dict.fromkeys(agents) if agent]

    def left_over(self) -> list[_Spawn]:
        """List the agents that began during the run without a known call of the session."""
        found = []
        for agent in list(self.paths):
            path = self.paths[agent]
            head = self._head(path)
            time = self.run.started if head.time is None else head.time
            is_free = self.run.index.agents.isdisjoint({agent, path.parent.name}) and self._is_own(path)
            own = agent.startswith(OWN_AGENTS) or head.prompt == WARM_UP
            if is_free and not own and self.run.started <= time <= self.run.ended:
                found.append(_Spawn("", time, agent))
            else:
                del self.paths[agent]
        return found

    def _is_own(self, path: Path) -> bool:
        """Return whether a transcript is of this session. Beside transcripts of other sessions, its lines must name it."""
        sessions = (self.run.index.session, self.run.transcript.sdk_session)
        return path.parent != self.run.transcript.path.parent or self._head(path).session in sessions

    def _fits(self, spawn: _Spawn, path: Path) -> bool:
        """Return whether this call started a transcript: its metadata names the call, or it begins with the call's prompt."""
        # The metadata decide first: two calls may have the same prompt. They may be missing, damaged, or a pipe.
        metadata: Record = {}
        with suppress(FileError):
            metadata = record_of(load_json(path.with_suffix(".meta.json")))
        prompt = self._head(path).prompt
        # A member of a team gets the prompt inside a message of its leader.
        asked = prompt == spawn.prompt or (prompt.startswith("<teammate-message") and spawn.prompt in prompt)
        named = spawn.name and spawn.name == metadata.get("name")
        return self._is_own(path) and bool(
            metadata.get("toolUseId") == spawn.call or named or (spawn.prompt and asked)
        )

    def _head(self, path: Path) -> Head:
        if path not in self.source.heads:
            with opened(path) as file:
                # The first line holds the prompt. One of more than a megabyte is cut, and then no JSON: it fits no call.
                record = parse_line(file.readline(1 << 20)) or {}
            asked = asked_of({**record, "type": "user", "isSidechain": True}) or ""
            session, time = text_of(record.get("sessionId")), milliseconds(record.get("timestamp"))
            self.source.heads[path] = Head(session, time, asked)
        return self.source.heads[path]
