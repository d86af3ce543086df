"""What strict models declare for a place in the data."""

import json
import re
import types
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import fields
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from agenteval.contracts.models import (
    EXTENSION_PREFIX,
    DataPath,
    Finding,
    Invalid,
    Model,
    OneOrMore,
    Tagged,
    WrongPart,
    describe,
)
from agenteval.text.names import closest, slip_of


def field_names(cls: type[Model]) -> list[str]:
    """The keys of its mappings."""
    return [field.name for field in fields(cls) if field.init]  # type: ignore[arg-type]


def model_at(cls: Any, data: Any, path: DataPath) -> type[Model] | None:
    """The model that describes the mapping at `path`."""
    models = [
        kind for kind in kinds_at(cls, data, path) if isinstance(kind, type) and issubclass(kind, Model)
    ]
    return models[0] if models else None


def kinds_at(cls: Any, data: Any, path: DataPath) -> list[Any]:
    """What the value at `path` may be, found by walking declarations and data together."""
    kinds = [cls]
    for step in path:
        kinds = [inner for kind in kinds for inner in _inner_kinds(kind, step, data)]
        data = data.get(step) if isinstance(data, dict) else data[step]
    return flatten(kinds, data)


def _inner_kinds(kind: Any, step: str | int, data: Any) -> list[Any]:
    inner = []
    for member in flatten([kind], data):
        if get_origin(member) is list:
            inner.append(get_args(member)[0])
        elif get_origin(member) is dict:
            inner.append(get_args(member)[1])
        elif isinstance(member, type) and issubclass(member, Model):
            inner += [field.type for field in fields(member) if field.name == step]  # type: ignore[arg-type]
    return inner


def flatten(kinds: Sequence[Any], data: Any) -> list[Any]:
    """Unwrap Annotated and unions; of a tagged union only the member that the data names, of one or more what the data is."""
    flat: list[Any] = []
    for kind in kinds:
        if hasattr(kind, "__metadata__"):
            inner, *marks = get_args(kind)
            tag = next((mark.key for mark in marks if isinstance(mark, Tagged)), None)
            if isinstance(data, dict) and any(isinstance(mark, OneOrMore) for mark in marks):
                inner = get_args(inner)[0]
            members = flatten([inner], data)
            if tag and isinstance(data, dict):
                members = [m for m in members if data.get(tag) in get_args(m.__dataclass_fields__[tag].type)]
            flat += members
        elif get_origin(kind) in (Union, types.UnionType):
            flat += flatten(get_args(kind), data)
        else:
            flat.append(kind)
    return flat


def models_in(kind: Any) -> list[type[Model]]:
    """The models that a value of this kind is, or is a list of."""
    members = flatten([kind], None)
    listed = [get_args(member)[0] for member in members if get_origin(member) is list]
    members += flatten(listed, None)
    return [member for member in members if isinstance(member, type) and issubclass(member, Model)]


MAX_FINDINGS = 1000
"""The most of pydantic's complaints about one document that become findings."""

M = TypeVar("M", bound=Model)


def parse_slowly(cls: type[M], data: Any) -> M:
    """Let pydantic judge. Raises `Invalid`."""
    try:
        built: M = _adapter(cls).validate_json(json.dumps(data))
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
    else:
        return built
    own = [_data_path(data, detail) for detail in details if _is_extension(detail)]
    if own and cls.extensible:
        return parse_slowly(cls, _without(data, own))
    raise Invalid(_findings(cls, data, details[:MAX_FINDINGS]))


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(cls: Any) -> TypeAdapter[Any]:
    adapter = _ADAPTERS.get(cls)
    if adapter is None:
        adapter = _ADAPTERS[cls] = TypeAdapter(cls)
    return adapter


def _is_extension(detail: Any) -> bool:
    return detail["type"] == "unexpected_keyword_argument" and str(detail["loc"][-1]).startswith(
        EXTENSION_PREFIX
    )


def _without(data: Any, paths: Sequence[DataPath]) -> Any:
    data = deepcopy(data)
    for *parents, key in paths:
        holder = data
        for step in parents:
            holder = holder[step]
        holder.pop(key, None)
    return data


def _data_path(data: Any, detail: Any) -> DataPath:
    """The part of a pydantic location that navigates the data (it also names union members)."""
    path: list[str | int] = []
    here = data
    loc = detail["loc"]
    for index, step in enumerate(loc):
        is_missing = detail["type"] == "missing" and index == len(loc) - 1
        if isinstance(here, dict) and (step in here or is_missing):
            path.append(step)
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            path.append(step)
            here = here[step]
    return tuple(path)


