"""What was sent is what the rows of the databases hold, whatever the agent wrote: NanoClaw 2.2, and 2.0 alike."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.trace import Trace
from agenteval_nanoclaw import NanoClawAdapter
from agenteval_nanoclaw.session.store import State
from builders import judge, make_case
from nanoclaw.installs import LAB, Install, sends_of, unpack_made
from nanoclaw.recordings import context_of, converted, inspected, replayed
from nanoclaw.transcripts import Script

Make = Callable[[Install], Any]


def asked(*, task: bool = False) -> Install:
    """An install in which Dana has asked something, or in which a task was due."""
    install = Install(task=task)
    if task:
        install.wakes("Tell Dana the weather.")
    else:
        install.hears("When is the fair?")
    return install


def final(trace: Trace) -> dict[str, Any]:
    """The data of the one final output."""
    (event,) = trace.of_type("final_output")
    return event.data


def mangled(stored: str) -> Make:
    """A block of the final text, and a row that has something else."""

    def make(install: Install) -> None:
        install.says('<message to="dana">It is on 12 June.</message>')
        install.row(stored)

    return make


@pytest.mark.parametrize(
    "stored", ["It is", "It is on 12 June.</message><internal>ask Leo", "WRONG", "it is on 12 june."]
)
def test_what_the_runner_made_of_an_answer_is_the_output(tmp_path: Path, stored: str) -> None:
    """Cut, with internal notes, or another text: assertions judge what people got; what the agent wrote stands beside it."""
    install = asked()
    mangled(stored)(install)
    trace = install.trace(tmp_path)
    assert (trace.output, final(trace)["said"]) == (stored, "It is on 12 June.")
    assert trace.notes == ["what went out to dana is not what the agent wrote: It is on 12 June."]
    for text in (stored, "It is on 12 June. Bring Leo."):
        assert judge("output_contains", {"all_of": [text]}, trace).passed is (text == stored)
    assert sends_of(trace) == []


def test_an_answer_that_went_out_twice(tmp_path: Path) -> None:
    """The second message is a send of its own, and a duplicate."""
    install = asked()
    install.tells("On 12 June.")
    extra = install.row("On 12 June.")
    trace = install.trace(tmp_path)
    assert trace.output == "On 12 June."
    assert sends_of(trace) == [("messages_out", "On 12 June.", True)]
    assert trace.calls()[0].call_id == extra
    assert not judge("no_duplicate_outbound", {}, trace).passed
    assert trace.notes == [
        "nothing that the agent wrote explains the message that went out to dana: On 12 June."
    ]


def test_two_equal_blocks_are_two_messages(tmp_path: Path) -> None:
    """Each has a row of its own: the agent itself said it twice."""
    install = asked()
    install.says('<message to="dana">Hi.</message><message to="dana">Hi.</message>')
    install.row("Hi.")
    install.row("Hi.")
    trace = install.trace(tmp_path)
    assert (trace.output, sends_of(trace), trace.notes) == ("Hi.\n\nHi.", [], [])


def test_a_text_beside_a_call_that_was_sent_is_what_people_got(tmp_path: Path) -> None:
    """Blocks leave while the text streams; what the final text repeats, or says besides, is not sent."""
    install = asked()
    install.calls("Read", file_path="/workspace/agent/x")
    install.lines[-1]["message"]["content"].insert(
        0, {"type": "text", "text": '<message to="dana">On 12 June.</message>'}
    )
    install.row("On 12 June.")
    install.answers("x")
    install.says("Done, nothing more to say.")
    trace = install.trace(tmp_path)
    assert (trace.output, final(trace)["to"], trace.status) == ("On 12 June.", "dana", "success")
    assert trace.notes == [
        "another text with which the agent ended a turn is not the final output: Done, nothing more to say."
    ]


def test_a_block_that_the_final_text_repeats_was_sent_once(tmp_path: Path) -> None:
    """The runner knows that it is out already."""
    install = asked()
    install.says('<message to="dana">On 12 June.</message>', stop="tool_use")
    install.row("On 12 June.")
    install.calls("Read", file_path="/workspace/agent/x")
    install.answers("x")
    install.says('<message to="dana">On 12 June.</message>')
    trace = install.trace(tmp_path)
    assert (trace.output, sends_of(trace), trace.notes) == ("On 12 June.", [], [])


def test_a_send_by_tool_has_what_went_out(tmp_path: Path) -> None:
    """The arguments are those of the row; what the agent gave stands beside them."""
    install = asked()
    install.sends_by_tool("On 12 June.", stored="WRONG")
    install.says("<internal>sent</internal>")
    trace = install.trace(tmp_path)
    (call,) = trace.calls()
    assert (call.args["text"], call.event.data["said"]) == ("WRONG", "On 12 June.")
    assert (trace.output, final(trace)["sent_by"]) == ("WRONG", ["c-1"])


def test_a_send_by_tool_that_left_no_row_sent_nothing(tmp_path: Path) -> None:
    """Whatever the tool answers: the call failed, and people got nothing."""
    install = asked()
    install.calls("mcp__nanoclaw__send_message", to="dana", text="On 12 June.")
    install.answers("Message sent to dana (id: 99)")
    install.says("<internal>sent</internal>")
    trace = install.trace(tmp_path)
    assert (trace.output, trace.calls()[0].failed) == ("", True)
    assert trace.notes == ["no message went out for what the call of a tool says to dana: On 12 June."]


def test_a_notice_of_the_runner_is_what_people_got(tmp_path: Path) -> None:
    """Where the model failed, no text of the agent explains the message: it is a send of its own, and the last word."""
    install = asked()
    install.says("API Error: 403 billing", message={"model": "<synthetic>"}, isApiErrorMessage=True)
    install.row("API Error: 403 billing")
    trace = install.trace(tmp_path)
    assert (trace.output, trace.status) == ("API Error: 403 billing", "failed")
    assert final(trace)["sent_by"] == ["m-3"]


def test_a_tool_may_have_the_last_word(tmp_path: Path) -> None:
    """The final output is the last that people got, by whatever means."""
    install = asked()
    install.says('<message to="dana">One moment.</message>', stop="tool_use")
    install.row("One moment.")
    install.sends_by_tool("On 12 June.")
    install.says("<internal>sent</internal>")
    trace = install.trace(tmp_path)
    assert trace.output == "On 12 June."
    assert sends_of(trace) == [
        ("final text", "One moment.", True),
        ("mcp__nanoclaw__send_message", "On 12 June.", True),
    ]


def test_what_a_tool_sends_after_the_last_text_comes_last(tmp_path: Path) -> None:
    """The final output is told once it is out, with its time."""
    install = asked()
    install.says("<internal>I tell her.</internal>")
    install.user("<task-notification>done</task-notification>")
    install.sends_by_tool("On 12 June.")
    trace = install.trace(tmp_path)
    assert (trace.output, trace.events[-1].type) == ("On 12 June.", "final_output")
    assert [event.ts for event in trace.events] == sorted(event.ts for event in trace.events)


def test_a_message_that_was_edited_reads_as_it_was_edited(tmp_path: Path) -> None:
    """The edit is a call of its own; a reaction changes no words."""
    install = asked()
    install.sends_by_tool("Loading …")
    platform = f"p:{install.seq}"
    install.calls("mcp__nanoclaw__edit_message", "c-2", messageId=install.seq, text="On 12 June.")
    install.row({"operation": "edit", "messageId": platform, "text": "On 12 June."})
    install.answers("Message edit queued for #3", "c-2")
    install.calls("mcp__nanoclaw__add_reaction", "c-3", messageId=2, emoji="heart")
    install.row({"operation": "reaction", "messageId": "in-2", "emoji": "heart"})
    install.answers("Reaction queued for #2", "c-3")
    install.says("<internal>done</internal>")
    trace = install.trace(tmp_path)
    assert (trace.output, trace.notes) == ("On 12 June.", [])
    assert [call.tool for call in trace.calls()] == ["outbound_send", "edit_message", "add_reaction"]


def test_files_cards_and_questions_are_explained_by_their_calls(tmp_path: Path) -> None:
    """A question names no message in its answer, and may find none in time; it went out all the same."""
    install = asked()
    install.calls("mcp__nanoclaw__send_file", "c-1", to="dana", path="a.txt", text="Here")
    name = install.row({"text": "Here", "files": ["a.txt"]})
    install.answers(f"File sent to dana (id: {name}, filename: a.txt)", "c-1")
    install.calls("mcp__nanoclaw__send_card", "c-2", card={"title": "T"}, fallbackText="Card")
    name = install.row({"type": "card", "card": {"title": "T"}, "fallbackText": "Card"}, kind="chat-sdk")
    install.answers(f"Card sent (id: {name})", "c-2")
    for number, (answer, failed) in enumerate(
        [("tea", False), ("Error: Question timed out after 300s", True)], 3
    ):
        given: dict[str, Any] = {"title": "Tea", "question": "Tea?", "options": ["tea"]}
        install.calls("mcp__nanoclaw__ask_user_question", f"c-{number}", **given)
        install.row({"type": "ask_question", "questionId": f"q-{number}", **given}, kind="chat-sdk")
        install.answers(answer, f"c-{number}", failed=failed)
    install.tells("Done.")
    trace = install.trace(tmp_path)
    assert (trace.output, trace.notes) == ("Done.", [])
    assert [call.call_id for call in trace.calls()] == ["c-1", "c-2", "c-3", "c-4"]


def test_texts_to_several_and_to_nobody(tmp_path: Path) -> None:
    """One text, three chats: each row is told once, where it went; what goes to an unknown name goes nowhere."""
    install = asked()
    install.says(
        "".join(f'<message to="{name}">On 12 June.</message>' for name in ("family", "dana", "finder", "leo"))
    )
    for name in ("family", "dana", "finder"):
        install.row("On 12 June.", name)
    install.arrives_at_peer("On 12 June.")
    trace = install.trace(tmp_path)
    assert (trace.output, final(trace)["to"]) == ("On 12 June.", "dana")
    assert [(call.args["to"], call.succeeded) for call in trace.calls()] == [
        ("family", True),
        ("finder", True),
    ]
    assert trace.notes == ["no message went out for what the final text says to leo: On 12 June."]


def test_a_message_that_went_elsewhere(tmp_path: Path) -> None:
    """A runner that routes it wrongly: the send has the place where it went, and the asker got nothing."""
    install = asked()
    install.says('<message to="dana">On 12 June.</message>')
    install.row("On 12 June.", "family")
    trace = install.trace(tmp_path)
    assert (trace.output, trace.calls()[0].args["to"]) == ("", "family")


ODD = [
    "[1, 2]",
    "3",
    "no JSON",
    '{"text": null}',
    '{"text": ["On 12 June."]}',
    '{"text": "half an emoji \\ud83d"}',
    '{"text": "On", "to": "leo", "n": 123456789012345678901234567890, "x": NaN}',
    '{"text": "deep", "x": ' + "[" * 2000 + "]" * 2000 + "}",
    '{"operation": 7, "type": {}, "text": "On"}',
    '{"operation": "edit", "messageId": 5, "text": "On"}',
]


@pytest.mark.parametrize("content", ODD)
def test_rows_may_hold_anything(tmp_path: Path, content: str) -> None:
    """The trace can be written all the same, and the place is that of the row."""
    install = asked()
    install.says('<message to="dana">On 12 June.</message>')
    install.row("")
    install.tables["messages_out"][-1]["content"] = content
    install.row("")
    install.tables["messages_out"][-1]["content"] = content
    trace = install.trace(tmp_path)
    assert json.dumps([event.data for event in trace.events], allow_nan=False).encode()
    assert {call.args.get("to") for call in trace.calls()} == {"dana"}


# What became of messages -----------------------------------------------------------------------------------------


def queued(install: Install) -> None:
    install.tells("At 18:00.", state="")


def failed(install: Install) -> None:
    install.tells("At 18:00.", state="failed")


def without_an_address(install: Install) -> None:
    install.calls("mcp__nanoclaw__send_card", card={}, fallbackText="At 18:00.")
    name = install.row({"type": "card", "card": {}, "fallbackText": "At 18:00."}, None, kind="chat-sdk")
    install.answers(f"Card sent (id: {name})")
    install.says("<internal>sent</internal>")


def held(install: Install) -> None:
    install.sends_by_tool("At 18:00.", "finder")
    install.holds(f"m-{install.seq}")
    install.says("<internal>sent</internal>")


def held_for_a_reason(install: Install) -> None:
    held(install)
    install.tables["pending_approvals"][0]["status"] = "awaiting_reason"


def refused(install: Install) -> None:
    install.sends_by_tool("At 18:00.", "finder")
    install.says("<internal>sent</internal>")
    install.notes("Your a2a_message_gate request was rejected by admin.")


def refused_for_a_reason(install: Install) -> None:
    install.sends_by_tool("At 18:00.", "finder")
    install.says("<internal>sent</internal>")
    install.notes('Your a2a_message_gate request was rejected by admin: "too early"')


def approved_in_vain(install: Install) -> None:
    install.sends_by_tool("At 18:00.", "finder")
    install.says("<internal>sent</internal>")
    install.notes("Your a2a_message_gate was approved, but applying it failed: no destination.")


def without_an_approver(install: Install) -> None:
    install.sends_by_tool("At 18:00.", "finder")
    install.says("<internal>sent</internal>")
    install.notes("a2a_message_gate failed: no owner or admin configured to approve.", "sys-1")


def lost(install: Install) -> None:
    install.sends_by_tool("At 18:00.", "finder")
    install.says("<internal>sent</internal>")
    install.arrives_at_peer("Something else", source="sess-9")


def denied(install: Install) -> None:
    install.sends_by_tool("At 18:00.", "finder", state="failed")
    install.says("<internal>sent</internal>")


STATES: list[tuple[Make, State]] = [
    (queued, "queued"),
    (failed, "failed"),
    (without_an_address, "failed"),
    (held, "held"),
    (held_for_a_reason, "held"),
    (refused, "refused"),
    (refused_for_a_reason, "refused"),
    (approved_in_vain, "failed"),
    (without_an_approver, "failed"),
    (lost, "lost"),
    (denied, "failed"),
]


@pytest.mark.parametrize(("make", "state"), STATES, ids=lambda each: getattr(each, "__name__", each))
def test_a_message_that_did_not_arrive_is_a_failed_send_and_no_output(
    tmp_path: Path, make: Make, state: State
) -> None:
    """The result of its send says what became of it, and a note does; nobody got it, so it is no output."""
    install = asked()
    make(install)
    trace = install.trace(tmp_path)
    (call,) = trace.calls()
    result = call.results[-1].data
    assert (result["success"], result["result"]["delivered"], result["result"]["state"]) == (
        False,
        False,
        state,
    )
    assert call.failed
    assert trace.output == ""
    assert len(trace.notes) == 1
    assert judge("no_duplicate_outbound", {}, trace).exercised is False


def test_a_message_to_a_peer_that_arrived(tmp_path: Path) -> None:
    """Its copy is in the peer's session, under another id; each copy proves one message."""
    install = asked()
    for number in (1, 2):
        install.sends_by_tool("At 18:00.", "finder", call_id=f"c-{number}")
    install.arrives_at_peer("At 18:00.")
    install.says("<internal>sent</internal>")
    install.notes("Your a2a_message_gate request was rejected by admin.")
    trace = install.trace(tmp_path)
    assert [call.failed for call in trace.calls()] == [False, True]
    assert trace.calls()[1].results[-1].data["result"]["state"] == "refused"


