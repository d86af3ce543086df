"""The calls of the protocol, by its real client and by hand."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openwop_client import CreateAnnotationRequest, CreateRunRequest, OpenwopClient, WopError

from agenteval.cli import main
from hosts import AGENT, KEYS, SUITE, Answer, HostProcess, host_project

WANTED: dict[str, Any] = {"mode": "eval", "evalSuiteRef": SUITE, "agentId": AGENT}
ACME, OTHER = KEYS["acme"], KEYS["other"]


def client_of(host: HostProcess, key: str = "none") -> OpenwopClient:
    return OpenwopClient(base_url=host.url, api_key=key)


def started(client: OpenwopClient, **more: Any) -> str:
    """The id of a run of the example suite, which has ended."""
    run_id: str = client.runs_create(CreateRunRequest(**WANTED, **more)).runId
    while not client.runs_poll_events(run_id, timeout_seconds=10).isTerminal:
        pass
    return run_id


def test_the_client_finds_runs_and_reads(host: HostProcess) -> None:
    """Discovery, a run, its stream, its log, its summary, its place in the list."""
    client = client_of(host)
    said = client.discovery_capabilities()
    record = said.family("agents")
    assert said.preferredVersion == "1.1"
    assert record is not None
    assert record.facets["evalSuite"]["modes"] == ["golden", "rubric", "adversarial", "regression"]
    made = client.runs_create(CreateRunRequest(**WANTED, tags=["night"]))
    told = list(client.runs_events(made.runId, stream_mode="debug"))
    assert [event.sequence for event in told] == list(range(len(told)))
    kinds = [event.type for event in told]
    assert (kinds[:2], kinds[-2:]) == (["run.started", "eval.started"], ["eval.completed", "run.completed"])
    first = kinds[2 : kinds.index("eval.scored") + 1]
    assert first[0] == "agent.invocation-started"
    assert first[-3:] == ["agent.decided", "agent.invocation-completed", "eval.scored"]
    narrow = [event.type for event in client.runs_events(made.runId, stream_mode="updates")]
    assert narrow == [kind for kind in kinds if kind.startswith(("run.", "eval."))]
    rest = client.runs_events(made.runId, stream_mode="debug", last_event_id=str(len(told) - 3))
    assert [event.sequence for event in rest] == [len(told) - 2, len(told) - 1]
    page = client.runs_poll_events(made.runId, after_sequence=0)
    assert (page.isTerminal, page.lastSequence, len(page.events)) == (True, len(told) - 1, len(told) - 1)
    snapshot = client.runs_get(made.runId)
    assert (snapshot.status, snapshot.tags, snapshot.owner.tenant) == ("completed", ["night"], "local")
    summary = client.runs_eval_summary(made.runId)
    assert summary is not None
    assert (summary.passed, summary.taskCount) == (True, 5)
    listed = client.runs_list(limit=1)
    assert listed is not None
    assert listed.runs[0].runId == made.runId


def test_the_summary_is_that_of_the_command_line(
    host: HostProcess, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same scores, to the last digit."""
    monkeypatch.chdir(host.root)
    options = ["--agent-id", AGENT, "--model-class", "general", "--judge", "recorded"]
    modes = ["--modes", "golden,rubric,adversarial"]
    assert main(["run", "suite.json", *options, *modes, "--artifacts-dir", "here", "-q"]) == 0
    capsys.readouterr()
    (summary,) = Path("here").glob("*/eval-summary.json")
    path = host.post()
    host.ended(path)
    assert host.ask(f"{path}/eval-summary").body == json.loads(summary.read_text())


