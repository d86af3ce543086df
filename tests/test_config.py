"""Configuration: where it comes from, what it may say, and what is told when it is wrong."""

import os
from pathlib import Path

import pytest

from agenteval.contracts.errors import ExitCode, SpecError
from agenteval.loading.config import (
    Config,
    LimitsConfig,
    SuiteConfig,
    load_config,
    project_root,
    readable_root,
)

SUITE_ID = r"expected a string that matches ^[a-z0-9.-]+\.evals\.[a-z0-9-]+$"
VERSION = r"expected a string that matches ^[0-9]+\.[0-9]+\.[0-9]+$"


def told(root: Path, **environment: str) -> list[str]:
    """Everything that is wrong with a configuration, as it is shown, without the directory."""
    with pytest.raises(SpecError) as caught:
        load_config(root, environment)
    assert caught.value.exit_code is ExitCode.INVALID
    return [problem.render().replace(f"{root}{os.sep}", "") for problem in caught.value.problems]


def yaml_file(root: Path, text: str) -> None:
    """Write agenteval.yaml."""
    (root / "agenteval.yaml").write_text(text)


def toml_file(root: Path, text: str) -> None:
    """Write pyproject.toml."""
    (root / "pyproject.toml").write_text(text)


@pytest.mark.parametrize("mark", ["agenteval.yaml", "pyproject.toml", ".git"])
def test_the_root_is_the_nearest_marked_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    """Upwards from the current directory, or from what the paths have in common; it may be the start itself."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / mark).touch()
    (tmp_path / ".git").mkdir(exist_ok=True)
    monkeypatch.chdir(inner)
    assert project_root() == tmp_path / "a"
    assert project_root(["test.yaml::x", "../test.yaml"]) == tmp_path / "a"
    assert project_root([str(tmp_path / "a")]) == tmp_path / "a"
    assert project_root(["../.."]) == tmp_path
    assert project_root([".", str(tmp_path / "c")]) == tmp_path


def test_a_test_reaches_as_far_as_its_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is run from, and whatever else is marked in between."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "agenteval.yaml").touch()
    assert readable_root(inner / "test.yaml") == tmp_path / "a"
    (tmp_path / ".git").touch()  # of a worktree, it is a file
    for place in (tmp_path, inner):
        monkeypatch.chdir(place)
        assert readable_root(Path(os.path.relpath(inner)) / "test.yaml") == tmp_path
    (inner / ".git").mkdir()
    assert readable_root(inner / "test.yaml") == inner


def test_without_a_checkout_a_test_reaches_what_lies_beside_its_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two folders up, but never to what belongs to all of a person's work, or to everybody."""
    case = tmp_path / "home" / "suite" / "case" / "test.yaml"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert readable_root(case) == tmp_path / "home"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert readable_root(case) == tmp_path / "home" / "suite"
    assert readable_root(case.parent.with_name("test.yaml")) == tmp_path / "home" / "suite"
    assert readable_root(tmp_path / "home" / "test.yaml") == tmp_path / "home"
    for path, reached in (
        ("/a/b/c/t.yaml", "/a/b"),
        ("/a/b/t.yaml", "/a/b"),
        ("/a/t.yaml", "/a"),
        ("/t.yaml", "/"),
    ):
        assert readable_root(Path(path)) == Path(reached)


