"""Shows progress on one line at the bottom of a terminal; it is removed before anything else is written, and at the end."""

import math
import sys
import time
from pathlib import Path
from typing import TextIO

from agenteval.reporters.terminal import Terminal, flush, write
from agenteval.text.fitting import cut, printable

CLEAR = "\r\x1b[2K"
LONGEST = 78
FIRST_LOOK = 0.3
"""The seconds before the rest of a run is first estimated."""
WORTH_SHOWING = 1.0
"""The seconds of work that must be left when the line first appears."""
INTERVAL = 0.1
"""The seconds between two drawings."""


class StatusLine:
    """A line that can be removed again: on a stream, or on stderr if that is a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self._is_seen = stream is not None or sys.stderr.isatty()
        self._shown = ""

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""
        if self._is_seen and text and text != self._shown:
            self.clear()
            write(self.stream, text)
            flush(self.stream)
            self._shown = text

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            write(self.stream, CLEAR)
            flush(self.stream)
            self._shown = ""


class Progress(StatusLine):
    """The progress of a run of `total` files, shown while more than a second of work is left."""

    def __init__(self, terminal: Terminal, total: int) -> None:
        super().__init__(terminal.stream)
        self.terminal = terminal
        self.total = total
        self.done = 0
        self._started = time.monotonic()
        self._due = self._started + FIRST_LOOK
        self._text = ""
        terminal.before_line = self.clear

    def step(self, failures: int) -> None:
        """Count one more file as done; `failures` tests have failed so far."""
        self.done += 1
        now = time.monotonic()
        if now >= self._due:
            self._due = now + INTERVAL
            left = (now - self._started) / self.done * (self.total - self.done)
            # Once shown, the line stays, even if the rest turns out to be quick: a line that flickers is worse.
            if self._text or left > WORTH_SHOWING:
                self._text = self._drawn(failures, math.ceil(left))
        self.show(self._text)

    def end(self) -> None:
        """Remove the line for good."""
        self.clear()
        self._text = ""

    def _drawn(self, failures: int, left: int) -> str:
        failed = f", {failures} failed" if failures else ""
        clock = f"{left} s" if left < 60 else f"{left // 60}:{left % 60:02}"
        words = f" {self.done}/{self.total} tests{failed}, {clock} left"
        room = max(5, self.terminal.width - 1 - len(words))
        filled = room * self.done // self.total
        bar, track = self.terminal.signs["bar"] * filled, self.terminal.signs["track"] * (room - filled)
        return (f"\x1b[36m{bar}\x1b[0m" if self.terminal.colored else bar) + track + words


class LiveProgress(StatusLine):
    """Shows the current step of an agent (`LiveOptions.tell`)."""

    def __call__(self, doing: str) -> None:
        """Show it; the line goes away once the agent is done."""
        if doing:
            self.show(cut(printable(doing), LONGEST))
        else:
            self.clear()


class ReadingProgress(StatusLine):
    """Shows how far an adapter has read a file (`AdapterContext.progress`)."""

    def __call__(self, path: Path, done: int, total: int) -> None:
        """Show that `done` of `total` bytes are read. The line goes away once all are."""
        if done >= total:
            self.clear()
        else:
            share = 100 * done // max(total, 1)
            self.show(f"reading {printable(path.name)}  {share} % of {total / 1e6:,.0f} MB")
