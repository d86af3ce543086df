"""Plugins that are not as they should be: each is named with its error, and a run without it goes on."""

from inspect import getsourcelines
from pathlib import Path

import pytest

from agenteval.assertions.base import Assertion
from agenteval.cli import main
from agenteval.contracts.trace import EVENT_TYPES
from agenteval.plugins.registry import Registry
from plugin_projects import ADAPTER, PLUGIN, SHOUTS, asserting, plugged, write
from projects import make_replay
from runs import run_command

NEXT = "correct the plugin, or remove it from `plugins` in the configuration"
CATEGORIES = "outcome, tool_process, groundedness, memory, isolation, scheduler, recovery, efficiency, safety"


@pytest.fixture(autouse=True)
def _in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def warnings(root: Path, text: str, *more: str) -> list[tuple[str, str, str]]:
    """Severity, reason code and message of what a run says about the plugin."""
    plugged(root, text)
    problems = Registry(root, [PLUGIN, *more]).problems()
    assert {problem.next_step for problem in problems} <= {NEXT}
    return [(problem.severity, problem.reason_code, problem.message) for problem in problems]


LOADING = {
    "a syntax error": ("x = (\n", "SyntaxError: '(' was never closed (shouting.py, line 1)"),
    "an error": ("\n\n1 / 0\n", "ZeroDivisionError: division by zero (line 3)"),
    "an error further in": (
        "import json\n\njson.loads('')\n",
        "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (line 3)",
    ),
    "a module that is not there": (
        "import no_such\n",
        "ModuleNotFoundError: No module named 'no_such' (line 1)",
    ),
    "an exit": ("import sys\nsys.exit('bye')\n", "SystemExit: bye (line 2)"),
    "an exit without a word": ("raise SystemExit\n", "SystemExit (line 1)"),
    "an exception of no kind": ("class Stop(BaseException): pass\nraise Stop('now')\n", "Stop: now (line 2)"),
    "bytes that are no text": ("x = '\0'\n", None),
    "no list": ("x = 1\n", "it has no PLUGINS, the list of its assertion types, adapters and operators"),
    "an empty list": (
        "PLUGINS = []\n",
        "it has no PLUGINS, the list of its assertion types, adapters and operators",
    ),
    "a name for a list": (
        "PLUGINS = 'Shouts'\n",
        "it has no PLUGINS, the list of its assertion types, adapters and operators",
    ),
    "something else in the list": (
        "class Other: pass\nPLUGINS = [Other]\n",
        "PLUGINS: expected subclasses of Assertion or Operator, and adapters (classes with a method trace), got Other",
    ),
    "no class in the list": (
        "PLUGINS = [3]\n",
        "PLUGINS: expected subclasses of Assertion or Operator, and adapters (classes with a method trace), got 3",
    ),
    "the base class": (
        "from agenteval.assertions.base import Assertion\nPLUGINS = [Assertion]\n",
        f"Assertion (line {getsourcelines(Assertion)[1]}) breaks the contract: expected a subclass of agenteval.assertions.base.Assertion, decorated with @model",
    ),
}


@pytest.mark.parametrize(("text", "error"), LOADING.values(), ids=LOADING)
def test_a_module_that_brings_nothing(text: str, error: str | None, tmp_path: Path) -> None:
    """Whatever importing it raises, and whatever its list lacks."""
    ((severity, code, message),) = warnings(tmp_path, text)
    assert (severity, code) == ("warning", "plugin.broken")
    start = f"the plugin {PLUGIN} is broken: "
    assert message.startswith(f"{start}SyntaxError: ") if error is None else message == start + error


