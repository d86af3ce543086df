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
    """The answer of a fixture for one `tool_result` step; `error` is given when the script lacks the event.

    `success` is None where neither says it: the result itself tells.
    """

    result: Any
    success: bool | None
    error: FixtureError | None = None


def answers_of(
    bundle: ReplayBundle, path: Path, case: TestCase, context: AdapterContext
) -> dict[int, Answer]:
    """Return the answers of fixtures, by index of the step in the script. `path` is the bundle's file.

    Fixtures that no step uses become warnings. Raises `AdapterError` with every step that does not fit.
    """
    fixtures = _FixtureSet(case.tools.fixtures, context)
    calls = {step.call_id: step for step in bundle.script if isinstance(step, ToolCallStep)}
    errors = {step.call_id: step for step in bundle.script if isinstance(step, ErrorStep)}
    answers: dict[int, Answer] = {}
    for index, step in enumerate(bundle.script):
        if isinstance(step, ToolResultStep) and step.fixture_id:
            faults = fixtures.answer(step, calls[step.call_id], errors.get(step.call_id), answers, index)
            fixtures.broken += [
                fault._replace(data_path=("script", index, *(fault.data_path or ("fixture_id",))))
                for fault in faults
            ]
    if fixtures.broken or fixtures.unreadable:
        raise bundle_error(
            path,
            fixtures.broken,
            max_bytes=context.max_file_bytes,
            others=fixtures.unreadable,
            inputs=fixtures.contents.values(),
        )
    # Fixtures of a live test answer its live runs, so the recording need not use them.
    if not (case.live or case.mode == "live"):
        for name in fixtures.unused(bundle):
            context.warn(f"fixture {name!r} is not used by any step of the recording")
    return answers


class _FixtureSet:
    """The fixtures of a test, each read when a step first uses it, and what was found wrong so far."""

    def __init__(self, fixtures: list[Fixture], context: AdapterContext) -> None:
        self.context = context
        self.broken: list[Fault] = []
        self.unreadable: list[Problem] = []
        self.contents: dict[str, Any] = {}
        self.by_id = {fixture.id: fixture for fixture in fixtures}
        self.useless: set[str] = set()
        twice = [fixture.id for fixture in fixtures if self.by_id[fixture.id] is not fixture]
        if twice:
            raise AdapterError(
                f"two fixtures of the test have the id {twice[0]!r}",
                reason_code="adapter.duplicate_fixture",
                next_step="give every fixture of tools.fixtures an id of its own",
            )

    def unused(self, bundle: ReplayBundle) -> list[str]:
        """List the fixtures with an answer that no step of the script takes."""
        used = {step.fixture_id for step in bundle.script if isinstance(step, ToolResultStep)}
        return [name for name, fixture in self.by_id.items() if fixture.answers and name not in used]

    def answer(
        self,
        step: ToolResultStep,
        call: ToolCallStep,
        error: ErrorStep | None,
        answers: dict[int, Answer],
        index: int,
    ) -> Iterator[Fault]:
        """Add the answer of the step's fixture to `answers`. Yields its faults, with a `data_path` that begins in the step."""
        name = step.fixture_id or ""
        fixture = self.by_id.get(name)
        if fixture is None:
            if step.result is None:  # else it may be another test's
                yield self._unknown(name)
            return
        yield from _unsuitable(fixture, call)
        if not fixture.answers:
            if step.result is None and step.success is None:
                yield _empty(name)
            return
        if name not in self.contents and name not in self.useless:
            yield from self._read(fixture)
        if name in self.useless:
            return
        answer = answers[index] = Answer(self.contents[name], step.success)
        if fixture.error:
            answer.success, answer.error = False, None if error else fixture.error
        if lines := [*_differences(fixture, answer, step, error)]:
            yield _stale(name, step, lines)

    def _unknown(self, name: str) -> Fault:
        return Fault(
            "adapter.unknown_fixture",
            f"the test has no fixture {name!r} to take the result from",
            suggestion=closest(name, self.by_id),
            allowed=tuple(self.by_id),
            next_step="add the fixture to tools.fixtures of the test, or record the result in the step",
        )

    def _read(self, fixture: Fixture) -> Iterator[Fault]:
        """Read the content of a fixture, once. Yields the faults of its file, for the first step that uses it."""
        try:
            self.contents[fixture.id] = self._content(fixture)
        except AdapterError as error:
            self.useless.add(fixture.id)
            yield Fault(error.reason_code, error.message, next_step=error.next_step)
        except FileError as error:
            for problem in error.problems:
                problem.next_step = problem.next_step or CORRECT_THE_FIXTURE
            self.unreadable += error.problems
            self.useless.add(fixture.id)

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


def _stale(name: str, step: ToolResultStep, lines: list[str]) -> Fault:
    message = "\n".join(
        [f"the recording differs from the fixture {name!r}:", *(f"    {line}" for line in lines)]
    )
    place = () if step.result is None else ("result",)
    return Fault("adapter.stale_fixture", message, place, next_step=REFRESH)


def _empty(name: str) -> Fault:
    message = f"neither the step nor the fixture {name!r} says what the tool answered"
    advice = (
        "record `result`, or at least `success`, in the step, or give the fixture a file, response or error"
    )
    return Fault("adapter.fixture_empty", message, next_step=advice)


def _unsuitable(fixture: Fixture, call: ToolCallStep) -> Iterator[Fault]:
    if fixture.tool not in tool_names(call.tool, call.recorded_tool or ""):
        message = (
            f"the fixture {fixture.id!r} answers for {fixture.tool}, but this is a result of {call.tool}"
        )
        advice = "name a fixture of the tool, or correct `tool` of the fixture"
        yield Fault("adapter.fixture_tool", message, next_step=advice)
    match = fixture.match
    if match is None or (not match.args_contains and match.args_equal is None):
        return
    wanted = ArgsMatch(args_contains=match.args_contains or {}, args_equal=match.args_equal)
    if lines := wanted.differences(call.args):
        message = f"the arguments of call {call.call_id!r} are not those of the fixture {fixture.id!r}: "
        advice = "name the fixture that belongs to these arguments, or correct its `match`"
        yield Fault("adapter.fixture_mismatch", message + "; ".join(lines), next_step=advice)


def _differences(
    fixture: Fixture, answer: Answer, step: ToolResultStep, error: ErrorStep | None
) -> Iterator[str]:
    """List the differences of the recording from the fixture, one line each."""
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
