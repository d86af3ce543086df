"""The event matcher that every assertion uses (SPEC 15)."""

from collections.abc import Iterable
from dataclasses import field
from typing import Any, ClassVar

from agenteval.author_schemas import schema_differences, schema_error
from agenteval.findings import WrongPart
from agenteval.json_values import MISSING, equal, lookup, show
from agenteval.patterns import is_glob, name_matches, pattern_error, search, shown
from agenteval.shortening import clipped
from agenteval.strict import Model, model
from agenteval.text import composed, fold, readings
from agenteval.trace import Event, EventType, ToolCall, Trace


@model
class ArgsMatch(Model):
    """What a call's arguments must be. All given matchers must hold. Keys may be dotted paths."""

    required_keys: list[str] = field(default_factory=list)
    """Keys that must be present."""
    args_contains: dict[str, Any] = field(default_factory=dict)
    """Strings by substring (case-insensitively), everything else by equality."""
    args_equal: dict[str, Any] = field(default_factory=dict)
    """Values that must be equal."""
    regex: dict[str, str] = field(default_factory=dict)
    """A regular expression to search for, per key; numbers are searched as they are written."""
    json_schema: dict[str, Any] | None = None
    """A JSON Schema for all arguments."""

    MATCHERS: ClassVar[tuple[str, ...]] = (
        "required_keys",
        "args_contains",
        "args_equal",
        "regex",
        "json_schema",
    )

    def __post_init__(self) -> None:
        if not any(getattr(self, name) for name in self.MATCHERS):
            raise ValueError(f"nothing to match: give at least one of {', '.join(self.MATCHERS)}")
        for key, pattern in self.regex.items():
            if not pattern:
                message = (
                    f"the pattern of {key} is empty, and matches every text: use required_keys to accept any"
                )
                raise WrongPart(message, "regex", key)
            if error := pattern_error(pattern):
                message = f"the pattern {shown(pattern)} is not a regular expression: {error}"
                raise WrongPart(message, "regex", key)
        if self.json_schema is not None and (error := schema_error(self.json_schema)):
            raise WrongPart(f"json_schema is not a JSON Schema: {error}", "json_schema")

    def differences(self, args: dict[str, Any]) -> list[str]:
        """What keeps the arguments from matching, one line each; empty when they match."""
        found = [f"{key} is missing" for key in self.required_keys if lookup(args, key) is MISSING]
        for key, want in self.args_contains.items():
            got = lookup(args, key)
            if _contains(got, want):
                continue
            if isinstance(want, str):
                found.append(f"{key}: expected to contain {_brief(want)}, got {_brief(got)}")
            else:
                found.append(_unequal(key, want, got, "expected to be"))
        for key, want in self.args_equal.items():
            got = lookup(args, key)
            if not equal(got, want):
                found.append(_unequal(key, want, got))
        for key, pattern in self.regex.items():
            got = lookup(args, key)
            text = show(got) if isinstance(got, int | float) else got
            if not isinstance(text, str) or not any(
                search(composed(pattern), each) for each in readings(composed(text))
            ):
                found.append(f"{key}: expected a match of /{pattern}/, got {_brief(got)}")
        if self.json_schema is not None:
            found += schema_differences(self.json_schema, args)
        return found

    def differences_of(self, call: ToolCall) -> list[str]:
        """What keeps the arguments of a call from matching; arguments that the recording lacks match nothing."""
        found = self.differences(call.args)
        return found if call.tells_args else ["args: not in the recording"]