def test_regression(host: HostProcess) -> None:
    """A run beside an earlier one: its score, and where both differ."""
    client = client_of(host)
    before = started(client, evalModes=["golden"])
    after = started(client, evalModes=["golden", "regression"], baselineRunId=before)
    summary = client.runs_eval_summary(after)
    assert summary is not None
    assert summary.regression is not None
    assert (summary.regression.baselineRunId, summary.regression.scoreDelta) == (before, 0.0)
    answer = host.ask(summary.regression.diffRef or "")
    assert (answer.status, answer.body["stateDiff"]) == (200, {})
    whole = started(client)
    difference = client.runs_diff(whole, before)
    assert difference is not None
    assert difference.divergedAtSeq == 1
    assert difference.stateDiff["taskCount"] == {"a": 5, "b": 4}
    with pytest.raises(WopError) as refused:
        client.runs_create(CreateRunRequest(**WANTED, evalModes=["golden"], baselineRunId=before))
    assert refused.value.envelope is not None
    assert refused.value.envelope.details == {"field": "baselineRunId"}


def test_annotations(host: HostProcess) -> None:
    """A person's word stands beside the scores, and changes none."""
    client = client_of(host)
    run_id = started(client)
    event = next(e for e in client.runs_poll_events(run_id).events if e.type == "eval.scored")
    asked = CreateAnnotationRequest(
        signal={"kind": "correction", "score": 0}, target={"eventId": event.eventId}, note="not my pool"
    )
    made = client.create_annotation(run_id, asked)
    assert made.target["eventId"] == event.eventId
    found = client.list_annotations(run_id)
    assert found is not None
    assert [(each.signal, each.note) for each in found] == [
        ({"kind": "correction", "score": 0}, "not my pool")
    ]
    summary = client.runs_eval_summary(run_id)
    assert summary is not None
    assert summary.aggregateScore == 1
    with pytest.raises(WopError):
        client.create_annotation(
            run_id, CreateAnnotationRequest(signal={"kind": "flag"}, target={"eventId": f"{run_id}.900"})
        )


def test_version_1(host: HostProcess) -> None:
    """The same run under /v1: opaque ids, dotted names, its own keys of a log."""
    asked = {**WANTED, "configurable": {"evalModes": ["golden"]}}
    for wrong in ({**WANTED, "evalModes": ["golden"]}, {**asked, "evalModes": ["golden"]}):
        assert host.ask("/v1/runs", wrong).body["details"] == {"field": "evalModes"}
    answer = host.ask("/v1/runs", asked)
    assert (answer.status, answer.headers["openwop-version"]) == (201, "1.1")
    run_id = answer.body["runId"]
    assert "/" not in run_id
    host.ended(f"/v1/runs/{run_id}")
    page = host.ask(f"/v1/runs/{run_id}/events/poll?lastSequence=1").body
    assert page["isComplete"]
    assert {"agent.invocation.started", "agent.toolCalled"} <= {each["type"] for each in page["events"]}
    assert host.ask(f"/v1/runs/{run_id}/eval-summary").body["taskCount"] == 4
    assert host.ask(f"/runs/local~2F{run_id}").body["runId"] == f"local/{run_id}"
    assert host.ask(f"/runs/local%2F{run_id}").body["runId"] == f"local/{run_id}"
    assert host.ask("/.well-known/openwop").body["agents"]["evalSuite"]["supported"] is True


@pytest.mark.parametrize(
    ("path", "version", "status", "code"),
    [
        ("/.well-known/openwop", "3.0", 406, "protocol_version_unsupported"),
        ("/.well-known/openwop", "two", 406, "protocol_version_unsupported"),
        ("/v1/runs", "2.0", 400, "protocol_version_mismatch"),
        ("/runs", "1.1", 400, "protocol_version_mismatch"),
        ("/runs", "9.9", 406, "protocol_version_unsupported"),
    ],
)
def test_versions(host: HostProcess, path: str, version: str, status: int, code: str) -> None:
    """One that is not spoken, and one that is spoken elsewhere."""
    answer = host.ask(path, OpenWOP_Version=version)
    assert (answer.status, answer.body["error"]) == (status, code)
    if status == 406:
        assert answer.body["details"] == {"protocolVersions": ["1.1", "2.46"]}


