"""OTLP in protobuf, as most SDKs send it, into OTLP JSON.

Read here and not with the library `protobuf`: the format is frozen, so that a table of fields is enough, and agents pin
versions of the library that a test runner beside them must not contradict.
"""

import struct
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from agenteval.reading.documents import MAX_DEPTH
from agenteval_otel.spans import refuse

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
"""How a field is encoded."""
ENCODINGS = {"bool": VARINT, "int": VARINT, "long": VARINT, "time": FIXED64, "double": FIXED64}
"""Those of scalars; all others have a length."""
MESSAGES = {
    "traces": "1 resourceSpans* resource-spans",
    "resource-spans": "1 resource resource, 2 scopeSpans* scope-spans",
    "scope-spans": "1 scope scope, 2 spans* span",
    "logs": "1 resourceLogs* resource-logs",
    "resource-logs": "1 resource resource, 2 scopeLogs* scope-logs",
    "scope-logs": "1 scope scope, 2 logRecords* log",
    "resource": "1 attributes* attribute",
    "scope": "1 name text, 2 version text",
    "span": "1 traceId id, 2 spanId id, 4 parentSpanId id, 5 name text, 6 kind int, 7 startTimeUnixNano time, "
    "8 endTimeUnixNano time, 9 attributes* attribute, 10 droppedAttributesCount int, 11 events* event, "
    "12 droppedEventsCount int, 15 status status",
    "event": "1 timeUnixNano time, 2 name text, 3 attributes* attribute",
    "status": "2 message text, 3 code int",
    "log": "1 timeUnixNano time, 5 body value, 6 attributes* attribute, 9 traceId id, 10 spanId id, "
    "11 observedTimeUnixNano time, 12 eventName text",
    "attribute": "1 key text, 2 value value",
    "value": "1 stringValue text, 2 boolValue bool, 3 intValue long, 4 doubleValue double, 5 arrayValue values, "
    "6 kvlistValue attributes, 7 bytesValue bytes",
    "values": "1 values* value",
    "attributes": "1 values* attribute",
}
"""The messages of the protocol: of each field the number, the name in JSON, with a star for many, and what it is."""
FIELDS = {
    kind: {number: (name, what) for number, name, what in map(str.split, fields.split(", "))}
    for kind, fields in MESSAGES.items()
}


def decode(data: bytes, kind: str, depth: int = 0) -> dict[str, Any]:
    """A message as OTLP JSON has it. Raises `ValueError` for what is none."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    message: dict[str, Any] = {}
    for number, wire, raw in _wire(data):
        name, what = FIELDS[kind].get(str(number), ("", ""))
        if not name:
            continue
        if wire != ENCODINGS.get(what, LENGTH):
            raise ValueError(f"{name} is encoded as something else")
        inner = raw if isinstance(raw, bytes) and what in FIELDS else None
        value = _scalar(what, raw) if inner is None else decode(inner, what, depth + 1)
        if name.endswith("*"):
            message.setdefault(name[:-1], []).append(value)
        else:
            message[name] = value
    return message


def decode_file(data: bytes, path: Path) -> Iterator[dict[str, Any]]:
    """The documents in a file: one message, or several, each behind its length in four bytes, as collectors write them.

    Raises `AdapterError` for anything else.
    """
    messages, rest = ([], data) if data[:1] == b"\x00" else ([data], b"")
    while len(rest) >= 4 and (size := int.from_bytes(rest[:4], "big")) <= len(rest) - 4:
        messages.append(rest[4 : 4 + size])
        rest = rest[4 + size :]
    if rest:
        refuse(f"{path} breaks off within OTLP protobuf")
    for message in messages:
        try:
            yield decode(message, "traces")
        except ValueError:
            try:
                yield decode(message, "logs")
            except ValueError:
                refuse(f"{path} is neither JSON nor OTLP protobuf")


def _wire(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The fields of a message: number, encoding, and value."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire not in (VARINT, FIXED64, LENGTH, FIXED32):
            raise ValueError("an encoding that is not known")
        if wire in (VARINT, LENGTH):
            size, at = _varint(data, at)
        else:
            size = 8 if wire == FIXED64 else 4
        if wire == VARINT:
            yield key >> 3, wire, size
        elif at + size > len(data):
            raise ValueError("breaks off")
        else:
            yield key >> 3, wire, data[at : at + size]
            at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
    raise ValueError("a number that breaks off")


def _scalar(kind: str, raw: int | bytes) -> Any:
    """A value as OTLP JSON has it."""
    if isinstance(raw, int):
        number = raw - 2**64 if raw >= 2**63 else raw
        return bool(raw) if kind == "bool" else str(number) if kind == "long" else number
    if kind == "time":
        return str(int.from_bytes(raw, "little"))
    if kind == "double":
        (double,) = struct.unpack("<d", raw)
        return double if isfinite(double) else str(double)  # not in JSON
    if kind == "id" and len(raw) not in (0, 8, 16):
        raise ValueError("an id of another length")
    return raw.decode() if kind == "text" else raw.hex()
