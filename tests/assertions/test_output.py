"""output_contains, output_omits, ask_clarifying_when_ambiguous."""

from typing import Any

import pytest
import yaml

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.contracts import time_limits
from agenteval.contracts.errors import AssertionCrashError
from agenteval.contracts.models import Invalid, parse
from builders import judge, make_trace

CONTAINS = "output_contains"
OMITS = "output_omits"
ASKS = "ask_clarifying_when_ambiguous"


def of(kind: str, params: dict[str, Any], output: str | None) -> Verdict:
    """The verdict on an output alone."""
    return judge(kind, params, make_trace(output=output))


def spec_error(kind: str, params: dict[str, Any]) -> str:
    """What is wrong with the parameters."""
    cls = assertion_class(kind)
    assert cls is not None
    with pytest.raises(Invalid) as caught:
        parse(cls, params)
    return str(caught.value)


@pytest.mark.parametrize("kind", [CONTAINS, OMITS, ASKS])
def test_the_example_is_valid(kind: str) -> None:
    """It can be pasted into a test; and the output alone is judged, so nothing is implied."""
    cls = assertion_class(kind)
    assert cls is not None
    parse(cls, yaml.safe_load(cls.example))
    assert cls.implied == ()
    assert cls.category == "outcome"


# output_contains


def test_contains_takes_one_pattern_without_a_list() -> None:
    """`regex: "^a"` is as good as a list of one; case counts when asked."""
    assert of(CONTAINS, {"regex": "^a"}, "x\nA").passed
    assert not of(CONTAINS, {"regex": "^a", "case_sensitive": True}, "x\nA").passed
    assert of(CONTAINS, {"all_of": ["OK"], "case_sensitive": True}, "It is OK").passed


@pytest.mark.parametrize(
    "blank", [" ", "\n", "\u00a0", "\u200b", "\u00ad\u00ad", "\ufeff \t", "\u2060", "\u3164"]
)
def test_a_blank_phrase_is_refused(blank: str) -> None:
    """Nobody sees it, and nearly every text has it: it asks for nothing. What looks like a pattern is a phrase."""
    for kind, name in ((CONTAINS, "any_of"), (CONTAINS, "all_of"), (OMITS, "patterns")):
        assert spec_error(kind, {name: ["a", blank]}) == (
            f"{name} holds an empty phrase, which every output contains: remove it"
        )
    assert of(OMITS, {"patterns": ["("]}, "a b").passed


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({}, "nothing to look for: give at least one of any_of, all_of and regex"),
        ({"all_of": []}, "nothing to look for: give at least one of any_of, all_of and regex"),
        ({"any_of": ["a", ""]}, "any_of holds an empty phrase, which every output contains: remove it"),
        ({"all_of": ["a", ""]}, "all_of holds an empty phrase, which every output contains: remove it"),
        ({"regex": ["a", ""]}, "regex holds an empty pattern, which every output matches: remove it"),
        (
            {"regex": "42|"},
            "the pattern '42|' matches every text, the empty one too; it ends in an empty alternative",
        ),
        ({"regex": ["a^b"]}, "the pattern 'a^b' can match no text"),
        ({"regex": ["("]}, "the pattern '(' is not a regular expression: missing ) at position 1"),
    ],
)
def test_contains_spec_errors(params: dict[str, Any], error: str) -> None:
    """Found when the test is loaded."""
    assert spec_error(CONTAINS, params) == error


