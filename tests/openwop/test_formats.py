"""The formats of OpenWOP: our models and schemas accept and refuse what the RFC's do."""

import json
import os
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agenteval.contracts.models import Invalid, Model, parse
from agenteval.openwop.models import AgentEvalSuite, EvalSummary
from agenteval.reference.schemas import build_schema
from openwop.suites import SuiteProject, make_suite, make_task, normative, rubric
from runs import EXAMPLES

FORMATS: dict[str, type[Model]] = {"agent-eval-suite": AgentEvalSuite, "eval-summary": EvalSummary}
SEEDS = Path(
    os.environ.get("OPENWOP_SCHEMAS") or Path(__file__).resolve().parents[3] / "shared" / "seeds"
)  # where the RFC's own schemas are, if they are there

SUITE: dict[str, Any] = {
    **make_suite(
        make_task(fixtures={"toolResponses": [{"tool": "a:b", "response": 1}], "memorySeed": [{"x": 1}]}),
        make_task("judged", rubric(0.5, 0.5)),
    ),
    "targetAgentId": "agent",
    "allowedModels": ["general", "coding"],
    "thresholds": {"passScore": 0.5, "maxCostUsd": 1, "maxP95LatencyMs": 10},
}
SUMMARY: dict[str, Any] = {
    "suiteId": "a.b.evals.c",
    "suiteVersion": "0.1.0",
    "evaluatedModelClass": "general",
    "aggregateScore": 0.5,
    "passed": False,
    "taskCount": 1,
    "passedCount": 0,
    "totalCostUsd": 0.1,
    "tasks": [
        {
            "taskId": "a",
            "score": 0.5,
            "passed": False,
            "costUsd": 0.1,
            "latencyMs": 3,
            "schemaValid": True,
            "safetyFindings": [{"kind": "sensitive-data", "severity": "critical"}],
        }
    ],
    "regression": {"baselineRunId": "run-0", "scoreDelta": -0.5, "diffRef": "x"},
}
DOCUMENTS = {"agent-eval-suite": SUITE, "eval-summary": SUMMARY}


@cache
def validators(name: str) -> tuple[Draft202012Validator, Draft202012Validator]:
    """The RFC's judge, and ours."""
    return Draft202012Validator(normative(name)), Draft202012Validator(build_schema(name))


def accepted(name: str, data: Any) -> bool:
    """Whether our models take the data."""
    try:
        parse(FORMATS[name], data)
    except Invalid:
        return False
    return True


def agree(name: str, data: Any) -> bool:
    """Whether the data is valid, on which the RFC's schema, our schema and our models have to agree."""
    theirs, ours = (judge.is_valid(data) for judge in validators(name))
    assert theirs == ours == accepted(name, data), json.dumps(data)
    return bool(theirs)


@pytest.mark.parametrize("name", FORMATS)
def test_the_rules_are_those_of_the_rfc(name: str) -> None:
    """What the tests hold ours against is the RFC's own schema, without its prose."""
    path = SEEDS / f"{name}.schema.json"
    if not path.exists():
        pytest.skip(f"the normative schema is not at {path}: set OPENWOP_SCHEMAS")
    assert without_prose(json.loads(path.read_text(encoding="utf-8"))) == normative(name)


