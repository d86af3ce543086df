"""`--watch`: what a changed file affects is run again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import pytest

from agenteval.cli import main
from agenteval.loading.config import Config
from agenteval.running.watching import Dependencies
from plugin_projects import SHOUTS, asserting, write
from projects import Project

MESSAGE = "watching for changes; press Ctrl-C to stop\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Two tests, and one whose recording is shared, in the current directory."""
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path)
    made.add("pass", "a")
    made.add("fail", "b")
    made.add("pass", "c", adapter_input={"replay_file": "../../shared/replay.json"})
    (tmp_path / "shared").mkdir()
    (tmp_path / "tests/c/replay.json").rename(tmp_path / "shared/replay.json")
    return made


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        (["tests/a/test.yaml"], ["tests/a/test.yaml"]),
        (["tests/a/replay.json"], ["tests/a/test.yaml"]),
        (["tests/a/deep/er/note.txt", "tests/b/replay.json"], ["tests/a/test.yaml", "tests/b/test.yaml"]),
        (["shared/replay.json"], ["tests/c/test.yaml"]),
        (["shared/other.json"], []),
        (["elsewhere.txt"], []),
        (["agenteval.yaml"], ["tests"]),
        (["checks.py"], ["tests"]),
    ],
)
def test_what_a_file_affects(changed: list[str], again: list[str], project: Project) -> None:
    """The tests beside it or below which it is, those that name it, and all for settings and plugins."""
    dependencies = Dependencies(["tests"], project.root, Config(plugins=["checks.py"]))
    assert dependencies.affected(str(project.root / name) for name in changed) == again


def test_a_new_test_and_a_broken_one(project: Project) -> None:
    """A test is found when it is new, and run when it is invalid: its problems are what one wants to see."""
    dependencies = Dependencies(["tests"], project.root, Config())
    new = project.add("invalid", "d")
    assert dependencies.affected([str(new)]) == ["tests/d/test.yaml"]


def test_chosen_assertions_stay_chosen(project: Project) -> None:
    """What was asked for of a file is what is run again."""
    paths = ["tests/a/test.yaml::searches", "tests/b"]
    dependencies = Dependencies(paths, project.root, Config())
    assert dependencies.affected([str(project.root / "tests/a/replay.json")]) == [paths[0]]


def test_what_is_watched(project: Project) -> None:
    """The directories of the tests and of what they name, each once, and the configuration."""
    dependencies = Dependencies(["tests", "tests/a"], project.root, Config())
    names = [os.path.relpath(path, project.root) for path in dependencies.watched()]
    assert names == ["agenteval.yaml", "shared", "tests"]


def test_recordings_elsewhere(project: Project) -> None:
    """A folder that `--replays` names is watched, and what is in it affects the suite; what is beside it does not."""
    replays = project.root / "shared/replays"
    replays.mkdir()
    (project.root / "suites").mkdir()
    suite = project.root / "suites/suite.json"
    suite.write_text("{}", encoding="utf-8")
    dependencies = Dependencies(["suites/suite.json"], project.root, Config(), replays=Path("shared/replays"))
    names = [os.path.relpath(path, project.root) for path in dependencies.watched()]
    assert names == ["agenteval.yaml", "shared/replays", "suites"]
    assert dependencies.affected([str(replays / "task/replay.json")]) == ["suites/suite.json"]
    assert dependencies.affected([str(project.root / "shared/replay.json")]) == []


def test_recordings_that_are_not_there(project: Project) -> None:
    """What does not exist cannot be watched; the run says that it is missing."""
    dependencies = Dependencies(["tests"], project.root, Config(), replays=Path("none"))
    assert str(project.root / "none") not in dependencies.watched()


class Watching:
    """A `--watch` that is under way; at its end, `rest` is what was said and not read."""

    rest = ""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agenteval", "run", "tests", "--watch", "-q", "--color=never", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            self.process.kill()

    def next_run(self) -> str:
        """What the next run says."""
        assert self.process.stdout
        lines = []
        for line in self.process.stdout:
            if line == MESSAGE:
                break
            lines.append(line)
        return "".join(lines)

    def end(self) -> int:
        """Press Ctrl-C."""
        os.killpg(self.process.pid, signal.SIGINT)
        self.rest, _ = self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals are POSIX's")
