"""What the fields of objects say otherwise."""

from typing import Any

import pytest

from grounded import found

STATUS = [{"service": "billing", "state": "operational"}, {"service": "search", "state": "degraded"}]
TASK = {"title": "Fix tap", "assignee": "Ada", "author": "Ben", "owner": None, "done": False, "urgent": True}
TRIP = {"train": "RE 5", "origin": "Bergen", "destination": "Oslo", "departs": "14:25", "arrives": "15:40"}
GARAGES = {
    "Castle": {"free": 17, "state": "open", "rate_eur": 2.4},
    "Market": {"free": 0, "state": "full", "rate_eur": 2.8},
}
PLOTS = [{"nr": "A3", "tenant": "Yildiz", "paid": True}, {"nr": "A7", "tenant": "Kolb", "paid": False}]


@pytest.mark.parametrize(
    ("source", "claim", "wrong"),
    [
        (STATUS, "Billing is degraded.", ["degraded"]),
        (STATUS, "Billing is operational, search is operational too.", ["operational"]),
        (STATUS, "Search isn't degraded.", ["degraded"]),
        (GARAGES, "Castle is full.", ["full"]),
        (GARAGES, "Market is near. It isn't full.", ["full"]),
        (TASK, "Fix tap is done by now, says Ada.", ["done"]),
        (TASK, "Fix tap isn't urgent.", ["urgent"]),
        (TASK, "Fix tap has no assignee.", ["assignee"]),
        (TRIP, "RE 5 departs at 15:40.", ["15:40"]),
        (PLOTS, "Kolb has paid.", ["paid"]),
    ],
)
def test_what_an_object_says_otherwise(source: Any, claim: str, wrong: list[str]) -> None:
    """A value of another object or field, what it denies, and what is so or not."""
    assert found(source, claim) == wrong


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (STATUS, "Billing is operational, search is degraded."),
        (STATUS, "Billing is not degraded."),
        (GARAGES, "Castle is open and Market is full."),
        (TASK, "Ada is the assignee of Fix tap, Ben is the author."),
        (TASK, "Fix tap is not done, but urgent, and has no owner."),
        (TRIP, "RE 5 departs at 14:25 and arrives at 15:40."),
        (PLOTS, "Yildiz has paid, Kolb has not paid."),
        (PLOTS, "Kolb is unpaid."),
    ],
)
def test_what_an_object_says(source: Any, claim: str) -> None:
    """Nothing of it is wrong."""
    assert found(source, claim) == []
