"""For each operator: a fitting assertion kills a mutant of it, and where none is there every mutant survives."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agenteval.contracts.trace import Trace, check_trace
from agenteval.operators.base import Operator, Subject
from agenteval.operators.calls import change_argument
from agenteval.operators.catalogue import OPERATORS
from agenteval.operators.outputs import drop_part, fabricate_number
from agenteval.operators.traces import rebuilt
from agenteval.reading.yamlsource import load_yaml
from builders import Step, call, make_case, make_trace, memory_write, received, result
from mutation.subjects import NOTES, check, failing, mutated, remembering, retried, searching, sending

STRICT = check("trajectory_matches", expected=[{"tool": "web_search"}, {"tool": "web_fetch"}])
OTHERS: dict[str, Any] = {
    "scenario": {
        "group_id": "family",
        "trigger": "user_message",
        "input_messages": [{"role": "user", "content": "Hello?"}],
        "other_group_state": NOTES,
    }
}
KILLED: dict[str, tuple[Callable[[], Trace], dict[str, Any], str]] = {
    "drop-call": (searching, check("must_call_tool", tool="web_fetch"), "the call of web_fetch is not made"),
    "duplicate-call": (searching, check("no_duplicate_tool_calls"), "the call of web_search is made twice"),
    "reorder-calls": (searching, STRICT, "the call of web_fetch comes before the call of web_search"),
    "add-call": (
        searching,
        check("must_not_call_tool", tool="update_task"),
        "update_task is called without need",
    ),
    "change-argument": (
        searching,
        check("tool_args_match", tool="web_search", match={"args_equal": {"limit": 3}}),
        "limit of the call of web_search is changed",
    ),
    "drop-argument": (
        searching,
        check("tool_args_match", tool="web_search", match={"required_keys": ["query"]}),
        "the call of web_search has no query",
    ),
    "swap-arguments": (
        searching,
        check("tool_args_match", tool="web_fetch", match={"args_equal": {"format": "text"}}),
        "url and format of the call of web_fetch are swapped",
    ),
    "fail-result": (
        searching,
        check("claims_supported_by_fixtures", allowed_sources=["web_fetch"]),
        "the call of web_fetch fails, and the agent goes on",
    ),
    "add-retry": (
        failing,
        check("retry_policy_respected", tool="web_fetch", max_retries=1),
        "the 2nd call of web_fetch, which failed, is tried once more",
    ),
    "claim-success": (
        failing,
        check("graceful_failure_output", allowed_failure_phrases=["could not"]),
        "the answer claims success after a failure",
    ),
    "send-twice": (
        sending,
        check("no_duplicate_outbound"),
        "the message of the call of outbound_send is sent twice",
    ),
    "send-more": (
        sending,
        check("scheduler_outbound_count", exact=1),
        "the message of the call of outbound_send is followed by another",
    ),
    "send-elsewhere": (
        sending,
        check("outbound_destinations", allowed=["ops"]),
        "the message of the call of outbound_send goes to another-group",
    ),
    "send-early": (
        sending,
        check("tool_call_order", before={"tool": "web_search"}, after={"tool": "outbound_send"}),
        "the message of the call of outbound_send is sent before anything else is done",
    ),
    "read-other-group": (
        remembering,
        check("no_cross_group_memory_use"),
        "the memory of another-group is read",
    ),
    "leak-other-group": (
        searching,
        check("no_cross_group_memory_use"),
        "the answer reveals what only work knows",
    ),
    "skip-memory-read": (
        remembering,
        check("memory_recall_same_group", expected_memory_fact="Swimming is on Tuesday", evidence="event"),
        "CLAUDE.md is not read",
    ),
    "skip-memory-write": (
        remembering,
        check("memory_update_on_correction", new_value="Thursday"),
        "CLAUDE.md is not written",
    ),
    "fabricate-number": (searching, check("claims_supported_by_fixtures"), "12 becomes"),
    "fabricate-name": (
        searching,
        check("no_fabricated_source_or_citation"),
        "the answer cites somebody who is in no source",
    ),
    "fabricate-url": (
        searching,
        check("no_fabricated_source_or_citation"),
        "the link https://tram.example/17 becomes a different one",
    ),
    "drop-part": (
        searching,
        check("output_contains", all_of=["Nordspor"]),
        "the 3rd part of the answer is missing",
    ),
    "break-format": (
        searching,
        check("output_matches_format", format="bullet_list", min_bullets=3),
        "the answer has a different form",
    ),
    "ramble": (
        searching,
        check("output_matches_format", format="max_length", max_lines=3),
        "the answer begins with a preamble",
    ),
    "excuse": (
        searching,
        check("output_omits", patterns=["as an AI"]),
        "the answer blames the model's training",
    ),
    "claim-undone": (
        searching,
        check("output_omits", patterns=["I have sent"]),
        "the answer says that outbound_send was used",
    ),
    "say-nothing": (searching, check("output_contains", regex=r"\S"), "the answer is empty"),
    "disclose": (searching, check("no_sensitive_data"), "the answer reveals personal data"),
    "run-twice": (sending, check("scheduler_task_runs", task_id="task-1"), "the whole run happens twice"),
}
SPECS = {"leak-other-group": OTHERS}
"""What else the test of one says."""
BLIND = check("must_not_call_tool", "blind", tool="no_such_tool")


def test_every_operator_is_here() -> None:
    """No operator of the catalogue goes untested."""
    assert list(KILLED) == [name for name in KILLED if name in {each.name for each in OPERATORS}]
    assert {each.name for each in OPERATORS} == set(KILLED)


@pytest.mark.parametrize("operator", KILLED)
def test_a_fitting_assertion_kills(operator: str) -> None:
    """The assertion that is made for the failure notices it, and is named."""
    make, assertion, what = KILLED[operator]
    mutation = mutated(make(), operator, assertion, **SPECS.get(operator, {}))
    (mutant,) = [each for each in mutation.mutants if each.what.startswith(what)][:1]
    assert (mutant.status, mutant.killed_by) == ("killed", ["fits"])
    assert mutant.difference
    assert mutation.idle_assertions == []


@pytest.mark.parametrize("operator", KILLED)
def test_without_one_it_survives(operator: str) -> None:
    """An assertion about something else notices nothing, is idle, and a fitting one is suggested that does."""
    make, _, what = KILLED[operator]
    spec = SPECS.get(operator, {})
    mutation = mutated(make(), operator, BLIND, **spec)
    (mutant,) = [each for each in mutation.mutants if each.what.startswith(what)][:1]
    assert (mutant.status, mutant.killed_by) == ("survived", [])
    assert mutation.score == 0
    assert [idle.id for idle in mutation.idle_assertions] == ["blind"]
    assert mutant.suggestion is not None
    again = mutated(
        make(), operator, check(mutant.suggestion.type, "suggested", **mutant.suggestion.params), **spec
    )
    (noticed,) = [each for each in again.mutants if each.what == mutant.what][:1]
    assert (noticed.status, noticed.killed_by) == ("killed", ["suggested"])


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.name)
@pytest.mark.parametrize("make", [searching, sending, failing, retried, remembering])
def test_a_mutant_is_a_valid_trace_and_the_original_stays(operator: type, make: Callable[[], Trace]) -> None:
    """Whatever is changed keeps the rules of a trace, and nothing of it is changed in the recording."""
    from agenteval.redaction.sealing import encode

    trace = make()
    before = encode(trace)
    for mutant in operator().mutants(Subject(trace=trace, case=make_case(**OTHERS), random=Random(0))):
        check_trace(mutant.build())
    assert encode(trace) == before


def test_suggestions_for_one_test_have_ids_of_their_own() -> None:
    """All of them can be pasted together: no id is one of the test's, or of another suggestion."""
    mutation = mutated(searching(), "change-argument,drop-argument", {**BLIND, "id": "tool-args-match-2"})
    suggested = [mutant.suggestion.yaml for mutant in mutation.mutants if mutant.suggestion]
    assert [text.splitlines()[0] for text in dict.fromkeys(suggested)] == [
        "  - id: tool-args-match",
        "  - id: tool-args-match-3",
        "  - id: tool-args-match-4",
        "  - id: tool-args-match-5",
    ]


