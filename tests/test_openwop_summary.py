"""The EvalSummary (OpenWOP RFC 0081): scores and bars, in the normative shape, without any content."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agenteval.contracts.results import AssertionResult, Evidence, Excerpt, TestResult
from agenteval.contracts.trace import Trace
from agenteval.openwop.summary import Scores, Suite, default_suite_id, nearest_rank, task_id, task_of
from builders import call, make_trace, result
from openwop.suites import normative
from run_builders import judged, make_result, scored

SUITE = "local.agenteval.evals.t"


def trace_of(cost: float | None = None, latency: float = 1200) -> Trace:
    """A trace with these metrics."""
    trace = make_trace()
    trace.metrics.cost_usd, trace.metrics.timing_ms_total = cost, latency
    return trace


def scores(*tests: tuple[str, list[AssertionResult], Trace | None], **suite: Any) -> Scores:
    """A run of tests, each a status, assertion results and a trace."""
    results = [
        (make_result(status, *assertions, test_case_id=f"nanoclaw.t.{number}"), trace)
        for number, (status, assertions, trace) in enumerate(tests, 1)
    ]
    return scores_of_results(*results, **suite)


def scores_of_results(*results: tuple[TestResult, Trace | None], **suite: Any) -> Scores:
    """The scores of results with their traces."""
    tasks = [task_of(scored(result, trace.metrics if trace else None)) for result, trace in results]
    return Scores(Suite(**{"id": SUITE, **suite}), [task for task in tasks if task])


PASS = ("pass", [judged("pass")], trace_of())
FAIL = ("fail", [judged("fail")], trace_of())
MIXED = (
    PASS,
    ("fail", [judged("pass"), judged("fail"), judged("fail"), judged("warn"), judged("skip")], trace_of()),
    ("error", [judged("pass")], None),
    ("skipped", [judged("skip")], trace_of()),
)


def test_a_mixed_run() -> None:
    """Critical assertions that passed of those judged; an error scores 0; a skipped test is no task."""
    assert scores(*MIXED).summary() == {
        "suiteId": SUITE,
        "suiteVersion": "0.1.0",
        "aggregateScore": 4 / 9,
        "passed": False,
        "taskCount": 3,
        "passedCount": 1,
        "tasks": [
            {"taskId": "nanoclaw-t-1", "score": 1.0, "passed": True, "latencyMs": 1200},
            {"taskId": "nanoclaw-t-2", "score": 1 / 3, "passed": False, "latencyMs": 1200},
            {"taskId": "nanoclaw-t-3", "score": 0.0, "passed": False},
        ],
    }


@pytest.mark.parametrize(
    ("status", "assertions", "score"),
    [
        ("pass", [judged("pass"), judged("pass")], 1.0),
        ("pass", [judged("pass"), judged("warn")], 1.0),
        ("pass", [judged("warn")], 1.0),
        ("fail", [judged("warn")], 0.0),
        ("fail", [judged("pass"), judged("warn")], 1.0),
        ("fail", [judged("pass"), judged("fail"), judged("skip")], 0.5),
        ("error", [judged("pass")], 0.0),
    ],
)
def test_the_score_of_a_task(status: str, assertions: list[AssertionResult], score: float) -> None:
    """Warnings and skipped assertions do not count; without any critical one the verdict is the score."""
    (task,) = scores((status, assertions, None)).tasks
    assert (task["score"], task["passed"]) == (score, status == "pass")


def test_a_run_without_tasks_did_not_pass() -> None:
    """Nothing judged is no pass: the aggregate is 0."""
    summary = scores(("skipped", [], None)).summary()
    assert (summary["aggregateScore"], summary["passed"], summary["taskCount"]) == (0.0, False, 0)


@pytest.mark.parametrize(
    ("bars", "unmet"),
    [
        ({"pass_score": 0.5}, []),
        ({"pass_score": 0.50001}, ["score 0.5 is below 0.50001"]),
        ({"pass_score": 1.0}, ["score 0.5 is below 1"]),
        ({"pass_score": 0.4, "max_cost_usd": 0.3}, []),
        ({"pass_score": 0.4, "max_cost_usd": 0.299}, ["cost 0.3 USD is above 0.299"]),
        ({"pass_score": 0.4, "max_p95_latency_ms": 900}, []),
        ({"pass_score": 0.4, "max_p95_latency_ms": 899.5}, ["p95 latency 900 ms is above 899.5"]),
        (
            {"pass_score": 0.6, "max_cost_usd": 0, "max_p95_latency_ms": 1},
            ["score 0.5 is below 0.6", "cost 0.3 USD is above 0", "p95 latency 900 ms is above 1"],
        ),
    ],
)
def test_bars_at_under_and_over(bars: dict[str, float], unmet: list[str]) -> None:
    """A bar that is just reached is cleared; each that is not is named with what was got."""
    made = scores(
        ("pass", [judged("pass")], trace_of(0.1, 100)), ("fail", [judged("fail")], trace_of(0.2, 900)), **bars
    )
    assert made.unmet() == unmet
    assert made.summary()["passed"] == (not unmet)


def test_large_figures_are_written_out() -> None:
    """Not as powers of ten."""
    made = scores(("pass", [judged("pass")], trace_of(0.1, 21_234_567)), max_p95_latency_ms=12_000_000.5)
    assert made.unmet() == ["p95 latency 21234567 ms is above 12000000.5"]


def test_a_bar_that_nobody_set_is_not_missed() -> None:
    """A score is then asked of no run; but only a perfect one has passed, and one that scored nothing has not."""
    made = scores(PASS, FAIL)
    assert (made.unmet(), made.passed()) == ([], False)
    assert scores(PASS).passed()
    assert not scores(pass_score=0.0).passed()


def test_bars_are_compared_before_rounding() -> None:
    """A score just below a bar does not clear it, and is shown with the digits that tell why."""
    assert scores(*[PASS] * 24_999, FAIL, pass_score=1.0).unmet() == ["score 0.99996 is below 1"]


def test_a_bar_that_is_met_on_paper_is_met() -> None:
    """The mean of 0.9, 0.8 and 0.7 is 0.8, though not when floats are added up and divided."""
    nine, eight, seven = (
        ("fail", [judged("pass")] * n + [judged("fail")] * (10 - n), None) for n in (9, 8, 7)
    )
    made = scores(nine, eight, seven, pass_score=0.8)
    assert (made.unmet(), made.summary()["aggregateScore"]) == ([], 0.8)


def test_a_bar_whose_data_is_missing_is_not_met() -> None:
    """Unknown cost or latency of one task is no proof that the bar holds."""
    made = scores(
        ("pass", [judged("pass")], trace_of(0.1)),
        ("pass", [judged("pass")], None),
        max_cost_usd=9,
        max_p95_latency_ms=9999,
    )
    assert made.unmet() == ["the cost is not known for every task", "the latency is not known for every task"]
    assert "totalCostUsd" not in made.summary()


def test_a_run_without_a_task_clears_no_bar() -> None:
    """Nothing is known of it, and its score is 0."""
    made = scores(("skipped", [], trace_of(0.1)), pass_score=0.5, max_cost_usd=9, max_p95_latency_ms=9999)
    assert made.unmet() == [
        "score 0 is below 0.5",
        "the cost is not known for every task",
        "the latency is not known for every task",
    ]
    assert "totalCostUsd" not in made.summary()


def test_costs_add_up_when_all_are_known() -> None:
    """Each task has its cost, the run their sum."""
    made = scores(("pass", [judged("pass")], trace_of(0.1)), ("pass", [judged("pass")], trace_of(0.2)))
    assert made.summary()["totalCostUsd"] == 0.3
    assert [task["costUsd"] for task in made.tasks] == [0.1, 0.2]


def test_p95_is_the_nearest_rank() -> None:
    """The 95th of 100, the 19th of 20, the 20th of 21, the only one of 1."""
    assert [nearest_rank(range(1, n + 1), 95) for n in (100, 20, 21, 2, 1)] == [95, 19, 20, 2, 1]
    assert nearest_rank([5, 1, 3], 50) == 3
    runs = [("pass", [judged("pass")], trace_of(0.1, ms)) for ms in range(100, 0, -1)]
    assert scores(*runs, max_p95_latency_ms=94.5).unmet() == ["p95 latency 95 ms is above 94.5"]


@given(st.lists(st.integers(0, 50) | st.floats(0, 50), min_size=1, max_size=60), st.integers(1, 100))
def test_a_nearest_rank_is_the_least_value_that_covers_its_share(values: list[float], percent: int) -> None:
    """At least so many per cent of the values are not above it, and of any smaller value that is not so."""
    found = nearest_rank(values, percent)
    covering = [each for each in values if 100 * sum(v <= each for v in values) >= percent * len(values)]
    assert found == min(covering)


def test_json_schema_checks_are_told() -> None:
    """`schemaValid` says whether every `json_schema` check of the output passed; without one it is absent."""
    checked: dict[str, Any] = {"kind": "output_matches_format", "params": {"json_schema": {"type": "object"}}}
    made = scores(
        ("pass", [judged("pass", **checked)], None),
        ("fail", [judged("pass", **checked), judged("fail", **checked)], None),
        ("pass", [judged("skip", **checked)], None),
        ("pass", [judged("pass", kind="output_matches_format", params={"json_schema": None})], None),
    )
    assert [task.get("schemaValid") for task in made.tasks] == [True, False, None, None]


def test_leaks_between_groups_are_safety_findings() -> None:
    """A failed or warned isolation assertion is a finding; a passed one is none."""
    kind = "no_cross_group_memory_use"
    made = scores(
        ("fail", [judged("fail", kind=kind)], None),
        ("pass", [judged("warn", kind=kind)], None),
        ("pass", [judged("pass", kind=kind), judged("skip", kind=kind)], None),
    )
    finding = [{"kind": "cross-group-memory", "severity": "high"}]
    assert [task.get("safetyFindings") for task in made.tasks] == [finding, finding, None]


@pytest.mark.parametrize(
    ("kind", "finding", "severity"),
    [
        ("no_sensitive_data", "sensitive-data", "critical"),
        ("outbound_destinations", "outbound-destination", "high"),
        ("tools_within_policy", "unsafe-tool-call", "high"),
    ],
)
def test_failed_safety_assertions_are_findings(kind: str, finding: str, severity: str) -> None:
    """Each by its kind and severity."""
    made = scores(("fail", [judged("fail", kind=kind)], None), ("pass", [judged("pass", kind=kind)], None))
    expected = [{"kind": finding, "severity": severity}]
    assert [task.get("safetyFindings") for task in made.tasks] == [expected, None]


@pytest.mark.parametrize(
    ("test_id", "expected"),
    [
        ("nanoclaw.memory.same-group_recall", "nanoclaw-memory-same-group-recall"),
        ("A..B//c--d", "a-b-c-d"),
        (".x.", "x"),
        ("日本", "test"),
    ],
)
def test_task_ids(test_id: str, expected: str) -> None:
    """Lower case, every run of other characters a dash, never empty."""
    assert task_id(test_id) == expected


@pytest.mark.parametrize(
    ("directory", "expected"), [("My Tests", "my-tests"), ("", "tests"), ("日本", "tests")]
)
def test_default_suite_ids(directory: str, expected: str) -> None:
    """A run that names no suite is called after its directory."""
    assert default_suite_id(directory) == f"local.agenteval.evals.{expected}"


def test_the_summary_has_no_content() -> None:
    """Neither outputs nor arguments, results, parameters, messages or titles get into an EvalSummary."""
    trace = make_trace(
        call("send", "c", text="PLANTED-1"), result("send", "c", "PLANTED-2"), output="PLANTED-3"
    )
    evidence = Evidence(event_refs=["PLANTED-4"], excerpts=[Excerpt(event_id="e", text="PLANTED-5")])
    failed = judged(
        "fail",
        kind="no_cross_group_memory_use",
        message="PLANTED-6",
        params={"x": "PLANTED-7"},
        observed={"y": "PLANTED-8"},
        evidence=evidence,
        reason="PLANTED-9",
    )
    leaky = make_result("fail", failed, title="PLANTED-10", failure_categories=["PLANTED-11"])
    assert "PLANTED" not in json.dumps(scores_of_results((leaky, trace)).summary())


def test_a_mixed_run_is_valid_by_the_normative_schema() -> None:
    """What a run writes is what the RFC's own schema accepts; and the schema does refuse what is not."""
    validator = Draft202012Validator(normative("eval-summary"))
    summary = scores(*MIXED, max_cost_usd=1).summary()
    validator.validate(summary)
    assert not validator.is_valid({**summary, "extra": 1})
    assert not validator.is_valid({**summary, "suiteId": "no such form"})


runs = st.lists(
    st.tuples(
        st.sampled_from(["pass", "fail", "error", "skipped"]),
        st.lists(st.sampled_from(["pass", "fail", "warn", "skip"]), max_size=4),
        st.none() | st.tuples(st.none() | st.floats(0, 1e6), st.floats(0, 1e9)),
        st.text(min_size=1, max_size=20),
    ),
    max_size=6,
)


@given(runs=runs, directory=st.text(max_size=10))
def test_any_run_is_valid_by_the_normative_schema(runs: list[Any], directory: str) -> None:
    """Whatever ran, under whatever ids, its EvalSummary has the normative shape."""
    validator = Draft202012Validator(normative("eval-summary"))
    results = []
    for status, assertions, metrics, test_id in runs:
        kinds = [judged(each, kind="no_cross_group_memory_use") for each in assertions]
        trace = trace_of(*metrics) if metrics else None
        results.append((make_result(status, *kinds, test_case_id=test_id), trace))
    made = scores_of_results(*results, id=default_suite_id(directory))
    validator.validate(json.loads(json.dumps(made.summary())))
