"""Whether two schedulers knew the same: points in time, time zones and recurrences, however they are written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.json_values import moment, time_zone
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import (
    CAPABILITY_FLAGS,
    AdapterInfo,
    Capabilities,
    Event,
    Trace,
    TraceBuilder,
    TraceMessage,
    TraceScenario,
)
from agenteval.text.fitting import clipped
from agenteval_nanoclaw.bundle import (
    AnyStep,
    ErrorStep,
    FinalOutputStep,
    MemoryStep,
    MessageReceivedStep,
    RecordedMessage,
    RecordedScenario,
    ReplayBundle,
    ToolCallStep,
    ToolResultStep,
    in_utc,
)
from agenteval_nanoclaw.fixtures import Answer

SLACK = timedelta(minutes=1)
"""How far times may be apart that mean the same: who writes one by hand leaves the seconds out."""
SEASONS = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC))
"""Zones with the same hours at both are the same: summer time is half a year away from either."""


def schedules_differ(told: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    """The names of what both of them say, and not the same; a task has no other name than its own."""
    one, other = (time_zone(each.get("timezone")) for each in (told, recorded))
    for name, said in told.items():
        found = recorded.get(name)
        if name == "task_id" or said is None or found is None or _spelled(said) == _spelled(found):
            continue
        if name == "timezone" and one and other and _hours(one) == _hours(other):
            continue
        if not _same_time(moment(said, one or other), moment(found, other or one)):
            yield name


def _spelled(value: Any) -> Any:
    """Numbers as their text; capitals and blanks of texts do not matter."""
    return value if isinstance(value, dict | list) else " ".join(str(value).split()).casefold()


def _hours(zone: tzinfo) -> list[timedelta | None]:
    return [each.astimezone(zone).utcoffset() for each in SEASONS]


def _same_time(said: datetime | None, found: datetime | None) -> bool:
    """Whether two times are no other ones; of one with its zone and one without, nobody knows."""
    if said is None or found is None:
        return False
    return (said.tzinfo is None) != (found.tzinfo is None) or abs(said - found) < SLACK


EVENTS_OF_FLAG = {
    "supports_tool_trace": ("tool_call", "tool_result"),
    "supports_memory_events": ("memory_read", "memory_write"),
}
LONGEST_QUOTE = 80
NOT_JUDGED = "assertions that require it are not judged"
OTHERS_JUDGE = f"{NOT_JUDGED}, others judge these events"


def warnings_about(bundle: ReplayBundle, case: TestCase) -> Iterator[str]:
    """Where the recording shows another situation than the test describes. The recording's is judged."""
    recorded = replace(bundle.scenario, task_id=task_id_of(bundle))
    return situation_differs(case, recorded, bundle.input_messages)


def situation_differs(
    case: TestCase,
    recorded: RecordedScenario | TraceScenario,
    messages: Sequence[RecordedMessage | TraceMessage] | None,
) -> Iterator[str]:
    """Where what is recorded is another situation than the test describes; no `messages` where it does not tell."""
    told = case.scenario
    pairs = [
        ("trigger", told.trigger, recorded.trigger),
        ("group_id", told.group_id, recorded.group_id),
        ("session_id", told.session_id, recorded.session_id),
        ("task_id", (told.scheduler_context or {}).get("task_id"), recorded.task_id),
    ]
    for name, said, found in pairs:
        if said is not None and found is not None and said != found:
            yield f"the scenario's {name} is {said!r} in the test and {found!r} in the recording"
    if told.scheduler_context and recorded.scheduler_context:
        for name in schedules_differ(told.scheduler_context, recorded.scheduler_context):
            said, found = told.scheduler_context[name], recorded.scheduler_context[name]
            yield f"the scheduler_context's {name} is {said!r} in the test and {found!r} in the recording"
    said_messages = [(message.role, message.content) for message in told.input_messages]
    found_messages = [(message.role, message.content) for message in messages or ()]
    if messages is not None and said_messages != found_messages:
        yield _messages_differ(said_messages, found_messages)


