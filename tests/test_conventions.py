"""What is valid in a test file and worth a warning all the same, with the real catalogue of types."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.loading.testfile import load_test
from builders import make_spec


@pytest.mark.parametrize(
    ("phrases", "regex", "told"),
    [
        (["ok", r"\bsecret\b"], False, [r"'\bsecret\b'"]),
        ([r"\d{4}", "a.*b"], False, [r"'\d{4}'", "'a.*b'"]),
        ([r"\d{4}", "a.*b"], True, []),
        ([r"C:\docs", "1.", "**", "...", "$5", "^"], False, []),
    ],
)
def test_a_forbidden_phrase_that_reads_like_a_pattern(
    tmp_path: Path, phrases: list[str], regex: bool, told: list[str]
) -> None:
    """It would never be found, and the assertion never fail: a warning."""
    params = {"patterns": phrases, "regex": regex}
    spec = make_spec(assertions=[{"id": "a", "type": "output_omits", "params": params}])
    path = tmp_path / "test.yaml"
    path.write_text(yaml.safe_dump(spec))
    assert [
        (warning.reason_code, warning.message, warning.next_step) for warning in load_test(path).warnings
    ] == [
        (
            "spec.phrase_like_pattern",
            f"{phrase} looks like a regular expression, but is matched literally",
            "set `regex: true` next to patterns",
        )
        for phrase in told
    ]


def test_where_a_phrase_that_reads_like_a_pattern_stands(tmp_path: Path) -> None:
    """Its line is told, and an assertion of another type before it does not end the search."""
    calls = {"id": "a", "type": "must_call_tool", "params": {"tool": "web_search"}}
    omits = {"id": "b", "type": "output_omits", "params": {"patterns": ["ok", "a.*b"]}}
    path = tmp_path / "test.yaml"
    text = yaml.safe_dump(make_spec(assertions=[calls, omits]))
    path.write_text(text)
    (warning,) = load_test(path).warnings
    assert warning.line == 1 + text.split("\n").index("    - a.*b")


@pytest.mark.parametrize(
    ("kind", "params", "pointers"),
    [
        (
            "tool_args_match",
            {"tool": "web_search", "match": {"args_contains": {"query": "", "limit": 5}}},
            ["match/args_contains/query"],
        ),
        (
            "tool_call_order",
            {"sequence": [{"tool": "web_search", "args": {"args_contains": {"query": ""}}}] * 2},
            ["sequence/0/args/args_contains/query", "sequence/1/args/args_contains/query"],
        ),
        (
            "trajectory_matches",
            {"expected": [{"tool": "web_search", "args": {"query": ""}}]},
            ["expected/0/args/query"],
        ),
        (
            "must_call_tool",
            {
                "tool": "web_search",
                "args": {"args_equal": {"query": ""}, "args_contains": {"filters": {"lang": ""}}},
            },
            [],
        ),
    ],
)
def test_an_empty_text_that_an_argument_has_to_contain(
    tmp_path: Path, kind: str, params: dict[str, Any], pointers: list[str]
) -> None:
    """It accepts any text: a warning. What is compared for equality may be empty."""
    path = tmp_path / "test.yaml"
    path.write_text(yaml.safe_dump(make_spec(assertions=[{"id": "a", "type": kind, "params": params}])))
    assert [
        (each.reason_code, each.pointer, each.message, each.next_step) for each in load_test(path).warnings
    ] == [
        (
            "spec.empty_text",
            f"/assertions/0/params/{pointer}",
            "every text contains '', so query may be any text",
            "say what it has to contain; args_equal requires an empty text, required_keys any value",
        )
        for pointer in pointers
    ]


def test_a_format_in_a_schema(tmp_path: Path) -> None:
    """It is not judged: a warning, unless it is no keyword."""
    schema = {
        "properties": {"mail": {"type": "string", "format": "email"}, "format": {"const": {"format": "x"}}}
    }
    params = {"format": "json", "json_schema": schema}
    path = tmp_path / "test.yaml"
    path.write_text(
        yaml.safe_dump(make_spec(assertions=[{"id": "a", "type": "output_matches_format", "params": params}]))
    )
    (warning,) = load_test(path).warnings
    assert (warning.reason_code, warning.pointer) == (
        "spec.format_not_judged",
        "/assertions/0/params/json_schema/properties/mail/format",
    )
    assert (
        warning.message
        == "format only describes in a JSON Schema: a value of another form than 'email' passes"
    )
    assert warning.next_step == "use pattern to require a form"
