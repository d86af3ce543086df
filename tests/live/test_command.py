"""`adapter: command`: an agent of its own is run again in a sandbox, recorded and played."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.judging.runner import _rests_on_model
from agenteval.live import sandbox
from agenteval.live.run import environment
from agenteval.running.session import processors
from live_projects import (
    AGENT,
    LOOKED_UP,
    SHIPS,
    LiveProject,
    kept_by,
    needs_sandbox,
    remove_kept,
    service,
    tool_use,
)
from runs import run_command

pytestmark = needs_sandbox


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LiveProject:
    """A project in the current directory."""
    monkeypatch.chdir(tmp_path)
    return LiveProject(tmp_path, monkeypatch)


def told(project: LiveProject, capsys: pytest.CaptureFixture[str], *flags: str, code: int = 2) -> str:
    """What a run that ends in an error says of it."""
    capsys.readouterr()
    run = project.live(*flags)
    output = capsys.readouterr().out
    assert run.exit_code == code, output
    error = run.only_result()["error"]
    return f"{error['reason_code']}: {error['message']}" if error else output


def test_records_and_plays_with_the_service_gone(project: LiveProject) -> None:
    """The same verdicts, the same calls; the key is in no file."""
    made = project.recorded()
    assert made.keys == ["sk-ant-api03-the-real-key-0123456789"] * 2
    result = made.bodies[1]["messages"][-1]["content"][0]
    assert (result["content"], "is_error" in result) == (SHIPS, False)
    played = project.live("--live").only_result()
    assert (played["status"], played["mode"], played["live"]["model"]) == ("pass", "live", "played")
    assert [each["recorded_model"] for each in played["assertions"]] == [True, True]
    files = [path for path in project.root.rglob("*") if path.is_file()]
    assert not [path for path in files if b"the-real-key" in path.read_bytes()]


def test_what_a_live_run_leaves_replays_the_same(project: LiveProject) -> None:
    """The fixture's answer stands in it, not the denial that the agent saw."""
    project.recorded()
    run = project.live("--live", "--save-traces")
    replay = json.loads((run.folder / "command.order.lookup.once.replay.json").read_text())
    assert [(s["type"], s.get("result")) for s in replay["script"]][1] == ("tool_result", SHIPS)
    project.write("evals/order/replay.json", json.dumps(replay))
    project.test(mode="replay", adapter_input={"replay_file": "replay.json"})
    assert project.live().only_result()["live"] is None
    assert project.live("--live").only_result()["live"]["changes"] == []


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("CLAUDE.md", "You help much.", "system prompt changed: 'You help.' → 'You help much.'"),
        ("tool.json", '{"name": "lookup", "description": "Finds"}', "tool lookup changed"),
    ],
    ids=["prompt", "description of a tool"],
)
def test_what_the_author_changes_is_a_miss_that_names_it(
    project: LiveProject, capsys: pytest.CaptureFixture[str], name: str, text: str, why: str
) -> None:
    """Or, with --stale mark, a mark on a result that is never silently green."""
    project.recorded()
    project.write(name, text)
    project.track()
    assert told(project, capsys, "--live").startswith(
        f"live.cassette_miss: the cassette has no answer: compared with recorded request 1: {why}"
    )
    marked = project.live("--live", "--stale", "mark").only_result()
    assert marked["status"] == "skipped"
    assert {each["reason_code"] for each in marked["assertions"]} == {"live.stale"}
    assert marked["live"]["stale"][0].startswith(why)
    assert marked["warnings"] == [f"stale: {each}" for each in marked["live"]["stale"]]
    assert "1 stale" in capsys.readouterr().out
    assert project.live("--live", "--stale", "mark").exit_code == 3  # nothing was judged


def test_what_the_recorded_model_chose_is_not_judged_once_the_prompt_changed(project: LiveProject) -> None:
    """Its answer, the calls that it made, and those that it did not make."""
    kinds = {
        "called": ("must_call_tool", {"tool": "lookup"}),
        "tells": ("output_contains", {"all_of": ["tomorrow"]}),
        "never": ("must_not_call_tool", {"tool": "delete_all"}),
        "grounded": ("claims_supported_by_fixtures", {}),
    }
    assertions = [{"id": name, "type": kind, "params": params} for name, (kind, params) in kinds.items()]
    fixture = {"id": "fx.order", "tool": "lookup", "response": SHIPS}
    tools = {"available": ["lookup", "delete_all"], "fixtures": [fixture]}
    project.test(assertions=assertions, tools=tools)
    project.recorded()
    project.write("CLAUDE.md", "You help much.")
    project.track()
    judged = project.live("--live", "--stale", "mark").only_result()["assertions"]
    statuses = {each["id"]: (each["status"], each["reason_code"]) for each in judged}
    assert statuses == dict.fromkeys(kinds, ("skip", "live.stale"))


