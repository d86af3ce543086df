"""The proxy bounds all that it takes in, and remembers what it did not give."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agenteval.live import proxy as proxies
from agenteval.live.fixtures import Fixtures
from agenteval.live.model import scripted
from agenteval.live.proxy import Proxy
from agenteval.loading.config import LiveConfig
from live_projects import LiveProject, needs_sandbox

ASKED = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Go"}]}).encode()


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy with small bounds."""
    for name, value in {"MOST_BODY_BYTES": 5000, "MOST_HELD_BYTES": 12_000, "MOST_KEPT_BYTES": 9000}.items():
        monkeypatch.setattr(proxies, name, value)
    monkeypatch.setattr(proxies, "MOST_KEPT", 20)
    monkeypatch.setattr(proxies, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(proxies, "_DISCARD_SECONDS", 0.5)
    with Proxy(
        socket=tmp_path / "proxy.sock",
        model=scripted(["Done."] * 50),
        fixtures=Fixtures(runs=["*"]),
        config=LiveConfig(),
        known=dict,
        skills=frozenset(),
        redact=str,
        show_activity=lambda _: None,
    ) as made:
        yield made


def connected(proxy: Proxy) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(5)
    made.connect(str(proxy.socket))
    return made


def sent(proxy: Proxy, *pieces: bytes) -> bytes:
    """All that is answered to bytes, until the proxy closes the connection or has nothing more to say."""
    with connected(proxy) as made:
        for piece in pieces:
            made.sendall(piece)
        made.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := made.recv(65536):
            answer += piece
    return answer


def statuses(answer: bytes) -> list[int]:
    return [int(part.split(b" ", 1)[0]) for part in answer.split(b"HTTP/1.1 ")[1:]]


def posted(path: str, body: bytes, *headers: str) -> bytes:
    """A request, whose length is told unless a header tells it."""
    told = [f"POST {path} HTTP/1.1", "Host: x", *headers]
    if not any(each.lower().startswith(("content-length", "transfer-encoding")) for each in headers):
        told.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*told, "", ""]).encode() + body


