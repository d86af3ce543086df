"""The console: what a person reads, at any width, in any encoding, whatever an agent wrote."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.errors import Problem
from agenteval.contracts.results import (
    Artifacts,
    CategoryScore,
    ErrorInfo,
    Evidence,
    Excerpt,
    InvalidSpec,
    RunCounts,
    RunSummary,
    TestResult,
    TestRow,
    ToolCount,
    TraceSummary,
)
from agenteval.mutation.results import IdleAssertion, MutantResult, percent, report, score
from agenteval.mutation.results import TestMutation as MutatedTest
from agenteval.reporters.console import Console
from agenteval.reporters.mutation import print_mutants_of, print_summary
from agenteval.reporters.terminal import PLAIN_WIDTH
from run_builders import judged, make_result
from screen import HOSTILE, Screen

Tell = Callable[[Console], None]


def shown(print_it: Tell, *, width: int = PLAIN_WIDTH, encoding: str = "utf-8", **options: Any) -> str:
    """What a console says."""
    screen = Screen(encoding)
    console = Console(screen, **options)
    console.width = width
    print_it(console)
    return screen.text()


def print_test(console: Console, result: TestResult, run_dir: str | None) -> None:
    """What a run says of a test."""
    console.replay(console.console_lines(result, run_dir))


SEND = 'outbound_send {"channel": "group-ops", "content": "- Eval tooling matures"}'


def digest(**overrides: Any) -> TestResult:
    """The failing test that the documentation shows."""
    sends = Evidence(
        event_refs=["evt-5", "evt-7"],
        excerpts=[Excerpt(event_id="evt-5", text=SEND), Excerpt(event_id="evt-7", text=SEND)],
    )
    failing = judged(
        "fail",
        "single-send",
        kind="scheduler_outbound_count",
        message="expected exactly 1 outbound_send call, got 2",
        evidence=sends,
        reason_code="assertion.failed",
    )
    warned = judged(
        "warn",
        "polite",
        kind="output_contains",
        message='expected the output to contain "please"; it is missing',
        description="the team asked for it",
    )
    gated = judged("skip", "memory", message="skipped: it needs supports_memory_events, which is not there")
    given: dict[str, Any] = {
        "test_case_id": "nanoclaw.scheduler.daily-digest.single-outbound",
        "title": "The digest goes out once",
        "path": "examples/nanoclaw/scheduler-daily-digest/test.yaml",
        "reason_code": "assertion.failed",
        "next_step": "read the evidence",
        "trace_summary": TraceSummary(
            status="success",
            events=8,
            tool_calls=[ToolCount(tool="web_search", count=1), ToolCount(tool="outbound_send", count=2)],
            timing_ms_total=1,
            final_output=True,
            notes=["odd"],
        ),
        "failure_categories": ["duplicate outbound messages"],
        "expected_failure_categories": ["sends twice"],
        "artifacts": Artifacts(result="digest.result.json", trace="digest.trace.json"),
        **overrides,
    }
    passed = [judged("pass", f"p{n}") for n in range(5)]
    return make_result(
        "fail", failing, warned, gated, judged("pass", "idle", exercised=False), *passed, **given
    )


WIDE = """\
FAIL nanoclaw.scheduler.daily-digest.single-outbound   12 ms · nanoclaw 0.1.0 · replay · 1 vacuous
  The digest goes out once
  trace success · tools web_search×1 outbound_send×2 · retries 0
  ✗ single-send  scheduler_outbound_count  critical
      expected exactly 1 outbound_send call, got 2
      evt-5 outbound_send {"channel": "group-ops", "content": "- Eval tooling matures"}
      evt-7 outbound_send {"channel": "group-ops", "content": "- Eval tooling matures"}
  ! polite  output_contains  warning
      expected the output to contain "please"; it is missing
      why it is checked: the team asked for it
  ✓ 6 passed · ○ 1 of them vacuous · - 1 skipped
    - memory: skipped: it needs supports_memory_events, which is not there
  failure categories: duplicate outbound messages
  the test guards against: sends twice
  artifacts/run-1/digest.result.json
  artifacts/run-1/digest.trace.json
  agenteval run examples/nanoclaw/scheduler-daily-digest/test.yaml

