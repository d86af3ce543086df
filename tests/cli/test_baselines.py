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


def summary(run_id: str) -> Any:
    """`summary.json` of a run."""
    return json.loads(Path("artifacts", run_id, "summary.json").read_text(encoding="utf-8"))


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


def test_known_failures_do_not_fail_the_run(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """What the baseline accepts stays a failure in all results, and the run passes."""
    project.add("pass")
    project.add("fail")
    assert run("r1", "--update-baseline") == 0
    said = capsys.readouterr().out.splitlines()
    assert "baseline written: agenteval-baseline.json (2 tests, 1 known failure)" in said
    assert said[-1] == "exit 0: no regression against agenteval-baseline.json, 1 known failure"
    assert run("r2", "--baseline", FILE) == 0
    assert summary("r2")["counts"]["failed"] == 1
    assert summary("r2")["exit_reason"] == "no regression against agenteval-baseline.json, 1 known failure"
    assert changes(comparison("r2")) == [("still_failing", "fail", "fetches", False)]
    assert run("r3") == 1
    assert not Path("artifacts", "r3", "comparison.json").exists()


def test_a_regression_fails_the_run_whatever_the_mean_says(project: Project) -> None:
    """One test that gets worse is not made up for by others that get better."""
    project.add("fail", "a")
    project.add("fail", "b")
    project.add("pass", "c")
    run("r1", "--update-baseline")
    respec(project, "a", [SEARCHES])
    respec(project, "b", [SEARCHES])
    respec(project, "c", [SEARCHES, FETCHES])
    assert run("r2", "--baseline", FILE) == 1
    data = comparison("r2")
    assert data["score_delta"] > 0
    assert ("newly_failing", "c", "fetches", True) in changes(data)
    assert summary("r2")["exit_reason"] == "1 regression against agenteval-baseline.json"
    assert data["counts"]["missing"] == 2


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


def test_an_expired_failure_fails_the_run(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Owner, reason and day are told; an update does not give more time."""
    project.add("fail")
    run("r1", "--update-baseline")
    edit(owner="ops", reason="upstream bug 12", expires="2999-12-31")
    assert run("r2", "--baseline", FILE) == 0
    edit(expires="2020-02-29")
    capsys.readouterr()
    assert run("r3", "--baseline", FILE, "-q") == 1
    said = capsys.readouterr().out
    assert "  known failures that have expired (1)\n    ✗ nanoclaw.t.fail.x  fetches\n" in said
    assert "        ops · upstream bug 12 · until 2020-02-29\n" in said
    assert run("r4", "--update-baseline") == 1
    assert summary("r4")["exit_reason"] == "1 regression against agenteval-baseline.json"
    assert json.loads(Path(FILE).read_text())["tests"][0]["owner"] == "ops"


def test_an_address_of_an_owner_survives_an_update(project: Project) -> None:
    """What a person wrote into the file is not redacted when it is written again."""
    project.add("fail")
    run("r1", "--update-baseline")
    edit(owner="ops@example.org")
    run("r2", "--update-baseline")
    assert json.loads(Path(FILE).read_text())["tests"][0]["owner"] == "ops@example.org"


def test_what_is_excused_for_nothing_is_a_warning(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failure that is fixed, or whose test is gone, may not stay excused unseen; an update takes it out."""
    project.add("fail")
    project.add("fail", "gone")
    run("r1", "--update-baseline")
    edit(reason="a bug")
    respec(project, "fail", [SEARCHES])
    respec(project, "gone", [SEARCHES], id="nanoclaw.t.other.x")
    capsys.readouterr()
    assert run("r2", "--baseline", FILE) == 0
    assert changes(comparison("r2")) == [
        ("missing", "fail", "fetches", False),
        ("missing", "gone", None, False),
        ("new", "other", None, False),
    ]
    (problem,) = summary("r2")["problems"]
    assert problem["reason_code"] == "baseline.unused"
    assert problem["severity"] == "warning"
    assert (
        problem["message"]
        == "agenteval-baseline.json lists known failures that no longer fail: nanoclaw.t.fail.x, nanoclaw.t.gone.x"
    )
    assert run("r3", "--update-baseline") == 0
    assert summary("r3")["problems"] == []
    assert "a bug" not in Path(FILE).read_text()


def test_tests_that_are_not_selected_are_not_missing(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-k` leaves them out on purpose, and an update leaves them as they were."""
    project.add("pass", "a")
    project.add("fail", "b")
    run("r1", "--update-baseline")
    before = Path(FILE).read_bytes()
    capsys.readouterr()
    assert run("r2", "--baseline", FILE, "-k", "t.a") == 0
    assert "  1 test not in this run\n" in capsys.readouterr().out
    assert comparison("r2")["not_selected"] == 1
    assert run("r3", "--update-baseline", "-k", "t.a") == 0
    assert Path(FILE).read_bytes() == before


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


def test_another_warning_is_not_the_known_failure_of_a_strict_run(project: Project) -> None:
    """One that fails the run for the first time is a regression; the one that is known is none."""
    other = {**SEARCHES, "id": "other", "severity": "warning"}
    project.add("pass", "b", assertions=[SEARCHES, WARNS, other])
    assert run("r1", "--strict", "--update-baseline") == 0
    assert run("r2", "--strict", "--baseline", FILE) == 0
    assert changes(comparison("r2")) == [("still_failing", "b", None, False)]
    respec(project, "b", [SEARCHES, {**other, "id": "warns"}, {**WARNS, "id": "other"}])
    assert run("r3", "--strict", "--baseline", FILE) == 1
    assert changes(comparison("r3")) == [
        ("newly_failing", "b", None, True),
        ("newly_warning", "b", "other", False),
        ("fixed", "b", "warns", False),
    ]


def test_a_test_that_is_gone_is_missing(project: Project) -> None:
    """A suite that shrinks does not become green by it."""
    project.add("pass", "a")
    project.add("pass", "b")
    run("r1", "--update-baseline")
    for path in (project.root / "tests" / "b").iterdir():
        path.unlink()
    assert run("r2", "--baseline", FILE) == 1
    assert changes(comparison("r2")) == [("missing", "b", None, True)]


@pytest.mark.parametrize("option", ["--ff", "--lf"])
def test_a_test_that_is_gone_is_missing_in_any_order(option: str, project: Project) -> None:
    """Options that put tests in another order, and leave none out, do not hide it."""
    project.add("pass", "a")
    project.add("pass", "b")
    run("r1", "--update-baseline")
    (project.root / "tests" / "b" / "test.yaml").unlink()
    assert run("r2", "--baseline", FILE, option) == 1
    assert changes(comparison("r2")) == [("missing", "b", None, True)]


def test_tests_that_did_not_fail_last_time_are_not_missing(project: Project) -> None:
    """`--lf` leaves them out, and has not looked which ones they are."""
    project.add("pass", "a")
    project.add("fail", "b")
    run("r1", "--update-baseline")
    assert run("r2", "--baseline", FILE, "--lf") == 0
    assert comparison("r2")["not_selected"] == 1


def test_a_shard_is_compared_once_it_is_merged(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Merging would lose a regression that only a shard was told of."""
    project.add("pass")
    run("r1", "--update-baseline")
    capsys.readouterr()
    assert run("r2", "--baseline", FILE, "--shard", "1/1") == 2
    assert capsys.readouterr().err == (
        "error[usage.baseline]: --shard runs only part of the tests, but --baseline needs all of them\n"
        "  next: merge the shards, then compare: agenteval compare BASELINE RUN\n"
    )


def test_a_pass_that_judges_nothing_any_more_is_a_regression(project: Project) -> None:
    """It was shown to be right, and is not shown any more."""
    project.add("pass", assertions=[VACUOUS])
    run("r1", "--update-baseline")
    respec(project, "pass", [VACUOUS], replay=make_replay({"type": "final_output", "content": "x"}))
    assert run("r2", "--baseline", FILE) == 1
    assert changes(comparison("r2")) == [("newly_vacuous", "pass", "vacuous", True)]


def test_x_stops_at_what_is_not_known(project: Project) -> None:
    """A known failure is no reason to stop, another beside it is; what was not run then is not missing."""
    project.add("fail", "a")
    project.add("fail", "b")
    project.add("pass", "c")
    run("r1", "--update-baseline")
    respec(project, "b", [SEARCHES, FETCHES, {**FETCHES, "id": "fetches-again"}])
    assert run("r2", "--baseline", FILE, "-x") == 1
    data = comparison("r2")
    assert [row["test_case_id"] for row in summary("r2")["tests"]] == ["nanoclaw.t.a.x", "nanoclaw.t.b.x"]
    assert data["counts"]["missing"] == 0
    assert data["not_selected"] == 1


@pytest.mark.parametrize("argv", [["-x"], ["--maxfail", "2"], ["tests/pass/test.yaml::searches"]])
def test_an_update_needs_whole_tests(
    project: Project, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A baseline of half a run would let the other half fail."""
    project.add("pass")
    assert run("r1", "--update-baseline", *argv) == 2
    assert "error[usage.baseline]: " in capsys.readouterr().err
    assert not Path(FILE).exists()


@pytest.mark.parametrize(("kind", "code"), [("error", 2), ("invalid", 3)])
def test_what_cannot_be_judged_is_in_no_baseline(
    project: Project, kind: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error is not accepted: the file stays as it was."""
    project.add("pass")
    project.add(kind)
    assert run("r1", "--update-baseline") == code
    assert not Path(FILE).exists()
    assert (
        "warning[baseline.not_written]: agenteval-baseline.json was not updated: not every test could be judged"
        in capsys.readouterr().out
    )
    assert run("r2", "--update-baseline", "-q") == code
    assert "baseline not written: agenteval-baseline.json\n" in capsys.readouterr().out


def test_an_error_is_not_excused_by_a_baseline(project: Project) -> None:
    """A run that could not judge a test ends with 2, whatever it was compared with."""
    project.add("error")
    run("r1")
    assert run("r2", "--baseline", "artifacts/r1") == 2
    assert changes(comparison("r2")) == [("still_failing", "error", None, False)]


@pytest.mark.parametrize("of", [FILE, "artifacts/r1"])
def test_another_version_of_the_suite_is_refused(
    project: Project, of: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything runs; an update makes a baseline of the new version."""
    project.add("fail")
    run("r1", "--update-baseline")
    monkeypatch.setenv("AGENTEVAL_SUITE_VERSION", "0.2.0")
    capsys.readouterr()
    assert run("r2", "--baseline", of) == 2
    assert capsys.readouterr().err == (
        f"error[baseline.other_suite]: {of} belongs to another version of the suite: it is of local.agenteval.evals.tests "
        "0.1.0, this run of local.agenteval.evals.tests 0.2.0\n"
        "  next: compare runs of the same version, or rewrite the baseline with --update-baseline\n"
    )
    assert not Path("artifacts/r2").exists()
    assert run("r3", "--update-baseline") == 0
    assert json.loads(Path(FILE).read_text())["suite_version"] == "0.2.0"
    assert main(["compare", "artifacts/r1", "artifacts/r3"]) == 2


def test_the_file_can_be_named(project: Project) -> None:
    """By the option, by the configuration; a run compares with one that is there."""
    project.add("fail")
    assert run("r1", "--update-baseline", "--baseline", "ci.json") == 0
    assert Path("ci.json").is_file()
    (project.root / "agenteval.yaml").write_text("baseline: base/known.json\n")
    (project.root / "base").mkdir()
    assert run("r2", "--update-baseline", "--baseline", "artifacts/r1") == 0
    assert Path("base/known.json").read_bytes() == Path("ci.json").read_bytes()
    assert run("r3", "--baseline", "r1") == 0  # a run's id, where no file is called so
    assert main(["compare", "r1", "r2"]) == 0
    assert run("r4", "--baseline", "absent.json") == 2


def test_a_file_that_cannot_be_written_is_an_error(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names it."""
    project.add("pass")
    assert run("r1", "--update-baseline", "--baseline", "nowhere/b.json") == 2
    assert capsys.readouterr().err.startswith(
        "error[baseline.unwritable]: cannot write the baseline nowhere/b.json: No such file or directory\n"
    )


def test_runs_without_a_test_in_common(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing can be compared, "no regression" is not said."""
    project.add("pass", "a")
    project.add("pass", "b")
    assert (run("r1", "-k", "t.a.x"), run("r2", "-k", "t.b.x")) == (0, 0)
    capsys.readouterr()
    assert main(["compare", "r1", "r2"]) == 2
    assert capsys.readouterr().err == (
        "error[baseline.nothing_in_common]: artifacts/r1 and artifacts/r2 have no test in common: there is nothing to compare\n"
        "  next: compare runs of the same tests\n"
    )


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


def test_without_traces_it_is_said_that_only_verdicts_were_compared(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the agent did is not known of the runs."""
    project.add("pass")
    run("r1")
    again = [{**CALL, "call_id": "c2"}, {**DONE, "call_id": "c2"}]
    respec(project, "pass", [SEARCHES], replay=make_replay(CALL, DONE, *again))
    run("r2")
    capsys.readouterr()
    assert main(["compare", "artifacts/r1", "artifacts/r2"]) == 0
    assert capsys.readouterr().out == (
        "artifacts/r1 → artifacts/r2\n"
        "  for 1 test, what the agent did differently is not known: run with --save-traces to keep the traces that show it\n"
        "  score 1 → 1, no change\n"
        "exit 0: no regression\n"
    )


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


def test_compare_does_not_miss_what_a_failure_kept_from_running(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that `-x` ended was not asked for the rest: what got worse is the failure that ended it."""
    project.add("pass", "a")
    project.add("pass", "b")
    run("r1")
    respec(project, "a", [SEARCHES, FETCHES])
    run("r2", "-x")
    capsys.readouterr()
    assert main(["compare", "r1", "r2", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert changes(data) == [("newly_failing", "a", "fetches", True)]
    assert data["not_selected"] == 1


@pytest.mark.parametrize(
    ("kind", "ended"),
    [("invalid", "exit 3: 1 invalid test spec"), ("error", "exit 2: 1 test ended in an error")],
)
def test_compare_is_not_green_when_not_all_could_be_judged(
    kind: str, ended: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """As little as a run is that was compared: a file that is invalid is in no result that could have changed."""
    project.add("fail", "a")
    run("r1", "--update-baseline")
    project.add(kind, "b")
    run("r2")
    capsys.readouterr()
    assert main(["compare", FILE, "r2"]) == 2
    assert capsys.readouterr().out.endswith(
        f"exit 2: not every test of artifacts/r2 could be judged: it ended with {ended}\n"
    )
    assert main(["compare", "r2", FILE, "--json"]) == 0  # what matters is how it is now


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


def test_a_damaged_baseline_is_an_error(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told where, and what to do."""
    project.add("pass")
    Path("b.json").write_text("{")
    assert run("r1", "--baseline", "b.json") == 2
    told = capsys.readouterr()
    assert told.err.startswith("b.json:1:2: error[json.syntax]: ")
    assert told.err.endswith(
        "   next: restore it from version control, or delete it and write it again with --update-baseline\n"
    )
    assert told.out == ""


def test_a_run_without_a_baseline_does_not_pay_for_one(project: Project) -> None:
    """Nothing that compares is imported, nor OpenSSL for a digest."""
    project.add("pass")
    code = (
        "import sys; from agenteval.cli import main; assert main(['run', 'tests', '-q']) == 0; "
        "print(*[name for name in sys.modules if name.startswith('agenteval.comparing') or name == '_hashlib'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""
