"""Prints lines on a stream: its reader may have gone, and it may lack characters or colours. Nothing harmful is written.

All that a command prints goes through `write`, which applies the redactor in force: no caller has to.
"""

import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any, TextIO, cast

from agenteval.redaction.redactor import redactor_in_force
from agenteval.text.fitting import cells, clipped_to_cells, printable, visible_in_json
from agenteval.text.lazy_regexes import lazy


def write_json(stream: TextIO, data: Any) -> None:
    """Write plain data as indented JSON. Each text is redacted by itself, so that it stays JSON."""
    write_encoded(
        stream, json.dumps(redactor_in_force().redact_values(data), indent=2, ensure_ascii=False) + "\n"
    )


def write_encoded(stream: TextIO, text: str) -> None:
    """Write JSON, with escapes for characters that a terminal would obey or hide."""
    write(stream, visible_in_json(text))


def write(stream: TextIO, text: str) -> None:
    """Write to a stream; if its reader has gone (`| head`), nothing more is written, and the run goes on.

    Sensitive values are redacted, and characters that the stream's encoding lacks are escaped.
    """
    try:
        stream.write(redactor_in_force().redacted(text))
    except BrokenPipeError:
        silence(stream)
    except UnicodeEncodeError:  # its own `encoding` may be "charmap", whatever the stream's is
        spelled = text.replace("…", "...").replace("→", "->").encode(stream.encoding, "backslashreplace")
        write(stream, spelled.decode(stream.encoding))


def flush(stream: TextIO) -> None:
    """Flush a stream, unless its reader has gone."""
    try:
        stream.flush()
    except BrokenPipeError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """Drop what is written to a stream from now on: its reader has gone."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def in_github_actions() -> bool:
    """Return whether this runs in GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


class NoCommands:
    """A stream in a log of GitHub Actions on which no line is a workflow command, in whatever pieces a line is written.

    The runner takes a line for a command that begins, after blanks, with `::`, or has `##[` anywhere. The sign that
    makes it one is written as an escape, which JSON reads as that sign. What is invisible counts as a blank, since the
    runner compares texts as people do. `stream` is where our own commands go.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._last = ""
        """The last two visible signs of the line."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write a text. Raises TypeError for bytes, by which libraries tell streams apart."""
        if not isinstance(text, str):
            raise TypeError(f"expected str, got {type(text).__name__}")
        kept, last = [], self._last
        for sign in text:
            written = sign
            if sign in "\r\n":
                last = ""
            elif sign > " " and (sign < "\x7f" or unicodedata.category(sign)[0] not in "CMZ"):
                if (sign == ":" and not last) or (sign == "[" and last == "##"):
                    written = f"\\u{ord(sign):04x}"
                last = (last + sign)[-2:]
            kept.append(written)
        self.stream.write("".join(kept))
        self._last = last  # not of what the stream could not encode, and gets again in another spelling
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)


@contextmanager
def no_commands() -> Iterator[None]:
    """Have nothing that is printed inside, on standard output or error, be a workflow command."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", NoCommands(each)) if each else each for each in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def without_commands(text: str) -> str:
    """Return a text for others to print: in GitHub Actions no line of it is a workflow command."""
    if not in_github_actions():
        return text
    stream = StringIO()
    NoCommands(stream).write(text)
    return stream.getvalue()


Part = str | tuple[str, str]
"""A text, or a text with a style."""

_CODES = {"green": "32", "red": "31", "yellow": "33", "dim": "2", "bold": "1", "red bold": "31;1"}
_SIGNS = {
    "pass": ("✓", "ok"),
    "fail": ("✗", "x"),
    "warn": ("!", "!"),
    "skip": ("-", "-"),
    "vacuous": ("○", "o"),
    "xfail": ("✗", "x"),
    "dot": ("·", "-"),
    "arrow": ("→", "->"),
    "times": ("\N{MULTIPLICATION SIGN}", "x"),
    "cut": ("…", "..."),
    "bar": ("━", "="),
    "track": ("─", "-"),
}
"""Signs, each with its substitute for an encoding that lacks it."""
_EXCERPT_LINE = lazy(r" *[0-9]* \| ")

PLAIN_WIDTH = 140
"""The width when the output is not a terminal."""


class Terminal:
    """Writes lines to a stream.

    `color` is auto, always or never; `NO_COLOR` is honoured by auto.
    """

    def __init__(self, stream: TextIO, *, color: str = "auto") -> None:
        self.stream = stream
        terminal = stream.isatty()
        self.is_terminal = terminal and os.environ.get("TERM") != "dumb"
        """True on a terminal that understands escape sequences."""
        auto = self.is_terminal and not os.environ.get("NO_COLOR")
        self.colored = color == "always" or (color == "auto" and auto)
        self.width = max(40, shutil.get_terminal_size().columns) if terminal else PLAIN_WIDTH
        self.room = self.width if self.is_terminal else sys.maxsize
        """The longest line that need not be broken: unlimited in a log or a file."""
        shown = _can_show(self.stream)
        self.signs = {name: sign if shown else plain for name, (sign, plain) in _SIGNS.items()}
        self._at_gap = True
        self.before_line: Callable[[], None] | None = None
        """Called before each line, to remove a line of progress."""
        self._kept: list[str] | None = None
        """The captured lines while `capture` works, in place of lines on the stream."""

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
        text = redactor_in_force().redacted(text)  # before a value is broken in two
        for paragraph in text.rstrip().split("\n"):
            line = _widened(" " * indent + printable(paragraph))
            if len(line) <= width or _EXCERPT_LINE.match(paragraph):
                self.emit((_narrowed(line), style))
                continue
            # A path or a URL that is broken in two cannot be clicked or copied, so long words stay whole.
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
        text = printable(redactor_in_force().redacted(text))
        self.emit(clipped_to_cells(text, self.width, self.signs["cut"]))

    def columns(self, first: Sequence[Part], second: Part, *, indent: int = 2, gap: str = "  ") -> None:
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
        """Join facts on one line, separated by dots."""
        return f" {self.signs['dot']} ".join(facts)

    def mark(self, sign: str) -> str:
        """Return a sign padded to the width of all signs, so that the words after it are aligned."""
        return f"{self.signs[sign]:<{len(self.signs['pass'])}}"

    def ending(self, code: int, why: str) -> None:
        """Print the last line of a command: its exit code, and the reason."""
        self.emit((f"exit {code:d}: {why}", "red" if code else "green"))

    def command(self, line: str) -> None:
        """Write a workflow command of our own."""
        if self.before_line:
            self.before_line()
        stream = self.stream
        write(stream.stream if isinstance(stream, NoCommands) else stream, printable(line) + "\n")

    def capture(self, print_lines: Callable[[], None]) -> list[str]:
        """Return the lines that a function would write; `replay` writes them later, maybe in another process."""
        lines = self._kept = []
        try:
            print_lines()
        finally:
            self._kept = None
        return lines

    def replay(self, lines: Iterable[str]) -> None:
        """Write lines that `capture` has made."""
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
    """Put a NUL before each sign of two cells, so that the length of the text is its width."""
    if text.isascii():
        return text
    return "".join(f"\0{sign}" if cells(sign) > 1 else sign for sign in text)


def _narrowed(text: str) -> str:
    return text.replace("\0", "")


def _can_show(stream: TextIO) -> bool:
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        "".join(sign for sign, _ in _SIGNS.values()).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
