"""Three reports of checks, as data and in run directories: nothing changed, a change without the model, and a measured one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agenteval.comparing.behaviour import CallChange
from agenteval.comparing.check_report import (
    AssertionRates,
    ChangedFile,
    ChangedPart,
    CheckBase,
    CheckedTest,
    CheckReport,
    Measurement,
    ModelUse,
    Reach,
    Way,
)
from agenteval.comparing.rate_verdicts import Verdict
from agenteval.contracts.results import AssertionTrials, TestResult, Trial, TrialsResult
from agenteval.judging.stored import CHECK, StoredRun
from agenteval.openwop.summary import Suite
from agenteval.records.record import complete, record_of
from agenteval.records.summary import RunSettings, RunTotals, summarise
from agenteval.reporters.artifacts import RunDirectory
from run_builders import file_away, judged, make_outcome, make_result

PROMPT = "system prompt changed: 'Name the order.' → 'Be brief.'"
TOOL = "result of call 1 (lookup) changed: 'ships tomorrow' → 'ships on Monday'"
SHOP = ("refund", "order", "greeting", "address")


def checked_test(name: str, reach: Reach = "unreached", **overrides: Any) -> CheckedTest:
    """A test of a shop's agent."""
    given: dict[str, Any] = {
        "test_case_id": f"shop.{name}",
        "path": f"evals/{name}/test.yaml",
        "reach": reach,
        "status": "pass",
        "requests": 3,
        "tokens": 2100,
        "cost_usd": 0.011,
        "result": f"shop.{name}.result.json",
        **overrides,
    }
    return CheckedTest(**given)


def side(passed: int, trials: int, failed: str = "names-order", vacuous: int = 0) -> TrialsResult:
    """The trials of one side: the first ones pass, and in some of them nothing was judged."""
    return TrialsResult(
        asked=trials,
        judged=trials,
        passed=passed,
        pass_at_least=0.5,
        rate=passed / trials if trials else None,
        trials=[
            Trial(
                number=number,
                status="pass" if number <= passed else "fail",
                reason_code=None if number <= passed else "assertion.failed",
                duration_ms=900.0,
                failed=[] if number <= passed else [failed],
                vacuous=["grounded"] * (number <= vacuous),
            )
            for number in range(1, trials + 1)
        ],
        assertions=[
            AssertionTrials(id="looked-up", passed=trials, judged=trials),
            AssertionTrials(id=failed, passed=passed, judged=trials),
            AssertionTrials(id="grounded", passed=trials, judged=trials, vacuous=vacuous),
        ],
    )


def measured(
    verdict: Verdict, before: tuple[int, int], after: tuple[int, int], **overrides: Any
) -> Measurement:
    """A measurement with the rates of both sides."""
    one, other = side(*before), side(*after, vacuous=2)
    given: dict[str, Any] = {
        "verdict": verdict,
        "asked": 6,
        "before": one,
        "after": other,
        "p": 0.001 if verdict == "worse" else 0.4,
        "low": -1.0 if verdict == "worse" else -0.18,
        "high": -0.55 if verdict == "worse" else 0.18,
        "ways": [
            Way(calls=["lookup", "send"], before=before[1], after=after[0]),
            Way(
                calls=["send"],
                before=0,
                after=after[1] - after[0],
                difference=["- call 1  lookup", '{"order": "42"}'],
            ),
        ],
        "answers": ["Order 42 ships tomorrow.", "It ships tomorrow."],
        "assertions": [
            AssertionRates(id=each.id, before=each, after=now)
            for each, now in zip(one.assertions, other.assertions, strict=True)
        ],
        **overrides,
    }
    return Measurement(**given)


def report(tests: Sequence[CheckedTest], **overrides: Any) -> CheckReport:
    """A check of these tests against the last commit."""
    given: dict[str, Any] = {
        "test_run_id": "run-1",
        "base": CheckBase(revision="HEAD", commit="3f2a91c"),
        "files": [],
        "parts": [],
        "tests": list(tests),
        "margin": 0.2,
        "exit_reason": "nothing is worse, and nothing is left to measure",
        **overrides,
    }
    return CheckReport(**given)


def nothing_changed() -> CheckReport:
    """No file differs, and no test is reached; one test has no cassette."""
    replayed = checked_test("old", "replayed", requests=0, tokens=None, cost_usd=None)
    return report([*map(checked_test, SHOP), replayed])


FILES = (
    ChangedFile(
        path="prompts/system.md", change="modified", seen="requests", tests=["shop.refund", "shop.order"]
    ),
    ChangedFile(path="src/lookup.py", change="modified", seen="opened", tests=["shop.address"]),
    ChangedFile(path="evals/order/test.yaml", change="modified", seen="test", tests=["shop.order"]),
    ChangedFile(path="skills/digest/SKILL.md", change="added", seen="unseen"),
    ChangedFile(path="src/host/router.ts", change="modified", seen="host"),
)


