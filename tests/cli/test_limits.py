"""Limits: what is too large or too slow ends in an error that names the limit and says how to raise it."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.contracts import time_limits
from agenteval.redaction.redactor import Redactor
from plugin_projects import ADAPTER, SHOUTS
from projects import SEARCHES, Project, make_replay


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project in the current directory; the process's own time limits come back afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time_limits, "SECONDS", time_limits.SECONDS)
    monkeypatch.setattr(time_limits, "STEP_SECONDS", time_limits.STEP_SECONDS)
    return Project(tmp_path)


def limit(project: Project, **limits: float) -> None:
    """Configure limits."""
    text = json.dumps({"color": "never", "limits": limits})
    (project.root / "agenteval.yaml").write_text(text, encoding="utf-8")


def run(*flags: str) -> int:
    """`agenteval run tests` under a fixed run id."""
    return main(["run", "tests", "--run-id", "run-1", *flags])


def result(project: Project, name: str = "pass") -> Any:
    """The result of a test, as written."""
    path = project.root / "artifacts" / "run-1" / f"nanoclaw.t.{name}.x.result.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", ["run", "validate", "list"])
def test_yaml_nodes(project: Project, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A test file with more values than the limit is invalid, for every command that reads it; a higher limit helps."""
    extra: dict[str, Any] = {"x-data": list(range(200))}
    project.add("pass", **extra)
    limit(project, max_yaml_nodes=100)
    assert main([command, "tests"]) == 3
    told = "".join(capsys.readouterr())
    assert "error[yaml.too_many_nodes]: the file holds more than 100 values" in told
    assert (
        "next: move large data into a JSON file of its own, or raise limits.max_yaml_nodes in agenteval.yaml"
        in told
    )
    limit(project, max_yaml_nodes=300)
    assert main([command, "tests"]) == 0


