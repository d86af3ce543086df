"""Use and correction of a group's own memory (SPEC 14).

A memory event belongs to the group that owns the memory (`data.group_id`), not to the group that the agent acts
for. Memory of another group is never evidence here.
"""

# ruff: noqa: RUF001 - curly quotation marks and en dashes are meant

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

from agenteval.assertions.base import (
    Assertion,
    Category,
    Proof,
    Scope,
    Verdict,
    amount,
    failed,
    failed_calls,
    has_output,
    ids,
    no_output,
    output_events,
    passed,
    unsupported,
)
from agenteval.assertions.output import OutputContains
from agenteval.contracts.models import WrongPart, model
from agenteval.contracts.testcase import Name, TestCase
from agenteval.contracts.trace import ASSISTANT, Event, Trace
from agenteval.text.fitting import around
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import (
    blocks,
    bullets,
    composed,
    is_blank,
    paragraphs,
    sentences,
    texts,
    words,
)
from agenteval.text.values import Comparison, spellings, told
from agenteval.text.words import (
    content_words,
    find_phrase,
    plain_form,
    words_or_pairs,
)

TAKEN_OUT = "instead of: "
"""The beginning of a change summary that holds removed text."""
MEMORY_EVENTS = ("memory_read", "memory_write")


def owner(event: Event) -> str | None:
    """Return the group that owns the memory of an event; None if the event names none."""
    group = event.data.get("group_id") or event.group_id
    return None if group is None else str(group)


@model
class MemoryRecallSameGroup(Assertion):
    """The agent used a fact of the group's memory.

    `evidence` decides what must be there:
    `event`: a `memory_read` of the group's memory before the answer, and not just of a file's name.
    `output`: a final output that passes the `output` block. Without a block, the fact itself decides. If it states the form of
    answers (a number of bullets, sentences, words, paragraphs or lines, no preamble, or brevity: 120 words), the output must have
    that form. A language, JSON, a table or a numbered list cannot be judged this way and needs an `output` block. For any other
    fact, the output must hold half of its content words, without those of the message that is answered and those that the fact
    rules out. It must not hold another day, date, time or number in place of the fact's own.
    `auto`: `event`, and the `output` block if given, if the adapter supports memory events; else `output`.

    `event` and `both` are skipped if the adapter does not support memory events and none is recorded.
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
    """The fact that the answer should honour, in plain words."""
    group_id: Name | None = None
    """The group whose memory counts; else the scenario's."""
    evidence: Literal["auto", "event", "output", "both"] = "auto"
    """The evidence that the fact was recalled; `both` requires `event` and `output`."""
    output: OutputContains | None = None
    """The content that the final output must have."""

    def __post_init__(self) -> None:
        if is_blank(self.expected_memory_fact):
            raise WrongPart(
                "expected_memory_fact is blank: no answer could be held to it", "expected_memory_fact"
            )

    def looks_at(self) -> Scope:
        """Return reads of memory, the final output, or both."""
        by_event = {"memory_read"} if self.evidence != "output" else set()
        by_output = {"final_output"} if self._judges_block or self.evidence in ("output", "both") else set()
        return Scope(event_types=frozenset(by_event | by_output))

    @property
    def _judges_block(self) -> bool:
        return self.output is not None and self.evidence != "event"

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        supported = trace.capabilities.supports_memory_events
        group = self.group_id or case.scenario.group_id
        if self.evidence in ("event", "both") and not supported and not trace.of_type("memory_read"):
            return unsupported("supports_memory_events", f"evidence: {self.evidence}")
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
        observed: dict[str, Any] = {"memory_reads": ids(own)}
        if own:
            shown = ", ".join(ids(own[:5]))
            is_unjudged = self.output is not None and not self._judges_block
            beside = "; evidence: event leaves the output block unjudged" * is_unjudged
            return passed(f"the memory of group {group} was read ({shown}){beside}", events=own, **observed)
        others = [
            (event, "a read after the answer" if owner(event) == group else f"a read of group {owner(event)}")
            for event in reads
        ]
        apart = f"; {others[0][0].event_id} is {others[0][1]}" if others else ""
        return failed(
            f"expected a memory_read of group {group} before the answer, got none{apart}",
            closest=others[:3] or failed_calls(trace.calls()),
            memory_reads=[],
        )

    def _by_output(self, trace: Trace, case: TestCase) -> Verdict:
        fact = self.expected_memory_fact
        if not has_output(trace):
            return no_output(f'the output to honour "{fact}"', trace)
        if self.output is not None:
            verdict = self.output.check(trace, case)
            if not verdict.passed:
                verdict.message = f'"{fact}" is not honoured: {verdict.message}'
            return verdict
        found = requests(fact, trace.output, [message.content for message in trace.input_messages])
        events = output_events(trace)
        if not found:
            return failed(
                f'expected the output to honour "{fact}", which says nothing to look for: give an output block',
                events=events,
            )
        asked = [{"wanted": each.wanted, "got": each.got, "met": each.met} for each in found]
        if unmet := [each for each in found if not each.met]:
            lines = "; ".join(f"expected {each.wanted}, got {each.got}" for each in unmet)
            return failed(f'the output does not honour "{fact}": {lines}', events=events, asked=asked)
        held = ", ".join(each.wanted for each in found)
        return passed(f'the output honours "{fact}": {held}', events=events, asked=asked)


