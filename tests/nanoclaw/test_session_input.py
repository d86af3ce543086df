"""`adapter_input.session`: what a path holds, which run of it is meant, and what is refused."""

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.trace import Trace
from agenteval_nanoclaw import NanoClawAdapter
from agenteval_nanoclaw.session.mapping import IMPLICIT
from nanoclaw.recordings import case_of, context_of, inspected, replayed, unpack
from nanoclaw.transcripts import Script, greeted

AGENT_GROUP = "data/v2-sessions/ag-1763740800000-main01"
SESSION = f"{AGENT_GROUP}/sess-1795294525511-663211"
TRANSCRIPT = (
    f"{AGENT_GROUP}/.claude-shared/projects/-workspace-agent/19c44786-d1c2-45f5-abcf-dccf5d8830cf.jsonl"
)
RUNS = (
    "  turn 1  2026-11-21T20:55:27.303Z  user_message  Every weekday at 9 send me an AI news digest.\n"
    "  turn 2  2026-11-21T20:55:30.124Z  scheduler  Search AI news, then send one digest message with 2 bullets …"
)


@pytest.fixture
def install(tmp_path: Path) -> Path:
    """A v2 install with two runs."""
    return unpack("v2-scheduled-task", tmp_path)


def refused(root: Path, session: Any = ".", **given: Any) -> AdapterError:
    """The error that an input ends in."""
    with pytest.raises(AdapterError) as caught:
        NanoClawAdapter().trace(case_of(session, **given), context_of(root))
    return caught.value


def essence(trace: Trace) -> Any:
    """A trace without its test."""
    return [event.data for event in trace.events], trace.scenario, trace.capabilities, trace.status


@pytest.mark.parametrize("path", [SESSION, f"{SESSION}/inbound.db", TRANSCRIPT])
def test_a_part_of_an_install_leads_to_all_of_it(install: Path, path: str) -> None:
    """A session folder, a database of it, and a transcript tell what the install root tells."""
    assert essence(replayed(install, path, turn=2)) == essence(replayed(install, ".", turn=2))


def test_the_other_groups_of_an_install_have_no_part_in_a_group_s_session(install: Path) -> None:
    """Nor have other transcripts in the one that is named."""
    other = install / "data" / "v2-sessions" / "ag-other"
    shutil.copytree(install / AGENT_GROUP, other)
    (other / Path(SESSION).name).rename(other / "sess-other")
    runs = [len(inspected(install / path).runs) for path in (".", SESSION, TRANSCRIPT)]
    assert runs == [4, 2, 2]
    script = Script("s-2")
    script.chat("Hello?")
    script.sends("Hi.")
    script.write((install / TRANSCRIPT).parent, "s-2.jsonl")
    runs = [len(inspected(install / path).runs) for path in (".", SESSION, TRANSCRIPT)]
    assert runs == [5, 2, 2]


@pytest.mark.parametrize("changed", ["data", "store", "project"])
def test_a_transcript_that_only_looks_like_one_of_an_install(tmp_path: Path, changed: str) -> None:
    """Its folder lies elsewhere, the store is not there, or the project ends below it: it is read alone."""
    root = unpack("v1-memory", tmp_path)
    (transcript,) = root.rglob("projects/*/*.jsonl")
    within = root
    if changed == "data":
        (root / "data").rename(root / "copied")
        (transcript,) = root.rglob("projects/*/*.jsonl")
    elif changed == "store":
        shutil.rmtree(root / "store")
    else:
        within = transcript.parent
    trace = replayed(within, str(transcript.relative_to(within)), turn=1)
    assert (trace.scenario.group_id, "message_id" in trace.events[0].data) == ("family", False)


