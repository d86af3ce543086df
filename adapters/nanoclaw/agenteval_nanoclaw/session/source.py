"""Finds the files of a recording: a transcript, a NanoClaw v2 install or session folder, a v1 store.

Files are found by NanoClaw's layout, and not read here. Symbolic links that lead nowhere, or out of the recording, are
never followed.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from agenteval.contracts.errors import AdapterError
from agenteval.reading.documents import opened
from agenteval.text.lazy_regexes import lazy

Kind = Literal["transcript", "v2", "v1"]
V1_STORE = "NanoClaw v1 store"
TRANSCRIPT = "Claude Agent SDK transcript"
STREAM = "Claude Code stream-json output"
AGENT_FILES = "agent-*.jsonl"
"""The names of the transcripts of subagents."""
OF_STREAMS = (".json", ".ndjson", ".log", ".txt")
"""Suffixes of saved streams, beside `.jsonl`. Such a file is a stream if its beginning looks like one."""
LAYOUT: dict[Kind, tuple[str, str]] = {"v2": ("v2-sessions", ".claude-shared"), "v1": ("sessions", ".claude")}
"""The folder of the groups in an install's `data`, and the folder with transcripts in each group's folder."""
_OF_SESSIONS = ("inbound.db", "outbound.db")
_LINE = lazy(rb'"type"\s*:\s*"(?:system|user|assistant|result)"')

NO_RECORDING = (
    "name a transcript (*.jsonl), the output of `claude --output-format stream-json`, a NanoClaw v2 install root (with data/v2-sessions) or session folder "
    "(with inbound.db), or a v1 install root (with store/messages.db)"
)


@dataclass(slots=True)
class Transcript:
    """One transcript of the Claude Agent SDK. `owner` is the agent group (v2) or group folder (v1); empty when unknown."""

    path: Path
    owner: str = ""
    _sidechains: list[Path] | None = None

    @property
    def sdk_session(self) -> str:
        """The id of the SDK session, which is the file's name."""
        return self.path.stem

    def sidechains(self, allowed: Callable[[Path], bool]) -> list[Path]:
        """List the transcripts of its subagents, in the layouts of all releases. Those beside it may be of other sessions."""
        if self._sidechains is None:
            own = self.path.with_suffix("")
            folders = (own / "subagents", own / "subagents" / "workflows", own, self.path.parent)
            patterns = (AGENT_FILES, f"*/{AGENT_FILES}", AGENT_FILES, AGENT_FILES)
            found = [path for pair in zip(folders, patterns, strict=True) for path in _files(*pair)]
            self._sidechains = list(filter(allowed, found))
        return self._sidechains


class Head(NamedTuple):
    """The beginning of a subagent's transcript."""

    session: str
    time: int | None
    prompt: str


@dataclass(slots=True, kw_only=True)
class Source:
    """The files of a recording."""

    kind: Kind
    what: str
    """The name of its kind, for messages."""
    allowed: Callable[[Path], bool]
    """Returns whether a path, links followed, may be read."""
    transcripts: list[Transcript] = field(default_factory=list)
    sessions: dict[Path, str] = field(default_factory=dict)
    """The folders of v2 sessions, named by their ids, with the agent groups that own them; empty when unknown."""
    others: dict[Path, str] = field(default_factory=dict)
    """Sessions of the install that were not asked for. They show whether messages to their agents arrived."""
    database: Path | None = None
    """The database of the install: the central one of v2, the store of v1."""
    groups: Path | None = None
    """The group folders."""
    chosen: Path | None = None
    """The session folder that was named, when it was one."""
    heads: dict[Path, Head] = field(default_factory=dict)
    """The beginnings of subagents' transcripts that were read so far."""


def find_source(path: Path, *, within: Path | None) -> Source:
    """Find the recording at a path. Nothing outside the folder `within` is read; None leaves the limit to the recording.

    Raises `AdapterError` (`adapter.no_recording`).
    """
    path = path.absolute()
    try:
        source = _source_at(path, within)
    except OSError as error:
        raise unreadable(path, error) from error
    if source is None:
        what = "nothing there" if not path.exists() else "not a recording of NanoClaw"
        raise AdapterError(
            f"{shown(path)}: {what}", reason_code="adapter.no_recording", next_step=NO_RECORDING
        )
    return source


def unreadable(path: Path, error: OSError) -> AdapterError:
    """Return the error for a recording that the operating system does not let us read."""
    return AdapterError(
        f"{shown(path)} cannot be read: {error.strerror or error}",
        reason_code="adapter.no_recording",
        next_step="check the permissions",
    )


def belonging(path: Path) -> list[Path]:
    """List the files and folders that are read with the recording at a path. Some of them may not exist."""
    path = path.absolute()
    for root in (path, *path.parents):
        if (root / "data" / "v2-sessions").is_dir() or (root / "store" / "messages.db").is_file():
            return [root / name for name in ("data", "store", "groups")]
    if path.suffix == ".jsonl":
        return [path.with_suffix(""), *path.parent.glob("agent-*")]
    return [] if path.is_dir() else [path.parent]


