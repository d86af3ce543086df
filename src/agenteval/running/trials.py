"""Runs a live test several times: one result with every trial, and a verdict by the pass rate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agenteval.comparing.behaviour import Trajectory, call_changes, recorded
from agenteval.comparing.rates import pass_at_k, pass_hat_k, wilson
from agenteval.contracts.results import (
    AssertionResult,
    AssertionState,
    AssertionTrials,
    ErrorInfo,
    Evidence,
    LiveResult,
    TestResult,
    TrajectoryTrials,
    Trial,
    TrialsResult,
)
from agenteval.contracts.testcase import Message
from agenteval.judging.runner import Outcome, RunOptions, counts_of, run_test
from agenteval.loading.testfile import LoadedTest

OUTAGES = ("live.api_error",)
"""The reason codes of trials that failed with the model's service: they show nothing of the agent."""
TOO_MANY_INVALID = "live.too_many_invalid"


def trials_of(test: LoadedTest, options: RunOptions) -> int:
    """Return the number of trials of a live test: from the command line, or from the test."""
    return options.trials or (test.case.live.trials if test.case.live else 1)


def run_trials(test: LoadedTest, options: RunOptions, today: str) -> Outcome:
    """Run a test as often as asked, and forgive a failure that does not block yet. A single run has a result without trials.

    `today` is YYYY-MM-DD.
    """
    number = trials_of(test, options)
    outcome = run_test(test, options) if number == 1 else _tried(test, options, number)
    if outcome.result.live:
        forgive(outcome, test, today)
    return outcome


def forgive(outcome: Outcome, test: LoadedTest, today: str) -> None:
    """Turn a failure of a test that does not block into an expected one, until the day that the test names is over."""
    live, result = test.case.live, outcome.result
    if live is None or live.blocking or (live.until or "") < today or result.status != "fail":
        return
    result.status, result.reason_code, result.next_step = "pass", None, None
    result.xfail, result.failure_categories = True, []
    result.xfail_reason = outcome.redactor.text(f"does not block until {live.until}: {live.owner}")
    for each in result.assertions:
        each.xfail = each.status in ("fail", "warn")
    result.summary = counts_of(result.assertions)


def _tried(test: LoadedTest, options: RunOptions, number: int) -> Outcome:
    trials = TrialSeries(test, options, number)
    while not trials.is_over and not (options.early_stop and trials.is_lost):
        trials.make()
    return trials.outcome(stopped=len(trials.valid) < number and options.early_stop and trials.is_lost)


@dataclass(slots=True, eq=False)
class TrialSeries:
    """The trials of one test with one agent, made one after the other, until `number` of them are judged."""

    test: LoadedTest
    options: RunOptions
    number: int
    valid: list[tuple[Outcome, str | None]] = field(default_factory=list)
    """The outcomes of trials that say something of the agent, each with the phrasing that it got."""
    invalid: list[Outcome] = field(default_factory=list)
    """The outcomes of trials that the model's service kept from being judged."""

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of trials that say something of the agent."""
        return [outcome for outcome, _ in self.valid]

    @property
    def passed(self) -> int:
        """The number of trials that passed."""
        return sum(outcome.result.status == "pass" for outcome in self.outcomes)

    @property
    def bar(self) -> float:
        """The share of trials that has to pass."""
        return self.test.case.live.pass_at_least if self.test.case.live else 1.0

    @property
    def needed(self) -> int:
        """The number of trials that has to pass, of those planned."""
        return max(1, math.ceil(self.bar * self.number - 1e-9))

    @property
    def unjudged(self) -> Outcome | None:
        """The trial that ended in an error, which no bar excuses: nothing was judged."""
        return next((each for each in self.outcomes if each.result.status == "error"), None)

    @property
    def is_over(self) -> bool:
        """True once no further trial is to be made."""
        enough = len(self.valid) >= self.number or len(self.invalid) > max(2, self.number)
        return enough or self.unjudged is not None

    @property
    def is_lost(self) -> bool:
        """True once the bar cannot be met any more."""
        return len(self.valid) - self.passed > self.number - self.needed

    def make(self) -> Outcome:
        """Make one more trial, in the next phrasing."""
        variant = _variant(self.test, len(self.valid))
        outcome = run_test(_phrased(self.test, variant), self.options)
        if outcome.result.error and outcome.result.error.reason_code in OUTAGES:
            self.invalid.append(outcome)
        else:
            self.valid.append((outcome, variant))
        return outcome

    def outcome(self, *, stopped: bool = False) -> Outcome:
        """Sum the trials up as one outcome. `stopped`: those that are missing could not have changed what they were made for."""
        return _summed_up(self, stopped=stopped or self.unjudged is not None)


def _variant(test: LoadedTest, number: int) -> str | None:
    variants = test.case.variants
    return variants[number % len(variants)] if variants else None


def _phrased(test: LoadedTest, variant: str | None) -> LoadedTest:
    """Return the test with the last message of the user in the words of a variant."""
    if variant is None:
        return test
    scenario = test.case.scenario
    messages = list(scenario.input_messages)
    last = max((i for i, each in enumerate(messages) if each.role == "user"), default=len(messages))
    messages[last : last + 1] = [Message(role="user", content=variant)]
    return replace(test, case=replace(test.case, scenario=replace(scenario, input_messages=messages)))


def _set_error(result: TestResult, invalid: int) -> None:
    """Make the result of the last trial an error: the model's service failed in too many of them."""
    last = result.error
    result.status, result.reason_code = "error", TOO_MANY_INVALID
    result.error = ErrorInfo(
        reason_code=TOO_MANY_INVALID,
        message=f"{invalid} trials could not be judged: the model's service failed, most recently with: "
        f"{last.message if last else ''}",
        details="",
        line=None,
        column=None,
    )
    result.next_step = "run the test again when the service answers"