def test_a_version_without_its_minor(host: HostProcess) -> None:
    """Means the same as with one."""
    alike = {
        host.ask("/.well-known/openwop", OpenWOP_Version=version).text for version in ("2", "2.0", "2.46")
    }
    assert len(alike) == 1
    assert host.ask("/v1/runs", OpenWOP_Version="1").status == 200


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"evalSuiteRef": "nobody.evals.none@1.0.0"}, 400, "evalSuiteRef"),
        ({"agentId": "nobody"}, 400, "agentId"),
        ({"agentId": None}, 400, "agentId"),
        ({"evalSuiteRef": None}, 400, "evalSuiteRef"),
        ({"evalModes": ["live-shadow"]}, 400, "evalModes"),
        ({"evalModes": ["fast"]}, 400, "evalModes.0"),
        ({"evalModes": []}, 400, "evalModes"),
        ({"evalModes": ["regression"]}, 400, "baselineRunId"),
        ({"baselineRunId": "0123456789abcdef0123"}, 400, "baselineRunId"),
        ({"colour": "green"}, 400, "colour"),
        ({"mode": None}, 400, "mode"),
        ({"mode": "train"}, 422, None),
        ({"workflowId": "conformance-noop", "mode": None}, 422, None),
        ({"configurable": {"evalModes": ["golden"]}}, 400, "configurable"),
    ],
)
def test_what_is_not_taken_on(
    host: HostProcess, change: dict[str, Any], status: int, field: str | None
) -> None:
    """A closed body; the answer names the field."""
    body = {name: value for name, value in {**WANTED, **change}.items() if value is not None}
    answer = host.ask("/runs", body)
    assert (answer.status, answer.body.get("details", {}).get("field")) == (status, field)
    if status == 422:
        assert answer.body["error"] == "capability_not_provided"
        asked = host.ask("/v1/runs", {key: body[key] for key in body if key != "evalModes"})
        assert asked.status == 501


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/runs", b"{bad", 400),
        ("/runs", b"\xff\xfe", 400),
        ("/runs", b"[" * 5000, 400),
        ("/runs", b'{"mode": NaN}', 400),
        ("/runs", b"[]", 400),
        ("/runs", b"", 400),
        ("/nowhere", None, 404),
        ("/runs/none", None, 404),
        ("/runs/none/events", None, 404),
        ("/runs?status=lost", None, 400),
        ("/runs?cursor=x1", None, 400),
        ("/runs/" + "a" * 32 + "/eval-summary", None, 404),
    ],
)
def test_errors_have_one_shape(host: HostProcess, path: str, body: bytes | None, status: int) -> None:
    """Whatever is wrong with a request."""
    answer = host.ask(path, body)
    assert answer.status == status
    assert {"error", "message"} <= set(answer.body) <= {"error", "message", "details"}
    for prefix in ("", "/v1"):
        refused = host.ask(f"{prefix}/runs", method="DELETE")
        assert refused.body["error"] == "agenteval.method_not_allowed"
        assert refused.headers["allow"] == "GET, POST"


def test_a_mode_of_a_stream(host: HostProcess) -> None:
    """One that is not offered is refused before the stream begins."""
    path = host.post()
    for mode in ("values", "updates,values", "", "updates,,debug"):
        answer = host.ask(f"{path}/events?streamMode={mode}", Accept="application/json")
        assert (answer.status, answer.body["error"]) == (400, "unsupported_stream_mode")
        assert answer.body["details"] == {"supported": ["updates", "debug"]}


def test_a_tag_spares_the_answer(host: HostProcess) -> None:
    """Of a snapshot, and of what the host can do."""
    path = host.post()
    host.ended(path)
    for each in (path, "/.well-known/openwop"):
        tag = host.ask(each).headers["etag"]
        assert host.ask(each, If_None_Match=tag).status == 304


