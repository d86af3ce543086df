"""What is wrong with data that does not fit a strict model, told by the path to it."""

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import (
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

DataPath = tuple[str | int, ...]
"""Where in the data: keys and list indices from the top."""


class Finding(NamedTuple):
    """One thing wrong with the data, at `path` (keys and list indices from the top).

    `message` says what, and `sentence` also where. `at_key` says that the key itself is at fault, not its
    value; `name` is the key that is unknown or missing, `next_step` what to do where that is known.
    """

    code: Literal["unknown_key", "missing_key", "wrong_type", "wrong_value"]
    path: DataPath
    message: str
    allowed: Sequence[str] = ()
    suggestion: str | None = None
    at_key: bool = False
    name: str = ""
    next_step: str = ""

    @property
    def sentence(self) -> str:
        """The message with the place in words, such as `scenario.group_id: expected a string …`."""
        if not self.name:
            return f"{dotted(self.path)}: {self.message}" if self.path else self.message
        owner = self.path[:-1] if self.code == "unknown_key" else self.path
        return f"{self.message} in {dotted(owner)}" if owner else self.message


def dotted(path: DataPath) -> str:
    """A path as people write it: `scenario.input_messages[0].role`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


class Invalid(Exception):  # noqa: N818 - what it is, not what it does
    """The data does not fit the model; `findings` says everything that is wrong, in document order."""

    def __init__(self, findings: Sequence[Finding]) -> None:
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


Check = Callable[[Any], Any]
T = TypeVar("T")
M = TypeVar("M", bound="Model")

EXTENSION_PREFIX = "x-"


class NotPlain(Exception):  # noqa: N818 - a signal between two functions, never shown
    """The quick look does not accept the value; pydantic has to judge it."""


class Model:
    """Base of all strict models: unknown keys and wrong types are errors, `x-` keys are the author's own.

    `extensible` is False for models of formats that are not ours: there `x-` keys are unknown like any other.
    """

    __slots__ = ()
    extensible: ClassVar[bool] = True
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "strict": True,
        "extra": "forbid",
        "use_attribute_docstrings": True,
    }

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
    """Make a slotted, keyword-only dataclass; equality and repr come from `Model`, made once for all."""
    return dataclass(slots=True, kw_only=True, eq=False, repr=False)(cls)


class Between:
    """Bounds of a number, both inclusive: `Annotated[int, Between(1)]`."""

    def __init__(self, low: float, high: float | None = None) -> None:
        self.low = low
        self.high = high

    def __call__(self, value: Any) -> bool:
        return bool(value >= self.low and (self.high is None or value <= self.high))

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _limited(source, handler, ge=self.low, le=self.high)


class NotEmpty:
    """At least one item or character: `Annotated[list[str], NotEmpty()]`."""

    def __call__(self, value: Any) -> bool:
        return bool(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _limited(source, handler, min_length=1)


class OneOrMore:
    """A list of mappings; one alone needs no list: `Annotated[list[Selector], OneOrMore()]`. The last mark of a field."""

    def listed(self, value: Any) -> Any:
        """The value as a list, where it is a mapping."""
        return [value] if isinstance(value, dict) else value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(self._explain, handler(source))

    def _explain(self, value: Any) -> Any:
        from pydantic_core import PydanticCustomError

        if not isinstance(value, dict | list):
            raise PydanticCustomError("one_or_more", "neither a list nor a mapping")
        return self.listed(value)

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        several = handler(core_schema)
        return {"anyOf": [several["items"], several]}


class Whole:
    """A number without a fraction, `1.0` among them, of at least `low`: `Annotated[float, Whole(0)]`."""

    def __init__(self, low: float) -> None:
        self.low = low

    def __call__(self, value: Any) -> bool:
        return bool(value >= self.low and value % 1 == 0)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return explained(_limited(source, handler, ge=self.low), self._objection)

    def _objection(self, value: Any) -> str:
        return f"expected an integer, got the number {value}" if value % 1 else ""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        return {"type": "integer", "minimum": self.low}


class NotNull:
    """A value that may be left out, but not be null: `Annotated[str | None, NotNull()] = None`."""

    def __call__(self, value: Any) -> bool:
        return value is not None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        kinds = tuple(kind for kind in get_args(source) if kind is not types.NoneType)
        return handler.generate_schema(Union[kinds])  # noqa: UP007 - not known before


class Unique:
    """No item twice: `Annotated[list[str], Unique()]`."""

    def __call__(self, value: Any) -> bool:
        return len(set(value)) == len(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return explained(handler(source), self._objection)

    def _objection(self, value: Any) -> str:
        twice = [item for index, item in enumerate(value) if item in value[:index]]
        return f"{twice[0]!r} is listed twice" if twice else ""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        return {**handler(core_schema), "uniqueItems": True}


class Matching:
    """A pattern that a string matches from end to end: `Annotated[str, Matching("[a-z]+")]`."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __call__(self, value: Any) -> bool:
        import re

        return re.fullmatch(self.pattern, value, re.ASCII) is not None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _limited(source, handler, pattern=f"^{self.pattern}$")


class Tagged:
    """A union of models told apart by one Literal field: `Annotated[A | B, Tagged("type")]`."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _limited(source, handler, discriminator=self.key)


class OpenMapping:
    """A mapping whose shape is the author's, with some keys that have a meaning here.

    Unknown keys are allowed, but not one that is a known key with a typing slip: nothing would read it. The same
    holds in mappings that stand in a list under a known key.
    """

    def __init__(self, *known: str) -> None:
        self.known = known

    def __call__(self, value: Any) -> bool:
        return next(self._slips(value), None) is None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self._explain, handler(source))

    def _explain(self, value: Any) -> Any:
        from pydantic_core import PydanticCustomError

        for path, near in self._slips(value):
            raise PydanticCustomError("misspelt_key", "a misspelt key", {"path": path, "near": near})
        return value

    def _slips(self, value: Any) -> Iterator[tuple[DataPath, str]]:
        """The path of each misspelt key, and the known key that it is a slip of."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from (((index, *path), near) for path, near in self._slips(item))
        elif isinstance(value, dict):
            for key, item in value.items():
                if key in self.known:
                    if isinstance(item, list):
                        yield from (((key, *path), near) for path, near in self._slips(item))
                elif not key.startswith(EXTENSION_PREFIX) and (near := slip_of(key, self.known)):
                    yield (key,), near


def _limited(source: Any, handler: Any, **limits: Any) -> Any:
    """The schema of a rule that pydantic has too, added to the schema of the marks before it."""
    from pydantic import Field

    return handler.generate_schema(Annotated[source, _Given(handler(source)), Field(**limits)])


class _Given:
    """Stands for a schema that is already made: pydantic adds limits to types only."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return self.schema


def explained(schema: Any, objection: Callable[[Any], str]) -> Any:
    """The schema of a rule that pydantic lacks: `objection` says what is wrong with a value; empty when nothing is."""
    from pydantic_core import core_schema

    def explain(value: Any) -> Any:
        if why := objection(value):
            raise ValueError(why)
        return value

    return core_schema.no_info_after_validator_function(explain, schema)


def parse(cls: type[M], data: Any) -> M:
    """Build a model from plain data (dict, list, str, int, float, bool, None).

    Raises `findings.Invalid`, which lists everything that is wrong, each with the path to it.
    """
    try:
        built: M = _checker(cls)(data)
    except NotPlain:
        from agenteval.contracts.explaining import parse_slowly

        return parse_slowly(cls, data)
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
        return lambda value: value
    if kind in (str, int, bool, types.NoneType):
        return _exactly(kind)
    if kind is float:
        return _number
    if origin is Literal:
        return _one_of(args)
    if origin is Annotated:
        return _annotated(args[0], args[1:])
    if origin in (Union, types.UnionType):
        return _union(args)
    if origin is list:
        return _list_of(_checker(args[0]))
    if origin is dict:
        return _dict_of(_checker(args[1]))
    if isinstance(kind, type) and issubclass(kind, Model):
        return _model(kind)
    known = (
        "str, int, float, bool, Any, Literal, list[...], dict[str, ...], a model, or several of them with |"
    )
    raise TypeError(f"strict models do not know {kind!r}: expected {known}")


def _exactly(kind: type) -> Check:
    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise NotPlain
        return value

    return check


def _number(value: Any) -> Any:
    if type(value) is int:
        return value if -(2**53) <= value <= 2**53 else float(value)  # as pydantic, which makes all floats
    if type(value) is not float:
        raise NotPlain
    return value


def _one_of(values: tuple[Any, ...]) -> Check:
    allowed = frozenset(values)

    def check(value: Any) -> Any:
        if type(value) is not str or value not in allowed:
            raise NotPlain
        return value

    return check


def _annotated(kind: Any, marks: tuple[Any, ...]) -> Check:
    tag = next((mark for mark in marks if isinstance(mark, Tagged)), None)
    check = _tagged(kind, tag.key) if tag else _checker(kind)
    rules = [mark for mark in marks if callable(mark)]
    either = next((mark for mark in marks if isinstance(mark, OneOrMore)), None)
    if not rules and not either:
        return check

    def check_all(value: Any) -> Any:
        value = check(either.listed(value) if either else value)
        for rule in rules:
            if not rule(value):
                raise NotPlain
        return value

    return check_all


def _tagged(kind: Any, key: str) -> Check:
    by_tag = {}
    for member in get_args(kind):
        for tag in get_args(member.__dataclass_fields__[key].type):
            by_tag[tag] = _checker(member)

    def check(value: Any) -> Any:
        if type(value) is not dict:
            raise NotPlain
        tag = value.get(key)
        member = by_tag.get(tag) if type(tag) is str else None
        if member is None:
            raise NotPlain
        return member(value)

    return check


def _union(members: tuple[Any, ...]) -> Check:
    checks = [_checker(member) for member in members if member is not types.NoneType]
    optional = types.NoneType in members

    def check(value: Any) -> Any:
        if value is None and optional:
            return None
        for member in checks:
            try:
                return member(value)
            except NotPlain:
                continue
        raise NotPlain

    return check


def _list_of(item: Check) -> Check:
    def check(value: Any) -> Any:
        if type(value) is not list:
            raise NotPlain
        return [item(each) for each in value]

    return check


def _dict_of(item: Check) -> Check:
    anything = item is _checker(Any)

    def check(value: Any) -> Any:
        if type(value) is not dict:
            raise NotPlain
        for key in value:
            if type(key) is not str:
                raise NotPlain
        return dict(value) if anything else {key: item(each) for key, each in value.items()}

    return check


def _model(cls: type[Model]) -> Check:
    plans: dict[str, tuple[type | None, Check]] | None = None
    required: frozenset[str] = frozenset()

    def check(value: Any) -> Any:
        nonlocal plans, required
        if plans is None:  # on first use, so that a model may refer to itself
            declared = [f for f in fields(cls) if f.init]  # type: ignore[arg-type]
            required = frozenset(
                f.name for f in declared if f.default is MISSING and f.default_factory is MISSING
            )
            plans = {f.name: (_simple_kind(f.type), _checker(f.type)) for f in declared}
        if type(value) is not dict:
            raise NotPlain
        given = {}
        for key, item in value.items():
            plan = plans.get(key)
            if plan is None:
                if type(key) is not str or not (cls.extensible and key.startswith(EXTENSION_PREFIX)):
                    raise NotPlain
            elif item and type(item) is plan[0]:  # most values: no function has to be called
                given[key] = item
            else:
                given[key] = plan[1](item)
        if not required <= given.keys():
            raise NotPlain
        try:
            return cls(**given)
        except ValueError:
            raise NotPlain from None

    return check


def _simple_kind(kind: Any) -> type | None:
    """The type whose values, unless empty, are all right for a field: `str` for `Name | None`; None without one."""
    members = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return next((each for member in members if (each := _filled_kind(member)) in (str, int, bool)), None)


def _filled_kind(kind: Any) -> Any:
    """The type itself, or the inner one when `NotEmpty` is its only mark; None for other marks."""
    if get_origin(kind) is not Annotated:
        return kind
    inner, *marks = get_args(kind)
    return inner if all(isinstance(mark, NotEmpty) for mark in marks) else None
