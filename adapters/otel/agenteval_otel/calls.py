"""The tool calls of a run, each once.

A call is known twice, by the model's answer that asks for it and by the span of its execution, and instrumentations
record either or both. The two are one call: they share the call id, or else tool and arguments.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.conventions import messages_of, tool_of
from agenteval_otel.otlp import Span
from agenteval_otel.runs import Run


@dataclass(slots=True, kw_only=True)
class Call:
    """A tool call: what asked for it, what executed it, and what answered it, as far as they are recorded."""

    call_id: str
    tool: str
    args: Any
    agent: str
    asked_at: int
    named: bool = True
    """Whether the recording gives its id."""
    chat: Span | None = None
    """The call of a model whose answer asks for it."""
    span: Span | None = None
    response: Any = None
    answered_at: int | None = None


def calls_of(run: Run) -> list[Call]:
    """All tool calls, each once, in the order in which they were asked for or executed."""
    asked = [call for chat in run.chats for call in _asked_for(run, chat)]
    _answer(run, asked)
    calls: list[Call] = []
    open_calls = list(asked)
    for span in run.tools:
        call = _matching(span, open_calls, run.tools)
        if call is None:
            call = Call(
                call_id=str(span.attributes.get(gen_ai.CALL_ID) or span.span_id),
                tool=tool_of(span),
                args=_arguments(span),
                agent=run.agent_of(span),
                asked_at=span.start,
            )
            calls.append(call)
        else:
            open_calls.remove(call)
            if call.args is None:
                call.args = _arguments(span)
            if not call.named:
                call.call_id = str(span.attributes.get(gen_ai.CALL_ID) or call.call_id)
        call.span = span
    calls += asked
    calls.sort(key=lambda call: call.span.start if call.span else call.asked_at)
    _number(calls)
    return calls


def _asked_for(run: Run, chat: Span) -> Iterator[Call]:
    for message in messages_of(chat, gen_ai.OUTPUT):
        for number, (call_id, tool, args) in enumerate(message.calls, 1):
            yield Call(
                call_id=call_id or f"{chat.span_id}.{number}",
                tool=tool,
                args=args,
                agent=run.agent_of(chat),
                asked_at=chat.end,
                named=bool(call_id),
                chat=chat,
            )


def _answer(run: Run, calls: list[Call]) -> None:
    """Give each call the response that a later call of a model repeats, or the same answer of the model itself.

    Some services number the calls of each answer anew: of several with one id the last response is the last call's.
    """
    by_id: dict[str, list[Call]] = {}
    for call in calls:
        by_id.setdefault(call.call_id, []).append(call)
    for chat in run.chats:
        agent = run.agent_of(chat)
        for name, time in ((gen_ai.INPUT, chat.start), (gen_ai.OUTPUT, chat.end)):
            responses: dict[str, list[Any]] = {}
            for call_id, response in (
                each for message in messages_of(chat, name) for each in message.responses
            ):
                responses.setdefault(call_id, []).append(response)
            for call_id, given in responses.items():
                asked = [call for call in by_id.get(call_id, ()) if call.asked_at <= time]
                asked = [call for call in asked if call.agent == agent] or asked
                for call, response in zip(reversed(asked), reversed(given), strict=False):
                    if call.answered_at is None:
                        call.response, call.answered_at = response, time


def _matching(span: Span, calls: list[Call], spans: list[Span]) -> Call | None:
    """The call that a span executed, of several spans: by its id, else by tool and arguments, else by tool alone.

    Frameworks may give calls ids of their own: those with the same arguments are one, unless another span has the id of
    the call. They may fill in arguments, or write them in another form: these tell calls of a tool apart, and make no
    other call of one.
    """
    call_id = span.attributes.get(gen_ai.CALL_ID)
    if call_id and (same := next((call for call in calls if call.call_id == call_id), None)):
        return same
    ids = {each.attributes.get(gen_ai.CALL_ID) for each in spans}
    same_tool = [
        call
        for call in calls
        if call.tool == tool_of(span)
        and call.chat is not None
        and call.chat.start <= span.start  # what streams in may be executed before the answer ends
        and call.call_id not in ids
    ]
    if gen_ai.ARGUMENTS in span.attributes:
        args = _arguments(span)
        if same := next((call for call in same_tool if call.args == args), None):
            return same
        executed = [_arguments(each) for each in spans]
        same_tool = [call for call in same_tool if call.args not in executed]
    return next((call for call in same_tool if not (call_id and call.named)), None)


def _arguments(span: Span) -> Any:
    return gen_ai.data_of(gen_ai.value_of(span, gen_ai.ARGUMENTS))


def _number(calls: list[Call]) -> None:
    """Make call ids unique: a retry by the client may repeat one."""
    seen: dict[str, int] = {}
    for call in calls:
        times = seen[call.call_id] = seen.get(call.call_id, 0) + 1
        if times > 1:
            call.call_id = f"{call.call_id}#{times}"