def test_repeated_requests(host: HostProcess) -> None:
    """One run for one key; another body is refused, and refusals are not kept."""
    key = "k" * 22
    one, two = (host.ask("/runs", WANTED, Idempotency_Key=key) for _ in range(2))
    assert (one.body, two.headers.get("openwop-idempotent-replay")) == (two.body, "true")
    assert "openwop-idempotent-replay" not in one.headers
    other = host.ask("/runs", {**WANTED, "tags": ["x"]}, Idempotency_Key=key)
    assert (other.status, other.body["error"]) == (409, "idempotency_key_mismatch")
    assert host.ask("/runs", WANTED, Idempotency_Key="short").body["error"] == "idempotency_key_invalid"
    key = "n" * 22
    assert host.ask("/runs", {**WANTED, "agentId": "nobody"}, Idempotency_Key=key).status == 400
    assert host.ask("/runs", WANTED, Idempotency_Key=key).status == 201
    key, answers = "t" * 22, []

    def ask() -> None:
        answers.append(host.ask("/runs", WANTED, Idempotency_Key=key).body["runId"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(answers)) == 1


def test_tenants(guarded: HostProcess) -> None:
    """A key first; then nobody sees anything of another tenant."""
    answer = guarded.ask("/runs", WANTED)
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert guarded.ask("/runs/" + "a" * 32, key="guess").body["error"] == "unauthenticated"
    path = guarded.post(key=ACME)
    opaque = path.rpartition("~2F")[2]
    guarded.ended(path, key=ACME)
    for suffix in ("", "/eval-summary", "/events/poll", "/events", "/annotations", f":diff?against={opaque}"):
        theirs = guarded.ask(path + suffix, key=OTHER)
        assert (theirs.status, theirs.body["error"]) == (403, "id_tenant_mismatch"), suffix
        assert guarded.ask(f"/runs/other~2F{opaque}{suffix}", key=OTHER).status == 404, suffix
        assert guarded.ask(f"/v1/runs/{opaque}{suffix}", key=OTHER).status == 404, suffix
    assert guarded.ask("/runs", key=OTHER).body["runs"] == []
    body = {**WANTED, "evalModes": ["golden", "regression"], "baselineRunId": f"other/{opaque}"}
    assert guarded.ask("/runs", body, key=OTHER).body["details"] == {"field": "baselineRunId"}
    key = "s" * 22
    mine, hers = (guarded.ask("/runs", WANTED, key=k, Idempotency_Key=key) for k in (ACME, OTHER))
    assert mine.body["runId"] != hers.body["runId"]


def test_conformance(guarded: HostProcess, host: HostProcess) -> None:
    """The seams of the public scenarios, which exist only when they are asked for."""
    for prefix in ("/v1/host/sample", "/conformance/seams/sample"):
        made = guarded.ask(f"{prefix}/agents/eval-run", {"evalSuiteRef": SUITE, "agentId": AGENT}, key=OTHER)
        assert (made.status, made.body["summary"]["passed"]) == (201, True)
        run_id = made.body["runId"].replace("/", "~2F")
        log = guarded.ask(f"{prefix}/test/runs/{run_id}/events", key=OTHER).body["events"]
        assert log[-1]["type"] == "run.completed"
        assert host.ask(f"{prefix}/test/reset", b"", method="POST").status == 404
        assert guarded.ask(f"{prefix}/test/reset", b"", method="POST", key=OTHER).status == 204
        assert guarded.ask("/runs", key=OTHER).body["runs"] == []
    noop = guarded.ask("/runs", {"workflowId": "conformance-noop"}, key=OTHER).body
    assert guarded.ended(noop["statusUrl"], key=OTHER)["status"] == "completed"


def noop(host: HostProcess, **more: Any) -> Answer:
    """Ask a conformance host for the run that does nothing."""
    return host.ask("/runs", {"workflowId": "conformance-noop", **more}, key=ACME)


def test_discovery_of_what_a_host_has(guarded: HostProcess, host: HostProcess) -> None:
    """The workflow for conformance tests is named where it can be run; the list of runs has its limits; logs are no legacy."""
    for version in ("1.1", "2.46"):
        known = guarded.ask("/.well-known/openwop", OpenWOP_Version=version).body
        assert (known["fixtures"], known["eventLogSchemaVersion"]) == (["conformance-noop"], 3)
        assert "fixtures" not in host.ask("/.well-known/openwop", OpenWOP_Version=version).body
    assert known["runList"] | {"maxPageSize": 200, "filters": ["status", "workflowId"]} == known["runList"]
    assert guarded.ended(noop(guarded).body["statusUrl"], key=ACME)["eventLogSchemaVersion"] == 3


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tags", ["t"] * 101),
        ("tags", ["t" * 257]),
        ("tags", [""]),
        ("tags", ["\ud800"]),
        ("metadata", {"a": "\0"}),
        ("metadata", {"\ud800": 1}),
        ("metadata", {"a": [{"b": "\udfff"}]}),
        ("metadata", {"a": float("nan")}),
        ("metadata", {"a": float("inf")}),
        ("metadata", {"a": 2**63}),
        ("configurable", {}),
        ("configurable", {"version": 2}),
        ("configurable", {"version": True}),
        ("configurable", {"version": 1, "ai": {"ai.provider": "x"}}),
        ("configurable", {"version": 1, "evalModes": ["golden"]}),
        ("unknown", 1),
    ],
)
def test_options_of_a_run_that_are_refused(guarded: HostProcess, field: str, value: Any) -> None:
    """What is too much, what no answer could hold, and what stands where the protocol has nothing."""
    answer = noop(guarded, **{field: value})
    assert (answer.status, answer.body["error"]) == (400, "validation_error")
    assert answer.body["details"]["field"].startswith(field)


