"""Who answers the agent's requests to its model: a cassette, hand-written turns, or the real service."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError, FileError
from agenteval.live import messages_api
from agenteval.live.cassette import Cassette, Difference
from agenteval.live.messages_api import Part
from agenteval.live.options import Stale

ERROR_KEY = "error_status"
"""The key of a recorded answer that is an error: its HTTP status; the body is under `error`."""
UPSTREAM_SECONDS = 600
_NOT_PASSED_ON = frozenset(
    (
        "host",
        "content-length",
        "connection",
        "accept-encoding",
        "transfer-encoding",
        "x-api-key",
        "authorization",
    )
)


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
    """A message, or an error (`status` 400 and above). `from_service` says that the real service gave it."""

    message: dict[str, Any]
    status: int = 200
    from_service: bool = False

    @property
    def retry(self) -> bool:
        """Whether it makes sense to ask again: else the client is told not to."""
        return self.status in (408, 409, 429) or self.status >= 500


class Model(Protocol):
    """Answers requests. A miss is told in `misses`, and differences that were tolerated in `differences`."""

    @property
    def misses(self) -> list[str]:
        """Requests that could not be answered, in words."""
        ...

    @property
    def differences(self) -> list[Difference]:
        """How answered requests differ from the recorded ones."""
        ...

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """The answer to a request."""
        ...


@dataclass
class PlayedModel:
    """Plays a cassette; nothing else is ever asked."""

    cassette: Cassette
    stale: Stale = "miss"
    misses: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """What was recorded for the request; else an error that names what changed."""
        found = self.cassette.play(request.api, request.parts, client=request.client, stale=self.stale)
        if found.answer is None:
            self.misses.append(found.miss)
            told = messages_api.error_body("invalid_request_error", f"not in the cassette: {found.miss}")
            return ModelAnswer(message=told, status=400)
        known = {(each.name, each.after) for each in self.differences}
        self.differences += [each for each in found.differences if (each.name, each.after) not in known]
        return from_record(found.answer)


def from_record(recorded: Mapping[str, Any]) -> ModelAnswer:
    """The answer that a cassette's exchange holds."""
    if ERROR_KEY in recorded:
        return ModelAnswer(message=recorded["error"], status=recorded[ERROR_KEY])
    return ModelAnswer(message=dict(recorded))


def to_record(answer: ModelAnswer) -> dict[str, Any]:
    """An answer as a cassette keeps it."""
    return {ERROR_KEY: answer.status, "error": answer.message} if answer.status >= 400 else answer.message


@dataclass
class RealModel:
    """Asks the real service at `base_url`; the key never enters the sandbox, and is put in here."""

    base_url: str
    key: str
    misses: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """The service's answer. What cannot be reached answers as the API does when it is overloaded."""
        headers = {
            name: value for name, value in request.headers.items() if name.lower() not in _NOT_PASSED_ON
        }
        headers["content-type"] = "application/json"
        if request.api == "messages":
            headers["x-api-key"] = self.key
        else:
            headers["authorization"] = f"Bearer {self.key}"
        url = self.base_url.rstrip("/") + request.path
        sent = urllib.request.Request(url, json.dumps(request.body).encode(), headers, method="POST")  # noqa: S310
        try:
            with urllib.request.urlopen(sent, timeout=UPSTREAM_SECONDS) as reply:  # noqa: S310 - the user's own setting
                return self._read(request.api, reply.headers.get("content-type", ""), reply.read())
        except urllib.error.HTTPError as error:
            return ModelAnswer(message=_json_or_text(error.read()), status=error.code, from_service=True)
        except OSError as error:
            reason = getattr(error, "reason", error)
            told = messages_api.error_body("api_error", f"{self.base_url} cannot be reached: {reason}")
            return ModelAnswer(message=told, status=502, from_service=True)

    def _read(self, api: str, content_type: str, content: bytes) -> ModelAnswer:
        if "event-stream" not in content_type:
            return ModelAnswer(message=json.loads(content))
        from agenteval.live import openai_api

        assembled = messages_api.assembled if api == "messages" else openai_api.assembler(api)
        message = assembled(content)
        if message is None:
            told = messages_api.error_body("api_error", "the service's stream broke off")
            return ModelAnswer(message=told, status=502, from_service=True)
        return ModelAnswer(message=message)


def _json_or_text(content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content)
    except ValueError:
        data = None
    if isinstance(data, dict):
        return data
    return messages_api.error_body("api_error", content.decode(errors="replace")[:500])


