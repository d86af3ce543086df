"""The console: what a person reads, at any width, in any encoding, whatever an agent wrote."""

import re
from collections.abc import Callable
from dataclasses import replace
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


def told(result: TestResult, run_dir: str | None = None) -> Tell:
    """What a run says of a test."""
    return lambda console: print_test(console, result, run_dir)


def summed(given: RunSummary, slowest: Any = (), path: str | None = None) -> Tell:
    """What a run says at its end."""
    return lambda console: console.summary(given, slowest=slowest, summary_path=path)


def invalid(path: str, line: int | None, severity: Any = "error") -> InvalidSpec:
    """A problem of a file, as a summary keeps it."""
    where: dict[str, Any] = {"path": path, "line": line, "column": line}
    return InvalidSpec(**where, reason_code="spec.unknown_key", message="unknown key 'x'", severity=severity)


LOCATED = "r.json:1:2: error[adapter.x]: bad\n   1 | {x\n     |  ^\n  next: record it again"
LONG = f"r.json:1:2: error[adapter.x]: bad\n      {'word ' * 9}end\n   1 | {'x' * 70}\n     |  ^\n"
CRASHED = judged("skip", "a", message="reached no verdict: boom", line=12, column=5)
CRASH = {"error": ErrorInfo(reason_code="assertion.crashed", message="boom")}
FEW, MANY = (RunCounts(total=total, failed=1, invalid=2) for total in (10, 11))
LEFT: dict[str, Any] = {
    "tests": [row("x", "fail", "assertion.failed")],
    "problems": [
        invalid("a.yaml", 4),
        invalid("a.yaml", 2),
        invalid("b.yaml", 1, "warning"),
        invalid("", None),
    ],
}
FLAG = {"reason": "missing capability supports_memory_events", "next_step": "record what is read from memory"}
PART = {"reason": "not recorded: what subagent g1 did", "next_step": "record that part of the run, too"}
PARTIAL = make_result("pass", judged())
PARTIAL.trace_summary.status = "partial"
EMPTY: dict[str, Any] = {"scorecard": [], "tests": [], "exit_reason": "no test to run", "duration_ms": 0}
MISSPELT = Problem(reason_code="select.unknown_tag", message="no test has this tag", severity="warning")
NOTICED, MISSED = mutation(KILLED, EQUIVALENT), mutation(SURVIVED, idle=True)
UNTRIED = replace(mutation(), score=None, reason="it does not pass")


def print_mutants(console: Console) -> None:
    """What is said of the mutants of three tests."""
    for each in (NOTICED, MISSED, UNTRIED):
        print_mutants_of(console, each)


SHOTS: dict[str, tuple[Tell, dict[str, Any]]] = {
    "a failure in full": (told(digest(), "artifacts/run-1"), {"width": 140}),
    "the same on a narrow terminal": (told(digest(), "artifacts/run-1"), {"width": 80}),
    "without artifacts no files are named": (told(digest(artifacts=Artifacts())), {}),
    "the command to run again can be pasted": (told(digest(path="my evals/test.yaml")), {}),
    "-v: every assertion with its message, and the notes of the trace": (told(digest()), {"verbosity": 1}),
    "-q: no tests": (told(digest(), "a"), {"verbosity": -1}),
    "a pass is one line": (told(make_result("pass", judged()), "a"), {}),
    "that says what judged nothing": (told(make_result("pass", judged(), judged(exercised=False))), {}),
    "and what was skipped": (told(make_result("pass", judged(), judged("skip", "other"))), {}),
    "and that the trace is partial": (told(PARTIAL), {}),
    "and why, once for each reason": (
        told(
            make_result(
                "pass",
                judged(),
                *(judged("skip", name, **FLAG) for name in ("a", "b")),
                judged("skip", "c", **PART),
                judged("skip", "d", reason="no cost is recorded"),
            )
        ),
        {"width": 300},
    ),
    "of many reasons the first": (
        told(make_result("pass", judged(), *(judged("skip", str(n), reason=f"no {n}") for n in range(5)))),
        {},
    ),
    "a pass with warnings shows them": (
        told(make_result("pass", judged("warn", "polite"), warnings=["fixture fx is not used"])),
        {},
    ),
    "a skipped test says why": (
        told(make_result("skipped", judged("skip", "m", message="skipped: it needs x"))),
        {},
    ),
    "an error says what to do": (told(error_result("no such file")), {}),
    "a located error is not said twice": (told(error_result(LOCATED)), {}),
    "long lines hang, and excerpts do not wrap": (told(error_result(LONG)), {"width": 40}),
    "a crash shows no traceback": (told(error_result("boom", "Traceback:\n  in boom")), {}),
    "unless it is asked for": (told(error_result("boom", "Traceback:\n  in boom")), {"verbosity": 1}),
    "a crashed check is told once, with its line": (
        told(make_result("error", CRASHED, judged("pass"), **CRASH)),
        {},
    ),
    "a summary": (
        summed(make_summary(), [("slow.test", 1500.0), ("fast.test", 12.34)], "artifacts/run-1/summary.json"),
        {},
    ),
    "-q: what did not pass": (summed(make_summary()), {"verbosity": -1}),
    "a run of ten tests does not name again what did not pass": (
        summed(make_summary(counts=FEW, **LEFT)),
        {},
    ),
    "a longer one does, and each invalid file at its first problem": (
        summed(make_summary(counts=MANY, **LEFT)),
        {},
    ),
    "a summary of nothing": (summed(make_summary(counts=RunCounts(), **EMPTY)), {}),
    "the last line": (lambda console: console.ending(3, "1 invalid test spec"), {}),
    "a problem points into its file": (lambda console: console.problem(problem()), {}),
    "-q: also": (lambda console: console.problem(problem()), {"verbosity": -1}),
    "a warning about a file": (lambda console: console.problem(problem("warning")), {}),
    "-q: none": (lambda console: console.problem(problem("warning")), {"verbosity": -1}),
    "-q: but one about the command line": (lambda console: console.problem(MISSPELT), {"verbosity": -1}),
    "mutants of tests": (print_mutants, {}),
    "-q: no mutants": (print_mutants, {"verbosity": -1}),
    "-v: all mutants": (print_mutants, {"verbosity": 1}),
    "the summary of mutants": (lambda console: print_summary(console, report(7, [NOTICED, MISSED])), {}),
}
TEXTS = Path(__file__).with_name("console.txt")
"""All that is in SHOTS, as people read it. `PYTHONPATH=tests python tests/test_console.py` writes it anew."""


def shot(name: str) -> str:
    """One of SHOTS, under its name."""
    tell, options = SHOTS[name]
    lines = shown(tell, **options).splitlines()
    return f"## {name}\n" + "".join(f"  {line}".rstrip() + "\n" for line in lines)


@pytest.mark.parametrize("name", SHOTS)
def test_what_people_read(name: str) -> None:
    """Status, id, time, adapter, expected and got, evidence, files, how to run it again: each where it belongs."""
    texts = f"\n{TEXTS.read_text(encoding='utf-8')}## "
    assert f"\n{shot(name)}## " in texts


if __name__ == "__main__":
    TEXTS.write_text("".join(map(shot, SHOTS)), encoding="utf-8")
