"""An agent that leaves its standard output alone is judged by the calls and results that went through the proxy."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.live.seen import SeenCalls
from agenteval.live.wires import WIRES, results_in
from live_projects import LiveProject, needs_sandbox, tool_use
from runs import Run

AGENT = Path(__file__).parents[1] / "data" / "live" / "wire_agent.py"
APIS = ["messages", "chat", "responses"]
TURNS = [[*tool_use("lookup", order="42"), *tool_use("lookup", order="43")], "Your order 42 ships tomorrow."]
ASSERTIONS = [
    {"id": "args", "type": "must_call_tool", "params": {"tool": "lookup", "args": {"args_equal": {"order": "42"}}}},
    {"id": "never", "type": "must_not_call_tool", "params": {"tool": "delete_all"}},
    {"id": "tells", "type": "output_contains", "params": {"all_of": ["tomorrow"]}},
    {"id": "grounded", "type": "claims_supported_by_fixtures", "params": {}},
]  # fmt: skip


def run(root: Path, monkeypatch: pytest.MonkeyPatch, *words: str, turns: Any = TURNS) -> Run:
    """A run of the agent with these words, against hand-written turns."""
    monkeypatch.chdir(root)
    project = LiveProject(root, monkeypatch, words=words)
    project.write("agent.py", AGENT.read_text(encoding="utf-8"))
    project.write("evals/order/turns.yaml", json.dumps(turns))
    tools = {"available": ["lookup", "delete_all"]}
    project.test(assertions=ASSERTIONS, tools=tools, live={"script": "turns.yaml", "run_tools": ["lookup"]})
    project.track()
    return project.live("--save-traces")


def steps(run: Run) -> list[tuple[Any, ...]]:
    """The calls with their arguments, and the results with their success."""
    events = json.loads((run.folder / "command.order.lookup.once.trace.json").read_text())["events"]
    found: list[tuple[Any, ...]] = []
    for event in events:
        data = event["data"]
        if event["type"] == "tool_call":
            found.append((data["call_id"], data["args"]["order"]))
        elif event["type"] == "tool_result":
            found.append((data["call_id"], data["success"], data["result"]))
    return found


FIRST, SECOND = "toolu_script_1_0", "toolu_script_1_1"
CALLS = [(FIRST, "42"), (SECOND, "43")]
RESULTS = [(FIRST, True, "order 42: ships tomorrow"), (SECOND, True, "order 43: ships tomorrow")]


@needs_sandbox
@pytest.mark.parametrize("words", [(), ("STREAM",), ("RAISES",), ("STORED",)], ids=" ".join)
@pytest.mark.parametrize("api", APIS)
def test_all_assertions_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str, words: tuple[str, ...]
) -> None:
    """In each wire format, streamed or not: calls, arguments, results and failures, in their order."""
    made = run(tmp_path, monkeypatch, api, *words)
    result = made.only_result()
    assert [each["status"] for each in result["assertions"]] == ["pass"] * 4, result["assertions"]
    assert all(each["exercised"] for each in result["assertions"])
    assert result["live"]["provenance"]["source"] == "wire"
    failed = (SECOND, False, "An error occurred while running the tool: no order")
    assert steps(made) == [*CALLS, RESULTS[0], failed if words == ("RAISES",) else RESULTS[1]]


@needs_sandbox
@pytest.mark.parametrize("api", APIS)
def test_a_call_that_ends_the_run_is_a_call_without_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str
) -> None:
    """No further request shows what came of it."""
    made = run(tmp_path, monkeypatch, api, "LAST", turns=[*TURNS[:1]])
    assert steps(made) == CALLS


def seen(*requests: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> SeenCalls:
    """The proxy's view of requests in chat completions, each with its messages and the blocks of its answer."""
    wire, made = WIRES["chat completions"], SeenCalls()
    for number, (messages, blocks) in enumerate(requests):
        body = {"messages": messages}
        made.learn_results(results_in(wire.turns(body)))
        made.learn_texts(wire.turns(body))
        made.learn_calls(wire.calls(wire.message(number, "m", blocks)), json.dumps(messages))
    return made


def call(call_id: str, tool: str = "lookup", order: str = "42") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": {"order": order}}


