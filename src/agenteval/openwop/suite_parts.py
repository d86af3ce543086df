"""A suite with everything that its run needs: tasks, recordings, judge and scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from agenteval.contracts.errors import UsageError
from agenteval.loading.project import OpenProject
from agenteval.openwop.models import AgentEvalSuite, ModelClass
from agenteval.openwop.suite import (
    ADAPTER,
    LIVE,
    Parts,
    Replays,
    SuiteRegistry,
    SuiteRequest,
    load_suite,
    modes_in_force,
    tasks_in,
)
from agenteval.openwop.summary import Suite
from agenteval.openwop.tasks import SuiteRun, SuiteScores
from agenteval.reading.documents import refuse_link_out

REPLAYS = "replays"
"""The folder of recordings beside a suite, when no other is named."""


def suite_parts(path: Path, request: SuiteRequest, project: OpenProject, *, allow_outside: bool) -> Parts:
    """Load the suite and everything that its run needs. Raises `SpecError` for what the suite does not allow."""
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
    registry = project.registry
    if not request.live:
        registry = SuiteRegistry(project.root, project.config.plugins, replays, suite.tasks, project.rules)
    return Parts(
        tests=lambda: run.tests(registry),
        scores=SuiteScores(scored),
        registry=registry,
        left_out=[task.taskId for task in suite.tasks if task not in tasks],
        words=request.words(),
        shadow=LIVE in modes,
    )


def _check_model_class(name: str) -> None:
    known = get_args(ModelClass)
    if name and name not in known:
        raise UsageError(f"--model-class {name}: expected one of {', '.join(known)}")


def _replays(path: Path, request: SuiteRequest, project: OpenProject, *, allow_outside: bool) -> Replays:
    folder = request.replays or path.parent / REPLAYS
    refuse_link_out(folder)
    if not folder.is_dir() and not request.live:
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
        adapter="command" if request.live and project.config.live.command.run else ADAPTER,
        live=bool(request.live),
    )


def _scored(suite: AgentEvalSuite, request: SuiteRequest, modes: Sequence[str]) -> Suite:
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
