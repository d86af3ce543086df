"""Plugins of a project: modules that its configuration lists."""

import json
from pathlib import Path

import pytest
import yaml

from agenteval.assertions import assertion_types
from agenteval.cli import main
from agenteval.loading.testfile import load_test
from agenteval.plugins.registry import Registry
from pages import DOCS
from plugin_projects import ADAPTER, PLUGIN, SHOUTS, asserting, plugged, write
from projects import make_replay
from runs import EXAMPLES, run_command

LOUD = make_replay(final_output={"role": "assistant", "content": "TWO WORDS"})


@pytest.fixture(autouse=True)
def _in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    """What the command printed to stdout, given that it ended in that exit code and printed no error."""
    assert main(argv) == code
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_a_test_uses_the_type(tmp_path: Path) -> None:
    """A verdict of a plugin is a result like any other: category, parameters with defaults, capabilities."""
    path = plugged(tmp_path).add("pass", replay=LOUD, assertions=asserting())
    run = run_command([path], tmp_path / "out")
    assert run.exit_code == 0
    (result,) = run.only_result()["assertions"]
    assert (result["type"], result["category"], result["status"]) == ("shouts", "outcome", "pass")
    assert (result["params"], result["observed"]) == ({"min_words": 1}, {"words": 2})
    assert result["capability_check"] == {"required": ["supports_replay"], "missing": []}
    assert [score["category"] for score in run.summary["scorecard"]] == ["outcome"]
    assert run.summary["problems"] == []


LEAVES_A_MARK = f"open('loaded', 'w').close()\n{SHOUTS}"
RECORDING = EXAMPLES / "otel" / "recorded-news" / "replay.json"


@pytest.mark.parametrize(
    ("argv", "loads"),
    [
        ("run TEST", True),
        ("validate TEST", True),
        ("list TEST", True),
        ("explain", True),
        ("schema", True),
        ("doctor", True),
        ("mutate TEST", True),
        ("trace TEST", True),
        (f"record {RECORDING} --list", True),
        ("suite new TEST", True),
        (f"init new --from {RECORDING}", True),
        ("init new", False),
        ("compare one two", False),
        ("gate one", False),
        ("report one", False),
    ],
)
def test_which_commands_run_the_code_of_a_project(argv: str, loads: bool, tmp_path: Path) -> None:
    """All but those that read stored runs only: the page about plugins says so, for it is a matter of trust."""
    path = plugged(tmp_path, LEAVES_A_MARK).add("pass", replay=LOUD, assertions=asserting())
    for name in ("one", "two") if "one" in argv else ():
        run_command([path], tmp_path / "artifacts", run_id=name)
    mark = tmp_path / "loaded"
    mark.unlink(missing_ok=True)
    main(argv.replace("TEST", str(path)).split())
    assert mark.exists() is loads
    told = " ".join((DOCS / "plugins.md").read_text(encoding="utf-8").split())
    assert (
        "commands load the modules that the configuration lists, except `compare`, `gate`, `report`, `merge`, and "
        "`init` without `--from`"
    ) in told


def test_a_failure_has_evidence(tmp_path: Path) -> None:
    """The message, the events and the kind of failure are the plugin's."""
    path = plugged(tmp_path).add("fail", replay=LOUD, assertions=asserting(min_words=3))
    run = run_command([path], tmp_path / "out")
    result = run.only_result()
    assert run.exit_code == 1
    assert result["failure_categories"] == ["whispered"]
    assert result["assertions"][0]["message"] == "expected a shout, got 'TWO WORDS'"
    assert [each["text"] for each in result["evidence"]["excerpts"]] == ["final_output assistant: TWO WORDS"]


def test_a_vacuous_pass_is_marked(tmp_path: Path) -> None:
    """`vacuous` of a plugin counts as that of a built-in type does."""
    replay = make_replay(final_output={"role": "assistant", "content": "42"})
    path = plugged(tmp_path).add("vacuous", replay=replay, assertions=asserting())
    assert run_command([path], tmp_path / "out").summary["counts"]["vacuous_passes"] == 1
    assert run_command([path], tmp_path / "out", "--fail-on-vacuous", run_id="run-2").exit_code == 1