def task_id_of(bundle: ReplayBundle) -> str | None:
    """The task that the recording shows: the scenario's, else that of its scheduler context."""
    task_id = bundle.scenario.task_id or (bundle.scenario.scheduler_context or {}).get("task_id")
    return task_id if isinstance(task_id, str) else None


def notes_on(bundle: ReplayBundle, trace: Trace, other_tools: Mapping[str, str]) -> list[str]:
    """Where the recording says one thing of itself and shows another.

    `other_tools` are those that answers name, by the id of the event, and that are not the tools of their calls.
    """
    return [
        *_missing_flags(trace),
        *_counts(bundle, trace),
        *_other_tools(trace, other_tools),
        *_empty_output(trace),
        *_other_output(bundle),
        *_other_task(bundle),
    ]


def _messages_differ(said: Sequence[tuple[str, str]], found: Sequence[tuple[str, str]]) -> str:
    if len(said) != len(found):
        return f"the test has {len(said)} input_messages and the recording {len(found)}"
    number, ours, theirs = next(
        (number, ours, theirs)
        for number, (ours, theirs) in enumerate(zip(said, found, strict=True), 1)
        if ours != theirs
    )
    return f"input message {number} is {_quoted(ours)} in the test and {_quoted(theirs)} in the recording"


def _quoted(message: tuple[str, str]) -> str:
    role, content = message
    return f"{role}: {clipped(content, LONGEST_QUOTE)!r}"


def _missing_flags(trace: Trace) -> Iterator[str]:
    for flag, types in EVENTS_OF_FLAG.items():
        count = len(trace.of_type(*types))
        if count and not getattr(trace.capabilities, flag):
            kinds = " and ".join(types)
            yield f"{flag} is false, but the recording holds {count} {kinds} events: {OTHERS_JUDGE}"
    if trace.scenario.trigger == "scheduler" and not trace.capabilities.supports_scheduler_context:
        yield f"supports_scheduler_context is false, but the trigger is the scheduler: {NOT_JUDGED}"


def _counts(bundle: ReplayBundle, trace: Trace) -> Iterator[str]:
    for name in ("retry_count", "tool_call_count"):
        stated, counted = getattr(bundle.metrics, name), getattr(trace.metrics, name)
        if stated is not None and stated != counted:
            yield f"the recording states {name} {stated}, its events show {counted}"


def _other_tools(trace: Trace, other_tools: Mapping[str, str]) -> Iterator[str]:
    for event in trace.events:
        if named := other_tools.get(event.event_id):
            call = f"its call {event.data['call_id']!r} is of {event.data['tool']!r}"
            yield f"{event.event_id} names the tool {named!r}, but {call}: the call is judged"


def _empty_output(trace: Trace) -> Iterator[str]:
    if trace.status == "success" and not trace.output.strip():
        yield "the status is success, but the final output is empty"


def _other_output(bundle: ReplayBundle) -> Iterator[str]:
    steps = [step for step in bundle.script if isinstance(step, FinalOutputStep)]
    if bundle.final_output and steps and steps[-1].content != bundle.final_output.content:
        yield "final_output differs from the last final_output step: final_output is judged"


def _other_task(bundle: ReplayBundle) -> Iterator[str]:
    stated = bundle.scenario.task_id
    known = (bundle.scenario.scheduler_context or {}).get("task_id")
    if stated is not None and known is not None and stated != known:
        yield f"scenario.task_id is {stated!r}, but scheduler_context.task_id is {known!r}"


ACTORS = {"assistant": "agent", "tool": "tool", "system": "system"}
"""Who acts when a message is received, by its role; any other role is the user's, or the scheduler's."""


