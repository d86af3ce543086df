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
    ("bullet", "count"),
    [
        ("It is out. [1]", 1),
        ("It is out. [1] [2, 3]", 1),
        ("It is out. (https://a.example/b.html)", 1),
        ("It is out. https://a.example/b", 1),
        ("It is out. [Reuters](https://a.example/b), [AP](https://b.example)", 1),
        ("It is out. (Reuters)", 1),
        ("It is out. Source: https://a.example/b", 1),
        ("It is out.\n  \U0001f517 https://a.example/b", 1),
        ("It is out. Source: he told us.", 2),
        ("It is out. (It was late.)", 2),
        ("It is out. [1] shows how.", 2),
        ("It is out. https://a.example/b says so.", 2),
    ],
)
def test_a_reference_is_no_sentence(bullet: str, count: int) -> None:
    """What stands in brackets, or is a link, after a sentence; unless it says something of its own."""
    verdict = of(f"- {bullet}", format="bullet_list", max_sentences_per_bullet=1)
    assert verdict.observed["sentences"] == [count]
    assert verdict.passed is (count == 1)


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


@pytest.mark.parametrize(
    ("output", "params", "has"),
    [
        ("Text.", {"format": "bullet_list", "min_bullets": 0}, "0 bullets"),
        ("- a\n- b", {"format": "bullet_list", "min_bullets": 0}, "2 bullets"),
        ("Text.", {"format": "bullet_list", "min_bullets": 0, "max_sentences_per_bullet": 1}, "0 bullets"),
        ("1. a", {"format": "numbered_list", "min_items": 0}, "1 numbered item"),
        ("Text.", {"format": "paragraphs", "min_paragraphs": 0}, "1 paragraph"),
    ],
)
def test_a_number_that_any_output_has_is_vacuous(output: str, params: dict[str, Any], has: str) -> None:
    """Nothing could fail it, unless the sentences of bullets count and there are bullets."""
    verdict = of(output, **params)
    assert (verdict.passed, verdict.exercised) == (True, False)
    assert verdict.reason == f"any number fits, and the output has {has}"
    assert of("- a", format="bullet_list", min_bullets=0, max_sentences_per_bullet=1).exercised


def test_numbered_lists() -> None:
    """The same with items."""
    verdict = of("1. a\n   - b\n2) c", format="numbered_list", min_items=2, max_items=2)
    assert verdict.message == "the output is a numbered list: 2 numbered items"
    verdict = of("- a", format="numbered_list")
    assert verdict.message == "expected at least 1 numbered item, got none"
    verdict = of("- a\n\n1. b", format="numbered_list", min_items=2)
    assert verdict.message == "expected at least 2 numbered items, got 1"
    verdict = of("1. One. Two.", format="numbered_list", max_sentences_per_bullet=1)
    assert verdict.message == (
        'expected at most 1 sentence per numbered item, got 2 in numbered item 1: "One. Two."'
    )


def test_paragraphs() -> None:
    """Runs of prose; several blank lines are one gap, a heading and a list are none."""
    output = "# T\n\nOne\ngoes on.\n\n\n \nTwo.\n- item"
    verdict = of(output, format="paragraphs", exact_paragraphs=2)
    assert verdict.passed
    assert verdict.message == "the output is in paragraphs: 2 paragraphs"
    assert verdict.observed == {"paragraphs": 2, "starts": ["One goes on.", "Two."]}
    verdict = of(output, format="paragraphs", exact_paragraphs=3)
    assert verdict.message == "expected exactly 3 paragraphs, got 2"
    verdict = of(output, format="paragraphs", min_paragraphs=1, max_paragraphs=1)
    assert verdict.message == "expected exactly 1 paragraph, got 2"
    verdict = of("- a", format="paragraphs")
    assert verdict.message == "expected at least 1 paragraph, got none"


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
    ("output", "message"),
    [
        ("Hello", "at line 1, column 1: expected a value, got 'Hello'"),
        ("```json\n```", "at line 1, column 1: the output is empty: it holds no data"),
        ('{"a": [1, 2,]}', "at line 1, column 13: expected a value, got ']'"),
        (
            '{"a": 1',
            "at line 1, column 8: expected ',' or the end of the mapping or list, got the end of the output",
        ),
        ('{"a": 1} x', "at line 1, column 10: expected the end of the output, got 'x'"),
        ("{'a': 1}", "at line 1, column 2: expected a key in double quotes, got \"'a'\""),
        ('{"a": NaN}', "at line 1, column 7: NaN is not a number in JSON"),
        ('{"a": 1, "b": 1, "b": 2}', "at line 1, column 18: the key 'b' is given twice"),
        (
            'Here:\n```json\n{"a": 1}\n```',
            "at line 1, column 1: expected a value, got 'Here' (a code block holds JSON, but there is text outside it)",
        ),
        ("[" * 100_000, "at line 1, column 101: mappings and lists are nested more than 100 levels deep"),
    ],
)
def test_json_fails(output: str, message: str) -> None:
    """What keeps it from being JSON, strictly read."""
    verdict = of(output, format="json")
    assert not verdict.passed
    assert verdict.message == f"expected the output to be JSON, but {message}"


@pytest.mark.parametrize(
    "output",
    ["```python\n1\n```", "```json\n1", "```", "```json", "```python 1```", "```\n1\n```\n```\n2\n```"],
)
def test_json_in_a_wrong_block_fails(output: str) -> None:
    """Another language, a block that never ends, two blocks."""
    assert not of(output, format="json").passed


def test_json_keys_and_schema_fail() -> None:
    """What is missing, and what differs."""
    verdict = of('{"a": 1}', format="json", required_keys=["b", "a.c"], json_schema={"required": ["d"]})
    assert verdict.message == (
        "expected the JSON to have b, a.c, got an object with a;"
        " expected the JSON to fit json_schema, but (top): 'd' is a required property"
    )
    assert verdict.observed == {
        "missing_keys": ["b", "a.c"],
        "schema_differences": ["(top): 'd' is a required property"],
    }
    assert of("3", format="json", required_keys=["a"]).message == "expected the JSON to have a, got 3"
    assert of("[]", format="json", required_keys=["a"]).message == "expected the JSON to have a, got []"


def test_length() -> None:
    """Characters, words and lines, without blanks at the ends; lines between count."""
    verdict = of("  one two\n\nthree  \n", format="max_length", max_chars=14, max_words=3, max_lines=3)
    assert verdict.passed
    assert verdict.message == "the output is short enough: 14 characters, 3 words, 3 lines"
    assert verdict.observed == {"chars": 14, "words": 3, "lines": 3}
    verdict = of("one two\n\nthree", format="max_length", max_chars=13, max_words=2, max_lines=1)
    assert verdict.message == (
        "expected at most 13 characters, got 14; expected at most 2 words, got 3; expected at most 1 line, got 3"
    )


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


@pytest.mark.parametrize(
    ("output", "got"),
    [
        ('"Käse"', '"Käse"'),
        ("true", "true"),
        ("null", "null"),
        ("{}", "an object with no keys"),
        (
            "{" + ", ".join(f'"k{n}": 1' for n in range(12)) + "}",
            "an object with k0, k1, k2, k3, k4, k5, k6, k7, k8, k9",
        ),
    ],
)
def test_json_is_told_by_what_it_is(output: str, got: str) -> None:
    """In place of an object with the keys that are required; ten keys are named."""
    verdict = of(output, format="json", required_keys=["x"])
    assert verdict.message == f"expected the JSON to have x, got {got}"