def _answered(trace: Trace) -> float:
    """Return the `seq` at which the answer went out, infinite if there is none.

    An answer that tool calls delivered went out with the last of them. What the agent read after that did not shape it.
    """
    answers = trace.of_type("final_output")[-1:]
    sent_by = [call_id for answer in answers for call_id in answer.data.get("sent_by") or ()]
    sends = [call.event.seq for call in trace.calls() if call.call_id in sent_by]
    return max(sends or [answer.seq for answer in answers], default=float("inf"))


def _joined(verdicts: Sequence[Verdict], **observed: Any) -> Verdict:
    """Join verdicts to one, which passes if all of them pass."""
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

    The correction is the first message that contains `new_value`, or else the last message. Passes if a later `memory_write` of the
    group's memory contains `new_value`, and the final output does not use `old_value`. The value must stay in the file: no later
    write may remove it (by its `change_summary`: "instead of: ...") or repeat its line with the old value.
    Values are whole words in upper or lower case; dates, times and numbers may have any spelling. The output may deny the old
    value or put it into the past: "not Tuesday", "moved from Tuesday".
    """

    type: ClassVar[str] = "memory_update_on_correction"
    category: ClassVar[Category] = "memory"
    failure_category: ClassVar[str] = "memory not updated"
    implied: ClassVar[tuple[str, ...]] = ("supports_memory_events",)
    example: ClassVar[str] = "new_value: Thursday\nold_value: Tuesday\n"

    new_value: Name
    """The value that is right since the correction."""
    old_value: Name | None = None
    """The value that was right before the correction."""
    group_id: Name | None = None
    """The group whose memory counts; else the scenario's."""

    def __post_init__(self) -> None:
        if is_blank(self.new_value):
            raise WrongPart("new_value is blank, and every memory holds it", "new_value")
        if self.old_value is not None and is_blank(self.old_value):
            raise WrongPart("old_value is blank: no output could be found to use it", "old_value")
        if self.old_value is not None and self.old_value.casefold() == self.new_value.casefold():
            raise ValueError(
                f"old_value and new_value are the same, {self.new_value!r}: nothing is corrected"
            )

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        group = self.group_id or case.scenario.group_id
        correction = self._correction(trace)
        since = correction.seq if correction else 0
        right = self._right(trace, group, since)
        uses = self._uses_of_old(trace.output)
        new = f'"{self.new_value}"'
        observed: dict[str, Any] = {
            "group_id": group,
            "correcting_message": correction.event_id if correction else None,
            "memory_writes": [event.event_id for event in right],
            "old_value_in_output": uses,
        }
        place = f"after the correction ({correction.event_id})" if correction else "(no message was received)"
        wrong = (
            [] if right else [f"expected a memory_write of group {group} {place} that holds {new}, got none"]
        )
        wrong += [f'expected the output not to use "{self.old_value}", got "{uses[0]}"'] if uses else []
        if wrong:
            events = right[:1] or [event for event in [correction] if event]
            return failed(
                "; ".join(wrong),
                events=[*events, *(output_events(trace) if uses else ())],
                closest=[] if right else self._almost(trace, group, since),
                proven=bool(uses),
                category="outdated value in the output" if right else "",
                **observed,
            )
        old = f', and the output does not use "{self.old_value}"' if self.old_value else ""
        message = f"the memory of group {group} holds {new} since {right[0].event_id}{old}"
        return passed(message, events=right, **observed)

    def looks_at(self) -> Scope:
        """Return writes of memory, and the final output if there is an old value to look for."""
        return Scope(event_types=frozenset(["memory_write"] + ["final_output"] * bool(self.old_value)))

    def _correction(self, trace: Trace) -> Event | None:
        received = [e for e in trace.of_type("message_received") if e.data.get("role") != ASSISTANT]
        naming = (event for event in received if self._has_new(str(event.data.get("content") or "")))
        return next(naming, received[-1] if received else None)

    def _has_new(self, text: str) -> bool:
        return any(True for _ in self._places_of_new(text))

    def _places_of_new(self, text: str) -> Iterator[int]:
        """Yield the places where a text has the new value, in any spelling or as a plural."""
        text, new = composed(text), composed(self.new_value)
        for spelling in (*spellings(new, text), *([f"{new}s"] if new[-1].isalpha() else ())):
            for start, _ in find_phrase(text, spelling, but_not=composed(self.old_value or "")):
                yield start

    def _right(self, trace: Trace, group: str, since: int) -> list[Event]:
        """Return the writes after the correction that hold the new value, unless the file lost it again."""
        right: list[Event] = []
        for event in trace.of_type("memory_write"):
            if event.seq <= since or owner(event) != group:
                continue
            added, taken = _changes(event)
            if self._holds_new(event):
                right.append(event)
            else:  # the file may have lost the value: keep only writes that this one leaves as they are
                right = [
                    each
                    for each in right
                    if each.data.get("path") != event.data.get("path")
                    or not (self._takes_out(taken) or self._with_old(each) & _lines(added))
                ]
        return right

    def _takes_out(self, taken: str) -> bool:
        """Return whether the text that a write removed has the new value, or is a part of it."""
        part = taken.strip().casefold()
        return self._has_new(taken) or (bool(part) and part in self.new_value.casefold())

    def _with_old(self, event: Event) -> set[str]:
        """Return the lines with the new value that a write added, with the old value put in its place."""
        new, old = self.new_value.casefold(), (self.old_value or "").casefold()
        return {line.replace(new, old) for line in _lines(_changes(event)[0]) if old and new in line}

    def _holds_new(self, event: Event) -> bool:
        return any(map(self._has_new, _changes(event)[0]))

    def _almost(self, trace: Trace, group: str, since: int) -> list[tuple[Event, str]]:
        """Return the three writes with the fewest differences; if there are none, the calls that failed."""
        found = []
        for event in trace.of_type("memory_write"):
            notes = [f"group_id: expected {group}, got {owner(event)}"] if owner(event) != group else []
            notes += ["it comes before the correction"] if event.seq < since else []
            if not self._holds_new(event):
                notes.append(f'content: expected to hold "{self.new_value}"')
            found.append((len(notes), event, "; ".join(notes) or "it was removed again"))
        found.sort(key=lambda item: (item[0], item[1].seq))
        return [(event, note) for _, event, note in found[:3]] or failed_calls(trace.calls())

    def _uses_of_old(self, output: str) -> list[str]:
        """Return the sentences of the output that use the old value as if it were still right."""
        if self.old_value is None:
            return []
        old, new = composed(self.old_value), composed(self.new_value)
        found = []
        for sentence in (each for block in blocks(composed(output)) for each in sentences(block.text)):
            starts = _places_of_old(sentence, old, new)
            wrong = next((start for start in starts if not self._set_right(sentence, start)), None)
            if wrong is not None:
                found.append(around(sentence, wrong, 200))
        return found

    def _set_right(self, sentence: str, start: int) -> bool:
        """Return whether a sentence denies the old value at `start`, or puts it into the past."""
        clause = _CLAUSE.split(sentence[:start])[-1]
        # "not on Thursday but Tuesday" denies the new value, so only the words behind it may deny the old one.
        for end in [*self._places_of_new(clause)][-1:]:
            clause = clause[end + len(self.new_value) :]
        if _DENIED.search(clause):
            return _HOLDS.search(clause) is None
        return any(
            at > start and _REPLACED.search(sentence[start:at]) for at in self._places_of_new(sentence)
        )


