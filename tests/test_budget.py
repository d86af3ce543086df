"""The budget of processor time that the patterns and schemas of one assertion share."""

import time
from time import process_time

import pytest

from agenteval import budget


def burn(seconds: float) -> None:
    """Use processor time up."""
    until = process_time() + seconds
    while process_time() < until:
        pass


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_budget_is_more_than_nothing(seconds: float) -> None:
    """A limit of zero would stop every pattern."""
    with pytest.raises(ValueError, match=f"must be more than 0 seconds, got {seconds:g}"):
        budget.set_seconds(seconds)
    assert budget.SECONDS == 2.0


def test_what_is_spent_adds_up() -> None:
    """Within one budget, over all that spends from it; what lies between costs nothing."""
    with budget.fresh():
        with budget.spending():
            burn(0.02)
        burn(0.05)
        with budget.spending() as allowed:
            assert 1.9 < allowed.left < 1.98
        assert 1.9 < allowed.left < 1.98


def test_spending_within_spending_is_counted_once() -> None:
    """As of the patterns of a schema."""
    with budget.spending() as outer:
        with budget.spending() as inner:
            burn(0.02)
        assert inner is outer
    assert 1.9 < outer.left < 1.98


def test_a_fresh_budget_ends_with_its_block() -> None:
    """The one around it goes on where it was; outside of all, each is a new one."""
    with budget.fresh():
        with budget.spending() as one:
            burn(0.02)
        with budget.fresh(), budget.spending() as other:
            assert other is not one
            assert other.left > one.left
        with budget.spending() as again:
            assert again is one
    with budget.spending() as outside:
        assert outside is not one
    assert not budget.is_spent()


def test_a_budget_is_spent_when_its_seconds_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting uses none of them, whatever else the machine does."""
    monkeypatch.setattr(budget, "SECONDS", 0.02)
    with budget.spending() as allowed:
        time.sleep(0.03)
        assert not budget.is_spent()
        burn(0.03)
        assert budget.is_spent()
    assert allowed.left < 0
