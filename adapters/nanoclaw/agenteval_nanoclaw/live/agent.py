"""One run of NanoClaw's agent-runner: its sandbox, its end, and what it leaves as a recording of a test."""

import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import Adapter, AdapterContext
from agenteval.contracts.errors import AdapterError, FileError
from agenteval.contracts.models import EXTENSION_PREFIX
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import AdapterInfo, Trace
from agenteval.live.fixtures import FILE_TOOLS
from agenteval.live.left import refused
from agenteval.live.options import live_error
from agenteval.live.proxy import Proxy
from agenteval.live.run import LiveAgent, LiveSetup, api_error, last_lines, standalone
from agenteval.live.sandbox import Sandbox
from agenteval.reading.documents import read_bytes
from agenteval_nanoclaw.live.checkout import Checkout, open_checkout
from agenteval_nanoclaw.live.ncl import PROGRAM, Desk, is_plain_call
from agenteval_nanoclaw.live.workspace import CONTEXT, INBOUND, Workspace, build, far_from_today
from agenteval_nanoclaw.session.memory import MAIN
from agenteval_nanoclaw.session.results import canonical
from agenteval_nanoclaw.session.store import BESIDE, json_of
from agenteval_nanoclaw.session.values import iso, record_of
from agenteval_nanoclaw.versions import MEMORY_MODULES, RUNNER_FAILED, SENT

HOME = "/home/node"
IDLE_SECONDS = 0.3
"""The idle seconds after which a run is over: an answer that could not be sent makes the agent speak again."""
SLOWER = 3
"""The times longer that a run has to be idle than it took to acknowledge a message: on a busy machine all takes longer."""
SLOWEST_SECONDS = 5
"""The seconds from an answer to its acknowledgement above which not the machine is slow, but something else went on."""
LONGEST_HANDOVER_SECONDS = 3
"""The seconds after its acknowledgement in which a message may still be on its way to the model."""
MOST_AT_ONCE = 10
"""The messages that the runner hands to the agent at once, unless the group's container.json has another number."""
FAR_DAYS = 2
"""Days from today after which a real model is told of two times that do not fit each other."""
RUNS = (*FILE_TOOLS, "mcp__nanoclaw__*")
"""Tools that really run: those for files, on scratch files, and NanoClaw's own."""
_MEMORY = ("**/*.md", "**/*.txt", "**/*.json")
"""The files of a group that may be its memory, or say how it is set up."""
_SILENT = "Query completed after 0 SDK messages"
_OURS = Path(__file__).parent
NCL = "agent-runner/src/cli/ncl.ts"
"""The file of a checkout with the command for agents, which the image starts as `ncl`."""
_BRIDGE = ("sh", "-c", 'bun /agenteval/bridge.mjs "$0" "$1" & shift; exec "$@"')
"""For containers, whose image has no Python."""


def prepared(setup: LiveSetup, adapter: Adapter) -> LiveAgent:
    """NanoClaw, ready to run a test's scenario once. Raises `AdapterError`."""
    config = setup.config.nanoclaw
    runtime = setup.runtime(config.image)
    checkout = open_checkout(setup, runtime)
    groups = setup.source_of(setup.root / config.groups) if config.groups else None
    workspace = build(
        checkout,
        setup.case,
        setup.context,
        _recorded(adapter, setup),
        scratch=setup.scratch,
        templates=groups,
    )
    template = groups / workspace.group.name if groups else None
    return NanoClawAgent(
        sandbox=Sandbox(
            command=_command(workspace, checkout),
            socket=setup.socket,
            env={
                **setup.env,
                "PATH": "/pnpm:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "TZ": workspace.timezone,
            },
            read_only={**setup.read_only, **_read_only(checkout, workspace)},
            writable=_writable(workspace),
            folder="/workspace/agent",
            home=HOME,
            bridge=None if runtime == "bwrap" else _BRIDGE,
            runtime=runtime,
            image=config.image,
        ),
        runs=RUNS,
        provenance=checkout.provenance(),
        skills=frozenset(checkout.skills),
        leaves=_leaves(workspace),
        copies={checkout.files: checkout.root, **({workspace.group: template} if template else {})},
        workspace=workspace,
        case=setup.case,
        log=setup.scratch.parent,
        adapter=AdapterInfo(name=adapter.name, version=adapter.version),
        real=setup.real,
    )


