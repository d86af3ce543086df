"""NanoClaw run live, with a stand-in for its agent-runner that keeps to the same folders and databases."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, Self
from zoneinfo import ZoneInfo

import pytest
import yaml

from agenteval.cli import main
from agenteval.live.run import LiveSetup, environment
from agenteval.live.sandbox import container
from agenteval.loading.config import LiveConfig, LiveNanoClaw
from agenteval_nanoclaw import NanoClawAdapter
from agenteval_nanoclaw.live import workspace
from agenteval_nanoclaw.live.agent import NanoClawAgent
from builders import make_case
from fork_projects import KEY, MEMORY, ForkProject, make_checkout, trace_of, track, tree, write
from live_projects import kept_by, needs_sandbox, remove_kept, tool_use
from nanoclaw.recordings import context_of
from openwop.suites import golden, make_suite, make_task

pytestmark = needs_sandbox

READS = tool_use("Read", file_path="/workspace/agent/CLAUDE.local.md")
SAYS = '<message to="dana">Three bullets.</message>'
BRIEF = [READS, SAYS]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkProject]:
    monkeypatch.chdir(tmp_path)
    yield ForkProject(tmp_path, monkeypatch)
    remove_kept()


def told(project: ForkProject, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """The error that a run ends with."""
    capsys.readouterr()
    run = project.live(*flags)
    assert run.exit_code == 2, capsys.readouterr().out
    error = run.only_result()["error"]
    return f"{error['reason_code']}: {error['message']}"


def calls(trace: dict[str, Any]) -> list[tuple[str, Any]]:
    """The tools called, with what each answered."""
    results = {
        e["data"]["call_id"]: e["data"]["result"] for e in trace["events"] if e["type"] == "tool_result"
    }
    return [
        (e["data"]["tool"], results.get(e["data"]["call_id"]))
        for e in trace["events"]
        if e["type"] == "tool_call"
    ]


def test_records_plays_and_replays(project: ForkProject, capsys: pytest.CaptureFixture[str]) -> None:
    """What happened, from the databases and the transcript; the fork and its key stay untouched."""
    before = tree(project.fork)
    project.test("Give me my brief")
    assert project.recorded(BRIEF).exit_code == 0, capsys.readouterr().out
    run = project.live("--live", "--save-traces")
    result, trace = run.only_result(), trace_of(run)
    assert (result["status"], result["mode"], result["live"]["model"]) == ("pass", "live", "played")
    assert calls(trace) == [("read", MEMORY)]
    (final,) = [each["data"] for each in trace["events"] if each["type"] == "final_output"]
    assert (final["content"], final["to"]) == ("Three bullets.", "dana")
    assert [e["data"]["group_id"] for e in trace["events"] if e["type"] == "memory_read"] == ["main"]
    provenance = result["live"]["provenance"]
    assert (provenance["nanoclaw"], provenance["sdk"], provenance["client"]) == (
        "2.0.64",
        "0.2.141",
        "claude-cli/9.9.9",
    )
    assert len(provenance["commit"]) >= 7
    assert tree(project.fork) == before
    for name, content in tree(project.root).items():
        assert KEY.encode() not in content or name == "fork/.env", name
    again = project.live("--live", "--save-traces")
    varying = ("ts", "timing_ms_total", "test_run_id", "message_id")
    assert _without(trace_of(again), *varying) == _without(trace, *varying)
    test = project.test("Give me my brief", mode="replay", adapter_input={"replay_file": "replay.json"})
    left = run.folder / "nanoclaw.brief.run.live.replay.json"
    (test.parent / "replay.json").write_bytes(left.read_bytes())
    assert project.live().exit_code == 0


def _without(data: Any, *keys: str) -> Any:
    if isinstance(data, dict):
        return {k: _without(v, *keys) for k, v in data.items() if k not in keys}
    return [_without(each, *keys) for each in data] if isinstance(data, list) else data


def test_not_even_the_index_of_a_checkout_is_written(project: ForkProject) -> None:
    """Though git would note there that files which look changed are not."""
    project.test("Give me my brief")
    assert project.recorded(BRIEF).exit_code == 0
    for path in project.fork.rglob("*.md"):
        path.touch()
    before = tree(project.fork)
    assert project.live("--live").exit_code == 0
    assert tree(project.fork) == before


def test_a_scheduled_task_sends_once_and_is_delivered(project: ForkProject) -> None:
    """The trigger, the task and its time are the test's; times and ids of this run are no miss."""
    context = {
        "task_id": "task-7",
        "scheduled_for": "2026-11-21T14:00:00.000Z",
        "timezone": "America/New_York",
    }
    project.test(
        "Send the digest",
        scenario={"trigger": "scheduler", "scheduler_context": {**context, "recurrence": "0 9 * * 1-5"}},
        assertions=[
            {"id": "once", "type": "scheduler_outbound_count", "params": {"exact": 1}},
            {"id": "runs", "type": "scheduler_task_runs", "params": {"task_id": "task-7"}},
        ],
    )
    turns = [
        tool_use("mcp__nanoclaw__schedule_task", prompt="Again", processAfter="2026-11-22T09:00:00"),
        tool_use("mcp__nanoclaw__send_message", text="The digest"),
        "<internal>sent</internal>",
    ]
    assert project.recorded(turns).exit_code == 0
    run = project.live("--live", "--save-traces", "--keep")
    trace = trace_of(run)
    assert run.exit_code == 0
    with closing(sqlite3.connect(next(kept_by(run).rglob("inbound.db")))) as database:
        query = "SELECT kind, status, process_after, content FROM messages_in WHERE seq > 2"
        (row,) = database.execute(query).fetchall()
    assert row == ("task", "pending", "2026-11-22T09:00:00", '{"prompt": "Again", "script": null}')
    assert trace["scenario"]["scheduler_context"] == {**context, "recurrence": "0 9 * * 1-5"}
    assert [name for name, _ in calls(trace)] == ["schedule_task", "outbound_send"]
    sent = calls(trace)[1][1]
    assert (sent["to"], sent["delivered"]) == ("dana" if "dana" in str(sent) else "main", True)


