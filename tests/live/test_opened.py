"""The tracked files that an agent opened are known after a live run, whatever became of them."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenteval.judging.runner import Outcome, RunOptions
from agenteval.live import opened
from agenteval.live.options import LiveOptions
from agenteval.loading.project import open_project
from agenteval.loading.testfile import load_test
from agenteval.running.trials import run_trials
from live_projects import LiveProject, needs_sandbox

IMPORTS = "import json, mmap, os, urllib.request; from pathlib import Path"
ASKS = """
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
body = {"model": "m", "max_tokens": 9, "system": "You help.", "messages": [{"role": "user", "content": "Hello"}]}
sent = urllib.request.Request(url, json.dumps(body).encode())
print(json.load(urllib.request.urlopen(sent))["content"][0]["text"])
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LiveProject:
    """A project with files to open."""
    monkeypatch.chdir(tmp_path)
    made = LiveProject(tmp_path, monkeypatch, words=())
    fill(tmp_path)
    return made


def fill(folder: Path) -> None:
    """Files to open, in folders and behind links."""
    for name in ("notes/a.md", "notes/b.md", "skills/digest/SKILL.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")
    for link, target in (("link.md", "notes/a.md"), ("linked", "skills"), ("lost", "nowhere")):
        (folder / link).symlink_to(target)


def run(project: LiveProject, code: str, *, requests: int = 1, trials: int = 1) -> Outcome:
    """Run the agent with a part of its code, and turns for one request."""
    project.write("agent.py", "\n".join([IMPORTS, code, *[ASKS] * requests]))
    project.write("evals/order/turns.yaml", "[It ships tomorrow.]")
    answers = {"id": "answers", "type": "output_contains", "params": {"all_of": ["tomorrow"]}}
    path = project.test(assertions=[answers], live={"script": "turns.yaml"})
    project.track()
    opened_project = open_project([str(path)])
    options = RunOptions(
        run_id="run",
        root=project.root,
        trials=trials,
        live=LiveOptions(every=True, config=opened_project.config.live, root=project.root),
    )
    return run_trials(load_test(path), options, "2026-01-01")


def of(project: LiveProject, code: str, **how: Any) -> set[str] | None:
    """The files that were opened, without the agent's own."""
    outcome = run(project, code, **how)
    assert outcome.account is not None
    return None if outcome.account.opened is None else set(outcome.account.opened - {"agent.py"})


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("Path('notes/a.md').read_text()", {"notes/a.md", "link.md"}),
        ("Path('link.md').read_text()", {"notes/a.md", "link.md"}),
        ("Path('linked/digest/SKILL.md').read_text()", {"skills/digest/SKILL.md", "linked"}),
        ("open('notes/b.md')", {"notes/b.md"}),
        ("f = open('notes/b.md'); mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)", {"notes/b.md"}),
        ("open('notes/b.md', 'r+').read()", {"notes/b.md"}),
        ("Path('notes/b.md').read_text(); Path('notes/b.md').unlink()", {"notes/b.md"}),
        ("os.system('cat notes/b.md')", {"notes/b.md"}),
        ("Path('notes/b.md').unlink()", set()),
        ("Path('notes/b.md').write_text('of the agent')", set()),
        ("Path('notes/new.md').write_text('x'); Path('notes/new.md').read_text()", set()),
        ("os.listdir('notes'); os.stat('notes/b.md'); list(os.walk('.')); os.readlink('link.md')", set()),
    ],
)
def test_files_that_were_read_are_known_and_no_others(tmp_path: Path, code: str, expected: set[str]) -> None:
    """A listed, written or removed file was not read; one that was read counts whatever became of it."""
    fill(tmp_path / "project")
    shutil.copytree(tmp_path / "project", tmp_path / "copy", symlinks=True)
    with opened.opened_files({tmp_path / "copy": tmp_path / "project"}) as seen:
        subprocess.run([sys.executable, "-c", f"{IMPORTS}\n{code}"], cwd=tmp_path / "copy", check=True)
        assert seen.names(tmp_path / "project") == frozenset(expected)


@needs_sandbox
def test_what_was_opened_in_the_sandbox_is_known(project: LiveProject) -> None:
    """A file under its whole path, too: there the copy is mounted read-only. Our own reading does not count."""
    code = f"Path({str(project.root / 'notes/b.md')!r}).read_text(); os.system('cat notes/a.md')"
    assert of(project, code) == {"notes/a.md", "notes/b.md", "link.md"}


@needs_sandbox
def test_a_tracked_file_in_a_mounted_folder_counts(project: LiveProject) -> None:
    """The agent opens the project's own file there, and no copy."""
    project.configure(command={"run": [*project.run], "mounts": ["notes"]})
    assert of(project, "Path('notes/b.md').read_text()") == {"notes/b.md"}


@needs_sandbox
def test_a_run_without_a_verdict_has_its_account(project: LiveProject) -> None:
    """A request more than was written is a miss."""
    outcome = run(project, "Path('notes/b.md').read_text()", requests=2)
    assert outcome.result.error is not None
    assert outcome.account is not None
    assert outcome.account.opened == frozenset(("agent.py", "notes/b.md"))


@needs_sandbox
def test_trials_count_together(project: LiveProject) -> None:
    """Each opens another file."""
    code = "import time; Path('notes/a.md' if time.time_ns() % 2 else 'notes/b.md').read_text()"
    outcome = run(project, code, trials=3)
    assert outcome.account is not None
    assert len(outcome.account.runs) == 3
    assert outcome.account.opened == frozenset[str]().union(*filter(None, outcome.account.runs))


@needs_sandbox
@pytest.mark.parametrize("refused", ["inotify_init1", "inotify_add_watch"])
def test_nobody_knows_where_the_kernel_refuses(
    project: LiveProject, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    """A user may have only so many watches."""

    class Refusing:
        def __getattr__(self, name: str) -> Any:
            return (lambda *_: -1) if name == refused else getattr(ctypes.CDLL(None), name)

    monkeypatch.setattr(opened, "_libc", Refusing)
    assert of(project, "Path('notes/b.md').read_text()") is None


def test_nobody_knows_where_events_were_lost(tmp_path: Path) -> None:
    """The kernel keeps only so many until they are taken in."""
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    files = [tmp_path / "a", tmp_path / "b"]
    for each in files:
        each.write_text("text")
    with opened.opened_files({tmp_path: tmp_path}) as seen:
        handles = [each.open("rb", buffering=0) for each in files]
        for number in range(most + 10):
            os.pread(handles[number % 2].fileno(), 1, 0)
        for handle in handles:
            handle.close()
        assert seen.names(tmp_path) is None


def test_other_folders_than_the_project_are_named_from_it(tmp_path: Path) -> None:
    """A checkout may lie beside the project."""
    for name in ("project", "fork/src", "copy/src"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("fork/src/a.ts", "copy/src/a.ts"):
        (tmp_path / name).write_text("text")
    with opened.opened_files({tmp_path / "copy": tmp_path / "fork"}) as seen:
        (tmp_path / "copy/src/a.ts").read_text()
        shutil.rmtree(tmp_path / "copy")
        assert seen.names(tmp_path / "project") == frozenset(("../fork/src/a.ts",))
