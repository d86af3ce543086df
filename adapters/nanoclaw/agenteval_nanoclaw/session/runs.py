"""The runs of a recording: splits transcripts, joins the databases, and chooses the run of a test.

A run begins with a message to the agent: a chat message, a task, a slash command. It lasts until the next one. Lines
belong to the run of the line that they continue, whatever their place in the file. So runs that were under way at the
same time stay apart. A notice of work that a call began belongs to the run of the call. A message that is handed to
the agent again, since it was killed, begins no new run. In a stream, a run ends with its result.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.models import Between, Invalid, Model, NotEmpty, NotNull, model, parse
from agenteval.text.fitting import cut
from agenteval_nanoclaw.bundle import Timestamp
from agenteval_nanoclaw.session.prompts import Message, Prompt, parse_prompt
from agenteval_nanoclaw.session.source import STREAM, TRANSCRIPT, Source, Transcript, find_source
from agenteval_nanoclaw.session.store import Group, Inbound, Outbound, Session, Store, read_store
from agenteval_nanoclaw.session.transcript import Index, Line, read_index
from agenteval_nanoclaw.session.values import iso, milliseconds
from agenteval_nanoclaw.versions import RUNNER_COMMANDS, TO_AGENTS

CLOCK_SLACK = 1_500
"""The milliseconds by which times that are stored to the second may be off."""
LATEST = 600_000
"""The milliseconds after the last line of a run in which an outgoing message may still be the run's."""
MOST_LISTED = 20


@dataclass(slots=True)
class Received:
    """One message of a run, with its row in the database, when there is one."""

    message: Message
    time: int
    row: Inbound | None = None

    @property
    def is_note(self) -> bool:
        """True if the host itself wrote it, to report the outcome of a request."""
        if self.row:
            return self.row.is_note
        return self.message.sender == "system" and self.message.origin.startswith(f"unknown:{TO_AGENTS}:")

    @property
    def is_of_peer(self) -> bool:
        """True if another agent of the install sent it."""
        return bool(self.row and self.row.channel == TO_AGENTS and not self.row.is_note)


@dataclass(slots=True)
class Run:
    """One run: the lines of a transcript that belong to it."""

    transcript: Transcript
    index: Index
    number: int = 0
    lines: list[Line] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    timezone: str = ""
    session: Session | None = None
    group: Group | None = None
    """The group that the agent acts for."""
    generation: str = ""
    """`v2` or `v1` of NanoClaw; empty for another agent."""
    outbound: list[Outbound] = field(default_factory=list)
    """The messages that went out in it, in order, judged by their times. See `shared` where two runs overlap."""
    shared: list[tuple[Outbound, "Run"]] = field(default_factory=list)
    """Messages that went out while another run of the session was under way, with that run."""
    damaged: int = 0
    """The number of its lines that cannot be read."""
    last: bool = False
    """True if it is the last run of its transcript."""
    opened: bool = False
    """True if nothing came before it, though no message of a user began it."""
    spoke: bool = False
    """True if the agent itself has said or done something since its last input."""
    aside: bool = False
    """True if the agent, after it spoke, got only notices without a result."""
    done: bool = False
    """True if a stream has given its result, and nothing after it."""

    def take(self, line: Line) -> None:
        """Add a line, and update the flags that the next lines need."""
        if line.mark and line.chain < 0:
            self.aside = line.mark == "notice" and (self.aside or self.spoke)
            self.spoke = self.done = False
        line.aside = self.aside
        self.spoke = self.spoke or (line.type == "assistant" and line.chain < 0)
        self.done = self.done or line.type == "result"
        self.lines.append(line)

    def receive(self, prompt: Prompt, time: int) -> None:
        """Add the messages of a prompt, each once: a prompt may hand out earlier ones again."""
        self.timezone = self.timezone or prompt.timezone
        known = [each.message for each in self.received]
        # Messages without a number cannot be distinguished: the same words twice may be two messages.
        new = [message for message in prompt.messages if not (message.seq and message in known)]
        self.received += [Received(message, time) for message in new]

    @property
    def is_relevant(self) -> bool:
        """True if it has an answer, or a message to the agent. Commands of the CLI itself (`/model`) do not count."""
        answered = any(line.type in ("assistant", "result") for line in self.lines)
        return answered or any(each.message.kind != "command" for each in self.received)

    @property
    def begun(self) -> bool:
        """True if its beginning is in the recording."""
        return bool(self.received) or self.opened or (self.index.stream and self.lines[0].type == "init")

    @property
    def started(self) -> int:
        """The time of its first line."""
        return self.lines[0].time

    @property
    def ended(self) -> int:
        """The time of its last line."""
        return self.lines[-1].time

    @property
    def rows(self) -> list[Inbound]:
        """The database rows of its messages."""
        return [each.row for each in self.received if each.row]

    @property
    def tasks(self) -> list[Inbound]:
        """The rows of its messages that are tasks."""
        return [each.row for each in self.received if each.row and each.message.kind == "task"]

    @property
    def task(self) -> Inbound | None:
        """The task that began it."""
        return self.tasks[0] if self.tasks and self.by_scheduler else None

    @property
    def by_scheduler(self) -> bool:
        """True if only the scheduler woke the agent. Others may have written later."""
        first = [each for each in self.received if each.time == self.received[0].time]
        return bool(first) and all(each.message.kind == "task" for each in first)

    @property
    def outbound_is_stored(self) -> bool:
        """True if the recording has the outgoing messages."""
        return self.session is not None and self.session.outbound_is_stored and self.index.timed

    @property
    def mounts_are_known(self) -> bool:
        """True if the recording has the mounts of the container."""
        return self.group is not None and self.group.mounts is not None

    @property
    def first_words(self) -> str:
        """The beginning of its first message, in one line."""
        without = "(no message)" if self.begun else "(the beginning is missing)"
        text = self.received[0].message.text if self.received else without
        return cut(" ".join(text.split()), 60)


