"""`agenteval init --live`: a first live test of the agent in a folder, and the commands that run it."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agenteval.cli.init import NewFile, is_nanoclaw, make_files, template
from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.reading.documents import read_bytes

_TEST = "evals/first-live"
_IGNORED = (".venv/", "node_modules/", "__pycache__/", ".env")
"""Paths that git must not track: an agent sees all that git tracks, and each run copies it."""
_ENVIRONMENTS = (".venv", "venv", "env")
_ASKS_A_MODEL = re.compile(
    r"^\s*(?:from|import)\s+(?:agents|anthropic|autogen\w*|claude_agent_sdk|crewai|google\.genai|lang(?:chain|graph)\w*|litellm"
    r"|ollama|openai|pydantic_ai|smolagents|strands)\b|(?:ANTHROPIC|OPENAI)_BASE_URL",
    re.MULTILINE,
)
_IS_STARTED = re.compile(
    r"^(?:if __name__ ==|(?:asyncio|anyio)\.run\(|print\(|.*\bsys\.(?:stdin|argv)\b)", re.MULTILINE
)
"""A line that a script has at its left edge, and a module that others import has not."""
_NO_AGENTS = ("evals/", "tests/", "test/", "examples/", "docs/")
_MOST_FILES, _MOST_BYTES = 2_000, 2**20


def make_first_live_test(folder: Path, run: str | None) -> ExitCode:
    """Write what a folder lacks for a first live test, and print what to do next. `run` is the agent's command line.

    Raises `UsageError`, before anything is written, where nobody knows how the agent is started.
    """
    from agenteval.loading.config import config_files, load_config
    from agenteval.reporters.terminal import Terminal

    if is_nanoclaw(folder):
        raise UsageError(
            "this is a checkout of NanoClaw, and agenteval knows how to run that",
            next_step=f"agenteval init {shlex.quote(str(folder))}",
        )
    files = config_files(folder)
    config = load_config(folder) if files else None
    is_configured = bool(config and config.live.command.run)
    words = config.live.command.run if config and is_configured else _command(folder, run)
    terminal = Terminal(sys.stdout)
    made = list(make_files(folder, _files(folder, words), ignored=_IGNORED))
    for path, done in made:
        terminal.emit(f"{done:<7}  {path}")
    if files and not is_configured:
        terminal.emit(
            f"! {files[0]} was there before, and does not say yet how the agent is started. Add to it:"
        )
        terminal.emit(f"    live: {{command: {{run: {_as_yaml(words)}}}}}")
    terminal.emit("next:")
    what = "" if config is None or config.tests else f" {_TEST}"
    for line in (
        *_commands_of_git(folder, [path for path, done in made if done != "kept"], words),
        f"agenteval run{what}",
    ):
        terminal.emit(f"  {line}")
    terminal.emit("after each change of the agent:")
    terminal.emit(f"  agenteval check{what}")
    return ExitCode.PASSED


def _files(folder: Path, words: Sequence[str]) -> list[NewFile]:
    """The files of a first live test."""
    mounts = "mounts: [node_modules]" if (folder / "node_modules").is_dir() else "# mounts: []"

    def config() -> str:
        live = template("live.yaml")().replace("RUN", _as_yaml(words)).replace("MOUNTS", mounts)
        return template("agenteval.yaml")().partition("\n")[2] + live

    return [
        NewFile("agenteval.yaml", config),
        NewFile(f"{_TEST}/test.yaml", template("live-test.yaml")),
        NewFile(f"{_TEST}/turns.yaml", template("turns.yaml")),
    ]


def _as_yaml(words: Sequence[str]) -> str:
    """A list as YAML on one line; words of more than letters, digits and signs of paths are quoted."""
    import json

    plain = re.compile(r"[A-Za-z./_][\w./@+-]*")
    quoted = (each if plain.fullmatch(each) else json.dumps(each, ensure_ascii=False) for each in words)
    return f"[{', '.join(quoted)}]"


# How the agent is started -------------------------------------------------------------------------------------


def _command(folder: Path, run: str | None) -> list[str]:
    """The command line of the agent: the given one, or the start of the one script that asks a model. Raises `UsageError`."""
    if run is None:
        return [_python(folder), _script(folder)]
    try:
        words = shlex.split(run)
    except ValueError as error:
        raise UsageError(
            f"--run {run!r} is no command: {error}", next_step="quote it as in a shell"
        ) from None
    if not words:
        raise UsageError("--run names no command", next_step=_as_option("python agent.py"))
    program = folder / words[0] if os.sep in words[0] else shutil.which(words[0])
    if program is None or not Path(program).exists():
        raise UsageError(
            f"--run {run!r} starts {words[0]}, which is not there",
            next_step="name a program on the PATH, or one of the folder",
        )
    return words


def _script(folder: Path) -> str:
    """The one Python script in a folder that asks a model. Raises `UsageError` where there are none or several."""
    found = [name for name in _python_files(folder) if _is_agent(folder / name)]
    if len(found) == 1:
        return found[0]
    more = f", and {len(found) - 3} more" if len(found) > 3 else ""
    example = f"python {found[0]}" if found else "python agent.py"
    raise UsageError(
        f"several scripts in {folder} ask a model: {', '.join(found[:3])}{more}"
        if found
        else f"no script in {folder} asks a model, as far as agenteval can see",
        next_step=f"say how the agent is started: {_as_option(example)}",
    )


def _as_option(command: str) -> str:
    return f'agenteval init --live --run "{command}"'


def _python_files(folder: Path) -> list[str]:
    """The Python files of a folder, but for those that git ignores, and those of tests."""
    from agenteval.loading.checkout import git

    listed = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py")
    names = sorted(filter(None, listed.split("\0"))) if listed is not None else list(_walked(folder))
    return [each for each in names if not each.startswith(_NO_AGENTS)][:_MOST_FILES]


def _walked(folder: Path) -> Iterator[str]:
    """The Python files of a folder that is in no git repository; nothing of packages that are installed in it."""
    for top, folders, files in os.walk(folder):
        here = Path(top)
        folders[:] = sorted(
            each
            for each in folders
            if not each.startswith(".")
            and each != "node_modules"
            and not (here / each / "pyvenv.cfg").exists()
        )
        yield from (
            (here / each).relative_to(folder).as_posix() for each in sorted(files) if each.endswith(".py")
        )


def _is_agent(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return False
    text = read_bytes(path).decode(errors="replace")
    return bool(_ASKS_A_MODEL.search(text) and _IS_STARTED.search(text))


def _python(folder: Path) -> str:
    """The interpreter that has the agent's packages: of a virtual environment in the folder, else the active one."""
    for name in _ENVIRONMENTS:
        if (folder / name / "bin/python").exists():
            return f"{name}/bin/python"
    active = os.environ.get("VIRTUAL_ENV", "")
    return f"{active}/bin/python" if active and Path(active, "bin/python").exists() else "python3"


# What to do next ----------------------------------------------------------------------------------------------


def _commands_of_git(folder: Path, made: Sequence[Path], words: Sequence[str]) -> Iterator[str]:
    """The commands that have git track the agent and its test, and remember them to be compared with later."""
    from agenteval.loading.checkout import git

    if folder.resolve() != Path.cwd():
        yield f"cd {shlex.quote(str(folder))}"
    added = "-A"
    if git(folder, "rev-parse", "--is-inside-work-tree") is None:
        yield "git init -q"
    elif tracked := git(folder, "ls-files", "-z"):
        agent = [each for each in words if (folder / each).is_file() and not os.path.isabs(each)]  # noqa: PTH117
        new = [each for each in agent if each not in tracked.split("\0") and "/bin/" not in each]
        names = dict.fromkeys([*new, *(each.relative_to(folder).as_posix() for each in made)])
        added = " ".join(map(shlex.quote, names))
    if added:
        yield f"git add {added} && git commit -q -m 'test: a first live test'"
