"""Seconds of 10,000 replay tests and of 200 live runs: in one process, in two, and on a Dask cluster of two workers.

`PYTHONPATH=tests python -m benchmarks.scaling [REPLAYS LIVE]`. The cluster runs already, as one that is shared does; connecting, checking and sending
the project are in its figures. Wall time of the command, once each; 0 leaves one out. Live runs play their model from a cassette, in bubblewrap.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from benchmarks.suites import copies

from live_projects import LOOKED_UP, LiveProject


def seconds(folder: Path, paths: str, *options: str) -> float:
    """The wall time of a run."""
    command = [sys.executable, "-m", "agenteval", "run", paths, "-q", "--no-progress", *options]
    clock = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    print("   ", done.stdout.strip().splitlines()[0])
    return time.perf_counter() - clock


def measure(what: str, number: int, folder: Path, paths: str, address: str) -> None:
    """Print the figures of one suite."""
    one = seconds(folder, paths, "-n", "1")
    two = seconds(folder, paths, "-n", "2")
    spread = seconds(folder, paths, "--cluster", address)
    for how, took in (("one process", one), ("-n 2", two), ("cluster of two", spread)):
        print(f"{number} {what}, {how:15} {took:7.1f} s  {took / number * 1000:7.2f} ms each")
    print(f"{number} {what}, cluster over -n 2   {(spread - two) / number * 1000:+7.2f} ms each", flush=True)


def main() -> None:
    """Measure both."""
    replays, live = map(int, sys.argv[1:3] or (10_000, 200))
    program = "from agenteval.running.cluster import serve_cluster; serve_cluster()"
    cluster = subprocess.Popen(
        [sys.executable, "-P", "-c", program, "2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert cluster.stdout
    address = cluster.stdout.readline().strip()
    print("load:", os.getloadavg()[0])
    with tempfile.TemporaryDirectory() as made:
        if replays:
            folder = Path(made, "replay")
            copies(replays, folder / "evals")
            (folder / "agenteval.yaml").write_text("color: never\n", encoding="utf-8")
            measure("replay tests", replays, folder, "evals", address)
        folder = Path(made, "live")
        folder.mkdir()
        if not live:
            cluster.communicate(timeout=30)
            return
        with pytest.MonkeyPatch.context() as patch:
            project = LiveProject(folder, patch)
            (folder / "evals/order/test.yaml").unlink()
            for number in range(live):
                project.test(name=f"order-{number:03}")
            project.track()
            project.recorded(LOOKED_UP * live, "-n", "1")
            project.track()
        measure("live runs", live, folder, "evals", address)
    cluster.communicate(timeout=30)


if __name__ == "__main__":
    main()
