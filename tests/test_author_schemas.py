"""Authors' JSON Schemas: errors found at load time, nothing fetched, nothing that runs away."""

import socket
from typing import Any

import pytest

from agenteval.contracts import time_limits
from agenteval.contracts.errors import AssertionCrashError
from agenteval.matching.patterns import schema_differences, schema_error, schema_fault

GOOD: list[dict[str, Any]] = [
    {},
    {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "string"}}},
    {"$id": "https://a.example/s", "$defs": {"x": {"$anchor": "y"}}, "$ref": "#y"},
    {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"},
    {"pattern": r"\p{L}+(?<name>x)"},
    {"properties": {"pattern": {"type": "string"}, "$ref": {"type": "string"}}},
    {"properties": {"child": {"$ref": "#"}}},
    {"$ref": "#/elsewhere", "elsewhere": {"pattern": "^a"}},
    {
        "note": "mine",
        "x-tpye": 1,
        "x-items": 2,
        "tsType": "T",
        "example": 3,
        "nullable": True,
        "discriminator": {"propertyName": "kind"},
    },
    {"properties": {"requird": {"type": "string"}}, "enum": [{"tpye": 1}], "default": {"tpye": 1}},
    {"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": True},
    {"$ref": "http://json-schema.org/draft-07/schema#"},
    {"$schema": "http://json-schema.org/draft-04/schema#", "additionalProperties": False, "items": {}},
    {"$schema": "http://json-schema.org/draft-06/schema#", "dependencies": {"a": ["b"], "c": {}, "d": True}},
]


@pytest.mark.parametrize("schema", GOOD)
def test_good_schemas(schema: dict[str, Any]) -> None:
    """References inside, published meta-schemas, older drafts and recursion over data are fine."""
    assert schema_error(schema) is None


LEADS_NOWHERE = "does not resolve inside the schema, and remote schemas are not fetched; put what it refers to under $defs"


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"type": "strin"}, "type: 'strin' is not valid under any of the given schemas"),
        ({"requird": ["a"]}, "requird is not a keyword, and would be ignored; did you mean 'required'?"),
        (
            {"additionalProperty": False},
            "additionalProperty is not a keyword, and would be ignored; did you mean 'additionalProperties'?",
        ),
        ({"min_length": 3}, "min_length is not a keyword, and would be ignored; did you mean 'minLength'?"),
        (
            {"items": {"dependencies": {"a": ["b"]}}},
            "dependencies is a keyword of another draft, and would be ignored; name that draft with $schema",
        ),
        ({"$schema": "https://x.example/s"}, "$schema is not a known draft: 'https://x.example/s'"),
        (
            {"$schema": "http://json-schema.org/draft-03/schema#", "type": "odd"},
            "$schema is not a known draft: 'http://json-schema.org/draft-03/schema#'",
        ),
        ({"$schema": [1]}, "$schema is not a known draft: [1]"),
        ({"$schema": "http://["}, "$schema is not a known draft: 'http://['"),
        ({"$ref": "https://x.example/s.json"}, f"$ref 'https://x.example/s.json' {LEADS_NOWHERE}"),
        ({"items": {"$ref": "#/$defs/x"}}, f"$ref '#/$defs/x' {LEADS_NOWHERE}"),
        ({"$dynamicRef": "#node"}, f"$dynamicRef '#node' {LEADS_NOWHERE}"),
        ({"$ref": "http://[x"}, f"$ref 'http://[x' {LEADS_NOWHERE}"),
        ({"$ref": "#"}, "it is nested too deeply, or refers to itself endlessly"),
        ({"pattern": "("}, "the pattern '(' is not a regular expression: missing ) at position 1"),
        (
            {"patternProperties": {"[": {}}},
            "the pattern '[' is not a regular expression: unterminated character set at position 1",
        ),
        (
            {"properties": {"a": {"$schema": "http://json-schema.org/draft-03/schema#", "extends": 3}}},
            "$schema inside the schema would change the rules; put it at the top",
        ),
        (
            {"$ref": "#/elsewhere", "elsewhere": {"pattern": "("}},
            "the pattern '(' is not a regular expression: missing ) at position 1",
        ),
        ({"$ref": "#/title", "title": "a"}, "'a' is not of type 'object', 'boolean'"),
        ({"$ref": "#/elsewhere", "elsewhere": {"$ref": "#/no"}}, f"$ref '#/no' {LEADS_NOWHERE}"),
        (
            {"patternProperties": {"a": {}}, "allOf": [{"unevaluatedProperties": False}]},
            "unevaluatedProperties together with patternProperties cannot be judged under a time limit",
        ),
    ],
)
def test_bad_schemas(schema: dict[str, Any], error: str) -> None:
    """Each is an error at load time that says what is wrong."""
    assert schema_error(schema) == error


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when a schema is loaded nor when it judges."""

    def refuse(*_: Any) -> None:
        raise OSError("fetched")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    schema = {"$ref": "http://x.example/s.json"}
    assert schema_error(schema) is not None
    with pytest.raises(AssertionCrashError) as caught:
        schema_differences(schema, {})
    assert caught.value.reason_code == "schema.unresolvable"
    assert caught.value.message == (
        "json_schema refers to 'http://x.example/s.json', which is not in the schema; remote schemas are not fetched"
    )


def test_a_pattern_that_runs_away_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """In values, in keys, and in what additionalProperties compares; the error shows the author's pattern."""
    monkeypatch.setattr(time_limits, "SECONDS", 0.05)
    text = "a" * 40 + "!"
    runaway = "(a|a)+$"
    schemas: list[tuple[dict[str, Any], Any]] = [
        ({"pattern": runaway}, text),
        ({"patternProperties": {runaway: {}}}, {text: 1}),
        ({"patternProperties": {runaway: {}}, "additionalProperties": False}, {text: 1}),
    ]
    for schema, value in schemas:
        with pytest.raises(AssertionCrashError) as caught:
            schema_differences(schema, value)
        assert caught.value.reason_code == "pattern.timeout"
        assert caught.value.message == (
            "the pattern '(a|a)+$' used up the 0.05 s that the patterns and schemas of an assertion may take, "
            "on a text of 41 characters"
        )


