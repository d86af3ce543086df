"""The baseline file: what it says, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenteval.comparing.baseline import (
    BaselineError,
    BaselineFile,
    TestFacts,
    load_baseline,
    updated_baseline,
    write_baseline,
)
from agenteval.comparing.comparison import load_compared_run
from agenteval.contracts.errors import FileError, UsageError

SUITE: dict[str, Any] = {"suite_id": "local.example.evals.t", "suite_version": "0.1.0", "score": 0.5}


def entry(name: str, status: str = "pass", **more: Any) -> TestFacts:
    """What became of a test."""
    given: dict[str, Any] = {"test_case_id": name, "status": status, "assertions": {"a": status}, **more}
    return TestFacts(**given)


def baseline(*tests: TestFacts) -> BaselineFile:
    """A baseline of these tests."""
    return BaselineFile(schema_version="0.1", tests=list(tests), **SUITE)


def written(folder: Path, data: dict[str, Any]) -> Path:
    """A baseline's file that says this."""
    path = folder / "agenteval-baseline.json"
    path.write_text(json.dumps({"schema_version": "0.1", "tests": [], **SUITE, **data}, indent=2))
    return path


def test_entries_come_sorted_and_without_what_is_not_known() -> None:
    """The order of a run does not matter, nor does a key that has no value take up a line."""
    one, other = entry("a", score=1.0), entry("b", "fail", reason="a bug")
    assert baseline(other, one).data() == {
        "schema_version": "0.1",
        **SUITE,
        "tests": [
            {"test_case_id": "a", "status": "pass", "score": 1.0, "assertions": {"a": "pass"}},
            {"test_case_id": "b", "status": "fail", "assertions": {"a": "fail"}, "reason": "a bug"},
        ],
    }
    assert baseline(other, one).encoded() == baseline(one, other).encoded()


def test_what_people_wrote_stays_as_long_as_the_test_fails() -> None:
    """An update renews states, and keeps owner, reason and expiry of what still fails."""
    known = {"owner": "ops", "reason": "a bug", "expires": "2027-01-31"}
    old = baseline(entry("a", "fail", **known), entry("b", "fail", **known), entry("c"), entry("d"))
    new = updated_baseline(baseline(entry("b"), entry("a", "fail")), old, frozenset("c"))
    assert new.tests == [entry("a", "fail", **known), entry("b"), entry("c")]


def test_the_score_is_that_of_all_tests() -> None:
    """Also when only some of them were run."""
    old = baseline(entry("a", score=0.5), entry("b", score=1.0), entry("c", "skipped"))
    new = updated_baseline(baseline(entry("a", score=0.8)), old, frozenset("bc"))
    assert new.score == 0.9


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"schema_version": "0.2"}, "schema_version: expected '0.1', got '0.2'"),
        (
            {"tests": [{"test_case_id": "a", "status": "pass", "assertions": {}, "expires": "31.1.2027"}]},
            "tests[0].expires: expected a string that matches ^[0-9]{4}-[0-9]{2}-[0-9]{2}$, got '31.1.2027'",
        ),
        (
            {"tests": [{"test_case_id": "a", "status": "pass", "assertions": {}, "expires": "2027-02-30"}]},
            "tests[0]: expires: 2027-02-30 is not a date",
        ),
        *(
            (
                {"tests": [{"test_case_id": "a", "status": "pass", "assertions": {}, "trials": trials}]},
                (
                    "tests[0].trials: expected the trials that passed, those that were judged, and, if they ended early, "
                    f"those asked for, none smaller than the one before; got {trials}"
                ),
            )
            for trials in ([], [3], [3, 2], [1, 3, 2], [1, 2, 3, 4])
        ),
        (
            {"tests": [{"test_case_id": "a", "status": "pass", "assertions": {}}] * 2},
            "two entries are for a",
        ),
        (
            {"tests": [{"test_case_id": "a", "status": "pass", "assertions": {"b": "maybe"}}]},
            "tests[0].assertions.b: expected one of pass, vacuous, fail, warn, skip, xfail, got 'maybe'",
        ),
    ],
)
def test_a_slip_in_the_file_is_located(data: dict[str, Any], message: str, tmp_path: Path) -> None:
    """People edit the file: what is wrong with it is told with its place."""
    with pytest.raises(FileError) as error:
        load_baseline(written(tmp_path, data))
    (problem,) = error.value.problems
    assert problem.message == message
    assert problem.line is not None
    assert error.value.exit_code == 2


def test_nothing_there_is_no_empty_baseline(tmp_path: Path) -> None:
    """A misspelled name must not make everything new."""
    with pytest.raises(UsageError) as error:
        load_compared_run(tmp_path / "absent.json")
    assert error.value.reason_code == "baseline.missing"
    assert (
        error.value.message
        == f"no run or baseline at {tmp_path / 'absent.json'}: there is no such directory or file"
    )
    assert error.value.next_step == (
        "name the directory of a run, or a file that `agenteval run --update-baseline` has written"
    )


def test_a_baseline_is_called_by_what_it_says(tmp_path: Path) -> None:
    """Its id changes with its content, and not with its form."""
    path = written(tmp_path, {})
    before = load_compared_run(path).head.run_id
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert load_compared_run(path).head.run_id == before
    assert load_compared_run(written(tmp_path, {"score": 0.6})).head.run_id != before
    assert before.startswith("baseline-")


def test_nothing_is_left_of_a_baseline_that_cannot_be_written(tmp_path: Path) -> None:
    """The part that is written first does not stay in the project."""
    target = tmp_path / "baseline.json"
    target.mkdir()
    with pytest.raises(BaselineError) as caught:
        write_baseline(target, b"{}")
    assert str(caught.value) == f"cannot write the baseline {target}: Is a directory"
    assert caught.value.next_step == "name another file with --baseline, or set `baseline` in agenteval.yaml"
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(BaselineError, match="No such file or directory"):
        write_baseline(tmp_path / "no" / "baseline.json", b"{}")


def test_a_baseline_that_says_the_same_is_not_written_again(tmp_path: Path) -> None:
    """Whether it was is told."""
    target = tmp_path / "baseline.json"
    assert [write_baseline(target, content) for content in (b"{}", b"{}", b"[]")] == [True, False, True]
