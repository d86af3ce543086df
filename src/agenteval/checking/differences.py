"""The trials of both agents side by side: the ways that they went, their calls, answers and assertions."""

from collections.abc import Sequence

from agenteval.comparing.behaviour import Trajectory, call_changes, recorded
from agenteval.comparing.check_report import AssertionRates, Measurement, Way
from agenteval.comparing.rate_verdicts import RateVerdict
from agenteval.contracts.results import TrialsResult
from agenteval.judging.runner import Outcome
from agenteval.running.trials import TrialSeries, change_lines_of, ways_of

_LONGEST_ANSWER = 4000


def compared(
    before: TrialSeries,
    after: TrialSeries,
    was: TrialsResult | None,
    now: TrialsResult | None,
    *,
    stopped: bool,
) -> Measurement:
    """Put side by side what the two agents did."""
    assert was is not None
    assert now is not None
    ways = _ways(before.outcomes, after.outcomes)
    was_usual = max(ways, key=lambda way: len(way[1]), default=None)
    is_usual = max(ways, key=lambda way: len(way[2]), default=None)
    one, other = (way[0] if way else None for way in (was_usual, is_usual))
    answers = []
    if was_usual and is_usual:
        # where trials fail that did not before, the answer of one that passes would show nothing of it
        fell = now.passed * was.judged < was.passed * now.judged
        shown = _failing(after) if fell else []
        answers = [_answer(before, was_usual[1]), _answer(after, shown or is_usual[2])]
    by_id = [{each.id: each for each in side.assertions} for side in (was, now)]
    return Measurement(
        verdict="unclear",
        asked=before.number,
        before=was,
        after=now,
        p=1.0,
        low=-1.0,
        high=1.0,
        stopped_early=stopped,
        ways=[
            Way(
                calls=[call.tool for call in way.calls],
                before=len(ones),
                after=len(others),
                difference=change_lines_of(one, way) if one and way is not one else [],
            )
            for way, ones, others in ways
        ],
        calls=call_changes(one, other) if one and other else [],
        answers=answers,
        assertions=[
            AssertionRates(id=name, before=by_id[0].get(name), after=by_id[1].get(name))
            for name in dict.fromkeys([*by_id[0], *by_id[1]])
        ],
        misses_bar=now.passed < after.bar * now.judged - 1e-9,
        missed_bar=was.passed < before.bar * was.judged - 1e-9,
    )


def _ways(
    before: Sequence[Outcome], after: Sequence[Outcome]
) -> list[tuple[Trajectory, list[int], list[int]]]:
    """Group the trials of both sides by their calls: each way with its trials before and after, the most frequent before first."""
    ways: list[tuple[Trajectory, list[int], list[int]]] = [
        (way, trials, []) for way, trials in ways_of(before)
    ]
    for way, trials in ways_of(after):
        same = next((numbers for known, _, numbers in ways if not call_changes(known, way)), None)
        if same is None:
            ways.append((way, [], trials))
        else:
            same += trials
    return ways


def _failing(side: TrialSeries) -> list[int]:
    """List the numbers of the trials that failed, from 1."""
    return [number for number, each in enumerate(side.outcomes, 1) if each.result.status == "fail"]


def _answer(side: TrialSeries, trials: Sequence[int]) -> str:
    """Return the answer of the first of some trials, redacted as its trace is; empty where there is none."""
    if not trials:
        return ""
    outcome = side.outcomes[trials[0] - 1]
    output = recorded(outcome.trace, outcome.redactor).output if outcome.trace else None
    return (output or "")[:_LONGEST_ANSWER]


def decided(measurement: Measurement, verdict: RateVerdict) -> None:
    """Add to a measurement what is known once all tests are decided on together."""
    measurement.verdict = verdict.verdict
    measurement.p, measurement.low, measurement.high = verdict.adjusted_p, verdict.low, verdict.high
    measurement.advice, measurement.trials_needed = verdict.words(), verdict.trials_needed
