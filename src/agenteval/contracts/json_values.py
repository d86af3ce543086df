"""JSON values, such as arguments and results of tools: looked up by path, compared, what differs, and shown."""

import json
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from agenteval.contracts.models import dotted
from agenteval.text.fitting import clipped
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import composed

if TYPE_CHECKING:
    from datetime import datetime, tzinfo


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def json_in(text: str) -> Any:
    """The object or list that a text is, as results of tools often are; None for any other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def held_in(result: Any) -> Any:
    """The object or list that a tool's result is, or holds as text; None for any other."""
    return json_in(result) if isinstance(result, str) else result if isinstance(result, dict | list) else None


def json_among(text: str) -> list[Any]:
    """The prose of a text and the objects or lists of objects that it holds, in order: `2 results: [{"id": 1}, {"id": 2}]`.

    Prose is text, what is JSON is a dict or a list; several values with only blanks between them are one list. Without any
    there is nothing but the text.
    """
    if "{" not in text:  # as in most texts
        return [text]
    parts: list[Any] = []
    decode, at, end, failed = json.JSONDecoder().raw_decode, 0, 0, 0
    while failed < MOST_FAILED and (match := _OPENING.search(text, at)):
        at = match.start()
        try:
            value, after = decode(text, at)
        except (ValueError, RecursionError):
            value, after = None, at + 1
        if isinstance(value, dict) or (
            isinstance(value, list) and any(isinstance(each, dict) for each in value)
        ):
            _add(parts, text[end:at], value)
            end = after
        else:
            failed += 1
        at = after
    rest = text[end:]
    return [*parts, rest] if rest.strip() or not parts else parts


def _add(parts: list[Any], prose: str, value: Any) -> None:
    """Add a value, and the prose before it; without any, to the values before."""
    last = parts[-1] if parts and not prose.strip(" \t\r\n,") else None
    if last is None:
        parts += [prose, value] if prose.strip() else [value]
    elif isinstance(last, list) and isinstance(value, dict):
        last.append(value)
    else:
        parts[-1] = [last, value]


_OPENING = lazy(r"(?<![\w\"'{\[\\])[{\[](?=\s*[{\[\"])")
MOST_FAILED = 50
"""The most brackets of a text that may begin no JSON, before the rest is taken for prose."""


def lookup(args: Any, path: str) -> Any:
    """The value at a dotted path (list items by index), or MISSING. A key that holds dots wins over a path."""
    args, path = _composed_keys(args), composed(path)
    if isinstance(args, dict) and path in args:
        return args[path]
    here = args
    for step in path.split("."):
        here = _composed_keys(here)
        if isinstance(here, dict) and step in here:
            here = here[step]
        elif isinstance(here, list) and _is_index(step) and int(step) < len(here):
            here = here[int(step)]
        else:
            return MISSING
    return here


def _composed_keys(value: Any) -> Any:
    """A mapping with its keys composed, as paths are; anything else as it is."""
    if isinstance(value, dict) and not all(map(str.isascii, value)):
        return {composed(key): item for key, item in value.items()}
    return value


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdigit() and len(step) < 10


def equal(got: Any, want: Any) -> bool:
    """Equal as JSON values: `true` is not `1`, `1.0` is `1`. An `é` is the same in one character as in two."""
    if isinstance(got, bool) or isinstance(want, bool):
        return got is want
    if isinstance(got, dict) and isinstance(want, dict):
        got, want = _composed_keys(got), _composed_keys(want)
        return got.keys() == want.keys() and all(equal(got[key], want[key]) for key in got)
    if isinstance(got, list) and isinstance(want, list):
        return len(got) == len(want) and all(map(equal, got, want))
    if isinstance(got, str) and isinstance(want, str):
        return got == want or composed(got) == composed(want)
    return bool(got == want)


def args_key(args: Any, ignore: Iterable[str] = ()) -> str:
    """Equal for equal arguments, whatever their key order; `ignore` names keys, or dotted paths, to leave out.

    Equal as JSON values: `1.0` is `1`, and `true` is not; an `é` is the same in one character as in two.
    """
    for path in ignore:
        args = _without(args, path)
    key = composed(_SORTED.encode(args))
    return composed(_SORTED.encode(_with_whole_numbers(args))) if _FLOAT.search(key) else key


_FLOAT = lazy(r"\d(?:\.0|[eE])")
"""A sign of a number that may be a whole one in another spelling."""


def _without(value: Any, path: str) -> Any:
    """A JSON value without what is at a path (list items by index). A key that holds dots wins over a path."""
    if isinstance(value, dict) and path in value:
        return {key: item for key, item in value.items() if key != path}
    step, _, rest = path.partition(".")
    if isinstance(value, dict) and step in value:
        return {**value, step: _without(value[step], rest)}
    if isinstance(value, list):
        return [
            _without(item, rest) if str(place) == step else item
            for place, item in enumerate(value)
            if str(place) != path
        ]
    return value


def _with_whole_numbers(value: Any) -> Any:
    """A JSON value with numbers such as 1.0 as whole ones."""
    if isinstance(value, dict):
        return {name: _with_whole_numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_SORTED = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str)


def moment(value: Any, zone: "tzinfo | None" = None) -> "datetime | None":
    """Read a moment in ISO 8601; None for any other text. A moment without an offset is in the zone, if that is given."""
    from datetime import datetime

    try:
        found = datetime.fromisoformat(value.strip())
    except (AttributeError, TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=zone)


