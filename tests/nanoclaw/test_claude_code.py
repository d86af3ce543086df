"""Transcripts of Claude Code: what its harness writes, background work, subagents in all layouts."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.trace import Trace
from agenteval_nanoclaw.session.prompts import notices_in, words_of
from nanoclaw.recordings import PROJECT, inspected, replayed
from nanoclaw.transcripts import PLAIN, Script, asked

DATA = PROJECT / "tests" / "data" / "claude-code"


def recorded(name: str, folder: Path, **chosen: Any) -> Trace:
    """The trace of a run of a recording in the data."""
    shutil.copytree(DATA, folder / "data")
    return replayed(folder / "data", name, **chosen)


def said(trace: Trace) -> list[str]:
    """The messages of a run."""
    return [message.content for message in trace.input_messages]


def first_words(script: Script, folder: Path) -> list[str]:
    """How the runs of a transcript begin."""
    return [run.first_words for run in inspected(script.write(folder)).runs]


def results_of(trace: Trace, call: str) -> list[tuple[bool, Any]]:
    """The results of a call: whether each is a success, and what it says."""
    return [
        (event.data["success"], event.data["result"])
        for event in trace.of_type("tool_result")
        if event.data["call_id"] == call
    ]


def called(trace: Trace) -> list[tuple[str, str | None, str | None]]:
    """The calls: tool, agent, and the call that started the agent."""
    return [
        (event.data["tool"], event.agent_id, event.data.get("parent_call_id"))
        for event in trace.of_type("tool_call")
    ]


# Messages ---------------------------------------------------------------------------------------------------------


NOTES = [
    "<user-memory-input>always use metres</user-memory-input>",
    "<ide_opened_file>The user opened /srv/app/a.py in the IDE.</ide_opened_file>",
    "<ide_selection>The user selected line 3:\nx = 1</ide_selection>\n<new-diagnostics>1 error</new-diagnostics>",
    "<bash-input>ls</bash-input>",
    "<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>",
    "<local-command-stdout></local-command-stdout>",
    "<local-command-caveat>Caveat: the messages below…</local-command-caveat>",
    "<system-reminder>Be good.</system-reminder>",
    "<session-start-hook>Welcome.</session-start-hook>",
    "UserPromptSubmit hook additional context: answer in metres",
    "SessionStart:startup hook success: Welcome.\nBe good.",
    "  PostToolUse:Edit hook blocking error: run the tests",
    "<something_of_a_later_release at='3'>Whatever.</something_of_a_later_release>",
    '<teammate-message teammate_id="ann" color="blue">Done.</teammate-message>',
    "Another Claude session sent a message:\n<agent-message from='a7'>Done.</agent-message>\n\nIt is no user's.",
    '<cross-session-message from-name="b">Hi.</cross-session-message>',
    "<task-notification><task-id>b1</task-id></task-notification>\nRead the output file: /tmp/b1.output",
    "Stop hook feedback:\n[check.sh]: are you sure?",
    "[SYSTEM NOTIFICATION - NOT USER INPUT] wake up",
    "<system>Your response was not delivered: wrap it.</system>",
    "<system>The final-output content below was not delivered from this task run:\n<x to='a'>y</x></system>\n",
    "<system>Whatever a runner of a later release says.</system>",
    "This session is being continued from a previous conversation.",
    "[Request interrupted by user]",
]
"""What releases of Claude Code write in a user's name without a mark."""


@pytest.mark.parametrize("text", NOTES)
def test_what_consists_of_blocks_is_of_the_harness(tmp_path: Path, text: str) -> None:
    """Their names have several words, which no user gives to what they write; it begins no run."""
    script = asked("Hello")
    script.says("Good morning.")
    script.user(text)
    script.says("Noted.")
    assert first_words(script, tmp_path) == ["Hello"]


MARKS: list[dict[str, Any]] = [
    {"isMeta": True},
    {"isSynthetic": True},
    {"isCompactSummary": True},
    {"isVisibleInTranscriptOnly": True},
    {"origin": {"kind": "task-notification"}},
    {"origin": {"kind": "coordinator"}},
    {"isMeta": True, "origin": {"kind": "peer"}},
    {"promptSource": "system"},
    {"turnOrigin": "scheduled"},
    {"turnOrigin": "peer"},
]


