"""What a path holds: a transcript, a NanoClaw v2 install or session folder, a v1 store; and the files that belong to it.

Nothing else is read here. Files are found by the layout that NanoClaw gives them. Symbolic links that lead nowhere, or out
of the recording, are never followed.
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
"""What streams may be saved as, beside `.jsonl`: their beginning is looked at."""
LAYOUT: dict[Kind, tuple[str, str]] = {"v2": ("v2-sessions", ".claude-shared"), "v1": ("sessions", ".claude")}
"""The folder of an install's `data` with a folder for each group, and the settings in that, where the transcripts are."""
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
        """The transcripts of its subagents, in the layouts of all releases; those beside it may be of other sessions."""
        if self._sidechains is None:
            own = self.path.with_suffix("")
            folders = (own / "subagents", own / "subagents" / "workflows", own, self.path.parent)
            patterns = (AGENT_FILES, f"*/{AGENT_FILES}", AGENT_FILES, AGENT_FILES)
            found = [path for pair in zip(folders, patterns, strict=True) for path in _files(*pair)]
            self._sidechains = list(filter(allowed, found))
        return self._sidechains


class Head(NamedTuple):
    """How the transcript of a subagent begins."""

    session: str
    time: int | None
    prompt: str


@dataclass(slots=True, kw_only=True)
class Source:
    """The files of a recording."""

    kind: Kind
    what: str
    """What it is called."""
    allowed: Callable[[Path], bool]
    """Whether a path, links followed, may be read."""
    transcripts: list[Transcript] = field(default_factory=list)
    sessions: dict[Path, str] = field(default_factory=dict)
    """The folders of v2 sessions, named by their ids, with the agent groups that own them; empty when unknown."""
    others: dict[Path, str] = field(default_factory=dict)
    """Those of the install that were not asked for: they tell whether messages to their agents arrived."""
    database: Path | None = None
    """That of the install: of v2 the central one, of v1 the store."""
    groups: Path | None = None
    """The group folders."""
    chosen: Path | None = None
    """The session folder that was named, when it was one."""
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
        raise unreadable(path, error) from error
    if source is None:
        what = "nothing there" if not path.exists() else "not a recording of NanoClaw"
        raise AdapterError(
            f"{shown(path)}: {what}", reason_code="adapter.no_recording", next_step=NO_RECORDING
        )
    return source


def unreadable(path: Path, error: OSError) -> AdapterError:
    """The error of a recording that the operating system does not let us read."""
    return AdapterError(
        f"{shown(path)} cannot be read: {error.strerror or error}",
        reason_code="adapter.no_recording",
        next_step="check the permissions",
    )


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
    """A transcript; one inside an install has the databases of the install beside it."""
    for kind, (sessions, _) in LAYOUT.items() if "projects" in path.parts[:-1] else ():
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
    """A v2 session folder, in its install or copied out of it with transcripts beside the databases."""
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
    """What an install has of one group; of its transcripts only the one that was named."""
    source.transcripts = [each for each in source.transcripts if each.owner == owner]
    if transcript:
        source.transcripts = [Transcript(transcript, owner)]
    source.others = {folder: each for folder, each in source.sessions.items() if each != owner}
    source.sessions = {folder: each for folder, each in source.sessions.items() if each == owner}
    return source


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
        for folder in _folders(owner, allowed) if kind == "v2" else ():
            if any((folder / name).is_file() for name in _OF_SESSIONS):
                source.sessions[folder] = owner.name
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
        real = os.path.realpath(path)
        return all(real == folder or real.startswith(os.path.join(folder, "")) for folder in folders)  # noqa: PTH118

    return allowed
