"""Messages of a conversation, in whatever form a service, a framework or an instrumentation writes them.

The conventions have messages made of parts. Many hand on what a model's own API has instead: OpenAI's chat completions
and responses, Anthropic's and Bedrock's blocks, Gemini's parts; or what a framework makes of it: LangChain's messages,
those of Vercel's AI SDK.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import FileError
from agenteval.reading.jsonsource import parse_json, whole_characters
from agenteval.text.lazy_regexes import lazy

UNNAMED = "(unnamed)"
"""The name in a trace of a tool without a recorded name."""
INSTRUCTING = ("system", "developer")
"""Roles of messages that instruct the model. They are no part of the conversation."""
ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "function": "tool"}
"""Names of the roles in some frameworks and services."""
PROMPTS = {"user-prompt": "text"}
"""Kinds of part of Pydantic AI that are text. Its `system-prompt` is left out: it instructs the model."""
SPEAKERS = (*ROLES, *INSTRUCTING, "assistant", "tool", "user")
TEXTS = ("text", "input_text", "output_text", "refusal")
TEXT = ("content", "text", "refusal", "value")
"""Kinds of part that are text, and the keys of it."""
CALLS = {
    "tool_call": ("arguments", "args"),
    "server_tool_call": ("server_tool_call",),
    "tool_use": ("input",),
    "tool-call": ("input", "args"),
    "function_call": ("arguments",),
    "toolUse": ("input",),
    "functionCall": ("args",),
    "toolRequest": ("input",),
}
"""Kinds of part that call a tool, and the keys of the arguments."""
RESPONSES = {
    "tool_call_response": ("response", "result"),
    "server_tool_call_response": ("server_tool_call_response",),
    "tool_result": ("content", "result"),
    "tool-result": ("output", "result"),
    "tool-return": ("content",),
    "retry-prompt": ("content",),
    "tool-error": ("error",),
    "function_call_output": ("output",),
    "toolResult": ("content",),
    "functionResponse": ("response",),
    "toolResponse": ("output",),
}
"""Kinds of part that hold the result of a tool, and the keys of the result."""
IDS = ("call_id", "id", "tool_use_id", "tool_call_id", "toolCallId", "toolUseId", "ref")
NAMES = ("name", "toolName", "tool_name")
SILENT = lazy(
    "blob|compaction|document|media|redacted_thinking|reasoning(Content)?|source|step-start|thinking|uri|video"
    "|(input_)?(audio|file|image)(_url)?"
)
"""Kinds of part that hold neither text nor calls."""
WRAPPED = {"function_call": "functionCall", "function_response": "functionResponse"}
"""Keys that give the kind of a part without a type, beside the kinds themselves."""
LISTS = ("messages", "contents", "choices", "generations", "candidates")
WRAPPERS = ("message", "output", "input", "text", "prompt", "inputs", "outputs", "value")
"""Keys that hold messages, as a list or in any form."""

STATES = (
    *("messages", "chat_history", "history", "message_history", "all_messages", "new_messages"),
    *("state", "values", "result"),
)
"""Keys of a framework's state that hold messages, beside `WRAPPERS`."""
CALLBACK = frozenset({"outputs", "output", "inputs", "input", "kwargs", "tags", "metadata", "input_str"})
"""The keys of the data that LangChain gives its callbacks for a step."""
NODES = ("__end__", "__start__")
"""The outputs of a graph's step that only name the next step. They are no text of a model."""
LONGEST_HEAD = 1000
_DUMPED = lazy(r'"lc": ?\d, ?"type": ?"constructor"')
_MESSAGE = lazy(r"(?:[A-Z][A-Za-z]*)?Message(?:Chunk)?")
_PRINTED = lazy(
    r"\s*(?:\w+\(|\{|\[)?\s*(?:['\"]?\w+['\"]?\s*[:=]\s*\[?\s*)?(?:[A-Z][A-Za-z]*)?Message(?:Chunk)?\(\w+="
)
"""The beginning of a state as Python prints it. Some instrumentations record `str(state)`: `{'messages': [HumanMessage(content=…`."""
_PRINTED_MESSAGE = lazy(r"""content=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*") additional_kwargs=""")

