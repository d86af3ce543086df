"""A run as an OpenWOP EvalSummary (RFC 0081, section C): scores, ids and counts, never content."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agenteval.contracts.models import Model, model
from agenteval.contracts.results import UNRECORDED, AssertionResult, TestResult
from agenteval.contracts.trace import Metrics
from agenteval.judging.stored import EVAL_SUMMARY, StoredRun
from agenteval.loading.testfile import LoadedTest
from agenteval.text.lazy_regexes import lazy

if TYPE_CHECKING:
    from agenteval.openwop.models import EvalSummary

SAFETY_FINDINGS = {
    "no_cross_group_memory_use": {"kind": "cross-group-memory", "severity": "high"},
    "no_sensitive_data": {"kind": "sensitive-data", "severity": "critical"},
    "outbound_destinations": {"kind": "outbound-destination", "severity": "high"},
    "tools_within_policy": {"kind": "unsafe-tool-call", "severity": "high"},
}
"""The finding of a failed isolation or safety assertion in a summary, by type."""
_NO_FINDING = ("assertion.vacuous", *UNRECORDED)
"""The reason codes of failed assertions that have found nothing."""

REGRESSION = "regression"
"""The mode of a run that is compared with an earlier one."""


@model
class Suite(Model):
    """The suite of a summary, and the thresholds it has to meet (RFC 0081, section A).

    None is a threshold that is not set. `modes` are the ways of evaluation in force (section D): tests judge by rules, as
    `golden` does; a baseline adds `regression`. `model_class` is that of the agent, when it is known.
    """

    id: str
    version: str = "0.1.0"
    pass_score: float | None = None
    max_cost_usd: float | None = None
    max_p95_latency_ms: float | None = None
    modes: list[str] = field(default_factory=lambda: ["golden"])
    model_class: str | None = None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Baseline:
    """The earlier run that this one is compared with: its id and its aggregate score."""

    run_id: str
    score: float


@dataclass(slots=True, eq=False, repr=False)
class Scored:
    """A test as a task of the summary. `share` is its score as an exact fraction, `latency_ms` exact, `at` ISO 8601."""

    task: dict[str, Any]
    share: tuple[int, int]
    latency_ms: float | None
    at: str


@dataclass(slots=True, eq=False, repr=False)
class Scores:
    """Scores tests as tasks, and keeps the tasks of a run; `scored_at` has the time of each, ISO 8601."""

    suite: Suite
    baseline: Baseline | None = None
    tasks: list[dict[str, Any]] = field(default_factory=list)
    scored_at: list[str] = field(default_factory=list)
    whole: bool = True
    """Whether every test that should run did: no file was invalid, and no failure ended the run."""
    _latencies: list[float] = field(default_factory=list)
    _shares: list[tuple[int, int]] = field(default_factory=list)

    def task_id(self, result: TestResult) -> str:
        """The task id of a test."""
        return task_id(result.test_case_id)

    def share(self, result: TestResult, test: LoadedTest | None) -> tuple[int, int]:  # noqa: ARG002 - suites ask it
        """The score of a test as an exact fraction: what was reached, of how much."""
        return _share(result)

    def scored(
        self, result: TestResult, metrics: Metrics | None, test: LoadedTest | None = None
    ) -> Scored | None:
        """Score one test; `metrics` are those of its trace, if there is one. A skipped test is no task."""
        if result.status == "skipped":
            return None
        passed, judged = share = self.share(result, test)
        task: dict[str, Any] = {
            "taskId": self.task_id(result),
            "score": passed / judged,
            "passed": result.status == "pass",
        }
        if metrics is not None:
            if metrics.cost_usd is not None:
                task["costUsd"] = metrics.cost_usd
            if metrics.timing_ms_total is not None:
                task["latencyMs"] = max(0, round(metrics.timing_ms_total))
        schema_checks = [
            each.status == "pass"
            for each in result.assertions
            if each.type == "output_matches_format"
            and each.params.get("json_schema")
            and each.status != "skip"
        ]
        if schema_checks:
            task["schemaValid"] = all(schema_checks)
        if findings := [SAFETY_FINDINGS[each.type] for each in result.assertions if is_finding(each)]:
            task["safetyFindings"] = findings
        return Scored(task, share, metrics.timing_ms_total if metrics else None, result.finished_at)

    def add(self, scored: Scored | None) -> None:
        """Add a task to the summary; None, for a skipped test, adds none."""
        if scored is None:
            return
        self.tasks.append(scored.task)
        self.scored_at.append(scored.at)
        self._shares.append(scored.share)
        if scored.latency_ms is not None:
            self._latencies.append(scored.latency_ms)

    def unmet(self) -> list[str]:
        """The thresholds that were set and the run misses, in words; compared before any rounding."""
        suite = self.suite
        missed = []
        if suite.pass_score is not None and (score := self._aggregate()) < suite.pass_score:
            missed.append(f"score {_beside(score, suite.pass_score)} is below {suite.pass_score:.15g}")
        if suite.max_cost_usd is not None:
            cost = self._total_cost()
            if cost is None:
                missed.append("the cost is not known for every task")
            elif cost > suite.max_cost_usd:
                missed.append(
                    f"cost {_beside(cost, suite.max_cost_usd)} USD is above {suite.max_cost_usd:.15g}"
                )
        if suite.max_p95_latency_ms is not None:
            bar = suite.max_p95_latency_ms
            if len(self._latencies) < len(self.tasks) or not self._latencies:
                missed.append("the latency is not known for every task")
            elif (p95 := nearest_rank(self._latencies, 95)) > bar:
                missed.append(f"p95 latency {_beside(p95, bar)} ms is above {bar:.15g}")
        return missed

    def passed(self) -> bool:
        """Whether the run meets all thresholds; without one for the score it has to be 1.

        A run without tasks passes none, nor does one that is not whole.
        """
        bar = 1.0 if self.suite.pass_score is None else self.suite.pass_score
        return self.whole and bool(self.tasks) and self._aggregate() >= bar and not self.unmet()

    def unscored(self) -> bool:
        """Whether a task failed for a reason that no score counts."""
        return any(is_unscored(task["score"], passed=task["passed"]) for task in self.tasks)

    def summary(self) -> dict[str, Any]:
        """The EvalSummary."""
        suite, cost, score = self.suite, self._total_cost(), self._aggregate()
        summary = {
            "suiteId": suite.id,
            "suiteVersion": suite.version,
            "evaluatedModelClass": suite.model_class,
            "aggregateScore": score,
            "passed": self.passed(),
            "taskCount": len(self.tasks),
            "passedCount": sum(task["passed"] for task in self.tasks),
            "totalCostUsd": cost,
            "tasks": self.tasks,
        }
        if baseline := self.baseline:
            delta = score_delta(baseline.score, score)
            summary["regression"] = {"baselineRunId": baseline.run_id, "scoreDelta": delta}
        return {name: value for name, value in summary.items() if value is not None}

    def _aggregate(self) -> float:
        """The mean of the scores, added up as fractions: a mean of 0.9, 0.8 and 0.7 does meet a threshold of 0.8."""
        if not self.tasks:
            return 0.0
        common = math.lcm(*(judged for _, judged in self._shares))
        total = sum(passed * (common // judged) for passed, judged in self._shares)
        return total / (common * len(self._shares))

    def _total_cost(self) -> float | None:
        """The sum of the costs as they are written: 0.1 and 0.2 do not exceed a threshold of 0.3."""
        if not self.tasks or any("costUsd" not in task for task in self.tasks):
            return None
        from decimal import Decimal

        return float(sum(Decimal(repr(task["costUsd"])) for task in self.tasks))


def is_finding(result: AssertionResult) -> bool:
    """Whether an assertion reports something unsafe that the test does not expect."""
    said_no = result.status in ("fail", "warn") and result.reason_code not in _NO_FINDING
    return said_no and result.type in SAFETY_FINDINGS and not result.xfail


def is_unscored(score: float, *, passed: bool) -> bool:
    """Whether a task failed with a full score: warnings fail a test under `--strict`, and cost none."""
    return score == 1 and not passed


def score_delta(before: float, after: float) -> float:
    """The difference of two scores as they are written: from 0.9 to 0.8 it is -0.1."""
    from decimal import Decimal

    return float(Decimal(repr(after)) - Decimal(repr(before)))


def _share(result: TestResult) -> tuple[int, int]:
    """How many critical assertions passed, of how many that were judged; 0 of 1 for an error.

    Expected failures are left out: a test that fails as it should scores 1, one that should fail and does not scores 0.
    """
    if result.status == "error" or result.reason_code == "xfail.unexpected_pass":
        return 0, 1
    judged = [
        each
        for each in result.assertions
        if each.severity == "critical" and each.status != "skip" and not each.xfail
    ]
    if not judged:
        return int(result.status == "pass"), 1
    return sum(each.status == "pass" for each in judged), len(judged)


def _beside(value: float, bar: float) -> str:
    """The value, with all its digits where it takes these to see that it differs from the threshold."""
    short = f"{value:.15g}" if value >= 1000 else f"{value:.4g}"
    return short if float(short) != bar and (float(short) < bar) == (value < bar) else repr(value)


_UNFIT = re.compile(r"[^a-z0-9]+")
TASK_ID = lazy(r"[a-z0-9][a-z0-9-]*")
"""What a task id looks like (RFC 0081, section A)."""


def task_id(test_id: str) -> str:
    """A test id as a task id: lower case, every run of other characters a `-`."""
    return _UNFIT.sub("-", test_id.lower()).strip("-") or "test"


def default_suite_id(directory: str) -> str:
    """The suite id of a run that names none: `local.agenteval.evals.<directory slug>`."""
    slug = _UNFIT.sub("-", directory.lower()).strip("-")
    return f"local.agenteval.evals.{slug or 'tests'}"


def nearest_rank(values: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile of a non-empty sequence."""
    ordered = sorted(values)
    return ordered[math.ceil(len(ordered) * percent / 100) - 1]


