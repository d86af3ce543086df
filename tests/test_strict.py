"""Strict models: what they accept, and what they build of it."""

import subprocess
import sys
from copy import deepcopy
from dataclasses import field
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agenteval.contracts.explaining import json_schema
from agenteval.contracts.models import (
    Between,
    IntegerValued,
    Invalid,
    Matching,
    Model,
    NotEmpty,
    NotNull,
    OneOrMore,
    OpenMapping,
    Tagged,
    Unique,
    model,
    parse,
    plain,
)
from agenteval.contracts.testcase import TestCase
from builders import make_spec


@model
class Circle(Model):
    """A shape."""

    kind: Literal["circle"]
    """Which."""
    radius: Annotated[float, Between(0)]
    """How large."""


@model
class Line(Model):
    """Another."""

    kind: Literal["line", "ray"]
    """Which."""
    points: list[int]
    """Where."""

    def __post_init__(self) -> None:
        if len(self.points) == 1:
            raise ValueError("a line has no points, or several")


@model
class Drawing(Model):
    """Every kind of field there is."""

    title: Annotated[str, NotEmpty()]
    """Text that is not empty."""
    shapes: list[Annotated[Circle | Line, Tagged("kind")]] = field(default_factory=list)
    """Models told apart by a field."""
    scale: Annotated[int, Between(1, 5)] = 1
    """A number within bounds."""
    weight: float = 0.0
    """Any number."""
    share: Annotated[float, Between(0, 1)] = 0.5
    """A fraction."""
    visible: bool = True
    """Yes or no."""
    code: Annotated[str, Matching("[a-z]+-[0-9]")] | None = None
    """Text of a form."""
    limits: int | dict[str, int] | None = None
    """One of two kinds, or nothing."""
    tags: Annotated[list[str], NotEmpty()] | None = None
    """A list that is not empty."""
    extra: Annotated[dict[str, Any] | list[Any] | str, OpenMapping("path", "content")] | None = None
    """Whatever the author likes, but no slip."""
    names: dict[str, list[Circle]] = field(default_factory=dict)
    """Models in lists in a mapping."""
    copies: Annotated[float, IntegerValued(0)] = 1
    """A number without a fraction."""
    author: Annotated[Annotated[str, NotEmpty()] | None, NotNull()] = None
    """Text that may be left out, but not be null."""
    colors: Annotated[list[str], Unique()] = field(default_factory=list)
    """A list in which nothing stands twice."""
    holes: Annotated[list[Circle], NotEmpty(), OneOrMore()] | None = None
    """Models, of which one alone needs no list."""


@model
class Closed(Model):
    """What another document defines."""

    extensible: ClassVar[bool] = False
    inner: Circle | None = None
    """A model of ours in it."""


FULL: dict[str, Any] = {
    "title": "t",
    "shapes": [{"kind": "circle", "radius": 1.5}, {"kind": "ray", "points": [1, -2]}],
    "scale": 5,
    "weight": 3,
    "share": 0,
    "visible": False,
    "code": "ab-1",
    "limits": {"a": 1},
    "tags": ["a"],
    "extra": [{"path": "x", "anything": {"deep": [None]}}],
    "names": {"k": [{"kind": "circle", "radius": 0}]},
    "copies": 2.0,
    "author": "Ann",
    "colors": ["red", "green"],
    "holes": {"kind": "circle", "radius": 2},
    "x-mine": {"any": "thing"},
}


def test_plain_valid_data_becomes_a_model_at_once() -> None:
    """Every kind of field is known."""
    built = parse(Drawing, FULL)
    assert built.shapes == [Circle(kind="circle", radius=1.5), Line(kind="ray", points=[1, -2])]
    assert built.names == {"k": [Circle(kind="circle", radius=0)]}


def test_one_of_several_needs_no_list() -> None:
    """It is the same as a list of one."""
    hole = {"kind": "circle", "radius": 2}
    alone, listed = (parse(Drawing, {"title": "t", "holes": given}) for given in (hole, [hole]))
    assert alone == listed
    assert alone.holes == [Circle(kind="circle", radius=2)]
    with pytest.raises(Invalid) as caught:
        parse(Drawing, {"title": "t", "holes": {"kind": "circle", "radios": 2}})
    assert [(each.path, each.suggestion) for each in caught.value.findings] == [
        (("holes", "radios"), "radius")
    ]
    schema = json_schema(Drawing, name="drawing", title="A drawing")["properties"]["holes"]
    assert schema["anyOf"][:2] == [
        {"$ref": "#/$defs/Circle"},
        {"items": {"$ref": "#/$defs/Circle"}, "minItems": 1, "type": "array"},
    ]


