"""The contract of plugins: what a search for them finds, and what is checked of their classes, traces and verdicts."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import PurePath
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from agenteval.assertions.base import Assertion, Category, Proof, Scope, Verdict
from agenteval.contracts.adapters import Adapter
from agenteval.contracts.errors import AdapterError, saying
from agenteval.contracts.models import Model, parse
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import CAPABILITY_FLAGS, EVENT_TYPES, Event, Trace
from agenteval.text.fitting import clipped

Kind = Literal["assertion", "adapter", "operator"]

_LONGEST_ERROR = 300


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Plugin:
    """One class of a plugin, or what is wrong with it.

    `name` is the assertion type, or the name of the adapter or the operator; empty when that is unknown. `origin` is the
    module as the configuration names it (`configured`), or the installed package. `target` is the `module:class` of a
    plugin of a package; until it is loaded it has neither `cls` nor `error`.
    """

    kind: Kind
    name: str
    origin: str
    configured: bool
    target: str = ""
    cls: type[Any] | None = None
    error: str = ""

    @property
    def complaint(self) -> str:
        """The plugin and its error in a sentence."""
        return f"the plugin {self.origin} is broken: {self.error}"

    @property
    def next_step(self) -> str:
        """The next step for the plugin's author."""
        if self.configured:
            return "correct the plugin, or remove it from `plugins` in the configuration"
        return "correct, reinstall or uninstall the package"


def error_line(error: BaseException) -> str:
    """Render an exception on one line: `ValueError: no such thing`."""
    text = clipped(" ".join(saying(error).split()), _LONGEST_ERROR)
    return f"{type(error).__name__}: {text}".rstrip(": ")


def line_in(origin: str, error: BaseException) -> str:
    """The last line of a plugin's file in the traceback, ` (line 14)`; empty for a syntax error, which names its own."""
    if isinstance(error, SyntaxError):
        return ""
    from traceback import walk_tb

    steps = walk_tb(error.__traceback__)
    numbers = [number for frame, number in steps if PurePath(frame.f_code.co_filename).match(origin)]
    return f" (line {numbers[-1]})" if numbers else ""


_LONGEST_NUMBER = 13_000
"""In bits: Python does not write much longer ones as text."""
_SCALARS = frozenset((str, bool, float, NoneType))
_AT_ONCE = frozenset((str, bool, int))
_TEXT, _ARGS = str | None, dict[str, Any] | None
_DATA: dict[str, tuple[tuple[str, Any], ...]] = {
    "tool_call": (("tool", str), ("call_id", _TEXT), ("args", _ARGS)),
    "tool_result": (("tool", _TEXT), ("call_id", _TEXT), ("success", bool)),
    "error": (("tool", _TEXT), ("call_id", _TEXT)),
}
"""The data of events that verdicts rest on, by type of event."""


def check_foreign_trace(trace: Any, case: TestCase, adapter: str) -> None:
    """Refuse a trace of wrong types, or of another test. Raises `AdapterError` (`adapter.invalid_trace`)."""
    check_foreign(trace, Trace, adapter)
    if trace.test_case_id != case.id:
        raise _invalid(adapter, "trace", f"test_case_id is {trace.test_case_id!r}, not the id of the test")


def check_foreign(made: Any, kind: type, adapter: str) -> None:
    """Refuse what an adapter made unless it is of that class, at any depth.

    Raises `AdapterError` (`adapter.invalid_trace`).
    """
    if odd := next(_misfits(made, kind, ""), ""):
        raise _invalid(adapter, "trace" if kind is Trace else "recording", odd)


def _invalid(adapter: str, what: str, odd: str) -> AdapterError:
    return AdapterError(
        f"adapter {adapter} made an invalid {what}: {odd}",
        reason_code="adapter.invalid_trace",
        next_step="correct the adapter, or report it to its author",
    )


def kind_of(value: Any) -> str:
    """Name the type of a value in a sentence."""
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


def not_json(value: Any) -> Iterator[str]:
    """List the parts of a value that have no place in JSON."""
    if isinstance(value, dict):
        yield from (f"the key {key!r}" for key in value if not isinstance(key, str))
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            if type(item) not in _SCALARS:
                yield from not_json(item)
    elif value is not None and not isinstance(value, str | int | float):
        yield kind_of(value)
    elif isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        yield "a number with thousands of digits"


