"""A claim that says what a sentence of the sources says, word for word, but for one fact: a number, a date or a name.

The sentence has another one in its place, so that it contradicts the claim, although the fact itself may stand elsewhere.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from agenteval.grounding.dates import Date
from agenteval.grounding.quantity import Quantity, are_nearly_equal
from agenteval.grounding.statements import Statement, agree, are_of_one_kind, statement
from agenteval.grounding.weekdays import weekday
from agenteval.grounding.wording import Name, tokens
from agenteval.lazyregex import lazy

LEAST_ALIKE = 5
"""Words around a fact that have to be the same, at least."""
LEAST_WHOLE = 3
"""The same, where they are a whole sentence: "Dana lives in Rome"."""
SHARE_ALIKE = 0.8
"""The share of the words of a claim that have to be the same, besides the fact."""
SHARE_HELD = 0.6
"""The share of all its words, those of the fact and of other spellings among them, without which a claim is no copy."""
SHARE_IN_ROW = 0.35
"""The share of them that have to stand in a row: before the fact or after it."""
MOST_FACTS = 40
"""Facts of a sentence at most: each of a claim is held against each of a passage, with all words around them."""
LIST = 3
"""Words and facts from one to the next but one in a list."""
BESIDE = 2
"""Words before a fact and after it that tell whether the sources say the same of it elsewhere."""
BEGINNING = 4
"""Letters that a country and its people have in common."""


class Held(NamedTuple):
    """A fact of a claim in whose place a passage has another one, with the words before it and after it, folded."""

    text: str
    row: tuple[str, ...]


class _Slot(NamedTuple):
    """A fact in a row of words: its value, and how it is written."""

    value: Quantity | Date | Name
    text: str

    def is_alike(self, other: "_Slot") -> bool:
        """Whether the two are of one kind, so that one can stand in the place of the other."""
        mine, theirs = self.value, other.value
        if isinstance(mine, Name):
            return isinstance(theirs, Name) and (_day(mine) is None) == (_day(theirs) is None)
        return not isinstance(theirs, Name) and are_of_one_kind(mine, theirs)

    def is_same(self, other: "_Slot") -> bool:
        """Whether both may mean the same."""
        mine, theirs = self.value, other.value
        if isinstance(mine, Name):
            return isinstance(theirs, Name) and _are_one(mine, theirs)
        return not isinstance(theirs, Name) and agree(mine, theirs, _may_be_equal)

    def is_equal(self, other: "_Slot") -> bool:
        """Whether both mean the same for certain: the Halden Prize is not the Ortega Prize."""
        mine, theirs = self.value, other.value
        if isinstance(mine, Name) and isinstance(theirs, Name) and _are_of_one_kind(mine, theirs):
            return False
        return self.is_alike(other) and self.is_same(other)


_Part = str | _Slot


def _are_of_one_kind(one: Name, other: Name) -> bool:
    """Whether two names share a word, and each has another one that is in no form in the other."""
    starts = [{word[:BEGINNING] for word in name.tokens} for name in (one, other)]
    return bool(starts[0] & starts[1]) and bool(starts[0] - starts[1]) and bool(starts[1] - starts[0])


def _day(name: Name) -> str | None:
    return weekday(name.tokens[0]) if len(name.tokens) == 1 else None


def _are_one(one: Name, other: Name) -> bool:
    """Whether two names may be of one: both end in the same word, or one has all words of the other, or is its initials."""
    if (day := _day(one)) is not None:
        return day == _day(other)
    mine, theirs = set(one.tokens), set(other.tokens)
    initials = ["".join(word[0] for word in name.tokens) for name in (one, other)]
    alone = len(mine) == len(theirs) == 1
    return (
        one.tokens[-1] == other.tokens[-1]
        or mine <= theirs
        or theirs <= mine
        or initials[0] in theirs
        or initials[1] in mine
        or (alone and one.tokens[0][:BEGINNING] == other.tokens[0][:BEGINNING])
    )


def _may_be_equal(one: Quantity, other: Quantity) -> bool:
    """Whether the first number may be the other, or what that is more than."""
    return are_nearly_equal(one, other) or (one.over and min(one.values) < max(other.values))


def replaced(stated: Statement, passage: str) -> Iterator[Held]:
    """The facts of a claim in whose place a passage, which else says the same, has others."""
    if not _may_be_copied(stated, passage):
        return
    mine, theirs = _row(stated), _row(statement(passage))
    if max(_facts(mine), _facts(theirs)) > MOST_FACTS:
        return
    others = sum(map(bool, mine)) - 1
    is_short = others < LEAST_ALIKE
    least = others if is_short else max(LEAST_ALIKE, SHARE_ALIKE * others)
    for place, slot in enumerate(mine):
        if not isinstance(slot, _Slot):
            continue
        rivals = [
            at
            for at, other in enumerate(theirs)
            if isinstance(other, _Slot)
            and slot.is_alike(other)
            and _stands_in(mine, place, theirs, at, least, whole=is_short)
        ]
        if rivals and not any(_is_near(slot, theirs, at) for at in rivals):
            beside = mine if is_short else mine[max(0, place - BESIDE) : place + BESIDE + 1]
            row = [
                word
                for each in beside
                for word in (tokens(each.text) if isinstance(each, _Slot) else [each] if each else [])
            ]
            yield Held(slot.text, tuple(row))


def _facts(row: Sequence[_Part]) -> int:
    return sum(isinstance(each, _Slot) for each in row)


def _may_be_copied(stated: Statement, passage: str) -> bool:
    """Whether a passage has many words of a claim, and many in a row: told far more quickly than what stands where."""
    words, held = tokens(stated.without_links), tokens(passage)
    if len(words) <= LEAST_WHOLE or sum(map(set(held).__contains__, words)) < SHARE_HELD * len(words):
        return False
    size = max(2, int(SHARE_IN_ROW * len(words)))
    rows = (words[at : at + size] for at in range(len(words) - size + 1))
    text = f" {' '.join(held)} "
    return any(f" {' '.join(row)} " in text for row in rows) and bool(stated.facts or stated.names)


def _stands_in(
    mine: Sequence[_Part], place: int, theirs: Sequence[_Part], at: int, least: float, *, whole: bool
) -> bool:
    """Whether so many words around two places are the same, some of them on both sides; or all, if `whole`, and the ends."""
    before = _alike(mine[:place][::-1], theirs[:at][::-1])
    after = _alike(mine[place + 1 :], theirs[at + 1 :])
    if whole and len(before) + len(after) + 1 < len(mine):
        return False
    return bool(before and after) and sum(map(bool, (*before, *after))) >= least


def _is_near(slot: _Slot, row: Sequence[_Part], at: int) -> bool:
    """Whether the same fact stands there, or beside it in its sentence: in a list the order may be another one."""
    near = (*_until_end(row[at::-1][: LIST + 1]), *_until_end(row[at : at + LIST + 1]))
    return any(isinstance(each, _Slot) and slot.is_alike(each) and slot.is_same(each) for each in near)


def _until_end(row: Sequence[_Part]) -> Iterator[_Part]:
    return takewhile(bool, row)


def _alike(mine: Sequence[_Part], theirs: Sequence[_Part]) -> Sequence[_Part]:
    """The first words and facts, as far as they are the same."""
    count = 0
    for one, other in zip(mine, theirs, strict=False):
        if isinstance(one, _Slot) and isinstance(other, _Slot):
            if not one.is_equal(other):
                break
        elif one != other:
            break
        count += 1
    return mine[:count]


def _row(stated: Statement) -> list[_Part]:
    """The words of a text, folded, with its facts among them and the ends of its sentences around them."""
    text = stated.without_links
    spans: list[tuple[int, int, Quantity | Date | Name]] = [
        (each.start, each.end, each) for each in stated.facts
    ]
    taken = bytearray(len(text))
    for start, end, _ in spans:
        taken[start:end] = b"\1" * (end - start)
    for name in stated.names:
        at = text.find(name.text)
        while at >= 0:
            end = at + len(name.text)
            if not any(taken[at:end]):
                spans.append((at, end, name))
                taken[at:end] = b"\1" * (end - at)
            at = text.find(name.text, end)
    found: list[_Part] = [_END]
    last = 0
    for start, end, value in sorted(spans, key=lambda span: span[:2]):
        found += _words(text[last:start])
        found.append(_Slot(value, text[start:end]))
        last = max(last, end)
    found += _words(text[last:])
    return found if found[-1] == _END else [*found, _END]


def _words(text: str) -> Iterator[str]:
    """The words of a text, and an end between its sentences, also where no blank parts them."""
    for number, piece in enumerate(_STOP.split(text)):
        if number:
            yield _END
        yield from tokens(piece)


_END = ""
_STOP = lazy(r"[.!?;\n](?=\W*(?:\s|[A-Z]|\Z))")
