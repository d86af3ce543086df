"""The JSON Schemas: equal to their files, and of one mind with the loader and the writers."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agenteval.assertions import assertion_class, assertion_types
from agenteval.contracts.models import Invalid, Model, parse
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import CAPABILITY_FLAGS
from agenteval.loading.config import Config
from agenteval.reference import explanation
from agenteval.reference.explanation import reference_markdown
from agenteval.reference.schemas import SHIPPED, build_schema, drifted, schema_path, schema_text
from agenteval_nanoclaw.session.runs import NanoClawInput
from builders import make_spec
from runs import CASES, EXAMPLES, PROJECT, run_command

SPECS = [*sorted(EXAMPLES.rglob("test.yaml")), *sorted(CASES.glob("failing/*/test.yaml"))]
REPLAYS = [path.parent / "replay.json" for path in SPECS if "otel" not in path.parts]
IN_REACH = (
    "unknown_key",
    "missing_key",
    "wrong_type",
    "wrong_value",
    "unknown_parameter",
    "missing_parameter",
    "unknown_assertion_type",
    "unknown_capability",
    "unsupported_version",
    "no_assertions",
)
"""The faults that a schema can see: not those of YAML itself, of patterns, and of ids."""


explain_all = cache(explanation.explain_all)


@cache
def validator(name: str) -> Draft202012Validator:
    """The schema of that name, ready to judge."""
    return Draft202012Validator(build_schema(name))


def complaints(name: str, data: Any) -> list[str]:
    """What the schema finds wrong with the data."""
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(data)]


def fits(name: str, data: Any) -> bool:
    """Whether the schema finds nothing wrong with the data."""
    return bool(validator(name).is_valid(data))


def controls() -> Iterator[Path]:
    """The invalid specs whose fault a schema can see."""
    for path in sorted(CASES.glob("invalid/*/*.yaml")):
        match = re.match(r"# expected: spec\.(\w+)\n", path.read_text(encoding="utf-8"))
        if match and match[1] in IN_REACH:
            yield path


def test_files_are_up_to_date() -> None:
    """`schemas/` says what the models say; `agenteval schema --write` brings it there."""
    assert drifted(PROJECT / "schemas") == []


def test_no_other_files() -> None:
    """`schemas/` holds the shipped schemas and nothing else."""
    folder = PROJECT / "schemas"
    assert set(folder.iterdir()) == {schema_path(folder, name) for name in SHIPPED}


def test_reference_is_up_to_date() -> None:
    """docs/assertions.md is what `agenteval explain --markdown` prints."""
    assert (PROJECT / "docs" / "assertions.md").read_text(encoding="utf-8") == reference_markdown(
        explain_all()
    )


def test_reference_tells_every_type_and_shape_once() -> None:
    """Each type and each mapping inside parameters has one section; one name never means two mappings."""
    headings = re.findall(r"^### (.*)$", reference_markdown(explain_all()), re.MULTILINE)
    shapes = {shape.name: shape for item in explain_all() for shape in item.shapes}
    assert len(headings) == len(set(headings))
    assert set(headings) == {*assertion_types(), *shapes}
    assert [shape for item in explain_all() for shape in item.shapes if shape != shapes[shape.name]] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_schema_is_a_schema(name: str) -> None:
    """Each is valid under draft 2020-12."""
    Draft202012Validator.check_schema(json.loads(schema_text(name)))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_test_files_fit(path: Path) -> None:
    """Every example and every control that runs fits the schema of test cases."""
    assert complaints("test-case", yaml.safe_load(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("configuration", "complaint"),
    [
        ({}, []),
        (
            {
                "x-owner": "ops",
                "suite": {"pass_score": None, "id": "local.a.evals.b"},
                "redaction": {"kinds": []},
            },
            [],
        ),
        ({"strickt": True}, ["$: 'strickt' does not match any of the regexes: '^x-'"]),
        ({"suite": {"pass": 1}}, ["$.suite: 'pass' does not match any of the regexes: '^x-'"]),
        ({"strict": "true"}, ["$.strict: 'true' is not of type 'boolean'"]),
        ({"color": "blue"}, ["$.color: 'blue' is not one of ['auto', 'always', 'never']"]),
        ({"limits": {"max_events": 0}}, ["$.limits.max_events: 0 is less than the minimum of 1"]),
    ],
)
def test_a_configuration_fits_as_the_loader_sees_it(
    configuration: dict[str, Any], complaint: list[str]
) -> None:
    """Schema and model agree on a configuration; a misspelled key is marked in an editor."""
    assert complaints("config", configuration) == complaint
    assert accepted(Config, configuration) is (not complaint)


def test_configurations_of_the_examples_fit() -> None:
    """Each names its schema in the first line, and fits it."""
    paths = sorted(EXAMPLES.rglob("agenteval.yaml"))
    assert paths
    for path in paths:
        header, *_ = path.read_text(encoding="utf-8").splitlines()
        schema = path.parent / header.removeprefix("# yaml-language-server: $schema=")
        assert schema.resolve() == PROJECT / "schemas" / "config.schema.json"
        assert complaints("config", yaml.safe_load(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", REPLAYS, ids=lambda path: path.parent.name)
def test_replays_fit(path: Path) -> None:
    """Every replay bundle of the examples and of the failing controls fits the schema of the adapter."""
    assert complaints("replay", json.loads(path.read_text(encoding="utf-8"))) == []


def test_there_are_files_to_judge() -> None:
    """Examples and controls are found: an empty list would agree with anything."""
    assert len(list(EXAMPLES.rglob("test.yaml"))) >= 5
    assert len(list(controls())) >= 8


@pytest.mark.parametrize("path", list(controls()), ids=lambda path: path.parent.name)
def test_invalid_controls_are_rejected(path: Path) -> None:
    """What the loader refuses for its keys, types or parameters an editor marks too."""
    assert not fits("test-case", yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", assertion_types())
def test_required_parameters_are_required(name: str) -> None:
    """Without a required parameter, or without `params` where one is required, a test does not fit."""
    required = [parameter.name for item in explain_all() if item.type == name for parameter in item.parameters
                if parameter.required]  # fmt: skip
    for missing in required:
        given = {key: value for key, value in example(name).items() if key != missing}
        assert not fits("test-case", with_params(name, given))
    spec = with_params(name, {})
    del spec["assertions"][0]["params"]
    assert fits("test-case", spec) is not bool(required)
    assert not fits("test-case", with_params(name, "nosuch"))


def example(name: str) -> dict[str, Any]:
    """The params of a type's example."""
    cls = assertion_class(name)
    assert cls is not None
    params: dict[str, Any] = yaml.safe_load(cls.example) or {}
    return params


