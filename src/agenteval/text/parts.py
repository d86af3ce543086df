"""The parts of an output: bullets, numbered items, paragraphs, sentences, claim units, words.

The terms, which hold everywhere in this project:

bullet
    A line that starts, after blanks, with `-`, `*`, `+`, `•` or `–` and a blank. Lines under it that are
    indented deeper than its marker belong to it.
numbered item
    The same with `1.`, `1)` or `(1)`, up to three digits.
paragraph
    A run of prose lines, ended by a blank line or by anything that is not prose: a heading, a list, a table,
    a quotation (`>`), a fenced code block, a rule.
sentence
    A piece of prose up to `.`, `!`, `?`, `…` and a blank, or up to `。`, `！`, `？`. A full stop inside a
    number, version, URL or abbreviation ends no sentence.
claim unit
    A bullet, a numbered item or a table row, else a sentence of a paragraph or quotation.
word
    What stands between blanks and has a letter or digit; a Chinese or Japanese character is a word of its own.

Everything here reads a text once: the time is linear in its length.
"""

# ruff: noqa: RUF001, RUF002 - the marks of other scripts are the subject here

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from agenteval.text.lazy_regexes import lazy

OPEN, CLOSE = ">>", "<<"
"""The marks around a part of a quoted text: `>>43%<<`."""

BlockKind = Literal["heading", "bullet", "number", "paragraph", "quote", "table", "code", "rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One part of a text: `text` is without its markers, its lines joined by blanks (code keeps its lines).

    `line` counts from 1.
    """

    kind: BlockKind
    text: str
    line: int


def unmarked(text: str) -> str:
    """Remove the marks from a text."""
    return text.replace(OPEN, "").replace(CLOSE, "")


def fold(text: str, *, case_sensitive: bool = False) -> str:
    """Return the form in which texts are compared: Unicode NFC and, unless case matters, case-folded."""
    if case_sensitive:
        return composed(text)
    return text.lower() if text.isascii() else composed(composed(text).casefold())


_STRAIGHT = str.maketrans({**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟", '"')})


def straight(text: str) -> str:
    """Replace typographic apostrophes and quotation marks by straight ones, at the same offsets."""
    return text if text.isascii() else text.translate(_STRAIGHT)


def composed(text: str) -> str:
    """Return a text in Unicode NFC: an `é` is the same in one character as in two."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_blank(text: str) -> bool:
    """Return whether a text shows nothing: it is empty, blank, or invisible, such as soft hyphens."""
    return not text.strip() or all(
        sign.isspace() or sign in _UNSEEN or unicodedata.category(sign) in ("Cf", "Cc") for sign in text
    )


_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10)))
"""Invisible characters that Unicode counts among letters and marks: fillers, and selectors of variants."""


def lines_with(phrase: str, text: str, *, case_sensitive: bool = False) -> list[int]:
    """Return the numbers of the lines, from 1, in which a phrase begins as people read a text: for forbidden
    phrases.

    Line breaks and fixed spaces are blanks. Emphasis, soft hyphens, invisible characters and compatible forms of a
    letter make no difference. Signs of emphasis in the phrase itself count. A phrase that must occur is searched for
    as it stands.
    """
    wanted = " ".join(_as_read(line, case_sensitive) for line in phrase.splitlines()).strip()
    if not wanted:
        return []
    found = set()
    for bare in (False, True):
        whole, starts, numbers = _read_lines(text, case_sensitive, bare)
        for spelled in {wanted, _OF_GROUP.sub("\u00a0", wanted)}:
            if (at := place_of(spelled, whole)) >= 0:
                found.add(numbers[bisect_right(starts, at) - 1])
    return sorted(found)


@lru_cache(maxsize=8)
def _read_lines(text: str, case_sensitive: bool, bare: bool) -> tuple[str, list[int], list[int]]:
    """Join the lines of a text;

    return that, the offset of each line in it, and its number. Many phrases are searched for in one text.
    """
    starts: list[int] = []
    numbers: list[int] = []
    told: list[str] = []
    place = 0
    for number, line in enumerate(text.split("\n"), 1):
        if part := _as_read(line, case_sensitive, bare=bare):
            told.append(part)
            starts.append(place)
            numbers.append(number)
            place += len(part) + 1
    return " ".join(told), starts, numbers


def _as_read(line: str, case_sensitive: bool, *, bare: bool = False) -> str:
    """Return a line as people read it, its blanks folded;

    `bare`: without emphasis, quotation marks and HTML entities.
    """
    if bare:
        from html import unescape

        line = _QUOTED.sub("", unescape(line) if "&" in line else line)
        line = _LINK.sub(r"\1", _BREAK.sub(" ", line))
        line = _EMPHASIS.sub("", line)
    # 1 000 with a fixed space is one number: its space must not become a blank, at which a phrase could begin.
    if not line.isascii():
        line = _FIXED_IN_NUMBER.sub("\ue000", line)  # a fixed space within a number joins it
        line = "".join(map(_as_seen, line))
    return straight(fold(" ".join(line.split()), case_sensitive=case_sensitive)).replace("\ue000", "\u00a0")


