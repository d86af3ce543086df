"""Artifacts: a new directory per run, safe names, nothing outside it, and `summary.json` last."""

import dataclasses
import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.results import RunSummary
from agenteval.contracts.trace import Trace
from agenteval.openwop.summary import Suite
from agenteval.records.summary import RunSettings, RunTotals, summarise
from agenteval.redaction.sealing import encode
from agenteval.reporters.artifacts import ArtifactError, RunDirectory, new_run_id
from builders import call, make_trace
from planted import PLANTED
from run_builders import file_away, make_outcome, make_result

MAKE_ROOM = "free some space or give another --artifacts-dir; --no-artifacts runs without writing"
HOSTILE = [
    "../../x",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "CON",
    "con.txt",
    "nul",
    "LPT1.x",
    ".hidden",
    "..",
    ".",
    "x" * 300,
    "日本語.テスト",
    "a b",
    "a\nb",
    "a\0b",
    "a:b",
    "\ud800",
    "-rf",
    "a.B",
    "A.b",
    "a.b",
    "summary",
    "eval-summary",
    "a.trace",
]


def summary() -> RunSummary:
    """The summary of a run of nothing."""
    settings = RunSettings(run_id="run-1", suite=Suite(id="s"))
    return summarise([], RunTotals(), settings, started_at="s", finished_at="f", duration_ms=1).run


def names(folder: Path) -> set[str]:
    """The files of a folder."""
    return {path.name for path in folder.iterdir()}


def read(path: Path) -> Any:
    """The JSON in a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_run_is_a_directory_of_results_and_summaries(tmp_path: Path) -> None:
    """SPEC 19: `<run_id>/<test_id>.result.json`, `.trace.json` when asked, and the summaries; results name them."""
    directory = RunDirectory(tmp_path / "deep" / "artifacts", "run-1")
    first = make_outcome(make_result("pass", test_case_id="a.b"), make_trace(call("t")))
    second = make_outcome(make_result("error", test_case_id="a.c"), None)
    file_away(directory, first, save_trace=True)
    file_away(directory, second, save_trace=True)
    directory.close({"suiteId": "x"})
    directory.finish(summary())
    assert directory.path == tmp_path / "deep" / "artifacts" / "run-1"
    assert names(directory.path) == {
        *("a.b.result.json", "a.b.trace.json", "a.c.result.json", "eval-summary.json", "summary.json")
    }
    assert read(directory.path / "a.b.result.json")["artifacts"] == {
        "result": "a.b.result.json",
        "trace": "a.b.trace.json",
        "replay": None,
    }
    assert read(directory.path / "a.c.result.json")["artifacts"] == {
        "result": "a.c.result.json",
        "trace": None,
        "replay": None,
    }
    assert read(directory.path / "eval-summary.json") == {"suiteId": "x"}
    assert read(directory.path / "summary.json") == dataclasses.asdict(summary())


def test_a_trace_file_is_the_whole_trace(tmp_path: Path) -> None:
    """The trace is written with the fields of SPEC 16, in their order, and with nothing it keeps for itself."""
    directory = RunDirectory(tmp_path, "run-1")
    trace = make_trace(call("t", "c", q="é"))
    trace.calls()
    file_away(directory, make_outcome(make_result(test_case_id="a"), trace), save_trace=True)
    written = read(directory.path / "a.trace.json")
    assert list(written) == [field.name for field in dataclasses.fields(Trace)]
    assert written == dataclasses.asdict(trace)


def test_a_trace_is_only_written_when_asked(tmp_path: Path) -> None:
    """Traces are opt-in."""
    directory = RunDirectory(tmp_path, "run-1")
    file_away(directory, make_outcome(make_result(test_case_id="a"), make_trace()), save_trace=False)
    assert names(directory.path) == {"a.result.json"}


def test_a_trace_is_redacted(tmp_path: Path) -> None:
    """Redacted fields are hidden in the trace file, at any depth and wherever their text occurs."""
    directory = RunDirectory(tmp_path, "run-1")
    trace = make_trace(call("t", args={"token": "PLANTED-1"}), output="it is PLANTED-1")
    outcome = make_outcome(make_result(test_case_id="a"), trace, redact=["token"])
    outcome.redactor.learn({"token": "PLANTED-1"})
    file_away(directory, outcome, save_trace=True)
    text = (directory.path / "a.trace.json").read_text(encoding="utf-8")
    assert "PLANTED" not in text
    assert text.count("[redacted:field:") == 3


def test_artifacts_are_readable_json(tmp_path: Path) -> None:
    """Files are indented, in UTF-8 as people write it, and end with a line break."""
    for number in (1, 10**30):  # the second is one that the fast encoder refuses
        data = {"a": ["é", number]}
        assert encode(data) == f'{{\n  "a": [\n    "é",\n    {number}\n  ]\n}}\n'.encode()
        assert json.loads(encode(data, one_line=True)) == data
        assert encode(data, one_line=True).count(b"\n") == 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"a": 10**30}, {"a": 10**30}),
        ({"a": "\ud800x"}, {"a": "\\ud800x"}),
        ({"a": [float("inf"), 10**30]}, {"a": [None, 10**30]}),
        ({1: {2: None}}, {"1": {"2": None}}),
        ({"a": Path("b"), "c": True}, {"a": "b", "c": True}),
    ],
)
def test_what_the_fast_encoder_refuses_is_written_all_the_same(data: Any, expected: Any) -> None:
    """A number of more than 64 bits or half a surrogate pair in a recording does not end the run."""
    assert json.loads(encode(data)) == expected


def test_twenty_runs_at_once_have_directories_of_their_own(tmp_path: Path) -> None:
    """Run ids made in the same instant differ, and say when the run was."""
    ids = [new_run_id() for _ in range(20)]
    paths = [RunDirectory(tmp_path, run_id).path for run_id in ids]
    assert len(set(paths)) == 20
    assert [each for each in ids if not re.fullmatch(r"run-\d{8}T\d{6}Z-[0-9a-f]{8}", each)] == []


def test_a_run_id_is_used_once(tmp_path: Path) -> None:
    """A run never mixes its files with those of another."""
    RunDirectory(tmp_path, "mine")
    with pytest.raises(ArtifactError) as caught:
        RunDirectory(tmp_path, "mine")
    assert caught.value.message == f"there is already a run in {tmp_path / 'mine'}"
    assert (caught.value.reason_code, caught.value.next_step) == (
        "artifacts.run_exists",
        "give another --run-id, or none to have one generated",
    )


@pytest.mark.parametrize("run_id", ["", "..", "../x", "a/b", ".x", "-x", "a\n", "a b", "x" * 129, "é", "a\0"])
def test_a_run_id_is_a_plain_name(run_id: str, tmp_path: Path) -> None:
    """An id that could lead elsewhere is refused before anything is made."""
    with pytest.raises(ArtifactError) as caught:
        RunDirectory(tmp_path / "new", run_id)
    assert caught.value.message == f"run id {run_id!r} cannot be a directory name"
    assert caught.value.next_step == "use letters, digits, dots, dashes and underscores, at most 128 of them"
    assert caught.value.reason_code == "usage.run_id"
    assert names(tmp_path) == set()


def test_hostile_test_ids_get_safe_names(tmp_path: Path) -> None:
    """Whatever a test is called, its file is in the run's directory, and no two tests share one."""
    directory = RunDirectory(tmp_path, "run-1")
    results = []
    for test_id in HOSTILE:
        outcome = make_outcome(make_result(test_case_id=test_id))
        file_away(directory, outcome, save_trace=False)
        results.append(outcome.result.artifacts.result)
    assert len({str(name).lower() for name in results}) == len(HOSTILE)
    assert names(directory.path) == set(results)
    assert names(tmp_path) == {"run-1"}
    for name in results:
        assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*\.result\.json", str(name)), name
        assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d)\.", str(name)), name
        assert len(str(name)) < 200


