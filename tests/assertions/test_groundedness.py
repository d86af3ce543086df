"""claims_supported_by_fixtures and no_fabricated_source_or_citation."""

from typing import Any, Literal
from unicodedata import normalize

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.trace import Trace
from builders import call, judge, make_trace, result
from verdicts import refs

CLAIMS = "claims_supported_by_fixtures"
CITES = "no_fabricated_source_or_citation"

FOUND = {
    "results": [
        {"title": "Lab A ships model X", "url": "https://news.example.com/a", "published": "2026-11-21"},
        {
            "title": "Chip maker B posts record quarter",
            "url": "https://news.example.com/b",
            "published": "2026-11-20",
        },
    ]
}
STEPS = (
    call("web_search", query="AI news"),
    result("web_search", None, FOUND),
    call("web_fetch", url="https://news.example.com/a"),
    result(
        "web_fetch",
        None,
        {
            "text": "Lab A ships model X. Lab A released model X on 21 November with a 2M-token context window."
        },
    ),
    call("web_fetch", url="https://news.example.com/b"),
    result(
        "web_fetch",
        None,
        '{"text": "Chip maker B posts record quarter. Revenue rose 41% year over year to $58bn."}',
    ),
)
"""evt-3 holds the search results, evt-5 and evt-7 the two pages."""

FIRST = "• Lab A released model X with a 2M-token context window (https://news.example.com/a)"
SECOND = "• Chip maker B's revenue rose 41% to $58bn (https://news.example.com/b)"
THIRD = "• Both stories broke in the last 24 hours"


def news(output: str | None, *, asked: str = "What is new?") -> Trace:
    """The news run with another output."""
    return make_trace(*STEPS, output=output, asked=asked)


def claims(output: str | None, **params: Any) -> Verdict:
    """Whether the claims of an output are supported by the news."""
    return judge(CLAIMS, params, news(output))


def cites(output: str | None, **params: Any) -> Verdict:
    """Whether the news know what an output cites."""
    return judge(CITES, params, news(output))


def read(content: Any, output: str, **params: Any) -> Verdict:
    """Whether a claim is supported by one page."""
    return judge(
        CLAIMS, params, make_trace(call("web_fetch"), result("web_fetch", None, content), output=output)
    )


def unsupported(verdict: Verdict) -> list[list[str]]:
    """The unsupported facts, claim by claim."""
    return [claim["unsupported"] for claim in verdict.observed["claims"]]


def spec_error(kind: str, params: dict[str, Any]) -> str:
    """What is wrong with the parameters."""
    cls = assertion_class(kind)
    assert cls is not None
    with pytest.raises(Invalid) as caught:
        parse(cls, params)
    return str(caught.value)


@pytest.mark.parametrize("kind", [CLAIMS, CITES])
def test_the_example_is_valid(kind: str) -> None:
    """It can be pasted into a test; both types need to see tool results."""
    cls = assertion_class(kind)
    assert cls is not None
    parse(cls, yaml.safe_load(cls.example))
    assert cls.implied == ("supports_tool_trace",)
    assert cls.category == "groundedness"


# claims_supported_by_fixtures


def test_claims_without_anything_to_check_are_counted_apart() -> None:
    """A pass does not say that the sources support what nobody looked at."""
    verdict = claims(f"{FIRST}\n- Gardeners everywhere praise their tulips.")
    assert verdict.passed
    assert verdict.message == (
        "the sources support all of 1 claim; 1 more states no fact to check (min_support judges wording)"
    )
    assert (verdict.observed["supported"], verdict.observed["unchecked"]) == (1, 1)


def test_sources_that_a_test_names_are_about_each_claim() -> None:
    """A statement none of whose words they have fails; with a word of theirs it is told apart, as without the parameter."""
    strange = "Gardeners everywhere praise tulips."
    verdict = claims(f"{FIRST}\n- {strange}", allowed_sources=["web_search", "web_fetch"])
    assert not verdict.passed
    assert f'"{strange}" (no source has any of its words)' in verdict.message.replace("\n", " ")
    assert "min_support" not in verdict.message
    assert claims(f"{FIRST}\n- {strange} The lab praises tulips.").passed
    assert claims(f"{FIRST}\n- Gardeners praise the lab.", allowed_sources=["web_*"]).passed


