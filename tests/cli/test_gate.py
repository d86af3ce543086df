"""`agenteval gate`: a deployment passes by what a run measured, and by nothing that was put in its place."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from projects import SEARCHES, VACUOUS, Project, make_replay

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


def test_a_run_that_passed_opens_the_gate(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """By `passed` of its EvalSummary."""
    stored(project, "pass", "pass")
    assert main(["gate", "r1"]) == 0
    capsys.readouterr()
    assert gate() == 0
    assert capsys.readouterr().out == (
        "r1  local.agenteval.evals.tests 0.1.0\nscore 1, 2 of 2 tasks passed\nexit 0: the gate is open\n"
    )


def test_one_shard_does_not_open_the_gate(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not what was asked to pass: the other shards are."""
    project.add("pass", "a")
    project.add("fail", "b")
    assert main(["run", "tests", "--run-id", "r1", "--shard", "1/2", "-q"]) == 0
    capsys.readouterr()
    assert main(["gate", "r1-shard-1-of-2"]) == 2
    assert capsys.readouterr().err == (
        "error[gate.shard]: artifacts/r1-shard-1-of-2 is one shard of a run: the others may have failed, and thresholds are "
        "for all of them\n"
        "  next: merge the shards with `agenteval merge`, and use the merged run\n"
    )


