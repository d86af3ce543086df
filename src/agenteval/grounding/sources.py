"""What an output may rest on: the text of tool results, of the user's messages, of memory.

A JSON result is flattened into its strings and numbers; keys are no text. A string that holds JSON is read as
JSON. Each text keeps its place: a JSON pointer into the event, which goes on inside such a string.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenteval.selectors import is_event_of
from agenteval.spec import TestCase, memory_text
from agenteval.trace import Event, Trace

MEMORY_SNAPSHOT = "scenario.memory_snapshot"
"""What stands in the place of an event id for memory that the scenario states."""
PRIOR_INPUT = "input_messages"


Path = tuple["Path", str | int] | tuple[()]
"""The way to a value inside JSON: the way to what holds it, and its key or index there."""


@dataclass(slots=True)
class Source:
    """What claims may rest on: the texts of an event. `paths` has the place of each, where they are known."""

    event_id: str
    texts: list[str] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)

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
    texts, paths = [], []
    for text, path in _placed(event.data.get(key), (((), "data"), key)):
        texts.append(text)
        paths.append(path)
    return Source(event.event_id, texts, paths)


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
    """The arguments of the calls that the results answer."""
    for event in events:
        if call := trace.call_of(event):
            yield Source(call.event.event_id, list(texts_of(call.args)))


def input_sources(trace: Trace) -> list[Source]:
    """What the user said."""
    received = [event for event in trace.of_type("message_received") if event.data.get("role") != "assistant"]
    sources = [Source(event.event_id, [str(event.data.get("content") or "")]) for event in received]
    known = {text for source in sources for text in source.texts}
    others = [
        message.content
        for message in trace.input_messages
        if message.role != "assistant" and message.content not in known
    ]
    return [*sources, Source(PRIOR_INPUT, others)] if others else sources


def memory_sources(trace: Trace, case: TestCase) -> list[Source]:
    """What memory held: what was read, and what the scenario states."""
    sources = [source_of(event, "content") for event in trace.of_type("memory_read")]
    if snapshot := memory_text(case.scenario.memory_snapshot):
        sources.append(Source(MEMORY_SNAPSHOT, snapshot))
    return sources


def texts_of(value: Any) -> Iterator[str]:
    """The strings and numbers of a JSON value, in document order."""
    return (text for text, _ in _placed(value, ()))


def _placed(value: Any, path: Path) -> Iterator[tuple[str, Path]]:
    """The strings and numbers of a JSON value with their places, in document order."""
    pending: list[tuple[Any, Path]] = [(value, path)]
    while pending:
        item, path = pending.pop()
        if isinstance(item, str):
            inner = _inner_json(item)
            if inner is None:
                yield (_unescaped(item) if "&" in item else item), path
            else:
                pending.append((inner, path))
        elif isinstance(item, dict):
            pending += [(item[key], (path, key)) for key in reversed(item)]
        elif isinstance(item, list):
            pending += [(item[index], (path, index)) for index in reversed(range(len(item)))]
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield str(item), path


def _unescaped(text: str) -> str:
    from html import unescape

    return unescape(text)


def _inner_json(text: str) -> Any:
    """The object or list that a string holds as JSON, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