def _summed_up(series: TrialSeries, *, stopped: bool) -> Outcome:
    """Make one outcome of all trials: the first trial that agrees with the verdict, with the figures of all."""
    valid, invalid, number = series.valid, series.invalid, series.number
    passed, count, unjudged = series.passed, len(valid), series.unjudged
    whole = count == number or stopped
    passes = whole and passed >= series.needed
    outcomes = series.outcomes
    wanted = ("pass",) if passes else ("fail", "skipped")
    chosen = unjudged or next(
        (each for status in wanted for each in outcomes if each.result.status == status),
        (outcomes or invalid)[0],
    )
    result = chosen.result
    if not whole:
        chosen = (invalid or outcomes)[-1]
        result = chosen.result
        _set_error(result, len(invalid))
    interval = list(wilson(passed, count)) if count and not stopped else None
    result.trials = TrialsResult(
        asked=number,
        judged=count,
        passed=passed,
        pass_at_least=series.bar,
        stopped_early=stopped,
        rate=passed / count if count else None,
        interval=interval,
        pass_at_k=[pass_at_k(passed, count, k) for k in range(1, count + 1)] if interval else [],
        pass_hat_k=[pass_hat_k(passed, count, k) for k in range(1, count + 1)] if interval else [],
        trials=[
            _trial(number, outcome, variant, chosen) for number, (outcome, variant) in enumerate(valid, 1)
        ],
        assertions=_assertions(outcomes),
        invalid=[each.result.error.message for each in invalid if each.result.error],
        trajectories=_trajectories(outcomes),
    )
    if passed and result.status == "skipped":  # trials that judge nothing are missing from the passed ones
        result.status = "fail"
    result.assertions = [_weakest(each, outcomes) for each in result.assertions]
    result.summary = counts_of(result.assertions)
    result.duration_ms = round(sum(each.result.duration_ms for each in [*outcomes, *invalid]), 3)
    result.started_at = min(each.result.started_at for each in [*outcomes, *invalid])
    result.warnings = list(
        dict.fromkeys(line for each in [*outcomes, *invalid] for line in each.result.warnings)
    )
    for each in [*outcomes, *invalid]:
        if each is not chosen and chosen.account and each.account:
            chosen.account.add(each.account)
    if result.live:
        _add_up(result.live, [each.result.live for each in [*outcomes, *invalid] if each.result.live])
    return chosen


