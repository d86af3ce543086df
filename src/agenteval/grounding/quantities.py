"""Numbers and times of day in a text, in a form in which equal ones are equal.

`1,234` is `1234`, `41%` is `41 percent`, `$58bn` is `58 billion dollars`, `2M` is `2 million`, `seven` is `7`
and `5 pm` is `17:00`. A sign is not compared: a fall of 5 % is -5 %.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from agenteval.grounding.dates import DAY_SIGNS, MONTH_SIGNS
from agenteval.grounding.durations import durations
from agenteval.grounding.measures import is_degrees, is_measure, measure
from agenteval.grounding.number_words import spelled
from agenteval.grounding.quantity import (
    METRES,
    NEARLY,
    Quantity,
    apart,
    is_about,
    is_exact,
    is_over,
    may_be_day,
    may_be_german_day,
    may_be_hour,
    may_be_version,
)
from agenteval.grounding.times import times
from agenteval.language.content_words import UNSPACED_SIGN
from agenteval.lazyregex import lazy

ROUND = 1000
"""From which number on it may be twice as far, upwards, when only its first digit is no zero: `over 2,000` for 2,187."""

_SCALES = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "million": 6,
    "millions": 6,
    "millionen": 6,
    "millón": 6,
    "millones": 6,
    "mn": 6,
    "mm": 6,
    "mio": 6,
    "m": 6,
    "billion": 9,
    "milliard": 9,
    "milliards": 9,
    "milliarde": 9,
    "milliarden": 9,
    "mrd": 9,
    "bn": 9,
    "b": 9,
    "trillion": 12,
    "tn": 12,
    "t": 12,
    "百": 2,
    "千": 3,
    "万": 4,
    "萬": 4,
    "百万": 6,
    "百萬": 6,
    "千万": 7,
    "千萬": 7,
    "亿": 8,
    "億": 8,
}
_CURRENCIES = {"$": "$", "usd": "$", "dollar": "$", "€": "€", "eur": "€", "euro": "€", "£": "£", "gbp": "£"}
_CURRENCIES |= {"pound": "£", "¥": "¥", "yen": "¥", "jpy": "¥"}
_CURRENCY = lazy(r"(?<![\w.])(?:[$€£¥]|USD|EUR|GBP|JPY)[ \u00a0\u202f]?\Z")
_LONGEST_CURRENCY = len("USD ")
_NUMBER = lazy(
    r"(?P<digits>\d{1,3}(?:[,\u00a0\u202f'\u2019]\d{3})+(?:\.\d+)?(?!\d)"
    r"|(?<!,)\d+(?:[.\u00a0\u202f]\d{3})*,\d\d?(?![\d,])|\d+(?:\.\d+)*)"
    r"(?:(?P<ordinal>st|nd|rd|th)\b|[ \u00a0\u202f-]?(?P<scale>hundred|thousand|million|billion|trillion|mio|bn|mn|mm|tn|[kKmMbBT]"
    r"|[Mm]ill(?:ion(?:s|en)|ones|ón|iard(?:s|en?)?)|M(?:io|rd)\b\.?|[百千]?[万萬]|[百千亿億])(?!\w|/[hs]\b))?"
    r"(?:[ \u00a0\u202f-]?(?:d['\u2019]|de )?(?P<after>[%$€£¥]|percentage points?|percent|per cent|pct|US dollars?|dollars?|[Ee]uros?|pounds?|yen|USD|EUR|GBP"
    r"|Prozent|por ciento|pour cent)(?!\w))?"
)
IDENTIFIER = lazy(
    r"(?<![\w-])(?:(?:[A-Z][A-Za-z]*+-|[A-Za-z]++)\d[\w-]*(?:\.\d[\w-]*)*|(?!\d{1,3}(?:\.\d{3}){2,12}(?![\w.]))\d+(?:\.\d+){2,}(?:-\w+)?)"
)
"""Letters and digits in one: GPT-4, H100, v1.2.3, 10.0.1. They are names, not numbers."""

_IDENTIFIER_SIGN = lazy(r"\d(?:(?<=[A-Za-z]\d)|(?<=[A-Za-z]-\d)|\.\d)")

FRACTIONS = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75")}
_IN_WORDS = (
    "half",
    "halb",
    "quarter",
    "five to ",
    "ten to ",
    "twenty to ",
    "minutes to ",
    " past ",
    " nach ",
    " vor ",
    "clock",
)
"""What a time of day or a length of time may be told with that has no digits."""
_DIGITS = lazy(r"\d+")
_PHONE = lazy(r"\+\d{1,3}[ ()/-]{1,2}\d[\d ()/-]{4,16}\d")
_SEPARATORS = lazy(r"[,\u00a0\u202f'\u2019]")
_OF_SCALE = lazy(r"\d[.,]\d\d? ?(?:/|out of|von|sobre|de|sur) ?\Z")
_SCALE_ENDS = (5, 10, 100)
"""Where scales of ratings end: nothing is counted by `4.3 out of 5`."""
CURRENCIES = ("$", "€", "£", "¥")
"""The units of money."""


def quantities(text: str, skip: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """The numbers of a text, in order, without those inside the spans to skip. Part of a name is none: H100."""
    if not _DIGITS.search(text) and not any(map(text.__contains__, _IN_WORDS)):  # as in most texts
        return [q for q in spelled(text) if not _Spans(skip).hit(q.start, q.end)]
    text = apart(text)
    lasting = [*durations(text)]
    within = _Spans([(quantity.start, quantity.end) for quantity in lasting])
    clock = [
        q for q in (*times(text), *(_phones(text) if "+" in text else ())) if not within.hit(q.start, q.end)
    ]
    whole = [*clock, *lasting]
    names = (match.span() for match in identifiers(text))
    blocked = _Spans([*skip, *names, *((quantity.start, quantity.end) for quantity in whole)])
    others = (q for q in (*_digits(text), *spelled(text)) if not blocked.hit(q.start, q.end))
    told = (q for q in whole if not _Spans(skip).hit(q.start, q.end))
    return sorted([*told, *others], key=lambda quantity: quantity.start)


def _phones(text: str) -> Iterator[Quantity]:
    """The telephone numbers of a text that begin in `+`."""
    for match in _PHONE.finditer(text):
        value = Decimal("".join(filter(str.isdigit, match.group())))
        yield Quantity(
            text=match.group(),
            values=frozenset([value]),
            unit="+",
            about=False,
            start=match.start(),
            end=match.end(),
        )


class _Spans:
    """Spans of a text, to ask whether another one overlaps any of them."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self.spans: list[tuple[int, int]] = []
        for start, end in sorted(spans):  # those that overlap are joined
            if self.spans and start < self.spans[-1][1]:
                self.spans[-1] = (self.spans[-1][0], max(end, self.spans[-1][1]))
            else:
                self.spans.append((start, end))

    def hit(self, start: int, end: int) -> bool:
        at = bisect_left(self.spans, (end, 0))
        return at > 0 and self.spans[at - 1][1] > start


