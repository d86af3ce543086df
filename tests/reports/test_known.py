"""Failures that the baseline of a run knows: the run passes, and no report for others says that it does not."""

import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from agenteval.comparing.comparison import KINDS, Change, ChangeKind, ComparedSide, Comparison, known_failures
from agenteval.judging.stored import StoredRun
from agenteval.redaction.sealing import encode
from agenteval.reporters.entries import entries
from agenteval.reporters.markdown import annotations
from browsing import Open
from run_builders import make_result
from stored_runs import FAILED, PASSED, rendered, store

NAME = FAILED.test_case_id
SAID = "known failure of base.json: ops · the group is renamed · until 2199-12-31"


def change(kind: ChangeKind = "still_failing", name: str = NAME, **values: Any) -> Change:
    """A change of an assertion."""
    return Change(kind=kind, test_case_id=name, assertion="searches", before="fail", after="fail", **values)


EXPLAINED = change(owner="ops", reason="the group is renamed", expires="2199-12-31")


def compared(run: StoredRun, *changes: Change) -> StoredRun:
    """The run, once it was compared with a baseline."""
    side = ComparedSide(label="base.json", run_id="1", suite_id="a.b", suite_version="1", score=1.0)
    made = Comparison(
        before=side,
        after=side,
        score_delta=0.0,
        regressions=sum(each.regression for each in changes),
        counts=dict.fromkeys(KINDS, 0),
        changes=list(changes),
        differences=[],
        not_selected=0,
        without_traces=0,
        unused=[],
    )
    (run.path / "comparison.json").write_bytes(encode(made))
    return StoredRun(run.path)


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    """A run whose one failure its baseline knows and explains."""
    return compared(store(tmp_path, PASSED, FAILED, known=1), EXPLAINED)


def test_a_known_failure_is_told_with_its_reason_and_its_evidence(run: StoredRun) -> None:
    """It is of a kind of its own; the message is why it is accepted, the text has what was expected and found."""
    _, entry = entries(run)
    assert (entry.kind, entry.reason_code, entry.line) == ("known", "reason.fail", 24)
    assert entry.message == SAID
    assert entry.text.split("\n")[:3] == [
        SAID,
        "suite/case/test.yaml:24:5: searches (must_call_tool) failed",
        "  expected at least 1 call of web_search, got 0; the trace calls web_fetch×1",
    ]


def test_nothing_is_said_of_a_baseline_that_explains_nothing(tmp_path: Path) -> None:
    """Owner, reason and expiry are told as far as they are there."""
    stored = store(tmp_path, FAILED)
    assert known_failures(compared(stored, change())) == {NAME: "known failure of base.json"}
    assert known_failures(compared(stored, change(owner="ops"))) == {NAME: "known failure of base.json: ops"}


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [change("newly_failing", regression=True)],
        [change("expired", regression=True)],
        [change(), change("newly_vacuous", regression=True)],
        [change(name="nanoclaw.t.other")],
    ],
    ids=["unchanged", "new", "expired", "worse", "other"],
)
def test_what_got_worse_is_a_failure(tmp_path: Path, changes: list[Change]) -> None:
    """New failures, those whose day has passed, and tests that also lost something, are not excused."""
    stored = compared(store(tmp_path, FAILED), *changes)
    assert known_failures(stored) == {}
    assert [each.kind for each in entries(stored)] == ["fail"]


def test_an_error_is_never_known(tmp_path: Path) -> None:
    """That a test could not be judged before excuses nothing."""
    stored = compared(store(tmp_path, make_result("error", test_case_id=NAME)), change())
    assert known_failures(stored) == {}


def test_a_run_without_a_comparison_knows_nothing(tmp_path: Path) -> None:
    """A failure is one."""
    assert known_failures(store(tmp_path, FAILED)) == {}


