"""The second step of a check: trials of both agents, against a model that does not answer the same twice."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from check_projects import PROMPT, TOOL, ShopModel, ShopProject, served
from live_projects import needs_sandbox

pytestmark = needs_sandbox
BRIEF = "You serve the order desk.\nAnswer in one short sentence.\n"
KIND = f"{PROMPT}Be kind to everybody who asks.\n"


def measured(shop: ShopProject, *flags: str) -> tuple[int, dict[str, Any]]:
    """A check that asks the model in four trials a side."""
    return shop.check("--model", "real", "--trials", "4", *flags)


def changed_files(shop: ShopProject) -> list[str]:
    """The files that differ from the last commit."""
    return shop.git("status", "--porcelain", "--untracked-files=all").split()[1::2]


def test_a_harmful_change_of_the_prompt(
    shop: ShopProject, model: ShopModel, capsys: pytest.CaptureFixture[str]
) -> None:
    """Worse, exit 1: the assertion that fell, an answer of each side, a replay of the first failing trial."""
    shop.write("prompts/system.md", BRIEF)
    before = model.requests
    code, report = measured(shop, "--update", "--html", "report.html", "--markdown", "report.md")
    (test,) = report["tests"]
    made = test["measurement"]
    assert (code, test["status"], made["verdict"], made["after"]["passed"]) == (1, "fail", "worse", 0)
    assert report["exit_reason"] == "1 test is worse"
    assert made["before"]["passed"] == made["before"]["judged"]
    fallen = [each for each in made["assertions"] if each["after"]["passed"] < each["before"]["passed"]]
    assert [each["id"] for each in fallen] == ["names-order"]
    assert "Order 42 ships" in made["answers"][0]
    assert "It ships" in made["answers"][1]
    assert sum(way["before"] for way in made["ways"]) == made["before"]["judged"]
    assert sum(way["after"] for way in made["ways"]) == made["after"]["judged"]
    assert report["used"]["requests"] == model.requests - before
    assert report["used"]["tokens"] == 110 * report["used"]["requests"]
    assert report["model"] == "shop-1"
    replay = shop.root / "artifacts/check-1" / made["replay"]
    assert "It ships" in replay.read_text(encoding="utf-8")
    assert report["next_step"] == f"agenteval trace artifacts/check-1/{made['replay']}"
    assert changed_files(shop) == ["prompts/system.md", "report.html", "report.md"]
    assert shop.run(*report["next_step"].split()[1:]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^✗ worse +command\.order\.lookup\.o42  ━+ (\d)/\1 → ─+ 0/\d", said, re.MULTILINE), said
    assert json.loads((shop.root / "artifacts/check-1/summary.json").read_text())["exit_code"] == 1


def test_a_harmless_change_is_kept(shop: ShopProject, model: ShopModel) -> None:
    """Not worse, exit 0. --update writes the cassette and nothing else; then nothing is reached, without the model."""
    shop.write("prompts/system.md", KIND)
    code, report = measured(shop, "--update")
    (test,) = report["tests"]
    assert (code, test["status"]) == (0, "pass")
    made = test["measurement"]
    assert made["verdict"] in ("held", "unclear")
    assert made["stopped_early"] is (made["before"]["judged"] + made["after"]["judged"] < 8)
    assert test["cassette"] == "evals/o42/cassette.json"
    assert changed_files(shop) == ["evals/o42/cassette.json", "prompts/system.md"]
    asked = model.requests
    code, report = shop.check()
    assert (code, report["tests"][0]["reach"], model.requests) == (0, "unreached", asked)
    assert {file["path"]: file["seen"] for file in report["files"]} == {
        "evals/o42/cassette.json": "test",
        "prompts/system.md": "requests",
    }
    assert shop.run("run", "-q") == 0


def test_a_change_of_a_tool_is_measured(shop: ShopProject, model: ShopModel) -> None:
    """Without --update no file is written; the next step offers it. --strict fails on an unclear verdict."""
    shop.write("lookup.py", TOOL.replace("tomorrow", "on Monday"))
    code, report = shop.check("--model", "real", "--trials", "2", "--strict")
    (test,) = report["tests"]
    assert (code, test["reach"], test["measurement"]["verdict"]) == (1, "moved", "unclear")
    assert (test["reason_code"], report["exit_reason"]) == (
        "check.unclear",
        "1 verdict unclear (--strict allows none)",
    )
    assert "tomorrow" in test["measurement"]["answers"][0]
    assert "on Monday" in test["measurement"]["answers"][1]
    assert "a fall of up to" in test["measurement"]["advice"]
    code, report = shop.check("--model", "real", "--trials", "2")
    assert (code, report["next_step"]) == (0, "agenteval check --model real --update")
    assert changed_files(shop) == ["lookup.py"]


def test_a_test_that_always_missed_its_bar(shop: ShopProject, model: ShopModel) -> None:
    """It fails as ever, also if it did before, which the report says."""
    shop.write("prompts/system.md", BRIEF)
    shop.commit()
    shop.write("prompts/system.md", f"{BRIEF}Be kind to everybody who asks.\n")
    code, report = shop.check("--model", "real", "--trials", "2", "--update")
    (test,) = report["tests"]
    assert (code, report["exit_reason"], test["reason_code"]) == (1, "1 test failed", "assertion.failed")
    assert (test["measurement"]["misses_bar"], test["measurement"]["missed_bar"]) == (True, True)
    assert changed_files(shop) == ["prompts/system.md"]


def test_the_agent_of_a_branch_is_measured_from_where_it_began(shop: ShopProject, model: ShopModel) -> None:
    """The base is the commit where it left main; a prompt that got better is `better`."""
    shop.write("prompts/system.md", BRIEF)
    shop.commit()
    shop.git("checkout", "-q", "-b", "topic")
    shop.write("prompts/system.md", PROMPT)
    shop.commit()
    shop.write("prompts/system.md", KIND)
    code, report = measured(shop, "--against", "main")
    assert (code, report["tests"][0]["measurement"]["verdict"]) == (0, "better")


def test_a_project_in_a_folder_of_its_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are the project's; what changes beside it is none of its agent's."""
    top = tmp_path / "top"
    root = top / "agents" / "shop"
    root.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(top)], check=True)
    monkeypatch.chdir(root)
    shop = ShopProject(root)
    shop.set_up()
    with served(ShopModel()) as model:
        shop.configure(model.base_url)
        shop.commit()
        (top / "README.md").write_text("# All\n")
        shop.write("prompts/system.md", BRIEF)
        code, report = measured(shop)
    assert (code, [file["path"] for file in report["files"]]) == (1, ["prompts/system.md"])
    assert report["tests"][0]["measurement"]["verdict"] == "worse"


