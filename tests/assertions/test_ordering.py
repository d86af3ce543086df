"""tool_call_order and stop_after_success: each with a passing, a failing and an edge case, by exact message."""

from dataclasses import replace
from typing import Any

import pytest

from agenteval.contracts.trace import Capabilities
from builders import Step, call, error, judge, make_trace, memory_write, received, result
from verdicts import SEARCHES, closest, refs, refused

CALL_SEARCH = {"event_type": "tool_call", "tool": "web_search"}
CALL_SEND = {"event_type": "tool_call", "tool": "outbound_send"}
CALL_FETCH = {"event_type": "tool_call", "tool": "web_fetch"}


NO_MEMORY = Capabilities(supports_tool_trace=True, supports_replay=True)


class TestToolCallOrder:
    """tool_call_order."""

    def test_passes_when_the_first_matches_are_in_order(self) -> None:
        """Others may stand between, and before may match again later."""
        verdict = judge("tool_call_order", {"before": CALL_SEARCH, "after": CALL_SEND}, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == (
            "tool_call of web_search (evt-2) came before tool_call of outbound_send (evt-6)"
        )
        assert refs(verdict) == ["evt-2", "evt-6"]
        assert verdict.observed == {"before": ["evt-2", "evt-4"], "after": ["evt-6"]}

    def test_fails_in_the_wrong_order(self) -> None:
        """Both first matches are evidence."""
        verdict = judge("tool_call_order", {"before": CALL_SEND, "after": CALL_SEARCH}, SEARCHES)
        assert not verdict.passed
        assert verdict.message == (
            "expected tool_call of outbound_send before tool_call of web_search, got evt-2 before evt-6"
        )
        assert refs(verdict) == ["evt-2", "evt-6"]

    def test_a_success_came_with_its_result(self) -> None:
        """A message sent while the search still ran was not sent after a successful one."""
        trace = make_trace(call("web_search", "c1"), call("outbound_send"), result("web_search", "c1"))
        searched = {"tool": "web_search", "success": True}
        verdict = judge("tool_call_order", {"before": searched, "after": CALL_SEND}, trace)
        assert verdict.message == (
            "expected event of web_search that succeeded before tool_call of outbound_send, got evt-3 before evt-4"
        )

    def test_every_lists_all_that_came_too_early(self) -> None:
        """Not only the first match of after."""
        verdict = judge(
            "tool_call_order", {"before": CALL_SEND, "after": CALL_SEARCH, "every": True}, SEARCHES
        )
        assert verdict.message == (
            "expected tool_call of outbound_send before tool_call of web_search, got evt-2, evt-4 before evt-6"
        )
        assert refs(verdict) == ["evt-2", "evt-4", "evt-6"]
        assert verdict.observed == {"before": ["evt-6"], "after": ["evt-2", "evt-4"]}

    def test_every_passes_when_one_before_precedes_all(self) -> None:
        """One search allows many fetches."""
        trace = make_trace(call("web_search"), call("web_fetch"), call("web_fetch"))
        verdict = judge("tool_call_order", {"before": CALL_SEARCH, "after": CALL_FETCH, "every": True}, trace)
        assert verdict.passed
        assert verdict.message == (
            "tool_call of web_search (evt-2) came before tool_call of web_fetch (evt-3, evt-4)"
        )
        assert refs(verdict) == ["evt-2", "evt-3", "evt-4"]

    @pytest.mark.parametrize(
        ("before", "after", "said", "events"),
        [
            (CALL_FETCH, CALL_SEARCH, "nothing matches before (tool_call of web_fetch)", ["evt-2"]),
            (CALL_SEARCH, CALL_FETCH, "nothing matches after (tool_call of web_fetch)", ["evt-2"]),
            (
                CALL_FETCH,
                {"event_type": "error"},
                "nothing matches before (tool_call of web_fetch) and nothing matches after (error)",
                [],
            ),
        ],
    )
    def test_a_missing_side_fails_and_is_named(
        self, before: dict[str, Any], after: dict[str, Any], said: str, events: list[str]
    ) -> None:
        """What never happened is in no order."""
        verdict = judge("tool_call_order", {"before": before, "after": after}, SEARCHES)
        assert not verdict.passed
        assert f"; {said}; the trace calls web_search×2 outbound_send×1" in verdict.message
        assert refs(verdict) == events

    def test_a_missing_side_shows_what_came_closest(self) -> None:
        """A call that failed almost is the success that was expected; of two sides, three events in all."""
        trace = make_trace(call("web_search", "c1"), error("web_search", "c1"), call("outbound_send"))
        before = {"event_type": "tool_call", "tool": "web_search", "success": True}
        verdict = judge("tool_call_order", {"before": before, "after": CALL_SEND}, trace)
        assert closest(verdict)[0] == ("evt-2", "success: expected true, got false")
        assert verdict.observed == {"before": [], "after": ["evt-4"]}
        both = judge("tool_call_order", {"before": before, "after": {**CALL_SEND, "success": False}}, trace)
        assert [event for event, _ in closest(both)] == ["evt-2", "evt-3", "evt-4"]
        both = judge("tool_call_order", {"before": before, "after": before}, trace)
        assert [event for event, _ in closest(both)] == ["evt-2", "evt-3", "evt-2"]

    def test_one_event_does_not_precede_itself(self) -> None:
        """When both selectors meet in one event the order is not shown."""
        verdict = judge("tool_call_order", {"before": {"tool": "web_search"}, "after": CALL_SEARCH}, SEARCHES)
        assert verdict.message == (
            "expected event of web_search before tool_call of web_search; "
            "one event, evt-2, is the first match of both"
        )
        assert not verdict.passed
        assert refs(verdict) == ["evt-2"]
        assert verdict.observed["after"] == ["evt-2", "evt-4"]

    def test_sequence_passes_with_others_between(self) -> None:
        """Each step is the first match after the step before it."""
        steps = [CALL_SEARCH, {"event_type": "tool_result", "success": True}, CALL_SEND]
        verdict = judge("tool_call_order", {"sequence": steps}, SEARCHES)
        assert verdict.passed
        assert verdict.message == "all 3 steps happened in order (evt-2, evt-3, evt-6)"
        assert verdict.observed == {"found": ["evt-2", "evt-3", "evt-6"]}

    def test_sequence_needs_as_many_events_as_steps(self) -> None:
        """One event cannot be two steps."""
        verdict = judge("tool_call_order", {"sequence": [CALL_SEND, CALL_SEND]}, SEARCHES)
        assert not verdict.passed
        assert verdict.message == (
            "expected tool_call of outbound_send, then tool_call of outbound_send; "
            "step 2 (tool_call of outbound_send) did not happen after evt-6; "
            "the trace calls web_search×2 outbound_send×1"
        )

    def test_sequence_fails_at_the_first_missing_step(self) -> None:
        """A step that came too early is the closest candidate."""
        verdict = judge("tool_call_order", {"sequence": [CALL_SEND, CALL_SEARCH]}, SEARCHES)
        assert not verdict.passed
        assert verdict.observed == {"found": ["evt-6"], "missing_step": 2}
        assert refs(verdict) == ["evt-6"]
        assert closest(verdict) == [
            ("evt-2", "matches, but too early"),
            ("evt-4", "matches, but too early"),
        ]

    @pytest.mark.parametrize(
        "params",
        [
            {"before": {"event_type": "memory_write"}, "after": CALL_SEND},
            {"sequence": [CALL_SEND, {"event_type": "memory_write"}]},
        ],
    )
    def test_memory_that_the_recording_does_not_show_is_not_judged(self, params: dict[str, Any]) -> None:
        """It may have been written; where the recording shows that it was, it is judged."""
        steps = [call("outbound_send", "c1"), result("outbound_send", "c1")]
        verdict = judge("tool_call_order", params, make_trace(*steps, capabilities=NO_MEMORY))
        assert (verdict.applicable, verdict.missing) == (False, ("supports_memory_events",))
        assert verdict.message == "memory_write needs supports_memory_events, which the recording lacks"
        seen = make_trace(*steps, memory_write("family"), capabilities=NO_MEMORY)
        assert judge("tool_call_order", params, seen).applicable

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "needs either sequence, or before and after; got nothing"),
            (
                {"before": CALL_SEND},
                "needs either sequence, or before and after; got before",
            ),
            (
                {"sequence": [CALL_SEND, CALL_FETCH], "after": CALL_SEND},
                "needs either sequence, or before and after; got sequence and after",
            ),
            ({"sequence": [CALL_SEND]}, "a sequence needs at least two selectors"),
            (
                {"sequence": [CALL_SEND, CALL_FETCH], "every": True},
                "every goes with before and after, not with sequence",
            ),
        ],
    )
    def test_refuses_unclear_parameters(self, params: dict[str, Any], message: str) -> None:
        """Either a pair or a sequence."""
        assert refused("tool_call_order", params) == [message]


