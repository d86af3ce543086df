"""What a command names, and what of the project the agent sees."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from live_projects import LOOKED_UP, LiveProject, needs_sandbox, service

pytestmark = needs_sandbox
ASKS = """\
import json, os, sys, urllib.request
asked = json.load(sys.stdin)["scenario"]["input_messages"][-1]["content"]
body = {"model": "m", "messages": [{"role": "user", "content": asked}]}
sent = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode())
print(json.load(urllib.request.urlopen(sent))["content"][0]["text"], os.path.exists(".venv"), sys.executable)
"""
DONE = [{"id": "done", "type": "output_contains", "params": {"any_of": ["Done"]}}]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LiveProject:
    """A project in the current directory, which also has a link to it beside it."""
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "linked").symlink_to(root)
    monkeypatch.chdir(root)
    made = LiveProject(root, monkeypatch, words=())
    made.write("agent.py", ASKS)
    made.write("app/main.py", ASKS)
    made.write("evals/order/turns.yaml", "[Done.]")
    (root / "other.py").symlink_to("agent.py")
    (root / "lib").symlink_to("app")
    made.track()
    made.test(assertions=DONE, live={"script": "turns.yaml"})
    return made


WORDS = (
    "agent.py", "./agent.py", "app/../agent.py", "{root}/agent.py", "{linked}/agent.py", "{root}/app/main.py",
    "../project/agent.py", "../linked/app/main.py", "other.py", "{linked}/other.py", "lib/main.py", "{root}/lib/main.py",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_tracked_file_runs_however_it_is_named(project: LiveProject, word: str) -> None:
    """By its whole path, through a link to the project, with `..`, in a folder."""
    named = word.format(root=project.root, linked=project.root.parent / "linked")
    project.run = (sys.executable, named)
    project.configure()
    assert project.live().exit_code == 0


@pytest.mark.parametrize(
    "word", ["new.py", "./new.py", "{root}/new.py", "{linked}/new.py", "../project/new.py"]
)
def test_a_file_that_is_not_tracked_is_named_however_it_is_named(
    project: LiveProject, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to add."""
    project.write("new.py", ASKS)
    named = word.format(root=project.root, linked=project.root.parent / "linked")
    project.run = (sys.executable, named)
    project.configure()
    error = project.live().only_result()["error"]
    assert error["reason_code"] == "live.untracked"
    assert error["message"] == f"git does not track {named}, so the agent's sandbox does not have it"
    assert "next: git add new.py, or add it to live.command.mounts" in capsys.readouterr().out


def test_a_word_that_is_no_path_may_be_anything(project: LiveProject) -> None:
    """Code is longer than a name of a file may be."""
    project.run = (sys.executable, "-c", ASKS + "#" * 5000)
    project.configure()
    assert project.live().exit_code == 0


def test_environments_and_keys_that_git_took_in_are_told(project: LiveProject) -> None:
    """The environment is not copied; whoever has a `.gitignore` is not asked to make one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(project.root / ".venv")], check=True)
    project.write(".env", "KEY=1")
    project.track()
    project.run = ("python3", "agent.py")
    project.configure()
    result = project.live().only_result()
    first, second = result["warnings"]
    assert first == "git tracks .env, so the agent sees what is in it: put it into .gitignore (there is none)"
    assert second.startswith("git tracks the virtual environment .venv, ")
    assert second.endswith(
        "files, which are not copied for the agent: put .venv/ into .gitignore (there is none), and git rm -r -q "
        "--cached .venv"
    )
    assert result["status"] == "pass"
    project.run = (".venv/bin/python", "agent.py")
    project.configure()
    assert project.live().exit_code == 0


SHIM = '#!/bin/sh\n[ "$1" = which ] || exit 3\n{says}\n'


@pytest.mark.parametrize("home", [".pyenv", ".asdf", "mise"])
def test_the_program_behind_a_shim_runs(
    project: LiveProject, monkeypatch: pytest.MonkeyPatch, home: str, tmp_path: Path
) -> None:
    """As its version manager says; where it says nothing, that is the error."""
    manager = tmp_path / home / "bin" / home.lstrip(".")
    shim = tmp_path / home / "shims/python3"
    for path in (manager, shim):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SHIM.format(says=f"echo {sys.executable}"))
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    project.run = ("python3", "agent.py")
    project.configure()
    assert project.live().exit_code == 0
    manager.write_text(SHIM.format(says="exit 1"))
    error = project.live().only_result()["error"]
    assert error["reason_code"] == "live.no_command"
    assert error["message"] == f"{shim} is a shim of {manager.name}, which does not say what it starts"


@pytest.mark.parametrize("place", ["folder of the test", "folder of cassettes", "part"])
def test_no_cassette_is_written_through_a_link(project: LiveProject, tmp_path: Path, place: str) -> None:
    """Out of the project; nobody is asked for what could not be kept."""
    outside = tmp_path / "outside"
    outside.mkdir()
    own = outside / "own.txt"
    own.write_text("own")
    live = {"cassette": "kept/cassette.json"} if place == "folder of cassettes" else {}
    test = project.test(assertions=DONE, live=live)
    if place == "folder of the test":
        test.parent.rename(outside / "order")
        test.parent.symlink_to(outside / "order")
    elif place == "part":
        test.with_name("cassette.part").symlink_to(own)
    else:
        test.with_name("kept").symlink_to(outside)
    before = sorted(outside.rglob("*"))
    with service(["Done."]) as made:
        project.monkeypatch.setenv("LIVE_TEST_KEY", "sk-ant-api03-the-real-key-0123456789")
        project.configure(model={"base_url": made.base_url, "key_env": "LIVE_TEST_KEY"})
        run = project.live("--live", "record")
    assert (run.exit_code == 0, bool(made.bodies)) == ((place == "part"),) * 2
    assert (sorted(outside.rglob("*")), own.read_text()) == (before, "own")


@pytest.mark.parametrize(
    ("sends", "unheard"),
    [
        ("given['scenario']['input_messages'][1]['content']", ["memory_snapshot"]),
        ("json.dumps(given)", []),
        ("'Hello'", ["input_messages[1]", "memory_snapshot"]),
        ("str(given['scenario']['memory_snapshot'])", ["input_messages[1]"]),
    ],
)
def test_a_question_or_memory_that_reached_no_request_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sends: str, unheard: list[str]
) -> None:
    """No assertion can tell then whether the agent would have used it; earlier messages are for the agent to leave out."""
    monkeypatch.chdir(tmp_path)
    project = LiveProject(tmp_path, monkeypatch)
    code = (tmp_path / "agent.py").read_text()
    asks = 'given["scenario"]["input_messages"][-1]["content"]'
    assert asks in code
    project.write("agent.py", code.replace(asks, sends))
    project.track()
    project.write("evals/order/turns.yaml", json.dumps(LOOKED_UP))
    messages = [("user", "Hi"), ("user", 'Where is "order 42"?\nSoon?'), ("assistant", "Let me see.")]
    scenario = {
        "group_id": "shop",
        "trigger": "user_message",
        "input_messages": [{"role": role, "content": text} for role, text in messages],
        "memory_snapshot": [{"content": "Dana likes blue paper"}],
    }
    project.test(scenario=scenario, live={"script": "turns.yaml"})
    warnings = project.live("--live").only_result()["warnings"]
    found = [each.split()[0].removeprefix("scenario.") for each in warnings if "reached no request" in each]
    assert found == unheard
