"""output_contains, output_omits, ask_clarifying_when_ambiguous."""

from typing import Any

import pytest
import yaml

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.contracts import time_limits
from agenteval.contracts.errors import AssertionCrashError
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.trace import Capabilities
from builders import Step, call, judge, make_trace, result
from verdicts import refs

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


def test_contains_passes() -> None:
    """One of any_of, all of all_of, a match of each pattern, whatever the case."""
    params = {"any_of": ["MOVED", "shifted"], "all_of": ["thursday"], "regex": [r"^at \d+:\d+$"]}
    verdict = of(CONTAINS, params, "The meeting moved to Thursday\nAt 15:00")
    assert verdict.passed
    assert verdict.exercised
    assert verdict.message == r'the output contains "MOVED", "thursday", "^at \d+:\d+$"'
    assert verdict.observed == {"found": ["MOVED", "thursday", r"^at \d+:\d+$"], "missing": []}
    assert refs(verdict) == ["evt-2"]


def test_contains_says_what_is_missing() -> None:
    """Each missing phrase and each pattern that does not match; `found` holds the rest."""
    params = {"any_of": ["x1", "x2"], "all_of": ["meeting", "Friday"], "regex": [r"\d{4}"]}
    verdict = of(CONTAINS, params, "The meeting moved.")
    assert not verdict.passed
    assert verdict.message == (
        'expected the output to contain at least one of "x1", "x2" and all of "meeting", "Friday" and a match of'
        r' /\d{4}/; "Friday" is missing; none of "x1", "x2" occurs; /\d{4}/ does not match'
    )
    assert verdict.observed == {"found": ["meeting"], "missing": ["Friday", "x1", "x2", r"\d{4}"]}
    assert refs(verdict) == ["evt-2"]


@pytest.mark.parametrize(
    ("params", "output", "near"),
    [
        (
            {"all_of": ["meeting on Thursday"]},
            "Hello\nThe meeting is on Thursday",
            '"meeting on Thursday" is missing (closest line: "The meeting is on Thursday")',
        ),
        (
            {"all_of": ["meeting on Thursday"]},
            "Hello, here is what I found for you today. " * 4 + "The meeting is on Thursday",
            '"meeting on Thursday" is missing (closest line: "… here is what I found for you today. The meeting is on Thursday")',
        ),
        (
            {"all_of": ["OK"], "case_sensitive": True},
            "ok",
            '"OK" is missing ("OK" occurs in another case, with other blanks or inside a longer number)',
        ),
        (
            {"any_of": ["a b"]},
            "a\nb",
            '"a b" is missing ("a b" occurs in another case, with other blanks or inside a longer number)',
        ),
        (
            {"any_of": ["a c", "a b"]},
            "a\nb",
            'none of "a c", "a b" occurs ("a b" occurs in another case, with other blanks or inside a longer number)',
        ),
        (
            {"any_of": ["Yes", "OK"], "case_sensitive": True},
            "ok",
            'none of "Yes", "OK" occurs ("OK" occurs in another case, with other blanks or inside a longer number)',
        ),
        ({"any_of": ["zebra"]}, "Nothing alike", '"zebra" is missing'),
    ],
)
def test_contains_shows_a_near_miss(params: dict[str, Any], output: str, near: str) -> None:
    """How the output almost contains the phrase."""
    verdict = of(CONTAINS, params, output)
    assert not verdict.passed
    assert verdict.message.split("; ", 1)[1] == near


def test_contains_compares_unicode_by_meaning() -> None:
    """Composed and decomposed letters are equal, and ß is ss."""
    assert of(CONTAINS, {"all_of": ["Cafe\u0301", "STRASSE"]}, "café Straße").passed


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


