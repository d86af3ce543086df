"""Checks that would be green, or write where they must not, although something differs."""

import sys

import pytest
import yaml

from check_projects import AGENT, ShopModel, ShopProject
from live_projects import needs_sandbox

pytestmark = needs_sandbox
BRIEF = "You serve the order desk.\nAnswer in one short sentence.\n"


def test_a_git_hook_of_a_worktree(
    shop: ShopProject, model: ShopModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git gives a hook the paths of its repository; the base is checked out in the scratch folder all the same."""
    shop.write("prompts/system.md", BRIEF)
    for name, path in (("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index")):
        monkeypatch.setenv(name, str(shop.root / path))
    code, report = shop.check("--model", "real", "--trials", "4")
    for name in ("GIT_DIR", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name)
    assert (code, report["tests"][0]["measurement"]["verdict"]) == (1, "worse")
    assert shop.git("status", "--porcelain", "--branch") == "## main\n M prompts/system.md\n"


def test_another_command_line_is_a_change_of_the_agent(shop: ShopProject, model: ShopModel) -> None:
    """The agent of the base is started as its own configuration has it."""
    shop.write("agent.py", AGENT.replace('Path("prompts/system.md")', "Path(sys.argv[1])"))
    shop.write("prompts/brief.md", BRIEF)
    settings = yaml.safe_load((shop.root / "agenteval.yaml").read_text())
    for prompt in ("system", "brief"):
        settings["live"]["command"]["run"] = [sys.executable, "agent.py", f"prompts/{prompt}.md"]
        shop.write("agenteval.yaml", yaml.safe_dump(settings))
        if prompt == "system":
            shop.commit()
    code, report = shop.check("--model", "real", "--trials", "4")
    assert (code, report["tests"][0]["measurement"]["verdict"]) == (1, "worse")


def test_a_base_of_which_the_command_is_not_known(
    shop: ShopProject, model: ShopModel, capsys: pytest.CaptureFixture[str]
) -> None:
    """With today's command both sides might be the same agent; no request is made."""
    text = (shop.root / "agenteval.yaml").read_text()
    shop.write("agenteval.yaml", f"{text}nonsense: 1\n")
    shop.commit()
    shop.write("agenteval.yaml", text)
    shop.write("prompts/system.md", BRIEF)
    asked = model.requests
    assert (shop.check("--model", "real")[0], model.requests) == (2, asked)
    assert "error[check.no_base]: the configuration of the base cannot be used" in capsys.readouterr().err


def test_a_missing_key_is_no_fault_of_the_base(shop: ShopProject, model: ShopModel) -> None:
    """The error is the one that a run has, with its advice; nothing is asked."""
    text = (shop.root / "agenteval.yaml").read_text()
    shop.write("agenteval.yaml", text.replace("model:", "model:\n    key_env: NO_SUCH_KEY"))
    shop.commit()
    shop.write("prompts/system.md", BRIEF)
    asked = model.requests
    code, report = shop.check("--model", "real")
    assert (code, report["tests"][0]["reason_code"], model.requests) == (2, "live.no_key", asked)


@pytest.mark.parametrize("has_cassette", [False, True])
def test_hand_written_turns_heed_no_prompt(has_cassette: bool, shop: ShopProject, model: ShopModel) -> None:
    """A test without a cassette, or with one that is empty, shows nothing of a changed prompt, though it was sent."""
    (shop.root / "evals/o42/cassette.json").unlink()
    call = [{"type": "tool_use", "name": "lookup", "input": {"order": "42"}}]
    shop.write("evals/o42/turns.yaml", yaml.safe_dump([call, "Order 42 ships tomorrow."]))
    shop.test("42", live={"run_tools": ["lookup"], "script": "turns.yaml"})
    shop.git("add", "-A")
    if has_cassette:
        assert shop.run("run", "--live", "record", "-q") == 0
    shop.commit()
    shop.write("prompts/system.md", BRIEF)
    code, report = shop.check("--strict")
    assert [(file["path"], file["seen"]) for file in report["files"]] == [("prompts/system.md", "unseen")]
    assert (code, report["tests"][0]["reach"]) == (1, "replayed")


def test_the_files_of_checks_are_no_change(shop: ShopProject) -> None:
    """Reports and run directories that the command line names are not the author's files."""
    flags = ("--strict", "--artifacts-dir", "runs", "--html", "out/report.html", "--markdown", "report.md")
    for _ in range(2):
        assert shop.run("check", "--no-progress", *flags) == 0


def test_a_service_that_is_not_there_is_no_fault_of_the_base(shop: ShopProject) -> None:
    """The recorded project names a port where nobody listens."""
    shop.write("prompts/system.md", BRIEF)
    code, report = shop.check("--model", "real")
    assert (code, report["tests"][0]["reason_code"]) == (2, "live.unreachable")
