"""Measure the verdicts on rates of trials: false alarms, falls found, falls wrongly ruled out, and trials saved.

    python -m benchmarks.check_power              # the tables of docs/comparing.md
    python -m benchmarks.check_power --checks 200

Each figure is a share of simulated checks, in which every trial passes by chance at a known rate.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from functools import cache
from math import comb

from agenteval.comparing.rate_verdicts import MARGIN, RateVerdict, rate_verdicts, settled
from agenteval.comparing.rates import LEVEL, Rate, fisher_p, newcombe, p_of_fall

RATES = (1.0, 0.95, 0.9, 0.7, 0.5)
"""The true rates before."""


def table(heading: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


class Simulation:
    """Checks by chance: the same ones for the same seed."""

    def __init__(self, checks: int, seed: str = "agenteval") -> None:
        self.checks = checks
        self._chance = random.Random(seed)

    def pairs(self, was: float, now: float, trials: int, number: int) -> list[tuple[Rate, Rate]]:
        """Try a test before and after, as often as asked for."""
        before, after = self._rates(was, trials, number), self._rates(now, trials, number)
        return [*zip(before, after, strict=True)]

    def _rates(self, rate: float, trials: int, number: int) -> list[Rate]:
        weights = [comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]
        return self._chance.choices([Rate(passed, trials) for passed in range(trials + 1)], weights, k=number)

    def suites(
        self, was: float, now: float, trials: int, tests: int
    ) -> Iterator[Sequence[tuple[Rate, Rate]]]:
        """Try a suite before and after: its first test goes from `was` to `now`, the others keep the rate `was`."""
        first = self.pairs(was, now, trials, self.checks)
        others = self.pairs(was, was, trials, self.checks * (tests - 1))
        return (
            [one, *others[index * (tests - 1) : (index + 1) * (tests - 1)]] for index, one in enumerate(first)
        )

    def share(self, found: int) -> str:
        """Write a number of checks as their share, in percent."""
        return f"{found / self.checks:.1%}"

    def false_alarms(self) -> Iterator[Sequence[str]]:
        """Count checks with a test that is `worse`, where nothing changed."""
        for trials in (6, 10, 20):
            for tests in (1, 10):
                suites = (self.suites(rate, rate, trials, tests) for rate in RATES)
                yield [f"{trials}, {tests}", *(self.share(sum(map(any_worse, some))) for some in suites)]

    def falls(self) -> Iterator[Sequence[str]]:
        """Count checks in which a test is `worse` that fell from 0.95 to 0.5; and by Fisher's test, as one of one."""
        for trials in (6, 10, 20):
            alone = self.pairs(0.95, 0.5, trials, self.checks)
            among = self.suites(0.95, 0.5, trials, 10)
            counts = [
                sum(single(*pair).verdict == "worse" for pair in alone),
                sum(fisher_p(*pair) <= LEVEL for pair in alone),
                sum(any_worse(suite) and verdicts(suite)[0] == "worse" for suite in among),
                sum(single(*pair).verdict == "held" for pair in alone),
            ]
            yield [str(trials), *map(self.share, counts)]

    def held(self, fall: float) -> Iterator[Sequence[str]]:
        """Count checks in which a test is `held`; in brackets, by Newcombe's own interval."""
        for trials in (6, 10, 14, 20, 40):
            shares = []
            for rate in RATES:
                pairs = self.pairs(rate, rate - fall, trials, self.checks)
                exact = self.share(sum(single(*pair).low > -MARGIN for pair in pairs))
                approximate = self.share(sum(newcombe(*pair)[0] > -MARGIN for pair in pairs))
                shares.append(f"{exact} ({approximate})")
            yield [str(trials), *shares]

    def saved(self) -> Iterator[Sequence[str]]:
        """Count the trials that are run where those of a test end once its verdict is settled; none may change it."""
        for was, now in ((0.95, 0.95), (0.95, 0.5), (1.0, 0.0), (0.5, 0.5)):
            means = []
            for planned in (6, 10, 20):
                run = sum(self._ended(was, now, planned) for _ in range(self.checks))
                means.append(f"{run / self.checks:.1f} of {2 * planned}")
            yield [f"{was:g} → {now:g}", *means]

    def _ended(self, was: float, now: float, planned: int) -> int:
        """Try a test until its verdict is settled, before and now in turn; return the trials of both sides."""
        before, after = ([self._chance.random() < rate for _ in range(planned)] for rate in (was, now))
        one = other = 0
        while not is_settled(sum(before[:one]), one, sum(after[:other]), other, planned):
            # Before, now, now, before: what drifts, drifts on both sides.
            if (one + other) % 4 in (0, 3):
                one += 1
            else:
                other += 1
        early = single(Rate(sum(before[:one]), one, planned), Rate(sum(after[:other]), other, planned))
        assert early.verdict == single(Rate(sum(before), planned), Rate(sum(after), planned)).verdict
        return one + other


def verdicts(suite: Sequence[tuple[Rate, Rate]]) -> list[str]:
    """Return the verdict on each test of a suite."""
    return [each.verdict for each in rate_verdicts({str(n): pair for n, pair in enumerate(suite)}).values()]


def any_worse(suite: Sequence[tuple[Rate, Rate]]) -> bool:
    """Return whether a test of a suite is `worse`. Most suites are done at once: no p is small enough for Holm's first step."""
    return min(p_of_fall(*pair) for pair in suite) <= LEVEL / len(suite) and "worse" in verdicts(suite)


@cache
def single(before: Rate, after: Rate) -> RateVerdict:
    """Return the verdict on a test alone."""
    return rate_verdicts({"test": (before, after)})["test"]


@cache
def is_settled(was: int, one: int, now: int, other: int, planned: int) -> bool:
    """Return whether the verdict of a test alone is settled."""
    return settled(Rate(was, one), Rate(now, other), planned, 1)


def report(checks: int) -> Iterator[str]:
    """Simulate so many checks for each figure, and yield the tables of docs/comparing.md one by one."""
    simulation = Simulation(checks)
    rates = [f"{rate:g}" for rate in RATES]
    falls = ["trials", "`worse`", "by Fisher's test", "`worse`, one of 10 tests", "`held`"]
    saved = ["rates", "6 each", "10 each", "20 each"]
    for title, heading, rows in (
        (
            "Nothing changed, and at least one test is `worse`",
            ["trials, tests", *rates],
            simulation.false_alarms(),
        ),
        ("One test fell from 0.95 to 0.5", falls, simulation.falls()),
        (f"`held`, although the rate fell by {MARGIN:g}", ["trials", *rates], simulation.held(MARGIN)),
        ("`held`, where nothing changed", ["trials", *rates], simulation.held(0.0)),
        ("The mean number of trials, both sides together", saved, simulation.saved()),
    ):
        yield f"{title}:\n\n{table(heading, rows)}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checks", type=int, default=10_000)
    for text in report(parser.parse_args().checks):
        print(text, flush=True)


if __name__ == "__main__":
    main()