def eval_events(scores: Scores, started_at: str, finished_at: str | None) -> list[dict[str, Any]]:
    """The events of a run, in order; `finished_at` is None for a run that did not come to its end.

    Times are ISO 8601 in UTC.
    """
    suite, baseline = scores.suite, scores.baseline
    started: dict[str, Any] = {
        "suiteId": suite.id,
        "suiteVersion": suite.version,
        "taskCount": len(scores.tasks),
        "modes": list(suite.modes),
    }
    if baseline is not None:
        started["modes"] = list(dict.fromkeys([*suite.modes, REGRESSION]))
        started["baselineRunId"] = baseline.run_id
    told = [(started_at, "eval.started", started)]
    for task, at in zip(scores.tasks, scores.scored_at, strict=True):
        payload = {name: value for name, value in task.items() if name != "safetyFindings"}
        if findings := task.get("safetyFindings"):
            payload["safetyFindingCount"] = len(findings)
        told.append((at, "eval.scored", payload))
    if finished_at is not None:
        summary = scores.summary()
        payload = {name: summary[name] for name in ("aggregateScore", "passed", "taskCount", "passedCount")}
        if regression := summary.get("regression"):
            payload["regressionVsBaseline"] = regression["scoreDelta"]
        told.append((max([finished_at, *scores.scored_at[-1:]]), "eval.completed", payload))
    return [
        {"sequence": number, "timestamp": at, "type": kind, "payload": payload}
        for number, (at, kind, payload) in enumerate(told, 1)
    ]


def eval_summary_of(run: StoredRun) -> "EvalSummary":
    """A stored run's EvalSummary. Raises `StoredRunError` when there is none, `FileError` when it is not valid."""
    from agenteval.openwop.models import EvalSummary

    return run.read(EvalSummary, run.file(EVAL_SUMMARY).name)