@lru_cache(maxsize=4096)
def _as_seen(sign: str) -> str:
    """Return a character in its compatible form, but for superscripts, subscripts and fractions;

    "" if it is invisible.
    """
    if sign.isascii() or sign.isspace() or sign == "\ue000":
        return sign
    if sign in _UNSEEN or unicodedata.category(sign) == "Cf":
        return ""
    if unicodedata.decomposition(sign).startswith(("<super>", "<sub>", "<fraction>")):
        return sign
    return unicodedata.normalize("NFKC", sign)


_BREAK = lazy(r"(?i)<br ?/?>|\\$")
"""A line break of HTML, and of Markdown at the end of a line: read as a blank."""
_LINK = lazy(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_EMPHASIS = lazy(
    r"[*`]+|~~|<!--[^>]*-->|</?(?:b|i|em|strong|u|s|code|mark|wbr|span(?: [^<>]*)?)/?>|\x1b\[[0-9;]*m|(?<![^\W_])_+|_+(?![^\W_])"
)
_QUOTED = lazy(r"^\s*(?:>\s?)+")
_FIXED_IN_NUMBER = lazy(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_OF_GROUP = lazy(r"(?<=\d) (?=\d{3}(?!\d))")


_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
_ON_LINE = str.maketrans(_SUBSCRIPTS, "0123456789")


def without_subscripts(text: str) -> str:
    """Replace subscripts by plain digits at the same offsets: CO2 for CO₂."""
    if text.isascii() or not any(
        map(text.__contains__, _SUBSCRIPTS)
    ):  # translating a long text takes far longer
        return text
    return text.translate(_ON_LINE)


def lowered(text: str) -> str:
    """Lower the case of a text at the same offsets: `İ`, which would become two characters, stays."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)


def readings(text: str) -> list[str]:
    r"""Return a text, and if it has `\r\n` also its form with `\n`: a pattern or phrase may mean either."""
    return [text, text.replace("\r\n", "\n")] if "\r\n" in text else [text]


def place_of(phrase: str, text: str, start: int = 0) -> int:
    """Return the offset of a phrase from `start` on, but not inside of a longer number; -1 if there is none.

    A phrase that begins or ends with a digit does not continue into a number: `11` stands in `11 %` and in `9,11,13`,
    not in `711`, `11.5`, `1,110` or `1.1.11`.
    """
    at = text.find(phrase, start)
    if at < 0 or not phrase or not (phrase[0].isdecimal() or phrase[-1].isdecimal()):
        return at
    numbers = [match.span() for match in _WHOLE_NUMBER.finditer(text)]

    def is_inside(place: int) -> bool:
        start, end = numbers[max(bisect_left(numbers, (place, 0)) - 1, 0)]
        return start < place < end

    while at >= 0:
        cut_before = phrase[0].isdecimal() and is_inside(at)
        if not cut_before and not (phrase[-1].isdecimal() and is_inside(at + len(phrase))):
            return at
        at = text.find(phrase, at + 1)
    return -1


def holds(text: str, phrase: str) -> bool:
    """Return whether a phrase occurs in a text, by the rule of `place_of`."""
    return place_of(phrase, text) >= 0


_GROUPING = ",.'’_\u00a0\u2009\u202f"
_WHOLE_NUMBER = lazy(
    rf"\d{{1,3}}(?:[{_GROUPING}]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:\.\d+)+|(?<!\d,)\d+,\d+(?![,\d])|\d+"
)
"""A whole number: with groups of three digits, with parts after full stops (versions and dates, too), with a decimal
comma, or plain.
"""


def texts(value: Any, *, keys: bool = False) -> list[str]:
    """List all texts and numbers in a piece of JSON, in order, with or without the keys."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [part for key, item in value.items() for part in ((str(key), item) if keys else (item,))]
    if isinstance(value, list | tuple):
        return [text for item in value for text in texts(item, keys=keys)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def line_at(text: str, offset: int) -> str:
    """Return the line of a text at an offset, without blanks at its ends."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return text[start : end if end >= 0 else len(text)].strip()


def words(text: str) -> list[str]:
    """List the words of a text."""
    return [match for match in _WORD.findall(text) if any(map(str.isalnum, match))]


_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = lazy(rf"[{_CJK}]|[^\s{_CJK}]+")


def bullets(text: str) -> list[str]:
    """List the bullets of a text, without their markers."""
    return [block.text for block in blocks(text) if block.kind == "bullet"]


def numbered_items(text: str) -> list[str]:
    """List the numbered items of a text, without their numbers."""
    return [block.text for block in blocks(text) if block.kind == "number"]


def paragraphs(text: str) -> list[str]:
    """List the paragraphs of a text."""
    return [block.text for block in blocks(text) if block.kind == "paragraph"]


@lru_cache(maxsize=32)
def blocks(text: str) -> tuple[Block, ...]:
    """Split a text into its parts, in order."""
    if text[:1].isalpha() and len(text.splitlines()) == 1:  # as most strings in JSON: nothing but prose
        return (Block(kind="paragraph", text=text.strip(), line=1),)
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        reader.read(line, number)
    reader.close()
    return tuple(reader.done)


_FENCE = lazy(r"(`{3,}|~{3,})")
_HEADING = lazy(r"#{1,6}[ \t]+(.*)")
_BULLET = lazy(r"[-*+•–][ \t\u00a0\u3000](.*)")
_CHECKBOX = lazy(r"\[[ xX]\][ \t]+")
_NUMBER = lazy(r"(?:\d{1,3}[.)]|\(\d{1,3}\))[ \t\u00a0](.*)")
_TABLE_RULE = lazy(r"[|:\- \t]+")


class _Reader:
    """A reader of lines into blocks. `open` holds the lines of the block that is not finished yet."""

    def __init__(self) -> None:
        self.done: list[Block] = []
        self.kind: BlockKind | None = None
        self.open: list[str] = []
        self.line = 0
        self.indent = 0
        self.fence = ""

    def start(self, kind: BlockKind, text: str, line: int, indent: int = 0) -> None:
        self.close()
        self.kind, self.open, self.line, self.indent = kind, [text], line, indent

    def close(self) -> None:
        if self.kind is not None:
            joint = "\n" if self.kind == "code" else " "
            text = joint.join(part for part in self.open if part or self.kind == "code").strip()
            self.done.append(Block(kind=self.kind, text=text, line=self.line))
        self.kind, self.open, self.fence = None, [], ""

    def read(self, raw: str, number: int) -> None:
        line = raw.strip()
        if self.fence:
            self._read_code(raw, line)
            return
        if not line:
            if self.kind not in ("bullet", "number"):
                self.close()
            return
        indent = len(raw) - len(raw.lstrip())
        self._read_text(raw.lstrip(), line, number, indent)

    def _read_code(self, raw: str, line: str) -> None:
        if line.startswith(self.fence) and not line.strip(self.fence[0]):
            self.close()
        else:
            self.open.append(raw)

    def _read_text(self, body: str, line: str, number: int, indent: int) -> None:
        if fence := _FENCE.match(line):
            self.start("code", "", number)
            self.open, self.fence = [], fence.group()
        elif _is_rule(line):
            self._read_rule(line, number)
        elif heading := _HEADING.match(line):
            self.start("heading", heading.group(1).rstrip("# "), number)
        elif bullet := _BULLET.match(body):
            self.start("bullet", _CHECKBOX.sub("", bullet.group(1).strip(), count=1), number, indent)
        elif item := _NUMBER.match(body):
            self.start("number", item.group(1).strip(), number, indent)
        elif line.startswith(">"):
            self._go_on("quote", line.lstrip("> \t"), number)
        elif line.startswith("|"):
            self._read_row(line, number)
        elif self.kind in ("bullet", "number") and indent > self.indent:
            self.open.append(line)
        else:
            self._go_on("paragraph", line, number)

    def _go_on(self, kind: BlockKind, text: str, number: int) -> None:
        if self.kind == kind:
            self.open.append(text)
        else:
            self.start(kind, text, number)

    def _read_rule(self, line: str, number: int) -> None:
        """Read a rule; right under one line of prose it makes that line a heading."""
        if self.kind == "paragraph" and len(self.open) == 1 and line[0] in "=-":
            self.kind = "heading"
            self.close()
        else:
            self.start("rule", line, number)

    def _read_row(self, line: str, number: int) -> None:
        """Read a row of a table; the row above its rule is its heading."""
        if "-" in line and _TABLE_RULE.fullmatch(line):
            if self.kind == "table":
                self.kind = "heading"
            self.close()
        else:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            self.start("table", " | ".join(cell for cell in cells if cell), number)


def _is_rule(line: str) -> bool:
    return line[0] in "-*_=" and len(line) >= 3 and not line.replace(" ", "").strip(line[0])


def sentences(text: str) -> list[str]:
    """Split a piece of prose (one paragraph, bullet or line) into sentences."""
    found = []
    start = 0
    for stop in _STOP.finditer(text):
        if _ends_sentence(text, start, stop):
            found.append(text[start : stop.end()].strip())
            start = stop.end()
    found.append(text[start:].strip())
    return [piece for piece in found if any(map(str.isalnum, piece))]


_STOP = lazy(r"([.!?…。！？؟]+)([\"'”’»)\]*_`」』）】]*)((?:\[\d{1,3}\])*)")
_NEXT = lazy(r"\s*[\"'“‘«(\[*_`「『（]*([\w’']{0,20})")
_INITIALISM = lazy(r"(?:[^\W\d_]\.)+[^\W\d_]")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TITLES = _set(
    "mr mrs ms dr prof rev hon gov sen rep pres gen col lt sgt capt cmdr vs cf e.g i.e eg ie viz approx incl excl"
    " bzw evtl ggf inkl sog vgl sra"
)
_BEFORE_DIGITS = _set(
    "no nos nr fig figs eq vol pp p sec ch art abs ca c tel ext apt ste jan feb mar apr jun jul aug sep sept oct nov dec"
)
_MAY_END = _set(
    "min max avg ph.d inc ltd corp co llc jr sr bros al dept est govt univ assn ave blvd rd st mt ft"
)
_ENDS_BEFORE_CAPITAL = _set("etc a.m p.m")
_DAYS_AND_MONTHS = _set("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec")
_GERMAN_MONTHS = _set(
    "januar jänner februar märz april mai juni juli august september oktober november dezember"
)
_STARTERS = _set(
    "the a an it its in he she they this that these those we i you but and or so if when as at on for to there"
    " however his her their our my then after before while with no not yes what which who how why where also"
    " both all by from"
)


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    marks, closers = stop.group(1), stop.group(2)
    if any(mark in "。！？" for mark in marks):
        return True
    if stop.end() == len(text):
        return True
    if not text[stop.end()].isspace():
        return False
    following = _NEXT.match(text, stop.end())
    after = following.group(1) if following else ""
    if not after:
        return True
    if "!" in marks or "?" in marks or "؟" in marks:
        return not (closers.strip("*_`") and after[0].islower())
    if len(marks) > 1 or marks == "…":
        return not after[0].islower()
    # Abbreviations are short. A window keeps the time linear on a megabyte without a blank.
    window = text[max(start, stop.start() - 32) : stop.start()].split()
    before = window[-1].lstrip("([\"'“‘«*_`") if window else ""
    if after.islower() and not before.rstrip(")]\"'”’»*_`").isalpha():
        return False  # "at https://a.b/c. and", "am 26.06. am See"
    first = len(window) == 1 and stop.start() - start <= 32
    if before.isdigit() and _goes_on_after_number(window, before, after):
        return False
    return not _is_abbreviation(before, after, first=first)


def _goes_on_after_number(window: list[str], before: str, after: str) -> bool:
    """Return whether a sentence goes on after a number with a full stop: "1. 5 million", "am 24. Dezember"."""
    if len(before) <= 3 and after[0].isdigit():
        return True
    return len(before) <= 2 and _is_ordinal(window[:-1], after)


def _is_ordinal(earlier: list[str], after: str) -> bool:
    """Return whether a number with a full stop is a day: `am 24. Dezember`, `24. prosince`; not in `May 24. August`."""
    if after.islower():
        return True
    return (
        after.casefold() in _GERMAN_MONTHS
        and earlier[-1:] != []
        and (earlier[-1][:3].casefold() not in _DAYS_AND_MONTHS or earlier[-1].endswith(","))
    )


def _is_abbreviation(before: str, after: str, *, first: bool) -> bool:
    """Return whether the full stop between two words belongs to the first of them."""
    word = before.casefold()
    starter = after.casefold() in _STARTERS and after[0].isupper()
    if first and before.isdigit() and len(before) <= 3:
        return True  # the number of an item that stands inside a line
    if word in _TITLES:
        return True
    if after[0].isdigit() and (word in _BEFORE_DIGITS or word.endswith("str")):  # Bahnhofstr. 5
        return True
    if word in _ENDS_BEFORE_CAPITAL:
        return not after[0].isupper() or after.isupper() or after[:3].casefold() in _DAYS_AND_MONTHS
    if word in _MAY_END or _INITIALISM.fullmatch(word):
        return not starter
    if len(before) == 1:
        return _is_initial(before, after, starter=starter)
    # "bspw. im Mai": hardly any short word lacks a vowel, so this is an abbreviation.
    consonants = before.isalpha() and before.isascii() and not set(word) & set("aeiouy")
    return consonants and len(before) <= 5 and after[0].islower()


def _is_initial(letter: str, after: str, *, starter: bool) -> bool:
    """Return whether a full stop after a single letter belongs to it: `z. B.`, `d. h.`, `J. Smith`."""
    if letter.islower():
        return after[0].islower() or (len(after) == 1 and after not in "AI")
    if letter.isupper():
        return not (starter or (letter == "I" and after[0].isupper()))  # "So did I. Then …"
    return False
