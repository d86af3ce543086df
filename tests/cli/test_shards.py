"""`--shard` and `merge`: the parts of a run, and the run that they are put together to."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.judging.runner import RunOptions
from agenteval.plugins.registry import Registry
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.formats import FORMATS
from agenteval.running.shards import PLUGINS, SETTINGS, Plan
from projects import FETCHES, NEEDS_LIVE, SEARCHES, VACUOUS, Project, make_replay
from runs import EXAMPLES, settled, written


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with tests of every kind, in the current directory."""
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path)
    for at, kind in enumerate(("pass", "fail", "warn", "skip", "error", "invalid", "pass", "fail")):
        made.add(kind, f"{at}-{kind}", tags=["even" if at % 2 == 0 else "odd"])
    expected = {"status": "fail", "reason": "known", "assertions": ["fetches"]}
    made.add("xfail", "xfail", assertions=[SEARCHES, FETCHES], expected=expected)
    made.add(
        "vacuous", "vacuous", assertions=[SEARCHES, VACUOUS, NEEDS_LIVE], tools={"available": ["a", "b"]}
    )
    return made


def shard(number: int, of: int, *options: str, run_id: str = "s") -> int:
    """Run one shard."""
    return main(["run", "tests", "--shard", f"{number}/{of}", "--run-id", run_id, "-q", *options])


def folders(of: int, run_id: str = "s") -> list[str]:
    """The directories of all shards."""
    return [f"artifacts/{run_id}-shard-{number}-of-{of}" for number in range(1, of + 1)]


def said(capsys: pytest.CaptureFixture[str], run_id: str) -> str:
    """All that was printed, without what varies."""
    captured = capsys.readouterr()
    assert captured.err == ""
    return settled(captured.out, run_id)


@pytest.mark.parametrize(
    ("of", "options"),
    [
        (1, []),
        (3, ["-n", "2"]),
        (2, ["--save-traces", "--strict"]),
        (3, ["-k", "pass or fail"]),
        (2, ["-t", "odd", "-t", "nobody"]),
        (2, ["-t", "nobody"]),
    ],
)
def test_merged_shards_are_the_run(
    of: int, options: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Results, summary, scores, coverage, problems, exit code, byte for byte but for ids of the run and times."""
    code = main(["run", "tests", "--run-id", "plain", *options])
    capsys.readouterr()
    for number in range(1, of + 1):
        shard(number, of, *options)
    capsys.readouterr()
    assert main(["merge", *reversed(folders(of)), "--run-id", "merged"]) == code
    told = said(capsys, "merged")
    assert written("merged") == written("plain")
    assert main(["run", "tests", "--run-id", "again", *options]) == code
    again = said(capsys, "again")
    if not options:  # a problem of a file is told with its lines by those who read the file
        assert told.endswith(again[again.index("scorecard\n") :])


def test_merged_shards_tell_no_more_than_the_run(four: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a test that the selection leaves out, neither the run nor its shards tell what is wrong with its id."""
    four.add("pass", "odd-in", id="other.t.in.x", tags=["chosen"])
    four.add("pass", "odd-out", id="other.t.out.x")
    four.add("pass", "a-twin", id="other.t.in.x")
    assert main(["run", "tests", "--run-id", "plain", "-t", "chosen", "-t", "nobody"]) == 0
    out = capsys.readouterr().out
    assert "the id 'other.t.in.x' begins with 'other', but the adapter is 'nanoclaw'" in out
    assert "other.t.out.x" not in out
    shard(1, 1, "-t", "chosen", "-t", "nobody")
    main(["merge", *folders(1), "--run-id", "merged"])
    assert written("merged") == written("plain")


def test_the_examples_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The examples in three shards and two processes each, merged: the plain run but for the fields named above."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agenteval.yaml").touch()
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    assert main(["run", "examples", "--run-id", "plain", "--save-traces"]) == 0
    for number in (1, 2, 3):
        options = ["-n", "2", "--shard", f"{number}/3", "--run-id", "s", "--save-traces"]
        assert main(["run", "examples", *options]) == 0
    assert main(["merge", *folders(3), "--run-id", "merged"]) == 0
    assert written("merged") == written("plain")


