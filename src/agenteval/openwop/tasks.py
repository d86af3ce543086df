"""Turns the tasks of a suite into tests: golden outputs, rubrics, safety checks (RFC 0081, section D), and their scores.

A golden value that is no text is compared as ECMAScript's JSON.stringify spells it: compact, keys in their order,
characters unescaped, and numbers spelled as doubles (`1.0` is `1`, `1e21` is `1e+21`).
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Assertion, Category, Proof, Verdict, failed, passed, vacuous
from agenteval.contracts.adapters import REPLAY_FILE, AdapterContext, find_adapter
from agenteval.contracts.errors import AdapterError, SpecError
from agenteval.contracts.json_values import around_difference, brief, differences, equal, first_difference
from agenteval.contracts.models import Model, model, parse, plain
from agenteval.contracts.results import TestResult
from agenteval.contracts.testcase import AssertionSpec, Message, Scenario, TestCase, Tools
from agenteval.contracts.trace import Trace
from agenteval.loading.discovery import TEST_FILE
from agenteval.loading.project import OpenProject
from agenteval.loading.testfile import BoundAssertion, LoadedTest, load_test
from agenteval.openwop.models import (
    AgentEvalSuite,
    Criterion,
    Fixtures,
    Score,
    Strategy,
    Task,
    Text,
    ToolResponse,
)
from agenteval.openwop.suite_parts import LIVE
from agenteval.openwop.summary import SAFETY_FINDINGS, is_finding
from agenteval.reading.documents import is_inside
from agenteval.redaction.redactor import Redactor

_LONGEST = 200


@model
class GoldenMatch(Assertion):
    """The final output is as the suite expects.

    `exact`: it is the value, character for character. `contains`: the value is in it, in the case it has. `json-match`:
    it is JSON, and equal to the value; the order of keys and white space do not matter, that of lists does; `true` is
    not `1`, `1.0` is `1`, and null is not the same as absent.
    """

    type: ClassVar[str] = "golden"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "other than the golden output"
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    example: ClassVar[str] = "strategy: contains\nvalue: 30 days\n"

    strategy: Strategy
    """The way the output is compared."""
    value: Any
    """The value to compare with."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        value = self.value if self.strategy == "json-match" else text_of(self.value)
        wanted, output, got = f"{_WANTED[self.strategy]} {_shown(value)}", trace.output, ""
        if trace.final_output is None:
            return failed(f"expected {wanted}, got no final output", output=None)
        if self.strategy == "contains" and value == "":
            return vacuous("every output contains the empty text")
        if self.strategy == "json-match":
            got = _json_difference(output, value)
        elif self.strategy == "contains" and value not in output:
            got = _shown(output)
        elif self.strategy == "exact" and value != output:
            one, other = map(brief, around_difference(value, output))
            place = first_difference(output, value) + 1
            wanted, got = f"exactly {one}", f"{other}, which differs from character {place} onwards"
        events = trace.of_type("final_output")[-1:]
        if got:
            return failed(f"expected {wanted}, got {got}", events=events, output=output)
        return passed(f"the output is {wanted}", events=events, output=output)


_WANTED = {"exact": "exactly", "contains": "a text that contains", "json-match": "JSON equal to"}


def text_of(value: Any) -> str:
    """Return the text of a value: a text as it is, all else as compact JSON."""
    return value if isinstance(value, str) else _spelled(value)


def parsed(output: str) -> Any:
    """Parse an output as ECMAScript's JSON.parse does. Raises ValueError when it is not JSON."""
    try:
        return json.loads(output, parse_constant=_no_json)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _json_difference(output: str, value: Any) -> str:
    try:
        data = parsed(output)
    except ValueError as error:
        from agenteval.reading.jsonsource import in_words

        return f"{_shown(output)}, which is not JSON: {in_words(error, 'the output')}"
    if equal(data, value):
        return ""
    found = differences(value, data, names=("the golden value", "the output"), whole="the whole")
    return "a difference:\n" + "\n".join(f"  {line}" for line in found)