def test_a_session_at_work(project: Project) -> None:
    """All tests first, then what a change affects, with the options given; Ctrl-C ends with the last exit code."""
    with Watching("--strict", "-k", "not nothing", "--no-artifacts") as watching:
        assert "2 passed, 1 failed in " in watching.next_run()
        path = project.root / "tests/b/test.yaml"
        time.sleep(0.1)
        path.write_text(path.read_text(encoding="utf-8").replace("web_fetch", "web_search"), encoding="utf-8")
        assert watching.next_run().startswith("\n1 passed in ")
        (project.root / "shared/replay.json").write_text("{", encoding="utf-8")
        assert "1 error in " in watching.next_run()
        assert watching.end() == 2
    assert not (project.root / "artifacts").exists()


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals are POSIX's")
@pytest.mark.parametrize("options", [[], ["--no-artifacts", "--ndjson=log.ndjson"]])
def test_what_ran_again_and_what_still_fails_is_told(options: list[str], project: Project) -> None:
    """After each run, in its last lines; what was mended, and run, fails no more."""
    project.add("pass", "e", adapter_input={"replay_file": "gone.json"})
    a, b = project.root / "tests/a/replay.json", project.root / "tests/b/test.yaml"
    with Watching(*options) as watching:
        first = watching.next_run()
        assert "ran again" not in first
        assert "still failing" not in first
        time.sleep(0.1)
        a.write_text(a.read_text(encoding="utf-8") + " ", encoding="utf-8")
        assert watching.next_run().endswith(
            "\nran again: tests/a/test.yaml; changed: tests/a/replay.json\n"
            "still failing beside: tests/b/test.yaml, tests/e/test.yaml\n"
        )
        b.write_text(b.read_text(encoding="utf-8").replace("web_fetch", "web_search"), encoding="utf-8")
        assert watching.next_run().endswith(
            "\nran again: tests/b/test.yaml; changed: tests/b/test.yaml\n"
            "still failing beside: tests/e/test.yaml\n"
        )
        b.write_text("id: [", encoding="utf-8")
        assert watching.next_run().endswith(
            "changed: tests/b/test.yaml\nstill failing beside: tests/e/test.yaml\n"
        )
        a.write_text(a.read_text(encoding="utf-8") + " ", encoding="utf-8")
        assert watching.next_run().endswith(
            "changed: tests/a/replay.json\nstill failing beside: tests/b/test.yaml, tests/e/test.yaml\n"
        )
        assert watching.end() == 0


@pytest.mark.parametrize("report", ["tests/a/out/junit.xml", "tests/b/junit.xml"])
def test_what_a_run_writes_is_no_change(report: str, project: Project) -> None:
    """A report beside a test, or below it, does not start the run that writes it; a file beside the report does."""
    with Watching("--no-artifacts", "--junit-xml", report) as watching:
        assert "2 passed, 1 failed in " in watching.next_run()
        time.sleep(0.5)  # a few looks for changes
        (project.root / f"{report}.txt").write_text("changed", encoding="utf-8")
        assert "\n1 " in watching.next_run()
        time.sleep(0.5)
        assert watching.end() in (0, 1)
        assert watching.rest == ""


def test_a_run_that_was_killed_is_not_green(project: Project) -> None:
    """A plugin that takes its process down leaves no exit code, and the watching ends with 2."""
    kills = SHOUTS.replace(
        "        text =", "        import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n        text ="
    )
    write(project.root / "checks.py", kills)
    (project.root / "agenteval.yaml").write_text("plugins: [checks.py]\n", encoding="utf-8")
    project.add("pass", "d", assertions=asserting())
    with Watching() as watching:
        assert watching.next_run() == ""
        assert watching.end() == 2


def test_without_the_library(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One error that names the extra."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    assert main(["run", "tests", "--watch"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.watch_missing]: --watch needs the package watchfiles, which is not installed\n"
        "  next: pip install 'agenteval[watch]'\n"
    )


@pytest.mark.parametrize("options", [["--update-baseline"], ["--baseline", "b.json"]])
def test_a_baseline_is_of_all_tests(
    project: Project, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of what a change affects would take all other tests out of it, or miss them."""
    assert main(["run", "tests", "--watch", *options]) == 2
    assert capsys.readouterr().err == (
        f"error[usage.baseline]: {options[0]} does not go with --watch\n  next: use one or the other\n"
    )


def test_a_run_id_names_one_run(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--watch` makes many runs."""
    assert main(["run", "tests", "--watch", "--run-id", "r"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.watch_run_id]: --run-id does not go with --watch\n  next: use one or the other\n"
    )
