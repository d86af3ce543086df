"""What a path holds: a transcript, a NanoClaw v2 install or session folder, a v1 store; and the files that belong to it.

Nothing else is read here. Files are found by the layout that NanoClaw gives them. Symbolic links that lead nowhere, or out
of the recording, are never followed.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agenteval.contracts.errors import AdapterError
from agenteval.reading.documents import opened

Kind = Literal["transcript", "v2", "v1"]
V1_STORE = "NanoClaw v1 store"
TRANSCRIPT = "Claude Agent SDK transcript"
STREAM = "Claude Code stream-json output"
AGENT_FILES = "agent-*.jsonl"
"""The names of the transcripts of subagents."""
OF_STREAMS = (".json", ".ndjson", ".log", ".txt")
"""What streams may be saved as, beside `.jsonl`: their beginning is looked at."""
_LINE = re.compile(rb'"type"\s*:\s*"(?:system|user|assistant|result)"')

NO_RECORDING = (
    "name a transcript (*.jsonl), the output of `claude --output-format stream-json`, a NanoClaw v2 install root (with data/v2-sessions) or session folder "
    "(with inbound.db), or a v1 install root (with store/messages.db)"
)


@dataclass(slots=True, kw_only=True)
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
        """The transcripts of its subagents, in the layouts of all releases; those beside it may be of other sessions."""
        if self._sidechains is None:
            own = self.path.with_suffix("")
            folders = (own / "subagents", own / "subagents" / "workflows", own, self.path.parent)
            patterns = (AGENT_FILES, f"*/{AGENT_FILES}", AGENT_FILES, AGENT_FILES)
            found = [path for pair in zip(folders, patterns, strict=True) for path in _files(*pair)]
            self._sidechains = list(filter(allowed, found))
        return self._sidechains


@dataclass(slots=True, kw_only=True)
class SessionFolder:
    """The folder of a v2 session, with its two databases. Its name is the session's id."""

    path: Path
    owner: str = ""


@dataclass(slots=True)
class Head:
    """How the transcript of a subagent begins."""

    session: str
    time: int | None
    prompt: str


@dataclass(slots=True, kw_only=True)
class Source:
    """The files of a recording. `chosen` is the session folder that was named, when it was one."""

    kind: Kind
    what: str
    """What it is called."""
    transcripts: list[Transcript] = field(default_factory=list)
    sessions: list[SessionFolder] = field(default_factory=list)
    central: Path | None = None
    store: Path | None = None
    groups: Path | None = None
    chosen: SessionFolder | None = None
    allowed: Callable[[Path], bool]
    """Whether a path, links followed, may be read."""
    heads: dict[Path, Head] = field(default_factory=dict)
    """How transcripts of subagents begin, once that is read."""


def find_source(path: Path, *, within: Path | None) -> Source:
    """What is recorded at a path. `within` is the folder out of which nothing is read; None leaves it to the recording.

    Raises `AdapterError` (`adapter.no_recording`).
    """
    path = path.absolute()
    try:
        source = _source_at(path, within)
    except OSError as error:
        raise AdapterError(
            f"{shown(path)} cannot be read: {error.strerror or error}",
            reason_code="adapter.no_recording",
            next_step="check the permissions",
        ) from error
    if source is None:
        what = "nothing there" if not path.exists() else "not a recording of NanoClaw"
        raise AdapterError(
            f"{shown(path)}: {what}", reason_code="adapter.no_recording", next_step=NO_RECORDING
        )
    return source


def belonging(path: Path) -> list[Path]:
    """The files and folders that are read with a recording that is named by its path, whether or not they are there."""
    path = path.absolute()
    for root in (path, *path.parents):
        if (root / "data" / "v2-sessions").is_dir() or (root / "store" / "messages.db").is_file():
            return [root / name for name in ("data", "store", "groups")]
    if path.suffix == ".jsonl":
        return [path.with_suffix(""), *path.parent.glob("agent-*")]
    return [] if path.is_dir() else [path.parent]


