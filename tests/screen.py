"""A stream that remembers what was written to it, and a text that is not fit for one."""

import io

HOSTILE = "a\x1b[2Jb\rc\x07d\u202eevil\u2066f\u200bg\x00h\x9bi\ud800j"
"""Escape sequences, bidi overrides and invisible characters."""


class Screen(io.TextIOWrapper):
    """A stream in an encoding; a terminal or not."""

    def __init__(self, encoding: str = "utf-8", *, terminal: bool = False) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding=encoding, newline="\n")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        """All that was written."""
        self.flush()
        return self.bytes.getvalue().decode(self.encoding)
