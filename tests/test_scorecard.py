"""The scorecard and the run summary: every result is counted once, and the highest exit code wins."""

from pathlib import Path

import pytest

from agenteval import __version__
from agenteval.contracts.errors import ExitCode, Problem
from agenteval.contracts.results import (
    Artifacts,
    AssertionStatus,
    CategoryScore,
    Coverage,
    InvalidSpec,
    RunCounts,
    RunSummary,
    TestRow,
)
from agenteval.judging.scorecard import CATEGORIES, Tally, tallied
from run_builders import judged, make_result


def tally(*statuses: str, invalid: int = 0, unmet: tuple[str, ...] = ()) -> Tally:
    """A tally of tests with these statuses and so many invalid specs."""
    made = Tally()
    for status in statuses:
        made.add(tallied(make_result(status)))
    for _ in range(invalid):
        made.add_invalid([Problem(reason_code="spec.x", message="is wrong")])
    made.unmet_thresholds = list(unmet)
    return made


@pytest.mark.parametrize(
    ("statuses", "invalid", "unmet", "code", "reason"),
    [
        (["pass", "pass"], 0, (), 0, "all tests passed"),
        (["pass", "skipped"], 0, (), 0, "no test failed"),
        (["skipped"], 0, (), 3, "nothing was judged: 1 test skipped"),
        (["pass", "fail"], 0, (), 1, "1 test failed"),
        (["fail", "fail"], 0, (), 1, "2 tests failed"),
        (["pass", "fail", "error"], 0, (), 2, "1 test ended in an error"),
        (["error", "error"], 0, (), 2, "2 tests ended in an error"),
        (["pass"], 1, (), 3, "1 invalid test spec"),
        (["pass", "fail", "error"], 2, (), 3, "2 invalid test specs"),
        ([], 0, (), 3, "no test to run"),
        ([], 1, (), 3, "1 invalid test spec"),
        (["pass"], 0, ("score 0.5 is below 1",), 1, "suite.threshold: score 0.5 is below 1"),
        (["pass"], 0, ("a", "b"), 1, "suite.threshold: a; b"),
        (["fail"], 0, ("a",), 1, "1 test failed"),
        (["error"], 0, ("a",), 2, "1 test ended in an error"),
        (["skipped"], 0, ("a",), 3, "nothing was judged: 1 test skipped"),
    ],
)
def test_exit_code_and_reason(
    statuses: list[str], invalid: int, unmet: tuple[str, ...], code: int, reason: str
) -> None:
    """Of invalid (3), error (2) and failed (1) the highest decides; nothing to run is 3, never 0."""
    assert tally(*statuses, invalid=invalid, unmet=unmet).exit() == (ExitCode(code), reason)


@pytest.mark.parametrize(
    ("statuses", "unmet", "code", "reason"),
    [
        (["pass"], (), 1, "3 warnings (--strict allows none)"),
        (["pass", "fail"], (), 1, "1 test failed"),
        (["pass"], ("a",), 1, "suite.threshold: a"),
        (["error"], (), 2, "1 test ended in an error"),
        ([], (), 3, "nothing was judged: 1 test skipped"),
    ],
)
def test_warnings_fail_a_strict_run(
    statuses: list[str], unmet: tuple[str, ...], code: int, reason: str
) -> None:
    """Those of tests and of the run; where something worse happened, that is the reason."""
    made = tally(*statuses, unmet=unmet)
    made.add(tallied(make_result("skipped", warnings=["odd", "odder"])))
    made.remark(1)
    assert (made.counts.warnings, made.forbidden_warnings) == (3, 0)
    made.strict = True
    assert made.exit() == (ExitCode(code), reason)


def test_a_path_without_tests_is_no_invalid_spec() -> None:
    """When all that is wrong is the path, the reason says that there was nothing to run."""
    for code in ("select.nothing_found", "file.missing"):
        made = Tally()
        made.add_invalid([Problem(reason_code=code, message="there is none")])
        made.add_problems([Problem(reason_code="spec.odd", message="odd", severity="warning")])
        assert made.exit() == (ExitCode.INVALID, "nothing to run")
        made.add(tallied(make_result("pass")))
        assert made.exit() == (ExitCode.INVALID, "not every path has a test to run")


def test_a_path_without_tests_beside_an_invalid_file() -> None:
    """Then there was something to run."""
    made = tally(invalid=1)
    made.add_invalid([Problem(reason_code="select.nothing_found", message="no test file in this directory")])
    assert made.exit() == (ExitCode.INVALID, "2 invalid test specs")


def test_files_that_would_show_a_secret_are_listed() -> None:
    """They are errors of the run, and each is told."""
    made = tally("pass")
    made.add_leaks([Problem(reason_code="redaction.leak", message="would show a secret")])
    assert made.exit() == (ExitCode.ERROR, "redaction.leak: redaction failed for 1 file")
    assert [each.message for each in made.problems] == ["would show a secret"]


def test_tests_are_counted_by_status() -> None:
    """Each test is counted once, with its warnings and vacuous passes; an invalid spec is no test."""
    made = tally("pass", "fail", "error", "skipped", invalid=1)
    made.add(tallied(make_result("pass", judged("warn"), judged("pass", exercised=False))))
    assert made.counts == RunCounts(
        total=5, passed=2, failed=1, errors=1, skipped=1, invalid=1, vacuous_passes=1, warnings=1
    )


def test_assertions_are_counted_by_category() -> None:
    """The scorecard has a line for each category that occurred, in the order of SPEC 10."""
    made = Tally()
    failed = [judged("fail", category="memory"), judged("pass", category="outcome")]
    made.add(tallied(make_result("fail", *failed)))
    passed = [
        judged("pass", category="outcome", exercised=False),
        judged("warn", category="outcome"),
        judged("skip", category="scheduler"),
    ]
    made.add(tallied(make_result("pass", *passed)))
    assert made.scorecard() == [
        CategoryScore(category="outcome", passed=2, warnings=1, vacuous=1),
        CategoryScore(category="memory", failed=1),
        CategoryScore(category="scheduler", skipped=1),
    ]


@pytest.mark.parametrize("state", ["pass", "fail", "warn", "skip"])
def test_a_category_occurs_whatever_came_of_it(state: AssertionStatus) -> None:
    made = Tally()
    made.add(tallied(make_result("pass", judged(state, category="memory"))))
    assert [score.category for score in made.scorecard()] == ["memory"]


def test_the_summary_holds_a_row_per_test_and_every_problem() -> None:
    """`summary.json` is the run: what ran, what was wrong with what did not, and why it ended as it did."""
    made = Tally()
    artifacts = Artifacts(result="a.result.json")
    made.add(tallied(make_result("fail", judged("fail"), test_case_id="a.b", artifacts=artifacts)))
    problem = Problem(
        reason_code="spec.unknown_key", message="no such key", path=Path("x/test.yaml"), line=3, column=5
    )
    made.add_invalid([problem])
    made.add_problems([Problem(reason_code="spec.odd", message="odd", severity="warning")])
    summary = made.summary(run_id="run-1", started_at="s", finished_at="f", duration_ms=1.23456)
    assert summary == RunSummary(
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
