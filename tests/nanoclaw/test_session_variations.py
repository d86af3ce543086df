"""Transcripts of other releases and other uses: interruptions, resumed subagents, skills, queued messages, older hosts."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agenteval.contracts.trace import Trace
from nanoclaw.recordings import replayed, unpack
from nanoclaw.transcripts import TIME, Script, asked, greeted, prompt

PLAIN = "/srv/ann"
"""The folder of an agent without NanoClaw."""


def calls_of(trace: Trace) -> list[tuple[str, str]]:
    """The tools that were called, and by whom."""
    return [(call.tool, call.event.agent_id or "") for call in trace.calls()]


def said(trace: Trace) -> list[str]:
    """The messages that the agent was given."""
    return [event.data["content"] for event in trace.of_type("message_received")]


def interrupted(script: Script, how: str = "") -> None:
    """The user stops the agent."""
    text = f"[Request interrupted by user{how}]"
    script.line("user", message={"role": "user", "content": [{"type": "text", "text": text}]})


def queued(script: Script, text: str) -> None:
    """A message comes while the agent works."""
    script.line("attachment", attachment={"type": "queued_command", "commandMode": "prompt", "prompt": text})


def subagent(folder: Path, *works: tuple[int, str]) -> None:
    """The transcript of subagent `a1`: when it was asked, and the tool that it called then."""
    script = Script(session="a1", folder=PLAIN)
    for number, (second, tool) in enumerate(works):
        script.user("look", second=second)
        script.calls(tool, f"k-{number}", command="ls")
        script.answers("ok", f"k-{number}")
        for line, tenth in zip(script.lines[-3:], (1, 2, 3), strict=True):
            line |= {"isSidechain": True, "agentId": "a1"}
            line["timestamp"] = TIME.format(0, second).replace(".000", f".{tenth}00")
    script.write(folder, "s-1/subagents/agent-a1.jsonl")


# How a run ends ---------------------------------------------------------------------------------------------------


def test_an_interrupted_answer_is_no_success(tmp_path: Path) -> None:
    """It has the words that came until then."""
    script = asked("Hello")
    script.says("I will now", stop=None)
    interrupted(script)
    trace = script.trace(tmp_path)
    assert trace.status == "partial"
    assert said(trace) == ["Hello"]


def test_an_interrupted_tool_is_no_success(tmp_path: Path) -> None:
    """What the agent said before it is not its answer."""
    script = greeted()
    script.sends("I look.")
    script.user("<task-notification>x")
    script.calls("Bash", command="x")
    script.answers("The user doesn't want to proceed", failed=True)
    interrupted(script, " for tool use")
    assert script.trace(tmp_path).status == "partial"


def test_an_agent_that_goes_on_after_an_interruption_succeeds(tmp_path: Path) -> None:
    """Work in the background may end, and wake it."""
    script = asked("Hello")
    interrupted(script)
    script.user("<task-notification>x")
    script.says("Done.")
    assert script.trace(tmp_path).status == "success"


def test_a_run_that_ends_after_a_tool_answered_is_no_success(tmp_path: Path) -> None:
    """It was killed before the model said what came of it."""
    script = asked("Hello")
    script.says("It runs.")
    script.user("<task-notification>x")
    script.calls("Read", file_path="/x")
    script.answers("found")
    assert script.trace(tmp_path).status == "partial"


def failing(script: Script) -> None:
    """The API fails for good."""
    script.says(
        "API Error: 529", stop="stop_sequence", isApiErrorMessage=True, message={"model": "<synthetic>"}
    )


@pytest.mark.parametrize("of_main", [True, False])
def test_a_failure_is_of_the_agent_that_has_it(tmp_path: Path, of_main: bool) -> None:
    """A subagent's in the background does not undo the answer; what a subagent says later does not undo the agent's."""
    script = asked("Hello")
    script.calls("Agent", prompt="look")
    script.answers("launched", toolUseResult={"agentId": "a1"})
    script.says("Wait.")
    other = Script(session="a1", folder=PLAIN)
    other.user("look", second=10)
    if of_main:
        script.user("<task-notification>x")
        failing(script)
        other.says("late", second=11)
    else:
        failing(other)
    for number, line in enumerate(other.lines):
        line |= {"isSidechain": True, "agentId": "a1", "timestamp": TIME.format(0, 10 + number)}
    other.write(tmp_path, "s-1/subagents/agent-a1.jsonl")
    assert script.trace(tmp_path).status == ("failed" if of_main else "success")


# Subagents --------------------------------------------------------------------------------------------------------


def test_a_skill_that_runs_in_a_subagent(tmp_path: Path) -> None:
    """Its calls are the run's."""
    script = asked("Hello")
    script.calls("Skill", skill="deploy")
    script.answers("done", toolUseResult={"status": "forked", "agentId": "a1"})
    script.says("Done.")
    subagent(tmp_path, (2, "Bash"))
    assert calls_of(script.trace(tmp_path)) == [("skill", "main"), ("bash", "a1")]


