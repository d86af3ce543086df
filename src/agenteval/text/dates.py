"""Dates in a text, normalised so that equal dates compare equal: `2026-11-21` is `November 21, 2026`; and days of the week."""

# ruff: noqa: RUF001 - dashes are meant

import re
from collections.abc import Iterator

from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import lowered

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NAMES = [
    names.split()
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "jan feb mar apr may jun jul aug sept oct nov dec",
        "jän feb mrz apr mai jun jul aug sep okt nov dez",
    )
]
"""The names of months in English, German, Spanish and French, and short forms."""
MONTHS = {name: number for names in _MONTH_NAMES for number, name in enumerate(names, 1)}
"""The number of each month by its names, in lower case."""
_BEGINNINGS = tuple(dict.fromkeys(name[:3] for name in MONTHS))
_LAST_DAY = 31


class Date:
    """A date, as far as it is stated: any part may be None.

    `other` is the second reading of 03/04/2026: month and day.
    """

    __slots__ = ("day", "end", "month", "other", "start", "text", "year")

    def __init__(
        self, text: str, start: int, year: int | None, month: int, day: int | None, *, either: bool = False
    ) -> None:
        self.text, self.start, self.end = text, start, start + len(text)
        self.year, self.month, self.day = year, month, day
        self.other = (day, month) if either and day and day != month else None

    def agrees(self, source: "Date") -> bool:
        """Return whether both dates are equal in all parts that both state."""
        if self.year and source.year and self.year != source.year:
            return False
        mine = [(self.month, self.day), *([self.other] if self.other else [])]
        theirs = [(source.month, source.day), *([source.other] if source.other else [])]
        return any(
            month == m and (day is None or d is None or day == d) for month, day in mine for m, d in theirs
        )

    def covers(self, source: "Date") -> bool:
        """Return whether the source has a day if this date has one; the year may stand elsewhere."""
        return bool(not self.day or source.day)


_NUMERIC = lazy(r"(\d{1,4})([-/.])(\d{1,4})(?:\2(\d{1,4})|\.)?(?!\d)")
_WORD = lazy(r"[^\W\d_]{3,10}")
_DAY_AHEAD = lazy(r"(?<!\d)(?<!\d[.,:])(\d{1,2})(?:st|nd|rd|th|er)?(?: of| de|\.)? ?\Z")
_DAY_AFTER = lazy(r"\.?,? (\d{1,2})(?:st|nd|rd|th)?\b(?!:\d)")
_YEAR = lazy(r"\.?,? ?(?:of |del? )?([12]\d{3})\b")
_EAST_ASIAN = lazy(
    r"(?<!\d)(?:([12]\d{3}) ?[年년] ?([01]?\d) ?[月월](?: ?([0-3]?\d) ?[日号號일])?|([01]?\d) ?[月월] ?([0-3]?\d) ?[日号號일])"
)
# `3.5.` is a date only after a word that announces one: "3.5." may as well end a sentence about version 3.5.
_DAY_BEFORE = lazy(
    r"(?i)(?:\b(?:am|ab|on|zum|vom|bis|den|dem|mo|di|mi|do|fr|sa|so)[.,]?|(?:tag|och),?) \Z|\(\Z"
)
"""Words before a day and a month in digits: `am 24.12.`"""


def dates(text: str) -> list[Date]:
    """List the dates of a text, in order. A month alone is none, nor is a year."""
    if not has_digit(text):
        return []
    found = [*_numeric(text)]
    if any(map(lowered(text).__contains__, _BEGINNINGS)):
        found += _named(text)
    if not text.isascii() and ("月" in text or "월" in text):
        found += _east_asian(text)
    return sorted(found, key=lambda date: date.start)


def has_digit(text: str) -> bool:
    """Return whether a text has a digit of any script."""
    found = any(map(text.__contains__, "0123456789"))
    return found or (not text.isascii() and any(map(str.isdecimal, text)))


def _numeric(text: str) -> Iterator[Date]:
    for match in _NUMERIC.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if before in ("/", ".") or before.isdigit():  # the end of a path, a version or a longer number
            continue
        one, _, two, three = match.groups()
        if three is None:
            yield from _of_two_numbers(text, match)
        elif len(one) == 4 and len(three) <= 2:
            yield from _valid(match.group(), match.start(), int(one), int(two), int(three))
        elif len(three) == 4 and len(one) <= 2:
            # 13/04 can only be a day and a month. Of 03/04, the American reading comes first, and both are kept.
            first, second = int(one), int(two)
            month, day = (second, first) if first > 12 else (first, second)
            yield from _valid(match.group(), match.start(), int(three), month, day, either=second <= 12)