def test_defaults_are_not_shared() -> None:
    """Each model has its own lists."""
    one, two = parse(Drawing, {"title": "a"}), parse(Drawing, {"title": "a"})
    assert one == two
    assert one.shapes is not two.shapes


def test_plain_valid_data_needs_no_pydantic() -> None:
    """Importing it takes longer than running a test."""
    code = (
        "import sys; from builders import make_case; make_case(scenario={'scheduler_context': {'cron': 1}});"
        "print({'pydantic', 'difflib'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{__file__.rpartition('/')[0]}"},
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    "change",
    [
        {"title": ""},
        {"title": None},
        {"titel": "x"},
        {"scale": 0},
        {"scale": 6},
        {"scale": True},
        {"scale": 1.0},
        {"weight": True},
        {"weight": "1"},
        {"share": 1.1},
        {"share": float("nan")},
        {"visible": 1},
        {"visible": "yes"},
        {"code": "AB-1"},
        {"code": "ab-1\n"},
        {"code": "ab-\u0661"},
        {"limits": {"a": "1"}},
        {"limits": [1]},
        {"tags": []},
        {"tags": ("a",)},
        {"extra": {"pth": 1}},
        {"extra": [{"contnt": 1}]},
        {"extra": 1},
        {"shapes": [{"kind": "square"}]},
        {"shapes": [{"radius": 1}]},
        {"shapes": [{"kind": ["circle"], "radius": 1}]},
        {"shapes": [{"kind": "circle", "radius": -1}]},
        {"shapes": [{"kind": "line", "points": [1]}]},
        {"shapes": [{"kind": "line", "points": [1, True]}]},
        {"shapes": [{"kind": "line"}]},
        {"shapes": {}},
        {"names": []},
        {"copies": 0.5},
        {"copies": -1},
        {"copies": True},
        {"author": None},
        {"author": ""},
        {"colors": ["red", "red"]},
        {"holes": []},
        {"holes": {}},
        {"holes": {"kind": "circle"}},
        {"holes": [{"kind": "circle", "radius": "x"}]},
        {"holes": "circle"},
        {1: "x"},
    ],
)
def test_anything_else_is_refused(change: dict[Any, Any]) -> None:
    """Where it is."""
    with pytest.raises(Invalid) as caught:
        parse(Drawing, {**FULL, **change})
    assert {finding.path[:1] or (finding.name,) for finding in caught.value.findings} == {tuple(change)}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"copies": 0.5}, "copies: expected an integer, got the number 0.5"),
        ({"copies": -1}, "copies: expected at least 0, got the number -1"),
        ({"author": None}, "author: expected a string, got nothing (null)"),
        ({"colors": ["red", "red"]}, "colors: 'red' is listed twice"),
        ({"holes": []}, "holes: expected a non-empty value, got an empty list"),
        ({"holes": "circle"}, "holes: expected a list or a mapping, got 'circle'"),
        ({"holes": {"kind": "circle"}}, "missing required key 'radius' in holes"),
        ({"holes": {"kind": "circle", "radius": "x"}}, "holes.radius: expected a number, got 'x'"),
        ({"holes": {"kind": "circle", "radius": 1, "sze": 1}}, "unknown key 'sze' in holes"),
        (
            {"holes": [{"kind": "circle", "radius": -1}]},
            "holes[0].radius: expected at least 0, got the number -1",
        ),
    ],
)
def test_what_is_said_of_whole_numbers_null_and_doubles(change: dict[str, Any], told: str) -> None:
    """In words that a person reads."""
    with pytest.raises(Invalid) as caught:
        parse(Drawing, {**FULL, **change})
    assert [finding.sentence for finding in caught.value.findings] == [told]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"colors": []}, "expected a non-empty value, got an empty list"),
        ({"colors": ["red", "red"]}, "'red' is listed twice"),
        ({"copies": 0}, "expected at least 1, got the number 0"),
        ({"copies": 1.5}, "expected an integer, got the number 1.5"),
        ({"copies": 11}, "expected at most 10, got the number 11"),
    ],
)
def test_every_rule_of_a_field_holds(change: dict[str, Any], told: str) -> None:
    """In whatever order they stand."""

    @model
    class Prints(Model):
        """A field with two rules, in both orders."""

        colors: Annotated[list[str], Unique(), NotEmpty()] = field(default_factory=lambda: ["red"])
        """A list in which nothing stands twice."""
        copies: Annotated[float, IntegerValued(1), Between(0, 10)] = 1
        """A number without a fraction."""
        paper: Annotated[list[str], NotEmpty(), Unique()] = field(default_factory=lambda: ["A4"])
        """As colors."""

    with pytest.raises(Invalid) as caught:
        parse(Prints, change)
    assert [finding.message for finding in caught.value.findings] == [told]
    if "colors" in change:
        with pytest.raises(Invalid, match=told):
            parse(Prints, {"paper": change["colors"]})


