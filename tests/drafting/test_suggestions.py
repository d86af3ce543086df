"""What a run suggests: each suggestion is of something that happened, and says why."""

from typing import Any

import pytest

from agenteval.contracts.adapters import RecordedRun
from agenteval.contracts.trace import Capabilities
from agenteval.recording.draft import distinct_ids, fixture_file, id_in
from agenteval.recording.draft import test_id as id_for
from agenteval.recording.draft import test_name as name_of
from agenteval.recording.suggestions import Suggestion, slug, suggestions
from builders import call, error, make_case, make_trace, memory_read, memory_write, result


def suggested(*steps: Any, scenario: dict[str, Any] | None = None, **trace: Any) -> dict[str, Suggestion]:
    """What a run of these steps suggests, by type; the last of a type."""
    return {each.type: each for each in named(*steps, scenario=scenario, **trace).values()}


def named(*steps: Any, scenario: dict[str, Any] | None = None, **trace: Any) -> dict[str, Suggestion]:
    """What a run of these steps suggests, by id."""
    case = make_case(scenario=scenario)
    return {each.id: each for each in suggestions(make_trace(*steps, **trace), case)}


def test_every_suggestion_says_why() -> None:
    """Whatever happened."""
    steps = [call("web_search"), error("web_search"), call("web_search"), result("web_search", value="x")]
    for each in suggested(*steps, output="- a\n- b", task_id="t", trigger="scheduler").values():
        assert each.why
        assert each.id


def test_ids_are_unique() -> None:
    """Tools whose names differ in signs only would have one id."""
    trace = make_trace(call("a.b"), call("a_b"), call("a-b"))
    ids = [each.id for each in suggestions(trace, make_case())]
    assert len(ids) == len(set(ids))


def test_nothing_about_tools_without_a_call() -> None:
    """What did not happen suggests nothing."""
    assert set(named(output="Hello there, how are you today.")) == {
        "sends-no-extra-message",
        "stays-brief",
        "states-no-facts",
        "makes-no-excuse",
        "claims-nothing-undone",
        "answers-once",
        "gives-nothing-away",
    }


@pytest.mark.parametrize(
    ("said", "written", "before", "new", "old"),
    [
        ("I want 5 bullets, not 3", "- briefs: 5 bullets", "- briefs: 3 bullets", "5 bullets", "3"),
        ("My new dentist is Dr. Falk", "Dentist: Dr. Falk", "Dentist: Dr. Moll", "Falk", None),
        ("Remember: tea at four", "tea at four", "", "tea at four", None),
        ("3 bullets at 8, not 9", "3 bullets at 8", "3 bullets at 9", "3 bullets at 8", "9"),
    ],
)
def test_a_correction_is_what_was_said_and_written_and_not_known(
    said: str, written: str, before: str, new: str, old: str | None
) -> None:
    """The longest words of the user that memory has now and had not; a number that is gone is the old value."""
    memory = [{"group_id": "family", "content": before}]
    found = suggested(memory_write("family", written), asked=said, scenario={"memory_snapshot": memory})
    params = found["memory_update_on_correction"].params
    assert new in params["new_value"]
    assert params.get("old_value") == old


def test_a_write_that_has_nothing_of_what_was_said() -> None:
    """Is no correction."""
    found = suggested(memory_write("family", "logged in"), asked="Hi?")
    assert "memory_update_on_correction" not in found


def test_what_may_be_the_new_value_and_the_old_one() -> None:
    """Longer words of the user first, each with the number that it takes the place of, then without it."""
    memory = [{"group_id": "family", "content": "- briefs: 3 bullets at 9"}]
    found = suggested(
        memory_write("work", "not 3"),
        memory_write("family", change_summary="- briefs: 5 bullets"),
        memory_write("family", change_summary="instead of: I want 3"),
        asked="I want 5 bullets, not 3 or 4",
        scenario={"memory_snapshot": memory},
    )["memory_update_on_correction"]
    wants = "is new_value what the user wants from now on"
    settle, both = f"{wants}?", f"{wants}, and old_value what no longer holds?"
    assert [(each.params, each.decide) for each in (found, *found.instead)] == [
        ({"new_value": "5 bullets", "old_value": "3"}, both),
        ({"new_value": "5 bullets"}, settle),
        ({"new_value": "5", "old_value": "3"}, both),
        ({"new_value": "5"}, settle),
    ]
    assert found.why == (
        'the user said "I want 5 bullets, not 3 or 4", and the memory was updated accordingly'
    )


