"""Values that objects of one kind have exchanged in a claim: "Ada is the engineer, Ben the designer", where it is the other way round."""

from collections.abc import Iterator, Mapping, Sequence

Field = tuple[str | int, ...]
"""The keys that lead from an item to a field."""
Item = Mapping[Field, str]
"""The signs of the content words of each field of an item."""


def going_through(items: Sequence[Item], parts: Sequence[frozenset[str]]) -> Sequence[frozenset[str]]:
    """The words of the parts of a claim that goes from item to item; none, if the first that has any value has but one.

    "Ada, Ben and Cleo are designer, engineer and manager" has them in lists.
    """
    values = {(field, value) for item in items for field, value in item.items() if value}
    fields = ({field for field, value in values if part.issuperset(value)} for part in parts)
    return parts if len(next(filter(None, fields), ())) > 1 else ()


def exchanged(items: Sequence[Item], words: frozenset[str]) -> Iterator[str]:
    """The values among words in fields of which the item that they name has others.

    Words name an item by a value that no other has in that field; the exchanged one is in a field after it.
    """
    for own in items:
        name = _name(own, items, words)
        if name is None:
            continue
        others = words.difference(*own.values())
        rivals = [each for each in items if frozenset(own[name]).isdisjoint("".join(each.values()))]
        fields = list(own)
        for field in fields[fields.index(name) + 1 :]:
            if not own[field] or not words.isdisjoint(own[field]):
                continue
            told = [each for each in rivals if not others.isdisjoint(each.get(field, ""))]
            having = [each for each in told if words.issuperset(each[field])]
            if having and all(words.isdisjoint(each.get(name, "")) for each in having):
                yield having[0][field]


def _name(own: Item, items: Sequence[Item], words: frozenset[str]) -> Field | None:
    """The first field of an item whose value is among words, and no other item's."""
    for field, value in own.items():
        if value and words.issuperset(value) and sum(each.get(field) == value for each in items) == 1:
            return field
    return None
