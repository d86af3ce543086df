"""A number or a time of day that a text states, and what the words around it make of it: an hour, a day, a count, an approximation."""

from dataclasses import dataclass
from decimal import Decimal

from agenteval.language.content_words import UNSPACED, carries_content
from agenteval.lazyregex import lazy

METRES = "m"
"""The unit of what may be metres as well as millions: it fits what has no unit."""
NEARLY = Decimal("0.05")
"""How far an approximate number ("about 60") may be from the exact one, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number: `values` holds the readings it may have (`5m` is 5 metres or 5 million); `start` and `end` are offsets.

    `unit` is `%`, a currency, a unit of measure (which is no part of `text`), `m` for metres or millions, `duration` for
    a length of time in seconds, `:` for a time of day in minutes, `th` for an ordinal, `+` for a telephone number (one
    number with all its digits), or empty.

    `about` says that the text calls it approximate, `over` that it is less than the exact one. `nearly` is the share by
    which the exact number may differ: that of `about 60`, and half of the last digit of `15.2k` and `31 °C`; what is
    `measured`, and percentages, are often told with a digit less. `clock` says that it may be an hour: `at`, as in
    `at 9`, or `to`, only beside another time, as in `6:30 to 8`. As a `day` it may be one of a month, `the 12th`, as a `version`
    one cut short, `Node 20`.
    """

    text: str
    values: frozenset[Decimal]
    unit: str
    about: bool
    start: int
    end: int
    nearly: Decimal = Decimal(0)
    measured: bool = False
    over: bool = False
    clock: str = ""
    day: bool = False
    version: bool = False


def rounding(value: Decimal, step: Decimal) -> Decimal:
    """By what share a number rounds that is told in steps of this size."""
    return min(step / 2 / value, NEARLY) if value else Decimal(0)


def are_nearly_equal(one: Quantity, other: Quantity) -> bool:
    """Whether two numbers may be the same, as far as either is exact."""
    share = max(one.nearly, other.nearly)
    return any(abs(mine - theirs) <= abs(theirs) * share for mine in one.values for theirs in other.values)


def nearly(value: Decimal) -> Decimal:
    """By what share the exact number may differ from what is called `about` a whole one: below ten, by a half."""
    return max(NEARLY, Decimal("0.5") / value) if 0 < value < 10 else NEARLY


HOUR_SIGNS = ("点", "點", "时", "時")
_UNSPACED = lazy(
    rf"[{UNSPACED}](?<!\d[百千万萬亿億月日号號])(?<!\d[百千][万萬])(?<!\d[点點时時](?!间|間))(?<!\d[点點时時]半)"
)


def apart(text: str) -> str:
    """The text with marks in the place of what is written without blanks, as Chinese is: numbers are no parts of words there.

    What tells the meaning of the number before it stays: a scale, or what makes it part of a date or an hour.
    """
    return text if text.isascii() else _UNSPACED.sub("、", text)


_LISTED = lazy(r"(?: [\w'-]{1,30}){0,4}[*_]{0,2}:(?!\d)")
_COMMA = lazy(r"[,;](?:\s*(?:and|und|y|et)\b)?")
_AND = lazy(r"\b(?:and|und|y|et)\b")


def counts_what_follows(quantity: Quantity, text: str) -> bool:
    """Whether a number in words counts what the text lists after a colon: "two things: a, b", or what comes next."""
    match = quantity.text[0].isalpha() and _LISTED.match(text, quantity.end)
    if not match:
        return False
    listed, joined = _COMMA.subn(" ", text[match.end() :])
    return not listed.strip(" *_") or max(quantity.values) <= joined + 1 + len(_AND.findall(listed))


_QUARTER = lazy(r"[ -]quarter\b")


def is_quarter(quantity: Quantity, text: str) -> bool:
    """Whether an ordinal is that of a quarter: "the second quarter"."""
    return quantity.unit == "th" and bool(_QUARTER.match(text, quantity.end))


def is_weak(quantity: Quantity, text: str) -> bool:
    """Whether a number in words is too small to be a claim by itself: one, first, second, and zero."""
    return quantity.text[0].isalpha() and max(quantity.values) <= 2 and not is_quarter(quantity, text)


_BEFORE_HOUR = frozenset("at until till before after um gegen vor nach la las à hasta vers".split())  # noqa: SIM905
_BEFORE_NEXT_HOUR = frozenset(
    "from to by between and around ab von bis und zwischen a de et y entre desde dès".split()  # noqa: SIM905
)
"""What stands before other numbers as often."""


_GOES_ON = lazy(r"[ -]?(?:\w{0,3}\d|°)|[ -](?:degrees|dollars?|euros?|points?)\b")


