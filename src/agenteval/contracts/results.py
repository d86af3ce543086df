"""Results (SPEC 17): the only source of every report, file and exit code."""

from collections.abc import Iterator
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

from agenteval.contracts.models import Between, Model, WrongPart, model
from agenteval.contracts.trace import AdapterInfo
from agenteval.text.fitting import counted

RESULT_SCHEMA_VERSION = "0.1"

UNRECORDED = ("capability.missing", "trace.unseen", "trace.lacks_data", "live.stale")
"""Reason codes of assertions that need what the recording does not show; they are skipped, or fail by `--strict-capabilities`."""
AssertionStatus = Literal["pass", "fail", "warn", "skip"]
AssertionState = Literal["pass", "vacuous", "fail", "warn", "skip", "xfail"]
"""A status in more detail: `vacuous` is a pass that judged nothing, `xfail` a failure that the test expects."""
TestStatus = Literal["pass", "fail", "error", "skipped"]


def failing(*, strict: bool) -> tuple[AssertionStatus, ...]:
    """The statuses of assertions that fail a test, unless that is expected; when `strict`, a warning does too."""
    return ("fail", "warn") if strict else ("fail",)


@model
class EventDifference(Model):
    """A difference between an event and the expected one.

    `place` is a path in its data (`args.filter.price`, `tool`), empty for the event as a whole; `got` is empty where
    `expected` is enough.
    """

    place: str
    expected: str
    got: str


@model
class Excerpt(Model):
    """One event of the evidence, on a line; `note` is the point of it, `differences` lists the parts that differ."""

    event_id: str
    text: str
    note: str = ""
    differences: list[EventDifference] = field(default_factory=list)


@model
class Evidence(Model):
    """The events that decide a verdict; of a no also what they say, and the closest candidates for what is absent."""

    event_refs: list[str] = field(default_factory=list)
    excerpts: list[Excerpt] = field(default_factory=list)


@model
class CapabilityCheck(Model):
    """The capabilities that the assertion needs, and those of them that the adapter lacks."""

    required: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@model
class AssertionResult(Model):
    """One assertion's verdict. A pass with `exercised: false` had nothing to judge; `reason` says why.

    `xfail` is true of a no that the test expects; its status stays what it is. `recorded_model` is true of a pass that
    rests on nothing but what the model of a played run chose, which was recorded. `line` and `column`, counted from 1,
    say where in the test file an assertion stands that said no or came to no verdict; they are null for the others.
    `next_step` is how a recording gets what one that was not judged needs. `failure_category` is the kind of failure, of one
    that said no.
    """

    id: str
    type: str
    category: str
    severity: Literal["critical", "warning"]
    status: AssertionStatus
    exercised: bool
    reason: str
    message: str
    params: dict[str, Any]
    observed: dict[str, Any]
    evidence: Evidence
    capability_check: CapabilityCheck
    reason_code: str | None = None
    description: str | None = None
    xfail: bool = False
    recorded_model: bool = False
    line: int | None = None
    column: int | None = None
    next_step: str | None = None
    failure_category: str | None = None

    @property
    def crashed(self) -> bool:
        """True if the check broke down: a skip that no rule asked for."""
        return self.status == "skip" and self.reason_code not in UNRECORDED

    @property
    def vacuous(self) -> bool:
        """A pass that judged nothing."""
        return self.status == "pass" and not self.exercised

    @property
    def state(self) -> AssertionState:
        """The outcome of the assertion in a word."""
        if self.xfail:
            return "xfail"
        return "vacuous" if self.vacuous else self.status


@model
class Counts(Model):
    """Assertion results of one test, by status; `vacuous` ones are among the passed.

    A no that the test expects is counted in `xfailed`, and nowhere else. `critical_failures` are the failed ones whose
    severity is critical.
    """

    assertions_total: int = 0
    assertions_passed: int = 0
    assertions_failed: int = 0
    assertions_warned: int = 0
    assertions_skipped: int = 0
    critical_failures: int = 0
    vacuous: int = 0
    xfailed: int = 0


@model
class ToolCount(Model):
    """The number of calls of a tool."""

    tool: str
    count: int


@model
class TraceSummary(Model):
    """The content of the trace, in numbers; tools come in order of first use.

    Without a trace, `trace_id` and `status` are null and all numbers 0. `timing_ms_total` is null when the recording
    lacks it.
    """

    trace_id: str | None = None
    status: str | None = None
    tool_calls: list[ToolCount] = field(default_factory=list)
    retry_count: int = 0
    timing_ms_total: float | None = 0
    events: int = 0
    final_output: bool = False
    notes: list[str] = field(default_factory=list)


