"""`agenteval check` of a fork of NanoClaw, with a stand-in for its runner."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from fork_projects import ForkProject, make_checkout, track, write
from live_projects import needs_sandbox

pytestmark = needs_sandbox
SAYS = '<message to="dana">3 bullets</message>'
POEM = "Answer in rhymes, as a poet would."


def checked(project: ForkProject, *flags: str) -> tuple[int, dict[str, Any]]:
    """A check, and its report."""
    project.runs += 1
    run_id = f"check-{project.runs}"
    code = main(["check", "evals", "--run-id", run_id, "--no-progress", *flags])
    return code, json.loads((project.root / "artifacts" / run_id / "check.json").read_text(encoding="utf-8"))


def recorded(project: ForkProject, turns: Sequence[str]) -> None:
    """Record the cassette of a test, and commit all."""
    project.test("Brief me")
    assert project.recorded(turns).exit_code == 0
    track(project.root)


def test_a_change_of_a_fork_that_has_its_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instructions reach it; the host's code is named as such; the base is the runner with the files of the base."""
    monkeypatch.chdir(tmp_path)
    make_checkout(tmp_path)
    with (tmp_path / ".gitignore").open("a") as file:
        file.write("artifacts/\n")
    project = ForkProject(tmp_path, monkeypatch, {"claude": "container/agent-runner/node_modules/claude"})
    recorded(project, [SAYS])
    with project.serving([SAYS] * 9) as service:
        track(tmp_path)
        write(tmp_path, "container/CLAUDE.md", f"You are a helpful agent.\n{POEM}\n")
        write(tmp_path, "src/router.ts", "// a remark\n")
        code, report = checked(project)
        assert (code, report["tests"][0]["reach"]) == (2, "reached")
        assert {file["path"]: file["seen"] for file in report["files"]} == {
            "container/CLAUDE.md": "requests",
            "src/router.ts": "host",
        }
        assert service.bodies == []
        code, report = checked(project, "--model", "real", "--trials", "2")
        assert code == 0
        made = report["tests"][0]["measurement"]
    poems = [POEM in json.dumps(body) for body in service.bodies]
    assert (poems.count(False), poems.count(True)) == (made["before"]["judged"], made["after"]["judged"])
    assert made["before"]["judged"] >= 1


def test_a_fork_in_a_repository_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What changed there is not listed, which is said; and two runs of the same agent are no comparison."""
    fork, root = make_checkout(tmp_path / "fork"), tmp_path / "project"
    write(root, ".gitignore", "artifacts/\n")
    monkeypatch.chdir(root)
    claude = "../fork/container/agent-runner/node_modules/claude"
    project = ForkProject(root, monkeypatch, {"checkout": "../fork", "claude": claude})
    recorded(project, [SAYS])
    with project.serving([SAYS] * 9) as service:
        track(root)
        write(fork, "container/CLAUDE.md", f"{POEM}\n")
        capsys.readouterr()
        code, report = checked(project, "--model", "real", "--trials", "2")
    assert (code, report["tests"][0]["reach"], report["tests"][0]["measurement"]) == (2, "reached", None)
    assert "both sides would be the same agent" in report["tests"][0]["message"]
    assert "fork is in another repository" in capsys.readouterr().out
    assert service.bodies == []
