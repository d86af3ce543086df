"""Loads an AgentEvalSuite, and checks what a run asks of it (RFC 0081, sections A, B and D)."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from agenteval.errors import FileError, SpecError
from agenteval.misspelling import closest
from agenteval.openwop.models import AgentEvalSuite, Task
from agenteval.openwop.request import SuiteRequest
from agenteval.openwop.summary import REGRESSION
from agenteval.reading.documents import checking, read_text
from agenteval.reading.faults import Fault, problems_at
from agenteval.reading.jsonsource import load_model, parse_json, places

LIVE = "live-shadow"
_MARK = re.compile(r'"suiteId"\s*:')


def is_suite(path: Path) -> bool:
    """Whether a file is meant to be an AgentEvalSuite: JSON that has a suite's keys, valid or not."""
    if path.suffix != ".json":
        return False
    try:
        text = read_text(path)
        data = parse_json(text, path)
    except FileError as error:
        return error.reason_code.startswith("json.") and _MARK.search(text) is not None
    return isinstance(data, dict) and ("suiteId" in data or ("tasks" in data and "assertions" not in data))


def load_suite(path: Path, *, max_bytes: int) -> AgentEvalSuite:
    """The suite in a file.

    Raises `SpecError` with everything that is wrong: what `documents.checking` and `jsonsource.load_model` raise, and
    `suite.golden_without_match`, `suite.rubric_without_criteria`, `suite.duplicate_task_id`.
    """
    try:
        with checking(path):
            suite = load_model(AgentEvalSuite, path, max_bytes=max_bytes)
    except FileError as error:
        raise SpecError(error.problems) from None
    _refuse(path, [*_without_expectation(suite.tasks), *_duplicates(suite.tasks)])
    return suite


def modes_in_force(suite: AgentEvalSuite, path: Path, request: SuiteRequest) -> list[str]:
    """The modes of a run: those that are asked for, else all of the suite. `regression` comes with a baseline.

    Raises `SpecError` with everything that the suite does not allow: `suite.mode_not_declared`,
    `suite.live_unsupported`, `suite.no_baseline`, `suite.agent_mismatch`, `suite.model_not_allowed`, `suite.no_task`,
    `suite.no_judge`.
    """
    modes = list(dict.fromkeys(request.mode_names or suite.modes))
    faults = [
        *_wrong_modes(suite, modes, request),
        *_wrong_agent(suite, request),
        *_wrong_model(suite, request),
    ]
    _refuse(path, faults)
    tasks = tasks_in(suite, request)
    _refuse(path, [*_without_task(tasks, modes), *_without_judge(suite, tasks, request)])
    return [mode for mode in modes if mode != REGRESSION] or modes


def tasks_in(suite: AgentEvalSuite, request: SuiteRequest) -> list[Task]:
    """The tasks of a run: where `golden` or `rubric` is asked for, those of that kind; else all."""
    kinds = {"golden", "rubric"}.intersection(request.mode_names)
    return [task for task in suite.tasks if not kinds or task.expected.kind in kinds]


def _refuse(path: Path, faults: Sequence[Fault]) -> None:
    if faults:
        raise SpecError(problems_at(faults, text=read_text(path), places=places, path=path))


def _without_expectation(tasks: Sequence[Task]) -> Iterator[Fault]:
    for index, task in enumerate(tasks):
        expected = task.expected
        if expected.kind == "golden" and expected.match is None:
            code, lacks = "suite.golden_without_match", "match: {strategy, value}"
        elif expected.kind == "rubric" and expected.rubric is None:
            code, lacks = "suite.rubric_without_criteria", "rubric: [{criterion, weight}]"
        else:
            continue
        message = f"the {expected.kind} task {task.taskId!r} does not say what it expects: it needs {lacks}"
        yield Fault(code=code, message=message, data_path=("tasks", index, "expected"))


def _duplicates(tasks: Sequence[Task]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for index, task in enumerate(tasks):
        if first.setdefault(task.taskId, index) != index:
            yield Fault(
                code="suite.duplicate_task_id",
                message=f"two tasks have the id {task.taskId!r}: the first is /tasks/{first[task.taskId]}",
                data_path=("tasks", index, "taskId"),
                next_step="give one of the two another id: results are stored by id",
            )


def _wrong_modes(suite: AgentEvalSuite, modes: Sequence[str], request: SuiteRequest) -> Iterator[Fault]:
    compared = [REGRESSION] if request.baseline and REGRESSION not in modes else []
    for mode in [*modes, *compared]:
        if mode not in suite.modes:
            asked = (
                "--modes asks for" if mode in request.mode_names else f"{request.baseline} asks for the mode"
            )
            yield Fault(
                code="suite.mode_not_declared",
                message=f"{asked} {mode!r}, which the suite does not declare",
                data_path=("modes",),
                suggestion=closest(mode, suite.modes),
                allowed=suite.modes,
                next_step="ask for modes of the suite, or declare it there",
            )
    if LIVE in modes and LIVE in suite.modes:
        impossible = (LIVE,) if request.baseline else (LIVE, REGRESSION)
        others = [mode for mode in suite.modes if mode not in impossible]
        yield Fault(
            code="suite.live_unsupported",
            message=f"{LIVE} needs an adapter that runs agents live, but there is none",
            data_path=("modes", suite.modes.index(LIVE)),
            next_step=f"run the other modes: --modes {','.join(others)}"
            if others
            else "declare another mode",
        )
    if REGRESSION in request.mode_names and not request.baseline:
        yield Fault(
            code="suite.no_baseline",
            message="--modes asks for 'regression', but there is no run to compare with",
            data_path=("modes",),
            next_step="name the earlier run: --baseline artifacts/RUN",
        )


def _wrong_agent(suite: AgentEvalSuite, request: SuiteRequest) -> Iterator[Fault]:
    if request.agent_id and suite.targetAgentId not in (None, request.agent_id):
        yield Fault(
            code="suite.agent_mismatch",
            message=f"the suite is for the agent {suite.targetAgentId!r}, not for {request.agent_id!r}",
            data_path=("targetAgentId",),
            next_step="run the suite for that agent, or leave --agent-id out",
        )


def _wrong_model(suite: AgentEvalSuite, request: SuiteRequest) -> Iterator[Fault]:
    if (
        request.model_class
        and suite.allowedModels is not None
        and request.model_class not in suite.allowedModels
    ):
        yield Fault(
            code="suite.model_not_allowed",
            message=f"the suite is not valid for the model class {request.model_class!r}",
            data_path=("allowedModels",),
            allowed=suite.allowedModels,
            next_step="evaluate a model of an allowed class",
        )


def _without_task(tasks: Sequence[Task], modes: Sequence[str]) -> Iterator[Fault]:
    if not tasks:
        yield Fault(
            code="suite.no_task",
            message=f"--modes {','.join(modes)}: the suite has no task of that kind",
            data_path=("tasks",),
            next_step="ask for other modes",
        )


def _without_judge(suite: AgentEvalSuite, tasks: Sequence[Task], request: SuiteRequest) -> Iterator[Fault]:
    judged = [task for task in tasks if task.expected.kind == "rubric"]
    if request.judge or not judged:
        return
    from agenteval.openwop.judges import HOW

    others = f"{len(judged)} tasks have" if len(judged) > 1 else f"the task {judged[0].taskId!r} has"
    yield Fault(
        code="suite.no_judge",
        message=f"{others} a rubric, but no judge is named",
        data_path=("tasks", suite.tasks.index(judged[0]), "expected"),
        next_step=f"give {HOW}",
    )
