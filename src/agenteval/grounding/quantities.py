"""Numbers and times of day in a text, in a form in which equal ones are equal.

`1,234` is `1234`, `41%` is `41 percent`, `$58bn` is `58 billion dollars`, `2M` is `2 million`, `seven` is `7`
and `5 pm` is `17:00`. A sign is not compared: a fall of 5 % is -5 %.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from agenteval.lazyregex import lazy

NEARLY = Decimal("0.05")
"""How far an approximate number ("about 60") may be from the exact one, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number: `values` holds the readings it may have (`5m` is 5 metres or 5 million).

    `unit` is `%`, a currency, `:` for a time of day in minutes, `th` for an ordinal, or empty. `about` says
    that the text calls it approximate; `text` is as written, `start` and `end` are offsets.
    """

    text: str
    values: frozenset[Decimal]
    unit: str
    about: bool
    start: int
    end: int


_SCALES = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "million": 6,
    "mn": 6,
    "mm": 6,
    "mio": 6,
    "m": 6,
    "billion": 9,
    "bn": 9,
    "b": 9,
    "trillion": 12,
    "tn": 12,
    "t": 12,
}
_CURRENCIES = {"$": "$", "usd": "$", "dollar": "$", "€": "€", "eur": "€", "euro": "€", "£": "£", "gbp": "£"}
_CURRENCIES |= {"pound": "£", "¥": "¥", "yen": "¥", "jpy": "¥"}
_CURRENCY = lazy(r"(?<![\w.])(?:[$€£¥]|USD|EUR|GBP|JPY)[ \u00a0\u202f]?\Z")
_LONGEST_CURRENCY = len("USD ")
_NUMBER = lazy(
    r"(?P<digits>\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:\.\d+)?(?!\d)"
    r"|(?<!,)\d+(?:[.\u00a0\u202f]\d{3})*,\d\d?(?![\d,])|\d+(?:\.\d+)*)"
    r"(?:(?P<ordinal>st|nd|rd|th)\b|[ \u00a0\u202f-]?(?P<scale>hundred|thousand|million|billion|trillion|mio|bn|mn|mm|tn|[kKmMbBT])(?![\w]))?"
    r"(?:[ \u00a0\u202f-]?(?P<after>[%$€£¥]|percentage points?|percent|per cent|pct|US dollars?|dollars?|euros?|pounds?|yen|USD|EUR|GBP)(?!\w))?"
)
IDENTIFIER = lazy(
    r"(?<![\w-])(?:(?:[A-Z][A-Za-z]*+-|[A-Za-z]++)\d[\w-]*(?:\.\d[\w-]*)*|\d+(?:\.\d+){2,}(?:-\w+)?)"
)
"""Letters and digits in one: GPT-4, H100, v1.2.3, 10.0.1. They are names, not numbers."""

_IDENTIFIER_SIGN = lazy(r"\d(?:(?<=[A-Za-z]\d)|(?<=[A-Za-z]-\d)|\.\d)")

_DIGITS = lazy(r"\d+")
_TIME_SIGN = lazy(r"\d(?::\d| ?[ap]\.?m)", re.IGNORECASE)
_TIME = lazy(
    r"(?:(?<![\w:.])|(?<=\dT))(?P<hour>[012]?\d):(?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)? ?(?P<half>[ap]\.?m\b)?"
    r"|(?<![\w:.])(?P<only>1?\d) ?(?P<side>[ap]\.?m\b)",
    re.IGNORECASE,
)
_SEPARATORS = lazy(r"[,\u00a0\u202f]")
_ABOUT = (
    *"about around roughly approximately approx. some nearly almost over under circa ca. ~ ≈".split(),  # noqa: SIM905
    *("more than", "less than", "up to", "at least"),
)
CURRENCIES = ("$", "€", "£", "¥")
"""The units of money."""


def quantities(text: str, skip: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """The numbers of a text, in order, without those inside the spans to skip. Part of a name is none: H100."""
    if not _DIGITS.search(text):
        return [q for q in _spelled(text) if not _Spans(skip).hit(q.start, q.end)]
    clock = list(times(text))
    taken = [
        *skip,
        *(match.span() for match in identifiers(text)),
        *((quantity.start, quantity.end) for quantity in clock),
    ]
    found = [*_digits(text)]
    spelled = [*_spelled(text)]
    if taken:
        blocked = _Spans(taken)
        found = [q for q in found if not blocked.hit(q.start, q.end)]
        spelled = [q for q in spelled if not blocked.hit(q.start, q.end)]
    if not clock and not spelled:
        return found
    told = [time for time in clock if not _Spans(skip).hit(time.start, time.end)]
    return sorted([*told, *found, *spelled], key=lambda quantity: quantity.start)


class _Spans:
    """Spans of a text, to ask whether another one overlaps any of them."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self.starts = sorted(spans)

    def hit(self, start: int, end: int) -> bool:
        at = bisect_left(self.starts, (end, 0))
        return at > 0 and any(stop > start for _, stop in self.starts[max(0, at - 2) : at])


