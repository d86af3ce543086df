"""Bullets, items, paragraphs, sentences, claim units and words, by the definitions of `agenteval.text.parts`."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.text.fitting import cut
from agenteval.text.parts import (
    blocks,
    bullets,
    fold,
    holds,
    numbered_items,
    paragraphs,
    place_of,
    sentences,
    texts,
    words,
)


@pytest.mark.parametrize("marker", ["-", "*", "+", "•", "–"])
def test_each_marker_with_a_blank_begins_a_bullet(marker: str) -> None:
    """Chat channels write other signs than Markdown does."""
    assert bullets(f"{marker} one\n  {marker} two\n\t{marker}\tthree") == ["one", "two", "three"]


@pytest.mark.parametrize(
    "line", ["-one", "**bold** text", "-5 degrees", "---", "* * *", "—  dash", "a - b", "> - x"]
)
def test_what_is_no_bullet(line: str) -> None:
    """Without a blank after the sign, or with another sign, a line is no bullet."""
    assert bullets(line) == []


def test_lines_indented_under_a_bullet_belong_to_it() -> None:
    """Also after a blank line; a line that is not indented begins a paragraph."""
    text = "- first\n  goes on\n\n  and on\n- second\nno more"
    assert bullets(text) == ["first goes on and on", "second"]
    assert paragraphs(text) == ["no more"]


def test_a_check_box_is_no_part_of_the_bullet() -> None:
    """Task lists are bullets."""
    assert bullets("- [ ] buy milk\n- [x] call") == ["buy milk", "call"]


def test_bullets_in_code_are_code() -> None:
    """Neither in a fenced block that is closed nor in one that is not."""
    assert bullets("```\n- a\n```\n- b\n~~~\n- c") == ["b"]


def test_numbered_items() -> None:
    """`1.`, `1)` and `(1)`; a year or a decimal begins none."""
    assert numbered_items("1. a\n2) b\n(3) c\n2026. d\n1.5 e\n") == ["a", "b", "c"]


def test_paragraphs_are_runs_of_prose() -> None:
    """Headings, lists, tables, quotations, code and rules are none, whatever the line endings."""
    text = "# Title\nOne\r\nmore.\r\n \r\n\r\nTwo.\n- item\n> said\n| a |\n|---|\n| b |\n***\n```\nx\n\ny\n```\nThree."
    assert paragraphs(text) == ["One more.", "Two.", "Three."]


def test_underlined_headings() -> None:
    """A line of equals signs or dashes under one line makes it a heading."""
    assert [(block.kind, block.text) for block in blocks("Title\n=====\ntext")] == [
        ("heading", "Title"),
        ("paragraph", "text"),
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three? Four… Five", 5),
        ("Pi is 3.14 in v1.2.3 of https://x.example/a.b?c=d. Next.", 2),
        ("Mr. Smith met Dr. J. R. Jones, e.g. in the U.S. Senate, at 5 p.m. on Monday.", 1),
        ("It starts at 5 p.m. Doors open earlier.", 2),
        ("See Fig. 3 and No. 5, cf. p. 7 vs. the rest.", 1),
        ("Dentist, Bahnhofstr. 5, Tel. 030 1234, ext. 12.", 1),
        ("They set up a str. It worked.", 2),
        ("Acme Inc. rose. The rest fell at Acme Inc. The end.", 3),
        ("Meet on Nov. 21 at Main St. 5 sharp.", 1),
        ("Wait... what?! Really.", 2),
        ("So on... Then more.", 2),
        ('"Stop!" she said. "Go." Then he left.', 3),
        ("lower case. too.", 2),
        ("Revenue rose.[1] It fell.[2]", 2),
        ("**Bold.** Then _this._", 2),
        ("你好。今天好吗？好！", 3),
        ("Apples, pears, etc. are fruit.", 1),
        ("Version 1.2.3 at https://a.b/c.d. is out by e.g. Dr. Who on Jan. 5", 1),
        ("See (www.example.com/a. for more).", 1),
        ("It is at https://a.b/c. The rest is here.", 2),
        ("It costs 5 euros incl. VAT, excl. Shipping.", 1),
        ("It takes approx. ten minutes, approx. 10.", 1),
        ("Note the min. order, the avg. temp, and max. 30 seats, min. 3.", 1),
        ("It takes 10 min. Then rest.", 2),
        ("Ph.D. Smith spoke.", 1),
        ("He has a Ph.D. The other has none.", 2),
        ("We meet at 5 p.m. Bob left.", 2),
        ("1. open the door", 1),
        ("Am 24. Dezember, z. B. abends, d. h. ab 10.30 Uhr, ist am 3. Mai zu.", 1),
        ("Schluss ist am Donnerstag, 24. April. Danach geht es weiter.", 2),
        ("Schůzka je 24. prosince.", 1),
        ("Wir treffen uns am 26.06. am See.", 1),
        ("Das Fest ist am 26.06. Danach ist Pause.", 2),
        ("It closed on May 24. August was cold.", 2),
        ("There were 24. Dezember followed.", 1),
        ("On Saturday (28.11.) there is a fair.", 1),
        ("It ended (in 2024.) Then it began.", 2),
        ("There were 24. The rest followed.", 2),
        ("It closed on May 24. iPhone sales fell.", 2),
        ("Take option b. Then go. Or plan a. I did.", 4),
        ("!!! ??? ...", 0),
        ("", 0),
    ],
)
def test_sentences(text: str, count: int) -> None:
    """A full stop inside a number, version, URL or abbreviation ends no sentence."""
    assert len(sentences(text)) == count, sentences(text)


def test_sentences_keep_their_text() -> None:
    """Marks and closing quotes stay with the sentence they end."""
    assert sentences("He said “no.” Then: yes?") == ["He said “no.”", "Then: yes?"]


def test_words() -> None:
    """Blanks divide words; signs alone are none; Chinese and Japanese characters count one by one."""
    assert words("It's 3.5 % – well-known, 你好 ok") == ["It's", "3.5", "well-known,", "你", "好", "ok"]


def test_fold() -> None:
    """Case and the spelling of accents do not count; with case_sensitive, case does."""
    assert fold("Cafe\u0301 STRASSE") == fold("café straße")
    assert fold("Cafe\u0301", case_sensitive=True) == "Café"
    assert fold("ABC", case_sensitive=True) == "ABC"


def test_texts_of_json() -> None:
    """Texts and numbers at any depth, in order; no keys, and neither true nor null."""
    assert texts({"a": ["one", {"b": 2}, True, None], "c": ("three", 4.5)}) == ["one", "2", "three", "4.5"]
    assert texts("alone") == ["alone"]


@pytest.mark.parametrize(
    "piece",
    [
        ".",
        "- ",
        "a.",
        "?",
        " ",
        "\n",
        "| ",
        "'\"",
        ". ",
        "#",
        "-\n",
        "e.g. ",
        "1.",
        "> ",
        "```\n",
        "[1]",
        "a? ",
    ],
)
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    """No text makes reading it explode."""
    text = piece * (200_000 // len(piece))
    start = time.process_time()
    for block in blocks(text):
        sentences(block.text)
    words(text)
    cut(text)
    assert time.process_time() - start < 5


@given(st.text(alphabet="ab .!?\n-*•1)`>|#\"'“”…。\t\r\u2028"))
def test_nothing_is_lost_or_invented(text: str) -> None:
    """Every letter of a text is in one block, and every letter of prose in one sentence, in order."""
    letters = [char for char in text if char.isalpha()]
    seen = [char for block in blocks(text) for char in block.text if char.isalpha()]
    fences = any(block.kind == "code" for block in blocks(text)) or "`" in text
    assert seen == letters or fences
    for block in blocks(text):
        joined = "".join(sentences(block.text))
        assert [c for c in joined if c.isalnum()] == [c for c in block.text if c.isalnum()]


@pytest.mark.parametrize(
    ("text", "phrase", "there"),
    [
        ("711", "11", False),
        ("11.5", "11", False),
        ("3.11", "11", False),
        ("1.1.11", "11", False),
        ("11.2.1", "11", False),
        ("1,110", "110", False),
        ("1'110", "1", False),
        ("11,5", "11", False),
        ("1\u202f110", "1", False),
        ("110", "11", False),
        ("11:30", "1:3", False),
        ("build 115", "build 11", False),
        ("v1.15", "v1.1", False),
        ("2026-11-25", "2026-11-2", False),
        ("11", "11", True),
        ("11.", "11", True),
        ("11, 12", "11", True),
        ("9,11,13", "11", True),
        ("9,11,13", "13", True),
        ("1 110", "110", True),
        ("11 %", "11", True),
        ("(11)", "11", True),
        ("v11b", "11", True),
        ("11-12", "12", True),
        ("2026-11-25", "11", True),
        ("711 and 11", "11", True),
        ("11.5", "11.5", True),
        ("1,110", "1,110", True),
        ("terror", "err", True),
        ("3.x", "x", True),
        ("", "", True),
        ("711", "", True),
    ],
)
def test_a_phrase_is_no_part_of_a_longer_number(text: str, phrase: str, there: bool) -> None:
    """Where it begins or ends with a digit; anywhere else it stands even inside words."""
    assert holds(text, phrase) is there
    assert (place_of(phrase, text) >= 0) is there


@given(st.text(alphabet="01.,' a", max_size=12), st.text(alphabet="01.,a", max_size=4))
def test_a_phrase_that_is_found_is_there(text: str, phrase: str) -> None:
    """Never before where it starts to look, and always as a whole word between blanks."""
    at = place_of(phrase, text, 1)
    assert at < 0 or (at >= 1 and text[at:].startswith(phrase))
    assert holds(f"{text} {phrase} {text}", phrase)


def test_phrases_are_found_in_time_in_any_number() -> None:
    """The time is linear in the length."""
    started = time.process_time()
    for text in ("1" * 300_000, "1," * 150_000, "1.1" * 100_000, "111," * 80_000):
        assert not holds(text, "1,11111")
    assert time.process_time() - started < 3
