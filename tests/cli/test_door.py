"""Nothing outside the project is shown: whatever names a file of it, a link out of the project is not followed."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from agenteval.cli import main
from agenteval.cli.app import COMMANDS, _app
from agenteval.reading import documents
from agenteval.reading.documents import read_bytes, read_text
from projects import Project, make_replay
from recorded_projects import NEWS, Logbooks

FOREIGN = "FOREIGN-hunter2"
"""What stands in every file outside."""
NAMES_FILES = re.compile(r"PATH|FILE|DIR|RUN|SOURCE|TEST|INPUT|^[AB]$")
"""How the help calls the value of an option that names files."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a stored run, a shard and a baseline, in a directory that has foreign files beside it."""
    for name in ("AGENTEVAL_PLUGINS", "AGENTEVAL_ARTIFACTS_DIR", "AGENTEVAL_BASELINE"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    project = Project(root)
    project.add("pass", "a")
    project.add("fail", "b")
    (root / ".git").mkdir()
    assert main(["run", "tests", "-q", "--run-id", "r", "--save-traces", "--update-baseline"]) == 0
    assert main(["run", "tests", "-q", "--run-id", "c", "--baseline", "agenteval-baseline.json"]) == 0
    assert main(["run", "tests", "-q", "--run-id", "s", "--shard", "1/1"]) == 1
    outside = tmp_path / "outside"
    shutil.copytree(root / "artifacts", outside)
    for file in outside.rglob("*.json"):
        file.write_text(json.dumps({"events": [{"data": FOREIGN}], FOREIGN: FOREIGN}), encoding="utf-8")
    (outside / "text").write_text(f"{FOREIGN}\n", encoding="utf-8")
    (outside / "test.yaml").write_text(f"token: {FOREIGN}\n", encoding="utf-8")
    (outside / "lines.jsonl").write_text(
        json.dumps({"type": "user", "message": {"role": "user", "content": FOREIGN}}) + "\n", encoding="utf-8"
    )
    return project


def outside(name: str = "text") -> Path:
    """A foreign file or folder."""
    return Path.cwd().parent / "outside" / name


def linked(name: str, to: str = "text") -> str:
    """Put a link to a foreign file or folder into the project, in the place of what is there; its name."""
    path = Path(name)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside(to))
    return name


def inside_the_run(name: str, run: str = "r") -> str:
    """A stored run one of whose files is a link; its directory."""
    found = next(Path("artifacts", run).glob(name))
    linked(str(found), f"{run}/{found.name}")
    return f"artifacts/{run}"


def with_suite(replays: str = "replays") -> list[str]:
    """The words for a run of a suite whose recordings are in a folder."""
    task = {
        "taskId": "a",
        "input": "?",
        "expected": {"kind": "golden", "match": {"strategy": "contains", "value": "x"}},
    }
    suite = {"suiteId": "a.b.evals.c", "version": "0.1.0", "modes": ["golden"], "tasks": [task]}
    Path("suite.json").write_text(json.dumps(suite), encoding="utf-8")
    return ["run", "suite.json", *(["--replays", replays] if replays != "replays" else [])]


def with_replays() -> Path:
    """A foreign folder of recordings."""
    folder = outside("replays") / "a"
    folder.mkdir(parents=True)
    (folder / "replay.json").write_text(
        json.dumps(make_replay(final_output={"role": "assistant", "content": FOREIGN})), encoding="utf-8"
    )
    return folder.parent


def with_logbook() -> str:
    """A recording of a runtime that a plugin knows."""
    return str(Logbooks(Path()).keep(NEWS))


