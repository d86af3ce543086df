"""Which files are inside a project, once symbolic links are followed."""

import os
from functools import cache
from pathlib import Path

STAY_INSIDE = (
    "keep the file inside the project, or allow files anywhere with --allow-outside; "
    "symbolic links that lead out of the project are not followed"
)
"""The next step for a file outside."""


def is_inside(path: Path | str, root: Path) -> bool:
    """Whether a path, of a file or of none, is inside the root. Raises ValueError for what cannot be a path."""
    return os.path.realpath(path).startswith(real_folder(str(root)))


@cache
def real_folder(folder: str) -> str:
    """The real path of a folder with a separator at its end, with which all paths inside begin."""
    return os.path.join(os.path.realpath(folder), "")  # noqa: PTH118