NO_CHECK = "expected a method check(self, trace, case), or judge if a parameter is called check"
CONTRACT = {
    "not a model": (
        "@model\n",
        "",
        "expected a subclass of agenteval.assertions.base.Assertion, decorated with @model",
    ),
    "no type": (
        '    type: ClassVar[str] = "shouts"\n',
        "",
        "type: expected a name of lower-case letters, digits and underscores",
    ),
    "an odd type": (
        '= "shouts"',
        '= "Shouts-Loud"',
        "type: expected a name of lower-case letters, digits and underscores, got 'Shouts-Loud'",
    ),
    "no category": (
        '    category: ClassVar[Category] = "outcome"\n',
        "",
        f"category: expected one of {CATEGORIES}",
    ),
    "an unknown category": (
        '= "outcome"',
        '= "loudness"',
        f"category: expected one of {CATEGORIES}, got 'loudness'",
    ),
    "no failure category": (
        '"whispered"',
        '" "',
        "failure_category: expected the kind of failure in words, got ' '",
    ),
    "an unknown capability": (
        '("supports_replay",)',
        '("supports_shouting",)',
        (
            "implied: expected a tuple of supports_tool_trace, supports_memory_events, supports_scheduler_context, "
            "supports_container_metadata, supports_live_run, supports_replay, got ('supports_shouting',)"
        ),
    ),
    "no example": (
        '    example: ClassVar[str] = "min_words: 2"\n',
        "",
        "example: expected the params of an example, as YAML",
    ),
    "proves as it did": (
        "    example: ",
        "    proves = True\n    example: ",
        "proves: expected a tuple of pass, fail, got True",
    ),
    "proves what is no verdict": (
        "    example: ",
        "    proves = ('warn',)\n    example: ",
        "proves: expected a tuple of pass, fail, got ('warn',)",
    ),
    "unknown types of event": (
        "    example: ",
        "    event_types_judged = ('shout',)\n    example: ",
        f"event_types_judged: expected a tuple of {', '.join(EVENT_TYPES)}, got ('shout',)",
    ),
    "an example that is not YAML": (
        '"min_words: 2"',
        '"min_words: ["',
        (
            "example: expected params that the class accepts, got ParserError: while parsing a flow node expected the node content,"
            " but found '<stream end>' in \"<unicode string>\", line 1, column 13: min_words: [ ^"
        ),
    ),
    "an example that is refused": (
        '"min_words: 2"',
        '"max_words: 0"',
        "example: expected params that the class accepts, got Invalid: unknown key 'max_words'",
    ),
    "no docstring": (
        '    """The final output is all upper case. Had nothing to judge when it holds no letters."""\n',
        "",
        "__doc__: expected a docstring",
    ),
    "no check": ("    def check(", "    def chekc(", NO_CHECK),
    "a parameter called check": (
        "    min_words: Annotated[int, Between(1)] = 1\n",
        "    min_words: int = 1\n    check: int = 1\n",
        None,
    ),
    "annotations as text": (
        '"""A plugin."""\n',
        "from __future__ import annotations\n",
        "expected annotations without quotes, and no `from __future__ import annotations`",
    ),
    "a kind of parameter that nobody knows": (
        "Annotated[int, Between(1)] = 1",
        "set[str] = frozenset()",
        (
            "example: expected params that the class accepts, got TypeError: strict models do not know set[str]: expected str, int, "
            "float, bool, Any, Literal, list[...], dict[str, ...], a model, or several of them with |"
        ),
    ),
    "two things": (
        '    category: ClassVar[Category] = "outcome"\n    failure_category: ClassVar[str] = "whispered"\n',
        "",
        f"category: expected one of {CATEGORIES}; failure_category: expected the kind of failure in words",
    ),
}


@pytest.mark.parametrize(("old", "new", "error"), CONTRACT.values(), ids=CONTRACT)
def test_a_class_that_breaks_the_contract(old: str, new: str, error: str | None, tmp_path: Path) -> None:
    """The warning names the line of the class, what is wrong, and what is expected."""
    assert old in SHOUTS
    text = SHOUTS.replace(old, new, 1)
    if error is None:
        text = text.partition("    def check(")[0] + "\nPLUGINS = [Shouts]\n"
        error = NO_CHECK
    assert warnings(tmp_path, text) == [
        (
            "warning",
            "plugin.broken",
            f"the plugin {PLUGIN} is broken: Shouts (line 11) breaks the contract: {error}",
        )
    ]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('    version = "1.2"\n', "", "Canned (line 6) breaks the contract: version: expected a version"),
        (
            '    name = "canned"\n',
            "    name = 3\n",
            "Canned (line 6) breaks the contract: name: expected a name, got 3",
        ),
        ('"canned"', '"nanoclaw"', "it claims the adapter 'nanoclaw', which is built in (agenteval)"),
    ],
)
def test_an_adapter_that_breaks_the_contract(old: str, new: str, error: str, tmp_path: Path) -> None:
    """As for assertions."""
    ((_, _, message),) = warnings(tmp_path, ADAPTER.replace(old, new, 1))
    assert message == f"the plugin {PLUGIN} is broken: {error}"


