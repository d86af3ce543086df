"""`agenteval run`: load, replay, judge, report, write, and exit with the right code."""

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from agenteval import budget
from agenteval.cli.ledger import Ledger
from agenteval.cli.progress import LiveProgress, ReadingProgress
from agenteval.cli.project import OpenProject, open_project
from agenteval.cli.reporting import Reporting, compares, keep_out, prepare, run_beside, shows_traces
from agenteval.cli.run_request import RunRequest
from agenteval.cli.session import Session
from agenteval.cli.signatures import taking, with_reports
from agenteval.cli.suite_run import Parts, suite_among, suite_parts
from agenteval.config import from_here
from agenteval.errors import ExitCode, UsageError
from agenteval.judging import JudgingRules
from agenteval.live.options import scratch_folder
from agenteval.openwop.summary import Scores, Suite, default_suite_id
from agenteval.reporters.artifacts import RunDirectory, new_run_id
from agenteval.reporters.console import Console
from agenteval.runner import RunOptions
from agenteval.settings import SuiteConfig

if TYPE_CHECKING:
    from agenteval.comparing.watch import Watch
    from agenteval.shard_record import ShardLog


@with_reports
@taking(RunRequest)
def command(asked: RunRequest) -> ExitCode:
    """Run tests: replay each recording, judge it, and explain what failed.

    PATH may also be the JSON file of an AgentEvalSuite.

    Exit codes, of which the highest wins: 0 no test failed; 1 a test failed, a threshold was missed, or --strict or --baseline
    forbids what happened; 2 a test could not be judged, or the command could not run; 3 a file is invalid, or nothing was judged.
    """
    asked.check()
    prepare(asked.reports)
    project = open_project(asked.paths, asked.secrets or ())
    given, asked.paths = asked.paths, project.paths(asked.paths, "run")
    config = project.config
    budget.set_seconds(config.limits.pattern_seconds, config.limits.step_seconds)
    artifacts = asked.artifacts_dir or project.runs
    stream = sys.stderr if asked.json_output else sys.stdout
    console = Console(stream, verbosity=asked.verbose - asked.quiet, color=asked.color or config.color)
    if asked.watch:
        from agenteval.cli.watching import options_of, watch

        options = options_of(asked.context)
        written = [artifacts, *asked.reports.values()]
        return watch(
            asked.paths, options, project=project, replays=asked.replays, written=written, terminal=console
        )
    parts = _parts(asked, project)
    console.suite_options = parts.words
    console.strict = asked.strict or config.strict
    with scratch_folder(keep=asked.keep) as scratch:
        session = _session(asked, project, parts, console, scratch)
        ledger = session.ledger
        if asked.collect_only:
            return session.collect(asked.paths)
        ledger.tally.selection = asked.narrowing
        if parts.tests is None and (unnamed := project.unnamed(given)):
            ledger.tally.unnamed_tests = unnamed
            ledger.tally.selection = [*asked.narrowing, *(path for path in given if "::" not in path)]
        if asked.baseline or asked.update_baseline:
            ledger.watch = _baseline(asked, project, artifacts, ledger.scores)
        ledger.leave_out(parts.left_out)
        code = _reported(session, asked, project, artifacts)
        ledger.end(as_json=asked.json_output)
        return code


def _parts(asked: RunRequest, project: OpenProject) -> Parts:
    """The tasks of the suite if the paths name one, else the tests at the paths. Raises `UsageError`, `SpecError`."""
    request = asked.of_suite
    suite = suite_among(asked.paths, request)
    if suite is None:
        return Parts(scores=Scores(_suite(asked, project.config.suite)), registry=project.registry)
    if asked.collect_only:
        request.judge = request.judge or "recorded"  # tasks are shown, and nobody judges
    parts = suite_parts(suite, request, project, allow_outside=asked.allow_outside)
    if asked.part or asked.last_failed or asked.failed_first:
        raise UsageError("a suite always runs as a whole: --shard, --lf and --ff cannot be used")
    return parts