def test_options_of_a_run_come_back_unchanged(guarded: HostProcess) -> None:
    """Tags of any form, and metadata of any shape but one that is nested without end."""
    tags = ["has space", "☂", "a/b:c|", "x" * 256, *map(str, range(96))]
    metadata = {"nested": {"a": 1, "b": [1, "2", None, True]}, "s": "∞", "": -(2**62), "line": "1\n2\t3"}
    made = noop(guarded, tags=tags, metadata=metadata, configurable={"version": 1})
    assert made.status == 201
    run = guarded.ask(made.body["statusUrl"], key=ACME).body
    assert (run["tags"], run["metadata"]) == (tags, metadata)
    for levels in (40, 5000):
        deep = b'{"workflowId": "conformance-noop", "metadata": {"a": %s}}' % (b"[" * levels + b"]" * levels)
        assert guarded.ask("/runs", deep, key=ACME).body["error"] == "validation_error"


def frames(text: str) -> list[tuple[str, Any]]:
    """The name and the data of each event of a stream."""
    parts = [
        dict(line.split(": ", 1) for line in part.splitlines()) for part in text.split("\r\n\r\n") if part
    ]
    return [(part["event"], json.loads(part["data"])) for part in parts if "event" in part]


def test_events_come_in_batches_when_asked(guarded: HostProcess) -> None:
    """All events, in their order; the last batch at the end of the run, before its time is over."""
    path = guarded.post(key=ACME)
    clock = time.monotonic()
    batched = frames(guarded.ask(f"{path}/events?streamMode=debug&bufferMs=5000", key=ACME).text)
    assert time.monotonic() - clock < 4
    alone = frames(guarded.ask(f"{path}/events?streamMode=debug&bufferMs=0", key=ACME).text)
    assert {name for name, _ in batched} == {"batch"}
    assert [event for _, batch in batched for event in batch] == [event for _, event in alone]
    for wrong in ("-1", "5001", "x"):
        answer = guarded.ask(f"{path}/events?bufferMs={wrong}", key=ACME)
        assert (answer.status, answer.body["details"]) == (400, {"field": "bufferMs"})


def test_a_cursor_past_the_end_gets_nothing(guarded: HostProcess) -> None:
    """However large its number; what is no number is refused, and another tenant's run looks as it does without one."""
    path = noop(guarded).body["statusUrl"]
    guarded.ended(path, key=ACME)
    for number in ("1000", str(2**63), "9" * 300):
        answer = guarded.ask(f"{path}/events", key=ACME, Last_Event_ID=number)
        assert (answer.status, frames(answer.text)) == (200, [])
    for wrong in ("abc", "-1", "1.5", "٣".encode().decode("latin-1")):
        answer = guarded.ask(f"{path}/events", key=ACME, Last_Event_ID=wrong)
        assert (answer.status, answer.body["error"]) == (400, "validation_error")
    theirs = {guarded.ask(f"{path}/events", key=OTHER, **more).text for more in ({}, {"Last_Event_ID": "0"})}
    assert len(theirs) == 1


