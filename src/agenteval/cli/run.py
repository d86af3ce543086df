"""`agenteval run PATH...`: its options, the combinations that it refuses, and the run that they describe."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from agenteval.cli.options import (
    FILES,
    FROM_CONFIGURATION,
    JUDGING,
    LIVE,
    SUITE,
    AllowOutsideOption,
    ArtifactsDirOption,
    ClusterOption,
    ClusterWaitOption,
    ColorOption,
    ExcludeTagOption,
    ExpressionOption,
    GithubOption,
    JsonOption,
    NanoclawOption,
    PathsArgument,
    QuietOption,
    Request,
    RuntimeOption,
    ShardOption,
    SharedRootOption,
    TagOption,
    VerboseOption,
    WorkersOption,
    a_number,
    cluster_of,
    from_options,
    narrowing,
    one_of,
    option,
    reject_combination,
    shard_of,
    with_reports,
    with_sandbox,
)
from agenteval.contracts import time_limits
from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.judging.runner import RunOptions
from agenteval.judging.verdicts import JudgingRules
from agenteval.live.scratch import scratch_folder
from agenteval.loading.config import SuiteConfig, from_here
from agenteval.loading.discovery import Selection
from agenteval.loading.project import OpenProject, open_project
from agenteval.openwop.suite_parts import Parts, SuiteRequest, suite_parts
from agenteval.openwop.summary import Suite, default_suite_id
from agenteval.reporters.artifacts import RunDirectory, new_run_id
from agenteval.reporters.console import Console
from agenteval.reporters.progress import LiveProgress, ReadingProgress
from agenteval.reporters.terminal import in_github_actions
from agenteval.running.reports import (
    Reporting,
    keep_out,
    prepare,
    shows_traces,
)
from agenteval.running.run_recorder import RunRecorder
from agenteval.running.session import AUTO, Flow, Session
from agenteval.text.lazy_regexes import lazy

if TYPE_CHECKING:
    from agenteval.comparing.comparison import Comparer
    from agenteval.live.options import How, LiveOptions, Stale
    from agenteval.loading.config import LiveConfig
    from agenteval.openwop.summary import Baseline
    from agenteval.running.shards import Shard


class RunRequest(Request):
    """The options in the order of the help; `reports` maps a format to the file to write."""

    context: typer.Context
    paths: PathsArgument = FROM_CONFIGURATION
    expression: ExpressionOption = ""
    tags: TagOption = None
    exclude_tags: ExcludeTagOption = None
    exit_first: Annotated[bool, option("-x, --exitfirst", "Stop at the first failure or error.")] = False
    maxfail: Annotated[
        int, option("--maxfail N", "Stop after N failures or errors (0: never).", min=0, show_default=False)
    ] = 0
    last_failed: Annotated[
        bool, option("--lf, --last-failed", "Only tests that failed last time (all if none did).")
    ] = False
    failed_first: Annotated[
        bool, option("--ff, --failed-first", "Run tests that failed last time first.")
    ] = False
    shard: ShardOption = None
    workers: WorkersOption = AUTO
    cluster: ClusterOption = ""
    shared_root: SharedRootOption = None
    cluster_wait: ClusterWaitOption = None
    strict: Annotated[bool, option("--strict", "Treat all warnings as failures.", JUDGING)] = False
    fail_on_vacuous: Annotated[
        bool, option("--fail-on-vacuous", "Treat a pass that had nothing to judge as a failure.", JUDGING)
    ] = False
    strict_capabilities: Annotated[
        bool,
        option(
            "--strict-capabilities",
            "Fail, not skip, assertions for which the recording lacks something.",
            JUDGING,
        ),
    ] = False
    allow_outside: AllowOutsideOption = False
    artifacts_dir: ArtifactsDirOption = None
    run_id: Annotated[str, option("--run-id ID", "The name of this run's directory.", FILES)] = ""
    no_artifacts: Annotated[bool, option("--no-artifacts", "Write no files except reports.", FILES)] = False
    save_traces: Annotated[bool, option("--save-traces", "Write every test's trace.", FILES)] = False
    baseline: Annotated[
        str | None,
        option("--baseline RUN|FILE", "Compare with this run: only what got worse fails.", JUDGING),
    ] = None
    update_baseline: Annotated[
        bool, option("--update-baseline", "Write the baseline file: current failures become known.", JUDGING)
    ] = False
    json_output: JsonOption = False
    quiet: QuietOption = False
    verbose: VerboseOption = False
    secrets: Annotated[
        list[str] | None,
        option("--secret NAME", "Redact the value of this environment variable (repeatable)."),
    ] = None
    color: ColorOption = None
    no_progress: Annotated[bool, option("--no-progress", "Show no progress on a terminal.")] = False
    watch: Annotated[bool, option("--watch", "Rerun affected tests when a file changes, until Ctrl-C.")] = (
        False
    )
    collect_only: Annotated[bool, option("--collect-only", "Show what would run; run nothing.")] = False
    durations: Annotated[
        int, option("--durations N", "Show the N slowest tests.", min=0, show_default=False)
    ] = 0
    replays: Annotated[
        Path | None, option("--replays DIR", "Where the recordings are (default: replays next to it).", SUITE)
    ] = None
    modes: Annotated[str, option("--modes M,...", "Only these modes of the suite.", SUITE)] = ""
    agent_id: Annotated[str | None, option("--agent-id ID", "The agent that was recorded.", SUITE)] = None
    model_class: Annotated[
        str | None, option("--model-class C", "The class of the agent's model.", SUITE)
    ] = None
    judge: Annotated[
        str,
        option("--judge J", "Who judges rubrics: recorded, or 'command:PROGRAM ...'.", SUITE),
    ] = ""
    pass_score: Annotated[
        float | None,
        option("--pass-score X", "The minimum score for the run.", JUDGING, min=0, max=1, callback=a_number),
    ] = None
    live: Annotated[
        str,
        option(
            "--live [HOW]",
            "Run the agents again: play (the model, from cassettes; the default), record or real.",
            LIVE,
            show_default=False,
            callback=one_of("--live", "play", "record", "real"),
        ),
    ] = ""
    stale: Annotated[
        str,
        option(
            "--stale miss|mark",
            "Where instructions or tools differ from the recorded ones: an error (miss), or mark and play on.",
            LIVE,
            show_default=False,
            callback=one_of("--stale", "miss", "mark"),
        ),
    ] = "miss"
    fail_on_approximate: Annotated[
        bool,
        option(
            "--fail-on-approximate",
            "Refuse a run in which a tool got only the nearest recorded result.",
            LIVE,
        ),
    ] = False
    keep: Annotated[bool, option("--keep", "Keep the scratch folders of agents.", LIVE)] = False
    runtime: RuntimeOption = ""
    nanoclaw: NanoclawOption = None
    max_cost: Annotated[
        float | None,
        option(
            "--max-cost USD",
            "The most that all runs with the real model may cost together.",
            LIVE,
            min=0,
            callback=a_number,
        ),
    ] = None
    trials: Annotated[
        int, option("--trials N", "Run every live test N times.", LIVE, min=0, max=10_000, show_default=False)
    ] = 0
    early_stop: Annotated[
        bool, option("--early-stop", "End the trials of a test once it cannot pass any more.", LIVE)
    ] = False
    github: GithubOption = None
    reports: Mapping[str, Path]

    def check(self) -> None:
        """Refuse contradictions that show before anything is read. Raises `UsageError`."""
        if self.collect_only:
            outcomes = {f"--{name}": True for name in self.reports}
            outcomes |= {"--json": self.json_output, "--update-baseline": self.update_baseline}
            reject_combination("--collect-only", outcomes)
        if self.no_artifacts and not shows_traces(self.reports):
            reject_combination(
                "--no-artifacts", {"--save-traces": self.save_traces}, reason_code="usage.no_artifacts"
            )
        if self.live in ("record", "real"):
            reject_combination(f"--live {self.live}", {"--stale mark": self.stale == "mark"})

    def live_options(self, config: "LiveConfig", root: Path, scratch: Path) -> "LiveOptions":
        """Return the options of live runs, by the project's configuration and the command line."""
        from agenteval.live.options import Budget, LiveOptions

        return LiveOptions(
            how=cast("How", self.live or "play"),
            every=bool(self.live),
            stale=cast("Stale", self.stale),
            fail_on_approximate=self.fail_on_approximate,
            keep=self.keep,
            scratch=scratch,
            config=with_sandbox(config, self.runtime, self.nanoclaw),
            root=root,
            budget=None if self.max_cost is None else Budget(self.max_cost),
        )

    @property
    def for_live(self) -> list[str]:
        """The options that have an effect only on live tests, as they were given on the command line."""
        context = self.context
        given = []
        for known in context.command.params:
            name = known.name or ""
            source = context.get_parameter_source(name)
            if getattr(known, "rich_help_panel", None) == LIVE and source and source.name == "COMMANDLINE":
                value = "" if getattr(known, "is_flag", False) else f" {context.params[name]}"
                given.append(f"{max(known.opts, key=len)}{value}")
        return given

    @property
    def annotates(self) -> bool:
        """True if the run prints annotations for GitHub Actions."""
        return in_github_actions() if self.github is None else self.github

    @property
    def most_failures(self) -> int:
        """The number of failures and errors that ends the run; 0 for none."""
        return 1 if self.exit_first else self.maxfail

    @property
    def selection(self) -> Selection:
        """The selection of tests. Raises `UsageError`."""
        return Selection(self.expression, self.tags or (), self.exclude_tags or ())

    @property
    def narrowing(self) -> list[str]:
        """The options that leave out tests or assertions, as they were given."""
        others = ["--lf"] * self.last_failed + [f"--modes {self.modes}"] * bool(self.modes)
        return narrowing(self.expression, self.tags, self.exclude_tags, self.paths, others)

    @property
    def not_on_cluster(self) -> dict[str, bool]:
        """The options that do not go with --cluster, each True if it is given."""
        alone = {
            "--collect-only": self.collect_only,
            "--keep": self.keep,
            "--max-cost": self.max_cost is not None,  # each machine would count only its own spending
        }
        if not self.shared_root:  # only the project travels to the workers, and only results come back
            alone |= {
                "--allow-outside without --shared-root": self.allow_outside,
                "--live record without --shared-root": self.live == "record",
            }
        return alone

    @property
    def part(self) -> "Shard | None":
        """The shard. Raises `UsageError`."""
        return shard_of(self.shard)

    @property
    def flow(self) -> Flow:
        """The order and the processes of the tests. Raises `UsageError`."""
        return Flow(
            last_failed=self.last_failed,
            failed_first=self.failed_first,
            shard=self.part,
            workers="1" if self.collect_only else self.workers,
            progress=not (self.no_progress or self.collect_only),
        )

    @property
    def of_suite(self) -> SuiteRequest:
        """The options for a suite."""
        return SuiteRequest(
            replays=self.replays,
            modes=self.modes,
            agent_id=self.agent_id or "",
            model_class=self.model_class or "",
            judge=self.judge,
            pass_score=self.pass_score,
            baseline="--baseline" if self.baseline else "--update-baseline" if self.update_baseline else "",
            live=self.live,
        )


