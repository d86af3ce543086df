"""JSON into plain data: what is refused, and where things are."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.errors import FileError, Problem
from agenteval.contracts.models import Model, model
from agenteval.reading.jsonsource import load_json, load_model, parse_json, places

PATH = Path("replay.json")


def refusal(text: str) -> Problem:
    """The only problem of a text."""
    with pytest.raises(FileError) as caught:
        parse_json(text, PATH)
    (problem,) = caught.value.problems
    assert problem.path == PATH
    return problem


DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=5),
    max_leaves=30,
)


@given(DATA, st.booleans(), st.sampled_from([None, 2]))
def test_valid_json_is_read_as_the_standard_library_reads_it(data: Any, escaped: bool, indent: int) -> None:
    """Strictness adds refusals, it changes no value."""
    text = json.dumps(data, ensure_ascii=escaped, indent=indent)
    assert parse_json(text, PATH) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "code", "column", "message"),
    [
        ("", "json.empty", 1, "the file is empty: it holds no data"),
        ('{"a": 1, "a": 2}', "json.duplicate_key", 10, "the key 'a' is given twice"),
        ('[{"a": 1}, {"b": {}, "b": 2}]', "json.duplicate_key", 22, "the key 'b' is given twice"),
        ('{"a": 1, "\\u0061": 2}', "json.duplicate_key", 10, "the key 'a' is given twice"),
        ("[NaN]", "json.number", 2, "NaN is not a number in JSON"),
        ('{"a": -Infinity}', "json.number", 7, "-Infinity is not a number in JSON"),
        ("[18446744073709551616]", "json.number", 2, "the integer does not fit into 64 bits"),
        (f"[{'9' * 5000}]", "json.number", 2, "the integer does not fit into 64 bits"),
        ("[0.5, 1e999]", "json.number", 7, "the number is too large"),
        ('["\\ud83d"]', "json.surrogate", 3, "\\ud83d is half a character: a surrogate without its partner"),
        (
            '{"\\ud800": 1}',
            "json.surrogate",
            3,
            "\\ud800 is half a character: a surrogate without its partner",
        ),
        (
            "[" * 101 + "]" * 101,
            "json.too_deep",
            101,
            "mappings and lists are nested more than 100 levels deep",
        ),
        ('{"a":' * 100_000, "json.too_deep", 501, "mappings and lists are nested more than 100 levels deep"),
        ("{a: 1}", "json.syntax", 2, "not valid JSON: expected a key in double quotes, got 'a'"),
        ("[1, nul]", "json.syntax", 5, "not valid JSON: expected a value, got 'nul'"),
        (
            "[1",
            "json.syntax",
            3,
            "not valid JSON: expected ',' or the end of the mapping or list, got the end of the file",
        ),
        ('{"a" 1}', "json.syntax", 6, "not valid JSON: expected ':' after the key, got '1'"),
        ('{"a": 1,}', "json.syntax", 9, "not valid JSON: expected a key in double quotes, got '}'"),
        ("[1, ]", "json.syntax", 5, "not valid JSON: expected a value, got ']'"),
        ("{} {}", "json.syntax", 4, "not valid JSON: expected the end of the file, got '{'"),
        ('["abc', "json.syntax", 2, "not valid JSON: Unterminated string starting"),
        ('["a\tb"]', "json.syntax", 4, "not valid JSON: Invalid control character"),
        ('["\\x"]', "json.syntax", 3, "not valid JSON: Invalid \\escape"),
        ('["\\u12"]', "json.syntax", 4, "not valid JSON: Invalid \\uXXXX escape"),
    ],
)
def test_what_is_refused(text: str, code: str, column: int, message: str) -> None:
    """Each kind of refusal has its reason code, its place and its words."""
    problem = refusal(text)
    assert (problem.reason_code, problem.line, problem.column, problem.message) == (code, 1, column, message)


def test_the_line_of_a_key_given_twice() -> None:
    """The second one is shown."""
    assert refusal('{\n  "a": 1,\n  "b": {"a": 2},\n  "a": 3\n}').render() == (
        "replay.json:4:3: error[json.duplicate_key]: the key 'a' is given twice\n"
        '   2 |   "a": 1,\n'
        '   3 |   "b": {"a": 2},\n'
        '   4 |   "a": 3\n'
        "     |   ^^^"
    )


@pytest.mark.parametrize(
    "text", ["18446744073709551615", "-9223372036854775808", "-0", "1e308", "[" * 100 + "]" * 100]
)
def test_the_limits_themselves_are_allowed(text: str) -> None:
    """64 bits, signed or not; any finite number; a hundred levels."""
    assert parse_json(text, PATH) == json.loads(text)


def test_brackets_in_text_are_no_nesting() -> None:
    """Only what nests counts."""
    data = [{"a": "[{" * 200}, *[[1]] * 200]
    assert parse_json(json.dumps(data), PATH) == data


def test_surrogate_pairs_and_escaped_backslashes_are_text() -> None:
    """An emoji written as two escapes is one character, and an escaped backslash begins no escape."""
    assert parse_json('["\\ud83d\\ude00", "\\\\ud800"]', PATH) == ["\U0001f600", "\\ud800"]


def test_load_json_reads_a_file(tmp_path: Path) -> None:
    """With the size limit, and a byte order mark allowed."""
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": [1, 2.5, null, true]}')
    assert load_json(path) == {"a": [1, 2.5, None, True]}
    with pytest.raises(FileError, match=r"the file has 30 bytes; the limit is 5"):
        load_json(path, max_bytes=5)


def at(text: str, *path: str | int, at_key: bool = False) -> tuple[int, int, int]:
    """Line, column and span of a place."""
    found = places(text, [(path, at_key)])[0]
    return found.line, found.column, found.span


TEXT = '{"a": {"b": [1, {"c": "x, ]"}, []]},\n "d\\"e": -1.5e3, "f": null}'


def test_places_of_values_and_keys() -> None:
    """A scalar is underlined as a whole; of a container, its key is, or its first bracket."""
    assert at(TEXT) == (1, 1, 1)
    assert at(TEXT, "a") == (1, 2, 3)
    assert at(TEXT, "a", "b", 0) == (1, 14, 1)
    assert at(TEXT, "a", "b", 1) == (1, 17, 1)
    assert at(TEXT, "a", "b", 1, "c") == (1, 23, 6)
    assert at(TEXT, "a", "b", 1, "c", at_key=True) == (1, 18, 3)
    assert at(TEXT, "a", "b", 2) == (1, 32, 1)
    assert at(TEXT, 'd"e') == (2, 10, 6)
    assert at(TEXT, "f", at_key=True) == (2, 18, 3)


def test_what_is_not_there_is_placed_at_what_holds_it() -> None:
    """So that a missing key points at the mapping that lacks it."""
    assert at(TEXT, "a", "x") == (1, 2, 3)
    assert at(TEXT, "a", "b", 7, "y") == (1, 8, 3)
    assert at(TEXT, "nothing") == (1, 1, 1)


@model
class Step(Model):
    """A step."""

    type: Literal["tool_call", "error"]
    """Its type."""
    tool: str
    """Its tool."""


@model
class Bundle(Model):
    """A bundle."""

    script: list[Step]
    """Its steps."""


def test_load_model_tells_all_that_is_wrong(tmp_path: Path) -> None:
    """Each finding with its place, its JSON pointer and its reason code, in order of line."""
    path = tmp_path / "a.json"
    path.write_text('{"script": [\n  {"type": "tool_cal", "tool": 3},\n  {"type": "error", "tol": "x"}\n]}')
    with pytest.raises(FileError) as caught:
        load_model(Bundle, path)
    assert [
        (problem.reason_code, problem.pointer, problem.line, problem.column, problem.message, problem.hint)
        for problem in caught.value.problems
    ] == [
        (
            *("json.wrong_value", "/script/0/type", 2, 12),
            "script[0].type: expected one of tool_call, error, got 'tool_cal'",
            "did you mean 'tool_call'?",
        ),
        (
            *("json.wrong_type", "/script/0/tool", 2, 32),
            "script[0].tool: expected a string, got the number 3 (put it in quotes, as it is written)",
            "",
        ),
        (
            *("json.unknown_key", "/script/1/tol", 3, 21),
            "unknown key 'tol' in script[1]",
            "did you mean 'tool'?",
        ),
    ]
