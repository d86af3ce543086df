"""What pydantic makes of strict models: the full list of what is wrong with data, and their JSON Schema.

Imported only when something is wrong or a schema is asked for (see `strict.py`).
"""

import json
import types
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from agenteval.strict import EXTENSION_PREFIX, Model, Tagged, closest

M = TypeVar("M", bound=Model)
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing wrong with the data, at `path` (keys and list indices from the top).

    `at_key` says that the key itself is at fault, not its value.
    """

    code: Literal["unknown_key", "missing_key", "wrong_type", "wrong_value"]
    path: Path
    message: str
    allowed: Sequence[str] = ()
    suggestion: str | None = None
    at_key: bool = False


class Invalid(Exception):  # noqa: N818 - what it is, not what it does
    """The data does not fit the model; `findings` says everything that is wrong, in document order."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = list(findings)


def parse_slowly(cls: type[M], data: Any) -> M:
    """Let pydantic judge. Raises `Invalid`."""
    adapter = TypeAdapter(cls)
    try:
        return adapter.validate_json(json.dumps(data))
    except ValidationError as error:
        details = error.errors(include_url=False)
    own = [_data_path(data, detail["loc"]) for detail in details if _is_extension(detail)]
    if own:
        return parse_slowly(cls, _without(data, own))
    raise Invalid(_findings(cls, data, details))


def _is_extension(detail: Any) -> bool:
    return detail["type"] == "unexpected_keyword_argument" and str(detail["loc"][-1]).startswith(
        EXTENSION_PREFIX
    )


def _without(data: Any, paths: Sequence[Path]) -> Any:
    data = deepcopy(data)
    for *parents, key in paths:
        holder = data
        for step in parents:
            holder = holder[step]
        holder.pop(key, None)
    return data


def _data_path(data: Any, loc: Sequence[Any]) -> Path:
    """The part of a pydantic location that navigates the data (it also names union members)."""
    path: list[str | int] = []
    here = data
    for index, step in enumerate(loc):
        if isinstance(here, dict) and (step in here or index == len(loc) - 1):
            path.append(step)
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            path.append(step)
            here = here[step]
    return tuple(path)


def _findings(cls: type[Model], data: Any, details: Sequence[Any]) -> list[Finding]:
    found: dict[tuple[Path, str], Finding] = {}
    expected: dict[Path, list[str]] = {}
    for detail in details:
        path = _data_path(data, detail["loc"])
        code = detail["type"]
        owner = _model_at(cls, data, path[:-1])
        names = _field_names(owner) if owner else []
        if code == "unexpected_keyword_argument":
            finding = Finding(
                code="unknown_key",
                path=path,
                message=f"unknown key {path[-1]!r}",
                allowed=names,
                suggestion=closest(str(path[-1]), names),
                at_key=True,
            )
        elif code == "missing":
            finding = Finding(
                code="missing_key", path=path[:-1], message=f"missing required key {path[-1]!r}", at_key=True
            )
        elif code in ("union_tag_invalid", "union_tag_not_found"):
            finding = _bad_tag(data, path, detail)
        elif code == "value_error":
            finding = Finding(
                code="wrong_value", path=path, message=str(detail["ctx"]["error"]), at_key=not path
            )
        else:
            value = _value_at(data, path)
            expected.setdefault(path, []).append(_expectation(detail))
            finding = _mismatch(path, value, expected[path], detail)
        found[path, finding.message if finding.at_key else finding.code] = finding
    return sorted(
        (finding for finding in found.values() if not _outdone(finding, found.values())),
        key=lambda finding: _order(data, finding.path),
    )


def _outdone(finding: Finding, others: Iterable[Finding]) -> bool:
    """A union complains once per member: the member that fitted best complains deepest, and is right."""
    depth = len(finding.path)
    return finding.code == "wrong_type" and any(
        len(other.path) > depth and other.path[:depth] == finding.path for other in others
    )


def _mismatch(path: Path, value: Any, expected: Sequence[str], detail: Any) -> Finding:
    wanted = " or ".join(dict.fromkeys(expected))
    message = f"expected {wanted}, got {describe(value)}"
    if isinstance(value, bool) and "string" in wanted:
        message += " (YAML reads yes, no, on and off as booleans: quote it)"
    elif isinstance(value, int | float) and not isinstance(value, bool) and "string" in wanted:
        message += f' (quote it: "{value}")'
    choices = _choices(detail) if detail["type"] == "literal_error" else []
    return Finding(
        code="wrong_value" if choices else "wrong_type",
        path=path,
        message=message,
        allowed=choices,
        suggestion=closest(str(value), choices) if choices and isinstance(value, str) else None,
    )