def normalize(
    bundle: ReplayBundle,
    answers: Mapping[int, Answer],
    case: TestCase,
    context: AdapterContext,
    adapter: AdapterInfo,
) -> Trace:
    """The trace of a bundle. `answers` are what fixtures say, by index of the step in the script.

    Where the recording and the test describe different situations, `context` is warned.
    """
    for warning in warnings_about(bundle, case):
        context.warn(warning)
    builder = TraceBuilder(
        adapter=adapter, capabilities=_capabilities(bundle), scenario=_scenario(bundle, case)
    )
    script = _Script(bundle, builder)
    if not any(isinstance(step, MessageReceivedStep) for step in bundle.script):
        script.add_messages()
    for index, step in enumerate(bundle.script):
        script.add(step, answers.get(index))
    output = bundle.final_output or script.last_output
    trace = builder.build(
        test_case_id=case.id,
        test_run_id=context.run_id,
        input_messages=[TraceMessage(role=m.role, content=m.content) for m in bundle.input_messages],
        final_output=TraceMessage(role=output.role, content=output.content) if output else None,
        status=bundle.status,
        timing_ms_total=bundle.metrics.timing_ms_total,
        token_usage=bundle.metrics.token_usage,
        cost_usd=bundle.metrics.cost_usd,
        unseen=bundle.unseen,
    )
    trace.notes += notes_on(bundle, trace, script.other_tools)
    return trace


def _capabilities(bundle: ReplayBundle) -> Capabilities:
    """What the bundle states that it can show; where it does not, what it holds."""
    stated = {name: getattr(bundle.capabilities, name) for name in CAPABILITY_FLAGS}
    held = {
        "supports_memory_events": any(isinstance(step, MemoryStep) for step in bundle.script),
        "supports_scheduler_context": bool(bundle.scenario.scheduler_context),
    }
    return Capabilities(**{name: held[name] if flag is None else flag for name, flag in stated.items()})


def _scenario(bundle: ReplayBundle, case: TestCase) -> TraceScenario:
    recorded = bundle.scenario
    return TraceScenario(
        trigger=recorded.trigger,
        group_id=recorded.group_id or case.scenario.group_id,
        session_id=recorded.session_id or case.scenario.session_id,
        task_id=task_id_of(bundle),
        scheduler_context=recorded.scheduler_context,
    )


