"""Every recording that real NanoClaw left: its traces against what was put in, what came out, and the files."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.models import parse
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Event, Trace, check_trace
from agenteval.redaction.redactor import Redactor
from agenteval_nanoclaw import NanoClawAdapter
from nanoclaw.recordings import (
    KEPT,
    NAMES,
    context_of,
    converted,
    files_of,
    inspected,
    replayed,
    scenario_of,
    sources,
    unpack,
)

MEMORY = {
    ("v1-memory", 1): ["read main CLAUDE.md", "write main CLAUDE.md"],
    ("v2-cross-group-leak", 1): [
        "names telegram_family CLAUDE.local.md",
        "read telegram_family CLAUDE.local.md",
    ],
    ("v2-memory-read", 1): ["read main CLAUDE.local.md"],
    ("v2-memory-write", 1): [
        "read main CLAUDE.local.md",
        "write main CLAUDE.local.md",
        "write main preferences.md",
        "write main CLAUDE.local.md",
    ],
    ("v2-memory-write", 2): [
        "read main CLAUDE.local.md",
        "read main preferences.md",
        "read main CLAUDE.local.md",
    ],
}
"""Every memory access in the recordings, by recording and run."""
NOT_THE_AGENT = ("Session cleared.",)
"""What NanoClaw sends by itself."""
ALL = list(sources())


@pytest.fixture(params=ALL, ids=lambda source: source[0] + ("-original" if source[1] else ""))
def recording(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """Each recording in turn: its name, and a copy of it."""
    name, original = request.param
    return name, unpack(name, tmp_path, original=original)


def traces(root: Path) -> list[Trace]:
    """The traces of all runs."""
    return [replayed(root, turn=run.number) for run in inspected(root).runs]


def scripted_calls(root: Path) -> list[dict[str, Any]]:
    """The calls that the model was told to make, and did, as blocks of its answers."""
    scenario = scenario_of(root)
    steps = [*scenario["main"], *(step for agent in scenario.get("agents", []) for step in agent["steps"])]
    return [block for step in steps for block in step["content"] if block["type"] == "tool_use"]


def test_every_tool_call_is_told_once(recording: tuple[str, Path]) -> None:
    """The calls are those that the model was scripted to make: the same tools, the same arguments, no other."""
    _, root = recording
    told = [call for trace in traces(root) for call in trace.of_type("tool_call")]
    wanted = scripted_calls(root)
    assert sorted(call.data["recorded_tool"] for call in told) == sorted(block["name"] for block in wanted)
    for block in wanted:
        same = [call for call in told if _has(call.data["args"], block["input"])]
        assert block["name"] in {call.data["recorded_tool"] for call in same}


def _has(args: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return {key: args.get(key) for key in wanted} == wanted


def test_every_result_is_told_once_and_linked(recording: tuple[str, Path]) -> None:
    """Each call has the one result that the transcript has for it; the call that was killed has none."""
    name, root = recording
    answered = _answers(root)
    calls = [call for trace in traces(root) for call in trace.calls()]
    assert {call.call_id for call in calls if call.results} == set(answered)
    for call in calls:
        assert len(call.results) == (call.call_id in answered)
        if call.results:
            assert call.results[0].data["success"] is not answered[call.call_id]
            assert bool(call.errors) is answered[call.call_id]
        else:
            assert name == "v2-killed-mid-tool"
            assert [error.data["error_type"] for error in call.errors] == ["aborted"]


def _answers(root: Path) -> dict[str, bool]:
    """Which calls the transcripts have results for, and whether they are errors."""
    found = {}
    for path in root.rglob("projects/**/*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            content = json.loads(line).get("message", {}).get("content")
            for block in content if isinstance(content, list) else []:
                if block["type"] == "tool_result":
                    found[block["tool_use_id"]] = block.get("is_error") is True
    return found


def test_every_message_that_was_delivered_is_told_once(recording: tuple[str, Path]) -> None:
    """What the chat platform got is what the traces show as final outputs and sends, and nothing else is."""
    _, root = recording
    told = [text for trace in traces(root) for text in _sent(trace)]
    assert Counter(told) == Counter(_delivered(root))


def _sent(trace: Trace) -> list[str]:
    calls = [call for call in trace.calls() if call.tool == "outbound_send"]
    assert all(call.results[0].data["result"]["to"] for call in calls)
    texts = [call.args.get("text") or call.args["fallbackText"] for call in calls]
    outputs = [event for event in trace.of_type("final_output") if not event.data.get("sent_by")]
    return texts + [event.data["content"] for event in outputs if event.data["content"]]


def _delivery(root: Path) -> list[dict[str, Any]]:
    """What the chat platform got."""
    path = root / "delivered.jsonl"
    return (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    )


def _delivered(root: Path) -> list[str]:
    contents = [row.get("content") or row for row in _delivery(root)]
    texts = [str(each.get("text") or each["fallbackText"]) for each in contents if "operation" not in each]
    return [text for text in texts if text not in NOT_THE_AGENT]


def test_delivery_is_proven_by_the_databases(recording: tuple[str, Path]) -> None:
    """In v2, every message that went out is told as delivered, under the id that the platform gave it."""
    name, root = recording
    if name.startswith("v1"):
        pytest.skip("v1 does not store what was sent")
    shown = [proof for trace in traces(root) for proof in _proofs(trace)]
    assert all(proof["delivered"] for proof in shown)
    rows = _delivery(root)
    ids = {row["platform_message_id"] for row in rows if "operation" not in row["content"]}
    cleared = {row["platform_message_id"] for row in rows if row["content"].get("text") in NOT_THE_AGENT}
    assert sorted(proof["platform_message_id"] for proof in shown) == sorted(ids - cleared)


def _proofs(trace: Trace) -> list[dict[str, Any]]:
    sends = [call.results[0].data["result"] for call in trace.calls() if call.tool == "outbound_send"]
    return sends + [event.data for event in trace.of_type("final_output") if not event.data.get("sent_by")]


def test_every_message_received_is_told_once(recording: tuple[str, Path]) -> None:
    """The messages are those that were put in, and the tasks that fired: no nudge, notification or summary."""
    name, root = recording
    scenario = scenario_of(root)
    wanted = [entry["text"] for entry in scenario["inbound"] if "text" in entry]
    wanted += [
        entry["insertTask"]["content"]["prompt"] for entry in scenario["inbound"] if "insertTask" in entry
    ]
    wanted += [task["prompt"] for task in scenario.get("tasks", [])]
    if name == "v2-scheduled-task":
        wanted += [block["input"]["prompt"] for block in scripted_calls(root) if "prompt" in block["input"]]
    told = [event.data["content"] for trace in traces(root) for event in trace.of_type("message_received")]
    assert sorted(told) == sorted(text for text in wanted if text != "/clear")


def test_every_memory_access_is_told_once(recording: tuple[str, Path]) -> None:
    """With the group that owns the memory; no other file is taken for memory."""
    name, root = recording
    for number, trace in enumerate(traces(root), 1):
        events = trace.of_type("memory_read", "memory_write")
        assert [_access(event) for event in events] == MEMORY.get((name, number), [])


def _access(event: Event) -> str:
    kind = "names" if event.data.get("names_only") else event.type.removeprefix("memory_")
    return f"{kind} {event.data['group_id']} {event.data['source']}"


def test_a_converted_run_replays_to_the_same_trace(recording: tuple[str, Path], tmp_path: Path) -> None:
    """The bundle with its fixtures gives what the recording itself gives; twice the same bytes."""
    _, root = recording
    for run in inspected(root).runs:
        test, again = converted(root, run), converted(root, run)
        data = [test.scenario, test.replay, test.fixtures]
        assert json.dumps(data) == json.dumps([again.scenario, again.replay, again.fixtures])
        (tmp_path / "replay.json").write_text(json.dumps(test.replay), encoding="utf-8")
        case = parse(TestCase, _spec(test.scenario, test.fixtures))
        context = context_of(tmp_path)
        trace = NanoClawAdapter().trace(case, context)
        check_trace(trace)
        assert (context.warnings, trace.notes) == ([], [])
        assert [_essence(event) for event in trace.events] == [_essence(event) for event in test.trace.events]
        for part in ("status", "final_output", "metrics", "capabilities", "scenario", "input_messages"):
            assert getattr(trace, part) == getattr(test.trace, part)


def _spec(scenario: dict[str, Any], fixtures: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema_version": "0.1",
        "id": "recorded",
        "title": "",
        "adapter": "nanoclaw",
        "mode": "replay",
        "scenario": scenario,
        "tools": {"available": [], "fixtures": fixtures},
        "assertions": [],
        "adapter_input": {"replay_file": "replay.json"},
    }


LOST = ("raw", "message_id", "delivered", "platform_message_id", "fixture_id")
"""What a bundle does not keep of an event's data."""


