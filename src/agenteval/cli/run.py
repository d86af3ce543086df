"""`agenteval run`: load, replay, judge, tell, write, and exit right."""

import sys
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from agenteval import budget
from agenteval.cli.flow import Flow
from agenteval.cli.ledger import Ledger
from agenteval.cli.options import (
    AllowOutsideOption,
    ArtifactsDirOption,
    ColorOption,
    ExcludeTagOption,
    ExpressionOption,
    JsonOption,
    PathsArgument,
    QuietOption,
    ShardOption,
    TagOption,
    VerboseOption,
    WorkersOption,
    a_number,
    refuse_empty,
    shard_of,
)
from agenteval.cli.progress import ReadingProgress
from agenteval.cli.project import open_project
from agenteval.cli.reporting import (
    GithubOption,
    Reporting,
    check_kept,
    compares,
    in_github_actions,
    keep_out,
    prepare,
    run_beside,
    shows_traces,
    with_reports,
)
from agenteval.cli.session import Session
from agenteval.cli.suite_run import SuiteOptions, suite_among, suite_parts
from agenteval.config import from_here
from agenteval.errors import ExitCode, UsageError
from agenteval.judging import JudgingRules
from agenteval.openwop.summary import Scores, Suite, default_suite_id
from agenteval.redaction import Redactor
from agenteval.reporters.artifacts import RunDirectory, new_run_id
from agenteval.reporters.console import Console
from agenteval.runner import RunOptions
from agenteval.selection import Selection
from agenteval.settings import Config


