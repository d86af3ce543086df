"""Units of measure beside a number: "90 hours" are no 90 minutes, nor is `range_km: 80` a range of 80 miles.

Units of one spelling in English, German, Spanish and French are one unit. Letters that mean other things as well are none: `5 m`
may be millions, `temp_min` is no time.
"""

from agenteval.grounding.quantity import METRES
from agenteval.lazyregex import lazy

_UNITS = """
millisecond milliseconds ms
second seconds sec secs sekunde sekunden segundo segundos seconde secondes
minute minutes min mins minuten minuto minutos
hour hours hr hrs h stunde stunden hora horas heure heures
day days tag tage tagen día días jour jours
week weeks woche wochen semana semanas semaine semaines
month months monat monate monaten mes meses mois
year years yr yrs jahr jahre jahren año años ans année années
decade decades jahrzehnt jahrzehnte década décadas décennie décennies
mm millimetre millimetres millimeter millimeters milímetros millimètres
cm centimetre centimetres centimeter centimeters zentimeter centímetros centimètres
metre metres meter meters metern metro metros mètre mètres
km kms kilometre kilometres kilometer kilometers kilometern kilómetro kilómetros kilomètre kilomètres
mile miles mi meile meilen milla millas
foot feet ft
inch inches zoll
yard yards yd
mg milligram milligrams milligramm
gram grams g gramm gramo gramos gramme grammes
kg kilo kilos kilogram kilograms kilogramm kilogramo kilogramos kilogramme kilogrammes
ounce ounces oz
lb lbs
tonne tonnes ton tons tonnen toneladas
ml millilitre millilitres milliliter milliliters
litre litres liter liters l litern litro litros
gallon gallons
°c celsius
°f fahrenheit
km/h kmh kph kilometres/h kilometers/h kilometer/h kilómetros/h kilomètres/h stundenkilometer stundenkilometern
mph miles/h mile/h mi/h
m/s mps metres/s meters/s
hectare hectares ha hektar hectáreas
acre acres
watt watts w
kilowatt kilowatts kw
kwh
mwh
volt volts v
hertz hz
kilohertz khz
megahertz mhz
gigahertz ghz
decibel decibels dezibel db
hectopascal hectopascals hpa
byte bytes
kb kib kilobyte kilobytes
mb mib megabyte megabytes
gb gib gigabyte gigabytes
tb tib terabyte terabytes
"""
_UNIT_OF = {name: names.split()[0] for names in _UNITS.splitlines() for name in names.split()}
_AMBIGUOUS = frozenset("min h g l mi ha second day week month year hour foot".split())  # noqa: SIM905
"""Units that the name of a field means something else by: `temp_min`, `month`."""
_OF_FIELD = {"_c": "°c", "_f": "°f", "_s": "second", "_m": METRES}
_OF_FIELD |= {"_usd": "$", "_eur": "€", "_gbp": "£", "_jpy": "¥"}
_MONEY = lazy(r"(?i)\w_(usd|eur|gbp|jpy)(?:_\w+)?[\"')]{0,2}: ?[\"']?\Z")
"""The name of a field with an amount of money: `price_eur_per_kwh`."""
_AFTER = lazy(
    r"(?i)[ \u00a0\u202f-]?(?:(?:degrees?|grad|grados?|degrés?) )?(°[cf]|[^\W\d_]+(?:/[hs])?)"
    r"( (?:per|an|pro|por|par) (?:hour|stunde|hora|heure)| à l.heure)?(?![\w/²³]| de\b)"
)
_COUNTED = lazy(r" (?!(?:is|was|has|as|this)\b)[a-z]{2,}s\b")
_TO_ANOTHER = lazy(r" ?(?:-|\u2013|to|till|until) ?\d")
_DEGREES = lazy(r"(?i)[ \u00a0\u202f-]?(?:°|degrees?\b|grad\b|grados?\b|degrés?\b)")
_BELOW = lazy(r"(?i) (?:below|under|unter|bajo|sous) (?:zero|freezing|null|cero|zéro)\b")
_MINUS = lazy(r"(?i)\b(?:minus|negative|menos|moins) ?\Z")
_SPEED_MS = lazy(r"(?i)(?:wind|speed|gusts?|velocity)\w*?[_ ]ms[\"')]{0,2}: ?[\"']?\Z")
"""The name of a field in metres per second: of others `ms` are milliseconds."""
_LASTING = lazy(
    r"(?i)(?:duration|length|delay|wait|travel|walk|ride|drive|cook|prep|total|elapsed)(?:[_ ][a-z]+){0,3}[_ ]?(?:min|h)[\"')]{0,2}: ?[\"']?\Z"
)
"""The name of a field in minutes or hours: `temp_min` is the least."""
_LEAST_OF = lazy(
    r"(?i)(?:temp\w*|price|cost|salary|age|speed|wind|rate|value|level|score|amount|qty|quantity|size|count|stay|version)\Z"
)
"""What a field before `_min` is the least of, and no length of time."""
_LONGEST_OBJECT = 1_000
_BEFORE = lazy(r"(_?[^\W_]+)[\"')]{0,2}: ?[\"']?\Z")


