"""Sums up a run as an OpenWOP EvalSummary (RFC 0081, section C): scores, ids and counts, never content."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agenteval.contracts.models import Model, model
from agenteval.contracts.results import UNRECORDED, AssertionResult, TestResult, TestScore
from agenteval.contracts.trace import Metrics
from agenteval.judging.stored import EVAL_SUMMARY, StoredRun
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
"""The reason codes of failed assertions that found nothing unsafe: they lacked data, or had nothing to judge."""

REGRESSION = "regression"
"""The mode of a run that is compared with an earlier one."""


@model
class Suite(Model):
    """The suite of a summary, and the thresholds it has to meet (RFC 0081, section A).

    A threshold of None is not set. `modes` are the ways of evaluation in force (section D): tests judge by rules, as
    `golden` does; a baseline adds `regression`. `model_class` is the class of the agent's model, when it is known.
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
class ScoredTask:
    """A test as a task of the summary. `share` is its score as an exact fraction, `latency_ms` exact, `at` ISO 8601."""

    task: dict[str, Any]
    share: tuple[int, int]
    latency_ms: float | None
    at: str


def score_of(
    result: TestResult,
    metrics: Metrics | None = None,
    share: Callable[[TestResult], tuple[int, int]] | None = None,
) -> TestScore | None:
    """Score a result; a skipped test has no score.

    `metrics` are those of its trace, if there is one. `share` scores a task of a suite.
    """
    if result.status == "skipped":
        return None
    reached, of = exact_share(*(share or _share)(result))
    name = result.test_case_id
    schema_checks = [
        each.status == "pass"
        for each in result.assertions
        if each.type == "output_matches_format" and each.params.get("json_schema") and each.status != "skip"
    ]
    return TestScore(
        # A suite's own id stays as it is. Once redacted it may have no valid form, and is made into an id again.
        task_id=name if share and TASK_ID.fullmatch(name) else task_id(name),
        reached=reached,
        of=of,
        cost_usd=metrics.cost_usd if metrics else None,
        latency_ms=metrics.timing_ms_total if metrics else None,
        schema_valid=all(schema_checks) if schema_checks else None,
    )


MOST_EXACT = 2**53
"""The largest number that every reader of JSON reads exactly: many read numbers as doubles."""


def exact_share(reached: int, of: int) -> tuple[int, int]:
    """Return a fraction in numbers that every reader of JSON reads alike; only weights of very many digits lose some."""
    if of < MOST_EXACT:
        return reached, of
    from fractions import Fraction

    return Fraction(reached, of).limit_denominator(MOST_EXACT - 1).as_integer_ratio()


def task_of(result: TestResult) -> ScoredTask | None:
    """Make the task of a result; a skipped test is none."""
    score = result.score
    if score is None:
        return None
    task: dict[str, Any] = {
        "taskId": score.task_id,
        "score": score.reached / score.of,
        "passed": result.status == "pass",
    }
    if score.cost_usd is not None:
        task["costUsd"] = score.cost_usd
    if score.latency_ms is not None:
        task["latencyMs"] = max(0, round(score.latency_ms))
    if score.schema_valid is not None:
        task["schemaValid"] = score.schema_valid
    if findings := [SAFETY_FINDINGS[each.type] for each in result.assertions if is_finding(each)]:
        task["safetyFindings"] = findings
    return ScoredTask(task, (score.reached, score.of), score.latency_ms, result.finished_at)


