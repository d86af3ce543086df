"""What a search for plugins finds: a class, or why there is none."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import PurePath
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from agenteval.assertions.base import Assertion, Category, Looks, Proof, Verdict
from agenteval.contracts.adapters import Adapter
from agenteval.contracts.errors import AdapterError, saying
from agenteval.contracts.models import Invalid, Model, parse
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
        """What to do about the error."""
        if self.configured:
            return "correct the plugin, or remove it from `plugins` in the configuration"
        return "correct, reinstall or uninstall the package"


def origins(plugins: Iterable[Plugin]) -> str:
    """Where they come from, each once: `checks/a.py and checks/b.py`."""
    return " and ".join(dict.fromkeys(plugin.origin for plugin in plugins))


def told(error: BaseException) -> str:
    """An exception on one line: `ValueError: no such thing`."""
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


TYPE_PATTERN = r"[a-z][a-z0-9_]*"
OPERATOR_PATTERN = r"[a-z][a-z0-9-]*"

_ADAPTER_PARTS = ("name", "version", "supports_live_run", "trace")


def assertion_breach(cls: Any) -> str:
    """Everything that keeps a class from being an assertion type, in one line; empty when nothing does."""
    if not isinstance(cls, type) or not issubclass(cls, Assertion) or cls is Assertion:
        what = cls.__name__ if isinstance(cls, type) else repr(cls)
        return f"{what} is not a subclass of agenteval.assertions.base.Assertion"
    if "__dataclass_fields__" not in vars(cls):
        return f"{cls.__name__} is not decorated with @model (from agenteval.contracts.models)"
    missing = [*_told_wrongly(cls), *_undone(cls)]
    if not missing:
        missing = list(_bad_example(cls))
    return f"{cls.__name__} {'; '.join(missing)}" if missing else ""


def adapter_breach(cls: Any) -> str:
    """What keeps a class from being an adapter; empty when nothing does."""
    missing = [part for part in _ADAPTER_PARTS if not hasattr(cls, part)]
    if missing:
        return f"{cls.__name__} has no {', '.join(missing)}, which an adapter needs"
    if not isinstance(cls.name, str) or not cls.name:
        return f"{cls.__name__}.name is not a string"
    return ""


def operator_breach(cls: Any) -> str:
    """Everything that keeps a class from being a mutation operator; empty when nothing does."""
    missing = []
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not re.fullmatch(OPERATOR_PATTERN, name, re.ASCII):
        missing.append(f"has the name {name!r}: expected lower-case letters, digits and dashes")
    if (category := getattr(cls, "category", None)) not in get_args(Category):
        missing.append(f"has the category {category!r}: expected one of {', '.join(get_args(Category))}")
    if not isinstance(getattr(cls, "stands_for", None), str) or not cls.stands_for.strip():
        missing.append("has no stands_for, the failure that people see")
    if not (cls.__doc__ or "").strip():
        missing.append("has no docstring, which says what is changed")
    if getattr(cls, "__abstractmethods__", None):
        missing.append("does not define mutants(self, subject)")
    return f"{cls.__name__} {'; '.join(missing)}" if missing else ""


def schema_breach(cls: type[Model]) -> str:
    """Why pydantic cannot make a JSON Schema of a model, as `explain` and `schema` need; empty when it can."""
    from pydantic import TypeAdapter

    try:
        TypeAdapter(cls).json_schema()
    except Exception as error:  # noqa: BLE001 - pydantic's own, and what the plugin's marks raise
        return f"{cls.__name__} has parameters without a JSON Schema: {told(error)}"
    return ""


def input_models(
    adapter: Adapter, attribute: Literal["input_model", "input_schemas"]
) -> Mapping[str, type[Model]]:
    """The models that an adapter tells of in an attribute, by name; none when it has no such attribute.

    Raises `AdapterError` (`adapter.broken`) when it raises, or holds something else.
    """
    models: Any = {}
    try:
        given: Any = getattr(adapter, attribute, None)
        if given is not None:
            models = given if attribute == "input_schemas" else {attribute: given}
        wrong = _no_models(models)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever an adapter's own code raises
        wrong = f"it raises {told(error)}"
    if wrong:
        raise AdapterError(
            f"the adapter {adapter.name!r} has no usable {attribute}: {wrong}",
            reason_code="adapter.broken",
            next_step="correct the adapter, or report it to its author",
        )
    found: Mapping[str, type[Model]] = models
    return found


def _no_models(models: Any) -> str:
    """What keeps a value from being a mapping of names to models with a JSON Schema; empty when nothing does."""
    if not isinstance(models, Mapping):
        return f"expected a mapping of names to models, got {kind_of(models)}"
    for name, cls in models.items():
        if not isinstance(name, str):
            return f"expected names that are strings, got {kind_of(name)}"
        if not isinstance(cls, type) or not issubclass(cls, Model):
            what = cls.__name__ if isinstance(cls, type) else kind_of(cls)
            return f"expected a subclass of agenteval.contracts.models.Model, got {what}"
        if breach := schema_breach(cls):
            return breach
    return ""


def verdict_of(check: Assertion, trace: Trace, case: TestCase) -> Verdict:
    """What a plugin's check says. Raises TypeError when it cannot become a result, and what the check raises."""
    before = _state(trace)
    verdict: Any = check.judge(trace, case)
    if not isinstance(verdict, Verdict):
        raise TypeError(f"check returned {kind_of(verdict)}, not a Verdict")
    looks: Any = check.looks_at()
    if not isinstance(looks, Looks):
        raise TypeError(f"looks_at returned {kind_of(looks)}, not Looks")
    if _state(trace) != before:
        raise TypeError("check changed the trace, which all assertions of the test read")
    _check_parts(verdict)
    return verdict


