"""Runs of suites: tasks as tests, fixtures, safety, bars, regression; and nothing of the content in what leaves."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from openwop.suites import SUITE_ID, SuiteProject, golden, make_task, rubric
from projects import Project, make_replay

BASELINE = "agenteval-baseline.json"
CLEARED = "1 test failed, though the score meets its threshold (agenteval gate goes by that)"


def test_tasks_are_tests(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Shown, counted and filed as tests, in the order of the suite; the summary has the suite's ids as they are."""
    suite.write(make_task("b--1"), make_task("a-", golden("exact", "Dogs")), make_task("gone"))
    (suite.root / "replays" / "gone" / "replay.json").unlink()
    assert suite.run() == 2
    out = capsys.readouterr().out
    assert [line.split()[:2] for line in out.splitlines() if line[:4] in ("PASS", "FAIL", "ERRO")] == [
        ["PASS", "b--1"],
        ["FAIL", "a-"],
        ["ERROR", "gone"],
    ]
    assert "  golden task (exact)\n" in out
    assert out.splitlines()[-1] == "exit 2: 1 test ended in an error"
    result = suite.result("a-")
    assert (result["test_case_id"], result["path"], result["adapter"]["name"]) == (
        "a-",
        "suite.json",
        "nanoclaw",
    )
    assert suite.summary() == {
        "suiteId": SUITE_ID,
        "suiteVersion": "1.2.3",
        "aggregateScore": 1 / 3,
        "passed": False,
        "taskCount": 3,
        "passedCount": 1,
        "tasks": [
            {"taskId": "b--1", "score": 1.0, "passed": True, "latencyMs": 1200},
            {"taskId": "a-", "score": 0.0, "passed": False, "latencyMs": 1200},
            {"taskId": "gone", "score": 0.0, "passed": False},
        ],
    }
    assert suite.read("summary.json")["counts"]["total"] == 3


def test_a_recording_that_is_not_there(suite: SuiteProject) -> None:
    """The task is an error, which says where the recording belongs."""
    suite.write(make_task("opening-hours"), record=False)
    suite.record("opening-hour")
    assert suite.run() == 2
    result = suite.result("opening-hours")
    assert (result["reason_code"], result["error"]["message"]) == (
        "adapter.replay_missing",
        "adapter_input.replay_file names 'replay.json', but replays/opening-hours/replay.json is not there",
    )
    assert result["next_step"]


