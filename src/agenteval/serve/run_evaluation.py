"""The suites and agents of a host, and the evaluation of a run, which stores each score at once."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import AgentEvalError, SpecError, UsageError
from agenteval.contracts.trace import Metrics
from agenteval.judging.runner import Outcome, RunOptions, run_test, timestamp
from agenteval.judging.stored import RESULT_ENDING, load_result
from agenteval.judging.verdicts import JudgingRules
from agenteval.live.options import LiveOptions
from agenteval.live.scratch import scratch_folder
from agenteval.loading.config import ServeAgent, ServeConfig, from_here
from agenteval.loading.project import OpenProject
from agenteval.loading.testfile import LoadedTest
from agenteval.matching.patterns import schema_differences
from agenteval.openwop.models import AgentEvalSuite
from agenteval.openwop.suite import is_suite, load_suite
from agenteval.openwop.suite_parts import LIVE, Parts, SuiteRequest, suite_parts
from agenteval.openwop.summary import REGRESSION, Baseline, ScoredTask, Scores, Suite, eval_events, task_of
from agenteval.reading.documents import read_bytes, sha256
from agenteval.reading.jsonsource import load_json
from agenteval.records.record import complete, record_of
from agenteval.records.summary import RunSettings, RunTotals, summarise
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.artifacts import ArtifactError, RunDirectory, packed, safe_stem
from agenteval.serve.store import Claim, Event, Store
from agenteval.serve.wire import HostError, invalid

_log = logging.getLogger("agenteval.serve")
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
"""The field of a request that an error blames, by reason code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A suite of the host: its file, with the digest at the time when it was read."""

    path: Path
    suite: AgentEvalSuite
    digest: str
    tenants: Sequence[str] = ()


@dataclass(slots=True, kw_only=True)
class Catalogue:
    """The suites of a host by `suiteId@version`, and its agents by id."""

    project: OpenProject
    config: ServeConfig
    suites: Mapping[str, Offered] = field(default_factory=dict)

    @classmethod
    def of(cls, project: OpenProject) -> "Catalogue":
        """Load the suites and agents that the configuration names.

        Raises `SpecError` for an invalid suite, `UsageError` for a missing file or a host with nothing to evaluate.
        """
        config = project.config.serve
        suites: dict[str, Offered] = {}
        for named in config.suites:
            name, tenants = (named, ()) if isinstance(named, str) else (named.path, named.tenants)
            for path in _suite_files(project.root, name):
                suite = load_suite(path, max_bytes=project.config.limits.max_file_bytes)
                offered = Offered(path=path, suite=suite, digest=sha256(read_bytes(path)), tenants=tenants)
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
                next_step="name suites, unpacked, and agents in agenteval.yaml, under serve (docs/serve.md)",
            )
        return cls(project=project, config=config, suites=suites)

    def suites_of(self, tenant: str | None) -> dict[str, Offered]:
        """Return the suites that a tenant may run; with None those that every tenant may run."""
        return {name: each for name, each in self.suites.items() if _is_for(each.tenants, tenant)}

    def agents_of(self, tenant: str | None) -> dict[str, ServeAgent]:
        """Return the agents that a tenant may evaluate; with None those that every tenant may evaluate."""
        return {name: each for name, each in self.config.agents.items() if _is_for(each.tenants, tenant)}

    def modes(self, tenant: str | None) -> list[str]:
        """List the modes that a run of a tenant can have: those of the suites, but for what no agent can do."""
        named = [mode for offered in self.suites_of(tenant).values() for mode in offered.suite.modes]
        live = any(agent.live for agent in self.agents_of(tenant).values())
        judged = any(agent.judge for agent in self.agents_of(tenant).values())
        impossible = {LIVE} if not live else set()
        impossible |= {"rubric"} if not judged else set()
        return [mode for mode in dict.fromkeys(named) if mode not in impossible]

    def parts(self, asked: Mapping[str, Any], tenant: str) -> Parts:
        """Gather all that a run needs. Raises `HostError` with the field of the request that is wrong, and why, without content."""
        offered = self.suites_of(tenant).get(asked["evalSuiteRef"])
        agent = self.agents_of(tenant).get(asked["agentId"])
        if offered is None:
            raise invalid("evalSuiteRef", "the host has no such suite")
        if agent is None:
            raise invalid("agentId", "the host has no such agent")
        if len(offered.suite.tasks) > self.config.limits.max_tasks_per_suite:
            raise invalid("evalSuiteRef", "the suite has more tasks than the host takes on")
        baseline = asked.get("baselineRunId")
        possible = self.modes(tenant)
        usable = [mode for mode in possible if mode != REGRESSION or baseline]
        # A mode that a suite declares is refused rather than dropped; two need more than a suite: a baseline, live tools.
        declared = [mode for mode in offered.suite.modes if mode in usable or mode not in (REGRESSION, LIVE)]
        modes = asked.get("evalModes") or declared
        if impossible := [mode for mode in modes if mode not in possible]:
            raise invalid("evalModes", f"the host does not offer the mode {impossible[0][:40]!r}")
        self._check_inputs(offered.suite, agent)
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

    def _check_inputs(self, suite: AgentEvalSuite, agent: ServeAgent) -> None:
        """Hold the inputs of all tasks to the agent's schema, where it has one. Raises `HostError`."""
        if not agent.input_schema:
            return
        schema = load_json(from_here(self.project.root, agent.input_schema), within=self.project.root)
        for task in suite.tasks:
            if schema_differences(schema, task.input):
                raise invalid("evalSuiteRef", f"the input of {task.taskId} does not fit the agent's schema")

    def options(self, claim: Claim, parts: Parts, scratch: Path) -> RunOptions:
        """Return the options of a run's tests: those of a command line without options."""
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