_PACKED = lazy(r"\.(?:tgz|tar(?:\.\w+)?|zip)$")
"""The ends of the names under which packs of suites are distributed."""


def suite_among(paths: Sequence[str], request: SuiteRequest) -> Path | None:
    """Return the suite that the paths name, or None for tests.

    Raises `UsageError` for a suite beside other paths, and for options of suites without a suite.
    """
    candidates = [path for path in paths if path.partition("::")[0].endswith(".json")]
    if candidates:
        from agenteval.openwop.suite import is_suite

        for path in candidates:
            _refuse_part(path)
            if request.replays is not None or is_suite(Path(path)):
                if len(paths) > 1:
                    raise UsageError(
                        f"{path} is a suite, and a suite must be run alone", next_step=f"agenteval run {path}"
                    )
                return Path(path)
    if packed := next((path for path in paths if _PACKED.search(path) and Path(path).is_file()), ""):
        raise UsageError(
            f"{packed} is packed, and packs are not read",
            next_step="unpack it, and name the suite in it: agenteval run suite.json",
        )
    if given := request.given():
        raise UsageError(
            f"{' and '.join(given)}: only for an AgentEvalSuite, and no path is one",
            next_step="name the suite's file: agenteval run suite.json",
        )
    return None


def _refuse_part(path: str) -> None:
    """Refuse `suite.json::task`: a task has no assertions that could be chosen. Raises `UsageError`."""
    from agenteval.openwop.suite import is_suite

    file, part, _ = path.partition("::")
    if part and is_suite(Path(file)):
        raise UsageError(
            f"{path}: {file} is a suite, and its tasks have one check each",
            next_step=f"choose tasks by their names: agenteval run {file} -k TASK",
        )