@pytest.mark.parametrize("by_message", [True, False])
def test_a_subagent_that_is_resumed_in_a_later_run(tmp_path: Path, by_message: bool) -> None:
    """What it did then belongs to that run, and what it did before does not."""
    script = asked("Hello")
    script.calls("Agent", "c-1", prompt="look")
    script.answers("done", "c-1", toolUseResult={"agentId": "a1"})
    script.says("Done.")
    script.user("More")
    if by_message:
        script.calls("SendMessage", "c-2", to="a1", message="look")
        script.answers("resumed", "c-2")
    else:
        script.calls("Agent", "c-2", prompt="look", resume="a1")
        script.answers("done", "c-2", toolUseResult={"agentId": "a1"})
    script.says("Done again.")
    subagent(tmp_path, (2, "Read"), (6, "Bash"))
    first, second = (script.trace(tmp_path, turn=turn) for turn in (1, 2))
    assert calls_of(first) == [("agent", "main"), ("read", "a1")]
    assert calls_of(second) == [("agent_message" if by_message else "agent", "main"), ("bash", "a1")]
    assert [event.data.get("parent_call_id") for event in second.of_type("tool_call")] == [None, "c-2"]
    assert first.capabilities.supports_tool_trace
    assert second.capabilities.supports_tool_trace


def test_a_subagent_that_is_resumed_in_the_same_run(tmp_path: Path) -> None:
    """Its transcript is there: it is read for both calls."""
    script = asked("Hello")
    for call in ("c-1", "c-2"):
        script.calls("Agent", call, prompt="look")
        script.answers("done", call, toolUseResult={"agentId": "a1"})
    script.says("Done.")
    subagent(tmp_path, (2, "Read"), (4, "Bash"))
    trace = script.trace(tmp_path)
    assert [event.data.get("parent_call_id") for event in trace.of_type("tool_call")] == [
        None,
        "c-1",
        None,
        "c-2",
    ]
    assert trace.capabilities.supports_tool_trace


def test_a_message_to_a_subagent_at_work_brings_nothing_about(tmp_path: Path) -> None:
    """What it does belongs to the run that started it."""
    script = asked("Hello")
    script.calls("Agent", "c-1", prompt="look")
    script.answers("launched", "c-1", toolUseResult={"agentId": "a1"})
    script.says("Wait.")
    script.user("Hurry")
    script.calls("SendMessage", "c-2", to="a1", message="Hurry")
    script.answers("queued", "c-2")
    script.says("I told it.")
    subagent(tmp_path, (2, "Read"))
    assert calls_of(script.trace(tmp_path, turn=2)) == [("agent_message", "main")]


@pytest.mark.parametrize("named", [{}, {"agentId": "a1"}])
def test_subagents_within_the_transcript(tmp_path: Path, named: dict[str, str]) -> None:
    """Old releases write them there, mostly without a name: they have that of the call that asked for them."""
    script = asked("Hello")
    script.calls("Task", prompt="look")
    script.user("look", isSidechain=True)
    script.calls("Bash", "c-2", command="ls")
    script.answers("ok", "c-2")
    for line in script.lines[-2:]:
        line.update({"isSidechain": True} | named)
    script.answers("done", toolUseResult=named)
    script.says("Done.")
    trace = script.trace(tmp_path)
    assert calls_of(trace) == [("agent", "main"), ("bash", named.get("agentId", "subagent-c-1"))]
    assert trace.calls()[1].event.data["parent_call_id"] == "c-1"
    assert trace.unseen == []


# Messages ---------------------------------------------------------------------------------------------------------


def test_a_task_during_which_somebody_writes_is_still_the_scheduler_s(tmp_path: Path) -> None:
    """The message did not wake the agent."""
    script = Script()
    script.user(
        '<context timezone="Europe/Berlin" />\n<task from="dana" time="x">Instructions:\nDigest</task>'
    )
    script.calls("Read", file_path="/x")
    queued(script, prompt("Be short", 4))
    script.answers("found")
    script.sends("Done.")
    trace = script.trace(tmp_path)
    assert trace.scenario.trigger == "scheduler"
    assert said(trace) == ["Digest", "Be short"]


def test_a_message_that_is_said_twice_is_two_messages(tmp_path: Path) -> None:
    """Without ids nothing says that it was handed out again."""
    script = Script(folder=PLAIN)
    script.user("more")
    script.calls("Read", file_path="/x")
    queued(script, "more")
    script.answers("found")
    script.says("Done.")
    assert said(script.trace(tmp_path)) == ["more", "more"]


