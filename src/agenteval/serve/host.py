"""The calls of the host, as both majors of the protocol make them: runs, their events, summaries, differences, annotations."""

import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Header, Path, Query, Request
from sqlalchemy import Row, Table
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from starlette.responses import JSONResponse, Response

from agenteval.judging.runner import timestamp
from agenteval.openwop.summary import REGRESSION
from agenteval.serve.messages import (
    CancelRun,
    CreateAnnotation,
    CreateRun,
    Health,
    Options,
    SeamRun,
    Status,
)
from agenteval.serve.run_evaluation import NOOP, Catalogue, Offered
from agenteval.serve.store import TERMINAL, Store, annotations, digest_of, new_id, runs
from agenteval.serve.wire import (
    VERSIONS,
    Caller,
    HostError,
    bound_id,
    in_path,
    invalid,
    opaque_id,
    run_url,
)

if TYPE_CHECKING:
    from agenteval.serve.workers import Workers

EVENT_LOG_VERSION = 3
"""The protocol's number for logs like ours: 2 is version 1's; below that, readers would ignore the log."""
_EVENT_VERSION = 1
"""The number of the form of our payloads."""
MOST_DIFFERENCES = 200
MOST_RUNS = 200
"""The runs on a page of their list."""
_KEY = re.compile(r"[A-Za-z0-9._~-]{22,128}")
_VERSION_1 = {
    "agent.invocation-started": "agent.invocation.started",
    "agent.invocation-completed": "agent.invocation.completed",
    "agent.tool-called": "agent.toolCalled",
    "agent.tool-returned": "agent.toolReturned",
}
"""The names of version 1 for the types of event that it names differently."""
MODES = {"updates": ("run.", "eval."), "debug": ("run.", "eval.", "agent.", "provider.")}
"""The beginnings of the event types that each mode of a stream sends."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its caller, its major of the protocol, its path."""

    caller: Caller
    major: int
    path: str = ""


def _asked(request: Request) -> Asked:
    return Asked(request.state.caller, request.state.major, request.url.path)


Who = Annotated[Asked, Depends(_asked)]
RunId = Annotated[str, Path(min_length=1, max_length=400)]
Cursor = Annotated[str | None, Query(pattern=r"^r[0-9]{1,18}$")]
Key = Annotated[str | None, Header(alias="Idempotency-Key")]