def test_an_inference_is_not_supported() -> None:
    """No source says 24 hours, and rules cannot infer it; the author can allow it, or leave numbers out of `check`."""
    verdict = claims(f"{FIRST}\n{SECOND}\n{THIRD}")
    assert not verdict.passed
    assert verdict.message == (
        "expected the tool results to support every claim, got 1 of 3 claims unsupported:"
        ' "Both stories broke in the last >>24 hours<<" (no source has 24 hours)'
    )
    assert verdict.observed["supported"] == 2
    assert claims(THIRD, check=["dates", "urls", "names", "quotes"]).passed
    assert claims(THIRD, allow=["24 hours"]).passed
    asked = news(THIRD, asked="What happened in the last 24 hours?")
    assert judge(CLAIMS, {"check": ["numbers"]}, asked).passed
    assert not judge(CLAIMS, {"check": ["numbers"], "include_input": False}, asked).passed


def test_what_is_allowed_needs_no_source() -> None:
    """Names and other facts that the agent may know; what contradicts a source still fails, and nothing else is allowed."""
    output = "Acme Support says: revenue of chip maker B rose 41%."
    assert unsupported(claims(output)) == [["Acme Support"]]
    assert claims(output, allow=["Acme Support"]).passed
    assert not claims(output.replace("41%", "43%"), allow=["Acme Support"]).passed
    assert claims("Hi there!", allow=["Acme Support"]).reason == "the output claims nothing"


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("It has 1,234 users.", "It has 1234 users."),
        ("It rose 41 percent.", "It rose 41%."),
        ({"growth": 0.41, "of": "It rose"}, "It rose 41%."),
        ({"revenue": 58000000000, "of": "Revenue was"}, "Revenue was $58bn."),
        ("It cost 2 million dollars.", "It cost $2M."),
        ("It was 58.4 km.", "It was about 60 km."),
        ("Held on 2026-11-21.", "Held on November 21."),
        ("Held on 21 November, in 2026.", "Held on Nov 21, 2026."),
        ("Held on 2026-11-21.", "Held on Saturday in November 2026."),
        ("It has seven parts.", "It has 7 parts."),
        ("Advanced Micro Devices grew.", "AMD grew."),
        ("They use GPT 4 there.", "They use GPT 4 there."),
        ("Version 1.2.3 is out.", "Version 1.2.3 is out."),
        ('She said: "We never — ever — give up on it."', 'She said "we never ever … give up on it".'),
        ("See https://www.x.example/a/?utm_source=n", "See http://x.example/a."),
        ("Tom &amp; Jerry ran.", "Tom & Jerry ran."),
        ({"items": ["The door was opened quickly"]}, "Doors opened."),
        ("Revenue was $58bn.", "Revenue was $58\u00a0bn."),
        ("Revenue was $58bn.", "Revenue was USD\u00a058\u202fbillion."),
        ("Every weekday at 9 it is sent.", "Every weekday at 9:00 it is sent."),
        ("Every weekday at 9 it is sent.", "Every weekday at 9 AM it is sent."),
        ("9:00 stand-up with Leo", "The stand-up with Leo is at 9."),
        ("Every weekday at 21 it is sent.", "Every weekday at 9 p.m. it is sent."),
        ("It is sent at 9 weekdays, at 8 sharp on Sundays.", "It is sent at 9:00 weekdays."),
        ("The crew of twelve left in 2019.", "12"),
        ("It was 30.6 °C in Athens.", "It was 31 °C in Athens."),
        ({"city": "Athens", "temp_c": 30.6}, "In Athens it is 31 degrees."),
        ("The index fell by 1.72 percent.", "The index fell by 1.7 percent."),
        ("The project has 1,520 stars.", "The project has 1.5k stars."),
        ("会议于2026-03-12 15:00举行，占41%的份额。", "会议于2026年3月12日3点举行，占41%的份额。"),
        ("会议于3月12日举行，金额为$58 billion。", "会议于12日举行，金额为580亿。"),
        ("我们使用GPT-4模型，支持H100显卡，CPU占用80%。", "GPT-4模型支持H100显卡，CPU占用80%。"),
    ],
)
def test_facts_are_compared_after_normalisation(source: Any, claim: str) -> None:
    """Other spellings of the same fact are supported."""
    verdict = read(source, claim, include_input=False)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("source", "claim", "facts"),
    [
        ("Revenue rose 41%.", "Revenue rose 14%.", ["14%"]),
        ("Revenue rose $41.", "Revenue rose 41%.", ["41%"]),
        ("Revenue was 58.4 billion.", "Revenue was 58 billion.", ["58 billion"]),
        ("It was 30.6 °C in Athens.", "It was 30 °C in Athens.", ["30 °C"]),
        ("The index fell by 1.72 percent.", "The index fell by 1.8 percent.", ["1.8 percent"]),
        ("The index fell by 1.72 percent.", "The index fell by 2 percent.", ["2 percent"]),
        ("The project has 1,570 stars.", "The project has 1.5k stars.", ["1.5k"]),
        ("A ticket is $19.6 now.", "A ticket is $20 now.", ["$20"]),
        ("There are 2 of them.", "There are 2M of them.", ["2M"]),
        ("Held on 2026-11-21.", "Held on November 22.", ["November 22"]),
        ("Held on 2026-11-21.", "Held on 21 November 2025.", ["21 November 2025"]),
        ("Held on 2026-11-21 with guests.", "Held with 21 guests.", ["21"]),
        ("They met in Paris.", "They met in Berlin.", ["Berlin"]),
        ("They use GPT-4 there.", "They use GPT-5 there.", ["GPT-5"]),
        ("Version 1.2.3 is out.", "Version 1.2.4 is out.", ["1.2.4"]),
        ("We never give up.", 'They said "we always give up".', ['"we always give up"']),
        ("See https://x.example/a for it.", "See https://x.example/b for it.", ["https://x.example/b"]),
        ("At 10:30 it began.", "At 10:45 it began.", ["10:45"]),
        ("The stand-up is at 9:30.", "The stand-up is at 9:00.", ["9:00"]),
        ("The stand-up is at 9 pm.", "The stand-up is at 9 AM.", ["9 AM"]),
        ("The stand-up is at 9:00.", "The stand-up is at 10.", ["10"]),
        ("The stand-up is at 9:00.", "The stand-up is at 9 degrees.", ["9 degrees"]),
        ("Yields are at 9% now.", "Yields are at 9:00 now.", ["9:00"]),
        ("北京有2100万人口。", "北京有2200万人口。", ["2200万"]),
        ("会議は3月12日15時に始まる。", "会議は3月13日16時に始まる。", ["16", "3月13日"]),
        ("我们使用GPT-4模型。", "我们使用GPT-5模型。", ["GPT-5"]),
    ],
)
def test_facts_that_differ_are_unsupported(source: str, claim: str, facts: list[str]) -> None:
    """However alike the wording is."""
    verdict = read(source, claim, min_support=0, include_input=False)
    assert not verdict.passed
    assert unsupported(verdict) == [facts]


