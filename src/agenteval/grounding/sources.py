"""What an output may rest on: the text of tool results, of the user's messages, of memory.

A JSON result is taken apart into what its objects say with their short fields (see `records`), and its other
strings and numbers. A string that is JSON, or holds objects among prose, is read as such. Each text keeps its place: a JSON pointer into the
event, which goes on inside such a string.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agenteval.grounding.records import fields, is_field, records, row
from agenteval.grounding.tables import Row, column_names, has_heading, named_rows
from agenteval.json_values import json_among, json_in
from agenteval.selectors import is_event_of
from agenteval.spec import TestCase, memory_text
from agenteval.text import without_subscripts
from agenteval.trace import ASSISTANT, Event, Trace

MEMORY_SNAPSHOT = "scenario.memory_snapshot"
"""What stands in the place of an event id for memory that the scenario states."""
PRIOR_INPUT = "input_messages"


Path = tuple["Path", str | int] | tuple[()]
"""The way to a value inside JSON: the way to what holds it, and its key or index there."""


@dataclass(frozen=True, slots=True)
class Source:
    """What claims may rest on: the texts of an event. `paths` has the place of each, where they are known.

    `records` has the numbers of the texts that are what an object or a row says; the others are prose.
    """

    event_id: str
    texts: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    records: frozenset[int] = frozenset()

    def pointer(self, number: int) -> str | None:
        """The JSON pointer (RFC 6901) to one of the texts, from the event on; None when it is in no event."""
        if number >= len(self.paths):
            return None
        parts = []
        path = self.paths[number]
        while path:
            path, key = path
            parts.append(str(key).replace("~", "~0").replace("/", "~1"))
        return "".join(f"/{part}" for part in reversed(parts))


def source_of(event: Event, key: str) -> Source:
    """What an event says under one key of its data."""
    return json_source(event.event_id, event.data.get(key), (((), "data"), key))


def json_source(event_id: str, value: Any, path: Path = ()) -> Source:
    """What a JSON value says that stands at a place of an event."""
    placed = list(_placed(value, path))
    return Source(
        event_id,
        tuple([without_subscripts(_unescaped(text) if "&" in text else text) for text, _, _ in placed]),
        tuple([place for _, place, _ in placed]),
        frozenset([number for number, (_, _, is_record) in enumerate(placed) if is_record]),
    )


def successful_results(trace: Trace, allowed: Sequence[str]) -> list[Event]:
    """The successful results of the allowed tools (names or globs; none given: all tools), in order."""
    return [
        event
        for event in trace.of_type("tool_result")
        if event.data.get("success")
        and (not allowed or any(is_event_of(name, event, trace) for name in allowed))
    ]


def result_sources(events: Iterable[Event]) -> list[Source]:
    """The texts of tool results."""
    return [source_of(event, "result") for event in events]


def call_sources(events: Iterable[Event], trace: Trace) -> Iterator[Source]:
    """What the calls that the results answer were aimed at: their arguments, but for texts that the agent wrote or looked for.

    A page that was fetched is known; a URL in a search, or in a message or a file, the agent may have made up.
    """
    for event in events:
        if (call := trace.call_of(event)) and (aims := tuple(_aims(call.args))):
            yield Source(call.event.event_id, aims)


_WRITTEN = frozenset(
    """
    query queries q search keyword keywords pattern prompt text texts content message body markdown caption title subject
    description note notes new_string old_string html data
    """.split()  # noqa: SIM905 - a list of them would be six times as long
)
"""Names of arguments that hold what the agent wrote, or looked for."""


def _aims(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if str(key).lower() not in _WRITTEN:
                yield from _aims(item)
    elif isinstance(value, list):
        for item in value:
            yield from _aims(item)


def input_sources(trace: Trace) -> list[Source]:
    """What the user said."""
    received = [event for event in trace.of_type("message_received") if event.data.get("role") != ASSISTANT]
    sources = [Source(event.event_id, (str(event.data.get("content") or ""),)) for event in received]
    known = {text for source in sources for text in source.texts}
    others = tuple(
        message.content
        for message in trace.input_messages
        if message.role != ASSISTANT and message.content not in known
    )
    return [*sources, Source(PRIOR_INPUT, others)] if others else sources


def memory_sources(trace: Trace, case: TestCase) -> list[Source]:
    """What memory held: what was read, and what the scenario states."""
    sources = [source_of(event, "content") for event in trace.of_type("memory_read")]
    if snapshot := memory_text(case.scenario.memory_snapshot):
        sources.append(Source(MEMORY_SNAPSHOT, tuple(snapshot)))
    return sources


def keys(source: Source) -> set[str]:
    """The keys that lead to the texts of a source, and those of the fields of its objects."""
    found: dict[int, str | int] = {}
    for path in source.paths:
        here = path
        while here and id(here) not in found:
            found[id(here)] = here[1]
            here = here[0]
    names = {name for number in source.records for name, _ in fields(source.texts[number])}
    return names.union(key for key in found.values() if isinstance(key, str))


def texts_of(value: Any) -> tuple[str, ...]:
    """The texts of a JSON value, in document order."""
    return json_source("", value).texts


def _placed(value: Any, root: Path) -> Iterator[tuple[str, Path, bool]]:
    """The texts of a JSON value with their places, in document order, and whether each is a record."""
    pending: list[tuple[Any, Path]] = [(value, root)]
    while pending:
        item, path = pending.pop()
        name = path[1] if path and path is not root else ""
        if isinstance(item, str) and (inner := json_in(item)) is not None:
            item, name = inner, ""
        if isinstance(item, str):
            yield from _placed_among(item, path)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield str(item), path, False
        elif isinstance(item, dict):
            told = list(records(name if isinstance(name, str) else "", item))
            yield from ((text, path, True) for text in told)
            names = column_names(item)
            pending += [
                (named_rows(names, item[key]) or item[key], (path, key))
                for key in reversed(item)
                if not (told and is_field(item[key]))
            ]
        elif isinstance(item, Row):
            yield from ((text, path, True) for text in records("", item.fields))
            pending += [
                (item[index], (path, index))
                for index in reversed(range(len(item)))
                if not is_field(item[index])
            ]
        elif isinstance(item, list) and isinstance(name, int) and item and is_field(item):
            yield row(item), path, True
        elif isinstance(item, list):
            if has_heading(item):
                item = [row(item[0]), *(named_rows(item[0], item[1:]) or item[1:])]
            pending += [(item[index], (path, index)) for index in reversed(range(len(item)))]


def _placed_among(text: str, path: Path) -> Iterator[tuple[str, Path, bool]]:
    """The same of a text that is not JSON, but may hold some: "2 results: [{…}, {…}]"."""
    parts = json_among(text)
    is_only = sum(not isinstance(part, str) for part in parts) == 1
    for number, part in enumerate(parts):
        if isinstance(part, str):
            yield part, path, False
        else:
            yield from _placed(part, path if is_only else (path, number))


def _unescaped(text: str) -> str:
    from html import unescape

    return unescape(text)
