"""The commands between backticks on the page about live runs do what the page says, with the files of the page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from live_projects import needs_sandbox, service, tool_use
from pages import DOCS, Workspace, blocks, text_of

pytestmark = needs_sandbox
PAGE = DOCS / "live.md"


def test_the_first_commands_record_and_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the configuration of the first section, an environment beside the tests, and no path on the command line."""
    section = text_of(PAGE).partition("## Any agent")[2].partition("## A walk")[0]
    commands = re.findall(r"`((?:git|agenteval) [^`]+)`", " ".join(section.split()))
    assert commands == ["git add -A", "agenteval run --live record", "agenteval run"]
    workspace = Workspace(tmp_path)
    settings = next(yaml.safe_load(each.text) for each in blocks(PAGE) if each.text.startswith("tests: ["))
    for block in blocks(PAGE):
        if block.role == "file":
            workspace.follow(block)
    shop = tmp_path / "shop"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(shop / ".venv")], check=True)
    test = shop / "evals/order/test.yaml"
    case = yaml.safe_load(test.read_text())
    del case["live"]["script"]
    test.write_text(yaml.safe_dump(case))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-api03-the-real-key-0123456789")
    with service([tool_use("lookup_order", order_id="42"), "Your order 42 ships tomorrow."]) as made:
        settings["live"]["model"] = {"base_url": made.base_url}
        (shop / "agenteval.yaml").write_text(yaml.safe_dump(settings))
        said = [workspace.run(f"cd shop && {command}") for command in ("git init -q .", *commands[:2])]
        assert workspace.exit_code == 0, said
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    last = workspace.run(f"cd shop && {commands[2]}")
    assert (workspace.exit_code, "warning" in last) == (0, False), last
    tracked = workspace.run("cd shop && git ls-files").split()
    assert "evals/order/cassette.json" not in tracked  # it was recorded after
    assert not [name for name in tracked if name.startswith((".venv", "artifacts"))]
