"""`agenteval check PATH...`: which tests a change reaches, and whether it makes them worse."""

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from agenteval.cli.options import (
    FILES,
    FROM_CONFIGURATION,
    JUDGING,
    LIVE,
    AllowOutsideOption,
    ArtifactsDirOption,
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
    TagOption,
    VerboseOption,
    WorkersOption,
    a_number,
    from_options,
    narrowing,
    one_of,
    option,
    with_reports,
    with_sandbox,
)
from agenteval.contracts import time_limits
from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.live.options import Budget, LiveOptions
from agenteval.live.scratch import scratch_folder
from agenteval.loading.config import CheckConfig
from agenteval.loading.discovery import Selection
from agenteval.loading.project import OpenProject, open_project
from agenteval.reporters.artifacts import RunDirectory, new_run_id
from agenteval.reporters.console import Console
from agenteval.reporters.progress import LiveProgress
from agenteval.reporters.terminal import in_github_actions
from agenteval.running.reports import Reporting, keep_out, prepare, shows_traces
from agenteval.running.run_recorder import RunRecorder
from agenteval.running.session import AUTO, Flow, Session
from agenteval.text.fitting import counted

if TYPE_CHECKING:
    from agenteval.checking.check import Check
    from agenteval.comparing.check_report import CheckReport


class CheckRequest(Request):
    """The options of an `agenteval check` command line, in the order of the help."""

    paths: PathsArgument = FROM_CONFIGURATION
    expression: ExpressionOption = ""
    tags: TagOption = None
    exclude_tags: ExcludeTagOption = None
    workers: WorkersOption = AUTO
    against: Annotated[
        str,
        option(
            "--against REV", "Compare with this commit, tag or branch (default: HEAD).", show_default=False
        ),
    ] = ""
    model: Annotated[
        str,
        option(
            "--model HOW",
            "played: ask no model (default); real: ask it where the change reaches a test.",
            LIVE,
            show_default=False,
            callback=one_of("--model", "played", "real"),
        ),
    ] = ""
    trials: Annotated[
        int,
        option(
            "--trials N",
            "Trials on each side of a test (default: 6).",
            LIVE,
            min=0,
            max=10_000,
            show_default=False,
        ),
    ] = 0
    max_cost: Annotated[
        float | None,
        option(
            "--max-cost USD", "The most that all trials may cost together.", LIVE, min=0, callback=a_number
        ),
    ] = None
    yes: Annotated[bool, option("-y, --yes", "Ask the model without asking you first.", LIVE)] = False
    update: Annotated[
        bool, option("--update", "Write new cassettes of reached tests that pass and are not worse.", LIVE)
    ] = False
    base: Annotated[
        Path | None,
        option("--base DIR", "A checkout of the base that is ready to run, with its packages.", LIVE),
    ] = None
    runtime: RuntimeOption = ""
    nanoclaw: NanoclawOption = None
    strict: Annotated[
        bool,
        option(
            "--strict",
            "Fail on warnings, on unclear verdicts, and on changed files that no test saw.",
            JUDGING,
        ),
    ] = False
    allow_unmeasured: Annotated[
        bool,
        option("--allow-unmeasured", "Exit 0 though tests need the model and it was not asked.", JUDGING),
    ] = False
    allow_outside: AllowOutsideOption = False
    artifacts_dir: ArtifactsDirOption = None
    run_id: Annotated[str, option("--run-id ID", "The name of this run's directory.", FILES)] = ""
    no_artifacts: Annotated[bool, option("--no-artifacts", "Write no files except reports.", FILES)] = False
    json_output: JsonOption = False
    quiet: QuietOption = False
    verbose: VerboseOption = False
    color: ColorOption = None
    no_progress: Annotated[bool, option("--no-progress", "Show no progress on a terminal.")] = False
    github: GithubOption = None
    reports: Mapping[str, Path]

    def settings(self, config: CheckConfig) -> CheckConfig:
        """Return the settings of the configuration, overridden by the options."""
        given = {"against": self.against, "trials": self.trials, "model": self.model}
        changed: Any = {name: value for name, value in given.items() if value}
        return replace(config, **changed)

    def live_options(self, project: OpenProject, scratch: Path) -> LiveOptions:
        """Make the options that run agents with the model played, whatever the author has changed."""
        return LiveOptions(
            every=True,
            stale="mark",
            scratch=scratch,
            show_activity=None if self.no_progress else LiveProgress(),
            config=with_sandbox(project.config.live, self.runtime, self.nanoclaw),
            root=project.root,
            budget=None if self.max_cost is None else Budget(self.max_cost),
            detailed=True,
        )

    def again(self, paths: list[str]) -> str:
        """The command line that checks the same tests against the same base."""
        words = ["agenteval check", *map(quote, paths)]
        words += [f"-k {quote(self.expression)}"] * bool(self.expression)
        words += [f"-t {quote(tag)}" for tag in self.tags or ()]
        words += [f"--exclude-tag {quote(tag)}" for tag in self.exclude_tags or ()]
        return " ".join([*words, *([f"--against {quote(self.against)}"] * bool(self.against))])