def test_a_suggestion_that_notices_a_later_mutant_too_is_enough_for_both() -> None:
    """An argument that must have its value must be there, and be told from another: that needs one assertion, not three."""
    mutation = mutated(searching(), "change-argument,drop-argument,swap-arguments", BLIND)
    matched = {
        mutant.what: mutant.suggestion.params["args"] for mutant in mutation.mutants if mutant.suggestion
    }
    assert matched == {
        "query of the call of web_search is changed": {"args_equal": {"query": "tram lines Oslo"}},
        "limit of the call of web_search is changed": {"args_equal": {"limit": 3}},
        "url of the call of web_fetch is changed": {"args_equal": {"url": "https://tram.example/17"}},
        "format of the call of web_fetch is changed": {"args_equal": {"format": "text"}},
        "the call of web_search has no query": {"args_equal": {"query": "tram lines Oslo"}},
        "the call of web_search has no limit": {"args_equal": {"limit": 3}},
        "the call of web_fetch has no url": {"args_equal": {"url": "https://tram.example/17"}},
        "the call of web_fetch has no format": {"args_equal": {"format": "text"}},
        "url and format of the call of web_fetch are swapped": {
            "args_equal": {"url": "https://tram.example/17"}
        },
    }


def test_a_call_that_must_succeed_need_not_be_the_only_source_of_the_answer() -> None:
    """A successful result before the answer is asked for; what the answer says may come from other tools as well."""
    trace = make_trace(
        call("web_search", query="tram"),
        result("web_search", value="Line 17"),
        call("edit", path="notes.md"),
        result("edit", value="Line 17 noted"),
        output="Line 17 noted.",
    )
    first, second = mutated(trace, "fail-result", BLIND).mutants
    for mutant, tool in ((first, "web_search"), (second, "edit")):
        assert mutant.suggestion is not None
        assert (mutant.suggestion.type, mutant.suggestion.params) == (
            "tool_call_order",
            {
                "before": {"event_type": "tool_result", "tool": tool, "success": True},
                "after": {"event_type": "final_output"},
            },
        )


