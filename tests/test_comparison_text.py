"""A comparison as a person reads it."""

from dataclasses import replace
from pathlib import Path

import pytest

from agenteval.comparing.behaviour import CallChange
from agenteval.comparing.comparison import (
    KINDS,
    Change,
    ComparedSide,
    Comparison,
    TestDifference,
    rate_changes,
)
from agenteval.comparing.rates import Rate
from agenteval.reporters.comparison import print_comparison, totals
from agenteval.reporters.terminal import Terminal
from screen import Screen


def side(label: str, score: float = 1.0) -> ComparedSide:
    """One side."""
    return ComparedSide(
        label=label, run_id=label, suite_id="local.example.evals.t", suite_version="0.1.0", score=score
    )


def compared(*changes: Change, differences: tuple[TestDifference, ...] = (), **more: int) -> Comparison:
    """A comparison with these changes."""
    return Comparison(
        before=side("old"),
        after=side("new", 0.5),
        score_delta=-0.5,
        regressions=sum(each.regression for each in changes),
        counts={kind: sum(each.kind == kind for each in changes) for kind in KINDS},
        changes=list(changes),
        differences=list(differences),
        not_selected=more.get("not_selected", 0),
        without_traces=more.get("without_traces", 0),
        unused=[],
    )


def text(comparison: Comparison, encoding: str = "utf-8") -> str:
    """What is printed to a stream of this encoding."""
    screen = Screen(encoding)
    print_comparison(Terminal(screen), comparison)
    return screen.text()


FAILS = Change(
    kind="newly_failing",
    test_case_id="t",
    assertion="a",
    before="pass",
    after="fail",
    regression=True,
    message="got none",
)
CALLS = [
    CallChange(change="arguments", tool="search", before=1, after=1, lines=["q: 1 → 2"]),
    CallChange(change="moved", tool="send", before=2, after=3, lines=[]),
    CallChange(change="removed", tool="read", before=4, lines=['{"x": 1}']),
    CallChange(change="added", tool="write", after=4, lines=[]),
]


def test_all_of_it() -> None:
    """Changes with what the checks say, calls with their places, the output, the score, all kinds counted."""
    missing = Change(kind="missing", test_case_id="u", before="pass", regression=True)
    known = Change(
        kind="still_failing",
        test_case_id="v",
        assertion="b",
        before="fail",
        after="fail",
        owner="ops",
        expires="2027-01-31",
    )
    new = Change(kind="new", test_case_id="w", after="pass")
    difference = TestDifference(test_case_id="t", calls=CALLS, output=["- One.", "+ Two."])
    comparison = compared(
        FAILS, missing, known, new, differences=(difference,), not_selected=2, without_traces=1
    )
    assert text(comparison) == (
        "old → new\n"
        "  newly failing (1)\n"
        "    ✗ t  a  pass → fail\n"
        "        got none\n"
        "  missing (1)\n"
        "    - u  (the test)  pass → not there\n"
        "  still failing (1)\n"
        "    ✗ v  b\n"
        "        ops · until 2027-01-31\n"
        "  new (1)\n"
        "    ✓ w  (the test)\n"
        "  what the agent did differently (1 test)\n"
        "    t\n"
        "      ~ call 1  search  different arguments\n"
        "          q: 1 → 2\n"
        "      > call 2 → 3  send  moved\n"
        "      - call 4  read\n"
        '          {"x": 1}\n'
        "      + call 4  write\n"
        "      output\n"
        "        - One.\n"
        "        + Two.\n"
        "  for 1 test, what the agent did differently is not known: run with --save-traces to keep the traces that show it\n"
        "  2 tests not in this run\n"
        "  score 1 → 0.5 (-0.5), 1 newly failing, 1 missing, 1 still failing, 1 new\n"
    )


def test_without_unicode_it_says_the_same() -> None:
    """A log that knows ASCII only has no escapes in it."""
    said = text(
        compared(FAILS, differences=(TestDifference(test_case_id="t", calls=CALLS, output=[]),)), "ascii"
    )
    assert "    x t  a  pass -> fail\n" in said
    assert "          q: 1 -> 2\n" in said
    assert "\\u" not in said


