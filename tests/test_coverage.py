"""Coverage: what no assertion of a run looks at is told, so that it cannot go wrong unseen."""

import json
from typing import Annotated, Any, ClassVar

import pytest

from agenteval.assertions import assertion_class, assertion_types
from agenteval.assertions.base import Assertion, Category, Scope, Verdict, not_applicable, passed, vacuous
from agenteval.contracts.models import NotEmpty, model, parse
from agenteval.contracts.results import CategoryScore, Coverage
from agenteval.contracts.testcase import Name, TestCase
from agenteval.contracts.trace import EVENT_TYPES, Trace
from agenteval.matching.selectors import Selector
from agenteval.records.record import coverage_of
from agenteval.records.summary import coverage
from builders import call, make_trace, memory_read, memory_write, result
from projects import Project
from run_builders import asserted, covered_by, make_test, run_one, says
from runs import EXAMPLES, run_command

TRACE = make_trace(call("web_search"), result("web_search"), memory_read("family", "x"))
AVAILABLE = {"available": ["web_search", "web_fetch", "mcp__github__*"]}


def looks(kind: str, **params: Any) -> Scope:
    """What an assertion of the catalogue looks at."""
    cls = assertion_class(kind)
    assert cls is not None
    return parse(cls, params).looks_at()


def seen(tools: str, events: str) -> Scope:
    """A scope from words: names of tools, and types of event."""
    return Scope(frozenset(tools.split()), frozenset(events.split()))


CALL = {"event_type": "tool_call", "tool": "a"}


@pytest.mark.parametrize(
    ("kind", "params", "expected"),
    [
        ("must_call_tool", {"tool": "a"}, seen("a", "tool_call")),
        (
            "must_call_tool",
            {"tool": "a", "result": {"required_keys": ["x"]}},
            seen("a", "tool_call tool_result"),
        ),
        (
            "tool_call_order",
            {"before": {**CALL, "result": {"required_keys": ["x"]}}, "after": CALL},
            seen("a", "tool_call tool_result"),
        ),
        ("must_not_call_tool", {"tools": ["a", "b*"]}, seen("a b*", "tool_call")),
        (
            "tool_call_order",
            {"before": {"event_type": "memory_write"}, "after": CALL},
            seen("a", "memory_write tool_call"),
        ),
        ("tool_call_order", {"sequence": [CALL, {"tool": "b"}]}, seen("a b", "tool_call tool_result error")),
        (
            "tool_call_order",
            {"before": {"event_type": "error"}, "after": CALL},
            seen("* a", "error tool_call"),
        ),
        ("tool_args_match", {"tool": "a", "match": {"required_keys": ["x"]}}, seen("a", "tool_call")),
        ("max_tool_calls", {"tool": "a", "max": 1}, seen("a", "tool_call")),
        ("max_tool_calls", {"tool": "a", "max": 1, "max_total": 3}, seen("*", "tool_call")),
        (
            "stop_after_success",
            {"success_event": CALL, "forbid_following": [{"event_type": "tool_call", "tool": "b"}]},
            seen("a b", "tool_call"),
        ),
        (
            "stop_after_success",
            {"success_event": {"event_type": "final_output"}, "allowed_following_tools": ["c"]},
            seen("*", "tool_call final_output"),
        ),
        ("output_contains", {"all_of": ["x"]}, seen("", "final_output")),
        ("output_omits", {"patterns": ["x"]}, seen("", "final_output")),
        ("output_matches_format", {"format": "json"}, seen("", "final_output")),
        ("ask_clarifying_when_ambiguous", {}, seen("", "final_output")),
        ("ask_clarifying_when_ambiguous", {"forbidden_tools": ["a"]}, seen("a", "final_output tool_call")),
        ("claims_supported_by_fixtures", {"allowed_sources": ["a"]}, seen("a", "final_output tool_result")),
        ("no_fabricated_source_or_citation", {}, seen("", "final_output tool_result")),
        (
            "memory_recall_same_group",
            {"expected_memory_fact": "x", "evidence": "event"},
            seen("", "memory_read"),
        ),
        (
            "memory_recall_same_group",
            {"expected_memory_fact": "x", "evidence": "both"},
            seen("", "memory_read final_output"),
        ),
        (
            "memory_recall_same_group",
            {"expected_memory_fact": "x", "evidence": "output"},
            seen("", "final_output"),
        ),
        ("memory_update_on_correction", {"new_value": "x"}, seen("", "memory_write")),
        (
            "memory_update_on_correction",
            {"new_value": "x", "old_value": "y"},
            seen("", "memory_write final_output"),
        ),
        ("no_cross_group_memory_use", {}, seen("*", "memory_read memory_write tool_call final_output")),
        ("scheduler_task_runs", {"task_id": "x"}, seen("", "message_received")),
        ("scheduler_outbound_count", {"exact": 1}, seen("outbound_send", "tool_call")),
        ("retry_policy_respected", {"tool": "a", "max_retries": 1}, seen("a", "tool_call tool_result error")),
        ("graceful_failure_output", {}, seen("", "error tool_result final_output")),
    ],
)
def test_what_an_assertion_looks_at(kind: str, params: dict[str, Any], expected: Scope) -> None:
    """The tools that its parameters name, all of them where it counts all calls, and the events that it reads."""
    assert looks(kind, **params) == expected


