"""Numbers that count what a list of the sources has: "three open PRs" of `open_prs` with three objects, or "two are done"."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import takewhile

from agenteval.grounding.exchanges import Field
from agenteval.grounding.objects import Listed, Signs
from agenteval.grounding.quantities import quantities
from agenteval.grounding.quantity import Quantity
from agenteval.grounding.sources import Path, Source
from agenteval.language.content_words import plain_form
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

FARTHEST = 40
"""How many characters after a number are looked at for the name of a list."""
_CLAUSE_END = lazy(r"[,;.:!?()\n\u2190-\u2bff\U0001f000-\U0001faff]")


def lengths(sources: Iterable[Source]) -> dict[str, set[int]]:
    """How long the lists of objects are, by each content word of their names, as stems. Only what is told of in text is counted."""
    found: dict[int, tuple[str, int]] = {}
    for source in sources:
        for path in source.paths:
            here: Path = path
            while here:
                above, key = here
                if above and isinstance(key, int) and isinstance(name := above[1], str):
                    _, longest = found.get(id(above), ("", 0))
                    found[id(above)] = name, max(longest, key + 1)
                here = above
    told: dict[str, set[int]] = {}
    for name, length in found.values():
        for stem in filter(None, map(plain_form, words(name.replace("_", " ")))):
            told.setdefault(stem, set()).add(length)
    return told


def counts_list(quantity: Quantity, text: str, known: Mapping[str, set[int]]) -> bool:
    """Whether a number of a text is as large as a list that the words right after it name."""
    if quantity.unit:
        return False
    after = _CLAUSE_END.split(text[quantity.end : quantity.end + FARTHEST])[0]
    counted = takewhile(bool, map(plain_form, words(after)))  # "3 nights with tickets" are no three tickets
    return any(not quantity.values.isdisjoint(known.get(stem, ())) for stem in counted)


_LONGEST_CLAUSE = 120
"""Characters after a number that may say what it counts."""
_OTHER_NUMBER = lazy(r"\W{0,2}\d")
_OF_ALL = lazy(r"(?i)\b(?:there (?:are|were)|all|of(?: the| your)?|lists?|total) \Z")
"""What stands before the number of all that there are."""
_HAVING = lazy(r"(?i)\b(?:has|have|had|with|without|lacks?)\b")
_DENIAL = lazy(r"(?i)\b(?:not|no|never|without|lacks?)\b|n't\b")


def counts_objects(
    quantity: Quantity, text: str, lists: Iterable[Listed], signs: Callable[[str], Signs]
) -> bool:
    """Whether a number of a text counts the objects of a list, or those that have what the words after it say.

    "2 services are degraded", "one has no owner", "3 of the 4 tasks have a due date". `signs` gives the words that carry meaning.
    """
    lists = list(lists)
    sizes, values = _lengths(lists), quantity.values
    before = text[max(0, quantity.start - FARTHEST) : quantity.start]
    is_whole = (quantity.unit in ("", "day") and _OF.search(before)) or _SO_FAR.match(text, quantity.end)
    if is_whole and not sizes.isdisjoint(values):
        return True
    if _OTHERS.search(before) and any(not values.isdisjoint((size - 1, size - 2)) for size in sizes):
        return True
    if quantity.unit or _OTHER_NUMBER.match(text, quantity.end):
        return False
    having = _having(quantity, text, lists, signs)
    nameless = _lengths(these for these in lists if not these.name)
    return (
        not having.isdisjoint(values)
        or (bool(_OF_ALL.search(before)) and not nameless.isdisjoint(values))
        or (not having and _is_part(quantity, text, sizes))
    )


def miscounts(quantity: Quantity, text: str, lists: Iterable[Listed], signs: Callable[[str], Signs]) -> bool:
    """Whether a number is that of a part of a list, "two of the four are open", and other than that of the objects that are so."""
    if quantity.unit or not _WHOLE.match(text, quantity.end):
        return False
    lists = list(lists)
    having = _having(quantity, text, lists, signs)
    return bool(having) and having.isdisjoint(quantity.values) and _is_part(quantity, text, _lengths(lists))


def _lengths(lists: Iterable[Listed]) -> set[Decimal | int]:
    return {len(these.items) for these in lists}


def _having(
    quantity: Quantity, text: str, lists: Iterable[Listed], signs: Callable[[str], Signs]
) -> set[int]:
    """How many objects of each list have what the words after a number say."""
    after = _CLAUSE_END.split(text[quantity.end : quantity.end + _LONGEST_CLAUSE])[0]
    verb = _HAVING.search(after)
    said, denied = signs(after), bool(_DENIAL.search(after))
    of_fields = signs(after[verb.end() :]) if verb else frozenset()
    found: set[int] = set()
    for these in lists:
        fields = dict.fromkeys(field for item in these.items for field in item)
        named = [each for each in fields if (name := signs(str(each[-1]))) and name <= of_fields]
        found.update(_sizes(these, said, named, denied=denied))
    return found


_OF = lazy(r"(?i)\b(?:out of|of (?:the|these|those|your|our)|von (?:den|diesen)|der) \Z")
"""What stands before the number of a whole of which a part is told: "two of the four", "zwei der vier"."""
_OTHERS = lazy(r"(?i)\b(?:the|die) (?:other|remaining|anderen|übrigen) \Z")
"""What stands before the number of those that were not told of, one or two of the whole."""
_SO_FAR = lazy(r"(?i) (?:so far|in total|in all|altogether|all told)\b")
_WHOLE = lazy(r"(?i) (?:out )?(?:of (?:(?:the|these|those|your|our) )?|von (?:den |diesen )?|der )(?=\w)")


def _is_part(quantity: Quantity, text: str, sizes: Container[Decimal | int]) -> bool:
    """Whether a number is that of a part of a list: the 3 of "three of the four", where there are four."""
    whole = _WHOLE.match(text, quantity.end)
    told = quantities(text[whole.end() : whole.end() + 20])[:1] if whole else []
    return any(most in sizes and max(quantity.values) <= most for each in told for most in each.values)


def _sizes(these: Listed, said: Signs, named: Iterable[Field], *, denied: bool) -> Iterator[int]:
    """How many objects of a list have, or lack, what words say, or any value in fields that they name."""
    every = frozenset(range(len(these.items)))
    values = {pair for item in these.items for pair in item.items() if said.issuperset(pair[1])}
    found: dict[tuple[Field, str], frozenset[int]] = {
        each: frozenset(number for number in every if these.items[number].get(each[0]) == each[1])
        for each in values
        if each[1] and not these.name.issuperset(each[1])
    }
    by_field: dict[Field, frozenset[int]] = {}  # "two are with Ada and Ben"
    for (field, _), having in found.items():
        by_field[field] = by_field.get(field, frozenset()) | having
    told = [
        *by_field.values(),
        *(frozenset(at for at in every if these.items[at].get(each)) for each in named),
    ]
    for having in {*found.values(), *told, every.intersection(*told)} if told else ():
        yield len(every - having if denied else having)
