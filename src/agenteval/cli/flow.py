"""How the tests of a run are chosen, ordered, and spread over processes."""

import os
from dataclasses import dataclass
from pathlib import Path

from agenteval.sharding import Shard

AUTO = "auto"
FEWEST_FOR_AUTO = 100
"""Starting workers takes about as long as running this many tests."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Flow:
    """The options. `workers` is a number of processes, or auto; `durations_from` is a run to divide by."""

    last_failed: bool = False
    failed_first: bool = False
    shard: Shard | None = None
    durations_from: Path | None = None
    workers: str = "1"
    progress: bool = True
    """Whether a terminal shows how far the run is."""

    @property
    def arranges(self) -> bool:
        """Whether the files differ from those found, or come in another order."""
        return self.last_failed or self.failed_first or self.shard is not None

    @property
    def parallel(self) -> bool:
        """Whether there may be more than one process."""
        return self.workers not in ("0", "1") and hasattr(os, "fork")

    def processes(self, files: int) -> int:
        """How many processes this number of files needs; 1 is the process of the command."""
        if self.workers != AUTO:
            return max(1, int(self.workers))
        return processors() if files >= FEWEST_FOR_AUTO else 1


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
