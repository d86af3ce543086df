"""Parts of prose that are told alike, "Alice: 12 points, Bob: 9 points" or rows of a table: what is said of one is not said of the next."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest

from agenteval.grounding.measures import is_unit
from agenteval.grounding.quantities import identifiers
from agenteval.language.content_words import plain_form
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

AROUND = 250
"""How many characters before and after a part are looked through for others like it."""

SHORTEST = 3
"""Letters of a name that is cut short, at least."""

_LINE_END = lazy(r"\n\s*")
_PART_END = lazy(r"[,;.!?] +|\n\s*| (?:and|und|y|et) ")
_LABEL = lazy(r"[^:,;.!?\n]{1,40}:(?= )")
_TOKEN = lazy(
    r"(?P<time>\d{1,2}:\d\d)|(?P<number>[A-Z]*-?\d[\w.,:]*)|(?P<name>[^\W\d_a-zß-ÿ][\w'-]*)|[^\W\d_][\w'-]*"
)
_NUMBERED = lazy(r"\b([A-Z]\w{0,15}) (\d{1,5})\b(?![:.,]\d)")
"""A name with its number: `ICE 702`."""
_COMPARED = lazy(r"(?i)\b(?:than|unlike|versus|vs\.?|compared (?:to|with)|instead of|als|que)\b[^,;:]*")
"""What a claim names beside what it is about: "easier than in Berlin: 2.8 %"."""
_LETTERS = ("s", "m")
"""What stands for a unit after a number only."""
_MARKS = {"time": ":", "number": "#", "name": "N"}
_NOTHING = ""
_VALUES = frozenset((":", "#", _NOTHING))


def is_said_of_other(text: str, offset: int, claim: str) -> bool:
    """Whether a claim, or a part of one, names what another part of a text is about, and nothing that is only in the part at an offset."""
    start = max(0, offset - AROUND)
    pairs = _pairs(text[start : offset + AROUND], offset - start)
    named = naming(_COMPARED.sub("", claim)) if pairs else frozenset()
    return any(own and has_one(named, theirs) and not has_one(named, own) for own, theirs in pairs)


@lru_cache(maxsize=256)
def _pairs(text: str, offset: int) -> list[tuple[frozenset[str], frozenset[str]]]:
    """What is only in the line, or the part of it, at an offset, and what is only in another one that is told like it, for each."""
    found = []
    for end in (_LINE_END, _PART_END):
        part, others = _siblings(text, offset, end)
        own = naming(part) if others else frozenset()
        found += [(own - theirs, theirs - own) for theirs in map(naming, others)]
    return found


def _siblings(text: str, offset: int, end: re.Pattern[str]) -> tuple[str, list[str]]:
    """The part of a text that is at an offset, and those that are told like it, each with a value of its own."""
    ends = [match.span() for match in end.finditer(text)]
    starts, stops = [0, *(end for _, end in ends)], [*(start for start, _ in ends), len(text)]
    parts = [text[a:b] for a, b in zip(starts, stops, strict=True)]
    at = bisect_right(starts, offset) - 1
    return parts[at], [part for part in parts if part != parts[at] and _are_alike(part, parts[at])]


def _are_alike(one: str, other: str) -> bool:
    """Whether two parts are told with the same words and kinds of values but for one word, or a name."""
    told = zip_longest(_shape(one), _shape(other), fillvalue=_NOTHING)
    pairs = (pair for pair in told if pair[0] != pair[1])
    return _VALUES.isdisjoint(next(pairs, ())) and next(pairs, None) is None


def _shape(part: str) -> Iterator[str]:
    """The words of a part, with marks in the place of numbers, times, names, and a label before a colon."""
    label = _LABEL.match(part)
    if label:
        yield "N"
    yield from _tokens(part, label.end() if label else 0)


def _tokens(part: str, start: int) -> Iterator[str]:
    last, unit = "", False
    for match in _TOKEN.finditer(part, start):
        kind = _MARKS.get(match.lastgroup or "", match.group())
        if last == "#" and (
            is_unit(kind) or kind in _LETTERS or (unit and kind == "#")
        ):  # `1 h 30 min` is one number
            unit = kind != "#"
            continue
        if kind != "N" or last != "N":
            yield kind
        last, unit = kind, False


def naming(part: str) -> frozenset[str]:
    """The words of a part that carry meaning, as written and as compared, and its names with digits; numbers aside."""
    found = {
        each
        for word in words(part)
        if not word.isdigit() and (form := plain_form(word))
        for each in (form, word.lower())
    }
    found |= {match.group().lower() for match in identifiers(part)}
    return frozenset(found | {" ".join(match.groups()).lower() for match in _NUMBERED.finditer(part)})


def has_one(named: frozenset[str], names: frozenset[str]) -> bool:
    """Whether one of these names is among others, in full or cut short: `Sat` for `Saturdays`."""
    short = tuple(name for name in names if len(name) >= SHORTEST)
    return not named.isdisjoint(names) or any(name.startswith(short) for name in named)
