"""The shipped examples, run as a user runs them."""

import re
from pathlib import Path

import pytest
import yaml

from agenteval.assertions import assertion_types
from runs import EXAMPLES, PROJECT, Run, run_command

SPECS = sorted(EXAMPLES.rglob("test.yaml"))
SCHEMA_HEADER = "# yaml-language-server: $schema=../../../schemas/test-case.schema.json\n"
RECOMMENDED = {
    "current-news",
    "memory-same-group",
    "memory-cross-group",
    "scheduler-daily-digest",
    "scheduler-digest-timeout-recovery",
}
MAY_DIFFER = re.compile(
    r'^\s*"(test_run_id|result_id|started_at|finished_at|duration_ms)": .*\n|"timestamp":"[^"]*"',
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run over all examples, from the project root."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        run = run_command([EXAMPLES], tmp_path_factory.mktemp("artifacts"))
    assert len(list(run.results())) == len(SPECS) > 0
    return run


def test_all_examples_pass(examples: Run) -> None:
    """`agenteval run examples/` exits 0: every example passes, the known bug by failing as it should."""
    counts = examples.summary["counts"]
    assert examples.exit_code == 0
    assert (counts["total"], counts["passed"], counts["xfailed"]) == (len(SPECS), len(SPECS) - 1, 1)
    assert [row["status"] for row in examples.summary["tests"]] == ["pass"] * len(SPECS)


def test_the_known_bug_is_the_leak(examples: Run) -> None:
    """The recorded leak fails in the one assertion that shows it, with what was read and told as evidence."""
    (leak,) = [result for result in examples.results() if result["xfail"]]
    (failed,) = [each for each in leak["assertions"] if each["xfail"]]
    assert leak["test_case_id"] == "nanoclaw.memory.recorded-leak.known-bug"
    assert failed["type"] == "no_cross_group_memory_use"
    read, told = failed["evidence"]["excerpts"][-2:]
    assert "Surprise party for Dana" in read["text"]
    assert told["text"].startswith("final_output assistant: They're planning a surprise party for you")


def test_no_example_passes_without_judging(examples: Run) -> None:
    """No assertion of an example is skipped, and none passes on nothing."""
    idle = [
        (result["test_case_id"], assertion["id"], assertion["status"], assertion["reason"])
        for result in examples.results()
        for assertion in result["assertions"]
        if assertion["status"] == "skip" or not assertion["exercised"]
    ]
    assert idle == []


def test_the_only_warning_is_the_finding_in_the_real_recording(examples: Run) -> None:
    """The recorded answer says "in the last 24 hours", which no result says; nothing else warns."""
    warned = [
        (result["test_case_id"], assertion["id"])
        for result in examples.results()
        for assertion in result["assertions"]
        if assertion["status"] == "warn"
    ]
    assert warned == [("nanoclaw.news.recorded-current-news.sourced-bullets", "says-only-what-was-read")]


def test_no_example_has_warnings(examples: Run) -> None:
    """Loader and adapter find nothing remarkable, such as a fixture that no step uses."""
    assert [warning for result in examples.results() for warning in result["warnings"]] == []
    assert [note for result in examples.results() for note in result["trace_summary"]["notes"]] == []


def test_examples_use_every_assertion_type(examples: Run) -> None:
    """Whoever looks for how an assertion is written finds it in an example."""
    used = {assertion["type"] for result in examples.results() for assertion in result["assertions"]}
    assert set(assertion_types()) - used == set()


def test_recommended_examples_are_there() -> None:
    """SPEC 21 names five first examples."""
    assert {spec.parent.name for spec in SPECS} >= RECOMMENDED


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.parent.name)
def test_example_is_laid_out_for_copying(spec: Path) -> None:
    """An example starts with the editor header, and every file beside it is used by it."""
    text = spec.read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    named = {fixture["file"] for fixture in data["tools"].get("fixtures", ()) if "file" in fixture}
    beside = {path.name for path in spec.parent.iterdir()}
    assert text.startswith(SCHEMA_HEADER)
    assert beside == {"test.yaml", "replay.json"} | named
    assert 5 <= len(data["assertions"]) <= 8


def test_two_runs_differ_in_the_permitted_fields_only(
    examples: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same inputs give the same artifacts, byte for byte, but for six named fields."""
    monkeypatch.chdir(PROJECT)
    again = run_command([EXAMPLES], tmp_path, run_id="run-2")
    assert stable_artifacts(again.folder) == stable_artifacts(examples.folder)


def stable_artifacts(folder: Path) -> dict[str, str]:
    """The text of every artifact, without what may differ between runs."""
    return {
        path.name: MAY_DIFFER.sub("", path.read_text(encoding="utf-8")) for path in sorted(folder.iterdir())
    }
