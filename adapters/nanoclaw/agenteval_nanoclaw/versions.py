"""The releases of NanoClaw v2, what they share and where they differ. All other modules ask this one.

A checkout is known by the files that it has, never by the number in its package.json: between two releases the number stays
the same while files move. A recording does not tell its release at all. So its reader knows the words of every release at
once; what a release no longer uses does no harm, since nobody else uses those words.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

RUNNER = "container/agent-runner/src/"
_HOOKS = {"PreCompact": [{"hooks": [{"type": "command", "command": "bun /app/src/compact-instructions.ts"}]}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The places in a checkout of a release that a live run uses, and the facts that the code itself does not show."""

    name: str
    """The release with which it begins, for messages."""
    session_schema: str
    """The file with the schemas of the two databases of a session."""
    inbound_schema: str = "INBOUND_SCHEMA"
    outbound_schema: str = "OUTBOUND_SCHEMA"
    """The constants in it."""
    header: str
    """The beginning of a group's instructions, as the host composes them."""
    settings: Mapping[str, Any]
    """The settings of the CLI that the host writes for a new group."""
    held: tuple[str, ...]
    """The requests of an agent that the host holds for an owner's approval."""


RELEASES = (
    Release(
        name="2.2",
        session_schema="src/mailbox/sqlite/schema.ts",
        header="<!-- Composed at spawn - do not edit. Standing instructions: instructions.prepend.md. Memory: memory/. -->",
        settings={
            "autoMemoryEnabled": False,
            "env": {
                "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
                "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
            },
            "hooks": _HOOKS,
        },
        held=("install_packages", "add_mcp_server", "create_agent"),
    ),
    Release(
        name="2.0",
        session_schema="src/db/schema.ts",
        header="<!-- Composed at spawn — do not edit. Edit CLAUDE.local.md for per-group content. -->",
        settings={
            "env": {
                "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1",
                "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
                "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0",
            },
            "hooks": _HOOKS,
        },
        held=("install_packages", "add_mcp_server"),
    ),
)
"""All releases that are known, the newest first."""