def names_of(unit: str) -> list[str]:
    """All the names of a unit, in lower case."""
    return [name for name, each in _UNIT_OF.items() if each == unit]


def _is_least(text: str, end: int) -> bool:
    """Whether a field whose name ends in `_min` here is the least of something: of some things, or beside a `_max`."""
    name = text[max(0, end - 40) : end].split()[-1:]
    stem = name[0].strip("\"'(") if name else ""
    around = text[max(0, end - _LONGEST_OBJECT) : end + _LONGEST_OBJECT]
    return not stem or bool(_LEAST_OF.search(stem)) or f"{stem}_max" in around


def unit_of(name: str) -> str:
    """The unit that has this name, or nothing: `decibel` for `dB`."""
    return _UNIT_OF.get(name.lower(), "")


def is_unit(word: str) -> bool:
    """Whether a word is the name of a unit."""
    return word.lower() in _UNIT_OF


def is_measure(unit: str) -> bool:
    """Whether a unit of a number is one of these."""
    return unit in _UNIT_OF


def unit_end(text: str, end: int) -> int:
    """Where the unit ends that is written after the number that ends here: " hours", "km", "degrees below zero"; there, if none is."""
    unit, at = _written(text, end)
    if not unit:
        degrees = _DEGREES.match(text, end)
        at = degrees.end() if degrees else end
    below = _BELOW.match(text, at)
    return below.end() if below else at


def is_degrees(text: str, end: int) -> bool:
    """Whether the number that ends here is a temperature, or another number of degrees."""
    return _written(text, end)[0] in ("°c", "°f") or bool(_DEGREES.match(text, end))


def sign_start(text: str, start: int) -> int:
    """Where a minus in words begins that stands before the number that begins here; there, if none does."""
    minus = _MINUS.search(text, max(0, start - 10), start)
    return minus.start() if minus else start


def measure(text: str, start: int, end: int) -> str:
    """The unit of the number at these offsets: that written after it, or in the name of the field whose value it is; or empty."""
    if unit := _written(text, end)[0]:
        return unit
    before = _BEFORE.search(text, max(0, start - 40), start)
    name = before[1].lower() if before else ""
    word = name.removeprefix("_")
    if word in ("min", "h") and _LASTING.search(text, max(0, start - 40), start):
        return _UNIT_OF[word]
    if name == "_min" and before and not _is_least(text, before.start()):
        return "minute"
    if money := _MONEY.search(text, max(0, start - 40), start):
        return _OF_FIELD[f"_{money[1].lower()}"]
    if word == "ms" and _SPEED_MS.search(text, max(0, start - 40), start):
        return "m/s"
    if (word == "hours" and _TO_ANOTHER.match(text, end)) or _COUNTED.match(text, end):
        return ""  # when something is open; "25 minutes: 4 eggs"
    return _OF_FIELD.get(name) or ("" if word in _AMBIGUOUS else _UNIT_OF.get(word, ""))


def _written(text: str, end: int) -> tuple[str, int]:
    """The unit that is written after a number, and where it ends; or an empty one."""
    after = _AFTER.match(text, end)
    if not after:
        return "", end
    name = after[1].lower()
    if after[2] and (unit := _UNIT_OF.get(f"{name}/h")):
        return unit, after.end()
    if name == "s" and (text[end - 1 : end + 1] != "0s"):  # no 1980s, no 90s
        return "second", after.end(1)
    if text[end : after.end(1)] == "G":  # no gram: `24G`
        return "gb", after.end(1)
    return _UNIT_OF.get(name, ""), after.end(1)
