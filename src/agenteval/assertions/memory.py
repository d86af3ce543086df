"""Memory that is used (SPEC 14): what a group's memory holds shows in what the agent does.

A memory event belongs to the group that owns the memory (`data.group_id`), not to the group that the agent acts
for. Memory of another group is never evidence here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from agenteval.assertions.base import Assertion, Category, Proof, Verdict, failed, passed, unsupported
from agenteval.assertions.final_output import has_output, no_output, output_events
from agenteval.assertions.looks import Looks
from agenteval.assertions.output import OutputContains
from agenteval.assertions.telling import failed_calls
from agenteval.spec import Name, TestCase
from agenteval.strict import model
from agenteval.trace import Event, Trace

TAKEN_OUT = "instead of: "
"""How the summary of a change begins that tells what is no longer there."""
MEMORY_EVENTS = ("memory_read", "memory_write")


def owner(event: Event) -> str | None:
    """The group whose memory a memory event is about."""
    group = event.data.get("group_id") or event.group_id
    return None if group is None else str(group)


@model
class MemoryRecallSameGroup(Assertion):
    """The agent used what the group's memory holds.

    `evidence` says what counts:
    `event`: a `memory_read` of the group's memory before the answer; an `output` block is not judged.
    `output`: the final output honours the fact. If there is an `output` block, it decides. Otherwise the fact
    does: if it states a form (bullets, their number, sentences, words, numbered lists, tables, JSON, a language,
    brevity, no preamble), the output must have that form, where brief means at most 120 words; for any other fact,
    the output must contain half of its content words, not counting those in the messages being answered, unless all
    are in them, nor those that the fact rules out ("Postgres, not MySQL"); where words are not separated by spaces,
    as in Chinese, every two characters in a row count as a word. If the fact names a day of the week, a date, a time
    or a number, any spelling of it counts, all of them together suffice if one has two digits or more, and the output
    must not name only others of the same kind (for a number: of the same unit, or counting the same thing), unless
    those messages name it too.
    `both`: both of these.
    `auto`: `event` if the adapter supports memory events, plus the `output` block if given; otherwise
    `output`.

    A `memory_read` of another group is not evidence, nor is one that shows only the file's name
    (`names_only`). With `event` or `both`, the assertion is skipped if the adapter does not support memory
    events and the recording holds no `memory_read`; one that it holds is judged all the same.
    """

    type: ClassVar[str] = "memory_recall_same_group"
    category: ClassVar[Category] = "memory"
    failure_category: ClassVar[str] = "memory not recalled"
    proves: ClassVar[tuple[Proof, ...]] = ("pass",)
    example: ClassVar[str] = """\
expected_memory_fact: Dana prefers answers as 3 short bullets
evidence: both
output:
  regex: ['^- ']