SENT = {"event_type": "tool_result", "tool": "outbound_send", "success": True}


class TestStopAfterSuccess:
    """stop_after_success."""

    def test_passes_when_nothing_forbidden_follows(self) -> None:
        """What came before the success does not matter."""
        params = {"success_event": SENT, "forbid_following": [CALL_SEARCH, CALL_SEND]}
        verdict = judge("stop_after_success", params, SEARCHES)
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == (
            "no tool_call of web_search or tool_call of outbound_send came after "
            "tool_result of outbound_send that succeeded (evt-7)"
        )
        assert refs(verdict) == ["evt-7"]

    def test_fails_with_what_follows(self) -> None:
        """The first success counts: a second send follows it."""
        trace = make_trace(
            call("outbound_send", "c1"),
            result("outbound_send", "c1"),
            call("outbound_send", "c2"),
            result("outbound_send", "c2"),
        )
        verdict = judge("stop_after_success", {"success_event": SENT, "forbid_following": [CALL_SEND]}, trace)
        assert not verdict.passed
        assert verdict.message == (
            "expected no tool_call of outbound_send after tool_result of outbound_send that succeeded (evt-3), "
            "got 1: evt-4"
        )
        assert refs(verdict) == ["evt-3", "evt-4"]
        assert verdict.observed == {"success_event": "evt-3", "following": ["evt-4"]}

    def test_says_when_the_recording_ends_before_the_run(self) -> None:
        """The agent may have gone on later."""
        trace = make_trace(call("outbound_send"), result("outbound_send"), output=None, status="partial")
        verdict = judge("stop_after_success", {"success_event": SENT}, trace)
        assert verdict.passed
        assert verdict.message == (
            "no tool_call came after tool_result of outbound_send that succeeded (evt-3); "
            "the trace is partial, so what came later is not known"
        )

    def test_memory_that_the_recording_does_not_show_is_not_judged(self) -> None:
        """It may have come after success; what did come after it, in spite of all, fails."""
        trace = make_trace(call("outbound_send"), result("outbound_send"), capabilities=NO_MEMORY)
        writes = {"event_type": "memory_write"}
        lacking = "memory_write needs supports_memory_events, which the recording lacks"
        verdict = judge("stop_after_success", {"success_event": SENT, "forbid_following": [writes]}, trace)
        assert (verdict.applicable, verdict.missing) == (False, ("supports_memory_events",))
        assert verdict.message == lacking
        verdict = judge("stop_after_success", {"success_event": writes}, trace)
        assert (verdict.applicable, verdict.message) == (False, lacking)
        params = {"success_event": SENT, "forbid_following": [CALL_SEND, writes]}
        assert not judge("stop_after_success", params, trace).applicable
        again = make_trace(*[call("outbound_send"), result("outbound_send")] * 2, capabilities=NO_MEMORY)
        verdict = judge("stop_after_success", params, again)
        assert (verdict.passed, verdict.applicable) == (False, True)

    def test_fails_without_a_success(self) -> None:
        """There is nothing to stop after; the failed send came closest."""
        trace = make_trace(call("outbound_send", "c1"), result("outbound_send", "c1", success=False))
        verdict = judge("stop_after_success", {"success_event": SENT, "forbid_following": [CALL_SEND]}, trace)
        assert (verdict.passed, verdict.exercised) == (False, True)
        assert verdict.message == (
            "expected tool_result of outbound_send that succeeded, got none: "
            "there is no success to stop after; the trace calls outbound_send×1"
        )
        assert closest(verdict)[0] == ("evt-3", "success: expected true, got false")

    def test_without_forbid_following_any_call_is_forbidden(self) -> None:
        """To stop is to call nothing; messages and memory are no calls."""
        steps = [call("outbound_send", "c1"), result("outbound_send", "c1"), received("thanks")]
        assert judge("stop_after_success", {"success_event": SENT}, make_trace(*steps)).passed
        trace = make_trace(*steps, call("web_fetch"))
        verdict = judge("stop_after_success", {"success_event": SENT}, trace)
        assert verdict.message == (
            "expected no tool_call after tool_result of outbound_send that succeeded (evt-3), got 1: evt-5"
        )

    def test_allowed_tools_are_exempt(self) -> None:
        """By name or glob, from what forbid_following says too."""
        trace = make_trace(
            call("outbound_send", "c1"), result("outbound_send", "c1"), call("log_write"), call("web_fetch")
        )
        anything = {"success_event": SENT, "allowed_following_tools": ["log_*"]}
        verdict = judge("stop_after_success", anything, trace)
        assert verdict.observed["following"] == ["evt-5"]
        allowed = {**anything, "forbid_following": [{"event_type": "tool_call"}]}
        assert judge(
            "stop_after_success", {**allowed, "allowed_following_tools": ["log_*", "web_fetch"]}, trace
        ).passed

    def test_a_second_result_of_the_call_follows_it(self) -> None:
        """Only the first one tells the success."""
        trace = make_trace(
            call("outbound_send", "c1"), result("outbound_send", "c1"), result("outbound_send", "c1")
        )
        params = {"success_event": SENT, "forbid_following": [{"event_type": "tool_result"}]}
        assert judge("stop_after_success", params, trace).observed["following"] == ["evt-4"]

    def test_the_result_of_the_call_that_succeeded_does_not_follow_it(self) -> None:
        """A success told by the call itself is not broken by its own result."""
        params = {
            "success_event": {"event_type": "tool_call", "tool": "outbound_send", "success": True},
            "forbid_following": [{"tool": "outbound_send"}],
        }
        verdict = judge("stop_after_success", params, SEARCHES)
        assert verdict.passed
        assert verdict.observed["success_event"] == "evt-6"
        assert verdict.message == (
            "no event of outbound_send came after tool_call of outbound_send that succeeded (evt-6), "
            "except evt-7, which may"
        )

    @pytest.mark.parametrize("late", [error("web_search", "a"), result("web_search", "a", success=False)])
    def test_a_failure_of_the_call_that_succeeded_follows_it(self, late: Step) -> None:
        """It is forbidden where failures are."""
        params = {
            "success_event": {"event_type": "tool_call", "tool": "web_search"},
            "forbid_following": [{"tool": "web_search", "success": False}],
        }
        verdict = judge("stop_after_success", params, make_trace(call("web_search", "a"), late))
        assert (verdict.passed, verdict.observed["following"]) == (False, ["evt-3"])

    def test_many_following_events_are_counted(self) -> None:
        """The message names five."""
        trace = make_trace(
            call("outbound_send", "c1"), result("outbound_send", "c1"), *[call("web_fetch") for _ in range(7)]
        )
        verdict = judge("stop_after_success", {"success_event": SENT}, trace)
        assert verdict.message.endswith("got 7: evt-4, evt-5, evt-6, evt-7, evt-8 and 2 more")


