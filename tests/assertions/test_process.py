"""Tool and process assertions."""

from typing import Any

import pytest

from agenteval.assertions import assertion_class
from agenteval.contracts.trace import Trace
from builders import Step, call, error, judge, make_case, make_trace, result
from verdicts import SEARCHES, SILENT, closest, refs, refused


@pytest.mark.parametrize(
    "kind",
    [
        "must_call_tool",
        "must_not_call_tool",
        "tool_call_order",
        "tool_args_match",
        "max_tool_calls",
        "stop_after_success",
    ],
)
def test_process_types_need_a_tool_trace(kind: str) -> None:
    """Without a tool trace none of them can judge."""
    cls = assertion_class(kind)
    assert cls is not None
    assert (cls.implied, cls.category) == (("supports_tool_trace",), "tool_process")


class TestMustCallTool:
    """must_call_tool."""

    def test_passes_with_enough_calls(self) -> None:
        """Calls of the tool are counted, and are the evidence."""
        verdict = judge("must_call_tool", {"tool": "web_search", "min_calls": 2}, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == "web_search was called 2 times, expected at least 2"
        assert refs(verdict) == ["evt-2", "evt-4"]
        assert verdict.observed == {"calls": 2, "tool_counts": {"web_search": 2, "outbound_send": 1}}

    def test_passes_by_glob_and_whatever_the_outcome(self) -> None:
        """A failed call is a call; a glob matches names."""
        trace = make_trace(call("mcp__gh__issue", "c1"), error("mcp__gh__issue", "c1"))
        verdict = judge("must_call_tool", {"tool": "mcp__gh__*"}, trace)
        assert verdict.message == "mcp__gh__* was called once, expected at least 1"
        assert verdict.passed

    def test_fails_with_what_was_called_instead(self) -> None:
        """The message says what the trace calls; a similar name is the closest candidate."""
        verdict = judge("must_call_tool", {"tool": "web_searches"}, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (False, True)
        assert verdict.message == (
            "expected at least 1 call of web_searches, got 0; the trace calls web_search×2 outbound_send×1"
        )
        assert refs(verdict) == []
        assert closest(verdict) == [
            ("evt-2", "tool: expected web_searches, got web_search"),
            ("evt-4", "tool: expected web_searches, got web_search"),
        ]

    def test_fails_on_an_empty_trace(self) -> None:
        """No tool call at all is said so."""
        verdict = judge("must_call_tool", {"tool": "web_search"}, SILENT)
        assert verdict.message == (
            "expected at least 1 call of web_search, got 0; the trace holds no tool call"
        )
        assert (verdict.passed, verdict.exercised, closest(verdict)) == (False, True, [])

    def test_fails_with_too_few_calls(self) -> None:
        """Those there are decide the verdict."""
        verdict = judge("must_call_tool", {"tool": "outbound_send", "min_calls": 2}, SEARCHES)
        assert verdict.message == (
            "expected at least 2 calls of outbound_send, got 1; the trace calls web_search×2 outbound_send×1"
        )
        assert refs(verdict) == ["evt-6"]
        assert verdict.observed == {"calls": 1, "tool_counts": {"web_search": 2, "outbound_send": 1}}

    def test_counts_only_calls_with_matching_arguments(self) -> None:
        """With args, a call with others does not count and is shown with the difference."""
        params = {"tool": "web_search", "min_calls": 2, "args": {"args_contains": {"query": "NEWS"}}}
        verdict = judge("must_call_tool", params, SEARCHES)
        assert verdict.message == (
            "expected at least 2 calls of web_search with matching arguments, got 1; "
            "the trace calls web_search×2 outbound_send×1"
        )
        assert refs(verdict) == ["evt-2"]
        assert closest(verdict) == [("evt-4", 'query: expected to contain "NEWS", got "AI models"')]

    def test_a_result_without_its_call_is_no_call(self) -> None:
        """Only tool_call events count."""
        trace = make_trace(result("web_search", "c1"))
        assert not judge("must_call_tool", {"tool": "web_search"}, trace).passed

    def test_refuses_to_need_no_call(self) -> None:
        """min_calls: 0 could not fail."""
        assert refused("must_call_tool", {"tool": "a", "min_calls": 0}) == [
            "expected at least 1, got the number 0"
        ]


class TestMustNotCallTool:
    """must_not_call_tool."""

    def test_passes_when_other_tools_were_called(self) -> None:
        """Exercised: the agent could have called it, and called others."""
        verdict = judge("must_not_call_tool", {"tool": "web_fetch"}, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == "web_fetch was not called; the trace calls web_search×2 outbound_send×1"
        assert verdict.observed["not_available"] == []

    def test_passes_without_any_call_when_the_tool_was_available(self) -> None:
        """That the agent had the tool is enough to be exercised."""
        verdict = judge("must_not_call_tool", {"tool": "outbound_send"}, SILENT)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == "outbound_send was not called; the trace holds no tool call"
        assert judge("must_not_call_tool", {"tools": ["outbound_send", "shell"]}, SILENT).exercised

    def test_says_when_the_tool_was_not_available(self) -> None:
        """A misspelled name shows in the message, although other calls make it exercised."""
        verdict = judge("must_not_call_tool", {"tool": "outbund_send"}, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == (
            "outbund_send was not called; the trace calls web_search×2 outbound_send×1 "
            "(outbund_send is not in tools.available)"
        )

    def test_is_vacuous_when_nothing_could_be_called(self) -> None:
        """No call at all, of a tool that the agent did not have."""
        verdict = judge("must_not_call_tool", {"tools": ["shell", "browser"]}, SILENT)
        assert (verdict.passed, verdict.exercised) == (True, False)
        assert verdict.reason == (
            "no tool_call events in the trace, and shell and browser are not in tools.available"
        )
        assert verdict.observed == {"calls": 0, "not_available": ["shell", "browser"]}

    def test_a_glob_is_available_when_it_matches_an_available_tool(self) -> None:
        """And an available glob covers a forbidden name."""
        assert judge("must_not_call_tool", {"tool": "web_*"}, SILENT).exercised
        case = make_case(tools={"available": ["mcp__*"]})
        assert judge("must_not_call_tool", {"tool": "mcp__gh"}, SILENT, case).exercised

    def test_says_when_the_recording_ends_before_the_run(self) -> None:
        """What was not called so far may have been called later."""
        trace = make_trace(call("web_search"), output=None, status="partial")
        so_far = "; the trace calls web_search×1; the trace is partial, so what came later is not known"
        verdict = judge("must_not_call_tool", {"tool": "outbound_send"}, trace)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == f"outbound_send was not called{so_far}"
        ended = make_trace(call("web_search"), output=None, status="failed")
        verdict = judge("must_not_call_tool", {"tool": "outbound_send"}, ended)
        assert verdict.message == "outbound_send was not called; the trace calls web_search×1"

    def test_fails_with_the_calls(self) -> None:
        """Each forbidden call is evidence, failed ones too."""
        trace = make_trace(call("outbound_send", "c1"), error("outbound_send", "c1"), call("web_fetch"))
        verdict = judge("must_not_call_tool", {"tools": ["outbound_send", "web_*"]}, trace)
        assert not verdict.passed
        assert verdict.message == (
            "expected no call of outbound_send or web_*, got 2; the trace calls outbound_send×1 web_fetch×1"
        )
        assert refs(verdict) == ["evt-2", "evt-4"]
        assert verdict.observed == {"calls": 2, "tool_counts": {"outbound_send": 1, "web_fetch": 1}}

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "needs exactly one of tool and tools, got neither"),
            (
                {"tool": "a", "tools": ["b"]},
                "needs exactly one of tool and tools, got both",
            ),
            ({"tools": []}, "expected a non-empty value, got an empty list"),
        ],
    )
    def test_refuses_other_than_one_of_tool_and_tools(self, params: dict[str, Any], message: str) -> None:
        """Neither forbids nothing, both are unclear."""
        assert refused("must_not_call_tool", params) == [message]


class TestToolArgsMatch:
    """tool_args_match."""

    def test_any_passes_with_one_match(self) -> None:
        """The matching calls are the evidence."""
        params = {"tool": "web_search", "match": {"args_contains": {"query": "models"}}}
        verdict = judge("tool_args_match", params, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == "1 of 2 calls of web_search had matching arguments"
        assert refs(verdict) == ["evt-4"]
        assert verdict.observed == {"calls": 2, "matching": ["evt-4"], "which": "any"}

    def test_any_fails_with_the_closest_call_first(self) -> None:
        """The call with the fewest differences comes first, whatever its place."""
        match = {"args_contains": {"query": "models"}, "regex": {"query": "^AI"}, "required_keys": ["limit"]}
        verdict = judge("tool_args_match", {"tool": "web_search", "match": match}, SEARCHES)
        assert not verdict.passed
        assert verdict.message == (
            "expected a call of web_search with matching arguments, 2 of 2 calls differ; evt-4: limit is missing"
        )
        assert closest(verdict) == [
            ("evt-4", "limit is missing"),
            ("evt-2", 'limit is missing; query: expected to contain "models", got "AI news"'),
        ]
        assert refs(verdict) == []

    def test_three_calls_are_closest(self) -> None:
        """Of those that differ alike the first; all are among the differences, and all decide where all must match."""
        trace = make_trace(*[call("web_search", query=str(n)) for n in range(4)])
        params = {"tool": "web_search", "which": "all", "match": {"required_keys": ["limit"]}}
        verdict = judge("tool_args_match", params, trace)
        assert verdict.message == (
            "expected every call of web_search with matching arguments, 4 of 4 calls differ; "
            "evt-2: limit is missing"
        )
        assert [event for event, _ in closest(verdict)] == ["evt-2", "evt-3", "evt-4"]
        assert refs(verdict) == ["evt-2", "evt-3", "evt-4", "evt-5"]
        assert verdict.observed == {
            "calls": 4,
            "matching": [],
            "which": "all",
            "differences": {event: ["limit is missing"] for event in refs(verdict)},
        }

    def test_all_fails_when_one_differs(self) -> None:
        """The calls that differ decide."""
        params = {"tool": "web_search", "which": "all", "match": {"regex": {"query": "news$"}}}
        verdict = judge("tool_args_match", params, SEARCHES)
        assert verdict.message == (
            "expected every call of web_search with matching arguments, 1 of 2 calls differs; "
            'evt-4: query: expected a match of /news$/, got "AI models"'
        )
        assert refs(verdict) == ["evt-4"]
        assert verdict.observed["differences"] == {
            "evt-4": ['query: expected a match of /news$/, got "AI models"']
        }

    def test_all_passes_when_none_differs(self) -> None:
        """Every call is evidence."""
        params = {"tool": "web_*", "which": "all", "match": {"regex": {"query": "^AI"}}}
        verdict = judge("tool_args_match", params, SEARCHES)
        assert verdict.passed
        assert verdict.message == "2 of 2 calls of web_* had matching arguments"
        assert refs(verdict) == ["evt-2", "evt-4"]

    @pytest.mark.parametrize(
        ("which", "query", "passes"),
        [
            ("first", "news", True),
            ("first", "models", False),
            ("last", "news", False),
            ("last", "models", True),
        ],
    )
    def test_first_and_last_judge_one_call(self, which: str, query: str, passes: bool) -> None:
        """The other calls may be as they like."""
        params = {"tool": "web_search", "which": which, "match": {"args_contains": {"query": query}}}
        verdict = judge("tool_args_match", params, SEARCHES)
        assert verdict.passed is passes
        event = "evt-2" if which == "first" else "evt-4"
        assert refs(verdict) == [event]
        if passes:
            assert verdict.message == f"the {which} call of web_search ({event}) had matching arguments"
        else:
            assert verdict.message.startswith(
                f"expected the {which} call of web_search with matching arguments, it differs; {event}: "
            )

    def test_fails_without_a_call(self) -> None:
        """A call of a similar tool is shown."""
        params = {"tool": "web_serch", "match": {"required_keys": ["query"]}}
        verdict = judge("tool_args_match", params, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (False, True)
        assert verdict.message == (
            "expected a call of web_serch with matching arguments, got no call of it; "
            "the trace calls web_search×2 outbound_send×1"
        )
        assert closest(verdict)[0] == ("evt-2", "tool: expected web_serch, got web_search")
        assert verdict.observed == {"calls": 0, "matching": []}

    def test_a_json_schema_judges_all_arguments(self) -> None:
        """Its findings are the differences."""
        schema = {"type": "object", "properties": {"channel": {"enum": ["family"]}}, "required": ["channel"]}
        verdict = judge(
            "tool_args_match", {"tool": "outbound_send", "match": {"json_schema": schema}}, SEARCHES
        )
        assert closest(verdict) == [("evt-6", "channel: 'ops' is not one of ['family']")]

    def test_refuses_an_empty_match(self) -> None:
        """It would match every call."""
        assert refused("tool_args_match", {"tool": "a", "match": {}}) == [
            (
                "nothing to match: give at least one of required_keys, args_contains, args_equal, args_time, regex, json_schema; "
                "args_equal: {} means a call without arguments"
            )
        ]


class TestMaxToolCalls:
    """max_tool_calls."""

    def test_passes_within_the_limit(self) -> None:
        """As many as allowed is not too many."""
        verdict = judge("max_tool_calls", {"tool": "web_search", "max": 2}, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == "2 calls of web_search, at most 2 allowed"
        assert refs(verdict) == ["evt-2", "evt-4"]

    def test_fails_over_the_limit(self) -> None:
        """All calls of the tool are evidence."""
        verdict = judge("max_tool_calls", {"tool": "web_search", "max": 1}, SEARCHES)
        assert not verdict.passed
        assert verdict.message == (
            "expected at most 1 call of web_search, got 2; the trace calls web_search×2 outbound_send×1"
        )
        assert refs(verdict) == ["evt-2", "evt-4"]
        assert verdict.observed["calls"] == {"web_search": 2}

    def test_max_total_counts_all_tools(self) -> None:
        """Together with a limit of one tool, both must hold."""
        assert judge("max_tool_calls", {"max_total": 3}, SEARCHES).passed
        verdict = judge("max_tool_calls", {"tool": "web_search", "max": 2, "max_total": 2}, SEARCHES)
        assert verdict.message == (
            "expected at most 2 calls of all tools, got 3; the trace calls web_search×2 outbound_send×1"
        )
        assert refs(verdict) == ["evt-2", "evt-4", "evt-6"]
        both = judge("max_tool_calls", {"tool": "web_search", "max": 0, "max_total": 2}, SEARCHES)
        assert both.message == (
            "expected at most 0 calls of web_search, got 2; expected at most 2 calls of all tools, got 3; "
            "the trace calls web_search×2 outbound_send×1"
        )
        assert refs(both) == ["evt-2", "evt-4", "evt-6"]
        assert both.observed == {
            "calls": {"web_search": 2, "all tools": 3},
            "tool_counts": {"web_search": 2, "outbound_send": 1},
        }

    @pytest.mark.parametrize(
        ("params", "trace", "reason"),
        [
            ({"tool": "web_fetch", "max": 1}, SEARCHES, "no call of web_fetch in the trace"),
            ({"tool": "web_fetch", "max": 1}, SILENT, "no tool_call events in the trace"),
            ({"max_total": 3}, SILENT, "no tool_call events in the trace"),
        ],
    )
    def test_is_vacuous_without_calls(self, params: dict[str, Any], trace: Trace, reason: str) -> None:
        """What was not called was not limited."""
        verdict = judge("max_tool_calls", params, trace)
        assert (verdict.passed, verdict.exercised, verdict.reason) == (True, False, reason)

    def test_a_limit_of_all_tools_is_exercised_by_any_call(self) -> None:
        """Beside a tool that was not called, the calls of all tools were counted."""
        verdict = judge("max_tool_calls", {"tool": "web_fetch", "max": 1, "max_total": 3}, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == (
            "0 calls of web_fetch, at most 1 allowed; 3 calls of all tools, at most 3 allowed"
        )

    def test_a_limit_of_none_is_exercised_by_other_calls(self) -> None:
        """max: 0 forbids the tool, so that no call of it is what was judged."""
        assert judge("max_tool_calls", {"tool": "web_fetch", "max": 0}, SEARCHES).exercised

    def test_says_when_the_recording_ends_before_the_run(self) -> None:
        """There may have been more calls later."""
        trace = make_trace(call("web_search"), output=None, status="partial")
        assert judge("max_tool_calls", {"max_total": 1}, trace).message == (
            "1 call of all tools, at most 1 allowed; the trace is partial, so what came later is not known"
        )

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "needs tool with max, or max_total for all tools together"),
            ({"max": 2}, "needs tool with max, or max_total for all tools together"),
            ({"tool": "a"}, "needs tool with max, or max_total for all tools together"),
            ({"tool": "a", "max_total": 2}, "needs tool with max, or max_total for all tools together"),
            ({"max_total": -1}, "expected at least 0, got the number -1"),
        ],
    )
    def test_refuses_half_a_limit(self, params: dict[str, Any], message: str) -> None:
        """A limit says of what."""
        assert refused("max_tool_calls", params) == [message]


FORCE = {"regex": {"command": "push.*--force"}}


@pytest.mark.parametrize(
    ("steps", "passes", "message"),
    [
        (
            (call("bash", command="git push"),),
            True,
            "bash was not called with matching arguments; the trace calls bash×1",
        ),
        (
            (call("web_search"),),
            True,
            "bash was not called with matching arguments; the trace calls web_search×1",
        ),
        (
            (call("bash", command="git push --force"),),
            False,
            "expected no call of bash with matching arguments, got 1; the trace calls bash×1",
        ),
        (
            (call("bash", command="ls"), call("bash", command="git push --force")),
            False,
            "expected no call of bash with matching arguments, got 1; the trace calls bash×2",
        ),
    ],
)
def test_only_calls_with_matching_arguments_are_forbidden(
    steps: tuple[Step, ...], passes: bool, message: str
) -> None:
    """A tool may be used, but not so; it is exercised by the usual rules when the tool was not called at all."""
    case = make_case(tools={"available": ["bash", "web_search"]})
    verdict = judge("must_not_call_tool", {"tool": "bash", "args": FORCE}, make_trace(*steps), case)
    assert (verdict.passed, verdict.message, verdict.exercised) == (passes, message, True)
    if not passes:
        assert refs(verdict) == [f"evt-{len(steps) + 1}"]


def test_a_forbidden_call_that_nobody_could_make_is_vacuous() -> None:
    """As without `args`: no call, and the agent did not have the tool."""
    params = {"tools": ["bash", "shell"], "args": FORCE}
    assert judge("must_not_call_tool", params, make_trace()).reason == (
        "no tool_call events in the trace, and bash and shell are not in tools.available"
    )


WITH_RESULT = make_trace(
    call("send", "c1", to="dana"),
    result("send", "c1", {"status": "queued"}),
    call("send", "c2", to="leo"),
    result("send", "c2", {"status": "sent"}),
)


@pytest.mark.parametrize(
    ("params", "passes", "message", "category"),
    [
        ({}, True, "send was called once with matching result, expected at least 1", ""),
        (
            {"min_calls": 2},
            False,
            "expected at least 2 calls of send with matching result, got 1; the trace calls send×2",
            "wrong tool result",
        ),
        (
            {"min_calls": 3},
            False,
            "expected at least 3 calls of send with matching result, got 1; the trace calls send×2",
            "too few tool calls",
        ),
        (
            {"args": {"args_equal": {"to": "leo"}}},
            True,
            "send was called once with matching arguments and result, expected at least 1",
            "",
        ),
        (
            {"args": {"args_equal": {"to": "dana"}}},
            False,
            "expected at least 1 call of send with matching arguments and result, got 0; the trace calls send×2",
            "wrong tool result",
        ),
        (
            {"args": {"args_equal": {"to": "eve"}}},
            False,
            "expected at least 1 call of send with matching arguments and result, got 0; the trace calls send×2",
            "wrong tool arguments",
        ),
        (
            {"tool": "mail"},
            False,
            "expected at least 1 call of mail with matching result, got 0; the trace calls send×2",
            "required tool not used",
        ),
    ],
)
def test_a_required_call_may_need_a_result(
    params: dict[str, Any], passes: bool, message: str, category: str
) -> None:
    """A failure is of the kind of what happened."""
    given = {"tool": "send", "result": {"equal": {"status": "sent"}}, **params}
    verdict = judge("must_call_tool", given, WITH_RESULT)
    assert (verdict.passed, verdict.message, verdict.category) == (passes, message, category)


def test_a_call_that_came_to_something_else_is_the_closest() -> None:
    """With what its result was."""
    verdict = judge("must_call_tool", {"tool": "send", "result": {"equal": {"status": "read"}}}, WITH_RESULT)
    assert closest(verdict) == [
        ("evt-2", 'result status: expected "read", got "queued"'),
        ("evt-4", 'result status: expected "read", got "sent"'),
    ]


@pytest.mark.parametrize(
    ("params", "passes", "message", "category"),
    [
        (
            {"result": {"equal": {"status": "sent"}}},
            True,
            "1 of 2 calls of send had matching result",
            "",
        ),
        (
            {"result": {"equal": {"status": "sent"}}, "which": "last"},
            True,
            "the last call of send (evt-4) had matching result",
            "",
        ),
        (
            {"result": {"equal": {"status": "sent"}}, "which": "all"},
            False,
            'expected every call of send with matching result, 1 of 2 calls differs; evt-2: result status: expected "sent", got "queued"',
            "wrong tool result",
        ),
        (
            {
                "args": {"args_equal": {"to": "dana"}},
                "result": {"equal": {"status": "sent"}},
                "which": "first",
            },
            False,
            'expected the first call of send with matching arguments and result, it differs; evt-2: result status: expected "sent", got "queued"',
            "wrong tool result",
        ),
        (
            {"args": {"args_equal": {"to": "eve"}}, "which": "first"},
            False,
            'expected the first call of send with matching arguments, it differs; evt-2: to: expected "eve", got "dana"',
            "",
        ),
        (
            {"tool": "mail", "args": {"args_equal": {"to": "eve"}}},
            False,
            "expected a call of mail with matching arguments, got no call of it; the trace calls send×2",
            "required tool not used",
        ),
    ],
)
def test_results_are_matched_as_arguments_are(
    params: dict[str, Any], passes: bool, message: str, category: str
) -> None:
    """Of any call, all, the first or the last."""
    verdict = judge("tool_args_match", {"tool": "send", **params}, WITH_RESULT)
    assert (verdict.passed, verdict.message, verdict.category) == (passes, message, category)


def test_match_is_another_name_for_args() -> None:
    """Both at once, or neither, is an error."""
    wanted = {"args_equal": {"to": "dana"}}
    one, other = (
        judge("tool_args_match", {"tool": "send", key: wanted}, WITH_RESULT) for key in ("args", "match")
    )
    assert one == other
    assert one.passed
    assert refused("tool_args_match", {"tool": "send", "args": wanted, "match": wanted}) == [
        "args and match are the same: give one of them"
    ]
    assert refused("tool_args_match", {"tool": "send"}) == ["nothing to match: give args, result or both"]
