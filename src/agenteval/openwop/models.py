"""The formats of OpenWOP agent evaluation (RFC 0081), as strict models: an AgentEvalSuite, an EvalSummary, an event.

They accept and refuse the same data as the RFC's own schemas, and their names are the RFC's. Rules beyond the shape of a
suite are in `suite.py`. Fields that two models share are written in both: pydantic finds no descriptions of inherited fields.
"""

from typing import Annotated, Any, ClassVar, Literal

from agenteval.contracts.models import (
    Between,
    IntegerValued,
    Matching,
    Model,
    NotEmpty,
    NotNull,
    Unique,
    model,
)
from agenteval.loading.config import SuiteId, Version

EvalMode = Literal["golden", "rubric", "adversarial", "regression", "live-shadow"]
ModelClass = Literal["reasoning", "writing", "coding", "research", "classification", "general"]
Strategy = Literal["exact", "contains", "json-match"]
Severity = Literal["low", "medium", "high", "critical"]

TaskId = Annotated[str, Matching(r"[a-z0-9][a-z0-9-]*")]
Text = Annotated[str, NotEmpty()]
Score = Annotated[float, Between(0, 1)]
Dollars = Annotated[float, Between(0)]
Count = Annotated[float, IntegerValued(0)]


class Closed(Model):
    """Base of models that another document defines: no keys beyond its own, and null is not the same as absent."""

    __slots__ = ()
    extensible: ClassVar[bool] = False


@model
class Thresholds(Closed):
    """The thresholds of a suite."""

    passScore: Annotated[Score | None, NotNull()] = None
    """The minimum aggregate score, from 0 to 1; also the minimum score of each rubric task. 1 when left out."""
    maxCostUsd: Annotated[Dollars | None, NotNull()] = None
    """The maximum cost of all tasks together, in US dollars."""
    maxP95LatencyMs: Annotated[Count | None, NotNull()] = None
    """The maximum latency of a task at the 95th percentile (nearest rank), in milliseconds."""


@model
class Match(Closed):
    """The output that a golden task requires."""

    strategy: Strategy
    """`exact`: the output is the value; `contains`: the value is in it; `json-match`: it is JSON that equals the value."""
    value: Any
    """The value: a text, or any JSON."""


@model
class Criterion(Closed):
    """One thing that a judge looks for in the output."""

    criterion: Text
    """The criterion, in words."""
    weight: Score
    """Its part of the score, from 0 to 1."""


@model
class Expectation(Closed):
    """The way a task is scored."""

    kind: Literal["golden", "rubric"]
    """`golden`: by comparing the output with `match`; `rubric`: by a judge, criterion by criterion."""
    match: Annotated[Match | None, NotNull()] = None
    """The required output of a golden task."""
    rubric: Annotated[Annotated[list[Criterion], NotEmpty()] | None, NotNull()] = None
    """The criteria of a rubric task."""


@model
class ToolResponse(Closed):
    """The answer that a tool gives instead of its real one."""

    tool: Text
    """The tool, `<scope>:<tool-id>` or the id alone."""
    response: Any = None
    """The answer, any JSON."""


@model
class Fixtures(Closed):
    """The substitutes for tools and memory that make a task repeatable."""

    toolResponses: Annotated[list[ToolResponse] | None, NotNull()] = None
    """The answers of tools, those of one tool in the order of its calls."""
    memorySeed: Annotated[list[dict[str, Any]] | None, NotNull()] = None
    """The agent's memory at the start."""


@model
class Task(Closed):
    """One task of a suite."""

    taskId: TaskId
    """The task's id, unique in the suite."""
    input: Any
    """The input of the agent."""
    expected: Expectation
    """The way the task is scored."""
    fixtures: Annotated[Fixtures | None, NotNull()] = None
    """The substitutes for tools and memory."""


@model
class AgentEvalSuite(Closed):
    """A portable evaluation suite of an agent (RFC 0081, section A)."""

    suiteId: SuiteId
    """The suite's id, `<scope>.<org>.evals.<name>`."""
    version: Version
    """The suite's version, x.y.z."""
    modes: Annotated[list[EvalMode], NotEmpty(), Unique()]
    """The ways of evaluation that the suite is for."""
    tasks: Annotated[list[Task], NotEmpty()]
    """The tasks."""
    targetAgentId: Annotated[Text | None, NotNull()] = None
    """The agent that the suite is for; any, when left out."""
    allowedModels: Annotated[Annotated[list[ModelClass], Unique()] | None, NotNull()] = None
    """The model classes that the suite is valid for; all, when left out."""
    thresholds: Annotated[Thresholds | None, NotNull()] = None
    """The thresholds that a run has to meet."""


