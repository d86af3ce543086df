"""One live test: the agent runs again in a sandbox, and what it did becomes a trace like any other.

An adapter that can run its agent has `live_agent(setup)`, which prepares a `LiveAgent` in a scratch folder. All else is
the same for every adapter: who answers for the model, what tools get, when a run is worth a verdict.
"""

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import LIVE_KEY, Adapter, AdapterContext
from agenteval.contracts.errors import AdapterError, AgentEvalError
from agenteval.contracts.results import LiveResult
from agenteval.contracts.testcase import LiveSpec, TestCase
from agenteval.contracts.trace import AdapterInfo, Trace
from agenteval.live import cassette as cassettes
from agenteval.live.cassette import Cassette, Difference
from agenteval.live.fixtures import Fixtures, own_answers, recorded_answers, suite_answers
from agenteval.live.left import ALL, take_over
from agenteval.live.model import Model, key_of, load_script, played, real, recording, scripted
from agenteval.live.opened import OpenedFiles, opened_files
from agenteval.live.options import RECORD_AGAIN, LiveOptions, live_error
from agenteval.live.proxy import HOOK_PATH, Proxy
from agenteval.live.sandbox import PORT, Sandbox, chosen, free_port, running
from agenteval.live.scratch import remove_leftovers, remove_tree
from agenteval.live.seen import incomplete
from agenteval.live.servers import NOT_STARTED, failed_servers, not_started
from agenteval.loading.config import LiveConfig
from agenteval.loading.testfile import LoadedTest
from agenteval.reading.documents import opened, read_bytes, read_text, refuse_link_out
from agenteval.redaction.redactor import RedactionRules
from agenteval.text.names import name_matches

KEY = "sk-ant-agenteval-stands-in-for-the-key"
"""The key that agents get: the real one never enters the sandbox."""
LOG_LINES = 12
"""The last lines of an agent's log that an error shows."""
_LOG_BYTES = 64 * 2**10
_MOST_WRITTEN, _MOST_WRITTEN_IN_ALL = 2**20, 32 * 2**20
"""The size of a file, and of all files together, in which an author's words are looked for."""
_POLL_SECONDS = 0.02
_MANAGED = "/etc/claude-code"


@dataclass(slots=True, kw_only=True)
class LiveSetup:
    """The material with which an adapter prepares its agent for one run.

    `root` is the project, to which paths in `config` are relative. `scratch` is an empty folder that is gone after
    the run. `env` and `read_only` belong into every sandbox: they lead the agent to the proxy, which its harness then
    asks before each tool call. `real` says that a real model will answer.
    """

    case: TestCase
    context: AdapterContext
    config: LiveConfig
    root: Path
    scratch: Path
    socket: Path
    env: Mapping[str, str]
    read_only: Mapping[str, Path]
    real: bool = False
    source: Path | None = None
    """A checkout of the project at another commit: the agent gets its tracked files."""

    def source_of(self, folder: Path) -> Path:
        """Return the folder from which tracked files are taken: the same place in `source`, if the folder is in the project."""
        root, real = self.root.resolve(), folder.resolve()
        return self.source / real.relative_to(root) if self.source and real.is_relative_to(root) else folder

    def runtime(self, image: str = "") -> str:
        """Choose the sandbox: `bwrap`, `docker` or `podman`. Raises `AdapterError` (`live.no_sandbox`)."""
        return chosen(self.config.runtime, image=image)


