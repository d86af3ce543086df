"""How texts are cut to fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.text.fitting import (
    abridged,
    around,
    around_words,
    cells,
    clipped,
    clipped_to_cells,
    cut,
    ends,
    head,
    printable,
)
from screen import HOSTILE

ESCAPED = "a\\x1b[2Jb\\rc\\x07d\\u202eevil\\u2066f\\u200bg\\x00h\\x9bi\\ud800j"


def test_control_characters_are_shown_escaped() -> None:
    """Escape sequences, bidi overrides and invisible characters are seen, not obeyed."""
    assert printable(HOSTILE) == ESCAPED
    assert printable("plain ü 日本 😀") == "plain ü 日本 😀"
    assert printable("a\nb\tc\u2028d") == "a\\nb\\tc\\u2028d"


def test_cut() -> None:
    """Long texts end at a blank, on one line."""
    assert cut("a\n b", 10) == "a b"
    assert cut("alpha beta gamma", 12) == "alpha beta …"
    assert cut("x" * 20, 5) == "xxxxx …"


def test_around_keeps_what_is_at_a_place() -> None:
    """Whole words on one line, with an ellipsis on each side that was cut."""
    text = "one two three\nfour five six seven"
    assert around(text, 14, 40) == "one two three four five six seven"
    assert around(text, 14, 16) == "… three four …"
    assert around(text, 0, 16) == "one two …"
    assert around(text, 30, 16) == "… six seven"


def test_around_keeps_a_part_of_a_long_word() -> None:
    """What it is about is shown, though no blank is near."""
    word = f"{'x' * 30}NEEDLE{'y' * 30}"
    assert around(f"one {word} two", 34, 20) == f"… {'x' * 10}NEEDLE{'y' * 4} …"
    assert around(f"one NEEDLE{'y' * 30} two", 4, 20) == f"one NEEDLE{'y' * 10} …"
    assert around(f"one two {'x' * 30}NEEDLE two", 38, 20) == f"… {'x' * 10}NEEDLE two"


def test_around_words_finds_the_longest_that_is_there() -> None:
    """In any case; without any of them the beginning is kept."""
    text = "one two three four FIVE six seven"
    assert around_words(text, "a five fifteen", 16) == "… four FIVE …"
    assert around_words(text, "eight", 16) == "one two three …"


def test_clipped_is_as_long_as_it_says() -> None:
    """The ellipsis is one of the characters; a text of exactly as many is left alone."""
    assert clipped("abcd", 4) == "abcd"
    assert clipped("abcde", 4) == "abc…"


def test_abridged_counts_what_is_left_out() -> None:
    """As many characters stay as are asked for, the rest is counted; a text of exactly as many is left alone."""
    assert abridged("abc", 3) == "abc"
    assert abridged("abcdef", 3) == "abc… (3 more characters)"
    assert abridged("cafe\u0301 au lait", 4) == "caf… (10 more characters)"


def test_ends_leave_out_the_middle() -> None:
    """A message says first what was expected and last what was got; no sign is cut in two."""
    assert ends("abcdef", 6) == "abcdef"
    assert ends("expected many, got one", 8) == "expe… (14 more characters) … one"
    assert ends("cafe\u0301 au lait, cafe\u0301", 8) == "caf… (13 more characters) …afe\u0301"
    assert ends("x" * 9 + "e\u0301", 2) == "x… (10 more characters) …"


def test_cells_bound_what_a_terminal_shows() -> None:
    """Chinese signs count twice, accents not at all, and the ellipsis as wide as it is spelt."""
    assert clipped_to_cells("abcd", 4) == "abcd"
    assert clipped_to_cells("abcde", 4) == "abc…"
    assert clipped_to_cells("abcdef", 5, "...") == "ab..."
    assert clipped_to_cells("你好吗", 6) == "你好吗"
    assert clipped_to_cells("你好吗", 5) == "你好…"
    assert clipped_to_cells("你好吗", 4) == "你…"
    assert clipped_to_cells("e\u0301e\u0301e\u0301", 3) == "e\u0301e\u0301e\u0301"
    assert clipped_to_cells("e\u0301e\u0301e\u0301", 2) == "e\u0301…"


@given(st.text(alphabet="a\u0301你\U0001f468\u200d "), st.integers(3, 9))
def test_what_is_clipped_to_cells_fits(text: str, width: int) -> None:
    """Whatever the signs are."""
    assert cells(clipped_to_cells(text, width)) <= width


@pytest.mark.parametrize(
    "sign",
    [
        *("e\u0301", "o\u0323\u0302", "\u0915\u093f", "\u2764\ufe0f", "\U0001f44d\U0001f3fd"),
        "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    ],
)
def test_no_cut_goes_through_a_sign(sign: str) -> None:
    """A letter with its accents, a vowel sign, a heart in red, a tone of skin, a family: all of it or nothing."""
    text = f"xy{sign}z and more"
    for limit in range(3, 2 + len(sign)):
        assert head(text, limit) == "xy"
    assert head(text, 2 + len(sign)) == f"xy{sign}"
    assert head("xy" + sign, 2 + len(sign)) == f"xy{sign}"


@given(st.text(alphabet="ab   \n\xa0\x1c\u200b\u3000\t"))
def test_what_is_cut_is_on_one_line(text: str) -> None:
    """Blanks of any kind come to one, and none stands at the ends."""
    assert cut(text) == " ".join(text.split())
