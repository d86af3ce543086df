"""The routes of the host, for both majors of the protocol, and its page."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from agenteval import __version__
from agenteval.serve.host import MODES, Asked, Host, RunId, Who
from agenteval.serve.messages import (
    Annotation,
    ErrorBody,
    EventFilter,
    EventPage,
    Health,
    RunCancelled,
    RunCreated,
    RunDifference,
    RunPage,
    RunSnapshot,
    SeamRun,
)
from agenteval.serve.page import add_pages
from agenteval.serve.store import AWAY, TERMINAL
from agenteval.serve.wire import Gate, HostError, invalid
from agenteval.serve.workers import Workers

SECONDS_BETWEEN_COMMENTS = 10
"""The seconds between comments on an idle stream, which keep proxies from closing it."""
_LOOK = 0.1
"""The seconds after which new events of any worker are noticed."""
_PAST_ALL = 2**31
"""A sequence number that no event reaches."""
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorBody} for code in (400, 401, 403, 404, 409, 413, 422, 500, 501)
}
PROBE = "__probe__"
"""The id with which conformance scenarios ask whether a route for tests is there."""
_ETAG: dict[int | str, dict[str, Any]] = {304: {"description": "It is as it was."}}


class News:
    """Wakes all who wait for events, with one query of the store for all of them."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._changed = asyncio.Event()
        self._newest = 0

    async def watch(self) -> None:
        """Look for new events for ever, also after the store was away."""
        while True:
            try:
                newest = await run_in_threadpool(self._host.store.newest_event)
            except SQLAlchemyError:
                newest = self._newest
            # Each wait has an event of its own: one that is set and cleared again could be missed by a late waiter.
            if newest != self._newest:
                self._newest = newest
                changed, self._changed = self._changed, asyncio.Event()
                changed.set()
            await asyncio.sleep(_LOOK)

    async def wait(self, seconds: float) -> None:
        """Return after the next event of any run, or after so many seconds."""
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return


def create_app(host: Host, workers: Callable[[], Workers] | None = None) -> Gate:
    """Build the host as an ASGI application; `workers` starts the processes that evaluate, once the server is up."""
    news = News(host)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(each) for each in (news.watch(), _clean_up(host))]
        host.workers = await run_in_threadpool(workers) if workers else None
        yield
        for task in tasks:
            task.cancel()
        if host.workers:
            await run_in_threadpool(host.workers.stop)

    app = _application(host, news, 2, lifespan=lifespan)
    app.mount("/v1", _application(host, news, 1))  # version 1 has its paths under /v1, version 2 at the root
    return Gate(app, lambda: host.catalogue.config)


async def _clean_up(host: Host) -> None:
    """Remove old runs, at the start and each hour."""
    while True:
        with suppress(SQLAlchemyError):
            await run_in_threadpool(host.remove_old)
        await asyncio.sleep(3600)


def _application(host: Host, news: News, major: int, **options: Any) -> FastAPI:
    app = FastAPI(
        title="agenteval: OpenWOP eval host",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        **options,
    )
    app.include_router(_routes(host, news, major))
    if host.conformance:
        app.include_router(_seams(host, news, major))
    if major == 2:
        add_pages(app, host)

        @app.get("/.well-known/openwop", responses=_ETAG)
        def discovery(request: Request) -> Response:
            """Describe what this host can do."""
            return _tagged(request, host.discovery(request.state.major), caching="public, max-age=60")

        @app.get("/metrics", response_class=Response)
        def metrics(asked: Who) -> Response:  # noqa: ARG001 - who asks needs a key
            """Report counts for Prometheus: runs by status, workers, requests."""
            from agenteval.serve.metrics import exposition

            content, kind = exposition(host)
            return Response(content, media_type=kind)

        @app.get("/health", responses={503: {"model": Health}})
        def health() -> Health:
            """Report whether the store answers and all workers live; 503 when not."""
            found = host.health()
            return found if found.status == "ok" else JSONResponse(found.model_dump(), 503)  # type: ignore[return-value]

    # Exception too: the frameworks' own pages of errors could show values of the request.
    for kind in (HostError, RequestValidationError, HTTPException, SQLAlchemyError, Exception):
        app.add_exception_handler(kind, _failed)
    return app


