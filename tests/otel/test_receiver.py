"""OTLP over HTTP: what exporters send is taken, kept and counted, and anything else is refused with a reason."""

import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval_otel import OtelAdapter
from agenteval_otel.receiver import MAX_REQUEST, Receiver
from otel.spans import told, trace_of
from otel.test_containers import DOCUMENT, LOG, TOLD, as_hexadecimal, encoded

JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}
BODY = json.dumps(DOCUMENT, indent=1).encode()


@pytest.fixture
def open_receiver(tmp_path: Path) -> Iterator[Receiver]:
    """One that listens on a free port."""
    with OtelAdapter().receive(tmp_path / "got.jsonl", ("127.0.0.1", 0), max_bytes=10**6) as opened:
        yield opened


def send(
    to: Receiver, body: Any, headers: dict[str, str] = JSON, path: str = "/v1/traces", method: str = "POST"
) -> tuple[int, str, bytes]:
    """The answer to a request: status, type and body."""
    connection = http.client.HTTPConnection(to.endpoint.removeprefix("http://"), timeout=10)
    connection.request(method, path, body=body, headers=headers, encode_chunked=not isinstance(body, bytes))
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers.get("Content-Type", ""), content


@pytest.mark.parametrize(
    ("body", "headers", "path"),
    [
        (BODY, JSON, "/v1/traces"),
        (BODY, {"Content-Type": "application/json; charset=utf-8"}, "/agents/v1/traces/?x=1"),
        (gzip.compress(BODY), {**JSON, "Content-Encoding": "gzip"}, "/v1/traces"),
        (zlib.compress(BODY), {**JSON, "Content-Encoding": "deflate"}, "/v1/traces"),
        (iter([BODY[:100], BODY[100:]]), {**JSON, "Transfer-Encoding": "chunked"}, "/v1/traces"),
        (encoded(as_hexadecimal(DOCUMENT)), PROTOBUF, "/v1/traces"),
        (
            gzip.compress(encoded(as_hexadecimal(DOCUMENT))),
            {**PROTOBUF, "Content-Encoding": "gzip"},
            "/v1/traces",
        ),
    ],
    ids=["json", "prefix", "gzip", "deflate", "chunked", "protobuf", "protobuf-gzip"],
)
def test_what_exporters_send(
    body: Any, headers: dict[str, str], path: str, open_receiver: Receiver, tmp_path: Path
) -> None:
    """It is there as soon as it is answered, a line a request, for this adapter to read."""
    kind = headers["Content-Type"].partition(";")[0]
    assert send(open_receiver, body, headers, path) == (
        200,
        kind,
        b"{}" if kind == "application/json" else b"",
    )
    assert open_receiver.received == (4, 0, 0, "")
    path_ = tmp_path / "got.jsonl"
    assert told(trace_of(path_)) == TOLD
    assert len(path_.read_text(encoding="utf-8").splitlines()) == 1
    assert path_.stat().st_mode & 0o077 == 0


def test_log_records_and_metrics(open_receiver: Receiver, tmp_path: Path) -> None:
    """The ones are kept, the others are taken and forgotten."""
    assert send(open_receiver, json.dumps(LOG).encode(), JSON, "/v1/logs")[0] == 200
    assert send(open_receiver, b"\n\x05hello", PROTOBUF, "/v1/metrics")[0] == 200
    assert open_receiver.received == (0, 1, 0, "")
    assert json.loads((tmp_path / "got.jsonl").read_text(encoding="utf-8")) == LOG


@pytest.mark.parametrize(
    ("body", "headers", "path", "status", "reason"),
    [
        (b"{", JSON, "/v1/traces", 400, "the request is not valid JSON: expected a key in double quotes"),
        (b"\xff", JSON, "/v1/traces", 400, "'utf-8' codec can't decode"),
        (b"[]", JSON, "/v1/traces", 400, "the request is not OTLP JSON: expected a mapping, got list"),
        (
            b'{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}',
            JSON,
            "/v1/traces",
            400,
            "the request is not OTLP JSON at resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano",
        ),
        (b"\x0a\xff", PROTOBUF, "/v1/traces", 400, "not OTLP protobuf"),
        (BODY, JSON, "/", 404, "nothing is taken at : send to /v1/traces, /v1/logs, /v1/metrics"),
        (
            BODY,
            {"Content-Type": "text/plain"},
            "/v1/traces",
            415,
            "expected application/x-protobuf or application/json",
        ),
        (BODY, {**JSON, "Content-Encoding": "br"}, "/v1/traces", 415, "expected gzip or nothing"),
        (BODY, {**JSON, "Content-Encoding": "gzip"}, "/v1/traces", 400, "the request cannot be unpacked"),
        (BODY, {**JSON, "Content-Length": "x"}, "/v1/traces", 411, "expected a Content-Length"),
        (b"", {**JSON, "Content-Length": str(10**9)}, "/v1/traces", 413, "the request is larger than"),
        (
            gzip.compress(b" " * (MAX_REQUEST + 1)),
            {**JSON, "Content-Encoding": "gzip"},
            "/v1/traces",
            413,
            "is larger",
        ),
    ],
)
def test_what_is_refused(
    body: bytes, headers: dict[str, str], path: str, status: int, reason: str, open_receiver: Receiver
) -> None:
    """With the reason, for the exporter and for who listens; nothing of it is kept."""
    got, kind, answer = send(open_receiver, body, headers, path)
    assert (got, kind) == (status, "application/json")
    message = json.loads(answer)["message"]
    assert reason in message
    assert open_receiver.received == (0, 0, 1, message)
    assert open_receiver.file.read_bytes() == b""