def test_a_session_alone_knows_what_became_of_its_messages(tmp_path: Path) -> None:
    """The sessions of other agents of the install are looked at, where one session, or one transcript, is named."""
    root = unpack_made("a2a", tmp_path)
    (folder,) = (root / "data" / "v2-sessions" / "ag-1790000000000-bbbb05").glob("sess-*")
    (transcript,) = folder.parent.rglob("*.jsonl")
    for named in (folder, transcript):
        runs = [replayed(root, str(named.relative_to(root)), turn=turn) for turn in (1, 2)]
        assert [trace.output for trace in runs] == ["At 18:00.", ""]
        assert [sends_of(trace) for trace in runs] == [[], [("final text", "Tomorrow it is closed.", False)]]


def test_an_approval_of_another_session_or_action_holds_nothing(tmp_path: Path) -> None:
    """Only what names the message of this session does."""
    install = asked()
    install.sends_by_tool("At 18:00.", "finder")
    install.holds(f"m-{install.seq}", session_id="sess-2")
    install.holds(f"m-{install.seq}", action="install_packages", approval_id="appr-2")
    install.arrives_at_peer("At 18:00.")
    install.says("<internal>sent</internal>")
    assert install.trace(tmp_path).calls()[0].succeeded


# Whose rows they are ---------------------------------------------------------------------------------------------


