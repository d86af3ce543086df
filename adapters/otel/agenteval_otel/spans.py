"""Files of spans: the container is recognised by its content, and read, or refused by name.

It reads OTLP in JSON (one document, one a line, or lists of them) and in protobuf, exports of Tempo's API, and
Jaeger's JSON. Exports of CloudWatch have a span or a log record in each row, between lines of the application's own
log. To add a container, describe it in `CONTAINERS` (it holds OTLP JSON) or in `FOREIGN` (it is refused), or read it
as `Jaeger` does.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: 64-bit integers are texts, ids are hexadecimal, a
value is a mapping with one key that names its type. Unknown keys are passed over, as the protocol asks; so are metrics.
Log records are read too: some instrumentations write the messages of a span there.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from agenteval.contracts.errors import AdapterError, FileError
from agenteval.reading.documents import opened, read_data, read_text
from agenteval.reading.jsonsource import parse_json, whole_characters
from agenteval_otel.messages import Message, data_of
from agenteval_otel.protobuf import decode_file

STATUS_OK, STATUS_ERROR = 1, 2
"""`STATUS_CODE_OK` and `STATUS_CODE_ERROR` of the protocol."""
LATEST = 253_402_300_800 * 10**9
"""The year 10000, in nanoseconds since 1970."""
DOCUMENTS = ("resourceSpans", "resourceMetrics", "resourceLogs")
"""The keys of an OTLP document, by signal."""
SCOPES = ("scopeSpans", "instrumentationLibrarySpans", "scopeLogs", "instrumentationLibraryLogs")
"""The keys that group spans and log records by instrumentation; the longer names are older."""
NOBODY = ("AAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAA==")
"""Ids of zeros in base64, as Tempo writes them."""
JAEGER = ("traceID", "spans")
"""The keys of a trace in Jaeger's JSON."""
CONTAINERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "batches": lambda data: {"resourceSpans": data["batches"]},  # Tempo's API, version 1
    "trace": lambda data: data["trace"],  # and version 2
    "result": lambda data: data["result"],  # Jaeger's API, version 3
    "data": lambda data: data["data"],  # and before
    "scopeSpans": lambda data: {"resourceSpans": [data]},  # the spans of a resource alone
    "startTimeUnixNano": lambda data: {  # a span alone, as CloudWatch keeps them
        "resourceSpans": [{**data, "scopeSpans": [{"scope": data.get("scope"), "spans": [data]}]}]
    },
    "observedTimeUnixNano": lambda data: {  # and a log record
        "resourceLogs": [{**data, "scopeLogs": [{"scope": data.get("scope"), "logRecords": [data]}]}]
    },
    "@message": lambda data: data_of(data["@message"]),  # what a query of CloudWatch gives
    "raw_otel_json": lambda data: data["raw_otel_json"],
}
"""The key of a container in JSON, and a function that takes its content out."""
FOREIGN = {
    ("traceId", "localEndpoint"): "Zipkin's JSON",
    ("traceId", "timestamp", "duration"): "Zipkin's JSON",
    ("context", "start_time"): "what an SDK's console exporter prints",
    ("trace_id", "span_id"): "spans as an SDK or a vendor prints them",
    ("context.trace_id",): "Phoenix's export of a table",
    ("trace", "observations"): "Langfuse's export",
    ("run_type", "trace_id"): "LangSmith's runs",
    ("traceEvents",): "Chrome's trace format",
    ("resource_spans",): "OTLP with the names of protobuf",
}
"""The keys of containers that are refused, with their names."""
PARTIAL = "PARTIAL"
"""Tempo's status of a trace that it returns in part."""
LOG_KEYS = ("message", "msg", "event", "level")
"""Keys of lines that applications log as JSON. A row with one of them, and no key of a span, is passed over."""
LOGGED = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR)\b|\b\d\d:\d\d:\d\d\b")
"""A level or a time, as in lines that applications log as texts."""
SPAN_KEYS = re.compile("(?i)trace_?id|span_?id|spans|(?:start|end)_?time|gen_ai|attributes")
TIMES = ("startTimeUnixNano", "observedTimeUnixNano")
"""Keys that only OTLP has. Many log lines of an application may come before the first of them."""
KNOWN = (*DOCUMENTS, "batches", "traceID", "scopeSpans", "@message", *TIMES)
"""Keys of files with spans that are read."""
AS_OTLP = "export the spans as OTLP JSON, for instance with `agenteval record --listen` or a collector's file exporter"
VALUES = frozenset(f"{kind}Value" for kind in ("string", "bool", "int", "double", "array", "kvlist", "bytes"))
"""The keys of an `AnyValue`."""
_INTEGER = re.compile("-?[0-9]{1,18}")
"""An integer that fits into 64 bits. A longer one can only be an id, and stays a text."""


