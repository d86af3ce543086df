"""`agenteval init [DIR]`: writes a first test that passes, its recording, configuration, CI and editor support."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, NamedTuple

from agenteval.cli.options import argument, option
from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.reading.documents import read_bytes

if TYPE_CHECKING:
    from agenteval.recording.draft import Draft

_TEMPLATES = Path(__file__).parent.parent / "templates" / "init"

_IGNORED = ("artifacts/", ".agenteval_cache/")
"""The folders that a run writes beside the tests."""

_WORKFLOW = ".github/workflows/agenteval.yml"

_NANOCLAW = ("container/agent-runner/src/index.ts", "src/db/schema.ts")
"""The files by which a checkout of NanoClaw v2 is recognised."""

_HEADER = "# yaml-language-server: $schema=../../.agenteval/test-case.schema.json"
"""The line that tells editors the schema of a test in a folder of `evals/`."""


class NewFile(NamedTuple):
    """A file to write: its path in the directory, and its content."""

    path: str
    content: Callable[[], str]


def command(
    folder: Annotated[Path, argument("[DIR]", "The project to add tests to.", show_default="here")] = Path(),
    source: Annotated[
        Path | None,
        option("--from SOURCE", "Make the first test from a recording, as agenteval record does."),
    ] = None,
    turn: Annotated[
        int | None, option("--turn N", "With --from: the run to make the test from.", min=1)
    ] = None,
    live: Annotated[
        bool,
        option("--live", "Make a first live test of the agent in the folder, with a model that is played."),
    ] = False,
    run: Annotated[
        str | None, option("--run COMMAND", 'With --live: how the agent is started, as in "python agent.py".')
    ] = None,
) -> ExitCode:
    """Add a first test and its recording, a configuration file, a CI workflow, editor schemas and VS Code settings.

    Existing files are kept; .gitignore gets the lines that it lacks. A checkout of NanoClaw v2 also gets what runs its
    agent live, and a skill for Claude Code.

    --live adds a configuration that starts the agent, a live test that passes without a key, and lines of .gitignore; then it prints
    the commands that run the test. Without --run, the agent is the one Python script that asks a model.

    Exit codes: 0 done, 2 a file cannot be written, the recording not be read, or the agent not be found.
    """
    from agenteval.reporters.terminal import Terminal

    if run is not None and not live:
        raise UsageError(
            "--run says how a live agent is started", next_step=f"agenteval init --live --run {quote(run)}"
        )
    if live:
        if source:
            raise UsageError(
                "--live makes a test of the agent, --from SOURCE one of a recording",
                next_step="choose one of the two",
            )
        from agenteval.cli.init_live import make_first_live_test

        return make_first_live_test(folder, run)
    if turn and not source:
        raise UsageError(
            "--turn chooses a run of a recording", next_step="name the recording with --from SOURCE"
        )
    terminal = Terminal(sys.stdout)
    workflow = folder / _WORKFLOW
    installs = "" if workflow.exists() else _installable(folder)
    draft = _drafted(source, turn, folder) if source else None
    there = draft is not None and (folder / "evals" / draft.name).exists()
    made = {}
    tests = _test_files(draft, folder if there else None)
    for path, done in make_files(folder, _files(tests, installs, nanoclaw=is_nanoclaw(folder))):
        made[path] = done
        terminal.emit(f"{done:<7}  {path}")
    if made[workflow] == "created" and not installs:
        note = f"{workflow} does not say yet what to install: set AGENTEVAL in it to a path or a URL"
        Terminal(sys.stderr).paragraph(f"! {note} from which pip can install agenteval")
    if draft and there:
        terminal.emit(
            "  ! that test was there before, and may be of another run; this one as a test of its own:"
        )
        chosen = f" --turn {turn}" if turn else ""
        terminal.emit(
            f"    agenteval record {quote(str(source))}{chosen} --out {quote(str(folder / 'evals'))} --name NAME"
        )
    elif draft:
        from agenteval.cli.record import remarks_on

        remarks_on(draft, terminal)
    terminal.emit(f"next: agenteval run {quote(str(folder / 'evals'))}")
    return ExitCode.PASSED


def _drafted(source: Path, turn: int | None, folder: Path) -> "Draft":
    """Draft the test of a recorded run. Raises `AgentEvalError`, before anything is written."""
    from agenteval.cli.record import OpenRecording
    from agenteval.recording.source import chosen_runs

    recording = OpenRecording.of(source, folder)
    (run,) = chosen_runs(recording.drafting.source, [turn] if turn else [])
    draft = recording.drafting.draft(run, header=_HEADER)
    recording.remarks()
    return draft


def _installable(folder: Path) -> str:
    """Return the address from which pip can install this agenteval on any machine; "" when there is none.

    Pip noted it at the installation: a repository with its commit, or a file of the web. A local checkout stands for the
    repository that it was cloned from, unless it is inside the project.
    """
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        noted = json.loads(distribution("agenteval").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    url, vcs = str(noted.get("url", "")), noted.get("vcs_info")
    if "dir_info" not in noted:
        return _on_the_web(url, f"@{vcs['commit_id']}" if vcs else None)
    source = Path(unquote(urlsplit(url).path)).resolve()
    if source.is_relative_to(folder.resolve()):
        return f"./{source.relative_to(folder.resolve()).as_posix()}"
    words = ["git", "-C", str(source), "config", "--get", "remote.origin.url"]
    try:
        origin = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603
    except OSError:
        return ""
    return _on_the_web(origin, "")


def _on_the_web(url: str, revision: str | None) -> str:
    """Return an address as pip takes it, without a password; "" for one that only this machine knows.

    `revision` is the suffix that pip needs for a git repository, and None for a file.
    """
    from urllib.parse import urlsplit

    if "://" not in url and "@" in url:  # as git writes it: git@HOST:OWNER/REPOSITORY
        url = f"ssh://{url.replace(':', '/', 1)}"
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http", "ssh") or not parts.hostname:
        return ""
    scheme = "https" if parts.scheme == "ssh" else parts.scheme
    plain = f"{scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return plain if revision is None else f"git+{plain}{revision}"


def make_files(
    folder: Path, files: Sequence[NewFile], ignored: Sequence[str] = ()
) -> Iterator[tuple[Path, str]]:
    """Make the files that are not there. Yields each, and .gitignore, with what was done."""
    from agenteval.loading.config import checkout_of, config_files, project_root, refuse_misnamed
    from agenteval.reading.documents import keep_inside

    keep_inside(checkout_of(project_root([str(folder)])))
    refuse_misnamed(folder)
    pyproject = folder / "pyproject.toml"
    in_pyproject = config_files(folder) == [pyproject]
    for file in files:
        path = folder / file.path
        if in_pyproject and file.path == "agenteval.yaml":
            yield pyproject, "kept"  # a second configuration would be an error
        else:
            yield path, _create(path, file.content)
    path = folder / ".gitignore"
    yield path, _ignore(path, (*_IGNORED, *ignored))


def _files(tests: Sequence[NewFile], installs: str, *, nanoclaw: bool) -> list[NewFile]:
    settings = ["agenteval.yaml", *(["nanoclaw.yaml"] if nanoclaw else [])]
    return [
        NewFile("agenteval.yaml", lambda: "".join(template(name)() for name in settings)),
        *tests,
        *([NewFile(".claude/skills/agenteval/SKILL.md", template("SKILL.md"))] if nanoclaw else []),
        *(
            NewFile(f".agenteval/{name}.schema.json", partial(_schema, name))
            for name in ("test-case", "config")
        ),
        NewFile(".vscode/settings.json", template("vscode-settings.json")),
        NewFile(".vscode/extensions.json", template("vscode-extensions.json")),
        NewFile(_WORKFLOW, lambda: _workflow(installs, nanoclaw=nanoclaw)),
    ]


def is_nanoclaw(folder: Path) -> bool:
    """Return whether a folder is a checkout of NanoClaw v2: its agent can be run live."""
    return all((folder / name).is_file() for name in _NANOCLAW)


def _test_files(draft: "Draft | None", taken: Path | None) -> list[NewFile]:
    """List the files of the first test. In a folder that is `taken`, nothing is added to the files of another test."""
    if draft is None:
        return _first_test()
    return [each for each in _recorded(draft) if taken is None or (taken / each.path).exists()]


def _first_test() -> list[NewFile]:
    fixture = "fx.web_search.ai_news.json"
    return [
        NewFile("evals/first-test/test.yaml", template("test.yaml")),
        NewFile("evals/first-test/replay.json", template("replay.json")),
        NewFile(f"evals/first-test/{fixture}", template(fixture)),
    ]


def _recorded(draft: "Draft") -> list[NewFile]:
    return [NewFile(f"evals/{draft.name}/{name}", content.decode) for name, content in draft.files.items()]


def _workflow(installs: str, *, nanoclaw: bool) -> str:
    """Write the CI file: it installs agenteval from an address and, for NanoClaw, the packages of its agent."""
    text = template("workflow.yml")().replace('AGENTEVAL: ""', f"AGENTEVAL: {json.dumps(installs)}")
    if not nanoclaw:
        return text
    # a check compares with the branch that a pull request is for, which a shallow clone has not
    text = text.replace(
        "persist-credentials: false\n", "persist-credentials: false\n          fetch-depth: 0\n"
    )
    running, keeping = "      - run: agenteval run", "      - uses: actions/upload-artifact"
    text = text.replace(running, template("nanoclaw-steps.yml")() + running)
    return text.replace(keeping, template("check-steps.yml")() + keeping)


def template(name: str) -> Callable[[], str]:
    """A file of the templates, read when it is needed."""
    return lambda: (_TEMPLATES / name).read_text(encoding="utf-8")


def _schema(name: str) -> str:
    from agenteval.reference.schemas import schema_text

    return schema_text(name)


def _create(path: Path, content: Callable[[], str]) -> str:
    if path.is_file():
        return "kept"
    text = content()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise _not_writable(path, f"{error.filename} is in the way") from None
    except OSError as error:
        raise _not_writable(path, error.strerror or str(error)) from error
    return "created"


def _ignore(path: Path, wanted: Sequence[str]) -> str:
    """Have git ignore what runs write; patterns that are there already, however spelled, are not repeated."""
    try:
        text = read_bytes(path).decode() if os.path.lexists(path) else None
        missing = [line for line in wanted if not _is_ignored(line, text or "")]
        if not missing:
            return "kept"
        gap = "" if not text or text.endswith("\n") else "\n"
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(gap + "".join(f"{line}\n" for line in missing))
    except (OSError, UnicodeDecodeError) as error:
        raise _not_writable(path, getattr(error, "strerror", None) or str(error)) from error
    return "created" if text is None else "updated"


def _is_ignored(line: str, text: str) -> bool:
    return any(existing.strip().strip("/") == line.strip("/") for existing in text.splitlines())


def _not_writable(path: Path, why: str) -> UsageError:
    return UsageError(
        f"cannot write {path}: {why}",
        reason_code="usage.not_writable",
        next_step="name a writable directory: agenteval init DIR",
    )