def test_words_that_only_signs_hold_together_are_no_value() -> None:
    """What memory has must stand in the message as it is; words without content are none."""
    found = suggested(memory_write("family", "Dr Falk is not at the"), asked="Dr. Falk, not at the")
    made = found["memory_update_on_correction"]
    values = [each.params["new_value"] for each in (made, *made.instead)]
    assert values == ["Dr", "Falk"]


@pytest.mark.parametrize(
    ("steps", "evidence"),
    [
        ([], "output"),
        ([memory_read("work", "x")], "output"),
        ([memory_read("family", "- Ben is eight")], "both"),
        ([memory_read("family")], None),
        ([memory_read("family", None)], None),
        ([memory_write("family", "Tea at four")], None),
    ],
)
def test_memory_that_the_scenario_tells_of(steps: list[Any], evidence: str | None) -> None:
    """The answer may honour it where nothing is known of reading it; a run that tells of memory speaks for itself."""
    memory = [{"group_id": "family", "content": "- Ben is eight\n- Ben is eight"}]
    found = suggested(*steps, scenario={"memory_snapshot": memory}).get("memory_recall_same_group")
    params = {"expected_memory_fact": "Ben is eight", "evidence": evidence}
    assert (found and found.params) == (params if evidence else None)
    assert not (found and found.instead)


def test_of_a_long_memory_the_first_facts_are_tried() -> None:
    """Each has to be looked for in the answer."""
    lines = "\n".join(f"- Room {number} is blue" for number in range(50))
    found = suggested(memory_read("family", lines))["memory_recall_same_group"]
    tried = [each.params["expected_memory_fact"] for each in (found, *found.instead)]
    assert tried == [f"Room {number} is blue" for number in range(40)]


def test_memory_that_was_read_suggests_its_facts() -> None:
    """One after the other, until the answer honours one; another group's memory suggests none."""
    found = suggested(memory_read("family", "# Notes\n- Ben is eight\n- Likes tea"))
    recall = found["memory_recall_same_group"]
    facts = [each.params["expected_memory_fact"] for each in (recall, *recall.instead)]
    assert "Ben is eight" in facts
    assert "Likes tea" in facts
    assert "memory_recall_same_group" not in suggested(memory_read("work", "- Ben is eight"))


def test_a_failure_to_the_end_suggests_honesty() -> None:
    """A tool that recovered does not."""
    lost = suggested(call("web_search"), error("web_search"))
    assert lost["graceful_failure_output"].telling
    assert lost["retry_policy_respected"].params == {"tool": "web_search", "max_retries": 0}
    found = suggested(
        call("web_search"), error("web_search"), call("web_search"), result("web_search", value="x")
    )
    assert "graceful_failure_output" not in found
    waited = found["retry_policy_respected"]
    assert waited.params == {"tool": "web_search", "max_retries": 1, "retry_on_error_types": ["timeout"]}
    assert waited.why == "web_search failed 1 time, and was retried 1 time"
    assert waited.decide == "how often may it be retried, and after which errors?"


@pytest.mark.parametrize(
    "hours", ["0 9 * * 1-5", "*/15 8,9 1 JAN mon-fri", "0 9 L * ?", "0 0 9 * * 1#1", "0 9 1W * WED"]
)
def test_a_schedule_that_was_set_suggests_its_hours(hours: str) -> None:
    """An agent that gets them wrong often says them right; a call that failed set none."""
    steps = (call("schedule_task", prompt="1 2 3 is the code", recurrence=hours), result("schedule_task"))
    made = suggested(*steps)["tool_args_match"]
    assert made.params == {"tool": "schedule_task", "args": {"args_equal": {"recurrence": hours}}}
    assert made.why == f"schedule_task was called with recurrence: {hours}"
    assert "tool_args_match" not in suggested(steps[0], error("schedule_task"))
    for text in ("at 9 on all weekdays", "2 3 is not five", "0 9 " + "LWL," * 99 + "! * *"):
        assert "tool_args_match" not in suggested(call("say", text=text), result("say"))


