"""The containers that spans come in: each is recognised by its content, or refused by its name."""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agenteval.contracts.adapters import NOT_THIS_KIND
from agenteval.contracts.errors import AdapterError
from agenteval_otel.protobuf import LEVELS, decode
from agenteval_otel.recorder import OtelRecorder
from agenteval_otel.spans import Reader, Spans, plain, read_spans
from otel.spans import START, agent, asks_for, chat, context_of, otlp, says, told, tool, trace_of

DONE: dict[str, Any] = {
    "tool__call__id": "c1",
    "tool__call__arguments": '{"q": 1}',
    "tool__call__result": "None.",
}
SPANS = [
    agent(agent__name="a", conversation__id="c-1"),
    chat(10, 100, asked=[says("user", "What is new?")], answered=[asks_for("c1", "search", q=1)]),
    tool(110, 200, "search", **DONE),
    chat(210, 300, asked=[says("user", "What is new?")], answered=[says("assistant", "Nothing.")]),
]
TOLD = [
    ("message_received", "What is new?"),
    ("tool_call", "c1"),
    ("tool_result", "c1"),
    ("final_output", "Nothing."),
]
DOCUMENT = otlp(*SPANS)
HALVES = [otlp(*SPANS[:2]), otlp(*SPANS[2:])]
OLDER = {
    "resourceSpans": [
        {
            "resource": group["resource"],
            "instrumentationLibrarySpans": [
                {"instrumentationLibrary": each["scope"], "spans": each["spans"]}
                for each in group["scopeSpans"]
            ],
        }
        for group in DOCUMENT["resourceSpans"]
    ]
}


def jaeger() -> dict[str, Any]:
    """The trace as Jaeger's API gives it."""
    spans = [
        {
            "traceID": span["traceId"],
            "spanID": span["spanId"],
            "operationName": span["name"],
            "references": [{"refType": "CHILD_OF", "spanID": span["parentSpanId"]}]
            if span["parentSpanId"]
            else [],
            "startTime": int(span["startTimeUnixNano"]) // 1000,
            "duration": (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) // 1000,
            "tags": [
                {"key": each["key"], "type": "string", "value": plain(each["value"])}
                for each in span["attributes"]
            ],
            "logs": [{"timestamp": 1, "fields": [{"key": "event", "value": "x"}]}],
            "processID": "p1",
        }
        for span in SPANS
    ]
    return {"traceID": "t1", "spans": spans, "processes": {"p1": {"serviceName": "newsroom"}}}


JSON = {
    "otlp": json.dumps(DOCUMENT),
    "lines": "\n".join(map(json.dumps, HALVES)),
    "a list of requests": json.dumps(HALVES),
    "lists in lines": "\n".join(json.dumps([half]) for half in HALVES),
    "older names of scopes": json.dumps(OLDER),
    "tempo": json.dumps({"batches": DOCUMENT["resourceSpans"]}),
    "tempo, version 2": json.dumps({"trace": DOCUMENT}),
    "tempo, within": json.dumps({"trace": {"batches": DOCUMENT["resourceSpans"]}}),
    "spans of a resource": json.dumps(DOCUMENT["resourceSpans"]),
    "cloudwatch": "\n".join(
        json.dumps(
            {
                **span,
                "resource": {"attributes": {"service.name": "newsroom"}},
                "scope": {"name": ""},
                "attributes": {each["key"]: plain(each["value"]) for each in span["attributes"]},
            }
        )
        for span in SPANS
    ),
    "jaeger": json.dumps({"data": [jaeger()], "total": 0}),
    "jaeger, one trace": json.dumps(jaeger()),
    "jaeger, version 3": json.dumps({"result": DOCUMENT}),
}


@pytest.mark.parametrize("text", JSON.values(), ids=JSON)
def test_containers_in_json(text: str, tmp_path: Path) -> None:
    """The same run in each."""
    path = tmp_path / "spans.json"
    path.write_text(text, encoding="utf-8")
    trace = trace_of(path)
    assert told(trace) == TOLD
    assert (trace.status, trace.notes, trace.unseen) == ("success", [], [])
    (run,) = OtelRecorder().inspect(path, context_of(tmp_path)).runs
    assert (run.tools, run.group_id) == ({"search": 1}, "c-1")


def test_failures_in_jaeger(tmp_path: Path) -> None:
    """By the tag of a status, or that of an error; its description is the message."""
    for tag in ({"key": "otel.status_code", "value": "ERROR"}, {"key": "error", "value": True}):
        trace = jaeger()
        told_of = {"key": "otel.status_description", "value": "too late"}
        trace["spans"][2]["tags"] += [tag, told_of]
        path = tmp_path / "spans.json"
        path.write_text(json.dumps(trace), encoding="utf-8")
        (error,) = trace_of(path).of_type("error")
        assert error.data["message"] == "too late"