def test_messages_of_no_run_are_counted(tmp_path: Path) -> None:
    """What went out long before any transcript begins is named when the recording is inspected."""
    install = asked()
    install.row("Earlier.", timestamp="2026-11-20T10:00:00.000Z")
    install.tells("Now.")
    root = install.install(tmp_path)
    line = "the runs in which 1 message went out: no transcript has them"
    assert line in inspected(root).lacks
    (transcript,) = root.rglob("*.jsonl")
    assert line not in inspected(transcript).lacks
    assert sends_of(replayed(root)) == []


def test_a_task_that_was_cancelled_is_not_the_one_that_ran(tmp_path: Path) -> None:
    """Another occurrence of the series has the same words."""
    install = Install(task=True)
    install.wakes("Tell Dana the weather.", id="ran", series_id="w")
    due = {"process_after": "2026-11-21T20:00:00.500Z", "status": "cancelled"}
    content = json.dumps({"prompt": "Tell Dana the weather."})
    install.put("messages_in", id="cancelled", seq=20, kind="task", timestamp=due["process_after"], **due, series_id="w",
                content=content)  # fmt: skip
    install.sends_by_tool("Rain.")
    install.says("Told Dana.")
    assert install.trace(tmp_path).scenario.task_id == "ran"


def test_each_row_is_of_one_run(tmp_path: Path) -> None:
    """The run that was under way; what the runner or the host answers itself is of none."""
    install = asked()
    install.tells("One.", in_reply_to="in-2")
    install.put("messages_in", id="clear", seq=4, kind="chat", timestamp=install.now, channel_type="telegram",
                platform_id="telegram:1", content='{"text": "/clear"}')  # fmt: skip
    install.seq = 4
    install.row("Session cleared.")
    install.row("Permission denied: /x requires admin access.", id="deny-1")
    install.hears("And now?")
    install.tells("Two.")
    root = install.install(tmp_path)
    for turn, text in ((1, "One."), (2, "Two.")):
        trace = install.trace(root / "again" / str(turn), turn=turn)
        assert (trace.output, sends_of(trace), trace.notes) == (text, [], [])