def test_a_run_that_did_not_pass_keeps_it_shut(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """With the reason that the run had."""
    stored(project, "pass", "fail")
    capsys.readouterr()
    assert gate() == 1
    assert capsys.readouterr().out.endswith(
        "exit 1: the run missed a threshold: the score is 0.75; 1 test failed\n"
    )


@pytest.mark.parametrize(
    ("required", "code"), [("0.74", 0), ("0.75", 0), ("0.7500001", 1), ("1", 1), ("0", 1), ("0.01", 0)]
)
def test_a_required_score_decides_instead(project: Project, required: str, code: int) -> None:
    """At the bar is enough; just under it is not, whatever rounding shows."""
    stored(project, "pass", "fail")
    assert gate("--required-pass-score", required) == code


@pytest.mark.parametrize("flag", [[], ["--pass-score", "0"]])
def test_a_bar_of_nothing_opens_nothing(
    flag: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any run reaches a score of 0, set on the command line or in the configuration; a run that passed is open."""
    if not flag:
        Path("agenteval.yaml").write_text("suite: {pass_score: 0}\n", encoding="utf-8")
    project.add("pass", "t0")
    assert main(["run", "tests", "--run-id", "r1", "-q", *flag]) == 0
    assert gate() == 0
    project.add("fail", "t1")
    assert main(["run", "tests", "--run-id", "r2", "-q", *flag]) == 1
    capsys.readouterr()
    assert main(["gate", "artifacts/r2"]) == 1
    assert (
        "any run reaches a required score of 0, and nanoclaw-t-t1-x did not pass" in capsys.readouterr().out
    )


@pytest.mark.parametrize("options", [[], ["--required-pass-score", "0.5"], ["--allow-partial"]])
def test_a_test_that_judged_nothing_opens_no_gate(
    options: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its pass says nothing of the agent, whatever its score; an assertion beside it that judged something is enough."""
    idle: dict[str, Any] = {"replay": make_replay(script=[]), "tools": {"available": ["a"]}}
    said = {"id": "said", "type": "output_contains", "params": {"all_of": ["Cats"]}}
    project.add("vacuous", "t0", assertions=[said, VACUOUS], **idle)
    assert main(["run", "tests", "--run-id", "r1", "-q"]) == 0
    assert gate(*options) == 0
    project.add("vacuous", "t1", assertions=[VACUOUS], **idle)
    assert main(["run", "tests", "--run-id", "r2", "-q"]) == 0
    capsys.readouterr()
    assert main(["gate", "artifacts/r2", *options]) == 1
    assert "exit 1: a test passed with nothing to judge: nanoclaw.t.t1.x; see why" in capsys.readouterr().out


def test_the_decision_as_json(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """For scripts, with the reference that a deployment keeps."""
    stored(project, "pass", "fail")
    capsys.readouterr()
    assert gate("--required-pass-score", "0.8", "--json") == 1
    assert json.loads(capsys.readouterr().out) == {
        "evalRunId": "r1",
        "requiredPassScore": 0.8,
        "suiteId": "local.agenteval.evals.tests",
        "suiteVersion": "0.1.0",
        "aggregateScore": 0.75,
        "passed": False,
        "reason": "the score 0.75 is below 0.8",
        "leftOut": None,
    }


@pytest.mark.parametrize(
    ("kinds", "reason"),
    [
        (("pass", "error"), "the run ended with exit 2: 1 test ended in an error"),
        (("pass", "invalid"), "the run ended with exit 3: 1 invalid test spec"),
        (("skip",), "the run ended with exit 3: nothing was judged: 1 test skipped"),
    ],
)
def test_a_run_that_could_not_judge_all_does_not_pass(
    project: Project, kinds: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """However low the required score is."""
    stored(project, *kinds)
    capsys.readouterr()
    assert gate("--required-pass-score", "0") == 1
    assert capsys.readouterr().out.endswith(f"exit 1: {reason}\n")


def test_a_failure_that_costs_no_score_keeps_it_shut(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under `--strict` a warning fails a test whose score is 1; a score that is asked for decides all the same."""
    project.add("warn")
    assert main(["run", "tests", "--run-id", "r1", "-q", "--strict"]) == 1
    capsys.readouterr()
    assert gate() == 1
    assert capsys.readouterr().out == (
        "r1  local.agenteval.evals.tests 0.1.0\nscore 1, 0 of 1 task passed\n"
        "exit 1: a test failed for a reason that no score counts, such as a warning: nanoclaw-t-warn-x\n"
    )
    assert gate("--required-pass-score", "1") == 0


def test_a_warning_of_a_strict_run_keeps_it_shut(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """It fails no test; a score that is asked for decides all the same."""
    project.add("pass", id="odd")
    assert main(["run", "tests", "--run-id", "r1", "-q", "--strict", "--pass-score", "1"]) == 1
    capsys.readouterr()
    assert gate() == 1
    assert capsys.readouterr().out == (
        "r1  local.agenteval.evals.tests 0.1.0\nscore 1, 1 of 1 task passed\n"
        "exit 1: the run failed for its warnings: 1 warning (--strict allows none)\n"
    )
    assert gate("--required-pass-score", "1") == 0


def test_a_failure_that_a_baseline_knows_does_not(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that has passed opens the gate, whatever it would have failed without its baseline."""
    project.add("warn")
    assert main(["run", "tests", "--run-id", "r0", "-q", "--strict", "--update-baseline"]) == 0
    assert (
        main(["run", "tests", "--run-id", "r1", "-q", "--strict", "--baseline", "agenteval-baseline.json"])
        == 0
    )
    capsys.readouterr()
    assert gate() == 0


def test_a_bar_is_not_said_to_decide_where_it_does_not(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that the gate would not let through does not promise that it does."""
    project.add("warn")
    assert main(["run", "tests", "--run-id", "r1", "-q", "--strict", "--pass-score", "0.5"]) == 1
    assert capsys.readouterr().out.endswith("exit 1: 1 test failed\n")
    assert gate() == 1


@pytest.mark.parametrize("asked", [[], ["--required-pass-score", "0"]])
def test_a_run_that_was_stopped_early_keeps_it_shut(
    project: Project, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its score is of the tests before the failure: nobody knows what those after it would have scored."""
    for name, kind in (("a", "pass"), ("b", "fail"), ("c", "fail")):
        project.add(kind, name)
    assert main(["run", "tests", "--run-id", "r1", "-q", "-x", "--pass-score", "0.5"]) == 1
    assert capsys.readouterr().out.endswith("exit 1: 1 test failed; stopped after 1 failure\n")
    assert json.loads(EVAL_SUMMARY.read_text())["passed"] is False
    assert gate(*asked) == 1
    assert capsys.readouterr().out.endswith(
        "exit 1: the run is not whole: stopped after 1 failure; --allow-partial decides by what was run\n"
    )


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


LEFT_OUT = [
    (["-k", "t0"], "1 test left out (-k t0)"),
    (["-k", "not t1 and not t2"], "1 test left out (-k not t1 and not t2)"),
    (["--tag", "good"], "1 test left out (--tag good)"),
    (["--exclude-tag", "bad", "--exclude-tag", "x"], "1 test left out (--exclude-tag bad, --exclude-tag x)"),
    (["-n", "2", "-k", "t0"], "1 test left out (-k t0)"),
]


@pytest.mark.parametrize("required", [[], ["--required-pass-score", "0"]], ids=["by-summary", "by-score"])
@pytest.mark.parametrize(("options", "what"), LEFT_OUT)
def test_what_left_out_a_test_keeps_it_shut(
    project: Project, options: list[str], what: str, required: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The test that was left out may be the one that fails; whoever knows better says so."""
    project.add("pass", "t0", tags=["good"])
    project.add("fail", "t1", tags=["bad"])
    assert main(["run", "tests", "--run-id", "r1", "-q", *options]) == 0
    capsys.readouterr()
    assert gate(*required) == 1
    assert capsys.readouterr().out.endswith(
        f"exit 1: the run is not whole: {what}; --allow-partial decides by what was run\n"
    )
    assert gate("--allow-partial", *required) == 0
    assert capsys.readouterr().out.endswith(f"exit 0: the gate is open, with {what}\n")
    assert gate("--json") == 1
    assert json.loads(capsys.readouterr().out)["leftOut"] == what


def test_an_assertion_that_was_left_out_keeps_it_shut(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """`::` chooses what is judged: here all but what fails."""
    project.add("fail", "t0")
    project.add("pass", "t1")
    for workers in ("1", "2"):
        run = f"r{workers}"
        paths = ["tests/t0/test.yaml::searches", "tests/t1"]
        assert main(["run", *paths, "--run-id", run, "-q", "-n", workers]) == 0
        capsys.readouterr()
        assert main(["gate", run]) == 1
        assert (
            "the run is not whole: 1 assertion left out (tests/t0/test.yaml::searches); "
            in capsys.readouterr().out
        )
        assert main(["gate", run, "--allow-partial"]) == 0
    both = ["tests/t0/test.yaml::searches", "tests/t1", "-k", "t0"]
    assert main(["run", *both, "--run-id", "r3", "-q"]) == 0
    capsys.readouterr()
    assert main(["gate", "r3"]) == 1
    told = "1 test and 1 assertion left out (-k t0, tests/t0/test.yaml::searches)"
    assert f"the run is not whole: {told}; " in capsys.readouterr().out


def test_all_assertions_chosen_one_by_one_are_a_whole_test(project: Project) -> None:
    """Nothing was left out, whatever the command line looks like; so of a word that all tests match."""
    project.add("pass", "t0")
    assert main(["run", "tests/t0/test.yaml::searches", "--run-id", "r1", "-q", "-k", "t0"]) == 0
    assert gate() == 0
    assert json.loads(SUMMARY.read_text())["selection"] == []


def test_what_failed_last_is_not_the_whole(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--lf` after a fix; without a failure on record it runs all, which is the whole."""
    path = project.add("fail", "t0")
    project.add("pass", "t1")
    main(["run", "tests", "-q"])
    path.write_text(path.read_text().replace("tool: web_fetch", "tool: web_search"))
    assert main(["run", "tests", "-q", "--lf", "--run-id", "r1"]) == 0
    capsys.readouterr()
    assert gate() == 1
    assert "the run is not whole: 1 test left out (--lf); " in capsys.readouterr().out
    assert main(["run", "tests", "-q", "--lf", "--run-id", "r2"]) == 0
    assert main(["gate", "r2"]) == 0


def test_a_stopped_run_that_is_allowed_is_judged_by_its_score(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only where a score is asked for: a run that was stopped has met no threshold."""
    for name, kind in (("a", "pass"), ("b", "fail"), ("c", "fail")):
        project.add(kind, name)
    assert main(["run", "tests", "--run-id", "r1", "-q", "--maxfail", "1"]) == 1
    capsys.readouterr()
    assert gate("--allow-partial") == 1
    assert gate("--allow-partial", "--required-pass-score", "0.7") == 0
    assert capsys.readouterr().out.endswith("exit 0: the gate is open, with stopped after 1 failure\n")


def test_merged_shards_say_what_all_of_them_left_out(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that no shard has, and assertions that each left out."""
    for name in "abc":
        project.add("fail", name)
    paths = [f"tests/{name}/test.yaml::searches" for name in "abc"]
    for number in (1, 2):
        options = ["--shard", f"{number}/2", "--run-id", "r1", "-k", "not b"]
        assert main(["run", *paths, "-q", *options]) == 0
    assert main(["merge", *(f"artifacts/r1-shard-{number}-of-2" for number in (1, 2)), "-q"]) == 0
    capsys.readouterr()
    assert gate() == 1
    told = f"1 test and 2 assertions left out (-k not b, {', '.join(paths)})"
    assert f"the run is not whole: {told}; " in capsys.readouterr().out


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


def test_paths_that_leave_out_configured_tests_keep_it_shut(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The configuration says what the whole is; without `tests` in it, the whole is what was named."""
    project.add("pass", "t0")
    project.add("fail", "t1")
    project.add("fail", "t2")
    assert main(["run", "tests/t0", "-q", "--run-id", "r1"]) == 0
    assert gate() == 0
    (project.root / "agenteval.yaml").write_text(
        "tests: [tests]\nsuite: {id: a.b.evals.c}\n", encoding="utf-8"
    )
    for number, paths in enumerate((["tests/t0"], ["tests/t0/test.yaml"], ["tests/t0/test.yaml::searches"])):
        assert main(["run", *paths, "-q", "--run-id", f"p{number}"]) == 0
        capsys.readouterr()
        assert main(["gate", f"p{number}"]) == 1
        assert f"the run is not whole: 2 tests left out ({paths[0]}); " in capsys.readouterr().out
    assert main(["run", "tests/t0", "tests/t1", "-q", "-k", "t0", "--run-id", "p3"]) == 0
    capsys.readouterr()
    assert main(["gate", "p3"]) == 1
    assert "the run is not whole: 2 tests left out (-k t0, tests/t0, tests/t1); " in capsys.readouterr().out
    assert main(["gate", "p3", "--allow-partial"]) == 0
    assert main(["run", "tests/t0", "-q", "--run-id", "p4", "--shard", "1/1"]) == 0
    assert main(["merge", "artifacts/p4-shard-1-of-1"]) == 0
    capsys.readouterr()
    assert main(["gate", "p4"]) == 1
    assert "the run is not whole: 2 tests left out (tests/t0); " in capsys.readouterr().out
    (project.root / "agenteval.yaml").write_text("tests: [tests/t0]\n", encoding="utf-8")
    for run, argv in (("w1", []), ("w2", ["tests/t0"]), ("w3", ["./tests/t0/test.yaml"])):
        assert main(["run", *argv, "-q", "--run-id", run]) == 0
        assert main(["gate", run]) == 0


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