def test_of_many_phrases_the_first_are_named() -> None:
    """What is wrong must not drown in a list; what is observed has all of them."""
    names = [f"p{number}" for number in range(7)]
    first = '"p0", "p1", "p2", "p3", "p4" and 2 more'
    verdict = of(CONTAINS, {"any_of": names}, "No.")
    assert verdict.message == (
        f"expected the output to contain at least one of {first}; none of {first} occurs"
    )
    assert verdict.observed == {"found": [], "missing": names}
    verdict = of(CONTAINS, {"all_of": names}, "No.")
    assert verdict.message == (
        f'expected the output to contain all of {first}; "p0" is missing; "p1" is missing; "p2" is missing; '
        '"p3" is missing; "p4" is missing; 2 more'
    )
    verdict = of(OMITS, {"patterns": names}, "It is p6.")
    assert verdict.message == f'expected none of {first} in the output; "p6" occurs in line 1: "It is p6."'
    assert of(OMITS, {"patterns": names}, "No.").message == f"the output holds no {first}"
    verdict = of(ASKS, {"topics": names}, "Shall I wait?")
    assert (
        verdict.message == f'expected a question about one of {first}, but the output asks: "Shall I wait?"'
    )


def test_contains_tells_what_it_wanted() -> None:
    """A phrase that is asked for in both lists is missing once."""
    verdict = of(CONTAINS, {"any_of": ["melon"]}, "No.")
    assert verdict.message == 'expected the output to contain "melon"; "melon" is missing'
    verdict = of(CONTAINS, {"any_of": ["melon", "grapes"], "all_of": ["melon"], "regex": "x"}, "No.")
    assert verdict.message == (
        'expected the output to contain at least one of "melon", "grapes" and "melon" and a match of /x/; '
        '"melon" is missing; none of "melon", "grapes" occurs; /x/ does not match'
    )
    assert verdict.observed == {"found": [], "missing": ["melon", "grapes", "x"]}


@pytest.mark.parametrize(
    ("output", "got"), [(None, "the trace has no final output"), (" \n", "the final output is empty")]
)
def test_contains_fails_without_output(output: str | None, got: str) -> None:
    """Nothing was said, so nothing was said right."""
    verdict = of(CONTAINS, {"all_of": ["a"]}, output)
    assert not verdict.passed
    assert verdict.exercised
    assert verdict.message == f'expected the output to contain "a", but {got}'


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


def test_omits_passes() -> None:
    """None of the phrases occurs."""
    verdict = of(OMITS, {"patterns": ["foo", "bar"]}, "baz")
    assert verdict.passed
    assert verdict.exercised
    assert verdict.message == 'the output holds no "foo", "bar"'
    assert verdict.observed == {"found": [], "absent": ["foo", "bar"]}
    assert refs(verdict) == ["evt-2"]


@pytest.mark.parametrize(
    "params", [{"patterns": ["Knowledge Cutoff"]}, {"patterns": ["knowledge \\w+"], "regex": True}]
)
def test_omits_shows_the_part_of_a_long_line_that_holds_it(params: dict[str, Any]) -> None:
    """Answers are often one long line: its beginning says nothing about what is wrong."""
    story = "the zoo opens at nine and the lions are fed " * 9
    verdict = of(OMITS, params, f"Hello.\n{story}but my knowledge cutoff is earlier, {story}.")
    assert verdict.message.endswith(
        ' occurs in line 2: "… are fed the zoo opens at nine and the lions are fed '
        'but my knowledge cutoff is earlier, the zoo opens at nine and the …"'
    )


def test_omits_says_where_it_occurs() -> None:
    """The phrase, the line and its text."""
    verdict = of(OMITS, {"patterns": ["foo", "bar"]}, "a\nA Foo b")
    assert not verdict.passed
    assert verdict.message == 'expected none of "foo", "bar" in the output; "foo" occurs in line 2: "A Foo b"'
    assert verdict.observed == {
        "found": [{"pattern": "foo", "line": 2, "text": "A Foo b"}],
        "absent": ["bar"],
    }
    assert refs(verdict) == ["evt-2"]


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


