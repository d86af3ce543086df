"""Regular expressions that wait to be compiled."""

import re
import subprocess
import sys

import pytest

from agenteval.text.lazy_regexes import lazy, patterns_at_first_use


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


def test_a_library_compiles_its_patterns_when_it_uses_them() -> None:
    """Those that it makes at its import; what is compiled later is compiled at once."""
    with patterns_at_first_use():
        broken = re.compile("(")
        word = re.compile("a+", re.IGNORECASE)
    assert word.fullmatch("aA") is not None
    with pytest.raises(re.error, match="unterminated"):
        broken.search("text")
    with pytest.raises(re.error, match="unterminated"):
        re.compile("(")


def test_a_run_compiles_no_pattern_of_yaml() -> None:
    """With libyaml, reading a test uses none of them."""
    program = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from agenteval.reading import yamlsource\n"
        "import yaml.reader, yaml.resolver\n"
        "yamlsource.load_yaml('a: [1, text]', Path('a.yaml'))\n"
        "print(isinstance(yaml.reader.Reader.NON_PRINTABLE, re.Pattern))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