def _places_of_old(sentence: str, old: str, new: str) -> Iterator[int]:
    """Yield the places where a sentence has the old value, in any spelling, but not as a part of the new one."""
    for spelling in spellings(old, sentence):
        if spelling.casefold() != new.casefold():
            yield from (start for start, _ in find_phrase(sentence, spelling, but_not=new))


_CLAUSE = lazy(r"[,;](?=\s)")
_DENIED = lazy(
    r"\b(?:not|no longer|instead of|in place of|rather than|former(?:ly)?|previous(?:ly)?|old|was|were|had|from|used to"
    r"|thought|believed|assumed|mistaken(?:ly)?|(?:chang|replac|remov|delet|updat|mov)\w+"
    r"|nicht|(?:an)?statt|pas|au lieu|en lugar|en vez)\b|n['’]t\b|~~",
    re.IGNORECASE,
)
"""Words before a value, in the same clause, that deny it or put it into the past."""
_HOLDS = lazy(r"\b(?:to|now|is|stays|remains)(?:\s+(?:on|at|in))?\s+[\"“'‘*_]*$", re.IGNORECASE)
"""Words right before a value that assert it after all: "I had it moved to Tuesday"."""
_REPLACED = lazy(r"^[^,;]*(?:\b(?:now|moved|changed)\b|→|->)[^,;]*$", re.IGNORECASE)
"""Words between an old value and the new one: "Tuesday's class is now on Thursday"."""