def test_without_any_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current directory is the root of what is inside it; what is elsewhere is its own."""
    monkeypatch.setattr(Path, "exists", lambda _: False)
    (tmp_path / "here" / "a").mkdir(parents=True)
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert project_root(["a"]) == tmp_path / "here"
    assert project_root(["../there"]) == tmp_path / "there"


def test_defaults(tmp_path: Path) -> None:
    """Nothing has to be configured."""
    assert load_config(tmp_path, {}) == Config(
        artifacts_dir="artifacts",
        strict=False,
        fail_on_vacuous=False,
        strict_capabilities=False,
        save_traces=False,
        color="auto",
        suite=SuiteConfig(
            id=None, version="0.1.0", pass_score=None, max_cost_usd=None, max_p95_latency_ms=None
        ),
        limits=LimitsConfig(
            max_file_bytes=67_108_864,
            max_events=1_000_000,
            max_yaml_nodes=200_000,
            max_result_bytes=134_217_728,
            pattern_seconds=2.0,
        ),
    )


def test_a_yaml_file(tmp_path: Path) -> None:
    """What it does not say stays at its default."""
    yaml_file(
        tmp_path, "strict: true\ncolor: never\nsuite: {id: core.acme.evals.all, pass_score: 0.9}\nx-a: 1\n"
    )
    config = load_config(tmp_path, {})
    assert config == Config(
        strict=True, color="never", suite=SuiteConfig(id="core.acme.evals.all", pass_score=0.9)
    )


@pytest.mark.parametrize("text", ["", "# strict: true\n", "---\n", "{}"])
def test_an_empty_yaml_file(tmp_path: Path, text: str) -> None:
    """A file in which everything is commented out is a configuration."""
    yaml_file(tmp_path, text)
    assert load_config(tmp_path, {}) == Config()


def test_a_table_in_pyproject(tmp_path: Path) -> None:
    """The same settings, in TOML."""
    toml_file(tmp_path, '[tool.agenteval]\nartifacts_dir = "out"\n[tool.agenteval.limits]\nmax_events = 5\n')
    assert load_config(tmp_path, {}) == Config(artifacts_dir="out", limits=LimitsConfig(max_events=5))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[project]\nname = 'x'\n",
        "# [tool.agenteval]\n[tool]\n",
        "[tool.agenteval-more]\na = 1",
        "tool = 1 # [tool.agenteval",
    ],
)
def test_a_pyproject_without_the_table(tmp_path: Path, text: str) -> None:
    """It is nobody's configuration, and no second one beside agenteval.yaml."""
    toml_file(tmp_path, text)
    yaml_file(tmp_path, "strict: true")
    assert load_config(tmp_path, {}) == Config(strict=True)


def test_two_files(tmp_path: Path) -> None:
    """Which of them counts would be a guess."""
    yaml_file(tmp_path, "strict: true")
    toml_file(tmp_path, "[tool.agenteval]\n")
    (text,) = told(tmp_path)
    assert text == (
        "agenteval.yaml: error[config.two_files]: the project is configured twice: here, and in [tool.agenteval] "
        "of pyproject.toml\n"
        "   next: move the settings of pyproject.toml to agenteval.yaml and remove the table there, or remove this file"
    )


def test_a_file_with_the_other_ending(tmp_path: Path) -> None:
    """It would be passed over in silence."""
    (tmp_path / "agenteval.yml").write_text("strict: true\n", encoding="utf-8")
    assert told(tmp_path) == [
        (
            "agenteval.yml: error[config.misnamed]: the configuration is read from agenteval.yaml, not from this file\n"
            "   next: rename it to agenteval.yaml"
        )
    ]


@pytest.mark.parametrize("name", ["/srv/evals", "..", "../evals", "evals/../../x"])
def test_tests_are_inside_the_project(tmp_path: Path, name: str) -> None:
    """A configuration must not have files of the machine read, and shown as broken tests."""
    yaml_file(tmp_path, f"tests: [evals, {name!r}]\n")
    (line, *_) = told(tmp_path)[0].split("\n")
    assert line == (
        f"agenteval.yaml:1:16: error[config.wrong_value]: tests[1]: {name!r} is outside the project: "
        "tests are named relative to its root"
    )


def test_tests_from_the_environment(tmp_path: Path) -> None:
    """They replace those of the file."""
    yaml_file(tmp_path, "tests: [evals, '.']\n")
    assert load_config(tmp_path, {}).tests == ["evals", "."]
    assert load_config(tmp_path, {"AGENTEVAL_TESTS": "a, b/c"}).tests == ["a", "b/c"]


