"""An AgentEvalSuite: what a command line asks of it, its recordings, what it allows; and tests made into one."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

from agenteval.contracts.adapters import REPLAY_FILE, Adapter, AdapterContext, find_adapter
from agenteval.contracts.errors import AdapterError, AgentEvalError, FileError, SpecError
from agenteval.contracts.json_values import differences, equal
from agenteval.contracts.models import plain
from agenteval.contracts.testcase import Message, Scenario, TestCase, Tools
from agenteval.contracts.trace import Event, Trace
from agenteval.loading.config import LimitsConfig
from agenteval.loading.discovery import TEST_FILE
from agenteval.loading.testfile import BoundAssertion, LoadedTest, load_test
from agenteval.openwop.models import AgentEvalSuite, Task, ToolResponse
from agenteval.openwop.summary import REGRESSION, TASK_ID, Scores, task_id
from agenteval.plugins.registry import Registry
from agenteval.reading.documents import checking, is_inside, read_text
from agenteval.reading.jsonsource import load_model, parse_json, places
from agenteval.reading.places import Fault, problems_at
from agenteval.redaction.redactor import RedactionRules, Redactor
from agenteval.text.fitting import counted
from agenteval.text.names import closest


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class SuiteRequest:
    """The options of `agenteval run` for a suite; empty or None where they are not given.

    `replays` is the folder of recordings, `modes` are names with commas between, `baseline` is the option that
    asks for a comparison, and `live` says how the agent is run again.
    """

    replays: Path | None = None
    modes: str = ""
    agent_id: str = ""
    model_class: str = ""
    judge: str = ""
    pass_score: float | None = None
    baseline: str = ""
    live: str = ""

    @property
    def mode_names(self) -> list[str]:
        """The modes one by one."""
        return [mode.strip() for mode in self.modes.split(",") if mode.strip()]

    def given(self) -> list[str]:
        """The given options that only mean something for a suite."""
        return list(self._named())

    def words(self) -> str:
        """The same with their values, quoted for a shell."""
        named = self._named() | ({"--live": self.live} if self.live else {})
        return "".join(f" {option} {quote(str(value))}" for option, value in named.items())

    def _named(self) -> dict[str, Path | str]:
        named: dict[str, Path | str | None] = {
            "--replays": self.replays,
            "--modes": self.modes,
            "--agent-id": self.agent_id,
            "--model-class": self.model_class,
            "--judge": self.judge,
        }
        return {option: value for option, value in named.items() if value}


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Parts:
    """What a run takes from a suite, or from the configuration when there is none: scores and registry.

    Of a suite, `tests` are its tasks, `left_out` those of modes that are not asked for, `words` the options for a
    command line that runs it again, and `shadow` says whether it is run in the mode `live-shadow`.
    """

    scores: Scores
    registry: Registry
    tests: Callable[[], Iterator[LoadedTest | SpecError]] | None = None
    left_out: Sequence[str] = ()
    words: str | None = None
    shadow: bool = False


ADAPTER = "nanoclaw"
UNKNOWN_GROUP = "unknown"
"""The group of a recording that shows none, or cannot be read."""


@dataclass(slots=True, kw_only=True)
class Replays:
    """The folder of all recordings. `root` bounds what may be read, as the project's root does for tests.

    `adapter` is that of tasks without a test file; `live` says that their agent is run again, and none needs a recording.
    """

    folder: Path
    root: Path
    limits: LimitsConfig
    allow_outside: bool = False
    adapter: str = ADAPTER
    live: bool = False

    def recording(self, task: Task, registry: Registry) -> tuple[TestCase, list[BoundAssertion]]:
        """The case of a task, with the assertions of its test file; without one, what its replay shows. Raises `SpecError`."""
        folder = self.folder / task.taskId
        if (folder / TEST_FILE).is_file() and (
            self.allow_outside or is_inside(folder / TEST_FILE, self.root)
        ):
            loaded = load_test(folder / TEST_FILE, limits=self.limits, registry=registry)
            return loaded.case, loaded.checks
        return self._shown(task), []

    def _shown(self, task: Task) -> TestCase:
        """The case that a replay shows; nearly empty for one that cannot be read, of which the run tells the reason."""
        case = self._case(
            task, Scenario(group_id=UNKNOWN_GROUP, trigger="user_message", input_messages=[]), []
        )
        if self.live:
            text = task.input if isinstance(task.input, str) else json.dumps(task.input, ensure_ascii=False)
            case.scenario.input_messages.append(Message(role="user", content=text))
            if not (self.folder / task.taskId / REPLAY_FILE).is_file():
                return replace(case, adapter_input={})
        try:
            # by the adapter itself, not the one of the suite: a stale recording shows a situation too
            trace = find_adapter(self.adapter).trace(case, self.context(task.taskId, run_id="suite"))
        except Exception:  # noqa: BLE001 - whatever it is, the run meets it again and reports it
            return case
        return self._case(task, _situation(task, trace), sorted(trace.tool_counts()))

    def _case(self, task: Task, scenario: Scenario, tools: list[str]) -> TestCase:
        return TestCase(
            schema_version="0.1",
            id=task.taskId,
            title="",
            adapter=self.adapter,
            mode="replay",
            scenario=scenario,
            tools=Tools(available=tools),
            assertions=[],
            adapter_input={"replay_file": REPLAY_FILE},
        )

    def context(self, task_id: str, *, run_id: str) -> AdapterContext:
        """The context in which an adapter reads a task's recording."""
        return AdapterContext(
            base_dir=self.folder / task_id,
            root=self.root,
            run_id=run_id,
            max_file_bytes=self.limits.max_file_bytes,
            allow_outside=self.allow_outside,
        )