def test_a_command_with_its_message_first(tmp_path: Path) -> None:
    """Commands of users have it before the name."""
    script = Script(folder=PLAIN)
    script.user(
        "<command-message>deploy is running…</command-message>\n"
        "<command-name>/deploy</command-name>\n<command-args>prod</command-args>"
    )
    script.says("Done.")
    assert said(script.trace(tmp_path)) == ["/deploy prod"]
    arguments = " \n"
    script.lines[0]["message"]["content"] = (
        f"<command-name> /deploy\n</command-name><command-args>{arguments}</command-args>"
    )
    assert said(script.trace(tmp_path)) == ["/deploy"]


def test_a_compaction_belongs_to_its_command(tmp_path: Path) -> None:
    """It is written before the command that asked for it, whose clock was not set back."""
    script = greeted()
    script.sends("Good morning.")
    script.line("system", subtype="compact_boundary", second=10, parent=None)
    script.user("This session is being continued from", isCompactSummary=True, second=10)
    script.user("<command-name>/compact</command-name>", second=9)
    script.sends("Compacted.", second=11)
    script.write(tmp_path)
    notes = [replayed(tmp_path, "s-1.jsonl", turn=turn).notes for turn in (1, 2)]
    compacted = (
        "the conversation was compacted in this run: what the agent knew from before is only a summary"
    )
    assert [compacted in each for each in notes] == [False, True]
    assert not any("clock" in note for each in notes for note in each)


# Answers ----------------------------------------------------------------------------------------------------------


def test_the_length_of_an_answer_is_known_by_its_last_line(tmp_path: Path) -> None:
    """Lines before it may be written while it is being said."""
    script = asked("Hello")
    script.says("One", stop=None, name="m-1")
    script.says("Two", name="m-1")
    trace = script.trace(tmp_path)
    assert (trace.metrics.token_usage or {})["output_tokens"] == 5
    assert "output tokens were not recorded" not in trace.notes


def test_calls_that_the_service_runs_are_not_seen(tmp_path: Path) -> None:
    """They stand in the answer in a form of their own."""
    script = asked("Hello")
    script.says("Done.")
    script.lines[-1]["message"]["content"].insert(
        0, {"type": "server_tool_use", "id": "s-1", "name": "web_search", "input": {}}
    )
    trace = script.trace(tmp_path)
    assert trace.capabilities.supports_tool_trace
    assert trace.unseen == ["1 call that the model's service ran itself"]


BARE = (('<message to=\\"dana\\">\\n', ""), ("\\n</message>", ""))
"""Changes that take off what says where the answer goes."""
ALSO = ("\\n</message>", '\\n</message><message to=\\"family\\">Dana knows</message>')
"""A change that has the answer say something to another chat, too."""


def news(folder: Path, *changes: tuple[str, str], sql: str = "", inbound: str = "") -> Trace:
    """The trace of a real recording, after changes to its transcript and to the databases of its session."""
    root = unpack("v2-current-news", folder)
    (path,) = root.glob("data/v2-sessions/*/.claude-shared/projects/*/*.jsonl")
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    for name, script in (("outbound.db", sql), ("inbound.db", inbound)):
        (path,) = root.rglob(name)
        with closing(sqlite3.connect(path)) as database:
            database.executescript(script)
    return replayed(root)


def test_a_bare_text_that_went_out_is_the_answer(tmp_path: Path) -> None:
    """Older releases of v2 send it to the conversation; the database has it."""
    trace = news(tmp_path, *BARE)
    assert trace.final_output is not None
    assert trace.final_output.content.startswith("• Lab A")
    assert trace.of_type("final_output")[-1].data["delivered"] is True
    assert trace.notes == []


def test_a_bare_text_that_did_not_go_out_is_no_answer(tmp_path: Path) -> None:
    """Nothing was sent."""
    trace = news(tmp_path, *BARE, sql="DELETE FROM messages_out")
    assert trace.output == ""
    assert trace.notes == [
        "the last text was not delivered: nothing in it is in <message to=…>, and no text after it was"
    ]


KNOWN = "INSERT INTO destinations VALUES ('family', 'Family', 'channel', 'telegram', 'telegram:7', NULL);"
SENT = """INSERT INTO messages_out (id, seq, in_reply_to, timestamp, kind, platform_id, channel_type, content)
    VALUES ('m-2', 5, NULL, '2026-11-21 20:53:04', 'chat', '{}', 'telegram', '{{"text": "Dana knows"}}');"""
ARRIVED = "INSERT INTO delivered VALUES ('m-2', '7:1', 'delivered', '2026-11-21 20:53:05');"
HOME = "telegram:5550100"


