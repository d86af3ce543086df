"""The events of a run: order, numbers and times, whatever is in the run; and what an interrupted run leaves."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agenteval.cli import main
from agenteval.openwop.summary import Scores, Suite, eval_events, task_of
from agenteval.reference.schemas import build_schema
from agenteval.reporters.artifacts import RunDirectory
from builders import make_trace
from projects import Project
from run_builders import judged, make_result, scored


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project, which is the current directory."""
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def events(project: Project) -> list[dict[str, Any]]:
    """The events of a run."""
    text = (project.root / "artifacts" / "run-1" / "events.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_a_run_of_everything(project: Project) -> None:
    """Passes, failures and errors are tasks, in order; skipped tests and invalid files are not; several paths are one run."""
    for kind in ("pass", "fail", "warn", "skip", "error", "invalid"):
        project.add(kind)
    (project.root / "more").mkdir()
    (project.root / "tests" / "warn").rename(project.root / "more" / "warn")
    (project.root / "agenteval.yaml").write_text("suite: {id: a.evals.b, version: 2.0.0}\n")
    assert main(["run", "more", "tests", "--run-id", "run-1"]) == 3
    told = events(project)
    assert [(event["sequence"], event["type"]) for event in told] == [
        (1, "eval.started"),
        *((number, "eval.scored") for number in (2, 3, 4, 5)),
        (6, "eval.completed"),
    ]
    assert told[0]["payload"] == {
        "suiteId": "a.evals.b",
        "suiteVersion": "2.0.0",
        "taskCount": 4,
        "modes": ["golden"],
    }
    assert [event["payload"] for event in told[1:5]] == [
        {"taskId": "nanoclaw-t-warn-x", "score": 1.0, "passed": True, "latencyMs": 1200},
        {"taskId": "nanoclaw-t-error-x", "score": 0.0, "passed": False},
        {"taskId": "nanoclaw-t-fail-x", "score": 0.5, "passed": False, "latencyMs": 1200},
        {"taskId": "nanoclaw-t-pass-x", "score": 1.0, "passed": True, "latencyMs": 1200},
    ]
    assert told[5]["payload"] == {"aggregateScore": 0.625, "passed": False, "taskCount": 4, "passedCount": 2}
    times = [event["timestamp"] for event in told]
    assert times == sorted(times)
    assert all(len(each) == len("2026-01-01T00:00:00.000Z") for each in times)


@pytest.mark.parametrize("kinds", [[], ["skip"], ["invalid"]])
def test_a_run_without_tasks(project: Project, kinds: list[str]) -> None:
    """It started and ended, and scored nothing."""
    (project.root / "tests").mkdir()
    for kind in kinds:
        project.add(kind)
    assert main(["run", "tests", "--run-id", "run-1"]) == 3
    assert [event["type"] for event in events(project)] == ["eval.started", "eval.completed"]
    assert events(project)[1]["payload"] == {
        "aggregateScore": 0.0,
        "passed": False,
        "taskCount": 0,
        "passedCount": 0,
    }


def test_a_run_that_stops_early(project: Project) -> None:
    """With -x the tasks are those that were run, and whatever they score is no pass of the suite."""
    project.add("fail", "a")
    project.add("pass", "b")
    assert main(["run", "tests", "-x", "--pass-score", "0.1", "--run-id", "run-1"]) == 1
    assert [event["payload"].get("taskCount") for event in events(project)] == [1, None, 1]
    assert [event["payload"].get("passed") for event in events(project)] == [None, False, False]


def test_a_file_that_is_invalid_is_a_task_that_did_not_run(project: Project) -> None:
    """The tasks that did run have passed, and the suite has not."""
    project.add("pass")
    project.add("invalid")
    assert main(["run", "tests", "--run-id", "run-1"]) == 3
    assert events(project)[-1]["payload"] == {
        "aggregateScore": 1.0,
        "passed": False,
        "taskCount": 1,
        "passedCount": 1,
    }


def test_without_artifacts_there_are_no_events(project: Project) -> None:
    """--no-artifacts writes nothing."""
    project.add("pass")
    assert main(["run", "tests", "--no-artifacts"]) == 0
    assert not (project.root / "artifacts").exists()


@cache
def judge() -> Draft202012Validator:
    """The schema of an event."""
    return Draft202012Validator(build_schema("eval-events"))


runs = st.lists(
    st.tuples(
        st.sampled_from(["pass", "fail", "error", "skipped"]),
        st.lists(st.sampled_from(["pass", "fail", "warn", "skip"]), max_size=3),
        st.none() | st.tuples(st.none() | st.floats(0, 1e6), st.floats(0, 1e9)),
    ),
    max_size=5,
)


@settings(deadline=None)
@given(runs=runs, finished=st.booleans())
def test_any_run_has_valid_events(runs: list[Any], finished: bool) -> None:
    """Whatever ran: numbered from 1 without a gap, one per task, each valid by the schema, in agreement with the summary."""
    tasks = []
    for number, (status, assertions, metrics) in enumerate(runs):
        trace = make_trace() if metrics else None
        if trace is not None:
            trace.metrics.cost_usd, trace.metrics.timing_ms_total = metrics
        kinds = [judged(each, kind="no_sensitive_data") for each in assertions]
        result = make_result(status, *kinds, test_case_id=f"a.b.c{number}.d")
        if task := task_of(scored(result, trace.metrics if trace else None)):
            tasks.append(task)
    scores = Scores(Suite(id="local.agenteval.evals.t"), tasks)
    told = json.loads(
        json.dumps(
            eval_events(scores, "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:09.000Z" if finished else None)
        )
    )
    assert [error.message for event in told for error in judge().iter_errors(event)] == []
    assert [event["sequence"] for event in told] == list(range(1, len(told) + 1))
    summary = scores.summary()
    listed = [event["payload"] for event in told if event["type"] == "eval.scored"]
    assert [(each["taskId"], each["score"]) for each in listed] == [
        (t["taskId"], t["score"]) for t in summary["tasks"]
    ]
    assert (told[-1]["type"] == "eval.completed") is finished
    if finished:
        assert all(summary[name] == value for name, value in told[-1]["payload"].items())


def test_events_never_show_a_secret(tmp_path: Path) -> None:
    """What looks like a secret in an event is redacted, like everything that is written."""
    directory = RunDirectory(tmp_path, "run-1")
    directory.log([{"sequence": 1, "payload": {"taskId": "ann@mail.example.org"}}, {"sequence": 2}])
    lines = (directory.path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert "ann@mail.example.org" not in lines[0]
    assert "[redacted:email:" in lines[0]
    assert lines[1] == '{"sequence":2}'