def test_kinds_are_told(install: Path, tmp_path: Path) -> None:
    """In NanoClaw's words."""
    kinds = [inspected(install / path).kind for path in ("", SESSION, TRANSCRIPT)]
    assert kinds == [
        "NanoClaw v2 install",
        "NanoClaw v2 session folder",
        "Claude Agent SDK transcript in a NanoClaw install",
    ]
    store = unpack("v1-memory", tmp_path)
    assert [inspected(store / path).kind for path in ("", "store", "store/messages.db")] == [
        "NanoClaw v1 store"
    ] * 3
    (transcript,) = store.rglob("projects/*/*.jsonl")
    assert inspected(transcript).kind == "Claude Agent SDK transcript in a NanoClaw install"
    shutil.copy(transcript, tmp_path)
    assert inspected(tmp_path / transcript.name).kind == "Claude Agent SDK transcript"


def test_a_session_folder_that_was_copied_out_with_its_transcript(install: Path, tmp_path: Path) -> None:
    """Has all but the group and its mounts; the group is the test's then."""
    copy = tmp_path / "copy"
    shutil.copytree(install / SESSION, copy)
    shutil.copy(install / TRANSCRIPT, copy)
    trace = replayed(copy, ".", turn=2)
    assert trace.scenario.task_id == "task-1795294527407-6whzfn"
    assert trace.scenario.group_id == "family"
    assert trace.calls()[1].results[0].data["result"]["delivered"] is True
    assert trace.capabilities.supports_container_metadata is False
    script = Script("s-2")
    script.chat("Of another session?", 8)
    script.sends("Yes.")
    script.write(copy, "s-2.jsonl")
    assert len(inspected(copy).runs) == 2
    (copy / "outbound.db").unlink()
    assert replayed(copy, ".", turn=2).scenario.task_id == "task-1795294527407-6whzfn"


def test_a_session_folder_without_a_transcript(install: Path, tmp_path: Path) -> None:
    """Has no runs to show."""
    copy = shutil.copytree(install / SESSION, tmp_path / "copy")
    error = refused(copy)
    assert error.reason_code == "adapter.no_run"
    assert (
        error.message == f"{copy / '.'}: a NanoClaw v2 session folder without a run: there is no transcript"
    )
    assert (
        error.next_step
        == "copy the agent group's .claude-shared folder (v2), or data/sessions (v1), along with it"
    )


def test_a_store_that_was_copied_out_with_its_transcripts(tmp_path: Path) -> None:
    """The messages join the transcript to its group."""
    root = unpack("v1-memory", tmp_path)
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(root / "store" / "messages.db", copy)
    (transcript,) = root.rglob("projects/*/*.jsonl")
    shutil.copy(transcript, copy)
    trace = replayed(copy, ".", turn=1)
    assert (trace.scenario.group_id, trace.events[0].data["message_id"]) == ("main", "41")
    (tmp_path / "groups").mkdir()  # none of its own
    assert not [line for line in inspected(copy).holds if "group folders" in line]


@pytest.mark.parametrize(
    ("given", "turn"),
    [
        ({"turn": 1}, 1),
        ({"turn": 2}, 2),
        ({"message": 2}, 1),
        ({"message": "2"}, 1),
        ({"message": "5550100:41:ag-1763740800000-main01"}, 1),
        ({"message": "task-1795294527407-6whzfn"}, 2),
        ({"task_id": "task-1795294527407-6whzfn"}, 2),
        ({"time": "2026-11-21T20:55:27.303Z"}, 1),
        ({"time": "2026-11-21T20:55:27.400Z"}, 1),
        ({"time": "2026-11-21T20:55:29Z"}, 1),
        ({"time": "2026-11-21T21:55:30.2+01:00"}, 2),
        ({"time": "2027-01-01"}, 2),
        ({"turn": 2, "task_id": "task-1795294527407-6whzfn"}, 2),
    ],
)
def test_choosing_a_run(install: Path, given: dict[str, Any], turn: int) -> None:
    """By number, message, task, or time; several choices must all fit."""
    first = "Every weekday at 9 send me an AI news digest."
    assert (replayed(install, ".", **given).input_messages[0].content == first) is (turn == 1)


