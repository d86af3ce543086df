"""OTLP JSON into spans: the OpenTelemetry protocol's JSON encoding, one document or one a line.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: 64-bit integers are texts, ids are hexadecimal, a
value is a mapping with one key that names its type. Keys that are not known here are passed over, as the protocol asks;
so are metrics and logs, which a collector may write into the same file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from agenteval.errors import AdapterError, FileError
from agenteval.reading.documents import opened, read_text
from agenteval.reading.jsonsource import parse_json

STATUS_ERROR = 2
"""`STATUS_CODE_ERROR` of the protocol."""
TIMES = range(1, 253_402_300_800 * 10**9)
"""Nanoseconds since 1970, up to the year 10000."""
DOCUMENTS = ("resourceSpans", "resourceMetrics", "resourceLogs")
"""What a document begins with, by what it holds."""
INVALID = "adapter.otlp_invalid"
_INTEGER = re.compile("-?[0-9]{1,18}")
"""An integer that surely has 64 bits. A longer one is an id at most, and stays a text."""


@dataclass(slots=True, kw_only=True)
class Span:
    """One span. Times are in nanoseconds since the epoch; `attributes` and `events` are plain data."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    end: int
    attributes: dict[str, Any]
    events: list[dict[str, Any]]
    failed: bool
    message: str
    """What the status says about it."""
    service: str
    """`service.name` of the resource."""
    raw: dict[str, Any] = field(default_factory=dict)
    """The span as it stands in the file, its resource and scope beside it."""
    read: dict[str, list[Any]] = field(default_factory=dict)
    """Messages that were read of it, by attribute."""


@dataclass(slots=True, kw_only=True)
class Spans:
    """The spans of a file, in its order; `cut` tells that its last line breaks off."""

    spans: list[Span]
    cut: bool = False


def is_otlp(path: Path) -> bool:
    """Whether a file looks like OTLP JSON; what is wrong with it is told when it is read."""
    if path.suffix not in (".json", ".jsonl") or not path.is_file():
        return False
    with opened(path) as file:
        head = file.read(4096)
    return any(f'"{kind}"'.encode() in head for kind in DOCUMENTS)


def read_spans(path: Path, *, max_bytes: int) -> Spans:
    """The spans of a file.

    Raises `FileError` for a file that cannot be read as text or JSON, `AdapterError` (`adapter.otlp_invalid`) with the
    place of what is not OTLP.
    """
    text = read_text(path, max_bytes=max_bytes)
    found = Spans(spans=[])
    for where, data in _documents(text, path, found):
        _Reader(f"{path}{where}", found.spans).read(data)
    return found


def _documents(text: str, path: Path, found: Spans) -> Iterator[tuple[str, Any]]:
    """Each JSON document with its place: the whole file, or its lines, the last of which may be cut."""
    # at line feeds alone: JSON has U+2028 and the like within texts as they are
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) < 2 or _data(lines[0][1], path) is None:
        yield "", parse_json(text, path)
        return
    for number, line in lines:
        data = _data(line, path)
        if data is not None:
            yield f":{number}", data
        elif number == lines[-1][0]:
            found.cut = True
        else:
            _refuse(f"{path}:{number} is not JSON, or is nested too deeply")


def _data(line: str, path: Path) -> Any:
    """The data of a line, or None."""
    try:
        return parse_json(line, path)
    except FileError:
        return None


