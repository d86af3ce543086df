"""How much of a claim's wording the sources have: which of its words, and whether they stand there in this order.

The support of a claim is the share of its content words that the sources have, half of it counted in the best
passage alone, times how far the order of the words is that of the sources. What a claim says in its own words may be
right, so the second factor is never less than `LEAST_ORDER`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agenteval.grounding.passages import Best, Passages
from agenteval.language.signs import END, Signs

LIGHT_WEIGHT = 0.4
"""What a word that says little counts, beside one that says something."""
SAID_WEIGHT = 0.5
"""What a word counts that the user said and no source has: asking is not knowing."""
LEAST_ORDER = 0.7


@dataclass(frozen=True, slots=True)
class Overlap:
    """`score` is between 0 and 1; `missing` are signs of words that no source has."""

    score: float
    best: Best | None
    missing: frozenset[str]


def overlap(words: Sequence[str], wanted: Sequence[str], said: str, passages: Passages, signs: Signs) -> Overlap:
    """Compare a claim with the sources.

    `words` are its tokens, in order; `wanted` are the signs of the content words that have to be supported, each once;
    `said` has the signs of what the user said.
    """
    weights = {sign: LIGHT_WEIGHT if sign in signs.light else 1.0 for sign in wanted}
    missing = frozenset(sign for sign in wanted if not passages.has(sign))
    for sign in missing:
        if sign in said:
            weights[sign] *= SAID_WEIGHT
    total = sum(weights.values())
    best = passages.best(wanted)
    if not total:
        return Overlap(1.0, best, missing)
    anywhere = 1 - sum(map(weights.__getitem__, missing)) / total
    here = sum(map(weights.__getitem__, best.words)) / total if best else 0.0
    order = max(LEAST_ORDER, _order(words, passages, signs))
    return Overlap((anywhere + here) / 2 * order, best, missing)


def _order(words: Sequence[str], passages: Passages, signs: Signs) -> float:
    """How far words stand in the order of the sources: pairs of content words, and runs of three words or more."""
    pairs = list(_rows(signs.content(words), 2))
    if not pairs:
        return 1.0
    share = sum(map(passages.has, pairs)) / len(pairs)
    covered = total = 0
    for run in signs.all(words).split(END):
        total += len(run)
        covered += _in_rows(run, passages)
    return (share + covered / total) / 2


def _rows(signs: str, length: int) -> Iterator[str]:
    for run in signs.split(END):
        for at in range(len(run) - length + 1):
            yield run[at : at + length]


def _in_rows(run: str, passages: Passages) -> int:
    """How many of the words stand in a row of three, or all there are, that the sources have."""
    length = min(3, len(run))
    count = end = 0
    for at in range(len(run) - length + 1) if run else ():
        if passages.has_row(run[at : at + length]):
            count += at + length - max(at, end)
            end = at + length
    return count
