"""`agenteval explain`: what it says of every type, and that its examples work."""

import json
from pathlib import Path

import pytest
import yaml

from agenteval.assertions import assertion_types
from agenteval.cli import main
from agenteval.loading.testfile import load_test
from screen import Screen


def said(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    """What the command printed to stdout, given that it ended in that exit code."""
    assert main(["explain", *argv]) == code
    return capsys.readouterr().out


def test_catalogue_has_one_line_per_type_under_its_category(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a type, all types are listed by category, each with the first sentence of its docstring."""
    lines = said(capsys).splitlines()
    assert lines[0] == "outcome"
    assert "tool_process" in lines
    (line,) = (line for line in lines if line.startswith("  must_call_tool "))
    assert line.split(maxsplit=1) == ["must_call_tool", "A tool was called."]
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(listed) == sorted(assertion_types())
    assert lines[-1] == "agenteval explain TYPE shows one, with an example to paste"


def test_a_terminal_breaks_no_line_within_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says is as wide as the terminal, a comment stays one, and summaries stand under each other."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen(terminal=True)
    monkeypatch.setattr("sys.stdout", screen)
    assert main(["explain"]) == 0
    assert main(["explain", "tool_args_match"]) == 0
    text = screen.text()
    assert max(map(len, text.splitlines())) <= 60
    assert (
        "  output_contains                   The final output\n"
        "                                    contains the given\n"
    ) in text
    assert "# A tool was called with the right arguments, or returned\n# the right result." in text
    assert yaml.safe_load(text[text.index("\n# tool_args_match") :])["adapter"] == "nanoclaw"


@pytest.mark.parametrize("name", assertion_types())
def test_explanation_is_a_valid_test_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`explain TYPE > test.yaml` makes a test for every type, without a warning; all it lacks is a recording."""
    path = tmp_path / "test.yaml"
    path.write_text(said(capsys, name), encoding="utf-8")
    assert load_test(path).warnings == []
    assert main(["validate", str(path)]) == 3
    out = capsys.readouterr().out
    assert "error[adapter.replay_missing]" in out
    assert out.endswith("\n1 of 1 test file is invalid (1 problem)\n")


@pytest.mark.parametrize("name", assertion_types())
def test_prose_is_comments_and_example_is_of_the_type(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every line up to the test is a YAML comment, no line is overlong, and the test asserts that type."""
    text = said(capsys, name)
    prose, _, example = text.partition("\n\n")
    lines = prose.splitlines()
    assert [line for line in lines if not line.startswith("#")] == []
    assert lines[0] == f"# {name}"
    assert max(map(len, lines)) <= 122
    spec = yaml.safe_load(example)
    assert [assertion["type"] for assertion in spec["assertions"]] == [name]


def test_explanation_tells_parameters_defaults_and_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """Parameters come with type, default and meaning, nested mappings below; then category and capabilities."""
    lines = said(capsys, "must_call_tool").splitlines()
    for line in (
        "# category:          tool_process",
        "# failure category:  required tool not used",
        "# default severity:  critical",
        "# needs:             supports_tool_trace",
        "#   tool       string (required)",
        "#   min_calls  integer ≥ 1 (default 1)",
        "#   args       args match (optional)",
        "#   required_keys  list of strings (optional)",
    ):
        assert line in lines


def test_scheduler_example_has_a_scheduler_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    """The example of a scheduler type is triggered by the scheduler, for the task that the params name."""
    spec = yaml.safe_load(said(capsys, "scheduler_task_runs"))
    assert spec["scenario"]["trigger"] == "scheduler"
    (assertion,) = spec["assertions"]
    assert spec["scenario"]["scheduler_context"]["task_id"] == assertion["params"]["task_id"]


def test_isolation_example_tells_of_another_group(capsys: pytest.CaptureFixture[str]) -> None:
    """The example of an isolation type has memory of a group that is not the scenario's."""
    scenario = yaml.safe_load(said(capsys, "no_cross_group_memory_use"))["scenario"]
    assert scenario["group_id"] not in [group["group_id"] for group in scenario["other_group_state"]]


@pytest.mark.parametrize("name", assertion_types())
def test_json_says_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` gives the explanation as data, with the same example test."""
    text = said(capsys, name)
    data = json.loads(said(capsys, name, "--json"))
    assert data["type"] == name
    assert text.endswith("\n\n" + data["example_test"])
    assert data["description"]
    assert [parameter["name"] for parameter in data["parameters"] if not parameter["description"]] == []


def test_catalogue_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` without a type gives all types, in the order of the catalogue."""
    assert [item["type"] for item in json.loads(said(capsys, "--json"))] == list(assertion_types())


def test_unknown_type_suggests_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt type is a usage error with a suggestion, and says how to list the types."""
    assert main(["explain", "must_cal_tool"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.unknown_type]: unknown assertion type 'must_cal_tool', did you mean 'must_call_tool'?\n"
        "  next: list all types with `agenteval explain`\n"
    )


def test_unknown_type_without_a_close_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing is close, nothing is suggested."""
    assert main(["explain", "zzz"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.unknown_type]: unknown assertion type 'zzz'\n"
        "  next: list all types with `agenteval explain`\n"
    )


@pytest.mark.parametrize(("other", "named"), [("must_call_tool", "TYPE"), ("--json", "--json")])
def test_markdown_stands_alone(other: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--markdown` is the whole reference: it goes with neither a type nor `--json`."""
    assert main(["explain", "--markdown", other]) == 2
    assert capsys.readouterr().err == (
        f"error[usage.invalid]: {named} does not go with --markdown\n  next: use one or the other\n"
    )
