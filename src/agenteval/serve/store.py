"""The database of a host: runs, their events and scores, annotations, and answers that are kept for repeated requests.

SQLite or Postgres, the same tables. Everything in them is content-free: names, ids, counts, scalars; a person's
annotation is as the person wrote it. Several hosts and their workers may share one store.
"""

import json
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Row,
    Select,
    String,
    Table,
    and_,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from agenteval.contracts.errors import UsageError
from agenteval.judging.runner import timestamp
from agenteval.reading.documents import sha256

TERMINAL = frozenset({"completed", "failed", "cancelled"})
"""The statuses of a run that has ended."""
LEASE = 15.0
"""The seconds that a worker owns a run after its last sign of life; afterwards another worker may take it."""
MOST_CRASHES = 5
"""The number of workers that a run may crash in a row, with no new score between, before it is given up."""
KEPT = 24 * 3600
"""The seconds that an answer is kept for a repeated request."""
VERSION = 1
"""The version of the tables. A store of another version is refused: it would be read wrongly, or damaged."""

_metadata = MetaData()
_Number = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows only in a column of this type
runs = Table(
    "runs",
    _metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("id", String(200), nullable=False, unique=True),
    Column("tenant", String(200), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("asked", JSON, nullable=False),
    Column("suite_id", String(300), nullable=False),
    Column("status", String(20), nullable=False),
    Column("created_at", Float, nullable=False),
    Column("started_at", Float),
    Column("ended_at", Float),
    Column("crashes", Integer, nullable=False, default=0),
    Column("cancelling", Boolean, nullable=False, default=False),
    Column("worker", String(64)),
    Column("seen_at", Float),
    Column("error", JSON(none_as_null=True)),
    Column("summary", JSON(none_as_null=True)),
    Index("runs_by_status", "status", "number"),
    Index("runs_by_tenant", "tenant", "number"),
)
events = Table(
    "events",
    _metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("run_id", ForeignKey("runs.id"), nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("type", String(60), nullable=False),
    Column("task_id", String(300)),
    Column("payload", JSON, nullable=False),
    Column("at", String(40), nullable=False),
    Index("events_of_run", "run_id", "sequence", unique=True),
)
scores = Table(
    "scores",
    _metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("scored", JSON(none_as_null=True)),
)
annotations = Table(
    "annotations",
    _metadata,
    Column("id", String(64), primary_key=True),
    Column("run_id", ForeignKey("runs.id"), nullable=False, index=True),
    Column("body", JSON, nullable=False),
    Column("created_at", Float, nullable=False),
)
answers = Table(
    "answers",
    _metadata,
    Column("tenant", String(200), primary_key=True),
    Column("endpoint", String(400), primary_key=True),
    Column("key", String(128), primary_key=True),
    Column("body", String(64), nullable=False),
    Column("answer", JSON, nullable=False),
    Column("created_at", Float, nullable=False),
)

versions = Table("agenteval_store", _metadata, Column("version", Integer, primary_key=True))

Event = tuple[str, str | None, Mapping[str, Any]]
"""An event of a run before it is stored: its type, the task that it is about, its payload."""


class Lost(Exception):  # noqa: N818 - no error of anybody's: another worker has the run
    """The run belongs to another worker by now, or is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A run that this worker owns, and the scores of the tasks that were judged before, by position."""

    run_id: str
    tenant: str
    asked: Mapping[str, Any]
    worker: str
    scored: Mapping[int, Mapping[str, Any] | None]


AWAY = (OperationalError, InterfaceError)
"""The errors of a database that cannot be reached, is restarting, or is locked for long."""
_log = logging.getLogger("agenteval.serve")
_P = ParamSpec("_P")
_T = TypeVar("_T")


def _outlasting(method: Callable[Concatenate["Store", _P], _T]) -> Callable[Concatenate["Store", _P], _T]:
    """Make a method of a patient store wait for a database that is away, and try again.

    Nothing is done twice: each method is one transaction, which finds out whether the run is still its worker's. Where the
    connection broke during the commit, the second try raises `Lost`, and the run goes on after its lease.
    """

    @wraps(method)
    def call(self: "Store", *args: _P.args, **kwargs: _P.kwargs) -> _T:
        pause = 0.1
        while True:
            try:
                return method(self, *args, **kwargs)
            except AWAY as error:
                if not self.patient:
                    raise
                _log.warning("the store is away: %s", type(error.orig).__name__)
                time.sleep(pause)
                pause = min(2 * pause, 2.0)

    return cast("Callable[Concatenate[Store, _P], _T]", call)


class Store:
    """The tables at a URL of SQLAlchemy's. Raises `UsageError` (`serve.store`) when they cannot be had.

    A patient store, as workers have it, waits while the database is away. Another one raises what SQLAlchemy raises.
    """

    def __init__(self, url: str, *, patient: bool = False) -> None:
        self.url = url
        self.patient = patient
        try:
            self.engine = create_engine(url, pool_pre_ping=True, hide_parameters=True)
            if self.engine.dialect.name == "sqlite":
                event.listen(self.engine, "connect", _sqlite_for_many)
                event.listen(self.engine, "begin", _begin_writing)
            with self.engine.begin() as connection:
                _only_one_creates(connection)
                _create(connection)
        except (SQLAlchemyError, ImportError) as error:
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            raise UsageError(
                f"the store cannot be opened: {reason}",
                reason_code="serve.store",
                next_step="name a database with --store: sqlite:///FILE, or postgresql+psycopg://USER@HOST/NAME",
            ) from None

    def _read(self, query: Select[Any]) -> Sequence[Row[Any]]:
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            return connection.execute(query).all()

    # what a client asks

    @property
    def _now(self) -> Any:
        """The seconds since 1970, as an SQL expression: by Postgres' clock, since clocks of several hosts may differ."""
        if self.engine.dialect.name == "postgresql":
            return func.extract("epoch", func.clock_timestamp()).cast(Float)
        return literal(time.time())  # a file is used from one machine

    def add(self, table: Table, row: Mapping[str, Any], kept: Mapping[str, Any] | None) -> None:
        """Add a run that waits, or an annotation, and the answer that is kept for its request: both or none.

        Raises `IntegrityError` when an answer to that request is kept already.
        """
        now = self._now
        with self.engine.begin() as connection:
            if kept:
                connection.execute(delete(answers).where(answers.c.created_at < now - KEPT))
                connection.execute(insert(answers).values(created_at=now, **kept))
            connection.execute(insert(table).values(created_at=now, **row))

    def answer(self, tenant: str, endpoint: str, key: str) -> Row[Any] | None:
        """Return the answer that an earlier request got: the digest of the request's `body`, and the `answer`."""
        query = select(answers).where(
            answers.c.tenant == tenant,
            answers.c.endpoint == endpoint,
            answers.c.key == key,
            answers.c.created_at >= self._now - KEPT,
        )
        return next(iter(self._read(query)), None)

    def run(self, tenant: str, run_id: str) -> Row[Any] | None:
        """Return a run of a tenant; None if there is no such run."""
        found = self._read(select(runs).where(runs.c.id == run_id, runs.c.tenant == tenant))
        return next(iter(found), None)

    def page(
        self, tenant: str, *, before: int | None, limit: int, status: str | None, suite_id: str | None
    ) -> Sequence[Row[Any]]:
        """List runs of a tenant that are older than number `before`, newest first."""
        query = select(runs).where(runs.c.tenant == tenant)
        for wanted, column in ((status, runs.c.status), (suite_id, runs.c.suite_id)):
            if wanted is not None:
                query = query.where(column == wanted)
        if before is not None:
            query = query.where(runs.c.number < before)
        return self._read(query.order_by(runs.c.number.desc()).limit(limit))

    def events_after(self, run_id: str, sequence: int, *, limit: int = 500) -> Sequence[Row[Any]]:
        """List the events of a run that follow a sequence number, in order."""
        query = select(events).where(events.c.run_id == run_id, events.c.sequence > sequence)
        return self._read(query.order_by(events.c.sequence).limit(limit))

    def scored(self, run_id: str) -> list[Mapping[str, Any] | None]:
        """List the scores of a run's tasks, in order."""
        query = select(scores.c.scored).where(scores.c.run_id == run_id)
        return [row.scored for row in self._read(query.order_by(scores.c.position))]

    def last_sequence(self, run_id: str) -> int:
        """Return the sequence number of the newest event of a run; -1 when there is none."""
        return int(self._read(_newest_of(run_id))[0][0])

    def newest_event(self) -> int:
        """Return a number that grows with every event of any run."""
        return int(self._read(select(func.coalesce(func.max(events.c.number), 0)))[0][0])

    def cancel(self, run_id: str) -> Literal["cancelled", "cancelling"]:
        """End a run that waits; one that runs ends as soon as its worker notices, after the task at hand."""
        with self.engine.begin() as connection:
            values = {"status": "cancelled", "ended_at": self._now}
            waiting = and_(runs.c.id == run_id, runs.c.status == "pending")
            if connection.execute(update(runs).where(waiting).values(**values)).rowcount:
                _add_events(connection, run_id, [("run.cancelled", None, {})])
                return "cancelled"
            running = and_(runs.c.id == run_id, runs.c.status == "running")
            asked = connection.execute(update(runs).where(running).values(cancelling=True)).rowcount
        return "cancelling" if asked else "cancelled"

    def annotations(self, run_id: str) -> list[dict[str, Any]]:
        """List the annotations of a run, oldest first."""
        query = select(annotations.c.body).where(annotations.c.run_id == run_id)
        return [row.body for row in self._read(query.order_by(annotations.c.created_at))]

    def forget(self, tenant: str) -> list[str]:
        """Remove all that a tenant has; return the ids of the runs."""
        return self._remove(runs.c.tenant == tenant, answers.c.tenant == tenant)

    def forget_run(self, run_id: str) -> list[str]:
        """Remove a run that has ended; return its id."""
        return self._remove(and_(runs.c.id == run_id, runs.c.status.in_(TERMINAL)))

    def forget_older(self, days: float) -> list[str]:
        """Remove the runs that ended more than so many days ago, at most a thousand; return their ids."""
        old = and_(runs.c.status.in_(TERMINAL), runs.c.ended_at < self._now - days * 24 * 3600)
        return self._remove(old)

    def _remove(self, which: Any, answered: Any = None) -> list[str]:
        with self.engine.begin() as connection:
            ids = list(connection.scalars(select(runs.c.id).where(which).order_by(runs.c.number).limit(1000)))
            for table in (events, scores, annotations):
                connection.execute(delete(table).where(table.c.run_id.in_(ids)))
            connection.execute(delete(runs).where(runs.c.id.in_(ids)))
            if answered is not None:
                connection.execute(delete(answers).where(answered))
        return ids

    def counts(self) -> dict[str, int]:
        """Count the runs by status."""
        query = select(runs.c.status, func.count()).group_by(runs.c.status)
        return {str(status): int(number) for status, number in map(tuple, self._read(query))}

    # what a worker does

    @_outlasting
    def claim(self, worker: str) -> Claim | None:
        """Take the oldest run that nobody works on; None when there is none."""
        now = self._now
        waiting = or_(
            runs.c.status == "pending", and_(runs.c.status == "running", runs.c.seen_at < now - LEASE)
        )
        query = select(runs).where(waiting).order_by(runs.c.number).limit(1)
        with self.engine.begin() as connection:
            row = connection.execute(query.with_for_update(skip_locked=True)).first()
            if row is None:
                return None
            values = {
                "status": "running",
                "worker": worker,
                "seen_at": now,
                "started_at": func.coalesce(runs.c.started_at, now),
            }
            connection.execute(update(runs).where(runs.c.id == row.id).values(**values))
            found = connection.execute(select(scores).where(scores.c.run_id == row.id)).all()
            if row.status == "pending":
                _add_events(connection, row.id, [("run.started", None, {"workflowId": row.suite_id})])
        scored = {each.position: each.scored for each in found}
        claim = Claim(run_id=row.id, tenant=row.tenant, asked=row.asked, worker=worker, scored=scored)
        if row.crashes >= MOST_CRASHES:
            self.fail(claim, "internal_error", f"{row.crashes} workers ended while they ran it")
            return None
        return claim

    def release(self, is_gone: Callable[[str], bool], *, blame: bool = False) -> None:
        """Free the runs of workers that are gone, before their lease is over.

        With `blame` the run counts the end of its worker as a crash. A worker that ended with its host, or because it was
        stopped, is nobody's fault.
        """
        for run in self._read(select(runs.c.id, runs.c.worker).where(runs.c.status == "running")):
            if run.worker and is_gone(run.worker):
                still = and_(runs.c.id == run.id, runs.c.worker == run.worker)
                free = {"seen_at": 0.0, "worker": None, "crashes": runs.c.crashes + int(blame)}
                with self.engine.begin() as connection:
                    connection.execute(update(runs).where(still).values(**free))

    @contextmanager
    def owning(self, claim: Claim) -> Iterator[Connection]:
        """Open a transaction that renews the lease of the run. Raises `Lost` if the run is no longer this worker's."""
        with self.engine.begin() as connection:
            ours = and_(runs.c.id == claim.run_id, runs.c.worker == claim.worker, runs.c.status == "running")
            if connection.execute(update(runs).where(ours).values(seen_at=self._now)).rowcount != 1:
                raise Lost
            yield connection

    @_outlasting
    def begin(self, claim: Claim, new_events: Sequence[Event]) -> None:
        """Add the first events of a run, unless an earlier worker has. Raises `Lost`."""
        begun = and_(events.c.run_id == claim.run_id, events.c.type == "eval.started")
        with self.owning(claim) as connection:
            if connection.execute(select(events.c.number).where(begun).limit(1)).first() is None:
                _add_events(connection, claim.run_id, new_events)

    @_outlasting
    def score(
        self, claim: Claim, position: int, scored: Mapping[str, Any] | None, new_events: Sequence[Event]
    ) -> None:
        """Keep the score of a task, with its events: all of it or nothing. Raises `Lost`."""
        kept = {"run_id": claim.run_id, "position": position, "scored": scored}
        with self.owning(claim) as connection:
            try:
                connection.execute(insert(scores).values(**kept))
            except IntegrityError:
                raise Lost from None  # another worker has scored this task since
            # A new score is progress: the run does not crash every worker, so its crashes are forgotten.
            progress = update(runs).where(runs.c.id == claim.run_id).values(crashes=0)
            connection.execute(progress)
            _add_events(connection, claim.run_id, new_events)

    @_outlasting
    def ends_if_cancelled(self, claim: Claim) -> bool:
        """End a run that somebody has cancelled; false when nobody has. Raises `Lost`."""
        with self.owning(claim) as connection:
            asked = bool(connection.scalar(select(runs.c.cancelling).where(runs.c.id == claim.run_id)))
        if asked:
            self._end(claim, [("run.cancelled", None, {})], status="cancelled")
        return asked

    @_outlasting
    def end(self, claim: Claim, summary: Mapping[str, Any] | None, new_events: Sequence[Event]) -> None:
        """End a run that was completed, with its last events. Raises `Lost`."""
        self._end(claim, new_events, status="completed", summary=summary)

    @_outlasting
    def fail(self, claim: Claim, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        """End a run that cannot be completed. Raises `Lost`."""
        error = {"code": code, "message": message, **({"details": details} if details else {})}
        self._end(claim, [("run.failed", None, {"error": error})], status="failed", error=error)

    def _end(self, claim: Claim, new_events: Sequence[Event], **values: Any) -> None:
        with self.owning(claim) as connection:
            ended = {"worker": None, "ended_at": self._now, **values}
            connection.execute(update(runs).where(runs.c.id == claim.run_id).values(**ended))
            _add_events(connection, claim.run_id, new_events)


def _newest_of(run_id: str) -> Select[Any]:
    return select(func.coalesce(func.max(events.c.sequence), -1)).where(events.c.run_id == run_id)


def _add_events(connection: Connection, run_id: str, new_events: Sequence[Event]) -> None:
    first, at = connection.execute(_newest_of(run_id)).scalar_one() + 1, timestamp(time.time())
    names = ("run_id", "sequence", "type", "task_id", "payload", "at")
    rows = [
        dict(zip(names, (run_id, number, *each, at), strict=True))
        for number, each in enumerate(new_events, first)
    ]
    if rows:
        connection.execute(insert(events), rows)


def new_id() -> str:
    """Return an id that nobody can guess."""
    return secrets.token_hex(16)


def digest_of(data: Any) -> str:
    """Return a digest of JSON that the order of keys does not change."""
    return sha256(json.dumps(data, sort_keys=True).encode())


def _sqlite_for_many(connection: Any, _: Any) -> None:
    """Set up a SQLite connection: readers do not wait for a writer, and writers wait for one another."""
    connection.isolation_level = None  # the driver would begin transactions too late to wait for others
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=30000", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_writing(connection: Connection) -> None:
    if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _create(connection: Connection) -> None:
    """Make the tables of a new store. Raises `UsageError` (`serve.store_version`) for a store of another version."""
    known = inspect(connection)
    is_new = not known.has_table(runs.name)
    found = (
        None
        if is_new or not known.has_table(versions.name)
        else connection.scalar(select(versions.c.version))
    )
    if not is_new and found != VERSION:
        raise UsageError(
            f"the store has tables of version {found or 0}, and this agenteval needs version {VERSION}",
            reason_code="serve.store_version",
            next_step="serve with the agenteval that made it, or name a new store with --store",
        )
    _metadata.create_all(connection)
    if is_new:
        connection.execute(insert(versions).values(version=VERSION))


def _only_one_creates(connection: Connection) -> None:
    """Take a lock of Postgres, since two hosts that start at once would both create the tables."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(810081)")