def test_a_second_answer_is_one_turn_too_many() -> None:
    """How long a chat took would be no limit to hold the next recording to."""
    (mutant,) = mutated(make_trace(asked="Thanks", output="Any time."), "run-twice", BLIND).mutants
    assert mutant.suggestion is not None
    assert (mutant.suggestion.type, mutant.suggestion.params) == ("efficiency_within", {"max_turns": 1})


def test_a_suggestion_that_is_redacted_says_so() -> None:
    """It was tried with the real value, and would fail as it is shown; one without such a value says nothing."""
    trace = make_trace(call("web_search", token="tram lines", limit=3), output="Read.")
    mutation = mutated(trace, "change-argument", BLIND, redacted=["token"])
    shown = [mutant.suggestion.yaml.splitlines() for mutant in mutation.mutants if mutant.suggestion]
    assert [(lines[-2].split(":")[0].strip(), lines[-1]) for lines in shown] == [
        ("token", "    # tried with the real values, which are redacted here: fill them in"),
        ("args_equal", "          limit: 3"),
    ]


@pytest.mark.parametrize(
    ("moment", "later"),
    [
        ("2026-11-24T09:00:00", "2026-11-24T10:00:00"),
        ("2026-11-24 23:30", "2026-11-24 00:30"),
        ("2026-11-24", "2027-11-24"),
    ],
)
def test_of_a_moment_the_hour_is_changed(moment: str, later: str) -> None:
    """That is what goes wrong: by a time zone, or by noon."""
    trace = make_trace(call("schedule_task", at=moment), output="Set.")
    (mutant,) = mutated(trace, "change-argument", BLIND).mutants
    assert mutant.difference == [f"- schedule_task at: {moment}", f"+ schedule_task at: {later}"]


@pytest.mark.parametrize(
    ("operator", "what"),
    [
        ("change-argument", "url of the 2nd call of web_fetch is changed"),
        ("drop-argument", "the 2nd call of web_fetch has no url"),
        ("swap-arguments", "url and format of the 2nd call of web_fetch are swapped"),
    ],
)
def test_a_call_in_the_middle_is_told_by_the_order_of_all(operator: str, what: str) -> None:
    """What neither the first, the last, all nor any of the calls must have is suggested as the calls in their order."""
    pages = [{"url": "https://a.example"}, *[{"url": "https://b.example", "format": "text"}] * 2, {}]
    trace = make_trace(*(call("web_fetch", **args) for args in pages), output="Read.")
    (mutant,) = [each for each in mutated(trace, operator, BLIND).mutants if each.what == what]
    assert mutant.status == "survived"
    assert mutant.suggestion is not None
    assert (mutant.suggestion.type, mutant.suggestion.params) == (
        "trajectory_matches",
        {
            "mode": "strict",
            "expected": [
                {"tool": "web_fetch", "args": args} if args else {"tool": "web_fetch"} for args in pages
            ],
        },
    )


