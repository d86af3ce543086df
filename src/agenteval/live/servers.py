"""MCP servers that did not start: the CLI goes on without them, and their tools are missing without a word.

The Claude CLI keeps a log of each server in the agent's home. A server that starts is in it as connected; of any other it
has the failure, and what the server wrote to its standard error.
"""

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agenteval.contracts.errors import AdapterError
from agenteval.live.left import copy_left
from agenteval.live.options import live_error
from agenteval.reading.documents import read_bytes

NOT_STARTED = "live.mcp_server"
"""The reason code of a run in which a server did not start that the test needs."""
_LOGS = ".cache/claude-cli-nodejs/*/mcp-logs-*/*.jsonl"
_NAMED = "mcp-logs-"
_CONNECTED = ("Successfully connected", "Connection established")
_FAILED = "Connection failed"
_WRITTEN = re.compile(r"(?:Server stderr|stderr of the stdio server[^:]*): ")
_LINES, _LONGEST = 6, 300
_NEXT_STEP = (
    "see that all that the server needs is in the sandbox (git add, live.command.mounts), where there is no network; "
    "--keep leaves the scratch folder to look at"
)


@dataclass(slots=True)
class FailedServer:
    """An MCP server that did not start: its name in the log, the reason, and the last lines that it wrote."""

    name: str
    why: str
    lines: Sequence[str]

    def has(self, tool: str) -> bool:
        """Return whether a tool, by the agent's name for it, is one of this server."""
        server, mark, _ = tool.removeprefix("mcp__").partition("__")
        return tool.startswith("mcp__") and bool(mark) and _plain(server) == _plain(self.name)

    @property
    def message(self) -> str:
        """The failure, with the last lines of the log."""
        lines = "".join(f"\n    {line}" for line in self.lines)
        return f"the MCP server {self.name} did not start: {self.why}" + (
            f"; the last lines of its log:{lines}" if lines else ""
        )


def failed_servers(home: Path, copies: Path, offered: Iterable[str]) -> list[FailedServer]:
    """The servers that did not start, by the logs in an agent's home.

    The logs are copied to `copies` first, since the agent can write what is in its home. A server with tools that the
    model was `offered` has started, whatever its log says.
    """
    with suppress(AdapterError, OSError):  # the logs are no more than they are: links are not followed
        copy_left(home, copies, [_LOGS], inside="~/")
    entries: dict[str, list[str]] = {}
    for file in sorted(copies.glob(_LOGS)):
        entries.setdefault(file.parent.name.removeprefix(_NAMED), []).extend(_entries(read_bytes(file)))
    failed = [
        _failed(name, texts)
        for name, texts in entries.items()
        if texts and not any(text.startswith(_CONNECTED) for text in texts)
    ]
    tools = list(offered)
    return [each for each in failed if not any(map(each.has, tools))]


def not_started(server: FailedServer, tool: str) -> AdapterError:
    """The error of a run in which a server is missing and the test needs its tools."""
    return live_error(NOT_STARTED, f"{server.message}\n  the test needs its tool {tool}", _NEXT_STEP)


def _entries(content: bytes) -> list[str]:
    """The texts of a log, one JSON object a line; the last line may be cut off."""
    texts = []
    for line in content.decode(errors="replace").splitlines():
        with suppress(ValueError, AttributeError):
            entry = json.loads(line)
            texts.append(str(entry.get("error") or entry.get("debug") or ""))
    return texts


def _failed(name: str, texts: Sequence[str]) -> FailedServer:
    reasons = [text for text in texts if text.startswith(_FAILED)]
    why = reasons[-1].splitlines()[0][:_LONGEST] if reasons else "it was still starting when the run was over"
    written = [text[match.end() :] for text in texts if (match := _WRITTEN.match(text))]
    lines = written[-1].strip().splitlines()[-_LINES:] if written else []
    return FailedServer(name, why, [line[:_LONGEST] for line in lines])


def _plain(name: str) -> str:
    """A server's name as logs and tools have it in common: each replaces other signs than letters and digits."""
    return re.sub(r"[^a-z0-9]", "_", name.lower())
