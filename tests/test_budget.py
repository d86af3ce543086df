"""The processor time of a step, and of its patterns."""

import re
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from time import process_time

import pytest

from agenteval.contracts import time_limits
from agenteval.contracts.errors import AdapterError, AssertionCrashError


def burn(seconds: float) -> None:
    """Use processor time up."""
    until = process_time() + seconds
    while process_time() < until:
        pass


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_budget_is_more_than_nothing(seconds: float) -> None:
    """A limit of zero would stop every pattern."""
    for patterns, step in ((seconds, 1.0), (1.0, seconds)):
        with pytest.raises(ValueError, match=f"must be more than 0 seconds, got {seconds:g}"):
            time_limits.set_seconds(patterns, step)
    assert (time_limits.SECONDS, time_limits.STEP_SECONDS) == (2.0, 10.0)


def test_what_is_spent_adds_up() -> None:
    """Within one step, and steps that are parts of it, over all that spends from it; what lies between costs nothing."""
    with time_limits.step(AssertionCrashError):
        with time_limits.spending() as whole:
            burn(0.02)
        burn(0.05)
        with time_limits.step(AssertionCrashError), time_limits.spending() as left:
            assert whole == 2
            assert 1.9 < left < 1.98
    with time_limits.step(AssertionCrashError), time_limits.spending() as new:
        assert new == 2
    with time_limits.spending() as outside:
        assert outside == 2


def test_a_budget_is_spent_when_its_seconds_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting uses none of them, whatever else the machine does."""
    monkeypatch.setattr(time_limits, "SECONDS", 0.02)
    with time_limits.step(AssertionCrashError):
        with time_limits.spending():
            time.sleep(0.03)
        with time_limits.spending() as left:
            assert left > 0
            burn(0.03)
        with time_limits.spending() as left:
            assert left < 0


TOLD = "used up the 0.05 s of processor time that it may take"


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that a test can wait for."""
    monkeypatch.setattr(time_limits, "STEP_SECONDS", 0.05)


def loop() -> None:
    """Look at nothing, without end."""
    while True:
        pass


def deaf() -> None:
    """Catch every error, as the code of a plugin may."""
    while True:
        with suppress(Exception):
            loop()


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    "endless",
    [loop, deaf, lambda: re.match("(a|aa)+$", "a" * 99 + "b"), lambda: max(range(10**9), key=str)],
    ids=["loop", "deaf", "pattern of Python", "callback"],
)
def test_a_step_is_interrupted_wherever_it_is(endless: Callable[[], object]) -> None:
    """The error is the one that was asked for, and tells the limit; the next step has all its time."""
    with pytest.raises(AdapterError, match=f"^{TOLD}$"), time_limits.step(AdapterError):
        endless()
    with time_limits.step(AdapterError):
        burn(0.02)


@pytest.mark.usefixtures("short")
def test_a_step_within_a_step_ends_with_it() -> None:
    """With the error of the outer one: it is that which takes too long."""
    with (
        pytest.raises(AssertionCrashError, match=f"^{TOLD}$"),
        time_limits.step(AssertionCrashError),
        time_limits.step(AdapterError),
    ):
        loop()


@pytest.mark.usefixtures("short")
def test_what_catches_an_interruption_is_interrupted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it once, what catches all exceptions would go on for ever."""
    monkeypatch.setattr(time_limits, "_AGAIN", 0.02)
    with pytest.raises(AdapterError), time_limits.step(AdapterError):
        try:
            loop()
        except BaseException:  # noqa: BLE001 - that is the point
            loop()


@pytest.mark.usefixtures("short")
def test_a_step_that_ends_in_time_is_not_interrupted_afterwards() -> None:
    """Nor does waiting use its time up."""
    with time_limits.step(AdapterError):
        time.sleep(0.1)
    burn(0.1)
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_another_error_is_what_it_was() -> None:
    """A step changes nothing about what goes wrong in it."""
    with pytest.raises(ZeroDivisionError), time_limits.step(AdapterError):
        _ = 1 / 0


@pytest.mark.usefixtures("short")
def test_a_step_that_reads_on_has_its_time_anew() -> None:
    """A file of any size is read part by part, each in time."""
    with time_limits.step(AdapterError):
        for _ in range(4):
            burn(0.03)
            time_limits.renew()
            time_limits.check()
    with pytest.raises(AdapterError), time_limits.step(AdapterError):
        time_limits.renew()
        loop()
    time_limits.renew()
    time_limits.check()


@pytest.fixture
def no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """No signal can interrupt, as on Windows."""
    monkeypatch.setattr(time_limits, "_has_signal", lambda: False)


@pytest.mark.usefixtures("short", "no_timer")
def test_where_there_is_no_timer_a_loop_can_ask() -> None:
    """It ends at the next time that it asks."""
    with pytest.raises(AdapterError, match=f"^{TOLD}$"), time_limits.step(AdapterError):
        burn(0.06)
        time_limits.check()


@pytest.mark.usefixtures("short")
def test_in_another_thread_a_loop_can_ask() -> None:
    """Only the main thread gets signals; nothing reaches it here."""
    caught: list[AdapterError] = []

    def asking() -> None:
        try:
            with time_limits.step(AdapterError):
                while True:
                    time_limits.check()
        except AdapterError as error:
            caught.append(error)

    thread = threading.Thread(target=asking)
    thread.start()
    thread.join()
    assert [each.message for each in caught] == [TOLD]


def test_a_profiler_keeps_its_signal() -> None:
    """A step takes a timer only where nobody else has it."""
    before = signal.signal(signal.SIGPROF, signal.SIG_IGN)
    try:
        assert not time_limits._has_signal.__wrapped__()
        assert signal.getsignal(signal.SIGPROF) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGPROF, before)