def as_hexadecimal(document: dict[str, Any]) -> dict[str, Any]:
    """A document with ids as protobuf has them: 16 and 8 bytes."""
    lengths = {"traceId": 16, "spanId": 8, "parentSpanId": 8}

    def changed(data: Any) -> Any:
        if isinstance(data, list):
            return [changed(each) for each in data]
        if not isinstance(data, dict):
            return data
        return {
            key: each.encode().rjust(lengths[key], b"\1")[: lengths[key]].hex()
            if key in lengths and each
            else changed(each)
            for key, each in data.items()
        }

    return changed(document)  # type: ignore[no-any-return]


def encoded(document: dict[str, Any], kind: type[Any] = ExportTraceServiceRequest) -> bytes:
    """A document in protobuf, as its library writes it."""
    import base64

    def as_base64(data: Any) -> Any:
        if isinstance(data, list):
            return [as_base64(each) for each in data]
        if not isinstance(data, dict):
            return data
        ids = ("traceId", "spanId", "parentSpanId")
        return {
            key: base64.b64encode(bytes.fromhex(each)).decode() if key in ids else as_base64(each)
            for key, each in data.items()
        }

    return ParseDict(as_base64(document), kind()).SerializeToString()  # type: ignore[no-any-return]


LOG = {
    "resourceLogs": [
        {
            "resource": {},
            "scopeLogs": [
                {
                    "scope": {"name": "x"},
                    "logRecords": [
                        {
                            "timeUnixNano": str(START),
                            "eventName": "gen_ai.choice",
                            "traceId": "ab" * 16,
                            "spanId": "cd" * 8,
                            "body": {
                                "kvlistValue": {
                                    "values": [{"key": "message", "value": {"stringValue": "Nothing."}}]
                                }
                            },
                        }
                    ],
                }
            ],
        }
    ]
}


def test_protobuf_is_read_as_its_library_writes_it(tmp_path: Path) -> None:
    """One message, or several with their lengths, spans and log records."""
    document = as_hexadecimal(DOCUMENT)
    whole = tmp_path / "spans.pb"
    whole.write_bytes(encoded(document))
    halves = [encoded(as_hexadecimal(half)) for half in HALVES] + [encoded(LOG, ExportLogsServiceRequest)]
    framed = tmp_path / "framed.bin"
    framed.write_bytes(b"".join(len(half).to_bytes(4, "big") + half for half in halves))
    for path in (whole, framed):
        assert told(trace_of(path)) == TOLD
        assert len(OtelRecorder().inspect(path, context_of(tmp_path)).runs) == 1
    (log,) = read_spans(framed, max_bytes=10**6).logs
    assert (log.trace_id, log.attributes["body"]) == ("ab" * 16, {"message": "Nothing."})


ANY = st.recursive(
    st.one_of(
        st.text(max_size=5).map(lambda text: {"stringValue": text}),
        st.booleans().map(lambda flag: {"boolValue": flag}),
        st.integers(-(2**63), 2**63 - 1).map(lambda number: {"intValue": str(number)}),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda number: {"doubleValue": number}),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda items: {"arrayValue": {"values": items}}),
        st.lists(st.tuples(st.text(min_size=1, max_size=3), inner), min_size=1, max_size=3).map(
            lambda pairs: {"kvlistValue": {"values": [{"key": key, "value": value} for key, value in pairs]}}
        ),
    ),
    max_leaves=8,
)


@given(st.lists(ANY, min_size=1, max_size=3), st.integers(1, 2**63 - 1), st.text(min_size=1, max_size=9))
def test_protobuf_and_json_say_the_same(values: list[Any], time: int, name: str) -> None:
    """Whatever values spans have, they are read from protobuf as from JSON."""
    attributes = [{"key": f"k{number}", "value": value} for number, value in enumerate(values)]
    span = {
        "traceId": "01" * 16,
        "spanId": "02" * 8,
        "parentSpanId": "03" * 8,
        "name": name,
        "startTimeUnixNano": str(time),
        "endTimeUnixNano": str(time),
        "attributes": attributes,
        "droppedAttributesCount": 3,
        "events": [{"timeUnixNano": str(time), "name": "e", "attributes": attributes}],
        "status": {"message": "m", "code": 2},
    }
    resource = {"attributes": attributes}
    document = {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "s"}, "spans": [span]}]}]
    }
    assert decode(encoded(document), "traces") == document


