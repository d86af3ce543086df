"""Numbers and dates that an object has in another field than the one that the claim names beside them.

Of `{"bread": 2.49, "milk": 1.19}`, "milk is 2.49" is wrong. A claim names a field before a number, with no other number, no
comma and no other word that carries meaning between them, or right after it, "47 open issues", or on either side of it.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile

from agenteval.grounding.dates import Date
from agenteval.grounding.measures import unit_end
from agenteval.grounding.records import fields, name_of
from agenteval.grounding.statements import Fact, Statement, agree, statement
from agenteval.language.content_words import plain_form
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

FARTHEST = 60
"""How many characters before or after a number are looked at for the name of a field."""


def mislabelled(claim: Statement, record: str) -> Iterator[str]:
    """What a claim gives as the value of a field that has another one, and that no part of the claim gives."""
    facts = claim.facts
    if not facts:
        return
    told = [(_label(name), value) for name, value in fields(record) if name]
    own_name = frozenset(_content(name_of(record))).difference(*(label for label, _ in told))
    ends = [0, *(fact.end for fact in facts)]
    starts = [*(fact.start for fact in facts[1:]), len(claim.without_links)]
    wrong: list[tuple[Fact, list[str]]] = []
    for fact, least, most in zip(facts, ends, starts, strict=False):
        before, after = (
            [word for word in words if word not in own_name]  # "the travel budget" of `budget: {travel: …}`
            for words in _beside(fact, claim.without_links, least, most)
        )
        named = [value for label, value in told if _names(label, before, after)]
        meant = frozenset().union(*(label for label, _ in told if _names(label, before, after)))
        own = [label - meant for label, value in told if _states(value, fact)] if named else []
        if (
            own
            and all(map({*before, *after}.isdisjoint, own))
            and not any(_states(each, fact) for each in named)
        ):
            wrong.append((fact, named))
    others = [fact for fact in facts if not any(fact is each for each, _ in wrong)]
    for fact, named in wrong:
        if all(_has_another(value, fact, others) for value in named):
            yield fact.text


@lru_cache(maxsize=256)  # the items of a list have the same fields
def _label(name: str) -> frozenset[str]:
    """The content words of the name of a field, without the unit, or the time that it is about: `left_h`, `low_24h`."""
    return frozenset(_content(without_unit(name)))


def without_unit(name: str) -> str:
    """The name of a field without the unit of its value: `price_eur`."""
    return _UNIT.sub("", name)


_UNIT = lazy(
    r"(?i)(?<=[^\W_])[_ ](?:\d+)?(?:h|s|ms|min|d|km|m|cm|mm|kg|g|l|ml|pct|percent|usd|eur|gbp|kb|mb|gb|c|f)\Z"
)


def _content(text: str) -> list[str]:
    return list(filter(None, map(plain_form, words(text))))


_MARK = lazy(r"[,;.!?()#\n]|\band\b")
_GOING_ON = lazy(r"[,;.!?()#\n]|\b(?:to|and|but|while)\b")
"""What parts a number from the name of a field: before it, and after it."""


def _beside(fact: Fact, text: str, least: int, most: int) -> tuple[list[str], list[str]]:
    """The content words before a fact, and the words after it, empty where they carry no meaning, within these bounds."""
    before = text[max(least, fact.start - FARTHEST) : fact.start]
    end = fact.end if isinstance(fact, Date) else unit_end(text, fact.end)
    after = text[end : min(most, end + FARTHEST)]
    following = dropwhile(_BEING.__contains__, words(_GOING_ON.split(after)[0]))
    return _content(_MARK.split(before)[-1]), list(map(plain_form, following))


_BEING = ("is", "are", "was", "were")
"""What may stand before the name of a field that says what is counted: "31 were neutral"."""


def _names(label: frozenset[str], before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the words beside a fact are the name of a field: of `range_km`, "range is 80 km" has one on either side."""
    size, last = len(label), len(before)
    return bool(size) and any(
        label == {*before[max(0, last - count) :], *after[: size - count]} for count in range(size + 1)
    )


def _states(value: str, fact: Fact) -> bool:
    """Whether the value of a field is, or has, a fact."""
    return any(agree(fact, each) for each in _facts(value, fact))


def _has_another(value: str, fact: Fact, facts: Sequence[Fact]) -> bool:
    """Whether the value of a field has a fact of the kind of one, but none that the claim has. Zero is often told in words."""
    others = [each for each in _facts(value, fact) if isinstance(each, Date) or any(each.values)]
    return bool(others) and not any(agree(mine, each) for mine in facts for each in others)


def _facts(value: str, kind: Fact) -> list[Fact]:
    """The facts of a value that are of one kind: dates, times, or other numbers."""
    stated = statement(value)
    if isinstance(kind, Date):
        return [*stated.dates]
    return [each for each in stated.quantities if (each.unit == ":") == (kind.unit == ":")]
