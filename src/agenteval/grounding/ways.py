"""Both ends of what goes from one to another, exchanged: "from Oslo to Bergen" for `origin: Bergen; destination: Oslo`."""

from collections.abc import Iterator

from agenteval.grounding.orders import content
from agenteval.grounding.records import fields
from agenteval.grounding.statements import agree, statement
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

_FIRST = frozenset("from origin source start starts begin begins opens departure departs depart".split())  # noqa: SIM905
_LAST = frozenset("to destination target end ends finish closes arrival arrives arrive until".split())  # noqa: SIM905
"""Words in the names of fields that hold where something begins, and where it ends."""
_WAY = lazy(r"(?i)\bfrom (?P<first>[^,;()]{1,60}?) (?:to|until|till) (?P<last>[^,;()]{1,60})")


def turned_round(claim: str, record: str) -> Iterator[str]:
    """What a claim says that an object goes to, where it comes from there, and the other way round."""
    ways = list(_WAY.finditer(claim))
    if not ways:
        return
    told = [(frozenset(map(str.lower, words(name))), value) for name, value in fields(record) if name]
    begins = [value for name, value in told if name & _FIRST]
    ends = [value for name, value in told if name & _LAST]
    for way in ways:
        if any(
            has_value(way["last"], begin)
            and has_value(way["first"], end)
            and not has_value(way["first"], begin)
            for begin, end in zip(begins, ends, strict=False)
        ):
            yield way.group().rstrip(" .")


def has_value(text: str, value: str) -> bool:
    """Whether a text has the value of a field: its date or number, or else its words."""
    told = statement(value)
    if told.facts:
        return any(agree(mine, theirs) for mine in statement(text).facts for theirs in told.facts)
    own = content(value)
    return bool(own) and own <= content(text)
