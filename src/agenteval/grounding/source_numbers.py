"""Numbers in sources: found by their digits or their first word, and only then read closely, line by line.

A number never goes on over the end of a line, nor does anything that tells how it is meant.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from agenteval.grounding.dates import MONTHS, dates
from agenteval.grounding.effort import FOUND, Effort
from agenteval.grounding.number_words import spellings
from agenteval.grounding.quantities import ROUND, apart_at_commas, quantities
from agenteval.grounding.quantity import METRES, may_be_version
from agenteval.grounding.reading import SPACED, Reading
from agenteval.lazyregex import lazy

_ALSO = {"byte": ("",), "metre": (METRES,)}
"""How a unit of measure may be told in another way."""
MOST_KEPT = 1000
"""Lines whose numbers are kept: near one number there are others, and other checks read the same fixture."""
AROUND = 60
"""How many characters before and after a number tell how it is meant."""


class SourceNumbers:
    """The numbers of sources. `having` tells which sources have a piece in their folded text, by their index."""

    def __init__(
        self, sources: Sequence[Reading], having: Callable[[str], Iterable[int]], effort: Effort
    ) -> None:
        self._effort = effort
        self._with = having
        self._sources = sources
        self._values, self._offsets = array("d"), array("L")
        """The numbers in digits of the sources that were read so far, in order, and where in its source each stands."""
        self._firsts: list[int] = []
        """The place among them of the first number of each of these sources."""

    def has(
        self, value: Decimal, unit: str, fits: Callable[[str], bool], beside: "Beside | None" = None
    ) -> bool:
        """Whether a text has a number of this value with a unit that fits, beside what it has to stand beside.

        `unit` is `:` for a time of day.
        """
        beside = beside or anywhere
        if unit == ":":
            hour, minute = divmod(int(value), 60)
            hours = (hour % 12, hour % 12 + 12)
            runs = (*hours, *(round(hour + minute / 100, 2) for hour in hours if minute))  # 9.30 am

            def may_be(number: int, offset: int) -> bool:
                clock = _CLOCK.match(self._sources[number].text, offset)
                return clock is None or int(clock[1]) == minute

            in_digits = any(
                self._number_at((run, run), value, value, fits, beside, may_be=may_be) for run in runs
            )
            return in_digits or self._has_time_in_words(value, beside)
        return self._number_at((float(value), float(value)), value, value, fits, beside)

    def has_written(
        self, number: str, beside: "Beside", fits: Callable[[str, int, int], bool] | None = None
    ) -> bool:
        """Whether a text has a number just as it is written here, and nothing beside it that makes it another, or what `fits`.

        Quicker than reading all numbers, and enough for most that are right.
        """
        for source in self._with(number.lower()):
            text = self._sources[source].text
            at = text.find(number)
            while at >= 0:
                self._effort.spend()
                if (fits or stands_alone)(text, at, at + len(number)) and beside(source, at):
                    return True
                at = text.find(number, at + 1)
        return False

    def has_version(self, number: str, beside: "Beside") -> bool:
        """Whether a text has a version that is this number, or begins with it: the 3.11 of `3.11.7`, the 20 of `v20.11`."""
        return self.has_written(number, beside, _begins_version)

    def has_duration(self, least: Decimal, most: Decimal, beside: "Beside") -> bool:
        """Whether a text has a length of time within these bounds, in seconds, whatever its units."""
        for number, source in enumerate(self._sources):
            start = bisect_left(source.durations, (least, 0))
            for seconds, at in islice(source.durations, start, None):
                if seconds > most:
                    break
                self._effort.spend(FOUND)
                if beside(number, at):
                    return True
        return False

    def has_measure(self, unit: str, least: Decimal, most: Decimal, beside: "Beside") -> bool:
        """Whether a text has a number within these bounds with this unit of measure; of bytes, without any, too."""
        units = (unit, *_ALSO.get(unit, ()))
        return self._number_at((float(least), float(most)), least, most, units.__contains__, beside)

    def has_hash(self, start: str) -> bool:
        """Whether a text has a hash of twelve digits or more, or a UUID, that begins so: a shorter one is another name."""
        return self.has_written(start, anywhere, _begins_hash)

    def has_hour(self, minutes: Decimal, beside: "Beside") -> bool:
        """Whether a text has a time, in minutes of the day, as a bare hour of either half of the day: `at 9`, or as cron tells it."""
        for number, source in enumerate(self._sources):
            if any(minutes in each.times and beside(number, each.start) for each in source.schedules):
                return True
        hour, rest = divmod(int(minutes), 60)
        for each in () if rest else {hour, hour % 12 or 12}:
            for number, at in self._in_digits(each, each):
                text = self._sources[number].text
                told = _AT.search(text, max(0, at - 8), at) and not _NO_HOUR.match(text, at)
                if (told or _FROM_HOUR.match(text, at)) and beside(number, at):
                    return True
        return False

    def has_span_of_hours(self, number: str, beside: "Beside") -> bool:
        """Whether a text has a number of hours at either end of a span that may be two times of day as well: `14-18 h`."""
        return self.has_written(number, beside, _is_in_span_of_hours)

    def has_time(self, least: Decimal, most: Decimal, beside: "Beside") -> bool:
        """Whether a text has a time of day within these bounds, in minutes."""
        for number, source in enumerate(self._sources):
            for time in self._effort.spent_on(source.clock_times):
                if any(least <= value <= most for value in time.values) and beside(number, time.start):
                    return True
        return False

    def _has_time_in_words(self, minutes: Decimal, beside: "Beside") -> bool:
        """Whether a text has a time of day that begins in words: `half past ten`, `quarter to 5`, `ten o'clock`."""
        return any(
            minutes in time.values and beside(number, time.start)
            for number, source in enumerate(self._sources)
            for time in self._effort.spent_on(source.times_in_words)
        )

    def has_text(self, piece: str) -> bool:
        """Whether a source has a piece of text."""
        return any(piece in source.text for source in self._sources)

    def has_near(
        self,
        value: Decimal,
        nearly: Decimal,
        beside: "Beside",
        fits: Callable[[str], bool],
        *,
        over: bool = False,
        finer: int = 1,
    ) -> bool:
        """Whether a text has this number but for a share, with `finer` digits more: `about 60` for 58.4."""
        exact = _digits(value)
        above = 2 * nearly if over and exact == 1 and value >= ROUND else nearly
        low, high = value - nearly * value, value + above * value
        return self._number_at(
            (float(low), float(high)),
            low,
            high,
            fits,
            beside,
            lambda other: _digits(other) >= exact + finer,
        )

    def _number_at(
        self,
        run: tuple[float, float],
        low: Decimal,
        high: Decimal,
        fits: Callable[[str], bool],
        beside: "Beside",
        counts: Callable[[Decimal], bool] = lambda value: True,  # noqa: ARG005 - any number will do
        may_be: "Beside | None" = None,
    ) -> bool:
        """Whether such a number stands at one of the places where it could, which are read if it `may_be` there."""
        return any(
            any(
                low <= value <= high and fits(unit) and counts(value)
                for value, unit in self._numbers_at(number, offset)
            )
            and beside(number, offset)
            for number, offset in chain(self._in_digits(*run), self._in_words(low, high))
            if may_be is None or may_be(number, offset)
        )

    def _in_digits(self, least: float, most: float) -> Iterator["Place"]:
        """Where numbers in digits within these bounds stand."""
        start = 0
        while start < len(self._values) or self._read_next():
            end = len(self._values)
            for index in _within(self._values, least, most, start, end):
                self._effort.spend(FOUND)
                yield bisect_right(self._firsts, index) - 1, self._offsets[index]
            start = end

    def _read_next(self) -> bool:
        """Read the next source. Returns False when there is none."""
        if len(self._firsts) == len(self._sources):
            return False
        values, offsets = self._sources[len(self._firsts)].numbers
        self._firsts.append(len(self._values))
        self._values.extend(values)
        self._offsets.extend(offsets)
        return True

    def _in_words(self, low: Decimal, high: Decimal) -> Iterator["Place"]:
        """Where such a number may stand in words."""
        for word in spellings(low, high):
            for number in self._with(word):
                text = self._sources[number].lowered
                at = text.find(word)
                while at >= 0:
                    self._effort.spend(FOUND)
                    end = at + len(word)
                    if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):  # the ten of often
                        yield number, at
                    at = text.find(word, end)

    def _numbers_at(self, number: int, offset: int) -> Iterator[tuple[Decimal, str]]:
        """The numbers that may be at a place, by what is around it in its line; the years of its dates are numbers, their days are not."""
        text = self._sources[number].text
        start, end = max(0, offset - AROUND), min(len(text), offset + AROUND)
        start = max(start, text.rfind("\n", start, offset) + 1)
        stop = text.find("\n", offset, end)
        start = _at_word(text, start)
        run = _RUN.match(text, offset)
        first, last = offset - start, (run.end() - 1 if run else offset) - start
        found = _numbers_in(text[start : stop if stop >= 0 else _at_word(text, end)])
        counts = COUNTED if run and _COUNTS.match(text, run.end()) else ""
        return (
            (each.value, each.unit or counts) for each in found if each.start <= last and each.end > first
        )


_CLOCK = lazy(r"\d{1,2}:(\d\d)(?!\d)")
COUNTED = "things"
"""The unit of a number that counts things: "140 beds", "18 of 42 lifts"."""
_COUNTS = lazy(r" (?:of (?:the )?\d|(?!\w*(?:ss|us|is|wards|always|sometimes)\b)[a-z]{3,}s\b)")
_RUN = lazy(r"\d+(?:[.,'\u2019\u00a0\u202f]\d+)*")
"""Digits that may be several numbers: `2010,2011`."""


class _Told(NamedTuple):
    """A number of a line in one of its readings, and from where to where it may stand."""

    value: Decimal
    unit: str
    start: int
    end: int


@lru_cache(maxsize=MOST_KEPT)
def _numbers_in(line: str) -> list[_Told]:
    """The numbers of a line, each in all its readings."""
    stated = dates(line)
    found = [
        _Told(value, each.unit, each.start, each.end)
        for each in quantities(line, [(date.start, date.end) for date in stated])
        for value in each.values
    ]
    joined = SPACED.sub(lambda match: match.group().replace(" ", ""), line)
    parted = _RUN.sub(lambda match: ", ".join(apart_at_commas(match.group())) or match.group(), line)
    for other in {joined, parted} - {line}:
        spans = [(date.start, date.end) for date in dates(other)]
        found += [
            _Told(value, each.unit, 0, len(line))
            for each in quantities(other, spans)
            for value in each.values
        ]
    return found + [_Told(Decimal(date.year), "", date.start, date.end) for date in stated if date.year]


_AT = lazy(r"(?i)(?:\b(?:at|until|till|bis|ab|um) |(?<![\w:.,/-])\d{1,2}[-\u2013])\Z")
_FROM_HOUR = lazy(r"(?<![\w:.,/-])\d{1,2} ?[-\u2013] ?(?:1[3-9]|2[0-4])(?![\w:/%-]|[.,]\d)")
"""From one bare hour to another after noon: `8-17`."""
_NO_HOUR = lazy(
    r"\d++(?:[:.,/–-]\d|\s?[%$€£¥°]|\s?[ap]\.?m\b|\s(?!(?:[ai]s|was|this|his|always|\w*days|\w+ings|hours)\b)(?-i:[a-z]+s)\b)",  # noqa: RUF001
    re.IGNORECASE,
)
"""A number with minutes, a unit or a half of the day of its own, or of several things: `at 5 stores`."""

_ALONE = lazy(
    r"-(?=[a-z])|(?:[.,;:!?]?[\s\"')\]]|[.,;:!?]?\Z)(?!\s{0,4}(?:[kmbt]n?\b|hundred|thousand|\w{1,6}illion|mio\b|%|per|pct"
    r"|dollar|euro|pound|yen|[ap]\.?m\b))",
    re.IGNORECASE,
)
_BEFORE_ALONE = " \n(\"'"


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands around a number cannot change what it means: a unit, a scale, the rest of a date."""
    if start and text[start - 1] not in _BEFORE_ALONE:
        return False
    if not _ALONE.match(text, end):
        return False
    beside = text[max(0, start - 10) : start].split()[-1:] + text[end : end + 8].split()[:1]
    return not any(word[:3].lower() in MONTHS for word in beside)


