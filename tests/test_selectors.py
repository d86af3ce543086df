"""The event matcher, and how arguments are compared."""

from time import process_time
from typing import Any

import pytest
from hypothesis import strategies as st

from agenteval.contracts.json_values import show
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.trace import Trace
from agenteval.matching.selectors import ArgsMatch, ResultMatch, Selector, tool_of
from builders import Step, call, error, make_trace, memory_read, result

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_a_tool_is_known_by_both_its_names() -> None:
    """The name in the trace, and the one that the runtime has for it; its results and errors as well."""
    recorded = call("bash", "c1", command="ls")
    recorded.data["recorded_tool"] = "Bash"
    trace = make_trace(recorded, error("bash", "c1"), call("read"))
    for name in ("bash", "Bash", "B*"):
        found = parse(Selector, {"tool": name}).find(trace)
        assert [event.event_id for event in found] == ["evt-2", "evt-3"]
    assert parse(Selector, {"tool": "BASH"}).find(trace) == []
    assert len(parse(Selector, {"tool": "*"}).find(trace)) == 3


@pytest.mark.parametrize(
    ("wanted", "contained"),
    [
        ({"query": "ai news"}, True),
        ({"query": "weather"}, False),
        ({"limit": 5}, True),
        ({"limit": 5.0}, True),
        ({"limit": "5"}, False),
        ({"limit": True}, False),
        ({"tags": ["a", "b"]}, True),
        ({"tags": ["a"]}, False),
        ({"tags": "a"}, False),
        ({"absent": None}, False),
        ({"place": "CAFE\u0301"}, True),
        ({"total": "11"}, False),
        ({"total": "711 boats"}, True),
    ],
)
def test_args_contains_compares_strings_by_substring(wanted: dict[str, Any], contained: bool) -> None:
    """Whatever the case and the form of accents, everything else by equality."""
    args = {"query": "Latest AI news", "limit": 5, "tags": ["a", "b"], "place": "caf\u00e9", "cursor": ""}
    args["total"] = "711 boats"
    assert (ArgsMatch(args_contains=wanted).differences(args) == []) is contained


@pytest.mark.parametrize(
    ("matcher", "differences"),
    [
        ({"required_keys": ["query", "limit"]}, ["limit is missing"]),
        ({"required_keys": ["nothing"]}, []),
        ({"args_contains": {"query": "ai"}}, ['query: expected to contain "ai", got "weather"']),
        ({"args_contains": {"page": 3}}, ["page: expected to be 3, got 2"]),
        ({"args_contains": {"lang": "en"}}, ['lang: expected to contain "en", got nothing']),
        ({"regex": {"deep.list.0": "^u\u0308$"}}, []),
        ({"args_equal": {"query": "Weather"}}, ['query: expected "Weather", got "weather"']),
        ({"args_equal": {"page": True}}, ["page: expected true, got 2"]),
        ({"regex": {"query": "^WEA"}}, []),
        ({"regex": {"query": "^x"}}, ['query: expected a match of /^x/, got "weather"']),
        ({"regex": {"page": "^[0-9]$"}}, []),
        ({"regex": {"price": "^7\\.5$"}}, []),
        ({"regex": {"text": "^one$"}}, []),
        ({"regex": {"lang": "x"}}, ["lang: expected a match of /x/, got nothing"]),
        ({"args_equal": {"deep.list.0": "ü"}}, []),
        ({"json_schema": {"properties": {"page": {"type": "string"}}}}, ["page: 2 is not of type 'string'"]),
        (
            {"required_keys": ["lang"], "args_equal": {"page": 1}, "regex": {"query": "x"}},
            ["lang is missing", "page: expected 1, got 2", 'query: expected a match of /x/, got "weather"'],
        ),
    ],
)
def test_differences_name_each_argument_with_expected_and_got(
    matcher: dict[str, Any], differences: list[str]
) -> None:
    """All matchers must hold; each that does not is one line."""
    args = {
        "query": "weather",
        "page": 2,
        "nothing": None,
        "deep": {"list": ["ü"]},
        "text": "one\r\ntwo",
        "price": 7.5,
    }
    assert parse(ArgsMatch, matcher).differences(args) == differences


