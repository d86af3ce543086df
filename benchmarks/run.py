"""Time agenteval beside a hand-written pytest suite that does the same work: `make bench`.

Both sides run in turn, on the same files in memory (/dev/shm where there is one), with their bytecode compiled
and without the start-up hooks that an environment may have (`python -S`). The best of several repetitions counts,
since noise only ever adds. Exits 1 when a target is missed.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from benchmarks.suites import copies, long_run
from benchmarks.timing import Cost, cost
from benchmarks.transcripts import long_run as long_recorded_run
from benchmarks.transcripts import long_transcript

HANDWRITTEN = Path(__file__).resolve().parent / "handwritten" / "test_examples.py"
MB = 1_000_000
BIG_EVENTS = 20_000
"""Events of a recording of 10 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured figure. Without a target it is told, not judged."""

    what: str
    value: float
    unit: str
    target: float | None
    detail: str

    @property
    def ok(self) -> bool:
        """Whether the target is met."""
        return self.target is None or self.value <= self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured."""

    short_repeats: int
    long_repeats: int
    suite: int
    memory_suites: tuple[int, ...]
    lengths: tuple[int, int, int]
    transcript: int


FULL = Plan(
    short_repeats=15,
    long_repeats=5,
    suite=1000,
    memory_suites=(100, 1000, 5000),
    lengths=(1000, 10_000, 100_000),
    transcript=200 * MB,
)
QUICK = Plan(
    short_repeats=5,
    long_repeats=2,
    suite=200,
    memory_suites=(100, 400),
    lengths=(1000, 5000, 25_000),
    transcript=20 * MB,
)


