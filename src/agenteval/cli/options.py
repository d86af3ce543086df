"""The options that commands share, and the signatures that typer reads: all options of a command as one request."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from inspect import Parameter, Signature, signature
from math import isnan
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from warnings import catch_warnings, simplefilter

import typer

from agenteval.contracts.errors import ExitCode, UsageError
from agenteval.reporters.formats import FORMATS

if TYPE_CHECKING:
    from agenteval.loading.config import LiveConfig
    from agenteval.loading.project import OpenProject
    from agenteval.running.cluster import Cluster
    from agenteval.running.shards import Shard

Command = Callable[..., ExitCode]


def option(names: str, text: str, panel: str | None = None, **rest: Any) -> Any:
    """Make an option with its help; `names` ends with the name of its value, if it takes one: `-n, --workers N`."""
    words = names.replace(", ", " ").split()
    metavar = None if words[-1].startswith("-") else words.pop()
    return typer.Option(*words, metavar=metavar, help=text, rich_help_panel=panel, **rest)


def argument(name: str, text: str, *, show_default: bool | str = False) -> Any:
    """Make an argument with its help."""
    return typer.Argument(metavar=name, help=text, show_default=show_default)


class Request(SimpleNamespace):
    """The arguments and options of a command: the annotated fields of a subclass, in the order of the help.

    It is no dataclass: to make the `__init__` of one with all options of a run takes half a millisecond.
    """


Asked = TypeVar("Asked", bound=Request)


def from_options(kind: type[Asked]) -> Callable[[Callable[[Asked], ExitCode]], Command]:
    """Call a command with one request; typer sees the fields of the request as the command's parameters."""

    def of_fields(command: Callable[[Asked], ExitCode]) -> Command:
        @wraps(command)
        def called(**given: Any) -> ExitCode:
            return command(kind(**given))

        return _with_parameters(
            called,
            [
                _option(name, annotation, getattr(kind, name, Parameter.empty))
                for name, annotation in kind.__annotations__.items()
            ],
        )

    return of_fields


def with_reports(command: Command) -> Command:
    """Add an option for each report format; the command gets `reports`, the file for each format asked for."""

    @wraps(command)
    def asked(**given: Any) -> ExitCode:
        wanted = {form.name: given.pop(_parameter(form.name)) for form in FORMATS}
        return command(**given, reports={name: path for name, path in wanted.items() if path is not None})

    own = [each for each in signature(command).parameters.values() if each.name != "reports"]
    added = [
        _option(
            _parameter(form.name),
            Annotated[Path | None, option(f"--{form.name} FILE", f"Write {form.help}.", REPORTS)],
            None,
        )
        for form in FORMATS
    ]
    return _with_parameters(asked, [*own, *added])


