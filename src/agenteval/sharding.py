"""Which tests belong to which shard of a divided run."""

import heapq
from collections.abc import Sequence
from typing import NamedTuple


class Shard(NamedTuple):
    """Shard `number` of `of` shards, counted from 1."""

    number: int
    of: int


def divided(durations: Sequence[float | None], of: int) -> list[int]:
    """For each test the number of its shard, so that all take about as long.

    The longest test goes first, always to the shard with the least to do; a test whose duration is not known counts as
    the mean of the others. The same durations give the same shards, on any machine; when none is known, they are dealt
    out in turn.
    """
    known = [ms for ms in durations if ms is not None]
    mean = sum(known) / len(known) if known else 1.0
    weights = [round(1000 * (mean if ms is None else ms)) for ms in durations]
    loads = [(0, 0, number) for number in range(1, of + 1)]
    shards = [0] * len(weights)
    for index in sorted(range(len(weights)), key=lambda index: -weights[index]):
        load, tests, number = heapq.heappop(loads)
        shards[index] = number
        heapq.heappush(loads, (load + weights[index], tests + 1, number))
    return shards
