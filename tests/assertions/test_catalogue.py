"""The catalogue: every type is there, documented, and usable from its own example."""

from typing import Any, get_args

import pytest
import yaml

from agenteval.assertions import CATALOGUE, assertion_class, assertion_types
from agenteval.assertions.base import Assertion, Category, Verdict
from agenteval.contracts.explaining import json_schema
from agenteval.contracts.models import parse
from agenteval.contracts.trace import CAPABILITY_FLAGS
from builders import make_case, make_trace

OF_SPEC = [
    "must_call_tool",
    "must_not_call_tool",
    "tool_call_order",
    "tool_args_match",
    "max_tool_calls",
    "stop_after_success",
    "output_contains",
    "output_matches_format",
    "output_omits",
    "ask_clarifying_when_ambiguous",
    "claims_supported_by_fixtures",
    "no_fabricated_source_or_citation",
    "memory_recall_same_group",
    "memory_update_on_correction",
    "no_cross_group_memory_use",
    "scheduler_task_runs",
    "scheduler_outbound_count",
    "retry_policy_respected",
    "graceful_failure_output",
]
"""SPEC 14, in its order of subjects."""


def class_of(name: str) -> type[Assertion]:
    """The class of a type, which knows it by the same name."""
    cls = assertion_class(name)
    assert cls is not None
    assert issubclass(cls, Assertion)
    assert cls.type == name
    return cls


every_type = pytest.mark.parametrize("cls", [*map(class_of, CATALOGUE)], ids=[*CATALOGUE])


def properties(cls: type[Assertion]) -> dict[str, dict[str, Any]]:
    """The parameters of a type with what its JSON Schema says of them, nested models included as `Name.field`."""
    schema = json_schema(cls, name="params", title=cls.type)
    found = dict(schema.get("properties", {}))
    for name, part in schema.get("$defs", {}).items():
        found |= {f"{name}.{key}": value for key, value in part.get("properties", {}).items()}
    return found


def test_the_catalogue_holds_the_types_of_the_spec() -> None:
    """All nineteen, each once, and whatever goes beyond them."""
    assert set(OF_SPEC) <= set(assertion_types())
    assert len(assertion_types()) == len(CATALOGUE)


def test_there_is_no_class_for_an_unknown_type() -> None:
    """The loader then says which there are."""
    assert assertion_class("must_cal_tool") is None


@every_type
def test_a_class_says_what_it_is(cls: type[Assertion]) -> None:
    """A scorecard category, a failure category in words, capabilities that exist."""
    assert cls.category in get_args(Category)
    assert cls.failure_category == cls.failure_category.strip().lower()
    assert "_" not in cls.failure_category
    assert cls.failure_category
    assert set(cls.implied) <= set(CAPABILITY_FLAGS)


@every_type
def test_a_class_documents_what_it_counts_and_when_it_passes(cls: type[Assertion]) -> None:
    """For the author of a test, not for the reader of the code."""
    text = cls.__doc__ or ""
    assert len(text.split()) >= 20
    assert not text.startswith(f"{cls.__name__}("), "that is the signature, made up by dataclass"


@every_type
def test_every_parameter_is_documented(cls: type[Assertion]) -> None:
    """By the docstring under its field, which the JSON Schema carries."""
    undocumented = [name for name, rule in properties(cls).items() if not rule.get("description")]
    assert undocumented == []


@every_type
def test_the_example_is_valid(cls: type[Assertion]) -> None:
    """What `agenteval explain` shows can be pasted."""
    params = yaml.safe_load(cls.example)
    assert isinstance(params, dict)
    assert isinstance(parse(cls, params), cls)


@every_type
def test_the_example_can_be_judged(cls: type[Assertion]) -> None:
    """On a trace with next to nothing in it: a verdict, never a crash."""
    check = parse(cls, yaml.safe_load(cls.example))
    for trace in (make_trace(), make_trace(output=None, asked=None)):
        verdict = check.judge(trace, make_case())
        assert isinstance(verdict, Verdict)
        assert verdict.message
        assert verdict.exercised or verdict.reason
