"""Verdicts on the rates of trials, for one test and for several together."""

import pytest

from agenteval.comparing.rate_verdicts import rate_verdicts, settled, trials_needed
from agenteval.comparing.rates import Rate


@pytest.mark.parametrize(
    ("before", "after", "verdict", "words"),
    [
        ((6, 6), (0, 6), "worse", "passes less often than before (p 0.000244)"),
        ((0, 6), (6, 6), "better", "passes more often than before (p 0.000244)"),
        ((20, 20), (20, 20), "held", "a fall of more than 14 points is ruled out"),
        (
            (6, 6),
            (6, 6),
            "unclear",
            "a fall of up to 40 points is not ruled out; 22 trials each would show one of 30 points in 8 of 10 checks",
        ),
        ((0, 6), (0, 6), "unclear", "a fall of up to 40 points is not ruled out"),
        ((0, 0), (6, 6), "unclear", "no trials to compare"),
    ],
)
def test_verdicts_and_their_words(
    before: tuple[int, int], after: tuple[int, int], verdict: str, words: str
) -> None:
    """Each verdict has one sentence, with the figure that it rests on."""
    found = rate_verdicts({"t": (Rate(*before), Rate(*after))})["t"]
    assert (found.verdict, found.words()) == (verdict, words)


def test_trials_end_where_nothing_can_change_the_verdict() -> None:
    """Five of five against none of five is worse however the sixth ends; three of three against none of three is not."""
    assert settled(Rate(5, 5), Rate(0, 5), 6, 1)
    assert not settled(Rate(3, 3), Rate(0, 3), 6, 1)


def test_trials_needed() -> None:
    """After 9 of 10, a fall of 30 points takes 28 trials each; a rate of 0 cannot fall, and small falls take over 100."""
    assert trials_needed(Rate(9, 10), 0.3) == 28
    assert trials_needed(Rate(0, 10), 0.3) is None
    assert trials_needed(Rate(9, 10), 0.05) is None
