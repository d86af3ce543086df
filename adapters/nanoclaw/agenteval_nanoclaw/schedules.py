"""Whether two schedulers knew the same: points in time, time zones and recurrences, however they are written."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

SLACK = timedelta(minutes=1)
"""How far times may be apart that mean the same: who writes one by hand leaves the seconds out."""
SEASONS = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC))
"""Zones with the same hours at both are the same: summer time is half a year away from either."""


def schedules_differ(told: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    """The names of what both of them say, and not the same; a task has no other name than its own."""
    one, other = (_zone(each.get("timezone")) for each in (told, recorded))
    for name, said in told.items():
        found = recorded.get(name)
        if name == "task_id" or said is None or found is None or _spelled(said) == _spelled(found):
            continue
        if name == "timezone" and one and other and _hours(one) == _hours(other):
            continue
        if not _same_time(_moment(said, one or other), _moment(found, other or one)):
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


def _moment(value: Any, zone: tzinfo | None) -> datetime | None:
    """A point in time; one that is written without its offset is in the scheduler's time zone, if that is known."""
    try:
        parsed = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=zone)


def _zone(name: Any) -> tzinfo | None:
    """A time zone by its IANA name or its offset, `+01:00`; None for what is neither."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (LookupError, OSError, TypeError, ValueError):
        moment = _moment(f"2026-01-01T00:00{name}", None)
        return moment.tzinfo if moment else None