def test_rows_of_runs_that_overlap(tmp_path: Path) -> None:
    """An answer that came late, in another run's time, is explained by the run that wrote it."""
    install = asked()
    install.calls("Bash", command="sleep 9 &")
    install.answers("started")
    install.lines[-1]["toolUseResult"] = {"backgroundTaskId": "b1"}
    install.tells("I wait for it.")
    install.hears("And now?")
    install.tells("Two.")
    notice = "<task-notification><task-id>b1</task-id><tool-use-id>c-1</tool-use-id><status>completed</status><result>ok</result></task-notification>"
    install.user(notice)
    install.tells("It is done.")
    install.install(tmp_path)
    one, two = (install.trace(tmp_path / str(turn), turn=turn) for turn in (1, 2))
    assert (one.output, sends_of(one)) == ("It is done.", [("final text", "I wait for it.", True)])
    assert (two.output, sends_of(two), two.notes) == ("Two.", [], [])


# Tasks -----------------------------------------------------------------------------------------------------------


def test_a_task_sends_by_tools_alone(tmp_path: Path) -> None:
    """Its final text is for the log; what stands in a block there was not sent, and the runner's hint is nobody's message."""
    install = asked(task=True)
    install.sends_by_tool("Rain.")
    install.says('Told Dana. <message to="dana">Take a coat.</message>')
    install.row({"text": "Told Dana. [undelivered → dana] Take a coat."}, None, kind="task_log", id="log-1")
    install.user("<system>The final-output content below was not delivered from this task run: …</system>")
    install.says("Nothing more to send.")
    trace = install.trace(tmp_path)
    assert (trace.scenario.trigger, trace.output) == ("scheduler", "Rain.")
    assert sends_of(trace) == [("mcp__nanoclaw__send_message", "Rain.", True)]
    assert "to" not in final(trace)
    assert trace.notes == ["no message went out for what the final text says to dana: Take a coat."]


