"""The tool calls that passed the proxy: compared with an agent's own recording, or made into a trace.

A recorder may lose a call: `must_not_call_tool` would pass though the model made the call and was sent its result. A
call counts once its result is sent back, or once the harness has begun it. One that the agent dropped, or a request
that it made a second time, is not asked for.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import ToolCall, Trace
from agenteval.live.fixtures import HARNESS_TOOLS
from agenteval.live.options import live_error
from agenteval.live.wires import Block, Turn
from agenteval.text.names import name_matches

_SHOWN = 200
_NO_TOOLS = ("transfer_to_*", "*handoff*", "final_result*", "final_answer")
"""Names by which frameworks hand over to another agent, or take the answer itself: they record no call for these."""
_SHORTEST_ID = 8
"""The characters of an id that cannot stand in a text by chance: some services number their calls "0", "1"."""
_RAISED = re.compile(
    r"An error occurred while (?:running the tool|parsing tool arguments)\b"  # OpenAI Agents SDK
    r"|Error (?:invoking|executing) tool\b"  # LangGraph, smolagents
    r"|(?s:.*)\n\s*(?:Please f|F)ix (?:your mistakes|the errors)(?: and try again)?\.\s*\Z"  # LangGraph, pydantic-ai
)
"""The sentences that a framework gives the model in place of a result, because the tool raised an error.

OpenAI's formats have no mark for a failed call, so without these a call that raised would count as successful.
"""
_RAISED_BY = re.compile(r"Error executing tool '([^'\n]+)' with arguments .*")
"""smolagents' sentence of a call that raised, in a message that does not name the id of the call."""


@dataclass(slots=True)
class _Step:
    """A call in an answer, or a result in a request. `asked` stands for the request that a call answers."""

    block: Block
    asked: Hashable = None


@dataclass(slots=True)
class SeenCalls:
    """The calls in the model's answers and the results in the requests that followed, each once, in order of arrival."""

    steps: list[_Step] = field(default_factory=list)
    asked: Counter[Hashable] = field(default_factory=Counter)
    """The number of times that each request was made."""
    answered: Counter[str] = field(default_factory=Counter)
    """The most results that one request had, by the id of their call: some services use the same ids in each turn."""
    raised: int = 0
    """The number of calls that raised, by the messages of a framework that names no ids there."""
    unclear: dict[str, None] = field(default_factory=dict)
    """The facts that the requests do not show, in words."""

    @property
    def made(self) -> list[Block]:
        """The calls in the model's answers."""
        return [step.block for step in self.steps if step.block.kind == "call"]

    @property
    def tools(self) -> dict[str, str]:
        """The tools of the calls so far, by the ids of the calls."""
        return {call.call_id: call.tool for call in self.made}

    def learn_calls(self, calls: Iterable[Block], asked: Hashable = None) -> None:
        """Take in the calls of an answer. A cassette answers a repeated request alike: its calls are the same ones."""
        self.asked[asked] += 1
        known = [] if asked is None else [step.block for step in self.steps if step.asked == asked]
        same = {(each.call_id, each.tool, each.text) for each in known}
        self.steps += [
            _Step(each, asked) for each in calls if (each.call_id, each.tool, each.text) not in same
        ]

    def learn_results(self, results: Iterable[Block]) -> None:
        """Take in the results in a request: of calls that the model has made, and not of those before the run."""
        tools, counted = self.tools, Counter[str]()
        for result in results:
            if result.call_id not in tools:
                continue
            counted[result.call_id] += 1
            if (
                counted[result.call_id] > self.answered[result.call_id]
            ):  # as first sent: later it may be shortened
                self._answer(result.call_id, tools[result.call_id], result.text, failed=result.failed)

    def learn_texts(self, turns: Iterable[Turn]) -> None:
        """Take in results that stand in plain messages.

        smolagents writes calls into a message of the assistant ("Calling tools: [{'id': 'call_1', ...") and what came
        of them into the next one of the user ("Observation: ..."): no part of the format links the two.
        """
        tools = self.tools
        waiting = [each for each in tools if len(each) >= _SHORTEST_ID and not self.answered[each]]
        named, sentences = list[str](), list[re.Match[str]]()
        for role, blocks in turns if waiting else ():
            text = "\n".join(block.text for block in blocks if block.kind == "text")
            if role == "assistant":
                named = [each for each in waiting if each in text and not self.answered[each]] or named
            elif named and text:
                for call_id in named[:-1]:
                    self.answered[call_id] += 1
                if len(named) > 1:
                    which = ", ".join(tools[each] for each in named)
                    self.unclear[f"which of the calls of {which} had which result: they are in one text"] = (
                        None
                    )
                self._answer(named[-1], tools[named[-1]], text, failed=False)
                named = []
            sentences += _RAISED_BY.finditer(text)
        for sentence in sentences[self.raised :]:
            tool = sentence[1]
            if raised := [each for each in waiting if tools[each] == tool and not self.answered[each]]:
                self.raised += 1
                self._answer(raised[-1], tool, sentence[0], failed=True)

    def _answer(self, call_id: str, tool: str, text: str, *, failed: bool) -> None:
        self.answered[call_id] += 1
        self.steps.append(_Step(Block("result", text, call_id, tool, {"is_error": failed})))

    def script(
        self, names: Callable[[str], Sequence[str]], begun: Collection[str] = ()
    ) -> list[dict[str, Any]]:
        """The steps of a replay bundle: each call with its arguments, and its result where the model was sent one.

        A call without a result is there as well, since the agent may have run it last. It is not if it was the answer
        itself, or belongs to a request that the agent made again.
        """
        script, calls, results = list[dict[str, Any]](), Counter[str](), Counter[str]()
        for step in self.steps:
            block, call_id = step.block, step.block.call_id
            if block.kind == "result":
                results[call_id] += 1
                result = {
                    "type": "tool_result",
                    "call_id": _nth(call_id, results[call_id]),
                    "result": block.text,
                }
                failed = block.failed or _RAISED.match(block.text)
                script.append({**result, **({"success": False} if failed else {})})
                continue
            is_open = calls[call_id] >= self.answered[call_id] and call_id not in begun
            is_answer = any(name_matches(glob, block.tool) for glob in _NO_TOOLS)
            if is_open and (is_answer or self.asked[step.asked] > 1):
                continue
            calls[call_id] += 1
            tool = names(block.tool)[-1]
            recorded = {"recorded_tool": block.tool} if tool != block.tool else {}
            call = {"type": "tool_call", "tool": tool, "call_id": _nth(call_id, calls[call_id]), **recorded}
            script.append({**call, "args": _args(block.text)})
        return script

    def lacking(
        self,
        trace: Trace,
        names: Callable[[str], Sequence[str]],
        *,
        begun: Collection[str] = (),
        has_results: bool = True,
        has_harness: bool = False,
    ) -> list[str]:
        """List the facts that the trace lacks, in words. `begun` are ids of calls that the harness is known to have begun;
        `has_results` is false for a recording that need not show results, as spans are; `has_harness` is true for an
        agent whose harness has tools of its own, which its recording need not show.
        """
        recorded, lacking = list(trace.calls()), []
        for call in self._went_through(begun, (*HARNESS_TOOLS, *_NO_TOOLS) if has_harness else _NO_TOOLS):
            known = {_plain(name) for name in names(call.tool)}
            found = next(_fitting(recorded, call.call_id, known), None)
            if found is None:
                lacking.append(f"the call of {call.tool} with {call.text[:_SHOWN]}")
                continue
            recorded.remove(found)
            if has_results and self.answered[call.call_id] and not (found.results or found.errors):
                lacking.append(f"the result of {call.tool} with {call.text[:_SHOWN]}")
        return lacking

    def _went_through(self, begun: Collection[str], passed_over: Sequence[str]) -> Iterator[Block]:
        counted: Counter[str] = Counter()
        for call in self.made:
            counted[call.call_id] += 1
            own = any(name_matches(glob, call.tool) for glob in passed_over)
            if not own and (counted[call.call_id] <= self.answered[call.call_id] or call.call_id in begun):
                yield call


