"""Try live runs and `agenteval check` with a real, small language model: `make model`.

The agent of `shop/` is recorded, played again and again, and changed in three ways: without harm, with harm, and in the code of a
tool. Each step has an expectation; one that is not met makes the exit code 1.
"""

import argparse
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.model.server import ModelServer, llama, serving

SHOP = Path(__file__).with_name("shop")
REPLAYS = 20
_AGENTEVAL = Path(sys.executable).with_name("agenteval")
_RECORDINGS = 3
"""A real model fails now and then: as often as this it may try to pass both tests while it is recorded."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one file of the shop: a text, and the text in its place."""

    file: str
    old: str
    new: str

    def make(self, shop: Path) -> None:
        """Write the changed file."""
        path = shop / self.file
        text = path.read_text(encoding="utf-8")
        assert text.count(self.old) == 1, f"{self.file} does not have once: {self.old}"
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


HARMLESS = Change("instructions.md", "friendly assistant", "helpful assistant")
# It sounds shorter and no worse. But the model then takes the question for open again once it has the tool's answer, calls
# the tool again, and never answers.
HARMFUL = Change(
    "instructions.md",
    "Once you have its result, tell the customer in one short sentence.",
    "Answer in one short sentence.",
)
TOOL = Change("agent.py", "0)} in stock", "0)} pieces in stock")


@dataclass(frozen=True, slots=True)
class Step:
    """A step with its expectation, in words, and what came of it."""

    name: str
    expected: str
    got: str
    is_met: bool
    seconds: float


