"""Answers tool calls in a live run: a call is denied, and the denial becomes a fixture's answer.

The agent's harness asks a hook before every call (PreToolUse). A call that must not really run is denied there, with
a nonce that only this run knows. In the next request to the model, the fixture's text replaces the result of that
call. A result of such a call without the nonce means that the tool ran, since hooks fail open.
"""

import json
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from agenteval.contracts.adapters import Adapter, AdapterContext
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.json_values import args_key
from agenteval.contracts.models import EXTENSION_PREFIX
from agenteval.contracts.testcase import Fixture, TestCase
from agenteval.live.options import live_error
from agenteval.live.wires import Block, message_turns, results_in
from agenteval.matching.selectors import ArgsMatch
from agenteval.reading.documents import read_text
from agenteval.text.names import name_matches

HARNESS_TOOLS = (
    "Agent", "Task", "Task[A-Z]*", "TodoWrite", "ToolSearch", "Skill", "StructuredOutput", "ListMcpResourcesTool",
    "ReadMcpResourceTool", "EnterPlanMode", "SendMessage",
)  # fmt: skip
"""Tools that are the harness's own and reach nothing outside of it: they always run."""
FILE_TOOLS = ("Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Glob", "Grep")
"""The harness's tools for files: what they give depends on the scenario, not on code of the author's."""
INTERACTIVE_TOOLS = ("AskUserQuestion", "ExitPlanMode", "mcp__*__ask_user_question")
"""Tools that wait for a person, unless a fixture answers."""
_HARNESS = (
    *HARNESS_TOOLS, *FILE_TOOLS, "AskUserQuestion", "ExitPlanMode", "Bash*", "KillShell", "KillBash", "LS", "Monitor",
    "NotebookRead", "SendMessage", "SlashCommand", "WebFetch", "WebSearch",
)  # fmt: skip
"""All tools of the harness. A tool of the author's can have the same name, on a server of its own."""
_SHORTEST_ID = 7
_REFUSED = ("<tool_use_error>", "Error: No such tool available", "No such tool available")
"""The beginnings of the harness's own refusals: the tool did not run."""


@dataclass(slots=True, kw_only=True)
class ToolAnswer:
    """An answer for a tool: a fixture of the test, or a result in the test's recording.

    `tool` is a name or glob, `recorded_tool` the name that the agent used in the recording. `matches` decides whether
    this answer is for the arguments of a call. `fixture_id` is the id of the test's fixture, if it is one. One that
    is given `once` answers one call only.
    """

    tool: str
    text: str
    source: str
    recorded_tool: str = ""
    failed: bool = False
    matches: Callable[[Mapping[str, Any]], bool] = lambda args: True  # noqa: ARG005
    fixture_id: str = ""
    once: bool = False
    used: int = 0


@dataclass(slots=True)
class DeniedCall:
    """A call that did not run, and what it got instead."""

    tool: str
    args: dict[str, Any]
    answer: ToolAnswer | None
    approximate: bool = False


