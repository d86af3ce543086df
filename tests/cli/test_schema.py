"""`agenteval schema`: print, write, check."""

import json
from functools import cache
from pathlib import Path

import pytest

from agenteval.cli import main
from agenteval.reference.schemas import SHIPPED, build_schema

ROOT = Path(__file__).resolve().parents[2]
built_once = cache(build_schema)


def test_without_a_name_the_schemas_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """The list has every schema with its title, those of adapters included."""
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == (
        "test-case         AgentEval test case (test.yaml)\n"
        "config            AgentEval configuration (agenteval.yaml)\n"
        "trace             AgentEval normalized trace\n"
        "result            AgentEval test result\n"
        "summary           AgentEval run summary\n"
        "baseline          AgentEval baseline\n"
        "comparison        AgentEval comparison of two runs\n"
        "check             AgentEval check of a change\n"
        "agent-eval-suite  OpenWOP AgentEvalSuite (RFC 0081)\n"
        "eval-summary      OpenWOP EvalSummary (RFC 0081)\n"
        "eval-events       One line of events.jsonl: an OpenWOP eval event (RFC 0081)\n"
        "replay            AgentEval replay file of the nanoclaw adapter\n"
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_a_schema_is_printed_as_its_file_has_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed is JSON with the schema's id, in the same bytes every time."""
    assert main(["schema", name]) == 0
    text = capsys.readouterr().out
    assert text == (ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert json.loads(text)["$id"] == f"https://agenteval.dev/schemas/0.1/{name}.schema.json"
    assert text.endswith("}\n")


def test_unknown_schema_suggests_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt name is a usage error with a suggestion and all names."""
    assert main(["schema", "test-cas"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.unknown_schema]: unknown schema 'test-cas', did you mean 'test-case'?\n"
        "  next: name one of test-case, config, trace, result, summary, baseline, comparison, check, agent-eval-suite, "
        "eval-summary, eval-events, replay\n"
    )


def test_write_then_check_then_drift(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--write` makes the files of the project's `schemas` once; a changed and a missing file are named by `--check`."""
    (tmp_path / "agenteval.yaml").write_text("", encoding="utf-8")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    monkeypatch.setattr("agenteval.reference.schemas.build_schema", built_once)
    folder = tmp_path / "schemas"
    for state in ("written", "kept   "):
        assert main(["schema", "--write"]) == 0
        assert capsys.readouterr().out == "".join(
            f"{state}  {folder / f'{name}.schema.json'}\n" for name in SHIPPED
        )
    assert main(["schema", "--check", "--dir", str(folder)]) == 0
    assert capsys.readouterr().out == f"{len(SHIPPED)} schemas in {folder} are up to date\n"

    (folder / "trace.schema.json").write_text("{}\n", encoding="utf-8")
    (folder / "replay.schema.json").unlink()
    assert main(["schema", "--check"]) == 1
    assert capsys.readouterr().out == (
        f"{folder / 'replay.schema.json'} is missing\n"
        f"{folder / 'trace.schema.json'} does not match the models\n"
        "next: run `agenteval schema --write` and commit the result\n"
    )


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["--write", "--check"], "--check does not go with --write"),
        (["trace", "--check"], "NAME does not go with --check"),
        (["trace", "--write"], "NAME does not go with --write"),
    ],
)
def test_one_thing_at_a_time(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A name, `--write` and `--check` exclude each other."""
    assert main(["schema", *argv]) == 2
    assert capsys.readouterr().err == (f"error[usage.invalid]: {told}\n  next: use one or the other\n")


def test_a_directory_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in the place of the directory is one clear error."""
    monkeypatch.setattr("agenteval.reference.schemas.build_schema", built_once)
    (tmp_path / "file").write_text("", encoding="utf-8")
    folder = tmp_path / "file" / "schemas"
    assert main(["schema", "--write", "--dir", str(folder)]) == 2
    assert capsys.readouterr().err == (
        f"error[usage.not_writable]: cannot write {folder / 'test-case.schema.json'}: Not a directory\n"
        "  next: name a writable folder with --dir\n"
    )
