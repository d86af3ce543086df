"""Globs of tool names, and regular expressions under a time limit."""

from collections.abc import Iterator
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts import time_limits
from agenteval.contracts.errors import AssertionCrashError
from agenteval.matching.patterns import _compiled, pattern_error, pattern_fault, search, shown
from agenteval.text.names import is_glob, name_matches

RUNAWAY = "(?:a|aa)+$"


@pytest.fixture
def short_limit() -> Iterator[None]:
    """A time limit that a test can wait for."""
    before = time_limits.SECONDS
    time_limits.set_seconds(0.05)
    yield
    time_limits.set_seconds(before)


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
        ("[Team] Family", "[Team] Family", True),
        ("[Team] Family", "[team] Family", False),
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
        "the pattern '(?:a|aa)+$' used up the 0.05 s that the patterns of an assertion may take, "
        "on a text of 41 characters"
    )
    assert caught.value.reason_code == "pattern.timeout"
    assert caught.value.next_step == (
        "rewrite the pattern so that no quantified group repeats what it already matched, "
        "or raise limits.pattern_seconds in agenteval.yaml"
    )


@pytest.mark.usefixtures("short_limit")
def test_patterns_of_one_assertion_share_the_time() -> None:
    """A hundred patterns that each stop in time are stopped together; a new budget begins anew."""
    slow, text = "(?:a|aa)+$", "a" * 21 + "b"
    spent = process_time()
    with time_limits.step(AssertionCrashError), pytest.raises(AssertionCrashError) as caught:
        for _ in range(100_000):
            search(slow, text)
    assert process_time() - spent < 1
    assert caught.value.reason_code == "pattern.timeout"
    with time_limits.step(AssertionCrashError):
        assert search("b$", text)


@pytest.mark.usefixtures("short_limit")
def test_searches_outside_of_a_budget_have_one_each() -> None:
    """What runs for longer than the limit in all is not stopped by it."""
    until = process_time() + 0.1
    while process_time() < until:
        assert search("b$", "ab")


def test_a_pattern_that_would_fill_the_memory_is_stopped() -> None:
    """The engine remembers every repetition of a group, up to a limit of its own."""

    class Greedy:
        def search(self, *_: object, **__: object) -> None:
            raise MemoryError

    with pytest.MonkeyPatch.context() as patch, pytest.raises(AssertionCrashError) as caught:
        patch.setattr("agenteval.matching.patterns._compiled", lambda *_, **__: Greedy())
        search("((a)|b)*c", "ab")
    assert caught.value.message == "the pattern '((a)|b)*c' needs too much memory on a text of 2 characters"
    assert caught.value.reason_code == "pattern.memory"
    assert caught.value.next_step == "rewrite the pattern so that no group is repeated for every character"


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("*a" * 5_000 + "*b", "a" * 20_000),
        ("*[ab]?" * 3_000 + "c", "ab" * 10_000),
        ("*" * 100_000 + "b", "a" * 100_000),
        ("*a*" + "?" * 5_000 + "b*", "a" * 20_000),
    ],
)
def test_globs_do_not_run_away(pattern: str, name: str) -> None:
    """Many stars on a long name take no more than a moment."""
    started = process_time()
    assert not name_matches(pattern, name)
    assert process_time() - started < 5


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("a+", None),
        ("(?:[0-9a-f]{4}-){3}", None),
        ("[[a]", None),
        ("(", "missing ) at position 1"),
        ("*a", "nothing to repeat at position 0"),
        ("a{99999999999}", "it requires more than 1000000 repetitions"),
        ("((a{1000}){1000}){1000}", "it requires more than 1000000 repetitions"),
        ("a{400000}b{400000}c{400000}", "it requires more than 1000000 repetitions"),
        ("a" * 10_001, "it has 10,001 characters; the limit is 10,000"),
        ("(" * 3000 + ")" * 3000, "its groups are nested too deeply"),
        (
            "\b7\b",
            "it holds a backspace, which is how YAML reads \\b in double quotes; put it in single quotes",
        ),
    ],
)
def test_a_pattern_that_cannot_be_used_is_told_at_load(pattern: str, error: str | None) -> None:
    """What does not compile, or would fill the memory, is an error of the spec."""
    assert pattern_error(pattern) == error