def test_without_a_choice_the_runs_are_listed(install: Path) -> None:
    """A test is about one run."""
    error = refused(install)
    assert error.reason_code == "adapter.several_runs"
    assert error.message == f"the recording has 2 runs:\n{RUNS}"
    assert error.next_step == (
        "choose one in the test: adapter_input: {session: …, turn: N}; message, task_id and time choose one, too"
    )


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"turn": 3}, "turn: 3"),
        ({"message": 99}, "message: 99"),
        ({"task_id": "task-x"}, "task_id: 'task-x'"),
        ({"time": "2020-01-01"}, "time: '2020-01-01'"),
        (
            {"turn": 1, "task_id": "task-1795294527407-6whzfn"},
            "turn: 1, task_id: 'task-1795294527407-6whzfn'",
        ),
        ({"turn": 2, "time": "2026-11-21T20:55:29Z"}, "turn: 2, time: '2026-11-21T20:55:29Z'"),
    ],
)
def test_a_choice_that_no_run_fits(install: Path, given: dict[str, Any], asked: str) -> None:
    """The runs there are are listed."""
    error = refused(install, **given)
    assert error.reason_code == "adapter.no_such_run"
    assert error.message == f"no run of the recording has {asked}; it has\n{RUNS}"


def test_choosing_a_run_without_a_database(tmp_path: Path) -> None:
    """By the number of its message, or by a time: of runs that interleave, the one that was under way."""
    script = Script()
    one = script.chat("First?", 2)
    script.chat("Second?", 4, parent=None)
    script.sends("Second.")
    script.sends("First.", parent=one)
    root = script.write(tmp_path).parent
    chosen = [
        replayed(root, "s-1.jsonl", **given).output
        for given in (
            {"message": 4},
            {"message": 2},
            {"time": "2026-11-21T20:00:01Z"},
            {"time": "2026-11-21T20:00:03Z"},
            {"time": "2026-11-21T20:00:04Z"},
            {"time": "2026-11-21T20:00:05Z"},
        )
    ]
    assert chosen == ["Second.", "First.", "First.", "Second.", "First.", "Second."]


def test_a_task_that_recurs_is_known_by_its_series(install: Path) -> None:
    """Each time it is a row of its own: the series tells which task it is, and when it runs next."""
    (inbound,) = install.rglob("inbound.db")
    with closing(sqlite3.connect(inbound)) as database:
        database.execute("UPDATE messages_in SET series_id = 'daily' WHERE kind = 'task'")
        database.commit()
    trace = replayed(install, ".", task_id="daily")
    assert trace.scenario.scheduler_context == {
        "timezone": "America/New_York",
        "task_id": "task-1795294527407-6whzfn",
        "scheduled_for": "2026-11-21T20:55:30.000Z",
        "series_id": "daily",
        "recurrence": "0 9 * * 1-5",
    }


def test_a_task_that_runs_once_has_no_recurrence_of_another(tmp_path: Path) -> None:
    """The first generation knows no series: tasks are not of one because neither names any."""
    root = unpack("v1-scheduled-task", tmp_path)
    with closing(sqlite3.connect(root / "store" / "messages.db")) as database:
        database.execute("UPDATE scheduled_tasks SET schedule_type = 'once'")
        database.execute(
            "INSERT INTO scheduled_tasks SELECT 'other', group_folder, chat_jid, 'Water!', 'cron', '0 7 * * *', "
            "next_run, last_run, last_result, status, created_at, context_mode FROM scheduled_tasks"
        )
        database.commit()
    task = "task-1763740800000-abc123"
    assert replayed(root, task_id=task).scenario.scheduler_context == {"task_id": task}


