"""What a shard writes beside its results, so that the shards can be merged."""

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Annotated, Any

from agenteval import __version__
from agenteval.digests import sha256
from agenteval.findings import WrongPart
from agenteval.openwop.summary import Suite
from agenteval.results import InvalidSpec
from agenteval.sharding import Shard
from agenteval.strict import Between, Model, model
from agenteval.trace import Metrics

SHARD_SCHEMA_VERSION = "0.1"


@model
class ShardTest(Model):
    """A test of a shard. `position` is its place among all that was found, `result` the name of its file.

    `schema_valid` is what its score says of the schemas of its output, which a result that was cut no longer tells.
    """

    position: Annotated[int, Between(0)]
    result: str
    metrics: Metrics | None = None
    schema_valid: bool | None = None


@model
class ShardNote(Model):
    """Problems reported beside results. `position` is that of the file; -1 before all files, their number after them.

    `invalid` is true of the problems of a file that could not be run.
    """

    position: Annotated[int, Between(-1)]
    invalid: bool
    problems: list[InvalidSpec]


@model
class ShardRecord(Model):
    """`shard.json`: what a shard writes beside its results.

    `plan` is the same for all shards of a run: digests of everything that its verdicts depend on, by kind. `run_id` is
    the one that the user gave; `total` counts the files found, `files` those of the shard; `deselected` those that no
    shard has, `unread` those of the shard that --lf left out. `written` has the digest of each file about a test.
    """

    schema_version: str = SHARD_SCHEMA_VERSION
    agenteval_version: str
    shard: Annotated[int, Between(1)]
    of: Annotated[int, Between(1)]
    run_id: str
    plan: dict[str, str]
    total: Annotated[int, Between(0)]
    files: Annotated[int, Between(0)]
    deselected: Annotated[int, Between(0)]
    unread: Annotated[int, Between(0)] = 0
    unnamed_tests: Annotated[int, Between(0)] = 0
    deselected_assertions: Annotated[int, Between(0)] = 0
    selection: list[str] = field(default_factory=list)
    leaks: Annotated[int, Between(0)]
    strict: bool = False
    suite: Suite
    tests: list[ShardTest] = field(default_factory=list)
    notes: list[ShardNote] = field(default_factory=list)
    coverage: dict[str, list[str]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.shard > self.of:
            raise WrongPart(f"there is no shard {self.shard} of {self.of}", "shard")


class ShardLog:
    """Makes the record of a shard while it runs. `run_id` is the one that the user gave."""

    def __init__(self, shard: Shard, run_id: str) -> None:
        self.shard = shard
        self.run_id = run_id
        self._position = -1
        self._positions: Sequence[int] = ()
        self._total = 0
        self._plan: dict[str, str] = {}
        self._deselected = 0
        self._unread = 0
        self._notes: list[ShardNote] = []
        self._tests: list[ShardTest] = []
        self._written: dict[str, str] = {}

    def begin(
        self, positions: Sequence[int], total: int, *, plan: dict[str, str], deselected: int, unread: int = 0
    ) -> None:
        """Set the places of the shard's files among all that were found, how many it left out, and what all shards share."""
        self._positions, self._total = positions, total
        self._plan, self._deselected, self._unread = plan, deselected, unread

    def at(self, index: int) -> None:
        """Move to a file of the shard, by its index."""
        self._position = self._positions[index]

    def end(self) -> None:
        """Move past the last file."""
        self._position = self._total

    def note(self, problems: Sequence[InvalidSpec], *, invalid: bool) -> None:
        """Keep problems."""
        if problems:
            self._notes.append(ShardNote(position=self._position, invalid=invalid, problems=list(problems)))

    def test(
        self,
        result: str | None,
        metrics: Metrics | None,
        *,
        schema_valid: bool | None = None,
        files: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        """Keep the name of a result's file, and what its files hold; None is a result that was not written because it would leak."""
        self._written |= {name: sha256(content) for name, content in files}
        if result:
            self._tests.append(
                ShardTest(position=self._position, result=result, metrics=metrics, schema_valid=schema_valid)
            )

    def record(self, **rest: Any) -> ShardRecord:
        """The record; `rest` are its fields that are known at the end of the run."""
        return ShardRecord(
            agenteval_version=__version__,
            shard=self.shard.number,
            of=self.shard.of,
            run_id=self.run_id,
            plan=self._plan,
            total=self._total,
            deselected=self._deselected,
            unread=self._unread,
            files=len(self._positions),
            tests=self._tests,
            notes=self._notes,
            written=self._written,
            **rest,
        )
