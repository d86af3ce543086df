"""Verdicts on the rates of trials, for one test and for several together."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenteval.comparing.rate_verdicts import RateVerdict, Verdict, rate_verdicts, settled, trials_needed
from agenteval.comparing.rates import Rate, power

ORDER: list[Verdict] = ["worse", "unclear", "held", "better"]
RATES = st.integers(0, 10).flatmap(lambda n: st.builds(Rate, st.integers(0, n), st.just(n)))


def verdict_of(before: Rate, after: Rate, margin: float = 0.2) -> RateVerdict:
    """Return the verdict on a single test."""
    return rate_verdicts({"t": (before, after)}, margin=margin)["t"]


@pytest.mark.parametrize(
    ("before", "after", "verdict", "words"),
    [
        ((6, 6), (0, 6), "worse", "passes less often than before (p 0.000244)"),
        ((0, 6), (6, 6), "better", "passes more often than before (p 0.000244)"),
        ((20, 20), (20, 20), "held", "a fall of more than 14 points is ruled out"),
        ((1000, 1000), (950, 1000), "worse", "passes less often than before (p 4.74e-16)"),
        (
            (6, 6),
            (6, 6),
            "unclear",
            "a fall of up to 40 points is not ruled out; 22 trials each would show one of 30 points in 8 of 10 checks",
        ),
        ((0, 6), (0, 6), "unclear", "a fall of up to 40 points is not ruled out"),
        ((0, 0), (6, 6), "unclear", "no trials to compare"),
        ((6, 6), (0, 0), "unclear", "no trials to compare"),
    ],
)
def test_verdicts_and_their_words(
    before: tuple[int, int], after: tuple[int, int], verdict: str, words: str
) -> None:
    """Each verdict has one sentence, with the figure that it rests on; a small fall beyond chance is worse all the same."""
    found = verdict_of(Rate(*before), Rate(*after))
    assert (found.verdict, found.words()) == (verdict, words)


def test_verdicts_of_several_tests_are_corrected() -> None:
    """What is worse alone is unclear among ten, and worse again where the others are worse beyond doubt."""
    some, same, clear = (Rate(9, 10), Rate(5, 10)), (Rate(9, 10), Rate(9, 10)), (Rate(10, 10), Rate(0, 10))
    assert verdict_of(*some).verdict == "worse"
    among = rate_verdicts({"some": some} | {str(n): same for n in range(9)})["some"]
    assert among.verdict == "unclear"
    assert among.p == verdict_of(*some).p
    assert among.adjusted_p == pytest.approx(10 * among.p)
    assert among.trials_needed == trials_needed(Rate(9, 10), 0.3, tests=10) == 51
    assert rate_verdicts({"some": some} | {str(n): clear for n in range(9)})["some"].verdict == "worse"
    both = rate_verdicts({"a": clear, "b": clear})["a"]
    assert both.words() == "passes less often than before (p 9.54e-07, corrected 1.91e-06)"
    mirrored = rate_verdicts({"some": some[::-1]} | {str(n): same for n in range(9)})["some"]
    assert mirrored.verdict != "better"


@pytest.mark.parametrize(("margin", "verdict"), [(0.139, "unclear"), (0.14, "held"), (0.0, "unclear")])
def test_held_rules_out_more_than_the_margin(margin: float, verdict: str) -> None:
    """Twenty of twenty on both sides rule out a fall of 13.91 points or more."""
    found = verdict_of(Rate(20, 20), Rate(20, 20), margin)
    assert found.verdict == verdict
    assert verdict_of(Rate(20, 20), Rate(20, 20), found.fall_not_ruled_out).verdict == "unclear"


@given(RATES, RATES, st.sampled_from([0.0, 0.1, 0.3, 0.5]))
def test_verdicts_are_in_order(before: Rate, after: Rate, margin: float) -> None:
    """A pass more afterwards makes no verdict worse; better is worse with the sides exchanged."""
    verdict = verdict_of(before, after, margin).verdict
    if after.passed < after.trials:
        more = verdict_of(before, Rate(after.passed + 1, after.trials), margin).verdict
        assert ORDER.index(verdict) <= ORDER.index(more)
    assert (verdict == "better") == (verdict_of(after, before, margin).verdict == "worse")


def completions(before: Rate, after: Rate, planned: int) -> list[tuple[Rate, Rate]]:
    """List all ways in which the trials may end."""
    return [
        (Rate(before.passed + x, planned), Rate(after.passed + y, planned))
        for x in range(planned - before.trials + 1)
        for y in range(planned - after.trials + 1)
    ]


OTHERS = [(Rate(6, 6), Rate(0, 6)), (Rate(6, 6), Rate(6, 6)), (Rate(0, 6), Rate(6, 6))]
"""Other tests of a suite, which leave Holm's correction the loosest and the strictest level."""


