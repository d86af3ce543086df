"""What an agent leaves is read through one door: no link, nothing but files, and not too much of it."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval.live import left
from live_projects import AGENT, LiveProject, kept_by, needs_sandbox, remove_kept

WANTED = ("replay.json", "*.otlp.json*", ".claude/projects/**/*", "notes/**/*.md")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that an agent could write, beside a file and a folder of the user's."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/replay.json").write_text("foreign")
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def taken(out: Path) -> dict[str, str]:
    """The files that were taken over, with what is in them."""
    left.take_over(out, WANTED, out.with_name("aside"), inside="/out", max_file_bytes=1000)
    return {str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()}


def test_copies_take_the_place_of_what_was_left(out: Path) -> None:
    """What is wanted, at whatever depth; hidden files and packages only where they are named."""
    names = (
        "replay.json", "a.otlp.json", ".claude/projects/p/s.jsonl", ".claude/projects/p/s/sub/a.jsonl", "notes/a.md",
        "notes/deep/er/b.md",
    )  # fmt: skip
    others = ("other.json", ".claude/history.jsonl", "notes/.hidden.md", "notes/node_modules/p/README.md")
    for name in (*names, *others):
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    for link in ("unwanted", ".claude/latest", "notes/node_modules/.bin", "notes/tool"):
        (out / link).symlink_to(out.parent / "own/replay.json")
    assert taken(out) == {name: name for name in names}
    assert (out / "replay.json").stat().st_ino != (out.parent / "aside/replay.json").stat().st_ino


def link(name: str, to: str = "own/replay.json") -> Callable[[Path], None]:
    def make(out: Path) -> None:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).symlink_to(out.parent / to)

    return make


def bound_socket(out: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(out / "replay.json"))


def deep(out: Path) -> None:
    (out / "notes" / "/".join("d" * 40)).mkdir(parents=True)


def many(out: Path) -> None:
    (out / "notes").mkdir()
    for number in range(9):
        (out / f"notes/{number}.md").touch()


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file": (link("replay.json"), "/out/replay.json is a symbolic link"),
    "spans": (link("x.otlp.json"), "/out/x.otlp.json is a symbolic link"),
    "a folder of transcripts": (link(".claude/projects", "own"), "/out/.claude/projects is a symbolic link"),
    "a folder above": (link(".claude", "own"), "/out/.claude is a symbolic link"),
    "a folder of a project": (link(".claude/projects/p", "own"), "/out/.claude/projects/p is a symbolic link"),
    "a transcript": (link(".claude/projects/p/s.jsonl"), "/out/.claude/projects/p/s.jsonl is a symbolic link"),
    "a folder of subagents": (link(".claude/projects/p/s", "own"), "/out/.claude/projects/p/s is a symbolic link"),
    "to nothing": (link("replay.json", "nowhere"), "/out/replay.json is a symbolic link"),
    "to itself": (link("replay.json", "out/replay.json"), "/out/replay.json is a symbolic link"),
    "a folder on the way": (link("notes/more", "own"), "/out/notes/more is a symbolic link"),
    "a name for a terminal": (link("a\x1b[2J.otlp.json"), "'/out/a\\x1b[2J.otlp.json' is a symbolic link"),
    "a second name": (
        lambda out: (out / "replay.json").hardlink_to(out.parent / "own/replay.json"),
        "/out/replay.json has another name as well (a hard link)",
    ),
    "a pipe": (lambda out: os.mkfifo(out / "replay.json"), "/out/replay.json is a named pipe"),
    "a socket": (bound_socket, "/out/replay.json is a socket"),
    "a directory": (lambda out: (out / "replay.json").mkdir(), "/out/replay.json is a directory"),
    "a large file": (
        lambda out: (out / "replay.json").write_text("x" * 1001),
        "/out/replay.json has more bytes than limits.max_file_bytes may have",
    ),
    "large files": (
        lambda out: [(out / f"{n}.otlp.json").write_text("x" * 999) for n in range(3)],
        "has more bytes than all files together may have",
    ),
    "depth": (deep, "lies deeper than 32 folders"),
    "number": (many, "is one of more than 5 files"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_plain_file_of_its_own_is_refused(
    out: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any part of a path; the user's file is neither read nor changed."""
    make, why = REFUSED[what]
    monkeypatch.setattr(left, "MOST_BYTES", 2500)
    monkeypatch.setattr(left, "MOST_FILES", 5)
    make(out)
    with pytest.raises(AdapterError) as refused:
        taken(out)
    assert refused.value.reason_code == "live.no_replay"
    assert why in str(refused.value)
    assert not [path for path in out.rglob("*") if path.is_file() and path.read_text() == "foreign"]
    assert (out.parent / "own/replay.json").read_text() == "foreign"