@with_reports
def command(
    context: typer.Context,
    paths: PathsArgument,
    expression: ExpressionOption = "",
    tags: TagOption = None,
    exclude_tags: ExcludeTagOption = None,
    exit_first: Annotated[
        bool, typer.Option("-x", "--exitfirst", help="Stop at the first failure or error.")
    ] = False,
    maxfail: Annotated[
        int, typer.Option("--maxfail", metavar="N", min=0, help="Stop after N failures and errors.")
    ] = 0,
    last_failed: Annotated[
        bool,
        typer.Option("--lf", "--last-failed", help="Only tests that failed last time; all when none did."),
    ] = False,
    failed_first: Annotated[
        bool, typer.Option("--ff", "--failed-first", help="Tests that failed last time come first.")
    ] = False,
    shard: ShardOption = None,
    durations_from: Annotated[
        Path | None,
        typer.Option(
            "--durations-from", metavar="RUN", help="Divide into shards by how long tests took in a run."
        ),
    ] = None,
    workers: WorkersOption = "1",
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail the test.")] = False,
    fail_on_vacuous: Annotated[
        bool, typer.Option("--fail-on-vacuous", help="A pass that had nothing to judge fails.")
    ] = False,
    strict_capabilities: Annotated[
        bool, typer.Option("--strict-capabilities", help="A missing capability fails instead of skipping.")
    ] = False,
    allow_outside: AllowOutsideOption = False,
    artifacts_dir: ArtifactsDirOption = None,
    run_id: Annotated[
        str, typer.Option("--run-id", metavar="ID", help="The name of this run's directory.")
    ] = "",
    no_artifacts: Annotated[
        bool, typer.Option("--no-artifacts", help="Write no files, but for reports.")
    ] = False,
    save_traces: Annotated[bool, typer.Option("--save-traces", help="Write every test's trace.")] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUN|FILE",
            help="Compare: what failed then does not fail the run, what got worse does.",
        ),
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Write the baseline file: what fails now is known.")
    ] = False,
    json_output: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    secrets: Annotated[
        list[str] | None,
        typer.Option(
            "--secret", metavar="NAME", help="Redact the value of this environment variable (repeatable)."
        ),
    ] = None,
    color: ColorOption = None,
    no_progress: Annotated[
        bool, typer.Option("--no-progress", help="No line of progress on a terminal.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Run again what a changed file affects, until Ctrl-C.")
    ] = False,
    collect_only: Annotated[bool, typer.Option("--collect-only", help="Show what would run.")] = False,
    durations: Annotated[
        int, typer.Option("--durations", metavar="N", min=0, help="Show the N slowest.")
    ] = 0,
    replays: Annotated[
        Path | None,
        typer.Option(
            "--replays", metavar="DIR", help="Of a suite: where recordings are (default: replays beside it)."
        ),
    ] = None,
    modes: Annotated[
        str, typer.Option("--modes", metavar="M,…", help="Of a suite: only these of its modes.")
    ] = "",
    agent_id: Annotated[
        str | None,
        typer.Option("--agent-id", metavar="ID", help="Of a suite: the agent that was recorded."),
    ] = None,
    model_class: Annotated[
        str | None,
        typer.Option("--model-class", metavar="C", help="Of a suite: the class of the agent's model."),
    ] = None,
    judge: Annotated[
        str,
        typer.Option(
            "--judge", metavar="J", help="Of a suite: recorded, 'command:PROGRAM …', or a plugin's name."
        ),
    ] = "",
    pass_score: Annotated[
        float | None,
        typer.Option(
            "--pass-score",
            metavar="X",
            min=0,
            max=1,
            callback=a_number,
            help="The score that the run must reach.",
        ),
    ] = None,
    github: GithubOption = None,
    *,
    reports: Mapping[str, Path],
) -> ExitCode:
    """Run tests: replay each recording, judge it, explain what failed.

    Exit codes: 0 all passed, 1 a test failed, 2 an error, 3 an invalid spec or nothing to run.
    """
    refuse_empty({"--baseline": baseline, "--agent-id": agent_id, "--model-class": model_class})
    if collect_only and json_output:
        raise UsageError("--json tells what a run came to, and --collect-only makes none")
    github = in_github_actions() if github is None else github
    if no_artifacts:
        told = json_output or github or bool(baseline)
        check_kept(reports, run_id=run_id, save_traces=save_traces, told=told)
    prepare(reports)
    project = open_project(paths, secrets or ())
    root, config = project.root, project.config
    budget.set_seconds(config.limits.pattern_seconds)
    colors = color or config.color
    artifacts = artifacts_dir or project.runs
    console = Console(sys.stderr if json_output else sys.stdout, verbosity=verbose - quiet, color=colors)
    if watch:
        from agenteval.cli.watching import options_of
        from agenteval.cli.watching import watch as watch_for_changes

        return watch_for_changes(
            paths, options_of(context), root=root, config=config, artifacts=artifacts, terminal=console
        )
    asked = SuiteOptions(
        replays=replays,
        modes=modes,
        agent_id=agent_id or "",
        model_class=model_class or "",
        judge=judge,
        pass_score=pass_score,
        baseline="--baseline" if baseline else "--update-baseline" if update_baseline else "",
    )
    suite = suite_among(paths, asked)
    parts = suite_parts(suite, asked, project, allow_outside=allow_outside) if suite else None
    console.suite_options = asked.words() if suite else None
    part = shard_of(shard)
    if suite and (part or last_failed or failed_first):
        raise UsageError("a suite is run as a whole: without --shard, --lf and --ff")
    ledger = Ledger(
        options=RunOptions(
            run_id=(run_id or new_run_id()) + (f"-shard-{part.number}-of-{part.of}" if part else ""),
            root=root,
            strict=strict or config.strict,
            rules=JudgingRules(
                fail_on_vacuous=fail_on_vacuous or config.fail_on_vacuous,
                strict_capabilities=strict_capabilities or config.strict_capabilities,
            ),
            limits=config.limits,
            allow_outside=allow_outside,
            registry=parts.registry if parts else project.registry,
            redaction=project.rules,
            progress=None if no_progress else ReadingProgress(),
        ),
        console=console,
        scores=parts.scores if parts else Scores(_suite(config, paths, pass_score)),
        shows_files=not no_artifacts,
        remembers=not (no_artifacts or suite),
    )
    session = Session(
        ledger=ledger,
        selection=Selection(expression, tags or (), exclude_tags or ()),
        flow=Flow(
            last_failed=last_failed,
            failed_first=failed_first,
            shard=part,
            durations_from=durations_from,
            workers="1" if collect_only else workers,
            progress=not (no_progress or collect_only),
        ),
        tests=parts.tests if parts else None,
    )
    if part:
        from agenteval.shard_record import ShardLog

        ledger.log = ShardLog(part, run_id)
    if collect_only:
        return session.collect(paths)
    if baseline or update_baseline:
        from agenteval.cli.baselines import check_whole, refuse_shard, watch_for
        from agenteval.comparing.sides import named

        if update_baseline:
            narrowed = last_failed or part is not None
            check_whole(paths, maxfail=maxfail or exit_first, part=narrowed, modes=modes)
        elif part:
            refuse_shard()
        ledger.watch = watch_for(
            named(baseline, artifacts) if baseline else None,
            update=update_baseline,
            default=from_here(root, config.baseline),
            scores=ledger.scores,
        )
    ledger.leave_out(parts.left_out if parts else ())
    redactor = Redactor((), project.rules)
    reporting = Reporting(
        reports,
        github=github,
        redactor=redactor,
        terminal=console,
        baseline=run_beside(baseline, artifacts) if baseline and compares(reports) else None,
    )
    session.save_traces = save_traces or config.save_traces or shows_traces(reports)
    if reports and not no_artifacts:
        keep_out(reports, artifacts / ledger.options.run_id)
    with reporting.during(ledger.options.run_id, None if no_artifacts else artifacts) as parent:
        if parent:
            ledger.directory = RunDirectory(
                parent, ledger.options.run_id, max_bytes=config.limits.max_result_bytes, redactor=redactor
            )
        if reporting.stream:
            ledger.on_result = reporting.add
        with redirect_stdout(sys.stderr) if json_output else nullcontext():  # a plugin may print
            code = session.run(paths, maxfail=1 if exit_first else maxfail, durations=durations)
    if json_output:
        ledger.print_summary()
    return code


def _suite(config: Config, paths: list[str], pass_score: float | None) -> Suite:
    first = Path(paths[0].split("::")[0])
    directory = first if first.is_dir() else first.parent
    suite = config.suite
    return Suite(
        id=suite.id or default_suite_id(directory.resolve().name),
        version=suite.version,
        pass_score=suite.pass_score if pass_score is None else pass_score,
        max_cost_usd=suite.max_cost_usd,
        max_p95_latency_ms=suite.max_p95_latency_ms,
    )