def test_one_selector_alone_needs_no_list() -> None:
    """As a list of one; a sequence of one is refused as ever."""
    trace = make_trace(call("web_search"), result("web_search"), call("outbound_send"))
    params = {"success_event": {"event_type": "tool_result"}, "forbid_following": CALL_SEND}
    verdict = judge("stop_after_success", params, trace)
    assert verdict.message == (
        "expected no tool_call of outbound_send after tool_result (evt-3), got 1: evt-4"
    )
    assert verdict == judge("stop_after_success", {**params, "forbid_following": [CALL_SEND]}, trace)
    (told,) = refused("tool_call_order", {"sequence": CALL_SEND})
    assert told == "a sequence needs at least two selectors"


@pytest.mark.parametrize(
    ("kind", "params", "category"),
    [
        ("tool_call_order", {"before": CALL_SEARCH, "after": CALL_SEND}, "required step missing"),
        ("tool_call_order", {"sequence": [CALL_SEARCH, CALL_SEND]}, "required step missing"),
        ("tool_call_order", {"sequence": [{"event_type": "tool_result"}, CALL_SEARCH]}, ""),
        ("stop_after_success", {"success_event": CALL_SEND}, "required step missing"),
        (
            "stop_after_success",
            {"success_event": CALL_SEARCH, "forbid_following": {"event_type": "final_output"}},
            "",
        ),
    ],
)
def test_what_did_not_happen_is_not_out_of_order(kind: str, params: dict[str, Any], category: str) -> None:
    """The kind of failure is that of what happened."""
    verdict = judge(kind, params, make_trace(call("web_search"), result("web_search")))
    assert (verdict.passed, verdict.category) == (False, category)


