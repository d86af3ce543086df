"""Rates of trials: tests and intervals as scipy and statsmodels have them, and what they promise at every true rate."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.comparing.rates import (
    Rate,
    difference,
    fisher_p,
    holm,
    newcombe,
    p_of_fall,
    pass_at_k,
    pass_hat_k,
    power,
    wilson,
)

REFERENCES = Path(__file__).parents[1] / "data" / "rate_references.json"
ROWS: list[dict[str, Any]] = json.loads(REFERENCES.read_text(encoding="utf-8"))["rows"]
RATES = st.integers(1, 14).flatmap(lambda n: st.builds(Rate, st.integers(0, n), st.just(n)))


def binomial(trials: int, rate: float) -> list[float]:
    """Return the chance of each number of passes."""
    return [math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]


def outcomes(before: int, after: int) -> list[tuple[Rate, Rate]]:
    """List all outcomes of so many trials."""
    return [(Rate(x, before), Rate(y, after)) for x in range(before + 1) for y in range(after + 1)]


def test_tests_and_intervals_as_other_libraries_have_them() -> None:
    """Fisher's and Boschloo's p (scipy), Newcombe's and Wilson's interval (statsmodels), on 250 pairs of rates."""
    for row in ROWS:
        before, after = Rate(*row["before"]), Rate(*row["after"])
        assert fisher_p(before, after) == pytest.approx(row["fisher"], rel=1e-9), row
        assert p_of_fall(before, after) == pytest.approx(row["boschloo"], abs=2e-6), row
        assert newcombe(before, after) == pytest.approx(row["newcombe"], abs=1e-9), row
        assert wilson(after.passed, after.trials) == pytest.approx(row["wilson"], abs=1e-9), row


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("trials", [10, 20, 50])
def test_wilson_covers(rate: float, trials: int) -> None:
    """Near 1 the steps of small numbers leave less than 95 %, but not much less."""
    covered = sum(
        chance
        for passed, chance in enumerate(binomial(trials, rate))
        if wilson(passed, trials)[0] <= rate <= wilson(passed, trials)[1]
    )
    assert covered > 0.89


@pytest.mark.parametrize(("before", "after"), [(3, 3), (6, 6), (10, 10), (14, 14), (20, 20), (5, 12)])
def test_each_end_of_a_difference_errs_in_5_percent_at_most(before: int, after: int) -> None:
    """At every pair of true rates; Newcombe's own interval errs in 10 % of cases with few trials."""
    cases = [
        (one, other, difference(one, other), newcombe(one, other)) for one, other in outcomes(before, after)
    ]
    most, newcombes = 0.0, 0.0
    for was in [step / 25 for step in range(26)]:
        for now in [step / 25 for step in range(26)]:
            first, second = binomial(before, was), binomial(after, now)
            chances = [first[one.passed] * second[other.passed] for one, other, _, _ in cases]
            pairs = [*zip(cases, chances, strict=True)]
            # A rate that lies at the very end of an interval, as at 0 and 1, is inside.
            most = max(most, sum(chance for (*_, ends, _), chance in pairs if ends[0] > now - was + 1e-9))
            most = max(most, sum(chance for (*_, ends, _), chance in pairs if ends[1] < now - was - 1e-9))
            newcombes = max(
                newcombes, sum(chance for (*_, ends), chance in pairs if ends[0] > now - was + 1e-9)
            )
    assert most <= 0.05
    assert newcombes > 0.06


@pytest.mark.parametrize(("before", "after"), [(3, 3), (6, 6), (10, 10), (20, 20), (5, 12)])
def test_chance_alone_is_a_fall_in_5_percent_at_most(before: int, after: int) -> None:
    """At every rate that both sides may share; with six trials each it comes near."""
    falls = [pair for pair in outcomes(before, after) if p_of_fall(*pair) <= 0.05]
    sizes = []
    for rate in [step / 200 for step in range(201)]:
        first, second = binomial(before, rate), binomial(after, rate)
        sizes.append(sum(first[one.passed] * second[other.passed] for one, other in falls))
    assert 0.01 < max(sizes) <= 0.05


@given(RATES, RATES)
def test_p_is_at_most_fishers_and_changes_with_every_pass(before: Rate, after: Rate) -> None:
    """More passes afterwards speak less for a fall, more passes before speak more for it."""
    p = p_of_fall(before, after)
    assert 0 < p <= fisher_p(before, after) <= 1
    if after.passed < after.trials:
        assert p <= p_of_fall(before, Rate(after.passed + 1, after.trials)) + 1e-9
    if before.passed < before.trials:
        assert p_of_fall(Rate(before.passed + 1, before.trials), after) <= p + 1e-9


