"""The scorecard and the run summary: every result is counted once, and the highest exit code wins."""

from pathlib import Path
from typing import Any

import pytest

from agenteval import __version__
from agenteval.contracts.errors import Problem
from agenteval.contracts.results import (
    Artifacts,
    AssertionStatus,
    CategoryScore,
    Coverage,
    InvalidSpec,
    RunCounts,
    RunSummary,
    TestResult,
    TestRow,
)
from agenteval.records.summary import CATEGORIES, RunTotals
from run_builders import judged, make_result, sum_up

NO_COST = {"max_cost_usd": 1.0}
"""A threshold that results without costs miss."""


def totals_of(*problems: Problem, invalid: int = 0) -> RunTotals:
    """Totals of a run with these problems, and with so many invalid specs beside."""
    made = RunTotals()
    for each in [*problems, *[Problem(reason_code="spec.x", message="is wrong")] * invalid]:
        made.add_invalid([each])
    return made


def ending(*results: TestResult, **more: Any) -> tuple[int, str]:
    """The exit code of a run, and its reason."""
    made = sum_up(*results, **more)
    return made.exit_code, made.exit_reason


@pytest.mark.parametrize(
    ("statuses", "invalid", "bars", "code", "reason"),
    [
        (["pass", "pass"], 0, {}, 0, "all tests passed"),
        (["pass", "skipped"], 0, {}, 0, "no test failed"),
        (["skipped"], 0, {}, 3, "nothing was judged: 1 test skipped"),
        (["pass", "fail"], 0, {}, 1, "1 test failed"),
        (["fail", "fail"], 0, {}, 1, "2 tests failed"),
        (["pass", "fail", "error"], 0, {}, 2, "1 test ended in an error"),
        (["error", "error"], 0, {}, 2, "2 tests ended in an error"),
        (["pass"], 1, {}, 3, "1 invalid test spec"),
        (["pass", "fail", "error"], 2, {}, 3, "2 invalid test specs"),
        ([], 0, {}, 3, "no test to run"),
        ([], 1, {}, 3, "1 invalid test spec"),
        (["pass"], 0, {"pass_score": 1}, 0, "all tests passed"),
        (["pass", "skipped"], 0, NO_COST, 1, "suite.threshold: the cost is not known for every task"),
        (
            ["pass"],
            0,
            {**NO_COST, "max_p95_latency_ms": 1},
            1,
            "suite.threshold: the cost is not known for every task; the latency is not known for every task",
        ),
        (["fail"], 0, NO_COST, 1, "1 test failed"),
        (["error"], 0, NO_COST, 2, "1 test ended in an error"),
        (["skipped"], 0, NO_COST, 3, "nothing was judged: 1 test skipped"),
    ],
)
def test_exit_code_and_reason(
    statuses: list[str], invalid: int, bars: dict[str, float], code: int, reason: str
) -> None:
    """Of invalid (3), error (2) and failed (1) the highest decides; nothing to run is 3, never 0."""
    results = map(make_result, statuses)
    assert ending(*results, totals=totals_of(invalid=invalid), **bars) == (code, reason)


@pytest.mark.parametrize(
    ("statuses", "bars", "code", "reason"),
    [
        (["pass"], {}, 1, "3 warnings (--strict allows none)"),
        (["pass", "fail"], {}, 1, "1 test failed"),
        (["pass"], NO_COST, 1, "suite.threshold: the cost is not known for every task"),
        (["error"], {}, 2, "1 test ended in an error"),
        ([], {}, 3, "nothing was judged: 1 test skipped"),
    ],
)
def test_warnings_fail_a_strict_run(
    statuses: list[str], bars: dict[str, float], code: int, reason: str
) -> None:
    """Those of tests and of the run; where something worse happened, that is the reason."""
    totals = RunTotals(remarks=1)
    results = [*map(make_result, statuses), make_result("skipped", warnings=["odd", "odder"])]
    made = sum_up(*results, totals=totals)
    assert (made.counts.warnings, made.forbidden_warnings) == (3, 0)
    assert ending(*results, totals=totals, strict=True, **bars) == (code, reason)


def test_a_score_that_is_met_explains_why_the_gate_may_open() -> None:
    """A failed test is told with it; not where a warning of a strict run keeps the gate shut as well."""
    results = [make_result("pass"), make_result("fail", judged("pass"), judged("fail"))]
    known = "1 test failed, though the score meets its threshold (agenteval gate goes by that)"
    assert ending(*results, pass_score=0.75) == (1, known)
    assert ending(*results, pass_score=0.76) == (1, "1 test failed")
    assert ending(*results, pass_score=0.75, strict=True, totals=RunTotals(remarks=1)) == (1, "1 test failed")


