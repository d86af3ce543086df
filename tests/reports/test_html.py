"""The HTML report as a file: escaped, locked, the same each time, and honest about what it lacks."""

import base64
import hashlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.contracts.errors import Problem
from agenteval.contracts.results import ErrorInfo
from agenteval.judging.stored import StoredRun
from agenteval.redaction.redactor import DEFAULT_RULES, RedactionRules, Redactor
from agenteval.reporters.html import render
from builders import call, make_trace, result
from html_runs import FETCHES, SEARCHES, outcome, searched, stored_run
from projects import Project
from run_builders import judged, make_result
from runs import CASES, EXAMPLES, run_command
from stored_runs import SEARCHES as NO_SEARCH
from stored_runs import XFAILED, store

HOSTILE = "</noscript></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'`\u202e\x00"


def html(run: StoredRun, redactor: Redactor | None = None) -> str:
    """The report as text."""
    return render(run, redactor or Redactor()).decode()


def test_nothing_that_is_shown_is_markup(tmp_path: Path) -> None:
    """Whatever part of a test says it: its elements are those of the template, and the characters are escaped."""
    hostile = make_trace(
        call(HOSTILE, **{HOSTILE: HOSTILE}),
        result(HOSTILE, value={HOSTILE: [HOSTILE]}),
        output=HOSTILE,
        asked=HOSTILE,
    )
    contains = {
        "id": "says",
        "type": "output_contains",
        "params": {"all_of": [HOSTILE * 2]},
        "description": HOSTILE,
    }
    two = [
        outcome(name, contains, trace=hostile, title=HOSTILE, tags=[HOSTILE]) for name in ("first", "second")
    ]
    problem = Problem(
        reason_code="spec.x", message=HOSTILE, next_step=HOSTILE, path=Path(HOSTILE.replace("/", ""))
    )
    page = html(stored_run(tmp_path, *two, problems=[problem]))
    assert page.count("<script>") == page.count("</script>") == 1
    assert page.count("<style>") == page.count("</style>") == 1
    assert page.split("<script>", maxsplit=1)[0].count("<noscript>") == page.count("</noscript>") == 1
    assert "<img" not in page
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_policy_lets_nothing_run_but_what_is_ours(tmp_path: Path) -> None:
    """It names the style sheet and the script by their digests, and no place to load from or to send to."""
    page = html(stored_run(tmp_path, outcome("a", SEARCHES)))
    parts = [re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[0] for tag in ("style", "script")]
    style, script = (base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in parts)
    assert (
        f"content=\"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "base-uri 'none'; form-action 'none'\"" in page
    )
    assert "http-equiv" in page.split("<style>", maxsplit=1)[0]