@pytest.mark.parametrize("mark", MARKS)
def test_what_a_line_says_of_itself_counts_first(tmp_path: Path, mark: dict[str, Any]) -> None:
    """Plain words are none of a user where the line says so."""
    script = asked("Hello")
    script.says("Good morning.")
    script.user("3 background agents were stopped by the user.", **mark)
    script.says("Noted.")
    assert first_words(script, tmp_path) == ["Hello"]


BY_USERS: list[dict[str, Any]] = [
    {"origin": {"kind": "human"}, "promptSource": "typed"},
    {"promptSource": "queued"},
    {"promptSource": "sdk", "turnOrigin": "sdk"},
    {"turnOrigin": "human"},
]


@pytest.mark.parametrize("mark", BY_USERS)
@pytest.mark.parametrize(
    "text",
    ["<my-widget>x</my-widget>", NOTES[-6], "<user_query>Why?</user_query>", "Stop hook feedback: why?"],
)
def test_blocks_that_a_user_sent_are_a_message(tmp_path: Path, mark: dict[str, Any], text: str) -> None:
    """Where the line says that a user sent it, what it consists of is theirs."""
    script = asked("Hello")
    script.says("Good morning.")
    script.user(text, **mark)
    script.says("I see.")
    assert said(script.trace(tmp_path, turn=2)) == [text]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<ide_selection>x = 1</ide_selection>\nWhat does this do?", "What does this do?"),
        ("What does this do?\n\n<system-reminder>Be good.</system-reminder>", "What does this do?"),
        (["<ide_opened_file>a.py</ide_opened_file>", "Fix it"], "Fix it"),
        ("Explain <my-tag>x</my-tag> to me", "Explain <my-tag>x</my-tag> to me"),
        ("<command-name> is what it records: why?", "<command-name> is what it records: why?"),
        ("<question>Why?</question>", "<question>Why?</question>"),
        (
            '<pasted_content id="1">a b</pasted_content> Sum up',
            '<pasted_content id="1">a b</pasted_content> Sum up',
        ),
        (
            "Another Claude session sent a message: what does that mean?",
            "Another Claude session sent a message: what does that mean?",
        ),
        ('<channel source="telegram" user="Dana">Is it open?</channel>', "Is it open?"),
    ],
)
def test_what_the_harness_adds_to_a_message_is_taken_off(tmp_path: Path, content: Any, message: str) -> None:
    """The words are the user's; blocks within them are, too."""
    if isinstance(content, list):
        content = [{"type": "text", "text": text} for text in content]
    script = asked(content)
    script.says("I see.")
    assert said(script.trace(tmp_path)) == [message]


def test_an_image_beside_what_the_ide_says(tmp_path: Path) -> None:
    """It is the message."""
    blocks = [{"type": "text", "text": NOTES[1]}, {"type": "image", "source": {"data": "QUJD"}}]
    script = asked(blocks)
    script.says("A cat.")
    assert said(script.trace(tmp_path)) == ["[image]"]


def test_a_message_from_a_chat(tmp_path: Path) -> None:
    """Claude Code hands it to the agent as its own line; a person sent it all the same."""
    text = '<channel source="telegram" chat_id="7" user="Dana">Is it open?</channel>'
    script = asked(text, isMeta=True, origin={"kind": "channel"})
    script.says("Yes.")
    (event,) = script.trace(tmp_path).of_type("message_received")
    assert (event.data["content"], event.data["sender"]) == ("Is it open?", "Dana")


@pytest.mark.parametrize("origin", [None, {"kind": "human"}, {"kind": "peer"}])
def test_messages_that_wait_while_the_agent_works(tmp_path: Path, origin: Any) -> None:
    """Those of users belong to the run."""
    script = asked()
    script.calls("Bash", command="make")
    queued = {"type": "queued_command", "prompt": "And be quick", "commandMode": "prompt"}
    script.line("attachment", attachment=queued | ({"origin": origin} if origin else {}))
    script.line(
        "attachment", attachment=queued | {"prompt": "b1 is done", "commandMode": "task-notification"}
    )
    script.answers("ok")
    script.says("Done.")
    theirs = [] if origin == {"kind": "peer"} else ["And be quick"]
    assert said(script.trace(tmp_path)) == ["Build it", *theirs]


