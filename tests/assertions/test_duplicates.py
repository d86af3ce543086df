"""no_duplicate_tool_calls."""

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from builders import Step, call, error, judge, make_trace, result
from verdicts import refs, refused


def judged(*steps: Step, **params: object) -> Verdict:
    """The verdict on these steps."""
    return judge("no_duplicate_tool_calls", params, make_trace(*steps))


AGAIN = (
    call("web_search", "c1", query="x", page=1),
    result("web_search", "c1"),
    call("web_search", "c2", page=1, query="x"),
)
"""evt-2 and evt-4 are the same call."""


def test_it_needs_a_tool_trace() -> None:
    """Without one it is skipped."""
    cls = assertion_class("no_duplicate_tool_calls")
    assert cls is not None
    assert (cls.implied, cls.category) == (("supports_tool_trace",), "tool_process")


def test_passes_when_each_call_is_made_once() -> None:
    """Other arguments, and the same arguments of another tool, make another call."""
    verdict = judged(
        call("web_search", query="x"), call("web_search", query="y"), call("web_fetch", query="x")
    )
    assert (verdict.passed, verdict.exercised) == (True, True)
    assert verdict.message == "3 calls, each made once"
    assert refs(verdict) == ["evt-2", "evt-3", "evt-4"]
    assert verdict.observed == {"calls": 3, "distinct_calls": 3, "repeats_after_error": 0, "repeated": []}


def test_fails_on_equal_arguments_in_any_order() -> None:
    """The evidence is the first call and its repeat."""
    verdict = judged(*AGAIN)
    assert not verdict.passed
    assert (
        verdict.message == "expected each call once, got web_search again (evt-4) with the arguments of evt-2"
    )
    assert refs(verdict) == ["evt-2", "evt-4"]
    assert verdict.observed["repeated"] == [
        {"tool": "web_search", "args": {"query": "x", "page": 1}, "first": "evt-2", "repeats": ["evt-4"]}
    ]


def test_many_repeats_are_cut() -> None:
    """A message names five, and says how many more."""
    verdict = judged(*(call("poll") for _ in range(8)))
    assert verdict.message == (
        "expected each call once, got poll again (evt-3, evt-4, evt-5, evt-6, evt-7 and 2 more) "
        "with the arguments of evt-2"
    )
    twice = judged(*(call(f"tool-{n % 7}") for n in range(14)))
    assert twice.message.endswith("tool-4 again (evt-13) with the arguments of evt-6; 2 more")


def test_a_call_that_failed_may_be_made_again() -> None:
    """A retry is no duplicate; unless that is asked."""
    steps = (call("web_search", "c1"), error("web_search", "c1"), call("web_search", "c2"))
    verdict = judged(*steps)
    assert verdict.passed
    assert verdict.message == "2 calls, each made once, 1 repeat after an error"
    assert not judged(*steps, allow_after_error=False).passed


def test_after_a_success_nothing_is_a_retry() -> None:
    """Failed, then right, then again: the third call is a duplicate."""
    verdict = judged(
        call("send", "c1"),
        error("send", "c1"),
        call("send", "c2"),
        result("send", "c2"),
        call("send", "c3"),
    )
    assert verdict.message == "expected each call once, got send again (evt-6) with the arguments of evt-2"
    assert refs(verdict) == ["evt-2", "evt-4", "evt-6"]


def test_calls_side_by_side_are_no_retries() -> None:
    """The second was made before the first had failed."""
    verdict = judged(call("send", "c1"), call("send", "c2"), error("send", "c1"))
    assert not verdict.passed
    assert refs(verdict) == ["evt-2", "evt-3"]


def test_ignored_arguments_do_not_tell_calls_apart() -> None:
    """A request id that is new each time hides no duplicate."""
    steps = (call("send", to="dana", request_id="1"), call("send", to="dana", request_id="2"))
    assert judged(*steps).passed
    assert not judged(*steps, ignore_args=["request_id"]).passed


def test_tools_and_ignore_tools_choose_what_is_judged() -> None:
    """Names or globs; the message says which."""
    steps = (*AGAIN, call("get_time"), call("get_time"))
    assert judged(*steps, tools=["get_*"], ignore_tools=["web_*"]).message == (
        "expected each call of get_* but web_* once, got get_time again (evt-6) with the arguments of evt-5"
    )
    assert judged(*steps, ignore_tools=["get_time"]).message.startswith(
        "expected each call of any tool but get_time"
    )
    assert judged(call("a"), call("b"), call("b"), tools=["a"]).message == "1 call of a, made once"


def test_is_vacuous_without_a_call_to_judge() -> None:
    """No call at all, none of the tools, or only ignored ones."""
    for verdict, reason in (
        (judged(), "no call in the trace"),
        (judged(*AGAIN, tools=["shell"]), "no call of shell in the trace"),
        (judged(*AGAIN, ignore_tools=["web_*"]), "no call of any tool but web_* in the trace"),
    ):
        assert (verdict.passed, verdict.exercised, verdict.reason) == (True, False, reason)


def test_an_empty_list_of_tools_is_refused() -> None:
    """It would judge nothing."""
    assert refused("no_duplicate_tool_calls", {"tools": []}) == [
        "expected a non-empty value, got an empty list"
    ]
