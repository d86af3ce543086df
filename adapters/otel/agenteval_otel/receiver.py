"""Receives OTLP over HTTP from a running agent, and writes each request as a line of JSON.

https://opentelemetry.io/docs/specs/otlp/#otlphttp: JSON or protobuf, compressed or not, to `/v1/traces` and `/v1/logs`;
metrics are accepted and dropped. It listens on a port of this machine, or on a unix socket, in a thread of its own.
"""

import json
import os
import socketserver
import threading
import zlib
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Self

from agenteval.contracts.adapters import Received
from agenteval.contracts.errors import AdapterError, FileError
from agenteval.reading.jsonsource import parse_json, whole_characters
from agenteval_otel.protobuf import Signal, decode
from agenteval_otel.spans import Reader, Spans

SIGNALS = ("/v1/traces", "/v1/logs", "/v1/metrics")
JSON, PROTOBUF = "application/json", "application/x-protobuf"
MAX_REQUEST = 64 * 2**20
"""The bytes of a request, unpacked: exporters send a few hundred spans at a time."""
SENT = Path("the request")
"""The path in errors about a request. The exporter gets these errors as its answer."""


class _RefusedError(Exception):
    """A request that is not accepted: HTTP status, and the reason."""


TOO_LARGE = 413, f"the request is larger than {MAX_REQUEST} bytes"


class Receiver:
    """Listens inside `with`, and appends each request to `file` as it arrives.

    `address` is a host and a port (0 for a free one), or the path of a unix socket, which must not exist yet. Raises
    `OSError` where it cannot listen there, or where the file exists.
    """

    def __init__(self, file: Path, address: tuple[str, int] | Path, *, max_bytes: int) -> None:
        self.file = file
        self.received = Received()
        self._left = max_bytes
        self._lock = threading.Lock()
        self._kept = file.open("x", encoding="utf-8")
        self._socket = address if isinstance(address, Path) else None
        try:
            os.fchmod(self._kept.fileno(), 0o600)  # the file is not redacted
            self._server: _Tcp | _Unix = (
                _Unix(str(address), _Handler) if isinstance(address, Path) else _Tcp(address, _Handler)
            )
        except BaseException:
            self._kept.close()
            file.unlink()
            raise
        self._server.taken = self
        name = self._server.socket.getsockname()
        self.endpoint = f"unix://{address}" if self._socket else "http://{}:{}".format(*name)
        """The address for `OTEL_EXPORTER_OTLP_ENDPOINT`; of a unix socket its path."""
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            self._left = -1  # a request that still arrives is refused, and its exporter sends it again
            self._kept.close()
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)

    def take(self, path: str, kind: str, body: bytes) -> None:
        """Keep a request. Raises `_RefusedError`."""
        if path.endswith("/v1/metrics"):
            return
        found = Spans()
        try:
            signal: Signal = "logs" if path.endswith("/v1/logs") else "traces"
            is_json = kind != PROTOBUF
            document = parse_json(whole_characters(body.decode()), SENT) if is_json else decode(body, signal)
            Reader(str(SENT), found).read(document)
        except FileError as error:
            raise _RefusedError(400, f"the request is {error.problems[0].message}") from error
        except (AdapterError, ValueError) as error:
            raise _RefusedError(400, str(error)) from error
        line = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
        with self._lock:
            # Counted before it is written: the file must stay readable under the same limit.
            self._left -= len(line.encode(errors="replace"))
            if self._left < 0:
                raise _RefusedError(413, "the file is as large as one that is read may be")
            self._kept.write(line)
            self._kept.flush()
            spans, logs = self.received.spans + len(found.spans), self.received.logs + len(found.logs)
            self.received = self.received._replace(spans=spans, logs=logs)

    def refuse(self, reason: str) -> None:
        """Note a request that was not taken."""
        with self._lock:
            self.received = self.received._replace(refused=self.received.refused + 1, reason=reason)


class _Server(socketserver.ThreadingMixIn):
    """Handles each request in a thread. A thread that hangs keeps no process from ending."""

    daemon_threads = True
    block_on_close = False
    taken: Receiver

    def handle_error(self, *_: object) -> None:
        """Count a connection that breaks off or stays silent for too long."""
        self.taken.refuse("a connection broke off")


class _Tcp(_Server, socketserver.TCPServer):
    allow_reuse_address = True


class _Unix(_Server, socketserver.UnixStreamServer):
    pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds that a request may take to arrive
    server: _Tcp | _Unix

    def do_POST(self) -> None:
        self.close_connection = True
        path = self.path.partition("?")[0].rstrip("/")
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        status, answer = 200, b"{}" if kind == JSON else b""
        try:
            self.server.taken.take(path, kind, self._unpacked(self._body(path, kind)))
        except _RefusedError as error:
            status, reason = error.args
            self.server.taken.refuse(reason)
            kind, answer = JSON, json.dumps({"message": reason}).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(answer)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer)

    def _body(self, path: str, kind: str) -> bytes:
        if not path.endswith(SIGNALS):
            raise _RefusedError(404, f"nothing is taken at {path}: send to {', '.join(SIGNALS)}")
        if kind not in (JSON, PROTOBUF):  # a page in a browser cannot send these two across sites
            raise _RefusedError(415, f"expected {PROTOBUF} or {JSON}, got {kind or 'nothing'}")
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal():
                raise _RefusedError(411, "expected a Content-Length")
            if int(length) > MAX_REQUEST:
                raise _RefusedError(*TOO_LARGE)
            return self.rfile.read(int(length))
        body = bytearray()
        while True:
            try:
                size = int(self.rfile.readline(100).partition(b";")[0].strip(), 16)
            except ValueError:
                raise _RefusedError(400, "expected the size of a chunk") from None
            if size < 0 or len(body) + size > MAX_REQUEST:
                raise _RefusedError(*TOO_LARGE)
            body += self.rfile.read(size)
            self.rfile.readline(100)
            if not size:
                return bytes(body)

    def _unpacked(self, body: bytes) -> bytes:
        """Decompress a body, up to `MAX_REQUEST` bytes: a small request may unpack to gigabytes."""
        encoding = self.headers.get("Content-Encoding", "")
        if encoding in ("", "identity"):
            return body
        if encoding not in ("gzip", "deflate"):
            raise _RefusedError(415, f"expected gzip or nothing as Content-Encoding, got {encoding}")
        unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            data = unpacking.decompress(body, MAX_REQUEST)
        except zlib.error as error:
            raise _RefusedError(400, f"the request cannot be unpacked: {error}") from error
        if unpacking.unconsumed_tail:
            raise _RefusedError(*TOO_LARGE)
        return data

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is no POST or no HTTP/1, and point to the protocol: gRPC exporters send HTTP/2."""
        error = message or HTTPStatus(code).phrase
        self.server.taken.refuse(f"{error}: expected OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or http/json")
        super().send_error(code, message, explain)

    def log_message(self, *_: object) -> None:
        """Log nothing: `received` counts the requests."""
