"""Temperatures: in words and in signs, above and below zero."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import Check, Support, support

CHECKS: tuple[Check, ...] = ("numbers", "dates", "urls", "names", "quotes", "wording")


def judged(claim: str, source: Any) -> Support:
    """One claim beside a source."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), CHECKS)


OSLO = "Oslo expects light snow and -5 °C on Friday, and 3 °C on Sunday."
TROMSO = "Temperatures between \u22128 and \u22123 °C are expected in Tromsø tonight."
NOW = {"city": "Oslo", "conditions": "light snow", "temp_c": -5, "feels_like_c": -11}


@pytest.mark.parametrize(
    ("claim", "source", "found"),
    [
        ("On Friday Oslo expects light snow and 5 °C", OSLO, "5 °C"),
        ("On Friday Oslo expects light snow and 5 degrees", OSLO, "5 degrees"),
        ("On Friday Oslo expects light snow and five degrees Celsius", OSLO, "five degrees Celsius"),
        ("On Sunday Oslo expects light snow and -3 °C", OSLO, "-3 °C"),
        ("On Sunday Oslo expects light snow and minus three degrees", OSLO, "minus three degrees"),
        ("Tromsø expects temperatures of 8 to 3 °C tonight", TROMSO, "3 °C"),
        ("Light snow in Oslo at 5 °C", NOW, "5 °C"),
        ("Oslo has light snow at -5 °C and feels like 11 °C", NOW, "11 °C"),
        ("Hoy Oslo tiene nieve y 5 grados", "Hoy Oslo tiene -5 °C y nieve.", "5 grados"),
        (
            "The samples are stored at 20 °C in the freezer",
            "Store the samples in the freezer at \u201320 °C.",
            "20 °C",
        ),
        ("On Friday Oslo expects light snow and 5 °C", "-5 °C and light snow on Friday in Oslo.", "5 °C"),
        (
            "On Friday Oslo expects light snow and 5 °F",
            "Oslo expects light snow and -5 °F on Friday.",
            "5 °F",
        ),
        ("On Friday it is minus 5 °C in Oslo", "On Friday it is 5 °C in Oslo.", "minus 5 °C"),
        ("Minus 5 °C is what Oslo expects", "5 °C is what Oslo expects.", "Minus 5 °C"),
        ("On Friday Oslo expects light snow and 5 Celsius", OSLO, "5 Celsius"),
        (
            "On Friday Oslo expects light snow and 5 Fahrenheit",
            "Oslo expects light snow and -5 °F on Friday.",
            "5 Fahrenheit",
        ),
        ("-5 °C is what Oslo expects", "5 °C is what Oslo expects.", "-5 °C"),
    ],
)
def test_the_wrong_side_of_zero_is_a_contradiction(claim: str, source: Any, found: str) -> None:
    """It is shown with its minus and its unit."""
    assert judged(claim, source).contradicted == (found,)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("On Friday Oslo expects light snow and -5 °C", OSLO),
        ("On Friday Oslo expects light snow and \u22125°C", OSLO),
        ("On Friday Oslo expects light snow and minus 5 degrees", OSLO),
        ("On Friday Oslo expects light snow and minus five degrees Celsius", OSLO),
        ("On Friday Oslo expects light snow and 5 degrees below zero", OSLO),
        ("On Friday Oslo expects light snow and -5 °C", "Oslo expects light snow and minus 5 °C on Friday."),
        ("On Friday Oslo expects 5 °C below zero", "Oslo expects minus 5 °C on Friday."),
        ("Oslo is 5 °C colder on Friday", "Oslo: change of temperature on Friday: -5 °C, colder."),
        ("Tromsø expects temperatures of -8 to -3 °C tonight", TROMSO),
        ("Tromsø expects temperatures of minus 8 to minus 3 degrees tonight", TROMSO),
        ("Keep the vaccine at 8 °C in the fridge", "Keep the vaccine in the fridge at 2-8 °C."),
        ("Keep the vaccine at 8 °C in the fridge", "Keep the vaccine in the fridge at 2 °C \u20138 °C."),
        ("Oslo has light snow at -5 °C and feels like minus 11 degrees", NOW),
        ("Hoy Oslo tiene nieve y menos 5 grados", "Hoy Oslo tiene -5 °C y nieve."),
        ("Hoy Oslo tiene nieve y 5 grados bajo cero", "Hoy Oslo tiene -5 °C y nieve."),
        (
            "On Friday Oslo expects light snow and -5 °C",
            "Oslo expects light snow and 5 °C below zero on Friday.",
        ),
        ("Keep the vaccine at 8 °C in the fridge", "2-8 °C in the fridge is where to keep the vaccine."),
        ("Turn the valve by 90 degrees to the right", "Turn the valve 90° to the right."),
    ],
)
def test_the_same_temperature_is_supported_however_it_is_written(claim: str, source: Any) -> None:
    """Words for a minus and for a unit are no wording that the source would have to have."""
    found = judged(claim, source)
    assert (found.contradicted, found.unsupported, found.holds(0.66)) == ((), (), True)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The change was 1.2 percent", "The change was -1.2 percent."),
        ("The balance of the account is 120", {"account": "main", "balance": -120}),
    ],
)
def test_other_numbers_have_no_sign(claim: str, source: Any) -> None:
    """A fall of 5 % is -5 %."""
    assert judged(claim, source).contradicted == ()
