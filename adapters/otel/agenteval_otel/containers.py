"""The containers that spans come in, recognised by their content: each is read as what it is, or refused by its name.

OTLP JSON, one document or one a line, or a list of them; what Tempo's API answers; Jaeger's JSON; OTLP protobuf. To add
one, describe it in `CONTAINERS` (data that hold OTLP JSON), in `FOREIGN` (what is refused), or read it beside `Jaeger`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import FileError
from agenteval.reading.documents import opened, read_data, read_text
from agenteval.reading.jsonsource import parse_json
from agenteval_otel.otlp import DOCUMENTS, Reader, Span, Spans, refuse, step

CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "batches": lambda data: [{"resourceSpans": data["batches"]}],  # Tempo's API, version 1
    "trace": lambda data: [data["trace"]],  # and version 2
    "result": lambda data: [data["result"]],  # Jaeger's API, version 3
}
"""The key of a container in JSON, and the documents in it."""
JAEGER = ("traceID", "spans")
"""The keys of a trace in Jaeger's JSON."""
AS_OTLP = "export the spans as OTLP JSON, for instance with `agenteval record --listen` or a collector's file exporter"
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
"""Keys by which other containers are known, which are refused."""
KNOWN = (*DOCUMENTS, "batches", "traceID")
"""Keys that tell that a file holds spans which are read."""


def is_spans(path: Path) -> bool:
    """Whether a file looks like spans; what is wrong with it is told when it is read."""
    if not path.is_file():
        return False
    head = _head(path)
    return _is_binary(head) or (path.suffix in (".json", ".jsonl") and any(_has(head, key) for key in KNOWN))


def foreign(path: Path) -> str:
    """What a file is that looks like spans in a container that is not read; empty for any other."""
    head = _head(path) if path.is_file() else b""
    return next((name for keys, name in FOREIGN.items() if all(_has(head, key) for key in keys)), "")


def _head(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(4096)


def _has(head: bytes, key: str) -> bool:
    return f'"{key}"'.encode() in head


def read_spans(path: Path, *, max_bytes: int) -> Spans:
    """The spans of a file.

    Raises `FileError` for a file that cannot be read as text or JSON, `AdapterError` (`adapter.otlp_invalid`) for a
    container that is not read, or with the place of what is not as it has to be.
    """
    found = Spans(spans=[])
    data = read_data(path, max_bytes)
    if data.startswith(b"\x1f\x8b"):
        refuse(f"{path} is compressed with gzip", "unpack it")
    if _is_binary(data):
        from agenteval_otel.protobuf import decode_file

        for document in decode_file(data, path):
            Reader(str(path), found).read(document)
        return found
    for where, document in _documents(read_text(path, max_bytes=max_bytes), path, found):
        _read(document, f"{path}{where}", "", found)
    return found


def _is_binary(data: bytes) -> bool:
    """Whether it is OTLP protobuf: the key of its first field, or a length, and that of the second, which no text has."""
    return data[:1] in (b"\x00", b"\n") and b"\x12" in data[:4096]


def _read(data: Any, where: str, place: str, found: Spans) -> None:
    """Add the spans of a document, whatever container it is."""
    if isinstance(data, list):
        for index, each in enumerate(data):
            _read(each, where, f"{place}[{index}]", found)
        return
    reader, jaeger = Reader(where, found), Jaeger(where, found)
    if not isinstance(data, dict):
        reader.refuse(place, "a mapping", data)
    if any(kind in data for kind in DOCUMENTS):
        reader.read(data, place)
    elif all(key in data for key in JAEGER):
        jaeger.read(data, place)
    elif isinstance(data.get("data"), list):
        for at, each in jaeger.items(data, "data", place):
            jaeger.read(each, at)
    elif foreign := next((name for keys, name in FOREIGN.items() if all(key in data for key in keys)), ""):
        refuse(f"{where} is {foreign}, which is not read", AS_OTLP)
    elif inside := next((key for key in CONTAINERS if key in data), ""):
        for each in CONTAINERS[inside](data):
            _read(each, where, step(place, inside), found)
    else:
        reader.refuse(step(place, "resourceSpans"), "a list", None)


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
            refuse(f"{path}:{number} is not JSON, or is nested too deeply")


def _data(line: str, path: Path) -> Any:
    """The data of a line, or None."""
    try:
        return parse_json(line, path)
    except FileError:
        return None


class Jaeger(Reader):
    """Reads a trace in Jaeger's JSON, as its API and its page give it: times are in microseconds."""

    format = "Jaeger's JSON"
    advice = "download the trace again, or export its spans as OTLP JSON"

    def read(self, data: dict[str, Any], place: str = "") -> None:
        """Add the spans of the trace."""
        processes = data.get("processes") or {}
        for at, span in self.items(data, "spans", place):
            process = processes.get(span.get("processID")) if isinstance(processes, dict) else None
            tags = self.tags(span, at)
            start = self._micros(span, "startTime", at)
            references = [each for _, each in self.items(span, "references", at)]
            parents = [
                str(each.get("spanID", "")) for each in references if each.get("refType") == "CHILD_OF"
            ]
            self.found.spans.append(
                Span(
                    trace_id=self.text(span, "traceID", at),
                    span_id=self.text(span, "spanID", at),
                    parent_id=parents[0] if parents else "",
                    name=str(span.get("operationName", "")),
                    start=start,
                    end=start + self._micros(span, "duration", at),
                    attributes=tags,
                    events=[self._event(log, place) for place, log in self.items(span, "logs", at)],
                    failed=tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR",
                    message=str(tags.get("otel.status_description") or ""),
                    service=str(process.get("serviceName", "")) if isinstance(process, dict) else "",
                    scope=str(tags.get("otel.scope.name") or tags.get("otel.library.name") or ""),
                )
            )

    def tags(self, holder: dict[str, Any], place: str, key: str = "tags") -> dict[str, Any]:
        """Tags, or the fields of a log, as attributes."""
        return {str(each.get("key")): each.get("value") for _, each in self.items(holder, key, place)}

    def _event(self, log: dict[str, Any], place: str) -> dict[str, Any]:
        fields = self.tags(log, place, "fields")
        return {**fields, "name": str(fields.get("event", ""))}

    def _micros(self, span: dict[str, Any], key: str, place: str) -> int:
        value = span.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 253_402_300_800 * 10**6:
            self.refuse(step(place, key), "microseconds", value)
        return value * 1000
