"""What a drafted test, its folder and its files are called."""

import re
import unicodedata
from collections.abc import Iterator

from agenteval.discovery import is_entered
from agenteval.recordings import RecordedRun
from agenteval.trace import Trace

MOST_WORDS = 5
LONGEST = 48
FIXTURE = "fx."
_AREAS = (
    ("memory", ("memory_write", "memory_read")),
    ("recovery", ("error",)),
    ("tools", ("tool_call",)),
)


def slug(text: str) -> str:
    """A text as a name in lower case: letters, digits and dashes; empty when nothing of it is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain.replace("'", ""))
    kept = "-".join(words[:MOST_WORDS])
    return kept if len(kept) <= LONGEST else kept[:LONGEST].rpartition("-")[0] or kept[:LONGEST]


def test_name(run: RecordedRun, first_words: str) -> str:
    """The name of a run's test: its first words, cleaned by the caller, else its number.

    No search for tests would find one in a folder called `artifacts`.
    """
    name = slug(re.sub(r"\[[^\]]*\]", " ", first_words))
    return name if name and is_entered(name) else f"run-{run.number}"


def test_id(adapter: str, trace: Trace, name: str) -> str:
    """`<adapter>.<area>.<behavior>.<expectation>` (SPEC 19)."""
    return f"{slug(adapter) or 'adapter'}.{_area(trace)}.{name}.as-recorded"


def distinct_ids(test_id: str, run: RecordedRun) -> Iterator[str]:
    """The id, and what it becomes where other tests have it: with the time of the run, then with its number too."""
    before, _, after = test_id.rpartition(".")
    time = "-".join(re.findall(r"\d+", run.started_at)[:6])
    yield test_id
    yield f"{before}-{time}.{after}"
    yield f"{before}-{time}-{run.number}.{after}"


def id_in(text: str) -> str:
    """The id that a test file gives, as far as its lines tell; empty when they do not."""
    found = re.search(r"""^id:[ \t]*["']?([\w.-]+)""", text, re.MULTILINE)
    return found[1] if found else ""


def _area(trace: Trace) -> str:
    if trace.scenario.trigger == "scheduler":
        return "scheduler"
    if any(tool in ("web_search", "web_fetch") for tool in trace.tool_counts()):
        return "web"
    happened = set(trace.event_types())
    return next((area for area, types in _AREAS if happened.intersection(types)), "chat")


def fixture_file(fixture_id: str, taken: set[str]) -> str:
    """The file of a fixture, `fx.<tool>.<what>.json`; no name is given twice, whatever the case."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", fixture_id).strip(".-") or "fixture"
    stem = stem if stem.startswith(FIXTURE) else FIXTURE + stem
    name, number = f"{stem[:80]}.json", 1
    while name.lower() in taken:
        number += 1
        name = f"{stem[:80]}.{number}.json"
    taken.add(name.lower())
    return name