@pytest.mark.parametrize(
    ("test_id", "name"),
    [
        ("nanoclaw.memory.same-group_recall", "nanoclaw.memory.same-group_recall.result.json"),
        ("../../x", "_.._x-9cdf6a50.result.json"),
        ("a/b", "a_b-c14cddc0.result.json"),
    ],
)
def test_plain_ids_are_their_own_names(test_id: str, name: str, tmp_path: Path) -> None:
    """An ordinary id is found under its own name; another keeps what can be kept, and a hash."""
    directory = RunDirectory(tmp_path, "run-1")
    file_away(directory, make_outcome(make_result(test_case_id=test_id)), save_trace=False)
    assert names(directory.path) == {name}


def test_an_id_that_looks_like_a_made_name_does_not_share_it(tmp_path: Path) -> None:
    """A name that was made up for one id is not overwritten by the test that really has it as its id."""
    first = RunDirectory(tmp_path, "probe")
    file_away(first, make_outcome(make_result(test_case_id="a/b")), save_trace=False)
    (made,) = names(first.path)
    clash = made.removesuffix(".result.json")
    for number, ids in enumerate([("a/b", clash), (clash, "a/b")]):
        directory = RunDirectory(tmp_path, f"run-{number}")
        for test_id in ids:
            file_away(directory, make_outcome(make_result(test_case_id=test_id)), save_trace=False)
        assert len(names(directory.path)) == 2


