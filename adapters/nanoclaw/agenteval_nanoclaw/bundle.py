"""Replay bundles: the format as strict models, and what must hold beyond the shape of each step."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

from agenteval.contracts.errors import AdapterError, FileError, Problem
from agenteval.contracts.models import Between, DataPath, Model, NotEmpty, NotNull, Rule, Tagged, model
from agenteval.contracts.testcase import check_schedule
from agenteval.reading.jsonsource import load_json, load_model
from agenteval.reading.places import MAX_PROBLEMS, Fault, problem_at
from agenteval.text.names import closest


class Iso8601(Rule):
    """A date and time that ISO 8601 allows: `Annotated[str, Iso8601()]`."""

    def fault(self, value: str) -> str:
        try:
            datetime.fromisoformat(value)
            in_utc(value)
        except (ValueError, OverflowError):  # overflow: a time that is before the year 1 in UTC
            return f"{value!r} is not an ISO 8601 date and time, such as '2026-01-31T08:00:00Z'"
        return ""


def in_utc(timestamp: str) -> str:
    """An ISO 8601 timestamp in UTC; one without an offset is in UTC already."""
    if timestamp.endswith("Z"):
        return timestamp
    parsed = datetime.fromisoformat(timestamp)
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return parsed.astimezone(UTC).isoformat().replace("+00:00", "Z")


Timestamp = Annotated[str, Iso8601()]


Name = Annotated[str, NotEmpty()]


@model
class RecordedMessage(Model):
    """One message that the agent had to answer."""

    role: Name
    """The role of the speaker: user, assistant, system, tool, or any other role that the chat knows."""
    content: str
    """The text of the message."""
    sender: str | None = None
    """The sender's display name, where the chat has one."""
    ts: Timestamp | None = None
    """The time at which it was sent, ISO 8601."""


@model
class FinalOutput(Model):
    """The agent's last answer."""

    content: str
    """The text."""
    role: Name = "assistant"
    """The role of the speaker."""


@model
class RecordedScenario(Model):
    """The scenario of the recorded run. Ids that are not given are the test's."""

    trigger: Literal["user_message", "scheduler"]
    """The cause that woke the agent: a message of a user, or the scheduler."""
    group_id: str | None = None
    """The chat group that the agent acted for."""
    session_id: str | None = None
    """The session within the group."""
    task_id: str | None = None
    """The scheduled task; by default the `task_id` of `scheduler_context`."""
    scheduler_context: dict[str, Any] | None = None
    """The facts that the scheduler knew: task_id, scheduled_for, timezone … Required when the trigger is `scheduler`."""

    def __post_init__(self) -> None:
        check_schedule(self.scheduler_context)


@model
class RecordedCapabilities(Model):
    """The facts that the recording can show (SPEC 12). An assertion that needs a flag which is false is not judged."""

    supports_tool_trace: bool = True
    """Tool calls and results are recorded."""
    supports_memory_events: Annotated[bool | None, NotNull()] = None
    """Reads and writes of memory are recorded. By default, whether the script has any."""
    supports_scheduler_context: Annotated[bool | None, NotNull()] = None
    """The facts that the scheduler knew are recorded. By default true if the scenario has a `scheduler_context`."""
    supports_container_metadata: bool = False
    """Containers and mounts are recorded."""
    supports_live_run: bool = False
    """The recorder can run an agent live."""
    supports_replay: bool = True
    """The recording can be replayed."""


@model
class RecordedMetrics(Model):
    """Measures of the recorded run."""

    timing_ms_total: Annotated[float, Between(0)] | None = None
    """The duration of the run in milliseconds."""
    retry_count: Annotated[int, Between(0)] | None = None
    """Retries by the recorder's count. The trace's own count is taken from its events."""
    tool_call_count: Annotated[int, Between(0)] | None = None
    """Tool calls by the recorder's count. The trace's own count is taken from its events."""
    token_usage: dict[str, Any] | None = None
    """Tokens by kind: input_tokens, output_tokens, total_tokens …"""
    cost_usd: Annotated[float, Between(0)] | None = None
    """The cost of the run in US dollars."""