NOON = "2026-11-25T12:00:00+01:00"


@pytest.mark.parametrize(
    ("wanted", "got", "difference"),
    [
        (NOON, NOON, None),
        (NOON, "2026-11-25T11:00:00Z", None),
        (NOON, " 2026-11-25 06:00:00.000-05:00 ", None),
        (NOON, "2026-11-25T12:00:00Z", ", 3600 s later"),
        (NOON, "2026-11-25T10:59:58.5Z", ", 1.5 s earlier"),
        (NOON, "2026-11-25T12:00:00", ": only one has an offset"),
        ("2026-11-25T12:00", "2026-11-25T12:00:00", None),
        ("2026-11-25T12:00", "2026-11-25T12:00:00Z", ": only one has an offset"),
        (NOON, "noon", ""),
        (NOON, 1795600800, ""),
        (NOON, None, ""),
        ({"is": NOON, "within_s": 60}, "2026-11-25T11:01:00Z", None),
        ({"is": NOON, "within_s": 60}, "2026-11-25T11:01:01Z", ", 61 s later"),
        ({"is": NOON, "within_s": 0.5}, "2026-11-25T11:00:00.4Z", None),
    ],
)
def test_args_time_compares_moments(wanted: Any, got: Any, difference: str | None) -> None:
    """Whatever their offsets and how exactly they are written, with a tolerance where there is one."""
    found = parse(ArgsMatch, {"args_time": {"task.at": wanted}}).differences({"task": {"at": got}})
    within = f" within {wanted['within_s']:g} s" if isinstance(wanted, dict) and "within_s" in wanted else ""
    moment = wanted["is"] if isinstance(wanted, dict) else wanted
    told = f"task.at: expected the moment {moment}{within}, got {show(got)}{difference}"
    assert found == ([] if difference is None else [told])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "noon",
            "expected a moment in ISO 8601, such as 2026-01-31T08:00:00+01:00, or {is: …, within_s: …}, got 'noon'",
        ),
        (
            7,
            "expected a moment in ISO 8601, such as 2026-01-31T08:00:00+01:00, or {is: …, within_s: …}, got the number 7",
        ),
        (
            {},
            "expected a moment in ISO 8601, such as 2026-01-31T08:00:00+01:00, or {is: …, within_s: …}, got nothing (null)",
        ),
        ({"is": NOON, "within": 3}, "unknown key 'within' (allowed: is, within_s)"),
        ({"is": NOON, "within_s": -1}, "within_s: expected seconds, at least 0, got the number -1"),
        ({"is": NOON, "within_s": True}, "within_s: expected seconds, at least 0, got the boolean true"),
        ({"is": NOON, "within_s": "60"}, "within_s: expected seconds, at least 0, got '60'"),
    ],
)
def test_what_is_no_moment_is_refused(given: Any, message: str) -> None:
    """With its place."""
    with pytest.raises(Invalid) as caught:
        parse(ArgsMatch, {"args_time": {"at": given}})
    assert [(each.path, each.message) for each in caught.value.findings] == [(("args_time", "at"), message)]