_REST_OF_VERSION = lazy(r"(?:\.\d+)*(?!\.?\w)")
_CUT_SHORT = lazy(r"\.\d{1,3}(?!\.?\w)")
_CUT_WHOLE = lazy(r"\.\d{1,3}\.\d{1,3}(?!\.?\w)")


def _begins_version(text: str, start: int, end: int) -> bool:
    """Whether a version begins here: one with a `v` or with two points, or the number itself where it may be one."""
    before = text[max(0, start - 20) : start]
    if before[-1:] in ("v", "V"):
        return not before[-2:-1].isalnum() and bool(_REST_OF_VERSION.match(text, end))
    if before[-1:].isalnum() or before[-1:] == ".":
        return False
    whole = "." not in text[start:end]
    if (_CUT_WHOLE if whole else _CUT_SHORT).match(text, end):
        return True
    return stands_alone(text, start, end) and (not whole or may_be_version(before))


_SPAN_OF_HOURS = lazy(r"\d\d?(?: ?[-\u2013] ?\d\d?)? ?h\b(?! ?\d)")
_IN_ANOTHER = lazy(r"[\w:.,/]\Z")


def _is_in_span_of_hours(text: str, start: int, end: int) -> bool:  # noqa: ARG001 - the pattern tells where it ends
    return bool(_SPAN_OF_HOURS.match(text, start)) and not _IN_ANOTHER.search(text[max(0, start - 1) : start])


