"""How much of a claim's wording the sources have: which of its words, and whether they stand there in this order.

The support of a claim is the share of its content words that the sources have, some of it counted in the best passage
alone, times how far the order of the words is that of the sources. What a claim says in its own words may be
right, so the second factor is never less than `LEAST_ORDER`.

What a JSON object says has neither verbs nor an order: there the second factor is 1, and numbers and dates that the
sources have count as words do.
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
LONG_PIECE = 3
"""Words in a row, from this many on, that are hardly there by chance."""
ANYWHERE = 0.8
"""What share of the words counts that is in the sources anywhere; the rest of the weight is on the best passage."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """`wording` is between 0 and 1; `missing` are signs of words that no source has.

    `weight` is that of all words; `of_record` says that the best passage is what a JSON object says.
    """

    wording: float
    weight: float
    best: Best | None
    missing: frozenset[str]
    of_record: bool

    def score(self, facts: Sequence[bool]) -> float:
        """The support (0-1) of a claim with these numbers and dates, of each of which is told whether it is known."""
        if not (self.of_record and facts):
            return self.wording
        return (self.wording * self.weight + sum(facts)) / (self.weight + len(facts))


def overlap(
    words: Sequence[str], wanted: Sequence[str], said: str, passages: Passages, signs: Signs
) -> Overlap:
    """Compare a claim with the sources.

    `words` are its tokens, in order; `wanted` are the signs of the content words that have to be supported, each once;
    `said` has the signs of what the user said.
    """
    passages.spend(4 * len(words))
    weights = {sign: LIGHT_WEIGHT if sign in signs.light else 1.0 for sign in wanted}
    lacking = [sign for sign in wanted if sign not in passages.content]
    missing = frozenset(lacking)
    for sign in lacking:
        if sign in said:
            weights[sign] *= SAID_WEIGHT
    total = sum(weights.values())
    present = [sign for sign in wanted if sign not in missing]
    numbers = [sign for sign in signs.all(words) if signs.digits(sign)]
    best = passages.best(present, numbers)
    of_record = passages.is_record(best)
    if of_record:
        best = passages.best(present, numbers, joined=False)
    if not total:
        return Overlap(1.0, total, best, missing, of_record)
    anywhere = 1 - sum(map(weights.__getitem__, lacking)) / total  # in one order: sums of floats depend on it
    here = sum(map(weights.__getitem__, best.words)) / total if best else 0.0
    wording = ANYWHERE * anywhere + (1 - ANYWHERE) * here
    if not of_record:
        wording *= max(LEAST_ORDER, _order(words, passages, signs))
    return Overlap(wording, total, best, missing, of_record)


def _order(words: Sequence[str], passages: Passages, signs: Signs) -> float:
    """How far words stand in the order of the sources (0-1).

    The mean of three shares: pairs of content words that stand side by side there too, words in pieces of three words
    or more that are there as they stand, and words that go on with such a piece rather than begin a new one. A number or
    a date ends a row of words, so that the next word begins a piece anyway.
    """
    pairs = list(_pairs(signs.content(words)))
    if not pairs:
        return 1.0
    runs = list(filter(None, signs.all(words).split(END)))
    total = sum(map(len, runs))
    pieces = [length for run in runs for length in _pieces(run, passages.words)]
    long = sum(length for length in pieces if length >= LONG_PIECE)
    long += sum(len(run) for run in runs if len(run) < LONG_PIECE and run in passages.words)

    def mean(kept: float) -> float:
        return (kept + long / total + 1 - (len(pieces) - len(runs)) / total) / 3

    if mean(1) <= LEAST_ORDER:  # whatever the pairs: each is looked for in all sources
        return LEAST_ORDER
    return mean(sum(map(passages.content.__contains__, pairs)) / len(pairs))


def _pairs(signs: str) -> Iterator[str]:
    for run in signs.split(END):
        for at in range(len(run) - 1):
            yield run[at : at + 2]


def _pieces(run: str, words: str) -> Iterator[int]:
    """The lengths of the pieces that a row of words consists of, each the longest that the sources have.

    A longer piece stands nowhere before the first place of a shorter one, so that the search goes on from there.
    """
    start, size = 0, len(run)
    while start < size:
        end = start + 1
        at = 0
        while end < size:
            at = words.find(run[start : end + 1], at)
            if at < 0:
                break
            end += 1
            while end < size and words.startswith(run[end], at + end - start):
                end += 1
        yield end - start
        start = end
