"""Which tests belong to which shard of a divided run, and what all its shards have to share."""

import heapq
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from agenteval.adapter_input import names_in
from agenteval.config import reach_of
from agenteval.digests import sha256, sha256_of
from agenteval.errors import FileError
from agenteval.plugins.registry import Registry
from agenteval.reading.containment import admit, is_inside, looked_up, real_folder
from agenteval.reading.documents import opened, read_data

PLANNED = {
    "settings": "settings or options",
    "plugins": "plugins or adapters",
    "tests": "test files",
    "recordings": "recordings, fixtures or databases",
    "division": "recorded durations",
}
"""The parts of a plan, and what differs when they do; a part may differ because one above it does."""


class Shard(NamedTuple):
    """Shard `number` of `of` shards, counted from 1."""

    number: int
    of: int


def divided(durations: Sequence[float | None], of: int) -> list[int]:
    """For each test the number of its shard, so that all take about as long.

    The longest test goes first, always to the shard with the least to do; a test whose duration is not known counts as
    the mean of the others. The same durations give the same shards, on any machine; when none is known, they are dealt
    out in turn.
    """
    known = [ms for ms in durations if ms is not None]
    mean = sum(known) / len(known) if known else 1.0
    weights = [round(1000 * (mean if ms is None else ms)) for ms in durations]
    loads = [(0, 0, number) for number in range(1, of + 1)]
    shards = [0] * len(weights)
    for index in sorted(range(len(weights)), key=lambda index: -weights[index]):
        load, tests, number = heapq.heappop(loads)
        shards[index] = number
        heapq.heappush(loads, (load + weights[index], tests + 1, number))
    return shards


class Inputs:
    """Digests of the files that tests are judged by: all that they name, and what their adapters read with it.

    A folder stands for everything in it. `anywhere` lets files be out of the reach of a test.
    """

    def __init__(self, root: Path, registry: Registry, *, anywhere: bool) -> None:
        self.registry = registry
        self.anywhere = anywhere
        self.digests: dict[str, str] = {}
        """By path from the root."""
        self._top = real_folder(str(root))
        self._reach = self._top
        self._met: set[str] = set()

    def add(self, test: Path) -> str:
        """Add what a test names; the digest of the test file itself, empty when it cannot be read."""
        from agenteval.reading.yamlsource import load_yaml

        try:
            content = read_data(test, a_test=True)
        except FileError:
            return ""
        self._reach = real_folder(str(reach_of(test)))
        with suppress(FileError, UnicodeDecodeError):
            self._named(load_yaml(content.decode("utf-8-sig"), test), test.parent)
        return sha256(content)

    def _named(self, data: Any, folder: Path) -> None:
        if not isinstance(data, dict):
            return
        given, tools = data.get("adapter_input"), data.get("tools")
        fixtures = tools.get("fixtures") if isinstance(tools, dict) else None
        for name in names_in(
            [given, [each.get("file") for each in fixtures or () if isinstance(each, dict)]]
        ):
            for beside in ("", "-wal", "-journal"):  # a database is more than one file
                self._file(folder / f"{name}{beside}")
        for path in self._read_too(str(data.get("adapter")), given, folder):
            self._file(path)

    def _read_too(self, adapter: str, given: Any, folder: Path) -> Sequence[Path]:
        with suppress(Exception):  # the run tells what is wrong with it
            reads = getattr(self.registry.find_adapter(adapter), "reads_with", None)
            return list(reads(given, folder)) if reads and isinstance(given, Mapping) else ()
        return ()

    def _file(self, path: Path) -> None:
        """Add a file, or all files in a folder, each once; nothing for what is not there."""
        try:
            real, status = looked_up(*os.path.split(path))
            if not (real.startswith(self._reach) or self.anywhere) or real in self._met:
                return
            status = status or os.stat(real)  # noqa: PTH116 - once per file of a test
            self._met.add(real)
            admit(path, real)
            if stat.S_ISDIR(status.st_mode):
                for name in sorted(os.listdir(real)):  # noqa: PTH208
                    self._file(path / name)
                return
            with opened(path) as file:
                self.digests[os.path.relpath(real, self._top)] = sha256_of(file)
        except (OSError, ValueError):  # no file can have this name, or it cannot be read: the run tells
            return


def code_of(root: Path, registry: Registry) -> list[Any]:
    """What there is of plugins: the versions of installed ones, and the Python files of the project beside those it has loaded."""
    from importlib.metadata import entry_points

    groups = ("agenteval.assertions", "agenteval.adapters", "agenteval.operators")
    installed = [
        [group, point.name, point.value, f"{point.dist.name} {point.dist.version}" if point.dist else ""]
        for group in groups
        for point in entry_points(group=group)
    ]
    files = sorted({path for folder in set(_own_code(root)) for path in folder})
    told: list[Any] = [list(registry.modules), sorted(installed)]
    for path in files:
        with suppress(OSError), opened(path) as file:
            told.append([os.path.relpath(path, root), sha256_of(file)])
    return told


def _own_code(root: Path) -> Iterator[tuple[Path, ...]]:
    """The Python files beside, or in the package of, each module that was loaded from the project."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        ours = name.partition(".")[0].startswith("agenteval") and not name.startswith("agenteval_plugin_")
        if ours or not file or not is_inside(file, root) or is_inside(file, Path(sys.prefix)):
            continue
        pattern = "**/*.py" if Path(file).name == "__init__.py" else "*.py"
        yield tuple(sorted(Path(file).parent.glob(pattern)))