@with_reports
@from_options(RunRequest)
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
    time_limits.set_seconds(config.limits.pattern_seconds, config.limits.step_seconds)
    artifacts = asked.artifacts_dir or project.runs
    stream = sys.stderr if asked.json_output else sys.stdout
    console = Console(stream, verbosity=asked.verbose - asked.quiet, color=asked.color or config.color)
    # Options for live tests alone are refused before anything runs, unless a selected test is live.
    parts, whole = None, None
    if asked.for_live:
        parts = _parts(asked, project)
        whole = _session(asked, project, parts, console, Path())
        _refuse_without_live(asked.for_live, whole, asked.paths)
    if asked.watch:
        reject_combination("--cluster", {"--watch": asked.cluster}, reason_code="usage.cluster")
        from agenteval.running.watching import watch

        def options(paths: Sequence[str]) -> list[str]:  # a change may affect only tests that do not run live
            return options_of(asked.context, live=not whole or whole.has_live(paths))

        options_of(asked.context)  # which refuses some
        written = [artifacts, *asked.reports.values()]
        return watch(
            asked.paths, options, project=project, replays=asked.replays, written=written, terminal=console
        )
    parts = parts or _parts(asked, project)
    console.suite_options = parts.words
    console.strict = asked.strict or config.strict
    runtime = asked.runtime or config.live.runtime
    with (
        scratch_folder(keep=asked.keep) as scratch,
        cluster_of(
            asked, project, without=asked.not_on_cluster, sandbox=runtime, live=bool(asked.live)
        ) as cluster,
    ):
        session = _session(asked, project, parts, console, scratch)
        session.flow.cluster = cluster
        recorder = session.recorder
        if asked.collect_only:
            return session.collect(asked.paths)
        recorder.selection = asked.narrowing
        if parts.tests is None and (unnamed := project.unnamed(given)):
            recorder.unnamed_tests = unnamed
            recorder.selection = [*asked.narrowing, *(path for path in given if "::" not in path)]
        if asked.baseline or asked.update_baseline:
            recorder.watch, recorder.baseline = _baseline(asked, project, artifacts, recorder.suite)
        recorder.leave_out(parts.left_out)
        code = _reported(session, asked, project, artifacts)
        recorder.end(as_json=asked.json_output)
        return code