@pytest.mark.parametrize(
    ("tool", "moment", "hour"),
    [
        ("schedule_task", "2026-11-24T09:00:00", "T09:00"),
        ("mcp__calendar__create_reminder", "2026-11-24 17:30", " 17:30"),
        ("set_alarm", "2026-11-24T07:15:00.000+01:00", "T07:15"),
    ],
)
def test_a_reminder_that_was_set_suggests_its_hour(tool: str, moment: str, hour: str) -> None:
    """Its day depends on that of the recording."""
    steps = (call(tool, prompt="Water the plants", at=moment), result(tool))
    made = suggested(*steps)["tool_args_match"]
    assert made.params == {"tool": tool, "args": {"regex": {"at": hour}}}
    assert made.why == f"{tool} was called with at: {moment}"
    assert "tool_args_match" not in suggested(steps[0], error(tool))


def test_a_moment_is_no_hour_that_was_asked_for_everywhere() -> None:
    """To read a calendar is no reminder; of a task with hours of its own, the first time says less."""
    read = suggested(call("list_events", since="2026-11-24T09:00:00"), result("list_events"))
    assert "tool_args_match" not in read
    both = {"processAfter": "2026-11-24T09:00:00", "recurrence": "0 9 * * *"}
    made = suggested(call("schedule_task", **both), result("schedule_task"))["tool_args_match"]
    assert made.params["args"] == {"args_equal": {"recurrence": "0 9 * * *"}}


def test_a_schedule_that_was_set_right_is_the_one_suggested() -> None:
    """The last one: the agent may have seen its own slip."""
    first = (call("schedule_task", recurrence="0 9 * * *"), result("schedule_task"))
    then = (call("update_task", "c2", recurrence="0 8 * * *"), result("update_task", "c2"))
    made = suggested(*first, *then)["tool_args_match"]
    assert made.params == {"tool": "update_task", "args": {"args_equal": {"recurrence": "0 8 * * *"}}}


def test_isolation_is_suggested_where_something_could_leak() -> None:
    """Other groups that are known of, memory that was touched, or work in which the use of memory would show."""
    others = {"other_group_state": [{"group_id": "work", "memory_snapshot": "- the merger"}]}
    found = suggested(scenario=others)["no_cross_group_memory_use"]
    assert found.why == "the agent acted for family: what work told it is not for family"
    assert found.telling
    for step in (memory_read("family", "x"), call("bash")):
        found = suggested(step)["no_cross_group_memory_use"]
        assert found.why == "the agent acted for family, and touched no memory but that group's"
    blind = Capabilities(supports_tool_trace=True)
    assert "no_cross_group_memory_use" not in suggested(call("bash"), capabilities=blind)
    assert "no_cross_group_memory_use" not in suggested(call("bash"), output=None, status="partial")
    assert "no_cross_group_memory_use" not in suggested()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What's new in AI today? Please", "whats-new-in-ai-today"),
        ("Größe & Ärger", "groe-arger"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本語", ""),
        ("x" * 60, "x" * 48),
        ("x" * 30 + " " + "y" * 30, "x" * 30),
    ],
)
def test_names(text: str, name: str) -> None:
    """Lower case letters, digits and dashes, whatever is given."""
    assert slug(text) == name


def test_fixture_files() -> None:
    """Plain names beside the test, each given once, whatever its case."""
    taken: set[str] = set()
    names = [fixture_file(each, taken) for each in ("fx.a.b", "FX.a.b", "../x", "", "fx.A.b", "fx.a.b")]
    assert names == [
        "fx.a.b.json",
        "fx.FX.a.b.json",
        "fx.x.json",
        "fx.fixture.json",
        "fx.A.b.2.json",
        "fx.a.b.3.json",
    ]
    assert [fixture_file("x" * 200, taken), fixture_file("x" * 200, taken)] == [
        f"fx.{'x' * 77}.json",
        f"fx.{'x' * 77}.2.json",
    ]


RUN = RecordedRun(
    number=3,
    choice={},
    started_at="2026-11-21T20:53:01.527Z",
    group_id="main",
    trigger="user_message",
    first_words="",
    tools={},
    status="success",
)


