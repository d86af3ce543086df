"""Writes to streams whose reader may have gone, or that have few characters, and writes nothing harmful.

All that a command prints goes through `write`, which applies the redactor in force: no caller has to.
"""

import json
import os
from typing import Any, TextIO

from agenteval.lazyregex import lazy
from agenteval.redaction import Redactor

_OBEYED = lazy("[\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]")
"""What JSON does not escape: control characters above ASCII, and those that hide or reorder their neighbours."""
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
    write(stream, _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


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
