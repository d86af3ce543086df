"""How tests are run live: what a command line and a configuration ask for."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agenteval.contracts.errors import AdapterError
from agenteval.loading.config import LiveConfig
from agenteval.reading.documents import read_bytes

How = Literal["play", "record", "real"]
Stale = Literal["miss", "mark"]
RECORD_AGAIN = "record again with --live record"
CONTAINER = "container"
"""The file in a scratch folder that names the runtime and the container that runs for it."""


def live_error(reason_code: str, message: str, next_step: str, *where: str) -> AdapterError:
    """What makes a run worth no verdict: a reason code of `live.*`, what happened, what to do, and where a test says it."""
    return AdapterError(message, reason_code=reason_code, next_step=next_step, where=where)


def scratch_name() -> Path:
    """A new name for the folder that holds the scratch folders of this process and its workers."""
    return Path(_temporary_folder(), f"{_SCRATCH}{os.getpid()}-{os.urandom(4).hex()}")


_SCRATCH = "agenteval-live-"
_LONGEST = 40
"""A socket's name may have 107 bytes, and ours lie two folders deeper."""


def _temporary_folder() -> str:
    import tempfile

    folder = tempfile.gettempdir()
    return folder if len(folder) <= _LONGEST else "/tmp"  # noqa: S108


class Budget:
    """What all live runs of one command may cost together, in US dollars, in whatever forked process they are made."""

    def __init__(self, most: float) -> None:
        from multiprocessing import Array

        self.most = most
        self._spent: Any = Array("d", 2)
        """What was spent, and what the most expensive run cost."""

    def take(self) -> float:
        """What the next run may cost. Raises `AdapterError` (`live.over_budget`) when one like those before it would be too much."""
        with self._spent.get_lock():
            spent, largest = float(self._spent[0]), float(self._spent[1])
        if spent + largest > self.most or spent >= self.most:
            raise live_error(
                "live.over_budget",
                f"not run: {spent:.4f} of {self.most:.2f} US dollars are spent, and the most expensive run so far cost {largest:.4f}",
                "raise --max-cost, or run fewer tests or trials",
            )
        return self.most - spent

    def pay(self, cost: float) -> None:
        """Count what a run has cost."""
        with self._spent.get_lock():
            self._spent[0] += cost
            self._spent[1] = max(self._spent[1], cost)

    @property
    def spent(self) -> float:
        """What was spent so far."""
        return float(self._spent[0])


@dataclass(slots=True, kw_only=True)
class LiveOptions:
    """How tests are run live. `every` is true for all selected tests that can be, false for `mode: live` tests alone.

    `shadow` has all tools really run, and the sandbox open to the network (the mode `live-shadow` of suites).

    `scratch` is the folder in which scratch folders are made; `keep` leaves them there. `tell` is called with what an agent is doing, in a few words, and with nothing once it is done.
    """

    how: How = "play"
    every: bool = False
    stale: Stale = "miss"
    shadow: bool = False
    fail_on_approximate: bool = False
    keep: bool = False
    scratch: Path = field(default_factory=scratch_name)
    tell: Callable[[str], None] | None = None
    config: LiveConfig = field(default_factory=LiveConfig)
    root: Path = Path()
    """The project, to which paths in the configuration are relative."""
    budget: Budget | None = None
    """What all runs together may cost."""


@contextmanager
def scratch_folder(*, keep: bool) -> Iterator[Path]:
    """The name of a folder for the scratch folders of one run, in whatever process; nothing of it is left behind."""
    folder = scratch_name()
    if keep:
        folder = folder.with_name(folder.name.replace("live", "kept"))
    try:
        yield folder
    finally:
        if folder.exists():
            _remove(folder, keep=keep)  # processes that were killed could not clean up


def remove_leftovers() -> None:
    """Remove what runs have left behind that were killed, and could not clean up after themselves."""
    for folder in Path(_temporary_folder()).glob(f"{_SCRATCH}*"):
        process = folder.name.removeprefix(_SCRATCH).partition("-")[0]
        with suppress(OSError):
            if process.isdecimal() and folder.stat().st_uid == os.getuid():
                try:
                    os.kill(int(process), 0)
                except ProcessLookupError:
                    _remove(folder)


def _remove(folder: Path, *, keep: bool = False) -> None:
    """End the containers that run for a folder; remove it, unless it is to be kept."""
    import shutil
    import subprocess

    for file in folder.glob(f"*/{CONTAINER}"):
        with suppress(OSError, ValueError, subprocess.TimeoutExpired):
            runtime, name = read_bytes(file).decode().split()
            stop = [runtime, "rm", "--force", name]
            subprocess.run(stop, capture_output=True, timeout=20, check=False)  # noqa: S603
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