@pytest.mark.parametrize("odd", ["a\u2028b", "a\u2029 'b", "caf\u00e9\x85#", "a\nb", ": -"])
def test_a_suggestion_holds_what_was_tried(odd: str) -> None:
    """Pasted, it is read as the same text, also where YAML would take a character for the end of a line."""
    trace = make_trace(call("web_search", query=odd), output="Read.")
    (mutant,) = mutated(trace, "change-argument", BLIND).mutants
    assert mutant.suggestion is not None
    (pasted,) = load_yaml(f"assertions:\n{mutant.suggestion.yaml}", Path("test.yaml"))["assertions"]
    assert pasted["params"] == mutant.suggestion.params


def test_nothing_is_suggested_that_a_run_would_skip() -> None:
    """Who read another group's memory shows in arguments, too: where a recording has none, the check is skipped."""
    for args, suggested in (({"path": "notes"}, "no_cross_group_memory_use"), (None, None)):
        trace = make_trace(Step("tool_call", {"tool": "x", "call_id": "c", "args": args}), output="Read.")
        (mutant,) = mutated(trace, "read-other-group", BLIND).mutants
        assert (mutant.suggestion.type if mutant.suggestion else None) == suggested


def timed(trace: Trace, *clock: str) -> Trace:
    """The trace with its events at these times, in order."""
    times = [f"2026-11-21T20:00:{each}Z" for each in clock]
    return rebuilt(trace, [replace(each, ts=ts) for each, ts in zip(trace.events, times, strict=True)])


PATIENT = check("retry_policy_respected", tool="web_search", max_retries=9, min_backoff_ms=400)
PATIENT_WITH_PAGES = check("retry_policy_respected", tool="web_fetch", max_retries=9, min_backoff_ms=400)
CLOCKS = [
    ("00", "01", "02", "02.500", "03", "04"),  # as text, "02.500Z" comes before "02Z"
    ("00.000", "01.000", "02.000", "02.500", "03.000", "04.000"),
    ("30", "01", "02", "02.500", "03", "04"),  # the sender's clock is half a minute ahead
]


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("operator", ["ramble", "say-nothing", "drop-argument", "run-twice"])
def test_what_was_not_moved_keeps_its_time(operator: str, clock: tuple[str, ...]) -> None:
    """A retry after half a second is still one after half a second: a check of the wait notices nothing."""
    statuses = {mutant.status for mutant in mutated(timed(retried(), *clock), operator, PATIENT).mutants}
    assert "killed" not in statuses
    assert "survived" in statuses


def test_what_was_moved_has_the_time_of_what_it_was_moved_behind() -> None:
    """Times follow the new order of the events."""
    trace = timed(retried(), "00", "01", "02", "02.500", "03", "04")
    first, *rest = trace.events
    moved = rebuilt(trace, [*rest[:3], first, *rest[3:]])
    assert [event.ts[17:] for event in moved.events] == ["01Z", "02Z", "02.500Z", "02.500Z", "03Z", "04Z"]


def test_a_wait_that_is_gone_is_noticed() -> None:
    """An added call is made when the one before it has failed."""
    (mutant,) = mutated(timed(failing(), *CLOCKS[0]), "add-retry", PATIENT_WITH_PAGES).mutants
    assert mutant.status == "killed"


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("7" * 5000, "7" * 4999 + "8"),
        ("room 41, floor 2", "room 42, floor 2"),
        ("no. 123456789012345678901", "no. 123456789012345678902"),
        (10**4300 - 1, 1 - 10**4300),
        (41, 42),
        (-1, 0),
        (1e300, -1e300),
    ],
    ids=range(7),
)
def test_a_number_of_any_length_becomes_another(value: Any, other: Any) -> None:
    """Python reads and writes no number of more than 4300 digits."""
    subject = Subject(trace=make_trace(call("shell", number=value)), case=make_case(), random=Random(0))
    (mutant,) = change_argument().mutants(subject)
    assert mutant.build().calls()[0].args == {"number": other}


