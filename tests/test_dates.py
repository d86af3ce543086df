"""Dates in a form in which equal ones are equal, and days of the week."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.text.dates import dates, tells_week, weekday, weekday_of, weekdays


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21",
        "2026/11/21",
        "2026-11-21T10:00:00Z",
        "21 November 2026",
        "21st of November, 2026",
        "Nov 21, 2026",
        "November 21st, 2026",
        "Nov. 21 2026",
        "21.11.2026",
        "11/21/2026",
        "21 de noviembre de 2026",
        "21 novembre 2026",
        "21. November 2026",
        "2026年11月21日",
        "2026 年 11 月 21 日",
        "2026년 11월 21일",
    ],
)
def test_equal_dates(text: str) -> None:
    """However a date is written."""
    [date] = dates(f"on {text}.")
    assert (date.year, date.month, date.day) == (2026, 11, 21)


def test_partial_dates() -> None:
    """A date agrees with another in what both state; one that can be read in two ways agrees with either."""
    [full], [day], [month], [either] = map(dates, ("2026-04-03", "April 3", "April 2026", "03/04/2026"))
    assert (day.year, day.month, day.day) == (None, 4, 3)
    assert (month.year, month.month, month.day) == (2026, 4, None)
    assert day.agrees(full)
    assert month.agrees(full)
    assert either.agrees(full)
    assert not full.covers(month)
    assert month.covers(full)
    assert dates("会议在4月3日")[0].agrees(full)
    [chinese] = dates("2026年4月")
    assert (chinese.month, chinese.day) == (4, None)
    [wrong] = dates("April 5")
    assert not wrong.agrees(full)
    assert not wrong.agrees(either)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 24 and 31 December", [31]),
        ("May 3, 20 people came", [3]),
        ("On May 3 and 20 people came", [3]),
        ("May 3-5pm", [3]),
        ("May 3, 10:30", [3]),
        ("room 9 and 5 May", [5]),
        ("10 and 40 May", []),
        ("10, 40 and 5 May", [5]),
        ("at 8.9 and 10 May", [10]),
        ("9, 10 May", [10]),
        ("3 to 2026-05-04", [4]),
        ("May 2026 and 27", [None]),
        ("expired 10/2026", [None]),
        ("expires: 2027-11; label: Travel", [None]),
        ("3/10/2026", [10]),
        ("10/20266", []),
        ("bis zum 24.07. gesperrt", [24]),
    ],
)
def test_numbers_beside_a_month(text: str, days: list[int | None]) -> None:
    """The day is the one right beside it; other numbers are none."""
    found = dates(text)
    assert [date.day for date in found] == days
    assert len({date.month for date in found}) <= 1


@pytest.mark.parametrize(
    "text",
    ["November", "in 2026", "13/13/2026", "2026-13-01", "Marching 5", "32 May", "3月", "3个月", "1.2.3"],
)
def test_what_is_no_date(text: str) -> None:
    """A month or a year alone, and what the calendar does not have."""
    assert dates(text) == []


@pytest.mark.parametrize(
    ("word", "day"),
    [
        ("monday", "monday"),
        ("wed", "wednesday"),
        ("thurs", "thursday"),
        ("fridays", "friday"),
        ("mittwochs", "wednesday"),
        ("donnerstagmorgen", "thursday"),
        ("sonnabend", "saturday"),
        ("lundi", "monday"),
        ("lunes", "monday"),
        ("wedding", None),
        ("sunny", None),
        ("month", None),
    ],
)
def test_what_names_a_day(word: str, day: str | None) -> None:
    """Whole, cut short in English, and of every week."""
    assert weekday(word) == day


def test_the_days_that_a_text_names() -> None:
    """As written; what is cut short only with a capital: the sun shines, and somebody sat."""
    assert list(weekdays("Dienstags and on Sat, the sun, he sat, lundi")) == [
        ("Dienstags", "tuesday"),
        ("Sat", "saturday"),
        ("lundi", "monday"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mon-Fri 9-17", True),
        ("open Tuesdays to Sundays", True),
        ("Mo. \u2013 Fr. ab 9", True),
        ("du mardi au samedi", True),
        ("de martes a domingo", True),
        ("Monday and Friday", False),
        ("from month to month", False),
        ("the sun to monitor", False),
    ],
)
def test_spans_of_days(text: str, expected: bool) -> None:
    """They tell of the days inside, and of the others."""
    assert tells_week(text) is expected


def test_the_day_of_a_date() -> None:
    """If it is told in full, and the calendar has it."""
    [full], [part], [wrong] = map(dates, ("2026-11-21", "21 November", "30 February 2026"))
    assert [weekday_of(date) for date in (full, part, wrong)] == ["saturday", None, None]


@given(st.text(alphabet='aA1.,:/-% "()Nov202月日\n'))
def test_any_text_can_be_read(text: str) -> None:
    """Spans lie inside the text and hold what they say."""
    for date in dates(text):
        assert text[date.start : date.end] == date.text
