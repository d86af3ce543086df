"""What the HTML report shows of texts, assertion results and traces, before any of it is HTML."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.results import AssertionResult, EventDifference, Evidence, Excerpt
from agenteval.reporters.html import AT_ONCE, LONGEST, MOST_EVENTS, Text, checks, shown, text, timeline
from agenteval.text.fitting import visible
from run_builders import judged

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def event(number: int, kind: str, data: Any, **extra: Any) -> dict[str, Any]:
    """One event as a stored trace has it; its times are a second apart."""
    made = {"event_id": f"evt-{number}", "seq": number, "type": kind, "data": data}
    return {**made, "ts": f"2026-01-02T03:04:{number:02}.500Z", **extra}


def called(number: int, tool: str, **args: Any) -> dict[str, Any]:
    """A call."""
    return event(number, "tool_call", {"tool": tool, "call_id": f"call-{number}", "args": args})


def shown_events(*events: Any, judging: tuple[SimpleNamespace, ...] = ()) -> SimpleNamespace:
    """The timeline of these events."""
    return timeline({"events": list(events)}, judging, "test-a")


def check(*assertions: AssertionResult) -> tuple[SimpleNamespace, ...]:
    """These assertion results."""
    return tuple(checks(assertions, "test-a"))


def whole(one: Text) -> str:
    """All of a text that is in the report."""
    return one.head + one.more


def test_a_short_text_shows_at_once() -> None:
    """Nothing of it waits to be asked for."""
    assert text("Cats\npurr.") == Text("Cats\npurr.")


def test_a_long_text_is_cut_and_what_is_left_out_is_counted() -> None:
    """A megabyte in one line is not laid out, and nobody is told that it was all."""
    cut = text("x" * 1_000_000)
    assert len(whole(cut)) == LONGEST
    assert len(cut.head) == AT_ONCE
    assert cut.left_out == 1_000_000 - LONGEST


@pytest.mark.parametrize(
    ("hidden", "seen"),
    [
        ("a\u202eb", "a\\u202eb"),
        ("a\x00b\x1b[31m", "a\\x00b\\x1b[31m"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half\ud800", "half\\ud800"),
        ("a\rb", "a\\rb"),
    ],
)
def test_what_shows_nothing_or_turns_the_text_around_shows_as_its_escape(hidden: str, seen: str) -> None:
    """A reader sees that it is there, and the rest of the line stays where it is."""
    assert visible(hidden) == seen


def test_letters_of_all_languages_stay() -> None:
    """So do emoji of several parts, tabs, and ends of lines of both kinds."""
    kept = "שלום 你好 नमस्ते 👩\u200d👩\u200d👧 می\u200cخواهم\tx\r\ny\n"
    assert visible(kept) == kept


def test_values_read_as_a_person_writes_them() -> None:
    """A text has no quotation marks; short JSON is on a line, long JSON is not."""
    assert shown("a text") == "a text"
    assert shown({"a": [1, None]}) == '{"a": [1, null]}'
    assert shown({"a": "x" * 80}) == '{\n  "a": "' + "x" * 80 + '"\n}'


def test_the_most_urgent_assertion_comes_first() -> None:
    """Whatever the order in the test file is."""
    made = check(
        judged("pass", "holds"),
        judged("pass", "looks-at-nothing", exercised=False),
        judged("skip", "left-out"),
        judged("fail", "known", xfail=True),
        judged("warn", "doubtful"),
        judged("fail", "broken"),
    )
    assert [(each.result.id, each.kind) for each in made] == [
        ("broken", "fail"),
        ("doubtful", "warn"),
        ("known", "xfail"),
        ("left-out", "skip"),
        ("looks-at-nothing", "vacuous"),
        ("holds", "pass"),
    ]


def test_a_note_without_differences_belongs_to_the_event() -> None:
    """Whatever it says: a sentence is never taken apart, since an agent may have written a part of it."""
    note = 'url: expected to contain "a; b", got "c"; limit: expected 5, got nothing'
    evidence = Evidence(event_refs=["evt-1"], excerpts=[Excerpt(event_id="evt-1", text="", note=note)])
    (one,) = check(judged("fail", "reads", evidence=evidence))
    assert one.differences == {"evt-1": [EventDifference(place="", expected=note, got="")]}


def test_parameters_that_say_nothing_are_left_out() -> None:
    """Null and empty ones, at any depth; zero and false say something."""
    params = {"tool": "x", "args": {"regex": {}, "schema": None}, "max": 0, "strict": False, "of": []}
    (made,) = check(judged(params=params))
    assert [(name, whole(value)) for name, value in made.asked] == [
        ("tool", "x"),
        ("max", "0"),
        ("strict", "false"),
    ]


def test_an_assertion_is_pinned_to_its_events_and_its_differences_to_the_argument() -> None:
    """A difference below an argument belongs to the argument, any other to the event."""
    places = ["args.url", "args.page.size", "agent"]
    differences = [EventDifference(place=place, expected="1", got="2") for place in places]
    excerpt = Excerpt(event_id="evt-1", text="", note="they differ", differences=differences)
    evidence = Evidence(event_refs=["evt-1"], excerpts=[excerpt])
    (one,) = check(judged("fail", "reads", evidence=evidence))
    called_so = called(1, "fetch", url="b", page={"size": 2}, agent="an argument")
    (shown_event,) = shown_events(called_so, judging=(one,)).events
    assert shown_event.pins == [one]
    url, page, agent = shown_event.fields
    assert [each.place for _, each in url.differences] == ["url"]
    assert [each.place for _, each in page.differences] == ["page.size"]
    assert agent.differences == []
    assert [each.place for _, each in shown_event.differences] == ["agent"]


def test_events_tell_what_happened() -> None:
    """Each type with the words for it; a send is told from other calls."""
    told = shown_events(
        event(1, "message_received", {"role": "user", "content": "Hi"}),
        called(2, "outbound_send", to="team"),
        event(
            3,
            "tool_result",
            {"tool": "outbound_send", "success": False, "result": "no"},
            parent_event_id="evt-2",
        ),
        event(4, "error", {"tool": "web", "error_type": "timeout", "message": "late", "retryable": True}),
        event(5, "memory_write", {"group_id": "family", "path": "a.md", "content": "x"}),
    ).events
    assert [(each.word, each.name, each.when) for each in told] == [
        ("Message", "user", "+0.00 s"),
        ("Send", "outbound_send", "+1.00 s"),
        ("Result", "outbound_send", "+2.00 s"),
        ("Error", "web", "+3.00 s"),
        ("Memory write", "family", "+4.00 s"),
    ]
    assert [each.failed for each in told] == [False, False, True, True, False]
    assert told[2].of == "evt-2"
    assert told[3].facts == ["timeout", "retryable"]
    assert [(each.name, whole(each.text)) for each in told[4].fields] == [("path", "a.md"), ("", "x")]


def test_times_that_were_made_up_are_not_shown() -> None:
    """A recording without times gets some of 1970."""
    (shown_event,) = shown_events({**called(1, "web"), "ts": "1970-01-01T00:00:00.001Z"}).events
    assert shown_event.when == ""


def test_of_very_long_traces_only_what_is_judged_shows() -> None:
    """The first events, and those that an assertion names; the others are counted."""
    last = MOST_EVENTS + 10
    (one,) = check(judged("fail", evidence=Evidence(event_refs=[f"evt-{last}"])))
    events = [{**called(number, "web"), "ts": ""} for number in range(1, last + 1)]
    told = shown_events(*events, judging=(one,))
    assert [each.event_id for each in told.events[-2:]] == [f"evt-{MOST_EVENTS}", f"evt-{last}"]
    assert told.left_out == 9


@given(st.dictionaries(st.text(), JSON) | st.builds(lambda events: {"events": events}, st.lists(JSON)))
def test_no_trace_breaks_the_report(trace: dict[str, Any]) -> None:
    """A file that was changed by hand may hold anything."""
    timeline(trace, (), "test-a")


@given(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["tool_call", "tool_result", "error", "memory_read", "final_output"])},
        optional={"data": JSON, "event_id": JSON, "ts": JSON, "parent_event_id": JSON},
    )
)
def test_no_event_breaks_the_report(record: dict[str, Any]) -> None:
    """So may each of its events."""
    shown_events(record)