def _spelled(value: Any) -> str:
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        items = (f"{json.dumps(key, ensure_ascii=False)}:{_spelled(item)}" for key, item in value.items())
        return f"{{{','.join(items)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_spelled, value))}]"
    return _number(float(value))


def _number(value: float) -> str:
    """Spell a number as ECMAScript does (ECMA-262, Number::toString)."""
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        whole, _, fraction = f"{Decimal(repr(value)):f}".partition(".")
        fraction = fraction.rstrip("0")
        return f"{whole}.{fraction}" if fraction else whole.removeprefix("-") if value == 0 else whole
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"


def _shown(value: Any) -> str:
    return brief(value, _LONGEST)


MOST_UNMET = 5
"""The most unmet criteria that a message lists."""


@model
class RubricVerdict(Model):
    """A judge's verdict on one criterion."""

    criterion: Text
    """The criterion, as the suite has it."""
    met: bool
    """True if the output meets the criterion."""
    reason: str = ""
    """The reason for the verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question to a judge: the task, the agent's input and output, and the criteria."""

    suite_id: str
    suite_version: str
    task_id: str
    input: Any
    output: str
    criteria: Sequence[Criterion]


Judge = Callable[[Question], Sequence[RubricVerdict]]
"""A function that answers a question with one verdict per criterion, in their order. An exception makes the test an error."""


class _Decided(Assertion):
    """The state of a rubric beside its parameters: the judge that decides on an output, and the score that it gave."""

    __slots__ = ("decide", "share")
    decide: Callable[[str], Sequence[RubricVerdict]]
    share: Fraction


