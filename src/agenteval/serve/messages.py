"""The bodies of requests and answers (RFC 0081; OpenWOP 1.1 and 2.46), as pydantic models. The OpenAPI document is made of them."""

import math
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    WithJsonSchema,
)

MOST_LEVELS = 32
"""The levels of nested values in the metadata of a run."""


def _storable(value: Any) -> Any:
    """Refuse what a store or an answer cannot hold: NaN, lone surrogates, NUL, very deep nesting, very long numbers."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        part, level = waiting.pop()
        if isinstance(part, str) and not _is_text(part):
            raise ValueError("a text has a NUL or half of a surrogate pair")
        if isinstance(part, float) and not math.isfinite(part):
            raise ValueError("a number is not finite")
        if isinstance(part, int) and abs(part) >= 2**63:
            raise ValueError("a whole number has more than 63 bits")
        if level > MOST_LEVELS:
            raise ValueError(f"values are nested more than {MOST_LEVELS} levels deep")
        parts = [*part, *part.values()] if isinstance(part, dict) else part if isinstance(part, list) else ()
        waiting += [(each, level + 1) for each in parts]
    return value


def _is_text(text: str) -> bool:
    return not any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in text)


Name = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\x00-\x1f\x7f]*$")]
Mode = Literal["golden", "rubric", "adversarial", "regression", "live-shadow"]
Status = Literal["pending", "running", "completed", "failed", "cancelled"]
Scalar = Annotated[str, StringConstraints(max_length=2000, pattern=r"^[^\x00]*$")] | int | float | bool | None
Tag = Annotated[str, StringConstraints(min_length=1, max_length=256), AfterValidator(_storable)]
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_storable)]
"""Whatever a client wants to have back with its run."""

_TEXT = WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 300})


class Closed(BaseModel):
    """A body without other keys."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Options(Closed):
    """Options of a run; the modes stand here in version 1 alone, and version 2 requires `version`."""

    version: Annotated[int, Field(ge=1, le=1)] | None = None
    evalModes: list[Mode] | None = None


class CreateRun(Closed):
    """A request for an evaluation.

    Another mode, and a `workflowId`, are read, and refused as not offered; they are not described.
    """

    model_config = ConfigDict(json_schema_extra={"required": ["mode", "evalSuiteRef", "agentId"]})

    mode: Annotated[str | None, WithJsonSchema({"type": "string", "const": "eval"})] = None
    evalSuiteRef: Annotated[Name | None, _TEXT] = None
    agentId: Annotated[Name | None, _TEXT] = None
    evalModes: Annotated[list[Mode], Field(min_length=1)] | None = None
    baselineRunId: Name | None = None
    workflowId: Annotated[Name | None, WithJsonSchema({"not": {}})] = None
    inputs: Annotated[dict[str, Any] | None, WithJsonSchema({"not": {}})] = None
    configurable: Options | None = None
    tags: Annotated[list[Tag], Field(max_length=100)] | None = None
    metadata: Metadata | None = None


class SeamRun(Closed):
    """A run that a conformance scenario asks for; what is not named, the host chooses."""

    mode: Literal["eval"] | None = None
    modes: Annotated[list[Mode], Field(min_length=1)] | None = None
    evalSuiteRef: Name | None = None
    agentId: Name | None = None
    taskCount: Annotated[int, Field(ge=1)] | None = None


class EventFilter(Closed):
    """Values that an event of the answer has."""

    type: str | None = None
    nodeId: str | None = None
    correlationId: str | None = None
    causationId: str | None = None


class CancelRun(Closed):
    """A wish to end a run; the reason is not kept."""

    reason: Annotated[str, StringConstraints(max_length=2000)] | None = None


class RunCancelled(BaseModel):
    """The run and its state: `cancelling` until its worker has noticed."""

    runId: str
    status: Literal["cancelled", "cancelling"]


class Health(BaseModel):
    """The state of the host: `ok`, or `degraded` when the store is away or a worker is missing."""

    status: Literal["ok", "degraded"]
    store: Literal["ok", "away"]
    workers: int
    workersWanted: int


class RunCreated(BaseModel):
    """A run that was accepted, with the addresses of its status and its events."""

    runId: str
    status: Status
    eventsUrl: str
    statusUrl: str


class RunError(BaseModel):
    """The reason why a run failed; `details.tasks` has the reason code of each task that could not be judged."""

    code: str
    message: str
    details: dict[str, Any] | None = None


class RunSnapshot(BaseModel):
    """A run as it is now."""

    runId: str
    workflowId: str
    status: Status
    owner: dict[str, Any]
    eventLogSchemaVersion: int
    createdAt: str
    startedAt: str | None = None
    completedAt: str | None = None
    error: RunError | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None


class RunPage(BaseModel):
    """Runs, newest first; `nextCursor` when there are more."""

    runs: list[RunSnapshot]
    nextCursor: str | None = None


class RunEvent(BaseModel):
    """Something that happened in a run; `nodeId` is the task it happened in."""

    eventId: str
    runId: str
    type: str
    payload: dict[str, Any]
    timestamp: str
    sequence: int
    schemaVersion: int
    nodeId: str | None = None


class EventPage(BaseModel):
    """The events after a sequence number. Version 1 has `isComplete`, version 2 all else."""

    events: list[RunEvent]
    lastSequence: int
    isComplete: bool | None = None
    runId: str | None = None
    status: Status | None = None
    isTerminal: bool | None = None


class RunDifference(BaseModel):
    """The differences between two runs, times and ids aside; `divergedAtSeq` is null when there are none."""

    a: str
    b: str
    divergedAtSeq: int | None
    eventDiffs: list[dict[str, Any]]
    stateDiff: dict[str, Any]
    truncated: bool


class Target(Closed):
    """The run, or the event of it, that an annotation is about."""

    eventId: Name | None = None
    runId: Name | None = None


class Signal(BaseModel):
    """A person's judgement: a rating, a correction, a label, or a flag."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Scalar]
    kind: Literal["rating", "correction", "label", "flag"]


class CreateAnnotation(Closed):
    """A person's annotation of a run; it changes no score."""

    signal: Signal
    target: Target | None = None
    note: Annotated[str, StringConstraints(max_length=4000, pattern=r"^[^\x00]*$")] | None = None


class Annotation(BaseModel):
    """A stored annotation."""

    annotationId: str
    target: dict[str, str]
    signal: dict[str, Any]
    actor: dict[str, str]
    createdAt: str
    note: str | None = None


class ErrorBody(BaseModel):
    """An answer that is an error."""

    error: str
    message: str
    details: dict[str, Any] | None = None