def test_every_test_is_in_one_shard(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is run twice, nothing is left out, and the numbers differ by one at most."""
    for number in (1, 2, 3):
        shard(number, 3)
    names = [{path.name for path in Path(folder).glob("*.result.json")} for folder in folders(3)]
    assert sum(map(len, names)) == len(set().union(*names)) == 9
    assert sorted(map(len, names)) == [2, 3, 4]  # with the invalid file: 3, 3, 4
    assert "shard 1/3" not in capsys.readouterr().out


def durations(*, failed: str = "", **ms: float) -> None:
    """A cache of which tests failed, by their letters, and of how long tests took."""
    cache = {
        "schema_version": "0.1",
        "failed": [f"tests/{name}/test.yaml" for name in failed],
        "duration_ms": {f"tests/{k}/test.yaml": v for k, v in ms.items()},
    }
    Path(".agenteval_cache").mkdir(exist_ok=True)
    Path(".agenteval_cache/last-run.json").write_text(json.dumps(cache), encoding="utf-8")


@pytest.fixture
def four(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project of four tests that pass."""
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path)
    for name in "abcd":
        made.add("pass", name)
    return made


def in_shard(number: int, run_id: str = "s") -> str:
    """The tests of one of two shards, by their letters."""
    names = sorted(
        path.name for path in Path(f"artifacts/{run_id}-shard-{number}-of-2").glob("*.result.json")
    )
    return "".join(name.split(".")[2] for name in names)