def test_a_closed_model_takes_no_keys_of_authors() -> None:
    """An `x-` key is unknown there like any other."""
    assert parse(Closed, {}) == Closed()
    with pytest.raises(Invalid) as caught:
        parse(Closed, {"x-mine": 1})
    assert [finding.sentence for finding in caught.value.findings] == ["unknown key 'x-mine'"]


def test_models_compare_by_value_and_show_themselves() -> None:
    """Like dataclasses, and only with their own kind."""
    one = Circle(kind="circle", radius=1)
    assert one == Circle(kind="circle", radius=1.0)
    assert one != Circle(kind="circle", radius=2)
    assert one != Line(kind="line", points=[])
    assert (one == plain(one)) is False
    assert repr(one) == "Circle(kind='circle', radius=1)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_a_large_integer_becomes_the_float_that_it_is_as_a_number() -> None:
    """A smaller one stays as it is written."""
    assert type(parse(Drawing, {"title": "t", "weight": 2**63 + 1}).weight) is float
    assert type(parse(Drawing, {"title": "t", "weight": 3}).weight) is int


def test_a_model_of_an_unknown_kind_is_a_mistake_of_ours() -> None:
    """It is found when the model is first used."""

    @model
    class Odd(Model):
        """A model that nobody can check."""

        value: set[str]
        """Not JSON."""

    with pytest.raises(TypeError) as caught:
        parse(Odd, {"value": 1})
    assert str(caught.value) == (
        "strict models do not know set[str]: expected str, int, float, bool, Any, Literal, list[...], "
        "dict[str, ...], a model, or several of them with |"
    )


RICH = make_spec(
    description="d",
    tags=["a"],
    scenario={
        "group_id": "family",
        "session_id": "s",
        "trigger": "scheduler",
        "input_messages": [
            {"role": "user", "content": "Hello?", "sender": "A", "ts": "2026-01-31T08:00:00Z"}
        ],
        "prior_messages": [{"role": "assistant", "content": "Hi"}],
        "memory_snapshot": [{"group_id": "family", "source": "CLAUDE.md", "path": "p", "content": "c"}],
        "other_group_state": {"work": {"memory_snapshot": "secret"}},
        "mounts": [{"any": 1}],
        "scheduler_context": {"task_id": "t", "scheduled_for": "2026-01-31T08:00:00Z", "cron": "* *"},
    },
    tools={
        "available": ["web_search"],
        "fixtures": [
            {"id": "f", "tool": "web_search", "response": {"a": [1, 2.5, None]}},
            {"id": "g", "tool": "web_search", "error": {"error_type": "timeout", "retryable": True}},
            {"id": "h", "tool": "web_search", "file": "a.json", "match": {"args_equal": {"q": 1}}},
        ],
        "policy": {"allow": ["web_*"], "deny": [], "max_calls": {"web_search": 2}},
    },
    assertions=[
        {"id": "a", "type": "t", "severity": "warning", "params": {"x": 1}, "requires_capabilities": ["c"]}
    ],
    policy={"on_missing_capability": "fail"},
    expected={"outcome": "o", "failure_categories": ["c"]},
    reporting={"save_trace": True, "redact_fields": ["token"]},
)


