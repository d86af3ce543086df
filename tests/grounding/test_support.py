"""Claims beside their sources: facts near the words of the claim and in the object that it names; wording where asked for."""

import time
from typing import Any

import pytest

from agenteval.contracts.errors import AssertionCrashError
from agenteval.grounding import corpus as corpora
from agenteval.grounding import support
from agenteval.grounding.sources import Source
from agenteval.grounding.support import Basis, corpus_of, score, supports
from grounded import DEFAULT, found, judged, unsupported

SENSORS = {
    "attic": {"temperature_c": 23.2, "battery_pct": 64},
    "study": {"temperature_c": 17.9, "battery_pct": 12},
    "porch": {"temperature_c": -3.1, "battery_pct": 40},
}
HOURS = [{"time": "2025-04-12", "rain_pct": 55}, {"time": "2025-04-13", "rain_pct": 80}]
PULLS = {
    "pull_requests": [
        {"number": 12, "by": "Ada", "url": "https://x.example/12"},
        {"number": 13, "by": "Ben", "url": "https://x.example/13"},
    ]
}


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("Lab A released model X on 21 November.", "Lab A shipped model X on November 21."),
        ("It rose 41 percent.", "It rose 41%."),
        (SENSORS, "The attic is at 23 °C, the study at 17.9."),
        (SENSORS, "On the porch it's around -3 °C."),
        ({"price_cents": 1799, "item": "plan"}, "The plan is $17.99."),
        (PULLS, "There are two open PRs: #12 by Ada and #13 by Ben."),
        ("The talk is on 2026-11-21 in Oslo.", "The talk in Oslo is on Saturday."),
        ("Le musée est ouvert lundi.", "The museum is open on Monday."),
        ("Advanced Micro Devices grew.", "AMD grew."),
        ("PDF output is fixed.", "The output of PDFs is fixed."),
        ("The version is 3.11.7 there.", "The version there is v3.11.7."),
        ("Open 11:00-12:30 for all.", "Open for 1.5 hours for all."),
        ("It has 4.3 stars by buyers.", "Buyers give it 4.3 out of 5 stars."),
        ({"train": "S 6", "fare": 4}, "S 6 costs 4."),
        (
            {"jobs": [{"n": "a", "ok": True}, {"n": "b", "ok": True}, {"n": "c", "ok": False}]},
            "2 of the 3 jobs are ok.",
        ),
        ("Nothing of note.", "I found three results."),
        ("Nothing of note.", "I couldn't find a plan by Carla Stone for Sunday."),
        ('She said: "We never — ever — give up on it."', 'She said "we never ever … give up on it".'),
    ],
)
def test_facts_that_the_source_has(source: Any, output: str) -> None:
    """In any spelling, in data as in prose; what counts a list, or says what is not there, needs none."""
    assert found(source, output) == []


@pytest.mark.parametrize(
    ("source", "output", "wrong"),
    [
        (
            "Lab A released model X.",
            "Lab A released model X to OpenAI for $5 on 3 May.",
            ["$5", "3 May", "OpenAI"],
        ),
        (SENSORS, "The attic is at 17.9 °C.", ["17.9 °C"]),
        (SENSORS, "The attic is at 23 °C, the study at 23.2 °C.", ["23.2 °C"]),
        (PULLS, "It has 9 open requests.", ["9"]),
        ("The talk is on 2026-11-21 in Oslo.", "The talk in Oslo is on Sunday.", ["Sunday"]),
        (
            "The talk is on 21 November in Oslo.",
            "The talk in Oslo is on 21 November 2025.",
            ["21 November 2025"],
        ),
        ("They use GPT-4 there.", "They use GPT-5 there.", ["GPT-5"]),
        ("We never give up.", 'They said "we always give up".', ['"we always give up"']),
        (
            "The petition of 38 Degrees had collected 40,000 names in May.",
            "The petition had collected 38 names in May.",
            ["38"],
        ),
        ("Ada Berg and Jo Hall met. Far away, Ben Ek slept.", "They met Ada Ek.", ["Ada Ek"]),
    ],
)
def test_facts_that_it_does_not_have(source: Any, output: str, wrong: list[str]) -> None:
    """At all, near these words, or in the object that is named."""
    assert unsupported(source, output) == wrong


def test_a_number_has_to_stand_near_words_of_the_claim() -> None:
    """Within 250 characters, or in the same object."""
    far = (
        "Profit was 12 million. "
        + "It rains here on the old mill every day. " * 12
        + "The crew left in 1971."
    )
    assert unsupported(far, "Profit was 12 million.") == []
    assert unsupported(far, "The crew left, 12 of them.") == ["12"]
    (claim,) = judged(far, "The crew left, 12 of them.")
    assert claim.elsewhere == ("12",)


def test_what_the_user_said_and_what_is_allowed_needs_no_source() -> None:
    """Its facts; it supports no wording."""
    output = "The picnic in Oslo on May 5 is at Acme Park."
    assert unsupported("Sunny.", output) == ["May 5", "Oslo", "Acme Park"]
    assert found("Sunny.", output, "The picnic in Oslo on May 5?") == ["Acme Park"]
    allowed = supports(output, Basis([Source("e", "Sunny.")]), DEFAULT, ["Acme Park, Oslo", "5 May"])
    assert [claim.unsupported for claim in allowed] == [()]