def test_names_without_end_are_not_listed(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even names that nobody wants."""
    monkeypatch.setattr(left, "MOST_ENTRIES", 20)
    for number in range(30):
        (out / f"{number}.tmp").touch()
    with pytest.raises(AdapterError, match="more than 20 names"):
        taken(out)


FOREIGN = '{"type":"user","message":{"role":"user","content":"FOREIGN"},"uuid":"1","sessionId":"s"}\n\n'
P = ".claude/projects"
LEFT_LINKS = {
    "replay": 'os.symlink(F + "/s.jsonl", "/out/replay.json")',
    "spans": 'os.symlink(F + "/s.jsonl", "/out/x.otlp.json")',
    "transcript": f'os.makedirs("/agent/{P}/p"); os.symlink(F + "/s.jsonl", "/agent/{P}/p/s.jsonl")',
    "projects": f'shutil.rmtree("/agent/{P}", 1); os.symlink(os.path.dirname(F), "/agent/{P}")',
    "config": 'shutil.rmtree("/agent/.claude"); os.symlink(F + "/up", "/agent/.claude")',
    "subagents": f'os.makedirs("/agent/{P}/p"); open("/agent/{P}/p/s.jsonl", "w").close(); os.symlink(F, "/agent/{P}/p/s")',
}  # fmt: skip


@needs_sandbox
@pytest.mark.parametrize("kind", LEFT_LINKS)
def test_links_of_an_agent_lead_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The run is no verdict; what the link leads to is not shown, and stays as it is."""
    foreign = tmp_path / "foreign"
    (foreign / "up/projects/p").mkdir(parents=True)
    files = [foreign / "s.jsonl", foreign / "up/projects/p/s.jsonl"]
    for file in files:
        file.write_text(FOREIGN)
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    project = LiveProject(root, monkeypatch, words=["HOOKED", "ALONE"])
    code = f"import os, shutil; F = {str(foreign)!r}; {LEFT_LINKS[kind]}; print(said)"
    project.write("agent.py", AGENT.read_text(encoding="utf-8").replace("print(said)", code))
    project.track()
    project.write("evals/order/turns.yaml", json.dumps(["It ships tomorrow."]))
    project.test(live={"script": "turns.yaml"})
    run = project.live("--keep")
    error = run.only_result()["error"]
    assert (run.exit_code, error["reason_code"]) == (2, "live.no_replay"), error
    assert "is a symbolic link" in error["message"]
    assert [file.read_text() for file in files] == [FOREIGN] * 2
    texts = [path.read_bytes() for path in run.folder.rglob("*") if path.is_file()]
    assert not any(b"FOREIGN" in text for text in texts)
    assert not [p for p in kept_by(run).joinpath("agent").rglob("*.jsonl") if b"FOREIGN" in p.read_bytes()]
    remove_kept()


@needs_sandbox
def test_no_hard_link_leads_out_of_a_folder(tmp_path: Path) -> None:
    """The sandbox shows nothing of the user's on the same mount: a hard link from elsewhere is refused by the system."""
    (tmp_path / "own.txt").write_text("own")
    (tmp_path / "out").mkdir()
    own, out = str(tmp_path / "own.txt"), str(tmp_path / "out")
    line = [
        "bwrap",
        "--ro-bind",
        "/",
        "/",
        "--ro-bind",
        own,
        own,
        "--bind",
        out,
        out,
        "--",
        sys.executable,
        "-c",
    ]
    code = f"import os; os.link({own!r}, {out!r} + '/replay.json')"
    done = subprocess.run([*line, code], capture_output=True, text=True, check=False)
    assert "Invalid cross-device link" in done.stderr