def test_a_reserved_name(tmp_path: Path) -> None:
    """A built-in type cannot be replaced: the error names both, and the built-in one is used."""
    text = SHOUTS.replace('"shouts"', '"must_call_tool"')
    ((_, _, message),) = warnings(tmp_path, text)
    assert message == (
        f"the plugin {PLUGIN} is broken: it claims the assertion type 'must_call_tool', which is built in "
        "(agenteval.assertions.process.MustCallTool)"
    )
    cls = Registry(tmp_path, [PLUGIN]).assertion_class("must_call_tool")
    assert cls is not None
    assert cls.__name__ == "MustCallTool"


def test_two_plugins_with_one_name(tmp_path: Path) -> None:
    """Neither is used, and each is named with the other."""
    write(tmp_path / "b.py", SHOUTS)
    assert [message for _, _, message in warnings(tmp_path, SHOUTS, "b.py")] == [
        f"the plugin {PLUGIN} is broken: it claims the assertion type 'shouts', as does the plugin b.py",
        f"the plugin b.py is broken: it claims the assertion type 'shouts', as does the plugin {PLUGIN}",
    ]


def test_one_name_twice_in_a_module(tmp_path: Path) -> None:
    """The warning is one."""
    ((_, _, message),) = warnings(tmp_path, SHOUTS.replace("[Shouts]", "[Shouts, Shouts]"))
    error = "it claims the assertion type 'shouts' twice"
    assert message == f"the plugin {PLUGIN} is broken: {error}; {error}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Nor a directory in its place."""
    (tmp_path / "folder.py").mkdir()
    messages = [problem.message for problem in Registry(tmp_path, ["no.py", "folder.py"]).problems()]
    assert messages == [
        "the plugin no.py is broken: there is no such file in the project",
        "the plugin folder.py is broken: there is no such file in the project",
    ]


def test_a_link_that_leads_out(tmp_path: Path) -> None:
    """What is outside is not run, whatever leads there."""
    project = tmp_path / "project"
    project.mkdir()
    write(tmp_path / "outside.py", "raise SystemExit('it ran')")
    (project / "x.py").symlink_to(tmp_path / "outside.py")
    (problem,) = Registry(project, ["x.py"]).problems()
    assert problem.message == "the plugin x.py is broken: it is outside the project"


def test_a_run_without_it_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One warning names it; the tests that do not use it decide the exit code, unless --strict."""
    path = plugged(tmp_path, "1 / 0\n").add("pass")
    assert run_command([path], tmp_path / "strict", "--strict").exit_code == 1
    assert capsys.readouterr().out.endswith("exit 1: 1 warning (--strict allows none)\n")
    run = run_command([path], tmp_path / "out")
    warning = f"the plugin {PLUGIN} is broken: ZeroDivisionError: division by zero (line 1)"
    assert run.exit_code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"warning[plugin.broken]: {warning}\n   next: {NEXT}\n")
    assert out.count("plugin.broken") == 1
    (problem,) = run.summary["problems"]
    assert (problem["severity"], problem["message"]) == ("warning", warning)


def test_a_test_that_may_use_it_is_invalid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody knows which types a module that does not load would have; the error says both."""
    plugged(tmp_path, "1 / 0\n").add("pass", assertions=asserting())
    assert main(["validate", "tests"]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "tests/pass/test.yaml:19:9: error[plugin.broken]: unknown assertion type 'shouts'; it may belong to the "
        f"plugin {PLUGIN}, which is broken: ZeroDivisionError: division by zero (line 1)"
    ) in out
    assert f"next: {NEXT}" in out
    assert "allowed:" not in out, "the types that do load are not the way out"


def test_a_slip_is_still_suggested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The type may also be a built-in one that is misspelt."""
    plugged(tmp_path, "1 / 0\n").add("pass", assertions=asserting("must_cal_tool"))
    assert main(["validate", "tests"]) == 3
    assert "did you mean 'must_call_tool'?" in capsys.readouterr().out


def test_a_test_that_uses_a_broken_class_is_invalid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error stands at the type, and says what the class lacks; the other tests run."""
    project = plugged(tmp_path, SHOUTS.replace('"outcome"', '"loudness"'))
    project.add("broken", assertions=asserting())
    project.add("pass")
    run = run_command([Path("tests")], tmp_path / "out")
    assert (run.exit_code, run.summary["counts"]["passed"]) == (3, 1)
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "tests/broken/test.yaml:19:9: error[plugin.broken]: the assertion type 'shouts' cannot be used: the plugin "
        f"{PLUGIN} is broken: Shouts (line 11) breaks the contract: category: expected one of {CATEGORIES}, got 'loudness'"
    ) in out


