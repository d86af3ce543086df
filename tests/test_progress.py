"""The line of progress: on a terminal only, while there is more than a second of work left, and gone without trace."""

import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agenteval.reporters.progress import Progress
from agenteval.reporters.terminal import Terminal
from plugin_projects import SHOUTS, asserting, plugged
from projects import Project
from screen import Screen

CLEAR = "\r\x1b[2K"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still until it is set."""
    now = [0.0]
    monkeypatch.setattr("agenteval.reporters.progress.time.monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    return now


def shown(clock: list[float], times: list[float], total: int, failures: int = 0) -> str:
    """What is on the terminal after a step at each of these times."""
    screen = Screen(terminal=True)
    made = Progress(Terminal(screen, color="never"), total)
    for now in times:
        clock[0] = now
        made.step(failures)
    return screen.text()


def test_it_tells_how_far_the_run_is(clock: list[float]) -> None:
    """Tests done, of how many, and an estimate of the time left."""
    line = shown(clock, [0.5, 1.0], 25)
    first, second = line.split(CLEAR)
    assert first.endswith(" 1/25 tests, 12 s left")
    assert second == f"{'━' * 2}{'─' * 35} 2/25 tests, 12 s left"
    assert len(second) == 59


def test_it_tells_failures(clock: list[float]) -> None:
    """Failures so far, as soon as there are some; minutes as minutes."""
    assert shown(clock, [2.0], 100, failures=3).endswith(" 1/100 tests, 3 failed, 3:18 left")


@pytest.mark.parametrize(
    ("total", "left"), [(60, "59 s"), (61, "1:00"), (62, "1:01"), (121, "2:00"), (238, "3:57")]
)
def test_minutes_are_told_as_such(clock: list[float], total: int, left: str) -> None:
    """From one on, with their seconds."""
    assert shown(clock, [1.0], total).endswith(f" 1/{total} tests, {left} left")


def test_a_short_run_has_none(clock: list[float]) -> None:
    """Nothing is written while it is too early to say, nor when less than a second is left."""
    assert shown(clock, [0.1, 0.2], 1000) == ""
    assert shown(clock, [0.5, 1.0], 3) == ""


def test_it_is_drawn_no_more_often_than_can_be_seen(clock: list[float]) -> None:
    """Ten times a second; steps in between cost nothing."""
    assert shown(clock, [1 + at / 1000 for at in range(500)], 10_000).count(" tests") == 5


def test_lines_push_it_down(clock: list[float]) -> None:
    """What is written takes its place; the line comes back below, and leaves nothing at the end."""
    screen = Screen(terminal=True)
    terminal = Terminal(screen, color="never")
    made = Progress(terminal, 100)
    clock[0] = 1.0
    made.step(0)
    terminal.emit("PASS one")
    terminal.emit("PASS two")
    made.step(0)
    made.end()
    made.end()
    first, second, third = screen.text().split(CLEAR)
    assert second == f"PASS one\nPASS two\n{first}"
    assert third == ""


def on_a_terminal(project: Project, *options: str, term: str = "xterm") -> str:
    """What a run of many slow tests writes to a real terminal."""
    reading, writing = pty.openpty()
    command = [sys.executable, "-m", "agenteval", "run", "tests", "-q", *options]
    env = {**os.environ, "TERM": term, "COLUMNS": "80"}
    with subprocess.Popen(command, stdout=writing, stderr=writing, cwd=project.root, env=env) as process:
        os.close(writing)
        pieces = []
        while True:
            try:
                piece = os.read(reading, 4096)
            except OSError:
                break
            if not piece:
                break
            pieces.append(piece)
        process.wait()
    os.close(reading)
    return b"".join(pieces).decode()


@pytest.fixture
def slow(tmp_path: Path) -> Project:
    """A project whose tests take a third of a second each."""
    made = plugged(
        tmp_path, SHOUTS.replace("        text =", "        import time; time.sleep(0.3)\n        text =")
    )
    for at in range(5):
        made.add("pass", f"{at}", assertions=asserting())
    return made


def test_a_real_terminal(slow: Project) -> None:
    """It is there during the run, and not after it."""
    out = on_a_terminal(slow)
    assert " 1/5 tests, 1 failed" in out
    assert "summary.json" in out.rpartition(CLEAR)[2]


def test_who_does_not_want_it(slow: Project) -> None:
    """`--no-progress`, or a terminal that takes nothing back: no control character is written."""
    with ThreadPoolExecutor() as pool:  # they mostly sleep
        unwanted = pool.submit(on_a_terminal, slow, "--no-progress")
        dumb = pool.submit(on_a_terminal, slow, term="dumb")
    for out in (unwanted.result(), dumb.result()):
        assert "\x1b" not in out
        assert "5 failed" in out


def test_nothing_when_piped(slow: Project) -> None:
    """Neither on stdout nor on stderr, and rich is not even imported."""
    code = (
        "import sys\nfrom agenteval.cli import main\n"
        "main(['run', 'tests', '-q'])\nassert 'rich' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=slow.root, capture_output=True, text=True, check=True
    )
    assert " left" not in done.stdout
    assert done.stderr == ""
