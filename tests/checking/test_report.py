"""The report of a check as data: written, read back, and what reporters ask of it."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from agenteval.comparing.check_report import check_of
from agenteval.judging.stored import CHECK
from agenteval.reference.schemas import build_schema
from check_reports import SAMPLES, all_measured, checked_run, nothing_changed, reached


@pytest.mark.parametrize("name", SAMPLES)
def test_a_report_is_read_back_as_it_was_written(name: str, tmp_path: Path) -> None:
    """`check.json` in the run directory fits its schema, and gives the same report."""
    report = SAMPLES[name]()
    run = checked_run(tmp_path, report)
    written = json.loads((run.path / CHECK).read_text(encoding="utf-8"))
    assert [error.message for error in Draft202012Validator(build_schema("check")).iter_errors(written)] == []
    assert check_of(run) == report
    assert (run.summary.exit_code, run.summary.exit_reason) == (report.exit_code, report.exit_reason)


def test_a_run_that_is_no_check_has_no_report(tmp_path: Path) -> None:
    """Reports of other runs ask as well, and get None."""
    run = checked_run(tmp_path, nothing_changed())
    (run.path / CHECK).unlink()
    assert check_of(run) is None


def test_what_reporters_ask_of_a_report() -> None:
    """Tests by reach and verdict, files by who saw them, and the tests that wait for the model."""
    check = reached()
    assert [each.test_case_id for each in check.unmeasured] == ["shop.refund", "shop.order", "shop.address"]
    assert [each.test_case_id for each in check.of_reach("moved", "error")] == ["shop.address", "shop.broken"]
    assert [each.path for each in check.seen_by("unseen", "host")] == [
        "skills/digest/SKILL.md",
        "src/host/router.ts",
    ]
    check = all_measured()
    assert check.unmeasured == []
    (worse,) = check.of_verdict("worse")
    assert worse.measurement is not None
    assert [each.id for each in worse.measurement.fallen] == ["names-order"]
