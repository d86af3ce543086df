"""What an adapter is, and how one is found (SPEC 12).

An adapter is a class with a `name`, a `version`, `supports_live_run`, and a `trace` method. It is announced in
the entry-point group `agenteval.adapters` of whatever package it comes in.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from agenteval import __version__
from agenteval.errors import AdapterError
from agenteval.spec import TestCase
from agenteval.trace import Trace

GROUP = "agenteval.adapters"


@dataclass(slots=True, kw_only=True)
class AdapterContext:
    """What an adapter may know beside the test case.

    `base_dir` is the test file's directory, to which paths in the spec are relative; `root` is the project
    root, outside which nothing is read; `max_file_bytes` bounds every file. What the adapter finds remarkable
    but not wrong it says through `warn`.
    """

    base_dir: Path
    root: Path
    run_id: str
    max_file_bytes: int
    warnings: list[str] = field(default_factory=list)

    def warn(self, message: str) -> None:
        """Note something that a person should look at; it never changes a verdict."""
        self.warnings.append(message)


class Adapter(Protocol):
    """Turns `adapter_input` of a test case into a normalized trace.

    It may have one more attribute, `input_schemas`: the models of the files it reads, by schema name.
    """

    name: str
    version: str
    supports_live_run: bool

    def trace(self, case: TestCase, context: AdapterContext) -> Trace:
        """The trace of one test.

        The same inputs give the same trace, byte for byte. Raises `AdapterError` for input that cannot be
        read; anything else it raises is reported as a bug of the adapter.
        """
        ...


def find_adapter(name: str) -> Adapter:
    """The installed adapter of that name. Raises `AdapterError` (`adapter.unknown`, `adapter.broken`)."""
    for targets in (_own_entry_points, _all_entry_points):
        target = targets().get(name)
        if target is not None:
            return _load(name, target)
    installed = ", ".join(sorted(_all_entry_points())) or "none"
    raise AdapterError(
        f"unknown adapter {name!r} (installed: {installed})",
        reason_code="adapter.unknown",
        next_step="correct `adapter:` in the test, or install the package that brings the adapter",
    )


def installed_adapters() -> list[str]:
    """The names of all installed adapters, sorted."""
    return sorted(_all_entry_points())


def input_schemas(adapter: Adapter) -> Mapping[str, type]:
    """The models of the files that an adapter reads, by schema name (`replay`); empty when it tells of none."""
    models: Mapping[str, type] = getattr(adapter, "input_schemas", {})
    return models


def _load(name: str, target: str) -> Adapter:
    from importlib import import_module

    module, _, attribute = target.partition(":")
    try:
        factory: Callable[[], Adapter] = getattr(import_module(module), attribute)
        adapter = factory()
        _ = (adapter.name, adapter.version, adapter.supports_live_run, adapter.trace)
    except (Exception, SystemExit) as error:
        raise AdapterError(
            f"adapter {name!r} ({target}) does not load: {type(error).__name__}: {error}",
            reason_code="adapter.broken",
            next_step="reinstall the package that brings the adapter, or report it to its author",
        ) from error
    return adapter


def _own_entry_points() -> dict[str, str]:
    """The adapters that come with this package, read from its own metadata.

    importlib.metadata would import an e-mail parser and read every installed package: more than a whole test.
    """
    for folder in sys.path:
        metadata = os.path.join(folder, f"agenteval-{__version__}.dist-info", "entry_points.txt")  # noqa: PTH118
        try:
            with open(metadata, encoding="utf-8") as file:  # noqa: PTH123
                lines = file.read().splitlines()
        except OSError:
            continue
        return _section(lines, GROUP)
    return {}


def _section(lines: list[str], wanted: str) -> dict[str, str]:
    found: dict[str, str] = {}
    section = ""
    for line in lines:
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == wanted and "=" in line:
            name, _, target = line.partition("=")
            found[name.strip()] = target.strip()
    return found


def _all_entry_points() -> dict[str, str]:
    from importlib.metadata import entry_points

    found: dict[str, Any] = {point.name: point.value for point in entry_points(group=GROUP)}
    return found
