"""trajectory_matches: the course of tool calls against the expected one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.assertions import assertion_class, ordering
from agenteval.assertions.base import Verdict
from agenteval.contracts.errors import AssertionCrashError
from agenteval.contracts.models import Invalid, parse
from builders import call, judge, make_case, make_trace, result
from verdicts import closest, refs

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


def test_strict_is_the_default() -> None:
    """The same calls in the same order, and no other."""
    params = {"expected": [{"tool": "web_search"}, {"tool": "web_fetch"}, {"tool": "outbound_*"}]}
    verdict = judge("trajectory_matches", params, DIGEST)
    assert (verdict.passed, verdict.exercised) == (True, True)
    assert verdict.message == "3 of 3 calls matched, expected exactly 3 calls in order"
    assert refs(verdict) == ["evt-2", "evt-4", "evt-5"]
    assert verdict.observed == {
        "mode": "strict",
        "calls": 3,
        "matched": [
            {"step": 1, "event_id": "evt-2", "tool": "web_search"},
            {"step": 2, "event_id": "evt-4", "tool": "web_fetch"},
            {"step": 3, "event_id": "evt-5", "tool": "outbound_send"},
        ],
        "missing": [],
        "unexpected": [],
        "out_of_order": [],
    }


def test_a_failure_shows_the_alignment() -> None:
    """What matched, what is missing with the nearest call, what is too much, and what came in another order."""
    verdict = compare(
        "strict",
        "outbound_send",
        {"tool": "web_search", "args": {"query": "ai NEWS"}},
        {"tool": "web_fetch", "args": {"url": "a.example"}},
        "schedule_task",
    )
    assert not verdict.passed
    assert verdict.message.split("\n") == [
        "expected exactly 4 calls in order, got 3 calls: 1 matched, 2 missing, 1 unexpected, 1 out of order",
        '  out of order: web_search (evt-2), expected as step 2: web_search with {"query": "ai NEWS"}',
        (
            '  missing: web_fetch with {"url": "a.example"}, expected as step 3; '
            'closest is evt-4: url: expected to contain "a.example", got "https://b.example"'
        ),
        "  missing: schedule_task, expected as step 4",
        '  unexpected: web_fetch (evt-4) {"url": "https://b.example"}',
    ]
    assert refs(verdict) == ["evt-2", "evt-4"]
    assert closest(verdict) == [
        ("evt-4", 'url: expected to contain "a.example", got "https://b.example"'),
    ]
    assert verdict.observed["missing"] == [
        {
            "step": 3,
            "tool": "web_fetch",
            "args": {"url": "a.example"},
            "closest": "evt-4",
            "difference": 'url: expected to contain "a.example", got "https://b.example"',
        },
        {"step": 4, "tool": "schedule_task", "args": {}},
    ]
    assert verdict.observed["unexpected"] == [
        {"event_id": "evt-4", "tool": "web_fetch", "args": {"url": "https://b.example"}}
    ]
    assert verdict.observed["out_of_order"] == [{"step": 2, "event_id": "evt-2", "tool": "web_search"}]


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


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("strict", "3 of 3 calls matched, expected exactly 3 calls in order"),
        ("in_order", "3 of 3 calls matched, expected 3 calls in order"),
        ("unordered", "3 of 3 calls matched, expected exactly 3 calls in any order"),
        ("subset", "3 of 3 calls matched, expected no call beyond 3 calls"),
        ("superset", "3 of 3 calls matched, expected 3 calls in any order"),
    ],
)
def test_a_pass_says_what_was_expected(mode: str, message: str) -> None:
    """In the words of the mode."""
    assert compare(mode, "web_search", "web_fetch", "outbound_send").message == message


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("strict", "expected exactly 1 call"),
        ("in_order", "expected 1 call"),
        ("unordered", "expected exactly 1 call"),
        ("superset", "expected 1 call"),
    ],
)
def test_a_single_call_has_no_order(mode: str, wanted: str) -> None:
    """None is spoken of."""
    assert compare(mode, "shell").message.startswith(f"{wanted}, got 3 calls: 0 matched, 1 missing")


def test_calls_that_may_stand_between_are_no_fault() -> None:
    """They are counted in a pass, and shown as others in a failure."""
    assert compare("in_order", "outbound_send").message == (
        "1 of 3 calls matched and 2 others, expected 1 call"
    )
    assert compare("superset", "web_search", "shell").message.split("\n") == [
        "expected 2 calls in any order, got 3 calls: 1 matched, 1 missing",
        "  missing: shell, expected as step 2",
        '  other: web_fetch (evt-4) {"url": "https://b.example"}',
        '  other: outbound_send (evt-5) {"channel": "ops", "content": "- news"}',
    ]


def test_calls_that_need_not_happen_are_no_fault() -> None:
    """A subset has to stay within what is expected; what was not called is shown, not counted."""
    verdict = compare("subset", "web_search", "web_fetch", "shell")
    assert verdict.message.split("\n") == [
        "expected no call beyond 3 calls, got 3 calls: 2 matched, 1 unexpected",
        "  not called: shell, expected as step 3",
        '  unexpected: outbound_send (evt-5) {"channel": "ops", "content": "- news"}',
    ]
    assert refs(verdict) == ["evt-5"]


def test_the_nearest_call_has_the_fewest_differences() -> None:
    """Of two calls of the tool the one with one wrong argument is shown, not the one with two."""
    trace = make_trace(call("send", to="leo", text="no"), call("send", to="dana", text="no"))
    verdict = compare("superset", {"tool": "send", "args": {"to": "dana", "text": "yes"}}, trace=trace)
    assert closest(verdict) == [("evt-3", 'text: expected to contain "yes", got "no"')]


def test_a_call_is_the_nearest_of_one_missing_call() -> None:
    """A second missing call of the tool is not explained by the same call."""
    trace = make_trace(call("send", to="leo"))
    expected = [{"tool": "send", "args": {"to": name}} for name in ("dana", "kim")]
    verdict = compare("superset", *expected, trace=trace)
    assert closest(verdict) == [("evt-2", 'to: expected to contain "dana", got "leo"')]


def test_arguments_decide_which_call_is_meant() -> None:
    """The first expectation fits both calls, the second only one: a greedy matching would miss that."""
    trace = make_trace(call("web_fetch", url="https://b.example"), call("web_fetch", url="https://a.example"))
    second = {"tool": "web_fetch", "args": {"url": "b.example"}}
    assert compare("unordered", "web_fetch", second, trace=trace).passed
    assert not compare("strict", "web_fetch", second, trace=trace).passed


def test_arguments_may_be_dotted_paths_and_no_text() -> None:
    """As in `args_contains`: text by substring, everything else by equality."""
    trace = make_trace(call("plan", steps=[{"name": "Search the web"}], dry=True, count=1))
    args = {"steps.0.name": "search", "dry": True, "count": 1.0}
    assert compare("strict", {"tool": "plan", "args": args}, trace=trace).passed
    assert not compare("strict", {"tool": "plan", "args": {"dry": 1}}, trace=trace).passed


@pytest.mark.parametrize("mode", ["strict", "in_order", "unordered", "superset"])
def test_a_trace_without_calls_fails(mode: str) -> None:
    """What was expected did not happen."""
    verdict = compare(mode, "web_search", trace=SILENT)
    assert not verdict.passed
    assert verdict.message.split("\n")[0].endswith("got 0 calls: 0 matched, 1 missing")


def test_a_subset_of_nothing_is_vacuous() -> None:
    """No call stays within every list."""
    verdict = compare("subset", "web_search", trace=SILENT)
    assert (verdict.passed, verdict.exercised) == (True, False)
    assert verdict.reason == "no tool_call events in the trace"
    assert verdict.observed == {"mode": "subset", "calls": 0}


def test_an_empty_subset_forbids_every_call() -> None:
    """It had something to judge when the agent had tools to leave alone."""
    assert compare("subset").message.split("\n")[0] == (
        "expected no tool call, got 3 calls: 0 matched, 3 unexpected"
    )
    quiet = compare("subset", trace=SILENT)
    assert (quiet.passed, quiet.exercised, quiet.message) == (True, True, "no call, expected no tool call")
    params = {"mode": "subset", "expected": []}
    bare = judge("trajectory_matches", params, SILENT, make_case(tools={"available": []}))
    assert (bare.passed, bare.exercised) == (True, False)


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


def test_a_call_with_arguments_is_not_the_one_without() -> None:
    """The message shows the arguments that nobody asked for."""
    verdict = compare(
        "strict",
        {"tool": "list_stalls", "args": {}},
        trace=make_trace(call("list_stalls", "c1", delete=True)),
    )
    assert verdict.message.splitlines()[1] == (
        "  missing: list_stalls without arguments, expected as step 1; "
        'closest is evt-2: args: expected none, got {"delete": true}'
    )


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


def test_an_expected_argument_is_no_part_of_a_longer_number() -> None:
    """Strings by substring, as in `args_contains`."""
    trace = make_trace(call("send", text="711 boats"))
    for text, passes in (("11 boats", False), ("711", True)):
        params = {"expected": [{"tool": "send", "args": {"text": text}}]}
        assert judge("trajectory_matches", params, trace).passed is passes
