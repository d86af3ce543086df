"""Builders of runs that are over: results in a directory, as a run leaves them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import Problem
from agenteval.contracts.results import Evidence, Excerpt, TestResult
from agenteval.judging.stored import StoredRun
from agenteval.openwop.summary import Suite
from agenteval.records.record import complete, record_of
from agenteval.records.summary import RunSettings, RunTotals, summarise
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.artifacts import RunDirectory
from agenteval.reporters.formats import FORMATS
from run_builders import file_away, judged, make_outcome, make_result

SEARCHES = judged(
    "fail",
    "searches",
    message="expected at least 1 call of web_search, got 0; the trace calls web_fetch×1",
    reason_code="assertion.failed",
    description="news are looked up",
    evidence=Evidence(
        event_refs=["evt-2"],
        excerpts=[Excerpt(event_id="evt-2", text="web_fetch {}", note="tool: expected web_search")],
    ),
    line=24,
    column=5,
)
WARNS = judged("warn", "brief", message="expected at most 20 words, got 31", line=30, column=5)
PASSED = make_result("pass", judged("pass", "one"), test_case_id="nanoclaw.t.passes")
FAILED = make_result("fail", SEARCHES, judged("pass", "two"), test_case_id="nanoclaw.t.fails")
WARNED = make_result("pass", WARNS, test_case_id="nanoclaw.t.warns")
SKIPPED = make_result(
    "skipped",
    judged("skip", "live", message="skipped: it needs supports_live_run", reason_code="capability.missing"),
    test_case_id="nanoclaw.t.skipped",
)
XFAILED = make_result(
    "pass",
    judged("fail", "known", xfail=True, line=9, column=5),
    test_case_id="nanoclaw.t.xfails",
    xfail=True,
    xfail_reason="a known bug",
)
UNREADABLE = Problem(
    reason_code="yaml.syntax", message="not valid YAML", path=Path("suite/broken/test.yaml"), line=3, column=7
)
MISSPELT = Problem(
    reason_code="spec.unknown_key", message="unknown key 'tilte'", path=UNREADABLE.path, line=4, column=1
)
REMARK = Problem(
    reason_code="spec.id_format",
    message="the id is unusual",
    path=Path("suite/odd/test.yaml"),
    line=2,
    column=5,
    severity="warning",
    next_step="rename it",
)


def store(
    folder: Path,
    *results: TestResult,
    problems: Sequence[Problem] = (),
    remarks: Sequence[Problem] = (),
    known: int = 0,
    **suite: Any,
) -> StoredRun:
    """A run with these results. `problems` are those of one file that could not be loaded.

    `known` failures are accepted by the baseline.
    """
    directory = RunDirectory(folder, "run-1")
    totals = RunTotals()
    for result in results:
        outcome = make_outcome(result)
        complete(outcome)
        file_away(directory, outcome, save_trace=False)
    if problems:
        totals.add_invalid(problems)
    totals.add_problems(remarks)
    if known:
        totals.compare("base.json", regressions=0, known_failures=known)
    directory.close({})
    settings = RunSettings(run_id="run-1", suite=Suite(id="s", **suite))
    at = "2026-01-01T00:00:0{}.000Z".format
    records = list(map(record_of, results))
    made = summarise(records, totals, settings, started_at=at(0), finished_at=at(1), duration_ms=1000)
    directory.finish(made.run)
    return StoredRun(directory.path)


def mixed(folder: Path) -> StoredRun:
    """A run with one test of each kind."""
    results = (PASSED, FAILED, WARNED, SKIPPED, XFAILED)
    return store(folder, *results, problems=[UNREADABLE, MISSPELT], remarks=[REMARK])


def rendered(name: str, run: StoredRun) -> str:
    """The report of a format."""
    (form,) = (form for form in FORMATS if form.name == name)
    return form.render(run, Redactor()).decode()
