"""`agenteval history`: stored runs by time, rates of tests over all runs, `last`, and old runs deleted."""

import json
import os
import shutil
from pathlib import Path

import pytest

from agenteval.cli import main
from agenteval.comparing.history import Share, past_tests, read_history
from agenteval.judging.stored import StoredRunError, find_run, last_run
from past_runs import keep
from projects import Project
from runs import run_command


def test_runs_are_listed_by_time_with_branch_score_and_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The newest is first, whatever the order on the disk."""
    keep(tmp_path, 2, branch="main", a="pass", b="fail")
    keep(tmp_path, 1, a="pass")
    assert main(["history", str(tmp_path)]) == 0
    _, first, second = capsys.readouterr().out.splitlines()
    assert first.split() == [
        *("run-20260102T030405Z-00000002", "2026-01-02", "03:04:05", "main", "0.2"),
        *("1", "failed,", "1", "passed"),
    ]
    assert second.startswith("run-20260101T030405Z-00000001")
    main(["history", str(tmp_path), "-n", "1"])
    assert capsys.readouterr().out.splitlines()[-1] == "and 1 older"
    main(["history", str(tmp_path), "--branch", "main"])
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    "damage",
    ["{", "[]", "null", "{}", '{"schema_version": "9"}', "\x00", None],
    ids=["cut", "list", "null", "empty", "version", "nul", "missing"],
)
def test_a_damaged_run_is_one_line(
    damage: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are listed; a summary that is a directory or a link out counts as damaged, too."""
    keep(tmp_path, 1, a="pass")
    summary = keep(tmp_path, 2, a="pass") / "summary.json"
    summary.unlink()
    if damage is not None:
        summary.write_text(damage)
    for options in ([], ["--html", str(tmp_path / "h.html")]):
        assert main(["history", str(tmp_path), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("run-20260101T030405Z-00000001")
    assert lines[2].startswith("run-20260102T030405Z-00000002: ")
    assert len(read_history(tmp_path).unreadable) == 1


def test_links_and_other_folders_are_no_runs(tmp_path: Path) -> None:
    """A folder without a file of a run is passed over, and so is a link to a run."""
    target = keep(tmp_path / "elsewhere", 1, a="pass")
    runs = tmp_path / "runs"
    keep(runs, 2, a="pass")
    (runs / "other").mkdir()
    (runs / "linked").symlink_to(target)
    history = read_history(runs)
    assert ([run.summary.started_at[:10] for run in history.runs], history.unreadable) == (["2026-01-02"], [])


def test_rates_add_up_trials_and_leave_out_what_judged_nothing(tmp_path: Path) -> None:
    """A test that runs once has one trial in each run; skipped runs and errors have none."""
    keep(tmp_path, 1, flaky=[9, 12], once="pass", never="skipped")
    keep(tmp_path, 2, flaky=[12, 12], once="fail")
    keep(tmp_path, 3, flaky=[3, 12], once="error", never="error")
    tests = {test.name: test for test in past_tests(read_history(tmp_path).runs)}
    assert [tests[name].share for name in ("flaky", "once", "never")] == [
        Share(24, 36),
        Share(1, 2),
        Share(0, 0),
    ]
    assert [period.share for period in tests["flaky"].periods()] == [
        Share(9, 12),
        Share(12, 12),
        Share(3, 12),
    ]
    assert list(tests["never"].periods()) == []
    assert tests["never"].states == ["skipped", "", "error"]


def test_last_is_the_newest_run_also_if_it_broke_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate must not open by the run before it. A run or path of that name comes first."""
    keep(tmp_path, 2, a="pass")
    old = keep(tmp_path, 1, a="pass")
    os.utime(old, None)  # touched later, and older all the same
    assert find_run("last", tmp_path).name == "run-20260102T030405Z-00000002"
    broken_off = tmp_path / "run-20260103T030405Z-00000003"
    broken_off.mkdir()
    assert last_run(tmp_path) == broken_off
    monkeypatch.setenv("AGENTEVAL_ARTIFACTS_DIR", str(tmp_path))
    assert main(["gate", "last"]) == 2
    (tmp_path / "last").mkdir()
    assert find_run("last", tmp_path) == tmp_path / "last"
    with pytest.raises(StoredRunError, match="there is no last run"):
        last_run(tmp_path / "last")


def test_prune_deletes_old_runs_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A renamed run, a link, a broken run, a folder of somebody else and the target of a link in a run stay."""
    runs = tmp_path / "runs"
    kept_file = tmp_path / "precious.txt"
    kept_file.write_text("mine")
    old = [keep(runs, day, a="pass") for day in (1, 2, 3, 4)]
    (old[0] / "out").symlink_to(tmp_path)
    (old[1] / "notes").mkdir()
    old[2].rename(runs / "renamed")
    keep(tmp_path / "elsewhere", 1, a="pass").rename(tmp_path / "linked-to")
    (runs / "linked").symlink_to(tmp_path / "linked-to")
    (runs / "mine").mkdir()
    (runs / "broken").mkdir()
    (runs / "broken" / "summary.json").write_text("{")
    assert main(["history", str(runs), "--prune", "1"]) == 2
    assert "and there is no terminal to ask at" in capsys.readouterr().err
    assert old[0].is_dir()
    assert main(["history", str(runs), "--prune", "1", "--yes"]) == 0
    printed = capsys.readouterr().out
    assert sorted(path.name for path in runs.iterdir()) == sorted(
        [old[3].name, "renamed", "linked", "mine", "broken"]
    )
    assert kept_file.read_text() == "mine"
    assert f"deleted  {old[0]}" in printed
    assert "left alone: broken: " in printed
    assert main(["history", str(runs), "--prune", "1"]) == 0
    assert "nothing to delete" in capsys.readouterr().out


def test_the_run_that_the_project_compares_with_is_never_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Be it the oldest."""
    monkeypatch.chdir(tmp_path)
    first, *_ = [keep(tmp_path / "artifacts", day, a="pass") for day in (1, 2, 3)]
    (tmp_path / "agenteval.yaml").write_text(json.dumps({"baseline": f"artifacts/{first.name}"}))
    assert main(["history", "--prune", "1", "--yes"]) == 0
    assert len(list((tmp_path / "artifacts").iterdir())) == 2
    assert first.is_dir()


@pytest.mark.parametrize("folder", ["missing", "file"])
def test_a_folder_that_is_none_is_an_error(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to do."""
    (tmp_path / "file").write_text("")
    assert main(["history", str(tmp_path / folder)]) == 2
    assert "error[run.missing]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("state", "code", "heading"), [("fail", 1, "❌ 1 regression"), ("pass", 0, "✅ no regression")]
)
def test_a_comparison_is_written_as_markdown(state: str, code: int, heading: str, tmp_path: Path) -> None:
    """The heading has the verdict; the rest is a block of text in which nothing is Markdown."""
    project = Project(tmp_path)
    project.add("pass", "t")
    before = run_command([tmp_path], tmp_path / "artifacts", run_id="before")
    shutil.rmtree(tmp_path / "tests")
    project.add(state, "t")
    after = run_command([tmp_path], tmp_path / "artifacts", run_id="after")
    path = tmp_path / "compared.md"
    assert main(["compare", str(before.folder), str(after.folder), "--markdown", str(path)]) == code
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"## {heading}"
    assert lines[2] == "```text"
    assert " → " in lines[3]
    assert lines[-1].startswith("```")
