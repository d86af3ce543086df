"""Shows on a terminal how far the reading of a large recording is."""

import sys
from pathlib import Path

from agenteval.reporters.stream import flush, write
from agenteval.shortening import printable

CLEAR = "\r\x1b[K"


class ReadingProgress:
    """One line on stderr, if that is a terminal; an adapter calls it as it reads (`AdapterContext.progress`)."""

    def __init__(self) -> None:
        self.shows = sys.stderr.isatty()
        self.shown = False

    def __call__(self, path: Path, done: int, total: int) -> None:
        """Show that `done` of `total` bytes are read. The line goes away once all are."""
        if done >= total:
            self.clear()
        elif self.shows:
            share = 100 * done // max(total, 1)
            write(sys.stderr, f"{CLEAR}reading {printable(path.name)}  {share} % of {total / 1e6:,.0f} MB")
            flush(sys.stderr)
            self.shown = True

    def clear(self) -> None:
        """Remove the line."""
        if self.shown:
            write(sys.stderr, CLEAR)
            flush(sys.stderr)
            self.shown = False
