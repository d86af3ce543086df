"""Times in recordings: ISO 8601, brought to UTC."""

from datetime import UTC, datetime
from typing import Annotated, Any

from agenteval.strict import NotPlain


class Iso8601:
    """A date and time that ISO 8601 allows: `Annotated[str, Iso8601()]`."""

    def __call__(self, value: str) -> str:
        if not _is_time(value):
            raise NotPlain
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self._explain, handler(source))

    def _explain(self, value: str) -> str:
        if not _is_time(value):
            raise ValueError(f"{value!r} is not an ISO 8601 date and time, such as '2026-01-31T08:00:00Z'")
        return value


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
