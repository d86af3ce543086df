"""From what to what something changed: "from 2 to 3" where a passage has "from 3 to 2". The words are English."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from agenteval.grounding.quantities import quantities
from agenteval.grounding.quantity import Quantity
from agenteval.grounding.statements import Statement
from agenteval.lazyregex import lazy

LONGEST = 1_500
"""Characters of a claim and of a passage that are compared: a sentence or two is rarely longer."""
_FROM = lazy(r"(?i)\bfrom (?:about |around |just |over )?[$\u20ac\u00a3]?\Z")
_TO = lazy(r"(?i)(?![^.;,]*\b(?:and|while|but)\b)[^.;,\d]{0,25}?\b(?:to|into)\b[^.;,\d]{0,15}")
_BEFORE = lazy(
    r"(?i)[^.;\d]{0,30}?\b(?:instead of|rather than|previously|formerly|(?:up|down) from|no longer|was|were|used to be)\b[^.;\d]{0,15}"
)
"""What stands between what is so now and what was."""


class _Change(NamedTuple):
    old: Quantity
    new: Quantity

    def is_like(self, other: "_Change") -> bool:
        return _are_equal(self.old, other.old) and _are_equal(self.new, other.new)


def exchanged_changes(stated: Statement, passages: Callable[[Quantity], Sequence[str]]) -> Iterator[str]:
    """The changes of a claim that passages have the other way round only, as written.

    `passages` gives those that are near a number of the claim.
    """
    text = stated.without_links
    if len(text) > LONGEST:
        return
    for change in _changes(text, stated.quantities):
        told = [each for passage in passages(change.old) for each in _told(passage[:LONGEST])]
        back = _Change(change.new, change.old)
        if any(map(back.is_like, told)) and not any(map(change.is_like, told)):
            start, end = sorted((change.old, change.new), key=lambda each: each.start)
            yield text[start.start : end.end]


@lru_cache(maxsize=64)
def _told(passage: str) -> Sequence[_Change]:
    return list(_changes(passage, quantities(passage)))


def _changes(text: str, found: Sequence[Quantity]) -> Iterator[_Change]:
    for one, two in pairwise(sorted(found, key=lambda each: each.start)):
        between = text[one.end : two.start]
        if _TO.fullmatch(between) and _FROM.search(text[max(0, one.start - 20) : one.start]):
            yield _Change(one, two)
        elif _BEFORE.fullmatch(between):
            yield _Change(two, one)


def _are_equal(one: Quantity, two: Quantity) -> bool:
    return not one.values.isdisjoint(two.values) and (one.unit == two.unit or not (one.unit and two.unit))
