"""The options of `agenteval run`: which contradict each other, and what they mean together."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from agenteval.cli.flow import Flow
from agenteval.cli.github import GithubOption
from agenteval.cli.options import (
    FILES,
    FROM_CONFIGURATION,
    JUDGING,
    LIVE,
    SUITE,
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
    shard_of,
)
from agenteval.cli.reporting import check_kept
from agenteval.cli.signatures import Request
from agenteval.errors import UsageError
from agenteval.openwop.request import SuiteRequest
from agenteval.reporters.stream import in_github_actions
from agenteval.selection import Selection
from agenteval.sharding import Shard

if TYPE_CHECKING:
    from agenteval.live.options import How, LiveOptions, Stale
    from agenteval.settings import LiveConfig


class RunRequest(Request):
    """The options in the order of the help; `reports` maps a format to the file to write."""

    context: typer.Context
    paths: PathsArgument = FROM_CONFIGURATION
    expression: ExpressionOption = ""
    tags: TagOption = None
    exclude_tags: ExcludeTagOption = None
    exit_first: Annotated[
        bool, typer.Option("-x", "--exitfirst", help="Stop at the first failure or error.")
    ] = False
    maxfail: Annotated[
        int,
        typer.Option(
            "--maxfail",
            metavar="N",
            min=0,
            help="Stop after N failures or errors (0: never).",
            show_default=False,
        ),
    ] = 0
    last_failed: Annotated[
        bool,
        typer.Option("--lf", "--last-failed", help="Only tests that failed last time (all if none did)."),
    ] = False
    failed_first: Annotated[
        bool, typer.Option("--ff", "--failed-first", help="Run tests that failed last time first.")
    ] = False
    shard: ShardOption = None
    durations_from: Annotated[
        Path | None,
        typer.Option(
            "--durations-from", metavar="RUN", help="Balance shards by how long tests took in this run."
        ),
    ] = None
    workers: WorkersOption = "1"
    strict: Annotated[
        bool, typer.Option("--strict", help="Treat all warnings as failures.", rich_help_panel=JUDGING)
    ] = False
    fail_on_vacuous: Annotated[
        bool,
        typer.Option(
            "--fail-on-vacuous",
            help="Treat a pass that had nothing to judge as a failure.",
            rich_help_panel=JUDGING,
        ),
    ] = False
    strict_capabilities: Annotated[
        bool,
        typer.Option(
            "--strict-capabilities",
            help="Fail, not skip, assertions for which the recording lacks something.",
            rich_help_panel=JUDGING,
        ),
    ] = False
    allow_outside: AllowOutsideOption = False
    artifacts_dir: ArtifactsDirOption = None
    run_id: Annotated[
        str,
        typer.Option(
            "--run-id", metavar="ID", help="The name of this run's directory.", rich_help_panel=FILES
        ),
    ] = ""
    no_artifacts: Annotated[
        bool, typer.Option("--no-artifacts", help="Write no files except reports.", rich_help_panel=FILES)
    ] = False
    save_traces: Annotated[
        bool, typer.Option("--save-traces", help="Write every test's trace.", rich_help_panel=FILES)
    ] = False
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUN|FILE",
            help="Compare with this run: only what got worse fails.",
            rich_help_panel=JUDGING,
        ),
    ] = None
    update_baseline: Annotated[
        bool,
        typer.Option(
            "--update-baseline",
            help="Write the baseline file: current failures become known.",
            rich_help_panel=JUDGING,
        ),
    ] = False
    json_output: JsonOption = False
    quiet: QuietOption = False
    verbose: VerboseOption = False
    secrets: Annotated[
        list[str] | None,
        typer.Option(
            "--secret", metavar="NAME", help="Redact the value of this environment variable (repeatable)."
        ),
    ] = None
    color: ColorOption = None
    no_progress: Annotated[bool, typer.Option("--no-progress", help="Show no progress on a terminal.")] = (
        False
    )
    watch: Annotated[
        bool, typer.Option("--watch", help="Rerun affected tests when a file changes, until Ctrl-C.")
    ] = False
    collect_only: Annotated[
        bool, typer.Option("--collect-only", help="Show what would run; run nothing.")
    ] = False
    durations: Annotated[
        int,
        typer.Option("--durations", metavar="N", min=0, help="Show the N slowest tests.", show_default=False),
    ] = 0
    replays: Annotated[
        Path | None,
        typer.Option(
            "--replays",
            metavar="DIR",
            help="Where the recordings are (default: replays next to it).",
            rich_help_panel=SUITE,
        ),
    ] = None
    modes: Annotated[
        str,
        typer.Option(
            "--modes", metavar="M,...", help="Only these modes of the suite.", rich_help_panel=SUITE
        ),
    ] = ""
    agent_id: Annotated[
        str | None,
        typer.Option("--agent-id", metavar="ID", help="The agent that was recorded.", rich_help_panel=SUITE),
    ] = None
    model_class: Annotated[
        str | None,
        typer.Option(
            "--model-class", metavar="C", help="The class of the agent's model.", rich_help_panel=SUITE
        ),
    ] = None
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="J",
            help="Who judges rubrics: recorded, 'command:PROGRAM ...', or a plugin's name.",
            rich_help_panel=SUITE,
        ),
    ] = ""
    pass_score: Annotated[
        float | None,
        typer.Option(
            "--pass-score",
            metavar="X",
            min=0,
            max=1,
            callback=a_number,
            help="The minimum score for the run.",
            rich_help_panel=JUDGING,
        ),
    ] = None
    live: Annotated[
        str,
        typer.Option(
            "--live",
            metavar="[HOW]",
            help="Run the agents again: play (the model, from cassettes; the default), record or real.",
            show_default=False,
            rich_help_panel=LIVE,
        ),
    ] = ""
    stale: Annotated[
        str,
        typer.Option(
            "--stale",
            metavar="miss|mark",
            help="Where instructions or tools differ from the recorded ones: an error (miss), or mark and play on.",
            show_default=False,
            rich_help_panel=LIVE,
        ),
    ] = "miss"
    fail_on_approximate: Annotated[
        bool,
        typer.Option(
            "--fail-on-approximate",
            help="Refuse a run in which a tool got only the nearest recorded result.",
            rich_help_panel=LIVE,
        ),
    ] = False
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the scratch folders of agents.", rich_help_panel=LIVE)
    ] = False
    runtime: Annotated[
        str,
        typer.Option(
            "--runtime",
            metavar="R",
            help="The sandbox: auto, bwrap, docker or podman.",
            show_default=False,
            rich_help_panel=LIVE,
        ),
    ] = ""
    nanoclaw: Annotated[
        Path | None,
        typer.Option("--nanoclaw", metavar="DIR", help="The checkout of NanoClaw.", rich_help_panel=LIVE),
    ] = None
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            metavar="USD",
            min=0,
            callback=a_number,
            help="The most that one run with the real model may cost.",
            rich_help_panel=LIVE,
        ),
    ] = None
    github: GithubOption = None
    reports: Mapping[str, Path]

    def check(self) -> None:
        """Refuse contradictions that show before anything is read. Raises `UsageError`."""
        if self.durations_from and not self.shard:
            raise UsageError(
                "--durations-from balances shards, but there is no --shard",
                next_step="add --shard I/N, or leave it out; --durations N shows what was slow",
            )
        if self.collect_only:
            outcomes = [f"--{name}" for name in self.reports]
            outcomes += ["--json"] * self.json_output + ["--update-baseline"] * self.update_baseline
            if outcomes:
                raise UsageError(
                    f"{outcomes[0]} writes the outcome of a run, and --collect-only makes none",
                    next_step="use one or the other",
                )
        self._check_live()
        if self.no_artifacts:
            told = self.json_output or self.annotates or bool(self.baseline)
            check_kept(self.reports, run_id=self.run_id, save_traces=self.save_traces, told=told)

    def _check_live(self) -> None:
        for name, given, allowed in (
            ("--live", self.live, ("play", "record", "real")),
            ("--stale", self.stale, ("miss", "mark")),
            ("--runtime", self.runtime, ("auto", "bwrap", "docker", "podman")),
        ):
            if given and given not in allowed:
                raise UsageError(
                    f"{name} {given}: expected {', '.join(allowed[:-1])} or {allowed[-1]}",
                    next_step=f"for instance {name} {allowed[0]}",
                )
        if self.stale == "mark" and self.live in ("record", "real"):
            raise UsageError(
                f"--stale mark is for played models, and with --live {self.live} none is played",
                next_step="use one or the other",
            )

    def live_options(self, config: "LiveConfig", root: Path, scratch: Path | None) -> "LiveOptions":
        """How agents are run again, by the project's configuration and these options."""
        from agenteval.live.options import LiveOptions

        changes: dict[str, Any] = {}
        if self.runtime:
            changes["runtime"] = self.runtime
        if self.max_cost is not None:
            changes["max_cost_usd"] = self.max_cost
        if self.nanoclaw:
            changes["nanoclaw"] = replace(config.nanoclaw, checkout=str(self.nanoclaw.absolute()))
        return LiveOptions(
            how=cast("How", self.live or "play"),
            every=bool(self.live),
            stale=cast("Stale", self.stale),
            fail_on_approximate=self.fail_on_approximate,
            keep=self.keep,
            scratch=scratch,
            config=replace(config, **changes),
            root=root,
        )

    @property
    def annotates(self) -> bool:
        """Whether the run prints annotations for GitHub Actions."""
        return in_github_actions() if self.github is None else self.github

    @property
    def most_failures(self) -> int:
        """The number of failures and errors that ends the run; 0 for none."""
        return 1 if self.exit_first else self.maxfail

    @property
    def selection(self) -> Selection:
        """Which tests are wanted. Raises `UsageError`."""
        return Selection(self.expression, self.tags or (), self.exclude_tags or ())

    @property
    def narrowing(self) -> list[str]:
        """The options that leave out tests or assertions, as they were given."""
        given = [f"-k {self.expression}"] * bool(self.expression.strip())
        given += [f"--tag {tag}" for tag in self.tags or ()]
        given += [f"--exclude-tag {tag}" for tag in self.exclude_tags or ()]
        given += ["--lf"] * self.last_failed + [f"--modes {self.modes}"] * bool(self.modes)
        return given + [path for path in self.paths if "::" in path]

    @property
    def part(self) -> Shard | None:
        """The shard. Raises `UsageError`."""
        return shard_of(self.shard)

    @property
    def flow(self) -> Flow:
        """How the tests are run. Raises `UsageError`."""
        return Flow(
            last_failed=self.last_failed,
            failed_first=self.failed_first,
            shard=self.part,
            durations_from=self.durations_from,
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
        )