def test_a_raised_limit_of_nodes_holds_for_what_is_wrong_too(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The place of an error in a file of more than 200,000 values is still found."""
    path = project.add("invalid")
    path.write_text("x-many: [" + "1," * 200_000 + "]\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    limit(project, max_yaml_nodes=1_000_000)
    assert main(["validate", "tests"]) == 3
    assert "error[spec.unknown_key]: unknown key 'tilte'" in capsys.readouterr().out


def test_bytes_of_a_file(project: Project) -> None:
    """A recording over the limit is an error of its test."""
    project.add("pass", replay=make_replay(input_messages=[{"role": "user", "content": "x" * 5000}]))
    limit(project, max_file_bytes=3000)
    assert run() == 2
    assert result(project)["reason_code"] == "file.too_large"
    assert (
        result(project)["next_step"]
        == "make the file smaller, or raise limits.max_file_bytes in agenteval.yaml"
    )


def test_events_of_a_trace(project: Project) -> None:
    """A trace over the limit is an error of its test."""
    project.add("pass")
    limit(project, max_events=3)
    assert run() == 2
    assert result(project)["error"]["message"] == "the trace has 4 events, more than the limit of 3"
    assert (
        result(project)["next_step"] == "record a shorter run, or raise limits.max_events in agenteval.yaml"
    )


def test_a_trace_that_is_too_large_is_not_written(project: Project) -> None:
    """The test is judged all the same, and says so."""
    project.add("pass", replay=make_replay(final_output={"content": "x" * 20_000}))
    limit(project, max_result_bytes=10_000)
    assert run("--save-traces") == 0
    made = result(project)
    assert made["artifacts"] == {"result": "nanoclaw.t.pass.x.result.json", "trace": None, "replay": None}
    (warning,) = made["warnings"]
    assert warning.startswith("the trace has 4")
    assert warning.endswith(
        " bytes, but limits.max_result_bytes in agenteval.yaml is 10,000: it is not written"
    )
    limit(project, max_result_bytes=100_000)
    assert main(["run", "tests", "--run-id", "run-2", "--save-traces"]) == 0
    assert (project.root / "artifacts" / "run-2" / "nanoclaw.t.pass.x.trace.json").exists()


def test_reports_do_not_advise_to_write_a_trace_that_is_too_large(project: Project) -> None:
    """The warning says what would help; without it, the option does."""
    failing = {"id": "says", "type": "output_contains", "params": {"all_of": ["y"]}}
    project.add("fail", assertions=[failing], replay=make_replay(final_output={"content": "x" * 20_000}))
    asked = ["run", "tests", "--junit-xml", "junit.xml", "--html", "report.html", "--run-id"]
    limit(project, max_result_bytes=10_000)
    assert main([*asked, "run-1"]) == 1
    text = (project.root / "junit.xml").read_text("utf-8")
    assert "\nnext: read the evidence, and fix the agent or the assertion</failure>" in text
    page = (project.root / "report.html").read_text("utf-8")
    assert "only the events that failed assertions point at are shown, with those.</p>" in page
    assert main(["run", "tests", "--junit-xml", "junit.xml", "--run-id", "run-2"]) == 1
    text = (project.root / "junit.xml").read_text("utf-8")
    assert (
        "\nnext: read the evidence, and fix the agent or the assertion; --save-traces writes the whole trace"
        in text
    )


def test_a_result_that_is_too_large_is_cut(project: Project) -> None:
    """It keeps verdicts, messages and reasons; what was observed and the parameters go."""
    phrases = [f"phrase number {number}" for number in range(100)]
    assertion = {"id": "says", "type": "output_contains", "params": {"all_of": phrases}}
    project.add("pass", assertions=[SEARCHES, assertion])
    limit(project, max_result_bytes=9_000)
    assert run() == 1
    made = result(project)
    (warning,) = made["warnings"]
    assert warning.startswith("the result has 1")
    assert warning.endswith(
        " bytes, but limits.max_result_bytes in agenteval.yaml is 9,000: "
        "it lacks what the assertions observed, their parameters and most events of their evidence"
    )
    assert [(each["status"], each["observed"], each["params"]) for each in made["assertions"]] == [
        ("pass", {}, {}),
        ("fail", {}, {}),
    ]
    assert made["assertions"][1]["reason_code"] == "assertion.failed"
    assert made["assertions"][1]["message"].startswith("expected the output to contain all of")


def test_a_result_is_scored_before_it_is_cut(project: Project) -> None:
    """Whether the output satisfies the schema that a test asks for is told, also of a result without parameters, and when shards are merged."""
    schema = {"type": "object", "description": "x" * 9_000}
    params = {"format": "json", "json_schema": schema}
    assertion = {"id": "is-json", "type": "output_matches_format", "params": params}
    project.add("pass", assertions=[assertion], replay=make_replay(final_output={"content": "{}"}))
    limit(project, max_result_bytes=9_000)
    assert run() == 0
    assert result(project)["assertions"][0]["params"] == {}
    assert run("--shard", "1/1") == 0
    assert main(["merge", "artifacts/run-1-shard-1-of-1", "--run-id", "merged"]) == 0
    for name in ("run-1", "merged"):
        summary = json.loads(Path("artifacts", name, "eval-summary.json").read_text(encoding="utf-8"))
        assert [task["schemaValid"] for task in summary["tasks"]] == [True], name


def test_many_slow_patterns_take_the_time_of_one(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The time limit is that of the assertion: its patterns share it, and the next assertion has its own."""
    slow = {"id": "slow", "type": "output_omits", "params": {"regex": True, "patterns": ["(a|a)+$"] * 1000}}
    quick = {"id": "quick", "type": "output_contains", "params": {"regex": "!$"}}
    replay = make_replay(final_output={"content": "a" * 17 + "!"})
    project.add("pass", assertions=[slow, quick], replay=replay)
    limit(project, pattern_seconds=0.2)
    assert run() == 2
    made = result(project)
    assert made["reason_code"] == "pattern.timeout"
    assert made["error"]["message"] == (
        "assertion slow (output_omits): the pattern '(a|a)+$' used up the 0.2 s that the patterns of an "
        "assertion may take, on a text of 18 characters"
    )
    assert [each["status"] for each in made["assertions"]] == ["skip", "pass"]
    assert made["duration_ms"] < 5000


# A callback of hypothesis in the garbage collector may swallow an interruption; the next one follows a second later.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_schemas_that_take_too_long_are_found_when_loaded(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A schema that branches without end is an error of the test file, not a hang."""
    inner: dict[str, Any] = {"s0": {"type": "string"}}
    for number in range(1, 40):
        inner[f"s{number}"] = {"anyOf": [{"$ref": f"#/$defs/s{number - 1}"}] * 2}
    schema = {"$ref": "#/$defs/s39", "$defs": inner}
    check = {
        "id": "args",
        "type": "tool_args_match",
        "params": {"tool": "web_search", "match": {"json_schema": schema}},
    }
    project.add("pass", assertions=[check])
    limit(project, step_seconds=0.5)
    assert run() == 3
    assert "checking the file used up the 0.5 s of processor time" in " ".join(
        capsys.readouterr().out.split()
    )


USED_UP = "used up the 0.5 s of processor time that it may take"


def endless(project: Project, plugin: str, after: str = "") -> None:
    """A plugin that does not end once it is behind the line `after`, and a limit that a test can wait for."""
    path = project.root / "checks" / "plugin.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        plugin.replace(after, f"{after}        while True:\n            pass\n") if after else plugin,
        encoding="utf-8",
    )
    config = {"color": "never", "limits": {"step_seconds": 0.5}, "plugins": ["checks/plugin.py"]}
    (project.root / "agenteval.yaml").write_text(json.dumps(config), encoding="utf-8")