def test_omits_minds_case_when_asked() -> None:
    """Phrases and patterns alike."""
    assert of(OMITS, {"patterns": ["foo"], "case_sensitive": True}, "Foo").passed
    assert not of(OMITS, {"patterns": ["Foo"], "case_sensitive": True}, "a Foo").passed
    assert of(OMITS, {"patterns": ["foo"], "regex": True, "case_sensitive": True}, "Foo").passed
    assert not of(OMITS, {"patterns": ["FOO"]}, "foo").passed


def test_omits_finds_a_phrase_over_a_line_break() -> None:
    """A phrase may hold one; the line where it begins is shown, also where folding makes letters two."""
    verdict = of(OMITS, {"patterns": ["A\nb"]}, "b\nGroß\nxa\nb")
    assert not verdict.passed
    assert verdict.observed["found"] == [{"pattern": "A\nb", "line": 3, "text": "xa"}]


@pytest.mark.parametrize(
    ("output", "reason"), [(None, "the trace has no final output"), ("", "the final output is empty")]
)
def test_omits_is_vacuous_without_output(output: str | None, reason: str) -> None:
    """Nothing was said, so nothing could be wrong with it."""
    verdict = of(OMITS, {"patterns": ["a"]}, output)
    assert verdict.passed
    assert not verdict.exercised
    assert verdict.reason == reason


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


def test_asks_passes() -> None:
    """The output asks about a topic, and the forbidden tool was not called."""
    params = {"topics": ["report"], "forbidden_tools": ["outbound_*"], "max_questions": 1}
    trace = make_trace(call("web_search"), result("web_search"), output="Sure. Which report do you mean?")
    verdict = judge(ASKS, params, trace)
    assert verdict.passed
    assert verdict.exercised
    assert verdict.message == 'the output asks a question: "Which report do you mean?"'
    assert verdict.observed == {
        "questions": ["Which report do you mean?"],
        "on_topic": ["Which report do you mean?"],
        "forbidden_calls": [],
    }
    assert refs(verdict) == ["evt-4"]


def test_asks_fails_without_a_question() -> None:
    """A courtesy or a quoted question is none of the agent's."""
    verdict = of(ASKS, {}, 'I sent it. "Why?" you may ask. Anything else?')
    assert not verdict.passed
    assert verdict.message == "expected the output to ask the user a question, but it asks none"
    assert refs(verdict) == ["evt-2"]


def test_asks_fails_off_topic() -> None:
    """A question about something else does not clear it up; the options under a question do belong to it."""
    verdict = of(ASKS, {"topics": ["draft", "final"]}, "Shall I wait?")
    assert (
        verdict.message
        == 'expected a question about one of "draft", "final", but the output asks: "Shall I wait?"'
    )
    verdict = of(ASKS, {"topics": ["draft"]}, "Shall I wait?")
    assert verdict.message == 'expected a question about "draft", but the output asks: "Shall I wait?"'
    assert of(ASKS, {"topics": ["draft", "final"]}, "Which one?\n- the first\n- the Final").passed


def test_asks_fails_with_too_many_questions() -> None:
    """An interrogation is no help."""
    verdict = of(ASKS, {"max_questions": 1}, "Which one? When? For whom?")
    assert verdict.message == "expected at most 1 question, got 3"
    assert verdict.observed["questions"] == ["Which one?", "When?", "For whom?"]
    assert of(ASKS, {}, "Which one? When?").message == 'the output asks 2 questions: "Which one?"'


def test_asks_fails_when_the_agent_acted_first() -> None:
    """The call is named, and is evidence."""
    trace = make_trace(call("outbound_send", to="x"), result("outbound_send"), output="Sent. Was that right?")
    verdict = judge(ASKS, {"forbidden_tools": ["outbound_*"]}, trace)
    assert not verdict.passed
    assert verdict.message == (
        "expected no call of outbound_* before the agent asked, got outbound_send (evt-2)"
    )
    assert verdict.observed["forbidden_calls"] == ["evt-2"]
    assert refs(verdict) == ["evt-4", "evt-2"]
    asked = Step("final_output", {"role": "assistant", "content": "To whom?"})
    later = make_trace(asked, call("outbound_send", to="x"), output="To whom?")
    assert judge(ASKS, {"forbidden_tools": ["outbound_*"]}, later).passed