@dataclass(kw_only=True)
class LiveAgent:
    """An agent that is ready to run once: what an adapter's `live_agent` returns. Adapters derive from it.

    `runs` are tools that really run, beside those of the harness: names or globs, as the agent calls them.
    `provenance` names the code and the versions that ran. `skills` are the names of the author's own skills; all
    others are the vendor's. `leaves` are patterns of the files that `replay` reads (see `live.left`), by the paths in
    the sandbox of folders that the agent can write; all files but hidden ones where it names no folder. `copies` maps
    each folder with a copy of files that git tracks to the folder that they come from.
    """

    sandbox: Sandbox
    stdin: bytes = b""
    runs: Sequence[str] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    skills: frozenset[str] = frozenset()
    leaves: Mapping[str, Sequence[str]] = field(default_factory=dict)
    copies: Mapping[Path, Path] = field(default_factory=dict)

    def names(self, tool: str) -> Sequence[str]:
        """Return all names of a tool: the agent's, and those of tests and recordings.

        By default also without its MCP server, and in small letters: `mcp__shop__lookup`, `WebSearch` are `lookup`,
        `web_search`.
        """
        bare = tool.rsplit("__", 1)[-1]
        return (tool, bare, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower())

    def missing(self, wanted: Iterable[str], offered: Collection[str]) -> Iterator[str]:
        """List the tools of a test that the model was not offered, by any of their names."""
        known = {name for tool in offered for name in self.names(tool)}
        return (each for each in wanted if not any(name_matches(each, name) for name in known))

    def lets(self, tool: str, args: Mapping[str, Any]) -> bool:  # noqa: ARG002 - for agents with a command of their own
        """Return whether one call of a tool really runs although the tool does not."""
        return False

    def known(self) -> Mapping[str, str]:
        """Return the values that only this run has, such as ids, each with its placeholder in the cassette."""
        return {}

    def finished(self, proxy: Proxy) -> bool:  # noqa: ARG002 - for agents that never exit
        """Return whether the run is over although the process goes on; called every few milliseconds."""
        return False

    def replay(self, proxy: Proxy, context: AdapterContext) -> dict[str, Any]:
        """Make the recording of the run: the content of a file that the adapter reads as `adapter_input.replay_file`.

        `proxy.fixtures` corrects transcripts, which hold denials. Raises `AdapterError`.
        """
        raise NotImplementedError


@dataclass(slots=True)
class LiveAccount:
    """The account of a test's runs: the files they opened, their requests. It is filled also by a run that ends in an error."""

    runs: list[frozenset[str] | None] = field(default_factory=list)
    """The files that each run opened; None for a run of which the kernel did not show all."""
    differences: list[Difference] = field(default_factory=list)
    """The differences of the requests from the recorded ones; at a miss, from the closest one."""
    heard: dict[str, None] = field(default_factory=dict)
    """All that the model was given, piece by piece, where a run is asked to keep it (`LiveOptions.detailed`)."""
    client: str = ""
    """The program that made the requests, with its version."""
    cassette: Cassette | None = None
    """The cassette that was played, or what the real model answered, where a run is asked to keep it."""

    @property
    def opened(self) -> frozenset[str] | None:
        """The tracked files that any of the runs opened, by their paths from the project's root, as git has them.

        None if they are not known: no run started, or the kernel did not show all files of one.
        """
        known = [each for each in self.runs if each is not None]
        return frozenset[str]().union(*known) if known and len(known) == len(self.runs) else None

    def add(self, other: "LiveAccount") -> None:
        """Add the runs of another account."""
        self.runs += other.runs
        known = {(each.name, each.before, each.after) for each in self.differences}
        self.differences += [
            each for each in other.differences if (each.name, each.before, each.after) not in known
        ]


@dataclass(slots=True, kw_only=True)
class LiveRun:
    """The result of a live run: the trace, the file that replays it, and the conditions of the run."""

    trace: Trace
    replay: dict[str, Any]
    info: LiveResult
    authors_changes: bool = False
    """True if the requests differ from the recorded ones in what the author wrote, and were answered all the same."""


def run_live(
    adapter: Adapter,
    test: LoadedTest,
    context: AdapterContext,
    options: LiveOptions,
    rules: RedactionRules,
    account: LiveAccount | None = None,
) -> LiveRun:
    """Run a test's agent. Raises `AdapterError` with a reason code of `live.*` for a run that is worth no verdict.

    The `account` has what the run saw, whether or not it is worth a verdict.
    """
    live = _Live(adapter, test, context, options, rules, account or LiveAccount())
    try:
        if options.how == "record":
            return live.record()
        if options.how == "real":
            made = live.once(live.answering())
            if live.account.cassette:
                live.account.cassette.cost_usd = made.info.cost_usd
            return made
        return live.play(live.loaded())
    finally:
        live.show_activity("")


