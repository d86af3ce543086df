"""Who did what: two names that have changed places, and a name in the place of another."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agenteval.grounding.compared import Words, places
from agenteval.grounding.dates import DAYS, MONTH_NAMES
from agenteval.language.content_words import plain_form

_DAYS = frozenset(map(plain_form, DAYS))
_DATED = (_DAYS | frozenset(map(plain_form, MONTH_NAMES))) - {""}  # "may" has no stem, as it may be no month


def other_roles(mine: Words, theirs: Words) -> Iterator[str]:
    """What a passage says of another one than the claim does, or the other way round, as excerpts of the claim."""
    if names := _names(mine, theirs):
        yield from _swaps(mine, theirs, names)
        yield from _exchanged(mine, theirs, names)


def other_names(mine: Words, theirs: Words, names: Collection[str]) -> Iterator[str]:
    """Those of some names, given by their stems, in whose place a passage has others, with the words beside them."""
    yield from _exchanged(mine, theirs, _runs(mine, names.__contains__, bool))


_SYMMETRIC = frozenset(
    map(
        plain_form,
        "meet met marry married merge talk negotiate play face fight share compare discuss include agree partner".split(),  # noqa: SIM905
    )
)


_COMING = frozenset("come comes came coming hail hails originate originates".split())  # noqa: SIM905
_JOINING = frozenset("and or with the a an of for from near as both".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class _Name:
    stems: tuple[str, ...]
    start: int
    end: int


def _is_time(stem: str) -> bool:
    return stem[:1].isdigit() or stem in _DATED


def _swaps(mine: Words, theirs: Words, names: Sequence["_Name"]) -> Iterator[str]:
    """Two names whose relation is reversed in the passage. A day or a month does nothing."""
    for one, two in pairwise(each for each in names if not _DATED.issuperset(each.stems)):
        relation = _Relation(mine, one.end, two.start)
        if not relation.tells or not mine.breaks.isdisjoint(range(one.end - 1, two.start)):
            continue  # "the Greens got 21 percent, the Liberals 14"
        ways = set(_ways(theirs, one.stems, two.stems, relation))
        if ways and all(forward == (relation.passive != passive) for forward, passive in ways):
            yield mine.part(one.start, two.end)


def _exchanged(mine: Words, theirs: Words, names: Sequence["_Name"]) -> Iterator[str]:
    """A name where the passage has another one before the same two words, or after them.

    An ordinary word of the claim is no name: the passage may have it capitalised at the start of a sentence.
    """
    own, other = mine.lowered, theirs.lowered
    ordinary = {stem for at, stem in enumerate(mine.stems) if at == 0 or not mine.names[at]}
    for name in names:
        for row, is_after in (
            (own[name.end : name.end + 2], True),
            (own[max(0, name.start - 2) : name.start], False),
        ):
            first = name.end if is_after else name.start - 2
            telling = [stem for stem in mine.stems[first : first + 2] if stem and not stem.isdigit()]
            if len(row) < 2 or not telling or any(mine.names[first : first + 2]):
                continue
            joins = range(min(first, name.start), max(first + 2, name.end) - 1)
            if not (all(mine.stems[first : first + 2]) or mine.breaks.isdisjoint(joins)):
                continue  # "Lyon, all day" is no "the chief executive, Dana"
            held = [
                at
                for at, word in enumerate(other[:-1])
                if word == row[0]
                and other[at + 1] == row[1]
                and not (is_after and _only_tell_more(theirs, at, name.stems[-1]))
            ]
            runs = [theirs.names_before(at) if is_after else theirs.names_after(at + 2) for at in held]
            is_day = not _DAYS.isdisjoint(name.stems)
            if runs and all(
                run - ordinary and run.isdisjoint(name.stems) and is_day != _DAYS.isdisjoint(run)
                for run in runs
            ):
                yield mine.part(min(first, name.start), max(first + 2, name.end))


def _only_tell_more(words: Words, place: int, name: str) -> bool:
    """Whether the names right before a place only tell more of another one: "Ada of Acme sold", "Ada, from Acme, sold"."""
    if place - 1 in words.breaks:
        return name in words.stems[:place]
    while place and words.names[place - 1]:
        place -= 1
    while place and not words.stems[place - 1] and place - 1 not in words.breaks:
        place -= 1
    return words.stems[max(0, place - 1)] == name and place - 1 not in words.breaks


def _ways(
    words: Words, one: Sequence[str], two: Sequence[str], relation: "_Relation"
) -> Iterator[tuple[bool, bool]]:
    """How the passage relates the two: whether the first comes first, and whether the relation is passive."""
    for start, end in places(words.stems, one):
        for other_start, other_end in places(words.stems, two):
            forward = end <= other_start
            other = _Relation(words, end, other_start) if forward else _Relation(words, other_end, start)
            if other.same_as(relation):
                yield forward, other.passive


class _Relation:
    """What stands between two names."""

    def __init__(self, words: Words, start: int, end: int) -> None:
        self.words = list(map(str.lower, words.words[start:end]))
        self.stems = {stem for stem in words.stems[start:end] if stem and not stem.isdigit()}
        by = [at for at, word in enumerate(self.words) if word in ("by", "from")]
        dated = (words.stems[start + at + 1] for at in by if start + at + 1 < end)
        self.passive = (
            bool(by) and _COMING.isdisjoint(self.words) and not any(map(_is_time, dated))
        )  # "by 15 January"
        self.tells = bool(self.stems - _SYMMETRIC if self.stems else set(self.words) - _JOINING)
        """Whether it says who is what: it is no list, and nothing that goes both ways."""

    def same_as(self, other: "_Relation") -> bool:
        """Whether both say the same, as far as words tell: one that carries meaning, or all of them."""
        return bool((self.stems & other.stems) - _SYMMETRIC) or self.words == other.words


def _names(words: Words, theirs: Words) -> list[_Name]:
    """Runs of words that are capitalised here and in the passage, as long as they stand in a row there too."""
    known = {stem for stem, named in zip(theirs.stems, theirs.names, strict=True) if named}
    return _runs(words, lambda stem: stem in known, lambda stems: bool(places(theirs.stems, stems)))


def _runs(
    words: Words, is_name: Callable[[str], bool], is_joined: Callable[[tuple[str, ...]], bool]
) -> list[_Name]:
    found: list[_Name] = []
    for place, stem in enumerate(words.stems):
        if not words.names[place] or not is_name(stem):
            continue
        last = found[-1] if found else None
        if last and last.end == place and is_joined((*last.stems, stem)):
            found[-1] = _Name((*last.stems, stem), last.start, place + 1)
        else:
            found.append(_Name((stem,), place, place + 1))
    return found