def without_prose(part: Any, *, names: bool = False) -> Any:
    """A schema without descriptions, titles and ids; the names of properties are no keywords."""
    if isinstance(part, dict):
        prose = () if names else ("description", "title", "$id", "$schema")
        return {
            key: without_prose(each, names=key == "properties")
            for key, each in part.items()
            if key not in prose
        }
    return [without_prose(each) for each in part] if isinstance(part, list) else part


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def instances(schema: dict[str, Any], root: dict[str, Any] | None = None) -> st.SearchStrategy[Any]:
    """Instances of a schema, as far as these schemas need it; a keyword that it does not know is an error."""
    root = root or schema
    if "$ref" in schema:
        return instances(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    unknown = schema.keys() - KEYWORDS
    assert not unknown, unknown
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "object" if "properties" in schema:
            parts = {name: instances(part, root) for name, part in schema["properties"].items()}
            required = {name: parts.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(required, optional=parts)
        case "object":
            return st.dictionaries(st.text(max_size=3), ANYTHING, max_size=2)
        case "array":
            unique = (lambda each: each) if schema.get("uniqueItems") else None
            return st.lists(
                instances(schema["items"], root),
                min_size=schema.get("minItems", 0),
                max_size=4,
                unique_by=unique,
            )
        case "string" if "pattern" in schema:
            return st.from_regex(schema["pattern"]).filter(lambda text: not text.endswith("\n"))
        case "string":
            return st.text(min_size=schema.get("minLength", 0), max_size=4)
        case "integer":
            whole = st.integers(schema["minimum"], 10**6)
            return whole | whole.map(float)
        case "number":
            return st.floats(schema["minimum"], schema.get("maximum", 1e9)) | st.just(int(schema["minimum"]))
        case "boolean":
            return st.booleans()
    return ANYTHING


KEYWORDS = {
    *("$schema", "$id", "$defs", "title", "description", "type", "enum", "properties", "required"),
    *(
        "additionalProperties",
        "items",
        "minItems",
        "uniqueItems",
        "pattern",
        "minLength",
        "minimum",
        "maximum",
    ),
}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_the_rfc_accepts_we_accept(name: str, data: st.DataObject) -> None:
    """Any instance of the RFC's schema is one of ours, and loads. (Python's `$` lets a line break pass; ECMAScript's does not.)"""
    document = data.draw(instances(normative(name)))
    assert agree(name, document)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_we_accept_the_rfc_accepts(name: str, data: st.DataObject) -> None:
    """Any instance of our schema is one of the RFC's."""
    document = data.draw(instances(build_schema(name)))
    assert agree(name, document)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(-2, 3),
    st.sampled_from([1.0, 0.0, 0.5, 1.5, "", "a", "A", "x y", "golden", "rubric", "exact", "1.0.0", "1.0", "a.evals.b", "critical", "general"]),
    st.lists(st.sampled_from(["golden", "golden", "rubric", "general", 1, None]), max_size=3),
    st.dictionaries(st.sampled_from(["a", "kind", "tool", "x-mine"]), st.integers(), max_size=2),
)  # fmt: skip


@st.composite
def changed(draw: st.DrawFn, document: Any) -> Any:
    """The document with one to three of its parts replaced, removed, added or doubled."""
    document = deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        holders = [part for part in walk(document) if isinstance(part, dict | list) and part]
        holder = draw(st.sampled_from(holders))
        keys: list[Any] = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = draw(st.sampled_from(keys))
        match draw(st.sampled_from(["replace", "remove", "add", "double"])):
            case "replace":
                holder[key] = draw(VALUES)
            case "remove":
                del holder[key]
            case "add" if isinstance(holder, dict):
                holder[draw(st.sampled_from(["x-mine", "description", "match", "tool"]))] = draw(VALUES)
            case _ if isinstance(holder, list):
                holder.append(deepcopy(holder[key]))
    return document


def walk(part: Any) -> Iterator[Any]:
    """A document and all its parts."""
    yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from walk(inner)


@pytest.mark.parametrize("name", FORMATS)
def test_changed_documents_are_judged_alike(name: str) -> None:
    """Whatever is replaced, removed or added in a full document: all three say the same of it, of some yes and of some no."""
    verdicts = set()

    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(changed(DOCUMENTS[name]))
    def judge(document: Any) -> None:
        verdicts.add(agree(name, document))

    judge()
    assert verdicts == {True, False}
    assert agree(name, DOCUMENTS[name])
    assert not agree(name, {**DOCUMENTS[name], "x-mine": 1})


@pytest.mark.parametrize(
    ("name", "change", "valid"),
    [
        ("agent-eval-suite", {"thresholds": {"maxP95LatencyMs": 10.0}}, True),
        ("agent-eval-suite", {"thresholds": {"maxP95LatencyMs": 10.5}}, False),
        ("agent-eval-suite", {"thresholds": None}, False),
        ("agent-eval-suite", {"targetAgentId": None}, False),
        ("agent-eval-suite", {"modes": ["golden", "golden"]}, False),
        ("agent-eval-suite", {"modes": []}, False),
        ("agent-eval-suite", {"suiteId": "a.tests.b"}, False),
        ("agent-eval-suite", {"version": "1.0"}, False),
        ("eval-summary", {"taskCount": True}, False),
        ("eval-summary", {"taskCount": 1e20}, True),
        ("eval-summary", {"aggregateScore": 1.0000001}, False),
        ("eval-summary", {"regression": {"baselineRunId": "r", "scoreDelta": -1}}, True),
    ],
)
def test_corners(name: str, change: dict[str, Any], valid: bool) -> None:
    """Where two judges might differ: integers with a point, null, doubles, bounds."""
    assert agree(name, {**DOCUMENTS[name], **change}) is valid


def test_the_example_is_valid() -> None:
    """The suite of the examples is one by the RFC's rules."""
    document = json.loads((EXAMPLES / "openwop" / "suite.json").read_text(encoding="utf-8"))
    assert agree("agent-eval-suite", document)


def test_events_fit_their_schema(suite: SuiteProject) -> None:
    """Every line that a run writes, with findings and a baseline too, is valid; one with content is not."""
    judge = Draft202012Validator(build_schema("eval-events"))
    suite.write(make_task(), make_task("mail"), modes=["golden", "adversarial", "regression"])
    suite.record("mail", "Cats: write to cat@example.org.")
    assert (suite.run(), suite.run("--baseline", "run-1", run_id="run-2")) == (1, 0)
    events = suite.events("run-2")
    assert [error.message for event in events for error in judge.iter_errors(event)] == []
    assert [event["type"] for event in events] == [
        "eval.started",
        "eval.scored",
        "eval.scored",
        "eval.completed",
    ]
    assert events[2]["payload"]["safetyFindingCount"] == 1
    for event in events:
        assert not judge.is_valid({**event, "payload": {**event["payload"], "output": "text"}})