CHUNKED = "Transfer-Encoding: chunked"
MODEL = "/v1/messages"
TAKEN = {
    "whole": (posted(MODEL, ASKED), [200]),
    "in chunks": (posted(MODEL, b"%x;ext=1\r\n%b\r\n0\r\nX: y\r\n\r\n" % (len(ASKED), ASKED), CHUNKED), [200]),
    "two at once": (posted(MODEL, ASKED) * 2, [200, 200]),
    "a length below zero": (posted(MODEL, b"x" * 9999, "Content-Length: -1"), [400]),
    "a length with a plus": (posted(MODEL, b"x" * 9, "Content-Length: +9"), [400]),
    "a length in other digits": (posted(MODEL, b"x" * 9, "Content-Length: \u0669"), [400]),
    "two lengths": (posted(MODEL, ASKED, f"Content-Length: {len(ASKED)}", "Content-Length: 5"), [400]),
    "a length of many digits": (posted(MODEL, b"x", "Content-Length: " + "9" * 5000), [413]),
    "too long": (posted(MODEL, b"x" * 5001), [413]),
    "shorter than its length": (posted(MODEL, b"x", "Content-Length: 50"), [400]),
    "a length and chunks": (posted(MODEL, ASKED, CHUNKED, "Content-Length: 5"), [400]),
    "another coding": (posted(MODEL, b"", "Transfer-Encoding: gzip, chunked"), [501]),
    "a chunk below zero": (posted(MODEL, b"-1\r\n" + b"x" * 9999, CHUNKED), [400]),
    "a chunk with an underscore": (posted(MODEL, b"1_0\r\n" + b"x" * 16, CHUNKED), [400]),
    "a chunk of no size": (posted(MODEL, b"\r\n" * 9, CHUNKED), [400]),
    "a chunk of many digits": (posted(MODEL, b"0" * 900 + b"1\r\nx\r\n0\r\n\r\n", CHUNKED), [400]),
    "a chunk that is too long": (posted(MODEL, b"fffff\r\nx", CHUNKED), [413]),
    "chunks that are too long": (posted(MODEL, (b"3e8\r\n" + b"x" * 1000 + b"\r\n") * 6, CHUNKED), [413]),
    "a chunk longer than its size": (posted(MODEL, b"1\r\nxyz\r\n0\r\n\r\n", CHUNKED), [400]),
    "trailers without end": (posted(MODEL, b"0\r\n" + b"X: y\r\n" * 50, CHUNKED), [431]),
    "many headers": (posted(MODEL, ASKED, *[f"X-{n}: y" for n in range(200)]), [431]),
    "a long header": (posted(MODEL, ASKED, "X: " + "y" * 70_000), [431]),
    "a long path": (posted("/" + "x" * 70_000, b""), [414]),
    "compressed": (posted(MODEL, gzip.compress(ASKED), "Content-Encoding: gzip"), [415]),
    "deep": (posted(MODEL, b"[" * 4000), [400]),
    "no object": (posted(MODEL, b"[]"), [400]),
    "tools that are none": (posted(MODEL, b'{"messages": [], "tools": 5}'), [400]),
    "a web socket": (b"GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", [404]),
    "a tunnel": (b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", [404]),
}  # fmt: skip


@pytest.mark.parametrize("what", TAKEN)
def test_what_is_no_plain_request_is_refused(proxy: Proxy, what: str) -> None:
    """With its status, and nothing of its body is taken for the next request; the proxy goes on."""
    request, expected = TAKEN[what]
    assert statuses(sent(proxy, request)) == expected
    assert statuses(sent(proxy, posted(MODEL, ASKED))) == [200]


def test_a_slow_body_is_not_waited_for(proxy: Proxy) -> None:
    """Neither one that stops, nor one that goes on byte by byte."""
    with connected(proxy) as stopping, connected(proxy) as dripping:
        for each in (stopping, dripping):
            each.sendall(posted(MODEL, b"x", "Content-Length: 4000"))
        for _ in range(10):
            dripping.sendall(b"x")
            time.sleep(0.05)
        assert statuses(stopping.recv(1000)) == statuses(dripping.recv(1000)) == [408]


def test_bodies_on_many_connections_are_bounded_together(proxy: Proxy) -> None:
    """What was held is free again when its connection is closed."""
    with ExitStack() as stack:
        made = [stack.enter_context(connected(proxy)) for _ in range(4)]
        for each in made[:3]:
            each.sendall(posted(MODEL, b"x" * 3990, "Content-Length: 4000"))
        time.sleep(0.1)
        made[3].sendall(posted(MODEL, b"x" * 4000))
        assert statuses(made[3].recv(1000)) == [503]
    time.sleep(0.2)
    assert statuses(sent(proxy, posted(MODEL, ASKED))) == [200]


def test_connections_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: Proxy) -> None:
    """One more than there may be is refused at once."""
    monkeypatch.setattr(proxies, "MOST_CONNECTIONS", 3)
    proxy.__exit__()
    with proxy, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connected(proxy))
        time.sleep(0.2)
        assert statuses(sent(proxy)) == [503]


KEPT = {
    "large exports": ("/v1/traces", b"x" * 4000, 3),
    "many exports": ("/v1/logs", b"x", 21),
    "an export that is too large": ("/v1/traces", b"x" * 5001, 1),
    "calls of the hook": ("/agenteval/hook", json.dumps({"tool_use_id": "x" * 4000}).encode(), 3),
}


@pytest.mark.parametrize("what", KEPT)
def test_what_is_kept_over_a_run_is_bounded(proxy: Proxy, what: str) -> None:
    """The run is worth no verdict then: what is left of it is not whole."""
    path, body, number = KEPT[what]
    found = [statuses(sent(proxy, posted(path, body)))[0] for _ in range(number + 2)]
    assert found == [200] * (number - 1) + [413] * 3
    assert [each.reason_code for each in proxy.fixtures.trouble] == ["live.over_limits"]
    assert sum(len(content) for _, _, content in proxy.spans) <= proxies.MOST_KEPT_BYTES
    assert statuses(sent(proxy, posted("/v1/metrics", b"x" * 4000))) == [200]


