"""`make fuzz`: all targets, each with every engine there is, within a time; what was found ends in artifacts/fuzz.

Exit code 0 when nothing was found, 1 when something was.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKER = ["-m", "fuzz.worker"]
ENGINES = ("hypothesis", "atheris")
SHARES = {"spec": 2, "bundle": 2, "assertions": 4, "matchers": 2, "command-line": 3}
"""How the time is divided among the targets."""
GRACE_S = 60
"""How long a worker may take to start and to end, beyond its time, before it counts as hanging."""


@dataclass
class Tried:
    """What came of one target with one engine."""

    target: str
    engine: str
    inputs: int
    seconds: float
    slowest_s: float
    findings: list[Path]

    def row(self) -> str:
        """One line of the table."""
        number = (
            f"{self.inputs:>10,}  {self.seconds:>6.0f} s  {self.slowest_s:>7.2f} s  {len(self.findings):>8}"
        )
        return f"{self.target:<14}{self.engine:<12}{number}"


def fuzz(target: str, engine: str, seconds: float, folder: Path) -> Tried:
    """Run workers until the time is up; one that met an input that hangs is replaced."""
    inputs, slowest, started, part = 0, 0.0, time.monotonic(), 0
    findings: list[Path] = []
    while (left := seconds - (time.monotonic() - started)) > 1 or not part:
        here = folder / f"{target}-{engine}-{part}"
        here.mkdir(parents=True)
        code = _work(target, engine, left, here)
        told = (
            json.loads((here / "stats.json").read_text(encoding="utf-8"))
            if (here / "stats.json").exists()
            else {}
        )
        inputs += told.get("inputs", 0)
        slowest = max(slowest, told.get("slowest_s", 0))
        findings += sorted(here.glob("finding-*.input"))
        if code:
            findings.append(_ended_early(here, code))
        shutil.rmtree(here / "corpus", ignore_errors=True)
        part += 1
    return Tried(target, engine, inputs, time.monotonic() - started, slowest, findings)


def _work(target: str, engine: str, seconds: float, folder: Path) -> int:
    command = [sys.executable, *WORKER, target, engine, str(seconds), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "PYTHONHASHSEED": "0"}
    with (folder / "log").open("wb") as log:
        try:
            done = subprocess.run(
                command,
                stdout=log,
                stderr=log,
                cwd=ROOT,
                env=environment,
                timeout=seconds + GRACE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return -1
    return done.returncode


def _ended_early(folder: Path, code: int) -> Path:
    """The input at which a worker ended that should not have: it hung, or the interpreter died."""
    path = folder / "finding-hang-or-crash.input"
    shutil.copy(folder / "current", path)
    stack = (folder / "stack").read_text(encoding="utf-8")
    log = (folder / "log").read_text(encoding="utf-8", errors="replace")[-4000:]
    path.with_suffix(".txt").write_text(f"exit code {code}\n{stack}\n{log}", encoding="utf-8")
    return path


def plan(seconds: float, names: Sequence[str], engines: Sequence[str]) -> Iterator[tuple[str, str, float]]:
    """Which target is fuzzed with which engine for how long."""
    total = sum(SHARES[name] for name in names)
    for name in names:
        for engine in engines:
            yield name, engine, seconds * SHARES[name] / total / len(engines)


def main() -> int:
    """Fuzz, and tell."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="in all [600]")
    parser.add_argument("--target", action="append", choices=list(SHARES), help="only this one (repeatable)")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="only this one (repeatable)")
    given = parser.parse_args()
    engines = given.engine or list(ENGINES)
    if "atheris" in engines and find_spec("atheris") is None:
        engines.remove("atheris")
        print("atheris is not installed here: only hypothesis is used", flush=True)
    started = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    folder = ROOT / "artifacts" / "fuzz" / f"{started}-{os.getpid()}"  # another may start in the same second
    print(f"{'target':<14}{'engine':<12}{'inputs':>10}  {'time':>8}  {'slowest':>9}  findings", flush=True)
    tried = []
    for target, engine, seconds in plan(given.seconds, given.target or list(SHARES), engines):
        tried.append(fuzz(target, engine, seconds, folder))
        print(tried[-1].row(), flush=True)
    findings = [path for each in tried for path in each.findings]
    inputs, seconds = sum(each.inputs for each in tried), sum(each.seconds for each in tried)
    print(f"{inputs:,} inputs in {seconds:.0f} s, {len(findings)} findings")
    for path in findings:
        print(f"  {path.relative_to(ROOT)}")
    if not findings:
        shutil.rmtree(folder)
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