@model
class RubricMet(_Decided):
    """The final output meets the suite's criteria, by their weight.

    The score is the weight of the criteria that are met, of the weight of all; 0 when they weigh nothing. Passes when it
    is at least `pass_score`; vacuous when that is 0. A run without a final output meets none.
    """

    type: ClassVar[str] = "rubric"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "rubric not met"
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    example: ClassVar[str] = "rubric: [{criterion: names the 30 days, weight: 1}]\npass_score: 0.8\n"

    rubric: list[Criterion]
    """The criteria."""
    pass_score: Score
    """The least score, from 0 to 1."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        if trace.final_output is None:
            self.share = Fraction(0)
            return failed("expected an output that meets the rubric, got no final output", score=0.0)
        verdicts = self.decide(trace.output)
        self.share = share(self.rubric, [each.met for each in verdicts])
        unmet = [
            f"{each.criterion!r}{f' ({each.reason})' * bool(each.reason)}"
            for each in verdicts
            if not each.met
        ]
        beyond = f" and {len(unmet) - MOST_UNMET} more" if len(unmet) > MOST_UNMET else ""
        score = float(self.share)
        got = f"score {score:.6g}: {len(verdicts) - len(unmet)} of {len(verdicts)} criteria met"
        got += f"; not met: {', '.join(unmet[:MOST_UNMET])}{beyond}" if unmet else ""
        events = trace.of_type("final_output")[-1:]
        observed: dict[str, Any] = {"score": score, "verdicts": [plain(each) for each in verdicts]}
        if self.share < exact(self.pass_score):
            return failed(
                f"expected a score of at least {self.pass_score:g}, got {got}", events=events, **observed
            )
        if not self.pass_score:
            return vacuous(f"any output reaches a score of 0; {got}", **observed)
        return passed(got, events=events, **observed)


def share(rubric: Sequence[Criterion], met: Sequence[bool]) -> Fraction:
    """Return the share of all weights that is met, exactly: weights count as the decimals that are written."""
    weights = [exact(criterion.weight) for criterion in rubric]
    total = sum(weights, Fraction(0))
    reached = sum((weight for weight, yes in zip(weights, met, strict=True) if yes), Fraction(0))
    return reached / total if total else Fraction(0)


def exact(number: float) -> Fraction:
    """Return a number as the decimal that is written: 0.1 is exactly a tenth."""
    return Fraction(repr(number))


ADVERSARIAL = "adversarial"
ADAPTER = "nanoclaw"
UNKNOWN_GROUP = "unknown"
"""The group of a recording without one, or that cannot be read."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class SuiteRun:
    """A run of a suite: its file, the tasks and modes in force, the threshold of a task, the recordings, the judge.

    `folder` holds a folder for each task. With `live`, the agents are run again, so that no task needs a recording. In
    the mode `live-shadow` the tasks' fixtures do not count.
    """

    suite: AgentEvalSuite
    path: Path
    tasks: Sequence[Task]
    modes: Sequence[str]
    pass_score: float
    project: OpenProject
    folder: Path
    allow_outside: bool
    live: bool
    judge: Judge | None = None

    @property
    def root(self) -> Path:
        """The folder that bounds all reading: the project, or a folder elsewhere that the command line names."""
        root = self.project.root
        return root if self.folder.resolve().is_relative_to(root.resolve()) else self.folder

    def tests(self) -> Iterator[LoadedTest | SpecError]:
        """Yield the tasks as tests, in order of the suite; an error for a task with a broken `test.yaml`."""
        for task in self.tasks:
            try:
                yield self._test(task)
            except SpecError as error:
                yield error

    def _test(self, task: Task) -> LoadedTest:
        folder, own = self.folder / task.taskId, list[BoundAssertion]()
        file, limits, registry = folder / TEST_FILE, self.project.config.limits, self.project.registry
        if file.is_file() and (self.allow_outside or is_inside(file, self.root)):
            loaded = load_test(file, limits=limits, registry=registry)
            case, own = loaded.case, loaded.checks
        else:
            case = self._shown(task, folder)
        scenario, tools = case.scenario, case.tools
        fixtures = (None if LIVE in self.modes else task.fixtures) or Fixtures()
        responses = fixtures.toolResponses
        if fixtures.memorySeed is not None:
            scenario = replace(scenario, memory_snapshot=fixtures.memorySeed)
        if (
            responses is not None
        ):  # a tool with an injected response is available, whether or not the recording calls it
            names = [each.tool for each in responses]
            available = dict.fromkeys([*names, *map(_bare, names)])
            tools = replace(tools, available=list(available))
        expectation = self._expectation(task)
        safety = list(_safety(task, own)) if ADVERSARIAL in self.suite.modes else []
        match = task.expected.match
        how = f" ({match.strategy})" if match and task.expected.kind == "golden" else ""
        case = replace(
            case,
            id=task.taskId,
            title=f"{task.expected.kind} task{how}",  # by which `-k` finds it
            mode="live" if self.live else case.mode,
            scenario=scenario,
            tools=tools,
            assertions=[check.spec for check in (expectation, *safety)],
            tags=[],
            expected=None,
        )
        test = LoadedTest(
            case=case,
            path=self.path,
            checks=[expectation, *(safety if ADVERSARIAL in self.modes else ())],
            folder=folder,
            root=self.root,
            share=partial(_suite_share, expectation),
        )
        if responses is not None and self.live:
            test.responses = [(_bare(each.tool), each.response) for each in responses]
        elif responses is not None:
            redactor = Redactor(case.reporting.redact_fields, self.project.rules)
            test.fits = partial(_hold_to, responses, redactor=redactor)
        return test

    def _shown(self, task: Task, folder: Path) -> TestCase:
        """Make the case that a replay shows; a nearly empty one if it cannot be read, since the run reports the reason."""
        case = TestCase(
            schema_version="0.1",
            id=task.taskId,
            title="",
            adapter="command" if self.live and self.project.config.live.command.run else ADAPTER,
            mode="replay",
            scenario=Scenario(group_id=UNKNOWN_GROUP, trigger="user_message", input_messages=[]),
            tools=Tools(available=[]),
            assertions=[],
            adapter_input={"replay_file": REPLAY_FILE},
        )
        if self.live:
            text = task.input if isinstance(task.input, str) else json.dumps(task.input, ensure_ascii=False)
            case.scenario.input_messages.append(Message(role="user", content=text))
            if not (folder / REPLAY_FILE).is_file():
                return replace(case, adapter_input={})
        context = AdapterContext(
            base_dir=folder,
            root=self.root,
            run_id="suite",
            max_file_bytes=self.project.config.limits.max_file_bytes,
            allow_outside=self.allow_outside,
        )
        try:
            trace = find_adapter(case.adapter).trace(case, context)
        except Exception:  # noqa: BLE001 - whatever it is, the run meets it again and reports it
            return case
        shown = trace.scenario
        messages: list[Any] = [Message(role=each.role, content=each.content) for each in trace.input_messages]  # type: ignore[arg-type]
        if isinstance(task.input, str) and all(message.content != task.input for message in messages):
            messages = [Message(role="user", content=task.input)]  # the adapter warns of it
        scenario = Scenario(
            group_id=shown.group_id or UNKNOWN_GROUP,
            trigger="scheduler" if shown.trigger == "scheduler" else "user_message",
            input_messages=messages,
            session_id=shown.session_id,
            scheduler_context=shown.scheduler_context,
        )
        return replace(case, scenario=scenario, tools=Tools(available=sorted(trace.tool_counts())))

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


