"""What the text of a claim states, whatever the sources say: its links, dates, quantities, names, quotes and words.

Statements are kept: an output is judged again with each of its mutants, and many outputs say the same.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from agenteval.grounding.apparatus import apparatus
from agenteval.grounding.dates import Date, dates
from agenteval.grounding.durations import idioms
from agenteval.grounding.links import Link, addresses, links
from agenteval.grounding.measures import is_measure, sign_start, unit_end
from agenteval.grounding.quantities import IDENTIFIER, identifiers, quantities
from agenteval.grounding.quantity import Quantity, apart
from agenteval.grounding.wording import Name, names, quote_pieces, quotes
from agenteval.language.signs import BREAK, tokens
from agenteval.lazyregex import lazy
from agenteval.text import without_subscripts

LONGEST_KEPT = 2_000
"""Characters of the claims that are kept as they were read: memory stays bounded."""


_SPACED = lazy(r"(?<![\w.,:/+-])[1-9]\d{0,2}(?: \d{3})+(?![\w:/-]|[.,]\d)")
LEAST_OF_CLAUSE = 5
"""Words before a colon that are more than a label."""
_PART_END = lazy(r"\n|[,;.!?] |\b(?:and|or|und|oder|y|et|while|whereas|but)\b")
"""Where a part of a sentence ends that may be about something else than the next one: "bread costs 2.49, milk 3.98"."""


NUMBER_OF_THING = lazy(r"(?<=#)\d+\b|(?<=\d-)\d{3,}\b")
"""A number by which a thing goes: `#12`, the 0341 of `2026-0341`."""

Fact = Quantity | Date
"""What has a value that can be compared."""


def _share_a_value(one: Quantity, other: Quantity) -> bool:
    return not one.values.isdisjoint(other.values)


def agree(one: Fact, other: Fact, alike: Callable[[Quantity, Quantity], bool] = _share_a_value) -> bool:
    """Whether two dates say the same, or two numbers are alike by this rule."""
    if isinstance(one, Date):
        return isinstance(other, Date) and one.agrees(other)
    return isinstance(other, Quantity) and alike(one, other)


def are_of_one_kind(one: Fact, other: Fact) -> bool:
    """Whether two facts are dates, or numbers of one unit."""
    if isinstance(one, Date) or isinstance(other, Date):
        return isinstance(one, Date) and isinstance(other, Date)
    return one.unit == other.unit


def are_same(one: Fact, other: Fact) -> bool:
    """Whether two facts agree, and have no other units: "two years longer" has nothing to do with "the two phones"."""
    return agree(one, other, _are_same_numbers)


def _are_same_numbers(one: Quantity, other: Quantity) -> bool:
    in_words = one.text.isalpha() or other.text.isalpha()
    is_any_unit = not (in_words or (one.unit and other.unit))
    return _share_a_value(one, other) and (one.unit == other.unit or is_any_unit)


class Part(NamedTuple):
    """The words of a part of a text, and the numbers and dates that stand in it."""

    text: str
    facts: list[Fact]


class Statement:
    """What a text states. The offsets of dates are those in `without_links`, as are those of quantities."""

    def __init__(self, text: str) -> None:
        self.text = text = without_subscripts(text)
        found = links(text)
        self.links = found + (addresses(_blanked(text, _spans(found))) if "@" in text else [])
        """The references; of e-mail addresses, those that are no part of another one."""
        self.without_links = _blanked(text, [*_spans(self.links), *apparatus(text, found)])
        """The text without links, numbered citations, and labels such as `Source:`."""
        self.dates = dates(self.without_links)
        self.plain = _blanked(self.without_links, _spans(self.dates))
        """The text without links and dates."""
        self.quantities = quantities(self.without_links, _spans(self.dates))
        self.words = tokens(self.plain)
        """The tokens of `plain`."""

    @cached_property
    def wording(self) -> list[str]:
        """The tokens without quantities: numbers are facts, not words."""
        return tokens(self._without_facts) if self.quantities else self.words

    @cached_property
    def _without_facts(self) -> str:
        """The text without links, dates and quantities."""
        return _blanked(self.plain, _spans(self.quantities))

    @cached_property
    def measuring(self) -> frozenset[str]:
        """The tokens that say what quantities are measured in, or that one is negative: `minus` and `degrees`."""
        text = self.without_links
        around = [(sign_start(text, each.start), each, unit_end(text, each.end)) for each in self.quantities]
        return frozenset(
            tokens(" ".join(f"{text[a : each.start]} {text[each.end : b]}" for a, each, b in around))
        )

    def shown(self, quantity: Quantity) -> str:
        """A quantity as it is written, with its unit of measure."""
        end = unit_end(self.without_links, quantity.end) if is_measure(quantity.unit) else quantity.end
        return quantity.text + self.without_links[quantity.end : end]

    @cached_property
    def parts(self) -> list[str]:
        """The parts of the text, without links, dates and quantities."""
        text = self._without_facts
        ends = [0, *(match.end() for match in _PART_END.finditer(text)), len(text)]
        parts = (text[start:end] for start, end in pairwise(ends))
        return [piece for part in parts for piece in _told_and_listed(part)]

    @cached_property
    def facts(self) -> list[Fact]:
        """The numbers and the dates, in order; thousands after blanks belong to one number."""
        every: list[Fact] = [*self.quantities, *self.dates]
        found: list[Fact] = []
        for fact in sorted(every, key=lambda fact: fact.start):
            if not found or fact.start >= found[-1].end or isinstance(fact, Date):
                found.append(self.spaced.get(fact.start, fact))
        return found

    @cached_property
    def stating(self) -> list[Part]:
        """The parts that state numbers or dates, each with those before it that state none."""
        found, text, end = [], "", 0
        for part in self.parts:
            text, end = text + part, end + len(part)
            own = [fact for fact in self.facts if end - len(part) <= fact.start < end]
            if own:
                found.append(Part(text, own))
                text = ""
        return found

    @cached_property
    def spaced(self) -> dict[int, Quantity]:
        """The numbers whose thousands only blanks divide, `29 168`, each of which may as well be several, by their offsets."""
        text = self.without_links
        joined = _SPACED.sub(_with_commas, text) if len(self.quantities) > 1 else text
        if joined == text:
            return {}
        found = ((each, text[each.start : each.end]) for each in quantities(joined, _spans(self.dates)))
        return {
            each.start: replace(each, text=written)
            for each, written in found
            if written != joined[each.start : each.end]
        }

    @cached_property
    def idioms(self) -> list[Quantity]:
        """The lengths of time without a number: they are words, unless the sources have them."""
        return list(idioms(self.without_links))

    @property
    def times(self) -> list[Quantity]:
        """The quantities that are times of day."""
        return [quantity for quantity in self.quantities if quantity.unit == ":"]

    @cached_property
    def identifiers(self) -> list[str]:
        """The names with digits in them, each once."""
        after_dates = {date.end for date in self.dates}  # the T20 of 2026-11-21T20:55 is no name
        found = (match for match in identifiers(apart(self.plain)) if match.start() not in after_dates)
        return list(dict.fromkeys(match.group() for match in found))

    @cached_property
    def numbers_of_things(self) -> list[str]:
        """The numbers by which things go: `#12`, the 0341 of `2026-0341`."""
        return NUMBER_OF_THING.findall(self.plain)

    @cached_property
    def names(self) -> list[Name]:
        """The names without digits in them, each once."""
        text = apart(self.plain)
        has_identifiers = any(True for _ in identifiers(text))
        return list(dict.fromkeys(names(IDENTIFIER.sub(" ", text) if has_identifiers else text)))

    @cached_property
    def quotes(self) -> dict[str, list[list[str]]]:
        """The quotes, and the tokens of each, piece by piece."""
        return {quote: quote_pieces(quote) for quote in quotes(self.text)}


def _with_commas(match: re.Match[str]) -> str:
    return match.group().replace(" ", ",")


def _told_and_listed(part: str) -> Sequence[str]:
    """A part as two where a clause, no label, ends in a colon: "The build failed after a while: lint"."""
    told, colon, listed = part.partition(": ")
    return [told + colon, listed] if len(told.split()) >= LEAST_OF_CLAUSE and listed else [part]


def statement(text: str) -> Statement:
    """What a text states."""
    return _kept(text) if len(text) <= LONGEST_KEPT else Statement(text)


@lru_cache(maxsize=256)
def _kept(text: str) -> Statement:
    return Statement(text)


def _spans(found: Sequence[Link | Date | Quantity]) -> list[tuple[int, int]]:
    return [(each.start, each.end) for each in found]


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with a break and blanks in these places."""
    if not spans:
        return text
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [text[at:start], BREAK.ljust(end - max(at, start)) if end > at else ""]
        at = max(at, end)
    return "".join([*pieces, text[at:]])