def test_an_assertion_that_does_not_end_is_an_error(project: Project) -> None:
    """Also one of a plugin, which asks for nothing; the others are judged."""
    endless(project, SHOUTS, "        text = trace.output\n")
    project.add("pass", assertions=[SEARCHES, {"id": "loud", "type": "shouts"}, {**SEARCHES, "id": "again"}])
    assert run() == 2
    made = result(project)
    assert made["reason_code"] == "assertion.timeout"
    assert made["error"]["message"] == (
        f"assertion loud (shouts of the plugin checks/plugin.py): it {USED_UP}"
    )
    assert made["next_step"] == (
        "let it judge less, record a shorter run, or raise limits.step_seconds in agenteval.yaml"
    )
    assert [each["status"] for each in made["assertions"]] == ["pass", "skip", "pass"]


@pytest.mark.parametrize("flags", [(), ("-n", "2")], ids=["one process", "workers"])
def test_a_file_whose_checking_does_not_end_is_invalid(
    flags: tuple[str, ...], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tests beside it are run."""
    field = '    """The fewest words."""\n'
    wait = "\n    def __post_init__(self) -> None:\n        while self.min_words == 7:\n            pass\n"
    endless(project, SHOUTS.replace(field, field + wait))
    project.add("pass", "fine")
    path = project.add(
        "pass", "loud", assertions=[{"id": "loud", "type": "shouts", "params": {"min_words": 7}}]
    )
    assert run(*flags) == 3
    told = " ".join(capsys.readouterr().out.split())
    assert f"{path.relative_to(project.root)}: error[file.timeout]: checking the file {USED_UP}" in told
    assert "next: make the file smaller, or raise limits.step_seconds in agenteval.yaml" in told
    assert result(project, "fine")["status"] == "pass"


def test_an_adapter_that_does_not_end_is_an_error(project: Project) -> None:
    """Of the test that it reads."""
    endless(project, ADAPTER, "    def trace(self, case, context):\n")
    project.add("pass", adapter="canned", adapter_input={"answer": "x"})
    assert run() == 2
    made = result(project)
    assert made["reason_code"] == "adapter.timeout"
    assert made["error"]["message"] == f"adapter canned {USED_UP}"
    assert made["next_step"] == "record a shorter run, or raise limits.step_seconds in agenteval.yaml"


def turns(*_: object) -> None:
    """What takes for ever."""
    while True:
        pass


def test_what_could_not_be_looked_through_is_not_quoted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were learning secrets to take for ever, the test would be an error, without verdicts and without a trace."""
    project.add("fail", replay=make_replay(final_output={"content": "hunter2"}))
    limit(project, step_seconds=0.5)
    learn = Redactor.learn_secrets

    def learns(redactor: Redactor, data: Any) -> None:
        turns() if isinstance(data, list) else learn(redactor, data)

    monkeypatch.setattr(Redactor, "learn_secrets", learns)
    assert run("--save-traces") == 2
    made = result(project, "fail")
    assert made["reason_code"] == "redaction.timeout"
    assert made["error"]["message"] == f"looking for secrets in the recording {USED_UP}"
    assert (made["assertions"], made["artifacts"]["trace"]) == ([], None)


def test_what_could_not_be_redacted_is_not_written(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run says so, and fails."""
    project.add("pass", replay=make_replay(final_output={"content": "password: hunter2"}))
    limit(project, step_seconds=0.5)
    monkeypatch.setattr(Redactor, "leaks", turns)
    assert run("--save-traces") == 2
    told = " ".join("".join(capsys.readouterr()).split())
    assert (
        f"error[redaction.timeout]: nanoclaw.t.pass.x.trace.json is not written: redacting it {USED_UP}"
        in told
    )
    assert not (project.root / "artifacts" / "run-1" / "nanoclaw.t.pass.x.trace.json").exists()