class Shop:
    """A copy of the shop under git, with its agent on the given server."""

    def __init__(self, folder: Path, server: ModelServer) -> None:
        self.folder = folder / "shop"
        self.server = server
        shutil.copytree(SHOP, self.folder, ignore=shutil.ignore_patterns("artifacts", "__pycache__"))
        configuration = self.folder / "agenteval.yaml"
        address = f"  model: {{base_url: {server.base_url}}}\n"
        configuration.write_text(configuration.read_text(encoding="utf-8") + address, encoding="utf-8")
        self.git("init", "--quiet")
        self.commit("the shop")

    def git(self, *words: str) -> None:
        """Run git in the shop."""
        author = ("-c", "user.name=shop", "-c", "user.email=shop@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *author, *words], cwd=self.folder, check=True)

    def commit(self, message: str) -> None:
        """Commit all files."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def agenteval(self, *words: str) -> tuple[int, str]:
        """Run a command in the shop; return its exit code and what it prints."""
        command = [str(_AGENTEVAL), *words, "--no-progress"]
        environment = {
            key: value for key, value in os.environ.items() if not key.endswith(("_KEY", "_TOKEN"))
        }
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as running:
            try:
                screen, _ = running.communicate()
            except (
                BaseException
            ):  # also an interruption: it ends its agent, and only then this process goes on
                running.terminate()
                running.wait()
                raise
        return running.returncode, screen

    def record(self) -> Step:
        """Record the cassettes of both tests with the real model."""
        began = time.monotonic()
        for attempt in range(1, _RECORDINGS + 1):
            code, screen = self.agenteval("run", "--live", "record", "--run-id", f"record-{attempt}")
            if code == 0:
                break
            print(screen)
        cassettes = len(list(self.folder.glob("evals/*/cassette.json")))
        got = f"exit {code}, {cassettes} cassettes, attempt {attempt}"
        return Step(
            "record", "exit 0, 2 cassettes", got, code == 0 and cassettes == 2, time.monotonic() - began
        )

    def play(self, times: int) -> Step:
        """Play the cassettes, and compare the events of each run with those of the first."""
        began, requests = time.monotonic(), self.server.requests
        runs = [self._played(number) for number in range(times)]
        equal = sum(run == runs[0] for run in runs if run)
        asked = self.server.requests - requests
        expected = f"{times} of {times} equal, 0 requests"
        got = f"{equal} of {times} equal, {asked} requests"
        return Step("play", expected, got, got == expected, time.monotonic() - began)

    def _played(self, number: int) -> list[Any]:
        code, screen = self.agenteval("run", "--save-traces", "--run-id", f"play-{number}", "-q")
        if code != 0:
            print(screen)
            return []
        folder = self.folder / "artifacts" / f"play-{number}"
        traces = [
            json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.trace.json"))
        ]
        # A played run makes up the ids of its calls anew, as the model's service does.
        return [
            (event["type"], _without_made_up(event["data"])) for trace in traces for event in trace["events"]
        ]

    def check(self, name: str, change: Change, *words: str) -> tuple[int, dict[str, Any], str, float]:
        """Make a change and check it; return exit code, report, screen and seconds. Then the change is taken back."""
        began = time.monotonic()
        change.make(self.folder)
        code, screen = self.agenteval("check", "--run-id", name, *words)
        report = self.folder / "artifacts" / name / "check.json"
        found = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else {"tests": []}
        self.git("checkout", "--quiet", "--", change.file)
        return code, found, screen, time.monotonic() - began


def _without_made_up(data: Any) -> str:
    return re.sub(r"\btoolu_\w+", "", json.dumps(data))


def _rates(report: dict[str, Any]) -> tuple[list[str], str]:
    """The verdicts of the measured tests, and them in words with both rates."""
    measured = [(test["test_case_id"].split(".")[1], test["measurement"]) for test in report["tests"]]
    words = [
        f"{name} {each['verdict']} ({each['before']['passed']}/{each['before']['judged']} → "
        f"{each['after']['passed']}/{each['after']['judged']})"
        for name, each in measured
        if each
    ]
    return [each["verdict"] for _, each in measured if each], ", ".join(words)


def steps(shop: Shop, replays: int, trials: int) -> Iterator[Step]:
    """Take each step, one after another; nothing can be checked without a recording."""
    recorded = shop.record()
    yield recorded
    if not recorded.is_met:
        return
    shop.commit("cassettes")
    yield shop.play(replays)

    code, report, screen, seconds = shop.check("tool", TOOL)
    reach = {test["test_case_id"].split(".")[1]: test["reach"] for test in report["tests"]}
    print(screen)
    got = f"exit {code}, " + ", ".join(f"{name} {how}" for name, how in sorted(reach.items()))
    expected = "exit 2, order unreached, stock moved"
    yield Step("a tool's code", expected, got, got == expected, seconds)

    real = ("--model", "real", "--yes", "--trials", str(trials))
    code, report, screen, seconds = shop.check("harmless", HARMLESS, *real)
    print(screen)
    verdicts, words = _rates(report)
    is_met = code == 0 and len(verdicts) == 2 and not {"worse"}.intersection(verdicts)
    yield Step("harmless", "exit 0, none worse", f"exit {code}, {words}", is_met, seconds)

    code, report, screen, seconds = shop.check("harmful", HARMFUL, *real)
    print(screen)
    verdicts, words = _rates(report)
    is_met = code == 1 and "worse" in verdicts
    yield Step("harmful", "exit 1, worse", f"exit {code}, {words}", is_met, seconds)


def machine() -> str:
    """Name the machine: its processor and the cores that this process may use."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.is_file() else ""
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return f"{model[1] if model else platform.machine()}, {len(os.sched_getaffinity(0))} cores"


def _interrupted(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Parse the command line, and try everything, or only serve the model."""
    parser = argparse.ArgumentParser(prog="make model ARGS=...", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--serve", action="store_true", help="only serve the model, until interrupted")
    parser.add_argument("--port", type=int, default=0, help="the port to serve it at; by default a free one")
    parser.add_argument("--replays", type=int, default=REPLAYS, help="how often the cassettes are played")
    parser.add_argument("--trials", type=int, default=6, help="the trials on each side of a test")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, _interrupted)
    with serving(llama(), asked.port) as server:
        print(f"the model is served at {server.base_url}; {machine()}", flush=True)
        if asked.serve:
            signal.pause()
        with tempfile.TemporaryDirectory() as folder:
            return _judged(steps(Shop(Path(folder), server), asked.replays, asked.trials))


def _judged(taken: Iterator[Step]) -> int:
    done = []
    for step in taken:
        done.append(step)
        print(
            f"{'ok' if step.is_met else 'NOT MET':8}{step.name}: {step.got} ({step.seconds:.0f} s)",
            flush=True,
        )
    print("\n| step | expected | got | seconds |\n| --- | --- | --- | --- |")
    for step in done:
        mark = "" if step.is_met else " **not met**"
        print(f"| {step.name} | {step.expected} | {step.got}{mark} | {step.seconds:.0f} |")
    return int(not all(step.is_met for step in done))


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