def test_a_command_of_the_cli_alone_is_no_run(tmp_path: Path) -> None:
    """The agent never saw it."""
    script = asked("<command-name>/model</command-name>\n<command-args>opus</command-args>")
    script.user("<local-command-stdout>Set model to opus</local-command-stdout>")
    script.user("Hello")
    script.says("Hi.")
    assert first_words(script, tmp_path) == ["Hello"]


@pytest.mark.parametrize("text", [NOTES[10], NOTES[11]])
def test_a_transcript_that_another_agent_began(tmp_path: Path, text: str) -> None:
    """Nothing came before it: the run is whole, and has no message of a user."""
    script = asked(text, parent=None)
    script.calls("Bash", command="make")
    script.answers("ok")
    script.says("Done.")
    assert first_words(script, tmp_path) == ["(no message)"]
    trace = script.trace(tmp_path)
    assert (trace.status, said(trace), trace.unseen) == ("success", [], [])
    assert "no message of a user began this run" in trace.notes


WORDS = st.text(min_size=1).map(lambda text: "a" + text + "a")


@given(WORDS)
def test_words_are_never_lost(text: str) -> None:
    """Whatever stands in them, but for reminders."""
    if "<system-reminder>" not in text:
        assert words_of([text], by_user=False) == text
        assert words_of([f"<ide_selection>x</ide_selection>{text}", NOTES[0]], by_user=False) == text


@given(st.text(st.sampled_from('<>/-_ab \n"=[]'), max_size=60), st.booleans())
def test_any_text_is_read(text: str, by_user: bool) -> None:
    """What a user sent is kept, and nothing breaks."""
    words = words_of([text], by_user=by_user)
    assert words is None or words
    if by_user and text.strip() and "[" not in text:
        assert words
    notices_in(f"<task-notification>{text}</task-notification>")


def test_hostile_blocks_take_no_time() -> None:
    """The time grows with the text."""
    many = 200_000
    for text in ("<a-b>" * many, "<a-b></a-b>" * many, "<a-message>" * many, "</a-b>" * many, "<a-" * many):
        words_of([text], by_user=False)
        notices_in(text)
    notices_in("<task-notification>" + "<result>" * many + "</task-notification>")


# Answers ----------------------------------------------------------------------------------------------------------


def test_content_as_a_plain_string(tmp_path: Path) -> None:
    """The API allows it: it is the answer."""
    trace = recorded("string.jsonl", tmp_path)
    assert (trace.output, trace.status) == ("Yes, until six.", "success")


def test_two_answers_in_one_turn_are_no_send(tmp_path: Path) -> None:
    """A hook asked again: nothing was delivered; the last answer counts, and the other is noted."""
    trace = recorded("stop-hook.jsonl", tmp_path)
    assert (trace.output, trace.tool_counts()) == ("Yes, it is fixed.", {})
    assert trace.notes[0] == (
        "another text with which the agent ended a turn is not the final output: Fixed the lamp."
    )


def test_a_later_remark_about_a_background_job_is_no_answer(tmp_path: Path) -> None:
    """The answer to the prompt is the final output."""
    trace = recorded("background.jsonl", tmp_path)
    assert trace.output == "The build is done: 14 files, no warnings."
    assert (trace.status, trace.tool_counts()) == ("success", {"bash": 1})


def notice(task: str, call: str = "", status: str = "completed", summary: str = "", result: str = "") -> str:
    """A notice of a task, as Claude Code writes it."""
    parts = {"task-id": task, "tool-use-id": call, "status": status, "summary": summary, "result": result}
    inner = "\n".join(f"<{name}>{text}</{name}>" for name, text in parts.items() if text)
    return f"<task-notification>\n{inner}\n</task-notification>"


def background(task: str = "q1") -> Script:
    """A run that starts a command in the background."""
    script = asked()
    script.calls("Bash", command="make", run_in_background=True)
    script.answers(f"running in background with ID: {task}", toolUseResult={"backgroundTaskId": task})
    return script


