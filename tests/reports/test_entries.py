"""What reports list: every test, and all that must not be lost from sight."""

from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.errors import Problem
from agenteval.contracts.results import Artifacts, ErrorInfo, Evidence, Excerpt
from agenteval.judging.stored import stored_problem
from agenteval.reporters.entries import entries
from run_builders import judged, make_result
from stored_runs import FAILED, PASSED, SEARCHES, SKIPPED, UNREADABLE, WARNS, XFAILED, mixed, store


def test_every_test_and_every_broken_file_is_listed_once(tmp_path: Path) -> None:
    """Tests come in their order, then files that could not be loaded, each with all that is wrong with it."""
    listed = list(entries(mixed(tmp_path)))
    assert [(each.kind, each.name) for each in listed] == [
        ("pass", "nanoclaw.t.passes"),
        ("fail", "nanoclaw.t.fails"),
        ("pass", "nanoclaw.t.warns"),
        ("skip", "nanoclaw.t.skipped"),
        ("xfail", "nanoclaw.t.xfails"),
        ("error", "suite/broken/test.yaml"),
    ]
    assert listed[-1].message == "yaml.syntax: not valid YAML (and 1 more)"
    assert listed[-1].text == (
        "suite/broken/test.yaml:3:7: yaml.syntax: not valid YAML\n"
        "suite/broken/test.yaml:4:1: spec.unknown_key: unknown key 'tilte'"
    )


def test_a_failure_says_expected_and_got_with_its_evidence(tmp_path: Path) -> None:
    """The message is that of the first assertion that failed; the text has the events, and where it stands."""
    (entry,) = entries(store(tmp_path, FAILED))
    assert (entry.line, entry.column) == (24, 5)
    assert (
        entry.message
        == "searches: expected at least 1 call of web_search, got 0; the trace calls web_fetch×1"
    )
    assert entry.text == (
        "suite/case/test.yaml:24:5: searches (must_call_tool) failed\n"
        "  expected at least 1 call of web_search, got 0; the trace calls web_fetch×1\n"
        "  why it is checked: news are looked up\n"
        "  evt-2 web_fetch {}\n"
        "    tool: expected web_search\n"
        "next: do something about the fail"
    )


def test_the_lines_of_a_message_stay_apart_on_one_line(tmp_path: Path) -> None:
    """`1 unexpected` and `missing: …` of the next line do not run into each other."""
    said = judged(
        "fail", "course", message="got 1 call: 1 missing\n  missing: web_search\n  by hand:\n  read (evt-2)"
    )
    (entry,) = entries(store(tmp_path, make_result("fail", said)))
    assert entry.message == "course: got 1 call: 1 missing; missing: web_search; by hand: read (evt-2)"


def test_many_lines_make_no_endless_line(tmp_path: Path) -> None:
    """The message keeps the first and the last of them, and the text has all."""
    lines = [f"claim {number}: no source has it" for number in range(40)]
    no = judged("fail", "a", message="\n".join(["got 40 of 40 claims unsupported:", *lines]))
    (entry,) = entries(store(tmp_path, make_result("fail", no)))
    assert entry.message.startswith("a: got 40 of 40 claims unsupported: claim 0: no source has it; claim 1:")
    assert entry.message.endswith("; claim 39: no source has it")
    assert len(entry.message) < 640
    assert all(line in entry.text for line in lines)


def test_failures_come_before_warnings(tmp_path: Path) -> None:
    """Of several assertions that said no, the one that fails the test is the reason."""
    (entry,) = entries(store(tmp_path, make_result("fail", WARNS, SEARCHES)))
    assert entry.message.startswith("searches: expected at least 1 call")
    assert entry.message.endswith("(and 1 more)")
    assert entry.line == 24


def test_a_pass_that_warns_tells_of_it(tmp_path: Path) -> None:
    """What warns is said, at its line, and the test is a pass."""
    (entry,) = entries(store(tmp_path, make_result("pass", WARNS)))
    assert (entry.kind, entry.line, entry.message) == ("pass", 30, "brief: expected at most 20 words, got 31")
    (quiet,) = entries(store(tmp_path / "other", PASSED))
    assert (quiet.message, quiet.text) == ("", "")


def test_what_a_person_should_look_at_is_told(tmp_path: Path) -> None:
    """A recording that fits its test badly warns, though every assertion passes; beside a failure it comes last."""
    odd = ["input message 1 is another", "fixture 'x' is not used"]
    passes = make_result("pass", judged("pass", "one"), warnings=odd)
    fails = make_result("fail", judged("fail", "one"), warnings=odd[:1], test_case_id="nanoclaw.t.fails")
    first, second = entries(store(tmp_path, passes, fails))
    assert first.message == "warning: input message 1 is another (and 1 more)"
    assert first.text == "warning: input message 1 is another\nwarning: fixture 'x' is not used"
    assert second.message == "one: one says fail"
    assert "\nwarning: input message 1 is another\nnext: " in second.text