def answered(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def listed(*ids: str) -> dict[str, Any]:
    """A message in which smolagents lists calls."""
    return {"role": "assistant", "content": f"Calling tools:\n{[{'id': each} for each in ids]}"}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


ASKED = [user("Where is it?")]
RAISED = (
    "Error:\nError executing tool 'lookup' with arguments {'order': '9'}: ValueError: none\nNow let's retry"
)
SHOWN: dict[str, tuple[SeenCalls, list[tuple[Any, ...]]]] = {
    "a request made again, with other ids": (
        seen((ASKED, [call("a1")]), (ASKED, [call("b1")]), ([*ASKED, answered("b1", "x")], [])),
        [("b1", "call"), ("b1", True, "x")],
    ),
    "a request made again, with the same ids": (
        seen((ASKED, [call("a1")]), (ASKED, [call("a1")]), ([*ASKED, answered("a1", "x")], [])),
        [("a1", "call"), ("a1", True, "x")],
    ),
    "the same ids in each turn": (
        seen(
            (ASKED, [call("0")]),
            ([*ASKED, answered("0", "x")], [call("0", order="43")]),
            ([*ASKED, answered("0", "x"), answered("0", "y")], []),
        ),
        [("0", "call"), ("0", True, "x"), ("0#2", "call"), ("0#2", True, "y")],
    ),
    "a result that is shortened later": (
        seen((ASKED, [call("a1")]), ([*ASKED, answered("a1", "long")], []), ([*ASKED, answered("a1", "…")], [])),
        [("a1", "call"), ("a1", True, "long")],
    ),
    "a call of before the run": (seen(([*ASKED, answered("old", "x")], [])), []),
    "an answer by a tool": (seen((ASKED, [call("a1", "final_answer")])), []),
    "a result in a plain message": (
        seen((ASKED, [call("call_1234")]), ([*ASKED, listed("call_1234"), user("Observation:\nx")], [])),
        [("call_1234", "call"), ("call_1234", True, "Observation:\nx")],
    ),
    "an error in a plain message that names no id": (
        seen(
            (ASKED, [call("call_1234")]),
            ([*ASKED, listed("call_1234"), user("Observation:\nx")], [call("call_5678")]),
            ([*ASKED, listed("call_1234"), user(f"Observation:\nx\n{RAISED}")], []),
        ),
        [
            *[("call_1234", "call"), ("call_1234", True, "Observation:\nx"), ("call_5678", "call")],
            ("call_5678", False, RAISED.splitlines()[1]),
        ],
    ),
    "a short id in a text by chance": (
        seen((ASKED, [call("1")]), ([*ASKED, {"role": "assistant", "content": "1 moment"}, user("?")], [])),
        [("1", "call")],
    ),
    "a failure by LangGraph": (
        seen((ASKED, [call("a1")]), ([*ASKED, answered("a1", "Error: no\n Please fix your mistakes.")], [])),
        [("a1", "call"), ("a1", False, "Error: no\n Please fix your mistakes.")],
    ),
    "a tool's own words on an error": (
        seen((ASKED, [call("a1")]), ([*ASKED, answered("a1", "Error: the log has 2 errors")], [])),
        [("a1", "call"), ("a1", True, "Error: the log has 2 errors")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SHOWN)
def test_what_requests_show(what: str) -> None:
    """Each call once, with the result that the model was sent first."""
    proxy, expected = SHOWN[what]
    script = proxy.script(lambda tool: (tool,))
    assert [
        (each["call_id"], "call")
        if each["type"] == "tool_call"
        else (each["call_id"], each.get("success", True), each["result"])
        for each in script
    ] == expected
    assert not proxy.unclear


def test_results_in_one_text_are_not_told_apart() -> None:
    """The trace says so: what depends on it is not judged."""
    ids = ("call_1234", "call_5678")
    proxy = seen((ASKED, [*map(call, ids)]), ([*ASKED, listed(*ids), user("Observation:\nx\ny")], []))
    assert list(proxy.unclear) == [
        "which of the calls of lookup, lookup had which result: they are in one text"
    ]


@needs_sandbox
def test_an_agent_that_offers_no_tools_has_no_tool_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may call them by what the model writes, so `must_not_call_tool` proves nothing."""
    monkeypatch.chdir(tmp_path)
    project = LiveProject(tmp_path, monkeypatch, words=["messages"])
    project.write("agent.py", AGENT.read_text(encoding="utf-8").replace('"tools": [TOOLS[API]], ', ""))
    project.write("evals/order/turns.yaml", json.dumps(TURNS[1:]))
    project.test(assertions=ASSERTIONS[1:3], live={"script": "turns.yaml"})
    project.track()
    result = project.live().only_result()
    assert [each["status"] for each in result["assertions"]] == ["skip", "pass"]