"""

NARROW = """\
FAIL nanoclaw.scheduler.daily-digest.single-outbound
  12 ms · nanoclaw 0.1.0 · replay · 1 vacuous
  The digest goes out once
  trace success · tools web_search×1 outbound_send×2 · retries 0
  ✗ single-send  scheduler_outbound_count  critical
      expected exactly 1 outbound_send call, got 2
      evt-5 outbound_send {"channel": "group-ops", "content": "- Eval tooling m…
      evt-7 outbound_send {"channel": "group-ops", "content": "- Eval tooling m…
  ! polite  output_contains  warning
      expected the output to contain "please"; it is missing
      why it is checked: the team asked for it
  ✓ 6 passed · ○ 1 of them vacuous · - 1 skipped
    - memory: skipped: it needs supports_memory_events, which is not there
  failure categories: duplicate outbound messages
  the test guards against: sends twice
  artifacts/run-1/digest.result.json
  artifacts/run-1/digest.trace.json
  agenteval run examples/nanoclaw/scheduler-daily-digest/test.yaml

"""


@pytest.mark.parametrize(("width", "expected"), [(140, WIDE), (80, NARROW)])
def test_a_failing_test(width: int, expected: str) -> None:
    """A failure in full: status, id, time, adapter, trace, expected and got, evidence, files, how to run it again."""
    assert shown(lambda console: print_test(console, digest(), "artifacts/run-1"), width=width) == expected
    assert max(map(len, expected.split("\n"))) <= width


@pytest.mark.parametrize(
    ("refs", "line"), [(1, ""), (2, "      … and 1 more event\n"), (60, "      … and 59 more events\n")]
)
def test_the_events_that_are_not_shown_are_counted(refs: int, line: str) -> None:
    """Evidence shows the first few: nobody should take them for all."""
    evidence = Evidence(
        event_refs=[f"evt-{number}" for number in range(1, refs + 1)],
        excerpts=[Excerpt(event_id="evt-1", text="shell {}")],
    )
    failed = make_result("fail", judged("fail", "few", message="too many", evidence=evidence))
    text = shown(lambda console: print_test(console, failed, None))
    assert f"      evt-1 shell {{}}\n{line}  reason.fail: next: " in text


def test_long_lines_hang_and_excerpts_do_not_wrap() -> None:
    """A long line goes on two columns further in than it began; the caret of an excerpt stays where it points."""
    message = f"r.json:1:2: error[adapter.x]: bad\n      {'word ' * 9}end\n   1 | {'x' * 70}\n     |  ^\n"
    text = shown(lambda console: print_test(console, error_result(message), None), width=40)
    assert text.split("\n")[3:9] == [
        "  r.json:1:2: error[adapter.x]: bad",
        "        word word word word word word",
        "          word word word end",
        f"     1 | {'x' * 70}",
        "       |  ^",
        "  next: record it again",
    ]


def test_without_artifacts_no_files_are_named() -> None:
    """`--no-artifacts` shows no paths that do not exist."""
    text = shown(lambda console: print_test(console, digest(artifacts=Artifacts()), None))
    assert "artifacts/" not in text
    assert text.endswith("  agenteval run examples/nanoclaw/scheduler-daily-digest/test.yaml\n\n")


def test_the_command_to_run_again_can_be_pasted() -> None:
    """A path that a shell would take apart is quoted."""
    text = shown(lambda console: print_test(console, digest(path="my evals/test.yaml"), None))
    assert text.endswith("  agenteval run 'my evals/test.yaml'\n\n")


def test_a_passing_test_is_one_line() -> None:
    """A pass needs no attention, but says when some of it judged nothing."""
    text = shown(lambda console: print_test(console, make_result("pass", judged()), "a"))
    assert text == "PASS nanoclaw.test.case.holds   12 ms · nanoclaw 0.1.0 · replay\n"
    vacuous = make_result("pass", judged(), judged(exercised=False))
    assert shown(lambda console: print_test(console, vacuous, "a")) == (
        "PASS nanoclaw.test.case.holds   12 ms · nanoclaw 0.1.0 · replay · 1 vacuous\n"
    )
    skipped = make_result("pass", judged(), judged("skip", "other"))
    assert shown(lambda console: print_test(console, skipped, "a")) == (
        "PASS nanoclaw.test.case.holds   12 ms · nanoclaw 0.1.0 · replay · 1 skipped\n"
    )
    cut_off = make_result("pass", judged())
    cut_off.trace_summary.status = "partial"
    assert shown(lambda console: print_test(console, cut_off, "a")) == (
        "PASS nanoclaw.test.case.holds   12 ms · nanoclaw 0.1.0 · replay · trace partial\n"
    )


def test_a_pass_with_warnings_tells_of_them() -> None:
    """What only warns is shown, though the test passes."""
    warned = make_result("pass", judged("warn", "polite"), warnings=["fixture fx is not used"])
    assert shown(lambda console: print_test(console, warned, None)).split("\n")[1:] == [
        "  trace success · tools none · retries 0",
        "  ! polite  must_call_tool  warning",
        "      polite says warn",
        "  warning: fixture fx is not used",
        "",
        "",
    ]


def test_a_skipped_test_says_why() -> None:
    """A test of which nothing was judged is never mistaken for a pass."""
    skipped = make_result("skipped", judged("skip", "m", message="skipped: it needs x"))
    assert (
        shown(lambda console: print_test(console, skipped, None))
        == """\
SKIP nanoclaw.test.case.holds   12 ms · nanoclaw 0.1.0 · replay
  A test case
  trace success · tools none · retries 0
  - 1 skipped
    - m: skipped: it needs x
  reason.skipped: next: do something about the skipped

"""
    )


def error_result(message: str, details: str = "", **overrides: Any) -> TestResult:
    """A test that ended in an error."""
    error = ErrorInfo(reason_code="adapter.x", message=message, details=details)
    given = {
        "trace_summary": TraceSummary(),
        "reason_code": "adapter.x",
        "next_step": "record it again",
        **overrides,
    }
    return make_result("error", error=error, **given)


def test_an_error_says_what_to_do() -> None:
    """An error shows its code, its message and the next step."""
    assert (
        shown(lambda console: print_test(console, error_result("no such file"), None))
        == """\
ERROR nanoclaw.test.case.holds   12 ms · nanoclaw 0.1.0 · replay
  A test case
  error[adapter.x]: no such file
  next: record it again
  agenteval run suite/case/test.yaml

"""
    )


def test_a_located_error_is_not_said_twice() -> None:
    """The problems of a file bring their codes, their places and their next steps along."""
    message = "r.json:1:2: error[adapter.x]: bad\n   1 | {x\n     |  ^\n  next: record it again"
    assert (
        shown(lambda console: print_test(console, error_result(message), None))
        == """\
ERROR nanoclaw.test.case.holds   12 ms · nanoclaw 0.1.0 · replay
  A test case
  r.json:1:2: error[adapter.x]: bad
     1 | {x
       |  ^
    next: record it again
  agenteval run suite/case/test.yaml

"""
    )


def test_a_crash_shows_its_traceback_when_asked() -> None:
    """`-v` tells where it happened; without it there is no traceback."""
    crashed = error_result("boom", "Traceback:\n  in boom")
    assert "Traceback" not in shown(lambda console: print_test(console, crashed, None))
    assert "    Traceback:\n      in boom\n" in shown(
        lambda console: print_test(console, crashed, None), verbosity=1
    )


def test_a_crashed_check_is_told_once() -> None:
    """The error stands at the top; the assertion that raised it is not told of again."""
    crashed = judged("skip", "a", message="reached no verdict: boom")
    result = make_result(
        "error", crashed, judged("pass"), error=ErrorInfo(reason_code="assertion.crashed", message="boom")
    )
    assert shown(lambda console: print_test(console, result, None)).count("boom") == 1


def test_a_crash_is_told_with_the_line_of_the_check() -> None:
    """The error itself has no place in the test file, and the crashed assertion is not shown."""
    crashed = judged("skip", "a", message="reached no verdict: boom", line=12, column=5)
    result = make_result("error", crashed, error=ErrorInfo(reason_code="assertion.crashed", message="boom"))
    text = shown(lambda console: print_test(console, result, None))
    assert "  suite/case/test.yaml:12:5: error[assertion.crashed]: boom\n" in text


def test_verbose_shows_every_assertion() -> None:
    """`-v`: all assertions with their messages, and the notes of the trace."""
    text = shown(lambda console: print_test(console, digest(), None), verbosity=1)
    assert "  ✓ p0  must_call_tool  critical\n      p0 says pass\n" in text
    assert "  ○ idle  must_call_tool  critical  vacuous\n      idle says pass\n" in text
    assert "  - memory  must_call_tool  critical\n      skipped: it needs" in text
    assert "  note: odd\n" in text
    assert "6 passed" not in text


def test_quiet_shows_no_tests() -> None:
    """`-q`: only the summary."""
    assert shown(lambda console: print_test(console, digest(), "a"), verbosity=-1) == ""


def row(test_id: str, status: Any, reason_code: str | None = None) -> TestRow:
    """One row of a summary."""
    return TestRow(
        test_case_id=test_id,
        path=f"t/{test_id}.yaml",
        status=status,
        reason_code=reason_code,
        duration_ms=1,
        vacuous=0,
        result=None,
    )


def make_summary(**overrides: Any) -> RunSummary:
    """A run with one test of every kind."""
    given: dict[str, Any] = {
        "test_run_id": "run-1",
        "agenteval_version": "0.1.0",
        "started_at": "s",
        "finished_at": "f",
        "duration_ms": 1234,
        "exit_code": 3,
        "exit_reason": "1 invalid test spec",
        "counts": RunCounts(
            total=4,
            passed=1,
            failed=1,
            errors=1,
            skipped=1,
            invalid=1,
            deselected=2,
            vacuous_passes=2,
            warnings=1,
        ),
        "scorecard": [
            CategoryScore(category="outcome", passed=12, vacuous=2),
            CategoryScore(category="tool_process", passed=5, failed=1, warnings=2, skipped=1),
            CategoryScore(category="memory", warnings=1, passed=1),
        ],
        "tests": [row("a", "pass"), row("b", "fail", "assertion.failed"), row("c", "error", "adapter.x")],
        "problems": [],
        **overrides,
    }
    return RunSummary(**given)


SUMMARY = """\
scorecard
  ✓ outcome       12/12  2 vacuous
  ✗ tool_process    5/8  1 failed, 2 warnings, 1 skipped
  ! memory          1/2  1 warning

slowest 2
    1500.0 ms  slow.test
      12.3 ms  fast.test

1 passed, 1 failed, 1 error, 1 skipped, 1 invalid, 2 deselected, 2 vacuous passes, 1 assertion not judged, 1 warning in 1.23 s
artifacts/run-1/summary.json
"""


def test_the_summary() -> None:
    """Totals, scorecard by category, slowest tests, and where the summary is."""
    slowest = [("slow.test", 1500.0), ("fast.test", 12.34)]
    text = shown(
        lambda c: c.summary(make_summary(), slowest=slowest, summary_path="artifacts/run-1/summary.json")
    )
    assert text == SUMMARY


def test_a_quiet_summary_names_what_did_not_pass() -> None:
    """`-q` leaves out the scorecard, but says which tests failed and where they are."""
    assert (
        shown(lambda c: c.summary(make_summary(), summary_path=None), verbosity=-1)
        == """\
FAIL b  t/b.yaml
ERROR c  adapter.x  t/c.yaml

1 passed, 1 failed, 1 error, 1 skipped, 1 invalid, 2 deselected, 2 vacuous passes, 1 assertion not judged, 1 warning in 1.23 s
"""
    )


def test_a_long_run_names_what_did_not_pass_again() -> None:
    """After many tests the stories of the failed ones have scrolled away: the summary names them."""
    tests = [row("x", "fail", "assertion.failed")]
    few = make_summary(tests=tests, counts=RunCounts(total=10, failed=1))
    many = make_summary(tests=tests, counts=RunCounts(total=11, failed=1))
    assert "FAIL x" not in shown(lambda c: c.summary(few, summary_path=None))
    assert "\nFAIL x  t/x.yaml\n" in shown(lambda c: c.summary(many, summary_path=None))


@pytest.mark.parametrize(
    ("verbosity", "total", "named"), [(0, 10, False), (0, 11, True), (-1, 2, True), (1, 2, False)]
)
def test_a_run_that_is_broken_off_names_what_did_not_pass(verbosity: int, total: int, named: bool) -> None:
    """Where its story was not told, or has scrolled away; then what there is so far is counted."""
    rows = [row("x", "fail", "assertion.failed"), row("y", "pass")]
    told = shown(lambda c: c.so_far(RunCounts(total=total, passed=1, failed=1), rows), verbosity=verbosity)
    assert told == "FAIL x  t/x.yaml\n" * named + "1 passed, 1 failed\n"


def test_what_did_not_pass_is_named_on_two_lines_where_one_is_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A path that a narrow terminal would break stands on a line of its own; a log has one line for a test."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    tests = [row("nanoclaw.scheduler.digest.single", "fail", "assertion.failed")]
    screen = Screen(terminal=True)
    Console(screen, verbosity=-1).summary(make_summary(tests=tests), summary_path=None)
    path = "t/nanoclaw.scheduler.digest.single.yaml"
    assert screen.text().startswith(f"FAIL nanoclaw.scheduler.digest.single\n  {path}\n\n")
    told = shown(lambda c: c.summary(make_summary(tests=tests), summary_path=None), verbosity=-1, width=60)
    assert told.startswith(f"FAIL nanoclaw.scheduler.digest.single  {path}\n\n")


def test_the_type_goes_below_an_id_that_leaves_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal would break the line, and go on where no assertion begins."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    name = "an-id-that-is-nearly-as-long-as-the-terminal"
    failed = make_result("fail", judged("fail", name, message="too many"))
    screen = Screen(terminal=True)
    print_test(Console(screen), failed, None)
    assert f"\n  ✗ {name}\n      must_call_tool  critical\n      too many\n" in screen.text()
    told = shown(lambda console: print_test(console, failed, None), width=60)
    assert f"\n  ✗ {name}  must_call_tool  critical\n      too many\n" in told


def test_a_long_run_names_the_invalid_files_again() -> None:
    """They are what its exit code is about: each file once, at its first problem; warnings are not named."""

    def problems() -> list[InvalidSpec]:
        places = [
            ("a.yaml", 4, "error"),
            ("a.yaml", 2, "error"),
            ("b.yaml", 1, "warning"),
            ("", None, "error"),
        ]
        return [
            InvalidSpec(
                path=path,
                line=line,
                column=line,
                reason_code="spec.unknown_key",
                message="unknown key 'x'",
                severity=severity,  # type: ignore[arg-type]
            )
            for path, line, severity in places
        ]

    few = make_summary(tests=[], problems=problems(), counts=RunCounts(total=10, invalid=2))
    many = make_summary(tests=[], problems=problems(), counts=RunCounts(total=11, invalid=2))
    assert "INVALID" not in shown(lambda c: c.summary(few, summary_path=None))
    assert ("\n\nINVALID a.yaml:4:4  spec.unknown_key\nINVALID spec.unknown_key\n\n2 invalid,") in shown(
        lambda c: c.summary(many, summary_path=None)
    )


def test_the_last_line() -> None:
    """The exit code and why, after all else that a run has to tell."""
    assert shown(lambda c: c.ending(3, "1 invalid test spec")) == "exit 3: 1 invalid test spec\n"


def test_a_summary_of_nothing() -> None:
    """A run of no tests says so."""
    empty = make_summary(
        counts=RunCounts(), scorecard=[], tests=[], exit_reason="no test to run", duration_ms=0
    )
    assert shown(lambda c: c.summary(empty, summary_path=None)) == "no tests in 0.00 s\n"


def problem(severity: Any = "error") -> Problem:
    """A located problem."""
    return Problem(
        reason_code="spec.unknown_key",
        message="unknown key 'x'",
        path=Path("a/test.yaml"),
        line=2,
        column=3,
        excerpt=[(2, "  x: 1")],
        hint="did you mean 'y'?",
        severity=severity,
    )


PROBLEM = """\
a/test.yaml:2:3: {}[spec.unknown_key]: unknown key 'x'
   2 |   x: 1
     |   ^ did you mean 'y'?

"""


def test_problems_are_shown_with_their_place() -> None:
    """A spec error points into the file."""
    assert shown(lambda console: console.problem(problem())) == PROBLEM.format("error")
    assert shown(lambda console: console.problem(problem()), verbosity=-1) == PROBLEM.format("error")


def test_quiet_leaves_out_warnings_about_specs() -> None:
    """With `-q` only what keeps a test from running is shown."""
    assert shown(lambda console: console.problem(problem("warning"))) == PROBLEM.format("warning")
    assert shown(lambda console: console.problem(problem("warning")), verbosity=-1) == ""
    misspelt = Problem(reason_code="select.unknown_tag", message="no test has this tag", severity="warning")
    told = shown(lambda console: console.problem(misspelt), verbosity=-1)
    assert told == "warning[select.unknown_tag]: no test has this tag\n\n"


def test_colour_adds_nothing_but_colour() -> None:
    """Without its escape codes a coloured text is the plain one: colour carries no meaning alone."""

    def print_it(console: Console) -> None:
        print_test(console, digest(), "a")
        console.summary(make_summary(), summary_path="s")

    colored = shown(print_it, color="always")
    assert "\x1b[31;1mFAIL\x1b[0m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == shown(print_it)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_stream_that_cannot_show_signs(encoding: str) -> None:
    """In a poor encoding the marks are plain, and what cannot be shown is spelled out; nothing crashes."""
    text = shown(lambda c: print_test(c, digest(title="日本 — ok"), "a"), encoding=encoding, width=80)
    assert "FAIL nanoclaw.scheduler.daily-digest.single-outbound\n  12 ms - nanoclaw 0.1.0 - replay" in text
    assert "  x single-send  scheduler_outbound_count  critical\n" in text
    assert "  ok 6 passed - o 1 of them vacuous - - 1 skipped\n" in text
    assert "tools web_searchx1 outbound_sendx2" in text
    assert "\\u65e5\\u672c" in text
    assert max(map(len, text.splitlines())) == 80
    scores = [CategoryScore(category="memory", passed=1), CategoryScore(category="safety", failed=1)]
    summary = make_summary(scorecard=scores, counts=RunCounts(), tests=[])
    assert "  ok memory  1/1\n  x  safety  0/1  1 failed\n" in shown(
        lambda c: c.summary(summary, summary_path=None), encoding=encoding
    )


def test_nothing_an_agent_wrote_reaches_the_terminal_raw() -> None:
    """Every field of a result that could hold an agent's or an author's text is made harmless."""
    nasty = f"{HOSTILE}\nPASS fake"
    failing = judged(
        "fail",
        nasty,
        message=nasty,
        description=nasty,
        evidence=Evidence(event_refs=["e"], excerpts=[Excerpt(event_id=nasty, text=nasty, note=nasty)]),
    )
    summary = TraceSummary(
        status="success",
        events=1,
        tool_calls=[ToolCount(tool=nasty, count=1)],
        timing_ms_total=1,
        final_output=True,
        notes=[nasty],
    )
    result = make_result(
        "fail",
        failing,
        judged("skip", nasty, message=nasty),
        judged("pass", nasty, message=nasty, exercised=False),
        test_case_id=nasty,
        title=nasty,
        path=nasty,
        trace_summary=summary,
        failure_categories=[nasty],
        expected_failure_categories=[nasty],
        warnings=[nasty],
        error=ErrorInfo(reason_code="x", message=nasty, details=nasty),
        next_step=nasty,
        artifacts=Artifacts(result=nasty),
    )

    def print_it(console: Console) -> None:
        print_test(console, result, nasty)
        console.summary(
            make_summary(tests=[row(nasty, "error", nasty)], exit_reason=nasty),
            slowest=[(nasty, 1)],
            summary_path=nasty,
        )
        console.problem(Problem(reason_code="x", message=nasty, path=Path("x")))

    for verbosity in (-1, 0, 1):
        text = shown(print_it, verbosity=verbosity)
        assert [char for char in set(text) if not char.isprintable() and char != "\n"] == []
        assert "PASS fake" in text
        assert [line for line in text.split("\n") if line.startswith("PASS")] == []


def mutant(status: Any, what: str, **more: Any) -> MutantResult:
    """One mutant of an operator."""
    given: dict[str, Any] = {"killed_by": [], "rule": None, "difference": [], "suggestion": None, **more}
    return MutantResult(operator="op", category="c", what=what, status=status, **given)


def mutation(*mutants: MutantResult, idle: bool = False) -> MutatedTest:
    """A test with these mutants, and maybe an assertion that notices none."""
    told = [each.status for each in mutants]
    killed, survived = told.count("killed"), told.count("survived")
    return MutatedTest(
        test_case_id="t",
        path="t/test.yaml",
        score=score(killed, survived),
        killed=killed,
        survived=survived,
        equivalent=told.count("equivalent"),
        mutants=list(mutants),
        idle_assertions=[IdleAssertion(test_case_id="t", id="a", type="no_pii")] * idle,
    )


KILLED = mutant("killed", "one call less", killed_by=["a", "b"])
EQUIVALENT = mutant("equivalent", "the same", rule="mended")
SURVIVED = mutant("survived", "one call more", difference=["  same", "- old", "+ new"])


@pytest.mark.parametrize(
    ("test", "quiet", "usual", "verbose"),
    [
        (
            mutation(KILLED, EQUIVALENT),
            "",
            "100 % t   1 killed · 1 equivalent\n",
            (
                "100 % t   1 killed · 1 equivalent\n"
                "  killed op: one call less (a, b)\n"
                "  equivalent op: the same (mended)\n"
            ),
        ),
        (
            mutation(SURVIVED, idle=True),
            "",
            (
                "  0 % t   0 killed · 1 survived\n"
                "  survived op: one call more\n"
                "        same\n      - old\n      + new\n"
                "      no assertion type is known that would notice it\n"
                "  idle a  no_pii: it noticed none of these mutants\n"
            ),
            None,
        ),
    ],
)
def test_the_mutants_of_a_test(test: MutatedTest, quiet: str, usual: str, verbose: str | None) -> None:
    """Survivors always, the others with `-v`; a blank line after what has more than one line."""
    last = "SKIP u   it does not pass\n\n"
    skipped = MutatedTest(
        test_case_id="u",
        path="u/test.yaml",
        score=None,
        killed=0,
        survived=0,
        equivalent=0,
        mutants=[],
        idle_assertions=[],
        reason="it does not pass",
    )
    for verbosity, expected in ((-1, quiet), (0, usual), (1, usual if verbose is None else verbose)):

        def print_it(console: Console) -> None:
            print_mutants_of(console, test)
            print_mutants_of(console, skipped)

        gap = "\n" * (expected.count("\n") > 1)
        told = shown(print_it, verbosity=verbosity)
        assert told == (expected + gap + last if verbosity >= 0 else "")


def test_the_summary_of_mutants_counts_the_idle() -> None:
    """Beside mutants, tests and the score."""
    made = report(7, [mutation(KILLED, EQUIVALENT), mutation(SURVIVED, idle=True)])
    assert shown(lambda console: print_summary(console, made)) == (
        "operators\n  ! op   50 %  1 killed · 1 survived · 1 equivalent\n\n"
        "categories\n  ! c   50 %  1 killed · 1 survived · 1 equivalent\n\n"
        "3 mutants of 2 tests: 1 killed, 1 survived, 1 equivalent\n"
        "1 idle assertion, which noticed nothing\n"
        "score 50 %, seed 7\n"
    )


@pytest.mark.parametrize(
    ("killed", "survived", "share", "shown"),
    [
        (0, 0, None, "none"),
        (0, 3, 0.0, "0 %"),
        (3, 0, 1.0, "100 %"),
        (39999, 1, 0.9999, "99 %"),
        (2, 1, 0.6667, "66 %"),
        (29, 71, 0.29, "29 %"),
        (57, 43, 0.57, "57 %"),
    ],
)
def test_the_score_of_mutants(killed: int, survived: int, share: float | None, shown: str) -> None:
    """It is whole only when all were noticed, and whole per cents stay what they are."""
    assert score(killed, survived) == share
    assert percent(share) == shown


def test_a_passing_test_says_why_some_of_it_was_not_judged() -> None:
    """What was missing and what to do, once each, beside the number; of many reasons the first."""
    flag = "missing capability supports_memory_events"
    way = "record what is read from memory and written to it"
    gated = [judged("skip", name, reason=flag, next_step=way) for name in ("a", "b")]
    part = judged(
        "skip", "c", reason="not recorded: what subagent g1 did", next_step="record that part of the run, too"
    )
    lacking = judged("skip", "d", reason="no cost is recorded")
    result = make_result("pass", judged(), *gated, part, lacking)
    assert shown(lambda console: print_test(console, result, "a"), width=300) == (
        "PASS nanoclaw.test.case.holds   12 ms · nanoclaw 0.1.0 · replay · "
        f"4 skipped: {flag} ({way}); not recorded: what subagent g1 did (record that part of the run, too); "
        "no cost is recorded\n"
    )
    many = make_result("pass", judged(), *(judged("skip", str(n), reason=f"no {n}") for n in range(5)))
    assert shown(lambda console: print_test(console, many, "a")).endswith(
        "5 skipped: no 0; no 1; no 2; 2 more\n"
    )