@pytest.mark.parametrize("tools", [False, True])
def test_a_remark_may_take_a_look(tmp_path: Path, tools: bool) -> None:
    """What it calls is in the trace, and what it says is no answer; the next message gets one."""
    script = background()
    script.says("14 files.")
    for number in (1, 2):
        script.user(notice(f"q{number}"), origin={"kind": "task-notification"})
        if tools:
            script.calls("Read", f"r-{number}", file_path="/tmp/q1.output")
            script.answers("ok", f"r-{number}")
        script.says("An old job.")
    script.user("Thanks")
    script.says("Any time.")
    trace = script.trace(tmp_path, turn=1)
    assert trace.output == "14 files."
    assert trace.tool_counts() == {"bash": 1} | ({"read": 2} if tools else {})
    assert script.trace(tmp_path, turn=2).output == "Any time."


def test_a_notice_before_the_answer_takes_none_away(tmp_path: Path) -> None:
    """The agent had not answered yet: what it says is the answer."""
    script = background()
    script.user("[Request interrupted by user for tool use]")
    script.user(notice("q1"))
    script.calls("Read", "r-1", file_path="/tmp/q1.output")
    script.answers("14 files", "r-1")
    script.says("14 files.")
    script.user(notice("q0"))
    script.says("An old job.")
    assert script.trace(tmp_path).output == "14 files."


def test_a_message_after_a_notice_is_answered(tmp_path: Path) -> None:
    """It came while the agent looked at the notice."""
    script = background()
    script.says("14 files.")
    script.user(notice("q1"))
    script.calls("Read", "r-1", file_path="/tmp/q1.output")
    script.line("attachment", attachment={"type": "queued_command", "prompt": "And the docs?"})
    script.answers("ok", "r-1")
    script.says("The docs are built, too.")
    assert script.trace(tmp_path).output == "The docs are built, too."


def test_a_job_that_failed_fails_its_call(tmp_path: Path) -> None:
    """The answer to the call only said that it began."""
    script = background()
    script.user(notice("q1", status="failed", summary="Background command failed with exit code 2"))
    script.says("It failed.")
    trace = script.trace(tmp_path)
    assert results_of(trace, "c-1")[-1] == (False, "Background command failed with exit code 2")
    assert [event.data["error_type"] for event in trace.of_type("error")] == ["tool_error"]


# Results in notices -----------------------------------------------------------------------------------------------


def test_the_result_of_a_background_agent(tmp_path: Path) -> None:
    """It arrives in a notice, and belongs to its call."""
    trace = recorded("background-agent/s.jsonl", tmp_path)
    assert results_of(trace, "k1")[-1] == (True, "There are 37 boats, 4 of them yachts.")
    assert trace.unseen == []


def agent(task: str = "a1") -> Script:
    """A run that starts an agent in the background."""
    script = asked()
    script.calls("Agent", prompt="look")
    script.answers("launched", toolUseResult={"isAsync": True, "status": "async_launched", "agentId": task})
    script.says("Wait.")
    return script


def side(
    folder: Path, name: str = "s-1/subagents/agent-a1.jsonl", prompt: str = "look", second: int = 3
) -> None:
    """The transcript of a subagent, which begins at a second."""
    script = Script(folder=PLAIN)
    script.user(prompt)
    script.calls("Bash", f"{name}-1")
    script.answers("37", f"{name}-1")
    script.says("37 boats.")
    for line in script.lines:
        line |= {"isSidechain": True, "timestamp": f"2026-11-21T20:00:{second:02}.000Z"}
    script.write(folder, name)


HAND_BACK = (
    "Another Claude session sent a message:\n"
    '<agent-message from="a1">\n[Subagent hand-back] The report follows:\n  37 boats.\n  - 4 yachts\n</agent-message>\n\n'
    "It came from another agent."
)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (notice("a1", "c-1", result="37 boats."), "37 boats."),
        (notice("a1", result="37 <b>boats</b></result>."), "37 <b>boats</b></result>."),
        (notice("a1", "c-1", summary='Agent "x" completed'), "37 boats."),
        (HAND_BACK, "37 boats.\n- 4 yachts"),
    ],
)
def test_results_of_agents_in_any_notice(tmp_path: Path, text: str, result: str) -> None:
    """By the id of the call or of the agent; where the notice has none, it is what the agent said last."""
    side(tmp_path)
    script = agent()
    script.user(text)
    script.says("37 boats.")
    trace = script.trace(tmp_path)
    assert results_of(trace, "c-1") == [(True, "launched"), (True, result)]
    assert trace.output == "37 boats."
    script.lines[-2] |= {"type": "attachment", "attachment": {"type": "queued_command", "prompt": text}}
    script.lines[-2]["attachment"]["commandMode"] = "task-notification"
    assert results_of(script.trace(tmp_path), "c-1")[-1] == (True, result)


