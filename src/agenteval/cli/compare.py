"""`agenteval compare A B`: two stored runs, or a baseline and a run."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agenteval.cli.options import ColorOption, argument, option
from agenteval.contracts.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from agenteval.comparing.comparison import Comparison, Side


def command(
    before: Annotated[Path, argument("A", "The earlier run's directory or id, or a baseline file.")],
    after: Annotated[Path, argument("B", "The later run's directory or id, or a baseline file.")],
    as_json: Annotated[bool, option("--json", "Print the comparison as JSON.")] = False,
    color: ColorOption = None,
) -> ExitCode:
    """Show what got better or worse from one run to another, and what the agent did differently.

    Exit codes: 0 no regression, 1 at least one, 2 the two cannot be compared, or a test of B could not be judged.
    """
    from agenteval.comparing.comparison import compare, load_side
    from agenteval.judging.stored import find_run
    from agenteval.loading.project import open_project
    from agenteval.running.baselines import today

    project = open_project()
    one, other = (load_side(find_run(name, project.runs)) for name in (before, after))
    comparison = compare(one, other, today())
    if not comparison.regressions and one.tests.keys().isdisjoint(other.tests):
        raise UsageError(
            f"{one.head.label} and {other.head.label} have no test in common: there is nothing to compare",
            reason_code="baseline.nothing_in_common",
            next_step="compare runs of the same tests",
        )
    code, told = _verdict(comparison, other)
    if as_json:
        from agenteval.redaction.redactor import Redactor
        from agenteval.redaction.sealing import sealed
        from agenteval.reporters.terminal import write_encoded

        write_encoded(sys.stdout, sealed(comparison, Redactor(rules=project.rules)).decode())
        return code
    from agenteval.reporters.comparison import tell
    from agenteval.reporters.terminal import Terminal

    terminal = Terminal(sys.stdout, color=color or project.config.color)
    tell(terminal, comparison)
    terminal.ending(code, told)
    terminal.flush()
    return code


def _verdict(comparison: "Comparison", after: "Side") -> tuple[ExitCode, str]:
    """The exit code and its reason: of all that is to be said, the highest."""
    if after.broken:
        return (
            ExitCode.ERROR,
            f"not every test of {after.head.label} could be judged: it ended with {after.broken}",
        )
    if comparison.regressions:
        from agenteval.text.fitting import counted

        return ExitCode.FAILED, counted(comparison.regressions, "regression")
    return ExitCode.PASSED, "no regression"
