"""The options of live runs, from the command line and the configuration."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agenteval.contracts.errors import AdapterError
from agenteval.live.scratch import scratch_name
from agenteval.loading.config import LiveConfig

if TYPE_CHECKING:
    from agenteval.live.cassette import Cassette

How = Literal["play", "record", "real"]
Stale = Literal["miss", "mark"]
RECORD_AGAIN = "record again with --live record"


def live_error(reason_code: str, message: str, next_step: str, *where: str) -> AdapterError:
    """Make the error of a run without a verdict: a reason code of `live.*`, the message, the advice, the place in the test."""
    return AdapterError(message, reason_code=reason_code, next_step=next_step, where=where)


class Budget:
    """The most that all live runs of one command may cost together, in US dollars; forked processes share it."""

    def __init__(self, most: float) -> None:
        from multiprocessing import Array

        self.most = most
        self._spent: Any = Array("d", 2)
        """The amount spent, and the cost of the most expensive run."""

    def take(self) -> float:
        """Return the amount left for the next run. Raises `AdapterError` (`live.over_budget`) if one like the dearest would exceed it."""
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
        """The amount spent so far."""
        return float(self._spent[0])


@dataclass(slots=True, kw_only=True)
class LiveOptions:
    """The options of live runs. `every` is true for all selected tests that can be, false for `mode: live` tests alone.

    `shadow` has all tools really run, and the sandbox open to the network (the mode `live-shadow` of suites).

    `scratch` is the folder in which scratch folders are made; `keep` leaves them there. `show_activity` is called with what an agent is doing, in a few words, and with nothing once it is done.
    """

    how: How = "play"
    every: bool = False
    stale: Stale = "miss"
    shadow: bool = False
    fail_on_approximate: bool = False
    keep: bool = False
    scratch: Path = field(default_factory=scratch_name)
    show_activity: Callable[[str], None] | None = None
    config: LiveConfig = field(default_factory=LiveConfig)
    root: Path = Path()
    """The project, to which paths in the configuration are relative."""
    budget: Budget | None = None
    """The most that all runs together may cost."""
    source: Path | None = None
    """The project as another commit has it: the agent gets its tracked files, and packages from where they are now."""
    cassette: "Cassette | None" = None
    """The cassette to play, in place of the one beside the test."""
    detailed: bool = False
    """True if the account of a run keeps all that the model was given, and the cassette."""
