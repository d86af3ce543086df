"""Splitting transcripts into runs, and knowing each run by what the databases say of the messages that began it.

A run begins with a message to the agent: a chat message, a task, a slash command. It lasts until the next one. Lines
belong to the run of the line that they continue, whatever their place in the file, so that runs that were under way
at the same time stay apart; a notice of work that a call began belongs to the run of the call. A message that is handed
to the agent again, since it was killed, begins no new run. In a stream, a run ends with its result.
"""

from bisect import bisect_left
from dataclasses import dataclass, field

from agenteval_nanoclaw.session.prompts import Message, Prompt, parse_prompt
from agenteval_nanoclaw.session.source import Transcript
from agenteval_nanoclaw.session.store import Inbound, Session, Store
from agenteval_nanoclaw.session.transcript import Index, Line
from agenteval_nanoclaw.session.values import milliseconds

CLOCK_SLACK = 1_500
"""Milliseconds by which times that are stored to the second may be off."""


@dataclass(slots=True, kw_only=True)
class Received:
    """One message of a run: as the prompt has it, and its row in the database, when there is one."""

    message: Message
    time: int
    row: Inbound | None = None


@dataclass(slots=True, kw_only=True)
class Run:
    """One run: the lines of a transcript that belong to it."""

    transcript: Transcript
    index: Index
    number: int = 0
    lines: list[Line] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    timezone: str = ""
    session: Session | None = None
    damaged: int = 0
    """How many of its lines cannot be read."""
    last: bool = False
    """Whether it is the last one of its transcript."""
    opened: bool = False
    """Whether nothing came before it, though no message of a user began it."""
    spoke: bool = False
    """Whether the agent itself has said or done something since it was told something."""
    aside: bool = False
    """Whether the agent, after it spoke, was only told what brings no result."""
    done: bool = False
    """Whether a stream has told its result, and nothing after that."""

    def take(self, line: Line) -> None:
        """Add a line."""
        if line.mark and line.chain < 0:
            self.aside = line.mark == "notice" and (self.aside or self.spoke)
            self.spoke = self.done = False
        line.aside = self.aside
        self.spoke = self.spoke or (line.type == "assistant" and line.chain < 0)
        self.done = self.done or line.type == "result"
        self.lines.append(line)

    @property
    def is_new(self) -> bool:
        """Whether it is of a stream that has only said which tools the agent has."""
        return [line.type for line in self.lines] == ["init"]

    @property
    def is_worth_telling(self) -> bool:
        """Whether it has an answer, or a message to the agent that is no command of the CLI's own, such as `/model`."""
        if any(line.type in ("assistant", "result") for line in self.lines):
            return True
        return any(each.message.kind != "command" for each in self.received)

    @property
    def begun(self) -> bool:
        """Whether its beginning is in the recording."""
        return bool(self.received) or self.opened or (self.index.stream and self.lines[0].type == "init")

    @property
    def started(self) -> int:
        """When its first line was written."""
        return self.lines[0].time

    @property
    def ended(self) -> int:
        """When its last line was written."""
        return self.lines[-1].time

    @property
    def task(self) -> Inbound | None:
        """The task that began it."""
        rows = [each.row for each in self.received if each.message.kind == "task" and each.row]
        return rows[0] if rows and self.by_scheduler else None

    @property
    def by_scheduler(self) -> bool:
        """Whether the scheduler woke the agent, and no one else; others may have spoken later."""
        first = [each for each in self.received if each.time == self.received[0].time]
        return bool(first) and all(each.message.kind == "task" for each in first)


def split(transcript: Transcript, index: Index) -> list[Run]:
    """The runs of one transcript, in the order of time."""
    runs: list[Run] = []
    run_of: dict[int, Run] = {}
    for line in sorted(index.lines, key=lambda line: (line.time, line.number)):
        run = run_of.get(line.parent) or (runs[-1] if runs else None)
        if line.prompt is not None:
            prompt = parse_prompt(line.prompt)
            goes_on = run and (line.type == "attachment" or run.is_new or _is_repeated(prompt, run, line))
            if run is None or not goes_on:
                run = Run(transcript=transcript, index=index)
                runs.append(run)
            run.timezone = run.timezone or prompt.timezone
            known = [each.message for each in run.received]
            new = [message for message in prompt.messages if not (message.seq and message in known)]
            run.received += [Received(message=message, time=line.time) for message in new]
        elif run is None or (run.done and line.type in ("init", "assistant") and line.chain < 0):
            run = Run(transcript=transcript, index=index)
            runs.append(run)
        run.take(line)
        run_of[line.place] = run
        line.prompt = None  # its messages are known now
    for number in index.damaged:
        before = bisect_left(index.lines, number, key=lambda line: line.number) - 1
        if before >= 0:  # it belongs to the run of what stands before it
            run_of[before].damaged += 1
    if runs:
        runs[0].opened = index.opened
    runs = [run for run in runs if run.is_worth_telling]
    if runs:
        runs[-1].last = True
    return runs


def _is_repeated(prompt: Prompt, run: Run, line: Line) -> bool:
    """Whether a prompt hands out again what the run was given, with ids that no other messages have."""
    before = [each.message for each in run.received]
    told = [message for message in prompt.messages if message.seq and message.time]
    return bool(before) and line.time >= run.started and all(message in told for message in before)


def know(runs: list[Run], store: Store) -> None:
    """Find the rows and the session of each run."""
    by_owner: dict[str, list[Session]] = {}
    for session in store.sessions:
        by_owner.setdefault(session.owner, []).append(session)
    for run in runs:
        owner = run.transcript.owner
        sessions = by_owner.get(owner, []) if owner else store.sessions
        for received in run.received:
            received.row = _row(received, sessions, run)
        ids = [received.row.session for received in run.received if received.row]
        known = [session for session in sessions if session.id in ids]
        known = known or [each for each in sessions if each.continuation == run.transcript.sdk_session]
        run.session = known[0] if known else None


def _row(received: Received, sessions: list[Session], run: Run) -> Inbound | None:
    message = received.message
    candidates = [
        (session, row)
        for session in sessions
        for row in session.inbound
        if _matches(message, row) and row.time <= received.time + CLOCK_SLACK
    ]
    if message.kind == "task":
        due = [pair for pair in candidates if _was_due(pair[1], received.time)]
        candidates = due or [pair for pair in candidates if pair[1].acknowledged]
    if not candidates:
        return None

    def likeness(pair: tuple[Session, Inbound]) -> tuple[bool, int]:
        session, row = pair
        time = row.process_after if row.process_after is not None else row.time
        return session.continuation == run.transcript.sdk_session, time

    return max(candidates, key=likeness)[1]


def _matches(message: Message, row: Inbound) -> bool:
    if message.kind == "task" or row.kind == "task":
        return message.kind == row.kind and message.text == row.text
    if message.seq:  # the prompt adds what is attached to the text
        return message.seq == row.seq and row.text in message.text
    time = milliseconds(message.time)
    return message.text == row.text and (time is None or time == row.time)


def _was_due(row: Inbound, time: int) -> bool:
    begun = row.process_after if row.process_after is not None else row.time
    return begun <= time + CLOCK_SLACK and (row.ended is None or row.ended + CLOCK_SLACK >= time)