def _command(workspace: Workspace, checkout: Checkout) -> list[str]:
    """Return the command that starts the runner, once the earlier conversation has the memory that its session began with."""
    start = ["bun", "run", "/app/src/index.ts"]
    modules = [each for each in MEMORY_MODULES if (checkout.files / each).is_file()]
    if not (workspace.has_before and modules):
        return start
    inside = [each.replace("container/agent-runner/src/", "/app/src/") for each in modules]
    transcript = f"{HOME}/.claude/{workspace.before.relative_to(workspace.shared)}"
    return [
        "sh",
        "-c",
        'bun /agenteval/before.mjs "$@"; exec bun run /app/src/index.ts',
        "sh",
        transcript,
        *inside,
    ]


def _recorded(adapter: Adapter, setup: LiveSetup) -> Trace | None:
    """The trace of the test's recording, which shows names that the scenario does not; None where it has none."""
    if all(key.startswith(EXTENSION_PREFIX) for key in setup.case.adapter_input):
        return None
    try:
        return adapter.trace(setup.case, setup.context)
    except FileError as error:
        raise AdapterError.of(error.problems) from None


def _read_only(checkout: Checkout, workspace: Workspace) -> dict[str, Path]:
    container, group = checkout.files / "container", workspace.group
    shown = {
        "/app/src": container / "agent-runner" / "src",
        "/app/package.json": container / "agent-runner" / "package.json",
        "/app/skills": container / "skills",
        "/app/CLAUDE.md": container / MAIN,
        f"/workspace/{INBOUND}": workspace.inbound,
        "/app/.nanoclaw-session.json": workspace.shared.parent / CONTEXT,
        "/app/node_modules": checkout.node_modules,
        **{
            f"/workspace/agent/{name}": group / name for name in (MAIN, "container.json", ".claude-fragments")
        },
        **{f"/pnpm/{name}": program for name, program in checkout.programs.items()},
        **({f"/pnpm/{PROGRAM}": _OURS / f"{PROGRAM}.sh"} if (container / NCL).is_file() else {}),
        **{f"/agenteval/{name}": _OURS / name for name in ("before.mjs", "bridge.mjs", "tools.mjs")},
        **{inside: ours for inside, (ours, readonly) in workspace.mounts.items() if readonly},
    }
    return {inside: ours for inside, ours in shown.items() if ours is not None and ours.exists()}


def _writable(workspace: Workspace) -> dict[str, Path]:
    return {
        "/workspace": workspace.session,
        "/workspace/agent": workspace.group,
        f"{HOME}/.claude": workspace.shared,
        **{inside: ours for inside, (ours, readonly) in workspace.mounts.items() if not readonly},
    }


def _leaves(workspace: Workspace) -> dict[str, Sequence[str]]:
    """Return the files that are read from the folders that the agent can write."""
    databases = [workspace.outbound.name + suffix for suffix in BESIDE]
    groups = ("/workspace/agent", *workspace.mounts)
    return {"/workspace": databases, f"{HOME}/.claude": ("projects/**/*",), **dict.fromkeys(groups, _MEMORY)}