class Said:
    """The description of a field that other models inherit: pydantic reads no docstrings of a base."""

    def __init__(self, description: str) -> None:
        self.description = description

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        return {**handler(core_schema), "description": self.description}


@model
class Step(Model):
    """The fields that any step may have. Ids that are not given are the scenario's."""

    ts: Annotated[
        Timestamp | None,
        Said("When it happened, ISO 8601. By default one millisecond a step, from a fixed epoch."),
    ] = None
    group_id: Annotated[
        str | None, Said("The chat group; of a memory step, the group that owns the memory.")
    ] = None
    session_id: Annotated[str | None, Said("The session within the group.")] = None
    task_id: Annotated[str | None, Said("The scheduled task.")] = None
    agent_id: Annotated[str | None, Said("The agent, if there are several.")] = None


@model
class MessageReceivedStep(Step):
    """The agent was given a message."""

    type: Literal["message_received"]
    """The kind of step."""
    role: Name = "user"
    """The role of the speaker."""
    content: str | None = None
    """The text. By default the n-th such step has the text of the n-th of `input_messages`."""
    sender: str | None = None
    """The sender's display name, where the chat has one."""


@model
class ToolCallStep(Step):
    """The agent called a tool."""

    type: Literal["tool_call"]
    """The kind of step."""
    tool: Name
    """The tool's name."""
    call_id: Name
    """Names the call; results and errors refer to it. Unique in the bundle."""
    args: dict[str, Any] = field(default_factory=dict)
    """The arguments."""
    recorded_tool: str | None = None
    """The tool's name in the recording, if it is another one: `mcp__web__web_search`."""
    parent_call_id: str | None = None
    """The call that makes this call: it started the subagent that does, or is of a shell whose command does."""
    said: str | None = None
    """The agent's own text, if the arguments have another one that was sent in its place."""


@model
class ToolResultStep(Step):
    """A tool answered."""

    type: Literal["tool_result"]
    """The kind of step."""
    call_id: Name
    """The call that it answers, which is earlier in the script."""
    tool: Name | None = None
    """The tool's name. By default that of the call."""
    success: bool | None = None
    """True if the tool did its work. By default true; false when the fixture is an error, or the result says so at its top: `success: false`, `ok: false`, `isError: true`."""
    result: Any = None
    """The answer, any JSON. Left out (or null), it is taken from the fixture, when there is one."""
    fixture_id: Name | None = None
    """The fixture of the test that this is the answer of."""


@model
class MemoryStep(Step):
    """Memory was read or written."""

    type: Literal["memory_read", "memory_write"]
    """The kind of step."""
    source: str | None = None
    """The kind of memory, for instance `CLAUDE.md`."""
    path: str | None = None
    """The file."""
    content: Any = None
    """The content that was read or written, any JSON."""
    change_summary: str | None = None
    """The change in words."""
    call_id: Name | None = None
    """The tool call that did it, which is earlier in the script."""
    names_only: bool | None = None
    """True if only the file's name was shown, not its content."""
    implicit: bool | None = None
    """True if it was loaded into the prompt, without a call."""


@model
class ErrorStep(Step):
    """Something went wrong."""

    type: Literal["error"]
    """The kind of step."""
    error_type: Name
    """The kind of error, for instance `timeout`."""
    message: str | None = None
    """The error message."""
    retryable: bool | None = None
    """True if trying again could help. By default false."""
    scope: Name | None = None
    """The part of the run that failed. By default `tool` when `tool` or `call_id` is given, else `runtime`."""
    tool: Name | None = None
    """The tool. By default that of the call."""
    call_id: Name | None = None
    """The call that failed, which is earlier in the script. By default the tool's last call, when open."""


@model
class FinalOutputStep(Step):
    """The agent answered."""

    type: Literal["final_output"]
    """The kind of step."""
    content: str
    """The text."""
    role: Name = "assistant"
    """The role of the speaker."""
    to: Any = None
    """The name of the conversation that it goes to, or a list of names: sends to them go there, too."""
    sent_by: list[str] | None = None
    """The calls that sent the text: it goes out by them alone, and is no message besides."""
    said: str | None = None
    """The agent's own text, if `content` is another one that was sent in its place."""


AnyStep = MessageReceivedStep | ToolCallStep | ToolResultStep | MemoryStep | ErrorStep | FinalOutputStep


