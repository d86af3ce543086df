"""What an output may rest on: the text of tool results, of the user's messages, of memory.

A JSON result is flattened into its strings and numbers; keys are no text. A string that holds JSON is read as
JSON. Everything is indexed once, on first use, so that judging a claim does not read the sources again.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from html import unescape
from typing import Any

from agenteval.errors import AssertionCrashError
from agenteval.grounding.dates import DAYS, MONTHS, Date, dates
from agenteval.grounding.links import Link, links
from agenteval.grounding.quantities import IDENTIFIER, quantities
from agenteval.grounding.wording import tokens
from agenteval.language.content_words import content_words, plain_form
from agenteval.patterns import name_matches
from agenteval.spec import TestCase, memory_text
from agenteval.text import blocks, fold, sentences
from agenteval.trace import Event, Trace

MEMORY_SNAPSHOT = "scenario.memory_snapshot"
"""What stands in the place of an event id for memory that the scenario states."""
PRIOR_INPUT = "input_messages"
MOST_COMPARISONS = 20_000_000
"""How often the words of an output may occur in the spans of its sources: some seconds of work."""


@dataclass(slots=True)
class Source:
    """One text that claims may rest on. `event_id` says where it is from."""

    event_id: str
    texts: list[str] = field(default_factory=list)


def successful_results(trace: Trace, allowed: Sequence[str]) -> list[Event]:
    """The successful results of the allowed tools (names or globs; none given: all tools), in order."""
    found = []
    for event in trace.of_type("tool_result"):
        call = trace.call_of(event)
        tool = str(event.data.get("tool") or (call.tool if call else ""))
        if event.data.get("success") and (not allowed or any(name_matches(name, tool) for name in allowed)):
            found.append(event)
    return found


def result_sources(events: Iterable[Event]) -> list[Source]:
    """The texts of tool results."""
    return [Source(event.event_id, list(texts_of(event.data.get("result")))) for event in events]


def called_links(events: Iterable[Event], trace: Trace) -> list[Link]:
    """The references in the arguments of the calls that the results answer: a page that was fetched is known."""
    calls = [call for event in events if (call := trace.call_of(event))]
    return [link for call in calls for text in texts_of(call.args) for link in links(text)]


def input_sources(trace: Trace) -> list[Source]:
    """What the user said."""
    received = [event for event in trace.of_type("message_received") if event.data.get("role") != "assistant"]
    sources = [Source(event.event_id, [str(event.data.get("content") or "")]) for event in received]
    known = {text for source in sources for text in source.texts}
    others = [
        message.content
        for message in trace.input_messages
        if message.role != "assistant" and message.content not in known
    ]
    return [*sources, Source(PRIOR_INPUT, others)] if others else sources


def memory_sources(trace: Trace, case: TestCase) -> list[Source]:
    """What memory held: what was read, and what the scenario states."""
    sources = [
        Source(event.event_id, list(texts_of(event.data.get("content"))))
        for event in trace.of_type("memory_read")
    ]
    if snapshot := memory_text(case.scenario.memory_snapshot):
        sources.append(Source(MEMORY_SNAPSHOT, snapshot))
    return sources


def texts_of(value: Any) -> Iterator[str]:
    """The strings and numbers of a JSON value, in document order."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            inner = _inner_json(item)
            if inner is None:
                yield unescape(item) if "&" in item else item
            else:
                pending.append(inner)
        elif isinstance(item, dict):
            pending += reversed(item.values())
        elif isinstance(item, list):
            pending += reversed(item)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield str(item)


def _inner_json(text: str) -> Any:
    """The object or list that a string holds as JSON, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence or a JSON string of a source."""

    event_id: str
    text: str


_CAPITALISED_RUN = re.compile(r"(?:\b[A-Z][\w'-]{1,30} (?:of |for |and |the )?){1,5}[A-Z][\w'-]{1,30}")