def test_other_packages_need_a_base_that_is_ready(
    shop: ShopProject,
    model: ShopModel,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A lock file that differs is an error that says so; --base names a checkout with its own packages."""
    shop.write("uv.lock", "a 1\n")
    shop.commit()
    folder = tmp_path_factory.mktemp("base") / "here"
    shop.git("worktree", "add", "-q", "--detach", str(folder))
    shop.write("uv.lock", "a 2\n")
    shop.write("prompts/system.md", BRIEF)
    asked = model.requests
    assert measured(shop)[0] == 2
    assert "error[check.lock_changed]: uv.lock differs from the base" in capsys.readouterr().err
    assert model.requests == asked
    code, report = measured(shop, "--base", str(folder))
    assert (code, report["tests"][0]["measurement"]["verdict"], report["base"]["folder"]) == (
        1,
        "worse",
        str(folder),
    )
    assert shop.check("--model", "real", "--base", str(folder.parent))[0] == 2
    assert "error[check.no_base]" in capsys.readouterr().err


def test_a_base_that_does_not_run_is_an_error(shop: ShopProject, model: ShopModel) -> None:
    """Nothing is compared, and nothing is green."""
    shop.write("lookup.py", "raise SystemExit('no such table')\n")
    shop.commit()
    shop.write("lookup.py", TOOL)
    shop.write("prompts/system.md", KIND)
    code, report = measured(shop, "--update")
    (test,) = report["tests"]
    assert (code, test["status"], test["reason_code"], test["measurement"]) == (
        2,
        "error",
        "check.base_failed",
        None,
    )
    assert "no such table" not in test["message"]
    assert test["message"].startswith(
        "the agent of the base could not be judged: the agent ended with exit code 1"
    )
    assert changed_files(shop) == ["lookup.py", "prompts/system.md"]


def test_the_budget_of_all_trials(shop: ShopProject, model: ShopModel) -> None:
    """What cannot be paid is not judged: exit 2."""
    text = (shop.root / "agenteval.yaml").read_text()
    (shop.root / "agenteval.yaml").write_text(
        text.replace("live:\n", "live:\n  prices: {'*': [1000.0, 1000.0]}\n")
    )
    shop.commit()
    shop.write("prompts/system.md", KIND)
    code, report = measured(shop, "--max-cost", "0.5")
    assert (code, report["tests"][0]["measurement"]) == (2, None)
    assert "US dollars" in report["tests"][0]["message"]
    assert report["planned"]["cost_usd"] == pytest.approx(0.11 * report["planned"]["requests"])


def test_it_asks_on_a_terminal(
    shop: ShopProject, model: ShopModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No means that the tests stay unmeasured, and no request is made."""
    from agenteval.reporters.console import Console

    shop.write("prompts/system.md", BRIEF)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    started = Console.__init__

    def on_terminal(self: Console, *args: Any, **options: Any) -> None:
        started(self, *args, **options)
        self.is_terminal = True

    monkeypatch.setattr(Console, "__init__", on_terminal)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    asked = model.requests
    code, report = measured(shop)
    assert (code, report["tests"][0]["reason_code"], model.requests) == (2, "check.unmeasured", asked)
    assert "1 of 1 test needs the model: 8 trials, about" in capsys.readouterr().out

    def ended(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", ended)  # Ctrl-D
    assert measured(shop)[0] == 2
    assert model.requests == asked
    monkeypatch.setattr("builtins.input", lambda _: pytest.fail("it asks"))
    assert shop.check("--model", "real", "--trials", "1", "--yes")[0] in (0, 1)


ORDERS = tuple(map(str, range(40, 50)))


def test_ten_tests_by_two_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that breaks for two orders: their tests are moved and measured, in two processes; the others are not reached."""
    monkeypatch.chdir(tmp_path)
    shop = ShopProject(tmp_path, ORDERS)
    shop.set_up()
    broken = TOOL.replace(
        "    return", "    if order in ('47', '48'):\n        return f'order {order}: unknown'\n    return"
    )
    with served(ShopModel()) as model:
        shop.configure(model.base_url)
        shop.commit()
        shop.write("lookup.py", broken)
        code, report = shop.check("--model", "real", "--trials", "3", "-n", "2")
    assert (code, report["exit_reason"]) == (1, "2 tests are worse")
    verdicts = {test["test_case_id"][-2:]: test["measurement"] for test in report["tests"]}
    assert {order: made and made["verdict"] for order, made in verdicts.items()} == {
        **dict.fromkeys(ORDERS),
        "47": "worse",
        "48": "worse",
    }
    assert [(file["seen"], len(file["tests"])) for file in report["files"]] == [("opened", 10)]


def test_what_was_measured_is_kept_when_it_is_interrupted(
    shop: ShopProject, model: ShopModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report is written, the rest is unmeasured, and the exit code is 2."""
    shop.write("prompts/system.md", BRIEF)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agenteval.checking.measure.MeasureJob.measure", interrupted)
    code, report = measured(shop)
    assert (code, report["tests"][0]["reason_code"]) == (2, "check.unmeasured")
    assert report["exit_reason"].startswith("interrupted; 1 of 1 test needs the model")


def test_no_base_is_mistaken_for_another(
    shop: ShopProject, model: ShopModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A checkout at another commit than the base, or none at all, is refused."""
    shop.git("worktree", "add", "-q", "--detach", str(tmp_path / "old"), "HEAD~1")
    shop.write("prompts/system.md", BRIEF)
    for folder, why in (("old", "and HEAD means"), ("none", "it is no checkout of git")):
        assert measured(shop, "--base", str(tmp_path / folder))[0] == 2
        told = capsys.readouterr().err
        assert "error[check.no_base]" in told
        assert why in told


def test_trials_that_judge_nothing_are_no_verdict(shop: ShopProject, model: ShopModel) -> None:
    """Two rates of nothing would be equal, and the check green."""
    called = {"id": "looked-up", "type": "must_call_tool", "params": {"tool": "lookup"}}
    shop.test("42", assertions=[{**called, "requires_capabilities": ["supports_container_metadata"]}])
    shop.commit()
    shop.write("prompts/system.md", BRIEF)
    code, report = shop.check("--model", "real", "--trials", "2")
    (test,) = report["tests"]
    assert (code, test["reason_code"], test["measurement"]) == (2, "check.nothing_judged", None)


def test_phrasings_leave_no_cassette_that_does_not_play(shop: ShopProject, model: ShopModel) -> None:
    """A trial in other words than the test's own is no recording of the test; why nothing is kept is said."""
    shop.test("42", variants=["Any news of order 42?", "Where is my order 42?"])
    shop.commit()
    shop.write("prompts/system.md", KIND)
    code, report = shop.check("--model", "real", "--trials", "2", "--update")
    (test,) = report["tests"]
    assert (code, test["cassette"]) == (0, None)
    assert "turn 1 (user)" in test["not_kept"]
    assert changed_files(shop) == ["prompts/system.md"]
