"""Regular expressions that wait to be compiled."""

import re

import pytest

from agenteval.text.lazy_regexes import lazy


def test_it_has_the_methods_of_a_compiled_pattern() -> None:
    """Each method does what it does on `re.compile`, with the flags given."""
    pattern = lazy(r"(b)\w", re.IGNORECASE)
    assert pattern.findall("abc BA") == ["b", "B"]
    assert pattern.sub("-", "abc BA") == "a- -"
    assert pattern.fullmatch("bx") is not None
    assert pattern.search("xyz") is None
    assert pattern.pattern == r"(b)\w"


def test_nothing_is_compiled_before_the_first_use() -> None:
    """A pattern that is wrong does no harm until it is used."""
    pattern = lazy("(")
    with pytest.raises(re.error, match="unterminated"):
        pattern.search("text")
