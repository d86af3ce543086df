"""Write what other libraries compute of rates, which tests hold agenteval's own statistics to.

    pip install scipy statsmodels
    python -m benchmarks.rate_references > tests/data/rate_references.json

Neither library is needed to run agenteval or its tests: both together are 60 MB, for a table that does not change.
"""

import json
import random
from collections.abc import Iterator

SIZES = ((1, 1), (3, 3), (6, 6), (10, 10), (6, 10), (5, 20), (20, 20), (40, 40))
"""The trials before and after."""


def outcomes(before: int, after: int) -> Iterator[tuple[int, int]]:
    """Choose up to 40 pairs of passes; all, if there are no more."""
    every = [(was, now) for was in range(before + 1) for now in range(after + 1)]
    yield from random.Random(f"{before} {after}").sample(every, min(40, len(every)))


def main() -> None:
    """Print one line for each pair: passes and trials, Fisher's and Boschloo's p, Newcombe's interval of 90 %."""
    import scipy
    import statsmodels
    from scipy.stats import boschloo_exact, fisher_exact
    from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

    rows = []
    for n, m in SIZES:
        for was, now in outcomes(n, m):
            table = [[now, was], [m - now, n - was]]
            low, high = confint_proportions_2indep(
                now, m, was, n, method="newcomb", compare="diff", alpha=0.1
            )
            row = {
                "before": [was, n],
                "after": [now, m],
                "fisher": float(fisher_exact(table, alternative="less").pvalue),
                "boschloo": float(boschloo_exact(table, alternative="less", n=64).pvalue),
                "newcombe": [float(low), float(high)],
                "wilson": [float(end) for end in proportion_confint(now, m, alpha=0.05, method="wilson")],
            }
            rows.append(json.dumps(row))
    print(f'{{"scipy": "{scipy.__version__}", "statsmodels": "{statsmodels.__version__}", "rows": [')
    print(",\n".join(rows))
    print("]}")


if __name__ == "__main__":
    main()
