"""The tool calls of a run, each once.

A call is known twice, by the model's answer that asks for it and by the span of its execution, and instrumentations
record either or both. The two are one call: they share the call id, or else tool and arguments.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agenteval.contracts.json_values import args_key
from agenteval_otel import conventions as gen_ai
from agenteval_otel.conventions import agree, arguments_of, call_id_of, messages_of, tool_of
from agenteval_otel.messages import UNNAMED, Message
from agenteval_otel.otlp import Span
from agenteval_otel.runs import Run


@dataclass(slots=True, kw_only=True, eq=False)
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
    failed: bool | None = None
    """Whether the response tells of a failure; None when it does not say."""
    answered_at: int | None = None


def calls_of(run: Run) -> list[Call]:
    """All tool calls, each once, in the order in which they were asked for or executed."""
    asked = [call for chat in run.chats for call in _asked_for(run, chat)]
    _answer(run, asked)
    executions = _Executions(run, asked)
    calls: list[Call] = []
    for span in run.tools:
        call = executions.call_of(span)
        if call is None:
            call = Call(
                call_id=call_id_of(span) or span.span_id,
                tool=tool_of(span),
                args=arguments_of(span),
                agent=run.agent_of(span),
                owner=run.owner_of(span),
                asked_at=span.start,
            )
            calls.append(call)
        else:
            if call.args is None:
                call.args = arguments_of(span)
            if call.tool == UNNAMED:
                call.tool = tool_of(span)
            if not call.named:
                call.call_id = call_id_of(span) or call.call_id
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
            for call_id, later, response, failed in _responses(messages_of(chat, name)):
                asked = [call for call in by_id.get(call_id, ()) if call.asked_at <= time]
                asked = [call for call in asked if call.owner == owner] or asked
                if later < len(asked) and asked[-1 - later].answered_at is None:
                    call = asked[-1 - later]
                    call.response, call.answered_at, call.failed = response, time, failed


def _responses(messages: list[Message]) -> Iterator[tuple[str, int, Any, bool | None]]:
    """The responses in messages, the last one first: call id, how many calls with this id follow, response, failure.

    A call follows that a later message asks for, or of which a later response tells.
    """
    asked: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for message in reversed(messages):
        for call_id, response, failed in reversed(message.responses):
            yield call_id, max(asked[call_id], given[call_id]), response, failed
            given[call_id] += 1
        asked.update(call_id for call_id, _, _ in message.calls)


class _Executions:
    """Finds the calls that spans executed, among those that models asked for and that no span is of yet."""

    def __init__(self, run: Run, asked: Sequence[Call]) -> None:
        self._run = run
        self._asked = asked
        self._by_id: dict[str, list[Call]] = {}
        for call in asked:
            self._by_id.setdefault(call.call_id, []).append(call)
        self._ids = set(map(call_id_of, run.tools))
        executed = {args_key(arguments_of(span)) for span in run.tools}
        self._told = {call for call in asked if args_key(call.args) in executed}
        """Those of which a span has the arguments."""

    def call_of(self, span: Span) -> Call | None:
        """The call that a span executed: by its id, else by tool and arguments, else by tool alone.

        Frameworks may give calls ids of their own: those with the same arguments are one, unless another span has the id
        of the call. They may fill in arguments, or write them in another form: these tell calls of a tool apart, and make
        no other call of one. An id that several calls have tells calls of different tools not apart.
        """
        call_id, tool = call_id_of(span), tool_of(span)
        of_id = self._by_id.get(call_id, []) if call_id else []
        if same := [call for call in of_id if call.span is None]:
            if of_tool := [call for call in same if call.tool == tool]:
                return _likeliest(span, of_tool, self._run)
            if len(of_id) == 1:
                return same[0]
        same_tool = list(self._open(span))
        args = arguments_of(span)
        if args is not None:
            if equal := [call for call in same_tool if call.args == args]:
                return _likeliest(span, equal, self._run)
            same_tool = [call for call in same_tool if call not in self._told]
            if near := [call for call in same_tool if isinstance(call.args, dict) and agree(call.args, args)]:
                return _likeliest(span, near, self._run)
        return _likeliest(span, [call for call in same_tool if not (call_id and call.named)], self._run)

    def _open(self, span: Span) -> Iterator[Call]:
        """The calls of the span's tool that it may be of, by time and by what other spans say."""
        tool = tool_of(span)
        for call in self._asked:
            if call.span is not None or call.tool != tool or call.chat is None or call.call_id in self._ids:
                continue
            if call.chat.start <= span.start:  # what streams in may be executed before the answer ends
                yield call


def _likeliest(span: Span, calls: list[Call], run: Run) -> Call | None:
    """Of calls that a span may have executed the most likely one.

    It has the span's arguments, is of the same agent, has the same result, or one at all, and was asked for last.
    """
    if not calls:
        return None
    args, owner = arguments_of(span), run.owner_of(span)
    result = gen_ai.result_in(span)

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