EDIT = {"event_type": "tool_call", "tool": "edit"}
TESTS = {"event_type": "tool_call", "tool": "bash", "args": {"args_contains": {"command": "pytest"}}}
EVERY_EDIT = {"before": EDIT, "after": TESTS, "every": "before"}


@pytest.mark.parametrize(
    ("course", "message"),
    [
        ("e t e t", "every tool_call of edit (evt-2, evt-4) was followed by {tests} (evt-5)"),
        ("e e t", "every tool_call of edit (evt-2, evt-3) was followed by {tests} (evt-4)"),
        ("t e t", "every tool_call of edit (evt-3) was followed by {tests} (evt-4)"),
        (
            "e t e",
            "expected every tool_call of edit to be followed by {tests}, got evt-4 without one; the last one is evt-3",
        ),
        (
            "t e",
            "expected every tool_call of edit to be followed by {tests}, got evt-3 without one; the last one is evt-2",
        ),
        (
            "e o",
            (
                "expected every tool_call of edit to be followed by {tests}, got evt-2 without one; "
                "nothing matches after ({tests})"
            ),
        ),
    ],
)
def test_every_match_of_before_is_followed(course: str, message: str) -> None:
    """Nothing is edited after the last run of the tests; another command is none."""
    steps = {
        "e": call("edit", file="a"),
        "t": call("bash", command="pytest -q"),
        "o": call("bash", command="ls"),
    }
    verdict = judge(
        "tool_call_order", EVERY_EDIT, make_trace(*[replace(steps[each]) for each in course.split()])
    )
    assert verdict.message == message.format(tests="tool_call of bash with matching arguments")
    assert verdict.passed is message.startswith("every")


