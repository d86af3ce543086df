"""Globs of tool names, and regular expressions under a time limit."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval import patterns
from agenteval.errors import AssertionCrashError
from agenteval.patterns import is_glob, name_matches, pattern_error, search, set_time_limit

RUNAWAY = "(?:a|aa)+$"


@pytest.fixture
def short_limit() -> Iterator[None]:
    """A time limit that a test can wait for."""
    before = patterns.TIME_LIMIT_S
    set_time_limit(0.05)
    yield
    set_time_limit(before)


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("web_search", "web_search", True),
        ("web_search", "web_search2", False),
        ("web_search", "Web_Search", False),
        ("web_*", "web_search", True),
        ("web_*", "my_web_search", False),
        ("WEB_*", "web_search", False),
        ("mcp__github__*", "mcp__github__get_issue", True),
        ("web_?etch", "web_fetch", True),
        ("web_[fs]*", "web_search", True),
        ("web_[!f]*", "web_fetch", False),
        ("*", "", True),
        ("[", "[", True),
    ],
)
def test_a_name_matches_exactly_or_by_glob(pattern: str, name: str, matches: bool) -> None:
    """Only `*`, `?` and `[` make a glob; case always matters."""
    assert name_matches(pattern, name) is matches


def test_a_name_without_wildcards_is_no_glob() -> None:
    """A dot or a brace means itself."""
    assert [is_glob(name) for name in ("a.b", "a{b}", "a*", "a?", "a[b]")] == [False, False, True, True, True]


def test_search_is_case_insensitive_and_reads_lines() -> None:
    """`^` and `$` match at every line; case matters only when asked."""
    text = "Sure.\n- First\n- Second"
    assert search("^- first$", text)
    assert not search("^- first$", text, case_sensitive=True)
    assert search("^- Second$", text, case_sensitive=True)
    assert not search("^First", text)


@pytest.mark.usefixtures("short_limit")
def test_a_runaway_pattern_ends_in_an_error_that_names_it() -> None:
    """A pattern that backtracks for ever is stopped, and never becomes a verdict."""
    with pytest.raises(AssertionCrashError) as caught:
        search(RUNAWAY, "a" * 40 + "b")
    assert caught.value.message == (
        "the pattern '(?:a|aa)+$' ran for more than 0.05 s on a text of 41 characters"
    )
    assert caught.value.reason_code == "pattern.timeout"
    assert caught.value.next_step == (
        "rewrite the pattern so that no quantified group repeats what it already matched"
    )


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_the_time_limit_is_more_than_nothing(seconds: float) -> None:
    """A limit of zero would stop every pattern."""
    with pytest.raises(ValueError, match=f"must be more than 0 seconds, got {seconds:g}"):
        set_time_limit(seconds)
    assert patterns.TIME_LIMIT_S == 2.0


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("a+", None),
        ("(?:[0-9a-f]{4}-){3}", None),
        ("[[a]", None),
        ("(", "missing ) at position 1"),
        ("*a", "nothing to repeat at position 0"),
        ("a{99999999999}", "it demands more than 1000000 repetitions"),
        ("((a{1000}){1000}){1000}", "it demands more than 1000000 repetitions"),
        ("(" * 3000 + ")" * 3000, "its groups are nested too deeply"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_told_at_load(pattern: str, error: str | None) -> None:
    """What does not compile, or would fill the memory, is an error of the spec."""
    assert pattern_error(pattern) == error


@given(st.text(max_size=40))
def test_no_pattern_crashes_the_check(pattern: str) -> None:
    """Whatever an author writes is either usable or told to be wrong."""
    if pattern_error(pattern) is None:
        search(pattern, "some text\n- with lines")