@model
class Selector(Model):
    """Which events are meant. All given conditions must hold; at least one is needed."""

    event_type: EventType | None = None
    """The type of event."""
    tool: str | None = None
    """The tool of a tool event: a name, or a glob."""
    call_id: str | None = None
    """One particular call, or the memory events that it caused."""
    success: bool | None = None
    """For results: whether it succeeded. For calls: whether the call did. Without `event_type`, calls are not meant."""
    args: ArgsMatch | None = None
    """For calls, and results of calls: what the arguments must be."""

    TOOL_EVENTS: ClassVar[tuple[str, ...]] = ("tool_call", "tool_result", "error")
    MEMORY_EVENTS: ClassVar[tuple[str, ...]] = ("memory_read", "memory_write")
    """They may name the call that did it, but have no tool, arguments or outcome."""

    def __post_init__(self) -> None:
        of_tools = {name: getattr(self, name) for name in ("tool", "call_id", "success", "args")}
        given = [name for name, value in of_tools.items() if value is not None]
        if self.event_type is None and not given:
            raise ValueError("a selector needs at least one of event_type, tool, call_id, success and args")
        if self.event_type in self.MEMORY_EVENTS and self.call_id is not None:
            given.remove("call_id")
        if self.event_type is not None and self.event_type not in self.TOOL_EVENTS and given:
            raise ValueError(
                f"{given[0]} goes with tool events ({', '.join(self.TOOL_EVENTS)}), "
                f"not with {self.event_type}: this selector could never match"
            )
        if self.event_type == "error" and self.success:
            raise ValueError("an error is not a success: this selector could never match")

    def matches(self, event: Event, trace: Trace) -> bool:
        """Whether the event is meant."""
        if self.event_type is not None and event.type != self.event_type:
            return False
        if self.tool is not None and not is_event_of(self.tool, event, trace):
            return False
        if self.call_id is not None and _call_id(event, trace) != self.call_id:
            return False
        if self.success is not None and not self._has_success(event, trace):
            return False
        return self.args is None or self._args_differences(event, trace) == []

    def _has_success(self, event: Event, trace: Trace) -> bool:
        """Whether the event succeeded, or failed, as is asked. When it was made, a call had come to nothing yet."""
        told = event.type != "tool_call" or self.event_type is not None
        return told and _success(event, trace) is self.success

    def _args_differences(self, event: Event, trace: Trace) -> list[str]:
        assert self.args is not None
        call = trace.call_at(event) if event.type == "tool_call" else trace.call_of(event)
        return self.args.differences_of(call) if call else ["args: no call belongs to this event"]

    def find(self, trace: Trace) -> list[Event]:
        """All matching events, in order."""
        events = trace.of_type(self.event_type) if self.event_type else trace.events
        return [event for event in events if self.matches(event, trace)]

    def closest(self, trace: Trace) -> list[tuple[Event, str]]:
        """The events that almost match, best first, at most three, each with its differences.

        Candidates are events of the tool (or of the type, when no tool is named; of any tool, when neither is),
        then events of tools with a similar name.
        """
        similar = self._similar_tools(trace)
        ranked = []
        for event in trace.events:
            tool = tool_of(event, trace)
            if self.tool is None:
                near = event.type == self.event_type if self.event_type else tool != ""
            else:
                near = is_event_of(self.tool, event, trace) or tool in similar
            if near and (found := self._differences(event, trace)):
                far = similar.index(tool) + 1 if tool in similar else 0
                ranked.append(((far, event.type != self.event_type, len(found), event.seq), event, found))
        ranked.sort(key=lambda item: item[0])
        return [(event, "; ".join(found)) for _, event, found in ranked[:MOST_CLOSEST]]

    def _similar_tools(self, trace: Trace) -> list[str]:
        if self.tool is None or is_glob(self.tool):
            return []
        names = trace.tool_counts()
        if self.tool in names:
            return []
        from difflib import get_close_matches

        return get_close_matches(self.tool, names, n=MOST_CLOSEST, cutoff=0.6)

    def _differences(self, event: Event, trace: Trace) -> list[str]:
        found = []
        if self.event_type is not None and event.type != self.event_type:
            found.append(f"event_type: expected {self.event_type}, got {event.type}")
        tool = tool_of(event, trace)
        if self.tool is not None and not is_event_of(self.tool, event, trace):
            found.append(f"tool: expected {self.tool}, got {tool}")
        call_id = _call_id(event, trace)
        if self.call_id is not None and call_id != self.call_id:
            found.append(f"call_id: expected {self.call_id}, got {call_id}")
        success = _success(event, trace)
        if self.success is not None and success is not self.success:
            found.append(f"success: expected {show(self.success)}, got {show(success)}")
        if self.args is not None:
            found += self._args_differences(event, trace)
        return found

    def __str__(self) -> str:
        parts: list[str] = [self.event_type or "event"]
        if self.tool:
            parts.append(f"of {self.tool}")
        if self.call_id:
            parts.append(f"with call_id {self.call_id}")
        if self.success is not None:
            parts.append("that succeeded" if self.success else "that failed")
        if self.args:
            parts.append("with matching arguments")
        return " ".join(parts)


