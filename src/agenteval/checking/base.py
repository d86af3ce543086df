"""The agent of the base, ready to run: its tracked files in a scratch folder, and packages from where they are now."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from agenteval.checking.changes import Changes, FileChange
from agenteval.contracts.errors import AgentEvalError, UsageError
from agenteval.loading.checkout import environment_for_git, git
from agenteval.loading.config import LiveCommand, read_config

LOCK_FILES = (
    "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock*.toml", "requirements*.txt", "package-lock.json",
    "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "deno.lock", "Cargo.lock", "go.sum",
    "Gemfile.lock", "composer.lock",
)  # fmt: skip
"""The files that name the packages of an agent, with their versions."""
_SECONDS = 600


def refuse_other_packages(files: Sequence[FileChange]) -> None:
    """Refuse to measure where the two sides need different packages, of which only today's are installed.

    Raises `UsageError` (`check.lock_changed`).
    """
    for each in files:
        if each.kind != "untracked" and any(
            fnmatchcase(each.path.rsplit("/", 1)[-1], name) for name in LOCK_FILES
        ):
            raise UsageError(
                f"{each.path} differs from the base, and the packages that the base needs are not installed here",
                reason_code="check.lock_changed",
                next_step="check out the base beside this project, install its packages there, and name it: --base DIR",
            )


def export(changes: Changes, root: Path, scratch: Path) -> Path:
    """Make a clone of the project's commit in a scratch folder, and return the project's folder in it.

    It shares the objects of the repository, so that only the files are copied. An archive would lack the files that
    `export-ignore` keeps out of releases, and git would not list what is in it. Raises `UsageError` (`check.no_base`).
    """
    folder = scratch / "base"
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    git_program = shutil.which("git") or "git"
    quiet = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
    for words in (
        ("clone", "--quiet", "--shared", "--no-checkout", str(changes.top), str(folder)),
        ("-C", str(folder), "checkout", "--quiet", "--detach", changes.commit),
    ):
        try:
            done = subprocess.run(  # noqa: S603
                [git_program, *quiet, *words],
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
                env=environment_for_git(),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _no_base(str(error)) from None
        if done.returncode:
            raise _no_base(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else words[0])
    inside = os.path.relpath(os.path.realpath(root), os.path.realpath(changes.top))
    made = folder / inside
    made.mkdir(parents=True, exist_ok=True)  # a project that the base does not have yet
    return made


def given_base(folder: Path, changes: Changes, root: Path) -> Path:
    """The project's folder in a checkout of the base that `--base` names. Raises `UsageError` (`check.no_base`)."""
    top, here = git(folder, "rev-parse", "--show-toplevel"), git(root, "rev-parse", "--show-toplevel")
    if top is None or here is None:
        raise UsageError(
            f"--base {folder}: it is no checkout of git",
            reason_code="check.no_base",
            next_step="git worktree add DIR REVISION makes one; install its packages there",
        )
    at = (git(folder, "rev-parse", "HEAD") or "").strip()
    if at != changes.commit:  # files would be compared with one commit, and trials with another
        raise UsageError(
            f"--base {folder}: it is at {at[:12] or 'no commit'}, and {changes.base.revision} means {changes.base.commit}",
            reason_code="check.no_base",
            next_step=f"git -C {folder} checkout {changes.base.commit}",
        )
    real = Path(os.path.realpath(top.rstrip("\n")))
    inside = os.path.relpath(os.path.realpath(root), os.path.realpath(here.rstrip("\n")))
    return real / inside


def command_of(folder: Path, today: LiveCommand) -> LiveCommand:
    """Return the command that starts the agent of the base: its own; today's where it has none.

    An argument of the command may choose the prompt: with today's command, both sides would be the same agent.
    Raises `UsageError` (`check.no_base`).
    """
    try:
        command = read_config(folder).live.command
    except AgentEvalError as error:
        raise UsageError(
            f"the configuration of the base cannot be used: {str(error).partition(chr(10))[0]}",
            reason_code="check.no_base",
            next_step="commit a configuration that this version reads, and compare with that commit: --against REV",
        ) from None
    return command if command.run else today


def _no_base(why: str) -> UsageError:
    return UsageError(
        f"the base cannot be checked out: {why}",
        reason_code="check.no_base",
        next_step="check it out beside this project, and name it: --base DIR",
    )
