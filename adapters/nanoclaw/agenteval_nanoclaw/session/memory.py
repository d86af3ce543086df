"""Memory of groups: the files that are memory, their owners, the effects of tool calls, and memory events."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from posixpath import basename, join, normpath
from typing import Any

from agenteval.contracts.trace import TraceBuilder
from agenteval.reading.documents import read_bytes
from agenteval.shell.commands import Touch, touches
from agenteval.text.lazy_regexes import lazy
from agenteval.text.names import is_glob, name_matches
from agenteval_nanoclaw.session.lines import Entry
from agenteval_nanoclaw.session.results import Call
from agenteval_nanoclaw.session.runs import Reading, Run
from agenteval_nanoclaw.session.store import Mount
from agenteval_nanoclaw.session.values import Record, iso, record_of, records_in, text_of
from agenteval_nanoclaw.versions import MEMORY_FOLDER, MEMORY_INDEX

SHARED = "global"
"""The owner of files that NanoClaw shares between groups."""
OWN_FOLDERS = ("/workspace/agent", "/workspace/group")
"""The mount points of a group's folder, in v2 and in v1."""
ALL_GROUPS = "/workspace/project/groups"
"""The mount point of all groups in the main group of v1."""
EXTRA = "/workspace/extra/"
LOCAL = "CLAUDE.local.md"
MAIN = "CLAUDE.md"
MAX_MEMORY = 1_000_000
"""The most bytes of a memory file that is read."""
_BEGIN = lazy(rf"^(?:\./|(?:{'|'.join(OWN_FOLDERS)})/)")
_PLAIN = lazy(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A memory file: its owner, the kind of memory, and its path."""

    group: str
    source: str
    path: str


@dataclass(slots=True)
class MemoryUse:
    """One read or write of a memory file."""

    file: MemoryFile
    content: str | None = None
    write: bool = False
    change: str = ""
    names_only: bool = False
    """True if only the file's name was shown, not its content."""
    whole: bool = False
    """True if the file holds nothing but `content` after this write."""


@dataclass(slots=True, kw_only=True)
class GroupMemory:
    """Recognises memory files, for one group."""

    group: str
    mounts: list[Mount] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    """All known groups."""
    index_text: str = ""
    """The known content of the group's memory file. The files that it names are memory, too."""
    unclear: list[str] = field(default_factory=list)
    """Commands that name memory, and that the reader of shell commands does not understand."""

    def owned(self, path: str) -> MemoryFile | None:
        """Return the memory file at a path inside the container, or None."""
        path = normpath(path)
        for folder in OWN_FOLDERS:
            inside = path.removeprefix(folder + "/")
            if inside != path:
                # NanoClaw v2 composes CLAUDE.md from shared parts at every start, so it is no group's own memory.
                shared = inside == MAIN and folder == OWN_FOLDERS[0]
                return MemoryFile(SHARED, MAIN, path) if shared else self._of_group(self.group, inside, path)
        if path.startswith("/workspace/global/") or path == "/app/CLAUDE.md":
            return self._of_group(SHARED, "", path)
        if "/.claude/projects/" in path and "/memory/" in path and path.endswith(".md"):
            return MemoryFile(self.group, "auto memory", path)
        if path.startswith(f"{ALL_GROUPS}/"):
            folder, _, inside = path.removeprefix(f"{ALL_GROUPS}/").partition("/")
            return self._of_group(folder, inside, path)
        return self._in_mount(path) if path.startswith(EXTRA) else None

    def _in_mount(self, path: str) -> MemoryFile | None:
        """Return the memory file at a path of an extra mount: by the mount's folder on the host, where it is known."""
        for mount in self.mounts:
            if path.startswith(mount.inside + "/"):
                host = normpath(mount.host.replace("\\", "/") + path[len(mount.inside) :])
                folder, _, inside = host.partition("/groups/")[2].partition("/")
                return self._of_group(folder, inside, path)
        if basename(path) == LOCAL:
            return MemoryFile(path.removeprefix(EXTRA).partition("/")[0], LOCAL, path)
        return None

    def _of_group(self, group: str, inside: str, path: str) -> MemoryFile | None:
        if group == SHARED:
            return MemoryFile(SHARED, basename(path), path) if path.endswith(".md") else None
        if inside.startswith("conversations/") and inside.endswith(".md"):
            return MemoryFile(group, "conversations", path)
        if inside.startswith(f"{MEMORY_FOLDER}/") and inside.endswith(".md"):
            return MemoryFile(group, inside, path)
        is_memory = inside in (LOCAL, MAIN) or (group == self.group and inside in self.indexed())
        return MemoryFile(group, inside, path) if is_memory else None

    def indexed(self) -> list[str]:
        """List the files that the memory file names, by their paths in the group's folder."""
        words = re.split(r"[^\w./-]+", self.index_text)
        names = [_BEGIN.sub("", word).rstrip(".") for word in words]
        return [
            name
            for name in names
            if name.endswith((".md", ".txt", ".json")) and not name.startswith((".", "/"))
        ]

    # What calls do ---------------------------------------------------------------------------------------------

    def uses(self, tool: str, args: dict[str, Any], folder: str, output: str) -> list[MemoryUse]:
        """List the uses of memory by a successful call.

        `tool` is the recorded name, `folder` the working directory, `output` the text of the result.
        """
        if tool == "Bash":
            return self._ran(text_of(args.get("command")), folder, output)
        if tool == "Grep":
            return self._searched(args, folder, output)
        if tool == "Glob":
            return self._listed(args, folder, output)
        files = self._files([text_of(args.get("file_path"))], folder)
        if tool == "Read":
            return [MemoryUse(file, output) for file in files]
        if tool == "Write":
            return [MemoryUse(file, text_of(args.get("content")), write=True, whole=True) for file in files]
        edits = {"Edit": [args], "MultiEdit": records_in(args.get("edits"))}.get(tool, [])
        return [_edited(file, edit) for file in files for edit in edits]

    def _files(self, paths: Iterable[str], folder: str) -> Iterator[MemoryFile]:
        for path in paths:
            if file := self.owned(join(folder, path)):
                yield file

    def _listed(self, args: dict[str, Any], folder: str, output: str) -> list[MemoryUse]:
        names = [join(text_of(args.get("path")), line) for line in output.splitlines()]
        return [MemoryUse(file, names_only=True) for file in self._files(names, folder)]

    def _searched(self, args: dict[str, Any], folder: str, output: str) -> list[MemoryUse]:
        place = normpath(join(folder, text_of(args.get("path"))))
        names_only = args.get("output_mode") != "content"
        if file := self.owned(place):
            # A search without a hit has read the file, but has shown the agent nothing of it.
            nothing = output.startswith(("No matches found", "No files found"))
            return [] if nothing else [_read(file, output, names_only=names_only)]
        return self._hits(output, place, folder, names_only=names_only)

    def _hits(self, output: str, place: str, folder: str, *, names_only: bool) -> list[MemoryUse]:
        """List the memory files in the output of a search, each with its lines: `notes.md:2:text`.

        A name is relative to the folder that the search ran in, else to the place that was searched.
        """
        found: dict[MemoryFile, list[str]] = {}
        for line in output.splitlines():
            name, _, rest = line.partition(":")
            number, second, text = rest.partition(":")
            path = normpath(join(folder, name))
            inside = name_matches(place, path) or name_matches(f"{place}/*", path)
            if file := self.owned(path if inside else join(place, name)):
                found.setdefault(file, []).append(text if second and number.isdigit() else rest)
        return [_read(file, "\n".join(lines), names_only=names_only) for file, lines in found.items()]

    def _ran(self, command: str, folder: str, output: str) -> list[MemoryUse]:
        found, unclear = touches(command, folder)
        names = (LOCAL, "/CLAUDE.md", EXTRA, "/memory/MEMORY.md", MEMORY_INDEX)
        named = any(each in text for text, _ in unclear for each in names)
        uses: list[MemoryUse] = []
        for touch in found:
            done = self._touched(touch, command, output)
            if not done:
                done, is_of_many = self._of_folder(touch, command)
                named = named or is_of_many
            uses += done
        if named:
            self.unclear.append(command)
        return _once(uses)

    def _touched(self, touch: Touch, command: str, output: str) -> list[MemoryUse]:
        """List the uses of the memory files that a command touches by their paths, or shows in its output."""
        files = self._matching(touch.path)
        names_only = touch.access == "names"
        if touch.access == "write":
            return [_written(touch, file, command) for file in files]
        # `ls *.md` lists what matches now; only its output shows which files there were.
        if files and not (names_only and is_glob(touch.path)):
            return [_read(file, output, names_only=names_only) for file in files]
        return self._hits(output, touch.path, touch.folder, names_only=names_only)

    def _of_folder(self, touch: Touch, command: str) -> tuple[list[MemoryUse], bool]:
        """Return the use of another group's memory when its folder is copied, moved or deleted as a whole.

        Without a use, the second value is true if a glob or a copied parent folder may contain memory of other groups.
        """
        if not touch.below or touch.access not in ("copy", "write"):
            return [], self.owned(touch.path) is not None
        for name in (LOCAL, MAIN):
            for file in self._matching(join(touch.path, name)):
                if file.group not in (self.group, SHARED):
                    return [
                        _written(touch, file, command) if touch.access == "write" else MemoryUse(file)
                    ], False
        inside = (self.owned(join(touch.path, "*", name)) for name in (LOCAL, MAIN))
        return [], any(file and file.group not in (self.group, SHARED) for file in inside)

    def _matching(self, path: str) -> list[MemoryFile]:
        """List the memory files that a path or a glob matches."""
        if not is_glob(path):
            file = self.owned(path)
            return [file] if file else []
        places = [*OWN_FOLDERS, *(mount.inside for mount in self.mounts)]
        roots = [ALL_GROUPS, *(mount.inside for mount in self.mounts if mount.holds_all)]
        places += [join(root, group) for root in roots for group in self.groups]
        known = [join(place, name) for place in places for name in (LOCAL, MAIN, MEMORY_INDEX)]
        known += [join(place, name) for place in OWN_FOLDERS for name in self.indexed()]
        known.append(f"/workspace/global/{MAIN}")
        return list(self._files((each for each in dict.fromkeys(known) if _means(path, each)), ""))


def _means(glob: str, path: str) -> bool:
    """Return whether a glob matches a path in a shell. Only `**` matches across folders, or no folder at all."""
    if "**" in glob:
        return name_matches(glob, path) or name_matches(glob.replace("**/", ""), path)
    return glob.count("/") == path.count("/") and name_matches(glob, path)


def _instead_of(old: str) -> str:
    return f"instead of: {old}" if old else ""


def _edited(file: MemoryFile, edit: Record) -> MemoryUse:
    change = _instead_of(text_of(edit.get("old_string")))
    return MemoryUse(file, text_of(edit.get("new_string")), write=True, change=change)


def _written(touch: Touch, file: MemoryFile, command: str) -> MemoryUse:
    change = _instead_of(touch.taken) if touch.written is not None else f"by the command: {command}"
    return MemoryUse(file, touch.written, write=True, change=change, whole=touch.whole)


def _read(file: MemoryFile, output: str, *, names_only: bool) -> MemoryUse:
    return MemoryUse(file, None if names_only else output, names_only=names_only)


def _once(uses: list[MemoryUse]) -> list[MemoryUse]:
    """Keep one read of each file, the one that shows the most, and all writes that differ from the one before."""
    kept: list[MemoryUse] = []
    for use in uses:
        same = [each for each in kept if (each.file, each.write) == (use.file, use.write)]
        if use.write:
            # One command may name the same write twice. Writes that differ are kept, in their order.
            kept += [use] * (use not in same[-1:])
        elif not same:
            kept.append(use)
        # `ls` and then `cat` of one file: the read that shows the content is the one that counts.
        elif same[0].names_only:
            kept[kept.index(same[0])] = use
    return kept


class MemoryEvents:
    """Adds memory events after the results of the calls that read or wrote memory.

    `before` has the recorded content of memory files before the run first touched them; None for a file that did not
    exist. `written` are the paths of the written files, `held` the known pieces of each file's content.
    """

    def __init__(self, run: Run, reading: Reading, builder: TraceBuilder, lines: list[Entry]) -> None:
        self.builder = builder
        self.memory = memory_of(run, reading, builder.scenario.group_id or "")
        self.memory.index_text += _index_text(lines)
        self.before: dict[MemoryFile, str | None] = {}
        self.written: set[str] = set()
        self.held: dict[str, list[str]] = {}
        self.has_events = False

    def add_uses(self, entry: Entry, call: Call, text: str, detail: Record) -> None:
        """Add the memory events of a successful call; `text` and `detail` are its result."""
        for use in self.memory.uses(call.recorded, call.args, call.folder, text):
            self._remember(use, detail)
            self._add(entry, use, call_id=call.id)

    def add_loaded(self, entry: Entry) -> None:
        """Add the memory that the harness loaded into the prompt, where a line lists it."""
        attachment = record_of(entry.record.get("attachment"))
        loaded = records_in(attachment.get("files")) if attachment.get("type") == "instructions" else []
        for each in loaded:
            if file := self.memory.owned(text_of(each.get("path"))):
                self._add(entry, MemoryUse(file, text_of(each.get("content"))), implicit=True)

    def _remember(self, use: MemoryUse, detail: Record) -> None:
        """Record the file's earlier content at the first touch, and the content that a whole write replaced."""
        path, original = use.file.path, detail.get("originalFile")
        original = original if isinstance(original, str) else None
        if path not in self.written and use.file not in self.before:
            file = record_of(detail.get("file"))
            # Edit and Write record the file before the change; Read shows it whole only from the first to the last line.
            if "originalFile" in detail:
                self.before[use.file] = original
            elif file and file.get("startLine", 1) == 1 and file.get("numLines") == file.get("totalLines"):
                self.before[use.file] = text_of(file.get("content"))
        if use.write:
            self.written.add(path)
        held = self.held.setdefault(path, [])
        # A file that was written as a whole replaced all that is known of it: that is the old value for a correction.
        if use.whole:
            use.change = _instead_of("\n".join(dict.fromkeys(held)) if original is None else original)
            held.clear()
        if use.content:
            held.append(use.content)

    def _add(self, entry: Entry, use: MemoryUse, **extra: Any) -> None:
        self.has_events = True
        file = use.file
        data: Record = {"group_id": file.group, "source": file.source, "path": file.path}
        data |= {"content": use.content, "change_summary": use.change or None}
        data |= {"names_only": use.names_only or None, **extra}
        self.builder.add(
            "memory_write" if use.write else "memory_read",
            {key: value for key, value in data.items() if value is not None},
            ts=iso(entry.line.time),
            group_id=file.group,
            agent_id=entry.agent,
        )


def _index_text(lines: list[Entry]) -> str:
    """Return the content of memory files that the run shows. The files that it names are memory, too."""
    shown, reading = _written_texts(lines)
    for entry in lines if reading else ():
        if any(text_of(block.get("tool_use_id")) in reading for block in entry.blocks("tool_result")):
            file = record_of(record_of(entry.record.get("toolUseResult")).get("file"))
            shown.append(text_of(file.get("content")))
    return "\n".join(shown)


def _written_texts(lines: list[Entry]) -> tuple[list[str], set[str]]:
    """List the texts that calls wrote to the groups' memory files; return the ids of the calls that name one, too."""
    files = (f"/{LOCAL}", f"/{MAIN}")
    reading: set[str] = set()
    shown: list[str] = [""]
    for block in (block for entry in lines for block in entry.blocks("tool_use")):
        args = record_of(block.get("input"))
        command = text_of(args.get("command"))
        if text_of(args.get("file_path")).endswith(files):
            reading.add(text_of(block.get("id")))
            shown += [text_of(args.get("content")), text_of(args.get("new_string"))]
        # Reading a command costs far more than finding a word in it.
        elif LOCAL in command or MAIN in command:
            shown += [each.written or "" for each in touches(command, "/")[0] if each.path.endswith(files)]
    return shown, reading


def memory_of(run: Run, reading: Reading, group_id: str) -> GroupMemory:
    """Return the memory of the run's group."""
    return GroupMemory(
        group=group_id,
        mounts=(run.group.mounts if run.group else None) or [],
        groups=[each.folder for each in reading.store.groups.values()],
        index_text=group_file(reading, group_id, LOCAL) or "",
    )


def memory_files(reading: Reading, folder: str) -> list[str]:
    """List the files in the memory folder of a group, by their paths in the group's folder."""
    groups = reading.source.groups
    if groups is None or not _PLAIN.fullmatch(folder):
        return []
    found = sorted((groups / folder / MEMORY_FOLDER).rglob("*.md"))
    return [str(each.relative_to(groups / folder)) for each in found]


def group_file(reading: Reading, folder: str, name: str) -> str | None:
    """Read a file of a group's folder, as it was when the recording was copied; None when it is not there."""
    if reading.source.groups is None or not _PLAIN.fullmatch(folder):
        return None
    path = reading.source.groups / folder / name
    try:
        if not path.is_file() or not reading.source.allowed(path) or path.stat().st_size > MAX_MEMORY:
            return None
        return read_bytes(path).decode(errors="replace")
    except (OSError, ValueError):
        return None
