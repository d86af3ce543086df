"""Clauses that say all that a claim says, but with another number or date."""

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

CONCERT = "Doors open at 18:00 and the concert starts at 18:30. Each family may bring four guests."
SCHOOL = "Year 4 will visit the canal museum on 5 March. Year 6 swimming is cancelled."
TOUR = (
    "The harbour tour (40 min) costs €6 extra and departs at 11:30. Last entry is 45 minutes before closing."
)
FERRY = "The Oban ferry leaves at 9:00 and arrives at 10:15. On Sunday the Oban ferry leaves at 8:00."
FOLLOWERS = "Ada has 735, 000 followers. While Ada has 750,000 followers there, Ben has 1.1 million."


def contradicted(claim: str, source: str) -> tuple[str, ...]:
    """What a source says otherwise than a claim."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), ("wording",)).contradicted


@pytest.mark.parametrize(
    ("claim", "source", "found"),
    [
        ("The concert starts at 18:00", CONCERT, "18:00"),
        ("Year 6 will visit a canal", SCHOOL, "6"),
        ("Year 6 will visit the canal museum", SCHOOL, "6"),
        ("Year 4 swimming is cancelled", SCHOOL, "4"),
        ("The harbour tour takes 45 minutes", TOUR, "45"),
        ("The harbour tour (45 min) departs at 11:30", TOUR, "45"),
        ("The Oban ferry leaves at 10:15", FERRY, "10:15"),
        (
            "The canal museum visit is on 6 March",
            "The canal museum visit is on 5 March, swimming on 6 March.",
            "6 March",
        ),
        (
            "The new canal museum in Leeds opened on 6 March",
            "The new canal museum in Leeds opened on 5 March. A canal race was held on 6 March.",
            "6 March",
        ),
    ],
)
def test_another_clause_has_the_number(claim: str, source: str, found: str) -> None:
    """The number is in the sources, but nobody says this of it."""
    assert contradicted(claim, source) == (found,)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The concert starts at 18:30", CONCERT),
        ("The harbour tour takes about 45 minutes", TOUR),
        ("It starts at 18:00", CONCERT),  # of what, it does not tell
        ("The show starts at 18:00", CONCERT),
        ("The harbour tour departs at 11:30", TOUR),
        ("The harbour tour costs 6 euros", TOUR),
        ("The Oban ferry leaves at 8:00", FERRY),
        ("The Oban ferry arrives at 10:15", FERRY),
        ("Ada has 735,000 followers", FOLLOWERS),
        ("The concert starts at 18:00", f"{CONCERT} {'x' * 600} the concert starts"),
        ("The concert starts at 18:00", CONCERT + " The concert starts." * 40),
        (
            "title: Chip maker posts record quarter; published: 2026-11-20",
            "title: Lab ships model; published: 2026-11-21\ntitle: Chip maker posts record quarter; published: 2026-11-20\n",
        ),
    ],
)
def test_what_may_be_so(claim: str, source: str) -> None:
    """Whatever another clause says: what is said of it somewhere, what is vague, and what is told at length."""
    assert contradicted(claim, source) == ()
