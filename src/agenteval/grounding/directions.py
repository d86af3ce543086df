"""Changes in the wrong direction: "up 1.72 %" where a JSON object has `"changePercent": -1.72`, or prose "down 1.72 percent".

The words are English. In the same place of a sentence, "rose" for "fell" is an opposite as well.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from agenteval.grounding.opposites import has_opposite
from agenteval.grounding.quantities import quantities
from agenteval.grounding.quantity import Quantity
from agenteval.grounding.records import fields
from agenteval.grounding.statements import Statement
from agenteval.language.content_words import plain_form
from agenteval.lazyregex import lazy

_OF_CHANGE = lazy(r"(?i)\b(?:change|changed|delta|diff|difference|growth|gain|return)\b")
"""Names of fields whose value has a sign that tells a direction."""
_SIGNED = lazy(r"([-\u2212+]?)(\d+(?:\.\d+)?)%?")
_DIRECTION = lazy(
    r"(?i)(?P<up>\b(?:up|r[io]se[ns]?|rising|gain\w*|increas\w+|climb\w*|jump\w*|surg\w+|soar\w*|gr[eo]w\w*|higher|plus)\b|\+)"
    r"|(?P<down>\b(?:down|f[ae]ll\w*|dropp?\w*|declin\w+|decreas\w+|lost|los[es]\w*|slip\w*|slid|slump\w*|plung\w+|s[aiu]nk\w*|dip\w*"
    r"|lower(?:ed)?|reduc\w+|cut|minus)\b|(?<!\w)[-\u2212](?=\d))"
)
_DENIED = lazy(r"(?i)\b(?:not|never|no longer|instead)\b|n['\u2019]t\b")
"""Where a direction may be denied."""
REACH = 30
"""Characters between a direction and its number."""
MOST = 10**15
"""Up to which number one may be told with fewer digits."""


_JOINING = lazy(
    r"(?i)(?:(?: (?!(?:and|but|to|from)\b)[a-z]+){1,3} (?=by ))?[ (,]*(?:(?:by|of|to|about|around|nearly|almost|some|another|over|more than|a further)[ ]?)*[$\u20ac\u00a3~]?\Z"
)
"""What may stand between a direction and the number that goes there."""
_NEXT = lazy(r"[ -]?(?:year-on-year |year over year |a )?\Z")
"""What may stand between a number and a direction after it: "12% lower"."""


def reversed_in_prose(stated: Statement, passages: Callable[[Quantity], Sequence[str]]) -> Iterator[str]:
    """The changes of a claim that passages have in the other direction only, each with its direction.

    `passages` gives those that are near a number of the claim: what it says of it may be told in any of them.
    """
    text = stated.without_links
    if not stated.quantities or _DENIED.search(text):
        return
    for quantity in stated.quantities:
        told = _change(text, quantity)
        if not told:
            continue
        ways = [
            found.way
            for passage in passages(quantity)
            for each in quantities(passage)
            if each.unit == quantity.unit and not each.values.isdisjoint(quantity.values)
            if (found := _change(passage, each))
        ]
        if any(_are_opposed(told.way, way) for way in ways) and told.way not in ways:
            yield text[min(told.start, quantity.start) : max(told.end, quantity.end)]


_WAYS = ("up", "down")


class _Told(NamedTuple):
    """Where a number goes, `up`, `down` or how it compares, and from where to where that is told."""

    way: str
    start: int
    end: int


def _change(text: str, quantity: Quantity) -> _Told | None:
    """What says right before a number, or right after it, where it goes."""
    for match in _DIRECTION.finditer(text, max(0, quantity.start - REACH), quantity.end + REACH):
        told = _Told(str(match.lastgroup), *match.span())
        if match.end() <= quantity.start and _JOINING.fullmatch(text, match.end(), quantity.start):
            return told
        if match.start() >= quantity.end and _NEXT.fullmatch(text, quantity.end, match.start()):
            return told
    compared = _COMPARED.match(text, quantity.end)
    if compared is None:
        return None
    word = compared[1].lower()
    goes = _DIRECTION.fullmatch(word)
    return _Told(str(goes.lastgroup) if goes else plain_form(word) or word, *compared.span(1))


_COMPARED = lazy(
    r"(?i)[ -]?(?:%|percent|per cent|points|minutes|hours|days|weeks|years|months|degrees|\w{1,3}\b)?[ -]?"
    r"(faster|slower|cheaper|longer|shorter|higher|lower|larger|bigger|smaller|older|younger|warmer|cooler|colder|hotter"
    r"|heavier|lighter|earlier|later|early|late|fewer|less|more|above|below|ahead|behind)\b"
)
"""How what a number tells compares with something: "35 % slower"."""


def _are_opposed(one: str, other: str) -> bool:
    return {one, other} == {*_WAYS} or has_opposite(one, (other,))


def has_direction(text: str) -> bool:
    """Whether a text may say that something rose or fell."""
    return bool(_DIRECTION.search(text))


def reversed_changes(stated: Statement, record: str) -> Iterator[str]:
    """The changes of a claim that an object has with the other sign, each with its direction."""
    text = stated.without_links
    if not stated.quantities or not has_direction(text) or _DENIED.search(text):
        return
    changes = [
        (signed[1] not in ("", "+"), Decimal(signed[2]))
        for name, value in fields(record)
        if _OF_CHANGE.search(name.replace("_", " ")) and (signed := _SIGNED.fullmatch(value.strip()))
    ]
    for quantity in stated.quantities if changes else ():
        told = _change(text, quantity)
        signs = {negative for negative, value in changes if value and _rounds(quantity, value)}
        if told and told.way in _WAYS and signs == {told.way == "up"}:
            yield text[min(told.start, quantity.start) : max(told.end, quantity.end)]


def _rounds(quantity: Quantity, value: Decimal) -> bool:
    """Whether a number is this one, maybe with fewer digits."""
    if value > MOST:
        return value in quantity.values
    return any(round(value, max(0, -int(own.as_tuple().exponent))) == own for own in quantity.values)