@pytest.mark.parametrize(
    ("first_words", "name"),
    [("Mail [redacted:email:1a2b3c4d] now", "mail-now"), ("", "run-3"), ("Artifacts", "run-3")],
)
def test_the_name_of_a_run(first_words: str, name: str) -> None:
    """Its first words, without what was redacted; its number, where no name or no folder to be found comes of them."""
    assert name_of(RUN, first_words) == name


@pytest.mark.parametrize(
    ("steps", "trigger", "area"),
    [
        ([], "user_message", "chat"),
        ([call("web_fetch")], "scheduler", "scheduler"),
        ([call("x"), call("web_search")], "user_message", "web"),
        ([call("x"), call("web_fetch")], "user_message", "web"),
        ([call("x"), error("x"), memory_read("family")], "user_message", "memory"),
        ([memory_write("family")], "user_message", "memory"),
        ([call("x"), error("x")], "user_message", "recovery"),
        ([call("x")], "user_message", "tools"),
    ],
)
def test_the_id_of_a_test(steps: list[Any], trigger: str, area: str) -> None:
    """What the run is most about is its area."""
    trace = make_trace(*steps, trigger=trigger)
    assert id_for("My Agent", trace, "hi") == f"my-agent.{area}.hi.as-recorded"
    assert id_for("日本", trace, "hi") == f"adapter.{area}.hi.as-recorded"


def test_ids_that_others_have() -> None:
    """The time of the run tells them apart, and then its number."""
    assert list(distinct_ids("a.chat.hi.as-recorded", RUN)) == [
        "a.chat.hi.as-recorded",
        "a.chat.hi-2026-11-21-20-53-01.as-recorded",
        "a.chat.hi-2026-11-21-20-53-01-3.as-recorded",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# x\nid: a.b-c_d.e # its id\n", "a.b-c_d.e"),
        ("id:  'a.b'\n", "a.b"),
        ('id: "a.b"', "a.b"),
        ("tags:\n  id: a.b\n", ""),
        ("id:\n  a.b\n", ""),
    ],
)
def test_the_id_that_a_file_gives(text: str, found: str) -> None:
    """At the beginning of a line, and on it."""
    assert id_in(text) == found


TEN = "One two three four five six seven eight nine ten."
FORM = "output_matches_format"


def asked_for(found: dict[str, Suggestion], kind: str) -> Any:
    """What the assertion of a type, or of an id, would ask for."""
    made = found.get(kind)
    return made and made.params


@pytest.mark.parametrize(
    ("output", "name", "params"),
    [
        ("- a\n- b", "2-bullets", {"format": "bullet_list", "min_bullets": 2, "max_bullets": 2}),
        ("1. a\n2. b\n3. c", "3-items", {"format": "numbered_list", "min_items": 3, "max_items": 3}),
        ('\n{"a": 1}', "is-json", {"format": "json"}),
        ("[1]", "is-json", {"format": "json"}),
        (" Yes, do it! ", None, {"max_words": 50, "max_lines": 1}),
        (f"{TEN}\n{TEN}", None, {"max_words": 50}),
        (" ".join([TEN] * 3), None, {"max_words": 60, "max_lines": 1}),
        (" ".join([*[TEN] * 3, "More."]), None, {"max_words": 70, "max_lines": 1}),
        ("- a\n\n- b", "2-bullets", {"max_words": 50, "max_lines": 3}),
        ("Two:\n- a\n- b", "2-bullets", {"max_words": 50}),
    ],
)
def test_the_form_of_an_answer(output: str, name: str | None, params: dict[str, Any]) -> None:
    """A list of as many, or JSON; of twice the length, and no line beside a line or items."""
    found = named(output=output)
    assert {"2-bullets", "3-items", "is-json"} & found.keys() == ({name} if name else set())
    if "max_words" in params:
        assert found["stays-brief"].params == {"format": "max_length", **params}
    else:
        assert name
        assert found[name].params == params
    assert ("stays-brief" in found) == (name != "is-json")


def test_the_reasons_for_the_form_of_an_answer() -> None:
    """They count what there is."""
    found = named(output="- a\n- b")
    assert found["2-bullets"].why == "the answer is a list of 2 bullets"
    assert found["stays-brief"].why == (
        "the answer has 2 words in 2 lines; one with a preamble, or much longer, would be another kind of answer"
    )
    assert named(output=f"{TEN}\n{TEN}")["stays-brief"].why == (
        "the answer has 20 words; one with a preamble, or much longer, would be another kind of answer"
    )