@given(ids=st.lists(st.text(min_size=1, max_size=40), max_size=8, unique=True))
def test_any_ids_get_names_of_their_own(ids: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    """For any ids there are as many files as tests, each holding its test's result."""
    directory = RunDirectory(tmp_path_factory.mktemp("a"), "run-1")
    for test_id in ids:
        file_away(directory, make_outcome(make_result(test_case_id=test_id)), save_trace=False)
    assert sorted(read(path)["test_case_id"] for path in directory.path.iterdir()) == sorted(ids)


def test_the_summary_comes_last_by_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the run ends before the rename there is no `summary.json`: half a run never looks like a whole one."""
    directory = RunDirectory(tmp_path, "run-1")

    def stop(source: Any, target: Any) -> None:
        assert names(directory.path) == {"eval-summary.json", "summary.json.part"}
        assert read(Path(source)) == dataclasses.asdict(summary())
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "replace", stop)
    directory.close({})
    with pytest.raises(ArtifactError) as caught:
        directory.finish(summary())
    assert caught.value.message == f"cannot write {directory.path / 'summary.json'}: Input/output error"
    assert "summary.json" not in names(directory.path)
    monkeypatch.undo()
    directory.finish(summary())
    assert names(directory.path) == {"eval-summary.json", "summary.json"}


def test_ctrl_c_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    """Not even an empty one: the interrupt may come between opening it and writing."""
    directory = RunDirectory(tmp_path, "run-1")
    os.mkfifo(directory.path / "events.jsonl")  # whoever opens it waits for a reader
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            directory.log([])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert names(directory.path) == set()


def test_files_of_others_are_looked_at_too(tmp_path: Path) -> None:
    """A plugin may have put them there, in folders too: what shows something sensitive goes, the rest stays."""
    run = RunDirectory(tmp_path, "run-1")
    run.add_file("ours.json", {"a": 1})
    bad, good = b"\xe4 " + PLANTED["github-token"].encode(), b"\xe4"
    (run.path / "more").mkdir()
    for name, content in (("b.bin", bad), ("a.bin", good), ("more/ours.json", bad), ("more/c.txt", bad)):
        (run.path / name).write_bytes(content)
    os.mkfifo(run.path / "pipe")
    run.close({"suiteId": "s"})
    left = sorted(str(each.relative_to(run.path)) for each in run.path.rglob("*"))
    assert left == ["a.bin", "eval-summary.json", "more", "ours.json", "pipe"]
    assert sorted(each.message for each in run.leaks) == [
        f"{name} is not written: a value of kind github-token would show"
        for name in ("b.bin", "c.txt", "ours.json")
    ]


def test_a_file_in_the_place_of_the_directory(tmp_path: Path) -> None:
    """A directory that cannot be made is one clear error."""
    (tmp_path / "artifacts").write_text("I am a file")
    with pytest.raises(ArtifactError) as caught:
        RunDirectory(tmp_path / "artifacts", "run-1")
    assert caught.value.message == f"cannot write {tmp_path / 'artifacts'}: it is not a directory"
    assert (caught.value.reason_code, caught.value.next_step) == ("artifacts.unwritable", MAKE_ROOM)
    with pytest.raises(ArtifactError) as caught:
        RunDirectory(tmp_path / "artifacts" / "deeper", "run-1")
    assert (
        caught.value.message == f"cannot write {tmp_path / 'artifacts' / 'deeper' / 'run-1'}: Not a directory"
    )


def test_a_file_in_the_place_of_the_run(tmp_path: Path) -> None:
    """A run id that a file has is taken."""
    (tmp_path / "run-1").write_text("I am a file")
    with pytest.raises(ArtifactError) as caught:
        RunDirectory(tmp_path, "run-1")
    assert caught.value.message == f"cannot write {tmp_path / 'run-1'}: it is not a directory"


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A disk that has no room for the content of any file: files are links to /dev/full."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    real = open

    def full(name: Any, *args: Any, **kwargs: Any) -> Any:
        return real("/dev/full" if str(name).startswith(str(tmp_path)) else name, *args, **kwargs)

    monkeypatch.setattr("builtins.open", full)
    yield
    monkeypatch.undo()


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    """A file that cannot be written is named, with what the system says and what can be done."""
    directory = RunDirectory(tmp_path, "run-1")
    with pytest.raises(ArtifactError) as caught:
        file_away(directory, make_outcome(make_result(test_case_id="a")), save_trace=False)
    assert caught.value.message == f"cannot write {directory.path / 'a.result.json'}: No space left on device"
    assert (caught.value.reason_code, caught.value.next_step) == ("artifacts.unwritable", MAKE_ROOM)
    with pytest.raises(ArtifactError) as caught:
        directory.close({})
    assert (
        caught.value.message
        == f"cannot write {directory.path / 'eval-summary.json'}: No space left on device"
    )
    assert "summary.json" not in names(directory.path)
