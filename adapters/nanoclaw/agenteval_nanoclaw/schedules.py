"""Whether two schedulers knew the same: points in time, time zones and recurrences, however they are written."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from agenteval.json_values import moment, time_zone

SLACK = timedelta(minutes=1)
"""How far times may be apart that mean the same: who writes one by hand leaves the seconds out."""
SEASONS = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC))
"""Zones with the same hours at both are the same: summer time is half a year away from either."""


def schedules_differ(told: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    """The names of what both of them say, and not the same; a task has no other name than its own."""
    one, other = (time_zone(each.get("timezone")) for each in (told, recorded))
    for name, said in told.items():
        found = recorded.get(name)
        if name == "task_id" or said is None or found is None or _spelled(said) == _spelled(found):
            continue
        if name == "timezone" and one and other and _hours(one) == _hours(other):
            continue
        if not _same_time(moment(said, one or other), moment(found, other or one)):
            yield name


def _spelled(value: Any) -> Any:
    """Numbers as their text; capitals and blanks of texts do not matter."""
    return value if isinstance(value, dict | list) else " ".join(str(value).split()).casefold()


def _hours(zone: tzinfo) -> list[timedelta | None]:
    return [each.astimezone(zone).utcoffset() for each in SEASONS]


def _same_time(said: datetime | None, found: datetime | None) -> bool:
    """Whether two times are no other ones; of one with its zone and one without, nobody knows."""
    if said is None or found is None:
        return False
    return (said.tzinfo is None) != (found.tzinfo is None) or abs(said - found) < SLACK
