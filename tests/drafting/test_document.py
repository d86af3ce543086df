"""Drafted YAML: it is read as the data that were written."""

from pathlib import Path

import pytest

from agenteval.reading.yamlsource import load_yaml
from agenteval.recording.draft import dumped


@pytest.mark.parametrize(
    "odd", ["a\u2028b", "a\n\u2029 'b", "caf\u00e9\x85#", "1\x85", "a\nb\n", ": -", "\tb\r\n", "<<"]
)
def test_a_draft_holds_what_was_recorded(odd: str) -> None:
    """Also with characters that YAML takes for the ends of lines, in a value, in a list and as a key."""
    data = {"scenario": {"messages": [odd, {odd: odd}], "said": f"{odd} {'word ' * 40}{odd}"}}
    text = "".join(f"{line}\n" for line in dumped(data))
    assert load_yaml(text, Path("test.yaml")) == data