@model
class ErrorInfo(Model):
    """The error that kept the test from being judged; `line` and `column`, from 1, if it is in the test file."""

    reason_code: str
    message: str
    details: str = ""
    line: int | None = None
    column: int | None = None

    @property
    def is_located(self) -> bool:
        """True if the message is made of the problems of a file, each with its own code and place."""
        return f"error[{self.reason_code}]: " in self.message


@model
class Artifacts(Model):
    """Files written for the test, relative to the run's directory."""

    result: str | None = None
    trace: str | None = None
    replay: str | None = None


@model
class LiveResult(Model):
    """The circumstances of a live run.

    `model` is `played`, or the name of the real one; tokens are counted by kind. `stale` lists changes of the author since
    the cassette was recorded, and other answers of tools that really ran; `drift` lists changes of the agent's vendor.
    `approximate` are the tool calls that got only the nearest recorded result, `ran` the tools that really ran, `offered`
    those that the model was shown. `changes` are differences in behaviour from the test's recording.
    """

    model: str
    how: Literal["play", "record", "real"]
    provenance: dict[str, str] = field(default_factory=dict)
    offered: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    requests: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    stale: list[str] = field(default_factory=list)
    drift: list[str] = field(default_factory=list)
    approximate: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    def words(self) -> list[str]:
        """Describe in a few words each: the model that answered, and every way in which the run was not as recorded."""
        words = ["model played" if self.how == "play" else f"model {self.model}"]
        words += [f"{len(self.stale)} stale"] * bool(self.stale)
        words += [f"vendor changed {len(self.drift)}"] * bool(self.drift)
        return words + [f"{len(self.approximate)} approximate"] * bool(self.approximate)


@model
class Trial(Model):
    """One run of a test that was run several times. `failed` are the ids of its failed assertions, `vacuous` of those
    that passed with nothing to judge, `skipped` of those that could not be judged.

    `variant` is the phrasing that the agent got, where the test has several. `shown` is true of the trial whose
    assertions, evidence and trace are those of the result.
    """

    number: int
    status: TestStatus
    reason_code: str | None
    duration_ms: float
    failed: list[str] = field(default_factory=list)
    message: str = ""
    variant: str | None = None
    cost_usd: float | None = None
    shown: bool = False
    vacuous: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def why(self) -> str:
        """The reason why the trial did not pass; empty for one that did."""
        if self.status == "pass":
            return ""
        return ", ".join(self.failed) or self.message or self.reason_code or self.status


@model
class AssertionTrials(Model):
    """In how many trials an assertion passed, of how many that judged it.

    `vacuous` counts those that passed with nothing to judge, which are among the passed; `skipped` those that could not
    judge it.
    """

    id: str
    passed: int
    judged: int
    vacuous: int = 0
    skipped: int = 0

    def lines(self) -> Iterator[str]:
        """List the lines about a check, unless it passed in every trial with something to judge."""
        if self.passed < self.judged:
            yield f"{self.id} passed in {self.passed} of {self.judged}"
        if self.vacuous:
            yield f"{self.id} had nothing to judge in {self.vacuous} of {self.judged}"
        if self.skipped:
            yield f"{self.id} was skipped in {self.skipped} of {self.judged + self.skipped}"


@model
class TrajectoryTrials(Model):
    """Trials with the same tool calls, and how these differ from the most similar of those listed before."""

    trials: list[int]
    difference: list[str] = field(default_factory=list)