@pytest.mark.parametrize("said", ["NFC", "NFD"])
@pytest.mark.parametrize("held", ["NFC", "NFD"])
def test_accents_may_be_characters_of_their_own(
    said: Literal["NFC", "NFD"], held: Literal["NFC", "NFD"]
) -> None:
    """Files of macOS have them so: on either side, a name stays the same name, and is marked whole."""
    text = normalize(held, "According to Le Café, José met her in Zürich (https://a.example/cafés).")
    assert read(text, normalize(said, text), include_input=False).passed
    trace = make_trace(call("web_fetch"), result("web_fetch", None, text), output=normalize(said, text))
    assert judge(CITES, {}, trace).passed
    verdict = read(normalize(held, "She met him in Bern."), normalize(said, "She met José in Bern."))
    assert verdict.observed["claims"][0]["marked"] == "She met >>José<< in Bern."


def test_only_allowed_sources_count() -> None:
    """By name or glob; the page that was fetched counts as known by its URL."""
    assert claims(FIRST, allowed_sources=["web_fetch"]).passed
    assert claims(FIRST, allowed_sources=["web_*"]).passed
    assert not claims(FIRST, allowed_sources=["web_search"]).passed


def test_claims_without_support_stand_on_a_line_each() -> None:
    """Five of them on one line are too long to be read, and too long to be shown in full."""
    verdict = claims("- It rained 7 times.\n- The dam broke in 1987.", check=["numbers", "dates"])
    assert verdict.message == (
        "expected the tool results to support every claim, got 2 of 2 claims unsupported:"
        '\n  "It rained >>7<< times." (no source has 7)'
        '\n  "The dam broke in >>1987<<." (no source has 1987)'
    )


