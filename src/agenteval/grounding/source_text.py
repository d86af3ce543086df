"""All sources of an output together, to be asked whether they have what a claim states.

Sources are long and claims are few, so nothing is indexed beforehand. Each question first asks, with plain
substring search in the folded text, which sources could have the thing at all; only these are read closely, one
by one, until one has it. What was read closely is kept (see `reading`): memory stays a small multiple of the text.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import chain

from agenteval.grounding.counts import lengths
from agenteval.grounding.dates import DAYS, MONTH_NAMES, MONTHS, Date
from agenteval.grounding.effort import Effort
from agenteval.grounding.links import Link, addresses, links
from agenteval.grounding.nearness import Nearness
from agenteval.grounding.passages import Passages, encoded, signs
from agenteval.grounding.reading import Reading, reading
from agenteval.grounding.records import fields, name_of
from agenteval.grounding.source_numbers import Beside, SourceNumbers, any_unit, anywhere
from agenteval.grounding.sources import Source, keys
from agenteval.grounding.weekdays import day_of, tells_week
from agenteval.language.content_words import plain_form
from agenteval.language.signs import END, words
from agenteval.language.stems import stem
from agenteval.text import composed

SHORTEST, LONGEST_ENDING = 3, 4
"""Letters of a word that a field is named after, and letters that tell the two apart."""


class SourceText:
    """The sources, and what they have.

    `said` is what the user said: hard facts may rest on it, and its words need no support, but it is no span
    that supports other words. References in `called` count as known though no other text has them.
    """

    def __init__(
        self, sources: Sequence[Source], said: Sequence[Source] = (), called: Iterable[Source] = ()
    ) -> None:
        self._own = _with_text(sources)
        self._all = self._own + _with_text(said)
        self._called = called
        self._effort = Effort()
        self._read = [reading(source.texts) for source in self._all]
        self._with = _Containing(self._read).sources
        self.signs = signs()

    @cached_property
    def _text(self) -> str:
        """All texts in one piece."""
        return END.join([source.text for source in self._read])

    # Words -----------------------------------------------------------------------------------------------------

    @cached_property
    def passages(self) -> Passages:
        """The sources, without what the user said."""
        return Passages(self._own, self.signs, self._effort)

    @cached_property
    def said(self) -> str:
        """The signs of the words that the user said."""
        return "".join(encoded(text, self.signs).words for text in _texts(self._all[len(self._own) :]))

    def content(self, text: str) -> frozenset[str]:
        """The signs of the content words of a text."""
        return frozenset(self.signs.content(words(text)))

    def has_token(self, token: str) -> bool:
        """Whether a text has a word, in any form with the same stem, or a date implies it."""
        return self.has_any([stem(token)])

    def has_any(self, stems: Sequence[str]) -> bool:
        """Whether a text has a word with one of these stems, or a date implies one."""
        said, passages = self.said, self.passages
        known = self.signs.known(stems)  # asked for when all was read
        passages.spend(1 + len(stems))  # and no less for words that no text had before
        return any(sign in passages.words or sign in said for sign in known) or any(
            map(self.dates_imply, _MONTHS_AND_DAYS.intersection(stems))
        )

    def has_together(self, tokens: Sequence[str]) -> bool:
        """Whether words stand in one sentence or two in a row, if the sources have all of them."""
        found = [sign for sign in dict.fromkeys(self.signs.each(tokens)) if sign and self.passages.has(sign)]
        if len(found) < 2 or "".join(found) in self.passages.content:  # in a row, as most names are
            return True
        best = self.passages.best(found)
        return best is None or len(best.words) == len(found)

    def dates_imply(self, token: str) -> bool:
        """Whether a date of the sources is in this month or on this day of the week."""
        if token not in _MONTHS_AND_DAYS:
            return False
        if token[:3] in MONTHS:
            return any(date.month == MONTHS.index(token[:3]) + 1 for date in self._dates)
        return any(day_of(date) == token for date in self._dates)

    @cached_property
    def near(self) -> Nearness:
        """Where in the sources what a claim states may stand."""
        return Nearness(self._read, self._own, self.passages, self.signs, self._effort)

    # Phrases ---------------------------------------------------------------------------------------------------

    def has_phrase(self, *pieces: Sequence[str]) -> bool:
        """Whether one text has all the pieces, each a sequence of tokens."""
        candidates = set(range(len(self._all)))
        for token in chain.from_iterable(pieces):
            candidates.intersection_update(self._with(token))
        wanted = [f" {' '.join(piece)} " for piece in pieces]
        for number in sorted(candidates):
            for stream in self._read[number].streams:
                self._effort.spend(len(stream) // 20)
                if all(piece in stream for piece in wanted):
                    return True
        return False

    def has_initials(self, token: str) -> bool:
        """Whether a token stands for a run of capitalised words, `amd` for Advanced Micro Devices, or for a key: `pr` for `pull_requests`."""
        return 2 <= len(token) <= 6 and (
            token in self._initials or token.removesuffix("s") in self._key_initials
        )

    @cached_property
    def _key_initials(self) -> frozenset[str]:
        named = map(words, set().union(*map(keys, self._own)))
        return frozenset("".join(word[0] for word in each).lower() for each in named if len(each) > 1)

    @cached_property
    def _initials(self) -> str:
        return " ".join([source.initials for source in self._read])

    def has_identifier(self, squashed: str) -> bool:
        """Whether a text has a name with digits in it, such as GPT-4, given without its punctuation."""
        first = next((place for place, sign in enumerate(squashed) if sign.isdigit()), 0)
        letters, digit = squashed[:first], squashed[first : first + 1]
        pieces = {f"{letters}{between}{digit}" for between in (("", "-", " ") if letters else ("",))}
        candidates = {number for piece in pieces for number in self._with(piece)}
        return any(squashed in self._read[number].identifiers for number in self._effort.spent_on(candidates))

    # Dates and numbers -----------------------------------------------------------------------------------------

    @cached_property
    def _dates(self) -> list[Date]:
        """The dates, each once."""
        found: dict[object, Date] = {}
        for source in self._read:
            for date in source.dates:
                found.setdefault((date.year, date.month, date.day, date.other), date)
        return list(found.values())

    def has_date(self, date: Date, beside: Beside = anywhere) -> bool:
        """Whether a text states a date as far as this one is stated; its year may be said elsewhere."""
        days = {str(day) for day in (date.day, *(date.other or ())) if day}
        candidates = {number for day in days for number in self._with(day)} if days else range(len(self._all))
        return any(
            date.covers(each)
            and date.agrees(each)
            and (not date.year or each.year or self.numbers.has(Decimal(date.year), "", any_unit))
            and beside(number, each.start)
            for number in sorted(candidates)
            for each in self._effort.spent_on(self._read[number].dates)
        )

    @cached_property
    def tells_week(self) -> bool:
        """Whether a text has a span of days of the week."""
        return any(tells_week(source.text) for source in self._read)

    def is_scheduled(self, day: str) -> bool:
        """Whether a schedule of cron is on a day of the week."""
        return any(day in each.days for source in self._read for each in source.schedules)

    @cached_property
    def schedules(self) -> frozenset[str]:
        """The schedules of cron in all texts, by their keys."""
        return frozenset(each.key for source in self._read for each in source.schedules)

    @cached_property
    def numbers(self) -> SourceNumbers:
        """The numbers of all texts."""
        return SourceNumbers(self._read, self._with, self._effort)

    @cached_property
    def lengths(self) -> dict[str, set[int]]:
        """How long the lists of data are, by the words of their names (see `counts`)."""
        return lengths(self._own)

    @cached_property
    def _objects(self) -> list[str]:
        """What objects say."""
        return [source.texts[number] for source in self._own for number in sorted(source.records)]

    @cached_property
    def _fields(self) -> frozenset[str]:
        """The stems of the words in the names of the fields of objects."""
        names = {name for each in self._objects for name, _ in fields(each)}
        return frozenset(stem for name in names for word in words(name) if (stem := plain_form(word)))

    @cached_property
    def object_names(self) -> frozenset[str]:
        """The names under which objects stand: `203` of `{"203": {"status": "clean"}}`."""
        return frozenset(map(name_of, self._objects))

    @cached_property
    def language_codes(self) -> frozenset[str]:
        """The codes of languages in fields that are named so: `source_lang`, `languages`, `locale`."""
        values = (
            value
            for each in self._objects
            for name, value in fields(each)
            if "lang" in name.lower() or "locale" in name.lower()
        )
        return frozenset(code[:2].lower() for value in values for code in value.split(", "))

    def names_field(self, stem: str) -> bool:
        """Whether a field of an object is named after a word: `owner`, "owns"."""
        return len(stem) >= SHORTEST and any(
            abs(len(each) - len(stem)) <= LONGEST_ENDING and (each.startswith(stem) or stem.startswith(each))
            for each in self._fields
            if len(each) >= SHORTEST
        )

    # References ------------------------------------------------------------------------------------------------

    def has_link(self, link: Link) -> bool:
        """Whether a text, or an argument of a call, has the same reference."""
        sign = link.host or (re.split("[/@]", link.key)[0] if link.kind in ("doi", "email") else link.key)
        numbers: Sequence[int] = range(len(self._all)) if "xn--" in sign else self._with(sign)
        self._effort.spend(len(numbers))
        return (
            _is_written(link.text, self._text)
            or any(
                link.key in (read.address_keys if link.kind == "email" else read.link_keys)
                or _is_id(link, read.texts)
                for read in map(self._read.__getitem__, self._effort.spent_on(numbers))
            )
            or any(each.key == link.key for each in self.called_links)
        )

    @cached_property
    def links(self) -> list[Link]:
        """The references of all texts."""
        return [link for source in self._read for link in source.links]

    @cached_property
    def called_links(self) -> list[Link]:
        """The references in the arguments of calls: a page that was fetched is known, and who was written to."""
        return [link for text in _texts(self._called) for link in (*links(text), *addresses(text))]


def _is_id(link: Link, texts: Iterable[str]) -> bool:
    """Whether a text or a field is nothing but the arXiv id meant, as libraries tell it in a field of its own."""
    return link.kind == "arxiv" and any(
        re.fullmatch(rf"{re.escape(link.key)}(?:v\d+)?", value.strip(), re.IGNORECASE)
        for text in texts
        for _, value in fields(text)
    )


def _is_written(url: str, text: str) -> bool:
    """Whether a text has a URL just as it is written, with blanks or such around it: then nothing has to be read closely."""
    at = text.find(url)
    while at >= 0:
        end = at + len(url)
        if text[max(0, at - 1) : at] in _BESIDE_URL and text[end : end + 1] in _BESIDE_URL:
            return True
        at = text.find(url, end)
    return False


_BESIDE_URL = ("", END, " ", "\n", '"', "<", ">")
_MONTHS_AND_DAYS = frozenset((*MONTHS, *MONTH_NAMES, *DAYS))


class _Containing:
    """Which sources have a piece in their text. It knows of nothing that asks it, so that nothing outlives its last use."""

    def __init__(self, read: Sequence[Reading]) -> None:
        self._read = read
        self._places: dict[str, array[int]] = {}

    def sources(self, piece: str) -> "array[int]":
        """The numbers of the sources whose folded text has a piece."""
        found = self._places.get(piece)
        if found is None:
            numbers = [number for number, source in enumerate(self._read) if piece in source.folded]
            found = self._places[piece] = array("L", numbers)
        return found


def _with_text(sources: Iterable[Source]) -> list[Source]:
    return [found for source in sources if (found := _readable(source)).texts]


def _readable(source: Source) -> Source:
    """A source in Unicode NFC, without texts that say nothing. What a record says is never blank."""
    texts = tuple(map(composed, source.texts))
    kept = [number for number, text in enumerate(texts) if text and not text.isspace()]
    if len(kept) == len(texts):
        return Source(source.event_id, texts, source.paths, source.records)
    paths = tuple(source.paths[number] for number in kept) if source.paths else ()
    records = frozenset(place for place, number in enumerate(kept) if number in source.records)
    return Source(source.event_id, tuple(texts[number] for number in kept), paths, records)


def _texts(sources: Iterable[Source]) -> Iterator[str]:
    return (composed(text) for source in sources for text in source.texts)
