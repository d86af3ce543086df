"""Suites from files: what is wrong with one, and what a run may not ask of it, told before anything runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.openwop.suite import is_suite
from openwop.suites import SuiteProject, golden, make_suite, make_task, rubric

HOW = "--judge recorded (a verdicts.json next to each recording), or --judge 'command:PROGRAM ARGUMENTS'"


def refused(suite: SuiteProject, capsys: pytest.CaptureFixture[str], *flags: str, code: int = 3) -> list[str]:
    """Run; nothing is run and nothing written; the lines of the complaint that are not excerpts, nor pointers."""
    capsys.readouterr()
    assert suite.run(*flags) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert not (suite.root / "artifacts").exists()
    return [
        line for line in captured.err.splitlines() if " | " not in line and not line.startswith("   at: ")
    ]


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        (
            {"kind": "golden"},
            (
                "error[suite.golden_without_match]: the golden task 'cats' does not say what it expects: "
                "it needs match: {strategy, value}"
            ),
        ),
        (
            {"kind": "golden", "rubric": [{"criterion": "c", "weight": 1}]},
            (
                "error[suite.golden_without_match]: the golden task 'cats' does not say what it expects: "
                "it needs match: {strategy, value}"
            ),
        ),
        (
            {"kind": "rubric"},
            (
                "error[suite.rubric_without_criteria]: the rubric task 'cats' does not say what it expects: "
                "it needs rubric: [{criterion, weight}]"
            ),
        ),
    ],
)
def test_a_task_must_say_what_it_expects(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str], expected: dict[str, Any], told: str
) -> None:
    """The schema allows a kind without its part; a run could not judge it."""
    suite.write(make_task("cats", expected), modes=["golden", "rubric"])
    (line,) = refused(suite, capsys)
    where = suite.path.read_text(encoding="utf-8").index('"expected"') + 1
    assert line == f"suite.json:1:{where}: {told}"


def test_two_tasks_with_one_id(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """The second is named, with the place of the first."""
    suite.write(make_task("a"), make_task("cats"), make_task("cats"))
    lines = refused(suite, capsys)
    where = suite.path.read_text(encoding="utf-8").rindex('"cats"') + 1
    assert lines == [
        f"suite.json:1:{where}: error[suite.duplicate_task_id]: two tasks have the id 'cats': the first is /tasks/1",
        "   next: give one of the two another id: results are stored by id",
    ]


def test_all_that_is_wrong_is_told_at_once(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Shape and misspellings, with the place and a suggestion."""
    made = make_suite(make_task(), version="1.0", mode=["golden"])
    suite.put("suite.json", {**made, "modes": ["goldn"]})
    lines = refused(suite, capsys)
    assert [line.partition(": ")[2] for line in lines if "error[" in line] == [
        "error[json.wrong_value]: version: expected a string that matches ^[0-9]+\\.[0-9]+\\.[0-9]+$, got '1.0'",
        "error[json.wrong_value]: modes[0]: expected one of golden, rubric, adversarial, regression, live-shadow, got 'goldn'",
        "error[json.unknown_key]: unknown key 'mode'",
    ]