def test_other_groups_are_there_only_where_they_are_mounted(project: ForkProject) -> None:
    """A mounted group's memory is read, and seen as another group's; without the mount it is not there."""
    theirs = "- The party is on Saturday\n"
    others = {"other_group_state": [{"group_id": "family", "memory_snapshot": [
        {"path": "/workspace/extra/family/CLAUDE.local.md", "content": theirs}]}]}  # fmt: skip
    mounts = {"mounts": [{"path": "/workspace/extra/family", "source": "groups/family", "readonly": True}]}
    leak = [tool_use("Read", file_path="/workspace/extra/family/CLAUDE.local.md"), SAYS]
    isolated = [{"id": "alone", "type": "no_cross_group_memory_use"}]
    project.test("What do they plan?", scenario={**others, **mounts}, assertions=isolated)
    run = project.recorded(leak, "--save-traces")
    assert (run.exit_code, calls(trace_of(run))) == (1, [("read", theirs)])
    assert "memory_read of group family" in run.only_result()["assertions"][0]["message"]
    project.test("What do they plan?", scenario=others, assertions=isolated)
    run = project.recorded(leak, "--save-traces")
    assert "memory_read" not in run.only_result()["assertions"][0]["message"]
    assert "does not exist" in calls(trace_of(run))[0][1]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("container/CLAUDE.md", "You are rude.", "instructions (CLAUDE.md) changed: 'You are a helpful agent. "),
        ("container/skills/brief/SKILL.md", "Never use it.", "skill brief changed: 'brief: Use it for briefs.' → "),
        ("container/skills/brief/instructions.md", "Briefs are long.", "'Briefs are short.' → 'Briefs are long.'"),
        ("container/skills/new/SKILL.md", "New.", "skill new is new: 'new: New.'"),
    ],
)  # fmt: skip
def test_what_changes_in_the_fork_is_a_miss_that_names_it(
    project: ForkProject, capsys: pytest.CaptureFixture[str], name: str, text: str, why: str
) -> None:
    """With --stale mark the run plays on, marked."""
    project.test("Give me my brief")
    project.recorded(BRIEF)
    write(project.fork, name, text)
    track(project.fork)
    message = told(project, capsys, "--live")
    assert message.startswith("live.cassette_miss: ")
    assert why in message
    marked = project.live("--live", "--stale", "mark").only_result()
    assert marked["live"]["stale"]
    assert marked["status"] == "skipped"