def time_zone(name: Any) -> "tzinfo | None":
    """A time zone by its IANA name or its offset, `+01:00`; None for what is neither."""
    from datetime import UTC
    from zoneinfo import ZoneInfo

    if name == "UTC":  # known where no other zone is
        return UTC
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, TypeError, ValueError):
        there = moment(f"2026-01-01T00:00{name}")
        return there.tzinfo if there else None


def seconds_between(one: "datetime", other: "datetime") -> float | None:
    """Return the seconds from the first moment to the second; None where only one of them has an offset."""
    if (one.tzinfo is None) != (other.tzinfo is None):
        return None
    return (other - one).total_seconds()


def show(value: Any) -> str:
    """A value for a message, on one line."""
    if isinstance(value, _Missing):
        return "nothing"
    return json.dumps(value, ensure_ascii=False, default=str)


# Differences -----------------------------------------------------------------------------------------------------

MOST_LINES = 5
LONGEST_VALUE = 80
MOST_ALIGNED = 200
"""The most items of a list that are paired by their equality: the time grows with the square."""
_CONTEXT = 20
"""Characters before what is different."""


class Difference(NamedTuple):
    """A part that differs: the path to it (empty for the whole), and its value on either side, or MISSING."""

    path: tuple[str | int, ...]
    one: Any
    other: Any

    @property
    def place(self) -> str:
        """The path as text: `items[0].title`."""
        return dotted(self.path)

    def __str__(self) -> str:
        """`items[0].title: "before" → "after"`; of long texts, the part around the difference."""
        if self.one is MISSING:
            words = f"added {brief(self.other)}"
        elif self.other is MISSING:
            words = f"removed {brief(self.one)}"
        else:
            sides = self.one, self.other
            words = " → ".join(
                map(
                    brief,
                    around_difference(*sides) if all(isinstance(side, str) for side in sides) else sides,
                )
            )
        return f"{self.place}: {words}" if self.path else words


def find_differences(one: Any, other: Any, path: tuple[str | int, ...] = ()) -> Iterator[Difference]:
    """Yield the smallest parts in which two JSON values differ, in their order; `equal` decides on equality."""
    if equal(one, other):
        return
    if isinstance(one, dict) and isinstance(other, dict):
        one, other = _composed_keys(one), _composed_keys(other)
        pairs: Iterable[tuple[str | int, Any, Any]] = (
            (key, one.get(key, MISSING), other.get(key, MISSING)) for key in {**one, **other}
        )
    elif isinstance(one, list) and isinstance(other, list):
        pairs = _paired(one, other)
    else:
        yield Difference(path, one, other)
        return
    for step, mine, theirs in pairs:
        yield from find_differences(mine, theirs, (*path, step))


def _paired(one: list[Any], other: list[Any]) -> Iterable[tuple[int, Any, Any]]:
    """Pair the items of two lists. In lists of different lengths, equal items are found first.

    With one item missing, each later item would otherwise be compared with its neighbour.
    """
    if len(one) == len(other) or max(len(one), len(other)) > MOST_ALIGNED:
        return ((at, *pair) for at, pair in enumerate(zip_longest(one, other, fillvalue=MISSING)))
    from deepdiff import DeepDiff  # its import takes 0.15 s: nothing else may need it

    items = {args_key(item): item for item in (*one, *other)}
    tree = DeepDiff([*map(args_key, one)], [*map(args_key, other)], view="tree")
    changes = [
        (change.path(output_format="list")[0], items.get(change.t1, MISSING), items.get(change.t2, MISSING))
        for kind in tree.values()
        for change in kind
    ]
    return sorted(changes, key=itemgetter(0))


def differences(
    one: Any, other: Any, *, names: tuple[str, str] = ("the fixture", "the recording"), whole: str = "result"
) -> Iterator[str]:
    """The first few differences between two JSON values that are not equal, one line each.

    `names` are what the two are called, `whole` what the values are.
    """
    found = [*find_differences(one, other)]
    for each in found[:MOST_LINES]:
        yield _line(each, names, whole)
    if len(found) > MOST_LINES:
        yield f"… and {len(found) - MOST_LINES} more differences"


def first_difference(one: str, other: str) -> int:
    """The place of the first character that differs; the length of the shorter text when the other continues it."""
    places = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(places, min(len(one), len(other)))


def around_difference(one: str, other: str) -> tuple[str, str]:
    """Of two texts the stretch around what is different; short ones as they are."""
    if max(len(one), len(other)) <= LONGEST_VALUE:
        return one, other
    start = max(0, first_difference(one, other) - _CONTEXT)
    lead = "…" if start else ""
    return lead + clipped(one[start:], LONGEST_VALUE), lead + clipped(other[start:], LONGEST_VALUE)


def brief(value: Any, longest: int = LONGEST_VALUE) -> str:
    """A value as JSON on one line, cut when it is long."""
    return clipped(show(value), longest)


def _line(found: Difference, names: tuple[str, str], whole: str) -> str:
    one, other = names
    place = found.place or whole
    if found.one is MISSING:
        return f"{place}: only {other} has it, {brief(found.other)}"
    if found.other is MISSING:
        return f"{place}: only {one} has it, {brief(found.one)}"
    return f"{place}: {one} has {brief(found.one)}, {other} {brief(found.other)}"