def test_a_chunk_without_a_size(open_receiver: Receiver) -> None:
    """What breaks off or is no chunk ends neither the receiver nor the test of it."""
    address = open_receiver.endpoint.removeprefix("http://").split(":")
    head = b"POST /v1/traces HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    for chunks in (b"hello\r\n", b"-1\r\n", b"5\r\nab"):
        with socket.create_connection((address[0], int(address[1])), timeout=10) as client:
            client.sendall(head + chunks)
            client.shutdown(socket.SHUT_WR)
            assert client.recv(12) in (b"HTTP/1.1 400", b"HTTP/1.1 413")
    assert send(open_receiver, BODY)[0] == 200


def test_what_is_no_otlp_over_http(open_receiver: Receiver) -> None:
    """An exporter that sends gRPC, as many do by default, is told of with what to set."""
    address = open_receiver.endpoint.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1])), timeout=10) as client:
        client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        assert b"505" in client.makefile("rb").read()
    assert open_receiver.received.refused == 1
    assert open_receiver.received.reason == (
        "Invalid HTTP version (2.0): expected OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or http/json"
    )


def test_a_connection_that_says_nothing(open_receiver: Receiver) -> None:
    """It is closed after a while; meanwhile others are answered, and nobody waits for it at the end."""
    host, port = open_receiver.endpoint.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as client:
        client.sendall(
            b"POST /v1/traces HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
        )
        assert send(open_receiver, BODY)[0] == 200


def test_a_file_that_is_full(tmp_path: Path) -> None:
    """It stays one that can be read."""
    with Receiver(tmp_path / "got.jsonl", ("127.0.0.1", 0), max_bytes=len(BODY) + 10) as opened:
        assert [send(opened, BODY)[0] for _ in range(3)] == [200, 413, 413]
    assert told(trace_of(tmp_path / "got.jsonl")) == TOLD


def test_a_unix_socket(tmp_path: Path) -> None:
    """For an agent in a sandbox without a network."""
    where = tmp_path / "otlp.sock"
    with Receiver(tmp_path / "got.jsonl", where, max_bytes=10**6) as opened:
        assert opened.endpoint == f"unix://{where}"
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(where))
            head = f"POST /v1/traces HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
            client.sendall(head.encode() + BODY)
            assert client.recv(100).startswith(b"HTTP/1.1 200")
    assert not where.exists()
    assert told(trace_of(tmp_path / "got.jsonl")) == TOLD


def test_where_it_cannot_listen(tmp_path: Path, open_receiver: Receiver) -> None:
    """A port that is in use, a file that is there: nothing is overwritten or left behind."""
    host, port = open_receiver.endpoint.removeprefix("http://").split(":")
    with pytest.raises(OSError, match="Address already in use"):
        Receiver(tmp_path / "other.jsonl", (host, int(port)), max_bytes=9)
    assert not (tmp_path / "other.jsonl").exists()
    with pytest.raises(FileExistsError):
        Receiver(open_receiver.file, (host, 0), max_bytes=9)


def listen(folder: Path, *options: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "agenteval", "record", "--listen", "0", *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, stdout=pipe, stderr=pipe, text=True, env={**os.environ, "NO_COLOR": "1"}
    )


def endpoint_in(line: str) -> str:
    found = re.fullmatch(r"listening on http://(127\.0\.0\.1:\d+); press Ctrl-C to stop\n", line)
    assert found, line
    return found[1]


@pytest.mark.parametrize("options", [(), ("--out", "kept")])
def test_listening_from_the_command_line(options: tuple[str, ...], tmp_path: Path) -> None:
    """What came is kept where the runs of the project are, or in the folder given, and its runs are listed."""
    process = listen(tmp_path, *options)
    assert process.stdout
    connection = http.client.HTTPConnection(endpoint_in(process.stdout.readline()), timeout=10)
    connection.request("POST", "/v1/traces", body=BODY, headers=JSON)
    assert connection.getresponse().status == 200
    assert process.stdout.readline() == "received 4 spans, 0 log records\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    (file,) = tmp_path.glob("kept/*" if options else "artifacts/received/*")
    assert out.splitlines() == [
        f"written  {file.relative_to(tmp_path)}  (as it came: not redacted)",
        "OpenTelemetry spans, 1 run",
        "run  time                      group  trigger       first words   tools     status",
        "1    2026-11-21T20:53:01.000Z  c-1    user_message  What is new?  search×1  success",
        f"next: agenteval record {file.relative_to(tmp_path)} --turn N --out DIR",
    ]


def test_listening_in_vain(tmp_path: Path) -> None:
    """An error, and no file."""
    process = listen(tmp_path)
    assert process.stdout
    where = endpoint_in(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert err == (
        "error[record.nothing_received]: nothing came\n"
        f"  next: have the agent send to it: OTEL_EXPORTER_OTLP_ENDPOINT=http://{where}\n"
    )
    assert [*tmp_path.glob("artifacts/received/*")] == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--listen", "soon"], "--listen soon: expected a port"),
        (["--listen", "70000"], "--listen 70000: expected a port"),
        (["--listen", "--turn", "1"], "--turn does not go with --listen"),
        (["--listen", "--adapter", "nanoclaw"], "adapter nanoclaw does not take what a running agent sends"),
    ],
)
def test_listening_that_makes_no_sense(
    given: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Refused before anything is opened."""
    monkeypatch.chdir(tmp_path)
    assert main(["record", *given]) == 2
    assert message in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


def test_a_port_in_use(
    open_receiver: Receiver,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error says what to do."""
    monkeypatch.chdir(tmp_path)
    port = open_receiver.endpoint.rpartition(":")[2]
    assert main(["record", "--listen", port]) == 2
    assert capsys.readouterr().err == (
        f"error[usage.invalid]: cannot listen on port {port}: Address already in use\n"
        "  next: choose another port; --listen 0 takes a free one\n"
    )
