"""What is valid in a test file and worth a warning all the same."""

import re
from collections.abc import Iterator
from pathlib import Path

from agenteval.errors import Problem
from agenteval.findings import DataPath
from agenteval.patterns import shown
from agenteval.reading.documents import problem_at
from agenteval.reading.yamlsource import place
from agenteval.spec import TestCase

JUDGES_POLICY = "tools_within_policy"
"""The type of assertion that judges `tools.policy`."""
_FORBIDS_PHRASES = "output_omits"
_SIGNS = re.compile(r"\\[bdsw](?![a-z])|\.[*+]")
"""Signs of regular expressions that phrases hardly ever have: `\\b`, `\\d+`, `.*`; not `C:\\docs`."""


def remarks(case: TestCase, text: str, path: Path) -> Iterator[Problem]:
    """The warnings about a file: `spec.id_convention`, `spec.policy_not_judged`, `spec.phrase_like_pattern`."""
    if unconventional := _unconventional(case):
        message, example = unconventional
        yield _warning(
            ("id",),
            text,
            path,
            code="spec.id_convention",
            message=f"the id {case.id!r} {message}",
            next_step=f"for instance {example}",
        )
    if case.tools.policy and all(spec.type != JUDGES_POLICY for spec in case.assertions):
        yield _warning(
            ("tools", "policy"),
            text,
            path,
            code="spec.policy_not_judged",
            message="no assertion of the test judges tools.policy: breaking it fails nothing",
            next_step=f"add an assertion of the type {JUDGES_POLICY}",
        )
    yield from _phrases_like_patterns(case, text, path)


def _phrases_like_patterns(case: TestCase, text: str, path: Path) -> Iterator[Problem]:
    """Warnings about forbidden phrases that look like regular expressions, and so would never be found."""
    for index, spec in enumerate(case.assertions):
        if spec.type != _FORBIDS_PHRASES or spec.params.get("regex"):
            continue
        for number, phrase in enumerate(spec.params["patterns"]):
            if _SIGNS.search(phrase):
                yield _warning(
                    ("assertions", index, "params", "patterns", number),
                    text,
                    path,
                    code="spec.phrase_like_pattern",
                    message=f"{shown(phrase)} reads like a regular expression, and is looked for as it is written",
                    next_step="set `regex: true` next to patterns",
                )


def _unconventional(case: TestCase) -> tuple[str, str] | None:
    """Why the id is not `<adapter>.<area>.<behavior>.<expectation>` (SPEC 19), and one that is; None when it is."""
    parts = case.id.split(".")
    plain = all(part.isascii() and part.replace("-", "").replace("_", "").isalnum() for part in parts)
    if not plain or len(parts) != 4:
        message = "is not of the form <adapter>.<area>.<behavior>.<expectation>"
        return message, f"{case.adapter}.memory.same-group-recall.brief-bullets"
    first, *rest = parts
    if first != case.adapter:
        return f"begins with {first!r}, and the adapter is {case.adapter!r}", ".".join([case.adapter, *rest])
    return None


def _warning(at: DataPath, text: str, path: Path, *, code: str, message: str, next_step: str) -> Problem:
    problem = problem_at(
        place(text, at), code=code, message=message, path=path, data_path=at, next_step=next_step
    )
    problem.severity = "warning"
    return problem
