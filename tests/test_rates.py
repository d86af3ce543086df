"""Rates of trials: intervals that cover, and falls that are told from chance, on a model with known pass rates."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.comparing.comparison import rate_changes
from agenteval.judging.rates import holm, p_of_fall, pass_at_k, pass_hat_k, wilson

TRIALS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def passes(rate: float, trials: int, chance: random.Random) -> tuple[int, int]:
    """Passes and trials of a model that passes at a rate."""
    return sum(chance.random() < rate for _ in range(trials)), trials


@pytest.mark.parametrize(
    ("passed", "trials", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0)],
)
def test_intervals_as_published(passed: int, trials: int, low: float, high: float) -> None:
    """Wilson's, as tables have it."""
    assert wilson(passed, trials) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("trials", [10, 20, 50])
def test_intervals_cover(rate: float, trials: int) -> None:
    """The mean coverage is what is promised; near 1 the steps of small numbers leave less (exact: by the binomial)."""
    chance = random.Random(f"{rate} {trials}")
    covered = 0
    for _ in range(2000):
        low, high = wilson(*passes(rate, trials, chance))
        covered += low <= rate <= high
    exact = sum(
        math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k)
        for k in range(trials + 1)
        if wilson(k, trials)[0] <= rate <= wilson(k, trials)[1]
    )
    assert covered / 2000 == pytest.approx(exact, abs=0.02)
    assert exact > 0.89


def test_at_least_one_and_all() -> None:
    """Counted over all ways to draw k of the trials."""
    assert pass_at_k(3, 5, 1) == pytest.approx(0.6)
    assert pass_at_k(3, 5, 2) == pytest.approx(0.9)
    assert pass_hat_k(3, 5, 2) == pytest.approx(0.3)
    assert (pass_at_k(0, 5, 5), pass_hat_k(5, 5, 5)) == (0, 1)


def test_fisher_as_published() -> None:
    """The tea: 3 of 4 by chance has 0.243."""
    assert p_of_fall((3, 4), (1, 4)) == pytest.approx(0.2429, abs=1e-4)
    assert p_of_fall((20, 20), (10, 20)) == pytest.approx(0.00022, abs=1e-5)


@given(TRIALS, TRIALS)
def test_p_is_a_probability_that_falls_with_the_passes(
    before: tuple[int, int], after: tuple[int, int]
) -> None:
    """And is 1 where nothing fell short."""
    p = p_of_fall(before, after)
    assert 0 < p <= 1 + 1e-12
    if after[0]:
        assert p_of_fall(before, (after[0] - 1, after[1])) <= p + 1e-12
    if before[0] == 0:
        assert p == pytest.approx(1)


def test_holm() -> None:
    """The smallest counts most, and none comes out smaller than one before it."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
def test_a_false_alarm_is_rare(rate: float) -> None:
    """At most 5 % of 1,000 pairs of runs, of one test and of a suite of ten, where nothing changed."""
    chance = random.Random(f"alarm {rate}")
    for tests in (1, 10):
        alarms = 0
        for _ in range(1000):
            pairs = [(str(i), passes(rate, 20, chance), passes(rate, 20, chance)) for i in range(tests)]
            alarms += any(each.verdict == "fell" for each in rate_changes(pairs))
        assert alarms <= 50


def test_a_fall_is_found() -> None:
    """From 0.9 to 0.5, with 20 trials, in at least 80 % of pairs."""
    chance = random.Random("fall")
    found = sum(
        rate_changes([("t", passes(0.9, 20, chance), passes(0.5, 20, chance))])[0].verdict == "fell"
        for _ in range(1000)
    )
    assert found >= 800


def test_too_few_trials_are_told() -> None:
    """Where even no pass at all would show nothing."""
    (few,) = rate_changes([("t", (2, 2), (1, 2))])
    assert few.verdict == "inconclusive"
    (none,) = rate_changes([("t", (5, 5), (0, 5))])
    assert none.verdict == "fell"
    (same,) = rate_changes([("t", (20, 20), (19, 20))])
    assert same.verdict == "steady"