def test_without_a_result_of_an_allowed_tool_it_fails() -> None:
    """And says which tools did answer."""
    verdict = claims("It rained.", allowed_sources=["weather"])
    assert verdict.message == (
        "expected a successful result of weather to support its claims, got only of web_search, web_fetch"
    )
    assert verdict.observed == {"claims": 1}


def test_a_claim_without_a_word_of_the_sources_scores_zero() -> None:
    """Exactly, whatever the order in which the weights of its words are added up: never -0."""
    for number in range(40):
        words = " ".join(f"w{letter}{number}" for letter in "abcdefghij")
        verdict = read(
            "Something else.", f"They said that new plans and people {words} help.", check=["wording"]
        )
        assert "(wording supported 0, needed 0.66)" in verdict.message


@pytest.mark.parametrize(
    "output",
    [
        'The coach said: "We never give up on it. We will go on until the last day."',
        'The coach said "we never give up on it. We will go on until the last day" on Friday, and Bremen "agreed".',
        '"We never give up on it. We will go on", the coach said on Friday, "until the last day."',
    ],
)
def test_a_quotation_may_run_over_the_end_of_a_sentence(output: str) -> None:
    """What stands between the end of it and the next one is no quotation; the next one is."""
    source = (
        'The coach said on Friday: "We never give up on it. We will go on until the last day." Bremen agreed.'
    )
    assert read(source, output, check=["quotes"]).passed
    changed = read(source, f'{output} He added "until the first day".', check=["quotes"])
    assert [fact for facts in unsupported(changed) for fact in facts] == ['"until the first day"']


def test_min_support_is_the_authors() -> None:
    """Half of the words of this claim are in the source, in their order."""
    assert not read("The red fox ran.", "The red fox slept soundly.", min_support=0.66).passed
    assert read("The red fox ran.", "The red fox slept soundly.", min_support=0.35).passed


def test_a_lead_in_and_the_agents_own_work_are_judged_by_facts_only() -> None:
    """The number that counts the list needs no source; another does."""
    listed = f"Here are the top 2 stories:\n\n{FIRST}\n{SECOND}\n\nLet me know if you want more."
    assert claims(listed).passed
    assert unsupported(claims(listed.replace("2 stories", "9 stories")))[0] == ["9"]
    assert claims("I couldn't open the other pages, sorry about that.").passed
    assert unsupported(claims("I searched and found 17 articles."))[0] == ["17"]


@pytest.mark.parametrize(
    "credit",
    [
        " (Source: https://news.example.com/b)",
        ". Source: https://news.example.com/b",
        " – source: news.example.com/b",
        " ([Source](https://news.example.com/b))",
        ". Read more: https://news.example.com/b",
        " [2]",
        ".[1][2]",
        " [1, 2].",
        " [^2]\n\n[^2]: https://news.example.com/b",
        " [2](https://news.example.com/b)",
        " 【2†source】",
    ],
)
def test_what_says_only_where_it_is_from_is_no_claim(credit: str) -> None:
    """Numbered citations, and labels before a link, in prose and in bullets; the link is judged."""
    text = f"Chip maker B's revenue rose 41% to $58bn{credit}"
    for output in (text, f"- {text}"):
        verdict = claims(output)
        assert verdict.passed, verdict.message
        if "news.example.com/b" in credit:
            assert unsupported(claims(output.replace("com/b", "com/x")))[-1] == [
                "news.example.com/x" if " – " in credit else "https://news.example.com/x"
            ]


@pytest.mark.parametrize("output", ['{"growth": [41, 43]}', "[41, 43]", "Growth: [41, 43]", "[[41], [43]]"])
def test_numbers_in_data_are_no_citations(output: str) -> None:
    """A list of numbers after a colon, or by itself, is judged."""
    assert "43" in unsupported(read("Growth was 41.", output, check=["numbers"]))[0]


