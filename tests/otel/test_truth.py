"""What an agent really did, told in the ways of several frameworks: the trace has each call once, with its own result."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.trace import Trace
from otel.spans import agent, chat, says, tool, trace_of, write

ASKED = says("user", "How warm is it?")
GUESSED = "which of several calls of the same tool was executed when is not recorded for"


@dataclass(frozen=True)
class Style:
    """How a framework writes spans."""

    tools: str
    """Whether executions have spans: `none`, `bare` (by name alone), `args`, `filled` (with a default beside them)."""
    span_ids: str
    """The ids of these spans: `none`, `same` as the model's, or `own`."""
    ids: str
    """The model's ids: `unique`, `renumbered` in each answer, or `none`."""
    answers: bool
    """Whether what the models answer is captured."""
    history: bool
    """Whether a model is told all again, or what is new."""
    doubled: str
    """Whether the model's client tells of its calls besides: `no`, `within` the framework's span, or `beside` it."""
    at_once: bool
    """Whether the calls of an answer overlap in time, and begin before it ends."""


@dataclass
class Did:
    """One real call: its tool, arguments and result, and the calls of an agent within it."""

    tool: str
    city: str
    fails: bool = False
    executed: bool = True
    within: list[list["Did"]] = field(default_factory=list)


@dataclass
class Made:
    """A call while it is written: its id for the model, what it returns, its times."""

    did: Did
    call_id: str
    result: str
    start: int = 0
    end: int = 0


@dataclass
class Writer:
    """Writes what an agent did as spans, and remembers what they tell: tool, city, result, whether it failed."""

    style: Style
    spans: list[dict[str, Any]] = field(default_factory=list)
    truth: list[tuple[Any, ...]] = field(default_factory=list)
    clock: int = 0
    made: int = 0

    def tick(self) -> int:
        """The next moment."""
        self.clock += 1
        return self.clock

    def act(self, answers: list[list[Did]], parent: str) -> None:
        """An agent: model, tools, model, until an answer asks for no tool."""
        said: list[dict[str, Any]] = [ASKED]
        for asks in [*answers, []]:
            begin, own = self.tick(), self.tick()
            made = [self.make(did, number) for number, did in enumerate(asks)]
            end = self.execute(made, parent)
            parts = [
                {
                    "type": "tool_call",
                    "id": each.call_id,
                    "name": each.did.tool,
                    "arguments": {"city": each.did.city},
                }
                for each in made
            ]
            answer = {"role": "assistant", "parts": parts} if parts else says("assistant", "7")
            known: dict[str, Any] = {"asked": said, "answered": [answer]} if self.style.answers else {}
            known["response__id"] = f"r{begin}"
            self.spans.append(chat(begin, end, parent=parent, **known))
            if self.style.doubled != "no":
                around = parent if self.style.doubled == "beside" else f"chat@{begin}"
                self.spans.append(chat(own, end, parent=around, **known))
            responses = [
                {"type": "tool_call_response", "id": each.call_id, "response": each.result}
                for each in made
                if each.did.executed
            ]
            news = [{"role": "tool", "parts": responses}] if responses else []
            said = [*said, answer, *news] if self.style.history else news

    def make(self, did: Did, number: int) -> Made:
        """A call that an answer asks for."""
        self.made += 1
        ids = {"unique": f"c{self.made}", "renumbered": f"w{number}", "none": ""}
        return Made(did, ids[self.style.ids], f"result {self.made}")

    def execute(self, made: list[Made], parent: str) -> int:
        """Run the calls of an answer; gives the moment when the answer ended."""
        executed = [each for each in made if each.did.executed]
        if self.style.at_once:
            for each in executed:
                each.start = self.tick()
        end = self.tick()
        for each in executed:
            each.start = each.start or self.tick()
            if each.did.within:
                self.ask_expert(each, parent)
            each.end = each.end or self.tick()
        if self.style.at_once:
            for each in reversed(executed):
                each.end = self.tick()
        for each in made:
            self.write(each, parent)
        return end

    def ask_expert(self, made: Made, parent: str) -> None:
        """An agent within a tool."""
        start = self.tick()
        self.act(made.did.within, f"invoke_agent@{start}")
        inner = parent if self.style.tools == "none" else f"execute_tool@{made.start}"
        self.spans.append(agent(start, self.tick(), parent=inner, agent__name="expert"))

    def write(self, made: Made, parent: str) -> None:
        """The span of a call, and the truth about it."""
        did, style = made.did, self.style
        if not did.executed and not style.answers:
            return  # it leaves no sign
        whole = style.tools in ("args", "filled")
        repeated = style.answers and bool(made.call_id)
        result = made.result if did.executed and (whole or repeated) else None
        failed = did.fails and did.executed and style.tools != "none"
        city = did.city if whole or style.answers else None
        self.truth.append((did.tool, city, result, failed))
        if style.tools == "none" or not did.executed:
            return
        told: dict[str, Any] = {"error": "no such city"} if did.fails else {}
        if whole:
            filled = {"unit": "C"} if style.tools == "filled" else {}
            told["tool__call__arguments"] = json.dumps({"city": did.city, **filled})
            told["tool__call__result"] = made.result
        if span_id := {"none": "", "same": made.call_id, "own": f"own-{made.start}"}[style.span_ids]:
            told["tool__call__id"] = span_id
        self.spans.append(tool(made.start, made.end, did.tool, parent=parent, **told))


STYLES = st.builds(
    Style,
    tools=st.sampled_from(["none", "bare", "args", "filled"]),
    span_ids=st.sampled_from(["none", "same", "own"]),
    ids=st.sampled_from(["unique", "renumbered", "none"]),
    answers=st.booleans(),
    history=st.booleans(),
    doubled=st.sampled_from(["no", "within", "beside"]),
    at_once=st.booleans(),
).filter(lambda style: style.answers or style.tools != "none")


def answers_of(calls: st.SearchStrategy[Did]) -> st.SearchStrategy[list[list[Did]]]:
    """Answers of a model that ask for tools."""
    return st.lists(st.lists(calls, min_size=1, max_size=3), max_size=3)


CITY = st.sampled_from(["Bremen", "Oslo"])
LOOKED = st.builds(Did, st.sampled_from(["weather", "map"]), CITY, st.booleans(), st.booleans())
ASKING = st.builds(Did, st.just("ask"), CITY, within=answers_of(LOOKED))


def read(writer: Writer) -> Trace:
    """The trace of what was written."""
    with TemporaryDirectory() as folder:
        return trace_of(write(Path(folder), agent(0, 10_000), *writer.spans))


@given(style=STYLES, did=answers_of(LOOKED | ASKING))
def test_the_trace_has_what_was_done(style: Style, did: list[list[Did]]) -> None:
    """Each call once, with its result and its failure; where the spans cannot tell, a note says so."""
    writer = Writer(style)
    writer.act(did, "invoke_agent@0")
    trace = read(writer)
    found = [
        (
            call.tool,
            call.args.get("city"),
            next((each.data["result"] for each in call.results), None),
            call.failed,
        )
        for call in trace.calls()
    ]
    if any(note.startswith("no answer of a model asks for tools that were executed") for note in trace.notes):
        assert (style.tools, style.span_ids) == ("bare", "own")
    elif any(note.startswith(GUESSED) for note in trace.notes):
        assert style.tools == "bare"
        assert Counter(each[:2] for each in found) == Counter(each[:2] for each in writer.truth)
    else:
        assert Counter(found) == Counter(writer.truth)
