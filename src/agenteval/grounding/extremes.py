"""What a claim calls the highest or the lowest of its kind: "the cheapest is Aster at 120", where Birch in the same list costs 95.

Only what is said of the whole list is judged: not "the cheapest direct flight", "one of the cheapest", "the second cheapest".
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

from agenteval.grounding.items import Column
from agenteval.grounding.quantities import quantities
from agenteval.language.content_words import plain_form
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

_LOWEST = "cheapest|least expensive|lowest|smallest|shortest|coldest|coolest|nearest|closest|lightest"
_HIGHEST = "(?:best|highest|top)[- ]rated|best rating|most expensive|priciest|highest|largest|biggest|longest|tallest|warmest|hottest|farthest|heaviest"
_SIGNS = ("est", "expensive", "the most", "the least")
_CALLED = lazy(
    rf"(?i)\A(?P<before>[^,;:]*?)(?:\b(?P<word>(?P<lowest>{_LOWEST})|{_HIGHEST})\b(?: [\w-]*[^\Ws])?"
    r"|\bthe (?P<count>most|(?P<fewest>fewest|least)) (?!expensive\b)[\w-]+)"
    r"(?=\W*\Z|[,:.]| ?[(\u2013\u2014]| - | (?:is|was|costs)\b| (?:at|with) (?:only |just |about )?[$€£]?\d)"
)
"""At most one word after it says what is compared: others may say of which of them. Of several, one may be called so."""
_OF_SOME = lazy(
    r"(?i)\b(?:second|third|next|2nd|3rd|one|among|of|for|in|on|with|from|to|not|if|under|are|were)\b|n't\b"
)
_CLAUSE_END = lazy(r"; |, (?:and|but|while) |\. ")
_OF_PRICE = frozenset(map(plain_form, ("price", "cost", "fare", "fee", "rate", "rent")))
_OF_DISTANCE = frozenset(map(plain_form, ("distance", "walk", "away")))
_OF_RATING = frozenset(map(plain_form, ("rating", "stars", "score")))
_MEANT = {
    **dict.fromkeys(("cheap", "expens", "pric"), _OF_PRICE),
    **dict.fromkeys(("near", "close", "farthest"), _OF_DISTANCE),
    **dict.fromkeys(("rated", "rating"), _OF_RATING),
}
"""Words of the names of fields that a superlative with these letters may mean."""


def not_extreme(claim: str, columns: Iterable[Column]) -> Iterator[str]:
    """What a claim wrongly calls the highest or the lowest, as written: by every number that may be meant, others are.

    `columns` are the fields of the object that the claim is about, beside those of the others in its list.
    """
    if not any(map(claim.lower().__contains__, _SIGNS)):
        return
    called = [match for part in _CLAUSE_END.split(claim) if (match := _CALLED.match(part))]
    called = [match for match in called if not _OF_SOME.search(match["before"])]
    if not called:
        return
    columns = list(columns)
    for match in called:
        word = match["word"] or match["count"]
        asked = set(map(plain_form, words(match.string)))
        asked |= next(
            (meant for signs, meant in _MEANT.items() if match["word"] and signs in word.lower()), frozenset()
        )
        stated = {value for quantity in quantities(match.string) for value in quantity.values}
        named = [figures for each in columns if asked & _content(each.name) for figures in _figures(each)]
        meant = named or [
            figures
            for each in (columns if match["word"] else ())
            if any(not stated.isdisjoint(quantity.values) for quantity in quantities(each.own))
            for figures in _figures(each)
        ]
        extreme = min if match["lowest"] or match["fewest"] else max
        if meant and all(own != extreme(every) for own, every in meant):
            yield word


def _content(name: str) -> set[str]:
    return set(filter(None, map(plain_form, words(name))))


def _figures(column: Column) -> Iterator[tuple[Decimal, Sequence[Decimal]]]:
    """The number that a field is in the object, and those that it is in all, if it is one of the same unit everywhere."""
    if any("-" in value for value in column.every):  # below zero, or from one to another
        return
    found = [_figure(value) for value in (column.own, *column.every)]
    if None not in found and len({unit for unit, _ in filter(None, found)}) == 1:
        own, *every = [number for _, number in filter(None, found)]
        yield own, every


@lru_cache(maxsize=1024)  # the same objects are compared for each claim
def _figure(value: str) -> tuple[str, Decimal] | None:
    """The unit of the only number of a value, and the number."""
    found = quantities(value)
    return (found[0].unit, min(found[0].values)) if len(found) == 1 else None