@pytest.mark.parametrize(
    ("count", "last", "lines"), [(20, "turn 20  2026-11-21T20:00:39.000Z", 21), (30, "and 10 more", 22)]
)
def test_a_choice_that_several_runs_fit(tmp_path: Path, count: int, last: str, lines: int) -> None:
    """They are listed; of very many, the first ones."""
    script = Script()
    for _ in range(count):
        script.user("again")
        script.says("done")
    told = refused(script.write(tmp_path).parent, "s-1.jsonl").message.splitlines()
    assert (told[0], len(told)) == (f"the recording has {count} runs:", lines)
    assert told[-1].startswith(f"  {last}")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"turn": 0}, "turn: expected at least 1, got the number 0"),
        ({"turn": "2"}, "turn: expected an integer, got '2'"),
        ({"turn": True}, "turn: expected an integer, got the boolean true"),
        ({"message": ""}, "message: expected a non-empty value, got ''"),
        ({"message": [2]}, "message: expected a string or an integer, got a list"),
        ({"task_id": 7}, "task_id: expected a string, got the number 7 (put it in quotes, as it is written)"),
        ({"time": "noon"}, "time: 'noon' is not an ISO 8601 date and time, such as '2026-01-31T08:00:00Z'"),
        ({"tool_aliases": ["a"]}, "tool_aliases: expected a mapping, got a list"),
        (
            {"tool_aliases": {"a": 1}},
            "tool_aliases.a: expected a string, got the number 1 (put it in quotes, as it is written)",
        ),
    ],
)
def test_choices_of_a_wrong_type(install: Path, given: dict[str, Any], message: str) -> None:
    """Say what was expected."""
    error = refused(install, **given)
    assert error.reason_code == "adapter.invalid_input"
    assert error.message == f"adapter_input.{message}"
    assert error.next_step == "correct the value in the test"


def test_unknown_keys_get_the_key_that_was_meant(install: Path) -> None:
    """As for bundles."""
    error = refused(install, tern=2)
    assert error.reason_code == "adapter.unknown_input"
    assert error.message == (
        "unknown key 'tern' in adapter_input, did you mean 'turn'? "
        "(allowed: replay_file, session, turn, message, task_id, time, tool_aliases)"
    )


def test_two_recordings_are_one_too_many(install: Path) -> None:
    """Which one would be judged?"""
    error = refused(install, replay_file="replay.json")
    assert error.reason_code == "adapter.invalid_input"
    assert error.message == "adapter_input names two recordings: replay_file and session"


def test_choices_go_with_a_session(install: Path) -> None:
    """A bundle holds one run."""
    case = case_of()
    case.adapter_input = {"replay_file": "replay.json", "turn": 1}
    with pytest.raises(AdapterError) as caught:
        NanoClawAdapter().trace(case, context_of(install))
    assert caught.value.message == "adapter_input.turn belongs with session, not with replay_file"


def test_aliases_of_the_test_come_first(install: Path) -> None:
    """Names, and globs."""
    aliases = {"mcp__web__web_search": "news", "mcp__nanoclaw__send_*": "say"}
    trace = replayed(install, ".", turn=2, tool_aliases=aliases)
    assert trace.tool_counts() == {"news": 1, "say": 1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", "a non-empty value, got ''"),
        (None, "a string, got nothing (null)"),
        (["."], "a string, got a list"),
    ],
)
def test_session_must_be_a_name(install: Path, name: Any, expected: str) -> None:
    """Of a file or a folder."""
    error = refused(install, name)
    assert error.reason_code == "adapter.invalid_input"
    assert error.message == f"adapter_input.session: expected {expected}"


def test_a_recording_that_is_not_there(install: Path) -> None:
    """Says what was looked for, and where."""
    error = refused(install, "gone")
    assert error.reason_code == "adapter.replay_missing"
    assert error.message == f"adapter_input.session names 'gone', but {install / 'gone'} is not there"


def test_a_recording_outside_the_project(install: Path) -> None:
    """Is not read, unless that is allowed."""
    inside = install / "groups"
    error = refused(inside, "..")
    assert error.reason_code == "adapter.outside_root"
    assert error.message == f"adapter_input.session names '..', which is outside the project root {inside}"
    context = context_of(inside, allow_outside=True)
    assert NanoClawAdapter().trace(case_of("..", turn=1), context).status == "success"


