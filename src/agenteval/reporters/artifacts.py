"""The run's directory (SPEC 19): `<run_id>/<test_id>.result.json`, `.trace.json`, `eval-summary.json`, `summary.json`.

Each run gets a new directory of its own, and `summary.json` appears last, by rename: a directory without one
belongs to a run that did not finish.
"""

import math
import os
import re
import time
from pathlib import Path
from typing import Any

from agenteval.errors import AgentEvalError
from agenteval.redaction import plain
from agenteval.results import RunSummary
from agenteval.runner import Outcome

LONGEST_STEM = 150
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class ArtifactError(AgentEvalError):
    """The run's directory cannot be written (exit 2)."""

    default_reason = "artifacts.unwritable"


class RunDirectory:
    """Where one run's files go. Raises `ArtifactError` whenever a file cannot be written."""

    def __init__(self, parent: Path, run_id: str) -> None:
        self.path = parent / run_id
        self._folder = os.path.join(self.path, "")  # noqa: PTH118
        self._taken: set[str] = set()
        if not _RUN_ID.fullmatch(run_id):
            raise ArtifactError(
                f"run id {run_id!r} cannot be a directory name",
                reason_code="usage.run_id",
                next_step="use letters, digits, dots, dashes and underscores, at most 128 of them",
            )
        try:
            parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir()
        except FileExistsError as error:
            if not self.path.is_dir():
                in_the_way = self.path if os.path.lexists(self.path) else parent
                raise _unwritable(in_the_way, "it is not a directory") from error
            raise ArtifactError(
                f"there is already a run in {self.path}",
                reason_code="artifacts.run_exists",
                next_step="give another --run-id, or none to have one made",
            ) from error
        except OSError as error:
            raise _unwritable(self.path, error.strerror) from error

    def add(self, outcome: Outcome, *, save_trace: bool) -> None:
        """Write a test's result, and its trace when asked; notes their names in the result."""
        stem = self._stem(outcome.result.test_case_id)
        artifacts = outcome.result.artifacts
        if save_trace and outcome.trace is not None:
            artifacts.trace = f"{stem}.trace.json"
            redactor = outcome.redactor
            trace: Any = redactor.data(plain(outcome.trace)) if redactor.names else outcome.trace
            self._write(artifacts.trace, encode(trace))
        artifacts.result = f"{stem}.result.json"
        self._write(artifacts.result, encode(outcome.result))

    def finish(self, summary: RunSummary, eval_summary: dict[str, Any]) -> None:
        """Write the summaries: with this the run is complete."""
        self._write("eval-summary.json", encode(eval_summary))
        self._write("summary.json.part", encode(summary))
        try:
            os.replace(self.path / "summary.json.part", self.path / "summary.json")  # noqa: PTH105
        except OSError as error:
            raise _unwritable(self.path / "summary.json", error.strerror) from error

    def _stem(self, test_id: str) -> str:
        """A file name that is safe on every system, and different for different ids."""
        stem = _UNSAFE.sub("_", test_id)[:LONGEST_STEM]
        safe = stem == test_id and not stem.startswith(".") and not _RESERVED.match(stem)
        if not safe:
            stem = f"test-{stem.lstrip('.')}" if _RESERVED.match(stem) else stem.lstrip(".") or "test"
        name = stem
        if not safe or name.lower() in self._taken:
            from hashlib import sha256  # loads OpenSSL

            digest = sha256(test_id.encode(errors="surrogatepass")).hexdigest()
            lengths = iter(range(8, len(digest) + 1, 8))
            name = f"{stem}-{digest[: next(lengths)]}"
            while name.lower() in self._taken:
                name = f"{stem}-{digest[: next(lengths)]}"
        self._taken.add(name.lower())
        return name

    def _write(self, name: str, content: bytes) -> None:
        target = self._folder + name  # once or twice per test: pathlib, and files with buffers, take longer
        try:
            with open(target, "wb", buffering=0) as file:  # noqa: PTH123
                done = file.write(content)
                while done < len(content):
                    done += file.write(content[done:])
        except OSError as error:
            raise _unwritable(Path(target), error.strerror) from error


def _unwritable(path: Path, why: str | None) -> ArtifactError:
    return ArtifactError(
        f"cannot write {path}: {why or 'the system does not say why'}",
        next_step="make room or give another --artifacts-dir; --no-artifacts runs without writing",
    )


def encode(data: Any) -> bytes:
    """Results and traces as indented JSON, UTF-8, with a newline at the end."""
    import orjson

    try:
        return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # half of a surrogate pair, or a number of more than 64 bits: JSON, but not to orjson
        import json

        text = json.dumps(_spelled(plain(data)), indent=2, ensure_ascii=False, allow_nan=False)
        return f"{text}\n".encode()


def _spelled(value: Any) -> Any:
    """The value as plain JSON data: what JSON does not know becomes text, as does half of a surrogate pair."""
    if isinstance(value, dict):
        return {_spelled(str(key)): _spelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value).encode(errors="backslashreplace").decode()


def new_run_id() -> str:
    """A run id that sorts by time, and differs even for runs that start at once."""
    return f"run-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(4).hex()}"
