"""The first step of a check: no model is asked, and each test is unreached, reached, moved or an error."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from agenteval.checking.changes import FileChange, Sent, pieces_of
from agenteval.checking.reach import seen_in_run
from check_projects import AGENT, TOOL, ShopProject
from live_projects import needs_sandbox

pytestmark = needs_sandbox
BRIEF = "You serve the order desk.\nAnswer in one short sentence.\n"


def reaches(report: dict[str, Any]) -> list[tuple[str, str]]:
    """The reach and the status of each test."""
    return [(test["reach"], test["status"]) for test in report["tests"]]


def seen(report: dict[str, Any]) -> dict[str, str]:
    """The changed files, and who saw them."""
    return {file["path"]: file["seen"] for file in report["files"]}


def test_nothing_changed(shop: ShopProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Every test is unreached and judged; the check is green."""
    code, report = shop.check()
    assert (code, reaches(report), report["files"], report["planned"]) == (
        0,
        [("unreached", "pass")],
        [],
        None,
    )
    said = capsys.readouterr().out.splitlines()
    assert said[-4:] == [
        f"changed since HEAD ({report['base']['commit'][:8]}): nothing",
        "reaches 0 of 1 test, 1 unreached",
        "",
        "exit 0: nothing is worse, nothing fails, and nothing is left to measure",
    ]