class SourceText:
    """All sources together, indexed for what claims are checked for.

    `said` is what the user said: hard facts may rest on it, and its words need no support, but it is no span
    that supports other words. `also` holds references that count as known though no text has them.
    """

    def __init__(
        self, sources: Sequence[Source], said: Sequence[Source] = (), also: Sequence[Link] = ()
    ) -> None:
        self.also = also
        self._asked_for = 0
        self.own_texts = _texts(sources)
        self.texts = self.own_texts + _texts(said)
        self.said_words = frozenset(word for _, text in _texts(said) for word in content_words(text))

    @cached_property
    def spans(self) -> list[Span]:
        """The spans that wording is compared with."""
        found = []
        for event_id, text in self.own_texts:
            for block in blocks(text):
                pieces = [block.text] if block.kind == "code" else sentences(block.text)
                found += [Span(event_id, piece) for piece in pieces]
        return found

    @cached_property
    def words_of_spans(self) -> dict[str, list[int]]:
        """For each content word, the numbers of the spans that have it."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, span in enumerate(self.spans):
            for word in set(content_words(span.text)):
                found[word].append(number)
        return dict(found)

    def spans_with(self, word: str) -> Sequence[int]:
        """The numbers of the spans that have a word.

        Raises `AssertionCrashError` (`assertion.too_large`) when very many were asked for in all.
        """
        numbers = self.words_of_spans.get(word, ())
        self._asked_for += len(numbers)
        if self._asked_for > MOST_COMPARISONS:
            raise AssertionCrashError(
                f"the output and its sources are too large to be compared: {len(self.spans):,} sentences of sources, "
                f"and the words of the output occur more than {MOST_COMPARISONS:,} times in them",
                reason_code="assertion.too_large",
                next_step="name fewer tools in allowed_sources, or record a run with a shorter output",
            )
        return numbers

    @cached_property
    def streams(self) -> list[str]:
        """The tokens of each text, with a blank around each: what quotes are looked for in."""
        return [f" {' '.join(tokens(text))} " for _, text in self.texts]

    @cached_property
    def tokens(self) -> frozenset[str]:
        """All tokens, as they stand and in their plain form."""
        found = {token for stream in self.streams for token in stream.split()}
        return frozenset(found | {plain for token in found if (plain := plain_form(token))} | self._of_dates)

    @cached_property
    def _of_dates(self) -> set[str]:
        """The names of the months and days of the week that dates in the sources imply."""
        from datetime import date

        found = set()
        for each in self.dates:
            if each.month:
                found.add(MONTHS[each.month - 1])
            if each.year and each.month and each.day:
                try:
                    found.add(DAYS[date(each.year, each.month, each.day).weekday()])
                except ValueError:
                    continue
        return found

    @cached_property
    def initials(self) -> frozenset[str]:
        """The initials of runs of capitalised words: `amd` for Advanced Micro Devices."""
        runs = [run for _, text in self.texts for run in _CAPITALISED_RUN.findall(text)]
        found = set()
        for run in runs:
            capitals = [word[0].lower() for word in run.split() if word[0].isupper()]
            found |= {
                "".join(capitals[start:end])
                for start in range(len(capitals))
                for end in range(start + 2, len(capitals) + 1)
            }
        return frozenset(found)

    @cached_property
    def dates(self) -> list[Date]:
        """The dates, each once."""
        found: dict[Any, Date] = {}
        for _, text in self.texts:
            for date in dates(text):
                found.setdefault((date.year, date.month, date.day, date.other), date)
        return list(found.values())

    @cached_property
    def quantities(self) -> dict[Decimal, set[str]]:
        """For each number, the units it occurs with."""
        found: dict[Decimal, set[str]] = defaultdict(set)
        for _, text in self.texts:
            inside = [(date.start, date.end) for date in dates(text)]
            for quantity in quantities(text, inside):
                for value in quantity.values:
                    found[value].add(quantity.unit)
        for date in self.dates:
            if date.year:
                found[Decimal(date.year).normalize()].add("")
        return dict(found)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Names with digits in them, such as GPT-4, without their punctuation."""
        return frozenset(
            squash(match.group()) for _, text in self.texts for match in IDENTIFIER.finditer(text)
        )

    @cached_property
    def links(self) -> list[tuple[str, Link]]:
        """The references, each with the event it is from."""
        return [(event_id, link) for event_id, text in self.texts for link in links(text)]

    @cached_property
    def link_keys(self) -> frozenset[str]:
        """The references in the form in which they are compared."""
        return frozenset(link.key for link in (*(link for _, link in self.links), *self.also))


def _texts(sources: Sequence[Source]) -> list[tuple[str, str]]:
    return [(source.event_id, text) for source in sources for text in source.texts if text.strip()]


def squash(text: str) -> str:
    """Letters and digits only, folded."""
    return "".join(filter(str.isalnum, fold(text)))