@pytest.mark.parametrize(
    ("deciding", "rests"),
    [(["tool_result"], False), (["tool_call", "tool_result"], False), (["tool_call"], True), ([], True)],
)
def test_what_tools_gave_does_not_rest_on_the_model(deciding: list[str], rests: bool) -> None:
    """Given the call, a tool's result is the tool's own doing."""
    types = {str(number): kind for number, kind in enumerate(deciding)}
    result: Any = SimpleNamespace(status="pass", evidence=SimpleNamespace(event_refs=list(types)))
    assert _rests_on_model(result, types) is rests


def test_a_message_or_a_fixture_that_changed_is_a_miss_whatever_is_marked(
    project: LiveProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """The conversation is what was recorded, or it is another one."""
    project.recorded()
    project.test(fixtures=[{"id": "fx.order", "tool": "lookup", "response": "order 42: lost"}])
    message = told(project, capsys, "--live", "--stale", "mark")
    assert "compared with recorded request 2: result of call 1 (lookup) changed: 'order 42: ships" in message


def test_a_tool_that_runs_is_judged_when_its_code_changes(project: LiveProject) -> None:
    """What it answers now is in the trace, and the result says that the model was played as if nothing had changed."""
    project.test(fixtures=[], live={"run_tools": ["lookup"]})
    project.recorded()
    before = project.live("--live").only_result()
    assert (before["live"]["ran"], before["warnings"]) == (["lookup"], [])
    project.write("answer.txt", "another answer")
    project.track()
    run = project.live("--live", "--save-traces")
    assert run.only_result()["warnings"] == [
        (
            "stale: result of call 1 (lookup) changed: 'lookup really ran: the real answer' → "
            "'lookup really ran: another answer'"
        )
    ]
    trace = json.loads((run.folder / "command.order.lookup.once.trace.json").read_text())
    results = [event["data"]["result"] for event in trace["events"] if event["type"] == "tool_result"]
    assert results == ["lookup really ran: another answer"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["CRASH"],
            "live.runner_failed: the agent ended with exit code 1; the last lines of its log:\n    no such table: orders",
        ),
        (["SILENT"], "live.no_request: the agent made no request to its model"),
        (
            [],
            "live.tool_escaped: lookup ran, though it must not run in this test: nobody asked before it ran",
        ),
    ],
    ids=["failing runner", "no request", "no hook"],
)
def test_errors_of_a_run(
    project: LiveProject, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    """Each is an error, never a verdict."""
    project.recorded()
    project.words = words
    project.configure()
    assert told(project, capsys, "--live") == message


def test_a_tool_that_waits_for_a_person(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody is there to answer."""
    project.write("tool.json", '{"name": "AskUserQuestion"}')
    project.track()
    project.write("evals/order/turns.yaml", json.dumps([tool_use("AskUserQuestion"), "Done."]))
    project.test(live={"script": "turns.yaml"})
    assert told(project, capsys) == (
        "live.interactive: the agent called AskUserQuestion, which waits for a person"
    )


def test_a_tool_that_the_provider_would_run(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """No sandbox holds it, and no fixture answers it."""
    project.write("tool.json", '{"name": "web_search", "type": "web_search_20250305"}')
    project.track()
    project.write("evals/order/turns.yaml", json.dumps(LOOKED_UP))
    project.test(live={"script": "turns.yaml"})
    assert told(project, capsys).startswith("live.hosted_tool: the agent asks its provider to run web_search")


def test_a_run_that_takes_too_long(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """It is ended, with all that it started."""
    project.recorded()
    project.words = ["SLEEP"]
    project.configure()
    project.test(live={"timeout_s": 0.5})
    assert told(project, capsys, "--live") == (
        "live.timeout: the agent was not done after 0.5 s: 0 model requests so far"
    )


def test_a_call_without_a_fixture(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """It names the tool, the arguments, and what is closest."""
    project.recorded()
    project.test(
        fixtures=[
            {"id": "fx.other", "tool": "lookup", "match": {"args_equal": {"order": "7"}}, "response": "lost"}
        ]
    )
    assert told(project, capsys, "--live") == (
        'live.no_fixture: the agent called lookup with {"order": "42"}, and no fixture answers that; '
        "the closest is fixture 'fx.other'"
    )


def test_an_unasked_part_of_the_cassette(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """An agent that asks for less than was recorded does something else."""
    project.recorded()
    cassette = project.root / "evals/order/cassette.json"
    data = json.loads(cassette.read_text())
    data["exchanges"].append(
        {**data["exchanges"][0], "parts": {"model": data["exchanges"][0]["parts"]["model"]}}
    )
    cassette.write_text(json.dumps(data))
    assert told(project, capsys, "--live") == (
        "live.cassette_unplayed: the agent asked its model for less than was recorded: "
        "1 of 3 recorded requests were not made"
    )


def test_no_cassette_and_no_key(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """What is missing is named, with what to do."""
    assert told(project, capsys, "--live").startswith("live.no_cassette: there is no cassette ")
    project.configure(model={"key_env": "LIVE_TEST_KEY"})
    assert told(project, capsys, "--live", "record") == (
        "live.no_key: the environment has no LIVE_TEST_KEY, so the real model cannot be asked"
    )


def test_budgets(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Of requests, and of money where the price is known; where it is not, that is an error too."""
    project.monkeypatch.setenv("LIVE_TEST_KEY", "sk-ant-api03-the-real-key-0123456789")
    with service(LOOKED_UP) as made:
        model = {"base_url": made.base_url, "key_env": "LIVE_TEST_KEY"}
        project.configure(model=model, max_requests=1)
        assert told(project, capsys, "--live", "real") == (
            "live.over_budget: the agent made more than 1 requests to its model"
        )
    with service(LOOKED_UP) as made:
        project.configure(model={**model, "base_url": made.base_url}, max_requests=9)
        assert told(project, capsys, "--live", "real", "--max-cost", "1") == (
            "live.over_budget: the price of the model claude-test is not known, so live.max_cost_usd cannot be kept"
        )


def test_an_error_of_the_service(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told as what it is, not as a failure of the agent."""
    project.monkeypatch.setenv("LIVE_TEST_KEY", "sk-ant-api03-the-real-key-0123456789")
    with service([{"status": 401, "message": "invalid x-api-key"}]) as made:
        project.configure(model={"base_url": made.base_url, "key_env": "LIVE_TEST_KEY"})
        message = told(project, capsys, "--live", "real")
    assert message == "live.api_error: the model's service answered 401: invalid x-api-key"


def test_a_script_alone_needs_no_cassette(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Hand-written turns: an error of the service, a wrong call."""
    project.write("evals/order/turns.yaml", json.dumps(LOOKED_UP))
    project.test(live={"script": "turns.yaml"})
    assert project.live().exit_code == 0
    project.write("evals/order/turns.yaml", json.dumps([tool_use("lookup", order="42")]))
    assert told(project, capsys) == (
        "live.cassette_miss: the cassette has no answer: the script has 1 turns, and the agent asked once more"
    )
    project.write("evals/order/turns.yaml", "- {text: hm}\n")
    assert "turn 1 is no turn of a model" in told(project, capsys)


LEAVES = {
    "nothing": (["ALONE"], "", "live.nothing_left: the agent left nothing"),
    "no bundle": (
        ["ALONE"],
        'Path("/out/replay.json").write_text("[]")',
        "live.no_replay: /out/replay.json holds",
    ),
    "bundle and spans": (
        [],
        'Path("/out/a.otlp.json").touch()',
        "live.several_turns: the run left 2 recordings of what it did, replay.json and a.otlp.json",
    ),
    "files of spans": (
        [],
        'Path("/out/a.otlp.json").touch(); Path("/out/b.otlp.json").touch()',
        "live.several_turns: the run left 3 recordings",
    ),
    "conversations": (
        ["ALONE"],
        "p = Path(os.environ['CLAUDE_CONFIG_DIR'], 'projects/p'); p.mkdir(parents=True); [(p / n).touch() for n in ('1.jsonl', '2.jsonl')]",
        "live.several_turns: the run left 2 recordings of what it did, 1.jsonl and 2.jsonl",
    ),
    "a denial": (
        [],
        'Path("/out/replay.json").write_text(json.dumps({**bundle, "notes": text}))',
        "live.uncorrected: what the run left tells of denied tool calls",
    ),
}


@pytest.mark.parametrize("left", LEAVES)
def test_what_a_run_leaves_tells_of_one_run(
    project: LiveProject, capsys: pytest.CaptureFixture[str], left: str
) -> None:
    """Of all that the agent was given, and nothing else."""
    words, code, message = LEAVES[left]
    project.words = ["HOOKED", *words]
    project.configure()
    project.write("agent.py", AGENT.read_text(encoding="utf-8").replace("print(said)", code))
    project.track()
    project.write("evals/order/turns.yaml", json.dumps(LOOKED_UP))
    project.test(live={"script": "turns.yaml"})
    assert told(project, capsys).startswith(message)


@pytest.mark.parametrize("given", ["order 42", "tool lookup", "no such text"])
def test_a_hand_written_turn_depends_on_what_the_model_was_given(project: LiveProject, given: str) -> None:
    """A message, or the name of a tool: so a model is written that knows only what it is told."""
    chosen = {"when": given, "then": LOOKED_UP[0], "otherwise": "I know of no order: tomorrow, perhaps."}
    project.write("evals/order/turns.yaml", json.dumps([chosen, LOOKED_UP[1]]))
    project.test(live={"script": "turns.yaml"})
    looked_up = {"order 42": True, "tool lookup": True, "no such text": False}[given]
    assert project.live().exit_code == (0 if looked_up else 1)


@pytest.mark.parametrize(
    "turn",
    [
        {"when": "a", "then": "b"},
        {"when": 1, "then": "b", "otherwise": "c"},
        {"when": "a", "then": "b", "otherwise": "c", "else": "d"},
        {"when": "a", "then": {"when": "a", "then": "b", "otherwise": "c"}, "otherwise": "c"},
    ],
)
def test_a_choice_of_turns_is_complete(
    project: LiveProject, capsys: pytest.CaptureFixture[str], turn: dict[str, object]
) -> None:
    """Both turns are there, and neither is a choice again."""
    project.write("evals/order/turns.yaml", json.dumps([turn]))
    project.test(live={"script": "turns.yaml"})
    assert told(project, capsys).startswith("live.script_invalid: ")


def test_what_is_named_and_not_there(project: LiveProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A script of turns, one that holds none, a cassette that is none, a folder to show, a program to start."""
    project.test(live={"script": "turns.yaml"})
    assert told(project, capsys).startswith("live.no_script: ")
    project.write("evals/order/turns.yaml", "- {text: hm}\n")
    assert told(project, capsys).startswith("live.script_invalid: ")
    project.test()
    project.write("evals/order/cassette.json", "{}")
    assert told(project, capsys, "--live").startswith("live.cassette_invalid: ")
    assert main(["cassette", "show", "evals/order/cassette.json"]) == 2
    assert "live.cassette_invalid" in capsys.readouterr().err
    (project.root / "evals/order/cassette.json").unlink()
    project.write("evals/order/turns.yaml", json.dumps(LOOKED_UP))
    project.test(live={"script": "turns.yaml"})
    command = {"run": [sys.executable, "agent.py"], "mounts": ["nowhere"]}
    project.configure(command=command)
    assert told(project, capsys) == ("live.no_mount: live.command.mounts names nowhere, which is not there")
    project.configure(command={"run": ["./nowhere"]})
    assert told(project, capsys) == ("live.no_command: live.command.run starts ./nowhere, which is not there")
    project.configure(command={})
    assert told(project, capsys) == (
        "live.no_command: the configuration does not say how the agent is started"
    )


def test_the_output_alone_has_the_calls_of_the_wire_with_the_answers_of_fixtures(
    project: LiveProject,
) -> None:
    """The agent saw a denial, and its model the fixture: the trace has what the model was sent."""
    project.words = ["HOOKED", "ALONE"]
    project.configure()
    project.recorded()
    run = project.live("--live", "--save-traces")
    result = run.only_result()
    assert [each["status"] for each in result["assertions"]] == ["pass", "pass"]
    replay = json.loads((run.folder / "command.order.lookup.once.replay.json").read_text())
    assert [step.get("result") for step in replay["script"]] == [None, SHIPS]
    assert replay["x-live"]["source"] == "wire"


def test_spans_that_the_agent_sends(project: LiveProject) -> None:
    """Any instrumented agent: what it sends to OTEL_EXPORTER_OTLP_ENDPOINT is its trace."""

    def span(number: int, name: str, parent: str, **attributes: str) -> dict[str, object]:
        told = [
            {"key": f"gen_ai.{k}".replace("__", "."), "value": {"stringValue": v}}
            for k, v in attributes.items()
        ]
        ids = {"traceId": "a" * 32, "spanId": f"{number:016x}", "parentSpanId": parent}
        times = {"startTimeUnixNano": str(number * 10**9), "endTimeUnixNano": str((number + 1) * 10**9)}
        return {**ids, **times, "name": name, "attributes": told}

    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "It ships tomorrow."}]}])
    spans = [
        span(1, "invoke_agent shop", "", operation__name="invoke_agent", output__messages=said),
        span(2, "execute_tool lookup", f"{1:016x}", operation__name="execute_tool", tool__name="lookup"),
    ]
    project.write("spans.json", json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    project.track()
    project.words = ["HOOKED", "SPANS"]
    project.configure()
    project.recorded()
    result = project.live("--live").only_result()
    assert [each["status"] for each in result["assertions"]] == ["pass", "pass"]


def test_nearest_results_of_the_recording_are_marked(project: LiveProject) -> None:
    """With other arguments than recorded, `nearest` answers, marks it, and --fail-on-approximate refuses."""
    project.recorded()
    replay = (project.live("--live").folder / "command.order.lookup.once.replay.json").read_text()
    project.write("evals/order/replay.json", replay)
    project.test(fixtures=[], adapter_input={"replay_file": "replay.json"}, live={"match": "nearest"})
    project.recorded([tool_use("lookup", order="43"), "It ships tomorrow."])
    result = project.live("--live").only_result()
    assert result["live"]["approximate"] == [
        'lookup {"order": "43"}: the nearest recorded result, the recorded result of lookup {"order": "42"}'
    ]
    assert result["warnings"] == [f"approximate: {result['live']['approximate'][0]}"]
    assert any('order: "42" → "43"' in line for line in result["live"]["changes"]), result["live"]["changes"]
    refused = project.live("--live", "--fail-on-approximate").only_result()
    assert (refused["status"], refused["reason_code"]) == ("error", "live.approximate")


def test_a_value_that_redaction_hides_and_a_call_needs(project: LiveProject) -> None:
    """Such a cassette could not be played: it is refused when it is recorded, and not written."""
    project.monkeypatch.setenv("LIVE_TEST_KEY", "sk-ant-api03-the-real-key-0123456789")
    with service([tool_use("lookup", order="jane.doe@company.org"), "It ships tomorrow."]) as made:
        project.configure(model={"base_url": made.base_url, "key_env": "LIVE_TEST_KEY"})
        error = project.live("--live", "record").only_result()["error"]
    assert error["reason_code"] == "live.cassette_unplayable"
    assert "calls lookup with a value that redaction hides" in error["message"]
    assert not (project.root / "evals/order/cassette.json").exists()


def test_what_is_sensitive_is_hidden_on_both_sides_alike(project: LiveProject) -> None:
    """In the conversation it is redacted before it is compared, so that the cassette plays."""
    project.test(
        fixtures=[{"id": "fx.order", "tool": "lookup", "response": "ships to jane.doe@company.org tomorrow"}]
    )
    project.recorded()
    assert "jane.doe" not in (project.root / "evals/order/cassette.json").read_text()
    assert project.live("--live").exit_code == 0


def test_two_at_once(project: LiveProject) -> None:
    """Without being asked for: in worker processes, each with a sandbox of its own."""
    project.test(name="second")
    project.recorded([*LOOKED_UP, *LOOKED_UP])
    first, second = project.live("--live").results()
    assert (first["status"], second["status"]) == ("pass", "pass")
    if processors() > 1:
        assert second["started_at"] < first["finished_at"]


def test_shards_of_live_runs_are_merged_whole(project: LiveProject) -> None:
    """What the agent left is in the merged run, as it would be without shards."""
    project.test(name="other")
    project.recorded(LOOKED_UP * 2, "-n", "1")
    whole = project.live("--live")
    evals, artifacts = project.root / "evals", project.root / "artifacts"
    for number in (1, 2):
        assert run_command([evals], artifacts, "--live", "--shard", f"{number}/2", run_id="s").exit_code == 0
    folders = [str(artifacts / f"s-shard-{number}-of-2") for number in (1, 2)]
    assert main(["merge", *folders, "--artifacts-dir", str(artifacts), "--run-id", "merged"]) == 0

    def replays(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.glob("*.replay.json")}

    assert replays(artifacts / "merged") == replays(whole.folder)
    assert len(replays(whole.folder)) == 2


@pytest.mark.parametrize("change", ["agent.py", "evals/order/cassette.json"])
def test_a_shard_of_another_agent_is_not_merged(
    change: str, project: LiveProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdicts of its tests are of an agent, or of a model, that is there no more."""
    project.test(name="other")
    project.recorded(LOOKED_UP * 2, "-n", "1")
    evals, artifacts = project.root / "evals", project.root / "artifacts"
    for number in (1, 2):
        run_command([evals], artifacts, "--live", "--shard", f"{number}/2", run_id="s")
        text = (project.root / change).read_text(encoding="utf-8")
        project.write(change, f"{text}\n")
    folders = [str(artifacts / f"s-shard-{number}-of-2") for number in (1, 2)]
    assert main(["merge", *folders, "--artifacts-dir", str(artifacts), "--run-id", "merged"]) == 2
    assert f"they differ in {change}\n" in capsys.readouterr().err


def test_nothing_is_left_behind(project: LiveProject) -> None:
    """No scratch folder, no process; the project is what it was."""
    with tempfile.TemporaryDirectory() as folder:
        project.monkeypatch.setattr(tempfile, "tempdir", folder)
        project.recorded()
        project.live("--live")
        assert list(Path(folder).iterdir()) == []


def test_what_git_does_not_track_is_not_there(
    project: LiveProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """No .env, no data: and a program that is not tracked is named."""
    project.recorded()
    project.run = (*project.run[:1], "new.py")
    project.configure()
    project.write("new.py", "print(open('.env').read())")
    assert told(project, capsys, "--live") == (
        "live.untracked: git does not track new.py, so the agent's sandbox does not have it"
    )
    project.write(".gitignore", ".env\n")
    project.write(".env", "KEY=1")
    project.track()
    assert "No such file or directory: '.env'" in told(project, capsys, "--live")


def test_an_environment_that_is_linked_into_the_project(project: LiveProject) -> None:
    """As those are that several checkouts share."""
    outside = project.root.parent / "environment"
    venv.create(outside, symlinks=True)
    project.write(".gitignore", ".venv\n")
    (project.root / ".venv").symlink_to(outside)
    project.run = (".venv/bin/python", "agent.py")
    project.configure()
    project.recorded()
    assert project.live("--live").exit_code == 0


def test_cassettes_are_shown_compared_and_checked(
    project: LiveProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """`agenteval cassette`: requests and answers, and how two recordings of a changed agent differ."""
    project.recorded()
    project.write("first.json", (project.root / "evals/order/cassette.json").read_text())
    project.write("CLAUDE.md", "You help much.")
    project.track()
    project.recorded()
    capsys.readouterr()
    assert main(["cassette", "show", "evals/order/cassette.json"]) == 0
    shown = capsys.readouterr().out
    assert "  turn 1 (user): Where is order 42?\n" in shown
    assert '  → lookup {"order": "42"}\n' in shown
    assert "  → It ships tomorrow.\n" in shown
    assert main(["cassette", "diff", "first.json", "evals/order/cassette.json"]) == 0
    assert capsys.readouterr().out.startswith("request 1: system prompt changed")
    assert main(["cassette", "drift", "evals"]) == 0
    assert main(["cassette", "diff", "first.json"]) == 2
    assert main(["cassette", "show", "agenteval.yaml"]) == 2


def test_a_live_run_becomes_the_recording_of_its_test(
    project: LiveProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """`record --update TEST` takes over its replay file, and nothing else of the test."""
    project.recorded()
    left = project.live("--live").folder / "command.order.lookup.once.replay.json"
    test = project.test(adapter_input={"replay_file": "replay.json"})
    before = test.read_text()
    project.write("evals/order/replay.json", left.read_text().replace("tomorrow.", "today."))
    capsys.readouterr()
    assert main(["record", str(left), "--update", "evals/order", "-y"]) == 0
    shown = capsys.readouterr().out
    assert "+ It ships tomorrow." in shown
    assert (project.root / "evals/order/replay.json").read_bytes() == left.read_bytes()
    assert test.read_text() == before
    project.test(name="other", adapter_input={"replay_file": "replay.json"})
    assert main(["record", str(left), "--update", "evals/other"]) == 2
    assert "is a run of the test 'command.order.lookup.once'" in capsys.readouterr().err


LOOKS_AROUND = """\
import json, os, socket, sys
from pathlib import Path
port = int(Path("port.txt").read_text())
def reach():
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return "no network"
    return "network"
outside = Path("outside.txt").read_text()
seen = [reach(), Path(outside).exists(), "real-key" in json.dumps(dict(os.environ)), Path("/etc/shadow").exists()]
Path("agent.py").write_text("changed")
exec(Path("asks.py").read_text())
print(json.dumps(seen))
"""


def test_the_sandbox_holds(project: LiveProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network but the proxy, no file that git does not track, no key, no secrets of the system; nothing is changed."""
    project.write("asks.py", AGENT.read_text(encoding="utf-8").replace("print(said)", ""))
    project.write("agent.py", LOOKS_AROUND)
    secret = project.root.parent / "secret.txt"
    secret.write_text("secret")
    project.write("outside.txt", str(secret))
    project.words = ["HOOKED", "ALONE"]
    project.configure()
    with socket.create_server(("127.0.0.1", 0)) as server:
        project.write("port.txt", str(server.getsockname()[1]))
        project.track()
        project.test(
            assertions=[
                {
                    "id": "sees",
                    "type": "output_contains",
                    "params": {"all_of": ['["no network", false, false, false]']},
                }
            ]
        )
        project.recorded()
    assert (project.root / "agent.py").read_text() == LOOKS_AROUND


def test_ctrl_c_leaves_nothing_behind(project: LiveProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a scratch folder nor the agent."""
    project.recorded()
    project.words = ["SLEEP"]
    project.configure()
    with tempfile.TemporaryDirectory() as folder:
        running = started(folder)
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 2
        assert list(Path(folder).iterdir()) == []


STOPS = """\
import signal, sys, time
from pathlib import Path
def end(*_):
    Path("/out/ended").write_text("asked to")
    sys.exit()
signal.signal(signal.SIGTERM, end)
Path("/out/began").touch()
while True:
    time.sleep(1)
"""


def test_an_agent_is_asked_to_end_before_it_is_killed(project: LiveProject) -> None:
    """It can write what it has."""
    project.write("agent.py", STOPS)
    project.write("evals/order/turns.yaml", "[Done.]")
    project.track()
    project.test(live={"script": "turns.yaml", "timeout_s": 1})
    kept = kept_by(project.live("--keep"))
    assert (kept / "agent/out/ended").read_text() == "asked to"
    remove_kept()


def test_a_run_that_was_killed_leaves_no_process_and_the_next_removes_its_folder(
    project: LiveProject,
) -> None:
    """Nobody can clean up at SIGKILL; what others have in the same place stays."""
    project.recorded()
    project.words = ["SLEEP", "HOOKED"]
    project.configure()
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, f"agenteval-live-{os.getpid()}-0")
        other.mkdir()
        running = started(folder)
        running.kill()
        running.wait(30)
        (left,) = [each for each in Path(folder).iterdir() if each != other]
        deadline = time.monotonic() + 10
        while agents_in(left) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert agents_in(left) == []
        project.words = ["HOOKED"]
        project.configure()
        project.monkeypatch.setattr(tempfile, "tempdir", folder)
        assert project.live("--live").exit_code == 0
        assert list(Path(folder).iterdir()) == [other]


def started(folder: str) -> "subprocess.Popen[bytes]":
    """A run whose agent is at work, with its scratch folders in a folder."""
    running = subprocess.Popen(
        [sys.executable, "-m", "agenteval", "run", "evals", "--live", "--no-artifacts"],
        env={**os.environ, "TMPDIR": folder},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 30
    while not list(Path(folder).glob("*/*/log.txt")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    return running


def agents_in(folder: Path) -> list[str]:
    """The processes whose command line names a folder."""
    lines = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in lines.splitlines() if str(folder) in line]


DOCKER = """\
#!{python}
import json, os, signal, sys
from pathlib import Path
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
running = Path({log!r} + "-" + sys.argv[-1])
if sys.argv[1] in ("stop", "rm") and running.exists():
    os.killpg(int(running.read_text()), signal.SIGKILL)
if sys.argv[1] != "run":
    sys.exit()
words = iter(sys.argv[2:])
line = ["bwrap", "--unshare-net", "--unshare-pid", "--as-pid-1", "--clearenv"]
for path in ("/usr", "/bin", "/lib", "/lib64", {prefix!r}):
    line += ["--ro-bind-try", path, path]
line += ["--proc", "/proc", "--dev", "/dev", "--dir", "/run/agenteval"]
binds, rest = [], []
for word in words:
    if word == "--volume":
        ours, inside, *how = next(words).split(":")
        binds.append((inside, "--ro-bind" if how else "--bind", ours))
    elif word == "--env":
        line += ["--setenv", *next(words).split("=", 1)]
    elif word == "--workdir":
        rest += ["--chdir", next(words)]
    elif word == "--entrypoint":
        rest += ["--", next(words)]
        assert next(words) == "the-image"
        rest += words
    elif word == "--name":
        name = next(words)
    elif word not in ("--rm", "--interactive") and "=" not in word:
        next(words)
for inside, how, ours in sorted(binds):
    line += [how, ours, inside]
container = os.fork()  # the client waits, and the container does not end with it
if container:
    Path({log!r} + "-" + name).write_text(str(container))
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]) & 255)
os.setsid()
os.execvpe("bwrap", [*line, *rest], dict(PATH=os.environ["PATH"]))
"""
"""A stand-in that runs a container in bubblewrap as if it were the image. As with the real ones, the container goes on without its client."""


@pytest.mark.parametrize("runtime", ["docker", "podman"])
def test_a_container_gets_what_the_agent_needs_and_nothing_else(project: LiveProject, runtime: str) -> None:
    """The whole command line, with a stand-in that runs it in bubblewrap as if it were the image."""
    log = project.root / "artifacts/said"
    program = project.write(f"artifacts/bin/{runtime}", "")
    program.write_text(DOCKER.format(python=sys.executable, log=str(log), prefix=sys.base_prefix))
    program.chmod(0o755)
    project.monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    sandbox.chosen.cache_clear()
    project.run = ("python3", "agent.py")
    command = {"run": ["python3", "agent.py", "HOOKED"], "image": "the-image"}
    project.configure(runtime=runtime, command=command)
    with service(LOOKED_UP) as made:
        project.configure(model={"base_url": made.base_url}, command=command)
        project.monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-api03-the-real-key-0123456789")
        assert project.live("--live", "real").exit_code == 0
    probed, ran, *ended = [json.loads(line) for line in log.read_text().splitlines()]
    name = ran[ran.index("--name") + 1]
    socket_path = next(each for each in ran if each.endswith("/run/agenteval/proxy.sock"))
    scratch = Path(socket_path.partition(":")[0]).parent
    assert probed == ["info", "--format", "{{.ID}}" if runtime == "docker" else "{{.Host.Arch}}"]
    assert ended == [["rm", "--force", name]]  # it ended by itself: nobody has to ask it to
    shown = [each.replace(str(scratch), "SCRATCH") for each in ran if each != name]
    keep = ["--userns", "keep-id"] if runtime == "podman" and os.getuid() else []
    user, group = sandbox.agent_user()
    quiet = ["--http-proxy=false", "--env-host=false"] if runtime == "podman" else []
    unset = (
        [f"{name}_PROXY=" for name in ("HTTP", "HTTPS", "FTP", "ALL", "NO")] if runtime == "docker" else []
    )
    unset = [each for name in unset for each in (name, name.lower())]
    variables = [f"{key}={value}" for key, value in environment().items()]
    assert shown == [
        *("run", "--rm", "--name", "--user", f"{user}:{group}", "--interactive"),
        *("--network", "none", "--cap-drop", "ALL", *keep, "--security-opt", "no-new-privileges"),
        *("--security-opt", "label=disable", "--pids-limit", "512", "--memory", str(4 * 2**30)),
        *("--memory-swap", str(4 * 2**30)),
        *("--workdir", "/workspace", *quiet, "--volume", "SCRATCH/agent/home:/agent"),
        *("--volume", "SCRATCH/managed:/etc/claude-code:ro", "--volume", "SCRATCH/agent/out:/out"),
        *("--volume", "SCRATCH/agent/project:/workspace"),
        *("--volume", "SCRATCH/proxy.sock:/run/agenteval/proxy.sock"),
        *(word for each in unset for word in ("--env", each)),
        *("--env", "PATH=/usr/local/bin:/usr/bin:/bin", "--env", "HOME=/agent", "--env", "LANG=C.UTF-8"),
        *(word for each in variables for word in ("--env", each)),
        *("--env", "CLAUDE_CONFIG_DIR=/agent/.claude", "--env", "AGENTEVAL_OUT=/out"),
        *("--entrypoint", "python3", "the-image", "-I", "-c", sandbox._BRIDGE),
        *("/run/agenteval/proxy.sock", "8089", "python3", "agent.py", "HOOKED"),
    ]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None])
def test_a_container_ends_with_the_run(project: LiveProject, how: signal.Signals | None) -> None:
    """However that ends: killed, asked to end, interrupted, or because the agent takes too long."""
    log = project.root / "artifacts/said"
    program = project.write("artifacts/bin/docker", "")
    program.write_text(DOCKER.format(python=sys.executable, log=str(log), prefix=sys.base_prefix))
    program.chmod(0o755)
    project.monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    project.configure(
        runtime="docker", command={"run": ["python3", "agent.py", "SLEEP"], "image": "the-image"}
    )
    project.write("evals/order/turns.yaml", "[Done.]")
    project.test(live={"script": "turns.yaml", "timeout_s": 30 if how else 1})
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        running = started(folder)
        if how:
            running.send_signal(how)
        running.wait(30)
        ran = next(words for words in map(json.loads, log.read_text().splitlines()) if words[0] == "run")
        name = ran[ran.index("--name") + 1]
        deadline = time.monotonic() + 10
        while (left := [*agents_in(Path(folder)), *agents_in(Path(name))]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left == []


IMAGE = os.environ.get("CONTAINER_IMAGE", "")


@pytest.mark.skipif(not IMAGE, reason="CONTAINER_IMAGE names no local image that has python3")
@pytest.mark.parametrize("runtime", ["docker", "podman"])
def test_real_containers(
    project: LiveProject, runtime: sandbox.Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    """Record, play, look around for what is not to be seen, take too long: and no container is left."""
    if not (found := sandbox.probe(runtime)).works:
        pytest.skip(f"{runtime} {found.why}")
    project.run = ("python3", "agent.py")
    in_image = {"run": ["python3", "agent.py", "HOOKED"], "image": IMAGE}
    project.configure(runtime=runtime, command=in_image)
    with service(LOOKED_UP) as made:
        project.configure(model={"base_url": made.base_url})
        project.monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-api03-the-real-key-0123456789")
        assert project.live("--live", "record").exit_code == 0, capsys.readouterr()
    result = project.live("--live").only_result()
    assert (result["status"], result["live"]["provenance"]["sandbox"]) == ("pass", runtime)
    project.write("asks.py", AGENT.read_text(encoding="utf-8").replace("print(said)", ""))
    project.write("agent.py", LOOKS_AROUND)
    project.write("outside.txt", str(project.write("artifacts/secret.txt", "secret")))
    with socket.create_server(("127.0.0.1", 0)) as server:
        project.write("port.txt", str(server.getsockname()[1]))
        project.configure(command={**in_image, "run": [*in_image["run"], "ALONE"]})
        project.track()
        seen = ['["no network", false, false, true]']  # the image's own /etc/shadow
        project.test(assertions=[{"id": "sees", "type": "output_contains", "params": {"all_of": seen}}])
        assert project.live("--live").exit_code == 0, capsys.readouterr()
    project.configure(command={**in_image, "run": ["python3", "-c", "import time; time.sleep(60)"]})
    project.test(live={"timeout_s": 2})
    assert told(project, capsys, "--live").startswith("live.timeout: ")
    listed = subprocess.run([runtime, "ps", "-aq"], capture_output=True, text=True, check=True)
    assert listed.stdout == ""