def test_parameters_are_validated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong is told with its place, as for a built-in type."""
    project = plugged(tmp_path)
    project.add("unknown", assertions=asserting(min_wrods=2))
    project.add("wrong", assertions=asserting(min_words=0))
    out = said(capsys, "validate", "tests", code=3)
    assert (
        "tests/unknown/test.yaml:21:5: error[spec.unknown_parameter]: shouts has no parameter 'min_wrods'\n"
        "   19 |   type: shouts\n"
        "   20 |   params:\n"
        "   21 |     min_wrods: 2\n"
        "      |     ^^^^^^^^^ did you mean 'min_words'?\n"
        "   allowed: min_words\n"
    ) in out
    assert (
        "error[spec.wrong_parameter]: parameter 'min_words' of shouts: expected at least 1, got the number 0\n"
    ) in out


def test_a_misspelt_type_is_recognized(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The types of plugins are among those suggested and allowed."""
    plugged(tmp_path).add("typo", assertions=asserting("shuots"))
    out = said(capsys, "validate", "tests", code=3)
    assert "error[spec.unknown_assertion_type]: unknown assertion type 'shuots'\n" in out
    assert "^^^^^^ did you mean 'shouts'?\n" in out
    assert f" allowed: {', '.join([*assertion_types(), 'shouts'])} " in " ".join(out.split())


def test_list_knows_the_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command that loads tests knows the project's plugins."""
    path = plugged(tmp_path).add("pass", assertions=asserting())
    assert said(capsys, "list", "tests").splitlines()[0].endswith(str(path.relative_to(tmp_path)))
    assert said(capsys, "run", "tests", "--collect-only").splitlines()[-1] == "1 test would run"


def test_explain_lists_the_type_with_its_origin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Under its category, after the built-in ones; alone with `--plugins`."""
    plugged(tmp_path)
    lines = said(capsys, "explain").splitlines()
    (line,) = (line for line in lines if line.startswith("  shouts "))
    assert line.split(maxsplit=1)[1] == f"The final output is all upper case. ({PLUGIN})"
    assert lines.index("outcome") < lines.index(line) < lines.index("tool_process")
    assert said(capsys, "explain", "--plugins") == (
        f"outcome\n  shouts  The final output is all upper case. ({PLUGIN})\n\n"
        "agenteval explain TYPE shows one, with an example to paste\n"
    )


def test_explain_tells_of_the_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Parameters, needs and origin; what is printed is a valid test file."""
    plugged(tmp_path)
    text = said(capsys, "explain", "shouts")
    assert f"# plugin:            {PLUGIN}\n" in text
    assert "#   min_words  integer ≥ 1 (default 1)\n#              The fewest words.\n" in text
    path = write(tmp_path / "test.yaml", text)
    assert load_test(path, registry=Registry(tmp_path, [PLUGIN])).warnings == []


def test_explain_gives_the_origin_as_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`plugin` is empty for a built-in type."""
    plugged(tmp_path)
    assert [each["plugin"] for each in json.loads(said(capsys, "explain", "--json", "--plugins"))] == [PLUGIN]
    assert json.loads(said(capsys, "explain", "shouts", "--json"))["plugin"] == PLUGIN
    assert json.loads(said(capsys, "explain", "must_call_tool", "--json"))["plugin"] == ""


def test_explain_writes_a_reference_of_plugins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--markdown --plugins` has the plugins' types only, and `--markdown` the built-in ones only."""
    plugged(tmp_path)
    text = said(capsys, "explain", "--markdown", "--plugins")
    assert "| outcome | [`shouts`](#shouts) |\n" in text
    assert f"From the plugin `{PLUGIN}`.\n" in text
    assert "must_call_tool" not in text
    assert "shouts" not in said(capsys, "explain", "--markdown")


