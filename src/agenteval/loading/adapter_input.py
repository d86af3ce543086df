"""Checks `adapter_input`: keys that the adapter knows, and files inside the project."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError, AgentEvalError
from agenteval.contracts.models import DataPath
from agenteval.contracts.testcase import TestCase
from agenteval.reading.documents import STAY_INSIDE, admit, looked_up, real_folder
from agenteval.text.names import closest
from agenteval.text.parts import texts

LONGEST_NAME = 1000
"""A longer text names no file."""


def unknown_key(key: str, allowed: Sequence[str]) -> AdapterError:
    """The error of a key that the adapter does not know, with the one that was probably meant."""
    near = closest(key, allowed)
    meant = f", did you mean {near!r}?" if near else ""
    return AdapterError(
        f"unknown key {key!r} in adapter_input{meant} (allowed: {', '.join(allowed)})",
        reason_code="adapter.unknown_input",
        next_step="correct the key in the test; keys that begin with x- are your own",
        where=("adapter_input", key),
        at_key=True,
    )


def find_file(
    name: Any, context: AdapterContext, *, setting: str, missing: str, next_step: str, folders: bool = False
) -> Path:
    """The file called `name`, relative to the test's directory, as a path to show and to open.

    `setting` is where the test names it; `missing` and `next_step` are for a file that is not there; `folders` says
    that it may be a folder. Symbolic links are followed before it is judged whether a file is inside the project root,
    as it must be unless the context allows files outside. Raises `AdapterError` (`adapter.invalid_input`,
    `adapter.outside_root`, or `missing`).
    """
    where = tuple(setting.split(".")) if setting.startswith("adapter_input.") else ("adapter_input",)
    if not isinstance(name, str) or not name:
        raise AdapterError(
            f"{setting} must be the name of a file, got {name!r}",
            reason_code="adapter.invalid_input",
            next_step=f"give {setting} the path of a file, relative to the test",
            where=where,
        )
    path = context.base_dir / name
    try:
        real, status = looked_up(str(context.base_dir), name)
        inside = context.allow_outside or os.path.join(real, "").startswith(real_folder(str(context.root)))  # noqa: PTH118
        found = inside and (stat.S_ISREG((status or os.stat(real)).st_mode) or folders)  # noqa: PTH116 - once per file of a test
    except (FileNotFoundError, NotADirectoryError):
        found = False
    except (OSError, ValueError) as error:  # a loop of links, a name no file can have
        raise AdapterError(
            f"{setting} names {name!r}, which cannot be looked up: {getattr(error, 'strerror', '') or error}",
            reason_code="adapter.invalid_input",
            next_step=f"give {setting} the path of a file that can be read, relative to the test",
            where=where,
        ) from error
    if not inside:
        raise AdapterError(
            f"{setting} names {name!r}, which is outside the project root {context.root}",
            reason_code="adapter.outside_root",
            next_step=STAY_INSIDE,
            where=where,
        )
    admit(path, real)
    if not found:
        what = "a directory" if path.is_dir() else "no ordinary file" if path.exists() else "not there"
        raise AdapterError(
            f"{setting} names {name!r}, but {path} is {what}",
            reason_code=missing,
            next_step=next_step,
            where=where,
        )
    return path


def names_in(given: Any) -> Iterator[str]:
    """The texts in `adapter_input` that may name a file or directory, relative to the test's own."""
    return (
        text for text in texts(given) if 0 < len(text) < LONGEST_NAME and not {"\n", "\0"}.intersection(text)
    )


def part_at_fault(error: AgentEvalError, case: TestCase) -> tuple[DataPath, bool]:
    """The path to what an adapter's error is about in the test file, and whether the key there is meant.

    The path is empty when that is no part of the file.
    """
    path: DataPath = _OUTSIDE.get(error.reason_code, ("adapter_input",))
    at_key = False
    if isinstance(error, AdapterError) and error.reason_code not in _OUTSIDE:
        path, at_key = error.where, error.at_key
    return (path, at_key) if path and getattr(case, str(path[0])) else ((), False)


_OUTSIDE: dict[str, DataPath] = {
    "adapter.unknown": ("adapter",),
    "adapter.broken": ("adapter",),
    "adapter.live_unsupported": ("mode",),
}
"""Errors that are about another part of the test file, each with this part."""
