"""`-n`: worker processes give the same run as one process does, and one that dies takes one test with it."""

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
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.artifacts import safe_stem
from agenteval.running import workers
from agenteval.running.session import Flow
from plugin_projects import ADAPTER, SHOUTS, write
from projects import Project, make_replay
from runs import settled, written

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forks")

KINDS = ("pass", "fail", "warn", "skip", "error", "invalid")
DIES = SHOUTS.replace(
    "        text = trace.output\n",
    "        import os, signal\n"
    "        if trace.output == 'KILL':\n"
    "            os.kill(os.getpid(), signal.SIGKILL)\n"
    "        if trace.output == 'LEAVE':\n"
    "            os._exit(7)\n"
    "        text = trace.output\n",
)
SHOUT = [{"id": "shouts", "type": "shouts", "params": {}}]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project in the current directory."""
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def fill(project: Project, number: int = 30) -> None:
    """Tests of every kind, and two with the same id."""
    for at in range(number):
        project.add(KINDS[at % len(KINDS)], f"{at:03}")
    project.add("pass", "twin", id="nanoclaw.t.000.x")


def run(capsys: pytest.CaptureFixture[str], run_id: str, *options: str) -> tuple[int, str]:
    """The exit code and what is said, without what differs from run to run."""
    code = main(["run", "tests", "--run-id", run_id, *options])
    out, err = capsys.readouterr()
    assert err == ""
    return code, settled(out, run_id)


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-v"],
        ["-q", "--strict"],
        ["--save-traces"],
        ["-k", "not 003"],
        ["-t", "nowhere"],
        ["-x"],
        ["--maxfail", "3"],
    ],
    ids=" ".join,
)
def test_the_same_run(options: list[str], project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines, files, their bytes and the exit code are those of a run in one process, whatever is wrong."""
    fill(project)
    alone = run(capsys, "run-a", *options)
    assert run(capsys, "run-b", "-n", "3", *options) == alone
    assert written("run-b") == written("run-a")


