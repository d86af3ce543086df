"""The event matcher that every assertion uses (SPEC 15)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Annotated, Any, ClassVar, Self

from agenteval.contracts.json_values import (
    MISSING,
    Difference,
    around_difference,
    equal,
    find_differences,
    first_difference,
    held_in,
    lookup,
    moment,
    seconds_between,
    show,
)
from agenteval.contracts.models import Model, NotNull, OneOrMore, Rule, WrongPart, describe, model
from agenteval.contracts.trace import ALWAYS_RECORDED, Event, EventType, ToolCall, Trace, tool_names
from agenteval.matching.patterns import pattern_fault, schema_fault, schema_faults, search
from agenteval.text.fitting import clipped
from agenteval.text.names import is_glob, is_spelled_like, name_matches
from agenteval.text.parts import composed, fold, holds, is_blank, readings


class Moment(Rule):
    """A moment in ISO 8601, or a mapping with it under `is` and how far off a value may be under `within_s`."""

    def fault(self, value: Any) -> str:
        given = value if isinstance(value, dict) else {"is": value}
        if unknown := [key for key in given if key not in ("is", "within_s")]:
            return f"unknown key {unknown[0]!r} (allowed: is, within_s)"
        if moment(given.get("is")) is None:
            return (
                "expected a moment in ISO 8601, such as 2026-01-31T08:00:00+01:00, or {is: …, within_s: …}, "
                f"got {describe(given.get('is'))}"
            )
        most = given.get("within_s", 0)
        if isinstance(most, bool) or not isinstance(most, int | float) or not 0 <= most < float("inf"):
            return f"within_s: expected seconds, at least 0, got {describe(most)}"
        return ""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        parts = {"is": {"type": "string"}, "within_s": {"type": "number", "minimum": 0}}
        full = {"type": "object", "properties": parts, "required": ["is"], "additionalProperties": False}
        return {"anyOf": [{"type": "string"}, full]}


class Mismatch(str):
    """A sentence about one difference, with its parts, so that reports never take a sentence apart.

    An agent writes arguments, and could write text that looks like another difference. `place` is a path in the data
    of the event, such as `args.filter.price` or `tool`. `got` is empty if `expected` is the whole difference.
    """

    __slots__ = ("expected", "got", "place")
    place: str
    expected: str
    got: str

    def __new__(cls, place: str, expected: str, got: str = "", words: str = "") -> Self:
        """Make a mismatch; `words` replace the usual sentence."""
        made = super().__new__(cls, words or f"{place}: expected {expected}, got {got}")
        made.place, made.expected, made.got = place, expected, got
        return made

    def inside(self, whole: str, words: str = "") -> "Mismatch":
        """Return the same difference with its place in a larger whole."""
        place = f"{whole}.{self.place}" if self.place not in ("", whole) else whole
        return Mismatch(place, self.expected, self.got, words or str(self))


class Note(str):
    """The differences of an event in one sentence; `parts` are the single ones."""

    __slots__ = ("parts",)
    parts: Sequence[str]

    def __new__(cls, parts: Sequence[str]) -> Self:
        """Make a note of differences."""
        made = super().__new__(cls, "; ".join(parts))
        made.parts = parts
        return made


@model
class ArgsMatch(Model):
    """Conditions on a call's arguments; all given matchers must hold. Keys may be dotted paths."""

    required_keys: list[str] = field(default_factory=list)
    """Keys that must be present."""
    args_contains: dict[str, Any] = field(default_factory=dict)
    """Strings by substring (in any case, no digits inside a longer number), everything else by equality."""
    args_equal: dict[str, Any] | None = None
    """Values that must be equal. `{}`: there are no arguments."""
    args_time: dict[str, Annotated[Any, Moment()]] = field(default_factory=dict)
    """Moments in ISO 8601, whatever their offset. `{is: …, within_s: 60}` allows for a minute more or less."""
    regex: dict[str, str] = field(default_factory=dict)
    """A regular expression to search for, per key; numbers are searched as they are written."""
    json_schema: dict[str, Any] | None = None
    """A JSON Schema for all arguments."""

    def __post_init__(self) -> None:
        _check_matchers(self)

    def named(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield the keys that the matchers name, each with the path to its place in the test file."""
        yield from ((("required_keys", number), key) for number, key in enumerate(self.required_keys))
        for name in ("args_contains", "args_equal", "args_time", "regex"):
            yield from (((name, key), key) for key in getattr(self, name) or ())

    def differences(self, args: dict[str, Any]) -> list[Mismatch]:
        """List the differences between arguments and matchers, one line each; none if they match."""
        find = partial(lookup, args)
        found = _differing(self, find, contains=self.args_contains, same=self.args_equal or {})
        if self.args_equal == {} and args:
            found.append(Mismatch("args", "none", _brief(args)))
        for key, wanted in self.args_time.items():
            found += _off(key, wanted if isinstance(wanted, dict) else {"is": wanted}, find(key))
        if self.json_schema is not None:
            found += _by_schema(self.json_schema, args)
        return [each.inside("args") for each in found]

    def differences_of(self, call: ToolCall) -> list[Mismatch]:
        """List the differences of a call's arguments; arguments that the recording lacks match nothing."""
        found = self.differences(call.args)
        return found if call.shows_arguments else [_without_words("args", "not in the recording")]


@model
class ResultMatch(Model):
    """Conditions on the result of a call; all given matchers must hold. Keys may be dotted paths.

    A result that is neither object nor list stands as a whole under the key `text`. A text of JSON is also read as
    JSON.
    """

    required_keys: list[str] = field(default_factory=list)
    """Keys that must be present."""
    contains: dict[str, Any] = field(default_factory=dict)
    """Values, as in `args_contains`."""
    equal: dict[str, Any] = field(default_factory=dict)
    """Values that must be equal."""
    regex: dict[str, str] = field(default_factory=dict)
    """A regular expression to search for, per key."""
    json_schema: dict[str, Any] | None = None
    """A JSON Schema for the whole result."""

    def __post_init__(self) -> None:
        _check_matchers(self)

    def differences(self, result: Any) -> list[Mismatch]:
        """List the differences between a result and the matchers, one line each; none if it matches."""
        held = held_in(result)
        whole = {"text": result} if held is None else held

        def find(key: str) -> Any:
            found = lookup(whole, key)
            return result if found is MISSING and key == "text" and isinstance(result, str) else found

        found = _differing(self, find, contains=self.contains, same=self.equal)
        if self.json_schema is not None:
            found += _by_schema(self.json_schema, whole)
        return [each.inside("result", f"result {each}") for each in found]

    def differences_of(self, call: ToolCall) -> list[Mismatch]:
        """List the differences of the result of a call that comes closest."""
        every = [self.differences(result.data.get("result")) for result in call.results]
        return min(every, key=len, default=[_without_words("result", "there is none")])


def _check_matchers(match: ArgsMatch | ResultMatch) -> None:
    """Refuse a match without matchers, and invalid patterns and schemas. Raises ValueError."""
    matchers: tuple[str, ...] = tuple(type(match).__slots__)
    is_of_args = isinstance(match, ArgsMatch)
    contains, same = ("args_contains", "args_equal") if is_of_args else ("contains", "equal")
    given = [name for name in matchers if getattr(match, name)]
    given += ["json_schema"] if match.json_schema == {} else []
    if is_of_args and getattr(match, same) == {}:
        if given:
            raise WrongPart(f"{same}: {{}} means no arguments, and leaves nothing for {given[0]}", same)
        return
    if not given:
        hint = f"; {same}: {{}} means a call without arguments" if is_of_args else ""
        raise ValueError(f"nothing to match: give at least one of {', '.join(matchers)}{hint}")
    for key, phrase in getattr(match, contains).items():
        if isinstance(phrase, str) and is_blank(phrase):
            message = f"the phrase of {key} is blank, and asks for nothing: use {same} for a blank text"
            raise WrongPart(f"{message}, or required_keys to accept any", contains, key)
    _check_patterns(match)


def _check_patterns(match: ArgsMatch | ResultMatch) -> None:
    for key, pattern in match.regex.items():
        if not pattern:
            message = (
                f"the pattern of {key} is empty, and matches every text: use required_keys to accept any"
            )
            raise WrongPart(message, "regex", key)
        if fault := pattern_fault(pattern):
            raise WrongPart(fault, "regex", key)
    # Arguments are always an object: `type: object` alone would ask nothing of them.
    kinds = ("object",) if isinstance(match, ArgsMatch) else ("array", "object")
    if match.json_schema is not None and (fault := schema_fault(match.json_schema, kinds=kinds)):
        raise WrongPart(fault, "json_schema")


def _differing(
    match: ArgsMatch | ResultMatch,
    find: Callable[[str], Any],
    *,
    contains: Mapping[str, Any],
    same: Mapping[str, Any],
) -> list[Mismatch]:
    """List the differences by the matchers that name keys; `find` returns the value of a key."""
    missing = [key for key in match.required_keys if find(key) is MISSING]
    found = [Mismatch(key, "any value", "nothing", f"{key} is missing") for key in missing]
    for key, want in contains.items():
        got = find(key)
        if _contains(got, want):
            continue
        if isinstance(want, str):
            found.append(Mismatch(key, f"to contain {_brief(want)}", _brief(got)))
        else:
            found += _unequal(key, want, got, "to be ")
    for key, want in same.items():
        got = find(key)
        if not equal(got, want):
            found += _unequal(key, want, got)
    for key, pattern in match.regex.items():
        if not _has_match(pattern, got := find(key)):
            found.append(Mismatch(key, f"a match of /{pattern}/", _brief(got)))
    return found


def _has_match(pattern: str, value: Any) -> bool:
    text = show(value) if isinstance(value, int | float) else value
    return isinstance(text, str) and any(search(composed(pattern), each) for each in readings(composed(text)))


def _by_schema(schema: dict[str, Any], value: Any) -> list[Mismatch]:
    """List the violations of a JSON Schema, each at its place."""
    return [
        Mismatch(".".join(place), fault, words=f"{'/'.join(place) or '(top)'}: {fault}")
        for place, fault in schema_faults(schema, value)
    ]


def _without_words(place: str, fault: str) -> Mismatch:
    return Mismatch(place, fault, words=f"{place}: {fault}")


def _off(key: str, wanted: Mapping[str, Any], got: Any) -> list[Mismatch]:
    """List the difference between a value and a moment; none if it is that moment."""
    there, most = moment(got), wanted.get("within_s", 0)
    apart = None if there is None else seconds_between(moment(wanted["is"]) or there, there)
    if apart is not None and abs(apart) <= most:
        return []
    expected = f"the moment {wanted['is']}" + (f" within {most:g} s" if most else "")
    if there is not None and apart is None:
        return [Mismatch(key, expected, f"{_brief(got)}: only one has an offset")]
    off = "" if apart is None else f", {abs(apart):g} s {'later' if apart > 0 else 'earlier'}"
    return [Mismatch(key, expected, f"{_brief(got)}{off}")]


@model
class Selector(Model):
    """Conditions on events, all of which must hold.

    `success` and `result` apply to calls only with `event_type: tool_call`.
    """

    event_type: EventType | None = None
    """The type of event."""
    tool: str | None = None
    """The tool of a tool event: a name or glob."""
    call_id: str | None = None
    """One particular call, or the memory events that it caused."""
    success: bool | None = None
    """For results: true if it succeeded. For calls: true if the call did."""
    args: Annotated[ArgsMatch | None, NotNull()] = None
    """Conditions on the arguments, for calls and results of calls."""
    result: ResultMatch | None = None
    """Conditions on the result; for calls, on any result of the call."""
    agent: str | None = None
    """The agent: its id, or the name or type that a subagent was started with; or a glob. The main agent is `main`.
    """

    TOOL_EVENTS: ClassVar[tuple[str, ...]] = ("tool_call", "tool_result", "error")
    MEMORY_EVENTS: ClassVar[tuple[str, ...]] = ("memory_read", "memory_write")
    """Types of event that may name the call that caused them, but have no tool, arguments or outcome."""

    def __post_init__(self) -> None:
        of_tools = {name: getattr(self, name) for name in ("tool", "call_id", "success", "args", "result")}
        given = [name for name, value in of_tools.items() if value is not None]
        if self.event_type is None and not given and self.agent is None:
            names = "event_type, tool, call_id, success, args, result and agent"
            raise ValueError(f"a selector needs at least one of {names}")
        if self.event_type in self.MEMORY_EVENTS and self.call_id is not None:
            given.remove("call_id")
        if self.event_type is not None and self.event_type not in self.TOOL_EVENTS and given:
            raise ValueError(
                f"{given[0]} goes with tool events ({', '.join(self.TOOL_EVENTS)}), "
                f"not with {self.event_type}: this selector could never match"
            )
        if self.event_type == "error" and self.success:
            raise ValueError("an error is not a success: this selector could never match")
        if self.event_type == "error" and self.result is not None:
            raise ValueError("an error has no result: this selector could never match")

    @property
    def always_recorded(self) -> bool:
        """True if all events of the type are in every recording: messages and answers are never among the `unseen`
        parts.
        """
        return self.event_type in ALWAYS_RECORDED

    def matches(self, event: Event, trace: Trace) -> bool:
        """Return whether an event fulfils the conditions."""
        return next(self._differences(event, trace), None) is None

    def find(self, trace: Trace) -> list[Event]:
        """List the matching events, in order."""
        events = trace.of_type(self.event_type) if self.event_type else trace.events
        return [event for event in events if self.matches(event, trace)]

    def closest(self, trace: Trace) -> list[tuple[Event, str]]:
        """List the events that almost match, best first, at most three, each with its differences.

        Candidates are events of the tool; without a tool, of the type; without either, of any tool. After these come
        events of tools with a similar name.
        """
        similar = self._similar_tools(trace)
        ranked = []
        for event in trace.events:
            tool = tool_of(event, trace)
            if self.tool is None:
                near = event.type == self.event_type if self.event_type else tool != ""
            else:
                near = is_event_of(self.tool, event, trace) or tool in similar
            if near and (found := [*self._differences(event, trace)]):
                far = similar.index(tool) + 1 if tool in similar else 0
                ranked.append(((far, event.type != self.event_type, len(found), event.seq), event, found))
        # First the tool that was meant, then the type, then the fewest differences; the order of events decides ties.
        ranked.sort(key=lambda item: item[0])
        return [(event, Note(found)) for _, event, found in ranked[:MOST_CLOSEST]]

    def _similar_tools(self, trace: Trace) -> list[str]:
        """List the canonical names of tools with a name similar to the one in the selector, the most similar first."""
        if self.tool is None or is_glob(self.tool) or any(self.tool in names for names in trace.tools):
            return []
        from difflib import get_close_matches

        known = {name: names[0] for names in sorted(trace.tools) for name in names}
        near = get_close_matches(self.tool, known, n=MOST_CLOSEST, cutoff=0.6)
        return [*dict.fromkeys(known[name] for name in near)]

    def _differences(self, event: Event, trace: Trace) -> Iterator[Mismatch]:
        """Yield the conditions that an event does not fulfil."""
        if self.event_type is not None and event.type != self.event_type:
            yield Mismatch("event_type", self.event_type, event.type)
        if self.tool is not None and not is_event_of(self.tool, event, trace):
            yield Mismatch("tool", self.tool, tool_of(event, trace))
        if self.call_id is not None and (call_id := _call_id(event, trace)) != self.call_id:
            yield Mismatch("call_id", self.call_id, str(call_id))
        came_to = self.success is not None or self.result is not None
        if came_to and event.type == "tool_call" and self.event_type is None:
            # when it was made, it had come to nothing yet
            yield Mismatch("event_type", "tool_result", "tool_call")
        if self.success is not None and (success := _success(event, trace)) is not self.success:
            yield Mismatch("success", show(self.success), show(success))
        if self.agent is not None and not any(
            name_matches(self.agent, name) for name in agents_of(event, trace)
        ):
            yield Mismatch("agent", self.agent, " or ".join(agents_of(event, trace)))
        yield from self._differences_of_call(event, trace)

    def _differences_of_call(self, event: Event, trace: Trace) -> Iterator[Mismatch]:
        """Yield the differences in the arguments and the result of the event's call."""
        call = trace.call_of(event)
        if self.args is not None:
            no_call = [_without_words("args", "no call belongs to this event")]
            yield from self.args.differences_of(call) if call else no_call
        if self.result is None:
            return
        if call and event is call.event:  # a call has the results of all its attempts
            yield from self.result.differences_of(call)
        elif event.type == "tool_result":
            yield from self.result.differences(event.data.get("result"))
        else:
            yield _without_words("result", "there is none")

    def __str__(self) -> str:
        parts: list[str] = [self.event_type or "event"]
        if self.tool:
            parts.append(f"of {self.tool}")
        if self.call_id:
            parts.append(f"with call_id {self.call_id}")
        if self.success is not None:
            parts.append("that succeeded" if self.success else "that failed")
        matching = [word for word, match in (("arguments", self.args), ("result", self.result)) if match]
        if matching:
            parts.append(f"with matching {' and '.join(matching)}")
        if self.agent:
            parts.append(f"by the agent {self.agent}")
        return " ".join(parts)


Selectors = Annotated[list[Selector], OneOrMore()]
"""Several selectors; one alone needs no list."""


MOST_CLOSEST = 3
"""The number of near misses that are shown."""


def tool_of(event: Event, trace: Trace) -> str:
    """Return the tool of an event: its own, or the one of its call; "" if it has none."""
    if tool := event.data.get("tool"):
        return str(tool)
    call = trace.call_of(event)
    return call.tool if call else ""


def is_named(pattern: str, names: Iterable[str]) -> bool:
    """Return whether a pattern, a name or a glob, means the tool with these names."""
    return any(name_matches(pattern, name) for name in names)


def is_of(pattern: str, call: ToolCall) -> bool:
    """Return whether a pattern means the tool of a call, by any of its names."""
    return is_named(pattern, call.names)


def is_any_of(patterns: Iterable[str], call: ToolCall) -> bool:
    """Return whether any of the patterns means the tool of a call."""
    return any(is_of(pattern, call) for pattern in patterns)


def calls_of(trace: Trace, *tools: str) -> list[ToolCall]:
    """List the calls of the tools, which are names or globs, in order."""
    return [call for call in trace.calls() if is_any_of(tools, call)]


def is_forbidden(patterns: Iterable[str], call: ToolCall, available: Iterable[str]) -> bool:
    """Return whether any of the patterns means the tool of a call, also in another spelling, so that no forbidden
    call is missed.

    A tool that is available under the exact name of the call, and not under a pattern, is another tool.
    """
    known = [name for name in available if not is_glob(name)]
    return any(
        is_of(pattern, call)
        or (
            any(is_spelled_like(pattern, name) for name in call.names)
            and (not is_any_of(known, call) or pattern in known)
        )
        for pattern in patterns
    )


def is_event_of(pattern: str, event: Event, trace: Trace) -> bool:
    """Return whether a pattern means the tool of an event; `*` means any tool, but no event without one."""
    call = trace.call_of(event)
    return is_named(pattern, call.names if call else tool_names(str(event.data.get("tool") or "")))


def agents_of(event: Event, trace: Trace) -> Iterator[str]:
    """Yield the id of the agent of an event, and for a subagent the name and type that it was started with."""
    yield event.agent_id or ""
    call = trace.call_of(event) or trace.call_by_id(event.data.get("call_id"))
    start = trace.call_by_id(call.event.data.get("parent_call_id")) if call else None
    for key in AGENT_KEYS if start else ():
        if start and isinstance(name := start.args.get(key), str):
            yield name


AGENT_KEYS = ("name", "subagent_type", "agent_type")
"""The arguments that name a subagent, in the call that starts it."""


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
"""The characters of a value in a message: the message is cut too, and has other differences after it."""
BOTH_SHOWN = 300
"""The characters of two values that a message shows both in full, with room to spare."""


def _brief(value: Any) -> str:
    return clipped(show(value), LONGEST_VALUE)


MOST_PARTS = 5
"""The number of parts of one value that a message shows."""


def _unequal(key: str, want: Any, got: Any, be: str = "") -> Iterator[Mismatch]:
    """Yield the parts in which two values differ, at most five; short lists without inner values as a whole."""
    are_lists = isinstance(want, list) and isinstance(got, list)
    is_plain = are_lists and not any(isinstance(item, dict | list) for item in want)
    is_whole = want in ({}, []) or (is_plain and len(want) != len(got) and _are_short(want, got))
    found = [Difference((), want, got)] if is_whole else [*find_differences(want, got)]
    for path, one, other in found[:MOST_PARTS]:
        yield _expected(".".join(map(str, (key, *path))), one, other, be)
    if len(found) > MOST_PARTS:
        more = f"{len(found) - MOST_PARTS} more parts differ"
        yield Mismatch(key, more, words=f"{key}: {more}")


def _are_short(want: Any, got: Any) -> bool:
    return len(show(want)) + len(show(got)) <= BOTH_SHOWN


def _expected(key: str, want: Any, got: Any, be: str) -> Mismatch:
    """Return the mismatch of two values, of long texts where they differ."""
    about = ""
    if _are_short(want, got):
        one, other = show(want), show(got)
    elif isinstance(want, str) and isinstance(got, str):
        at = first_difference(want, got)
        one, other = map(_brief, around_difference(want, got))
        about = f" (differs at character {at + 1}, line {want.count(chr(10), 0, at) + 1})"
    else:
        one, other = _brief(want), _brief(got)
    return Mismatch(key, f"{be}{one}", other, f"{key}{about}: expected {be}{one}, got {other}")


def _contains(got: Any, want: Any) -> bool:
    if isinstance(got, str) and isinstance(want, str):
        return holds(fold(got), fold(want))
    return equal(got, want)
