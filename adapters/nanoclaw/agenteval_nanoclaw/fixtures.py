"""Fixtures of the test, `tools.fixtures`: what they make of the recording's tool results.

A `tool_result` step that names a fixture and leaves out its result takes it from there; a step that has both
must agree with the fixture. A fixture that is an error makes the result unsuccessful, with the error as its
result, and adds an `error` event after it, unless the script records the error itself. A fixture without an answer
documents what the recording holds: nothing is taken from it, but it must be of the tool, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError, FileError, Problem
from agenteval.contracts.json_values import equal
from agenteval.contracts.testcase import Fixture, FixtureError, TestCase
from agenteval.contracts.trace import tool_names
from agenteval.loading.adapter_input import find_file
from agenteval.matching.selectors import ArgsMatch
from agenteval.reading.places import Fault
from agenteval.text.names import closest
from agenteval_nanoclaw.bundle import ErrorStep, ReplayBundle, ToolCallStep, ToolResultStep, bundle_error

ERROR_FIELDS = ("error_type", "message", "retryable")
CORRECT_THE_FIXTURE = "correct the file: it holds what the tool answered, as JSON"
REFRESH = "record the run again, or update the fixture; a step may leave out what its fixture says"


@dataclass(slots=True, eq=False, repr=False)
class Answer:
    """What a fixture says of one `tool_result` step; `error` is given when the script lacks the event.

    `success` is None where neither says it: the result itself tells.
    """

    result: Any
    success: bool | None
    error: FixtureError | None = None


def answers_of(
    bundle: ReplayBundle, path: Path, case: TestCase, context: AdapterContext
) -> dict[int, Answer]:
    """What the fixtures say, by index of the step in the script. `path` is the bundle's file.

    Fixtures that no step uses become warnings. Raises `AdapterError` with every step that does not fit.
    """
    shelf = _Shelf(case.tools.fixtures, context)
    calls = {step.call_id: step for step in bundle.script if isinstance(step, ToolCallStep)}
    errors = {step.call_id: step for step in bundle.script if isinstance(step, ErrorStep)}
    answers: dict[int, Answer] = {}
    for index, step in enumerate(bundle.script):
        if isinstance(step, ToolResultStep) and step.fixture_id:
            answer = shelf.answer(index, step, calls[step.call_id], errors.get(step.call_id))
            if answer:
                answers[index] = answer
    if shelf.broken or shelf.unreadable:
        raise bundle_error(
            path,
            shelf.broken,
            max_bytes=context.max_file_bytes,
            others=shelf.unreadable,
            inputs=shelf.contents.values(),
        )
    for fixture_id in () if case.live or case.mode == "live" else shelf.unused:  # those answer live runs
        context.warn(f"fixture {fixture_id!r} is not used by any step of the recording")
    return answers


class _Shelf:
    """The fixtures of a test, each read when a step first uses it, and what was found wrong so far."""

    def __init__(self, fixtures: list[Fixture], context: AdapterContext) -> None:
        self.context = context
        self.broken: list[Fault] = []
        self.unreadable: list[Problem] = []
        self.contents: dict[str, Any] = {}
        self.by_id: dict[str, Fixture] = {}
        for fixture in fixtures:
            if fixture.id in self.by_id:
                raise AdapterError(
                    f"two fixtures of the test have the id {fixture.id!r}",
                    reason_code="adapter.duplicate_fixture",
                    next_step="give every fixture of tools.fixtures an id of its own",
                )
            self.by_id[fixture.id] = fixture
        self.unused = dict.fromkeys(fixture.id for fixture in fixtures if fixture.answers)
        self.useless: set[str] = set()

    def answer(
        self, index: int, step: ToolResultStep, call: ToolCallStep, error: ErrorStep | None
    ) -> Answer | None:
        """What the step's fixture says of it; None when it says nothing, cannot be read, or does not exist."""
        fixture = self.by_id.get(step.fixture_id or "")
        if fixture is None:
            if step.result is None:  # else it may be another test's
                self._report(
                    index,
                    "adapter.unknown_fixture",
                    f"the test has no fixture {step.fixture_id!r} to take the result from",
                    "add the fixture to tools.fixtures of the test, or record the result in the step",
                    suggestion=closest(str(step.fixture_id), self.by_id),
                    allowed=tuple(self.by_id),
                )
            return None
        self.unused.pop(fixture.id, None)
        self._suits(index, fixture, step, call)
        if not fixture.answers:
            if step.result is None and step.success is None:
                self._report(
                    index,
                    "adapter.fixture_empty",
                    f"neither the step nor the fixture {fixture.id!r} says what the tool answered",
                    "record `result`, or at least `success`, in the step, or give the fixture a file, response or error",
                )
            return None
        if not self._read(index, fixture):
            return None
        answer = Answer(self.contents[fixture.id], step.success)
        if fixture.error:
            answer.success, answer.error = False, None if error else fixture.error
        if lines := [*_differences(fixture, answer, step, error)]:
            shown = "\n".join(f"    {line}" for line in lines)
            self._report(
                index,
                "adapter.stale_fixture",
                f"the recording differs from the fixture {fixture.id!r}:\n{shown}",
                REFRESH,
                key="fixture_id" if step.result is None else "result",
            )
        return answer

    def _suits(self, index: int, fixture: Fixture, step: ToolResultStep, call: ToolCallStep) -> None:
        if fixture.tool not in tool_names(call.tool, call.recorded_tool or ""):
            self._report(
                index,
                "adapter.fixture_tool",
                f"the fixture {fixture.id!r} answers for {fixture.tool}, but this is a result of {call.tool}",
                "name a fixture of the tool, or correct `tool` of the fixture",
            )
        match = fixture.match
        if match is None or not (match.args_contains or match.args_equal):
            return
        wanted = ArgsMatch(args_contains=match.args_contains or {}, args_equal=match.args_equal or {})
        if lines := wanted.differences(call.args):
            self._report(
                index,
                "adapter.fixture_mismatch",
                f"the arguments of call {step.call_id!r} are not those of the fixture {fixture.id!r}: "
                + "; ".join(lines),
                "name the fixture that belongs to these arguments, or correct its `match`",
            )

    def _read(self, index: int, fixture: Fixture) -> bool:
        """Have the fixture's content at hand. What is wrong with its file is reported once."""
        if fixture.id in self.contents or fixture.id in self.useless:
            return fixture.id in self.contents
        try:
            self.contents[fixture.id] = self._content(fixture)
        except AdapterError as error:
            self._report(index, error.reason_code, error.message, error.next_step)
        except FileError as error:
            for problem in error.problems:
                problem.next_step = problem.next_step or CORRECT_THE_FIXTURE
            self.unreadable += error.problems
        else:
            return True
        self.useless.add(fixture.id)
        return False

    def _content(self, fixture: Fixture) -> Any:
        if fixture.error:
            return {name: getattr(fixture.error, name) for name in ERROR_FIELDS}
        if fixture.file is None:
            return fixture.response
        from agenteval.reading.jsonsource import load_json

        path = find_file(
            fixture.file,
            self.context,
            setting=f"`file` of the fixture {fixture.id!r}",
            missing="adapter.fixture_missing",
            next_step="correct `file` of the fixture in the test, or put the file there",
        )
        return load_json(path, max_bytes=self.context.max_file_bytes)

    def _report(
        self, index: int, code: str, message: str, next_step: str, *, key: str = "fixture_id", **more: Any
    ) -> None:
        self.broken.append(Fault(code, message, ("script", index, key), next_step=next_step, **more))


def _differences(
    fixture: Fixture, answer: Answer, step: ToolResultStep, error: ErrorStep | None
) -> Iterator[str]:
    """What the recording says otherwise than the fixture, one line each."""
    if step.success is not None and step.success != answer.success:
        yield f"success: the fixture has {str(answer.success).lower()}, the recording {str(step.success).lower()}"
    for name in ERROR_FIELDS if fixture.error and error else ():
        said, recorded = getattr(fixture.error, name), getattr(error, name)
        if recorded is not None and said != recorded:
            from agenteval.contracts.json_values import brief

            yield f"{name} of the error: the fixture has {brief(said)}, the recording {brief(recorded)}"
    if step.result is not None and not equal(answer.result, step.result):
        from agenteval.contracts.json_values import differences

        yield from differences(answer.result, step.result)
