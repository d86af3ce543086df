"""What an output claims, and what claims nothing."""

import pytest

from agenteval.contracts.errors import AssertionCrashError
from agenteval.grounding import claims as module
from agenteval.grounding.claims import claims


def texts(output: str) -> list[str]:
    """The claims, as written."""
    return [claim.text for claim in claims(output)]


def test_bullets_rows_and_sentences_are_claims() -> None:
    """Headings, code, rules and questions are none."""
    output = "# News\n\nLab A ships. It is big.\n\n- One\n- Two!\n\n| a | b |\n|---|---|\n| c | d |\n\n```\nx = 1\n```\nShall I go on?"
    assert texts(output) == ["Lab A ships.", "It is big.", "One", "Two!", "c | d"]


@pytest.mark.parametrize(
    "text",
    [
        "Hi Dana!",
        "Sure, of course.",
        "Have a great day!",
        "Have a nice weekend, Dana!",
        "I hope this helps.",
        "That’s all for today.",
        "See you tomorrow!",
        "Best regards,\nAndy",
        "Gerne!",
        "Viel Erfolg!",
        "¡Buen viaje!",
        "Avec plaisir",
        "👍",
    ],
)
def test_courtesies_claim_nothing(text: str) -> None:
    """A sentence of nothing but such words, perhaps to somebody."""
    assert texts(text) == []


@pytest.mark.parametrize("text", ["See you at Luigi's tomorrow!", "Sure, it rains.", "Good: 5 of them"])
def test_a_word_more_is_a_claim(text: str) -> None:
    """However courteous it begins."""
    assert texts(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "I searched the web.",
        "We've just saved 3 notes.",
        "I couldn't open the other page.",
        "Unfortunately I can't tell.",
        "Let me know if you want more.",
        "Here are the top 2 stories.",
        "Report sent.",
        "Done: 3 tasks.",
        "All set!",
        "Hier sind die Termine.",
    ],
)
def test_what_the_agent_says_of_its_own_work_is_judged_by_facts_only(text: str) -> None:
    """As is what leads to a list."""
    assert [claim.worded for claim in claims(text)] == [False]


@pytest.mark.parametrize("text", ["Saved the day for all of them.", "The report was sent to Ada."])
def test_other_sentences_are_judged_in_full(text: str) -> None:
    """Also with words of reports."""
    assert [claim.worded for claim in claims(text)] == [True]


def test_a_lead_in_knows_the_length_of_its_list() -> None:
    """It ends in a colon, or is the title of a list."""
    found = claims("Two are open:\n- A\n- B\n\nThe rest\n1. C\n\nIt rains.")
    assert [(claim.text, claim.listed, claim.worded) for claim in found] == [
        ("Two are open:", 2, False),
        ("A", 0, True),
        ("B", 0, True),
        ("The rest", 1, False),
        ("C", 0, True),
        ("It rains.", 0, True),
    ]


def test_what_the_sources_lack_and_what_is_referred_to() -> None:
    """A sentence with a pronoun knows those before it."""
    first, second, third = claims(
        "Market is full. It costs 3 €. It also has no lift, and I couldn't find a plan."
    )
    assert [claim.lacks for claim in (first, second, third)] == [False, False, True]
    assert (second.refers, second.before) == (True, "Market is full.")
    assert third.before == "Market is full. It costs 3 €."


def test_an_emoji_may_end_a_sentence() -> None:
    """Where a word with a capital follows."""
    assert texts(
        "⚡ It's 46 °C 🔥 The other disks are fine 👍️ All of them.\n\nFrom 🇯🇵 Japan to 🅿️ parking."
    ) == ["⚡ It's 46 °C 🔥", "The other disks are fine 👍️", "All of them.", "From 🇯🇵 Japan to 🅿️ parking."]


def test_german_is_told_by_the_whole_output() -> None:
    """It writes nouns with capitals: a short sentence alone does not show it."""
    assert [
        claim.german for claim in claims("Der Restmüll kommt. Das ist alles, und es ist auch gut so.")
    ] == [True] * 2
    assert not claims("Lab A ships.")[0].german


def test_too_many_claims_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which names the limit."""
    monkeypatch.setattr(module, "MOST_CLAIMS", 3)
    assert len(claims("- it rains here\n" * 3)) == 3
    with pytest.raises(AssertionCrashError) as caught:
        claims("- it rains there\n" * 4)
    assert caught.value.reason_code == "assertion.too_large"
    assert (
        caught.value.message
        == "the output and its sources are too large to be compared: it makes more than 3 claims"
    )
