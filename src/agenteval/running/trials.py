"""A live test run several times: one result, with every trial in it, and a verdict by the test's own bar."""

import math
from collections.abc import Sequence
from dataclasses import replace

from agenteval.comparing.behaviour import Trajectory, call_changes, recorded
from agenteval.contracts.results import (
    AssertionResult,
    AssertionState,
    AssertionTrials,
    ErrorInfo,
    Evidence,
    LiveResult,
    TrajectoryTrials,
    Trial,
    TrialsResult,
)
from agenteval.contracts.testcase import Message
from agenteval.judging.rates import pass_at_k, pass_hat_k, wilson
from agenteval.judging.runner import Outcome, RunOptions, counts_of, run_test
from agenteval.loading.testfile import LoadedTest

OUTAGES = ("live.api_error",)
"""The reason codes of trials that a service kept from being judged: they say nothing of the agent."""
TOO_MANY_INVALID = "live.too_many_invalid"


def trials_of(test: LoadedTest, options: RunOptions) -> int:
    """Return the number of trials of a live test: that of the command line, or of the test."""
    return options.trials or (test.case.live.trials if test.case.live else 1)


def run_trials(test: LoadedTest, options: RunOptions, today: str) -> Outcome:
    """Run a test as often as is asked for, and forgive what does not block yet. A single run has a result without trials.

    `today` is YYYY-MM-DD.
    """
    number = trials_of(test, options)
    outcome = run_test(test, options) if number == 1 else _tried(test, options, number)
    if outcome.result.live:
        _forgive(outcome, test, today)
    return outcome


def _forgive(outcome: Outcome, test: LoadedTest, today: str) -> None:
    """A failure of a test that does not block is told like one that is expected, until its day is over."""
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
    bar = test.case.live.pass_at_least if test.case.live else 1.0
    needed = max(1, math.ceil(bar * number - 1e-9))
    valid: list[tuple[Outcome, str | None]] = []
    invalid: list[Outcome] = []
    stopped = False
    while len(valid) < number and len(invalid) <= max(2, number):
        if options.early_stop and len(valid) - _passed(valid) > number - needed:
            stopped = True
            break
        variant = _variant(test, len(valid))
        outcome = run_test(_phrased(test, variant), options)
        if outcome.result.error and outcome.result.error.reason_code in OUTAGES:
            invalid.append(outcome)
            continue
        valid.append((outcome, variant))
        if outcome.result.status == "error":  # which no bar excuses: nothing was judged
            stopped = True
            break
    return _told(valid, invalid, number=number, bar=bar, needed=needed, stopped=stopped)


def _passed(valid: Sequence[tuple[Outcome, str | None]]) -> int:
    return sum(outcome.result.status == "pass" for outcome, _ in valid)


def _variant(test: LoadedTest, number: int) -> str | None:
    variants = test.case.variants
    return variants[number % len(variants)] if variants else None


def _phrased(test: LoadedTest, variant: str | None) -> LoadedTest:
    """The test with the last message of the user in other words."""
    if variant is None:
        return test
    scenario = test.case.scenario
    messages = list(scenario.input_messages)
    last = max((i for i, each in enumerate(messages) if each.role == "user"), default=len(messages))
    messages[last : last + 1] = [Message(role="user", content=variant)]
    return replace(test, case=replace(test.case, scenario=replace(scenario, input_messages=messages)))


def _told(
    valid: Sequence[tuple[Outcome, str | None]],
    invalid: Sequence[Outcome],
    *,
    number: int,
    bar: float,
    needed: int,
    stopped: bool,
) -> Outcome:
    """One outcome for all: that of the first trial which went as the verdict says."""
    passed, count = _passed(valid), len(valid)
    whole = count == number or stopped
    passes = whole and passed >= needed
    outcomes = [outcome for outcome, _ in valid]
    unjudged = next((each for each in outcomes if each.result.status == "error"), None)
    wanted = ("pass",) if passes else ("fail", "skipped")
    chosen = unjudged or next(
        (each for status in wanted for each in outcomes if each.result.status == status),
        (outcomes or invalid)[0],
    )
    result = chosen.result
    if not whole:
        chosen = (invalid or outcomes)[-1]
        result, last = chosen.result, chosen.result.error
        result.status, result.reason_code = "error", TOO_MANY_INVALID
        result.error = ErrorInfo(
            reason_code=TOO_MANY_INVALID,
            message=f"{len(invalid)} trials could not be judged: the model's service failed, most recently with: "
            f"{last.message if last else ''}",
            details="",
            line=None,
            column=None,
        )
        result.next_step = "run the test again when the service answers"
    interval = list(wilson(passed, count)) if count and not stopped else None
    result.trials = TrialsResult(
        asked=number,
        judged=count,
        passed=passed,
        pass_at_least=bar,
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
    if result.live:
        _add_up(result.live, [each.result.live for each in [*outcomes, *invalid] if each.result.live])
    return chosen


def _weakest(shown: AssertionResult, outcomes: Sequence[Outcome]) -> AssertionResult:
    """An assertion's result, or that of a trial in which it was skipped or had nothing to judge.

    An answer may be empty in two of six trials. The four others must not hide that nothing was checked there.
    """
    all_of_it = [each for outcome in outcomes for each in outcome.result.assertions if each.id == shown.id]
    for state in ("skip", "vacuous"):
        found = [each for each in all_of_it if each.state == state]
        if found and shown.status in ("pass", "skip"):
            if len(found) == len(all_of_it):
                return shown
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
    """Of each assertion how many trials passed, of how many that judged it, and how many judged nothing."""
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


def _trajectories(outcomes: Sequence[Outcome]) -> list[TrajectoryTrials]:
    """The trials by the calls that the agent made, the most frequent first; of each other one the smallest difference to those before it.

    The words of an answer are no part of it: they differ every time.
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
    ways.sort(key=lambda way: -len(way[1]))
    told = []
    for index, (way, numbers) in enumerate(ways):
        differences = [
            [line for change in call_changes(other, way) for line in (change.heading, *change.lines)]
            for other, _ in ways[:index]
        ]
        told.append(TrajectoryTrials(trials=numbers, difference=min(differences, key=len, default=[])))
    return told


def _add_up(whole: LiveResult, parts: Sequence[LiveResult]) -> None:
    """All requests, tokens, costs and remarks of the trials."""
    tokens: dict[str, int] = {}
    for part in parts:
        for kind, count in part.tokens.items():
            tokens[kind] = tokens.get(kind, 0) + count
    costs = [part.cost_usd for part in parts if part.cost_usd is not None]
    whole.requests, whole.tokens = sum(part.requests for part in parts), tokens
    whole.cost_usd = math.fsum(costs) if costs else None
    for name in ("offered", "ran", "stale", "drift", "approximate"):
        setattr(whole, name, list(dict.fromkeys(each for part in parts for each in getattr(part, name))))
