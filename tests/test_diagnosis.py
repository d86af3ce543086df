"""What is said of data that does not fit a model."""

from dataclasses import field
from typing import Annotated, Any, Literal

import pytest

from agenteval.contracts.explaining import MAX_FINDINGS, json_schema
from agenteval.contracts.models import (
    Between,
    Invalid,
    Matching,
    Model,
    NotEmpty,
    OpenMapping,
    Tagged,
    describe,
    dotted,
    model,
    parse,
)


@model
class Circle(Model):
    """A shape."""

    kind: Literal["circle"]
    """Which."""
    radius: int
    """How large."""


@model
class Line(Model):
    """Another."""

    kind: Literal["line", "ray"]
    """Which."""
    name: str
    """What it is called."""

    def __post_init__(self) -> None:
        if self.name == "bad":
            raise ValueError("a line cannot be bad")


@model
class Drawing(Model):
    """Every kind of field there is."""

    shape: Annotated[Circle | Line, Tagged("kind")] | None = None
    """Models told apart by a field."""
    limit: int | dict[str, int] | None = None
    """One of two kinds."""
    weight: float = 0
    """Any number."""
    shapes: list[Circle] | str | None = None
    """Models in a list, or text."""
    groups: dict[str, list[Circle]] = field(default_factory=dict)
    """Models in lists in a mapping."""
    tags: Annotated[list[str], NotEmpty()] | None = None
    """A list that is not empty."""
    scale: Annotated[int, Between(1, 5)] = 1
    """A number within bounds."""
    code: Annotated[str, Matching("[a-z]+")] = "a"
    """Text of a form."""
    extra: Annotated[dict[str, Any] | list[Any] | str, OpenMapping("path", "content")] | None = None
    """Whatever the author likes, but no slip."""
    visible: bool = True
    """Yes or no."""
    choice: Literal["x", "y or z"] | None = None
    """One of two words."""


QUOTE_IT = "(YAML reads yes, no, on and off as booleans: quote it)"


def said(data: Any) -> list[str]:
    """`code: sentence` of each finding."""
    with pytest.raises(Invalid) as caught:
        parse(Drawing, data)
    return [f"{finding.code}: {finding.sentence}" for finding in caught.value.findings]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, "wrong_type: expected a mapping, got nothing (null)"),
        ("text", "wrong_type: expected a mapping, got 'text'"),
        ({"wight": 1}, "unknown_key: unknown key 'wight'"),
        ({"shape": {}}, "missing_key: missing required key 'kind' in shape"),
        ({"shape": {"kind": "square"}}, "wrong_value: shape.kind: unknown kind 'square'"),
        ({"shape": {"kind": 3}}, "wrong_value: shape.kind: unknown kind 3"),
        ({"shape": 3}, "wrong_type: shape: expected a mapping, got the number 3"),
        ({"shape": {"kind": "circle"}}, "missing_key: missing required key 'radius' in shape"),
        ({"shape": {"kind": "ray", "name": "bad"}}, "wrong_value: shape: a line cannot be bad"),
        ({"limit": "x"}, "wrong_type: limit: expected an integer or a mapping, got 'x'"),
        ({"limit": {"a": "b"}}, "wrong_type: limit.a: expected an integer, got 'b'"),
        ({"weight": True}, "wrong_type: weight: expected a number, got the boolean true"),
        ({"weight": None}, "wrong_type: weight: expected a number, got nothing (null)"),
        ({"shapes": [{"kind": "circle"}]}, "missing_key: missing required key 'radius' in shapes[0]"),
        (
            {"shapes": 3},
            "wrong_type: shapes: expected a list or a string, got the number 3 (put it in quotes, as it is written)",
        ),
        ({"groups": []}, "wrong_type: groups: expected a mapping, got an empty list"),
        ({"groups": {"a.b": {"c": 1}}}, "wrong_type: groups.a.b: expected a list, got a mapping"),
        (
            {"groups": {"a": [{"kind": "circle", "radius": 1, "x": 1}]}},
            "unknown_key: unknown key 'x' in groups.a[0]",
        ),
        ({"tags": []}, "wrong_value: tags: expected a non-empty value, got an empty list"),
        ({"tags": [False]}, f"wrong_type: tags[0]: expected a string, got the boolean false {QUOTE_IT}"),
        ({"scale": 0}, "wrong_value: scale: expected at least 1, got the number 0"),
        ({"scale": 6}, "wrong_value: scale: expected at most 5, got the number 6"),
        ({"scale": 1.0}, "wrong_type: scale: expected an integer, got the number 1.0"),
        ({"code": "A"}, "wrong_value: code: expected a string that matches ^[a-z]+$, got 'A'"),
        ({"code": "a\n"}, "wrong_value: code: expected a string that matches ^[a-z]+$, got 'a\\n'"),
        ({"extra": {"pth": 1}}, "unknown_key: unknown key 'pth' in extra"),
        ({"extra": [{}, {"contnt": 1}]}, "unknown_key: unknown key 'contnt' in extra[1]"),
        ({"visible": "yes"}, "wrong_type: visible: expected true or false, got 'yes'"),
        ({"choice": "z"}, "wrong_value: choice: expected one of x, y or z, got 'z'"),
    ],
)
def test_one_thing_wrong(data: Any, expected: str) -> None:
    """It is said once, with what was expected, what was found, and where."""
    assert said(data) == [expected]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"shape": {"kind": "circle", "radios": 1}}, ["unknown key 'radios' in shape: radius"]),
        (
            {"shape": {"kind": "circle", "Radius": 1, "radios": 2}},
            ["unknown key 'Radius' in shape: radius", "unknown key 'radios' in shape: radius"],
        ),
        ({"shape": {"knid": "circle", "radius": 1}}, ["unknown key 'knid' in shape: kind"]),
        (
            {"shapes": [{"kind": "circle", "radios": 1}, {"kind": "circle"}]},
            ["unknown key 'radios' in shapes[0]: radius", "missing required key 'radius' in shapes[1]: None"],
        ),
        (
            {"shape": {"kind": "ray", "size": 1}},
            ["missing required key 'name' in shape: None", "unknown key 'size' in shape: None"],
        ),
    ],
)
def test_a_misspelt_key_is_not_missing_as_well(data: Any, expected: list[str]) -> None:
    """One mistake is one finding, with the name that is meant; what is not clear is told in full."""
    with pytest.raises(Invalid) as caught:
        parse(Drawing, data)
    assert [f"{each.sentence}: {each.suggestion}" for each in caught.value.findings] == expected