@given(st.binary(max_size=60))
def test_no_bytes_crash_the_reading_of_protobuf(data: bytes) -> None:
    """They are a message, or they are not."""
    for signal in LEVELS:
        try:
            document = decode(data, signal)
        except ValueError:
            continue
        try:
            Reader("x", Spans(spans=[])).read(document)
        except AdapterError as error:
            assert error.reason_code == "adapter.otlp_invalid"


def one_span(**fields: Any) -> dict[str, Any]:
    """A document with one span, with some of its fields replaced."""
    span = {"traceId": "01" * 16, "spanId": "02" * 8, "startTimeUnixNano": str(START), **fields}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def nested_protobuf(depth: int) -> bytes:
    """A span with an attribute of lists in lists. Protobuf's own writer refuses to write it."""
    value = b"\x0a\x01x"
    # from the value outwards: lists in lists (5, 1), attribute (2), span (9), scope (2), resource (2), document (1)
    for field in (*([1, 5] * depth), 2, 9, 2, 2, 1):
        size, length = len(value), b""
        while size > 127:
            size, length = size >> 7, length + bytes([size & 127 | 128])
        value = bytes([field << 3 | 2]) + length + bytes([size]) + value
    return value


def test_protobuf_that_is_none(tmp_path: Path) -> None:
    """It breaks off, is nested too deeply, or holds metrics, which a reader of protobuf could take for spans."""
    whole = encoded(as_hexadecimal(DOCUMENT))
    scope = {"scope": {"name": "x"}, "metrics": [{"name": "a name of 16 ch", "gauge": {"dataPoints": [{}]}}]}
    metrics = encoded({"resourceMetrics": [{"scopeMetrics": [scope]}]}, ExportMetricsServiceRequest)
    broken = {
        "is neither JSON nor OTLP protobuf": [
            whole[:-1],
            b"\n\x05\x12\x01\x00\x01\x01",
            metrics,
            nested_protobuf(200),
            *(encoded(one_span(**wrong)) for wrong in ({"spanId": "abcd"}, {"startTimeUnixNano": "0"})),
        ],
        "breaks off within OTLP protobuf": [len(whole).to_bytes(4, "big") + whole[:-1]],
    }
    path = tmp_path / "spans.pb"
    for message, contents in broken.items():
        for content in contents:
            path.write_bytes(content)
            with pytest.raises(AdapterError, match=f"^{path} {message}$"):
                read_spans(path, max_bytes=10**6)


