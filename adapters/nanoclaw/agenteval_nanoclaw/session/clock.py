"""Times in recordings, as milliseconds since 1970 in UTC.

Transcripts and most columns have ISO 8601 with `Z`. SQLite's own times, `2026-11-21 20:55:27`, are UTC too and lack it.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def milliseconds(text: Any) -> int | None:
    """The time that a text states, or None when it states none."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment.astimezone(UTC) - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):  # overflow: a time that is not within the years 1 to 9999 in UTC
        return None


def iso(time: int) -> str:
    """A time as ISO 8601 in UTC, with milliseconds."""
    return (_EPOCH + time * _MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")