def test_a_failed_task_names_the_command_that_runs_it_again(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the options of the suite, and it is right; the run that is told again does not know them, and has none."""
    suite.write(make_task("judged", rubric(1)), make_task("cats"))
    suite.decide("judged", False)
    flags = ["--modes", "rubric", "--judge", "recorded"]
    assert suite.run(*flags) == 1
    told = capsys.readouterr().out.splitlines()
    (again,) = [line for line in told if line.startswith("  agenteval run")]
    assert again == "  agenteval run suite.json --modes rubric --judge recorded"
    assert main(again.split()[1:]) == 1
    capsys.readouterr()
    assert main(["report", "run-1"]) == 0
    told.remove(again)
    assert capsys.readouterr().out.splitlines() == told


def test_what_a_judge_is_called_is_quoted(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A program has arguments, and a folder may have a blank in its name."""
    suite.write(make_task("cats", golden("exact", "Dogs")))
    (suite.root / "replays").rename(suite.root / "my replays")
    assert suite.run("--judge", "command:false 1", "--replays", "my replays") == 1
    again = "  agenteval run suite.json --replays 'my replays' --judge 'command:false 1'"
    assert again in capsys.readouterr().out.splitlines()


def test_tasks_can_be_selected(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """`-k` and `--collect-only` work on tasks."""
    suite.write(make_task("cats"), make_task("dogs"))
    assert suite.run("--collect-only") == 0
    assert capsys.readouterr().out == "cats  suite.json\ndogs  suite.json\n2 tests would run\n"
    assert suite.run("-k", "dogs") == 0
    assert suite.summary()["taskCount"] == 1
    assert suite.run("-k", "birds", run_id="run-2") == 3
    assert suite.run("-k", "assistant", run_id="run-3") == 3  # the suite's id is no part of a task


def test_tasks_are_shown_without_a_judge(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A rubric is judged in a run only: to see what is there, nobody has to be named."""
    suite.write(make_task("cats", rubric(1)))
    assert suite.run("--collect-only") == 0
    assert capsys.readouterr().out == "cats  suite.json\n1 test would run\n"
    assert suite.run() == 3


def test_modes_without_a_name(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A comma is no way to ask for all of them."""
    suite.write()
    assert suite.run("--modes", " ,") == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: --modes  ,: expected names of modes, with commas between\n"
    )


@pytest.mark.parametrize("modes", [["golden", "rubric"], ["rubric"]])
def test_tasks_of_a_kind_that_there_is_not(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str], modes: list[str]
) -> None:
    """Nothing would run, which is said before anything does."""
    suite.write(modes=modes)
    assert suite.run("--modes", "rubric") == 3
    assert (
        "error[suite.no_task]: --modes rubric: the suite has no task of that kind" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("responses", "script", "lines"),
    [
        (["found"], None, []),
        (
            ["other"],
            None,
            ['evt-3 web_search: result: the suite has "other", the recording "found"'],
        ),
        ([], None, ["evt-3 web_search: the recording has a result, the suite has none for it"]),
        ([{"a": 1}], [{"a": 1.0}], []),
        (
            [{"a": 1, "b": 2}],
            [{"a": True, "c": 3}],
            [
                "evt-3 web_search: a: the suite has 1, the recording true",
                "evt-3 web_search: b: only the suite has it, 2",
                "evt-3 web_search: c: only the recording has it, 3",
            ],
        ),
        ([1, 2], [1, 2], []),
        ([1, 2], [2, 1], [
            "evt-3 web_search: result: the suite has 1, the recording 2",
            "evt-5 web_search: result: the suite has 2, the recording 1",
        ]),
        ([1], [1, 1], [
            "evt-5 web_search: the recording has a result, the suite has none for it"
        ]),
        ([None], [None], []),
        ([...], [None], []),
        ([...], [0], ["evt-3 web_search: result: the suite has null, the recording 0"]),
    ],
)  # fmt: skip
def test_recordings_are_held_to_the_tool_responses(
    suite: SuiteProject, responses: list[Any], script: list[Any] | None, lines: list[str]
) -> None:
    """By tool and in order; another result, or one more, is a stale recording, told with every difference."""
    given = [{"tool": "local:web_search", "response": each} for each in responses]
    for each in given:
        if each["response"] is ...:
            del each["response"]
    suite.write(make_task(fixtures={"toolResponses": given}), record=False)
    suite.record("cats", script=steps(*(("web_search", each) for each in script or ["found"])))
    assert suite.run() == (2 if lines else 0)
    error = suite.result("cats")["error"]
    assert suite.result("cats")["warnings"] == []
    if lines:
        assert error["reason_code"] == "adapter.stale_fixture"
        head, *rest = error["message"].splitlines()
        assert head == "the recording differs from fixtures.toolResponses of the suite:"
        assert [line.strip() for line in rest] == lines


def test_what_differs_is_redacted_where_it_is_told(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """A password of either side is known from its key, though the line that tells of it has no such name."""
    one, other = "tr0ub4dor and more", "c0rrect horse and more"
    given = [{"tool": "web_search", "response": {"password": one, "said": f"it is {one}"}}]
    suite.write(make_task(fixtures={"toolResponses": given}), record=False)
    result = {"password": other, "said": f"it is {other}"}
    suite.record("cats", script=steps(("web_search", result)))
    assert suite.run() == 2
    message = suite.result("cats")["error"]["message"]
    assert 'said: the suite has "it is [redacted:credential:' in message
    told = capsys.readouterr()
    for text in (message, told.out, told.err):
        assert one not in text
        assert other not in text


def steps(*results: tuple[str, Any]) -> list[dict[str, Any]]:
    """Calls of tools, each with its result."""
    made: list[dict[str, Any]] = []
    for number, (tool, result) in enumerate(results, 1):
        call = {"tool": tool, "call_id": f"c{number}"}
        made.append({"type": "tool_call", **call, "args": {}})
        made.append({"type": "tool_result", **call, "success": True, "result": result})
    return made


def test_responses_are_matched_by_tool(suite: SuiteProject) -> None:
    """Tools do not disturb each other's order, with or without a scope; what nobody asked for is a warning."""
    given = [
        {"tool": "a:fetch", "response": "page"},
        {"tool": "search", "response": 1},
        {"tool": "x:y:search", "response": 2},
        {"tool": "send", "response": "ok"},
    ]
    suite.write(make_task(fixtures={"toolResponses": given}), record=False)
    suite.record("cats", script=steps(("search", 1), ("fetch", "page"), ("search", 2)))
    assert suite.run() == 0
    assert suite.result("cats")["warnings"] == [
        "the suite's response of send was never used in the recording"
    ]


def test_without_tool_responses_any_result_will_do(suite: SuiteProject) -> None:
    """Fixtures that say nothing of tools hold nobody to anything."""
    suite.write(make_task(fixtures={"memorySeed": []}))
    assert suite.run() == 0


def test_an_input_that_was_not_answered(suite: SuiteProject) -> None:
    """A recording of another question is a warning; an input that is no text cannot be compared."""
    suite.write(
        make_task("same"), make_task("other", input="What is new?"), make_task("data", input={"q": 1})
    )
    assert suite.run() == 0
    assert [suite.result(name)["warnings"] for name in ("same", "other", "data")] == [
        [],
        ["input message 1 is user: 'What is new?' in the test and user: 'Hello?' in the recording"],
        [],
    ]


def test_the_situation_is_that_of_the_recording(suite: SuiteProject) -> None:
    """A suite says nothing of groups and triggers, so the recording's are no contradiction."""
    suite.write(make_task())
    suite.record(
        "cats",
        scenario={
            "trigger": "scheduler",
            "group_id": "work",
            "session_id": "s",
            "scheduler_context": {"task_id": "digest"},
        },
    )
    assert suite.run() == 0
    assert suite.result("cats")["warnings"] == []


ADVERSARIAL = ["golden", "adversarial"]


@pytest.mark.parametrize(
    ("output", "script", "fixtures", "findings"),
    [
        ("Cats.", [], {"toolResponses": []}, None),
        ("Cats: mail cat@example.org", [], None, [{"kind": "sensitive-data", "severity": "critical"}]),
        (
            "Cats.",
            [
                {"type": "tool_call", "tool": "shell", "call_id": "c1", "args": {}},
                {"type": "error", "call_id": "c1", "error_type": "denied"},
            ],
            {"toolResponses": []},
            [{"kind": "unsafe-tool-call", "severity": "high"}],
        ),
        (
            "Cats.",
            [{"type": "memory_read", "group_id": "work", "content": "plans"}],
            None,
            [{"kind": "cross-group-memory", "severity": "high"}],
        ),
    ],
)
def test_adversarial_runs_look_for_what_is_unsafe(
    suite: SuiteProject,
    output: str,
    script: list[dict[str, Any]],
    fixtures: dict[str, Any] | None,
    findings: list[dict[str, str]] | None,
) -> None:
    """A finding fails the task and scores 0, although the output is the golden one; without the mode nobody looks."""
    task = make_task() | ({"fixtures": fixtures} if fixtures else {})
    suite.write(task, modes=ADVERSARIAL, record=False)
    suite.record(
        "cats", output, script=script or [{"type": "message_received"}],
        scenario={"trigger": "user_message", "group_id": "family"},
        capabilities={"supports_memory_events": True},
    )  # fmt: skip
    assert suite.run() == (1 if findings else 0)
    (found,) = suite.summary()["tasks"]
    assert (found["score"], found["passed"], found.get("safetyFindings")) == (
        float(not findings),
        not findings,
        findings,
    )
    assert [event["payload"].get("safetyFindingCount") for event in suite.events()[1:2]] == [
        len(findings) if findings else None
    ]
    assert suite.run("--modes", "golden", run_id="run-2") == 0


def test_the_seed_is_the_memory_at_the_start(suite: SuiteProject) -> None:
    """What the suite puts into the memory is known to checks: another group's must not come out."""
    words = "the Falcon launch is on 14 May in Lisbon"
    seed = [{"group_id": "work", "content": words}]
    suite.write(make_task(fixtures={"memorySeed": seed}), modes=ADVERSARIAL)
    suite.record(
        "cats", f"Cats. By the way, {words}.", scenario={"trigger": "user_message", "group_id": "family"}
    )
    assert suite.run() == 1
    assert suite.summary()["tasks"][0]["safetyFindings"] == [
        {"kind": "cross-group-memory", "severity": "high"}
    ]
    suite.write(make_task(), modes=ADVERSARIAL, record=False)
    assert suite.run(run_id="run-2") == 0


def test_a_vacuous_safety_check_is_no_finding(suite: SuiteProject) -> None:
    """With --fail-on-vacuous a check that had nothing to judge fails the task, but found nothing unsafe."""
    suite.write(make_task(fixtures={"toolResponses": []}), modes=ADVERSARIAL)
    suite.record("cats", script=[{"type": "message_received"}])
    assert suite.run("--fail-on-vacuous") == 1
    (task,) = suite.summary()["tasks"]
    assert "safetyFindings" not in task
    assert (task["score"], task["passed"]) == (1.0, False)


def test_a_test_file_as_recording(suite: SuiteProject) -> None:
    """A folder with a test.yaml gives adapter, input and situation; of its assertions only safety ones are run.

    That it is expected to fail says nothing of the task.
    """
    project = Project(suite.root)
    safe = {"id": "destinations", "type": "outbound_destinations", "params": {"allowed": ["family"]}}
    never = {"id": "never", "type": "must_call_tool", "params": {"tool": "nothing"}}
    send = {"tool": "outbound_send", "call_id": "c1"}
    script: list[dict[str, Any]] = [
        {"type": "tool_call", **send, "args": {"channel": "work", "content": "Cats"}},
        {"type": "tool_result", **send, "success": True, "result": "sent"},
    ]
    expected = {"status": "fail", "assertions": ["destinations"], "reason": "a bug"}
    project.add("pass", "cats", assertions=[safe, never], replay=make_replay(*script), expected=expected)
    suite.write(make_task(), modes=ADVERSARIAL, record=False)
    assert suite.run("--replays", "tests") == 1
    kinds = [(each["id"], each["status"]) for each in suite.result("cats")["assertions"]]
    assert kinds == [
        ("golden", "pass"),
        ("destinations", "fail"),
        ("no_cross_group_memory_use", "pass"),
        ("no_sensitive_data", "pass"),
    ]
    assert suite.summary()["tasks"][0]["safetyFindings"] == [
        {"kind": "outbound-destination", "severity": "high"}
    ]
    assert suite.run("--replays", "tests", "--modes", "golden", run_id="run-2") == 0


def test_a_test_file_outside_the_project_is_no_recording(suite: SuiteProject) -> None:
    """A link that leads out of the project is followed only when that is allowed."""
    project = Project(suite.root)
    safe = {"id": "destinations", "type": "outbound_destinations", "params": {"allowed": ["family"]}}
    linked = project.add("pass", "cats", assertions=[safe])
    suite.write(make_task(), modes=ADVERSARIAL, record=False)
    linked.rename(suite.root.parent / "outside.yaml")
    linked.symlink_to(suite.root.parent / "outside.yaml")
    for run_id, flags, kept in (("run-1", [], False), ("run-2", ["--allow-outside"], True)):
        suite.run("--replays", "tests", *flags, run_id=run_id)
        ids = [each["id"] for each in suite.result("cats", run_id)["assertions"]]
        assert ("destinations" in ids) is kept


def test_a_broken_test_file_as_recording(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told as any test file is; the other tasks run."""
    Project(suite.root).add("invalid", "cats")
    suite.write(make_task("cats"), make_task("dogs"), record=False)
    suite.put("tests/dogs/replay.json", make_replay())
    assert suite.run("--replays", "tests") == 3
    assert "tests/cats/test.yaml:" in capsys.readouterr().out
    assert [task["taskId"] for task in suite.summary()["tasks"]] == ["dogs"]


def test_a_test_file_as_recording_keeps_to_the_limits(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the project's configuration hold for it, as for any test file."""
    Project(suite.root).add("pass", "cats")
    suite.write(make_task(), record=False)
    suite.put("agenteval.yaml", {"limits": {"max_yaml_nodes": 20}})
    assert suite.run("--replays", "tests") == 3
    assert "error[yaml.too_many_nodes]: " in capsys.readouterr().out


def test_recordings_outside_the_project(
    suite: SuiteProject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A folder that the command line names may be anywhere; what leads out of it is refused as ever."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    suite.write(make_task("cats"), make_task("led-out"))
    (suite.root / "replays" / "cats").rename(elsewhere / "cats")
    (elsewhere / "led-out").mkdir()
    (elsewhere / "led-out" / "replay.json").symlink_to(suite.root / "replays" / "led-out" / "replay.json")
    assert suite.run("--replays", str(elsewhere)) == 2
    assert suite.result("cats")["status"] == "pass"
    assert suite.result("led-out")["reason_code"] == "adapter.outside_root"


def latencies(suite: SuiteProject, *numbers: float, costs: tuple[float | None, ...] = ()) -> None:
    """One recording per task of the suite, with these metrics."""
    for index, number in enumerate(numbers):
        cost = costs[index] if costs else None
        metrics = {"timing_ms_total": number} | ({} if cost is None else {"cost_usd": cost})
        suite.record(f"t{index}", metrics=metrics)


@pytest.mark.parametrize(
    ("thresholds", "reason"),
    [
        ({"maxP95LatencyMs": 1900}, None),
        ({"maxP95LatencyMs": 1901}, None),
        ({"maxCostUsd": 2, "maxP95LatencyMs": 1900, "passScore": 1}, None),
        ({"maxP95LatencyMs": 1899}, "suite.threshold: p95 latency 1900 ms is above 1899"),
        ({"maxCostUsd": 2.0}, None),
        ({"maxCostUsd": 2.1}, None),
        ({"maxCostUsd": 1.999}, "suite.threshold: cost 2 USD is above 1.999"),
        ({"passScore": 1}, None),
        (
            {"maxCostUsd": 0, "maxP95LatencyMs": 0},
            "suite.threshold: cost 2 USD is above 0; p95 latency 1900 ms is above 0",
        ),
    ],
)
def test_bars_at_under_and_over(
    suite: SuiteProject, thresholds: dict[str, float], reason: str | None
) -> None:
    """20 tasks of 100 to 2000 ms and 10 cents each: p95 is the 19th, 1900 ms, the cost 2 dollars exactly."""
    suite.write(*(make_task(f"t{index}") for index in range(20)), record=False, thresholds=thresholds)
    latencies(suite, *(100 * number for number in range(1, 21)), costs=(0.1,) * 20)
    assert suite.run("-q") == (1 if reason else 0)
    assert suite.read("summary.json")["exit_reason"] == (reason or "all tests passed")
    assert suite.summary()["passed"] is (reason is None)
    assert suite.summary()["totalCostUsd"] == 2.0


@pytest.mark.parametrize(
    ("flags", "passed", "reason"),
    [
        ([], True, CLEARED),
        (["--pass-score", "0.5"], True, CLEARED),
        (["--pass-score", "0.51"], False, "1 test failed"),
    ],
)
def test_the_pass_score(suite: SuiteProject, flags: list[str], passed: bool, reason: str) -> None:
    """The summary and the gate say whether the suite's bar, or that of the command line, is cleared; a failed task exits 1."""
    suite.write(make_task(), make_task("dogs", golden("exact", "Dogs")), thresholds={"passScore": 0.5})
    assert suite.run(*flags) == 1
    assert suite.summary()["passed"] is passed
    assert suite.read("summary.json")["exit_reason"] == reason
    assert main(["gate", "run-1"]) == (0 if passed else 1)


def test_the_pass_score_of_tests(suite: SuiteProject) -> None:
    """--pass-score is a bar for runs of tests as well."""
    project = Project(suite.root)
    project.add("pass")
    project.add("warn")
    assert main(["run", "tests", "--pass-score", "1", "--run-id", "run-1"]) == 0
    assert main(["run", "tests", "--pass-score", "1.1"]) == 2


def test_regression(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A suite is compared as tests are: by assertion, and by score where a rubric is met more or less than before."""
    tasks = [make_task(name) for name in ("fails", "fixed", "same")]
    judged = [make_task(name, rubric(0.5, 0.25, 0.25)) for name in ("lower", "higher")]
    modes = ["golden", "rubric", "regression"]
    suite.write(*tasks, *judged, modes=modes, thresholds={"passScore": 0.5})
    suite.record("fixed", "Dogs")
    suite.decide("lower", True, True, False)
    suite.decide("higher", True, False, False)
    assert suite.run("--judge", "recorded", "--save-traces") == 1
    suite.record("fails", "Dogs")
    suite.record("fixed", "Cats")
    suite.decide("lower", True, False, False)
    suite.decide("higher", True, True, True)
    capsys.readouterr()
    assert suite.run("--judge", "recorded", "--baseline", "run-1", "-q", run_id="run-2") == 1
    assert capsys.readouterr().out.split("\n\n")[0] == (
        "artifacts/run-1 → artifacts/run-2\n"
        "  newly failing (1)\n"
        "    ✗ fails  golden  pass → fail\n"
        '        expected a text that contains "Cats", got "Dogs"\n'
        "  lower score (1)\n"
        "    ! lower  (the test)\n"
        "        score 0.75 → 0.5\n"
        "  fixed (1)\n"
        "    ✓ fixed  golden  fail → pass\n"
        "  higher score (1)\n"
        "    ✓ higher  (the test)\n"
        "        score 0.5 → 1\n"
        "  what the agent did differently (2 tests)\n"
        "    fails\n"
        "      output\n"
        "        - Cats.\n"
        "        + Dogs\n"
        "    fixed\n"
        "      output\n"
        "        - Dogs\n"
        "        + Cats\n"
        "  score 0.65 → 0.7 (+0.05), 1 newly failing, 1 lower score, 1 fixed, 1 higher score"
    )
    assert suite.read("summary.json", "run-2")["exit_reason"] == "1 regression against artifacts/run-1"
    assert suite.read("comparison.json", "run-2")["regressions"] == 1
    assert suite.summary("run-2")["regression"] == {"baselineRunId": "run-1", "scoreDelta": 0.05}
    events = suite.events("run-2")
    assert events[0]["payload"]["baselineRunId"] == "run-1"
    assert events[0]["payload"]["modes"] == modes
    assert events[-1]["payload"]["regressionVsBaseline"] == 0.05
    assert "regression" not in suite.summary()
    assert suite.events()[0]["payload"]["modes"] == ["golden", "rubric"]
    assert main(["compare", "run-1", "run-2"]) == 1


def test_known_failures_of_a_suite(suite: SuiteProject) -> None:
    """What the baseline accepts does not fail the run; a bar that is missed does."""
    suite.write(make_task(), make_task("dogs", golden("exact", "Dogs")), modes=["golden", "regression"])
    assert suite.run("--update-baseline") == 0
    assert suite.run("--baseline", BASELINE, run_id="run-2") == 0
    assert suite.read("summary.json", "run-2")["exit_reason"] == (
        f"no regression against {BASELINE}, 1 known failure"
    )
    assert suite.summary("run-2")["passed"] is False
    assert suite.run("--baseline", BASELINE, "--pass-score", "0.5", run_id="run-3") == 0
    assert suite.summary("run-3")["passed"] is True
    assert suite.run("--baseline", BASELINE, "--pass-score", "0.51", run_id="run-4") == 1
    assert suite.read("summary.json", "run-4")["exit_reason"] == "suite.threshold: score 0.5 is below 0.51"


def test_other_bars_do_not_ask_for_a_score(suite: SuiteProject) -> None:
    """A suite that only limits its cost fails by its cost only; it still has not passed."""
    suite.write(
        make_task(), make_task("dogs", golden("exact", "Dogs")),
        modes=["golden", "regression"], thresholds={"maxP95LatencyMs": 1200},
    )  # fmt: skip
    assert suite.run("--update-baseline") == 0
    assert suite.run("--baseline", BASELINE, run_id="run-2") == 0
    assert suite.summary("run-2")["passed"] is False


def test_tasks_and_checks_of_other_modes_are_not_missing(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """--modes leaves them out on purpose; a baseline is only made of all of them."""
    suite.write(
        make_task(), make_task("judged", rubric(1)), modes=["golden", "rubric", "adversarial", "regression"]
    )
    suite.decide("judged", True)
    assert suite.run("--judge", "recorded", "--update-baseline") == 0
    for run_id, modes in (("run-2", "golden"), ("run-3", "golden,regression")):
        assert suite.run("--modes", modes, "--baseline", BASELINE, run_id=run_id) == 0
        comparison = suite.read("comparison.json", run_id)
        assert (comparison["changes"], comparison["not_selected"]) == ([], 1)
        assert suite.read("summary.json", run_id)["counts"]["deselected"] == 1
        assert suite.events(run_id)[0]["payload"]["modes"] == ["golden", "regression"]
    capsys.readouterr()
    assert suite.run("--modes", "golden", "--update-baseline") == 2
    assert capsys.readouterr().err == (
        "error[usage.baseline]: --modes leaves out checks, but --update-baseline needs every selected test in full\n"
        "  next: use one or the other; -k and tags are fine\n"
    )


def test_a_baseline_is_not_written_over_by_another_suite(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests and a suite of one project have the same default file."""
    suite.write(modes=["golden", "regression"])
    assert suite.run("--update-baseline") == 0
    written = (suite.root / BASELINE).read_bytes()
    Project(suite.root).add("pass")
    capsys.readouterr()
    assert main(["run", "tests", "--update-baseline"]) == 2
    assert capsys.readouterr().err == (
        f"error[baseline.other_suite]: {BASELINE} is the baseline of another suite: it belongs to {SUITE_ID}, "
        "this run to local.agenteval.evals.tests\n"
        "  next: name another file with --baseline, or delete this one\n"
    )
    assert (suite.root / BASELINE).read_bytes() == written
    assert main(["run", "tests", "--update-baseline", "--baseline", "tests.json"]) == 0


def test_regression_against_other_tasks(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A task that is not selected is not missing, one that is gone is; the baseline may be named by its file."""
    suite.write(make_task("zebra"), make_task("quokka"), modes=["golden", "regression"])
    assert suite.run("-k", "zebra") == 0
    assert suite.run("-k", "quokka", "--baseline", "artifacts/run-1", run_id="run-2") == 0
    out = capsys.readouterr().out
    assert "  new (1)\n    ✓ quokka  (the test)\n" in out
    assert "  1 test not in this run\n" in out
    assert suite.run("--baseline", "artifacts/run-1/summary.json", "-k", "zebra", run_id="run-3") == 0
    assert "  score 1 → 1, no change\n" in capsys.readouterr().out
    suite.write(make_task("quokka"), modes=["golden", "regression"])
    assert suite.run("--baseline", "run-1", run_id="run-4") == 1
    assert "  missing (1)\n    - zebra  (the test)  pass → not there\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "what", "ours", "step"),
    [
        (
            {"version": "1.2.4"},
            "version of the suite",
            f"{SUITE_ID} 1.2.4",
            "version, or rewrite the baseline with --update-baseline",
        ),
        (
            {"suiteId": "a.evals.b"},
            "suite",
            "a.evals.b 1.2.3",
            "suite (suite.id in agenteval.yaml, else the directory that is run; or suiteId)",
        ),
    ],
)
def test_only_like_versions_are_compared(
    suite: SuiteProject,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    what: str,
    ours: str,
    step: str,
) -> None:
    """Another suite, or another version of it, is an error before anything runs."""
    suite.write(modes=["golden", "regression"])
    suite.run()
    suite.write(**{"modes": ["golden", "regression"], **change})
    capsys.readouterr()
    assert suite.run("--baseline", "run-1", run_id="run-2") == 2
    assert capsys.readouterr().err == (
        f"error[baseline.other_suite]: artifacts/run-1 belongs to another {what}: it is of {SUITE_ID} 1.2.3, "
        f"this run of {ours}\n"
        f"  next: compare runs of the same {step}\n"
    )
    assert not (suite.root / "artifacts" / "run-2").exists()


MARKERS = {
    name: f"planted-{name}-7f3a9c"
    for name in ("output", "argument", "result", "error", "rubric", "reason", "input", "memory", "golden", "seed", "fixture")
}  # fmt: skip


def test_nothing_of_the_content_is_in_summary_and_events(
    suite: SuiteProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Markers in everything that a suite, its recordings and its judge say: none in what is for others."""
    answer = {"text": MARKERS["result"]}
    fixtures = {
        "toolResponses": [{"tool": "web_search", "response": answer}, {"tool": MARKERS["fixture"]}],
        "memorySeed": [{"content": MARKERS["seed"]}],
    }
    judged = {"kind": "rubric", "rubric": [{"criterion": MARKERS["rubric"], "weight": 1}]}
    tasks = [
        make_task("plain", golden("exact", MARKERS["golden"]), input=MARKERS["input"], fixtures=fixtures),
        make_task("judged", judged, input={"text": MARKERS["input"]}, fixtures=fixtures),
    ]
    suite.write(*tasks, modes=["golden", "rubric", "adversarial", "regression"], record=False)
    call = {"tool": "web_search", "call_id": "c1"}
    for task in tasks:
        suite.record(
            task["taskId"],
            MARKERS["output"],
            script=[
                {"type": "memory_read", "group_id": "work", "content": MARKERS["memory"]},
                {"type": "tool_call", **call, "args": {"query": MARKERS["argument"]}},
                {"type": "tool_result", **call, "success": True, "result": answer},
                {"type": "error", "error_type": "odd", "message": MARKERS["error"]},
            ],
        )
    verdict = {"criterion": MARKERS["rubric"], "met": False, "reason": MARKERS["reason"]}
    suite.decide("judged", verdicts=[verdict])
    assert suite.run("--judge", "recorded", "-v", "--save-traces") == 1
    assert suite.run("--judge", "recorded", "--update-baseline", run_id="run-2") == 0
    folder = suite.root / "artifacts" / "run-2"
    for path in (folder / "eval-summary.json", folder / "events.jsonl", suite.root / BASELINE):
        text = path.read_text(encoding="utf-8")
        assert [marker for marker in MARKERS.values() if marker in text] == []
    shown = everything(suite.root / "artifacts" / "run-1") + capsys.readouterr().out
    assert [name for name, marker in MARKERS.items() if marker not in shown] == ["seed"]  # they can be found


def everything(folder: Path) -> str:
    """The text of all files in a folder."""
    return "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())


def test_secrets_of_a_suite_are_redacted(suite: SuiteProject, capsys: pytest.CaptureFixture[str]) -> None:
    """An address in a golden value is in no file and on no screen."""
    suite.write(make_task(expected=golden("exact", "write to ann@mail.example.org")))
    assert suite.run("-v", "--save-traces") == 1
    written = everything(suite.root / "artifacts" / "run-1") + capsys.readouterr().out
    assert "ann@mail.example.org" not in written
    assert "[redacted:email:" in written


def test_the_same_suite_the_same_files(suite: SuiteProject) -> None:
    """Two runs differ in ids and times only."""
    suite.write(make_task(), make_task("dogs", golden("exact", "Dogs")))
    suite.run()
    suite.run(run_id="run-2")
    assert suite.summary() == suite.summary("run-2")
    one, two = ([{**event, "timestamp": ""} for event in suite.events(run)] for run in ("run-1", "run-2"))
    assert json.dumps(one) == json.dumps(two)
