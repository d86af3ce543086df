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
FEWEST_PARTS = 3
"""Of an id: with fewer, it cannot tell the adapter, what is tested and what is expected."""
_FORBIDS_PHRASES = "output_omits"
_CONTAINS_ARGS = ("trajectory_matches", "args")
"""The type and its parameter that compare arguments as `args_contains` does, without saying so."""
_VALUES = frozenset({"const", "enum", "default", "examples"})
"""Keywords of a JSON Schema that hold values, not schemas."""
_SIGNS = re.compile(r"\\[bdsw](?![a-z])|\.[*+]")
"""Signs of regular expressions that phrases hardly ever have: `\\b`, `\\d+`, `.*`; not `C:\\docs`."""


def remarks(case: TestCase) -> Iterator[Fault]:
    """What to warn of.

    `spec.id_convention`, `spec.policy_not_judged`, `spec.phrase_like_pattern`, `spec.empty_text`, `spec.format_not_judged`,
    `spec.parameter_not_judged`.
    """
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
    yield from _not_judged(case)
    yield from _idle_parameters(case)


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


def _not_judged(case: TestCase) -> Iterator[Fault]:
    """Texts that require less than they seem to: an empty one, which every text contains, and `format` in a JSON Schema."""
    for index, spec in enumerate(case.assertions):
        for path, text in _texts(spec.params):
            at: DataPath = ("assertions", index, "params", *path)
            if not text and (
                path[-2:-1] == ("args_contains",)
                or path[-3:-1] == ("result", "contains")
                or (spec.type, *path[-2:-1]) == _CONTAINS_ARGS
            ):
                yield Fault(
                    code="spec.empty_text",
                    message=f"every text contains '', so {path[-1]} may be any text",
                    data_path=at,
                    next_step=f"say what it has to contain; {'' if 'result' in path else 'args_'}equal requires an empty "
                    "text, required_keys any value",
                )
            if path[-1] == "format" and "json_schema" in path and _VALUES.isdisjoint(path):
                yield Fault(
                    code="spec.format_not_judged",
                    message=f"format only describes in a JSON Schema: a value of another form than {text!r} passes",
                    data_path=at,
                    next_step="use pattern to require a form",
                )


def _idle_parameters(case: TestCase) -> Iterator[Fault]:
    """Parameters that another one keeps from being judged, though both are allowed."""
    for index, spec in enumerate(case.assertions):
        kind, idle, name, value = _IDLE.get(spec.type, ("", "", "", None))
        if kind and idle in spec.params and spec.params.get(name) == value:
            yield Fault(
                code="spec.parameter_not_judged",
                message=f"{idle} is not judged: {kind} leaves it out",
                data_path=("assertions", index, "params", idle),
                next_step=f"leave out either {idle} or {kind}",
            )


_IDLE: dict[str, tuple[str, str, str, Any]] = {
    "memory_recall_same_group": ("evidence: event", "output", "evidence", "event"),
    "graceful_failure_output": (
        "must_not_claim_success: false",
        "forbidden_success_phrases",
        "must_not_claim_success",
        False,
    ),
}
"""What leaves a parameter of a type out, that parameter, and the name and the value of what does."""


def _texts(data: Any, path: DataPath = ()) -> list[tuple[DataPath, str]]:
    """Every text, with the path to it."""
    kind = type(data)
    if kind is str:
        return [(path, data)]
    found: list[tuple[DataPath, str]] = []
    if kind is dict or kind is list:
        for key, item in data.items() if kind is dict else enumerate(data):
            found += _texts(item, (*path, key))
    return found


def _unconventional(case: TestCase) -> tuple[str, str] | None:
    """Why the id is not `<adapter>.<area>.<behavior>.<expectation>` (SPEC 19), and one that is, to advise; None when it is.

    An area and a behavior may be told in more parts or in fewer, as in the ids of the SPEC's own examples.
    """
    parts = case.id.split(".")
    plain = all(part.isascii() and part.replace("-", "").replace("_", "").isalnum() for part in parts)
    if not plain or len(parts) < FEWEST_PARTS:
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
