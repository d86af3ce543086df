"""Reads the spans of an OTLP trace as a run: agents, model calls, tool calls, messages, each once.

A call of a tool is known twice, by the model's answer that asks for it and by the span of its execution, and
instrumentations record either or both. The two are one call: they share the call id, or else tool and arguments.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any

from agenteval.contracts.json_values import args_key
from agenteval_otel import conventions as gen_ai
from agenteval_otel.conventions import agree
from agenteval_otel.dialects import translate
from agenteval_otel.messages import INSTRUCTING, UNNAMED, Message
from agenteval_otel.spans import Span, Spans

MAIN = "main"
NO_ARGUMENTS = args_key(None)
"""The key of a call without recorded arguments."""


@dataclass(slots=True, kw_only=True)
class Run:
    """The spans of one trace that are about generative AI, in order of time."""

    trace_id: str
    spans: list[Span]
    agents: list[Span] = field(default_factory=list)
    """Invocations of agents and workflows, outer ones before those within."""
    chats: list[Span] = field(default_factory=list)
    """Calls of models."""
    tools: list[Span] = field(default_factory=list)
    """Executions of tools."""
    acting: set[str] = field(default_factory=set)
    """The ids of agents that call a model or a tool themselves. A workflow, for instance, only holds other agents."""
    by_id: dict[str, Span] = field(default_factory=dict)
    unread: list[Span] = field(default_factory=list)
    """Unread spans that may be calls of tools."""

    @property
    def start(self) -> int:
        """The time at which it began."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """The time at which the last of its spans ended."""
        return max(span.end for span in self.spans)

    @property
    def outermost(self) -> list[Span]:
        """The invocations that are within no other: a workflow, an agent, or agents in turn, the last to end last."""
        return sorted((span for span in self.agents if self.depth(span) == 1), key=lambda span: span.end)

    @property
    def own_agents(self) -> list[Span]:
        """The agents that no other one called: the outermost that act, in turn, and those that only hold them."""
        holders = ((span, islice(self.around(span), 1, None)) for span in self.agents)
        return [span for span, around in holders if not any(each.span_id in self.acting for each in around)]

    @property
    def own_chats(self) -> list[Span]:
        """The calls of the outermost agent's model: those of agents within it, and of its tools, are not its own."""
        return [chat for chat in self.chats if self.agent_of(chat) == MAIN and not self._in_tool(chat)]

    @property
    def conversation(self) -> str | None:
        """The conversation that it is a turn of."""
        found = (span.attributes.get(gen_ai.CONVERSATION) for span in self.spans)
        return next((str(each) for each in found if each), None)

    @property
    def complete(self) -> bool:
        """True if the file has the span that holds all others."""
        outside = {span.parent_id for span in self.spans if span.parent_id not in self.by_id}
        return len(outside) == 1

    def agent_of(self, span: Span) -> str:
        """Return the agent that a span belongs to: `main` for the outermost one that acts, else its name or id."""
        around = [each for each in self.around(span) if each.span_id in self.acting]
        return MAIN if len(around) < 2 else _name(around[0]) or around[0].span_id

    def owner_of(self, span: Span) -> str:
        """Return the id of the innermost acting agent around a span; empty without one."""
        return next((each.span_id for each in self.around(span) if each.span_id in self.acting), "")

    def around(self, span: Span) -> Iterator[Span]:
        """List a span and the spans around it, innermost first."""
        return _around(span, self.by_id)

    def depth(self, agent: Span) -> int:
        """Count the agents and workflows around an agent, itself included."""
        return sum(each.operation in gen_ai.AGENTS for each in self.around(agent))

    def _in_tool(self, span: Span) -> bool:
        own = takewhile(lambda each: each.span_id not in self.acting, self.around(span))
        return any(each.operation == gen_ai.TOOL for each in own)


def _around(span: Span, by_id: dict[str, Span]) -> Iterator[Span]:
    """List a span and the spans around it, each directly within the next."""
    seen = set()
    here: Span | None = span
    while here is not None and here.span_id not in seen:  # a circle of parents is no reason to hang
        seen.add(here.span_id)
        yield here
        here = by_id.get(here.parent_id)


