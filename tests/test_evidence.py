"""Evidence: one line per event, redacted first, cut after."""

from typing import Any

import pytest

from agenteval.contracts.results import Excerpt
from agenteval.judging.verdicts import describe, excerpts, message, observed
from agenteval.redaction.occurrences import token
from agenteval.redaction.redactor import Redactor
from builders import call, error, make_trace, memory_read, memory_write, received, result

OPEN = Redactor(())


def hiding(value: Any) -> Redactor:
    """A redactor of the field `token`, whose value it has seen."""
    made = Redactor(["token"])
    made.learn({"token": value})
    return made


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([call("web_search", q="Käse")], 'web_search {"q": "Käse"}'),
        ([call("t", "c"), result("t", "c", {"n": [1]})], 't ok: {"n": [1]}'),
        ([call("t", "c"), result("t", "c", "plain\ntext", success=False)], "t failed: plain text"),
        ([call("t", "c"), error("t", "c", error_type="timeout", message="30 s")], "t timeout: 30 s"),
        ([memory_read("family", "likes tea")], "memory_read family CLAUDE.md: likes tea"),
        ([memory_write("family", None, change_summary="tea now")], "memory_write family CLAUDE.md: tea now"),
        ([received("Hi  there")], "message_received user: Hi there"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_event_is_one_line(steps: list[Any], expected: str) -> None:
    """Each kind of event is told on one line: what it is, and its content."""
    trace = make_trace(*steps, output=None, asked=None)
    assert describe(trace.events[-1], OPEN) == expected


def test_the_final_output_is_one_line() -> None:
    """The answer is shown with its role, line breaks become blanks."""
    trace = make_trace(output="One\n\ntwo")
    assert describe(trace.events[-1], OPEN) == "final_output assistant: One two"


def test_memory_is_shown_with_its_place() -> None:
    """The path, else what the adapter calls its source, else nothing."""
    step = memory_read("family", "tea")
    step.data.update(path="notes.md", source="files")
    lines = [describe(make_trace(step, asked=None).events[0], OPEN)]
    for gone in ("path", "source"):
        del step.data[gone]
        lines.append(describe(make_trace(step, asked=None).events[0], OPEN))
    assert lines == [
        "memory_read family notes.md: tea",
        "memory_read family files: tea",
        "memory_read family : tea",
    ]


def test_an_error_without_a_tool_shows_its_scope() -> None:
    """What is not the error of a tool is told by its scope."""
    step = error("", error_type="oom", message="killed")
    step.data.update(tool=None, scope="runtime")
    assert describe(make_trace(step, output=None).events[-1], OPEN) == "runtime oom: killed"


def test_redaction_comes_before_cutting() -> None:
    """A value that the cut would split is hidden whole: its beginning does not stay before the ellipsis."""
    secret = "SECRET-" + "x" * 300
    trace = make_trace(call("send", text="y" * 150, token=secret), output=None)
    (excerpt,) = excerpts([(trace.events[-1], "")], hiding(secret))
    whole = f'send {{"text": "{"y" * 150}", "token": "{token(secret)}"}}'
    assert excerpt.text == f"{whole[:200]}… ({len(whole) - 200} more characters)"
    assert "SECRET" not in excerpt.text
    assert observed({"t": secret, "token": 5}, hiding(secret)) == {"t": token(secret), "token": token("5")}
    assert message(f"got {secret}", hiding(secret)) == f"got {token(secret)}"


def test_messages_keep_their_lines_up_to_a_limit() -> None:
    """40 lines of at most 600 characters stay, both ends of longer ones; what is left out is counted."""
    assert message("a\nb", OPEN) == "a\nb"
    assert message("x" * 600 + "\n", OPEN) == "x" * 600 + "\n"
    phrases = ", ".join(f'"phrase {number}"' for number in range(60))
    whole = f'expected none of {phrases}; "phrase 7" occurs in line 3'
    assert message(whole, OPEN) == f"{whole[:300]}… ({len(whole) - 600} more characters) …{whole[-300:]}"
    assert message("\n".join(map(str, range(43))), OPEN).split("\n")[38:] == ["38", "39", "… (3 more lines)"]
    forty = "\n".join(map(str, range(40)))
    assert message(forty, OPEN) == forty


def test_observed_values_are_cut_at_any_depth() -> None:
    """Long texts and lists are cut inside dicts and lists; numbers, booleans and null stay."""
    data = {"a": ["x" * 201, 1, None, True], "b": {"c": list(range(103))}}
    shown = observed(data, OPEN)
    assert shown["a"] == ["x" * 200 + "… (1 more characters)", 1, None, True]
    assert shown["b"]["c"] == [*range(100), "… (3 more)"]
    assert observed(tuple(range(100)), OPEN) == [*range(100)]


def test_the_first_eight_events_are_shown_with_their_notes() -> None:
    """Evidence names all events, but shows eight."""
    trace = make_trace(*(call("t", n=n) for n in range(12)), output=None, asked=None)
    shown = excerpts([(event, "almost" if event.seq == 1 else "") for event in trace.events], OPEN)
    assert len(shown) == 8
    assert shown[0] == Excerpt(event_id="evt-1", text='t {"n": 0}', note="almost")
    assert shown[7] == Excerpt(event_id="evt-8", text='t {"n": 7}', note="")


def test_notes_are_redacted() -> None:
    """What is said about an event may quote it: it is redacted as well."""
    trace = make_trace(call("t", token="SECRET-1"), output=None)
    (excerpt,) = excerpts([(trace.events[-1], "token is SECRET-1")], hiding("SECRET-1"))
    assert excerpt.note == f"token is {token('SECRET-1')}"
    assert excerpt.text == f't {{"token": "{token("SECRET-1")}"}}'