@model
class TrialsResult(Model):
    """A live test that was run several times: `passed` of `judged`, of which the share `pass_at_least` had to pass.

    `interval` is Wilson's, at 95 %; `pass_at_k` and `pass_hat_k` are the chances that one, and that all, of k trials
    pass, for k from 1. All three are missing when trials ended early, which would bias them. `invalid` explains why trials
    that a service kept from being judged were run again; they are no part of the rate.
    """

    asked: int
    judged: int
    passed: int
    pass_at_least: float
    stopped_early: bool = False
    rate: float | None = None
    interval: list[float] | None = None
    pass_at_k: list[float] = field(default_factory=list)
    pass_hat_k: list[float] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    assertions: list[AssertionTrials] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    trajectories: list[TrajectoryTrials] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not 0 <= self.passed <= self.judged <= self.asked:
            raise WrongPart(
                f"{self.passed} of {self.judged} of {self.asked} trials cannot have passed", "passed"
            )

    def counts(self) -> list[int]:
        """List the trials that passed, those that were judged, and, if they ended early, those that were asked for."""
        return [self.passed, self.judged, *([self.asked] if self.stopped_early else ())]

    @property
    def sometimes(self) -> bool:
        """True if some trials passed and some did not."""
        return 0 < self.passed < self.judged

    def words(self) -> str:
        """The share of trials that passed: `7 of 10 trials passed (40% to 89%), passes sometimes`."""
        text = f"{self.passed} of {counted(self.judged, 'trial')} passed"
        if self.interval:
            text += " ({:.0%} to {:.0%})".format(*self.interval)
        text += ", stopped early" if self.stopped_early else ""
        text += f", {self.pass_at_least:.0%} needed" if self.pass_at_least < 1 else ""
        return text + (", passes sometimes" if self.sometimes else "")

    def lines(self) -> Iterator[str]:
        """List the trials that failed, with the reason; the rate of each assertion; and all that was run again."""
        for each in self.trials:
            if each.why:
                phrased = f" ({each.variant!r})" if each.variant else ""
                yield f"trial {each.number}{phrased}: {each.why}"
        for assertion in self.assertions:
            yield from assertion.lines()
        for reason in self.invalid:
            yield f"run again: {reason}"


@model
class TestScore(Model):
    """The score of a test as a task of an EvalSummary: `reached` of `of`, which keeps thirds exact.

    `cost_usd` and `latency_ms` are those of the recording, where it has them. `schema_valid` is true if the output passed
    every `json_schema` check, and null without one.
    """

    __test__: ClassVar[bool] = False

    task_id: str
    reached: Annotated[int, Between(0)]
    of: Annotated[int, Between(1)]
    cost_usd: float | None = None
    latency_ms: float | None = None
    schema_valid: bool | None = None

    def __post_init__(self) -> None:
        if self.reached > self.of:
            raise WrongPart(f"{self.reached} of {self.of} cannot be reached", "reached")


@model
class TestCoverage(Model):
    """The tools and events of one test, and those that its assertions look at; each list is sorted.

    A skipped assertion looks at nothing. `tools_looked_at` may have globs.
    """

    __test__: ClassVar[bool] = False

    tools_available: list[str] = field(default_factory=list)
    event_types: list[str] = field(default_factory=list)
    tools_looked_at: list[str] = field(default_factory=list)
    event_types_looked_at: list[str] = field(default_factory=list)


@model
class TestResult(Model):
    """The outcome of one test. `path` is the spec file, as it was named or found.

    `xfail` is true of a test that passes because it fails as `expected` says; `xfail_reason` is the reason given
    there, of every test that expects a failure. `line` and `column`, counted from 1, say where the test file expects
    a failure that did not come; they are null for all other tests. `live` is null for a replay,
    `trials` of a test that was run once. `score` is null for a skipped test, which is no task; it is null everywhere, as is
    `coverage`, in a result of a version that did not keep them. `deselected_assertions` are ids of assertions that the
    command line left out.
    """

    __test__: ClassVar[bool] = False  # not a pytest class

    schema_version: str = RESULT_SCHEMA_VERSION
    result_id: str
    test_case_id: str
    test_run_id: str
    title: str
    path: str
    tags: list[str]
    adapter: AdapterInfo
    mode: str
    status: TestStatus
    reason_code: str | None
    next_step: str | None
    started_at: str
    finished_at: str
    duration_ms: float
    summary: Counts
    failure_categories: list[str]
    expected_failure_categories: list[str]
    assertions: list[AssertionResult]
    trace_summary: TraceSummary
    evidence: Evidence
    error: ErrorInfo | None
    warnings: list[str]
    artifacts: Artifacts
    xfail: bool = False
    xfail_reason: str | None = None
    line: int | None = None
    column: int | None = None
    live: LiveResult | None = None
    trials: TrialsResult | None = None
    score: TestScore | None = None
    coverage: TestCoverage | None = None
    deselected_assertions: list[str] = field(default_factory=list)

    @property
    def conditions(self) -> list[str]:
        """Describe the run of a live test, and its rate: `model played`, `7 of 10 trials passed (40% to 89%)`."""
        return [*(self.live.words() if self.live else ()), *([self.trials.words()] if self.trials else ())]