def test_an_answer_that_rests_on_nothing_has_no_facts() -> None:
    """Nor has anything that was said, remembered or read: what kind of fact it could be from there may be told."""
    link, source, number = r"https?://", r"\baccording to\b", r"\d"
    assert named(output=TEN)["states-no-facts"].params["patterns"] == [link, source, number]
    said = named(output=TEN, asked="At 5?")["states-no-facts"]
    assert (said.type, said.params) == ("output_omits", {"regex": True, "patterns": [link, source]})
    read = named(call("bash"), result("bash", value="hi https://x.example"), output="Done.")
    assert read["states-no-facts"].params["patterns"] == [source, number]
    held = {"memory_snapshot": [{"group_id": "family", "content": "According to Ann, at 5"}]}
    assert named(output=TEN, scenario=held)["states-no-facts"].params["patterns"] == [link]
    assert "states-no-facts" not in named(output=TEN, asked="https://x.example/5, according to Ann")
    stated = named(call("bash"), result("bash", value="5 cups"), output="There are 5 cups.")
    assert "states-no-facts" not in stated


def test_no_excuse_and_no_deed_that_was_not_done() -> None:
    """Phrases that the answer itself has are left out; a tool that was called did its deed."""
    assert "as an AI" in named()["makes-no-excuse"].params["patterns"]
    sorry = named(output="Something went wrong, sorry.")["makes-no-excuse"]
    assert "something went wrong" not in sorry.params["patterns"]
    sent = [r"\bI(?:'ve| have)? sent\b"]
    assert named()["claims-nothing-undone"].params == {"regex": True, "patterns": sent}
    assert "claims-nothing-undone" not in named(call("outbound_send"), result("outbound_send"))


def test_one_answer_to_one_message() -> None:
    """As many turns as there were; a run without an answer is not held to any."""
    once = named()["answers-once"]
    assert (once.type, once.params) == ("efficiency_within", {"max_turns": 1})
    assert "answers-once" not in named(output=None, status="partial")


def test_nothing_is_to_be_given_away() -> None:
    """In the answer and in what was sent; whether there is an answer or not."""
    params = {"kinds": ["secrets", "email", "phone", "credit_card"], "where": ["output", "outbound"]}
    for output in ("Hello.", None):
        found = suggested(output=output)
        assert asked_for(found, "no_sensitive_data") == params
        assert found["no_sensitive_data"].telling
    assert set(suggested(output=None)) == {"no_sensitive_data"}
    blind = Capabilities(supports_tool_trace=False)
    for found in (suggested(capabilities=blind), suggested(unseen=["what subagent g1 did"])):
        assert found["no_sensitive_data"].params["where"] == ["output"]


def test_links_that_tools_returned_or_were_given() -> None:
    """Each once, and three at most; one that nobody knows suggests nothing."""
    known = [f"https://example.com/{name}" for name in "abcd"]
    steps = [call("web_fetch", url=known[0]), result("web_fetch", value=" ".join(known[1:]))]
    cited = " ".join(["https://example.org/x", known[0], *known])
    found = named(*steps, output=f"This is what I have found for you today: {cited}")
    assert found["links-its-sources"].params == {"all_of": known[:3]}
    unknown = "See https://example.org/x for all of it, please."
    assert "links-its-sources" not in named(*steps, output=unknown)


def test_an_answer_is_held_to_what_tools_returned() -> None:
    """By its hard facts, to those that succeeded, each once, and not to messages that were sent."""
    steps = [
        call("web_search"),
        result("web_search", value="x"),
        call("web_search"),
        result("web_search", value="y"),
        call("web_fetch"),
        error("web_fetch"),
        call("outbound_send", to="ann", text="x"),
        result("outbound_send"),
    ]
    found = suggested(*steps, output=TEN)
    claims = found["claims_supported_by_fixtures"]
    allowed = {"allowed_sources": ["web_search"]}
    hard = ["numbers", "dates", "urls", "names", "quotes"]
    assert claims.params == {**allowed, "include_memory": True, "check": hard}
    assert claims.telling
    assert claims.excepting
    assert claims.excepting.params == {**claims.params, "check": hard[1:]}  # ten numbers without a source
    assert "claims_supported_by_fixtures" not in suggested(*steps[4:], output=TEN)


