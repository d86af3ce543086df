"""A terminal, a CI log or a file that lines are written to: its width, its characters, its colours.

Lines are plain text with a few styles. Colours are six codes of our own, since importing rich takes as long as
running a hundred tests; they never carry meaning alone.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from agenteval.reporters.stream import NoCommands, flush, redactor_in_force, write
from agenteval.shortening import cells, clipped_to_cells, printable

Part = str | tuple[str, str]
"""A text, or a text with a style."""

_CODES = {"green": "32", "red": "31", "yellow": "33", "dim": "2", "bold": "1", "red bold": "31;1"}
_UNICODE = {
    "pass": "✓",
    "fail": "✗",
    "warn": "!",
    "skip": "-",
    "vacuous": "○",
    "xfail": "✗",
    "dot": "·",
    "arrow": "→",
    "times": "\N{MULTIPLICATION SIGN}",
    "cut": "…",
}
_ASCII = {
    "pass": "ok",
    "fail": "x",
    "warn": "!",
    "skip": "-",
    "vacuous": "o",
    "xfail": "x",
    "dot": "-",
    "arrow": "->",
    "times": "x",
    "cut": "...",
}
_EXCERPT_LINE = re.compile(r" *[0-9]* \| ")

PLAIN_WIDTH = 140
"""Width when the output is not a terminal."""


class Terminal:
    """Writes lines to a stream.

    `color` is auto, always or never; `NO_COLOR` is honoured by auto.
    """

    def __init__(self, stream: TextIO, *, color: str = "auto") -> None:
        self.stream = stream
        terminal = stream.isatty()
        self.is_terminal = terminal and os.environ.get("TERM") != "dumb"
        """Whether there is a terminal that understands escape sequences."""
        auto = self.is_terminal and not os.environ.get("NO_COLOR")
        self.colored = color == "always" or (color == "auto" and auto)
        self.width = max(40, shutil.get_terminal_size().columns) if terminal else PLAIN_WIDTH
        self.room = self.width if self.is_terminal else sys.maxsize
        """The longest line that need not be broken: unlimited in a log or a file."""
        self.signs = _UNICODE if _can_show(self.stream) else _ASCII
        self._at_gap = True
        self.before_line: Callable[[], None] | None = None
        """Called before each line, to remove a line of progress."""
        self._kept: list[str] | None = None
        """Gets the lines instead of the stream, while it is set."""

    def emit(self, *parts: Part) -> None:
        """Write one line of texts, with or without a style, each made harmless for a terminal."""
        self._line("".join(self._part(part) for part in parts))

    def gap(self) -> None:
        """Write an empty line, unless there is one already."""
        if not self._at_gap:
            self.emit()

    def line(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """Write a text on one line; on a terminal that is too narrow, on several, as a paragraph."""
        self.paragraph(text, indent=indent, style=style, width=self.room)

    def paragraph(self, text: str, *, indent: int = 0, style: str = "", width: int = 0) -> None:
        """Write a text, wrapped to the width; continuation lines are indented by two more.

        Lines of an excerpt are not wrapped: the caret has to stay under what it points at.
        """
        from textwrap import wrap

        width = width or self.width
        text = redactor_in_force().unseen(text)  # before a value is broken in two
        for paragraph in text.rstrip().split("\n"):
            line = _widened(" " * indent + printable(paragraph))
            if len(line) <= width or _EXCERPT_LINE.match(paragraph):
                self.emit((_narrowed(line), style))
                continue
            lead = line[: len(line) - len(line.lstrip())]
            for part in wrap(
                line.lstrip(),
                width,
                initial_indent=lead,
                subsequent_indent=f"{lead}  ",
                break_long_words=False,
                break_on_hyphens=False,
                replace_whitespace=False,
            ):
                self.emit((_narrowed(part), style))

    def clipped(self, text: str) -> None:
        """Write a text on one line, cut to the width."""
        text = printable(redactor_in_force().unseen(text))
        self.emit(clipped_to_cells(text, self.width, self.signs["cut"]))

    def two(self, first: Sequence[Part], second: Part, *, indent: int = 2, gap: str = "  ") -> None:
        """Write two things on one line; on a terminal that is too narrow, the second goes below the first."""
        words = "".join(part if isinstance(part, str) else part[0] for part in (*first, gap, second))
        if cells(printable(words)) <= self.room:
            self.emit(*first, gap, second)
        else:
            text, style = (second, "") if isinstance(second, str) else second
            self.emit(*first)
            self.line(text, indent=indent, style=style)

    def series(self, items: Sequence[Part], end: str = "") -> None:
        """Write items with commas between them, and `end`; on a terminal that is too narrow, on several lines."""
        line: list[Part] = []
        taken = 0
        for number, item in enumerate(items, 1):
            after = "," if number < len(items) else end
            size = cells(printable(item if isinstance(item, str) else item[0]) + after)
            if line and taken + 1 + size > self.room:
                self.emit(*line)
                line, taken = [" "], 1
            taken += size + bool(line)
            line += [*[" "] * bool(line), item, after]
        self.emit(*line)

    def rows(self, rows: Sequence[Sequence[str]], *, lead: int = 1) -> None:
        """Write rows in aligned columns; on a terminal that is too narrow, cells go below the `lead` ones of their row."""
        widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
        if sum(widths) + 2 * (len(widths) - 1) <= self.room:
            lead = len(widths)
        for row in rows:
            padded = [cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True)]
            self.emit("  ".join(padded[:lead]).rstrip())
            if rest := "  ".join(row[lead:]):
                self.line(rest, indent=2)

    def dotted(self, facts: Iterable[str]) -> str:
        """The facts on one line, separated by dots."""
        return f" {self.signs['dot']} ".join(facts)

    def mark(self, sign: str) -> str:
        """A sign padded to the width of all signs, so that what follows is aligned."""
        return f"{self.signs[sign]:<{len(self.signs['pass'])}}"

    def ending(self, code: int, why: str) -> None:
        """The last line of a command: its exit code, and why."""
        self.emit((f"exit {code:d}: {why}", "red" if code else "green"))

    def command(self, line: str) -> None:
        """Write a workflow command of our own."""
        if self.before_line:
            self.before_line()
        stream = self.stream
        write(stream.stream if isinstance(stream, NoCommands) else stream, printable(line) + "\n")

    def lines_of(self, telling: Callable[[], None]) -> list[str]:
        """The lines that `telling` would write; `tell` writes them later, maybe in another process."""
        lines = self._kept = []
        try:
            telling()
        finally:
            self._kept = None
        return lines

    def tell(self, lines: Iterable[str]) -> None:
        """Write lines that `lines_of` has made."""
        for line in lines:
            self._line(line)

    def flush(self) -> None:
        """Flush the stream."""
        flush(self.stream)

    def _line(self, line: str) -> None:
        self._at_gap = not line
        if self._kept is not None:
            self._kept.append(line)
            return
        if self.before_line:
            self.before_line()
        write(self.stream, line + "\n")

    def _part(self, part: Part) -> str:
        if isinstance(part, str):
            return printable(part)
        text, style = part
        return f"\x1b[{_CODES[style]}m{printable(text)}\x1b[0m" if self.colored and style else printable(text)


def _widened(text: str) -> str:
    """The printable text with a NUL before each sign of two cells, so that its length is its width."""
    if text.isascii():
        return text
    return "".join(f"\0{sign}" if cells(sign) > 1 else sign for sign in text)


def _narrowed(text: str) -> str:
    return text.replace("\0", "")


def _can_show(stream: TextIO) -> bool:
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        "".join(_UNICODE.values()).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