def _routes(host: Host, news: News, major: int) -> APIRouter:
    router = APIRouter(responses=_ERRORS)
    calls: list[tuple[str, str, Callable[..., Any], int, Any]] = [
        ("POST", "/runs", host.create, 201, RunCreated),
        ("GET", "/runs", host.page, 200, RunPage),
        ("POST", "/runs/{run_id}/cancel", host.cancel, 200, RunCancelled),
        ("DELETE", "/runs/{run_id}", host.remove, 204, None),
        ("GET", "/runs/{run_id}:diff", host.difference, 200, RunDifference),
        ("GET", "/runs/{run_id}/eval-summary", host.summary, 200, dict[str, Any]),
        ("POST", "/runs/{run_id}/annotations", host.annotate, 201, Annotation),
        ("GET", "/runs/{run_id}/annotations", host.annotations, 200, dict[str, list[Annotation]]),
    ]
    for method, path, call, status, model in calls:
        options: Any = {"response_model": model, "response_model_exclude_unset": True}
        router.add_api_route(path, call, methods=[method], status_code=status, **options)

    @router.get("/runs/{run_id}", response_model=RunSnapshot, responses=_ETAG)
    def run(request: Request, asked: Who, run_id: RunId) -> Response:
        """A run as it is now."""
        return _tagged(request, host.snapshot(host.run(asked, run_id), major))

    @router.get(
        "/runs/{run_id}/events",
        response_class=EventSourceResponse,
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    )
    async def stream(
        asked: Who,
        run_id: RunId,
        mode: Annotated[str, Query(alias="streamMode", max_length=40)] = "updates",
        last: Annotated[str | None, Header(alias="Last-Event-ID", pattern="^[0-9]+$")] = None,
        buffer_ms: Annotated[int, Query(alias="bufferMs", ge=0, le=5000)] = 0,
    ) -> Response:
        """The events of a run as they come, until the last one."""
        modes = mode.split(",")
        if not set(modes) <= set(MODES):
            raise HostError(
                "unsupported_stream_mode", "the modes are updates and debug", supported=list(MODES)
            )
        widest = "debug" if "debug" in modes else "updates"
        await run_in_threadpool(host.run, asked, run_id)  # before a stream begins, a refusal has a status
        # A number that no event has is past the end; one with many digits is, too, and fits into no column.
        after = min(int(last[:20]), _PAST_ALL) if last else -1
        events = _stream(host, news, asked, run_id, after, widest, buffer_ms / 1000)
        return EventSourceResponse(events, ping=SECONDS_BETWEEN_COMMENTS)

    @router.get("/runs/{run_id}/events/poll", response_model=EventPage, response_model_exclude_none=True)
    async def poll(
        asked: Who,
        run_id: RunId,
        seconds: Annotated[int, Query(alias="timeout", ge=1, le=60)] = 30,
        after: Annotated[
            int, Query(alias="lastSequence" if major == 1 else "afterSequence", ge=-1, le=2**31)
        ] = -1,
    ) -> Response:
        """The events after a sequence number, as soon as there are some."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            page = await run_in_threadpool(host.poll, asked, run_id, after)
            left = until - loop.time()
            if page["events"] or page.get("isTerminal") or page.get("isComplete") or left <= 0:
                return JSONResponse(page)
            await news.wait(min(left, 1.0))

    return router


def _seams(host: Host, news: News, major: int) -> APIRouter:
    """Make the routes that the public conformance scenarios need beside the protocol."""
    router = APIRouter(
        prefix="/host/sample" if major == 1 else "/conformance/seams/sample", responses=_ERRORS
    )

    @router.post("/agents/eval-run", status_code=201)
    async def eval_run(asked: Who, body: SeamRun) -> Response:
        """Run a suite to its end, and answer with its scores; an agent and a suite that are not named are chosen."""
        wanted = await run_in_threadpool(host.chosen, asked, body)
        made = json.loads(bytes((await run_in_threadpool(host.create, asked, wanted)).body))
        run = await _ended(host, news, asked, made["runId"])
        answer = {"runId": made["runId"], "status": run.status}
        if run.summary is not None:
            summary = await run_in_threadpool(host.summary, asked, made["runId"])
            names = ("suiteId", "suiteVersion", "taskCount", "passed", "aggregateScore")
            answer |= {"summary": summary, **{name: summary[name] for name in names}}
        return JSONResponse(answer, 201)

    @router.get("/test/runs/{run_id}/events")
    def log(asked: Who, run_id: RunId, query: Annotated[EventFilter, Query()]) -> Response:
        """List the events of a run, all or those of one type or task; `__probe__` is a run without events."""
        events = [] if run_id == PROBE else host.whole_log(host.run(asked, run_id), major)
        wanted = query.model_dump(exclude_none=True)
        return JSONResponse(
            {"events": [each for each in events if all(each.get(key) == wanted[key] for key in wanted)]}
        )

    @router.post("/test/reset", status_code=204)
    def reset(asked: Who) -> Response:
        """Forget all that the caller's tenant has."""
        host.remove_files(host.store.forget(asked.caller.tenant))
        return Response(status_code=204)

    return router


