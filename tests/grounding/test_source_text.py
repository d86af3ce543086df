"""What the sources have: the questions that claims ask."""

import time
from decimal import Decimal

import pytest

from agenteval.grounding.dates import dates
from agenteval.grounding.links import links
from agenteval.grounding.quantity import NEARLY
from agenteval.grounding.source_numbers import COUNTED, any_unit, anywhere
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import Source


def sources(*texts: str) -> SourceText:
    """One source per text, called evt-1, evt-2 and so on."""
    return SourceText([Source(f"evt-{number}", (text,)) for number, text in enumerate(texts, 1)])


def has_number(text: str, value: str, unit: str = "") -> bool:
    """Whether a text has a number with exactly this unit."""
    return sources(text).numbers.has(Decimal(value), unit, lambda each: each == unit)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("a total of 1,234", "1234", ""),
        ("a total of 1,234 boats", "1234", COUNTED),
        ("1\u00a0234 boats", "1234", COUNTED),
        ("18 of 42 lifts", "18", COUNTED),
        ("18 of the 42 lifts", "42", COUNTED),
        ("18 is less", "18", ""),
        ("18 of them", "18", ""),
        ("in 2010,2011,12 and so on", "2011", ""),
        ("worth 58 billion", "58000000000", ""),
        ("worth $1.5M", "1500000", "$"),
        ("2.3bn", "2300000000", ""),
        ("twenty-five thousand", "25000", ""),
        ("the twelfth boat", "12", "th"),
        ("nine hundred", "900", ""),
        ("at 5 pm", "1020", ":"),
        ("at 12:30 am", "30", ":"),
        ("on 2026-11-21", "2026", ""),
        ("one\nand 41 %\nthree", "41", "%"),
    ],
)
def test_numbers_are_found_however_they_are_written(text: str, value: str, unit: str) -> None:
    """Looking for candidates first overlooks no way to write a number."""
    assert has_number(text, value, unit)


@pytest.mark.parametrize(
    ("text", "value"), [("GPT-41", "41"), ("v1.2.41", "41"), ("41:30", "4130"), ("410", "41")]
)
def test_other_digits_are_not_the_number(text: str, value: str) -> None:
    """What looks like the number at first is read closely."""
    assert not has_number(text, value)


def test_about_a_number() -> None:
    """Five percent more or less, in digits or in words; only of a number that is more exact."""
    near = [
        sources(text).numbers.has_near(Decimal(60), NEARLY, anywhere, any_unit)
        for text in ("57", "sixty-three", "56", "64 boats", "60")
    ]
    assert near == [True, True, False, False, False]


def test_tokens_in_any_form() -> None:
    """A plain form stands for its plural and its possessive; the middle of a word stands for nothing."""
    known = sources("The companies\u2019 gauges, O'Neil's scar on 2026-11-21")
    held = [
        token
        for token in ("company", "gauge", "gauges", "o'neil", "neil", "car", "saturday", "nov", "sunday")
        if known.has_token(token)
    ]
    assert held == ["company", "gauge", "gauges", "o'neil", "saturday", "nov"]


def test_identifiers_dates_links_and_phrases() -> None:
    """Each is compared in its normal form, text by text."""
    known = sources(
        "GPT 5, GPT-4 and 10.0.1",
        "Published Nov 21, 2026 at https://www.News.example/a/?utm_source=x",
        "low river",
    )
    assert [known.has_identifier(each) for each in ("gpt4", "gpt5", "1001", "gpt40")] == [
        True,
        True,
        True,
        False,
    ]
    assert [known.has_date(dates(each)[0]) for each in ("21 November", "2026-11-21", "Nov 20")] == [
        True,
        True,
        False,
    ]
    assert [known.has_link(links(f"https://{each}")[0]) for each in ("news.example/a", "news.example/b")] == [
        True,
        False,
    ]
    assert known.has_phrase(["low", "river"])
    assert not known.has_phrase(["10", "0", "1", "published"])


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("https://a.example/x", True),
        ("<https://a.example/x>", True),
        ("see (https://a.example/x).", True),
        ("https://a.example/x?utm_source=y", True),
        ("https://a.example/xy", False),
        ("https://go.example/?to=https://a.example/x", False),
        ("https://a.example/x_y https://b.example", False),
    ],
)
def test_a_link_is_the_whole_of_one(text: str, has: bool) -> None:
    """Whether it stands there as it is written or in another form; what goes on is another one."""
    assert sources(text).has_link(links("https://a.example/x")[0]) is has


def test_initials_of_capitalised_words() -> None:
    """Two capitalised words or more in a row, small words between them aside; a capital inside a word is none."""
    known = sources("by Advanced Micro Devices and the Department of Energy; the iPhone Pro Max")
    held = [token for token in ("amd", "md", "doe", "de", "pm", "ppm") if known.has_initials(token)]
    assert held == ["amd", "md", "de", "pm"]


def test_time_grows_with_the_text_only() -> None:
    """Ten thousand sources are asked in less than three seconds of CPU time, also for what none of them has."""
    known = sources(
        *(f"Gauge {number} at the old bridge showed a low river. Boats wait." for number in range(10_000))
    )
    start = time.process_time()
    best = known.passages.best(known.signs.each(["gauge", "low", "boat"]))
    assert best is not None
    assert len(best.words) == 3
    assert not known.numbers.has(Decimal(123_456), "", lambda unit: not unit)
    assert not known.has_token("zebra")
    assert not known.has_date(dates("May 5, 2026")[0])
    assert time.process_time() - start < 3
