"""One source as it is read: its text in one piece, and what stands in it.

Each kind of thing is found when it is first asked for, and kept, also from one output to the next: the same fixture
is read by many checks and tests.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import accumulate

from agenteval.grounding.crons import Schedule, crons
from agenteval.grounding.dates import Date, dates
from agenteval.grounding.durations import between, durations, idioms, in_minutes
from agenteval.grounding.links import Link, addresses, links, spelled_out
from agenteval.grounding.quantities import FRACTIONS, IDENTIFIER, SHARED_SCALE, apart_at_commas, in_digits
from agenteval.grounding.quantity import Quantity, apart
from agenteval.grounding.times import times
from agenteval.grounding.wording import tokens
from agenteval.lazyregex import lazy
from agenteval.text import fold, lowered

LONGEST_KEPT = 30_000
"""Characters of the sources that are kept as they were read: memory stays bounded."""


class Reading:
    """What one source holds. `texts` are its texts, `text` is all of them, a line each."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.text = "\n".join(texts)
        self.folded = fold(self.text).replace("’", "'")  # noqa: RUF001
        """The text folded, apostrophes straight."""

    @cached_property
    def _starts(self) -> "array[int]":
        return array("L", accumulate((len(text) + 1 for text in self.texts), initial=0))

    def text_at(self, offset: int) -> int:
        """The number of the text that stands at an offset in `text`."""
        return bisect_right(self._starts, offset) - 1

    @cached_property
    def lowered(self) -> str:
        """The text in lower case, each character in its place."""
        return lowered(self.text)

    @cached_property
    def streams(self) -> list[str]:
        """The tokens of each text, with a blank before and after each."""
        return [f" {' '.join(tokens(text))} " for text in self.texts]

    @cached_property
    def links(self) -> list[Link]:
        """The references, in order."""
        return [link for text in self.texts for link in links(text)]

    @cached_property
    def link_keys(self) -> frozenset[str]:
        """The references as they are compared."""
        return frozenset(link.key for link in self.links)

    @cached_property
    def address_keys(self) -> frozenset[str]:
        """The e-mail addresses as they are compared, however they are written."""
        return frozenset(link.key for text in (self.text, spelled_out(self.text)) for link in addresses(text))

    @cached_property
    def dates(self) -> list[Date]:
        """The dates, in order; their offsets are those in `text`."""
        return dates(self.text)

    @cached_property
    def texts_by_date(self) -> list[tuple[Date, set[int]]]:
        """The different dates, each with the numbers of the texts that state it."""
        found: dict[object, tuple[Date, set[int]]] = {}
        for date in self.dates:
            _, texts = found.setdefault((date.year, date.month, date.day, date.other), (date, set()))
            texts.add(self.text_at(date.start))
        return list(found.values())

    @cached_property
    def clock_times(self) -> list[Quantity]:
        """The times of day, in order."""
        return sorted(times(apart(self.text)), key=lambda time: time.start)

    @cached_property
    def times_in_words(self) -> list[Quantity]:
        """Those that begin in words, and so are not found by their digits."""
        return [time for time in self.clock_times if time.text[0].isalpha()]

    @cached_property
    def texts_by_time(self) -> dict[Decimal, set[int]]:
        """The times of day, in minutes, each with the numbers of the texts that state it."""
        found: dict[Decimal, set[int]] = {}
        for time in self.clock_times:
            for value in time.values:
                found.setdefault(value, set()).add(self.text_at(time.start))
        return found

    @cached_property
    def schedules(self) -> list[Schedule]:
        """The schedules of cron, in order."""
        return list(crons(self.text))

    @cached_property
    def durations(self) -> list[tuple[Decimal, int]]:
        """The lengths of time however they are told, and those between two times, in seconds, and where each stands in `text`."""
        text = apart(self.text)
        told = ((value, each.start) for each in (*durations(text), *idioms(text)) for value in each.values)
        return sorted([*told, *in_minutes(text), *between(self.clock_times, self.text)])

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """The names with digits in them, squashed; `LH 454` may be one."""
        found: set[str] = set()
        for text in map(apart, self.texts):
            found.update(
                match.group() for pattern in (IDENTIFIER, _APART) for match in pattern.finditer(text)
            )
            found.update(_in_small(text))
        return frozenset(map(squash, found))

    @cached_property
    def initials(self) -> str:
        """The first letters of each run of capitalised words, in lower case, a blank after each run; those of `U.S.` and `pull_request` too."""
        runs = _CAPITALISED_RUN.findall(self.text)
        runs += [name.replace("_", " ").title() for name in set(_NAME_OF_DATA.findall(self.text))]
        dotted = (self.text[each.start() - 1 : each.end()] for each in _DOTTED.finditer(self.text))
        runs += [run.replace(".", " ") for run in dotted]
        letters = [
            "".join([word[0] for word in run.split() if word[0].isupper()]) for run in dict.fromkeys(runs)
        ]
        return " ".join(letters).lower()

    @cached_property
    def numbers(self) -> tuple["array[float]", "array[int]"]:
        """Every number in digits, in each way it may be read, and where it stands."""
        values, places = array("d"), array("L")
        text, spaced = self.text, False
        for match in _RUN.finditer(text):
            run, scale = match.groups()
            if not scale and (shared := SHARED_SCALE.match(text, match.end())):
                scale = shared[1][0]
            if scale or not run.isdigit():
                found = _readings(run, scale)
                values.extend(found)
                places.extend((match.start(),) * len(found))
            else:
                values.append(float(run))
                places.append(match.start())
            end = match.end()
            spaced = spaced or bool(_GOES_ON.match(text, end))
        for match in SPACED.finditer(text) if spaced else ():
            found = _readings(match.group(1).replace(" ", ""), match.group(2))
            values.extend(found)
            places.extend((match.start(),) * len(found))
        for match in () if text.isascii() else _WITH_FRACTION.finditer(text):
            values.append(float(match[1]) + float(FRACTIONS[match[2]]))
            places.append(match.start())
        return values, places


