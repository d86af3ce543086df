"""`agenteval run`, from the command line to files and exit code."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.reporters import artifacts
from projects import Project, make_replay

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


def test_a_crash_of_an_adapter_is_no_mistake_of_the_test(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no test file can mend has no place in one."""
    from agenteval_nanoclaw.adapter import NanoClawAdapter

    monkeypatch.setattr(NanoClawAdapter, "trace", lambda *_: 1 // 0)
    project.add("pass")
    assert run() == 2
    assert "\n  error[adapter.crashed]: adapter nanoclaw" in capsys.readouterr().out


@pytest.fixture
def odd(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose tests pass, with a warning of a file, one of a recording and one of the run."""
    monkeypatch.setenv("COLUMNS", "140")
    project.add("pass")
    project.add("pass", "odd", id="odd")
    project.add("pass", "undeclared", tools={"available": ["shell"]})
    return project


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


def test_no_artifacts(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--no-artifacts` writes nothing at all, and names no file."""
    project.add("fail")
    before = sorted(project.root.rglob("*"))
    assert main(["run", "tests", "--no-artifacts"]) == 1
    assert sorted(project.root.rglob("*")) == before
    assert "artifacts" not in capsys.readouterr().out


def test_options_that_something_comes_of(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that --json or a report shows, traces in an HTML report, and what the settings say of other runs."""
    project.add("pass")
    argv = ["run", "tests", "--no-artifacts"]
    assert main([*argv, "--run-id", "r", "--json"]) == 0
    assert main([*argv, "--run-id", "r", "--save-traces", "--html", "h.html"]) == 0
    monkeypatch.setenv("AGENTEVAL_SAVE_TRACES", "true")
    assert main(argv) == 0


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