def places_in(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in the data."""
    found = [path]
    if isinstance(data, dict):
        found += [each for key, item in data.items() for each in places_in(item, (*path, key))]
    elif isinstance(data, list):
        found += [each for index, item in enumerate(data) for each in places_in(item, (*path, index))]
    return found


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, False, 0, 1, -1, 2**64 - 1, -(2**63), 2**53 + 1, 1.0, 0.5, 1e308),
        *("", "a", "0.1", "é\x00", "user", "scheduler", "x-a", "web_search"),
        *([], {}, [None], [""], ["a"], [{}], [[]], {"a": 1}, {"x-a": 1}),
        *({"group_id": "g"}, {"group_idd": "g"}, {"path": 1}, [{"pth": 1}], {"role": "user", "content": "c"}),
        *({"id": "f", "tool": "t", "response": None}, {"web_search": 2}, {"args_equal": None}),
    ]
)


@st.composite
def mutations(draw: st.DrawFn, data: Any) -> Any:
    """The data with some of its values replaced, removed, renamed or added to."""
    data = deepcopy(data)
    for _ in range(draw(st.integers(1, 3))):
        *parents, last = draw(st.sampled_from(places_in(data)[1:] or [()])) or (None,)
        if last is None:
            return draw(JUNK)
        holder = data
        for step in parents:
            holder = holder[step]
        match draw(st.sampled_from(["replace", "replace", "remove", "rename", "add"])):
            case "replace":
                holder[last] = deepcopy(draw(JUNK))
            case "remove":
                del holder[last]
            case "rename" if isinstance(holder, dict):
                holder[draw(st.sampled_from(["x-b", "id", "tool", f"{last}s", "file", "error"]))] = (
                    holder.pop(last)
                )
            case _ if isinstance(holder, dict):
                holder[draw(st.sampled_from(["x-c", "content", "error", "file", "role"]))] = deepcopy(
                    draw(JUNK)
                )
            case _:
                holder.append(deepcopy(draw(JUNK)))
    return data


@cache
def validator(cls: Any) -> Draft202012Validator:
    """What holds data against the JSON Schema of a model."""
    return Draft202012Validator(json_schema(cls, name="model", title="Model", extensible=cls.extensible))


def valid(cls: Any, data: Any) -> bool:
    """Whether the JSON Schema of the model accepts the data."""
    return bool(validator(cls).is_valid(data))


@settings(max_examples=200)
@given(mutations(FULL))
def test_what_is_accepted_is_what_the_json_schema_accepts(data: Any) -> None:
    """But for slips in mappings of the author's and rules in code, which a schema cannot tell, and `1.0`, to it an integer."""
    try:
        parse(Drawing, data)
    except Invalid as invalid:
        by_code = all(
            each.path[:1] == ("extra",) or "a line has no" in each.message or "an integer" in each.message
            for each in invalid.findings
        )
        assert by_code or not valid(Drawing, data)
    else:
        assert valid(Drawing, data)


@settings(max_examples=300)
@given(mutations(RICH))
def test_whatever_is_wrong_is_told(data: Any) -> None:
    """A test case that uses every field either becomes one, or has findings with a place that is there."""
    try:
        built = parse(TestCase, data)
    except Invalid as invalid:
        for finding in invalid.findings:
            here = data
            for step in finding.path:
                here = here[step]
            assert finding.message
    else:
        assert parse(TestCase, deepcopy(data)) == built


def test_the_rich_test_case_is_valid() -> None:
    """Otherwise the property would say little."""
    assert parse(TestCase, RICH).id == RICH["id"]


def test_a_mark_that_no_rule_stands_behind_is_a_mistake() -> None:
    """It would be passed over, and accept everything."""

    @model
    class Marked(Model):
        """A model with a mark of another kind."""

        value: Annotated[int, abs]
        """Not a rule."""

    with pytest.raises(
        TypeError, match=r"strict models do not know the mark .*abs.*: expected a subclass of Rule"
    ):
        parse(Marked, {"value": 1})


def test_a_rule_says_nothing_of_null() -> None:
    """Where null is allowed beside what the rule is about."""

    @model
    class Bounded(Model):
        """A bound on an optional number."""

        value: Annotated[float | None, Between(0, 1)] = None
        """A number."""

    assert parse(Bounded, {"value": None}) == Bounded()
    with pytest.raises(Invalid, match="expected at most 1, got the number 2"):
        parse(Bounded, {"value": 2})


@pytest.mark.parametrize("values", [{}, {"name": "a", "nmae": "b"}])
def test_an_instance_has_all_fields_and_no_other(values: dict[str, Any]) -> None:
    """In code too, where nothing is parsed; the error names the fields."""

    @model
    class Named(Model):
        name: str
        tags: list[str] = field(default_factory=list)

    with pytest.raises(TypeError, match="Named: fields that are missing or unknown: n"):
        Named(**values)
    one, other = Named(name="a"), Named(name="b")
    one.tags.append("x")
    assert other.tags == []
