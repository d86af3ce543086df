"""From a bundle to the trace; where test and recording describe different situations, and where a recording contradicts itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.json_values import moment, seconds_between
from agenteval.contracts.testcase import FixtureError, TestCase
from agenteval.contracts.trace import (
    CAPABILITY_FLAGS,
    AdapterInfo,
    Capabilities,
    Event,
    EventType,
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

SLACK_SECONDS = 60
"""The most seconds between two times that count as equal: a time written by hand often has no seconds."""
LONGEST_QUOTE = 80
NOT_JUDGED = "assertions that require it are not judged"
ACTORS = {"assistant": "agent", "agent": "agent", "tool": "tool", "system": "system"}
"""The actor of a received message, by its role; any other role belongs to the user, or the scheduler."""


def normalize(
    bundle: ReplayBundle,
    answers: Mapping[int, Answer],
    case: TestCase,
    context: AdapterContext,
    adapter: AdapterInfo,
) -> Trace:
    """The trace of a bundle. `answers` are what fixtures say, by index of the step in the script.

    Where the recording and the test describe different situations, `context` is warned; the recording's is judged.
    """
    recorded = bundle.scenario
    task_id = recorded.task_id or (recorded.scheduler_context or {}).get("task_id")
    task_id = task_id if isinstance(task_id, str) else None
    for warning in situation_differs(case, replace(recorded, task_id=task_id), bundle.input_messages):
        context.warn(warning)
    scenario = TraceScenario(
        trigger=recorded.trigger,
        group_id=recorded.group_id or case.scenario.group_id,
        session_id=recorded.session_id or case.scenario.session_id,
        task_id=task_id,
        scheduler_context=recorded.scheduler_context,
    )
    builder = TraceBuilder(adapter=adapter, capabilities=_capabilities(bundle), scenario=scenario)
    script = _Script(bundle, builder)
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
    trace.notes += _contradictions(bundle, trace, script)
    return trace


def situation_differs(
    case: TestCase,
    recorded: RecordedScenario | TraceScenario,
    messages: Sequence[RecordedMessage | TraceMessage] | None,
) -> Iterator[str]:
    """List the points in which the recorded situation differs from the test's; `messages` is None if they are not recorded."""
    given = case.scenario
    known, found_known = given.scheduler_context or {}, recorded.scheduler_context or {}
    pairs = [
        ("scenario's trigger", given.trigger, recorded.trigger),
        ("scenario's group_id", given.group_id, recorded.group_id),
        ("scenario's session_id", given.session_id, recorded.session_id),
        ("scenario's task_id", known.get("task_id"), recorded.task_id),
    ]
    differing = [pair for pair in pairs if None not in pair and pair[1] != pair[2]]
    differing += [
        (f"scheduler_context's {name}", known[name], found_known[name])
        for name in schedules_differ(known, found_known)
    ]
    for name, said, found in differing:
        yield f"the {name} is {said!r} in the test and {found!r} in the recording"
    if messages is None:
        return
    if len(given.input_messages) != len(messages):
        yield f"the test has {len(given.input_messages)} input_messages and the recording {len(messages)}"
        return
    for number, (ours, theirs) in enumerate(zip(given.input_messages, messages, strict=True), 1):
        if (ours.role, ours.content) != (theirs.role, theirs.content):
            in_test, in_recording = (
                f"{each.role}: {clipped(each.content, LONGEST_QUOTE)!r}" for each in (ours, theirs)
            )
            yield f"input message {number} is {in_test} in the test and {in_recording} in the recording"
            return


