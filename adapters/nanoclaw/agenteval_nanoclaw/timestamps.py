"""Times in recordings: ISO 8601, brought to UTC."""

from datetime import UTC, datetime
from typing import Annotated, Any

from agenteval.strict import explained


class Iso8601:
    """A date and time that ISO 8601 allows: `Annotated[str, Iso8601()]`."""

    def __call__(self, value: str) -> bool:
        return _is_time(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return explained(handler(source), self._objection)

    def _objection(self, value: str) -> str:
        if _is_time(value):
            return ""
        return f"{value!r} is not an ISO 8601 date and time, such as '2026-01-31T08:00:00Z'"


def _is_time(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
        in_utc(value)
    except (ValueError, OverflowError):  # overflow: a time that is before the year 1 in UTC
        return False
    return True


def in_utc(timestamp: str) -> str:
    """An ISO 8601 timestamp in UTC; one without an offset is in UTC already."""
    if timestamp.endswith("Z"):
        return timestamp
    parsed = datetime.fromisoformat(timestamp)
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return parsed.astimezone(UTC).isoformat().replace("+00:00", "Z")


Timestamp = Annotated[str, Iso8601()]