def _misfits(value: Any, kind: Any, name: str) -> Iterator[str]:
    """List the parts of a value that are something else than the kind declares, in words."""
    origin, args = get_origin(kind), get_args(kind)
    if NoneType in args:
        yield from _misfits(value, args[0], name) if value is not None else ()
    elif is_dataclass(kind) and isinstance(value, kind):  # type: ignore[arg-type]
        yield from _misfits_in_fields(value, f"{name}." if name else "")
    elif (parts := _parts(value, kind, name)) is not None:
        if origin is dict:
            yield from (f"{name} holds {odd}, which is not JSON" for odd in not_json(value))
        for part in parts:
            yield from _misfits(*part)
    elif origin is Literal:
        yield from () if value in args else (f"{name} is {value!r}: expected one of {', '.join(args)}",)
    elif kind is float and type(value) in (int, float):
        # Infinity less itself is NaN, which is true.
        yield from (f"{name} is {value}: expected a number",) if value - value else ()
    elif kind not in _AT_ONCE or type(value) is not kind:
        yield f"{name or 'it'} is {kind_of(value)}: expected {(origin or kind).__name__}"


def _parts(value: Any, kind: Any, name: str) -> Iterator[tuple[Any, Any, str]] | None:
    """List the parts of a list, tuple or mapping, each with its kind and name; None for any other value or kind."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (list, Sequence) and isinstance(value, list if origin is list else list | tuple):
        return ((item, args[0], f"{name}[{position}]") for position, item in enumerate(value))
    if origin is tuple and isinstance(value, tuple) and len(value) == len(args):
        return ((item, each, name) for item, each in zip(value, args, strict=True))
    if origin is dict and isinstance(value, dict):
        items = value.items() if args[1] is not Any else ()
        return ((item, args[1], f"{name}[{key!r}]") for key, item in items)
    return None


def _misfits_in_fields(value: Any, prefix: str) -> Iterator[str]:
    cls: Any = type(value)
    for field, each in _declared(cls):
        # Most fields are plain and right: for them no function has to be called.
        if type(part := getattr(value, field)) is not each or each not in _AT_ONCE:
            yield from _misfits(part, each, f"{prefix}{field}")
    for key, each in _DATA.get(value.type, ()) if isinstance(value, Event) else ():
        yield from _misfits(value.data.get(key), each, f"{prefix}data.{key}")


@lru_cache(maxsize=64)
def _declared(cls: Any) -> list[tuple[str, Any]]:
    """The fields of a dataclass, each with its kind."""
    return [(each.name, each.type) for each in fields(cls)]


TYPE_PATTERN = r"[a-z][a-z0-9_]*"
OPERATOR_PATTERN = r"[a-z][a-z0-9-]*"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_name(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value, re.ASCII))


def _is_there(value: object) -> bool:
    return value is not None


def _is_tuple_of(allowed: Sequence[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(each in allowed for each in value)


_CATEGORY = ("category", get_args(Category).__contains__, f"one of {', '.join(get_args(Category))}")
_DOCSTRING = "a docstring"
_PROOFS = get_args(Proof)

_Rule = tuple[str, Callable[[Any], bool], str]
_CONTRACTS: dict[Kind, Sequence[_Rule]] = {
    "assertion": (
        ("type", _is_name(TYPE_PATTERN), "a name of lower-case letters, digits and underscores"),
        _CATEGORY,
        ("failure_category", _is_text, "the kind of failure in words"),
        ("implied", _is_tuple_of(CAPABILITY_FLAGS), f"a tuple of {', '.join(CAPABILITY_FLAGS)}"),
        ("proves", _is_tuple_of(_PROOFS), f"a tuple of {', '.join(_PROOFS)}"),
        (
            "event_types_judged",
            lambda value: value is None or _is_tuple_of(EVENT_TYPES)(value),
            f"a tuple of {', '.join(EVENT_TYPES)}",
        ),
        ("example", lambda value: isinstance(value, str), "the params of an example, as YAML"),
        # dataclass makes up a docstring for a class without one: its signature
        ("__doc__", lambda value: _is_text(value) and not re.match(r"\w+\(", value), _DOCSTRING),
    ),
    "operator": (
        ("name", _is_name(OPERATOR_PATTERN), "a name of lower-case letters, digits and dashes"),
        _CATEGORY,
        ("stands_for", _is_text, "the failure that people see"),
        ("__doc__", _is_text, _DOCSTRING),
        ("__abstractmethods__", lambda value: not value, "a method mutants(self, subject)"),
    ),
    "adapter": (
        ("name", _is_text, "a name"),
        ("version", _is_there, "a version"),
        ("supports_live_run", _is_there, "true or false"),
        ("trace", callable, "a method trace(self, case, context)"),
    ),
}
"""The attributes that a class of a kind must have: the test for each, and what is expected."""


def breach_of(cls: Any, kind: Kind) -> str:
    """Describe everything that keeps a class from being a plugin of a kind, with its line; empty when nothing does."""
    if kind == "assertion" and not (
        isinstance(cls, type) and issubclass(cls, Assertion) and "__dataclass_fields__" in vars(cls)
    ):
        wrong = [f"expected a subclass of {Assertion.__module__}.Assertion, decorated with @model"]
    else:
        wrong = [
            f"{name}: expected {expected}"
            + (f", got {clipped(repr(value), _LONGEST_ERROR)}" if value and name != "__doc__" else "")
            for name, holds, expected in _CONTRACTS[kind]
            if not holds(value := getattr(cls, name, None))
        ]
        if kind == "assertion":
            wrong = [*wrong, *_undone(cls)] or [*_bad_example(cls)]
    what = cls.__name__ if isinstance(cls, type) else repr(cls)
    return f"{what}{_line_of(cls)} breaks the contract: {'; '.join(wrong)}" if wrong else ""


def _line_of(cls: Any) -> str:
    from inspect import getsourcelines

    try:
        return f" (line {getsourcelines(cls)[1]})"
    except (OSError, TypeError):
        return ""


def _undone(cls: type[Assertion]) -> Iterator[str]:
    declared = fields(cls)  # type: ignore[arg-type]
    if cls.judge is Assertion.judge and (
        cls.check is Assertion.check or any(each.name == "check" for each in declared)
    ):
        yield "expected a method check(self, trace, case), or judge if a parameter is called check"
    if any(isinstance(each.type, str) for each in declared):
        yield "expected annotations without quotes, and no `from __future__ import annotations`"


def _bad_example(cls: type[Assertion]) -> Iterator[str]:
    import yaml

    try:
        if not isinstance(parse(cls, yaml.safe_load(cls.example) or {}), cls):
            yield "example: expected params of the class, got something else"
    except Exception as error:  # noqa: BLE001 - whatever a plugin's own code raises, it is broken
        yield f"example: expected params that the class accepts, got {error_line(error)}"


def schema_breach(cls: type[Model]) -> str:
    """Explain why pydantic cannot make a JSON Schema of a model, as `explain` and `schema` need; empty when it can."""
    from pydantic import TypeAdapter

    try:
        TypeAdapter(cls).json_schema()
    except Exception as error:  # noqa: BLE001 - pydantic's own, and what the plugin's marks raise
        return f"{cls.__name__} has parameters without a JSON Schema: {error_line(error)}"
    return ""


def input_models(
    adapter: Adapter, attribute: Literal["input_model", "input_schemas"]
) -> Mapping[str, type[Model]]:
    """The models that an adapter declares in an attribute, by name; none when it has no such attribute.

    Raises `AdapterError` (`adapter.broken`) when it raises, or holds something else.
    """
    try:
        given: Any = getattr(adapter, attribute, None) or {}
        models: dict[str, type[Model]] = dict(given if attribute == "input_schemas" else {attribute: given})
        for cls in filter(None, models.values()):
            if not (isinstance(cls, type) and issubclass(cls, Model)):
                raise TypeError(f"expected subclasses of {Model.__module__}.Model, got {cls!r}")  # noqa: TRY301
            if breach := schema_breach(cls):
                raise TypeError(breach)  # noqa: TRY301
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise AdapterError(
            f"the adapter {adapter.name!r} has no usable {attribute}: {error_line(error)}",
            reason_code="adapter.broken",
            next_step="correct the adapter, or report it to its author",
        ) from error
    return {str(name): cls for name, cls in models.items() if cls}


def verdict_of(check: Assertion, trace: Trace, case: TestCase) -> Verdict:
    """Judge a trace by a plugin's check. Raises TypeError for a verdict that no result can hold, and what the check raises."""
    before = _state(trace)
    verdict = check.judge(trace, case)
    looks: Any = check.looks_at()
    if not isinstance(looks, Scope):
        raise TypeError(f"looks_at returned {kind_of(looks)}, not Scope")
    if _state(trace) != before:
        raise TypeError("check changed the trace, which all assertions of the test read")
    if odd := next(_misfits(verdict, Verdict, "verdict"), ""):
        raise TypeError(odd)
    if not set(verdict.missing) <= set(CAPABILITY_FLAGS):
        raise TypeError(f"missing is {verdict.missing!r}: expected some of {', '.join(CAPABILITY_FLAGS)}")
    return verdict


def _state(trace: Trace) -> list[int]:
    """Return numbers that stay the same as long as nobody changes the trace, or the list of its calls."""
    calls = [(call.event.event_id, len(call.results), len(call.errors)) for call in trace.calls()]
    rest = [getattr(trace, each.name) for each in fields(trace) if each.name != "events"]
    return [hash(repr(part)) for part in (*trace.events, *rest, calls)]
