"""Which of the files found belong to a run, and in which order: --lf, --ff, --shard."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenteval.cli.examining import Examiner
from agenteval.cli.flow import Flow
from agenteval.cli.lastrun import keys, recall
from agenteval.digests import sha256
from agenteval.discovery import Found, Selected
from agenteval.errors import Problem, SpecError
from agenteval.plurals import counted
from agenteval.redaction import Redactor
from agenteval.runner import RunOptions
from agenteval.sharding import Inputs, Shard, code_of, divided


@dataclass(slots=True, kw_only=True)
class Arrangement:
    """The files of a run in their order. `positions` are their places among the `total` files that were found.

    `deselected` counts files that no shard has; `unread` those that --lf left out, of a shard its own; `plan` is equal for
    all shards of a run; `said` are lines to print, `problems` warnings about the division.
    """

    found: list[Found]
    positions: list[int]
    total: int
    deselected: int = 0
    unread: int = 0
    wanted: int = 0
    """How many tests all shards have together, as far as is known before loading."""
    plan: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def arranged(found: Iterable[Found], flow: Flow, *, examiner: Examiner, settings: Any) -> Arrangement:
    """The files that the options ask for. `settings` is plain data: everything else that results depend on.

    What failed is asked for within a shard: the shards that run first change what is on record, and never how the tests
    are divided.
    """
    all_found = list(found)
    made = Arrangement(found=all_found, positions=list(range(len(all_found))), total=len(all_found))
    if flow.shard:
        settings = [settings, flow.last_failed, flow.failed_first]
        _shard(made, flow.shard, flow.durations_from, examiner=examiner, settings=settings)
    if made.found and (flow.last_failed or flow.failed_first):
        _failed(made, examiner.options, only=flow.last_failed)
    return made


def _failed(made: Arrangement, options: RunOptions, *, only: bool) -> None:
    """Keep only, or put first, the tests that failed last time. The cache knows them by their redacted paths."""
    key, failed = keys(options.root), recall(options.root).failed
    redactor = Redactor(rules=options.redaction)
    option = "--lf" if only else "--ff"
    wanted = {
        index
        for index, each in enumerate(made.found)
        if isinstance(each, Selected) and key(redactor.unseen(str(each.path))) in failed
    }
    if not wanted:
        remembered = (
            f"{counted(len(failed), 'test')} failed last time, but none of them is here"
            if failed
            else "no failed test is on record"
        )
        made.said.append(f"{option}: {remembered}; running all tests")
        return
    made.said.append(f"{option}: {counted(len(wanted), 'test')} failed last time")
    first = [index for index, each in enumerate(made.found) if index in wanted or isinstance(each, SpecError)]
    rest = sorted(set(range(len(made.found))).difference(first))
    if only:
        made.unread = len(rest)
        rest = []
    _keep(made, [*first, *rest])


def _keep(made: Arrangement, indexes: Sequence[int]) -> None:
    made.found = [made.found[index] for index in indexes]
    made.positions = [made.positions[index] for index in indexes]


def _shard(
    made: Arrangement,
    shard: Shard,
    durations_from: Path | None,
    *,
    examiner: Examiner,
    settings: Any,
) -> None:
    """Keep only the tests of one shard. Only selected tests are divided, so that no shard is empty without need."""
    root = examiner.options.root
    key = keys(root)
    if examiner.selection.everything:
        made.wanted = sum(isinstance(each, Selected) for each in made.found)
    else:
        _keep(made, [index for index, each in enumerate(made.found) if _is_wanted(each, made, examiner)])
    names = [key(str(each.path)) if isinstance(each, Selected) else "" for each in made.found]
    known = _durations_of(durations_from, key) if durations_from else recall(root).duration_ms
    durations = [known.get(name) if name else 0.0 for name in names]
    if durations_from and not any(durations):
        made.said.append(f"{durations_from}: has none of these tests; shards get equal numbers of tests")
    shards = divided(durations, shard.of)
    made.plan = _plan(made, names, shards, examiner=examiner, settings=settings)
    _keep(made, [index for index, number in enumerate(shards) if number == shard.number])
    if shards and shard.number not in shards:
        made.problems.append(_empty(shard))
    made.said.append(f"shard {shard.number}/{shard.of}: {len(made.found)} of {counted(len(shards), 'test')}")


def _empty(shard: Shard) -> Problem:
    return Problem(
        reason_code="select.empty_shard",
        message=f"shard {shard.number}/{shard.of} is empty: there are fewer tests than shards",
        next_step=f"use fewer than {shard.of} shards",
    )


def _is_wanted(found: Found, made: Arrangement, examiner: Examiner) -> bool:
    """Whether a test is selected; a file with errors counts as one."""
    if isinstance(found, SpecError):
        return True
    candidate = examiner.look(found)
    if candidate.errors:
        return True
    examiner.selection.note(candidate.choice)
    made.wanted += candidate.choice.wanted
    made.deselected += not candidate.choice.wanted
    return candidate.choice.wanted


def _durations_of(run: Path, key: Callable[[str], str]) -> dict[str, float]:
    """How long each test took in another run, by its file."""
    from agenteval.stored import StoredRun

    summary = StoredRun(run).summary
    return {key(row.path): row.duration_ms for row in summary.tests}


def _plan(
    made: Arrangement, names: Sequence[str], shards: Sequence[int], *, examiner: Examiner, settings: Any
) -> dict[str, str]:
    """The digests of all that the verdicts of a run depend on: shards in which any differs are not of one run."""
    options = examiner.options
    inputs = Inputs(options.root, options.registry, anywhere=options.allow_outside)
    tests = [
        [position, name, sorted(each.only or ()), inputs.add(each.path)]
        if isinstance(each, Selected)
        else position
        for position, name, each in zip(made.positions, names, made.found, strict=True)
    ]
    planned = {
        "tests": tests,
        "recordings": inputs.digests,
        "settings": settings,
        "plugins": code_of(options.root, options.registry),
        "division": list(shards),
    }
    return {kind: _digest(data) for kind, data in planned.items()}


def _digest(data: Any) -> str:
    import json

    return sha256(json.dumps(data, sort_keys=True).encode())