def runs_of(found: Spans) -> list[Run]:
    """List the runs in a file, in order of time. A trace is a run if one of its spans is an act of an agent."""
    spans = translate(found)
    traces: dict[str, dict[str, Span]] = {}
    for span in spans:  # exporters deliver at least once: what comes again is the same span
        traces.setdefault(span.trace_id, {})[span.span_id] = span
    # Log records without a trace id may belong to any run, so each run has to mention them.
    anywhere = traces.pop("", {})  # log records that name no trace
    runs = [_run(trace_id, members | anywhere) for trace_id, members in traces.items()]
    done = [run for run in runs if any(span.operation not in gen_ai.OTHERS for span in run.spans)]
    return sorted(done, key=lambda run: (run.start, run.trace_id))


def _run(trace_id: str, members: dict[str, Span]) -> Run:
    for span in members.values():
        span.parent_id = _parent(span, members)
    ordered = sorted(
        (span for span in members.values() if span.operation), key=lambda span: (span.start, -span.end)
    )
    run = Run(trace_id=trace_id, spans=ordered, by_id={span.span_id: span for span in ordered})
    run.agents = [span for span in ordered if span.operation in gen_ai.AGENTS]
    run.agents.sort(key=run.depth)  # clocks of other hosts may be ahead
    run.chats = _distinct_chats([span for span in ordered if gen_ai.is_model_call(span)])
    run.tools = _distinct_executions(run)
    for span in (*run.chats, *run.tools):
        agents = (each.span_id for each in run.around(span) if each.operation == "invoke_agent")
        run.acting.update(islice(agents, 1))  # the innermost
    for span in filter(gen_ai.seems_a_tool, members.values()):
        around = run.by_id.get(span.parent_id)
        # a protocol's span of the call that it is within, as `tools/call NAME`, is no other
        if not (around and around.operation == gen_ai.TOOL and around.tool in span.name):
            run.unread.append(span)
    return run


def _distinct_chats(chats: list[Span]) -> list[Span]:
    """Keep one span for each model call. A framework and the client within it may both record the call.

    The client's span is kept, unless only the framework's has the answer: one framework span may hold several client
    calls. Two instrumentations that know nothing of each other may record a call twice, too.
    """
    answered = {span.span_id for span in chats if span.answered}
    inner = _without_nested(chats, answered)
    several = len({span.scope for span in inner}) > 1
    alike: dict[str, list[Span]] = {}
    for span in inner:
        alike.setdefault(str(span.attributes.get(gen_ai.RESPONSE_ID) or span.span_id), []).append(span)
        if several and span.span_id in answered:
            alike.setdefault(args_key(_answer_content(span)), []).append(span)
    repeated = {
        span.span_id
        for spans in alike.values()
        for span in spans
        if any(_is_better_record(other, span, answered) for other in spans)
    }
    return [span for span in inner if span.span_id not in repeated]


def _without_nested(chats: list[Span], answered: set[str]) -> list[Span]:
    """Of model calls within one another keep the inner ones, unless only an outer one has the answer."""
    by_id = {span.span_id: span for span in chats}
    dropped: set[str] = set()
    for span in chats:
        around = {each.span_id for each in _around(span, by_id)} - {span.span_id}
        only_around = span.span_id not in answered and not answered.isdisjoint(around)
        dropped.update([span.span_id] if only_around else around)
    return [span for span in chats if span.span_id not in dropped]


def _answer_content(chat: Span) -> list[Any]:
    return [[each.text, each.calls] for each in chat.answered]


def _is_better_record(other: Span, span: Span, answered: set[str]) -> bool:
    """Return whether another span records the same model call, and is the one to keep.

    It does if it overlaps in time and has the same answer, with the same response id or from another instrumentation.
    No single sign is enough: equal answers may belong to different calls, and services may reuse an id.
    """
    ids = {str(each.attributes.get(gen_ai.RESPONSE_ID) or "") for each in (other, span)}
    if len(ids - {""}) > 1 or ("" in ids and other.scope == span.scope):
        return False
    if (said := _answer_content(span)) and said != _answer_content(other):
        return False
    at_once = max(span.start, other.start) < min(span.end, other.end)
    return at_once and (other.span_id in answered, other.span_id) > (span.span_id in answered, span.span_id)


