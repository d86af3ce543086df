"""What `agenteval run suite.json` does before its tasks run as tests: loads the suite, and refuses what it forbids."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from agenteval.cli.project import OpenProject
from agenteval.errors import SpecError, UsageError
from agenteval.openwop.request import SuiteRequest
from agenteval.openwop.summary import Scores, Suite
from agenteval.reading.documents import refuse_link_out

if TYPE_CHECKING:
    from agenteval.loading import LoadedTest
    from agenteval.openwop.models import AgentEvalSuite
    from agenteval.openwop.replays import Replays
    from agenteval.plugins.registry import Registry

REPLAYS = "replays"
"""The folder of recordings beside a suite, when no other is named."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Parts:
    """What a run takes from a suite, or from the configuration when there is none: scores and registry.

    Of a suite, `tests` are its tasks, `left_out` those of modes that are not asked for, and `words` the options for a
    command line that runs it again.
    """

    scores: Scores
    registry: "Registry"
    tests: "Callable[[], Iterator[LoadedTest | SpecError]] | None" = None
    left_out: Sequence[str] = ()
    words: str | None = None


def suite_among(paths: Sequence[str], request: SuiteRequest) -> Path | None:
    """The suite that the paths name, or None for tests.

    Raises `UsageError` for a suite beside other paths, and for options of suites without a suite.
    """
    candidates = [path for path in paths if path.partition("::")[0].endswith(".json")]
    if candidates:
        from agenteval.openwop.suite import is_suite

        for path in candidates:
            file, part, _ = path.partition("::")
            if part and is_suite(Path(file)):
                raise UsageError(
                    f"{path}: {file} is a suite, whose tasks have one check each",
                    next_step=f"choose tasks by their names: agenteval run {file} -k TASK",
                )
            if request.replays is not None or is_suite(Path(path)):
                if len(paths) > 1:
                    raise UsageError(
                        f"{path} is a suite, and a suite must be run alone", next_step=f"agenteval run {path}"
                    )
                return Path(path)
    if given := request.given():
        raise UsageError(
            f"{' and '.join(given)}: only for an AgentEvalSuite, and no path is one",
            next_step="name the suite's file: agenteval run suite.json",
        )
    return None


def suite_parts(path: Path, request: SuiteRequest, project: OpenProject, *, allow_outside: bool) -> Parts:
    """Load the suite and everything that its run needs. Raises `SpecError` for what the suite does not allow."""
    from agenteval.openwop.replays import SuiteRegistry
    from agenteval.openwop.suite import load_suite, modes_in_force, tasks_in
    from agenteval.openwop.tasks import SuiteRun, SuiteScores

    suite = load_suite(path, max_bytes=project.config.limits.max_file_bytes)
    _check_model_class(request.model_class)
    if request.modes and not request.mode_names:
        raise UsageError(f"--modes {request.modes}: expected names of modes, with commas between")
    modes = modes_in_force(suite, path, request)
    replays = _replays(path, request, project, allow_outside=allow_outside)
    tasks = tasks_in(suite, request)
    scored = _scored(suite, request, modes)
    judge = None
    if request.judge:
        from agenteval.openwop.judges import find_judge

        judge = find_judge(request.judge, replays)
    run = SuiteRun(
        suite=suite,
        path=path,
        replays=replays,
        tasks=tasks,
        modes=modes,
        pass_score=1.0 if scored.pass_score is None else scored.pass_score,
        judge=judge,
    )
    registry = SuiteRegistry(project.root, project.config.plugins, replays, suite.tasks, project.rules)
    return Parts(
        tests=lambda: run.tests(registry),
        scores=SuiteScores(scored),
        registry=registry,
        left_out=[task.taskId for task in suite.tasks if task not in tasks],
        words=request.words(),
    )


def _check_model_class(name: str) -> None:
    from agenteval.openwop.models import ModelClass

    known = get_args(ModelClass)
    if name and name not in known:
        raise UsageError(f"--model-class {name}: expected one of {', '.join(known)}")


def _replays(path: Path, request: SuiteRequest, project: OpenProject, *, allow_outside: bool) -> "Replays":
    from agenteval.openwop.replays import Replays

    folder = request.replays or path.parent / REPLAYS
    refuse_link_out(folder)
    if not folder.is_dir():
        named = (
            "there is no such folder"
            if request.replays
            else "--replays is not given, and this folder does not exist"
        )
        raise UsageError(
            f"no recordings in {folder}: {named}",
            reason_code="suite.no_replays",
            next_step="name the folder that holds <taskId>/replay.json: --replays DIR",
        )
    inside = folder.resolve().is_relative_to(project.root.resolve())
    return Replays(
        folder=folder,
        root=project.root if inside else folder,  # a folder that is named on the command line may be read
        limits=project.config.limits,
        allow_outside=allow_outside,
    )


def _scored(suite: "AgentEvalSuite", request: SuiteRequest, modes: Sequence[str]) -> Suite:
    bars = suite.thresholds
    pass_score = request.pass_score
    if pass_score is None and bars is not None:
        pass_score = bars.passScore
    return Suite(
        id=suite.suiteId,
        version=suite.version,
        pass_score=pass_score,
        max_cost_usd=bars.maxCostUsd if bars else None,
        max_p95_latency_ms=bars.maxP95LatencyMs if bars else None,
        modes=list(modes),
        model_class=request.model_class or None,
    )