def test_explain_without_plugins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--plugins` says so when there is none, and does not go with a type."""
    write(tmp_path / "agenteval.yaml", "{}")
    assert said(capsys, "explain", "--plugins") == "no plugin provides an assertion type\n"
    assert main(["explain", "--plugins", "shouts"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: TYPE does not go with --plugins\n  next: use one or the other\n"
    )


def test_the_schema_has_the_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`agenteval schema test-case` completes and checks the parameters of plugins in editors."""
    from jsonschema import Draft202012Validator

    path = plugged(tmp_path).add("pass", assertions=asserting(min_words=2))
    schema = json.loads(said(capsys, "schema", "test-case"))
    kinds = schema["$defs"]["AssertionSpec"]["properties"]["type"]
    assert kinds["enum"] == [*assertion_types(), "shouts"]
    assert kinds["enumDescriptions"][-1] == "The final output is all upper case."
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema)
    assert list(validator.iter_errors(spec)) == []
    spec["assertions"][0]["params"]["min_words"] = 0
    assert [error.message for error in validator.iter_errors(spec)] == ["0 is less than the minimum of 1"]


@pytest.mark.parametrize("told", ["Answer", "'Answer'", "object", "int | Answer"])
def test_the_schema_has_the_input_of_an_adapter(
    told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an adapter of the project says of its `adapter_input`; what is no model says nothing, with a warning."""
    from jsonschema import Draft202012Validator

    model = '@model\nclass Answer(Model):\n    answer: str\n    """What is said."""\n\n\nclass Canned:'
    source = ADAPTER.replace("class Canned:", model).replace('"1.2"\n', f'"1.2"\n    input_model = {told}\n')
    imports = '"""A plugin."""\n\nfrom agenteval.contracts.models import Model, model\n'
    project = plugged(tmp_path, source.replace('"""A plugin."""\n', imports))
    path = project.add("pass", adapter="canned", adapter_input={"answer": 1})
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert main(["schema", "test-case"]) == 0
    captured = capsys.readouterr()
    assert ("has no usable input_model: " in captured.err) is (told != "Answer")
    schema = json.loads(captured.out)
    found = [error.message for error in Draft202012Validator(schema).iter_errors(spec)]
    assert found == (["1 is not of type 'string'"] if told == "Answer" else [])


def test_schema_files_are_those_of_agenteval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--write` leaves plugins out: what is committed does not depend on what is installed."""
    plugged(tmp_path)
    said(capsys, "schema", "--write")
    assert "shouts" not in (tmp_path / "schemas" / "test-case.schema.json").read_text(encoding="utf-8")


def test_a_parameter_model_may_have_a_known_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A class of a plugin that is called as one of the core does not replace it in the schema."""
    plugged(tmp_path, SHOUTS.replace("Shouts", "OutputContains"))
    schema = json.loads(said(capsys, "schema", "test-case"))
    then = {
        rule["if"]["properties"]["type"]["const"]: rule["then"]["properties"]["params"]["$ref"]
        for rule in schema["$defs"]["AssertionSpec"]["allOf"]
    }
    assert then["shouts"] != then["output_contains"]


def test_an_adapter_of_the_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A listed class that traces is an adapter, used by its name; `doctor` shows it."""
    project = plugged(tmp_path, ADAPTER, "checks/shouting2.py", path="adapters/canned.py")
    write(tmp_path / "checks" / "shouting2.py", SHOUTS)
    path = project.add(
        "canned",
        id="canned.t.canned.x",
        adapter="canned",
        adapter_input={"answer": "HELLO"},
        assertions=asserting(),
    )
    run = run_command([path], tmp_path / "out")
    assert run.exit_code == 0
    assert run.only_result()["adapter"] == {"name": "canned", "version": "1.2"}
    capsys.readouterr()
    assert "plugin        adapter canned (adapters/canned.py)\n" in said(capsys, "doctor")


def test_an_unknown_adapter_is_told_which_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the project are among them."""
    path = plugged(tmp_path, ADAPTER).add("pass", adapter="cannned")
    assert main(["run", str(path), "--no-artifacts"]) == 2
    out = " ".join(capsys.readouterr().out.split())
    assert "unknown adapter 'cannned' (installed: canned, command, nanoclaw, otel)" in out