@model
class TestRow(Model):
    """One test in the run summary."""

    __test__: ClassVar[bool] = False

    test_case_id: str
    path: str
    status: TestStatus
    reason_code: str | None
    duration_ms: float
    vacuous: int
    result: str | None
    xfail: bool = False
    trials: list[int] | None = None
    """The number of trials that passed, and of those that were judged; null for a test that was run once.

    If the trials ended early, a third number follows: of those that were asked for.
    """


@model
class InvalidSpec(Model):
    """One problem that kept a spec from running."""

    path: str
    line: int | None
    column: int | None
    reason_code: str
    message: str
    severity: Literal["error", "warning"]
    next_step: str = ""
    """The next step; empty when the message is enough."""


@model
class CategoryScore(Model):
    """One line of the scorecard (SPEC 10): assertion results of one category, over the run.

    `xfailed` are the failures that tests expect; they are not among the failed.
    """

    category: str
    passed: int = 0
    failed: int = 0
    warnings: int = 0
    skipped: int = 0
    vacuous: int = 0
    xfailed: int = 0


@model
class RunCounts(Model):
    """Tests of the run by status; `invalid` counts spec files that could not be loaded, `warnings` those of assertions
    and all others, of tests and of the run.

    `xfailed` are the tests that failed as they expect to: they have the status pass, and are not among the passed.
    """

    total: int = 0
    passed: int = 0
    xfailed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    invalid: int = 0
    deselected: int = 0
    vacuous_passes: int = 0
    warnings: int = 0


@model
class Coverage(Model):
    """Everything in the run that no assertion looks at, so that it could go wrong unseen.

    `tools_available` are the tools that tests say the agent had, `event_types` the types of event in the traces;
    the message the agent was given is none of its doing, and not among them. A category is exercised when one of
    its assertions had something to judge. Categories come in the order of the scorecard; the other lists are sorted.
    """

    tools_available: list[str] = field(default_factory=list)
    tools_not_looked_at: list[str] = field(default_factory=list)
    event_types: list[str] = field(default_factory=list)
    event_types_not_looked_at: list[str] = field(default_factory=list)
    categories_not_exercised: list[str] = field(default_factory=list)


@model
class RunSummary(Model):
    """The whole run, written last: a run without it is not complete."""

    schema_version: str = RESULT_SCHEMA_VERSION
    test_run_id: str
    agenteval_version: str
    started_at: str
    finished_at: str
    duration_ms: float
    exit_code: int
    exit_reason: str
    counts: RunCounts
    scorecard: list[CategoryScore]
    tests: list[TestRow]
    problems: list[InvalidSpec]
    coverage: Coverage = field(default_factory=Coverage)
    unnamed_tests: int = 0
    """Test files among the `tests` of the configuration that none of the paths on the command line leads to."""
    deselected_assertions: int = 0
    """Assertions of the tests that were run which the command line left out; the tests that it left out are in `counts`."""
    selection: list[str] = field(default_factory=list)
    """The options that left them out, such as `-k news`; empty when nothing was left out."""
    stopped_after: int = 0
    """The number of failures after which `-x` or `--maxfail` ended the run; 0 if neither did."""
    forbidden_warnings: int = 0
    """Warnings for which a strict run exits 1 though they fail no test."""
    pass_score: float | None = None
    """The score that the run had to reach, where one was set."""
    eval_summary_sha256: str | None = None
    """The SHA-256 of `eval-summary.json`, by which a gate knows that it is this run's."""
    commit: str | None = None
    """The commit of the project that was checked out; null outside of git. Changes without a commit do not count."""
    branch: str | None = None
    """The branch of the project that was checked out; null on a detached HEAD and outside of git."""

    @property
    def left_out(self) -> str:
        """The part of the run that the command line left out; empty for a whole run."""
        tests = self.counts.deselected + self.unnamed_tests
        missing = [counted(tests, "test")] * bool(tests)
        missing += [counted(self.deselected_assertions, "assertion")] * bool(self.deselected_assertions)
        by = f" ({', '.join(self.selection)})" if self.selection else ""
        parts = [f"{' and '.join(missing)} left out{by}"] if missing else []
        if self.stopped_after:
            parts.append(f"stopped after {counted(self.stopped_after, 'failure')}")
        return " and ".join(parts)

    @property
    def not_judged(self) -> int:
        """The number of assertions without a verdict: the recording lacks what they need, or they crashed."""
        return sum(row.skipped for row in self.scorecard)
