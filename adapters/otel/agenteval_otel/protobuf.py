"""OTLP in protobuf, read with `opentelemetry-proto` (the extra `otlp`) into the same data as OTLP JSON.

The package is imported only where protobuf is read, so that JSON needs no extra.
"""

import base64
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

from agenteval.contracts.errors import AdapterError

Signal = Literal["traces", "logs"]
IDS = ("traceId", "spanId", "parentSpanId")
"""Fields that OTLP JSON writes in hexadecimal. Protobuf's own JSON has base64 for all bytes."""
BYTES = (*IDS, "bytesValue")
LEVELS: dict[Signal, tuple[str, str, str]] = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}
"""The fields of a request, from the outermost to the one that lists the spans or log records."""


def decode(data: bytes, signal: Signal) -> dict[str, Any]:
    """Decode a request of an exporter into a document of OTLP JSON.

    Raises `ValueError` for bytes that are no such request, `AdapterError` where the extra is missing.
    """
    try:
        from google.protobuf.json_format import MessageToDict, SerializeToJsonError
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError as error:
        raise AdapterError(
            "reading OTLP in protobuf needs the extra `otlp`: pip install 'agenteval[otlp]'",
            reason_code="adapter.otlp_extra_missing",
            next_step="install it, or export the spans as OTLP JSON, which needs no extra",
        ) from error

    kinds: dict[Signal, Any] = {"traces": ExportTraceServiceRequest, "logs": ExportLogsServiceRequest}
    try:
        decoded = MessageToDict(kinds[signal].FromString(data), use_integers_for_enums=True)
    except (DecodeError, SerializeToJsonError, RecursionError) as error:
        raise ValueError("not OTLP protobuf") from error
    document: dict[str, Any] = _with_hexadecimal_ids(decoded)
    if not all(map(_is_complete, _items(document, LEVELS[signal]))):
        raise ValueError("not OTLP protobuf: a span or log record without its id or time")
    return document


def decode_file(data: bytes) -> Iterator[dict[str, Any]]:
    """Decode a file: one request, or several, each behind its length in four bytes, as collectors write them.

    Raises `ValueError` for a file that breaks off or holds something else.
    """
    # A request begins with the key of its first field, 0x0A; the length of a request of less than 16 MB with a zero.
    messages, rest = ([], data) if data[:1] == b"\x00" else ([data], b"")
    while len(rest) >= 4 and (size := int.from_bytes(rest[:4], "big")) <= len(rest) - 4:
        messages.append(rest[4 : 4 + size])
        rest = rest[4 + size :]
    if rest:
        raise ValueError("breaks off within OTLP protobuf")
    for message in messages:
        yield _spans_or_logs(message)


def _spans_or_logs(message: bytes) -> dict[str, Any]:
    for signal in LEVELS:
        with suppress(ValueError):
            return decode(message, signal)
    raise ValueError("is neither JSON nor OTLP protobuf")


def _items(data: dict[str, Any], keys: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The spans or log records of a document."""
    key, *inner = keys
    for each in data.get(key, ()):
        yield from _items(each, tuple(inner)) if inner else (each,)


def _is_complete(item: dict[str, Any]) -> bool:
    """Return whether an item has what every span or log record has.

    A protobuf reader passes over fields that it does not know, so it accepts logs or metrics as spans. What it then
    makes of them lacks the ids of a span, or the times of a log record.
    """
    lengths = {key: len(item.get(key, "")) for key in IDS}
    if lengths["traceId"] not in (0, 32) or {lengths["spanId"], lengths["parentSpanId"]} - {0, 16}:
        return False
    return "startTimeUnixNano" in item or "timeUnixNano" in item or "observedTimeUnixNano" in item


def _with_hexadecimal_ids(data: Any) -> Any:
    if isinstance(data, list):
        return [_with_hexadecimal_ids(each) for each in data]
    if not isinstance(data, dict):
        return data
    return {
        key: base64.b64decode(value).hex()
        if key in BYTES and isinstance(value, str)
        else _with_hexadecimal_ids(value)
        for key, value in data.items()
    }