class Bench:
    """The two competitors, and a folder in which every run writes to a place of its own."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.plan = plan
        self.numbers = count()
        self.pytest_file = folder / "pytest" / HANDWRITTEN.name
        self.pytest_file.parent.mkdir()
        shutil.copy(HANDWRITTEN, self.pytest_file)
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.env["PYTHONPATH"] = os.pathsep.join(
            path for path in sys.path if path not in ("", str(Path.cwd()))
        )
        self.env["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        self.env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    def run(self, module: str, *arguments: str, **env: str) -> Cost:
        """The cost of one command."""
        return cost([sys.executable, "-S", "-m", module, *arguments], {**self.env, **env})

    def agenteval(self, suite: Path, *options: str) -> Cost:
        """`agenteval run`."""
        return self.run("agenteval", "run", str(suite), "-q", *options, "--artifacts-dir", str(self.fresh()))

    def pytest(self, suite: Path, *, lean: bool = False, redact: bool = False) -> Cost:
        """The hand-written suite, with nothing loaded that it does not need.

        `redact` keeps secrets out of its files; `lean` leaves out validation, and takes word overlap for
        support by the sources.
        """
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--rootdir",
            str(self.pytest_file.parent),
        ]
        env = {
            "SUITE": str(suite),
            "OUT": str(self.fresh()),
            "LEAN": str(int(lean)),
            "REDACT": str(int(redact)),
        }
        return self.run("pytest", *options, str(self.pytest_file), **env)

    def fresh(self) -> Path:
        """A folder that does not exist yet: nothing is deleted between runs."""
        return self.folder / f"out-{next(self.numbers)}"

    def rows(self) -> Iterator[Row]:
        """All figures, as they are measured."""
        yield self.version()
        yield self.one_test()
        yield from self.instructions()
        yield from self.many_tests()
        yield self.two_workers()
        yield self.mutants()
        yield from self.big_recording()
        yield self.growth_with_events()
        yield self.long_transcript()
        yield self.long_recorded_run()
        yield from self.memory()

    def version(self) -> Row:
        """How long the command takes to say its version."""
        pairs = [
            (self.run("agenteval", "--version"), self.run("pytest", "--version"))
            for _ in range(self.plan.short_repeats)
        ]
        return wall_ratio("--version, wall time / pytest", pairs, target=0.5)

    def instructions(self) -> Iterator[Row]:
        """What one test, and each further one, has the processor do: steady where times are not. Nothing without valgrind."""
        if not shutil.which("valgrind"):
            return
        counts = [self.counted(copies(tests, self.folder / f"counted-{tests}")) for tests in (1, 100, 200)]
        one, further = counts[0] / 1e6, (counts[2] - counts[1]) / 100 / 1e6  # of 100, all kinds have been met
        detail = "in one process"
        yield Row(what="1 test, instructions", value=one, unit="M", target=600, detail=detail)
        yield Row(what="each further test, instructions", value=further, unit="M", target=7.5, detail=detail)

    def counted(self, suite: Path) -> int:
        """The instructions of `agenteval run -n 1`, the second time, when all bytecode is there."""
        self.agenteval(suite, "-n", "1")
        counting = ("valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={os.devnull}")
        command = [*counting, sys.executable, "-S", "-m", "agenteval", "run", str(suite), "-q", "-n", "1"]
        done = subprocess.run(
            [*command, "--artifacts-dir", str(self.fresh())],
            env={**self.env, "PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        refs = re.search(r"I +refs: +([\d,]+)", done.stderr)
        assert refs, done.stderr
        return int(refs[1].replace(",", ""))

    def one_test(self) -> Row:
        """How long one test takes, from the shell and back."""
        suite = copies(1, self.folder / "one")
        repeats = range(self.plan.short_repeats)
        pairs = [(self.agenteval(suite), self.pytest(suite, lean=True)) for _ in repeats]
        return wall_ratio("1 test, wall time / pytest", pairs, target=0.6)

    def many_tests(self) -> Iterator[Row]:
        """What a large suite costs the machine, beside the same checks and beside weaker ones."""
        suite = copies(self.plan.suite, self.folder / "many")
        runs = [
            (
                self.agenteval(suite, "--save-traces", "-n", "1").cpu,
                self.pytest(suite).cpu,
                self.pytest(suite, redact=True).cpu,
                self.pytest(suite, lean=True).cpu,
            )
            for _ in range(self.plan.long_repeats)
        ]
        ours, *theirs = (min(side) for side in zip(*runs, strict=True))
        names = (("pytest", 0.5), ("with redaction", None), ("lean", None))
        for (name, target), their in zip(names, theirs, strict=True):
            what = f"{self.plan.suite} tests with all files, CPU time / {name}"
            detail = f"{ours:.2f} s / {their:.2f} s"
            yield Row(what=what, value=ours / their, unit="x", target=target, detail=detail)

    def two_workers(self) -> Row:
        """How much sooner a large suite is done in two processes."""
        suite = copies(self.plan.suite, self.folder / "workers")
        repeats = range(2 * self.plan.long_repeats)
        pairs = [(self.agenteval(suite, "-n", "2"), self.agenteval(suite, "-n", "1")) for _ in repeats]
        what = f"{self.plan.suite} tests, wall time, -n 2 / one process"
        return wall_ratio(what, pairs, target=0.625)

    def mutants(self) -> Row:
        """How long one mutant takes: made, compared with the recording, judged by all assertions of its test."""
        suite = copies(self.plan.suite // 2, self.folder / "mutants")
        command = ["mutate", str(suite), "-q", "-n", "2"]
        listed = subprocess.run(
            [sys.executable, "-S", "-m", "agenteval", *command, "--json"],
            env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        report = json.loads(listed.stdout)
        number = report["killed"] + report["survived"] + report["equivalent"]
        spent = min((self.run("agenteval", *command) for _ in range(3)), key=lambda each: each.wall)
        detail = f"{number / spent.wall:,.0f} of {number:,} a second, {1000 * spent.cpu / number:.2f} ms of CPU time"
        value = 1000 * spent.wall / number
        return Row(what="1 mutant, wall time, -n 2", value=value, unit="ms", target=1.0, detail=detail)

    def big_recording(self) -> Iterator[Row]:
        """One test with a recording of 10 MB, without and with the check that reads all of its results."""
        suite = long_run(BIG_EVENTS, 500, self.folder / "big", grounded=False)
        size = (suite / "replay.json").stat().st_size
        file = f"replay.json of {size / MB:.1f} MB"
        costs = [self.agenteval(suite) for _ in range(self.plan.long_repeats)]
        what = f"1 test of {BIG_EVENTS:,} events"
        wall = min(each.wall for each in costs)
        yield Row(what=f"{what}, wall time", value=wall, unit="s", target=2.0, detail=file)
        rss = min(each.rss for each in costs)
        detail = f"{rss / MB:.0f} MB for a {file}"
        yield Row(what=f"{what}, peak memory / file", value=rss / size, unit="x", target=8.0, detail=detail)
        grounded = self.agenteval(long_run(BIG_EVENTS, 500, self.folder / "big-grounded", grounded=True))
        detail = f"{grounded.rss / MB:.0f} MB, claims_supported_by_fixtures over all results"
        yield Row(what=f"{what}, grounded", value=grounded.wall, unit="s", target=None, detail=detail)

    def growth_with_events(self) -> Row:
        """Whether ten times the events take ten times as long: cost per further event, late / early."""
        lengths = self.plan.lengths
        suites = [long_run(n, 200, self.folder / f"events-{n}", grounded=True) for n in lengths]
        often = 2 * self.plan.long_repeats  # short runs differ by little: by noise
        repeats = (often, often, 2)
        times = [
            min(self.agenteval(suite).cpu for _ in range(n)) for suite, n in zip(suites, repeats, strict=True)
        ]
        detail = ", ".join(f"{n:,}: {time:.2f} s" for n, time in zip(lengths, times, strict=True))
        (few, some, lots), (short, middle, long) = lengths, times
        value = ((long - middle) / (lots - some)) / ((middle - short) / (some - few))
        return Row(what="CPU time per event, late / early", value=value, unit="x", target=1.5, detail=detail)

    def long_transcript(self) -> Row:
        """How much memory one run of a long transcript takes: it is streamed."""
        spent = self.agenteval(long_transcript(self.plan.transcript, self.folder / "transcript"))
        what = f"1 run of a transcript of {self.plan.transcript / MB:.0f} MB, peak memory"
        return Row(what=what, value=spent.rss / MB, unit="MB", target=300, detail=f"{spent.wall:.1f} s")

    def long_recorded_run(self) -> Row:
        """How much memory the trace of a transcript takes that is one run: its lines and its output are streamed."""
        path = long_recorded_run(self.plan.transcript, self.folder / "one-run")
        spent = self.run("agenteval", "trace", str(path))
        what = f"trace of one run of {self.plan.transcript / MB:.0f} MB, peak memory"
        return Row(what=what, value=spent.rss / MB, unit="MB", target=300, detail=f"{spent.wall:.1f} s")

    def memory(self) -> Iterator[Row]:
        """Peak memory by size of the suite, and how much each test adds."""
        peaks = []
        for tests in self.plan.memory_suites:
            suite = copies(tests, self.folder / f"memory-{tests}")
            peaks.append(self.agenteval(suite).rss)
            theirs = self.pytest(suite).rss
            detail = f"pytest {theirs / MB:.0f} MB"
            value = peaks[-1] / MB
            yield Row(what=f"{tests} tests, peak memory", value=value, unit="MB", target=None, detail=detail)
        added = (peaks[-1] - peaks[0]) / (self.plan.memory_suites[-1] - self.plan.memory_suites[0]) / 1000
        yield Row(what="memory that each test adds", value=added, unit="kB", target=16.0, detail="")


def wall_ratio(what: str, pairs: Sequence[tuple[Cost, Cost]], target: float) -> Row:
    """Best wall time of the first of each pair, over the best of the second."""
    ours, theirs = (min(side.wall for side in sides) for sides in zip(*pairs, strict=True))
    middle = statistics.median(ours.wall / theirs.wall for ours, theirs in pairs)
    detail = f"{ours * 1000:.0f} ms / {theirs * 1000:.0f} ms, median ratio {middle:.2f}"
    return Row(what=what, value=ours / theirs, unit="x", target=target, detail=detail)


def show(row: Row) -> str:
    """One line of the table."""
    target = f"<= {row.target:g}" if row.target is not None else ""
    verdict = "" if row.target is None else "ok" if row.ok else "MISSED"
    return f"{row.what:<57} {row.value:>8.2f} {row.unit:<3} {target:<7} {verdict:<7} {row.detail}".rstrip()


def main() -> int:
    """The exit code: 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smaller run, for a first impression")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    rows = []
    with tempfile.TemporaryDirectory(prefix="agenteval-bench-", dir=place) as folder:
        for row in Bench(Path(folder), QUICK if options.quick else FULL).rows():
            rows.append(row)
            if not options.json:
                print(show(row), flush=True)
    if options.json:
        machine = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}
        print(json.dumps({**machine, "rows": [{**asdict(row), "ok": row.ok} for row in rows]}, indent=2))
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
