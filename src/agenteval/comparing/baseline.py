"""What a comparison needs of a test: states and digests, no content."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import fsum
from pathlib import Path
from typing import Annotated, Any, Literal

from agenteval.comparing.comparison import ComparedSide
from agenteval.comparing.trajectories import MOST_CALLS, Trajectory, digested, stored
from agenteval.contracts.errors import AgentEvalError, ExitCode, FileError, UsageError
from agenteval.contracts.models import Between, Matching, Model, model, plain
from agenteval.contracts.results import AssertionState, TestResult, TestStatus
from agenteval.judging.stored import StoredRun, StoredRunError, is_run
from agenteval.matching.digests import sha256
from agenteval.openwop.summary import eval_summary_of, task_id
from agenteval.reading.documents import leads_out, read_bytes, read_text
from agenteval.reading.jsonsource import load_model, places
from agenteval.reading.places import Fault, problems_at

FAILING = ("fail", "error")
SCORED_OTHERWISE = frozenset({"golden", "rubric"})
"""Assertions of tasks of a suite, whose scores are not shares of passed assertions."""
CLOSE = 1e-9
"""How far two equal scores may be apart."""


@model
class TestFacts(Model):
    """One test of a baseline.

    An entry of a test that fails says that the failure is known: until `expires`, it fails no run.
    """

    __test__ = False  # not a pytest class

    test_case_id: str
    """The test's id."""
    status: TestStatus
    """What became of it."""
    score: Annotated[float, Between(0, 1)] | None = None
    """Its score, from 0 to 1; a skipped test has none."""
    assertions: dict[str, AssertionState]
    """What became of each assertion, by its id."""
    calls: list[str] | None = None
    """The tool calls in order, each as the tool's name, a colon, and a digest of the arguments."""
    output: str | None = None
    """A digest of the final output."""
    owner: str | None = None
    """Who looks after the known failure."""
    reason: str | None = None
    """Why it is known and not fixed."""
    expires: Annotated[str, Matching("[0-9]{4}-[0-9]{2}-[0-9]{2}")] | None = None
    """The last day on which it may fail, as YYYY-MM-DD, in UTC."""

    def __post_init__(self) -> None:
        if self.expires is not None:
            from datetime import date

            try:
                date.fromisoformat(self.expires)
            except ValueError:
                raise ValueError(f"expires: {self.expires} is not a date") from None

    @property
    def failing(self) -> bool:
        """Whether the test failed, or could not be judged."""
        return self.status in FAILING

    @property
    def explained(self) -> bool:
        """Whether a person wrote something about it."""
        return bool(self.owner or self.reason or self.expires)


def facts_of(result: TestResult, score: float | None) -> TestFacts:
    """The facts of a result, except those that need a trace."""
    return TestFacts(
        test_case_id=result.test_case_id,
        status=result.status,
        score=score,
        assertions={each.id: each.state for each in result.assertions},
    )


def contradiction(facts: TestFacts) -> str:
    """How the facts of a test contradict each other, so that no run can have found them; empty when they do not."""
    status, states = facts.status, facts.assertions
    failed = next((name for name, state in states.items() if state == "fail"), "")
    judged = next((name for name, state in states.items() if state != "skip"), "")
    if status == "pass" and failed:
        return f"status is pass, and the assertion {failed} fails"
    if status == "pass" and states and not judged:
        return "status is pass, and every assertion is skipped"
    if status == "skipped" and judged:
        return f"status is skipped, and the assertion {judged} is not: {states[judged]}"
    if status == "skipped" and facts.score is not None:
        return "status is skipped, and it has a score"
    if status == "error" and states and "skip" not in states.values():
        return "status is error, and every assertion came to a verdict"
    if facts.score is not None and all(abs(facts.score - each) > CLOSE for each in _scores(facts)):
        return f"score is {facts.score:g}, which a {status} with these assertions cannot have"
    return ""


def _scores(facts: TestFacts) -> list[float]:
    """The scores that a test may have: which assertions are critical is not known, but those that fail are."""
    states = list(facts.assertions.values())
    failed, passed = states.count("fail"), states.count("pass") + states.count("vacuous")
    if facts.status == "error":
        return [0]
    if not states or facts.score is None or not SCORED_OTHERWISE.isdisjoint(facts.assertions):
        return [facts.score or 0]
    if facts.status == "pass":
        return [1]
    if failed:
        return [most / (most + failed) for most in range(passed + 1)]
    return (
        [0, 1] if "warn" in states else [0]
    )  # a warning costs no score; a failure that did not come costs all


WRITE_AGAIN = "restore it from version control, or delete it and write it again with --update-baseline"


class BaselineError(AgentEvalError):
    """A baseline that cannot be written, or is not of this suite (exit 2)."""

    default_reason = "baseline.unwritable"


