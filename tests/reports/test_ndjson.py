"""NDJSON: the files of a run as events, one a line."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from run_builders import judged, make_result
from stored_runs import mixed, rendered, store


def test_events_hold_what_the_files_hold(tmp_path: Path) -> None:
    """A start, each result as it was written, the summary."""
    run = mixed(tmp_path)
    first, *tests, last = map(json.loads, rendered("ndjson", run).splitlines())
    assert first == {"event": "run_started", "test_run_id": "run-1", "agenteval_version": "0.1.0"}
    files = [str(row.result) for row in run.summary.tests]
    assert tests == [
        {"event": "test_finished", "result": json.loads((run.path / name).read_text())} for name in files
    ]
    assert last == {"event": "run_finished", "summary": json.loads((run.path / "summary.json").read_text())}


@given(text=st.text(st.characters(codec=None), max_size=60))
def test_no_text_makes_a_line(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever is said, an event is one line."""
    result = make_result("fail", judged("fail", "odd", message=text), title=text)
    lines = rendered("ndjson", store(tmp_path_factory.mktemp("run"), result)).removesuffix("\n").split("\n")
    assert [json.loads(line)["event"] for line in lines] == ["run_started", "test_finished", "run_finished"]
