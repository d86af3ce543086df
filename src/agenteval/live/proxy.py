"""The one way out of a live run's sandbox: an HTTP server on a unix socket.

It answers requests to the model, asks the fixtures about tool calls, takes in spans, and keeps accounts. Whether a run
is worth a verdict goes by what it saw, not by what the agent made of it.
"""

import json
import platform
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any, Self

from agenteval.contracts.errors import AdapterError
from agenteval.live.cassette import Difference
from agenteval.live.fixtures import Fixtures
from agenteval.live.model import Model, ModelAnswer, ModelRequest, price_of
from agenteval.live.options import RECORD_AGAIN, live_error
from agenteval.live.sandbox import agent_user
from agenteval.live.seen import SeenCalls
from agenteval.live.wires import (
    APIS,
    WIRES,
    Part,
    error_body,
    request_parts,
    results_in,
    session_of,
    tool_name,
    tools_in,
)
from agenteval.loading.config import LiveConfig

HOOK_PATH = "/agenteval/hook"
MOST_BODY_BYTES = 64 * 2**20
_LINES_LOOKED_FOR = 3
MOST_HELD_BYTES = 192 * 2**20
"""The most bytes of bodies that are held at once, on all connections together."""
MOST_KEPT_BYTES = 64 * 2**20
MOST_KEPT = 20_000
"""The most messages of one kind that are kept over a whole run: exports of spans, calls of the hook."""
MOST_CONNECTIONS = 128
MOST_REFUSED = 20
"""The most refused paths that are remembered."""
BODY_SECONDS = 60.0
"""The seconds that a body may take to arrive."""
DISCARDED_BYTES = 512 * 2**20
_DISCARD_SECONDS = 10.0
"""The seconds in which the rest of a refused body is read and dropped, so that the agent gets to read the reason."""
_LINE = 1024
_PIECE = 2**16
_DIGITS = 12
"""The most digits in the size of a body or chunk; any number with more is too large as well."""
_MOST_TRAILERS = 32
_ENDS = (b"\r\n", b"\n")
_EXPORTS = ("/v1/traces", "/v1/logs")
_CLI = "claude-cli/"
_BACKGROUND = (
    "/api/hello", "/api/event_logging/*", "/api/claude_code/*", "/api/claude_cli*", "/api/oauth/*", "/api/eval/*",
    "/api/features/*", "/api/organizations/*", "/api/model_selector/*", "/mcp-registry/*", "/v1/mcp_servers*",
    "/v1/privacy-consents*",
)  # fmt: skip
"""The paths of the Claude CLI's background requests, which it can do without: usage, features, accounts, tool servers."""
_JSON = "application/json"
_STREAM = "text/event-stream; charset=utf-8"
_NO_RETRY = {"x-should-retry": "false"}
_ERROR_KINDS = {404: "not_found_error", 413: "request_too_large", 503: "overloaded_error"}
_OVER_LIMITS = "live.over_limits"
_SHOWN = 200
_MOST_OFFERED = 1000


@dataclass(slots=True)
class Accounts:
    """The requests of a run to its model. Tokens by kind, as the API counts them; `offered` are the tools it was shown."""

    requests: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    client: str = ""
    """The program that made them, with its version: `claude-cli/2.1.128`."""
    model: str = ""
    offered: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """The other requests, which were refused, by method and path, with the reason."""
    last_error: str = ""
    """The last answer, if it was an error that the model's service gave."""

    def in_words(self) -> str:
        """Requests, tokens and cost so far, in words."""
        tokens = f", {sum(self.tokens.values()):,} tokens" if self.tokens else ""
        cost = f", {self.cost_usd:.4f} US dollars" if self.cost_usd else ""
        return f"request {self.requests}{tokens}{cost}"