def test_a_result_that_was_fetched_is_no_news(tmp_path: Path) -> None:
    """What the agent says of it later is a remark."""
    side(tmp_path)
    script = asked()
    script.calls("Agent", prompt="look")
    script.answers("launched", toolUseResult={"agentId": "a1"})
    script.calls("TaskOutput", "c-2", task_id="a1")
    fetched = {"task_id": "a1", "status": "completed"}
    script.answers("37 boats", "c-2", toolUseResult={"retrieval_status": "success", "task": fetched})
    script.says("37 boats.")
    script.user(notice("a1", "c-1", result="37 boats"))
    script.says("I told you.")
    assert script.trace(tmp_path).output == "37 boats."


def test_a_result_belongs_to_the_run_of_its_call(tmp_path: Path) -> None:
    """Though the user has gone on: so does what the agent says of it."""
    side(tmp_path)
    script = agent()
    script.user("And the weather?")
    script.calls("Bash", "c-2", command="weather")
    script.line(
        "attachment",
        attachment={"type": "queued_command", "prompt": notice("q9"), "commandMode": "task-notification"},
    )
    script.answers("Sun", "c-2")
    script.says("Sun.")
    script.user(notice("a1", "c-1", result="37 boats"))
    script.says("37 boats, by the way.")
    first, second = (script.trace(tmp_path, turn=turn) for turn in (1, 2))
    assert (first.output, second.output) == ("37 boats, by the way.", "Sun.")
    assert results_of(first, "c-1")[-1] == (True, "37 boats")
    assert second.tool_counts() == {"bash": 1}


def test_a_notice_that_a_user_pasted_is_a_message(tmp_path: Path) -> None:
    """It is no result of a call."""
    script = agent()
    text = notice("a1", "c-1", result="0 boats")
    script.user(text, origin={"kind": "human"})
    script.says("I see.")
    assert said(script.trace(tmp_path, turn=2)) == [text]
    assert results_of(script.trace(tmp_path, turn=1), "c-1") == [(True, "launched")]


def test_an_agent_that_was_stopped(tmp_path: Path) -> None:
    """Its call did not succeed."""
    side(tmp_path)
    script = agent()
    script.user(notice("a1", "c-1", status="killed", summary="Agent was stopped"))
    script.says("It was stopped.")
    trace = script.trace(tmp_path)
    assert results_of(trace, "c-1")[-1] == (False, "Agent was stopped")
    assert [event.data["error_type"] for event in trace.of_type("error")] == ["aborted"]


# Subagents --------------------------------------------------------------------------------------------------------


def test_each_sidechain_has_its_own_agent_and_parent(tmp_path: Path) -> None:
    """They stand in the main file, side by side; what they were asked is what their call says."""
    assert called(recorded("inline.jsonl", tmp_path)) == [
        ("agent", "main", None),
        ("agent", "main", None),
        ("bash", "subagent-k1", "k1"),
        ("bash", "subagent-k2", "k2"),
    ]


def test_sidechains_with_other_words_than_their_calls(tmp_path: Path) -> None:
    """They are told apart all the same: in order, while calls are left."""
    script = asked()
    script.calls("Task", "k1", prompt="one")
    for number in (1, 2):
        root = script.user(f"Other words {number}", isSidechain=True, parent=None)
        script.line("assistant", parent=root, isSidechain=True, message=_call(f"x{number}"))
    script.answers("ok", "k1", parent="s-1-2")
    script.says("Done.")
    assert called(script.trace(tmp_path))[1:] == [("bash", "subagent-k1", "k1"), ("bash", "subagent", None)]


def _call(call_id: str) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {}}
    return {"id": f"msg-{call_id}", "role": "assistant", "content": [block], "stop_reason": "tool_use"}


def test_what_the_agents_of_a_workflow_do(tmp_path: Path) -> None:
    """They are below the call that started the workflow."""
    trace = recorded("workflow/s1.jsonl", tmp_path)
    assert called(trace) == [("workflow", "main", None), ("bash", "ag1", "w1")]
    assert trace.unseen == []


