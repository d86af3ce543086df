"""How far the reading of a large recording is, on a terminal."""

import sys
from pathlib import Path

from agenteval.reporters.stream import flush, printable, write

CLEAR = "\r\x1b[K"


class ReadingProgress:
    """Told by an adapter how far it is (`AdapterContext.progress`); shows it in one line of stderr, if that is a terminal."""

    def __init__(self) -> None:
        self.shows = sys.stderr.isatty()
        self.shown = False

    def __call__(self, path: Path, done: int, total: int) -> None:
        """So many bytes of the file are read. The line is taken away once all are."""
        if done >= total:
            self.clear()
        elif self.shows:
            share = 100 * done // max(total, 1)
            write(sys.stderr, f"{CLEAR}reading {printable(path.name)}  {share} % of {total / 1e6:,.0f} MB")
            flush(sys.stderr)
            self.shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self.shown:
            write(sys.stderr, CLEAR)
            flush(sys.stderr)
            self.shown = False
