"""The example plugin in `examples/plugins/`: it works, and it is nobody else's."""

import shutil
import subprocess
import sys
from pathlib import Path

from agenteval.loading.discovery import Selected, discover
from plugin_projects import agenteval
from runs import EXAMPLES

NAME = "addressing/scenario.yaml"


def copy(folder: Path) -> Path:
    """The example in a place of its own."""
    shutil.copytree(EXAMPLES / "plugins", folder / "plugins", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "plugins"


def test_its_tests_pass(tmp_path: Path) -> None:
    """Run as its README says."""
    project = copy(tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_scenario_passes(tmp_path: Path) -> None:
    """Without a warning, and with nothing vacuous."""
    project = copy(tmp_path)
    out = agenteval(project, "run", NAME, "--no-artifacts", "--fail-on-vacuous", "--strict").stdout
    assert out.startswith("PASS nanoclaw.family.pickup-time.addressed-by-name")
    assert "warning" not in out


def test_its_scenario_fails_when_the_name_is_gone(tmp_path: Path) -> None:
    """The example judges something."""
    project = copy(tmp_path)
    replay = project / "addressing" / "replay.json"
    replay.write_text(replay.read_text(encoding="utf-8").replace("Dana, Leo", "Leo"), encoding="utf-8")
    out = agenteval(project, "run", NAME, "--no-artifacts", code=1).stdout
    assert "expected the first line to address Dana, got 'Leo has to be picked up at 15:30" in out


def test_a_run_of_all_examples_does_not_find_it() -> None:
    """The plugin is of that project, and not of the one around it."""
    found = [each.path for each in discover([str(EXAMPLES)]) if isinstance(each, Selected)]
    assert [path for path in found if "plugins" in path.parts] == []