@dataclass(kw_only=True)
class NanoClawAgent(LiveAgent):
    """One run of the agent-runner. `log` is the folder with what it said; `real`, that a real model answers."""

    workspace: Workspace
    case: TestCase
    log: Path
    adapter: AdapterInfo
    real: bool
    desk: Desk = field(init=False)
    acknowledged: float = 0
    """The time, by the monotonic clock, at which all messages were acknowledged although the model had not heard all."""
    counted: int = 0
    """The most acknowledged messages that were seen so far: none can be seen while the runner writes."""
    delay: float = 0
    """The longest seconds from an answer of the model to the acknowledgement of the messages that it answers."""
    is_swept: bool = False
    """True once acknowledged messages were put aside, so that the runner saw more of them."""
    is_in_parts: bool = field(init=False)
    """True if the messages are more than the runner hands to the agent at once."""

    def __post_init__(self) -> None:
        self.desk = Desk(self.workspace)
        self.is_in_parts = len(self.case.scenario.input_messages) > MOST_AT_ONCE

    def lets(self, tool: str, args: Mapping[str, Any]) -> bool:
        """Return whether a call really runs although its tool does not: a plain call of `ncl`, NanoClaw's own command."""
        return tool == "Bash" and is_plain_call(str(args.get("command", "")))

    def names(self, tool: str) -> Sequence[str]:
        """All names of a tool, with that of traces."""
        return list(dict.fromkeys([tool, canonical(tool, {}), *super().names(tool)]))

    def missing(self, wanted: Iterable[str], offered: Collection[str]) -> Iterator[str]:
        """The tools of other servers that the model was not offered; for NanoClaw's own, tests have names of every release."""
        return super().missing((each for each in wanted if each.startswith("mcp__")), offered)

    def known(self) -> Mapping[str, str]:
        """Times and ids of this run alone."""
        return self.workspace.known()

    def finished(self, proxy: Proxy) -> bool:
        """Return whether every message is acknowledged, and nothing goes on: the runner never exits. Raises `AdapterError`."""
        self.desk.attend()
        idle = proxy.idle_seconds
        if idle < IDLE_SECONDS / SLOWER:  # to acknowledge takes less on a machine that is not busy
            return False
        is_done = self._is_acknowledged(proxy, idle)
        pause = self._pause()
        # something may have been asked while the databases were looked at
        if idle < pause or not is_done or proxy.idle_seconds < pause:
            if idle >= pause and self.workspace.sweep():
                self.is_swept = self.is_in_parts = True
            return False
        said = last_lines(self.log)
        failure = self._failure()
        if proxy.accounts.last_error:
            raise api_error(proxy)
        if failure or (not proxy.accounts.requests and _SILENT in said):
            what = f"NanoClaw sent {failure!r}" if failure else "the agent's CLI ended without a word"
            raise live_error(
                "live.runner_failed",
                f"{what}{said}",
                "mend what the log tells; --keep leaves the scratch folder to look at",
            )
        # the request with the last messages may have come only now
        return not self._is_handing_over(proxy) and proxy.idle_seconds >= pause

    def _is_acknowledged(self, proxy: Proxy, idle: float) -> bool:
        """Return whether all messages are acknowledged, and measure how long the runner took to do so after an answer."""
        pending, acknowledged = self.workspace.acknowledged()
        # messages that come after a sweep are acknowledged as they are handed over: no answer is behind that
        if len(acknowledged) > self.counted and proxy.accounts.requests and not self.is_swept:
            self.delay = max(self.delay, min(idle, SLOWEST_SECONDS))
        self.counted = max(self.counted, len(acknowledged))
        return bool(pending) and pending <= acknowledged

    def _pause(self) -> float:
        """Return the idle seconds after which the run is over.

        The runner of 2.0 acknowledges before it writes the answer's rows, and both releases before they ask again for an
        answer that could not be sent. On a busy machine each of these takes about as long as the acknowledgement did.
        """
        # the runner acknowledges later messages as it hands them over: nothing shows that their answer was written
        least = LONGEST_HANDOVER_SECONDS if self.is_in_parts else IDLE_SECONDS
        return max(least, SLOWER * self.delay)

    def _is_handing_over(self, proxy: Proxy) -> bool:
        """Return whether a message may still be on its way: the runner acknowledges later ones before the model has them."""
        texts = [each.content for each in self.case.scenario.input_messages]
        asked = [text for text in texts if not text.startswith("/")]  # the CLI answers commands by itself
        # a prompt has messages as XML
        if all(any(map(proxy.has_heard, (text, escape(text), escape(text, quote=False)))) for text in asked):
            return False
        self.acknowledged = self.acknowledged or time.monotonic()
        return time.monotonic() < self.acknowledged + max(LONGEST_HANDOVER_SECONDS, self._pause())

    def _failure(self) -> str:
        """Return the message that the runner sent in place of an answer, since its query failed; its log has it as well."""
        log = read_bytes(self.log / "log.txt").decode(errors="replace")
        for _, kind, content in self.workspace.sent():
            text = str(record_of(json_of(content)).get("text", "")) if kind == "chat" else ""
            if text.startswith(RUNNER_FAILED) and text.removeprefix(RUNNER_FAILED) in log:
                return text
        return ""

    def _of_commands(self) -> dict[str, Any]:
        """The bundle of a run in which commands were carried out, and the agent was asked nothing: what was sent of it."""
        texts = [
            str(record_of(json_of(content)).get("text", ""))
            for _, kind, content in self.workspace.sent()
            if kind in SENT
        ]
        said = [{"role": each.role, "content": each.content} for each in self.case.scenario.input_messages]
        return {
            "schema_version": "0.1",
            "status": "success",
            "scenario": {"group_id": self.case.scenario.group_id, "trigger": self.case.scenario.trigger},
            "input_messages": said,
            "script": [{"type": "final_output", "content": "\n".join(texts)}],
        }

    def _warn_of_unheard(self, proxy: Proxy, context: AdapterContext) -> None:
        """Warn of what the author wrote, and no request has a word of: no run can notice a change of it."""
        workspace = self.workspace
        unheard = [name for name, text in workspace.instructions.items() if not proxy.has_heard(text)]
        if unheard:
            files = ", ".join(sorted(unheard))
            context.warn(
                f"{files} reached no request, so no run notices a change there: the agent's CLI "
                "does not follow the imports of the group's CLAUDE.md that lead out of its folder"
            )
        for name, text in workspace.messages.items():
            if not proxy.has_heard(text):
                context.warn(
                    f"scenario.{name} reached no request: the agent neither was given it nor read it"
                )

    def replay(self, proxy: Proxy, context: AdapterContext) -> dict[str, Any]:
        """The run as a replay bundle: fixtures' answers stand in the transcripts where denials were."""
        from agenteval_nanoclaw.session.recorder import SessionRecorder
        from agenteval_nanoclaw.session.runs import joined, read_recording

        for transcript in (self.workspace.shared / "projects").rglob("*.jsonl"):
            proxy.fixtures.correct(transcript)
        try:
            self.workspace.deliver()
        except sqlite3.Error as error:
            raise refused("/workspace/inbound.db", f"is no database to write to: {error}") from error
        if self.real and (far := far_from_today(self.case, FAR_DAYS)):
            context.warn(
                f"the model got the time {far[0]}, which is not near today, and today's date as well"
            )
        self._warn_of_unheard(proxy, context)
        root = self.workspace.root
        unheard = replace(context, base_dir=root, root=root, warnings=[])
        reading = read_recording(root, unheard, within=None)
        runs = [each for each in reading.runs if iso(each.started) >= self.workspace.began]
        messages = [each.content for each in self.case.scenario.input_messages]
        if not runs and all(each.startswith("/") for each in messages):
            return self._of_commands()
        run = joined(runs)
        if run is None:
            raise live_error(
                "live.several_turns",
                f"the run has {len(runs)} turns that cannot be judged as one: they are in several sessions of the "
                "agent, or one of them was begun by something that is no message of the scenario",
                "divide the scenario into several tests; --keep leaves the scratch folder to look at",
            )
        # the runner's own answer to a command, such as /clear, is in no transcript: but all that this run sent is its own
        owned = {row.id for each in runs for row in each.outbound}
        rest = [row for row in run.session.outbound if row.id not in owned] if run.session else []
        run.outbound = sorted([*run.outbound, *rest], key=lambda row: row.number)
        recorded = SessionRecorder(self.adapter).test_of(run, reading)
        return standalone(recorded.replay, recorded.fixtures)