def test_everything_wrong_is_said_in_the_order_of_the_data() -> None:
    """Unknown keys stand where they are written, missing ones where they are missed."""
    data = {
        "visible": 1,
        "shapes": [{"kind": "circle", "radius": "x"}, {"radius": 1}, 3],
        "oops": 1,
        "weight": "1",
    }
    assert said(data) == [
        "wrong_type: visible: expected true or false, got the number 1",
        "wrong_type: shapes[0].radius: expected an integer, got 'x'",
        "missing_key: missing required key 'kind' in shapes[1]",
        "wrong_type: shapes[2]: expected a mapping, got the number 3",
        "unknown_key: unknown key 'oops'",
        "wrong_type: weight: expected a number, got '1'",
    ]


def test_an_unknown_key_comes_with_the_names_allowed() -> None:
    """Those of the mapping that it stands in, and the one that was meant."""
    with pytest.raises(Invalid) as caught:
        parse(Drawing, {"shape": {"kind": "line", "nam": "x"}, "shapes": [{"kind": "circle"}]})
    unknown, missing = caught.value.findings
    assert (missing.path, missing.at_key, missing.name) == (("shapes", 0), True, "radius")
    assert (unknown.path, unknown.at_key, unknown.name) == (("shape", "nam"), True, "nam")
    assert (unknown.suggestion, unknown.allowed) == ("name", ["kind", "name"])


def test_a_wrong_choice_comes_with_the_choices() -> None:
    """And the one that was meant."""
    with pytest.raises(Invalid) as caught:
        parse(Drawing, {"shape": {"kind": "cirle", "radius": 1}, "choice": "y or zz"})
    tag, choice = caught.value.findings
    assert (tag.suggestion, tag.allowed) == ("circle", ["circle", "line", "ray"])
    assert (choice.suggestion, choice.allowed) == ("y or z", ["x", "y or z"])


def test_keys_of_the_author_are_let_through() -> None:
    """Keys with x- mean nothing here, in any mapping, and hide no other finding."""
    data = {"x-a": 1, "shape": {"kind": "circle", "radius": 1, "x-b": []}}
    assert parse(Drawing, data) == Drawing(shape=Circle(kind="circle", radius=1))
    assert data["x-a"] == 1
    assert said({"x-a": 1, "scale": 9}) == ["wrong_value: scale: expected at most 5, got the number 9"]


def test_data_that_is_wrong_throughout_is_judged_in_good_time() -> None:
    """The number of findings is bounded."""
    with pytest.raises(Invalid) as caught:
        parse(Drawing, {f"key-{n}": n for n in range(20_000)})
    assert len(caught.value.findings) == MAX_FINDINGS


def test_invalid_lists_its_findings() -> None:
    """As text, for whoever does not look at them one by one."""
    with pytest.raises(Invalid, match=r"^unknown key 'a'; unknown key 'b'$"):
        parse(Drawing, {"a": 1, "b": 2})


def test_values_as_messages_name_them() -> None:
    """By kind, and by themselves when they are short."""
    values: list[Any] = [None, True, 3, 1.5, "a", "a" * 61, [], [1], {}]
    assert [describe(value) for value in values] == [
        "nothing (null)",
        "the boolean true",
        "the number 3",
        "the number 1.5",
        "'a'",
        "a string of 61 characters",
        "an empty list",
        "a list",
        "a mapping",
    ]


def test_paths_as_people_write_them() -> None:
    """Keys with dots, indices in brackets."""
    assert dotted(("a", 0, "b", 1, 2)) == "a[0].b[1][2]"
    assert dotted(()) == ""


def test_the_json_schema_of_a_model() -> None:
    """What the model enforces, the schema says, down to the keys of the author."""
    schema = json_schema(Drawing, name="drawing", title="A drawing")
    assert schema["title"] == "A drawing"
    assert schema["$id"] == "https://agenteval.dev/schemas/0.1/drawing.schema.json"
    assert schema["additionalProperties"] is False
    assert schema["patternProperties"] == {"^x-": True}
    assert schema["$defs"]["Circle"]["patternProperties"] == {"^x-": True}
    assert schema["properties"]["code"]["pattern"] == "^[a-z]+$"
    assert schema["properties"]["scale"] == {
        "default": 1,
        "description": "A number within bounds.",
        "maximum": 5,
        "minimum": 1,
        "title": "Scale",
        "type": "integer",
    }
