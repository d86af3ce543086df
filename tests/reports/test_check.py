"""A check as people read it: golden files of three reports, and what no golden file shows.

`python tests/reports/test_check.py` writes the golden files again.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agenteval.comparing.check_report import CheckReport
from agenteval.reporters.check import filled_of, print_check
from agenteval.reporters.terminal import Terminal
from check_reports import PROMPT, SAMPLES, all_measured, checked_test, measured, reached, report, side
from screen import Screen

GOLDEN = Path(__file__).parent / "check"


def screen_of(check: CheckReport, *, width: int = 80, encoding: str = "utf-8", verbose: bool = False) -> str:
    """What a terminal without colours shows of a check."""
    screen = Screen(encoding, terminal=width < 140)
    terminal = Terminal(screen, color="never")
    terminal.is_terminal, terminal.width = width < 140, width
    terminal.room = width if terminal.is_terminal else sys.maxsize
    print_check(terminal, check, "artifacts/run-1", verbose=verbose)
    return screen.text()


TEXTS: dict[str, Callable[[], str]] = {
    **{
        f"{name.replace(' ', '-')}.txt": lambda make=make: screen_of(make())  # type: ignore[misc]
        for name, make in SAMPLES.items()
    },
    "measured-piped-ascii.txt": lambda: screen_of(all_measured(), width=140, encoding="ascii"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_golden_files(name: str) -> None:
    """Each report is what its file holds."""
    assert TEXTS[name]() == (GOLDEN / name).read_text(encoding="utf-8")


def test_the_first_line_tells_of_tests_that_are_not_measured() -> None:
    """Where that is allowed, which exits with 0."""
    first = screen_of(replace(reached(), allow_unmeasured=True)).splitlines()[0]
    assert first == "NOT MEASURED: 3 tests that only the model could judge"
    assert "NOT MEASURED" not in screen_of(reached())


def test_forty_tests_need_no_scrolling() -> None:
    """Unreached tests are a number, and of many measured ones those that held are another; `verbose` lists them all."""
    names = [f"command.orders.desk.{each}" for each in range(40)]
    worse = measured("worse", (6, 6), (0, 6), stopped_early=True)
    held = measured("held", (6, 6), (6, 6))
    tests = [
        checked_test(name, "reached", measurement=worse if number < 2 else held)
        for number, name in enumerate(names)
    ]
    few = [*tests[:4], *map(checked_test, names[4:])]
    for some in (few, tests):
        check = report(some, model="m", exit_code=1)
        assert len(screen_of(check).splitlines()) <= 30
    assert "✓ held    38 other tests" in screen_of(check)
    assert all(f"{name} " in screen_of(check, width=140, verbose=True) for name in names)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    """Whatever the ids: long ones lose the beginning that they share, or more. Paths that a reader copies stay whole."""
    tests = [
        checked_test(f"{'long-' * 12}{each}", "reached", measurement=measured("worse", (6, 6), (0, 6)))
        for each in range(2)
    ]
    lines = screen_of(report(tests, model="m"), width=width).splitlines()
    rates = [line for line in lines if "6/6" in line and "worse" in line]
    assert len(rates) == 2
    assert rates[0] != rates[1]
    if width > 60:
        assert max(map(len, rates)) <= width


def test_a_bar_is_full_only_if_every_trial_passed() -> None:
    """And empty only if none did: 29 of 30 is no 30 of 30."""
    lengths = [filled_of(side(*each), 6) for each in ((0, 30), (1, 30), (15, 30), (29, 30), (30, 30), (0, 0))]
    assert lengths == [0, 1, 3, 5, 6, 0]


def test_ways_with_the_same_tools_are_told_apart() -> None:
    """They differ in arguments."""
    made = measured("worse", (6, 6), (0, 6))
    for way in made.ways:
        way.calls = ["lookup"]
    tests = [checked_test("order", "reached", differences=[PROMPT], measurement=made)]
    assert '0/6 → 6/6  lookup  (- call 1 lookup {"order": "42"})' in screen_of(report(tests, model="m"))


def test_colours_on_a_terminal_only() -> None:
    """The verdict and the bar of today's agent have its colour."""
    screen = Screen(terminal=True)
    print_check(Terminal(screen, color="always"), all_measured(), None)
    assert "\x1b[31;1m✗ worse   \x1b[0m" in screen.text()
    assert "\x1b" not in screen_of(all_measured())


if __name__ == "__main__":
    for file, make_text in TEXTS.items():
        (GOLDEN / file).write_text(make_text(), encoding="utf-8")
