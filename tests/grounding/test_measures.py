"""Numbers beside units of measure."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import Check, support

CHECKS: tuple[Check, ...] = ("numbers", "dates", "urls", "names", "quotes", "wording")


def unsupported(claim: str, source: Any, checks: tuple[Check, ...] = CHECKS) -> tuple[str, ...]:
    """The facts of one claim that a source does not have."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), checks).unsupported


@pytest.mark.parametrize(
    ("claim", "source", "found"),
    [
        ("The ride takes 90 hours", "The ride takes 90 minutes.", ("90 hours",)),
        ("The ride takes ninety hours", "The ride takes 90 minutes.", ("ninety hours",)),
        ("A 10-mile trail leads there", "A 10 km trail leads there.", ("10-mile",)),
        ("It gets 31°F in the sun", "It gets 31 °C in the sun.", ("31°F",)),
        ("It gets 25 to 31 °C in the sun", "It gets 24 to 31 °C in the sun, for 25 minutes.", ("25",)),
        ("Rates are 140 % in town", "There are 140 beds in town.", ("140 %",)),
        ("Rates in town are $18", "In town, 18 of 42 lifts are open.", ("$18",)),
        ("The ride takes 90 hours", {"ride": "north", "takes_minutes": 90}, ("90 hours",)),
        ("It is 31 °F in Porto", {"city": "Porto", "temp_c": 31}, ("31 °F",)),
        ("It is 31 °C in Porto", {"city": "Porto", "temp_f": 31}, ("31 °C",)),
        ("The ride takes 90 hours", {"Minutes": 90}, ("90 hours",)),
        ("La ruta dura 3 días", "La ruta dura 3 horas.", ("3 días",)),
        ("The limit is 60 kilometres per hour", "The limit is 60 mph.", ("60 kilometres per hour",)),
        ("The limit is 60 km/h", {"limit_mph": 60}, ("60 km/h",)),
    ],
)
def test_another_unit_is_another_quantity(claim: str, source: Any, found: tuple[str, ...]) -> None:
    """It is shown with the number; the wording plays no part."""
    assert unsupported(claim, source) == found
    assert unsupported(claim, source, ("numbers",)) == found


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The ride takes 90 min", "The ride takes 90 minutes."),
        ("It gets 24 to 31 °C in the sun", "It gets 24-31 °C in the sun."),
        ("In 25 minutes: four eggs", "4 eggs; 25 minutes."),
        ("Opening hours: 9 to 5", "Opening hours: 9 am to 5 pm"),
        ("It is on the third floor", "It is on floor 3 beds."),
        ("The ride takes 90 minutes", "It is a 90-minute ride."),
        ("The ride takes 90 minutes", "The ride takes ninety minutes."),
        ("The ride takes 90 minutes", "The ride takes 90."),
        ("The ride takes 90", "The ride takes 90 minutes."),
        ("The ride takes 90 minutes", "The ride takes 90 hours. By night the ride takes 90 minutes."),
        ("Die Fahrt dauert 90 Minuten", "The ride (Fahrt) takes 90 minutes."),
        ("It is 5 °C in Porto", {"city": "Porto", "temp_min": 5}),
        ("It is 31 degrees Celsius in Porto", "It is 31 °C (in Celsius) in Porto."),
        ("The range is 80 km", {"range_km": 80}),
        ("The way takes 12 days", "The way takes the following. a: 9 b: 7 c: 12"),
        ("Rain falls on 12 days", {"rain": True, "day": 12}),
        ("It costs 5 miles de euros", "It costs 5 miles de euros."),
        ("They worked 10 long days", "They worked 10 hours."),
        ("It is 31 degrees Celsius in Porto", "It is 31 °C in Porto."),
        ("The limit is 60 miles an hour", "The limit is 60 mph."),
        ("The limit is 80 kilometers per hour", "The limit is 80 km/h."),
        ("Das Limit ist 80 Kilometer pro Stunde", "Das Limit ist 80 km/h."),
        ("The limit is 80 kilometers", "The limit is 80."),
    ],
)
def test_the_same_unit_or_none(claim: str, source: Any) -> None:
    """Units have several spellings; where one side has none, the number decides."""
    assert unsupported(claim, source) == ()


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("In Porto it is sunny with 31 degrees", "Porto is sunny, 31 °C."),
        ("The wind in Porto is 12 kilometers per hour", "Porto: wind 12 km/h."),
        ("The film takes 90 minutes", "The film takes 90 min."),
    ],
)
def test_a_unit_in_words_is_no_wording_that_a_source_would_have_to_have(claim: str, source: Any) -> None:
    (only,) = claims(f"- {claim}")
    found = support(only, SourceText([json_source("evt-2", source)], [], []), CHECKS)
    assert (found.missing, found.holds(0.66)) == ((), True)


def test_a_unit_is_told_with_its_number_only() -> None:
    """Though what no source knows looks like a name."""
    assert unsupported("The disk takes 150 MW", "The disk takes 90 W.") == ("150", "MW")
    assert unsupported("The backup has 150 GB", "The backup has 90 MB.") == ("150 GB",)
    assert unsupported("The backup has 90 GB", "The backup has 90 MB.") == ("90 GB",)