class _Script:
    """Turns the steps of a script into events, one after the other."""

    def __init__(self, bundle: ReplayBundle, builder: TraceBuilder) -> None:
        self.messages = bundle.input_messages
        self.builder = builder
        self.last_output: FinalOutputStep | None = None
        self.received = 0
        self.calls: dict[str, ToolCallStep] = {}
        self.open: dict[str, Event] = {}
        """The last call of each tool, while nothing has answered it."""
        self.other_tools: dict[str, str] = {}
        """The tools that answers name and that are not those of their calls, by the id of the event."""

    def add_messages(self) -> None:
        """The messages that the script does not tell of."""
        for message in self.messages:
            data = _message(message.role, message.content, message.sender)
            self.builder.add("message_received", data, actor=self._actor(message.role), ts=_utc(message.ts))

    def add(self, step: AnyStep, answer: Answer | None) -> None:
        """The events of one step; `answer` is what its fixture says."""
        if isinstance(step, ToolCallStep):
            data = {"tool": step.tool, "call_id": step.call_id, "args": step.args}
            data |= _stated(step, "recorded_tool", "parent_call_id")
            self.calls[step.call_id] = step
            parent = self.builder.event_of_call(step.parent_call_id)
            self.open[step.tool] = self._event(step, data, "agent", parent)
        elif isinstance(step, ToolResultStep):
            self._tool_result(step, answer)
        elif isinstance(step, ErrorStep):
            self._error(step)
        elif isinstance(step, MessageReceivedStep):
            self._event(step, *self._message_received(step))
        elif isinstance(step, MemoryStep):
            self._event(step, *self._memory(step))
        else:
            self._event(step, *self._final_output(step))

    def _event(
        self,
        step: AnyStep,
        data: dict[str, Any],
        actor: str,
        parent_event_id: str | None = None,
    ) -> Event:
        return self.builder.add(
            step.type,
            data,
            actor=actor,
            ts=_utc(step.ts),
            group_id=step.group_id,
            session_id=step.session_id,
            task_id=step.task_id,
            agent_id=step.agent_id,
            parent_event_id=parent_event_id,
        )

    def _actor(self, role: str) -> str:
        return ACTORS.get(role) or ("scheduler" if self.builder.scenario.trigger == "scheduler" else "user")

    def _message_received(self, step: MessageReceivedStep) -> tuple[dict[str, Any], str]:
        number, self.received = self.received, self.received + 1
        if step.content is not None:
            return _message(step.role, step.content, step.sender), self._actor(step.role)
        message = self.messages[number]
        return _message(message.role, message.content, message.sender), self._actor(message.role)

    def _tool_result(self, step: ToolResultStep, answer: Answer | None) -> None:
        self._close(step.call_id)
        data: dict[str, Any] = {
            "tool": self.calls[step.call_id].tool,
            "call_id": step.call_id,
            "success": answer.success if answer else step.success,
            "result": answer.result if answer else step.result,
        }
        if step.fixture_id:
            data["fixture_id"] = step.fixture_id
        self._answer(step, data, "tool")
        if answer and answer.error:
            error = answer.error
            self._error(
                ErrorStep(
                    type="error",
                    call_id=step.call_id,
                    error_type=error.error_type,
                    message=error.message,
                    retryable=error.retryable,
                    ts=step.ts,
                    group_id=step.group_id,
                    session_id=step.session_id,
                    task_id=step.task_id,
                    agent_id=step.agent_id,
                )
            )

    def _error(self, step: ErrorStep) -> None:
        call = self.calls.get(step.call_id) if step.call_id else None
        scope = step.scope or ("tool" if step.tool or call else "runtime")
        parent = None
        if call:
            self._close(call.call_id)
        elif step.tool and scope == "tool" and (event := self.open.pop(step.tool, None)):
            parent = event.event_id
        data = {
            "scope": scope,
            "tool": call.tool if call else step.tool,
            "call_id": step.call_id,
            "error_type": step.error_type,
            "message": step.message or "",
            "retryable": bool(step.retryable),
        }
        self._answer(step, data, "tool" if scope == "tool" else "system", parent)

    def _answer(
        self,
        step: ToolResultStep | ErrorStep,
        data: dict[str, Any],
        actor: str,
        parent_event_id: str | None = None,
    ) -> None:
        """The event of an answer. Its tool is that of the call, whatever the step says."""
        event = self._event(step, data, actor, parent_event_id)
        if step.tool and step.tool != data["tool"]:
            self.other_tools[event.event_id] = step.tool

    def _close(self, call_id: str) -> None:
        tool = self.calls[call_id].tool
        if tool in self.open and self.open[tool].data["call_id"] == call_id:
            del self.open[tool]

    def _memory(self, step: MemoryStep) -> tuple[dict[str, Any], str]:
        data: dict[str, Any] = {"group_id": step.group_id or self.builder.scenario.group_id}
        data |= _stated(
            step, "source", "path", "content", "change_summary", "call_id", "names_only", "implicit"
        )
        return data, "agent"

    def _final_output(self, step: FinalOutputStep) -> tuple[dict[str, Any], str]:
        self.last_output = step
        return {"role": step.role, "content": step.content, **_stated(step, "to", "sent_by")}, "agent"


def _message(role: str, content: str, sender: str | None) -> dict[str, Any]:
    data = {"role": role, "content": content}
    return {**data, "sender": sender} if sender else data


def _stated(step: AnyStep, *names: str) -> dict[str, Any]:
    """The optional fields of a step that are given."""
    return {name: value for name in names if (value := getattr(step, name)) is not None}


def _utc(timestamp: str | None) -> str | None:
    return in_utc(timestamp) if timestamp else None