IN_A_SPAN = Path("span")
"""The path in errors about JSON within a span. `data_of` drops these errors."""
_CONSTANT = lazy(r'"(?:[^"\\]|\\.)*+"?|(-?Infinity|NaN)')
"""A text in JSON, or a constant that is no JSON. Matching whole texts keeps a `NaN` inside a text as it is."""


@dataclass(slots=True, kw_only=True)
class Message:
    """One message: its role, its text, and its calls and responses of tools, by call id."""

    role: str
    text: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    """Call id, tool, arguments."""
    responses: list[tuple[str, Any, bool | None]] = field(default_factory=list)
    """Call id, response, and whether the call failed; None where the message does not state it."""
    open: list[str] = field(default_factory=list)
    """The ids of the calls that the model's service does not execute itself."""
    finish: str = ""
    """The finish reason."""
    unknown: list[str] = field(default_factory=list)
    """The kinds of its parts that are not known here."""

    @property
    def asks(self) -> bool:
        """True if it asks for a tool and does not hold the result."""
        return not {call_id for call_id, _, _ in self.responses}.issuperset(self.open)

    def as_written(self) -> dict[str, Any]:
        """Return the message in the form of the conventions. Reading that form gives an equal message."""
        parts: list[dict[str, Any]] = [{"type": "text", "content": self.text}] if self.text else []
        for call_id, tool, args in self.calls:
            kind = "tool_call" if call_id in self.open else "server_tool_call"
            parts.append({"type": kind, "id": call_id, "name": tool, CALLS[kind][0]: args})
        for call_id, response, failed in self.responses:
            part = {"type": "tool_call_response", "id": call_id, "response": response}
            parts.append(part if failed is None else {**part, "is_error": failed})
        parts += [{"type": kind} for kind in self.unknown]
        written = {"role": self.role, "parts": parts}
        return {**written, "finish_reason": self.finish} if self.finish else written


