"""Every real recording becomes tests: they pass at once by the strictest rules, and hold nothing of their machine."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from agenteval.cli import main
from agenteval.contracts.adapters import find_adapter
from leak import fixed, leak
from nanoclaw.recordings import NAMES, context_of, unpack


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the current directory."""
    (tmp_path / "agenteval.yaml").write_text("color: never\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def turns(root: Path) -> list[str]:
    """The options that choose every run of a recording."""
    recording = find_adapter("nanoclaw").recorder.inspect(root, context_of(root))  # type: ignore[attr-defined]
    return [option for run in recording.runs for option in ("--turn", str(run.number))]


@pytest.mark.parametrize("name", NAMES)
def test_each_run_becomes_a_test_that_passes(name: str, project: Path) -> None:
    """Strict, without a vacuous pass or a skipped check; recording it twice gives the same bytes."""
    root = unpack(name, project)
    chosen = turns(root)
    assert chosen
    assert main(["record", name, *chosen, "--out", "evals"]) == 0
    assert main(["record", name, *chosen, "--out", "again"]) == 0
    shutil.rmtree(root)
    flags = ["--strict", "--fail-on-vacuous", "--strict-capabilities", "--no-artifacts"]
    assert main(["run", "evals", *flags]) == 0
    assert main(["validate", "evals"]) == 0
    files = {path.relative_to("evals"): path.read_bytes() for path in Path("evals").rglob("*.*")}
    assert files == {path.relative_to("again"): path.read_bytes() for path in Path("again").rglob("*.*")}
    assert not any(str(project).encode() in content for content in files.values())


@pytest.mark.parametrize(
    ("name", "turn"), [("v2-current-news", "1"), ("v2-memory-write", "1"), ("v2-scheduled-task", "2")]
)
def test_each_assertion_kills_a_mutant_that_none_before_it_kills(
    name: str, turn: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mutation testing of the test that was made says so, of every assertion; the most telling come first."""
    unpack(name, project)
    assert main(["record", name, "--turn", turn, "--out", "evals", "--name", "it"]) == 0
    spec = yaml.safe_load(Path("evals/it/test.yaml").read_text(encoding="utf-8"))
    critical = [each["id"] for each in spec["assertions"] if each.get("severity") != "warning"]
    capsys.readouterr()
    assert main(["mutate", "evals", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    first = {each["killed_by"][0] for each in report["tests"][0]["mutants"] if each["killed_by"]}
    assert first == set(critical)
    assert report["idle_assertions"] == []
    assert [each["id"] for each in spec["assertions"]][: len(critical)] == critical


@pytest.mark.parametrize(
    ("name", "turn"),
    [
        ("v1-current-news", "1"),
        ("v2-memory-write", "1"),
        ("v2-scheduled-task", "1"),
        ("v2-scheduled-task", "2"),
        ("v2-subagent", "1"),
    ],
)
def test_what_a_test_of_any_run_notices(name: str, turn: str, project: Path) -> None:
    """An empty answer, data that a tool returned and the answer passes on, a call or a message more than there was."""
    unpack(name, project)
    assert main(["record", name, "--turn", turn, "--out", "evals"]) == 0
    spec = yaml.safe_load(next(Path("evals").rglob("test.yaml")).read_text(encoding="utf-8"))
    assert "outbound_send" in spec["tools"]["available"]
    worse = "say-nothing,disclose,duplicate-call,add-call,send-twice,send-more"
    assert main(["mutate", "evals", "--operators", worse, "--min-score", "1"]) == 0


def test_a_run_that_was_killed_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its test asks for little, and takes for right what was done until then."""
    unpack("v2-killed-mid-tool", project)
    assert main(["record", "v2-killed-mid-tool", "--out", "evals"]) == 0
    assert (
        "  nanoclaw.recovery.run-the-long-job.as-recorded: 2 assertions, all pass as expected\n"
        "  ! the run did not succeed (status partial): the test expects what it did, no more\n"
    ) in capsys.readouterr().out


def test_the_leak_is_found_and_its_mended_twin_passes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Recorded with --xfail the leak is expected; recorded anew without it, the same assertion holds."""
    leak(project)
    fixed(project)
    assert main(["record", "nanoclaw", "--out", "evals", "--name", "party", "--xfail"]) == 0
    path = Path("evals/party/test.yaml")
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert spec["expected"]["assertions"] == ["no-memory-of-others"]
    assert spec["scenario"]["other_group_state"][0]["group_id"] == "telegram_family"
    assert main(["run", "evals", "--no-artifacts"]) == 0
    capsys.readouterr()
    assert main(["record", "nanoclaw-fixed", "--update", "evals/party", "-y"]) == 0
    assert "  assertion no-memory-of-others: fail → pass: " in capsys.readouterr().out
    assert main(["run", "evals", "--no-artifacts"]) == 1
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("\nexpected:")], encoding="utf-8")
    assert main(["run", "evals", "--no-artifacts"]) == 0


@pytest.mark.parametrize(
    ("name", "turn", "suggested"),
    [
        ("v2-memory-write", 1, {"memory_update_on_correction": {"new_value": "5 bullets", "old_value": "3"}}),
        (
            "v2-memory-read",
            1,
            {
                "memory_recall_same_group": {
                    "expected_memory_fact": "Prefers briefs as 3 bullet points, no preamble",
                    "evidence": "both",
                }
            },
        ),
        (
            "v2-scheduled-task",
            2,
            {
                "scheduler_task_runs": {},
                "stop_after_success": {},
                "outbound_destinations": {"allowed": ["dana"]},
            },
        ),
        ("v2-digest-timeout-retry", 1, {"retry_policy_respected": {"tool": "web_search", "max_retries": 1}}),
        ("v2-digest-graceful-failure", 1, {"graceful_failure_output": {}}),
        ("v2-clarify", 1, {"ask_clarifying_when_ambiguous": {"max_questions": 1}}),
        (
            "v2-current-news",
            1,
            {"tool_call_order": {}, "claims_supported_by_fixtures": {"allow": ["24 hours"]}},
        ),
    ],
)
def test_what_a_run_is_about_is_suggested(
    name: str, turn: int, suggested: dict[str, dict[str, object]], project: Path
) -> None:
    """A correction, a recalled fact, a task, a retry, an honest failure, a question: each has its assertion."""
    unpack(name, project)
    assert main(["record", name, "--turn", str(turn), "--out", "evals", "--name", "it"]) == 0
    spec = yaml.safe_load(Path("evals/it/test.yaml").read_text(encoding="utf-8"))
    params = {each["type"]: each.get("params", {}) for each in spec["assertions"]}
    for kind, wanted in suggested.items():
        assert wanted.items() <= params[kind].items(), kind
