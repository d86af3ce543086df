"""What strict models declare for a place in the data."""

import types
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Union, get_args, get_origin

from agenteval.findings import DataPath
from agenteval.strict import Model, OneOrMore, Tagged


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
