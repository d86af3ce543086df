"""Reads requests to the host about tasks: `ncl tasks …` in a shell, since 2.2. Earlier releases had MCP tools for them.

In a trace each request is a call of its own beside the call of the shell. It has the name and the arguments of the former
tool, so that one test fits both releases.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agenteval.shell.commands import invocations
from agenteval_nanoclaw.session.store import Request, json_of
from agenteval_nanoclaw.session.values import Record, record_of, text_of
from agenteval_nanoclaw.versions import HOST_PROGRAM, TASK_COMMANDS

RESOURCE = "tasks-"
_FLAGS = frozenset({"json", "stdin-json", "help"})
_ID = ("id", "taskId")


@dataclass(slots=True)
class Asked:
    """One request about tasks, with the equivalent tool and the command."""

    tool: str
    command: str
    args: Record
    answer: Record
    """The host's answer; empty where only the words of the command are known."""


def asked_in(command: str, requests: Sequence[Request]) -> list[Asked]:
    """List the task requests of a shell command. `requests` are the stored ones; without any, its words are read."""
    found = [(each.command, each.args, each.answer) for each in requests]
    if not found and HOST_PROGRAM in command:
        found = [(*_parsed(words, stdin), {}) for words, stdin in invocations(command, HOST_PROGRAM)]
    return [asked for each in found for asked in _requested(*each)]


def _parsed(words: list[str], stdin: str | None) -> tuple[str, Record]:
    """Parse words as `ncl` does: a word that is no option, nor the value of one, belongs to the command's name."""
    names: list[str] = []
    args: Record = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            names.append(word)
        elif word[2:] == "stdin-json":
            args |= record_of(json_of(stdin))
        elif word[2:] not in _FLAGS:
            args[word[2:]] = rest.pop(0) if rest and not rest[0].startswith("--") else True
    return "-".join(names), args


def _requested(command: str, args: Record, answer: Record) -> Iterator[Asked]:
    asked = command.removeprefix(RESOURCE)
    verb = next((verb for verb in TASK_COMMANDS if asked == verb or asked.startswith(f"{verb}-")), "")
    if asked == command or not verb:
        return
    named = asked.removeprefix(verb).removeprefix("-")
    given: dict[str, Any] = {_camel(key): value for key, value in args.items()}
    if _ID[0] in given or named:
        given[_ID[1]] = given.pop(_ID[0], "") or named
    yield Asked(TASK_COMMANDS[verb], f"{HOST_PROGRAM} tasks {verb}", given, answer)


def _camel(key: str) -> str:
    return re.sub(r"[-_]([a-z])", lambda found: found[1].upper(), key)


def refusal_of(answer: Record) -> str:
    """Return the reason of the host's refusal; empty when it did not refuse, or no answer is stored."""
    if answer.get("ok") is not False:
        return ""
    error = record_of(answer.get("error"))
    return text_of(error.get("message")) or text_of(error.get("code")) or "the host refused"