@pytest.mark.parametrize(
    ("code", "trace", "told"),
    [
        ("assertion.failed", None, "next: read it; --save-traces writes the whole trace"),
        ("assertion.failed", "a.trace.json", "next: read it; the whole trace is in a.trace.json"),
        ("assertion.warning_strict", "a.trace.json", "next: read it; the whole trace is in a.trace.json"),
        ("assertion.vacuous", None, "next: read it"),
        ("assertion.vacuous", "a.trace.json", "next: read it"),
    ],
)
def test_evidence_is_told_with_the_file_of_the_whole_trace(
    code: str, trace: str | None, told: str, tmp_path: Path
) -> None:
    """Or, when there is none, with the option that writes it; not where there is no evidence to read."""
    result = make_result(
        "fail", judged("fail"), reason_code=code, next_step="read it", artifacts=Artifacts(trace=trace)
    )
    (entry,) = entries(store(tmp_path, result))
    assert entry.text.split("\n")[-1] == told


def test_the_events_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    """Evidence shows the first few: nobody should take them for all."""
    evidence = Evidence(
        event_refs=["evt-1", "evt-2", "evt-3"], excerpts=[Excerpt(event_id="evt-1", text="shell {}")]
    )
    failed = judged("fail", "few", message="too many", evidence=evidence, line=9, column=5)
    (entry,) = entries(store(tmp_path, make_result("fail", failed)))
    assert "\n  evt-1 shell {}\n  … and 2 more events\n" in f"{entry.text}\n"


def test_an_error_says_what_kept_the_test_from_being_judged(tmp_path: Path) -> None:
    """The message is the first line of the error, under its code; an excerpt stands in the text."""
    error = ErrorInfo(reason_code="adapter.unknown", message="no adapter x\n   allowed: nanoclaw")
    (entry,) = entries(store(tmp_path, make_result("error", reason_code="adapter.unknown", error=error)))
    assert (entry.kind, entry.reason_code) == ("error", "adapter.unknown")
    assert entry.message == "adapter.unknown: no adapter x"
    assert entry.text.startswith("adapter.unknown: no adapter x\n   allowed: nanoclaw")


def test_an_error_whose_first_line_only_leads_to_the_next_is_told_with_it(tmp_path: Path) -> None:
    """What differs stands below: the message would end in the middle of a sentence."""
    text = "the recording differs from the fixture:\n    title: the fixture has 1\n    url: gone"
    error = ErrorInfo(reason_code="adapter.stale_fixture", message=text)
    (entry,) = entries(store(tmp_path, make_result("error", reason_code=error.reason_code, error=error)))
    assert entry.message == (
        "adapter.stale_fixture: the recording differs from the fixture: title: the fixture has 1"
    )


def test_the_problems_of_a_file_are_not_named_twice(tmp_path: Path) -> None:
    """An error that is a located problem names its code itself."""
    text = "replay.json:3:1: error[bundle.syntax]: not JSON"
    error = ErrorInfo(reason_code="bundle.syntax", message=text)
    (entry,) = entries(store(tmp_path, make_result("error", reason_code="bundle.syntax", error=error)))
    assert entry.message == text


def test_a_crash_is_at_the_line_of_the_check(tmp_path: Path) -> None:
    """A check that broke down places the error of its test."""
    crashed = judged("skip", "broken", reason_code="assertion.crashed", line=12, column=5)
    error = ErrorInfo(reason_code="assertion.crashed", message="assertion broken crashed")
    (entry,) = entries(store(tmp_path, make_result("error", crashed, error=error)))
    assert (entry.kind, entry.line) == ("error", 12)
    assert entry.text.startswith(
        "suite/case/test.yaml:12:5: assertion.crashed: assertion broken crashed\nnext: "
    )


def test_the_text_of_an_error_begins_with_its_place_in_the_test(tmp_path: Path) -> None:
    """As that of a failure does; a server that shows a text alone shows no property beside it."""
    error = ErrorInfo(reason_code="adapter.unknown", message="no adapter x", line=6, column=10)
    (entry,) = entries(store(tmp_path, make_result("error", reason_code="adapter.unknown", error=error)))
    assert entry.message == "adapter.unknown: no adapter x"
    assert entry.text.startswith("suite/case/test.yaml:6:10: adapter.unknown: no adapter x\nnext: ")