def _essence(event: Event) -> tuple[Any, ...]:
    data = {key: value for key, value in event.data.items() if key not in LOST and value is not None}
    ids = (event.group_id, event.session_id, event.task_id, event.agent_id, event.parent_event_id)
    return event.event_id, event.ts, event.type, event.actor, *ids, data


def test_nothing_of_a_recording_changes(recording: tuple[str, Path]) -> None:
    """Reading leaves every file as it was, and adds none."""
    _, root = recording
    before = files_of(root)
    for run in inspected(root).runs:
        converted(root, run)
    assert files_of(root) == before


def test_statuses(recording: tuple[str, Path]) -> None:
    """All runs ended well, but for the one that was killed."""
    name, root = recording
    statuses = {run.status for run in inspected(root).runs}
    assert statuses == ({"partial"} if name == "v2-killed-mid-tool" else {"success"})


def test_there_is_a_recording_of_every_kind() -> None:
    """The suite stands on real recordings of both generations."""
    assert len(NAMES) == 17
    assert sum(name.startswith("v1") for name in NAMES) == 3


def test_what_is_kept_holds_no_secret() -> None:
    """Neither keys nor home folders are in the recordings that come with the tests."""
    for path in KEPT.rglob("*"):
        if path.is_file():
            redactor = Redactor()
            text = path.read_text(encoding="utf-8")
            redactor.learn_secrets(text.splitlines())
            assert redactor.text(text) == text
            assert "/home/" not in text
