"""An AgentEvalSuite: loads its file, refuses options that it does not allow, and makes a suite of tests."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AgentEvalError, FileError, SpecError
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.loading.discovery import TEST_FILE
from agenteval.loading.testfile import BoundAssertion, LoadedTest
from agenteval.openwop.models import AgentEvalSuite, Task
from agenteval.openwop.suite_parts import LIVE, SuiteRequest
from agenteval.openwop.summary import REGRESSION, TASK_ID, task_id
from agenteval.plugins.registry import Registry
from agenteval.reading.documents import checking, read_text
from agenteval.reading.jsonsource import load_model, parse_json, places
from agenteval.reading.places import Fault, problems_at
from agenteval.redaction.redactor import RedactionRules, Redactor
from agenteval.text.names import closest

_MARK = re.compile(r'"suiteId"\s*:')


def is_suite(path: Path) -> bool:
    """Return whether a file is meant to be an AgentEvalSuite: JSON with the keys of a suite, valid or not."""
    if path.suffix != ".json":
        return False
    try:
        text = read_text(path)
        data = parse_json(text, path)
    except FileError as error:
        # A suite with a comma too many is still meant as one: its error should not be "not a test file".
        return error.reason_code.startswith("json.") and _MARK.search(text) is not None
    return isinstance(data, dict) and ("suiteId" in data or ("tasks" in data and "assertions" not in data))


def load_suite(path: Path, *, max_bytes: int) -> AgentEvalSuite:
    """Load the suite in a file.

    Raises `SpecError` with every fault: those of `documents.checking` and `jsonsource.load_model`, and
    `suite.golden_without_match`, `suite.rubric_without_criteria`, `suite.duplicate_task_id`.
    """
    try:
        with checking(path):
            suite = load_model(AgentEvalSuite, path, max_bytes=max_bytes)
    except FileError as error:
        raise SpecError(error.problems) from None
    _refuse(path, _wrong_tasks(suite.tasks))
    return suite


def allowed(suite: AgentEvalSuite, path: Path, request: SuiteRequest) -> tuple[list[Task], list[str]]:
    """Return the tasks and the modes of a run: the modes asked for, else all of the suite, and the tasks of these.

    The modes `golden` and `rubric` select the tasks of that kind; `regression` comes with a baseline.
    Raises `SpecError` with all that the suite does not allow: `suite.mode_not_declared`,
    `suite.live_unsupported`, `suite.no_baseline`, `suite.agent_mismatch`, `suite.model_not_allowed`, `suite.no_task`,
    `suite.no_judge`.
    """
    modes = list(dict.fromkeys(request.mode_names or suite.modes))
    _refuse(path, _not_allowed(suite, modes, request))
    kinds = {"golden", "rubric"}.intersection(request.mode_names)
    tasks = [task for task in suite.tasks if not kinds or task.expected.kind in kinds]
    _refuse(path, _unjudgeable(suite, tasks, request))
    return tasks, [mode for mode in modes if mode != REGRESSION] or modes


def _refuse(path: Path, faults: Iterable[Fault]) -> None:
    if found := list(faults):
        raise SpecError(problems_at(found, text=read_text(path), places=places, path=path))


def _wrong_tasks(tasks: Sequence[Task]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for index, task in enumerate(tasks):
        kind, expected = task.expected.kind, task.expected
        code, lacks = "suite.golden_without_match", "match: {strategy, value}"
        if kind == "rubric":
            code, lacks = "suite.rubric_without_criteria", "rubric: [{criterion, weight}]"
        if (expected.match if kind == "golden" else expected.rubric) is None:
            message = f"the {kind} task {task.taskId!r} does not say what it expects: it needs {lacks}"
            yield Fault(code, message, ("tasks", index, "expected"))
        if (before := first.setdefault(task.taskId, index)) != index:
            yield Fault(
                "suite.duplicate_task_id",
                f"two tasks have the id {task.taskId!r}: the first is /tasks/{before}",
                ("tasks", index, "taskId"),
                next_step="give one of the two another id: results are stored by id",
            )


def _not_allowed(suite: AgentEvalSuite, modes: Sequence[str], request: SuiteRequest) -> Iterator[Fault]:
    compared = [REGRESSION] if request.baseline and REGRESSION not in modes else []
    for mode in [*modes, *compared]:
        if mode not in suite.modes:
            # `--baseline` asks for the mode `regression` without naming it, so the message names the option.
            who = (
                "--modes asks for" if mode in request.mode_names else f"{request.baseline} asks for the mode"
            )
            yield Fault(
                "suite.mode_not_declared",
                f"{who} {mode!r}, which the suite does not declare",
                ("modes",),
                suggestion=closest(mode, suite.modes),
                allowed=suite.modes,
                next_step="ask for modes of the suite, or declare it there",
            )
    # Real tools have real effects: a live-shadow run is never a by-product of another mode.
    alone = {LIVE, REGRESSION}.issuperset(modes)
    if LIVE in modes and LIVE in suite.modes and not (request.live == "real" and alone):
        yield Fault(
            "suite.live_unsupported",
            f"{LIVE} runs the agent with its real model and its real tools, and is run alone",
            ("modes", suite.modes.index(LIVE)),
            next_step=f"run it: --modes {LIVE} --live real; or name the other modes with --modes",
        )
    if REGRESSION in request.mode_names and not request.baseline:
        yield Fault(
            "suite.no_baseline",
            "--modes asks for 'regression', but there is no run to compare with",
            ("modes",),
            next_step="name the earlier run: --baseline artifacts/RUN",
        )
    if request.agent_id and suite.targetAgentId not in (None, request.agent_id):
        yield Fault(
            "suite.agent_mismatch",
            f"the suite is for the agent {suite.targetAgentId!r}, not for {request.agent_id!r}",
            ("targetAgentId",),
            next_step="run the suite for that agent, or leave --agent-id out",
        )
    models = suite.allowedModels
    if request.model_class and models is not None and request.model_class not in models:
        yield Fault(
            "suite.model_not_allowed",
            f"the suite is not valid for the model class {request.model_class!r}",
            ("allowedModels",),
            allowed=models,
            next_step="evaluate a model of an allowed class",
        )


def _unjudgeable(suite: AgentEvalSuite, tasks: Sequence[Task], request: SuiteRequest) -> Iterator[Fault]:
    if not tasks:
        message = f"--modes {request.modes}: the suite has no task of that kind"
        yield Fault("suite.no_task", message, ("tasks",), next_step="ask for other modes")
    rubric = next((task for task in tasks if task.expected.kind == "rubric"), None)
    if rubric and not request.judge:
        from agenteval.openwop.judges import HOW

        yield Fault(
            "suite.no_judge",
            f"the task {rubric.taskId!r} has a rubric, but no judge is named",
            ("tasks", suite.tasks.index(rubric), "expected"),
            next_step=f"give {HOW}",
        )


def carried_over(
    test: LoadedTest, name: str, *, registry: Registry, context: AdapterContext, rules: RedactionRules
) -> tuple[dict[str, Any] | None, list[str]]:
    """Turn a test into a task called `name`, or None; return also the parts that a task cannot express, a line each.

    A task has one expectation: the first phrase of the first critical `output_contains` that the output has. Both are
    redacted as the test asks.
    """
    case, redactor = test.case, test.redactor(rules)
    try:
        trace = registry.find_adapter(case.adapter).trace(case, context)
    except AgentEvalError as error:
        return None, [f"the recording cannot be read: {redactor.redacted(error.message.splitlines()[0])}"]
    redactor.learn(trace.events)
    found = _golden_phrase(test.checks, trace, redactor)
    if found is None:
        what = "no critical output_contains has a first phrase of all_of, or an only one of any_of, that the output has as written"
        return None, [f"{what}, and of which nothing is redacted"]
    source, phrase = found
    asked = [{"role": each.role, "content": each.content} for each in case.scenario.input_messages]
    only = len(asked) == 1 and asked[0]["role"] == "user"
    task = {
        "taskId": name,
        "input": asked[0]["content"] if only else {"messages": asked},
        "expected": {"kind": "golden", "match": {"strategy": "contains", "value": phrase}},
        "fixtures": _fixtures_of(trace, case),
    }
    lost = [f"{bound.spec.id} ({bound.spec.type})" for bound in test.checks if bound is not source]
    check: Any = source.check
    if len(check.all_of) > 1 or check.regex or (check.all_of and check.any_of):
        lost.append(f"{source.spec.id}: all but its first phrase")
    if not check.case_sensitive:
        lost.append(f"{source.spec.id}: ignoring case; a golden output is compared as it is written")
    return redactor.data(task), list(map(redactor.name, lost))


def _golden_phrase(
    checks: Sequence[BoundAssertion], trace: Trace, redactor: Redactor
) -> tuple[BoundAssertion, str] | None:
    """Find the first critical `output_contains` with a phrase that can be a golden output, and the phrase."""
    for bound in checks:
        check: Any = bound.check
        if bound.spec.severity != "critical" or check.type != "output_contains":
            continue
        # Of several phrases in `any_of` one is enough, which a golden output cannot express.
        phrases = check.all_of or (check.any_of if len(check.any_of) == 1 else None)
        # The suite is written redacted: a phrase that redaction changes would match no output.
        if phrases and phrases[0] in trace.output and redactor.redacted(phrases[0]) == phrases[0]:
            return bound, phrases[0]
    return None


def _fixtures_of(trace: Trace, case: TestCase) -> dict[str, Any]:
    results = [event.data for event in trace.of_type("tool_result")]
    fixtures: dict[str, Any] = {
        "toolResponses": [{"tool": each["tool"], "response": each.get("result")} for each in results]
    }
    memory = case.scenario.memory_snapshot
    if memory is not None:
        entries = memory if isinstance(memory, list) else [memory]
        fixtures["memorySeed"] = [each if isinstance(each, dict) else {"content": each} for each in entries]
    return fixtures


def task_names(tests: Sequence[LoadedTest], folder: Path | None) -> list[str]:
    """Return the task ids of tests: the names of their folders, where these hold the recordings; else made of their ids.

    `folder` is the directory of all tests. When each has its own folder directly in it, it can serve as `--replays`.
    """
    names = [test.path.parent.name for test in tests]
    beside = all(test.path.name == TEST_FILE and test.path.parent.parent == folder for test in tests)
    if beside and all(map(TASK_ID.fullmatch, names)):
        return names
    return [task_id(test.case.id) for test in tests]