def test_a_suite_that_is_no_json(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that names a suiteId is read as a suite, broken as it is."""
    suite.path.write_text('{"suiteId": "a.evals.b",,}', encoding="utf-8")
    (line,) = refused(suite, capsys)
    assert line.startswith("suite.json:1:25: error[json.syntax]: ")


@pytest.mark.parametrize(
    ("modes", "flags", "told", "then"),
    [
        (
            ["golden"],
            ["--modes", "golden,rubrik"],
            "error[suite.mode_not_declared]: --modes asks for 'rubrik', which the suite does not declare",
            "   next: ask for modes of the suite, or declare it there",
        ),
        (
            ["golden"],
            ["--modes", "live-shadow"],
            "error[suite.mode_not_declared]: --modes asks for 'live-shadow', which the suite does not declare",
            "   next: ask for modes of the suite, or declare it there",
        ),
        (
            ["golden"],
            ["--baseline", "run-0"],
            (
                "error[suite.mode_not_declared]: --baseline asks for the mode 'regression', "
                "which the suite does not declare"
            ),
            "   next: ask for modes of the suite, or declare it there",
        ),
        (
            ["golden", "regression"],
            ["--modes", "regression"],
            "error[suite.no_baseline]: --modes asks for 'regression', but there is no run to compare with",
            "   next: name the earlier run: --baseline artifacts/RUN",
        ),
        (
            ["golden", "live-shadow"],
            [],
            "error[suite.live_unsupported]: live-shadow runs the agent with its real model and its real tools, and is run alone",
            "   next: run it: --modes live-shadow --live real; or name the other modes with --modes",
        ),
        (
            ["golden", "regression", "live-shadow"],
            [],
            "error[suite.live_unsupported]: live-shadow runs the agent with its real model and its real tools, and is run alone",
            "   next: run it: --modes live-shadow --live real; or name the other modes with --modes",
        ),
        (
            ["golden", "live-shadow"],
            ["--live", "real"],
            "error[suite.live_unsupported]: live-shadow runs the agent with its real model and its real tools, and is run alone",
            "   next: run it: --modes live-shadow --live real; or name the other modes with --modes",
        ),
        (
            ["live-shadow"],
            ["--live", "record"],
            "error[suite.live_unsupported]: live-shadow runs the agent with its real model and its real tools, and is run alone",
            "   next: run it: --modes live-shadow --live real; or name the other modes with --modes",
        ),
        (
            ["golden"],
            ["--agent-id", "other"],
            "error[suite.agent_mismatch]: the suite is for the agent 'mine', not for 'other'",
            "   next: run the suite for that agent, or leave --agent-id out",
        ),
        (
            ["golden"],
            ["--model-class", "coding"],
            "error[suite.model_not_allowed]: the suite is not valid for the model class 'coding'",
            "   next: evaluate a model of an allowed class",
        ),
    ],
)
def test_what_a_suite_does_not_allow(
    suite: SuiteProject,
    capsys: pytest.CaptureFixture[str],
    modes: list[str],
    flags: list[str],
    told: str,
    then: str,
) -> None:
    """Modes, agent and model class that are not the suite's are refused, each with its place."""
    suite.write(modes=modes, targetAgentId="mine", allowedModels=["general"])
    first, *rest = refused(suite, capsys, *flags)
    assert first.partition(": ")[2] == told
    anchors = {
        "live_unsupported": '"live-shadow"',
        "agent_mismatch": '"mine"',
        "model_not_allowed": '"allowedModels"',
    }
    anchor = next((sign for code, sign in anchors.items() if code in told), '"modes"')
    assert first.startswith(f"suite.json:1:{suite.path.read_text(encoding='utf-8').index(anchor) + 1}: ")
    assert rest[-1] == then


@pytest.mark.parametrize(
    ("flags", "hints"),
    [
        (["--modes", "rubrik"], ["   allowed: golden, rubric"]),
        (["--model-class", "coding"], ["   allowed: general, research"]),
    ],
)
def test_what_a_suite_allows_is_named(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str], flags: list[str], hints: list[str]
) -> None:
    """Beside what was asked for."""
    suite.write(modes=["golden", "rubric"], allowedModels=["general", "research"])
    assert refused(suite, capsys, *flags)[1:-1] == hints


def test_what_a_suite_allows(suite: SuiteProject) -> None:
    """The same options with its own agent, class and modes."""
    suite.write(modes=["golden", "live-shadow"], targetAgentId="mine", allowedModels=["general"])
    assert suite.run("--agent-id", "mine", "--model-class", "general", "--modes", "golden") == 0
    assert suite.summary()["evaluatedModelClass"] == "general"


