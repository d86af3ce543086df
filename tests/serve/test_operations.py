"""A host that keeps its word: stores that go away, cancelled runs, tenants, errors that are no scores, files, deletion."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.serve import workers
from agenteval.serve.store import MOST_CRASHES, Lost, Store, new_id, runs
from hosts import AGENT, KEYS, SUITE, HostProcess, Postgres, host_project

ACME, OTHER = KEYS["acme"], KEYS["other"]
WANTED: dict[str, Any] = {"mode": "eval", "evalSuiteRef": SUITE, "agentId": AGENT}
JUDGE = """
import json, sys, time
time.sleep(0.4)
criteria = json.load(sys.stdin)["criteria"]
print(json.dumps({"verdicts": [{"criterion": each["criterion"], "met": True, "reason": ""} for each in criteria]}))
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one run that waits."""
    made = Store(f"sqlite:///{tmp_path}/host.sqlite")
    row = {
        "id": "r" * 32,
        "tenant": "acme",
        "subject": "ci",
        "asked": {},
        "suite_id": "s",
        "status": "pending",
    }
    made.add(runs, row, None)
    return made


def test_only_crashes_without_progress_are_blamed(store: Store) -> None:
    """A worker that was stopped, or ended with its host, is nobody's fault; a new score makes up for crashes."""
    for _ in range(2 * MOST_CRASHES):
        assert store.claim("here:1:a")
        store.release("here:1:a".__eq__)
    for number in range(2 * MOST_CRASHES):
        claim = store.claim("here:1:a")
        assert claim
        store.score(claim, number, None, [])
        store.release("here:1:a".__eq__, blame=True)
    for _ in range(MOST_CRASHES - 1):
        assert store.claim("here:1:a")
        store.release("here:1:a".__eq__, blame=True)
    assert store.claim("here:1:a") is None
    run = store.run("acme", "r" * 32)
    assert run is not None
    assert (run.status, run.error["message"]) == ("failed", "5 workers ended while they ran it")


@pytest.mark.skipif(
    not Path("/proc/self/stat").is_file(), reason="the states of processes are read from /proc"
)
def test_a_worker_that_nobody_reaps_is_gone() -> None:
    """In a container the first process may reap no orphans: such a worker would keep its run until its lease ends."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert workers._is_gone(f"{workers._here()}{ended.pid}:a")
    assert not workers._is_gone(f"{workers._here()}{os.getpid()}:a")
    ended.wait()
    assert workers._is_gone(f"{workers._here()}{ended.pid}:a")


def test_a_run_that_waits_is_cancelled_at_once(store: Store) -> None:
    """One that runs ends when its worker looks; its worker has lost it then."""
    assert store.cancel("r" * 32) == "cancelled"
    assert store.claim("here:1:a") is None
    assert [event.type for event in store.events_after("r" * 32, -1)] == ["run.cancelled"]
    row = {
        "id": new_id(),
        "tenant": "acme",
        "subject": "ci",
        "asked": {},
        "suite_id": "s",
        "status": "pending",
    }
    store.add(runs, row, None)
    claim = store.claim("here:1:a")
    assert claim
    assert not store.ends_if_cancelled(claim)
    assert store.cancel(claim.run_id) == "cancelling"
    assert store.ends_if_cancelled(claim)
    with pytest.raises(Lost):
        store.score(claim, 0, None, [])


def test_a_store_of_another_version_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be read wrongly; the message names both versions."""
    monkeypatch.chdir(host_project(tmp_path))
    with sqlite3.connect("old.sqlite") as connection:
        connection.execute("create table runs (number integer)")
    assert main(["serve", "--store", "sqlite:///old.sqlite"]) == 2
    assert "the store has tables of version 0, and this agenteval needs version 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words"), [("pack.tgz", "unpack a pack"), ("packs", "name suites, unpacked")]
)
def test_packs_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    words: str,
) -> None:
    """One that is named, and a folder that holds nothing else."""
    monkeypatch.chdir(host_project(tmp_path, suites=[name]))
    Path("packs").mkdir()
    for path in ("pack.tgz", "packs/pack.tgz"):
        with tarfile.open(path, "w:gz") as pack:
            pack.add("suite.json")
    assert main(["serve"]) == 2
    assert words in capsys.readouterr().err


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[HostProcess]:
    """A host whose suite has twelve rubric tasks, each of which takes a moment."""
    (tmp_path / "judge.py").write_text(JUDGE, encoding="utf-8")
    tasks = []
    for number in range(12):
        folder = tmp_path / "replays" / f"t{number}"
        folder.mkdir(parents=True)
        message = {"role": "user", "content": "Q"}
        bundle = {
            "schema_version": "0.1",
            "scenario": {"trigger": "user_message", "group_id": "g"},
            "input_messages": [message],
            "script": [{"type": "final_output", "content": "A"}],
            "status": "success",
        }
        (folder / "replay.json").write_text(json.dumps(bundle), encoding="utf-8")
        rubric = [{"criterion": "right", "weight": 1}]
        tasks.append({"taskId": f"t{number}", "input": "Q", "expected": {"kind": "rubric", "rubric": rubric}})
    suite = {"suiteId": "local.x.evals.s", "version": "1.0.0", "modes": ["rubric"], "tasks": tasks}
    (tmp_path / "suite.json").write_text(json.dumps(suite), encoding="utf-8")
    agents = {"x.a": {"replays": "replays", "judge": "command:python3 judge.py"}}
    settings = {"serve": {"suites": ["suite.json"], "agents": agents, "limits": {"runs_at_once": 1}}}
    (tmp_path / "agenteval.yaml").write_text(json.dumps(settings), encoding="utf-8")
    started = HostProcess(tmp_path).start()
    yield started
    started.kill()