def _with_parameters(command: Command, parameters: Sequence[Parameter]) -> Command:
    """Give a command the parameters that typer is to see."""
    described: Any = command
    described.__signature__ = Signature(parameters)
    described.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _option(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _parameter(name: str) -> str:
    return name.replace("-", "_")


JUDGING, FILES, SUITE, REPORTS, LIVE = "What fails a run", "Files", "AgentEvalSuite", "Reports", "Live"
CLUSTER = "Cluster"
"""The headings of the help of commands with many options."""


FROM_CONFIGURATION: list[str] = []
"""The default for paths: those of the configuration."""
PathsArgument = Annotated[
    list[str],
    argument(
        "PATH...",
        "Test files, directories (searched for test.yaml and *.test.yaml), or file::assertion-id. "
        "Without any: the tests that the configuration names.",
    ),
]
ExpressionOption = Annotated[
    str, option("-k EXPR", "Only tests that match: words joined by and, or, not, parentheses.")
]
TagOption = Annotated[list[str] | None, option("-t, --tag TAG", "Only tests with this tag (repeatable).")]
ExcludeTagOption = Annotated[
    list[str] | None, option("--exclude-tag TAG", "Skip tests with this tag (repeatable).")
]


def _known_workers(value: str) -> str:
    if value != "auto" and not (value.isascii() and value.isdigit() and len(value) <= 4):
        raise UsageError(
            f"-n {value}: expected a number of processes, at most 9999, or auto",
            next_step="for instance -n 4",
        )
    return value


WorkersOption = Annotated[
    str,
    option(
        "-n, --workers N|auto", "Run tests in N processes; auto: one per processor.", callback=_known_workers
    ),
]
ClusterOption = Annotated[
    str,
    option(
        "--cluster ADDRESS",
        "Run tests on a Dask cluster: its scheduler's address, or local:N.",
        CLUSTER,
        show_default=False,
    ),
]
SharedRootOption = Annotated[
    Path | None,
    option("--shared-root DIR", "Where every worker finds the project, which else travels.", CLUSTER),
]


def a_number(value: float | None) -> float | None:
    """Refuse NaN, which typer accepts in any range: no score is below it, so it would stop nothing."""
    if value is not None and isnan(value):
        raise typer.BadParameter("nan is not a number.")
    return value


ClusterWaitOption = Annotated[
    float | None,
    option(
        "--cluster-wait SECONDS",
        "How long to wait for a worker while the cluster has none (60).",
        CLUSTER,
        min=0,
        max=86_400,
        callback=a_number,
    ),
]


def reject_combination(option: str, others: Mapping[str, object], *, reason_code: str = "") -> None:
    """Refuse the first of the other options that is given beside this one. Raises `UsageError`."""
    for other, given in others.items():
        if given:
            raise UsageError(
                f"{other} does not go with {option}",
                reason_code=reason_code,
                next_step="use one or the other",
            )


@contextmanager
def cluster_of(
    asked: Any, project: "OpenProject", *, without: Mapping[str, bool], sandbox: str = "", live: bool = False
) -> "Iterator[Cluster | None]":
    """Open the cluster that the options name, if any; `without` are the options that do not go with one. Raises `UsageError`."""
    if not asked.cluster:
        for name, given in (
            ("--shared-root", asked.shared_root),
            ("--cluster-wait", asked.cluster_wait is not None),
        ):
            if given:
                raise UsageError(f"{name} is for --cluster, which is not given", reason_code="usage.cluster")
        yield None
        return
    number = asked.cluster.removeprefix("local:")
    if number != asked.cluster and not (number.isascii() and number.isdigit() and 0 < int(number) < 1000):
        raise UsageError(
            f"--cluster {asked.cluster}: expected local:N, where N is a number of workers from 1 to 999",
            reason_code="usage.cluster",
        )
    reject_combination("--cluster", {"-n": asked.workers != "auto", **without}, reason_code="usage.cluster")
    from agenteval.running.cluster import Cluster

    with catch_warnings():
        simplefilter("ignore")  # warnings of Dask are about its own settings, which nobody has chosen here
        cluster = Cluster(
            asked.cluster,
            project,
            asked.paths,
            shared_root=asked.shared_root,
            sandbox=sandbox,
            live=live,
            wait=asked.cluster_wait,
        )
        try:
            yield cluster
        finally:
            cluster.close()


ShardOption = Annotated[str | None, option("--shard I/N", "Run part I of N; agenteval merge joins them.")]


def shard_of(value: str | None) -> "Shard | None":
    """Parse the value of `--shard I/N`. Raises `UsageError` (`usage.shard`)."""
    if value is None:
        return None
    from agenteval.running.shards import Shard

    number, slash, of = value.partition("/")
    digits = slash and all(part.isascii() and part.isdigit() and len(part) <= 4 for part in (number, of))
    if not digits or not 1 <= int(number) <= int(of):
        raise UsageError(
            f"--shard {value}: expected I/N, where I is from 1 to N, and N at most 9999",
            reason_code="usage.shard",
            next_step="for instance --shard 1/3",
        )
    return Shard(int(number), int(of))


JsonOption = Annotated[
    bool, option("--json", "Print the run summary as JSON; everything else goes to stderr.")
]
QuietOption = Annotated[bool, option("-q, --quiet", "Show only the summary.")]
VerboseOption = Annotated[bool, option("-v, --verbose", "Show every assertion of every test.")]
AllowOutsideOption = Annotated[
    bool, option("--allow-outside", "Allow tests to name files outside the project.")
]

ArtifactsDirOption = Annotated[
    Path | None, option("--artifacts-dir DIR", "Where to write runs (default: artifacts).", FILES)
]
GithubOption = Annotated[
    bool | None,
    option(
        "--github/--no-github",
        "Annotations and a summary for GitHub Actions; on by default if GITHUB_ACTIONS is true.",
        REPORTS,
        show_default=False,
    ),
]
"""The option of `agenteval run`, which annotates by itself in GitHub Actions."""
ExplicitGithubOption = Annotated[
    bool,
    option(
        "--github/--no-github", "Annotations and a summary for GitHub Actions.", REPORTS, show_default=False
    ),
]
"""The option of commands about finished runs: they annotate only when asked, since the run itself has done so."""
AdapterOption = Annotated[str, option("--adapter NAME", "The adapter to use, if several can read it.")]


def one_of(name: str, *allowed: str) -> Callable[[str | None], str | None]:
    """Make a callback that refuses other values of an option than these."""

    def checked(value: str | None) -> str | None:
        if value and value not in allowed:
            raise UsageError(
                f"{name} {value}: expected {', '.join(allowed[:-1])} or {allowed[-1]}",
                next_step=f"for instance {name} {allowed[0]}",
            )
        return value

    return checked


RuntimeOption = Annotated[
    str,
    option(
        "--runtime R",
        "The sandbox: auto, bwrap, docker or podman.",
        LIVE,
        show_default=False,
        callback=one_of("--runtime", "auto", "bwrap", "docker", "podman"),
    ),
]
NanoclawOption = Annotated[Path | None, option("--nanoclaw DIR", "The checkout of NanoClaw.", LIVE)]


def with_sandbox(config: "LiveConfig", runtime: str, nanoclaw: Path | None) -> "LiveConfig":
    """Return the configuration of live runs with the sandbox and the checkout that the command line names."""
    changes: dict[str, Any] = {"runtime": runtime} if runtime else {}
    if nanoclaw:
        changes["nanoclaw"] = replace(config.nanoclaw, checkout=str(nanoclaw.absolute()))
    return replace(config, **changes)


def narrowing(
    expression: str,
    tags: Sequence[str] | None,
    exclude_tags: Sequence[str] | None,
    paths: Sequence[str],
    others: Sequence[str] = (),
) -> list[str]:
    """List the options and paths that leave out tests or assertions, as they were given. `others` are a command's own."""
    given = [f"-k {expression}"] * bool(expression.strip())
    given += [f"--tag {tag}" for tag in tags or ()]
    given += [f"--exclude-tag {tag}" for tag in exclude_tags or ()]
    return [*given, *others, *(path for path in paths if "::" in path)]


ColorOption = Annotated[
    str | None,
    option(
        "--color WHEN",
        "Colour: auto, always or never; auto honours NO_COLOR.",
        callback=one_of("--color", "auto", "always", "never"),
    ),
]
