"""The files that a test may name: inside the project, and there."""

import os
import stat
from pathlib import Path
from typing import Any

from agenteval.adapters import AdapterContext
from agenteval.errors import AdapterError
from agenteval.reading.containment import STAY_INSIDE, is_inside


def find_file(name: Any, context: AdapterContext, *, setting: str, missing: str, next_step: str) -> Path:
    """The file called `name`, relative to the test's directory, as a path to show and to open.

    `setting` is where the test names it; `missing` and `next_step` are for a file that is not there.
    Symbolic links are followed before it is judged whether a file is inside the project root, as it must be unless
    the context allows files outside. Raises
    `AdapterError` (`adapter.invalid_input`, `adapter.outside_root`, or `missing`).
    """
    if not isinstance(name, str) or not name:
        raise AdapterError(
            f"{setting} must be the name of a file, got {name!r}",
            reason_code="adapter.invalid_input",
            next_step=f"give {setting} the path of a file, relative to the test",
        )
    path = context.base_dir / name
    try:
        inside = context.allow_outside or is_inside(path, context.root)
        found = inside and stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - once per file of each test
    except FileNotFoundError:
        found = False
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name no file can have
        raise AdapterError(
            f"{setting} names {name!r}, which cannot be looked up: {error}",
            reason_code="adapter.invalid_input",
            next_step=f"give {setting} the path of a file, relative to the test",
        ) from error
    if not inside:
        raise AdapterError(
            f"{setting} names {name!r}, which is outside the project root {context.root}",
            reason_code="adapter.outside_root",
            next_step=STAY_INSIDE,
        )
    if not found:
        what = "a directory" if path.is_dir() else "not there"
        raise AdapterError(
            f"{setting} names {name!r}, but {path} is {what}", reason_code=missing, next_step=next_step
        )
    return path
