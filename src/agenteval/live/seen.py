"""The tool calls that went through the proxy, held against those that the agent's own recording has.

A recorder may lose a call: `must_not_call_tool` would pass though the model made the call and was sent its result. A
call counts once its result is sent back, or once the harness has begun it. One that the agent dropped, or a request
that it made a second time, is not asked for.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import ToolCall, Trace
from agenteval.live.fixtures import HARNESS_TOOLS
from agenteval.live.options import live_error
from agenteval.live.wires import Block
from agenteval.text.names import name_matches

_SHOWN = 200
_NO_TOOLS = ("transfer_to_*", "*handoff*", "final_result*")
"""Names by which frameworks hand over to another agent, or take the answer itself: they record no call for these."""


@dataclass(slots=True)
class SeenCalls:
    """What one run's proxy saw: calls in the model's answers, and results in the requests that followed."""

    made: list[Block] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    """How many results a request had at most, by the id of their call: some services use the same ids in each turn."""

    def learn_results(self, results: Iterable[Block]) -> None:
        """Take in the results in a request: of calls that the model has made, and not of those before the run."""
        made = {each.call_id for each in self.made}
        self.answered |= Counter(each.call_id for each in results if each.call_id in made)

    def lacking(
        self,
        trace: Trace,
        names: Callable[[str], Sequence[str]],
        *,
        begun: Collection[str] = (),
        has_results: bool = True,
        has_harness: bool = False,
    ) -> list[str]:
        """What the trace lacks, in words. `begun` are ids of calls that the harness is known to have begun;
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