def test_a_run_that_has_ended_is_not_cancelled(guarded: HostProcess) -> None:
    """Each major has its word for that."""
    path = noop(guarded).body["statusUrl"]
    guarded.ended(path, key=ACME)
    opaque = path.rpartition("~2F")[2]
    for before, code in (("/v1/runs/", "run_state_conflict"), ("/runs/acme~2F", "run_terminal")):
        answer = guarded.ask(f"{before}{opaque}/cancel", {}, key=ACME)
        assert (answer.status, answer.body["error"]) == (409, code)


def test_large_requests_and_halves(guarded: HostProcess) -> None:
    """The next request of the same connection is answered as if nothing had been."""
    assert guarded.ask("/runs", b"x" * 10_000_000, key=ACME).status == 413
    assert guarded.ask("/runs", {**WANTED, "tags": ["x" * 30_000]}, key=ACME).status == 413
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=20) as connection:
        refused = b"POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n" + b'{"mode":"eval"}'
        asked = b"GET /.well-known/openwop HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        connection.sendall(refused + asked)
        got = b""
        while part := connection.recv(65536):
            got += part
    assert got.count(b"HTTP/1.1 401") == 1
    assert got.count(b"HTTP/1.1 200") == 1
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=20) as connection:
        connection.sendall(b"POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n{")
        assert guarded.ask("/.well-known/openwop").status == 200
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=20) as connection:
        connection.sendall(b"\x00\xff garbage \r\n\r\n")
        assert b"400" in connection.recv(1000)


def test_a_host_without_keys_answers_only_as_localhost(host: HostProcess) -> None:
    """A page of the web could name this machine as its own address."""
    assert host.ask("/runs", Host="evil.example").body["error"] == "forbidden"
    assert host.ask("/runs", json.dumps(WANTED).encode(), Content_Type="text/plain").status == 400


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[HostProcess]:
    """A host whose recordings and suite hold words that must stay inside."""
    root = host_project(tmp_path, keys=True)
    for file in [root / "suite.json", *root.glob("replays/*/*.json")]:
        text = file.read_text(encoding="utf-8")
        for word in (
            '"criterion": "',
            '"content": "',
            '"query": "',
            '"result": "',
            '"input": "',
            '"reason": "',
        ):
            text = text.replace(word, f"{word}XYZZY ")
        file.write_text(text, encoding="utf-8")
    started = HostProcess(root).start()
    yield started
    started.kill()


def test_nothing_of_any_text_is_told(marked: HostProcess) -> None:
    """In no answer, no table, no log."""
    path = marked.post(key=ACME)
    marked.ended(path, key=ACME)
    other = marked.post(key=ACME)
    marked.ended(other, key=ACME)
    opaque = other.rpartition("/")[2]
    answers = [
        marked.ask(each, key=ACME).text
        for each in (
            "/runs",
            path,
            f"{path}/events?streamMode=debug",
            f"{path}/events/poll",
            f"{path}/eval-summary",
            f"{path}:diff?against={opaque}",
            "/page/" + path.lstrip("/"),
        )
    ]
    assert all(answers)
    marked.stop()
    kept = b"".join(file.read_bytes() for file in marked.root.glob("artifacts/host.sqlite*"))
    log = (marked.root / "host.log").read_text()
    assert kept
    assert not any("XYZZY" in each for each in [*answers, kept.decode("latin-1"), log])
    assert ACME not in kept.decode("latin-1") + log


def test_a_stream_that_nobody_reads_holds_nobody_up(host: HostProcess) -> None:
    """Fifty of them, while runs come and go."""
    path = host.post()
    streams = []
    for _ in range(50):
        stream = socket.create_connection(("127.0.0.1", host.port), timeout=20)
        stream.sendall(f"GET {path}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        streams.append(stream)
    clock = time.monotonic()
    assert host.ended(host.post())["status"] == "completed"
    assert time.monotonic() - clock < 30
    for stream in streams:
        stream.close()
