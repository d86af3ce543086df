"""Units of measure beside a number: "90 hours" are no 90 minutes, nor is `range_km: 80` a range of 80 miles.

Units of one spelling in English, German, Spanish and French are one unit. Letters that mean other things as well are none: `5 m`
may be millions, `temp_min` is no time.
"""

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
km/h kmh kph
mph
hectare hectares ha hektar hectáreas
acre acres
kwh
mwh
"""
_UNIT_OF = {name: names.split()[0] for names in _UNITS.strip().splitlines() for name in names.split()}
_AMBIGUOUS = frozenset("min h g l mi ha second day week month year hour foot".split())  # noqa: SIM905
"""Units that the name of a field means something else by: `temp_min`, `month`."""
_OF_FIELD = {"_c": "°c", "_f": "°f"}
_AFTER = lazy(
    r"[ \u00a0\u202f-]?(?:(?:degrees|grad|grados|degrés) )?(°[CF]|[^\W\d_]+(?:/h)?)(?![\w/²³]| de\b)"
)
_BEFORE = lazy(r"(_?[^\W_]+)[\"')]{0,2}: ?[\"']?\Z")


def is_measure(unit: str) -> bool:
    """Whether a unit of a number is one of these."""
    return unit in _UNIT_OF


def written_unit(text: str, end: int) -> str:
    """What stands after the number that ends here, if it is a unit: " hours", "km"."""
    after = _AFTER.match(text, end)
    return after.group() if after and after[1].lower() in _UNIT_OF else ""


def measure(text: str, start: int, end: int) -> str:
    """The unit of the number at these offsets: that written after it, or in the name of the field whose value it is; or empty."""
    after = _AFTER.match(text, end)
    if after and (unit := _UNIT_OF.get(after[1].lower())):
        return unit
    before = _BEFORE.search(text, max(0, start - 40), start)
    name = before[1].lower() if before else ""
    word = name.removeprefix("_")
    return _OF_FIELD.get(name) or ("" if word in _AMBIGUOUS else _UNIT_OF.get(word, ""))
