"""Whether the sources have a number that a claim states: in any spelling, near the claim's words, and in its place."""

import re
from collections.abc import Callable, Iterator

from agenteval.grounding.conversions import converted, in_seconds
from agenteval.grounding.counts import counts_list, counts_objects
from agenteval.grounding.dates import Date
from agenteval.grounding.durations import DURATION
from agenteval.grounding.measures import is_measure, measure
from agenteval.grounding.quantities import CURRENCIES, FRACTIONS
from agenteval.grounding.quantity import METRES, Quantity, is_quarter
from agenteval.grounding.source_numbers import (
    COUNTED,
    Beside,
    SourceNumbers,
    any_unit,
    anywhere,
    stands_alone,
)
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.statements import Statement
from agenteval.language.signs import END, tokens
from agenteval.lazyregex import lazy

ALIKE = 6
"""Characters before a number that are enough to see that it stands in its place."""


def has_number(quantity: Quantity, stated: Statement, beside: Beside, sources: SourceText) -> bool:
    """Whether the sources have it, or the exact number that it rounds, or the hour that it may be."""
    if has_quantity(quantity, beside, sources) and (
        not _is_displaced(quantity, stated, sources)
        or has_quantity(quantity, sources.near.in_fields(beside), sources)
    ):
        return True
    numbers, fits = sources.numbers, _fits(quantity)
    nearly = quantity.nearly
    finer = 1 if quantity.measured or "." in quantity.text else 2  # `1.5k` says how exact it is
    if nearly and any(numbers.has_near(each, nearly, beside, fits, finer=finer) for each in quantity.values):
        return True
    may_be_hour = quantity.clock == "at" or (quantity.clock and stated.times)
    if may_be_hour and _has_hour(quantity, numbers, beside):
        return True
    if (may_be_hour or quantity.unit == ":") and _has_time_near(quantity, stated, numbers, beside):
        return True
    if is_quarter(quantity, stated.without_links) and any(
        numbers.has_written(f"Q{value}", beside) for value in quantity.values
    ):
        return True
    text = stated.without_links
    if counts_list(quantity, text, sources.lengths) or counts_objects(
        quantity, text, sources.passages.listed, sources.content
    ):
        return True
    return quantity.unit != DURATION and _has_otherwise(quantity, stated, beside, sources)


def has_anywhere(quantity: Quantity, stated: Statement, sources: SourceText) -> bool:
    """Whether the sources have it beside any words."""
    return has_quantity(quantity, anywhere, sources) or _has_otherwise(quantity, stated, anywhere, sources)


def _has_otherwise(quantity: Quantity, stated: Statement, beside: Beside, sources: SourceText) -> bool:
    """Whether the sources have it in other units; what is a time of day for certain is no length of time."""
    before = stated.without_links[max(0, quantity.start - 10) : quantity.start]
    is_hour = quantity.unit == ":" and _BEFORE_TIME.search(before)
    return not is_hour and has_converted(quantity, beside, sources)


def has_quantity(quantity: Quantity, beside: Beside, sources: SourceText) -> bool:
    """Whether the sources have its value in some spelling, beside such words."""
    numbers, fits = sources.numbers, _fits(quantity)
    if quantity.unit == DURATION:
        return has_converted(quantity, beside, sources)
    if quantity.unit == "hour" and numbers.has_span_of_hours(quantity.text, beside):
        return True
    if quantity.unit in ("hour", "day") and numbers.has_text(f"_{quantity.text}{quantity.unit[0]}"):
        return True  # the name of a field: `change_24h`
    if quantity.unit == "year" and numbers.has_text(f"_{quantity.text}"):
        return True  # `child_under_12`
    if quantity.unit == "+":  # no other item's number: only objects of one kind have to be distinguished
        in_records = sources.near.in_records(anywhere)
        digits = re.findall(r"\d+", quantity.text)
        written = (quantity.text, *(f"+{mark.join(digits)}" for mark in (" ", "-", "")))
        return any(
            numbers.has_written(way, lambda *at: not in_records(*at) or beside(*at)) for way in written
        )
    if quantity.unit == ":" and any(numbers.has_hour(value, beside) for value in quantity.values):
        return True
    fits_there = _fits_there(quantity) if is_measure(quantity.unit) else None
    if quantity.unit != ":" and numbers.has_written(quantity.text, beside, fits_there):
        return True
    if quantity.version and numbers.has_version(quantity.text, beside):
        return True
    if quantity.day and _has_day(quantity, sources, beside):
        return True
    ways = [(value, fits, beside) for value in quantity.values]
    if power := _POWERS_OF_DATA.get(quantity.unit):
        where = sources.near.in_records(beside) if power > 0 else beside
        ways += [(value.scaleb(power).normalize(), _is_bare, where) for value in quantity.values]
    return any(
        numbers.has(value, quantity.unit, fits_here, place)
        or (quantity.about and numbers.has_near(value, quantity.nearly, place, any_unit, over=quantity.over))
        for value, fits_here, place in ways
    )


def _fits(quantity: Quantity) -> Callable[[str], bool]:
    """Whether a unit may be that of a number: none may be any but a time of day."""

    def fits(unit: str) -> bool:
        if {":", DURATION} & {quantity.unit, unit}:
            return quantity.unit == unit
        if unit == COUNTED:
            return quantity.unit in ("", METRES, "th")
        if quantity.unit == "th" and is_measure(unit):  # the tenth kilometre is `km: 10`
            return True
        return unit in ("", METRES, quantity.unit) or quantity.unit in ("", METRES)

    return fits


