"""Explains an assertion type from its class, for `agenteval explain` and the reference.

Nothing here knows any single type: all comes from the docstrings, the fields and the example of the class.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, field, fields
from inspect import cleandoc
from typing import Any, get_args

from agenteval.assertions import assertion_types
from agenteval.assertions.base import Assertion, Category
from agenteval.errors import PluginError, UsageError
from agenteval.plugins.contract import schema_breach
from agenteval.plugins.registry import BUILT_IN, Registry

JsonSchema = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter, or one field of a mapping inside a parameter. `default` is JSON, or empty."""

    name: str
    type: str
    required: bool
    default: str
    description: str

    @property
    def rule(self) -> str:
        """Type and default in a few words: `integer ≥ 1 (default 1)`."""
        if self.required:
            return f"{self.type} (required)"
        return f"{self.type} (default {self.default})" if self.default else f"{self.type} (optional)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A mapping inside parameters, under the name by which their types refer to it."""

    name: str
    description: str
    fields: list[Parameter]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One assertion type. `example` is the YAML of its `params`; `plugin` its origin, empty when it is built in."""

    type: str
    category: str
    failure_category: str
    summary: str
    description: str
    implied_capabilities: list[str]
    parameters: list[Parameter]
    shapes: list[Shape] = field(default_factory=list)
    example: str = ""
    default_severity: str = "critical"
    plugin: str = ""

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def explain(name: str, registry: Registry = BUILT_IN) -> Explanation:
    """The type of that name. Raises `UsageError` (`usage.unknown_type`), `PluginError` (`plugin.broken`)."""
    cls = registry.assertion_class(name)
    if cls is None:
        raise _unknown(name, registry)
    if (origin := registry.origin(name)) and (breach := schema_breach(cls)):
        raise PluginError(
            f"the plugin {origin} is broken: {breach}", next_step="`agenteval doctor` shows all plugins"
        )
    return _explain_class(cls, origin)


def explain_all(registry: Registry = BUILT_IN) -> list[Explanation]:
    """All types, in the order of the catalogue; then those of plugins that are not broken, as they are found."""
    return [
        *(explain(name) for name in assertion_types()),
        *(_explain_class(cls, plugin.origin) for plugin, cls in registry.plugin_types()),
    ]


def _explain_class(cls: type[Assertion], plugin: str = "") -> Explanation:
    """The explanation of an assertion class."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(cls).json_schema()
    defs = schema.get("$defs", {})
    return Explanation(
        type=cls.type,
        category=cls.category,
        failure_category=cls.failure_category,
        summary=first_sentence(cls.__doc__ or ""),
        description=cleandoc(cls.__doc__ or ""),
        implied_capabilities=list(cls.implied),
        parameters=parameters_of(schema, defs, factory_defaults(cls)),
        shapes=[_shape(name, defs) for name in _used_shapes(schema, defs)],
        example=cleandoc(cls.example),
        plugin=plugin,
    )


def by_category(explanations: list[Explanation]) -> dict[str, list[Explanation]]:
    """The types of each category; categories in the order of the scorecard."""
    groups = {
        category: [item for item in explanations if item.category == category]
        for category in get_args(Category)
    }
    return {category: items for category, items in groups.items() if items}


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = " ".join(cleandoc(text).split("\n\n", maxsplit=1)[0].split())
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", paragraph, maxsplit=1)[0]


def _unknown(name: str, registry: Registry) -> UsageError:
    from agenteval.misspelling import closest

    near = closest(name, registry.assertion_types())
    guess = f", did you mean {near!r}?" if near else ""
    guess += "".join(
        f"; it may belong to the plugin {plugin.origin}, which is broken: {plugin.error}"
        for plugin in registry.suspects()
    )
    return UsageError(
        f"unknown assertion type {name!r}{guess}",
        reason_code="usage.unknown_type",
        next_step="list all types with `agenteval explain`",
    )


def factory_defaults(cls: type[Assertion]) -> dict[str, Any]:
    """The defaults that a function makes, which pydantic leaves out of the schema."""
    declared: Any = cls
    return {f.name: f.default_factory() for f in fields(declared) if f.default_factory is not MISSING}


def parameters_of(schema: JsonSchema, defs: JsonSchema, defaults: dict[str, Any]) -> list[Parameter]:
    """The keys of the mapping that a schema describes; `defaults` are those that the schema lacks."""
    required = schema.get("required", [])
    return [
        Parameter(
            name=name,
            type=_type_text(part, defs),
            required=name in required,
            default=_default_text(part.get("default", defaults.get(name))),
            description=" ".join(part.get("description", "").split()),
        )
        for name, part in schema.get("properties", {}).items()
    ]


def _default_text(value: Any) -> str:
    if value is None or value in ([], {}):
        return ""
    return json.dumps(value, ensure_ascii=False)


def _used_shapes(schema: Any, defs: JsonSchema, seen: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The definitions that a schema refers to, directly or through others, in order of first use."""
    for name in _references(schema):
        if name not in seen and "properties" in defs[name] and not _assertion_type(name):
            seen = _used_shapes(defs[name], defs, (*seen, name))
    return seen


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref":
                yield value.removeprefix("#/$defs/")
            elif key != "$defs":
                yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _shape(name: str, defs: JsonSchema) -> Shape:
    description = " ".join(cleandoc(defs[name].get("description", "")).split())
    return Shape(name=_words(name), description=description, fields=parameters_of(defs[name], defs, {}))


def _assertion_type(class_name: str) -> str:
    """The assertion type of that class, which needs no section of its own; empty when it is none."""
    name = _words(class_name).replace(" ", "_")
    return name if name in assertion_types() else ""


def _words(class_name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", class_name).lower()


def _type_text(schema: JsonSchema, defs: JsonSchema) -> str:
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        if kind := _assertion_type(name):
            return f"the parameters of `{kind}`"
        return _words(name) if "properties" in defs[name] else _type_text(defs[name], defs)
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            members = [part for part in schema[key] if part.get("type") != "null"]
            return " or ".join(dict.fromkeys(_type_text(part, defs) for part in members))
    return _plain_type(schema, defs)


def _plain_type(schema: JsonSchema, defs: JsonSchema) -> str:
    match schema.get("type"):
        case "array":
            return f"list of {_plural(_type_text(schema.get('items', {}), defs)).removeprefix('one of ')}"
        case "object":
            inner = schema.get("additionalProperties")
            return f"mapping to {_plural(_type_text(inner, defs))}" if isinstance(inner, dict) else "mapping"
        case "integer" | "number" as kind:
            return f"{kind}{_bounds(schema)}"
        case "boolean":
            return "true or false"
        case None:
            return "anything"
        case kind:
            return str(kind)


def _plural(noun: str) -> str:
    if noun == "anything" or " or " in noun or noun.startswith(("one of", "list of", "`")):
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("h") else f"{noun}s"


def _bounds(schema: JsonSchema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    if low is not None:
        return f" ≥ {low:g}"
    return f" ≤ {high:g}" if high is not None else ""