@model
class SafetyFinding(Closed):
    """An unsafe act of the agent: its kind and severity, no content."""

    kind: Text
    """A category, such as `sensitive-data`."""
    severity: Severity
    """The severity."""


@model
class TaskScore(Closed):
    """The result of one task."""

    taskId: TaskId
    """The task."""
    score: Score
    """The score, from 0 to 1."""
    passed: bool
    """True if the task met its threshold."""
    costUsd: Annotated[Dollars | None, NotNull()] = None
    """The cost in US dollars; absent when the recording lacks it."""
    latencyMs: Annotated[Count | None, NotNull()] = None
    """The duration in milliseconds."""
    schemaValid: Annotated[bool | None, NotNull()] = None
    """True if the output is valid by its JSON Schema; absent when it has none."""
    safetyFindings: Annotated[list[SafetyFinding] | None, NotNull()] = None
    """The unsafe acts."""


@model
class Regression(Closed):
    """The comparison with an earlier run."""

    baselineRunId: Text
    """The earlier run."""
    scoreDelta: Annotated[float, Between(-1, 1)]
    """The change of the aggregate score since the earlier run."""
    diffRef: Annotated[str | None, NotNull()] = None
    """The address of the structural difference."""


@model
class EvalSummary(Closed):
    """The scorecard of a run (RFC 0081, section C)."""

    suiteId: SuiteId
    """The suite."""
    suiteVersion: Version
    """Its version."""
    aggregateScore: Score
    """The mean of the tasks' scores."""
    passed: bool
    """True if the run met every threshold."""
    taskCount: Count
    """The number of tasks that were run."""
    passedCount: Count
    """The number of tasks that passed."""
    tasks: list[TaskScore]
    """The tasks, in order."""
    evaluatedModelClass: Annotated[ModelClass | None, NotNull()] = None
    """The class of the agent's model, when it is known."""
    totalCostUsd: Annotated[Dollars | None, NotNull()] = None
    """The cost of all tasks together; absent when the cost of one is not known."""
    regression: Annotated[Regression | None, NotNull()] = None
    """The comparison with an earlier run, when there is one."""


@model
class Started(Closed):
    """The payload of `eval.started`."""

    suiteId: SuiteId
    """The suite."""
    suiteVersion: Version
    """Its version."""
    taskCount: Count
    """The number of tasks; of an interrupted run, the number of scored tasks."""
    modes: Annotated[list[EvalMode], NotEmpty(), Unique()]
    """The ways of evaluation in force."""
    baselineRunId: Annotated[Text | None, NotNull()] = None
    """The earlier run that this one is compared with."""


@model
class Scored(Closed):
    """The payload of `eval.scored`: one task."""

    taskId: TaskId
    """The task."""
    score: Score
    """The score, from 0 to 1."""
    passed: bool
    """True if the task met its threshold."""
    costUsd: Annotated[Dollars | None, NotNull()] = None
    """The cost in US dollars."""
    latencyMs: Annotated[Count | None, NotNull()] = None
    """The duration in milliseconds."""
    schemaValid: Annotated[bool | None, NotNull()] = None
    """True if the output is valid by its JSON Schema."""
    safetyFindingCount: Annotated[Count | None, NotNull()] = None
    """The number of unsafe acts."""


@model
class Completed(Closed):
    """The payload of `eval.completed`: the whole run."""

    aggregateScore: Score
    """The mean of the tasks' scores."""
    passed: bool
    """True if the run met every threshold."""
    taskCount: Count
    """The number of tasks that were run."""
    passedCount: Count
    """The number of tasks that passed."""
    regressionVsBaseline: Annotated[Annotated[float, Between(-1, 1)] | None, NotNull()] = None
    """The change of the aggregate score since the earlier run."""


@model
class EvalEvent(Closed):
    """One line of a run's events."""

    sequence: Annotated[int, Between(1)]
    """The number of the event, from 1, without gaps."""
    timestamp: Text
    """The time, ISO 8601 in UTC."""
    type: Literal["eval.started", "eval.scored", "eval.completed"]
    """The type of the event."""
    payload: Started | Scored | Completed
    """The payload: about the suite, a task, or the whole run."""