def workflow(folder: Path) -> Path:
    """The recording of a workflow, to be changed."""
    shutil.copytree(DATA / "workflow", folder, dirs_exist_ok=True)
    return folder / "s1" / "subagents" / "workflows" / "wf_1"


def test_a_workflow_without_its_folder(tmp_path: Path) -> None:
    """Nobody knows what its agents did."""
    shutil.rmtree(workflow(tmp_path))
    trace = replayed(tmp_path, "s1.jsonl")
    assert trace.unseen == ["what the agents of workflow w1 did"]
    assert trace.capabilities.supports_tool_trace


def test_an_agent_of_a_workflow_without_its_transcript(tmp_path: Path) -> None:
    """The journal names it."""
    entries = [{"type": "started", "agentId": name} for name in ("ag1", "ag2")]
    text = "".join(json.dumps(entry) + "\n" for entry in [*entries, {"type": "result"}])
    (workflow(tmp_path) / "journal.jsonl").write_text(text, encoding="utf-8")
    trace = replayed(tmp_path, "s1.jsonl")
    assert trace.unseen == ["what subagent ag2 did"]
    assert ("bash", "ag1", "w1") in called(trace)


@pytest.mark.parametrize("name", ["../../wf_1", "..", "/etc"])
def test_a_workflow_leads_to_its_own_folder_alone(tmp_path: Path, name: str) -> None:
    """What a result says is no path."""
    workflow(tmp_path)
    path = tmp_path / "s1.jsonl"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"runId": "wf_1"', f'"runId": "{name}"'), encoding="utf-8"
    )
    assert replayed(tmp_path, "s1.jsonl").status == "success"


def test_agents_of_a_workflow_belong_to_its_run(tmp_path: Path) -> None:
    """Though they begin while the agent answers another message."""
    workflow(tmp_path)
    script = Script(session="s1", folder=PLAIN)
    script.lines = [json.loads(line) for line in (tmp_path / "s1.jsonl").read_text().splitlines()]
    for second, line in enumerate(script.lines):
        line["timestamp"] = f"2026-09-01T10:00:0{second}.000Z"
    script.user("Hello", timestamp="2026-09-01T10:01:00.000Z")
    script.says("Hi.", timestamp="2026-09-01T10:03:00.000Z")
    script.write(tmp_path, "s1.jsonl")
    assert called(replayed(tmp_path, "s1.jsonl", turn=1))[-1] == ("bash", "ag1", "w1")
    assert called(replayed(tmp_path, "s1.jsonl", turn=2)) == []


@pytest.mark.parametrize("name", ["agent-a1.jsonl", "s-1/agent-a1.jsonl", "s-1/subagents/agent-a1.jsonl"])
@pytest.mark.parametrize("told", [{"agentId": "a1"}, {}])
def test_transcripts_of_subagents_in_all_layouts(tmp_path: Path, name: str, told: dict[str, str]) -> None:
    """Beside the transcript, in its folder, or in the folder for them; by their id, or by what they were asked."""
    side(tmp_path, name)
    script = asked()
    script.calls("Agent", prompt="look")
    script.answers("37", toolUseResult=told)
    script.says("37 boats.")
    trace = script.trace(tmp_path)
    assert called(trace) == [("agent", "main", None), ("bash", "a1", "c-1")]
    assert trace.unseen == []


def test_a_subagent_of_another_session_beside_it(tmp_path: Path) -> None:
    """It is not taken for one that was asked the same."""
    side(tmp_path, "agent-a1.jsonl")
    path = tmp_path / "agent-a1.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"s-1"', '"s-2"'), encoding="utf-8")
    script = asked()
    script.calls("Agent", prompt="look")
    script.answers("37")
    script.says("37 boats.")
    trace = script.trace(tmp_path)
    assert called(trace) == [("agent", "main", None)]
    assert trace.unseen == ["what subagent c-1 did"]


