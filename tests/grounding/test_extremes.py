"""What a claim calls the highest or the lowest, against the other objects of a list."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

HOTELS = {
    "hotels": [
        {"name": "Aster Hotel", "price": 120, "rating": 4.1, "walk": "300 m"},
        {"name": "Birch Inn", "price": 95, "rating": 3.9, "walk": "250 m"},
        {"name": "Cedar House", "price": 150, "rating": 4.7, "walk": "900 m"},
    ]
}
TOWNS = [{"town": "Oslo", "temp": -5}, {"town": "Bergen", "temp": -2}, {"town": "Turin", "temp": 9}]
FLIGHTS = {
    "KL12": {"fare": "€310", "hours": 9, "stops": 1},
    "LH40": {"fare": "€290", "hours": 14, "stops": 2},
    "AF77": {"fare": "from €280", "hours": 11, "stops": 1},
}


LAMPS = [{"lamp": "Kitchen", "brightness_pct": 100}, {"lamp": "Sofa", "brightness_pct": 35}]
FILMS = [
    {"film": "Stalker", "runtime_min": 163, "start": "15:00"},
    {"film": "Mirror", "runtime_min": 107, "start": "22:30"},
    {"film": "Solaris", "runtime_min": 167, "start": "20:45"},
]


def contradicted(source: Any, output: str) -> tuple[str, ...]:
    """What a source says otherwise."""
    (claim,) = claims(output)
    return support(
        claim, SourceText([json_source("evt-2", source)], [], []), ("numbers", "wording")
    ).contradicted


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (HOTELS, "The cheapest is Birch Inn at 95."),
        (HOTELS, "Cheapest: Birch Inn"),
        (LAMPS, "The Kitchen lamp is the brighter of the two."),
        (LAMPS, "The Sofa lamp is the dimmest of the two."),
        (FILMS, "The longest film on the programme is Solaris."),
        (FILMS, "The longest film on Monday is Stalker."),
        (FILMS, "Stalker is the longer of the two."),
        (HOTELS, "Birch Inn is the nearest, Cedar House has the best rating."),
        (FLIGHTS, "LH40 has the most stops."),
        (FLIGHTS, "KL12 takes the fewest hours, but is not the cheapest."),
        (FLIGHTS, "KL12 is the most popular."),
        (FLIGHTS, "KL12 has the most legroom, 9 of 10."),
        (HOTELS, "Cedar House has the highest rating, 4.7."),
        (HOTELS, "Cedar House is the most expensive hotel."),
        (HOTELS, "The cheapest hotel with a rating above 4 is Aster Hotel at 120."),
        (HOTELS, "The cheapest quiet hotel is Aster Hotel at 120."),
        (HOTELS, "The second cheapest is Aster Hotel at 120."),
        (HOTELS, "Aster Hotel is one of the cheapest, at 120."),
        (HOTELS, "Aster Hotel at 120 is not the cheapest."),
        (HOTELS, "Aster Hotel at 120 isn't the cheapest."),
        (HOTELS, "Among hotels with 4.1 the cheapest is Aster Hotel at 120."),
        (HOTELS, "The cheapest hotels, Birch Inn and Aster Hotel, are 95 and 120."),
        (HOTELS, "The cheapest are Aster Hotel and Birch Inn."),
        (HOTELS, "It is the cheapest."),
        (HOTELS, "After Birch Inn, Aster Hotel is the cheapest at 120."),
        (HOTELS, "Of Aster Hotel and Cedar House, Aster Hotel is the cheapest at 120."),
        (HOTELS, "Aster Hotel has the largest garden."),
        (HOTELS, "Birch Inn is the closest, 250 m."),
        (TOWNS, "Oslo is the coldest, at -5."),
        (FLIGHTS, "KL12 is the shortest, at 9 hours."),
        ({"hotel": "Aster", "price": 120}, "The cheapest is Aster at 120."),
        (
            [{"name": "Aster", "price": 120}, {"name": "Birch", "price": "on request"}],
            "The cheapest is Birch.",
        ),
        ([{"name": "Aster", "price": "$120"}, {"name": "Birch", "price": "€95"}], "The cheapest is Aster."),
    ],
)
def test_what_is_so_or_is_not_known(source: Any, output: str) -> None:
    """The claim is right, or is about some of the objects, or no number is meant that all of them have."""
    assert contradicted(source, output) == ()


@pytest.mark.parametrize(
    ("source", "output", "found"),
    [
        (HOTELS, "The cheapest is Aster Hotel at 120.", "cheapest"),
        (LAMPS, "The Sofa lamp is the brighter of the two.", "brighter"),
        (LAMPS, "The Kitchen lamp is the dimmest of the two.", "dimmest"),
        (FILMS, "The longest film on the programme is Mirror at 22:30.", "longest"),
        (FILMS, "Overall, the shortest film is Stalker.", "shortest"),
        (HOTELS, "The cheapest is Aster Hotel.", "cheapest"),
        (FLIGHTS, "KL12 has the most stops.", "most"),
        (HOTELS, "Cedar House is the closest.", "closest"),
        (HOTELS, "Aster Hotel is the best rated.", "best rated"),
        (HOTELS, "Birch Inn has the best rating.", "best rating"),
        (FLIGHTS, "LH40 takes the fewest hours.", "fewest"),
        (FLIGHTS, "LH40 has the least stops.", "least"),
        (HOTELS, "Cheapest: Aster Hotel (120)", "Cheapest"),
        (HOTELS, "Aster Hotel is the cheapest hotel.", "cheapest"),
        (HOTELS, "Aster Hotel is the cheapest at only 120.", "cheapest"),
        (HOTELS, "Birch Inn is the most expensive, at 95.", "most expensive"),
        (HOTELS, "Birch Inn is the least cheap and the most expensive.", "most expensive"),
        (HOTELS, "Aster Hotel has the highest rating, 4.1.", "highest"),
        (HOTELS, "Aster Hotel has the highest rating (4.1) and a price of 120.", "highest"),
        (HOTELS, "Cedar House has the lowest rating.", "lowest"),
        (HOTELS, "Aster Hotel is the closest, 300 m.", "closest"),
        (FLIGHTS, "LH40 is the shortest, at 14 hours.", "shortest"),
        (FLIGHTS, "KL12 is the cheapest.", "cheapest"),
    ],
)
def test_what_is_not_so(source: Any, output: str, found: str) -> None:
    """Another object has more, or less, by every number that may be meant."""
    assert contradicted(source, output) == (found,)
