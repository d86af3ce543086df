"""`agenteval init`: what it makes works at once, and what is there is kept."""

import importlib.metadata
import json
import os
import re
import subprocess
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from agenteval.cli import main
from agenteval.contracts.models import parse
from agenteval.loading.config import SETTINGS_FILE, Config, load_config
from agenteval.reference.schemas import build_schema, schema_text
from recorded_projects import NEWS, Logbooks, run

MADE = (
    "agenteval.yaml",
    "evals/first-test/test.yaml",
    "evals/first-test/replay.json",
    "evals/first-test/fx.web_search.ai_news.json",
    ".agenteval/test-case.schema.json",
    ".agenteval/config.schema.json",
    ".vscode/settings.json",
    ".vscode/extensions.json",
    ".github/workflows/agenteval.yml",
    ".gitignore",
)


schema_once = cache(schema_text)


@pytest.fixture(autouse=True)
def schemas_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the same each time, and take longer than all the rest."""
    monkeypatch.setattr("agenteval.reference.schemas.schema_text", schema_once)


def init(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that `agenteval init` prints for a directory."""
    assert main(["init", str(folder)]) == 0
    return capsys.readouterr().out.splitlines()


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file with its bytes."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_made_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each file is told of, and the last line says what to do next."""
    folder = tmp_path / "new" / "project"
    expected = [f"created  {folder / name}" for name in MADE]
    assert init(folder, capsys) == [*expected, f"next: agenteval run {folder / 'evals'}"]
    assert {str(path.relative_to(folder)) for path in contents(folder)} == set(MADE)


def test_first_test_passes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The made test runs green, even when warnings and vacuous passes fail."""
    init(tmp_path, capsys)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "evals", "--strict", "--fail-on-vacuous", "--strict-capabilities", "-v"]) == 0
    assert main(["validate", "evals"]) == 0
    assert capsys.readouterr().out.endswith("1 test file valid\n")


def test_first_test_uses_its_fixture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A changed answer of the agent is noticed: the test is no decoration."""
    init(tmp_path, capsys)
    replay = tmp_path / "evals" / "first-test" / "replay.json"
    text = replay.read_text(encoding="utf-8")
    replay.write_text(text.replace("Northwind Labs released", "Southgate Inc. bought"), encoding="utf-8")
    assert main(["run", str(tmp_path / "evals"), "--no-artifacts"]) == 1


