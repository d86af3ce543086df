"""What an adapter of real recordings offers beside `trace`: the runs in a recording, and a run as the files of a test.

An adapter that can do this has an attribute `recorder` with the methods of `Recorder`. One that can also take what a
running agent sends has a method `receive`, which opens a `Receiving`.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from agenteval.adapters import AdapterContext
from agenteval.lazyregex import lazy
from agenteval.trace import Trace

REPLAY_FILE = "replay.json"
"""The name of the recording beside the test that was made from it."""
LIVE_KEY = "x-live"
"""What a replay bundle that a live run left says of the run: the adapter and the test."""
NOT_THIS_KIND = "adapter.no_recording"
"""The reason code of a recorder for a source of another kind, which another recorder may read."""
_NAME = r"[^/\\\s\"'`:;,()<>|*?]+"
_HOME = lazy(rf"(?<![\w.~/-])(?:/(?:home|Users)/{_NAME}|[A-Za-z]:\\{{1,2}}Users\\{{1,2}}{_NAME})")


def without_homes(text: str) -> str:
    """A text with `~` in the place of people's home folders, whose names are theirs."""
    return _HOME.sub("~", text) if "home" in text or "Users" in text else text


@dataclass(slots=True, kw_only=True)
class RecordedRun:
    """One run of a recording: what a person needs to recognise it, and what chooses it."""

    number: int
    """From 1, in the order of time."""
    choice: dict[str, Any]
    """The keys of `adapter_input` that choose this run, beside the one that names the recording: `{"turn": 3}`."""
    started_at: str
    """When it began, ISO 8601 in UTC."""
    group_id: str
    trigger: str
    """What woke the agent: `user_message` or `scheduler`."""
    first_words: str
    """How the message that began it starts; one line."""
    tools: dict[str, int]
    """Calls by canonical tool name, in the order of first use."""
    status: str
    """`success`, `partial`, `failed` or `blocked`."""


@dataclass(slots=True, kw_only=True)
class Recording:
    """What a source holds, and what it cannot show."""

    kind: str
    """The kind of recording, in the runtime's words: `NanoClaw v2 session folder`."""
    runs: list[RecordedRun]
    holds: list[str] = field(default_factory=list)
    """What the recording shows, a line each."""
    lacks: list[str] = field(default_factory=list)
    """What it cannot show, and what follows for assertions, a line each."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Parts of unknown kind that were passed over, counted by kind."""


@dataclass(slots=True, kw_only=True)
class RecordedTest:
    """One run as the files of a test: what `record` writes, before it is redacted."""

    scenario: dict[str, Any]
    """`scenario` of the test file, with the memory snapshot and the other groups' state."""
    replay: dict[str, Any]
    """The replay bundle."""
    fixtures: list[dict[str, Any]]
    """`tools.fixtures` entries with their `response` inline; steps of the bundle name them by `fixture_id`."""
    tools: list[str]
    """`tools.available`: canonical names; empty when the recording does not say."""
    trace: Trace
    """The trace of the run, as `trace` gives it for the recording itself."""


class Recorder(Protocol):
    """Reads recordings of one runtime. Both methods raise `AdapterError` for a source that cannot be read.

    The reason code is `NOT_THIS_KIND` when it is no recording of this runtime at all. The `replay` that `convert`
    returns is what the adapter later reads from the file that a test names in `adapter_input.replay_file`.
    """

    def inspect(self, source: Path, context: AdapterContext) -> Recording:
        """The runs in a source, and what it holds."""
        ...

    def convert(self, source: Path, run: RecordedRun, context: AdapterContext) -> RecordedTest:
        """One run as the files of a test; the same source gives the same data."""
        ...


class Received(NamedTuple):
    """How much has come: spans, log records, and requests that were refused, with the reason for the last one."""

    spans: int = 0
    logs: int = 0
    refused: int = 0
    reason: str = ""


class Receiving(Protocol):
    """What an adapter's `receive(file, address, max_bytes=...)` opens: while it is open (`with`), it takes what is sent.

    `file` is a new one, which the adapter's `recorder` reads then; `address` is a host and a port, or the path of a
    unix socket.
    """

    @property
    def endpoint(self) -> str:
        """Where to send to."""
        ...

    @property
    def received(self) -> Received:
        """What has come so far."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