def test_the_same_comparison(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that is held against an earlier one says the same, whoever judged its tests."""
    fill(project)
    run(capsys, "before", "--save-traces")
    path = project.root / "tests/000/replay.json"
    path.write_text(path.read_text(encoding="utf-8").replace("web_search", "web_find"), encoding="utf-8")
    alone = run(capsys, "run-a", "--baseline", "artifacts/before")
    assert run(capsys, "run-b", "-n", "2", "--baseline", "artifacts/before") == alone
    assert written("run-b") == written("run-a")
    assert "newly_failing" in written("run-b")["comparison.json"]


def test_a_shard_without_tests(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Workers that have nothing to do are no crash: the run says that there is nothing, as one process does."""
    project.add("pass", "1")
    for number in ("2", "1"):
        assert run(capsys, f"run-{number}", "-n", number, "--shard", "2/2")[0] == 3


def test_names_that_are_taken(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A file whose name another test has, in another case, gets the same other name as in one process."""
    for name, test_id in (("1", "a b"), ("2", safe_stem("a b", Redactor())), ("3", "b")):
        project.add("pass", name, id=test_id)
    run(capsys, "run-a")
    run(capsys, "run-b", "-n", "2")
    assert written("run-b") == written("run-a")
    assert len(written("run-b")) == 6


def test_nothing_is_written_without_artifacts(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--no-artifacts` holds for workers too."""
    fill(project)
    told = []
    for number in ("2", "1"):
        assert main(["run", "tests", "--no-artifacts", "-n", number]) == 3
        told.append(settled(capsys.readouterr().out))
    assert told[0] == told[1]
    assert not (project.root / "artifacts").exists()


def plugged(project: Project, source: str) -> None:
    """Give the project a plugin."""
    write(project.root / "checks.py", source)
    (project.root / "agenteval.yaml").write_text("color: never\nplugins: [checks.py]\n", encoding="utf-8")


def loud(project: Project, name: str, output: str = "LOUD") -> None:
    """A test that the plugin judges."""
    project.add("pass", name, assertions=SHOUT, replay=make_replay(final_output={"content": output}))


def test_plugins_judge_in_workers(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A type of the project's own is found, and its verdicts are the same."""
    plugged(project, SHOUTS)
    for at in range(12):
        loud(project, f"{at:02}", "LOUD" if at % 2 else "quiet")
    alone = run(capsys, "run-a")
    assert run(capsys, "run-b", "-n", "2") == alone
    assert alone[0] == 1


def test_what_cannot_cross_is_judged_by_the_run_itself(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """An adapter whose texts cannot be sent between processes gives the same run all the same."""
    odd = "token_usage={'odd': type('Odd', (str,), {})('1')}"
    plugged(project, ADAPTER.replace("timing_ms_total=0", f"timing_ms_total=0, {odd}"))
    for at in range(4):
        check = {"id": "says", "type": "output_contains", "params": {"all_of": ["2"]}}
        answer = {"answer": f"{at}"}
        project.add("pass", f"{at}", adapter="canned", adapter_input=answer, assertions=[check])
    alone = run(capsys, "run-a")
    assert run(capsys, "run-b", "-n", "2") == alone
    assert written("run-b") == written("run-a")
    assert "1 passed, 3 failed" in alone[1]


def test_what_a_plugin_observes_need_not_cross(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """An assertion that observes what cannot be sent between processes is judged like any other."""
    plugged(project, SHOUTS.replace("words=len(text.split()))", "words=len(text.split()), odd=lambda: 1)"))
    for at in range(4):
        loud(project, f"{at}")
    assert run(capsys, "run-b", "-n", "2") == run(capsys, "run-a")


def test_a_worker_that_dies(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The test that it was on is an error that says how it died; all others are judged, and the exit code is 2."""
    plugged(project, DIES)
    for at in range(20):
        loud(project, f"{at:02}", {3: "KILL", 11: "LEAVE"}.get(at, "LOUD"))
    code, out = run(capsys, "run-b", "-n", "2")
    assert code == 2
    summary = json.loads((project.root / "artifacts/run-b/summary.json").read_text(encoding="utf-8"))
    assert [row["test_case_id"].split(".")[2] for row in summary["tests"]] == [f"{at:02}" for at in range(20)]
    assert {
        row["test_case_id"]: row["reason_code"] for row in summary["tests"] if row["status"] != "pass"
    } == {"nanoclaw.t.03.x": "worker.died", "nanoclaw.t.11.x": "worker.died"}
    assert "  error[worker.died]: the worker process that ran this test was killed by SIGKILL\n" in out
    assert "  error[worker.died]: the worker process that ran this test ended with exit code 7\n" in out
    assert "next: run the test alone, without -n; SIGKILL often means that memory ran out\n" in out
    assert out.endswith("exit 2: 2 tests ended in an error\n")
    result = json.loads(
        (project.root / "artifacts/run-b/nanoclaw.t.03.x.result.json").read_text(encoding="utf-8")
    )
    assert (result["status"], result["assertions"]) == ("error", [])


def test_a_file_that_kills_whoever_loads_it(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """When no worker survives loading a file, the file is invalid; the run goes on."""
    plugged(
        project,
        SHOUTS.replace(
            "    def check",
            "    def __post_init__(self):\n        import multiprocessing, os\n        if multiprocessing.parent_process():\n            os._exit(9)\n\n    def check",
        ),
    )
    loud(project, "0")
    for at in range(1, 5):
        project.add("pass", f"{at}")
    code, out = run(capsys, "run-b", "-n", "2")
    assert code == 3
    assert out.startswith(
        "tests/0/test.yaml: error[worker.died]: the worker process that loaded this file ended with exit code 9\n"
        "   next: run `agenteval validate` on the file; a plugin that ends the process may be the cause\n"
    )
    assert "4 passed, 1 invalid" in out


def test_every_worker_dies(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Even when all tests kill their worker, the run ends, and names each."""
    plugged(project, DIES)
    for at in range(5):
        loud(project, f"{at}", "KILL")
    assert run(capsys, "run-b", "-n", "2")[0] == 2
    summary = json.loads((project.root / "artifacts/run-b/summary.json").read_text(encoding="utf-8"))
    assert [row["reason_code"] for row in summary["tests"]] == ["worker.died"] * 5


def test_a_crash_of_ours_is_told_as_in_one_process(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug that shows in a worker is reported by the run, not swallowed."""

    def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    for at in range(3):
        project.add("pass", f"{at}")
    monkeypatch.setattr("agenteval.running.test_runner.unfiled", broken)
    assert main(["run", "tests", "-n", "2", "--no-artifacts"]) == 2
    assert (
        "error[internal.bug]: this is a bug in agenteval 0.1.0: RuntimeError: a bug\n"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("asked", "files", "number"),
    [("1", 1000, 1), ("0", 1000, 1), ("4", 2, 4), ("auto", 99, 1), ("auto", 100, 3)],
)
def test_how_many_processes(asked: str, files: int, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` is one process for each processor, and one in all for fewer than a hundred tests."""
    monkeypatch.setattr("agenteval.running.session.processors", lambda: 3)
    assert Flow(workers=asked).processes(files) == number


@pytest.mark.parametrize("command", ["run", "mutate"])
@pytest.mark.parametrize("value", ["many", "-1", "1.5", "١", "10000", "9" * 5000], ids=lambda text: text[:5])
def test_the_number_is_a_number(value: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is refused, and so is a number that no machine has use for."""
    assert main([command, ".", "-n", value]) == 2
    assert capsys.readouterr().err.startswith(
        f"error[usage.invalid]: -n {value}: expected a number of processes, at most 9999, or auto\n"
    )


SLEEPS = SHOUTS.replace("        text =", "        import time; time.sleep(0.2)\n        text =")


def test_ctrl_c(project: Project) -> None:
    """SIGINT to all processes of a run: what was finished is on disk and told, exit 2, no process is left."""
    plugged(project, SLEEPS)
    for at in range(100):
        loud(project, f"{at:03}")
    process = subprocess.Popen(
        [sys.executable, "-m", "agenteval", "run", "tests", "--run-id", "r", "-n", "2", "--color", "never"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    folder = project.root / "artifacts" / "r"
    deadline = time.monotonic() + 60
    # the last may be half of a file, which goes
    while len(list(folder.glob("*.result.json"))) < 7 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (2, "")
    done = len(list(folder.glob("*.result.json")))
    assert 6 <= done < 100
    assert out.endswith(
        f"interrupted: {done} tests finished; results are in artifacts/r, without a summary\nexit 2: interrupted\n"
    )
    assert not (folder / "summary.json").exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_killed_worker_from_outside(project: Project, tmp_path: Path) -> None:
    """SIGKILL to a worker, as the system sends when memory runs out: one error at most, all tests are told."""
    plugged(project, SLEEPS)
    for at in range(12):
        loud(project, f"{at:02}")
    process = subprocess.Popen(
        [sys.executable, "-m", "agenteval", "run", "tests", "--run-id", "r", "-n", "2", "-q"],
        stdout=subprocess.PIPE,
        text=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while not (children.exists() and len(found := children.read_text(encoding="utf-8").split()) == 2):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.3)
    os.kill(int(found[0]), signal.SIGKILL)
    process.communicate(timeout=60)
    rows = json.loads((tmp_path / "artifacts/r/summary.json").read_text(encoding="utf-8"))["tests"]
    assert len(rows) == 12
    assert [row["reason_code"] for row in rows].count("worker.died") == 1


def test_a_full_disk(project: Project) -> None:
    """What was finished before the disk was full is on disk and told; nothing is left in halves; exit 2."""
    import resource

    for at in range(12):
        size = 60_000 if at == 8 else 10
        call = {"type": "tool_call", "tool": "web_fetch", "call_id": "c", "args": {"a": "x" * size}}
        project.add("fail" if at == 8 else "pass", f"{at:02}", replay=make_replay(call) if at == 8 else None)
    for options in ([], ["-n", "2"]):
        run_id = f"r{len(options)}"
        process = subprocess.run(
            [
                sys.executable,
                "-m",
                "agenteval",
                "run",
                "tests",
                "--run-id",
                run_id,
                "--save-traces",
                *options,
            ],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
        )
        assert process.returncode == 2
        assert process.stderr.startswith(
            f"error[artifacts.unwritable]: cannot write artifacts/{run_id}/nanoclaw.t.08.x.trace.json: File too large\n"
        )
        assert process.stdout.endswith(
            f"stopped: 8 tests finished; results are in artifacts/{run_id}, without a summary\n"
        )
        names = {path.name for path in (project.root / "artifacts" / run_id).iterdir()}
        assert names == {
            f"nanoclaw.t.{at:02}.x.{kind}.json" for at in range(8) for kind in ("result", "trace")
        }


def test_waiting_results_are_bounded(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When many results wait for a slow test before them, no more work is given out; the run is the same."""
    fill(project, 40)
    alone = run(capsys, "run-a")
    monkeypatch.setattr(workers, "MOST_WAITING", 1)
    assert run(capsys, "run-b", "-n", "3") == alone
