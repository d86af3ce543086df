"""The spans of one OTLP trace as one run: which agent called which model and tool, and what it was asked."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any

from agenteval.contracts.json_values import args_key
from agenteval_otel import conventions as gen_ai
from agenteval_otel.conventions import agree, arguments_of, call_id_of, messages_of, operation, tool_of
from agenteval_otel.dialects import translate
from agenteval_otel.messages import INSTRUCTING, Message
from agenteval_otel.otlp import Span, Spans

MAIN = "main"
UNTOLD = args_key(None)
"""The arguments of a call that does not tell them."""


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
    """The ids of the agents that call a model or a tool themselves; others only hold these, as a workflow does."""
    by_id: dict[str, Span] = field(default_factory=dict)
    strange: list[Span] = field(default_factory=list)
    """Spans that may be calls of tools, and that no reader understands."""

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
        """Whether the span that holds all others is there."""
        outside = {span.parent_id for span in self.spans if span.parent_id not in self.by_id}
        return len(outside) == 1

    def agent_of(self, span: Span) -> str:
        """The agent that a span belongs to: `main` for the outermost one that acts, else its name or id."""
        around = [each for each in self.around(span) if each.span_id in self.acting]
        return MAIN if len(around) < 2 else _name(around[0]) or around[0].span_id

    def owner_of(self, span: Span) -> str:
        """The id of the innermost agent that acts around a span; empty without one."""
        return next((each.span_id for each in self.around(span) if each.span_id in self.acting), "")

    def around(self, span: Span) -> Iterator[Span]:
        """The spans around a span, itself among them, innermost first."""
        seen = set()
        here: Span | None = span
        while here is not None and here.span_id not in seen:  # a circle of parents is no reason to hang
            seen.add(here.span_id)
            yield here
            here = self.by_id.get(here.parent_id)

    def depth(self, agent: Span) -> int:
        """How many agents and workflows hold one another down to this one."""
        return sum(operation(each) in gen_ai.AGENTS for each in self.around(agent))

    def _in_tool(self, span: Span) -> bool:
        own = takewhile(lambda each: each.span_id not in self.acting, self.around(span))
        return any(operation(each) == gen_ai.TOOL for each in own)


def runs_of(found: Spans) -> list[Run]:
    """The runs in a file, in order of time: a trace is one that has a span about what an agent did."""
    spans = translate(found)
    traces: dict[str, dict[str, Span]] = {}
    for span in spans:  # exporters deliver at least once: what comes again is the same span
        traces.setdefault(span.trace_id, {})[span.span_id] = span
    runs = [_run(trace_id, members) for trace_id, members in traces.items()]
    done = [run for run in runs if any(operation(span) not in gen_ai.OTHERS for span in run.spans)]
    return sorted(done, key=lambda run: (run.start, run.trace_id))


def _run(trace_id: str, members: dict[str, Span]) -> Run:
    for span in members.values():
        span.parent_id = _parent(span, members)
    ordered = sorted(filter(operation, members.values()), key=lambda span: (span.start, -span.end))
    run = Run(trace_id=trace_id, spans=ordered, by_id={span.span_id: span for span in ordered})
    run.agents = [span for span in ordered if operation(span) in gen_ai.AGENTS]
    run.agents.sort(key=run.depth)  # clocks of other hosts may be ahead
    run.chats = _once([span for span in ordered if gen_ai.is_model_call(span)])
    run.tools = _each_once(run)
    for span in (*run.chats, *run.tools):
        agents = (each.span_id for each in run.around(span) if operation(each) == "invoke_agent")
        run.acting.update(islice(agents, 1))  # the innermost
    run.strange = [span for span in members.values() if gen_ai.seems_a_tool(span)]
    return run


def _once(chats: list[Span]) -> list[Span]:
    """Calls of models, each once: a framework and the client within it may both tell of one.

    The client's is kept, of which there may be several; unless only the framework's tells what was answered. So may two
    instrumentations that know nothing of each other.
    """
    telling = {span.span_id for span in chats if messages_of(span, gen_ai.OUTPUT)}
    by_id = {span.span_id: span for span in chats}
    dropped: set[str] = set()
    for span in chats:
        around = _holders(span, by_id)
        told = span.span_id not in telling and not telling.isdisjoint(around)
        dropped.update([span.span_id] if told else around)
    kept = [span for span in chats if span.span_id not in dropped]
    several = len({span.scope for span in kept}) > 1
    alike: dict[str, list[Span]] = {}
    for span in kept:
        alike.setdefault(_answer_id(span) or span.span_id, []).append(span)
        if several and span.span_id in telling:
            alike.setdefault(args_key(_said(span)), []).append(span)
    repeated = {
        span.span_id
        for spans in alike.values()
        for span in spans
        if any(_tells_more(other, span, telling) for other in spans)
    }
    return [span for span in kept if span.span_id not in repeated]


def _holders(span: Span, by_id: dict[str, Span]) -> set[str]:
    """The ids of the calls of models that one is within, each directly within the next."""
    around: set[str] = set()
    here = by_id.get(span.parent_id)
    while here is not None and here is not span and here.span_id not in around:
        around.add(here.span_id)
        here = by_id.get(here.parent_id)
    return around


def _answer_id(chat: Span) -> str:
    return str(chat.attributes.get(gen_ai.RESPONSE_ID) or "")


def _said(chat: Span) -> list[Any]:
    return [[each.text, each.calls] for each in messages_of(chat, gen_ai.OUTPUT)]


def _tells_more(other: Span, span: Span, telling: set[str]) -> bool:
    """Whether another span is of the same call, and the one to keep.

    At the same time it had the same answer, with the same id, or that of another instrumentation: one may give equal
    answers to different calls, and services may give equal ids to different answers.
    """
    ids = {_answer_id(other), _answer_id(span)}
    if len(ids - {""}) > 1 or ("" in ids and other.scope == span.scope):
        return False
    if (said := _said(span)) and said != _said(other):
        return False
    return _at_once(span, other) and (other.span_id in telling, other.span_id) > (
        span.span_id in telling,
        span.span_id,
    )


def _at_once(one: Span, other: Span) -> bool:
    return max(one.start, other.start) < min(one.end, other.end)


def _parent(span: Span, members: dict[str, Span]) -> str:
    """The nearest span around it that is about generative AI; without one, what the outermost of the others names."""
    parent, seen = span.parent_id, set()
    while parent in members and parent not in seen and not operation(members[parent]):
        seen.add(parent)
        parent = members[parent].parent_id
    return parent


def _each_once(run: Run) -> list[Span]:
    """Executions of tools, each once: what a span leaves out that another tells of the same one is taken from that."""
    kept: list[Span] = []
    same: dict[str, Span] = {}
    alike: dict[tuple[str, str], list[Span]] = {}
    tools = [each for each in run.spans if operation(each) == gen_ai.TOOL]
    for span in sorted(
        tools, key=lambda span: sum(1 for _ in run.around(span))
    ):  # what is around comes first
        around, key = run.by_id.get(span.parent_id), (tool_of(span), args_key(arguments_of(span)))
        if around is not None and around.span_id in same and _agree(around, span):
            first = same[around.span_id]
        else:
            told = (*alike.get(key, ()), *alike.get((key[0], UNTOLD), ()))
            first = next((each for each in told if _beside(each, span)), span)
        same[span.span_id] = first
        if first is span:
            kept.append(span)
            alike.setdefault(key, []).append(span)
        else:
            _complete(first, span)
    return sorted(kept, key=lambda span: (span.start, -span.end))


def _agree(first: Span, span: Span) -> bool:
    """Whether two spans may be of the same execution: a client and a server tell of it, one within the other.

    With other arguments it is a call of its own: a tool may use itself.
    """
    return tool_of(first) == tool_of(span) and agree(arguments_of(first), arguments_of(span))


def _beside(first: Span, span: Span) -> bool:
    """Whether two instrumentations tell of one execution that know nothing of each other: at once, by no other id."""
    if first.scope == span.scope or first.start > span.end or span.start > first.end:
        return False
    return len({call_id_of(first), call_id_of(span)} - {""}) < 2


def _complete(first: Span, span: Span) -> None:
    if call_id_of(span) and call_id_of(first) in ("", call_id_of(span)) and gen_ai.result_in(first) is None:
        first.failed, first.message = first.failed or span.failed, first.message or span.message
        if gen_ai.ERROR_TYPE in span.attributes:
            first.attributes.setdefault(gen_ai.ERROR_TYPE, span.attributes[gen_ai.ERROR_TYPE])
    for name in (gen_ai.CALL_ID, gen_ai.ARGUMENTS, gen_ai.RESULT):
        if gen_ai.value_of(first, name) is None and (value := gen_ai.value_of(span, name)) is not None:
            first.attributes[name] = value


def received(run: Run) -> Iterator[tuple[int, Message]]:
    """The messages that the agent was given in this run, with their times.

    The first call of a model has what was said before, too: what the user said after the last answer is new. Later
    calls repeat it all, or tell only what is new: what the user said beyond that came in between. Agents that it hands
    on to may be asked in other words, which are no user's.
    """
    known: int | None = None
    said: Counter[str] = Counter()
    spans = asking(run)
    for span in (each for each in spans if _who(run, each) == _who(run, spans[0])):
        users, new = [], 0
        for message in messages_of(span, gen_ai.INPUT):
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
    """The calls of the outermost agent's model that tell what it was asked; the agent, where none tells of a user."""
    chats = {chat.span_id: messages_of(chat, gen_ai.INPUT) for chat in run.own_chats}
    if any(message.role == "user" for messages in chats.values() for message in messages):
        return [chat for chat in run.own_chats if chats[chat.span_id]]
    return run.agents[:1]


def earlier(run: Run) -> list[Message]:
    """What was said before this run, as far as the first call of a model repeats it."""
    for span in [*run.chats, *run.agents]:
        if messages := [each for each in messages_of(span, gen_ai.INPUT) if each.role not in INSTRUCTING]:
            while messages and messages[-1].role == "user" and not messages[-1].responses:
                messages.pop()
            return [each for each in messages if each.role in ("user", "assistant") and each.text]
    return []


def _who(run: Run, span: Span) -> str:
    """What the agent is called that calls a model; nothing when that is not told."""
    agents = (each for each in run.around(span) if each.span_id in run.acting)
    return next(map(_name, agents), "")


def _name(agent: Span) -> str:
    """The name of an agent, which is the same in every run, else its id."""
    names = (agent.attributes.get(name) for name in gen_ai.AGENT_NAMES)
    return next((str(name) for name in names if name), "")
