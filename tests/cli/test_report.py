"""Reports on the command line: any number at once, the same from a run as from its files later."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from actions import commands
from agenteval.cli import main
from agenteval.reporters.formats import FORMATS
from projects import FETCHES, Project, make_replay
from runs import CASES

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
NAMES = [form.name for form in FORMATS]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a test of each kind, one file that is broken, and a secret in what an agent did."""
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path)
    for kind in ("pass", "fail", "warn", "skip", "error", "invalid"):
        project.add(kind)
    call = {
        "type": "tool_call",
        "tool": "post",
        "call_id": "c1",
        "args": {"token": SECRET, "to": "a@b.example"},
    }
    done = {"type": "tool_result", "tool": "post", "call_id": "c1", "success": True, "result": f"{SECRET} ok"}
    silent = {"id": "silent", "type": "must_not_call_tool", "params": {"tool": "post"}}
    project.add("fail", "leaky", replay=make_replay(call, done), assertions=[silent])
    return project


def asked(folder: str) -> list[str]:
    """The options for every format, each with a file in a directory."""
    return [part for name in NAMES for part in (f"--{name}", f"{folder}/{name}")]


def files(folder: Path) -> dict[str, bytes]:
    """The files in a directory."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_run_and_a_later_report_write_the_same(project: Project) -> None:
    """Every format, byte for byte."""
    assert main(["run", "tests", "--run-id", "run-1", *asked("now")]) == 3
    assert main(["report", "artifacts/run-1", *asked("later")]) == 0
    assert files(project.root / "now") == files(project.root / "later")
    assert sorted(files(project.root / "now")) == sorted(NAMES)


def test_nothing_sensitive_is_in_any_report(project: Project) -> None:
    """What the results do not show, no report shows; each shows that there was something."""
    main(["run", "tests", "--run-id", "run-1", *asked("now")])
    for name, content in files(project.root / "now").items():
        assert SECRET.encode() not in content, name
        assert b"a@b.example" not in content, name
        assert b"[redacted:" in content, name


def test_reports_without_artifacts(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--no-artifacts` leaves the reports and nothing else; no directory is named."""
    before = set(project.root.iterdir())
    assert main(["run", "tests", "--no-artifacts", "--run-id", "run-1", *asked("now")]) == 3
    assert {path.name for path in set(project.root.iterdir()) - before} == {"now"}
    assert sorted(files(project.root / "now")) == sorted(NAMES)
    assert "summary.json" not in capsys.readouterr().out
    assert b"agenteval-" not in b"".join(files(project.root / "now").values())


def test_the_exit_code_is_that_of_the_run(project: Project) -> None:
    """A report changes no verdict."""
    assert main(["run", "tests/pass", "--no-artifacts", "--markdown", "t"]) == 0
    assert main(["run", "tests/fail", "--no-artifacts", "--markdown", "t"]) == 1
    assert main(["run", "tests/error", "--no-artifacts", "--markdown", "t"]) == 2


def test_events_are_written_as_they_happen(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a test is told on the console, the events of those before it are in the file."""
    from agenteval.reporters.console import Console

    seen = []
    replay = Console.replay

    def watching(self: Console, lines: Iterable[str]) -> None:
        seen.append(len(Path("events").read_bytes().splitlines()))
        replay(self, lines)

    monkeypatch.setattr(Console, "replay", watching)
    main(["run", "tests/pass", "tests/fail", "tests/warn", "--ndjson", "events"])
    assert seen == [1, 2, 3]
    events = [json.loads(line)["event"] for line in Path("events").read_text().splitlines()]
    assert events == ["run_started", *["test_finished"] * 3, "run_finished"]


def test_a_run_that_is_interrupted_leaves_no_report_that_looks_whole(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports of the run before are gone; the events so far are there, without an end."""
    from agenteval.reporters.console import Console

    main(["run", "tests", *asked("now")])

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Console, "replay", interrupt)
    assert main(["run", "tests/pass", *asked("now")]) == 2
    left = files(project.root / "now")
    assert list(left) == ["ndjson"]
    assert b"run_finished" not in left["ndjson"]


def test_a_run_that_does_not_begin_leaves_no_report_of_another(project: Project) -> None:
    """A broken configuration: what stood in the place of the report is gone all the same."""
    main(["run", "tests/pass", *asked("now")])
    (project.root / "agenteval.yaml").write_text("colour: never\n", encoding="utf-8")
    assert main(["run", "tests/pass", *asked("now")]) == 3
    assert files(project.root / "now") == {}


