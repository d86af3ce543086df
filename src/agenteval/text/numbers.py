"""Numbers in a text, with their units: `41 %` is `forty-one percent`, `$58bn` is `58 billion dollars`, `5 pm` is `17:00`.

A time of day is a number of minutes, a length of time one of seconds, an amount of money one of its currency, anything
else measured one of the base unit of its kind: metres, grams, bytes.
"""

# ruff: noqa: RUF001 - dashes, minus signs and apostrophes that texts use are meant

import re
from collections.abc import Iterator, Sequence

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
"""The unit of measure that each word stands for, and how much of it."""
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
"""Scales that may be units, too: `5m`."""
_EAST_ASIAN_SCALES = {"百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8}
_HOUR_SIGNS, _DAY_SIGNS, _MONTH_SIGNS = "点點时時", "日号號일", "月월"


def _counted(words: str, first: int = 0, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(words.split()) if word != "-"}


_TENS = _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_ONES = _counted("zero one two three four five six seven eight nine")
_WORDS = {
    **_ONES,
    **_counted("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10),
    **_TENS,
    **_counted("eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf", 1),
    **_counted("uno dos tres cuatro cinco - siete ocho nueve diez - doce", 1),
    **_counted("- deux trois quatre cinq - - huit neuf - onze douze", 1),
}
"""Numbers in words; "once", "sept", "dix" and "six" are other words in English, or the same."""
_ORDINALS = _counted("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 1)
_HALVES = frozenset(("half", "quarter", "halb", "viertel"))
_NAMED_TIMES = {"noon": 720.0, "midday": 720.0, "mittags": 720.0, "midnight": 0.0, "mitternacht": 0.0}
_SPELLED = frozenset(_WORDS) | frozenset(_ORDINALS) | _HALVES | frozenset(_NAMED_TIMES)


class Number:
    """A number that a text states; `start` and `end` are offsets.

    `values` holds what it may be in its `unit`: both halves of the day for `5:30`. `plain` holds the same as written, to
    be compared with numbers that have no unit. `slack` is how far the exact number may be away. `hours` are the times
    that it may be without saying so, the 9 of `at 9`; `spelled` says whether it is in words, `named` whether it is part of
    a name, as in `#12` and `web-2`, `about` whether the text calls it approximate.
    """

    __slots__ = (
        *("about", "day", "end", "hours", "named", "plain", "slack"),
        *("spelled", "start", "text", "unit", "values"),
    )

    def __init__(self, text: str, start: int, end: int, unit: str, values: frozenset[float]) -> None:
        self.text, self.start, self.end = text[start:end], start, end
        self.unit, self.values = unit, values
        self.plain: frozenset[float] = values if unit != TIME else frozenset()
        self.hours: frozenset[float] = frozenset()
        self.slack = 0.0
        self.spelled = self.named = self.about = self.day = False

    def agrees(self, other: "Number") -> bool:
        """Whether both may be the same number, as far as either is exact."""
        units = {self.unit, other.unit}
        if units == {"°C", "°F"}:
            return self._is_as_warm(other)
        if len(units) == 1 or ("°" in units and units <= _DEGREES):
            return _meet(self.values, other.values, max(self.slack, other.slack))
        if "" not in units:
            return False
        if TIME in units:
            timed, hour = (self, other) if self.unit == TIME else (other, self)
            return _meet(timed.values, hour.hours, _NEARLY if timed.about or hour.about else 0)
        slack = max(each.slack / (max(each.values) or 1) * max(each.plain or [0]) for each in (self, other))
        return _meet(self.plain, other.plain, slack)

    def _is_as_warm(self, other: "Number") -> bool:
        celsius, fahrenheit = (self, other) if self.unit == "°C" else (other, self)
        return _meet(celsius.values, {(each - 32) / 1.8 for each in fahrenheit.values}, 0.6)


_DEGREES = {"", "°", "°C", "°F"}
_NEARLY = 15.0
"""Minutes by which a time may differ that is about another one."""


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
    """The numbers of a text, in order, but those inside the spans to skip. Digits of a name are none: H100."""
    found: list[Number] = []
    if has_digit(text):
        found += _in_digits(text, skip)
    folded = lowered(text)
    if not _SPELLED.isdisjoint(bare_words(folded)):
        found += (each for each in _in_words(folded, text) if not _hits(each, skip))
    return _joined(sorted(found, key=lambda number: number.start), text)


def may_state(text: str) -> bool:
    """Whether a text may have a number or a date."""
    return has_digit(text) or not _SPELLED.isdisjoint(bare_words(lowered(text)))


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
    """The number in these digits, with what stands around it; None when they are part of a name."""
    start, end = match.span()
    before = text[start - 1 : start]
    after_last = last.end if last else -1
    if before and before in _IN_NAME and not (before == "/" and text[start - 2 : start - 1] == " "):
        piece = text[max(after_last, start - 40, 0) : start]
        piece = piece[len(piece.rstrip(_IN_NAME)) :]
        is_stamp = before in "tT" and (piece in "tT" or piece[-2:-1].isdigit())
        is_word = (
            before == "-"
            and piece[:-1].islower()
            and piece[:-1].isalpha()
            and text[end : end + 1] not in ("-", "_")
        )
        if any(map(str.isalpha, piece)) and not is_stamp and not is_word:
            return None  # a name: H100, GPT-4
        if before in "._" and piece != ".":
            return None
    if time := _time(text, start, end, match.group()):
        return time
    values, step = _readings(match.group())
    if not values or (text[end : end + 1] and text[end] in _MONTH_SIGNS):
        return None  # a version, or a month
    money, at = _currency(text, max(after_last, 0), start)
    unit, factor, scale, end = _measured(text, end, is_money=bool(money))
    if money:
        start, unit, factor = at, money, 1.0
    elif not unit and (label := _labelled(text, start)):
        unit, factor = label
    following = text[end : end + 1]
    if (
        end == match.end()
        and (following.isalpha() or following == "_")
        and not UNSPACED_SIGN.match(following)
    ):
        return None
    lead = text[max(0, match.start() - 20) : start]
    number = _made(text, start, end, unit, factor, scale, values, step, lead)
    number.named = before == "#" or (before == "-" and text[match.start() - 2 : match.start() - 1].isalpha())
    return number


def _currency(text: str, last: int, start: int) -> tuple[str, int]:
    """The currency before a number, `$` or `EUR`, and where it begins."""
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
    text: str,
    start: int,
    end: int,
    unit: str,
    factor: float,
    scale: float,
    values: set[float],
    step: float,
    lead: str,
) -> Number:
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
    number.day = text.startswith(tuple(_DAY_SIGNS), end) or bool(
        text[end : end + 1] == "." and not text[end + 1 : end + 2].isdigit() and _ends_in(lead, _GERMAN_DAY)
    )
    whole = largest if scale == 1 and not unit and largest in range(25) else None
    if whole is not None and (_is_hour(lead) or text[end : end + 1] in tuple(_HOUR_SIGNS)):
        number.hours = frozenset(
            (60 * whole % 1440, (60 * whole + 720) % 1440) if whole <= 12 else (60 * whole % 1440,)
        )
    return number


def _readings(written: str) -> tuple[set[float], float]:
    """What digits may mean, and the step of the last of them: `1.200` is 1.2 or 1200."""
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
    """The unit, how much of it, and the scale of a number that ends here, and where those end."""
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
    if name == "per" and text[word.end() : word.end() + 5] == " cent":
        return "%", 1.0, scale, word.end() + 5
    if glued and word[1] == "G":
        return "B", 1e9, scale, word.end()
    if name in _UNITS and _is_unit(word[1], name, glued=glued):
        return (*_UNITS[name], scale, word.end())
    if name in ("cent", "cents", "ct"):
        return _CENTS, 1.0, scale, word.end()
    if (glued and name == "st") or name in ("nd", "rd", "th"):
        return ORDINAL, 1.0, scale, word.end()
    if glued and name == "x":
        return "", 1.0, scale, word.end()
    return "", 1.0, scale, end


def _is_unit(written: str, name: str, *, glued: bool) -> bool:
    """Whether a word after a number is a unit: a single letter only right behind it, or in the case of its unit."""
    if len(name) > 1 or not name.isalpha():
        return name not in ("an", "mi") or glued
    return (written in "CFWgmlhsB" if glued else written in "CFWgmlhs") or (glued and name != "b")


def _labelled(text: str, start: int) -> tuple[str, float] | None:
    """The unit that the name of a field before a number has: `takes minutes: 90`, `price eur per kwh: 0.44`."""
    if text[max(0, start - 2) : start].rstrip("-") != ": " and text[max(0, start - 3) : start] != ": -":
        return None
    label = text[max(0, start - 60) : start].rstrip(": -")
    words = lowered(label[max(map(label.rfind, ";>\n")) + 1 :]).split()
    units = [_UNITS[word] for word in words if word in _UNITS]
    money = next((unit for unit in units if unit[0] in MONEY), None)
    is_unit = words and words[-1] in _UNITS and (len(words) > 1 or len(words[-1]) > 2)
    return money or (units[-1] if is_unit else None)


def _time(text: str, start: int, end: int, digits: str) -> Number | None:
    """The time of day in these digits: `17:00`, `9.30 am`, `17h30`, `17 Uhr`, `5 o'clock`."""
    hour, point, minutes = digits.partition(".")
    if len(hour) > 2 or "," in hour or int(hour) > 24 or (point and len(minutes) != 2):
        return None
    clock = _CLOCK.match(text, end) if not point else None
    end = clock.end() if clock else end
    following = text[end : end + 2].lstrip()[:1].lower()
    half = _HALF_DAY.match(text, end) if following in ("a", "p") else None
    mark = _HOUR_MARK.match(text, end) if following in ("u", "h", "o") else None
    if not half and not mark and not clock:
        return _of_next_time(text, start, end, digits)
    minute = int((clock and clock[1]) or minutes or (mark and (mark[1] or mark[2])) or 0)
    end = max(end, *(each.end() for each in (half, mark) if each), 0)
    is_stamp = text[start - 1 : start] in ("T", "t")
    if is_stamp and (zone := _ZONE.match(text, end)):
        end = zone.end()
    is_exact = is_stamp or (hour[0] == "0" and len(hour) == 2 and not half)
    return _time_of(text, start, end, int(hour), minute, half=half[1] if half else None, exact=is_exact)


def _time_of(
    text: str, start: int, end: int, hour: int, minute: int, *, half: str | None, exact: bool = False
) -> Number:
    if half:
        hour = hour % 12 + (12 if half in "pP" else 0)
    times = {60 * (hour % 24) + minute}
    if not half and not exact and hour <= 12:
        times.add(60 * ((hour + 12) % 24) + minute)
    number = Number(text, start, end, TIME, frozenset(map(float, times)))
    lead = text[max(0, start - 20) : start]
    number.about = _ends_in(lead, _ABOUT)
    number.slack = _NEARLY if number.about else 0.0
    return number


_TIME_AFTER = lazy(
    r" ?(?:[-–—]|to|and|until|till|und|bis|et|à|y|a) ?[012]?\d(?:(?:[:.][0-5]\d)? ?(?:([ap])(?:m\b|\.m)|uhr\b|h\b)|:[0-5]\d(?![\d:]))",
    re.IGNORECASE,
)
_LAST_OF_TWO = lazy(r"\d ?[-–] ?\Z|\b(?:à|las|entre|et|de|a|y) \Z")


def _of_next_time(text: str, start: int, end: int, digits: str) -> Number | None:
    """The 2 of `2-4 pm`, and the hours of `de 9 h à 17 h`."""
    if not digits.isdigit():
        return None
    following = text[end : end + LONGEST_JOINT]
    other = _TIME_AFTER.match(text, end) if any(map(str.isdigit, following)) else None
    if other and text[start - 1 : start] not in ("-", "/", "."):
        return _time_of(text, start, end, int(digits), 0, half=other[1])
    sign = following.lstrip()
    is_hour = sign[:1] in ("h", "H") and not sign[1:2].isalnum()
    if is_hour and _LAST_OF_TWO.search(text, max(0, start - 7), start):
        return _time_of(text, start, text.index(sign[0], end) + 1, int(digits), 0, half=None)
    return None


LONGEST_JOINT = 9
"""Characters between the first of two times, and digits of the second."""


# Numbers in words ----------------------------------------------------------------------------------------------

_SIDES = {"past": 1, "nach": 1, "to": -1, "vor": -1}
_MINUTES = _WORDS | {"quarter": 15, "viertel": 15, "half": 30}
_LAST_HOUR = 12


def _in_words(folded: str, text: str) -> Iterator[Number]:
    """Numbers in words, also "one", "first" and "second", which are often not meant as numbers."""
    words = list(_DIGITS_OR_WORD.finditer(folded))
    at = 0
    while at < len(words):
        number = None
        if words[at].group() in _SPELLED:
            number, used = _clock_in_words(text, words, at) or _spelled(text, words, at)
            at += used - 1
        if number:
            number.spelled = True
            yield number
        at += 1


_DIGITS_OR_WORD = lazy(r"[^\W\d_]+|\d{1,2}")


def _clock_in_words(text: str, words: list[re.Match[str]], at: int) -> tuple[Number, int] | None:
    """`half past six`, `ten minutes to four`, `halb sieben`, `five o'clock`, `noon`: the time, and how many words it has."""
    near = [words[at]]
    for word in words[at + 1 : at + 4]:
        if word.start() != near[-1].end() + 1 or (
            word.group()[0].isdigit() and text[word.end() : word.end() + 1] == ":"
        ):
            break
        near.append(word)
    texts = [word.group() for word in near]
    start, first = words[at].start(), texts[0]
    if first in _NAMED_TIMES:
        return Number(text, start, words[at].end(), TIME, frozenset([_NAMED_TIMES[first]])), 1
    size = 2 if texts[1:2] == ["minutes"] else 1
    side = _SIDES.get(texts[size]) if len(texts) > size + 1 and first in _MINUTES else None
    if (
        side == -1
        and size == 1
        and texts[size] == "to"
        and first in _WORDS
        and text[start - 3 : start] != "at "
    ):
        side = None  # "five to ten" may be a range
    hour = _hour(texts[size + 1]) if side else None
    minute = side * _MINUTES[first] if side else 0
    if hour is None and first in ("half", "halb") and len(texts) > 1:
        hour, minute, size = _hour(texts[1]), (30 if first == "half" else -30), 0
    if hour is None and texts[1:3] == ["o", "clock"] and first in _WORDS:
        hour, minute, size = _hour(first), 0, 1
    if hour is None:
        return None
    used = size + 2
    total = 60 * hour + minute
    end = words[at + used - 1].end()
    return Number(text, start, end, TIME, frozenset((total % 1440.0, (total + 720) % 1440.0))), used


def _hour(word: str) -> int | None:
    value = int(word) if word.isdecimal() else _WORDS.get(word, 0)
    return value if 0 < value <= _LAST_HOUR else None


def _spelled(text: str, words: list[re.Match[str]], at: int) -> tuple[Number | None, int]:
    """A number in words, and how many words it has."""
    word, start, end, used = words[at].group(), words[at].start(), words[at].end(), 1
    if word in _HALVES or word in _NAMED_TIMES:
        return None, 1
    lead = text[max(0, start - 20) : start]
    if word in _ORDINALS:
        return Number(text, start, end, ORDINAL, frozenset([float(_ORDINALS[word])])), 1
    value = float(_WORDS[word])
    following = words[at + 1] if at + 1 < len(words) else None
    if word in _TENS and following and following.group() in _ONES and following.start() == end + 1:
        value, end, used = value + _ONES[following.group()], following.end(), 2
    unit, factor, scale, end = _measured(text, end)
    number = Number(text, start, end, unit, frozenset([round(value * scale * factor, 9)]))
    number.plain = frozenset([value * scale])
    number.about = _ends_in(lead, _ABOUT)
    number.slack = 0.1 * value * scale * factor if number.about else 0.0
    if scale == 1 and not unit and value <= _LAST_HOUR and _is_hour(lead):
        number.hours = frozenset((60 * value % 1440, (60 * value + 720) % 1440))
    return number, used


# What stands before a number -------------------------------------------------------------------------------------

_ABOUT = tuple(
    """about|around|roughly|approximately|approx.|some|near|nearly|almost|over|under|circa|ca.|~|≈|more than|less than|up to|at least
    |close to|just shy of|just below|bit below|slightly below|just above|bit above|slightly above|shortly before|shortly after
    |just before|just after|towards| gut| rund| etwa|ungefähr| knapp| fast| über|mehr als|weniger als|bis zu|mindestens|kurz vor|kurz nach|gegen
    | unos| unas| casi|más de|menos de|cerca de|alrededor de|aproximadamente|al menos|environ|près de|plus de|moins de
    |presque|jusqu'à|au moins""".replace("\n    ", "").split("|")
)
"""What calls the number after it approximate, in English, German, Spanish and French."""
_AT = (
    *(" at", " from", " to", " till", " until", " by", " before", " after", " and", " around", " between"),
    *(" um", " bis", " ab", " von", " und", " zwischen", " gegen", " vor", " nach"),
    *(" las", " la", " a", " de", " y", " entre", " à", " et", " vers"),
)
_GERMAN_DAY = (" am", " vom", " zum", " dem", " den", " der", " bis")


def _is_hour(lead: str) -> bool:
    """Whether a small number after this text may be an hour."""
    return lead.endswith(("-", "–")) or (_ends_in(lead, _AT) and not lead.endswith(("-", "−")))


def _ends_in(lead: str, words: tuple[str, ...]) -> bool:
    """Whether the text before a number ends in one of these words."""
    return f" {lead}".rstrip(" $€£(*−-").lower().endswith(words)


def _joined(found: list[Number], text: str) -> list[Number]:
    """The numbers, those of one length of time as one: `1 h 30 min`, `6m12s`."""
    done: list[Number] = []
    for number in found:
        last = done[-1] if done else None
        if last and number.start < last.end:
            continue
        ones, others = (_seconds(last) if last else frozenset()), _seconds(number)
        is_one = ones and others and SECONDS in (last and last.unit, number.unit) and min(others) < max(ones)
        if last and is_one and text[last.end : number.start] in ("", " ", " and ", ", ", " und "):
            whole = Number(
                text, last.start, number.end, SECONDS, frozenset(a + b for a in ones for b in others)
            )
            whole.plain, whole.about, whole.slack = frozenset(), last.about, last.slack
            done[-1] = whole
        else:
            done.append(number)
    return done


def _seconds(number: Number) -> frozenset[float]:
    """What a number may be in seconds; a lone `m` may stand for minutes."""
    if number.unit == SECONDS:
        return number.values
    return (
        frozenset([60 * min(number.values)]) if not number.unit and number.text.endswith("m") else frozenset()
    )
