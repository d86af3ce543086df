"""The tool calls of a run, each once.

A call is known twice, by the model's answer that asks for it and by the span of its execution, and instrumentations
record either or both. The two are one call: they share the call id, or else tool and arguments.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.conventions import Message, agree, arguments_of, messages_of, tool_of
from agenteval_otel.otlp import Span
from agenteval_otel.runs import Run


@dataclass(slots=True, kw_only=True)
class Call:
    """A tool call: what asked for it, what executed it, and what answered it, as far as they are recorded."""

    call_id: str
    tool: str
    args: Any
    agent: str
    owner: str
    """The id of the span of the agent: several may have one name."""
    asked_at: int
    named: bool = True
    """Whether the recording gives its id."""
    chat: Span | None = None
    """The call of a model whose answer asks for it."""
    span: Span | None = None
    guessed: bool = False
    """Whether the span may as well be that of another call of the tool, with other arguments."""
    response: Any = None
    answered_at: int | None = None


def calls_of(run: Run) -> list[Call]:
    """All tool calls, each once, in the order in which they were asked for or executed."""
    asked = [call for chat in run.chats for call in _asked_for(run, chat)]
    _answer(run, asked)
    calls: list[Call] = []
    open_calls = list(asked)
    ids = Counter(call.call_id for call in asked)
    for span in run.tools:
        call = _matching(span, open_calls, run, ids)
        if call is None:
            call = Call(
                call_id=str(span.attributes.get(gen_ai.CALL_ID) or span.span_id),
                tool=tool_of(span),
                args=arguments_of(span),
                agent=run.agent_of(span),
                owner=run.owner_of(span),
                asked_at=span.start,
            )
            calls.append(call)
        else:
            open_calls.remove(call)
            if call.args is None:
                call.args = arguments_of(span)
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
                owner=run.owner_of(chat),
                asked_at=chat.end,
                named=bool(call_id),
                chat=chat,
            )


def _answer(run: Run, calls: list[Call]) -> None:
    """Give each call the response that a later call of a model repeats, or the same answer of the model itself.

    Some services number the calls of each answer anew: of several with one id a response is that of the last one which
    is asked for before it.
    """
    by_id: dict[str, list[Call]] = {}
    for call in calls:
        by_id.setdefault(call.call_id, []).append(call)
    for chat in run.chats:
        owner = run.owner_of(chat)
        for name, time in ((gen_ai.INPUT, chat.start), (gen_ai.OUTPUT, chat.end)):
            for call_id, later, response in _responses(messages_of(chat, name)):
                asked = [call for call in by_id.get(call_id, ()) if call.asked_at <= time]
                asked = [call for call in asked if call.owner == owner] or asked
                if later < len(asked) and asked[-1 - later].answered_at is None:
                    asked[-1 - later].response, asked[-1 - later].answered_at = response, time


def _responses(messages: list[Message]) -> Iterator[tuple[str, int, Any]]:
    """The responses in messages, the last one first: call id, how many calls with this id follow, response.

    A call follows that a later message asks for, or of which a later response tells.
    """
    asked: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for message in reversed(messages):
        for call_id, response in reversed(message.responses):
            yield call_id, max(asked[call_id], given[call_id]), response
            given[call_id] += 1
        asked.update(call_id for call_id, _, _ in message.calls)


def _matching(span: Span, calls: list[Call], run: Run, ids: Counter[str]) -> Call | None:
    """The open call that a span executed: by its id, else by tool and arguments, else by tool alone.

    Frameworks may give calls ids of their own: those with the same arguments are one, unless another span has the id of
    the call. They may fill in arguments, or write them in another form: these tell calls of a tool apart, and make no
    other call of one. `ids` counts all calls: an id that several have tells calls of different tools not apart.
    """
    call_id, tool = span.attributes.get(gen_ai.CALL_ID), tool_of(span)
    if call_id and (same := [call for call in calls if call.call_id == call_id]):
        if of_tool := [call for call in same if call.tool == tool]:
            return _likeliest(span, of_tool, run)
        if ids[call_id] == 1:
            return same[0]
    executing = {each.attributes.get(gen_ai.CALL_ID) for each in run.tools}
    same_tool = [
        call
        for call in calls
        if call.tool == tool
        and call.chat is not None
        and call.chat.start <= span.start  # what streams in may be executed before the answer ends
        and call.call_id not in executing
    ]
    args = arguments_of(span)
    if args is not None:
        if equal := [call for call in same_tool if call.args == args]:
            return _likeliest(span, equal, run)
        executed = [arguments_of(each) for each in run.tools]
        same_tool = [call for call in same_tool if call.args not in executed]
        if near := [call for call in same_tool if isinstance(call.args, dict) and agree(call.args, args)]:
            return _likeliest(span, near, run)
    return _likeliest(span, [call for call in same_tool if not (call_id and call.named)], run)


def _likeliest(span: Span, calls: list[Call], run: Run) -> Call | None:
    """Of calls that a span may have executed the most likely one.

    It has the span's arguments, is of the same agent, has the same result, or one at all, and was asked for last.
    """
    if not calls:
        return None
    args, owner = arguments_of(span), run.owner_of(span)
    result = gen_ai.data_of(gen_ai.value_of(span, gen_ai.RESULT))

    def rank(call: Call) -> tuple[Any, ...]:
        asked = call.chat.start if call.chat else 0
        answered = call.answered_at is not None and call.answered_at >= span.start
        same_result = answered and call.response == result
        alike = (call.args == args, agree(call.args, args), call.owner == owner)
        return asked <= span.start, *alike, same_result, answered, asked

    best = max(calls, key=rank)
    best.guessed = any(rank(call) == rank(best) and call.args != best.args for call in calls)
    return best


def _number(calls: list[Call]) -> None:
    """Make call ids unique: a retry by the client may repeat one."""
    seen: dict[str, int] = {}
    for call in calls:
        times = seen[call.call_id] = seen.get(call.call_id, 0) + 1
        if times > 1:
            call.call_id = f"{call.call_id}#{times}"