def _refuse_without_live(given: Sequence[str], session: Session, paths: Sequence[str]) -> None:
    """Refuse options that would do nothing, such as `--trials 5` on recordings, which are judged once. Raises `UsageError`."""
    with redirect_stdout(sys.stderr):  # a plugin may print
        if session.has_live(paths):
            return
    live = session.recorder.options.live
    raise UsageError(
        f"{', '.join(given)}: only for tests that run live, and none of the selected tests does",
        reason_code="usage.live",
        next_step=f"leave {'it' if len(given) == 1 else 'them'} out: the adapters of these tests only read recordings"
        if live and live.every
        else "add --live, or `mode: live` to a test; a recording is judged once, and costs nothing",
    )


def _parts(asked: RunRequest, project: OpenProject) -> Parts:
    """Return the tasks of the suite if the paths name one, else no tasks: tests are found later. Raises `UsageError`, `SpecError`."""
    request = asked.of_suite
    suite = suite_among(asked.paths, request)
    if suite is None:
        return Parts(_suite(asked, project.config.suite))
    if asked.collect_only:
        request.judge = request.judge or "recorded"  # tasks are only listed, so no judge need be named
    parts = suite_parts(suite, request, project, allow_outside=asked.allow_outside)
    if asked.cluster:
        raise UsageError("a suite is run here: it does not go with --cluster", reason_code="usage.cluster")
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
    return Session(
        recorder=_recorder(asked, project, parts, console, scratch),
        selection=asked.selection,
        flow=asked.flow,
        save_traces=asked.save_traces or project.config.save_traces or shows_traces(asked.reports),
        tests=parts.tests,
    )


