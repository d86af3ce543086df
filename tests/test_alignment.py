"""Alignments of expectations with facts, held against a model that tries everything."""

from itertools import pairwise
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from agenteval.matching.alignment import Alignment, align_in_any_order, align_in_order

Table = tuple[list[int], int]
"""Rows of bits, and how many facts there are."""


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Up to six expectations and six facts, which fit each other at random."""
    facts = draw(st.integers(0, 6))
    return draw(st.lists(st.integers(0, 2**facts - 1), max_size=6)), facts


def most_in_order(rows: list[int], facts: int) -> int:
    """The most pairs without crossings, by trying every choice."""
    if not rows or not facts:
        return 0
    fits = rows[-1] >> (facts - 1) & 1
    found = [most_in_order(rows[:-1], facts), most_in_order(rows, facts - 1)]
    return max(*found, 1 + most_in_order(rows[:-1], facts - 1) if fits else 0)


def most_in_any_order(rows: list[int], free: int) -> int:
    """The most pairs, by trying every choice."""
    if not rows:
        return 0
    choices = [fact for fact in range(free.bit_length()) if (rows[0] & free) >> fact & 1]
    taken = [1 + most_in_any_order(rows[1:], free ^ 1 << fact) for fact in choices]
    return max([most_in_any_order(rows[1:], free), *taken])


def check_consistent(alignment: Alignment, rows: list[int], facts: int) -> None:
    """Every expectation and every fact stands in one place, and pairs are pairs that fit."""
    pairs = [*alignment.matched, *alignment.out_of_order]
    assert sorted([e for e, _ in pairs] + alignment.missing) == list(range(len(rows)))
    assert sorted([f for _, f in pairs] + alignment.unexpected) == list(range(facts))
    assert all(rows[expected] >> fact & 1 for expected, fact in pairs)


@given(tables())
def test_in_order_is_optimal(table: Table) -> None:
    """As many pairs as possible without crossings; of the rest as many out of order as possible."""
    rows, facts = table
    alignment = align_in_order(rows, facts)
    check_consistent(alignment, rows, facts)
    assert len(alignment.matched) == most_in_order(rows, facts)
    assert all(one[0] < two[0] and one[1] < two[1] for one, two in pairwise(alignment.matched))
    done = {expected for expected, _ in alignment.matched}
    free = (1 << facts) - 1 - sum(1 << fact for _, fact in alignment.matched)
    rest = [row for expected, row in enumerate(rows) if expected not in done]
    assert len(alignment.out_of_order) == most_in_any_order(rest, free)


@given(tables())
def test_in_any_order_is_optimal(table: Table) -> None:
    """As many pairs as possible, in the order of the expectations."""
    rows, facts = table
    alignment = align_in_any_order(rows, facts)
    check_consistent(alignment, rows, facts)
    assert len(alignment.matched) == most_in_any_order(rows, (1 << facts) - 1)
    assert alignment.out_of_order == []
    assert alignment.matched == sorted(alignment.matched)


def test_a_greedy_matching_is_mended() -> None:
    """The first expectation fits both facts, the second only the first: each gets one."""
    assert align_in_any_order([0b11, 0b01], 2).matched == [(0, 1), (1, 0)]


def test_a_greedy_alignment_is_not_taken() -> None:
    """Matching the first expectation with the last fact would leave the two others without."""
    alignment = align_in_order([0b100, 0b001, 0b010], 3)
    assert alignment.matched == [(1, 0), (2, 1)]
    assert alignment.out_of_order == [(0, 2)]


def test_thousands_are_aligned_in_moments() -> None:
    """Two thousand each, where everything fits, where half fits nothing, and where order is turned around."""
    number = 2_000
    full = (1 << number) - 1
    reverse = [1 << (number - 1 - place) for place in range(number)]
    start = process_time()
    assert len(align_in_order([full] * number, number).matched) == number
    assert len(align_in_any_order([full >> number // 2] * number, number).missing) == number // 2
    assert len(align_in_order(reverse, number).out_of_order) == number - 1
    assert process_time() - start < 5


LETTERS = st.text(alphabet="abc", max_size=12)