@with_reports
@from_options(CheckRequest)
def command(asked: CheckRequest) -> ExitCode:
    """Find out whether a change breaks the agent: which tests it reaches, and what it does to them.

    Each test that runs live runs with the files of today and its model played. Where the change reaches it, --model real
    makes trials with the agent of the base and with today's, in turn.

    Exit codes, of which the highest wins: 0 nothing is worse or fails, and nothing is left to measure; 1 a test is worse or
    fails, or --strict forbids what happened; 2 a test could not be judged, or needs the model; 3 a file is invalid, or
    there is nothing to check.
    """
    prepare(asked.reports)
    project = open_project(asked.paths, ())
    given, asked.paths = list(asked.paths), project.paths(asked.paths, "check")
    settings = asked.settings(project.config.check)
    if settings.model != "real":
        given_for_model = {
            "--update": asked.update,
            "--base": asked.base,
            "--max-cost": asked.max_cost is not None,
        }
        for name, is_given in given_for_model.items():
            if is_given:
                raise UsageError(
                    f"{name} is for trials with the real model, which is not asked",
                    reason_code="usage.live",
                    next_step="add --model real",
                )
    time_limits.set_seconds(project.config.limits.pattern_seconds, project.config.limits.step_seconds)
    console = Console(
        sys.stderr if asked.json_output else sys.stdout,
        verbosity=asked.verbose - asked.quiet,
        color=asked.color or project.config.color,
    )
    with scratch_folder(keep=False) as scratch:
        check = _check(asked, project, settings, console, scratch, given)
        check.command = asked.again(given)
        return _reported(asked, project, check)


def _check(
    asked: CheckRequest,
    project: OpenProject,
    settings: CheckConfig,
    console: Console,
    scratch: Path,
    given: list[str],
) -> "Check":
    from agenteval.checking.check import Check
    from agenteval.judging.runner import RunOptions
    from agenteval.judging.verdicts import JudgingRules
    from agenteval.openwop.summary import Suite, default_suite_id

    config, strict = project.config, asked.strict or project.config.strict
    first = Path(asked.paths[0].split("::")[0])
    name = default_suite_id((first if first.is_dir() else first.parent).resolve().name)
    recorder = RunRecorder(
        options=RunOptions(
            run_id=asked.run_id or new_run_id().replace("run-", "check-"),
            root=project.root,
            strict=strict,
            rules=JudgingRules(
                fail_on_vacuous=config.fail_on_vacuous, strict_capabilities=config.strict_capabilities
            ),
            limits=config.limits,
            allow_outside=asked.allow_outside,
            registry=project.registry,
            redaction=project.rules,
            live=asked.live_options(project, scratch),
        ),
        console=console,
        suite=Suite(id=config.suite.id or name, version=config.suite.version),
        shows_files=not asked.no_artifacts,
    )
    recorder.selection = narrowing(asked.expression, asked.tags, asked.exclude_tags, asked.paths)
    recorder.unnamed_tests = project.unnamed(given)
    session = Session(
        recorder=recorder,
        selection=Selection(asked.expression, asked.tags or (), asked.exclude_tags or ()),
        flow=Flow(workers=asked.workers, progress=not asked.no_progress),
        save_traces=config.save_traces or shows_traces(asked.reports),
    )
    return Check(
        session=session,
        settings=settings,
        without=_own_files(asked, project),
        folder=asked.base,
        strict=strict,
        allow_unmeasured=asked.allow_unmeasured,
        keeps=asked.update,
        asks=lambda report: asked.yes or _confirmed(console, report),
        show_activity=None if asked.no_progress else LiveProgress(),
    )


def _own_files(asked: CheckRequest, project: OpenProject) -> list[str]:
    """List what checks write, from the project's root: these are no changes of the author."""
    root = os.path.realpath(project.root)
    given = [*([asked.artifacts_dir] if asked.artifacts_dir else []), *asked.reports.values()]
    written = [os.path.relpath(os.path.realpath(each), root) for each in given]
    return [os.path.normpath(project.config.artifacts_dir), ".agenteval_cache", *written]


def _confirmed(console: Console, report: "CheckReport") -> bool:
    """Ask on a terminal whether the model may be asked; elsewhere nobody could answer."""
    planned = report.planned
    if planned is None or not (console.is_terminal and sys.stdin.isatty()):
        return True
    total, need = counted(len(report.tests), "test"), "needs" if planned.tests == 1 else "need"
    trials = counted(planned.trials, "trial")
    console.emit(f"{planned.tests} of {total} {need} the model: {trials}, about {planned.words()}")
    console.flush()
    try:
        return input("ask it? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:  # Ctrl-D
        return False


def _reported(asked: CheckRequest, project: OpenProject, check: "Check") -> ExitCode:
    """Run the check, with its directory and the reports that were asked for; print what it found."""
    from agenteval.redaction.sealing import sealed
    from agenteval.reporters.check import has_own_result, print_check
    from agenteval.reporters.terminal import flush, write_encoded

    recorder, artifacts = check.recorder, asked.artifacts_dir or project.runs
    run_id, console = recorder.options.run_id, recorder.console
    if asked.reports and not asked.no_artifacts:
        keep_out(asked.reports, artifacts / run_id)
    github = in_github_actions() if asked.github is None else asked.github
    reporting = Reporting(asked.reports, github=github, redactor=recorder.redactor, terminal=console)
    with reporting.during(run_id, None if asked.no_artifacts else artifacts) as parent:
        if parent:
            limit = project.config.limits.max_result_bytes
            recorder.directory = RunDirectory(parent, run_id, max_bytes=limit, redactor=recorder.redactor)
        recorder.on_result = reporting.add
        with redirect_stdout(sys.stderr) if asked.json_output else nullcontext():  # a plugin may print
            report, finished = check.run(asked.paths)
            verbose = console.verbosity > 0
            pairs = zip(report.tests, finished, strict=True)
            results = [each.console_lines for test, each in pairs if verbose or has_own_result(test)]
            print_check(console, report, recorder.folder, verbose=verbose, results=results)
    if asked.json_output:
        write_encoded(sys.stdout, sealed(report, recorder.redactor).decode())
        flush(sys.stdout)
    console.ending(report.exit_code, report.exit_reason)
    console.flush()
    return ExitCode(report.exit_code)
