"""Strict models of plain data: declared as dataclasses, checked in one pass that finds all that is wrong."""

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

from agenteval.text.names import slip_of

if TYPE_CHECKING:
    from agenteval.contracts.explaining import Finding

DataPath = tuple[str | int, ...]
"""A place in data: keys and list indices from the top."""


def dotted(path: DataPath) -> str:
    """A path as people write it: `scenario.input_messages[0].role`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


class Invalid(Exception):  # noqa: N818 - what it is, not what it does
    """The data does not fit the model; `findings` lists everything that is wrong, in document order."""

    def __init__(self, findings: Sequence["Finding"]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = list(findings)


class WrongPart(ValueError):  # noqa: N818 - what it is, not what it does
    """One part of a model's data breaks a rule; `path` leads to it from the model."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


def describe(value: Any) -> str:
    """A value as an error message names it: its kind, and itself when that is short."""
    match value:
        case None:
            return "nothing (null)"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"{value!r}" if len(value) <= 60 else f"a string of {len(value)} characters"
        case list():
            return "an empty list" if not value else "a list"
        case _:
            return "a mapping"


Steps = tuple[Any, ...]
"""The way to a value: the steps before, a key or index, and the model that has the key; empty at the top."""


class Violation(NamedTuple):
    """A value that does not fit, as the check notes it; `explaining` makes findings of it.

    `about` is the kind or the words that the value fails, the key or the text that it is about.
    """

    steps: Steps
    code: Literal["unknown_key", "missing_key", "wrong_tag", "wrong_type", "wrong_value"]
    about: Any
    value: Any = None


Check = Callable[[Any, Steps, list[Violation]], Any]
M = TypeVar("M", bound="Model")

EXTENSION_PREFIX = "x-"