def _digits(text: str) -> Iterator[Quantity]:
    """The numbers in digits, each with the currency before it."""
    end = 0
    for run in _DIGITS.finditer(text):
        start = run.start()
        if start < end:
            continue
        currency = _CURRENCY.search(text, max(end, start - _LONGEST_CURRENCY), start)
        if not currency and start and _goes_on(text[start - 1]):
            continue
        match = _NUMBER.match(text, start)
        if not match:
            continue
        start, end = currency.start() if currency else start, match.end()
        written, ordinal, scale, after = match.groups()
        digits = written if written.isdigit() else in_digits(written)
        if digits.count(".") > 1 or len(digits) > 40:
            continue  # a version: a name, not a number
        if text.startswith(MONTH_SIGNS, end):
            continue  # a month: by itself it is no date, nor a number
        value = Decimal(digits)
        if fraction := FRACTIONS.get(text[end : end + 1]):
            value, end = value + fraction, end + 1
        unit = _unit(currency and currency.group(), ordinal, after) or measure(text, start, end)
        if (
            not (unit or scale)
            and (other := _RANGE.match(text, end))
            and (last := _NUMBER.match(text, other.end()))
        ):
            unit = _unit(None, None, last["after"]) or measure(text, last.start(), last.end())
        before = text[max(0, start - 20) : start]
        if value in _SCALE_ENDS and _OF_SCALE.search(before):
            continue
        about = is_about(before)
        in_cents = unit in CURRENCIES and len(digits.partition(".")[2]) == 2
        degrees = is_degrees(text, end)
        measured = (in_cents or degrees or unit == "%" or is_measure(unit)) and not is_exact(before)
        values = frozenset(_readings(value, scale or "", unit))
        if not scale and unit != "%" and (shared := SHARED_SCALE.match(text, end)):
            values |= frozenset(_readings(value, shared[1], unit))
        if _GROUPED.fullmatch(written):
            values |= {each * 1000 for each in values}
        if _CENTS.match(text, end):
            values |= {value.scaleb(-2).normalize()}
        yield Quantity(
            text=text[start:end],
            values=values,
            unit=unit or (METRES if scale == "m" else ""),
            about=about,
            nearly=_nearly(
                digits, value, about=about, scaled=bool(scale), measured=measured, degrees=degrees
            ),
            measured=measured,
            over=about and is_over(before),
            start=start,
            end=end,
            clock=may_be_hour(before, text[end : end + 20])
            if written.isdigit() and not unit and max(values) <= 24
            else "",
            day=(bool(ordinal) and may_be_day(before, text[end : end + 10]))
            or may_be_german_day(before, text[end : end + 2])
            or text.startswith(DAY_SIGNS, end),
            version=not (unit or scale)
            and ("." in written or may_be_version(before) or bool(_ANY_LATER.match(text, end))),
        )


