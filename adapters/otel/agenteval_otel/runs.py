"""The spans of one OTLP trace as one run: who called which model and tool, and what came of it.

A tool call is known twice, by the model's answer that asks for it and by the span of its execution, and instrumentations
record either or both. The two are one call: they share the call id, or else tool and arguments.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.conventions import Message, messages_of, operation, tool_of
from agenteval_otel.otlp import Span

MAIN = "main"


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
    span: Span | None = None
    response: Any = None
    answered_at: int | None = None


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
    by_id: dict[str, Span] = field(default_factory=dict)
    foreign: dict[str, int] = field(default_factory=dict)
    """How many spans that do not count tell what they are about in another convention, by its attribute."""

    @property
    def start(self) -> int:
        """When it began."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """When the last of its spans ended."""
        return max(span.end for span in self.spans)

    @property
    def outermost(self) -> list[Span]:
        """The invocations that are within no other span of the run: a workflow, an agent, or agents in turn."""
        return [span for span in self.agents if span.parent_id not in self.by_id]

    @property
    def conversation(self) -> str | None:
        """The conversation that it is a turn of."""
        found = (span.attributes.get(gen_ai.CONVERSATION) for span in self.spans)
        return next((str(each) for each in found if each), None)

    @property
    def complete(self) -> bool:
        """Whether the span that holds all others is there."""
        outside = {span.parent_id for span in self.spans if span.parent_id not in self.by_id}
        return len(outside) == 1

    def agent_of(self, span: Span) -> str:
        """The agent that a span belongs to: `main` for the outermost one, else its id or name."""
        around = [each for each in self.around(span) if operation(each) == "invoke_agent"]
        if len(around) < 2:
            return MAIN
        names = (around[0].attributes.get(name) for name in gen_ai.AGENT_NAMES)
        return next((str(name) for name in names if name), around[0].span_id)

    def around(self, span: Span) -> Iterator[Span]:
        """The spans of agents around a span, itself among them, innermost first."""
        seen = set()
        here: Span | None = span
        while here is not None and here.span_id not in seen:  # a circle of parents is no reason to hang
            seen.add(here.span_id)
            if operation(here) in gen_ai.AGENTS:
                yield here
            here = self.by_id.get(here.parent_id)


def runs_of(spans: Iterable[Span]) -> list[Run]:
    """The runs in a file, in order of time: a trace with a span about generative AI is one."""
    traces: dict[str, dict[str, Span]] = {}
    for span in spans:  # exporters deliver at least once: what comes again is the same span
        traces.setdefault(span.trace_id, {})[span.span_id] = span
    runs = [_run(trace_id, members) for trace_id, members in traces.items()]
    return sorted((run for run in runs if run.spans), key=lambda run: (run.start, run.trace_id))


def _run(trace_id: str, members: dict[str, Span]) -> Run:
    for span in members.values():
        span.parent_id = _parent(span, members)
    ordered = sorted(filter(operation, members.values()), key=lambda span: (span.start, -span.end))
    run = Run(trace_id=trace_id, spans=ordered, by_id={span.span_id: span for span in ordered})
    run.agents = [span for span in ordered if operation(span) in gen_ai.AGENTS]
    run.agents.sort(key=lambda span: len(list(run.around(span))))  # clocks of other hosts may be ahead
    run.chats = _once([span for span in ordered if gen_ai.is_model_call(span)])
    run.tools = [span for span in ordered if operation(span) == gen_ai.TOOL and not _is_repeated(span, run)]
    for kind in gen_ai.OTHER_KINDS:
        if count := sum(kind in span.attributes and not operation(span) for span in members.values()):
            run.foreign[kind] = count
    return run


def _once(chats: list[Span]) -> list[Span]:
    """Calls of models, each once: a framework and the client within it may both tell of one.

    The client's is kept, of which there may be several; unless only the framework's tells what was answered.
    """
    telling = {span.span_id for span in chats if messages_of(span, gen_ai.OUTPUT)}
    ids = {span.span_id for span in chats}
    holding = {span.parent_id for span in chats if span.span_id in telling or span.parent_id not in telling}
    return [
        span
        for span in chats
        if span.span_id not in holding and (span.parent_id not in ids or span.parent_id in holding)
    ]


def _parent(span: Span, members: dict[str, Span]) -> str:
    """The nearest span around it that is about generative AI; without one, what the outermost of the others names."""
    parent, seen = span.parent_id, set()
    while parent in members and parent not in seen and not operation(members[parent]):
        seen.add(parent)
        parent = members[parent].parent_id
    return parent


def _is_repeated(span: Span, run: Run) -> bool:
    """Whether a span is a part of the same execution of a tool: a client and a server may both tell of it."""
    around = run.by_id.get(span.parent_id)
    return around is not None and operation(around) == gen_ai.TOOL and tool_of(around) == tool_of(span)


def received(run: Run) -> Iterator[tuple[int, Message]]:
    """The messages that the agent was given in this run, with their times.

    The first call of a model has what was said before, too: what the user said after the last answer is new. Later
    calls repeat it all: what the user said beyond that came in between.
    """
    known: int | None = None
    for span in asking(run) or run.agents[:1]:
        users, new = [], 0
        for message in messages_of(span, gen_ai.INPUT):
            if message.role == "user" and not message.responses:
                users.append(message)
                new += 1
            elif message.role not in gen_ai.INSTRUCTING:
                new = 0
        fresh = new if known is None else max(len(users) - known, 0)
        for message in users[len(users) - fresh :]:
            yield (run.start if known is None else span.start), message
        known = len(users)


def asking(run: Run) -> list[Span]:
    """The calls of the outermost agent's model that tell what it was asked."""
    return [chat for chat in run.chats if run.agent_of(chat) == MAIN and messages_of(chat, gen_ai.INPUT)]