def _situation(task: Task, trace: Trace) -> Scenario:
    """The situation that the recording shows. A task's input that is not in it stays, and the adapter warns of it."""
    shown = trace.scenario
    messages: list[Any] = [Message(role=each.role, content=each.content) for each in trace.input_messages]  # type: ignore[arg-type]
    if isinstance(task.input, str) and all(message.content != task.input for message in messages):
        messages = [Message(role="user", content=task.input)]
    return Scenario(
        group_id=shown.group_id or UNKNOWN_GROUP,
        trigger="scheduler" if shown.trigger == "scheduler" else "user_message",
        input_messages=messages,
        session_id=shown.session_id,
        scheduler_context=shown.scheduler_context,
    )


class SuiteRegistry(Registry):
    """A registry whose adapters read the recordings of a suite's tasks, and refuse those that do not fit the suite."""

    def __init__(
        self,
        root: Path,
        modules: Sequence[str],
        replays: Replays,
        tasks: Sequence[Task],
        redaction: RedactionRules,
    ) -> None:
        super().__init__(root, modules)
        self.replays = replays
        self.redaction = redaction
        self.tasks = {task.taskId: task for task in tasks}

    def new_adapter(self, name: str) -> Adapter:
        """The adapter of that name, for tasks. Raises `AdapterError`."""
        return _TaskAdapter(super().new_adapter(name), self)


class _TaskAdapter:
    """An adapter that reads the folder of a task, and checks the recording against the suite's tool responses."""

    def __init__(self, adapter: Adapter, suite: SuiteRegistry) -> None:
        self.adapter = adapter
        self.suite = suite
        self.name = adapter.name
        self.version = adapter.version
        self.supports_live_run = adapter.supports_live_run

    def trace(self, case: TestCase, context: AdapterContext) -> Trace:
        """The trace of a task. Raises `AdapterError`."""
        self._must_be_recorded(case)
        own = self.suite.replays.context(case.id, run_id=context.run_id)
        own.warnings = context.warnings
        trace = self.adapter.trace(case, own)
        redactor = Redactor(case.reporting.redact_fields, self.suite.redaction)
        _check_tool_responses(self.suite.tasks[case.id], trace, context, redactor)
        return trace

    def _must_be_recorded(self, case: TestCase) -> None:
        replays = self.suite.replays.folder
        folder = replays / case.id
        if (folder / TEST_FILE).is_file() or (folder / REPLAY_FILE).is_file():
            return
        near = closest(case.id, [each.name for each in replays.iterdir() if each.is_dir()])
        meant = f"; did you mean the folder {near!r}?" if near and near != case.id else ""
        raise AdapterError(
            f"the task {case.id!r} has no recording: neither {folder / REPLAY_FILE} nor a {TEST_FILE} is there{meant}",
            reason_code="adapter.replay_missing",
            next_step="record the task and put the recording there, or name another folder with --replays",
        )