async def _ended(host: Host, news: News, asked: Asked, run_id: str) -> Row[Any]:
    """Wait until a run has ended, and return it."""
    while True:
        run = await run_in_threadpool(host.run, asked, run_id)
        if run.status in TERMINAL:
            return run
        await news.wait(1.0)


async def _stream(
    host: Host, news: News, asked: Asked, run_id: str, after: int, mode: str, buffer: float
) -> AsyncIterator[ServerSentEvent]:
    """Yield the events of a run: each alone, or batches of those that came in `buffer` seconds, or before its end."""
    batch: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    due = 0.0
    while True:
        found, after, ended = await run_in_threadpool(host.following, asked, run_id, after, mode)
        if found and not buffer:
            for event in found:
                yield ServerSentEvent(json.dumps(event), event=event["type"], id=str(event["sequence"]))
        elif found:
            due = due if batch else loop.time() + buffer
            batch += found
        if batch and (ended or loop.time() >= due):
            yield ServerSentEvent(json.dumps(batch), event="batch", id=str(batch[-1]["sequence"]))
            batch = []
        if ended:
            return
        if not found:
            await news.wait(max(0.0, due - loop.time()) if batch else 5.0)


def _tagged(request: Request, body: Any, *, caching: str = "private, no-cache") -> Response:
    """Answer with an ETag, or 304 when the client has the body already."""
    answer = JSONResponse(body, headers={"Cache-Control": caching})
    tag = f'"{hashlib.sha256(answer.body).hexdigest()[:32]}"'
    known = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
    if tag in known or "*" in known:
        return Response(status_code=304, headers={"ETag": tag})
    answer.headers["ETag"] = tag
    return answer


def _failed(request: Request, error: Exception) -> Response:
    """Turn an exception into an answer without any value of the request."""
    headers = {}
    answer = HostError("internal_error", f"the host failed: {type(error).__name__}")
    if isinstance(error, HostError):
        answer = error
    elif isinstance(error, AWAY):
        answer = HostError("agenteval.store_unavailable", "the store is away: try again in some seconds")
        headers["Retry-After"] = "5"
    elif isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = [str(each) for each in first["loc"] if each not in ("body", "query", "path", "header")]
        answer = invalid(".".join(where), first["msg"])
    elif isinstance(error, HTTPException) and error.status_code == 405:
        answer = HostError("agenteval.method_not_allowed", "the method is not allowed here")
        headers["Allow"] = ", ".join(_methods(request))
    elif isinstance(error, HTTPException) and error.status_code == 400:
        answer = HostError("validation_error", "the request cannot be read")
    elif isinstance(error, HTTPException):
        answer = HostError("not_found", "there is no such thing here")
    return answer.response(request.state.major, headers)


def _methods(request: Request) -> list[str]:
    """List the methods of a path by the OpenAPI document, since a single route knows only its own."""
    path = request.url.path.removeprefix(request.scope.get("root_path", ""))
    found = {
        method.upper()
        for template, methods in request.app.openapi()["paths"].items()
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path)
        for method in methods
    }
    return sorted(found)
