"""`agenteval suite new`: what of a test a suite can say, what it cannot, and that the suite runs on the same recordings."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from projects import SEARCHES, Project, make_replay
from runs import EXAMPLES

NO_PHRASE = (
    "no critical output_contains has a first phrase of all_of, or an only one of any_of, that the output has as written, "
    "and of which nothing is redacted"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project, which is the current directory."""
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def contains(**params: Any) -> dict[str, Any]:
    """An assertion on what the output contains."""
    return {"id": "says", "type": "output_contains", "params": params}


def new_suite(
    capsys: pytest.CaptureFixture[str], *paths: str, code: int = 0
) -> tuple[dict[str, Any], list[str]]:
    """The suite that is printed, or an empty one, and the lines of what is left out."""
    assert main(["suite", "new", *paths]) == code
    captured = capsys.readouterr()
    return json.loads(captured.out) if captured.out else {}, captured.err.splitlines()


def test_a_test_as_a_task(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Input, golden phrase, tool responses and memory; what a task cannot say is listed."""
    scenario = {
        "group_id": "family",
        "trigger": "user_message",
        "input_messages": [{"role": "user", "content": "Hello?"}],
        "memory_snapshot": "Likes cats.",
    }
    says = contains(all_of=["Cats"], case_sensitive=True)
    project.add("pass", "cats", assertions=[SEARCHES, says], scenario=scenario)
    suite, lines = new_suite(capsys, "tests")
    assert suite == {
        "suiteId": "local.agenteval.evals.tests",
        "version": "0.1.0",
        "modes": ["golden", "regression"],
        "tasks": [
            {
                "taskId": "cats",
                "input": "Hello?",
                "expected": {"kind": "golden", "match": {"strategy": "contains", "value": "Cats"}},
                "fixtures": {
                    "toolResponses": [{"tool": "web_search", "response": "found"}],
                    "memorySeed": [{"content": "Likes cats."}],
                },
            }
        ],
    }
    assert lines == ["1 of 1 test carried over", "in part   nanoclaw.t.cats.x", "  searches (must_call_tool)"]


@pytest.mark.parametrize(
    ("params", "value", "lost"),
    [
        ({"all_of": ["Cats"], "case_sensitive": True}, "Cats", []),
        ({"any_of": ["Cats"], "case_sensitive": True}, "Cats", []),
        (
            {"all_of": ["Cats", "."]},
            "Cats",
            [
                "says: all but its first phrase",
                "says: ignoring case; a golden output is compared as it is written",
            ],
        ),
        (
            {"all_of": ["Cats"], "regex": ["C"], "case_sensitive": True},
            "Cats",
            ["says: all but its first phrase"],
        ),
        (
            {"all_of": ["Cats"], "any_of": ["Cats", "Dogs"], "case_sensitive": True},
            "Cats",
            ["says: all but its first phrase"],
        ),
        ({"all_of": ["cats"]}, None, None),
        ({"any_of": ["Cats", "Dogs"]}, None, None),
        ({"regex": ["Cats"]}, None, None),
    ],
)
def test_which_checks_have_a_golden_form(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    params: dict[str, Any],
    value: str | None,
    lost: list[str] | None,
) -> None:
    """One phrase that the recorded output has, as it is written; alternatives and patterns have none."""
    project.add("pass", "cats", assertions=[contains(**params)])
    suite, lines = new_suite(capsys, "tests", code=3 if value is None else 0)
    if value is None:
        assert suite == {}
        assert lines == ["0 of 1 test carried over", "left out  nanoclaw.t.cats.x", f"  {NO_PHRASE}"]
    else:
        assert suite["tasks"][0]["expected"]["match"]["value"] == value
        assert [line.strip() for line in lines[2:]] == lost


def test_what_only_warns_is_no_golden_output(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A test passes without it, and a task would not."""
    says = {**contains(all_of=["Cats"]), "severity": "warning"}
    project.add("pass", "cats", assertions=[SEARCHES, says])
    _, lines = new_suite(capsys, "tests", code=3)
    assert lines[1:] == ["left out  nanoclaw.t.cats.x", f"  {NO_PHRASE}"]


@pytest.mark.parametrize(
    ("memory", "seed"),
    [
        (None, None),
        ("Cats.", [{"content": "Cats."}]),
        ({"content": "Cats."}, [{"content": "Cats."}]),
        (["Cats.", {"content": "Tea."}], [{"content": "Cats."}, {"content": "Tea."}]),
    ],
)
def test_memory_and_other_messages_are_carried_over(
    project: Project, capsys: pytest.CaptureFixture[str], memory: Any, seed: Any
) -> None:
    """Memory as entries, when there is any; a message that no user wrote with its role."""
    messages = [{"role": "system", "content": "Hello?"}]
    scenario = {"group_id": "family", "trigger": "user_message", "input_messages": messages}
    kept = {} if memory is None else {"memory_snapshot": memory}
    project.add("pass", "cats", assertions=[contains(all_of=["Cats"])], scenario={**scenario, **kept})
    suite, _ = new_suite(capsys, "tests")
    assert suite["tasks"][0]["input"] == {"messages": messages}
    assert suite["tasks"][0]["fixtures"].get("memorySeed") == seed


@pytest.mark.parametrize("other", ["deep/dogs/test.yaml", "dogs/dogs.test.yaml", "my dogs/test.yaml"])
def test_tasks_are_called_as_their_folders_where_these_hold_recordings(
    project: Project, capsys: pytest.CaptureFixture[str], other: str
) -> None:
    """Each right in the folder, with a name that a task can have; else all are called by their ids."""
    says = [contains(all_of=["Cats"])]
    project.add("pass", "cats", assertions=says)
    project.add("pass", "dogs", assertions=says)
    suite, _ = new_suite(capsys, "tests")
    assert [each["taskId"] for each in suite["tasks"]] == ["cats", "dogs"]
    moved = project.root / "tests" / other
    moved.parent.parent.mkdir(exist_ok=True)
    if moved.name == "test.yaml":
        (project.root / "tests" / "dogs").rename(moved.parent)
    else:
        (moved.parent / "test.yaml").rename(moved)
    suite, _ = new_suite(capsys, "tests")
    assert sorted(each["taskId"] for each in suite["tasks"]) == ["nanoclaw-t-cats-x", "nanoclaw-t-dogs-x"]


def test_bars_and_names_come_from_the_configuration(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Suite id, version and bars; several messages are the input as they are."""
    (project.root / "agenteval.yaml").write_text(
        "suite: {id: a.evals.b, version: 2.0.0, pass_score: 0.5, max_cost_usd: 1, max_p95_latency_ms: 900}\n"
    )
    messages = [{"role": "user", "content": "Hello?"}, {"role": "user", "content": "Hello??"}]
    scenario = {"group_id": "family", "trigger": "user_message", "input_messages": messages}
    project.add("pass", "cats", assertions=[contains(all_of=["Cats"])], scenario=scenario)
    suite, _ = new_suite(capsys, "tests/cats/test.yaml")
    assert (suite["suiteId"], suite["version"]) == ("a.evals.b", "2.0.0")
    assert suite["thresholds"] == {"passScore": 0.5, "maxCostUsd": 1, "maxP95LatencyMs": 900}
    assert (suite["tasks"][0]["taskId"], suite["tasks"][0]["input"]) == (
        "nanoclaw-t-cats-x",
        {"messages": messages},
    )


def test_tests_that_cannot_be_read(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """An invalid file exits 3; a test without a recording is left out with the reason."""
    project.add("pass", "cats", assertions=[contains(all_of=["Cats"])])
    project.add("error")
    project.add("invalid")
    suite, lines = new_suite(capsys, "tests", code=3)
    assert [task["taskId"] for task in suite["tasks"]] == ["cats"]
    assert lines[0].startswith("tests/invalid/test.yaml:")
    at = lines.index("left out  nanoclaw.t.error.x")
    assert lines[at + 1] == (
        "  the recording cannot be read: adapter_input.replay_file names 'replay.json', "
        "but tests/error/replay.json is not there"
    )


def test_redacted_fields_stay_redacted(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """What a test redacts is not printed in a suite either."""
    project.add(
        "pass", "cats", assertions=[contains(all_of=["Cats"])], reporting={"redact_fields": ["result"]}
    )
    suite, _ = new_suite(capsys, "tests")
    assert suite["tasks"][0]["fixtures"]["toolResponses"][0]["response"].startswith("[redacted:field:")


def test_what_is_redacted_is_expected_of_no_output(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A token in place of an address would be in no output: another check is taken, or the test is left out."""
    replay = make_replay(
        final_output={"role": "assistant", "content": "Cats: write to cat@mail.example.org."}
    )
    address = contains(all_of=["cat@mail.example.org"])
    project.add(
        "pass", "cats", assertions=[address, {**contains(all_of=["Cats"]), "id": "cats"}], replay=replay
    )
    project.add("pass", "mail", assertions=[address], replay=replay)
    suite, lines = new_suite(capsys, "tests")
    assert [task["expected"]["match"]["value"] for task in suite["tasks"]] == ["Cats"]
    assert "left out  nanoclaw.t.mail.x" in lines


@pytest.mark.parametrize("fields", [[], ["result"], ["mail"]])
def test_a_suite_of_redacted_results_runs_on_its_recordings(
    project: Project, fields: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """What stands redacted in the suite is what the recording has; another result is still another."""
    done = {"type": "tool_result", "tool": "web_search", "call_id": "c1", "success": True}
    call = {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {}}
    replay = make_replay(call, {**done, "result": {"mail": "cat@mail.example.org"}})
    reporting = {"redact_fields": fields}
    path = project.add(
        "pass", "cats", assertions=[contains(all_of=["Cats"])], replay=replay, reporting=reporting
    )
    suite, _ = new_suite(capsys, "tests")
    assert "cat@" not in json.dumps(suite)
    (project.root / "suite.json").write_text(json.dumps(suite))
    argv = ["run", "suite.json", "--replays", "tests", "--no-artifacts", "-q"]
    assert main(argv) == 0
    recording = path.parent / "replay.json"
    recording.write_text(recording.read_text().replace("cat@", "dog@"))
    assert main(argv) == 2
    assert "ERROR cats  adapter.stale_fixture  suite.json\n" in capsys.readouterr().out


def test_the_suite_of_the_examples_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made of the examples it is valid, and every task passes on the examples' own recordings."""
    monkeypatch.chdir(EXAMPLES.parent)
    suite, lines = new_suite(capsys, "examples/nanoclaw")
    tests = list((EXAMPLES / "nanoclaw").glob("*/test.yaml"))
    assert lines[0] == f"{len(suite['tasks'])} of {len(tests)} tests carried over"
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(suite), encoding="utf-8")
    assert main(["validate", str(path)]) == 0
    flags = ["--replays", "examples/nanoclaw", "--artifacts-dir", str(tmp_path), "--run-id", "r"]
    assert main(["run", str(path), *flags]) == 0
    summary = json.loads((tmp_path / "r" / "eval-summary.json").read_text(encoding="utf-8"))
    assert (summary["passed"], summary["passedCount"]) == (True, len(suite["tasks"]))
    results = [
        json.loads(each.read_text(encoding="utf-8")) for each in (tmp_path / "r").glob("*.result.json")
    ]
    assert [warning for result in results for warning in result["warnings"]] == []


def test_the_example_suite_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`examples/openwop` clears its bars with nothing to warn of, and is no test to `agenteval run examples/`."""
    monkeypatch.chdir(EXAMPLES.parent)
    flags = ["--judge", "recorded", "--artifacts-dir", str(tmp_path), "--run-id", "r", "--strict"]
    assert main(["run", "examples/openwop/suite.json", *flags]) == 0
    summary = json.loads((tmp_path / "r" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["counts"]["passed"], summary["problems"]) == (5, [])
    results = [
        json.loads(each.read_text(encoding="utf-8")) for each in (tmp_path / "r").glob("*.result.json")
    ]
    assert [warning for result in results for warning in result["warnings"]] == []
    assert main(["run", "examples/openwop", "--no-artifacts"]) == 3


def test_the_only_action_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is a slip."""
    assert main(["suite", "old", "tests"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: agenteval suite old: the only action is new\n  next: agenteval suite new PATH\n"
    )
