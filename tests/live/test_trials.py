"""Live tests that are run several times, against a model that does not answer the same twice."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.loading.testfile import LoadedTest
from live_projects import LOOKED_UP, LiveProject, Service, needs_sandbox, service, tool_use
from runs import Run

pytestmark = needs_sandbox
WRONG = [tool_use("lookup", order="42"), "I do not know."]
TWICE = [tool_use("lookup", order="42"), tool_use("lookup", order="43"), "It ships tomorrow."]
OUTAGE = [{"status": 529, "message": "overloaded"}]
KEY = "sk-ant-api03-the-real-key-0123456789"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LiveProject:
    """A project with one test, whose fixture answers any number of times."""
    monkeypatch.chdir(tmp_path)
    made = LiveProject(tmp_path, monkeypatch)
    order(made)
    return made


def order(project: LiveProject, **changes: Any) -> None:
    project.test(**changes)
    project.track()


def tried(project: LiveProject, turns: list[Any], *flags: str) -> tuple[Run, Service]:
    """A run with the real model, which answers with turns; and the model's service."""
    with service(turns, {"input_tokens": 10, "output_tokens": 1}) as made:
        project.configure(
            model={"base_url": made.base_url, "key_env": "LIVE_TEST_KEY"}, prices={"*": [1000.0, 1000.0]}
        )
        project.monkeypatch.setenv("LIVE_TEST_KEY", KEY)
        return project.live("--live", "real", *flags), made