def with_commit(*words: str) -> list[str]:
    """The words for a command in a repository with a commit."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    for line in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *line], check=True)
    return list(words)


def with_folder_of_gitignore() -> str:
    """A folder to be set up whose list of ignored files is a link."""
    linked("new/.gitignore")
    return "new"


READING: dict[tuple[str, str], list[Callable[[], list[str]]]] = {
    ("run", "PATH"): [
        lambda: ["run", linked("tests/x.test.yaml"), "-v"],
        lambda: ["run", linked("suite.json", "r/summary.json")],
        lambda: (linked("tests/a/replay.json"), ["run", "tests", "-v"])[1],
        lambda: (linked("tests/a", "r"), linked("tests/x.test.yaml", "test.yaml"), ["run", "tests", "-v"])[2],
    ],
    ("run", "--baseline"): [
        lambda: ["run", "tests", "--baseline", linked("agenteval-baseline.json")],
        lambda: ["run", "tests", "--baseline", linked("other.json", "r/summary.json")],
        lambda: ["run", "tests", "--baseline", linked("artifacts/r", "r")],
        lambda: ["run", "tests", "--baseline", inside_the_run("summary.json"), "--html", "h.html"],
        lambda: ["run", "tests", "--baseline", inside_the_run("*.a.x.result.json"), "--html", "h.html"],
        lambda: ["run", "tests", "--update-baseline", "--baseline", linked("agenteval-baseline.json")],
        lambda: (linked("agenteval-baseline.json"), ["run", "tests", "--update-baseline"])[1],
        lambda: ["run", "tests", "--baseline", f"{linked('l', 'r')}/../text"],
    ],
    ("run", "--replays"): [
        lambda: (with_replays(), linked("replays"), with_suite())[2],
        lambda: (with_replays(), linked("replays", "replays"), with_suite())[2],
        lambda: (with_replays(), with_suite(linked("other", "replays")))[1],
        lambda: (with_replays(), linked("replays/a/replay.json", "replays/a/replay.json"), with_suite())[2],
    ],
    ("check", "PATH..."): [
        lambda: with_commit("check", linked("tests/x.test.yaml")),
    ],
    ("report", "RUN"): [
        lambda: ["report", linked("artifacts/r", "r")],
        lambda: ["report", "r"] if linked("artifacts", ".") else [],
        lambda: ["report", inside_the_run("summary.json")],
        lambda: ["report", inside_the_run("*.b.x.result.json"), "-v"],
        lambda: ["report", inside_the_run("*.b.x.result.json"), "--ndjson", "n"],
        lambda: ["report", inside_the_run("*.b.x.trace.json"), "--html", "h.html"],
        lambda: ["report", inside_the_run("comparison.json", "c")],
    ],
    ("compare", "A"): [
        lambda: ["compare", linked("b.json"), "r"],
        lambda: ["compare", inside_the_run("eval-summary.json"), "c"],
        lambda: ["compare", inside_the_run("*.b.x.trace.json"), "c"],
    ],
    ("compare", "B"): [
        lambda: ["compare", "r", linked("b.json")],
        lambda: ["compare", "c", inside_the_run("*.a.x.result.json")],
    ],
    ("cassette", "PATH..."): [
        lambda: ["cassette", "show", linked("cassette.json")],
        lambda: ["cassette", "diff", linked("cassette.json"), linked("other.json")],
    ],
    ("history", "DIR"): [
        lambda: ["history", linked("artifacts", ".")],
        lambda: ["history", linked("artifacts", "."), "--html", "h.html"],
    ],
    ("gate", "RUN"): [
        lambda: ["gate", inside_the_run("summary.json")],
        lambda: ["gate", inside_the_run("eval-summary.json")],
        lambda: ["gate", inside_the_run("*.a.x.result.json")],
    ],
    ("merge", "DIR..."): [
        lambda: ["merge", inside_the_run("shard.json", "s-shard-1-of-1")],
        lambda: ["merge", inside_the_run("summary.json", "s-shard-1-of-1")],
        lambda: ["merge", inside_the_run("*.b.x.result.json", "s-shard-1-of-1"), "--html", "h.html"],
        lambda: ["merge", linked("artifacts/s-shard-1-of-1", "s-shard-1-of-1")],
    ],
    ("schema", "--dir"): [
        lambda: ["schema", "--check", "--dir", str(Path(linked("schemas/trace.schema.json")).parent)]
    ],
    ("init", "[DIR]"): [lambda: ["init", with_folder_of_gitignore()]],
    ("init", "--from"): [lambda: ["init", "new", "--from", linked("s.jsonl", "lines.jsonl")]],
    ("record", "SOURCE"): [
        lambda: ["record", linked("s.jsonl", "lines.jsonl")],
        lambda: ["record", linked("s.jsonl"), "--inspect"],
        lambda: ["record", linked("folder", "."), "--inspect"],
        lambda: ["record", linked("spans.json", "r/summary.json"), "--inspect"],
        lambda: ["record", linked(with_logbook(), "r/summary.json")],
    ],
    ("record", "--update"): [
        lambda: ["record", with_logbook(), "--update", linked("tests/x.test.yaml")],
        lambda: ["record", with_logbook(), "--update", linked("tests/x", "."), "-y"],
    ],
    ("trace", "INPUT"): [
        lambda: ["trace", linked("s.jsonl", "lines.jsonl")],
        lambda: ["trace", linked("replay.json", "r/summary.json")],
        lambda: ["trace", linked("test.yaml")],
    ],
}
for command in ("validate", "list", "mutate", "suite"):
    words = [command, "new"] if command == "suite" else [command]
    READING[command, "PATH..."] = [
        lambda words=words: [*words, linked("tests/x.test.yaml")],  # type: ignore[misc]
        lambda words=words: [*words, "tests", linked("tests/x.test.yaml", "test.yaml")],  # type: ignore[misc]
    ]
READING["run", "PATH..."] = READING.pop(("run", "PATH"))
READING["validate", "PATH..."].append(lambda: ["validate", linked("suite.json", "r/summary.json")])

WRITING = {
    ("init", "[DIR]"),
    ("record", "--out"),
    *(
        (command, "--shared-root") for command in ("run", "mutate")
    ),  # where a cluster's workers find the project
    *(
        (command, "--nanoclaw") for command in ("run", "check")
    ),  # only what git tracks is copied from there, into a sandbox
    *((command, "--artifacts-dir") for command in ("run", "check", "merge")),
    ("compare", "--markdown"),
    ("history", "--html"),
    ("check", "--base"),  # a checkout, of which a sandbox gets what git tracks
    *(
        (command, f"--{form}")
        for command in ("run", "check", "report", "merge", "mutate")
        for form in ("junit-xml", "sarif", "markdown", "ndjson", "html")
        if command != "mutate" or form == "html"
    ),
}
"""What only names where to write, or what a sandbox gets."""


def naming_options() -> Iterator[tuple[str, str]]:
    """Every option and argument of the command line that names files."""
    group: Any = typer.main.get_command(_app(list(COMMANDS)))
    for name, command in group.commands.items():
        for param in command.params:
            metavar = param.metavar or ""
            if NAMES_FILES.search(metavar) and param.name not in ("durations", "action"):
                yield name, metavar if param.param_type_name == "argument" else max(param.opts, key=len)


def test_every_option_that_names_files_is_tried() -> None:
    """One that is added has to be tried too."""
    assert set(naming_options()) == READING.keys() | WRITING


CASES = [
    pytest.param(make, id=f"{command}-{option}-{number}")
    for (command, option), makes in READING.items()
    for number, make in enumerate(makes)
]


@pytest.mark.parametrize("make", CASES)
def test_a_link_out_of_the_project_is_not_followed(
    make: Callable[[], list[str]], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever may add a link to a repository must not see what is on the machine that runs its tests."""
    argv = make()
    before = set(project.root.rglob("*"))
    capsys.readouterr()
    code = main(argv)
    told = "".join(capsys.readouterr())
    assert code != 0, told
    assert FOREIGN not in told
    assert "internal.bug" not in told
    if argv[0] != "schema":  # it only tells whether a file is as it should be
        assert "outside_root" in told or "a link leads out of" in told, told
    for path in set(project.root.rglob("*")) - before:
        assert path.is_symlink() or not path.is_file() or FOREIGN.encode() not in path.read_bytes()
    assert outside().read_text(encoding="utf-8") == f"{FOREIGN}\n"