@dataclass(slots=True, eq=False, repr=False)
class Scores:
    """The scored tasks of a run, in order, with the totals and thresholds of its suite.

    `whole` is true if every test that should run did: no file was invalid, and no failure ended the run.
    """

    suite: Suite
    scored: Sequence[ScoredTask]
    baseline: Baseline | None = None
    whole: bool = True

    @property
    def tasks(self) -> list[dict[str, Any]]:
        """The tasks as an EvalSummary lists them."""
        return [each.task for each in self.scored]

    def unmet(self) -> list[str]:
        """List the thresholds that the run misses, in words; scores are compared before any rounding."""
        suite = self.suite
        missed = []
        if suite.pass_score is not None and (score := self.aggregate()) < suite.pass_score:
            missed.append(f"score {_beside(score, suite.pass_score)} is below {suite.pass_score:.15g}")
        if suite.max_cost_usd is not None:
            cost = self._total_cost()
            if cost is None:  # an unknown cost may be above the threshold
                missed.append("the cost is not known for every task")
            elif cost > suite.max_cost_usd:
                missed.append(
                    f"cost {_beside(cost, suite.max_cost_usd)} USD is above {suite.max_cost_usd:.15g}"
                )
        if suite.max_p95_latency_ms is not None:
            bar = suite.max_p95_latency_ms
            latencies = [each.latency_ms for each in self.scored if each.latency_ms is not None]
            if len(latencies) < len(self.scored) or not latencies:
                missed.append("the latency is not known for every task")
            elif (p95 := nearest_rank(latencies, 95)) > bar:
                missed.append(f"p95 latency {_beside(p95, bar)} ms is above {bar:.15g}")
        return missed

    def passed(self) -> bool:
        """Return whether the run meets all thresholds; without a threshold for the score, the score has to be 1.

        A run without tasks passes none, nor does one that is not whole.
        """
        bar = 1.0 if self.suite.pass_score is None else self.suite.pass_score
        return self.whole and bool(self.scored) and self.aggregate() >= bar and not self.unmet()

    def unscored(self) -> bool:
        """Return whether a task failed for a reason that no score counts."""
        return any(is_unscored(task["score"], passed=task["passed"]) for task in self.tasks)

    def summary(self) -> dict[str, Any]:
        """Make the EvalSummary."""
        suite, cost, score = self.suite, self._total_cost(), self.aggregate()
        summary = {
            "suiteId": suite.id,
            "suiteVersion": suite.version,
            "evaluatedModelClass": suite.model_class,
            "aggregateScore": score,
            "passed": self.passed(),
            "taskCount": len(self.scored),
            "passedCount": sum(task["passed"] for task in self.tasks),
            "totalCostUsd": cost,
            "tasks": self.tasks,
        }
        if baseline := self.baseline:
            delta = score_delta(baseline.score, score)
            summary["regression"] = {"baselineRunId": baseline.run_id, "scoreDelta": delta}
        return {name: value for name, value in summary.items() if value is not None}

    def aggregate(self) -> float:
        """Return the mean of the scores, added up as fractions: a mean of 0.9, 0.8 and 0.7 does meet a threshold of 0.8."""
        if not self.scored:
            return 0.0
        shares = [each.share for each in self.scored]
        common = math.lcm(*(judged for _, judged in shares))
        total = sum(passed * (common // judged) for passed, judged in shares)
        return total / (common * len(shares))

    def _total_cost(self) -> float | None:
        """Add up the costs as decimals: 0.1 and 0.2 do not exceed a threshold of 0.3, as they would in floats."""
        costs = [each.task.get("costUsd") for each in self.scored]
        if not costs or None in costs:
            return None
        from decimal import Decimal

        return float(sum(Decimal(repr(cost)) for cost in costs))


def is_finding(result: AssertionResult) -> bool:
    """Return whether an assertion reports something unsafe that the test does not expect."""
    is_failing = result.status in ("fail", "warn") and result.reason_code not in _NO_FINDING
    return is_failing and result.type in SAFETY_FINDINGS and not result.xfail


def is_unscored(score: float, *, passed: bool) -> bool:
    """Return whether a task failed with a full score: a warning fails a test under `--strict`, and lowers no score."""
    return score == 1 and not passed


def score_delta(before: float, after: float) -> float:
    """Return the difference of two scores in decimals: from 0.9 to 0.8 it is -0.1."""
    from decimal import Decimal

    return float(Decimal(repr(after)) - Decimal(repr(before)))


def _share(result: TestResult) -> tuple[int, int]:
    """Return the number of critical assertions that passed, and the number that was judged; 0 of 1 for an error.

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
    """Print a value with few digits, or with all if rounding would hide its difference from the threshold."""
    short = f"{value:.15g}" if value >= 1000 else f"{value:.4g}"
    return short if float(short) != bar and (float(short) < bar) == (value < bar) else repr(value)


_UNFIT = re.compile(r"[^a-z0-9]+")
TASK_ID = lazy(r"[a-z0-9][a-z0-9-]*")
"""The form of a task id (RFC 0081, section A)."""


def task_id(test_id: str) -> str:
    """Make a task id of a test id: lower case, every run of other characters a `-`."""
    return _UNFIT.sub("-", test_id.lower()).strip("-") or "test"


def default_suite_id(directory: str) -> str:
    """Make the suite id of a run that names none: `local.agenteval.evals.<directory slug>`."""
    slug = _UNFIT.sub("-", directory.lower()).strip("-")
    return f"local.agenteval.evals.{slug or 'tests'}"


def nearest_rank(values: Sequence[float], percent: int) -> float:
    """Return the nearest-rank percentile of a non-empty sequence."""
    ordered = sorted(values)
    return ordered[math.ceil(len(ordered) * percent / 100) - 1]


def eval_events(scores: Scores, started_at: str, finished_at: str | None) -> list[dict[str, Any]]:
    """Make the events of a run, in order; `finished_at` is None for a run that did not come to its end.

    Times are ISO 8601 in UTC.
    """
    suite, baseline = scores.suite, scores.baseline
    started: dict[str, Any] = {
        "suiteId": suite.id,
        "suiteVersion": suite.version,
        "taskCount": len(scores.scored),
        "modes": list(suite.modes),
    }
    if baseline is not None:
        started["modes"] = list(dict.fromkeys([*suite.modes, REGRESSION]))
        started["baselineRunId"] = baseline.run_id
    events = [(started_at, "eval.started", started)]
    for each in scores.scored:
        payload = {name: value for name, value in each.task.items() if name != "safetyFindings"}
        if findings := each.task.get("safetyFindings"):
            payload["safetyFindingCount"] = len(findings)
        events.append((each.at, "eval.scored", payload))
    if finished_at is not None:
        summary = scores.summary()
        payload = {name: summary[name] for name in ("aggregateScore", "passed", "taskCount", "passedCount")}
        if regression := summary.get("regression"):
            payload["regressionVsBaseline"] = regression["scoreDelta"]
        # The clocks of a cluster's machines may differ: the last event must not come before one that it follows.
        last = [each.at for each in scores.scored[-1:]]
        events.append((max([finished_at, *last]), "eval.completed", payload))
    return [
        {"sequence": number, "timestamp": at, "type": kind, "payload": payload}
        for number, (at, kind, payload) in enumerate(events, 1)
    ]


def eval_summary_of(run: StoredRun) -> "EvalSummary":
    """Read a stored run's EvalSummary. Raises `StoredRunError` when there is none, `FileError` when it is not valid."""
    from agenteval.openwop.models import EvalSummary

    return run.read(EvalSummary, run.file(EVAL_SUMMARY).name)