class Model:
    """Base of all strict models: unknown keys and wrong types are errors, `x-` keys are the author's own.

    `extensible` is False for models of formats that are not ours: there `x-` keys are unknown like any other.
    """

    __slots__ = ()
    extensible: ClassVar[bool] = True
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "extra": "forbid",
        "use_attribute_docstrings": True,
    }

    def __init__(self, /, **values: Any) -> None:
        """Set the fields. One function for all models: to compile one for each took a tenth of a run's start."""
        cls: Any = type(self)
        names, defaults, factories = _plan_of(cls)
        given = {**defaults, **values}
        for name, make in factories:
            if name not in values:
                given[name] = make()
        if given.keys() != names:
            wrong = ", ".join(sorted(given.keys() ^ names))
            raise TypeError(f"{cls.__name__}: fields that are missing or unknown: {wrong}")
        for name, value in given.items():
            setattr(self, name, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check rules that span several fields. Raises `ValueError`."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in fields(self))  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass_transform(kw_only_default=True)
def model(cls: type[M]) -> type[M]:
    """Make a slotted, keyword-only dataclass; the rest comes from `Model`, made once for all."""
    return dataclass(init=False, slots=True, kw_only=True, eq=False, repr=False)(cls)


@cache
def _plan_of(
    cls: Any,
) -> tuple[frozenset[str], Mapping[str, Any], Sequence[tuple[str, Callable[[], Any]]]]:
    """The names of a model's fields, their default values, and the functions that make those."""
    declared = fields(cls)
    return (
        frozenset(each.name for each in declared),
        {each.name: each.default for each in declared if each.default is not MISSING},
        [(each.name, each.default_factory) for each in declared if each.default_factory is not MISSING],
    )


class Rule:
    """A condition on a value beside its kind: a mark of a field, `Annotated[int, Between(1)]`.

    `keywords` state it in JSON Schema.
    """

    keywords: Mapping[str, Any] = {}

    def fault(self, value: Any) -> str:
        """Explain why a value of the right kind breaks the rule; empty when it does not."""
        raise NotImplementedError

    def violations(self, value: Any, steps: Steps) -> Sequence[Violation]:
        """The same, and where."""
        why = self.fault(value)
        return (Violation(steps, "wrong_value", why),) if why else ()

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        return {**handler(core_schema), **self.keywords}


class Between(Rule):
    """Bounds of a number, both inclusive: `Annotated[int, Between(1)]`."""

    def __init__(self, low: float, high: float | None = None) -> None:
        self.low = low
        self.high = high
        self.keywords = {"minimum": low} if high is None else {"minimum": low, "maximum": high}

    def fault(self, value: Any) -> str:
        if not value >= self.low:
            return f"expected at least {self.low:g}, got {describe(value)}"
        if self.high is not None and value > self.high:
            return f"expected at most {self.high:g}, got {describe(value)}"
        return ""


class IntegerValued(Between):
    """A number without a fraction, `1.0` among them, of at least `low`: `Annotated[float, Whole(0)]`."""

    def __init__(self, low: float) -> None:
        super().__init__(low)
        self.keywords = {"type": "integer", "minimum": low}

    def fault(self, value: Any) -> str:
        return f"expected an integer, got the number {value}" if value % 1 else super().fault(value)


class NotEmpty(Rule):
    """At least one item or character: `Annotated[list[str], NotEmpty()]`."""

    def fault(self, value: Any) -> str:
        return "" if value else f"expected a non-empty value, got {describe(value)}"

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        schema = handler(core_schema)
        return {**schema, "minItems" if schema["type"] == "array" else "minLength": 1}


class Unique(Rule):
    """No item twice: `Annotated[list[str], Unique()]`."""

    keywords: Mapping[str, Any] = {"uniqueItems": True}

    def fault(self, value: Any) -> str:
        twice = [item for index, item in enumerate(value) if item in value[:index]]
        return f"{twice[0]!r} is listed twice" if twice else ""


class Matching(Rule):
    """A pattern that a string matches from end to end: `Annotated[str, Matching("[a-z]+")]`."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.keywords = {"pattern": f"^{pattern}$"}

    def fault(self, value: Any) -> str:
        import re

        if re.fullmatch(self.pattern, value, re.ASCII):
            return ""
        return f"expected a string that matches ^{self.pattern}$, got {describe(value)}"


class OpenMapping(Rule):
    """A mapping of the author's own shape, with some keys that have a meaning here.

    Unknown keys are allowed, but not one that is a known key with a typing slip: nothing would read it. The same
    holds in mappings that stand in a list under a known key.
    """

    def __init__(self, *known: str) -> None:
        self.known = known

    def violations(self, value: Any, steps: Steps) -> Sequence[Violation]:
        return [*self._slips(value, steps)]

    def _slips(self, value: Any, steps: Steps) -> Iterator[Violation]:
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._slips_in(item, (steps, index, None))
        else:
            yield from self._slips_in(value, steps)

    def _slips_in(self, value: Any, steps: Steps) -> Iterator[Violation]:
        for key, item in value.items() if isinstance(value, dict) else ():
            here = (steps, key, None)
            if key in self.known:
                yield from self._slips(item, here) if isinstance(item, list) else ()
            elif not key.startswith(EXTENSION_PREFIX) and (near := slip_of(key, self.known)):
                yield Violation(here, "unknown_key", near)


class OneOrMore:
    """A list of mappings; one alone needs no list: `Annotated[list[Selector], OneOrMore()]`. The last mark of a field."""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        several = handler(core_schema)
        return {"anyOf": [several["items"], several]}


class NotNull:
    """A value that may be left out, but not be null: `Annotated[str | None, NotNull()] = None`."""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        schema = handler(core_schema)
        members = [member for member in schema["anyOf"] if member != {"type": "null"}]
        return members[0] if len(members) == 1 else {**schema, "anyOf": members}


class Tagged:
    """A union of models told apart by one Literal field: `Annotated[A | B, Tagged("type")]`."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        schema = handler(core_schema)
        return {"oneOf": schema.pop("anyOf"), **schema}


def parse(cls: type[M], data: Any) -> M:
    """Build a model from plain data (dict, list, str, int, float, bool, None).

    Raises `Invalid`, which lists everything that is wrong, each with the path to it.
    """
    violations: list[Violation] = []
    built: M = _checker(cls)(data, (), violations)
    if violations:
        from agenteval.contracts.explaining import findings

        raise Invalid(findings(violations))
    return built


def plain(value: Any) -> Any:
    """The value with models and dataclasses as dicts, at any depth."""
    kind: Any = type(value)
    if kind is str:
        return value
    if kind is list:
        return [item if type(item) in _PLAIN else plain(item) for item in value]
    if kind is dict:
        return {key: item if type(item) in _PLAIN else plain(item) for key, item in value.items()}
    if (names := _field_names(kind)) is None:
        return value
    return {name: v if type(v := getattr(value, name)) in _PLAIN else plain(v) for name in names}


_PLAIN = frozenset((str, bool, int, float, type(None)))


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else None


_CHECKERS: dict[Any, Check] = {}


def _checker(kind: Any) -> Check:
    check = _CHECKERS.get(kind)
    if check is None:
        check = _CHECKERS[kind] = _make_checker(kind)
    return check


def _make_checker(kind: Any) -> Check:
    origin = get_origin(kind)
    args = get_args(kind)
    if kind is Any:
        return _anything
    if kind in (str, int, bool):
        return _exactly(kind)
    if kind is float:
        return _number
    if origin is Literal:
        return _one_of(kind, args)
    if origin is Annotated:
        return _annotated(args[0], args[1:])
    if origin in (Union, types.UnionType):
        return _union(args)
    if origin is list:
        return _list_of(kind, _checker(args[0]), _simple_kind(args[0]))
    if origin is dict:
        return _dict_of(kind, _checker(args[1]))
    if isinstance(kind, type) and issubclass(kind, Model):
        return _model(kind)
    known = (
        "str, int, float, bool, Any, Literal, list[...], dict[str, ...], a model, or several of them with |"
    )
    raise TypeError(f"strict models do not know {kind!r}: expected {known}")


def _anything(value: Any, _steps: Steps, _violations: list[Violation]) -> Any:
    return value


def _exactly(kind: type) -> Check:
    def check(value: Any, steps: Steps, violations: list[Violation]) -> Any:
        if type(value) is not kind:
            violations.append(Violation(steps, "wrong_type", kind, value))
        return value

    return check


def _number(value: Any, steps: Steps, violations: list[Violation]) -> Any:
    # From 2**53 on a float skips integers, and JSON of other programs knows floats alone: such an integer is one, too.
    if type(value) is int:
        return value if -(2**53) <= value <= 2**53 else float(value)
    if type(value) is not float:
        violations.append(Violation(steps, "wrong_type", float, value))
    return value


def _one_of(kind: Any, values: tuple[Any, ...]) -> Check:
    allowed = frozenset(values)

    def check(value: Any, steps: Steps, violations: list[Violation]) -> Any:
        if type(value) is not str or value not in allowed:
            violations.append(Violation(steps, "wrong_value", kind, value))
        return value

    return check


def _annotated(kind: Any, marks: tuple[Any, ...]) -> Check:
    if any(isinstance(mark, NotNull) for mark in marks):
        kind = Union[tuple(each for each in get_args(kind) if each is not types.NoneType)]  # noqa: UP007 - not known before
    tag = next((mark.key for mark in marks if isinstance(mark, Tagged)), "")
    check = _tagged(kind, tag) if tag else _checker(kind)
    rules = [mark for mark in marks if isinstance(mark, Rule)]
    if odd := next((mark for mark in marks if callable(mark) and mark not in rules), None):
        raise TypeError(f"strict models do not know the mark {odd!r}: expected a subclass of Rule")
    if one_or_more := any(isinstance(mark, OneOrMore) for mark in marks):
        one = _checker(get_args(kind)[0])
    if not rules and not one_or_more:
        return check

    def check_all(value: Any, steps: Steps, violations: list[Violation]) -> Any:
        before = len(violations)
        if one_or_more and type(value) is dict:
            value = [one(value, steps, violations)]
        elif one_or_more and type(value) is not list:
            violations.append(Violation(steps, "wrong_type", "a list or a mapping", value))
        else:
            value = check(value, steps, violations)
        for rule in rules:
            if value is not None and len(violations) == before:
                violations += rule.violations(value, steps)
        return value

    return check_all


def _tagged(kind: Any, key: str) -> Check:
    members = {
        tag: _checker(member)
        for member in get_args(kind)
        for tag in get_args(member.__dataclass_fields__[key].type)
    }

    def check(value: Any, steps: Steps, violations: list[Violation]) -> Any:
        if type(value) is not dict:
            violations.append(Violation(steps, "wrong_type", dict, value))
        elif key not in value:
            # `typ: web` lacks no tag: its name is misspelt, which is one fault and not two.
            misspelt = slip_of(key, value)
            violations.append(
                Violation((steps, misspelt, None), "unknown_key", key)
                if misspelt
                else Violation(steps, "missing_key", key)
            )
        elif type(tag := value[key]) is str and tag in members:
            return members[tag](value, steps, violations)
        else:
            violations.append(Violation((steps, key, None), "wrong_tag", list(members), tag))
        return None

    return check


def _union(members: tuple[Any, ...]) -> Check:
    first, *others = [_checker(member) for member in members if member is not types.NoneType]
    optional = types.NoneType in members

    def check(value: Any, steps: Steps, violations: list[Violation]) -> Any:
        if value is None and optional:
            return None
        before = len(violations)
        # Each member is tried until one fits; then the flaws of those before it are forgotten.
        built = first(value, steps, violations)
        for member in others:
            seen = len(violations)
            if seen == before:
                break
            built = member(value, steps, violations)
            if len(violations) == seen:
                del violations[before:]
        return built

    return check


def _list_of(kind: Any, item: Check, simple: type | None) -> Check:
    def check(value: Any, steps: Steps, violations: list[Violation]) -> Any:
        if type(value) is not list:
            violations.append(Violation(steps, "wrong_type", kind, value))
            return None
        return [
            each if each and type(each) is simple else item(each, (steps, index, None), violations)
            for index, each in enumerate(value)
        ]

    return check


def _dict_of(kind: Any, item: Check) -> Check:
    def check(value: Any, steps: Steps, violations: list[Violation]) -> Any:
        if type(value) is not dict or not set(map(type, value)) <= {str}:
            violations.append(Violation(steps, "wrong_type", kind, value))
            return None
        if item is _anything:
            return dict(value)
        return {key: item(each, (steps, key, None), violations) for key, each in value.items()}

    return check


def _model(cls: type[Model]) -> Check:
    plans: dict[str, tuple[type | None, Check]] = {}
    required: frozenset[str] = frozenset()

    def check(value: Any, steps: Steps, violations: list[Violation]) -> Any:
        nonlocal required
        if not plans:  # on first use, so that a model may refer to itself
            declared = [f for f in fields(cls) if f.init]  # type: ignore[arg-type]
            plans.update({f.name: (_simple_kind(f.type), _checker(f.type)) for f in declared})
            required = frozenset(
                f.name for f in declared if f.default is MISSING and f.default_factory is MISSING
            )
        if type(value) is not dict:
            violations.append(Violation(steps, "wrong_type", cls, value))
            return None
        before = len(violations)
        if not required <= value.keys():
            missing = [name for name in plans if name in required and name not in value]
            violations += [Violation(steps, "missing_key", name) for name in missing]
        given = {}
        for key, item in value.items():
            plan = plans.get(key)
            if plan is None:
                if type(key) is not str or not (cls.extensible and key.startswith(EXTENSION_PREFIX)):
                    violations.append(Violation((steps, key, cls), "unknown_key", None, item))
            elif item and type(item) is plan[0]:  # most values: no function has to be called
                given[key] = item
            else:
                given[key] = plan[1](item, (steps, key, cls), violations)
        if len(violations) > before:
            return None
        # The rules of `__post_init__` span several keys, so they are asked only once each key is right.
        try:
            return cls(**given)
        except ValueError as error:
            for step in error.path if isinstance(error, WrongPart) else ():
                steps = (steps, step, None)
            violations.append(Violation(steps, "wrong_value", str(error) or "rejected without a reason"))
            return None

    return check


def _simple_kind(kind: Any) -> type | None:
    """The type that every value of a field may have, unless it is empty: `str` for `Name | None`; None without one."""
    for member in get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,):
        if get_origin(member) is Annotated:
            inner, *marks = get_args(member)
            member = inner if all(isinstance(mark, NotEmpty) for mark in marks) else None  # noqa: PLW2901
        if member in (str, int, bool):
            return member  # type: ignore[no-any-return]
    return None
