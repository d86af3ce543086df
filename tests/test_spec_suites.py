"""Suites as other implementations of the SPEC have them: they run unchanged, from anywhere, and their consumers find all fields."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from agenteval.cli import main

Files = dict[str, Any]

SCHEDULED = {"task_id": "task-tides", "scheduled_for": "2026-03-01T06:00:00Z", "timezone": "Europe/Berlin"}


def case(name: str, *assertions: dict[str, Any], replay: str = "./replay.json", **overrides: Any) -> Files:
    """A test file in the form of the SPEC's examples: severities everywhere, notes for people, a saved trace."""
    return {
        "schema_version": "0.1",
        "id": f"nanoclaw.{name}",
        "title": "The tides are told",
        "description": "What is protected, in words.",
        "adapter": "nanoclaw",
        "mode": "replay",
        "tags": ["nanoclaw", "regression"],
        "adapter_input": {"replay_file": replay},
        "scenario": {
            "group_id": "harbour",
            "session_id": "s-1",
            "trigger": "scheduler",
            "scheduler_context": {**SCHEDULED, "task_name": "Tides"},
            "input_messages": [],
            "prior_messages": [],
        },
        "tools": {"available": ["tide_table", "outbound_send"], "fixtures": []},
        "assertions": [{"severity": "critical", **each} for each in assertions],
        "expected": {"outcome": "One message.", "failure_categories": ["bad tool use"]},
        "reporting": {"save_trace": True},
        **overrides,
    }