def _recorder(
    asked: RunRequest, project: OpenProject, parts: Parts, console: Console, scratch: Path
) -> RunRecorder:
    config = project.config
    live = asked.live_options(config.live, project.root, scratch)
    live.shadow = parts.shadow
    live.show_activity = None if asked.no_progress else LiveProgress()
    part, strict, log = asked.part, asked.strict or config.strict, None
    if part:
        from agenteval.running.shards import ShardLog

        log = ShardLog.of(part, asked.run_id, strict=strict, suite=parts.suite)
    return RunRecorder(
        options=RunOptions(
            run_id=(asked.run_id or new_run_id()) + (f"-shard-{part.number}-of-{part.of}" if part else ""),
            root=project.root,
            strict=strict,
            rules=JudgingRules(
                fail_on_vacuous=asked.fail_on_vacuous or config.fail_on_vacuous,
                strict_capabilities=asked.strict_capabilities or config.strict_capabilities,
            ),
            limits=config.limits,
            allow_outside=asked.allow_outside,
            registry=project.registry,
            redaction=project.rules,
            progress=None if asked.no_progress else ReadingProgress(),
            live=live,
            trials=asked.trials,
            early_stop=asked.early_stop,
        ),
        console=console,
        suite=parts.suite,
        log=log,
        shows_files=not asked.no_artifacts,
        remembers=not (asked.no_artifacts or parts.tests),
    )


def _baseline(
    asked: RunRequest, project: OpenProject, artifacts: Path, suite: Suite
) -> "tuple[Comparer, Baseline | None]":
    """Open the baseline that the options name. Raises `UsageError`, `StoredRunError`, `FileError`."""
    from agenteval.judging.stored import find_run
    from agenteval.running.baselines import check_whole, open_baseline, refuse_shard

    if asked.update_baseline:
        narrowed = asked.last_failed or asked.part is not None
        check_whole(asked.paths, maxfail=asked.most_failures, part=narrowed, modes=asked.modes)
    elif asked.part:
        refuse_shard()
    return open_baseline(
        find_run(asked.baseline, artifacts) if asked.baseline else None,
        update=asked.update_baseline,
        default=from_here(project.root, project.config.baseline),
        suite=suite,
        margin=project.config.check.margin,
    )


def _reported(session: Session, asked: RunRequest, project: OpenProject, artifacts: Path) -> ExitCode:
    """Run the session, with its directory and the reports that were asked for."""
    recorder = session.recorder
    run_id = recorder.options.run_id
    reporting = Reporting(
        asked.reports,
        github=asked.annotates,
        redactor=recorder.redactor,
        terminal=recorder.console,
    )
    if asked.reports and not asked.no_artifacts:
        keep_out(asked.reports, artifacts / run_id)
    with reporting.during(run_id, None if asked.no_artifacts else artifacts) as parent:
        if parent:
            limit = project.config.limits.max_result_bytes
            recorder.directory = RunDirectory(parent, run_id, max_bytes=limit, redactor=recorder.redactor)
        recorder.on_result = reporting.add
        with redirect_stdout(sys.stderr) if asked.json_output else nullcontext():  # a plugin may print
            return session.run(asked.paths, maxfail=asked.most_failures, durations=asked.durations)


def options_of(context: typer.Context, *, live: bool = True) -> list[str]:
    """Return the options of the command line for a run of --watch; those of live tests only if `live`.

    Raises `UsageError` for one that does not go with --watch.
    """
    whole = {f"--{name.replace('_', '-')}": context.params[name] for name in ("baseline", "update_baseline")}
    # A baseline is of all tests, and --watch runs only part of them again.
    reject_combination("--watch", whole, reason_code="usage.baseline")
    reject_combination("--watch", {"--run-id": context.params["run_id"]}, reason_code="usage.watch_run_id")
    given: list[str] = []
    for known in context.command.params:
        value = context.params.get(known.name or "")
        if known.param_type_name != "option" or known.name == "watch" or value == known.get_default(context):
            continue
        if not live and getattr(known, "rich_help_panel", None) == LIVE:
            continue
        name = max(known.opts, key=len)
        if getattr(known, "is_flag", False):
            given += [name] if value else known.secondary_opts[:1]
        else:
            given += _spelled(name, (value or []) if known.multiple else [value])
    return given


def _spelled(name: str, values: Sequence[Any]) -> list[str]:
    """Spell an option with each of its values. `--name=value` also holds a value that begins with a dash."""
    if name.startswith("--"):
        return [f"{name}={each}" for each in values]
    return [word for each in values for word in (name, str(each))]
