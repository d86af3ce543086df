"""A suite's tasks as tests: their expectations and safety checks as assertions, and their scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Assertion
from agenteval.errors import SpecError
from agenteval.loading import BoundAssertion, LoadedTest
from agenteval.openwop.golden import GoldenMatch
from agenteval.openwop.models import AgentEvalSuite, Task
from agenteval.openwop.replays import Replays
from agenteval.openwop.rubric import Judge, Question, RubricMet
from agenteval.openwop.summary import SAFETY_FINDINGS, TASK_ID, Scores, is_finding, task_id
from agenteval.plugins.registry import Registry
from agenteval.results import TestResult
from agenteval.spec import AssertionSpec, TestCase
from agenteval.strict import parse

ADVERSARIAL = "adversarial"


@dataclass(slots=True, kw_only=True)
class SuiteRun:
    """A suite that is run: its file, its recordings, the tasks and modes in force, the threshold of a task, and the judge."""

    suite: AgentEvalSuite
    path: Path
    replays: Replays
    tasks: Sequence[Task]
    modes: Sequence[str]
    pass_score: float
    judge: Judge | None

    def tests(self, registry: Registry) -> Iterator[LoadedTest | SpecError]:
        """The tasks as tests, in order of the suite; an error for one whose `test.yaml` is broken."""
        for task in self.tasks:
            try:
                recording = self.replays.recording(task, registry)
            except SpecError as error:
                yield error
                continue
            case = self._case(task, recording.case)
            expectation = self._expectation(task)
            safety = list(_safety(task, recording.checks)) if ADVERSARIAL in self.suite.modes else []
            case.assertions = [check.spec for check in (expectation, *safety)]
            checks = [expectation, *(safety if ADVERSARIAL in self.modes else ())]
            yield LoadedTest(case=case, path=self.path, checks=checks)

    def _case(self, task: Task, case: TestCase) -> TestCase:
        scenario, tools = case.scenario, case.tools
        if task.fixtures and task.fixtures.memorySeed is not None:
            scenario = replace(scenario, memory_snapshot=task.fixtures.memorySeed)
        if task.fixtures and task.fixtures.toolResponses is not None:
            names = [each.tool for each in task.fixtures.toolResponses]
            available = dict.fromkeys([*names, *(name.rpartition(":")[2] for name in names)])
            tools = replace(tools, available=list(available))
        return replace(
            case,
            id=task.taskId,
            title=_title(task),
            scenario=scenario,
            tools=tools,
            tags=[],
            expected=None,
        )

    def _expectation(self, task: Task) -> BoundAssertion:
        expected = task.expected
        if expected.match is not None and expected.kind == "golden":
            return _bound(GoldenMatch(strategy=expected.match.strategy, value=expected.match.value))
        assert expected.rubric is not None
        assert self.judge is not None
        suite, judge, criteria = self.suite, self.judge, expected.rubric
        check = RubricMet(rubric=criteria, pass_score=self.pass_score)
        check.decide = lambda output: judge(
            Question(
                suite_id=suite.suiteId,
                suite_version=suite.version,
                task_id=task.taskId,
                input=task.input,
                output=output,
                criteria=criteria,
            )
        )
        return _bound(check)


def _title(task: Task) -> str:
    """The kind of task, by which `-k` finds it."""
    match = task.expected.match
    how = f" ({match.strategy})" if match and task.expected.kind == "golden" else ""
    return f"{task.expected.kind} task{how}"


def _bound(check: Assertion) -> BoundAssertion:
    spec = AssertionSpec(id=check.type, type=check.type)
    return BoundAssertion(spec=spec, check=check, requires=tuple(check.implied))


def _safety(task: Task, own: Sequence[BoundAssertion]) -> Iterator[BoundAssertion]:
    """The safety checks of a task: those of its test file, and all other types that can judge without one."""
    kept = [bound for bound in own if bound.spec.type in SAFETY_FINDINGS]
    yield from kept
    knows_tools = task.fixtures is not None and task.fixtures.toolResponses is not None
    for name in SAFETY_FINDINGS:
        can_judge = name != "outbound_destinations" and (name != "tools_within_policy" or knows_tools)
        if can_judge and all(bound.spec.type != name for bound in kept):
            cls = assertion_class(name)
            assert cls is not None
            yield _bound(parse(cls, {}))


@dataclass(slots=True)
class SuiteScores(Scores):
    """The scores of a suite's tasks: 1 or 0 for golden, the weight that was reached for a rubric.

    A task whose trace has a safety finding scores 0: unsafe behaviour must not meet the threshold of a suite.
    """

    def task_id(self, result: TestResult) -> str:
        """The suite's own id, as it is; redacted, it is no id any more, and becomes one."""
        name = result.test_case_id
        return name if TASK_ID.fullmatch(name) else task_id(name)

    def share(self, result: TestResult, test: LoadedTest | None) -> tuple[int, int]:
        """The exact score of a task, as a fraction."""
        if result.status == "error" or any(map(is_finding, result.assertions)):
            return 0, 1
        for bound in test.checks if test else ():
            if isinstance(bound.check, RubricMet):
                score: Fraction = bound.check.share
                return score.as_integer_ratio()
        golden: Any = next(each for each in result.assertions if each.type == GoldenMatch.type)
        return int(golden.status == "pass"), 1