def test_a_rubric_needs_a_judge(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody judges by itself; the message says who could."""
    suite.write(make_task(), make_task("judged", rubric(1)))
    first, then = refused(suite, capsys)
    assert first.partition(": ")[2] == (
        "error[suite.no_judge]: the task 'judged' has a rubric, but no judge is named"
    )
    assert then == f"   next: give {HOW}"
    where = suite.path.read_text(encoding="utf-8").rindex('"expected"')
    assert first.startswith(f"suite.json:1:{where + 1}: ")
    assert suite.run("--modes", "golden") == 0


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--judge", "nobody"], (f"error[judge.unknown]: unknown judge 'nobody'\n  next: give {HOW}\n")),
        (
            ["--judge", "command:"],
            "error[usage.invalid]: --judge command: names no program, or a quote is not closed\n",
        ),
        (
            ["--judge", "command:'a"],
            "error[usage.invalid]: --judge command:'a names no program, or a quote is not closed\n",
        ),
        (
            ["--judge", "recorded", "--replays", "nowhere"],
            (
                "error[suite.no_replays]: no recordings in nowhere: there is no such folder\n"
                "  next: name the folder that holds <taskId>/replay.json: --replays DIR\n"
            ),
        ),
        (
            ["--judge", "recorded", "--model-class", "big"],
            (
                "error[usage.invalid]: --model-class big: expected one of reasoning, writing, coding, research, "
                "classification, general\n"
            ),
        ),
    ],
)
def test_slips_on_the_command_line(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str], flags: list[str], told: str
) -> None:
    """What is no judge, no folder and no class is said so: exit 2."""
    suite.write(make_task("judged", rubric(1)))
    assert suite.run(*flags) == 2
    assert capsys.readouterr().err.startswith(told)


def test_replays_are_beside_the_suite(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --replays the folder beside the suite is taken; without that too, the option is named."""
    suite.write()
    assert suite.run() == 0
    (suite.root / "replays").rename(suite.root / "elsewhere")
    assert suite.run() == 2
    assert "no recordings in replays: there is no such folder" in capsys.readouterr().err
    assert suite.run("--replays", "elsewhere", run_id="run-2") == 0


@pytest.mark.parametrize("name", ["pack.tgz", "pack.tar.gz", "pack.tar", "pack.zip"])
def test_a_pack_is_refused(suite: SuiteProject, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Packs are not read: the next step is to unpack it, with options of suites or without."""
    Path(name).write_bytes(b"\x1f\x8b")
    for options in ([], ["--replays", "replays"]):
        assert main(["run", name, *options]) == 2
        assert f"{name} is packed, and packs are not read\n  next: unpack it" in capsys.readouterr().err


def test_a_suite_runs_alone(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A suite has its own scores: it is not mixed with tests; its options are not for tests."""
    suite.write()
    assert main(["run", "suite.json", "tests"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: suite.json is a suite, and a suite must be run alone\n  next: agenteval run suite.json\n"
    )
    assert main(["run", "tests", "--judge", "recorded", "--modes", "golden"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: --modes and --judge: only for an AgentEvalSuite, and no path is one\n"
        "  next: name the suite's file: agenteval run suite.json\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.json", '{"suiteId": 1}', True),
        ("a.json", '{"tasks": []}', True),
        ("a.json", '{"assertions": [], "tasks": []}', False),
        ("a.json", '{"assertions": [], "x": {"suiteId": 1}}', False),
        ("a.json", '{"suiteId" : ', True),
        ("a.json", '{"id": ', False),
        ("a.json", "[]", False),
        ("a.yaml", '{"suiteId": 1}', False),
    ],
)
def test_what_is_taken_for_a_suite(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    """JSON with a suite's keys at its top; a test in JSON stays a test."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert is_suite(path) is expected


def test_validate_checks_suites(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """`agenteval validate suite.json` says what a run would refuse, and counts a valid one."""
    suite.write(record=False)
    assert main(["validate", "suite.json"]) == 0
    assert capsys.readouterr().out == "1 test file valid\n"
    suite.write(make_task(expected={"kind": "golden"}), modes=["golden"], record=False)
    assert main(["validate", "suite.json"]) == 3
    out = capsys.readouterr().out
    assert "error[suite.golden_without_match]" in out
    assert out.endswith("1 of 1 test file is invalid (1 problem)\n")


@pytest.mark.parametrize(
    ("modes", "flags", "ran"),
    [
        (["golden", "rubric"], [], ["a", "b"]),
        (["golden", "rubric"], ["--modes", "golden"], ["a"]),
        (["golden", "rubric"], ["--modes", "rubric"], ["b"]),
        (["golden", "rubric"], ["--modes", "rubric, golden"], ["a", "b"]),
        (["golden", "adversarial"], ["--modes", "adversarial"], ["a", "b"]),
        (["golden"], [], ["a", "b"]),
        (["golden"], ["--modes", "golden"], ["a"]),
        (["rubric"], ["--modes", "rubric"], ["b"]),
    ],
)
def test_modes_select_tasks(suite: SuiteProject, modes: list[str], flags: list[str], ran: list[str]) -> None:
    """`golden` and `rubric` mean the tasks of that kind, the others all; so does a suite that is run as it is."""
    suite.write(make_task("a"), make_task("b", rubric(1)), modes=modes)
    suite.decide("b", True)
    assert suite.run("--judge", "recorded", *flags) == 0
    assert [task["taskId"] for task in suite.summary()["tasks"]] == ran


def test_large_suites_are_refused_by_size(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """The limit on files holds for suites."""
    suite.write(make_task(expected=golden("exact", "x" * 2000)))
    (suite.root / "agenteval.yaml").write_text("limits: {max_file_bytes: 1000}\n")
    assert refused(suite, capsys)[0].startswith("suite.json: error[file.too_large]: ")
    assert json.loads(suite.path.read_text())["suiteId"] == "local.test.evals.assistant"


@pytest.mark.parametrize("command", [["list"], ["suite", "new"]])
def test_commands_about_tests_say_that_it_is_a_suite(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """A suite is not taken for a broken test, and how to see its tasks is said."""
    suite.write()
    assert main([*command, "suite.json"]) == 3
    assert capsys.readouterr().err.startswith(
        "suite.json: error[select.suite]: an AgentEvalSuite, which has tasks, not tests\n"
        "   next: agenteval run suite.json --collect-only shows its tasks\n"
    )


def test_tasks_have_one_check_each(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """What chooses an assertion of a test is told how to choose a task, and the suite is not taken for a test."""
    suite.write()
    assert main(["run", "suite.json::a", "--judge", "recorded"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: suite.json::a: suite.json is a suite, and its tasks have one check each\n"
        "  next: choose tasks by their names: agenteval run suite.json -k TASK\n"
    )
