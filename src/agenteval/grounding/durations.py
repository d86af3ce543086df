"""Lengths of time in several units: `1 h 30 min`, `6m12s` and `PT1H55M` are one quantity each, in seconds.

`90 minutes` is a number with a unit of measure.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise, product
from operator import mul

from agenteval.grounding.measures import names_of
from agenteval.grounding.number_words import SMALL
from agenteval.grounding.quantity import Quantity, is_about, rounding
from agenteval.lazyregex import lazy
from agenteval.text import caseless

DURATION = "duration"
"""The unit of a length of time in several units: its value is in seconds."""
_LENGTHS = {
    unit: Decimal(seconds)
    for unit, seconds in (("second", 1), ("minute", 60), ("hour", 3600), ("day", 86_400), ("week", 604_800))
}
MOST_AFTER = 3
"""How many times of day after another one in its line may be the end of what begins then."""
_DAY = 24 * 60

_NAMES = {
    unit: "|".join([*sorted(names_of(unit), key=len, reverse=True), unit[0]])
    for unit in ("day", "hour", "minute", "second")
}
_UNIT_OF = {name: unit for unit, names in _NAMES.items() for name in names.split("|")}


def _part(unit: str) -> str:
    return rf"\d{{1,9}}(?:\.\d{{1,9}})?[ \u00a0]?-?(?:{_NAMES[unit]})(?![^\W\d_])"


def _then(*units: str) -> str:
    return "".join(rf"(?:,? ?(?:and |und |y |et )?{_part(unit)})?" for unit in units)


_SIGN = lazy(r"\d[ \u00a0-]?[dhmstj][^.;:!?]{0,20}?\d|P(?:\d+D)?T\d|: \d+; \w+: \d", re.IGNORECASE)
_SEVERAL = lazy(
    rf"(?<![\w.,:])(?:{_part('day')}{_then('hour', 'minute', 'second')}|{_part('hour')}{_then('minute', 'second')}"
    rf"|{_part('minute')}{_then('second')})",
    re.IGNORECASE,
)
_EACH = lazy(rf"(\d+(?:\.\d+)?)[ \u00a0]?-?({'|'.join(_NAMES.values())})(?![^\W\d_])", re.IGNORECASE)
_FIELDS = lazy(r"\b(?:(?:day|hour|minute|second)s?: \d{1,9}(?:\.\d{1,9})?(?:; |(?!\w))){2,4}")
_EACH_FIELD = lazy(r"(\w+): ([\d.]+)")
"""What an object says that has a field for each unit: `hours: 1; minutes: 30`."""
_ISO = lazy(r"\bP(?:(\d{1,9})D)?T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?(?!\w)")
_COUNT = rf"\d{{1,2}}|{'|'.join(list(SMALL)[1:13])}"
_HALVES = lazy(
    r"\b(?:(?:(?P<half>half)|(?P<three>three[- ]quarters of)|(?:a )?quarter of) an (?P<of>hour)"
    r"|(?P<whole>an?) (?P<unit>hour|minute|day|week) and a half"
    rf"|(?P<number>{_COUNT}) and a half (?P<units>hour|minute|day|week)s)\b",
    re.IGNORECASE,
)
_CLOCK = lazy(r"(\d{1,2})[:h](\d\d)(?::(\d\d))?")
_MINUTES = lazy(r"(?<![\w:.])(\d{2,3}):([0-5]\d)(?![\w:])")
_HOURS = 24
"""From which number on what stands before a colon are minutes."""


def durations(text: str) -> Iterator[Quantity]:
    """The lengths of time of a text that are told in several units, in a number and a half, or by ISO 8601."""
    told: list[tuple[re.Match[str], list[tuple[str, str]]]] = []
    if _SIGN.search(text):
        several = ((match, _EACH.findall(match.group())) for match in _SEVERAL.finditer(text))
        told += ((match, parts) for match, parts in several if len(parts) > 1)
        for match in _FIELDS.finditer(text):
            told.append((match, [(number, name) for name, number in _EACH_FIELD.findall(match.group())]))
        for match in _ISO.finditer(text):
            steps = zip(match.groups(), "dhms", strict=True)
            told.append((match, [(number, unit) for number, unit in steps if number]))
    for match, parts in told:
        lengths = [_LENGTHS[_UNIT_OF[caseless(unit)]] for _, unit in parts]
        if all(longer > shorter for longer, shorter in pairwise(lengths)):
            numbers = [Decimal(number) for number, _ in parts]
            yield _quantity(match, Decimal(sum(map(mul, numbers, lengths))), lengths[-1])
    yield from _in_halves(text, idioms=False)


def idioms(text: str) -> Iterator[Quantity]:
    """The lengths of time of a text without a number: `half an hour`. They are often told of what was worked out."""
    return _in_halves(text, idioms=True)


def _in_halves(text: str, *, idioms: bool) -> Iterator[Quantity]:
    if "half" not in text and "quarter" not in text:
        return
    for match in _HALVES.finditer(text):
        if idioms != bool(match["three"] or match["number"]):
            quarters = 6 if match["whole"] else 3 if match["three"] else 2 if match["half"] else 1
            if number := match["number"]:
                quarters = 4 * (int(number) if number.isdigit() else SMALL[caseless(number)]) + 2
            unit = _LENGTHS[caseless(match["of"] or match["unit"] or match["units"])]
            yield _quantity(match, unit * quarters / 4, unit / 2)


def in_minutes(text: str) -> Iterator[tuple[Decimal, int]]:
    """The lengths of time that are told in minutes and seconds, in seconds, and where each is: 3510 of `58:30`."""
    for match in _MINUTES.finditer(text):
        if int(match[1]) >= _HOURS:
            yield Decimal(60 * int(match[1]) + int(match[2])), match.start()


def between(times: Sequence[Quantity], text: str) -> Iterator[tuple[Decimal, int]]:
    """The lengths between two times of day of a line, in seconds, and where the first of them is: 90 minutes in `11:00-12:30`."""
    for place, first in enumerate(times):
        for last in times[place + 1 : place + 1 + MOST_AFTER]:
            if "\n" in text[first.end : last.start]:
                break
            for start, end in product(first.values, last.values):
                yield (end - start + _DAY) % _DAY * 60, first.start


def _quantity(match: re.Match[str], seconds: Decimal, step: Decimal) -> Quantity:
    value = seconds.normalize()
    return Quantity(
        text=match.group(),
        values=frozenset([value]),
        unit=DURATION,
        about=is_about(match.string[max(0, match.start() - 20) : match.start()]),
        nearly=rounding(value, step),
        start=match.start(),
        end=match.end(),
    )


def seconds_of_clock(text: str) -> Iterator[Decimal]:
    """The seconds of what looks like a time of day: `3:45` may be minutes and seconds, `1h30` hours and minutes."""
    match = _CLOCK.fullmatch(text)
    if match:
        first, second, third = (int(each or 0) for each in match.groups())
        yield Decimal(3600 * first + 60 * second + third)
        if match[3] is None and ":" in text:
            yield Decimal(60 * first + second)
