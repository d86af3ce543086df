"""What a claim calls more or less than a number, against the numbers of the objects it names."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import Source, json_source
from agenteval.grounding.support import Support, support

ROOMS = [
    {"room": "lab", "temp_c": 23.5, "people": 63},
    {"room": "office", "temp_c": 19.5, "people": 25},
]
HALLS = [
    {"name": "Hall A", "capacity": 80},
    {"name": "Hall B", "capacity": 40},
    {"name": "terrace", "capacity": 120},
]
HOSTS = [{"host": "web-1", "disk_pct": 91}, {"host": "web-2", "disk_pct": 40}]
SHARES = [{"host": "web-1", "disk": 0.91}, {"host": "web-2", "disk": 0.4}]
REPOS = [
    {"repo": "alpha", "stars": 4120, "open_issues": 12},
    {"repo": "beta", "stars": 900, "open_issues": 40},
]
DAYS = [{"day": "Monday", "low_c": -5, "high_c": 3}, {"day": "Tuesday", "low_c": 1, "high_c": 6}]
HOTELS = [{"name": "Kasa", "price_eur": 120, "km": 2}, {"name": "Blum", "price_eur": 95, "km": 4}]
ROUTES = [{"route": "A1", "duration_min": 95}, {"route": "B2", "duration_min": 50}]
CELLAR = {"room": "cellar", "temp_c": 9.5, "humidity": 71}
DISKS = {"disks": {"sda": 92, "sdb": 40}}


def judged(source: Any, output: str, asked: str = "") -> Support:
    """What a source, and a question, say to an output."""
    (claim,) = claims(output)
    said = [Source("evt-1", (asked,), ((),))] if asked else []
    return support(claim, SourceText([json_source("evt-2", source)], said, []), ("numbers", "wording"))


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (ROOMS, "The lab is above 20 °C."),
        (ROOMS, "The office isn't above 20 °C."),
        (ROOMS, "The office is below 20 °C, while the lab is above 20 °C."),
        (ROOMS, "More than 50 people are in the lab."),
        (HALLS, "Hall A and the terrace hold more than 50 people."),
        (HALLS, "Hall B does not hold more than 50 people."),
        (HOSTS, "web-1 is over 90% disk."),
        (SHARES, "web-1 is over 90% disk."),
        (REPOS, "alpha has more than 4,000 stars and fewer than 20 open issues."),
        (DAYS, "On Monday the low is below 0 °C."),
        (DAYS, "On Monday the low is below -4 °C."),
        (DAYS, "It stays below 10 °C on Monday."),
        (HOTELS, "Blum costs less than €100; Kasa is over €100."),
        (HOTELS, "Kasa is less than 3 km away."),
        (ROUTES, "A1 takes more than 90 minutes, B2 less than 60 minutes."),
        (CELLAR, "The cellar is below 10 °C."),
        (DISKS, "sda is above 90%."),
    ],
)
def test_holds(source: Any, output: str) -> None:
    """A number that no source has is known where the numbers of all that the claim names lie on its side."""
    found = judged(source, output)
    assert (found.unsupported, found.contradicted) == ((), ())


@pytest.mark.parametrize(
    ("source", "output", "number"),
    [
        (ROOMS, "The office is above 20 °C.", "20 °C"),
        (ROOMS, "The lab isn't above 20 °C.", "20 °C"),
        (ROOMS, "The lab and the office are above 20 °C.", "20 °C"),
        (ROOMS, "The lab is above 23.5 °C.", "23.5 °C"),
        (HALLS, "Hall A, Hall B and the terrace hold more than 50 people.", "50"),
        (HOSTS, "web-2 exceeds 90% disk.", "90%"),
        (SHARES, "web-2 exceeds 90% disk.", "90%"),
        (REPOS, "beta has more than 1,000 stars.", "1,000"),
        (DAYS, "On Tuesday the low is below 0 °C.", "0 °C"),
        (HOTELS, "Kasa is under €100.", "€100"),
        (CELLAR, "The cellar is above 10 °C.", "10 °C"),
    ],
)
def test_does_not_hold(source: Any, output: str, number: str) -> None:
    """The number is as unknown as before, and contradicted where somebody asked for it."""
    found = judged(source, output)
    assert found.unsupported + found.contradicted == (number,)
    asked = judged(source, output, f"Which are above or below {number}?")
    assert (asked.unsupported, asked.contradicted) == ((), (number,))


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (ROOMS, "All rooms are above 15 °C."),
        (ROOMS, "The lab could be above 20 °C."),
        (ROOMS, "The lab has at most 70 people."),
        (ROOMS, "The lab is above 70 °F."),
        (REPOS, "alpha has more than 3,000 of everything."),
        (HALLS, "The kitchen holds more than 70 people."),
        ("In the lab it was 31 °C at noon.", "In the lab it was above 20 °C."),
    ],
)
def test_is_not_clear(source: Any, output: str) -> None:
    """A number that no source has is unknown where it is not clear what it is compared with."""
    assert judged(source, output).unsupported != ()


@pytest.mark.parametrize(
    "output",
    [
        "All rooms are above 20 °C.",
        "Is it above 20 °C, the office is empty.",
        "The office may be above 20 °C.",
    ],
)
def test_is_not_contradicted(output: str) -> None:
    """Nor is one that somebody asked for contradicted there."""
    assert judged(ROOMS, output, "Which rooms are above 20 °C?").contradicted == ()
