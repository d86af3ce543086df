"""From what to what something changed: "from 2 to 3" where a passage has "from 3 to 2". The words are English."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from agenteval.grounding.statements import Fact, Statement, are_same, statement
from agenteval.lazyregex import lazy

_FROM = lazy(r"(?i)\bfrom (?:about |around |just |over )?[$\u20ac\u00a3]?\Z")
_TO = lazy(r"(?i)(?![^.;,]*\b(?:and|while|but)\b)[^.;,\d]{0,25}?\b(?:to|into)\b[^.;,\d]{0,15}")
_BEFORE = lazy(
    r"(?i)[^.;\d]{0,30}?\b(?:instead of|rather than|previously|formerly|(?:up|down) from|no longer|was|were|used to be)\b[^.;\d]{0,15}"
)
"""What stands between what is so now and what was."""
_REPLACED = lazy(
    r"(?i)[^.;\d]{0,30}?\b(?:instead of|rather than|previously|formerly|(?:up|down) from|no longer)\b[^.;\d]{0,15}"
)
_CHANGED = lazy(
    r"(?i)\b(?:mov|chang|rais|increas|ris|rose|cut|reduc|lower|fell|fall|dropp?|declin|grow|grew|extend|postpon|reschedul|shift|push|brought"
    r"|upgrad|switch|went|gone|jump|climb)(?:e?[sd]|e|en|ing|n)?\b(?![^.;]*\b(?:and|while|but)\b)[^.;]*\Z"
)
"""What says before the two that one became the other: not the hours "from 9:00 to 17:00"."""
_NOW = lazy(r"(?i)\b(?:is|are|costs?|remains?|stays?|takes? place|starts?|begins?|now)\b")
_THEN = lazy(
    r"(?i)\b(?:was|were|been|had|former\w*|original\w*|initial\w*|previous\w*|earlier|used to|old|first|before|until|till|from|instead|than|not?|never)\b|n't\b"
)


class _Change(NamedTuple):
    old: Fact
    new: Fact

    def is_like(self, other: "_Change") -> bool:
        return are_same(self.old, other.old) and are_same(self.new, other.new)


def exchanged_changes(stated: Statement, passages: Callable[[Fact], Sequence[str]]) -> Iterator[str]:
    """The changes of a claim that passages have the other way round only, as written.

    `passages` gives those that are near a number of the claim.
    """
    text = stated.without_links
    for change in _changes(stated):
        told = [each for passage in passages(change.old) for each in _told(passage)]
        back = _Change(change.new, change.old)
        if any(map(back.is_like, told)) and not any(map(change.is_like, told)):
            start, end = sorted((change.old, change.new), key=lambda each: each.start)
            yield text[start.start : end.end]


def outdated(stated: Statement, passage: str) -> Iterator[str]:
    """The numbers and dates that a claim says are so now, of which a passage says that others took their place."""
    text = stated.without_links
    if not _NOW.search(text) or _THEN.search(text):
        return
    told = statement(passage)
    for change in _told(passage):
        if not _is_past(change, told.without_links) or any(
            are_same(each, change.new) for each in stated.facts
        ):
            continue
        if sum(are_same(change.old, each) for each in told.facts) == 1:
            yield from (each.text for each in stated.facts if are_same(each, change.old))


def _is_past(change: _Change, passage: str) -> bool:
    """Whether a passage says for certain that one has taken the place of the other."""
    if change.new.start < change.old.start:
        return bool(_REPLACED.fullmatch(passage[change.new.end : change.old.start]))
    return bool(_CHANGED.search(passage[: change.old.start]))


@lru_cache(maxsize=64)
def _told(passage: str) -> Sequence[_Change]:
    return list(_changes(statement(passage)))


def _changes(stated: Statement) -> Iterator[_Change]:
    text = stated.without_links
    for one, two in pairwise(stated.facts):
        between = text[one.end : two.start]
        if _TO.fullmatch(between) and _FROM.search(text[max(0, one.start - 20) : one.start]):
            yield _Change(one, two)
        elif _BEFORE.fullmatch(between):
            yield _Change(two, one)