def test_what_is_wrong_in_a_yaml_file(tmp_path: Path) -> None:
    """All of it, located."""
    yaml_file(tmp_path, "strit: true\ncolor: red\nsuite:\n  id: all\n  pass_score: 2\n")
    first, *rest = told(tmp_path)
    assert first == (
        "agenteval.yaml:1:1: error[config.unknown_key]: unknown key 'strit'\n"
        "   1 | strit: true\n"
        "     | ^^^^^ did you mean 'strict'?\n"
        "   allowed: tests, artifacts_dir, strict, fail_on_vacuous, strict_capabilities, save_traces, baseline, color, plugins, cluster_files, cluster_wait, secrets, redaction, suite, limits, live, check, serve"
    )
    assert [text.split("\n")[0] for text in rest] == [
        "agenteval.yaml:2:8: error[config.wrong_value]: color: expected one of auto, always, never, got 'red'",
        f"agenteval.yaml:4:7: error[config.wrong_value]: suite.id: {SUITE_ID}, got 'all'",
        "agenteval.yaml:5:15: error[config.wrong_value]: suite.pass_score: expected at most 1, got the number 2",
    ]


def test_an_empty_name_is_refused(tmp_path: Path) -> None:
    """It would mean the project itself, and no variable at all."""
    yaml_file(tmp_path, "artifacts_dir: ''\nbaseline: ''\nsecrets: ['']\n")
    assert [text.split("\n")[0] for text in told(tmp_path)] == [
        "agenteval.yaml:1:16: error[config.wrong_value]: artifacts_dir: expected a non-empty value, got ''",
        "agenteval.yaml:2:11: error[config.wrong_value]: baseline: expected a non-empty value, got ''",
        "agenteval.yaml:3:11: error[config.wrong_value]: secrets[0]: expected a non-empty value, got ''",
    ]


def test_a_yaml_file_that_is_no_yaml(tmp_path: Path) -> None:
    """It is invalid, and so exits 3."""
    yaml_file(tmp_path, "a: [")
    assert "error[yaml.syntax]" in told(tmp_path)[0]


def test_what_is_wrong_in_pyproject(tmp_path: Path) -> None:
    """All of it, located in the right table, though another tool has the same keys."""
    toml_file(
        tmp_path,
        "[tool.other]\nstrict = 1\n"
        "[tool.agenteval]\nstrict = 1 # no\ncolour = 'never'\nlimits.max_events = 0\n"
        "[tool.agenteval.suite]\n'version' = 2026-01-01\npass_score = nan\n",
    )
    found = told(tmp_path)
    assert found[0] == (
        "pyproject.toml:4:10: error[config.wrong_type]: strict: expected true or false, got the number 1\n"
        "   2 | strict = 1\n"
        "   3 | [tool.agenteval]\n"
        "   4 | strict = 1 # no\n"
        "     |          ^"
    )
    assert [text.split("\n")[0] for text in found[1:]] == [
        "pyproject.toml:5:1: error[config.unknown_key]: unknown key 'colour'",
        "pyproject.toml:6:21: error[config.wrong_value]: limits.max_events: expected at least 1, got the number 0",
        f"pyproject.toml:8:13: error[config.wrong_value]: suite.version: {VERSION}, got '2026-01-01'",
        "pyproject.toml:9:14: error[config.wrong_type]: suite.pass_score: expected a number, got 'nan'",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[ tool . agenteval ]\nstrict = true\n",
        '["tool"."agenteval"]\nstrict = true\n',
        "tool.agenteval.strict = true\n",
        "[tool]\nagenteval = {strict = true}\n",
        "tool = {agenteval = {strict = true}}\n",
        "[tool]\nagenteval.strict = true\n",
        "[project]\nname = 'x'\n\t[tool.'agenteval']\nstrict = true\n",
    ],
)
def test_the_table_may_be_spelt_in_any_way(tmp_path: Path, text: str) -> None:
    """What TOML takes for the same table is the same table: no setting is passed over."""
    toml_file(tmp_path, text)
    assert load_config(tmp_path, {}).strict


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('artifacts_dir: "\\0"', "1:16: error[config.wrong_value]: artifacts_dir"),
        ('baseline: "a\\0.json"', "1:11: error[config.wrong_value]: baseline"),
        ('plugins: ["a\\0.py"]', "1:11: error[config.wrong_value]: plugins[0]"),
    ],
)
def test_what_no_path_can_hold(tmp_path: Path, text: str, where: str) -> None:
    """It is refused where it stands, before anything is written; any other name is a path."""
    yaml_file(tmp_path, text)
    (line, *_) = told(tmp_path)[0].split("\n")
    assert line.startswith(f"agenteval.yaml:{where}: '")
    assert line.endswith("' is no path: it has a NUL character")
    yaml_file(tmp_path, 'artifacts_dir: "a\\tb ü"')
    assert load_config(tmp_path, {}).artifacts_dir == "a\tb ü"


