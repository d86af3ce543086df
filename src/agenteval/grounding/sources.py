"""The sources of an output: tool results, the user's messages and memory, read into passages.

A passage is a sentence of prose, or one JSON object with its short fields. A string that is JSON, or holds objects
among prose, is read as JSON. Each passage keeps its place: a JSON pointer into the event, which goes on inside of
such a string.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agenteval.contracts.json_values import json_among, json_in
from agenteval.contracts.testcase import TestCase, memory_text
from agenteval.contracts.trace import ASSISTANT, Event, Trace
from agenteval.matching.selectors import is_event_of
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import composed, sentences, texts, without_subscripts

MEMORY_SNAPSHOT = "scenario.memory_snapshot"
"""The event id of memory that the scenario states."""
PRIOR_INPUT = "input_messages"

Path = tuple["Path", str | int] | tuple[()]
"""The path to a value inside JSON: the path to its parent, and its key or index there."""


class Source:
    """A JSON value of an event that claims may rest on, and its place in the event."""

    __slots__ = ("event_id", "path", "value")

    def __init__(self, event_id: str, value: Any, path: Path = ()) -> None:
        self.event_id, self.value, self.path = event_id, value, path


def source_of(event: Event, key: str) -> Source:
    """Return the source under one key of an event's data."""
    return Source(event.event_id, event.data.get(key), (((), "data"), key))


def successful_results(trace: Trace, allowed: Sequence[str]) -> list[Event]:
    """List the successful results of the allowed tools (names or globs; none given: all tools), in order."""
    return [event for event in tool_results(trace, allowed) if event.data.get("success")]


def tool_results(trace: Trace, allowed: Sequence[str]) -> list[Event]:
    """List the results of the allowed tools, successful or not."""
    return [
        event
        for event in trace.of_type("tool_result")
        if not allowed or any(is_event_of(name, event, trace) for name in allowed)
    ]


def result_sources(events: Iterable[Event]) -> list[Source]:
    """List the sources that tools returned."""
    return [source_of(event, "result") for event in events]


def call_sources(events: Iterable[Event], trace: Trace) -> Iterator[Source]:
    """Yield the arguments of the calls behind these results, without text that the agent wrote or searched for.

    A page that was fetched is known. A URL in a search, a message or a file may be made up by the agent.
    """
    for event in events:
        call = trace.call_of(event)
        aims = {key: value for key, value in call.args.items() if key.lower() not in _WRITTEN} if call else {}
        if call and aims:
            yield Source(call.event.event_id, texts(aims))


_WRITTEN = frozenset(
    """
    query queries q search keyword keywords pattern prompt text texts content message body markdown caption title subject
    description note notes new_string old_string html data
    """.split()  # noqa: SIM905 - a list of them would be six times as long
)
"""The names of arguments for text that the agent wrote or searched for."""


def input_sources(trace: Trace) -> list[Source]:
    """List the sources that the user's messages are."""
    received = [event for event in trace.of_type("message_received") if event.data.get("role") != ASSISTANT]
    sources = [Source(event.event_id, str(event.data.get("content") or "")) for event in received]
    known = {source.value for source in sources}
    others = [
        message.content
        for message in trace.input_messages
        if message.role != ASSISTANT and message.content not in known
    ]
    return [*sources, Source(PRIOR_INPUT, others)] if others else sources


def memory_sources(trace: Trace, case: TestCase) -> list[Source]:
    """List the sources in memory: the events that read it, and the snapshot of the scenario."""
    sources = [source_of(event, "content") for event in trace.of_type("memory_read")]
    if snapshot := memory_text(case.scenario.memory_snapshot):
        sources.append(Source(MEMORY_SNAPSHOT, list(snapshot)))
    return sources


def texts_of(value: Any) -> list[str]:
    """List the texts of a JSON value, in document order, one for each sentence."""
    return [passage.text for passage in read([Source("", value)])]


# Reading -------------------------------------------------------------------------------------------------------