CALLS = {"id": "looks", "type": "must_call_tool", "params": {"tool": "tide_table"}}
SENDS_ONCE = {"id": "one-send", "type": "scheduler_outbound_count", "params": {"exact": 1}}
GROUNDED = {
    "id": "grounded",
    "type": "claims_supported_by_fixtures",
    "params": {"allowed_sources": ["tide_table"]},
}
FIXTURES = [
    {"id": "fx.tide_table.timeout_once", "tool": "tide_table", "description": "The first try times out"},
    {"id": "fx.tide_table.today", "tool": "tide_table", "description": "The table of the day"},
    {"id": "fx.outbound_send.success", "tool": "outbound_send", "description": "The message goes out"},
]
ANSWER = "Low tide is at 09:12."
BUNDLE: Files = {
    "schema_version": "0.1",
    "adapter": "nanoclaw-replay",
    "scenario": {
        "group_id": "harbour",
        "session_id": "s-1",
        "task_id": "task-tides",
        "trigger": "scheduler",
        "scheduler_context": {**SCHEDULED, "task_name": "Tides"},
    },
    "capabilities": {
        "supports_tool_trace": True,
        "supports_memory_events": False,
        "supports_scheduler_context": True,
        "supports_container_metadata": False,
    },
    "input_messages": [],
    "script": [
        {"type": "tool_call", "tool": "tide_table", "call_id": "call-1", "args": {"port": "Husum"}},
        {
            "type": "error",
            "scope": "tool",
            "tool": "tide_table",
            "call_id": "call-1",
            "error_type": "timeout",
            "message": "no answer after 5 s",
            "retryable": True,
        },
        {"type": "tool_call", "tool": "tide_table", "call_id": "call-2", "args": {"port": "Husum"}},
        {
            "type": "tool_result",
            "tool": "tide_table",
            "call_id": "call-2",
            "success": True,
            "fixture_id": "fx.tide_table.today",
            "result": {"low": "Low tide at 09:12"},
        },
        {"type": "final_output", "role": "assistant", "content": ANSWER},
        {"type": "tool_call", "tool": "outbound_send", "call_id": "call-3", "args": {"content": ANSWER}},
        {
            "type": "tool_result",
            "tool": "outbound_send",
            "call_id": "call-3",
            "success": True,
            "fixture_id": "fx.outbound_send.success",
            "result": {"status": "sent"},
        },
    ],
    "final_output": {"role": "assistant", "content": ANSWER},
    "status": "success",
    "metrics": {"timing_ms_total": 2120, "retry_count": 1, "token_usage": None},
}
ELSEWHERE = "../../passing/timeout-recovery/replay.json"
SUITES: dict[str, dict[str, Files]] = {
    "passing": {
        "timeout-recovery/test.yaml": case(
            "scheduler.tides.timeout-recovery",
            *(CALLS, SENDS_ONCE, GROUNDED),
            tools={"available": ["tide_table", "outbound_send"], "fixtures": FIXTURES},
        ),
        "timeout-recovery/replay.json": BUNDLE,
        "short-id/test.yaml": case("tides.are-looked-up", CALLS, replay="../timeout-recovery/replay.json"),
    },
    "failing": {
        "duplicate-send/test.yaml": case("scheduler.tides.failing.duplicate-send", SENDS_ONCE),
        "duplicate-send/replay.json": {
            **BUNDLE,
            "script": [
                *BUNDLE["script"],
                {
                    "type": "tool_call",
                    "tool": "outbound_send",
                    "call_id": "call-4",
                    "args": {"content": ANSWER},
                },
            ],
        },
        "wrong-source/test.yaml": case(
            "tides.failing.claims-unsupported",
            {**GROUNDED, "params": {"allowed_sources": ["outbound_send"]}},
            replay=ELSEWHERE,
        ),
    },
    "broken": {
        "no-output/test.yaml": case("error.no-output", CALLS),
        "no-output/replay.json": {**BUNDLE, "script": BUNDLE["script"][:2], "final_output": None},
        "no-replay-file/test.yaml": case("error.no-replay-file", CALLS, adapter_input={}),
    },
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A git checkout with the three suites, and no file of ours."""
    (tmp_path / ".git").mkdir()
    for suite, files in SUITES.items():
        for name, content in files.items():
            path = tmp_path / "examples" / suite / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(content) if path.suffix == ".json" else yaml.safe_dump(content, sort_keys=False)
            path.write_text(text, encoding="utf-8")
    return tmp_path


Run = Callable[..., int]

PLACES = [".", "examples", "examples/{suite}", "examples/{suite}/{case}", ".."]
VERDICTS = {"passing": (0, "pass"), "failing": (1, "fail"), "broken": (2, "error")}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_runs_unchanged_from_anywhere(
    suite: str,
    place: str,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every test ends as its suite is called, and nothing is warned of."""
    (some_case,) = {path.split("/")[0] for path in list(SUITES[suite])[:1]}
    monkeypatch.chdir(checkout / place.format(suite=suite, case=some_case))
    target = checkout / "examples" / suite
    code, status = VERDICTS[suite]
    assert main(["run", str(target), "--json", "--no-artifacts"]) == code
    shown = capsys.readouterr()
    summary = json.loads(shown.out)
    assert [row["status"] for row in summary["tests"]] == [status] * 2
    assert (summary["counts"]["warnings"], summary["problems"]) == (0, [])
    assert "warning" not in shown.err


COUNT = {"type": "integer", "minimum": 0}
RESULT_OF_THE_SPEC = {
    "type": "object",
    "required": [
        *("schema_version", "result_id", "test_case_id", "test_run_id", "adapter", "status", "started_at"),
        *("finished_at", "duration_ms", "summary", "failure_categories", "assertions", "trace_summary"),
        *("evidence", "artifacts"),
    ],
    "properties": {
        "summary": {
            "required": [
                *("assertions_total", "assertions_passed", "assertions_failed", "assertions_warned"),
                *("assertions_skipped", "critical_failures"),
            ],
            "additionalProperties": COUNT,
        },
        "trace_summary": {
            "type": "object",
            "required": ["trace_id", "status", "tool_calls", "retry_count", "timing_ms_total"],
            "properties": {
                "trace_id": {"type": ["string", "null"]},
                "status": {"type": ["string", "null"]},
                "tool_calls": {
                    "type": "array",
                    "items": {
                        "required": ["tool", "count"],
                        "properties": {"tool": {"type": "string"}, "count": COUNT},
                    },
                },
                "retry_count": COUNT,
                "timing_ms_total": COUNT,
            },
        },
        "evidence": {"type": "object"},
        "artifacts": {"type": "object"},
    },
}


@pytest.mark.parametrize("suite", SUITES)
def test_results_and_traces_have_the_fields_of_the_spec(
    suite: str, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever became of the test; numbers have one name each."""
    monkeypatch.chdir(checkout)
    main(["run", f"examples/{suite}", "--run-id", "one"])
    results = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((checkout / "artifacts" / "one").glob("*.result.json"))
    ]
    assert len(results) == 2
    validator = Draft202012Validator(RESULT_OF_THE_SPEC)
    assert [error.message for each in results for error in validator.iter_errors(each)] == []
    for each in results:
        assert each["summary"].keys() - RESULT_OF_THE_SPEC["properties"]["summary"]["required"] == {  # type: ignore[index]
            "vacuous",
            "xfailed",
        }
        assert not each["trace_summary"].keys() & {"tools", "retries"}
        if trace := each["artifacts"]["trace"]:
            written = json.loads((checkout / "artifacts" / "one" / trace).read_text(encoding="utf-8"))
            assert (written["artifacts"], written["trace_id"]) == ({}, each["trace_summary"]["trace_id"])


def test_the_numbers_of_a_result(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What consumers of the SPEC read of a pass and of an error."""
    monkeypatch.chdir(checkout)
    main(["run", "examples", "--run-id", "one"])
    folder = checkout / "artifacts" / "one"
    passed = json.loads((folder / "nanoclaw.scheduler.tides.timeout-recovery.result.json").read_text())
    assert passed["summary"] == {
        "assertions_total": 3,
        "assertions_passed": 3,
        "assertions_failed": 0,
        "assertions_warned": 0,
        "assertions_skipped": 0,
        "critical_failures": 0,
        "vacuous": 0,
        "xfailed": 0,
    }
    assert passed["trace_summary"] == {
        "trace_id": "nanoclaw.scheduler.tides.timeout-recovery.trace",
        "status": "success",
        "tool_calls": [{"tool": "tide_table", "count": 2}, {"tool": "outbound_send", "count": 1}],
        "retry_count": 1,
        "timing_ms_total": 2120,
        "events": 7,
        "final_output": True,
        "notes": [],
    }
    broken = json.loads((folder / "nanoclaw.error.no-replay-file.result.json").read_text())
    assert (broken["trace_summary"]["trace_id"], broken["trace_summary"]["tool_calls"]) == (None, [])
    failed = json.loads((folder / "nanoclaw.scheduler.tides.failing.duplicate-send.result.json").read_text())
    assert (failed["summary"]["assertions_failed"], failed["summary"]["critical_failures"]) == (1, 1)


@pytest.mark.parametrize("metrics", [None, {}, {"token_usage": {"total_tokens": 7}}])
def test_a_recording_need_not_tell_how_long_it_took(
    metrics: dict[str, Any] | None, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is made of a time that nobody measured: no zero, no latency, no verdict on a limit."""
    monkeypatch.chdir(checkout)
    bundle = {**BUNDLE, "metrics": metrics} if metrics is not None else {**BUNDLE}
    if metrics is None:
        del bundle["metrics"]
    folder = checkout / "examples" / "passing" / "timeout-recovery"
    (folder / "replay.json").write_text(json.dumps(bundle), encoding="utf-8")
    limit = {"id": "quick", "type": "efficiency_within", "params": {"max_duration_ms": 1}}
    (folder / "test.yaml").write_text(yaml.safe_dump(case("tides.quick", CALLS, limit)), encoding="utf-8")
    assert main(["run", str(folder), "--run-id", "one"]) == 0
    written = checkout / "artifacts" / "one"
    result = json.loads((written / "nanoclaw.tides.quick.result.json").read_text(encoding="utf-8"))
    assert [each["status"] for each in result["assertions"]] == ["pass", "skip"]
    assert result["trace_summary"]["timing_ms_total"] is None
    assert "latencyMs" not in (written / "eval-summary.json").read_text(encoding="utf-8")
    assert main(["gate", "artifacts/one"]) == 0
    assert main(["mutate", str(folder), "--max", "20"]) == 0


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("place", [".", "suite", "suite/tides"])
@pytest.mark.parametrize("of_fixture", [False, True])
def test_a_recording_in_a_sibling_folder(
    place: str, marked: bool, of_fixture: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkout, or the folder that holds the suite, holds both, wherever the run starts; fixtures alike."""
    if marked:
        (tmp_path / ".git").mkdir()
    folder = tmp_path / "suite" / "tides"
    folder.mkdir(parents=True)
    (tmp_path / "shared").mkdir()
    script = [{**step} for step in BUNDLE["script"]]
    fixtures = FIXTURES
    if of_fixture:
        del script[3]["result"]
        fixtures = [FIXTURES[0], {**FIXTURES[1], "file": "../../shared/fx.json"}, FIXTURES[2]]
        (tmp_path / "shared" / "fx.json").write_text('{"low": "Low tide at 09:12"}', encoding="utf-8")
    (tmp_path / "shared" / "replay.json").write_text(
        json.dumps({**BUNDLE, "script": script}), encoding="utf-8"
    )
    spec = case(
        "tides.looked-up",
        *(CALLS, GROUNDED),
        replay="../../shared/replay.json",
        tools={"available": ["tide_table", "outbound_send"], "fixtures": fixtures},
    )
    (folder / "test.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    monkeypatch.chdir(tmp_path / place)
    assert main(["validate", str(folder)]) == 0
    assert main(["run", str(folder), "--no-artifacts"]) == 0


@pytest.mark.parametrize("place", ["checkout", "checkout/suite", "."])
def test_a_recording_outside_the_checkout_is_refused(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From wherever the run starts, even from a folder that holds both."""
    folder = tmp_path / "checkout" / "suite" / "tides"
    folder.mkdir(parents=True)
    (tmp_path / "checkout" / ".git").mkdir()
    (tmp_path / "replay.json").write_text(json.dumps(BUNDLE), encoding="utf-8")
    spec = case("tides.looked-up", CALLS, replay="../../../replay.json")
    (folder / "test.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    monkeypatch.chdir(tmp_path / place)
    assert main(["run", str(folder), "--no-artifacts"]) == 2
    assert "adapter.outside_root" in capsys.readouterr().out
    assert main(["run", str(folder), "--no-artifacts", "--allow-outside"]) == 0