def test_nothing_to_be_followed_is_vacuous() -> None:
    """A run that edits nothing has nothing to test."""
    verdict = judge("tool_call_order", EVERY_EDIT, make_trace(call("bash", command="pytest")))
    assert (verdict.passed, verdict.exercised) == (True, False)
    assert verdict.reason == "nothing matches before (tool_call of edit)"


def test_one_event_does_not_follow_itself() -> None:
    """An event that matches both needs another one."""
    params = {
        "before": {"tool": "bash", "event_type": "tool_call"},
        "after": {"tool": "bash", "event_type": "tool_call"},
    }
    assert not judge(
        "tool_call_order", {**params, "every": "before"}, make_trace(call("bash"), call("bash"))
    ).passed


def test_every_after_is_every_true() -> None:
    """Two names for one thing."""
    trace = make_trace(call("bash", command="pytest"), call("edit"))
    for every in (True, "after"):
        assert not judge("tool_call_order", {**EVERY_EDIT, "every": every}, trace).passed


def test_what_must_follow_memory_needs_its_events() -> None:
    """A recording that shows no memory shows no write that was followed by nothing."""
    params = {"before": {"event_type": "memory_write"}, "after": TESTS, "every": "before"}
    trace = make_trace(call("edit"), capabilities=NO_MEMORY)
    verdict = judge("tool_call_order", params, trace)
    assert (verdict.applicable, verdict.missing) == (False, ("supports_memory_events",))