@dataclass(slots=True)
class Reading:
    """The runs of a recording, in the order of time. Their lines are read later, run by run."""

    source: Source
    store: Store
    max_bytes: int
    runs: list[Run] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    strays: int = 0
    """The number of outgoing messages that belong to no known run."""


def read_recording(path: Path, context: AdapterContext, *, within: Path | None) -> Reading:
    """Read the runs of a recording. Raises `AdapterError` when it cannot be read, or has none."""
    source = find_source(path, within=within)
    reading = Reading(source, read_store(source), context.max_file_bytes)
    for transcript in source.transcripts:
        try:
            index = read_index(transcript.path, max_line=context.max_file_bytes, progress=context.progress)
        except AdapterError:
            if len(source.transcripts) == 1:
                raise
            reading.skipped["file that is not a transcript"] += 1
            continue
        if index.stream and source.what == TRANSCRIPT:
            source.what = STREAM
        reading.skipped.update(index.skipped)
        reading.runs += split(transcript, index)
    _complete(reading)
    if not reading.runs:
        raise _without_runs(path, source)
    return reading


def _complete(reading: Reading) -> None:
    """Join the runs with the databases, number them in the order of time, and give them the outgoing messages."""
    source = reading.source
    for run in reading.runs:
        _join_databases(run, reading.store, source)
    if source.chosen:
        name = source.chosen.name
        reading.runs = [run for run in reading.runs if run.session and run.session.id == name]
    reading.runs.sort(key=lambda run: (run.started, str(run.transcript.path), run.lines[0].number))
    for number, run in enumerate(reading.runs, 1):
        run.number = number
    for session in reading.store.sessions:
        if runs := [run for run in reading.runs if run.session is session and run.index.timed]:
            strays = _assign_outbound(runs, session)
            # one transcript of a session does not have all of its runs
            reading.strays += 0 if source.what.startswith(TRANSCRIPT) else strays


