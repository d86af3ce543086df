"""The JSON Schema of test files, by which editors complete, check and explain them.

Beside the keywords of JSON Schema it has some that editors know and validators pass over: `enumDescriptions`,
`markdownDescription`, `errorMessage` and `doNotSuggest`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from inspect import cleandoc
from pathlib import Path
from typing import Any, NamedTuple

from agenteval.assertions import assertion_class, assertion_types
from agenteval.assertions.base import Assertion
from agenteval.contracts.errors import AdapterError, UsageError
from agenteval.contracts.models import Model
from agenteval.plugins.contract import input_models
from agenteval.plugins.registry import BUILT_IN, Registry
from agenteval.reading.documents import read_bytes
from agenteval.reference.explanation import (
    JsonSchema,
    factory_defaults,
    first_sentence,
    markdown_prose,
    parameters_of,
)
from agenteval.text.names import closest

TITLE = "AgentEval test case (test.yaml)"


def case_schema(registry: Registry) -> JsonSchema:
    """The schema of `TestCase`, in which the parameters of every assertion are those of its type."""
    from pydantic import TypeAdapter

    from agenteval.contracts.explaining import allow_extensions, json_schema
    from agenteval.contracts.testcase import AssertionSpec, Expected, Fixture, TestCase

    types = {name: cls for name in assertion_types() if (cls := assertion_class(name))}
    types |= {plugin.name: cls for plugin, cls in registry.plugin_types()}
    inputs = dict(_adapter_inputs(registry))
    models: tuple[type[Model], ...] = (TestCase, AssertionSpec, Fixture, Expected)
    kinds: dict[str, type[Model]] = {**{cls.__name__: cls for cls in models}, **types}
    kinds |= {f"adapter {name}": cls for name, cls in inputs.items()}
    # One call for all, so that models shared by several types are defined once, and no two of one name collide.
    references, definitions = TypeAdapter.json_schemas(
        [(name, "validation", TypeAdapter(cls)) for name, cls in kinds.items()]
    )
    names = {name: reference["$ref"].removeprefix("#/$defs/") for (name, _), reference in references.items()}
    defs: dict[str, JsonSchema] = definitions["$defs"]
    allow_extensions(defs)
    described = {names[name]: cls for name, cls in types.items()}
    for name, definition in defs.items():
        cls = described.get(name)
        tell_rules(definition, defs, factory_defaults(cls) if cls else {})
        if cls:
            _introduce(definition, cls)
    case = defs.pop(names["TestCase"])
    envelope = defs[names["AssertionSpec"]]
    _add_rules(case, envelope, defs[names["Fixture"]], defs[names["Expected"]])
    case["properties"]["adapter"]["examples"] = list(registry.adapter_names())
    _tie_params_to_type(envelope, types, names)
    case["allOf"] = [
        _when(
            _given("adapter", {"const": name}),
            {"properties": {"adapter_input": {"$ref": f"#/$defs/{names[f'adapter {name}']}"}}},
        )
        for name in inputs
    ]
    head = json_schema(TestCase, name="test-case", title=TITLE)
    return {**head, **case, "title": TITLE, "$defs": defs}


def _adapter_inputs(registry: Registry) -> Iterator[tuple[str, type[Model]]]:
    """The adapters that declare a model of `adapter_input`, with it; broken ones are passed over."""
    for name in registry.adapter_names():
        try:
            models = input_models(registry.find_adapter(name), "input_model")
        except AdapterError:  # `agenteval doctor` says why
            continue
        for model in models.values():
            yield name, model


def tell_rules(definition: JsonSchema, defs: JsonSchema, defaults: dict[str, Any]) -> None:
    """Add what editors show of each key: its meaning, its type and its default; `defaults` are those not in the schema."""
    for parameter in parameters_of(definition, defs, defaults):
        if parameter.description:
            part = definition["properties"][parameter.name]
            # of a mapping or null, they show the description of the mapping itself
            for shown in (part, *(member for member in part.get("anyOf", []) if "$ref" in member)):
                shown["markdownDescription"] = f"{parameter.description}\n\n*{parameter.rule}*"


def _introduce(definition: JsonSchema, cls: type[Assertion]) -> None:
    """Add what editors show of a type's parameters: what the type is, with its example.

    It is text, since of a mapping under `examples` they offer no more than `[object Object]`.
    """
    text = "\n".join(markdown_prose(cleandoc(cls.__doc__ or "")))
    if example := cleandoc(cls.example):
        text += f"\n\nExample:\n\n```yaml\n{example}\n```"
    definition |= {"title": cls.type, "markdownDescription": text}


def _add_rules(case: JsonSchema, envelope: JsonSchema, fixture: JsonSchema, expected: JsonSchema) -> None:
    """Add the rules that code checks beyond the types of the models, as far as a schema can state them.

    Each rule asks for an object first, since editors complete a missing value by all rules that it fits.
    """
    from agenteval.contracts.trace import CAPABILITY_FLAGS

    case["properties"]["assertions"]["minItems"] = 1
    envelope["title"] = "Assertion"
    envelope["properties"]["requires_capabilities"]["items"] = {"enum": list(CAPABILITY_FLAGS)}
    # Any value, with all types listed: after a key of no type editors write no colon.
    fixture["properties"]["response"]["type"] = ["string", "number", "boolean", "object", "array", "null"]
    nothing = {"type": "null", "errorMessage": "a fixture has at most one of file, response and error"}
    fixture["allOf"] = [
        _when(_given("error"), {"properties": {"file": nothing, "response": nothing}}),
        _when(_given("response"), {"properties": {"file": nothing}}),
    ]
    ids = {"type": "array", "minItems": 1}
    reason = {
        "type": "string",
        "pattern": "\\S",
        "errorMessage": "status: fail needs a reason: the bug, or what the control shows",
    }
    expected["allOf"] = [
        _when(
            _given("status", {"const": "fail"}),
            {
                "required": ["assertions", "reason"],
                "properties": {"assertions": ids, "reason": reason},
            },
        ),
        _when(
            {
                "anyOf": [
                    _given("assertions", ids),
                    _given("reason", {"minLength": 1, "type": "string"}),
                ]
            },
            {"required": ["status"], "properties": {"status": {"const": "fail"}}},
        ),
    ]


def _tie_params_to_type(
    envelope: JsonSchema, types: Mapping[str, type[Assertion]], names: Mapping[str, str]
) -> None:
    """Make `params` depend on `type` by if-then, which editors complete and explain better than a oneOf."""
    envelope["properties"]["type"] |= {
        "enum": list(types),
        "enumDescriptions": [first_sentence(cls.__doc__ or "") for cls in types.values()],
    }
    # the description and the completions of params come from the type
    envelope["properties"]["params"] = {"type": "object", "doNotSuggest": True}
    envelope["allOf"] = [
        _when(_given("type", {"const": name}), _parameters_of(cls, names[name]))
        for name, cls in types.items()
    ]


def _parameters_of(cls: type[Assertion], definition: str) -> JsonSchema:
    then: JsonSchema = {"properties": {"params": {"$ref": f"#/$defs/{definition}"}}}
    declared: Any = cls
    if any(f.default is MISSING and f.default_factory is MISSING for f in fields(declared)):
        then["required"] = ["params"]
    return then


def _given(key: str, value: JsonSchema | None = None) -> JsonSchema:
    """Make the condition that a key has this value, or any but null."""
    return {"required": [key], "properties": {key: value or {"not": {"type": "null"}}}}


def _when(condition: JsonSchema, then: JsonSchema) -> JsonSchema:
    return {"if": {"type": "object", **condition}, "then": then}


_HEAD = ("$schema", "$id", "title", "description", "type", "properties", "required")
"""The keys that come first; definitions come last."""

SHIPPED: tuple[str, ...] = (
    *("test-case", "config", "replay", "trace", "result", "summary"),
    *("baseline", "comparison", "check"),
    *("agent-eval-suite", "eval-summary", "eval-events"),
)
"""The schemas that `schemas/` holds."""


CONFIG_TITLE = "AgentEval configuration (agenteval.yaml)"


class Entry(NamedTuple):
    """One schema: its name, its title, and what makes it."""

    name: str
    title: str
    build: Callable[[], JsonSchema]


def schema_entries(registry: Registry) -> Iterator[Entry]:
    """All schemas, those of the registry's adapters last; adapters that do not load are passed over."""
    core = _core_entries(registry)
    yield from core
    yield from _adapter_entries(registry, {entry.name for entry in core})


