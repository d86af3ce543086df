"""Objects that foreign code filled in, held to the types that their classes declare: traces and recordings.

What an adapter that comes with agenteval makes is held to them by tests.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from agenteval.errors import AdapterError
from agenteval.spec import TestCase
from agenteval.trace import Event, Trace

_LONGEST_NUMBER = 13_000
"""In bits: Python does not write much longer ones as text."""
_SCALARS = frozenset((str, bool, float, NoneType))
_AT_ONCE = frozenset((str, bool, int, NoneType))
_TEXT, _ARGS = str | None, dict[str, Any] | None
_DATA: dict[str, tuple[tuple[str, Any], ...]] = {
    "tool_call": (("tool", str), ("call_id", _TEXT), ("args", _ARGS)),
    "tool_result": (("tool", _TEXT), ("call_id", _TEXT), ("success", bool)),
    "error": (("tool", _TEXT), ("call_id", _TEXT)),
}
"""What verdicts rest on in the data of events, by type of event."""


def check_foreign_trace(trace: Any, case: TestCase, adapter: str) -> None:
    """Refuse a trace of wrong types, or of another test. Raises `AdapterError` (`adapter.invalid_trace`)."""
    check_foreign(trace, Trace, adapter)
    if trace.test_case_id != case.id:
        raise _invalid(adapter, "trace", f"test_case_id is {trace.test_case_id!r}, not that of the test")


def check_foreign(made: Any, kind: type, adapter: str) -> None:
    """Refuse what an adapter made unless it is of that class, at any depth.

    Raises `AdapterError` (`adapter.invalid_trace`).
    """
    odd = next(_misfits(made, kind, ""), "")
    if odd:
        raise _invalid(adapter, "trace" if kind is Trace else "recording", odd)


def _invalid(adapter: str, what: str, odd: str) -> AdapterError:
    return AdapterError(
        f"adapter {adapter} made an invalid {what}: {odd}",
        reason_code="adapter.invalid_trace",
        next_step="correct the adapter, or report it to its author",
    )


def kind_of(value: Any) -> str:
    """What a value is, in a sentence."""
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


def not_json(value: Any) -> Iterator[str]:
    """What in a value has no place in JSON."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                yield f"the key {key!r}"
            if type(item) not in _SCALARS:
                yield from not_json(item)
    elif isinstance(value, list | tuple):
        for item in value:
            if type(item) not in _SCALARS:
                yield from not_json(item)
    elif value is not None and not isinstance(value, str | int | float):
        yield kind_of(value)
    elif isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        yield "a number with thousands of digits"


def _misfits(value: Any, kind: Any, name: str) -> Iterator[str]:
    """Where a value is something else than the kind declares, in words."""
    origin, args = get_origin(kind), get_args(kind)
    if NoneType in args:
        if value is not None:
            yield from _misfits(value, args[0], name)
    elif origin is list:
        yield from _in_list(value, args[0], name)
    elif origin is dict and isinstance(value, dict):
        for odd in not_json(value):
            yield f"{name} holds {odd}, which is not JSON"
        for key, item in value.items() if args[1] is not Any else ():
            yield from _misfits(item, args[1], f"{name}[{key!r}]")
    elif is_dataclass(kind) and isinstance(value, kind):  # type: ignore[arg-type]
        yield from _in_fields(value, name)
    elif origin is Literal:
        if value not in args:
            yield f"{name} is {value!r}: expected one of {', '.join(args)}"
    elif kind in (str, bool, int) and isinstance(value, kind) and isinstance(value, bool) == (kind is bool):
        return
    elif kind is float and type(value) in (int, float):
        if value - value != 0:
            yield f"{name} is {value}: expected a number"
    else:
        yield f"{name or 'it'} is {kind_of(value)}: expected {(origin or kind).__name__}"


def _in_list(value: Any, kind: Any, name: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{name} is {kind_of(value)}: expected list"
        return
    for position, item in enumerate(value):
        yield from _misfits(item, kind, f"{name}[{position}]")


def _in_fields(value: Any, name: str) -> Iterator[str]:
    prefix = f"{name}." if name else ""
    cls: Any = type(value)
    for field, kind, at_once in _declared(cls):
        if type(part := getattr(value, field)) not in at_once:
            yield from _misfits(part, kind, f"{prefix}{field}")
    if isinstance(value, Event):
        for key, kind in _DATA.get(value.type, ()):
            yield from _misfits(value.data.get(key), kind, f"{prefix}data.{key}")


@lru_cache(maxsize=64)
def _declared(cls: Any) -> list[tuple[str, Any, frozenset[Any]]]:
    """The fields of a dataclass, each with its kind and with the types that need no second look."""
    return [(each.name, each.type, _AT_ONCE.intersection(_members(each.type))) for each in fields(cls)]


def _members(kind: Any) -> tuple[Any, ...]:
    """The kinds in `X | None`; any other kind alone."""
    return args if NoneType in (args := get_args(kind)) else (kind,)