def _suite_files(root: Path, name: str) -> list[Path]:
    """List the suites at a path that `serve.suites` names: one file, or all suites in a folder. Raises `UsageError`."""
    place = from_here(root, name)
    if not place.exists():
        raise UsageError(f"serve.suites names {name}, which does not exist", reason_code="serve.suites")
    if place.is_dir():
        # A folder may hold other JSON, such as the traces of its tasks; only suites count.
        return list(filter(is_suite, sorted(place.rglob("*.json"))))
    if not is_suite(place):
        raise UsageError(
            f"serve.suites names {name}, which is not an AgentEvalSuite in JSON",
            reason_code="serve.suites",
            next_step="name a suite file, or a folder; unpack a pack, and name the suite in it",
        )
    return [place]


def _is_for(tenants: Sequence[str], tenant: str | None) -> bool:
    return not tenants or tenant in tenants


def evaluate(
    claim: Claim, catalogue: Catalogue, store: Store, stopped: Callable[[], bool] = lambda: False
) -> None:
    """Evaluate a claimed run to its end, from the first task without a score, unless the worker is stopped. Raises `Lost`.

    A task that cannot be judged fails the run: a score of 0 would read as a wrong answer of the agent (SPEC 11).
    """
    if claim.asked.get("workflowId") == NOOP:
        store.end(claim, None, [("run.completed", None, {"outputs": {}})])
        return
    try:
        parts = catalogue.parts(claim.asked, claim.tenant)
    except HostError as refused:
        store.fail(claim, "version_conflict", str(refused))
        return
    # The host may have read its suites anew since the request: scores of another text would be compared with the baseline.
    if catalogue.suites[claim.asked["evalSuiteRef"]].digest != claim.asked["suiteDigest"]:
        store.fail(claim, "version_conflict", "the suite is not the one that was asked for any more")
        return
    suite, baseline = parts.suite, None
    if asked := claim.asked.get("baseline"):
        baseline = Baseline(run_id=asked["runId"], score=asked["score"])
    tests = list(parts.tests()) if parts.tests else []
    started = {
        "suiteId": suite.id,
        "suiteVersion": suite.version,
        "taskCount": len(tests),
        "modes": [*suite.modes, *([REGRESSION] if baseline else [])],
        **({"baselineRunId": baseline.run_id} if baseline else {}),
    }
    store.begin(claim, [("eval.started", None, started)])
    files = Files(catalogue.project, claim.run_id)
    judged = _judge_tasks(tests, parts, claim, catalogue, store, files, stopped)
    if judged is None:
        return
    scored, errors = judged
    files.close(RunSettings(run_id=claim.run_id, suite=suite, baseline=baseline), tests)
    if errors:
        store.fail(claim, "task_error", _sentence(errors, len(tests)), {"tasks": errors[:MOST_ERRORS]})
        return
    scores = Scores(suite, scored, baseline)
    summary, ended = scores.summary(), eval_events(scores, "", "")[-1]["payload"]
    last_events = [("eval.completed", None, ended), ("run.completed", None, {"outputs": summary})]
    store.end(claim, summary, last_events)