def _weakest(shown: AssertionResult, outcomes: Sequence[Outcome]) -> AssertionResult:
    """Return an assertion's result, or its result in a trial that skipped it or gave it nothing to judge.

    An answer may be empty in two of six trials. The four others must not hide that nothing was checked there.
    """
    all_of_it = [each for outcome in outcomes for each in outcome.result.assertions if each.id == shown.id]
    for state in ("skip", "vacuous"):
        found = [each for each in all_of_it if each.state == state]
        if found and shown.status in ("pass", "skip"):
            if len(found) == len(all_of_it):
                return shown
            # The evidence of another trial would name events that are not in the trace of the one shown.
            where = f" (in {len(found)} of {len(all_of_it)} trials)"
            first = shown if shown.state == state else replace(found[0], evidence=Evidence())
            return replace(first, message=first.message + where, reason=f"{first.reason}{where}".strip())
    return shown


def _trial(number: int, outcome: Outcome, variant: str | None, chosen: Outcome) -> Trial:
    result = outcome.result

    def in_state(state: AssertionState) -> list[str]:
        return [each.id for each in result.assertions if each.state == state]

    return Trial(
        number=number,
        status=result.status,
        reason_code=result.reason_code,
        duration_ms=result.duration_ms,
        failed=[each.id for each in result.assertions if each.status == "fail"],
        message=result.error.message if result.error else "",
        variant=outcome.redactor.text(variant) if variant else None,
        cost_usd=result.live.cost_usd if result.live else None,
        shown=outcome is chosen,
        vacuous=in_state("vacuous"),
        skipped=in_state("skip"),
    )


def _assertions(outcomes: Sequence[Outcome]) -> list[AssertionTrials]:
    """Count for each assertion the trials that passed it, judged it, skipped it, or gave it nothing to judge."""
    states: dict[str, list[AssertionResult]] = {}
    for outcome in outcomes:
        for each in outcome.result.assertions:
            states.setdefault(each.id, []).append(each)
    return [
        AssertionTrials(
            id=name,
            passed=sum(each.status == "pass" for each in found),
            judged=sum(each.status != "skip" for each in found),
            vacuous=sum(each.vacuous for each in found),
            skipped=sum(each.status == "skip" for each in found),
        )
        for name, found in states.items()
    ]


def ways_of(outcomes: Sequence[Outcome]) -> list[tuple[Trajectory, list[int]]]:
    """Group trials by the calls that the agent made, each way with its trials from 1, the most frequent way first.

    The words of an answer are left out, since they differ every time.
    """
    ways: list[tuple[Trajectory, list[int]]] = []
    for number, outcome in enumerate(outcomes, 1):
        if outcome.trace is None:
            continue
        found = recorded(outcome.trace, outcome.redactor)
        numbers = next((numbers for first, numbers in ways if not call_changes(first, found)), None)
        if numbers is None:
            ways.append((found, [number]))
        else:
            numbers.append(number)
    return sorted(ways, key=lambda way: -len(way[1]))


def _trajectories(outcomes: Sequence[Outcome]) -> list[TrajectoryTrials]:
    """The ways of the trials; of each but the first the smallest difference to those before it."""
    ways = ways_of(outcomes)
    listed = []
    for index, (way, numbers) in enumerate(ways):
        differences = [change_lines_of(other, way) for other, _ in ways[:index]]
        listed.append(TrajectoryTrials(trials=numbers, difference=min(differences, key=len, default=[])))
    return listed


def change_lines_of(before: Trajectory, after: Trajectory) -> list[str]:
    """List how the calls of one way differ from those of another, each with its arguments."""
    return [line for change in call_changes(before, after) for line in (change.heading, *change.lines)]


def _add_up(whole: LiveResult, parts: Sequence[LiveResult]) -> None:
    """Add up the requests, tokens, costs and remarks of all trials in one result."""
    tokens: dict[str, int] = {}
    for part in parts:
        for kind, count in part.tokens.items():
            tokens[kind] = tokens.get(kind, 0) + count
    costs = [part.cost_usd for part in parts if part.cost_usd is not None]
    whole.requests, whole.tokens = sum(part.requests for part in parts), tokens
    whole.cost_usd = math.fsum(costs) if costs else None
    for name in ("offered", "ran", "stale", "drift", "approximate"):
        setattr(whole, name, list(dict.fromkeys(each for part in parts for each in getattr(part, name))))
