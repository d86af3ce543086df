"""`agenteval validate`: everything is loaded, nothing is run."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.cli import main
from builders import make_spec


def write(path: Path, **overrides: Any) -> Path:
    """A test file; `overrides` replace top-level keys of a valid one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(make_spec(**overrides), sort_keys=False), encoding="utf-8")
    return path


def test_valid_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Valid files are counted; their replays need not even be there."""
    for number in range(3):
        write(tmp_path / f"{number}.test.yaml", id=f"nanoclaw.a.b.c{number}")
    assert main(["validate", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "3 test files valid\n"


def test_invalid_file_among_valid_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each problem is shown where it is, with all that helps, and the last line counts files and problems."""
    write(tmp_path / "a.test.yaml", id="nanoclaw.a.b.c")
    bad = write(tmp_path / "b.test.yaml", tilte="x", tags="x")
    assert main(["validate", str(tmp_path)]) == 3
    out = capsys.readouterr().out
    assert f"{bad}:" in out
    assert "error[spec.unknown_key]" in out
    assert "did you mean 'title'?" in out
    assert "error[spec.wrong_type]" in out
    assert out.endswith("\n1 of 2 test files is invalid (2 problems)\n")


def test_more_than_one_invalid_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several invalid files are counted as such; one id in two files makes the second one invalid."""
    write(tmp_path / "a.test.yaml")
    second = write(tmp_path / "b.test.yaml")
    write(tmp_path / "c.test.yaml", id="nanoclaw.a.b.c", mode="reply")
    assert main(["validate", str(tmp_path)]) == 3
    out = capsys.readouterr().out
    assert f"{second}:2:5: error[spec.duplicate_test_id]" in out
    assert out.endswith("\n2 of 3 test files are invalid (2 problems)\n")


def test_warnings_are_shown_and_do_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A warning is shown, and leaves the file valid."""
    write(tmp_path / "test.yaml", id="something-else")
    assert main(["validate", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "warning[spec.id_convention]" in out
    assert out.endswith("\n1 test file valid (1 warning)\n")


def test_nothing_found_is_not_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory without test files is exit 3: a misspelt path must not pass."""
    assert main(["validate", str(tmp_path)]) == 3
    out = capsys.readouterr().out
    assert out.startswith(f"{tmp_path}: error[select.nothing_found]: no test file in this directory\n")
    assert out.endswith("\nno test files (1 problem)\n")


def test_missing_path_beside_a_valid_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is not there is a problem, though everything that is there is valid."""
    path = write(tmp_path / "test.yaml")
    missing = tmp_path / "nosuch"
    assert main(["validate", str(path), str(missing)]) == 3
    assert capsys.readouterr().out == (
        f"{missing}: error[file.missing]: no such file or directory\n"
        "\n"
        "1 test file valid, but not every path has one (1 problem)\n"
    )


def test_problems_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` gives counts and every problem with its place; the exit code is the same."""
    path = write(tmp_path / "test.yaml", tilte="x")
    assert main(["validate", str(path), "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    (problem,) = data.pop("problems")
    assert data == {"files": 1, "valid": 0, "invalid": 1}
    assert problem["path"] == str(path)
    assert (problem["pointer"], problem["severity"], problem["reason_code"]) == (
        "/tilte",
        "error",
        "spec.unknown_key",
    )
    assert path.read_text(encoding="utf-8").splitlines()[problem["line"] - 1].startswith("tilte")
    assert problem["column"] == 1
    assert problem["hint"] == "did you mean 'title'?"
    assert "title" in problem["allowed"]


def test_valid_files_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` of valid files has no problems."""
    assert main(["validate", str(write(tmp_path / "test.yaml")), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"files": 1, "valid": 1, "invalid": 0, "problems": []}


def test_colour_only_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe there is no colour, unless it is demanded."""
    path = str(write(tmp_path / "test.yaml"))
    assert main(["validate", path, "--color", "always"]) == 0
    assert capsys.readouterr().out == "\x1b[32m1 test file valid\x1b[0m\n"


def test_unknown_colour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt --color is a usage error."""
    assert main(["validate", str(write(tmp_path / "test.yaml")), "--color", "blue"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: --color blue: expected one of auto, always, never\n"
    )