@pytest.mark.parametrize(
    ("result", "matcher", "differences"),
    [
        ({"status": "sent", "id": 7}, {"equal": {"status": "sent"}, "required_keys": ["id"]}, []),
        (
            {"status": "sent"},
            {"equal": {"status": "queued"}},
            ['result status: expected "queued", got "sent"'],
        ),
        ({"a": {"b": [{"c": "Deep sea"}]}}, {"contains": {"a.b.0.c": "deep"}}, []),
        ([{"id": 1}, {"id": 2}], {"equal": {"1.id": 2}}, []),
        ({"n": 711}, {"regex": {"n": "^711$"}}, []),
        ({"ok": True}, {"required_keys": ["id"]}, ["result id is missing"]),
        ({"ok": True}, {"json_schema": {"required": ["id"]}}, ["result (top): 'id' is a required property"]),
        ("Sorted, 12 boats.", {"contains": {"text": "sorted"}}, []),
        (
            "Sorted, 12 boats.",
            {"contains": {"text": "2 boats"}},
            ['result text: expected to contain "2 boats", got "Sorted, 12 boats."'],
        ),
        ("Sorted", {"equal": {"text": "sorted"}}, ['result text: expected "sorted", got "Sorted"']),
        ("Sorted", {"regex": {"text": "^S"}, "json_schema": {"required": ["text"]}}, []),
        ("Sorted", {"required_keys": ["status"]}, ["result status is missing"]),
        ('{"status": "sent"}', {"equal": {"status": "sent"}, "contains": {"text": '"sent"'}}, []),
        ('[{"id": 1}]', {"equal": {"0.id": 1}, "json_schema": {"type": "array"}}, []),
        ('{"text": "inner"}', {"equal": {"text": "inner"}}, []),
        (7, {"equal": {"text": 7}}, []),
        (None, {"equal": {"text": None}}, []),
        (None, {"contains": {"text": "x"}}, ['result text: expected to contain "x", got null']),
    ],
)
def test_results_are_matched(result: Any, matcher: dict[str, Any], differences: list[str]) -> None:
    """By dotted keys; a text is a whole under `text`, and what it holds as well when it is JSON."""
    assert parse(ResultMatch, matcher).differences(result) == differences


def test_a_selector_matches_results() -> None:
    """Of a result its own, of a call any of its; without a type of event calls are not meant, errors never."""
    trace = make_trace(
        call("tide", "c1"),
        result("tide", "c1", {"high": "09:12"}),
        call("tide", "c2"),
        result("tide", "c2", {"high": "21:40"}),
        call("tide", "c3"),
        error("tide", "c3"),
    )

    def found(**given: Any) -> list[str]:
        return [event.event_id for event in parse(Selector, given).find(trace)]

    early = {"contains": {"high": "09"}}
    assert found(result=early) == ["evt-3"]
    assert found(event_type="tool_call", result=early) == ["evt-2"]
    assert found(event_type="tool_result", tool="tide", result=early) == ["evt-3"]
    assert found(event_type="tool_call", result={"required_keys": ["high"]}) == ["evt-2", "evt-4"]
    selector = parse(
        Selector, {"event_type": "tool_call", "tool": "tide", "result": {"equal": {"high": "x"}}}
    )
    assert str(selector) == "tool_call of tide with matching result"
    assert [(event.event_id, note) for event, note in selector.closest(trace)] == [
        ("evt-2", 'result high: expected "x", got "09:12"'),
        ("evt-4", 'result high: expected "x", got "21:40"'),
        ("evt-6", "result: there is none"),
    ]


def of_agents() -> Trace:
    """A run of the main agent, which starts an explorer."""
    inner, read = call("web_search", "c2"), memory_read("family", "zoo")
    inner.data["parent_call_id"], read.data["call_id"] = "c1", "c2"
    steps = [
        call("agent", "c1", subagent_type="Explore", name="scout", prompt="look"),
        inner,
        result("web_search", "c2"),
        read,
    ]
    for step in steps[1:]:
        step.extra["agent_id"] = "g1"
    return make_trace(*steps)


@pytest.mark.parametrize(
    ("agent", "events"),
    [
        ("main", ["evt-1", "evt-2", "evt-6"]),
        ("g1", ["evt-3", "evt-4", "evt-5"]),
        ("g*", ["evt-3", "evt-4", "evt-5"]),
        ("Explore", ["evt-3", "evt-4", "evt-5"]),
        ("scout", ["evt-3", "evt-4", "evt-5"]),
        ("explore", []),
        ("*", ["evt-1", "evt-2", "evt-3", "evt-4", "evt-5", "evt-6"]),
    ],
)
def test_a_selector_may_mean_one_agent(agent: str, events: list[str]) -> None:
    """By its id, by what a subagent is called and of which type it is, or by a glob."""
    found = parse(Selector, {"agent": agent}).find(of_agents())
    assert [event.event_id for event in found] == events


