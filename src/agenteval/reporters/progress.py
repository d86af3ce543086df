"""One line at the bottom of a terminal, while a run has more than a second of work left.

rich makes the line. It is removed before anything else is written, and at the end.
"""

import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval.reporters.terminal import Terminal, flush, write
from agenteval.text.fitting import cut, printable

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


FIRST_LOOK = 0.3
"""Seconds before the rest of the run is first estimated: a shorter run never imports rich."""
WORTH_SHOWING = 1.0
"""Seconds of work that must be left when the line first appears."""
INTERVAL = 0.1
"""Seconds between two drawings."""


class Progress:
    """How far a run of `total` files is. `step` is called for each one done, `hide` before anything is written."""

    def __init__(self, terminal: Terminal, total: int) -> None:
        self.terminal = terminal
        self.total = total
        self.done = 0
        self.failures = 0
        self._started = time.monotonic()
        self._due = self._started + FIRST_LOOK
        self._bar: Bar | None = None
        self._line = ""
        self._shown = False
        terminal.before_line = self.hide

    def step(self, failures: int) -> None:
        """One more file is done; `failures` tests have failed so far."""
        self.done += 1
        self.failures = failures
        now = time.monotonic()
        if now >= self._due:
            self._due = now + INTERVAL
            if self._bar or self._left(now) > WORTH_SHOWING:
                self._draw(now)
        self._show()

    def hide(self) -> None:
        """Remove the line."""
        if self._shown:
            write(self.terminal.stream, "\r\x1b[2K")
            self._shown = False

    def _show(self) -> None:
        """Put the line back."""
        if self._line and not self._shown:
            write(self.terminal.stream, self._line)
            flush(self.terminal.stream)
            self._shown = True

    def end(self) -> None:
        """Remove the line for good."""
        self.hide()
        self._line = ""

    def _left(self, now: float) -> float:
        """The seconds left, if the rest goes as fast as before."""
        return (now - self._started) / self.done * (self.total - self.done)

    def _draw(self, now: float) -> None:
        from rich.console import Console as Renderer

        self._bar = self._bar or self._make_bar()
        failed = f", {self.failures} failed" if self.failures else ""
        self._bar.update(
            self._bar.task_ids[0], completed=self.done, failed=failed, left=_clock(self._left(now))
        )
        renderer = Renderer(
            file=self.terminal.stream,
            width=self.terminal.width - 1,
            force_terminal=True,
            color_system="standard" if self.terminal.colored else None,
            legacy_windows=False,
            _environ={},
        )
        with renderer.capture() as captured:
            renderer.print(self._bar.get_renderable(), end="")
        self.hide()
        self._line = captured.get().rstrip("\n")

    def _make_bar(self) -> "Bar":
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            BarColumn(bar_width=None, complete_style="cyan", finished_style="cyan"),
            TextColumn("{task.completed}/{task.total} tests{task.fields[failed]}, {task.fields[left]} left"),
            expand=True,
        )
        bar.add_task("", total=self.total, failed="", left="")
        return bar


def _clock(seconds: float) -> str:
    """`12 s`, or `3:05` from a minute on."""
    whole = math.ceil(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02}"


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
