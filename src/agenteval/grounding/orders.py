"""Values of a field that can be put in order, numbers or moments, and which fields a word such as `cheaper` may mean."""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from agenteval.grounding.quantities import quantities
from agenteval.language.content_words import plain_form
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

_MOMENT = lazy(r"(?:\d{4}-\d\d-\d\d)?(?:(?:\A|[T ])\d\d:\d\d(?::\d\d)?Z?)?")


def figures(values: Sequence[str], *, below_zero: bool = False) -> Sequence[Decimal] | None:
    """The number that each value is, if each is one, and all of the same unit. What is below zero may be an expense, and has no order."""
    signs = [-1 if below_zero and value.startswith("-") else 1 for value in values]
    told = [value.removeprefix("-") if sign < 0 else value for value, sign in zip(values, signs, strict=True)]
    found = [each for value in told if "-" not in value and (each := _figure(value))]
    if len(found) < len(values) or len({unit for unit, _ in found}) != 1:
        return None
    return [number * sign for (_, number), sign in zip(found, signs, strict=True)]


def moments(values: Sequence[str]) -> Sequence[Decimal] | None:
    """The dates or times that values are, as numbers that are greater when they are later, if all are of one form."""
    if len(set(map(len, values))) != 1 or not all(value and _MOMENT.fullmatch(value) for value in values):
        return None
    return [Decimal("".join(filter(str.isdigit, value))) for value in values]


@lru_cache(maxsize=1024)  # the same objects are compared for each claim
def _figure(value: str) -> tuple[str, Decimal] | None:
    """The unit of the only number of a value, and the number."""
    found = quantities(value)
    return (found[0].unit, min(found[0].values)) if len(found) == 1 else None


def content(text: str) -> frozenset[str]:
    """The words of a text, or of the name of a field, that carry meaning, as they are compared."""
    return frozenset(filter(None, map(plain_form, words(text))))


def meant_by(word: str) -> frozenset[str]:
    """What fields are named that an adjective compares: the price, of `cheaper` and `cheapest`."""
    lowered = word.lower()
    return next((names for signs, names in _MEANT.items() if signs in lowered), frozenset())


def is_of_warmth(word: str) -> bool:
    """Whether an adjective compares temperatures, which may be below zero."""
    return any(map(word.lower().startswith, ("warm", "hot", "cold", "cool")))


_MEANT = {
    signs: content(names)
    for kinds, names in {
        "cheap expens pric": "price cost fare fee rate rent total",
        "near clos farth furth": "distance walk away",
        "rated rating": "rating stars score",
        "warm hott cold cool": "temp temperature",
        "wind": "wind",
        "old young": "age",
        "long short": "duration length hours minutes runtime",
        "big larg small": "size area",
        "bright dim": "brightness",
    }.items()
    for signs in kinds.split()
}
"""By letters of adjectives, the words of the names of fields."""


LOWEST = "cheapest|least expensive|lowest|smallest|shortest|coldest|coolest|nearest|closest|lightest|dimmest"
HIGHEST = "most expensive|priciest|highest|largest|biggest|longest|tallest|warmest|hottest|farthest|heaviest|windiest|brightest"
EARLIEST = "earliest|soonest|oldest"
LATEST = "latest|newest|most recent"
MORE = "more|higher|larger|bigger|greater|longer|taller|warmer|hotter|older|heavier|pricier|farther|further|windier|brighter"
LESS = "fewer|less|lower|smaller|shorter|colder|cooler|younger|cheaper|lighter|closer|nearer"
"""What compares objects by their values, as the alternatives of a pattern."""
RANKING = frozenset(
    word
    for alternatives in (LOWEST, HIGHEST, EARLIEST, LATEST, MORE, LESS, "earlier|later|fewest")
    for phrase in alternatives.split("|")
    for word in phrase.split()[-1:]
)
"""The words of that, which no object says of itself."""