def test_a_selector_of_an_agent_tells_what_differs() -> None:
    """With all that the agent of an event is called."""
    selector = parse(Selector, {"event_type": "tool_call", "tool": "web_search", "agent": "main"})
    assert str(selector) == "tool_call of web_search by the agent main"
    assert [note for _, note in selector.closest(of_agents())] == [
        "agent: expected main, got g1 or scout or Explore",
        "event_type: expected tool_call, got tool_result; agent: expected main, got g1 or scout or Explore",
    ]


def test_long_texts_are_shown_where_they_differ() -> None:
    """Messages are cut, and two texts often begin alike; short texts are shown in full."""
    head = "- one\n" * 50
    matcher = parse(ArgsMatch, {"args_equal": {"content": f"{head}two"}})
    assert matcher.differences({"content": f"{head}too"}) == [
        (
            'content (differs at character 302, line 51): expected "…\\n- one\\n- one\\n- one\\ntwo", '
            'got "…\\n- one\\n- one\\n- one\\ntoo"'
        )
    ]
    assert matcher.differences({"content": 2})[0].endswith("…, got 2")


def test_long_objects_are_shown_where_they_differ() -> None:
    """By the paths of the parts that are not equal."""
    title = "Zoo visit " * 30
    want = {"title": title, "days": [{"at": 11}, {"at": 12}]}
    got = {"title": title, "days": [{"at": 11}, {}]}
    assert parse(ArgsMatch, {"args_equal": {"plan": want}}).differences({"plan": got}) == [
        "plan.days.1.at: expected 12, got nothing"
    ]
    assert parse(ArgsMatch, {"args_contains": {"plan": want}}).differences({"plan": got}) == [
        "plan.days.1.at: expected to be 12, got nothing"
    ]


@pytest.mark.parametrize(
    ("want", "got", "found"),
    [
        ({"price": {"max": 90}}, {"price": {"max": 100}}, [("args.f.price.max", "90", "100")]),
        (
            {"a": 1, "b": [1, 2]},
            {"a": 2, "b": [1, 3], "c": 1},
            [("args.f.a", "1", "2"), ("args.f.b.1", "2", "3"), ("args.f.c", "nothing", "1")],
        ),
        ([1, 2], [2], [("args.f", "[1, 2]", "[2]")]),
        ([{"id": 1, "n": 2}, {"id": 2}], [{"id": 1, "n": 3}, {"id": 2}], [("args.f.0.n", "2", "3")]),
        ([{"id": 1}, {"id": 2}, {"id": 3}], [{"id": 1}, {"id": 3}], [("args.f.1", '{"id": 2}', "nothing")]),
        ({"a": [{"id": 2}]}, {"a": [{"id": 1}, {"id": 2}]}, [("args.f.a.0", "nothing", '{"id": 1}')]),
        (
            [{"id": 1, "to": {"n": "a"}}, {"id": 2}],
            [{"id": 1, "to": {"n": "b"}}],
            [("args.f.0.to.n", '"a"', '"b"'), ("args.f.1", '{"id": 2}', "nothing")],
        ),
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], [("args.f.1.1", "4", "5")]),
        ({"caf\u00e9": {"n": 1}}, {"cafe\u0301": {"n": 2}}, [("args.f.caf\u00e9.n", "1", "2")]),
        ({}, {"a": 1}, [("args.f", "{}", '{"a": 1}')]),
        ({"a": 1}, [1], [("args.f", '{"a": 1}', "[1]")]),
        ({"a": 1}, "x; price: expected 5, got 6", [("args.f", '{"a": 1}', '"x; price: expected 5, got 6"')]),
        (
            {str(n): n for n in range(7)},
            {str(n): -1 for n in range(7)},
            [*[(f"args.f.{n}", str(n), "-1") for n in range(5)], ("args.f", "2 more parts differ", "")],
        ),
    ],
)
def test_a_nested_value_differs_at_its_path(want: Any, got: Any, found: list[tuple[str, str, str]]) -> None:
    """As data, so that no report has to take a sentence apart which holds what an agent wrote."""
    differing = ArgsMatch(args_equal={"f": want}).differences({"f": got})
    assert [(each.place, each.expected, each.got) for each in differing] == found