def _digits(text: str) -> Iterator[Quantity]:
    """The numbers in digits, each with the currency before it."""
    end = 0
    for run in _DIGITS.finditer(text):
        start = run.start()
        if start < end:
            continue
        currency = _CURRENCY.search(text, max(end, start - _LONGEST_CURRENCY), start)
        if not currency and start and (text[start - 1] in "._" or text[start - 1].isalnum()):
            continue
        match = _NUMBER.match(text, start)
        if not match:
            continue
        start, end = currency.start() if currency else start, match.end()
        digits, ordinal, scale, after = match.groups()
        if not digits.isdigit():
            digits = in_digits(digits)
        if digits.count(".") > 1 or len(digits) > 40:
            continue  # a version: a name, not a number
        try:
            value = Decimal(digits)
        except InvalidOperation:
            continue
        unit = _unit(currency and currency.group(), ordinal, after)
        yield Quantity(
            text=text[start:end],
            values=frozenset(_readings(value, scale or "", unit)),
            unit=unit,
            about=_is_about(text[max(0, start - 20) : start]),
            start=start,
            end=end,
        )


def in_digits(number: str) -> str:
    """A number without separators between groups of digits. A comma before one or two digits is decimal: `1.234,50`."""
    if number[-3:-1].count(",") == 1 and number.count(",") == 1:
        number = number.replace(".", "").replace(",", ".")
    return _SEPARATORS.sub("", number)


def identifiers(text: str) -> Iterable[re.Match[str]]:
    """The names with digits in them; most texts have no sign of one."""
    return IDENTIFIER.finditer(text) if _IDENTIFIER_SIGN.search(text) else ()


def _is_about(before: str) -> bool:
    """Whether the text before a number calls it approximate."""
    if before[-1:] in CURRENCIES:
        before = before[:-1]
    if before[-1:].isspace():
        before = before[:-1]
    return before.casefold().endswith(_ABOUT)


def _unit(before: str | None, ordinal: str | None, after: str | None) -> str:
    if ordinal:
        return "th"
    if not before and not after:
        return ""
    before = (before or "").strip().lower()
    after = (after or "").lower().removeprefix("us ")
    if after.startswith(("%", "p")) and not after.startswith("pound"):
        return "%"
    return _CURRENCIES.get(before) or _CURRENCIES.get(after.rstrip("s")) or ""


def _readings(value: Decimal, scale: str, unit: str) -> Iterator[Decimal]:
    power = _SCALES.get(scale.lower(), 0)
    yield value.scaleb(power).normalize()
    if scale in ("m", "b", "k", "mm", "t") and not unit:
        yield value.normalize()  # a letter that may be a unit


def times(text: str) -> Iterator[Quantity]:
    """The times of day of a text, in order."""
    for match in _TIME.finditer(text) if _TIME_SIGN.search(text) else ():
        hour = int(match["hour"] or match["only"])
        minute = int(match["minute"] or 0)
        half = (match["half"] or match["side"] or "").lower()[:1]
        if hour > 23 or (half and not 1 <= hour <= 12):
            continue
        hours = {hour}
        if half:
            hours = {hour % 12 + (12 if half == "p" else 0)}
        elif hour <= 12:
            hours = {hour, (hour + 12) % 24}
        yield Quantity(
            text=match.group().strip(),
            values=frozenset(Decimal(each * 60 + minute) for each in hours),
            unit=":",
            about=False,
            start=match.start(),
            end=match.end(),
        )