@pytest.mark.parametrize(
    "end",
    [
        "Have a great day!",
        "Have a nice weekend, Dana!",
        "Enjoy the rest of your evening!",
        "I hope this helps.",
        "That’s all for today.",
        "See you tomorrow!",
        "Stay tuned!",
        "Best regards,\nAndy",
    ],
)
def test_a_farewell_claims_nothing(end: str) -> None:
    """A word more makes it a claim."""
    assert claims(f"{FIRST}\n\n{end}").observed["claims"][-1]["text"] == FIRST.removeprefix("• ")
    assert not claims(f"{FIRST}\n\nSee you at Luigi's tomorrow!").passed


@pytest.mark.parametrize(
    "output", ["Hi there!", "Which lab do you mean?", "# Anything goes in Heading 7", "```\nprint(42)\n```"]
)
def test_an_output_that_claims_nothing_is_vacuous(output: str) -> None:
    """Greetings, questions, headings, lists of sources and code claim nothing."""
    verdict = claims(output)
    assert verdict.passed
    assert not verdict.exercised
    assert verdict.reason == "the output claims nothing"


@pytest.mark.parametrize(
    ("output", "params", "kinds"),
    [
        ("Lab A released a model.", {"check": ["numbers", "urls"]}, "numbers, urls"),
        ("I searched the web.", {}, "numbers, dates, urls, names, quotes, contradictions"),
        ("It snowed heavily.", {}, "numbers, dates, urls, names, quotes, contradictions"),
    ],
)
def test_claims_without_anything_asked_for_are_vacuous(
    output: str, params: dict[str, Any], kinds: str
) -> None:
    """A claim without a fact of the kinds in `check` or a word of the sources, and what the agent says about its own work."""
    verdict = claims(output, **params)
    assert (verdict.passed, verdict.exercised) == (True, False)
    assert verdict.reason == f"the output makes no claim that can be checked by {kinds}"
    assert [claim["text"] for claim in verdict.observed["claims"]] == [output]


@pytest.mark.parametrize("kind", [CLAIMS, CITES])
def test_without_output_both_are_vacuous(kind: str) -> None:
    """Nothing was said."""
    for output, reason in [(None, "the trace has no final output"), (" ", "the final output is empty")]:
        verdict = judge(kind, {}, news(output))
        assert (verdict.passed, verdict.exercised, verdict.reason) == (True, False, reason)


def test_claims_spec_errors() -> None:
    """Found when the test is loaded."""
    assert spec_error(CLAIMS, {"check": []}) == "expected a non-empty value, got an empty list"
    assert spec_error(CLAIMS, {"min_support": 2}) == "expected at most 1, got the number 2"
    assert "wording" in spec_error(CLAIMS, {"check": ["words"]})


# no_fabricated_source_or_citation


def test_known_citations_pass() -> None:
    """URLs of results and of fetched pages, in any spelling."""
    verdict = cites("See http://www.news.example.com/a/#top and news.example.com, says Lab A.")
    assert verdict.passed
    assert verdict.exercised
    assert verdict.message == (
        "the sources hold everything the output cites: http://www.news.example.com/a/#top, news.example.com"
    )
    assert refs(verdict) == ["evt-8", "evt-3", "evt-5", "evt-7"]
    assert cites(SECOND, allowed_sources=["web_fetch"]).passed


@pytest.mark.parametrize(
    "output",
    [
        "doi:10.1000/xyz",
        "arXiv:2301.12345",
        "It rose, Bloomberg reports.",
        "The Wall Street Journal reported it.",
        "It rose (Source: Financial Times).",
        "Source: Financial Times",
        "As reported by Jane Doe, it rose.",
        "See example.org for more.",
    ],
)
def test_every_kind_of_citation_is_seen(output: str) -> None:
    """And unknown to the news."""
    verdict = cites(output)
    assert not verdict.passed
    assert len(verdict.observed["citations"]) == 1


