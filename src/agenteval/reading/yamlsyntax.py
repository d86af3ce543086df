"""Finds values and keys in a YAML text: a second reading, made only when something is wrong.

The text has been loaded before, so it is within the limits.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from agenteval.contracts.models import DataPath
from agenteval.reading.places import Place, place_at
from agenteval.reading.yamlsource import MERGE, events


def find_places(text: str, wanted: Sequence[tuple[DataPath, bool]]) -> list[Place]:
    """The place of each (path, at_key), or of what is nearest above it."""
    root = _tree(text)
    return [_place(text, root, path, at_key=at_key) for path, at_key in wanted]


def _place(text: str, node: "_Node", path: DataPath, *, at_key: bool) -> Place:
    key: _Node | None = None
    for step in path:
        found = node.inner(step)
        if found is None:
            break
        key, node = found
    if key is not None and (at_key or node.is_block):
        node = key
    return place_at(text, node.start, 1 if node.text is None else node.end - node.start)


class _Node:
    """A value with its offsets: `pairs` of a mapping, `items` of a sequence, or the `text` of a scalar."""

    def __init__(self, event: Any) -> None:
        self.start: int = event.start_mark.index
        self.end: int = event.end_mark.index
        self.text: str | None = event.value if isinstance(event, ScalarEvent) else None
        self.is_block = self.text is None and not event.flow_style
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


def _tree(text: str) -> _Node:
    next_event = events(text)
    anchors: dict[str | None, _Node] = {}

    def node(event: Any) -> _Node:
        if type(event) is AliasEvent:
            return anchors[event.anchor]
        made = _Node(event)
        if event.anchor is not None:
            anchors[event.anchor] = made
        if type(event) is MappingStartEvent:
            while type(event := next_event()) is not MappingEndEvent:
                made.pairs.append((node(event), node(next_event())))
        elif type(event) is SequenceStartEvent:
            while type(event := next_event()) is not SequenceEndEvent:
                made.items.append(node(event))
        return made

    next_event()
    next_event()
    return node(next_event())


_KEY_ALONE = re.compile(r"(?:[ ]*-[ ]+)*[ ]*(?P<key>[A-Za-z0-9_.-]+)[ ]*")
"""The text before a colon when the key is the first thing of its line."""
_LAST_LINE = re.compile(r"^(?:[ ]*-[ ]+)*[ ]*(?P<words>\S[^\n]*)\n\s*\Z", re.MULTILINE)
"""The last line that is not empty, and where its words begin."""


class Trouble(NamedTuple):
    """An error of a text: the message, the offset, and the next step."""

    message: str
    offset: int
    next_step: str


_AT_BEGIN = "begun: "
"""Marks a message about the place where something began, not about the place where the parser stopped."""
_IN_QUOTES = "put a text that holds ', \", #, a comma or a bracket in quotes"
_TROUBLES = (
    (r"tab character|cannot start any token.*\(tab\)", "a tab cannot indent YAML", "indent with spaces"),
    ("cannot start any token", "a text cannot begin with {sign!r} here", "put the text in quotes"),
    (
        "sequence entries are not allowed",
        "a list cannot begin here",
        "begin it on a line of its own, or write [a, b]",
    ),
    (
        "quoted scalar.*(escape|hexdecimal)",
        "in double quotes a backslash begins an escape, and this is not one",
        "put a regular expression or a path in single quotes, where a backslash is just that",
    ),
    ("quoted scalar", f"{_AT_BEGIN}the quote that begins here is not closed", "close it"),
    ("scanning a tag", f"{_AT_BEGIN}a text cannot begin with '!' here", "put the text in quotes"),
    (
        "parsing a flow mapping",
        "expected ',' or '}}' here: '{{' in line {line} is still open",
        f"add what is missing; {_IN_QUOTES}",
    ),
    (
        "parsing a flow sequence",
        "expected ',' or ']' here: '[' in line {line} is still open",
        f"add what is missing; {_IN_QUOTES}",
    ),
    (
        "flow node",
        "expected a value here",
        "add it, or close the bracket; put a text that begins with '#' in quotes, or it is a comment",
    ),
    (
        "block collection",
        "the list that begins in line {line} cannot go on like this",
        "begin each item with '- ', a dash and a space, at one column; indent the keys of an item equally",
    ),
    (
        "block mapping",
        "the mapping that begins in line {line} cannot go on like this",
        "indent its keys equally; if they are, an earlier quote is not closed, or closed too early",
    ),
)
"""Messages of the parser, each with its meaning and the next step: the first that fits."""


def trouble(text: str, error: yaml.YAMLError) -> Trouble | None:
    """Explain an error of the parser; None for one without a place."""
    at = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if at is None:
        return None
    begun = getattr(error, "context_mark", None) or at
    problem = str(getattr(error, "problem", None) or error)
    context = str(getattr(error, "context", None) or "")
    sign = text[at.index : at.index + 1]
    if "mapping values are not allowed" in problem:
        return _of_a_colon(text, at.index)
    if "simple key" in context and "quoted scalar" not in context:
        return _no_key(begun.index)
    complaint = f"{context}: {problem}{' (tab)' if sign == chr(9) else ''}"
    for pattern, message, next_step in _TROUBLES:
        if re.search(pattern, complaint):
            words = message.removeprefix(_AT_BEGIN).format(sign=sign, line=begun.line + 1)
            return Trouble(words, begun.index if message.startswith(_AT_BEGIN) else at.index, next_step)
    return Trouble(f"not valid YAML: {problem}{f' {context}' if context else ''}", at.index, "")


def _of_a_colon(text: str, offset: int) -> Trouble:
    """A key where the parser expects more of the text before it."""
    line = text.rfind("\n", 0, offset) + 1
    key = _KEY_ALONE.fullmatch(text, line, offset)
    if not key:
        return Trouble(
            "a key with a value is not allowed here", offset, "put a text that holds ': ' in quotes"
        )
    before = _LAST_LINE.search(text, 0, line)
    if before and key.start("key") - line <= before.start("words") - before.start():
        return _no_key(before.start("words"))
    return Trouble(
        "this key is indented further than the one before it, which has a value",
        key.start("key"),
        "indent keys that belong together equally",
    )


def _no_key(offset: int) -> Trouble:
    return Trouble(
        "expected a key with ': ' after it, a colon and a space",
        offset,
        "write `key: value`; indent a text that continues on the next line",
    )