@pytest.mark.parametrize("case_sensitive", [False, True])
def test_a_pattern_is_compiled_once(case_sensitive: bool) -> None:
    """The check at load compiles what the search uses."""
    pattern, before = r"compiled \d{1,2} times", _compiled.cache_info().misses
    assert pattern_error(pattern, case_sensitive=case_sensitive) is None
    assert search(pattern, "compiled 1 times", case_sensitive=case_sensitive)
    assert _compiled.cache_info().misses == before + 1


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "42|forty-two|",
            "(42)?",
            ".*",
            "x*",
            "(?!42)",
            "(?<!x)",
            "(?=)",
            "^",
            "$",
            "^.*$",
            r"\A[\s\S]*\Z",
            "(?i)",
        ),
        *(
            "(?:a|)",
            "|a",
            "a||b",
            "a?b?",
            "(?=.*)",
            "(?s).*",
            r"\s*\Z",
            "(?!(a|b))",
            ".{0,}",
            "(.|\n)*",
            "[^x]*",
        ),
    ],
)
def test_a_pattern_that_every_text_matches_is_refused(pattern: str) -> None:
    """No output could fail it; an alternative too many is the common slip."""
    told = f"the pattern {shown(pattern)} matches every text, the empty one too"
    assert (pattern_fault(pattern) or "").startswith(told)


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(?!)",
            r"[^\s\S]",
            "a^",
            "$x",
            r"\Zx",
            r"x\A",
            r"\b\B",
            "(?<!)",
            "foo$bar",
            r"[^\d\D]+",
            "(?!)foo",
            "foo(?!)",
        )
    ],
)
def test_a_pattern_that_no_text_matches_is_refused(pattern: str) -> None:
    """No output could hold what it forbids."""
    assert pattern_fault(pattern) == f"the pattern {shown(pattern)} can match no text"


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            r"\A(?!.*error)",
            "^(?!.*error)",
            r"(?s)\A(?!.*\d{4}-\d\d)",
            "^$",
            r"^\s*$",
            r"\A\s*\Z",
            ".",
            r"\S",
            r"\$x",
        ),
        *(
            "[$x^]",
            "^a$\n^b",
            r"(?<!\A)x",
            r"\Bfoo",
            r"(?<=\n)foo",
            "^[^{}]*$",
            r"\A[^\n]*\Z",
            r"^[\x00-\x7f]*$",
        ),
        *(
            r"\A.{0,500}\Z",
            r"(?s)\A(?=.*a)(?!.*b)",
            r"(a)\1",
            "^(?:ok)?$",
            r"(?<![\d.])42(?![\d.])",
            r"^-?\d*$",
        ),
        *(
            r"[^\s\S]*x",
            "(a(?=b)|c)",
            r"x$\n?y",
            r"\A(?:\d+|none)?\Z",
            r"(?s)(?=.*\ba\b)(?=.*\bb\b)",
            r"\A\Z",
        ),
    ],
)
def test_a_pattern_that_some_texts_match_is_usable(pattern: str) -> None:
    """The empty text may be one of them: `^$` is an empty line, and what must not occur is not in it."""
    assert pattern_fault(pattern) is None


def test_words_in_any_order_are_looked_for_once() -> None:
    """The time for a text that lacks one of the words is linear: it was tried at every character."""
    pattern = r"(?s)(?=.*\bZephyr\b)(?=.*\bQuillon\b)"
    started = process_time()
    assert not search(pattern, "Zephyr " + "word\n" * 100_000)
    assert search(pattern, "a\nQuillon\nthe zephyr")
    assert process_time() - started < 1


@given(st.text(max_size=40))
def test_no_pattern_crashes_the_check(pattern: str) -> None:
    """Whatever an author writes is either usable or told to be wrong."""
    pattern_fault(pattern)
    if pattern_error(pattern) is None:
        search(pattern, "some text\n- with lines")


@pytest.mark.usefixtures("short_limit")
def test_reading_patterns_is_bounded_too() -> None:
    """When those before took all the time of a file, the next is refused."""
    with time_limits.step(AssertionCrashError):
        until = process_time() + 0.06
        with time_limits.spending():
            while process_time() < until:
                pass
        assert pattern_error("a") == "the patterns before it took 0.05 s to read; use fewer"


@pytest.mark.parametrize(
    ("pattern", "told"), [(r"\d{4", r"'\d{4'"), ("\b7\n", r"'\x087\n'"), ("a" * 201, f"'{'a' * 200}'…")]
)
def test_patterns_are_shown_as_they_are_written(pattern: str, told: str) -> None:
    """With single backslashes; what cannot be printed as an escape."""
    assert shown(pattern) == told