def shown(path: Path) -> str:
    """Format a path for messages: relative inside the working directory, so that it is the same on every machine."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _source_at(path: Path, within: Path | None) -> Source | None:
    if path.name in ("messages.db", *_OF_SESSIONS) and path.is_file():
        path = path.parent
    if path.is_file():
        is_transcript = path.suffix == ".jsonl" or (path.suffix in OF_STREAMS and _has_lines(path))
        return _transcript(path, within) if is_transcript else None
    if (path / "data" / "v2-sessions").is_dir():
        return _install("v2", "NanoClaw v2 install", path, within)
    if (path / "store" / "messages.db").is_file():
        return _install("v1", V1_STORE, path, within)
    if any((path / name).is_file() for name in _OF_SESSIONS):
        return _session_folder(path, within)
    if (path / "messages.db").is_file():
        root = path.parent if path.name == "store" else path
        return _install("v1", V1_STORE, root, within, store=path / "messages.db")
    return None


def _has_lines(path: Path) -> bool:
    with opened(path) as file:
        return _LINE.search(file.read(1 << 16)) is not None


def _transcript(path: Path, within: Path | None) -> Source:
    """Return the source of a transcript. One inside an install has the databases of the install, too."""
    for kind, (sessions, _) in LAYOUT.items() if "projects" in path.parts[:-1] else ():
        # The transcript of an install is at data/v2-sessions/<group>/.claude-shared/projects/…, so the root is above it.
        for root in path.parents:
            groups = root / "data" / sessions
            is_outside = within is not None and not _guard(within, None)(root)
            is_install = kind == "v2" or (root / "store" / "messages.db").is_file()
            if not path.is_relative_to(groups) or is_outside or not is_install:
                continue
            owner = path.relative_to(groups).parts[0]
            return _of_owner(_install(kind, f"{TRANSCRIPT} in a NanoClaw install", root, within), owner, path)
    allowed = _guard(path.parent, within)
    return Source(kind="transcript", what=TRANSCRIPT, transcripts=[Transcript(path)], allowed=allowed)


def _session_folder(path: Path, within: Path | None) -> Source:
    """Return the source of a v2 session folder, in its install or copied out with transcripts beside the databases."""
    what = "NanoClaw v2 session folder"
    if path.parent.parent.name == "v2-sessions":
        root = path.parent.parent.parent.parent
        if within is None or _guard(within, None)(root):
            source = _of_owner(_install("v2", what, root, within), path.parent.name)
            source.chosen = path if path in source.sessions else None
            return source
    allowed = _guard(path, within)
    source = Source(kind="v2", what=what, allowed=allowed, sessions={path: ""}, chosen=path)
    source.transcripts = _transcripts(path, "*.jsonl", allowed)
    return source


def _of_owner(source: Source, owner: str, transcript: Path | None = None) -> Source:
    """Restrict an install to one group, and to the named transcript, if any."""
    source.transcripts = [each for each in source.transcripts if each.owner == owner]
    if transcript:
        source.transcripts = [Transcript(transcript, owner)]
    source.others = {folder: each for folder, each in source.sessions.items() if each != owner}
    source.sessions = {folder: each for folder, each in source.sessions.items() if each == owner}
    return source


def _has_databases(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _OF_SESSIONS)


def _install(kind: Kind, what: str, root: Path, within: Path | None, store: Path | None = None) -> Source:
    allowed = _guard(root, within)
    database = store or root / ("data/v2.db" if kind == "v2" else "store/messages.db")
    groups = root / "groups"
    source = Source(kind=kind, what=what, allowed=allowed)
    source.database = database if database.is_file() and allowed(database) else None
    source.groups = groups if groups.is_dir() and allowed(groups) else None
    sessions, settings = LAYOUT[kind]
    for owner in _folders(root / "data" / sessions, allowed):
        source.transcripts += _transcripts(owner / settings / "projects", "*/*.jsonl", allowed, owner.name)
        folders = _folders(owner, allowed) if kind == "v2" else ()
        source.sessions |= {folder: owner.name for folder in folders if _has_databases(folder)}
    if kind == "v1" and not source.transcripts:  # the store was copied out, with transcripts beside it
        source.transcripts = _transcripts(database.parent, "*.jsonl", allowed)
    return source


def _transcripts(
    folder: Path, pattern: str, allowed: Callable[[Path], bool], owner: str = ""
) -> list[Transcript]:
    files = [path for path in _files(folder, pattern) if allowed(path) and not path.match(AGENT_FILES)]
    return [Transcript(path, owner) for path in files]


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.glob(pattern) if path.is_file())  # a pipe would be waited for


def _folders(path: Path, allowed: Callable[[Path], bool]) -> Iterator[Path]:
    if path.is_dir():
        yield from (each for each in sorted(path.iterdir()) if each.is_dir() and allowed(each))


def _guard(root: Path, within: Path | None) -> Callable[[Path], bool]:
    folders = [os.path.realpath(folder) for folder in (root, within) if folder is not None]

    def allowed(path: Path) -> bool:
        # Compared after links are followed: a link inside the recording must not lead out of it.
        real = os.path.realpath(path)
        return all(real == folder or real.startswith(os.path.join(folder, "")) for folder in folders)  # noqa: PTH118

    return allowed