_AT = lazy(r"\b[Aa]t \Z")
_GOES_ON = lazy(
    r"[ -]?\w{0,3}\d|[.:,/]\d|[ -]?[%°$€£¥]|[ -](?:percent|per cent|pct|degrees|dollars?|euros?|points?)\b"
)


def as_hour(quantity: Quantity, text: str) -> Quantity | None:
    """A number that may be an hour without minutes, as a time of day: the 9 of `at 9`."""
    if quantity.unit or not quantity.text.isdigit() or len(quantity.text) > 2:
        return None
    if not _AT.search(text[max(0, quantity.start - 4) : quantity.start]) or _GOES_ON.match(
        text, quantity.end
    ):
        return None
    return next(times(f"{quantity.text}:00"), None)


def _counted(words: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(words.split())}


_SMALL = _counted(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen",
    0,
)
_TENS = _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_ORDINALS = _counted("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 1)
_WORDS = _SMALL | _TENS
_SPELLED = lazy(
    rf"\b(?P<number>(?P<tens>{'|'.join(_TENS)})[- ](?P<unit>{'|'.join(list(_SMALL)[1:10])})|{'|'.join([*_TENS, *reversed(_SMALL)])})\b"
    r"(?:[ -](?P<scale>hundred|thousand|million|billion|trillion)\b)?(?P<percent> (?:percent|per cent)\b)?"
    rf"|\b(?P<ordinal>{'|'.join(_ORDINALS)})\b",
    re.IGNORECASE,
)


_ALL_WORDS = frozenset(_WORDS) | frozenset(_ORDINALS)
_LETTERS = lazy(r"[a-z]+")


def spellings(low: Decimal, high: Decimal) -> list[str]:
    """What the numbers from `low` to `high` begin with when they stand in words: `twenty` for 25 000."""
    found: dict[str, None] = {}
    for power in (0, 2, 3, 6, 9, 12):
        least, most = max(low.scaleb(-power), Decimal(0)), high.scaleb(-power)
        if least >= 100:
            continue
        for number in range(int(least) + (least != int(least)), min(int(most), 99) + 1):
            found |= dict.fromkeys(_SPELLED_AS.get(number) or [_TENS_NAMES[number // 10]])
    return list(found)


_SPELLED_AS: dict[int, list[str]] = {}
for _word, _number in (_SMALL | _ORDINALS).items():
    _SPELLED_AS.setdefault(_number, []).append(_word)
_TENS_NAMES = ("", "", *_TENS)


def _spelled(text: str) -> Iterator[Quantity]:
    """Numbers in words. "One" is too often no number, nor are "first" and "second", to be taken at their word."""
    for match in _spelled_in(text):
        unit = ""
        if match["ordinal"]:
            value, unit = _ORDINALS[match["ordinal"].lower()], "th"
        elif match["tens"]:
            value = _TENS[match["tens"].lower()] + _WORDS[match["unit"].lower()]
        else:
            value = _WORDS[match["number"].lower()]
        if match["percent"]:
            unit = "%"
        power = _SCALES.get((match["scale"] or "").lower(), 0)
        yield Quantity(
            text=match.group(),
            values=frozenset([Decimal(value).scaleb(power).normalize()]),
            unit=unit,
            about=False,
            start=match.start(),
            end=match.end(),
        )


def _spelled_in(text: str) -> Iterator[re.Match[str]]:
    """Where numbers stand in words. Only the places of such words are looked at: most words are others."""
    lower = text.lower()
    known = _ALL_WORDS.intersection(_LETTERS.findall(lower))
    if len(lower) != len(text):
        yield from _SPELLED.finditer(text) if known else ()
        return
    end = 0
    for at in sorted(at for word in known for at in _occurrences(lower, word)):
        if at >= end and (match := _SPELLED.match(text, at)):
            end = match.end()
            yield match


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def is_weak(quantity: Quantity) -> bool:
    """Whether a number in words is too small to be a claim by itself: one, first, second, and zero."""
    return quantity.text[0].isalpha() and max(quantity.values) <= 2