def test_a_pattern_that_runs_away_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never a hang, and never a verdict."""
    monkeypatch.setattr(time_limits, "SECONDS", 0.05)
    hanging: list[tuple[str, dict[str, Any]]] = [
        (CONTAINS, {"regex": "(a|a)+$"}),
        (OMITS, {"patterns": ["(a|a)+$"], "regex": True}),
    ]
    for kind, params in hanging:
        with pytest.raises(AssertionCrashError, match=r"used up the 0\.05 s"):
            of(kind, params, "a" * 40 + "!")


# output_omits


@pytest.mark.parametrize(
    "params",
    [{"regex": ["one$"]}, {"regex": ["^two$"]}, {"regex": ["one\\r\\n"]}, {"all_of": ["one\ntwo"]}],
    ids=str,
)
def test_a_line_may_end_in_the_windows_way(params: dict[str, Any]) -> None:
    """What is found at the end of a line is found before CRLF, too; and who looks for CRLF finds it."""
    assert of("output_contains", params, "zero\r\none\r\ntwo").passed
    patterns = params.get("regex") or params["all_of"]
    omits = {"patterns": patterns, "regex": "regex" in params}
    verdict = of("output_omits", omits, "zero\r\none\r\ntwo")
    assert not verdict.passed
    assert of("output_omits", {"patterns": ["^one$"], "regex": True}, "zero\r\none\r\n").observed[
        "found"
    ] == [{"pattern": "^one$", "line": 2, "text": "one"}]


def test_omits_patterns_match_at_every_line() -> None:
    """`^- ` is a line that starts so; as a phrase it is three signs."""
    verdict = of(OMITS, {"patterns": ["^- "], "regex": True}, "a - b\n- c")
    assert verdict.message == 'expected no /^- / in the output; /^- / occurs in line 2: "- c"'
    assert of(OMITS, {"patterns": ["^- "]}, "- c").passed


def test_omits_finds_a_phrase_over_a_line_break() -> None:
    """A phrase may hold one; the line where it begins is shown, also where folding makes letters two."""
    verdict = of(OMITS, {"patterns": ["A\nb"]}, "b\nGroß\nxa\nb")
    assert not verdict.passed
    assert verdict.observed["found"] == [{"pattern": "A\nb", "line": 3, "text": "xa"}]


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"patterns": []}, "patterns is empty: give at least one thing that must not occur"),
        ({"patterns": ["(?!)"], "regex": True}, "the pattern '(?!)' can match no text"),
        ({"patterns": [".*"], "regex": True}, "the pattern '.*' matches every text, the empty one too"),
        ({"patterns": [""]}, "patterns holds an empty phrase, which every output contains: remove it"),
        (
            {"patterns": ["["], "regex": True},
            "the pattern '[' is not a regular expression: unterminated character set at position 1",
        ),
    ],
)
def test_omits_spec_errors(params: dict[str, Any], error: str) -> None:
    """Found when the test is loaded."""
    assert spec_error(OMITS, params) == error


@pytest.mark.parametrize("regex", [True, False])
def test_accents_are_the_same_in_both_forms(regex: bool) -> None:
    """An `é` in two characters is the one of the pattern, for phrases and for regular expressions."""
    verdict = of(OMITS, {"patterns": ["caf\u00e9"], "regex": regex}, "To the\ncafe\u0301!")
    assert not verdict.passed
    assert verdict.observed["found"] == [{"pattern": "caf\u00e9", "line": 2, "text": "caf\u00e9!"}]
    assert of(CONTAINS, {"regex": ["e\u0301!$"]}, "To the caf\u00e9!").passed


# ask_clarifying_when_ambiguous


@pytest.mark.parametrize(
    ("phrase", "output"), [("I can't say", "Sorry, I can’t say."), ("“no way”", 'She said "no way" twice.')]
)
@pytest.mark.parametrize("case_sensitive", [False, True])
def test_typographic_marks_are_as_good_as_straight_ones(
    phrase: str, output: str, case_sensitive: bool
) -> None:
    """Models write both; a phrase that must not occur is not let through for that. A pattern means what it says."""
    mind = {"case_sensitive": case_sensitive}
    assert of("output_contains", {"all_of": [phrase], **mind}, output).passed
    omits = of("output_omits", {"patterns": [phrase], **mind}, output)
    assert not omits.passed
    assert omits.message.endswith(f'occurs in line 1: "{output}"')
    assert of("output_omits", {"patterns": [phrase], "regex": True, **mind}, output).passed
    asked = f"{output[:-1]}, or what do you mean?"
    assert of("ask_clarifying_when_ambiguous", {"topics": [phrase]}, asked).passed


@pytest.mark.parametrize("topic", ["", " "])
def test_asks_spec_errors(topic: str) -> None:
    """An empty topic is in every question; no question at all is no limit."""
    assert spec_error(ASKS, {"topics": [topic]}) == (
        "topics holds an empty phrase, which every output contains: remove it"
    )
    assert spec_error(ASKS, {"max_questions": 0}) == "expected at least 1, got the number 0"


def test_digits_of_another_number_are_omitted() -> None:
    """What must not occur does not occur in it, but in a list of numbers it does."""
    params = {"patterns": ["11"]}
    assert judge("output_omits", params, make_trace(output="711 and 11.5")).passed
    assert not judge("output_omits", params, make_trace(output="711\nthen 11")).passed
    found = judge("output_omits", params, make_trace(output="711\n9,11,13")).observed["found"]
    assert found == [{"pattern": "11", "line": 2, "text": "9,11,13"}]


@pytest.mark.parametrize(
    "output",
    [
        "The secret code is out.",
        "The secret\ncode is out.",
        "The secret \n\n  code",
        "The secret\r\ncode",
        "> The secret\n> code",
        "The secret\u00a0code",
        "The secret\u2009\u202fcode",
        "The **secret** code",
        "The *secret code*",
        "The __secret__ `code`",
        "The sec**ret** code",
        "The _secret_ ~~code~~",
        "The <b>secret</b> code",
        "The se\u00adcret code",
        "The secret<br>code",
        "The [secret](https://example.com) code",
        "The <!-- x -->secret<wbr> code",
        "The \x1b[1msecret\x1b[0m code",
        "The secret\\\ncode",
        "The se\u200bcret\u2060 code",
        "The \uff53ecret code",
        "The secret&nbsp;code",
        "The \U0001d42cecret code",
    ],
)
def test_what_must_not_occur_is_found_as_people_read_it(output: str) -> None:
    """Whatever lies within the phrase that nobody sees; what has to occur is looked for as it stands."""
    for kind, params in (
        (OMITS, {"patterns": ["secret code"]}),
        ("no_cross_group_memory_use", {"forbidden_content": ["secret code"]}),
    ):
        assert not of(kind, params, output).passed
    if "secret code" not in output:
        assert not of(CONTAINS, {"any_of": ["secret code"]}, output).passed


def test_the_line_of_what_people_read_is_shown() -> None:
    """The first line that holds a part of it."""
    verdict = of(OMITS, {"patterns": ["secret code"]}, "Hello.\n\nHere is the **secret**\ncode.")
    assert verdict.observed["found"] == [
        {"pattern": "secret code", "line": 3, "text": "Here is the **secret**"}
    ]
