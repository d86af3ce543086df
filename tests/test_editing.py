"""The schema of test files as editors use it: what they offer, show and say follows from its structure."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from agenteval.adapters import find_adapter
from agenteval.assertions import assertion_class, assertion_types
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
    assert [text for text in texts if "SPEC" in text or "``" in text or ":class:" in text] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_alternatives_of_different_types_are_one(name: str) -> None:
    """An anyOf remains only where a member refers to a mapping of its own: editors tell of each member for itself."""
    for part in parts(schema(name)):
        kinds = [member.get("type") for member in part.get("anyOf", [])]
        assert None in kinds or len(set(kinds)) < len(kinds) or not kinds, part


@pytest.mark.parametrize("name", SHIPPED)
def test_only_keywords_of_json_schema(name: str) -> None:
    """Validators that refuse unknown keywords compile all schemas; but the one for editors has four of theirs."""
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
    if name == "test-case":
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
    """Where its parameters begin."""
    cls = assertion_class(name)
    assert cls is not None
    assert definition(name)["examples"] == [yaml.safe_load(cls.example) or {}]
    assert str(cls.__doc__).split(".", maxsplit=1)[0] in definition(name)["markdownDescription"]


def test_a_key_is_shown_with_its_kind_and_default() -> None:
    """Defaults that a function makes among them, which JSON Schema leaves out."""
    assert definition("must_call_tool")["properties"]["min_calls"]["markdownDescription"] == (
        "The minimum number of calls.\n\n*integer ≥ 1 (default 1)*"
    )
    assert definition("no_sensitive_data")["properties"]["where"]["markdownDescription"] == (
        "Where to look; everywhere, when left out.\n\n"
        '*list of `output`, `tool_args`, `outbound` (default ["output", "tool_args", "outbound"])*'
    )
    assert schema("test-case")["$defs"]["Scenario"]["properties"]["group_id"]["markdownDescription"] == (
        "The chat group that the agent acts for.\n\n*string (required)*"
    )


@pytest.mark.parametrize("adapter", ["nanoclaw", "otel"])
def test_each_adapter_has_its_own_input(adapter: str) -> None:
    """`adapter_input` is that of the adapter which the test names."""
    rules = {
        rule["if"]["properties"]["adapter"]["const"]: rule["then"] for rule in schema("test-case")["allOf"]
    }
    reference = rules[adapter]["properties"]["adapter_input"]["$ref"].removeprefix("#/$defs/")
    assert schema("test-case")["$defs"][reference]["title"] == find_adapter(adapter).input_model.__name__  # type: ignore[attr-defined]