_ANY_LATER = lazy(r"\.[xX]\b")
"""After a number, what makes it all versions that begin with it: `5.x`."""


def _goes_on(sign: str) -> bool:
    """Whether what ends in this sign goes on in the digits after it: a word or a number, where blanks part words."""
    return sign in "._" or (sign.isalnum() and not UNSPACED_SIGN.match(sign))


SHARED_SCALE = lazy(
    r" ?(?:to|and|or|[-\u2013]|bis|und|a|y|à|et) ?[$€£]?\d[\d.,]* ?"
    r"(thousand|million|billion|trillion|bn|mn|[kKM]|[Mm]ill(?:ion(?:s|en)|ones|iard(?:s|en?)))(?!\w)"
)
"""The scale of the next number, which is that of both: "from 260 to 210 million"."""
_CENTS = lazy(r"(?i) ?(?:cents?|ct)\b")
_RANGE = lazy(r" ?(?:-|\u2013|to|bis|a|à) ?(?=\d)")
"""Between two numbers of one unit: "24 to 26 °C"."""
_GROUPS = lazy(r"\d{1,3}(?:\.\d{3}){2,}")
_GROUPED = lazy(r"[1-9]\d{0,2}\.\d{3}")
"""A number that a comma of English would part: `1.200` in German and Spanish, though it may be 1.2."""


def _nearly(
    digits: str, value: Decimal, *, about: bool, scaled: bool, measured: bool, degrees: bool
) -> Decimal:
    """By what share a number may differ from the exact one.

    It rounds to its last digit in `15.2k`, `31 °C` and `about 7`, and in `about 60` by as much as that allows. `-3 °C` rounds
    only a little, but few tell degrees with more digits.
    """
    last = Decimal("0.5").scaleb(-len(digits.partition(".")[2])) / value if value else Decimal(0)
    if degrees and measured and not about:
        last = min(last, NEARLY)
    rounds = ((scaled or measured) and last <= NEARLY) or (about and not scaled and value < 10)
    return max(last * rounds, NEARLY * about)


def in_digits(number: str) -> str:
    """A number without separators between groups of digits. A comma before one or two digits is decimal: `1.234,50`; two points are none."""
    if number[-3:-1].count(",") == 1 and number.count(",") == 1:
        number = number.replace(".", "").replace(",", ".")
    if _GROUPS.fullmatch(number):
        number = number.replace(".", "")
    return _SEPARATORS.sub("", number)


_ONE_NUMBER = lazy(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d{3})*,\d\d?")


def apart_at_commas(number: str) -> list[str]:
    """The numbers between the commas of digits that cannot be one number: `48.137,11.575` of a table."""
    return number.split(",") if "," in number and not _ONE_NUMBER.fullmatch(number) else []


def identifiers(text: str) -> Iterable[re.Match[str]]:
    """The names with digits in them; most texts have no sign of one."""
    return IDENTIFIER.finditer(text) if _IDENTIFIER_SIGN.search(text) else ()


def _unit(before: str | None, ordinal: str | None, after: str | None) -> str:
    if ordinal:
        return "th"
    before = (before or "").strip().lower()
    after = (after or "").lower().removeprefix("us ")
    if after.startswith(("%", "p")) and not after.startswith("pound"):
        return "%"
    return _CURRENCIES.get(before) or _CURRENCIES.get(after.rstrip("s")) or ""


def _readings(value: Decimal, scale: str, unit: str) -> Iterator[Decimal]:
    power = _SCALES.get(scale.lower().rstrip("."), 0)
    yield value.scaleb(power).normalize()
    if scale in ("m", "b", "k", "mm", "t") and not unit:
        yield value.normalize()  # a letter that may be a unit
