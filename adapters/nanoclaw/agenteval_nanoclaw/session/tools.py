"""The names of tools: what recordings call them, and what traces call them."""

import re
from collections.abc import Mapping
from typing import Any

from agenteval.outbound import OUTBOUND
from agenteval.patterns import is_glob, name_matches
from agenteval.reading.documents import INTEGERS

SPAWN = "agent"
"""The tool that starts a subagent."""

ALIASES: Mapping[str, str] = {
    "WebSearch": "web_search",
    "WebFetch": "web_fetch",
    "mcp__*__web_search": "web_search",
    "mcp__*__web_fetch": "web_fetch",
    "mcp__nanoclaw__send_message": OUTBOUND,
    "mcp__nanoclaw__send_file": OUTBOUND,
    "mcp__nanoclaw__send_card": OUTBOUND,
    "mcp__nanoclaw__ask_user_question": OUTBOUND,
    "Task": SPAWN,
    "Agent": SPAWN,
    "SendMessage": "agent_message",
}
"""Recorded names, or globs, with the canonical name. Names that are not here: see `canonical`."""

OWN_SERVER = "mcp__nanoclaw__"


def canonical(recorded: str, aliases: Mapping[str, str]) -> str:
    """The name of a tool in the trace. `aliases` are the test's own, which come first.

    A tool of NanoClaw's own server loses the server's name; one of another server keeps its whole name; a tool of
    Claude Code is written in small letters: `Read` is `read`, `TodoWrite` is `todo_write`.
    """
    for table in (aliases, ALIASES):
        if recorded in table:
            return table[recorded]
        for pattern, name in table.items():
            if is_glob(pattern) and name_matches(pattern, recorded):
                return name
    if recorded.startswith(OWN_SERVER):
        return recorded.removeprefix(OWN_SERVER)
    if recorded.startswith("mcp__"):
        return recorded
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", recorded).lower()


def fitting(value: Any) -> Any:
    """A value in which integers of more than 64 bits, which no file of ours can hold, are text."""
    if isinstance(value, dict):
        return {key: fitting(item) for key, item in value.items()}
    if isinstance(value, list):
        return [fitting(item) for item in value]
    return str(value) if isinstance(value, int) and value not in INTEGERS else value
