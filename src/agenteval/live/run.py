"""One live test: the agent runs again in a sandbox, and what it did becomes a trace like any other.

An adapter that can run its agent has `live_agent(setup)`, which prepares a `LiveAgent` in a scratch folder. All else is
the same for every adapter: who answers for the model, what tools get, when a run is worth a verdict.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from agenteval.contracts.adapters import LIVE_KEY, Adapter, AdapterContext
from agenteval.contracts.errors import AdapterError, FileError
from agenteval.contracts.results import LiveResult
from agenteval.contracts.testcase import LiveSpec, TestCase
from agenteval.contracts.trace import AdapterInfo, Trace
from agenteval.live import cassette as cassettes
from agenteval.live.cassette import Cassette, Difference
from agenteval.live.fixtures import (
    Fixtures,
    ToolAnswer,
    own_answers,
    recorded_answers,
    suite_answers,
)
from agenteval.live.model import Model, ScriptedModel, load_script, played, price_of, real, recording
from agenteval.live.options import RECORD_AGAIN, How, LiveOptions, live_error, remove_leftovers
from agenteval.live.proxy import HOOK_PATH, Proxy
from agenteval.live.sandbox import PORT, Running, Sandbox, chosen, free_port, start
from agenteval.loading.config import LiveConfig
from agenteval.loading.testfile import LoadedTest
from agenteval.reading.documents import read_bytes
from agenteval.redaction.redactor import RedactionRules

KEY = "sk-ant-agenteval-stands-in-for-the-key"
"""What agents get for a key: the real one never enters the sandbox."""
LOG_LINES = 12
"""The last lines of an agent's log that an error shows."""
_POLL_SECONDS = 0.02
_MANAGED = "/etc/claude-code"


@dataclass(slots=True, kw_only=True)
class LiveSetup:
    """What an adapter needs to prepare its agent for one run.

    `root` is the project, to which paths in `config` are relative; `scratch` is an empty folder that is gone after the run; `env` and `read_only` belong into every sandbox: they lead
    the agent to the proxy, and have its harness ask it before each tool call. `real` says that a real model will answer.
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

    def runtime(self, image: str = "") -> str:
        """The sandbox to use: `bwrap`, `docker` or `podman`. Raises `AdapterError` (`live.no_sandbox`)."""
        return chosen(self.config.runtime, image=image)


@dataclass(kw_only=True)
class LiveAgent:
    """An agent that is ready to run once: what an adapter's `live_agent` returns. Adapters derive from it.

    `runs` are tools (names or globs) that really run, beside those of the harness; `provenance` says which code and
    which versions ran; `skills` are the names of the author's own skills, to tell them from the vendor's.
    """

    sandbox: Sandbox
    stdin: bytes = b""
    runs: Sequence[str] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    skills: frozenset[str] = frozenset()

    def names(self, tool: str) -> Sequence[str]:
        """All names of a tool: as the agent calls it, and those that tests and recordings have for it.

        By default also without its MCP server, and in small letters: `mcp__shop__lookup`, `WebSearch` are `lookup`,
        `web_search`.
        """
        bare = tool.rsplit("__", 1)[-1]
        return (tool, bare, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower())

    def known(self) -> Mapping[str, str]:
        """Values of this run that another run has not, each with what stands for it in the cassette."""
        return {}

    def finished(self, proxy: Proxy) -> bool:  # noqa: ARG002 - for agents that never exit
        """Whether the run is over though the process goes on; asked every few milliseconds."""
        return False

    def replay(self, proxy: Proxy, context: AdapterContext) -> dict[str, Any]:
        """What the run left behind, as a file that the adapter reads from `adapter_input.replay_file`.

        `proxy.fixtures` corrects transcripts, which hold denials. Raises `AdapterError`.
        """
        raise NotImplementedError


class LiveAdapter(Adapter, Protocol):
    """An adapter that can run its agent."""

    def live_agent(self, setup: LiveSetup) -> LiveAgent:
        """The agent, ready to run the scenario of `setup.case` once. Raises `AdapterError`."""
        ...


@dataclass(slots=True, kw_only=True)
class LiveRun:
    """What became of a live run: the trace, the file that replays it, and how it was made."""

    trace: Trace
    replay: dict[str, Any]
    info: LiveResult


def run_live(
    adapter: Adapter, test: LoadedTest, context: AdapterContext, options: LiveOptions, rules: RedactionRules
) -> LiveRun:
    """Run a test's agent. Raises `AdapterError` with a reason code of `live.*` for a run that is worth no verdict."""
    return _Live(adapter, test, context, options, rules).run()


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


