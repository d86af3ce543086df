"""Where values and keys stand in a YAML text: a second reading, made only when something is wrong.

The text has been loaded before, so it is within the limits.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from agenteval.findings import DataPath
from agenteval.reading.faults import Place, place_at
from agenteval.reading.yamlscalars import MERGE
from agenteval.reading.yamlsource import events


def find_places(text: str, wanted: Sequence[tuple[DataPath, bool]]) -> list[Place]:
    """The place of each (path, at_key), or of what is nearest above it."""
    root = _Tree(text).root
    return [_place(text, root, path, at_key=at_key) for path, at_key in wanted]


def first_key(text: str, name: str, *, mapping: int, before: int) -> int:
    """The offset of a key in the mapping that begins at one offset, in a text that is valid up to another."""
    pairs = _Tree(text, until=before).mappings[mapping].pairs
    return next(key.start for key, _ in pairs if key.text == name)


def _place(text: str, node: "_Node", path: DataPath, *, at_key: bool) -> Place:
    key: _Node | None = None
    for step in path:
        found = node.inner(step)
        if found is None:
            break
        key, node = found
    if key is not None and (at_key or node.is_block):
        node = key
    return place_at(text, node.start, node.end - node.start if node.is_scalar else 1)


class _Node:
    """A value with its offsets: `pairs` of a mapping, `items` of a sequence, or the `text` of a scalar."""

    def __init__(self, event: Any) -> None:
        self.start: int = event.start_mark.index
        self.end: int = event.end_mark.index
        self.is_scalar = isinstance(event, ScalarEvent)
        self.is_block = not self.is_scalar and not getattr(event, "flow_style", False)
        self.text: str | None = event.value if isinstance(event, ScalarEvent) else None
        self.pairs: list[tuple[_Node, _Node]] = []
        self.items: list[_Node] = []

    def inner(self, step: str | int) -> "tuple[_Node | None, _Node] | None":
        """The key, if any, and the value at one step of a path; merged mappings are looked through."""
        if isinstance(step, int):
            return (None, self.items[step]) if step < len(self.items) else None
        for key, value in self.pairs:
            if key.text == step:
                return key, value
        merged = [value for key, value in self.pairs if key.text == MERGE]
        mappings = (each for value in merged for each in (value.items or [value]))
        return next((found for each in mappings if (found := each.inner(step))), None)


class _Reached(Exception):  # noqa: N818 - a signal inside this module
    """The offset up to which a text is to be read."""


class _Tree:
    """The nodes of a text that has been read before, up to an offset if one is given."""

    def __init__(self, text: str, *, until: int | None = None) -> None:
        self.next_event = events(text)
        self.until = until
        self.anchors: dict[str | None, _Node] = {}
        self.mappings: dict[int, _Node] = {}  # by offset
        self.next_event()
        self.next_event()
        with suppress(_Reached):
            self.root = self.node(self.next_event())

    def node(self, event: Any) -> _Node:
        """The node that begins with this event."""
        if event.start_mark.index == self.until:
            raise _Reached
        if type(event) is AliasEvent:
            return self.anchors[event.anchor]
        node = _Node(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        if type(event) is MappingStartEvent:
            self.mappings[node.start] = node
            while type(event := self.next_event()) is not MappingEndEvent:
                node.pairs.append((self.node(event), self.node(self.next_event())))
        elif type(event) is SequenceStartEvent:
            while type(event := self.next_event()) is not SequenceEndEvent:
                node.items.append(self.node(event))
        return node
