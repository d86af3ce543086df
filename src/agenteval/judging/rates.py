"""How often trials pass, and what that says: intervals, pass@k and pass^k, and whether one rate is below another."""

import math
from collections.abc import Sequence

Z_95 = 1.959963984540054
"""The standard normal's quantile for an interval of 95 %."""


def wilson(passed: int, trials: int) -> tuple[float, float]:
    """Wilson's score interval at 95 % for a rate (Wilson 1927), within 0 and 1. Raises `ValueError` without trials."""
    if trials <= 0:
        raise ValueError("there is no interval without trials")
    rate, square = passed / trials, Z_95**2
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    half = Z_95 * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials**2)) / (1 + square / trials)
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    return low, 1.0 if passed == trials else min(1.0, centre + half)


def pass_at_k(passed: int, trials: int, k: int) -> float:
    """The chance that at least one of k trials passes, without bias (Chen et al. 2021)."""
    return 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def pass_hat_k(passed: int, trials: int, k: int) -> float:
    """The chance that all of k trials pass, without bias (Yao et al. 2024)."""
    return math.comb(passed, k) / math.comb(trials, k)


def p_of_fall(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Fisher's exact test, one-sided: how likely so few passes are afterwards if the rate did not fall.

    Both are passes and trials.
    """
    passes, trials = before[0] + after[0], before[1] + after[1]
    least = max(0, passes - before[1])
    ways = sum(
        math.comb(after[1], few) * math.comb(before[1], passes - few) for few in range(least, after[0] + 1)
    )
    return ways / math.comb(trials, passes)


def smallest_p(before: tuple[int, int], trials_after: int) -> float:
    """The p of the worst that could have come: where it is large, so few trials can show nothing."""
    return p_of_fall(before, (0, trials_after))


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's correction for several tests (Holm 1979): adjusted values of p, in the order that was given."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, ps[index] * (len(ps) - rank)))
        adjusted[index] = highest
    return adjusted
