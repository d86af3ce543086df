"""A check as people read it: golden files of three reports, and what no golden file shows.

`python tests/reports/test_check.py` writes the golden files again.
"""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from agenteval.comparing.check_report import CheckedTest, CheckReport
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.check import filled_of, print_check
from agenteval.reporters.markdown import annotations
from agenteval.reporters.terminal import Terminal
from check_reports import (
    PROMPT,
    SAMPLES,
    all_measured,
    checked_run,
    checked_test,
    measured,
    reached,
    report,
    side,
)
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


def rendered(check: CheckReport, form: str = "markdown") -> str:
    """The report of a stored check in a format."""
    with TemporaryDirectory() as folder:
        run = checked_run(Path(folder), check)
        module = import_module(f"agenteval.reporters.{form}")
        return bytes(module.render(run, Redactor())).decode()


TEXTS: dict[str, Callable[[], str]] = {
    **{
        f"{name.replace(' ', '-')}.txt": lambda make=make: screen_of(make())  # type: ignore[misc]
        for name, make in SAMPLES.items()
    },
    **{
        f"{name.replace(' ', '-')}.md": lambda make=make: rendered(make())  # type: ignore[misc]
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


def test_markdown_obeys_no_name() -> None:
    """Of files, tests or prompts: in HTML blocks no Markdown applies, and what is in code notifies nobody."""
    hostile = "a|b `c` **d** <img src=x> @team [e](http://f)"
    check = all_measured()
    check.files[0].path = check.parts[0].difference = check.tests[0].test_case_id = hostile
    page = MarkdownIt("gfm-like", {"linkify": False}).render(rendered(check))
    assert "<img" not in page
    assert "<strong>d</strong>" not in page
    assert "href" not in page
    assert "@team" in page
    assert "@team" not in re.sub("<code>.*?</code>", "", page)


def test_machines_get_both_rates() -> None:
    """JUnit: worse is a failure; unclear is a pass with properties; what the model was not asked is an error, as the exit code."""
    root = ET.fromstring(rendered(all_measured(), "junit"))
    outcomes = {
        case.get("name"): [(each.tag, each.get("message", "")) for each in case]
        for case in root.iter("testcase")
    }
    ((tag, message),) = outcomes["shop.refund"]
    assert (tag, message.partition(";")[0]) == ("failure", "worse: 6 of 6 trials passed before, 0 of 6 now")
    assert [tag for tag, _ in outcomes["shop.address"]] == ["system-out"]
    found = [each.get("value") for each in root.iter("property") if each.get("name") == "verdict"]
    assert found == ["worse", "held", "unclear", "better"]
    assert rendered(reached(), "junit").count("<error ") == 4
    assert rendered(replace(reached(), tests=skipped(reached())), "junit").count("<skipped ") == 3


def skipped(check: CheckReport) -> list[CheckedTest]:
    """The tests as `--allow-unmeasured` leaves them."""
    return [replace(test, status="skipped") if test.needs_model else test for test in check.tests]


def test_a_check_is_an_event_of_its_own() -> None:
    """Before the end of the run; other runs have none."""
    events = [json.loads(line) for line in rendered(all_measured(), "ndjson").splitlines()]
    assert [each["event"] for each in events][-2:] == ["check_finished", "run_finished"]
    assert events[-2]["check"]["tests"][0]["measurement"]["verdict"] == "worse"


def test_sarif_and_annotations_tell_the_rates() -> None:
    """The result of the failed assertion has the trials; a test that is only worse has a result of its own."""
    check = all_measured()
    assert "0 of 6 trials passed" in rendered(check, "sarif")
    with TemporaryDirectory() as folder:
        (first, *_) = annotations(checked_run(Path(folder), check))
    assert first.startswith("::error file=evals/refund/test.yaml")
    assert "worse: 6 of 6 trials passed before, 0 of 6 now" in first


def test_colours_on_a_terminal_only() -> None:
    """The verdict and the bar of today's agent have its colour."""
    screen = Screen(terminal=True)
    print_check(Terminal(screen, color="always"), all_measured(), None)
    assert "\x1b[31;1m✗ worse   \x1b[0m" in screen.text()
    assert "\x1b" not in screen_of(all_measured())


if __name__ == "__main__":
    for file, make_text in TEXTS.items():
        (GOLDEN / file).write_text(make_text(), encoding="utf-8")
