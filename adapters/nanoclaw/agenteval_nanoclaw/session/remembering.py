"""The memory events of a run: reads and writes of memory files, as its tool calls show them."""

from dataclasses import dataclass
from typing import Any

from agenteval.contracts.trace import TraceBuilder
from agenteval.shell.commands import touches
from agenteval_nanoclaw.session.context import LOCAL, MAIN, MemoryUse, Owned, instead_of, memory_of
from agenteval_nanoclaw.session.reading import Reading
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.saying import Said, Sayings
from agenteval_nanoclaw.session.values import Record, iso, record_of, records_in, text_of

MEMORY_FILES = (f"/{LOCAL}", f"/{MAIN}")


@dataclass(slots=True, kw_only=True)
class Call:
    """One tool call: as recorded, and its name in the trace."""

    id: str
    recorded: str
    tool: str
    args: dict[str, Any]
    folder: str
    time: int
    message: str = ""
    """The id of the answer that asked for it."""
    number: int = 1
    """Which one it is of the calls with its recorded id."""
    event_id: str = ""
    answered: bool = False


class MemoryTelling:
    """Adds memory events after the results of the calls that read or wrote memory.

    `before` is what memory files held when the run first touched them, where that is recorded; None: they were not
    there. `written` are the paths of the files that it wrote, `held` what each file is known to hold, piece by piece.
    """

    def __init__(self, run: Run, reading: Reading, builder: TraceBuilder, sayings: Sayings) -> None:
        self.builder = builder
        self.memory = memory_of(run, reading, builder.scenario.group_id or "")
        self.memory.index_text += _index_text(sayings)
        self.before: dict[Owned, str | None] = {}
        self.written: set[str] = set()
        self.held: dict[str, list[str]] = {}
        self.told = False

    def notes(self) -> list[str]:
        """What could not be told."""
        return [
            f"a command names memory in a way that is not understood; what it did there is not shown: {command}"
            for command in self.memory.unclear
        ]

    def tell(self, said: Said, call: Call, text: str, detail: Any) -> None:
        """The memory events of a successful call; `text` and `detail` are its result."""
        for use in self.memory.uses(call.recorded, call.args, call.folder, text):
            self._remember(use, detail)
            self._replace(use, detail)
            self._add(said, use, call_id=call.id)

    def tell_loaded(self, said: Said) -> None:
        """The memory that was loaded into the prompt, where a line tells of it."""
        attachment = record_of(said.record.get("attachment"))
        if attachment.get("type") != "instructions":
            return
        for entry in records_in(attachment.get("files")):
            if file := self.memory.owned(text_of(entry.get("path"))):
                use = MemoryUse(write=False, file=file, content=text_of(entry.get("content")))
                self._add(said, use, implicit=True)

    def _remember(self, use: MemoryUse, detail: Any) -> None:
        """What the file held before, when this call is the first to touch it."""
        given = record_of(detail)
        file = given.get("file")
        if use.file.path not in self.written and use.file not in self.before:
            if "originalFile" in given:
                original = given["originalFile"]
                self.before[use.file] = original if isinstance(original, str) else None
            elif isinstance(file, dict) and _is_whole(file):
                self.before[use.file] = text_of(file.get("content"))
        if use.write:
            self.written.add(use.file.path)

    def _replace(self, use: MemoryUse, detail: Any) -> None:
        """Tell of a write that left nothing of a file what is known to have been in it."""
        held = self.held.setdefault(use.file.path, [])
        if use.whole:
            original = detail.get("originalFile") if isinstance(detail, dict) else None
            use.change = instead_of(original if isinstance(original, str) else "\n".join(dict.fromkeys(held)))
            held.clear()
        if use.content:
            held.append(use.content)

    def _add(self, said: Said, use: MemoryUse, **extra: Any) -> None:
        self.told = True
        file = use.file
        data: dict[str, Any] = {"group_id": file.group, "source": file.source, "path": file.path}
        if use.content is not None:
            data["content"] = use.content
        if use.change:
            data["change_summary"] = use.change
        if use.names_only:
            data["names_only"] = True
        self.builder.add(
            "memory_write" if use.write else "memory_read",
            {**data, **extra},
            ts=iso(said.line.time),
            group_id=file.group,
            agent_id=said.agent,
        )


def _is_whole(file: Record) -> bool:
    return file.get("startLine", 1) == 1 and file.get("numLines") == file.get("totalLines")


def _index_text(sayings: Sayings) -> str:
    """What the run shows of what memory files hold: the files that they name are memory, too."""
    reading: set[str] = set()
    shown: list[str] = [""]
    for said in sayings.of_type("assistant"):
        for block in said.blocks("tool_use"):
            args = record_of(block.get("input"))
            if text_of(args.get("file_path")).endswith(MEMORY_FILES):
                reading.add(text_of(block.get("id")))
                shown += [text_of(args.get("content")), text_of(args.get("new_string"))]
            elif any(name in (command := text_of(args.get("command"))) for name in (LOCAL, MAIN)):
                found = [each for each in touches(command, "/")[0] if each.path.endswith(MEMORY_FILES)]
                shown += [each.written or "" for each in found]
    for said in sayings.of_type("user") if reading else ():
        if any(text_of(block.get("tool_use_id")) in reading for block in said.blocks("tool_result")):
            file = record_of(record_of(said.record.get("toolUseResult")).get("file"))
            shown.append(text_of(file.get("content")))
    return "\n".join(shown)