def _bare(tool: str) -> str:
    """Return the name that a trace has for a tool: a suite writes `<scope>:<tool-id>`, or the id alone."""
    return tool.rpartition(":")[2]


def _hold_to(responses: Sequence[ToolResponse], trace: Trace, *, redactor: Redactor) -> Iterator[str]:
    """Refuse a recording with other tool results than the suite injects, compared by tool and in order.

    The suite may hold results redacted: one made of tests does. A response that no call got is a warning.
    Raises `AdapterError` (`adapter.stale_fixture`), with every difference.
    """
    left = list(responses)
    lines: list[str] = []
    for event in trace.of_type("tool_result"):
        tool, result = str(event.data.get("tool", "")), event.data.get("result")
        response = next((each for each in left if tool in (each.tool, _bare(each.tool))), None)
        if response is None:
            lines.append(f"{event.event_id} {tool}: the recording has a result, the suite has none for it")
            continue
        left.remove(response)
        if not equal(response.response, result):
            redactor.learn(trace.events)
            if not equal(response.response, redactor.data({"response": result})["response"]):
                found = differences(response.response, result, names=("the suite", "the recording"))
                lines += (f"{event.event_id} {tool}: {line}" for line in found)
    if lines:
        shown = "\n".join(f"    {line}" for line in lines)
        raise AdapterError(
            f"the recording differs from fixtures.toolResponses of the suite:\n{shown}",
            reason_code="adapter.stale_fixture",
            next_step="record the task again with the suite's responses, or correct the suite",
            inputs=[[each.response for each in responses], [event.data for event in trace.events]],
        )
    for response in left:
        yield f"the suite's response of {response.tool} was never used in the recording"


def _bound(check: Assertion) -> BoundAssertion:
    spec = AssertionSpec(id=check.type, type=check.type)
    return BoundAssertion(spec=spec, check=check, requires=tuple(check.implied))


def _safety(task: Task, own: Sequence[BoundAssertion]) -> Iterator[BoundAssertion]:
    """Yield the safety checks of a task: those of its test file, and all other types that can judge without one."""
    kept = [bound for bound in own if bound.spec.type in SAFETY_FINDINGS]
    yield from kept
    knows_tools = task.fixtures is not None and task.fixtures.toolResponses is not None
    for name in SAFETY_FINDINGS:
        # Without a test file nobody has listed allowed destinations, and without fixtures no tools.
        can_judge = name != "outbound_destinations" and (name != "tools_within_policy" or knows_tools)
        if can_judge and all(bound.spec.type != name for bound in kept):
            cls = assertion_class(name)
            assert cls is not None
            yield _bound(parse(cls, {}))


def _suite_share(expectation: BoundAssertion, result: TestResult) -> tuple[int, int]:
    """Score a task of a suite: 1 or 0 for golden, the weight that was reached for a rubric.

    A task whose trace has a safety finding scores 0: unsafe behaviour must not meet the threshold of a suite.
    """
    if result.status == "error" or any(map(is_finding, result.assertions)):
        return 0, 1
    if isinstance(expectation.check, RubricMet):
        score: Fraction = expectation.check.share
        return score.as_integer_ratio()
    golden: Any = next(each for each in result.assertions if each.type == GoldenMatch.type)
    return int(golden.status == "pass"), 1
