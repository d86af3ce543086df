"""The recordings of a suite's tasks: where they are, which situation they show, and whether they fit the suite.

The recording of a task is the folder `<replays>/<taskId>`: a `replay.json`, or, for any other input of an adapter, a
`test.yaml` that names adapter, input and situation. Of its assertions only those of safety types are run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenteval.adapters import Adapter, AdapterContext, find_adapter
from agenteval.differences import differences
from agenteval.discovery import TEST_FILE
from agenteval.errors import AdapterError
from agenteval.json_values import equal
from agenteval.loading import BoundAssertion, load_test
from agenteval.misspelling import closest
from agenteval.openwop.models import Task, ToolResponse
from agenteval.plugins.registry import Registry
from agenteval.plurals import counted
from agenteval.reading.containment import is_inside
from agenteval.recordings import REPLAY_FILE
from agenteval.redaction import RedactionRules, Redactor
from agenteval.settings import LimitsConfig
from agenteval.spec import Message, Scenario, TestCase, Tools
from agenteval.trace import Event, Trace

ADAPTER = "nanoclaw"
UNKNOWN_GROUP = "unknown"
"""The group of a recording that shows none, or cannot be read."""


@dataclass(slots=True, kw_only=True)
class Recording:
    """The test case of a task's recording, and the assertions of its test file, when it has one."""

    case: TestCase
    checks: list[BoundAssertion] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Replays:
    """The folder of all recordings. `root` bounds what may be read, as the project's root does for tests."""

    folder: Path
    root: Path
    limits: LimitsConfig
    allow_outside: bool = False

    def recording(self, task: Task, registry: Registry) -> Recording:
        """The case of a task: that of its test file, or what its replay shows. Raises `SpecError`."""
        folder = self.folder / task.taskId
        if (folder / TEST_FILE).is_file() and (
            self.allow_outside or is_inside(folder / TEST_FILE, self.root)
        ):
            loaded = load_test(folder / TEST_FILE, limits=self.limits, registry=registry)
            return Recording(case=loaded.case, checks=loaded.checks)
        return Recording(case=self._shown(task))

    def _shown(self, task: Task) -> TestCase:
        """The case that a replay shows; nearly empty for one that cannot be read, of which the run tells the reason."""
        case = _case(task, Scenario(group_id=UNKNOWN_GROUP, trigger="user_message", input_messages=[]), [])
        try:
            # by the adapter itself, not the one of the suite: a stale recording shows a situation too
            trace = find_adapter(ADAPTER).trace(case, self.context(task.taskId, run_id="suite"))
        except Exception:  # noqa: BLE001 - whatever it is, the run meets it again and reports it
            return case
        return _case(task, _situation(task, trace), sorted(trace.tool_counts()))

    def context(self, task_id: str, *, run_id: str) -> AdapterContext:
        """The context in which an adapter reads a task's recording."""
        return AdapterContext(
            base_dir=self.folder / task_id,
            root=self.root,
            run_id=run_id,
            max_file_bytes=self.limits.max_file_bytes,
            allow_outside=self.allow_outside,
        )


def _case(task: Task, scenario: Scenario, tools: list[str]) -> TestCase:
    return TestCase(
        schema_version="0.1",
        id=task.taskId,
        title="",
        adapter=ADAPTER,
        mode="replay",
        scenario=scenario,
        tools=Tools(available=tools),
        assertions=[],
        adapter_input={"replay_file": REPLAY_FILE},
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
