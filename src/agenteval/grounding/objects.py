"""Which objects of a list the parts of a claim name, so that what is said of one is not held against another."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

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
"""Fields by whose values an object goes."""
_NAMING_ENDS = tuple(f" {name}" for name in ("name", "title", "id"))
_PART_END = lazy(r"[;,]\s|\s[–—-]\s|\b(?:and|but|while|whereas|or|und|aber|oder|y|et|o|ou|pero|mais)\b|\n")  # noqa: RUF001
"""Where a part of a claim ends that may be about another object than the next one."""


class Part:
    """A part of a claim, and the objects of each list that it names, or else the part before it; `own` tells which."""

    __slots__ = ("end", "named", "own", "start", "text")

    def __init__(self, text: str, start: int, end: int, named: list[list[Item]], own: list[bool]) -> None:
        self.text, self.start, self.end, self.named, self.own = text, start, end, named, own


class Naming:
    """The words by which the objects of the lists of a corpus go; kept, as all claims ask for them."""

    def __init__(self, groups: Sequence[Sequence[Item]], look: Callable[[int], None]) -> None:
        self.groups, self._look = groups, look
        self._words = [self._naming(group) for group in self.groups]
        self.every = frozenset().union(*(words for each in self._words for words in each))
        """All words by which any object goes."""

    @staticmethod
    def _naming(group: Sequence[Item]) -> list[frozenset[str]]:
        """The words by which each object of a list goes, that not all of them have."""
        keys = list(dict.fromkeys(key for item in group for key in item.fields))
        named = [key for key in keys if key in NAMING or key.endswith(_NAMING_ENDS)]
        if not all(item.name for item in group) and not any(_tells_apart(key, group) for key in named):
            named += [key for key in keys if _tells_apart(key, group)][:1]
        found = [_words_by(item, named) for item in group]
        shared = frozenset.intersection(*found)
        return [words - shared for words in found]

    def named(self, text: str, place: int) -> list[Item]:
        """The objects of a list that a text names: by most of their words."""
        self._look(len(self.groups[place]))
        group, said = self.groups[place], content(_without_amounts(text))
        held = [len(said & words) for words in self._words[place]]
        most = max(held)
        return [item for item, count in zip(group, held, strict=True) if most and count == most]

    def _by_value(self, text: str, place: int) -> list[Item]:
        """The object of a list that a text tells by a value that only it has."""
        said = content(text)
        own = self._values[place]
        named = {own[stem].number: own[stem] for stem in said if stem in own}
        return list(named.values()) if len(named) == 1 else []

    @cached_property
    def _values(self) -> list[dict[str, Item]]:
        """Of each list, the words of values that only one object has, and that object."""
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
        """The parts of a claim; `before` has the sentences before it, if it speaks of something named there."""
        text = stated.plain
        ends = [0, *(match.start() for match in _PART_END.finditer(text)), len(text)]
        parts: list[Part] = []
        for start, end in pairwise(ends):
            own = [self.named(text[start:end], place) for place in range(len(self.groups))]
            if not parts and before:
                last = [self.named(before, place) for place in range(len(self.groups))]
            else:
                last = parts[-1].named if parts else [[] for _ in self.groups]
            named = [mine or others for mine, others in zip(own, last, strict=True)]
            parts.append(Part(text[start:end], start, end, named, list(map(bool, own))))
        for place in range(len(self.groups)):  # what is said before the first name belongs to that
            if not parts[0].named[place]:
                first = next((part.named[place] for part in parts if part.named[place]), [])
                told = self._by_value(parts[0].text, place)
                parts[0].named[place] = first if len(first) == 1 and told in ([], first) else []
        return parts


def _without_amounts(text: str) -> str:
    """A text without its dates and amounts: an object is named by neither the 6 of "6 days" nor that of "6 May"."""
    if not any(map(str.isdigit, text)):
        return text
    moments = [(date.start, date.end) for date in dates(text)]
    amounts = [(each.start, each.end) for each in numbers(text, moments) if each.unit]
    return blanked(text, sorted([*moments, *amounts]))


def _words_by(item: Item, keys: Sequence[str]) -> frozenset[str]:
    """The words of the name of an object, of some of its fields, and of addresses in it."""
    texts = [item.name, *(value for key in keys for value in values_of(item.fields.get(key)))]
    texts += [
        value.partition("@")[0].replace(".", " ")
        for value in item.fields.values()
        if isinstance(value, str) and "@" in value and " " not in value
    ]
    return frozenset().union(*map(content, texts))


def _tells_apart(key: str, group: Sequence[Item]) -> bool:
    """Whether all objects of a list have different texts in a field, none of them a date or a code."""
    values = [item.fields.get(key) for item in group]
    texts = [value for value in values if isinstance(value, str) and value and not has_digit(value)]
    return len(set(texts)) == len(group)


def may_be_about(item: Item, at: int, parts: Sequence[Part]) -> bool:
    """Whether what a claim says at an offset may be said of an object: no other one of its list is named there."""
    for part in parts:
        if not part.start <= at < max(part.end, part.start + 1):
            continue
        for place, named in enumerate(part.named):
            own = next((each for each in item.chain() if named and each.group == named[0].group), None)
            if own is not None and own not in named:
                everywhere = {each.number for other in parts for each in other.named[place]}
                return own.number in everywhere and len(named) > 1
    return True
