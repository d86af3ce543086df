"""What `--since REV` asks git for: the files that differ from a revision."""

import os
import subprocess
from pathlib import Path

from agenteval.errors import UsageError

NAME_A_REVISION = "name a commit, a branch or a tag of the project's repository"


def changed_since(revision: str, root: Path) -> set[Path]:
    """The files that differ from a revision, untracked ones among them, as absolute paths.

    Raises `UsageError` (`usage.git`).
    """
    if revision.startswith("-"):  # git would take it for an option, of which some write files
        raise UsageError(
            f"--since {revision}: no revision begins with a dash",
            reason_code="usage.git",
            next_step=NAME_A_REVISION,
        )
    folder = Path(os.fsdecode(_git(["rev-parse", "--show-toplevel"], root, revision)).rstrip("\n"))
    asked = (
        ["diff", "--name-only", "--no-renames", "-z", revision, "--"],
        ["ls-files", "--others", "--exclude-standard", "-z"],
    )
    names = [name for arguments in asked for name in _git(arguments, folder, revision).split(b"\0") if name]
    return {folder / os.fsdecode(name) for name in names}


def _git(arguments: list[str], folder: Path, revision: str) -> bytes:
    try:
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True).stdout  # noqa: S603, S607
    except FileNotFoundError as error:
        raise UsageError("--since needs git, which is not installed", reason_code="usage.git") from error
    except subprocess.CalledProcessError as error:
        said = os.fsdecode(error.stderr).strip().split("\n")[0]
        raise UsageError(
            f"--since {revision}: git says: {said}",
            reason_code="usage.git",
            next_step=NAME_A_REVISION,
        ) from error