def _suite(asked: RunRequest, suite: SuiteConfig) -> Suite:
    first = Path(asked.paths[0].split("::")[0])
    directory = first if first.is_dir() else first.parent
    return Suite(
        id=suite.id or default_suite_id(directory.resolve().name),
        version=suite.version,
        pass_score=suite.pass_score if asked.pass_score is None else asked.pass_score,
        max_cost_usd=suite.max_cost_usd,
        max_p95_latency_ms=suite.max_p95_latency_ms,
    )


def _session(
    asked: RunRequest, project: OpenProject, parts: Parts, console: Console, scratch: Path
) -> Session:
    flow = asked.flow
    if flow.durations_from:
        from agenteval.stored import find_run

        flow.durations_from = find_run(flow.durations_from, asked.artifacts_dir or project.runs)
    return Session(
        ledger=_ledger(asked, project, parts, console, scratch),
        selection=asked.selection,
        flow=flow,
        save_traces=asked.save_traces or project.config.save_traces or shows_traces(asked.reports),
        tests=parts.tests,
    )


def _ledger(asked: RunRequest, project: OpenProject, parts: Parts, console: Console, scratch: Path) -> Ledger:
    config = project.config
    live = asked.live_options(config.live, project.root, scratch)
    if not asked.no_progress and asked.workers == "1":
        live.tell = LiveProgress()
    part = asked.part
    return Ledger(
        options=RunOptions(
            run_id=(asked.run_id or new_run_id()) + (f"-shard-{part.number}-of-{part.of}" if part else ""),
            root=project.root,
            strict=asked.strict or config.strict,
            rules=JudgingRules(
                fail_on_vacuous=asked.fail_on_vacuous or config.fail_on_vacuous,
                strict_capabilities=asked.strict_capabilities or config.strict_capabilities,
            ),
            limits=config.limits,
            allow_outside=asked.allow_outside,
            registry=parts.registry,
            redaction=project.rules,
            progress=None if asked.no_progress else ReadingProgress(),
            live=live,
        ),
        console=console,
        scores=parts.scores,
        log=_log(asked),
        shows_files=not asked.no_artifacts,
        remembers=not (asked.no_artifacts or parts.tests),
    )


def _log(asked: RunRequest) -> "ShardLog | None":
    """The record that a shard keeps for `agenteval merge`; None for a run without shards."""
    if asked.part is None:
        return None
    from agenteval.shard_record import ShardLog

    return ShardLog(asked.part, asked.run_id)


def _baseline(asked: RunRequest, project: OpenProject, artifacts: Path, scores: Scores) -> "Watch":
    """The comparison of the run with its baseline. Raises `UsageError`, `StoredRunError`, `FileError`."""
    from agenteval.cli.baselines import check_whole, refuse_shard, watch_for
    from agenteval.stored import find_run

    if asked.update_baseline:
        narrowed = asked.last_failed or asked.part is not None
        check_whole(asked.paths, maxfail=asked.most_failures, part=narrowed, modes=asked.modes)
    elif asked.part:
        refuse_shard()
    return watch_for(
        find_run(asked.baseline, artifacts) if asked.baseline else None,
        update=asked.update_baseline,
        default=from_here(project.root, project.config.baseline),
        scores=scores,
    )


def _reported(session: Session, asked: RunRequest, project: OpenProject, artifacts: Path) -> ExitCode:
    """Run the session, with its directory and the reports that were asked for."""
    ledger = session.ledger
    run_id = ledger.options.run_id
    beside = run_beside(asked.baseline, artifacts) if asked.baseline and compares(asked.reports) else None
    reporting = Reporting(
        asked.reports,
        github=asked.annotates,
        redactor=ledger.redactor,
        terminal=ledger.console,
        baseline=beside,
    )
    if asked.reports and not asked.no_artifacts:
        keep_out(asked.reports, artifacts / run_id)
    with reporting.during(run_id, None if asked.no_artifacts else artifacts) as parent:
        if parent:
            limit = project.config.limits.max_result_bytes
            ledger.directory = RunDirectory(parent, run_id, max_bytes=limit, redactor=ledger.redactor)
        ledger.on_result = reporting.add
        with redirect_stdout(sys.stderr) if asked.json_output else nullcontext():  # a plugin may print
            return session.run(asked.paths, maxfail=asked.most_failures, durations=asked.durations)