def test_differences_say_where_in_the_event_they_are() -> None:
    """An argument that is called like another part of the event is not mistaken for it."""
    trace = make_trace(call("fetch", tool=2, page=3), result("fetch", value={"page": 4}))
    selector = parse(
        Selector,
        {
            "event_type": "tool_result",
            "tool": "fetch",
            "args": {"args_equal": {"tool": 1}, "json_schema": {"properties": {"page": {"type": "string"}}}},
            "result": {"equal": {"page": 1}, "required_keys": ["size"]},
        },
    )
    note: Any = selector.closest(trace)[0][1]
    assert [(each.place, each.expected, each.got) for each in note.parts] == [
        ("args.tool", "1", "2"),
        ("args.page", "3 is not of type 'string'", ""),
        ("result.size", "any value", "nothing"),
        ("result.page", "1", "4"),
    ]


def test_a_long_value_hides_no_other_difference() -> None:
    """Of a value that is not as expected the beginning is enough: the message has room for what comes after it."""
    text = "Good morning! " * 50
    matcher = {"args_contains": {"content": "Norlake", "to": "ops"}, "regex": {"content": "^Hi"}}
    shown = f'"{text[:198]}…'
    assert parse(ArgsMatch, matcher).differences({"content": text, "to": "family"}) == [
        f'content: expected to contain "Norlake", got {shown}',
        'to: expected to contain "ops", got "family"',
        f"content: expected a match of /^Hi/, got {shown}",
    ]


@pytest.mark.parametrize(
    ("matcher", "message"),
    [
        (
            {},
            (
                "nothing to match: give at least one of required_keys, args_contains, args_equal, args_time, regex, json_schema; "
                "args_equal: {} means a call without arguments"
            ),
        ),
        (
            {"regex": {"query": "AI|news|"}},
            "the pattern 'AI|news|' matches every text, the empty one too; it ends in an empty alternative",
        ),
        (
            {"args_contains": {"query": "\u200b "}},
            "the phrase of query is blank, and asks for nothing: use args_equal for a blank text, or required_keys to accept any",
        ),
        (
            {"args_equal": {}, "required_keys": ["query"]},
            "args_equal: {} means no arguments, and leaves nothing for required_keys",
        ),
        (
            {"json_schema": {"type": "object", "properties": {"query": {}}}},
            "json_schema allows every value: say what must be there, such as type, required or properties",
        ),
        (
            {"regex": {"query": ""}},
            "the pattern of query is empty, and matches every text: use required_keys to accept any",
        ),
        ({"regex": {"query": "("}}, "the pattern '(' is not a regular expression: missing ) at position 1"),
        (
            {"json_schema": {"type": "strin"}},
            "json_schema is not a JSON Schema: type: 'strin' is not valid under any of the given schemas",
        ),
    ],
)
def test_a_matcher_that_cannot_be_used_is_refused(matcher: dict[str, Any], message: str) -> None:
    """An empty matcher would match everything; patterns and schemas are checked when the spec is loaded."""
    with pytest.raises(Invalid) as caught:
        parse(ArgsMatch, matcher)
    assert caught.value.findings[0].message == message


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ({}, "a selector needs at least one of event_type, tool, call_id, success, args, result and agent"),
        (
            {"event_type": "memory_read", "tool": "web_search", "success": True},
            (
                "tool goes with tool events (tool_call, tool_result, error), not with memory_read: "
                "this selector could never match"
            ),
        ),
    ],
)
def test_a_selector_that_means_everything_or_nothing_is_refused(
    selector: dict[str, Any], message: str
) -> None:
    """Both would turn an assertion into one that cannot judge."""
    with pytest.raises(Invalid) as caught:
        parse(Selector, selector)
    assert caught.value.findings[0].message == message


