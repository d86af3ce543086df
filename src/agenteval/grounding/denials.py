"""What a claim denies that a passage says, or says that the passage denies."""

from collections.abc import Iterator
from itertools import pairwise

from agenteval.grounding.compared import NONE, REACH, Words
from agenteval.grounding.opposites import has_opposite
from agenteval.language.content_words import plain_form
from agenteval.lazyregex import lazy

_FORMER = lazy(r"(?i)(?:chang|mov|switch|replac)(?:ed|ing|es) (?:from )?")
"""What says of what follows that it is so no more: "changed from B26"."""


def denials(mine: Words, theirs: Words, shared: set[str]) -> Iterator[str]:
    """What one denies and the other says, as excerpts of the claim. `shared` are the stems in both."""
    own, other = mine.denied(), theirs.denied()
    for stem, (start, end) in own.items():
        if (
            mine.is_until(start, theirs)
            or mine.is_conditional(start)
            or (stem not in shared and (start == 0 or mine.is_abroad))
        ):
            continue  # "if you can't come"; "Don't forget your ticket"
        if (about := mine.subject_of(start)) and about in map(theirs.subject_of, theirs.denying):
            continue  # "18 isn't supported" for "18 no longer works"
        if _is_of_other(mine, theirs, start):
            continue
        is_past = theirs.has_changed and mine.words[start + 1 : start + 2] == ["longer"]
        is_denied = other or theirs.negatives or theirs.bars or is_past
        is_negative = theirs.excepts or (_is_negative(theirs, stem) if stem in shared else is_denied)
        if not (is_negative or has_opposite(stem, theirs.lowered)):
            yield mine.part(min(start, end), max(start, end) + 1)
    for stem, (start, end) in other.items():
        if stem in own or (
            _is_negative(mine, stem, in_clause=True) if stem in shared else own or mine.negatives
        ):
            continue
        if _is_of_other(theirs, mine, start) or theirs.is_within_other_limits(end, mine):
            continue  # "takes orders until ten" for "doesn't take orders after ten"
        if theirs.excepts and mine.restricts:
            continue  # "opens only if it rains" for "doesn't open unless it rains"
        if stem in shared and (_beside(theirs, start, end, shared) or _says_alone(mine, theirs, start, stem)):
            at = mine.stems.index(stem)
            yield mine.part(at, at + 1)
        elif (about := theirs.subject_of(start)) in shared:
            # "It runs on Windows" for "Windows is not supported", "Prices rose" for "Prices did not change"
            meant = _ABLE if stem in _ABLE else _MOVING if stem in _SAME else ()
            place = mine.stems.index(about)
            near = range(max(0, place - REACH), place + 1 + REACH)
            yield from (
                mine.words[at] for at, each in enumerate(mine.lowered) if each in meant and at in near
            )


def _is_of_other(words: Words, others: Words, place: int) -> bool:
    """Whether a negation is about a thing with a number, and the other text about one with another: Node 16 is not Node 18."""
    for at in range(max(1, place - 2), place):
        name, number = words.words[at - 1 : at + 1]
        if number.isdigit() and name[0].isupper() and at not in words.breaks:
            return words.stems[at - 1] in others.stems and number not in others.words
    return False


def _is_negative(words: Words, stem: str, *, in_clause: bool = False) -> bool:
    """Whether a word stands near something that denies it, or "none" may mean it.

    A negation may be farther away `in_clause`: "don't want the money spent on piers", "fällt zwischen Köln und Bonn aus".
    """
    if "none" in words.lowered:
        return True
    for place, each in enumerate(words.stems):
        if each != stem:
            continue
        near = [*range(max(0, place - REACH), min(len(words.words), place + 1 + REACH))]
        clause = words.clause(place) if in_clause else range(0)
        near += clause if words.is_german else filter(clause.__contains__, words.denying)
        near += (
            at for at in words.ends if at >= place + REACH
        )  # "Restoring to an older server always fails."
        inside = (at for at in near if words.ends.isdisjoint(range(min(at, place), max(at, place))))
        if any(
            (at in words.denying and (at not in words.answered or place in range(words.answered[at], at)))
            or (at != place and at in words.negatives)
            or _FORMER.fullmatch(words.part(at, place) + " ")
            for at in inside
        ):
            return True
    return False


def _beside(words: Words, start: int, end: int, shared: set[str]) -> bool:
    """Whether the content word after a denied one, or before it where none follows in its clause, is shared too."""
    is_none = not words.is_abroad and words.words[start].lower() in NONE
    last = None if is_none else min((at + 1 for at in words.breaks if at >= end), default=None)
    after = next((stem for stem in words.stems[end + 1 : last] if stem and stem not in _LIGHT), None)
    first = max((at + 1 for at in words.ends if at < start), default=0)
    before = next(filter(None, reversed(words.stems[first:start])), None)
    return after in shared if after else before in shared or not before


_SAME = frozenset(map(plain_form, ("change", "differ")))
_MOVING = frozenset(
    plain_form(word) or word
    for word in [
        "rise",
        "increase",
        "grow",
        "climb",
        "fall",
        "decrease",
        "drop",
        "decline",
        "higher",
        "lower",
        "more",
        "fewer",
        "less",
        "better",
        "worse",
        "greater",
    ]
)
"""Words that say that something has changed, or is not the same."""
_ABLE = frozenset(
    map(
        plain_form,
        ["supported", "works", "runs", "available", "possible", "allowed", "accepted", "included"],
    )
)
"""Words of which one may be said for another of what can be had or done."""
_LIGHT = frozenset(map(plain_form, "seen found reported given made expected known needed".split()))  # noqa: SIM905


def _says_alone(mine: Words, theirs: Words, start: int, stem: str) -> bool:
    """Whether a claim says only what "no" or "without" denies, or says it after the same word: "made a difference"."""
    if theirs.words[start].lower() not in NONE:
        return False
    said = [each for each in mine.stems if each]
    before = next(filter(None, reversed(theirs.stems[:start])), "")
    return said == [stem] or (before, stem) in pairwise(said)