def _without_runs(path: Path, source: Source) -> AdapterError:
    """Return the error for a recording without a run."""
    why = "no message to the agent is in its transcripts"
    if not source.transcripts:
        why = "there is no transcript"
    elif source.chosen:
        why = "no transcript holds a message of this session"
    return AdapterError(
        f"{path}: a {source.what} without a run: {why}",
        reason_code="adapter.no_run",
        next_step="copy the agent group's .claude-shared folder (v2), or data/sessions (v1), along with it",
    )


def split(transcript: Transcript, index: Index) -> list[Run]:
    """Split one transcript into runs, in the order of time."""
    runs: list[Run] = []
    run_of: dict[int, Run] = {}
    for line in sorted(index.lines, key=lambda line: (line.time, line.number)):
        # A line without a known parent goes on with the run before it, as in streams.
        run = run_of.get(line.parent) or (runs[-1] if runs else None)
        prompt = parse_prompt(line.prompt) if line.prompt is not None else None
        if run is None or not _goes_on(run, line, prompt):
            run = Run(transcript, index)
            runs.append(run)
        if prompt:
            run.receive(prompt, line.time)
        run.take(line)
        run_of[line.place] = run
        line.prompt = None  # its messages are known now
    _add_damage(index, run_of)
    if runs:
        runs[0].opened = index.opened
    runs = [run for run in runs if run.is_relevant]
    if runs:
        runs[-1].last = True
    return runs


def _add_damage(index: Index, run_of: dict[int, Run]) -> None:
    """Count each damaged line in the run of the line before it."""
    for number in index.damaged:
        before = bisect_left(index.lines, number, key=lambda line: line.number) - 1
        if before >= 0:
            run_of[before].damaged += 1


def _goes_on(run: Run, line: Line, prompt: Prompt | None) -> bool:
    """Return whether a line belongs to the run before it; a new run begins otherwise."""
    if prompt is None:
        # After the result of a stream, the agent speaks again only in a new run. Subagents may still finish.
        return not (run.done and line.type in ("init", "assistant") and line.chain < 0)
    is_only_begun = [each.type for each in run.lines] == [
        "init"
    ]  # a stream lists the tools before the prompt
    # An attachment is a message that came while the agent worked.
    return line.type == "attachment" or is_only_begun or _is_repeated(prompt, run, line)


def _is_repeated(prompt: Prompt, run: Run, line: Line) -> bool:
    """Return whether a prompt repeats the messages of the run. Only messages with an id and a time can repeat."""
    before = [each.message for each in run.received]
    repeated = [message for message in prompt.messages if message.seq and message.time]
    return bool(before) and line.time >= run.started and all(message in repeated for message in before)


def _join_databases(run: Run, store: Store, source: Source) -> None:
    owner = run.transcript.owner
    sessions = [each for each in store.sessions if not owner or each.owner == owner]
    for received in run.received:
        received.row = _row(received, sessions, run)
    ids = {row.session for row in run.rows}
    known = [session for session in sessions if session.id in ids]
    known = known or [each for each in sessions if each.continuation == run.transcript.sdk_session]
    run.session = known[0] if known else None
    # With a single group, a run without a known session can only be that group's.
    only = [*store.groups] if len(store.groups) == 1 else [""]
    run.group = store.groups.get((run.session.owner if run.session else owner) or only[0])
    if source.kind != "transcript":
        run.generation = source.kind
    # A transcript alone: the working directory in the container, or the form of the prompt, shows the generation.
    elif run.index.folder.startswith("/workspace/group"):
        run.generation = "v1"
    elif (
        run.index.folder.startswith("/workspace/agent")
        or run.timezone
        or any(each.message.seq for each in run.received)
    ):
        run.generation = "v2"


def _assign_outbound(runs: list[Run], session: Session) -> int:
    """Give each outgoing row of a session to the run that was under way, or had just ended.

    The runner answers some commands itself, and they are in no transcript: a message after one belongs to no run. Returns
    the number of other rows without a run.
    """
    strays = 0
    commands = [row.time for row in session.inbound if row.text.lower().startswith(RUNNER_COMMANDS)]
    starts, ends = [run.started for run in runs], list(accumulate((run.ended for run in runs), max))
    for row in session.outbound:
        first = last = bisect_right(starts, row.until)
        while first and ends[first - 1] + LATEST >= row.time:
            first -= 1
        near = _near(row, runs[first:last])
        if near:
            _assign(row, near, commands)
        else:
            strays += not any(time <= row.until <= time + LATEST for time in commands)
    return strays


