"""Spans that real instrumentations wrote of one scenario, in their own conventions (see tests/data/otel)."""

import json
import re
from pathlib import Path

import pytest

from agenteval.cli import main
from agenteval.contracts.trace import Trace
from agenteval_otel.recorder import OtelRecorder
from agenteval_otel.runs import Run, runs_of
from agenteval_otel.spans import read_spans
from otel.spans import context_of, trace_of

ROOT = Path(__file__).parents[2]
MARKET = ROOT / "tests" / "data" / "otel"
ASKED = "Is stall 14 free on Saturday, and what does it cost?"
ANSWER = "Stall 14 is free on Saturday and costs 38 EUR."
PRICE = {"stall": 14, "day": "Saturday"}
BASH = [
    {"command": "cat stall-14.json", "description": "Is stall 14 free"},
    {"command": "cat price-14.json", "description": "What stall 14 costs"},
    {"command": "cat prices/14.json", "description": "What stall 14 costs"},
]

TOLD = ("arguments", "results", "messages", "errors", "agents", "tokens")


def read(name: str) -> tuple[Run, Trace]:
    """The one run in a file, and its trace."""
    path = MARKET / f"{name}.jsonl"
    (run,) = runs_of(read_spans(path, max_bytes=10**6))
    return run, trace_of(path)


def rows() -> list[tuple[str, dict[str, bool]]]:
    """The table of docs/otel.md: the name of a file here, and what its row says that it tells."""
    text = (ROOT / "docs" / "otel.md").read_text(encoding="utf-8")
    table = text[text.index("| convention |") :].partition("\n\n")[0].splitlines()
    found = []
    for line in table[2:]:
        _, _, lacks, _, names = (cell.strip() for cell in line.strip("|").split("|"))
        tells = {each: each not in lacks.split(", ") for each in TOLD}
        found += [(name, tells) for name in re.findall(r"`([a-z0-9-]+)`", names)]
    return found


@pytest.mark.parametrize(("name", "tells"), rows(), ids=lambda given: given if isinstance(given, str) else "")
def test_what_a_convention_tells(name: str, tells: dict[str, bool]) -> None:
    """Each row of the table in the documentation, on spans that the instrumentation wrote."""
    run, trace = read(name)
    calls = trace.calls()
    assert {
        "arguments": all(call.shows_arguments for call in calls),
        "results": all(call.results[0].data["result"] is not None for call in calls if call.succeeded),
        "messages": [each.content for each in trace.input_messages] == [ASKED]
        and trace.output.strip() == ANSWER,
        "errors": any(call.failed for call in calls),
        "agents": any("gen_ai.agent.name" in span.attributes for span in run.agents),
        "tokens": "total_tokens" in (trace.metrics.token_usage or {}),
    } == tells
    assert trace.status == "success"
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == []
    assert len(calls) == (2 if "detailed" in name else 3)


def test_every_file_of_spans_has_its_row() -> None:
    """None is there that no test reads."""
    assert sorted(name for name, _ in rows()) == sorted(path.stem for path in MARKET.glob("*.jsonl"))


@pytest.mark.parametrize("name", [name for name, _ in rows() if not name.startswith("claude")])
def test_the_calls_of_the_scenario(name: str) -> None:
    """Each once, whatever tells of it, with arguments, and the outcome as far as the convention tells it."""
    _, trace = read(name)
    expected = [("find_stall", {"stall": 14}), ("price_of", PRICE), ("price_of", PRICE)]
    if name == "openinference-handoff":
        expected[0] = ("transfer_to_price_list", None)
    assert [(call.tool, call.event.data["args"]) for call in trace.calls()] == expected
    last = trace.calls()[-1].results[0].data["result"]
    assert last in ({"stall": 14, "eur": 38}, {"result": '{"stall": 14, "eur": 38}'})


@pytest.mark.parametrize("name", ["claude-code", "claude-code-logs"])
def test_claude_code_by_its_spans_and_by_its_log_events(name: str) -> None:
    """Log events tell the arguments and the answer, which its spans leave out; alone they tell no results."""
    _, trace = read(name)
    assert [(call.tool, call.args) for call in trace.calls()] == [("Bash", args) for args in BASH]
    (failed,) = (call for call in trace.calls() if call.failed)
    assert failed.args == BASH[1]
    assert failed.errors[0].data["error_type"] == "ShellError"
    assert failed.errors[0].data["message"] == "Shell command failed"


def test_claude_code_by_its_spans_alone(tmp_path: Path) -> None:
    """That a call failed is told by the span of its execution; its arguments and the answer are not told."""
    lines = (MARKET / "claude-code.jsonl").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(line for line in lines if "resourceSpans" in line), encoding="utf-8")
    trace = trace_of(path)
    assert [(call.tool, call.event.data["args"], call.failed) for call in trace.calls()] == [
        ("Bash", None, False),
        ("Bash", None, True),
        ("Bash", None, False),
    ]
    assert trace.calls()[1].errors[0].data["message"] == "Shell command failed"
    assert (trace.input_messages[0].content, trace.final_output, trace.status) == (ASKED, None, "partial")


def test_a_subagent_of_claude_code() -> None:
    """What is within the execution of the tool that started it is the subagent's."""
    _, trace = read("claude-code-detailed")
    assert [(call.tool, call.event.agent_id) for call in trace.calls()] == [
        ("Agent", "main"),
        ("Bash", "general-purpose"),
    ]