def test_only_what_is_asked_for_is_judged() -> None:
    """Of the facts, and the wording; contradictions come with the wording."""
    output = "On 3 May Ada Berg did not pay $5."
    source = "On 4 May Eva Berg paid $6."
    assert unsupported(source, output, "dates") == ["3 May"]
    assert unsupported(source, output, "numbers", "names") == ["$5", "Ada Berg"]
    (claim,) = judged("The red fox ran.", "The red fox did not run.", checks=("wording",))
    assert claim.contradicted == ("did not run",)
    assert not judged(source, "I searched the web.")[0].judged
    assert not judged("Something else.", "It rained heavily.")[0].judged


@pytest.mark.parametrize(
    ("output", "support"),
    [
        ("The red fox ran near the old mill.", 1.0),
        ("Near the old mill ran the red fox.", 0.75),
        ("The red fox slept near the old mill.", 0.62),
        ("A crimson animal sprinted past.", 0.0),
    ],
)
def test_the_score_of_wording(output: str, support: float) -> None:
    """The share of its words that the source has, times 0.7 to 1 by how far they stand in the order of the source."""
    (claim,) = judged("The red fox ran near the old mill.", output, checks=("wording",))
    assert claim.score == support


def test_what_counts_less_in_the_score() -> None:
    """Words that say little, and those that only the user said; what is refuted halves the score of the output."""
    source = "The red fox ran near the old mill."
    light, heavy = (
        judged(source, f"The red fox {word}.", checks=("wording",))[0] for word in ("began", "slept")
    )
    assert light.score > heavy.score
    (asked,) = judged(source, "The red fox slept.", "slept?", checks=("wording",))
    assert asked.score > heavy.score
    assert score(judged(source, "The red fox ran.")) == 1.0
    assert score(judged(source, "The red fox ran. It was 1971.")) == 0.75
    assert score(()) == 1.0


def test_the_passage_that_is_nearest() -> None:
    """With its place."""
    value = {
        "results": [
            {"text": "Lab A ships. It is quite big for a lab."},
            {"text": "Maker B grew by some 41 percent."},
        ]
    }
    basis = Basis([Source("evt-2", value, ((), "data"))])
    (claim,) = supports("Maker B grew 41%.", basis, DEFAULT)
    assert claim.span is not None
    assert (claim.span.event_id, claim.span.pointer) == ("evt-2", "/data/results/1")
    assert claim.span.text == "text: Maker B grew by some 41 percent."


def test_what_was_read_is_kept() -> None:
    """As are verdicts: equal inputs are judged once. Long ones are not kept."""
    basis = [Basis([Source("e", {"text": "The pool opens at 9."})]) for _ in range(2)]
    assert basis[0] == basis[1]
    assert supports("It opens at 9.", basis[0], DEFAULT) is supports("It opens at 9.", basis[1], DEFAULT)
    assert corpus_of(basis[0].sources) is corpus_of(basis[1].sources)
    long = [Source("e", "The pool opens at 9. " * 3_000)]
    assert corpus_of(long) is not corpus_of(long)


def test_kept_sources_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first."""
    monkeypatch.setattr(support, "MOST_KEPT", 2)
    monkeypatch.setattr(support, "_corpora", {})
    kept = [corpus_of([Source("e", text)]) for text in "abc"]
    assert list(support._corpora.values()) == kept[1:]


@pytest.mark.parametrize(
    "output",
    [
        "1 " * 500_000,
        "- 1\n" * 250_000,
        "It is 5. " * 100_000,
        "Ab " * 300_000,
        "a1 b2 " * 100_000,
        '"a b c" ' * 100_000,
        "not " * 200_000,
        "x" * 1_000_000,
    ],
)
def test_an_output_of_a_megabyte_ends(output: str) -> None:
    """In seconds: with a verdict, or an error that names the limit."""
    start = time.process_time()
    try:
        judged("Profit fell 12 percent. The lamp is on.", output)
    except AssertionCrashError as error:
        assert error.reason_code == "assertion.too_large"
    assert time.process_time() - start < 8


def test_very_many_claims_on_very_many_sources_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """In an error, when the places to look at are too many; what is said again is not judged again."""
    monkeypatch.setattr(corpora, "MOST_LOOKS", 20_000)
    unit = "- Anna Berg met {n} people on 3 May 2026 at a.example/{n}.\n"
    output = "".join(unit.format(n=number) for number in range(300))
    with pytest.raises(AssertionCrashError, match="too large to be compared"):
        judged(output, output)
    assert len(judged("Anna met 17 people.", "Anna met 17 people. " * 1000)) == 1000


@pytest.mark.parametrize(
    ("written", "other"), [("2M", "2 million"), ("2,000", "2k"), ("$5.40", "5.4 dollars")]
)
def test_a_number_in_its_place_may_be_written_otherwise(written: str, other: str) -> None:
    """It is no other number."""
    source = f"Lab A released a model with a window of {written} there."
    assert unsupported(source, f"Lab A released a model with a window of {other} there.") == []
