"""Numbers, amounts, times and lengths of time in a form in which equal ones are equal."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.text.dates import dates
from agenteval.text.numbers import Number, numbers


def only(text: str) -> Number:
    """The number that a text states."""
    [found] = numbers(text)
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,234", "1234"),
        ("29 168 people", "29,168"),
        ("12'500", "12.500"),
        ("41%", "41 percent"),
        ("41%", "41 per cent"),
        ("41%", "forty-one percent"),
        ("$58bn", "58 billion dollars"),
        ("$58bn", "USD 58 billion"),
        ("€1.5m", "1,500,000 euros"),
        ("2M", "2 million"),
        ("2M-token", "2,000,000"),
        ("10k", "ten thousand"),
        ("3.50", "3.5"),
        ("412,50 €", "€412.5"),
        ("1.412,5", "1412.50"),
        ("12.345,90", "12345.9"),
        ("seven", "7"),
        ("sieben", "7"),
        ("twenty-one", "21"),
        ("4th", "fourth"),
        ("-5 points", "5 points"),
        ("5 pm", "17:00"),
        ("5:30 p.m.", "17:30:00"),
        ("9.30 am", "9:30"),
        ("17 Uhr", "5 pm"),
        ("17h30", "5:30 pm"),
        ("half past six", "18:30"),
        ("ten minutes to four", "15:50"),
        ("quarter past nine", "9:15"),
        ("at eight past five", "17:08"),
        ("um zehn vor 4", "15:50"),
        ("half twelve", "12:30"),
        ("14 h", "14:00"),
        ("1.5 km", "1500 m"),
        ("62 miles", "100 km"),
        ("18 km/h", "5 m/s"),
        ("88 °F", "31 °C"),
        ("31 degrees", "temp c: 30.6"),
        ("1.5 MB", "size: 1500000"),
        ("$1.25", "usd: 1.2511"),
        ("15.2k", "15,234"),
        ("about 7,000", "6,930"),
        ("around 9", "8:55"),
        ("90 minutes", "takes minutes: 90"),
        ("90 minutes", "length: 90"),
        ("41%", "growth: 0.41"),
        ("44 cents", "price eur per kwh: 0.44"),
        ("14 minutes", "age: 14m"),
        ("at 9", "9:00"),
        ("下午3点", "15:00"),
        ("共2100万人", "21 million"),
        ("共5.8千万人", "58,000,000"),
        ("共580亿人", "58 billion"),
        ("约２千人", "2000"),
    ],
)
def test_equal_numbers(one: str, other: str) -> None:
    """However they are written, and rounded by half of the last digit where a unit or a scale is told."""
    assert only(one).agrees(only(other))
    assert only(other).agrees(only(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("41%", "14%"),
        ("41%", "$41"),
        ("2", "2M"),
        ("58 billion", "58.4 billion"),
        ("$20", "$19.6"),
        ("30 °C", "30.6 °C"),
        ("1.8 percent", "1.72 percent"),
        ("1.5k", "1,570"),
        ("9 pm", "9 am"),
        ("09:00", "21:00"),
        ("5 km", "5 kg"),
        ("9 degrees", "9:00"),
    ],
)
def test_numbers_that_differ(one: str, other: str) -> None:
    """In value, unit, or more than by rounding."""
    assert not only(one).agrees(only(other))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("H100 and GPT-4 in v1.2.3 and Qwen2.5-72B, task-17-x", []),
        ("2010–2014", ["2010", "2014"]),
        ("24-hour, 10GB, 3.5x", ["24-hour", "10GB", "3.5x"]),
        ("at 2026-11-21T10:30:00+01:00", ["10:30:00+01:00"]),
        ("mid-2025", ["2025"]),
        ("59,90 and 1,234,567", ["59,90", "1,234,567"]),
        ("09:00-18:00, 2-4 pm", ["09:00", "18:00", "2", "4 pm"]),
        ("de 9 h à 17 h", ["9 h", "17 h"]),
        ("from three, 7.50 €", ["three", "7.50 €"]),
        ("北京有2100万人口，占41%的份额", ["2100万", "41%"]),
        ("会議は3時間で、12日も3時に", ["3", "12", "3"]),
        ("使用GPT-4模型，版本为1.2.3，支持H100显卡", []),
        ("3月，2026年3月12日", []),
        ("nothing", []),
    ],
)
def test_what_is_a_number(text: str, found: list[str]) -> None:
    """With its unit. Digits inside names are none; ranges are two; the day of a date is looked for elsewhere."""
    inside = [(date.start, date.end) for date in dates(text)]
    assert [number.text for number in numbers(text, inside)] == found


def test_what_the_words_around_a_number_say() -> None:
    """That it is about right, spelled out, part of a name, or an hour."""
    about, exact = numbers("nearly 60 and 7")
    assert (about.about, exact.about) == (True, False)
    assert [number.spelled for number in numbers("six and 7")] == [True, False]
    assert [number.named for number in numbers("#12, web-2 and 7")] == [True, True, False]
    assert only("at 9").hours == {540, 1260}


def test_a_letter_may_be_a_scale_or_a_unit() -> None:
    """`5m` is metres, minutes or millions; `5M` and `$5m` are million."""
    assert only("5m").values == {5, 5_000_000}
    assert only("5M").values == {5_000_000}
    assert only("$5m").values == {5_000_000}


def test_what_is_skipped_may_lie_inside_other_spans() -> None:
    """The longest one counts to its end."""
    text = "x" * 49 + " 57 " + "x" * 50 + " 64"
    assert [number.text for number in numbers(text, [(0, 100), (10, 12), (20, 22), (30, 32)])] == ["64"]


@pytest.mark.parametrize("piece", ["1 ", "1,", "1.", "1:", "1-", "five to ", "half ", "1h ", "$1", "seven "])
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    """No text makes reading it explode."""
    start = time.process_time()
    numbers(piece * (20_000 // len(piece)))
    assert time.process_time() - start < 5


@given(st.text(alphabet='aA1.,:/-%$ h°km"“’()Nov202half past\n月万²½'))
def test_any_text_can_be_read(text: str) -> None:
    """Spans lie inside the text and hold what they say."""
    for number in numbers(text):
        assert text[number.start : number.end] == number.text
        assert number.values
