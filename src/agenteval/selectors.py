"""The event matcher that every assertion uses (SPEC 15), and how arguments are compared."""

from dataclasses import field
from functools import lru_cache
from typing import Any, ClassVar

from agenteval.patterns import name_matches, pattern_error, search
from agenteval.strict import Model, model
from agenteval.trace import Event, EventType, Trace


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
    """A regular expression to search for, per key."""
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
        for pattern in self.regex.values():
            if error := pattern_error(pattern):
                raise ValueError(f"the pattern {pattern!r} is not a regular expression: {error}")
        if self.json_schema is not None and (error := schema_error(self.json_schema)):
            raise ValueError(f"json_schema is not a JSON Schema: {error}")

    def differences(self, args: dict[str, Any]) -> list[str]:
        """What keeps the arguments from matching, one line each; empty when they match."""
        found = [f"{key} is missing" for key in self.required_keys if lookup(args, key) is MISSING]
        for key, want in self.args_contains.items():
            got = lookup(args, key)
            if not _contains(got, want):
                verb = "to contain" if isinstance(want, str) else "to be"
                found.append(f"{key}: expected {verb} {show(want)}, got {show(got)}")
        for key, want in self.args_equal.items():
            got = lookup(args, key)
            if not equal(got, want):
                found.append(f"{key}: expected {show(want)}, got {show(got)}")
        for key, pattern in self.regex.items():
            got = lookup(args, key)
            if not isinstance(got, str) or not search(pattern, got):
                found.append(f"{key}: expected a match of /{pattern}/, got {show(got)}")
        if self.json_schema is not None:
            found += schema_differences(self.json_schema, args)
        return found


@model
class Selector(Model):
    """Which events are meant. All given conditions must hold; at least one is needed."""

    event_type: EventType | None = None
    """The type of event."""
    tool: str | None = None
    """The tool of a tool event: a name, or a glob."""
    call_id: str | None = None
    """One particular call."""
    success: bool | None = None
    """For results: whether it succeeded. For calls: whether the call did."""
    args: ArgsMatch | None = None
    """For calls, and results of calls: what the arguments must be."""

    def __post_init__(self) -> None:
        given = (self.event_type, self.tool, self.call_id, self.success, self.args)
        if all(value is None for value in given):
            raise ValueError("a selector needs at least one of event_type, tool, call_id, success and args")

    def matches(self, event: Event, trace: Trace) -> bool:
        """Whether the event is meant."""
        data = event.data
        if self.event_type is not None and event.type != self.event_type:
            return False
        if self.tool is not None and not name_matches(self.tool, str(data.get("tool") or "")):
            return False
        if self.call_id is not None and data.get("call_id") != self.call_id:
            return False
        if self.success is not None and _success(event, trace) is not self.success:
            return False
        return self.args is None or self._args_match(event, trace)

    def _args_match(self, event: Event, trace: Trace) -> bool:
        assert self.args is not None
        if event.type == "tool_call":
            args = event.data.get("args") or {}
        else:
            call = trace.call_of(event)
            if call is None:
                return False
            args = call.args
        return not self.args.differences(args)

    def find(self, trace: Trace) -> list[Event]:
        """All matching events, in order."""
        events = trace.of_type(self.event_type) if self.event_type else trace.events
        return [event for event in events if self.matches(event, trace)]

    def __str__(self) -> str:
        parts = [self.event_type or "event"]
        if self.tool:
            parts.append(f"of {self.tool}")
        if self.call_id:
            parts.append(f"with call_id {self.call_id}")
        if self.success is not None:
            parts.append("that succeeded" if self.success else "that failed")
        if self.args:
            parts.append("with matching arguments")
        return " ".join(parts)


def _success(event: Event, trace: Trace) -> bool | None:
    if event.type == "tool_result":
        return bool(event.data.get("success"))
    if event.type == "tool_call":
        call = trace.call_at(event)
        return call.succeeded if call.succeeded or call.failed else None
    return False if event.type == "error" else None


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def lookup(args: Any, path: str) -> Any:
    """The value at a dotted path (list items by index), or MISSING. A key that holds dots wins over a path."""
    if isinstance(args, dict) and path in args:
        return args[path]
    here = args
    for step in path.split("."):
        if isinstance(here, dict) and step in here:
            here = here[step]
        elif isinstance(here, list) and step.isdigit() and int(step) < len(here):
            here = here[int(step)]
        else:
            return MISSING
    return here


def equal(got: Any, want: Any) -> bool:
    """Equal as JSON values: `true` is not `1`, `1.0` is `1`."""
    if isinstance(got, bool) or isinstance(want, bool):
        return got is want
    if isinstance(got, dict) and isinstance(want, dict):
        return got.keys() == want.keys() and all(equal(got[key], want[key]) for key in got)
    if isinstance(got, list) and isinstance(want, list):
        return len(got) == len(want) and all(map(equal, got, want))
    return bool(got == want)


def _contains(got: Any, want: Any) -> bool:
    if isinstance(got, str) and isinstance(want, str):
        return want.casefold() in got.casefold()
    return equal(got, want)


def args_contain(args: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether the arguments match by the rule of `args_contains`."""
    return all(_contains(lookup(args, key), want) for key, want in wanted.items())


def show(value: Any) -> str:
    """A value for a message, on one line."""
    if isinstance(value, _Missing):
        return "nothing"
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


@lru_cache(maxsize=64)
def _validator(schema_text: str) -> Any:
    import json

    from jsonschema.validators import validator_for

    schema = json.loads(schema_text)
    cls = validator_for(schema)
    return cls(schema)


def schema_error(schema: dict[str, Any]) -> str | None:
    """Why this is not a JSON Schema, or None when it is one."""
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        return str(error.message)
    return None


def schema_differences(schema: dict[str, Any], value: Any) -> list[str]:
    """What a JSON Schema finds wrong with a value, one line each, at most ten.

    Only references inside the schema are followed; nothing is fetched.
    """
    import json

    errors = _validator(json.dumps(schema, sort_keys=True)).iter_errors(value)
    lines = []
    for error, _ in zip(errors, range(10), strict=False):
        place = "/".join(map(str, error.absolute_path)) or "(top)"
        lines.append(f"{place}: {error.message}")
    return lines