def test_a_memory_event_is_meant_by_the_call_that_caused_it() -> None:
    """It has no tool of its own."""
    write = Step("memory_write", {"group_id": "family", "call_id": "c2"})
    trace = make_trace(call("Write", "c1"), call("Write", "c2"), write)
    selector = parse(Selector, {"event_type": "memory_write", "call_id": "c2"})
    assert [event.event_id for event in selector.find(trace)] == ["evt-4"]
    assert parse(Selector, {"event_type": "memory_write", "call_id": "c1"}).find(trace) == []
    with pytest.raises(Invalid, match="tool goes with tool events"):
        parse(Selector, {"event_type": "memory_write", "call_id": "c2", "tool": "Write"})


TRACE = make_trace(
    memory_read("family", "likes tea"),
    call("web_search", "c1", query="AI news"),
    error("web_search", "c1"),
    call("web_search", "c2", query="AI news"),
    result("web_search", "c2", {"hits": 1}),
    call("web_fetch", "c3", url="https://a.example"),
    result("web_fetch", "c3", None, success=False),
    call("outbound_send", "c4", content="hi"),
)


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ({"event_type": "tool_call"}, ["evt-3", "evt-5", "evt-7", "evt-9"]),
        ({"event_type": "tool_call", "tool": "web_search"}, ["evt-3", "evt-5"]),
        ({"tool": "web_search"}, ["evt-3", "evt-4", "evt-5", "evt-6"]),
        ({"tool": "web_*", "event_type": "tool_result"}, ["evt-6", "evt-8"]),
        ({"tool": "WEB_*"}, []),
        ({"tool": "*"}, ["evt-3", "evt-4", "evt-5", "evt-6", "evt-7", "evt-8", "evt-9"]),
        ({"call_id": "c2"}, ["evt-5", "evt-6"]),
        ({"event_type": "tool_result", "success": True}, ["evt-6"]),
        ({"event_type": "tool_result", "success": False}, ["evt-8"]),
        ({"event_type": "tool_call", "success": True}, ["evt-5"]),
        ({"event_type": "tool_call", "success": False}, ["evt-3", "evt-7"]),
        ({"event_type": "error"}, ["evt-4"]),
        ({"success": False}, ["evt-4", "evt-8"]),
        ({"tool": "web_search", "success": True}, ["evt-6"]),
        ({"event_type": "tool_result", "args": {"args_contains": {"query": "ai"}}}, ["evt-6"]),
        ({"args": {"args_contains": {"content": "HI"}}}, ["evt-9"]),
        ({"event_type": "memory_read"}, ["evt-2"]),
        ({"event_type": "memory_write"}, []),
        ({"event_type": "final_output"}, ["evt-10"]),
    ],
)
def test_a_selector_finds_the_events_that_hold_all_its_conditions(
    selector: dict[str, Any], found: list[str]
) -> None:
    """A call without an outcome neither succeeded nor failed, and one with an outcome only when calls are asked for;
    results are matched by the arguments of their call.

    Any tool is not no tool: a message is no event of a tool.
    """
    assert [event.event_id for event in parse(Selector, selector).find(TRACE)] == found


def test_an_event_without_a_call_has_no_arguments() -> None:
    """It is not taken for one whose arguments match, and the closest says why."""
    trace = make_trace(error("web_search", "c1"))
    selector = parse(Selector, {"tool": "web_search", "args": {"required_keys": ["query"]}})
    assert selector.find(trace) == []
    assert selector.closest(trace) == [(trace.events[1], "args: no call belongs to this event")]