def data_of(value: Any) -> Any:
    """Parse a text that is JSON; return any other value as it is.

    `NaN` and `Infinity`, which many writers of JSON use for numbers, become text.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    # SDKs cut long attributes, even within an emoji: half a character would make valid JSON unreadable.
    texts = [whole_characters(value)]
    if "NaN" in value or "Infinity" in value:
        texts.append(_CONSTANT.sub(lambda found: f'"{found[1]}"' if found[1] else found[0], texts[0]))
    for text in texts:
        try:
            return parse_json(text, IN_A_SPAN)
        except FileError:
            continue
    return value


def indexed(attributes: dict[str, Any], prefix: str) -> list[Any]:
    """Build the list that numbered attributes describe, for instance `llm.input_messages.0.message.role`."""
    tree: dict[str, Any] = {}
    start = f"{prefix}."
    for key in filter(lambda key: key.startswith(start), attributes):
        *steps, last = key[len(start) :].split(".")
        here: Any = tree
        for each in steps:
            here = here.setdefault(each, {}) if isinstance(here, dict) else None
        if isinstance(here, dict):
            here.setdefault(last, attributes[key])
    return listed(_lists(tree))


def _lists(data: Any) -> Any:
    """Replace each mapping that has only numbers as keys by a list."""
    if not isinstance(data, dict):
        return data
    if data and all(key.isascii() and key.isdecimal() and len(key) < 10 for key in data):
        return [_lists(data[key]) for key in sorted(data, key=int)]
    return {key: _lists(value) for key, value in data.items()}


def listed(value: Any) -> list[Any]:
    """Return a list as it is, and an empty list for anything else."""
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[dict[str, Any]]:
    """List the mappings in a list; none for anything else."""
    return [each for each in listed(value) if isinstance(each, dict)]


def arguments_in(value: Any) -> Any:
    """Return the arguments of a call. Services write an empty text for a call without arguments."""
    return {} if value == "" else data_of(value)


def messages_in(data: Any, role: str) -> list[Any]:
    """List the messages in the input or output of a model. A plain text becomes one message with `role`.

    They stand in a request's `messages` or `contents`, an answer's `choices`, `candidates` or `generations`, or in a
    framework's state.
    """
    match found := data_of(data):
        case str():
            return [{"role": role, "content": found}] if found else []
        case [[dict(), *_] as first, *_]:  # LangChain has a list for each prompt
            return [*first]
        case list():
            return found
        case {"role": str(), **rest} | {"lc": _, **rest} if rest:
            return [found]
        case dict():
            return _messages_in_object(found, role)
    return []


def _messages_in_object(found: dict[str, Any], role: str) -> list[Any]:
    """List the messages of an object that is not itself a message with a role."""
    if key := next((key for key in LISTS if key in found), ""):
        return messages_in(found[key], role) or ([found] if "content" in found else [])
    if isinstance(found.get("content"), dict):
        return [{"role": role, **found["content"]}]
    if "content" in found or "parts" in found:
        return [{**found, "role": role}]
    return next((messages_in(found[key], role) for key in WRAPPERS if key in found), [])


def message_of(given: Any) -> Message | None:
    """Read a message in any known form; None for anything else."""
    data = _unwrapped(given)
    if data is None:
        return None
    kind = data.get("type")
    role = str(data.get("role") or (kind if kind in SPEAKERS else ""))
    finish = str(data.get("finish_reason") or data.get("stop_reason") or "")
    message = Message(role=ROLES.get(role, role), finish=finish)
    if is_result := bool(data.get("tool_call_id") and not data.get("tool_calls")):
        message.role = "tool"
    texts: list[str] = []
    for part in [{**data, "type": "tool_result", "id": data["tool_call_id"]}] if is_result else _parts(data):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            _add(message, part, texts)
    _add_calls(message, data)
    message.text = "\n".join(text for text in texts if text)
    message.role = message.role or _likely_role(message)
    return message


def _likely_role(message: Message) -> str:
    """Return the role of a message without one: only models call tools, and only tools respond."""
    if message.calls:
        return "assistant"
    return "tool" if message.responses else ""


def _parts(data: dict[str, Any]) -> list[Any]:
    """List the parts of a message: its content or `parts`; a bare part, which has a type and no content, is one."""
    content, parts, kind = data.get("content"), data.get("parts"), data.get("type")
    if isinstance(content, str) and _holds_parts(content):
        content = data_of(content)
    if isinstance(content, list):
        return content
    if isinstance(parts, list):
        return parts
    return [data] if kind and kind not in SPEAKERS and content is None else [content]


def _add_calls(message: Message, data: dict[str, Any]) -> None:
    """Add the calls beside the content, as OpenAI's API has them. It had a single `function_call` before."""
    older = data.get("function_call")
    for call in [*mappings(data_of(data.get("tool_calls"))), *([older] if isinstance(older, dict) else [])]:
        function = call.get("function", call)
        if isinstance(function, dict):
            _call(message, call | function, ("arguments", "args"))


def _unwrapped(given: Any) -> dict[str, Any] | None:
    """Take a message out of its wrapper: LangChain's serialised objects, an answer with its finish reason, a pair."""
    match given:
        case [str(role), str(content)]:
            return {"role": role, "content": content}
        case {"kwargs": dict(message), "id": [*_, str(name)]}:
            return {"type": _role_of(name), **message}
        case {"type": str(kind), "data": dict(message)} if kind in SPEAKERS:
            return {"type": kind, **message}
        case {"type": str(), "source": str(source)}:  # AutoGen
            return {**given, "type": None, "role": "user" if source == "user" else "assistant"}
        case {"type": str(name)} if _MESSAGE.fullmatch(name):
            return {**given, "type": _role_of(name)}
        case {"kind": "request" | "response" as kind, "parts": list(parts)}:  # Pydantic AI
            return _with_typed_parts(kind, mappings(parts))
        case {"message": dict(message), **rest} if "role" not in rest:
            inner = _unwrapped(message)
            return inner and {"finish_reason": rest.get("finish_reason"), **inner}
        case {"content": {"parts": list()} as message, **rest}:  # Gemini's candidates
            reason = rest.get("finishReason", rest.get("finish_reason"))
            return {"role": "model", **message, "finish_reason": reason}
        case dict():
            return given
    return None