@dataclass(slots=True)
class Host:
    """The calls of the protocol. All raise `HostError`."""

    store: Store
    catalogue: Catalogue
    conformance: bool = False
    workers: "Workers | None" = None
    """The processes that evaluate, once the host runs."""

    # discovery

    def discovery(self, major: int) -> dict[str, Any]:
        """Describe the features of the host, and the versions of the protocol that it speaks."""
        limits = self.catalogue.config.limits
        suites = {
            "modes": self.catalogue.modes(None),
            "maxTasksPerSuite": limits.max_tasks_per_suite,
            "maxCostUsdPerSuite": limits.max_cost_usd_per_suite,
        }
        described: dict[str, Any] = {
            "protocolVersions": list(VERSIONS.values()),
            "preferredVersion": VERSIONS[1],
            "eventLogSchemaVersion": EVENT_LOG_VERSION,
            "implementation": {"name": "agenteval", "vendor": "agenteval"},
            **({"fixtures": [NOOP]} if self.conformance else {}),
        }
        if major == 1:
            described |= {
                "protocolVersion": VERSIONS[1],
                "supportedEnvelopes": [],
                "schemaVersions": {},
                "limits": {
                    "clarificationRounds": 0,
                    "schemaRounds": 0,
                    "envelopesPerTurn": 1,
                    "maxRequestBodyBytes": limits.max_body_bytes,
                },
                "agents": {"evalSuite": {"supported": True, **suites}},
                "feedback": {"supported": True},
            }
        else:
            record = {"status": "stable", "since": "2.0", "witness": "witnessable-unaided"}
            described |= {
                "agents": {**record, "evalSuite": {**suites, "baselineSelection": True}},
                "feedback": record,
                "runList": {**record, "maxPageSize": MOST_RUNS, "filters": ["status", "workflowId"]},
            }
        return described

    def health(self) -> Health:
        """Report whether the store answers, and how many workers live."""
        alive, wanted = (self.workers.alive, self.workers.wanted) if self.workers else (0, 0)
        try:
            self.store.newest_event()
        except SQLAlchemyError:
            return Health(status="degraded", store="away", workers=alive, workersWanted=wanted)
        status: Any = "ok" if alive == wanted else "degraded"
        return Health(status=status, store="ok", workers=alive, workersWanted=wanted)

    # runs

    def chosen(self, asked: Asked, body: SeamRun) -> CreateRun:
        """Choose an agent and a suite that can be run in the modes asked for, where the request names none."""
        tenant = asked.caller.tenant
        modes = body.modes
        names = [
            (reference, agent)
            for reference, offered in self.catalogue.suites_of(tenant).items()
            for agent in self.catalogue.agents_of(tenant)
            if body.evalSuiteRef in (None, reference)
            and body.agentId in (None, agent)
            and set(modes or ()) <= set(offered.suite.modes)
        ]
        for reference, agent in names:
            wanted = {"evalSuiteRef": reference, "agentId": agent, "evalModes": modes}
            with suppress(HostError):
                self.catalogue.parts(wanted, tenant)
                options: dict[str, Any] = {"evalModes": modes}
                if asked.major == 1:
                    options = {"configurable": Options(evalModes=modes)} if modes else {}
                return CreateRun(mode="eval", evalSuiteRef=reference, agentId=agent, **options)
        raise invalid("modes", "no suite and agent of this host can be run so")

    def cancel(self, asked: Who, run_id: RunId, body: CancelRun | None = None) -> dict[str, Any]:  # noqa: ARG002
        """End a run before its time: at once while it waits, after the task at hand while it runs."""
        run = self.run(asked, run_id)
        if run.status in TERMINAL and asked.major == 2:
            raise HostError("run_terminal", "the run has ended", status=run.status)
        if run.status in TERMINAL and run.status != "cancelled":
            raise HostError("run_state_conflict", "the run has ended", status=run.status)
        status = self.store.cancel(run.id)
        return {"runId": bound_id(run.tenant, run.id, asked.major), "status": status}

    def remove(self, asked: Who, run_id: RunId) -> Response:
        """Remove a run that has ended, with its events, scores, annotations and files."""
        run = self.run(asked, run_id)
        if run.status not in TERMINAL:
            raise HostError("run_state_conflict", "the run has not ended: cancel it first", status=run.status)
        self.remove_files(self.store.forget_run(run.id))
        return Response(status_code=204)

    def remove_files(self, run_ids: Sequence[str]) -> None:
        """Remove the directories of runs on this machine."""
        for run_id in run_ids:
            shutil.rmtree(self.catalogue.project.runs / run_id, ignore_errors=True)

    def remove_old(self) -> None:
        """Remove the runs that ended longer ago than the settings keep them."""
        if days := self.catalogue.config.limits.keep_days:
            self.remove_files(self.store.forget_older(days))

    def create(self, asked: Who, body: CreateRun, key: Key = None) -> Response:
        """Ask for an evaluation."""
        wanted = body.model_dump()
        return self._once(asked, key, wanted, runs, lambda: self._new_run(asked, wanted))

    def _new_run(self, asked: Asked, body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        wanted = self._wanted(asked, body)
        run_id, tenant = new_id(), asked.caller.tenant
        run = bound_id(tenant, run_id, asked.major)
        url = run_url(run, asked.major)
        answer = {"runId": run, "status": "pending", "eventsUrl": f"{url}/events", "statusUrl": url}
        row = {
            "id": run_id,
            "tenant": tenant,
            "subject": asked.caller.subject,
            "suite_id": wanted.get("suiteId", NOOP),
            "status": "pending",
            "asked": {**wanted, "tags": body["tags"], "metadata": body["metadata"]},
        }
        return row, answer

    def _wanted(self, asked: Asked, body: dict[str, Any]) -> dict[str, Any]:
        modes = _modes(asked.major, body)
        if self.conformance and body["workflowId"] == NOOP and body["mode"] is None:
            return {"workflowId": NOOP}
        if body["mode"] is None and body["workflowId"] is None:
            raise invalid("mode", "mode is missing")
        if body["mode"] != "eval" or body["workflowId"] is not None:
            raise HostError("capability_not_provided", "this host runs nothing but evaluations (mode: eval)")
        wanted = {name: body[name] for name in ("evalSuiteRef", "agentId")}
        for name, value in wanted.items():
            if value is None:
                raise invalid(name, f"{name} is missing")
        if body["inputs"] is not None:
            raise invalid("inputs", "an evaluation takes its inputs from the suite")
        wanted["evalModes"] = modes
        if (baseline := body["baselineRunId"]) is not None:
            try:
                wanted["baselineRunId"] = opaque_id(baseline, asked.caller, asked.major)
            except HostError:
                wanted["baselineRunId"] = ""  # of another tenant, or no id: no run has it
        self.catalogue.parts(wanted, asked.caller.tenant)
        offered = self.catalogue.suites[body["evalSuiteRef"]]
        if baseline is not None:
            wanted["baseline"] = self._baseline(asked, wanted, offered)
        return {**wanted, "suiteId": offered.suite.suiteId, "suiteDigest": offered.digest}

    def _baseline(self, asked: Asked, wanted: Mapping[str, Any], offered: Offered) -> dict[str, Any]:
        run = self.store.run(asked.caller.tenant, wanted["baselineRunId"])
        suite = offered.suite
        if run is None or not _is_of(run, suite.suiteId, suite.version):
            # One answer for a run that is not there and one that may not be seen: ids cannot be tried out.
            raise invalid("baselineRunId", "no run of this version of the suite with a summary has that id")
        if wanted["evalModes"] and REGRESSION not in wanted["evalModes"]:
            raise invalid("baselineRunId", f"a baseline needs the mode {REGRESSION}")
        return {"runId": run.id, "score": run.summary["aggregateScore"]}

    def _once(
        self, asked: Asked, key: str | None, body: Any, table: Table, make: Callable[[], tuple[Any, Any]]
    ) -> Response:
        """Add the row that `make` returns, once for each idempotency key, even when two requests come together.

        Returns the new answer, or the one that an earlier request with the key got.
        """
        if key is not None and not _KEY.fullmatch(key):
            raise HostError(
                "idempotency_key_invalid", "a key has 22 to 128 characters of A-Z a-z 0-9 . _ ~ -"
            )
        tenant, digest, kept = asked.caller.tenant, digest_of(body), None
        for _ in range(2):  # the second time, the answer of the request that was faster is there
            if key and (earlier := self.store.answer(tenant, asked.path, key)):
                if earlier.body != digest:
                    raise HostError("idempotency_key_mismatch", "the key was used for another request")
                return JSONResponse(earlier.answer, 201, {"OpenWOP-Idempotent-Replay": "true"})
            row, answer = make()
            if key:
                named = {"tenant": tenant, "endpoint": asked.path, "key": key}
                kept = {**named, "body": digest, "answer": answer}
            try:
                self.store.add(table, row, kept)
            except IntegrityError:
                continue  # the other of two was first
            return JSONResponse(answer, 201)
        raise HostError("internal_error", "the request could not be recorded")

    def run(self, asked: Asked, run_id: str) -> Row[Any]:
        """Return a run of the caller's tenant, by the id in a path."""
        run = self.store.run(asked.caller.tenant, opaque_id(run_id, asked.caller, asked.major))
        if run is None:
            raise HostError("not_found", "there is no such run")
        return run

    def snapshot(self, run: Row[Any], major: int) -> dict[str, Any]:
        """Return the body that describes a run as it is now."""
        subject: Any = run.subject
        if major == 2:
            subject = {
                "issuer": "agenteval",
                "subjectId": run.subject,
                "tenant": run.tenant,
                "lane": "api-key",
                "kind": "service",
            }
        times = {"createdAt": run.created_at, "startedAt": run.started_at, "completedAt": run.ended_at}
        body = {
            "runId": bound_id(run.tenant, run.id, major),
            "workflowId": run.suite_id,
            "status": run.status,
            "owner": {"tenant": run.tenant, "subject": subject},
            "eventLogSchemaVersion": EVENT_LOG_VERSION,
            **{name: timestamp(at) for name, at in times.items() if at is not None},
            "error": run.error,
            "tags": run.asked.get("tags"),
            "metadata": run.asked.get("metadata"),
        }
        return {name: value for name, value in body.items() if value is not None}

    def page(
        self,
        asked: Who,
        limit: Annotated[int, Query(ge=1, le=MOST_RUNS)] = 50,
        cursor: Cursor = None,
        after: Cursor = None,
        status: Status | None = None,
        suite_id: Annotated[str | None, Query(alias="workflowId", max_length=300)] = None,
    ) -> dict[str, Any]:
        """The caller's runs, newest first; `after` is another name of `cursor`."""
        cursor = cursor or after
        before = int(cursor[1:]) if cursor else None
        found = self.store.page(
            asked.caller.tenant, before=before, limit=limit + 1, status=status, suite_id=suite_id
        )
        # One more run than the limit was read, only to know whether there is a next page.
        more = {"nextCursor": f"r{found[limit - 1].number}"} if len(found) > limit else {}
        return {"runs": [self.snapshot(run, asked.major) for run in found[:limit]], **more}

    def summary(self, asked: Who, run_id: RunId) -> dict[str, Any]:
        """The EvalSummary of a run that has ended."""
        run = self.run(asked, run_id)
        if run.asked.get("workflowId") == NOOP or (run.status in TERMINAL and run.summary is None):
            raise HostError("not_found", "the run has no summary")
        if run.summary is None:
            raise HostError("run_state_conflict", "the run has not ended", status=run.status)
        return self._bound(run.summary, run, asked.major)

    def _bound(self, stored: Mapping[str, Any], run: Row[Any], major: int) -> dict[str, Any]:
        """Return a stored summary or payload with ids as a major writes them: the store keeps ids without a tenant."""
        bound = dict(stored)
        if (baseline := bound.get("baselineRunId")) is not None:
            bound["baselineRunId"] = bound_id(run.tenant, baseline, major)
        if regression := bound.get("regression"):
            other = bound_id(run.tenant, regression["baselineRunId"], major)
            here = run_url(bound_id(run.tenant, run.id, major), major)
            reference = f"{here}:diff?against={in_path(other)}"
            bound["regression"] = {**regression, "baselineRunId": other, "diffRef": reference}
        if "outputs" in bound:
            bound["outputs"] = self._bound(bound["outputs"], run, major)
        return bound

    # events

    def following(
        self, asked: Asked, run_id: str, after: int, mode: str
    ) -> tuple[list[dict[str, Any]], int, bool]:
        """Return the next events that a mode sends, the sequence number that they reach, and whether the run has no more."""
        run = self.run(asked, run_id)  # before its events: a run that has ended has them all
        rows = self.store.events_after(run.id, after)
        sent = [self._event(each, run, asked.major) for each in rows if each.type.startswith(MODES[mode])]
        return sent, rows[-1].sequence if rows else after, not rows and run.status in TERMINAL

    def whole_log(self, run: Row[Any], major: int) -> list[dict[str, Any]]:
        """Return all events of a run."""
        found: list[dict[str, Any]] = []
        while rows := self.store.events_after(run.id, len(found) - 1):
            found += [self._event(each, run, major) for each in rows]
        return found

    def _event(self, event: Row[Any], run: Row[Any], major: int) -> dict[str, Any]:
        return {
            "eventId": f"{run.id}.{event.sequence}",
            "runId": bound_id(run.tenant, run.id, major),
            "type": _VERSION_1.get(event.type, event.type) if major == 1 else event.type,
            "payload": self._bound(event.payload, run, major),
            "timestamp": event.at,
            "sequence": event.sequence,
            "schemaVersion": _EVENT_VERSION,
            **({"nodeId": event.task_id} if event.task_id else {}),
        }

    def poll(self, asked: Asked, run_id: str, after: int) -> dict[str, Any]:
        """Return the events after a sequence number, and whether the run has ended with them."""
        run = self.run(asked, run_id)
        found, reached, _ = self.following(asked, run_id, after, "debug")
        last = self.store.last_sequence(run.id)
        ended = run.status in TERMINAL and reached >= last
        if asked.major == 1:
            return {"events": found, "lastSequence": last, "isComplete": ended}
        return {
            "runId": bound_id(run.tenant, run.id, 2),
            "events": found,
            "lastSequence": last,
            "status": run.status,
            "isTerminal": ended,
        }

    # comparisons and annotations

    def difference(
        self, asked: Who, run_id: RunId, against: Annotated[str, Query(min_length=1, max_length=400)]
    ) -> dict[str, Any]:
        """Compare a run with another of the same version of a suite, event by event and score by score."""
        one, other = self.run(asked, run_id), self.run(asked, against)
        suites = [(run.suite_id, (run.summary or {}).get("suiteVersion")) for run in (one, other)]
        if suites[0][0] != suites[1][0] or (
            None not in (suites[0][1], suites[1][1]) and suites[0] != suites[1]
        ):
            raise invalid("against", "the runs are of different suites, or versions of a suite")
        logs = [list(map(_timeless, self.whole_log(run, asked.major))) for run in (one, other)]
        found = list(_differences(*logs))
        return {
            "a": bound_id(one.tenant, one.id, asked.major),
            "b": bound_id(other.tenant, other.id, asked.major),
            "divergedAtSeq": found[0]["seq"] if found else None,
            "eventDiffs": found[:MOST_DIFFERENCES],
            "stateDiff": _state_difference(one, other),
            "truncated": len(found) > MOST_DIFFERENCES,
        }

    def annotate(self, asked: Who, run_id: RunId, body: CreateAnnotation, key: Key = None) -> Response:
        """Attach a person's annotation to a run or one of its events; scores stay as they are."""
        run, given = self.run(asked, run_id), body.model_dump(exclude_none=True)
        target = {"runId": bound_id(run.tenant, run.id, asked.major)}
        if (event_id := given.get("target", {}).get("eventId")) is not None:
            number = event_id.removeprefix(f"{run.id}.")
            if not re.fullmatch("[0-9]{1,9}", number) or int(number) > self.store.last_sequence(run.id):
                raise invalid("target.eventId", "the run has no such event")
            target["eventId"] = event_id
        annotation = {
            "annotationId": new_id(),
            "target": target,
            "signal": given["signal"],
            "actor": {"tenant": asked.caller.tenant, "subject": asked.caller.subject},
            "createdAt": timestamp(time.time()),
            **({"note": given["note"]} if "note" in given else {}),
        }
        row = {"id": annotation["annotationId"], "run_id": run.id, "body": annotation}
        return self._once(asked, key, given, annotations, lambda: (row, annotation))

    def annotations(self, asked: Who, run_id: RunId) -> dict[str, Any]:
        """List the annotations of a run."""
        return {"annotations": self.store.annotations(self.run(asked, run_id).id)}


def _modes(major: int, body: Mapping[str, Any]) -> Any:
    """Return the modes that a request asks for. Each major has its own place for them: the other one is refused, not obeyed."""
    options = body["configurable"]
    if major == 1:
        if body["evalModes"] is not None:
            raise invalid("evalModes", "evalModes stand in configurable in this version")
        return (options or {}).get("evalModes")
    if options is not None and options["evalModes"] is not None:
        raise invalid("configurable", "evalModes stand at the root in this version")
    if options is not None and options["version"] is None:
        raise invalid("configurable.version", "configurable has version 1 in this version")
    return body["evalModes"]


def _is_of(run: Row[Any], suite_id: str, version: str) -> bool:
    """Return whether a run has a summary of this version of a suite."""
    summary = run.summary or {}
    return (summary.get("suiteId"), summary.get("suiteVersion")) == (suite_id, version)


def _timeless(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event without the values that differ between two runs of the same work, such as ids and times."""
    varying = ("invocationId", "latencyMs", "baselineRunId", "regression", "tasks")
    payload = {name: value for name, value in event["payload"].items() if name not in varying}
    if "outputs" in payload:
        payload["outputs"] = {
            name: value for name, value in payload["outputs"].items() if name not in varying
        }
    kept = {name: event[name] for name in ("sequence", "type", "nodeId") if name in event}
    return {**kept, "payload": payload}


def _differences(
    one: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    for number, (a, b) in enumerate(zip_longest(one, other)):
        if a != b:
            op = "added" if a is None else "removed" if b is None else "changed"
            sides = {"aEvent": a, "bEvent": b}
            yield {"seq": number, "op": op, **{side: event for side, event in sides.items() if event}}


def _state_difference(one: Row[Any], other: Row[Any]) -> dict[str, Any]:
    """Return the status, totals and task scores that differ between two runs, by name."""
    states: list[dict[str, Any]] = []
    for run in (one, other):
        summary = run.summary or {}
        names = ("aggregateScore", "passed", "taskCount", "passedCount")
        state = {"status": run.status, **{name: summary.get(name) for name in names}}
        state |= {f"tasks.{task['taskId']}.score": task["score"] for task in summary.get("tasks", ())}
        states.append(state)
    a, b = states
    return {name: {"a": a.get(name), "b": b.get(name)} for name in a | b if a.get(name) != b.get(name)}