def test_a_path_without_tests_is_no_invalid_spec() -> None:
    """When all that is wrong is the path, the reason says that there was nothing to run."""
    for code in ("select.nothing_found", "file.missing"):
        made = totals_of(Problem(reason_code=code, message="there is none"))
        made.add_problems([Problem(reason_code="spec.odd", message="odd", severity="warning")])
        assert ending(totals=made) == (3, "nothing to run")
        assert ending(make_result("pass"), totals=made) == (3, "not every path has a test to run")


def test_a_path_without_tests_beside_an_invalid_file() -> None:
    """Then there was something to run."""
    missing = Problem(reason_code="select.nothing_found", message="no test file in this directory")
    assert ending(totals=totals_of(missing, invalid=1)) == (3, "2 invalid test specs")


def test_files_that_would_show_a_secret_are_listed() -> None:
    """They are errors of the run, and each is told."""
    totals = RunTotals()
    totals.add_leaks([Problem(reason_code="redaction.leak", message="would show a secret")])
    made = sum_up(make_result("pass"), totals=totals)
    assert (made.exit_code, made.exit_reason) == (2, "redaction.leak: redaction failed for 1 file")
    assert [each.message for each in made.problems] == ["would show a secret"]


def test_tests_are_counted_by_status() -> None:
    """Each test is counted once, with its warnings and vacuous passes; an invalid spec is no test."""
    results = [*map(make_result, ("pass", "fail", "error", "skipped"))]
    results.append(make_result("pass", judged("warn"), judged("pass", exercised=False)))
    assert sum_up(*results, totals=totals_of(invalid=1)).counts == RunCounts(
        total=5, passed=2, failed=1, errors=1, skipped=1, invalid=1, vacuous_passes=1, warnings=1
    )


def test_assertions_are_counted_by_category() -> None:
    """The scorecard has a line for each category that occurred, in the order of SPEC 10."""
    failed = [judged("fail", category="memory"), judged("pass", category="outcome")]
    passed = [
        judged("pass", category="outcome", exercised=False),
        judged("warn", category="outcome"),
        judged("skip", category="scheduler"),
    ]
    assert sum_up(make_result("fail", *failed), make_result("pass", *passed)).scorecard == [
        CategoryScore(category="outcome", passed=2, warnings=1, vacuous=1),
        CategoryScore(category="memory", failed=1),
        CategoryScore(category="scheduler", skipped=1),
    ]


@pytest.mark.parametrize("state", ["pass", "fail", "warn", "skip"])
def test_a_category_occurs_whatever_came_of_it(state: AssertionStatus) -> None:
    """A skipped assertion is counted as well."""
    made = sum_up(make_result("pass", judged(state, category="memory")))
    assert [score.category for score in made.scorecard] == ["memory"]


def test_the_summary_holds_a_row_per_test_and_every_problem() -> None:
    """`summary.json` is the run: what ran, what was wrong with what did not, and why it ended as it did."""
    artifacts = Artifacts(result="a.result.json")
    result = make_result("fail", judged("fail"), test_case_id="a.b", artifacts=artifacts)
    problem = Problem(
        reason_code="spec.unknown_key", message="no such key", path=Path("x/test.yaml"), line=3, column=5
    )
    totals = totals_of(problem)
    totals.add_problems([Problem(reason_code="spec.odd", message="odd", severity="warning")])
    assert sum_up(result, totals=totals) == RunSummary(
        schema_version="0.1",
        test_run_id="run-1",
        agenteval_version=__version__,
        started_at="s",
        finished_at="f",
        duration_ms=1.235,
        exit_code=3,
        exit_reason="1 invalid test spec",
        counts=RunCounts(total=1, failed=1, invalid=1),
        scorecard=[CategoryScore(category="tool_process", failed=1)],
        tests=[
            TestRow(
                test_case_id="a.b",
                path="suite/case/test.yaml",
                status="fail",
                reason_code="reason.fail",
                duration_ms=12.3,
                vacuous=0,
                result="a.result.json",
            )
        ],
        problems=[
            InvalidSpec(
                path="x/test.yaml",
                line=3,
                column=5,
                reason_code="spec.unknown_key",
                message="no such key",
                severity="error",
            ),
            InvalidSpec(
                path="", line=None, column=None, reason_code="spec.odd", message="odd", severity="warning"
            ),
        ],
        coverage=Coverage(categories_not_exercised=[name for name in CATEGORIES if name != "tool_process"]),
    )