@model
class ReplayBundle(Model):
    """One recorded run (replay bundle, schema 0.1)."""

    schema_version: Literal["0.1"]
    """The version of this format."""
    scenario: RecordedScenario
    """The situation."""
    input_messages: list[RecordedMessage]
    """The messages that the agent had to answer."""
    script: list[Annotated[AnyStep, Tagged("type")]]
    """The steps of the run, in order."""
    status: Literal["success", "partial", "failed", "blocked"]
    """The outcome of the run. A run that ended in success has an output."""
    metrics: RecordedMetrics = field(default_factory=RecordedMetrics)
    """Measures of the run."""
    adapter: Literal["nanoclaw-replay"] | None = None
    """The format's name."""
    capabilities: RecordedCapabilities = field(default_factory=RecordedCapabilities)
    """The facts that the recording can show."""
    final_output: FinalOutput | None = None
    """The agent's last answer. By default the last `final_output` step."""
    unseen: list[Name] = field(default_factory=list)
    """Parts of the run that the recording does not show, in words: `what subagent g1 did`."""


_SPANS = "resourceSpans"
"""The key at the beginning of a file of OpenTelemetry spans."""


def load_bundle(path: Path, *, max_bytes: int) -> ReplayBundle:
    """The bundle in a file.

    Raises `AdapterError` with everything that is wrong with it, in file order, or `bundle.other_format`.
    """
    problems: list[Problem] = []
    bundle: Any
    try:
        bundle = load_model(ReplayBundle, path, max_bytes=max_bytes)
    except FileError as error:
        problems = error.problems
        for problem in problems:
            problem.reason_code = problem.reason_code.replace("json.", "bundle.", 1)
        try:
            bundle = load_json(path, max_bytes=max_bytes)
        except FileError:  # not JSON at all: there is nothing more to find
            raise _file_error(problems) from None
        if isinstance(bundle, dict) and _SPANS in bundle:
            raise AdapterError(
                f"{path.name} holds spans of OpenTelemetry, and no replay bundle",
                reason_code="bundle.other_format",
                next_step="write `adapter: otel` in the test",
            ) from None
    broken = list(broken_rules(bundle))
    if broken or problems:
        raise bundle_error(path, broken, max_bytes=max_bytes, others=problems)
    return bundle  # type: ignore[no-any-return]


CORRECT_THE_FILE = (
    "correct the file, or record the run again; `agenteval schema replay` shows the format of a recording"
)
REFERRING = ("tool_result", "error", "memory_read", "memory_write")
"""The types of step whose `call_id` names an earlier call."""


def broken_rules(bundle: Any) -> Iterator[Fault]:
    """List the broken rules in a `ReplayBundle`, or in the raw JSON of one."""
    scenario = _get(bundle, "scenario")
    if _get(scenario, "trigger") == "scheduler" and _get(scenario, "scheduler_context") is None:
        message = "the trigger is scheduler, but the scenario has no scheduler_context"
        step = "add scenario.scheduler_context with what the scheduler knew, such as task_id"
        yield Fault("bundle.no_scheduler_context", message, ("scenario", "trigger"), next_step=step)
    steps = _get(bundle, "script")
    if isinstance(steps, list):
        yield from _output(bundle, steps)
        yield from _messages(bundle, steps)
        yield from _call_ids(steps)


def bundle_error(
    path: Path,
    broken: Sequence[Fault],
    *,
    max_bytes: int,
    others: Iterable[Problem] = (),
    inputs: Iterable[Any] = (),
) -> AdapterError:
    """The error that tells of all problems of a bundle, in file order; of very many, the first ones.

    `others` are problems that are located already. `inputs` is data, beside the bundle's own, that the
    messages may quote.
    """
    from agenteval.reading.documents import read_text
    from agenteval.reading.jsonsource import parse_json, places

    text = read_text(path, max_bytes=max_bytes)
    listed = broken[:MAX_PROBLEMS]
    found = places(text, [(fault.data_path, fault.at_key) for fault in listed])
    problems = [
        *others,
        *(problem_at(place, fault, path) for place, fault in zip(found, listed, strict=True)),
    ]
    problems.sort(key=lambda problem: (problem.path != path, problem.line or inf, problem.column or 0))
    if len(broken) > len(listed):
        message = f"{len(broken)} broken rules in all; the first {len(listed)} are shown"
        problems.append(Problem(reason_code="bundle.many_problems", message=message, path=path))
    error = _file_error(problems)
    error.inputs = [parse_json(text, path), *inputs]
    return error