def standalone(replay: dict[str, Any], fixtures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A replay bundle whose results stand in it, not in fixtures."""
    responses = {each["id"]: each.get("response") for each in fixtures}
    script = []
    for step in replay.get("script") or []:
        fixture = step.get("fixture_id")
        if fixture in responses:
            step = {name: value for name, value in step.items() if name != "fixture_id"}  # noqa: PLW2901
            step["result"] = responses[fixture]
        script.append(step)
    return {**replay, "script": script} if script else replay


class _Live:
    """One live test, from its files to a trace."""

    def __init__(
        self,
        adapter: Adapter,
        test: LoadedTest,
        context: AdapterContext,
        options: LiveOptions,
        rules: RedactionRules,
        account: LiveAccount,
    ) -> None:
        self.adapter: Any = adapter
        self.account = account
        self.test = test
        self.context = context
        self.options = options
        self.spec = test.case.live or LiveSpec()
        self.cassette_file = context.base_dir / self.spec.cassette
        self.redaction = cassettes.Redaction(test.redactor(rules))
        scripted = self.spec.script if not options.shadow else None
        self.script = load_script(context, scripted) if scripted else []

    def show_activity(self, doing: str) -> None:
        if self.options.show_activity:
            self.options.show_activity(f"{self.test.case.id}: {doing}" if doing else "")

    # Who answers for the model -------------------------------------------------------------------------------

    def loaded(self) -> Cassette | None:
        """The cassette; None where a script answers for all. Raises `AdapterError`."""
        path = self.cassette_file
        if self.options.cassette:
            return self.options.cassette
        if not path.is_file():
            if self.script:
                return None
            raise live_error(
                "live.no_cassette",
                f"there is no cassette {path}, so nobody can answer for the model",
                "record one: agenteval run --live record, with the model's key in the environment",
            )
        try:
            cassette = cassettes.loaded(path, read_text(path, max_bytes=self.context.max_file_bytes))
        except ValueError as error:
            raise live_error("live.cassette_invalid", str(error), RECORD_AGAIN) from None
        cassette.written = self.written
        return cassette

    @cached_property
    def _written(self) -> cassettes.Written:
        """All that git tracks and the command line of the agent, but for cassettes, which hold the vendor's words too."""
        from agenteval.loading.checkout import git

        config, texts, total = self.options.config, list[str](), 0
        for root in {self.options.root, self.options.root / config.nanoclaw.checkout}:
            for name in (git(root, "ls-files", "-z") or "").split("\0"):
                path = root / name
                with suppress(OSError, AgentEvalError):
                    if (
                        not name
                        or path.is_symlink()
                        or not path.is_file()
                        or path.stat().st_size > _MOST_WRITTEN
                    ):
                        continue
                    text = read_bytes(path).decode(errors="replace")
                    total += len(text)
                    if cassettes.FORMAT not in text[:200] and total <= _MOST_WRITTEN_IN_ALL:
                        texts.append(text)
        return cassettes.Written([*texts, *config.command.run])

    def written(self) -> cassettes.Written:
        """All that the author has written; read once, and only where another version of the CLI asks."""
        return self._written

    def answering(self) -> Model:
        """The real service. The account keeps its answers if it is to be detailed. Raises `AdapterError`."""
        if not self.options.detailed:
            return self.real()
        self.account.cassette = Cassette(recorded_at=now())
        return recording(self.real(), self.account.cassette)

    def real(self) -> Model:
        """The real service. Raises `AdapterError` where it needs a key and there is none."""
        setting = self.options.config.model
        return real(setting.base_url, key_of(setting))

    def play(self, cassette: Cassette | None) -> LiveRun:
        """Run with the cassette, all of which has to be asked for. Raises `AdapterError`."""
        if self.options.detailed:
            self.account.cassette = cassette
        made = self.once(played(cassette, self.options.stale) if cassette else None)
        if cassette and cassette.unplayed:
            raise live_error(
                "live.cassette_unplayed",
                f"the agent asked its model for less than was recorded: {cassette.unplayed} of "
                f"{len(cassette.exchanges)} recorded requests were not made",
                f"look at what it left out (agenteval cassette show {self.cassette_file}); "
                f"if that is meant, {RECORD_AGAIN}",
            )
        return made

    def record(self) -> LiveRun:
        """Run with the real model; then with what was recorded, which is written only if that plays.

        Raises `AdapterError`, and `FileError` where a link in the path of the cassette leads out of the project.
        """
        refuse_link_out(self.cassette_file)
        cassette = Cassette(recorded_at=now())
        made = self.once(recording(self.real(), cassette))
        cassette.cost_usd = made.info.cost_usd
        if hidden := self.redaction.needed(cassette):
            raise live_error(
                "live.cassette_unplayable",
                f"the cassette cannot be played: {hidden}",
                "keep the value out of what the agent is told, or let redaction know it is none "
                "(redaction.kinds, reporting.redact_fields)",
            )
        text = cassettes.dumped(cassette, self.redaction.answer)
        try:
            self.show_activity("playing back what was recorded")
            self.play(cassettes.loaded(self.cassette_file, text))
            self.context.warnings[:] = dict.fromkeys(self.context.warnings)  # both runs tell the same
        except AdapterError as error:
            raise live_error(
                "live.cassette_unplayable",
                f"what was recorded does not play: {error.message}",
                "what the message names differs between two runs of the agent: take it out of its prompt, "
                "or report it",
            ) from error
        cassettes.write(self.cassette_file, text)
        return made

    # One run -------------------------------------------------------------------------------------------------

    def once(self, model: Model | None) -> LiveRun:
        """Run the agent once, with the hand-written turns before the model."""
        case, config, options = self.test.case, self.options.config, self.options
        is_real = options.how != "play"
        budget = options.budget if is_real else None
        limits = [config.max_cost_usd if is_real else None, budget.take() if budget else None]
        with self._scratch() as scratch:
            (scratch / "agent").mkdir()
            port = free_port() if options.shadow else PORT
            agent: LiveAgent = self.adapter.live_agent(
                LiveSetup(
                    case=case,
                    context=self.context,
                    config=config,
                    root=options.root.resolve(),
                    scratch=scratch / "agent",
                    socket=scratch / "proxy.sock",
                    env=environment(port),
                    read_only={_MANAGED: _managed_settings(scratch, port)},
                    real=is_real,
                    source=options.source,
                )
            )
            agent.sandbox.port, agent.sandbox.network = port, options.shadow
            if options.source and not any(
                each.is_relative_to(options.source) for each in agent.copies.values()
            ):
                raise live_error(
                    "check.no_base",
                    f"the adapter {self.adapter.name} runs no files of {options.source}, so both sides would be the same agent",
                    "keep the agent in the repository of its tests; or the adapter cannot run the agent of a base yet",
                )
            proxy = Proxy(
                socket=scratch / "proxy.sock",
                model=scripted(self.script, model) if model is None or self.script else model,
                fixtures=self._fixtures(agent),
                config=config,
                known=agent.known,
                skills=agent.skills,
                redact=self.redaction.text,
                most_cost_usd=min((each for each in limits if each is not None), default=None),
                hosted_tools=options.shadow,
                show_activity=self.show_activity,
            )
            with proxy, opened_files(agent.copies) as opened:
                self.show_activity("starting")
                try:
                    exit_code = _wait(agent, proxy, scratch, self.spec.timeout_s, opened)
                except AdapterError:
                    proxy.check()  # what the proxy saw is the cause of what the agent made of it
                    raise
                finally:
                    if budget:
                        budget.pay(proxy.accounts.cost_usd or 0.0)
                    seen = opened.names(options.root.resolve())
                    self.account.add(LiveAccount([seen], [*proxy.differences, *proxy.missed]))
                    if options.detailed:
                        self.account.heard |= proxy.heard
                    self.account.client = proxy.accounts.client
            self._must_have_servers(agent, proxy, scratch)
            self._must_be_good(exit_code, proxy, scratch)
            self._take_over(agent, scratch)
            replay = agent.replay(proxy, self.context)
            if "script" in replay:
                replay[LIVE_KEY] = {"adapter": self.adapter.name, "test_id": case.id, **agent.provenance}
            proxy.check()  # a transcript may show that a tool ran
            trace = self._trace(replay, proxy, scratch)
            self._must_be_whole(trace, agent, proxy, has_results="script" in replay)
        for asked, why in proxy.accounts.refused.items():
            self.context.warn(f"the agent asked for {asked}, and did not get it: {why}")
        for answer in proxy.fixtures.own:
            if answer.once and not answer.used:
                self.context.warn(f"{answer.source}, of {answer.tool}, was never used")
        is_changed = any(each.kind == "author" for each in proxy.differences)
        return LiveRun(trace=trace, replay=replay, info=self._info(agent, proxy), authors_changes=is_changed)

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        within = self.options.scratch
        with suppress(FileExistsError):
            within.mkdir(mode=0o700)
            remove_leftovers()
        folder = Path(tempfile.mkdtemp(dir=within))
        try:
            yield folder
        finally:
            if self.options.keep:
                self.context.warn(f"the scratch folder is kept: {folder}")
            else:
                try:
                    remove_tree(folder)
                except OSError as error:
                    self.context.warn(f"the scratch folder {folder} cannot be removed: {error.strerror}")
                with suppress(OSError):  # others may be at work in it
                    within.rmdir()

    def _fixtures(self, agent: LiveAgent) -> Fixtures:
        if self.options.shadow:
            return Fixtures(runs=["*"], names=agent.names)
        if self.test.responses is not None:
            recorded, own = [], suite_answers(self.test.responses)
        else:
            recorded = recorded_answers(self.adapter, self.test.case, self.context)
            own = own_answers(self.test.case, self.context, recorded)
        return Fixtures(
            own=own,
            recorded=recorded,
            runs=self.spec.run_tools,
            harness_runs=agent.runs,
            injected=[tool for tool, _ in self.test.responses or ()],
            match=self.spec.match,
            names=agent.names,
            lets=agent.lets,
        )

    def _must_have_servers(self, agent: LiveAgent, proxy: Proxy, scratch: Path) -> None:
        """Warn of MCP servers that did not start. Raises the error of a run without one that the test needs."""
        home = agent.sandbox.writable.get(agent.sandbox.home, scratch / "home")
        failed = failed_servers(home, scratch / "servers", proxy.tools) if home.is_dir() else []
        others = [each for each in proxy.fixtures.trouble if each.reason_code != "live.cassette_miss"]
        called = [call.tool for call in proxy.seen.made]
        for server in failed:
            needed = next(filter(server.has, (*called, *self.test.case.tools.available)), None)
            # a test may name the tool without its server: then it is one that no other server has
            needed = needed or next(agent.missing(self.test.case.tools.available, proxy.tools), None)
            if needed and not others:
                raise not_started(server, needed)
            self.context.warn(f"{NOT_STARTED}: {server.message}")

    def _must_be_good(self, exit_code: int | None, proxy: Proxy, scratch: Path) -> None:
        """Raises the error of a run whose agent failed; `exit_code` is None for one that took too long."""
        proxy.check()
        log = last_lines(scratch)
        if exit_code != 0 and proxy.accounts.last_error:
            raise api_error(proxy)
        if exit_code is None:
            doing = f"{proxy.accounts.requests} model requests so far"
            raise live_error(
                "live.timeout",
                f"the agent was not done after {self.spec.timeout_s:g} s: {doing}{log}",
                "raise live.timeout_s in the test, or look at what it waits for",
            )
        if exit_code:
            raise live_error(
                "live.runner_failed",
                f"the agent ended with exit code {exit_code}{log}",
                "mend what the log tells; --keep leaves the scratch folder to look at",
            )
        if not proxy.accounts.requests:
            raise live_error(
                "live.no_request",
                f"the agent made no request to its model{log}",
                "have it use ANTHROPIC_BASE_URL (or OPENAI_BASE_URL) of its environment",
            )

    def _take_over(self, agent: LiveAgent, scratch: Path) -> None:
        """Put what the agent wrote out of its reach. Raises `AdapterError` for what cannot be read."""
        aside, wanted = scratch / "left", dict[Path, tuple[str, list[str]]]()
        aside.mkdir()
        for inside, folder in agent.sandbox.writable.items():  # a folder may be mounted more than once
            wanted.setdefault(folder, (inside, []))[1].extend(agent.leaves.get(inside, ALL))
        for folder, (inside, patterns) in wanted.items():
            if folder.is_relative_to(scratch):
                name = inside.strip("/").replace("/", "-")
                most = self.context.max_file_bytes
                take_over(folder, patterns, aside / name, inside=inside, max_file_bytes=most)

    def _trace(self, replay: dict[str, Any], proxy: Proxy, scratch: Path) -> Trace:
        """The trace of what the run left behind, read as a replay of it would be."""
        folder = scratch / "replay"
        folder.mkdir()
        (folder / "replay.json").write_text(json.dumps(replay, ensure_ascii=False), encoding="utf-8")
        case = replace(
            self.test.case,
            adapter_input={"replay_file": "replay.json"},
            tools=replace(self.test.case.tools, fixtures=[]),
        )
        context = replace(self.context, base_dir=folder, root=folder, allow_outside=False)
        trace: Trace = self.adapter.trace(case, context)
        trace.adapter = AdapterInfo(name=self.adapter.name, version=self.adapter.version)
        trace.capabilities = replace(trace.capabilities, supports_live_run=True)
        if self.options.how != "play":
            trace.metrics.cost_usd = trace.metrics.cost_usd or proxy.accounts.cost_usd
        trace.metrics.token_usage = trace.metrics.token_usage or dict(proxy.accounts.tokens) or None
        return trace

    def _must_be_whole(self, trace: Trace, agent: LiveAgent, proxy: Proxy, *, has_results: bool) -> None:
        """Raises the error of a trace that lacks calls, and does not say that it may."""
        if trace.capabilities.supports_tool_trace and not trace.unseen:
            lacking = proxy.seen.lacking(
                trace,
                agent.names,
                begun=proxy.fixtures.let,
                has_results=has_results,
                has_harness=proxy.fixtures.has_harness,
            )
            if lacking:
                raise incomplete(lacking)

    def _info(self, agent: LiveAgent, proxy: Proxy) -> LiveResult:
        accounts, fixtures, is_played = proxy.accounts, proxy.fixtures, self.options.how == "play"
        differing: dict[bool, dict[str, None]] = {True: {}, False: {}}
        for each in proxy.differences:
            if each.kind != "conversation":
                differing[each.kind == "vendor"][each.in_words()] = None
        return LiveResult(
            model="played" if is_played else accounts.model,
            how=self.options.how,
            provenance={**agent.provenance, "client": accounts.client, "sandbox": agent.sandbox.runtime},
            offered=accounts.offered,
            requests=accounts.requests,
            tokens=accounts.tokens,
            cost_usd=None if is_played else accounts.cost_usd,
            stale=list(differing[False]),
            drift=list(differing[True]),
            approximate=[
                f"{each.tool} {json.dumps(each.args, ensure_ascii=False)}: "
                f"the nearest recorded result, {each.answer.source if each.answer else ''}"
                for each in fixtures.denied.values()
                if each.approximate
            ],
            ran=sorted(fixtures.ran),
        )


def now() -> str:
    """The time at which a cassette is recorded."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def environment(port: int = PORT) -> dict[str, str]:
    """The environment that leads any agent to the proxy, by way of a port in its sandbox."""
    url = f"http://127.0.0.1:{port}"
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_AUTH_TOKEN": "",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_HOST": url,
        "OPENAI_API_KEY": KEY,
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        **({"IS_SANDBOX": "1"} if os.geteuid() == 0 else {}),
    }


def _managed_settings(scratch: Path, port: int) -> Path:
    """A folder with settings that no agent can override: its harness asks the proxy before each call."""
    folder = scratch / "managed"
    folder.mkdir()
    hook = {"type": "http", "url": f"http://127.0.0.1:{port}{HOOK_PATH}"}
    hooks = {event: [{"matcher": "*", "hooks": [hook]}] for event in ("PreToolUse", "SubagentStart")}
    (folder / "managed-settings.json").write_text(json.dumps({"hooks": hooks}))
    return folder


def _wait(agent: LiveAgent, proxy: Proxy, scratch: Path, timeout_s: float, opened: OpenedFiles) -> int | None:
    """Run the agent to its end, and leave nothing of it behind.

    The exit code: 0 for one that was stopped because its run was over, None for one that took too long.
    """
    deadline = time.monotonic() + timeout_s
    with running(agent.sandbox, agent.stdin, scratch) as sandbox:
        process = sandbox.process
        while (code := process.poll()) is None:
            opened.take_in()
            if exceeded := sandbox.watch.exceeded():
                sandbox.kill()
                raise live_error(
                    "live.over_limits",
                    f"the agent {exceeded}",
                    "look at what it started or wrote: a sandbox may use no more",
                )
            if proxy.fixtures.trouble or agent.finished(proxy):
                return 0
            if time.monotonic() > deadline:
                return None
            with suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
        return code


def last_lines(scratch: Path) -> str:
    """The end of the log of an agent with this scratch folder, to be added to a message; empty when it said nothing."""
    lines: list[str] = []
    for name in ("log.txt", "stdout.txt"):
        with suppress(OSError), opened(scratch / name) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_BYTES))
            lines = lines or file.read(_LOG_BYTES).decode(errors="replace").strip().splitlines()
    shown = "".join(f"\n    {line}" for line in lines[-LOG_LINES:])
    return f"; the last lines of its log:{shown}" if lines else ""


def api_error(proxy: Proxy) -> AdapterError:
    """The error of a run whose model's service answered with one, which was not got over."""
    return live_error(
        "live.api_error",
        f"the model's service answered {proxy.accounts.last_error}",
        "see that the key and the model's name are right, and try again",
    )