@dataclass(kw_only=True)
class Fixtures:
    """Answers the hook, and puts answers into requests. Safe to use from several threads.

    `names` gives all names of a tool: as recorded, canonical, without its server; `runs` are tools that the test lets
    run, by any of their names; `harness_runs` those that the adapter does, by the name that the agent has for them.
    """

    own: Sequence[ToolAnswer] = ()
    recorded: Sequence[ToolAnswer] = ()
    runs: Sequence[str] = ()
    injected: Sequence[str] = ()
    """Tools that never run, whatever `runs` allows: a suite says what they answer (RFC 0081, section A)."""
    harness_runs: Sequence[str] = ()
    match: Literal["exact", "nearest"] = "exact"
    names: Callable[[str], Sequence[str]] = lambda tool: (tool,)
    lets: Callable[[str, Mapping[str, Any]], bool] = lambda tool, args: False  # noqa: ARG005
    """Decides whether one call of a tool runs although the tool does not."""
    nonce: str = field(default_factory=lambda: f"agenteval-{secrets.token_hex(8)}")
    denied: dict[str, DeniedCall] = field(default_factory=dict)
    trouble: list[AdapterError] = field(default_factory=list)
    """The errors for which the run gets no verdict; the first is the cause of the others."""
    asked: set[str] = field(default_factory=set)
    let: set[str] = field(default_factory=set)
    """The calls that were asked about, and run."""
    has_harness: bool = False
    """True if the agent has a harness; without one, a tool called `Task` is the author's like all others."""
    ran: set[str] = field(default_factory=set)
    """The tools that really ran, but for the harness's own."""
    ids: dict[str, str] = field(default_factory=dict)
    """The ids that the harness made up for this run, with what stands for each."""
    _called: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def really_runs(self, tool: str, *, has_harness: bool) -> bool:
        """Return whether calls of a tool run: the harness's own tools do, and those that the test or the adapter lets run."""
        own = has_harness and _is_any(HARNESS_TOOLS, tool) and not self._is_injected(tool)
        return own or self.is_let_run(tool)

    def _is_injected(self, tool: str) -> bool:
        return any(_is_any(self.injected, name) for name in self._names(tool))

    def is_let_run(self, tool: str) -> bool:
        """Return whether the test or the adapter lets a tool run; a tool that waits for a person never runs."""
        if _is_any(INTERACTIVE_TOOLS, tool):
            return False
        if self._is_injected(tool):
            return False
        return _is_any(self.harness_runs, tool) or any(_is_any(self.runs, name) for name in self._names(tool))

    def runs_own_code(self, tool: str) -> bool:
        """Return whether the author's own code answers: a changed result is then judged, and makes no other conversation."""
        return self.is_let_run(tool) and not (self.has_harness and tool in FILE_TOOLS)

    def _names(self, tool: str) -> Sequence[str]:
        """All names of a tool. One of an author's server that has the name of a harness tool goes by its whole name alone:
        `Read` in a test, or among what an adapter lets run, is the harness's.
        """
        server, _, bare = tool.rpartition("__")
        return (tool,) if server and _is_any(_HARNESS, bare) else self.names(tool)

    def decide(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a hook's event, as JSON for the harness: empty where it may go on."""
        with self._lock:
            self.learn_id(event.get("session_id"), "session")
            self.learn_id(event.get("agent_id"), "agent")
        if event.get("hook_event_name") != "PreToolUse":
            return {}
        tool, call_id = str(event.get("tool_name", "")), str(event.get("tool_use_id", ""))
        args = event.get("tool_input")
        args = args if isinstance(args, dict) else {}
        with self._lock:
            self.asked.add(call_id)
            runs = self.lets(tool, args) or self.really_runs(tool, has_harness=self.has_harness)
            answer, approximate = self._answer(tool, args, runs=runs)
            if answer is None and runs:
                self.let.add(call_id)
                if not _is_any(HARNESS_TOOLS, tool):
                    self.ran.add(tool)
                return {}
            self.denied[call_id] = DeniedCall(tool, args, answer, approximate)
            if answer is None:
                self.trouble.append(self._unanswered(tool, args))
        reason = f"{self.nonce} {tool} does not run in this test"
        decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}

    def learn_id(self, value: object, kind: str) -> None:
        """Remember an id of this run; the first of a kind is number 1."""
        if isinstance(value, str) and len(value) > _SHORTEST_ID and value not in self.ids:
            number = sum(each.startswith(f"<{kind} ") for each in self.ids.values()) + 1
            self.ids[value] = f"<{kind} {number}>"

    def _answer(self, tool: str, args: Mapping[str, Any], *, runs: bool) -> tuple[ToolAnswer | None, bool]:
        """The answer to a call, and whether it is only the nearest; the one used least often comes first.

        Of a call that really runs, only what the test itself says is an answer.
        """
        own = [
            each for each in self._of(self.own, tool) if each.matches(args) and not (each.once and each.used)
        ]
        recorded = [] if runs else self._of(self.recorded, tool)
        exact = [each for each in recorded if each.matches(args)]
        nearest = recorded if self.match == "nearest" else []
        for found, approximate in ((own, False), (exact, False), (nearest, True)):
            if found:
                answer = min(found, key=lambda each: each.used)
                answer.used += 1
                return answer, approximate
        return None, False

    def _of(self, answers: Sequence[ToolAnswer], tool: str) -> list[ToolAnswer]:
        names = self._names(tool)
        return [
            each
            for each in answers
            if each.recorded_tool in names or any(name_matches(each.tool, name) for name in names)
        ]

    def _unanswered(self, tool: str, args: Mapping[str, Any]) -> AdapterError:
        if _is_any(INTERACTIVE_TOOLS, tool):
            return live_error(
                "live.interactive",
                f"the agent called {tool}, which waits for a person",
                "answer it with a fixture, test the question with a recorded run, or take the tool away from the agent",
            )
        near = self._of([*self.own, *self.recorded], tool)
        closest = "; no fixture or recorded result of this tool is there"
        if near:
            closest = f"; the closest is {near[0].source}{', which was used before' * near[0].once}"
        return live_error(
            "live.no_fixture",
            f"the agent called {tool} with {json.dumps(args, ensure_ascii=False, sort_keys=True)}, "
            f"and no fixture answers that{closest}",
            "add a fixture for it, let the tool run (live.run_tools), or accept the nearest recorded result "
            "(live.match: nearest)",
        )

    def put_into(self, results: Iterable[Block], *, has_harness: bool) -> None:
        """Replace the denials in a request's tool results by answers, and notice tools that ran all the same.

        `has_harness`: a harness made the request, one of which is known which tools are its own.
        """
        with self._lock:
            for result in results:
                self._put(result, has_harness)

    def unsay(self, messages: Any) -> None:
        """Take out the reminders with which older harnesses tell the model of denials, beside the results."""
        for message in messages if isinstance(messages, list) else ():
            content = message.get("content") if isinstance(message, dict) else None
            if isinstance(content, list):
                content[:] = [each for each in content if not self._tells_of_denial(each)]

    def _tells_of_denial(self, block: Any) -> bool:
        return isinstance(block, dict) and self.nonce in str(block.get("text", ""))

    def correct_bundle(self, bundle: dict[str, Any]) -> None:
        """Put the answers into a replay bundle. Raises `AdapterError` where a denial would stay."""
        for step in bundle.get("script") or []:
            denied = self.denied.get(step.get("call_id", "")) if isinstance(step, dict) else None
            if denied and denied.answer and step.get("type") == "tool_result":
                step["result"], step["success"] = denied.answer.text, not denied.answer.failed
        if self.nonce in json.dumps(bundle, ensure_ascii=False):
            raise live_error(
                "live.uncorrected",
                "what the run left tells of denied tool calls, where the model was given fixtures' answers",
                "leave a transcript or a replay.json with the ids of tool calls: in them it is put right",
            )

    def correct(self, transcript: Path) -> None:
        """Put the answers into a transcript of the harness, whose tool results are denials."""
        lines = []
        for line in filter(None, read_text(transcript).split("\n")):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):  # whoever reads the transcript says so
                entry = None
            if not isinstance(entry, dict):
                lines.append(line)
                continue
            message = entry.get("message")
            if entry.get("type") in ("user", "assistant") and isinstance(message, dict):
                results = list(results_in(message_turns({"messages": [message]}), self._called))
                self.put_into(results, has_harness=True)
                if any(each.call_id in self.denied for each in results):
                    entry.pop("toolUseResult", None)
            lines.append(json.dumps(entry, ensure_ascii=False))
        transcript.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def _put(self, result: Block, has_harness: bool) -> None:
        denied, holder = self.denied.get(result.call_id), result.holder
        if denied is None:
            runs = self.really_runs(result.tool, has_harness=has_harness) or result.call_id in self.let
            if not runs:
                if result.tool and not (has_harness and result.text.startswith(_REFUSED)):
                    self._escaped(result.tool)
            elif result.call_id not in self.asked:  # an agent without a harness that asks
                self.ran.add(result.tool)
        elif self.nonce not in result.text:
            if denied.answer is None or result.text != denied.answer.text:
                self._escaped(denied.tool)
        elif holder is not None:
            holder[result.key] = denied.answer.text if denied.answer else "no fixture"
            if (
                holder.get("type") == "tool_result"
            ):  # of the Messages API, where results tell that they are errors
                holder.pop("is_error", None)
                if denied.answer is None or denied.answer.failed:
                    holder["is_error"] = True

    def _escaped(self, tool: str) -> None:
        if any(each.reason_code == "live.tool_escaped" for each in self.trouble):
            return
        why = "nobody asked before it ran"
        step = "such an agent runs its tools itself, in the sandbox: allow them in live.run_tools of the test"
        if _is_any(self.injected, tool):
            step = "the suite's toolResponses cannot be given to an agent that runs its tools itself: remove them from the task"
        if self.asked:
            why = "the hook that denies calls was not heeded"
            step = "look at what it did; report it with the CLI's version, or allow it in live.run_tools"
        message = f"{tool} ran, though it must not run in this test: {why}"
        self.trouble.append(live_error("live.tool_escaped", message, step))


