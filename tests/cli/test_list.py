"""`agenteval list`: what would run."""

import json
from pathlib import Path

import pytest
import yaml

from agenteval.cli import main
from builders import make_spec
from screen import Screen

ASSERTIONS = [
    {"id": "searched", "type": "must_call_tool", "params": {"tool": "web_search"}},
    {"id": "brief", "type": "output_contains", "severity": "warning", "params": {"any_of": ["x"]}},
]


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tests in a directory, which is the current one."""
    one = make_spec(id="nanoclaw.a.b.first", tags=["smoke", "news"], assertions=ASSERTIONS)
    two = make_spec(id="nanoclaw.a.b.the-second", title="Another")
    (tmp_path / "a.test.yaml").write_text(yaml.safe_dump(one), encoding="utf-8")
    (tmp_path / "b.test.yaml").write_text(yaml.safe_dump(two), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tests_in_aligned_columns(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Id, number of assertions, tags and path; nothing but text and blanks."""
    assert main(["list", "."]) == 0
    assert capsys.readouterr().out == (
        "nanoclaw.a.b.first       2 assertions  smoke, news  a.test.yaml\n"
        "nanoclaw.a.b.the-second  1 assertion   -            b.test.yaml\n"
        "2 tests\n"
    )


@pytest.mark.usefixtures("suite")
def test_columns_stand_under_each_other_in_any_script(capsys: pytest.CaptureFixture[str]) -> None:
    """A Chinese tag takes twice the cells of a Latin one."""
    three = make_spec(id="nanoclaw.a.b.third", tags=["天気", "smoke"], title="A third")
    Path("c.test.yaml").write_text(yaml.safe_dump(three, allow_unicode=True), encoding="utf-8")
    assert main(["list", "."]) == 0
    assert capsys.readouterr().out == (
        "nanoclaw.a.b.first       2 assertions  smoke, news  a.test.yaml\n"
        "nanoclaw.a.b.the-second  1 assertion   -            b.test.yaml\n"
        "nanoclaw.a.b.third       1 assertion   天気, smoke  c.test.yaml\n"
        "3 tests\n"
    )


@pytest.mark.usefixtures("suite")
def test_on_a_narrow_terminal_there_are_no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is wider than the terminal would be broken anywhere: the facts stand under the id."""
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen(terminal=True)
    monkeypatch.setattr("sys.stdout", screen)
    assert main(["list", "."]) == 0
    assert screen.text() == (
        "nanoclaw.a.b.first\n  2 assertions  smoke, news  a.test.yaml\n"
        "nanoclaw.a.b.the-second\n  1 assertion  -  b.test.yaml\n"
        "2 tests\n"
    )


@pytest.mark.parametrize(
    "selection", [["-k", "first"], ["-t", "news"], ["--exclude-tag", "none", "-k", "not second"]]
)
def test_selection_is_that_of_run(
    selection: list[str], suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """-k, -t and --exclude-tag choose as they do for a run."""
    assert main(["list", ".", *selection]) == 0
    assert capsys.readouterr().out == (
        "nanoclaw.a.b.first  2 assertions  smoke, news  a.test.yaml\n1 test, 1 deselected\n"
    )


def test_only_some_assertions(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`file::assertion-id` counts what would be judged."""
    assert main(["list", "a.test.yaml::brief"]) == 0
    assert capsys.readouterr().out == ("nanoclaw.a.b.first  1 assertion  smoke, news  a.test.yaml\n1 test\n")


def test_nothing_selected_is_not_a_success(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """When nothing would run, the exit code is that of a run: 3."""
    assert main(["list", ".", "-k", "nosuch"]) == 3
    assert capsys.readouterr().out == "0 tests, 2 deselected\n"


def test_invalid_files_are_told_apart(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Problems go to stderr, valid tests to stdout; the exit code is 3."""
    (suite / "b.test.yaml").write_text("a: 1\n", encoding="utf-8")
    assert main(["list", "."]) == 3
    captured = capsys.readouterr()
    assert captured.out == ("nanoclaw.a.b.first  2 assertions  smoke, news  a.test.yaml\n1 test\n")
    assert "b.test.yaml:1:1: error[spec.unknown_key]: unknown key 'a'" in captured.err


def test_tests_as_json(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` has every test with its assertions, and the problems."""
    assert main(["list", ".", "--json", "-t", "smoke"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "tests": [
            {
                "id": "nanoclaw.a.b.first",
                "title": "A test case",
                "path": "a.test.yaml",
                "tags": ["smoke", "news"],
                "assertions": [
                    {"id": "searched", "type": "must_call_tool", "severity": "critical"},
                    {"id": "brief", "type": "output_contains", "severity": "warning"},
                ],
            }
        ],
        "problems": [],
    }


def test_bad_expression_is_a_usage_error(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A -k expression that cannot be read is told before anything is loaded."""
    assert main(["list", ".", "-k", "(a"]) == 2
    assert capsys.readouterr().err.startswith("error[usage.expression]: -k '(a' makes no sense")


@pytest.mark.parametrize("command", ["list", "validate", "run --no-artifacts", "run --collect-only"])
def test_a_test_by_a_name_that_no_test_has(
    command: str, suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command that looks for tests says that it passes over one."""
    (suite / "b.test.yaml").rename("tests.yml")
    main([*command.split(), "."])
    assert "tests.yml: warning[select.misnamed]: it holds a test, but its name keeps it" in "".join(
        capsys.readouterr()
    )
