"""Defines an adapter, and finds adapters (SPEC 12).

An adapter is a class with a `name`, a `version`, `supports_live_run`, and a `trace` method. It is announced in
the entry-point group `agenteval.adapters` of whatever package it comes in.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from agenteval import __version__
from agenteval.contracts import time_limits
from agenteval.contracts.errors import AdapterError, saying
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import texts

GROUP = "agenteval.adapters"
_REINSTALL = "reinstall the package that provides the adapter, or report it to its author"


@dataclass(slots=True, kw_only=True)
class AdapterContext:
    """The surroundings of a test case that an adapter may use.

    `base_dir` is the test file's directory, to which paths in the spec are relative. `root` is the folder in which it
    may name files: nothing outside is read unless `allow_outside` is set. `max_file_bytes` bounds every file. What is
    odd but not wrong goes to `warn`. While a large file is read, `progress` is called with the file, the bytes read
    so far, and its size in bytes.
    """

    base_dir: Path
    root: Path
    run_id: str
    max_file_bytes: int
    allow_outside: bool = False
    warnings: list[str] = field(default_factory=list)
    progress: Callable[[Path, int, int], None] | None = None

    def warn(self, message: str) -> None:
        """Note something that a person should look at; it never changes a verdict."""
        self.warnings.append(str(message))


class Adapter(Protocol):
    """Turns `adapter_input` of a test case into a normalized trace.

    It may have more attributes: `input_model`, the model of its `adapter_input`, by which editors complete and check it;
    `input_schemas`, the models of the files it reads, by schema name;
    `check_input(case, context)`, which raises `AdapterError` for input that `trace` would refuse (`agenteval validate`
    asks it), and may return the trace, to which the test's names of tools are then held; `reads(path)`, whether a file
    looks like one that a test may name in `adapter_input.replay_file` (`agenteval trace` asks it);
    `reads_with(adapter_input, folder)`, the files and folders that `trace` reads beside those
    that the texts of `adapter_input` name: the shards of a run have to agree in all of them; `recorder`, for real recordings
    (see `recordings`); and `live_agent(setup)`, which makes its agent ready to run again (see `live.run`).
    """

    name: str
    version: str
    supports_live_run: bool

    def trace(self, case: TestCase, context: AdapterContext) -> Trace:
        """The trace of one test.

        The same inputs give the same trace, byte for byte. Raises `AdapterError` for input that cannot be
        read; anything else it raises is reported as a bug of the adapter.
        """
        ...


def find_adapter(name: str, *, also: Sequence[str] = ()) -> Adapter:
    """The installed adapter of that name; `also` are other names to suggest.

    Raises `AdapterError`: `adapter.unknown`, or `adapter.broken` for one that does not load, and for a name
    that two packages claim.
    """
    own = _own_entry_points().get(name)
    if own is not None:
        return _load(name, own)
    targets = _all_entry_points()
    if name in targets:
        target, *others = targets[name]
        if others:
            raise AdapterError(
                f"the adapter {name!r} is registered twice: {', '.join((target, *others))}",
                reason_code="adapter.broken",
                next_step="uninstall all but one of the packages that provide it",
            )
        return _load(name, target)
    from agenteval.text.names import closest

    known = sorted({*targets, *also})
    near = closest(name, known)
    meant = f" (did you mean {near!r}?)" if near else ""
    raise AdapterError(
        f"unknown adapter {name!r} (installed: {', '.join(known) or 'none'})",
        reason_code="adapter.unknown",
        next_step=f"correct the name of the adapter{meant}, or install the package that provides it",
    )


def reading(adapter: str) -> time_limits.step:
    """All that an adapter does inside is one step. Raises `AdapterError` (`adapter.timeout`)."""

    def too_slow(limit: str) -> AdapterError:
        return AdapterError(
            f"adapter {adapter} {limit}",
            reason_code="adapter.timeout",
            next_step="record a shorter run, or raise limits.step_seconds in agenteval.yaml",
        )

    return time_limits.step(too_slow)


def check_mode(adapter: Adapter, case: TestCase) -> None:
    """Refuse a test that asks for a live run of an adapter that makes none: `adapter.live_unsupported`."""
    if case.mode == "live" and not adapter.supports_live_run:
        raise AdapterError(
            f"adapter {adapter.name} {adapter.version} cannot run an agent live; the test asks for mode: live",
            reason_code="adapter.live_unsupported",
            next_step="record a run and set mode: replay",
        )


def runs_live(adapter: Adapter, case: TestCase, *, every: bool) -> bool:
    """Return whether a test's agent is run again: if it asks for it, or, with `every`, if its adapter can."""
    return hasattr(adapter, "live_agent") and (every or case.mode == "live")


def installed_adapters() -> list[str]:
    """The names of all installed adapters, sorted."""
    return sorted(_all_entry_points())


def own_adapters() -> list[str]:
    """The names of the adapters that come with agenteval; no other adapter can take them."""
    return sorted(_own_entry_points())