def test_a_task_that_tells_nobody_says_so_by_saying_nothing(tmp_path: Path) -> None:
    """A final text without blocks is how every task ends: nothing is missing."""
    install = asked(task=True)
    install.says("Nothing new today.")
    trace = install.trace(tmp_path)
    assert (trace.output, trace.notes, final(trace)["raw"]) == ("", [], "Nothing new today.")


def test_a_task_without_databases_sends_by_tools_alone(tmp_path: Path) -> None:
    """The prompt of the releases that do so tells the time."""
    install = asked(task=True)
    install.calls("mcp__nanoclaw__send_message", to="dana", text="Rain.")
    install.answers("Message sent to dana (id: 3)")
    install.says('Told Dana. <message to="dana">Take a coat.</message>')
    trace = Script.trace(install, tmp_path)
    assert (trace.output, sends_of(trace)) == ("Rain.", [("mcp__nanoclaw__send_message", "Rain.", True)])


def test_a_block_beside_a_call_counts_without_databases(tmp_path: Path) -> None:
    """As it does in newer releases; what the final text repeats counts once."""
    install = asked()
    install.says('<message to="dana">One moment.</message>', stop="tool_use")
    install.calls("Read", file_path="/workspace/agent/x")
    install.answers("x")
    install.says('<message to="dana">On 12 June.</message>')
    trace = Script.trace(install, tmp_path)
    assert (trace.output, sends_of(trace)) == ("On 12 June.", [("final text", "One moment.", True)])


