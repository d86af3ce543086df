"""Memory that is used (SPEC 14): what a group's memory holds shows in what the agent does.

A memory event belongs to the group that owns the memory (`data.group_id`), not to the group that the agent acts
for. Memory of another group is never evidence here.
"""

# ruff: noqa: RUF001 - curly quotation marks are meant

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from agenteval.assertions.base import Assertion, Category, Looks, Proof, Verdict, failed, passed, unsupported
from agenteval.assertions.output import OutputContains
from agenteval.assertions.telling import failed_calls, has_output, no_output, output_events
from agenteval.contracts.models import WrongPart, model
from agenteval.contracts.testcase import Name, TestCase
from agenteval.contracts.trace import ASSISTANT, Event, Trace
from agenteval.text.fitting import around
from agenteval.text.parts import blocks, composed, sentences, texts
from agenteval.text.regexes import lazy
from agenteval.text.words import find_phrase

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
        from agenteval.assertions.remembered import requests

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


@model
class MemoryUpdateOnCorrection(Assertion):
    """After the user corrected the agent, the agent corrected its memory.

    The correcting message is the first one received that contains `new_value`, otherwise the last one
    received. Passes if, after it, a `memory_write` of the group's memory contains `new_value` (in `content`
    or `change_summary`, in which "instead of: " introduces what was removed), no later write removes it, and
    the final output does not use `old_value`. A later write of the same file that repeats a line of it, or has it with
    the old value, replaces the file; any other adds to it. Values are found as whole words in any case: `5` is not in
    `15`; a date, a time or a number in any spelling; the new value also with an `s`. An old value that the output
    itself corrects does not count: "not Tuesday", "instead of Tuesday", "I had noted Tuesday", or "moved from Tuesday
    to Thursday".
    """

    type: ClassVar[str] = "memory_update_on_correction"
    category: ClassVar[Category] = "memory"
    failure_category: ClassVar[str] = "memory not updated"
    implied: ClassVar[tuple[str, ...]] = ("supports_memory_events",)
    example: ClassVar[str] = "new_value: Thursday\nold_value: Tuesday\n"

    new_value: Name
    """The value that is right from now on."""
    old_value: Name | None = None
    """The value that was right before; the output must not use it."""
    group_id: Name | None = None
    """The group whose memory counts; the scenario's, when left out."""

    def __post_init__(self) -> None:
        if self.old_value is not None and not self.old_value.strip():
            raise WrongPart("old_value is blank: no output could be found to use it", "old_value")
        if self.old_value is not None and self.old_value.casefold() == self.new_value.casefold():
            raise ValueError(
                f"old_value and new_value are the same, {self.new_value!r}: nothing is corrected"
            )

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace."""
        group = self.group_id or case.scenario.group_id
        correction = self._correction(trace)
        since = correction.seq if correction else 0
        right = self._right(trace, group, since)
        uses = self._uses_of_old(trace.output)
        observed: dict[str, Any] = {
            "group_id": group,
            "correcting_message": correction.event_id if correction else None,
            "memory_writes": [event.event_id for event in right],
            "old_value_in_output": uses,
        }
        place = f"after the correction ({correction.event_id})" if correction else "(no message was received)"
        wrong = []
        if not right:
            wrong.append(
                f'expected a memory_write of group {group} {place} that holds "{self.new_value}", got none'
            )
        if uses:
            wrong.append(f'expected the output not to use "{self.old_value}", got "{uses[0]}"')
        if wrong:
            return failed(
                "; ".join(wrong),
                events=[
                    *(right[:1] or ([correction] if correction else [])),
                    *(output_events(trace) if uses else ()),
                ],
                closest=[] if right else self._almost(trace, group, since),
                proven=bool(uses),
                category="outdated value in the output" if right else "",
                **observed,
            )
        old = f', and the output does not use "{self.old_value}"' if self.old_value else ""
        return passed(
            f'the memory of group {group} holds "{self.new_value}" since {right[0].event_id}{old}',
            events=right,
            **observed,
        )

    def looks_at(self) -> Looks:
        """Writes of memory, and the final output when there is an old value to look for."""
        return Looks(event_types=frozenset(["memory_write"] + ["final_output"] * bool(self.old_value)))

    def _correction(self, trace: Trace) -> Event | None:
        received = [e for e in trace.of_type("message_received") if e.data.get("role") != ASSISTANT]
        for event in received:
            if self._has_new(str(event.data.get("content") or "")):
                return event
        return received[-1] if received else None

    def _has_new(self, text: str) -> bool:
        return next(self._places_of_new(text), None) is not None

    def _places_of_new(self, text: str) -> Iterator[int]:
        """Where a text has the new value, in any spelling or as a plural."""
        from agenteval.text.values import spellings

        text, new = composed(text), composed(self.new_value)
        for spelling in (*spellings(new, text), *([f"{new}s"] if new[-1].isalpha() else ())):
            for start, _ in find_phrase(text, spelling, but_not=composed(self.old_value or "")):
                yield start

    def _right(self, trace: Trace, group: str, since: int) -> list[Event]:
        """The writes after the correction that hold the new value, except where the file lost it again."""
        right: list[Event] = []
        left: dict[str, str] = {}
        for event in trace.of_type("memory_write"):
            if event.seq <= since or owner(event) != group:
                continue
            path = str(event.data.get("path"))
            added, taken = _changes(event)
            before = left.get(path, "")
            told = texts(event.data.get("change_summary"))
            left[path] = self._after(before, "\n".join(added), taken, told)
            if self._holds_new(event):
                right.append(event)
            elif not self._has_new(left[path]):
                right = [each for each in right if str(each.data.get("path")) != path]
        return right

    def _after(self, text: str, added: str, taken: str, told: Sequence[str]) -> str:
        """What is left of what was written to a file once it is changed, as far as the new value goes.

        What is told of the change (`told`) is not in the file, and may be told of many. Lines that are taken out elsewhere in the file may hold the value, too: they leave these alone.
        """
        if taken and taken in text:
            return text.replace(taken, added)
        if not taken and self._is_anew(text, added, told):
            return added
        lines = text.split("\n")
        for gone in [line.strip() for line in taken.split("\n") if self._has_new(line)]:
            held = (line for line in lines if self._has_new(line) and (line.strip() in gone or gone in line))
            if (lost := next(held, None)) is not None:
                lines.remove(lost)
        return "\n".join([*lines, added])

    def _is_anew(self, text: str, added: str, told: Sequence[str]) -> bool:
        """Whether a write is of the whole file: it repeats a line that is there, or has it with the old value again."""
        there, written, summary = (
            {*map(str.strip, each.casefold().split("\n"))} for each in (text, added, "\n".join(told))
        )
        new, old = self.new_value.casefold(), (self.old_value or "").casefold()
        back = {line.replace(new, old) for line in there if old and self._has_new(line)}
        return any(map(str.isalnum, "".join(written & (there - summary | back))))

    def _holds_new(self, event: Event) -> bool:
        return any(map(self._has_new, _changes(event)[0]))

    def _almost(self, trace: Trace, group: str, since: int) -> list[tuple[Event, str]]:
        found = []
        for event in trace.of_type("memory_write"):
            notes = []
            if owner(event) != group:
                notes.append(f"group_id: expected {group}, got {owner(event)}")
            if event.seq < since:
                notes.append("it comes before the correction")
            if not self._holds_new(event):
                notes.append(f'content: expected to hold "{self.new_value}"')
            found.append((len(notes), event, "; ".join(notes) or "it was removed again"))
        found.sort(key=lambda item: (item[0], item[1].seq))
        return [(event, note) for _, event, note in found[:3]] or failed_calls(trace.calls())

    def _uses_of_old(self, output: str) -> list[str]:
        """The sentences of the output that use the old value as if it still held."""
        if self.old_value is None:
            return []
        from agenteval.text.values import spellings

        old, new = composed(self.old_value), composed(self.new_value)
        found = []
        for block in blocks(composed(output)):
            for sentence in sentences(block.text):
                starts = (
                    start
                    for spelling in spellings(old, sentence)
                    if spelling.casefold() != new.casefold()
                    for start, _ in find_phrase(sentence, spelling, but_not=new)
                )
                wrong = next((start for start in starts if not self._set_right(sentence, start)), None)
                if wrong is not None:
                    found.append(around(sentence, wrong, 200))
        return found

    def _set_right(self, sentence: str, start: int) -> bool:
        before = sentence[:start]
        if _DENIAL.search(before):
            return True
        if _CLAIM.search(before):
            return False
        if not self._has_new(sentence):
            return False
        news = (at for at in self._places_of_new(sentence) if at > start)
        return bool(_CHANGE.search(sentence)) or any(_NOW.match(sentence, start, at) for at in news)


_DENIAL = lazy(
    r"(?:\b(?:not|no|no longer|instead of|rather than|formerly|previously|(?:replac|remov|delet)(?:es|ed|ing)|in place of"
    r"|used to be|nicht(?: mehr)?|(?:an)?statt|pas|au lieu|en lugar|en vez)|n['’]t)"
    r"(?:\s+(?:is|on|at|in|by|to|the|a|an|for|be|as|use|usual|old|note|entry|about|of|am|um|de[lmnru]?|le|la|el))*\s+[\"“'‘*_~]*$"
    r"|\b(?:I\s+(?:had|thought|assumed|believed)|previously|originally|mistakenly|wrongly|incorrectly)"
    r"(?:\s+(?:had|noted|saved|stored|recorded|remembered|assumed|written|wrote|said|meant|down|you|it|that|was|were|as|on|at|in))*"
    r"\s+[\"“'‘*_~]*$"
    r"|^\W*(?:previous(?:ly)?|former(?:ly)?|old|before|was|removed|deleted)(?:\s+\w+)?\W*:\W*$",
    re.IGNORECASE,
)
"""What stands right before a value that is not meant to hold."""
_CLAIM = lazy(r"\b(?:to|now|is|stays|remains)(?:\s+(?:on|at|in))?\s+[\"“'‘*_]*$", re.IGNORECASE)
"""What stands right before a value that is meant to hold."""
_NOW = lazy(r"[^,;]*\bnow(?:\s+(?:on|at|in))?\s+[\"“'‘*_]*\Z", re.IGNORECASE)
"""What stands between an old value and the one that took its place: "Tuesday's class is now on Thursday"."""
_CHANGE = lazy(
    r"\b(?:from|previous(?:ly)?|former(?:ly)?|was|had|used to|old|earlier|chang(?:ed?|ing)|replac(?:ed?|es|ing)|moved"
    r"|updated|switched|corrected|instead|rather than|no longer|any ?more)\b|~~|→|->",
    re.IGNORECASE,
)
"""What tells in a sentence with both values that one took the place of the other."""


def _changes(event: Event) -> tuple[list[str], str]:
    """The pieces of text that a write added to memory, and what it removed."""
    summary = texts(event.data.get("change_summary"))
    added = [*texts(event.data.get("content")), *(text for text in summary if not text.startswith(TAKEN_OUT))]
    taken = [text.removeprefix(TAKEN_OUT) for text in summary if text.startswith(TAKEN_OUT)]
    return added, "\n".join(taken)
