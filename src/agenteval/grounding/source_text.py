"""All sources of an output together, to be asked whether they have what a claim states.

Sources are long and claims are few, so nothing is indexed beforehand. Each question first asks, with plain
substring search in the folded text, which sources could have the thing at all; only these are read closely, one
by one, until one has it. What was read closely is kept, within bounds: memory stays a small multiple of the text.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain

from agenteval.grounding.dates import DAYS, MONTHS, Date, dates
from agenteval.grounding.effort import Effort
from agenteval.grounding.links import Link, links
from agenteval.grounding.quantities import IDENTIFIER
from agenteval.grounding.source_numbers import SourceNumbers, any_unit
from agenteval.grounding.sources import Source
from agenteval.grounding.wording import tokens, tokens_from
from agenteval.language.content_words import content_words, plain_form
from agenteval.lazyregex import lazy
from agenteval.text import blocks, fold, sentences

MOST_KEPT = 500
"""Sources whose spans are kept."""
FEW = 10
"""Sources that are read closely without looking first whether they have a word as a token."""


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence or a JSON string of a source."""

    event_id: str
    text: str


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
        self._folded = _Folded(self._all)
        self._with = self._folded.having
        self._tokens: dict[str, bool] = {}
        self._spans: dict[int, list[tuple[str, frozenset[str]]]] = {}
        self.said_words = frozenset(
            word for text in _texts(self._all[len(self._own) :]) for word in content_words(text)
        )

    # Words -----------------------------------------------------------------------------------------------------

    def has_word(self, word: str) -> bool:
        """Whether a span has a content word, given in its plain form."""
        candidates = self._with(_start(word))
        if len(candidates) > FEW and word.isalpha() and not self.has_token(word):
            return False
        for number in candidates:
            if number < len(self._own):
                for _, words in self._spans_of(number):
                    if word in words:
                        return True
        return False

    def best_span(self, wanted: Sequence[str], *, joined: bool = True) -> tuple[int, Span | None]:
        """The first span with the most of the wanted content words, and how many it has.

        `joined` counts the next sentence of the same source too, when that adds to it.
        """
        most = dict.fromkeys(range(len(self._own)), 0)
        for word in wanted:
            for number in self._with(_start(word)):
                if number < len(self._own):
                    most[number] += 1
        best, place = 0, (0, 0)
        for number in sorted(most, key=lambda number: -most[number]):
            if most[number] < max(best, 1):
                break
            if most[number] == best and number > place[0]:
                continue
            count, index = self._best_in(number, wanted, joined=joined)
            if count > best or (count == best > 0 and (number, index) < place):
                best, place = count, (number, index)
        return (best, self._span(place, wanted, best)) if best else (0, None)

    def _best_in(self, number: int, wanted: Sequence[str], *, joined: bool) -> tuple[int, int]:
        """The most words that a span of one source has, and the index of the first such span."""
        bits = {word: 1 << place for place, word in enumerate(wanted)}
        self._effort.spend(len(self._spans_of(number)))
        held = [sum(map(bits.__getitem__, bits.keys() & words)) for _, words in self._spans_of(number)]
        if joined:
            pairs = zip(held, [*held[1:], 0], strict=True)
            held = [mine and mine | following for mine, following in pairs]
        counts = [each.bit_count() for each in held]
        best = max(counts, default=0)
        return best, counts.index(best) if counts else 0

    def _span(self, place: tuple[int, int], wanted: Sequence[str], count: int) -> Span:
        number, index = place
        spans = self._spans_of(number)
        text, words = spans[index]
        if sum(word in words for word in wanted) < count:
            text = f"{text} {spans[index + 1][0]}"
        return Span(self._own[number].event_id, text)

    def _spans_of(self, number: int) -> list[tuple[str, frozenset[str]]]:
        """The spans of a source, each with its content words."""
        if number not in self._spans:
            if len(self._spans) >= MOST_KEPT:
                self._spans.clear()
            pieces = [
                piece
                for text in self._own[number].texts
                for block in blocks(text)
                for piece in ([block.text] if block.kind == "code" else sentences(block.text))
            ]
            self._spans[number] = [(piece, frozenset(content_words(piece))) for piece in pieces]
        return self._spans[number]

    # Tokens ----------------------------------------------------------------------------------------------------

    def has_token(self, token: str) -> bool:
        """Whether a text has a token, as it stands or in its plain form, or a date implies it."""
        if token not in self._tokens:
            self._tokens[token] = bool(token) and (self._has_token(token) or self._dates_imply(token))
        return self._tokens[token]

    def _has_token(self, token: str) -> bool:
        start = _start(token)
        seen = set()
        for number in self._with(start):
            for found in tokens_from(self._folded.texts[number], start):
                self._effort.spend()
                if found == token:
                    return True
                if found not in seen:
                    if plain_form(found) == token:
                        return True
                    seen.add(found)
        return False

    def _dates_imply(self, token: str) -> bool:
        """Whether a date of the sources is in this month or on this day of the week."""
        if token in MONTHS:
            return any(date.month == MONTHS.index(token) + 1 for date in self._dates)
        return token in DAYS and any(_weekday(date) == token for date in self._dates)

    def has_phrase(self, *pieces: Sequence[str]) -> bool:
        """Whether one text has all the pieces, each a sequence of tokens."""
        candidates = set(range(len(self._all)))
        for token in chain.from_iterable(pieces):
            candidates.intersection_update(self._with(token))
        wanted = [f" {' '.join(piece)} " for piece in pieces]
        for number in sorted(candidates):
            for text in self._all[number].texts:
                self._effort.spend(len(text) // 20)
                stream = f" {' '.join(tokens(text))} "
                if all(piece in stream for piece in wanted):
                    return True
        return False

    def has_initials(self, token: str) -> bool:
        """Whether a token stands for a run of capitalised words: `amd` for Advanced Micro Devices."""
        return 2 <= len(token) <= 6 and token in self._initials

    @cached_property
    def _initials(self) -> frozenset[str]:
        found: set[str] = set()
        for run in {run for text in _texts(self._all) for run in _CAPITALISED_RUN.findall(text)}:
            capitals = [word[0].lower() for word in run.split() if word[0].isupper()]
            found |= {
                "".join(capitals[start:end])
                for start in range(len(capitals))
                for end in range(start + 2, len(capitals) + 1)
            }
        return frozenset(found)

    def has_identifier(self, squashed: str) -> bool:
        """Whether a text has a name with digits in it, such as GPT-4, given without its punctuation."""
        first = next((place for place, sign in enumerate(squashed) if sign.isdigit()), 0)
        letters, digit = squashed[:first], squashed[first : first + 1]
        candidates = {*self._with(letters + digit), *self._with(f"{letters}-{digit}" if letters else digit)}
        return any(
            squash(match.group()) == squashed
            for number in sorted(candidates)
            for text in self._all[number].texts
            for match in self._effort.spent_on(IDENTIFIER.finditer(text))
        )

    # Dates and numbers -----------------------------------------------------------------------------------------

    @cached_property
    def _dates(self) -> list[Date]:
        """The dates, each once."""
        found: dict[object, Date] = {}
        for text in _texts(self._all):
            for date in dates(text):
                found.setdefault((date.year, date.month, date.day, date.other), date)
        return list(found.values())

    def has_date(self, date: Date) -> bool:
        """Whether a text states a date as far as this one is stated; its year may be said elsewhere."""
        days = {str(day) for day in (date.day, *(date.other or ())) if day}
        candidates = {number for day in days for number in self._with(day)} if days else range(len(self._all))
        return any(
            date.covers(each)
            and date.agrees(each)
            and (not date.year or each.year or self.numbers.has(Decimal(date.year), "", any_unit))
            for number in sorted(candidates)
            for text in self._all[number].texts
            for each in self._effort.spent_on(dates(text))
        )

    @cached_property
    def numbers(self) -> SourceNumbers:
        """The numbers of all texts."""
        return SourceNumbers(self._all, self._with, self._effort)

    # References ------------------------------------------------------------------------------------------------

    def has_link(self, link: Link) -> bool:
        """Whether a text, or an argument of a call, has the same reference."""
        sign = link.host or (link.key.split("/")[0] if link.kind == "doi" else link.key)
        numbers = range(len(self._all)) if "xn--" in sign else self._with(sign)
        return any(
            each.key == link.key
            for number in numbers
            for text in self._all[number].texts
            if sign in fold(text) or "xn--" in sign
            for each in self._effort.spent_on(links(text))
        ) or any(each.key == link.key for each in self.called_links)

    @cached_property
    def links(self) -> list[Link]:
        """The references of all texts."""
        return [link for text in _texts(self._all) for link in links(text)]

    @cached_property
    def called_links(self) -> list[Link]:
        """The references in the arguments of calls: a page that was fetched is known."""
        return [link for text in _texts(self._called) for link in links(text)]


_CAPITALISED_RUN = lazy(
    r"[A-Z](?<!\w[A-Z])[\w'-]{1,30}(?: (?:of |for |and |the )?[A-Z](?<!\w[A-Z])[\w'-]{1,30}){1,5}"
)


class _Folded:
    """The folded texts of the sources. It knows of nothing that asks it, so that nothing outlives its last use."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.texts = [fold("\n".join(source.texts)).replace("’", "'") for source in sources]  # noqa: RUF001
        """Each source in one piece, its apostrophes straight."""
        self._places: dict[str, array[int]] = {}

    def having(self, piece: str) -> "array[int]":
        """The numbers of the sources whose folded text has a piece."""
        found = self._places.get(piece)
        if found is None:
            numbers = [number for number, text in enumerate(self.texts) if piece in text]
            found = self._places[piece] = array("L", numbers)
        return found


def _start(word: str) -> str:
    """What every word whose plain form is this one begins with: `sky` may stand as `skies`, `1234kg` as `1,234kg`."""
    if not word.isalpha():
        for place, sign in enumerate(word):
            if sign.isdigit():
                return word[: place + 1]
    return word[:-1] if len(word) > 1 and word[-1] == "y" else word


def _weekday(date: Date) -> str | None:
    from datetime import date as calendar_date

    if not (date.year and date.month and date.day):
        return None
    try:
        return DAYS[calendar_date(date.year, date.month, date.day).weekday()]
    except ValueError:
        return None


def _with_text(sources: Iterable[Source]) -> list[Source]:
    found = (
        Source(source.event_id, [text for text in source.texts if text and not text.isspace()])
        for source in sources
    )
    return [source for source in found if source.texts]


def _texts(sources: Iterable[Source]) -> Iterator[str]:
    return (text for source in sources for text in source.texts)


def squash(text: str) -> str:
    """Letters and digits only, folded."""
    return "".join(filter(str.isalnum, fold(text)))
