"""docs/serve.md, followed from an empty folder."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hosts import HostProcess

PAGE = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")


def block(after: str) -> str:
    """The code that follows a comment of the page."""
    found = re.search(rf"<!-- {re.escape(after)} -->\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, after
    return found[1]


def test_from_an_empty_folder_to_a_summary(tmp_path: Path) -> None:
    """With its files, curl and the client."""
    for name in ("evals/suite.json", "evals/replays/pool-hours/replay.json", "agenteval.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(block(f"file: {name}"), encoding="utf-8")
    host = HostProcess(tmp_path).start()
    try:
        here = str(host.port)
        done = subprocess.run(
            [sys.executable, "-c", block("client").replace("8431", here)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stderr == ""
        assert done.stdout.splitlines()[-2:] == ["7 run.completed", "1.0"]
        asked = subprocess.run(
            ["sh", "-c", block("ask").replace("8431", here)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert '"status":"pending"' in asked.stdout
        assert '"runs":[{' in asked.stdout
    finally:
        host.kill()


def test_a_new_key(tmp_path: Path) -> None:
    """The printed line lets the printed key in."""
    command = [sys.executable, "-m", "agenteval", "serve", "--new-key", "acme"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    key = told.split("only now:")[1].split()[0]
    for name in ("evals/suite.json", "evals/replays/pool-hours/replay.json", "agenteval.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(block(f"file: {name}"), encoding="utf-8")
    with (tmp_path / "agenteval.yaml").open("a", encoding="utf-8") as settings:
        settings.write("  keys:\n" + told.splitlines()[-1] + "\n")
    host = HostProcess(tmp_path).start()
    try:
        assert host.ask("/runs").status == 401
        assert host.ask("/runs", key=key).body == {"runs": []}
    finally:
        host.kill()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_valid(tmp_path: Path) -> None:
    """systemd finds no fault with it, once the program, the folder and the user are ones of this machine."""
    unit = (
        block("unit")
        .replace("/opt/agenteval/bin/agenteval", sys.executable)
        .replace("/srv/evals", str(tmp_path))
    )
    file = tmp_path / "agenteval.service"
    file.write_text(unit.replace("User=agenteval", "User=root"), encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(file)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (found.returncode, found.stdout + found.stderr) == (0, "")
