"""What an adapter of real recordings offers beside `trace`: the runs in a recording, and a run as the files of a test.

An adapter that can do this has an attribute `recorder` with the methods of `Recorder`. One that can also take what a
running agent sends has a method `receive`, which opens a `Receiving`.
"""

from collections.abc import Iterator
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
_SEP = r"(?:\\{0,8}+/|\\{1,8}+|%(?:25)*(?:2[Ff]|5[Cc]))"
"""What separates the parts of a path: also as JSON, Python and URLs write it."""
_COLON = r"(?::|%(?:25)*3[Aa])"
_NAME = r"""[^/\\\s"'`:;,()<>|*?%&=#\[\]{}]+"""
_HOME = lazy(
    rf"""(?x)(?:(?<![\w.~/-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{{2}})(?<!%2[Ff])(?<!%5[Cc]))
    (?P<kept>[a-z][a-z0-9+.-]{{1,20}}{_COLON}{_SEP}{_SEP}(?:file|localhost)?)?
    (?:(?:{_SEP}?[A-Za-z]{_COLON}|{_SEP}(?:mnt|host_mnt|cygdrive){_SEP}[A-Za-z]){_SEP}(?i:users){_SEP}
       (?P<owner>{_NAME}(?:(?:[ ]{_NAME}){{1,2}}(?={_SEP}))?)
     | (?:{_SEP}(?:var|usr|export)(?={_SEP}home)|{_SEP}[A-Za-z](?={_SEP}Users)|[/\\]{{2,16}}+wsl[\w.$]*{_SEP}[\w.-]+)?
       {_SEP}(?:home|Users){_SEP}(?P<name>{_NAME}))"""
)
"""A home folder: on Linux and macOS, in Windows and as others see its drives, and in an address of a local file."""
_SLUG = lazy(r"(?<![A-Za-z0-9-])(?:-home|-Users|(?:[A-Za-z]-|-mnt-[a-z])-[Uu]sers)-(?P<name>[^\W_]+)")
"""A home folder as Claude Code names the folder of a project: `-home-alexm-harbour`."""
_PART = lazy(
    rf"(?P<before>{_SEP}|(?<![A-Za-z0-9])(?i:home|users)[-_]|~)(?P<part>[\w.+@~-]+)|(?<![\w.+-])(?P<first>[\w.+-]++)(?={_SEP}|@[\w.-]+:)"
)
"""A part of a path: behind a separator, of a slug of a home folder, behind `~`, or before a separator or `@host:`."""
_WORD = lazy(r"[^\W_]+")
_NOBODY = frozenset(
    """
    admin administrator agent app builder circleci codespace coder debian default developer docker ec2-user git guest
    home jenkins linuxbrew me node nobody public root runner shared test tester ubuntu user username users vagrant vscode work
    workspace www-data you
    """.split()  # noqa: SIM905 - a list of them would be six times as long
)
"""Accounts that are no person's."""
_ACCOUNT = lazy(r"(?!user\d+\Z)[^\W_][\w. -]*")
_SHORTEST_OWNER, _MOST_WORDS = 3, 4


Owners = dict[tuple[str, ...], str]
"""Accounts whose home folders a recording names, as words in small letters, with what is shown for them."""


def without_homes(text: str, owners: Owners | None = None) -> str:
    """A text with `~` in the place of people's home folders, and with no name of their `owners` in any other path.

    The owners are those whose homes the text names, when not given.
    """
    if owners is None:
        owners = owners_of(text)
    if _may_name_home(text):
        text = _HOME.sub(lambda match: f"{match['kept'] or ''}~", text)
    if not owners:
        return text
    return _PART.sub(
        lambda match: f"{match['before'] or ''}{without_owners(match['part'] or match['first'], owners)}",
        text,
    )


def owners_of(data: Any) -> Owners:
    """Whose home folders the texts and keys of data name. They become `user`, `user2` …, in order."""
    names = (name for text in _texts(data) if _may_name_home(text) for name in _owners_in(text))
    found = dict.fromkeys(tuple(_WORD.findall(name)) for name in names if _is_person(name))
    return {words: f"user{number if number > 1 else ''}" for number, words in enumerate(found, 1)}


def _owners_in(text: str) -> Iterator[str]:
    for match in _HOME.finditer(text):
        yield (match["owner"] or match["name"]).strip(".-_").lower()
    for match in _SLUG.finditer(text):
        yield match["name"].lower()


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(data, list):
        for item in data:
            yield from _texts(item)


def without_owners(name: str, owners: Owners) -> str:
    """A name without these accounts, wherever they stand in it as words, whatever signs are between them."""
    words = list(_WORD.finditer(name))
    kept, end = [], 0
    for place, word in enumerate(words):
        for size in range(_MOST_WORDS, 0, -1) if word.start() >= end else ():
            same = words[place : place + size]
            if shown := owners.get(tuple(each[0].lower() for each in same)):
                kept += [name[end : word.start()], shown]
                end = same[-1].end()
                break
    return "".join((*kept, name[end:]))


def _may_name_home(text: str) -> bool:
    return "home" in text or "sers" in text or "SERS" in text


def _is_person(name: str) -> bool:
    is_account = len(name) >= _SHORTEST_OWNER and _ACCOUNT.fullmatch(name) is not None
    return is_account and name not in _NOBODY and len(_WORD.findall(name)) <= _MOST_WORDS


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
    folder: str = ""
    """Where the agent worked, if the recording says: whose home it is in is told nowhere."""


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
