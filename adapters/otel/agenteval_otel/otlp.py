"""Spans, and how they are read from the OpenTelemetry protocol's JSON encoding.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: 64-bit integers are texts, ids are hexadecimal, a
value is a mapping with one key that names its type. Keys that are not known here are passed over, as the protocol asks;
so are metrics. Log records are read too: some instrumentations write there what was said in a span.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from agenteval.contracts.errors import AdapterError

STATUS_ERROR = 2
"""`STATUS_CODE_ERROR` of the protocol."""
TIMES = range(1, 253_402_300_800 * 10**9)
"""Nanoseconds since 1970, up to the year 10000."""
DOCUMENTS = ("resourceSpans", "resourceMetrics", "resourceLogs")
"""What a document begins with, by what it holds."""
SCOPES = ("scopeSpans", "instrumentationLibrarySpans", "scopeLogs", "instrumentationLibraryLogs")
"""What holds spans and log records within them; the longer names are older."""
NOBODY = ("AAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAA==")
"""Ids of zeros in base64, as Tempo writes them."""
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
    """Events of the span, and log records that name it: their attributes, `name`, and `body`."""
    failed: bool
    message: str
    """What the status says about it."""
    service: str
    """`service.name` of the resource."""
    scope: str = ""
    """The instrumentation that wrote it."""
    dropped: bool = False
    """Whether attributes or events of it were dropped at a limit."""
    parent: "Span | None" = field(default=None, repr=False)
    """The span around it, for readers of dialects."""
    dialects: list[str] = field(default_factory=list)
    """The conventions that it is written in, as far as they are known."""
    read: dict[str, list[Any]] = field(default_factory=dict)
    """Messages that were read of it, by attribute."""


@dataclass(slots=True, kw_only=True)
class Log:
    """A log record: the span it names, its time, and its data as an event of a span has it."""

    trace_id: str
    span_id: str
    time: int
    event: dict[str, Any]
    service: str
    scope: str


@dataclass(slots=True, kw_only=True)
class Spans:
    """The spans of a file, in its order; `cut` tells that its last line breaks off."""

    spans: list[Span]
    logs: list[Log] = field(default_factory=list)
    cut: bool = False


class Reader:
    """Reads one document; says where something is that is not as the format has it."""

    format = "OTLP JSON"
    advice = (
        "export the spans again as OTLP JSON, for instance with the file exporter of a collector or an SDK"
    )

    def __init__(self, where: str, found: Spans) -> None:
        self.where = where
        self.found = found

    def read(self, data: dict[str, Any], place: str = "") -> None:
        """Add the spans and the log records of the document."""
        for scoped, at, service in self._scopes(data, "resourceSpans", place):
            for inner, span in self.items(scoped, "spans", at):
                self.found.spans.append(self._span(span, inner, service, self._scope(scoped)))
        for scoped, at, service in self._scopes(data, "resourceLogs", place):
            for inner, log in self.items(scoped, "logRecords", at):
                self.found.logs.append(self._log(log, inner, service, self._scope(scoped)))

    def _scopes(self, data: Any, key: str, place: str) -> Iterator[tuple[dict[str, Any], str, str]]:
        """What an instrumentation wrote, with its place and the name of the service."""
        for at, group in self.items(data, key, place):
            attributes = self.attributes(group.get("resource") or {}, f"{at}.resource")
            for name in SCOPES:
                for inner, scoped in self.items(group, name, at):
                    yield scoped, inner, str(attributes.get("service.name", ""))

    def _scope(self, scoped: dict[str, Any]) -> str:
        scope = scoped.get("scope") or scoped.get("instrumentationLibrary")
        return str(scope.get("name") or "") if isinstance(scope, dict) else ""

    def items(self, holder: Any, key: str, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The mappings in a list, each with its place. A key that is not there, or null, holds none."""
        if not isinstance(holder, dict):
            self.refuse(place, "a mapping", holder)
        given = holder.get(key)
        here = step(place, key)
        if not isinstance(given, list | None):
            self.refuse(here, "a list", given)
        for index, item in enumerate(given or ()):
            if not isinstance(item, dict):
                self.refuse(f"{here}[{index}]", "a mapping", item)
            yield f"{here}[{index}]", item

    def _span(self, span: dict[str, Any], place: str, service: str, scope: str) -> Span:
        start = self.nanos(span, "startTimeUnixNano", place)
        status = span.get("status") or {}
        if not isinstance(status, dict):
            self.refuse(f"{place}.status", "a mapping", status)
        events = [
            {**self.attributes(event, at), "name": str(event.get("name", ""))}
            for at, event in self.items(span, "events", place)
        ]
        dropped = (span.get("droppedAttributesCount"), span.get("droppedEventsCount"))
        return Span(
            trace_id=self.text(span, "traceId", place),
            span_id=self.text(span, "spanId", place),
            parent_id=_parent(span.get("parentSpanId")),
            name=str(span.get("name", "")),
            start=start,
            end=max(self.nanos(span, "endTimeUnixNano", place, default=start), start),
            attributes=self.attributes(span, place),
            events=events,
            failed=status.get("code") in (STATUS_ERROR, "STATUS_CODE_ERROR"),
            message=str(status.get("message") or ""),
            service=service,
            scope=scope,
            dropped=any(str(count or 0) != "0" for count in dropped),
        )

    def _log(self, log: dict[str, Any], place: str, service: str, scope: str) -> Log:
        attributes = self.attributes(log, place)
        name = log.get("eventName") or attributes.get("event.name") or ""
        observed = self.nanos(log, "observedTimeUnixNano", place, default=0)
        return Log(
            trace_id=_parent(log.get("traceId")),
            span_id=_parent(log.get("spanId")),
            time=self.nanos(log, "timeUnixNano", place, default=observed),
            event={**attributes, "name": str(name), "body": plain(log.get("body"))},
            service=service,
            scope=scope,
        )

    def text(self, span: dict[str, Any], key: str, place: str) -> str:
        """An id."""
        value = span.get(key)
        if not isinstance(value, str) or not value:
            self.refuse(step(place, key), "a text", value)
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
            self.refuse(step(place, key), "nanoseconds since 1970", value)
        return number

    def attributes(self, holder: Any, place: str, key: str = "attributes") -> dict[str, Any]:
        """`attributes` as plain data."""
        return {str(each.get("key")): plain(each.get("value")) for _, each in self.items(holder, key, place)}

    def refuse(self, place: str, expected: str, got: Any) -> NoReturn:
        """Tell what is wrong where."""
        shown = "nothing" if got is None else type(got).__name__
        where = f" at {place}" if place else ""
        refuse(f"{self.where} is not {self.format}{where}: expected {expected}, got {shown}", self.advice)


def refuse(message: str, advice: str = Reader.advice) -> NoReturn:
    """Raise the `AdapterError` for what is no spans."""
    raise AdapterError(message, reason_code=INVALID, next_step=advice) from None


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


def any_value(data: Any) -> dict[str, Any]:
    """Plain data as an `AnyValue` of the protocol."""
    match data:
        case bool():
            return {"boolValue": data}
        case int():
            return {"intValue": str(data)}
        case float():
            return {"doubleValue": data}
        case list():
            return {"arrayValue": {"values": [any_value(item) for item in data]}}
        case dict():
            return {"kvlistValue": {"values": key_values(data)}}
    return {} if data is None else {"stringValue": str(data)}


def key_values(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Plain data as attributes of the protocol."""
    return [{"key": key, "value": any_value(value)} for key, value in data.items()]


def _parent(value: Any) -> str:
    """An id that may be missing, for which zeros stand too."""
    text = str(value or "")
    return text if text.strip("0") and text not in NOBODY else ""


def step(place: str, key: str) -> str:
    """The place of what has a key in something."""
    return ".".join(filter(None, (place, key)))