def _lines(pieces: Sequence[str]) -> set[str]:
    return {line.strip() for piece in pieces for line in piece.casefold().split("\n")}


def _changes(event: Event) -> tuple[list[str], str]:
    """Return the pieces of text that a write added to memory, and the text that it removed."""
    summary = texts(event.data.get("change_summary"))
    added = [*texts(event.data.get("content")), *(text for text in summary if not text.startswith(TAKEN_OUT))]
    taken = [text.removeprefix(TAKEN_OUT) for text in summary if text.startswith(TAKEN_OUT)]
    return added, "\n".join(taken)


MOST_WORDS_OF_BRIEF = 120
"""The most words of a brief answer."""


class Request(NamedTuple):
    """A demand that a fact makes on an answer, with the wanted and the actual value for a message."""

    wanted: str
    got: str
    met: bool


def requests(fact: str, answer: str, asked: Sequence[str] = ()) -> list[Request]:
    """Judge each demand of the fact on the answer: on its form if the fact states one, else on its content.

    "Prefers 3 short bullets, no preamble" states a form, "Leo is allergic to peanuts" does not. The list is empty if nothing
    about the fact can be judged. `asked` are the messages that are answered: a word in them is no sign of memory.
    """
    return _of_form(fact.lower(), answer) or _of_content(fact, answer, asked)