def _fits_there(quantity: Quantity) -> Callable[[str, int, int], bool]:
    """Whether a number that is written in a text may have the unit of measure of this one."""

    def fits(text: str, start: int, end: int) -> bool:
        return stands_alone(text, start, end) and measure(text, start, end) in ("", quantity.unit)

    return fits


_POWERS_OF_DATA = {"%": -2, **dict.fromkeys(CURRENCIES, 2)}
"""How data may have a number with a unit, without one: a percentage as a fraction, and an object an amount of money in
cents; in prose a year would do for it."""


def has_converted(quantity: Quantity, beside: Beside, sources: SourceText) -> bool:
    """Whether the sources have it in other units of measure, or what it rounds."""
    numbers = sources.numbers
    if any(numbers.has_duration(least, most, beside) for least, most in in_seconds(quantity)):
        return True
    if any(numbers.has_measure(unit, least, most, beside) for unit, least, most in converted(quantity)):
        return True
    if quantity.unit != DURATION:
        return False
    ways = [way for value in quantity.values for way in (value, value / 60)]  # 3:45 in minutes, or in hours
    return any(numbers.has(way, ":", _is_time, beside) for way in ways)


def _has_hour(quantity: Quantity, numbers: SourceNumbers, beside: Beside) -> bool:
    """Whether the sources have a full hour: the 8 of "from 6:30 to 8" is 8:00 or 20:00."""
    hours = {hour % 24 for value in quantity.values for hour in (value, value + 12)}
    return any(numbers.has(60 * hour, ":", _is_time, beside) for hour in hours) or any(
        numbers.has_hour(60 * hour, beside) for hour in hours if hour > 12
    )


_NEARLY = lazy(
    r"(?i)\b(?:(?:just|shortly|a (?:bit|little|few minutes)) (?:(?P<before>before)|(?P<after>after))|around|about|roughly|nearly|almost"
    r"|gegen|kurz (?:(?P<vor>vor)|(?P<nach>nach))|hacia|vers|poco (?:(?P<antes>antes de)|(?P<tras>después de))"
    r"|peu (?:(?P<avant>avant)|(?P<apres>après)))(?: las?)? \Z"
)
"""What says before a time of day that the exact one is a few minutes away."""
_MINUTES_AWAY = 15


def _has_time_near(quantity: Quantity, stated: Statement, numbers: SourceNumbers, beside: Beside) -> bool:
    """Whether the sources have a time of day a few minutes before or after one: "just before nine"."""
    match = _NEARLY.search(stated.without_links[max(0, quantity.start - 25) : quantity.start])
    if not match:
        return False
    side = match.lastgroup or ""
    earlier = 0 if side in ("after", "nach", "tras", "apres") else _MINUTES_AWAY
    later = 0 if side in ("before", "vor", "antes", "avant") else _MINUTES_AWAY
    values = (
        quantity.values
        if quantity.unit == ":"
        else {60 * (value + half) for value in quantity.values for half in (0, 12)}
    )
    return any(numbers.has_time(value - earlier, value + later, beside) for value in values)


_BEFORE_TIME = lazy(r"(?i)\b(?:at|until|till|before|by|from|since|um|bis|ab|seit|las|à|dès|hasta|desde) \Z")
"""What stands before a time of day, and not before a length of time."""


def _has_day(quantity: Quantity, sources: SourceText, beside: Beside) -> bool:
    """Whether the sources have a date on a day that is told without its month: "the 12th"."""
    date = Date(text="", year=None, month=None, day=int(min(quantity.values)), start=0, end=0)
    return sources.has_date(date, beside)


def _is_time(unit: str) -> bool:
    return unit == ":"


def _is_bare(unit: str) -> bool:
    return not unit


def _is_displaced(quantity: Quantity, stated: Statement, sources: SourceText) -> bool:
    """Whether the sources have another number in the very place: the words before and after it are the same."""
    if quantity.unit in (":", "+", DURATION) or not any(map(str.isdigit, quantity.text)):
        return False
    if quantity.text[-1] in FRACTIONS or any(map(sources.numbers.has_text, _with_sign(quantity))):
        return False  # its words are others: `19½` is `19.5`
    text = stated.without_links
    start, end = quantity.start, quantity.end
    if sources.numbers.has_text(text[max(0, start - ALIKE) : end + 1]):
        return False
    before = sources.signs.all(tokens(text[max(0, start - 40) : start])).split(END)[-1]
    after = sources.signs.all(tokens(text[end : end + 40])).split(END)[0]
    if text[start - 1 : start] != "(":
        if sources.numbers.has_text(f"({text[start:end]}"):
            return False  # in brackets there, it does not stand in the place of another
    elif not sources.numbers.has_text(text[max(0, start - ALIKE) : start]):
        return False  # what stands before the bracket may be about something else
    if not (before or after):
        return False
    beside = 1 if before and after else 2
    number = sources.signs.all(tokens(quantity.text))
    return sources.passages.displaces(before[-beside:], number, after[:beside])


def _with_sign(quantity: Quantity) -> Iterator[str]:
    """How a number with a half or a quarter is written with one sign for that."""
    for value in quantity.values:
        yield from (f"{int(value)}{sign}" for sign, part in FRACTIONS.items() if value - int(value) == part)
