"""A baseline whose entry contradicts itself is refused: no run can have found it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.comparing.baseline import TestFacts, contradiction, load_baseline
from agenteval.contracts.errors import FileError
from projects import FETCHES, SEARCHES, WARNS, Project
from runs import CASES, EXAMPLES


def facts(status: str, *states: str, score: float | None = None, names: str = "abcdef") -> TestFacts:
    """A test with assertions in these states."""
    given: dict[str, Any] = {
        "test_case_id": "t",
        "status": status,
        "score": score,
        "assertions": dict(zip(names, states, strict=False)),
    }
    return TestFacts(**given)


@pytest.mark.parametrize(
    ("status", "states", "score", "told"),
    [
        ("pass", ["fail"], None, "status is pass, and the assertion a fails"),
        ("pass", ["pass", "fail"], 0.5, "status is pass, and the assertion b fails"),
        ("pass", ["skip", "skip"], None, "status is pass, and every assertion is skipped"),
        ("pass", ["pass"], 0.5, "score is 0.5, which a pass with these assertions cannot have"),
        ("pass", ["pass"], 0.0, "score is 0, which a pass with these assertions cannot have"),
        ("pass", ["pass", "warn"], 0.5, "score is 0.5, which a pass with these assertions cannot have"),
        ("fail", ["fail"], 1.0, "score is 1, which a fail with these assertions cannot have"),
        ("fail", ["fail"], 0.5, "score is 0.5, which a fail with these assertions cannot have"),
        ("fail", ["fail", "pass"], 0.6, "score is 0.6, which a fail with these assertions cannot have"),
        (
            "fail",
            ["fail", "fail", "pass"],
            0.5,
            "score is 0.5, which a fail with these assertions cannot have",
        ),
        ("fail", ["pass", "pass"], 1.0, "score is 1, which a fail with these assertions cannot have"),
        ("fail", ["pass", "warn"], 0.5, "score is 0.5, which a fail with these assertions cannot have"),
        ("skipped", ["pass"], None, "status is skipped, and the assertion a is not: pass"),
        ("skipped", ["skip", "fail"], None, "status is skipped, and the assertion b is not: fail"),
        ("skipped", ["skip"], 1.0, "status is skipped, and it has a score"),
        ("error", ["pass", "fail"], None, "status is error, and every assertion came to a verdict"),
        ("error", [], 1.0, "score is 1, which a error with these assertions cannot have"),
        ("error", ["skip"], 0.5, "score is 0.5, which a error with these assertions cannot have"),
    ],
)
def test_what_no_run_can_have_found(status: str, states: list[str], score: float | None, told: str) -> None:
    """Status, assertions and score are each what the others make them."""
    assert contradiction(facts(status, *states, score=score)) == told


@pytest.mark.parametrize(
    ("status", "states", "score"),
    [
        ("pass", ["pass", "vacuous", "warn", "skip", "xfail"], 1.0),
        ("pass", ["xfail"], 1.0),
        ("pass", ["warn"], 1.0),
        ("pass", [], None),
        ("fail", ["fail", "pass"], 0.5),
        ("fail", ["fail", "pass"], 0.0),
        ("fail", ["fail", "vacuous", "pass"], 2 / 3),
        ("fail", ["fail", "fail", "pass"], 1 / 3),
        ("fail", ["fail"], None),
        ("fail", ["pass", "warn"], 1.0),
        ("fail", ["pass"], 0.0),
        ("fail", ["skip", "xfail"], 0.0),
        ("error", [], 0.0),
        ("error", ["skip", "pass", "fail"], 0.0),
        ("error", [], None),
        ("skipped", ["skip"], None),
    ],
)
def test_what_a_run_may_have_found(status: str, states: list[str], score: float | None) -> None:
    """Strict runs fail for warnings, tests fail for failures that did not come, and rubrics have scores of their own."""
    assert contradiction(facts(status, *states, score=score)) == ""


def test_a_rubric_scores_as_it_likes() -> None:
    """The weight that was reached, of a task that passes or fails."""
    for status in ("pass", "fail"):
        made = facts(status, status, score=0.7)
        made.assertions = {"rubric": made.assertions["a"]}
        assert contradiction(made) == ""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose baseline knows a failure."""
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path)
    project.add("pass", "good")
    project.add("fail", "bad")
    project.add("warn", "odd")
    project.add("skip", "no")
    project.add(
        "xfail",
        "expected",
        assertions=[SEARCHES, FETCHES],
        expected={"status": "fail", "assertions": ["fetches"], "reason": "x"},
    )
    project.add(
        "pass",
        "gone",
        assertions=[SEARCHES, WARNS],
        expected={"status": "fail", "assertions": ["searches"], "reason": "x"},
    )
    main(["run", "tests", "-q", "--update-baseline"])
    return project


