"""`agenteval mutate PATH...`: change recordings on purpose, and see which assertions notice."""

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenteval.cli.flow import AUTO, processors
from agenteval.cli.options import (
    AllowOutsideOption,
    ColorOption,
    ExcludeTagOption,
    ExpressionOption,
    OptionalPathsArgument,
    QuietOption,
    TagOption,
    WorkersOption,
    a_number,
)
from agenteval.cli.reporting import prepare, write_report
from agenteval.errors import ExitCode, UsageError
from agenteval.plurals import counted

if TYPE_CHECKING:
    from agenteval.loading import LoadedTest
    from agenteval.mutation.base import Operator
    from agenteval.mutation.results import TestMutation
    from agenteval.reporters.console import Console

MOST_MUTANTS = 200


def command(
    paths: OptionalPathsArgument = None,
    expression: ExpressionOption = "",
    tags: TagOption = None,
    exclude_tags: ExcludeTagOption = None,
    operators: Annotated[
        str,
        typer.Option(
            "--operators", metavar="NAMES", help="Only these operators or categories, with commas between."
        ),
    ] = "",
    most: Annotated[
        int, typer.Option("--max", metavar="N", min=0, help="Mutants of one test at most; 0 for all.")
    ] = MOST_MUTANTS,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="What is drawn by lot follows from it.")
    ] = 0,
    workers: WorkersOption = "1",
    since: Annotated[
        str,
        typer.Option(
            "--since", metavar="REV", help="Only tests of which a file changed since a git revision."
        ),
    ] = "",
    min_score: Annotated[
        float | None,
        typer.Option(
            "--min-score",
            metavar="X",
            min=0,
            max=1,
            callback=a_number,
            help="Exit 1 below this share of noticed mutants.",
        ),
    ] = None,
    json_output: Annotated[
        bool, typer.Option("--json", help="The report as JSON on stdout; the rest goes to stderr.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as one HTML file.")
    ] = None,
    list_operators: Annotated[
        bool, typer.Option("--list-operators", help="Tell what can be changed, and stop.")
    ] = False,
    allow_outside: AllowOutsideOption = False,
    quiet: QuietOption = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Every mutant of every test.")] = False,
    color: ColorOption = None,
) -> ExitCode:
    """Change recorded runs, one realistic regression at a time, and see which assertions notice.

    Exit codes: 0, 1 below --min-score or when a test does not pass as recorded, 2 an error, 3 an invalid spec or
    nothing to mutate.
    """
    from agenteval.cli.collection import collect
    from agenteval.cli.project import open_project
    from agenteval.mutation.operators import chosen_operators
    from agenteval.mutation.results import report
    from agenteval.mutation.runs import MutationSettings, mutate_tests
    from agenteval.redaction import Redactor, plain
    from agenteval.reporters.console import Console
    from agenteval.reporters.mutation import tell_summary, tell_test
    from agenteval.reporters.stream import write_json
    from agenteval.selection import Selection

    if not (paths or list_operators):
        raise UsageError("Missing argument 'PATH...'.", next_step="agenteval mutate --help")
    if html:
        prepare({"html": html})
    project = open_project(paths or ())
    names = tuple(name.strip() for name in operators.split(",") if name.strip())
    with redirect_stdout(sys.stderr):  # a plugin may print
        chosen = chosen_operators(names, project.registry)
    console = Console(
        sys.stderr if json_output else sys.stdout,
        verbosity=verbose - quiet,
        color=color or project.config.color,
    )
    if list_operators:
        return _listed(console, chosen)
    selection = Selection(expression, tags or (), exclude_tags or ())
    collection = collect(paths or [], project)
    selected = tests = [test for test in collection.tests if selection.wants(test)]
    collection.problems += selection.unknown_tags()
    for problem in collection.problems:
        console.problem(problem)
    if since:
        changed = _changed_since(since, project.root)
        tests = [test for test in tests if _touches(test, changed)]
    settings = MutationSettings(
        root=project.root,
        limits=project.config.limits,
        plugins=tuple(project.config.plugins),
        operators=names,
        seed=seed,
        most=most,
        redaction=project.rules,
        allow_outside=allow_outside,
    )
    results = []
    with redirect_stdout(sys.stderr):
        for each in mutate_tests(tests, settings, processors() if workers == AUTO else int(workers)):
            results.append(each)
            tell_test(console, each)
    total = report(seed, results)
    tell_summary(console, total)
    if json_output:
        write_json(sys.stdout, plain(total))
    if html:
        from agenteval.reporters.html import render_mutants

        write_report(html, render_mutants(total, Redactor((), project.rules)))
    if collection.errors:
        return _ended(console, ExitCode.INVALID, "a test file is invalid")
    if collection.tests and not selected:
        every = counted(len(collection.tests), "test")
        return _ended(console, ExitCode.INVALID, f"the selection leaves none of {every}")
    if since and selected and not tests:
        return _ended(console, ExitCode.PASSED, f"no test changed since {since}")
    return _ended(console, *_verdict(results, total.score, picked=bool(names), least=min_score))


