"""A small language model behind the Messages API and chat completions, on this machine, without a key.

The model is asked through llama.cpp's own server, which speaks both. It takes an answer for a tool call only if it stands in
the tags that the model's template asks for; a model of this size often forgets them, and writes the same JSON plain or
in a Markdown fence. Such an answer is made the call that it is. Answers are whole, or streamed in one piece.
"""

import json
import re
import struct
import sys
import threading
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.model.fetch import PACKAGES, WEIGHTS

from agenteval.live.wires import APIS, WIRES, Wire, error_body, tool_name

Json = dict[str, Any]
Engine = Callable[[str, Json], tuple[int, Json]]
"""Answers the request to a path, not streamed: the HTTP status and the body."""

TEMPERATURE = 0.2
MOST_TOKENS = 120
"""An answer of a small model that is longer than this goes in circles."""
_CALL = re.compile(r"(?:<tool_call>|```(?:json)?)?\s*(\{.*\})\s*(?:</tool_call>|```)?", re.DOTALL)


def call_in(text: str, tools: set[str]) -> Json | None:
    """Read an answer as a call of one of the tools; None for one that is text."""
    if not (match := _CALL.fullmatch(text.strip())):
        return None
    try:
        call: Json = json.loads(match[1])
    except ValueError:
        return None
    return call if call.get("name") in tools and isinstance(call.get("arguments"), dict) else None


def with_call(wire: Wire, answer: Json, body: Json) -> Json:
    """Make an answer that is one text, which is a call of a tool of the request, that call."""
    blocks = [block for _, blocks in wire.turns(wire.as_request(answer)) for block in blocks]
    if [block.kind for block in blocks] != ["text"]:
        return answer
    call = call_in(blocks[0].text, {tool_name(tool) for tool in body.get("tools") or []})
    if call is None:
        return answer
    block = {
        "type": "tool_use",
        "id": f"toolu_{uuid.uuid4().hex[:24]}",
        "name": call["name"],
        "input": call["arguments"],
    }
    return wire.message(1, str(body.get("model")), [block]) | {
        "id": answer.get("id"),
        "usage": answer["usage"],
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "ModelServer"

    def log_message(self, *_: Any) -> None:
        """Write no log."""

    def do_POST(self) -> None:
        """Answer a request."""
        raw = self.rfile.read(int(self.headers["content-length"]))
        path = self.path.partition("?")[0]
        wire = WIRES.get(APIS.get(path, ""))
        try:
            body: Json = json.loads(raw)
            most = min(body.get("max_tokens") or MOST_TOKENS, MOST_TOKENS)
        except (ValueError, TypeError, AttributeError) as error:
            return self._send(
                400, error_body("invalid_request_error", f"the request cannot be read: {error}")
            )
        if wire is None:
            return self._send(404, error_body("not_found_error", f"there is no {path} here"))
        asked = {"temperature": TEMPERATURE, **body, "max_tokens": most, "stream": False}
        status, answer = self.server.ask(path, asked)
        if status != 200:
            return self._send(status, answer)
        answer = with_call(wire, answer, body)
        if body.get("stream"):
            return self._send(200, wire.streamed(answer), kind="text/event-stream")
        return self._send(200, answer)

    def _send(self, status: int, body: Json | bytes, kind: str = "application/json") -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


class ModelServer(ThreadingHTTPServer):
    """The server of one model, which answers one request at a time."""

    daemon_threads = True

    def __init__(self, engine: Engine, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self._engine = engine
        self._one_at_a_time = threading.Lock()
        self.requests = 0
        """The requests that the model was asked to answer."""

    @property
    def base_url(self) -> str:
        """The address for `live.model.base_url`."""
        return f"http://127.0.0.1:{self.server_port}"

    def ask(self, path: str, body: Json) -> tuple[int, Json]:
        """Ask the model as soon as the requests before this one are answered."""
        with self._one_at_a_time:
            self.requests += 1
            return self._engine(path, body)


@contextmanager
def serving(engine: Engine, port: int = 0) -> Iterator[ModelServer]:
    """Serve in a thread of this process, so that no process can be left behind."""
    with ModelServer(engine, port) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def llama() -> Engine:
    """Load what `fetch.py` brought, in this process; it listens at a port of its own."""
    sys.path.append(str(PACKAGES))
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = str(WEIGHTS)
    # Two slots of 4096 tokens: a check asks for two agents in turn, and each slot keeps the prompt of one.
    options.n_ctx, options.n_parallel, options.warmup, options.verbosity = 8192, 2, False, 0
    # Threads wait for each other after each token: on a busy machine two are slower than one.
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    options.hostnames, options.port = ["127.0.0.1"], 0
    options.chat_template = _template()
    loaded = xllamacpp.Server(options)

    def ask(path: str, body: Json) -> tuple[int, Json]:
        url = loaded.listening_address + path
        request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    return ask


def _template() -> str:
    """Read the model's own template from the weights, mended.

    It shows the model a call in doubled braces (a slip of those who wrote it as a format string), which the model then writes too.
    """
    key = b"tokenizer.chat_template"
    with WEIGHTS.open("rb") as file:
        head = file.read(32 << 20)  # the metadata, with all words of the vocabulary, come before the weights
    start = head.index(key) + len(key) + 4  # behind the key comes the value's type, then its length
    (length,) = struct.unpack_from("<Q", head, start)
    template = head[start + 8 : start + 8 + length].decode()
    return template.replace(r"{{\"name\"", r"{\"name\"").replace("object>}}", "object>}")
