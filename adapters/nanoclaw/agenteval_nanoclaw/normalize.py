"""From a bundle to the normalized trace (SPEC 16)."""

from collections.abc import Mapping
from typing import Any

from agenteval.adapters import AdapterContext
from agenteval.spec import TestCase
from agenteval.trace import (
    CAPABILITY_FLAGS,
    AdapterInfo,
    Capabilities,
    Event,
    Trace,
    TraceBuilder,
    TraceMessage,
    TraceScenario,
)
from agenteval_nanoclaw.bundle import (
    AnyStep,
    ErrorStep,
    FinalOutputStep,
    MemoryStep,
    MessageReceivedStep,
    ReplayBundle,
    ToolCallStep,
    ToolResultStep,
)
from agenteval_nanoclaw.contradictions import notes_on, task_id_of, warnings_about
from agenteval_nanoclaw.fixtures import Answer
from agenteval_nanoclaw.timestamps import in_utc

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
