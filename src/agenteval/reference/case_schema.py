"""The JSON Schema of test files, by which editors complete, check and explain them.

Beside the keywords of JSON Schema it has some that editors know and validators pass over: `enumDescriptions`,
`markdownDescription`, `errorMessage` and `doNotSuggest`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from inspect import cleandoc
from typing import Any

from agenteval.assertions import assertion_class, assertion_types
from agenteval.assertions.base import Assertion
from agenteval.errors import AdapterError
from agenteval.plugins.contract import input_models
from agenteval.plugins.registry import Registry
from agenteval.reference.explanation import (
    JsonSchema,
    factory_defaults,
    first_sentence,
    parameters_of,
)
from agenteval.reference.markdown import markdown_prose
from agenteval.strict import Model

TITLE = "AgentEval test case (test.yaml)"


def case_schema(registry: Registry) -> JsonSchema:
    """The schema of `TestCase`, in which the parameters of every assertion are those of its type."""
    from pydantic import TypeAdapter

    from agenteval.diagnosis import allow_extensions, json_schema
    from agenteval.spec import AssertionSpec, Expected, Fixture, TestCase

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
            # of a mapping or null, they show what the mapping says of itself
            for shown in (part, *(member for member in part.get("anyOf", []) if "$ref" in member)):
                shown["markdownDescription"] = f"{parameter.description}\n\n*{parameter.rule}*"


def _introduce(definition: JsonSchema, cls: type[Assertion]) -> None:
    """Add what editors show of a type's parameters: what the type is, with its example.

    It is text, since of a mapping under `examples` they offer no more than `[object Object]`.
    """
    told = "\n".join(markdown_prose(cleandoc(cls.__doc__ or "")))
    if example := cleandoc(cls.example):
        told += f"\n\nExample:\n\n```yaml\n{example}\n```"
    definition |= {"title": cls.type, "markdownDescription": told}


def _add_rules(case: JsonSchema, envelope: JsonSchema, fixture: JsonSchema, expected: JsonSchema) -> None:
    """Add the rules that code checks beyond the types of the models, as far as a schema can state them.

    Each rule asks for an object first, since editors complete a missing value by all rules that it fits.
    """
    from agenteval.trace import CAPABILITY_FLAGS

    case["properties"]["assertions"]["minItems"] = 1
    envelope["title"] = "Assertion"
    envelope["properties"]["requires_capabilities"]["items"] = {"enum": list(CAPABILITY_FLAGS)}
    # Anything, told in full: after a key of no type editors write no colon.
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
    """The condition that the key has such a value, or any but null."""
    return {"required": [key], "properties": {key: value or {"not": {"type": "null"}}}}


def _when(condition: JsonSchema, then: JsonSchema) -> JsonSchema:
    return {"if": {"type": "object", **condition}, "then": then}