def _parent(span: Span, members: dict[str, Span]) -> str:
    """Return the id of the nearest span around it about generative AI, else the parent of the outermost other span."""
    for each in islice(_around(span, members), 1, None):
        if each.operation:
            return each.span_id
        span = each
    return span.parent_id


def _distinct_executions(run: Run) -> list[Span]:
    """Keep one span for each execution of a tool, completed from other spans of the same execution."""
    kept: list[Span] = []
    same: dict[str, Span] = {}
    alike: dict[tuple[str, str], list[Span]] = {}
    tools = [each for each in run.spans if each.operation == gen_ai.TOOL]
    for span in sorted(tools, key=lambda span: sum(1 for _ in run.around(span))):  # outer ones first
        around, tool, args = run.by_id.get(span.parent_id), span.tool, span.args
        key = tool, args_key(args)
        # a client and a server may tell of it, one within the other; with other arguments a tool uses itself
        within = around is not None and around.span_id in same and around.tool == tool
        if within and around and agree(around.args, args):
            first = same[around.span_id]
        else:
            known = (*alike.get(key, ()), *alike.get((tool, NO_ARGUMENTS), ()))
            first = next((each for each in known if _is_duplicate(each, span)), span)
        same[span.span_id] = first
        if first is span:
            kept.append(span)
            alike.setdefault(key, []).append(span)
        else:
            _complete(first, span)
    return sorted(kept, key=lambda span: (span.start, -span.end))


def _is_duplicate(first: Span, span: Span) -> bool:
    """Return whether two instrumentations recorded one execution: the spans overlap, and their call ids do not differ."""
    if first.scope == span.scope or first.start > span.end or span.start > first.end:
        return False
    return len({first.call_id, span.call_id} - {""}) < 2


def _complete(first: Span, span: Span) -> None:
    if span.call_id and first.call_id in ("", span.call_id) and first.result is None:
        first.failed, first.message = first.failed or span.failed, first.message or span.message
        if gen_ai.ERROR_TYPE in span.attributes:
            first.attributes.setdefault(gen_ai.ERROR_TYPE, span.attributes[gen_ai.ERROR_TYPE])
    for name in (gen_ai.CALL_ID, gen_ai.ARGUMENTS, gen_ai.RESULT):
        if gen_ai.value_of(first, name) is None and (value := gen_ai.value_of(span, name)) is not None:
            first.attributes[name] = value
    gen_ai.resolve(first)


def received(run: Run) -> Iterator[tuple[int, Message]]:
    """List the user's messages of this run, with their times.

    The first model call repeats the conversation before the run, so only messages after its last answer are new. Later
    calls repeat everything, or hold only new messages; a message beyond the known ones came in between. An agent that
    the run hands over to may be asked in other words, which are not the user's, so its calls do not count.
    """
    known: int | None = None
    said: Counter[str] = Counter()
    spans = asking(run)
    for span in (each for each in spans if _agent_name(run, each) == _agent_name(run, spans[0])):
        users, new = [], 0
        for message in span.asked:
            if message.role == "user" and not message.responses:
                users.append(message)
                new += 1
            elif message.role not in INSTRUCTING:
                new = 0
        fresh = new if known is None else len(users) - known
        asked: Counter[str] = Counter()
        for number, message in enumerate(users, 1):
            asked[message.text] += 1
            if number > len(users) - fresh and asked[message.text] > said[message.text]:
                yield (run.start if known is None else span.start), message
        known, said = len(users), said | asked


def asking(run: Run) -> list[Span]:
    """List the model calls of the outermost agent with recorded input; the agent itself where none has a user's message."""
    chats = {chat.span_id: chat.asked for chat in run.own_chats}
    if any(message.role == "user" for messages in chats.values() for message in messages):
        return [chat for chat in run.own_chats if chats[chat.span_id]]
    return run.agents[:1]


