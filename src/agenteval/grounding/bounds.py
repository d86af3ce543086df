"""What a claim calls more or less than a number: "the lab is above 20 °C" of `{"room": "lab", "temp_c": 23.5}`.

Only numbers of objects are compared: a greater one in prose may count something else.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from agenteval.grounding.exchanges import Field
from agenteval.grounding.labels import without_unit
from agenteval.grounding.orders import content
from agenteval.grounding.quantity import Quantity
from agenteval.grounding.statements import Statement, statement
from agenteval.lazyregex import lazy

LONGEST_BOUND = 30
"""Characters before a number that may call it a bound."""

Told = Mapping[Field, str]
"""The fields of an object, with their values as text."""

_BOUND = lazy(
    r"(?i)\b(?<!just )(?<!bit )(?<!slightly )(?<!barely )(?:(?P<more>more than|over|above|(?:greater|higher) than|exceed(?:s|ed|ing)?)|(?:less|fewer|lower) than|below|under)"
    r" [$€£]?(?P<minus>-|minus )?\Z"
)
"""What stands before a number that something is above or below. "At most 50" may be what the value itself says, and "just below 50" is about 50."""
_CLAUSE_END = lazy(r"[;!?\n]\s*|[.:](?=\s|\Z)|, (?:and|but|while|whereas) |\b(?:but|while|whereas)\b")
_PART_END = lazy(r"[,;!?\n]|[.:](?=\s|\Z)|\b(?:and|or|but|while|whereas)\b")
_NOT = lazy(r"(?i)\bnot\b|n't\b")
_UNCERTAIN = lazy(
    r"(?i)\b(?:no|never|none|neither|nor|if|unless|when|whether|until|once|any|every|each|all|only|should|would|could|may|might|want|need)\b"
)
_FIGURE = lazy(r"(?P<minus>-?)[$€£]?\d[\d.,]*(?: ?[^\s\d]{1,6})?")
"""A value that is one number."""


def bounds(
    claim: Statement, named: Callable[[str], Sequence[Told]], alone: Callable[[], Sequence[Told]]
) -> Iterator[tuple[Quantity, bool]]:
    """The numbers that a claim calls things to be above or below, and whether they all are, where that is clear.

    `named` gives the fields of each object that a text names, `alone` those of the only one that may be meant otherwise.
    """
    text, start = claim.without_links, 0
    things: Sequence[Told] = ()
    for quantity in claim.quantities:
        match = _BOUND.search(text, max(0, quantity.start - LONGEST_BOUND), quantity.start)
        ends = [each.end() for each in _CLAUSE_END.finditer(text, start, quantity.start)]
        if ends:
            start, things = ends[-1], ()
        if not match or len(quantity.values) != 1:
            continue
        before = text[start : match.start()]
        after = _PART_END.split(text[quantity.end :], maxsplit=1)[0]
        start = quantity.end
        if _UNCERTAIN.search(before) or _UNCERTAIN.search(after):
            continue
        things = named(before) or named(after) or things or alone()
        limit = min(quantity.values) * (-1 if match["minus"] else 1)
        above, is_denied = bool(match["more"]), bool(_NOT.search(before))
        asked = content(f"{_PART_END.split(before)[-1]} {after}")
        judged = [_lies(_meant(each, quantity, asked), limit, above=above) for each in things]
        if judged and None not in judged:
            yield quantity, all(each != is_denied for each in judged)


def _lies(values: Sequence[Decimal], limit: Decimal, *, above: bool) -> bool | None:
    """Whether values lie above a limit, or below it; None where they differ in that, or there are none."""
    found = {value > limit if above else value < limit for value in values}
    return found.pop() if len(found) == 1 else None


def _meant(told: Told, quantity: Quantity, asked: frozenset[str]) -> list[Decimal]:
    """The numbers of an object that a claim may be about: of the fields it names, or of its unit, or the only one."""
    given = ((str(field[-1]), _figure(str(field[-1]), value)) for field, value in told.items())
    known = [
        (name, figure)
        for name, figure in given
        if figure and quantity.unit in ("", figure.unit or quantity.unit)
    ]
    if quantity.unit == "%":
        known = [(name, _as_percentage(figure)) for name, figure in known]
    named = [figure for name, figure in known if (what := content(without_unit(name))) and what <= asked]
    of_unit = [figure for _, figure in known if figure.unit and figure.unit == quantity.unit]
    return [figure.value for figure in named or of_unit or (figure for _, figure in known if len(known) == 1)]


class _Figure(NamedTuple):
    """The number of a field, and its unit."""

    unit: str
    value: Decimal


def _as_percentage(figure: _Figure) -> _Figure:
    """A share of one as a percentage: 0.91 of 91 %."""
    is_share = not figure.unit and 0 < figure.value < 1
    return _Figure("%", figure.value * 100) if is_share else figure


def _figure(name: str, value: str) -> _Figure | None:
    """The number of a field that has just one."""
    match = _FIGURE.fullmatch(value)
    found = statement(f"{name}: {value}").quantities if match else []
    if not match or len(found) != 1 or len(found[0].values) != 1:
        return None
    number = min(found[0].values)
    return _Figure(found[0].unit, -number if match["minus"] else number)