def reading(texts: Sequence[str]) -> Reading:
    """What the texts of a source hold."""
    return _kept(tuple(texts)) if sum(map(len, texts)) <= LONGEST_KEPT else Reading(texts)


@lru_cache(maxsize=64)
def _kept(texts: tuple[str, ...]) -> Reading:
    return Reading(texts)


def squash(text: str) -> str:
    """Letters and digits only, folded; a version without its `v`."""
    squashed = "".join(filter(str.isalnum, fold(text)))
    return squashed[1:] if squashed[:1] == "v" and squashed[1:2].isdigit() else squashed


_APART = lazy(r"[A-Z](?<![\w-].)[A-Z]{0,3} \d{1,4}(?![\w-]|[.,:]\d)")
_AFTER_SMALL = lazy(r"-(?<=[a-z]-)\d[\w-]*|\d(?<=[a-z]\d)\d*(?=_)")
"""What begins with a plain sign is found far more quickly than the letters before it."""
_SMALL = lazy(r"(?<![\w/.-])[a-z]+\Z")
_LONGEST_SMALL = 40


def _in_small(text: str) -> Iterator[str]:
    """What a claim may begin with, `greenhouse-2`, or tell in capitals, the `co2` of `co2_ppm`."""
    for match in _AFTER_SMALL.finditer(text):
        end = match.start()
        if small := _SMALL.search(text, max(0, end - _LONGEST_SMALL), end):
            yield small.group() + match.group()


_NAME_OF_DATA = lazy(r"\b[a-z]+(?:_[a-z]+){1,4}\b")
_DOTTED = lazy(r"\.(?<=[A-Z]\.)(?<![\w.]..)(?: ?[A-Z]\.)+")
"""What follows the first letter of `U.S.`: what begins with a point is found far more quickly."""
_CAPITALISED_RUN = lazy(
    r"[A-Z](?<!\w[A-Z])[\w'-]{1,30}+(?: (?:of |for |and |the )?[A-Z](?<!\w[A-Z])[\w'-]{1,30}+){1,5}+"
)
_RUN = lazy(
    r"(\d\d*(?:[,.\u00a0\u202f'\u2019]\d+)*)(?:[ -]?([hkmbtHKMBT百千万萬亿億])(?=[nm]?\b|undred|housand|r?ill[ioó]|(?:io|rd)\b|(?<=[百千万萬亿億])))?"
)
"""A number in digits, and the first letter of the scale that may follow. What begins in `\\d\\d*` is found quicker than `\\d+`."""
_WITH_FRACTION = lazy(r"(?<![\d.,])(\d{1,9})([½¼¾])")
_GOES_ON = lazy(r",? \d{3}(?!\d)|\. \d")
SPACED = lazy(
    r"(?<!\d)(\d(?:\d{0,2}(?:,? \d{3}(?!\d))+(?:\. ?\d+|,\d\d?)?|\d{0,8}\. \d+))(?!\d)(?: ?([hkmbtHKMBT]))?"
)
"""A number with blanks, which may be two numbers as well: `13 000`, and `13, 000` and `98. 7` of a tokenizer."""
_SEPARATOR = lazy(r"[,.\u00a0\u202f'\u2019]+")
_POWERS = {"h": (2,), "k": (3,), "t": (3, 12), "m": (6, 9), "b": (9,)}
_POWERS |= {"百": (2, 6), "千": (3, 7), "万": (4,), "萬": (4,), "亿": (8,), "億": (8,)}


def _readings(run: str, letter: str | None) -> list[float]:
    """What digits may mean: separated groups one number or several, a letter after them a scale or nothing."""
    if not letter and run.isdigit():
        return [float(run)]
    run = run.rstrip(",.\u00a0\u202f")
    written = [run]
    if not run.isdigit():
        written = [in_digits(run)]
        if written[0] != run or run.count(".") > 1:
            written += _SEPARATOR.split(run)
        written += apart_at_commas(run)
        if run[-4:-3] == "." and run[:-4].isdigit() and len(run) <= 7:
            written.append(run.replace(".", ""))  # a thousand in German and Spanish
    powers = (0, *_POWERS[letter.lower()]) if letter else (0,)
    return [float(f"{digits}e{power}") for digits in written if digits.count(".") <= 1 for power in powers]
