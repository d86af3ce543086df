"""Schedules as cron tells them: `0 8 * * 1,4` is Mondays and Thursdays at 8:00."""

from collections.abc import Iterator
from typing import NamedTuple

from agenteval.grounding.dates import DAYS
from agenteval.lazyregex import lazy

_LIST = r"(?:\*|\d{1,2}(?:-\d{1,2})?(?:,\d{1,2}(?:-\d{1,2})?)*)(?:/\d{1,2})?"
_DAY = r"(?:\d|sun|mon|tue|wed|thu|fri|sat)"
_CRON = lazy(
    rf"(?ai)(?<![^\s\"'`(:;,])(?P<minute>{_LIST}) (?P<hour>{_LIST}) {_LIST} {_LIST}"
    rf" (?P<days>\*|{_DAY}(?:-{_DAY})?(?:,{_DAY}(?:-{_DAY})?)*)(?![^\s\"'`);,.])"
)
_WEEK = (DAYS[-1], *DAYS)
"""By their numbers: 0 and 7 are Sundays."""


class Schedule(NamedTuple):
    """The days of the week and the times of day, in minutes, of a cron expression, and where it stands.

    `text` is the expression as it is written, `key` the same in the form in which equal ones are equal.
    """

    days: frozenset[str]
    times: frozenset[int]
    start: int
    text: str
    key: str


def crons(text: str) -> Iterator[Schedule]:
    """The schedules of a text. One for every minute or hour has no times, one for every day no days."""
    for match in _CRON.finditer(text) if " * " in text else ():
        hours, minutes = _numbers(match["hour"]), _numbers(match["minute"])
        times = frozenset(60 * hour + minute for hour in hours for minute in minutes)
        in_numbers = _in_numbers(match["days"])
        days = frozenset(_WEEK[number % 7] for number in _numbers(in_numbers))
        key = match.group().removesuffix(match["days"]) + in_numbers.replace("7", "0")
        yield Schedule(days, times, match.start(), match.group(), _LEADING_ZERO.sub("", key))


def _in_numbers(days: str) -> str:
    for number, day in enumerate(_WEEK[:7]):
        days = days.lower().replace(day[:3], str(number))
    return days


_LEADING_ZERO = lazy(r"(?<!\d)0(?=\d)")


def _numbers(field: str) -> list[int]:
    """The numbers of a field; none for any."""
    if "*" in field:
        return []
    found: list[int] = []
    span, _, step = field.partition("/")
    for part in span.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1, int(step or 1) or 1)
    return found
