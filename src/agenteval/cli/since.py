"""Which tests `--since REV` means: those of which a file differs from a git revision."""

import os
import subprocess
from pathlib import Path

from agenteval.cli.watching import named_in
from agenteval.errors import UsageError
from agenteval.loading import LoadedTest

NAME_A_REVISION = "name a commit, a branch or a tag of the project's repository"


def changed_since(revision: str, root: Path) -> set[Path]:
    """The files that differ from a revision, and those that git does not know, as absolute paths.

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


def touches(test: LoadedTest, changed: set[Path]) -> bool:
    """Whether a changed file is the test, is in its folder, or is or is in what it names."""
    folder = test.path.parent
    named = [test.path, folder, *(folder / text for text in named_in(test.case))]
    places = {each.resolve() for each in named}
    return any(not places.isdisjoint((each, *each.parents)) for each in changed)


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
