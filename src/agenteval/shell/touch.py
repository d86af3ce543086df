"""What is found in a command line: the files that it touches, and the commands that are not understood."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Access = Literal["read", "copy", "write", "names"]
"""`copy` reads, and prints nothing of it; `names` reads nothing of what is in a file."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One file that a command reads or writes. `path` begins where the command was started, and may be a glob."""

    access: Access
    path: str
    folder: str
    """Where the command runs: what it prints may name files from there."""
    written: str | None = None
    """The text that is written, where the command itself has it."""
    taken: str = ""
    """The text that `written` takes the place of, where the command itself has it."""
    whole: bool = False
    """Whether the file holds nothing but `written` from then on."""
    below: str = ""
    """What of a folder is touched with it: `*` is all that is in it, `**` all below it, `**/*` all but what is left out."""


class Unclear(NamedTuple):
    """The words of a command that is not known, and where it runs."""

    text: str
    folder: str


class Reading(NamedTuple):
    """What a command line does to files, and which commands of it were not understood."""

    touches: list[Touch]
    unclear: list[Unclear]
