"""What conventions have in common that tell of functions: what went in, and what came out.

They watch a function, and write its parameters and what it returned, as JSON or as the text that a program prints.
"""

import ast
from typing import Any

from agenteval_otel import conventions as gen_ai
from agenteval_otel.messages import data_of, listed, message_of, messages_in, result_of, tool_message

PARAMETERS = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
"""The keys of what went into a Python function."""
NOTHING = ("None", "null", "undefined", "")
LONGEST_LITERAL = 100_000


def tool_told(name: Any, given: Any, returned: Any) -> dict[str, Any]:
    """An execution of a tool."""
    message = tool_message(data_of(returned)) or {}
    failed = message.get("status") == "error"
    return {
        gen_ai.OPERATION: gen_ai.TOOL,
        gen_ai.TOOL_NAME: name,
        gen_ai.CALL_ID: message.get("tool_call_id"),
        gen_ai.ARGUMENTS: arguments_told(given),
        gen_ai.RESULT: result_of(_decoded(returned)),
        gen_ai.ERROR_TYPE: "error" if failed else None,
        gen_ai.ERROR_MESSAGE: str(message.get("content")) if failed else None,
    }


def agent_told(name: Any, given: Any, returned: Any) -> dict[str, Any]:
    """An invocation of an agent. What a program returned that says nothing is no answer."""
    asked, said = _decoded(given), _decoded(returned)
    if isinstance(asked, dict) and PARAMETERS.issuperset(asked):
        kwargs = asked.get("kwargs")
        words = [*listed(asked.get("args")), *(kwargs.values() if isinstance(kwargs, dict) else ())]
        asked = next((each for each in words if isinstance(each, str)), None)
    answers = [] if said in NOTHING else messages_in(said, "assistant")
    last = message_of(answers[-1]) if answers else None
    return {
        "gen_ai.agent.name": name,
        gen_ai.INPUT: messages_in(asked, "user") or None,
        gen_ai.OUTPUT: answers[-1:] if last and last.role == "assistant" and last.text else None,
    }


def arguments_told(given: Any) -> Any:
    """The arguments of a call, out of what went into a function; None when they are not told."""
    data = _decoded(given)
    if isinstance(data, str) and data[:1] == "{" and len(data) < LONGEST_LITERAL:
        try:  # as Python prints them
            data = ast.literal_eval(data)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return data
    if isinstance(data, dict):
        if isinstance(data.get("kwargs"), dict) and PARAMETERS.issuperset(data):
            positional = {"args": data["args"]} if data.get("args") else {}
            return {**positional, **data["kwargs"]}
        if isinstance(data.get("inputs"), dict) and "input_str" in data:
            return data["inputs"]
    return data


def _decoded(value: Any) -> Any:
    """Data out of JSON, and out of a text that was written as JSON."""
    if isinstance(value, str) and value[:1] == '"' and value[-1:] == '"':
        data = data_of(f"[{value}]")
        value = data[0] if isinstance(data, list) and len(data) == 1 else value
    return data_of(value)
