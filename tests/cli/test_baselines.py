"""`agenteval run --baseline` and `--update-baseline`, and `agenteval compare`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agenteval.cli import main
from agenteval.reference.schemas import build_schema
from planted import GITHUB
from projects import FETCHES, NEEDS_LIVE, SEARCHES, VACUOUS, WARNS, Project, make_replay

FILE = "agenteval-baseline.json"


def run(run_id: str, *argv: str) -> int:
    """`agenteval run tests` under a run id."""
    return main(["run", "tests", "--run-id", run_id, *argv])


def comparison(run_id: str) -> Any:
    """`comparison.json` of a run."""
    return json.loads(Path("artifacts", run_id, "comparison.json").read_text(encoding="utf-8"))


def changes(data: Any) -> list[tuple[str, str, str | None, bool]]:
    """Kind, test, assertion and whether it is a regression."""
    return [
        (each["kind"], each["test_case_id"].split(".")[2], each["assertion"], each["regression"])
        for each in data["changes"]
    ]


def edit(**values: Any) -> None:
    """Write something about the known failure of the test `fail` into the baseline."""
    path = Path(FILE)
    data = json.loads(path.read_text())
    (entry,) = (each for each in data["tests"] if each["test_case_id"] == "nanoclaw.t.fail.x")
    entry.update(values)
    path.write_text(json.dumps(data))


def respec(project: Project, name: str, assertions: list[dict[str, Any]], **overrides: Any) -> None:
    """Write a test anew, with other assertions."""
    folder = project.root / "tests" / name
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    project.add("pass", name, assertions=assertions, **overrides)


def test_the_baseline_is_the_same_for_the_same_results(project: Project) -> None:
    """No times, no order of discovery, no run id: updating again changes nothing."""
    project.add("pass", "b")
    project.add("fail", "a")
    run("r1", "--update-baseline")
    first = Path(FILE).read_bytes()
    changed = Path(FILE).stat().st_mtime_ns
    run("r2", "--update-baseline")
    assert Path(FILE).read_bytes() == first
    assert Path(FILE).stat().st_mtime_ns == changed
    assert json.loads(first)["tests"][0] == {
        "test_case_id": "nanoclaw.t.a.x",
        "status": "fail",
        "score": 0.5,
        "assertions": {"searches": "pass", "fetches": "fail"},
        "calls": ["web_search:23c3c3c3"],
        "output": "0123456789abcdef",
    } | {name: json.loads(first)["tests"][0][name] for name in ("calls", "output")}
    assert not list(project.root.glob("*.part"))


def test_a_baseline_holds_no_content(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing that was asked, called, answered, recorded or checked is in it, nor in what is for OpenWOP."""
    fields = (
        "query",
        "result",
        "output",
        "asked",
        "phrase",
        "told",
        "title",
        "tag",
        "memory",
        "error",
        "session",
        "fx",
    )
    mark = {name: f"planted-{name}-5d1c" for name in fields}
    call = {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {"query": mark["query"]}}
    done = {**call, "type": "tool_result", "success": True, "fixture_id": mark["fx"]}
    del done["args"]
    script: list[dict[str, Any]] = [
        call,
        done,
        {"type": "memory_read", "group_id": "family", "content": mark["memory"]},
        {"type": "error", "error_type": "odd", "message": mark["error"]},
    ]
    output = {"role": "assistant", "content": mark["output"]}
    asked = [{"role": "user", "content": mark["asked"]}]
    scenario = {
        "group_id": "family",
        "session_id": mark["session"],
        "trigger": "user_message",
        "input_messages": asked,
    }
    phrases = {"type": "output_contains", "params": {"all_of": [mark["phrase"]]}, "description": mark["told"]}
    fixture = {"id": mark["fx"], "tool": "web_search", "file": "fx.json"}
    known: dict[str, Any] = {
        "replay": make_replay(*script, final_output=output, input_messages=asked),
        "scenario": scenario,
        "title": mark["title"],
        "tags": [mark["tag"]],
        "tools": {"available": ["web_search"], "fixtures": [fixture]},
    }
    for name, check in (("fail", phrases), ("stale", phrases), ("pass", SEARCHES)):
        project.add(name, assertions=[{"id": "a", **check}], **known)
        (project.root / "tests" / name / "fx.json").write_text(json.dumps(mark["result"]))
    (project.root / "tests" / "stale" / "fx.json").unlink()
    assert run("r0", "--save-traces", "-v") == 2
    (project.root / "tests" / "stale" / "test.yaml").unlink()
    assert run("r1", "--save-traces", "-v", "--update-baseline") == 0
    assert run("r2", "--baseline", FILE, "-v") == 0
    runs = [Path("artifacts", each) for each in ("r0", "r1", "r2")]
    ours = [folder / name for folder in runs for name in ("eval-summary.json", "events.jsonl")]
    for path in (Path(FILE), *ours):
        text = path.read_text(encoding="utf-8")
        assert [each for each in mark.values() if each in text] == []
    shown = capsys.readouterr().out + "".join(
        path.read_text(encoding="utf-8") for folder in runs for path in folder.iterdir()
    )
    assert [each for each in mark.values() if each not in shown] == []  # they can be found
    assert json.loads(ours[-2].read_text())["regression"]["scoreDelta"] == 0.0


