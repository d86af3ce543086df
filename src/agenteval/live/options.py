"""How tests are run live: what a command line and a configuration ask for."""

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
    """What makes a run worth no verdict: a reason code of `live.*`, what happened, what to do, and where a test says it."""
    return AdapterError(message, reason_code=reason_code, next_step=next_step, where=where)


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
    source: Path | None = None
    """The project as another commit has it: the agent gets its tracked files, and packages from where they are now."""
    cassette: "Cassette | None" = None
    """The cassette to play, in place of the one beside the test."""
    detailed: bool = False
    """True if the account of a run keeps all that the model was given, and the cassette."""