@pytest.mark.parametrize(
    "output",
    [
        "According to Lab A, it ships.",
        "Chip Maker B reported a record quarter.",
        "According to the report, it rose.",
        "Analysts said it rose. They reported it. On Monday it said so.",
        "(Source: web_search)",
    ],
)
def test_names_that_are_known_or_none(output: str) -> None:
    """A name in a result, in a host, or of the tool; common nouns are no names."""
    assert cites(output).passed


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("- Berlin Times", ["Berlin Times"]),
        ("- https://news.example.com/a", ["https://news.example.com/a"]),
        ("- Berlin has 900 pools", ["900"]),
        ("1. A report on tulips", []),
        ("Revenue fell 41% in May 2026", ["41%", "May 2026"]),
    ],
)
def test_a_line_under_sources_may_claim_something(line: str, facts: list[str]) -> None:
    """As any other line may."""
    verdict = read("The pool opens at 9.", f"The pool opens at 9.\n\nSources:\n{line}")
    assert [fact for found in unsupported(verdict) for fact in found] == facts
    direct = read("The pool opens at 9.", f"The pool opens at 9.\n\nSources: {line.lstrip('-1. ')}")
    assert [fact for found in unsupported(direct) for fact in found] == facts


@pytest.mark.parametrize(
    ("output", "cited"),
    [
        ("I told her via Telegram.", []),
        ("Two reports agree that it rose.", []),
        ("Revenue reports are due on Friday.", []),
        ("Bloomberg reports that it rose.", ["Bloomberg"]),
        ("Take the train via Munich.", []),
        ("It ships (via Reuters).", ["Reuters"]),
        ("It ships, via Reuters.", ["Reuters"]),
    ],
)
def test_a_way_is_no_source(output: str, cited: list[str]) -> None:
    """A message goes via a channel; a report comes, in brackets or after a comma, via a source."""
    assert [each["text"] for each in cites(output).observed.get("citations", [])] == cited


def test_numbered_citations_need_their_line() -> None:
    """With a URL or title that a result has."""
    good = "A [1], B [2].\n\nSources:\n1. https://news.example.com/a\n2. Chip maker B posts record quarter"
    assert cites(good).passed
    bad = "A [1], B [2], C [9].\n\n[1]: https://made.up.example/\n[2] A report on tulips"
    reasons = {each["text"]: each["reason"] for each in cites(bad).observed["citations"]}
    assert reasons == {
        "https://made.up.example/": "no source has it",
        "[1]": "its reference line leads to https://made.up.example/, which no source has",
        "[2]": 'no source has its reference line: "A report on tulips"',
        "[9]": "the output has no reference line for it",
    }


def test_numbered_citations_without_lines_need_as_many_sources() -> None:
    """Two URLs are known here; ranges count each number; links and code are no citations."""
    assert cites("A [1-2], B [1, 2].").passed
    verdict = cites("A [1] and [3].")
    assert verdict.observed["citations"][1]["reason"] == (
        "the output has no reference line for it, and there are only 2 sources"
    )
    assert cites("A [^2].\n\n[^2]: https://news.example.com/a").passed
    assert cites("[1] says revenue rose, while [2] says it fell.").passed
    assert cites("Use `a[7]` or\n```\nb[8]\n```\n[9](https://news.example.com/a)").passed


def test_an_output_that_cites_nothing_is_vacuous() -> None:
    """Whether there are sources or not."""
    for trace in (news("It rained."), make_trace(output="It rained.")):
        verdict = judge(CITES, {}, trace)
        assert (verdict.passed, verdict.exercised, verdict.reason) == (
            True,
            False,
            "the output cites nothing",
        )


def test_cites_spec_errors() -> None:
    """An entry of `allow` is a URL or a domain."""
    assert spec_error(CITES, {"allow": ["not a url"]}) == (
        "allow holds 'not a url', which is neither a URL nor a domain"
    )
    assert cites("It rained.", allow=["localhost.test", "intranet.corp", "https://a.example/x"]).passed


@given(st.text(), st.text())
def test_any_texts_can_be_judged(output: str, source: str) -> None:
    """No output and no source makes a check crash."""
    trace = make_trace(call("t"), result("t", None, [source, {"k": source}]), output=output)
    assert judge(CLAIMS, {}, trace).message
    assert judge(CITES, {}, trace).message


@given(st.text(alphabet="abcdefgh ", min_size=1))
def test_a_source_supports_itself(text: str) -> None:
    """Whatever a source says, saying it again is supported."""
    assert read(text, text, include_input=False).passed
