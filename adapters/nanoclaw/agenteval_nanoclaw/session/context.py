"""Memory of groups: which files are memory, whose, and what tool calls do to it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from posixpath import basename, join, normpath
from typing import Any

from agenteval.contracts.trace import TraceScenario
from agenteval.reading.documents import read_bytes
from agenteval.shell.commands import Touch, touches
from agenteval.text.names import is_glob, name_matches
from agenteval.text.regexes import lazy
from agenteval_nanoclaw.session.reading import Reading
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.store import Group, Mount
from agenteval_nanoclaw.session.values import iso, records_in, text_of

SHARED = "global"
"""Owns what NanoClaw shares between groups."""
OWN_FOLDERS = ("/workspace/agent", "/workspace/group")
"""Where a group's folder is mounted: in v2, and in v1."""
ALL_GROUPS = "/workspace/project/groups"
"""Where the main group of v1 sees all groups."""
LOCAL = "CLAUDE.local.md"
MAIN = "CLAUDE.md"
_BEGIN = lazy(rf"^(?:\./|(?:{'|'.join(OWN_FOLDERS)})/)")


@dataclass(frozen=True, slots=True)
class Owned:
    """A memory file: the group that owns it, and what kind of memory it is."""

    group: str
    source: str
    path: str


@dataclass(slots=True, kw_only=True)
class MemoryUse:
    """One read or write of a memory file."""

    write: bool
    file: Owned
    content: str | None = None
    change: str = ""
    names_only: bool = False
    """Whether only the file's name was shown, not what is in it."""
    whole: bool = False
    """Whether the file holds nothing but `content` after this write."""


