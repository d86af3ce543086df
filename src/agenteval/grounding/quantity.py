"""A number or a time of day that a text states."""

from dataclasses import dataclass
from decimal import Decimal

from agenteval.lazyregex import lazy


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number: `values` holds the readings it may have (`5m` is 5 metres or 5 million).

    `unit` is `%`, a currency, `:` for a time of day in minutes, `th` for an ordinal, or empty. `about` says
    that the text calls it approximate, `clock` that it may be an hour, `at 9`; `text` is as written, `start` and
    `end` are offsets. A telephone number with `+` is one number with that unit.
    """

    text: str
    values: frozenset[Decimal]
    unit: str
    about: bool
    start: int
    end: int
    clock: bool = False


_LISTED = lazy(r"(?: [\w'-]{1,30}){1,4}[*_]{0,2}:(?!\d)")


def counts_what_follows(quantity: Quantity, text: str) -> bool:
    """Whether a number in words counts what the text lists after a colon: "three things: …"."""
    return quantity.text[0].isalpha() and bool(_LISTED.match(text, quantity.end))


def is_weak(quantity: Quantity) -> bool:
    """Whether a number in words is too small to be a claim by itself: one, first, second, and zero."""
    return quantity.text[0].isalpha() and max(quantity.values) <= 2


_BEFORE_HOUR = frozenset(
    """
    at from to until till by before after between and around um ab von bis und gegen vor nach zwischen la las a à de et y
    entre desde hasta dès vers
    """.split()  # noqa: SIM905
)


_GOES_ON = lazy(
    r"[ -]?\w{0,3}\d|[.:,/]\d|[ -]?[%°$€£¥]|[ -](?:percent|per cent|pct|degrees|dollars?|euros?|points?)\b"
)


def may_be_hour(before: str, after: str) -> bool:
    """Whether a small number between these texts may be an hour without its minutes: "at 9", "6:30-8"."""
    words = before.split()
    last = words[-1].lower().lstrip("(*_") if words else ""
    return (last in _BEFORE_HOUR or last.endswith(("-", "–"))) and not _GOES_ON.match(after)  # noqa: RUF001