def _is_any(globs: Sequence[str], tool: str) -> bool:
    return any(name_matches(glob, tool) for glob in globs)


def own_answers(
    case: TestCase, context: AdapterContext, recorded: Sequence[ToolAnswer] = ()
) -> list[ToolAnswer]:
    """Load the answers of a test's fixtures. Raises `AdapterError` or `FileError` for a file that cannot be read.

    A fixture that is a recorded result, and names no arguments, answers the call of that result alone. Two pages that
    were fetched have the same tool, and so have an error and the result after it.
    """
    answers, played = [], {each.fixture_id for each in recorded}
    for fixture in case.tools.fixtures:
        match, error = fixture.match, fixture.error
        if not match and fixture.id in played:
            continue
        text = _as_text(_content(fixture, context))
        if error:
            text = ": ".join(filter(None, (error.error_type, error.message)))
        answer = ToolAnswer(
            tool=fixture.tool, text=text, source=f"fixture {fixture.id!r}", failed=error is not None
        )
        if match:
            wanted = ArgsMatch(args_contains=match.args_contains or {}, args_equal=match.args_equal)
            answer.matches = partial(_fits, wanted)
        answers.append(answer)
    return answers


def _fits(wanted: ArgsMatch, args: Mapping[str, Any]) -> bool:
    return not wanted.differences(dict(args))


