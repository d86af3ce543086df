"""What a command costs: wall time, CPU time and peak memory, as the kernel counts them."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LAUNCH = Path(__file__).with_name("launch.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds of wall time, seconds of CPU time (user and system), bytes of peak resident memory."""

    wall: float
    cpu: float
    rss: int


def cost(command: Sequence[str], env: Mapping[str, str]) -> Cost:
    """Run a command to its end in an environment. Exits when it fails, for what fails is not worth timing."""
    launch = [sys.executable, "-I", "-S", str(LAUNCH), *command]
    done = subprocess.run(
        launch, env=env, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit(f"exit code {done.returncode} of {' '.join(command)}")
    wall, cpu, rss = done.stdout.split()
    return Cost(wall=float(wall), cpu=float(cpu), rss=int(rss))
