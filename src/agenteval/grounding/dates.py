"""Dates in a text, normalised so that equal dates compare equal: `2026-11-21` is `November 21, 2026`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from agenteval.lazyregex import lazy
from agenteval.text import lowered

MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTHS = tuple(name[:3] for name in MONTH_NAMES)
_LAST_DAY = 31
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True, kw_only=True)
class Date:
    """A date, as far as it is stated: any part may be None. `other` is the second reading of 03/04/2026."""

    text: str
    year: int | None
    month: int | None
    day: int | None
    start: int
    end: int
    other: tuple[int, int] | None = None

    def agrees(self, source: "Date") -> bool:
        """Whether the source says the same, in all parts that both state."""
        if self.year and source.year and self.year != source.year:
            return False
        mine = [(self.month, self.day), *([self.other] if self.other else [])]
        theirs = [(source.month, source.day), *([source.other] if source.other else [])]
        return any(_same(month, m) and _same(day, d) for month, day in mine for m, d in theirs)

    def covers(self, source: "Date") -> bool:
        """Whether the source states month and day as far as this date does; the year may be said elsewhere."""
        return bool((not self.month or source.month) and (not self.day or source.day))


def _same(mine: int | None, theirs: int | None) -> bool:
    return mine is None or theirs is None or mine == theirs


_MONTH_NAMES = tuple(
    map(
        str.split,
        (
            "january february march april may june july august september october november december",
            "januar februar märz april mai juni juli august september oktober november dezember",
            "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
            "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
            "jan feb mar apr may jun jul aug sept oct nov dec",
            "jän feb mrz apr mai jun jul aug sep okt nov dez",
        ),
    )
)
"""In English, German, Spanish and French, and their abbreviations."""
_NUMBERS = {name: number for names in _MONTH_NAMES for number, name in enumerate(names, 1)}
_BEGINNINGS = tuple(dict.fromkeys(name[:3] for name in _NUMBERS))
_ASCII_BEGINNINGS = tuple(filter(str.isascii, _BEGINNINGS))
_MONTH = r"(?P<month>[^\W\d_]{3,10})\b(?:\.(?=,? ?(?:del? )?\d))?"
"""Any word: which one is a month is told by `_NUMBERS`. A point that ends a sentence is not part of it."""
_YEAR = r"(?P<year>[12]\d{3})\b"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er)?"
_NUMERIC = [
    lazy(r"(?<![\d.])(?P<year>[12]\d{3})[-/.](?P<month>[01]?\d)[-/.](?P<day>[0-3]?\d)(?![\d])"),
    lazy(r"(?<=: )(?P<year>[12]\d{3})-(?P<month>0[1-9]|1[0-2])(?=\Z|[;,\n])"),
    lazy(r"(?<![\d./])(?P<month>0?[1-9]|1[0-2])/(?P<year>20\d\d)(?![\d/])"),
    lazy(r"(?<![\d.])(?P<first>[0-3]?\d)([/.])(?P<second>[0-3]?\d)\2(?P<year>[12]\d{3})(?!\d)"),
    lazy(
        r"(?<!\d)(?:(?P<year>[12]\d{3}) ?[年년] ?)?(?P<month>[01]?\d) ?[月월] ?(?P<day>[0-3]?\d) ?[日号號일]"
    ),
    lazy(r"(?<!\d)(?P<year>[12]\d{3}) ?[年년] ?(?P<month>[01]?\d) ?[月월]"),
    lazy(
        r"(?:(?<=\b(?:am|ab|on) )|(?<=\b(?:zum|vom|bis|den|dem) )|(?<=(?:tag|och), )|(?<=(?:tag|och) )|(?<=\()|(?<=\b(?:mo|di|mi|do|fr|sa|so)[ .,] )"
        r"|(?<=\b(?:mo|di|mi|do|fr|sa|so) ))"
        r"(?P<day>[0-3]?\d)\.(?P<month>[01]?\d)\.(?!\d)",
        re.IGNORECASE,
    ),
]
_NAMED = [
    lazy(rf"\b{_DAY}(?:(?: of| de)? |\. ?){_MONTH}(?:,?(?: del?)? {_YEAR})?", re.IGNORECASE),
    lazy(rf"\b{_MONTH} {_DAY}\b(?!:\d)(?:,? {_YEAR})?", re.IGNORECASE),
    lazy(rf"\b{_MONTH},? (?:of |del? )?{_YEAR}", re.IGNORECASE),
]
_NUMERIC_SIGN = lazy(r": [12]\d{3}-[01]\d(?![\d-])|\d/20\d\d|\d[-/.][0-3]?\d(?:[-/.]\d|\.(?!\w))|\d ?[月월]")
MONTH_SIGNS, DAY_SIGNS = ("月", "월"), ("日", "号", "號", "일")
"""What makes the number before it a month or a day, in Chinese, Japanese and Korean."""
_BEFORE, _AFTER = 12, 24
"""How far a date can reach before and after the sign of it: a month's name, or digits with marks between."""


