"""Numbers in sources: found by their digits or their first word, and only then read closely, line by line.

A number never goes on over the end of a line, nor does anything that tells how it is meant.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import chain

from agenteval.grounding.dates import MONTHS, dates
from agenteval.grounding.effort import Effort
from agenteval.grounding.quantities import NEARLY, quantities, spellings
from agenteval.grounding.sources import Source
from agenteval.lazyregex import lazy

MOST_KEPT = 500
"""Pieces whose numbers are kept."""
AROUND = 60
"""How many characters before and after a number tell how it is meant."""


class SourceNumbers:
    """The numbers of sources. `having` tells which sources have a piece in their folded text, by their index."""

    def __init__(
        self, sources: Sequence[Source], having: Callable[[str], Iterable[int]], effort: Effort
    ) -> None:
        self._effort = effort
        self._with = having
        self.texts = ["\n".join(source.texts) for source in sources]
        """Each source in one piece."""
        self._offsets: dict[int, array[int]] = {}
        self._read: dict[str, list[tuple[Decimal, str]]] = {}

    def has(
        self, value: Decimal, unit: str, fits: Callable[[str], bool], beside: "Beside | None" = None
    ) -> bool:
        """Whether a text has a number of this value with a unit that fits, beside what it has to stand beside.

        `unit` is `:` for a time of day.
        """
        beside = beside or anywhere
        if unit == ":":
            hour = int(value) // 60 % 12
            hours = ((hour, hour), (hour + 12, hour + 12))
            return any(self._number_at(runs, value, value, fits, beside) for runs in hours)
        return self._number_at((float(value), float(value)), value, value, fits, beside)

    def has_written(self, number: str, beside: "Beside") -> bool:
        """Whether a text has a number just as it is written here, and nothing beside it that makes it another.

        Quicker than reading all numbers, and enough for most that are right.
        """
        for source in self._with(number.lower()):
            text = self.texts[source]
            at = text.find(number)
            while at >= 0:
                self._effort.spend()
                if _stands_alone(text, at, at + len(number)) and beside(source, at):
                    return True
                at = text.find(number, at + 1)
        return False

    def has_text(self, piece: str) -> bool:
        """Whether a source has a piece of text."""
        return any(piece in text for text in self.texts)

    def has_near(self, value: Decimal, beside: "Beside | None" = None) -> bool:
        """Whether a text has about this number, whatever its unit, but more exactly: `about 60` for 58.4."""
        low, high = value - NEARLY * value, value + NEARLY * value
        exact = _digits(value)
        return self._number_at(
            (float(low), float(high)),
            low,
            high,
            any_unit,
            beside or anywhere,
            lambda other: _digits(other) > exact,
        )

    def _number_at(
        self,
        run: tuple[float, float],
        low: Decimal,
        high: Decimal,
        fits: Callable[[str], bool],
        beside: "Beside",
        counts: Callable[[Decimal], bool] = lambda value: True,  # noqa: ARG005 - any number will do
    ) -> bool:
        """Whether such a number stands at one of the places where it could."""
        return any(
            any(
                low <= value <= high and fits(unit) and counts(value)
                for value, unit in self._numbers_at(number, offset)
            )
            and beside(number, offset)
            for number, offset in chain(self._in_digits(*run), self._in_words(low, high))
        )

    def _in_digits(self, least: float, most: float) -> Iterator["Place"]:
        """Where numbers in digits within these bounds stand."""
        values, places = self._runs
        for index in _within(values, least, most):
            self._effort.spend()
            number = places[2 * index]
            yield number, self._starts(number)[places[2 * index + 1]]

    def _in_words(self, low: Decimal, high: Decimal) -> Iterator["Place"]:
        """Where such a number may stand in words."""
        for word in spellings(low, high):
            for number in self._with(word):
                folded = self.folded(number)
                at = folded.find(word)
                while at >= 0:
                    self._effort.spend()
                    end = at + len(word)
                    if not (
                        folded[at - 1 : at].isalnum() or folded[end : end + 1].isalnum()
                    ):  # the ten of often
                        yield number, at
                    at = folded.find(word, end)

    def folded(self, number: int) -> str:
        """A source in lower case, each character in its place."""
        text = self.texts[number]
        lower = text.lower()
        return (
            lower
            if len(lower) == len(text)
            else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        )

    @cached_property
    def _runs(self) -> tuple["array[float]", "array[int]"]:
        """Every number in digits, in each way it may be read, and the source and the rank where each stands."""
        values, places = array("d"), array("L")
        for number, text in enumerate(self.texts):
            runs = _RUN.findall(text)
            if _SPACED_SIGN.search(text):
                runs += [(run.replace(" ", ""), scale) for run, scale in _SPACED.findall(text)]
            for rank, (run, scale) in enumerate(runs):
                if not scale and run.isdigit():
                    values.append(float(run))
                    places.extend((number, rank))
                else:
                    found = _readings(run, scale)
                    values.extend(found)
                    places.extend((number, rank) * len(found))
        return values, places

    def _starts(self, number: int) -> "array[int]":
        """Where the numbers of a source stand, by rank."""
        if number not in self._offsets:
            text = self.texts[number]
            found = chain(_RUN.finditer(text), _SPACED.finditer(text))
            self._offsets[number] = array("L", (match.start() for match in found))
        return self._offsets[number]

    def _numbers_at(self, number: int, offset: int) -> list[tuple[Decimal, str]]:
        """The numbers around a place, of its line; the years of its dates are numbers, their days are not."""
        text = self.texts[number]
        start, end = max(0, offset - AROUND), min(len(text), offset + AROUND)
        start = max(start, text.rfind("\n", start, offset) + 1)
        stop = text.find("\n", offset, end)
        line = text[_at_word(text, start) : stop if stop >= 0 else _at_word(text, end)]
        if line not in self._read:
            if len(self._read) >= MOST_KEPT:
                self._read.clear()
            stated = dates(line)
            found = quantities(line, [(date.start, date.end) for date in stated])
            if _SPACED_SIGN.search(line):
                found += quantities(_SPACED.sub(lambda match: match.group().replace(" ", ""), line))
            numbers = [(value, quantity.unit) for quantity in found for value in quantity.values]
            self._read[line] = numbers + [(Decimal(date.year), "") for date in stated if date.year]
        return self._read[line]


_ALONE = lazy(
    r"-(?=[a-z])|(?:[.,;:!?]?[\s\"')\]]|[.,;:!?]?\Z)(?!\s{0,4}(?:[kmbt]n?\b|hundred|thousand|\w{1,6}illion|mio\b|%|per|pct"
    r"|dollar|euro|pound|yen|[ap]\.?m\b))",
    re.IGNORECASE,
)
_BEFORE_ALONE = " \n(\"'"


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands around a number cannot change what it means: a unit, a scale, the rest of a date."""
    if start and text[start - 1] not in _BEFORE_ALONE:
        return False
    if not _ALONE.match(text, end):
        return False
    beside = text[max(0, start - 10) : start].split()[-1:] + text[end : end + 8].split()[:1]
    return not any(word[:3].lower() in MONTHS for word in beside)