def _check_tool_responses(task: Task, trace: Trace, context: AdapterContext, redactor: Redactor) -> None:
    """Refuse a recording whose tool results are not those that the suite injects, by tool and in order.

    A tool of the suite is `<scope>:<tool-id>` or the id alone. The suite may hold results redacted, as it does when it
    was made of tests. A response that no call got becomes a warning. Raises `AdapterError` (`adapter.stale_fixture`),
    with every difference.
    """
    responses = task.fixtures.toolResponses if task.fixtures else None
    if responses is None:
        return
    left = list(responses)
    lines: list[str] = []

    def redacted(result: Any) -> Any:
        redactor.learn(trace.events)
        return redactor.data({"response": result})["response"]

    for event in trace.of_type("tool_result"):
        tool, result = str(event.data.get("tool", "")), event.data.get("result")
        response = next((each for each in left if _answers_for(each, tool)), None)
        if response is None:
            lines.append(_unexpected(event, tool, responses))
            continue
        left.remove(response)
        if not equal(response.response, result) and not equal(response.response, redacted(result)):
            found = differences(response.response, result, names=("the suite", "the recording"))
            lines += (f"{event.event_id} {tool}: {line}" for line in found)
    if lines:
        shown = "\n".join(f"    {line}" for line in lines)
        raise AdapterError(
            f"the recording of {task.taskId!r} differs from fixtures.toolResponses of the suite:\n{shown}",
            reason_code="adapter.stale_fixture",
            next_step="record the task again with the suite's responses, or correct the suite",
            inputs=[[each.response for each in responses], [event.data for event in trace.events]],
        )
    for response in left:
        context.warn(f"the suite's response of {response.tool} was never used in the recording")


def _answers_for(response: ToolResponse, tool: str) -> bool:
    """Whether a response stands in for a tool of a trace."""
    return tool in (response.tool, response.tool.rpartition(":")[2])


def _unexpected(event: Event, tool: str, responses: Sequence[ToolResponse]) -> str:
    number = sum(_answers_for(each, tool) for each in responses)
    has = (
        f"has {counted(number, 'response')} for it, and all were used before" if number else "has none for it"
    )
    return f"{event.event_id} {tool}: the recording has a result, the suite {has}"


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
    _refuse(path, _wrong_tasks(suite.tasks))
    return suite


def modes_in_force(suite: AgentEvalSuite, path: Path, request: SuiteRequest) -> list[str]:
    """The modes of a run: those that are asked for, else all of the suite. `regression` comes with a baseline.

    Raises `SpecError` with everything that the suite does not allow: `suite.mode_not_declared`,
    `suite.live_unsupported`, `suite.no_baseline`, `suite.agent_mismatch`, `suite.model_not_allowed`, `suite.no_task`,
    `suite.no_judge`.
    """
    modes = list(dict.fromkeys(request.mode_names or suite.modes))
    _refuse(path, [*_wrong_modes(suite, modes, request), *_wrong_agent(suite, request)])
    _refuse(path, _unjudgeable(suite, modes, request))
    return [mode for mode in modes if mode != REGRESSION] or modes


def tasks_in(suite: AgentEvalSuite, request: SuiteRequest) -> list[Task]:
    """The tasks of a run: where `golden` or `rubric` is asked for, those of that kind; else all."""
    kinds = {"golden", "rubric"}.intersection(request.mode_names)
    return [task for task in suite.tasks if not kinds or task.expected.kind in kinds]


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


def _wrong_modes(suite: AgentEvalSuite, modes: Sequence[str], request: SuiteRequest) -> Iterator[Fault]:
    compared = [REGRESSION] if request.baseline and REGRESSION not in modes else []
    for mode in [*modes, *compared]:
        if mode not in suite.modes:
            asked = request.mode_names
            who = "--modes asks for" if mode in asked else f"{request.baseline} asks for the mode"
            yield Fault(
                "suite.mode_not_declared",
                f"{who} {mode!r}, which the suite does not declare",
                ("modes",),
                suggestion=closest(mode, suite.modes),
                allowed=suite.modes,
                next_step="ask for modes of the suite, or declare it there",
            )
    alone = all(mode in (LIVE, REGRESSION) for mode in modes)
    if LIVE in modes and LIVE in suite.modes and not (request.live == "real" and alone):
        impossible = (LIVE,) if request.baseline else (LIVE, REGRESSION)
        others = ",".join(mode for mode in suite.modes if mode not in impossible)
        yield Fault(
            "suite.live_unsupported",
            f"{LIVE} runs the agent with its real model and its real tools, and is run alone",
            ("modes", suite.modes.index(LIVE)),
            next_step=f"run it: --modes {LIVE} --live real"
            + (f"; or the other modes: --modes {others}" if others else ""),
        )
    if REGRESSION in request.mode_names and not request.baseline:
        yield Fault(
            "suite.no_baseline",
            "--modes asks for 'regression', but there is no run to compare with",
            ("modes",),
            next_step="name the earlier run: --baseline artifacts/RUN",
        )


def _wrong_agent(suite: AgentEvalSuite, request: SuiteRequest) -> Iterator[Fault]:
    if request.agent_id and suite.targetAgentId not in (None, request.agent_id):
        yield Fault(
            "suite.agent_mismatch",
            f"the suite is for the agent {suite.targetAgentId!r}, not for {request.agent_id!r}",
            ("targetAgentId",),
            next_step="run the suite for that agent, or leave --agent-id out",
        )
    allowed = suite.allowedModels
    if request.model_class and allowed is not None and request.model_class not in allowed:
        yield Fault(
            "suite.model_not_allowed",
            f"the suite is not valid for the model class {request.model_class!r}",
            ("allowedModels",),
            allowed=allowed,
            next_step="evaluate a model of an allowed class",
        )


