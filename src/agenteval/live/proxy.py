"""The one way out of a live run's sandbox: an HTTP server on a unix socket.

It answers requests to the model, asks the fixtures about tool calls, takes in spans, and keeps accounts. Whether a run
is worth a verdict goes by what it saw, not by what the agent made of it.
"""

import json
import platform
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any, Self

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
)
from agenteval.loading.config import LiveConfig

HOOK_PATH = "/agenteval/hook"
MOST_BODY_BYTES = 64 * 2**20
_LINES_LOOKED_FOR = 3
_CLI = "claude-cli/"
_JSON = "application/json"
_STREAM = "text/event-stream; charset=utf-8"
_NO_RETRY = {"x-should-retry": "false"}


@dataclass(slots=True)
class Accounts:
    """What a run asked of its model. Tokens by kind, as the API counts them; `offered` are the tools it was shown."""

    requests: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    client: str = ""
    """The program that made them, with its version: `claude-cli/2.1.128`."""
    model: str = ""
    offered: list[str] = field(default_factory=list)
    last_error: str = ""
    """The last answer, if it was an error that the model's service gave."""

    def told(self) -> str:
        """Requests, tokens and cost so far, in words."""
        tokens = f", {sum(self.tokens.values()):,} tokens" if self.tokens else ""
        cost = f", {self.cost_usd:.4f} US dollars" if self.cost_usd else ""
        return f"request {self.requests}{tokens}{cost}"


@dataclass(kw_only=True)
class Proxy:
    """Serves one run, from entering to leaving the context.

    `known` gives the values of this run that differ from run to run, with what stands for each in the parts of requests;
    `skills` are the author's own; `redact` hides what is sensitive in a part, on both sides alike; `tell` is called with
    what happens. `most_cost_usd` bounds the run, beside the configuration; `hosted_tools` lets the provider run tools.
    """

    socket: Path
    model: Model
    fixtures: Fixtures
    config: LiveConfig
    known: Callable[[], Mapping[str, str]]
    skills: frozenset[str]
    redact: Callable[[str], str]
    tell: Callable[[str], None]
    most_cost_usd: float | None = None
    hosted_tools: bool = False
    accounts: Accounts = field(default_factory=Accounts)
    differences: list[Difference] = field(default_factory=list)
    """How requests differ from the recorded ones that were answered."""
    heard: dict[str, None] = field(default_factory=dict)
    """All that the model was given, piece by piece and each once, as the agent sent it."""
    spans: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list)
    """OTLP exports, each with its path, headers and body."""
    seen: SeenCalls = field(default_factory=SeenCalls)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._busy = 0
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
        """How long nothing was asked; 0 while something is being answered."""
        with self._lock:
            return 0.0 if self._busy else time.monotonic() - self._last

    def has_heard(self, text: str) -> bool:
        """Whether the model was given something of a text: one of its longest lines, whatever is left out of it."""
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
        finally:
            with self._lock:
                self._busy -= 1
                self._last = time.monotonic()

    def _answer(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> "Reply":
        if method == "HEAD":
            return Reply(200)
        if method == "POST":
            if path in ("/v1/traces", "/v1/logs", "/v1/metrics"):
                sent = {
                    name: headers[name] for name in ("content-type", "content-encoding") if name in headers
                }
                if path != "/v1/metrics":
                    self.spans.append((path, sent, content))
                return Reply(200, b"{}" if "json" in sent.get("content-type", "") else b"")
            if path in (HOOK_PATH, *APIS):
                try:
                    body = json.loads(content)
                except ValueError:
                    body = None
                if not isinstance(body, dict):
                    return _error(400, "invalid_request_error", "the body is no JSON object")
                if path != HOOK_PATH:
                    return self._model(path, headers, body)
                self.tell(f"calls {body.get('tool_name', '')}")
                return Reply(200, json.dumps(self.fixtures.decide(body)).encode())
            if path == "/v1/messages/count_tokens":
                return Reply(200, json.dumps({"input_tokens": len(content) // 4}).encode())
        return _error(404, "not_found_error", "nothing but the model can be reached from here")

    def _model(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> "Reply":
        api, client = APIS[path], headers.get("user-agent", "").partition(" ")[0]
        wire, model = WIRES[api], str(body.get("model", ""))
        self.fixtures.learn_id(session_of(body), "session")
        if refusal := self._refusal(body):
            return refusal
        with self._lock:
            self.accounts.client = self.accounts.client or client
            self.accounts.model = self.accounts.model or model
            offered = map(tool_name, body.get("tools") or [])
            self.accounts.offered += [each for each in offered if each not in self.accounts.offered]
        by_cli = client.startswith(_CLI)
        self.fixtures.has_harness = self.fixtures.has_harness or by_cli
        results = list(results_in(wire.turns(body)))
        self.fixtures.put_into(results, has_harness=by_cli)
        self.fixtures.unsay(body.get("messages"))
        self.tell(f"asks its model, {self.accounts.told()}")
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
        request = ModelRequest(
            api=api, path=path, body=body, headers=headers, parts=self._plain(parts), client=client
        )
        answer = self.model(request)
        if answer.miss:
            self._add(
                "live.cassette_miss",
                f"the cassette has no answer: {answer.miss}",
                f"if this change is meant, {RECORD_AGAIN}; "
                "--stale mark plays on where only instructions and tools differ",
            )
        with self._lock:
            known = {(each.name, each.after) for each in self.differences}
            self.differences += [each for each in answer.differences if (each.name, each.after) not in known]
            self._account(answer, model)
            self.seen.learn_results(results)
            if answer.status < 400:
                self.seen.made += wire.calls(answer.message)
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
            told = error.get("message") if isinstance(error, dict) else answer.message
            accounts.last_error = f"{answer.status}: {told}" if answer.from_service else ""
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
    """What an agent's harness tells of this day and this machine, in its own words, with what stands for it."""
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
        super().__init__(path, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of agents that go away in the middle of a reply."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base names it so
        """Log nothing: requests hold what people said."""

    def _serve(self) -> None:
        content = self._content()
        if content is None:
            reply = _error(413, "request_too_large", f"more than {MOST_BODY_BYTES} bytes")
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = self.server.proxy.answer(self.command, self.path, headers, content)
        self.send_response(reply.status)
        self.send_header("content-type", reply.content_type)
        self.send_header("content-length", str(len(reply.content)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.content)

    def _content(self) -> bytes | None:
        """The body, whole or in chunks; None for one that is too large."""
        if "chunked" not in (self.headers.get("transfer-encoding") or ""):
            length = int(self.headers.get("content-length") or 0)
            return self.rfile.read(length) if length <= MOST_BODY_BYTES else None
        pieces, total = [], 0
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            total += size
            if total > MOST_BODY_BYTES:
                return None
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_CONNECT = _serve  # noqa: N815