def shown(path: Path) -> str:
    """A path as messages show it: relative inside the working directory, so that it is the same on every machine."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _source_at(path: Path, within: Path | None) -> Source | None:
    if path.is_dir():
        if (path / "data" / "v2-sessions").is_dir():
            return _v2("NanoClaw v2 install", path, within)
        if (path / "store" / "messages.db").is_file():
            return _v1(V1_STORE, path, path / "store" / "messages.db", within)
        if (path / "inbound.db").is_file() or (path / "outbound.db").is_file():
            return _session_folder(path, within)
        if (path / "messages.db").is_file():
            root = path.parent if path.name == "store" else path
            return _v1(V1_STORE, root, path / "messages.db", within)
        return None
    if not path.is_file():
        return None
    if path.name == "messages.db":
        return _source_at(path.parent, within)
    if path.name in ("inbound.db", "outbound.db"):
        return _session_folder(path.parent, within)
    is_transcript = path.suffix == ".jsonl" or (path.suffix in OF_STREAMS and _has_lines(path))
    return _transcript(path, within) if is_transcript else None


def _has_lines(path: Path) -> bool:
    with opened(path) as file:
        return _LINE.search(file.read(1 << 16)) is not None


def _transcript(path: Path, within: Path | None) -> Source:
    """A transcript; one inside an install has the databases of the install beside it."""
    parts = path.parts
    for marker, kind in (("v2-sessions", "v2"), ("sessions", "v1")):
        if marker not in parts[:-1] or "projects" not in parts[:-1]:
            continue
        at = len(parts) - 1 - parts[::-1].index(marker)
        root = Path(*parts[: at - 1])
        if parts[at - 1] != "data" or (within is not None and not _under(root, within)):
            continue
        own = Transcript(path=path, owner=parts[at + 1])
        what = f"{TRANSCRIPT} in a NanoClaw install"
        if kind == "v2":
            source = _v2(what, root, within)
        elif (store := root / "store" / "messages.db").is_file():
            source = _v1(what, root, store, within)
        else:
            continue
        source.transcripts = [own]
        source.sessions = [session for session in source.sessions if session.owner == own.owner]
        return source
    return Source(
        kind="transcript",
        what=TRANSCRIPT,
        transcripts=[Transcript(path=path)],
        allowed=_guard(path.parent, within),
    )


def _session_folder(path: Path, within: Path | None) -> Source:
    """A v2 session folder, in its install or copied out of it with transcripts beside the databases."""
    root = path.parent.parent.parent.parent
    if path.parent.parent.name == "v2-sessions" and (within is None or _under(root, within)):
        source = _v2("NanoClaw v2 session folder", root, within)
        owner = path.parent.name
        source.transcripts = [each for each in source.transcripts if each.owner == owner]
        source.sessions = [each for each in source.sessions if each.owner == owner]
        source.chosen = next((each for each in source.sessions if each.path.name == path.name), None)
        return source
    allowed = _guard(path, within)
    session = SessionFolder(path=path)
    return Source(
        kind="v2",
        what="NanoClaw v2 session folder",
        transcripts=_transcripts(path, "*.jsonl", allowed),
        sessions=[session],
        chosen=session,
        allowed=allowed,
    )


def _v2(what: str, root: Path, within: Path | None) -> Source:
    allowed = _guard(root, within)
    source = Source(kind="v2", what=what, allowed=allowed)
    for owner in _folders(root / "data" / "v2-sessions", allowed):
        projects = owner / ".claude-shared" / "projects"
        source.transcripts += _transcripts(projects, "*/*.jsonl", allowed, owner.name)
        source.sessions += [
            SessionFolder(path=folder, owner=owner.name)
            for folder in _folders(owner, allowed)
            if any((folder / name).is_file() for name in ("inbound.db", "outbound.db"))
        ]
    central = root / "data" / "v2.db"
    source.central = central if central.is_file() and allowed(central) else None
    source.groups = _groups(root, allowed)
    return source


def _v1(what: str, root: Path, store: Path, within: Path | None) -> Source:
    allowed = _guard(root, within)
    source = Source(kind="v1", what=what, allowed=allowed)
    source.store = store if allowed(store) else None
    source.groups = _groups(root, allowed)
    for folder in _folders(root / "data" / "sessions", allowed):
        projects = folder / ".claude" / "projects"
        source.transcripts += _transcripts(projects, "*/*.jsonl", allowed, folder.name)
    if not source.transcripts:  # a store that was copied out of its install, with transcripts beside it
        source.transcripts = _transcripts(store.parent, "*.jsonl", allowed)
    return source


def _transcripts(
    folder: Path, pattern: str, allowed: Callable[[Path], bool], owner: str = ""
) -> list[Transcript]:
    files = [path for path in _files(folder, pattern) if allowed(path) and not path.match(AGENT_FILES)]
    return [Transcript(path=path, owner=owner) for path in files]


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.glob(pattern) if path.is_file())  # a pipe would be waited for


def _groups(root: Path, allowed: Callable[[Path], bool]) -> Path | None:
    folder = root / "groups"
    return folder if folder.is_dir() and allowed(folder) else None


def _folders(path: Path, allowed: Callable[[Path], bool]) -> Iterator[Path]:
    if path.is_dir():
        yield from (each for each in sorted(path.iterdir()) if each.is_dir() and allowed(each))


def _guard(root: Path, within: Path | None) -> Callable[[Path], bool]:
    folders = [os.path.realpath(folder) for folder in (root, within) if folder is not None]

    def allowed(path: Path) -> bool:
        real = os.path.realpath(path)
        return all(real == folder or real.startswith(os.path.join(folder, "")) for folder in folders)  # noqa: PTH118

    return allowed


def _under(path: Path, folder: Path) -> bool:
    return _guard(folder, None)(path)
