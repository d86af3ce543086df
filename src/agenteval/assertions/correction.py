"""Memory that is corrected (SPEC 14): what the user corrects is written, and no longer said.

A memory event belongs to the group that owns the memory, not to the group that the agent acts for.
"""

# ruff: noqa: RUF001 - curly quotation marks are meant

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from agenteval.assertions.base import Assertion, Category, Verdict, failed, passed
from agenteval.assertions.final_output import output_events
from agenteval.assertions.looks import Looks
from agenteval.assertions.memory import TAKEN_OUT, owner
from agenteval.assertions.telling import failed_calls
from agenteval.findings import WrongPart
from agenteval.language.content_words import find_phrase
from agenteval.lazyregex import lazy
from agenteval.shortening import around
from agenteval.spec import Name, TestCase
from agenteval.strict import model
from agenteval.text import blocks, composed, sentences, texts
from agenteval.trace import ASSISTANT, Event, Trace


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
        from agenteval.language.values import spellings

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
        from agenteval.language.values import spellings

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
