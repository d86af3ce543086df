"""The service of the real model: the key that it is sent, and the error where it is not there."""

import json
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.errors import AdapterError
from agenteval.live import model as models
from agenteval.live.model import Key, ModelRequest, is_loopback, key_of, real
from agenteval.loading.config import LiveModel
from live_projects import LOOKED_UP, LiveProject, needs_sandbox, service

LOCAL, ABROAD = "http://127.0.0.1:8080", "https://models.example"
KEY, TOKEN, SUBSCRIPTION = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
ALL = {KEY: "k", TOKEN: "t", SUBSCRIPTION: "s", "OPENAI_API_KEY": "o"}
OF_TOKEN, OF_SUBSCRIPTION = Key(value="t", bearer=True), Key(value="s", bearer=True, subscription=True)
KEYS: dict[str, tuple[dict[str, Any], Mapping[str, str], Key | None]] = {
    "a key first": ({}, ALL, Key(value="k")),
    "a subscription next": ({}, {**ALL, KEY: ""}, OF_SUBSCRIPTION),
    "a token last": ({}, {TOKEN: "t"}, OF_TOKEN),
    "OpenAI's to OpenAI": ({"base_url": "https://api.openai.com"}, ALL, Key(value="o")),
    "no subscription to others": ({"base_url": ABROAD}, {SUBSCRIPTION: "s", TOKEN: "t"}, OF_TOKEN),
    "the named one": ({"key_env": TOKEN}, ALL, OF_TOKEN),
    "the named one, to others": ({"base_url": ABROAD, "key_env": SUBSCRIPTION}, ALL, OF_SUBSCRIPTION),
    "a token by a name of one's own": ({"key_env": "MY_AUTH_TOKEN"}, {"MY_AUTH_TOKEN": " t\n"}, OF_TOKEN),
    "a key by a name of one's own": ({"key_env": "MINE"}, {"MINE": "k"}, Key(value="k")),
    "a token under a key's name": (
        {},
        {KEY: "sk-ant-oat01-x"},
        Key(value="sk-ant-oat01-x", bearer=True, subscription=True),
    ),
    "as configured": ({"auth": "bearer"}, {KEY: "k"}, Key(value="k", bearer=True)),
    "as configured, a token": ({"auth": "key"}, {TOKEN: "t"}, Key(value="t")),
    "none for a service of this machine": ({"base_url": LOCAL}, {}, None),
    "one for a service of this machine": ({"base_url": LOCAL}, {SUBSCRIPTION: "s"}, OF_SUBSCRIPTION),
    "none as configured": ({"base_url": ABROAD, "key_env": None}, ALL, None),
}


@pytest.mark.parametrize("what", KEYS)
def test_the_key_of_a_service(what: str) -> None:
    """The first known variable that is set, or the named one; its name tells a key from a token."""
    setting, environment, expected = KEYS[what]
    assert key_of(LiveModel(**setting), environment) == expected


@pytest.mark.parametrize(
    ("setting", "missing"),
    [
        ({}, f"none of {KEY}, {SUBSCRIPTION}, {TOKEN}"),
        ({"base_url": ABROAD}, f"none of {KEY}, {TOKEN}"),
        ({"base_url": "https://api.openai.com/v1"}, "no OPENAI_API_KEY"),
        ({"base_url": LOCAL, "key_env": "MINE"}, "no MINE"),
    ],
    ids=str,
)
def test_a_missing_key_is_an_error_that_names_all_variables(setting: dict[str, Any], missing: str) -> None:
    """A variable that the configuration names is needed, be the service on this machine."""
    with pytest.raises(AdapterError) as error:
        key_of(LiveModel(**setting), {"UNKNOWN": "x"})
    assert error.value.reason_code == "live.no_key"
    assert error.value.message == f"the environment has {missing}, so the real model cannot be asked"


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        *[(f"http://{host}:1", True) for host in ("localhost", "LOCALHOST", "a.localhost", "127.9.9.9", "[::1]", "0.0.0.0")],
        *[(f"http://{host}/v1", False) for host in ("10.0.0.1", "localhost.example", "127.0.0.1.example", "[::2]", "example")],
        ("127.0.0.1:8080", False),
        ("http://[::1", False),
    ],
)  # fmt: skip
def test_addresses_of_this_machine(url: str, is_here: bool) -> None:
    """No other address goes without a key."""
    assert is_loopback(url) is is_here