_WHOLE_HASH = lazy(r"[0-9a-f]{12,64}(?![^\W_])|[0-9a-f]{8}-")


def _begins_hash(text: str, start: int, end: int) -> bool:  # noqa: ARG001 - it ends with the hash
    return not text[max(0, start - 1) : start].isalnum() and bool(_WHOLE_HASH.match(text, start))


def _digits(value: Decimal) -> int:
    """How many digits a number has, without zeros at its end."""
    return len(value.normalize().as_tuple().digits)


def _at_word(text: str, place: int) -> int:
    """A place, or the nearest one before it at which no word goes on."""
    for at in range(place, max(0, place - AROUND), -1):
        if at >= len(text) or text[at].isspace():
            return at
    return place


def _within(values: "array[float]", least: float, most: float, start: int, end: int) -> Iterator[int]:
    """The indexes, from `start` to `end`, of the values within the bounds, in order."""
    if least != most:
        yield from (index for index in range(start, end) if least <= values[index] <= most)
        return
    try:
        while True:
            start = values.index(least, start, end) + 1
            yield start - 1
    except ValueError:
        return


Place = tuple[int, int]
"""The number of a source, and an offset there."""
Beside = Callable[[int, int], bool]
"""Whether a place in a source, by its number and an offset, is near what a claim is about."""


def anywhere(number: int, offset: int) -> bool:  # noqa: ARG001 - any place will do
    return True


def any_unit(unit: str) -> bool:  # noqa: ARG001 - any unit will do
    return True
