"""`--lf` and `--ff`: what failed last time, by a cache whose loss does no harm."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.running.last_run import LastRun, keys, load_last_run
from projects import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project of five tests, of which b and d fail, in the current directory."""
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path)
    for name in "abcde":
        made.add("fail" if name in "bd" else "pass", name)
    return made


def ran(capsys: pytest.CaptureFixture[str], *options: str, paths: tuple[str, ...] = ("tests",)) -> list[str]:
    """What is said of the options, and the tests that ran, in order."""
    main(["run", *paths, *options])
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split()[1].split(".")[2] for line in lines if line.startswith(("PASS ", "FAIL ", "ERROR "))]
    return [*(line for line in lines if line.startswith("--")), *heads]


def cache(project: Project) -> Any:
    """The cache as it is on disk."""
    return json.loads((project.root / ".agenteval_cache/last-run.json").read_text(encoding="utf-8"))


def test_what_is_gone_is_forgotten(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A test that was renamed leaves nothing behind under its old name."""
    ran(capsys)
    (project.root / "tests/b").rename(project.root / "tests/bb")
    assert ran(capsys, "--lf") == ["--lf: 1 test failed last time", "d"]
    ran(capsys)
    assert cache(project)["failed"] == ["tests/bb/test.yaml", "tests/d/test.yaml"]
    assert sorted(cache(project)["duration_ms"]) == [
        f"tests/{name}/test.yaml" for name in ("a", "bb", *"cde")
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"schema_version": "9", "failed": ["tests/a/test.yaml"]}',
        b'{"schema_version": "0.1", "failed": 7, "duration_ms": []}',
        b'{"schema_version": "0.1", "failed": [1, null], "duration_ms": {"a": "x", "b": -1, "c": true}}',
        b"\xff",
    ],
)
def test_a_damaged_cache_is_as_none(
    content: bytes, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever stands in the file: no error, and the next run writes a good one."""
    folder = project.root / ".agenteval_cache"
    folder.mkdir()
    (folder / "last-run.json").write_bytes(content)
    assert load_last_run(project.root) == LastRun()
    assert ran(capsys, "--lf") == ["--lf: no failed test is on record; running all tests", *"abcde"]
    assert cache(project)["failed"] == ["tests/b/test.yaml", "tests/d/test.yaml"]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_cache_that_never_ends(make: Callable[[Path], None], project: Project) -> None:
    """A pipe or a device, which a checkout may bring as a link, is passed over, and replaced by a good one."""
    (project.root / ".agenteval_cache").mkdir()
    make(project.root / ".agenteval_cache" / "last-run.json")
    assert main(["run", "tests", "-q"]) == 1
    assert cache(project)["failed"] == ["tests/b/test.yaml", "tests/d/test.yaml"]


def test_a_link_in_the_cache_is_not_written_through(project: Project) -> None:
    """Whoever guesses the id of the process can put one there."""
    (project.root / ".agenteval_cache").mkdir()
    outside = project.root.parent / "mine.txt"
    outside.write_text("mine", encoding="utf-8")
    (project.root / ".agenteval_cache" / f"last-run.json-{os.getpid()}").symlink_to(outside)
    assert main(["run", "tests", "-q"]) == 1
    assert outside.read_text(encoding="utf-8") == "mine"
    assert cache(project)["failed"] == ["tests/b/test.yaml", "tests/d/test.yaml"]


def test_a_cache_that_leads_out_of_the_project_is_let_be(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The directory itself may be a link: out of the project nothing is written, and nothing believed."""
    folder = project.root / ".agenteval_cache"
    outside = project.root.parent / f"{project.root.name}-outside"
    outside.mkdir()
    folder.symlink_to(outside)
    assert ran(capsys) == list("abcde")
    assert list(outside.iterdir()) == []
    record = {"schema_version": "0.1", "failed": ["tests/a/test.yaml"], "duration_ms": {}}
    (outside / "last-run.json").write_text(json.dumps(record), encoding="utf-8")
    assert ran(capsys, "--lf")[0] == "--lf: no failed test is on record; running all tests"
    folder.unlink()
    (project.root / "kept").mkdir()
    folder.symlink_to("kept")
    ran(capsys)
    assert cache(project)["failed"] == ["tests/b/test.yaml", "tests/d/test.yaml"]


def test_what_a_run_left_half_written_is_replaced(project: Project) -> None:
    """In a container the next run may have the same process id: it would be forgotten, and every one after it."""
    (project.root / ".agenteval_cache").mkdir()
    part = project.root / ".agenteval_cache" / f"last-run.json-{os.getpid()}"
    part.write_text('{"fail', encoding="utf-8")
    assert main(["run", "tests", "-q"]) == 1
    assert cache(project)["failed"] == ["tests/b/test.yaml", "tests/d/test.yaml"]
    assert not part.exists()


def test_a_cache_that_cannot_be_written_is_let_be(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file where the directory should be: the run is what it is."""
    (project.root / ".agenteval_cache").write_text("in the way", encoding="utf-8")
    assert main(["run", "tests", "-q"]) == 1
    assert capsys.readouterr().err == ""


def test_git_does_not_see_it(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The directory ignores itself, and holds one file of which no half is ever seen."""
    ran(capsys)
    folder = project.root / ".agenteval_cache"
    assert {path.name for path in folder.iterdir()} == {".gitignore", "last-run.json"}
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_without_artifacts_nothing_is_remembered(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--no-artifacts` writes no files, this one neither; `--collect-only` runs nothing."""
    ran(capsys, "--no-artifacts")
    ran(capsys, "--collect-only")
    assert not (project.root / ".agenteval_cache").exists()
    ran(capsys)
    assert ran(capsys, "--lf", "--no-artifacts") == ["--lf: 2 tests failed last time", "b", "d"]


def test_secrets_in_paths_stay_out_of_it(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A path is redacted in the cache as everywhere."""
    key = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    project.add("fail", key, id="nanoclaw.t.x.x")
    ran(capsys)
    assert key not in (project.root / ".agenteval_cache/last-run.json").read_text(encoding="utf-8")


def test_a_path_that_is_not_utf_8(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A test in such a directory is remembered like any other, also when new tests come."""
    folder = project.add("fail", "f").parent
    try:
        folder.rename(os.fsdecode(os.fsencode(folder.parent) + b"/\xff"))
    except OSError:
        pytest.skip("names of files are UTF-8 here")
    ran(capsys)
    project.add("pass", "g")
    ran(capsys, paths=("tests/g",))
    assert ran(capsys, "--lf") == ["--lf: 3 tests failed last time", "b", "d", "f"]


def test_keys_are_paths_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative, absolute and winding paths to a file give one key; a file outside keeps its whole path."""
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    key = keys(tmp_path)
    assert (
        key("b/test.yaml") == key(f"{tmp_path}/a/b/test.yaml") == key("../a/./b/test.yaml") == "a/b/test.yaml"
    )
    assert key("../../x.yaml") == str(tmp_path.parent / "x.yaml")


def test_a_path_that_is_redacted(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A failed test whose folder is named for an address is run again, and its name is not kept."""
    project.add("fail", "ann@example.com", id="nanoclaw.t.mail.x")
    main(["run", "tests", "-q"])
    assert "ann@" not in json.dumps(cache(project))
    capsys.readouterr()
    assert ran(capsys, "--lf") == ["--lf: 3 tests failed last time", "mail", "b", "d"]
