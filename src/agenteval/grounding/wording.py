"""What a text says, apart from quantities and links: its tokens, proper names and quotes."""

# ruff: noqa: RUF001 - the quotation marks and apostrophes that outputs use are meant

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from agenteval.grounding.weekdays import weekday, weekdays_in_small
from agenteval.language.bare_words import bare_words
from agenteval.language.content_words import plain_form
from agenteval.language.european import is_function_word, is_german
from agenteval.lazyregex import lazy
from agenteval.text import fold

_TOKEN = lazy(r"[^\W_]+(?:['’][^\W_]+)*")


def tokens(text: str) -> list[str]:
    """The words of a text, folded, without possessive endings; hyphenated words are several."""
    folded = fold(text).replace("’", "'")
    found = bare_words(folded.replace("\0", " "))
    return [word.removesuffix("'s") for word in found] if "'s" in folded else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A proper name as written, and its tokens. For a unit, `number` is the number before it: the 24 of `24 GB`."""

    text: str
    tokens: tuple[str, ...]
    number: str = ""


SHORT = 3
"""Letters of what may be cut short: `St.`, `Gen.`"""
_CAPITAL_FIRST = r"[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я][\w’'&-]*"
_CAPITALISED = lazy(_CAPITAL_FIRST)
_CAPITALISED_ANYWHERE = lazy(rf"{_CAPITAL_FIRST}|(?<![a-z])[a-z]{{1,12}}[A-Z]\w*")
_INITIALS = lazy(r"(?:[A-Z]\.){2,}")
_CAPITAL_INSIDE = lazy(r"[a-z][A-Z]")
_TITLES = frozenset(["mr", "mrs", "ms", "dr", "prof", "sir", "herr", "herrn", "frau", "mme", "sra"])
_OF_NUMBERS = (
    "UTC",
    "GMT",
    "AM",
    "PM",
    "USD",
    "EUR",
    "GBP",
    "JPY",
    "Celsius",
    "Fahrenheit",
    "IBAN",
    "BIC",
    "ETA",
    "ISBN",
    "ID",
    "URL",
    "OK",
)
"""What stands beside times and amounts, and says what a number or a link is; and what says yes."""
_OPENERS = frozenset(
    re.findall(
        r"\w+",
        "mostly mainly largely primarily yesterday today tomorrow tonight meanwhile however additionally overall according recently earlier later"
        " finally next last previously currently neither according one despite although though since unlike like instead moreover"
        " furthermore similarly separately elsewhere notably interestingly reportedly unfortunately source sources dear"
        " two three four five six seven eight nine ten call phone ring email write reach contact ask text message visit meet see open choose use try check join book",
    )
)
_STARTS = lazy(
    r"(?:\A|[.!?:…;][\"'”’)\]*_]*\s|[\"“(\[*_>¡¿]|[-–—•|\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]\s)\s*\Z"
)
_LABEL = lazy(r"\W{0,4}[^:.!?\n{}]{1,60}:(?=\W)")


def names(text: str) -> list[Name]:
    """The proper names of a claim: capitalised words, and runs of them.

    A word that begins a sentence is none by itself, unless its capitals are unusual (NVIDIA, GitHub). Of a text
    in capitals throughout, and of the label before a colon, only the unusual ones are names.
    """
    label = _LABEL.match(text)
    start = label.end() if label else 0
    titled = _is_titled(text[start:])
    runs = list(_runs(text))
    german = bool(runs) and is_german(text)
    found = []
    for run in _without_days(runs) if german else runs:
        words = [word for word in run if not _is_function_word(word, text, first=word is run[0])]
        if german:
            words = _german_name(run, words, text)
        if titled or run[0].start() < start:
            words = [word for word in words if _has_unusual_capitals(word.group())]
        if not words or (
            len(words) == 1 and _begins(words[0], text) and not _has_unusual_capitals(words[0].group())
        ):
            continue
        written = " ".join(word.group() for word in words)
        if pieces := tuple(tokens(_COMPOUND.sub("", written.replace(".", "")))):
            found.append(Name(text=written, tokens=pieces, number=_number_before(run[0], text)))
    days = (match.group() for match in weekdays_in_small(text))
    return [*found, *(Name(text=day, tokens=(fold(day),)) for day in days)]


_COMPOUND = lazy(r"-[a-z]\w+")
"""What is said of a name in one word with it: `MIT-licensed`."""
_SCALES = ("K", "M", "B", "T")
"""Letters after a number that its value tells."""
_OF_VALUE = lazy(r"[KMBT]|[kKMGT]i?B|G")
"""A scale, or a unit of data: what a number means, and no name."""
_UNITS = lazy(r"(?:[hkKMGTP]i?)?(?:B|[Bb]it|Hz|W|Wh|V|A|Pa|J|N|L|C|F)|G|dB")
_COUNT = lazy(r"\d[\d.,]* ?\Z")
_COUNTED = lazy(r"(?:\d|\b(?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|einer?)) \Z")


def _german_name(run: list[re.Match[str]], words: list[re.Match[str]], text: str) -> list[re.Match[str]]:
    """The last word of a run that may be a name. German writes nouns with a capital: one alone says nothing.

    A day of the week does. Two in a row, not after a number, are a name, maybe after what it is a name of; and so is one after `Herr` or `Frau`.
    """
    usual = [word for word in words if not _has_unusual_capitals(word.group())]
    is_name = fold(run[0].group()) in _TITLES or (
        len(usual) > 1 and not _COUNTED.search(text[max(0, run[0].start() - 8) : run[0].start()])
    )
    return [
        word
        for word in words
        if word not in usual or (is_name and word is usual[-1]) or weekday(fold(word.group()))
    ]


def _without_days(runs: Iterable[list[re.Match[str]]]) -> Iterator[list[re.Match[str]]]:
    """The runs, each day of the week as one of its own: "Mittwoch Nudeln"."""
    for run in runs:
        days = [at for at, word in enumerate(run) if weekday(fold(word.group()))]
        ends = sorted({0, *days, *(at + 1 for at in days), len(run)})
        yield from (run[start:end] for start, end in pairwise(ends))


def _runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Capitalised words with only a blank between them; a run ends at `U.S.`."""
    run: list[re.Match[str]] = []
    pattern = _CAPITALISED_ANYWHERE if _CAPITAL_INSIDE.search(text) else _CAPITALISED
    for match in pattern.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if before and (before.isalnum() or before in "_@/.#-'’°"):
            continue
        number = _number_before(match, text)
        if number and _OF_VALUE.fullmatch(match.group()):
            continue
        if run and (
            run[-1].group().endswith(".")
            or not _goes_on(run[-1].group(), text[run[-1].end() : match.start()])
            or _number_before(run[0], text)
        ):
            yield run
            run = []
        initials = _INITIALS.match(text, match.start())
        run.append(
            initials if initials and all(_is_function_word(each, text, first=True) for each in run) else match
        )
    if run:
        yield run