def schema_text(name: str, registry: Registry = BUILT_IN) -> str:
    """Render the schema as its file: the same bytes every time. Raises `UsageError` (`usage.unknown_schema`).

    The files of `schemas/` describe what comes with agenteval; with another registry `test-case` also has the assertion
    types of its plugins.
    """
    schema = build_schema(name, registry)
    head = {key: schema[key] for key in _HEAD if key in schema}
    ordered = {
        **head,
        **{key: schema[key] for key in schema if key != "$defs"},
        "$defs": schema.get("$defs", {}),
    }
    return json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"


def build_schema(name: str, registry: Registry = BUILT_IN) -> JsonSchema:
    """The schema of that name. Raises `UsageError` (`usage.unknown_schema`)."""
    known = []
    for entry in schema_entries(registry):
        if entry.name == name:
            return entry.build()
        known.append(entry.name)
    raise _unknown(name, known)


def write_schemas(folder: Path) -> list[Path]:
    """Bring the files of `folder` up to date; returns those that were written. Raises `UsageError`."""
    written = []
    for name in drifted(folder):
        path = schema_path(folder, name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(schema_text(name), encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(
                f"cannot write {path}: {error.strerror or error}",
                reason_code="usage.not_writable",
                next_step="name a writable folder with --dir",
            ) from error
        written.append(path)
    return written


def drifted(folder: Path) -> list[str]:
    """The names of the shipped schemas with a file in `folder` that is missing or out of date."""
    return [name for name in SHIPPED if _content(schema_path(folder, name)) != schema_text(name)]


def schema_path(folder: Path, name: str) -> Path:
    """Return the path of the file that holds a schema."""
    return folder / f"{name}.schema.json"


def _content(path: Path) -> str | None:
    try:
        return read_bytes(path).decode()
    except (OSError, UnicodeDecodeError):
        return None


def _unknown(name: str, known: Sequence[str]) -> UsageError:
    near = closest(name, known)
    guess = f", did you mean {near!r}?" if near else ""
    return UsageError(
        f"unknown schema {name!r}{guess}",
        reason_code="usage.unknown_schema",
        next_step=f"name one of {', '.join(known)}",
    )


def _core_entries(registry: Registry) -> list[Entry]:
    from agenteval.comparing.baseline import BaselineFile
    from agenteval.comparing.check_report import CheckReport
    from agenteval.comparing.comparison import Comparison
    from agenteval.contracts.results import RunSummary, TestResult
    from agenteval.contracts.trace import Trace
    from agenteval.loading.config import Config
    from agenteval.openwop.models import AgentEvalSuite, EvalEvent, EvalSummary

    return [
        Entry("test-case", TITLE, lambda: _tidied(case_schema(registry))),
        Entry("config", CONFIG_TITLE, lambda: _tidied(_explained(_declared(Config, "config", CONFIG_TITLE)))),
        _output_entry(Trace, "trace", "AgentEval normalized trace"),
        _output_entry(TestResult, "result", "AgentEval test result"),
        _output_entry(RunSummary, "summary", "AgentEval run summary"),
        _entry(BaselineFile, "baseline", "AgentEval baseline"),
        _output_entry(Comparison, "comparison", "AgentEval comparison of two runs"),
        _output_entry(CheckReport, "check", "AgentEval check of a change"),
        _entry(AgentEvalSuite, "agent-eval-suite", "OpenWOP AgentEvalSuite (RFC 0081)", extensible=False),
        _entry(EvalSummary, "eval-summary", "OpenWOP EvalSummary (RFC 0081)", extensible=False),
        _entry(
            EvalEvent,
            "eval-events",
            "One line of events.jsonl: an OpenWOP eval event (RFC 0081)",
            extensible=False,
        ),
    ]


def _entry(cls: Any, name: str, title: str, *, extensible: bool = True) -> Entry:
    return Entry(name, title, lambda: _schema(cls, name, title, extensible=extensible))


def _output_entry(cls: type[Any], name: str, title: str) -> Entry:
    return Entry(name, title, lambda: _all_present(_schema(cls, name, title, extensible=False)))


def _adapter_entries(registry: Registry, taken: set[str]) -> Iterator[Entry]:
    for adapter in registry.adapter_names():
        try:
            models = input_models(registry.find_adapter(adapter), "input_schemas")
        except AdapterError:  # `agenteval doctor` says why
            continue
        for given, cls in models.items():
            name = f"{adapter}-{given}" if given in taken else given
            taken.add(name)
            yield _entry(cls, name, f"AgentEval {given} file of the {adapter} adapter")


def _schema(cls: Any, name: str, title: str, *, extensible: bool = True) -> JsonSchema:
    schema: JsonSchema = _tidied(_declared(cls, name, title, extensible=extensible))
    return schema


def _declared(cls: Any, name: str, title: str, *, extensible: bool = True) -> JsonSchema:
    from agenteval.contracts.explaining import json_schema

    return json_schema(cls, name=name, title=title, extensible=extensible)


def _explained(schema: JsonSchema) -> JsonSchema:
    """The schema of a file that people write, with what editors show of each key."""
    defs = schema.get("$defs", {})
    for part in (schema, *defs.values()):
        tell_rules(part, defs, {})
    return schema


def _all_present(schema: JsonSchema) -> JsonSchema:
    """The schema of an output, which always has all its fields and no other: empty ones are not left out."""
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part |= {"required": list(part["properties"]), "additionalProperties": False}
    return schema


def _tidied(schema: Any) -> Any:
    """The schema made easier for readers, editors and code generators; it accepts the same.

    It loses titles that repeat a property's name, defaults of null, references to the specification, and
    `discriminator`, which is no keyword of JSON Schema. An `anyOf` of different types becomes one schema.
    """
    if isinstance(schema, list):
        return [_tidied(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {key: _tidied_part(key, part) for key, part in _united(schema).items() if key != "discriminator"}
    for part in tidied.get("properties", {}).values():
        if isinstance(part, dict):
            part.pop("title", None)
            if part.get("default", ...) is None:
                del part["default"]
    for key in tidied.keys() & {"description", "markdownDescription"}:
        tidied[key] = re.sub(r" \(SPEC \d+\)", "", tidied[key])
    return tidied


def _tidied_part(keyword: str, part: Any) -> Any:
    if keyword in ("examples", "default", "const", "enum"):
        return part  # data
    if keyword in ("properties", "patternProperties", "$defs"):
        return {name: _tidied(schema) for name, schema in part.items()}
    return _tidied(part)


_ALL_VALUES: dict[str, list[Any]] = {"null": [None], "boolean": [True, False]}
"""All values of the types that have only a few."""


def _united(schema: JsonSchema) -> JsonSchema:
    """With `type: [string, null]` instead of an anyOf of the two, which editors would show twice."""
    members = schema.get("anyOf", [])
    kinds = [member.get("type") for member in members]
    alike = len(set(kinds)) < len(kinds) or not all(isinstance(kind, str) for kind in kinds)
    choices = any("const" in member or "enum" in member for member in members)
    # Beside choices of text only types with few values can join: these become choices, too.
    few = [value for kind in kinds for value in _ALL_VALUES.get(str(kind), [])]
    if len(kinds) < 2 or alike or (choices and not set(kinds) - {"string"} <= _ALL_VALUES.keys()):
        return dict(schema)
    united = {key: value for key, value in schema.items() if key != "anyOf"}
    for member in members:
        united |= member
    if choices:
        united["enum"] = [*(united.get("enum") or [united.pop("const")]), *few]
    return {**united, "type": kinds}