def test_each_kind_has_a_heading_and_a_sign() -> None:
    """In an order of their own. What is known, new or right again says no more; all are counted at the end."""
    changes = [
        Change(kind=kind, test_case_id="t", before="pass", after="fail", message="why")
        for kind in reversed(KINDS)
        if kind not in ("lower_rate", "higher_rate")  # which stand among the rates
    ]
    assert text(compared(*changes)) == (
        "old → new\n"
        "  newly failing (1)\n    ✗ t  (the test)  pass → fail\n        why\n"
        "  known failures that have expired (1)\n    ✗ t  (the test)  pass → fail\n        why\n"
        "  newly vacuous (1)\n    ○ t  (the test)  pass → fail\n        why\n"
        "  newly skipped (1)\n    - t  (the test)  pass → fail\n        why\n"
        "  missing (1)\n    - t  (the test)  pass → fail\n        why\n"
        "  newly warning (1)\n    ! t  (the test)  pass → fail\n        why\n"
        "  lower score (1)\n    ! t  (the test)  pass → fail\n        why\n"
        "  still failing (1)\n    ✗ t  (the test)  pass → fail\n"
        "  newly expected to fail (1)\n    ✗ t  (the test)  pass → fail\n        why\n"
        "  fixed (1)\n    ✓ t  (the test)  pass → fail\n"
        "  higher score (1)\n    ✓ t  (the test)  pass → fail\n        why\n"
        "  new (1)\n    ✓ t  (the test)\n"
        "  score 1 → 0.5 (-0.5), 1 newly failing, 1 expired, 1 newly vacuous, 1 newly skipped, 1 missing, "
        "1 newly warning, 1 lower score, 1 still failing, 1 newly expected to fail, 1 fixed, 1 higher score, 1 new\n"
    )


def test_rates_come_by_verdict_and_worse_ones_first() -> None:
    """Each with both rates and what is known of the change; a long list of one verdict is counted."""
    rates = rate_changes(
        {
            "kept": (Rate(40, 40), Rate(40, 40)),
            "open": (Rate(2, 2), Rate(2, 2)),
            "fell": (Rate(20, 20), Rate(0, 20)),
            "rose": (Rate(0, 20), Rate(20, 20)),
        }
    )
    fell = Change(kind="lower_rate", test_case_id="fell", before="20/20", after="0/20", regression=True)
    assert text(replace(compared(fell), rates=rates)) == (
        "old → new\n"
        "  pass rates (4)\n"
        "    ✗ fell  worse  20/20 → 0/20\n"
        "        passes less often than before (p 9.09e-13, corrected 3.64e-12)\n"
        "    - open  unclear  2/2 → 2/2\n"
        "        a fall of up to 81 points is not ruled out; 46 trials each would show one of 30 points in 8 of 10 checks\n"
        "    ✓ rose  better  0/20 → 20/20\n"
        "        passes more often than before (p 9.09e-13, corrected 3.64e-12)\n"
        "    ✓ kept  held  40/40 → 40/40\n"
        "        a fall of more than 8 points is ruled out\n"
        "  score 1 → 0.5 (-0.5), 1 passes less often, 1 unclear, 1 held\n"
    )
    assert "    and 3 more unclear\n" in text(replace(compared(), rates=[rates[1]] * 43))


def test_the_example_of_the_documentation_is_what_is_printed() -> None:
    """The page shows three verdicts as a comparison prints them."""
    page = (Path(__file__).resolve().parent.parent / "docs" / "comparing.md").read_text(encoding="utf-8")
    example = page.split("```\n  pass rates", 1)[1].split("```", 1)[0]
    rates = {
        "support.refund": (Rate(6, 6), Rate(0, 6)),
        "support.greeting": (Rate(6, 6), Rate(5, 6)),
        "support.search": (Rate(20, 20), Rate(20, 20)),
    }
    assert f"  pass rates{example}" in text(replace(compared(), rates=rate_changes(rates)))


@pytest.mark.parametrize(("kind", "shown"), [("newly_failing", 40), ("still_failing", 10), ("new", 10)])
def test_long_lists_are_counted(kind: str, shown: int) -> None:
    """What is known already takes less room than what is news."""
    changes = [
        Change(kind=kind, test_case_id=f"t{number}", assertion="a", before="fail", after="fail")  # type: ignore[arg-type]
        for number in range(50)
    ]
    lines = text(compared(*changes)).splitlines()
    assert len([line for line in lines if line.endswith("  a")]) == shown
    assert f"    and {50 - shown} more" in lines
    assert "more" not in text(compared(*changes[:shown]))


def test_many_tests_and_calls_are_counted() -> None:
    """Twenty tests are shown, and forty calls of each."""
    calls = [CallChange(change="added", tool="a", after=number, lines=[]) for number in range(1, 60)]
    one = TestDifference(test_case_id="t", calls=calls, output=[])
    said = text(compared(differences=(one,) * 25))
    assert said.count("      and 19 more calls\n") == 20
    assert said.count("      + call 40  a\n") == 20
    assert "call 41" not in said
    assert "    and 5 more tests\n" in said
    short = TestDifference(test_case_id="t", calls=calls[:40], output=[])
    assert "more" not in text(compared(differences=(short,) * 20))


def test_nothing_changed() -> None:
    """Then it says so."""
    assert totals(compared()) == "no change"


def test_on_a_narrow_terminal_what_became_of_a_test_stands_below_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The terminal would break the line where it ends, in the middle of it."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen(terminal=True)
    change = replace(FAILS, test_case_id="nanoclaw.scheduler.digest")
    print_comparison(Terminal(screen, color="never"), compared(change))
    assert "    ✗ nanoclaw.scheduler.digest  a\n      pass → fail\n        got none\n" in screen.text()