def test_a_skip_and_an_expected_failure_give_their_reason(tmp_path: Path) -> None:
    """A skip says what is missing, an expected failure why it is expected."""
    skipped, xfailed = entries(store(tmp_path, SKIPPED, XFAILED))
    assert (skipped.kind, skipped.message) == ("skip", "live: skipped: it needs supports_live_run")
    assert (xfailed.kind, xfailed.message) == ("xfail", "a known bug")


def test_an_expected_failure_without_a_reason_names_the_assertion(tmp_path: Path) -> None:
    """Without words of the author, the assertions that fail are named."""
    result = make_result("pass", judged("fail", "known", xfail=True), xfail=True)
    (entry,) = entries(store(tmp_path, result))
    assert entry.message == "fails as expected: known"


def test_an_unexpected_pass_says_so(tmp_path: Path) -> None:
    """A test that fails because it passed has no assertion to blame, and a reason all the same."""
    result = make_result("fail", judged("pass"), reason_code="xfail.unexpected_pass", next_step="a passed")
    (entry,) = entries(store(tmp_path, result))
    assert (entry.kind, entry.message) == ("fail", "xfail.unexpected_pass: a passed")
    assert entry.text == "xfail.unexpected_pass: a passed"
    result.line, result.column = 31, 16
    (entry,) = entries(store(tmp_path / "located", result))
    assert (entry.line, entry.column) == (31, 16)
    assert entry.text == "suite/case/test.yaml:31:16: xfail.unexpected_pass: a passed"


@pytest.mark.parametrize(
    ("bars", "results", "expected"),
    [
        ({"max_cost_usd": 1}, (PASSED,), ("fail", "suite.threshold: the cost is not known for every task")),
        ({}, (SKIPPED,), ("error", "nothing was judged: 1 test skipped")),
        ({}, (), ("error", "no test to run")),
    ],
    ids=["threshold", "all skipped", "no test"],
)
def test_a_run_that_fails_for_no_test_is_listed_itself(
    tmp_path: Path, bars: dict[str, float], results: tuple[object, ...], expected: tuple[str, str]
) -> None:
    """A run that did not end well never looks as if it had, in no list of tests."""
    run = store(tmp_path, *results, **bars)  # type: ignore[arg-type]
    assert run.summary.exit_code != 0
    *_, last = entries(run)
    assert (last.kind, last.message, last.name) == (*expected, "agenteval")


def test_a_run_that_a_test_explains_is_not_listed(tmp_path: Path) -> None:
    """One no is enough."""
    assert [each.name for each in entries(store(tmp_path, FAILED))] == ["nanoclaw.t.fails"]
    assert [each.name for each in entries(store(tmp_path / "b", problems=[UNREADABLE]))] == [
        "suite/broken/test.yaml"
    ]


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ({"hint": "did you mean 'title'?", "allowed": ["id", "title"]}, "did you mean 'title'?"),
        ({"allowed": ["id", "title"]}, "write one of: id, title"),
        ({"allowed": ["id"]}, "write id"),
        ({"allowed": ["id", "title"], "next_step": "correct it"}, "correct it (allowed: id, title)"),
        ({"next_step": "correct it"}, "correct it"),
        ({"hint": "did you mean 'x'?", "next_step": "correct it"}, "did you mean 'x'? correct it"),
    ],
)
def test_a_broken_file_comes_with_what_to_do(said: dict[str, Any], advice: str, tmp_path: Path) -> None:
    """Reports show no excerpt with the hint under it: they tell it as the next step."""
    problem = Problem(
        reason_code="spec.unknown_key", message="unknown key", path=Path("a/test.yaml"), line=2, **said
    )
    run = store(tmp_path, PASSED, problems=[problem])
    entry = list(entries(run))[-1]
    assert entry.text == f"a/test.yaml:2: spec.unknown_key: unknown key\nnext: {advice}"
    assert entry.message == "spec.unknown_key: unknown key"
    (stored,) = run.summary.problems
    assert stored_problem(stored).render().endswith(f"\n   next: {advice}")


def test_a_problem_without_a_file_is_listed_by_its_code(tmp_path: Path) -> None:
    """Two problems that are about no file are two entries."""
    problems = [Problem(reason_code="redaction.leak", message=name) for name in ("a", "b")]
    listed = list(entries(store(tmp_path, PASSED, problems=problems)))
    assert [(each.name, each.text) for each in listed[1:]] == [
        ("redaction.leak", "redaction.leak: a"),
        ("redaction.leak", "redaction.leak: b"),
    ]