"""

    expected_memory_fact: Name
    """The fact that the memory holds and the answer should honour, in words."""
    group_id: Name | None = None
    """The group whose memory counts; the scenario's, when left out."""
    evidence: Literal["auto", "event", "output", "both"] = "auto"
    """What shows that the fact was recalled."""
    output: OutputContains | None = None
    """What the final output must contain to honour the fact: the parameters of `output_contains`."""

    def looks_at(self) -> Looks:
        """Reads of memory, the final output, or both."""
        by_event = {"memory_read"} if self.evidence != "output" else set()
        by_output = {"final_output"} if self._judges_block or self.evidence in ("output", "both") else set()
        return Looks(event_types=frozenset(by_event | by_output))

    @property
    def _judges_block(self) -> bool:
        return self.output is not None and self.evidence != "event"

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace."""
        supported = trace.capabilities.supports_memory_events
        group = self.group_id or case.scenario.group_id
        if self.evidence in ("event", "both") and not supported and not trace.of_type("memory_read"):
            return unsupported(
                "supports_memory_events",
                f"evidence: {self.evidence} needs supports_memory_events, "
                "which the adapter does not support for this recording",
            )
        by_event = self.evidence in ("event", "both") or (self.evidence == "auto" and supported)
        by_output = not by_event or self.evidence == "both" or self._judges_block
        verdicts = []
        if by_event:
            verdicts.append(self._by_event(trace, group))
        if by_output:
            verdicts.append(replace(self._by_output(trace, case), proven=True))
        return _joined(verdicts, group_id=group, evidence=[*["event"] * by_event, *["output"] * by_output])

    def _by_event(self, trace: Trace, group: str) -> Verdict:
        end = _answered(trace)
        reads = [event for event in trace.of_type("memory_read") if not event.data.get("names_only")]
        own = [event for event in reads if owner(event) == group and event.seq < end]
        observed: dict[str, Any] = {"memory_reads": [event.event_id for event in own]}
        if own:
            shown = ", ".join(event.event_id for event in own[:5])
            beside = (
                "; evidence: event leaves the output block unjudged"
                if self.output and not self._judges_block
                else ""
            )
            return passed(f"the memory of group {group} was read ({shown}){beside}", events=own, **observed)
        others = [(event, self._no_evidence(event, group)) for event in reads]
        apart = f"; {others[0][0].event_id} is {others[0][1]}" if others else ""
        return failed(
            f"expected a memory_read of group {group} before the answer, got none{apart}",
            closest=others[:3] or failed_calls(trace.calls()),
            memory_reads=[],
        )

    def _no_evidence(self, event: Event, group: str) -> str:
        if owner(event) == group:
            return "a read after the answer"
        return f"a read of group {owner(event)}, which is not evidence for group {group}"

    def _by_output(self, trace: Trace, case: TestCase) -> Verdict:
        fact = self.expected_memory_fact
        if not has_output(trace):
            return no_output(f'the output to honour "{fact}"', trace)
        if self.output is not None:
            verdict = self.output.check(trace, case)
            if not verdict.passed:
                verdict.message = f'"{fact}" is not honoured: {verdict.message}'
            return verdict
        from agenteval.language.remembered import requests

        found = requests(fact, trace.output, [message.content for message in trace.input_messages])
        events = output_events(trace)
        if not found:
            return failed(
                f'expected the output to honour "{fact}", which says nothing to look for: give an output block',
                events=events,
            )
        observed: dict[str, Any] = {
            "asked": [{"wanted": r.wanted, "got": r.got, "met": r.met} for r in found]
        }
        unmet = [request for request in found if not request.met]
        if unmet:
            lines = "; ".join(f"expected {request.wanted}, got {request.got}" for request in unmet)
            return failed(f'the output does not honour "{fact}": {lines}', events=events, **observed)
        held = ", ".join(request.wanted for request in found)
        return passed(f'the output honours "{fact}": {held}', events=events, **observed)


def _answered(trace: Trace) -> float:
    """When the answer went out: at the last send that delivered it, if any did; infinite without an answer."""
    answers = trace.of_type("final_output")[-1:]
    sent_by = [call_id for answer in answers for call_id in answer.data.get("sent_by") or ()]
    sends = [call.event.seq for call in trace.calls() if call.call_id in sent_by]
    return max(sends or [answer.seq for answer in answers], default=float("inf"))


def _joined(verdicts: Sequence[Verdict], **observed: Any) -> Verdict:
    """All verdicts as one, which passes when all do."""
    wrong = [verdict for verdict in verdicts if not verdict.passed]
    events = [event for verdict in verdicts for event in verdict.events]
    for verdict in verdicts:
        observed |= verdict.observed
    message = "; ".join(verdict.message for verdict in wrong or verdicts)
    if wrong:
        closest = [near for verdict in wrong for near in verdict.closest]
        proven = any(verdict.proven for verdict in wrong)
        return failed(message, events=events, closest=closest, proven=proven, **observed)
    return passed(message, events=events, **observed)