@dataclass(slots=True, kw_only=True)
class Memory:
    """Tells memory files from others, for one group."""

    group: str
    mounts: list[Mount] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    """All groups that are known."""
    index_text: str = ""
    """What the group's memory file holds, as far as known: files that it names are memory too."""
    unclear: list[str] = field(default_factory=list)
    """Commands that name memory in a way that was not understood."""

    def owned(self, path: str) -> Owned | None:
        """The memory file that a path inside the container leads to, or None."""
        path = normpath(path)
        for folder in OWN_FOLDERS:
            if path.startswith(folder + "/"):
                return self._own(path, path[len(folder) + 1 :], v2=folder == OWN_FOLDERS[0])
        if path.startswith("/workspace/global/") or path == "/app/CLAUDE.md":
            return Owned(SHARED, basename(path), path) if path.endswith(".md") else None
        if "/.claude/projects/" in path and "/memory/" in path and path.endswith(".md"):
            return Owned(self.group, "auto memory", path)
        if path.startswith(f"{ALL_GROUPS}/"):
            folder, _, inside = path.removeprefix(f"{ALL_GROUPS}/").partition("/")
            return self._of_group(folder, inside, path)
        if path.startswith("/workspace/extra/"):
            return self._mounted(path)
        return None

    def _own(self, path: str, inside: str, *, v2: bool) -> Owned | None:
        if inside == LOCAL:
            return Owned(self.group, LOCAL, path)
        if inside == MAIN:  # in v2 it is put together from what all groups share
            return Owned(SHARED if v2 else self.group, MAIN, path)
        if inside.startswith("conversations/") and inside.endswith(".md"):
            return Owned(self.group, "conversations", path)
        if inside in self.indexed():
            return Owned(self.group, inside, path)
        return None

    def _of_group(self, group: str, inside: str, path: str) -> Owned | None:
        if group == SHARED:
            return Owned(SHARED, basename(path), path) if path.endswith(".md") else None
        if group == self.group:
            return self._own(path, inside, v2=False)
        if inside in (LOCAL, MAIN) or (inside.startswith("conversations/") and inside.endswith(".md")):
            return Owned(group, inside.partition("/")[0], path)
        return None

    def _mounted(self, path: str) -> Owned | None:
        for mount in self.mounts:
            if path.startswith(mount.inside + "/"):
                host = normpath(mount.host.replace("\\", "/") + path[len(mount.inside) :])
                folder, _, inside = host.partition("/groups/")[2].partition("/")
                return self._of_group(folder, inside, path)
        name = path.removeprefix("/workspace/extra/").partition("/")[0]
        return Owned(name, LOCAL, path) if basename(path) == LOCAL else None

    def indexed(self) -> list[str]:
        """The files that the memory file names, by their paths in the group's folder."""
        words = re.split(r"[^\w./-]+", self.index_text)
        names = [_BEGIN.sub("", word).rstrip(".") for word in words]
        return [
            name
            for name in names
            if name.endswith((".md", ".txt", ".json")) and not name.startswith((".", "/"))
        ]

    # What calls do ---------------------------------------------------------------------------------------------

    def uses(self, tool: str, args: dict[str, Any], folder: str, output: str) -> list[MemoryUse]:
        """What a successful call did to memory.

        `tool` is the recorded name, `folder` the working directory, `output` the text of the result.
        """
        if tool == "Read":
            return [
                MemoryUse(write=False, file=file, content=output)
                for file in self._files([text_of(args.get("file_path"))], folder)
            ]
        if tool in ("Edit", "MultiEdit", "Write"):
            return list(self._edited(tool, args, folder))
        if tool == "Grep":
            return self._searched(args, folder, output)
        if tool == "Glob":
            names = [join(text_of(args.get("path")), line) for line in output.splitlines()]
            return [MemoryUse(write=False, file=file, names_only=True) for file in self._files(names, folder)]
        if tool == "Bash":
            return self._ran(text_of(args.get("command")), folder, output)
        return []

    def _files(self, paths: Iterable[str], folder: str) -> Iterator[Owned]:
        for path in paths:
            if file := self.owned(join(folder, path)):
                yield file

    def _edited(self, tool: str, args: dict[str, Any], folder: str) -> Iterator[MemoryUse]:
        for file in self._files([text_of(args.get("file_path"))], folder):
            if tool == "Write":
                yield MemoryUse(write=True, file=file, content=text_of(args.get("content")), whole=True)
                continue
            edits = args.get("edits") if tool == "MultiEdit" else [args]
            for edit in records_in(edits):
                yield MemoryUse(
                    write=True,
                    file=file,
                    content=text_of(edit.get("new_string")),
                    change=instead_of(text_of(edit.get("old_string"))),
                )

    def _searched(self, args: dict[str, Any], folder: str, output: str) -> list[MemoryUse]:
        place = normpath(join(folder, text_of(args.get("path"))))
        names_only = args.get("output_mode") != "content"
        if file := self.owned(place):
            nothing = output.startswith(("No matches found", "No files found"))
            return [] if nothing else [_read(file, output, names_only=names_only)]
        return self._hits(output, place, folder, names_only=names_only)

    def _hits(self, output: str, place: str, folder: str, *, names_only: bool) -> list[MemoryUse]:
        """The memory files that the lines of a search name, each with the lines found in it.

        They are named from the folder that the search ran in, else from the place that was searched.
        """
        found: dict[Owned, list[str]] = {}
        for line in output.splitlines():
            name, text = _hit(line)
            path = normpath(join(folder, name))
            inside = name_matches(place, path) or name_matches(f"{place}/*", path)
            if file := self.owned(path if inside else join(place, name)):
                found.setdefault(file, []).append(text)
        return [_read(file, "\n".join(lines), names_only=names_only) for file, lines in found.items()]

    def _ran(self, command: str, folder: str, output: str) -> list[MemoryUse]:
        found, unclear = touches(command, folder)
        named = any(
            each in text
            for text, _ in unclear
            for each in (LOCAL, "/CLAUDE.md", "/workspace/extra/", "/memory/MEMORY.md")
        )
        uses: list[MemoryUse] = []
        for touch in found:
            files = self._matching(touch.path)
            names_only = touch.access == "names"
            if touch.access == "write":
                done = [_written(touch, file, command) for file in files]
            elif files and not (names_only and is_glob(touch.path)):
                done = [_read(file, output, names_only=names_only) for file in files]
            else:
                done = self._hits(output, touch.path, touch.folder, names_only=names_only)
            if not done and touch.below and touch.access in ("copy", "write"):
                done = self._taken(touch, command)
            named = named or (not done and self._is_of_many(touch))
            uses += done
        if named:
            self.unclear.append(command)
        return _once(uses)

    def _taken(self, touch: Touch, command: str) -> list[MemoryUse]:
        """What is done to the memory of another group whose folder is copied, moved or deleted as a whole."""
        files = [file for name in (LOCAL, MAIN) for file in self._matching(join(touch.path, name))]
        others = [file for file in files if file.group not in (self.group, SHARED)][:1]
        write = touch.access == "write"
        return [
            _written(touch, file, command) if write else MemoryUse(write=False, file=file) for file in others
        ]

    def _is_of_many(self, touch: Touch) -> bool:
        """Whether it is the memory of groups that a glob means, or whose folders are copied with all that is around."""
        if not touch.below or touch.access not in ("copy", "write"):
            return self.owned(touch.path) is not None
        inside = (self.owned(join(touch.path, "*", name)) for name in (LOCAL, MAIN))
        return any(file and file.group not in (self.group, SHARED) for file in inside)

    def _matching(self, path: str) -> list[Owned]:
        """The memory files that a path, or a glob, means."""
        if not is_glob(path):
            file = self.owned(path)
            return [file] if file else []
        places = [*OWN_FOLDERS, *(mount.inside for mount in self.mounts)]
        roots = [ALL_GROUPS, *(mount.inside for mount in self.mounts if mount.holds_all)]
        places += [join(root, group) for root in roots for group in self.groups]
        known = [join(place, name) for place in places for name in (LOCAL, MAIN)]
        known += [join(place, name) for place in OWN_FOLDERS for name in self.indexed()]
        known.append(f"/workspace/global/{MAIN}")
        named = [each for each in dict.fromkeys(known) if _means(path, each)]
        return [file for each in named if (file := self.owned(each))]