def test_a_test_with_a_broken_adapter_is_an_error(tmp_path: Path) -> None:
    """It names the plugin."""
    path = plugged(tmp_path, ADAPTER.replace('    version = "1.2"\n', "")).add("pass", adapter="canned")
    run = run_command([path], tmp_path / "out")
    assert run.exit_code == 2
    assert run.only_result()["error"]["message"] == (
        f"the adapter 'canned' cannot be used: the plugin {PLUGIN} is broken: "
        "Canned (line 6) breaks the contract: version: expected a version"
    )


@pytest.mark.parametrize("rule", ["raise KeyError('x')", "raise SystemExit('x')"])
def test_rules_that_break_down(rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A `__post_init__` that raises anything but ValueError is the plugin's bug, told where the type stands."""
    check = f"    def __post_init__(self) -> None:\n        if self.min_words == 7:\n            {rule}\n\n    def check("
    plugged(tmp_path, SHOUTS.replace("    def check(", check)).add("pass", assertions=asserting(min_words=7))
    assert main(["validate", "tests"]) == 3
    out = " ".join(capsys.readouterr().out.split())
    start = f"error[plugin.broken]: the plugin {PLUGIN} crashed on the parameters of shouts: "
    assert f"{start}KeyError: 'x'" in out or f"{start}SystemExit: x" in out
    assert "next: correct the plugin, or report it to its author" in out


def test_parameters_without_a_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`explain` and `schema` need pydantic: what it does not understand is found by them and by `doctor`."""
    mark = "class Mark:\n    def __get_pydantic_core_schema__(self, source, handler):\n        raise LookupError('no')\n\n\n@model\n"
    plugged(tmp_path, SHOUTS.replace("@model\n", mark).replace("Between(1)", "Mark()"))
    error = f"the plugin {PLUGIN} is broken: Shouts has parameters without a JSON Schema: LookupError: no"
    assert main(["schema", "test-case"]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"warning[plugin.broken]: {error}\n   next: {NEXT}\n\n"
    assert "shouts" not in captured.out
    assert main(["explain", "shouts"]) == 2
    assert capsys.readouterr().err == (
        f"error[plugin.broken]: {error}\n  next: `agenteval doctor` shows all plugins\n"
    )
    assert main(["doctor"]) == 2
    assert f"plugin        {error}\n              next: {NEXT}\n" in capsys.readouterr().out


def test_explain_names_what_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr, so that what is listed stays what was asked for; and when the type is the one that is wanted."""
    plugged(tmp_path, "1 / 0\n")
    error = "ZeroDivisionError: division by zero (line 1)"
    assert main(["explain", "--plugins"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "no plugin provides an assertion type\n"
    assert (
        captured.err == f"warning[plugin.broken]: the plugin {PLUGIN} is broken: {error}\n   next: {NEXT}\n\n"
    )
    assert main(["explain", "shouts"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.unknown_type]: unknown assertion type 'shouts'; it may belong to the plugin "
        f"{PLUGIN}, which is broken: {error}\n  next: list all types with `agenteval explain`\n"
    )


CRASHES = {
    "raises": ("raise ValueError('oh')", "ValueError: oh (line 25)"),
    "leaves": ("raise SystemExit(3)", "SystemExit: 3 (line 25)"),
    "raises in what it calls": (
        "int('one')",
        "ValueError: invalid literal for int() with base 10: 'one' (line 25)",
    ),
    "says nothing": ("pass", "TypeError: verdict is nothing: expected Verdict"),
    "says yes": ("return True", "TypeError: verdict is a value of type bool: expected Verdict"),
    "observes what is not JSON": (
        "return passed('fine', words={1, 2})",
        "TypeError: verdict.observed holds a value of type set, which is not JSON",
    ),
    "observes what is not JSON, further in": (
        "return passed('fine', words=[{1: 2}])",
        "TypeError: verdict.observed holds the key 1, which is not JSON",
    ),
    "points at no event": (
        "return passed('fine', events=['evt-1'])",
        "TypeError: verdict.events[0] is a value of type str: expected Event",
    ),
    "cannot say what it looks at": (
        "return passed('fine')\n\n    def looks_at(self):\n        return 1",
        "TypeError: looks_at returned a value of type int, not Scope",
    ),
    "lacks no capability that there is": (
        "verdict = passed('fine')\n        verdict.missing = ['supports_wings']\n        return verdict",
        (
            "TypeError: missing is ['supports_wings']: expected some of supports_tool_trace, "
            "supports_memory_events, supports_scheduler_context, supports_container_metadata, supports_live_run, "
            "supports_replay"
        ),
    ),
    "passes by a word": (
        "verdict = passed('fine')\n        verdict.passed = 'no'\n        return verdict",
        "TypeError: verdict.passed is a value of type str: expected bool",
    ),
    "observes a number that Python does not write": (
        "return passed('fine', words=10**5000)",
        "TypeError: verdict.observed holds a number with thousands of digits, which is not JSON",
    ),
    "changes an event": (
        "trace.events[0].data.clear()\n        return passed('fine')",
        "TypeError: check changed the trace, which all assertions of the test read",
    ),
    "sorts the calls where they are": (
        "trace.calls().clear()\n        return passed('fine')",
        "TypeError: check changed the trace, which all assertions of the test read",
    ),
    "has no words": ("return passed(3)", "TypeError: verdict.message is a value of type int: expected str"),
    "proves by a word": (
        "return passed('fine', proven='yes')",
        "TypeError: verdict.proven is a value of type str: expected bool",
    ),
}


@pytest.mark.parametrize(("body", "error"), CRASHES.values(), ids=CRASHES)
def test_a_check_that_crashes(body: str, error: str, tmp_path: Path) -> None:
    """The test is an error that names the plugin; the other assertions are judged."""
    text = SHOUTS.replace("        text = trace.output\n", f"        {body}\n        return None\n")
    also = [{"id": "b", "type": "must_call_tool", "params": {"tool": "web_search"}}]
    path = plugged(tmp_path, text).add("pass", replay=make_replay(), assertions=[*asserting(), *also])
    run = run_command([path], tmp_path / "out")
    result = run.only_result()
    assert run.exit_code == 2
    assert (result["status"], result["reason_code"]) == ("error", "assertion.crashed")
    assert result["error"]["message"] == f"assertion a (shouts of the plugin {PLUGIN}) crashed: {error}"
    assert result["next_step"].startswith("this is a bug in the plugin: report it ")
    assert [each["status"] for each in result["assertions"]] == ["skip", "pass"]


@pytest.mark.parametrize("method", ["def __len__(self): return 0", "def __bool__(self): return False"])
def test_an_assertion_that_counts_as_false_is_judged(method: str, tmp_path: Path) -> None:
    """It is not left out of the test, which would be green without it."""
    text = SHOUTS.replace("    def check(", f"    {method}\n\n    def check(")
    run = run_command([plugged(tmp_path, text).add("fail", assertions=asserting())], tmp_path / "out")
    assert run.exit_code == 1
    assert [each["status"] for each in run.only_result()["assertions"]] == ["fail"]


BROKE_DOWN = f"error[plugin.broken]: the plugin {PLUGIN} crashed on the parameters of shouts"


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("ValueError", "error[spec.wrong_parameter]: shouts: rejected without a reason"),
        ("AssertionError", f"{BROKE_DOWN}: AssertionError"),
        ("GeneratorExit", f"{BROKE_DOWN}: GeneratorExit"),
    ],
)
def test_parameters_that_are_refused_without_a_word(
    raised: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bare ValueError says no all the same; anything else is a bug of the plugin."""
    rule = f"    def __post_init__(self):\n        if self.min_words == 3:\n            raise {raised}\n\n"
    project = plugged(tmp_path, SHOUTS.replace("    def check(", f"{rule}    def check("))
    assert main(["validate", str(project.add("a", assertions=asserting(min_words=3)))]) == 3
    assert f"{said} " in " ".join(capsys.readouterr().out.split())


def test_a_verdict_may_observe_json(tmp_path: Path) -> None:
    """Whatever JSON can hold, at any depth; a tuple counts as a list."""
    body = "return passed('fine', words=[1, 2.5, None, True, 'x', {'b': ()}])"
    text = SHOUTS.replace("        text = trace.output\n", f"        {body}\n        return None\n")
    path = plugged(tmp_path, text).add("pass", assertions=asserting())
    run = run_command([path], tmp_path / "out")
    assert run.exit_code == 0
    assert run.only_result()["assertions"][0]["observed"] == {"words": [1, 2.5, None, True, "x", {"b": []}]}


def test_doctor_lists_plugins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its state; a broken one decides the exit code."""
    plugged(tmp_path, SHOUTS, "no.py")
    assert main(["doctor"]) == 2
    out = capsys.readouterr().out
    assert f"plugin        assertion shouts ({PLUGIN})\n" in out
    assert (
        "plugin        the plugin no.py is broken: there is no such file in the project\n"
        f"              next: {NEXT}\n"
    ) in out
