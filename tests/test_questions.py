"""Which sentences of an output ask the user something."""

import time

import pytest

from agenteval.language.questions import is_question, questions


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
