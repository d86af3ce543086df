"""Times of day in a text, in minutes: `17:00`, `5 pm`, `5.30 pm`, `17 Uhr`, `17h30`, `half past five`, `five o'clock`."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain

from agenteval.grounding.number_words import OTHERS, SMALL
from agenteval.grounding.quantity import HOUR_SIGNS, Quantity
from agenteval.lazyregex import lazy
from agenteval.text import caseless

_SIGN = lazy(r"\d(?::\d| ?[ap]\.?m)", re.IGNORECASE)
_TIME = lazy(
    r"(?:(?<![\w:.])|(?<=\dT))(?P<hour>[012]?\d):(?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)? ?(?P<half>[ap]\.?m\b)?"
    r"|(?<![\w:.])(?P<only>1?\d)(?:\.(?P<past>[0-5]\d))? ?(?P<side>[ap]\.?m\b)",
    re.IGNORECASE,
)
_FURTHER_SIGN = lazy(r"\d ?(?:uhr\b|h\d|h\b|[-–—]|(?:to|and|until|und|bis|et|à|y|a) \d)", re.IGNORECASE)  # noqa: RUF001
_FURTHER = lazy(
    r"(?<![\w:.,])(?P<hour>[012]?\d)(?:(?:\.(?P<past>[0-5]\d))? ?uhr\b|(?= ?[-–—] ?[012]?\d(?::\d\d)? ?(?:[ap]\.?m|uhr|h)\b)"  # noqa: RUF001
    r"|(?= ?[-–—] ?[012]?\d:[0-5]\d(?![\w:]))|(?= (?:to|and|until|und|bis|et|à|y|a) [012]?\d(?::\d\d)? ?(?:[ap]\.?m|uhr|h)\b)| ?h ?(?P<minute>[0-5]\d)\b(?! ?min))"  # noqa: RUF001
    r"|(?:(?<=\b[aày] )|(?<=\b(?:et|de) )|(?<=\blas )|(?<=\bentre )|(?<=\d [-–] )|(?<=\d[-–]))(?P<only>[012]?\d) ?h\b",  # noqa: RUF001
    re.IGNORECASE,
)
"""Other ways to tell one: `17 Uhr`, the 2 of `2-4 pm` and of `2-3:30`, `17h30`, `à 17 h`."""
_EAST_ASIAN = (
    lazy(r"(?<![\d:.])(?P<hour>[012]?\d)[点點时時](?P<minute>[0-5]?\d)(?!\d)"),
    lazy(r"(?<![\d:.])(?P<hour>[012]?\d)[点點时時]半"),
)
"""Chinese and Japanese hours with minutes: `15時30分`, `3点半`."""
_HALF_PAST = lazy(r"\bhalf (?:past )?(?P<hour>1?\d\b|[a-z]{3,6}\b)", re.IGNORECASE)
_HALF_TO = lazy(r"\bhalb (?P<hour>1?\d\b|[a-zöü]{3,6}\b)(?P<to>)", re.IGNORECASE)
"""In German, half an hour before: `halb sieben` is 6:30."""
_HOURS = SMALL | OTHERS | {"eins": 1}
_ONES = list(SMALL)[1:10]
_MINUTES = SMALL | {f"twenty-{one}": 20 + SMALL[one] for one in _ONES} | {"twenty": 20, "quarter": 15}
_MINUTES |= {"fünf": 5, "zehn": 10, "zwanzig": 20, "viertel": 15}
_SOME = rf"(?:(?:twenty-)?(?:{'|'.join(_ONES)})|ten|eleven|twelve|twenty|quarter)"
_PAST = lazy(
    rf"\b(?:(?P<past>{_SOME}(?: minutes?)? past|(?:fünf|zehn|zwanzig|viertel) nach)"
    rf"|(?P<to>quarter to|(?<=\bat )(?:(?:twenty-)?five|ten|twenty) to|{_SOME} minutes? to|(?:fünf|zehn|zwanzig|viertel) vor))"
    r" (?P<hour>1?\d\b(?!:)|[a-zöü]{3,6}\b)",
    re.IGNORECASE,
)
"""Minutes after or before an hour: `ten past four`, `Viertel vor drei`. "Five to ten" may be a range."""
_PAST_SIGNS = (" past ", "uarter to ", "five to ", "ten to ", "twenty to ", "minutes to ", " nach ", " vor ")

_O_CLOCK = lazy(r"(?<!past )(?<!to )\b(?P<hour>1?\d|[a-z]{3,6}) o['’]clock\b(?P<minute>)", re.IGNORECASE)  # noqa: RUF001

_LATER_HALF = lazy(r" ?(?:[-–—]|to|until) ?[012]?\d(?::\d\d)? ?[ap]\.?m\b", re.IGNORECASE)  # noqa: RUF001
"""What tells the half of the day after another time: `07:00 - 09:00 PM`."""


def times(text: str) -> Iterator[Quantity]:
    """The times of day of a text, those written like `17:00` and `5 pm` first."""
    found = [_TIME.finditer(text)] if _SIGN.search(text) else []
    if _FURTHER_SIGN.search(text):
        found.append(_FURTHER.finditer(text))
    if "half " in text:
        found.append(_HALF_PAST.finditer(text))
    if "halb " in text:
        found.append(_HALF_TO.finditer(text))
    if any(sign in text for sign in _PAST_SIGNS):
        found.append(_PAST.finditer(text))
    if "clock" in text:
        found.append(_O_CLOCK.finditer(text))
    if not text.isascii() and any(sign in text for sign in HOUR_SIGNS):
        found += [pattern.finditer(text) for pattern in _EAST_ASIAN]
    return filter(None, map(_time, chain.from_iterable(found)))


def _time(match: re.Match[str]) -> Quantity | None:
    parts = match.groupdict()
    written = parts["hour"] or parts["only"]
    hour = int(written) if written.isdecimal() else _HOURS.get(caseless(written), 24)
    minute = _minute(parts)
    if parts.get("to") is not None and 1 <= hour <= 12:
        hour, minute = hour - 1 or 12, 60 - minute
    half = (parts.get("half") or parts.get("side") or "").lower()[:1]
    if hour > 23 or (half and not 1 <= hour <= 12):
        return None
    hours = {hour}
    if half:
        hours = {hour % 12 + (12 if half == "p" else 0)}
    elif hour <= 12 and not _is_of_24_hours(match, written):
        hours = {hour, (hour + 12) % 24}
    return Quantity(
        text=match.group().strip(),
        values=frozenset(Decimal(each * 60 + minute) for each in hours),
        unit=":",
        about=False,
        start=match.start(),
        end=match.end(),
    )


def _minute(parts: Mapping[str, str | None]) -> int:
    """The minutes after the hour, or before it."""
    told = parts.get("minute") or parts.get("past") or parts.get("to")
    if told and not told.isdecimal():
        return _MINUTES[caseless(told).split()[0]]
    return int(told) if told else 0 if "minute" in parts else 30


def _is_of_24_hours(match: re.Match[str], hour: str) -> bool:
    """Whether only one half of the day can be meant: `09:00`, and what stands in a date with its time."""
    text, start = match.string, match.start()
    return text[max(0, start - 1) : start] == "T" or (
        hour[0] == "0" and not _LATER_HALF.match(text, match.end())
    )
