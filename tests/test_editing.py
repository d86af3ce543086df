"""The schema of test files as editors use it: what they offer, show and say follows from its structure."""

import re
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc
from typing import Any

import pytest

from agenteval.assertions import assertion_class, assertion_types
from agenteval.contracts.adapters import find_adapter
from agenteval.reference.schemas import SHIPPED, build_schema

EDITED = ("test-case", "replay")
"""What people write, or mend, by hand."""


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema of that name."""
    return build_schema(name)


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every subschema; what is an example or a default is data."""
    if isinstance(schema, dict):
        yield schema
        for key, part in schema.items():
            if key not in ("examples", "default", "const", "enum"):
                yield from parts(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from parts(part)


def definition(name: str) -> dict[str, Any]:
    """The parameters of an assertion type."""
    found: dict[str, Any] = next(
        part for part in schema("test-case")["$defs"].values() if part["title"] == name
    )
    return found


@pytest.mark.parametrize("name", EDITED)
def test_every_key_is_described(name: str) -> None:
    """Whoever points at a key of a test file or a bundle is told what it is; the parameters are told by their type."""
    whole = schema(name)
    for owner in (whole, *whole["$defs"].values()):
        for key, part in owner.get("properties", {}).items():
            told = whole["$defs"][part["$ref"].removeprefix("#/$defs/")] if "$ref" in part else part
            described = part.get("description") or told.get("description")
            assert described or (owner["title"], key) == ("Assertion", "params"), (owner["title"], key)


@pytest.mark.parametrize("name", SHIPPED)
def test_descriptions_are_for_users(name: str) -> None:
    """They neither refer to a specification that users do not have, nor hold the markup of another format."""
    texts = [
        part[key] for part in parts(schema(name)) for key in ("description", "markdownDescription")
        if isinstance(part.get(key), str)
    ]  # fmt: skip
    assert [text for text in texts if re.search(r"SPEC|(?<!`)``(?!`)|:class:", text)] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_alternatives_of_different_types_are_one(name: str) -> None:
    """An anyOf remains only where a member refers to a mapping of its own: editors tell of each member for itself."""
    for part in parts(schema(name)):
        kinds = [member.get("type") for member in part.get("anyOf", [])]
        assert None in kinds or len(set(kinds)) < len(kinds) or not kinds, part


def test_steps_are_alternatives() -> None:
    """By if-then, editors would say more of a wrong step; but of a oneOf, generators make types."""
    steps = schema("replay")["properties"]["script"]["items"]["oneOf"]
    assert [set(step) for step in steps] == [{"$ref"}] * 6


@pytest.mark.parametrize("name", SHIPPED)
def test_only_keywords_of_json_schema(name: str) -> None:
    """Validators that refuse unknown keywords compile all schemas; but those for editors have four of theirs."""
    known = {
        *(
            "$schema",
            "$id",
            "$defs",
            "$ref",
            "title",
            "description",
            "type",
            "properties",
            "required",
            "items",
            "enum",
        ),
        *(
            "const",
            "default",
            "examples",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "if",
            "then",
            "pattern",
            "minItems",
        ),
        *("minLength", "minimum", "maximum", "uniqueItems", "additionalProperties", "patternProperties"),
    }
    if name in ("test-case", "config"):
        known |= {"enumDescriptions", "markdownDescription", "errorMessage", "doNotSuggest"}
    assert {key for part in keywords(schema(name)) for key in part} - known == set()


def keywords(schema: Any) -> Iterator[dict[str, Any]]:
    """Every subschema, but no mapping from names to subschemas."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key, part in schema.items():
        if key in ("properties", "patternProperties", "$defs"):
            for inner in part.values():
                yield from keywords(inner)
        elif key in ("anyOf", "oneOf", "allOf"):
            for inner in part:
                yield from keywords(inner)
        elif key in ("items", "additionalProperties", "not", "if", "then"):
            yield from keywords(part)


def test_rules_are_about_what_is_there() -> None:
    """What is not there yet fits every condition on its keys: an editor would offer the parameters of all types."""
    conditions = [part["if"] for part in parts(schema("test-case")) if "if" in part]
    assert len(conditions) > len(assertion_types())
    assert [condition for condition in conditions if condition.get("type") != "object"] == []


@pytest.mark.parametrize("name", assertion_types())
def test_a_type_is_shown_with_its_name_and_example(name: str) -> None:
    """Where its parameters begin. Under `examples` a mapping would be offered as `[object Object]`."""
    cls = assertion_class(name)
    assert cls is not None
    told = definition(name)["markdownDescription"]
    assert str(cls.__doc__).split(".", maxsplit=1)[0] in told
    assert told.endswith(f"\n\nExample:\n\n```yaml\n{cleandoc(cls.example)}\n```")
    assert "examples" not in definition(name)


def test_the_adapters_that_there_are_can_be_chosen() -> None:
    """They are offered as examples, since a project may have others."""
    assert schema("test-case")["properties"]["adapter"]["examples"] == ["command", "nanoclaw", "otel"]


@pytest.mark.parametrize("name", [*EDITED, "config"])
def test_what_is_bounded_has_a_type(name: str) -> None:
    """Strict validators ask for it, and editors write the colon after a key only when they know its type."""
    kinds = {"minItems": "array", "minLength": "string", "pattern": "string", "minimum": "number"}
    for part in keywords(schema(name)):
        wanted = {kinds[key] for key in part.keys() & kinds.keys()}
        given = {"number" if kind == "integer" else kind for kind in listed(part.get("type", []))}
        assert wanted <= given, part
    for key, part in schema("test-case")["$defs"]["Fixture"]["properties"].items():
        assert part.keys() & {"type", "$ref", "anyOf"}, key


def listed(kind: str | list[str]) -> list[str]:
    """The types, of which there may be one without a list."""
    return [kind] if isinstance(kind, str) else kind


def test_a_rule_of_several_keys_is_told_in_words() -> None:
    """Editors say no more than `Missing property "file"` and `does not match the pattern of "\\S"` by themselves."""
    said = {part["errorMessage"] for part in parts(schema("test-case")) if "errorMessage" in part}
    assert said == {
        "a fixture has at most one of file, response and error",
        "status: fail needs a reason: the bug, or what the control shows",
    }


def test_a_key_is_shown_with_its_kind_and_default() -> None:
    """Defaults that a function makes among them, which JSON Schema leaves out."""
    assert definition("must_call_tool")["properties"]["min_calls"]["markdownDescription"] == (
        "The fewest calls.\n\n*integer ≥ 1 (default 1)*"
    )
    assert definition("no_sensitive_data")["properties"]["where"]["markdownDescription"] == (
        "The places that are searched.\n\n"
        '*list of `output`, `tool_args`, `outbound` (default ["output", "tool_args", "outbound"])*'
    )
    assert schema("test-case")["$defs"]["Scenario"]["properties"]["group_id"]["markdownDescription"] == (
        "The chat group that the agent acts for.\n\n*string (required)*"
    )
    before = definition("tool_call_order")["properties"]["before"]
    told = "The event that must come first.\n\n*selector (optional)*"
    assert before["markdownDescription"] == told
    assert before["anyOf"][0]["markdownDescription"] == told, (
        "an editor shows that of the member which is there"
    )
    assert schema("config")["$defs"]["SuiteConfig"]["properties"]["pass_score"]["markdownDescription"] == (
        "The score, from 0 to 1, that the run must reach to exit 0; no failed test is excused by it."
        "\n\n*number from 0 to 1 (optional)*"
    )


@pytest.mark.parametrize("adapter", ["nanoclaw", "otel"])
def test_each_adapter_has_its_own_input(adapter: str) -> None:
    """`adapter_input` is that of the adapter which the test names."""
    rules = {
        rule["if"]["properties"]["adapter"]["const"]: rule["then"] for rule in schema("test-case")["allOf"]
    }
    reference = rules[adapter]["properties"]["adapter_input"]["$ref"].removeprefix("#/$defs/")
    assert schema("test-case")["$defs"][reference]["title"] == find_adapter(adapter).input_model.__name__  # type: ignore[attr-defined]