def test_protobuf_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protobuf is refused with the line that installs the extra; JSON needs none."""
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace.v1.trace_service_pb2", None)
    path = tmp_path / "spans.pb"
    path.write_bytes(encoded(as_hexadecimal(DOCUMENT)))
    with pytest.raises(AdapterError, match=r"pip install 'agenteval\[otlp\]'$") as error:
        read_spans(path, max_bytes=10**6)
    assert error.value.reason_code == "adapter.otlp_extra_missing"
    as_json = tmp_path / "spans.json"
    as_json.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    assert told(trace_of(as_json)) == TOLD


FOREIGN = {
    "Zipkin's JSON": [{"traceId": "t", "id": "s", "timestamp": 1, "duration": 2, "localEndpoint": {}}],
    "what an SDK's console exporter prints": {
        "name": "x",
        "context": {"trace_id": "0x1"},
        "start_time": "2026",
    },
    "spans as an SDK or a vendor prints them": [{"trace_id": "t", "span_id": "s", "name": "x"}],
    "Phoenix's export of a table": [{"context.trace_id": "t", "name": "x"}],
    "Langfuse's export": {"trace": {"id": "t"}, "observations": []},
    "what an SDK's console exporter prints ": {"data": [{"context": {}, "start_time": "2026"}]},
    "LangSmith's runs": [{"run_type": "llm", "trace_id": "t", "inputs": {}}],
    "Chrome's trace format": {"traceEvents": []},
    "OTLP with the names of protobuf": {"resource_spans": []},
}


@pytest.mark.parametrize(("name", "data"), FOREIGN.items(), ids=FOREIGN)
def test_other_containers_are_refused_by_name(name: str, data: Any, tmp_path: Path) -> None:
    """With what to do, to a test that names one and to `record`, which asks the other adapters, too."""
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    with pytest.raises(AdapterError) as caught:
        trace_of(path)
    assert caught.value.message == f"{path} is {name.strip()}, which is not read"
    assert caught.value.next_step.startswith("export the spans as OTLP JSON")
    with pytest.raises(AdapterError) as caught:
        OtelRecorder().inspect(path, context_of(tmp_path))
    assert caught.value.reason_code in (NOT_THIS_KIND, "adapter.otlp_invalid")
    assert name.strip() in caught.value.message


def test_what_is_compressed_is_refused(tmp_path: Path) -> None:
    """With what to do."""
    path = tmp_path / "spans.json.gz"
    path.write_bytes(gzip.compress(json.dumps(DOCUMENT).encode()))
    with pytest.raises(AdapterError, match=r"is compressed with gzip$"):
        trace_of(path)


@pytest.mark.parametrize(
    ("key", "given", "message"),
    [
        ("startTime", "soon", "spans[0].startTime: expected microseconds, got str"),
        ("duration", -1, "spans[0].duration: expected microseconds, got int"),
        ("spanID", 7, "spans[0].spanID: expected a text, got int"),
        ("tags", 7, "spans[0].tags: expected a list, got int"),
    ],
)
def test_what_is_wrong_in_jaeger_is_located(key: str, given: Any, message: str, tmp_path: Path) -> None:
    """In its own words."""
    trace = jaeger()
    trace["spans"][0][key] = given
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"data": [trace]}), encoding="utf-8")
    with pytest.raises(AdapterError) as caught:
        trace_of(path)
    assert caught.value.message == f"{path} is not Jaeger's JSON at data[0].{message}"


def row(span: dict[str, Any]) -> dict[str, Any]:
    """A span as CloudWatch keeps it."""
    data = {each["key"]: plain(each["value"]) for each in span["attributes"]}
    return {
        **span,
        "attributes": data,
        "resource": {"attributes": {"service.name": "market"}},
        "scope": {"name": "strands.telemetry.tracer"},
    }


def record(span_id: str, body: Any) -> dict[str, Any]:
    """A log record as CloudWatch keeps it."""
    time = {"timeUnixNano": START + 10**6, "observedTimeUnixNano": START + 10**6}
    return {
        "resource": {},
        "scope": {"name": "strands.telemetry.tracer"},
        **time,
        "body": body,
        "traceId": "t1",
        "spanId": span_id,
    }


def said(role: str, text: str, key: str = "content", **more: Any) -> dict[str, Any]:
    """A message in the body of a record of Strands."""
    return {"role": role, "content": {key: json.dumps([{"text": text}]), **more}}


LOGGED = {"timestamp": "2026-09-21T14:13:20.900Z", "level": "INFO", "message": "done", "requestId": "r1"}
ROWS = [
    LOGGED,
    row(agent()),
    row(chat(10, 20)),
    record(
        "chat@10",
        {
            "input": {"messages": [{"role": "system", "content": "Be brief."}, said("user", "And Sunday?")]},
            "output": {
                "messages": [
                    said("assistant", "Saturday is free."),
                    said("assistant", "No.", "message", finish_reason="end_turn"),
                ]
            },
        },
    ),
    {**LOGGED, "level": "ERROR"},
]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, ROWS)),
        json.dumps(ROWS),
        "\n".join(["14:13:20 INFO started", *map(json.dumps, ROWS[1:4]), "[2026-09-21 14:13:21] done"]),
        "\n".join(json.dumps({"@timestamp": "2026", "@message": json.dumps(each)}) for each in ROWS[1:]),
        "\n".join([*map(json.dumps, [LOGGED] * 100), *map(json.dumps, ROWS[1:])]),
    ],
)
def test_rows_of_cloudwatch(text: str, tmp_path: Path) -> None:
    """Spans and log records, one a row, which have what was said; what the application logged is counted, and passed over."""
    path = tmp_path / "rows.jsonl"
    path.write_text(text, encoding="utf-8")
    found = read_spans(path, max_bytes=10**6)
    assert (len(found.spans), len(found.logs), found.cut) == (2, 1, False)
    assert found.passed_over
    trace = trace_of(path)
    assert [(event.type, event.data["content"]) for event in trace.events] == [
        ("message_received", "And Sunday?"),
        ("final_output", "No."),
    ]
    recording = OtelRecorder().inspect(path, context_of(tmp_path))
    assert recording.skipped["lines that an application logged"] == found.passed_over


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([LOGGED, LOGGED], "{path} holds only lines that an application logged, and no spans"),
        (
            [ROWS[1], {"message": "x", "spanId": "1"}],
            "{path}:2 is not OTLP JSON at resourceSpans: expected a list, got nothing",
        ),
        ([ROWS[1], {"a": 1}], "{path}:2 is not OTLP JSON at resourceSpans: expected a list, got nothing"),
    ],
)
def test_rows_that_are_neither_are_refused(lines: list[Any], message: str, tmp_path: Path) -> None:
    """What has a key of a span may be one, in a form that is not read."""
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(AdapterError) as caught:
        read_spans(path, max_bytes=10**6)
    assert caught.value.message == message.format(path=path)
