"""What is valid in a test file and worth a warning all the same."""

import re
from collections.abc import Iterator
from typing import Any

from agenteval.findings import DataPath
from agenteval.patterns import shown
from agenteval.reading.faults import Fault
from agenteval.spec import TestCase, ToolPolicy

JUDGES_POLICY = "tools_within_policy"
"""The type of assertion that judges `tools.policy`."""
_FORBIDS_PHRASES = "output_omits"
_CONTAINS_ARGS = ("trajectory_matches", "args")
"""The type and its parameter that compare arguments as `args_contains` does, without saying so."""
_SIGNS = re.compile(r"\\[bdsw](?![a-z])|\.[*+]")
"""Signs of regular expressions that phrases hardly ever have: `\\b`, `\\d+`, `.*`; not `C:\\docs`."""


def remarks(case: TestCase) -> Iterator[Fault]:
    """What to warn of: `spec.id_convention`, `spec.policy_not_judged`, `spec.phrase_like_pattern`, `spec.empty_text`."""
    if unconventional := _unconventional(case):
        message, example = unconventional
        yield Fault(
            code="spec.id_convention",
            message=f"the id {case.id!r} {message}",
            data_path=("id",),
            next_step=f"for instance {example}",
        )
    if case.tools.policy not in (None, ToolPolicy()) and all(
        spec.type != JUDGES_POLICY for spec in case.assertions
    ):
        yield Fault(
            code="spec.policy_not_judged",
            message="no assertion of the test checks tools.policy: breaking it would fail nothing",
            data_path=("tools", "policy"),
            next_step=f"add an assertion of the type {JUDGES_POLICY}",
        )
    yield from _phrases_like_patterns(case)
    yield from _empty_texts(case)


def _phrases_like_patterns(case: TestCase) -> Iterator[Fault]:
    """Forbidden phrases that look like regular expressions, and so would never be found."""
    for index, spec in enumerate(case.assertions):
        if spec.type != _FORBIDS_PHRASES or spec.params.get("regex"):
            continue
        for number, phrase in enumerate(spec.params["patterns"]):
            if _SIGNS.search(phrase):
                yield Fault(
                    code="spec.phrase_like_pattern",
                    message=f"{shown(phrase)} looks like a regular expression, but is matched literally",
                    data_path=("assertions", index, "params", "patterns", number),
                    next_step="set `regex: true` next to patterns",
                )


def _empty_texts(case: TestCase) -> Iterator[Fault]:
    """Empty texts that an argument has to contain: every text does."""
    for index, spec in enumerate(case.assertions):
        for path in _empty(spec.params):
            if path[-2] == "args_contains" or (spec.type, path[-2]) == _CONTAINS_ARGS:
                yield Fault(
                    code="spec.empty_text",
                    message=f"every text contains '', so {path[-1]} may be any text",
                    data_path=("assertions", index, "params", *path),
                    next_step="say what it has to contain; args_equal requires an empty text, required_keys any value",
                )


def _empty(data: Any, path: DataPath = ()) -> Iterator[DataPath]:
    """The paths of the empty texts in mappings, and in lists of such."""
    if data == "" and len(path) > 1:
        yield path
    elif isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _empty(item, (*path, key))


def _unconventional(case: TestCase) -> tuple[str, str] | None:
    """Why the id is not `<adapter>.<area>.<behavior>.<expectation>` (SPEC 19), and one that is, to advise; None when it is."""
    parts = case.id.split(".")
    plain = all(part.isascii() and part.replace("-", "").replace("_", "").isalnum() for part in parts)
    if not plain or len(parts) != 4:
        message = "is not of the form <adapter>.<area>.<behavior>.<expectation>"
        return message, f"{case.adapter}.memory.same-group-recall.brief-bullets"
    first, *rest = parts
    if first != case.adapter:
        example = ".".join([case.adapter, *rest])
        return (
            f"begins with {first!r}, but the adapter is {case.adapter!r}",
            f"{example}, if the adapter is right",
        )
    return None