def test_second_time_nothing_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is there is kept, byte for byte, and the command says so."""
    init(tmp_path, capsys)
    before = contents(tmp_path)
    lines = init(tmp_path, capsys)
    assert lines[:-1] == [f"kept     {tmp_path / name}" for name in MADE]
    assert contents(tmp_path) == before


def test_own_files_are_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what is missing is made: a file of the author stays as it is."""
    own = tmp_path / "evals" / "first-test" / "test.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    lines = init(tmp_path, capsys)
    assert f"kept     {own}" in lines
    assert f"created  {tmp_path / 'agenteval.yaml'}" in lines
    assert own.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("before", "after", "done"),
    [
        ("build/\n", "build/\nartifacts/\n.agenteval_cache/\n", "updated"),
        ("build/", "build/\nartifacts/\n.agenteval_cache/\n", "updated"),
        ("/artifacts\n", "/artifacts\n.agenteval_cache/\n", "updated"),
        ("artifacts/\n.agenteval_cache\n", "artifacts/\n.agenteval_cache\n", "kept"),
        ("", "artifacts/\n.agenteval_cache/\n", "updated"),
    ],
)
def test_gitignore_gets_what_it_lacks(
    before: str, after: str, done: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines are appended only when they are missing, on lines of their own."""
    path = tmp_path / ".gitignore"
    path.write_text(before, encoding="utf-8")
    assert f"{done:<7}  {path}" in init(tmp_path, capsys)
    assert path.read_text(encoding="utf-8") == after


def test_project_configured_in_pyproject_gets_no_second_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `[tool.agenteval]` in pyproject.toml no agenteval.yaml is made: two would be an error."""
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text("[tool.agenteval]\nstrict = true\n", encoding="utf-8")
    assert init(tmp_path, capsys)[0] == f"kept     {pyproject}"
    assert not (tmp_path / "agenteval.yaml").exists()
    assert load_config(tmp_path, {}).strict


def test_a_misnamed_configuration_gets_none_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next run would refuse the two of them: nothing is made."""
    misnamed = tmp_path / "agenteval.yml"
    misnamed.write_text("workers: 2\n", encoding="utf-8")
    assert main(["init", str(tmp_path)]) == 3
    assert capsys.readouterr().err == (
        f"{misnamed}: error[config.misnamed]: the configuration is read from agenteval.yaml, not from this file\n"
        "   next: rename it to agenteval.yaml\n"
    )
    assert list(tmp_path.iterdir()) == [misnamed]


@pytest.mark.parametrize(
    ("file", "name"), [("evals/first-test/test.yaml", "test-case"), ("agenteval.yaml", "config")]
)
def test_editor_header_leads_to_the_schema(
    file: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line of the test, and of the configuration, names its schema, which is the one of this version."""
    init(tmp_path, capsys)
    header = (tmp_path / file).read_text(encoding="utf-8").splitlines()[0]
    match = re.fullmatch(r"# yaml-language-server: \$schema=(.*)", header)
    assert match
    schema = ((tmp_path / file).parent / match[1]).resolve()
    assert schema == (tmp_path / ".agenteval" / f"{name}.schema.json").resolve()
    assert schema.read_text(encoding="utf-8") == schema_text(name)


def test_vs_code_finds_the_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its settings name the schema for every file that is found as a test, and recommend the extension that reads it."""
    init(tmp_path, capsys)
    names = ("test.yaml", "test.yml", "a.test.yaml", "a.test.yml")
    tests = {tmp_path / "evals" / "first-test" / name for name in names}
    for test in (*tests, tmp_path / "evals" / "other.yaml"):
        test.touch()
    settings = json.loads((tmp_path / ".vscode" / "settings.json").read_text(encoding="utf-8"))
    (schema, patterns), (of_settings, configuration) = settings["yaml.schemas"].items()
    assert (tmp_path / schema).is_file()
    assert (tmp_path / of_settings).is_file()
    assert configuration == SETTINGS_FILE
    found = {path for pattern in patterns for path in tmp_path.glob(pattern)}
    assert found == tests
    extensions = json.loads((tmp_path / ".vscode" / "extensions.json").read_text(encoding="utf-8"))
    assert extensions == {"recommendations": ["redhat.vscode-yaml"]}


def test_own_editor_settings_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Settings of the author stay as they are: the header of the test leads to the schema all the same."""
    path = tmp_path / ".vscode" / "settings.json"
    path.parent.mkdir()
    path.write_text("{ // mine\n}", encoding="utf-8")
    assert f"kept     {path}" in init(tmp_path, capsys)
    assert path.read_text(encoding="utf-8") == "{ // mine\n}"


def test_configuration_shows_every_setting_with_its_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With every setting uncommented the configuration is the default one but for the tests, and none is left out."""
    init(tmp_path, capsys)
    text = (tmp_path / "agenteval.yaml").read_text(encoding="utf-8")
    shown = yaml.safe_load(re.sub(r"^# (?=\s*\w+:)", "", text, flags=re.MULTILINE))
    assert parse(Config, shown) == Config(tests=["evals"])
    Draft202012Validator(build_schema("config")).validate(shown)
    assert names(Config()) == {f"{key}.{inner}" for key in shown for inner in named(shown[key])}
    assert load_config(tmp_path, {}) == Config(tests=["evals"])


def named(value: Any) -> list[str]:
    """The keys of a mapping, or one empty key."""
    return list(value) if isinstance(value, dict) else [""]


def names(config: Any) -> set[str]:
    """The settings as `key.inner`, the inner part empty for plain ones."""
    found = set()
    for field in fields(config):
        value = getattr(config, field.name)
        inner = [each.name for each in fields(value)] if is_dataclass(value) else [""]
        found |= {f"{field.name}.{name}" for name in inner}
    return found


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording of two runs, in a project that is the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".gitignore").touch()
    return Logbooks(tmp_path).keep(NEWS, run(asked="And the weather?", output="Which town do you mean?"))


def test_the_first_test_may_be_a_recorded_run(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is made as `agenteval record` makes it, passes at once, and stands where the made-up one would."""
    assert main(["init", "--from", str(book), "--turn", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "kept     agenteval.yaml",
        "created  evals/what-is-new-in-ai/test.yaml",
        "created  evals/what-is-new-in-ai/replay.json",
        "created  evals/what-is-new-in-ai/fx.web_search.news.json",
        "created  .agenteval/test-case.schema.json",
        "created  .agenteval/config.schema.json",
        "created  .vscode/settings.json",
        "created  .vscode/extensions.json",
        "created  .github/workflows/agenteval.yml",
        "updated  .gitignore",
        "  logbook.web.what-is-new-in-ai.as-recorded: 10 assertions, all pass as expected",
        "  2 suggestions left out: the others already catch what they would",
        "  7 lines marked `decide:` need your decision",
        "next: agenteval run evals",
    ]
    assert main(["run", "evals", "--strict", "--fail-on-vacuous", "--strict-capabilities"]) == 0
    assert main(["record", str(book), "--turn", "1", "--out", "evals", "--name", "again"]) == 0
    first, again = (Path("evals", name, "test.yaml").read_text() for name in ("what-is-new-in-ai", "again"))
    assert first.replace("what-is-new-in-ai", "again") == again


def test_what_cannot_be_recorded_makes_no_project(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several runs ask for a choice, and a turn for a recording: nothing is written before."""
    assert main(["init", "new", "--from", str(book)]) == 2
    assert capsys.readouterr().err.startswith("error[record.choose_run]: book.logbook.json holds 2 runs:\n")
    assert main(["init", "new", "--turn", "1"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: --turn chooses a run of a recording\n  next: name the recording with --from SOURCE\n"
    )
    assert not Path("new").exists()


def test_a_recorded_first_test_is_kept(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a person made of it stays as it is."""
    assert main(["init", "--from", str(book), "--turn", "1"]) == 0
    test = Path("evals/what-is-new-in-ai/test.yaml")
    test.write_text("mine", encoding="utf-8")
    capsys.readouterr()
    assert main(["init", "--from", str(book), "--turn", "1"]) == 0
    assert f"kept     {test}\n" in capsys.readouterr().out
    assert test.read_text(encoding="utf-8") == "mine"


def test_a_test_of_another_run_is_not_mixed_with_the_recorded_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its folder gets no file of this run, of which nothing is told as if it were a test now."""
    monkeypatch.chdir(tmp_path)
    own = Path("evals/what-is-new-in-ai")
    book = Logbooks(tmp_path).keep(NEWS, run(output="Nothing."))
    assert main(["init", "--from", str(book), "--turn", "2"]) == 0
    capsys.readouterr()
    assert main(["init", "--from", str(book), "--turn", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "kept     agenteval.yaml",
        f"kept     {own}/test.yaml",
        f"kept     {own}/replay.json",
        "kept     .agenteval/test-case.schema.json",
        "kept     .agenteval/config.schema.json",
        "kept     .vscode/settings.json",
        "kept     .vscode/extensions.json",
        "kept     .github/workflows/agenteval.yml",
        "kept     .gitignore",
        "  ! that test was there before, and may be of another run; this one as a test of its own:",
        "    agenteval record book.logbook.json --turn 1 --out evals --name NAME",
        "next: agenteval run evals",
    ]
    assert sorted(each.name for each in own.iterdir()) == ["replay.json", "test.yaml"]


def test_workflow_runs_the_tests_and_keeps_artifacts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The CI workflow installs, runs `evals/`, lets nothing unjudged pass, and uploads artifacts also when tests fail."""
    init(tmp_path, capsys)
    steps = workflow(tmp_path)["jobs"]["evals"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [
        'python -m pip install "${AGENTEVAL:?is not set at the top of this file}"',
        "agenteval run evals/ --fail-on-vacuous --strict-capabilities --junit-xml artifacts/junit.xml",
    ]
    assert (steps[-1]["if"], steps[-1]["with"]["path"]) == ("always()", "artifacts/")


def workflow(folder: Path) -> Any:
    """The CI workflow of a project."""
    text = (folder / ".github" / "workflows" / "agenteval.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("", "check --against origin/main --allow-unmeasured"),
        ("k 1", "check --against origin/main --model real --max-cost 2"),
    ],
)
def test_the_check_of_a_pull_request(key: str, expected: str, tmp_path: Path) -> None:
    """Without a key no model is asked, and what only a model can judge does not fail; the key is no argument."""
    for name in ("container/agent-runner/src/index.ts", "src/db/schema.ts"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert main(["init", str(tmp_path)]) == 0
    steps = workflow(tmp_path)["jobs"]["evals"]["steps"]
    script = next(step["run"] for step in steps if "agenteval check" in step.get("run", ""))
    env = {"ANTHROPIC_API_KEY": key, "BASE": "origin/main", "PATH": os.defpath}
    done = subprocess.run(
        ["bash", "-e"], input=f'agenteval() {{ echo "$*"; }}\n{script}', env=env, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout.strip() == expected


def test_what_the_workflow_runs_stops_a_test_whose_critical_assertion_was_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Be it that a capability is missing or a value; without the flags, the same test passes."""
    init(tmp_path, capsys)
    monkeypatch.chdir(tmp_path)
    (line,) = (
        step["run"]
        for step in workflow(tmp_path)["jobs"]["evals"]["steps"]
        if "evals/" in step.get("run", "")
    )
    test = tmp_path / "evals" / "first-test" / "test.yaml"
    text = test.read_text(encoding="utf-8")
    assert main(line.split()[1:]) == 0
    for kind, params in (("efficiency_within", "max_cost_usd: 1"), ("scheduler_task_runs", "task_id: t")):
        skipped = f"assertions:\n  - id: more\n    type: {kind}\n    params: {{ {params} }}\n"
        test.write_text(text.replace("assertions:\n", skipped), encoding="utf-8")
        assert main(["run", "--no-artifacts"]) == 0
        assert main(line.split()[1:]) == 1


class Noted:
    """What pip noted of the installed package."""

    def __init__(self, noted: dict[str, Any] | None) -> None:
        self.noted = noted

    def read_text(self, name: str) -> str | None:
        """The file of this name beside the package's metadata."""
        assert name == "direct_url.json"
        return None if self.noted is None else json.dumps(self.noted)


COMMIT = "0123456789012345678901234567890123456789"
GIT = {"vcs": "git", "commit_id": COMMIT}


@pytest.mark.parametrize(
    ("noted", "installs"),
    [
        (
            {"url": "https://code.example/team/agenteval.git", "vcs_info": GIT},
            f"git+https://code.example/team/agenteval.git@{COMMIT}",
        ),
        (
            {"url": "https://dana:hunter2@code.example/a?token=hunter2", "vcs_info": GIT},
            f"git+https://code.example/a@{COMMIT}",
        ),
        (
            {"url": "https://files.example/agenteval-0.1.0-py3-none-any.whl", "archive_info": {}},
            "https://files.example/agenteval-0.1.0-py3-none-any.whl",
        ),
        ({"url": "file:///tmp/agenteval-0.1.0-py3-none-any.whl", "archive_info": {}}, ""),
        ({"url": "file:///srv/agenteval", "dir_info": {"editable": True}}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_workflow_installs_what_is_installed_here(
    noted: dict[str, Any] | None,
    installs: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As far as others can have it; no name on a package index, no path of this machine, nobody's password."""
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Noted(noted))
    assert main(["init", str(tmp_path)]) == 0
    assert workflow(tmp_path)["env"] == {"AGENTEVAL": installs}
    path = tmp_path / ".github" / "workflows" / "agenteval.yml"
    told = (
        f"! {path} does not say yet what to install: set AGENTEVAL in it to a path or a URL from which pip can "
        "install agenteval"
    )
    assert " ".join(capsys.readouterr().err.split()) == ("" if installs else told)
    assert main(["init", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""


def git(folder: Path, *words: str) -> str:
    """Run git in a folder."""
    name = ["-c", "user.name=Dana", "-c", "user.email=dana@team.example", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *name, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("origin", "installs"),
    [
        ("https://code.example/agenteval", "git+https://code.example/agenteval"),
        ("git@code.example:team/agenteval.git", "git+https://code.example/team/agenteval.git"),
        ("ssh://git@code.example/agenteval", "git+https://code.example/agenteval"),
        ("/srv/git/agenteval", ""),
        (None, ""),
    ],
)
def test_a_checkout_stands_for_its_repository(
    origin: str | None, installs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkout within the project is installed as it is."""
    source = tmp_path / "a b" / "agenteval"
    source.mkdir(parents=True)
    git(source, "init", "--quiet")
    if origin:
        git(source, "remote", "add", "origin", origin)
    noted = Noted({"url": source.as_uri(), "dir_info": {"editable": True}})
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: noted)
    assert main(["init", str(tmp_path / "project")]) == 0
    assert workflow(tmp_path / "project")["env"] == {"AGENTEVAL": installs}
    assert main(["init", str(tmp_path)]) == 0
    assert workflow(tmp_path)["env"] == {"AGENTEVAL": "./a b/agenteval"}


def test_a_run_without_a_path_runs_what_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From anywhere in the project, and so do the other commands that are about tests."""
    init(tmp_path, capsys)
    for place in (tmp_path, tmp_path / "evals" / "first-test"):
        monkeypatch.chdir(place)
        for words in (["run", "--no-artifacts"], ["validate"], ["list"], ["mutate", "--max", "1"]):
            assert main(words) == 0, words
        assert capsys.readouterr().out.count("nanoclaw.news.current-ai.searched-and-brief") >= 2
    (tmp_path / "evals").rename(tmp_path / "other")
    monkeypatch.chdir(tmp_path)
    assert main(["run"]) == 3
    assert "evals: error[file.missing]: no such file or directory" in capsys.readouterr().out


def test_a_directory_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in the place of the directory is one clear error."""
    folder = tmp_path / "file"
    folder.write_text("", encoding="utf-8")
    assert main(["init", str(folder)]) == 2
    assert capsys.readouterr().err == (
        f"error[usage.not_writable]: cannot write {folder / 'agenteval.yaml'}: {folder} is in the way\n"
        "  next: name a writable directory: agenteval init DIR\n"
    )


def test_a_directory_in_the_place_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory called as a file that is to be made is one clear error."""
    path = tmp_path / "agenteval.yaml"
    path.mkdir()
    assert main(["init", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"error[usage.not_writable]: cannot write {path}: {path} is in the way\n"
        "  next: name a writable directory: agenteval init DIR\n"
    )


def test_a_checkout_of_nanoclaw_gets_live_runs_and_a_skill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its configuration is valid, its workflow installs what a live run needs, and the skill names what there is."""
    for name in ("container/agent-runner/src/index.ts", "src/db/schema.ts"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert f"created  {tmp_path / '.claude/skills/agenteval/SKILL.md'}" in init(tmp_path, capsys)
    assert load_config(tmp_path, {}).live.nanoclaw.checkout == "."
    steps = workflow(tmp_path)["jobs"]["evals"]["steps"]
    runs = [step.get("run", step.get("uses")) for step in steps]
    assert "bun install --frozen-lockfile" in runs
    assert runs.index("bun install --frozen-lockfile") < next(
        number for number, run in enumerate(runs) if run.startswith("agenteval run")
    )
    assert steps[0]["with"]["fetch-depth"] == 0
    check = next(step for step in steps if "agenteval check" in step.get("run", ""))
    assert "hashFiles('evals/**/cassette.json')" in check["if"]
    skill = (tmp_path / ".claude/skills/agenteval/SKILL.md").read_text(encoding="utf-8")
    head = yaml.safe_load(skill.split("---")[1])
    assert (head["name"], len(head["description"]) < 1024) == ("agenteval", True)
    named = re.findall(r"agenteval ([a-z]+)((?: --[a-z]+)*)", skill.split("---", 2)[2])
    for command, flags in named:
        assert main([command, "--help"]) == 0, command
        told = capsys.readouterr().out
        assert all(flag in told for flag in flags.split())