def test_what_was_refused_is_remembered_once(proxy: Proxy) -> None:
    """By method and path; not what the Claude CLI asks in the background, nor that something is there."""
    for path in ("/v1/embeddings?key=1", "/v1/embeddings", "/v1/mod\x7frations", "/api/embeddings"):
        assert statuses(sent(proxy, posted(path, b"{}"))) == [404]
    for path in ("/api/event_logging/v2/batch", "/api/claude_code/settings", "/mcp-registry/v0/servers"):
        assert statuses(sent(proxy, posted(path, b"{}"))) == [404]
    for agent in ("claude-cli/2.1 (external)", "own"):
        listing = f"GET /v1/models HTTP/1.1\r\nHost: x\r\nUser-Agent: {agent}\r\n\r\n".encode()
        assert statuses(sent(proxy, listing)) == [404]
    assert statuses(sent(proxy, b"HEAD /api/hello HTTP/1.1\r\nHost: x\r\n\r\n")) == [200]
    for number in range(50):
        sent(proxy, posted(f"/{number}" + "y" * 900, b""))
    first = ["POST /v1/embeddings", "'POST /v1/mod\\x7frations'", "POST /api/embeddings", "GET /v1/models"]
    refused = list(proxy.accounts.refused)
    assert refused[:4] == first
    assert len(refused) == proxies.MOST_REFUSED
    assert max(map(len, refused)) <= 200


ASKS_MORE = """\
import json, os, sys, urllib.request
def ask(path, body):
    sent = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + path, json.dumps(body).encode())
    return json.load(urllib.request.urlopen(sent))
for _ in range(3):
    try:
        ask("/v1/embeddings", {"model": "e", "input": "order 42"})
    except OSError:
        pass
print(ask("/v1/messages", {"model": "m", "messages": [{"role": "user", "content": "go"}]})["content"][0]["text"])
"""
SENDS_MUCH = """\
import os, socket
from pathlib import Path
exec(Path("asks.py").read_text())
for start in (b"Content-Length: -1\\r\\n\\r\\n", b"Transfer-Encoding: chunked\\r\\n\\r\\n-1\\r\\n"):
    with socket.create_connection(("127.0.0.1", 8089)) as away:
        try:
            away.sendall(b"POST /v1/traces HTTP/1.1\\r\\nHost: x\\r\\n" + start)
            for _ in range(100):
                away.sendall(b"x" * 1_000_000)
        except OSError:
            pass
"""
DONE = [{"id": "done", "type": "output_contains", "params": {"any_of": ["Done"]}}]


@needs_sandbox
def test_a_refused_request_is_a_warning_of_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agent that goes on without its search is judged, and the result says what it went without."""
    monkeypatch.chdir(tmp_path)
    project = LiveProject(tmp_path, monkeypatch, words=())
    project.write("agent.py", ASKS_MORE)
    project.write("evals/order/turns.yaml", "[Done.]")
    project.track()
    project.test(assertions=DONE, live={"script": "turns.yaml"})
    run = project.live()
    warning = "the agent asked for POST /v1/embeddings, and did not get it: nothing but the model can be reached from here"
    assert (run.exit_code, run.only_result()["warnings"][1:]) == (
        0,
        [warning],
    )  # the first: the agent asked no model
    assert " ".join(warning.split()[:9]) in capsys.readouterr().out


@needs_sandbox
def test_what_is_sent_without_end_takes_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """200 MB are thrown away."""
    monkeypatch.chdir(tmp_path)
    project = LiveProject(tmp_path, monkeypatch, words=())
    project.write("agent.py", SENDS_MUCH)
    project.write("asks.py", ASKS_MORE)
    project.write("evals/order/turns.yaml", "[Done.]")
    project.track()
    project.test(assertions=DONE, live={"script": "turns.yaml"})
    grown: list[Any] = []
    ended = threading.Event()

    def watch() -> None:
        before = resident()
        while not ended.wait(0.01):
            grown.append(resident() - before)

    watching = threading.Thread(target=watch)
    watching.start()
    assert project.live("-n", "1").exit_code == 0
    ended.set()
    watching.join()
    assert max(grown) < 60 * 2**20


def resident() -> int:
    """The bytes of memory that this process has in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
