"""Schedules as cron tells them."""

import pytest

from agenteval.grounding.crons import crons
from agenteval.grounding.dates import DAYS


@pytest.mark.parametrize(
    ("text", "days", "times"),
    [
        ("0 8 * * 1,4", {"monday", "thursday"}, {480}),
        ('{"cron": "30 7,19 * * 0"}', {"sunday"}, {450, 1170}),
        ("cron: 0 9 * * MON-FRI;", set(DAYS[:5]), {540}),
        ("0 0 1 * 7", {"sunday"}, {0}),
        ("`*/15 9-11 * * *`", set(), set()),
        ("5 0 * * *", set(), {5}),
        ("0 9 * * 1.5", {"monday"}, {540}),
    ],
)
def test_schedules(text: str, days: set[str], times: set[int]) -> None:
    """Their days and times; one for every minute has no times."""
    (found,) = crons(text)
    assert (set(found.days), set(found.times)) == (days, times)


@pytest.mark.parametrize("text", ["0 9 * * 1-5/2", "1 2 * 3", "a0 9 * * 1", "2 * 3 = 6 * 1"])
def test_what_is_none(text: str) -> None:
    """Too few fields, others, or a part of a word."""
    assert list(crons(text)) == []


@pytest.mark.parametrize(
    ("text", "key"),
    [("00 9 * * 1-5", "0 9 * * 1-5"), ("0 09 * * MON-FRI", "0 9 * * 1-5"), ("10 20 * 07 7", "10 20 * 7 0")],
)
def test_equal_ones_have_one_key(text: str, key: str) -> None:
    """Whatever leading zeros they have, and however the days are told."""
    (found,) = crons(text)
    assert (found.text, found.key) == (text, key)


def test_where_they_stand() -> None:
    """Each in its place."""
    assert [each.start for each in crons("0 8 * * 1 and 5 9 * * 2")] == [0, 14]
