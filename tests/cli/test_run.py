"""`agenteval run`, from the command line to files and exit code."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.reporters import artifacts
from projects import NEEDS_LIVE, SEARCHES, VACUOUS, Project, make_replay

ALL_KINDS = ("error", "fail", "invalid", "pass", "skip", "warn")


def run(*argv: str) -> int:
    """`agenteval run tests` under a fixed run id."""
    return main(["run", "tests", "--run-id", "run-1", *argv])


def summary(project: Project, run_id: str = "run-1") -> Any:
    """`summary.json` of a run."""
    return json.loads((project.root / "artifacts" / run_id / "summary.json").read_text(encoding="utf-8"))


def files(project: Project, run_id: str = "run-1") -> set[str]:
    """What a run wrote."""
    return {path.name for path in (project.root / "artifacts" / run_id).iterdir()}


def statuses(project: Project) -> dict[str, str]:
    """Status by test, in the order in which they ran."""
    return {row["test_case_id"].split(".")[2]: row["status"] for row in summary(project)["tests"]}


def test_a_run_of_everything(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Valid tests run in order whatever is wrong with others; all is on the screen and on disk."""
    for kind in ALL_KINDS:
        project.add(kind)
    assert run() == 3
    written = summary(project)
    assert statuses(project) == {
        "error": "error",
        "fail": "fail",
        "pass": "pass",
        "skip": "skipped",
        "warn": "pass",
    }
    assert written["exit_code"] == 3
    assert written["exit_reason"] == "1 invalid test spec"
    assert written["counts"] == {
        "total": 5,
        "passed": 2,
        "xfailed": 0,
        "failed": 1,
        "errors": 1,
        "skipped": 1,
        "invalid": 1,
        "deselected": 0,
        "vacuous_passes": 0,
        "warnings": 1,
    }
    assert files(project) == {
        *(f"nanoclaw.t.{kind}.x.result.json" for kind in ALL_KINDS if kind != "invalid"),
        *("events.jsonl", "eval-summary.json", "summary.json"),
    }
    scored = json.loads((project.root / "artifacts/run-1/eval-summary.json").read_text(encoding="utf-8"))
    assert [(task["taskId"], task["score"]) for task in scored["tasks"]] == [
        ("nanoclaw-t-error-x", 0.0),
        ("nanoclaw-t-fail-x", 0.5),
        ("nanoclaw-t-pass-x", 1.0),
        ("nanoclaw-t-warn-x", 1.0),
    ]
    assert (scored["suiteId"], scored["passed"]) == ("local.agenteval.evals.tests", False)
    out, err = capsys.readouterr()
    assert [
        line.split()[0]
        for line in out.split("\n")
        if line.split()[1:2] and line.split()[1].startswith("nanoclaw.t")
    ] == ["ERROR", "FAIL", "PASS", "SKIP", "PASS"]
    assert "tests/invalid/test.yaml:1:1: error[spec.missing_key]" in out or "error[spec.unknown_key]" in out
    assert out.endswith("artifacts/run-1/summary.json\nexit 3: 1 invalid test spec\n")
    assert err == ""


@pytest.mark.parametrize(
    ("kinds", "flags", "code"),
    [
        (["pass"], [], 0),
        (["pass", "warn", "skip"], [], 0),
        (["pass", "warn"], ["--strict"], 1),
        (["pass", "fail"], [], 1),
        (["fail", "error"], [], 2),
        (["error", "invalid"], [], 3),
        (["skip"], ["--strict-capabilities"], 1),
    ],
)
def test_exit_codes(kinds: list[str], flags: list[str], code: int, project: Project) -> None:
    """0 all passed, 1 failed, 2 error, 3 invalid: the highest that occurred."""
    for kind in kinds:
        project.add(kind)
    assert run(*flags) == code
    assert summary(project)["exit_code"] == code