def reached() -> CheckReport:
    """A prompt reaches two tests, a tool moves one, an agent breaks down; and nobody asked the model."""
    unmeasured = {"status": "error", "reason_code": "check.unmeasured", "message": "it needs the real model"}
    return report(
        [
            checked_test("refund", "reached", differences=[PROMPT], **unmeasured),
            checked_test("order", "reached", differences=[PROMPT], **unmeasured),
            checked_test("address", "moved", differences=[TOOL], **unmeasured),
            checked_test(
                "broken",
                "error",
                status="error",
                reason_code="live.runner_failed",
                message="the agent ended with exit code 1",
            ),
            checked_test("greeting", status="fail", reason_code="assertion.failed", message="names-order"),
        ],
        files=[replace(each) for each in FILES],
        parts=[
            ChangedPart(difference=PROMPT, tests=["shop.refund", "shop.order"]),
            ChangedPart(difference=TOOL, tests=["shop.address"]),
        ],
        planned=ModelUse(tests=3, trials=36, requests=108, tokens=75_600, cost_usd=0.396),
        exit_code=2,
        exit_reason="3 of 5 tests need the model: about 108 requests, $0.40",
        next_step="agenteval check --model real",
    )


def all_measured() -> CheckReport:
    """Each verdict once: worse, held, unclear and better."""
    verdicts = {
        "refund": measured(
            "worse",
            (6, 6),
            (0, 6),
            calls=[CallChange(change="removed", tool="lookup", before=1, lines=['{"order": "42"}'])],
            replay="shop.refund.replay.json",
            misses_bar=True,
        ),
        "order": measured("held", (6, 6), (6, 6)),
        "address": measured(
            "unclear",
            (6, 6),
            (5, 6),
            low=-0.5,
            high=0.2,
            trials_needed=24,
            advice="a fall of up to 50 points is not ruled out; 24 trials each would show one of 30 points in 8 of 10 checks",
        ),
        "greeting": measured("better", (1, 6), (6, 6), low=0.4, high=0.97, missed_bar=True),
    }
    tests = [
        checked_test(
            name,
            "moved" if name == "address" else "reached",
            differences=[TOOL if name == "address" else PROMPT],
            measurement=measurement,
            cassette="evals/order/cassette.json" if name == "order" else None,
            **(
                {"status": "fail", "reason_code": "check.worse", "message": "6 of 6 → 0 of 6 trials passed"}
                if name == "refund"
                else {}
            ),
        )
        for name, measurement in verdicts.items()
    ]
    return report(
        [*tests, checked_test("untouched")],
        model="claude-test",
        files=[replace(each) for each in FILES],
        parts=[
            ChangedPart(difference=PROMPT, tests=["shop.refund", "shop.order", "shop.greeting"]),
            ChangedPart(difference=TOOL, tests=["shop.address"]),
        ],
        planned=ModelUse(tests=4, trials=48, requests=144, tokens=100_800, cost_usd=0.528),
        used=ModelUse(tests=4, trials=48, requests=140, tokens=98_000, cost_usd=0.51),
        exit_code=1,
        exit_reason="1 test is worse",
        next_step="agenteval run evals/refund/test.yaml --live real",
    )


SAMPLES = {"nothing changed": nothing_changed, "reached": reached, "measured": all_measured}
"""The three reports by what they show."""


def checked_run(folder: Path, check: CheckReport) -> StoredRun:
    """A run directory as a check leaves it: a result for each test, the summary, and `check.json`."""
    directory = RunDirectory(folder, check.test_run_id)
    results = [_result(test) for test in check.tests]
    for result in results:
        outcome = make_outcome(result)
        complete(outcome)
        file_away(directory, outcome, save_trace=False)
    directory.add_file(CHECK, check)
    directory.close({})
    settings = RunSettings(run_id=check.test_run_id, suite=Suite(id="s"))
    at = "2026-01-01T00:00:0{}.000Z".format
    made = summarise(
        list(map(record_of, results)), RunTotals(), settings, started_at=at(0), finished_at=at(1)
    )
    made.run.exit_code, made.run.exit_reason = check.exit_code, check.exit_reason
    directory.finish(made.run)
    return StoredRun(directory.path)


def _result(test: CheckedTest) -> TestResult:
    from agenteval.contracts.results import ErrorInfo

    assertions = [judged("fail" if test.status == "fail" else "pass", "names-order")]
    error = (
        ErrorInfo(reason_code=test.reason_code or "", message=test.message)
        if test.status == "error"
        else None
    )
    return make_result(
        test.status,
        *([] if error else assertions),
        test_case_id=test.test_case_id,
        path=test.path,
        error=error,
        reason_code=test.reason_code,
        trials=test.measurement.after if test.measurement else None,
    )