def with_params(name: str, params: Any) -> dict[str, Any]:
    """A test case with one assertion."""
    return make_spec(assertions=[{"id": "a", "type": name, "params": params}])


def test_authors_own_keys_are_allowed() -> None:
    """Keys that begin with x- fit wherever the models let them through."""
    spec = make_spec(**{"x-owner": "ops"})
    spec["scenario"]["x-note"] = {"any": "thing"}
    spec["assertions"][0]["x-why"] = 1
    assert complaints("test-case", spec) == []
    assert parse(TestCase, spec).id == spec["id"]


@pytest.mark.parametrize(
    ("answers", "fits"),
    [
        ({"file": "fx.json"}, True),
        ({"response": {"a": 1}}, True),
        ({"error": {"error_type": "timeout"}}, True),
        ({"file": "fx.json", "response": None}, True),
        ({}, True),
        ({"response": None}, True),
        ({"file": None}, True),
        ({"response": None, "error": {"error_type": "timeout"}}, True),
        ({"file": "fx.json", "response": 1}, False),
        ({"file": "fx.json", "error": {"error_type": "timeout"}}, False),
    ],
)
def test_a_fixture_has_at_most_one_answer(answers: dict[str, Any], fits: bool) -> None:
    """Schema and model agree on which fixtures have more than one answer."""
    spec = make_spec(tools={"available": [], "fixtures": [{"id": "f", "tool": "t", **answers}]})
    assert (complaints("test-case", spec) == []) is fits
    assert accepted(TestCase, spec) is fits


