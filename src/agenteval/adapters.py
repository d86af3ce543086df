"""What an adapter is, and how one is found (SPEC 12).

An adapter is a class with a `name`, a `version`, `supports_live_run`, and a `trace` method. It is announced in
the entry-point group `agenteval.adapters` of whatever package it comes in.
"""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agenteval import __version__, budget
from agenteval.errors import AdapterError, saying
from agenteval.spec import TestCase
from agenteval.trace import Trace

GROUP = "agenteval.adapters"
_REINSTALL = "reinstall the package that provides the adapter, or report it to its author"


@dataclass(slots=True, kw_only=True)
class AdapterContext:
    """What an adapter may know beside the test case.

    `base_dir` is the test file's directory, to which paths in the spec are relative; `root` is the folder in which it may
    name files, outside which nothing is read unless `allow_outside` is set; `max_file_bytes` bounds every file. What is
    odd but not wrong goes to `warn`. While a large file is read, `progress` is called with the file, the bytes read so
    far, and its size in bytes.
    """

    base_dir: Path
    root: Path
    run_id: str
    max_file_bytes: int
    allow_outside: bool = False
    warnings: list[str] = field(default_factory=list)
    progress: Callable[[Path, int, int], None] | None = None

    def warn(self, message: str) -> None:
        """Note something that a person should look at; it never changes a verdict."""
        self.warnings.append(str(message))


class Adapter(Protocol):
    """Turns `adapter_input` of a test case into a normalized trace.

    It may have more attributes: `input_model`, the model of its `adapter_input`, by which editors complete and check it;
    `input_schemas`, the models of the files it reads, by schema name;
    `check_input(case, context)`, which raises `AdapterError` for input that `trace` would refuse (`agenteval validate`
    asks it), and may return the trace, to which the test's names of tools are then held; `reads(path)`, whether a file
    looks like one that a test may name in `adapter_input.replay_file` (`agenteval trace` asks it);
    `reads_with(adapter_input, folder)`, the files and folders that `trace` reads beside those
    that the texts of `adapter_input` name: the shards of a run have to agree in all of them; `recorder`, for real recordings
    (see `recordings`); and `live_agent(setup)`, which makes its agent ready to run again (see `live.run`).
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


def find_adapter(name: str, *, also: Sequence[str] = ()) -> Adapter:
    """The installed adapter of that name; `also` are other names to suggest.

    Raises `AdapterError`: `adapter.unknown`, or `adapter.broken` for one that does not load, and for a name
    that two packages claim.
    """
    own = _own_entry_points().get(name)
    if own is not None:
        return _load(name, own)
    targets = _all_entry_points()
    if name in targets:
        target, *others = targets[name]
        if others:
            raise AdapterError(
                f"the adapter {name!r} is registered twice: {', '.join((target, *others))}",
                reason_code="adapter.broken",
                next_step="uninstall all but one of the packages that provide it",
            )
        return _load(name, target)
    from agenteval.misspelling import closest

    known = sorted({*targets, *also})
    near = closest(name, known)
    meant = f" (did you mean {near!r}?)" if near else ""
    raise AdapterError(
        f"unknown adapter {name!r} (installed: {', '.join(known) or 'none'})",
        reason_code="adapter.unknown",
        next_step=f"correct the name of the adapter{meant}, or install the package that provides it",
    )


def reading(adapter: str) -> budget.step:
    """All that an adapter does inside is one step. Raises `AdapterError` (`adapter.timeout`)."""

    def too_slow(told: str) -> AdapterError:
        return AdapterError(
            f"adapter {adapter} {told}",
            reason_code="adapter.timeout",
            next_step="record a shorter run, or raise limits.step_seconds in agenteval.yaml",
        )

    return budget.step(too_slow)


def check_mode(adapter: Adapter, case: TestCase) -> None:
    """Refuse a test that asks for a live run of an adapter that makes none: `adapter.live_unsupported`."""
    if case.mode == "live" and not adapter.supports_live_run:
        raise AdapterError(
            f"adapter {adapter.name} {adapter.version} cannot run an agent live; the test asks for mode: live",
            reason_code="adapter.live_unsupported",
            next_step="record a run and set mode: replay",
        )


def runs_live(adapter: Adapter, case: TestCase, *, every: bool) -> bool:
    """Whether a test's agent is run again: one that asks for it, or, when `every` one is, any whose adapter can."""
    return hasattr(adapter, "live_agent") and (every or case.mode == "live")


def installed_adapters() -> list[str]:
    """The names of all installed adapters, sorted."""
    return sorted(_all_entry_points())


def own_adapters() -> list[str]:
    """The names of the adapters that come with agenteval; no other adapter can take them."""
    return sorted(_own_entry_points())


def make_adapter(
    name: str, source: str, factory: Callable[[], Adapter], *, next_step: str = _REINSTALL
) -> Adapter:
    """The adapter that a class makes; `source` is where the class comes from. Raises `AdapterError`."""
    try:
        adapter = factory()
        _ = (adapter.name, adapter.version, adapter.supports_live_run, adapter.trace)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _does_not_load(name, source, error, next_step) from error
    return adapter


def _load(name: str, target: str) -> Adapter:
    from importlib import import_module

    module, _, attribute = target.partition(":")
    try:
        factory: Callable[[], Adapter] = getattr(import_module(module), attribute)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _does_not_load(name, target, error, _REINSTALL) from error
    return make_adapter(name, target, factory)


def _does_not_load(name: str, source: str, error: BaseException, next_step: str) -> AdapterError:
    return AdapterError(
        f"adapter {name!r} ({source}) failed to load: {type(error).__name__}: {saying(error)}",
        reason_code="adapter.broken",
        next_step=next_step,
    )


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
        return _announced(lines)
    return {}


def _announced(lines: list[str]) -> dict[str, str]:
    """The entry points of adapters among those of a package."""
    found: dict[str, str] = {}
    section = ""
    for line in lines:
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == GROUP and "=" in line:
            name, _, target = line.partition("=")
            found[name.strip()] = target.strip()
    return found


def _all_entry_points() -> dict[str, list[str]]:
    """Every adapter by name, with the classes that are announced under it."""
    from importlib.metadata import entry_points

    found: dict[str, list[str]] = {}
    for point in entry_points(group=GROUP):
        targets = found.setdefault(point.name, [])
        if point.value not in targets:
            targets.append(point.value)
    return found
