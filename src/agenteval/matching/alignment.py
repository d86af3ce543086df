"""Alignments of a list of expectations with a list of facts, as many pairs as possible.

Rows of bits show what fits: bit `f` of row `e` is set if fact `f` is what expectation `e` asks for. Rows are plain
integers: a few thousand of each take kilobytes, and a step over a whole row is one operation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Pair = tuple[int, int]
"""The indexes, from 0, of an expectation and of the fact aligned with it."""


@dataclass(slots=True, kw_only=True)
class Alignment:
    """The result of an alignment.

    Each expectation is `matched`, `out_of_order` or `missing`; each other fact is `unexpected`.
    """

    matched: list[Pair]
    out_of_order: list[Pair]
    missing: list[int]
    unexpected: list[int]


def align_in_order(rows: Sequence[int], facts: int) -> Alignment:
    """Match as many pairs as possible without crossings, then as many of the rest as possible out of order."""
    matched = _longest_common(rows, facts)
    done = {expected for expected, _ in matched}
    free = _all(facts)
    for _, fact in matched:
        free ^= 1 << fact
    rest = [0 if expected in done else row & free for expected, row in enumerate(rows)]
    return _aligned(rows, facts, matched, _largest_matching(rest, free))


def align_in_any_order(rows: Sequence[int], facts: int) -> Alignment:
    """Match as many pairs as possible."""
    return _aligned(rows, facts, _largest_matching(rows, _all(facts)), [])


def _all(facts: int) -> int:
    return (1 << facts) - 1


def _aligned(rows: Sequence[int], facts: int, matched: list[Pair], out_of_order: list[Pair]) -> Alignment:
    pairs = [*matched, *out_of_order]
    found = {expected for expected, _ in pairs}
    used = {fact for _, fact in pairs}
    return Alignment(
        matched=matched,
        out_of_order=out_of_order,
        missing=[expected for expected in range(len(rows)) if expected not in found],
        unexpected=[fact for fact in range(facts) if fact not in used],
    )


def _longest_common(rows: Sequence[int], facts: int) -> list[Pair]:
    """Find the longest common subsequence by dynamic programming, with a line of the table in one integer.

    A 0 at bit `f` of line `e` means: with fact `f`, the best result for the first `e` expectations grows by one.
    (This is the bit-parallel recurrence of Hyyrö, 2004.)
    """
    everything = line = _all(facts)
    lines = [line]
    for row in rows:
        hits = line & row
        line = ((line + hits) | (line - hits)) & everything
        lines.append(line)
    pairs = []
    end = facts
    for expected in range(len(rows), 0, -1):
        growth = ~lines[expected] & _all(end)
        before = ~lines[expected - 1] & _all(end)
        if growth.bit_count() > before.bit_count():
            end = growth.bit_length() - 1
            pairs.append((expected - 1, end))
    return pairs[::-1]


def _largest_matching(rows: Sequence[int], free: int) -> list[Pair]:
    """Find a matching with as many pairs as possible, by augmenting paths. Expectations take the first free fact."""
    owner: dict[int, int] = {}
    fact_of: dict[int, int] = {}
    alive = free
    for start in range(len(rows)):
        came_from: dict[int, int] = {}
        waiting = [start]
        seen = 0
        for expected in waiting:
            if open_facts := rows[expected] & free:
                first = open_facts & -open_facts
                free ^= first
                _shift(expected, first.bit_length() - 1, came_from, fact_of, owner)
                break
            taken = rows[expected] & alive & ~seen
            seen |= taken
            for fact in _bits(taken):
                came_from[owner[fact]] = expected
                waiting.append(owner[fact])
        else:
            alive &= ~seen  # from these facts no path ever leads to a free one again
    return sorted(fact_of.items())


def _shift(
    expected: int,
    fact: int,
    came_from: dict[int, int],
    fact_of: dict[int, int],
    owner: dict[int, int],
) -> None:
    """Give a fact to an expectation, its former fact to the expectation before it on the path, and so on to the
    start.
    """
    while True:
        given_up = fact_of.get(expected)
        fact_of[expected] = fact
        owner[fact] = expected
        if given_up is None:
            return
        expected, fact = came_from[expected], given_up


def _bits(row: int) -> Iterator[int]:
    while row:
        lowest = row & -row
        yield lowest.bit_length() - 1
        row ^= lowest
