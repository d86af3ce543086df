"""Both ends of what goes from one to another, exchanged."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

FLIGHT = {"flight": "KL1703", "origin": "AMS", "destination": "MAD"}
MEETING = {"title": "Design sync", "start": "2026-11-23T09:30", "end": "2026-11-23T10:15"}


def contradicted(source: Any, output: str) -> tuple[str, ...]:
    """What a source says otherwise."""
    (claim,) = claims(output)
    return support(claim, SourceText([json_source("evt-2", source)], [], []), ("wording",)).contradicted


@pytest.mark.parametrize(
    ("source", "output", "way"),
    [
        (FLIGHT, "KL1703 flies from MAD to AMS.", "from MAD to AMS"),
        (MEETING, "The design sync runs from 10:15 to 09:30.", "from 10:15 to 09:30"),
        (MEETING, "The design sync is on, from 10:15 until 09:30, in Atlas.", "from 10:15 until 09:30"),
    ],
)
def test_turned_round(source: Any, output: str, way: str) -> None:
    """Words and times."""
    assert way in contradicted(source, output)


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (FLIGHT, "KL1703 flies from AMS to MAD."),
        (FLIGHT, "KL1703 flies to MAD from AMS."),
        (MEETING, "The design sync runs from 09:30 to 10:15."),
        ({"price": 12, "start": "2026-11-23T09:30"}, "The price went from 12 to 9:30 of work."),
    ],
)
def test_as_it_is(source: Any, output: str) -> None:
    """Or there are no such fields."""
    assert contradicted(source, output) == ()
