"""A terminal, a CI log or a file that lines are written to: how wide it is, what it can show, in which colours.

Lines are made of plain text with a few styles. Colour comes from these six codes and not from rich, whose import
takes as long as running a hundred tests; it never carries meaning alone.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from agenteval.reporters.stream import flush, printable, redactor_in_force, write
from agenteval.shortening import cells, clipped_to_cells

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

    def __init__(self, stream: TextIO | None = None, *, color: str = "auto") -> None:
        self.stream = stream or sys.stdout
        terminal = self.stream.isatty()
        self.is_terminal = terminal and os.environ.get("TERM") != "dumb"
        """Whether there is a terminal that understands escape sequences."""
        auto = self.is_terminal and not os.environ.get("NO_COLOR")
        self.colored = color == "always" or (color == "auto" and auto)
        self.width = max(40, shutil.get_terminal_size().columns) if terminal else PLAIN_WIDTH
        self.room = self.width if self.is_terminal else sys.maxsize
        """How long a line may be that needs no more than to be read: in a log or a file, as long as it is."""
        self.signs = _UNICODE if _can_show(self.stream) else _ASCII
        self._at_gap = True
        self.before_line: Callable[[], None] | None = None
        """Called before each line: takes a line of progress away."""
        self._kept: list[str] | None = None
        """Takes the lines instead of the stream."""

    def emit(self, *parts: Part) -> None:
        """One line: texts, and texts with a style. Each is made harmless for a terminal."""
        self._line("".join(self._part(part) for part in parts))

    def gap(self) -> None:
        """One empty line between two things, however often it is asked for."""
        if not self._at_gap:
            self.emit()

    def paragraph(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """A text over as many lines as the width asks for; continuation lines are indented two more.

        Lines of an excerpt are left alone: the caret has to stay under what it points at.
        """
        from textwrap import wrap

        text = redactor_in_force().unseen(text)  # before a value is broken in two
        for paragraph in text.rstrip().split("\n"):
            line = _widened(" " * indent + printable(paragraph))
            if len(line) <= self.width or _EXCERPT_LINE.match(paragraph):
                self.emit((_narrowed(line), style))
                continue
            lead = line[: len(line) - len(line.lstrip())]
            for part in wrap(
                line.lstrip(),
                self.width,
                initial_indent=lead,
                subsequent_indent=f"{lead}  ",
                break_long_words=False,
                break_on_hyphens=False,
                replace_whitespace=False,
            ):
                self.emit((_narrowed(part), style))

    def clipped(self, text: str) -> None:
        """One line of a text, cut where the width ends."""
        text = printable(redactor_in_force().unseen(text))
        self.emit(clipped_to_cells(text, self.width, self.signs["cut"]))

    def two(self, first: Sequence[Part], second: Part, *, indent: int = 2) -> None:
        """Two things on one line; on a terminal that it is too long for, the second stands under the first."""
        words = "".join(part if isinstance(part, str) else part[0] for part in (*first, "  ", second))
        if cells(printable(words)) <= self.room:
            self.emit(*first, "  ", second)
        else:
            self.emit(*first)
            self.emit(" " * indent, second)

    def dotted(self, facts: Iterable[str]) -> str:
        """Facts in a row, with a dot between two."""
        return f" {self.signs['dot']} ".join(facts)

    def mark(self, sign: str) -> str:
        """A sign as wide as any of them: what stands behind it is aligned."""
        return f"{self.signs[sign]:<{len(self.signs['pass'])}}"

    def command(self, line: str) -> None:
        """A line for a machine that reads along: to gaps it is as if it were not there."""
        at_gap = self._at_gap
        self.emit(line)
        self._at_gap = at_gap

    def lines_of(self, telling: Callable[[], None]) -> list[str]:
        """The lines that something would write, for `tell`: whoever makes them need not be who writes."""
        lines = self._kept = []
        try:
            telling()
        finally:
            self._kept = None
        return lines

    def tell(self, lines: Iterable[str]) -> None:
        """Write lines that were made before."""
        for line in lines:
            self._line(line)

    def flush(self) -> None:
        """Hand everything to the stream."""
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
    """The printable text with a NUL before each sign that takes two cells: it is as long as it is wide."""
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
