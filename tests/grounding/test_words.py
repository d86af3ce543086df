"""Texts as rows of stems."""

import pytest

from agenteval.grounding import stems as module
from agenteval.grounding.stems import END, content, forms, row, words


def test_forms_of_one_word_have_one_stem() -> None:
    """Endings and irregular forms; a possessive is no ending, and function words carry no meaning."""
    assert row("Labs released") == row("lab releases") == " lab releas "
    assert row("The lab’s price rose") == row("the labs prices rise")
    assert content("The lab rose to it") == {"lab", "rise"}


def test_words_in_a_row_are_found_by_looking_in_a_string() -> None:
    """As whole words; an end of a sentence stands between them."""
    text = row(f"The lab ships model X {END} It rains")
    assert row("ships the model") not in text
    assert row("ship models") in text
    assert row("ship model") in text
    assert row("X it") not in text


@pytest.mark.parametrize(
    ("text", "found"),
    [("it's 5 o’clock", ["it's", "5", "o'clock"]), ("GPT-4模型", ["GPT", "4", "模", "型"]), ("", [])],
)
def test_words(text: str, found: list[str]) -> None:
    """With straight apostrophes; Chinese characters are words each."""
    assert words(text) == found


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a word that was dropped is read again."""
    before = forms(["releases", "of"])
    monkeypatch.setattr(module, "MOST_KEPT", 0)
    forms(["zanzibarium"])
    assert forms(["releases", "of"]) == before == [("releas", "releas"), ("of", "")]