def test_an_array_of_tables_is_no_table(tmp_path: Path) -> None:
    """Brackets too many do not switch all settings off in silence; of other tools they are nobody's business here."""
    toml_file(tmp_path, "[[tool.agenteval]]\nstrict = true\n")
    (text,) = told(tmp_path)
    assert text == (
        "pyproject.toml:1:3: error[config.wrong_type]: expected a mapping, got a list\n"
        "   1 | [[tool.agenteval]]\n"
        "     |   ^^^^^^^^^^^^^^"
    )
    toml_file(tmp_path, "[[tool.agenteval.limits]]\nmax_events = 1\n")
    (text,) = told(tmp_path)
    assert text.startswith(
        "pyproject.toml:1:3: error[config.wrong_type]: limits: expected a mapping, got a list\n"
    )
    toml_file(tmp_path, "[[tool.other]]\nname = 'agenteval'\n[[tool.agenteval-more]]\na = 1\n")
    assert load_config(tmp_path, {}) == Config()


def test_an_inline_table_is_pointed_at(tmp_path: Path) -> None:
    """The line is right, if not the column."""
    toml_file(tmp_path, "[tool.agenteval]\nsuite = {pass = 1}\n")
    assert told(tmp_path)[0].startswith(
        "pyproject.toml:2:1: error[config.unknown_key]: unknown key 'pass' in suite"
    )


def test_a_pyproject_that_is_no_toml(tmp_path: Path) -> None:
    """The line and column are those of the problem."""
    toml_file(tmp_path, "[tool.agenteval]\r\nstrict = maybe\n")
    (text,) = told(tmp_path)
    assert text == (
        "pyproject.toml:2:10: error[config.syntax]: not valid TOML: Invalid value\n"
        "   1 | [tool.agenteval]\n"
        "   2 | strict = maybe\n"
        "     |          ^"
    )
    toml_file(tmp_path, "[tool.agenteval]\nstrict = ")
    assert told(tmp_path) == ["pyproject.toml: error[config.syntax]: not valid TOML: Invalid value"]


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    """Each setting has its variable; others are left as the file has them, and empty ones do not count."""
    yaml_file(tmp_path, "strict: true\nartifacts_dir: out\nsuite: {version: 1.2.3}\n")
    environment = {
        "AGENTEVAL_STRICT": "0",
        "AGENTEVAL_SAVE_TRACES": "TRUE",
        "AGENTEVAL_SUITE_ID": "core.acme.evals.all",
        "AGENTEVAL_SUITE_PASS_SCORE": "0.5",
        "AGENTEVAL_LIMITS_MAX_EVENTS": "7",
        "AGENTEVAL_LIMITS_PATTERN_SECONDS": "1",
        "AGENTEVAL_ARTIFACTS_DIR": "",
        "PATH": "x",
    }
    assert load_config(tmp_path, environment) == Config(
        artifacts_dir="out",
        save_traces=True,
        suite=SuiteConfig(id="core.acme.evals.all", version="1.2.3", pass_score=0.5),
        limits=LimitsConfig(max_events=7, pattern_seconds=1.0),
    )


