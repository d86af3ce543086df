"""A baseline whose entry contradicts itself is refused: no run can have found it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.comparing.baseline import TestFacts, inconsistency, load_baseline
from agenteval.contracts.errors import FileError
from projects import FETCHES, SEARCHES, WARNS, Project
from runs import CASES, EXAMPLES


@pytest.mark.parametrize(
    ("status", "states", "told"),
    [
        ("pass", ["pass", "fail"], "status is pass, and the assertion b fails"),
        ("pass", ["skip", "skip"], "status is pass, and every assertion is skipped"),
        ("skipped", ["skip", "fail"], "status is skipped, and the assertion b is not: fail"),
        ("error", ["pass", "fail"], "status is error, and every assertion came to a verdict"),
        ("pass", ["pass", "vacuous", "warn", "skip", "xfail"], ""),
        ("pass", [], ""),
        ("fail", ["pass", "warn"], ""),  # a strict run
        ("fail", ["skip", "xfail"], ""),
        ("error", ["skip", "pass", "fail"], ""),
        ("skipped", ["skip"], ""),
    ],
)
def test_what_no_run_can_have_found(status: str, states: list[str], told: str) -> None:
    """Status and assertions are each what the others make them."""
    assertions = dict(zip("abcdef", states, strict=False))
    given: dict[str, Any] = {"test_case_id": "t", "status": status, "assertions": assertions}
    assert inconsistency(TestFacts(**given)) == told


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
    ("status", "told"),
    [
        ("pass", "nanoclaw.t.bad.x: status is pass, and the assertion fetches fails"),
        ("skipped", "nanoclaw.t.bad.x: status is skipped, and the assertion searches is not: pass"),
    ],
)
@pytest.mark.parametrize(
    "options", [["--baseline", str(BASELINE)], ["--update-baseline"]], ids=["read", "updated"]
)
def test_a_contradiction_is_refused(
    project: Project, status: str, told: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """With its place, before anything runs: a failure that was made known by hand would be no failure."""
    data = json.loads(BASELINE.read_text(encoding="utf-8"))
    (entry,) = (test for test in data["tests"] if test["test_case_id"] == "nanoclaw.t.bad.x")
    entry["status"] = status
    BASELINE.write_text(json.dumps(data, indent=2), encoding="utf-8")
    before = BASELINE.read_bytes()
    with pytest.raises(FileError) as caught:
        load_baseline(BASELINE)
    problem = caught.value.problems[0]
    assert (problem.reason_code, problem.message) == ("baseline.invalid", told)
    assert problem.pointer.endswith("/status")
    assert problem.line is not None
    capsys.readouterr()
    assert main(["run", "tests", *options]) == 2
    assert "error[baseline.invalid]" in capsys.readouterr().err
    assert main(["compare", str(BASELINE), str(BASELINE)]) == 2
    assert BASELINE.read_bytes() == before


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
    assert "gate.inconsistency" not in capsys.readouterr().err


def test_nor_does_an_update_of_a_part(project: Project) -> None:
    """Tests that were not selected keep their entries, and the mean is that of all."""
    assert main(["run", "tests", "-q", "-k", "good or bad", "--update-baseline"]) == 0
    assert len(load_baseline(BASELINE).tests) == 6