def _judge_tasks(
    tests: Sequence[LoadedTest | SpecError],
    parts: Parts,
    claim: Claim,
    catalogue: Catalogue,
    store: Store,
    files: "Files",
    stopped: Callable[[], bool],
) -> tuple[list[ScoredTask], list[Mapping[str, Any]]] | None:
    """Judge the tasks that have no score yet; return all scores and errors.

    None if the run was stopped, was cancelled, or has cost too much: the store knows then.
    """
    most, spent = catalogue.config.limits.max_cost_usd_per_suite, 0.0
    errors: list[Mapping[str, Any]] = []
    scored: list[ScoredTask] = []
    with scratch_folder(keep=False) as scratch:
        options = catalogue.options(claim, parts, scratch)
        for position, test in enumerate(tests):
            if stopped() or store.ends_if_cancelled(claim):
                return None
            kept: Mapping[str, Any] | None = claim.scored.get(position)
            if position not in claim.scored:
                kept, task_events = _scored(test, parts.suite, options, claim, files)
                store.score(claim, position, kept, task_events)
            if kept and (error := kept.get("error")):
                errors.append(error)
                _log.warning("run %s: %s", claim.run_id, " ".join(map(str, error.values())))
            elif kept:
                scored.append(ScoredTask(kept["task"], tuple(kept["share"]), kept["latency_ms"], kept["at"]))
                spent += kept["task"].get("costUsd", 0.0)
            if spent > most:
                message = "the tasks cost more than the host takes on for a run"
                store.fail(claim, "budget_exhausted", message)
                return None
    return scored, errors


class Files:
    """The directory of a run on this machine, as the command line writes it: results, replays, traces, the totals.

    `agenteval gate`, `compare` and `report` read it by the run's id. What cannot be written is missing, and the run goes
    on: its scores are in the store.
    """

    def __init__(self, project: OpenProject, run_id: str) -> None:
        self.run_id = run_id
        self.max_bytes = project.config.limits.max_result_bytes
        self.directory: RunDirectory | None = None
        self.begun = time.time()
        try:
            redactor = Redactor(rules=project.rules)
            self.directory = RunDirectory(
                project.runs, run_id, max_bytes=self.max_bytes, redactor=redactor, again=True
            )
        except AgentEvalError as error:
            _log.warning("run %s: no files are kept: %s", run_id, error.message)

    def keep(self, outcome: Outcome) -> None:
        """Write the files of a task."""
        if self.directory:
            stem = safe_stem(outcome.result.test_case_id, outcome.redactor)
            with suppress(ArtifactError):
                self.directory.keep(packed(outcome, stem, self.max_bytes, save_trace=True))

    def close(self, settings: RunSettings, tests: Sequence[LoadedTest | SpecError]) -> None:
        """Write the totals of the results; none where another machine has judged some of the tasks."""
        if self.directory is None:
            return
        results = sorted(self.directory.path.glob(f"*{RESULT_ENDING}"))
        if len(results) < len(tests):  # totals of half a run would look like a whole one
            _log.info("run %s: some of its files are on another machine", self.run_id)
            return
        with suppress(AgentEvalError):
            names = [test.case.id for test in tests if isinstance(test, LoadedTest)]
            order = {name: position for position, name in enumerate(names)}
            found = sorted(
                map(load_result, results), key=lambda each: order.get(each.test_case_id, len(tests))
            )
            now = time.time()
            summary, evaluation = summarise(
                list(map(record_of, found)),
                RunTotals(),
                settings,
                started_at=timestamp(self.begun),
                finished_at=timestamp(now),
                duration_ms=(now - self.begun) * 1000,
            )
            self.directory.close(evaluation)
            summary.eval_summary_sha256 = self.directory.eval_summary_sha256
            self.directory.finish(summary)


