"""Words and sentences as strings of signs, and stems."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.language.bare_words import bare_words
from agenteval.language.signs import BREAK, END, Signs, tokens
from agenteval.language.stems import stem


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It’s Dana's dog.", ["It's Dana's dog"]),
        ("He met Dr. Smith. Then he left.", ["He met Dr Smith", "Then he left"]),
        (
            'So J. K. Rowling won 98. 7 points! "Yes." She left.',
            ["So J K Rowling won 98 7 points", "Yes", "She left"],
        ),
        ("One line\ngoes on\nNew line", ["One line goes on", "New line"]),
        ("A 'quoted' word", ["A quoted word"]),
        ("東京は大きい。人口は多い", ["東 京 は 大 き い", "人 口 は 多 い"]),
        (f"See {BREAK}   for more", ["See", "for more"]),
        ("Ünïted états. Élan vital", ["Ünïted états", "Élan vital"]),
    ],
)
def test_words_and_sentences(text: str, found: list[str]) -> None:
    """Abbreviations and wrapped lines end no sentence; characters written without blanks are words each."""
    assert " ".join(tokens(text)).split(f" {END} ") == found


_MARKS = st.sampled_from("aA1'' _.-é–\x85\xa0\n\x1c\ud800東·ß")


@given(st.text(alphabet=_MARKS | st.characters(exclude_characters="\0")))
def test_bare_words(text: str) -> None:
    """Words are runs of letters and digits with single apostrophes inside, in whatever script."""
    assert bare_words(text) == re.findall(r"[^\W_]+(?:'[^\W_]+)*", text)


@given(st.text(alphabet="aA1.!? \n'\"’…。\0\x01é"))
def test_sentence_ends(text: str) -> None:
    """As many sentences are cut out as are told apart, by the same rule, whatever the text."""
    read = Signs().read(text)
    assert len(read.ends) == tokens(text).count(END) + 1
    assert read.content.count(END) == read.words.count(END) == tokens(text).count(END)
    assert list(read.ends) == sorted(read.ends)
    assert read.ends[-1] == len(text)


@pytest.mark.parametrize("piece", [".", "! ", "\n", " ", "\n ", "'", "A.", "a'", '."', "。", "\x01", "é.\n"])
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    """No text makes finding its words and sentences explode."""
    text = piece * (200_000 // len(piece)) + "a"
    start = time.process_time()
    tokens(text)
    Signs().read(text)
    assert time.process_time() - start < 3


def test_equal_stems_have_equal_signs() -> None:
    """Function words have none among the content words."""
    given = Signs()
    assert given.all(["releases", "released"]) == given.all(["Releasing", "release"])
    assert given.content(["the", "company", "and", "companies"]) == given.content(["company", "company"])
    assert given.each(["the", "dog"])[0] == ""
    assert given.digits(given.all(["1234kg"])) == "1234"
    assert given.digits(given.all(["dog"])) == ""


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("Rising", "rise"),
        ("rose", "rise"),
        ("companies'", "compani"),
        ("Luigi's", "luigi"),
        ("GPT-4", "gpt-4"),
        ("Города", "города"),
    ],
)
def test_stems(word: str, found: str) -> None:
    """English endings and common irregular forms; other scripts are only folded."""
    assert stem(word) == found
