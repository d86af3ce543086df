"""From what to what something changed, and what is compared with what."""

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.contradictions import contradictions
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

RELEASE = "The option `retry` was renamed to `retries`, and its default changed from 3 to 2."
LATENCY = "At 9:11 the p95 went from 210 ms to 1.4 s, at 9:19 back to 220 ms."
BUS = "The bus will run every 30 minutes instead of every 40."
PRICE = "The price was cut from $40 to $30. The shop is open from 9 to 17."

CONCERT = "The spring concert has been moved from 12 March to 19 March because the hall is being repainted."
TICKETS = "Tickets cost €18 (previously €15)."


def contradicted(claim: str, source: str) -> tuple[str, ...]:
    """What a source says otherwise than a claim."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), ("wording",)).contradicted


@pytest.mark.parametrize(
    ("claim", "source", "found"),
    [
        ("The default of retries changed from 2 to 3", RELEASE, "2 to 3"),
        ("The default of retries is 3 instead of 2", RELEASE, "3 instead of 2"),
        ("The default is now 3 (previously 2)", RELEASE, "3 (previously 2"),
        ("The p95 went down from 1.4 s to 210 ms", LATENCY, "1.4 s to 210"),
        ("The bus runs every 40 minutes instead of every 30", BUS, "40 minutes instead of every 30"),
        ("The price went from $30 to $40", PRICE, "$30 to $40"),
        ("The price is $40, up from $30", PRICE, "$40, up from $30"),
        ("The shop is open from 17 to 9", PRICE, "17 to 9"),
        ("The concert was moved from 19 March to 12 March", CONCERT, "19 March to 12 March"),
        ("The concert is on 12 March instead of 19 March", CONCERT, "12 March instead of 19 March"),
        ("The concert is on 12 March", CONCERT, "12 March"),
        ("The shop's price is $40", PRICE, "$40"),
        ("Tickets cost €15 now", TICKETS, "€15"),
    ],
)
def test_changes_the_other_way_round(claim: str, source: str, found: str) -> None:
    """However either of them tells it."""
    assert found in contradicted(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The default of retries changed from 3 to 2", RELEASE),
        ("The default of retries is now 2, down from 3", RELEASE),
        ("The p95 rose to 1.4 s from 210 ms", LATENCY),
        ("The bus runs every 30 minutes, previously every 40", BUS),
        ("The price was $40 and is $30 now", PRICE),
        ("The price is 30, and the 40 are gone", PRICE),
        ("The concert is on 19 March", CONCERT),
        ("The concert was on 12 March", CONCERT),
        ("The concert is no longer on 12 March", CONCERT),
        ("The concert moves from 12 March to 19 March", CONCERT),
        ("The price is $30", PRICE),
        ("The shop is open from 9", PRICE),
        ("The shop starts at 9", PRICE),
        ("Tickets cost €18", TICKETS),
        (
            "The basic plan costs $40",
            "The fee was raised from $40 to $50, while the basic plan stays at $40.",
        ),
        ("It went from 3 to 2", "It went from 3 to 2, then from 2 to 3."),
        ("It went from 2 to 3", "It went from 3 to 2, then from 2 to 3."),
        ("It went from 2 km to 3 km", "It went from 3 h to 2 h, and 2 km, 3 km."),
    ],
)
def test_the_same_change(claim: str, source: str) -> None:
    """In other words, and changes of something else."""
    assert contradicted(claim, source) == ()


FISH = (
    "Juvenile cod exposed to noise swam 18 per cent slower and kept closer together than fish in quiet tanks."
)


@pytest.mark.parametrize(
    ("claim", "passage", "parts"),
    [
        ("The fish in quiet tanks swam slower than those exposed to noise.", FISH, ["slower than those"]),
        ("Steel is lighter than oak.", "As a rule, oak is lighter than steel.", ["lighter than oak"]),
        ("Trains have more delays than buses.", "Buses have more delays than trains.", ["delays than buses"]),
        ("Fish exposed to noise swam slower than those in quiet tanks.", FISH, []),
        ("Oak is lighter than steel.", "As a rule, oak is lighter than steel.", []),
        ("Steel is heavier than oak.", "As a rule, oak is lighter than steel.", []),
        ("It is more than 20 km.", "It is more than 20 km to the river.", []),
        ("Than oak.", "Oak than.", []),
    ],
)
def test_comparisons_the_other_way_round(claim: str, passage: str, parts: list[str]) -> None:
    """The sides of "than" are changed; with another comparative that is right."""
    assert [part for part in contradictions(claim, passage) if " than " in part] == parts


PLACES = (
    "From 1992 she worked for Delcan in Toronto. She was happy. She has two daughters and lives in Montreal."
)


@pytest.mark.parametrize(
    ("claim", "source", "found"),
    [
        ("She lives in Toronto", PLACES, ("lives in Toronto",)),
        ("She lives in Montreal", PLACES, ()),
        ("She worked in Toronto", PLACES, ()),
        ("She works in Turin", "She works in Vienna and Turin.", ()),
        ("She works in Vienna", "She works in Vienna and Turin.", ()),
        ("Her son lives in Oslo", "She lives in Rome. Ada saw Oslo. Her son lives in Oslo.", ()),
        ("On Monday it opens in Rome", "On Monday it closes. In May it opens in Rome.", ()),
    ],
)
def test_names_in_the_place_of_others(claim: str, source: str, found: tuple[str, ...]) -> None:
    """Where the words beside the name stand beside another one only, also in a passage that does not have the name."""
    assert contradicted(claim, source) == found
