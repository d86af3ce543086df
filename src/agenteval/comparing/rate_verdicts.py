"""Decides whether tests pass less often than before: `worse`, `held`, `better` or `unclear`, for all tests together."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from agenteval.comparing.rates import LEVEL, MOST_EXACT, Rate, difference, holm, p_of_fall, power
from agenteval.text.fitting import counted

Verdict = Literal["worse", "held", "better", "unclear"]
"""The change of a test's rate.

- `worse`: it fell beyond chance.
- `held`: a fall of more than the margin is ruled out.
- `better`: it rose beyond chance.
- `unclear`: none of these is known.

`worse` and `better` come before `held`: a fall beyond chance is `worse` even if it is known to be small.
"""
MARGIN = 0.2
"""The fall of a rate that a project takes, if it does not set one."""
FALL_TO_SHOW = 0.3
"""The fall for which `trials_needed` of a verdict is computed."""
POWER = 0.8
"""The share of checks in which so many trials show the fall."""
_MOST_NEEDED = math.isqrt(MOST_EXACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateVerdict:
    """The verdict on one test. Differences are after minus before, from -1 to 1; each end of the interval errs in at most 5 %.

    If trials ended early, all figures hold however the missing ones would have ended.
    """

    before: Rate
    after: Rate
    verdict: Verdict
    p: float
    """The one-sided p: of a rise if the verdict is `better`, else of a fall."""
    adjusted_p: float
    """The p after Holm's correction over all tests; at most 0.05 if the verdict is `worse` or `better`."""
    low: float
    """The lower end of the interval of the difference."""
    high: float
    """The upper end."""
    trials_needed: int | None = None
    """If it is unclear: the trials on each side of which 8 in 10 checks show a fall of 30 points. None if 100 are too few."""

    @property
    def fall_not_ruled_out(self) -> float:
        """The largest fall that the trials do not rule out, from 0 to 1."""
        return max(0.0, -self.low)

    def words(self) -> str:
        """Explain the verdict: `passes less often than before (p 0.0076, corrected 0.015)`."""
        if not (self.before.trials and self.after.trials):
            return "no trials to compare"
        match self.verdict:
            case "worse" | "better":
                corrected = "" if self.adjusted_p == self.p else f", corrected {self.adjusted_p:.3g}"
                often = "less" if self.verdict == "worse" else "more"
                return f"passes {often} often than before (p {self.p:.3g}{corrected})"
            case "held":
                return f"a fall of more than {_points(self.fall_not_ruled_out)} is ruled out"
        needed = self.trials_needed
        if needed is None:
            return f"a fall of up to {_points(self.fall_not_ruled_out)} is not ruled out"
        return (
            f"a fall of up to {_points(self.fall_not_ruled_out)} is not ruled out; {counted(needed, 'trial')} each "
            f"would show one of {_points(FALL_TO_SHOW)} in {POWER * 10:.0f} of 10 checks"
        )


def _points(share: float) -> str:
    return counted(math.ceil(round(share * 100, 6)), "point")


def rate_verdicts(
    pairs: Mapping[str, tuple[Rate, Rate]], *, margin: float = MARGIN
) -> dict[str, RateVerdict]:
    """Decide on all tests of a comparison together, by id; each has the rate before and after.

    Chance alone makes one or more of all tests `worse` in at most 5 % of comparisons (Holm's correction), and as many
    `better`. `held` needs none: each test is wrongly so in at most 5 %.

    A side with fewer trials than `planned` is judged as if the rest had ended in the way that speaks most against each
    verdict. Trials that a service kept from being judged say nothing of the agent: they are not planned.
    """
    ends = {name: _ends(before, after) for name, (before, after) in pairs.items()}
    falls = {name: p_of_fall(*best) for name, (_, best) in ends.items()}
    rises = {name: _p_of_rise(*worst) for name, (worst, _) in ends.items()}
    adjusted_falls = dict(zip(falls, holm([*falls.values()]), strict=True))
    adjusted_rises = dict(zip(rises, holm([*rises.values()]), strict=True))
    verdicts = {}
    for name, (before, after) in pairs.items():
        worst, best = ends[name]
        low, high = difference(*worst)[0], difference(*best)[1]
        verdict = _verdict(adjusted_falls[name], adjusted_rises[name], low, LEVEL, LEVEL, margin)
        better = verdict == "better"
        verdicts[name] = RateVerdict(
            before=before,
            after=after,
            verdict=verdict,
            p=(rises if better else falls)[name],
            adjusted_p=(adjusted_rises if better else adjusted_falls)[name],
            low=low,
            high=high,
            trials_needed=trials_needed(before, FALL_TO_SHOW, tests=len(pairs))
            if verdict == "unclear"
            else None,
        )
    return verdicts


def settled(before: Rate, after: Rate, planned: int, tests: int, margin: float = MARGIN) -> bool:
    """Return whether no outcome of the remaining trials, of this test and of the others, can change its verdict.

    `planned` is the number of trials of each side, `tests` the number of all tests measured. So ending the trials there
    needs no correction: `rate_verdicts` of `Rate(passed, trials, planned)` is what all of them would have given.
    """
    worst, best = _ends(before, after, planned)
    # Holm compares p with a level between these two, which depends on the other tests.
    strict = LEVEL / max(1, tests)
    lowest = _verdict(p_of_fall(*worst), _p_of_rise(*worst), difference(*worst)[0], LEVEL, strict, margin)
    highest = _verdict(p_of_fall(*best), _p_of_rise(*best), difference(*best)[0], strict, LEVEL, margin)
    # With each pass afterwards, and each failure before, a verdict stays or goes one way: from worse to better.
    return lowest == highest


def _ends(before: Rate, after: Rate, planned: int = 0) -> tuple[tuple[Rate, Rate], tuple[Rate, Rate]]:
    """Complete both sides to the trials planned: in the way worst for the agent of today, and in the best."""
    worst = before.completed(passing=True, planned=planned), after.completed(passing=False, planned=planned)
    best = before.completed(passing=False, planned=planned), after.completed(passing=True, planned=planned)
    return worst, best


def _verdict(
    p_fall: float, p_rise: float, low: float, level_fall: float, level_rise: float, margin: float
) -> Verdict:
    if p_fall <= level_fall:
        return "worse"
    if p_rise <= level_rise:
        return "better"
    return "held" if low > -margin else "unclear"


def _p_of_rise(before: Rate, after: Rate) -> float:
    return p_of_fall(after, before)


@cache
def trials_needed(before: Rate, fall: float, power_wanted: float = POWER, *, tests: int = 1) -> int | None:
    """Return how many trials on each side would show a fall of this size in this share of checks; None if 100 would not.

    None too if the rate has not so far to fall. The rate before is taken as (passed + 0.5) / (trials + 1): 6 of 6 is no
    proof that it never fails. With several tests, the fall has to show at the strictest level of Holm's correction.
    """
    was = (before.passed + 0.5) / (before.trials + 1)
    now, level = was - fall, LEVEL / max(1, tests)
    if now < 0 or not before.trials:
        return None
    few, enough = (
        0,
        4,
    )  # doubled first: the power of few trials is computed in no time, the power of 100 is not
    while power(enough, was, now, level) < power_wanted:
        if enough == _MOST_NEEDED:
            return None
        few, enough = enough, min(2 * enough, _MOST_NEEDED)
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if power(middle, was, now, level) >= power_wanted else (middle, enough)
    return enough