@dataclass(slots=True, kw_only=True)
class Span:
    """One span. Times are in nanoseconds since the epoch; `attributes` and `events` are plain data."""

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str
    start: int
    end: int
    attributes: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)
    """Events of the span, and log records that name it: their attributes, `name`, and `body`."""
    failed: bool = False
    succeeded: bool = False
    """True if its status is OK. Most instrumentations leave the status unset."""
    message: str = ""
    """The message of the status."""
    service: str = ""
    """`service.name` of the resource."""
    scope: str = ""
    """The instrumentation that wrote it."""
    dropped: bool = False
    """True if attributes or events of it were dropped at a limit."""
    parent: "Span | None" = field(default=None, repr=False)
    """The span around it, for readers of dialects."""
    dialects: list[str] = field(default_factory=list)
    """The known conventions that it is written in."""
    operation: str = ""
    """The operation; empty for a span that is not about generative AI. This and the fields below are set by `resolve`."""
    tool: str = ""
    call_id: str = ""
    args: Any = None
    """The arguments of the call that it executed; None when they were not captured."""
    result: Any = None
    """The result of the call; None when it was not captured."""
    asked: list[Message] = field(default_factory=list)
    """The messages to a model or an agent; none when they were not captured."""
    answered: list[Message] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Spans:
    """The spans of a file, in its order."""

    spans: list[Span] = field(default_factory=list)
    logs: list[Span] = field(default_factory=list)
    """Log records, each as a span within the one that it names; its attributes are as an event of a span has them."""
    cut: bool = False
    """True if the last line breaks off, or the file states that it is a part."""
    passed_over: int = 0
    """The number of rows between them that an application logged."""


def is_spans(path: Path) -> bool:
    """Return whether a file looks like spans. `read_spans` reports what is wrong with it."""
    head = _head(path)
    if _is_binary(head):
        return True
    is_json = path.suffix in (".json", ".jsonl")
    return is_json and (
        any(_has(head, key) for key in KNOWN) or any(_has(_head(path, 1 << 18), key) for key in TIMES)
    )


def foreign(path: Path) -> str:
    """Name the container of spans that is not read; empty for any other file."""
    head = _head(path)
    return next((name for keys, name in FOREIGN.items() if all(_has(head, key) for key in keys)), "")


def _head(path: Path, size: int = 4096) -> bytes:
    if not path.is_file():
        return b""
    with opened(path) as file:
        return file.read(size)


def _has(head: bytes, key: str) -> bool:
    return f'"{key}"'.encode() in head


def _is_binary(data: bytes) -> bool:
    """Return whether data is OTLP protobuf.

    It begins with the key of its first field, or with a length, and has the key of the second field, which no text has.
    """
    return data[:1] in (b"\x00", b"\n") and b"\x12" in data[:4096]