def test_every_type_looks_at_something_that_exists() -> None:
    """With its own example, each type of the catalogue looks at event types that there are; or at measures alone."""
    import yaml

    for name in assertion_types():
        cls = assertion_class(name)
        assert cls is not None
        found = parse(cls, yaml.safe_load(cls.example)).looks_at()
        assert found.event_types <= set(EVENT_TYPES)
        assert found.event_types or cls.category == "efficiency", name


@model
class Courteous(Assertion):
    """A type as a plugin adds it, that says nothing of what it looks at."""

    type: ClassVar[str] = "courteous"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "rude"
    example: ClassVar[str] = "{}"

    tools: Annotated[list[Name], NotEmpty()] | None = None
    """Tools."""
    first: Selector | None = None
    """A selector."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - it is polite by nature
        """Judge one trace."""
        return passed("please and thank you")


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, seen("", "final_output")),
        ({"tools": ["a"]}, seen("a", "final_output tool_call")),
        ({"first": {"event_type": "memory_read"}}, seen("", "final_output memory_read")),
        ({"first": {"tool": "b"}}, seen("b", "final_output tool_call tool_result error")),
    ],
)
def test_types_of_plugins_need_not_say_what_they_look_at(params: dict[str, Any], expected: Scope) -> None:
    """It follows from category and parameters."""
    assert parse(Courteous, params).looks_at() == expected


def covered(*checks: Any, trace: Any = TRACE) -> Coverage:
    """The coverage of a run of one test."""
    return covered_by(run_one(make_test(*checks, tools=AVAILABLE), trace))


def test_what_nothing_looks_at_is_told() -> None:
    """Tools that the agent had, events that happened, categories; the message received is none of its doing."""
    found = covered(asserted({"id": "a", "type": "must_call_tool", "params": {"tool": "web_search"}}))
    assert found == Coverage(
        tools_available=["mcp__github__*", "web_fetch", "web_search"],
        tools_not_looked_at=["mcp__github__*", "web_fetch"],
        event_types=["final_output", "memory_read", "tool_call", "tool_result"],
        event_types_not_looked_at=["final_output", "memory_read", "tool_result"],
        categories_not_exercised=[
            *(
                "outcome",
                "groundedness",
                "memory",
                "isolation",
                "scheduler",
                "recovery",
                "efficiency",
                "safety",
            )
        ],
    )


@pytest.mark.parametrize(
    ("tools", "left"),
    [
        (["web_*"], ["mcp__github__*"]),
        (["mcp__github__create_issue"], ["web_fetch", "web_search"]),
        (["*"], []),
    ],
)
def test_globs_look_at_what_they_match(tools: list[str], left: list[str]) -> None:
    """A glob covers the tools it matches; a tool covers the glob under which it was available."""
    check = asserted({"id": "a", "type": "must_not_call_tool", "params": {"tools": tools}})
    assert covered(check).tools_not_looked_at == left


def test_what_was_skipped_has_looked_at_nothing() -> None:
    """A skipped assertion covers neither events nor its category; a vacuous one does not exercise the category."""
    assert "outcome" in covered(says(not_applicable("no tokens"))).categories_not_exercised
    assert "final_output" in covered(says(not_applicable("no tokens"))).event_types_not_looked_at
    assert "outcome" in covered(says(vacuous("no bread"))).categories_not_exercised
    assert "outcome" not in covered(says(passed("yes"))).categories_not_exercised


@pytest.mark.parametrize("state", ["passed", "failed", "warnings", "xfailed"])
def test_whatever_was_judged_exercises_its_category(state: str) -> None:
    """An expected failure as well: a negative control shows that its category can fail."""
    scores = [CategoryScore(category="memory", **{state: 1}), CategoryScore(category="safety", skipped=1)]
    assert coverage([], scores).categories_not_exercised == ["safety"]


def test_names_are_written_in_order() -> None:
    """The same run writes the same file, whatever the order of a set."""
    tools = [f"tool_{letter}" for letter in "hgfedcba"]
    assert coverage_of(run_one(make_test(tools={"available": tools}))).tools_available == sorted(tools)


def test_tests_add_up() -> None:
    """A tool that one test looks at is covered for the run."""
    check = asserted({"id": "a", "type": "must_call_tool", "params": {"tool": "web_search"}})
    other = asserted({"id": "a", "type": "must_call_tool", "params": {"tool": "web_fetch"}})
    outcomes = [run_one(make_test(each, tools=AVAILABLE), TRACE) for each in (check, other)]
    assert covered_by(*outcomes).tools_not_looked_at == ["mcp__github__*"]


def test_without_a_trace_there_are_no_events() -> None:
    """A test that ended in an error still tells which tools there were."""
    outcome = run_one(make_test(tools=AVAILABLE), TRACE)
    outcome.trace, outcome.result.assertions = None, []
    found = covered_by(outcome)
    assert found.tools_not_looked_at == ["mcp__github__*", "web_fetch", "web_search"]
    assert found.event_types == []


def test_the_run_tells(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The summary always has it; the console has one line under the scorecard, but not of a single test."""
    project = Project(tmp_path)
    first = project.add("pass", "one")
    monkeypatch.chdir(tmp_path)
    run_command([first], tmp_path / "a")
    assert "nothing looks at" not in capsys.readouterr().out
    project.add("pass", "two")
    run = run_command([tmp_path / "tests"], tmp_path / "b")
    assert (
        "  nothing looks at: tools outbound_send, web_fetch · events final_output, tool_result · "
        "categories outcome, groundedness, memory,"
    ) in capsys.readouterr().out
    assert run.summary["coverage"]["tools_not_looked_at"] == ["outbound_send", "web_fetch"]
    run_command([tmp_path / "tests"], tmp_path / "c", "-q")
    assert "nothing looks at" not in capsys.readouterr().out


def test_the_examples_look_at_all_that_happens(tmp_path: Any) -> None:
    """Every tool and every type of event in the examples is looked at by one of their assertions."""
    coverage = run_command([EXAMPLES], tmp_path).summary["coverage"]
    assert (coverage["tools_not_looked_at"], coverage["event_types_not_looked_at"]) == ([], [])
    json.dumps(coverage)


def test_memory_events_count_as_events() -> None:
    """Reads and writes of memory happened, and are not looked at by assertions on tools."""
    trace = make_trace(memory_read("family", "x"), memory_write("family", "y"))
    assert covered(trace=trace).event_types_not_looked_at == ["final_output", "memory_read", "memory_write"]
