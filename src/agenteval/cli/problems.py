"""Problems of files on stderr, and as JSON; and the remarks of adapters as problems."""

import sys
from collections.abc import Iterable
from pathlib import Path

from agenteval.errors import Problem


def remarks_of(warnings: Iterable[str], path: Path) -> list[Problem]:
    """The warnings of an adapter about a file, as problems."""
    return [
        Problem(reason_code="adapter.remark", message=warning, path=path, severity="warning")
        for warning in warnings
    ]


def tell(problems: Iterable[Problem]) -> None:
    """Print problems on stderr: stdout is for what the command was asked for."""
    from agenteval.reporters.console import Console

    console = Console(sys.stderr)
    for problem in problems:
        console.problem(problem)
    console.flush()


def problem_as_json(problem: Problem) -> dict[str, object]:
    """A problem as plain data."""
    return {
        "path": str(problem.path) if problem.path else None,
        "line": problem.line,
        "column": problem.column,
        "pointer": problem.pointer,
        "severity": problem.severity,
        "reason_code": problem.reason_code,
        "message": problem.message,
        "hint": problem.hint,
        "allowed": list(problem.allowed),
        "next_step": problem.next_step,
    }