def test_a_question_is_held_to_come_first() -> None:
    """As many as were asked; an agent that called a tool first did not ask first."""
    asking = "Which town do you mean? And which day?"
    found = suggested(output=asking)
    assert asked_for(found, "ask_clarifying_when_ambiguous") == {"max_questions": 2}
    assert "ask_clarifying_when_ambiguous" not in suggested(call("web_search"), output=asking)
    assert "ask_clarifying_when_ambiguous" not in suggested(output=TEN)


ANY = r"(?s)\A(?=.*\bone\b)(?=.*\btwo\b)(?=.*\bthree\b)"
CUPS = {"required_keys": ["old_string"], "regex": {"new_string": r"(?s)\A(?=.*\b4\b)(?=.*\bcups\b)"}}
SEND = (call("outbound_send", to="dana", text="x"), result("outbound_send"))


def step(*steps: Any, asked: str = "Hello?", output: str = "Done.") -> Any:
    """What is asked of the arguments of the first call; None when there is no assertion for it."""
    found = named(*steps, asked=asked, output=output).values()
    wanted = [each for each in found if each.type == "tool_call_order"]
    return wanted[0].params["before"].get("args") if wanted else None


@pytest.mark.parametrize(
    ("args", "asked", "wanted"),
    [
        # the words that the user said, in any order
        ({"query": "AI news"}, "What's new in AI?", {"args_contains": {"query": "AI"}}),
        (
            {"query": "AI news today"},
            "News of today, on AI?",
            {"regex": {"query": r"(?s)\A(?=.*\bAI\b)(?=.*\bnews\b)(?=.*\btoday\b)"}},
        ),
        ({"query": "AI", "filter.topic": "AI"}, "AI?", {"args_contains": {"query": "AI"}}),
        ({"query": "AI AI"}, "AI?", {"args_contains": {"query": "AI"}}),
        ({"query": "a b one two three four"}, "one two three four", {"regex": {"query": ANY}}),
        ({"query": "trams"}, "Which tram?", {"args_contains": {"query": "trams"}}),
        ({"query": "C++ 17"}, "17?", {"args_contains": {"query": "17"}}),
        ({"room": "kitchen", "level": 3, "on": True}, "Level 3", {"args_equal": {"level": 3}}),
        # what a tool is asked for has to be there
        ({"query": "weather", "limit": 5}, "Hello?", {"required_keys": ["query"]}),
        ({"pattern": "**/CLAUDE*.md"}, "Hello?", {"required_keys": ["pattern"]}),
        ({"command": "ls", "description": "Show the room"}, "The room?", {"required_keys": ["command"]}),
        # files by their names
        ({"file_path": "/workspace/agent/notes.md"}, "Hi", {"args_contains": {"file_path": "notes.md"}}),
        ({"path": "/workspace/extra/"}, "Hi", {"args_contains": {"path": "extra"}}),
        ({"command": "cat notes.md | head"}, "Hi", {"args_contains": {"command": "notes.md"}}),
        ({"command": "cat /tmp/a/b1.output"}, "Hi", {"required_keys": ["command"]}),
        ({"path": "logs/2026-11-21.md"}, "Hi", {"required_keys": ["path"]}),
        ({"path": "/x/0badcafe99.md"}, "Hi", {"required_keys": ["path"]}),
        # links that the user gave, or the answer has
        ({"url": "https://x.example/a"}, "See https://x.example/a", {"args_contains": {"url": "https://x.example/a"}}),
        ({"url": "https://x.example/a"}, "Look it up", {"required_keys": ["url"]}),
        # what differs in each recording, or says nothing
        ({"at": "2026-11-24T09:00:00", "cron": "0 9 * * *"}, "At 9", None),
        ({"query": "[redacted:email:0a1b2c3d]"}, "My mail: [redacted:email:0a1b2c3d]", {"required_keys": ["query"]}),
        ({}, "Hello?", None),
    ],
)  # fmt: skip
def test_the_arguments_that_matter_of_a_look(args: dict[str, Any], asked: str, wanted: Any) -> None:
    """The user's own words, names of files, and links that were answered with; else that something was asked for."""
    assert step(call("lookup", **args), result("lookup", value="x"), asked=asked) == wanted