class Item:
    """A JSON object: its name, its short fields by label, its parent object, and the list that it belongs to."""

    __slots__ = ("fields", "group", "name", "number", "parent")

    def __init__(self, number: int, name: str, parent: "Item | None", group: int | None) -> None:
        self.number, self.name, self.parent, self.group = number, name, parent, group
        self.fields: dict[str, Any] = {}

    def chain(self) -> "Iterator[Item]":
        """Yield the object and its parents, from the inside out."""
        item: Item | None = self
        while item is not None:
            yield item
            item = item.parent


class Passage:
    """A sentence of prose, or a JSON object as text (`is_record`).

    `item` is the object, or the one that holds the sentence.
    """

    __slots__ = ("is_record", "item", "path", "source", "text")

    def __init__(self, text: str, source: Source, path: Path, item: Item | None, *, is_record: bool) -> None:
        self.text, self.source, self.path, self.item, self.is_record = text, source, path, item, is_record

    @property
    def pointer(self) -> str | None:
        """The JSON pointer (RFC 6901) to the passage, from the event on; None if it is in no event."""
        if not self.source.path:
            return None
        parts = [str(part).replace("~", "~0").replace("/", "~1") for part in parts_of(self.path)]
        return "".join(f"/{part}" for part in reversed(parts))


def parts_of(path: Path) -> Iterator[str | int]:
    """Yield the keys and indexes of a path, the last one first."""
    while path:
        path, part = path
        yield part


def read(sources: Iterable[Source]) -> list[Passage]:
    """List the passages of sources, in document order."""
    reader = _Reader()
    for source in sources:
        reader.read(source)
    return reader.passages


class _Reader:
    """A reader of JSON values. It does not recurse, since values may be nested deep."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.items = 0
        self.groups = 0

    def read(self, source: Source) -> None:
        self.source = source
        pending: list[tuple[Any, str, Path, Item | None, int | None]] = [
            (source.value, "", source.path, None, None)
        ]
        while pending:
            value, name, path, around, group = pending.pop()
            if isinstance(value, str) and (inner := json_in(value)) is not None:
                value = inner
            if isinstance(value, str):
                pending += reversed(list(self._text(value, name, path, around)))
            elif isinstance(value, dict):
                pending += reversed(list(self._object(value, name, path, around, group)))
            elif isinstance(value, list):
                pending += reversed(list(self._list(value, name, path, around)))
            elif isinstance(value, int | float) and not isinstance(value, bool):
                self._add(f"{label(name)}: {value}" if name else str(value), path, around)

    def _add(self, text: str, path: Path, item: Item | None, *, is_record: bool = False) -> None:
        if text and not text.isspace():
            if not text.isascii():
                text = composed(text)
            self.passages.append(Passage(text, self.source, path, item, is_record=is_record))

    def _text(self, text: str, name: str, path: Path, around: Item | None) -> Iterator[Any]:
        """Add the sentences of a text; yield the JSON values in it, which are still to be read."""
        parts = json_among(text)
        # "Result: {…}" holds one JSON value, to which the pointer leads on. Of several, the number of the part comes first.
        is_only = sum(not isinstance(part, str) for part in parts) == 1
        for number, part in enumerate(parts):
            if isinstance(part, str) and len(parts) == 1:
                for sentence in sentences_of(_clean(part)):
                    self._add(sentence, path, around)
            elif isinstance(part, str):
                yield part, name, path, around, None
            else:
                yield part, name, path if is_only else (path, number), around, None

    def _object(
        self, value: dict[str, Any], name: str, path: Path, around: Item | None, group: int | None
    ) -> Iterator[Any]:
        """Add the passage of an object's short fields; yield the other values, which are still to be read."""
        # MCP wraps each text of a result as {"type": "text", "text": …}: that is no object of its own.
        if value.keys() == {"type", "text"}:  # a block of text, as MCP has it
            yield value["text"], "", (path, "text"), around, None
            return
        item = Item(self.items, label(name), around, group)
        self.items += 1
        item.fields = {label(key): field for key, field in value.items() if is_field(field)}
        head = f"{item.name} > " if item.name else ""
        said = "; ".join([said_of(key, field) for key, field in item.fields.items()])
        self._add(f"{head}{_clean(said)}", path, item, is_record=True)
        nested = {key: field for key, field in value.items() if not is_field(field)}
        inner = self._new_group() if _are_alike(nested.values()) else None
        for key, field in nested.items():
            yield field, key, (path, key), item, inner if isinstance(field, dict) else None

    def _list(self, value: list[Any], name: str, path: Path, around: Item | None) -> Iterator[Any]:
        """Yield the values of a list, which are still to be read; a list of short ones becomes a passage."""
        if value and is_field(value):
            self._add(
                _clean(", ".join(str(each) for each in value if each is not None)),
                path,
                around,
                is_record=True,
            )
            return
        group = self._new_group() if sum(isinstance(each, dict) for each in value) > 1 else None
        for number, each in enumerate(value):
            is_item = isinstance(each, dict)
            yield each, "" if is_item else name, (path, number), around, group if is_item else None

    def _new_group(self) -> int:
        self.groups += 1
        return self.groups