# Peers, notes and what was said elsewhere ------------------------------------------------------------------------


def test_a_peer_and_the_host_are_no_users(tmp_path: Path) -> None:
    """A peer's message is the peer's, a note of an approval the host's; the answer to either goes to the chat."""
    install = Install()
    install.hears("At 18:00.", channel="agent", place="ag-finder", sender="")
    install.tells("The library closes at 18:00.")
    note = "Your a2a_message_gate request was rejected by admin."
    install.hears(note, channel="agent", place="ag-andy", name="appr-note-1", sender="system")
    said = {"text": note, "sender": "system", "senderId": "system"}
    install.tables["messages_in"][-1]["content"] = json.dumps(said)
    install.tells("I may not ask.")
    install.install(tmp_path)
    peer, host = (install.trace(tmp_path / str(turn), turn=turn) for turn in (1, 2))
    (message,) = peer.of_type("message_received")
    assert (message.actor, message.data["role"], message.data["sender"]) == ("agent", "agent", "finder")
    assert peer.input_messages[0].role == "agent"
    assert (peer.output, final(peer)["to"]) == ("The library closes at 18:00.", "dana")
    (message,) = host.of_type("message_received")
    assert (message.actor, message.data["role"], host.input_messages[0].role) == (
        "system",
        "system",
        "system",
    )
    assert (host.output, final(host)["to"]) == ("I may not ask.", "dana")


def test_what_was_said_elsewhere_is_no_message(tmp_path: Path) -> None:
    """Neither what stands in the prompt of other chats, nor its rows, nor the host's answers to commands."""
    install = asked()
    said = '<cross-session-context from="#room" sender="Leo" time="x">Hi</cross-session-context>\n'
    said += '<dm-history sender="you" time="x">Hello</dm-history>\n<channel-history sender="Leo" time="x">Yo</channel-history>\n'
    line = install.lines[-1]["message"]
    line["content"] = line["content"].replace("<message ", f"{said}<message ")
    echo = '{"text": "Hi", "sender": "Leo", "echo": {"surface": "sibling", "label": "#room"}}'
    install.put("messages_in", id="x:echo:sess-1", seq=90, kind="chat", timestamp=install.now, trigger=0,
                channel_type="session-echo", platform_id="telegram:7", content=echo)  # fmt: skip
    install.put("messages_in", id="cli-resp-1", seq=92, kind="system", timestamp=install.now, trigger=0,
                content='{"type": "cli_response", "requestId": "1", "frame": {}}')  # fmt: skip
    install.tells("On 12 June.")
    trace = install.trace(tmp_path)
    assert [message.content for message in trace.input_messages] == ["When is the fair?"]
    assert trace.output == "On 12 June."


