"""Writes a drafted test: beside nothing that is there already, unless that is asked for, and never half."""

import os
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from tempfile import NamedTemporaryFile

from agenteval.errors import UsageError


def must_be_free(folder: Path, names: Mapping[str, bytes], *, force: bool) -> None:
    """Refuse to overwrite. Raises `UsageError` (`record.exists`)."""
    there = [name for name in names if os.path.lexists(folder / name)]
    if there and not force:
        raise UsageError(
            f"{folder} already has {', '.join(there)}",
            reason_code="record.exists",
            next_step=f"give another --name, --force to overwrite, or --update {quote(str(folder))} to record it again",
        )


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write the files; each appears whole, by rename, and a link that is in the way is replaced, not followed.

    Raises `UsageError` (`usage.not_writable`).
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            with NamedTemporaryFile(dir=folder, prefix=".record-", delete=False) as file:
                file.write(content)
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Path(file.name).chmod(0o644)
            Path(file.name).replace(path)
            written.append(path)
    except OSError as error:
        raise UsageError(
            f"cannot write {folder}: {error.strerror or error}",
            reason_code="usage.not_writable",
            next_step="name a writable folder with --out",
        ) from error
    return written
