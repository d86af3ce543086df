"""Objects of one kind in a source, side by side: what each says, so that a claim about one gets no value of another."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from agenteval.grounding.effort import Effort
from agenteval.grounding.records import fields
from agenteval.grounding.sources import Path, Source

LEAST_ALIKE = 0.5
"""The share of their fields that objects have in common when they are of one kind."""

Field = tuple[str | int, ...]
"""The keys that lead from an item to a field."""
Having = dict[int, set[int]]
"""The items of each list that have something."""


class Items:
    """The items of a source: objects of one kind, or rows, in one list, or each under its name in one object.

    `content` gives the signs of the content words of a text, `effort` counts the items that are looked at. Lists and items
    go by the `id` of their paths.
    """

    def __init__(self, source: Source, content: Callable[[str], str], effort: Effort) -> None:
        self._source = source
        self._content = content
        self._effort = effort
        lists: dict[int, dict[int, set[str]]] = {}
        for number in sorted(source.records):
            if path := source.paths[number]:
                items = lists.setdefault(id(path[0]), {})
                items.setdefault(id(path), set()).update(
                    name for name, _ in fields(source.texts[number]) if name
                )
        self._lists = {these: list(items) for these, items in lists.items() if _are_alike([*items.values()])}
        self._of_list = {item: these for these, items in self._lists.items() for item in items}
        self._asked: dict[int, tuple[frozenset[str], dict[int, frozenset[str]], frozenset[str]]] = {}

    def is_other(self, text: int, words: frozenset[str], moments: Callable[[], Iterable[Having]]) -> bool:
        """Whether a text is in an item, but what tells it from the items beside it is in those only.

        Words tell it, or else moments do: dates and times, for each of which it is known which items have it.
        """
        told = list(self._told_apart(text, words))
        if any(telling for _, telling in told):
            return any(telling and not own for own, telling in told)
        around = [(item, self._of_list[item]) for item, _ in self._around(text)]
        return any(item not in having.get(these, (item,)) for having in moments() for item, these in around)

    def having(self, texts: Iterable[int]) -> Having:
        """The items that texts are in."""
        found: Having = {}
        for text in texts:
            for item, _ in self._around(text):
                found.setdefault(self._of_list[item], set()).add(item)
        return found

    def is_meant(self, text: int, words: frozenset[str]) -> bool:
        """Whether words tell the items that a text is in, if any, from those beside them."""
        return all(own for own, _ in self._told_apart(text, words))

    def of_others(self, text: int, words: frozenset[str]) -> Iterator[str]:
        """The values among words that other items have, in fields of which the item that a text is in has others."""
        for item, _ in self._around(text):
            others = words.difference(self._words[item])
            for field, own in self._fields[item].items() if others else ():
                if words.isdisjoint(own):
                    for value in self._values[self._of_list[item]].get(field, ()):
                        if words.issuperset(value) and not others.isdisjoint(value):
                            yield value

    def _told_apart(
        self, text: int, words: frozenset[str]
    ) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        """For each item that a text is in: the words that only some items beside it have, its own ones and all."""
        for item, _ in self._around(text):
            these = self._of_list[item]
            asked, having, telling = self._asked.get(these, (None, {}, frozenset()))
            if words != asked:  # a claim asks for each of its places
                self._effort.spend(len(self._lists[these]))
                having = {
                    each: frozenset(filter(self._words[each].__contains__, words))
                    for each in self._lists[these]
                }
                telling = frozenset.union(*having.values()) - frozenset.intersection(*having.values())
                self._asked[these] = words, having, telling
            yield having[item] & telling, telling

    def _around(self, text: int) -> Iterator[tuple[int, Field]]:
        """The items that a text is in, the innermost first, and the way to it from there."""
        path: Path = self._source.paths[text] if self._lists else ()
        way: Field = ()
        while path:
            if id(path) in self._of_list:
                yield id(path), way
            path, key = path
            way = (key, *way)

    @cached_property
    def _words(self) -> dict[int, str]:
        """The signs of the content words of each item."""
        found: dict[int, list[str]] = {item: [] for item in self._of_list}
        for number, text in enumerate(self._source.texts):
            for item, _ in self._around(number):
                found[item].append(self._content(text))
        return {item: "".join(words) for item, words in found.items()}

    @cached_property
    def _fields(self) -> dict[int, dict[Field, str]]:
        """The signs of the content words of each field of each item."""
        found: dict[int, dict[Field, str]] = {item: {} for item in self._of_list}
        for number in sorted(self._source.records):
            for item, way in self._around(number):
                for name, value in fields(self._source.texts[number]):
                    if name:
                        found[item][*way, name] = self._content(value)
        return found

    @cached_property
    def _values(self) -> dict[int, dict[Field, dict[str, None]]]:
        """The different values, likewise, that each field has in the items of a list."""
        found: dict[int, dict[Field, dict[str, None]]] = {these: {} for these in self._lists}
        for item, own in self._fields.items():
            for field, value in own.items():
                if value:
                    found[self._of_list[item]].setdefault(field, {})[value] = None
        return found


def _are_alike(items: Sequence[set[str]]) -> bool:
    """Whether items are several and of one kind, by the names of their fields."""
    first = items[0]
    return len(items) > 1 and all(len(first & each) >= LEAST_ALIKE * len(first | each) for each in items)