def git_state(folder: Path) -> dict[str, str]:
    """The commit of a checkout, and whether anything there differs from it; empty outside of git."""
    said = []
    for words in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "--untracked-files=no"]):
        try:
            done = subprocess.run(  # noqa: S603
                ["git", "--no-optional-locks", "-C", str(folder), *words],  # noqa: S607
                capture_output=True,
                text=True,
                check=False,
                timeout=20,
            )
        except (OSError, subprocess.TimeoutExpired):
            return {}
        if done.returncode:
            return {}
        said.append(done.stdout.strip())
    return {"commit": said[0] + (" (changed since)" if said[1] else "")}


@dataclass(slots=True)
class _Ended:
    """One run that is worth a verdict."""

    replay: dict[str, Any]
    trace: Trace
    proxy: Proxy
    agent: LiveAgent


class _Live:
    """One live test, from its files to a trace."""

    def __init__(
        self,
        adapter: Adapter,
        test: LoadedTest,
        context: AdapterContext,
        options: LiveOptions,
        rules: RedactionRules,
    ) -> None:
        self.adapter: Any = adapter
        self.test = test
        self.context = context
        self.options = options
        self.rules = rules
        self.spec = test.case.live or LiveSpec()
        self.cassette_file = context.base_dir / self.spec.cassette
        self.script: Sequence[Any] = []
        self.recorded: Sequence[ToolAnswer] = []
        self.own: Sequence[ToolAnswer] = []
        if options.shadow:
            return
        if self.spec.script:
            self.script = load_script(context, self.spec.script)
        if test.responses is None:
            self.recorded = recorded_answers(adapter, test.case, context)
            self.own = own_answers(test.case, context, self.recorded)
        else:
            self.own = suite_answers(test.responses)

    def run(self) -> LiveRun:
        try:
            return self._run(self.options.how)
        finally:
            self._tell("")

    def _run(self, how: How) -> LiveRun:
        if how == "play":
            cassette = self._loaded()
            model = None if cassette is None else played(cassette, self.options.stale)
            ended = self._once(self._after_script(model))
            if cassette is not None:
                self._must_be_played(cassette)
        elif how == "real":
            ended = self._once(self._after_script(self._real()))
        else:
            ended = self._record()
        for answer in ended.proxy.fixtures.own:
            if answer.once and not answer.used:
                self.context.warn(f"{answer.source}, of {answer.tool}, was never used")
        return LiveRun(trace=ended.trace, replay=ended.replay, info=self._info(ended))

    # Who answers for the model -------------------------------------------------------------------------------

    def _after_script(self, model: Model | None) -> Model:
        if not self.script:
            assert model is not None
            return model
        return ScriptedModel(self.script, model)

    def _loaded(self) -> Cassette | None:
        """The cassette; None where a script answers for all. Raises `AdapterError`."""
        path = self.cassette_file
        if not path.is_file():
            if self.script:
                return None
            raise live_error(
                "live.no_cassette",
                f"there is no cassette {path}, so nobody can answer for the model",
                "record one: agenteval run --live record, with the model's key in the environment",
            )
        from agenteval.reading.documents import read_text

        try:
            return cassettes.loaded(path, read_text(path, max_bytes=self.context.max_file_bytes))
        except FileError as error:
            raise AdapterError.of(error.problems) from None
        except ValueError as error:
            raise live_error("live.cassette_invalid", str(error), RECORD_AGAIN) from None

    def _real(self) -> Model:
        setting = self.options.config.model
        key = os.environ.get(setting.key_env, "")
        if not key:
            raise live_error(
                "live.no_key",
                f"the environment has no {setting.key_env}, so the real model cannot be asked",
                f"set {setting.key_env}, or name another variable in live.model.key_env",
            )
        return real(setting.base_url, key)

    def _record(self) -> _Ended:
        """Run with the real model; then with what was recorded, which is written only if that plays."""
        cassette = Cassette(recorded_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        ended = self._once(self._after_script(recording(self._real(), cassette)))
        cassette.cost_usd = ended.proxy.accounts.cost_usd
        redacting = cassettes.Redaction(self.test.redactor(self.rules))
        if hidden := redacting.needed(cassette):
            raise live_error(
                "live.cassette_unplayable",
                f"the cassette cannot be played: {hidden}",
                "keep the value out of what the agent is told, or let redaction know it is none "
                "(redaction.kinds, reporting.redact_fields)",
            )
        text = cassettes.dumped(cassette, redacting.answer)
        recorded = cassettes.loaded(self.cassette_file, text)
        try:
            self._tell("playing back what was recorded")
            self._once(self._after_script(played(recorded)))
            self.context.warnings[:] = dict.fromkeys(self.context.warnings)  # both runs tell the same
            self._must_be_played(recorded)
        except AdapterError as error:
            raise live_error(
                "live.cassette_unplayable",
                f"what was recorded does not play: {error.message}",
                "what the message names differs between two runs of the agent: take it out of its prompt, "
                "or report it",
            ) from error
        self.cassette_file.parent.mkdir(
            parents=True, exist_ok=True
        )  # a suite's task may have had nothing there
        part = self.cassette_file.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(self.cassette_file)
        return ended

    def _must_be_played(self, cassette: Cassette) -> None:
        if cassette.unplayed:
            raise live_error(
                "live.cassette_unplayed",
                f"the agent asked its model for less than was recorded: {cassette.unplayed} of "
                f"{len(cassette.exchanges)} recorded requests were not made",
                f"look at what it left out (agenteval cassette show {self.cassette_file}); "
                f"if that is meant, {RECORD_AGAIN}",
            )

    # One run -------------------------------------------------------------------------------------------------

    def _once(self, model: Model) -> _Ended:
        with self._scratch() as scratch:
            case, config = self.test.case, self.options.config
            socket = scratch / "proxy.sock"
            port = free_port() if self.options.shadow else PORT
            budget = self.options.budget if self.options.how != "play" else None
            limits = [
                config.max_cost_usd if self.options.how != "play" else None,
                budget.take() if budget else None,
            ]
            most_cost = min((each for each in limits if each is not None), default=None)
            (scratch / "agent").mkdir()
            agent: LiveAgent = self.adapter.live_agent(
                LiveSetup(
                    case=case,
                    context=self.context,
                    config=config,
                    root=self.options.root.resolve(),
                    scratch=scratch / "agent",
                    socket=socket,
                    env=environment(port),
                    read_only={_MANAGED: _managed_settings(scratch, port)},
                    real=self.options.how != "play",
                )
            )
            agent.sandbox.port, agent.sandbox.network = port, self.options.shadow
            fixtures = Fixtures(
                own=[replace(each, used=0) for each in self.own],
                recorded=[replace(each, used=0) for each in self.recorded],
                runs=["*"] if self.options.shadow else [*agent.runs, *self.spec.run_tools],
                match=self.spec.match,
                names=agent.names,
            )
            proxy = Proxy(
                socket=socket,
                model=model,
                fixtures=fixtures,
                known=agent.known,
                skills=agent.skills,
                redact=cassettes.Redaction(self.test.redactor(self.rules)).text,
                price=partial(price_of, config.prices),
                most_requests=config.max_requests,
                most_cost_usd=most_cost,
                hosted_tools=self.options.shadow,
                tell=self._tell,
            )
            with proxy:
                self._tell("starting")
                try:
                    exit_code = _wait(agent, proxy, scratch, self.spec.timeout_s)
                except AdapterError:
                    _must_not_be_over(proxy)  # what the proxy saw is the cause of what the agent made of it
                    raise
                finally:
                    if budget:
                        budget.pay(proxy.accounts.cost_usd or 0.0)
            self._must_be_good(exit_code, proxy, scratch)
            replay = agent.replay(proxy, self.context)
            if "script" in replay:
                replay[LIVE_KEY] = {"adapter": self.adapter.name, "test_id": case.id, **agent.provenance}
            _must_not_be_over(proxy)  # a transcript may show that a tool ran
            return _Ended(replay, self._trace(replay, proxy, scratch), proxy, agent)

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
                shutil.rmtree(folder, ignore_errors=True)
                with suppress(OSError):  # others may be at work in it
                    within.rmdir()

    def _tell(self, doing: str) -> None:
        if self.options.tell:
            self.options.tell(f"{self.test.case.id}: {doing}" if doing else "")

    def _must_be_good(self, exit_code: int | None, proxy: Proxy, scratch: Path) -> None:
        """Raises the error of a run whose agent failed; `exit_code` is None for one that took too long."""
        _must_not_be_over(proxy)
        log = last_lines(scratch)
        if exit_code != 0 and proxy.accounts.failed_last:
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

    def _info(self, ended: _Ended) -> LiveResult:
        accounts, fixtures = ended.proxy.accounts, ended.proxy.fixtures
        author = [each for each in ended.proxy.differences if each.kind in ("author", "tool")]
        vendor = [each for each in ended.proxy.differences if each.kind == "vendor"]
        approximate = [each for each in fixtures.denied.values() if each.approximate]
        return LiveResult(
            model="played" if self.options.how == "play" else accounts.model,
            how=self.options.how,
            provenance={
                **ended.agent.provenance,
                "client": accounts.client,
                "sandbox": ended.agent.sandbox.runtime,
            },
            offered=accounts.offered,
            requests=accounts.requests,
            tokens=accounts.tokens,
            cost_usd=None if self.options.how == "play" else accounts.cost_usd,
            stale=_told(author),
            drift=_told(vendor),
            approximate=[
                f"{each.tool} {json.dumps(each.args, ensure_ascii=False)}: "
                f"the nearest recorded result, {each.answer.source if each.answer else ''}"
                for each in approximate
            ],
            ran=sorted(fixtures.ran),
        )


def _told(differences: Sequence[Difference]) -> list[str]:
    return list(dict.fromkeys(each.told() for each in differences))


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


def _wait(agent: LiveAgent, proxy: Proxy, scratch: Path, timeout_s: float) -> int | None:
    """Run the agent to its end, and leave nothing of it behind.

    The exit code: 0 for one that was stopped because its run was over, None for one that took too long.
    """
    (scratch / "stdin").write_bytes(agent.stdin)
    deadline = time.monotonic() + timeout_s
    with (
        (scratch / "stdin").open("rb") as stdin,
        (scratch / "stdout.txt").open("wb") as stdout,
        (scratch / "log.txt").open("wb") as log,
    ):
        running: Running = start(agent.sandbox, stdin=stdin, stdout=stdout, stderr=log)
        try:
            while (code := running.exit_code()) is None:
                if proxy.over or agent.finished(proxy):
                    return 0
                if time.monotonic() > deadline:
                    return None
                running.wait(_POLL_SECONDS)
            return code
        finally:
            running.end()


def last_lines(scratch: Path) -> str:
    """The end of the log of an agent with this scratch folder, to be added to a message; empty when it said nothing."""
    lines: list[str] = []
    for name in ("log.txt", "stdout.txt"):
        with suppress(OSError):
            lines = lines or read_bytes(scratch / name).decode(errors="replace").strip().splitlines()
    shown = "".join(f"\n    {line}" for line in lines[-LOG_LINES:])
    return f"; the last lines of its log:{shown}" if lines else ""


def api_error(proxy: Proxy) -> AdapterError:
    """The error of a run whose model's service answered with one, which was not got over."""
    return live_error(
        "live.api_error",
        f"the model's service answered {proxy.accounts.errors[-1]}",
        "see that the key and the model's name are right, and try again",
    )


def _must_not_be_over(proxy: Proxy) -> None:
    for trouble in proxy.fixtures.trouble:
        raise trouble
