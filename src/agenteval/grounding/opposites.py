"""Words of a claim whose opposite stands in the same place of the nearest passage: "rose" where it says "fell".

The pairs are English. Texts often have both words of a pair, so that the words around them must agree as well.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from agenteval.language.content_words import plain_form

_PAIRS = """
rise increase grow climb gain jump surge soar raise | fall decrease shrink drop lose decline dip plunge slump sink reduce lower
heavier | lighter
ahead | behind
win | lose
more over above | less fewer under below
before | after
early earlier | late later
first earliest | last latest final
high higher highest | low lower lowest
best better | worst worse
biggest largest most | smallest least
bigger larger greater | smaller
open | close
accept approve | reject decline refuse
pass succeed | fail
enable | disable
allow permit legalise | forbid ban prohibit
buy acquire | sell
start begin | stop end finish
arrive | depart leave
add | remove delete
include | exclude
import | export
cheap cheaper | expensive
hot hotter warm warmer | cold colder cool cooler
long longer | short shorter
fast faster | slow slower
young younger | old older
strong stronger | weak weaker
easy easier | hard harder difficult
north | south
northern | southern
east | west
eastern | western
left | right
top | bottom
upper | lower
public | private
legal | illegal
safe | unsafe dangerous
guilty | innocent
support | oppose
positive | negative
inside | outside
indoor indoors | outdoor outdoors
strengthen | weaken
improve | worsen
upgrade | downgrade
majority | minority
morning | afternoon evening night
always | never
maximum | minimum
male man boy | female woman girl
true | false
normal | abnormal
usual | unusual
likely | unlikely
possible | impossible
available | unavailable
complete | incomplete
correct | incorrect
valid | invalid
visible | invisible
stable | unstable
known | unknown
paid | unpaid
cash | card
wet | dry
full | empty
"""
_PASSED_OVER = frozenset(
    "a an the is are was were be been has have had will would of to in on at by for its their".split()  # noqa: SIM905
)
"""Words without weight between a word and those that say what it is about."""


@cache
def _opposites() -> Mapping[str, Sequence[tuple[frozenset[str], frozenset[str]]]]:
    """By word: those that mean much the same, itself among them, and their opposites. `lose` has two of each."""
    found: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
    for line in _PAIRS.splitlines():
        one, _, other = (
            frozenset(plain_form(word) or word for word in side.split()) for side in line.partition("|")
        )
        for same, opposite in ((one, other), (other, one)):
            for word in same:
                found.setdefault(word, []).append((same, opposite))
    return found


def has_opposite(word: str, others: Iterable[str]) -> bool:
    """Whether an opposite of a word is among others."""
    return any(not opposite.isdisjoint(others) for _, opposite in _opposites().get(word, ()))


def opposed(own: Sequence[str], other: Sequence[str]) -> Iterator[int]:
    """The places among the words of a claim that have the opposite of what a passage has in the same place.

    Words are stems, or in lower case where they have none; an empty one is like no other.
    """
    said = frozenset(own)
    for place, word in enumerate(own):
        for same, opposite in _opposites().get(word, ()):
            there = [at for at, each in enumerate(other) if each in opposite]
            meant = [at for at, each in enumerate(other) if each in same]
            if any(_is_elliptical(other, at) or _is_about_same(own, place, other, at) for at in meant):
                continue
            fits = _is_amid_same if meant or not said.isdisjoint(opposite) else _is_about_same
            if any(fits(own, place, other, at) for at in there):
                yield place
                break


def _is_elliptical(words: Sequence[str], at: int) -> bool:
    """Whether a word leaves out what it is about: "the last one", "the last at 23:45"."""
    after = next(iter(words[at + 1 :]), "")
    return after == "one" or after in _PASSED_OVER


def _around(words: Sequence[str], place: int) -> list[str]:
    """Two words before a place and two after it, empty where there is none."""
    return [words[at] if 0 <= at < len(words) else "" for at in (place - 2, place - 1, place + 1, place + 2)]


def _is_amid_same(own: Sequence[str], place: int, other: Sequence[str], at: int) -> bool:
    """Whether two words in a row are the same: one before and one after, or two on one side."""
    here, there = _around(own, place), _around(other, at)
    rows = (slice(start, start + 2) for start in range(3))
    return any("" not in here[row] and here[row] == there[row] for row in rows)


def _is_about_same(own: Sequence[str], place: int, other: Sequence[str], at: int) -> bool:
    """Whether the next word with weight is the same on either side."""
    mine = _weighty(own[:place][::-1]), _weighty(own[place + 1 :])
    theirs = _weighty(other[:at][::-1]), _weighty(other[at + 1 :])
    return any(one == two != "" for one, two in zip(mine, theirs, strict=True))


def _weighty(words: Sequence[str]) -> str:
    return next((word for word in words if word not in _PASSED_OVER), "")