def test_a_call_of_claude_code_that_was_not_allowed(tmp_path: Path) -> None:
    """It is a call all the same, and failed."""
    lines = (MARKET / "claude-code-logs.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    for document in documents:
        for scope in document["resourceLogs"][0]["scopeLogs"]:
            for log in scope["logRecords"]:
                for each in log["attributes"]:
                    if each["key"] == "decision":
                        each["value"] = {"stringValue": "reject"}
            scope["logRecords"] = [log for log in scope["logRecords"] if "tool_result" not in json.dumps(log)]
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    trace = trace_of(path)
    assert [(call.tool, call.failed, call.errors[0].data["message"]) for call in trace.calls()] == [
        ("Bash", True, "rejected")
    ] * 3


TEST = """\
schema_version: "0.1"
id: otel.market.{name}
title: What the agent of the market hall did
adapter: otel
mode: replay
scenario:
  group_id: market
  trigger: user_message
  input_messages: [{{ role: user, content: "{asked}" }}]
tools: {{ available: [find_stall, price_of, delete_stall] }}
assertions:
  - {{ id: looked-up, type: must_call_tool, params: {{ tool: find_stall, args: {{ args_equal: {{ stall: 14 }} }} }} }}
  - {{ id: never, type: must_not_call_tool, params: {{ tool: delete_stall }} }}
  - {{ id: forbidden, type: must_not_call_tool, params: {{ tool: price_of }} }}
  - {{ id: order, type: tool_call_order, params: {{ before: {{ tool: find_stall }}, after: {{ tool: price_of }} }} }}
  - {{ id: retried, type: retry_policy_respected, params: {{ tool: price_of, max_retries: 1 }} }}
  - {{ id: retried-never, type: retry_policy_respected, params: {{ tool: price_of, max_retries: 0 }} }}
  - {{ id: few, type: max_tool_calls, params: {{ max_total: 3 }} }}
  - {{ id: fewer, type: max_tool_calls, params: {{ max_total: 2 }} }}
  - {{ id: said-free, type: output_contains, params: {{ all_of: [free on Saturday, 38 EUR] }} }}
  - {{ id: supported, type: claims_supported_by_fixtures, params: {{ check: [numbers], min_support: 1.0 }} }}
  - {{ id: spent, type: efficiency_within, params: {{ max_total_tokens: 365 }} }}
adapter_input: {{ replay_file: spans.jsonl }}
"""
SAME = (
    "google-adk",
    "langsmith",
    "mixed",
    "openinference-anthropic",
    "openinference-langchain",
    "openinference-openai-agents",
    "openllmetry",
    "openllmetry-anthropic",
    "pydantic-ai-1",
    "pydantic-ai-2",
    "strands",
    "vercel-ai-5",
    "vercel-ai-6",
)
"""The conventions, and mixtures, that tell all that the test asks."""


def test_one_scenario_gives_the_same_verdicts_in_every_convention(tmp_path: Path) -> None:
    """Those that pass and those that fail; only the conventions differ."""
    for name in SAME:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "spans.jsonl").write_bytes((MARKET / f"{name}.jsonl").read_bytes())
        (folder / "test.yaml").write_text(TEST.format(name=name, asked=ASKED), encoding="utf-8")
    runs = tmp_path / "runs"
    assert main(["run", str(tmp_path), "--artifacts-dir", str(runs), "-q"]) == 1
    results = [json.loads(path.read_text(encoding="utf-8")) for path in runs.glob("*/*.result.json")]
    verdicts = {
        result["test_case_id"].rpartition(".")[2]: {
            each["id"]: each["status"] for each in result["assertions"]
        }
        for result in results
    }
    failing = {"forbidden", "retried-never", "fewer", "spent"}
    ids = re.findall(r"id: ([a-z-]+), type", TEST)
    assert verdicts == {name: {each: "fail" if each in failing else "pass" for each in ids} for name in SAME}


def test_a_call_that_two_instrumentations_tell_of_is_one() -> None:
    """OpenInference and the current conventions, of the same agent in one trace."""
    run, trace = read("mixed")
    told = [span for span in run.spans if span.attributes["gen_ai.operation.name"] == "execute_tool"]
    assert len({span.scope for span in told}) == 2
    assert (len(told), len(trace.calls())) == (6, 3)
    assert trace.metrics.token_usage == {"input_tokens": 306, "output_tokens": 60, "total_tokens": 366}


@pytest.mark.parametrize("name", [name for name, _ in rows()])
def test_a_recorded_run_replays_as_it_was(name: str, tmp_path: Path) -> None:
    """The test that is made of it holds the run in the words of the conventions, without instructions."""
    path = MARKET / f"{name}.jsonl"
    recorder = OtelRecorder()
    (run,) = recorder.inspect(path, context_of(MARKET)).runs
    made = recorder.convert(path, run, context_of(MARKET))
    (tmp_path / "replay.json").write_text(json.dumps(made.replay), encoding="utf-8")
    assert "You answer questions" not in json.dumps(made.replay)
    again = trace_of(tmp_path / "replay.json")
    assert [(event.ts, event.type, event.data, event.agent_id) for event in again.events] == [
        (event.ts, event.type, event.data, event.agent_id) for event in made.trace.events
    ]
    assert (again.notes, again.status, again.metrics.token_usage) == (
        made.trace.notes,
        made.trace.status,
        made.trace.metrics.token_usage,
    )


def test_a_call_of_claude_code_of_which_only_a_log_event_tells(tmp_path: Path) -> None:
    """Its span is lost: the call is not seen, and not silent."""
    lines = (MARKET / "claude-code.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    for document in documents:
        for group in document.get("resourceSpans", ()):
            for scope in group["scopeSpans"]:
                scope["spans"] = [each for each in scope["spans"] if ".tool" not in each["name"]]
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    trace = trace_of(path)
    assert trace.calls() == []
    assert "tool_result of com.anthropic.claude_code" in trace.unseen[0]