def schedules_differ(given: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    """The names of what both schedulers knew, and not the same; a task has no other name than its own.

    Points in time are compared as such, unless only one of them has an offset; numbers as their text; capitals and blanks
    do not matter.
    """
    for name, said in given.items():
        found = recorded.get(name)
        if name == "task_id" or said is None or found is None:
            continue
        spelled, as_spelled = (
            value if isinstance(value, dict | list) else " ".join(str(value).split()).casefold()
            for value in (said, found)
        )
        one, other = moment(said), moment(found)
        same_time = one and other and abs(seconds_between(one, other) or 0) < SLACK_SECONDS
        if spelled != as_spelled and not same_time:
            yield name


def _contradictions(bundle: ReplayBundle, trace: Trace, script: "_Script") -> Iterator[str]:
    """Find parts of a bundle that contradict each other, with the one that is judged."""
    flags = trace.capabilities
    for flag, *types in (
        ("supports_tool_trace", "tool_call", "tool_result"),
        ("supports_memory_events", "memory_read", "memory_write"),
    ):
        if not getattr(flags, flag) and (count := len(trace.of_type(*types))):
            held = f"the recording holds {count} {' and '.join(types)} events"
            yield f"{flag} is false, but {held}: {NOT_JUDGED}, others judge these events"
    if trace.scenario.trigger == "scheduler" and not flags.supports_scheduler_context:
        yield f"supports_scheduler_context is false, but the trigger is the scheduler: {NOT_JUDGED}"
    yield from _other_tools(bundle, script)
    if trace.status == "success" and not trace.output.strip():
        yield "the status is success, but the final output is empty"
    last = script.last_output
    if bundle.final_output and last and last.content != bundle.final_output.content:
        yield "final_output differs from the last final_output step: final_output is judged"


def _capabilities(bundle: ReplayBundle) -> Capabilities:
    """Return the capabilities that the bundle states; those that it does not state follow from its content."""
    stated = {name: getattr(bundle.capabilities, name) for name in CAPABILITY_FLAGS}
    held = {
        "supports_memory_events": any(isinstance(step, MemoryStep) for step in bundle.script),
        "supports_scheduler_context": bool(bundle.scenario.scheduler_context),
    }
    return Capabilities(**{name: held[name] if flag is None else flag for name, flag in stated.items()})


def _other_tools(bundle: ReplayBundle, script: "_Script") -> Iterator[str]:
    for step in bundle.script:
        if not isinstance(step, ToolResultStep | ErrorStep) or not step.tool:
            continue
        tool = script.tools.get(step.call_id or "", step.tool)
        if tool != step.tool:
            yield f"the answer to call {step.call_id!r} names the tool {step.tool!r}: {tool!r} is judged"


class _Script:
    """Turns the steps of a script into events, one after the other."""

    def __init__(self, bundle: ReplayBundle, builder: TraceBuilder) -> None:
        self.messages = iter(bundle.input_messages)
        self.builder = builder
        self.last_output: FinalOutputStep | None = None
        self.tools = {step.call_id: step.tool for step in bundle.script if isinstance(step, ToolCallStep)}
        self.open: dict[str, Event] = {}
        """The last call of each tool, while nothing has answered it."""
        # A script without messages began with those of `input_messages`, which are no steps of it.
        if not any(isinstance(step, MessageReceivedStep) for step in bundle.script):
            for message in self.messages:
                self._message(message, MessageReceivedStep(type="message_received", ts=message.ts))

    def add(self, step: AnyStep, answer: Answer | None) -> None:
        """Add the events of one step; `answer` is the answer of its fixture, if it has one."""
        if isinstance(step, ToolCallStep):
            data: dict[str, Any] = {"tool": step.tool, "call_id": step.call_id, "args": step.args}
            data |= _stated(step, "recorded_tool", "parent_call_id", "said")
            parent = self.builder.event_of_call(step.parent_call_id)
            self.open[step.tool] = self._event("tool_call", step, data, parent=parent)
        elif isinstance(step, ToolResultStep):
            data = {"tool": self._close(step.call_id), "call_id": step.call_id}
            data["success"], data["result"] = step.success, step.result
            if answer:
                data["success"], data["result"] = answer.success, answer.result
            self._event("tool_result", step, data | _stated(step, "fixture_id"), "tool")
            if answer and answer.error:
                self._error(step, answer.error, step.call_id, "tool")
        elif isinstance(step, ErrorStep):
            of_tool = "tool" if step.tool or step.call_id else "runtime"
            self._error(step, step, step.call_id, step.scope or of_tool)
        elif isinstance(step, MessageReceivedStep):
            self._message(self._received(step), step)
        elif isinstance(step, MemoryStep):
            data = {"group_id": step.group_id or self.builder.scenario.group_id}
            data |= _stated(
                step, "source", "path", "content", "change_summary", "call_id", "names_only", "implicit"
            )
            self._event(step.type, step, data)
        else:
            self.last_output = step
            data = {"role": step.role, "content": step.content, **_stated(step, "to", "sent_by", "said")}
            self._event("final_output", step, data)

    def _event(
        self,
        kind: EventType,
        step: AnyStep,
        data: dict[str, Any],
        actor: str = "agent",
        parent: str | None = None,
    ) -> Event:
        return self.builder.add(
            kind,
            data,
            actor=actor,
            ts=in_utc(step.ts) if step.ts else None,
            group_id=step.group_id,
            session_id=step.session_id,
            task_id=step.task_id,
            agent_id=step.agent_id,
            parent_event_id=parent,
        )

    def _received(self, step: MessageReceivedStep) -> RecordedMessage:
        """Return the message of a step: the next of `input_messages`, unless the step has a content of its own."""
        message = next(self.messages, None)
        if message is None or step.content is not None:
            return RecordedMessage(role=step.role, content=step.content or "", sender=step.sender)
        return message

    def _message(self, message: RecordedMessage, step: MessageReceivedStep) -> None:
        data = {"role": message.role, "content": message.content}
        if message.sender:
            data["sender"] = message.sender
        by_scheduler = self.builder.scenario.trigger == "scheduler"
        actor = ACTORS.get(message.role) or ("scheduler" if by_scheduler else "user")
        self._event("message_received", step, data, actor)

    def _error(self, step: AnyStep, said: ErrorStep | FixtureError, call_id: str | None, scope: str) -> None:
        """Add the event of an error. Its tool is the tool of the call, even if the step names another one."""
        tool, parent = said.tool if isinstance(said, ErrorStep) else None, None
        if call_id:
            tool = self._close(call_id)
        elif tool and scope == "tool" and (event := self.open.pop(tool, None)):
            parent = event.event_id
        data = {
            "scope": scope,
            "tool": tool,
            "call_id": call_id,
            "error_type": said.error_type,
            "message": said.message or "",
            "retryable": bool(said.retryable),
        }
        self._event("error", step, data, "tool" if scope == "tool" else "system", parent)

    def _close(self, call_id: str) -> str:
        """Return the tool of a call, and note that the call is answered."""
        tool = self.tools[call_id]
        if tool in self.open and self.open[tool].data["call_id"] == call_id:
            del self.open[tool]
        return tool


def _stated(step: AnyStep, *names: str) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(step, name)) is not None}