SLOW = {"mode": "eval", "evalSuiteRef": "local.x.evals.s@1.0.0", "agentId": "x.a"}


def scored(host: HostProcess, path: str) -> int:
    """Count the tasks of a run that have a score."""
    events = host.ask(f"{path}/events/poll?timeout=1").body["events"]
    return sum(event["type"] == "eval.scored" for event in events)


def wait_for_a_score(host: HostProcess, path: str) -> None:
    """Return once a task of a run has a score."""
    until = time.monotonic() + 60
    while not scored(host, path):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_run_outlives_its_hosts(slow: HostProcess) -> None:
    """Stopped politely and killed, four times in all: each score is kept once, and nobody is blamed."""
    path = slow.post(SLOW)
    for number in range(4):
        time.sleep(0.6)
        if number % 2:
            slow.kill()
        else:
            assert slow.process is not None
            slow.process.send_signal(signal.SIGTERM)
            slow.process.wait(30)
        slow.start()
    assert slow.ended(path)["status"] == "completed"
    assert scored(slow, path) == 12


def test_a_copy_of_the_store_is_enough_to_go_on(slow: HostProcess) -> None:
    """SQLite's own copy, made while a run is judged: a host with it has all scores, and runs what had not ended."""
    path = slow.post(SLOW)
    wait_for_a_score(slow, path)
    kept = slow.root / "artifacts" / "host.sqlite"
    source, copy = sqlite3.connect(kept), sqlite3.connect(slow.root / "copy.sqlite")
    source.backup(copy)
    source.close()
    copy.close()
    slow.kill()
    for file in kept.parent.glob("host.sqlite*"):
        file.unlink()
    (slow.root / "copy.sqlite").rename(kept)
    slow.start()
    assert slow.ended(path)["status"] == "completed"
    assert scored(slow, path) == 12


def test_a_run_is_cancelled(slow: HostProcess) -> None:
    """After the task at hand; it keeps the scores that it has, and has no summary."""
    path = slow.post(SLOW)
    wait_for_a_score(slow, path)
    answer = slow.ask(f"{path}/cancel", {})
    assert (answer.status, answer.body["status"]) == (200, "cancelling")
    assert slow.ended(path)["status"] == "cancelled"
    assert 0 < scored(slow, path) < 12
    assert slow.ask(f"{path}/eval-summary").status == 404
    assert slow.ask(f"{path}/cancel", {}).body["error"] == "run_terminal"


