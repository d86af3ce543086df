"""Where in the sources what a claim states may stand: near words of the claim, and in the object that it is about."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import TypeVar

from agenteval.grounding.contradictions import denied
from agenteval.grounding.effort import Effort
from agenteval.grounding.items import Having
from agenteval.grounding.passages import Passages
from agenteval.grounding.quantity import Quantity
from agenteval.grounding.reading import Reading
from agenteval.grounding.siblings import is_said_of_other
from agenteval.grounding.source_numbers import Beside
from agenteval.grounding.sources import Source
from agenteval.grounding.statements import Fact, Part, Statement
from agenteval.grounding.timed_lines import is_at_other_time
from agenteval.grounding.weekdays import day_of, weekday
from agenteval.language.signs import Signs, words
from agenteval.lazyregex import lazy

NEAR = 250
"""How many characters around a number or a date are near it."""

_RELATIVE_DAY = lazy(
    r"(?i)\b(?:today|tonight|tomorrow|yesterday|heute|morgen|gestern|übermorgen|hoy|mañana|ayer|aujourd'hui|demain|hier)\b"
)
"""What tells a day that is known only where today's date is."""


class Nearness:
    """The places of sources. `own` are those that a claim may rest on; `read` has what the user said as well, after them."""

    def __init__(
        self,
        read: Sequence[Reading],
        own: Sequence[Source],
        passages: Passages,
        signs: Signs,
        effort: Effort,
    ) -> None:
        self._read = read
        self._own = own
        self._passages = passages
        self._signs = signs
        self._effort = effort

    def beside(
        self,
        signs: frozenset[str],
        least: int,
        stated: Statement,
        parts: Sequence[str] = (),
        context: Sequence[frozenset[str]] = (),
    ) -> Beside:
        """Whether so many of these words, given as signs, stand near a place in a source, or the source is what the user said.

        Of several objects of one kind, a place in one is not near words, or what else a claim states, that is in the others.
        `parts` are those of the claim, up to that with the fact in question. The first words of its `context` that tell the
        objects apart may name the object as well.
        """
        names = [*stated.identifiers, *stated.numbers_of_things]
        named = signs.union(self._signs.content(words(" ".join(names))))
        telling = named.difference(self._signs.content(denied(stated.without_links)))
        linked = telling.union(self._signs.content(words(" ".join(link.own for link in stated.links))))
        told = [telling.intersection(self._signs.content(words(part))) for part in parts]
        about = parts[-1] if parts else stated.plain
        times = " ".join(
            each.text for each in (stated.stating[len(parts) - 1].facts if parts else stated.times)
        )
        until = stated.stating[: len(parts)]
        moments = cache(
            lambda number: [] if _RELATIVE_DAY.search(about) else list(self.moments(number, stated, until))
        )

        def stand(number: int, offset: int) -> bool:
            if number >= len(self._own):
                return True
            near = self._read[number].text[max(0, offset - NEAR) : offset + NEAR]
            if len(signs.intersection(self._signs.content(words(near)))) < least:
                return False
            if not self._own[number].records:
                whole = self._read[number].text
                return not (
                    is_said_of_other(whole, offset, about)
                    or is_at_other_time(whole, offset, about, times, stated.without_links)
                )
            text = self._read[number].text_at(offset)
            items = self._passages.items(number)
            around = next((each for each in context if items.tells(text, each)), None)
            return not any(
                items.is_other(text, each, told, lambda: moments(number))
                for each in dict.fromkeys((telling, linked))
            ) or not (around is None or items.is_other(text, telling | around, told, lambda: moments(number)))

        return stand

    def in_records(self, beside: Beside) -> Beside:
        """The same of places in what JSON objects say, and of no others."""

        def stand(number: int, offset: int) -> bool:
            records = self._own[number].records if number < len(self._own) else ()
            return self._read[number].text_at(offset) in records and beside(number, offset)

        return stand

    def in_fields(self, beside: Beside) -> Beside:
        """The same of places right after the name of a field: what stands around a value is another field."""
        in_records = self.in_records(beside)
        return lambda number, offset: (
            _AFTER_NAME.search(self._read[number].text, max(0, offset - 4), offset) is not None
            and in_records(number, offset)
        )

    def moments(self, number: int, stated: Statement, until: Sequence[Part] = ()) -> Iterator[Having]:
        """Which items of a source have one of the dates of a claim, and which one of its times.

        Those of the last part that has any count, of the parts `until` a fact, or else all.
        """
        read, items = self._read[number], self._passages.items(number)
        dates, times = _last(until, stated.dates), _last(until, stated.times)
        if dates:
            dated = self._effort.spent_on(read.texts_by_date)
            found = [texts for each, texts in dated if any(date.agrees(each) for date in dates)]
            yield items.having(chain.from_iterable(found))
        days = {weekday(token) for name in stated.names for token in name.tokens} - {None}
        if len(days) == 1 and not stated.dates:
            dated = self._effort.spent_on(read.texts_by_date)
            yield items.having(chain.from_iterable(texts for each, texts in dated if day_of(each) in days))
        if times:
            minutes = frozenset().union(*(time.values for time in times))
            minutes |= {Decimal(720) for _ in _NOON.finditer(stated.without_links)}
            yield items.having(chain.from_iterable(read.texts_by_time.get(each, ()) for each in minutes))


_NOON = lazy(r"(?i)\b(?:noon|midday)\b")
_AFTER_NAME = lazy(r": ?[$€£¥-]?\Z")


_Moment = TypeVar("_Moment", bound=Fact)


def _last(parts: Sequence[Part], facts: Sequence[_Moment]) -> Sequence[_Moment]:
    """Those of some facts that are in the last of these parts which has any, or all.

    A last part with a day of its own, "on the 15th", needs no others.
    """
    for part in reversed(parts):
        own = [each for each in facts if each in part.facts]
        if own or any(isinstance(each, Quantity) and each.day for each in part.facts):
            return own
    return facts
