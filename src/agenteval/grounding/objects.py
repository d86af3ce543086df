"""What the objects in a source say: the lists they are in, the words of each, and its fields."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from agenteval.grounding.effort import Effort
from agenteval.grounding.exchanges import Field, Item
from agenteval.grounding.records import fields, name_of
from agenteval.grounding.sources import Path, Source
from agenteval.lazyregex import lazy

LEAST_ALIKE = 0.5
"""The share of their fields that objects have in common when they are of one kind."""
LEAST_TOLD = 3
"""Fields of a record, each of which may be about a thing of its own."""
MOST_COMPARED = 50
"""Records of one item, items of an inner list, and lists of one object, that are compared with each other."""

_NONE, _NOT = "no ", "not "
_DOMAIN = lazy(r"(?<=[^\s@])@[^\s@]+\Z")
_MARK = lazy(r"(?<=\d)[.,](?=\d)")


_NAMELESS = frozenset(
    ("", "results", "items", "data", "rows", "entries", "list", "records", "values", "hits", "result")
)
"""Names of lists that do not say of what they are."""

Signs = frozenset[str]


class Listed(NamedTuple):
    """A list: its name, empty if that says nothing, the fields of each object, all words of each, and the number of its first text.

    Words are given as signs.
    """

    name: Signs
    items: Sequence[Item]
    words: Sequence[Signs]
    texts: Sequence[int]


class Column(NamedTuple):
    """A field of an item, its value there, and its values in all items of the list that have it."""

    name: str
    own: str
    every: Sequence[str]


class Objects:
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
                    name or value.removeprefix(_NONE).removeprefix(_NOT)
                    for name, value in fields(source.texts[number])
                )
        self._lists = {these: list(items) for these, items in lists.items() if _are_alike([*items.values()])}
        parents = {id(path[0]): path[0][0] for path in source.paths if path and path[0]}
        self._keys = {id(path[0]): path[0][1] for path in source.paths if path and path[0]}
        """The key under which each list stands."""
        self._held: dict[int, list[int]] = {}
        """The lists of each object, which goes by the `id` of its path too."""
        for these in self._lists:
            if parent := parents.get(these):
                self._held.setdefault(id(parent), []).append(these)
        self._of_list = {item: these for these, items in self._lists.items() for item in items}
        self._listed: dict[int, Listed] = {}

    @cached_property
    def _having_value(self) -> dict[int, dict[str, dict[int, Field]]]:
        """The items of each list that have a value in a field, by the value in lower case."""
        found: dict[int, dict[str, dict[int, Field]]] = {these: {} for these in self._lists}
        for item, told in self._told.items():
            for field, value in told.items():
                found[self._of_list[item]].setdefault(value.lower(), {})[item] = field
        return found

    def lists(self, text: int) -> list[int]:
        """The list that a text is in, and those that its object holds."""
        item = self._innermost(text)
        own = [] if item is None else [self._of_list[item]]
        return [*own, *self._held.get(id(self._source.paths[text]), [])][:MOST_COMPARED]

    def listed(self, these: int) -> Listed:
        """The objects of a list, with what each says is so, or not."""
        items = self._lists[these]
        self._effort.spend(len(items))
        if these not in self._listed:
            key = str(self._keys.get(these, ""))
            self._listed[these] = Listed(
                frozenset(self._content(key)) if _is_telling(key) else frozenset(),
                [{**self._fields[item], **self._states[item]} for item in items],
                [frozenset(self._words[item]) for item in items],
                [self._at[item][0] for item in items],
            )
        return self._listed[these]

    def all_listed(self) -> Iterator[Listed]:
        """The same of every list."""
        return map(self.listed, self._lists)

    def told_alike(self, text: int) -> Iterator[Listed]:
        """The fields of a record as objects of a list, if some have the same value in words: `billing: up; search: down; login: up`."""
        record = self._source.texts[text]
        told = [
            (self._content(name), self._content(value))
            for name, value in fields(record)
            if name and not any(map(str.isdigit, value))
        ]
        if len({value for _, value in told}) < len(told):
            name = name_of(record)
            yield Listed(
                frozenset(self._content(name)) if _is_telling(name) else frozenset(),
                [{("",): value} for _, value in told],
                [frozenset(label + value) for label, value in told],
                [text] * len(told),
            )

    def record(self, text: int) -> str:
        """What a record says, by its number."""
        return self._source.texts[text]

    def told(self, text: int) -> dict[Field, str]:
        """The value of each field of the innermost item that a text is in."""
        item = self._innermost(text)
        return {} if item is None else self._told[item]

    def fields_alike(self, text: int, words: frozenset[str]) -> Iterator[Column]:
        """The fields of a named record as what is told of several things, beside the only one of them that words name."""
        record = self._source.texts[text]
        told = [(frozenset(self._content(name)), value) for name, value in fields(record) if name]
        named = [value for label, value in told if label and words.issuperset(label)]
        if name_of(record) and len(named) == 1 and len(told) >= LEAST_TOLD:
            yield Column("", named[0], [value for _, value in told])

    def _innermost(self, text: int) -> int | None:
        return next((item for item, _ in self._around(text)), None)

    @cached_property
    def _at(self) -> dict[int, list[int]]:
        """The records of each object, which goes by the `id` of its path."""
        found: dict[int, list[int]] = {}
        for number in sorted(self._source.records):
            found.setdefault(id(self._source.paths[number]), []).append(number)
        return found

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
                found[item].append(self._content(in_one(text)))
        return {item: "".join(words) for item, words in found.items()}

    @cached_property
    def _told(self) -> dict[int, dict[Field, str]]:
        """The value of each field of each item, as text; empty where it has none. Its own name is one as well."""
        found: dict[int, dict[Field, str]] = {item: {} for item in self._of_list}
        for number in sorted(self._source.records):
            for item, way in self._around(number):
                if not way and (name := name_of(self._source.texts[number])):
                    found[item][("",)] = name
                for name, value in fields(self._source.texts[number]):
                    if name:
                        found[item][*way, name] = value
                    elif value.startswith(_NONE):
                        found[item][*way, value.removeprefix(_NONE)] = ""
        return found

    @cached_property
    def _states(self) -> dict[int, dict[Field, str]]:
        """The signs of what each item says is so, empty where it is not."""
        found: dict[int, dict[Field, str]] = {item: {} for item in self._of_list}
        for number in sorted(self._source.records):
            for item, way in self._around(number):
                for name, value in fields(self._source.texts[number]):
                    if not name and not value.startswith(_NONE):
                        what = value.removeprefix(_NOT)
                        found[item][*way, what] = self._content(value) if what == value else ""
        return found

    @cached_property
    def _fields(self) -> dict[int, dict[Field, str]]:
        """The signs of the content words of each field of each item, without the domain of an e-mail address, which many share."""
        return {
            item: {field: self._content(_DOMAIN.sub("", value)) for field, value in told.items()}
            for item, told in self._told.items()
        }

    @cached_property
    def _values(self) -> dict[int, dict[Field, dict[str, None]]]:
        """The different values, likewise, that each field has in the items of a list."""
        found: dict[int, dict[Field, dict[str, None]]] = {these: {} for these in self._lists}
        for item, own in self._fields.items():
            for field, value in own.items():
                if value:
                    found[self._of_list[item]].setdefault(field, {})[value] = None
        return found


def in_one(text: str) -> str:
    """The text with the digits of each number in one piece, as a word: the 3 of `3.9` is no word of an item."""
    return _MARK.sub("", text)


def _are_alike(items: Sequence[set[str]]) -> bool:
    """Whether items are several and of one kind, by the names of their fields."""
    first = items[0]
    return len(items) > 1 and all(len(first & each) >= LEAST_ALIKE * len(first | each) for each in items)


def _is_telling(name: str) -> bool:
    """Whether the name of a list says of what it is."""
    return name.lower() not in _NAMELESS