@given(RATES, RATES)
def test_a_fall_of_passes_is_a_rise_of_failures(before: Rate, after: Rate) -> None:
    """Exchanged sides and exchanged passes and failures give the same p, and the interval turned round."""

    def failures(rate: Rate) -> Rate:
        return Rate(rate.trials - rate.passed, rate.trials)

    assert p_of_fall(before, after) == pytest.approx(p_of_fall(failures(after), failures(before)), abs=1e-6)
    low, high = difference(before, after)
    assert difference(after, before) == (-high, -low)
    assert difference(failures(after), failures(before)) == pytest.approx((low, high), abs=1e-4)
    assert -1 <= low <= after.passed / after.trials - before.passed / before.trials <= high <= 1


@given(RATES, RATES)
def test_an_interval_moves_with_every_pass(before: Rate, after: Rate) -> None:
    """Both ends go up with a pass afterwards."""
    if after.passed < after.trials:
        low, high = difference(before, after)
        more_low, more_high = difference(before, Rate(after.passed + 1, after.trials))
        assert low <= more_low + 1e-6
        assert high <= more_high + 1e-6


@pytest.mark.parametrize("trials", [6, 10, 20])
def test_the_interval_where_all_pass_is_known(trials: int) -> None:
    """All of n pass on both sides: the fall that all n survive in 5 % of cases, 1 - 0.05 ** (1 / n)."""
    assert difference(Rate(trials, trials), Rate(trials, trials))[1] == pytest.approx(
        1 - 0.05 ** (1 / trials), abs=1e-5
    )


@pytest.mark.parametrize("trials", [101, 1000, 1001, 10_000])
def test_many_trials_take_no_time(trials: int) -> None:
    """As many as a test may have are compared by Fisher's test and Newcombe's interval; a rate of 1,000 digits is none."""
    one, other = Rate(trials, trials), Rate(trials * 9 // 10, trials)
    assert p_of_fall(one, other) == fisher_p(one, other) < 0.001
    assert difference(one, other) == newcombe(one, other)
    assert fisher_p(one, one) == pytest.approx(1)


def test_a_hundred_trials_each_are_compared_exactly() -> None:
    """The most for which it is done: the interval is wider than Newcombe's, and p smaller than Fisher's."""
    every, most = Rate(100, 100), Rate(96, 100)
    high = difference(every, every)[1]
    assert high == pytest.approx(0.0313, abs=1e-4)
    assert high > newcombe(every, every)[1]
    assert p_of_fall(every, most) < fisher_p(every, most)


def test_fishers_p_by_logarithms_is_the_same() -> None:
    """Sums beyond 2,000 trials are taken of logarithms: one trial more changes p a little."""
    exact, logarithmic = (
        fisher_p(Rate(900, 1000), Rate(870, 1000)),
        fisher_p(Rate(901, 1001), Rate(870, 1000)),
    )
    assert exact == pytest.approx(0.0209, abs=5e-4)
    assert logarithmic == pytest.approx(exact, rel=0.02)


def test_no_trials_rule_out_nothing() -> None:
    """A side without trials, as when a service was away all the time."""
    assert difference(Rate(0, 0), Rate(6, 6)) == difference(Rate(6, 6), Rate(0, 0)) == (-1, 1)
    assert p_of_fall(Rate(6, 6), Rate(0, 0)) == p_of_fall(Rate(0, 0), Rate(0, 6)) == 1


@pytest.mark.parametrize(("passed", "trials"), [(3, 2), (-1, 2), (0, -1)])
def test_impossible_numbers_are_refused(passed: int, trials: int) -> None:
    """More passes than trials, or fewer than none."""
    with pytest.raises(ValueError, match=f"{passed} of {trials} trials cannot have passed"):
        Rate(passed, trials)


@pytest.mark.parametrize("trials", [3, 6, 10])
def test_power_is_the_chance_of_a_small_p(trials: int) -> None:
    """As summed over all outcomes; three trials each never show a fall at 1 %."""
    first, second = binomial(trials, 0.95), binomial(trials, 0.4)
    for level in (0.05, 0.01):
        small = [pair for pair in outcomes(trials, trials) if p_of_fall(*pair) <= level]
        chance = sum(first[one.passed] * second[other.passed] for one, other in small)
        assert power(trials, 0.95, 0.4, level) == pytest.approx(chance)
    assert power(3, 1, 0, 0.01) == 0


def test_at_least_one_and_all() -> None:
    """Counted over all ways to draw k of the trials."""
    assert pass_at_k(3, 5, 1) == pytest.approx(0.6)
    assert pass_at_k(3, 5, 2) == pytest.approx(0.9)
    assert pass_hat_k(3, 5, 2) == pytest.approx(0.3)
    assert (pass_at_k(0, 5, 5), pass_hat_k(5, 5, 5)) == (0, 1)


def test_holm() -> None:
    """The smallest counts most, and none comes out smaller than one before it."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []
