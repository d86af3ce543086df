"""`agenteval mutate PATH...`: changes recordings on purpose, to see which assertions notice."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agenteval.cli.options import (
    FROM_CONFIGURATION,
    AllowOutsideOption,
    ClusterOption,
    ClusterWaitOption,
    ColorOption,
    ExcludeTagOption,
    ExpressionOption,
    PathsArgument,
    QuietOption,
    Request,
    SharedRootOption,
    TagOption,
    WorkersOption,
    a_number,
    cluster_of,
    from_options,
    option,
    reject_combination,
)
from agenteval.contracts.errors import ExitCode
from agenteval.operators.base import MOST_MUTANTS
from agenteval.running.reports import prepare, write_report
from agenteval.running.session import AUTO, processors
from agenteval.text.fitting import counted

if TYPE_CHECKING:
    from agenteval.loading.project import OpenProject
    from agenteval.loading.testfile import LoadedTest
    from agenteval.mutation.results import MutationReport, TestMutation
    from agenteval.operators.base import Operator
    from agenteval.reporters.console import Console


class MutateRequest(Request):
    """The options of `agenteval mutate`, in the order of the help."""

    paths: PathsArgument = FROM_CONFIGURATION
    expression: ExpressionOption = ""
    tags: TagOption = None
    exclude_tags: ExcludeTagOption = None
    operators: Annotated[
        str, option("--operators NAMES", "Only these operators or categories, comma-separated.")
    ] = ""
    most: Annotated[int, option("--max N", "At most N mutants per test; 0 for all.", min=0)] = MOST_MUTANTS
    seed: Annotated[int, option("--seed N", "Seed for random choices.")] = 0
    workers: WorkersOption = AUTO
    cluster: ClusterOption = ""
    shared_root: SharedRootOption = None
    cluster_wait: ClusterWaitOption = None
    min_score: Annotated[
        float | None,
        option("--min-score X", "Exit 1 if the score is below X.", min=0, max=1, callback=a_number),
    ] = None
    json_output: Annotated[
        bool, option("--json", "Print the report as JSON; everything else goes to stderr.")
    ] = False
    html: Annotated[Path | None, option("--html FILE", "Write the report as one HTML file.")] = None
    list_operators: Annotated[bool, option("--list-operators", "List what can be changed, and stop.")] = False
    allow_outside: AllowOutsideOption = False
    quiet: QuietOption = False
    verbose: Annotated[bool, option("-v, --verbose", "Show every mutant of every test.")] = False
    color: ColorOption = None

    @property
    def names(self) -> tuple[str, ...]:
        """The chosen operators and categories; empty for all."""
        return tuple(name.strip() for name in self.operators.split(",") if name.strip())


@from_options(MutateRequest)
def command(asked: MutateRequest) -> ExitCode:
    """Change recorded runs, one realistic regression at a time, and see which assertions notice.

    Exit codes: 0 every mutant was judged, 1 the score is below --min-score or a test fails as recorded, 2 an error, 3 an invalid file or nothing to mutate.
    """
    from agenteval.loading.discovery import Selection
    from agenteval.loading.project import open_project
    from agenteval.mutation.results import report
    from agenteval.operators.catalogue import chosen_operators
    from agenteval.reporters.console import Console
    from agenteval.running.collection import collect

    if asked.list_operators:
        reject_combination("--list-operators", {"--json": asked.json_output, "--html": asked.html})
    if asked.html:
        prepare({"html": asked.html})
    project = open_project(asked.paths)
    with redirect_stdout(sys.stderr):  # a plugin may print
        chosen = chosen_operators(asked.names, project.registry.operators())
    stream = sys.stderr if asked.json_output else sys.stdout
    color = asked.color or project.config.color
    console = Console(stream, verbosity=asked.verbose - asked.quiet, color=color)
    if asked.list_operators:
        return _listed(console, chosen)
    selection = Selection(asked.expression, asked.tags or (), asked.exclude_tags or ())
    asked.paths = project.paths(asked.paths, "mutate")
    collection = collect(asked.paths, project)
    tests = [test for test in collection.tests if selection.wants(test)]
    collection.problems += selection.unknown_tags()
    for problem in collection.problems:
        console.problem(problem)
    results = _mutated(tests, asked, project, console)
    total = report(asked.seed, results)
    _print_report(total, asked, project, console)
    if collection.errors:
        invalid = bool(collection.invalid)
        code, why = (
            ExitCode.INVALID,
            "a test file is invalid" if invalid else "not every path has a test file",
        )
    elif collection.tests and not tests:
        every = counted(len(collection.tests), "test")
        code, why = ExitCode.INVALID, f"the selection leaves none of {every}"
    else:
        code, why = _judged(results, total.score, picked=bool(asked.names), least=asked.min_score)
    console.ending(code, why)
    console.flush()
    return code


def _mutated(
    tests: "Sequence[LoadedTest]", asked: MutateRequest, project: "OpenProject", console: "Console"
) -> "list[TestMutation]":
    """Mutate each test, print its results as they are known, and return them."""
    from agenteval.mutation.engine import MutationSettings, Mutator, parts_of
    from agenteval.reporters.mutation import print_mutants_of
    from agenteval.running.workers import MutationJob, Workers, answer_in, forks

    settings = MutationSettings(
        root=project.root,
        limits=project.config.limits,
        plugins=tuple(project.config.plugins),
        operators=asked.names,
        seed=asked.seed,
        most=asked.most,
        redaction=project.rules,
        allow_outside=asked.allow_outside,
    )
    number = min(processors() if asked.workers == AUTO else int(asked.workers), len(tests))
    parts, results, job = parts_of(tests), [], MutationJob(settings=settings)
    outside = {"--allow-outside without --shared-root": asked.allow_outside and not asked.shared_root}
    with (
        redirect_stdout(sys.stderr),  # a plugin may print
        cluster_of(asked, project, without=outside) as cluster,
        ExitStack() as stack,
    ):
        mutator = Mutator(settings, project.registry)
        job.mutator = None if cluster else mutator
        if cluster or (number > 1 and hasattr(os, "fork")):
            workers = cluster.each(job, parts) if cluster else Workers(parts, number, forks(job))
            stack.callback(workers.stop)
            answers: Iterator[TestMutation] = (
                answer_in(job, part, content) or mutator.mutate(test)
                for test, part, content in zip(tests, parts, workers, strict=True)
            )
        else:
            answers = map(mutator.mutate, tests)
        for each in answers:
            results.append(each)
            print_mutants_of(console, each)
    return results


def _print_report(
    total: "MutationReport", asked: MutateRequest, project: "OpenProject", console: "Console"
) -> None:
    """Print the report as text and, when asked, as JSON; write it as HTML. Raises `ReportError`."""
    from agenteval.contracts.models import plain
    from agenteval.redaction.redactor import Redactor
    from agenteval.reporters.mutation import print_summary
    from agenteval.reporters.terminal import write_json

    if total.tests:
        print_summary(console, total)
    if asked.json_output:
        write_json(sys.stdout, plain(total))
    if asked.html:
        from agenteval.reporters.html import render_mutants

        write_report(asked.html, render_mutants(total, Redactor(rules=project.rules)))


def _judged(
    results: "Sequence[TestMutation]", score: float | None, *, picked: bool, least: float | None
) -> tuple[ExitCode, str]:
    """Decide the exit code and its reason. Only with `picked` operators may a test have nothing to change."""
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


def _listed(console: "Console", operators: "Sequence[type[Operator]]") -> ExitCode:
    """Print the operators, each with its change and the regression that it stands for."""
    for each in operators:
        console.emit((each.name, "bold"), f"  {each.category}")
        console.paragraph(" ".join((each.__doc__ or "").split()), indent=2)
        console.paragraph(f"stands for: {each.stands_for}", indent=2, style="dim")
    console.flush()
    return ExitCode.PASSED