def _bad_tag(data: Any, path: Path, detail: Any) -> Finding:
    key = str(detail["ctx"]["discriminator"]).strip("'")
    value = _value_at(data, path)
    if not isinstance(value, dict) or key not in value:
        return Finding(code="missing_key", path=path, message=f"missing required key {key!r}", at_key=True)
    allowed = [tag.strip().strip("'") for tag in str(detail["ctx"]["expected_tags"]).split(",")]
    return Finding(
        code="wrong_value",
        path=(*path, key),
        message=f"unknown {key} {value[key]!r}",
        allowed=allowed,
        suggestion=closest(str(value[key]), allowed),
    )


def _choices(detail: Any) -> list[str]:
    text = str(detail["ctx"]["expected"]).replace(" or ", ", ")
    return [choice.strip().strip("'") for choice in text.split(",")]


_EXPECTATIONS = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "dataclass_type": "a mapping",
    "dataclass_exact_type": "a mapping",
    "none_required": "nothing",
}


def _expectation(detail: Any) -> str:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "literal_error":
            return f"one of {', '.join(_choices(detail))}"
        case "greater_than_equal":
            return f"at least {context['ge']:g}"
        case "less_than_equal":
            return f"at most {context['le']:g}"
        case "too_short" | "string_too_short":
            return "something that is not empty"
        case code:
            return _EXPECTATIONS.get(code, detail["msg"])


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


def _value_at(data: Any, path: Path) -> Any:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else data[step]
    return data


def _order(data: Any, path: Path) -> tuple[int, ...]:
    """Where a path stands in the document: the position of each key among its siblings."""
    places = []
    here = data
    for step in path:
        if isinstance(here, dict):
            keys = list(here)
            places.append(keys.index(step) if step in here else len(keys))
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int):
            places.append(step)
            here = here[step]
    return tuple(places)


def _field_names(cls: type[Model]) -> list[str]:
    return [field.name for field in fields(cls) if field.init]  # type: ignore[arg-type]


def _model_at(cls: Any, data: Any, path: Path) -> type[Model] | None:
    """The model that describes the mapping at `path`, found by walking declarations and data together."""
    kinds = [cls]
    for step in path:
        kinds = [inner for kind in kinds for inner in _inner_kinds(kind, step, data)]
        data = data.get(step) if isinstance(data, dict) else data[step]
    models = [kind for kind in _flatten(kinds, data) if isinstance(kind, type) and issubclass(kind, Model)]
    return models[0] if models else None


def _inner_kinds(kind: Any, step: str | int, data: Any) -> list[Any]:
    inner = []
    for member in _flatten([kind], data):
        if get_origin(member) is list:
            inner.append(get_args(member)[0])
        elif get_origin(member) is dict:
            inner.append(get_args(member)[1])
        elif isinstance(member, type) and issubclass(member, Model):
            inner += [field.type for field in fields(member) if field.name == step]  # type: ignore[arg-type]
    return inner


def _flatten(kinds: Sequence[Any], data: Any) -> list[Any]:
    """Unwrap Annotated and unions; of a tagged union only the member that the data names."""
    flat: list[Any] = []
    for kind in kinds:
        if hasattr(kind, "__metadata__"):
            inner, *marks = get_args(kind)
            tag = next((mark.key for mark in marks if isinstance(mark, Tagged)), None)
            members = _flatten([inner], data)
            if tag and isinstance(data, dict):
                members = [m for m in members if data.get(tag) in get_args(m.__dataclass_fields__[tag].type)]
            flat += members
        elif get_origin(kind) in (Union, types.UnionType):
            flat += _flatten(get_args(kind), data)
        else:
            flat.append(kind)
    return flat


def json_schema(cls: type[Any], *, name: str, title: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a model; `x-` keys are allowed wherever keys are fixed."""
    schema = TypeAdapter(cls).json_schema()
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://agenteval.dev/schemas/0.1/{name}.schema.json",
        **schema,
        "title": title,
    }
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