@pytest.mark.parametrize(
    ("expected", "fits"),
    [
        ({"outcome": "a list"}, True),
        ({"status": "fail", "assertions": ["a"], "reason": "bug 7"}, True),
        ({"status": "pass", "assertions": [], "reason": ""}, True),
        ({"reason": None}, True),
        ({"status": "fail"}, False),
        ({"status": "fail", "assertions": ["a"], "reason": " "}, False),
        ({"reason": "bug 7"}, False),
        ({"assertions": ["a"]}, False),
        ({"status": "pass", "assertions": ["a"]}, False),
    ],
)
def test_an_expected_failure_is_told_in_full(expected: dict[str, Any], fits: bool) -> None:
    """Schema and model agree on what goes with `status: fail`."""
    spec = make_spec(expected=expected)
    assert (complaints("test-case", spec) == []) is fits
    assert accepted(TestCase, spec) is fits


def accepted(cls: type[Model], data: Any) -> bool:
    """Whether the strict models take the data."""
    try:
        parse(cls, data)
    except Invalid:
        return False
    return True


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8),
    st.sampled_from(["all", "any", "critical", "web_search", "tool_call", "timeout", "x-mine"]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def changed(draw: st.DrawFn, document: Any) -> Any:
    """The document with a few of its parts replaced, removed or added."""
    document = deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        holders = [part for part in walk(document) if isinstance(part, dict | list) and part]
        if not holders:
            break
        holder = draw(st.sampled_from(holders))
        key: Any = draw(
            st.sampled_from(list(holder) if isinstance(holder, dict) else list(range(len(holder))))
        )
        match draw(st.sampled_from(["replace", "remove", "add"])):
            case "replace":
                holder[key] = draw(VALUES)
            case "remove":
                del holder[key]
            case _ if isinstance(holder, dict):
                holder[draw(st.sampled_from(["x-mine", "description", "tool", "success"]))] = draw(VALUES)
            case _:
                holder.append(draw(VALUES))
    return document


def walk(part: Any) -> Iterator[Any]:
    """A document and all its parts."""
    yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from walk(inner)


FULL_SPEC = yaml.safe_load((CASES / "failing" / "no_cross_group_memory_use" / "test.yaml").read_text("utf-8"))


@settings(max_examples=150, deadline=None)
@given(changed(FULL_SPEC))
def test_what_the_models_accept_the_schema_accepts(spec: Any) -> None:
    """No test case that loads is marked in an editor."""
    if loads(spec):
        assert complaints("test-case", spec) == []


def loads(spec: Any) -> bool:
    """Whether the models take the test case, its parameters and its input."""
    if not isinstance(spec, dict) or not accepted(TestCase, spec) or not spec["assertions"]:
        return False
    for assertion in spec["assertions"]:
        cls = assertion_class(assertion["type"])
        if cls is None or not accepted(cls, assertion.get("params", {})):
            return False
    flags = [flag for assertion in spec["assertions"] for flag in assertion.get("requires_capabilities", ())]
    return set(flags) <= set(CAPABILITY_FLAGS) and accepted(NanoClawInput, spec.get("adapter_input", {}))


EVERY_KEY = make_spec(
    **yaml.safe_load("""
description: d
tags: [a]
policy: {on_missing_capability: skip}
expected: {outcome: o, status: fail, assertions: [a], reason: r, failure_categories: [c]}
reporting: {save_trace: false}
scenario:
  group_id: g
  session_id: s
  trigger: scheduler
  input_messages: [{role: user, content: c, sender: s, ts: "2026-01-01"}]
  prior_messages: [{role: tool, content: c}]
  memory_snapshot: m
  other_group_state: {work: m}
  mounts: []
  scheduler_context: {}
tools:
  available: [web_search]
  policy: {allow: [web_*], deny: [shell], max_calls: {web_search: 2}}
  fixtures:
    - {id: f, tool: t, file: f.json, description: d, match: {args_contains: {}}}
    - {id: g, tool: t, error: {error_type: e, message: m, retryable: true}}
    - {id: h, tool: t, response: {any: thing}}
assertions:
  - id: a
    type: must_call_tool
    severity: warning
    description: d
    requires_capabilities: [supports_replay]
    params: {tool: t}
""")
)
PARAMS = ("assertions", 0, "params")


@pytest.mark.parametrize("name", ["(test)", *assertion_types()])
def test_mistakes_at_every_level_are_marked(name: str) -> None:
    """Each key misspelt, each value of a wrong type: the schema refuses exactly what the models refuse."""
    spec, inside = (EVERY_KEY, ()) if name == "(test)" else (with_params(name, example(name)), PARAMS)
    assert loads(spec)
    places = [path for path in paths(spec) if path[: len(inside)] == inside]
    assert len(places) > (70 if name == "(test)" else 0)
    for path in places:
        for mistake in (MISSPELT, {"no": "such"}, None):
            mistaken = with_mistake(spec, path, mistake)
            if mistake is not None or path[-1] not in IN_PLACE_OF_EACH_OTHER:
                assert fits("test-case", mistaken) is loads(mistaken), (path, mistake)


MISSPELT = "misspelt"
IN_PLACE_OF_EACH_OTHER = ("tool", "before", "after", "max", "exact", "args")
"""Parameters of which one may be left out (null) only when another is given."""


def paths(part: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all keys and items."""
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from paths(inner, (*path, key))


def with_mistake(spec: Any, path: tuple[str | int, ...], mistake: Any) -> Any:
    """The test case with the value at the path replaced, or its key misspelt."""
    spec = deepcopy(spec)
    holder: Any = spec
    *outer, last = path
    for key in outer:
        holder = holder[key]
    if mistake != MISSPELT:
        holder[last] = mistake
    elif isinstance(holder, dict):
        holder[f"{last}_"] = holder.pop(last)
    return spec


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_parameters_that_the_models_accept_the_schema_accepts(data: st.DataObject) -> None:
    """No parameters that load are marked in an editor, whatever the type."""
    name = data.draw(st.sampled_from(assertion_types()))
    params = data.draw(changed(example(name)))
    cls = assertion_class(name)
    assert cls is not None
    if accepted(cls, params):
        assert complaints("test-case", with_params(name, params)) == []


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run over examples and controls has written, passes, failures, errors and invalid specs among it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        paths = [EXAMPLES, CASES / "failing", CASES / "error", CASES / "invalid" / "unknown-key"]
        run = run_command(paths, tmp_path_factory.mktemp("artifacts"), "--save-traces")
    assert run.exit_code == 3
    return run.folder


@pytest.mark.parametrize(
    ("name", "files"), [("trace", "*.trace.json"), ("result", "*.result.json"), ("summary", "summary.json")]
)
def test_what_is_written_fits(name: str, files: str, artifacts: Path) -> None:
    """Traces, results and the summary have every field of their schema, and no other."""
    closed = Draft202012Validator(close(build_schema(name)))
    paths = sorted(artifacts.glob(files))
    assert paths
    for path in paths:
        errors = closed.iter_errors(json.loads(path.read_text(encoding="utf-8")))
        assert [f"{path.name} {error.json_path}: {error.message}" for error in errors] == []


def close(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, with no keys allowed beside those it names."""
    for part in (schema, *schema["$defs"].values()):
        if "properties" in part:
            assert part["required"] == list(part["properties"])
            assert [name for name in part["properties"] if name.startswith("_")] == []
            part["additionalProperties"] = False
    return schema
