"""Which sentences of an output ask the user something."""

import time

import pytest

from agenteval.text.questions import is_question, questions


@pytest.mark.parametrize(
    ("output", "asked"),
    [
        ("Sure. Which report do you mean? I can do both.", ["Which report do you mean?"]),
        ("**Which one?**", ["**Which one?**"]),
        ("- Which year?\n- Which team?", ["Which year?", "Which team?"]),
        ("您要哪一个？", ["您要哪一个？"]),
        ("Which one?\n\n1. The draft\n2. The final", ["Which one? The draft The final"]),
        ('Do you mean "draft" or "final"?', ['Do you mean "draft" or "final"?']),
        ('Did you mean "the report?"', ['Did you mean "the report?"']),
        ("Do you mean this one or something else?", ["Do you mean this one or something else?"]),
        ('He asked "which one?" and left.', []),
        ('Isabel asked: "why?"', []),
        ('What is meant by "the draft?"', ['What is meant by "the draft?"']),
        ("Die Frage war „welche?“ damals.", []),
        ("> which one?\n\nDone.", []),
        ("Run `ls a?` now.", []),
        ("```\nwhat?\n```", []),
        ("See https://x.example/?a=b&c=d for more.", []),
        ("Done. Is there anything else I can help with?", []),
        ("Anything else you’d like?", []),
        ("Hi! How can I help you today?", []),
        ("Does that help?", []),
        ("Nothing to ask.", []),
        ("", []),
    ],
)
def test_questions(output: str, asked: list[str]) -> None:
    """Quotations, code, URLs and courtesies ask nothing; a list under a question belongs to it."""
    assert questions(output) == asked


@pytest.mark.parametrize(
    "courtesy",
    [
        "Need anything else?",
        "Would you like me to do anything else?",
        "So, is there anything else I could do for you?",
        "May I help you with anything else today?",
        "Is there something else I can help with?",
        "What else can I do for you?",
        "How can I help you further?",
        "Do you have any other questions?",
        "Hi, how are you?",
        "**Does that help?**",
    ],
)
def test_courtesies_ask_nothing(courtesy: str) -> None:
    """Whatever their wording."""
    assert questions(f"I sent the report. {courtesy} 😊") == []


@pytest.mark.parametrize(
    "question",
    [
        "Do you need anything else in the report?",
        "Is there anything else I should know?",
        "Should I include something else?",
        "How are you going to pay?",
        "Any questions I should add to the form?",
    ],
)
def test_what_sounds_like_a_courtesy_asks(question: str) -> None:
    """What it asks for is needed."""
    assert questions(question) == [question]


@pytest.mark.parametrize("after", ["🤔", "🤔 I can do both.", "\u200f", "~", "❓ Thanks!", "||"])
def test_emoji_and_invisible_signs_after_a_mark_hide_no_question(after: str) -> None:
    """They stand right after it in chats."""
    assert [each[:10] for each in questions(f"Hm. Which one?{after}")] == ["Which one?"]


def test_a_courtesy_is_a_question_all_the_same() -> None:
    """It claims nothing."""
    assert is_question("Anything else?")
    assert not is_question("Nothing else.")


@pytest.mark.parametrize("piece", ["“", '"', "„", "?", "http://", "a? ", "can i help", "`"])
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    """No text makes reading it explode."""
    start = time.process_time()
    questions(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 5
