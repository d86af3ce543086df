"""What a run suggests: each suggestion is of something that happened, and says why."""

from typing import Any

import pytest

from agenteval.drafting.naming import fixture_file, slug
from agenteval.drafting.suggestions import Suggestion, suggestions
from builders import call, error, make_case, make_trace, memory_read, memory_write, result


def suggested(*steps: Any, scenario: dict[str, Any] | None = None, **trace: Any) -> dict[str, Suggestion]:
    """What a run of these steps suggests, by type; the last of a type."""
    case = make_case(scenario=scenario)
    return {each.type: each for each in suggestions(make_trace(*steps, **trace), case)}


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
    types = set(suggested(output="Hello there, how are you today."))
    assert types == {"output_matches_format", "must_not_call_tool", "no_sensitive_data"}


@pytest.mark.parametrize(
    ("said", "written", "before", "new", "old"),
    [
        ("I want 5 bullets, not 3", "- briefs: 5 bullets", "- briefs: 3 bullets", "5 bullets", "3"),
        ("My new dentist is Dr. Falk", "Dentist: Dr. Falk", "Dentist: Dr. Moll", "Falk", None),
        ("Remember: tea at four", "tea at four", "", "tea at four", None),
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
    assert found["retry_policy_respected"].params == {
        "tool": "web_search",
        "max_retries": 1,
        "retry_on_error_types": ["timeout"],
    }


@pytest.mark.parametrize(
    "hours", ["0 9 * * 1-5", "*/15 8,9 1 JAN mon-fri", "0 9 L * ?", "0 0 9 * * 1#1", "0 9 1W * WED"]
)
def test_a_schedule_that_was_set_suggests_its_hours(hours: str) -> None:
    """An agent that gets them wrong often says them right; a call that failed set none."""
    steps = (call("schedule_task", prompt="1 2 3 is the code", recurrence=hours), result("schedule_task"))
    made = suggested(*steps)["tool_args_match"]
    assert made.params == {"tool": "schedule_task", "match": {"args_equal": {"recurrence": hours}}}
    assert made.why == f"schedule_task was called with recurrence: {hours}"
    assert "tool_args_match" not in suggested(steps[0], error("schedule_task"))
    for text in ("at 9 on all weekdays", "2 3 is not five", "0 9 " + "LWL," * 99 + "! * *"):
        assert "tool_args_match" not in suggested(call("say", text=text), result("say"))


def test_a_schedule_that_was_set_right_is_the_one_suggested() -> None:
    """The last one: the agent may have seen its own slip."""
    first = (call("schedule_task", recurrence="0 9 * * *"), result("schedule_task"))
    then = (call("update_task", "c2", recurrence="0 8 * * *"), result("update_task", "c2"))
    made = suggested(*first, *then)["tool_args_match"]
    assert made.params == {"tool": "update_task", "match": {"args_equal": {"recurrence": "0 8 * * *"}}}


def test_isolation_is_suggested_where_something_could_leak() -> None:
    """Other groups that are known of, or memory that was touched."""
    others = {"other_group_state": [{"group_id": "work", "memory_snapshot": "- the merger"}]}
    assert "work told it" in suggested(scenario=others)["no_cross_group_memory_use"].why
    assert "no_cross_group_memory_use" in suggested(memory_read("family", "x"))
    assert "no_cross_group_memory_use" not in suggested(call("web_search"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What's new in AI today? Please", "whats-new-in-ai-today"),
        ("Größe & Ärger", "groe-arger"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本語", ""),
        ("x" * 60, "x" * 48),
    ],
)
def test_names(text: str, name: str) -> None:
    """Lower case letters, digits and dashes, whatever is given."""
    assert slug(text) == name


def test_fixture_files() -> None:
    """Plain names beside the test, each given once, whatever its case."""
    taken: set[str] = set()
    names = [fixture_file(each, taken) for each in ("fx.a.b", "FX.a.b", "../x", "", "fx.a.b")]
    assert names == ["fx.a.b.json", "fx.FX.a.b.json", "fx.x.json", "fx.fixture.json", "fx.a.b.2.json"]
