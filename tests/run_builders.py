"""Builders of what a run handles: loaded tests, adapters that answer with a given trace, results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Assertion, Category, Verdict
from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import Problem
from agenteval.contracts.models import model, parse
from agenteval.contracts.results import (
    Artifacts,
    AssertionResult,
    AssertionStatus,
    CapabilityCheck,
    Counts,
    Coverage,
    Evidence,
    RunSummary,
    TestResult,
    TraceSummary,
)
from agenteval.contracts.testcase import AssertionSpec, TestCase
from agenteval.contracts.trace import AdapterInfo, Metrics, Trace
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.judging.verdicts import JudgingRules
from agenteval.loading.testfile import BoundAssertion, LoadedTest
from agenteval.openwop.summary import Suite, score_of
from agenteval.plugins.registry import Registry
from agenteval.records.record import complete, record_of
from agenteval.records.summary import RunSettings, RunTotals, summarise
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.artifacts import RunDirectory, packed
from builders import make_case, make_trace

SPEC_PATH = Path("suite/case/test.yaml")
Judge = Callable[[Trace, TestCase], Verdict]


@model
class Told(Assertion):
    """A check that does what the test at hand tells it to."""

    type: ClassVar[str] = "told"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "did not do as told"


def told(
    judge: Judge, name: str = "told-1", *, requires: Sequence[str] = (), **envelope: Any
) -> BoundAssertion:
    """An assertion whose check is a function."""

    class Now(Told):
        def check(self, trace: Trace, case: TestCase) -> Verdict:
            return judge(trace, case)

    spec = parse(AssertionSpec, {"id": name, "type": "told", **envelope})
    return BoundAssertion(spec=spec, check=Now(), requires=tuple(requires))


def says(verdict: Verdict, name: str = "told-1", **envelope: Any) -> BoundAssertion:
    """An assertion whose check always comes to the same verdict."""
    return told(lambda *_: verdict, name, **envelope)


def asserted(spec: dict[str, Any]) -> BoundAssertion:
    """An assertion of the catalogue, as a test file would write it."""
    parsed = parse(AssertionSpec, spec)
    cls = assertion_class(parsed.type)
    assert cls is not None, parsed.type
    requires = dict.fromkeys((*cls.implied, *parsed.requires_capabilities))
    return BoundAssertion(spec=parsed, check=parse(cls, parsed.params), requires=tuple(requires))


def make_test(*checks: BoundAssertion, warnings: Sequence[Problem] = (), **overrides: Any) -> LoadedTest:
    """A loaded test with these checks; `overrides` go to `make_case`."""
    return LoadedTest(
        case=make_case(**overrides), path=SPEC_PATH, checks=list(checks), warnings=list(warnings)
    )


@dataclass
class Replayed:
    """An adapter that answers with a given trace, or does what a function does."""

    answer: Trace | Callable[[TestCase, AdapterContext], Any] = field(default_factory=make_trace)
    name: str = "nanoclaw"
    version: str = "9.9"
    supports_live_run: bool = False

    def trace(self, case: TestCase, context: AdapterContext) -> Trace:
        trace: Trace = self.answer if isinstance(self.answer, Trace) else self.answer(case, context)
        return trace


def run_one(
    test: LoadedTest,
    answer: Trace | Callable[[TestCase, AdapterContext], Any] | None = None,
    *,
    rules: JudgingRules | None = None,
    **options: Any,
) -> Outcome:
    """Run one test on a trace."""
    adapter = Replayed(answer if answer is not None else make_trace())
    given = {"run_id": "run-1", "root": Path.cwd(), "registry": registry_with(adapter), **options}
    return run_test(test, RunOptions(rules=rules or JudgingRules(), **given))


def registry_with(adapter: Replayed) -> Registry:
    """What comes with agenteval, and this adapter in place of the one of its name."""
    registry = Registry(installed=False)
    registry.adapters[adapter.name] = adapter
    return registry


def judged(
    status: AssertionStatus = "pass",
    name: str = "a",
    *,
    kind: str = "must_call_tool",
    category: str = "tool_process",
    **overrides: Any,
) -> AssertionResult:
    """One assertion result."""
    given: dict[str, Any] = {
        "id": name,
        "type": kind,
        "category": category,
        "severity": "warning" if status == "warn" else "critical",
        "status": status,
        "exercised": status != "skip",
        "reason": "",
        "message": f"{name} says {status}",
        "params": {},
        "observed": {},
        "evidence": Evidence(),
        "capability_check": CapabilityCheck(),
        **overrides,
    }
    return AssertionResult(**given)


def make_result(status: str = "pass", *assertions: AssertionResult, **overrides: Any) -> TestResult:
    """One test result with these assertion results."""
    counts = Counts(
        assertions_total=len(assertions),
        assertions_passed=sum(each.status == "pass" for each in assertions),
        assertions_failed=sum(each.status == "fail" for each in assertions),
        assertions_warned=sum(each.status == "warn" for each in assertions),
        assertions_skipped=sum(each.status == "skip" for each in assertions),
        critical_failures=sum(each.status == "fail" for each in assertions),
        vacuous=sum(each.vacuous for each in assertions),
    )
    test_id = overrides.get("test_case_id", "nanoclaw.test.case.holds")
    given: dict[str, Any] = {
        "result_id": f"run-1/{test_id}",
        "test_case_id": test_id,
        "test_run_id": "run-1",
        "title": "A test case",
        "path": str(SPEC_PATH),
        "tags": [],
        "adapter": AdapterInfo(name="nanoclaw", version="0.1.0"),
        "mode": "replay",
        "status": status,
        "reason_code": None if status == "pass" else f"reason.{status}",
        "next_step": None if status == "pass" else f"do something about the {status}",
        "started_at": "2026-01-01T00:00:00.000Z",
        "finished_at": "2026-01-01T00:00:00.012Z",
        "duration_ms": 12.3,
        "summary": counts,
        "failure_categories": [],
        "expected_failure_categories": [],
        "assertions": list(assertions),
        "trace_summary": TraceSummary(
            trace_id=f"{test_id}.trace", status="success", events=2, timing_ms_total=1200, final_output=True
        ),
        "evidence": Evidence(),
        "error": None,
        "warnings": [],
        "artifacts": Artifacts(),
        **overrides,
    }
    return TestResult(**given)


def make_outcome(result: TestResult, trace: Trace | None = None, redact: Sequence[str] = ()) -> Outcome:
    """A result with its trace, as the runner hands it to reporters."""
    redactor = Redactor(redact)
    return Outcome(make_test(id=result.test_case_id), result, trace, redactor)


def file_away(directory: RunDirectory, outcome: Outcome, *, save_trace: bool) -> None:
    """File what there is about one test, as a run does."""
    stem = directory.stem(outcome.result.test_case_id, outcome.redactor)
    directory.keep(packed(outcome, stem, directory.max_bytes, save_trace=save_trace))


def scored(result: TestResult, metrics: Metrics | None = None) -> TestResult:
    """Score a result, as a run does."""
    result.score = score_of(result, metrics)
    return result


def sum_up(
    *results: TestResult, totals: RunTotals | None = None, strict: bool = False, **suite: Any
) -> RunSummary:
    """Sum up a run with these results, against the thresholds of a suite."""
    settings = RunSettings(run_id="run-1", suite=Suite(id="s", **suite), strict=strict)
    records = [record_of(scored(result)) for result in results]
    times: dict[str, Any] = {"started_at": "s", "finished_at": "f", "duration_ms": 1.23456}
    return summarise(records, totals or RunTotals(), settings, **times).run


def covered_by(*outcomes: Outcome) -> Coverage:
    """Return the coverage of a run of these tests."""
    for outcome in outcomes:
        complete(outcome)
    return sum_up(*(outcome.result for outcome in outcomes)).coverage