def _unjudgeable(suite: AgentEvalSuite, modes: Sequence[str], request: SuiteRequest) -> Iterator[Fault]:
    tasks = tasks_in(suite, request)
    if not tasks:
        message = f"--modes {','.join(modes)}: the suite has no task of that kind"
        yield Fault("suite.no_task", message, ("tasks",), next_step="ask for other modes")
    judged = [task for task in tasks if task.expected.kind == "rubric"]
    if judged and not request.judge:
        from agenteval.openwop.judges import HOW

        have = f"{len(judged)} tasks have" if len(judged) > 1 else f"the task {judged[0].taskId!r} has"
        yield Fault(
            "suite.no_judge",
            f"{have} a rubric, but no judge is named",
            ("tasks", suite.tasks.index(judged[0]), "expected"),
            next_step=f"give {HOW}",
        )


@dataclass(slots=True, kw_only=True)
class Carried:
    """What became of one test: its task, or None; and what a task cannot express of it, a line each."""

    test_id: str
    task: dict[str, Any] | None = None
    lost: list[str] = field(default_factory=list)


def carried_over(
    test: LoadedTest, name: str, *, registry: Registry, context: AdapterContext, rules: RedactionRules
) -> Carried:
    """A test as a task called `name`, with what the test redacts redacted.

    A task has one expectation: the first phrase of the first critical `output_contains` that the output has.
    """
    case = test.case
    redactor = test.redactor(rules)
    carried = Carried(test_id=redactor.name(case.id))
    try:
        trace = registry.find_adapter(case.adapter).trace(case, context)
    except AgentEvalError as error:
        carried.lost.append(f"the recording cannot be read: {redactor.unseen(error.message.splitlines()[0])}")
        return carried
    redactor.learn(trace.events)
    for source in test.checks:
        check: Any = source.check
        if source.spec.severity != "critical" or check.type != "output_contains":
            continue
        phrases = check.all_of or (check.any_of if len(check.any_of) == 1 else None)
        if phrases and phrases[0] in trace.output and redactor.unseen(phrases[0]) == phrases[0]:
            break
    else:
        carried.lost.append(
            "no critical output_contains has a first phrase of all_of, or an only one of any_of, that the output has as written, "
            "and of which nothing is redacted"
        )
        return carried
    messages: Any = plain(case.scenario.input_messages)
    asked = [{"role": each["role"], "content": each["content"]} for each in messages]
    only = len(asked) == 1 and asked[0]["role"] == "user"
    golden = {"strategy": "contains", "value": phrases[0]}
    carried.task = redactor.data(
        {
            "taskId": name,
            "input": asked[0]["content"] if only else {"messages": asked},
            "expected": {"kind": "golden", "match": golden},
            "fixtures": _fixtures(case, trace),
        }
    )
    lost = [f"{bound.spec.id} ({bound.spec.type})" for bound in test.checks if bound is not source]
    if len(check.all_of) > 1 or check.regex or (check.all_of and check.any_of):
        lost.append(f"{source.spec.id}: all but its first phrase")
    if not check.case_sensitive:
        lost.append(f"{source.spec.id}: ignoring case; a golden output is compared as it is written")
    carried.lost += map(redactor.name, lost)
    return carried


def _fixtures(case: TestCase, trace: Trace) -> dict[str, Any]:
    results = [event.data for event in trace.of_type("tool_result")]
    answers = [{"tool": data["tool"], "response": data.get("result")} for data in results]
    memory = case.scenario.memory_snapshot
    if memory is None:
        return {"toolResponses": answers}
    entries = memory if isinstance(memory, list) else [memory]
    seed = [each if isinstance(each, dict) else {"content": each} for each in entries]
    return {"toolResponses": answers, "memorySeed": seed}


def task_names(tests: Sequence[LoadedTest], folder: Path | None) -> list[str]:
    """The task ids of the tests: the names of their folders, where these hold the recordings; else made of their ids.

    `folder` is the directory of all tests. When each has its own folder directly in it, it can serve as `--replays`.
    """
    names = [test.path.parent.name for test in tests]
    beside = all(test.path.name == TEST_FILE and test.path.parent.parent == folder for test in tests)
    if beside and all(map(TASK_ID.fullmatch, names)):
        return names
    return [task_id(test.case.id) for test in tests]
