"""`agenteval mutate`: what it prints, what it ends with, what it leaves alone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from plugin_projects import SHOUTS
from projects import Project, make_replay
from screen import Screen

ONCE = {"id": "once", "type": "max_tool_calls", "params": {"tool": "web_search", "max": 1}}
SEARCHES = {"id": "searches", "type": "must_call_tool", "params": {"tool": "web_search"}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with one test: a search, and a check that there was one."""
    project = Project(tmp_path)
    project.add("pass", assertions=[SEARCHES, {**ONCE, "severity": "warning"}])
    return project


def report(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON report."""
    code = main(["mutate", *argv, "--json"])
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, data


def test_what_is_told_fits_a_narrow_terminal(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but what is to be pasted is broken between words."""
    call = {
        "type": "tool_call",
        "tool": "web_search",
        "call_id": "c1",
        "args": {"query": "cats and dogs " * 9},
    }
    project.add("pass", "a-test-with-a-name-that-takes-most", replay=make_replay(call))
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    told = {}
    for terminal in (False, True):
        monkeypatch.setattr("sys.stdout.isatty", lambda terminal=terminal: terminal)
        assert main(["mutate", "tests", "-v", "--max", "12"]) == 0
        told[terminal] = capsys.readouterr().out
    wide = [line for line in told[True].splitlines() if len(line) > 60]
    assert max(map(len, told[False].splitlines())) > 100
    assert [line for line in wide if not line.startswith("      ")] == []
    assert all(line.strip().partition(":")[0].isidentifier() for line in wide), wide
    assert " ".join(told[True].split()) == " ".join(told[False].split())


def test_a_suggestion_is_shown_once(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A second survivor that the same assertion notices points back to it."""
    calls: list[dict[str, Any]] = [
        {"type": "tool_call", "tool": "web_search", "call_id": f"c{n}", "args": {"query": f"cats {n}"}}
        for n in (1, 2)
    ]
    done: list[dict[str, Any]] = [
        {"type": "tool_result", "tool": "web_search", "call_id": f"c{n}", "success": True, "result": "found"}
        for n in (1, 2)
    ]
    script = [calls[0], done[0], calls[1], done[1]]
    project.add("pass", "twice", assertions=[SEARCHES], replay=make_replay(*script))
    main(["mutate", str(project.root), "-k", "twice", "--operators", "duplicate-call"])
    out = capsys.readouterr().out
    assert out.count("id: no-duplicate-tool-calls") == 1
    assert "    no-duplicate-tool-calls above (no_duplicate_tool_calls) notices it\n" in out


def test_the_report_as_json(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Score, counts, tests and idle assertions; a warning that notices is not idle, and kills nothing."""
    code, data = report(capsys, str(project.root), "--operators", "drop-call,duplicate-call")
    assert code == 0
    assert {key: data[key] for key in ("score", "killed", "survived", "equivalent", "idle_assertions")} == {
        "score": 0.5,
        "killed": 1,
        "survived": 1,
        "equivalent": 0,
        "idle_assertions": [],
    }
    (test,) = data["tests"]
    assert [(each["operator"], each["status"], each["killed_by"]) for each in test["mutants"]] == [
        ("drop-call", "killed", ["searches"]),
        ("duplicate-call", "survived", []),
    ]


def test_a_terminal_breaks_the_operators_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is longer than the terminal is wide."""
    monkeypatch.setenv("COLUMNS", "80")
    screen = Screen(terminal=True)
    monkeypatch.setattr("sys.stdout", screen)
    assert main(["mutate", "--list-operators"]) == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", screen.text()).splitlines()
    assert max(map(len, lines)) <= 80


def test_operators_that_were_picked_need_not_fit_every_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A test without a message has none to send twice, which is no failure when another test has one."""
    examples = Path(__file__).resolve().parents[2] / "examples" / "nanoclaw"
    argv = [str(examples / name) for name in ("clarifying-question", "scheduler-digest-timeout-recovery")]
    assert main(["mutate", *argv, "--operators", "send-twice"]) == 0
    out = capsys.readouterr().out
    assert "   there is nothing in the trace that an operator can change\n" in out
    assert out.endswith("exit 0: every mutant was judged\n")


def test_equivalent_mutants_alone_are_not_green(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither sign nor colour says that something was noticed, when there was nothing to notice."""
    calls: list[dict[str, Any]] = [
        {"type": "tool_call", "tool": tool, "call_id": tool, "args": {"url": f"https://{tool}.example"}}
        for tool in ("web_fetch", "update_task")
    ]
    calls += [
        {"type": "tool_result", "tool": tool, "call_id": tool, "success": True, "result": tool}
        for tool in ("web_fetch", "update_task")
    ]
    Project(tmp_path).add(
        "pass", replay=make_replay(*calls), assertions=[{**SEARCHES, "params": {"tool": "web_fetch"}}]
    )
    argv = ["mutate", str(tmp_path), "--operators", "reorder-calls", "--color", "always"]
    assert main(argv) == 3
    out = capsys.readouterr().out
    assert "\x1b[2m-\x1b[0m reorder-calls   none  0 killed · 1 equivalent\n" in out
    assert "\x1b[32m" not in out


def test_workers_and_seed_change_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same seed gives the same report, in one process or in two; another seed draws another sample."""
    project = Project(tmp_path)
    for number in range(3):
        project.add("pass", f"t{number}")
    _, alone = report(capsys, str(tmp_path), "--max", "8", "--seed", "3")
    _, shared = report(capsys, str(tmp_path), "--max", "8", "--seed", "3", "-n", "2")
    _, other = report(capsys, str(tmp_path), "--max", "8", "--seed", "4")
    assert alone == shared
    assert all(len(test["mutants"]) <= 8 for test in alone["tests"])
    assert alone["tests"] != other["tests"]


def test_secrets_of_the_recording_are_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither in a difference nor in a suggestion."""
    key = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    call = {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {"query": f"use {key}"}}
    done = {"type": "tool_result", "tool": "web_search", "call_id": "c1", "success": True, "result": "found"}
    Project(tmp_path).add("pass", replay=make_replay(call, done))
    main(["mutate", str(tmp_path), "-v", "--json"])
    told = capsys.readouterr()
    assert "[redacted:github-token:" in told.out
    assert key not in told.out
    assert key not in told.err


def test_a_plugin_is_imported_once(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """In the process of the command: what it does when it is imported is not done twice."""
    (project.root / "agenteval.yaml").write_text("color: never\nplugins: [ops.py]\n", encoding="utf-8")
    (project.root / "ops.py").write_text(f"print('imported')\n{PLUGIN}", encoding="utf-8")
    assert main(["mutate", str(project.root), "-n", "0", "--json"]) == 0
    assert capsys.readouterr().err.count("imported") == 1


def test_an_operator_of_a_plugin(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A class that the project lists is an operator like any other; one that breaks the contract is named."""
    (project.root / "agenteval.yaml").write_text("color: never\nplugins: [ops.py]\n", encoding="utf-8")
    plugin = project.root / "ops.py"
    plugin.write_text(PLUGIN, encoding="utf-8")
    _, data = report(capsys, str(project.root), "--operators", "shout")
    assert [each["what"] for each in data["tests"][0]["mutants"]] == ["the answer is in capitals"]
    plugin.write_text(PLUGIN.replace('stands_for = "loud"', 'stands_for = ""'), encoding="utf-8")
    assert main(["mutate", str(project.root), "--operators", "shout"]) == 2
    assert capsys.readouterr().err == (
        "error[plugin.broken]: the plugin ops.py is broken: Shout (line 8) breaks the contract: "
        "stands_for: expected the failure that people see\n"
        "  next: correct the plugin, or remove it from `plugins` in the configuration\n"
    )


@pytest.mark.parametrize(
    ("slip", "told"),
    [
        ('text = {}["text"]', "KeyError: 'text'"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("yield 'loud'", "TypeError: its mutants are of the type Mutant, not str"),
        ("yield Mutant(what='w', build={}.popitem, lines=())", "KeyError: 'popitem(): dictionary is empty'"),
        ("raise type('Stop', (BaseException,), {})('now')", "Stop: now"),
        (
            "yield Mutant(what='w', build={}.popitem, lines=(1,))",
            "TypeError: what and lines of a mutant are strings",
        ),
        (
            "yield Mutant(what='w', build={}.popitem, lines=(), remedies=[('max_tool_calls', 1)])",
            "TypeError: the remedies of a mutant are pairs of an assertion type and its params",
        ),
    ],
    ids=["raises", "exits", "no-mutant", "builds-nothing", "stops", "no-lines", "no-remedies"],
)
def test_an_operator_of_a_plugin_that_crashes(
    project: Project, slip: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the plugin's fault, and not told as one of ours."""
    (project.root / "agenteval.yaml").write_text("plugins: [ops.py]\n", encoding="utf-8")
    text = PLUGIN.replace("        text = subject.trace.output\n", f"        {slip}\n        text = ''\n")
    (project.root / "ops.py").write_text(text, encoding="utf-8")
    assert main(["mutate", str(project.root), "--operators", "shout"]) == 2
    assert capsys.readouterr().err == (
        f"error[plugin.broken]: the mutation operator shout crashed: {told}\n"
        "  next: correct the plugin, or leave the operator out with --operators\n"
    )


@pytest.mark.parametrize("slip", ["raise KeyError('lost')", "raise SystemExit(0)", "return text == 'x'"])
def test_a_remedy_that_crashes_is_none(
    project: Project, slip: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An assertion of a plugin that breaks down is not suggested, and the next remedy is tried."""
    (project.root / "agenteval.yaml").write_text("plugins: [ops.py, shouts.py]\n", encoding="utf-8")
    remedies = "remedies=[('shouts', {}), ('output_omits', {'patterns': ['!']})],"
    text = PLUGIN.replace("            lines=", f"            {remedies}\n            lines=")
    (project.root / "ops.py").write_text(text, encoding="utf-8")
    shouts = SHOUTS.replace("        text = trace.output\n", f"        text = ''\n        {slip}\n")
    (project.root / "shouts.py").write_text(shouts, encoding="utf-8")
    code, data = report(capsys, str(project.root), "--operators", "shout")
    assert (code, [each["suggestion"]["type"] for each in data["tests"][0]["mutants"]]) == (
        0,
        ["output_omits"],
    )


PLUGIN = '''
from functools import partial

from agenteval.operators.base import Mutant, Operator
from agenteval.operators.traces import with_output


class Shout(Operator):
    """The answer is in capitals."""

    name = "shout"
    category = "outcome"
    stands_for = "loud"

    def mutants(self, subject):
        text = subject.trace.output
        yield Mutant(
            what="the answer is in capitals",
            build=partial(with_output, subject.trace, text.upper() + "!"),
            lines=(f"- {text}", f"+ {text.upper()}!"),
        )


PLUGINS = [Shout]
'''
