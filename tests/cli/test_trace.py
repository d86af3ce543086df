"""`agenteval trace`: what an adapter makes of a test, a bundle or a recording, as assertions see it."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from planted import EMAIL, GITHUB
from projects import Project, make_replay
from recorded_projects import NEWS, Logbooks, run, tool
from runs import EXAMPLES

NEWS_EXAMPLE = EXAMPLES / "nanoclaw" / "current-news"


def traced(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    """The trace that is printed."""
    assert main(["trace", *map(str, arguments)]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: str | Path) -> str:
    """What is told instead, given that it ends in that exit code and nothing is on stdout."""
    assert main(["trace", *map(str, arguments)]) == code
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project, which is the current directory."""
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


@pytest.mark.parametrize("part", ["", "test.yaml", "replay.json"])
def test_a_test_by_its_folder_its_file_or_its_recording(
    part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """All three are one trace: a bundle has its fixtures from the test beside it."""
    trace = traced(capsys, NEWS_EXAMPLE / part)
    assert trace["test_case_id"] == "nanoclaw.news.current-news.sourced-bullets"
    results = [event["data"] for event in trace["events"] if event["type"] == "tool_result"]
    assert results[0]["fixture_id"]
    assert results[0]["result"]


def test_the_trace_is_the_one_that_a_run_saves(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """But for the name of the run."""
    project.add("pass")
    assert main(["run", "tests", "--save-traces", "--run-id", "r"]) == 0
    capsys.readouterr()
    saved = json.loads(Path("artifacts/r/nanoclaw.t.pass.x.trace.json").read_text(encoding="utf-8"))
    assert traced(capsys, "tests/pass") == {**saved, "test_run_id": "trace"}


def test_a_bundle_without_a_test(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Needs none, and is not warned of a situation that no test describes."""
    path = project.root / "alone.json"
    path.write_text(json.dumps(make_replay()), encoding="utf-8")
    assert main(["trace", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    trace = json.loads(out)
    assert trace["adapter"]["name"] == "nanoclaw"
    assert [event["type"] for event in trace["events"]] == [
        "message_received",
        "tool_call",
        "tool_result",
        "final_output",
    ]


def test_a_run_of_a_recording(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The only one, or the one that is chosen; without a choice the error lists them."""
    book = Logbooks(project.root).keep(NEWS, run(*tool("c1", "shell"), asked="And now?"))
    assert traced(capsys, book, "--turn", "2")["metrics"]["tool_call_count"] == 1
    assert refused(capsys, 2, book) == (
        "error[record.choose_run]: book.logbook.json holds 2 runs:\n"
        "  1  2026-11-21T20:53:01.527Z  user_message  What is new in AI?\n"
        "  2  2026-11-21T20:53:01.527Z  user_message  And now?\n"
        "  next: choose one with --turn N\n"
    )


def test_a_trace_is_redacted(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """By form, and by the fields that the test names: of a test, and of a recording."""
    script = tool("c1", "shell", "ok", key=GITHUB, room="blue door")
    project.add("pass", replay=make_replay(*script), reporting={"redact_fields": ["room"]})
    assert main(["trace", "tests/pass"]) == 0
    book = Logbooks(project.root).keep(run(*script, output=f"Ask {EMAIL}"))
    assert main(["trace", str(book)]) == 0
    told = capsys.readouterr().out
    assert GITHUB not in told
    assert EMAIL not in told
    assert told.count("blue door") == 1


def test_neither_home_folders_nor_files_in_base64_are_told(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a recording: they belong to a person."""
    home, blob = "/" + "home/dana/notes", "aB3" * 200
    script = tool("c1", "shell", f"data:image/png;base64,{blob} in {home}", path=home, image=blob)
    book = Logbooks(project.root).keep(run(*script))
    told = str(traced(capsys, book))
    assert "dana" not in told
    assert "aB3aB3" not in told
    assert "~/notes" in told
