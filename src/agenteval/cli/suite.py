"""`agenteval suite new PATH...`: prints tests as an AgentEvalSuite; what cannot be carried over goes to stderr."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from agenteval.cli.options import FROM_CONFIGURATION, AllowOutsideOption, PathsArgument, argument
from agenteval.contracts.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agenteval.loading.config import Config
    from agenteval.openwop.authoring import Carried
    from agenteval.reporters.terminal import Terminal


def command(
    action: Annotated[str, argument("new", "Make a suite.")],
    paths: PathsArgument = FROM_CONFIGURATION,
    allow_outside: AllowOutsideOption = False,
) -> ExitCode:
    """Make an OpenWOP AgentEvalSuite from tests: golden outputs, tool responses and memory, as far as the format allows.

    The suite goes to stdout, what it leaves out to stderr. Exit codes: 0 a suite was made, 3 no test could be carried over, or a file is invalid.
    """
    if action != "new":
        raise UsageError(
            f"agenteval suite {action}: the only action is new", next_step="agenteval suite new PATH"
        )
    from agenteval.cli.loaded import collect
    from agenteval.loading.project import open_project
    from agenteval.openwop.authoring import carried_over, task_names
    from agenteval.reporters.console import Console
    from agenteval.reporters.terminal import write_json

    project = open_project(paths)
    paths = project.paths(paths, "suite")
    console = Console(sys.stderr)
    collection = collect(paths, project)
    for problem in collection.problems:
        console.problem(problem)
    folder = Path(paths[0]) if len(paths) == 1 and Path(paths[0]).is_dir() else None
    carried = []
    for test, name in zip(collection.tests, task_names(collection.tests, folder), strict=True):
        context = project.context_of(test.path, "suite", allow_outside=allow_outside)
        with redirect_stdout(sys.stderr):  # a plugin may print
            carried.append(
                carried_over(test, name, registry=project.registry, context=context, rules=project.rules)
            )
    tasks = [each.task for each in carried if each.task]
    if tasks:
        write_json(sys.stdout, _suite(project.config, tasks, folder))
    _tell(console, carried)
    return ExitCode.PASSED if tasks and not collection.errors else ExitCode.INVALID


def _suite(config: "Config", tasks: list[dict[str, Any]], folder: Path | None) -> dict[str, Any]:
    from agenteval.openwop.summary import default_suite_id

    settings = config.suite
    bars = {
        "passScore": settings.pass_score,
        "maxCostUsd": settings.max_cost_usd,
        "maxP95LatencyMs": None if settings.max_p95_latency_ms is None else int(settings.max_p95_latency_ms),
    }
    thresholds = {name: bar for name, bar in bars.items() if bar is not None}
    return {
        "suiteId": settings.id or default_suite_id((folder or Path.cwd()).resolve().name),
        "version": settings.version,
        "modes": ["golden", "regression"],
        **({"thresholds": thresholds} if thresholds else {}),
        "tasks": tasks,
    }


def _tell(terminal: "Terminal", carried: "Sequence[Carried]") -> None:
    from agenteval.text.fitting import counted

    made = sum(each.task is not None for each in carried)
    terminal.emit(f"{made} of {counted(len(carried), 'test')} carried over")
    for each in carried:
        terminal.emit(("left out  " if each.task is None else "in part   ") + each.test_id)
        for line in each.lost:
            terminal.emit(f"  {line}")
    terminal.flush()