def _of_form(fact: str, answer: str) -> list[Request]:
    """Judge the form that a fact states. The list is empty if it states none."""
    about_answers = bool(_ANSWERS.search(fact))
    if not (about_answers or _ORDER.search(fact)):
        return []
    found = []
    denied, counted = _NO_BULLETS.search(fact), _COUNT.search(fact)
    bulleted = not denied and bool(_BULLETS.search(fact))
    if denied:
        found.append(_count("bullets", answer, 0, 0))
    if counted:
        found.append(_count(f"{counted['unit']}s", answer, *_limits(counted)))
    if bulleted and not (counted and counted["unit"] == "bullet"):
        found.append(_count("bullets", answer, 1, None))
    if other := _OTHER_FORM.search(fact):
        found.append(Request("an output block, which can judge " + other[0], "none", met=False))
    if _BRIEF.search(fact) or (about_answers and _SHORT.search(fact)):
        found.append(_count("words", answer, 0, MOST_WORDS_OF_BRIEF))
    if _NO_PREAMBLE.search(fact):
        found.append(_without_preamble(answer, bulleted=bulleted))
    return found


def _without_preamble(answer: str, *, bulleted: bool) -> Request:
    """Judge the beginning of an answer: the first bullet of a list, or anything but a courtesy."""
    opening = next(iter(blocks(answer)), None)
    text = opening.text if opening else ""
    is_courtesy = opening is None or bool(_OPENING.match(text))
    met = opening is not None and opening.kind == "bullet" if bulleted else not is_courtesy
    return Request("no preamble", f'an answer that begins with "{" ".join(text.split()[:8])}"', met)


_ANSWERS = lazy(
    r"\b(?:answers?|repl(?:y|ies)|respon[ds]\w*|outputs?|summar\w+|updates|reports|briefs|bullets?|digests?)\b"
)
_ORDER = lazy(
    r"\b(?:prefers?|wants?|likes?|(?:must|should) (?:always )?be)\b"
    r"|(?:\A|[.;:!,]\s)\W*(?:(?:please|always|only|never|don['’]t),?\s+)*"
    r"(?:answers?|repl(?:y|ies)|respond|use|keep|format|write|no|skip|without)\b"
)
"""Words that choose a form: a verb of preference, or an order at the beginning of a clause."""
_BULLETS = lazy(r"\bbullets\b|\bbulleted\b|\bbullet[ -]?(?:points?|lists?|form)\b|(?<=[\d-])-?bullet\b")
_NO_BULLETS = lazy(
    r"(?:\b(?:no|not|never|without|avoids?|instead of|rather than|over|dislikes?|hates?)|n['’]t)"
    r"(?: (?:use|using|want|like|contain|have|send|write|any|as|in))* bullet"
)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS[1:])})"
_UNIT = "(?:bullet|sentence|word|paragraph|line)"
_COUNT = lazy(
    rf"(?:\b(?:(?P<most>at most|(?:no|not|never) more than|up to|max(?:imum)?(?: of)?)|(?P<under>under|fewer than|less than|below)"
    rf"|(?P<least>at least|min(?:imum)?(?: of)?)|(?P<over>more than))\s+)?"
    rf"\b(?P<low>{_NUMBER})(?:\s*(?:-|–|to|or)\s*(?P<high>{_NUMBER}))?[\s-]+"
    rf"(?:(?!{_UNIT}s?\b)[a-z]+[\s,-]+|{_NUMBER}-{_UNIT}\s+){{0,2}}?"
    rf"(?P<unit>{_UNIT})(?:s|[ -]?points?)?\b(?! {_UNIT}s)"
    rf"(?P<after>\s+(?:max(?:imum)?|at most|or (?:fewer|less)|tops)\b)?"
)
"""The first number in a fact with one of these units, and its bounds: `at most 3 bullets`, `two to four sentences`."""
_OTHER_FORM = lazy(
    r"\b(?:json|tables?|numbered (?:lists?|items|steps|points)|in (?:english|german|french|spanish|italian|portuguese))\b"
)
"""The words for a form of answers that counting cannot check, such as a table, a numbered list, or a language."""
_BRIEF = lazy(r"\b(?:concise|terse|succinct|to the point|briefly|be brief|keep (?:it|them) (?:brief|short))")
_SHORT = lazy(r"\b(?:brief|short|shorter)\b")
_NO_PREAMBLE = lazy(
    r"\b(?:no|without(?: an?| any)?|skip(?: the)?) (?:preamble|intro|introduction|small talk)\b"
)
_OPENING = lazy(
    r"\W*(?:sure|certainly|of course|absolutely|great question|good question|here (?:is|are)|here's|happy to"
    r"|let me|no problem)\b",
    re.IGNORECASE,
)


