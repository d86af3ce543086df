"""The statistics of trials: intervals of rates and of differences, pass@k, pass^k, an exact test of a fall.

The test and the interval of the difference are exact and unconditional: they hold at every pair of true rates. That
includes six trials, where approximations promise too much (docs/comparing.md has the figures).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter

Z_95 = 1.959963984540054
"""The standard normal's quantile for a two-sided interval of 95 %."""
Z_90 = 1.6448536269514722
"""The standard normal's quantile for a two-sided interval of 90 %: each end alone errs in 5 %."""
LEVEL = 0.05
"""The share of checks in which chance alone may look like a fall, and each end of an interval may err."""
MOST_EXACT = 10_000
"""The most outcomes of both sides together (100 trials each) for which the unconditional test is computed.

Beyond it, Fisher's test and Newcombe's interval stand in, which cost little and differ little there.
"""


@dataclass(frozen=True, slots=True)
class Rate:
    """The trials of a test on one side, and the number of them that passed. Raises `ValueError` for impossible numbers."""

    passed: int
    trials: int
    planned: int = 0
    """The trials that there were to be, if they ended early because of how they went."""

    def __post_init__(self) -> None:
        if not 0 <= self.passed <= self.trials:
            raise ValueError(f"{self.passed} of {self.trials} trials cannot have passed")

    def completed(self, *, passing: bool, planned: int = 0) -> "Rate":
        """Return the rate with the missing trials, all of which pass or all of which fail."""
        missing = max(0, max(planned, self.planned) - self.trials)
        return Rate(self.passed + missing * passing, self.trials + missing)


def wilson(passed: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """Return Wilson's score interval for a rate (Wilson 1927), within 0 and 1. Raises `ValueError` without trials."""
    if trials <= 0:
        raise ValueError("there is no interval without trials")
    rate, square = passed / trials, z**2
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    half = z * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials**2)) / (1 + square / trials)
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    return low, 1.0 if passed == trials else min(1.0, centre + half)


def pass_at_k(passed: int, trials: int, k: int) -> float:
    """Estimate the chance that at least one of k trials passes, without bias (Chen et al. 2021)."""
    return 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def pass_hat_k(passed: int, trials: int, k: int) -> float:
    """Estimate the chance that all of k trials pass, without bias (Yao et al. 2024)."""
    return math.comb(passed, k) / math.comb(trials, k)


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust values of p for several tests (Holm 1979); they come in the order that was given."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, ps[index] * (len(ps) - rank)))
        adjusted[index] = highest
    return adjusted


@lru_cache(maxsize=100_000)
def fisher_p(before: Rate, after: Rate) -> float:
    """Return the one-sided p of Fisher's exact test: the chance of so few passes afterwards if the rate did not fall."""
    passes, trials = before.passed + after.passed, before.trials + after.trials
    least = max(0, passes - before.trials)
    if trials > 2_000:  # whole numbers of thousands of digits would take minutes
        return min(
            1.0, math.fsum(_hypergeometric(before, after, few) for few in range(least, after.passed + 1))
        )
    ways = sum(
        math.comb(after.trials, few) * math.comb(before.trials, passes - few)
        for few in range(least, after.passed + 1)
    )
    return ways / math.comb(trials, passes)


def _hypergeometric(before: Rate, after: Rate, few: int) -> float:
    """Return the chance that `few` of all passes fall to the trials afterwards, by logarithms."""
    passes = before.passed + after.passed
    return math.exp(
        _log_ways(after.trials, few)
        + _log_ways(before.trials, passes - few)
        - _log_ways(before.trials + after.trials, passes)
    )


def _log_ways(trials: int, passes: int) -> float:
    return math.lgamma(trials + 1) - math.lgamma(passes + 1) - math.lgamma(trials - passes + 1)


@lru_cache(maxsize=10_000)
def p_of_fall(before: Rate, after: Rate) -> float:
    """Return the one-sided p of Boschloo's exact test (Boschloo 1970): small where the rate fell by more than chance.

    It takes Fisher's p as the measure, and the highest chance of a p so small over all rates that both sides may
    share. So it is never above Fisher's, and finds more falls at the same level.
    """
    fisher = fisher_p(before, after)
    if not _is_exact(before, after):
        return fisher
    region = _region(fisher_p, before, after)
    p = _highest(lambda share, _: _chance(region, before.trials, after.trials, share, share), 0.0)
    return min(fisher, p)


@lru_cache(maxsize=1_000)
def power(trials: int, was: float, now: float, level: float = LEVEL) -> float:
    """Return the chance that `p_of_fall` is at most `level`, with so many trials on each side and these true rates."""
    return _chance(_rejected(trials, level), trials, trials, was, now)