def _state(trace: Trace) -> list[int]:
    """What stays the same as long as nobody changes the trace, or the list of its calls."""
    calls = [(call.event.event_id, len(call.results), len(call.errors)) for call in trace.calls()]
    rest = [getattr(trace, each.name) for each in fields(trace) if each.name != "events"]
    return [hash(repr(part)) for part in (*trace.events, *rest, calls)]


def _check_parts(verdict: Verdict) -> None:
    parts: Any = verdict.message, verdict.reason, verdict.category
    if not all(isinstance(part, str) for part in parts):
        raise TypeError("the message, the reason and the category of a verdict are strings")
    proven: Any = verdict.proven
    if proven is not None and not isinstance(proven, bool):
        raise TypeError(f"proven is {proven!r}: expected True, False or None")
    flags: Any = {name: getattr(verdict, name) for name in ("passed", "exercised", "applicable")}
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name} is {flag!r}: expected True or False")
    missing: Any = verdict.missing
    if isinstance(missing, str) or not set(missing) <= set(CAPABILITY_FLAGS):
        raise TypeError(f"missing is {missing!r}: expected capabilities ({', '.join(CAPABILITY_FLAGS)})")
    events: Any = (*verdict.events, *(event for event, _ in verdict.closest))
    for event in events:
        if not isinstance(event, Event):
            raise TypeError(f"the events of a verdict are events of the trace, not {kind_of(event)}")
    for name, value in verdict.observed.items():
        if (odd := next(not_json(value), None)) is not None:
            raise TypeError(f"observed {name!r} holds {odd}, which is not JSON")


def _told_wrongly(cls: type[Assertion]) -> Iterator[str]:
    """What the class declares of itself, where it is missing or impossible."""
    said: Mapping[str, Any] = {
        name: getattr(cls, name, None)
        for name in ("type", "category", "failure_category", "implied", "example")
    }
    if not isinstance(said["type"], str):
        yield "has no type, the name in test files"
    elif not re.fullmatch(TYPE_PATTERN, said["type"], re.ASCII):
        yield f"has the type {said['type']!r}: expected lower-case letters, digits and underscores"
    if said["category"] not in get_args(Category):
        has = "no category" if said["category"] is None else f"the category {said['category']!r}"
        yield f"has {has}: expected one of {', '.join(get_args(Category))}"
    if not isinstance(said["failure_category"], str) or not said["failure_category"].strip():
        yield "has no failure_category, the kind of failure in words"
    if not isinstance(said["implied"], tuple) or not all(
        flag in CAPABILITY_FLAGS for flag in said["implied"]
    ):
        yield f"has implied {said['implied']!r}: expected a tuple of capabilities ({', '.join(CAPABILITY_FLAGS)})"
    proves: Any = cls.proves
    if not isinstance(proves, tuple) or not set(proves) <= set(get_args(Proof)):
        yield f"has proves {proves!r}: expected a tuple of verdicts ({', '.join(get_args(Proof))})"
    judged = cls.event_types_judged
    if judged is not None and (
        not isinstance(judged, tuple) or not all(kind in EVENT_TYPES for kind in judged)
    ):
        yield f"has event_types_judged {judged!r}: expected a tuple of event types ({', '.join(EVENT_TYPES)})"
    if not isinstance(said["example"], str):
        yield "has no example, the params of an example as YAML"
    doc = cls.__doc__ or ""
    if not doc.strip() or doc.startswith(f"{cls.__name__}("):  # the signature, which dataclass makes up
        yield "has no docstring, which says what it counts and when it passes"


def _undone(cls: type[Assertion]) -> Iterator[str]:
    """A check that is not defined; annotations that cannot be read."""
    declared = fields(cls)  # type: ignore[arg-type]
    names = {each.name for each in declared}
    if "check" in names and cls.judge is Assertion.judge:
        yield "has a parameter called check, and so must define judge(self, trace, case)"
    elif cls.check is Assertion.check:
        yield "does not define check(self, trace, case)"
    if any(isinstance(each.type, str) for each in declared):
        yield "has annotations that are text: remove `from __future__ import annotations`, and the quotes around them"


def _bad_example(cls: type[Assertion]) -> Iterator[str]:
    import yaml

    try:
        if not isinstance(parse(cls, yaml.safe_load(cls.example) or {}), cls):
            yield "makes something other than an instance of its example"
    except yaml.YAMLError as error:
        yield f"has an example that is not YAML: {told(error)}"
    except Invalid as invalid:
        yield f"rejects its own example: {'; '.join(finding.sentence for finding in invalid.findings)}"
    except Exception as error:  # noqa: BLE001 - whatever a plugin's own code raises, it is broken
        yield f"cannot read its own example: {told(error)}"
