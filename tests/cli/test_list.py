"""`agenteval list`: what would run."""

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