def _of_two_numbers(text: str, match: re.Match[str]) -> Iterator[Date]:
    """Yield the date in two numbers: `2026-11`, `11/2026`, and after a word like "am" `24.12.`."""
    one, sign, two, _ = match.groups()
    written, start, first, second = match.group(), match.start(), int(one), int(two)
    if sign == "-" and len(one) == 4 and len(two) == 2:
        yield from _valid(written, start, first, second, None)
    elif sign == "/" and len(two) == 4 and first and two.startswith("20"):
        yield from _valid(written, start, second, first, None)
    elif sign == "." and written.endswith(".") and _DAY_BEFORE.search(text, max(0, start - 8), start):
        yield from _valid(written, start, None, second, first)


def _valid(
    text: str, start: int, year: int | None, month: int, day: int | None, *, either: bool = False
) -> Iterator[Date]:
    """Yield the date, if the calendar has it."""
    if 1 <= month <= 12 and (day is None or 1 <= day <= _LAST_DAY) and (year is None or 1000 <= year < 3000):
        yield Date(text, start, year, month, day, either=either)


def _east_asian(text: str) -> Iterator[Date]:
    for match in _EAST_ASIAN.finditer(text):
        year, month, day, alone, of_alone = (int(part) if part else None for part in match.groups())
        yield from _valid(match.group(), match.start(), year, month or alone or 0, day or of_alone)


def _named(text: str) -> Iterator[Date]:
    for word in _WORD.finditer(text):
        month = MONTHS.get(lowered(word.group()))
        if month:
            yield from _around_month(text, word, month)


def _around_month(text: str, word: re.Match[str], month: int) -> Iterator[Date]:
    """Yield the date of a month by name, if a day or a year stands beside it."""
    start, end = word.span()
    if ahead := _DAY_AHEAD.search(text, max(0, start - _LONGEST_DAY), start):
        day, start = int(ahead[1]), ahead.start()
    elif after := _DAY_AFTER.match(text, end):
        day, end = int(after[1]), after.end()
    else:
        day = None
    year = _YEAR.match(text, end)
    end = year.end() if year else end
    if day is not None or year:  # "in May", and the verb "may", are no dates
        yield from _valid(text[start:end], start, int(year[1]) if year else None, month, day)


_LONGEST_DAY = 10
"""The number of characters in which a day stands before its month, with the words between them."""


# Days of the week ----------------------------------------------------------------------------------------------

_DAY_OF = {
    name: day
    for names in (
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
    )
    for name, day in zip(names.split(), DAYS, strict=True)
} | {"sonnabend": "saturday"}
_ENGLISH = {day[:3]: day for day in DAYS}
_PART_OF_DAY = lazy(r"(?<=tag|och)(?:morgen|(?:vor|nach)?mittag|abend|nacht)s?\Z")
"""The ending that German adds to a day: `Donnerstagmorgen`."""
_SPAN = lazy(r"([^\W\d_]{2,10})\.?(?: ?[-–] ?| (?:to|through|until|bis|au|à|a|al|tot|t/m) )([^\W\d_]{2,10})")
_CUT_SHORT = frozenset(("mo", "di", "mi", "do", "fr", "sa", "so"))


_DAY_BEGINNINGS = frozenset(name[:3] for name in (*_DAY_OF, *DAYS))


def weekday(word: str) -> str | None:
    """Return the day of the week that a word in lower case names, in English.

    `wed`, `wednesdays` and `mittwochs` are `wednesday`.
    """
    if word[:3] not in _DAY_BEGINNINGS:
        return None
    day = _ENGLISH.get(word[:3])
    if day and day.startswith(word.removesuffix("s")):
        return day
    if len(word) > len("sonntag"):
        word = _PART_OF_DAY.sub("", word)
    return _DAY_OF.get(word) or _DAY_OF.get(word.removesuffix("s"))


def weekdays(text: str) -> Iterator[tuple[str, str]]:
    """Yield the days of the week that a text names, as written and in English.

    `sun` and `sat` in small letters are none.
    """
    for written in _LETTERS.findall(text):
        day = weekday(written.lower()) if written[:3].lower() in _DAY_BEGINNINGS else None
        if day and (len(written) > len("sun") or written[0].isupper()):
            yield written, day


_LETTERS = lazy(r"[^\W\d_]{3,}")


def tells_week(text: str) -> bool:
    """Return whether a text has a span of days, which defines all seven: `Mon-Fri`, `de martes a domingo`."""
    return any(
        all(word in _CUT_SHORT or weekday(word) for word in map(str.lower, match.groups()))
        for match in _SPAN.finditer(text)
    )


def weekday_of(date: Date) -> str | None:
    """Return the day of the week of a complete date, else None."""
    from datetime import date as calendar_date

    try:
        return DAYS[calendar_date(date.year or 0, date.month, date.day or 0).weekday()]
    except ValueError:
        return None