def test_a_question_may_be_sent_by_a_tool() -> None:
    """The send that delivered it is the asking; another one before is not."""
    answer = {"role": "assistant", "content": "Which report?", "sent_by": ["c2"]}
    steps = [call("outbound_send", "c2", text="Which report?"), Step("final_output", answer)]
    params = {"forbidden_tools": ["outbound_send"]}
    assert judge(ASKS, params, make_trace(*steps, output="Which report?")).passed
    hasty = call("outbound_send", "c1", to="work", text="The report")
    verdict = judge(ASKS, params, make_trace(hasty, *steps, output="Which report?"))
    assert verdict.observed["forbidden_calls"] == ["evt-2"]


def test_asks_is_skipped_when_calls_cannot_be_seen() -> None:
    """Without a tool trace nobody knows what was called; the question alone can still be judged."""
    trace = make_trace(output="Which one?", capabilities=Capabilities())
    verdict = judge(ASKS, {"forbidden_tools": ["outbound_send"]}, trace)
    assert not verdict.applicable
    assert verdict.message == "forbidden_tools needs supports_tool_trace, which the recording lacks"
    assert judge(ASKS, {}, trace).exercised


def test_asks_fails_without_output() -> None:
    """Who says nothing asks nothing."""
    verdict = of(ASKS, {}, None)
    assert not verdict.passed
    assert (
        verdict.message == "expected the output to ask the user a question, but the trace has no final output"
    )


@pytest.mark.parametrize("topic", ["", " "])
def test_asks_spec_errors(topic: str) -> None:
    """An empty topic is in every question; no question at all is no limit."""
    assert spec_error(ASKS, {"topics": [topic]}) == (
        "topics holds an empty phrase, which every output contains: remove it"
    )
    assert spec_error(ASKS, {"max_questions": 0}) == "expected at least 1, got the number 0"


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("output_contains", {"any_of": ["11"]}),
        ("output_contains", {"all_of": ["answer: 7"], "any_of": ["answer"]}),
        ("output_contains", {"any_of": ["11"], "case_sensitive": True}),
        ("ask_clarifying_when_ambiguous", {"topics": ["11"]}),
    ],
)
def test_no_digits_are_found_inside_a_number(kind: str, params: dict[str, Any]) -> None:
    """`11` is not said by 711."""
    trace = make_trace(output="Answer: 711.5. Is 711 right?")
    assert not judge(kind, params, trace).passed


def test_what_stands_inside_a_number_is_told() -> None:
    """A person sees why the digits are not enough."""
    verdict = judge("output_contains", {"any_of": ["11"]}, make_trace(output="ANSWER: 711"))
    assert verdict.message == (
        'expected the output to contain "11"; "11" is missing ("11" occurs in another case, with other blanks or inside a longer number)'
    )


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


@pytest.mark.parametrize(
    ("phrase", "output"),
    [
        ("secret code", "The secret, code"),
        ("secretcode", "The secret code"),
        ("a*b", "ab"),
        ("my_key", "mykey"),
        ("mykey", "my_key"),
        ("102", "10²"),
        ("000", "1\u00a0000 boats"),
        ("000", "1\u202f000 boats"),
        ("**", "a * b"),
        ("AT&amp;T", "AT and T"),
    ],
)
def test_what_people_do_not_read_is_no_hit(phrase: str, output: str) -> None:
    """Words stay apart, names keep their signs, and a number stays one."""
    assert of(OMITS, {"patterns": [phrase]}, output).passed


@pytest.mark.parametrize(
    ("phrase", "output"), [("**", "a **b**"), ("1 000", "1\u00a0000"), ("my_key", "`my_key`"), ("a*b", "a*b")]
)
def test_signs_of_the_phrase_itself_count(phrase: str, output: str) -> None:
    """They are looked for as they stand."""
    assert not of(OMITS, {"patterns": [phrase]}, output).passed