class _Reader:
    """Reads one document; says where something is that is not as the protocol has it."""

    def __init__(self, where: str, spans: list[Span]) -> None:
        self.where = where
        self.spans = spans

    def read(self, data: Any) -> None:
        """Add the spans of the document."""
        for place, group in self.items(data, "resourceSpans", ""):
            resource = group.get("resource") or {}
            attributes = self.attributes(resource, f"{place}.resource")
            for inner, scoped in self.items(group, "scopeSpans", place):
                outside = {"resource": resource, "scope": scoped.get("scope") or {}}
                for at, span in self.items(scoped, "spans", inner):
                    self.spans.append(self.span(span, at, str(attributes.get("service.name", "")), outside))

    def items(self, holder: Any, key: str, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The mappings in a list, each with its place. A key that is not there, or null, holds none.

        One of the kinds of document must be there, though: else it is no OTLP.
        """
        if not isinstance(holder, dict):
            self.refuse(place, "a mapping", holder)
        given = holder.get(key)
        if given is None and (place or any(kind in holder for kind in DOCUMENTS)):
            given = []
        here = _step(place, key)
        if not isinstance(given, list):
            self.refuse(here, "a list", given)
        for index, item in enumerate(given):
            if not isinstance(item, dict):
                self.refuse(f"{here}[{index}]", "a mapping", item)
            yield f"{here}[{index}]", item

    def span(self, span: dict[str, Any], place: str, service: str, outside: dict[str, Any]) -> Span:
        """One span."""
        start = self.nanos(span, "startTimeUnixNano", place)
        status = span.get("status") or {}
        if not isinstance(status, dict):
            self.refuse(f"{place}.status", "a mapping", status)
        events = [
            {**self.attributes(event, at), "name": str(event.get("name", ""))}
            for at, event in self.items(span, "events", place)
        ]
        return Span(
            trace_id=self.text(span, "traceId", place),
            span_id=self.text(span, "spanId", place),
            parent_id=parent if (parent := str(span.get("parentSpanId") or "")).strip("0") else "",
            name=str(span.get("name", "")),
            start=start,
            end=max(self.nanos(span, "endTimeUnixNano", place, default=start), start),
            attributes=self.attributes(span, place),
            events=events,
            failed=status.get("code") in (STATUS_ERROR, "STATUS_CODE_ERROR"),
            message=str(status.get("message") or ""),
            service=service,
            raw={**outside, "span": span},
        )

    def text(self, span: dict[str, Any], key: str, place: str) -> str:
        """An id."""
        value = span.get(key)
        if not isinstance(value, str) or not value:
            self.refuse(_step(place, key), "a text", value)
        return value

    def nanos(self, span: dict[str, Any], key: str, place: str, default: int | None = None) -> int:
        """A time: an integer, or the text of one; zero and nothing stand for a time that is not known."""
        value = span.get(key)
        try:
            number = int(value) if isinstance(value, str | int) and not isinstance(value, bool) else 0
        except ValueError:
            number = -1
        if default is not None and value in (None, 0, "0", ""):
            return default
        if number not in TIMES:
            self.refuse(_step(place, key), "nanoseconds since 1970", value)
        return number

    def attributes(self, holder: Any, place: str) -> dict[str, Any]:
        """`attributes` as plain data."""
        if not isinstance(holder, dict):
            self.refuse(place, "a mapping", holder)
        return {
            str(each.get("key")): plain(each.get("value"))
            for _, each in self.items(holder, "attributes", place)
        }

    def refuse(self, place: str, expected: str, got: Any) -> NoReturn:
        """Tell what is wrong where."""
        shown = "nothing" if got is None else type(got).__name__
        where = f" at {place}" if place else ""
        _refuse(f"{self.where} is not OTLP JSON{where}: expected {expected}, got {shown}")


def plain(value: Any) -> Any:
    """An `AnyValue` of the protocol as plain data."""
    if not isinstance(value, dict):
        return value
    match next(iter(value.items()), ("", None)):
        case "intValue", str(number):
            return int(number) if _INTEGER.fullmatch(number) else number
        case "arrayValue", {"values": list(items)}:
            return [plain(item) for item in items]
        case "arrayValue", _:
            return []
        case "kvlistValue", {"values": list(items)}:
            return {
                str(each.get("key")): plain(each.get("value")) for each in items if isinstance(each, dict)
            }
        case "kvlistValue", _:
            return {}
        case _, given:
            return given


def _step(place: str, key: str) -> str:
    return ".".join(filter(None, (place, key)))


def _refuse(message: str) -> NoReturn:
    raise AdapterError(
        message,
        reason_code=INVALID,
        next_step="export the spans again as OTLP JSON, for instance with the file exporter of a collector or an SDK",
    ) from None