def test_a_store_that_was_locked_for_some_seconds(slow: HostProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers wait for it, and go on."""
    path = slow.post(SLOW)
    connection = sqlite3.connect(slow.root / "artifacts" / "host.sqlite", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    time.sleep(2)
    connection.execute("COMMIT")
    connection.close()
    assert slow.ended(path)["status"] == "completed"


def test_workers_that_are_killed_are_replaced(slow: HostProcess) -> None:
    """Health tells of the moment between."""
    path = slow.post(SLOW)
    wait_for_a_score(slow, path)
    assert slow.process is not None
    children = Path(f"/proc/{slow.process.pid}/task/{slow.process.pid}/children").read_text().split()
    for child in children:
        if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
            os.kill(int(child), signal.SIGKILL)
    assert slow.ended(path)["status"] == "completed"
    health = slow.ask("/health")
    assert (health.status, health.body) == (
        200,
        {"status": "ok", "store": "ok", "workers": 1, "workersWanted": 1},
    )


def test_settings_are_read_anew(slow: HostProcess) -> None:
    """At SIGHUP; what is wrong is logged, and the host goes on as it was."""
    assert slow.process is not None
    file = slow.root / "suite.json"
    suite = json.loads(file.read_text())
    file.write_text("{")
    slow.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert slow.ask("/.well-known/openwop").status == 200
    assert "suites and settings stay as they were" in (slow.root / "host.log").read_text()
    file.write_text(json.dumps({**suite, "version": "2.0.0", "tasks": suite["tasks"][:1]}))
    slow.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert slow.ask("/runs", SLOW).body["details"] == {"field": "evalSuiteRef"}
    path = slow.post({**SLOW, "evalSuiteRef": "local.x.evals.s@2.0.0"})
    assert slow.ended(path)["status"] == "completed"


def test_what_cannot_be_judged_is_an_error(tmp_path: Path) -> None:
    """A task without its recording fails the run; events, snapshot and log have the reason, and nothing has a score of 0."""
    root = host_project(tmp_path)
    (root / "replays" / "pool-hours" / "replay.json").unlink()
    host = HostProcess(root).start()
    try:
        path = host.post()
        run = host.ended(path)
        assert (run["status"], run["error"]["code"]) == ("failed", "task_error")
        reason = {"taskId": "pool-hours", "reasonCode": "adapter.replay_missing"}
        assert run["error"]["details"]["tasks"] == [reason]
        events = host.ask(f"{path}/events/poll").body["events"]
        assert sum(event["type"] == "eval.scored" for event in events) == 4
        assert events[-1]["type"] == "run.failed"
        assert host.ask(f"{path}/eval-summary").status == 404
        log = (root / "host.log").read_text()
        assert f"WARNING run {run['runId'].rpartition('/')[2]}: pool-hours adapter.replay_missing" in log
        assert "adapter.replay_missing" in host.ask(f"/page{path}").text
    finally:
        host.kill()


def test_a_run_leaves_files(
    host: HostProcess, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the command line writes them: the gate takes the run's id; the page links them; deletion removes them."""
    path = host.post()
    run_id = host.ended(path)["runId"].rpartition("/")[2]
    monkeypatch.chdir(host.root)
    for name in (run_id, f"local/{run_id}"):
        assert main(["gate", name]) == 0
    Path("fetched.json").write_text(host.ask(f"{path}/eval-summary").text, encoding="utf-8")
    assert main(["gate", "fetched.json"]) == 2
    captured = capsys.readouterr()
    assert "fetched.json is a file without its run: nothing shows that its scores are right" in captured.err
    assert captured.out.count("5 of 5 tasks passed") == 2
    page = host.ask(f"/page{path}").text
    assert f'href="/page{path}/files/pool-hours.result.json"' in page
    assert host.ask(f"/page{path}/files/pool-hours.result.json").body["status"] == "pass"
    assert host.ask(f"/page{path}/files/..~2Fhost.sqlite").status == 404
    assert host.ask(path, method="DELETE").status == 204
    assert host.ask(path).status == 404
    assert not (host.root / "artifacts" / run_id).exists()


def test_suites_and_agents_of_one_tenant(tmp_path: Path) -> None:
    """To the other one they are as if they were not there."""
    root = host_project(tmp_path, keys=True, suites=[{"path": "suite.json", "tenants": ["acme"]}])
    host = HostProcess(root).start()
    try:
        assert host.ask("/runs", WANTED, key=ACME).status == 201
        unknown = host.ask("/runs", {**WANTED, "evalSuiteRef": "nobody.x.evals.y@1.0.0"}, key=OTHER)
        refused = host.ask("/runs", WANTED, key=OTHER)
        assert (refused.status, refused.text) == (unknown.status, unknown.text)
        assert host.ask("/.well-known/openwop").body["agents"]["evalSuite"]["modes"] == []
    finally:
        host.kill()


def test_a_baseline_is_of_the_same_version(tmp_path: Path) -> None:
    """Another version, another tenant's run and one that does not exist get one answer."""
    root = host_project(tmp_path, keys=True, suites=["suite.json", "second.json"])
    suite = json.loads((root / "suite.json").read_text())
    (root / "second.json").write_text(json.dumps({**suite, "version": "2.0.0"}), encoding="utf-8")
    host = HostProcess(root).start()
    try:
        path = host.post(key=ACME)
        first = host.ended(path, key=ACME)["runId"]
        foreign = host.ended(host.post(key=OTHER), key=OTHER)["runId"]
        second = {**WANTED, "evalSuiteRef": SUITE.replace("1.0.0", "2.0.0")}
        tried = [
            host.ask("/runs", {**wanted, "baselineRunId": baseline}, key=ACME)
            for wanted, baseline in (
                (second, first),
                (WANTED, foreign),
                (WANTED, "acme/" + "0" * 32),
                (WANTED, "x"),
            )
        ]
        assert {answer.status for answer in tried} == {400}
        assert len({answer.text for answer in tried}) == 1
        assert host.ask("/runs", {**WANTED, "baselineRunId": first}, key=ACME).status == 201
        other = host.ended(host.ask("/runs", second, key=ACME).body["statusUrl"], key=ACME)["runId"]
        opaque = other.rpartition("/")[2]
        assert host.ask(f"{path}:diff?against={opaque}", key=ACME).body["details"] == {"field": "against"}
    finally:
        host.kill()


def test_payloads_are_those_of_the_registry(host: HostProcess) -> None:
    """Every event of an agent has the keys that the protocol requires, and no others of ours."""
    required = {
        "agent.invocation-started": {"invocationId", "agentId", "source"},
        "agent.invocation-completed": {"invocationId", "agentId", "outcome"},
        "agent.tool-called": {"agentId", "toolName", "callId"},
        "agent.tool-returned": {"agentId", "toolName", "callId", "status"},
        "agent.decided": {"agentId", "decision"},
        "provider.usage": {"provider", "model", "inputTokens", "outputTokens"},
    }
    path = host.post()
    host.ended(path)
    events = host.ask(f"{path}/events/poll").body["events"]
    for event in events:
        if expected := required.get(event["type"]):
            assert expected <= set(event["payload"]) <= expected | {"costEstimateUsd"}


def test_conformance_seams(guarded: HostProcess) -> None:
    """A probe, a run of the host's choice, a log by type, a workflow that does nothing; caching of what can be done."""
    seam = "/v1/host/sample"
    assert guarded.ask(f"{seam}/test/runs/__probe__/events", key=ACME).body == {"events": []}
    run = guarded.ask(f"{seam}/agents/eval-run", {"modes": ["golden"]}, key=ACME)
    assert run.status == 201
    assert {"runId", "suiteId", "suiteVersion", "taskCount", "passed", "aggregateScore"} <= run.body.keys()
    log = guarded.ask(f"{seam}/test/runs/{run.body['runId']}/events?type=eval.started", key=ACME).body
    assert [event["type"] for event in log["events"]] == ["eval.started"]
    assert guarded.ask("/v1/runs", {"workflowId": "conformance-noop", "inputs": {}}, key=ACME).status == 201
    discovery = guarded.ask("/.well-known/openwop")
    assert (discovery.body["supportedEnvelopes"], discovery.body["schemaVersions"]) == ([], {})
    assert discovery.headers["cache-control"] == "public, max-age=60"


def test_a_suite_whose_inputs_do_not_fit_the_agent(tmp_path: Path) -> None:
    """Is refused; the field names the suite, and nothing of the input is in the answer."""
    agents = {
        AGENT: {
            "replays": "replays",
            "judge": "recorded",
            "model_class": "general",
            "input_schema": "in.json",
        }
    }
    root = host_project(tmp_path, agents=agents)
    (root / "in.json").write_text('{"type": "object"}', encoding="utf-8")
    host = HostProcess(root).start()
    try:
        refused = host.ask("/runs", WANTED)
        assert (refused.status, refused.body["details"]) == (400, {"field": "evalSuiteRef"})
    finally:
        host.kill()


def test_metrics_and_health(guarded: HostProcess) -> None:
    """Health needs no key, metrics do; unknown methods add no names."""
    assert guarded.ask("/health").body["status"] == "ok"
    assert guarded.ask("/metrics").status == 401
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=20) as connection:
        connection.sendall(b"BREW /runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        connection.recv(1000)
    text = guarded.ask("/metrics", key=ACME).text
    assert "agenteval_workers 2.0" in text
    assert 'agenteval_requests_total{method="other"' in text


def test_headers_have_to_come_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that sends a byte now and then, and never a whole request, is closed."""
    import asyncio

    import uvicorn

    from agenteval.serve import wire

    monkeypatch.setattr(wire, "SECONDS_FOR_HEADERS", 0.3)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("no request was whole")

    async def tried() -> bytes:
        server = uvicorn.Server(
            uvicorn.Config(app, port=0, http=wire.TimedProtocol, lifespan="off", log_level="error")
        )
        task = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - it has no event for that
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost:")
        got = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        server.should_exit = True
        await task
        return got

    assert asyncio.run(tried()) == b""


def test_a_store_that_restarts(tmp_path: Path, postgres: Postgres) -> None:
    """Runs that were accepted before and after a restart of Postgres are run, and requests while it is away are told so."""
    host = HostProcess(host_project(tmp_path), store=postgres.url).start()
    try:
        before = host.post()
        postgres.stop()
        away = host.ask("/runs", WANTED)
        assert (away.status, away.body["error"]) == (503, "agenteval.store_unavailable")
        assert host.ask("/health").status == 503
        time.sleep(2)
        postgres.start()
        after = host.post()
        assert [host.ended(path)["status"] for path in (before, after)] == ["completed", "completed"]
        assert host.ask("/health").status == 200
    finally:
        host.kill()