def answered(operator: Operator, output: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Of each mutant of an answer: what it is, the answer that it has, and the lines that show the difference."""
    subject = Subject(trace=make_trace(output=output), case=make_case(), random=Random(1))
    return [(each.what, each.build().output, each.lines) for each in operator.mutants(subject)]


@pytest.mark.parametrize(
    ("output", "rests"),
    [
        ("Found:\n- 50 apples\n- 5", ["Found:\n\n- 5", "Found:\n- 50 apples"]),
        ("See - 5.\n\n- 5\n- 6", ["See - 5.\n\n- 6", "See - 5.\n\n- 5"]),
        ("In all 5.\n\nIn all", ["In all", "In all 5."]),
        ("Yes. Yes. No.", ["Yes. No.", "Yes.  No.", "Yes. Yes."]),
    ],
    ids=["bullets", "after prose", "paragraphs", "sentences"],
)
def test_the_part_that_is_dropped_is_that_in_its_place(output: str, rests: list[str]) -> None:
    """Words that also stand in an earlier part stay there."""
    assert [rest for _, rest, _ in answered(drop_part(), output)] == rests


def test_the_number_that_changes_is_shown_in_its_place() -> None:
    """The same digit in an earlier number stays as it is."""
    assert [(what, lines) for what, _, lines in answered(fabricate_number(), "10 apples, 1 pear")] == [
        ("10 becomes 40 in the answer", ("- 10 apples, 1 pear", "+ 40 apples, 1 pear")),
        ("1 becomes 3 in the answer", ("- 10 apples, 1 pear", "+ 10 apples, 3 pear")),
    ]


def test_of_a_long_line_the_place_that_changes_is_shown() -> None:
    """The beginning of an answer or of an argument, which is the same in both, would show no difference."""
    text = f"{'and so on ' * 30}until 1 pear is left"
    ((_, _, lines),) = answered(fabricate_number(), text)
    assert lines == ("- … on and so on until 1 pear is left", "+ … on and so on until 4 pear is left")
    subject = Subject(trace=make_trace(call("shell", script=text)), case=make_case(), random=Random(0))
    (mutant,) = change_argument().mutants(subject)
    assert mutant.lines == (
        "- shell script: … on and so on until 1 pear is left",
        "+ shell script: … on and so on until 2 pear is left",
    )


def test_what_a_command_is_described_as_is_left_alone() -> None:
    """It is a label for people: a command does the same without it. Elsewhere a description is what is asked for."""
    trace = make_trace(
        call("bash", "a", command="ls", description="List"),
        result("bash", "a", "x"),
        call("create_event", "b", title="Swim", description="Bring towels"),
        result("create_event", "b", "x"),
    )
    made = mutated(trace, "change-argument,drop-argument", BLIND).mutants
    assert [each.what for each in made] == [
        "command of the call of bash is changed",
        "title of the call of create_event is changed",
        "description of the call of create_event is changed",
        "the call of bash has no command",
        "the call of create_event has no title",
        "the call of create_event has no description",
    ]


def test_what_was_sent_is_what_was_answered() -> None:
    """A send whose text is the answer: with another text, the answer is another; without one, there is none."""
    said = "Rain from noon"
    trace = make_trace(
        call("outbound_send", "a", to="ops", text=said),
        result("outbound_send", "a", "ok"),
        Step("final_output", {"role": "assistant", "content": said, "sent_by": ["a"]}),
        output=said,
    )
    rains = check("output_contains", "rains", all_of=["from"])
    made = mutated(trace, "change-argument,drop-argument", rains).mutants
    assert [(each.what, each.status) for each in made] == [
        ("text of the call of outbound_send is changed", "survived"),
        ("the call of outbound_send has no to", "survived"),
        ("the call of outbound_send has no text", "killed"),
    ]


def test_what_was_written_is_what_memory_holds() -> None:
    """A file of memory that is written with another value holds the other value."""
    trace = make_trace(
        received("Swimming is on day 4 now, not on day 2."),
        call("write", "a", path="CLAUDE.md", content="Swimming: day 4"),
        result("write", "a", "ok"),
        memory_write("family", "Swimming: day 4", parent_event_id="evt-2"),
        asked=None,
    )
    kept = check("memory_update_on_correction", "kept", new_value="day 4")
    made = mutated(trace, "change-argument", kept).mutants
    assert [(each.what, each.status) for each in made] == [
        ("path of the call of write is changed", "survived"),
        ("content of the call of write is changed", "killed"),
    ]