@model
class BaselineFile(Model):
    """What became of the tests of a suite when the baseline was written."""

    schema_version: Literal["0.1"]
    """The version of this format."""
    suite_id: str
    """The suite's id, as `suite.id` of the configuration says."""
    suite_version: str
    """The suite's version: a baseline of another one is refused."""
    score: Annotated[float, Between(0, 1)]
    """The mean of the scores."""
    tests: list[TestFacts]
    """The tests, sorted by id."""

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for test in self.tests:
            if test.test_case_id in seen:
                raise ValueError(f"two entries are for {test.test_case_id}")
            seen.add(test.test_case_id)

    def data(self) -> dict[str, Any]:
        """The file as plain data: in a fixed order, without unknown values."""
        data: dict[str, Any] = plain(self)
        tests = sorted(data["tests"], key=lambda test: test["test_case_id"])
        known = [{name: value for name, value in test.items() if value is not None} for test in tests]
        return {**data, "tests": known}

    def encoded(self) -> bytes:
        """The file as bytes, equal for equal content."""
        import json

        return json.dumps(self.data()).encode()


def load_baseline(path: Path) -> BaselineFile:
    """A baseline from its file. Raises `FileError`: that of `load_model`, or `baseline.invalid` for what contradicts itself."""
    try:
        baseline = load_model(BaselineFile, path)
    except FileError as error:
        raise error.advising(WRITE_AGAIN) from None
    if faults := list(_contradictions(baseline)) or list(_wrong_mean(baseline)):
        problems = problems_at(faults, text=read_text(path), places=places, path=path)
        raise FileError(problems).advising(WRITE_AGAIN)
    return baseline


def _contradictions(baseline: BaselineFile) -> Iterator[Fault]:
    """What no run can have found: somebody has made it known, or a merge has mixed it."""
    for index, test in enumerate(baseline.tests):
        if told := contradiction(test):
            key = told.partition(" ")[0]
            yield Fault("baseline.invalid", f"{test.test_case_id}: {told}", ("tests", index, key))


def _wrong_mean(baseline: BaselineFile) -> Iterator[Fault]:
    scores = [test.score for test in baseline.tests if test.score is not None]
    mean = fsum(scores) / len(scores) if scores else baseline.score
    if abs(baseline.score - mean) > CLOSE:
        message = f"score is {baseline.score:g}, and the mean of the scores of its tests {mean:g}"
        yield Fault("baseline.invalid", message, ("score",))


def renewed(
    facts: Iterable[TestFacts], run: ComparedSide, *, old: BaselineFile | None, kept: frozenset[str]
) -> BaselineFile:
    """The baseline of a run. What people wrote about a test stays as long as it fails.

    `kept` are tests that this run did not select: they stay as they were.
    """
    score = run.score
    before = {test.test_case_id: test for test in old.tests} if old else {}
    tests = list(facts)
    for test in tests:
        known = before.get(test.test_case_id)
        if known and test.failing:
            test.owner, test.reason, test.expires = known.owner, known.reason, known.expires
    kept -= {test.test_case_id for test in tests}  # an unselected file may have the id of one that ran
    if others := [test for name, test in before.items() if name in kept]:
        tests += others
        scores = [test.score for test in tests if test.score is not None]
        score = fsum(scores) / len(scores) if scores else 0.0
    return BaselineFile(
        schema_version="0.1",
        suite_id=run.suite_id,
        suite_version=run.suite_version,
        score=score,
        tests=sorted(tests, key=lambda test: test.test_case_id),
    )


def write_baseline(path: Path, content: bytes) -> bool:
    """Write the file, whole or not at all; false when it is the same already. Raises `BaselineError`."""
    part = path.with_name(f"{path.name}.part")
    try:
        if path.is_file() and not leads_out(path) and read_bytes(path) == content:
            return False
        with part.open("wb") as file:
            file.write(content)
        os.replace(part, path)  # noqa: PTH105
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise BaselineError(
            f"cannot write the baseline {path}: {error.strerror or error}",
            next_step="name another file with --baseline, or set `baseline` in agenteval.yaml",
        ) from error
    return True


OF_THE_TEST = ""
"""The key of the message about a test as a whole, among the ids of its assertions."""