@pytest.mark.parametrize("name", ["agenteval.yaml", "pyproject.toml"])
@pytest.mark.parametrize(
    "argv",
    [
        ["run", "tests"],
        ["validate", "tests"],
        ["list", "tests"],
        ["report", "r"],
        ["compare", "r", "c"],
        ["gate", "r"],
        ["doctor"],
        ["explain"],
        ["schema", "test-case"],
        ["mutate", "tests"],
        ["merge", "artifacts/s-shard-1-of-1"],
        ["suite", "new", "tests"],
        ["record", "tests", "--list"],
        ["trace", "tests/a"],
    ],
    ids=" ".join,
)
def test_settings_that_are_a_link_are_not_read(
    argv: list[str], name: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not by any command, however little it needs them."""
    Path("agenteval.yaml").unlink()
    linked(name)
    capsys.readouterr()
    assert main(argv) == 3
    told = "".join(capsys.readouterr())
    assert FOREIGN not in told
    assert (
        f"{project.root / name}: error[file.outside_root]: a link leads out of the project {project.root}"
        in told.replace("\n" + " " * 14, " ")
    )


@pytest.mark.parametrize("name", ["/etc/passwd", "../outside/text", "tests/../../outside/text"])
@pytest.mark.parametrize("setting", ["baseline", "artifacts_dir"])
def test_settings_name_nothing_outside(
    setting: str, name: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path in the project's own words is as good as a link; the user's own words may lead anywhere."""
    Path("agenteval.yaml").write_text(f"color: never\n{setting}: {name}\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["run", "tests", "--update-baseline"]) == 3
    told = capsys.readouterr().err
    assert (
        f"agenteval.yaml:2:{len(setting) + 3}: error[config.outside_root]: {setting} names a place outside"
        in told
    )
    assert FOREIGN not in told


def test_a_setting_of_the_user_may_lead_out(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is not the project's."""
    monkeypatch.setenv("AGENTEVAL_ARTIFACTS_DIR", str(outside("made")))
    assert main(["run", "tests/a", "-q", "--run-id", "x", "--markdown", "t"]) == 0
    assert main(["report", "x"]) == 0
    assert (outside("made") / "x" / "summary.json").is_file()


def test_what_the_user_names_outside_is_read(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A run, a baseline and tests elsewhere are his own wish, also where a link outside leads to them."""
    away = project.root.parent / "away"
    shutil.copytree("artifacts/r", away / "run")
    shutil.copy("agenteval-baseline.json", away / "base.json")
    shutil.copytree("tests/a", away / "tests" / "a")
    (away / "latest").symlink_to(away / "run")
    (away / "latest.json").symlink_to(away / "base.json")
    for argv in (
        ["report", str(away / "run"), "--html", "h.html"],
        ["report", "../away/latest"],
        ["compare", str(away / "latest"), "c"],
        ["run", "tests", "-q", "--baseline", "../away/base.json"],
        ["run", "tests", "-q", "--baseline", str(away / "latest.json")],
        ["run", "../away/tests", "-q"],
    ):
        assert main(argv) == 0, capsys.readouterr()


def test_a_link_out_of_a_run_elsewhere_is_not_followed(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A downloaded run is in its folder: nobody has named what its links lead to."""
    away = project.root.parent / "away"
    shutil.copytree("artifacts/r", away)
    (trace,) = away.glob("*.a.x.trace.json")
    trace.unlink()
    trace.symlink_to(outside("r") / trace.name)
    capsys.readouterr()
    assert main(["report", str(away), "--html", "h.html"]) == 2
    told = capsys.readouterr().err
    assert f"{trace}: error[file.outside_root]: a link leads out of the folder {away}" in told.replace(
        "\n", " "
    ).replace("  ", " ")
    assert not Path("h.html").exists()


def test_links_within_the_project_are_followed(project: Project) -> None:
    """Recordings, tests and runs may be shared."""
    shutil.move("tests/a/replay.json", "shared.json")
    Path("tests/a/replay.json").symlink_to(project.root / "shared.json")
    Path("latest").symlink_to("artifacts/r")
    Path("base.json").symlink_to("agenteval-baseline.json")
    assert main(["run", "tests", "-q", "--baseline", "base.json"]) == 0
    assert main(["report", "latest", "--html", "h.html"]) == 0


def test_a_run_reads_what_it_has_written_itself(project: Project) -> None:
    """Its directory may be elsewhere, by a link: what is there is its own. Later, it is a file as any other."""
    linked("artifacts", ".")
    assert main(["run", "tests/a", "-q", "--run-id", "new", "--markdown", "tap", "--html", "h.html"]) == 0
    assert Path("tap").is_file()
    assert main(["report", "new"]) == 2


def test_a_cache_that_is_a_link_is_not_read(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The file itself, in a folder of the project."""
    linked(".agenteval_cache/last-run.json", "r/summary.json")
    capsys.readouterr()
    assert main(["run", "tests", "-q", "--lf"]) == 1
    told = "".join(capsys.readouterr())
    assert "no failed test is on record" in told or FOREIGN not in told


def test_a_file_found_to_be_a_link_after_it_was_looked_at(tmp_path: Path) -> None:
    """What a folder is, is looked up anew for every command."""
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "in" / "a" / "f").write_text("mine", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "f").write_text(FOREIGN, encoding="utf-8")
    documents.keep_inside(tmp_path / "in")
    assert read_text(tmp_path / "in" / "a" / "f") == "mine"
    shutil.rmtree(tmp_path / "in" / "a")
    (tmp_path / "in" / "a").symlink_to(tmp_path / "out")
    documents.keep_inside(tmp_path / "in")
    with pytest.raises(documents.LeadsOutError):
        read_bytes(tmp_path / "in" / "a" / "f")
    documents.keep_inside(None)
    assert read_bytes(tmp_path / "in" / "a" / "f") == FOREIGN.encode()


@pytest.mark.parametrize("broken", [False, True], ids=["warned of", "not YAML"])
def test_a_shared_test_is_redacted_as_it_asks(
    broken: bool, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link to a valid test outside is followed, and so is what the test wants hidden in the lines that are shown of it."""
    path = project.add(
        "pass",
        "shared",
        id="odd-mysecretvalue",
        title="mysecretvalue",
        reporting={"redact_fields": ["title"]},
    )
    text = path.read_text(encoding="utf-8")
    path.unlink()
    (outside("shared.yaml")).write_text(text + "a: [" * broken, encoding="utf-8")
    path.symlink_to(outside("shared.yaml"))
    capsys.readouterr()
    assert main(["validate", str(path)]) == (3 if broken else 0)
    told = "".join(capsys.readouterr())
    assert ("error[file.outside_root]" if broken else "warning[spec.id_convention]") in told
    assert "mysecretvalue" not in told


def test_what_is_in_the_checkout_is_not_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A project in a folder of a repository may share settings, recordings and a baseline with others by links."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "shared").mkdir()
    root = tmp_path / "agents" / "one"
    root.mkdir(parents=True)
    monkeypatch.chdir(root)
    project = Project(root)
    path = project.add("pass", "a")
    main(["run", "tests", "-q", "--update-baseline"])
    for file in (path.parent / "replay.json", root / "agenteval.yaml", root / "agenteval-baseline.json"):
        shared = tmp_path / "shared" / file.name
        shutil.move(file, shared)
        file.symlink_to(shared)
    assert main(["run", "tests", "-q", "--baseline", "agenteval-baseline.json"]) == 0, capsys.readouterr()
    (tmp_path / "shared" / "agenteval.yaml").write_text("artifacts_dir: ../../runs\n", encoding="utf-8")
    assert main(["run", "tests", "-q", "--run-id", "r", "--markdown", "t"]) == 0, capsys.readouterr()
    assert (tmp_path / "runs" / "r" / "summary.json").is_file()
    (tmp_path / "shared" / "agenteval.yaml").write_text("artifacts_dir: ../../../runs\n", encoding="utf-8")
    assert main(["run", "tests"]) == 3


def test_a_recording_within_reach_is_read_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing marks a project, tests may name what is beside their suite, wherever the run is started."""
    folder = tmp_path / "work" / "evals" / "a"
    path = Project(tmp_path).add("pass", "a")
    (tmp_path / "agenteval.yaml").unlink()
    folder.parent.mkdir(parents=True)
    shutil.move(path.parent, folder)
    (tmp_path / "work" / "recordings").mkdir()
    shutil.move(folder / "replay.json", tmp_path / "work" / "recordings" / "one.json")
    (folder / "replay.json").symlink_to("../../recordings/one.json")
    for start in (folder, folder.parent, tmp_path / "work"):
        monkeypatch.chdir(start)
        assert main(["run", str(folder), "-q", "--no-artifacts"]) == 0