def earlier(run: Run) -> list[Message]:
    """List the messages before this run, as far as the first model call repeats them."""
    for span in [*run.chats, *run.agents]:
        if messages := [each for each in span.asked if each.role not in INSTRUCTING]:
            while messages and messages[-1].role == "user" and not messages[-1].responses:
                messages.pop()
            return [each for each in messages if each.role in ("user", "assistant") and each.text]
    return []


def _agent_name(run: Run, span: Span) -> str:
    """Return the name of the agent that calls a model; empty where it is not recorded."""
    agents = (each for each in run.around(span) if each.span_id in run.acting)
    return next(map(_name, agents), "")


def _name(agent: Span) -> str:
    """Return the name of an agent, else its id. A name is the same in every run."""
    names = (agent.attributes.get(name) for name in gen_ai.AGENT_NAMES)
    return next((str(name) for name in names if name), "")


@dataclass(slots=True, kw_only=True, eq=False)
class Call:
    """A tool call, with the spans of its request and its execution, and its response, as far as they are recorded."""

    call_id: str
    tool: str
    args: Any
    named: bool = True
    """True if the recording has its id."""
    requested_by: Span
    """The model call that asks for it; its execution, where no model call does."""
    chat: Span | None = None
    span: Span | None = None
    """Its execution."""
    guessed: bool = False
    """True if the span may belong to another call of the tool with other arguments."""
    response: Any = None
    failed: bool | None = None
    """True if the response states a failure; None where it states nothing."""
    answered_at: int | None = None

    @property
    def started_at(self) -> int:
        """The time of its execution, else of its request."""
        return self.span.start if self.span else self.requested_by.end


def calls_of(run: Run) -> list[Call]:
    """List all tool calls, each once, in the order of execution or request."""
    asked = [call for chat in run.chats for call in _asked_for(chat)]
    _answer(run, asked)
    finder = _CallFinder(run, asked)
    calls = [*asked]
    for span in run.tools:
        call = finder.find(span)
        if call is None:
            call = Call(call_id=span.call_id or span.span_id, tool=span.tool, args=None, requested_by=span)
            calls.append(call)
        call.span = span
        call.args = span.args if call.args is None else call.args
        call.tool = span.tool if call.tool == UNNAMED else call.tool
        call.call_id = call.call_id if call.named else span.call_id or call.call_id
    calls.sort(key=lambda call: (call.started_at, call.chat is not None))
    times: Counter[str] = Counter()
    for call in calls:  # a retry by the client may repeat an id
        times[call.call_id] += 1
        if (number := times[call.call_id]) > 1:
            call.call_id = f"{call.call_id}#{number}"
    return calls


def _asked_for(chat: Span) -> Iterator[Call]:
    for message in chat.answered:
        for number, (call_id, tool, args) in enumerate(message.calls, 1):
            own_id = call_id or f"{chat.span_id}.{number}"
            yield Call(
                call_id=own_id, tool=tool, args=args, named=bool(call_id), requested_by=chat, chat=chat
            )


def _requested_before(run: Run, calls: list[Call], time: int, owner: str) -> list[Call]:
    """List the calls that were requested before a time; those of the same agent where it has any."""
    asked = [each for each in calls if each.requested_by.end <= time]
    return [each for each in asked if run.owner_of(each.requested_by) == owner] or asked


def _answer(run: Run, calls: list[Call]) -> None:
    """Give each call its response, which a later model call repeats, or the same answer of the model holds.

    Some services number the calls of each answer anew, so several calls share an id. A response belongs to the last of
    them that was requested before it.
    """
    by_id: dict[str, list[Call]] = {}
    for call in calls:
        by_id.setdefault(call.call_id, []).append(call)
    for chat in run.chats:
        owner = run.owner_of(chat)
        for messages, time in ((chat.asked, chat.start), (chat.answered, chat.end)):
            for call_id, later, response, failed in _responses(messages):
                asked = _requested_before(run, by_id.get(call_id, []), time, owner)
                if later < len(asked) and (call := asked[-1 - later]).answered_at is None:
                    call.response, call.answered_at, call.failed = response, time, failed