def test_a_package_of_the_project(tmp_path: Path) -> None:
    """`__init__.py` may import its neighbours, relatively."""
    project = plugged(tmp_path, "from .shouting import PLUGINS as PLUGINS\n", path="checks/__init__.py")
    write(tmp_path / PLUGIN, SHOUTS)
    path = project.add("pass", replay=LOUD, assertions=asserting())
    assert run_command([path], tmp_path / "out").exit_code == 0


def test_a_module_by_its_dotted_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed module can be listed too."""
    monkeypatch.syspath_prepend(tmp_path / "site")
    write(tmp_path / "site" / "acme_dotted" / "checks.py", SHOUTS)
    project = plugged(tmp_path, SHOUTS)
    write(tmp_path / "agenteval.yaml", "plugins: [acme_dotted.checks]\n")
    path = project.add("pass", replay=LOUD, assertions=asserting())
    assert run_command([path], tmp_path / "out").exit_code == 0


def test_a_file_listed_twice_counts_once(tmp_path: Path) -> None:
    """However it is written."""
    project = plugged(tmp_path, SHOUTS, PLUGIN, f"./{PLUGIN}", "checks/../checks/shouting.py")
    path = project.add("pass", replay=LOUD, assertions=asserting())
    run = run_command([path], tmp_path / "out")
    assert (run.exit_code, run.summary["problems"]) == (0, [])


def test_the_environment_can_list_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Separated by commas."""
    project = plugged(tmp_path)
    write(tmp_path / "agenteval.yaml", "{}")
    write(tmp_path / "b.py", ADAPTER)
    monkeypatch.setenv("AGENTEVAL_PLUGINS", f"{PLUGIN}, b.py")
    path = project.add("pass", replay=LOUD, assertions=asserting())
    assert run_command([path], tmp_path / "out").exit_code == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "../x.py",
            "plugins[0]: '../x.py' is outside the project: a plugin's file is named relative to its root",
        ),
        (
            "/x.py",
            "plugins[0]: '/x.py' is outside the project: a plugin's file is named relative to its root",
        ),
        (
            "checks/x",
            (
                "plugins[0]: expected a file of the project that ends in .py, or the dotted name of an installed"
                " module, got 'checks/x'"
            ),
        ),
    ],
)
def test_names_that_cannot_be(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refused where they stand in the configuration, before anything is imported."""
    write(tmp_path / "agenteval.yaml", f"plugins:\n  - {name}\n")
    assert main(["explain"]) == 3
    err = capsys.readouterr().err
    assert err.startswith(f"{tmp_path / 'agenteval.yaml'}:2:5: error[config.wrong_value]: {message}\n")


def test_names_in_the_environment_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The variable is named."""
    write(tmp_path / "agenteval.yaml", "{}")
    monkeypatch.setenv("AGENTEVAL_PLUGINS", "a.py,../b.py")
    assert main(["explain"]) == 3
    assert capsys.readouterr().err == (
        "error[config.wrong_variable]: AGENTEVAL_PLUGINS: '../b.py' is outside the project: "
        "a plugin's file is named relative to its root\n"
    )


@pytest.mark.parametrize(
    ("argv", "judges"),
    [
        (["run", "tests", "--json", "--no-artifacts"], True),
        (["run", "tests", "--json", "--no-artifacts", "-n", "2"], True),
        (["list", "tests", "--json"], False),
        (["validate", "tests", "--json"], False),
        (["mutate", "tests", "--json", "--operators", "ramble"], True),
        (["trace", "tests/pass/test.yaml"], False),
        (["explain", "--json"], False),
        (["explain", "shouts", "--json"], False),
        (["schema", "test-case"], False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_a_plugin_prints_is_not_in_the_data(
    argv: list[str], judges: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where a command prints data, it is on stdout, and nothing else."""
    chatty = SHOUTS.replace("    def check(", "    print('loaded')\n\n    def check(")
    chatty = chatty.replace("        text = trace", "        print('judging')\n        text = trace")
    plugged(tmp_path, chatty).add("pass", replay=LOUD, assertions=asserting())
    assert main(argv) == 0
    told = capfd.readouterr()
    json.loads(told.out)
    assert {"loaded", *(["judging"] if judges else [])} == {"loaded", "judging"} & set(told.err.splitlines())
