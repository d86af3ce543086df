"""The sources as passages: which words they have, which in a row, and which sentences have most of a claim's.

Every text is read once, into a string with one sign per word (see `signs`). What claims ask is then looked up by
searching in these strings, and where a word stands is found out once.
"""

from array import array
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, chain, islice

from agenteval.grounding.effort import Effort
from agenteval.grounding.items import Items
from agenteval.grounding.objects import Listed
from agenteval.grounding.records import fields
from agenteval.grounding.sources import Source
from agenteval.grounding.states import WEIGHTLESS
from agenteval.language.signs import END, Signed, Signs

LONGEST_KEPT = 30_000
"""Characters of the texts that are kept as they were read: memory stays bounded."""
LONGEST_INDEX_KEPT = 50_000
"""Characters of all sources of an output whose index is kept."""
MOST_SENTENCES = 40
"""Sentences that are compared with a claim, word by word."""
LOOKS_PER_WORD = 5_000
"""Words that cost one look when they are searched: searching a string is that much quicker than reading it."""


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence of a source, or two, and where it stands: an event and a JSON pointer into it."""

    event_id: str
    text: str
    pointer: str | None = None


@dataclass(frozen=True, slots=True)
class Best:
    """A sentence by its number, the wanted words that it has, and whether the next one is needed for them."""

    sentence: int
    words: list[str]
    joined: bool


@dataclass(slots=True)
class _Given:
    signs: Signs


_given = _Given(Signs())


def signs() -> Signs:
    """The signs in use. Whoever compares texts takes them once, and keeps them."""
    if _given.signs.is_full:
        _given.signs = Signs()
    return _given.signs


def encoded(text: str, given: Signs) -> Signed:
    """The words of a text, as signs."""
    return _kept(text, given) if len(text) <= LONGEST_KEPT else given.read(text)


def _content(text: str, given: Signs) -> str:
    """The signs of the content words of a text, or of a word that says a state: `down`."""
    return given.all([text.lower()]) if text.lower() in WEIGHTLESS else encoded(text, given).content


@lru_cache(maxsize=256)  # the same fixture is read by many checks and tests
def _kept(text: str, given: Signs) -> Signed:
    return given.read(text)


class _Index:
    """The words of texts, and where they stand. `texts` has those of each source; it does not matter whose they are."""

    def __init__(self, texts: Sequence[Sequence[str]], given: Signs) -> None:
        self.texts = list(chain.from_iterable(texts))
        read = [encoded(text, given) for text in self.texts]
        content = [each.content for each in read]
        self.content = END.join([*content, ""])
        """The content words of all texts."""
        self.words = END.join([*(each.words for each in read), ""])
        """All words of all texts."""
        self._ends = array("L", accumulate(len(sentence) + 1 for sentence in self.content.split(END)[:-1]))
        """Where the sentence after each one begins in `content`."""
        self.first = array("L", accumulate((text.count(END) + 1 for text in content), initial=0))
        """The number of the first sentence of each text, and of the end."""
        self.sources = array("L", accumulate(map(len, texts), initial=0))
        """The number of the first text of each source, and of the end."""
        self._sentence_ends = [each.ends for each in read]
        self._places: dict[str, array[int]] = {}

    def sentences_with(self, sign: str) -> "array[int]":
        """The numbers of the sentences that have a word."""
        found = self._places.get(sign)
        if found is not None:
            return found
        found = array("L")
        ends, find = self._ends, self.content.find
        at = find(sign)
        while at >= 0:
            number = bisect_right(ends, at)
            found.append(number)
            at = find(sign, ends[number])
        if found:  # kept: only words that are there, so that it cannot grow without end
            self._places[sign] = found
        return found

    def is_last(self, sentence: int) -> bool:
        """Whether a sentence is the last one of its text."""
        return self.first[bisect_right(self.first, sentence)] == sentence + 1

    def text_of(self, sentence: int) -> tuple[int, int]:
        """The number of the source that has a sentence, and of its text there."""
        text = bisect_right(self.first, sentence) - 1
        source = bisect_right(self.sources, text) - 1
        return source, text - self.sources[source]

    def written(self, sentence: int) -> str:
        """A sentence as it is written."""
        place = bisect_right(self.first, sentence) - 1
        ends = self._sentence_ends[place]
        index = sentence - self.first[place]
        return self.texts[place][ends[index - 1] if index else 0 : ends[index]].strip()


def _index(texts: tuple[tuple[str, ...], ...], given: Signs) -> _Index:
    """The words of the texts of each source."""
    short = sum(map(len, chain.from_iterable(texts))) <= LONGEST_INDEX_KEPT
    return _kept_index(texts, given) if short else _Index(texts, given)


@lru_cache(maxsize=32)  # both checks of a test, its mutants, and other tests read the same sources
def _kept_index(texts: tuple[tuple[str, ...], ...], given: Signs) -> _Index:
    return _Index(texts, given)


class Passages:
    """The texts of the sources, in order."""

    def __init__(self, sources: Sequence[Source], given: Signs, effort: Effort) -> None:
        self._sources = sources
        self._given = given
        self._effort = effort
        self._index = _index(tuple(tuple(source.texts) for source in sources), given)
        self.content = self._index.content
        """The content words of all texts."""
        self.words = self._index.words
        """All words of all texts."""
        self._items: dict[int, Items] = {}
        self._asked: set[str] = set()
        self._price = 1 + len(self.words) // LOOKS_PER_WORD

    def spend(self, searches: int) -> None:
        """Count searches of all texts. Raises `AssertionCrashError` when they are too many."""
        self._effort.spend(searches * self._price)

    def has(self, sign: str) -> bool:
        """Whether the sources have a content word."""
        self.spend(1)
        return sign in self.content

    def has_any(self, stems: Iterable[str]) -> bool:
        """Whether the sources have a word with one of these stems."""
        return any(map(self.words.__contains__, self._given.known(stems)))

    def displaces(self, before: str, number: str, after: str) -> bool:
        """Whether the sources have another number between these words, and this one nowhere beside them.

        All are signs; `before` and `after` have a word each, or one of them two and the other none.
        """
        self.spend(3)
        if (before and before[-1] + number in self.words) or (after and number + after[0] in self.words):
            return False
        mine = self._digits(number)
        others = {digits for digits in self._numbers_between(before, after) if digits}
        return bool(others) and mine not in others

    def _numbers_between(self, before: str, after: str) -> Iterator[str]:
        """The digits of what stands right after words and right before others, either of which may be none."""
        text, anchor = self.words, before or after
        at = text.find(anchor)
        while at >= 0:
            self._effort.spend()
            start = end = at + len(before)
            if before:
                while self._given.digits(text[end : end + 1]):
                    end += 1
            else:
                while start and self._given.digits(text[start - 1]):
                    start -= 1
            if text.startswith(after, end):
                yield self._digits(text[start:end])
            at = text.find(anchor, at + 1)

    def _digits(self, number: str) -> str:
        return "".join(map(self._given.digits, number)).strip("0")

    def best(
        self, wanted: Sequence[str], numbers: Sequence[str] = (), *, joined: bool = True
    ) -> "Best | None":
        """The first sentence with the most of the wanted words; of several, with the most of the numbers as well.

        It is `joined` with the next one when that adds to it.
        """
        asked = [*wanted, *numbers]
        self._spend_on(asked)
        held: dict[int, int] = {}
        for place, sign in enumerate(asked):
            bit = 1 << place
            for sentence in self._index.sentences_with(sign):
                held[sentence] = held.get(sentence, 0) | bit
        self._effort.spend(len(held))
        words, weight = (1 << len(wanted)) - 1, len(numbers)
        most, at, having, both = 0, -1, 0, False
        for sentence, mine in held.items():
            found = mine
            if joined and sentence + 1 in held:
                found |= held[sentence + 1]
            count = found.bit_count() + weight * (found & words).bit_count()
            if count < most or (count == most and sentence > at):
                continue
            if found != mine and self._index.is_last(sentence):
                found, count = mine, mine.bit_count() + weight * (mine & words).bit_count()
            if count > most or (count == most and sentence < at):
                most, at, having, both = count, sentence, found, found != mine
        if not most:
            return None
        return Best(at, [sign for place, sign in enumerate(wanted) if having >> place & 1], both)

    def _spend_on(self, wanted: Sequence[str]) -> None:
        """Count a search for each word that was not asked for before."""
        new = set(wanted) - self._asked
        if new:
            self._asked |= new
            self.spend(len(new))

    def items(self, source: int) -> Items:
        """The items of a source, by its number."""
        found = self._items.get(source)
        if found is None:
            content = partial(_content, given=self._given)
            found = self._items[source] = Items(self._sources[source], content, self._effort)
        return found

    @property
    def listed(self) -> Iterator[Listed]:
        """The lists of objects of all sources."""
        return (
            each
            for number, source in enumerate(self._sources)
            if source.records
            for each in self.items(number).all_listed()
        )

    def only_record(self, names: Container[str]) -> str | None:
        """The only text of an object, in all sources, that has a field with one of these names."""
        found = (
            source.texts[number]
            for source in self._sources
            for number in source.records
            if any(name.lower() in names for name, _ in fields(source.texts[number]))
        )
        records = [*islice(found, 2)]
        return records[0] if len(records) == 1 else None

    def source(self, best: Best) -> int:
        """The source that a passage is of, by its number."""
        return self._index.text_of(best.sentence)[0]

    def place(self, best: Best) -> tuple[Items, int]:
        """The items of the source that a passage is of, and the number of its text there."""
        source, text = self._index.text_of(best.sentence)
        return self.items(source), text

    def written(self, best: Best) -> tuple[str, str]:
        """The text that a passage is of, and the sentence that it begins with."""
        source, text = self._index.text_of(best.sentence)
        return self._sources[source].texts[text], self._index.written(best.sentence)

    def is_record(self, best: Best | None) -> bool:
        """Whether a passage is what a JSON object says; with none, whether any source has such."""
        if best is None:
            return any(source.records for source in self._sources)
        source, text = self._index.text_of(best.sentence)
        return text in self._sources[source].records

    def prose_with(self, wanted: frozenset[str], *, every: bool) -> list[str]:
        """The sentences of prose that have any, or every one, of the wanted words, as they are written; none when they are many."""
        self._spend_on(sorted(wanted))
        having = [frozenset(self._index.sentences_with(sign)) for sign in wanted]
        found = (frozenset.intersection if every else frozenset.union)(*having)
        if len(found) > MOST_SENTENCES:
            return []
        return [
            self._index.written(number)
            for number in sorted(found)
            if (place := self._index.text_of(number)) and place[1] not in self._sources[place[0]].records
        ]

    def span_beside(self, best: Best, text: int) -> Span:
        """Another text of the source that a passage is of, by its number."""
        source = self._sources[self._index.text_of(best.sentence)[0]]
        return Span(source.event_id, source.texts[text], source.pointer(text))

    def span(self, best: Best) -> Span:
        """A sentence as it is written, with the next one when that adds to it."""
        text = self._index.written(best.sentence)
        if best.joined:
            text = f"{text} {self._index.written(best.sentence + 1)}"
        number, own = self._index.text_of(best.sentence)
        source = self._sources[number]
        return Span(source.event_id, text, source.pointer(own))
