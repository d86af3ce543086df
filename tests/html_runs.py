"""Runs in a directory, made of results and traces that the test at hand chooses."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenteval.contracts.errors import Problem
from agenteval.contracts.trace import Trace
from agenteval.judging.runner import Outcome
from agenteval.judging.stored import StoredRun
from agenteval.openwop.summary import Suite
from agenteval.records.record import complete, record_of
from agenteval.records.summary import RunSettings, RunTotals, summarise
from agenteval.reporters.artifacts import RunDirectory
from builders import call, make_trace, result
from run_builders import asserted, file_away, make_test, run_one

SEARCHES = {"id": "searches", "type": "must_call_tool", "params": {"tool": "web_search"}}
FETCHES = {"id": "fetches", "type": "must_call_tool", "params": {"tool": "web_fetch"}}
FETCHES_A_PAGE = {
    "id": "fetches-a-page",
    "type": "must_call_tool",
    "params": {"tool": "web_fetch", "args": {"args_contains": {"url": "news.example"}}},
}


def stored_run(
    folder: Path,
    *outcomes: Outcome,
    run_id: str = "run-1",
    traces: bool = True,
    problems: Sequence[Problem] = (),
) -> StoredRun:
    """A run with these outcomes, written as a run is and read back."""
    directory = RunDirectory(folder, run_id)
    totals = RunTotals()
    for outcome in outcomes:
        complete(outcome)
        file_away(directory, outcome, save_trace=traces)
    if problems:
        totals.add_invalid(problems)
    directory.close({})
    made = summarise(
        [record_of(outcome.result) for outcome in outcomes],
        totals,
        RunSettings(run_id=run_id, suite=Suite(id="s")),
        started_at="2026-01-02T03:04:05.000Z",
        finished_at="2026-01-02T03:04:06.000Z",
        duration_ms=1000,
    )
    directory.finish(made.run)
    return StoredRun(directory.path)


def outcome(name: str, *assertions: dict[str, Any], trace: Trace | None = None, **case: Any) -> Outcome:
    """One test, judged; its id is `nanoclaw.html.<name>.x`. Its agent searched once, unless `trace` says otherwise."""
    test = make_test(
        *map(asserted, assertions), **{"id": f"nanoclaw.html.{name}.x", "title": f"The test {name}", **case}
    )
    return run_one(test, trace or searched())


def searched(query: str = "cats") -> Trace:
    """The agent searched once and answered."""
    return make_trace(
        call("web_search", query=query, limit=5),
        result("web_search", value={"results": [{"title": "Cats", "url": "https://cats.example/"}]}),
        output="Cats purr.",
        asked="What do cats do?",
    )


def fetched(url: str) -> Trace:
    """The agent read one page and answered."""
    return make_trace(call("web_fetch", url=url), result("web_fetch", value="A page."), output="Read.")
