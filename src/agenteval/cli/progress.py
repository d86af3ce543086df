"""Shows on a terminal how far the reading of a large recording is, or what an agent is doing."""

import sys
from pathlib import Path

from agenteval.reporters.stream import flush, write
from agenteval.shortening import cut, printable

CLEAR = "\r\x1b[K"
LONGEST = 78


class _Line:
    """One line on stderr, if that is a terminal."""

    def __init__(self) -> None:
        self.shows = sys.stderr.isatty()
        self.shown = False

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""
        if self.shows:
            write(sys.stderr, f"{CLEAR}{text}")
            flush(sys.stderr)
            self.shown = True

    def clear(self) -> None:
        """Remove the line."""
        if self.shown:
            write(sys.stderr, CLEAR)
            flush(sys.stderr)
            self.shown = False


class LiveProgress(_Line):
    """Says what an agent is doing (`LiveOptions.tell`)."""

    def __call__(self, doing: str) -> None:
        """Show it; the line goes away once the agent is done."""
        if doing:
            self.show(cut(printable(doing), LONGEST))
        else:
            self.clear()


class ReadingProgress(_Line):
    """An adapter calls it as it reads (`AdapterContext.progress`)."""

    def __call__(self, path: Path, done: int, total: int) -> None:
        """Show that `done` of `total` bytes are read. The line goes away once all are."""
        if done >= total:
            self.clear()
        else:
            share = 100 * done // max(total, 1)
            self.show(f"reading {printable(path.name)}  {share} % of {total / 1e6:,.0f} MB")
