"""Where a claim says the opposite of the passage nearest to it, or has the roles of two names swapped.

Both are judged only where the claim says much the same as the passage: with `LEAST_SHARED` of its content words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agenteval.language.content_words import plain_form
from agenteval.language.signs import tokens
from agenteval.lazyregex import lazy
from agenteval.text import fold

LEAST_SHARED = 0.5
"""The share of a claim's content words that the passage must have for the two to be compared."""
REACH = 4
"""How many words after it a negation may deny."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word as written, its stem (empty for a function word), and whether it denies what follows."""

    text: str
    stem: str
    denies: bool
    name: bool


def contradictions(claim: str, passage: str) -> Iterator[str]:
    """What the claim denies, asserts or swaps against the passage, each as an excerpt of the claim."""
    denied = _DENIAL.search(claim) or _DENIAL.search(passage)
    named = len(_CAPITAL.findall(claim)) > 1
    if not denied and not named:
        return
    mine, theirs = _words(claim), _words(passage)
    stems = {word.stem for word in mine if word.stem}
    shared = stems & {word.stem for word in theirs}
    if len(shared) < LEAST_SHARED * len(stems) or not shared:
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


def _words(text: str) -> list[_Word]:
    found: list[_Word] = []
    written = [token for token in tokens(text) if token[0].isalnum()]
    for place, token in enumerate(written):
        folded = fold(token).replace("’", "'")  # noqa: RUF001
        following = fold(written[place + 1]) if place + 1 < len(written) else ""
        denies = folded in _DENYING or folded.endswith("n't")
        if denies and (following in _NOT_DENYING or (place == 0 and folded == "no")):
            denies = False
        stem = "" if denies else plain_form(token.rstrip("."))
        found.append(_Word(token, stem, denies, token[0].isupper() and bool(stem)))
    return found


# Negation ------------------------------------------------------------------------------------------------------


def _denials(mine: Sequence[_Word], theirs: Sequence[_Word], shared: set[str]) -> Iterator[str]:
    own, other = _denied(mine), _denied(theirs)
    everything = " ".join(word.text for word in theirs)
    for stem, (start, end) in own.items():
        if stem in other:
            continue
        known = stem in shared
        if (known and not _is_negative(theirs, stem)) or (
            not known and not other and not _NEGATIVE.search(everything)
        ):
            yield " ".join(word.text for word in mine[start : end + 1])
    if own or _NEGATIVE.search(" ".join(word.text for word in mine)):
        return
    for stem, (start, end) in other.items():
        if stem not in shared or not _beside(theirs, start, end, shared):
            continue
        at = next(place for place, word in enumerate(mine) if word.stem == stem)
        yield mine[at].text


def _denied(words: Sequence[_Word]) -> dict[str, tuple[int, int]]:
    """The stems that are denied, each with the places of the negation and of the word."""
    found: dict[str, tuple[int, int]] = {}
    for place, word in enumerate(words):
        if word.denies:
            reach = range(place + 1, min(len(words), place + 1 + REACH))
            for at in reach:
                if words[at].stem:
                    found.setdefault(words[at].stem, (place, at))
                    break
    return found


def _is_negative(words: Sequence[_Word], stem: str) -> bool:
    """Whether a word stands near something else that denies it."""
    places = [place for place, word in enumerate(words) if word.stem == stem]
    near = (words[max(0, place - REACH) : place + 1 + REACH] for place in places)
    return any(word.denies or _NEGATIVE.match(word.text) for part in near for word in part)


def _beside(words: Sequence[_Word], start: int, end: int, shared: set[str]) -> bool:
    """Whether a content word next to a denied one, on either side, is shared too."""
    before = [word.stem for word in words[:start] if word.stem][-1:]
    after = [word.stem for word in words[end + 1 :] if word.stem][:1]
    return bool(after and after[0] in shared) or bool(not after and before and before[0] in shared)


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


def _swaps(mine: Sequence[_Word], theirs: Sequence[_Word]) -> Iterator[str]:
    """Two names with a relation between them that the passage has between them the other way round."""
    known = {word.stem for word in theirs if word.name}
    names = _names(mine, known)
    for one, two in zip(names, names[1:]):
        if one.stems == two.stems:
            continue
        relation = _between(mine, one.end, two.start)
        if not relation:
            continue
        passive = _is_passive(mine[one.end : two.start], relation)
        ways = set(_ways(theirs, one.stems, two.stems, relation))
        if ways and all(forward == (passive != other) for forward, other in ways):
            yield " ".join(word.text for word in mine[one.start : two.end])


def _ways(
    words: Sequence[_Word], one: Sequence[str], two: Sequence[str], relation: set[str]
) -> Iterator[tuple[bool, bool]]:
    """How the passage relates the two: whether the first comes first, and whether the relation is passive."""
    first, second = _places(words, one), _places(words, two)
    for start, end in first:
        for other_start, other_end in second:
            inner = (end, other_start) if end <= other_start else (other_end, start)
            shared = _between(words, *inner) & relation
            if shared:
                yield end <= other_start, _is_passive(words[slice(*inner)], shared)


def _names(words: Sequence[_Word], known: set[str]) -> list[_Name]:
    """Runs of words that are capitalised here and in the passage."""
    found: list[_Name] = []
    run: list[str] = []
    for place, word in enumerate([*words, _Word("", "", False, False)]):  # noqa: FBT003 - an end
        if word.name and word.stem in known:
            run.append(word.stem)
        elif run:
            found.append(_Name(tuple(run), place - len(run), place))
            run = []
    return found


def _places(words: Sequence[_Word], stems: Sequence[str]) -> list[tuple[int, int]]:
    size = len(stems)
    return [
        (at, at + size)
        for at in range(len(words) - size + 1)
        if all(words[at + place].stem == stem for place, stem in enumerate(stems))
    ]


def _between(words: Sequence[_Word], start: int, end: int) -> set[str]:
    """The stems of what stands between two names, without names and what goes both ways."""
    return {word.stem for word in words[start:end] if word.stem and not word.name} - _SYMMETRIC


def _is_passive(words: Sequence[_Word], relation: set[str]) -> bool:
    """Whether one of the words is followed by "by"."""
    return any(
        word.stem in relation and following.text.lower() == "by"
        for word, following in zip(words, words[1:])
    )
