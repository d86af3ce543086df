"""`agenteval gate`: a deployment passes by what a run measured, and by nothing that was put in its place."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from projects import SEARCHES, Project

RUN = Path("artifacts/r1")
SUMMARY, EVAL_SUMMARY = RUN / "summary.json", RUN / "eval-summary.json"


def stored(project: Project, *kinds: str) -> None:
    """A stored run of tests of these kinds."""
    for number, kind in enumerate(kinds):
        project.add(kind, f"t{number}")
    main(["run", "tests", "--run-id", "r1", "-q"])


def gate(*argv: str) -> int:
    """`agenteval gate` of that run."""
    return main(["gate", str(RUN), *argv])


def change(path: Path, edit: Callable[[Any], object]) -> None:
    """Change what a file says."""
    data = json.loads(path.read_text())
    edit(data)
    path.write_text(json.dumps(data, indent=2))


def forge(edit: Callable[[Any], object]) -> None:
    """Change the EvalSummary, and the digest that the run kept of it."""
    change(EVAL_SUMMARY, edit)
    digest = sha256(EVAL_SUMMARY.read_bytes()).hexdigest()
    change(SUMMARY, lambda data: data.update(eval_summary_sha256=digest))


def test_nothing_scored_is_no_pass(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A run whose summary has no task never opens the gate."""
    stored(project, "skip")
    change(SUMMARY, lambda data: data.update(exit_code=0))
    capsys.readouterr()
    assert gate("--required-pass-score", "0") == 1
    assert capsys.readouterr().out.endswith("exit 1: no task was scored\n")


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data.update(passed="yes"),
        lambda data: data.update(output="what the agent said"),
        lambda data: data.pop("tasks"),
        lambda data: data.update(aggregateScore=1.5),
        lambda data: data["tasks"][0].update(taskId="Not A Slug"),
    ],
)
def test_a_summary_that_is_not_valid_is_refused(
    project: Project, edit: Callable[[Any], object], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, with its place and what to do; also when the digest fits."""
    stored(project, "pass")
    forge(edit)
    capsys.readouterr()
    assert gate() == 2
    told = capsys.readouterr().err
    assert told.startswith("artifacts/r1/eval-summary.json:")
    assert told.endswith("   next: run the tests again\n")


def test_a_summary_of_another_run_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A good summary does not make a bad run pass."""
    stored(project, "pass", "fail")
    change(EVAL_SUMMARY, lambda data: data.update(passed=True))
    capsys.readouterr()
    assert gate() == 2
    message = capsys.readouterr().err
    assert message.startswith(
        "error[gate.digest]: artifacts/r1/eval-summary.json is not what the run wrote: its SHA-256 is "
    )
    change(SUMMARY, lambda data: data.update(eval_summary_sha256=None))
    assert gate() == 2
    assert capsys.readouterr().err.startswith("error[gate.no_digest]: ")


@pytest.mark.parametrize(
    ("edit", "contradiction"),
    [
        (
            lambda data: data["tasks"][1].update(passed=True),
            "nanoclaw-t-t1-x passed is true, and its results give false",
        ),
        (
            lambda data: (data["tasks"][1].update(passed=True, score=1.0), data.update(passedCount=2)),
            (
                "nanoclaw-t-t1-x passed is true, and its results give false; nanoclaw-t-t1-x score is 1.0, and its results "
                "give 0.5; passedCount is 2, and its results give 1"
            ),
        ),
        (lambda data: data.update(aggregateScore=1.0), "aggregateScore is 1.0, and its results give 0.75"),
        (lambda data: data.update(passedCount=2), "passedCount is 2, and its results give 1"),
        (lambda data: data.update(taskCount=3), "taskCount is 3, and its results give 2"),
        (lambda data: data.update(totalCostUsd=0.5), "totalCostUsd is 0.5, and its results give null"),
        (lambda data: data.update(totalCostUsd=0), "totalCostUsd is 0, and its results give null"),
        (lambda data: data["tasks"].pop(), "2 tests were scored, and it has 1 tasks"),
        (
            lambda data: (data["tasks"].reverse(), data["tasks"][0].update(data["tasks"][1], taskId="other")),
            (
                'other taskId is "other", and its results give "nanoclaw-t-t0-x"; nanoclaw-t-t0-x taskId is '
                '"nanoclaw-t-t0-x", and its results give "nanoclaw-t-t1-x"; nanoclaw-t-t0-x passed is true, and its results '
                "give false; and 1 more"
            ),
        ),
        (
            lambda data: data["tasks"][0].update(safetyFindings=[{"kind": "x", "severity": "low"}]),
            'nanoclaw-t-t0-x safetyFindings is [{"kind": "x", "severity": "low"}], and its results give []',
        ),
    ],
)
def test_a_summary_must_say_what_the_results_say(
    project: Project, edit: Callable[[Any], object], contradiction: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is worked out again from the results, so that a digest that was forged too does not help."""
    stored(project, "pass", "fail")
    forge(edit)
    capsys.readouterr()
    assert gate() == 2
    assert capsys.readouterr().err == (
        "error[gate.contradiction]: artifacts/r1/eval-summary.json does not match the run's results: "
        f"{contradiction}\n  next: run the tests again\n"
    )


def test_results_and_summary_must_agree(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A result that was changed afterwards is found."""
    stored(project, "pass", "fail")
    change(RUN / "nanoclaw.t.t1.x.result.json", lambda data: data.update(status="pass"))
    capsys.readouterr()
    assert gate() == 2
    assert "nanoclaw.t.t1.x is pass, and summary.json says fail" in capsys.readouterr().err


def test_a_bar_that_was_missed_is_no_pass(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`passed` cannot be true of a run that ended for missing a bar."""
    monkeypatch.setenv("AGENTEVAL_SUITE_MAX_P95_LATENCY_MS", "1000")
    stored(project, "pass")
    assert gate() == 1
    forge(lambda data: data.update(passed=True))
    capsys.readouterr()
    assert gate() == 2
    assert "passed is true, and summary.json says suite.threshold: " in capsys.readouterr().err


def test_costs_are_added_up(project: Project) -> None:
    """The total of a run whose costs are known is one that the gate believes."""
    from projects import make_replay

    for name, cost in (("a", 0.1), ("b", 0.2)):
        project.add(
            "pass",
            name,
            assertions=[SEARCHES],
            replay=make_replay(metrics={"timing_ms_total": 1200.5, "cost_usd": cost}),
        )
    main(["run", "tests", "--run-id", "r1", "-q"])
    assert json.loads(EVAL_SUMMARY.read_text())["totalCostUsd"] == 0.3
    assert gate() == 0
    forge(lambda data: data.update(totalCostUsd=0.25))
    assert gate() == 2


def test_all_examples_pass_the_gate(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a real run writes never contradicts itself."""
    from runs import CASES, EXAMPLES

    monkeypatch.chdir(EXAMPLES.parent)
    folder = project.root / "artifacts"
    argv = ["run", str(EXAMPLES / "nanoclaw"), str(CASES / "failing"), "--artifacts-dir", str(folder)]
    assert main([*argv, "--run-id", "r1", "-q"]) == 1
    assert main(["gate", str(folder / "r1"), "--required-pass-score", "0.5"]) == 0


def test_a_run_of_an_older_version_says_what_it_can(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """It counted tests that were left out, and not why."""
    stored(project, "pass")

    def older(data: Any) -> None:
        data["counts"]["deselected"] = 2
        del data["selection"], data["deselected_assertions"]

    change(SUMMARY, older)
    capsys.readouterr()
    assert gate() == 1
    assert "the run is not whole: 2 tests left out; " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (
            lambda data: data["assertions"][0].update(status="fail"),
            "status is pass, and the assertion searches fails",
        ),
        (
            lambda data: data["assertions"][0].update(status="skip"),
            "status is pass, and every assertion is skipped",
        ),
    ],
)
def test_a_result_that_contradicts_itself_opens_nothing(
    project: Project, edit: Callable[[Any], object], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is anything compared with it."""
    stored(project, "pass")
    change(RUN / "nanoclaw.t.t0.x.result.json", edit)
    capsys.readouterr()
    assert gate("--required-pass-score", "0") == 2
    assert f"nanoclaw.t.t0.x contradicts itself: {told}" in capsys.readouterr().err
    assert main(["run", "tests", "--baseline", "r1"]) == 2
    assert f"the run in artifacts/r1 is damaged: nanoclaw.t.t0.x contradicts itself: {told}" in " ".join(
        capsys.readouterr().err.split()
    )


def results() -> list[Path]:
    """The files of the results of that run."""
    return sorted(RUN.glob("*.result.json"))


def test_a_score_must_follow_from_the_assertions_of_its_result(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result that claims a better score than it has, in agreement with the EvalSummary, opens nothing."""
    stored(project, "pass", "fail")
    change(results()[1], lambda data: data["score"].update(reached=2))
    forge(lambda data: (data["tasks"][1].update(score=1.0), data.update(aggregateScore=1.0)))
    capsys.readouterr()
    assert gate("--required-pass-score", "1") == 2
    assert "nanoclaw.t.t1.x contradicts itself: its score is 2 of 2, and its assertions give 1 of 2" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("name", ["costUsd", "latencyMs", "schemaValid"])
def test_measures_must_be_those_of_the_results(
    name: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a task cost is no more believed than its score."""
    stored(project, "pass")
    forge(lambda data: data["tasks"][0].update({name: True if name == "schemaValid" else 1}))
    capsys.readouterr()
    assert gate() == 2
    assert f"nanoclaw-t-t0-x {name} is " in capsys.readouterr().err


def test_the_counts_of_a_run_must_be_those_of_its_results(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """`summary.json` cannot lose a failure."""
    stored(project, "pass", "fail")
    change(SUMMARY, lambda data: data["counts"].update(failed=0, passed=2))
    capsys.readouterr()
    assert gate("--required-pass-score", "0.5") == 2
    assert "summary.json: counts.failed is 0, and its results give 1" in capsys.readouterr().err


def test_a_run_of_a_version_that_kept_no_scores_in_results_is_read(project: Project) -> None:
    """Its scores follow from its assertions, and its costs are those of its EvalSummary."""
    stored(project, "pass", "pass")
    for path in results():
        change(path, lambda data: [data.pop(name) for name in ("score", "coverage", "deselected_assertions")])
    assert gate() == 0
    assert main(["compare", str(RUN), str(RUN)]) == 0
    forge(lambda data: data["tasks"][0].update(score=0.5))
    assert gate() == 2
