"""Spans as agent frameworks write them: their own ids, agents that only hold others, tokens in their own ways."""

from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval_otel.recorder import OtelRecorder
from otel.spans import agent, asks_for, chat, context_of, responds, says, span, told, tool, trace_of, write

ASKED = says("user", "How warm is it?")
CALLING = asks_for("c1", "weather", city="Bremen")
WARM = says("assistant", "It is 7 degrees.")
DONE: dict[str, Any] = {"tool__call__arguments": '{"city": "Bremen"}', "tool__call__result": "7"}
TOLD = [
    ("message_received", "How warm is it?"),
    ("tool_call", "c1"),
    ("tool_result", "c1"),
    ("final_output", "It is 7 degrees."),
]
OTHERS_ASKED = (
    "what 1 call of models asked is not in any message of this run: "
    "the trace may hold several conversations, or agents that ask others"
)


def test_an_id_that_another_span_has_makes_another_call(tmp_path: Path) -> None:
    """What a framework executes with the same arguments by itself does not take the span of the call."""
    run = [
        agent(),
        chat(10, 100, asked=[ASKED], answered=[CALLING]),
        tool(110, 120, "weather", tool__call__id="f1", **DONE),
        tool(130, 200, "weather", tool__call__id="c1", **DONE),
        chat(210, 300, asked=[ASKED], answered=[WARM]),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert [call.call_id for call in trace.calls()] == ["f1", "c1"]
    assert trace.notes == ["no answer of a model asks for tools that were executed: weather (1)"]


@pytest.mark.parametrize("holder", ["invoke_agent", "invoke_graph"])
def test_an_agent_that_only_holds_others_is_a_workflow(tmp_path: Path, holder: str) -> None:
    """Whatever its operation is called: agents in turn within it are the main one, and the last one answers."""
    run = [
        span(holder, 0, 1000, agent__name="pipeline"),
        agent(10, 400, parent=f"{holder}@0", agent__name="one"),
        chat(20, 100, parent="invoke_agent@10", asked=[ASKED], answered=[CALLING]),
        tool(110, 200, "weather", parent="invoke_agent@10", tool__call__id="c1", **DONE),
        chat(210, 300, parent="invoke_agent@10", asked=[ASKED], answered=[says("assistant", "A draft.")]),
        agent(410, 900, parent=f"{holder}@0", agent__name="two"),
        chat(420, 800, parent="invoke_agent@410", asked=[ASKED], answered=[WARM]),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert told(trace) == TOLD
    assert {event.agent_id for event in trace.events} == {"main"}
    assert trace.status == "success"


def test_an_agent_in_a_span_of_an_unknown_operation_says_that_it_failed(tmp_path: Path) -> None:
    """It is the outermost agent, though not the outermost span."""
    run = [
        span("invoke_swarm", 0, 1000),
        agent(10, 900, parent="invoke_swarm@0", error="out of time"),
        chat(20, 100, parent="invoke_agent@10", asked=[ASKED], answered=[WARM]),
    ]
    assert trace_of(write(tmp_path, *run)).status == "failed"


def test_an_agent_within_a_workflow_answers_where_its_model_tells_nothing(tmp_path: Path) -> None:
    """What it says in the end stands in its own span."""
    held = agent(10, 90, parent="invoke_workflow@0", output__messages=[WARM])
    run = [span("invoke_workflow", 0, 100), held, chat(20, 80, parent="invoke_agent@10")]
    assert trace_of(write(tmp_path, *run)).output == "It is 7 degrees."


def test_the_conversation_may_stand_in_any_span(tmp_path: Path) -> None:
    """As a text or a number."""
    run = [agent(conversation__id=""), chat(10, 100, answered=[WARM]), chat(110, 200, conversation__id=7)]
    assert trace_of(write(tmp_path, *run)).scenario.session_id == "7"


def test_that_only_questions_were_captured_is_told(tmp_path: Path) -> None:
    """What was asked is known."""
    assert trace_of(write(tmp_path, agent(), chat(10, 100, asked=[ASKED]))).notes == [
        "no answers were captured: what was answered is not known"
    ]


def test_what_an_agent_is_told_that_is_handed_on_to_is_no_message_of_the_user(tmp_path: Path) -> None:
    """Its framework says to it, as a user, what the agent before did."""
    run = [
        agent(10, 400, parent="flow", agent__name="one"),
        chat(20, 100, parent="invoke_agent@10", asked=[ASKED], answered=[asks_for("c1", "transfer")]),
        tool(110, 120, "transfer", parent="invoke_agent@10", tool__call__id="c1", tool__call__result="ok"),
        agent(410, 900, parent="flow", agent__name="two"),
        chat(
            420,
            800,
            parent="invoke_agent@410",
            asked=[ASKED, says("user", "For context: one called transfer.")],
            answered=[WARM],
        ),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert told(trace) == TOLD
    assert trace.notes == [OTHERS_ASKED]


def test_the_second_turn_of_an_agent_brings_its_message(tmp_path: Path) -> None:
    """A script may hold both in one trace: the agent is the same one."""
    later = says("user", "And in Oslo?")
    run = [
        agent(10, 100, parent="script", agent__name="one"),
        chat(20, 90, parent="invoke_agent@10", asked=[ASKED], answered=[WARM]),
        agent(110, 200, parent="script", agent__name="one"),
        chat(120, 190, parent="invoke_agent@110", asked=[ASKED, WARM, later], answered=[WARM]),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert [message.content for message in trace.input_messages] == ["How warm is it?", "And in Oslo?"]
    assert trace.notes == []


def test_calls_of_a_model_that_tell_only_what_is_new(tmp_path: Path) -> None:
    """The service keeps the conversation: what was said before and is said again is not received twice."""
    run = [
        agent(),
        chat(10, 100, asked=[ASKED], answered=[CALLING]),
        tool(110, 200, "weather", tool__call__id="c1", **DONE),
        chat(210, 300, asked=[responds("c1", "7")], answered=[WARM]),
    ]
    again = chat(310, 400, asked=[ASKED], answered=[WARM])
    trace = trace_of(write(tmp_path, *run, again))
    assert [message.content for message in trace.input_messages] == ["How warm is it?"]
    later = chat(310, 400, asked=[says("user", "And in Oslo?")], answered=[WARM])
    trace = trace_of(write(tmp_path, *run, later))
    assert [message.content for message in trace.input_messages] == ["How warm is it?", "And in Oslo?"]


def test_a_model_that_a_tool_calls_is_not_the_agents(tmp_path: Path) -> None:
    """What it is asked no user said, what it answers is no answer, and no note suspects another conversation."""
    prompts = [says("user", "Sum this up:"), says("user", "A long page.")]
    run = [
        agent(),
        chat(10, 100, asked=[ASKED], answered=[CALLING]),
        tool(110, 200, "weather", tool__call__id="c1", **DONE),
        chat(120, 190, parent="execute_tool@110", asked=prompts, answered=[says("assistant", "7.")]),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert told(trace) == TOLD[:-1]
    assert trace.status == "partial"
    last = chat(210, 300, asked=[ASKED, CALLING, responds("c1", "7")], answered=[WARM])
    trace = trace_of(write(tmp_path, *run, last))
    assert told(trace) == TOLD
    assert trace.notes == []


def test_an_agent_that_a_tool_holds_has_calls_of_its_own(tmp_path: Path) -> None:
    """Who asked it is not recorded: it is the outermost one."""
    run = [
        span("execute_tool", 0, 1000, tool__name="ask", tool__call__arguments="{}", tool__call__result="7"),
        agent(10, 900, parent="execute_tool@0"),
        chat(20, 100, parent="invoke_agent@10", asked=[ASKED], answered=[WARM]),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert [message.content for message in trace.input_messages] == ["How warm is it?"]
    assert trace.output == "It is 7 degrees."


def test_the_answer_of_an_agent_elsewhere_is_not_the_last_word(tmp_path: Path) -> None:
    """Nothing that it did is in the spans but its answer, which a tool hands on."""
    run = [
        agent(),
        chat(10, 100, asked=[ASKED], answered=[CALLING]),
        tool(110, 200, "weather", tool__call__id="c1", **DONE),
        agent(120, 190, parent="execute_tool@110", output__messages=[says("assistant", "Seven.")]),
        chat(210, 300, asked=[ASKED], answered=[WARM]),
    ]
    assert told(trace_of(write(tmp_path, *run))) == TOLD


@pytest.mark.parametrize("text", ["", "I file the report."])
def test_an_answer_that_is_the_call_of_a_tool(tmp_path: Path, text: str) -> None:
    """Frameworks make structured answers of one, and do not execute it: what is said along with it is no answer."""
    part = {"type": "tool_call", "id": "c2", "name": "final_result", "arguments": {"degrees": 7}}
    parts = [{"type": "text", "content": text}, part] if text else [part]
    last = chat(10, 100, asked=[ASKED], answered=[{"role": "assistant", "parts": parts}])
    trace = trace_of(write(tmp_path, agent(), last))
    assert trace.final_output is None
    assert trace.status == "partial"
    assert trace.notes == [
        "the last answer of the model asks for final_result: what the agent answered in the end is not known",
        "no result is recorded for 1 tool call",
    ]
    whole = agent(output__messages=[says("assistant", '{"degrees": 7}')])
    assert trace_of(write(tmp_path, whole, last)).output == '{"degrees": 7}'


def test_a_tool_that_the_service_executes_leaves_the_answer_one(tmp_path: Path) -> None:
    """Its call stands in the same message, before the text."""
    part = {"type": "server_tool_call", "id": "s1", "name": "web_search", "server_tool_call": {"q": "Bremen"}}
    answer = {"role": "assistant", "parts": [part, {"type": "text", "content": "It is 7 degrees."}]}
    trace = trace_of(write(tmp_path, agent(), chat(10, 100, asked=[ASKED], answered=[answer])))
    assert trace.output == "It is 7 degrees."
    assert trace.status == "success"


def test_the_message_of_a_whole_invocation_is_an_answer(tmp_path: Path) -> None:
    """It may hold the calls on the way, and what answered them."""
    parts = [*WARM["parts"], *CALLING["parts"], *responds("c1", "7")["parts"]]
    whole = agent(input__messages=[ASKED], output__messages=[{"role": "assistant", "parts": parts}])
    trace = trace_of(write(tmp_path, whole))
    assert told(trace) == [TOLD[0], TOLD[-1]]
    assert not trace.capabilities.supports_tool_trace
    assert trace.notes == ["no span is a call of a model or a tool, so tools are not judged"]


def test_what_an_agent_was_asked_where_its_model_was_told_by_nobody(tmp_path: Path) -> None:
    """The framework hands it on in a role of its own."""
    asked = says("MessageRole.USER", "New task: How warm is it?")
    run = [agent(input__messages=[ASKED]), chat(10, 100, asked=[asked], answered=[WARM])]
    trace = trace_of(write(tmp_path, *run))
    assert told(trace) == [TOLD[0], TOLD[-1]]
    assert trace.notes == []


def test_an_answer_without_a_text_is_told(tmp_path: Path) -> None:
    """Nobody knows what it was."""
    answer = {"role": "assistant", "parts": [{"type": "blob", "content": "…"}]}
    assert trace_of(write(tmp_path, agent(), chat(10, 100, asked=[ASKED], answered=[answer]))).notes == [
        "the last answer of the model has no text: what the agent answered in the end is not known"
    ]


def test_a_run_that_failed_needs_no_answer(tmp_path: Path) -> None:
    """Its status says why there is none."""
    run = [
        agent(error="no such city"),
        chat(10, 100, asked=[ASKED], answered=[CALLING]),
        tool(110, 200, "weather", tool__call__id="c1", error="no such city"),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert trace.status == "failed"
    assert trace.notes == []


def test_tokens_are_those_of_the_calls_of_models(tmp_path: Path) -> None:
    """What an agent adds up may leave out the agents within it, and count the turns before; it may name more kinds."""
    usage: dict[str, Any] = {
        "usage__input_tokens": 5,
        "usage__output_tokens": 2,
        "gen_ai.usage.cache_read.input_tokens": 1,
    }
    whole = {**usage, "usage__input_tokens": 900, "gen_ai.usage.cache_creation.input_tokens": 0}
    run = [
        agent(**whole),
        chat(10, 100, asked=[ASKED], answered=[WARM], **usage),
        agent(110, 200, parent="invoke_agent@0", agent__name="expert"),
        chat(120, 190, parent="invoke_agent@110", answered=[WARM], **usage),
    ]
    trace = trace_of(write(tmp_path, *run))
    assert trace.metrics.token_usage == {
        "input_tokens": 8,
        "output_tokens": 4,
        "cache_read_input_tokens": 2,
        "total_tokens": 14,
    }


def test_arguments_and_results_that_were_not_captured_are_told(tmp_path: Path) -> None:
    """Their call is known, and nothing else of it."""
    run = [
        agent(),
        chat(10, 100, answered=[WARM]),
        tool(1, 2, "weather"),
        tool(3, 4, "weather", error="gone"),
    ]
    assert trace_of(write(tmp_path, *run)).notes == [
        "no text from a user was captured: what was asked is not known",
        "no arguments are recorded for 2 tool calls",
        "no result is recorded for 1 tool call",
        "no answer of a model asks for tools that were executed: weather (2)",
    ]


def test_messages_without_their_content_are_told(tmp_path: Path) -> None:
    """A framework may keep the parts, and leave out what they carry."""
    bare = {"type": "tool_call", "id": "c1", "name": "weather"}
    calling = {"role": "assistant", "parts": [bare]}
    answer = {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "name": "weather"}]}
    asked = {"role": "user", "parts": [{"type": "text"}]}
    run = [
        agent(),
        chat(10, 100, asked=[asked], answered=[calling]),
        chat(
            210,
            300,
            asked=[asked, calling, answer],
            answered=[{"role": "assistant", "parts": [{"type": "text"}]}],
        ),
    ]
    executed = tool(110, 200, "weather", tool__call__id="c1")
    assert trace_of(write(tmp_path, *run, executed)).notes == [
        "no text from a user was captured: what was asked is not known",
        "the last answer of the model has no text: what the agent answered in the end is not known",
        "no arguments are recorded for 1 tool call",
        "no result is recorded for 1 tool call",
    ]
    trace = trace_of(write(tmp_path, *run, tool(110, 200, "weather", tool__call__id="c1", **DONE)))
    assert trace.calls()[0].event.data["args"] == {"city": "Bremen"}
    assert len(trace.notes) == 2


def test_the_making_of_an_agent_is_no_run(tmp_path: Path) -> None:
    """It may stand in a trace of its own, beside that of the run."""
    made = span("create_agent", 0, 1, trace="t0")
    run = [agent(), chat(10, 100, asked=[ASKED], answered=[WARM])]
    path = write(tmp_path, made, *run)
    assert len(OtelRecorder().inspect(path, context_of(tmp_path)).runs) == 1
    assert trace_of(path).output == "It is 7 degrees."
    path = write(tmp_path, made)
    with pytest.raises(AdapterError) as caught:
        trace_of(path)
    assert caught.value.reason_code == "adapter.otlp_no_run"
    assert caught.value.message == (
        f"{path} has no span of an agent, a model call or a tool call in a convention that is read; "
        "it holds spans named 'create_agent' (1)"
    )
