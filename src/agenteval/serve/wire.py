"""The layer around every call of the protocol: versions, keys, the size of a request, ids, errors."""

import asyncio
import base64
import hashlib
import hmac
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from agenteval.loading.config import ServeConfig
from agenteval.serve.metrics import answered

_log = logging.getLogger("agenteval.serve")
VERSIONS = {1: "1.1", 2: "2.46"}
"""The protocol version that is spoken, by major."""
STATUSES = {
    "validation_error": 400,
    "unsupported_stream_mode": 400,
    "idempotency_key_invalid": 400,
    "protocol_version_mismatch": 400,
    "unauthenticated": 401,
    "id_tenant_mismatch": 403,
    "forbidden": 403,
    "not_found": 404,
    "agenteval.method_not_allowed": 405,
    "protocol_version_unsupported": 406,
    "agenteval.request_timeout": 408,
    "run_state_conflict": 409,
    "run_terminal": 409,
    "idempotency_key_mismatch": 409,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "capability_not_provided": 501,
    "internal_error": 500,
    "agenteval.store_unavailable": 503,
}
"""The status that an error answers with; in major 2, `capability_not_provided` is 422."""
SECONDS_FOR_HEADERS = 20.0
"""The seconds that a client may take to send the headers of a request."""
SECONDS_FOR_A_BODY = 30.0
"""The seconds that a client may take to send the body of a request."""
MOST_PASSED_OVER = 64 * 2**20
"""The bytes beyond the limit that are read of a request, so that its sender gets the refusal; a larger one is cut off."""
_OPAQUE = re.compile(r"[A-Za-z0-9._~-]{16,128}")
_VERSION = re.compile(r"([0-9]{1,9})(?:\.[0-9]{1,9})?")
_FOR_BROWSERS = 'Basic realm="agenteval", charset="UTF-8"'
LOCAL = "local"
"""The tenant of a host without keys."""


class HostError(Exception):
    """An answer that is an error: its registered code, a message without content, and details such as the field."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.details = details

    def response(self, major: int, headers: Mapping[str, str] | None = None) -> Response:
        """Return the answer as that major of the protocol writes it."""
        status = 422 if self.code == "capability_not_provided" and major == 2 else STATUSES[self.code]
        body = {"error": self.code, "message": str(self)}
        details = {"details": self.details} if self.details else {}
        return JSONResponse({**body, **details}, status, headers=dict(headers or {}))


def invalid(field: str, message: str) -> HostError:
    """Return the error for a wrong field of a request."""
    return HostError("validation_error", message, field=field)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request: the tenant that owns the runs, and the person or program."""

    tenant: str
    subject: str


def bound_id(tenant: str, opaque: str, major: int) -> str:
    """Return a run's id as bodies have it: with its tenant before it in major 2."""
    return opaque if major == 1 else f"{tenant}/{opaque}"


def in_path(run_id: str) -> str:
    """Return an id as one segment of a path."""
    return quote(run_id, safe="").replace("~", "~7E").replace("%", "~")


def run_url(run_id: str, major: int) -> str:
    """Return the address of a run."""
    return f"{'/v1' if major == 1 else ''}/runs/{in_path(run_id)}"


