"""Expected failures: a test that must fail passes exactly when it fails as its author says."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.assertions.base import failed, not_applicable, passed, vacuous
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.results import CategoryScore, Counts, RunCounts, TestResult
from agenteval.contracts.testcase import Expected
from agenteval.judging.verdicts import JudgingRules
from agenteval.openwop.summary import task_of
from run_builders import make_test, run_one, says, scored, sum_up, told
from runs import CASES, Run, run_command

YES = says(passed("yes"), "yes")
NO = says(failed("no"), "no")
OTHER = says(failed("no"), "other")
HM = says(failed("hm"), "hm", severity="warning")
IDLE = says(vacuous("no bread"), "idle")
SKIPPED = says(not_applicable("no tokens"), "skipped")
GATED = says(failed("no"), "gated")
GATED.requires = ("supports_live_run",)
MENDED = "take it out of `expected` when the cause is fixed, else find what hides it"


def expecting(*ids: str) -> dict[str, Any]:
    """The `expected` block of a test in which these assertions fail."""
    return {"status": "fail", "assertions": list(ids), "reason": "known bug"}


def judged(checks: Sequence[Any], *ids: str, **options: Any) -> TestResult:
    """The result of a test with these checks that expects these to fail."""
    return run_one(make_test(*checks, expected=expecting(*ids)), **options).result


@pytest.mark.parametrize(
    ("checks", "ids", "strict"),
    [
        ([YES, NO], ["no"], False),
        ([NO], ["no"], False),
        ([YES, NO, OTHER], ["no", "other"], False),
        ([YES, HM], ["hm"], False),
        ([YES, HM], ["hm"], True),
        ([NO, HM], ["no"], False),
        ([NO, IDLE, SKIPPED], ["no"], False),
    ],
    ids=["one", "only", "two", "warning", "warning-strict", "other-warning", "rest-idle"],
)
def test_passes_when_exactly_the_expected_assertions_fail(
    checks: list[Any], ids: list[str], strict: bool
) -> None:
    """The named ones fail or warn, no other fails: status pass, marked xfail, with its reason."""
    made = judged(checks, *ids, strict=strict)
    assert (made.status, made.xfail, made.xfail_reason) == ("pass", True, "known bug")
    assert (made.reason_code, made.next_step, made.failure_categories) == (None, None, [])
    assert [each.id for each in made.assertions if each.xfail] == ids


@pytest.mark.parametrize(
    ("checks", "ids", "code", "next_step"),
    [
        (
            [YES, NO],
            ["yes", "no"],
            "xfail.unexpected_pass",
            f"yes passed, though the test expects it to fail: {MENDED}",
        ),
        (
            [IDLE, NO],
            ["idle", "no"],
            "xfail.unexpected_pass",
            f"idle had nothing to judge (no bread), though the test expects it to fail: {MENDED}",
        ),
        (
            [YES, SKIPPED],
            ["skipped"],
            "xfail.unexpected_pass",
            f"skipped was skipped (no tokens), though the test expects it to fail: {MENDED}",
        ),
        (
            [GATED],
            ["gated"],
            "xfail.unexpected_pass",
            f"gated was skipped (missing capability supports_live_run), though the test expects it to fail: {MENDED}",
        ),
        (
            [YES, IDLE, OTHER],
            ["yes", "idle", "other"],
            "xfail.unexpected_pass",
            (
                "yes passed and idle had nothing to judge (no bread), though the test expects them to fail: "
                "take them out of `expected` when the cause is fixed, else find what hides it"
            ),
        ),
        ([NO, OTHER], ["no"], "xfail.other_failure", "other failed unexpectedly: read the evidence"),
        (
            [YES, OTHER],
            ["yes"],
            "xfail.other_failure",
            (
                "other failed unexpectedly: read the evidence; "
                f"yes passed, though the test expects it to fail: {MENDED}"
            ),
        ),
    ],
    ids=["passed", "vacuous", "skipped", "gated", "two", "other", "both"],
)
def test_anything_else_fails(checks: list[Any], ids: list[str], code: str, next_step: str) -> None:
    """An unexpected pass fails and is named, as is a failure that is not expected; a skip is no failure."""
    made = judged(checks, *ids)
    assert (made.status, made.xfail, made.reason_code) == ("fail", False, code)
    assert made.next_step == next_step


@pytest.mark.parametrize(
    ("check", "rules"),
    [(IDLE, JudgingRules(fail_on_vacuous=True)), (GATED, JudgingRules(strict_capabilities=True))],
    ids=["vacuous", "gated"],
)
def test_a_no_that_the_check_did_not_say_shows_nothing(check: Any, rules: JudgingRules) -> None:
    """What strictness makes a failure of, is not the failure that the test expects."""
    made = judged([check], check.spec.id, rules=rules)
    assert [each.status for each in made.assertions] == ["fail"]
    assert (made.status, made.reason_code) == ("fail", "xfail.unexpected_pass")
    instead = {"idle": "had nothing to judge (", "gated": "was skipped ("}[check.spec.id]
    assert (made.next_step or "").startswith(f"{check.spec.id} {instead}{made.assertions[0].reason})")


def test_a_test_that_is_expected_to_pass_is_judged_as_any() -> None:
    """`status: pass` says nothing that would turn a failure into a pass."""
    made = run_one(make_test(NO, expected={"status": "pass"})).result
    assert (made.status, made.reason_code, made.xfail, made.warnings) == (
        "fail",
        "assertion.failed",
        False,
        [],
    )


def test_a_warning_elsewhere_fails_under_strict() -> None:
    """`--strict` makes a failure of any warning, expected failure or not."""
    made = judged([NO, HM], "no", strict=True)
    assert (made.status, made.reason_code) == ("fail", "xfail.other_failure")


def test_an_error_stays_an_error() -> None:
    """A check that crashes shows nothing, even when its test is to fail."""

    def crash(*_: Any) -> Any:
        raise RuntimeError("boom")

    made = judged([NO, told(crash, "crashes")], "no")
    assert (made.status, made.xfail, made.reason_code) == ("error", False, "assertion.crashed")
    assert [each.xfail for each in made.assertions] == [False, False]


def test_assertion_results_keep_their_status_and_are_counted_apart() -> None:
    """A failure that is expected is still `fail`; counts do not have it among the failed."""
    made = judged([YES, NO, HM], "no", "hm")
    assert [each.status for each in made.assertions] == ["pass", "fail", "warn"]
    assert made.summary == Counts(assertions_total=3, assertions_passed=1, xfailed=2)


def test_a_selection_without_all_expected_failures_is_judged_as_it_stands() -> None:
    """`file::id` cannot make a test pass for failing when a part of what should fail is not looked at."""
    expected = expecting("no", "absent")
    failing = run_one(make_test(NO, expected=expected)).result
    passing = run_one(make_test(YES, expected=expected)).result
    assert (failing.status, failing.reason_code) == ("fail", "assertion.failed")
    assert (passing.status, passing.xfail) == ("pass", False)
    assert failing.warnings == ["the expected failure cannot be judged: absent is not selected"]
    neither = run_one(make_test(YES, expected=expecting("absent", "gone"))).result
    assert neither.warnings == ["the expected failure cannot be judged: absent and gone are not selected"]


def test_the_run_counts_them_apart() -> None:
    """Neither counts nor scorecard have an expected failure among the passed or the failed; the run exits 0."""
    one = sum_up(judged([YES, NO], "no"))
    assert one.counts == RunCounts(total=1, xfailed=1)
    assert one.scorecard == [CategoryScore(category="outcome", passed=1, xfailed=1)]
    assert (one.exit_code, one.exit_reason) == (0, "no test failed, except 1 test that should")
    assert [(row.status, row.xfail) for row in one.tests] == [("pass", True)]
    both = sum_up(judged([YES, NO], "no"), judged([YES], "yes"))
    assert both.counts == RunCounts(total=2, failed=1, xfailed=1)
    assert (both.exit_code, both.exit_reason) == (1, "1 test failed")


def test_the_openwop_score_is_of_what_is_expected() -> None:
    """A test that fails as it should scores 1; one that should fail and does not scores 0."""
    tests = (([YES, NO], ["no"]), ([YES, OTHER], ["yes", "other"]), ([YES, NO, OTHER], ["no"]))
    scored_tasks = [task_of(scored(judged(checks, *ids))) for checks, ids in tests]
    assert [(each.task["score"], each.task["passed"]) for each in scored_tasks if each] == [
        (1.0, True),
        (0.0, False),
        (0.5, False),
    ]


def test_an_expected_failure_is_no_safety_finding() -> None:
    """The leak in a negative control is not told of as if the agent had leaked."""
    made = judged([NO], "no")
    made.assertions[0].type = "no_cross_group_memory_use"
    task = task_of(scored(made))
    assert task
    assert "safetyFindings" not in task.task


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            {"status": "fail", "reason": "x"},
            "status: fail needs assertions: the ids of those that are to fail",
        ),
        (
            {"status": "fail", "assertions": ["a"]},
            "status: fail needs a reason: the bug, or what the control shows",
        ),
        (
            {"status": "fail", "assertions": ["a"], "reason": " "},
            "status: fail needs a reason: the bug, or what the control shows",
        ),
        ({"assertions": ["a"]}, "assertions goes with status: fail"),
        (
            {"status": "pass", "assertions": ["a"], "reason": "x"},
            "assertions and reason go with status: fail",
        ),
        ({"status": "fial"}, "expected one of pass, fail, got 'fial'"),
    ],
)
def test_a_block_that_says_too_little_is_refused(block: dict[str, Any], message: str) -> None:
    """Whoever expects a failure says of what, and why."""
    with pytest.raises(Invalid) as caught:
        parse(Expected, block)
    assert [finding.message for finding in caught.value.findings] == [message]


@pytest.fixture
def controls(tmp_path: Path) -> Path:
    """The negative controls, each with an `expected` block that names the assertion which fails."""
    (tmp_path / "agenteval.yaml").touch()
    copy = shutil.copytree(CASES / "failing", tmp_path / "controls")
    for path in copy.rglob("test.yaml"):
        text = path.read_text(encoding="utf-8")
        assert yaml.safe_load(text).get("expected") is None
        named = yaml.safe_load(text)["x-expected-failure"]
        block = yaml.safe_dump({"expected": {**expecting(named), "reason": "a negative control"}})
        path.write_text(f"{text}\n{block}", encoding="utf-8")
    return copy


def run_controls(controls: Path, *flags: str) -> Run:
    """One run of the controls."""
    return run_command([controls], controls.parent / "artifacts", *flags)


def test_the_negative_controls_pass_as_expected_failures(
    controls: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of them fail as they should: the run exits 0 and counts each as xfailed, nothing as passed or failed."""
    number = len(list(controls.iterdir()))
    run = run_controls(controls)
    counts = run.summary["counts"]
    assert run.exit_code == 0
    assert (counts["total"], counts["xfailed"], counts["passed"], counts["failed"]) == (number, number, 0, 0)
    assert all(result["xfail"] and result["status"] == "pass" for result in run.results())
    assert sum(row["failed"] for row in run.summary["scorecard"]) == 0
    assert sum(row["xfailed"] for row in run.summary["scorecard"]) == number
    out = capsys.readouterr().out
    assert len(re.findall(r"^XFAIL nanoclaw\.control\.", out, re.MULTILINE)) == number
    assert (
        f"{number} xfailed, 1 warning in " in out
    )  # a control of the scheduler names another task than its recording
    assert out.endswith(f"exit 0: no test failed, except {number} tests that should\n")