def _role_of(name: str) -> str:
    """Return the role in the name of a message class: `ai` for `AIMessageChunk`."""
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def _with_typed_parts(kind: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Convert a message of Pydantic AI, which writes the kinds of its parts as `part_kind`."""
    kinds = [str(part.get("part_kind", part.get("part-kind"))) for part in parts]
    role = "assistant" if kind == "response" else "user" if "user-prompt" in kinds else ""
    typed = [{**part, "type": PROMPTS.get(name, name)} for part, name in zip(parts, kinds, strict=True)]
    return {"role": role, "parts": [part for part in typed if part["type"] != "system-prompt"]}


def _holds_parts(text: str) -> bool:
    """Return whether a content is a list of parts, written as JSON."""
    found = data_of(text) if text.startswith("[{") else None
    return isinstance(found, list) and all(isinstance(each, dict) and _kind(each) for each in found)


def _kind(part: dict[str, Any]) -> str:
    """Return the kind of a part: its type, or the one key that it has."""
    if given := part.get("type"):
        return str(given)
    for key in part:
        kind = WRAPPED.get(key, key)
        if kind in CALLS or kind in RESPONSES or SILENT.fullmatch(kind):
            return kind
    return "text" if "text" in part else ""


def _text_of(part: dict[str, Any], kind: str) -> str:
    """Return the text of a part, which may itself be a message."""
    if kind == "message":
        inner = message_of(part | {"type": None})
        return inner.text if inner else ""
    return next((str(part[key]) for key in TEXT if part.get(key)), "")


def _add(message: Message, part: dict[str, Any], texts: list[str]) -> None:
    """Add a part to a message, and its text to `texts`."""
    kind = _kind(part)
    if "type" not in part:
        within = (inner for key, inner in part.items() if WRAPPED.get(key, key) == kind)
        part = next((inner for inner in within if isinstance(inner, dict)), part)
    # A thought of Gemini is a text part with a flag. It is no part of the answer.
    if part.get("thought") is True:
        return
    if kind in TEXTS or kind == "message":
        texts.append(_text_of(part, kind))
    elif kind in CALLS:
        _call(message, part, CALLS[kind], is_open=kind != "server_tool_call")
    elif kind in RESPONSES:
        given = next((part[key] for key in RESPONSES[kind] if key in part), None)
        message.responses.append((_first(part, IDS), result_of(given), _has_failed(part, kind)))
    elif not SILENT.fullmatch(kind):
        message.unknown.append(kind)


def _has_failed(part: dict[str, Any], kind: str) -> bool | None:
    """Return whether a response states a failure; None where it states nothing."""
    if kind == "tool-error" or part.get("status") == "error":
        return True
    flag = part.get("is_error", part.get("isError"))
    return flag if isinstance(flag, bool) else None


def _call(message: Message, call: dict[str, Any], keys: tuple[str, ...], *, is_open: bool = True) -> None:
    args = arguments_in(next((call[key] for key in keys if key in call), None))
    message.calls.append((_first(call, IDS), _first(call, NAMES) or UNNAMED, args))
    message.open += [message.calls[-1][0]] * is_open


def _first(part: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((str(part[key]) for key in keys if part.get(key)), "")


def result_of(value: Any) -> Any:
    """Unwrap the result of a tool. Frameworks wrap it in a list of texts, a typed value, or a message."""
    match data_of(value):
        case [{"text": str()}, *_] as parts if all(
            isinstance(each, dict) and set(each) == {"text"} for each in parts
        ):
            return data_of("\n".join(str(each["text"]) for each in parts))
        case {"type": "json" | "text" | "error-text" | "error-json", "value": inner}:
            return data_of(inner)
        case dict(data) if message := tool_message(data):
            return data_of(message.get("content"))
        case data:
            return data


def tool_message(data: Any) -> dict[str, Any] | None:
    """Return LangChain's message of a tool without its wrapper; None for anything else."""
    if isinstance(data, dict) and isinstance(data.get("output"), dict):
        data = data["output"]
    found = (_unwrapped(data) if isinstance(data, dict) else None) or {}
    return found if found.get("type") == "tool" and {"content", "tool_call_id"} <= found.keys() else None


def read_messages(value: Any) -> Iterator[Message]:
    """Read the messages in a value, or in a text of JSON. A message that is a framework's state gives its messages."""
    for each in listed(data_of(value)):
        message = message_of(each) if isinstance(each, dict | list) else None
        if message is None:
            continue
        state = None if message.calls or message.responses else _state_in(message)
        found = [message] if state is None else filter(None, map(message_of, state))
        yield from found


def answers_in(value: Any) -> list[Message]:
    """Read the messages of an answer. Of a whole conversation, take those after the last question that was answered."""
    messages = [*read_messages(value)]
    last = max((at for at, each in enumerate(messages) if each.role == "assistant"), default=0)
    asked = [at for at, each in enumerate(messages[:last], 1) if each.role == "user" and not each.responses]
    return [each for each in messages[max(asked, default=0) :] if each.role != "user" or each.responses]


def _state_in(message: Message) -> list[Any] | None:
    """List the messages of a framework's state that was recorded as a text; None for any other text."""
    text = message.text
    if text[:1] in ("{", "["):
        data = data_of(text)
        if not isinstance(data, str):
            return _messages_in_state(data, message.role)
        if _DUMPED.search(text[:LONGEST_HEAD]):  # cut at a limit
            return []
    if one := _PRINTED_MESSAGE.match(text):
        return [{"role": message.role, "content": ast.literal_eval(one[1])}]
    return _printed_messages(text) if _PRINTED.match(text) else None


def _messages_in_state(data: Any, role: str) -> list[Any] | None:
    match data:
        case {"lc": _, "kwargs": dict()}:
            return [data]
        case [_, *_] if all(_is_dumped(each) for each in data):
            return listed(data)
        case dict() if CALLBACK.issuperset(data) and len(data) > 1:
            inner = next((data[key] for key in ("outputs", "output", "inputs", "input") if key in data), None)
            state = _messages_in_state(inner, role)
            return messages_in(inner, role) if state is None and inner not in NODES else state or []
        case dict():
            inner = (data[key] for key in (*STATES, *WRAPPERS) if isinstance(data.get(key), dict | list))
            return next(
                (found for each in inner if (found := _messages_in_state(each, role)) is not None), None
            )
    return None


def _is_dumped(data: Any) -> bool:
    """Return whether data is a message that a framework serialised, not data that a person or a model wrote."""
    if not isinstance(data, dict):
        return False
    marks = data.get("lc"), data.get("part_kind"), data.get("source") and data.get("type")
    parts = data.get("kind") in ("request", "response") and isinstance(data.get("parts"), list)
    return (
        any(marks) or parts or data.get("type") in ("human", "ai") or data.get("type") in ("system", "tool")
    )


def _printed_messages(text: str) -> list[Any]:
    """List the messages in a state as Python prints it; none where it is cut, and so no expression."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and _MESSAGE.fullmatch(node.func.id)
    ]
    calls.sort(key=lambda node: (node.lineno, node.col_offset))
    return [
        {"type": call.func.id, **{word.arg: _literal(word.value) for word in call.keywords if word.arg}}
        for call in calls
        if isinstance(call.func, ast.Name)
    ]


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
