"""Temperatures on the wrong side of zero: "5 °C" where the nearest passage has -5 °C.

Other numbers are compared without their sign: a fall of 5 % is -5 %.
"""

from collections.abc import Iterator
from decimal import Decimal

from agenteval.grounding.measures import is_degrees, sign_start, unit_end
from agenteval.grounding.statements import Statement
from agenteval.lazyregex import lazy

_MINUS = ("-", "\u2212", "\u2013")
_TOLD = lazy(
    r"(?i)\b(?:below|sub-?zero|freezing|frost|unter|bajo|sous|dessous"
    r"|colder|cooler|warmer|hotter|lower|higher|by|difference|change[sd]?|(?:drop|fall|rise|swing)s? of|kälter|wärmer|um)\b"
)
"""Words that put a number below zero, or make it a difference: then its sign says nothing."""
_NUMBER = lazy(r"(?<![\d.,])\d+(?:[.,]\d+)?")
_RANGE = lazy(r"(?:[\w.,)°]|\d |°[CF]? )\Z")
"""What stands before a dash that is no minus."""


def misplaced(stated: Statement, passage: str) -> Iterator[str]:
    """The temperatures of a claim that a passage has with the other sign only."""
    text = stated.without_links
    own = [each for each in stated.quantities if is_degrees(text, each.end)]
    if not own or _TOLD.search(text) or _TOLD.search(passage):
        return
    signs: dict[Decimal, set[bool]] = {}
    for match in _NUMBER.finditer(passage):
        value = Decimal(match.group().replace(",", "."))
        signs.setdefault(value, set()).add(_minus_start(passage, match.start()) < match.start())
    for each in own:
        there = set().union(*(signs.get(value, ()) for value in each.values))
        start = _minus_start(text, each.start)
        if there and (start < each.start) not in there:
            yield text[start : unit_end(text, each.end)]


def _minus_start(text: str, start: int) -> int:
    """Where the minus begins, a sign or in words, of the number that begins here; there, if it has none."""
    if text[max(0, start - 1) : start] in _MINUS:
        return start if _RANGE.search(text, max(0, start - 4), start - 1) else start - 1
    return sign_start(text, start)