def test_a_text_to_another_chat_that_went_out(tmp_path: Path) -> None:
    """It is a send, at the time of the text; the database shows that it arrived."""
    trace = news(tmp_path, ALSO, sql=SENT.format("telegram:7"), inbound=KNOWN + ARRIVED)
    call = trace.calls()[-1]
    assert (call.tool, call.args) == ("outbound_send", {"to": "family", "text": "Dana knows"})
    (result,) = call.results
    proof = {"message_id": "m-2", "delivered": True, "platform_message_id": "7:1"}
    assert (result.data["success"], result.data["result"]) == (True, proof)
    final = trace.of_type("final_output")[-1]
    assert [(each.actor, each.ts) for each in (call.event, result, final)] == [
        ("agent", final.ts),
        ("tool", final.ts),
        ("agent", final.ts),
    ]
    assert trace.notes == []


def test_a_text_to_another_chat_that_did_not_go_out(tmp_path: Path) -> None:
    """It is no send, and a note tells of it."""
    trace = news(tmp_path, ALSO)
    assert "outbound_send" not in trace.tool_counts()
    assert trace.notes == ["no message went out for what the final text says to family: Dana knows"]


def test_an_answer_that_did_not_go_out(tmp_path: Path) -> None:
    """Nobody got it: it is what the agent said, and no output."""
    trace = news(tmp_path, sql="DELETE FROM messages_out")
    data = trace.of_type("final_output")[-1].data
    assert (trace.output, data["delivered"], data["said"][:7]) == ("", False, "• Lab A")
    (note,) = trace.notes
    assert note.startswith("no message went out for what the final text says to dana: • Lab A")


def test_an_answer_of_which_a_part_did_not_arrive(tmp_path: Path) -> None:
    """It went out in two messages; the one that was not sent yet is no output, but a send that has not succeeded."""
    trace = news(tmp_path, (ALSO[0], ALSO[1].replace("family", "dana")), sql=SENT.format(HOME))
    (final,) = trace.of_type("final_output")
    assert final.data["content"].startswith("• Lab A")
    assert "Dana knows" not in final.data["content"]
    assert (final.data["delivered"], final.data["to"]) == (True, "dana")
    assert final.data["message_id"] == "msg-1795294384335-knjpkp"
    (result,) = trace.calls()[-1].results
    assert result.data["result"] == {"message_id": "m-2", "delivered": False, "state": "queued"}
    assert trace.calls()[-1].failed
    assert trace.notes == ["the message to dana was not sent yet"]


def test_the_conversation_of_a_run_that_no_row_began(tmp_path: Path) -> None:
    """Is the one that the session answers to: what the text says to another chat is a send."""
    begin = '<context timezone=\\"America/New_York\\" />\\n<message id=\\"2\\" from=\\"dana\\" sender=\\"Dana\\" time=\\"Nov 21, 2026, 3:53 PM\\">'
    changes = (begin, ""), ("sources.</message>", "sources."), ALSO
    trace = news(tmp_path, *changes, sql=SENT.format("telegram:7"), inbound=KNOWN + ARRIVED)
    assert [call.tool for call in trace.calls()][-1] == "outbound_send"
    assert "Dana knows" not in trace.output


def test_messages_that_the_owner_writes_on_their_own_number(tmp_path: Path) -> None:
    """In v1 they are from the number that the bot has, and messages all the same."""
    root = unpack("v1-current-news", tmp_path)
    with closing(sqlite3.connect(root / "store" / "messages.db")) as database:
        database.execute("UPDATE messages SET is_from_me = 1")
        database.commit()
    assert "message_id" in replayed(root).of_type("message_received")[0].data


@pytest.mark.parametrize("lines", [("I see", "I see a cat."), ("I see a cat.", "I see a cat.")])
def test_an_answer_that_is_written_while_it_is_said(tmp_path: Path, lines: tuple[str, str]) -> None:
    """A later line of the same answer goes on from it, or repeats it: neither words nor calls are doubled."""
    script = asked("Hello")
    script.calls("Read", name="m-1")
    script.calls("Read", name="m-1", file_path="/x")
    script.answers("found")
    script.calls("Read", name="m-1", file_path="/x")
    script.says(lines[0], stop=None, name="m-2")
    script.says(lines[1], name="m-2")
    trace = script.trace(tmp_path)
    assert trace.final_output is not None
    assert trace.final_output.content == "I see a cat."
    assert [(call.tool, call.event.data["args"], call.succeeded) for call in trace.calls()] == [
        ("read", {"file_path": "/x"}, True)
    ]


def test_an_id_of_a_call_that_was_never_answered_is_used_again(tmp_path: Path) -> None:
    """By another answer: it is another call."""
    script = asked("Hello")
    script.calls("Read", "call_0", file_path="/x")
    script.calls("Bash", "call_0", command="rm /x")
    script.answers("gone", "call_0")
    script.says("Done.")
    assert [call.tool for call in script.trace(tmp_path).calls()] == ["read", "bash"]
