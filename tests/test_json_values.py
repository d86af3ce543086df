"""JSON values: found in texts and at a path, compared, shown."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.json_values import (
    MISSING,
    MOST_ALIGNED,
    MOST_FAILED,
    args_key,
    equal,
    find_differences,
    json_among,
    lookup,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("query", "AI"),
        ("filters.lang", "en"),
        ("filters", {"lang": "en"}),
        ("items.0.name", "first"),
        ("items.1", MISSING),
        ("items.-1", MISSING),
        ("items.²", MISSING),
        ("items." + "9" * 5000, MISSING),
        ("items.name", MISSING),
        ("query.0", MISSING),
        ("none", None),
        ("none.x", MISSING),
        ("a.b", "the key itself"),
        ("", MISSING),
    ],
)
def test_a_dotted_path_leads_to_a_value(path: str, value: Any) -> None:
    """Keys and list indices lead inwards; a key that holds dots wins; null is a value."""
    args = {
        "query": "AI",
        "filters": {"lang": "en"},
        "items": [{"name": "first"}],
        "none": None,
        "a.b": "the key itself",
        "a": {"b": "inside"},
    }
    assert lookup(args, path) == value


@pytest.mark.parametrize("args", [None, 1, "text", ["text"]])
def test_nothing_is_at_a_path_into_what_has_no_keys(args: Any) -> None:
    """Arguments need not be an object; a text holds no key."""
    assert lookup(args, "text") is MISSING


@given(JSON, st.text(max_size=20))
def test_no_path_crashes(args: Any, path: str) -> None:
    """Any path into any data is a value or missing."""
    lookup(args, path)


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (0, False, False),
        ([True], [1], False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ("1", 1, False),
        (None, MISSING, False),
        (None, False, False),
        ("AI", "ai", False),
        ("caf\u00e9.txt", "cafe\u0301.txt", True),
        (["caf\u00e9"], ["cafe"], False),
        ({"a": 1}, ["a"], False),
        ({"a": 1}, "a", False),
        (["a"], "a", False),
    ],
)
def test_values_are_equal_as_json(got: Any, want: Any, same: bool) -> None:
    """`true` is not `1`, `1.0` is `1`, accents are equal in both forms; the order of items counts, not that of keys."""
    assert equal(got, want) is same
    assert equal(want, got) is same


@given(JSON)
def test_a_value_equals_itself(value: Any) -> None:
    """Equality is reflexive."""
    assert equal(value, value)


@pytest.mark.parametrize(
    ("one", "other", "lines"),
    [
        (1, 1.0, []),
        (1, True, ["1 → true"]),
        ({"a": {"b": [1, {"c": 2}]}}, {"a": {"b": [1, {"c": 3}]}}, ["a.b[1].c: 2 → 3"]),
        ({"a": 1}, {"b": None}, ["a: removed 1", "b: added null"]),
        ([1, 2, 3], [1, 3], ["[1]: removed 2"]),
        ([{"a": 1}, {"a": 2}], [{"a": 0}, {"a": 1}, {"a": 2}], ['[0]: added {"a": 0}']),
        ([{"a": 1, "b": 1}, 5, 6], [{"a": 1, "b": 2}, 6], ["[0].b: 1 → 2", "[1]: removed 5"]),
        ({"a": 1}, [1], ['{"a": 1} → [1]']),
        ([*range(MOST_ALIGNED + 1)], [*range(1, MOST_ALIGNED)], None),
    ],
)
def test_differences_are_the_smallest_parts(one: Any, other: Any, lines: list[str] | None) -> None:
    """Each at its path; a missing item shifts no others, except in lists that are too long for that."""
    found = [*map(str, find_differences(one, other))]
    assert found == lines if lines is not None else len(found) == MOST_ALIGNED + 1


@given(JSON, JSON)
def test_unequal_values_have_differences(one: Any, other: Any) -> None:
    """Each of them a part that is not equal; equal values have none."""
    found = [*find_differences(one, other)]
    assert bool(found) != equal(one, other)
    assert not any(equal(each.one, each.other) for each in found)


def test_a_letter_with_an_accent_may_be_two_characters() -> None:
    """In texts and in keys, for every comparison."""
    one, two = {"caf\u00e9": "\u00e9"}, {"cafe\u0301": "e\u0301"}
    assert args_key(one) == args_key(two)
    assert equal(one, two)
    assert lookup({"a": two}, "a.caf\u00e9") == "e\u0301"
    assert lookup(one, "cafe\u0301") == "\u00e9"
    assert args_key({"a": 1e16}) == args_key({"a": 10**16})


def test_args_key_compares_numbers_by_value() -> None:
    """As `args_equal` does: a whole number may be written with a fraction of nothing."""
    assert args_key({"a": [{"b": 1.0}, -0.0]}) == args_key({"a": [{"b": 1}, 0]})
    assert args_key({"a": "1.0"}) != args_key({"a": "1"})
    assert args_key({"a": 1.05}) != args_key({"a": 1})


@pytest.mark.parametrize(
    ("path", "rest"),
    [
        ("meta", {"items": [{"id": 1, "n": 2}], "a.b": 3}),
        ("meta.id", {"meta": {"n": 1}, "items": [{"id": 1, "n": 2}], "a.b": 3}),
        ("items.0.id", {"meta": {"id": 1, "n": 1}, "items": [{"n": 2}], "a.b": 3}),
        ("a.b", {"meta": {"id": 1, "n": 1}, "items": [{"id": 1, "n": 2}]}),
        ("items.0", {"meta": {"id": 1, "n": 1}, "items": [], "a.b": 3}),
        ("items.1.id", {"meta": {"id": 1, "n": 1}, "items": [{"id": 1, "n": 2}], "a.b": 3}),
        ("meta.id.x", {"meta": {"id": 1, "n": 1}, "items": [{"id": 1, "n": 2}], "a.b": 3}),
        ("word.i.x", {"meta": {"id": 1, "n": 1}, "items": [{"id": 1, "n": 2}], "a.b": 3}),
    ],
)
def test_args_key_leaves_out_what_is_at_a_path(path: str, rest: dict[str, Any]) -> None:
    """A key, the end of a dotted path, an item of a list; a path that leads nowhere leaves nothing out."""
    args = {"meta": {"id": 1, "n": 1}, "items": [{"id": 1, "n": 2}], "a.b": 3}
    assert args_key({**args, "word": "ixi"}, [path]) == args_key({**rest, "word": "ixi"})


def test_args_key_tells_booleans_from_numbers() -> None:
    """`true` is not `1`."""
    assert args_key({"a": True}) != args_key({"a": 1})
    assert args_key({"a": True}) != args_key({"a": 1.0})
    assert args_key({"a": [1, {"b": 2, "c": 3}]}) == args_key({"a": [1, {"c": 3, "b": 2}]})


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('2 results: [{"id": 1}, {"id": 2}]', ["2 results: ", [{"id": 1}, {"id": 2}]]),
        ('{"id": 1}\n{"id": 2}\n{"id": 3}\n', [[{"id": 1}, {"id": 2}, {"id": 3}]]),
        ('[{"id": 1}] [{"id": 2}]', [[[{"id": 1}], [{"id": 2}]]]),
        (
            'One {"id": 1} and {"id": 2}, {"id": 3}.',
            ["One ", {"id": 1}, " and ", [{"id": 2}, {"id": 3}], "."],
        ),
        ('```json\n{"a": []}\n```', ["```json\n", {"a": []}, "\n```"]),
        ('GET /x -> {"a": {"b": "}"}} 200', ["GET /x -> ", {"a": {"b": "}"}}, " 200"]),
        ('{"a" : broken} then {"b": 1}', ['{"a" : broken} then ', {"b": 1}]),
    ],
)
def test_json_among_prose(text: str, parts: list[Any]) -> None:
    """In its order; values in a row are one list."""
    assert json_among(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "none",
        "a {set} of [things]",
        '["a", "b"]',
        "[1] says {2}",
        '{"a": ',
        'x{"a": 1}',
        '{"a": "' * 99,
    ],
)
def test_texts_without_objects(text: str) -> None:
    """Lists of texts are no data, nor is what goes on a word, or is cut off."""
    assert json_among(text) == [text]


def test_after_many_brackets_that_begin_nothing_the_rest_is_prose() -> None:
    """Looking on would take too long."""
    assert json_among('["" ' * MOST_FAILED + '{"a": 1}') == ['["" ' * MOST_FAILED + '{"a": 1}']
    assert json_among('["" ' * (MOST_FAILED - 1) + '{"a": 1}')[1] == {"a": 1}


@given(st.lists(st.dictionaries(st.text(max_size=3), JSON, min_size=1, max_size=2), min_size=1, max_size=3))
def test_what_stands_between_prose_is_found(values: list[Any]) -> None:
    """Whatever is in it."""
    text = "".join(f"and {json.dumps(value)} " for value in values)
    assert [part for part in json_among(text) if not isinstance(part, str)] == values


@given(st.text(alphabet='{}[]":, a1\n\\'))
def test_any_text_may_be_searched(text: str) -> None:
    """Nothing crashes, and prose is not lost."""
    parts = json_among(text)
    assert parts
    assert all(part in text for part in parts if isinstance(part, str))
