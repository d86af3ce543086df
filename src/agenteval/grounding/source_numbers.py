"""Numbers in sources: found by their digits or their first word, and only then read closely, line by line.

A number never goes on over the end of a line, nor does anything that tells how it is meant.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import chain

from agenteval.grounding.dates import dates
from agenteval.grounding.effort import Effort
from agenteval.grounding.quantities import NEARLY, quantities, spellings
from agenteval.grounding.sources import Source
from agenteval.lazyregex import lazy

MOST_KEPT = 500
"""Lines whose numbers are kept."""


class SourceNumbers:
    """The numbers of sources. `having` tells which sources have a piece in their folded text, by their index."""

    def __init__(
        self, sources: Sequence[Source], having: Callable[[str], Iterable[int]], effort: Effort
    ) -> None:
        self._effort = effort
        self._with = having
        self.texts = ["\n".join(source.texts) for source in sources]
        """Each source in one piece."""
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

    def has_near(self, value: Decimal, beside: "Beside | None" = None) -> bool:
        """Whether a text has about this number, whatever its unit."""
        low, high = value - NEARLY * value, value + NEARLY * value
        return self._number_at((float(low), float(high)), low, high, any_unit, beside or anywhere)

    def _number_at(
        self,
        run: tuple[float, float],
        low: Decimal,
        high: Decimal,
        fits: Callable[[str], bool],
        beside: "Beside",
    ) -> bool:
        """Whether one of the lines that could hold such a number does."""
        return any(
            any(low <= value <= high and fits(unit) for value, unit in self._numbers_in(line))
            and beside(number, offset)
            for line, number, offset in chain(self._lines_with_digits(*run), self._lines_with_words(low, high))
        )

    def _lines_with_digits(self, least: float, most: float) -> Iterator["Line"]:
        """The lines with a number in digits within these bounds."""
        values, places = self._runs
        for index in _within(values, least, most):
            self._effort.spend()
            number, offset = places[2 * index], places[2 * index + 1]
            text = self.texts[number]
            end = text.find("\n", offset)
            line = text[text.rfind("\n", 0, offset) + 1 : end if end >= 0 else len(text)]
            yield line, number, offset

    def _lines_with_words(self, low: Decimal, high: Decimal) -> Iterator["Line"]:
        """The lines with such a number in words."""
        for word in spellings(low, high):
            for number in self._with(word):
                offset = 0
                for line in self.texts[number].split("\n"):
                    self._effort.spend()
                    at = line.lower().find(word)
                    if at >= 0:
                        yield line, number, offset + at
                    offset += len(line) + 1

    @cached_property
    def _runs(self) -> tuple["array[float]", "array[int]"]:
        """Every number in digits, in each way it may be read, and the text and the offset where each stands."""
        values, places = array("d"), array("L")
        for number, text in enumerate(self.texts):
            for match in _RUN.finditer(text):
                found = _readings(*match.groups())
                values.extend(found)
                places.extend((number, match.start()) * len(found))
            for match in _SPACED.finditer(text):
                found = _readings(match.group(1).replace(" ", ""), match.group(2))
                values.extend(found)
                places.extend((number, match.start()) * len(found))
        return values, places

    def _numbers_in(self, line: str) -> list[tuple[Decimal, str]]:
        """The numbers of a line with their units; the years of its dates are numbers, their days are not."""
        if line not in self._read:
            if len(self._read) >= MOST_KEPT:
                self._read.clear()
            stated = dates(line)
            found = quantities(line, [(date.start, date.end) for date in stated])
            if _SPACED.search(line):
                found += quantities(_SPACED.sub(lambda match: match.group().replace(" ", ""), line))
            numbers = [(value, quantity.unit) for quantity in found for value in quantity.values]
            self._read[line] = numbers + [(Decimal(date.year), "") for date in stated if date.year]
        return self._read[line]


Line = tuple[str, int, int]
"""A line of a source, the number of the source, and the offset of what was found."""
Beside = Callable[[int, int], bool]
"""Whether a place in a source, by its number and an offset, is near what a claim is about."""


def anywhere(number: int, offset: int) -> bool:  # noqa: ARG001 - any place will do
    return True


def any_unit(unit: str) -> bool:  # noqa: ARG001 - any unit will do
    return True


_RUN = lazy(r"(\d[\d,.\u00a0\u202f]*)(?:[ -]?([hkmbtHKMBT]))?")
"""A number in digits, and the first letter of the scale that may follow."""
_SPACED = lazy(
    r"(?<![\d.,])(\d{1,3}(?:, \d{3}(?!\d))+(?:\. ?\d+)?|\d{1,9}\. \d+)(?!\d)(?:(?<=\d) ?([hkmbtHKMBT]))?"
)
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