def test_vacuous_passes_fail_when_asked(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A pass that judged nothing is marked; `--fail-on-vacuous` fails it."""
    project.add(
        "pass", assertions=[SEARCHES, VACUOUS], replay=make_replay({"type": "final_output", "content": "x"})
    )
    project.add(
        "fail", "other", assertions=[VACUOUS], replay=make_replay({"type": "final_output", "content": "x"})
    )
    assert run("-k", "other") == 0
    assert "· 1 vacuous\n" in capsys.readouterr().out
    assert main(["run", "tests", "-k", "other", "--fail-on-vacuous", "--no-artifacts"]) == 1
    out = capsys.readouterr().out
    assert "(--fail-on-vacuous)" in out
    assert "assertion.vacuous: next: give the assertion something to judge, or remove it" in out


def test_a_pass_that_skipped_assertions_is_not_plain_green(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The closing line counts what was not judged, also under `-q`; so does the Markdown report."""
    project.add("pass", assertions=[SEARCHES, NEEDS_LIVE])
    assert run("-q", "--markdown", "comment.md") == 0
    assert capsys.readouterr().out.startswith("1 passed, 1 assertion not judged in ")
    comment = Path("comment.md").read_text(encoding="utf-8")
    assert "| test | passed | assertion not judged |\n| --- | --- | --- |\n| 1 | 1 | 1 |\n" in comment


def test_configuration_sets_what_flags_set(project: Project) -> None:
    """`agenteval.yaml` makes warnings fail without a flag."""
    project.add("warn")
    (project.root / "agenteval.yaml").write_text("strict: true\n", encoding="utf-8")
    assert run() == 1


def test_an_empty_directory_is_not_a_success(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to run exits 3: a misspelled path must not turn a pipeline green."""
    (project.root / "tests").mkdir()
    assert run() == 3
    out = capsys.readouterr().out
    assert "tests" in out.split("\n")[0]
    assert "error[select." in out.split("\n")[0]


def test_a_path_that_is_not_there(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelled path is named."""
    assert main(["run", "tset", "--no-artifacts"]) == 3
    assert capsys.readouterr().out.startswith("tset: error[file.missing]: no such file or directory\n")


@pytest.mark.parametrize("flags", [[], ["-n", "2"]])
def test_a_warning_about_a_file_is_told_once(
    project: Project, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    """With its place, before the test; a test that passes stays on one line. What a run did is told with the test."""
    project.add("pass", "odd", id="odd")
    calls = {"type": "tool_call", "tool": "bash", "call_id": "c1", "args": {}}
    project.add(
        "pass", "more", id="more", replay=make_replay(calls), assertions=[{**SEARCHES, "severity": "warning"}]
    )
    assert run(*flags) == 0
    out = capsys.readouterr().out
    assert out.count("the id 'odd' is not of the form") == out.count("the id 'more' is not of the form") == 1
    assert re.search(r"\nPASS odd   \d+ ms · nanoclaw \S+ · replay\n\n", out)
    assert "\n  warning: bash is called, but not in tools.available: " in out
    assert main(["report", next(Path("artifacts").iterdir()).as_posix()]) == 0
    again = capsys.readouterr().out
    assert (
        again.count("the id 'odd' is not of the form") == again.count("the id 'more' is not of the form") == 1
    )


@pytest.mark.parametrize(
    ("flags", "before", "part"),
    [
        (["-k", "nothing and fail"], "", "; no test matches 'nothing' of -k"),
        (["-k", "pass and fail"], "", ""),
        (
            ["-t", "none"],
            "warning[select.unknown_tag]: --tag none: no test has this tag\n   allowed: t\n\n",
            "",
        ),
        (["--exclude-tag", "t"], "", ""),
    ],
)
def test_nothing_selected(
    flags: list[str], before: str, part: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A selection that leaves nothing exits 3; it says how many tests there were, and what none of them has."""
    project.add("pass", tags=["t"])
    project.add("fail", tags=["t"])
    assert run(*flags) == 3
    assert capsys.readouterr().out == (
        f"{before}error[select.nothing_selected]: the selection leaves none of 2 tests{part}\n"
        "   next: loosen -k, --tag or --exclude-tag; `agenteval list` shows ids and tags\n"
        "\n"
        f"2 deselected{', 1 warning' if before else ''} in 0.00 s\n"
        "artifacts/run-1/summary.json\n"
        "exit 3: no test to run\n"
    ).replace("0.00", f"{summary(project)['duration_ms'] / 1000:.2f}")


@pytest.mark.parametrize(
    ("overrides", "place", "error"),
    [
        ({"adapter_input": {"replay_file": "gone.json"}}, "23:16", "adapter.replay_missing"),
        ({"adapter_input": {"replay_file": 7}}, "23:16", "adapter.invalid_input"),
        ({"adapter_input": {"replay_file": "../../../x"}}, "23:16", "adapter.outside_root"),
        ({"adapter_input": {"replay_fil": "replay.json"}}, "23:3", "adapter.unknown_input"),
        ({"adapter_input": {"x-note": "none"}}, "22:1", "adapter.input_missing"),
        ({"adapter": "nanoclawd"}, "4:10", "adapter.unknown"),
        ({"mode": "live", "adapter": "otel"}, "5:7", "adapter.live_unsupported"),
        ({"adapter_input": {}}, "", "adapter.input_missing"),
    ],
)
def test_what_an_adapter_refuses_is_located(
    overrides: dict[str, Any], place: str, error: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line says where in the test file the mistake is; so do the result and the reports."""
    project.add("pass", **overrides)
    assert run("--junit-xml", "r.xml") == 2
    assert f"\n  {f'tests/pass/test.yaml:{place}: ' * bool(place)}error[{error}]: " in capsys.readouterr().out
    line, column = map(int, place.split(":")) if place else (None, None)
    (result,) = (project.root / "artifacts/run-1").glob("*.result.json")
    told = json.loads(result.read_text(encoding="utf-8"))["error"]
    assert (told["line"], told["column"]) == (line, column)
    report = (project.root / "r.xml").read_text("utf-8")
    assert (f'<property name="line" value="{line}" />' in report) is bool(place)


def test_a_crash_of_an_adapter_is_no_mistake_of_the_test(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no test file can mend has no place in one."""
    from agenteval_nanoclaw.adapter import NanoClawAdapter

    monkeypatch.setattr(NanoClawAdapter, "trace", lambda *_: 1 // 0)
    project.add("pass")
    assert run() == 2
    assert "\n  error[adapter.crashed]: adapter nanoclaw" in capsys.readouterr().out


LISTED = """\
tests/odd/test.yaml:2:5: warning[spec.id_convention]: the id 'odd' is not of the form <adapter>.<area>.<behavior>.<expectation>
   1 | schema_version: '0.1'
   2 | id: odd
     |     ^^^
   next: for instance nanoclaw.memory.same-group-recall.brief-bullets

tests/undeclared/test.yaml: warning: web_search is called, but not in tools.available: add what the agent has; an assertion of the type
  tools_within_policy fails when it calls anything else
warning[select.unknown_tag]: --exclude-tag slow: no test has this tag

3 passed, 3 warnings in 0.00 s
artifacts/run-1/summary.json
exit 1: 3 warnings (--strict allows none)
"""


@pytest.fixture
def odd(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose tests pass, with a warning of a file, one of a recording and one of the run."""
    monkeypatch.setenv("COLUMNS", "140")
    project.add("pass")
    project.add("pass", "odd", id="odd")
    project.add("pass", "undeclared", tools={"available": ["shell"]})
    return project


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_strict_run_fails_for_any_warning(
    workers: str, odd: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is told, even where only the summary is, and counted; no test fails for it, and none is to be run again."""
    assert run("--exclude-tag", "slow", "-q") == 0
    assert capsys.readouterr().out.endswith("exit 0: all tests passed\n")
    shutil.rmtree(odd.root / "artifacts")
    assert run("--exclude-tag", "slow", "-q", "--strict", "-n", workers) == 1
    assert re.sub(r"in \d.\d\d s", "in 0.00 s", capsys.readouterr().out) == LISTED
    told = summary(odd)
    assert (told["exit_reason"], told["forbidden_warnings"]) == ("3 warnings (--strict allows none)", 3)
    assert told["counts"]["warnings"] == 3
    assert {test["status"] for test in told["tests"]} == {"pass"}


def test_reports_of_a_strict_run_list_its_warnings(odd: Project) -> None:
    """Where all tests have passed, the entry of the run says what it failed for."""
    reports = ["--junit-xml", "r.xml", "--sarif", "r.sarif", "--markdown", "r.md"]
    assert run("--exclude-tag", "slow", "--strict", *reports) == 1
    report = (odd.root / "r.md").read_text(encoding="utf-8")
    assert (
        """
3 warnings (--strict allows none)
tests/odd/test.yaml:2:5: spec.id_convention: the id 'odd' is not of the form <adapter>.<area>.<behavior>.<expectation>
next: for instance nanoclaw.memory.same-group-recall.brief-bullets
select.unknown_tag: --exclude-tag slow: no test has this tag
tests/undeclared/test.yaml: warning: web_search is called, but not in tools.available: add what the agent has; \
an assertion of the type tools_within_policy fails when it calls anything else
```
"""
        in report
    )
    for name in ("r.xml", "r.sarif", "r.md"):
        assert "3 warnings (--strict allows none)" in (odd.root / name).read_text(encoding="utf-8")


def test_an_unknown_tag_is_a_warning(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A tag that no test has is told once all are known, with the one that is meant; the exit code stays."""
    project.add("pass", tags=["smoke"])
    assert run("-t", "smoke", "-t", "smok", "--exclude-tag", "slow") == 0
    out = capsys.readouterr().out
    assert (
        "warning[select.unknown_tag]: --tag smok: no test has this tag\n   did you mean 'smoke'?\n\n"
        "warning[select.unknown_tag]: --exclude-tag slow: no test has this tag\n   allowed: smoke\n"
    ) in out
    assert [problem["reason_code"] for problem in summary(project)["problems"]] == ["select.unknown_tag"] * 2


def test_a_run_that_stops_early_does_not_know_all_tags(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether a tag is unknown shows when all tests are loaded, not before."""
    project.add("fail", "a", tags=["t"])
    project.add("pass", "b", tags=["later"])
    assert run("-x", "-t", "t", "-t", "later") == 1
    assert "unknown_tag" not in capsys.readouterr().out


def test_selected_tests_run(project: Project) -> None:
    """`-k` and tags choose; what is left out is counted."""
    project.add("pass", tags=["t"])
    project.add("fail")
    assert run("-t", "t") == 0
    assert statuses(project) == {"pass": "pass"}
    assert summary(project)["counts"]["deselected"] == 1


def test_one_assertion_of_a_file(project: Project) -> None:
    """`file::assertion-id` judges only that assertion."""
    path = project.add("fail")
    assert main(["run", f"{path}::searches", "--run-id", "run-1"]) == 0
    result = json.loads((project.root / "artifacts/run-1/nanoclaw.t.fail.x.result.json").read_text("utf-8"))
    assert [each["id"] for each in result["assertions"]] == ["searches"]


@pytest.mark.parametrize(
    ("flags", "ran", "said"),
    [
        (["-x"], ["1"], "1 test failed; stopped after 1 failure"),
        (["--maxfail", "2"], ["1", "2", "3"], "1 test ended in an error; stopped after 2 failures"),
        (["--maxfail", "3"], ["1", "2", "3", "4"], "1 test ended in an error; stopped after 3 failures"),
        (["--maxfail", "0"], ["1", "2", "3", "4"], "1 test ended in an error"),
        ([], ["1", "2", "3", "4"], "1 test ended in an error"),
    ],
)
def test_stopping_early(
    flags: list[str], ran: list[str], said: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-x` stops at the first failure or error, `--maxfail N` at the N-th; the run is then complete, and says why it ended."""
    for name, kind in (("1", "fail"), ("2", "pass"), ("3", "error"), ("4", "fail")):
        project.add(kind, name)
    code = run(*flags)
    assert code == (1 if ran == ["1"] else 2)
    assert list(statuses(project)) == ran
    assert summary(project)["exit_reason"] == said
    told = capsys.readouterr().out
    assert told.endswith(f"\nexit {code}: {said}\n")
    assert told.count("stopped after") == said.count("stopped after")


def test_collect_only(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--collect-only` shows what would run, runs nothing and writes nothing."""
    project.add("pass")
    project.add("error")
    assert main(["run", "tests", "--collect-only", "-k", "pass"]) == 0
    assert capsys.readouterr().out == "nanoclaw.t.pass.x  tests/pass/test.yaml\n1 test would run\n"
    assert not (project.root / "artifacts").exists()
    project.add("invalid")
    assert main(["run", "tests", "--collect-only"]) == 3
    assert main(["run", "tests", "--collect-only", "-k", "nothing"]) == 3


@pytest.mark.parametrize("option", [["--json"], ["--junit-xml", "kept"], ["--update-baseline"]])
def test_collecting_has_no_outcome(
    option: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """What would not be written is refused, not forgotten; a report of an earlier run stays."""
    project.add("pass")
    Path("kept").touch()
    assert main(["run", "tests", "--collect-only", *option]) == 2
    assert capsys.readouterr() == (
        "",
        (
            f"error[usage.invalid]: {option[0]} does not go with --collect-only\n"
            "  next: use one or the other\n"
        ),
    )
    assert Path("kept").exists()


def test_durations(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--durations N` shows the N slowest, slowest first."""
    for name in ("a", "b", "c"):
        project.add("pass", name)
    assert run("--durations", "2") == 0
    out = capsys.readouterr().out
    lines = out[out.index("slowest 2\n") :].split("\n")[1:3]
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times, reverse=True)
    slowest = sorted(summary(project)["tests"], key=lambda row: -row["duration_ms"])[:2]
    assert [line.split()[2] for line in lines] == [row["test_case_id"] for row in slowest]


def test_quiet_and_verbose(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`-q` leaves the summary, `-v` shows passed assertions too."""
    project.add("pass")
    project.add("fail")
    assert run("-q") == 1
    quiet = capsys.readouterr().out
    assert quiet.startswith("FAIL nanoclaw.t.fail.x  tests/fail/test.yaml\n\n1 passed, 1 failed in ")
    assert main(["run", "tests", "-v", "--no-artifacts"]) == 1
    verbose = capsys.readouterr().out
    assert "  ✓ searches  must_call_tool  critical\n" in verbose or "  ok searches  must_call_tool" in verbose


def test_colour(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--color always` colours even a file; auto does not; another word is refused."""
    project.add("fail")
    (project.root / "agenteval.yaml").write_text("{}\n", encoding="utf-8")
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["run", "tests", "--no-artifacts", "--color", "always"]) == 1
    assert "\x1b[31;1mFAIL\x1b[0m" in capsys.readouterr().out
    for color in ("auto", "never"):
        assert main(["run", "tests", "--no-artifacts", "--color", color]) == 1
        assert "\x1b" not in capsys.readouterr().out
    assert main(["run", "tests", "--color", "sometimes"]) == 2
    assert capsys.readouterr().err.startswith(
        "error[usage.invalid]: --color sometimes: expected auto, always or never\n  next: for instance --color auto\n"
    )


def test_json_is_alone_on_stdout(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` prints the run summary and nothing else; what people read goes to stderr."""
    for kind in ALL_KINDS:
        project.add(kind)
    assert run("--json") == 3
    out, err = capsys.readouterr()
    assert json.loads(out) == summary(project)
    assert "FAIL nanoclaw.t.fail.x" in err
    assert err.endswith("exit 3: 1 invalid test spec\n")


def test_traces_are_saved_when_asked(project: Project) -> None:
    """`--save-traces`, or `reporting.save_trace` of a test."""
    project.add("pass")
    project.add("fail", reporting={"save_trace": True})
    assert run() == 1
    assert "nanoclaw.t.fail.x.trace.json" in files(project)
    assert "nanoclaw.t.pass.x.trace.json" not in files(project)
    main(["run", "tests", "--run-id", "run-2", "--save-traces"])
    assert {"nanoclaw.t.fail.x.trace.json", "nanoclaw.t.pass.x.trace.json"} <= files(project, "run-2")


def test_no_artifacts(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--no-artifacts` writes nothing at all, and names no file."""
    project.add("fail")
    before = sorted(project.root.rglob("*"))
    assert main(["run", "tests", "--no-artifacts"]) == 1
    assert sorted(project.root.rglob("*")) == before
    assert "artifacts" not in capsys.readouterr().out


def test_options_that_nothing_comes_of(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Traces that nothing keeps or shows are refused before anything is written."""
    project.add("pass")
    Path("kept").write_text("the report before")
    assert main(["run", "tests", "--no-artifacts", "--save-traces", "--markdown", "kept"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.no_artifacts]: --save-traces does not go with --no-artifacts\n"
        "  next: use one or the other\n"
    )
    assert Path("kept").read_text() == "the report before"


def test_options_that_something_comes_of(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that --json or a report shows, traces in an HTML report, and what the settings say of other runs."""
    project.add("pass")
    argv = ["run", "tests", "--no-artifacts"]
    assert main([*argv, "--run-id", "r", "--json"]) == 0
    assert main([*argv, "--run-id", "r", "--save-traces", "--html", "h.html"]) == 0
    monkeypatch.setenv("AGENTEVAL_SAVE_TRACES", "true")
    assert main(argv) == 0


def test_artifacts_are_relative_to_the_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a subdirectory too, runs are collected at the project root; `--artifacts-dir` goes from where one is."""
    project.add("pass")
    monkeypatch.chdir(project.root / "tests")
    assert main(["run", "pass", "--run-id", "run-1"]) == 0
    assert main(["run", "pass", "--run-id", "run-1", "--artifacts-dir", "mine"]) == 0
    assert "summary.json" in files(project)
    assert (project.root / "tests/mine/run-1/summary.json").exists()


def test_a_run_id_that_is_taken(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A run never writes into the directory of another: exit 2, and nothing runs."""
    project.add("pass")
    assert run() == 0
    capsys.readouterr()
    assert run() == 2
    assert capsys.readouterr() == (
        "",
        (
            "error[artifacts.run_exists]: there is already a run in artifacts/run-1\n"
            "  next: give another --run-id, or none to have one generated\n"
        ),
    )


def test_a_place_that_cannot_be_written(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in the place of the artifacts directory: one error, exit 2, no traceback."""
    project.add("pass")
    (project.root / "artifacts").write_text("I am a file", encoding="utf-8")
    assert run() == 2
    assert capsys.readouterr() == (
        "",
        (
            "error[artifacts.unwritable]: cannot write artifacts: it is not a directory\n"
            "  next: free some space or give another --artifacts-dir; --no-artifacts runs without writing\n"
        ),
    )


def test_a_disk_that_is_full(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that runs full in the middle: one error on stderr, exit 2, no `summary.json`."""
    project.add("fail", "a")
    project.add("pass", "b")
    real = open

    def full(name: Any, *args: Any, **kwargs: Any) -> Any:
        return real("/dev/full" if str(name).endswith("b.x.result.json") else name, *args, **kwargs)

    monkeypatch.setattr(artifacts, "open", full, raising=False)
    assert run() == 2
    out, err = capsys.readouterr()
    assert "FAIL nanoclaw.t.a.x" in out
    assert err == (
        "error[artifacts.unwritable]: cannot write artifacts/run-1/nanoclaw.t.b.x.result.json: "
        "No space left on device\n"
        "  next: free some space or give another --artifacts-dir; --no-artifacts runs without writing\n"
    )
    assert "summary.json" not in files(project)


def test_two_tests_with_one_id(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The second test with an id is invalid; the first runs."""
    project.add("pass", "a", id="nanoclaw.t.same.x")
    project.add("pass", "b", id="nanoclaw.t.same.x")
    assert run() == 3
    assert list(statuses(project)) == ["same"]
    assert "error[spec.duplicate_test_id]" in capsys.readouterr().out


def test_two_tests_with_one_task_id(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Ids that would be one task of the EvalSummary are refused."""
    project.add("pass", "a", id="nanoclaw.t.same_one.x")
    project.add("pass", "b", id="nanoclaw.t.same-one.x")
    assert run() == 3
    assert "b/test.yaml:2:5: error[openwop.task_id_collision]" in capsys.readouterr().out
    assert len(summary(project)["tests"]) == 1


def test_suite_thresholds(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A bar that the project sets and the run misses exits 1, though every test passed."""
    project.add("pass")
    (project.root / "agenteval.yaml").write_text("suite: {max_p95_latency_ms: 1199}\n", encoding="utf-8")
    assert run() == 1
    assert capsys.readouterr().out.endswith("exit 1: suite.threshold: p95 latency 1200 ms is above 1199\n")
    (project.root / "agenteval.yaml").write_text("suite: {max_p95_latency_ms: 1200}\n", encoding="utf-8")
    assert main(["run", "tests", "--run-id", "run-2"]) == 0


def test_ctrl_c_in_the_middle(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is done is on disk and said to be; there is no `summary.json`; exit 2."""
    from agenteval_nanoclaw import NanoClawAdapter

    project.add("pass", "a")
    project.add("pass", "b")
    real = NanoClawAdapter.trace

    def trace(self: Any, case: Any, context: Any) -> Any:
        if case.id == "nanoclaw.t.b.x":
            raise KeyboardInterrupt
        return real(self, case, context)

    monkeypatch.setattr(NanoClawAdapter, "trace", trace)
    assert run() == 2
    assert files(project) == {"nanoclaw.t.a.x.result.json", "events.jsonl"}
    lines = Path("artifacts/run-1/events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["type"] for event in events] == ["eval.started", "eval.scored"]
    assert events[0]["payload"]["taskCount"] == 1
    assert capsys.readouterr().out.split("\n")[1:] == [
        "",
        "1 passed",
        "interrupted: 1 test finished; results are in artifacts/run-1, without a summary",
        "exit 2: interrupted",
        "",
    ]


PLANTED = {
    "args": "planted-args-7f3a9c",
    "result": "planted-result-7f3a9c",
    "memory": "planted-memory-7f3a9c",
    "message": "planted-message-7f3a9c",
    "error": "planted-error-7f3a9c",
    "output": "planted-output-7f3a9c",
}


NOWHERE: dict[str, set[str]] = {name: set() for name in PLANTED}


def plant(project: Project, fields: list[str], **overrides: Any) -> None:
    """A failing test with a marker in every kind of content."""
    replay = make_replay(
        {"type": "tool_call", "tool": "send", "call_id": "c1", "args": {"text": PLANTED["args"]}},
        {"type": "tool_result", "tool": "send", "call_id": "c1", "result": {"body": [PLANTED["result"]]}},
        {"type": "memory_read", "group_id": "family", "content": PLANTED["memory"]},
        {"type": "tool_call", "tool": "send", "call_id": "c2", "args": {}},
        {"type": "error", "call_id": "c2", "error_type": "boom", "message": PLANTED["error"]},
        input_messages=[{"role": "user", "content": PLANTED["message"]}],
        final_output={"role": "assistant", "content": f"It is {PLANTED['output']} and more"},
    )
    assertions = [
        {"id": "searches", "type": "must_call_tool", "params": {"tool": "web_search"}},
        {
            "id": "sends",
            "type": "must_call_tool",
            "params": {"tool": "send", "args": {"args_contains": {"text": f"no {PLANTED['args']}"}}},
        },
        {"id": "says", "type": "output_contains", "params": {"any_of": ["something else entirely"]}},
        {"id": "omits", "type": "output_omits", "params": {"patterns": ["It is"]}},
        {"id": "form", "type": "output_matches_format", "params": {"format": "bullet_list"}},
        {"id": "none", "type": "max_tool_calls", "params": {"max_total": 0}},
    ]
    scenario = {
        "group_id": "family",
        "trigger": "user_message",
        "input_messages": [{"role": "user", "content": PLANTED["message"]}],
    }
    given = {"replay": replay, "assertions": assertions, "scenario": scenario, **overrides}
    project.add("fail", reporting={"redact_fields": fields, "save_trace": True}, **given)


def seen(project: Project, capsys: pytest.CaptureFixture[str]) -> dict[str, set[str]]:
    """Where each marker shows: on stdout, on stderr, in files."""
    out, err = capsys.readouterr()
    texts = {"stdout": out, "stderr": err}
    texts |= {
        path.name: path.read_text(encoding="utf-8") for path in (project.root / "artifacts").rglob("*.json")
    }
    return {name: {key for key, text in texts.items() if marker in text} for name, marker in PLANTED.items()}


@pytest.mark.parametrize(
    "flags", [[], ["-v"], ["--json"], ["-q"]], ids=lambda flags: " ".join(flags) or "plain"
)
def test_redacted_values_are_nowhere(
    flags: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither screen, nor result, trace, summary, EvalSummary or `--json` shows a value of a redacted field."""
    plant(project, ["args.text", "body", "content", "message"])
    assert run(*flags) == 1
    assert "nanoclaw.t.fail.x.trace.json" in files(project)
    assert seen(project, capsys) == NOWHERE


def test_without_redaction_values_show(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The test above can fail: without `redact_fields` each marker shows in the trace, some on the screen."""
    plant(project, [])
    assert run("-v") == 1
    places = seen(project, capsys)
    assert [name for name, where in places.items() if "nanoclaw.t.fail.x.trace.json" not in where] == []
    assert {"stdout", "nanoclaw.t.fail.x.result.json"} <= places["output"] & places["args"]
    assert [
        where for where in places.values() if where & {"summary.json", "eval-summary.json", "events.jsonl"}
    ] == []


def test_an_invalid_recording_gives_no_value_away(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The excerpt of a recording that breaks a rule is redacted as well."""
    replay = make_replay(
        {"type": "tool_call", "tool": "t", "call_id": "c", "args": {"text": PLANTED["args"]}},
        {"type": "tool_result", "tool": "t", "call_id": "unknown", "result": {"body": PLANTED["result"]}},
    )
    plant(project, ["text", "body", "content", "message"], replay=replay)
    assert run("-v") == 2
    assert seen(project, capsys) == NOWHERE


def test_a_recording_that_is_no_json_gives_no_value_away(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The excerpt of a file that cannot be read is left out when something is redacted."""
    plant(project, ["text", "content", "message"])
    replay = project.root / "tests" / "fail" / "replay.json"
    replay.write_text(f'{{"text": "{PLANTED["args"]}",,}}', encoding="utf-8")
    assert run("-v") == 2
    assert seen(project, capsys) == NOWHERE
    (project.root / "tests" / "fail" / "test.yaml").write_text(
        (project.root / "tests" / "fail" / "test.yaml").read_text("utf-8").replace("redact_fields", "x-off"),
        encoding="utf-8",
    )
    assert main(["run", "tests", "--run-id", "run-2"]) == 2
    assert "stdout" in seen(project, capsys)["args"]


def test_the_eval_summary_has_no_content(project: Project) -> None:
    """Even without redaction no text of the recording gets into the EvalSummary or the run summary."""
    plant(project, [])
    run()
    for name in ("events.jsonl", "eval-summary.json", "summary.json"):
        text = (project.root / "artifacts" / "run-1" / name).read_text(encoding="utf-8")
        assert [marker for marker in PLANTED.values() if marker in text] == []


def test_an_agent_cannot_paint_the_screen(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences and bidi overrides in an output are shown escaped."""
    plant(project, [], replay=make_replay(final_output={"content": "It is \x1b[2J\u202ePASS\x07"}))
    assert run("-v", "--color", "never") == 1
    out = capsys.readouterr().out
    assert "\\x1b[2J\\u202ePASS\\x07" in out
    assert [char for char in set(out) if not char.isprintable() and char != "\n"] == []


def agenteval(*argv: str, **options: Any) -> "subprocess.Popen[str]":
    """The command in a process of its own."""
    given = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
        "encoding": "utf-8",
        **options,
    }
    return subprocess.Popen([sys.executable, "-m", "agenteval", *argv], **given)


@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["console", "json"])
@pytest.mark.parametrize(("kind", "code"), [("pass", 0), ("fail", 1)])
def test_a_reader_that_has_gone(flags: list[str], kind: str, code: int, project: Project) -> None:
    """`agenteval run | head -0`: no traceback, the exit code is the verdict's, the artifacts are complete."""
    for number in range(40):
        project.add(kind, f"{kind}-{number}")
    reading, writing = os.pipe()
    os.close(reading)
    process = agenteval("run", "tests", "--run-id", "run-1", "-v", *flags, stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert "error[" not in err
    assert summary(project)["counts"]["total"] == 40


def test_no_stdout_at_all(project: Project) -> None:
    """`agenteval run >&-` judges all the same."""
    project.add("fail")
    done = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m agenteval run tests --run-id run-1 >&-"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert summary(project)["exit_code"] == 1


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "koi8-r"])
def test_a_poor_encoding_is_no_error(encoding: str, project: Project) -> None:
    """Texts that stdout cannot show are spelled out."""
    project.add("fail", title="日本 × Ã")
    process = agenteval(
        "run",
        "tests",
        "--no-artifacts",
        encoding=encoding,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")
    assert "  \\u65e5\\u672c " in out


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="signals are POSIX's")
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_ctrl_c_for_real(name: str, workers: str, project: Project) -> None:
    """A signal in the middle of a run of many tests: exit 2, says so, results are there, no `summary.json`."""
    replay = make_replay(final_output={"content": "a" * 60})
    slow = {"id": "slow", "type": "output_contains", "params": {"regex": ["^(a|a|aa)+$"]}}
    (project.root / "agenteval.yaml").write_text("limits: {pattern_seconds: 0.2}\n", encoding="utf-8")
    project.add("pass", "0")
    for number in range(1, 300):
        project.add("pass", f"{number:03}", assertions=[{**slow}], replay=replay)
    # a process in the background of a script ignores SIGINT, and so would what it starts
    listening = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    process = agenteval("run", "tests", "--run-id", "run-1", "--color", "never", "-n", workers, **listening)
    folder = project.root / "artifacts" / "run-1"
    deadline = time.monotonic() + 60
    # the last may be half of a file, which goes
    while len(list(folder.glob("*.result.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.Signals[name])
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err == ""
    written = len(list(folder.glob("*.result.json")))
    assert 2 <= written < 300
    *_, last, code, _ = out.split("\n")
    assert last.endswith("finished; results are in artifacts/run-1, without a summary")
    assert code == "exit 2: interrupted"
    assert not (folder / "summary.json").exists()