def test_what_lies_around_a_session_folder_is_read_only_inside_the_project(install: Path) -> None:
    """Where the project ends at the session folder, its install does not count."""
    error = refused(install / SESSION, ".")
    assert error.message.endswith("a NanoClaw v2 session folder without a run: there is no transcript")


def test_a_folder_without_a_recording(tmp_path: Path) -> None:
    """Says what is expected."""
    error = refused(tmp_path, ".")
    assert error.reason_code == "adapter.no_recording"
    assert error.message == f"{tmp_path / '.'}: not a recording of NanoClaw"
    assert error.next_step == (
        "name a transcript (*.jsonl), the output of `claude --output-format stream-json`, a NanoClaw v2 install root "
        "(with data/v2-sessions) or session folder (with inbound.db), or a v1 install root (with store/messages.db)"
    )


def test_a_message_names_no_folder_of_this_machine(install: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results hold messages, and are the same wherever the project is checked out."""
    monkeypatch.chdir(install.parent)
    for path in (Path(SESSION, "inbound.db"), Path("data/v2.db")):
        before = (install / path).read_bytes()
        (install / path).write_bytes(b"not a database at all" * 100)
        error = refused(Path(), install.name, turn=1)
        shown = Path(install.name, path)
        assert error.message == f"{shown} cannot be read as a database: file is not a database"
        (install / path).write_bytes(before)
    for transcript in Path().rglob("projects/*/*.jsonl"):
        transcript.write_text("")
    error = refused(Path(), install.name, turn=1)
    assert error.message.startswith(f"{install.name}/data/v2-sessions/")


def test_links_that_dangle_or_lead_out_are_not_followed(install: Path, tmp_path: Path) -> None:
    """NanoClaw leaves links to paths in the container; a recording from elsewhere may have worse."""
    secret = tmp_path / "secret"
    secret.mkdir()
    script = Script("s-9")
    script.chat("Leaked")
    script.says("x")
    script.write(secret, "s-9.jsonl")
    projects = (install / TRANSCRIPT).parent
    (projects / "out.jsonl").symlink_to(secret / "s-9.jsonl")
    (projects / "gone.jsonl").symlink_to("/app/gone.jsonl")
    (install / "data" / "v2-sessions" / "ag-out").symlink_to(secret)
    (install / "groups" / "main" / ".claude-shared.md").symlink_to("/app/CLAUDE.md")
    local = install / "groups" / "main" / "CLAUDE.local.md"
    local.unlink()
    local.symlink_to(secret / "s-9.jsonl")
    recording = inspected(install)
    assert len(recording.runs) == 2
    run = recording.runs[0]
    test = NanoClawAdapter().recorder.convert(install, run, context_of(install))
    assert "memory_snapshot" not in test.scenario


def test_databases_behind_links_that_lead_out_are_not_read(install: Path, tmp_path: Path) -> None:
    """Their recording is as it would be without them."""
    (install / SESSION / "outbound.db").rename(tmp_path / "outbound.db")
    (install / SESSION / "outbound.db").symlink_to(tmp_path / "outbound.db")
    trace = replayed(install, turn=1)
    assert "delivered" not in trace.of_type("final_output")[0].data
    assert trace.notes[-1].startswith("what was delivered is not recorded")


def test_the_situation_of_the_test_is_compared(install: Path) -> None:
    """As with bundles: a difference is a warning, and the recording is judged."""
    context = context_of(install)
    NanoClawAdapter().trace(case_of(".", turn=2), context)
    assert context.warnings == [
        "the scenario's trigger is 'user_message' in the test and 'scheduler' in the recording",
        "the scenario's group_id is 'family' in the test and 'main' in the recording",
        "the test has 0 input_messages and the recording 1",
    ]


def test_a_run_that_is_gone_is_not_converted(install: Path) -> None:
    """The recording changed since it was looked at."""
    run = inspected(install).runs[1]
    run.choice = {"turn": 9}
    with pytest.raises(AdapterError) as caught:
        NanoClawAdapter().recorder.convert(install, run, context_of(install))
    assert caught.value.reason_code == "adapter.no_such_run"


def test_what_a_recording_holds_and_lacks(install: Path, tmp_path: Path) -> None:
    """In words, with what follows."""
    recording = inspected(install)
    assert recording.holds == [
        "messages, tool calls with their results, and answers: 1 transcript",
        "what went out, where to, and whether it was delivered: outbound.db and inbound.db",
        "scheduled tasks: ids, recurrence, times",
        "mounts, and so whose memory a path leads to",
        "the group folders, with the memory as it was when they were copied",
    ]
    assert recording.lacks == [
        "the system prompt, the tools that the agent had, and sampling parameters",
        "memory at the start of a run, except for what the run shows; group folders are as they were copied",
    ]
    store = inspected(unpack("v1-memory", tmp_path))
    assert store.lacks == [
        "the system prompt, the tools that the agent had, and sampling parameters",
        "output tokens: a limit on them is not judged",
        f"{IMPLICIT}; runs without memory events have supports_memory_events: false",
        "what was delivered: sends are known by their calls, the answer by its text",
        "memory at the start of a run, except for what the run shows; group folders are as they were copied",
    ]


def test_a_file_among_transcripts_that_is_none(install: Path) -> None:
    """It is passed over, and said."""
    (install / TRANSCRIPT).with_name("notes.jsonl").write_text("no line\n", encoding="utf-8")
    recording = inspected(install)
    assert (len(recording.runs), recording.skipped["file that is not a transcript"]) == (2, 1)


def test_what_a_transcript_alone_holds_and_lacks(tmp_path: Path) -> None:
    """Without databases; its subagents are beside it, and its last line is cut."""
    script = greeted()
    script.sends("Hi.")
    path = script.write(tmp_path)
    script.write(tmp_path, "s-1/subagents/agent-a1.jsonl")
    path.write_text(script.text() + "{", encoding="utf-8")
    recording = inspected(path)
    assert recording.holds == [
        "messages, tool calls with their results, and answers: 1 transcript",
        "what subagents did: 1 transcript",
    ]
    assert recording.lacks == [
        "the system prompt, the tools that the agent had, and sampling parameters",
        "what was delivered: sends are known by their calls, the answer by its text",
        "task ids: runs by the scheduler have supports_scheduler_context: false",
        "mounts: memory under /workspace/extra belongs to the group that the folder is named for",
        "run 1: what came after the last line, which is cut",
    ]


class Terminal(StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        return True


def test_a_run_shows_how_far_the_reading_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, in one line of stderr that is taken away again; not with --no-progress."""
    script = Script()
    script.chat("Read it")
    for number in range(4):
        script.calls("Bash", f"c-{number}", command="x")
        script.answers("y" * 3_000_000, f"c-{number}")
    script.sends("Done.")
    script.write(tmp_path)
    spec = {
        "schema_version": "0.1",
        "id": "nanoclaw.tools.large.read",
        "title": "Large",
        "adapter": "nanoclaw",
        "mode": "replay",
        "scenario": {"group_id": "main", "trigger": "user_message", "input_messages": []},
        "tools": {"available": ["bash"]},
        "assertions": [{"id": "a", "type": "must_call_tool", "params": {"tool": "bash"}}],
        "adapter_input": {"session": "s-1.jsonl"},
    }
    (tmp_path / "test.yaml").write_text(json.dumps(spec), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for arguments, shown in (([], True), (["--no-progress"], False)):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        assert main(["run", "test.yaml", "--no-artifacts", *arguments]) == 0
        told = terminal.getvalue()
        assert told.startswith("reading s-1.jsonl  ") is shown
        assert told.endswith("of 12 MB\r\x1b[2K") is shown
