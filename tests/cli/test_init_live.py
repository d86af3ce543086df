"""`agenteval init --live`: a first live test that passes without a key, whatever the folder holds."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from agenteval.cli import main
from live_projects import needs_sandbox

AGENT = """\
import json, os, sys, urllib.request

url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
asked = json.load(sys.stdin)["scenario"]["input_messages"][-1]["content"]
body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": asked}]}
print(json.load(urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode())))["content"][0]["text"])
"""
MODULE = "import anthropic\n\n\ndef ask():\n    return anthropic.Anthropic()\n"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment of Python is active, and git knows its user."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "dana")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "dana@example.com")


def init(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The lines that the command prints; of a mistake, the lines of the error."""
    code = main(["init", "--live", *words])
    out, err = capsys.readouterr()
    assert code == (2 if err else 0)
    return str(out or err).splitlines()


def commands(lines: list[str]) -> list[str]:
    """The commands that are printed, in order."""
    return [line.strip() for line in lines[lines.index("next:") + 1 :] if line.startswith("  ")]


@needs_sandbox
@pytest.mark.parametrize("in_git", [False, True])
@pytest.mark.parametrize("run", [None, f"{sys.executable} agent.py"])
def test_the_printed_commands_end_in_a_green_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    run: str | None,
    in_git: bool,
) -> None:
    """In a repository, what is made is added, and nothing else; a broken agent then fails the check."""
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT)
    Path("other.py").write_text(MODULE)
    if in_git:
        subprocess.run("git init -q && git add other.py && git commit -qm first", shell=True, check=True)
    *prepare, runs, checks = commands(init(capsys, *(["--run", run] if run else [])))
    files = "agent.py agenteval.yaml evals/first-live/test.yaml evals/first-live/turns.yaml .gitignore"
    added = f"git add {files if in_git else '-A'} && git commit -q -m 'test: a first live test'"
    assert prepare == [*([] if in_git else ["git init -q"]), added]
    for line in prepare:
        subprocess.run(line, shell=True, check=True)
    assert main([*shlex.split(runs)[1:], "--no-artifacts", "--fail-on-vacuous", "--strict"]) == 0
    Path("agent.py").write_text(AGENT.replace('["text"])', '["text"][:3])'))
    assert main([*shlex.split(checks)[1:], "--no-artifacts"]) == 1


def test_what_is_there_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A configuration without a command is not changed: the lines that it lacks are printed."""
    monkeypatch.chdir(tmp_path)
    files = {"agent.py": AGENT, "agenteval.yaml": "strict: true\n", ".gitignore": "venv/\n.env\n"}
    for name, text in files.items():
        Path(name).write_text(text)
    lines = init(capsys)
    assert lines[:4] == [
        "kept     agenteval.yaml",
        "created  evals/first-live/test.yaml",
        "created  evals/first-live/turns.yaml",
        "updated  .gitignore",
    ]
    assert lines[5] == "    live: {command: {run: [python3, agent.py]}}"
    assert commands(lines)[-2:] == ["agenteval run evals/first-live", "agenteval check evals/first-live"]
    assert Path("agenteval.yaml").read_text() == files["agenteval.yaml"]
    ignored = "artifacts/\n.agenteval_cache/\n.venv/\nnode_modules/\n__pycache__/\n"
    assert Path(".gitignore").read_text() == files[".gitignore"] + ignored
    Path("agenteval.yaml").write_text("live: {command: {run: [./start]}}\n")
    assert not [line for line in init(capsys) if line.startswith("!")]


@pytest.mark.parametrize(
    ("files", "run", "expected"),
    [
        ({"src/agent.py": AGENT}, None, ["python3", "src/agent.py"]),
        ({"agent.py": AGENT, "model.py": MODULE, "tests/ask.py": AGENT}, None, ["python3", "agent.py"]),
        ({"agent.py": AGENT, ".venv/bin/python": ""}, None, [".venv/bin/python", "agent.py"]),
        ({"a.py": "import openai\nif __name__ == '__main__': pass\n"}, None, ["python3", "a.py"]),
        ({"start": ""}, "./start --fast 'two words' \"it's\"", ["./start", "--fast", "two words", "it's"]),
    ],
)
def test_the_agent_is_found_or_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    run: str | None,
    expected: list[str],
) -> None:
    """A script that asks a model; modules, tests and installed packages are none."""
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    init(capsys, *(["--run", run] if run else []))
    assert yaml.safe_load(Path("agenteval.yaml").read_text())["live"]["command"]["run"] == expected


@pytest.mark.parametrize(
    ("files", "words", "message"),
    [
        ({}, [], "no script in . asks a model, as far as agenteval can see"),
        ({"a.py": MODULE}, [], "no script in . asks a model, as far as agenteval can see"),
        ({"a.py": AGENT, "b.py": AGENT}, [], "several scripts in . ask a model: a.py, b.py"),
        (
            {},
            ["--run", "no-such-program x"],
            "--run 'no-such-program x' starts no-such-program, which is not there",
        ),
        ({}, ["--run", "'"], '--run "\'" is no command: No closing quotation'),
        ({}, ["--run", " "], "--run names no command"),
        ({}, ["--from", "x"], "--live makes a test of the agent, --from SOURCE one of a recording"),
        (
            {"container/agent-runner/src/index.ts": "", "src/db/schema.ts": ""},
            [],
            "this is a checkout of NanoClaw, and agenteval knows how to run that",
        ),
    ],
)
def test_an_agent_that_is_not_known_is_one_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    words: list[str],
    message: str,
) -> None:
    """Before anything is written."""
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    lines = init(capsys, *words)
    assert lines[0] == f"error[usage.invalid]: {message}"
    assert lines[1].startswith("  next: ")
    assert sorted(path.name for path in tmp_path.rglob("*.*") if path.is_file()) == sorted(
        Path(name).name for name in files
    )


def test_run_without_live_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """It says how a live agent is started."""
    assert main(["init", "--run", "python agent.py"]) == 2
    assert capsys.readouterr().err.startswith(
        "error[usage.invalid]: --run says how a live agent is started\n"
    )