# What is asked of the host ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "tool", "args"),
    [
        (
            'ncl tasks create --name "weather note" --prompt "Tell Dana." --recurrence "0 7 * * *"',
            "schedule_task",
            {"name": "weather note", "prompt": "Tell Dana.", "recurrence": "0 7 * * *"},
        ),
        ("cd /tmp && ncl tasks cancel weather-note-e33e", "cancel_task", {"taskId": "weather-note-e33e"}),
        ("ncl tasks list --json | head -3", "list_tasks", {}),
        (
            "ncl tasks update --id w-1 --process-after 2026-12-01T09:00",
            "update_task",
            {"taskId": "w-1", "processAfter": "2026-12-01T09:00"},
        ),
        ("ncl tasks pause w-1", "pause_task", {"taskId": "w-1"}),
        ("/usr/local/bin/ncl tasks resume --id w-1", "resume_task", {"taskId": "w-1"}),
        ("W=w-1; ncl tasks run $W", "run_task", {"taskId": "w-1"}),
        ("ncl tasks delete w-1", "delete_task", {"taskId": "w-1"}),
        ("ncl tasks get w-1", "get_task", {"taskId": "w-1"}),
        ('ncl tasks append-log --msg "one feed fails"', "append_task_log", {"msg": "one feed fails"}),
        ("ncl tasks cancel --all", "cancel_task", {"all": True}),
        (
            'echo \'{"prompt": "It is time"}\' | ncl tasks create --stdin-json --name n',
            "schedule_task",
            {"prompt": "It is time", "name": "n"},
        ),
        ("ncl groups list", "", None),
        ("echo ncl tasks list", "", None),
    ],
)
def test_tasks_that_a_shell_asks_for_are_calls_of_their_own(
    tmp_path: Path, command: str, tool: str, args: dict[str, Any] | None
) -> None:
    """Under the names and with the arguments of the tools that did the same before; the call of the shell stays."""
    install = asked()
    install.calls("Bash", command=command)
    install.answers("done")
    install.tells("Done.")
    shell, *inner = install.trace(tmp_path).calls()
    assert shell.tool == "bash"
    assert [call.tool for call in inner] == ([tool] if tool else [])
    for call in inner:
        assert args is None or call.args == args
        assert (call.event.data["parent_call_id"], call.succeeded) == ("c-1", True)


def test_what_the_host_was_asked_is_known_by_its_rows(tmp_path: Path) -> None:
    """Where they are recorded: what a script hides, and what the host answered to each."""
    install = asked()
    install.calls("Bash", command="sh make_tasks.sh")
    frames = (
        ("tasks-create", {"ok": True, "data": {"series_id": "w-1"}}),
        ("tasks-cancel-w-2", {"ok": False, "error": {"message": "no such task"}}),
    )
    for number, (command, frame) in enumerate(frames, 1):
        asking = {"action": "cli_request", "requestId": f"r-{number}", "command": command, "args": {}}
        install.row(asking, None, kind="system")
        answer = {"id": f"cli-resp-r-{number}", "seq": 100 + number, "kind": "system", "trigger": 0}
        content = {"type": "cli_response", "requestId": f"r-{number}", "frame": frame}
        install.put("messages_in", **answer, timestamp=install.now, content=json.dumps(content))
    install.answers("see above")
    install.tells("Done.")
    _, made, refused_call = install.trace(tmp_path).calls()
    assert (made.tool, made.succeeded, made.results[0].data["result"]) == (
        "schedule_task",
        True,
        '{"series_id": "w-1"}',
    )
    assert (refused_call.tool, refused_call.args, refused_call.failed) == (
        "cancel_task",
        {"taskId": "w-2"},
        True,
    )
    assert refused_call.errors[0].data["message"] == "no such task"


