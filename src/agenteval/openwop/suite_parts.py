"""The options of a suite's run, and the parts that it needs: tasks, recordings, judge and scores.

Runs of tests import this too, so the modules that only a suite needs are imported once there is one.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import get_args

from agenteval.contracts.errors import SpecError, UsageError
from agenteval.loading.project import OpenProject
from agenteval.loading.testfile import LoadedTest
from agenteval.openwop.summary import Suite
from agenteval.reading.documents import refuse_link_out

REPLAYS = "replays"
"""The folder of recordings beside a suite, when no other is named."""
LIVE = "live-shadow"


class SuiteRequest:
    """The options of `agenteval run` for a suite; empty or None where they are not given.

    `replays` is the folder of recordings, `modes` are names with commas between. `baseline` is the option that asks
    for a comparison, and `live` the way in which the agent is run again.
    """

    def __init__(
        self,
        *,
        replays: Path | None = None,
        modes: str = "",
        agent_id: str = "",
        model_class: str = "",
        judge: str = "",
        pass_score: float | None = None,
        baseline: str = "",
        live: str = "",
    ) -> None:
        self.replays = replays
        self.modes = modes
        self.mode_names = [mode.strip() for mode in modes.split(",") if mode.strip()]
        self.agent_id = agent_id
        self.model_class = model_class
        self.judge = judge
        self.pass_score = pass_score
        self.baseline = baseline
        self.live = live

    def given(self) -> dict[str, Path | str]:
        """The given options that only mean something for a suite, with their values."""
        named = {
            "--replays": self.replays,
            "--modes": self.modes,
            "--agent-id": self.agent_id,
            "--model-class": self.model_class,
            "--judge": self.judge,
        }
        return {option: value for option, value in named.items() if value}


class Parts:
    """The parts of a suite that a run uses; of a run without a suite, the id and thresholds of the configuration.

    Of a suite, `tests` are its tasks, `left_out` the tasks of other modes, and `words` the options for a command line
    that runs it again. `shadow` is true in the mode `live-shadow`.
    """

    def __init__(
        self,
        suite: Suite,
        tests: Callable[[], Iterator[LoadedTest | SpecError]] | None = None,
        left_out: Sequence[str] = (),
        words: str | None = None,
        *,
        shadow: bool = False,
    ) -> None:
        self.suite = suite
        self.tests = tests
        self.left_out = left_out
        self.words = words
        self.shadow = shadow


def suite_parts(path: Path, request: SuiteRequest, project: OpenProject, *, allow_outside: bool) -> Parts:
    """Load the suite and everything that its run needs. Raises `SpecError` for options that the suite does not allow."""
    from agenteval.openwop.models import ModelClass, Thresholds
    from agenteval.openwop.suite import allowed, load_suite
    from agenteval.openwop.tasks import SuiteRun

    suite = load_suite(path, max_bytes=project.config.limits.max_file_bytes)
    known = get_args(ModelClass)
    if request.model_class and request.model_class not in known:
        raise UsageError(f"--model-class {request.model_class}: expected one of {', '.join(known)}")
    if request.modes and not request.mode_names:
        raise UsageError(f"--modes {request.modes}: expected names of modes, with commas between")
    tasks, modes = allowed(suite, path, request)
    folder = request.replays or path.parent / REPLAYS
    refuse_link_out(folder)
    if not folder.is_dir() and not request.live:
        raise UsageError(
            f"no recordings in {folder}: there is no such folder",
            reason_code="suite.no_replays",
            next_step="name the folder that holds <taskId>/replay.json: --replays DIR",
        )
    bars = suite.thresholds or Thresholds()
    bar = bars.passScore if request.pass_score is None else request.pass_score
    run = SuiteRun(
        suite=suite,
        path=path,
        tasks=tasks,
        modes=modes,
        pass_score=1.0 if bar is None else bar,
        project=project,
        folder=folder,
        allow_outside=allow_outside,
        live=bool(request.live),
    )
    if request.judge:
        from agenteval.openwop.judges import find_judge

        run.judge = find_judge(request.judge, run)
    scored = Suite(
        id=suite.suiteId,
        version=suite.version,
        pass_score=bar,
        max_cost_usd=bars.maxCostUsd,
        max_p95_latency_ms=bars.maxP95LatencyMs,
        modes=modes,
        model_class=request.model_class or None,
    )
    named = request.given() | ({"--live": request.live} if request.live else {})
    return Parts(
        scored,
        run.tests,
        [task.taskId for task in suite.tasks if task not in tasks],
        "".join(f" {option} {quote(str(value))}" for option, value in named.items()),
        shadow=LIVE in modes,
    )