def _file_error(problems: Sequence[Problem]) -> AdapterError:
    error = AdapterError.of(problems)
    error.next_step = error.next_step or CORRECT_THE_FILE
    return error


def _get(node: Any, name: str) -> Any:
    return node.get(name) if isinstance(node, dict) else getattr(node, name, None)


def _output(bundle: Any, steps: list[Any]) -> Iterator[Fault]:
    if _get(bundle, "final_output") is not None:
        return
    if not steps:
        message = "the script is empty and there is no final_output: nothing was recorded"
        yield Fault("bundle.nothing_recorded", message, ("script",), next_step="record the run again")
    elif _get(bundle, "status") == "success" and all(_get(step, "type") != "final_output" for step in steps):
        message = (
            "the status is success, but there is no output: neither final_output nor a final_output step"
        )
        step = "add final_output, or the status that the run really ended with"
        yield Fault("bundle.no_output", message, ("status",), next_step=step)


def _messages(bundle: Any, steps: list[Any]) -> Iterator[Fault]:
    messages = _get(bundle, "input_messages")
    known = len(messages) if isinstance(messages, list) else 0
    received = [index for index, step in enumerate(steps) if _get(step, "type") == "message_received"]
    for number, index in enumerate(received[known:], known + 1):
        if _get(steps[index], "content") is None:
            message = f"message_received step {number} has no content, and input_messages has only {known}"
            step = "give the step its content, or add the message to input_messages"
            yield Fault("bundle.message_without_content", message, ("script", index), next_step=step)


def _call_ids(steps: list[Any]) -> Iterator[Fault]:
    """Find calls that share an id, and steps that name a call which no step before them makes."""
    calls: dict[str, int] = {}
    for index, step in enumerate(steps):
        call_id = _get(step, "call_id")  # a step of an unknown type may be a call with its type misspelt
        if isinstance(call_id, str) and _get(step, "type") not in REFERRING:
            first = calls.setdefault(call_id, index)
            if first != index and _get(step, "type") == "tool_call":
                message = f"two calls have the call_id {call_id!r}; the first is /script/{first}"
                yield Fault(
                    "bundle.duplicate_call_id",
                    message,
                    ("script", index, "call_id"),
                    next_step="give every call a call_id of its own",
                )
    yield from _unknown_calls(steps, calls)


def _unknown_calls(steps: list[Any], calls: dict[str, int]) -> Iterator[Fault]:
    """Find names of calls that come later, or nowhere. `calls` holds the place of each call by its id."""
    guesses = 0
    for index, step in enumerate(steps):
        for place, name in _references(step):
            at = calls.get(name, -1)
            if 0 <= at < index:
                continue
            later = f"; the one that has it, /script/{at}, comes later" if at >= 0 else ""
            guesses += 1
            # Looking for a similar name is slow: a script of a thousand wrong steps gets a guess for the first ones.
            near = () if later or guesses > MAX_PROBLEMS // 5 else list(calls)[:200]
            yield Fault(
                "bundle.unknown_call",
                f"no earlier tool_call has the call_id {name!r}{later}",
                ("script", index, *place),
                suggestion=closest(name, near),
                next_step="put the step after its call, and give it the call_id of that call",
            )


def _references(step: Any) -> Iterator[tuple[DataPath, str]]:
    """The earlier calls that a step names, each with its place in the step."""
    sent_by = _get(step, "sent_by")
    named: list[tuple[DataPath, Any]] = [(("parent_call_id",), _get(step, "parent_call_id"))]
    named += [(("sent_by", at), each) for at, each in enumerate(sent_by if isinstance(sent_by, list) else ())]
    if _get(step, "type") in REFERRING:
        named.append((("call_id",), _get(step, "call_id")))
    return ((place, name) for place, name in named if isinstance(name, str))
