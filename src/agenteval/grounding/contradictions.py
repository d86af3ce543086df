"""Where a claim says the opposite of the passage nearest to it, or has the roles of two names swapped.

Both are judged only where the claim says much the same as the passage: with `LEAST_SHARED` of its content words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agenteval.language.content_words import plain_form
from agenteval.language.signs import END, tokens
from agenteval.lazyregex import lazy

LEAST_SHARED = 0.5
"""The share of a claim's content words that the passage must have for the two to be compared."""
REACH = 4
"""How many words after it a negation may deny."""


def contradictions(claim: str, passage: str) -> Iterator[str]:
    """What the claim denies, asserts or swaps against the passage, each as an excerpt of the claim."""
    denied = _DENIAL.search(claim) or _DENIAL.search(passage)
    named = len(_CAPITAL.findall(claim)) > 1
    if not denied and not named:
        return
    mine, theirs = _Words(claim), _Words(passage)
    stems = set(mine.stems) - {""}
    shared = stems.intersection(theirs.stems)
    if not shared or len(shared) < LEAST_SHARED * len(stems):
        return
    if denied:
        yield from _denials(mine, theirs, shared)
    if named:
        yield from _swaps(mine, theirs)


_DENIAL = lazy(r"(?i)\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b")  # noqa: RUF001
_CAPITAL = lazy(r"\b[^\W\d_a-z]\w*")
_DENYING = frozenset("not no never none nobody nothing neither nor without cannot".split())  # noqa: SIM905
_NOT_DENYING = frozenset("only just merely simply least less more fewer later doubt matter".split())  # noqa: SIM905
_NEGATIVE = lazy(
    r"(?i)\b(?:den(?:y|ied|ies)|refus|fail|lack|reject|unable|unlikely|prevent|avoid|stop|ceas|halt|cancel|drop"
    r"|absen|miss(?:es|ed|ing)\b|hardly|barely|neither|far from|rather than|instead|un[a-z]{4}|in(?:valid|correct|complete|active))"
)


class _Words:
    """The words of a text, the stem of each (empty for a function word), and which deny what follows."""

    def __init__(self, text: str) -> None:
        self.words = [token for token in tokens(text) if token != END]
        self.stems = list(map(plain_form, self.words))
        self.denying = self._denying() if _DENIAL.search(text) else []
        for place in self.denying:
            self.stems[place] = ""

    def _denying(self) -> list[int]:
        words = [*map(str.lower, self.words), ""]
        return [
            place
            for place, word in enumerate(words)
            if (word in _DENYING or word.endswith("n't"))
            and words[place + 1] not in _NOT_DENYING
            and (place > 0 or word != "no")
        ]

    def part(self, start: int, end: int) -> str:
        """Words as they are written."""
        return " ".join(self.words[start:end])

    def denied(self) -> dict[str, tuple[int, int]]:
        """The stems that are denied, each with the places of the negation and of the word."""
        found: dict[str, tuple[int, int]] = {}
        for place in self.denying:
            for at in range(place + 1, min(len(self.words), place + 1 + REACH)):
                if self.stems[at]:
                    found.setdefault(self.stems[at], (place, at))
                    break
        return found

    def is_name(self, place: int) -> bool:
        """Whether a word is capitalised and carries meaning."""
        return bool(self.stems[place]) and self.words[place][0].isupper()


# Negation ------------------------------------------------------------------------------------------------------


def _denials(mine: _Words, theirs: _Words, shared: set[str]) -> Iterator[str]:
    own, other = mine.denied(), theirs.denied()
    negative = bool(_NEGATIVE.search(" ".join(theirs.words)))
    for stem, (start, end) in own.items():
        if stem in other:
            continue
        if not _is_negative(theirs, stem) if stem in shared else not (other or negative):
            yield mine.part(start, end + 1)
    if own or _NEGATIVE.search(" ".join(mine.words)):
        return
    for stem, (start, end) in other.items():
        if stem in shared and _beside(theirs, start, end, shared):
            at = mine.stems.index(stem)
            yield mine.part(at, at + 1)


def _is_negative(words: _Words, stem: str) -> bool:
    """Whether a word stands near something that denies it."""
    for place, each in enumerate(words.stems):
        near = range(max(0, place - REACH), min(len(words.words), place + 1 + REACH)) if each == stem else ()
        if any(at in words.denying or _NEGATIVE.match(words.words[at]) for at in near):
            return True
    return False


def _beside(words: _Words, start: int, end: int, shared: set[str]) -> bool:
    """Whether the content word after a denied one, or before it where none follows, is shared too."""
    after = next(filter(None, words.stems[end + 1 :]), None)
    before = next(filter(None, reversed(words.stems[:start])), None)
    return after in shared if after else before in shared


# Roles ---------------------------------------------------------------------------------------------------------

_SYMMETRIC = frozenset(
    map(
        plain_form,
        "meet met marry married merge talk negotiate play face fight share compare discuss include agree partner".split(),  # noqa: SIM905
    )
)


@dataclass(frozen=True, slots=True)
class _Name:
    stems: tuple[str, ...]
    start: int
    end: int


def _swaps(mine: _Words, theirs: _Words) -> Iterator[str]:
    """Two names with a relation between them that the passage has between them the other way round."""
    known = {theirs.stems[place] for place in range(len(theirs.words)) if theirs.is_name(place)}
    names = _names(mine, known)
    for one, two in pairwise(names):
        relation = _between(mine, one.end, two.start)
        if one.stems == two.stems or not relation:
            continue
        passive = _is_passive(mine, one.end, two.start, relation)
        ways = set(_ways(theirs, one.stems, two.stems, relation))
        if ways and all(forward == (passive != other) for forward, other in ways):
            yield mine.part(one.start, two.end)


def _ways(
    words: _Words, one: Sequence[str], two: Sequence[str], relation: set[str]
) -> Iterator[tuple[bool, bool]]:
    """How the passage relates the two: whether the first comes first, and whether the relation is passive."""
    for start, end in _places(words.stems, one):
        for other_start, other_end in _places(words.stems, two):
            forward = end <= other_start
            inner = (end, other_start) if forward else (other_end, start)
            if shared := _between(words, *inner) & relation:
                yield forward, _is_passive(words, *inner, shared)


def _names(words: _Words, known: set[str]) -> list[_Name]:
    """Runs of words that are capitalised here and in the passage."""
    found: list[_Name] = []
    start = 0
    for place in range(len(words.words) + 1):
        if place < len(words.words) and words.is_name(place) and words.stems[place] in known:
            continue
        if place > start:
            found.append(_Name(tuple(words.stems[start:place]), start, place))
        start = place + 1
    return found


def _places(stems: Sequence[str], wanted: Sequence[str]) -> list[tuple[int, int]]:
    size = len(wanted)
    starts = (at for at, stem in enumerate(stems) if stem == wanted[0])
    return [(at, at + size) for at in starts if tuple(stems[at : at + size]) == wanted]


def _between(words: _Words, start: int, end: int) -> set[str]:
    """The stems of what stands between two names, without names and what goes both ways."""
    places = range(start, end)
    return {words.stems[at] for at in places if words.stems[at] and not words.is_name(at)} - _SYMMETRIC


def _is_passive(words: _Words, start: int, end: int, relation: set[str]) -> bool:
    """Whether one of the words between is followed by "by"."""
    return any(words.stems[at] in relation and words.words[at + 1].lower() == "by" for at in range(start, end - 1))