def test_there_is_nothing_to_load(tmp_path: Path) -> None:
    """No element names another file, and no style does."""
    page = html(stored_run(tmp_path, outcome("a", SEARCHES), outcome("b", FETCHES)))
    assert [target for target in re.findall(r'(?:src|href|action)="([^"]*)"', page) if target[0] != "#"] == []
    assert re.findall(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket|eval\(", page) == []


def test_the_first_failure_is_open_and_all_others_are_closed(tmp_path: Path) -> None:
    """Failures come first, wherever they stand in the run."""
    page = html(stored_run(tmp_path, outcome("a", SEARCHES), outcome("b", FETCHES), outcome("c", FETCHES)))
    found = re.findall(r'<details class="test is-(\w+)" id="([^"]*)"[^>]*?( open)?>', page)
    assert found == [
        ("fail", "test-nanoclaw.html.b.x", " open"),
        ("fail", "test-nanoclaw.html.c.x", ""),
        ("pass", "test-nanoclaw.html.a.x", ""),
    ]


def test_a_green_run_opens_with_nothing_open(tmp_path: Path) -> None:
    """There is no failure to show."""
    page = html(stored_run(tmp_path, outcome("a", SEARCHES)))
    assert '<h1 class="is-pass">' in page
    assert "All tests passed</h1>" in page
    assert re.findall(r'<details class="test[^>]* open>', page) == []


def test_the_headline_counts_all_that_went_wrong(tmp_path: Path) -> None:
    """The exit code has one reason; there may be more."""
    problem = Problem(
        reason_code="spec.x", message="bad", next_step="mend", path=Path("x/test.yaml"), line=3, column=7
    )
    run = stored_run(tmp_path, outcome("a", FETCHES), outcome("b", SEARCHES), problems=[problem])
    page = html(run)
    assert "1 test failed, 1 invalid test spec</h1>" in page
    assert "exit 3: 1 invalid test spec" in page
    assert "<code>x/test.yaml:3:7</code>" in page
    assert '<p class="says">bad</p><p class="next"><b>Next:</b> mend</p>' in page


def test_many_warnings_do_not_stand_before_the_tests(tmp_path: Path) -> None:
    """Errors do. Up to three warnings are shown as well; more are folded."""

    def problems(count: int) -> list[Problem]:
        said = [("error", "bad"), *(("warning", f"odd {number}") for number in range(count))]
        return [
            Problem(reason_code="spec.x", message=message, path=Path("test.yaml"), severity=severity)  # type: ignore[arg-type]
            for severity, message in reversed(said)
        ]

    few = html(stored_run(tmp_path / "few", outcome("a", SEARCHES), problems=problems(3)))
    many = html(stored_run(tmp_path / "many", outcome("a", SEARCHES), problems=problems(4)))
    folded = '<details class="more"><summary>4 warnings</summary>'
    says = [re.findall(r'<p class="says">(.*?)</p>', page) for page in (few, *many.split(folded))]
    assert says == [["bad", "odd 2", "odd 1", "odd 0"], ["bad"], ["odd 3", "odd 2", "odd 1", "odd 0"]]


def test_without_traces_there_is_the_evidence(tmp_path: Path) -> None:
    """And the report says that it is all there is."""
    page = html(stored_run(tmp_path, outcome("a", FETCHES), traces=False))
    assert (
        "This run kept no trace of the test: only the events that failed assertions point at are shown, with those. "
        "Runs with <code>--save-traces</code> or <code>--html</code> keep them.</p>"
    ) in page
    assert '<ul class="excerpts"><li><code>evt-2</code>' in page
    assert 'class="events"' not in page


def test_an_error_is_told_with_its_place_in_the_test(tmp_path: Path) -> None:
    """As the console tells it; where the problems of a file are the message, they tell their own."""
    told = ErrorInfo(reason_code="adapter.unknown", message="no adapter x", line=6, column=10)
    page = html(store(tmp_path / "a", make_result("error", error=told)))
    assert "<b>Not judged</b> <code>suite/case/test.yaml:6:10</code> <code>adapter.unknown</code>" in page
    file = ErrorInfo(
        reason_code="bundle.syntax", message="r.json:1:2: error[bundle.syntax]: not JSON", line=6
    )
    page = html(store(tmp_path / "b", make_result("error", error=file)))
    assert "<b>Not judged</b> <code>bundle.syntax</code>" in page


def test_what_to_do_is_told_once(tmp_path: Path) -> None:
    """The problems of a file say it themselves."""
    told = ErrorInfo(
        reason_code="bundle.syntax", message="r.json:1:2: error[bundle.syntax]: bad\n   next: mend it"
    )
    page = html(store(tmp_path / "a", make_result("error", error=told, next_step="mend it")))
    assert page.count("mend it") == 1
    page = html(store(tmp_path / "b", make_result("error", error=told, next_step="record it again")))
    assert '<p class="next"><b>Next:</b> record it again</p>' in page


def test_an_assertion_is_told_with_its_line(tmp_path: Path) -> None:
    """The path of the file stands above."""
    page = html(store(tmp_path, make_result("fail", NO_SEARCH)))
    assert "&middot; tool process, line 24</span>" in page


def test_a_failure_without_a_failed_assertion_has_its_reason(tmp_path: Path) -> None:
    """A test that should have failed, and passed, says so on its line."""
    expects: dict[str, Any] = {"expected": {"status": "fail", "assertions": ["searches"], "reason": "a bug"}}
    page = html(stored_run(tmp_path, outcome("a", SEARCHES, **expects)))
    assert "<b>xfail.unexpected_pass</b> searches passed, though the test expects it to fail" in page


def test_an_unexpected_pass_is_told_with_its_line(tmp_path: Path) -> None:
    """Where the test file expects the failure that did not come; an expected failure has its assertion's line."""
    code = "xfail.unexpected_pass"
    passed = make_result("fail", judged("pass"), reason_code=code, xfail_reason="a bug", line=31, column=16)
    assert "<span>Expected to fail (line 31): a bug</span>" in html(store(tmp_path / "a", passed))
    assert "<span>Expected to fail: a known bug</span>" in html(store(tmp_path / "b", XFAILED))


def test_a_skipped_test_says_what_was_missing(tmp_path: Path) -> None:
    """On its line too; the assertion has the rest."""
    page = html(
        stored_run(tmp_path, outcome("a", {**SEARCHES, "requires_capabilities": ["supports_live_run"]}))
    )
    assert '<h2 id="group-skipped">Skipped <span>1</span></h2>' in page
    assert "<b>test.all_skipped</b> no assertion could be judged" in page


def test_a_pass_says_how_many_assertions_were_skipped(tmp_path: Path) -> None:
    """On its line, as on the console; the line of a skipped test says so anyway."""
    skips = {**SEARCHES, "id": "skips", "requires_capabilities": ["supports_live_run"]}
    page = html(stored_run(tmp_path, outcome("a", SEARCHES, skips), outcome("b", skips)))
    assert re.findall(r'<span class="note">.*?</svg>([^<]*)</span>', page) == ["1 skipped"]


def test_the_scorecard_counts_as_the_console_does(tmp_path: Path) -> None:
    """Expected failures and skipped assertions stand beside `passed/judged`, and are in neither number."""
    skipped = {**SEARCHES, "id": "skipped", "requires_capabilities": ["supports_live_run"]}
    expected = {"status": "fail", "assertions": ["fetches"], "reason": "a known bug"}
    run = stored_run(tmp_path, outcome("a", SEARCHES, FETCHES, skipped, expected=expected))
    (score,) = run.summary.scorecard
    assert (score.passed, score.xfailed, score.skipped) == (1, 1, 1)
    (line,) = re.findall(r'<button type="button" class="category".*?</button>', html(run), re.DOTALL)
    assert '<span>1<span class="unseen"> of </span><span aria-hidden="true">/</span>1<span' in line
    assert re.findall(r'<span class="is-(?:[a-z]+)">([^<]+)</span>', line) == [
        "1 failed as expected",
        "1 skipped",
    ]


def test_a_secret_in_the_files_of_a_run_is_not_told_again(tmp_path: Path) -> None:
    """Files of a run hold none; should one have got in since, or the rules have grown stricter, it stops here."""
    run = stored_run(tmp_path, outcome("a", SEARCHES, trace=searched("the word is xylophone-17")))
    page = html(run, redactor=Redactor((), RedactionRules(DEFAULT_RULES.kinds, ["xylophone-17"])))
    assert "the word is " in page
    assert "xylophone" not in page


def test_a_run_writes_what_report_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Byte for byte, and the run keeps its traces for it."""
    main(
        [
            "run",
            str(EXAMPLES),
            "--artifacts-dir",
            str(tmp_path),
            "--run-id",
            "run-1",
            "--html",
            str(tmp_path / "a.html"),
        ]
    )
    assert list((tmp_path / "run-1").glob("*.trace.json"))
    capsys.readouterr()
    assert main(["report", str(tmp_path / "run-1"), "--html", str(tmp_path / "b.html")]) == 0
    assert capsys.readouterr().out == f"html  {tmp_path / 'b.html'}\n"
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_no_artifacts_leaves_the_report_alone(tmp_path: Path) -> None:
    """It still shows the traces: they are kept as long as it is made."""
    project = Project(tmp_path)
    project.add("fail")
    page, junit = (str(tmp_path / "out" / name) for name in ("r.html", "r.xml"))
    code = main(["run", str(tmp_path / "tests"), "--no-artifacts", "--html", page, "--junit-xml", junit])
    assert code == 1
    assert 'class="events"' in Path(page).read_text(encoding="utf-8")
    told = Path(junit).read_text(encoding="utf-8")
    assert "next: read the evidence, and fix the agent or the assertion</failure>" in told
    assert not (tmp_path / "artifacts").exists()


def test_every_control_has_its_place(tmp_path: Path) -> None:
    """Failing, erring and passing tests of every type of assertion are rendered."""
    run = StoredRun(
        run_command(
            [CASES / "failing", CASES / "error" / "fixture-stale", EXAMPLES], tmp_path, "--save-traces"
        ).folder
    )
    page = html(run)
    assert page.count('<details class="test ') == len(run.summary.tests)


def test_without_the_extra_the_error_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any test has run."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    Project(tmp_path).add("pass")
    code = main(["run", str(tmp_path / "tests"), "--artifacts-dir", str(tmp_path / "a"), "--html", "x.html"])
    told = capsys.readouterr()
    assert code == 2
    assert told.err == (
        "error[report.extra_missing]: --html needs the package jinja2, which is not installed\n"
        "  next: pip install 'agenteval[html]'\n"
    )
    assert not (tmp_path / "a").exists()