def read_spans(path: Path, *, max_bytes: int) -> Spans:
    """Read the spans of a file.

    Raises `FileError` for a file that cannot be read as text or JSON, `AdapterError` (`adapter.otlp_invalid`) for a
    container that is not read, or with the place of a wrong value.
    """
    found = Spans()
    data = read_data(path, max_bytes)
    if data.startswith(b"\x1f\x8b"):
        refuse(f"{path} is compressed with gzip", "unpack it")
    if _is_binary(data):
        try:
            for document in decode_file(data):
                Reader(str(path), found).read(document)
        except ValueError as error:
            refuse(f"{path} {error}")
        return found
    # SDKs cut attributes at a limit, be it within an emoji
    text = whole_characters(read_text(path, max_bytes=max_bytes))
    for where, document in _documents(text, path, found):
        _read(document, f"{path}{where}", "", found, is_row=bool(where))
    if found.passed_over and not (found.spans or found.logs):
        refuse(f"{path} holds only lines that an application logged, and no spans")
    return found


def _read(data: Any, where: str, place: str, found: Spans, *, is_row: bool = False) -> None:
    """Add the spans of a document in any container. `is_row` is true if the file has other documents."""
    if isinstance(data, list):
        for index, each in enumerate(data):
            _read(each, where, f"{place}[{index}]", found, is_row=len(data) > 1)
        return
    reader = Reader(where, found)
    if is_row and (data[:1] not in ("{", "[") if isinstance(data, str) else _is_logged(data)):
        found.passed_over += 1
        return
    if not isinstance(data, dict):
        reader.refuse(place, "a mapping", data)
    found.cut |= data.get("status") == PARTIAL
    if any(kind in data for kind in DOCUMENTS):
        reader.read(data, place)
    elif all(key in data for key in JAEGER):
        Jaeger(where, found).read(data, place)
    elif name := next((name for keys, name in FOREIGN.items() if all(key in data for key in keys)), ""):
        refuse(f"{where} is {name}, which is not read", AS_OTLP)
    elif inside := next((key for key in CONTAINERS if key in data), ""):
        _read(CONTAINERS[inside](data), where, step(place, inside), found, is_row=is_row)
    else:
        reader.refuse(step(place, "resourceSpans"), "a list", None)


def _is_logged(row: Any) -> bool:
    """Return whether a row is a line that an application logged: a text, or data without a key of a span."""
    if isinstance(row, str):
        # A cut line of JSON is no log line. `[12:01:33] started` is one: its bracket holds a time, no text in quotes.
        is_cut = row.lstrip().startswith(("{", "["))
        return bool(LOGGED.search(row[:200])) and not (is_cut and '"' in row[:20])
    if not isinstance(row, dict) or any(key in row for key in (*CONTAINERS, *DOCUMENTS)):
        return False
    return any(key in row for key in LOG_KEYS) and not any(map(SPAN_KEYS.search, row))


def _documents(text: str, path: Path, found: Spans) -> Iterator[tuple[str, Any]]:
    """List the JSON documents with their places: the whole file, or its lines. The last line may be cut."""
    # at line feeds alone: JSON has U+2028 and the like within texts as they are
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) < 2 or (_data(lines[0][1], path) is None and not _is_logged(lines[0][1])):
        yield "", parse_json(text, path)
        return
    for number, line in lines:
        data = _data(line, path)
        if data is not None:
            yield f":{number}", data
        elif _is_logged(line):
            found.passed_over += 1
        elif number == lines[-1][0]:
            found.cut = True
        else:
            refuse(f"{path}:{number} is not JSON, or is nested too deeply")


def _data(line: str, path: Path) -> Any:
    """Parse a line; None if it is no JSON."""
    try:
        return parse_json(line, path)
    except FileError:
        return None


