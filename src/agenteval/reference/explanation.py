"""A complete test.yaml around the example of an assertion type, for `agenteval explain`."""

import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, field, fields
from inspect import cleandoc
from typing import Any, get_args

from agenteval.assertions import assertion_types
from agenteval.assertions.base import EXEMPT, TOOL_PARAMETERS, Assertion, Category, names_in
from agenteval.contracts.errors import PluginError, UsageError
from agenteval.contracts.models import parse
from agenteval.plugins.contract import schema_breach
from agenteval.plugins.registry import BUILT_IN, Registry
from agenteval.text.names import is_glob


def example_spec(cls: type[Assertion]) -> str:
    """A minimal valid test.yaml with one assertion of the type, whose parameters are the class's example."""
    import yaml

    params = yaml.safe_load(cls.example) or {}
    named = [name for _, where, name in names_in(parse(cls, params)) if where in TOOL_PARAMETERS | EXEMPT]
    area, slug = cls.category.replace("_", "-"), cls.type.replace("_", "-")
    spec = {
        "schema_version": "0.1",
        "id": f"nanoclaw.{area}.{slug}.holds",
        "title": f"An example of {cls.type}",
        "adapter": "nanoclaw",
        "mode": "replay",
        "scenario": _scenario(cls, params),
        "tools": {
            "available": [*dict.fromkeys(name for name in named if not is_glob(name))] or ["web_search"]
        },
        "assertions": [{"id": slug, "type": cls.type, "severity": "critical", "params": params}],
        "adapter_input": {"replay_file": "replay.json"},
    }
    return yaml.safe_dump(spec, sort_keys=False, allow_unicode=True, width=110)


def _scenario(cls: type[Assertion], params: dict[str, Any]) -> dict[str, Any]:
    group = params.get("group_id") or params.get("current_group_id") or "family"
    scenario: dict[str, Any] = {"group_id": group, "trigger": "user_message"}
    asked = "What is new in AI today?"
    if "supports_scheduler_context" in cls.implied or cls.category == "scheduler":
        scenario["trigger"], asked = "scheduler", "Send the daily digest."
        scenario["scheduler_context"] = {
            "task_id": params.get("task_id") or "daily-digest",
            "scheduled_for": "2026-01-05T08:00:00Z",
            "timezone": "UTC",
        }
    if cls.category == "memory":
        fact = params.get("expected_memory_fact") or params.get("old_value") or "Prefers short answers."
        scenario["memory_snapshot"] = _memory(group, fact)
    if cls.category == "isolation":
        scenario["other_group_state"] = [
            {"group_id": other, "memory_snapshot": _memory(other, "The budget review is on Friday.")}
            for other in params.get("forbidden_group_ids") or ["work"]
        ]
    return {**scenario, "input_messages": [{"role": "user", "content": asked}]}


def _memory(group: str, content: str) -> list[dict[str, str]]:
    return [{"group_id": group, "source": "CLAUDE.md", "path": "CLAUDE.md", "content": content}]


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
    from agenteval.text.names import closest

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
        return _definition_text(str(schema["$ref"]).removeprefix("#/$defs/"), defs)
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            members = [part for part in schema[key] if part.get("type") != "null"]
            return " or ".join(dict.fromkeys(_type_text(part, defs) for part in members))
    return _plain_type(schema, defs)


def _definition_text(name: str, defs: JsonSchema) -> str:
    if kind := _assertion_type(name):
        return f"the parameters of `{kind}`"
    return _words(name) if "properties" in defs[name] else _type_text(defs[name], defs)


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


_WRAPPED_WIDTH = 100
_ITEM = re.compile(r"`\w+`:|\(\d\) ")
_REFERENCE_HEAD = """\
# Assertions

Made by `agenteval explain --markdown`; `agenteval explain TYPE` shows one with a whole test file to paste. Examples are the `params`.
"""


def reference_markdown(explanations: list[Explanation]) -> str:
    """docs/assertions.md: every type, by category; or a page like it of other types."""
    groups = by_category(explanations)
    lines = [_REFERENCE_HEAD, "| category | types |", "| --- | --- |"]
    for category, items in groups.items():
        lines.append(f"| {category} | {', '.join(f'[`{item.type}`](#{item.type})' for item in items)} |")
    for category, items in groups.items():
        lines += ["", f"## {category}"]
        for item in items:
            lines += _section(item)
    shapes = {shape.name: shape for items in groups.values() for item in items for shape in item.shapes}
    if shapes:
        lines += ["", "## Mappings inside parameters"]
        for shape in shapes.values():
            lines += ["", f"### {shape.name}", "", shape.description, "", *_markdown_list(shape.fields)]
    return "\n".join(lines) + "\n"


def _section(item: Explanation) -> list[str]:
    needs = f"Needs {', '.join(f'`{flag}`' for flag in item.implied_capabilities)}."
    notes = [needs] if item.implied_capabilities else []
    notes += [f"From the plugin `{item.plugin}`."] if item.plugin else []
    return [
        *("", f"### {item.type}", "", *markdown_prose(item.description), ""),
        *([" ".join(notes), ""] if notes else []),
        *_markdown_list(item.parameters),
        *(["", "```yaml", *item.example.splitlines(), "```"] if item.example else []),
    ]


def markdown_prose(text: str) -> list[str]:
    """The lines of a docstring with its deliberate breaks kept: before items, and where the next word had room."""
    lines = text.splitlines()
    prose = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        room = len(line) + len(following.split(" ")[0]) < _WRAPPED_WIDTH and line.endswith((".", ":", ";"))
        broken = line and following and (room or _ITEM.match(following))
        prose.append(f"{line}\\" if broken else line)
    return prose


LONGEST_RULE = 200
"""Characters of what a parameter may be, with its default: of longer ones the page leaves the default out."""


def _markdown_list(parameters: list[Parameter]) -> list[str]:
    """An item for each parameter; what is neither required nor has a default may be left out."""
    items = []
    for each in parameters:
        default = f"default {each.default}" if each.default else ""
        note = "required" if each.required else default
        if each.type == "true or false" and note:
            rule = note
        else:
            rule = f"{each.type}, {note}" if note else each.type
        rule = rule if len(rule) <= LONGEST_RULE else each.type
        items.append(f"- `{each.name}` ({rule}): {each.description}")
    return items or ["No parameters."]
