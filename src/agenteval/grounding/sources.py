"""What an output may rest on: the text of tool results, of the user's messages, of memory.

A JSON result is flattened into its strings and numbers; keys are no text. A string that holds JSON is read as
JSON.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenteval.patterns import name_matches
from agenteval.spec import TestCase, memory_text
from agenteval.trace import Event, Trace

MEMORY_SNAPSHOT = "scenario.memory_snapshot"
"""What stands in the place of an event id for memory that the scenario states."""
PRIOR_INPUT = "input_messages"


@dataclass(slots=True)
class Source:
    """One text that claims may rest on. `event_id` says where it is from."""

    event_id: str
    texts: list[str] = field(default_factory=list)


def successful_results(trace: Trace, allowed: Sequence[str]) -> list[Event]:
    """The successful results of the allowed tools (names or globs; none given: all tools), in order."""
    found = []
    for event in trace.of_type("tool_result"):
        call = trace.call_of(event)
        tool = str(event.data.get("tool") or (call.tool if call else ""))
        if event.data.get("success") and (not allowed or any(name_matches(name, tool) for name in allowed)):
            found.append(event)
    return found


def result_sources(events: Iterable[Event]) -> list[Source]:
    """The texts of tool results."""
    return [Source(event.event_id, list(texts_of(event.data.get("result")))) for event in events]


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
    sources = [
        Source(event.event_id, list(texts_of(event.data.get("content"))))
        for event in trace.of_type("memory_read")
    ]
    if snapshot := memory_text(case.scenario.memory_snapshot):
        sources.append(Source(MEMORY_SNAPSHOT, snapshot))
    return sources


def texts_of(value: Any) -> Iterator[str]:
    """The strings and numbers of a JSON value, in document order."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            inner = _inner_json(item)
            if inner is None:
                yield _unescaped(item) if "&" in item else item
            else:
                pending.append(inner)
        elif isinstance(item, dict):
            pending += reversed(item.values())
        elif isinstance(item, list):
            pending += reversed(item)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield str(item)


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
