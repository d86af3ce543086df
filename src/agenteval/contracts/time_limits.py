"""The processor time that a step of a run may take, so that no input keeps it from ending.

A step is the checking of one file, the judging by one assertion, or the redaction of one text. Within it, authors'
patterns share a smaller budget: a thousand slow patterns take no longer than one. Both count processor time, not
wall-clock time: a busy machine changes no verdict.

A timer interrupts a step wherever it is, in this package or in a plugin. There is none on Windows and outside of the
main thread. There, only `check` ends it, which loops over texts of authors and agents may call at each turn.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from time import process_time
from types import FrameType

from agenteval.contracts.errors import AgentEvalError

SECONDS = 2.0
"""The seconds that the patterns of a step may take together."""
STEP_SECONDS = 10.0
"""The seconds that a step may take."""
_AGAIN = 1.0
"""A step that has caught its interruption is interrupted again after so many seconds."""


def set_seconds(patterns: float, step: float = STEP_SECONDS) -> None:
    """Change both limits, for the whole process."""
    for seconds in (patterns, step):
        if not seconds > 0:
            raise ValueError(f"a time limit must be more than 0 seconds, got {seconds:g}")
    global SECONDS, STEP_SECONDS
    SECONDS, STEP_SECONDS = patterns, step


class Expired(KeyboardInterrupt):
    """The time of the step is used up: an interruption, which code lets pass even where it catches all errors."""


_patterns = SECONDS
"""The seconds that the patterns of the step may still take."""
_until: float | None = None
"""The moment at which the time of the step is used up; None outside of steps."""


class step:  # noqa: N801 - reads as the function that it could be, were that not slower
    """All inside is one step: `with step(error): …`. A step within another is a part of it.

    Raises what `error` makes of the words about the limit that was reached: `used up the 10 s of processor time …`.
    """

    __slots__ = ("_error", "_is_part", "_timed")

    def __init__(self, error: Callable[[str], AgentEvalError]) -> None:
        self._error = error

    def __enter__(self) -> None:
        global _patterns, _until
        self._is_part = _until is not None
        if not self._is_part:
            _patterns, _until = SECONDS, process_time() + STEP_SECONDS
            self._timed = threading.current_thread() is threading.main_thread() and _has_signal()
            if self._timed:
                signal.setitimer(signal.ITIMER_PROF, STEP_SECONDS, _AGAIN)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        global _until  # noqa: PLW0603 - one step at a time
        if self._is_part:
            return
        _until = None
        if self._timed:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if isinstance(error, Expired):
            raise self._error(f"used up the {STEP_SECONDS:g} s of processor time that it may take") from None


def check() -> None:
    """End the step if its time is used up. For loops, where there may be no timer; takes less than a microsecond."""
    if _until is not None and process_time() > _until:
        raise Expired


def renew() -> None:
    """Give the step all its time once more: the next part of a file of any size has been read."""
    global _until  # noqa: PLW0603 - one step at a time
    if _until is not None:
        _until = process_time() + STEP_SECONDS


@cache
def _has_signal() -> bool:
    """Return whether there is a signal for this timer that is not in use: a profiler may have it."""
    free = hasattr(signal, "SIGPROF") and signal.getsignal(signal.SIGPROF) is signal.SIG_DFL
    if free:
        signal.signal(signal.SIGPROF, _interrupt)
    return free


def _interrupt(_: int, frame: FrameType | None) -> None:
    is_here = frame is not None and frame.f_globals is globals()  # a step that ends must end whole
    if not is_here:
        check()


@contextmanager
def spending() -> Iterator[float]:
    """Charge the time spent inside to the patterns of the step; outside of steps there is a new budget each time.

    Yields the seconds that are left. Not to be nested.
    """
    global _patterns  # noqa: PLW0603 - assertions are judged one after another
    if _until is None:
        _patterns = SECONDS
    started = process_time()
    try:
        yield _patterns
    finally:
        _patterns -= process_time() - started