def _responses(messages: list[Message]) -> Iterator[tuple[str, int, Any, bool | None]]:
    """List the responses in messages, the last one first: call id, later calls with this id, response, failure.

    A later call is one that a later message requests, or that has a later response.
    """
    asked: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for message in reversed(messages):
        for call_id, response, failed in reversed(message.responses):
            yield call_id, max(asked[call_id], given[call_id]), response, failed
            given[call_id] += 1
        asked.update(call_id for call_id, _, _ in message.calls)


class _CallFinder:
    """Finds the call that a span executed: by its id, else by tool and arguments, else by tool alone."""

    def __init__(self, run: Run, asked: list[Call]) -> None:
        self.run = run
        self.asked = asked
        self.by_id: dict[str, list[Call]] = {}
        for call in asked:
            self.by_id.setdefault(call.call_id, []).append(call)
        self.executed_ids = {span.call_id for span in run.tools}
        executed = {args_key(span.args) for span in run.tools}
        self.exact = {call for call in asked if args_key(call.args) in executed}
        """The calls with exactly the arguments of some span. No other span is theirs."""

    def find(self, span: Span) -> Call | None:
        """Return the call, or None where the span executed none of the requested calls."""
        return self._by_id(span) or self._by_tool(span)

    def _by_id(self, span: Span) -> Call | None:
        of_id = self.by_id.get(span.call_id, []) if span.call_id else []
        free = [call for call in of_id if call.span is None]
        if of_tool := [call for call in free if call.tool == span.tool]:
            return _likeliest(span, of_tool, self.run)
        # A framework may name the tool otherwise, and the id is enough. But some services reuse an id: then calls of
        # different tools share it, and the tool has to decide.
        return free[0] if free and len(of_id) == 1 else None

    def _may_be_of(self, span: Span, call: Call) -> bool:
        """Return whether a call of the span's tool is free, and was requested before the span began."""
        if call.span is not None or call.tool != span.tool or call.call_id in self.executed_ids:
            return False
        # Its start decides, not its end: a streamed call may run before the answer ends.
        return call.requested_by.start <= span.start

    def _by_tool(self, span: Span) -> Call | None:
        """Find a call without the span's id. Frameworks may give their spans ids of their own."""
        candidates = [call for call in self.asked if self._may_be_of(span, call)]
        if span.args is not None:
            if equal := [call for call in candidates if call.args == span.args]:
                return _likeliest(span, equal, self.run)
            # Frameworks also fill in default arguments, or record them in another form.
            candidates = [call for call in candidates if call not in self.exact]
            near = [
                call for call in candidates if isinstance(call.args, dict) and agree(call.args, span.args)
            ]
            if near:
                return _likeliest(span, near, self.run)
        return _likeliest(span, [call for call in candidates if not (span.call_id and call.named)], self.run)


def _likeliest(span: Span, calls: list[Call], run: Run) -> Call | None:
    """Choose the call that a span most likely executed, and mark it as guessed where another one fits as well.

    In this order: it was requested before, has the span's arguments, is of the same agent, has the same result, has a
    result at all, and was requested last.
    """
    args, owner, result = span.args, run.owner_of(span), span.result

    def rank(call: Call) -> tuple[Any, ...]:
        asked, own = call.requested_by.start, run.owner_of(call.requested_by) == owner
        answered = call.answered_at is not None and call.answered_at >= span.start
        same_result = answered and call.response == result
        alike = (call.args == args, agree(call.args, args), own)
        # Compared from left to right: a later sign decides only between calls that are equal in all earlier ones.
        return asked <= span.start, *alike, same_result, answered, asked

    best = max(calls, key=rank, default=None)
    if best and len(calls) > 1:
        best.guessed = any(rank(call) == rank(best) and call.args != best.args for call in calls)
    return best
