"""The git checkout that a project is in, as git describes it."""

import os
from pathlib import Path
from typing import NamedTuple


class Checkout(NamedTuple):
    """The commit and the branch that are checked out; None outside of git, and without a branch on a detached HEAD."""

    commit: str | None = None
    branch: str | None = None


_SECONDS = 120
_OF_HOOKS = frozenset(
    ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")
)
"""The variables by which git names its repository to a hook. They go before `-C`: a checkout in a scratch folder moved the user's HEAD."""


def environment_for_git() -> dict[str, str]:
    """Return the environment in which git works on the repository of the folder that it is given, and on no other."""
    return {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}


def git(folder: Path, *words: str) -> str | None:
    """Return the output of git in a folder; None if git fails, or is not installed."""
    output = git_bytes(folder, *words)
    return None if output is None else os.fsdecode(output)


def git_bytes(folder: Path, *words: str, given: bytes = b"") -> bytes | None:
    """Return the output of git as `git` does, undecoded. `given` is its standard input."""
    import subprocess

    line = ["git", "--no-optional-locks", "-C", str(folder), *words]
    try:
        done = subprocess.run(  # noqa: S603
            line, input=given, capture_output=True, check=False, timeout=_SECONDS, env=environment_for_git()
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout


def checked_out(root: Path) -> Checkout:
    """Return what is checked out where a project is. Changes that nobody has committed do not count."""
    commit, _, branch = (git(root, "rev-parse", "HEAD", "--abbrev-ref", "HEAD") or "").strip().partition("\n")
    # On a detached HEAD, as most CI services check out, git prints the word HEAD in place of a branch.
    return Checkout(commit or None, branch if branch not in ("", "HEAD") else None)
