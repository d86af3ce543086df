"""Numbers in a text, with their units: `41 %` is `forty-one percent`, `$58bn` is `58 billion dollars`, `5 pm` is
`17:00`.

A time of day counts in minutes, a duration in seconds, money in its currency. Other measures count in the base unit
of their kind: metres, grams, bytes.
"""

# ruff: noqa: RUF001 - dashes, minus signs and apostrophes that texts use are meant

import re
from collections.abc import Iterable, Iterator, Sequence

from agenteval.text.dates import has_digit
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import lowered
from agenteval.text.words import UNSPACED_SIGN, bare_words

TIME, SECONDS, ORDINAL, MONTHS, _CENTS = ":", "s", "th", "mo", "cents"
MONEY = ("$", "€", "£", "¥")
_UNITS = {
    name: (unit, float(factor))
    for unit, names in {
        "%": "% percent pct prozent pour-cent ％",
        "$": "$ usd dollar dollars",
        "€": "€ eur euro euros",
        "£": "£ gbp pound pounds quid",
        "¥": "¥ jpy yen",
        "°": "° degree degrees grad deg grados degrés",
        "°C": "°c ℃ celsius c",
        "°F": "°f ℉ fahrenheit f",
        "m": "mm=.001 cm=.01 m metre metres meter meters metern mètres metros km=1000 kilometre=1000 kilometres=1000"
        " kilometer=1000 kilometers=1000 kilometern=1000 kilomètres=1000 kilómetros=1000 mile=1609.34 miles=1609.34"
        " mi=1609.34 ft=.3048 feet=.3048 foot=.3048 inch=.0254 inches=.0254",
        "m²": "m² qm sqm",
        "g": "mg=.001 g gram grams gramm kg=1000 kilo=1000 kilos=1000 lb=453.592 lbs=453.592 oz=28.3495 tonnes=1e6 tons=1e6",
        "l": "ml=.001 cl=.01 l litre litres liter liters litros",
        "W": "w watt watts kw=1000 mw=1e6",
        "Wh": "wh kwh=1000 mwh=1e6 gwh=1e9",
        "B": "b byte bytes kb=1e3 mb=1e6 gb=1e9 tb=1e12 kib=1024 mib=1048576 gib=1073741824 megabytes=1e6 gigabytes=1e9",
        "m/s": "m/s km/h=.277778 kmh=.277778 kph=.277778 mph=.44704",
        "Hz": "hz khz=1e3 mhz=1e6 ghz=1e9",
        "dB": "db",
        SECONDS: "ms=.001 millisecond=.001 milliseconds=.001 s sec secs second seconds sekunde sekunden segundos secondes"
        " min=60 mins=60 minute=60 minutes=60 minuten=60 minutos=60 h=3600 hr=3600 hrs=3600 hour=3600 hours=3600"
        " stunde=3600 stunden=3600 hora=3600 horas=3600 heure=3600 heures=3600 day=86400 days=86400 tag=86400 tage=86400"
        " tagen=86400 día=86400 días=86400 jour=86400 jours=86400 week=604800 weeks=604800 woche=604800 wochen=604800"
        " semana=604800 semanas=604800 semaine=604800 semaines=604800",
        MONTHS: "month months monat monate monaten mes meses mois year=12 years=12 yr=12 yrs=12 jahr=12 jahre=12 jahren=12"
        " año=12 años=12 an=12 ans=12",
    }.items()
    for name, _, factor in (each.partition("=") for each in names.split())
    for factor in (factor or "1",)
}
"""The unit of each word for a measure, and its size in that unit."""
_SCALES = {
    name: 10.0**power
    for power, names in {
        2: "hundred hundert",
        3: "k thousand tausend mil mille",
        6: "m mm mn mio million millions millionen millones",
        9: "b bn mrd billion billions milliarde milliarden",
        12: "t tn trillion trillions billionen",
    }.items()
    for name in names.split()
}
_SCALE_LETTERS = ("k", "m", "mm", "b", "t")
"""Scales that may be units as well: `5m`."""
_EAST_ASIAN_SCALES = {"百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8}
_HOUR_SIGNS, _MONTH_SIGNS = "点點时時", "月월"


def _counted(words: str, first: int = 0, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(words.split()) if word != "-"}


_TENS = _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_ONES = _counted("zero one two three four five six seven eight nine")
_ORDINALS = _counted("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 1)
_WORDS = {
    **_ONES,
    **_counted("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10),
    **_TENS,
    **_ORDINALS,
    **_counted("eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf", 1),
    **_counted("uno dos tres cuatro cinco - siete ocho nueve diez - doce", 1),
    **_counted("- deux trois quatre cinq - - huit neuf - onze douze", 1),
}
"""Numbers in words. "once", "sept", "dix" and "six" are left out: they are other words in English, or the same."""


class Number:
    """A number in a text, at the offsets `start` to `end`.

    `values` are its possible values in its `unit`: both halves of the day for `5:30`. `plain` are the same as
    written, for a comparison with numbers without a unit. `slack` is the greatest distance of the exact number.
    `hours` are the times of day that it may mean, such as the 9 of `at 9`. `spelled` is True if it is in words,
    `named` if it belongs to a name, as in `#12` and `web-2`, and `about` if the text calls it approximate.
    """

    __slots__ = (
        *("about", "end", "hours", "named", "plain", "slack"),
        *("spelled", "start", "text", "unit", "values"),
    )

    def __init__(self, text: str, start: int, end: int, unit: str, values: frozenset[float]) -> None:
        self.text, self.start, self.end = text[start:end], start, end
        self.unit, self.values = unit, values
        self.plain: frozenset[float] = values if unit != TIME else frozenset()
        self.hours: frozenset[float] = frozenset()
        self.slack = 0.0
        self.spelled = self.named = self.about = False

    def agrees(self, other: "Number") -> bool:
        """Return whether both may be the same number, as far as either is exact."""
        units = {self.unit, other.unit}
        if units == {"°C", "°F"}:
            return self._is_as_warm(other)
        if len(units) == 1 or ("°" in units and units <= _DEGREES):
            return _meet(self.values, other.values, max(self.slack, other.slack))
        if TIME in units:
            timed, hour = (self, other) if self.unit == TIME else (other, self)
            return _meet(timed.values, hour.hours, _NEARLY if timed.about or hour.about else 0)
        if "" not in units:
            return False
        slack = max(each.slack / (max(each.values) or 1) * max(each.plain or [0]) for each in (self, other))
        return _meet(self.plain, other.plain, slack)

    def _is_as_warm(self, other: "Number") -> bool:
        celsius, fahrenheit = (self, other) if self.unit == "°C" else (other, self)
        return _meet(celsius.values, {(each - 32) / 1.8 for each in fahrenheit.values}, 0.6)


_DEGREES = {"", "°", "°C", "°F"}
_NEARLY = 15.0
"""The number of minutes by which an approximate time may differ."""


def _meet(
    ones: Sequence[float] | frozenset[float], others: "frozenset[float] | set[float]", slack: float
) -> bool:
    if not slack:
        return not frozenset(ones).isdisjoint(others) or any(
            abs(one - other) <= 1e-9 * abs(one) for one in ones for other in others
        )
    return any(abs(one - other) <= slack + 1e-9 * abs(one) for one in ones for other in others)


_NUMBER = lazy(r"\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+(?![\d])(?:[.,]\d{1,2}(?!\d))?|\d+(?:[.,]\d+)*")
_AFTER = lazy(r"[ \u00a0\u202f-]?([^\W\d_]+(?:/[a-z])?|[%％€$£¥℃℉]|° ?[CF]?)")
_CLOCK = lazy(r":([0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?![\d:])")
_ZONE = lazy(r"[+-][01]\d:?\d\d\b")
_HALF_DAY = lazy(r" ?([ap])(?:m\b|\.m\.?)", re.IGNORECASE)
_HOUR_MARK = lazy(r" ?(?:uhr\b(?: ([0-5]\d)\b)?|h ?([0-5]\d)\b(?! ?min)|o['’]clock\b)", re.IGNORECASE)


def numbers(text: str, skip: Sequence[tuple[int, int]] = ()) -> list[Number]:
    """List the numbers of a text, in order, without those inside of `skip`. Digits of a name are none: H100."""
    found: list[Number] = []
    folded = lowered(text)
    if any(map(folded.__contains__, (" past ", " to ", "half ", " nach ", " vor "))):
        found += _clock_in_words(folded, text)
        skip = [*skip, *((each.start, each.end) for each in found)]
    if has_digit(text):
        found += _in_digits(text, skip)
    if not _WORDS.keys().isdisjoint(bare_words(folded)):
        found += (each for each in _in_words(folded, text) if not _hits(each, skip))
    return _apart(sorted(found, key=lambda number: number.start))


def _apart(found: Iterable[Number]) -> list[Number]:
    """Drop numbers that begin inside of the one before."""
    done: list[Number] = []
    for number in found:
        if not done or done[-1].end <= number.start:
            done.append(number)
    return done


def may_state(text: str) -> bool:
    """Return whether a text may have a number or a date."""
    return has_digit(text) or not _WORDS.keys().isdisjoint(bare_words(lowered(text)))


def _hits(number: Number, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < number.end and number.start < end for start, end in spans)


def _in_digits(text: str, skip: Sequence[tuple[int, int]]) -> Iterator[Number]:
    at, last, spans = 0, None, [*sorted(skip)]
    while match := _NUMBER.search(text, at):
        at = match.end()
        while spans and spans[0][1] <= match.start():
            spans.pop(0)
        if spans and spans[0][0] < at:
            at = max(match.start(), spans[0][0])  # the 2 of "2, 3 May"
            match = _NUMBER.fullmatch(text, match.start(), at) if at > match.start() else None
            at = max(at, spans[0][1]) if match is None else at
        if match and (number := _number(text, match, last)):
            at, last = max(at, number.end), number
            yield number


_IN_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/"


def _number(text: str, match: re.Match[str], last: Number | None) -> Number | None:
    """Return the number in these digits, with its surroundings; None if they belong to a name, a version or a month."""
    start, end = match.span()
    after_last = last.end if last else -1
    if _belongs_to_name(text, start, end, after_last):
        return None
    if time := _time(text, start, end, match.group()):
        return time
    values, step = _readings(match.group())
    if not values or (text[end : end + 1] and text[end] in _MONTH_SIGNS):
        return None  # a version, or a month
    money, start = _currency(text, max(after_last, 0), start)
    number = _made(text, start, end, values, step, text[max(0, match.start() - 20) : start], money)
    following = text[end : end + 1]
    if number.end == end and (following.isalpha() or following == "_") and not UNSPACED_SIGN.match(following):
        return None
    before = text[match.start() - 1 : match.start()]
    number.named = before == "#" or (before == "-" and text[match.start() - 2 : match.start() - 1].isalpha())
    return number


def _belongs_to_name(text: str, start: int, end: int, last: int) -> bool:
    """Return whether digits are part of a name (H100, GPT-4) or of a version, not a number of their own."""
    before = text[start - 1 : start]
    if not before or before not in _IN_NAME or (before == "/" and text[start - 2 : start - 1] == " "):
        return False
    piece = text[max(last, start - 40, 0) : start]
    piece = piece[len(piece.rstrip(_IN_NAME)) :]
    if any(map(str.isalpha, piece)):
        # The T of a timestamp, and a word with a dash ("pre-2019", "about-40"), are not the beginning of a name.
        is_stamp = before in "tT" and (piece in "tT" or piece[-2:-1].isdigit())
        is_word = (
            before == "-"
            and piece[:-1].islower()
            and piece[:-1].isalpha()
            and text[end : end + 1] not in ("-", "_")
        )
        if not is_stamp and not is_word:
            return True
    return before in "._" and piece != "."


def _currency(text: str, last: int, start: int) -> tuple[str, int]:
    """Return the currency before a number, `$` or `EUR`, and its offset."""
    before = text[max(last, start - 5) : start]
    bare = before.rstrip(" \u00a0")
    if not bare or len(before) - len(bare) > 1:
        return "", start
    at = start - len(before) + len(bare)
    if bare[-1] in MONEY:
        return bare[-1], at - (3 if bare[-3:].lower() == "us$" else 1)
    code = bare[-3:].lower()
    if code in ("usd", "eur", "gbp", "jpy") and not bare[-4:-3].isalpha():
        return _UNITS[code][0], at - 3
    return "", start


def _made(
    text: str, start: int, end: int, values: set[float], step: float, lead: str, money: str = ""
) -> Number:
    """Make a number of the digits or words that end here, with its unit, and with what the `lead` before it adds."""
    unit, factor, scale, end = _measured(text, end, is_money=bool(money))
    if money:
        unit, factor = money, 1.0
    elif not unit and text[max(0, start - 2) : start] == ": ":
        unit, factor = _labelled(text, start)
    if unit == _CENTS:
        unit, values = "", values | {each / 100 for each in values}
    elif unit == "m" and text[end - 1] == "m" and text[end - 2].isdigit():  # metres, minutes or million
        unit, factor, values = "", 1.0, values | {each * 1e6 for each in values}
    number = Number(text, start, end, unit, frozenset(round(each * scale * factor, 9) for each in values))
    number.plain = frozenset(round(each * scale, 9) for each in values)
    largest = max(number.values)
    if unit == "B":  # data has sizes in bytes, without saying so
        number.plain |= number.values
    if unit == "%":
        number.plain |= {round(each / 100, 9) for each in values}
    number.about = _ends_in(lead, _ABOUT)
    is_measured = unit and unit not in (*MONEY, MONTHS, SECONDS, ORDINAL)
    if is_measured or (step < 1 and (unit or scale > 1)):
        number.slack = min(0.5 * step * scale * factor, 0.05 * largest)
    if number.about:
        number.slack = max(number.slack, 0.1 * largest)
    if scale == 1:
        number.hours = _hours(text, start, end, max(values), lead, bare=not unit)
    return number


def _hours(text: str, start: int, end: int, value: float, lead: str, *, bare: bool) -> frozenset[float]:
    """Return the minutes of the day that a number may mean without saying so: 9:00 and 21:00 for the 9 of `at 9`."""
    signs = (*_HOUR_SIGNS, "-", "–")
    is_hour = bare and (_is_hour(lead) or text[end : end + 1] in signs)
    if value not in range(25) or not (is_hour or text[start:end].endswith("h")):
        return frozenset()
    return frozenset(60 * each % 1440 for each in (value, value + 12) if each <= 24)


def _readings(written: str) -> tuple[set[float], float]:
    """Return the possible values of digits, and the step of the last of them: `1.200` is 1.2 or 1200."""
    plain = written
    for sign in "'’\u00a0\u202f ":
        plain = plain.replace(sign, "")
    points, commas = plain.count("."), plain.count(",")
    *_, last = plain.replace(",", ".").split(".")
    if points and commas:  # what comes last divides the decimals
        decimal, group = (".", ",") if plain.rindex(".") > plain.rindex(",") else (",", ".")
        if plain.count(decimal) > 1:
            return set(), 1
        return {float(plain.replace(group, "").replace(decimal, "."))}, 10.0 ** -len(last)
    signs = points + commas
    if not signs:
        return {float(plain)}, 1
    parts = plain.replace(",", ".").split(".")
    grouped = all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3 and parts[0] != "0"
    if signs > 1:
        return ({float("".join(parts))} if grouped else set()), 1
    decimal_value = float(".".join(parts))
    if grouped:
        whole = float("".join(parts))
        return ({whole, decimal_value}, 0.001) if points else ({whole}, 1)
    return {decimal_value}, 10.0 ** -len(last)


def _measured(text: str, end: int, *, is_money: bool = False) -> tuple[str, float, float, int]:
    """Return the unit, its size and the scale after a number, and the offset where they end."""
    scale = 1.0
    if text[end : end + 1] in _EAST_ASIAN_SCALES:
        while (sign := text[end : end + 1]) in _EAST_ASIAN_SCALES and sign:
            scale, end = scale * _EAST_ASIAN_SCALES[sign], end + 1
    word = _AFTER.match(text, end)
    if not word:
        return "", 1.0, scale, end
    name, glued = lowered(word[1]), word.start(1) == end
    letter = name in _SCALE_LETTERS
    is_money = is_money or text[word.end() : word.end() + 1] in MONEY
    if name in _SCALES and (not letter or is_money or (glued and word[1] in "kKMBT")):
        scale, end = _SCALES[name], word.end()
        word = _AFTER.match(text, end)
        if not word:
            return "", 1.0, scale, end
        name, glued = lowered(word[1]), word.start(1) == end
    name = name.replace(" ", "")
    # "5 per cent" is two words for %.
    if name == "per" and text[word.end() : word.end() + 5] == " cent":
        return "%", 1.0, scale, word.end() + 5
    found = _unit(word[1], name, glued=glued)
    return (*found, scale, word.end()) if found else ("", 1.0, scale, end)


def _unit(word: str, name: str, *, glued: bool) -> tuple[str, float] | None:
    """Return the unit that a word after a number names, with its size; None for any other word. `name` is in small letters."""
    # "16G" means gigabytes, "16 G" does not.
    if glued and word == "G":
        return "B", 1e9
    if name in _UNITS and _is_unit(word, name, glued=glued):
        return _UNITS[name]
    if name in ("cent", "cents", "ct"):
        return _CENTS, 1.0
    # "1st" is one word. "1 St" is not: it may be a street or a saint.
    if (glued and name == "st") or name in ("nd", "rd", "th"):
        return ORDINAL, 1.0
    return ("", 1.0) if glued and name == "x" else None


def _is_unit(written: str, name: str, *, glued: bool) -> bool:
    """Return whether a word after a number is a unit.

    One letter is only right behind it, or in the case of its unit.
    """
    if len(name) > 1 or not name.isalpha():
        return name not in ("an", "mi") or glued
    return (written in "CFWgmlhsB" if glued else written in "CFWgmlhs") or (glued and name != "b")


def _labelled(text: str, start: int) -> tuple[str, float]:
    """Return the unit in the name of a field before a number: `takes minutes: 90`, `price eur per kwh: 0.44`."""
    label = text[max(0, start - 60) : start - 2]
    words = lowered(label[max(map(label.rfind, ";>\n")) + 1 :]).split()
    money = [_UNITS[word] for word in words if word in _UNITS and _UNITS[word][0] in MONEY]
    last = [_UNITS[word] for word in words[-1:] if word in _UNITS and (len(words) > 1 or len(word) > 2)]
    return (*money, *last, ("", 1.0))[0]


def _time(text: str, start: int, end: int, digits: str) -> Number | None:
    """Return the time of day in these digits, or None: `17:00`, `9.30 am`, `17h30`, `17 Uhr`, `5 o'clock`."""
    written, point, minutes = digits.partition(".")
    if len(written) > 2 or "," in written or int(written) > 24 or (point and len(minutes) != 2):
        return None
    clock = _CLOCK.match(text, end) if not point else None
    end = clock.end() if clock else end
    following = text[end : end + 2].lstrip()[:1].lower()
    half = _HALF_DAY.match(text, end) if following in ("a", "p") else None
    mark = _HOUR_MARK.match(text, end) if following in ("u", "h", "o") else None
    if not (half or mark or clock):
        return None
    hour = int(written)
    minute = int((clock and clock[1]) or minutes or (mark and (mark[1] or mark[2])) or 0)
    end = max(end, *(each.end() for each in (half, mark) if each), 0)
    is_stamp = text[start - 1 : start] in ("T", "t")
    if is_stamp and (zone := _ZONE.match(text, end)):
        end = zone.end()
    if half:
        hour = hour % 12 + (12 if half[1] in "pP" else 0)
    hours = {hour % 24}
    if not half and hour <= 12 and not is_stamp and not (len(written) == 2 and written[0] == "0"):
        hours.add((hour + 12) % 24)
    number = Number(text, start, end, TIME, frozenset(60.0 * each + minute for each in hours))
    number.about = _ends_in(text[max(0, start - 20) : start], _ABOUT)
    number.slack = _NEARLY if number.about else 0.0
    return number


# Numbers in words ----------------------------------------------------------------------------------------------


def _in_words(folded: str, text: str) -> Iterator[Number]:
    """Yield numbers in words, also "one", which often is not meant as a number."""
    at = 0
    for word in _LETTERS.finditer(folded):
        if word.start() < at or word.group() not in _WORDS:
            continue
        value, at = float(_WORDS[word.group()]), word.end()
        ones = _LETTERS.match(folded, at + 1) if word.group() in _TENS else None
        if ones and ones.group() in _ONES:
            value, at = value + _ONES[ones.group()], ones.end()
        number = _made(text, word.start(), at, {value}, 1, text[max(0, word.start() - 20) : word.start()])
        number.spelled, at = True, number.end
        if word.group() in _ORDINALS:
            number.unit = ORDINAL
        yield number


_CLOCK_IN_WORDS = lazy(
    r"\b(?:(at |um )?([^\W\d_]+)( minutes| minuten)? (past|to|nach|vor)|half) (?:([^\W\d_]+)|(1?\d)\b(?![:.]\d))"
)
_MINUTES = {"half": 30, "quarter": 15, "viertel": 15} | _WORDS


def _clock_in_words(folded: str, text: str) -> Iterator[Number]:
    """Yield times in words: `half past six`, `half six`, `quarter to 4`, `ten minutes to four`, `at ten to four`.

    "five to ten" may be a range.
    """
    for match in _CLOCK_IN_WORDS.finditer(folded):
        at, first, of_time, side, word, digits = match.groups()
        first, side = first or "half", side or "past"
        hour = int(digits) if digits else _WORDS.get(word, 0)
        # "five to ten" is a range as often as a time. "at five to ten", "half past nine" and "quarter to ten" are times.
        is_time = at or of_time or side == "past" or first not in _WORDS
        if first in _MINUTES and is_time and 0 < hour <= 12:
            total = 60.0 * hour + (_MINUTES[first] if side in ("past", "nach") else -_MINUTES[first])
            yield Number(text, *match.span(), TIME, frozenset((total % 1440, (total + 720) % 1440)))


_LETTERS = lazy(r"[^\W\d_]+")

# What stands before a number -------------------------------------------------------------------------------------

_ABOUT = tuple(
    """about|around|roughly|approximately|approx.|some|near|nearly|almost|over|under|circa|ca.|~|≈|more than|less than|up to|at least
    |close to|just shy of|just below|bit below|slightly below|just above|bit above|slightly above|shortly before|shortly after
    |just before|just after|towards| gut| rund| etwa|ungefähr| knapp| fast| über|mehr als|weniger als|bis zu|mindestens|kurz vor|kurz nach|gegen
    | unos| unas| casi|más de|menos de|cerca de|alrededor de|aproximadamente|al menos|environ|près de|plus de|moins de
    |presque|jusqu'à|au moins""".replace("\n    ", "").split("|")
)
"""Words that make the number after them approximate, in English, German, Spanish and French."""
_AT = (
    *(" at", " from", " to", " till", " until", " by", " before", " after", " and", " around", " between"),
    *(" um", " bis", " ab", " von", " und", " zwischen", " gegen", " vor", " nach"),
    *(" las", " la", " a", " de", " y", " entre", " à", " et", " vers"),
)


def _is_hour(lead: str) -> bool:
    """Return whether a small number after this text may be an hour."""
    return lead.endswith(("-", "–")) or (_ends_in(lead, _AT) and not lead.endswith(("-", "−")))


def _ends_in(lead: str, words: tuple[str, ...]) -> bool:
    """Return whether the text before a number ends in one of these words."""
    return f" {lead}".replace("(", " ").rstrip(" $€£*−-").lower().endswith(words)