@dataclass(slots=True, kw_only=True)
class SideTest:
    """A test on one side. `tools` counts its calls by tool, None when they are not known; `messages` say why assertions, and the test, did not pass.

    `trajectory` returns None when nothing of it was kept. `left_out` are assertions that were not selected.
    `reason_code` is that of the result; a baseline has none.
    """

    facts: TestFacts
    reason_code: str | None = None
    tools: dict[str, int] | None = None
    messages: dict[str, str] = field(default_factory=dict)
    trajectory: Callable[[], Trajectory | None] = lambda: None
    left_out: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class Side:
    """A run or a baseline. `head` is what a comparison says of it; `partial`: some tests were not selected.

    `broken` is how a run ended that could not judge everything; it has no result of an invalid test file.
    """

    head: ComparedSide
    tests: dict[str, SideTest]
    baseline: BaselineFile | None = None
    partial: bool = False
    broken: str = ""

    def must_be_of(self, suite_id: str, version: str, label: str) -> None:
        """Refuse to compare with another suite or version; `label` names the other side.

        Raises `UsageError` (`baseline.other_suite`).
        """
        head = self.head
        if (head.suite_id, head.suite_version) == (suite_id, version):
            return
        other = head.suite_id != suite_id
        what = "suite" if other else "version of the suite"
        raise UsageError(
            f"{head.label} belongs to another {what}: it is of {head.suite_id} {head.suite_version}, "
            f"{label} of {suite_id} {version}",
            reason_code="baseline.other_suite",
            next_step="compare runs of the same suite (suite.id in agenteval.yaml, else the directory that is run; or suiteId)"
            if other
            else "compare runs of the same version, or rewrite the baseline with --update-baseline",
        )


def load_side(path: Path) -> Side:
    """The run in a directory, or the baseline in a file.

    Raises `UsageError` (`baseline.missing`), `StoredRunError`, `FileError`.
    """
    if is_run(path) or path.is_dir():
        return _of_run(StoredRun(path))
    if not path.exists():
        raise UsageError(
            f"no run or baseline at {path}: there is no such directory or file",
            reason_code="baseline.missing",
            next_step="name the directory of a run, or a file that `agenteval run --update-baseline` has written",
        )
    return of_baseline(load_baseline(path), path)


def of_baseline(baseline: BaselineFile, path: Path) -> Side:
    """A baseline as a side; its id is a digest of its content."""
    head = ComparedSide(
        label=str(path),
        run_id=f"baseline-{sha256(baseline.encoded())[:16]}",
        suite_id=baseline.suite_id,
        suite_version=baseline.suite_version,
        score=baseline.score,
    )
    return Side(
        head=head,
        tests={facts.test_case_id: _of_facts(facts) for facts in baseline.tests},
        baseline=baseline,
    )


def _of_facts(facts: TestFacts) -> SideTest:
    calls = facts.calls
    if calls is None:
        return SideTest(facts=facts)
    trajectory = digested(calls, facts.output)
    all_told = len(calls) <= MOST_CALLS
    tools = dict(Counter(call.tool for call in trajectory.calls)) if all_told else None
    return SideTest(facts=facts, tools=tools, trajectory=lambda: trajectory)


def _of_run(run: StoredRun) -> Side:
    summary, ended = eval_summary_of(run), run.summary
    scores = {task.taskId: task.score for task in summary.tasks}
    tests = {}
    for result in run.results():
        name = result.test_case_id  # a task of a suite keeps its id
        facts = facts_of(result, scores.get(name, scores.get(task_id(name))))
        if told := contradiction(facts):
            raise StoredRunError(
                f"the run in {run.path} is damaged: {name} contradicts itself: {told}",
                reason_code="run.damaged",
                next_step="run the tests again",
            )
        tests[name] = side_test(result, facts, partial(_stored_trajectory, run, result))
    head = ComparedSide(
        label=str(run.path),
        run_id=ended.test_run_id,
        suite_id=summary.suiteId,
        suite_version=summary.suiteVersion,
        score=summary.aggregateScore,
    )
    return Side(
        head=head,
        tests=tests,
        partial=bool(ended.counts.deselected or ended.stopped_after),
        broken=f"exit {ended.exit_code}: {ended.exit_reason}" if ended.exit_code >= ExitCode.ERROR else "",
    )


def side_test(result: TestResult, facts: TestFacts, trajectory: Callable[[], Trajectory | None]) -> SideTest:
    """One side's view of a test that was judged."""
    messages = {each.id: each.message for each in result.assertions if each.state != "pass"}
    messages[OF_THE_TEST] = result.error.message if result.error else result.next_step or ""
    summary = result.trace_summary
    return SideTest(
        facts=facts,
        reason_code=result.reason_code,
        tools={each.tool: each.count for each in summary.tool_calls} if summary.trace_id else None,
        messages=messages,
        trajectory=trajectory,
    )


def _stored_trajectory(run: StoredRun, result: TestResult) -> Trajectory | None:
    trace: Any = run.trace(result)
    if trace is None:
        return None
    try:
        return stored(trace)
    except ValueError as error:
        raise StoredRunError(
            f"the run in {run.path} is damaged: {result.artifacts.trace} is not a trace",
            reason_code="run.damaged",
            next_step="run the tests again",
        ) from error