BRANCHING: dict[str, Any] = {
    "$ref": "#/$defs/s39",
    "$defs": {
        "s0": {"type": "string"},
        **{f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n - 1}"}] * 2} for n in range(1, 40)},
    },
}
"""Looks 2 ** 40 times at a value that fits nowhere."""
USED_UP = "json_schema used up the 0.05 s that the patterns and schemas of an assertion may take"


def test_a_schema_that_branches_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is loaded, and when it judges."""
    monkeypatch.setattr(time_limits, "SECONDS", 0.05)
    assert schema_error(BRANCHING) == USED_UP
    with pytest.raises(AssertionCrashError) as caught:
        schema_differences(BRANCHING, 1)
    assert caught.value.message == USED_UP
    assert caught.value.reason_code == "schema.timeout"
    assert caught.value.next_step == (
        "simplify the schema, above all what repeats under anyOf, oneOf, allOf and $ref, "
        "or raise limits.pattern_seconds in agenteval.yaml"
    )


@pytest.mark.parametrize(
    ("items", "unique"),
    [
        ([], True),
        ([1, "1", True, None, [1], {"a": 1}], True),
        ([0, False], True),
        ([{"a": 1}, {"a": True}], True),
        ([[1], {"1": 1}], True),
        ([1, 1.0], False),
        ([[1, {"a": [2]}], [1.0, {"a": [2]}]], False),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], False),
        ([True, True], False),
    ],
)
def test_unique_items(items: list[Any], unique: bool) -> None:
    """As JSON sees it: `true` is not `1`, `1.0` is `1`, and the order of keys does not matter."""
    found = [] if unique else [f"(top): {items!r} has non-unique elements"]
    assert schema_differences({"uniqueItems": True}, items) == found
    assert schema_differences({"uniqueItems": False}, items) == []


def test_unique_items_of_a_long_list() -> None:
    """In one pass over it."""
    assert schema_differences({"uniqueItems": True}, [{"k": number} for number in range(50_000)]) == []


def test_a_schema_that_goes_in_circles_is_stopped() -> None:
    """When it is not seen at load time."""
    with pytest.raises(AssertionCrashError) as caught:
        schema_differences({"$ref": "#"}, {})
    assert caught.value.reason_code == "schema.recursion"


def test_differences() -> None:
    """One line each with the place; patterns mind case, and `^` and `$` are those of the whole text."""
    schema = {
        "properties": {"a": {"pattern": "^b$"}, "c": {"additionalProperties": {"type": "integer"}}},
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": False,
    }
    assert schema_differences(schema, {"a": "b", "c": {"n": 1}, "x-1": "s"}) == []
    assert sorted(schema_differences(schema, {"a": "a\nb", "c": {"n": "1"}, "x-1": 2, "z": 1})) == [
        "(top): unexpected 'z' (allowed: 'a', 'c', '^x-')",
        "a: 'a\\nb' does not match '^b$'",
        "c/n: '1' is not of type 'integer'",
        "x-1: 2 is not of type 'string'",
    ]
    assert schema_differences({"pattern": "^b$"}, 3) == []
    assert schema_differences({"patternProperties": {"a": False}, "additionalProperties": False}, 3) == []


def test_differences_are_few_and_short() -> None:
    """At most ten, each cut."""
    lines = schema_differences({"items": {"type": "string"}}, [{"k": "v" * 1000}] * 20)
    assert len(lines) == 10
    assert all(len(line) < 330 for line in lines)


ALLOWS_ALL = "json_schema allows every value: say what must be there, such as type, required or properties"


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"title": "An answer", "$defs": {"x": {"type": "string"}}},
        {"properties": {"a": {}, "b": True}},
        {"additionalProperties": True, "items": {}, "required": [], "minLength": 0},
        {"anyOf": [{}, {"type": "string"}]},
        {"allOf": [{}], "not": False},
        {"type": ["object", "array", "string", "number", "boolean", "null"]},
        {"format": "date"},
        {"pattern": ".*"},
        {"$ref": "#/$defs/x", "$defs": {"x": {}}},
        {"if": {"type": "object"}},
    ],
)
def test_a_schema_that_every_value_fits_is_refused(schema: dict[str, Any]) -> None:
    """Its keywords ask for nothing; `format` is a remark."""
    assert schema_fault(schema) == ALLOWS_ALL


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"properties": {"a": {"type": "string"}}},
        {"required": ["a"]},
        {"enum": [1]},
        {"const": None},
        {"not": {}},
        {"additionalProperties": False},
        {"maxProperties": 0},
        {"contains": {}},
        {"$ref": "#/$defs/x", "$defs": {"x": {"type": "string"}}},
        {"if": {"type": "object"}, "else": False},
        {"oneOf": [{}, {"type": "string"}]},
        {"unevaluatedProperties": False},
    ],
)
def test_a_schema_that_some_value_does_not_fit_is_usable(schema: dict[str, Any]) -> None:
    """One keyword that asks for something is enough; of what is always an object, its type asks for nothing."""
    assert schema_fault(schema) is None
    assert (schema_fault(schema, kinds=("object",)) is None) is (schema != {"type": "object"})