def test_a_change_that_no_test_sees(shop: ShopProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Green, but it is said; --strict fails on it. Files that git does not track yet are among them."""
    shop.write("skills/digest/SKILL.md", "Sum up the orders of the week.\n")
    shop.write("skills/new/SKILL.md", "Do something else.\n")
    code, report = shop.check()
    assert (code, seen(report)) == (
        0,
        {"skills/digest/SKILL.md": "unseen", "skills/new/SKILL.md": "unseen"},
    )
    assert "no test saw skills/digest/SKILL.md, skills/new/SKILL.md" in capsys.readouterr().out
    code, report = shop.check("--strict")
    assert (code, report["exit_reason"]) == (1, "no test saw 2 changed files (--strict allows none)")


def test_a_changed_prompt_needs_the_model(shop: ShopProject, capsys: pytest.CaptureFixture[str]) -> None:
    """The recorded model cannot judge it: exit 2, with what asking takes; --allow-unmeasured says so and exits 0."""
    shop.write("prompts/system.md", BRIEF)
    code, report = shop.check()
    difference = "'Name the number of the order in your answer.' → 'Answer in one short sentence.'"
    assert (code, reaches(report)) == (2, [("reached", "error")])
    assert [part["difference"] for part in report["parts"]] == [f"system prompt changed: {difference}"]
    assert report["planned"]["trials"] == 12
    assert report["planned"]["requests"] in (24, 36)
    assert report["exit_reason"].startswith("1 of 1 test needs the model: about ")
    assert report["next_step"] == "agenteval check --model real"
    assert seen(report) == {"prompts/system.md": "requests"}
    capsys.readouterr()
    code, report = shop.check("--allow-unmeasured", "-k", "order")
    assert (code, reaches(report)) == (0, [("reached", "skipped")])
    assert capsys.readouterr().out.startswith("NOT MEASURED: 1 test that only the model could judge\n")
    assert report["next_step"] == "agenteval check -k order --model real"


def test_a_changed_tool_moves_a_test(shop: ShopProject) -> None:
    """Its result is part of the conversation; the file of the tool was opened."""
    shop.write("lookup.py", TOOL.replace("tomorrow", "on Monday"))
    code, report = shop.check()
    assert (code, reaches(report)) == (2, [("moved", "error")])
    assert "'order 42: ships tomorrow' → 'order 42: ships on Monday'" in report["tests"][0]["differences"][0]
    assert seen(report) == {"lookup.py": "opened"}


def test_an_agent_that_breaks_down_is_an_error(shop: ShopProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Never a verdict; and what it would have opened is not known."""
    shop.write("lookup.py", "raise SystemExit('no such table')\n")
    shop.write("skills/digest/SKILL.md", "Other words.\n")
    code, report = shop.check()
    assert (code, reaches(report)) == (2, [("error", "error")])
    assert report["tests"][0]["reason_code"] == "live.runner_failed"
    assert seen(report) == {"lookup.py": "opened", "skills/digest/SKILL.md": "unknown"}
    assert "no such table" in capsys.readouterr().out


def test_a_failing_assertion_of_an_unreached_test(shop: ShopProject) -> None:
    """Assertions are judged as ever; the test file is seen by its test."""
    shop.test(
        "42", assertions=[{"id": "sends", "type": "must_call_tool", "params": {"tool": "look*p_twice"}}]
    )
    code, report = shop.check()
    assert (code, reaches(report)) == (1, [("unreached", "fail")])
    assert (report["tests"][0]["message"], report["exit_reason"]) == ("sends", "1 test failed")
    assert seen(report) == {"evals/o42/test.yaml": "test"}


def test_a_branch_is_compared_with_where_it_began(shop: ShopProject) -> None:
    """What others did on main since then is no change of the branch; its own commits are."""
    shop.git("checkout", "-q", "-b", "topic")
    shop.write("lookup.py", f"{TOOL}# a remark\n")
    shop.commit()
    shop.git("checkout", "-q", "main")
    shop.write("README.md", "# Shop\n")
    shop.commit()
    shop.git("checkout", "-q", "topic")
    code, report = shop.check("--against", "main")
    assert (code, seen(report)) == (0, {"lookup.py": "opened"})
    assert report["base"]["merge_base"] is True


def test_a_deleted_file(shop: ShopProject) -> None:
    """Nobody can open it any more, so it is not known whether a test would have."""
    (shop.root / "skills/digest/SKILL.md").unlink()
    code, report = shop.check()
    assert (code, seen(report)) == (0, {"skills/digest/SKILL.md": "unknown"})
    assert report["files"][0]["change"] == "deleted"


def test_a_deleted_test(shop: ShopProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A check without it would be as green as one with it; --strict fails."""
    shop.test("43")
    (shop.root / "evals/o43/cassette.json").write_bytes((shop.root / "evals/o42/cassette.json").read_bytes())
    shop.commit()
    (shop.root / "evals/o43/test.yaml").unlink()
    code, report = shop.check()
    assert (code, seen(report)) == (0, {"evals/o43/test.yaml": "unseen"})
    assert "deleted, so that nothing checks what it checked: evals/o43/test.yaml" in capsys.readouterr().out
    assert shop.check("--strict")[0] == 1


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (["--against", "nowhere"], 2, "--against nowhere: git knows no such revision"),
        (["--against=-p"], 2, "--against -p: git knows no such revision"),
        (["--update"], 2, "--update is for trials with the real model, which is not asked"),
        (["-k", "nothing"], 3, "no test"),
    ],
)
def test_one_clear_error(
    flags: list[str], code: int, told: str, shop: ShopProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be checked is told at once."""
    assert shop.check(*flags)[0] == code
    captured = capsys.readouterr()
    assert told in captured.err + captured.out


def test_no_repository_no_commit_no_live_test(shop: ShopProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has its own error, and says what to do."""
    case = shop.root / "evals/o42/test.yaml"
    case.write_text(case.read_text().replace("mode: live", "mode: replay"))
    (shop.root / "evals/o42/cassette.json").unlink()
    assert shop.check()[0] == 3
    assert "error[check.no_live_test]" in capsys.readouterr().err
    shop.git("update-ref", "-d", "HEAD")
    assert shop.check()[0] == 2
    assert "error[check.no_commit]" in capsys.readouterr().err
    (shop.root / ".git").rename(shop.root / "git")
    assert shop.check()[0] == 2
    assert "error[check.no_git]" in capsys.readouterr().err


def test_json_on_stdout(shop: ShopProject, capsys: pytest.CaptureFixture[str]) -> None:
    """It is the report, and nothing else."""
    import json

    capsys.readouterr()
    code, report = shop.check("--json")
    captured = capsys.readouterr()
    assert (code, json.loads(captured.out)) == (0, report)
    assert "exit 0" in captured.err


def test_a_test_without_a_cassette_is_judged_by_its_recording(
    shop: ShopProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is counted, since no change can reach it."""
    replay = next(shop.root.glob("artifacts/run-*/*.replay.json"))
    (shop.root / "evals/old").mkdir()
    (shop.root / "evals/old/replay.json").write_bytes(replay.read_bytes())
    looks_up = {"id": "looked-up", "type": "must_call_tool", "params": {"tool": "lookup"}}
    recorded = {"replay_file": "../old/replay.json"}
    shop.test("43", mode="replay", adapter_input=recorded, assertions=[looks_up])
    code, report = shop.check()
    assert sorted(reaches(report)) == [("replayed", "pass"), ("unreached", "pass")]
    assert (code, "1 without a cassette" in capsys.readouterr().out) == (0, True)


def prompted(shop: ShopProject) -> None:
    """A changed prompt beside a skill that nobody opens: the played run went on to its end."""
    shop.write("prompts/system.md", BRIEF)
    shop.write("skills/digest/SKILL.md", "Other words.\n")


def renamed(shop: ShopProject) -> None:
    """A skill under a new name, which git knows."""
    shop.git("mv", "skills/digest", "skills/summary")


def named_oddly(shop: ShopProject) -> None:
    """Names that git would quote, one of them with the end of a line in it."""
    for name in ('a "b"\nc.md', "größe.md", " lead.md"):
        shop.write(name, "Some words.\n")
    shop.git("add", "-A")


def no_text(shop: ShopProject) -> None:
    """A file that is no text, and a link."""
    (shop.root / "logo.bin").write_bytes(b"\0\1\2" * 100)
    (shop.root / "link").symlink_to("lookup.py")
    shop.git("add", "-A")


def commented(shop: ShopProject) -> None:
    """A remark in the code of the agent, and another mode of its tool."""
    with (shop.root / "agent.py").open("a") as file:
        file.write("# a remark that no model is sent\n")
    (shop.root / "lookup.py").chmod(0o755)


def in_the_middle_of_a_merge(shop: ShopProject) -> None:
    """A file that git lists twice."""
    shop.git("checkout", "-q", "-b", "other")
    shop.write("skills/digest/SKILL.md", "One.\n")
    shop.commit()
    shop.git("checkout", "-q", "main")
    shop.write("skills/digest/SKILL.md", "Two.\n")
    shop.commit()
    with pytest.raises(subprocess.CalledProcessError):
        shop.git("merge", "other")


def opened_by_a_harness(shop: ShopProject) -> None:
    """All skills are opened at the start, as Claude Code does it for their names, and nothing of them is sent."""
    reading = 'system = "".join(Path(p).read_text()[:0] for p in ("skills/digest/SKILL.md", "skills/digest/days.py"))'
    shop.write("skills/digest/days.py", "DAYS = 7\n")
    shop.write("agent.py", AGENT.replace("system = ", f"{reading} + ", 1))
    shop.commit()
    shop.write("skills/digest/SKILL.md", "---\nname: digest\n---\nSum up the orders of the week.\n")
    shop.write("skills/digest/days.py", "DAYS = 31\n")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (opened_by_a_harness, {"skills/digest/SKILL.md": "unseen", "skills/digest/days.py": "opened"}),
        (prompted, {"prompts/system.md": "requests", "skills/digest/SKILL.md": "unseen"}),
        (renamed, {"skills/digest/SKILL.md": "unknown", "skills/summary/SKILL.md": "unseen"}),
        (named_oddly, {" lead.md": "unseen", 'a "b"\nc.md': "unseen", "größe.md": "unseen"}),
        (no_text, {"link": "opened", "logo.bin": "unseen"}),
        (commented, {"agent.py": "opened", "lookup.py": "opened"}),
        (in_the_middle_of_a_merge, {"skills/digest/SKILL.md": "unseen"}),
    ],
)
def test_who_saw_a_changed_file(
    change: Callable[[ShopProject], None], expected: dict[str, str], shop: ShopProject
) -> None:
    """Whatever its name and kind, a file is listed once, and is seen only where a test saw it."""
    change(shop)
    assert seen(shop.check()[1]) == expected


def test_cassettes_that_were_stale_before(shop: ShopProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing differs from the base, and yet a test is reached: its cassette is older."""
    shop.write("prompts/system.md", BRIEF)
    shop.commit()
    code, report = shop.check("--no-artifacts")
    assert (code, report) == (2, {})
    assert "their cassettes are older than HEAD" in capsys.readouterr().out


def test_the_run_of_a_check_is_like_any_other(shop: ShopProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Its directory is reported again, opens the gate or not, and is compared."""
    shop.write("skills/digest/SKILL.md", "Other words.\n")
    assert shop.check()[0] == 0
    shop.write("prompts/system.md", BRIEF)
    assert shop.check()[0] == 2
    assert (shop.run("gate", "artifacts/check-1"), shop.run("gate", "artifacts/check-2")) == (0, 1)
    assert shop.run("report", "artifacts/check-2", "--junit-xml", "junit.xml") == 0
    assert "check.unmeasured" in (shop.root / "junit.xml").read_text(encoding="utf-8")
    assert shop.run("compare", "artifacts/check-1", "artifacts/check-2") == 2


def test_another_version_of_the_agents_program_is_named(
    shop: ShopProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of the author's changed; what the vendor changed reaches the model all the same."""
    file = shop.root / "evals/o42/cassette.json"
    file.write_text(file.read_text().replace("shop/1.0", "shop/0.9"))
    shop.commit()
    code, report = shop.check()
    assert (code, report["tests"][0]["clients"]) == (0, ["shop/0.9", "shop/1.0"])
    assert "1 test recorded with shop/0.9, now with shop/1.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "sent", "seen"),
    [
        (".claude/skills/digest/SKILL.md", "- digest: Sums up the orders", "requests"),
        ("container/skills/digest/SKILL.md", "nothing of it", None),
        (".claude/agents/clerk.md", "nothing of it", None),
        (".claude/skills/digest/count.py", "nothing of it", "opened"),
        ("prompts/system.md", "nothing of it", None),
    ],
)
def test_a_skill_that_the_agent_only_lists_was_not_seen(path: str, sent: str, seen: str | None) -> None:
    """The CLI opens all skills and agents when it starts; their words reach the model once they are used."""
    came = frozenset(pieces_of(b"description: Sums up the orders\nCount them first, all of them\n"))
    assert (
        seen_in_run(FileChange(path=path, kind="modified", came=came), Sent([sent]), frozenset([path]))
        == seen
    )