def test_every_trial_is_told(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """All must pass, unless the test says otherwise; the result has each, and where they went other ways."""
    turns = [*LOOKED_UP, *WRONG, *TWICE, *LOOKED_UP]
    run, _ = tried(project, turns, "--trials", "4", "--junit-xml", "junit.xml", "--html", "report.html")
    assert run.exit_code == 1
    result = run.only_result()
    trials = result["trials"]
    assert (trials["asked"], trials["judged"], trials["passed"], trials["rate"]) == (4, 4, 3, 0.75)
    assert trials["interval"] == pytest.approx([0.3006, 0.9544], abs=1e-4)
    assert trials["pass_at_k"] == pytest.approx([0.75, 1, 1, 1])
    assert trials["pass_hat_k"] == pytest.approx([0.75, 0.5, 0.25, 0])
    assert [each["status"] for each in trials["trials"]] == ["pass", "fail", "pass", "pass"]
    assert trials["trials"][1] | {"duration_ms": 0, "cost_usd": 0} == {
        "number": 2,
        "status": "fail",
        "reason_code": "assertion.failed",
        "duration_ms": 0,
        "failed": ["tells"],
        "message": "",
        "variant": None,
        "cost_usd": 0,
        "shown": True,
        "vacuous": [],
        "skipped": [],
    }
    assert trials["assertions"] == [
        {"id": "looked-up", "passed": 4, "judged": 4, "vacuous": 0, "skipped": 0},
        {"id": "tells", "passed": 3, "judged": 4, "vacuous": 0, "skipped": 0},
    ]
    assert [each["trials"] for each in trials["trajectories"]] == [[1, 2, 4], [3]]
    assert "lookup" in trials["trajectories"][1]["difference"][0]
    assert result["live"]["requests"] == len(turns)
    told = capsys.readouterr().out
    assert "3 of 4 trials passed (30% to 95%), passes sometimes" in told
    assert "trial 2: tells" in told
    assert "tells passed in 3 of 4" in told
    assert 'name="trials" value="3 of 4 trials passed' in Path("junit.xml").read_text()
    assert "3 of 4 trials passed" in Path("report.html").read_text()
    assert run.summary["tests"][0]["trials"] == [3, 4]


CALLS = {"id": "calls", "type": "must_call_tool", "params": {"tool": "lookup"}}
GROUNDED = {"id": "grounded", "type": "claims_supported_by_fixtures"}
EMPTY = [tool_use("lookup", order="42"), ""]
HELD = [tool_use("lookup", order="42"), "Order 42 ships tomorrow."]
REPORTS = ("markdown", "html", "sarif", "junit-xml")


@pytest.mark.parametrize("turns", [[*HELD, *EMPTY, *HELD], [*EMPTY, *HELD, *HELD]])
def test_a_trial_that_judged_nothing_is_not_hidden_by_the_others(
    turns: list[Any], project: LiveProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever trial is shown, an assertion with nothing to judge in one of them is told as vacuous, everywhere."""
    order(project, assertions=[CALLS, GROUNDED])
    flags = [part for name in REPORTS for part in (f"--{name}", name)]
    run, _ = tried(project, turns, "--trials", "3", *flags)
    result = run.only_result()
    assert run.exit_code == 0
    assert result["trials"]["assertions"][1] == {
        "id": "grounded", "passed": 3, "judged": 3, "vacuous": 1, "skipped": 0,
    }  # fmt: skip
    assert sorted(each["vacuous"] for each in result["trials"]["trials"]) == [[], [], ["grounded"]]
    assert run.summary["counts"]["vacuous_passes"] == run.summary["tests"][0]["vacuous"] == 1
    assert "3 of 3 trials passed (44% to 100%) · 1 vacuous" in capsys.readouterr().out
    told = {name: Path(name).read_text(encoding="utf-8") for name in REPORTS}
    assert "grounded had nothing to judge in 1 of 3" in told["markdown"]
    assert "nothing to judge: grounded" in told["html"]
    assert 'name="trials: grounded" value="3 of 3, 1 of them vacuous"' in told["junit-xml"]
    run, _ = tried(project, turns, "--trials", "3", "--fail-on-vacuous")
    assert (run.exit_code, run.only_result()["trials"]["passed"]) == (1, 2)


def test_reports_tell_of_trials(project: LiveProject) -> None:
    """A test that fails sometimes looks like no test that always fails: each report has the rate and the trials."""
    order(project, live={"pass_at_least": 0.5})
    for turns in ([*LOOKED_UP, *WRONG, *LOOKED_UP], [*LOOKED_UP, *WRONG, *WRONG]):
        tried(project, turns, "--trials", "3", *(part for name in REPORTS for part in (f"--{name}", name)))
        passed = 4 - len([each for each in turns if each == WRONG[1]]) - 1
        for name in REPORTS:
            told = Path(name).read_text(encoding="utf-8")
            if name != "sarif" or passed < 2:  # which has no test that passed
                assert f"{passed} of 3 trials passed" in told, name
                assert "trial 2" in told, name
                assert "tells passed in" in told, name
                assert "model " in told, name


@pytest.mark.parametrize(
    ("states", "status"),
    [
        (["pass", "skip", "pass"], "fail"),
        (["skip", "fail", "skip"], "fail"),
        (["skip", "skip", "skip"], "skipped"),
    ],
)
def test_a_trial_that_was_skipped_is_none_that_passed(
    states: list[str], status: str, project: LiveProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test of which only some trials could be judged does not end as skipped, which fails no run."""
    waiting = iter(states)

    def judged(test: LoadedTest, options: RunOptions) -> Outcome:
        outcome, state = run_test(test, options), next(waiting)
        if state != "pass":
            for each in outcome.result.assertions:
                each.status = "skip" if state == "skip" else "fail"
            outcome.result.status = "skipped" if state == "skip" else "fail"
        return outcome

    monkeypatch.setattr("agenteval.running.trials.run_test", judged)
    run, _ = tried(project, LOOKED_UP * 3, "--trials", "3", "-n", "1")
    assert run.only_result()["status"] == status


def test_an_assertion_that_some_trials_skip_is_told_as_skipped(
    project: LiveProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where each assertion is skipped in some trial, and the bar is met."""
    waiting = iter(range(2))

    def judged(test: LoadedTest, options: RunOptions) -> Outcome:
        outcome = run_test(test, options)
        skipped = outcome.result.assertions[next(waiting)]
        skipped.status, skipped.exercised, skipped.message = "skip", False, "skipped: it needs more"
        return outcome

    monkeypatch.setattr("agenteval.running.trials.run_test", judged)
    run, _ = tried(project, LOOKED_UP * 2, "--trials", "2", "-n", "1")
    result = run.only_result()
    assert result["summary"]["assertions_skipped"] == 2
    assert result["assertions"][0]["message"] == "skipped: it needs more (in 1 of 2 trials)"
    assert main(["gate", str(run.folder)]) == 0


def test_the_bar_of_a_test(project: LiveProject) -> None:
    """Its own number of trials, and the share that must pass."""
    order(project, live={"trials": 3, "pass_at_least": 0.66})
    assert tried(project, [*LOOKED_UP, *WRONG, *LOOKED_UP])[0].only_result()["status"] == "pass"
    run, _ = tried(project, [*LOOKED_UP, *WRONG, *WRONG])
    assert (run.exit_code, run.only_result()["trials"]["passed"]) == (1, 1)


def test_outages_are_outside_the_rate(project: LiveProject) -> None:
    """What the service kept from being judged is run again; too much of it is an error."""
    run, _ = tried(project, [*OUTAGE, *LOOKED_UP, *OUTAGE, *LOOKED_UP], "--trials", "2")
    trials = run.only_result()["trials"]
    assert (run.exit_code, trials["judged"], trials["passed"], len(trials["invalid"])) == (0, 2, 2, 2)
    run, _ = tried(project, OUTAGE * 9, "--trials", "2")
    result = run.only_result()
    assert (run.exit_code, result["error"]["reason_code"]) == (2, "live.too_many_invalid")
    assert "overloaded" in result["error"]["message"]


def test_a_trial_that_cannot_be_judged_is_no_failure_that_a_bar_excuses(project: LiveProject) -> None:
    """An error of any other kind ends the test as an error, and the trials before it are told."""
    order(project, fixtures=[], live={"pass_at_least": 0.5})
    run, _ = tried(project, ["It ships tomorrow.", *LOOKED_UP], "--trials", "4")
    result = run.only_result()
    assert (run.exit_code, result["error"]["reason_code"]) == (2, "live.no_fixture")
    assert (result["trials"]["judged"], result["trials"]["interval"]) == (2, None)


def test_an_early_stop_gives_no_interval(project: LiveProject) -> None:
    """Trials end once the bar cannot be met any more."""
    run, _ = tried(project, [*LOOKED_UP, *WRONG, *LOOKED_UP, *LOOKED_UP], "--trials", "4", "--early-stop")
    trials = run.only_result()["trials"]
    assert (trials["judged"], trials["stopped_early"], trials["interval"]) == (2, True, None)
    assert (run.exit_code, trials["pass_at_k"]) == (1, [])


def test_phrasings_come_in_turn(project: LiveProject) -> None:
    """Each trial asks in the next of them."""
    order(project, variants=["Where is order 42?", "Any news of order 42?"])
    run, made = tried(project, LOOKED_UP * 3, "--trials", "3")
    asked = [body["messages"][0]["content"] for body in made.bodies[::2]]
    assert asked == ["Where is order 42?", "Any news of order 42?", "Where is order 42?"]
    assert [each["variant"] for each in run.only_result()["trials"]["trials"]] == asked


def test_what_does_not_block_yet(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Told as a known failure until its day, with its owner; then it fails the run."""
    soon = (datetime.now(UTC) + timedelta(days=300)).date().isoformat()
    order(project, live={"blocking": False, "owner": "dana", "until": soon})
    run, _ = tried(project, WRONG)
    assert (run.exit_code, run.only_result()["xfail"]) == (0, True)
    assert f"does not block until {soon}: dana" in capsys.readouterr().out
    order(project, live={"blocking": False, "owner": "dana", "until": "2020-01-01"})
    assert tried(project, WRONG)[0].exit_code == 1
    for wrong in ({}, {"owner": "dana", "until": "9999-12-31"}, {"owner": "dana", "until": "2026-02-30"}):
        order(project, live={"blocking": False, **wrong})
        assert project.live("--live").exit_code == 3


def test_cost_is_held(project: LiveProject) -> None:
    """No run is begun that, like the most expensive before it, would pass what is allowed."""
    run, _ = tried(project, LOOKED_UP * 4, "--trials", "4")
    each = run.only_result()["live"]["cost_usd"] / 4
    assert each > 0
    run, made = tried(project, LOOKED_UP * 4, "--trials", "4", "--max-cost", str(each * 2.5))
    result = run.only_result()
    assert (run.exit_code, result["error"]["reason_code"]) == (2, "live.over_budget")
    assert len(made.bodies) == 4


def test_runs_are_compared_by_their_rates(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A fall beyond chance is a regression, a trial that fails is not known to be one; other conditions are refused."""
    tried(project, LOOKED_UP * 5, "--trials", "5")
    tried(project, [*LOOKED_UP * 4, *WRONG], "--trials", "5")
    tried(project, WRONG * 5, "--trials", "5")
    capsys.readouterr()
    assert main(["compare", "artifacts/run-1", "artifacts/run-2"]) == 0
    out = capsys.readouterr().out
    assert (
        "    - command.order.lookup.once  unclear  5/5 → 4/5\n        a fall of up to 70 points is not ruled out"
        in out
    )
    assert "no regression found, 1 pass rate unclear\n" in out
    assert main(["compare", "artifacts/run-1", "artifacts/run-3"]) == 1
    out = capsys.readouterr().out
    assert (
        "command.order.lookup.once  worse  5/5 → 0/5\n        passes less often than before (p 0.000977)"
        in out
    )
    assert main(["compare", "artifacts/run-1", "artifacts/run-3", "--json"]) == 1
    (rate,) = json.loads(capsys.readouterr().out)["rates"]
    assert (rate["before"], rate["after"], rate["verdict"], rate["trials_needed"]) == (
        [5, 5],
        [0, 5],
        "worse",
        None,
    )
    assert rate["interval"] == pytest.approx([-1, -0.55], abs=0.1)
    settings = Path("agenteval.yaml")
    project.write("agenteval.yaml", settings.read_text() + "check: {margin: 0.8}\n")
    assert main(["compare", "artifacts/run-1", "artifacts/run-2"]) == 0
    assert "  held  5/5 → 4/5\n        a fall of more than 70 points is ruled out" in capsys.readouterr().out
    path = Path("artifacts/run-3/command.order.lookup.once.result.json")
    other = json.loads(path.read_text())
    other["live"]["model"] = "another"
    path.write_text(json.dumps(other))
    assert main(["compare", "artifacts/run-1", "artifacts/run-3"]) == 2
    assert "baseline.other_conditions" in capsys.readouterr().err


def test_a_baseline_that_knows_no_failure_excuses_none(project: LiveProject) -> None:
    """A rate that did not fall beyond chance may still be below the bar of its test."""
    tried(project, LOOKED_UP * 5, "--trials", "5")
    run, _ = tried(project, [*LOOKED_UP * 4, *WRONG], "--trials", "5", "--baseline", "artifacts/run-1")
    assert run.exit_code == 1


def test_trials_that_ended_early_are_compared_as_such(project: LiveProject) -> None:
    """Five of five, then one that fails and ends the trials: the nineteen others of twenty may have passed."""
    tried(project, LOOKED_UP * 5, "--trials", "5")
    tried(project, WRONG, "--trials", "20", "--early-stop")
    row = json.loads(Path("artifacts/run-2/summary.json").read_text(encoding="utf-8"))["tests"][0]
    assert row["trials"] == [0, 1, 20]
    assert main(["compare", "artifacts/run-1", "artifacts/run-2"]) == 0


def test_pytest_runs_a_test_as_often_as_it_says(project: LiveProject) -> None:
    """One trial of two would be half a verdict; a failure that does not block yet is an expected one."""
    project.write("evals/order/turns.yaml", json.dumps(WRONG))
    until = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%d")
    soft = {"blocking": False, "owner": "dana", "until": until}
    order(project, live={"script": "turns.yaml", "trials": 2, **soft})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--agenteval"]
    done = subprocess.run(
        [*command, "--agenteval-artifacts", "out", "evals"], capture_output=True, text=True, check=False
    )
    assert "1 xfailed" in done.stdout, done.stdout
    (file,) = Path("out").glob("*/*.result.json")
    assert json.loads(file.read_text(encoding="utf-8"))["trials"]["judged"] == 2