MOST_CLOSEST = 3
"""Candidates shown for something absent."""


def tool_of(event: Event, trace: Trace) -> str:
    """The tool of an event: its own, else that of the call it belongs to; empty when it has none."""
    if tool := event.data.get("tool"):
        return str(tool)
    call = trace.call_of(event)
    return call.tool if call else ""


def is_of(pattern: str, call: ToolCall) -> bool:
    """Whether the pattern means the tool of a call: by its name in the trace, or by the runtime's name for it."""
    return name_matches(pattern, call.tool) or (
        bool(recorded := call.recorded_tool) and name_matches(pattern, recorded)
    )


def is_any_of(patterns: Iterable[str], call: ToolCall) -> bool:
    """Whether any of the patterns means the tool of a call."""
    return any(is_of(pattern, call) for pattern in patterns)


def calls_of(trace: Trace, *tools: str) -> list[ToolCall]:
    """The calls of the tools, which are names or globs, in order."""
    return [call for call in trace.calls() if is_any_of(tools, call)]


def is_event_of(pattern: str, event: Event, trace: Trace) -> bool:
    """Whether the pattern means the tool of an event; `*` means any tool, but no event without one."""
    tool = tool_of(event, trace)
    if not tool:
        return False
    if name_matches(pattern, tool):
        return True
    call = trace.call_at(event) if event.type == "tool_call" else trace.call_of(event)
    return call is not None and is_of(pattern, call)


def _call_id(event: Event, trace: Trace) -> str | None:
    if call_id := event.data.get("call_id"):
        return str(call_id)
    call = trace.call_of(event)
    return call.call_id if call else None


def _success(event: Event, trace: Trace) -> bool | None:
    if event.type == "tool_result":
        return bool(event.data.get("success"))
    if event.type == "tool_call":
        call = trace.call_at(event)
        return call.succeeded if call.succeeded or call.failed else None
    return False if event.type == "error" else None


LONGEST_VALUE = 200
"""Characters of a value in a message: the message is cut too, and says what else is wrong after it."""
BOTH_SHOWN = 300
"""Characters of two values that a message shows both in full, with room to spare."""


def _brief(value: Any) -> str:
    return clipped(show(value), LONGEST_VALUE)


def _unequal(key: str, want: Any, got: Any, expected: str = "expected") -> str:
    """What was expected of a value and got; of long ones the first part that is not equal, and of a text where that is."""
    if len(show(want)) + len(show(got)) <= BOTH_SHOWN:
        return f"{key}: {expected} {show(want)}, got {show(got)}"
    if isinstance(want, str) and isinstance(got, str):
        from agenteval.differences import around_difference, first_difference

        at = first_difference(want, got)
        want, got, line = *around_difference(want, got), want.count("\n", 0, at) + 1
        key += f" (differs at character {at + 1}, line {line})"
    elif isinstance(want, dict | list) and type(want) is type(got):
        wanted, given = (dict(each if isinstance(each, dict) else enumerate(each)) for each in (want, got))
        for part in {**wanted, **given}:
            one, other = wanted.get(part, MISSING), given.get(part, MISSING)
            if not equal(one, other):
                return _unequal(".".join((key, str(part))), one, other, expected)
    return f"{key}: {expected} {_brief(want)}, got {_brief(got)}"


def _contains(got: Any, want: Any) -> bool:
    if isinstance(got, str) and isinstance(want, str):
        return fold(want) in fold(got)
    return equal(got, want)
