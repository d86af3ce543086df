"""All sources of an output together, to be asked whether they have what a claim states.

Sources are long and claims are few, so nothing is indexed beforehand. Each question first asks, with plain
substring search in the folded text, which sources could have the thing at all; only these are read closely, one
by one, until one has it. What was read closely is kept, within bounds: memory stays a small multiple of the text.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import chain

from agenteval.grounding.dates import DAYS, MONTHS, Date, dates
from agenteval.grounding.effort import Effort
from agenteval.grounding.links import Link, links
from agenteval.grounding.passages import Passages, encoded, signs
from agenteval.grounding.quantities import IDENTIFIER
from agenteval.grounding.source_numbers import Beside, SourceNumbers, any_unit, anywhere
from agenteval.grounding.sources import Source
from agenteval.grounding.wording import tokens as exact_tokens
from agenteval.language.signs import END, tokens
from agenteval.lazyregex import lazy
from agenteval.text import fold

NEAR = 250
"""How many characters around a number or a date are near it."""


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
        self._dated: dict[int, list[Date]] = {}
        self._linked: dict[int, list[Link]] = {}
        self.signs = signs()

    # Words -----------------------------------------------------------------------------------------------------

    @cached_property
    def passages(self) -> Passages:
        """The sources, without what the user said."""
        return Passages(self._own, self.signs, self._effort)

    @cached_property
    def said(self) -> str:
        """The signs of the words that the user said."""
        return "".join(encoded(text, self.signs)[1] for text in _texts(self._all[len(self._own) :]))

    def has_token(self, token: str) -> bool:
        """Whether a text has a word, in any form with the same stem, or a date implies it."""
        sign = self.signs.all([token]) if token else END
        self.passages.spend(1)
        return sign in self.passages.words or sign in self.said or self.dates_imply(token)

    def has_together(self, words: Sequence[str]) -> bool:
        """Whether words stand in one sentence or two in a row, if the sources have all of them."""
        found = [sign for sign in dict.fromkeys(self.signs.each(words)) if sign and self.passages.has(sign)]
        best = self.passages.best(found) if len(found) > 1 else None
        return best is None or len(best.words) == len(found)

    def dates_imply(self, token: str) -> bool:
        """Whether a date of the sources is in this month or on this day of the week."""
        if token in MONTHS:
            return any(date.month == MONTHS.index(token) + 1 for date in self._dates)
        return token in DAYS and any(_weekday(date) == token for date in self._dates)

    def beside(self, words: frozenset[str], least: int) -> Beside:
        """Whether so many of these words stand near a place in a source, or the source is what the user said."""

        def stand(number: int, offset: int) -> bool:
            if number >= len(self._own):
                return True
            near = self.numbers.texts[number][max(0, offset - NEAR) : offset + NEAR]
            return len(words.intersection(self.signs.content(tokens(near)))) >= least

        return stand

    # Phrases ---------------------------------------------------------------------------------------------------

    def has_phrase(self, *pieces: Sequence[str]) -> bool:
        """Whether one text has all the pieces, each a sequence of tokens."""
        candidates = set(range(len(self._all)))
        for token in chain.from_iterable(pieces):
            candidates.intersection_update(self._with(token))
        wanted = [f" {' '.join(piece)} " for piece in pieces]
        for number in sorted(candidates):
            for text in self._all[number].texts:
                self._effort.spend(len(text) // 20)
                stream = f" {' '.join(exact_tokens(text))} "
                if all(piece in stream for piece in wanted):
                    return True
        return False

    def has_initials(self, token: str) -> bool:
        """Whether a token stands for a run of capitalised words: `amd` for Advanced Micro Devices."""
        return 2 <= len(token) <= 6 and token in self._initials

    @cached_property
    def _initials(self) -> str:
        """The first letters of each run of capitalised words."""
        runs = {run for text in _texts(self._all) for run in _CAPITALISED_RUN.findall(text)}
        return " ".join("".join(word[0].lower() for word in run.split() if word[0].isupper()) for run in runs)

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
            for each in self._effort.spent_on(self._dates_of(number))
        )

    def _dates_of(self, number: int) -> list[Date]:
        """The dates of a source, found once."""
        if number not in self._dated:
            self._dated[number] = dates(self.numbers.texts[number])
        return self._dated[number]

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
            for each in self._effort.spent_on(self._links_of(number))
        ) or any(each.key == link.key for each in self.called_links)

    def _links_of(self, number: int) -> list[Link]:
        """The references of a source, found once."""
        if number not in self._linked:
            self._linked[number] = [link for text in self._all[number].texts for link in links(text)]
        return self._linked[number]

    @cached_property
    def links(self) -> list[Link]:
        """The references of all texts."""
        return [link for number in range(len(self._all)) for link in self._links_of(number)]

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


def _weekday(date: Date) -> str | None:
    from datetime import date as calendar_date

    if not (date.year and date.month and date.day):
        return None
    try:
        return DAYS[calendar_date(date.year, date.month, date.day).weekday()]
    except ValueError:
        return None


def _with_text(sources: Iterable[Source]) -> list[Source]:
    return [found for source in sources if (found := _without_blanks(source)).texts]


def _without_blanks(source: Source) -> Source:
    """A source without texts that say nothing."""
    if all(text and not text.isspace() for text in source.texts):
        return source
    kept = [number for number, text in enumerate(source.texts) if text and not text.isspace()]
    paths = [source.paths[number] for number in kept] if source.paths else []
    return Source(source.event_id, [source.texts[number] for number in kept], paths)


def _texts(sources: Iterable[Source]) -> Iterator[str]:
    return (text for source in sources for text in source.texts)


def squash(text: str) -> str:
    """Letters and digits only, folded."""
    return "".join(filter(str.isalnum, fold(text)))