def _means(glob: str, path: str) -> bool:
    """Whether a glob means a path, as a shell reads it: only `**` goes through folders, or through none."""
    if "**" in glob:
        return name_matches(glob, path) or name_matches(glob.replace("**/", ""), path)
    return glob.count("/") == path.count("/") and name_matches(glob, path)


def instead_of(old: str) -> str:
    """What a write says of the text that it took out."""
    return f"instead of: {old}" if old else ""


def _written(touch: Touch, file: Owned, command: str) -> MemoryUse:
    change = instead_of(touch.taken) if touch.written is not None else f"by the command: {command}"
    return MemoryUse(write=True, file=file, content=touch.written, change=change, whole=touch.whole)


def _read(file: Owned, output: str, *, names_only: bool) -> MemoryUse:
    return MemoryUse(write=False, file=file, content=None if names_only else output, names_only=names_only)


def _hit(line: str) -> tuple[str, str]:
    """File and text of a line that a search prints: `notes.md:2:text`, or a name alone."""
    name, _, rest = line.partition(":")
    number, second, text = rest.partition(":")
    if second and number.isdigit():
        return name, text
    return name, rest


def _once(uses: list[MemoryUse]) -> list[MemoryUse]:
    kept: list[MemoryUse] = []
    for use in uses:
        same = [each for each in kept if (each.file, each.write) == (use.file, use.write)]
        if use.write:
            kept += [use] * (use not in same[-1:])
            continue
        if not same:
            kept.append(use)
        elif same[0].names_only:
            kept[kept.index(same[0])] = use
    return kept


MAX_MEMORY = 1_000_000
"""Memory files of more bytes are not read."""
_PLAIN = re.compile(r"\w[\w.-]*")


def generation_of(run: Run, reading: Reading) -> str:
    """`v2` or `v1` of NanoClaw, by the databases or the agent's working directory; empty for another agent."""
    if reading.source.kind != "transcript":
        return reading.source.kind
    folder = run.index.folder
    if folder.startswith("/workspace/agent"):
        return "v2"
    if folder.startswith("/workspace/group"):
        return "v1"
    return "v2" if run.timezone or any(each.message.seq for each in run.received) else ""


def group_of(run: Run, reading: Reading) -> Group | None:
    """The group that a run acts for."""
    owner = run.session.owner if run.session else run.transcript.owner
    return reading.store.group_of(owner)


def scenario_of(run: Run, reading: Reading, default_group: str) -> TraceScenario:
    """The situation of a run, as the recording shows it."""
    group = group_of(run, reading)
    session = run.session.id if run.session and reading.source.kind == "v2" else run.transcript.sdk_session
    scenario = TraceScenario(
        trigger="scheduler" if run.by_scheduler else "user_message",
        group_id=(group.folder if group else run.transcript.owner) or default_group or None,
        session_id=session,
    )
    if run.by_scheduler:
        context = {"timezone": run.timezone} if run.timezone else {}
        if task := run.task:
            scenario.task_id = context["task_id"] = task.id
            if task.process_after is not None:
                context["scheduled_for"] = iso(task.process_after)
            if task.series and task.series != task.id:
                context["series_id"] = task.series
            if recurrence := task.recurrence or _later_recurrence(run):
                context["recurrence"] = recurrence
        scenario.scheduler_context = context
    return scenario


def _later_recurrence(run: Run) -> str:
    """The recurrence of the series: it moves on to the next occurrence when one is done."""
    task = run.task
    rows = run.session.inbound if run.session else []
    return next((row.recurrence for row in rows if task and row.recurrence and row.series == task.series), "")


def mounts_are_known(run: Run, reading: Reading) -> bool:
    """Whether the recording tells what was mounted into the container."""
    group = group_of(run, reading)
    return group is not None and group.mounts is not None


def memory_of(run: Run, reading: Reading, group_id: str) -> Memory:
    """What tells the memory files of a run from others."""
    group = group_of(run, reading)
    groups = [each.folder for each in reading.store.groups.values()]
    memory = Memory(group=group_id, mounts=(group.mounts if group else None) or [], groups=groups)
    if text := group_file(reading, group_id, LOCAL):
        memory.index_text = text
    return memory


def group_file(reading: Reading, folder: str, name: str) -> str | None:
    """A file of a group's folder, as it was when the recording was copied; None when it is not there."""
    if reading.store.folders is None or not _PLAIN.fullmatch(folder):
        return None
    path = reading.store.folders / folder / name
    try:
        if not path.is_file() or not reading.source.allowed(path) or path.stat().st_size > MAX_MEMORY:
            return None
        return read_bytes(path).decode(errors="replace")
    except (OSError, ValueError):
        return None
