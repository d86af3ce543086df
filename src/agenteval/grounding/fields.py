"""Contradictions of claims by the fields of JSON objects: a value of another object or field, and true or false.

Each part of a claim is compared with the object that it names. A part that names none is compared with the nearest
object, if that is in no list.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from agenteval.grounding.facts import Facts
from agenteval.grounding.objects import Naming, Part
from agenteval.grounding.prose import denied, denies
from agenteval.grounding.sources import Item, as_boolean, values_of
from agenteval.grounding.stems import content
from agenteval.text.dates import Date, dates
from agenteval.text.lazy_regexes import lazy
from agenteval.text.numbers import Number, numbers
from agenteval.text.parts import fold


def against_fields(
    parts: Sequence[Part], naming: Naming, nearest: Item | None, stated: Facts
) -> Iterator[str]:
    """Find the parts of a claim that the objects which it names contradict."""
    for part in parts:
        for place in range(len(naming.groups)):
            named = {item.number for other in parts for item in other.named[place]}
            # "Bremen has 8 °C, and it rains": the second part is about Bremen only if the claim names no other city.
            is_own = part.own[place] or len(named) == 1
            yield from _against_list(part, place, naming, stated, is_own=is_own)
        if not any(part.named) and nearest is not None and nearest.group is None:
            yield from _of_itself(part, nearest, naming, stated)


def _against_list(part: Part, place: int, naming: Naming, stated: Facts, *, is_own: bool) -> Iterator[str]:
    """Find what the objects of one list contradict: all fields of a single object, and the flags of several."""
    items = part.named[place]
    if len(items) == 1 and is_own:
        yield from _of_others(part, items[0], naming.groups[place], naming)
        yield from _of_itself(part, items[0], naming, stated)
    elif len(items) > 1:
        yield from (flag for item in items for flag in _flags(part, item, stated))


def _of_others(part: Part, item: Item, group: Sequence[Item], naming: Naming) -> Iterator[str]:
    """Find values of another object of the list, in fields where this object has a different one, or none."""
    said, not_so = content(part.text), denied(part.text)
    around = (value for each in item.chain() for field in each.fields.values() for value in values_of(field))
    own = frozenset().union(content(item.name), *map(content, around))
    for key in dict.fromkeys(chain.from_iterable(each.fields for each in group)):
        mine = item.fields.get(key)
        # Numbers, dates and flags have rules of their own. This one is about texts: a state, a city, an owner.
        if isinstance(mine, bool | int | float):
            continue
        # The claim has a word of its own value: then no other object's value is meant, but the claim may deny it.
        if any(content(value) & said - naming.every for value in values_of(mine)):
            yield from (value for value in values_of(mine) if content(value) and content(value) <= not_so)
            continue
        for value in _values_of_others(key, item, group):
            words = content(value) - content(key)
            # A word that the object has itself, or that names any object, does not show to which object this value belongs.
            if (
                not words & (own | naming.every)
                and _is_affirmed(value, words, part)
                and not _is_moment(value)
            ):
                yield value


def _values_of_others(key: str, item: Item, group: Sequence[Item]) -> list[str]:
    """List the texts that other objects of the list have in a field, each once."""
    others = (value for other in group if other is not item for value in _texts(other.fields.get(key)))
    return list(dict.fromkeys(others))


def _is_affirmed(value: str, words: frozenset[str], part: Part) -> bool:
    """Return whether a part of a claim has a value word for word, and does not deny it. `words` are its content words."""
    if not words or not words <= content(part.text) or words <= denied(part.text):
        return False
    return fold(value) in fold(part.text)


def _texts(field: Any) -> list[str]:
    """List the values of a field that are texts, not numbers."""
    found = field if isinstance(field, list) else [field]
    return [each for each in found if isinstance(each, str) and not each.replace(".", "").isdigit()]


def _is_moment(value: str) -> bool:
    return bool(dates(value)) or any(number.unit == ":" for number in numbers(value))


def _of_itself(part: Part, item: Item, naming: Naming, stated: Facts) -> Iterator[str]:
    yield from _flags(part, item, stated)
    yield from _number_of_other_field(part, item, naming, stated)


_IS = lazy(r"^(?:is|has|was|are) ")
_LACKING = lazy(
    r"(?i)\b(?:without|un\w+|off|out of|sold out|false|lacks?|missing|non|needs?|isn|empty|dis\w+ed|closed|except\w*|excluding)\b"
)
"""Words that deny a field without a negation: "unpaid", "out of"."""


def _flags(part: Part, item: Item, stated: Facts) -> Iterator[str]:
    """Find fields that are true, false or filled, where the claim states the opposite."""
    said, not_so = content(part.text), denied(part.text)
    for key, value in item.fields.items():
        name = content(key)
        if not name or not name <= said:
            continue
        bare = _IS.sub("", key)
        # Of "sold out" only "sold" carries meaning. The whole key must occur, or "sold in May" would be about it.
        if len(name) < len(bare.split()) and fold(bare) not in fold(part.text):
            continue
        truth = as_boolean(value)
        if (
            (truth is True and name & not_so)
            or (truth is False and not denies(part.text) and not _LACKING.search(stated.plain))
            or (truth is None and values_of(value) and value != 0 and _says_none(part.text, key, not_so))
        ):
            yield key


_NONE_OF = lazy(r"(?i)\b(?:no|without|kein\w*|sin) (?:\w+ )?(\w+)")


def _says_none(text: str, key: str, not_so: frozenset[str]) -> bool:
    """Return whether a claim denies that a field has a value: "no owner"."""
    last = key.rsplit(maxsplit=1)[-1][:5].lower()
    return bool(content(key) & not_so) and any(
        last in (word[: len(last)].lower() for word in match.group().split()[1:])
        for match in _NONE_OF.finditer(text)
    )


def _number_of_other_field(part: Part, item: Item, naming: Naming, stated: Facts) -> Iterator[str]:
    """Find numbers and dates beside the name of a field which the object has in another field only."""
    said = content(part.text)
    read = {
        key: _facts(f"{key}: {value}")
        for key, value in item.fields.items()
        if isinstance(value, int | float | str) and not isinstance(value, bool)
    }
    every: list[Number | Date] = [*stated.numbers, *stated.dates]
    for fact in every:
        if not part.start <= fact.start < part.end or content(fact.text) & naming.every:
            continue
        if _is_vague(fact):
            continue
        if any(_same_kind(fact, own) and not _in_any(own, every) for own in _beside(fact, read, said)):
            yield fact.text


def _is_vague(fact: Number | Date) -> bool:
    """Return whether no field could contradict a value: "about 40", and the "one" of "one of them"."""
    return isinstance(fact, Number) and bool(fact.about or (fact.spelled and not fact.unit))


def _beside(
    fact: Number | Date, read: Mapping[str, list[Number | Date]], said: frozenset[str]
) -> Iterator[Number | Date]:
    """Yield the values of the fields that a claim names, if only a field that it does not name has the fact."""
    having = {key for key, facts in read.items() if _in_any(fact, facts)}
    if not having or any(content(key) & said for key in having):
        return
    for key, facts in read.items():
        named = content(key)
        if key not in having and named and named <= said and len(facts) == 1:
            yield facts[0]


def _in_any(fact: Number | Date, facts: Iterable[Number | Date]) -> bool:
    return any(_agree(fact, each) for each in facts)


def _facts(field: str) -> list[Number | Date]:
    moments = dates(field)
    return [*moments, *numbers(field, [(each.start, each.end) for each in moments])]


def _agree(one: Number | Date, other: Number | Date) -> bool:
    if isinstance(one, Date):
        return isinstance(other, Date) and one.agrees(other)
    return isinstance(other, Number) and one.agrees(other)


def _same_kind(one: Number | Date, other: Number | Date) -> bool:
    if isinstance(one, Date) or isinstance(other, Date):
        return isinstance(one, Date) and isinstance(other, Date)
    return one.unit == other.unit or (not (one.unit and other.unit) and ":" not in (one.unit, other.unit))
