"""Calls that look alike and are not the same: none is dropped, and none gets the result of another."""

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from agenteval.contracts.trace import Trace
from agenteval_otel.runs import calls_of, runs_of
from agenteval_otel.spans import read_spans
from otel.spans import agent, asks_for, chat, responds, says, tool, trace_of, write

ASKED = says("user", "How warm is it?")
WARM = says("assistant", "It is 7 degrees.")


def results(trace: Trace) -> list[tuple[str, Any, Any]]:
    """Tool, arguments and result of each call."""
    return [
        (call.tool, call.args, next((each.data["result"] for each in call.results), None))
        for call in trace.calls()
    ]


def test_a_tool_that_uses_itself(tmp_path: Path) -> None:
    """With other arguments it is another call; in another form, or with more, the server tells of the same."""
    outer = tool(10, 90, "walk", tool__call__arguments='{"path": "/"}', tool__call__result="a")
    inside: dict[str, Any] = {"parent": "execute_tool@10", "tool__call__result": "b"}
    inner = tool(20, 30, "walk", tool__call__arguments='{"path": "/a"}', **inside)
    assert results(trace_of(write(tmp_path, agent(), outer, inner))) == [
        ("walk", {"path": "/"}, "a"),
        ("walk", {"path": "/a"}, "b"),
    ]
    for same in ('{"path": "/", "depth": 1}', "{}", "{'path': '/'}"):
        inner = tool(20, 30, "walk", tool__call__arguments=same, **inside)
        assert results(trace_of(write(tmp_path, agent(), outer, inner))) == [("walk", {"path": "/"}, "a")]
    for other in ('{"path": "/a", "depth": 1}', '{"depth": 1}'):
        inner = tool(20, 30, "walk", tool__call__arguments=other, **inside)
        assert len(results(trace_of(write(tmp_path, agent(), outer, inner)))) == 2


def test_answers_that_a_service_gives_one_id(tmp_path: Path) -> None:
    """Two agents ask it at once: what it answered tells them apart."""
    run = [
        agent(),
        chat(10, 100, asked=[ASKED], answered=[asks_for("c1", "weather", city="Oslo")], response__id="r"),
        chat(20, 90, asked=[ASKED], answered=[asks_for("c2", "weather", city="Bremen")], response__id="r"),
    ]
    assert [call.call_id for call in trace_of(write(tmp_path, *run)).calls()] == ["c2", "c1"]
    used: dict[str, Any] = {"response__id": "r", "usage__input_tokens": 5, "usage__output_tokens": 2}
    run = [
        agent(),
        chat(10, 100, answered=[WARM], **used),
        chat(20, 90, answered=[says("assistant", "In Oslo it is 1 degree.")], **used),
    ]
    assert (trace_of(write(tmp_path, *run)).metrics.token_usage or {})["total_tokens"] == 14


def test_a_tool_that_nobody_asked_for_with_the_arguments_of_another(tmp_path: Path) -> None:
    """It is no execution of the call that was asked for."""
    run = [
        agent(),
        chat(10, 20, asked=[ASKED], answered=[asks_for("w0", "find", city="Bremen")]),
        tool(30, 40, "weather", tool__call__arguments='{"city": "Bremen"}', tool__call__result="7"),
    ]
    assert results(trace_of(write(tmp_path, *run))) == [
        ("find", {"city": "Bremen"}, None),
        ("weather", {"city": "Bremen"}, "7"),
    ]


def test_a_call_that_nothing_answers(tmp_path: Path) -> None:
    """It does not get the response of the one before that has its number."""
    first, second = asks_for("w0", "weather", city="Bremen"), asks_for("w0", "transfer")
    told = responds("w0", "7")
    run = [
        agent(),
        chat(10, 20, asked=[ASKED], answered=[first]),
        chat(30, 40, asked=[ASKED, first, told], answered=[second]),
        chat(50, 60, asked=[ASKED, first, told, second], answered=[WARM]),
    ]
    assert results(trace_of(write(tmp_path, *run))) == [
        ("weather", {"city": "Bremen"}, "7"),
        ("transfer", {}, None),
    ]