_OF_DAY = (" in the morn", " in the even", " in the after", " at night", " o'clock")
_RANGE_ENDS = (
    r"(?=\W*\Z|[,;.)\n](?!\d)| (?:on|and|or|every|each|in|at|during|except)\b"
    r"| (?i:(?:mon|tue|wed|thu|fri|sat|sun)(?:[a-z]{0,3}days?)?|daily|weekdays)\b)"
)
_HOUR = (
    r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)"
)
_FROM = lazy(rf" ?(?:-|\u2013|to|till|until|bis|a|à) ?{_HOUR}{_RANGE_ENDS}")
_TO = lazy(rf"(?<![\w:.,/-]){_HOUR} ?(?:-|\u2013|to|till|until|bis|a|à) ?\Z")
_BETWEEN = lazy(rf"\b(?:between|zwischen|entre)(?: {_HOUR} (?:and|und|y|et))? \Z")
_END = lazy(rf"(?: (?:and|und|y|et) {_HOUR})?{_RANGE_ENDS}")


def may_be_hour(before: str, after: str) -> str:
    """Whether a small number between these texts may be an hour without its minutes: `at`, `to` or empty.

    Both numbers of "9 to 5" may be, if nothing comes after them that they could count.
    """
    if after.startswith((*HOUR_SIGNS, *_OF_DAY)) or _FROM.match(after):
        return "at"
    if _END.match(after) and (_TO.search(before) or _BETWEEN.search(before)):
        return "at"
    words = before.split()
    last = words[-1].lower().lstrip("(*_") if words else ""
    if _GOES_ON.match(after):
        return ""
    if last in _BEFORE_HOUR:
        return "at"
    return "to" if last in _BEFORE_NEXT_HOUR or last.endswith(("-", "–")) else ""  # noqa: RUF001


_AFTER_DAY = lazy(
    r"\W*\Z|[.,;:!?)]| [-\u2013\u2014] | of (?:this|the) m| (?:is|was|at|in|from|to|and|or|for|has|will|if|between|until|but|as|with|it|there|we|you|they|he|she|no|only)\b"
)


def may_be_day(before: str, after: str) -> bool:
    """Whether an ordinal in digits between these texts may be a day without its month: no `3rd quarter`."""
    return bool(_OF_WEEK.search(before)) or (
        before.lower().endswith(("the ", "(", " on ", " by ")) and bool(_AFTER_DAY.match(after))
    )


_BEFORE_DAY = lazy(r"\b(?:am|vom|zum|dem|den|der) \Z")
_DAY_DOT = lazy(r"\.(?!\d)")


def may_be_german_day(before: str, after: str) -> bool:
    """Whether a number between these texts may be a day without its month in German: "am 10. um 11:20"."""
    return bool(_DAY_DOT.match(after) and _BEFORE_DAY.search(before))


_OF_WEEK = lazy(r"(?i)\b(?:mon|tue|wed|thu|fri|sat|sun)(?:[a-z]{0,3}day)?,? the \Z")
"""What stands before the day of a date: "Friday the 4th"."""


def may_be_version(before: str) -> bool:
    """Whether a whole number after this text may be a version: of what has a name, as in `Node 20`."""
    word = (before.split() or [""])[-1].strip("*_`(")
    named = word[:1].isupper() and carries_content(word.lower())
    return word[-1:].isalnum() and (named or word == "version")


_ABOUT = (
    *"about around roughly approximately approx. some near nearly almost over under circa ca. ~ ≈".split(),  # noqa: SIM905
    *("more than", "less than", "up to", "at least"),
    *("close to", "just shy of", " gut"),
    *("just below", "bit below", "slightly below", "just above", "bit above", "slightly above"),
    *[
        " rund",
        " etwa",
        "ungefähr",
        " knapp",
        " fast",
        " über",
        "mehr als",
        "weniger als",
        "bis zu",
        "mindestens",
    ],
    *[
        " unos",
        " unas",
        " casi",
        "más de",
        "menos de",
        "cerca de",
        "alrededor de",
        "aproximadamente",
        "al menos",
    ],
    *["environ", "près de", "plus de", "moins de", "presque", "jusqu'à", "au moins"],
)
"""In English, German, Spanish and French."""
_OVER = (
    *["over", ">"],
    "more than",
    "at least",
    "just above",
    "bit above",
    "slightly above",
    " über",
    "mehr als",
    "mindestens",
    "más de",
    "al menos",
    "plus de",
    "au moins",
)


_EXACT = ("exactly", "precisely", "genau", "exactamente", "exactement")


def is_about(before: str) -> bool:
    """Whether the text before a number calls it approximate."""
    return _ends_in(before, _ABOUT)


def is_exact(before: str) -> bool:
    """Whether the text before a number says that it rounds nothing."""
    return _ends_in(before, _EXACT)


def is_over(before: str) -> bool:
    """Whether the text before a number says that the exact one is greater."""
    return _ends_in(before, _OVER)


def _ends_in(before: str, words: tuple[str, ...]) -> bool:
    """Whether the text before a number ends in one of these."""
    return before.rstrip(" -\u2212").casefold().endswith(words)
