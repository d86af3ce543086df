"""Files outside the project: refused, unless `--allow-outside` is given."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from projects import SEARCHES, Project, make_replay

STAY_INSIDE = (
    "keep the file inside the project, or allow files anywhere with --allow-outside; "
    "symbolic links that lead out of the project are not followed"
)
USES_FIXTURE: list[dict[str, Any]] = [
    {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {}},
    {"type": "tool_result", "tool": "web_search", "call_id": "c1", "fixture_id": "news"},
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project in a directory that has files beside it."""
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "replay.json").write_text(json.dumps(make_replay()), encoding="utf-8")
    (tmp_path / "fx.json").write_text('"found"', encoding="utf-8")
    monkeypatch.chdir(root)
    return Project(root)


def result(project: Project, run_id: str) -> Any:
    """The result of the only test of a run."""
    (path,) = (project.root / "artifacts" / run_id).glob("*.result.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_recording_outside(project: Project) -> None:
    """An error of the test; with the option it is read."""
    project.add("pass", adapter_input={"replay_file": "../../../replay.json"})
    assert main(["run", "tests", "--run-id", "one"]) == 2
    refused = result(project, "one")
    assert refused["reason_code"] == "adapter.outside_root"
    assert refused["next_step"] == STAY_INSIDE
    assert main(["run", "tests", "--run-id", "two", "--allow-outside"]) == 0


def test_a_link_that_leads_outside(project: Project) -> None:
    """Is refused like the file it leads to; with the option it is followed."""
    path = project.add("error")
    (path.parent / "replay.json").symlink_to(project.root.parent / "replay.json")
    assert main(["run", "tests", "--run-id", "one"]) == 2
    assert result(project, "one")["reason_code"] == "adapter.outside_root"
    assert main(["run", "tests", "--run-id", "two", "--allow-outside"]) == 0


@pytest.mark.parametrize(
    "content", ["OWNER=dana\0KEY=hunter2", "url: [hunter2", "token: hunter2\n", "hunter2"]
)
def test_a_link_to_what_is_no_test_shows_nothing_of_it(
    content: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whose test file is a link has not seen what it leads to: /proc/self/environ, somebody's credentials."""
    outside = project.root.parent / "own"
    outside.write_text(content, encoding="utf-8")
    path = project.add("pass").parent / "x.test.yaml"
    path.symlink_to(outside)
    assert main(["validate", "tests"]) == 3
    assert " ".join(capsys.readouterr().out.split()) == (
        f"{path.relative_to(project.root)}: error[file.outside_root]: a link leads out of the project {project.root}, "
        f"to a file that is not a valid test next: see what is wrong with the file itself: agenteval validate {outside} "
        "1 of 2 test files is invalid (1 problem)"
    )
    assert main(["validate", str(outside)]) == 3
    assert "file.outside_root" not in capsys.readouterr().out


def test_a_link_to_a_test_outside_is_run(project: Project) -> None:
    """Tests may be shared that way."""
    path = project.add("pass")
    path.rename(project.root.parent / "shared.yaml")
    path.symlink_to(project.root.parent / "shared.yaml")
    assert main(["run", "tests"]) == 0


def test_a_link_to_a_folder_of_tests_outside(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Its recordings are outside too: they need the option. What is no valid test is not shown with it either."""
    path = project.add("pass")
    path.parent.rename(project.root.parent / "shared")
    path.parent.symlink_to(project.root.parent / "shared")
    assert main(["run", "tests", "--run-id", "one"]) == 2
    assert result(project, "one")["reason_code"] == "adapter.outside_root"
    assert main(["run", "tests", "--run-id", "two", "--allow-outside"]) == 0
    path.write_text("token: hunter2", encoding="utf-8")
    assert main(["validate", "tests", "--allow-outside"]) == 3
    shown = capsys.readouterr().out
    assert "error[file.outside_root]" in shown
    assert "hunter2" not in shown


def with_fixture(project: Project, file: str) -> Path:
    """A test whose recording takes a result from the fixture file."""
    fixture = {"id": "news", "tool": "web_search", "file": file}
    return project.add(
        "pass",
        replay=make_replay(*USES_FIXTURE),
        tools={"available": ["web_search"], "fixtures": [fixture]},
        assertions=[SEARCHES],
    )


@pytest.mark.parametrize("absolute", [False, True])
def test_a_fixture_outside(project: Project, absolute: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Keeps the test from being judged; with the option it is read."""
    name = str(project.root.parent / "fx.json") if absolute else "../../../fx.json"
    with_fixture(project, name)
    assert main(["run", "tests", "--run-id", "one"]) == 2
    assert result(project, "one")["reason_code"] == "adapter.outside_root"
    assert main(["run", "tests", "--run-id", "two", "--allow-outside"]) == 0
    assert main(["validate", "tests"]) == 3
    assert "error[adapter.outside_root]" in capsys.readouterr().out
    assert main(["validate", "tests", "--allow-outside"]) == 0


def test_a_fixture_that_goes_up_and_stays_inside(project: Project) -> None:
    """Where the file is decides, not how it is named."""
    (project.root / "fx.json").write_text('"found"', encoding="utf-8")
    with_fixture(project, "../../fx.json")
    assert main(["validate", "tests"]) == 0
    assert main(["run", "tests"]) == 0


def test_a_fixture_link_that_leads_outside(project: Project) -> None:
    """Is refused like the file it leads to."""
    path = with_fixture(project, "fx.json")
    (path.parent / "fx.json").symlink_to(project.root.parent / "fx.json")
    assert main(["run", "tests", "--run-id", "one"]) == 2
    assert result(project, "one")["reason_code"] == "adapter.outside_root"
    assert main(["run", "tests", "--run-id", "two", "--allow-outside"]) == 0


def test_a_name_that_no_file_can_have(project: Project) -> None:
    """Is an error like any other."""
    with_fixture(project, "../a\0b")
    assert main(["run", "tests", "--run-id", "one"]) == 2
    assert result(project, "one")["reason_code"] == "adapter.invalid_input"