LONGEST_FIELD, MOST_FIELD_WORDS, MOST_VALUES = 200, 8, 20
"""The limits of a short field: characters, words, and values of a list.

Longer values are prose, or data of their own.
"""
_HUMP = lazy(r"(?<=[a-z\d])[A-Z](?=[a-z]|$)")
_TRUE, _FALSE = ("true", "yes"), ("false", "no")


def label(key: str) -> str:
    """Return a key as words: `takes_minutes` and `takesMinutes` become `takes minutes`."""
    if not key.islower():
        key = _HUMP.sub(lambda match: f" {match.group().lower()}", key)
    return key.replace("_", " ").replace(".", " ")


def is_field(value: Any) -> bool:
    """Return whether a value is a short field: a short text, a number, a list of these, or nothing."""
    if isinstance(value, str):
        return (
            len(value) <= LONGEST_FIELD
            and value[:1] not in ("{", "[")
            and "\n" not in value
            and "://" not in value
            and len(value.split()) <= MOST_FIELD_WORDS
        )
    if isinstance(value, list):
        return len(value) <= MOST_VALUES and all(
            not isinstance(each, list | dict) and is_field(each) for each in value
        )
    return not value if isinstance(value, dict) else True


def values_of(field: Any) -> list[str]:
    """List the values of a field as texts; none for an empty field."""
    return [
        str(each)
        for each in (field if isinstance(field, list) else [field])
        if each not in (None, "", [], {})
    ]


def as_boolean(value: Any) -> bool | None:
    """Return a boolean, or the one that a text means: `yes`, but not `NO`, which is Norway; else None."""
    if isinstance(value, str) and value != "NO":
        return True if value.lower() in _TRUE else False if value.lower() in _FALSE else None
    return value if isinstance(value, bool) else None


def said_of(name: str, value: Any) -> str:
    """Return a field as a phrase: `title: Dentist`, `no room`, `not moved`."""
    truth = as_boolean(value)
    if truth is not None:
        return name if truth else f"not {name}"
    values = values_of(value)
    return f"{name}: {', '.join(values)}" if values else f"no {name}"


def _are_alike(values: Iterable[Any]) -> bool:
    """Return whether any two of these objects have most of their fields in common."""
    fields = [set(value) for value in values if isinstance(value, dict)][:8]
    return any(
        2 * len(one & other) >= min(len(one), len(other)) > 0
        for place, one in enumerate(fields)
        for other in fields[place + 1 :]
    )


def sentences_of(text: str) -> list[str]:
    """Split a text of any length into sentences, line by line."""
    return [sentence for line in _GLUED.sub(" ", text).splitlines() for sentence in sentences(line)]


_GLUED = lazy(r"(?<=[a-z][.!?])(?=[A-Z][a-z])")
"""The place of a missing blank between two sentences."""


def _clean(text: str) -> str:
    """Remove HTML entities, subscripts, and the character that ends a sentence inside of `stems`."""
    if "&" in text:
        from html import unescape

        text = unescape(text)
    return without_subscripts(text).replace("\0", " ")