def _limits(match: re.Match[str]) -> tuple[int, int | None]:
    """Return the lowest and the highest number that a match of `_COUNT` allows; None for no highest."""
    low, high = (
        _NUMBERS.index(text) if text in _NUMBERS else int(text)
        for text in (match["low"], match["high"] or match["low"])
    )
    if match["high"]:
        return low, high
    if match["under"]:
        return 0, low - 1
    if match["least"] or match["over"]:
        return low + bool(match["over"]), None
    # "50 words" is a limit: nobody expects exactly 50.
    at_most = match["most"] or match["after"] or match["unit"] == "word"
    return (0, low) if at_most else (low, low)


_COUNTERS: dict[str, Callable[[str], int]] = {
    "bullets": lambda text: len(bullets(text)),
    "sentences": lambda text: sum(len(sentences(block.text)) for block in blocks(text)),
    "words": lambda text: len(words(text)),
    "paragraphs": lambda text: len(paragraphs(text)),
    "lines": lambda text: sum(1 for line in text.splitlines() if line.strip()),
}


def _count(unit: str, answer: str, low: int, high: int | None) -> Request:
    """Judge the number of units that an answer has."""
    number = _COUNTERS[unit](answer)
    wanted = amount(low, high, unit.removesuffix("s"))
    return Request(wanted, f"{number}", low <= number and (high is None or number <= high))


_RULED_OUT = lazy(
    r"(\bprefers?\s[^.;:!,]*?)\sover\s[^.;:!,]+|(?:,\s*(?:not|never)|\b(?:rather than|instead of))\s[^.;:!,]+",
    re.IGNORECASE,
)
"""Parts that a fact rules out, as in `Postgres, not MySQL`. Their words in an answer do not honour the fact."""
_ABOUT_FACTS = "user prefers likes wants wishes uses always named called name remember note fact"
"""Words that introduce a fact. They are not part of its content."""


def _of_content(fact: str, answer: str, asked: Sequence[str]) -> list[Request]:
    """Judge the words and values of a fact. The list is empty if it has no words of content."""
    fact = _RULED_OUT.sub(r"\1 ", fact)
    asked_words = {word for message in asked for word in _content(message)}
    every = {plain: word for word in words_or_pairs(fact) if (plain := plain_form(word))}
    about = content_words(_ABOUT_FACTS)
    content = {plain: word for plain, word in every.items() if plain not in about}
    wanted = {plain: word for plain, word in content.items() if plain not in asked_words} or content
    if not wanted:
        return []
    # "Meeting at 15:00" is honoured by "3 pm", too: a repeated value counts with its spelling in the fact.
    values = Comparison(fact, answer, asked)
    got = _content(" ".join([answer, *(value.text for value in values.repeated)]))
    folded = answer.casefold()
    present = [
        word
        for plain, word in wanted.items()
        if plain in got or (not plain.isascii() and plain in folded)  # scripts without blanks have no words
    ]
    needed = (len(wanted) + 1) // 2
    if len(present) < needed and values.repeats_all:
        return [Request(told(values.repeated), told(values.repeated), met=True)]
    return [
        Request(
            f"at least {needed} of the fact's words {', '.join(wanted.values())}",
            ", ".join(present) or "none of them",
            len(present) >= needed,
        ),
        *(Request(wanted, got, met=False) for wanted, got in values.contradicted()),
    ]


def _content(text: str) -> set[str]:
    return set(map(plain_form, words_or_pairs(text)))