def earlier(run: Run) -> list[Message]:
    """What was said before this run, as far as the first call of a model repeats it."""
    for span in [*run.chats, *run.agents]:
        if messages := [
            each for each in messages_of(span, gen_ai.INPUT) if each.role not in gen_ai.INSTRUCTING
        ]:
            while messages and messages[-1].role == "user" and not messages[-1].responses:
                messages.pop()
            return [each for each in messages if each.role in ("user", "assistant") and each.text]
    return []


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
            name = call_id or f"{chat.span_id}.{number}"
            agent = run.agent_of(chat)
            yield Call(
                call_id=name, tool=tool, args=args, agent=agent, asked_at=chat.end, named=bool(call_id)
            )


def _answer(run: Run, calls: list[Call]) -> None:
    """Give each call the response that a later call of a model repeats, or the same answer of the model itself."""
    waiting = {call.call_id: call for call in reversed(calls)}
    for chat in run.chats:
        for name, time in ((gen_ai.INPUT, chat.start), (gen_ai.OUTPUT, chat.end)):
            for message in messages_of(chat, name):
                for call_id, response in message.responses:
                    call = waiting.get(call_id)
                    if call is not None and call.answered_at is None and call.asked_at <= time:
                        call.response, call.answered_at = response, time


def _matching(span: Span, calls: list[Call], spans: list[Span]) -> Call | None:
    """The call that a span executed, of several spans: by its id, else by tool and arguments, else by tool alone.

    Where the span has an id, a call with another one is another call. Frameworks may fill in arguments, or write them
    in another form: they tell calls of a tool apart, and make no other call of one.
    """
    call_id = span.attributes.get(gen_ai.CALL_ID)
    if call_id and (same := next((call for call in calls if call.call_id == call_id), None)):
        return same
    same_tool = [
        call
        for call in calls
        if call.tool == tool_of(span) and call.asked_at <= span.start and not (call_id and call.named)
    ]
    if gen_ai.ARGUMENTS in span.attributes:
        args = _arguments(span)
        if same := next((call for call in same_tool if call.args == args), None):
            return same
        executed = [_arguments(each) for each in spans]
        same_tool = [call for call in same_tool if call.args not in executed]
    return next(iter(same_tool), None)


def _arguments(span: Span) -> Any:
    return gen_ai.data_of(gen_ai.value_of(span, gen_ai.ARGUMENTS))


def _number(calls: list[Call]) -> None:
    """Make call ids unique: a retry by the client may repeat one."""
    seen: dict[str, int] = {}
    for call in calls:
        times = seen[call.call_id] = seen.get(call.call_id, 0) + 1
        if times > 1:
            call.call_id = f"{call.call_id}#{times}"