def _digits(value: Decimal) -> int:
    """How many digits a number has, without zeros at its end."""
    return len(value.normalize().as_tuple().digits)


def _at_word(text: str, place: int) -> int:
    """A place, or the nearest one before it at which no word goes on."""
    for at in range(place, max(0, place - AROUND), -1):
        if at >= len(text) or text[at].isspace():
            return at
    return place


Place = tuple[int, int]
"""The number of a source, and an offset there."""
Beside = Callable[[int, int], bool]
"""Whether a place in a source, by its number and an offset, is near what a claim is about."""


def anywhere(number: int, offset: int) -> bool:  # noqa: ARG001 - any place will do
    return True


def any_unit(unit: str) -> bool:  # noqa: ARG001 - any unit will do
    return True


_RUN = lazy(
    r"(\d\d*(?:[,.\u00a0\u202f]\d+)*)(?:[ -]?([hkmbtHKMBT])(?=[nm]?\b|undred|housand|illion|rillion|io\b))?"
)
"""A number in digits, and the first letter of the scale that may follow. What begins in `\\d\\d*` is found quicker than `\\d+`."""
_SPACED_SIGN = lazy(r"\d[.,] \d")
_SPACED = lazy(r"(\d(?:\d{0,2}(?:, \d{3}(?!\d))+(?:\. ?\d+)?|\d{0,8}\. \d+))(?!\d)(?: ?([hkmbtHKMBT]))?")
"""A number that a tokenizer has taken apart: `13, 000` and `98. 7`, which may be two numbers as well."""
_SEPARATOR = lazy(r"[,.\u00a0\u202f]+")
_POWERS = {"h": (2,), "k": (3,), "t": (3, 12), "m": (6,), "b": (9,)}


def _readings(run: str, letter: str | None) -> list[float]:
    """What digits may mean: separated groups one number or several, a letter after them a scale or nothing."""
    if not letter and run.isdigit():
        return [float(run)]
    run = run.rstrip(",.\u00a0\u202f")
    written = [run]
    if not run.isdigit():
        if "," in run or "\u00a0" in run or "\u202f" in run:
            written = [run.replace(",", "").replace("\u00a0", "").replace("\u202f", "")]
        if written[0] != run or run.count(".") > 1:
            written += _SEPARATOR.split(run)
    powers = (0, *_POWERS[letter.lower()]) if letter else (0,)
    return [float(f"{digits}e{power}") for digits in written if digits.count(".") <= 1 for power in powers]


def _within(values: "array[float]", least: float, most: float) -> Iterator[int]:
    """The indexes of the values within the bounds, in order."""
    if least != most:
        yield from (index for index, value in enumerate(values) if least <= value <= most)
        return
    index = -1
    try:
        while True:
            index = values.index(least, index + 1)
            yield index
    except ValueError:
        return
