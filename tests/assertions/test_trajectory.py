"""trajectory_matches: the course of tool calls against the expected one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.assertions import assertion_class, ordering
from agenteval.assertions.base import Verdict
from agenteval.contracts.errors import AssertionCrashError
from agenteval.contracts.models import Invalid, parse
from builders import call, judge, make_trace, result

DIGEST = make_trace(
    call("web_search", "c1", query="AI news", limit=5),
    result("web_search", "c1", {"hits": 1}),
    call("web_fetch", "c2", url="https://b.example"),
    call("outbound_send", "c3", channel="ops", content="- news"),
)
"""evt-2 searches, evt-4 reads, evt-5 sends."""
SILENT = make_trace(output="Nothing to do.")
MODES = ("strict", "in_order", "unordered", "subset", "superset")


def compare(mode: str, *expected: str | dict[str, Any], trace: Any = DIGEST) -> Verdict:
    """The verdict on a trace; an expected call is a tool, or a tool with arguments."""
    calls = [{"tool": each} if isinstance(each, str) else each for each in expected]
    return judge("trajectory_matches", {"mode": mode, "expected": calls}, trace)


def refused(params: dict[str, Any]) -> list[str]:
    """The messages with which parameters are refused when the spec is loaded."""
    cls = assertion_class("trajectory_matches")
    assert cls is not None
    with pytest.raises(Invalid) as caught:
        parse(cls, params)
    return [finding.sentence for finding in caught.value.findings]


def test_it_needs_a_tool_trace() -> None:
    """Without one it is skipped."""
    cls = assertion_class("trajectory_matches")
    assert cls is not None
    assert (cls.implied, cls.category) == (("supports_tool_trace",), "tool_process")


@pytest.mark.parametrize(
    ("expected", "passing"),
    [
        (["web_search", "web_fetch", "outbound_send"], set(MODES)),
        (["web_fetch", "web_search", "outbound_send"], {"unordered", "subset", "superset"}),
        (["web_search", "outbound_send"], {"in_order", "superset"}),
        (["outbound_send", "web_search"], {"superset"}),
        (["web_search", "web_fetch", "outbound_send", "shell"], {"subset"}),
        (["web_search", "shell"], set()),
        (["web_search", "web_search", "web_fetch", "outbound_send"], {"subset"}),
    ],
)
def test_what_each_mode_allows(expected: list[str], passing: set[str]) -> None:
    """Order, missing calls and others are judged or not, by mode; one call is one expectation."""
    assert {mode for mode in MODES if compare(mode, *expected).passed} == passing


@pytest.mark.parametrize("mode", ["strict", "in_order", "unordered", "superset"])
def test_a_trace_without_calls_fails(mode: str) -> None:
    """What was expected did not happen."""
    verdict = compare(mode, "web_search", trace=SILENT)
    assert not verdict.passed
    assert verdict.message.split("\n")[0].endswith("got 0 calls: 0 matched, 1 missing")


@pytest.mark.parametrize("mode", ["strict", "in_order", "unordered", "superset"])
def test_an_empty_list_is_refused(mode: str) -> None:
    """It would pass on nothing, or on everything."""
    assert refused({"mode": mode, "expected": []}) == [
        f"expected is empty, and mode is {mode}: name the calls, or use mode: subset for no call at all"
    ]


def test_args_take_no_matchers() -> None:
    """The arguments stand there themselves: a matcher would be looked for among the arguments of the call."""
    params = {"expected": [{"tool": "web_search", "args": {"args_contains": {"query": "AI"}}}]}
    assert refused(params) == [
        "expected[0].args.args_contains: args holds the arguments themselves, compared as args_contains does; leave out args_contains"
    ]


@pytest.mark.parametrize(
    ("expected", "given", "matches"),
    [
        ({}, {}, True),
        ({}, {"delete": True}, False),
        (None, {"delete": True}, True),
        ({"note": ""}, {"note": ""}, True),
        ({"note": ""}, {"note": "all of it"}, False),
        ({"note": "", "to": "a"}, {"note": "", "to": "ab", "more": 1}, True),
    ],
)
def test_empty_arguments_are_expected_as_such(
    expected: dict[str, Any] | None, given: dict[str, Any], matches: bool
) -> None:
    """`args: {}` asks for a call without arguments, and an empty text for an empty text; no `args` for any."""
    params = {"expected": [{"tool": "list_stalls", **({} if expected is None else {"args": expected})}]}
    trace = make_trace(call("list_stalls", "c1", **given))
    assert judge("trajectory_matches", params, trace).passed is matches
    if expected == {}:
        for kind in ("must_call_tool", "tool_args_match"):
            same = {"tool": "list_stalls", "args": {"args_equal": {}}}
            assert judge(kind, same, trace).passed is matches


def test_too_many_pairs_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the limit there is no verdict, rather than one that was guessed."""
    monkeypatch.setattr(ordering, "MOST_PAIRS", 5)
    with pytest.raises(AssertionCrashError) as caught:
        compare("strict", "web_search", "web_fetch")
    assert caught.value.reason_code == "trajectory.too_long"
    assert caught.value.message == (
        "2 expected calls and 3 calls of the trace are more than can be compared: 5 pairs at most"
    )
    assert caught.value.next_step == "expect fewer calls, or split the recording"


tools = st.lists(st.sampled_from("abc"), max_size=6)


@given(tools.filter(bool), tools)
def test_modes_agree_with_their_definitions(expected: list[str], called: list[str]) -> None:
    """By tool alone, each mode is a well-known relation of two lists."""
    trace = make_trace(*map(call, called))
    rest = iter(called)
    by_definition = {
        "strict": expected == called,
        "in_order": all(tool in rest for tool in expected),
        "unordered": sorted(expected) == sorted(called),
        "subset": all(called.count(tool) <= expected.count(tool) for tool in called),
        "superset": all(expected.count(tool) <= called.count(tool) for tool in expected),
    }
    assert {mode: compare(mode, *expected, trace=trace).passed for mode in MODES} == by_definition


values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5)
arguments = st.dictionaries(st.sampled_from(["x", "x.0", "y"]), values, max_size=3)


@given(st.lists(st.tuples(st.sampled_from(["a", "a*", "b"]), arguments), min_size=1, max_size=4), st.data())
def test_any_arguments_give_a_verdict(
    expected: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    """Each expected call is in the alignment once, and so is each call."""
    made = data.draw(st.lists(st.tuples(st.sampled_from("ab"), arguments), max_size=4))
    trace = make_trace(*(call(tool, None, **args) for tool, args in made))
    for mode in MODES:
        verdict = compare(mode, *({"tool": tool, "args": args} for tool, args in expected), trace=trace)
        if not verdict.exercised:
            continue
        seen = verdict.observed
        pairs = len(seen["matched"]) + len(seen["out_of_order"])
        assert pairs + len(seen["missing"]) == len(expected)
        assert pairs + len(seen["unexpected"]) == len(made)
