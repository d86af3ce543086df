"""A run read back from its directory is what was written there."""

import json
from pathlib import Path

import pytest

from agenteval.contracts.errors import FileError
from agenteval.contracts.models import parse
from agenteval.judging.stored import StoredRun, StoredRunError, is_run
from agenteval.openwop.models import EvalSummary
from agenteval.openwop.summary import eval_summary_of
from agenteval.redaction.sealing import encode
from runs import EXAMPLES, run_command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The directory of a run of the examples, with traces."""
    return run_command([EXAMPLES], tmp_path, "--save-traces").folder


def test_a_run_reads_back_byte_for_byte(folder: Path) -> None:
    """Summary and results, read and encoded again, are the files."""
    run = StoredRun(folder)
    assert encode(run.summary) == (folder / "summary.json").read_bytes()
    results = list(run.results())
    assert [result.test_case_id for result in results] == [row.test_case_id for row in run.summary.tests]
    for result in results:
        assert result.artifacts.result is not None
        written = (folder / result.artifacts.result).read_bytes()
        assert encode(result) == written


def test_traces_and_the_eval_summary_are_read_as_they_were_written(folder: Path) -> None:
    """A trace that was saved is plain data, the EvalSummary a model."""
    run = StoredRun(folder)
    result = next(run.results())
    assert result.artifacts.trace is not None
    assert run.trace(result) == json.loads((folder / result.artifacts.trace).read_text())
    written = json.loads((folder / "eval-summary.json").read_text())
    assert eval_summary_of(run) == parse(EvalSummary, written)


def test_a_run_without_traces_has_none(tmp_path: Path) -> None:
    """A trace that the run did not keep is None."""
    run = StoredRun(run_command([EXAMPLES], tmp_path).folder)
    assert run.trace(next(run.results())) is None


def test_summary_json_names_its_run(folder: Path) -> None:
    """The path of summary.json stands for its directory."""
    assert StoredRun(folder / "summary.json").path == folder
    assert is_run(folder)
    assert is_run(folder / "summary.json")
    assert not is_run(folder.parent)


def test_what_is_no_run_is_refused(folder: Path, tmp_path: Path) -> None:
    """A missing directory, one without a summary, one of several runs: each is told."""
    with pytest.raises(StoredRunError) as missing:
        StoredRun(tmp_path / "absent")
    assert missing.value.message == f"no run in {tmp_path / 'absent'}: there is no such directory"
    with pytest.raises(StoredRunError) as file:
        StoredRun(folder / "events.jsonl")
    assert file.value.message == f"no run in {folder / 'events.jsonl'}: it is a file"
    with pytest.raises(StoredRunError) as several:
        StoredRun(tmp_path)
    assert (
        several.value.message == f"no complete run in {tmp_path}: summary.json is missing; runs in it: run-1"
    )
    assert several.value.reason_code == "run.incomplete"
    assert several.value.next_step == "name the directory of one run that finished"
    for number in range(2, 6):
        (tmp_path / f"run-{number}").mkdir()
        (tmp_path / f"run-{number}" / "summary.json").touch()
    with pytest.raises(StoredRunError, match=r"; runs in it: run-3, run-4, run-5$"):
        StoredRun(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoredRunError, match=r"summary\.json is missing$"):
        StoredRun(tmp_path / "empty")


def test_a_run_of_another_format_is_refused(folder: Path) -> None:
    """Its words may mean something else, though they can be read."""
    summary = folder / "summary.json"
    text = summary.read_text(encoding="utf-8")
    summary.write_text(text.replace('"schema_version": "0.1"', '"schema_version": "0.2"'), encoding="utf-8")
    with pytest.raises(StoredRunError) as other:
        StoredRun(folder)
    assert other.value.reason_code == "run.other_version"
    assert other.value.message == (
        f"the run in {folder} uses version '0.2' of the format, but only '0.1' can be read"
    )
    assert other.value.next_step == "use the version of agenteval that wrote it, or run the tests again"


def test_a_missing_result_is_damage(folder: Path) -> None:
    """A result that the summary names and nobody finds is an error, not a shorter run."""
    run = StoredRun(folder)
    name = run.summary.tests[0].result
    assert name is not None
    (folder / name).unlink()
    with pytest.raises(StoredRunError) as error:
        list(run.results())
    assert error.value.message == f"the run in {folder} is damaged: {name} is missing"
    assert error.value.reason_code == "run.damaged"
    assert error.value.next_step == "run the tests again"
    for impossible in ("a\0b.json", "x" * 300):
        run.summary.tests[0].result = impossible
        with pytest.raises(StoredRunError) as error:
            run.result(run.summary.tests[0])
        assert error.value.message == f"the run in {folder} is damaged: {impossible} is missing"


def test_a_test_may_have_no_result(folder: Path) -> None:
    """It is passed by; to ask for it is an error."""
    run = StoredRun(folder)
    row = run.summary.tests[0]
    row.result = None
    assert len(list(run.results())) == len(run.summary.tests) - 1
    with pytest.raises(StoredRunError) as error:
        run.result(row)
    assert error.value.message == f"the run in {folder} has no result for {row.test_case_id}"


def test_a_summary_leads_nowhere_else(folder: Path) -> None:
    """A summary that names a file outside its directory is refused."""
    run = StoredRun(folder)
    run.summary.tests[0].result = "../elsewhere.json"
    with pytest.raises(StoredRunError) as error:
        list(run.results())
    assert (
        error.value.message
        == f"the run in {folder} names '../elsewhere.json', which is not a file of the run"
    )


def test_a_summary_of_other_content_is_located(folder: Path) -> None:
    """A summary that does not say what it should is an error with its place."""
    path = folder / "summary.json"
    data = json.loads(path.read_text())
    data["exit_code"] = "zero"
    path.write_text(json.dumps(data, indent=2))
    with pytest.raises(FileError) as error:
        StoredRun(folder)
    assert error.value.problems[0].line is not None
    assert "exit_code" in error.value.problems[0].message


def test_files_of_a_run_have_no_bounds(folder: Path) -> None:
    """A result may be larger than what people write: it is bounded where it is written."""
    run = StoredRun(folder)
    (result, *_) = run.results()
    large = 65 * 2**20
    result.warnings.append("x" * large)
    assert result.artifacts.result is not None
    (folder / result.artifacts.result).write_bytes(encode(result))
    assert len(next(run.results()).warnings[-1]) == large
    assert result.artifacts.trace is not None
    for name in ("summary.json", "eval-summary.json", result.artifacts.trace):
        with (folder / name).open("ab") as file:
            file.write(b" " * large)
    run = StoredRun(folder)
    assert run.trace(result)
    assert eval_summary_of(run)