class Reader:
    """Reads one document of OTLP JSON. Its errors give the place of the wrong value."""

    format = "OTLP JSON"
    advice = (
        "export the spans again as OTLP JSON, for instance with the file exporter of a collector or an SDK"
    )

    def __init__(self, where: str, found: Spans) -> None:
        self.where = where
        self.found = found

    def read(self, data: dict[str, Any], place: str = "") -> None:
        """Add the spans and the log records of the document."""
        for kind, inner, add in (("Spans", "spans", self._span), ("Logs", "logRecords", self._log)):
            for at, scoped, service in self._scopes(data, f"resource{kind}", place):
                scope = scoped.get("scope") or scoped.get("instrumentationLibrary")
                writer = str(scope.get("name") or "") if isinstance(scope, dict) else ""
                for here, item in self.items(scoped, inner, at):
                    add(item, here, service, writer)

    def _scopes(
        self, data: dict[str, Any], key: str, place: str
    ) -> Iterator[tuple[str, dict[str, Any], str]]:
        """List the groups of one instrumentation, each with its place and the service of its resource."""
        for at, group in self.items(data, key, place):
            resource = self.attributes(group.get("resource") or {}, f"{at}.resource")
            for name in SCOPES:
                for within, scoped in self.items(group, name, at):
                    yield within, scoped, str(resource.get("service.name", ""))

    def items(self, holder: Any, key: str, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """List the mappings in a list, each with its place. A key that is missing or null holds none."""
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

    def _span(self, span: dict[str, Any], place: str, service: str, scope: str) -> None:
        start = self.nanos(span, "startTimeUnixNano", place)
        status = span.get("status") or {}
        if not isinstance(status, dict):
            self.refuse(f"{place}.status", "a mapping", status)
        dropped = (span.get("droppedAttributesCount"), span.get("droppedEventsCount"))
        self.found.spans.append(
            Span(
                trace_id=self.text(span, "traceId", place),
                span_id=self.text(span, "spanId", place),
                parent_id=_id(span.get("parentSpanId")),
                name=str(span.get("name", "")),
                start=start,
                end=max(self.nanos(span, "endTimeUnixNano", place, default=start), start),
                attributes=self.attributes(span, place),
                events=[
                    {**self.attributes(event, at), "name": str(event.get("name", ""))}
                    for at, event in self.items(span, "events", place)
                ],
                failed=status.get("code") in (STATUS_ERROR, "STATUS_CODE_ERROR", "ERROR"),
                succeeded=status.get("code") in (STATUS_OK, "STATUS_CODE_OK", "OK"),
                message=str(status.get("message") or ""),
                dropped=any(str(count or 0) != "0" for count in dropped),
                service=service,
                scope=scope,
            )
        )

    def _log(self, log: dict[str, Any], place: str, service: str, scope: str) -> None:
        attributes = self.attributes(log, place)
        name = str(log.get("eventName") or attributes.get("event.name") or "")
        observed = self.nanos(log, "observedTimeUnixNano", place, default=0)
        time = self.nanos(log, "timeUnixNano", place, default=observed)
        self.found.logs.append(
            Span(
                trace_id=_id(log.get("traceId")),
                span_id=f"log {len(self.found.logs)}",
                parent_id=_id(log.get("spanId")),
                name=name,
                start=time,
                end=time,
                attributes={**attributes, "name": name, "body": plain(log.get("body"))},
                service=service,
                scope=scope,
            )
        )

    def text(self, span: dict[str, Any], key: str, place: str) -> str:
        """Return an id, which must be a text."""
        value = span.get(key)
        if not isinstance(value, str) or not value:
            self.refuse(step(place, key), "a text", value)
        return value

    def nanos(self, span: dict[str, Any], key: str, place: str, default: int | None = None) -> int:
        """Return a time: an integer, or the text of one. Zero and nothing stand for an unknown time."""
        value = span.get(key)
        try:
            number = int(value) if isinstance(value, str | int) and not isinstance(value, bool) else 0
        except ValueError:
            number = -1
        if default is not None and value in (None, 0, "0", ""):
            return default
        if not 0 < number < LATEST:
            self.refuse(step(place, key), "nanoseconds since 1970", value)
        return number

    def attributes(self, holder: Any, place: str, key: str = "attributes") -> dict[str, Any]:
        """Return `attributes` as plain data. Some exporters write them as a plain mapping."""
        if isinstance(holder, dict) and isinstance(holder.get(key), dict):
            return dict(holder[key])
        return {str(each.get("key")): plain(each.get("value")) for _, each in self.items(holder, key, place)}

    def refuse(self, place: str, expected: str, got: Any) -> NoReturn:
        """Raise the error for a wrong value, with its place."""
        shown = "nothing" if got is None else type(got).__name__
        where = f" at {place}" if place else ""
        refuse(f"{self.where} is not {self.format}{where}: expected {expected}, got {shown}", self.advice)


class Jaeger(Reader):
    """Reads a trace in Jaeger's JSON, as its API and its page give it: times are in microseconds."""

    format = "Jaeger's JSON"
    advice = "download the trace again, or export its spans as OTLP JSON"

    def read(self, data: dict[str, Any], place: str = "") -> None:
        """Add the spans of the trace."""
        processes = data.get("processes") or {}
        for at, span in self.items(data, "spans", place):
            process = processes.get(span.get("processID")) if isinstance(processes, dict) else None
            tags = self.attributes(span, at, "tags")
            start = self._micros(span, "startTime", at)
            parents = [
                str(each.get("spanID", ""))
                for _, each in self.items(span, "references", at)
                if each.get("refType") == "CHILD_OF"
            ]
            logs = [self.attributes(log, here, "fields") for here, log in self.items(span, "logs", at)]
            self.found.spans.append(
                Span(
                    trace_id=self.text(span, "traceID", at),
                    span_id=self.text(span, "spanID", at),
                    parent_id=parents[0] if parents else "",
                    name=str(span.get("operationName", "")),
                    start=start,
                    end=start + self._micros(span, "duration", at),
                    attributes=tags,
                    events=[{**log, "name": str(log.get("event", ""))} for log in logs],
                    failed=tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR",
                    succeeded=tags.get("otel.status_code") == "OK",
                    message=str(tags.get("otel.status_description") or ""),
                    service=str(process.get("serviceName", "")) if isinstance(process, dict) else "",
                    scope=str(tags.get("otel.scope.name") or tags.get("otel.library.name") or ""),
                )
            )

    def _micros(self, span: dict[str, Any], key: str, place: str) -> int:
        value = span.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value * 1000 < LATEST:
            self.refuse(step(place, key), "microseconds", value)
        return value * 1000


def refuse(message: str, advice: str = Reader.advice) -> NoReturn:
    """Raise the `AdapterError` for a file that holds no readable spans."""
    raise AdapterError(message, reason_code="adapter.otlp_invalid", next_step=advice) from None


def plain(value: Any) -> Any:
    """Return an `AnyValue` of the protocol as plain data. Some exporters write plain data themselves."""
    if not isinstance(value, dict) or (value and VALUES.isdisjoint(value)):
        return value
    match next(iter(value.items()), ("", None)):
        case "intValue", str(number):
            return int(number) if _INTEGER.fullmatch(number) else number
        case "arrayValue", given:
            return [plain(item) for item in _values(given)]
        case "kvlistValue", given:
            items = (each for each in _values(given) if isinstance(each, dict))
            return {str(each.get("key")): plain(each.get("value")) for each in items}
        case _, given:
            return given


def _values(given: Any) -> list[Any]:
    values = given.get("values") if isinstance(given, dict) else None
    return values if isinstance(values, list) else []


def key_values(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return plain data as attributes of the protocol."""
    return [{"key": key, "value": _any_value(value)} for key, value in data.items()]


def _any_value(data: Any) -> dict[str, Any]:
    match data:
        case bool():
            return {"boolValue": data}
        case int():
            return {"intValue": str(data)}
        case float():
            return {"doubleValue": data}
        case list():
            return {"arrayValue": {"values": [_any_value(item) for item in data]}}
        case dict():
            return {"kvlistValue": {"values": key_values(data)}}
    return {} if data is None else {"stringValue": str(data)}


def _id(value: Any) -> str:
    """Return an id that may be missing; empty for zeros, which mean the same."""
    text = str(value or "")
    return text if text.strip("0") and text not in NOBODY else ""


def step(place: str, key: str) -> str:
    """Return the place of a key inside a place."""
    return ".".join(filter(None, (place, key)))
