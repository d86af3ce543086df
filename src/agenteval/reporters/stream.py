"""Writes to streams whose reader may have gone, or that have few characters, and writes nothing harmful.

All that a command prints goes through `write`, which applies the redactor in force: no caller has to.
"""

import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any, TextIO, cast

from agenteval.redaction import Redactor
from agenteval.shortening import visible_in_json

_redactor = Redactor()


def redact_with(redactor: Redactor) -> None:
    """From now on redact what is written with this redactor."""
    global _redactor  # noqa: PLW0603 - there is one process, and one stdout
    _redactor = redactor


def redactor_in_force() -> Redactor:
    """The redactor of all that is written."""
    return _redactor


def write_json(stream: TextIO, data: Any) -> None:
    """Write plain data as indented JSON. Each text is redacted by itself, so that it stays JSON."""
    write_encoded(stream, json.dumps(_redactor.swept(data), indent=2, ensure_ascii=False) + "\n")


def write_encoded(stream: TextIO, text: str) -> None:
    """Write JSON, with escapes for what a terminal would obey or hide."""
    write(stream, visible_in_json(text))


def write(stream: TextIO, text: str) -> None:
    """Write to a stream; if its reader has gone (`| head`), nothing more is written, and the run goes on.

    What is sensitive is redacted, and characters that the stream's encoding lacks are escaped.
    """
    try:
        stream.write(_redactor.unseen(text))
    except BrokenPipeError:
        silence(stream)
    except UnicodeEncodeError:  # its own `encoding` may be "charmap", whatever the stream's is
        spelled = text.replace("…", "...").encode(stream.encoding, "backslashreplace")
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
    """Whether GitHub Actions runs this."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


class NoCommands:
    """A stream in a log of GitHub Actions: no line of it is a workflow command, whoever writes it, and in whatever pieces.

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
    """A text that somebody else prints: in GitHub Actions no line of it is a workflow command."""
    if not in_github_actions():
        return text
    stream = StringIO()
    NoCommands(stream).write(text)
    return stream.getvalue()