def test_a_test_that_ran_is_renewed_beside_a_namesake(project: Project) -> None:
    """A file that the selection leaves out keeps no entry alive under the id of a test that ran."""
    project.add("pass", "a", tags=["chosen"])
    run("r1", "--update-baseline")
    project.add("pass", "twin", id="nanoclaw.t.a.x")
    respec(project, "a", [SEARCHES, FETCHES], tags=["chosen"])
    assert run("r2", "--baseline", FILE, "-t", "chosen") == 1
    assert run("r3", "--update-baseline", "-t", "chosen") == 0
    assert run("r4", "--baseline", FILE, "-t", "chosen") == 0


def test_assertions_that_are_not_selected_are_not_missing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`file::assertion` asks for no other."""
    monkeypatch.setenv("AGENTEVAL_SUITE_ID", "local.example.evals.t")
    project.add("pass", "a")
    project.add("fail", "b")
    run("r1")
    paths = ["tests/a", "tests/b/test.yaml::searches"]
    assert main(["run", *paths, "--run-id", "r2", "--baseline", "artifacts/r1"]) == 0
    assert changes(comparison("r2")) == []


@pytest.mark.parametrize("path", ["tests/b/test.yaml", "tests/b/test.yaml::other"])
def test_a_new_warning_fails_a_strict_run_in_whole_and_in_part(
    path: str, project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no failing assertion is the cause of is known only if the baseline has it."""
    monkeypatch.setenv("AGENTEVAL_SUITE_ID", "local.example.evals.t")
    other = {**SEARCHES, "id": "other", "severity": "warning"}
    project.add("pass", "b", assertions=[SEARCHES, other])
    assert run("r1", "--update-baseline") == 0
    respec(project, "b", [SEARCHES, {**WARNS, "id": "other"}])
    assert main(["run", path, "--strict", "--baseline", FILE]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"exit 1: 1 regression against {FILE}"
    assert main(["run", path, "--baseline", FILE]) == 0


@pytest.mark.parametrize(
    "option",
    [
        "--baseline",
        "--agent-id",
        "--modes",
        "--judge",
        "--run-id",
        "-k",
        "--replays",
        "--secret",
        "--shard",
        "--artifacts-dir",
        "-t",
    ],
)
def test_an_option_with_an_empty_value_is_no_option_left_out(
    project: Project, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    """A variable of the shell that is not set does not make a run green that was to be compared."""
    project.add("pass")
    assert run("r1", option, "") == 2
    assert capsys.readouterr().err == (
        f"error[usage.invalid]: what follows {option} is empty\n  next: give it a value, or leave it out\n"
    )


@pytest.mark.parametrize(
    ("argv", "before"), [(["run", ""], "run"), (["run", "--modes=", "x"], "--modes"), ([""], "agenteval")]
)
def test_an_empty_argument_is_refused(
    capsys: pytest.CaptureFixture[str], argv: list[str], before: str
) -> None:
    """An empty path is not this folder."""
    assert main(argv) == 2
    assert capsys.readouterr().err == (
        f"error[usage.invalid]: what follows {before} is empty\n  next: give it a value, or leave it out\n"
    )


CALL: dict[str, Any] = {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {"query": "dogs"}}
DONE: dict[str, Any] = {
    "type": "tool_result",
    "tool": "web_search",
    "call_id": "c1",
    "success": True,
    "result": "found",
}


@pytest.mark.parametrize("of", ["artifacts/r1", FILE])
def test_the_trajectory_shows_a_changed_call(
    project: Project, of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the traces of both runs arguments are told; a baseline's digests still tell which call it is."""
    asks = {
        "id": "asks",
        "type": "tool_args_match",
        "params": {"tool": "web_search", "match": {"args_equal": {"query": "cats"}}},
    }
    project.add("pass", assertions=[asks])
    assert run("r1", "--save-traces", "--update-baseline") == 0
    respec(
        project,
        "pass",
        [asks],
        replay=make_replay(CALL, DONE, final_output={"role": "assistant", "content": "Dogs."}),
    )
    capsys.readouterr()
    assert run("r2", "--baseline", of, "-q") == 1
    said = capsys.readouterr().out
    details = "" if of == FILE else '          query: "cats" → "dogs"\n'
    assert f"      ~ call 1  web_search  different arguments\n{details}      output\n" in said
    shown = "        it differs; a baseline keeps only a digest of it\n"
    assert (shown if of == FILE else "        - Cats.\n        + Dogs.\n") in said


def test_secrets_are_the_same_on_both_sides_and_shown_on_none(project: Project) -> None:
    """A live trace and a stored one are redacted alike, so that what is hidden is no difference."""
    script = [{**CALL, "args": {"token": GITHUB}}, DONE]
    project.add("pass", replay=make_replay(*script), reporting={"redact_fields": ["result"]})
    assert run("r1", "--save-traces", "--update-baseline") == 0
    for of in (FILE, "artifacts/r1"):
        assert run(f"with-{of[0:3]}", "--baseline", of) == 0
        assert comparison(f"with-{of[0:3]}")["differences"] == []
    assert GITHUB not in Path(FILE).read_text()


def test_redacted_fields_differ_as_tokens(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """That a value has changed is told, and neither the old one nor the new one."""
    words = ("sesame-open", "sesame-close")
    for number, word in enumerate(words, 1):
        replay = make_replay({**CALL, "args": {"query": word}}, DONE)
        if number == 1:
            project.add("pass", reporting={"redact_fields": ["query"]}, replay=replay)
        else:
            respec(project, "pass", [SEARCHES], reporting={"redact_fields": ["query"]}, replay=replay)
        run(f"r{number}", "--save-traces", *(["--baseline", "r1"] if number > 1 else []))
    said = capsys.readouterr().out + Path("artifacts/r2/comparison.json").read_text()
    assert 'query: "[redacted:field:' in said
    assert [word for word in words if word in said] == []


def test_the_events_name_the_baseline(project: Project) -> None:
    """`eval.started` and `eval.completed` tell what the run was compared with, and by how much it differs."""
    project.add("fail")
    run("r1")
    respec(project, "fail", [SEARCHES])
    run("r2", "--baseline", "r1")
    lines = Path("artifacts/r2/events.jsonl").read_text().splitlines()
    started, *_, completed = (json.loads(line)["payload"] for line in lines)
    assert started["baselineRunId"] == "r1"
    assert completed["regressionVsBaseline"] == 0.5


def test_compare_as_json(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as the file of a run that was compared."""
    project.add("fail")
    run("r1", "--update-baseline")
    respec(project, "fail", [SEARCHES])
    run("r2", "--baseline", FILE)
    capsys.readouterr()
    assert main(["compare", FILE, "artifacts/r2", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    written = comparison("r2")
    for part in (data, written):
        part["differences"] = part["without_traces"] = (
            None  # a run has its traces at hand, whether or not it keeps them
        )
    assert data == written
    assert main(["compare", "artifacts/r2", FILE]) == 1  # the other way round it fails newly


def test_what_is_written_fits_its_schema(project: Project) -> None:
    """The baseline, as people edit it, and the comparison."""
    project.add("pass")
    project.add("fail")
    run("r1", "--update-baseline")
    edit(owner="ops", reason="a bug", expires="2999-12-31")
    respec(project, "pass", [FETCHES], replay=make_replay(CALL, DONE))
    run("r2", "--baseline", FILE)
    for name, path in (("baseline", Path(FILE)), ("comparison", Path("artifacts/r2/comparison.json"))):
        Draft202012Validator(build_schema(name)).validate(json.loads(path.read_text()))


def test_compare_counts_as_missing_what_nobody_left_out(project: Project) -> None:
    """A run of a selection is not asked for the rest."""
    project.add("pass", "a")
    project.add("pass", "b")
    run("r1")
    run("r2", "-k", "t.a")
    assert main(["compare", "artifacts/r1", "artifacts/r2"]) == 0
    assert main(["run", "tests/a", "--run-id", "r3"]) == 0
    assert main(["compare", "artifacts/r1", "artifacts/r3"]) == 2  # another directory, another suite


def test_what_got_worse_is_told_with_its_reason(project: Project) -> None:
    """Also of what is no failed check: an error, a skip, a pass without anything to judge, an expectation not met."""
    names = ("error", "skip", "vacuous", "xfail")
    for name in names:
        project.add("pass", name)
    run("r1")
    (project.root / "tests/error/replay.json").unlink()
    respec(project, "skip", [{**NEEDS_LIVE, "id": "searches"}])
    silent = make_replay({"type": "final_output", "content": "x"})
    respec(project, "vacuous", [{**VACUOUS, "id": "searches"}], replay=silent)
    expected = {"status": "fail", "assertions": ["searches"], "reason": "a bug"}
    respec(project, "xfail", [SEARCHES], expected=expected)
    assert run("r2", "--baseline", "r1") == 2
    told = {each["test_case_id"].split(".")[2]: each["message"] for each in comparison("r2")["changes"]}
    assert told == {
        "error": "adapter_input.replay_file names 'replay.json', but tests/error/replay.json is not there",
        "skip": "skipped: it needs supports_live_run, which the adapter does not support for this recording",
        "vacuous": "nothing to judge: no tool_call events in the trace, and never_heard_of is not in tools.available",
        "xfail": "searches passed, though the test expects it to fail: take it out of `expected` when the cause is "
        "fixed, else find what hides it",
    }


def test_a_damaged_side_is_an_error(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told which file, and nothing is compared."""
    project.add("pass")
    run("r1", "--save-traces")
    run("r2", "--save-traces")
    name = "nanoclaw.t.pass.x.trace.json"
    Path("artifacts/r1", name).write_text("{}")
    capsys.readouterr()
    assert main(["compare", "artifacts/r1", "artifacts/r2"]) == 2
    assert capsys.readouterr().err == (
        f"error[run.damaged]: the run in artifacts/r1 is damaged: {name} is not a trace\n  next: run the tests again\n"
    )
    Path("artifacts/r1/eval-summary.json").write_text("{}")
    assert main(["compare", "artifacts/r1", "artifacts/r2"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(
        "artifacts/r1/eval-summary.json:1:1: error[json.missing_key]: missing required key 'suiteId'\n"
    )
    assert told.endswith("   next: run the tests again\n")


def test_a_comparison_without_a_count_is_damaged(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has one for every kind of change."""
    project.add("pass")
    run("r1", "--update-baseline")
    run("r2", "--baseline", FILE)
    assert main(["report", "artifacts/r2"]) == 0
    data = comparison("r2")
    del data["counts"]["newly_skipped"]
    Path("artifacts", "r2", "comparison.json").write_text(json.dumps(data), encoding="utf-8")
    capsys.readouterr()
    assert main(["report", "artifacts/r2"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0] == (
        "artifacts/r2/comparison.json:1:1: error[json.wrong_value]: counts: newly_skipped is missing"
    )
    assert said[-1].strip() == "next: run the tests again"


def test_a_run_without_a_baseline_does_not_pay_for_one(project: Project) -> None:
    """Nothing that compares is imported, nor OpenSSL for a digest."""
    project.add("pass")
    code = (
        "import sys; from agenteval.cli import main; assert main(['run', 'tests', '-q']) == 0; "
        "print(*[name for name in sys.modules if name.startswith('agenteval.comparing') or name == '_hashlib'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""
