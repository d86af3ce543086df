"""What is exchanged in a claim of several parts: "Ada is the engineer, Ben the designer", where it is the other way round."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from agenteval.grounding.statements import Fact, Statement, are_of_one_kind, are_same, statement

Field = tuple[str | int, ...]
"""The keys that lead from an item to a field."""
Item = Mapping[Field, str]
"""The signs of the content words of each field of an item."""


def going_through(items: Sequence[Item], parts: Sequence[frozenset[str]]) -> bool:
    """Whether a claim of these parts goes from item to item: the first part that has any value has more than one.

    "Ada, Ben and Cleo are designer, engineer and manager" has them in lists.
    """
    values = {(field, value) for item in items for field, value in item.items() if value}
    fields = ({field for field, value in values if part.issuperset(value)} for part in parts)
    return len(next(filter(None, fields), ())) > 1


def exchanged(
    items: Sequence[Item],
    words: frozenset[str],
    naming: Collection[Field] | None = None,
    numbers: frozenset[str] = frozenset(),
    denied: frozenset[str] = frozenset(),
) -> Iterator[str]:
    """The values among words in fields of which the item that they name has others.

    Words name an item by a value that no other has in that field, which is one of `naming`, if that is given; the
    exchanged one is in a field after it. `numbers` beside the words may be in a name, but are none: `web-2`. What is `denied`
    may be a name, but no value.
    """
    names = [_name(own, items, words | denied, numbers) for own in items]
    for own, name in zip(items, names, strict=True):
        if name is None or (naming and name not in naming):
            continue
        others = words.difference(*own.values())
        telling = words.union(numbers).difference(own[name])
        rivals = [each for each in items if not frozenset(own[name]).issubset("".join(each.values()))]
        fields = list(own)
        for field in fields[fields.index(name) + 1 :]:
            if not own[field] or not words.isdisjoint(own[field]):
                continue
            told = [each for each in rivals if not others.isdisjoint(each.get(field, ""))]
            having = [each for each in told if words.issuperset(each[field])]
            if having and all(telling.isdisjoint(each.get(name, "")) for each in having):
                yield having[0][field]


_IDS = frozenset(("id", "key", "number", "no", "ref", "order", "ticket", "issue", "code", "sku"))
"""Names of fields whose value, if it is but a number, is a name as well."""


def _name(own: Item, items: Sequence[Item], words: frozenset[str], numbers: frozenset[str]) -> Field | None:
    """The first field of an item whose value is among words, maybe with numbers, and no other item's."""
    said = words | numbers
    for field, value in own.items():
        if (
            said.issuperset(value)
            and (not words.isdisjoint(value) or (value and str(field[-1]).lower() in _IDS))
            and sum(each.get(field) == value for each in items) == 1
        ):
            return field
    return None


def exchanged_facts(
    stated: Statement, passage: str, content: Callable[[str], frozenset[str]]
) -> Iterator[str]:
    """The numbers and dates in a part of a claim that a passage tells of what only another part is about.

    `content` gives the content words of a text. The passage has words that only the part with the fact has, too, but
    not beside the fact; nor only beside others that the part states too: "It failed at 8:00, but 14 GB were sent at 8:15".
    """
    if len(stated.stating) < 2:
        return
    told = statement(passage)
    parts = [content(part.text) for part in stated.stating]
    there = [content(part.text) for part in told.stating]
    known = frozenset().union(*there)
    for number, part in enumerate(stated.stating):
        others = frozenset().union(*(words for each, words in enumerate(parts) if each != number))
        own = (parts[number] - others) & known
        told_beside = [
            each
            for words, one in zip(there, told.stating, strict=True)
            if not own.isdisjoint(words)
            for each in one.facts
        ]
        rivals = [each for each in told_beside if not any(are_same(fact, each) for fact in part.facts)]
        belongs = len(rivals) < len(told_beside)
        for fact in part.facts if own else ():
            if belongs and not any(are_of_one_kind(fact, each) for each in rivals):
                continue
            if len(_having(fact, stated)) == 1 and len(places := _having(fact, told)) == 1:
                beside = there[places[0]]
                if beside.isdisjoint(own) and not beside.isdisjoint(others - parts[number]):
                    yield fact.text


def _having(fact: Fact, text: Statement) -> list[int]:
    """The numbers of the parts of a text that state this."""
    return [
        number for number, part in enumerate(text.stating) if any(are_same(fact, each) for each in part.facts)
    ]
