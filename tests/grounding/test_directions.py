"""Changes in the direction that a JSON object tells by a sign, or prose in another word."""

from typing import Any

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import Check, support

CHECKS: tuple[Check, ...] = ("numbers", "dates", "urls", "names", "quotes", "wording")
QUOTES = {
    "quotes": [
        {"symbol": "NVDA", "price": 187.65, "change": -3.29, "changePercent": "-1.72"},
        {"symbol": "MSFT", "price": 512.04, "change": 4.11, "changePercent": "0.81"},
    ]
}


def contradicted(claim: str, source: Any = QUOTES) -> tuple[str, ...]:
    """What a source says otherwise."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), CHECKS).contradicted


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("NVDA is up 1.72% at $187.65", "up 1.72%"),
        ("NVDA gained 1.72% to $187.65", "gained 1.72%"),
        ("NVDA: $187.65 (+1.72%)", "+1.72%"),
        ("NVDA: $187.65, 3.29 higher", "3.29 higher"),
        ("NVDA is at $187.65, up about 1.7%", "up about 1.7%"),
        ("MSFT fell 0.81% to $512.04", "fell 0.81%"),
        ("MSFT: $512.04 (\u22124.11)", "\u22124.11"),
        ("Up 1.72%, NVDA is at $187.65", "Up 1.72%"),
        ("NVDA is at $187.65, up about 2%", "up about 2%"),
    ],
)
def test_the_other_direction_is_a_contradiction(claim: str, found: str) -> None:
    assert contradicted(claim) == (found,)


@pytest.mark.parametrize(
    "claim",
    [
        "NVDA is down 1.72% at $187.65",
        "NVDA: $187.65 (-1.72%)",
        "NVDA: $187.65, change -3.29",
        "NVDA did not rise by 1.72%",
        "MSFT rose 0.81% to $512.04",
        "MSFT is at $512.04, up 4.11",
        "MSFT is at $512.04, 0.81%",
        "NVDA is at $187.65 and, as gold rose, moved 3.29",
        "NVDA is at $187.65 after it rose a lot last year and was the first of them all to do so",
    ],
)
def test_the_same_direction_and_none(claim: str) -> None:
    assert contradicted(claim) == ()


@pytest.mark.parametrize(
    ("claim", "source", "found"),
    [
        ("The index fell 2 points", {"index": "AEX", "change": "+2"}, "fell 2"),
        ("The index rose 2 points", {"index": "AEX", "points_change": -2}, "rose 2"),
        ("The index is 2 points higher", {"index": "AEX", "points_change": -2}, "2 points higher"),
        ("Profits rose by 5m", {"company": "ASM", "profits_change": -5_000_000}, "rose by 5m"),
    ],
)
def test_ways_to_write_a_change(claim: str, source: Any, found: str) -> None:
    """With a plus, under a longer name, in full where the claim is short."""
    assert contradicted(claim, source) == (found,)


@pytest.mark.parametrize(
    "claim",
    [
        "The index, which rose for most of the last ten years, is another by 2 points",
        "The index is another by 2 points in a session without trades, while gold rose",
    ],
)
def test_a_direction_far_from_the_number_is_that_of_something_else(claim: str) -> None:
    assert contradicted(claim, {"index": "AEX", "change": -2}) == ()


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The balance is up by 120", {"account": "main", "balance": -120}),
        ("The index rose 2 points", {"index": "AEX", "change": 2, "change_before": -2}),
        ("The index fell 0 points", {"index": "AEX", "change": 0}),
        ("The index rose 2 points", {"index": "AEX", "change": "+2"}),
    ],
)
def test_only_a_change_has_a_direction(claim: str, source: Any) -> None:
    """And only where all of that size go the same way."""
    assert contradicted(claim, source) == ()


PROSE = (
    "The firm had revenue of 4.8 billion, up 12 percent. Profit fell to 610 million from 702 million. "
    "Shares dropped 5.4 percent; gold rose 3 percent, then fell 3 percent. The rule reduced accidents by 28 percent."
)


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("Revenue of the firm fell 12% to 4.8 billion", "fell 12%"),
        ("Shares were 5.4% higher", "5.4% higher"),
        ("Shares rose by almost 5.4 percent", "rose by almost 5.4 percent"),
        ("Accidents rose by 28%", "rose by 28%"),
    ],
)
def test_prose_that_goes_the_other_way(claim: str, found: str) -> None:
    """However it is told there."""
    assert found in contradicted(claim, PROSE)


CHANGES = (
    "- Start-up is about 35 % faster because plugins load lazily\n- There is a new dark theme for the window\n"
    "- The train to Knokke is 6 minutes late\n- The tunnel cost 18 million more than planned"
)


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        (
            "The new start-up is 35 % slower because plugins load lazily, and there is a dark theme for the window",
            "35 % slower",
        ),
        ("The train to Knokke is 6 minutes early", "6 minutes early"),
        ("There is a dark theme for the new window, and the tunnel cost 18 million less", "18 million less"),
        ("The new start-up is 35 % faster because plugins load lazily, and there is a dark theme", ""),
        ("The tunnel cost 18 million more than planned, the train to Knokke is 6 minutes late", ""),
    ],
)
def test_prose_that_compares_the_other_way(claim: str, found: str) -> None:
    """Also in a part of a claim whose other part is told elsewhere."""
    assert [each for each in contradicted(claim, CHANGES) if each[0].isdigit()] == [found] * bool(found)


@pytest.mark.parametrize(
    "claim",
    [
        "Revenue of the firm rose 12% to 4.8 billion",
        "Shares were 5.4% lower",
        "Gold fell 3 percent",
        "Profit rose from 610 million",
        "Shares never rose 5.4 percent",
        "Shares lost 5.4 percent, which is higher than gold",
    ],
)
def test_prose_that_goes_the_same_way_or_both(claim: str) -> None:
    """Or where nothing stands right beside the number."""
    assert contradicted(claim, PROSE) == ()
