"""Answers the agent's requests to its model: from a cassette, from hand-written turns, or by the real service."""

import json
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from agenteval.contracts.adapters import AdapterContext
from agenteval.live.cassette import Cassette, Difference
from agenteval.live.options import Stale, live_error
from agenteval.live.wires import WIRES, Part, error_body
from agenteval.loading.config import LiveModel

ERROR_KEY = "error_status"
"""The key of a recorded answer that is an error: its HTTP status; the body is under `error`."""
UPSTREAM_SECONDS = 600
CONNECT_SECONDS = 10
"""The seconds in which a service has to take a connection, before it counts as unreachable."""
_ANTHROPIC_KEYS = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN")
_OPENAI_KEYS = ("OPENAI_API_KEY",)
_BETA = "anthropic-beta"
_OF_SUBSCRIPTIONS = "oauth-2025-04-20"
"""The beta that the Claude CLI names beside the token of a subscription, and beside no other key."""
_SUBSCRIPTION = "sk-ant-oat"
"""The beginning of such a token: as a key it would be refused, whatever its variable is called."""
_NOT_PASSED_ON = frozenset(
    (
        "host", "content-length", "connection", "accept-encoding", "transfer-encoding", "x-api-key", "authorization",
    )
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class ModelRequest:
    """A request to the model: `api` is its wire format, `path` and `headers` are HTTP's, `parts` what of it counts."""

    api: str
    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    parts: Sequence[Part]
    client: str


@dataclass(slots=True, kw_only=True)
class ModelAnswer:
    """A message, or an error (`status` 400 and above). `from_service` says that the real service gave it.

    `miss` explains why nobody could answer. `differences` are from the recorded request that was answered, or from the
    closest one where none was. `unreachable` explains why there is no service to ask, now or again.
    """

    message: dict[str, Any]
    status: int = 200
    from_service: bool = False
    miss: str = ""
    unreachable: str = ""
    differences: Sequence[Difference] = ()

    @property
    def retry(self) -> bool:
        """True if another try may succeed; otherwise the answer asks the client not to try again."""
        return not self.unreachable and (self.status in (408, 409, 429) or self.status >= 500)


Model = Callable[[ModelRequest], ModelAnswer]
"""Answers requests."""


def played(cassette: Cassette, stale: Stale = "miss") -> Model:
    """A model that plays a cassette; nothing else is ever asked."""

    def answer(request: ModelRequest) -> ModelAnswer:
        message, differences, miss = cassette.play(
            request.api, request.parts, client=request.client, stale=stale
        )
        if message is None:
            return _missed(miss, differences)
        status = message.get(ERROR_KEY, 200)
        body = message["error"] if ERROR_KEY in message else dict(message)
        return ModelAnswer(message=body, status=status, differences=differences)

    return answer


def _missed(miss: str, differences: Sequence[Difference] = ()) -> ModelAnswer:
    reason = f"not in the cassette: {miss}"
    body = error_body("invalid_request_error", reason)
    return ModelAnswer(message=body, status=400, miss=miss, differences=differences)


@dataclass(slots=True, frozen=True, kw_only=True)
class Key:
    """The key of a service, which never enters the sandbox. `bearer` keys are tokens, some of them of a subscription."""

    value: str
    bearer: bool = False
    subscription: bool = False

    def headers(self, api: str, given: Mapping[str, str]) -> dict[str, str]:
        """The headers that a request is sent with, beside those that the agent has given it."""
        if api != "messages":
            return {"authorization": f"Bearer {self.value}"}
        if not self.bearer:
            return {"x-api-key": self.value}
        sent = {"authorization": f"Bearer {self.value}"}
        if self.subscription:
            betas = [each.strip() for each in given.get(_BETA, "").split(",")]
            sent[_BETA] = ",".join(dict.fromkeys(filter(None, (*betas, _OF_SUBSCRIPTIONS))))
        return sent


def key_of(setting: LiveModel, environment: Mapping[str, str] = os.environ) -> Key | None:
    """The key for the configured service; None for a service that needs none.

    Raises `AdapterError` (`live.no_key`) where one is needed and no variable holds it.
    """
    if setting.key_env is None:
        return None
    known = [setting.key_env] if setting.key_env else _known_keys(setting.base_url)
    name = next((each for each in known if environment.get(each, "").strip()), "")
    if not name:
        if not setting.key_env and is_loopback(setting.base_url):
            return None
        missing = f"no {known[0]}" if len(known) == 1 else f"none of {', '.join(known)}"
        named = known[0] if len(known) == 1 else "one of them"
        raise live_error(
            "live.no_key",
            f"the environment has {missing}, so the real model cannot be asked",
            f"set {named}, or name another variable in live.model.key_env (null for a service that needs no key)",
        )
    value = environment[name].strip()
    subscription = value.startswith(_SUBSCRIPTION) or name.endswith("OAUTH_TOKEN")
    bearer = subscription or name.endswith("AUTH_TOKEN") if setting.auth is None else setting.auth == "bearer"
    return Key(value=value, bearer=bearer, subscription=subscription)


def _known_keys(base_url: str) -> Sequence[str]:
    """The variables that may hold the key, the first choice first. A vendor's key is sent to no other vendor."""
    host = _host(base_url)
    if host == "openai.com" or host.endswith(".openai.com"):
        return _OPENAI_KEYS
    if host == "anthropic.com" or host.endswith(".anthropic.com") or is_loopback(base_url):
        return _ANTHROPIC_KEYS
    return [
        each for each in _ANTHROPIC_KEYS if not each.endswith("OAUTH_TOKEN")
    ]  # a subscription is the vendor's


def is_loopback(base_url: str) -> bool:
    """Return whether a service is on this machine: one that runs a local model needs no key."""
    host = _host(base_url)
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified  # 0.0.0.0, as servers print it


def _host(base_url: str) -> str:
    try:
        return (urlsplit(base_url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def real(base_url: str, key: Key | None) -> Model:
    """The real service; the key never enters the sandbox, and is put in here. It is asked for whole messages, of which
    the proxy makes streams.

    A service that breaks off answers as the API does when it is overloaded. One that takes no connection ends the run:
    an agent would go on asking for minutes.
    """
    parts = urlsplit(base_url)
    # a request to this machine is no matter for a proxy of the network
    handlers = [urllib.request.ProxyHandler({})] if is_loopback(base_url) else []
    opener = urllib.request.build_opener(*handlers)
    is_direct = bool(handlers) or parts.scheme not in urllib.request.getproxies()
    has_answered = False

    def answer(request: ModelRequest) -> ModelAnswer:
        nonlocal has_answered
        headers = {
            name: value for name, value in request.headers.items() if name.lower() not in _NOT_PASSED_ON
        }
        headers["content-type"] = "application/json"
        headers |= key.headers(request.api, headers) if key else {}
        # OpenAI's clients write the version into the address, Anthropic's into the path
        path = request.path.removeprefix("/v1") if parts.path.rstrip("/").endswith("/v1") else request.path
        url = base_url.rstrip("/") + path
        body = {name: each for name, each in request.body.items() if name not in ("stream", "stream_options")}
        try:
            if is_direct and not has_answered:
                _connect(parts)
            sent = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")  # noqa: S310
            with opener.open(sent, timeout=UPSTREAM_SECONDS) as reply:
                message = _object(reply.read())
        except urllib.error.HTTPError as error:
            has_answered = True
            content = error.read()
            failed = _object(content) or error_body("api_error", content.decode(errors="replace")[:500])
            return ModelAnswer(message=failed, status=error.code, from_service=True)
        except (OSError, ValueError, HTTPException) as error:
            why = getattr(error, "reason", error)
            reason = f"{base_url} cannot be reached: {why}"
            is_final = not has_answered or isinstance(why, ConnectionRefusedError | socket.gaierror)
            unreachable = reason if is_final and not isinstance(why, ConnectionResetError) else ""
            failed = error_body("api_error", reason)
            return ModelAnswer(message=failed, status=502, from_service=True, unreachable=unreachable)
        has_answered = True
        if message is not None:
            return ModelAnswer(message=message)
        reason = f"{base_url} answered with no JSON object"
        return ModelAnswer(message=error_body("api_error", reason), status=502, from_service=True)

    return answer


def _connect(parts: SplitResult) -> None:
    """See that a service takes connections. Raises `OSError`, within seconds even where nothing answers at all."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    socket.create_connection((parts.hostname or "", port), CONNECT_SECONDS).close()


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(content)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def recording(model: Model, cassette: Cassette) -> Model:
    """Another model, whose answers are kept on a cassette."""

    def answer(request: ModelRequest) -> ModelAnswer:
        answer = model(request)
        cassette.client = cassette.client or request.client
        failed = {ERROR_KEY: answer.status, "error": answer.message}
        cassette.add(request.api, request.parts, failed if answer.status >= 400 else answer.message)
        return answer

    return answer


def scripted(turns: Sequence[Any], after: Model | None = None) -> Model:
    """Hand-written turns, each answered once and in order; after the last one, another model goes on.

    A turn is a list of content blocks as in a message, a text, or `{status, message}` for an error. With
    `{when, then, otherwise}` it is the one or the other, by whether the model was given the text after `when`: a
    message, an instruction, the name of a tool.
    """
    waiting = enumerate(turns, 1)

    def answer(request: ModelRequest) -> ModelAnswer:
        place, turn = next(waiting, (0, None))
        if turn is None:
            missed = f"the script has {len(turns)} turns, and the agent asked once more"
            return after(request) if after else _missed(missed)
        if isinstance(turn, dict) and "when" in turn:
            given = (text for part in request.parts for text in (part.name, part.text))
            turn = turn["then" if any(turn["when"] in each for each in given) else "otherwise"]
        if isinstance(turn, dict):
            kind = "overloaded_error" if turn["status"] == 529 else "api_error"
            return ModelAnswer(message=error_body(kind, turn.get("message", "")), status=turn["status"])
        blocks = [{"type": "text", "text": turn}] if isinstance(turn, str) else [dict(each) for each in turn]
        for number, block in enumerate(blocks):
            if block["type"] == "tool_use":
                block.setdefault("id", f"toolu_script_{place}_{number}")
        model = str(request.body.get("model", ""))
        return ModelAnswer(message=WIRES[request.api].message(place, model, blocks))

    return answer


def load_script(context: AdapterContext, name: str) -> list[Any]:
    """The hand-written turns in a YAML file beside the test. Raises `AdapterError` for what is no list of turns."""
    from agenteval.loading.adapter_input import find_file
    from agenteval.reading.documents import read_text
    from agenteval.reading.yamlsource import load_yaml

    path = find_file(
        name,
        context,
        setting="`script` of live",
        missing="live.no_script",
        next_step="correct live.script in the test, or put the file there",
    )
    turns = load_yaml(read_text(path, max_bytes=context.max_file_bytes), path)
    for number, turn in enumerate(turns if isinstance(turns, list) else [None], 1):
        if not _is_turn(turn):
            raise live_error(
                "live.script_invalid",
                f"{path}: turn {number} is no turn of a model",
                "write a list; a turn is a text, a list of content blocks ({type: text, text: ...}, "
                "{type: tool_use, name: ..., input: {...}}), an error ({status: 429, message: ...}), or two turns to choose "
                "from by what the model was given ({when: TEXT, then: ..., otherwise: ...})",
                "live",
                "script",
            )
    return list(turns)


def _is_turn(turn: Any) -> bool:
    match turn:
        case str():
            return True
        case {"status": int(status), **others}:
            return 400 <= status <= 599 and not set(others) - {"message"}
        case {"when": str(), "then": then, "otherwise": otherwise, **others}:
            chosen = (then, otherwise)  # not from what was chosen again
            return not others and all(
                _is_turn(each) and not (isinstance(each, dict) and "when" in each) for each in chosen
            )
        case [_, *_]:
            return all(map(_is_block, turn))
    return False


def _is_block(block: Any) -> bool:
    match block:
        case {"type": "text", "text": str()} | {"type": "tool_use", "name": str(), "input": dict()}:
            return True
    return False


_PRICES = {
    "claude-opus-4-[5-9]*": (5.0, 25.0),
    "claude-opus-4*": (15.0, 75.0),
    "claude-sonnet-*": (3.0, 15.0),
    "claude-haiku-4*": (1.0, 5.0),
}
"""US dollars for a million tokens in and out, by glob of the model's name; the first that fits."""
_OF_INPUT = {
    "input_tokens": 1.0,
    "cache_creation_input_tokens": 1.25,
    "cache_read_input_tokens": 0.1,
    "prompt_tokens": 1.0,
}
"""The price of each kind of input token, in parts of the price of a plain one."""
_OF_OUTPUT = ("output_tokens", "completion_tokens")


def tokens_of(counts: Mapping[str, int]) -> int:
    """Add up tokens that went in and came out. Some services also count them all together, which would count them twice."""
    return sum(counts.get(kind, 0) for kind in (*_OF_INPUT, *_OF_OUTPUT))


def price_of(prices: Mapping[str, Sequence[float]], model: str, tokens: Mapping[str, int]) -> float | None:
    """Compute the cost of tokens in US dollars, by the configured prices, then by known ones; None for an unknown model."""
    from agenteval.text.names import name_matches

    for glob, price in (*prices.items(), *_PRICES.items()):
        if name_matches(glob, model):
            put_in = sum(tokens.get(kind, 0) * share for kind, share in _OF_INPUT.items())
            came_out = sum(tokens.get(kind, 0) for kind in _OF_OUTPUT)
            return (put_in * price[0] + came_out * price[1]) / 1e6
    return None
