"""Drafted YAML: it is read as the data that were written."""

from pathlib import Path

import pytest

from agenteval.reading.yamlsource import load_yaml
from agenteval.recording.draft import comment, dumped


@pytest.mark.parametrize(
    "odd", ["a\u2028b", "a\n\u2029 'b", "caf\u00e9\x85#", "1\x85", "a\nb\n", ": -", "\tb\r\n", "<<"]
)
def test_a_draft_holds_what_was_recorded(odd: str) -> None:
    """Also with characters that YAML takes for the ends of lines, in a value, in a list and as a key."""
    data = {"scenario": {"messages": [odd, {odd: odd}], "said": f"{odd} {'word ' * 40}{odd}"}}
    text = "".join(f"{line}\n" for line in dumped(data))
    assert load_yaml(text, Path("test.yaml")) == data


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a\ufffeb", r"a\ufffeb"),
        ("a\x7fb\x9f", r"a\x7fb\x9f"),
        ("\0", r"\x00"),
        ("\U0001f4a1 \u05d0e\u0301", "\U0001f4a1 \u05d0e\u0301"),
    ],
)
def test_a_comment_holds_only_what_yaml_has(name: str, written: str) -> None:
    """The reasons of a draft quote names of a recording; signs that YAML does not allow, even in comments, are escaped."""
    (line,) = comment(f"{name} succeeded")
    assert line == f"# {written} succeeded"
    assert load_yaml(f"{line}\na: 1\n", Path("test.yaml")) == {"a": 1}
