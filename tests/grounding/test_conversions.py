"""Quantities in another unit of measure than the source's."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.grounding.claims import claims
from agenteval.grounding.conversions import converted
from agenteval.grounding.quantities import quantities
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import Support, support

OSLO = {"city": "Oslo", "temp_c": 31, "wind_ms": 5, "visibility_m": 9500, "distance_km": 100}


def judged(claim: str, source: Any) -> Support:
    """The numbers and names of one claim beside one source."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), ("numbers", "names"))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The lake is 1.5 km deep", "The lake is 1500 m deep."),
        ("The trail is 1500 m long", "The trail is 1.5 km long."),
        ("The trail is 1500 metres long", "The trail is 1.5 km long."),
        ("The parcel weighs 1.2 kg", "The parcel weighs 1200 g."),
        ("The parcel weighs 2.65 lbs", "The parcel weighs 1200 g."),
        ("Add 0.5 l of milk", "Add 500 ml of milk."),
        ("The field has 10 acres", "The field has 4.05 hectares."),
        ("Oslo: visibility 9.5 km", OSLO),
        ("Oslo: wind 5 m/s", OSLO),
        ("Oslo: wind 18 km/h", OSLO),
        ("Oslo: temp 88 °F", OSLO),
        ("Oslo: distance 62 miles", OSLO),
        ("It gets 14 °F in Oslo", "It gets -10 °C in Oslo."),
        ("It gets -10 °C in Oslo", "It gets 14 °F in Oslo."),
        ("It gets 0 °C in Oslo", "It gets 32 °F in Oslo."),
        ("It gets 2 °C in Oslo", "It gets 35 °F in Oslo."),
        ("It gets 1.7 °C in Oslo", "It gets 35 °F in Oslo."),
        ("It gets about 40 °C in Oslo", "It gets 107 °F in Oslo."),
        ("a.zip: size 1.5 MB", {"file": "a.zip", "size_bytes": 1_572_864}),
        ("a.zip: size 1.5 MB", {"file": "a.zip", "size_bytes": 1_500_000}),
        ("a.zip: size 1.5 kB", {"file": "a.zip", "size": 1536}),
        ("a.zip is 1.5 GB", "a.zip is 1536 MB"),
        ("a.zip is 24 GB", "a.zip is 24G"),
        ("a.zip is 505 MB", "a.zip is 505M"),
        ("The job used 2 GB", {"job_used_mb": 2048}),
        ("Revenue was 5 m", "Revenue was 5 million."),
    ],
)
def test_the_same_in_another_unit(claim: str, source: Any) -> None:
    """By 1000 or by 1024, as prefixes of data are used in both ways."""
    assert judged(claim, source).unsupported == ()


@pytest.mark.parametrize(
    ("claim", "source", "unsupported"),
    [
        ("The lake is 15 km deep", "The lake is 1500 m deep.", "15 km"),
        ("The trail is 1600 m long", "The trail is 1.5 km long.", "1600 m"),
        ("The parcel weighs 1.3 kg", "The parcel weighs 1200 g.", "1.3 kg"),
        ("Add 5 l of milk", "Add 500 ml of milk.", "5 l"),
        ("Oslo: wind 5 km/h", OSLO, "5 km/h"),
        ("Oslo: temp 90 °F", OSLO, "90 °F"),
        ("It gets 3 °C in Oslo", "It gets 36 °F in Oslo.", "3 °C"),
        ("It gets 1.6 °C in Oslo", "It gets 35 °F in Oslo.", "1.6 °C"),
        ("It gets 40 °C in Oslo", "It gets 107 °F in Oslo.", "40 °C"),
        ("The rope is 5.1 km long", "The rope is 5.16 m or 5160 m long.", "5.1 km"),
        ("Oslo: distance 60 miles", OSLO, "60 miles"),
        ("a.zip: size 1.5 GB", {"file": "a.zip", "size_bytes": 1_572_864}, "1.5 GB"),
        ("a.zip is 1.46 GB", "a.zip is 1.5 GB", "1.46 GB"),
        ("a.zip is 24 TB", "a.zip is 24G", "24 TB"),
        ("a.zip is 505 GB", "a.zip is 505M", "505 GB"),
        ("The job took 5 ms", {"job_took_mb": 5}, "5 ms"),
    ],
)
def test_another_quantity(claim: str, source: Any, unsupported: str) -> None:
    """In whatever unit."""
    assert judged(claim, source).unsupported == (unsupported,)


def test_milliseconds_are_no_metres_per_second() -> None:
    """`ms` in the name of a field is a speed only beside a word for one."""
    assert judged("The job took 5 ms", {"job_took_ms": 5}).unsupported == ()
    assert judged("The job took 5 m/s", {"job_took_ms": 5}).unsupported == ("5 m/s",)
    assert judged("The wind blows at 5 ms", {"wind_blows_speed_ms": 5}).unsupported == ("5 ms",)


@given(
    st.integers(1, 5000),
    st.sampled_from(["cm", "km", "g", "kg", "ml", "min", "h", "MB", "GB", "mph", "°C"]),
)
def test_there_and_back(number: int, unit: str) -> None:
    """What is converted to another unit is the number that it was, when it is converted back."""
    (quantity,) = quantities(f"{number} {unit}")
    found = list(converted(quantity))
    assert found
    for other, least, most in found:
        if other in ("mm", quantity.unit):  # mm are millions, too
            continue
        there = (least + most) / 2
        text = f"{there:.9f} {other}"
        back = [each for each in converted(quantities(text)[0]) if each[0] == quantity.unit]
        assert any(
            low <= number * Decimal("1.000001") and number * Decimal("0.999999") <= high
            for _, low, high in back
        )