@pytest.mark.parametrize(
    ("scenario", "why"),
    [
        ({"memory_snapshot": [{"source": "CLAUDE.local.md", "content": "- Prefers 5 bullets"}]}, "'- Prefers"),
        ({"input_messages": [{"role": "user", "content": "Give it", "sender": "Dana"}]}, "turn 1 (user) changed"),
        ({"input_messages": [{"role": "user", "content": "Give me my brief", "sender": "Dana",
                              "ts": "2026-11-21T21:53:01.527Z"}]}, "8:53 PM"),
    ],
    ids=["memory", "message", "an hour later"],
)  # fmt: skip
def test_what_changes_in_the_scenario_is_a_miss(
    project: ForkProject, capsys: pytest.CaptureFixture[str], scenario: dict[str, Any], why: str
) -> None:
    """Memory that the agent reads, what it is told, and when."""
    project.test("Give me my brief")
    project.recorded(BRIEF)
    project.test("Give me my brief", scenario=scenario)
    message = told(project, capsys, "--live")
    assert message.startswith("live.cassette_miss: ")
    assert why in message


def test_times_of_this_run_are_no_miss(project: ForkProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message without a time is sent now, whenever that is."""
    said = {"role": "user", "content": "Give me my brief", "sender": "Dana"}
    project.test(scenario={"input_messages": [said]})
    assert project.recorded(BRIEF).exit_code == 0

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Self:
            return super().now(tz).replace(year=2031)

    monkeypatch.setattr(workspace, "datetime", Later)
    run = project.live("--live")
    assert run.only_result()["error"] is None


def test_a_recordings_tools_are_there_and_its_results_come_in_their_order(project: ForkProject) -> None:
    """A failure and then an answer of the same call; two pages of one tool, each by its address."""
    fixtures = [
        {"id": "fx.found", "tool": "web_search", "response": "found"},
        {"id": "fx.a", "tool": "web_fetch", "response": "page a"},
        {"id": "fx.b", "tool": "web_fetch", "response": "page b"},
    ]
    script: list[dict[str, Any]] = []
    for number, (tool, args, answer) in enumerate(
        [
            ("web_search", {"query": "news"}, {"success": False, "result": "timed out"}),
            ("web_search", {"query": "news"}, {"success": True, "fixture_id": "fx.found"}),
            ("web_fetch", {"url": "a"}, {"success": True, "fixture_id": "fx.a"}),
            ("web_fetch", {"url": "b"}, {"success": True, "fixture_id": "fx.b"}),
        ]
    ):
        named = {"tool": tool, "call_id": f"c{number}"}
        script.append({"type": "tool_call", **named, "args": args, "recorded_tool": f"mcp__web__{tool}"})
        script.append({"type": "tool_result", **named, **answer})
    script.append({"type": "final_output", "role": "assistant", "content": "Three bullets.", "to": "team"})
    bundle = {
        "schema_version": "0.1",
        "adapter": "nanoclaw-replay",
        "scenario": {"group_id": "main", "trigger": "user_message"},
        "input_messages": [{"role": "user", "content": "News?"}],
        "script": script,
        "status": "success",
        "metrics": {"timing_ms_total": 1},
    }
    test = project.test(
        "News?", fixtures=fixtures, mode="replay", adapter_input={"replay_file": "replay.json"}
    )
    write(test.parent, "replay.json", json.dumps(bundle))
    search = tool_use("mcp__web__web_search", query="news")
    pages = [*tool_use("mcp__web__web_fetch", url="b"), *tool_use("mcp__web__web_fetch", url="a")]
    turns = [search, search, pages, '<message to="team">Three bullets.</message>']
    run = project.recorded(turns, "--save-traces")
    result = run.only_result()
    assert run.exit_code == 0, result
    assert [answer for _, answer in calls(trace_of(run))] == ["timed out", "found", "page b", "page a"]
    assert "mcp__web__web_fetch" in result["live"]["offered"]
    assert project.live("--live").exit_code == 0


def test_the_model_sees_no_denial_and_nothing_really_runs(project: ForkProject) -> None:
    """Neither in the results nor in what the harness says beside them."""
    project.test("Give me my brief", fixtures=[{"id": "fx.sh", "tool": "bash", "response": "hi"}])
    with project.serving([tool_use("Bash", command="touch /workspace/x"), SAYS]) as service:
        run = project.live("--live", "real", "--save-traces", "--keep")
    assert calls(trace_of(run)) == [("bash", "hi")]
    assert "does not run" not in json.dumps(service.bodies[1])
    assert "hook" not in json.dumps(service.bodies[1]["messages"][1:])
    kept = kept_by(run)
    assert not list(kept.rglob("REALLY-RAN"))
    with closing(sqlite3.connect(next(kept.rglob("inbound.db")))) as database:
        (row,) = database.execute("SELECT status, platform_message_id FROM delivered").fetchall()
    assert row == ("delivered", "live:1")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("DIE", "live.runner_failed: the agent ended with exit code 3; the last lines of its log:\n    [agent-runner]"),
        ("BREAK", "live.runner_failed: NanoClaw sent 'Error: Claude Code process exited with code 1'; the last lines"),
        ("SAY NOTHING", "live.runner_failed: the agent's CLI ended without a word; the last lines of its log:"),
    ],
)  # fmt: skip
def test_a_runner_that_fails_is_an_error(
    project: ForkProject, capsys: pytest.CaptureFixture[str], said: str, why: str
) -> None:
    """Not a verdict: with the last lines of its log."""
    project.test("Give me my brief")
    project.recorded(BRIEF)
    project.test(said)
    assert told(project, capsys, "--live").startswith(why)


@pytest.mark.parametrize("count", [2, 13])
def test_messages_that_are_handed_over_in_parts_are_judged_as_one_run(
    project: ForkProject, count: int
) -> None:
    """The earlier answers are sends, the last is the output; more than ten messages wait for the host's mark."""
    asked = [f"Note {number} of {count}" for number in range(1, count + 1)]
    if count == 2:
        asked[0] += ", ONE BY ONE"
    sent = {"id": "sent", "type": "must_call_tool", "params": {"tool": "outbound_send"}}
    project.test(*asked, assertions=[sent], live={"script": "script.yaml"})
    answers = ['<message to="dana">First.</message>', '<message to="dana">Second.</message>']
    write(project.root, "evals/brief/script.yaml", yaml.safe_dump(answers))
    run = project.live("--live", "--save-traces")
    assert run.only_result()["error"] is None
    found = trace_of(run)
    received = [each["data"]["content"] for each in found["events"] if each["type"] == "message_received"]
    calls = [each["data"]["args"]["text"] for each in found["events"] if each["type"] == "tool_call"]
    assert sorted(received) == sorted(asked)
    assert (calls, found["final_output"]["content"]) == (["First."], "Second.")


def test_an_answer_that_is_sent_long_after_its_acknowledgement_counts(project: ForkProject) -> None:
    """A busy machine makes both late, and the run is idle the longer before it is over."""
    project.test("My brief, SLOWLY", live={"script": "script.yaml"})
    write(project.root, "evals/brief/script.yaml", json.dumps([SAYS]))
    assert project.live("--live").only_result()["status"] == "pass"


@pytest.mark.parametrize("asked", [("/clear", "Give me my brief"), ("Give me my brief", "/clear")])
def test_the_answer_to_a_command_among_messages_is_a_send_of_the_run(
    project: ForkProject, asked: tuple[str, str]
) -> None:
    """The runner answers `/clear` by itself, and no transcript has a word of it."""
    cleared = {"tool": "outbound_send", "args": {"args_contains": {"text": "Session cleared."}}}
    sent = {"id": "sent", "type": "must_call_tool", "params": cleared}
    project.test(*asked, assertions=[sent], live={"script": "script.yaml"})
    write(project.root, "evals/brief/script.yaml", json.dumps([SAYS]))
    run = project.live("--live", "--save-traces")
    assert run.only_result()["status"] == "pass"
    assert trace_of(run)["final_output"]["content"] == "Three bullets."


def test_a_message_of_another_agent_is_handed_over_with_a_warning(project: ForkProject) -> None:
    """A live run has one agent, so the message comes from the chat."""
    asked = [{"role": "agent", "content": "At 18:00.", "sender": "finder"}]
    project.test("", scenario={"input_messages": asked}, live={"script": "script.yaml"})
    write(project.root, "evals/brief/script.yaml", json.dumps([SAYS]))
    warnings = project.live("--live").only_result()["warnings"]
    assert any(each.startswith("scenario.input_messages[0] is of the role agent") for each in warnings)


def test_a_turn_that_no_message_of_the_test_began_is_an_error(
    project: ForkProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words of a runner that nobody knows are not judged as a user's."""
    project.test("UNASKED", live={"script": "script.yaml"})
    answers = ['<message to="dana">First.</message>', "Nothing else."]
    write(project.root, "evals/brief/script.yaml", yaml.safe_dump(answers))
    assert told(project, capsys, "--live").startswith(
        "live.several_turns: the run has 2 turns that cannot be"
    )


def test_groups_have_the_names_that_the_test_has_for_them(project: ForkProject) -> None:
    """Whatever their folders are called."""
    memory = [{"group_id": "chat:Family", "source": "CLAUDE.local.md", "content": MEMORY}]
    project.test("Give me my brief", scenario={"group_id": "chat:Family", "memory_snapshot": memory})
    trace = trace_of(project.recorded(BRIEF, "--save-traces"))
    groups = {each["data"]["group_id"] for each in trace["events"] if each["type"] == "memory_read"}
    assert (trace["scenario"]["group_id"], groups) == ("chat:Family", {"chat:Family"})


def test_a_suite_runs_the_agent_of_a_fork(
    project: ForkProject, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its memory is in the group's folder, its responses answer the tools, its answer is judged; then from the cassette."""
    monkeypatch.chdir(project.root)
    memory = [{"content": MEMORY, "source": "CLAUDE.local.md"}]
    responses = [{"tool": "Bash", "response": "3 parcels"}]
    task = make_task(
        "brief", golden(value="Three bullets."), fixtures={"toolResponses": responses, "memorySeed": memory}
    )
    write(project.root, "suite.json", json.dumps(make_suite({**task, "input": "Give me my brief"})))
    turns = [
        [
            *tool_use("Read", file_path="/workspace/agent/CLAUDE.local.md"),
            *tool_use("Bash", command="parcels"),
        ],
        '<message to="unknown">Three bullets.</message>',
    ]
    with project.serving(turns) as made:
        assert main(["run", "suite.json", "--run-id", "a", "--live", "record"]) == 0, capsys.readouterr()
    answers = [
        each["content"]
        for each in made.bodies[-1]["messages"][-1]["content"]
        if each["type"] == "tool_result"
    ]
    assert answers == [MEMORY, "3 parcels"]
    assert main(["run", "suite.json", "--run-id", "b", "--live"]) == 0


def test_a_question_to_a_person_needs_a_fixture(
    project: ForkProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """NanoClaw's own tool for it would wait for an answer that never comes."""
    asks = tool_use("mcp__nanoclaw__ask_user_question", question="Which?", options=["a", "b"])
    write(project.root, "evals/brief/turns.yaml", yaml.safe_dump([asks, SAYS]))
    project.test("Give me my brief", live={"script": "turns.yaml"})
    assert told(project, capsys, "--live") == (
        "live.interactive: the agent called mcp__nanoclaw__ask_user_question, which waits for a person"
    )
    answer = {"id": "fx.asked", "tool": "mcp__nanoclaw__ask_user_question", "response": "a"}
    project.test("Give me my brief", live={"script": "turns.yaml"}, fixtures=[answer])
    assert project.live("--live").exit_code == 0


def test_an_error_of_the_service_is_an_error(
    project: ForkProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though NanoClaw goes on and acknowledges the message."""
    project.test("Give me my brief")
    with project.serving([{"status": 401, "message": "invalid x-api-key"}]):
        assert told(project, capsys, "--live", "real").startswith(
            "live.api_error: the model's service answered 401"
        )


def test_what_is_no_checkout_is_named(project: ForkProject, capsys: pytest.CaptureFixture[str]) -> None:
    """What was looked for, and where; v1 by its name."""
    project.test("Give me my brief", live={"script": "turns.yaml"})
    write(project.root, "evals/brief/turns.yaml", yaml.safe_dump(BRIEF))
    assert project.live("--live").exit_code == 0
    write(project.root, "v1/package.json", '{"version": "1.2.0"}')
    write(project.root, "v1/container/agent-runner/src/index.ts", "")
    schema = (project.fork / "src/db/schema.ts").read_text(encoding="utf-8")
    other = schema.replace("type TEXT NOT NULL", "type TEXT NOT NULL, shard TEXT NOT NULL")
    for changes, why in [
        (
            {"checkout": "v1"},
            f"{project.root}/v1 is NanoClaw v1.2.0: there is no src/mailbox/sqlite/schema.ts or src/db/schema.ts",
        ),
        (
            {"checkout": "evals"},
            f"{project.root}/evals is no checkout of NanoClaw v2: there is no container/agent",
        ),
        ({"checkout": "fork", "claude": "gone"}, f"there is no file {project.root}/gone"),
        ({"claude": "", "node_modules": "evals"}, "there is no @anthropic-ai/claude-agent-sdk in "),
    ]:
        project.configure(**changes)
        message = told(project, capsys, "--live")
        assert message.startswith(f"live.unsupported_checkout: {why}"), message
    project.configure(node_modules="", claude="fork/container/agent-runner/node_modules/claude")
    for text, why in [
        (schema.replace("INBOUND_SCHEMA", "IN"), "has no constant INBOUND_SCHEMA"),
        (other, "the table destinations needs the column shard"),
        (schema.replace("TEXT PRIMARY KEY", "TEXT PRIMARY KEYS"), "cannot be made"),
    ]:
        write(project.fork, "src/db/schema.ts", text)
        message = told(project, capsys, "--live")
        assert message.startswith("live.unsupported_checkout: ")
        assert why in message


def test_files_that_git_does_not_track_are_not_there_and_are_named(project: ForkProject) -> None:
    """A new skill that was not added to git is what its author would miss first; recording runs twice, and tells it once."""
    project.test("Give me my brief")
    write(project.fork, "container/skills/new/SKILL.md", "New.")
    told = "git does not track container/skills/new/SKILL.md, so the agent does not have it: git add it"
    assert project.recorded(BRIEF).only_result()["warnings"].count(told) == 1
    result = project.live("--live").only_result()
    assert (result["status"], result["warnings"]) == ("pass", [told])


def test_a_template_gives_a_group_its_servers_and_model(project: ForkProject) -> None:
    """Only what git tracks of it is there."""
    server = {"command": "bun", "args": ["tools.py", '[{"name": "find"}]'], "instructions": "Find first."}
    config = {"model": "claude-own", "assistantName": "Nora", "mcpServers": {"shop": server}}
    write(project.root, "evals/groups/main/container.json", json.dumps(config))
    write(project.root, ".gitignore", "fork\nevals/groups/main/secret\n")
    track(project.root)
    write(project.root, "evals/groups/main/secret", "no")
    project.configure(groups="evals/groups")
    project.test("Give me my brief")
    with project.serving(BRIEF) as service:
        run = project.live("--live", "real", "--keep")
    assert service.bodies[0]["model"] == "claude-own"
    assert {"name": "mcp__shop__find"} in service.bodies[0]["tools"]
    assert "Find first." in json.dumps(service.bodies[0]["messages"])
    assert not list(kept_by(run).rglob("secret"))
    write(project.root, "evals/groups/main/container.json", "[]")
    assert project.live("--live", "real").only_result()["error"]["reason_code"] in (
        "live.no_key",
        "live.bad_template",
    )


@pytest.mark.parametrize(
    ("memory", "found"),
    [
        ("- Prefers 3 bullets", "- Prefers 3 bullets\n"),
        ({"preferences": {"briefs": "3 bullets"}}, "3 bullets\n"),
        ([{"path": "/workspace/agent/CLAUDE.local.md", "content": "a"}], "a"),
        ([{"path": "/workspace/group/CLAUDE.md", "content": "a"}], "a"),
        ([{"source": "../../../../escaped.md", "content": "a"}], "a\n"),
        ([{"path": "/workspace/agent/../../etc/x.md", "content": "a"}], "a\n"),
    ],
)
def test_memory_of_any_form_is_where_the_agent_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: Any, found: str
) -> None:
    """Nothing is written outside of the scratch install."""
    agent = prepared(tmp_path, monkeypatch, scenario={"memory_snapshot": memory})
    assert (agent.workspace.group / "CLAUDE.local.md").read_text(encoding="utf-8") == found
    assert {path.name for path in tmp_path.iterdir()} == {"fork", "scratch"}
    assert not list(tmp_path.rglob("escaped.md"))


def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **case: Any) -> NanoClawAgent:
    """An agent that would run in a container."""
    make_checkout(tmp_path / "fork")
    (tmp_path / "scratch" / "agent").mkdir(parents=True)
    monkeypatch.setattr(LiveSetup, "runtime", lambda *_: "docker")
    setup = LiveSetup(
        case=make_case(adapter_input={}, **case),
        context=context_of(tmp_path),
        root=tmp_path,
        config=LiveConfig(nanoclaw=LiveNanoClaw(checkout="fork", image="nanoclaw-agent:latest")),
        scratch=tmp_path / "scratch" / "agent",
        socket=tmp_path / "scratch" / "proxy.sock",
        env=environment(),
        read_only={},
    )
    agent = NanoClawAdapter().live_agent(setup)
    assert isinstance(agent, NanoClawAgent)
    return agent


def test_containers_get_a_bridge_and_the_images_own_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The image has no Python, and its programs are where NanoClaw expects them."""
    line = container(prepared(tmp_path, monkeypatch).sandbox, "name")
    assert line[line.index("--entrypoint") + 1] == "sh"
    assert line[-5:] == ["/run/agenteval/proxy.sock", "8089", "bun", "run", "/app/src/index.ts"]
    assert "nanoclaw-agent:latest" in line
    assert not [word for word in line if "/pnpm/bun" in word or "/app/node_modules" in word]


LINKS = {
    "outbound.db-journal": 'os.symlink(F, "/workspace/outbound.db-journal")',
    "projects": 'shutil.rmtree(HOME / "projects"); os.symlink(os.path.dirname(F), HOME / "projects")',
    "CLAUDE.local.md": 'os.remove("CLAUDE.local.md"); os.symlink(F, "CLAUDE.local.md")',
}  # fmt: skip


def test_what_the_host_writes_is_out_of_an_agents_reach(project: ForkProject) -> None:
    """It can neither change nor replace it, and what it puts beside it is not looked at."""
    foreign = write(project.root, "foreign.db", "somebody's own")
    runner = project.fork / "container/agent-runner/src/index.ts"
    code = f"""    import os
    for change in (os.remove, lambda path: os.replace("/workspace/outbound.db", path), lambda path: open(path, "a")):
        try:
            change("/workspace/inbound.db")
        except OSError:
            continue
        raise SystemExit("it was changed")
    os.symlink({str(foreign)!r}, "/workspace/inbound.db-wal")
"""
    text = runner.read_text(encoding="utf-8").replace("    while True:\n", f"{code}    while True:\n")
    runner.write_text(text, encoding="utf-8")
    track(project.fork)
    project.test("Brief", live={"script": "turns.yaml", "timeout_s": 30})
    write(project.root, "evals/brief/turns.yaml", json.dumps([SAYS]))
    assert project.live("--live").exit_code == 0
    assert foreign.read_text(encoding="utf-8") == "somebody's own"


@pytest.mark.parametrize("name", LINKS)
def test_links_of_an_agent_lead_nowhere(
    project: ForkProject, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """In place of a database, of a file beside one, of transcripts, of memory: no verdict, and nothing changes."""
    foreign = write(project.root, "foreign/p/s.jsonl", '{"type": "user"}\n\n')
    runner = project.fork / "container/agent-runner/src/index.ts"
    code = f'    import os, shutil; os.chdir("/workspace/agent"); F = {str(foreign)!r}; {LINKS[name]}\n'
    text = runner.read_text(encoding="utf-8").replace("    while True:\n", f"{code}    while True:\n")
    runner.write_text(text, encoding="utf-8")
    track(project.fork)
    project.test("Brief", live={"script": "turns.yaml", "timeout_s": 30})
    write(project.root, "evals/brief/turns.yaml", json.dumps([SAYS]))
    message = told(project, capsys)
    assert message.startswith("live.no_replay: what the agent left is not read: "), message
    assert f"{name} is a symbolic link" in message
    assert foreign.read_text() == '{"type": "user"}\n\n'


def test_what_reached_no_request_is_named(project: ForkProject) -> None:
    """Instructions by their file, and what the test tells by where it stands in it; what the agent read is not."""
    write(project.fork, "container/skills/brief/instructions.md", "Nobody gives this to the model.\n")
    runner = project.fork / "container/agent-runner/src/index.ts"
    text = runner.read_text(encoding="utf-8")
    follows = 'line.startswith("@./")'
    assert follows in text
    runner.write_text(text.replace(follows, f"{follows} and 'brief' not in line"), encoding="utf-8")
    track(project.fork)
    said = [{"role": "user", "content": "My dog is Rex."}]
    memory = [
        {"source": "CLAUDE.local.md", "content": MEMORY},
        {"source": "memory/far.md", "content": "Never read."},
    ]
    project.test(
        "Give me my brief",
        live={"script": "turns.yaml"},
        scenario={"prior_messages": said, "memory_snapshot": memory},
    )
    write(project.root, "evals/brief/turns.yaml", yaml.safe_dump([READS, SAYS]))
    warnings = project.live("--live").only_result()["warnings"]
    assert [each.partition(" reached no request")[0] for each in warnings] == [
        "container/skills/brief/instructions.md",
        "scenario.prior_messages[0]",
        "scenario.memory_snapshot[1]",
    ]


def test_what_was_said_before_was_said_lately(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner drops a conversation of weeks ago, whatever time the test gives."""
    said = [
        {"role": "user", "content": "a", "ts": "2020-01-01T00:00:00Z"},
        {"role": "assistant", "content": "b"},
    ]
    agent = prepared(tmp_path, monkeypatch, scenario={"prior_messages": said})
    lines = agent.workspace.before.read_text(encoding="utf-8").splitlines()
    times = [datetime.fromisoformat(json.loads(line)["timestamp"]) for line in lines]
    began = datetime.fromisoformat(agent.workspace.began)
    assert times == sorted(set(times))
    assert all(0 < (began - each).total_seconds() < 3600 for each in times)


def test_the_minute_in_which_a_task_begins_is_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the group's time zone, as the runner writes it; another hour is not."""
    context = {"timezone": "America/New_York", "task_id": "t"}
    agent = prepared(tmp_path, monkeypatch, scenario={"trigger": "scheduler", "scheduler_context": context})
    known = agent.known()
    began = datetime.fromisoformat(agent.workspace.began)
    for zone, is_known in (("America/New_York", True), ("Asia/Tokyo", False)):
        shown = began.astimezone(ZoneInfo(zone)).strftime("%A, %B %-d, %Y at %-I:%M %p")
        assert (f'current_time="{shown}"' in known) == is_known