def _findings(cls: type[Model], data: Any, details: Sequence[Any]) -> list[Finding]:
    found: dict[tuple[DataPath, str], Finding] = {}
    expected: dict[DataPath, list[str]] = {}
    for detail in details:
        path = _data_path(data, detail)
        code = detail["type"]
        owner = model_at(cls, data, path[:-1])
        names = field_names(owner) if owner else []
        if code == "unexpected_keyword_argument":
            step = _home(cls, data, path, owner)
            near = None if step else closest(str(path[-1]), names)
            finding = _unknown(path, suggestion=near, allowed=names, next_step=step)
        elif code == "missing":
            finding = _missing(path[:-1], str(path[-1]))
        elif code == "misspelt_key":
            finding = _unknown((*path, *detail["ctx"]["path"]), suggestion=detail["ctx"]["near"])
        elif code in ("union_tag_invalid", "union_tag_not_found"):
            finding = _bad_tag(data, path, detail)
        elif code == "value_error":
            error = detail["ctx"]["error"]
            path += error.path if isinstance(error, WrongPart) else ()
            finding = Finding(
                code="wrong_value",
                path=path,
                message=str(error) or "rejected without a reason",
                at_key=not path,
            )
        else:
            value = _value_at(data, path)
            expected.setdefault(path, []).append(_expectation(detail))
            finding = _mismatch(path, value, expected[path], detail)
            finding = finding._replace(next_step=_remedy(kinds_at(cls, data, path), value))
        found[path, finding.message if finding.at_key else finding.code] = finding
    outer = {finding.path[:length] for finding in found.values() for length in range(len(finding.path))}
    meant = {
        (*each.path[:-1], each.suggestion)
        for each in found.values()
        if each.code == "unknown_key" and each.suggestion
    }
    order = _Order(data)
    return sorted(
        (finding for finding in found.values() if not _outdone(finding, outer, meant)),
        key=lambda finding: order.of(finding.path),
    )


def _outdone(finding: Finding, outer: set[DataPath], meant: set[DataPath]) -> bool:
    """Whether another finding says it better.

    A union complains once per member; the complaint of the best fit, which is the deepest, is kept. And a key that is
    there under a misspelt name, one of those `meant`, is not missing as well.
    """
    if finding.code == "missing_key":
        return (*finding.path, finding.name) in meant
    return finding.code == "wrong_type" and finding.path in outer


def _mismatch(path: DataPath, value: Any, expected: Sequence[str], detail: Any) -> Finding:
    wanted = " or ".join(dict.fromkeys(expected))
    message = f"expected {wanted}, got {describe(value)}"
    if isinstance(value, bool) and "string" in wanted:
        message += " (YAML reads yes, no, on and off as booleans: quote it)"
    elif isinstance(value, int | float) and "string" in wanted:
        message += " (put it in quotes, as it is written)"  # not what it was read as: 010 is 8
    choices = _choices(detail) if detail["type"] == "literal_error" else []
    return Finding(
        code="wrong_value" if detail["type"] in _ABOUT_VALUES else "wrong_type",
        path=path,
        message=message,
        allowed=choices,
        suggestion=closest(str(value), choices) if choices and isinstance(value, str) else None,
    )


def _remedy(kinds: Sequence[Any], value: Any) -> str:
    """What to write instead of a text that lacks brackets, or has quotes it should not have, in YAML and JSON alike."""
    if not isinstance(value, str):
        return ""
    items = [item for kind in kinds if get_origin(kind) is list for item in flatten(get_args(kind), None)]
    if str in items and len(value) <= 60:
        return f"put it in brackets: [{json.dumps(value, ensure_ascii=False)}]"
    bare = any(pattern and re.fullmatch(pattern, value) for pattern in map(_BARE.get, kinds))
    return f"write it without quotes: {value}" if bare else ""


_BARE: dict[Any, str] = {
    int: "-?[0-9]{1,18}",
    float: r"-?[0-9]{1,18}(\.[0-9]{1,18})?",
    bool: "true|false",
}
"""What a quoted text looks like that would be right without quotes, by the kind that is expected."""