def _assign(row: Outbound, near: list[Run], commands: list[int]) -> None:
    """Give a row to one of the runs near it. `commands` are the times of the commands that the runner answers itself."""
    own = near[-1]
    # Rows have whole seconds: the same second may end one run and begin the next.
    if len(near) > 1 and row.time < own.started and not _is_reply(row, own):
        own = near[-2]
    # The runner answers some commands itself, in no transcript: its message after one is no message of the run before.
    if not _is_reply(row, own) and any(own.ended < time <= row.until for time in commands):
        return
    own.outbound.append(row)
    # An answer that came late stands in another run's time. The texts of both runs decide later to which it belongs.
    for other in near:
        if other is not own and other.ended + CLOCK_SLACK >= row.time:
            other.shared.append((row, own))
            own.shared.append((row, other))


def _near(row: Outbound, runs: list[Run]) -> list[Run]:
    """List the runs that may have sent a row: under way at its time, or ended just before."""
    near = [run for run in runs if row.time <= run.ended + LATEST]
    # NanoClaw numbers incoming and outgoing messages in one sequence: a row is younger than the first message of its run.
    return [run for run in near if all(row.number > int(each.seq) for each in _first(run))] or near


def _is_reply(row: Outbound, run: Run) -> bool:
    return row.in_reply_to in [each.id for each in run.rows]


def _first(run: Run) -> list[Inbound]:
    """List the rows of the messages that began a run."""
    begun = [each for each in run.received if each.time == run.received[0].time]
    return [each.row for each in begun if each.row and each.row.seq.isdecimal()]


def _row(received: Received, sessions: list[Session], run: Run) -> Inbound | None:
    message = received.message
    found = [
        (session.continuation == run.transcript.sdk_session, row.begun, row)
        for session in sessions
        for row in session.inbound
        if _matches(message, row) and row.time <= received.time + CLOCK_SLACK and not row.is_idle
    ]
    if message.kind == "task":
        due = [each for each in found if _was_due(each[2], received.time)]
        # Without a row that was due, take one that the runner acknowledged: it ran, whatever its times state.
        found = due or [each for each in found if each[2].acknowledged]
    return max(found, key=lambda each: each[:2])[2] if found else None


def _matches(message: Message, row: Inbound) -> bool:
    if message.kind == "task" or row.kind == "task":
        # tasks of older releases end in rules for the agent, in brackets, which newer ones leave out of the prompt
        is_text = message.text == row.text or (
            row.text.startswith(f"{message.text}\n\n[") and row.text[-1:] == "]"
        )
        return message.kind == row.kind and is_text
    if message.seq:  # the prompt adds what is attached to the text
        return message.seq == row.seq and row.text in message.text
    # Prompts of the first generation have no numbers, and not all have times: then the text alone decides.
    time = milliseconds(message.time)
    return message.text == row.text and (time is None or time == row.time)


def _was_due(row: Inbound, time: int) -> bool:
    return row.begun <= time + CLOCK_SLACK and (row.ended is None or row.ended + CLOCK_SLACK >= time)


def joined(runs: Sequence[Run]) -> Run | None:
    """Make one run of those that the messages of one test began: NanoClaw hands at most ten to the agent at once.

    Returns None without runs, for runs in several transcripts, and if anything but a message began one of several.
    """
    are_of_messages = all(
        run.received and all(each.row and not each.is_note for each in run.received) for run in runs
    )
    if len(runs) < 2:
        return next(iter(runs), None)
    if not are_of_messages or len({run.transcript.path for run in runs}) > 1:
        return None
    own = {id(run) for run in runs}
    last = runs[-1]
    return replace(
        last,
        lines=[line for run in runs for line in run.lines],
        received=[each for run in runs for each in run.received],
        outbound=[row for run in runs for row in run.outbound],
        # a row that two of them share is in the outbound rows of one
        shared=[(row, other) for run in runs for row, other in run.shared if id(other) not in own],
        damaged=sum(run.damaged for run in runs),
        opened=runs[0].opened,
    )