BASELINE = Path("agenteval-baseline.json")


@pytest.mark.parametrize(
    ("edit", "place", "told"),
    [
        ({"status": "pass"}, "status", "nanoclaw.t.bad.x: status is pass, and the assertion fetches fails"),
        (
            {"score": 1.0},
            "score",
            "nanoclaw.t.bad.x: score is 1, which a fail with these assertions cannot have",
        ),
        (
            {"status": "skipped"},
            "status",
            "nanoclaw.t.bad.x: status is skipped, and the assertion searches is not: pass",
        ),
    ],
)
@pytest.mark.parametrize(
    "options", [["--baseline", str(BASELINE)], ["--update-baseline"]], ids=["read", "updated"]
)
def test_a_contradiction_is_refused(
    project: Project,
    edit: dict[str, Any],
    place: str,
    told: str,
    options: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With its place, before anything runs: a failure that was made known by hand would be no failure."""
    data = json.loads(BASELINE.read_text(encoding="utf-8"))
    (entry,) = (test for test in data["tests"] if test["test_case_id"] == "nanoclaw.t.bad.x")
    entry |= edit
    BASELINE.write_text(json.dumps(data, indent=2), encoding="utf-8")
    before = BASELINE.read_bytes()
    with pytest.raises(FileError) as caught:
        load_baseline(BASELINE)
    problem = caught.value.problems[0]
    assert (problem.reason_code, problem.message) == ("baseline.invalid", told)
    assert problem.pointer.endswith(f"/{place}")
    assert problem.line is not None
    capsys.readouterr()
    assert main(["run", "tests", *options]) == 2
    assert "error[baseline.invalid]" in capsys.readouterr().err
    assert main(["compare", str(BASELINE), str(BASELINE)]) == 2
    assert BASELINE.read_bytes() == before


def test_the_score_of_all_is_the_mean(project: Project) -> None:
    """Of those that have one."""
    data = json.loads(BASELINE.read_text(encoding="utf-8"))
    data["score"] = 0.9
    BASELINE.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(FileError) as caught:
        load_baseline(BASELINE)
    (problem,) = caught.value.problems
    assert problem.message.startswith("score is 0.9, and the mean of the scores of its tests 0.")


@pytest.mark.parametrize(
    "options",
    [[], ["--strict"], ["--fail-on-vacuous"], ["--strict-capabilities"], ["--strict", "--fail-on-vacuous"]],
)
@pytest.mark.parametrize("tests", [CASES / "failing", EXAMPLES, Path("tests")], ids=lambda path: path.name)
def test_no_run_contradicts_itself(
    options: list[str], tests: Path, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever comes out of a run can be compared with."""
    shutil.copytree(tests, "copied")
    main(["run", "copied", "-q", "--run-id", "one", "--baseline", "b.json", "--update-baseline", *options])
    assert load_baseline(Path("b.json")).tests
    assert main(["run", "copied", "-q", "--run-id", "two", "--baseline", "b.json", *options]) in (0, 1)
    assert main(["compare", "one", "two"]) == 0
    main(["gate", "two"])
    assert "gate.contradiction" not in capsys.readouterr().err


def test_nor_does_an_update_of_a_part(project: Project) -> None:
    """Tests that were not selected keep their entries, and the mean is that of all."""
    assert main(["run", "tests", "-q", "-k", "good or bad", "--update-baseline"]) == 0
    assert len(load_baseline(BASELINE).tests) == 6
