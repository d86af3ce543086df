"""The hard facts of a text: numbers, dates, days of the week, references, codes, proper names and quotes."""

# ruff: noqa: RUF001 - the quotation marks, dashes and apostrophes that texts use are meant

import re
from collections.abc import Iterable, Iterator, Sequence

from agenteval.contracts.errors import AssertionCrashError
from agenteval.grounding.links import Link, addresses, links
from agenteval.grounding.stems import forms, words
from agenteval.text.dates import MONTHS, dates, has_digit, weekday, weekdays
from agenteval.text.lazy_regexes import lazy
from agenteval.text.numbers import TIME, Number, numbers
from agenteval.text.parts import fold, without_subscripts
from agenteval.text.words import UNSPACED_SIGN, carries_content, is_function_word, is_german

MOST_FACTS = 5_000
"""Numbers, and codes, names and references, of one claim that are judged."""


class Code:
    """A name with digits in it: `GPT-4`, `PO-77`, `v3.11.7`, a telephone number."""

    __slots__ = ("start", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text, self.start = text, start


class Name:
    """A proper name as written, and the stems of its words."""

    __slots__ = ("stems", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.stems = [stem for stem, _ in forms(words(_COMPOUND.sub("", text).replace(".", "")))]


class Facts:
    """The hard facts of a text. Offsets are those in `plain`: the text with references and citations blanked."""

    def __init__(self, text: str, *, german: bool = False) -> None:
        self.german = german
        self.text = text = without_subscripts(text)
        self.links = references(text)
        spans = [(link.start, link.end) for link in self.links]
        self.plain = blanked(text, sorted([*spans, *_cited(text)]), mark="|")
        if len(text) > MOST_FACTS:
            _refuse_many("numbers", _DIGITS.findall(text))
        self.dates = dates(self.plain)
        taken = [(date.start, date.end) for date in self.dates]
        covered = _covered(self.plain, taken)
        phones = _PHONE.finditer(self.plain) if "+" in text or text.count(".") > 1 else ()
        self.codes = [
            Code(each.group(), each.start()) for each in phones if not any(covered[slice(*each.span())])
        ]
        # Order matters: a date, a phone number and an address of a network all look like numbers, so they are taken out first.
        taken += [(code.start, code.start + len(code.text)) for code in self.codes]
        self.numbers = numbers(self.plain, sorted(taken))
        taken += map(self._span, self.numbers)
        found = list(_codes(spaced(self.plain), _covered(self.plain, taken)))
        self.codes += [Code(each.group(), each.start()) for each in found]
        self.rest = blanked(self.plain, sorted([*taken, *(each.span() for each in found)]), mark="0")
        """The text without references, numbers, dates and codes; `0` stands in the place of each."""
        for kind, every in (("references", self.links), ("numbers", self.numbers), ("codes", self.codes)):
            _refuse_many(kind, every)

    def _span(self, number: Number) -> tuple[int, int]:
        """Return the span of a number; in a timestamp, with the `T` before and the `Z` after the time."""
        stamp = number.unit == TIME and self.plain[max(0, number.start - 1) : number.start] == "T"
        return number.start - stamp, number.end + (stamp and self.plain[number.end : number.end + 1] == "Z")

    @property
    def names(self) -> list[Name]:
        """The proper names, without digits."""
        return names(spaced(self.rest), german=self.german)

    @property
    def days(self) -> list[tuple[str, str]]:
        """The days of the week, as written and in English."""
        return list(weekdays(self.rest))


_DIGITS = lazy(r"\d+")


def _refuse_many(kind: str, found: Sequence[object]) -> None:
    """Raises `AssertionCrashError` (`assertion.too_large`) when a claim states too much."""
    if len(found) > MOST_FACTS:
        raise too_large(f"a claim of it states more than {MOST_FACTS:,} {kind}")


def too_large(reason: str) -> AssertionCrashError:
    """The error of an output that would take too long to judge."""
    return AssertionCrashError(
        f"the output and its sources are too large to be compared: {reason}",
        reason_code="assertion.too_large",
        next_step="name fewer tools in allowed_sources, or record a run with a shorter output",
    )


def _covered(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    """Return one byte for each character of a text: 1 inside of a span."""
    places = bytearray(len(text))
    for start, end in spans:
        places[start:end] = b"\1" * (end - start)
    return places


def spaced(text: str) -> str:
    """Blank the characters of scripts without spaces between words, such as Chinese."""
    return text if text.isascii() else UNSPACED_SIGN.sub(" ", text)


def blanked(text: str, spans: Sequence[tuple[int, int]], *, mark: str = " ") -> str:
    """Blank these spans, which are sorted; each begins with a mark. Offsets stay the same."""
    if not spans:
        return text
    pieces, at = [], 0
    for start, end in spans:
        if end > max(at, start):
            pieces += [text[at:start], mark, " " * (end - max(at, start) - 1)]
            at = end
    return "".join([*pieces, text[at:]])


def references(text: str) -> list[Link]:
    """List links and e-mail addresses, in order."""
    if not any(map(text.__contains__, ("@", ".", "://"))):
        return []
    found = links(text)
    if "@" in text:
        spans = [(link.start, link.end) for link in found]
        found = found + addresses(blanked(text, spans))
    return sorted(found, key=lambda link: link.start)


def unlinked(text: str) -> str:
    """Blank the references of a text."""
    if "/" not in text and "@" not in text and "www." not in text:
        return text
    return blanked(text, [(link.start, link.end) for link in references(text)])


NUMBERED = r"[\[【]\^?(\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,9})(?:†[^\]】]{0,40})?[\]】]"
"""`[1]`, `[1, 2]`, `[^1]`, `【1†source】`; the group holds the numbers."""
_CITED = lazy(
    r"(?<![:,=\[{])(?<![:,=\[{] )(?<!\b(?:is|by|of|at|to) )(?<!\b(?:are|was|the) )(?<!\bcode )" + NUMBERED
)
"""A numbered citation where it is neither a list in data nor a number of the sentence.

It follows no colon, comma or bracket, and no word such as "is".
"""


def _cited(text: str) -> list[tuple[int, int]]:
    """Find the numbered citations of a text: their numbers are not facts."""
    if "[" not in text and "【" not in text:
        return []
    return [match.span() for match in _CITED.finditer(text) if match.group() != text.strip()]


_WORD = lazy(r"[^\W\d_]{3,}")
_PHONE = lazy(r"\+\d[\d ()-]{6,}\d|(?<![\w.])\d+(?:\.\d+){2,}(?![\w.]*\w)")
"""A telephone number, an address of a network, or a version."""
_CODE = lazy(r"(?<![\w@#.-])[^\W_]+(?:[-._/][^\W_]+)*")


def _codes(text: str, covered: bytearray) -> Iterator[re.Match[str]]:
    """Find codes: words of letters and digits that are neither numbers nor dates."""
    if not has_digit(text):
        return
    for match in _CODE.finditer(text):
        code = match.group()
        if code.isascii() and any(map(str.isdigit, code)) and any(map(str.isalpha, code)):
            digits = (match.start() + at for at, sign in enumerate(code) if sign.isdigit())
            if not all(covered[at] for at in digits) and not _ORDINARY.fullmatch(code):
                yield match


_ORDINARY = lazy(r"\d{2,4}s|(?:\d{1,2}|mid)-\d+|\d+-[a-z]{3,}")
"""Words with digits that are no codes: `1990s`, a range, a `24-hour` day."""


# Names ---------------------------------------------------------------------------------------------------------

_COMPOUND = lazy(r"-[a-z]\w+")
"""The part that a compound adds to a name: `MIT-licensed`."""
_CAPITALISED = lazy(r"(?<![\w@/.#'’°-])(?:[A-Z](?:\.[A-Z])+\.?|[^\W\d_a-z][\w’'&-]*|[a-z]{1,12}[A-Z]\w*)")
_TITLES = frozenset("mr mrs ms dr prof sir herr herrn frau mme sra".split())  # noqa: SIM905
_NO_NAMES = frozenset(
    "utc gmt cet cest est pst am pm usd eur gbp jpy celsius fahrenheit iban bic eta isbn id url ok i".split()  # noqa: SIM905
)
"""Words in capitals that are no names: units beside times and amounts, labels of numbers and links, "OK"."""
_OPENERS = frozenset(
    """
    mostly mainly largely primarily yesterday today tomorrow tonight meanwhile however additionally overall according
    recently earlier later finally next last previously currently neither despite although though since unlike like
    instead moreover furthermore similarly separately elsewhere notably interestingly reportedly unfortunately source
    sources dear one two three four five six seven eight nine ten call phone ring email write reach contact ask text
    message visit meet see open choose use try check join book both all no yes
    """.split()  # noqa: SIM905
)
"""Words that begin a sentence and do not belong to the name after them: "Yesterday Ada …"."""
_COUNTED = lazy(r"(?:\d|\b(?:ein\w*|der|die|das|den|dem|zwei|drei|vier)) \Z", re.IGNORECASE)
LEAST_OF_TITLE = 5
"""The number of words from which on a text in which all have capitals is a title."""


def names(text: str, *, german: bool = False) -> list[Name]:
    """List the proper names of a claim: capitalised words, and runs of them.

    A word at the beginning of a sentence is no name by itself, unless it has unusual capitals (NVIDIA, GitHub). A
    label before a colon is none either. In a title, where all words have capitals, only unusual ones count. German
    writes all nouns with a capital: there, a name is two such words in a row, or the word after `Herr` and `Frau`.
    """
    runs = list(_runs(text))
    if not runs:
        return []
    long_words = _WORD.findall(text)
    # In "Five New Labs Open In Oslo" capitals mean nothing, so only unusual ones (NVIDIA) can be names.
    titled = len(long_words) >= LEAST_OF_TITLE and not any(
        word[0].islower() and carries_content(word) for word in long_words
    )
    german = german or is_german(text)
    found = {name.text: name for run in runs if (name := _name(run, text, titled=titled, german=german))}
    return [name for name in found.values() if name.stems]


def _name(run: list[re.Match[str]], text: str, *, titled: bool, german: bool) -> Name | None:
    """Return the name in a run of capitalised words, or None."""
    named = [word for word in run if not _is_ordinary(word, text, first=word is run[0])]
    odd = [word for word in named if _has_odd_capitals(word.group())]
    if titled or _ends_label(run[-1], text):
        named = odd
    elif german:
        named = odd or _german_name(run, named, text)
    if not named or (len(named) == 1 and not odd and _begins(named[0], text)):
        return None
    written = " ".join(word.group() for word in named)
    return Name(_odd_pieces(written) if german and odd else written)


def _odd_pieces(written: str) -> str:
    """Return the pieces of a German name that have odd capitals: the LED of "LED-Birnen", which are bulbs."""
    return " ".join(piece for piece in _PIECES.split(written) if _has_odd_capitals(piece))


def _runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Find runs of capitalised words with only a blank between them."""
    run: list[re.Match[str]] = []
    for match in _CAPITALISED.finditer(text):
        if match.group().islower():
            continue
        if run and text[run[-1].end() : match.start()] != " " and not _goes_on(run[-1], match, text):
            yield run
            run = []
        run.append(match)
    if run:
        yield run


def _goes_on(word: re.Match[str], following: re.Match[str], text: str) -> bool:
    """Return whether the point between two words belongs to an abbreviation, as in `St. Louis`."""
    return text[word.end() : following.start()] == ". " and (
        len(word.group()) <= 2 or fold(word.group()) in _TITLES
    )


def _german_name(run: list[re.Match[str]], named: list[re.Match[str]], text: str) -> list[re.Match[str]]:
    is_addressed = fold(run[0].group()) in _TITLES
    if not is_addressed and (
        len(named) < 2 or _COUNTED.search(text[max(0, run[0].start() - 8) : run[0].start()])
    ):
        return []
    return named[-1:]


def _is_ordinary(word: re.Match[str], text: str, *, first: bool) -> bool:
    """Return whether a capitalised word does not belong to a name."""
    written = word.group()
    folded = fold(written).replace("’", "'").removesuffix("'s")
    if folded in _TITLES or folded.replace(".", "") in _NO_NAMES or folded in MONTHS or weekday(folded):
        return True
    if len(written) == 1:  # the A of "Lab A" is a name, the A of "A lab" is none
        return first and (written == "A" or _begins(word, text))
    opens = first and _begins(word, text)
    if opens and (folded in _OPENERS or is_function_word(folded)):
        return True
    return not carries_content(folded) and not (written.isupper() and len(written) > 1)


_AFTER_END = "\"'”’)]*_"
"""The closing marks that may follow the end of a sentence."""


def _begins(word: re.Match[str], text: str) -> bool:
    """Return whether a word begins a sentence or a part of one: at the start, after a mark, in quotation marks."""
    before = text[max(0, word.start() - 6) : word.start()]
    bare = before.rstrip()
    if not bare:
        return word.start() - len(before) == 0 or "\n" in before
    if bare == before:
        return bare[-1] in '"“„([*_>¡¿'
    return bare.rstrip(_AFTER_END)[-1:] in tuple(".!?:…;|-–—•") or bare[-1] > "\u2189"


def _ends_label(word: re.Match[str], text: str) -> bool:
    return text[word.end() : word.end() + 1] == ":" and text[word.end() + 1 : word.end() + 2] in (
        " ",
        "*",
        "",
    )


def _has_odd_capitals(word: str) -> bool:
    pieces = word.replace("'", "-").replace("’", "-").split("-")
    return any(any(map(str.isupper, piece[1:])) for piece in pieces)


_PIECES = lazy(r"[ -]")

# Quotes --------------------------------------------------------------------------------------------------------

_ELIDED = r"(?i:(?:tis|twas|twere|til|till|em|cause|n|round|bout|\d\ds)\b|\d\d[.,;:)])"
"""Text after an apostrophe that replaces letters or digits: `'tis`, the `'90s`. It opens no quotation."""
_OTHER_QUOTES = (
    r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»"
    rf"|‘(?!{_ELIDED})((?:[^‘’]|(?<=\w)’(?=\w))+)’(?!\w)|‚((?:[^‚‘’]|(?<=\w)’(?=\w))+)[‘’]|``\s*+([^`'\s](?:[^`']*[^`'\s])?)\s*''"
    rf"|(?<![^\s(\[{{:—–\"“-])'(?=[^\s'])(?!{_ELIDED})((?:[^'\n]|(?<=\w)'(?=\w))*[^\s'])'(?![\w'])"
)
"""Single marks are apostrophes too: inside a quotation only between letters, and as its ends only beside none."""
_QUOTE = lazy(rf"\"([^\"]+)\"|{_OTHER_QUOTES}")
_TIGHT_QUOTE = lazy(rf"\"([^\s\"](?:[^\"]*[^\s\"])?)\"|{_OTHER_QUOTES}")
"""As `_QUOTE`, without blanks next to the marks: these show which of them open."""
_CLOSES_FIRST = lazy(r"[^\"]*[^\s\"(]\"[\s.,;:!?]")
"""A text in which the first mark closes a quotation: the opening one is in a sentence before."""
_ELLIPSIS = lazy(r"\[?(?:\.{3,}|…)\]?")
LEAST_OF_QUOTE = 3
"""The number of words that make a quote; fewer are emphasis."""
_MARKS = '"“„«‘‚`'
"""The marks that open quotations, apart from the apostrophe after a blank."""


def quotes(text: str) -> list[str]:
    """List the quotations of three words or more.

    If a mark lacks its other half, as when a quotation began in a sentence before, blanks show which marks open.
    """
    if not any(map(text.__contains__, _MARKS)) and " '" not in f" {text}" and "('" not in text:
        return []
    unpaired = text.count('"') % 2 or _CLOSES_FIRST.match(text)
    pattern = _TIGHT_QUOTE if unpaired else _QUOTE
    found = ["".join(part or "" for part in match.groups()) for match in pattern.finditer(text)]
    return [quote for quote in found if len(words(quote)) >= LEAST_OF_QUOTE]


def quote_pieces(quote: str) -> list[str]:
    """Split a quote at its ellipses."""
    return [piece for piece in _ELLIPSIS.split(quote) if words(piece)]
