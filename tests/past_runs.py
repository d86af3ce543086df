"""Stored runs of different days, with tests of chosen states."""

from pathlib import Path

from agenteval.contracts.results import TestRow
from agenteval.openwop.summary import Suite
from agenteval.records.summary import RunSettings, RunTotals, summarise
from agenteval.reporters.artifacts import RunDirectory


def keep(folder: Path, day: int, *, branch: str | None = None, **tests: str | list[int]) -> Path:
    """Store a run of a day in January; each test has a status, or the trials that passed and all of them."""
    run_id = f"run-2026010{day}T030405Z-0000000{day}"
    directory = RunDirectory(folder, run_id)
    directory.close({"aggregateScore": day / 10})
    settings = RunSettings(run_id=run_id, suite=Suite(id="s"))
    at = f"2026-01-0{day}T03:04:05.000Z"
    summary = summarise([], RunTotals(), settings, started_at=at, finished_at=at, duration_ms=1).run
    summary.branch = branch
    for name, given in tests.items():
        trials = given if isinstance(given, list) else None
        status = ("pass" if trials[0] == trials[1] else "fail") if trials else given
        row = {"test_case_id": name, "path": "t", "status": status, "reason_code": None, "result": None}
        summary.tests.append(TestRow(**row, duration_ms=1, vacuous=0, trials=trials))  # type: ignore[arg-type]
        if status == "pass":
            summary.counts.passed += 1
        else:
            summary.counts.failed += 1
    directory.finish(summary)
    return directory.path
