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
        ("0 9 * * 1-5/2", None, None),
        ("1 2 * 3", None, None),
        ("a0 9 * * 1", None, None),
        ("0 9 * * 1.5", {"monday"}, {540}),
    ],
)
def test_schedules(text: str, days: set[str] | None, times: set[int] | None) -> None:
    """Their days and times; one for every minute has no times."""
    assert [(each.days, each.times) for each in crons(text)] == ([] if days is None else [(days, times)])


def test_where_they_stand() -> None:
    """Each in its place."""
    assert [each.start for each in crons("0 8 * * 1 and 5 9 * * 2")] == [0, 14]