@dataclass(kw_only=True)
class Proxy:
    """Serves one run, from entering to leaving the context.

    `known` maps values that differ from run to run to their placeholders in the parts of requests. `skills` are the
    author's own. `redact` hides sensitive values in a part, on both sides alike. `show_activity` is called with each step of
    the agent. `most_cost_usd` bounds the run, beside the configuration; `hosted_tools` lets the provider run tools.
    """

    socket: Path
    model: Model
    fixtures: Fixtures
    config: LiveConfig
    known: Callable[[], Mapping[str, str]]
    skills: frozenset[str]
    redact: Callable[[str], str]
    show_activity: Callable[[str], None]
    most_cost_usd: float | None = None
    hosted_tools: bool = False
    accounts: Accounts = field(default_factory=Accounts)
    differences: list[Difference] = field(default_factory=list)
    """The differences of answered requests from the recorded ones."""
    missed: list[Difference] = field(default_factory=list)
    """The differences of unanswered requests from the closest recorded one."""
    heard: dict[str, None] = field(default_factory=dict)
    """All that the model was given, piece by piece and each once, as the agent sent it."""
    spans: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list)
    """OTLP exports, each with its path, headers and body."""
    seen: SeenCalls = field(default_factory=SeenCalls)
    tools: set[str] = field(default_factory=set)
    """The names of all tools that the model was offered, those included that it has to search for first."""

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._busy = 0
        self._kept: dict[str, tuple[int, int]] = {}
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        self._server = _Server(str(self.socket), self)
        self.socket.chmod(0o666)  # the agent may run as somebody else
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self.socket.unlink(missing_ok=True)

    @property
    def idle_seconds(self) -> float:
        """The seconds since the last answer; 0 while a request is being answered."""
        with self._lock:
            return 0.0 if self._busy else time.monotonic() - self._last

    def has_heard(self, text: str) -> bool:
        """Return whether the model was given part of a text: one of its longest lines is enough, since the rest may be cut."""
        lines = sorted({line.strip() for line in text.splitlines() if line.strip()}, key=len, reverse=True)
        return not lines or any(line in each for line in lines[:_LINES_LOOKED_FOR] for each in self.heard)

    def check(self) -> None:
        """Raises `AdapterError` once the run is worth no verdict any more: the cause of all else."""
        for trouble in self.fixtures.trouble:
            raise trouble

    def answer(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> "Reply":
        """The reply to a request, whatever it is."""
        with self._lock:
            self._busy += 1
        try:
            return self._answer(method, path.partition("?")[0], headers, content)
        except AdapterError as error:
            self.fixtures.trouble.append(error)
            return _error(400, "invalid_request_error", error.message, _NO_RETRY)
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
            return self.refuse(400, f"{method} {path}", "this is no request of a known API")
        finally:
            with self._lock:
                self._busy -= 1
                self._last = time.monotonic()

    def refuse(self, status: int, asked: str, why: str) -> "Reply":
        """The reply to what is not given; the result of the run warns of it."""
        asked = asked.partition("?")[0][:_SHOWN]
        with self._lock:
            if len(self.accounts.refused) < MOST_REFUSED:
                self.accounts.refused.setdefault(asked if asked.isprintable() else ascii(asked), why)
        return _error(status, _ERROR_KINDS.get(status, "invalid_request_error"), why)

    def _answer(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> "Reply":
        if method == "HEAD":
            return Reply(200)
        if method == "POST":
            if path in ("/v1/traces", "/v1/logs", "/v1/metrics"):
                return self._export(path, headers, content)
            if path in (HOOK_PATH, *APIS):
                if headers.get("content-encoding", "identity") != "identity":
                    return self.refuse(415, f"POST {path}", "a body that is compressed is not taken")
                try:
                    body = json.loads(content)
                except (ValueError, RecursionError):
                    body = None
                if not isinstance(body, dict):
                    return self.refuse(400, f"POST {path}", "the body is no JSON object")
                if path != HOOK_PATH:
                    return self._model(path, headers, body)
                if refusal := self._keep("calls of the hook", len(content)):
                    return refusal
                self.show_activity(f"calls {body.get('tool_name', '')}")
                return Reply(200, json.dumps(self.fixtures.decide(body)).encode())
            if path == "/v1/messages/count_tokens":
                return Reply(200, json.dumps({"input_tokens": len(content) // 4}).encode())
        why = "nothing but the model can be reached from here"
        own = (*_BACKGROUND, *(("/v1/models*",) if headers.get("user-agent", "").startswith(_CLI) else ()))
        if any(fnmatchcase(path, glob) for glob in own):
            return _error(404, "not_found_error", why)
        return self.refuse(404, f"{method} {path}", why)

    def _export(self, path: str, headers: Mapping[str, str], content: bytes) -> "Reply":
        sent = {name: headers[name] for name in ("content-type", "content-encoding") if name in headers}
        if path != "/v1/metrics":
            if refusal := self._keep("exports of spans", len(content)):
                return refusal
            self.spans.append((path, sent, content))
        return Reply(200, b"{}" if "json" in sent.get("content-type", "") else b"")

    def _keep(self, kind: str, size: int) -> "Reply | None":
        """Count what is kept until the run is over; once it is too much, the run is worth no verdict."""
        with self._lock:
            number, total = self._kept.get(kind, (0, 0))
            self._kept[kind] = number, total = number + 1, total + size
        if number <= MOST_KEPT and total <= MOST_KEPT_BYTES:
            return None
        self.too_much(f"sent more than {MOST_KEPT:,} {kind}, or more than {MOST_KEPT_BYTES:,} bytes of them")
        return _error(413, "request_too_large", f"no more {kind} are taken", _NO_RETRY)

    def too_much(self, what: str) -> None:
        """Note that something of the run was not taken in, so that what is left of it is no whole run."""
        if not any(each.reason_code == _OVER_LIMITS for each in self.fixtures.trouble):
            self._add(
                _OVER_LIMITS, f"the agent {what}", "look for a loop in what it sends, or have it send less"
            )

    def _model(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> "Reply":
        api, client = APIS[path], headers.get("user-agent", "").partition(" ")[0]
        wire, model = WIRES[api], str(body.get("model", ""))
        self.fixtures.learn_id(session_of(body), "session")
        if refusal := self._refusal(body):
            return refusal
        with self._lock:
            self.accounts.client = self.accounts.client or client
            self.accounts.model = self.accounts.model or model
            offered = [tool_name(each)[:_SHOWN] for each in (body.get("tools") or [])[:_MOST_OFFERED]]
            new = [each for each in dict.fromkeys(offered) if each not in self.accounts.offered]
            self.accounts.offered = (self.accounts.offered + new)[:_MOST_OFFERED]
        by_cli = client.startswith(_CLI)
        self.fixtures.has_harness = self.fixtures.has_harness or by_cli
        with self._lock:
            # a request that goes on from a stored response has results alone, without their calls
            called = self.seen.tools
        self.fixtures.put_into(results_in(wire.turns(body), called), has_harness=by_cli)
        self.fixtures.unsay(body.get("messages"))
        self.show_activity(f"asks its model, {self.accounts.in_words()}")
        parts = request_parts(
            wire,
            body,
            by_cli=by_cli,
            skills=self.skills,
            here=_day_and_machine(),
            runs=self.fixtures.runs_own_code,
        )
        with self._lock:
            self.heard |= dict.fromkeys(each.text for each in parts)
            self.tools.update(tools_in(parts))
            self.seen.learn_results(results_in(wire.turns(body)))  # with the answers of fixtures
            self.seen.learn_texts(wire.turns(body))
        request = ModelRequest(
            api=api, path=path, body=body, headers=headers, parts=self._plain(parts), client=client
        )
        answer = self.model(request)
        if answer.miss:
            self.missed += answer.differences
            self._add(
                "live.cassette_miss",
                f"the cassette has no answer: {answer.miss}",
                f"if this change is meant, {RECORD_AGAIN}; "
                "--stale mark plays on where only instructions and tools differ",
            )
        if answer.unreachable:
            step = "start the service, or correct live.model.base_url in agenteval.yaml"
            self._add("live.unreachable", f"the model's service {answer.unreachable}", step)
        with self._lock:
            known = {(each.name, each.after) for each in self.differences}
            if not answer.miss:
                self.differences += [
                    each for each in answer.differences if (each.name, each.after) not in known
                ]
            self._account(answer, model)
            if answer.status < 400:
                self.seen.learn_calls(wire.calls(answer.message), tuple(each.text for each in request.parts))
        retry = {} if answer.retry else _NO_RETRY
        if body.get("stream") and answer.status < 400:
            return Reply(answer.status, wire.streamed(answer.message), _STREAM, retry)
        return Reply(answer.status, json.dumps(answer.message).encode(), _JSON, retry)

    def _refusal(self, body: Mapping[str, Any]) -> "Reply | None":
        """The refusal of a request that would go over the budget, or have the provider run a tool; else None."""
        with self._lock:
            self.accounts.requests += 1
            requests, cost = self.accounts.requests, self.accounts.cost_usd or 0.0
        if requests > self.config.max_requests:
            self._add(
                "live.over_budget",
                f"the agent made more than {self.config.max_requests} requests to its model",
                "look for a loop in what it did, or raise live.max_requests",
            )
        elif self.most_cost_usd is not None and cost >= self.most_cost_usd:
            self._add(
                "live.over_budget",
                f"the run cost {cost:.2f} US dollars, and {self.most_cost_usd:.2f} are allowed",
                "raise live.max_cost_usd, or test something smaller",
            )
        elif not self.hosted_tools and (hosted := _hosted(body)):
            self._add(
                "live.hosted_tool",
                f"the agent asks its provider to run {hosted}, which no sandbox holds and no fixture answers",
                "take the tool away from the agent, or give it one of its own that a fixture can answer",
            )
        else:
            return None
        return _error(400, "invalid_request_error", self.fixtures.trouble[-1].message, _NO_RETRY)

    def _add(self, reason_code: str, message: str, next_step: str) -> None:
        self.fixtures.trouble.append(live_error(reason_code, message, next_step))

    def _plain(self, parts: Sequence[Part]) -> list[Part]:
        """The parts without what differs from run to run, and without what is sensitive."""
        known = sorted({**self.known(), **self.fixtures.ids}.items(), key=lambda item: -len(item[0]))
        plain = []
        for part in parts:
            text = part.text
            for value, stand_in in known:
                text = text.replace(value, stand_in)
            plain.append(Part(part.name, part.kind, self.redact(text)))
        return plain

    def _account(self, answer: ModelAnswer, model: str) -> None:
        accounts = self.accounts
        accounts.last_error = ""
        if answer.status >= 400:
            error = answer.message.get("error")
            reason = error.get("message") if isinstance(error, dict) else answer.message
            accounts.last_error = f"{answer.status}: {reason}" if answer.from_service else ""
            return
        usage = answer.message.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        counted = {kind: count for kind, count in usage.items() if isinstance(count, int)}
        for kind, count in counted.items():
            accounts.tokens[kind] = accounts.tokens.get(kind, 0) + count
        cost = price_of(self.config.prices, model, counted)
        if cost is not None:
            accounts.cost_usd = (accounts.cost_usd or 0.0) + cost
        elif self.most_cost_usd is not None:
            self._add(
                "live.over_budget",
                f"the price of the model {model} is not known, so live.max_cost_usd cannot be kept",
                "tell it in live.prices, or leave live.max_cost_usd out",
            )


def _day_and_machine() -> dict[str, str]:
    """Return the harness's words for this day and this machine, each with its placeholder in the cassette."""
    known = {f"OS Version: {platform.system()} {platform.release()}": "OS Version: <this>"}
    known[f"/tmp/claude-{agent_user()[0]}/"] = "/tmp/claude-<user>/"  # noqa: S108
    for now in (time.localtime(), time.gmtime()):
        known[f"Today's date is {time.strftime('%Y-%m-%d', now)}"] = "Today's date is <today>"
        known[f"The current month is {time.strftime('%B %Y', now)}"] = "The current month is <this month>"
    return known


def _hosted(body: Mapping[str, Any]) -> str:
    """The first tool that the provider would run itself; empty for none."""
    if body.get("mcp_servers"):
        return "remote MCP servers"
    own = ("custom", "function", "None", "bash_", "text_editor_", "memory_", "computer_", "tool_search_")
    hosted = (tool for tool in body.get("tools") or [] if not str(tool.get("type")).startswith(own))
    return next(map(tool_name, hosted), "")


@dataclass(slots=True)
class Reply:
    """An HTTP reply."""

    status: int
    content: bytes = b""
    content_type: str = _JSON
    headers: Mapping[str, str] = field(default_factory=dict)


def _error(status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(error_body(kind, message)).encode(), _JSON, headers or {})


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, path: str, proxy: Proxy) -> None:
        self.proxy = proxy
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._lock = threading.Lock()
        self._held = 0
        super().__init__(path, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection, unless there are too many."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            with suppress(OSError):
                request.sendall(
                    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                )
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def hold(self, size: int) -> bool:
        """Take room for bytes of a body; false where there is none."""
        with self._lock:
            if self._held + size > MOST_HELD_BYTES:
                return False
            self._held += size
            return True

    def let_go(self, size: int) -> None:
        """Give the room back."""
        with self._lock:
            self._held -= size

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of agents that go away in the middle of a reply."""


class _RefusedError(Exception):
    """A request that is not read to its end: an HTTP status, and why."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 600
    """The seconds that an open connection may be idle."""
    server: _Server
    held = 0

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base names it so
        """Log nothing: requests hold what people said."""

    def _serve(self) -> None:
        proxy, was_read = self.server.proxy, False
        try:
            content = self._content()
            was_read = True
            self.connection.settimeout(self.timeout)
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._reply(proxy.answer(self.command, self.path, headers, content))
        except _RefusedError as error:
            status, why = error.args
            if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and self.path.startswith(_EXPORTS):
                proxy.too_much(f"sent an export of spans with more than {MOST_BODY_BYTES:,} bytes")
            self.close_connection = True
            self._reply(proxy.refuse(status, f"{self.command} {self.path}", why))
        finally:
            self.server.let_go(self.held)
            self.held = 0
            if not was_read:  # what is left of the body would be taken for the next request
                self._discard()

    def _reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("content-type", reply.content_type)
        self.send_header("content-length", str(len(reply.content)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.content)

    def _content(self) -> bytes:
        """The body, whole or in chunks. Raises `_RefusedError`."""
        lengths, codings = (
            self.headers.get_all(name) or [] for name in ("content-length", "transfer-encoding")
        )
        deadline = time.monotonic() + BODY_SECONDS
        self.connection.settimeout(BODY_SECONDS)
        body = bytearray()
        if not codings:
            length = lengths[0].strip() if lengths else "0"
            if len(set(lengths)) > 1 or not (length.isascii() and length.isdecimal()):
                raise _RefusedError(400, "expected one Content-Length, a number from 0")
            self._read(body, int(length) if len(length) <= _DIGITS else MOST_BODY_BYTES + 1, deadline)
            return bytes(body)
        if lengths or [each.strip().lower() for each in codings] != ["chunked"]:
            raise _RefusedError(400 if lengths else 501, "expected a Content-Length, or chunks")
        while size := self._chunk_size():
            self._read(body, size, deadline)
            if self.rfile.readline(_LINE) not in _ENDS:
                raise _RefusedError(400, "a chunk is longer than its size")
        for _ in range(_MOST_TRAILERS):
            if self.rfile.readline(_LINE) in (*_ENDS, b""):
                return bytes(body)
        raise _RefusedError(431, "too many lines after the last chunk")

    def _chunk_size(self) -> int:
        given = self.rfile.readline(_LINE).partition(b";")[0].strip()
        if not given or len(given) > _DIGITS or given.strip(b"0123456789abcdefABCDEF"):
            raise _RefusedError(400, "expected the size of a chunk, in hexadecimal digits")
        return int(given, 16)

    def _read(self, body: bytearray, size: int, deadline: float) -> None:
        """Add to a body, as far as it may grow."""
        if len(body) + size > MOST_BODY_BYTES:
            raise _RefusedError(413, f"more than {MOST_BODY_BYTES} bytes")
        while size:
            try:
                piece = self.rfile.read1(min(size, _PIECE))
            except TimeoutError:
                deadline, piece = 0, b"late"
            if not piece:
                raise _RefusedError(400, "the body ends before its length")
            if time.monotonic() > deadline:
                raise _RefusedError(408, f"the body was not there after {BODY_SECONDS:g} s")
            if not self.server.hold(len(piece)):
                raise _RefusedError(503, "too much is sent at once")
            self.held += len(piece)
            body += piece
            size -= len(piece)

    def _discard(self) -> None:
        """Let the agent read the reply, which it may do only when it has sent all."""
        self.close_connection = True
        left, deadline = DISCARDED_BYTES, time.monotonic() + _DISCARD_SECONDS
        with suppress(OSError, ValueError):
            self.connection.settimeout(_DISCARD_SECONDS)
            while left > 0 and time.monotonic() < deadline and (piece := self.rfile.read1(_PIECE)):
                left -= len(piece)

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_CONNECT = _serve  # noqa: N815