@pytest.mark.parametrize(
    ("args", "asked", "wanted"),
    [
        ({"to": "dana", "text": "Rain"}, "Hi", {"required_keys": ["text"]}),
        ({"to": "dana", "text": "Rain in Oslo"}, "Oslo?", {"args_contains": {"text": "Oslo"}}),
        ({"text": "See notes.md", "tags": ["a"], "body": ""}, "Hi", {"required_keys": ["text", "tags"]}),
        ({"old_string": "3 cups", "new_string": "4 cups"}, "4 cups, not 3", CUPS),
    ],
)
def test_the_arguments_that_matter_of_an_act(args: dict[str, Any], asked: str, wanted: Any) -> None:
    """The same, and all others have to be there: but for the destination, which has an assertion of its own."""
    assert step(call("outbound_send", **args), result("outbound_send"), asked=asked) == wanted


def test_the_steps_of_a_run() -> None:
    """Six, first those that the user's words are in, then acts; each once; without tools to sort itself out."""
    tools = ["TodoWrite", "a", "a", "b", "edit", "c", "d", "e", "f", "g"]
    steps = [
        each
        for number, tool in enumerate(tools)
        for each in (call(tool, f"c{number}", path=f"/x/{tool}"), result(tool, f"c{number}", "x"))
    ]
    found = named(*steps, call("g", "last", query="milk"), result("g", "last", "x"), asked="Is there milk?")
    assert [each.id for each in found.values() if each.type == "tool_call_order"] == [
        "a-before-the-answer",
        "b-before-the-answer",
        "edit-before-the-answer",
        "c-before-the-answer",
        "d-before-the-answer",
        "g-before-the-answer",
        "a-before-b",
    ]


def test_a_tool_that_was_asked_twice_is_excepted_by_name() -> None:
    """Else one page that was read again would leave all calls unchecked."""
    page = (call("read", path="a"), result("read", value="x"))
    once = named(*page, *page, *SEND)["no-call-twice"]
    assert once.params == {}
    others = once.excepting
    assert others
    assert (others.id, others.params) == ("no-other-call-twice", {"ignore_tools": ["read"]})
    assert others.why.startswith("no call but of read was repeated after it had succeeded: ")
    assert named(*page, *SEND)["no-call-twice"].excepting is None


def test_two_calls_of_one_tool_have_ids_of_their_own() -> None:
    """One for each page that was answered with."""
    pages = [
        each
        for page in "ab"
        for each in (call("web_fetch", page, url=f"https://x.example/{page}"), result("web_fetch", page, "x"))
    ]
    found = named(*pages, output="https://x.example/a and https://x.example/b say so.")
    steps = [each for each in found.values() if each.id.startswith("web-fetch-before")]
    assert [each.id for each in steps] == ["web-fetch-before-the-answer", "web-fetch-before-the-answer-2"]
    assert [each.instead[0].id for each in steps] == ["calls-web-fetch", "calls-web-fetch-2"]
    assert steps[1].why == "web_fetch succeeded with https://x.example/b, and only then the agent answered"
    assert steps[1].decide == "do these arguments matter? keep the words and names that do"


def test_a_tool_that_never_succeeded_was_called() -> None:
    """With the arguments that matter, too."""
    lost = named(call("web_search", query="tram"), error("web_search"), asked="Which tram?")[
        "calls-web-search"
    ]
    args = {"args_contains": {"query": "tram"}}
    assert (lost.type, lost.params) == ("must_call_tool", {"tool": "web_search", "args": args})
    assert lost.why == "web_search was called with tram, though it never succeeded"


def test_how_many_messages_there_were() -> None:
    """They are counted, unless the scheduler counts them."""
    found = named(*SEND, *SEND)
    assert found["sends-no-more"].params == {"tool": "outbound_send", "max": 2}
    assert found["sends-all-of-them"].params == {"tool": "outbound_send", "min_calls": 2}
    assert "sends-all-of-them" not in named(*SEND)
    assert "sends-no-more" not in named(*SEND, trigger="scheduler", task_id="t")


