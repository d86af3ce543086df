"""output_matches_format."""

from dataclasses import fields
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.assertions.output import PARAMETERS, OutputMatchesFormat
from agenteval.contracts.models import Invalid, parse
from builders import judge, make_trace

KIND = "output_matches_format"


def of(output: str | None, **params: Any) -> Verdict:
    """The verdict on an output."""
    return judge(KIND, params, make_trace(output=output))


def spec_error(**params: Any) -> str:
    """What is wrong with the parameters."""
    with pytest.raises(Invalid) as caught:
        parse(OutputMatchesFormat, params)
    return str(caught.value)


def test_the_example_is_valid() -> None:
    """It can be pasted into a test; the output alone is judged, so nothing is implied."""
    assert assertion_class(KIND) is OutputMatchesFormat
    parse(OutputMatchesFormat, yaml.safe_load(OutputMatchesFormat.example))
    assert OutputMatchesFormat.implied == ()


def test_every_parameter_belongs_to_a_format() -> None:
    """Save `format` itself."""
    owned = {name for names in PARAMETERS.values() for name in names}
    assert owned | {"format"} == {field.name for field in fields(OutputMatchesFormat)}


BULLETS = "The news:\n\n• v1.2 is out, see https://a.example/b.\n- B rose 3.5 %\n"


def test_bullets_pass() -> None:
    """Text beside the bullets is allowed; full stops inside numbers and URLs end no sentence."""
    verdict = of(BULLETS, format="bullet_list", min_bullets=2, max_bullets=3, max_sentences_per_bullet=1)
    assert verdict.passed
    assert verdict.exercised
    assert verdict.message == "the output is a bullet list: 2 bullets"
    assert verdict.observed == {"bullets": 2, "sentences": [1, 1]}
    assert [event.event_id for event in verdict.events] == ["evt-2"]


@pytest.mark.parametrize(
    ("output", "params", "message"),
    [
        ("- a", {"min_bullets": 2}, "expected at least 2 bullets, got 1"),
        ("- a\n\n1. b", {"min_bullets": 2}, "expected at least 2 bullets, got 1"),
        ("- a\n- b", {"max_bullets": 1}, "expected at most 1 bullet, got 2"),
        ("- a\n- b\n- c\n- d", {"max_bullets": 3}, "expected at most 3 bullets, got 4"),
        ("- a", {"min_bullets": 2, "max_bullets": 3}, "expected 2 to 3 bullets, got 1"),
        ("- a", {"max_bullets": 0}, "expected at most 0 bullets, got 1"),
        ("Text.", {}, "expected at least 1 bullet, got none"),
        ("1. a\n2. b", {}, "expected at least 1 bullet, got none"),
        (
            "- One. Two. Three.\n- Four.",
            {"max_sentences_per_bullet": 2},
            'expected at most 2 sentences per bullet, got 3 in bullet 1: "One. Two. Three."',
        ),
    ],
)
def test_bullets_fail(output: str, params: dict[str, Any], message: str) -> None:
    """Expected, got, and what there is instead."""
    verdict = of(output, format="bullet_list", **params)
    assert not verdict.passed
    assert verdict.message == message
    assert [event.event_id for event in verdict.events] == ["evt-2"]


def test_of_many_bullets_that_are_too_long_the_first_are_told() -> None:
    """Five say what is wrong; the numbers of sentences of all of them are observed."""
    verdict = of("- One. Two.\n" * 7, format="bullet_list", max_sentences_per_bullet=1)
    assert verdict.message.endswith('in bullet 5: "One. Two."; 2 more')
    assert verdict.observed["sentences"] == [2] * 7


def test_no_bullets_can_be_right() -> None:
    """When the author says so."""
    assert of("Text.", format="bullet_list", max_bullets=0).exercised
    assert of("Text.", format="bullet_list", min_bullets=0, max_bullets=2).exercised


def test_an_exact_number_of_paragraphs_within_bounds() -> None:
    """The bounds add nothing to it."""
    verdict = of("One.\n\nTwo.", format="paragraphs", exact_paragraphs=2, min_paragraphs=0)
    assert verdict.passed
    assert verdict.exercised
    verdict = of("One.", format="paragraphs", exact_paragraphs=2, min_paragraphs=0, max_paragraphs=3)
    assert verdict.message == "expected exactly 2 paragraphs, got 1"


@pytest.mark.parametrize(
    "output",
    [
        '{"a": {"b": [{"c": null}]}}',
        '\n```json\n{"a": {"b": [{"c": 0}]}}\n```\n',
        '```{"a": {"b": [{"c": 0}]}}```',
        '```json {"a": {"b": [{"c": 0}]}}```',
    ],
)
def test_json_passes(output: str) -> None:
    """As the whole output, or in a block that is the whole output; keys lead into lists, null is present."""
    verdict = of(output, format="json", required_keys=["a", "a.b.0.c"], json_schema={"type": "object"})
    assert verdict.passed
    assert verdict.message == "the output is JSON: an object with a"
    assert verdict.observed == {"missing_keys": [], "schema_differences": []}


@pytest.mark.parametrize(
    "output",
    ["```python\n1\n```", "```json\n1", "```", "```json", "```python 1```", "```\n1\n```\n```\n2\n```"],
)
def test_json_in_a_wrong_block_fails(output: str) -> None:
    """Another language, a block that never ends, two blocks."""
    assert not of(output, format="json").passed


@pytest.mark.parametrize("kind", list(PARAMETERS))
def test_without_output_it_fails(kind: str) -> None:
    """Whatever the format."""
    params = {"max_chars": 5} if kind == "max_length" else {}
    missing = of(None, format=kind, **params)
    assert not missing.passed
    assert missing.message.endswith(", but the trace has no final output")
    assert of(" \n", format=kind, **params).message.endswith(", but the final output is empty")


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"format": "bullet_list", "min_items": 1}, "min_items belongs to numbered_list, not to bullet_list"),
        ({"format": "json", "max_chars": 1}, "max_chars belongs to max_length, not to json"),
        (
            {"format": "paragraphs", "required_keys": ["a"]},
            "required_keys belongs to json, not to paragraphs",
        ),
        (
            {"format": "paragraphs", "max_sentences_per_bullet": 1},
            "max_sentences_per_bullet belongs to bullet_list, not to paragraphs",
        ),
        ({"format": "max_length"}, "max_length needs at least one of max_chars, max_words and max_lines"),
        (
            {"format": "paragraphs", "exact_paragraphs": 2, "max_paragraphs": 1},
            "exact_paragraphs is 2, which is more than max_paragraphs, 1",
        ),
        (
            {"format": "paragraphs", "exact_paragraphs": 2, "min_paragraphs": 3},
            "min_paragraphs is 3, which is more than exact_paragraphs, 2",
        ),
        (
            {"format": "bullet_list", "min_bullets": 3, "max_bullets": 2},
            "min_bullets is 3, which is more than max_bullets, 2",
        ),
        (
            {"format": "json", "json_schema": {"type": "strin"}},
            "json_schema is not a JSON Schema: type: 'strin' is not valid under any of the given schemas",
        ),
        ({"format": "bullet_list", "min_bullets": -1}, "expected at least 0, got the number -1"),
    ],
)
def test_spec_errors(params: dict[str, Any], error: str) -> None:
    """Found when the test is loaded."""
    assert spec_error(**params) == error


@given(st.text(), st.sampled_from(["bullet_list", "numbered_list", "paragraphs", "json"]))
def test_any_output_can_be_judged(output: str, kind: str) -> None:
    """No text makes a format crash."""
    assert of(output, format=kind).message