def test_which_call_was_executed_is_not_told(tmp_path: Path) -> None:
    """The spans have neither ids nor arguments: a note says that results may be mixed up."""
    answer = {
        "role": "assistant",
        "parts": [
            *asks_for("c1", "weather", city="Oslo")["parts"],
            *asks_for("c2", "weather", city="Bremen")["parts"],
        ],
    }
    run = [
        agent(),
        chat(10, 20, asked=[ASKED], answered=[answer]),
        tool(21, 25, "weather", tool__call__result="7"),
        tool(22, 24, "weather", tool__call__result="1"),
        chat(30, 40, asked=[ASKED], answered=[WARM]),
    ]
    assert trace_of(write(tmp_path, *run)).notes == [
        "which of several calls of the same tool was executed when is not recorded for 1 tool call: their results may be mixed up"
    ]


def test_no_arguments_as_an_empty_text(tmp_path: Path) -> None:
    """So services write them: they are told, and there are none."""
    part = {"type": "tool_call", "id": "c1", "name": "now", "arguments": ""}
    run = [agent(), chat(10, 20, asked=[ASKED], answered=[{"role": "assistant", "parts": [part]}])]
    (call,) = trace_of(write(tmp_path, *run)).calls()
    assert call.event.data["args"] == {}


def test_arguments_that_were_not_captured_are_null(tmp_path: Path) -> None:
    """They are not taken for none."""
    (call,) = trace_of(write(tmp_path, agent(), tool(1, 2, "weather"))).calls()
    assert call.event.data["args"] is None
    assert not call.shows_arguments


def test_an_answer_asked_for_a_tool_that_has_no_span(tmp_path: Path) -> None:
    """What hands on to an agent has none in some frameworks: where answers are not captured, a note counts them."""
    asking: dict[str, Any] = {"response__finish_reasons": ["tool_calls"]}
    first = [agent(), chat(10, 20, **asking), tool(21, 25, "weather"), chat(30, 40, **asking)]
    note = "not recorded: calls that 1 answer asked for, which were not captured"
    assert note in trace_of(write(tmp_path, *first, chat(50, 60))).notes
    expert = [agent(22, 30, parent="invoke_agent@0"), chat(23, 24, parent="invoke_agent@22")]
    later = [chat(50, 60, **asking), *expert, tool(61, 65, "weather")]
    notes = trace_of(write(tmp_path, *first, tool(41, 45, "weather"), *later)).notes
    assert [each for each in notes if each == note] == []
    within = tool(26, 28, "weather")  # while an expert's model answers
    assert note in trace_of(write(tmp_path, agent(), *expert, first[1], within, first[3])).notes


@pytest.mark.parametrize("call_id", ["", "c{}"])
def test_a_long_run_is_read_in_linear_time(tmp_path: Path, call_id: str) -> None:
    """Also when calls and their executions share no id, and frameworks fill arguments in."""
    spans = [agent(0, 90_000)]
    for day in range(3_000):
        filled = json.dumps({"day": day, "unit": "C"})
        answered = [asks_for(call_id.format(day), "weather", day=day)]
        spans += [
            chat(20 * day, 20 * day + 8, answered=answered, response__id=f"r{day}"),
            tool(
                20 * day + 9,
                20 * day + 15,
                "weather",
                tool__call__arguments=filled,
                tool__call__id=f"own{day}",
            ),
        ]
    found = read_spans(write(tmp_path, *spans), max_bytes=10_000_000)
    start = process_time()
    assert len(calls_of(*runs_of(found))) == 3_000
    assert process_time() - start < 20


@pytest.mark.parametrize("call_id", [["c1"], {"id": "c1"}, 7])
def test_a_call_id_that_is_no_text(tmp_path: Path, call_id: Any) -> None:
    """It tells the call as its text would: the one that a model asked for by it, else one of its own."""
    asked = chat(10, 20, answered=[asks_for(str(call_id), "look", q="a")])
    executed = tool(30, 40, "look", tool__call__id=call_id, tool__call__result="here")
    for spans in ([agent(), asked, executed], [agent(), executed]):
        (call,) = trace_of(write(tmp_path, *spans)).calls()
        assert (call.call_id, call.results[0].data["result"]) == (str(call_id), "here")
