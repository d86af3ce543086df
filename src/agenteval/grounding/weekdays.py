"""Days of the week by their names, in English, German, French, Spanish, Italian and Dutch."""

import re
from collections.abc import Iterator

from agenteval.grounding.dates import DAYS, Date
from agenteval.lazyregex import lazy

_ABROAD = (
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
)
_NAMES = {day: tuple(names) for day, *names in zip(DAYS, *map(str.split, _ABROAD), strict=True)}
_DAY_OF = {name: day for day, names in _NAMES.items() for name in names} | {"sonnabend": "saturday"}
_ENGLISH = {day[:3]: day for day in DAYS}
_IN_SMALL = lazy(rf"\b(?:{'|'.join(name for names in _NAMES.values() for name in names[1:])})\b")
"""The names that are not written with a capital, as in French."""


def weekday(word: str) -> str | None:
    """The day that a word in lower case names, in English: `wed`, `wednesdays` and `mittwochs` are `wednesday`."""
    day = _ENGLISH.get(word[:3])
    if day and day.startswith(word.removesuffix("s")):
        return day
    word = _PART_OF_DAY.sub("", word)
    return _DAY_OF.get(word) or _DAY_OF.get(word.removesuffix("s"))


_PART_OF_DAY = lazy(r"(?<=tag|och)(?:morgen|(?:vor|nach)?mittag|abend|nacht)s?\Z")
"""What German adds to a day: `Donnerstagmorgen`."""


def weekdays_in_small(text: str) -> Iterator[re.Match[str]]:
    """The names of days in a text that are written like any word in their language."""
    return _IN_SMALL.finditer(text)


def ways_to_name(day: str) -> Iterator[str]:
    """The names of a day, in English also cut short."""
    yield from (day[:size] for size in (3, 4, 5, len(day)))
    yield from _NAMES[day]


def abbreviations(day: str) -> Iterator[str]:
    """How the other languages cut a name short, with the mark that tells it from another word: `Mo-`, `lun.`."""
    german, *others = _NAMES[day]
    yield from (german[:2].capitalize() + mark for mark in (" ", ".", ",", ":", "-", "\u2013"))
    yield from (f"{name[:3]}." for name in others)


_CUT_SHORT = (*(day[:size] for day in DAYS for size in (3, 4, 5)), *(name[:2] for name in _ABROAD[0].split()))
_ANY = "|".join((*_CUT_SHORT, *(f"{day}s?" for day in DAYS), *_DAY_OF))
_SPAN = lazy(
    rf"(?i)\b(?:{_ANY})(?:\.|\b)(?: ?[-\u2013] ?| (?:to|through|until|bis|au|à|a|al|tot|t/m) )(?:{_ANY})\b"
)


def tells_week(text: str) -> bool:
    """Whether a text has a span of days, which tells of those inside and of the others: `Mon-Fri`, `de martes a domingo`."""
    return bool(_SPAN.search(text))


def day_of(date: Date) -> str | None:
    """The day of the week of a date, if that is told in full."""
    from datetime import date as calendar_date

    if not (date.year and date.month and date.day):
        return None
    try:
        return DAYS[calendar_date(date.year, date.month, date.day).weekday()]
    except ValueError:
        return None
