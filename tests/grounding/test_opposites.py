"""Words turned into their opposite."""

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.contradictions import contradictions
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import Source
from agenteval.grounding.support import Check, support

CHECKS: tuple[Check, ...] = ("numbers", "dates", "urls", "names", "quotes", "wording")


@pytest.mark.parametrize(
    ("claim", "passage", "found"),
    [
        ("Profits rose last year", "Profits fell by a tenth last year.", "rose"),
        ("Profits increased in the last year", "Profits have fallen in the last year.", "increased"),
        ("The trail opens after sunrise", "The trail opens before sunrise.", "after"),
        ("Tickets cost more than $15", "Tickets cost less than $15.", "more"),
        ("The last train leaves at 06:10", "The first train leaves at 06:10, the express one at 7.", "last"),
        ("Members accepted the offer of the club", "Members of the club rejected the offer.", "accepted"),
        ("The south tower is closed to visitors", "The north tower is closed to visitors.", "south"),
        ("The blood test was abnormal", "The blood test was normal.", "abnormal"),
        ("You paid in cash", "You paid by card.", "cash"),
        ("The firm raised its guidance", "The firm lowered its guidance.", "raised"),
        ("In April sales fell and costs rose", "In April sales rose and costs fell.", "fell"),
    ],
)
def test_an_opposite_in_the_same_place_is_found(claim: str, passage: str, found: str) -> None:
    """The words around it agree with the passage, inflection aside."""
    assert contradictions(claim, passage)[0] == found


@pytest.mark.parametrize(
    ("claim", "passage", "found"),
    [
        ("Bread sales rose last summer", "Bread sales fell again; wages rose quickly.", "rose"),
        ("Sales rose sharply", "Sales fell sharply while wages rose quickly.", "rose"),
        ("It rose by ten points", "The index fell by ten points, gold rose quickly.", "rose"),
        ("Profits rose last year", "Costs fell in May, and profits fell last year.", "rose"),
        (
            "The last train leaves at 06:10",
            "The first train leaves at 06:10, the last ferry at 7.",
            "last",
        ),
    ],
)
def test_two_words_agree_where_the_passage_has_both_of_a_pair(claim: str, passage: str, found: str) -> None:
    """Before it, after it, or around it."""
    assert contradictions(claim, passage)[0] == found


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Wages rose sharply in May", "Wages of all rose, prices fell sharply."),
        ("Wages rose last year", "Wages of all rose, prices fell this year."),
        ("Food prices rose sharply, and wages fell", "Wages fell sharply."),
        ("More people came", "Less bread was there, and more wine."),
        ("Prices of food rose", "Once food was cheap wages fell."),
    ],
)
def test_one_word_that_agrees_is_not_enough_where_a_text_has_both_of_a_pair(claim: str, passage: str) -> None:
    assert contradictions(claim, passage) == ()


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Profits rose last year", "Profits increased last year."),
        ("Profits did not rise last year", "Profits fell last year."),
        ("Profits rose last year", "Profits did not fall last year."),
        ("The club did not lose the game", "The club won the game."),
        ("Sales rose while costs fell", "Costs fell while sales rose."),
        ("Sales rose in May", "Sales fell in April and rose in May."),
        ("The last train leaves at 11:45", "The first train leaves at 06:10, the last one at 11:45."),
        ("The last train leaves at 11:45", "The first train leaves at 06:10, the last at 11:45."),
        ("The early bus was late", "The late bus was early, and the early bus was late."),
        ("The high price is the first thing to see", "The price is high, so look at the last page."),
        ("Dogs bark more at night", "In the less busy hours dogs bark at night."),
        ("She left the bank", "She turned right at the river bank, which she saw."),
    ],
)
def test_what_agrees_is_left_alone(claim: str, passage: str) -> None:
    """The same word is there, a negation turns it round, or the opposite is about something else."""
    assert contradictions(claim, passage) == ()


def test_the_claim_fails() -> None:
    """Every content word of it may be in the sources."""
    source = Source("evt-2", ("The market opens before sunrise. The cafe is open after sunrise, too.",))
    (claim,) = claims("- The market opens after sunrise")
    judged = support(claim, SourceText([source], [], []), CHECKS)
    assert (judged.contradicted, judged.unsupported, judged.holds(0.66)) == (("after",), (), False)
    (claim,) = claims("- The market opens before sunrise")
    assert support(claim, SourceText([source], [], []), CHECKS).holds(0.66)
