"""The course of a run as OpenWOP events (RFC 0081, section C): scores, ids and counts, never content.

`eval.started`, one `eval.scored` per task in order, and `eval.completed`, which a run that was interrupted lacks. An
event is `{sequence, timestamp, type, payload}`; `sequence` counts from 1.
"""

from collections.abc import Iterator
from typing import Any

from agenteval.openwop.summary import REGRESSION, Scores


def eval_events(scores: Scores, started_at: str, finished_at: str | None) -> list[dict[str, Any]]:
    """The events of a run, in order; `finished_at` is None for a run that did not come to its end.

    Times are ISO 8601 in UTC.
    """
    return [
        {"sequence": number, "timestamp": timestamp, "type": kind, "payload": payload}
        for number, (timestamp, kind, payload) in enumerate(_events(scores, started_at, finished_at), 1)
    ]


def _events(
    scores: Scores, started_at: str, finished_at: str | None
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield started_at, "eval.started", _started(scores)
    for task, timestamp in zip(scores.tasks, scores.scored_at, strict=True):
        findings = task.get("safetyFindings")
        yield timestamp, "eval.scored", _without_findings(task, len(findings)) if findings else task
    if finished_at is not None:
        yield max([finished_at, *scores.scored_at[-1:]]), "eval.completed", _completed(scores)


def _started(scores: Scores) -> dict[str, Any]:
    suite, baseline = scores.suite, scores.baseline
    modes = suite.modes if baseline is None else [*suite.modes, REGRESSION]
    payload = {
        "suiteId": suite.id,
        "suiteVersion": suite.version,
        "taskCount": len(scores.tasks),
        "modes": list(dict.fromkeys(modes)),
    }
    return payload if baseline is None else {**payload, "baselineRunId": baseline.run_id}


def _without_findings(task: dict[str, Any], count: int) -> dict[str, Any]:
    told = {name: value for name, value in task.items() if name != "safetyFindings"}
    return {**told, "safetyFindingCount": count}


def _completed(scores: Scores) -> dict[str, Any]:
    summary = scores.summary()
    payload = {name: summary[name] for name in ("aggregateScore", "passed", "taskCount", "passedCount")}
    if regression := summary.get("regression"):
        payload["regressionVsBaseline"] = regression["scoreDelta"]
    return payload
