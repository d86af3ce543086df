"""What an object inside another one has in a field of the same name: the plan of Ada's manager is not that of Ada."""

from collections.abc import Iterator, Mapping

from agenteval.grounding.exchanges import Field
from agenteval.grounding.orders import content
from agenteval.grounding.ways import has_value
from agenteval.lazyregex import lazy

_SAYS = lazy(r"(?i)(?:['\u2019]s [\w-]+)? (?:is|are|was|has|have|can|runs?|lives|works|uses)\b")
"""What follows the name of what something is said of: "the manager is", "the manager's plan is"."""
_NAMING = content("name title label")
"""Words in the names of fields that say what an object is, not how."""
_DENIAL = lazy(r"(?i)\b(?:not|no|never|neither)\b|n't\b")
_DIGIT = lazy(r"\d")


def misattributed(claim: str, told: Mapping[Field, str]) -> Iterator[str]:
    """The values that a claim gives to an object, where one inside it has them, or the other way round, as the object has them.

    `told` has the fields of an object. A claim that has anything else of the inner one may be about that.
    """
    is_judged = any(len(field) == 2 for field in told) and not _DENIAL.search(claim)
    said = content(claim) if is_judged else frozenset()
    for way, inner in told.items() if said else ():
        own = told.get(way[1:]) if len(way) == 2 else None
        if not own or not inner or own.lower() == inner.lower():
            continue
        others = [
            value for other, value in told.items() if other[0] == way[0] and len(other) == 2 and other != way
        ]
        is_meant = bool(content(str(way[1])) & said) or not _DIGIT.search(own + inner)
        if (
            not is_meant
            or content(str(way[1])) & _NAMING
            or any(value and has_value(claim, value) for value in others)
        ):
            continue
        key = str(way[0])
        if content(key) <= said:
            at = claim.lower().find(key.lower())
            if (
                at >= 0
                and _SAYS.match(claim, at + len(key))
                and has_value(claim, own)
                and not has_value(claim, inner)
            ):
                yield own
        elif has_value(claim, inner) and not has_value(claim, own):
            yield inner
