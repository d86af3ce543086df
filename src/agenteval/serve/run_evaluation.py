"""What a host can evaluate, and the evaluation of one run: task by task, each score kept before the next is judged."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import SpecError, UsageError
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.judging.verdicts import JudgingRules
from agenteval.live.options import LiveOptions
from agenteval.live.scratch import scratch_folder
from agenteval.loading.config import ServeConfig, from_here
from agenteval.loading.project import OpenProject
from agenteval.loading.testfile import LoadedTest
from agenteval.openwop.models import AgentEvalSuite
from agenteval.openwop.suite import is_suite, load_suite
from agenteval.openwop.suite_parts import LIVE, Parts, SuiteRequest, suite_parts
from agenteval.openwop.summary import REGRESSION, Baseline, Scored, Scores, eval_events
from agenteval.reading.documents import read_bytes, sha256
from agenteval.serve.store import Claim, Event, Store
from agenteval.serve.wire import HostError, invalid

NOOP = "conformance-noop"
"""The workflow that does nothing, for conformance tests."""
_FIELDS = {
    "suite.mode_not_declared": "evalModes",
    "suite.live_unsupported": "evalModes",
    "suite.no_task": "evalModes",
    "suite.no_baseline": "baselineRunId",
    "suite.agent_mismatch": "agentId",
    "suite.model_not_allowed": "agentId",
    "suite.no_judge": "agentId",
    "suite.no_replays": "agentId",
}
"""Which field of a request is to blame when a suite does not allow it, by reason code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A suite that the host has: its file, whose digest was taken when it was read."""

    path: Path
    suite: AgentEvalSuite
    digest: str


@dataclass(slots=True, kw_only=True)
class Catalogue:
    """The suites of a host by `suiteId@version`, and its agents by id."""

    project: OpenProject
    config: ServeConfig
    suites: Mapping[str, Offered] = field(default_factory=dict)

    @classmethod
    def of(cls, project: OpenProject) -> "Catalogue":
        """What the configuration names. Raises `SpecError` for a suite that is not valid, `UsageError` for what is not there."""
        config = project.config.serve
        suites: dict[str, Offered] = {}
        for name in config.suites:
            place = from_here(project.root, name)
            files = sorted(place.rglob("*.json")) if place.is_dir() else [place]
            if not place.exists():
                raise UsageError(
                    f"serve.suites names {name}, which does not exist", reason_code="serve.suites"
                )
            for path in filter(is_suite, files):
                suite = load_suite(path, max_bytes=project.config.limits.max_file_bytes)
                offered = Offered(path=path, suite=suite, digest=sha256(read_bytes(path)))
                other = suites.setdefault(f"{suite.suiteId}@{suite.version}", offered)
                if other is not offered:
                    raise UsageError(
                        f"{path} and {other.path} are the same suite, {suite.suiteId} {suite.version}",
                        reason_code="serve.suites",
                        next_step="give one of them another version",
                    )
        if not suites or not config.agents:
            what = "serve.suites finds no suite" if config.agents else "serve.agents names no agent"
            raise UsageError(
                f"there is nothing to evaluate: {what}",
                reason_code="serve.nothing",
                next_step="name suites and agents in agenteval.yaml, under serve (docs/serve.md)",
            )
        return cls(project=project, config=config, suites=suites)

    @property
    def modes(self) -> list[str]:
        """The modes that a run can have here: those of the suites, but for what no agent can do."""
        named = [mode for offered in self.suites.values() for mode in offered.suite.modes]
        live = any(agent.live for agent in self.config.agents.values())
        judged = any(agent.judge for agent in self.config.agents.values())
        impossible = {LIVE} if not live else set()
        impossible |= {"rubric"} if not judged else set()
        return [mode for mode in dict.fromkeys(named) if mode not in impossible]

    def parts(self, asked: Mapping[str, Any]) -> Parts:
        """All that a run needs. Raises `HostError` with the field of the request that is wrong, and why, without content."""
        offered, agent = self.suites.get(asked["evalSuiteRef"]), self.config.agents.get(asked["agentId"])
        if offered is None:
            raise invalid("evalSuiteRef", "the host has no such suite")
        if agent is None:
            raise invalid("agentId", "the host has no such agent")
        if len(offered.suite.tasks) > self.config.limits.max_tasks_per_suite:
            raise invalid("evalSuiteRef", "the suite has more tasks than the host takes on")
        baseline = asked.get("baselineRunId")
        usable = [mode for mode in self.modes if mode != REGRESSION or baseline]
        modes = asked.get("evalModes") or [mode for mode in offered.suite.modes if mode in usable]
        if impossible := [mode for mode in modes if mode not in self.modes]:
            raise invalid("evalModes", f"the host does not offer the mode {impossible[0][:40]!r}")
        live = ("real" if LIVE in modes else "play") if agent.live else ""
        request = SuiteRequest(
            live=live,
            replays=from_here(self.project.root, agent.replays) if agent.replays else None,
            modes=",".join(modes),
            agent_id=asked["agentId"],
            model_class=agent.model_class,
            judge=agent.judge,
            baseline="baselineRunId" if baseline else "",
        )
        try:
            return suite_parts(offered.path, request, self.project, allow_outside=False)
        except SpecError as error:
            first = error.problems[0]
            raise invalid(_FIELDS.get(first.reason_code, "evalSuiteRef"), first.message) from None
        except UsageError as error:
            raise invalid(_FIELDS.get(error.reason_code, "agentId"), error.message) from None

    def options(self, claim: Claim, parts: Parts, scratch: Path) -> RunOptions:
        """How the tests of a run are run: as a command line without options does."""
        config, agent = self.project.config, self.config.agents[claim.asked["agentId"]]
        return RunOptions(
            run_id=claim.run_id,
            root=self.project.root,
            strict=config.strict,
            rules=JudgingRules(
                fail_on_vacuous=config.fail_on_vacuous, strict_capabilities=config.strict_capabilities
            ),
            limits=config.limits,
            registry=self.project.registry,
            redaction=self.project.rules,
            live=LiveOptions(
                how="real" if parts.shadow else "play",
                every=agent.live,
                shadow=parts.shadow,
                scratch=scratch,
                config=config.live,
                root=self.project.root,
            ),
        )


def evaluate(claim: Claim, catalogue: Catalogue, store: Store) -> None:
    """Run what was claimed to its end, from the first task without a score. Raises `Lost`."""
    if claim.asked.get("workflowId") == NOOP:
        store.end(claim, None, [("run.completed", None, {"outputs": {}})])
        return
    try:
        parts = catalogue.parts(claim.asked)
    except HostError as refused:
        store.fail(claim, "version_conflict", str(refused))
        return
    if catalogue.suites[claim.asked["evalSuiteRef"]].digest != claim.asked["suiteDigest"]:
        store.fail(claim, "version_conflict", "the suite is not the one that was asked for any more")
        return
    scores = parts.scores
    if baseline := claim.asked.get("baseline"):
        scores.baseline = Baseline(run_id=baseline["runId"], score=baseline["score"])
    tests = list(parts.tests()) if parts.tests else []
    started = {
        "suiteId": scores.suite.id,
        "suiteVersion": scores.suite.version,
        "taskCount": len(tests),
        "modes": [*scores.suite.modes, *([REGRESSION] if scores.baseline else [])],
        **({"baselineRunId": scores.baseline.run_id} if scores.baseline else {}),
    }
    store.begin(claim, [("eval.started", None, started)])
    most, spent = catalogue.config.limits.max_cost_usd_per_suite, 0.0
    with scratch_folder(keep=False) as scratch:
        options = catalogue.options(claim, parts, scratch)
        for position, test in enumerate(tests):
            kept: Mapping[str, Any] | None = claim.scored.get(position)
            if position not in claim.scored:
                kept, told = _scored(test, scores, options, claim)
                store.score(claim, position, kept, told)
            if kept and kept.get("invalid"):
                scores.whole = False
            elif kept:
                scores.add(Scored(kept["task"], tuple(kept["share"]), kept["latency_ms"], kept["at"]))
                spent += kept["task"].get("costUsd", 0.0)
            if spent > most:
                message = "the tasks cost more than the host takes on for a run"
                store.fail(claim, "budget_exhausted", message)
                return
    summary, ended = scores.summary(), eval_events(scores, "", "")[-1]["payload"]
    told = [("eval.completed", None, ended), ("run.completed", None, {"outputs": summary})]
    store.end(claim, summary, told)


def _scored(
    test: LoadedTest | SpecError, scores: Scores, options: RunOptions, claim: Claim
) -> tuple[dict[str, Any] | None, list[Event]]:
    """What is kept of a task that is judged now, and what is told of it."""
    if isinstance(test, SpecError):
        return {"invalid": True}, []
    outcome = run_test(test, options)
    metrics = outcome.trace.metrics if outcome.trace else None
    scored = scores.scored(outcome.result, metrics, test)
    told = list(_invocation(outcome, scores.task_id(outcome.result), claim))
    if scored is None:
        return None, told
    alone = Scores(scores.suite)
    alone.add(scored)
    told.append(("eval.scored", scored.task["taskId"], eval_events(alone, "", None)[-1]["payload"]))
    return asdict(scored), told


def _invocation(outcome: Outcome, task_id: str, claim: Claim) -> Iterator[Event]:
    """What the agent did for a task: names, ids and counts."""
    about = {"invocationId": f"{claim.run_id}.{task_id}", "agentId": claim.asked["agentId"]}
    name, trace = outcome.redactor.name, outcome.trace
    yield "agent.invocation-started", task_id, {**about, "taskId": task_id}
    if trace:
        for number, call in enumerate(trace.calls(), 1):
            told = {**about, "toolName": name(call.tool), "callId": f"call-{number}"}
            yield "agent.tool-called", task_id, told
            if call.results or call.errors:
                yield "agent.tool-returned", task_id, {**told, "status": "error" if call.errors else "ok"}
        usage = {**(trace.metrics.token_usage or {}), "costUsd": trace.metrics.cost_usd}
        counted = {name(key): each for key, each in usage.items() if type(each) in (int, float)}
        if counted:
            yield "provider.usage", task_id, {**about, **counted}
        decided = "completed" if trace.final_output is not None else "no-output"
        yield "agent.decided", task_id, {**about, "decision": decided}
    status = "failed" if outcome.result.status == "error" else "completed"
    yield "agent.invocation-completed", task_id, {**about, "status": status}