def _content(fixture: Fixture, context: AdapterContext) -> Any:
    from agenteval.loading.adapter_input import find_file
    from agenteval.reading.jsonsource import load_json

    if not fixture.file:
        return fixture.response
    path = find_file(
        fixture.file,
        context,
        setting=f"`file` of the fixture {fixture.id!r}",
        missing="adapter.fixture_missing",
        next_step="correct `file` of the fixture in the test, or put the file there",
    )
    return load_json(path, max_bytes=context.max_file_bytes)


def suite_answers(responses: Sequence[tuple[str, Any]]) -> list[ToolAnswer]:
    """Make the answers of a suite's tool responses: by tool and in order, each once."""
    return [
        ToolAnswer(
            tool=tool, text=_as_text(response), source=f"toolResponses[{index}] of the suite", once=True
        )
        for index, (tool, response) in enumerate(responses)
    ]


def recorded_answers(adapter: Adapter, case: TestCase, context: AdapterContext) -> list[ToolAnswer]:
    """Read the answers of tools in a test's recording; none for a test without one. Raises `AdapterError`."""
    if not any(not key.startswith(EXTENSION_PREFIX) for key in case.adapter_input):
        return []
    trace = adapter.trace(case, replace(context, warnings=[]))
    return [
        ToolAnswer(
            tool=call.tool,
            recorded_tool=call.recorded_tool,
            text=_as_text(call.results[0].data.get("result")),
            failed=call.failed,
            source=f"the recorded result of {call.tool} {json.dumps(call.args, ensure_ascii=False)[:120]}",
            matches=partial(_same, call.args if call.shows_arguments else None),
            fixture_id=str(call.results[0].data.get("fixture_id") or ""),
        )
        for call in trace.calls()
        if call.results
    ]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _same(recorded: Mapping[str, Any] | None, args: Mapping[str, Any]) -> bool:
    return recorded is not None and args_key(dict(recorded), ()) == args_key(dict(args), ())
