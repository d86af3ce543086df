"""Computes the next times of a cron expression: five fields, or six with seconds first, in a time zone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

_FIELDS = (
    ("second", 0, 59),
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day", 1, 31),
    ("month", 1, 12),
    ("weekday", 0, 7),
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_NAMED = {
    "month": {name: number for number, name in enumerate(_MONTHS, 1)},
    "weekday": {name: number for number, name in enumerate(_WEEKDAYS)},
}
_PRESETS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip
_MOST_DAYS = 366 * 5
"""The most days to look ahead: 29 February may be four years away."""


class Schedule:
    """A cron expression. Raises `ValueError` in words for what is none."""

    def __init__(self, expression: str, timezone: str) -> None:
        self.zone = ZoneInfo(timezone)
        fields = _PRESETS.get(expression.strip().lower(), expression).split()
        if len(fields) == len(_FIELDS) - 1:
            fields = ["0", *fields]
        if len(fields) != len(_FIELDS):
            raise ValueError(
                f"invalid --recurrence: {expression!r} has {len(fields)} fields, and 5 are expected"
            )
        parsed = [_values(text, *each) for text, each in zip(fields, _FIELDS, strict=True)]
        self.seconds, self.minutes, self.hours, self.days, self.months, weekdays = parsed
        self.weekdays = {each % 7 for each in weekdays}
        # where both are restricted, either is enough
        self.either = fields[3] not in ("*", "?") and fields[5] not in ("*", "?")

    def after(self, moment: datetime) -> datetime:
        """The first time after a moment, in UTC."""
        return next(self._from(moment))

    def runs_a_day(self, moment: datetime, most: int) -> int:
        """Count the times in the day after a moment, no further than one beyond `most`."""
        found = 0
        for each in self._from(moment):
            if each > moment + timedelta(days=1) or found > most:
                break
            found += 1
        return found

    def _from(self, moment: datetime) -> Iterator[datetime]:
        day = moment.astimezone(self.zone).replace(hour=0, minute=0, second=0, microsecond=0)
        for _ in range(_MOST_DAYS):
            for hour, minute, second in self._times() if self._is_day(day) else ():
                found = day.replace(hour=hour, minute=minute, second=second).astimezone(UTC)
                if found > moment:
                    yield found
            # A day on the clock, not 24 hours: on the day on which summer time begins, a day has 23.
            day = (day.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=self.zone)
        raise ValueError("--recurrence has no upcoming run")

    def _times(self) -> Iterator[tuple[int, int, int]]:
        return product(sorted(self.hours), sorted(self.minutes), sorted(self.seconds))

    def _is_day(self, day: datetime) -> bool:
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        fits = of_month or of_week if self.either else of_month and of_week
        return fits and day.month in self.months


def _values(text: str, name: str, lowest: int, highest: int) -> set[int]:
    """Return the values of a field: `*`, numbers or names, ranges and steps, divided by commas."""
    wrong = ValueError(f"invalid --recurrence: {text!r} is no {name}")
    found: set[int] = set()
    for part in text.lower().split(","):
        spread, _, step = part.partition("/")
        if step and not (step.isdecimal() and int(step)):
            raise wrong
        start, end = lowest, highest
        if spread not in ("*", "?"):
            first, dash, last = spread.partition("-")
            start = _value(first, name)
            # "5/15" begins at 5 and goes on to the end of the field; "5" alone is one value.
            end = _value(last or first, name) if dash or not step else highest
        if not lowest <= start <= end <= highest:
            raise wrong
        found |= set(range(start, end + 1, int(step or 1)))
    return found


def _value(text: str, name: str) -> int:
    """Return the number of a value, or of its name (`mon`, `jan`); -1 for anything else."""
    number = int(text) if text.isdecimal() else -1
    return _NAMED.get(name, {}).get(text[:3], number)
