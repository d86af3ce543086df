"""Two objects that a claim compares, and the first or the last of a list, against their numbers and dates."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

ISSUES = [
    {"title": "Crash on save", "comments": 14, "opened": "2026-10-02", "closed": None},
    {"title": "French translation", "comments": 0, "opened": "2026-11-03", "closed": None},
    {"title": "Upload timeout", "comments": 21, "opened": "2026-11-10", "closed": None},
]
ROOMS = {"hall": {"temp": 19.5, "size": "12 m2"}, "attic": {"temp": 17, "size": "30 m2"}}
TOWNS = [{"town": "Oslo", "temp": -5}, {"town": "Bergen", "temp": -2}, {"town": "Turin", "temp": 9}]
PRICES = {"currency": "USD", "prices": {"ACME": 142.17, "NIMB": 38.05, "ORCA": 211.9, "VELA": 76.44}}
SPENT = [{"what": "Rent", "amount": -1150.0}, {"what": "Groceries", "amount": -64.2}]
FLIGHTS = {
    "flights": [
        {"flight": "LH2305", "departs": "2026-12-03T18:05", "arrives": "2026-12-03T20:40", "fare": 142},
        {"flight": "IB3721", "departs": "2026-12-03T10:40", "arrives": "2026-12-03T14:05", "fare": 98},
    ]
}


def contradicted(source: Any, output: str) -> tuple[str, ...]:
    """What a source says otherwise."""
    (claim,) = claims(output)
    return support(claim, SourceText([json_source("evt-2", source)], [], []), ("wording",)).contradicted


@pytest.mark.parametrize(
    ("source", "output", "word"),
    [
        (ISSUES, "French translation has more comments than the crash on save.", "more"),
        (ISSUES, "The crash on save has fewer comments than French translation.", "fewer"),
        (ROOMS, "The attic is warmer than the hall.", "warmer"),
        (ROOMS, "It is colder in the hall than in the attic.", "colder"),
        (ROOMS, "The hall has a larger size than the attic.", "larger"),
        (TOWNS, "Turin is colder than Oslo.", "colder"),
        (TOWNS, "Bergen is the coldest.", "coldest"),
        (PRICES, "NIMB is the most expensive, at 38.05.", "most expensive"),
        (PRICES, "The cheapest is ORCA.", "cheapest"),
        (FLIGHTS, "LH2305 departs before IB3721.", "before"),
        (FLIGHTS, "LH2305 leaves before IB3721.", "before"),
        (FLIGHTS, "IB3721 arrives later than LH2305.", "later than"),
        (FLIGHTS, "LH2305 is cheaper than IB3721.", "cheaper"),
        (FLIGHTS, "IB3721 is more expensive than LH2305.", "more"),
        (ISSUES, "The oldest issue is French translation.", "oldest"),
        (ISSUES, "The most recent is the crash on save.", "most recent"),
        (FLIGHTS, "The earliest flight is LH2305.", "earliest"),
    ],
)
def test_the_other_way_round(source: Any, output: str, word: str) -> None:
    """By every field that may be meant."""
    assert contradicted(source, output) == (word,)


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (ISSUES, "The crash on save has more comments than French translation."),
        (ISSUES, "French translation has more votes than the crash on save."),
        (ISSUES, "French translation hasn't more comments than the crash on save."),
        (ISSUES, "French translation has more comments than usual."),
        (ROOMS, "The hall is warmer than the attic."),
        (ROOMS, "The attic is brighter than the hall."),
        (TOWNS, "Oslo is colder than Bergen, and the coldest."),
        (SPENT, "The highest amount is the rent."),
        (SPENT, "The highest amount is the groceries."),
        (PRICES, "NIMB is the cheapest stock."),
        (PRICES, "ORCA is higher than NIMB."),
        (FLIGHTS, "IB3721 departs before LH2305."),
        (FLIGHTS, "LH2305 leaves after IB3721."),
        (FLIGHTS, "IB3721 is cheaper than LH2305."),
        (FLIGHTS, "LH2305 leaves before noon."),
        (ISSUES, "The oldest issue is the crash on save."),
        (ISSUES, "The latest is the upload timeout."),
        (FLIGHTS, "The earliest flight is IB3721."),
        (FLIGHTS, "The second earliest flight is LH2305."),
    ],
)
def test_as_it_is(source: Any, output: str) -> None:
    """Or nothing that the data tells."""
    assert contradicted(source, output) == ()
