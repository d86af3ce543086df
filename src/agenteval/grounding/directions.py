"""Changes in the wrong direction: "up 1.72 %" where a JSON object has `"changePercent": -1.72`, or prose "down 1.72 percent".

The words are English. In the same place of a sentence, "rose" for "fell" is an opposite as well.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from agenteval.grounding.quantities import quantities
from agenteval.grounding.quantity import Quantity
from agenteval.grounding.records import fields
from agenteval.grounding.statements import Statement
from agenteval.lazyregex import lazy

_OF_CHANGE = lazy(r"(?i)\b(?:change|changed|delta|diff|difference|growth|gain|return)\b")
"""Names of fields whose value has a sign that tells a direction."""
_SIGNED = lazy(r"([-\u2212+]?)(\d+(?:\.\d+)?)%?")
_DIRECTION = lazy(
    r"(?i)(?P<up>\b(?:up|r[io]se[ns]?|rising|gain\w*|increas\w+|climb\w*|jump\w*|surg\w+|soar\w*|gr[eo]w\w*|higher|plus)\b|\+)"
    r"|(?P<down>\b(?:down|f[ae]ll\w*|dropp?\w*|declin\w+|decreas\w+|lost|los[es]\w*|slip\w*|slid|slump\w*|plung\w+|s[aiu]nk\w*|dip\w*"
    r"|lower|minus)\b|(?<!\w)[-\u2212](?=\d))"
)
_DENIED = lazy(r"(?i)\b(?:not|never|no longer|instead)\b|n['\u2019]t\b")
"""Where a direction may be denied."""
REACH = 30
"""Characters between a direction and its number."""


_JOINING = lazy(
    r"(?i)[ (,]*(?:(?:by|of|to|about|around|nearly|almost|some|another|over|more than|a further)[ ]?)*[$\u20ac\u00a3~]?\Z"
)
"""What may stand between a direction and the number that goes there."""
_NEXT = lazy(r"[ -]?(?:year-on-year |year over year |a )?\Z")
"""What may stand between a number and a direction after it: "12% lower"."""


def reversed_in_prose(stated: Statement, passage: str) -> Iterator[str]:
    """The changes of a claim that a passage has in the other direction only, each with its direction."""
    text = stated.without_links
    if not stated.quantities or not _DIRECTION.search(text) or _DENIED.search(text):
        return
    for quantity in stated.quantities:
        told = _change(text, quantity)
        if not told:
            continue
        there = [
            found.lastgroup
            for each in quantities(passage)
            if each.unit == quantity.unit and not each.values.isdisjoint(quantity.values)
            if (found := _change(passage, each))
        ]
        if there and told.lastgroup not in there:
            yield text[min(told.start(), quantity.start) : max(told.end(), quantity.end)]


def _change(text: str, quantity: Quantity) -> "re.Match[str] | None":
    """What says right before a number, or right after it, where it goes."""
    for match in _DIRECTION.finditer(text, max(0, quantity.start - REACH), quantity.end + REACH):
        if match.end() <= quantity.start and _JOINING.fullmatch(text, match.end(), quantity.start):
            return match
        if match.start() >= quantity.end and _NEXT.fullmatch(text, quantity.end, match.start()):
            return match
    return None


def reversed_changes(stated: Statement, record: str) -> Iterator[str]:
    """The changes of a claim that an object has with the other sign, each with its direction."""
    text = stated.without_links
    if not stated.quantities or not _DIRECTION.search(text) or _DENIED.search(text):
        return
    changes = [
        (signed[1] not in ("", "+"), Decimal(signed[2]))
        for name, value in fields(record)
        if _OF_CHANGE.search(name.replace("_", " ")) and (signed := _SIGNED.fullmatch(value.strip()))
    ]
    for quantity in stated.quantities if changes else ():
        told = _direction(text, quantity)
        signs = {negative for negative, value in changes if value and _rounds(quantity, value)}
        if told and signs == {told.lastgroup == "up"}:
            yield text[min(told.start(), quantity.start) : max(told.end(), quantity.end)]


def _direction(text: str, quantity: Quantity) -> "re.Match[str] | None":
    """What says where a number goes: the nearest before it, else right after it."""
    before = list(_DIRECTION.finditer(text, max(0, quantity.start - REACH), quantity.start + 1))
    return before[-1] if before else _DIRECTION.search(text, quantity.end, quantity.end + REACH // 2)


def _rounds(quantity: Quantity, value: Decimal) -> bool:
    """Whether a number is this one, maybe with fewer digits."""
    return any(round(value, max(0, -int(own.as_tuple().exponent))) == own for own in quantity.values)