def _goes_on(word: str, between: str) -> bool:
    """Whether what stands after a word lets its name go on: a blank, or the point of what is cut short, and no end of a sentence."""
    return between == " " or (between == ". " and (len(word) <= SHORT or fold(word) in _TITLES))


def _number_before(word: re.Match[str], text: str) -> str:
    """The number before a word that may be its unit."""
    start = word.start()
    if not text[max(0, start - 2) : start].rstrip()[-1:].isdigit():
        return ""
    if word.group() not in _SCALES and not _UNITS.fullmatch(word.group()):
        return ""
    count = _COUNT.search(text, max(0, start - 12), start)
    return count.group().rstrip() if count else ""


def _is_function_word(word: re.Match[str], text: str, *, first: bool) -> bool:
    written = word.group()
    folded = fold(written).replace("’", "'").removesuffix("'s")
    if len(written) == 1:  # the A of "Lab A" is a name, the A of "A lab" is none
        planned = text[: word.start()].lower().endswith("plan ")  # "have a plan B"
        alone = written == "I" or (written == "A" and first) or _begins(word, text) or planned
        return alone and text[word.end() : word.end() + 1] != "."
    if (
        folded in _TITLES
        or written.replace(".", "") in _OF_NUMBERS
        or (first and folded in _OPENERS and _begins(word, text))
    ):
        return True
    if first and is_function_word(folded) and _begins(word, text):
        return True
    return not plain_form(folded) and not written.isupper()


def _begins(word: re.Match[str], text: str) -> bool:
    start = word.start()
    return start == 0 or bool(_STARTS.search(text[max(0, start - 6) : start]))


def _has_unusual_capitals(word: str) -> bool:
    pieces = word.replace("'", "-").replace("’", "-").split("-")
    return any(any(map(str.isupper, piece[1:])) for piece in pieces)


def _is_titled(text: str) -> bool:
    """Whether all words that carry meaning are capitalised, and there are enough of them to tell."""
    count = 0
    for match in _TOKEN.finditer(text[:2000]):
        word = match.group()
        if word[0].isalpha() and plain_form(word):
            if not word[0].isupper():
                return False
            count += 1
    return count >= 5


_ELIDED = r"(?i:(?:tis|twas|twere|til|till|em|cause|n|round|bout|\d\ds)\b|\d\d[.,;:)])"
"""What follows an apostrophe that stands for letters or digits left out: `'tis`, the `'90s`."""
_OTHER_QUOTES = (
    r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»"
    rf"|‘(?!{_ELIDED})((?:[^‘’]|(?<=\w)’(?=\w))+)’(?!\w)|‚((?:[^‚‘’]|(?<=\w)’(?=\w))+)[‘’]|``\s*+([^`'\s](?:[^`']*[^`'\s])?)\s*''"
    rf"|(?<![^\s(\[{{:—–\"“-])'(?=[^\s'])(?!{_ELIDED})((?:[^'\n]|(?<=\w)'(?=\w))*[^\s'])'(?![\w'])"
)
"""Single marks are apostrophes too: inside a quotation only between letters, and as its ends only beside none."""
_QUOTE = lazy(rf"\"([^\"]+)\"|{_OTHER_QUOTES}")
_TIGHT_QUOTE = lazy(rf"\"([^\s\"](?:[^\"]*[^\s\"])?)\"|{_OTHER_QUOTES}")
"""The same without blanks inside the marks."""
_CLOSES_FIRST = lazy(r"[^\"]*[^\s\"(]\"[\s.,;:!?]")
"""A text whose first mark stands after a word and before none: its other half is in a sentence before."""
_ELLIPSIS = lazy(r"\[?(?:\.{3,}|…)\]?")


def quotes(text: str) -> list[str]:
    """What stands in quotation marks and has three words or more.

    Where a mark is without its other half, as when a quotation began a sentence before, blanks tell which ones open.
    """
    unpaired = text.count('"') % 2 or _CLOSES_FIRST.match(text)
    pattern = _TIGHT_QUOTE if unpaired else _QUOTE
    found = ["".join(part or "" for part in match.groups()) for match in pattern.finditer(text)]
    return [quote for quote in found if len(tokens(quote)) >= 3]


def quote_pieces(quote: str) -> list[list[str]]:
    """The tokens of a quote, piece by piece: an ellipsis leaves something out."""
    return [piece for piece in map(tokens, _ELLIPSIS.split(quote)) if piece]
