"""Long and odd inputs: each is judged, and would take minutes if any part of the work grew with the square of its length."""

from agenteval.grounding.citations import Known, citations
from agenteval.grounding.claims import claims
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import Basis, Check, Support, supports
from agenteval.language.leaks import Answer, leaks
from agenteval.language.leaks import Known as Permitted
from agenteval.language.questions import is_question
from agenteval.language.success_claims import success_claims

CHECKS: tuple[Check, ...] = ("numbers", "dates", "urls", "names", "quotes", "wording")


def judged(source: object, output: str) -> tuple[Support, ...]:
    """The claims of an output beside a source."""
    return supports(claims(output), Basis(sources=(json_source("e", source),)), CHECKS)


def test_a_claim_of_many_numbers() -> None:
    """Each is told once."""
    (only,) = judged("x", "- " + " ".join(str(10**6 + 7 * number) for number in range(8000)))
    assert len(only.unsupported) == 8000


def test_a_claim_of_many_parts() -> None:
    """Each with a number, and what a source says of them."""
    (only,) = judged("Profit fell 12 percent.", "- " + "profit rose 12 percent, " * 5000)
    assert (only.unsupported, only.contradicted) == ((), ("rose 12 percent",))
    (only,) = judged("stock fell 1000", "- " + " ".join(f"stock rose {1000 + each}" for each in range(1500)))
    assert len(only.unsupported) == 1499
    (only,) = judged("The lamp is on. " * 1600, "- " + "the lamp is off and on. " * 1600)
    assert only.contradicted == ("off",)


def test_many_references() -> None:
    """None is known."""
    sources = SourceText(
        [json_source("e", " ".join(f"https://a{each}.example.com/x" for each in range(4000)))]
    )
    known = Known(sources, results=1)
    cited = citations(" ".join(f"b{each}.org https://c{each}.org/y" for each in range(4000)))
    assert {known.objection(each) for each in cited} == {"no source has it"}
    assert known.objection(citations("See a7.example.com")[0]) is None
    assert known.objection(citations("See example.com")[0]) is None
    assert known.objection(citations("See ample.com")[0]) == "no source has it"


def test_many_lines_of_memory() -> None:
    """Only the line that tells it is a leak."""
    names = ["".join("abcdefghij"[int(digit)] for digit in str(each)) for each in range(1000, 5000)]
    memory = [f"Al{name} buys be{name} and ga{name} at delta" for name in names]
    answer = [f"Al{name} sells pi{name} and rho{name} elsewhere." for name in names]
    leak, *others = leaks(memory, Permitted([]), Answer("\n".join([*answer, "Later Albacd buys bebacd."])))
    assert (leak.found, others) == ("Later Albacd buys bebacd.", [])


def test_many_marks_and_phrases() -> None:
    """What asks, and what is denied."""
    assert not is_question("?" * 40_000 + "x")
    assert is_question("What" + "?" * 15 + ")")
    (claimed,) = success_claims("not " + "sent " * 16_000, ["sent"])
    assert claimed[0] == "sent"  # what denies it is too far away
    assert list(success_claims("not " + "sent " * 50, ["sent"])) == []


def test_what_is_nested_deep_can_be_judged_again() -> None:
    """What is kept of the first time is compared without going as deep."""
    source = {"text": '{"a":' * 900 + '"The pool opens at 9."' + "}" * 900}
    value: object = source
    for _ in range(60):
        value = [value]
    first, second = (judged(value, "The pool opens at 9.") for _ in range(2))
    assert first == second
    assert first[0].score == 1.0


def test_a_long_word_beside_objects() -> None:
    """It may be a code of one of them."""
    hosts = [{"host": "web-1", "region": "eu-west-1"}, {"host": "web-2", "region": "us-east-1"}]
    for long in ("a" * 100_000, "a-1" * 10_000, "1-" * 15_000, "a.b:c/" * 20_000, "all but " * 7_500):
        (only,) = judged(hosts, f"- The region of web-1 is {long}")
        assert only.judged