@lru_cache(maxsize=1_000)
def _rejected(trials: int, level: float) -> tuple[int, ...]:
    """Collect the outcomes with a p of at most `level`, like `_region`.

    Walking along the border of Fisher's p would compute p for each outcome there. Bisection over the
    measure computes it for ten.
    """
    sides = [Rate(passed, trials) for passed in range(trials + 1)]
    outcomes = sorted(
        ((fisher_p(one, other), one, other) for one in sides for other in sides), key=itemgetter(0)
    )
    none, some = -1, len(outcomes)
    while some - none > 1:
        middle = (none + some) // 2
        none, some = (middle, some) if p_of_fall(*outcomes[middle][1:]) <= level else (none, middle)
    return _region(fisher_p, *outcomes[none][1:]) if none >= 0 else (-1,) * (trials + 1)


def difference(before: Rate, after: Rate) -> tuple[float, float]:
    """Return the interval of the difference of the rates, after minus before: each end errs in at most 5 % of cases.

    The ends are Buehler's (1957) exact limits, with Newcombe's interval as the measure: of the limits that put the outcomes in
    Newcombe's order, the tightest that hold at every pair of rates. Without trials on a side nothing is ruled out.
    """
    return -_highest_difference(after, before), _highest_difference(before, after)


@lru_cache(maxsize=10_000)
def _highest_difference(before: Rate, after: Rate) -> float:
    """Return the upper end of `difference`; with the sides exchanged it is the lower end."""
    if not before.trials or not after.trials:
        return 1.0
    if not _is_exact(before, after):
        return newcombe(before, after)[1]
    region = _region(_newcombe_high, before, after)

    def chance(share: float, gap: float) -> float:
        """Return the chance of an outcome so low where the rates differ by `gap`; it falls as `gap` grows."""
        first = max(0.0, -gap) + share * (1 - abs(gap))
        return _chance(region, before.trials, after.trials, first, first + gap)

    def improved(share: float, best: float) -> float:
        """Return the largest gap at which such an outcome is not rare, if that is larger than `best`."""
        low, step = best, 1e-4
        while low < 1 and chance(share, high := min(1.0, low + step)) > LEVEL:
            low, step = high, 4 * step
        if low == best:
            return best
        while high - low > 1e-6:
            middle = (low + high) / 2
            low, high = (middle, high) if chance(share, middle) > LEVEL else (low, middle)
        return high  # rather a little wide than a little narrow

    return _highest(improved, -1.0)


def newcombe(before: Rate, after: Rate) -> tuple[float, float]:
    """Return Newcombe's interval of 90 % for the difference, after minus before (1998, his method 10)."""
    return -_newcombe_high(after, before), _newcombe_high(before, after)


@lru_cache(maxsize=100_000)
def _newcombe_high(before: Rate, after: Rate) -> float:
    was, now = before.passed / before.trials, after.passed / after.trials
    low, high = wilson(before.passed, before.trials, Z_90)[0], wilson(after.passed, after.trials, Z_90)[1]
    # Rounded, so that two outcomes that mirror each other are equal and not a last digit apart.
    return round(now - was + math.hypot(high - now, was - low), 12)


def _is_exact(before: Rate, after: Rate) -> bool:
    return before.trials * after.trials <= MOST_EXACT


def _region(measure: Callable[[Rate, Rate], float], before: Rate, after: Rate) -> tuple[int, ...]:
    """Collect the outcomes that speak for a fall at least as much: for each number of passes before, the most passes after.

    `measure` falls with the passes before and grows with those after, so one walk along the border finds all. -1: none.
    """
    bound, most, region = measure(before, after), -1, []
    for passed in range(before.trials + 1):
        side = Rate(passed, before.trials)
        while most < after.trials and measure(side, Rate(most + 1, after.trials)) <= bound:
            most += 1
        region.append(most)
    return tuple(region)


def _chance(region: Sequence[int], before: int, after: int, was: float, now: float) -> float:
    """Return the chance of an outcome in the region, with so many trials on both sides and these true rates."""
    up_to = list(accumulate(_binomial(after, now)))
    return sum(
        one * up_to[most] for one, most in zip(_binomial(before, was), region, strict=True) if most >= 0
    )


@lru_cache(maxsize=4_096)
def _binomial(trials: int, rate: float) -> tuple[float, ...]:
    """Return the chance of each number of passes."""
    rate = min(1.0, max(0.0, rate))
    return tuple(
        math.comb(trials, passed) * rate**passed * (1 - rate) ** (trials - passed)
        for passed in range(trials + 1)
    )


_ANGLES = 48
_HALVINGS = 6


def _highest(improved: Callable[[float, float], float], best: float) -> float:
    """Return the highest value over all shares from 0 to 1; `improved` takes a share and the highest value so far.

    The steps are equal in angle, the scale on which the chance of passes is equally smooth everywhere: near 0 and
    1 it changes most. Then the steps around the highest value are halved until they change nothing that is shown.
    """
    step, place = math.pi / 2 / _ANGLES, 0.0
    for index in range(_ANGLES + 1):
        angle = index * 20 % (_ANGLES + 1) * step  # in leaps, so that few values are better than all before
        if (value := improved(math.sin(angle) ** 2, best)) > best:
            best, place = value, angle
    for _ in range(_HALVINGS):
        step /= 2
        for angle in (place - step, place + step):
            if (value := improved(math.sin(angle) ** 2, best)) > best:
                best, place = value, angle
    return best