def opaque_id(written: str, caller: Caller, major: int) -> str:
    """Return the id under which the store keeps a run. Raises `HostError` for an id of another tenant or of no valid form."""
    decoded = re.sub("~([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), written)
    tenant, slash, opaque = decoded.partition("/")
    if not slash:
        tenant, opaque = caller.tenant, written if major == 1 else decoded
    if tenant != caller.tenant:
        raise HostError("id_tenant_mismatch", "the id belongs to another tenant")
    if not _OPAQUE.fullmatch(opaque):
        raise HostError("not_found", "there is no such run")
    return opaque


def major_of(path: str, version: str | None) -> int:
    """Return the major of the protocol that a request uses. Raises `HostError` if the host or the path has another one."""
    found = _VERSION.fullmatch((version or "").strip())
    asked = int(found[1]) if found else None
    if version is not None and asked not in VERSIONS:
        known = list(VERSIONS.values())
        raise HostError(
            "protocol_version_unsupported", "this version is not spoken here", protocolVersions=known
        )
    if path == "/.well-known/openwop":
        return asked or 1
    here = 1 if path == "/v1" or path.startswith("/v1/") else 2
    if asked not in (None, here):
        spoken = VERSIONS[here]
        raise HostError("protocol_version_mismatch", f"this path is of version {spoken}", version=spoken)
    return here


class Gate:
    """Lets a request in: whole, of a known version, from somebody with a key. Adds `caller` and `major` to its state.

    A request is read before it is refused: what is left unread would be taken for the next one of its connection.
    """

    def __init__(self, app: ASGIApp, settings: Callable[[], ServeConfig]) -> None:
        self.app = app
        self.settings = settings  # they may be read anew while the host runs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, major = Headers(scope=scope), 2
        path = unquote(re.sub(rb"%2[Ff]", b"~2F", scope["raw_path"]).decode("ascii", "replace"))
        if path.startswith("/v1"):
            major = 1

        caller: Caller | None = None
        begun = time.perf_counter()

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                took = time.perf_counter() - begun
                # The path stands as it was sent: percent-encoded, so that it cannot begin a line of the log.
                sent, who = scope["raw_path"].decode("ascii", "replace"), caller.tenant if caller else "-"
                _log.info("%s %s %s %s %.0f ms", who, scope["method"], sent, message["status"], took * 1000)
                answered(scope["method"], message["status"], took)
                sent_headers = MutableHeaders(scope=message)
                sent_headers["OpenWOP-Version"] = VERSIONS[major]
                sent_headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        try:
            body = await self._body(receive)
            major = major_of(path, headers.get("openwop-version"))
            caller = self._caller(path, headers)
        except HostError as error:
            await error.response(major, _refusal_headers(error.code, path))(scope, receive, answer)
            return
        state = {**scope.get("state", {}), "caller": caller, "major": major, "body": body}
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return waiting.pop() if waiting else await receive()

        await self.app({**scope, "path": path, "state": state}, again, answer)

    async def _body(self, receive: Receive) -> bytes:
        """Read the body of a request; one that is too large to its end, so that the answer reaches its sender."""
        parts: list[bytes] = []
        size, most, more = 0, self.settings().limits.max_body_bytes, True
        try:
            async with asyncio.timeout(SECONDS_FOR_A_BODY):
                while more and size <= most + MOST_PASSED_OVER:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return b""
                    part = message.get("body", b"")
                    size += len(part)
                    if size <= most:
                        parts.append(part)
                    more = message.get("more_body", False)
        except TimeoutError:
            raise HostError("agenteval.request_timeout", "the request did not arrive whole") from None
        if size > most:
            raise HostError("payload_too_large", f"a request may have {most} bytes")
        return b"".join(parts)

    def _caller(self, path: str, headers: Headers) -> Caller | None:
        """Return the caller, or None where anybody may ask. Raises `HostError` if the key is missing or unknown."""
        keys = self.settings().keys
        if not keys:
            name = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
            if name.strip("[]") not in ("localhost", "127.0.0.1", "::1", "testserver"):
                raise HostError("forbidden", "a host without keys answers only as localhost")
            return Caller(LOCAL, LOCAL)
        if path in ("/.well-known/openwop", "/openapi.json", "/v1/openapi.json", "/health"):
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic" and is_page(path):
            try:
                given = base64.b64decode(given, validate=True).decode().partition(":")[2]
            except ValueError:
                given = ""
        elif scheme.lower() != "bearer":
            given = ""
        digest = hashlib.sha256(given.strip().encode()).hexdigest()
        # All keys are compared, even after one has matched: the time until the answer must not show which one.
        found = [key for key in keys if hmac.compare_digest(key.sha256, digest)]
        if not found:
            raise HostError("unauthenticated", "a key of this host is needed")
        return Caller(found[-1].tenant, found[-1].subject)


def _refusal_headers(code: str, path: str) -> dict[str, str]:
    if code in ("payload_too_large", "agenteval.request_timeout"):
        return {"Connection": "close"}  # the rest of the request would be read as the next one
    if code == "unauthenticated":
        return {"WWW-Authenticate": _FOR_BROWSERS if is_page(path) else "Bearer"}
    return {}


def is_page(path: str) -> bool:
    """Return whether a path is a page for people: their browser asks them for a key."""
    return path == "/" or path.startswith("/page/")


class TimedProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for the headers of each request.

    uvicorn waits for ever for the headers of a request. Whoever sends a byte now and then could take all connections.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what arrived; begin to wait when it is a part of the next request's headers."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._waiting is None and not self.transport.is_closing():
            self._waiting = self.loop.call_later(SECONDS_FOR_HEADERS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
