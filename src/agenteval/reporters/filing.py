"""The files about one test: names that are safe everywhere, and sealed contents. Writes nothing."""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from agenteval.digests import sha256
from agenteval.errors import Problem
from agenteval.evidence import MOST_ITEMS
from agenteval.redaction import Redactor
from agenteval.reporters.places import TOO_LARGE
from agenteval.reporters.sealing import LeakError, sealed, sealed_result
from agenteval.results import TestResult
from agenteval.run_files import REPLAY_ENDING, RESULT_ENDING, TRACE_ENDING
from agenteval.runner import Outcome

LONGEST_STEM = 150
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


@dataclass(slots=True, eq=False, repr=False)
class Filed:
    """The files of one test by name, and a problem for each that is left out because something sensitive would show."""

    stem: str
    files: list[tuple[str, bytes]] = field(default_factory=list)
    leaks: list[Problem] = field(default_factory=list)


def packed(outcome: Outcome, stem: str, max_bytes: int, *, save_trace: bool) -> Filed:
    """A test's result, and its trace when asked; notes their names in the result.

    `max_bytes` bounds a file: a longer trace is left out, a result is cut; both become a warning of the result.
    """
    result, redactor = outcome.result, outcome.redactor
    filed = Filed(stem)
    if save_trace and outcome.trace is not None:
        name = f"{stem}{TRACE_ENDING}"
        try:
            content = sealed(outcome.trace, redactor)
        except LeakError as leak:
            filed.leaks.append(leak.problem(name))
        else:
            if len(content) <= max_bytes:
                result.artifacts.trace = name
                filed.files.append((name, content))
            else:
                told = _too_large("trace", content, max_bytes, TOO_LARGE)
                result.warnings.append(redactor.text(told))
    if outcome.replay is not None:
        name = f"{stem}{REPLAY_ENDING}"
        try:
            filed.files.append((name, sealed(outcome.replay, redactor)))
            result.artifacts.replay = name
        except LeakError as leak:
            filed.leaks.append(leak.problem(name))
    name = result.artifacts.result = f"{stem}{RESULT_ENDING}"
    try:
        filed.files.append((name, _result(outcome, max_bytes)))
    except LeakError as leak:
        filed.leaks.append(leak.problem(name))
        result.artifacts.result = None
    return filed


def unfiled(outcome: Outcome) -> Filed:
    """No files, but the leaks that the result would have had."""
    try:
        sealed_result(outcome.result, outcome.redactor)
    except LeakError as leak:
        return Filed("", leaks=[leak.problem(f"the result of {outcome.result.test_case_id}")])
    return Filed("")


def safe_stem(test_id: str, redactor: Redactor, taken: AbstractSet[str] = frozenset()) -> str:
    """The stem of a test's files: safe on every system, and in lower case none of those taken.

    Nor would it be redacted where it is told: what it names would not be found.
    """
    stem = _UNSAFE.sub("_", test_id)[:LONGEST_STEM]
    safe = stem == test_id and not stem.startswith(".") and not _RESERVED.match(stem)
    if redactor.unseen(name := f"{stem}{RESULT_ENDING}") != name:
        safe, stem = False, ""
    if not safe:
        stem = f"test-{stem.lstrip('.')}" if _RESERVED.match(stem) else stem.lstrip(".") or "test"
    if safe and stem.lower() not in taken:
        return stem
    digest = sha256(test_id.encode(errors="surrogatepass"))
    names = (f"{stem}-{digest[:length]}" for length in range(8, len(digest) + 1, 8))
    return next(name for name in names if name.lower() not in taken)


def _result(outcome: Outcome, max_bytes: int) -> bytes:
    content = sealed_result(outcome.result, outcome.redactor)
    if len(content) <= max_bytes:
        return content
    what = "it lacks what the assertions observed, their parameters and most events of their evidence"
    outcome.result.warnings.append(outcome.redactor.text(_too_large("result", content, max_bytes, what)))
    _reduce(outcome.result)
    return sealed_result(outcome.result, outcome.redactor)


def _too_large(what: str, content: bytes, max_bytes: int, outcome: str) -> str:
    return (
        f"the {what} has {len(content):,} bytes, but limits.max_result_bytes in agenteval.yaml "
        f"is {max_bytes:,}: {outcome}"
    )


def _reduce(result: TestResult) -> None:
    """Reduce a result to how it was judged, and why."""
    for each in result.assertions:
        each.observed = {}
        each.params = {}
        del each.evidence.event_refs[MOST_ITEMS:]
    del result.evidence.event_refs[MOST_ITEMS:]
    del result.evidence.excerpts[MOST_ITEMS:]