@pytest.mark.parametrize(
    ("text", "meant"), [("1", True), ("true", True), ("True", True), ("0", False), ("false", False)]
)
def test_truth_in_the_environment(tmp_path: Path, text: str, meant: bool) -> None:
    """Two words, in any case, and two digits."""
    yaml_file(tmp_path, f"strict: {str(not meant).lower()}\n")
    assert load_config(tmp_path, {"AGENTEVAL_STRICT": text}).strict is meant


def test_a_list_in_the_environment(tmp_path: Path) -> None:
    """Its items are separated by commas; what is empty is no item."""
    assert load_config(tmp_path, {"AGENTEVAL_PLUGINS": "a.py, pkg.checks,"}).plugins == ["a.py", "pkg.checks"]


def test_an_empty_list_in_the_environment(tmp_path: Path) -> None:
    """A comma alone leaves nothing of what the file lists; an empty variable all of it."""
    (tmp_path / "agenteval.yaml").write_text("plugins: [a.py]\n", encoding="utf-8")
    assert load_config(tmp_path, {"AGENTEVAL_PLUGINS": ","}).plugins == []
    assert load_config(tmp_path, {"AGENTEVAL_PLUGINS": ""}).plugins == ["a.py"]


def test_the_environment_of_the_process_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing has to be passed."""
    monkeypatch.setenv("AGENTEVAL_COLOR", "always")
    assert load_config(tmp_path).color == "always"


def test_what_is_wrong_in_the_environment(tmp_path: Path) -> None:
    """Each variable is named, with what was expected."""
    found = told(
        tmp_path,
        AGENTEVAL_STRICT="maybe",
        AGENTEVAL_COLOR="red",
        AGENTEVAL_LIMITS_MAX_EVENTS="many",
        AGENTEVAL_SUITE_PASS_SCORE="nan",
        AGENTEVAL_SUITE_MAX_COST_USD="-1",
        AGENTEVAL_STRCT="1",
        AGENTEVAL_ZZZ="1",
    )
    assert [text.split("\n")[0] for text in found] == [
        "error[config.unknown_variable]: unknown environment variable AGENTEVAL_STRCT",
        "error[config.unknown_variable]: unknown environment variable AGENTEVAL_ZZZ",
        "error[config.wrong_variable]: AGENTEVAL_COLOR: expected one of auto, always, never, got 'red'",
        "error[config.wrong_variable]: AGENTEVAL_LIMITS_MAX_EVENTS: expected an integer, got 'many'",
        "error[config.wrong_variable]: AGENTEVAL_STRICT: expected true or false, got 'maybe'",
        "error[config.wrong_variable]: AGENTEVAL_SUITE_MAX_COST_USD: expected at least 0, got the number -1.0",
        "error[config.wrong_variable]: AGENTEVAL_SUITE_PASS_SCORE: expected a number, got 'nan'",
    ]
    assert found[0].split("\n")[1] == "   did you mean 'AGENTEVAL_STRICT'?"
    assert "did you mean" not in found[1]
    assert "AGENTEVAL_SUITE_MAX_P95_LATENCY_MS" in found[0]


def test_a_suite_id_of_the_right_form(tmp_path: Path) -> None:
    """`<scope>.<org>.evals.<name>`."""
    yaml_file(tmp_path, "suite: {id: core.openwop.evals.support-resolver, version: 10.0.1}")
    assert load_config(tmp_path, {}).suite.id == "core.openwop.evals.support-resolver"