def problem(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said on stderr."""
    return capsys.readouterr().err


@pytest.mark.parametrize("file", ["junit.xml", "reports/junit.xml"])
def test_a_report_does_not_stand_where_the_run_will_be(
    project: Project, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is said is no "there is already a run", and the id can be used after that; nothing else is removed."""
    Path("artifacts").mkdir()
    assert main(["run", "tests", "--run-id", "ci", "--junit-xml", f"artifacts/ci/{file}"]) == 2
    assert list(Path("artifacts").iterdir()) == []
    assert problem(capsys) == (
        f"error[usage.invalid]: --junit-xml artifacts/ci/{file}: artifacts/ci is the directory that the run "
        "itself creates\n"
        "  next: name a file next to it, for instance artifacts/ci-junit.xml\n"
    )
    assert main(["run", "tests", "--run-id", "ci", "--junit-xml", "artifacts/ci-junit.xml"]) == 3
    shards = [f"artifacts/p-shard-{number}-of-2" for number in (1, 2)]
    for number in (1, 2):
        main(["run", "tests", "--run-id", "p", "--shard", f"{number}/2"])
    capsys.readouterr()
    assert main(["merge", *shards, "--markdown", "artifacts/p/tap"]) == 2
    assert problem(capsys).startswith(
        "error[usage.invalid]: --markdown artifacts/p/tap: artifacts/p is the directory"
    )
    assert main(["merge", *shards, "--markdown", "artifacts/p.tap"]) == 3


def test_a_test_is_not_written_over(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--markdown tests/pass/test.yaml` is a slip, and costs nothing."""
    before = Path("tests/pass/test.yaml").read_bytes()
    assert main(["run", "--markdown", "tests/pass/test.yaml", "tests"]) == 2
    assert problem(capsys) == (
        "error[usage.invalid]: --markdown tests/pass/test.yaml: a report never overwrites a YAML file, "
        "which may be a test\n"
        "  next: name the file to write: --markdown FILE\n"
    )
    assert Path("tests/pass/test.yaml").read_bytes() == before


def test_nor_is_one_that_a_link_leads_to(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the link is called."""
    before = Path("tests/pass/test.yaml").read_bytes()
    Path("out.tap").symlink_to("tests/pass/test.yaml")
    assert main(["run", "--markdown", "out.tap", "tests"]) == 2
    assert problem(capsys) == (
        "error[usage.invalid]: --markdown out.tap: a report never overwrites a YAML file, which may be a test\n"
        "  next: name the file to write: --markdown FILE\n"
    )
    assert Path("tests/pass/test.yaml").read_bytes() == before


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_stdout_is_no_file(name: str, project: Project) -> None:
    """What the console says would stand in the midst of the report."""
    command = [sys.executable, "-m", "agenteval", "run", "tests/pass", "--markdown", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error[usage.invalid]: --markdown {name}: a report cannot be written to stdout, which holds other output\n"
        "  next: name the file to write: --markdown FILE\n"
    )


def test_a_link_is_followed_and_not_removed(project: Project) -> None:
    """Who has put it there wants the report elsewhere; that of an earlier run is gone before this one begins."""
    project.root.joinpath("elsewhere").write_text("earlier")
    link = project.root / "link.tap"
    link.symlink_to("elsewhere")
    assert main(["run", "tests", "-k", "(", "--markdown", "link.tap"]) == 2
    assert (project.root / "elsewhere").read_bytes() == b""
    assert main(["run", "tests/pass", "--markdown", "link.tap"]) == 0
    assert link.is_symlink()
    assert (project.root / "elsewhere").read_text().startswith("## ✅ agenteval: ")


def test_a_disk_that_is_full_is_told(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The run is over and told; that a report is missing is an error."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    assert main(["run", "tests/pass", "--markdown", "/dev/full"]) == 2
    told = capsys.readouterr()
    assert told.err == (
        "error[report.unwritable]: cannot write /dev/full: No space left on device\n"
        "  next: free some space, or name another file\n"
    )
    endings = [line for line in told.out.splitlines() if line.startswith("exit ")]
    assert endings == ["exit 2: report.unwritable"]
    assert told.out.endswith("exit 2: report.unwritable\n")


def test_no_half_of_a_report_is_left(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is no room for all of it, the file is not there."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        code = main(["run", "tests/pass", "--html", "r.html", "-q", "--no-artifacts"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 2
    assert problem(capsys) == (
        "error[report.unwritable]: cannot write r.html: File too large\n"
        "  next: free some space, or name another file\n"
    )
    assert not Path("r.html").exists()


def test_a_report_that_is_missing_hides_no_invalid_test(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The highest exit code wins, here too."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    assert main(["run", "tests", "--markdown", "/dev/full"]) == 3
    assert capsys.readouterr().out.endswith("exit 3: 1 invalid test spec; report.unwritable\n")


def test_events_that_the_disk_has_no_room_for(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The first event that cannot be written ends the run; the last one is not cut off in silence."""
    if Path("/dev/full").exists():
        assert main(["run", "tests/pass", "--ndjson", "/dev/full"]) == 2
        assert problem(capsys) == (
            "error[report.unwritable]: cannot write /dev/full: No space left on device\n"
            "  next: free some space, or name another file\n"
        )
    resource = pytest.importorskip("resource")
    assert main(["run", "tests/pass", "--ndjson", "e.ndjson", "-q"]) == 0
    size = Path("e.ndjson").stat().st_size - 200
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        code = main(["run", "tests/pass", "--ndjson", "e.ndjson", "-q", "--no-artifacts"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 2
    assert problem(capsys) == (
        "error[report.unwritable]: cannot write e.ndjson: File too large\n"
        "  next: free some space, or name another file\n"
    )


@pytest.mark.parametrize("how", [[], ["-q"], ["-v"]])
def test_a_report_without_a_format_tells_the_run_again(
    how: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Word for word what the run said, its comparison with a baseline included; what the run ended with is no error."""
    kinds = [f"tests/{kind}" for kind in ("pass", "fail", "warn", "skip", "error", "leaky")]
    main(["run", "tests/pass", "tests/warn", "--run-id", "before"])
    capsys.readouterr()
    assert main(["run", *kinds, "--run-id", "r", "--baseline", "before", *how]) == 2
    told = capsys.readouterr().out
    assert told.endswith("\nexit 2: 1 test ended in an error\n")
    assert main(["report", "r", *how]) == 0
    assert capsys.readouterr().out == told


def test_github_is_told_by_itself(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In Actions, after the run has told of itself, come the annotations, and the last line."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert main(["run", "tests/fail", "--no-artifacts"]) == 1
    log = capsys.readouterr().out
    *_, annotation, last = log.splitlines()
    assert commands(log) == ["error"]
    assert last == "exit 1: 1 test failed"
    assert annotation.startswith(
        "::error file=tests/fail/test.yaml,line=22,col=3,title=nanoclaw.t.fail.x::"
        "tests/fail/test.yaml:22:3: fetches (must_call_tool) failed%0A"
    )
    assert Path("summary.md").read_text().startswith("## ❌ agenteval: 1 test failed\n")


def test_github_can_be_turned_off_and_on(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--no-github` inside of Actions, `--github` outside, also of a run that is over."""
    assert main(["run", "tests/fail", "--run-id", "r", "--github"]) == 1
    assert "\n::error file=" in capsys.readouterr().out
    assert main(["report", "artifacts/r", "--github"]) == 0
    assert capsys.readouterr().out.startswith("::error file=tests/fail/test.yaml,line=22,col=3,")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert main(["run", "tests/fail", "--no-github", "--no-artifacts"]) == 1
    assert "::error" not in capsys.readouterr().out
    assert not Path("summary.md").exists()


FORGED = "x\n::set-env name=PATH::/tmp\nand ##[add-mask]x\r::error::y\n \u200b::warning::z"
"""Commands in the words of an agent, or of whoever writes a test."""


@pytest.mark.parametrize(
    "argv",
    [
        ["run", "tests", "-v", "--no-github"],
        ["run", "tests", "-v", "--no-github", "--no-artifacts"],
        ["run", "tests", "-v", "--no-github", "--markdown", "tap", "-n", "2"],
        ["run", "tests", "-v", "--no-github", "--shard", "1/1"],
        ["run", "tests", "--json", "--no-artifacts", "--no-github"],
        ["run", "tests", "--collect-only"],
        ["list", "tests"],
        ["list", "tests", "--json"],
        ["validate", "tests"],
        ["validate", "tests", "--json"],
        ["mutate", "tests", "--operators", "drop-call"],
        ["report", "artifacts/one", "-v"],
        ["compare", "artifacts/one", "artifacts/one"],
        ["compare", "artifacts/one", "agenteval-baseline.json", "--json"],
        ["gate", "artifacts/one"],
        ["trace", "tests/forged"],
        ["suite", "new", "tests"],
        ["explain"],
        ["explain", "--json"],
        ["doctor"],
        ["schema"],
        ["run", f"tests/{FORGED}", "--no-github"],
        ["run", "tests", "--shard", FORGED],
        ["run", "tests", "--baseline", FORGED],
        ["run", "tests", "-k", FORGED],
        ["run", "tests", "--tag", FORGED, "--no-github"],
        ["run", "tests", "--run-id", FORGED],
        ["run", "tests", "--maxfail", FORGED],
        ["report", FORGED],
        ["gate", FORGED, "--json"],
        ["merge", FORGED],
        ["record", FORGED],
        ["explain", FORGED],
        [FORGED],
        [f"--{FORGED}"],
        ["run", f"--{FORGED}=x"],
    ],
    ids=lambda argv: " ".join(argv).replace(FORGED, "FORGED"),
)
def test_nothing_printed_is_a_command(
    argv: list[str], project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On neither stream, whatever is quoted: an agent, a test, a plugin's name, a mistake on the command line."""
    answer = {"role": "assistant", "content": FORGED}
    told = {
        "id": FORGED,
        "title": FORGED,
        "tags": [FORGED],
        "assertions": [{**FETCHES, "id": FORGED, "description": FORGED}],
    }
    project.add("fail", "forged", replay=make_replay(final_output=answer), **told)
    main(["run", "tests/forged", "--run-id", "one", "--update-baseline"])
    (project.root / "agenteval.yaml").write_text(
        f"plugins: [{json.dumps(FORGED + '.py')}]\n", encoding="utf-8"
    )
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    capsys.readouterr()
    assert main(argv) in (0, 1, 2, 3)
    out, err = capsys.readouterr()
    assert commands(out) == commands(err) == []
    if "--json" in argv and out:
        json.loads(out)
    monkeypatch.delenv("GITHUB_ACTIONS")
    if argv[0] == "list":
        main(argv)
        assert capsys.readouterr().out != out or "--json" in argv


def test_annotations_are_the_only_commands(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the run itself stay commands, also where only `--github` says that GitHub reads along."""
    answer = {"role": "assistant", "content": FORGED}
    project.add("fail", "forged", replay=make_replay(final_output=answer), title=FORGED)
    for argv in (["--github"], []):
        assert main(["run", "tests/forged", "tests/error", "-v", *argv]) == 2
        assert commands(capsys.readouterr().out) == ["error", "error"]
        monkeypatch.setenv("GITHUB_ACTIONS", "true")


def test_a_summary_that_cannot_be_written_fails_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told: the verdict is that of the tests."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "absent/summary.md")
    assert main(["run", "tests/pass", "--no-artifacts"]) == 0
    assert capsys.readouterr().out.endswith(
        "\ncannot write the step summary: No such file or directory: absent/summary.md\nexit 0: all tests passed\n"
    )


def test_json_on_stdout_stays_json(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `--json`, annotations go where the rest of the text goes."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["run", "tests/fail", "--no-artifacts", "--json"]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["exit_code"] == 1
    assert "\n::error file=" in told.err


def test_a_failing_control_in_all_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expected and got, and the line in the test file, wherever a format has a place for them."""
    monkeypatch.chdir(CASES.parents[1])
    told = "expected at least 1 call of web_search, got 0"
    out = str(tmp_path / "out")
    main(["run", "tests/cases/failing/must_call_tool", "--no-artifacts", *asked(out)])
    content = {name: text.decode() for name, text in files(tmp_path / "out").items()}
    assert [name for name in NAMES if told not in content[name]] == []
    line = ET.fromstring(content["junit-xml"]).find("testsuite/properties/property[@name='line']")
    assert line is not None
    assert line.get("value") == "24"
    (result,) = json.loads(content["sarif"])["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 24, "startColumn": 5}