CENTRAL_SCHEMA = "src/db/schema.ts"
COMPOSER = "src/claude-md-compose.ts"
GROUP_INIT = "src/group-init.ts"
PERSONA = "src/group-persona.ts"
_HEADER = re.compile(r"const COMPOSED_HEADER\s*=\s*'([^']*)'")
_SETTINGS = re.compile(
    r"const DEFAULT_SETTINGS_JSON\s*=\s*JSON\.stringify\(\s*(\{.*?\n\s*\}),\s*null", re.DOTALL
)
_PERSONA = re.compile(r"const PERSONA_PREPEND_FILE\s*=\s*'([^']*)'")
_WITHOUT_CLI = re.compile(r"^.*\bcliDisabled\b.*\bcontinue\b.*$", re.MULTILINE)
_MODULE = re.compile(r"moduleName === '([\w-]+)'")
_MEMORY_HOOKS = (f"{RUNNER}memory/session-hook.ts", f"{RUNNER}memory-session-hook.ts")
MEMORY_MODULES = (*_MEMORY_HOOKS, f"{RUNNER}memory/scaffold.ts", f"{RUNNER}memory-scaffold.ts")
"""The runner's code that gives an agent its memory when a session begins, and makes its first files."""
_SESSION_CONTEXT = f"{RUNNER}mailbox/index.ts"
_ROUTING = f"{RUNNER}db/session-routing.ts"
_TASKS = "src/cli/resources/tasks.ts"
_TASK_ROWS = "src/modules/scheduling/db.ts"
_STAMPED_BY_SQLITE = re.compile(r"@seq,\s*datetime\('now'\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The work of a checkout's host for a group and its sessions, as far as a live run does it in its place."""

    release: Release
    schemas: tuple[str, str, str]
    """The SQL that makes the central database, and the two of a session: the host's, and the agent's."""
    header: str
    settings: Mapping[str, Any]
    persona: str = ""
    """The file of a group whose text comes first in its instructions; empty where there is none."""
    without_cli: tuple[str, ...] = ()
    """The modules whose instructions a group does not get that may not use `ncl`."""
    memory: str = "CLAUDE.local.md"
    """The file of a group's memory that the agent is given at the start of a session."""
    ncl_tasks: bool = False
    """True if the agent manages its tasks with `ncl`. 2.1 has that before its runner names the sessions of series."""
    series_sessions: bool = False
    """True if each series of tasks has a session of its own."""
    zoned_tasks: bool = False
    """True if the rows of tasks have times with a zone. Without one, the runner takes them as times of its own zone."""
    session_context: bool = False
    """True if the runner reads the session that it serves from a file."""
    held: tuple[str, ...] = ()
    """The requests of an agent that the host holds for an owner's approval."""
    guessed: tuple[str, ...] = field(default=())
    """The facts that come from the table of the release since the checkout lacks them: in words, with the missing file."""


def host_of(release: Release, read: Callable[[str], str | None]) -> Host:
    """Describe the host of a checkout. `read` returns the text of one of its files; None if there is none.

    Raises `ValueError` in words for a file that is there and has not what was looked for.
    """
    guessed: list[str] = []

    def found(path: str, pattern: re.Pattern[str], what: str) -> str | None:
        text = read(path)
        if text is None:
            guessed.append(
                f"{path} is not there, so {what} is taken from what is known of NanoClaw {release.name}"
            )
            return None
        if not (match := pattern.search(text)):
            raise ValueError(f"{path} does not show {what} ({pattern.pattern})")
        return match[1]

    def sql(path: str, name: str) -> str:
        match = re.search(rf"export const {name} = `(.*?)`;", read(path) or "", re.DOTALL)
        if match is None:
            raise ValueError(f"{path} has no constant {name}, by which a session's databases are made")
        return match[1]

    schemas = (
        sql(CENTRAL_SCHEMA, "SCHEMA"),
        sql(release.session_schema, release.inbound_schema),
        sql(release.session_schema, release.outbound_schema),
    )
    settings = found(GROUP_INIT, _SETTINGS, "what the settings of a new group are")
    persona = _PERSONA.search(read(PERSONA) or "")
    skipped = _WITHOUT_CLI.search(read(COMPOSER) or "")
    header = found(COMPOSER, _HEADER, "how the instructions of a group begin")
    series_sessions = TASK_SESSION in (read(_ROUTING) or "")
    task_rows = read(_TASK_ROWS)
    return Host(
        release=release,
        schemas=schemas,
        header=release.header if header is None else header,
        settings=release.settings if settings is None else _object(settings),
        persona=persona[1] if persona else "",
        without_cli=tuple(_MODULE.findall(skipped[0])) if skipped else (),
        memory="memory/index.md"
        if any(read(path) is not None for path in _MEMORY_HOOKS)
        else "CLAUDE.local.md",
        ncl_tasks=read(_TASKS) is not None,
        series_sessions=series_sessions,
        # 2.1 stamps them with a zone before its runner names the sessions of series; 2.2 has the file no more
        zoned_tasks=series_sessions if task_rows is None else not _STAMPED_BY_SQLITE.search(task_rows),
        session_context=read(_SESSION_CONTEXT) is not None,
        held=release.held,
        guessed=tuple(guessed),
    )


def _object(literal: str) -> dict[str, Any]:
    """An object literal of TypeScript that holds plain values only, as the host writes its settings."""
    text = re.sub(r"'([^'\"\\]*)'", r'"\1"', literal)
    text = re.sub(r"([{,]\s*)([A-Za-z_]\w*)\s*:", r'\1"\2":', text)
    text = re.sub(r",(\s*[}\]])", r"\1", text)
    try:
        value: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{GROUP_INIT} has settings that are no plain values ({error})") from None
    return value


def release_of(has: Callable[[str], bool]) -> Release | None:
    """The release of a checkout, of which `has` tells whether there is a file; None when it is none that is known."""
    return next((each for each in RELEASES if has(each.session_schema)), None)


# What recordings of all releases hold --------------------------------------------------------------------------

SENT = ("chat", "chat-sdk")
"""The kinds of outbound rows that reach a reader: people, or another agent."""
RUN_LOG = "task_log"
"""The kind of outbound row that only enters the log of a task: it is sent to no chat (2.2)."""
TO_AGENTS = "agent"
"""The channel of messages to other agents of the install, and from them."""
NOTE_IDS = ("appr-note-", "sys-")
"""The beginnings of the ids of rows from the host itself to the agent, such as the outcome of an approval."""
HOST_IDS = ("deny-",)
"""The beginnings of the ids of rows that the host sends in the agent's name, such as the refusal of a command."""
RUNNER_FAILED = "Error: "
"""The beginning of the message that the runner sends when the agent's process failed: it is no answer."""
RUNNER_COMMANDS = ("/clear", "/upload-trace")
"""The beginnings of messages that the agent-runner answers itself, so that no transcript has them."""
TASK_SESSION = "system:tasks:"
"""The beginning of the thread of a session that belongs to one series of tasks (2.2)."""
IDLE = ("paused", "cancelled")
"""The statuses of tasks that did not run."""
MESSAGE_GATE = "a2a_message_gate"
"""The action of approvals for which messages to other agents are held (2.2)."""

MEMORY_FOLDER = "memory"
"""The folder of a group that holds its memory (2.2), in its own one."""
MEMORY_INDEX = "memory/index.md"
"""The file in it that is loaded when a session begins, and names the others."""
HOST_PROGRAM = "ncl"
"""The program with which the agent asks the host, in a shell."""
TASK_COMMANDS = {
    "append-log": "append_task_log",
    "cancel": "cancel_task",
    "create": "schedule_task",
    "delete": "delete_task",
    "get": "get_task",
    "list": "list_tasks",
    "pause": "pause_task",
    "resume": "resume_task",
    "run": "run_task",
    "update": "update_task",
}
"""The verbs of `ncl tasks` (2.2), with the names in traces: those of the MCP tools that did the same before."""
