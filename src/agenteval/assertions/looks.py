"""What an assertion looks at and what its parameters name, derived from its fields, for plugins too.

The name of a parameter says what it names: `tool`, `tools` and the others of `LOOKED_AT` and `EXEMPT` tools,
`GROUPS` chat groups, `task_id` the scheduled task, `agent` an agent. So do the fields of models in parameters, such as `Selector`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple, get_args

from agenteval.findings import DataPath
from agenteval.selectors import ResultMatch
from agenteval.strict import Model

LOOKED_AT = frozenset({"tool", "tools", "forbidden_tools", "allowed_sources"})
"""Parameters with names or globs of tools that the check looks at."""
EXEMPT = frozenset({"allowed_following_tools", "ignore_tools"})
"""Parameters with names or globs of tools that the check passes over."""
GROUPS = frozenset({"group_id", "current_group_id", "forbidden_group_ids"})
"""Parameters with ids of chat groups."""
TASKS = frozenset({"task_id"})
"""Parameters with the id of the scheduled task."""
AGENTS = frozenset({"agent"})
"""Parameters with the id, the name or the type of an agent."""
_EVENT_TYPE = "event_type"
_NAMING = LOOKED_AT | EXEMPT | GROUPS | TASKS | AGENTS | {_EVENT_TYPE}

TOOL_EVENTS = frozenset({"tool_call", "tool_result", "error"})
"""The types of event that belong to a tool."""
ANY_TOOL = "*"

BY_CATEGORY: Mapping[str, tuple[str, ...]] = {
    "outcome": ("final_output",),
    "tool_process": ("tool_call",),
    "groundedness": ("tool_result", "final_output"),
    "memory": ("memory_read", "memory_write"),
    "isolation": ("memory_read", "memory_write", "tool_call", "final_output"),
    "scheduler": ("message_received",),
    "recovery": ("tool_call", "tool_result", "error"),
    "efficiency": (),
    "safety": ("tool_call", "final_output"),
}
"""The types of event that assertions of a category look at, unless the type itself says otherwise."""


class Looks(NamedTuple):
    """What an assertion looks at: tools (names or globs; `*` for all of them) and types of event."""

    tools: frozenset[str] = frozenset()
    event_types: frozenset[str] = frozenset()


def looks_by_fields(check: Model, event_types: tuple[str, ...]) -> Looks:
    """What the parameters of a check say that it looks at, beside the event types given.

    A check that looks at tool calls and names no tool looks at those of all tools.
    """
    tools: set[str] = set()
    types = set(event_types)
    selects = False
    for holder in _holders(check):
        named = {value for _, name, value in _own_names(holder) if name in LOOKED_AT}
        if hasattr(holder, _EVENT_TYPE):
            selects = True
            kind = holder.event_type
            types |= {kind} if kind else TOOL_EVENTS
            named = named or ({ANY_TOOL} if kind is None or kind in TOOL_EVENTS else set())
        if isinstance(getattr(holder, "result", None), ResultMatch):
            types.add("tool_result")
        tools |= named
    if tools and not types & TOOL_EVENTS:
        types.add("tool_call")
    if not tools and not selects and "tool_call" in types:
        tools.add(ANY_TOOL)
    return Looks(frozenset(tools), frozenset(types))


def names_in(check: Model, path: DataPath = ()) -> Iterator[tuple[DataPath, str, str]]:
    """Everything that the parameters name: the path to it, the parameter it stands in, and the name."""
    for steps, name, value in _own_names(check):
        yield (*path, *steps), name, value
    for steps, held in _held(check):
        yield from names_in(held, (*path, *steps))


def _holders(check: Model) -> Iterator[Any]:
    """The check, and every model in its parameters."""
    yield check
    for _, held in _held(check):
        yield from _holders(held)


def _own_names(holder: Any) -> Iterator[tuple[DataPath, str, str]]:
    kind: Any = type(holder)
    for name in _plan(kind)[0]:
        value = getattr(holder, name)
        if type(value) is str:
            yield (name,), name, value
        elif type(value) is list:
            for index, item in enumerate(value):
                if type(item) is str:
                    yield (name, index), name, item


def _held(holder: Any) -> Iterator[tuple[DataPath, Model]]:
    kind: Any = type(holder)
    for name in _plan(kind)[1]:
        value = getattr(holder, name)
        if isinstance(value, Model):
            yield (name,), value
        elif type(value) is list:
            for index, item in enumerate(value):
                if isinstance(item, Model):
                    yield (name, index), item


@cache
def _plan(cls: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a model that name something, and those that hold models which do."""
    names = tuple(each.name for each in fields(cls) if each.name in _NAMING)
    holding = tuple(
        each.name
        for each in fields(cls)
        if any(inner is not cls and any(_plan(inner)) for inner in _models_in(each.type))
    )
    return names, holding


def _models_in(kind: Any) -> Iterator[Any]:
    if isinstance(kind, type) and issubclass(kind, Model):
        yield kind
    for inner in get_args(kind):
        yield from _models_in(inner)