# Installs that the host made -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chat", "series", "a2a"])
def test_the_kept_installs_are_those_of_the_lab(tmp_path: Path, name: str) -> None:
    """Their traces are the same."""
    if not LAB.is_dir():
        pytest.skip("the installs are not there as they were made")
    copied = Path(shutil.copytree(LAB / name, tmp_path / "lab"))
    kept = unpack_made(name, tmp_path)
    for run in inspected(kept).runs:
        one, two = (replayed(root, turn=run.number) for root in (kept, copied))
        assert [asdict(event) for event in one.events] == [asdict(event) for event in two.events]


TRUTH: list[tuple[str, int, str, str, list[tuple[str, str, bool]]]] = [
    ("chat", 1, "user_message", "It is on 12 June at 15:00.", [("final text", "One moment, I look it up.", True)]),
    ("series", 1, "user_message", "From now on I tell you each morning at seven.", []),
    ("series", 2, "scheduler", "Sunny, 21 degrees.", [("mcp__nanoclaw__send_message", "Sunny, 21 degrees.", True)]),
    ("series", 3, "scheduler", "Rain, 12 degrees.", [("mcp__nanoclaw__send_message", "Rain, 12 degrees.", True)]),
    ("a2a", 1, "user_message", "", [("mcp__nanoclaw__send_message", "When does the library close today?", True)]),
    ("a2a", 2, "user_message", "At 18:00.", []),
    ("a2a", 3, "user_message", "The library closes at 18:00.", []),
    ("a2a", 4, "user_message", "", [("final text", "And tomorrow?", True)]),
    ("a2a", 5, "user_message", "", [("final text", "Tomorrow it is closed.", False)]),
    ("refusals", 1, "user_message", "", [("mcp__nanoclaw__send_message", "When does the library close today?", True)]),
    ("refusals", 2, "user_message", "", [("final text", "At 18:00.", False)]),
    ("refusals", 3, "user_message", "", []),
    ("refusals", 4, "user_message", "", [("final text", "Closed tomorrow.", False)]),
    ("refusals", 5, "user_message", "", [("final text", "Here.", False)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "turn", "trigger", "output", "sends"), TRUTH)
def test_what_people_got_of_installs_that_the_host_made(
    tmp_path: Path, name: str, turn: int, trigger: str, output: str, sends: list[tuple[str, str, bool]]
) -> None:
    """A chat, a series of a task, two agents of whom one may not answer at once; what was refused, failed and not sent yet."""
    root = unpack_made(name, tmp_path)
    trace = replayed(root, turn=turn)
    assert (trace.scenario.trigger, trace.output, trace.status) == (trigger, output, "success")
    assert sends_of(trace) == sends
    assert len(inspected(root).runs) == sum(each[0] == name for each in TRUTH)


@pytest.mark.parametrize(("name", "turn"), [each[:2] for each in TRUTH])
def test_a_draft_of_such_a_run_replays_to_the_same_sends(tmp_path: Path, name: str, turn: int) -> None:
    """What arrived, what did not, and what the agent wrote are in the bundle, too."""
    root = unpack_made(name, tmp_path)
    recorded = converted(root, inspected(root).runs[turn - 1])
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "replay.json").write_text(json.dumps(recorded.replay), encoding="utf-8")
    tools = {"available": recorded.tools, "fixtures": recorded.fixtures}
    case = make_case(adapter_input={"replay_file": "replay.json"}, tools=tools)
    again = NanoClawAdapter().trace(case, context_of(tmp_path / "test"))
    assert (again.output, sends_of(again)) == (recorded.trace.output, sends_of(recorded.trace))
    told = [(event.actor, event.data.get("role")) for event in recorded.trace.of_type("message_received")]
    assert [(event.actor, event.data["role"]) for event in again.of_type("message_received")] == told
    asked = [
        [each["role"] for each in part["input_messages"]] for part in (recorded.scenario, recorded.replay)
    ]
    assert asked == [[role for _, role in told]] * 2