def test_what_no_test_shows_is_told_of_the_run(tmp_path: Path) -> None:
    """Tests that are missing or judge less than in the baseline have failed nowhere, and are regressions."""
    stored = compared(
        store(tmp_path, PASSED, FAILED),
        change("newly_failing", regression=True),
        change("newly_vacuous", name=PASSED.test_case_id, regression=True),
        Change(kind="missing", test_case_id="nanoclaw.t.gone", before="pass", regression=True),
        Change(kind="missing", test_case_id="nanoclaw.t.failed", regression=False),
        Change(kind="lower_rate", test_case_id="nanoclaw.t.rare", before="9/9", after="5/9", regression=True),
    )
    *_, failed, entry = entries(stored)
    assert (failed.kind, failed.name) == ("fail", NAME)
    assert (entry.kind, entry.name, entry.message) == ("fail", "agenteval", "1 test failed")
    assert entry.text == (
        "1 test failed\nnewly vacuous: nanoclaw.t.passes searches\nmissing: nanoclaw.t.gone (the test)\n"
        "lower rate: nanoclaw.t.rare (the test): 9/9, now 5/9\n"
        "next: bring back what the baseline has, or accept the change with --update-baseline"
    )
    page = " ".join(rendered("html", stored).split())
    said = '</b> <code>nanoclaw.t.gone</code></p><p class="says">The test: pass in the baseline, not there now.</p>'
    assert f"<b>missing{said}" in page
    assert "The test: 9/9 in the baseline, 5/9 now." in page
    assert "Assertion searches: fail in the baseline, fail now." in page
    assert "nanoclaw.t.failed" not in page


def test_junit_shows_it_as_skipped(run: StoredRun) -> None:
    """A CI server stays green as the run does; the evidence is in the text."""
    shown = rendered("junit-xml", run)
    assert 'tests="2" failures="0" errors="0">' in shown
    assert f'<skipped type="known_failure" message="{SAID}">{SAID}\nsuite/case/test.yaml:24:5: ' in shown
    assert "<failure" not in shown


def test_sarif_suppresses_it(run: StoredRun) -> None:
    """The reason stands outside of the test file."""
    (result,) = json.loads(rendered("sarif", run))["runs"][0]["results"]
    assert result["level"] == "error"
    assert result["suppressions"] == [{"kind": "external", "justification": SAID}]


def test_sarif_suppresses_a_failure_that_no_assertion_explains(tmp_path: Path) -> None:
    """A test that should have failed, for instance."""
    passes = make_result("fail", test_case_id=NAME, reason_code="xfail.passed")
    stored = compared(store(tmp_path, PASSED, passes, known=1), change())
    (result,) = json.loads(rendered("sarif", stored))["runs"][0]["results"]
    assert result["ruleId"] == "xfail.passed"
    assert result["suppressions"] == [{"kind": "external", "justification": "known failure of base.json"}]


def test_markdown_does_not_count_it_as_failed(run: StoredRun) -> None:
    """It has a column and a fold of its own."""
    shown = rendered("markdown", run)
    assert "| tests | passed | known failure |\n| --- | --- | --- |\n| 2 | 1 | 1 |\n" in shown
    assert f"<b>KNOWN</b> <code>{NAME}</code> <code>{SAID}</code></summary>" in shown


def test_github_is_not_bothered_with_it(run: StoredRun) -> None:
    """An annotation would be on every change, whatever it is about."""
    assert list(annotations(run)) == []


def test_html_has_a_group_for_it(run: StoredRun) -> None:
    """Closed, with the reason above the assertions that failed."""
    shown = rendered("html", run)
    assert "Known failure <span>1</span>" in shown
    assert f"<span>{SAID.replace('known', 'Known', 1)}</span>" in shown
    assert f'<details class="test is-known" id="test-{NAME}" data-is="known"' in shown
    assert ">Failed <b>" not in shown


def test_a_bar_that_was_missed_is_told_beside_it(tmp_path: Path) -> None:
    """A known failure is no reason for the run to fail, so that another one is listed."""
    stored = compared(store(tmp_path, PASSED, FAILED, pass_score=1, known=1), change())
    assert [(each.kind, each.name) for each in entries(stored)][2:] == [("fail", "agenteval")]


def test_html_is_as_accessible_with_it(run: StoredRun, visit: Open, tmp_path: Path) -> None:
    """Filtered for, opened, and read: the reason and the assertion that failed; axe-core finds nothing."""
    path = tmp_path / "report.html"
    path.write_text(rendered("html", run), encoding="utf-8")
    page = visit(path, color_scheme="dark", bypass_csp=True)
    page.get_by_role("button", name="Known failure 1").click()
    expect(page.get_by_role("status")).to_have_text("1 of 2 tests shown")
    page.get_by_role("button", name="Open all").click()
    expect(page.locator(".test.is-known .callout")).to_have_text(SAID.replace("known", "Known", 1))
    expect(page.locator(".test.is-known .check.is-fail summary b")).to_have_text("searches")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
