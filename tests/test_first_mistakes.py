"""The first mistakes that authors make: each is one error at its place, with its cause and what to write instead."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.cli import main

DATA = Path(__file__).parent / "data"
GIVEN = yaml.safe_load((DATA / "first-mistakes.yaml").read_text(encoding="utf-8"))
ADVICE = ("next:", "allowed:", "did you mean", "Did you mean", "Possible options")
PLAIN_ENOUGH = {"a negative number", "a broken pattern", "a tool that no list has"}
"""Mistakes in which the message itself names what is right."""


def words(text: str) -> str:
    """A text without its line breaks: lines are cut at the width of a terminal."""
    return " ".join(text.split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one good test, a folder without tests, and one with a test that has a wrong name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agenteval.yaml").write_text("color: never\n", encoding="utf-8")
    shutil.copy(DATA / "first-mistakes.replay.json", tmp_path / "replay.json")
    for name in ("empty", "wrong"):
        (tmp_path / name).mkdir()
    for name in ("a.test.yaml", "wrong/tests.yaml"):
        (tmp_path / name).write_text(GIVEN["test"], encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("given", GIVEN["mistakes"], ids=lambda given: given["mistake"])
def test_a_mistake_is_explained(
    given: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing else is shown as an error; a mistake of the command line is not shown as one of a file."""
    if "old" in given:
        assert GIVEN["test"].count(given["old"]) == 1
        text = GIVEN["test"].replace(given["old"], given["new"])
        (folder / "a.test.yaml").write_text(text, encoding="utf-8")
    assert main(given.get("command", "run a.test.yaml").split()) or "warning[" in given["shows"][0]
    out, err = capsys.readouterr()
    shown = words(out + err)
    assert [line for line in given["shows"] if words(line) not in shown] == []
    assert shown.count("error[") == sum("error[" in line for line in given["shows"])


def test_nearly_all_mistakes_get_advice() -> None:
    """Beside the place and the cause, a line that shows what to write."""
    without = {
        each["mistake"] for each in GIVEN["mistakes"] if not any(map(" ".join(each["shows"]).count, ADVICE))
    }
    assert without <= PLAIN_ENOUGH
