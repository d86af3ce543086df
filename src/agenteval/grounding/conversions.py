"""Quantities in other units of measure: `90 minutes` are `1.5 h`, `1500 m` are `1.5 km`, `62 miles` are 100 km, `88 °F` are 31 °C.

What is converted is rounded: by half of the last digit that is told, or 5 % at most.
"""

from collections.abc import Iterator
from decimal import Decimal
from itertools import product

from agenteval.grounding.durations import DURATION, seconds_of_clock
from agenteval.grounding.measures import names_of, unit_of
from agenteval.grounding.quantity import METRES, NEARLY, Quantity, rounding

_KINDS = """
millisecond=0.001 second=1 minute=60 hour=3600 day=86400 week=604800
month=1 year=12 decade=120
mm=0.001 cm=0.01 metre=1 km=1000 inch=0.0254 foot=0.3048 yard=0.9144 mile=1609.344
mg=0.001 gram=1 kg=1000 tonne=1000000 ounce=28.349523125 lb=453.59237
ml=0.001 litre=1
km/h=1 mph=1.609344 m/s=3.6
acre=0.40468564224 hectare=1
kwh=1 mwh=1000
watt=1 kilowatt=1000
hertz=1 kilohertz=1000 megahertz=1000000 gigahertz=1000000000
byte=1 kb=1000|1024 mb=1000000|1048576 gb=1000000000|1073741824 tb=1000000000000|1099511627776
"""
"""The units of each kind: by powers of 1000 or of 1024, those of data."""


def _units(kind: str) -> Iterator[tuple[str, Decimal]]:
    for unit, _, factors in (each.partition("=") for each in kind.split()):
        yield from ((unit, Decimal(factor)) for factor in factors.split("|"))


_FACTORS: dict[str, list[tuple[str, Decimal, Decimal]]] = {}
for _kind in _KINDS.splitlines():
    for (_unit, _one), (_other, _another) in product(_units(_kind), repeat=2):
        if _unit != _other or _one == _another:  # GB are by 1000 or by 1024 in all places alike
            _FACTORS.setdefault(_unit, []).append((_other, _one, _another))
"""The units that each unit may be converted to, itself included, and how many of the kind's unit both are."""
_FACTORS[METRES] = _FACTORS["metre"]
_FREEZING, _STEPS = Decimal(32), Decimal("1.8")


def converted(quantity: Quantity) -> Iterator[tuple[str, Decimal, Decimal]]:
    """The other units in which a quantity may be told, each with the bounds of the number there."""
    for least, most in _bounds(quantity):
        if quantity.unit in (DURATION, ":"):
            yield from _in_units("second", least, most)
        elif quantity.unit == "°c":
            for low, high in ((least, most), (-most, -least)):  # numbers have no sign
                yield "°f", *_unsigned(low * _STEPS + _FREEZING, high * _STEPS + _FREEZING)
        elif quantity.unit == "°f":
            for low, high in ((least, most), (-most, -least)):
                yield "°c", *_unsigned((low - _FREEZING) / _STEPS, (high - _FREEZING) / _STEPS)
        else:
            found = _in_units(quantity.unit, least, most)
            yield from (each for each in found if each[0] != quantity.unit)


def ways_to_write(name: str) -> list[str]:
    """All names, in lower case, of the unit that has this name, and of those that it may be converted to: `watt` for `kW`."""
    unit = unit_of(name)
    units = dict.fromkeys([unit, *(other for other, _, _ in _FACTORS.get(unit, ()))])
    return [way for each in units for way in names_of(each)]


def in_seconds(quantity: Quantity) -> list[tuple[Decimal, Decimal]]:
    """The bounds of a length of time in seconds; none, if a quantity is no such."""
    unit = "second" if quantity.unit in (DURATION, ":") else quantity.unit
    found = (each for bounds in _bounds(quantity) for each in _in_units(unit, *bounds))
    return [(least, most) for unit, least, most in found if unit == "second"]


def _in_units(unit: str, least: Decimal, most: Decimal) -> Iterator[tuple[str, Decimal, Decimal]]:
    for other, one, another in _FACTORS.get(unit, ()):  # in this order whole numbers stay whole
        yield other, least * one / another, most * one / another


def _bounds(quantity: Quantity) -> Iterator[tuple[Decimal, Decimal]]:
    """Within which bounds the exact number is, in the unit of a quantity, for each way to read it.

    What looks like a time of day may be a length of time, in seconds.
    """
    if quantity.unit == ":":
        yield from ((each, each) for each in seconds_of_clock(quantity.text))
        return
    for value in quantity.values:
        last = Decimal(1).scaleb(min(0, int(value.normalize().as_tuple().exponent)))
        if quantity.unit in ("°c", "°f"):
            nearly = last / 2
        else:
            nearly = value * (quantity.nearly if quantity.unit == DURATION else rounding(value, last))
        nearly = max(nearly, value * max(quantity.nearly, NEARLY) * quantity.about)
        yield value - nearly, value + nearly * (1 + quantity.over)


def _unsigned(least: Decimal, most: Decimal) -> tuple[Decimal, Decimal]:
    return (least, most) if most > 0 else (-most, -least)