def _unknown(
    path: DataPath, *, suggestion: str | None, allowed: Sequence[str] = (), next_step: str = ""
) -> Finding:
    name = str(path[-1])
    return Finding(
        code="unknown_key",
        path=path,
        message=f"unknown key {name!r}",
        allowed=allowed,
        suggestion=suggestion,
        at_key=True,
        name=name,
        next_step=next_step,
    )


def _home(cls: type[Model], data: Any, path: DataPath, owner: type[Model] | None) -> str:
    """Where a key that is unknown at `path` belongs: into one of its neighbours, or further out."""
    *outer, name = path
    for held in fields(owner) if owner else ():  # type: ignore[arg-type]
        if any(name in field_names(kind) for kind in models_in(held.type)):
            return f"move it into {held.name!r}"
    for length in reversed(range(len(outer))):
        around = model_at(cls, data, path[:length])
        if around and name in field_names(around):
            return f"put it next to {outer[length]!r}"
    return ""


def _missing(owner: DataPath, name: str) -> Finding:
    return Finding(
        code="missing_key", path=owner, message=f"missing required key {name!r}", at_key=True, name=name
    )


def _bad_tag(data: Any, path: DataPath, detail: Any) -> Finding:
    key = str(detail["ctx"]["discriminator"]).strip("'")
    value = _value_at(data, path)
    if not isinstance(value, dict) or key not in value:
        misspelt = slip_of(key, value) if isinstance(value, dict) else None
        return _unknown((*path, misspelt), suggestion=key) if misspelt else _missing(path, key)
    allowed = [tag.strip().strip("'") for tag in str(detail["ctx"]["expected_tags"]).split(",")]
    return Finding(
        code="wrong_value",
        path=(*path, key),
        message=f"unknown {key} {value[key]!r}",
        allowed=allowed,
        suggestion=closest(str(value[key]), allowed),
    )


def _choices(detail: Any) -> list[str]:
    return re.findall("'([^']*)'", detail["ctx"]["expected"])


_ABOUT_VALUES = (
    "literal_error",
    "greater_than_equal",
    "less_than_equal",
    "too_short",
    "string_too_short",
    "string_pattern_mismatch",
)

_EXPECTATIONS = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "one_or_more": "a list or a mapping",
    "dict_type": "a mapping",
    "dataclass_type": "a mapping",
    "dataclass_exact_type": "a mapping",
    "none_required": "nothing",
}


def _expectation(detail: Any) -> str:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "literal_error":
            choices = _choices(detail)
            return f"one of {', '.join(choices)}" if len(choices) > 1 else repr(choices[0])
        case "greater_than_equal":
            return f"at least {context['ge']:g}"
        case "less_than_equal":
            return f"at most {context['le']:g}"
        case "string_pattern_mismatch":
            return f"a string that matches {context['pattern']}"
        case "too_short" | "string_too_short":
            return "a non-empty value"
        case code:
            return str(_EXPECTATIONS.get(code, detail["msg"]))


def _value_at(data: Any, path: DataPath) -> Any:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else data[step]
    return data


class _Order:
    """Where paths stand in the document: the position of each step among its siblings."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.positions: dict[int, dict[Any, int]] = {}  # of the keys of each mapping met, by its identity

    def of(self, path: DataPath) -> tuple[int, ...]:
        """What to sort a path by."""
        places = []
        here = self.data
        for step in path:
            if isinstance(here, dict):
                positions = self.positions.setdefault(id(here), {})
                if not positions:
                    positions.update({key: index for index, key in enumerate(here)})
                places.append(positions.get(step, len(here)))
                here = here.get(step)
            elif isinstance(here, list) and isinstance(step, int):
                places.append(step)
                here = here[step]
        return tuple(places)


def json_schema(cls: Any, *, name: str, title: str, extensible: bool = True) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a model; `x-` keys are allowed wherever keys are fixed, if it is extensible."""
    schema = TypeAdapter(cls).json_schema()
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://agenteval.dev/schemas/0.1/{name}.schema.json",
        **schema,
        "title": title,
    }
    if extensible:
        allow_extensions(schema)
    return schema


def allow_extensions(schema: Any) -> None:
    """Let `x-` keys through every object of the schema that closes its keys."""
    if isinstance(schema, dict):
        if schema.get("additionalProperties") is False and "properties" in schema:
            schema["patternProperties"] = {"^x-": True}
        for value in schema.values():
            allow_extensions(value)
    elif isinstance(schema, list):
        for value in schema:
            allow_extensions(value)
