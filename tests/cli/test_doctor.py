"""`agenteval doctor`: what is installed, and what is in force."""

import platform
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from agenteval import __version__
from agenteval.cli import main
from agenteval.contracts.adapters import Adapter
from agenteval.contracts.errors import AdapterError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the current directory."""
    (tmp_path / "agenteval.yaml").write_text("strict: true\nlimits:\n  max_events: 7\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("AGENTEVAL_COLOR", "AGENTEVAL_STRICT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def doctor(capsys: pytest.CaptureFixture[str], code: int = 0) -> list[str]:
    """The lines the command prints, given that it ended in that exit code."""
    assert main(["doctor"]) == code
    return capsys.readouterr().out.splitlines()


def test_versions_adapters_and_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Versions of the package, Python and every dependency, the adapters, the project root."""
    lines = doctor(capsys)
    said = [line.split() for line in lines]
    assert ["agenteval", __version__] in said
    assert any(words[:2] == ["python", platform.python_version()] for words in said)
    for package in ("typer", "pydantic", "pyyaml"):
        assert [package, version(package)] in said
    assert any(words[:1] == ["libyaml"] for words in said)
    assert any(line.startswith("adapter nanoclaw  ") for line in lines)
    assert f"project       {project}" in lines
    assert lines[-1] == "all is well"


def test_values_stand_under_each_other(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the names are, up to the longest of a section."""
    for section in "\n".join(doctor(capsys)).split("\n\n")[:2]:
        lines = section.splitlines()
        starts = {re.fullmatch(r"(adapter \S+ +|\S+ +)\S.*", line)[1] for line in lines}  # type: ignore[index]
        assert len({len(start) for start in starts}) == 1


def test_configuration_in_force(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every setting with the value that holds, and where the values come from."""
    monkeypatch.setenv("AGENTEVAL_COLOR", "never")
    lines = doctor(capsys)
    assert f"config        {project / 'agenteval.yaml'}, AGENTEVAL_COLOR" in lines
    for setting in ("strict: true", 'color: "never"', "limits.max_events: 7", "suite.id: null"):
        assert f"{'':<14}{setting}" in lines


def test_defaults_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A project that configures nothing is told so; a pyproject.toml of others does not count."""
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert "config        defaults only" in doctor(capsys)


def test_broken_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A configuration that is wrong is shown in its place, after everything else, and decides the exit code."""
    (project / "agenteval.yaml").write_text("stric: true\n", encoding="utf-8")
    lines = doctor(capsys, code=3)
    assert any("error[config.unknown_key]: unknown key 'stric'" in line for line in lines)
    assert f"project       {project}" in lines
    assert lines[-1] == "something is broken: see above"


def test_a_secret_that_is_not_set(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told, since no test would run; where CI has the variable, nothing is broken."""
    (project / "agenteval.yaml").write_text("secrets: [MY_KEY]\n", encoding="utf-8")
    monkeypatch.setenv("MY_KEY", "quite ordinary words")
    assert not any(line.startswith("secrets ") for line in doctor(capsys))
    monkeypatch.delenv("MY_KEY")
    unset = "the environment variable MY_KEY is not set, so its value cannot be redacted"
    assert doctor(capsys)[-4:] == [
        f"secrets       {unset}: agenteval run ends with exit code 2",
        f"{'':<14}next: set MY_KEY, or remove it from --secret and from `secrets` in the configuration",
        "",
        "all is well",
    ]


def test_broken_adapter(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An adapter that does not load is named with the reason, and the exit code is 2."""

    def broken(name: str) -> Adapter:
        raise AdapterError(f"adapter {name!r} does not load", next_step="reinstall it")

    monkeypatch.setattr("agenteval.contracts.adapters.find_adapter", broken)
    lines = doctor(capsys, code=2)
    place = lines.index("adapter nanoclaw  adapter 'nanoclaw' does not load")
    assert lines[place + 1] == f"{'':<18}next: reinstall it"


def test_no_adapters(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No adapter at all is told too."""
    monkeypatch.setattr("agenteval.contracts.adapters.installed_adapters", list)
    assert "adapters      none" in doctor(capsys)
