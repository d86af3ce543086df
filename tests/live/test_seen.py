"""A recording that lacks what went through the proxy is no verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.trace import Trace
from agenteval.live.run import LiveAgent
from agenteval.live.sandbox import Sandbox
from agenteval.live.seen import SeenCalls
from agenteval.live.wires import WIRES, results_in
from builders import call, make_trace, result
from live_projects import AGENT, LiveProject, needs_sandbox, tool_use

NAMES = LiveAgent(sandbox=Sandbox(command=[], socket=Path())).names


def blocks(*tools: str) -> list[dict[str, Any]]:
    """A turn that calls these tools; their ids are numbers from 0."""
    return [
        {"type": "tool_use", "id": str(n), "name": tool, "input": {"n": n}} for n, tool in enumerate(tools)
    ]


def answers(api: str, *ids: str) -> dict[str, Any]:
    """A request with results for calls."""
    if api == "messages":
        sent = [{"type": "tool_result", "tool_use_id": each, "content": "done"} for each in ids]
        return {"messages": [{"role": "user", "content": sent}]}
    if api == "responses":
        return {
            "input": [{"type": "function_call_output", "call_id": each, "output": "done"} for each in ids]
        }
    return {"messages": [{"role": "tool", "tool_call_id": each, "content": "done"} for each in ids]}


def seen(api: str, turns: list[list[dict[str, Any]]], *requests: dict[str, Any]) -> SeenCalls:
    """What the proxy saw of turns, and of requests with results."""
    wire, found = WIRES[api], SeenCalls()
    for number, turn in enumerate(turns):
        found.learn_calls(wire.calls(wire.message(number, "m", turn)))
    for request in requests:
        found.learn_results(results_in(wire.turns(request)))
    return found


def recorded(*tools: str) -> Trace:
    """A trace that has these calls, each with a result and its number as its id."""
    events = [
        each for n, tool in enumerate(tools) for each in (call(tool, str(n)), result(tool, call_id=str(n)))
    ]
    return make_trace(*events)


@pytest.mark.parametrize("api", WIRES)
def test_a_call_whose_result_was_sent_has_to_be_recorded(api: str) -> None:
    """In each wire format; parallel calls one by one."""
    proxy = seen(api, [blocks("lookup", "delete_all")], answers(api, "0", "1"))
    assert proxy.lacking(recorded("lookup", "delete_all"), NAMES) == []
    assert proxy.lacking(recorded("lookup"), NAMES) == ['the call of delete_all with {"n": 1}']
    assert len(proxy.lacking(make_trace(), NAMES)) == 2


TWICE = answers("messages", "0", "1"), answers("messages", "0", "1")
LACKING = {
    "one of two calls of a tool": (seen("messages", [blocks("a", "a")], *TWICE), recorded("a"), 1),
    "another tool under the id": (seen("messages", [blocks("delete_all")], *TWICE), recorded("lookup"), 1),
    "the result": (seen("messages", [blocks("a")], *TWICE), make_trace(call("a", "0")), 1),
    "the same id in each turn": (
        seen("messages", [blocks("a"), blocks("a")], answers("messages", "0", "0")),
        recorded("a"),
        1,
    ),
    "nothing, results are in each request after": (seen("messages", [blocks("a")], *TWICE), recorded("a"), 0),
    "nothing, a request made twice": (
        seen("messages", [[{**blocks("a")[0], "id": "lost"}], blocks("a")], answers("messages", "0")),
        recorded("a"),
        0,
    ),
    "nothing, a result that was never sent": (seen("messages", [blocks("a")]), make_trace(), 0),
    "nothing, a call of before the run": (seen("messages", [], *TWICE), make_trace(), 0),
    "nothing, without the server": (
        seen("messages", [blocks("mcp__shop__lookup")], *TWICE),
        recorded("lookup"),
        0,
    ),
    "nothing, with a server": (
        seen("messages", [blocks("lookup")], *TWICE),
        recorded("mcp__shop__lookup"),
        0,
    ),
    "nothing, in small letters": (seen("messages", [blocks("WebSearch")], *TWICE), recorded("web_search"), 0),
    "nothing, as no service allows": (seen("messages", [blocks("shop_lookup")], *TWICE), recorded("shop.lookup"), 0),
    "an author's tool with a harness's name": (seen("messages", [blocks("Task")], *TWICE), make_trace(), 1),
    "nothing, to another agent": (seen("messages", [blocks("transfer_to_billing")], *TWICE), make_trace(), 0),
}  # fmt: skip


@pytest.mark.parametrize("what", LACKING)
def test_what_a_recording_lacks(what: str) -> None:
    """Each call once, whatever it is called; nothing that need not be recorded."""
    proxy, trace, number = LACKING[what]
    assert len(proxy.lacking(trace, NAMES)) == number


def test_tools_of_a_harness_need_not_be_recorded() -> None:
    """Where there is one."""
    proxy = seen("messages", [blocks("TodoWrite")], answers("messages", "0"))
    assert proxy.lacking(make_trace(), NAMES, has_harness=True) == []


def test_a_call_that_the_harness_began_counts_and_spans_need_no_results() -> None:
    """A hook saw it; what a span has of a result is a matter of settings."""
    proxy = seen("messages", [blocks("a", "b")], answers("messages", "1"))
    trace = make_trace(call("b", "1"))
    assert proxy.lacking(trace, NAMES, begun={"0"}, has_results=False) == ['the call of a with {"n": 0}']


HIDES = {
    "replay.json": ([], 'script = [s for s in script if s["tool"] != "delete_all"]; '),
    "results": ([], 'script = [s for s in script if s["type"] != "tool_result"]; '),
    "renamed": ([], '[s.update(tool="lookup") for s in script if s["tool"] == "delete_all"]; '),
    "spans": (["SPANS"], ""),
}


@needs_sandbox
@pytest.mark.parametrize("how", HIDES)
def test_a_recorder_that_lost_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """`must_not_call_tool` judges nothing then."""
    monkeypatch.chdir(tmp_path)
    word, code = HIDES[how]
    project = LiveProject(tmp_path, monkeypatch, words=["HOOKED", *word])
    text = AGENT.read_text(encoding="utf-8").replace("said = ", f"{code}said = ")
    ids = {"traceId": "a" * 32, "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    named = [("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", "lookup")]
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in named]
    span = {**ids, "spanId": "b" * 16, "name": "execute_tool lookup", "attributes": attributes}
    project.write("spans.json", json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    project.write("agent.py", text)
    project.track()
    turns = [[*tool_use("lookup", order="42"), *tool_use("delete_all")], "It ships tomorrow."]
    project.write("evals/order/turns.yaml", json.dumps(turns))
    never = [{"id": "never", "type": "must_not_call_tool", "params": {"tool": "delete_all"}}]
    tools = {"available": ["lookup", "delete_all"]}
    project.test(
        assertions=never, tools=tools, live={"script": "turns.yaml", "run_tools": ["lookup", "delete_all"]}
    )
    run = project.live()
    error = run.only_result()["error"]
    assert (run.exit_code, error["reason_code"]) == (2, "live.recording_incomplete"), error
    assert error["message"].startswith("the recording that the agent left lacks the ")
