"""A stored trace as the HTML report shows it: its events in order, each with the assertions that judge it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agenteval.outbound import OUTBOUND
from agenteval.reporters.html.checks import Check, Difference
from agenteval.reporters.html.texts import Text, shown, text
from agenteval.trace import is_synthetic

MOST_EVENTS = 1_000
"""Events of a test that are shown; of the others only those that an assertion names."""

_WORDS = {
    "message_received": "Message",
    "tool_call": "Call",
    "send": "Send",
    "tool_result": "Result",
    "memory_read": "Memory read",
    "memory_write": "Memory write",
    "error": "Error",
    "final_output": "Final output",
}


@dataclass(slots=True, kw_only=True)
class Field:
    """A named part of an event; its content has no name."""

    name: str
    text: Text
    value: str
    differences: list[tuple[Check, Difference]] = field(default_factory=list)
    changed: bool = False


@dataclass(slots=True, kw_only=True)
class Event:
    """One event. `look` is its kind, or `send`; `when` the time since the first event, if the recording has times; `of`
    the id of the event it answers.
    """

    number: int
    event_id: str
    anchor: str
    kind: str
    look: str
    word: str
    name: str
    when: str
    of: str
    facts: list[str]
    fields: list[Field]
    failed: bool
    pins: list[Check] = field(default_factory=list)
    differences: list[tuple[Check, Difference]] = field(default_factory=list)

    @property
    def pair(self) -> tuple[str, str]:
        """Equal for the same step of two runs."""
        return (self.kind, self.name)

    @property
    def content(self) -> tuple[Any, ...]:
        """Equal for events that say the same."""
        return (self.kind, self.name, self.failed, *((each.name, each.value) for each in self.fields))


@dataclass(slots=True, kw_only=True)
class Timeline:
    """The events of one test that are shown, and how many are not."""

    events: list[Event]
    left_out: int


def timeline(trace: Mapping[str, Any], checks: Sequence[Check], anchor: str) -> Timeline:
    """The events of a stored trace; what has not the form of an event is passed over."""
    pins: dict[str, list[Check]] = {}
    for check in checks:
        for event_id in dict.fromkeys([*check.result.evidence.event_refs, *check.differences]):
            pins.setdefault(event_id, []).append(check)
    given = trace.get("events")
    records = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    kept = [
        (number, each)
        for number, each in enumerate(records, 1)
        if number <= MOST_EVENTS or each.get("event_id") in pins
    ]
    times = _Times(records)
    events = [_event(number, each, anchor, times) for number, each in kept]
    for event in events:
        _pin(event, pins.get(event.event_id, ()))
    return Timeline(events=events, left_out=len(records) - len(kept))


def _event(number: int, record: Mapping[str, Any], anchor: str, times: "_Times") -> Event:
    kind = str(record.get("type", ""))
    given = record.get("data")
    data: Mapping[str, Any] = given if isinstance(given, dict) else {}
    look = "send" if kind == "tool_call" and data.get("tool") == OUTBOUND else kind
    return Event(
        number=number,
        event_id=str(record.get("event_id", "")),
        anchor=f"{anchor}--event-{number}",
        kind=kind,
        look=look,
        word=_WORDS.get(look, kind),
        name=_name(kind, data, record),
        when=times.since_start(record),
        of=str(record.get("parent_event_id") or ""),
        facts=list(_facts(kind, data)),
        fields=[Field(name=name, text=text(value), value=value) for name, value in _fields(kind, data)],
        failed=kind == "error" or (kind == "tool_result" and not data.get("success")),
    )


def _name(kind: str, data: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    if kind in ("tool_call", "tool_result"):
        return str(data.get("tool") or "")
    if kind == "error":
        return str(data.get("tool") or data.get("scope") or "")
    if kind in ("memory_read", "memory_write"):
        return str(data.get("group_id") or record.get("group_id") or "")
    return str(data.get("role") or "")


def _facts(kind: str, data: Mapping[str, Any]) -> Iterator[str]:
    if kind == "tool_result":
        yield "succeeded" if data.get("success") else "failed"
        if data.get("fixture_id"):
            yield f"fixture {data['fixture_id']}"
    elif kind == "error":
        yield str(data.get("error_type") or "unknown error")
        yield "retryable" if data.get("retryable") else "not retryable"


def _fields(kind: str, data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if kind == "tool_call":
        values = data.get("args")
    elif kind == "tool_result":
        values = data.get("result")
    elif kind == "error":
        values = {"": data.get("message")}
    else:
        named = ("path", "source", "change_summary") if kind in ("memory_read", "memory_write") else ()
        values = {**{name: data.get(name) for name in named}, "": data.get("content")}
    yield from _entries(values if isinstance(values, dict) else {"": values})


def _entries(values: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if value is not None:
            yield str(name), shown(value)


def _pin(event: Event, checks: Iterable[Check]) -> None:
    """Put assertions, and the differences they find, where they belong: at an argument, else at the event."""
    fields = {each.name: each for each in event.fields if each.name}
    for check in checks:
        event.pins.append(check)
        for difference in check.differences.get(event.event_id, ()):
            place = difference.place
            at = fields.get(place) or fields.get(place.split(".")[0])
            (at or event).differences.append((check, difference))


class _Times:
    """Times since the first event; synthetic ones, of a recording without times, do not count."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        times = [time for time in map(_time, records) if time is not None]
        self.start = min(times, default=None)

    def since_start(self, record: Mapping[str, Any]) -> str:
        time = _time(record)
        if time is None or self.start is None:
            return ""
        seconds = (time - self.start).total_seconds()
        return f"+{seconds:.2f} s" if seconds < 60 else f"+{seconds / 60:.1f} min"


def _time(record: Mapping[str, Any]) -> datetime | None:
    ts = str(record.get("ts", ""))
    try:
        time = datetime.fromisoformat(ts)
    except ValueError:
        return None
    return None if time.tzinfo is None or is_synthetic(ts) else time
