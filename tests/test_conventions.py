"""What is valid in a test file and worth a warning all the same, with the real catalogue of types."""

from pathlib import Path

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