def test_what_failed_comes_first_within_a_shard(four: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--ff` orders the tests of a shard, and each test is in one."""
    durations(failed="cd")
    for number in (1, 2):
        main(["run", "tests", "--ff", "--shard", f"{number}/2", "--run-id", "s"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ", 2)[:2] for line in lines if line.startswith(("PASS", "shard", "--ff"))] == [
        ["shard", "1/2:"],
        ["--ff:", "1"],
        ["PASS", "nanoclaw.t.c.x"],
        ["PASS", "nanoclaw.t.a.x"],
        ["shard", "2/2:"],
        ["--ff:", "1"],
        ["PASS", "nanoclaw.t.d.x"],
        ["PASS", "nanoclaw.t.b.x"],
    ]
    assert main(["merge", *folders(2)]) == 0


def test_a_shard_without_a_failure_runs_all_its_tests(
    four: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a run without a failure does; and a shard with `--lf` belongs to no run without."""
    durations(failed="c")
    for number in (1, 2):
        assert main(["run", "tests", "--lf", "--shard", f"{number}/2", "--run-id", "s"]) == 0
    assert (in_shard(1), in_shard(2)) == ("c", "bd")
    out = capsys.readouterr().out
    assert out.startswith("shard 1/2: 2 of 4 tests\n--lf: 1 test failed last time\nPASS ")
    assert "\nshard 2/2: 2 of 4 tests\n--lf: no failed test is on record; running all tests\nPASS " in out
    shutil.rmtree(folders(2)[1])
    shard(2, 2)
    assert "they differ in settings or options" in told(capsys, *folders(2))


def told(capsys: pytest.CaptureFixture[str], *given: str) -> str:
    """The error of a merge that cannot be."""
    capsys.readouterr()
    before = set(Path("artifacts").iterdir())
    assert main(["merge", *given]) == 2
    assert set(Path("artifacts").iterdir()) == before
    return capsys.readouterr().err


def test_a_pipe_is_not_waited_for(four: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Called as a test is, it is invalid in the shard that has it, and keeps no other waiting."""
    os.mkfifo(four.root / "tests" / "pipe.test.yaml")
    codes = {number: shard(number, 2) for number in (1, 2)}
    assert sorted(codes.values()) == [0, 3]
    assert "tests/pipe.test.yaml: error[file.not_a_file]: a named pipe, not a file" in capsys.readouterr().out


def test_a_damaged_result(four: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not what the shard has written is named."""
    shard(1, 1)
    path = Path("artifacts/s-shard-1-of-1/nanoclaw.t.a.x.result.json")
    path.write_text('{"schema_version": "0.1"}', encoding="utf-8")
    capsys.readouterr()
    assert main(["merge", *folders(1), "--run-id", "m"]) == 2
    assert capsys.readouterr().err.startswith(
        f"error[merge.foreign_file]: {path} is not what shard 1/1 wrote: its SHA-256 is ff141958b58f…, and shard.json says "
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"suite": {}}, "error[json.missing_key]: missing required key 'id' in suite"),
        ({"suite": {"id": "x", "name": "y"}}, "error[json.unknown_key]: unknown key 'name' in suite"),
        (
            {"suite": {"id": "x", "pass_score": "x"}},
            "error[json.wrong_type]: suite.pass_score: expected a number, got 'x'",
        ),
        ({"of": 0}, "error[json.wrong_value]: of: expected at least 1, got the number 0"),
        ({"shard": 2}, "error[json.wrong_value]: shard: there is no shard 2 of 1"),
        (
            {"tests": [{"position": -7, "result": "r"}]},
            "error[json.wrong_value]: tests[0].position: expected at least 0, got the number -7",
        ),
    ],
)
def test_a_damaged_record(
    change: dict[str, Any], why: str, four: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """What merging relies on is checked, and what is wrong is said with its place."""
    shard(1, 1)
    path = Path("artifacts/s-shard-1-of-1/shard.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(record | change, indent=2), encoding="utf-8")
    lines = told(capsys, *folders(1)).splitlines()
    assert re.fullmatch(rf"{re.escape(str(path))}:\d+:\d+: {re.escape(why)}", lines[0])
    assert lines[-1] == "   next: run that shard again"


@pytest.mark.parametrize("name", ["started_at", "finished_at"])
def test_a_damaged_time(name: str, four: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The merged run begins with the first shard and ends with the last, so both times are needed."""
    shard(1, 1)
    path = Path("artifacts/s-shard-1-of-1/summary.json")
    summary = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(summary | {name: "yesterday"}), encoding="utf-8")
    assert told(capsys, *folders(1)) == (
        f"error[merge.damaged]: {path}: {name} is no time: 'yesterday'\n  next: run that shard again\n"
    )


@pytest.mark.parametrize(
    ("test_id", "code", "why", "step"),
    [
        (
            "nanoclaw.t.d.x",
            "spec.duplicate_test_id",
            "the id 'nanoclaw.t.d.x' is already used by tests/d/test.yaml",
            "give one of the two another id: results are stored by id",
        ),
        (
            "nanoclaw.t-d.x",
            "openwop.task_id_collision",
            "the ids 'nanoclaw.t-d.x' and 'nanoclaw.t.d.x' give the same OpenWOP task id,\n  'nanoclaw-t-d-x'",
            "make the ids differ in a letter or a digit",
        ),
    ],
)
def test_ids_that_clash_in_two_shards(
    test_id: str, code: str, why: str, step: str, four: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """No shard can see it: merged, the second test is refused as the whole run refuses it, and the others stay."""
    four.add("pass", "e", id=test_id)
    assert main(["run", "tests", "--run-id", "plain"]) == 3
    durations()
    assert [shard(number, 2) for number in (1, 2)] == [0, 0]
    capsys.readouterr()
    assert main(["merge", *folders(2), "--run-id", "merged", "-q"]) == 3
    assert capsys.readouterr().out.startswith(
        f"tests/e/test.yaml: error[{code}]: {why}\n   next: {step}\n\n4 passed, 1 invalid in "
    )
    plain = written("plain")
    place = '"line": 2,\n      "column": 5,'  # for which the test file would have to be read again
    plain["summary.json"] = plain["summary.json"].replace(place, '"line": null,\n      "column": null,')
    assert written("merged") == plain
    assert main(["gate", "merged"]) == 1


@pytest.mark.parametrize(
    "value", ["1", "0/3", "4/3", "a/b", "1/0", "-1/3", "1/2/3", "1/99999", "9" * 5000 + "/1", "١/٣"]
)
def test_what_is_no_shard(value: str, four: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The option says what it expects."""
    assert main(["run", "tests", "--shard", value]) == 2
    assert capsys.readouterr().err == (
        f"error[usage.shard]: --shard {value}: expected I/N, where I is from 1 to N, and N at most 9999\n  next: for instance --shard 1/3\n"
    )


def test_merged_shards_are_reported_as_the_run(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Every format, and what GitHub Actions shows, are those of the merged run, as `report` would write them."""
    for number in (1, 2):
        shard(number, 2)
    capsys.readouterr()
    names = [form.name for form in FORMATS]
    asked = [[part for name in names for part in (f"--{name}", f"{at}/{name}")] for at in ("now", "later")]
    assert main(["merge", *folders(2), "--run-id", "merged", "--github", *asked[0]]) == 3
    told = capsys.readouterr().out
    assert told.count("\n::error file=tests/") == 4
    assert main(["report", "artifacts/merged", *asked[1]]) == 0
    for name in names:
        assert Path("now", name).read_bytes() == Path("later", name).read_bytes()


def test_merging_annotates_only_when_asked(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside of Actions the shards have done so already."""
    for number in (1, 2):
        shard(number, 2)
    capsys.readouterr()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["merge", *folders(2)]) == 3
    told = capsys.readouterr().out
    assert told.endswith("\nexit 3: 1 invalid test spec\n")
    assert "::" not in told


def test_a_report_of_shards_that_cannot_be_merged_is_not_there(project: Project) -> None:
    """Nor is that of an earlier merge, which could be taken for it."""
    shard(1, 2)
    Path("tap").touch()
    assert main(["merge", folders(2)[0], "--markdown", "tap"]) == 2
    assert not Path("tap").exists()


def planned_project(root: Path) -> None:
    """Tests whose verdicts depend on one file of each kind."""
    made = Project(root)
    fixture = {"id": "news", "tool": "web_search", "file": "../../shared/fx.json"}
    done = {"type": "tool_result", "tool": "web_search", "call_id": "c1", "fixture_id": "news"}
    call = {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {}}
    tools = {"available": ["web_search"], "fixtures": [fixture]}
    made.add("pass", "a", replay=make_replay(call, done), tools=tools)
    for name in "bcd":
        made.add("pass", name)
    (root / "shared").mkdir()
    (root / "shared/fx.json").write_text('"found"', encoding="utf-8")
    (root / "shared/notes.md").write_text("nothing reads this", encoding="utf-8")
    (root / "helper.py").write_text("LIMIT = 1\n", encoding="utf-8")
    (root / "plugin.py").write_text(
        "from agenteval.assertions.process import MustCallTool\n" + PLUGIN, encoding="utf-8"
    )
    (root / "agenteval.yaml").write_text(
        "plugins: [plugin.py]\nlimits: {max_events: 1000}\n", encoding="utf-8"
    )


PLUGIN = """
class Mine(MustCallTool):
    type = "mine"

PLUGINS = [Mine]
"""


def appended(name: str, text: str = "\n") -> None:
    """Change a file, so that it means the same."""
    with Path(name).open("a", encoding="utf-8") as file:
        file.write(text)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda: appended("tests/a/test.yaml"), "they differ in tests/a/test.yaml"),
        (lambda: appended("tests/d/test.yaml"), "they differ in tests/d/test.yaml"),
        (lambda: shutil.copytree("tests/d", "tests/e"), "they differ in tests/e/test.yaml"),
        (lambda: shutil.rmtree("tests/d"), "they differ in tests/d/test.yaml"),
        (lambda: appended("tests/a/replay.json"), "they differ in tests/a/replay.json"),
        (lambda: appended("tests/d/replay.json"), "they differ in tests/d/replay.json"),
        (lambda: Path("tests/d/replay.json").unlink(), "they differ in tests/d/replay.json"),
        (lambda: appended("tests/d/replay.json-wal", "x"), "they differ in tests/d/replay.json-wal"),
        (lambda: appended("shared/fx.json"), "they differ in shared/fx.json"),
        (lambda: appended("plugin.py"), "they differ in plugins or adapters"),
        (lambda: appended("helper.py"), "they differ in plugins or adapters"),
        (
            lambda: Path("agenteval.yaml").write_text("plugins: [plugin.py]\n"),
            "they differ in settings or options",
        ),
        (
            lambda: Path("agenteval.yaml").write_text("limits: {max_events: 1000}\n"),
            "they differ in plugins or adapters",
        ),
        (
            lambda: appended("agenteval.yaml", "strict_capabilities: true\n"),
            "they differ in settings or options",
        ),
        (lambda: appended("agenteval.yaml", "fail_on_vacuous: true\n"), "they differ in settings or options"),
        (
            lambda: appended("agenteval.yaml", "suite: {pass_score: 0.5}\n"),
            "they differ in settings or options",
        ),
        (
            lambda: appended("agenteval.yaml", "redaction: {kinds: []}\n"),
            "they differ in settings or options",
        ),
        (
            lambda: Path(".agenteval_cache/last-run.json").unlink(),
            "they differ in recorded durations or the order of tests",
        ),
        (lambda: appended("shared/notes.md"), ""),
        (lambda: appended("README.md", "x"), ""),
        (lambda: appended("tests/a/notes.md", "x"), ""),
        (lambda: appended("agenteval.yaml", "color: never\nbaseline: other.json\n"), ""),
        (lambda: Path("artifacts/other").mkdir(), ""),
        (lambda: None, ""),
    ],
)
def test_shards_agree_in_all_that_decides(
    change: Callable[[], object],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of a shard of another commit the verdicts are of other files, also where it has none of the tests that changed."""
    monkeypatch.chdir(tmp_path)
    planned_project(tmp_path)
    main(["run", "tests", "-q"])
    record = Path(".agenteval_cache/last-run.json")
    known = json.loads(record.read_text())
    known["duration_ms"] = {f"tests/{name}/test.yaml": 10.0 * at for at, name in enumerate("abcd", 1)}
    record.write_text(json.dumps(known))
    assert shard(1, 2) == 0
    change()
    shard(2, 2)
    capsys.readouterr()
    code = main(["merge", *folders(2), "-q"])
    if why:
        assert code == 2
        assert capsys.readouterr().err.startswith(
            f"error[merge.different_runs]: shards of different runs: {' and '.join(folders(2))}: {why}\n"
        )
    else:
        assert code == 0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--allow-outside"], "they differ in settings or options"),
        (["--fail-on-vacuous"], "they differ in settings or options"),
        (["--strict-capabilities"], "they differ in settings or options"),
        (["--pass-score", "0.1"], "they differ in settings or options"),
        (["--tag", "x"], "they differ in settings or options"),
        (["--ff"], "they differ in settings or options"),
        (["tests/a"], ""),
        (["--save-traces"], ""),
        (["-n", "2"], ""),
    ],
    ids=" ".join,
)
def test_shards_agree_in_options_that_decide(
    options: list[str], why: str, four: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path that is named again finds nothing new."""
    shard(1, 2)
    shard(2, 2, *options)
    capsys.readouterr()
    assert main(["merge", *folders(2), "-q"]) == (2 if why else 0)
    assert why in capsys.readouterr().err


def test_shards_agree_in_selected_assertions(four: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """An assertion that one shard left out was judged by none."""
    paths = [f"tests/{name}/test.yaml" for name in "abcd"]
    main(["run", *paths, "--shard", "1/2", "--run-id", "s"])
    main(["run", *paths[:-1], "tests/d/test.yaml::searches", "--shard", "2/2", "--run-id", "s"])
    assert "they differ in settings or options" in told(capsys, *folders(2))


def test_a_link_to_another_recording_is_another_recording(
    four: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is read decides, not what is named."""
    shutil.copy("tests/d/replay.json", "one.json")
    shutil.copy("tests/d/replay.json", "other.json")
    appended("other.json")
    Path("tests/d/replay.json").unlink()
    Path("tests/d/replay.json").symlink_to(four.root / "one.json")
    shard(1, 2)
    Path("tests/d/replay.json").unlink()
    Path("tests/d/replay.json").symlink_to(four.root / "other.json")
    shard(2, 2)
    assert "they differ in one.json" in told(capsys, *folders(2))


def replaced(name: str, edit: Callable[[Any], object]) -> str:
    """Change a file of the first shard; its name."""
    path = Path(folders(2)[0], name)
    data = json.loads(path.read_text(encoding="utf-8"))
    edit(data)
    path.write_text(json.dumps(data, indent=2), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda: replaced("nanoclaw.t.a.x.result.json", lambda data: data.update(status="fail")),
        lambda: replaced("nanoclaw.t.a.x.result.json", lambda data: data.update(title="x")),
        lambda: replaced("nanoclaw.t.a.x.trace.json", lambda data: data.update(status="failed")),
        lambda: shutil.copy("artifacts/other/nanoclaw.t.a.x.result.json", folders(2)[0]),
        lambda: shutil.copy("artifacts/other/nanoclaw.t.a.x.trace.json", folders(2)[0]),
        lambda: shutil.copy(
            "artifacts/other/nanoclaw.t.a.x.result.json", f"{folders(2)[0]}/nanoclaw.t.z.x.result.json"
        ),
        lambda: shutil.copy(
            "artifacts/other/nanoclaw.t.a.x.trace.json", f"{folders(2)[0]}/nanoclaw.t.z.x.trace.json"
        ),
        lambda: shutil.copy("artifacts/other/summary.json", folders(2)[0]),
        lambda: shutil.copy(f"{folders(2)[1]}/summary.json", folders(2)[0]),
        lambda: replaced("summary.json", lambda data: data["tests"].pop()),
        lambda: replaced("shard.json", lambda data: data["written"].pop("nanoclaw.t.a.x.result.json")),
        lambda: replaced("shard.json", lambda data: data["tests"].pop()),
    ],
)
def test_files_that_are_not_the_shards_own(
    change: Callable[[], object], four: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """They may be good files of another run, or edited."""
    main(["run", "tests", "--run-id", "other", "--save-traces"])
    shutil.rmtree(".agenteval_cache")  # its durations would divide the tests as they come
    for number in (1, 2):
        shard(number, 2, "--save-traces")
    change()
    assert re.match(
        rf"error\[merge\.(foreign_file|stopped_shard)\]: ({folders(2)[0]}/\S+ is not what shard 1/2 wrote: |shard 1/2 was)",
        told(capsys, *folders(2)),
    )


def test_all_that_belongs_to_a_recording_is_in_the_plan(tmp_path: Path) -> None:
    """The subagents of a transcript, the databases and groups of an install, though no test names them."""
    install = tmp_path / "install"
    named = install / "data/v2-sessions/ag/.claude-shared/projects/-w/s-1.jsonl"
    beside = [
        named,
        named.parent / "s-1/subagents/agent-1.jsonl",
        install / "data/v2.db",
        install / "data/v2-sessions/ag/sess/inbound.db-wal",
        install / "groups/main/CLAUDE.md",
        tmp_path / "alone/s-2.jsonl",
        tmp_path / "alone/s-2/tool-results/t.txt",
        tmp_path / "alone/agent-7.jsonl",
        tmp_path / "copied/inbound.db",
        tmp_path / "copied/outbound.db",
    ]
    for file in [*beside, install / "src/index.ts", tmp_path / "alone/s-3.jsonl"]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x", encoding="utf-8")
    found: set[str] = set()
    for at, name in enumerate((named, tmp_path / "alone/s-2.jsonl", tmp_path / "copied/inbound.db")):
        test = tmp_path / f"{at}.test.yaml"
        given = {"adapter": "nanoclaw", "adapter_input": {"session": str(name.relative_to(tmp_path))}}
        test.write_text(json.dumps(given), encoding="utf-8")
        found |= planned(tmp_path, test) - {test.name}
    assert found == {str(file.relative_to(tmp_path)) for file in beside}


def planned(root: Path, test: Path) -> set[str]:
    """The files in the plan of one test."""
    plan = Plan(RunOptions(run_id="r", root=root, registry=Registry()), Redactor())
    plan.test(test, None)
    return plan.digests.keys() - {SETTINGS, PLUGINS}


@pytest.mark.parametrize(
    "text",
    [
        "- x",
        "adapter_input: [x, {y: z}]",
        "adapter_input: {session: [1]}\nadapter: nanoclaw",
        "a: [",
        "\xff",
        "adapter: nanoclaw\nadapter_input: {session: ''}",
        "tools: {fixtures: [1, {file: 2}, {file: nowhere}]}",
        "adapter_input: {replay_file: ../../outside.json}",
        "adapter_input: {replay_file: link}",
        "adapter_input: {replay_file: pipe}",
    ],
)
def test_a_plan_of_odd_files(text: str, tmp_path: Path) -> None:
    """Whatever stands in a test file, its plan is made; a pipe is not waited for, and nothing outside is read."""
    root = tmp_path / "a" / "b"
    root.mkdir(parents=True)
    (tmp_path / "outside.json").write_text("x", encoding="utf-8")
    (root / "link").symlink_to(tmp_path / "outside.json")
    os.mkfifo(root / "pipe")
    (root / "agenteval.yaml").touch()
    test = root / "x.test.yaml"
    test.write_text(text, encoding="latin-1")
    assert planned(root, test) == {test.name}


def test_a_recording_elsewhere_in_the_checkout_is_in_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A test may name it, so it decides."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "recordings").mkdir()
    root = tmp_path / "evals"
    root.mkdir()
    monkeypatch.chdir(root)
    made = Project(root)
    for name in "ab":
        path = made.add("pass", name, adapter_input={"replay_file": f"../../../recordings/{name}.json"})
        shutil.move(path.parent / "replay.json", tmp_path / "recordings" / f"{name}.json")
    assert shard(1, 2) == 0
    appended("../recordings/b.json")
    assert shard(2, 2) == 0
    assert "they differ in ../recordings/b.json" in told(capsys, *folders(2))
