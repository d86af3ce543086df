"""The commit and branch of a run: those that git has checked out in the project, and none without git."""

import subprocess
from pathlib import Path

import pytest

from agenteval.cli import main
from agenteval.loading.checkout import checked_out
from projects import Project
from runs import run_command


def _git(folder: Path, *words: str) -> str:
    line = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b.example", *words]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


def _repository(folder: Path) -> str:
    _git(folder, "init", "-q", "-b", "feature/ünïcode")
    _git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return _git(folder, "rev-parse", "HEAD")


def test_a_run_knows_the_commit_and_the_branch_of_its_project(tmp_path: Path) -> None:
    """Both stand in summary.json."""
    commit = _repository(tmp_path)
    run = run_command([Project(tmp_path).add("pass")], tmp_path / "artifacts")
    assert (run.summary["commit"], run.summary["branch"]) == (commit, "feature/ünïcode")


@pytest.mark.parametrize("state", ["no git", "no commit", "no git installed", "detached"])
def test_there_is_no_branch_where_git_knows_none(
    state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a detached HEAD the commit is known alone; else neither is."""
    commit = None
    if state == "no commit":
        _git(tmp_path, "init", "-q")
    elif state == "no git installed":
        _repository(tmp_path)
        monkeypatch.setenv("PATH", str(tmp_path))
    elif state == "detached":
        commit = _repository(tmp_path)
        _git(tmp_path, "checkout", "-q", "--detach")
    assert checked_out(tmp_path) == (commit, None)


def test_a_merged_run_has_the_commit_of_its_shards(tmp_path: Path) -> None:
    """It is theirs, also when another commit is checked out where they are merged."""
    commit = _repository(tmp_path)
    project, parts = Project(tmp_path), []
    for name in "ab":
        project.add("pass", name)
    for number in (1, 2):
        options = ["--shard", f"{number}/2", "--run-id", "r", "--artifacts-dir", str(tmp_path / "parts")]
        assert main(["run", str(tmp_path), "-q", *options]) == 0
        parts.append(str(tmp_path / "parts" / f"r-shard-{number}-of-2"))
    _git(tmp_path, "commit", "-q", "--allow-empty", "-m", "second")
    assert main(["merge", *parts, "--artifacts-dir", str(tmp_path / "runs"), "-q"]) == 0
    assert f'"commit": "{commit}"' in (tmp_path / "runs" / "r" / "summary.json").read_text()