def make_adapter(
    name: str, source: str, factory: Callable[[], Adapter], *, next_step: str = _REINSTALL
) -> Adapter:
    """The adapter that a class makes; `source` is where the class comes from. Raises `AdapterError`."""
    try:
        adapter = factory()
        _ = (adapter.name, adapter.version, adapter.supports_live_run, adapter.trace)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise AdapterError(
            f"adapter {name!r} ({source}) failed to load: {type(error).__name__}: {saying(error)}",
            reason_code="adapter.broken",
            next_step=next_step,
        ) from error
    return adapter


def _load(name: str, target: str) -> Adapter:
    def made() -> Adapter:
        from importlib import import_module

        module, _, attribute = target.partition(":")
        adapter: Adapter = getattr(import_module(module), attribute)()
        return adapter

    return make_adapter(name, target, made)


def _own_entry_points() -> dict[str, str]:
    """The adapters that come with this package, read from its own metadata.

    importlib.metadata would import an e-mail parser and read every installed package: more than a whole test.
    """
    for folder in sys.path:
        metadata = os.path.join(folder, f"agenteval-{__version__}.dist-info", "entry_points.txt")  # noqa: PTH118
        try:
            with open(metadata, encoding="utf-8") as file:  # noqa: PTH123
                lines = file.read().splitlines()
        except OSError:
            continue
        start = lines.index(f"[{GROUP}]") + 1
        pairs = (
            line.partition("=") for line in takewhile(lambda line: not line.startswith("["), lines[start:])
        )
        return {name.strip(): target.strip() for name, sign, target in pairs if sign}
    return {}


def _all_entry_points() -> dict[str, list[str]]:
    """Every adapter by name, with the classes that are announced under it."""
    from importlib.metadata import entry_points

    found: dict[str, list[str]] = {}
    for point in entry_points(group=GROUP):
        targets = found.setdefault(point.name, [])
        if point.value not in targets:
            targets.append(point.value)
    return found


REPLAY_FILE = "replay.json"
"""The name of the recording beside the test that was made from it."""
LIVE_KEY = "x-live"
"""The key under which a replay bundle of a live run describes the run: the adapter and the test."""
NOT_THIS_KIND = "adapter.no_recording"
"""The reason code of a recorder for a source of another kind, which another recorder may read."""
_SEP = r"(?:\\{0,8}+/|\\{1,8}+|%(?:25)*(?:2[Ff]|5[Cc]))"
"""A separator of the parts of a path: also as JSON, Python and URLs write it."""
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
"""The owners of home folders in a recording, as words in small letters, each with the name that replaces it."""


def without_homes(text: str, owners: Owners | None = None) -> str:
    """A text with `~` in the place of people's home folders, and with no name of their `owners` in any other path.

    Without owners, they are found in the text.
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
    """Find the owners of the home folders that texts and keys of data name. They become `user`, `user2` …, in order."""
    names = (name for text in texts(data, keys=True) if _may_name_home(text) for name in _owners_in(text))
    found = dict.fromkeys(tuple(_WORD.findall(name)) for name in names if _is_person(name))
    return {words: f"user{number if number > 1 else ''}" for number, words in enumerate(found, 1)}


def _owners_in(text: str) -> Iterator[str]:
    for match in _HOME.finditer(text):
        yield (match["owner"] or match["name"]).strip(".-_").lower()
    for match in _SLUG.finditer(text):
        yield match["name"].lower()


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
    """The beginning of the run, ISO 8601 in UTC."""
    group_id: str
    trigger: str
    """The event that woke the agent: `user_message` or `scheduler`."""
    first_words: str
    """The first words of the message that began the run; one line."""
    tools: dict[str, int]
    """Calls by canonical tool name, in the order of first use."""
    status: str
    """`success`, `partial`, `failed` or `blocked`."""


@dataclass(slots=True, kw_only=True)
class Recording:
    """The content of a source, and the limits of what it can show."""

    kind: str
    """The kind of recording, in the runtime's words: `NanoClaw v2 session folder`."""
    runs: list[RecordedRun]
    holds: list[str] = field(default_factory=list)
    """A line for each thing that the recording shows."""
    lacks: list[str] = field(default_factory=list)
    """A line for each thing that it cannot show, with the consequences for assertions."""
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
    """The folder in which the agent worked, if the recording has it. It never names the owner of a home folder."""


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
    """Counts of all that has come: spans, log records, and refused requests, with the reason for the last one."""

    spans: int = 0
    logs: int = 0
    refused: int = 0
    reason: str = ""


class Receiving(Protocol):
    """A receiver, as `receive(file, address, max_bytes=...)` of an adapter opens it: while open (`with`), it takes data.

    `file` is a new one, which the adapter's `recorder` reads then; `address` is a host and a port, or the path of a
    unix socket.
    """

    @property
    def endpoint(self) -> str:
        """The address to send to."""
        ...

    @property
    def received(self) -> Received:
        """Count all that has come so far."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