@settings(deadline=None)
@given(
    st.integers(1, 7).flatmap(
        lambda planned: st.tuples(
            st.just(planned),
            *[st.integers(0, planned).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))] * 2,
        )
    ),
    st.integers(1, 5),
    st.sampled_from([0.1, 0.4, 0.7]),
)
def test_settled_is_what_every_completion_says(
    sides: tuple[int, tuple[int, int], tuple[int, int]], tests: int, margin: float
) -> None:
    """It is true exactly if all ways to end, beside any other tests, have one verdict; the ended trials have it, too."""
    planned, before, after = sides[0], Rate(*sides[1]), Rate(*sides[2])
    others = [{str(n): other for n in range(tests - 1)} for other in OTHERS]
    verdicts = {
        rate_verdicts({"t": pair, **rest}, margin=margin)["t"].verdict
        for pair in completions(before, after, planned)
        for rest in others
    }
    assert settled(before, after, planned, tests, margin) == (len(verdicts) == 1)
    early = Rate(before.passed, before.trials, planned), Rate(after.passed, after.trials, planned)
    if len(verdicts) == 1:
        for rest in others:
            assert {rate_verdicts({"t": early, **rest}, margin=margin)["t"].verdict} == verdicts


@settings(deadline=None)
@given(st.integers(0, 5), st.integers(0, 5), st.sampled_from(OTHERS))
def test_ended_trials_change_no_other_verdict(was: int, now: int, other: tuple[Rate, Rate]) -> None:
    """Where the trials of one test are settled, the others have the verdict that they have beside each way to end."""
    before, after = Rate(was, 5), Rate(now, 5)
    if not settled(before, after, 7, 2):
        return
    early = rate_verdicts({"t": (Rate(was, 5, 7), Rate(now, 5, 7)), "other": other})["other"].verdict
    assert {
        rate_verdicts({"t": pair, "other": other})["other"].verdict for pair in completions(before, after, 7)
    } == {early}


def test_figures_of_ended_trials_hold_for_every_ending() -> None:
    """The p is the highest and the interval the widest of all ways in which the missing trials may end."""
    early = verdict_of(Rate(5, 5, 6), Rate(0, 5, 6))
    ends = [verdict_of(*pair) for pair in completions(Rate(5, 5), Rate(0, 5), 6)]
    assert (early.p, early.low, early.high) == (
        max(each.p for each in ends),
        min(each.low for each in ends),
        max(each.high for each in ends),
    )
    assert (early.before, early.after.trials) == (Rate(5, 5, 6), 5)


def test_trials_end_where_nothing_can_change_the_verdict() -> None:
    """Five of five against none of five is worse however the sixth ends; three of three against none of three is not."""
    assert settled(Rate(5, 5), Rate(0, 5), 6, 1)
    assert not settled(Rate(3, 3), Rate(0, 3), 6, 1)
    assert not settled(Rate(0, 0), Rate(0, 0), 6, 1)
    assert settled(Rate(0, 0), Rate(0, 0), 0, 0)


def test_other_tests_may_keep_a_verdict_open() -> None:
    """A p of 0.03 is enough for one test; of ten, it depends on the others, also when all trials were made."""
    for pair in ((Rate(9, 10), Rate(5, 10)), (Rate(5, 10), Rate(9, 10))):
        assert settled(*pair, 10, 1)
        assert not settled(*pair, 10, 10)


@pytest.mark.parametrize(
    ("before", "fall", "tests", "trials"),
    [
        (Rate(9, 10), 0.3, 1, 28),
        (Rate(9, 10), 0.3, 10, 51),
        (Rate(9, 10), 0.8, 1, 4),
        (Rate(1, 2), 0.5, 1, 8),
        (Rate(0, 10), 0.3, 1, None),
        (Rate(9, 10), 0.05, 1, None),
        (Rate(0, 0), 0.3, 1, None),
    ],
)
def test_trials_needed(before: Rate, fall: float, tests: int, trials: int | None) -> None:
    """So many show the fall in 8 of 10 checks. A rate of 0 cannot fall, and small falls take more than 100."""
    assert trials_needed(before, fall, tests=tests) == trials
    if trials:
        was = (before.passed + 0.5) / (before.trials + 1)
        assert (
            power(trials, was, was - fall, 0.05 / tests)
            >= 0.8
            > power(trials - 1, was, was - fall, 0.05 / tests)
        )
