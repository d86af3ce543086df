"""Which files are inside a project. Symbolic links are followed before it is judged."""

import os
from functools import cache
from pathlib import Path

STAY_INSIDE = (
    "keep the file inside the project, or allow files anywhere with --allow-outside; "
    "symbolic links that lead out of the project are not followed"
)
"""What to do about a file outside."""


def is_inside(path: Path | str, root: Path) -> bool:
    """Whether a path is inside the root, be there a file or not. Raises ValueError for what no path can be."""
    return os.path.realpath(path).startswith(real_folder(str(root)))


@cache
def real_folder(folder: str) -> str:
    """A folder without symbolic links, with a separator at its end: what all paths inside begin with."""
    return os.path.join(os.path.realpath(folder), "")  # noqa: PTH118
