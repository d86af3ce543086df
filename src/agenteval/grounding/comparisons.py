"""What is compared with what: "the cod was slower than the herring", where a passage has it the other way round. The words are English."""

from collections.abc import Iterator
from typing import NamedTuple

from agenteval.grounding.compared import Words
from agenteval.grounding.opposites import has_opposite


class _Comparison(NamedTuple):
    how: frozenset[str]
    """The comparatives before "than", as compared: "slower"."""
    place: int
    """That of "than"."""
    left: frozenset[str]
    right: frozenset[str]


def reversed_comparisons(mine: Words, theirs: Words) -> Iterator[str]:
    """The comparisons of a claim whose sides a passage has changed round, as excerpts of the claim."""
    for one in _comparisons(mine):
        for other in _comparisons(theirs):
            if one.how & other.how and _crossed(one, other) > _straight(one, other):
                yield mine.part(one.place - 1, one.place + 2)
                break


def is_same_turned_round(mine: Words, theirs: Words) -> bool:
    """Whether a comparison of a claim is one of a passage with the sides changed round, and the opposite comparative."""
    return any(
        any(has_opposite(how, other.how) for how in one.how) and _crossed(one, other) > _straight(one, other)
        for one in _comparisons(mine)
        for other in _comparisons(theirs)
    )


def _crossed(one: _Comparison, other: _Comparison) -> int:
    return min(len(one.left & other.right), len(one.right & other.left))


def _straight(one: _Comparison, other: _Comparison) -> int:
    return min(len(one.left & other.left), len(one.right & other.right))


def _comparisons(words: Words) -> Iterator[_Comparison]:
    lowered = words.lowered
    for place, word in enumerate(lowered):
        if word != "than":
            continue
        start = max((at + 1 for at in words.ends if at < place), default=0)
        end = min((at + 1 for at in words.breaks | words.ends if at >= place), default=len(lowered))
        how = frozenset(each for each in lowered[start:place] if each in _COMPARING or each.endswith("er"))
        left, right = frozenset(words.stems[start:place]), frozenset(words.stems[place + 1 : end])
        yield _Comparison(how, place, left - right - how - {""}, right - left - {""})


_COMPARING = ("more", "less", "fewer")