MOST_ERRORS = 50
"""The most tasks that the details of a failed run name."""


def _sentence(errors: Sequence[Mapping[str, Any]], tasks: int) -> str:
    """The message of a run with tasks that could not be judged: ids and reason codes, no content."""
    first = errors[0]
    named = f"{first['taskId']}: {first['reasonCode']}" if "taskId" in first else first["reasonCode"]
    return (
        f"{len(errors)} of {tasks} tasks could not be judged ({named}); "
        "`agenteval run` on the suite shows why, and what to do"
    )


def _scored(
    test: LoadedTest | SpecError, suite: Suite, options: RunOptions, claim: Claim, files: Files
) -> tuple[dict[str, Any] | None, list[Event]]:
    """Judge a task; return the score, or the error, that the store keeps, and the task's events."""
    if isinstance(test, SpecError):
        first = test.problems[0]
        return {"error": {"reasonCode": first.reason_code}}, []
    outcome = run_test(test, options)
    complete(
        outcome
    )  # a result without these parts would be summed up wrongly when the totals are made of files
    scored = task_of(outcome.result)
    name = outcome.result.test_case_id
    task_events = list(
        _invocation(outcome, outcome.result.score.task_id if outcome.result.score else name, claim)
    )
    files.keep(outcome)
    if scored and outcome.result.status == "error":
        return {
            "error": {"taskId": scored.task["taskId"], "reasonCode": outcome.result.reason_code}
        }, task_events
    if scored is None:
        return None, task_events
    alone = Scores(suite, [scored])  # the event of a task is the last one of a suite that has no other
    task_events.append(("eval.scored", scored.task["taskId"], eval_events(alone, "", None)[-1]["payload"]))
    return asdict(scored), task_events


def _invocation(outcome: Outcome, task_id: str, claim: Claim) -> Iterator[Event]:
    """List the events of an agent that worked on a task: names, ids and counts, as the protocol's registry has them."""
    agent = {"agentId": claim.asked["agentId"]}
    bracket = {"invocationId": f"{claim.run_id}.{task_id}", **agent}
    name, trace = outcome.redactor.name, outcome.trace
    yield "agent.invocation-started", task_id, {**bracket, "source": "run-api"}
    if trace:
        for number, call in enumerate(trace.calls(), 1):
            named = {**agent, "toolName": name(call.tool), "callId": f"call-{number}"}
            yield "agent.tool-called", task_id, named
            if call.results or call.errors:
                yield "agent.tool-returned", task_id, {**named, "status": "error" if call.errors else "ok"}
        if usage := _usage(trace.metrics):
            yield "provider.usage", task_id, usage
        decided = "completed" if trace.final_output is not None else "no-output"
        yield "agent.decided", task_id, {**agent, "decision": decided}
    failed = outcome.result.status == "error"
    yield "agent.invocation-completed", task_id, {**bracket, "outcome": "failed" if failed else "completed"}


def _usage(metrics: Metrics) -> dict[str, Any] | None:
    """The payload of `provider.usage`; None where the recording has no counts. It names no provider or model."""
    counts = metrics.token_usage or {}
    read, written = counts.get("input_tokens"), counts.get("output_tokens")
    if type(read) is not int or type(written) is not int:  # a bool is an int for isinstance
        return None
    usage = {"provider": "unknown", "model": "unknown", "inputTokens": read, "outputTokens": written}
    if metrics.cost_usd is not None:
        usage["costEstimateUsd"] = metrics.cost_usd
    return usage