def test_a_control_that_fails_no_longer_fails_the_run(
    controls: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Take the failure out of one control: it is an unexpected pass, and the run exits 1."""
    path = controls / "must_call_tool" / "test.yaml"
    text = path.read_text(encoding="utf-8")
    broken = text.replace(
        "type: must_call_tool\n    params: {tool: web_search}",
        "type: must_call_tool\n    params: {tool: web_fetch}",
    )
    assert broken != text
    path.write_text(broken, encoding="utf-8")
    run = run_controls(controls)
    assert run.exit_code == 1
    assert run.summary["counts"]["failed"] == 1
    (result,) = (each for each in run.results() if each["status"] == "fail")
    assert result["reason_code"] == "xfail.unexpected_pass"
    assert "xfail.unexpected_pass: next: searches passed, though the test expects it to fail" in (
        capsys.readouterr().out
    )


def test_an_unexpected_pass_is_located_where_it_is_expected_to_fail(
    controls: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the result, and for whatever shows lines of the file: at the name in `expected` that has to go."""
    path = controls / "must_call_tool" / "test.yaml"
    text = path.read_text(encoding="utf-8").replace("params: {tool: web_search}", "params: {tool: web_fetch}")
    path.write_text(text, encoding="utf-8")
    line = text.split("\n").index("  - searches") + 1
    run = run_command([path], controls.parent / "artifacts", "--github")
    result = run.only_result()
    assert (result["line"], result["column"]) == (line, 5)
    told = capsys.readouterr().out.partition("::error ")[2].partition("\n")[0]
    assert told.startswith(f"file={path},line={line},col=5,title=nanoclaw.control.must-call-tool.fails::")
    assert told.partition("::")[2].startswith(
        f"{path}:{line}:5: xfail.unexpected_pass: searches passed, though "
    )


def test_only_an_expectation_that_is_not_met_is_located(controls: Path) -> None:
    """The place of a failure that is as expected, or that nobody expects, is that of its assertion."""
    as_expected, other = controls / "must_call_tool" / "test.yaml", controls / "output_omits" / "test.yaml"
    text = other.read_text(encoding="utf-8")
    other.write_text(text.partition("\nexpected:")[0], encoding="utf-8")
    results = list(run_command([as_expected, other], controls.parent / "artifacts").results())
    assert [(each["status"], each["line"], each["column"]) for each in results] == [
        ("pass", None, None),
        ("fail", None, None),
    ]


def test_one_assertion_of_a_control(controls: Path) -> None:
    """Selected alone, the assertion that has to fail is judged so; another one is judged as it is."""
    spec = controls / "must_call_tool" / "test.yaml"
    alone = run_command([Path(f"{spec}::searches")], controls.parent / "a")
    other = run_command([Path(f"{spec}::names-the-news")], controls.parent / "b")
    assert (alone.exit_code, alone.only_result()["xfail"]) == (0, True)
    assert (other.exit_code, other.only_result()["xfail"]) == (0, False)
    assert other.only_result()["warnings"] == [
        "the expected failure cannot be judged: searches is not selected"
    ]


def test_the_console_marks_them(controls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that says XFAIL and why; with -v the assertion that is expected to fail, and its evidence."""
    run_command([controls / "must_call_tool"], controls.parent / "a", "-v")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("XFAIL nanoclaw.control.must-call-tool.fails   ")
    assert lines[0].endswith(" · a negative control")
    assert "  ✗ searches  must_call_tool  critical  expected to fail" in lines
    assert any(line.startswith("  ✓ tool_process  1/1  1 xfailed") for line in lines)
    run_command([controls / "no_cross_group_memory_use"], controls.parent / "b")
    assert re.search(r"^  - isolation +0/0  1 xfailed$", capsys.readouterr().out, re.MULTILINE)
