"""Authors' JSON Schemas: errors found at load time, nothing fetched, nothing that runs away."""

import socket
from time import process_time
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


NOT_PYTHONS = "in patternProperties is not a regular expression of Python: "
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
            f"the pattern '[' {NOT_PYTHONS}unterminated character set at position 0",
        ),
        (
            {"patternProperties": {"^a": {}, "(?i)^b": {}}},
            f"the pattern '^a|(?i)^b' {NOT_PYTHONS}global flags not at the start of the expression at position 3",
        ),
        (
            {"patternProperties": {r"\p{L}": {}}},
            rf"the pattern '\p{{L}}' {NOT_PYTHONS}bad escape \p at position 0",
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
    """A runaway `pattern` ends after the time of patterns; the error shows it as its author wrote it."""
    monkeypatch.setattr(time_limits, "SECONDS", 0.05)
    started = process_time()
    with pytest.raises(AssertionCrashError) as caught:
        schema_differences({"pattern": RUNAWAY}, LONG_KEY)
    assert process_time() - started < 1
    assert caught.value.reason_code == "pattern.timeout"
    assert caught.value.message == (
        "the pattern '(a|a)+$' used up the 0.05 s that the patterns of an assertion may take, "
        "on a text of 41 characters"
    )


RUNAWAY = "(a|a)+$"
LONG_KEY = "a" * 40 + "!"
BRANCHING: dict[str, Any] = {
    "$ref": "#/$defs/s39",
    "$defs": {
        "s0": {"type": "string"},
        **{f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n - 1}"}] * 2} for n in range(1, 40)},
    },
}
"""Looks 2 ** 40 times at a value that fits nowhere."""
OBJECTS = [{"k": number} for number in range(50_000)]
USED_UP = "used up the 0.3 s of processor time that it may take"


# A callback of hypothesis in the garbage collector may swallow an interruption; the next one follows a second later.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (BRANCHING, 1),
        ({"patternProperties": {RUNAWAY: {}}}, {LONG_KEY: 1}),
        ({"patternProperties": {RUNAWAY: {}}, "additionalProperties": False}, {LONG_KEY: 1}),
        ({"patternProperties": {RUNAWAY: {}}, "unevaluatedProperties": False}, {LONG_KEY: 1}),
        ({"uniqueItems": True}, OBJECTS),
        ({"items": {"not": {"enum": OBJECTS}}}, OBJECTS),
    ],
    ids=["branches", "keys", "other keys", "unevaluated keys", "unique objects", "enumerated objects"],
)
def test_what_a_schema_asks_ends_with_the_step(
    schema: dict[str, Any], value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever jsonschema does for long is interrupted, and never becomes a verdict."""
    monkeypatch.setattr(time_limits, "STEP_SECONDS", 0.3)
    started = process_time()
    with pytest.raises(AssertionCrashError, match=USED_UP), time_limits.step(AssertionCrashError):
        schema_differences(schema, value)
    assert process_time() - started < 4


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_schema_that_branches_ends_when_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step that reads a file ends the trial of a schema, too."""
    monkeypatch.setattr(time_limits, "STEP_SECONDS", 0.3)
    with pytest.raises(AssertionCrashError, match=USED_UP), time_limits.step(AssertionCrashError):
        schema_error(BRANCHING)


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
        "(top): 'z' does not match any of the regexes: '^x-'",
        "a: 'a\\nb' does not match '^b$'",
        "c/n: '1' is not of type 'integer'",
        "x-1: 2 is not of type 'string'",
    ]
    assert schema_differences({"pattern": "^b$"}, 3) == []
    assert schema_differences({"patternProperties": {"a": False}, "additionalProperties": False}, 3) == []


def test_differences_are_in_the_order_of_their_places() -> None:
    """The order in which jsonschema finds keys that are too many changes from process to process."""
    schema = {"properties": {"z": {}}, "additionalProperties": {"items": {"type": "integer"}}}
    value = {letter: ["x"] * 3 for letter in "zyxdcab"}
    places = [f"{letter}/{item}: 'x' is not of type 'integer'" for letter in "abcdxy" for item in range(3)]
    assert schema_differences(schema, value) == places[:10]
    many = schema_differences({"items": {"type": "string"}}, [*"abc", *range(12)])
    assert [line.split(":")[0] for line in many] == [str(number) for number in range(3, 13)]


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