def dates(text: str) -> list[Date]:
    """The dates of a text, in order. A month alone is none, nor is a year."""
    if not _DIGIT.search(text):
        return []
    found: list[Date] = []
    taken = bytearray(len(text))
    for patterns, places in ((_NUMERIC, _numeric_signs(text)), (_NAMED, _months(text))):
        for start, end in _parts(places):
            for match in chain.from_iterable(pattern.finditer(text, start, end) for pattern in patterns):
                at, to = match.span()
                date = None if any(taken[at:to]) else _date(match)
                for each in [date, *_listed(match, date)] if date else ():
                    found.append(each)
                    taken[each.start : each.end] = b"\x01" * (each.end - each.start)
    return sorted(found, key=lambda date: date.start)


_DIGIT = lazy(r"\d")
_TO = r"(?:[-\u2013]| (?:to|till|until|through|bis|al|au) )"
_AND = r"(?:,? (?:and|or|&|und|oder|y|et) )"
_LISTED = r"[0-3]?\d(?:st|nd|rd|th)?"
_LISTED_BEFORE = lazy(rf"(?<![\w.,:/$€£-])(?:{_LISTED}\.?(?:, |{_TO}|{_AND}))*{_LISTED}\.?(?:{_TO}|{_AND})\Z")
_LISTED_AFTER = lazy(
    rf"(?:{_TO}{_LISTED})?(?:(?:, {_LISTED}(?:{_TO}{_LISTED})?)*{_AND}{_LISTED}(?:{_TO}{_LISTED})?)?"
    r"(?=\Z|[.;:)!?,*_](?!\d)|\s*\n|,? [12]\d{3}\b| [(\u2013\u2014-]| (?:at|from|in|on|for|is|are|was|were|will|and|but)\b)"
)
_LISTED_DAY = lazy(r"\d+")
_LONGEST_LIST = 60


def _listed(match: re.Match[str], date: Date) -> Iterator[Date]:
    """The other days of the month of a date that stand in a list or a span with its own: "24, 25 and 31 December"."""
    month = match.groupdict().get("month", "")
    if not month.isalpha() or not date.day:
        return
    if match.start("day") < match.start("month"):
        found = _LISTED_BEFORE.search(match.string, max(0, date.start - _LONGEST_LIST), date.start)
    else:
        found = None if date.year else _LISTED_AFTER.match(match.string, date.end)
    start, end = found.span() if found else (0, 0)
    days = list(_LISTED_DAY.finditer(match.string, start, end))
    numbers = [int(day.group()) for day in days]
    in_order = [*numbers, date.day] if end == date.start else [date.day, *numbers]
    if max(in_order) > _LAST_DAY or any(one >= two for one, two in pairwise(in_order)):
        return  # "May 3 and 2 more"
    for day, number in zip(days, numbers, strict=True):
        yield replace(date, text=day.group(), day=number, start=day.start(), end=day.end())


def _numeric_signs(text: str) -> list[int]:
    return [match.start() for match in _NUMERIC_SIGN.finditer(text)]


def _months(text: str) -> list[int]:
    """Where words begin like a month and have digits near them, in order."""
    folded = lowered(text)
    found = []
    for month in _ASCII_BEGINNINGS if folded.isascii() else _BEGINNINGS:
        at = folded.find(month)
        while at >= 0:
            if (at == 0 or not folded[at - 1].isalpha()) and _DIGIT.search(
                text, max(0, at - _BEFORE), at + _AFTER
            ):
                found.append(at)
            at = folded.find(month, at + 3)
    return sorted(found)


def _parts(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The parts of a text around these places; parts that touch are joined."""
    start, end = -1, -1
    for place in places:
        if place - _BEFORE > end:
            if end >= 0:
                yield start, end
            start = max(0, place - _BEFORE)
        end = place + _AFTER
    if end >= 0:
        yield start, end


def _date(match: re.Match[str]) -> Date | None:
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else None
    other = None
    if parts.get("first"):
        first, second = int(parts["first"]), int(parts["second"])
        month, day = (second, first) if first > 12 else (first, second)
        if first <= 12 and second <= 12 and first != second:
            other = (second, first)
    else:
        name = str(parts["month"])
        month = int(name) if name.isdecimal() else _NUMBERS.get(lowered(name), 0)
        day = int(parts["day"]) if parts.get("day") else 0
    if not 1 <= month <= 12 or day > _LAST_DAY:
        return None
    return Date(
        text=match.group(),
        year=year,
        month=month,
        day=day or None,
        start=match.start(),
        end=match.end(),
        other=other,
    )
