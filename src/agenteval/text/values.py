"""The days, dates, times and numbers of a text, compared with those of another one whatever their spelling."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from agenteval.text.lazy_regexes import lazy
from agenteval.text.words import plain_form, raw_words


class Value(NamedTuple):
    """A day of the week, date, time or number in a text.

    The kind of a number is its unit, or the noun that it counts.
    """

    kind: object
    text: str
    value: Any

    def agrees(self, other: "Value") -> bool:
        """Return whether both may be the same."""
        if self.kind != other.kind:
            return False
        if self.kind == "date":
            return bool(self.value.agrees(other.value))
        return bool(self.value & other.value)

    def is_stated_by(self, other: "Value") -> bool:
        """Return whether the other value is at least as precise: a month does not stand for a day."""
        return self.agrees(other) and (self.kind != "date" or bool(self.value.covers(other.value)))

    def equals(self, other: "Value") -> bool:
        """Return whether both are equal and equally precise: 10:00 may be 10 pm, but is less precise."""
        if self.kind == "date":
            return self.is_stated_by(other) and other.is_stated_by(self)
        return self.kind == other.kind and bool(self.value == other.value)


class Comparison:
    """The values of a fact compared with those of an answer."""

    def __init__(self, fact: str, answer: str, asked: Sequence[str]) -> None:
        self.stated = [*_values(fact)]
        self.said = [value for message in asked for value in _values(message)] if self.stated else []
        self.got = [*_values(answer)] if self.stated else []
        self.repeated = [value for value in self.stated if any(map(value.is_stated_by, self.got))]
        """The values that the answer repeats, in any spelling: `March 4` is `4 March`."""

    @property
    def repeats_all(self) -> bool:
        """True if the answer has all values that its user's messages lack, one of which cannot be chance."""
        news = [value for value in self.stated if not _among(value, self.said)]
        telling = any(sum(map(str.isdigit, value.text)) > 1 for value in news)
        return telling and all(value in self.repeated for value in news)

    def contradicted(self) -> Iterator[tuple[str, str]]:
        """Yield values that the answer replaces by others of the same kind, with those.

        Values in the user's messages need not be repeated, so their kinds are not judged.
        """
        for kind in dict.fromkeys(value.kind for value in self.stated):
            wanted, got = (
                [each for each in values if each.kind == kind] for values in (self.stated, self.got)
            )
            if got and not any(_among(value, (*got, *self.said)) for value in wanted):
                yield told(wanted), told(got)


def _among(value: Value, others: Sequence[Value]) -> bool:
    return any(value.agrees(other) for other in others)


def spellings(value: str, text: str) -> list[str]:
    """List the spellings of a value that a text may use: as it is and, for a lone date, time or number, those of
    this text.
    """
    alone = _alone(value)
    same = [each.text for each in _values(text) if alone.equals(each)] if alone else []
    return list(dict.fromkeys([value, *same]))


@lru_cache(maxsize=64)
def _alone(text: str) -> Value | None:
    """Return the date, time or number of which a text consists, or None."""
    found = [*_values(text)]
    return found[0] if len(found) == 1 and found[0].kind != "day" and found[0].text == text.strip() else None


def told(values: Sequence[Value]) -> str:
    """Join values as they are written, each once."""
    return " and ".join(dict.fromkeys(value.text for value in values))


def _values(text: str) -> Iterator[Value]:
    from agenteval.text.dates import dates, tells_week, weekday
    from agenteval.text.numbers import numbers

    days = [] if tells_week(text) else raw_words(text)
    for word in days:
        day = weekday(word.casefold())
        if day and (len(word.removesuffix("s")) > len("sun") or word[0].isupper()):
            yield Value("day", word, {day})
    found = dates(text)
    for date in found:
        yield Value("date", date.text, date)
    for number in numbers(text, [(date.start, date.end) for date in found]):
        counted = _counted(text, number.end) if number.unit in ("", "th") else number.unit
        is_item = _ITEM.fullmatch(text, text.rfind("\n", 0, number.start) + 1, number.end + 1)
        if not is_item and (counted or not number.spelled):  # "one of them" states no number
            yield Value((number.unit, counted), number.text, number.values)


def _counted(text: str, end: int) -> str:
    """Return the noun that a number counts: the plain form of the word right after it, or ""."""
    following = _FOLLOWING.match(text, end)
    return plain_form(following.group(1)) if following else ""


_FOLLOWING = lazy(r"[ \t-]+([^\W\d_]+)")
_ITEM = lazy(r"\s*\(?\d{1,3}[.)]")
"""The number of a list's item, which is no value."""