# Which one a test means ---------------------------------------------------------------------------------------

Text = Annotated[str, NotEmpty()]


@model
class NanoClawInput(Model):
    """The input of a replay: a bundle (`replay_file`), or a run of a real recording (`session`)."""

    replay_file: Annotated[Text | None, NotNull()] = None
    """The replay bundle, relative to the test: `replay.json`."""
    session: Annotated[Text | None, NotNull()] = None
    """The real recording, relative to the test: a transcript, a session folder, an install, or a database in them."""
    turn: Annotated[Annotated[int, Between(1)] | None, NotNull()] = None
    """With `session`: the run with this number."""
    message: Annotated[Text | int | None, NotNull()] = None
    """With `session`: the run that received this message, by its number in the session or its id."""
    task_id: Annotated[Text | None, NotNull()] = None
    """With `session`: the run of this task, or of a task of this series."""
    time: Annotated[Timestamp | None, NotNull()] = None
    """With `session`: the run that was under way at this time (ISO 8601), else the last that began before it."""
    tool_aliases: Annotated[dict[str, Text] | None, NotNull()] = None
    """With `session`: recorded names of tools, or globs, with the names that the test uses."""


def check_options(given: Mapping[str, Any]) -> None:
    """Check an input against `NanoClawInput`. Raises `AdapterError`."""
    try:
        parse(NanoClawInput, given)
    except Invalid as error:
        raise AdapterError(
            f"adapter_input.{error.findings[0].sentence}",
            reason_code="adapter.invalid_input",
            next_step="correct the value in the test",
        ) from None


def choose(runs: Sequence[Run], given: Mapping[str, Any]) -> Run:
    """Choose the run that fits all given keys of `turn`, `message`, `task_id` and `time`; without keys, the only run.

    Raises `AdapterError` that lists the runs: `adapter.no_such_run`, `adapter.several_runs`.
    """
    found = [run for run in _at(given.get("time"), runs) if _fits(run, given)]
    if len(found) == 1:
        return found[0]
    keys = ("turn", "message", "task_id", "time")
    asked = ", ".join(f"{key}: {given[key]!r}" for key in keys if key in given)
    listed = [
        f"\n  turn {run.number}  {iso(run.started)}  {'scheduler' if run.by_scheduler else 'user_message'}  {run.first_words}"
        for run in found or runs
    ]
    if len(listed) > MOST_LISTED:
        listed[MOST_LISTED:] = [f"\n  and {len(listed) - MOST_LISTED} more"]
    if not found:
        raise AdapterError(
            f"no run of the recording has {asked}; it has{''.join(listed)}",
            reason_code="adapter.no_such_run",
            next_step="correct the choice in the test",
        )
    what = (
        f"{len(found)} runs of the recording have {asked}"
        if asked
        else f"the recording has {len(found)} runs"
    )
    raise AdapterError(
        f"{what}:{''.join(listed)}",
        reason_code="adapter.several_runs",
        next_step="choose one in the test: adapter_input: {session: …, turn: N}; message, task_id and time choose one, too",
    )


def _at(moment: str | None, runs: Sequence[Run]) -> Sequence[Run]:
    """List the run at a time, if any; all runs without a time. A run without times is never chosen by one."""
    if moment is None:
        return runs
    time = milliseconds(moment) or 0
    begun = [run for run in runs if run.index.timed and run.started <= time]
    return ([run for run in begun if run.ended >= time] or begun)[-1:]


def _fits(run: Run, given: Mapping[str, Any]) -> bool:
    names = {name for each in run.received for name in (each.message.seq, each.row.id if each.row else "")}
    tasks = {name for row in run.tasks for name in (row.id, row.series)}
    return (
        given.get("turn", run.number) == run.number
        and ("message" not in given or str(given["message"]) in names)
        and ("task_id" not in given or given["task_id"] in tasks)
    )