def test_a_result_without_a_tool_has_the_tool_of_its_call() -> None:
    """A result or error that names only its call is still found by tool and by call id."""
    trace = make_trace(call("web_search", "c1", query="x"), result("web_search", "c1"))
    answer = trace.events[-2]
    answer.data = {"success": True, "result": 1}
    assert tool_of(answer, trace) == "web_search"
    wanted = {"event_type": "tool_result", "tool": "web_search", "call_id": "c1"}
    assert parse(Selector, wanted).find(trace) == [answer]


@pytest.mark.parametrize(
    ("selector", "closest"),
    [
        (
            {
                "event_type": "tool_call",
                "tool": "web_search",
                "args": {"args_contains": {"query": "weather"}},
            },
            [
                ("evt-3", 'query: expected to contain "weather", got "AI news"'),
                ("evt-5", 'query: expected to contain "weather", got "AI news"'),
                (
                    "evt-4",
                    (
                        "event_type: expected tool_call, got error; "
                        'query: expected to contain "weather", got "AI news"'
                    ),
                ),
            ],
        ),
        (
            {"event_type": "tool_result", "tool": "web_fetch", "success": True},
            [
                ("evt-8", "success: expected true, got false"),
                (
                    "evt-7",
                    "event_type: expected tool_result, got tool_call; success: expected true, got false",
                ),
            ],
        ),
        (
            {"event_type": "tool_call", "tool": "outbound_sent"},
            [("evt-9", "tool: expected outbound_sent, got outbound_send")],
        ),
        (
            {"event_type": "tool_call", "call_id": "c2", "success": False},
            [
                ("evt-3", "call_id: expected c2, got c1"),
                ("evt-5", "success: expected false, got true"),
                ("evt-7", "call_id: expected c2, got c3"),
            ],
        ),
        (
            {"event_type": "tool_result", "tool": "web_search", "call_id": "c1", "success": False},
            [
                ("evt-6", "call_id: expected c1, got c2; success: expected false, got true"),
                ("evt-3", "event_type: expected tool_result, got tool_call"),
                ("evt-4", "event_type: expected tool_result, got error"),
            ],
        ),
        ({"event_type": "tool_call", "tool": "web_fecth*"}, []),
        ({"event_type": "tool_call", "tool": "calendar"}, []),
        ({"event_type": "memory_write"}, []),
    ],
)
def test_closest_are_the_events_that_almost_match(
    selector: dict[str, Any], closest: list[tuple[str, str]]
) -> None:
    """At most three, each with expected and got: the likest name first, the type meant, the fewest differences."""
    found = parse(Selector, selector).closest(TRACE)
    assert [(event.event_id, note) for event, note in found] == closest


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({"event_type": "tool_call"}, "tool_call"),
        ({"tool": "web_*", "success": False}, "event of web_* that failed"),
        (
            {
                "event_type": "tool_result",
                "tool": "a",
                "call_id": "c1",
                "success": True,
                "args": {"required_keys": ["x"]},
            },
            "tool_result of a with call_id c1 that succeeded with matching arguments",
        ),
    ],
)
def test_a_selector_reads_as_words(selector: dict[str, Any], text: str) -> None:
    """Messages name what was looked for."""
    assert str(parse(Selector, selector)) == text


def test_find_is_quick_on_a_long_trace() -> None:
    """20,000 events are searched in linear time: a loop in a loop would take minutes."""
    steps = [
        step
        for number in range(10_000)
        for step in (call("web_search", f"c{number}", query=f"q{number}"), result("web_search", f"c{number}"))
    ]
    trace = make_trace(*steps)
    wanted = {
        "event_type": "tool_result",
        "tool": "web_*",
        "success": True,
        "args": {"args_equal": {"query": "q9999"}},
    }
    selector = parse(Selector, wanted)
    start = process_time()
    assert [event.data["call_id"] for event in selector.find(trace)] == ["c9999"]
    assert len(parse(Selector, {"tool": "web_searhc"}).closest(trace)) == 3
    assert process_time() - start < 5
