"""The files that a test may name: inside the project, and there."""

import os
import stat
from functools import lru_cache
from pathlib import Path
from typing import Any

from agenteval.adapters import AdapterContext
from agenteval.errors import AdapterError
from agenteval.reading.containment import STAY_INSIDE, is_inside, real_folder


def find_file(name: Any, context: AdapterContext, *, setting: str, missing: str, next_step: str) -> Path:
    """The file called `name`, relative to the test's directory, as a path to show and to open.

    `setting` is where the test names it; `missing` and `next_step` are for a file that is not there.
    Symbolic links are followed before it is judged whether a file is inside the project root, as it must be unless
    the context allows files outside. Raises
    `AdapterError` (`adapter.invalid_input`, `adapter.outside_root`, or `missing`).
    """
    if not isinstance(name, str) or not name:
        raise _no_name(name, setting, "a file")
    path = context.base_dir / name
    try:
        real, status = _looked_up(str(context.base_dir), name)
        inside = context.allow_outside or real.startswith(real_folder(str(context.root)))
        found = inside and stat.S_ISREG((status or os.stat(real)).st_mode)  # noqa: PTH116 - once per file of a test
    except FileNotFoundError:
        found = False
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name no file can have
        raise _not_looked_up(name, setting, error) from error
    if not inside:
        raise _outside(name, setting, context.root)
    if not found:
        what = "a directory" if path.is_dir() else "not there"
        raise AdapterError(
            f"{setting} names {name!r}, but {path} is {what}", reason_code=missing, next_step=next_step
        )
    return path


def find_recording(name: Any, context: AdapterContext) -> Path:
    """The file or folder that `adapter_input.session` names, as a path to show and to open.

    Raises `AdapterError` (`adapter.invalid_input`, `adapter.outside_root`, `adapter.replay_missing`).
    """
    setting = "adapter_input.session"
    if not isinstance(name, str) or not name:
        raise _no_name(name, setting, "a file or folder")
    path = context.base_dir / name
    try:
        inside = context.allow_outside or is_inside(path / "_", context.root)  # or the root itself
        found = inside and path.exists()
    except (OSError, RuntimeError, ValueError) as error:
        raise _not_looked_up(name, setting, error) from error
    if not inside:
        raise _outside(name, setting, context.root)
    if not found:
        raise AdapterError(
            f"{setting} names {name!r}, but {path} is not there",
            reason_code="adapter.replay_missing",
            next_step="correct adapter_input.session in the test, or put the recording there",
        )
    return path


def _no_name(name: Any, setting: str, what: str) -> AdapterError:
    return AdapterError(
        f"{setting} must be the name of {what}, got {name!r}",
        reason_code="adapter.invalid_input",
        next_step=f"give {setting} the path of {what}, relative to the test",
    )


def _not_looked_up(name: str, setting: str, error: Exception) -> AdapterError:
    return AdapterError(
        f"{setting} names {name!r}, which cannot be looked up: {error}",
        reason_code="adapter.invalid_input",
        next_step=f"give {setting} a path, relative to the test",
    )


def _outside(name: str, setting: str, root: Path) -> AdapterError:
    return AdapterError(
        f"{setting} names {name!r}, which is outside the project root {root}",
        reason_code="adapter.outside_root",
        next_step=STAY_INSIDE,
    )


def _looked_up(folder: str, name: str) -> tuple[str, os.stat_result | None]:
    """The path without symbolic links, and what kind of thing is there, when that is known already.

    Most files lie beside the test, and most tests side by side: then only the file and the folder of the test are
    looked up, and what is above them once for all.
    """
    if os.path.basename(name) == name and name not in (os.curdir, os.pardir):  # noqa: PTH119
        beside = _last_folders(folder, "" if os.path.isabs(folder) else os.getcwd()) + name  # noqa: PTH109, PTH117
        try:
            status = os.lstat(beside)
        except OSError:
            return beside, None
        if not stat.S_ISLNK(status.st_mode):
            return beside, status
    return os.path.realpath(os.path.join(folder, name)), None  # noqa: PTH118


@lru_cache(maxsize=2)
def _last_folders(folder: str, where: str) -> str:  # noqa: ARG001 - what a relative path depends on
    """The folder without symbolic links, with a separator at its end; that of a test, and the one it stands in."""
    above, name = os.path.split(folder)
    real = _looked_up(above, name)[0] if name else os.path.realpath(folder)
    return os.path.join(real, "")  # noqa: PTH118