def asked(url: str, key: Key | None, path: str = "/v1/messages", **headers: str) -> models.ModelAnswer:
    """The answer to one request."""
    api = "messages" if path == "/v1/messages" else "chat completions"
    body = {"model": "m", "messages": []}
    return real(url, key)(
        ModelRequest(api=api, path=path, body=body, headers={"x-api-key": "dummy", **headers}, parts=[], client="")
    )  # fmt: skip


SENT: dict[str, tuple[Key | None, str, dict[str, str], dict[str, str | None]]] = {
    "a key": (Key(value="k"), "/v1/messages", {}, {"x-api-key": "k", "authorization": None}),
    "a token": (OF_TOKEN, "/v1/messages", {}, {"x-api-key": None, "authorization": "Bearer t", "anthropic-beta": None}),
    "a subscription's, beside the agent's betas": (
        OF_SUBSCRIPTION,
        "/v1/messages",
        {"anthropic-beta": "one, oauth-2025-04-20"},
        {"x-api-key": None, "authorization": "Bearer s", "anthropic-beta": "one,oauth-2025-04-20"},
    ),
    "a subscription's, without betas": (OF_SUBSCRIPTION, "/v1/messages", {}, {"anthropic-beta": "oauth-2025-04-20"}),
    "chat completions": (Key(value="k"), "/v1/chat/completions", {}, {"x-api-key": None, "authorization": "Bearer k"}),
    "no key": (None, "/v1/messages", {}, {"x-api-key": None, "authorization": None}),
}  # fmt: skip


@pytest.mark.parametrize("what", SENT)
def test_headers_that_a_service_is_sent(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never the stand-in of the sandbox; a proxy of the network is not asked for this machine."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    key, path, given, expected = SENT[what]
    with service(["Done."]) as made:
        assert asked(made.base_url, key, path, **given).status == 200
    assert {name: made.headers[0].get(name) for name in expected} == expected


def test_an_address_may_end_in_the_version() -> None:
    """As OpenAI's clients have it."""
    with service(["Done."] * 2) as made:
        assert asked(f"{made.base_url}/v1/", None, "/v1/chat/completions").status == 200


def free_address() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


@pytest.mark.parametrize(
    "url", ["free", "http://nowhere.invalid", "http://127.0.0.1:99999", "nonsense", "full"]
)
def test_a_service_that_is_not_there_is_not_asked_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection, no name, no address; and one that never takes a connection, after seconds."""
    monkeypatch.setattr(models, "CONNECT_SECONDS", 0.2)
    with ExitStack() as opened:
        one = opened.enter_context(socket.socket())
        one.bind(("127.0.0.1", 0))
        if url == "full":
            one.listen(0)
            url = f"http://127.0.0.1:{one.getsockname()[1]}"
            for each in [opened.enter_context(socket.socket()) for _ in range(4)]:
                each.setblocking(False)
                each.connect_ex(one.getsockname())
        answer = asked(free_address() if url == "free" else url, None)
    assert answer.unreachable
    assert not answer.retry


def test_a_service_that_broke_off_may_be_asked_again() -> None:
    """It answered before, so it may answer again; unless nothing listens any more."""
    with service([{"status": 503, "message": "busy"}, "Done."]) as made:
        first = asked(made.base_url, None)
        assert (first.retry, first.unreachable) == (True, "")


@needs_sandbox
def test_an_unreachable_service_is_one_error_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The agent is ended: it would ask again for minutes."""
    monkeypatch.chdir(tmp_path)
    project = LiveProject(tmp_path, monkeypatch)
    project.configure(model={"base_url": free_address()})
    begun = time.monotonic()
    error = project.live("--live", "record", "--trials", "1").only_result()["error"]
    assert time.monotonic() - begun < 10
    assert error["reason_code"] == "live.unreachable"
    assert error["message"].endswith("cannot be reached: [Errno 111] Connection refused")
    assert "correct live.model.base_url" in capsys.readouterr().out


@needs_sandbox
def test_records_with_a_local_model_and_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration names the address alone; what was recorded plays."""
    for name in ALL:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    project = LiveProject(tmp_path, monkeypatch)
    with service(LOOKED_UP) as made:
        project.configure(model={"base_url": made.base_url})
        assert project.live("--live", "record").exit_code == 0
    assert "authorization" not in json.dumps(made.headers).lower()
    assert project.live("--live").exit_code == 0