def test_calls_in_their_order() -> None:
    """Of the first two tools of which one waited for the other; those called at once have none."""

    def pairs(*steps: Any) -> list[str]:
        return [name for name in named(*steps) if "-before-" in name and "answer" not in name]

    at_once = [call("a"), call("b"), result("a"), result("b")]
    assert pairs(*at_once) == []
    assert pairs(call("a"), result("a", success=False), call("b"), result("b")) == []
    assert pairs(*at_once, call("c"), result("c"), call("d")) == ["b-before-c"]
    found = named(*at_once, call("c"), result("c"))["b-before-c"]
    assert found.params == {
        "before": {"event_type": "tool_result", "tool": "b", "success": True},
        "after": {"event_type": "tool_call", "tool": "c"},
    }


def test_what_one_call_suggests() -> None:
    """That it is not made twice."""
    assert suggested(call("schedule_task"), result("schedule_task"))["no_duplicate_tool_calls"].telling


def test_how_often_a_tool_may_be_tried_again() -> None:
    """As often as it was, each tool by itself, after the errors that came; a result may tell the failure alone."""
    steps = [
        call("b"),
        result("b", success=False),
        call("a"),
        error("a", error_type="timeout"),
        call("a"),
        error("a", error_type="busy"),
        call("a"),
        result("a"),
        call("c"),
        result("c", success=False),
        call("c"),
        result("c"),
    ]
    case = make_case()
    found = [each for each in suggestions(make_trace(*steps), case) if each.type == "retry_policy_respected"]
    assert [(each.id, each.params, each.why) for each in found] == [
        ("b-retried-in-bounds", {"tool": "b", "max_retries": 0}, "b failed 1 time, and was retried 0 times"),
        (
            "a-retried-in-bounds",
            {"tool": "a", "max_retries": 2, "retry_on_error_types": ["busy", "timeout"]},
            "a failed 2 times, and was retried 2 times",
        ),
        ("c-retried-in-bounds", {"tool": "c", "max_retries": 1}, "c failed 1 time, and was retried 1 time"),
    ]
    honest = suggested(*steps)["graceful_failure_output"]
    assert honest.why == "b never succeeded, and the answer says so and claims no success"
    assert "graceful_failure_output" not in suggested(*steps, output=None)


def test_what_a_task_of_the_scheduler_suggests() -> None:
    """It ran once, sent as much as it did, and stopped then; a task without an id may run more often."""
    steps = [
        call("outbound_send", to="dana", text="Good morning"),
        result("outbound_send"),
        call("outbound_send", to="ben", text="Hello"),
        result("outbound_send"),
        call("outbound_send", to="dana", text="Bye"),
        result("outbound_send"),
    ]
    found = suggested(*steps, trigger="scheduler", task_id="brief")
    assert asked_for(found, "scheduler_task_runs") == {"task_id": "brief", "max_runs": 1}
    assert asked_for(found, "scheduler_outbound_count") == {"exact": 3}
    assert asked_for(found, "outbound_destinations") == {"allowed": ["dana", "ben"]}
    assert asked_for(found, "stop_after_success") == {
        "success_event": {"event_type": "tool_result", "tool": "outbound_send", "success": True},
        "allowed_following_tools": ["outbound_send"],
    }
    telling = {each.type for each in found.values() if each.telling}
    assert {"scheduler_task_runs", "no_duplicate_outbound", "stop_after_success"} <= telling
    assert "must_not_call_tool" not in found
    assert "scheduler_task_runs" not in suggested(*steps, trigger="scheduler")
    by_a_user = suggested(*steps)
    assert "scheduler_outbound_count" not in by_a_user
    assert not by_a_user["stop_after_success"].telling


def test_no_message_beside_the_answer() -> None:
    """Where the agent could have sent one, and there is an answer."""
    found = suggested(output=TEN)
    assert asked_for(found, "must_not_call_tool") == {"tool": "outbound_send"}
    assert "must_not_call_tool" not in suggested(output=None)
    case = make_case(tools={"available": ["web_search"]})
    assert "must_not_call_tool" not in {each.type for each in suggestions(make_trace(), case)}


def test_an_answer_with_too_many_facts_is_drafted_all_the_same() -> None:
    """Without what cannot be judged."""
    found = suggested(call("look"), result("look", value="x 1"), output="1 " * 6_000)
    assert "claims_supported_by_fixtures" in found
