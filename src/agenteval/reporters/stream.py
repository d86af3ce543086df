"""Writing for people: to streams whose reader may have gone or that know few characters, and nothing harmful.

All that a command says goes through `write`, and there through the redactor in force: nothing has to remember it.
"""

import json
import os
from typing import Any, TextIO

from agenteval.lazyregex import lazy
from agenteval.redaction import Redactor

_OBEYED = lazy("[\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]")
"""What JSON leaves as it is: control characters above ASCII, and those that hide or turn around what stands beside them."""
_redactor = Redactor()


def redact_with(redactor: Redactor) -> None:
    """Redact what is written from now on by other rules than the default ones."""
    global _redactor  # noqa: PLW0603 - there is one process, and one stdout
    _redactor = redactor


def redactor_in_force() -> Redactor:
    """What redacts all that is written."""
    return _redactor


def write_json(stream: TextIO, data: Any) -> None:
    """Write plain data as indented JSON, each of its texts redacted: JSON it stays."""
    write_encoded(stream, json.dumps(_redactor.swept(data), indent=2, ensure_ascii=False) + "\n")


def write_encoded(stream: TextIO, text: str) -> None:
    """Write a text that is JSON: what a terminal would obey or hide stands there as an escape, and means the same."""
    write(stream, _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def write(stream: TextIO, text: str) -> None:
    """Write to a stream whose reader may have gone (`| head`): the run then goes on, in silence.

    What is sensitive is redacted, and what the stream's encoding lacks is spelled out.
    """
    try:
        stream.write(_redactor.unseen(text))
    except BrokenPipeError:
        silence(stream)
    except UnicodeEncodeError:  # its own `encoding` may be "charmap", whatever the stream's is
        spelled = text.replace("…", "...").encode(stream.encoding, "backslashreplace")
        write(stream, spelled.decode(stream.encoding))


def flush(stream: TextIO) -> None:
    """Hand over what was written, unless the stream's reader has gone."""
    try:
        stream.flush()
    except BrokenPipeError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """Drop what is written to a stream from now on: its reader has gone."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def printable(text: str) -> str:
    """The line without characters that break it, move the cursor, change colours or the direction of reading.

    Each of them becomes its escape, so that a person sees that it is there.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
