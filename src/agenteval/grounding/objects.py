"""Objects that the parts of a claim name, so that a statement about one is not compared with another."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain, pairwise

from agenteval.grounding.facts import Facts, blanked
from agenteval.grounding.sources import Item, values_of
from agenteval.grounding.stems import content
from agenteval.text.dates import dates, has_digit
from agenteval.text.lazy_regexes import lazy
from agenteval.text.numbers import numbers

NAMING = frozenset(
    """
    name title label id key number no nr code service model summary subject host repo product user item city room person dish
    train flight line plate username login symbol ticker
    """.split()  # noqa: SIM905 - a list of them would be longer
)
"""The fields that identify an object."""
_NAMING_ENDS = tuple(f" {name}" for name in ("name", "title", "id"))
_PART_END = lazy(r"[;,]\s|\s[–—-]\s|\b(?:and|but|while|whereas|or|und|aber|oder|y|et|o|ou|pero|mais)\b|\n")  # noqa: RUF001
"""The boundary between parts of a claim, each of which may be about another object."""


class Part:
    """A part of a claim, and the objects of each list that it is about.

    A part that names no object is about those of the part before. `own` is True for each list of which it names one
    itself.
    """

    __slots__ = ("end", "named", "own", "start", "text")

    def __init__(self, text: str, start: int, end: int, named: list[list[Item]], own: list[bool]) -> None:
        self.text, self.start, self.end, self.named, self.own = text, start, end, named, own


class Naming:
    """The words that identify the objects of a corpus. They are cached, since all claims need them."""

    def __init__(self, groups: Sequence[Sequence[Item]], look: Callable[[int], None]) -> None:
        self.groups, self._look = groups, look
        self._words = [self._naming(group) for group in self.groups]
        self.every = frozenset().union(*(words for each in self._words for words in each))
        """All words that identify any object."""

    @staticmethod
    def _naming(group: Sequence[Item]) -> list[frozenset[str]]:
        """Return the words that identify each object of a list, without those that all of them share."""
        keys = list(dict.fromkeys(key for item in group for key in item.fields))
        named = [key for key in keys if key in NAMING or key.endswith(_NAMING_ENDS)]
        # Objects without names or ids, such as {"city_of_birth": "Oslo"}, are told apart by the first text that differs in all.
        if not all(item.name for item in group) and not any(_tells_apart(key, group) for key in named):
            named += [key for key in keys if _tells_apart(key, group)][:1]
        found = [_words_by(item, named) for item in group]
        shared = frozenset.intersection(*found)
        return [words - shared for words in found]

    def named(self, text: str, place: int) -> list[Item]:
        """Return the objects of a list of which a text has most identifying words."""
        self._look(len(self.groups[place]))
        group, said = self.groups[place], content(_without_amounts(text))
        held = [len(said & words) for words in self._words[place]]
        most = max(held)
        return [item for item, count in zip(group, held, strict=True) if most and count == most]

    def _by_value(self, text: str, place: int) -> list[Item]:
        """Return the object of a list that is identified by a value which no other object has."""
        said = content(text)
        own = self._values[place]
        named = {own[stem].number: own[stem] for stem in said if stem in own}
        return list(named.values()) if len(named) == 1 else []

    @cached_property
    def _values(self) -> list[dict[str, Item]]:
        """The words of values that only one object of a list has, with that object; one mapping for each list."""
        found = []
        for group in self.groups:
            having: dict[str, list[Item]] = {}
            for item in group:
                texts = (value for field in item.fields.values() for value in values_of(field))
                for stem in frozenset().union(*map(content, texts)):
                    having.setdefault(stem, []).append(item)
            found.append({stem: items[0] for stem, items in having.items() if len(items) == 1})
        return found

    def parts(self, stated: Facts, before: str) -> list[Part]:
        """Split a claim into parts. `before` holds earlier sentences, if the claim is about something named there."""
        text = stated.plain
        # "Bremen has 8 °C, Hamburg 9 °C" is about two objects, so each value is compared with the object of its own part.
        ends = [0, *(match.start() for match in _PART_END.finditer(text)), len(text)]
        parts: list[Part] = []
        # A part without a name is about the objects of the part before it, the first one about those of `before`.
        last = self._named_everywhere(before) if before else [[] for _ in self.groups]
        for start, end in pairwise(ends):
            own = self._named_everywhere(text[start:end])
            named = [mine or others for mine, others in zip(own, last, strict=True)]
            parts.append(Part(text[start:end], start, end, named, list(map(bool, own))))
            last = named
        for place in range(len(self.groups)):
            if not parts[0].named[place]:
                parts[0].named[place] = self._named_later(parts, place)
        return parts

    def _named_everywhere(self, text: str) -> list[list[Item]]:
        return [self.named(text, place) for place in range(len(self.groups))]

    def _named_later(self, parts: Sequence[Part], place: int) -> list[Item]:
        """Return the object of a list that the first part is about although only a later part names it."""
        first = next((part.named[place] for part in parts if part.named[place]), [])
        by_value = self._by_value(parts[0].text, place)
        return first if len(first) == 1 and by_value in ([], first) else []


def _without_amounts(text: str) -> str:
    """Blank dates and amounts: neither the 6 of "6 days" nor the one of "6 May" identifies an object."""
    if not any(map(str.isdigit, text)):
        return text
    moments = [(date.start, date.end) for date in dates(text)]
    amounts = [(each.start, each.end) for each in numbers(text, moments) if each.unit]
    return blanked(text, sorted([*moments, *amounts]))


def _words_by(item: Item, keys: Sequence[str]) -> frozenset[str]:
    """Return the words of an object's name, of these fields, and of addresses in it."""
    texts = [item.name, *(value for key in keys for value in values_of(item.fields.get(key)))]
    texts += [
        value.partition("@")[0].replace(".", " ")
        for value in item.fields.values()
        if isinstance(value, str) and "@" in value and " " not in value
    ]
    return frozenset().union(*map(content, texts))


def _tells_apart(key: str, group: Sequence[Item]) -> bool:
    """Return whether all objects of a list have different texts in a field, without dates and codes."""
    values = [item.fields.get(key) for item in group]
    texts = [value for value in values if isinstance(value, str) and value and not has_digit(value)]
    return len(set(texts)) == len(group)


def may_be_about(item: Item, at: int, parts: Sequence[Part]) -> bool:
    """Return whether a statement at an offset may be about an object: no other object of its list is named there."""
    here = [part.named for part in parts if part.start <= at < max(part.end, part.start + 1)]
    for place, named in chain.from_iterable(enumerate(each) for each in here):
        own = next((each for each in item.chain() if named and each.group == named[0].group), None)
        if own is not None and own not in named:
            # "Oslo and Bergen have 3 and 5 °C": where several are named, the value may be of any of them.
            everywhere = {each.number for other in parts for each in other.named[place]}
            return own.number in everywhere and len(named) > 1
    return True
