"""Controls: tests that must not pass. An assertion that cannot fail, or an error that passes, shows here."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.assertions import assertion_types
from runs import CASES, EXAMPLES, PROJECT, run_command


def folders(kind: str) -> list[Path]:
    """The controls of one kind, sorted."""
    return sorted(path for path in (CASES / kind).iterdir() if path.is_dir())


def stated(folder: Path, key: str) -> str:
    """What the spec itself says under a key; what must happen stands under an `x-` key."""
    value: str = yaml.safe_load((folder / "test.yaml").read_text(encoding="utf-8"))[key]
    return value


def expected_reason(folder: Path) -> str:
    """The reason code in the first line of an invalid spec: `# expected: <reason_code>`."""
    (code,) = {
        match.group(1)
        for spec in folder.glob("*.yaml")
        if (match := re.match(r"# expected: (\S+)\n", spec.read_text(encoding="utf-8")))
    }
    return code


@pytest.fixture(autouse=True)
def _at_project_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)


def test_every_assertion_type_has_a_failing_control() -> None:
    """Each type of the catalogue is shown to fail on a recording in which its behaviour is broken."""
    assert {folder.name for folder in folders("failing")} == set(assertion_types())


@pytest.mark.parametrize("folder", folders("failing"), ids=lambda folder: folder.name)
def test_failing_control_fails_by_the_named_assertion_only(folder: Path, tmp_path: Path) -> None:
    """One behaviour is broken: the assertion on it fails, all others pass and had something to judge."""
    run = run_command([folder], tmp_path)
    result = run.only_result()
    named = stated(folder, "x-expected-failure")
    assert run.exit_code == 1
    assert result["status"] == "fail"
    assert [verdicts(result, "fail"), verdicts(result, "warn"), verdicts(result, "skip")] == [[named], [], []]
    assert [item["id"] for item in result["assertions"] if not item["exercised"]] == []
    (failure,) = (item for item in result["assertions"] if item["id"] == named)
    assert failure["type"] == folder.name
    assert len(result["assertions"]) > 1


@pytest.mark.parametrize("folder", folders("error"), ids=lambda folder: folder.name)
def test_error_control_ends_in_its_error(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What keeps a test from being judged is an error with a reason code and a next step, never a fail."""
    run = run_command([folder], tmp_path)
    result = run.only_result()
    assert run.exit_code == 2
    assert (result["status"], result["reason_code"]) == ("error", stated(folder, "x-expected-reason"))
    assert result["error"]["reason_code"] == result["reason_code"]
    assert result["next_step"]
    assert verdicts(result, "fail") == []
    assert "Traceback" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("folder", folders("invalid"), ids=lambda folder: folder.name)
def test_invalid_control_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A spec that is not right is reported with its reason code, runs nothing and exits 3."""
    run = run_command([folder], tmp_path)
    problems = [item for item in run.summary["problems"] if item["severity"] == "error"]
    assert run.exit_code == 3
    assert {item["reason_code"] for item in problems} == {expected_reason(folder)}
    assert len(list(run.results())) == len(list(folder.glob("*.yaml"))) - 1
    assert "Traceback" not in "".join(capsys.readouterr())


def test_controls_have_ids_of_their_own() -> None:
    """All failing and error controls can run in one go: no two share an id."""
    ids = [stated(folder, "id") for kind in ("failing", "error") for folder in folders(kind)]
    assert len(ids) == len(set(ids))


def test_a_directory_without_tests_is_not_a_pass(tmp_path: Path) -> None:
    """Nothing to run exits 3: a misspelled path must not turn a pipeline green."""
    (tmp_path / "empty").mkdir()
    assert run_command([tmp_path / "empty"], tmp_path / "artifacts").exit_code == 3


@pytest.mark.parametrize(
    ("kinds", "exit_code"),
    [
        (("pass",), 0),
        (("pass", "failing"), 1),
        (("pass", "failing", "error"), 2),
        (("error", "invalid"), 3),
        (("pass", "failing", "error", "invalid"), 3),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else "exit",
)
def test_the_highest_exit_code_wins(
    kinds: tuple[str, ...], exit_code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of passed, failed, error and invalid in one directory the highest exit code wins; the valid ones run."""
    chosen = {
        "pass": EXAMPLES / "nanoclaw" / "clarifying-question",
        "failing": CASES / "failing" / "must_call_tool",
        "error": CASES / "error" / "replay-missing",
        "invalid": CASES / "invalid" / "unknown-key",
    }
    for kind in kinds:
        shutil.copytree(chosen[kind], tmp_path / "mixed" / kind)
    monkeypatch.chdir(tmp_path)
    run = run_command([tmp_path / "mixed"], tmp_path / "artifacts")
    assert run.exit_code == exit_code
    assert len(list(run.results())) == len([kind for kind in kinds if kind != "invalid"])


def verdicts(result: dict[str, Any], status: str) -> list[str]:
    """The ids of the assertions with that status."""
    return [item["id"] for item in result["assertions"] if item["status"] == status]