@dataclass
class RecordingModel:
    """Another model, whose answers it keeps on a cassette."""

    model: Model
    cassette: Cassette

    @property
    def misses(self) -> list[str]:
        """Those of the model behind it."""
        return self.model.misses

    @property
    def differences(self) -> list[Difference]:
        """Those of the model behind it."""
        return self.model.differences

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """The answer of the model behind it."""
        answer = self.model.answer(request)
        self.cassette.client = self.cassette.client or request.client
        self.cassette.add(request.api, request.parts, to_record(answer))
        return answer


@dataclass
class ScriptedModel:
    """Hand-written turns, each answered once and in order; after the last one, another model goes on.

    A turn is a list of content blocks as in a message, a text, or `{status, message}` for an error.
    """

    turns: Sequence[Any]
    after: Model | None = None
    played: int = 0
    asked_for_more: list[str] = field(default_factory=list)

    @property
    def misses(self) -> list[str]:
        """That a turn more was asked for than there is; else those of the other model."""
        return self.asked_for_more if self.after is None else self.after.misses

    @property
    def differences(self) -> list[Difference]:
        """Those of the other model."""
        return [] if self.after is None else self.after.differences

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """The next turn."""
        if self.played < len(self.turns):
            turn = self.turns[self.played]
            self.played += 1
            return self._told(turn, request)
        if self.after is not None:
            return self.after.answer(request)
        miss = f"the script has {len(self.turns)} turns, and the agent asked once more"
        self.asked_for_more.append(miss)
        return ModelAnswer(message=messages_api.error_body("invalid_request_error", miss), status=400)

    def _told(self, turn: Any, request: ModelRequest) -> ModelAnswer:
        if isinstance(turn, dict) and "status" in turn:
            kind = "overloaded_error" if turn["status"] == 529 else "api_error"
            return ModelAnswer(
                message=messages_api.error_body(kind, turn.get("message", "")), status=turn["status"]
            )
        blocks = [{"type": "text", "text": turn}] if isinstance(turn, str) else list(self._numbered(turn))
        name = str(request.body.get("model", ""))
        if request.api == "messages":
            return ModelAnswer(message=messages_api.message(self.played, name, blocks))
        from agenteval.live import openai_api

        return ModelAnswer(message=openai_api.WIRES[request.api].message(self.played, name, blocks))

    def _numbered(self, turn: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        for number, block in enumerate(turn):
            told = dict(block)
            if told["type"] == "tool_use":
                told.setdefault("id", f"toolu_script_{self.played}_{number}")
            yield told


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
    try:
        turns = load_yaml(read_text(path, max_bytes=context.max_file_bytes), path)
    except FileError as error:
        raise AdapterError.of(error.problems) from None
    for number, turn in enumerate(turns if isinstance(turns, list) else [turns], 1):
        if not isinstance(turns, list) or not _is_turn(turn):
            raise AdapterError(
                f"{path}: turn {number} is no turn of a model",
                reason_code="live.script_invalid",
                next_step="write a list; a turn is a text, a list of content blocks ({type: text, text: ...}, "
                "{type: tool_use, name: ..., input: {...}}), or an error ({status: 429, message: ...})",
                where=("live", "script"),
            )
    return list(turns)


def _is_turn(turn: Any) -> bool:
    if isinstance(turn, dict):
        return (
            isinstance(turn.get("status"), int)
            and 400 <= turn["status"] <= 599
            and not set(turn) - {"status", "message"}
        )
    return isinstance(turn, str) or (isinstance(turn, list) and bool(turn) and all(map(_is_block, turn)))


def _is_block(block: Any) -> bool:
    match block:
        case {"type": "text", "text": str()}:
            return True
        case {"type": "tool_use", "name": str(), "input": dict()}:
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
"""What kinds of tokens that go in cost, in parts of the price of a plain one."""
_OF_OUTPUT = ("output_tokens", "completion_tokens")


def price_of(prices: Mapping[str, Sequence[float]], model: str, tokens: Mapping[str, int]) -> float | None:
    """What tokens cost in US dollars, by the configured prices, then by known ones; None for an unknown model."""
    from agenteval.text.names import name_matches

    found = next(
        (price for glob, price in (*prices.items(), *_PRICES.items()) if name_matches(glob, model)), None
    )
    if found is None:
        return None
    put_in = sum(tokens.get(kind, 0) * share for kind, share in _OF_INPUT.items())
    came_out = sum(tokens.get(kind, 0) for kind in _OF_OUTPUT)
    return (put_in * found[0] + came_out * found[1]) / 1e6