@pytest.mark.parametrize(
    ("name", "prompt", "seen"),
    [
        ("s-1/subagents/agent-h1.jsonl", "Check the commit", True),
        ("s-1/subagents/agent-acompact-1f.jsonl", "Sum up", False),
        ("s-1/subagents/agent-aside_question-1f.jsonl", "By the way", False),
        ("agent-w1.jsonl", "Warmup", False),
    ],
)
def test_subagents_that_no_call_started(tmp_path: Path, name: str, prompt: str, seen: bool) -> None:
    """They are read into the run that was under way, but for those that Claude Code has for itself."""
    side(tmp_path, name, prompt)
    script = asked()
    script.calls("Bash", command="ls")
    script.answers("ok")
    script.says("Done.")
    trace = script.trace(tmp_path)
    assert called(trace)[1:] == ([("bash", "h1", None)] if seen else [])
    assert trace.unseen == []


def test_members_of_a_team(tmp_path: Path) -> None:
    """Found by what they were told, or by their name; what they report is a result of their call."""
    prompt = '<teammate-message teammate_id="team-lead">\nlook\n</teammate-message>'
    side(tmp_path, "s-1/subagents/agent-a1.jsonl", prompt, second=6)
    side(tmp_path, "s-1/subagents/agent-abob-2.jsonl", "Another text", second=6)
    (tmp_path / "s-1/subagents/agent-abob-2.meta.json").write_text('{"name": "bob"}', encoding="utf-8")
    script = asked()
    for call, name in (("k1", "ann"), ("k2", "bob")):
        script.calls("Agent", call, prompt="look" if name == "ann" else "", team_name="t")
        spawned = {"status": "teammate_spawned", "agent_id": f"{name}@t", "name": name}
        script.answers("Spawned.", call, toolUseResult=spawned)
    script.says("Wait.")
    idle = '{"type": "idle_notification"}'
    for text in ("37 boats.", idle):
        script.user(f'<teammate-message teammate_id="ann">\n{text}\n</teammate-message>')
    script.says("37 boats.")
    trace = script.trace(tmp_path)
    assert called(trace)[2:] == [("bash", "a1", "k1"), ("bash", "abob-2", "k2")]
    assert results_of(trace, "k1") == [(True, "Spawned."), (True, "37 boats.")]
    assert (trace.output, trace.unseen) == ("37 boats.", [])


def test_an_agent_that_runs_elsewhere(tmp_path: Path) -> None:
    """What it did is not here."""
    script = asked()
    script.calls("Agent", prompt="look")
    script.answers("launched", toolUseResult={"status": "remote_launched", "taskId": "r7"})
    script.says("It runs.")
    assert script.trace(tmp_path).unseen == ["what remote agent r7 did"]


# Times ------------------------------------------------------------------------------------------------------------


def test_a_prompt_that_waited_sets_no_clock_back(tmp_path: Path) -> None:
    """It has the time at which it was typed."""
    trace = recorded("queued.jsonl", tmp_path)
    assert said(trace) == ["Rename the harbour module", "also run the tests"]
    assert not any("clock" in note for note in trace.notes)
    assert trace.output == "Renamed, and the tests pass."


def test_results_that_come_side_by_side_set_no_clock_back(tmp_path: Path) -> None:
    """They are written one below the other, the slower one first."""
    script = asked()
    script.calls("Bash", "c-1", name="m", command="a")
    script.calls("Bash", "c-2", name="m", command="b")
    script.answers("slow", "c-2", second=9)
    script.answers("quick", "c-1", second=8)
    script.says("Done.", second=10)
    assert not any("clock" in note for note in script.trace(tmp_path).notes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Build it\nUserPromptSubmit hook additional context: be brief\nand kind", "Build it"),
        (["Build it", "UserPromptSubmit hook success: ok"], "Build it"),
        (
            [
                "<system-reminder>\nUserPromptSubmit hook additional context: x\n</system-reminder>",
                "Build it",
            ],
            "Build it",
        ),
        (
            "Which UserPromptSubmit hook success: line is it?",
            "Which UserPromptSubmit hook success: line is it?",
        ),
    ],
)
def test_what_hooks_add_to_a_message_is_not_the_users(tmp_path: Path, content: Any, message: str) -> None:
    """It stands on lines of its own, which begin with the name of the event."""
    blocks = content if isinstance(content, str) else [{"type": "text", "text": text} for text in content]
    script = asked(blocks)
    script.says("Done.")
    assert said(script.trace(tmp_path)) == [message]