def _verdict(
    results: "Sequence[TestMutation]", score: float | None, *, picked: bool, least: float | None
) -> tuple[ExitCode, str]:
    """What the mutants come to. Operators that were `picked` need not fit every test; without any, each one should."""
    from agenteval.mutation.engine import NOTHING_TO_CHANGE

    without = [each for each in results if not each.mutants]
    red = [each for each in without if each.reason != NOTHING_TO_CHANGE]
    unmutated = red if picked else without
    if unmutated and (red or score is not None):
        every = counted(len(results), "test")
        return ExitCode.FAILED, f"{len(unmutated)} of {every} could not be mutated"
    if score is None:
        return ExitCode.INVALID, "there was nothing to mutate"
    if least is not None and score < least:
        return ExitCode.FAILED, f"the score {score} is below {least:g}"
    return ExitCode.PASSED, "every mutant was judged"


def _ended(console: "Console", code: ExitCode, why: str) -> ExitCode:
    console.emit((f"exit {int(code)}: {why}", "green" if code == ExitCode.PASSED else "red"))
    console.flush()
    return code


def _listed(console: "Console", operators: "Sequence[type[Operator]]") -> ExitCode:
    """The operators, each with what it changes and what it stands for."""
    for each in operators:
        console.emit((each.name, "bold"), f"  {each.category}")
        console.paragraph(" ".join((each.__doc__ or "").split()), indent=2)
        console.paragraph(f"stands for: {each.stands_for}", indent=2, style="dim")
    console.flush()
    return ExitCode.PASSED


def _changed_since(revision: str, root: Path) -> set[Path]:
    """The files that differ from a revision, and those that git does not know, as absolute paths.

    Raises `UsageError` (`usage.git`).
    """
    if revision.startswith("-"):  # git would take it for an option, of which some write files
        raise UsageError(
            f"--since {revision}: no revision begins with a dash",
            reason_code="usage.git",
            next_step=NAME_A_REVISION,
        )
    folder = Path(os.fsdecode(_git(["rev-parse", "--show-toplevel"], root, revision)).rstrip("\n"))
    asked = (
        ["diff", "--name-only", "--no-renames", "-z", revision, "--"],
        ["ls-files", "--others", "--exclude-standard", "-z"],
    )
    names = [name for arguments in asked for name in _git(arguments, folder, revision).split(b"\0") if name]
    return {folder / os.fsdecode(name) for name in names}


NAME_A_REVISION = "name a commit, a branch or a tag of the project's repository"


def _git(arguments: list[str], folder: Path, revision: str) -> bytes:
    import subprocess

    try:
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True).stdout  # noqa: S603, S607
    except FileNotFoundError as error:
        raise UsageError("--since needs git, which is not installed", reason_code="usage.git") from error
    except subprocess.CalledProcessError as error:
        said = os.fsdecode(error.stderr).strip().split("\n")[0]
        raise UsageError(
            f"--since {revision}: git says: {said}",
            reason_code="usage.git",
            next_step=NAME_A_REVISION,
        ) from error


def _touches(test: "LoadedTest", changed: set[Path]) -> bool:
    """Whether a changed file is the test, is in its folder, or is or is in what it names."""
    from agenteval.cli.watching import named_in

    folder = test.path.parent
    named = [test.path, folder, *(folder / text for text in named_in(test.case))]
    places = {each.resolve() for each in named}
    return any(not places.isdisjoint((each, *each.parents)) for each in changed)