def _nth(call_id: str, number: int) -> str:
    """An id of its own for a call if other turns have its id as well."""
    return call_id if number == 1 else f"{call_id}#{number}"


def _args(text: str) -> dict[str, Any] | None:
    """The arguments of a call; of a tool that takes a text, this text; None for JSON that is broken."""
    try:
        args = json.loads(text)
    except (ValueError, RecursionError):
        return None if text.lstrip().startswith("{") else {"input": text}
    return args if isinstance(args, dict) else {"input": args}


def _fitting(recorded: Sequence[ToolCall], call_id: str, known: Collection[str]) -> Iterator[ToolCall]:
    """The recorded calls that may be a call: that with its id, then those that name the tool."""
    for call in recorded:
        if call_id and call.call_id == call_id and _is_named(call, known, in_part=True):
            yield call
    for call in recorded:
        if _is_named(call, known):
            yield call


def _is_named(call: ToolCall, known: Collection[str], *, in_part: bool = False) -> bool:
    names = {_plain(each) for name in call.names for each in (name, name.rsplit("__", 1)[-1])}
    return not names.isdisjoint(known) or (
        in_part and any(name and (name in each or each in name) for name in names for each in known)
    )


def _plain(name: str) -> str:
    """A name without what services and recorders write differently: case, dots, dashes."""
    return re.sub(r"[^a-z0-9]", "", name.lower()) or name


def incomplete(lacking: Sequence[str]) -> AdapterError:
    """The error for a recording that lacks what went through the proxy."""
    more = f", and {len(lacking) - 1} more" if len(lacking) > 1 else ""
    return live_error(
        "live.recording_incomplete",
        f"the recording that the agent left lacks {lacking[0]}, which went through the proxy{more}",
        "have the agent record every call under the tool's own name, with its result",
    )
