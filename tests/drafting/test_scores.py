"""What drafts notice, and what they let pass: every real recording is drafted, mutated, and changed in harmless ways."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agenteval.cli import main
from agenteval.contracts.adapters import find_adapter
from agenteval.contracts.trace import Event, Trace
from agenteval.judging.runner import RunOptions, run_test
from agenteval.loading.testfile import load_test
from agenteval.mutation.engine import failing_ids
from agenteval.operators.calls import with_args
from agenteval.operators.traces import before_output, inserted, rebuilt, with_output
from agenteval.plugins.registry import BUILT_IN
from nanoclaw.recordings import NAMES, context_of, unpack
from pages import DOCS, text_of

SCORES = {
    "v1-current-news": (1, 21, 0, 0),
    "v1-memory": (2, 42, 4, 0),
    "v1-scheduled-task": (1, 25, 2, 0),
    "v2-api-retry": (2, 29, 5, 0),
    "v2-clarify": (1, 12, 2, 0),
    "v2-compact-manual": (4, 48, 8, 0),
    "v2-cross-group-leak": (1, 26, 1, 0),
    "v2-current-news": (1, 35, 1, 1),
    "v2-digest-graceful-failure": (1, 16, 8, 2),
    "v2-digest-timeout-retry": (1, 25, 6, 3),
    "v2-killed-mid-tool": (1, 4, 6, 0),
    "v2-memory-read": (1, 27, 0, 0),
    "v2-memory-write": (2, 75, 7, 1),
    "v2-outbound-tools": (1, 52, 18, 5),
    "v2-parallel-tools": (1, 39, 8, 3),
    "v2-scheduled-task": (2, 48, 6, 0),
    "v2-subagent": (1, 25, 5, 1),
}
"""Of each recording: runs, mutants that its drafts kill, that survive, and that are equivalent."""


@pytest.fixture(scope="module", params=NAMES)
def recording(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a recording. In the current directory, `evals` has the tests that were drafted of all its runs."""
    name: str = request.param
    folder = tmp_path_factory.mktemp(name)
    (folder / "agenteval.yaml").write_text("color: never\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        root = unpack(name, folder)
        runs = find_adapter("nanoclaw").recorder.inspect(root, context_of(root)).runs  # type: ignore[attr-defined]
        turns = [option for run in runs for option in ("--turn", str(run.number))]
        assert main(["record", name, *turns, "--out", "evals"]) == 0
        yield name


def drafts() -> list[Path]:
    """The test files."""
    return sorted(Path("evals").resolve().rglob("test.yaml"))


def test_the_scores_of_drafts(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs, mutants that were killed, that survived, and that are none."""
    assert main(["mutate", "evals", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    counts = [len(drafts()), *(report[each] for each in ("killed", "survived", "equivalent"))]
    assert tuple(counts) == SCORES[recording]


def test_the_score_of_all_drafts() -> None:
    """Four of five mutants are killed, and the page adds them up right."""
    assert sorted(SCORES) == NAMES
    runs, killed, survived, equivalent = map(sum, zip(*SCORES.values(), strict=True))
    score = killed / (killed + survived)
    page = " ".join(text_of(DOCS / "mutation.md").split())
    assert f"The {runs} runs of seventeen real recordings" in page
    told = f"{killed} mutants were killed, {survived} survived, {equivalent} were equivalent: {int(score * 100)} %"
    assert told in page
    for name, counts in SCORES.items():
        assert f"| {name} | {' | '.join(map(str, counts))} |" in page
    assert score >= 0.8


OTHER_WORDS = {
    "• Lab A shipped model X (https://news.example.com/a)\n"
    "• Chip maker B posted a record quarter (https://news.example.com/b)": (
        "- Model X was shipped by Lab A: https://news.example.com/a\n"
        "- A record quarter for chip maker B: https://news.example.com/b"
    ),
    "• Lab A released model X with a 2M-token context window (https://news.example.com/a)\n"
    "• Chip maker B's revenue rose 41% to $58bn (https://news.example.com/b)\n"
    "• Both stories broke in the last 24 hours": (
        "- Model X, released by Lab A, has a context window of 2M tokens (https://news.example.com/a)\n"
        "- The revenue of chip maker B went up by 41% to $58bn (https://news.example.com/b)\n"
        "- The two stories are from the last 24 hours"
    ),
    "AI digest\n"
    "• Lab A shipped model X (https://news.example.com/a)\n"
    "• Chip maker B record quarter (https://news.example.com/b)": (
        "Today's AI digest:\n"
        "• Model X has been shipped by Lab A (https://news.example.com/a)\n"
        "• Record quarter for chip maker B (https://news.example.com/b)"
    ),
    "AI digest\n• Lab A shipped model X (https://news.example.com/a)": (
        "Your AI digest:\n• Model X was shipped by Lab A (https://news.example.com/a)"
    ),
    "• 9:00 stand-up\n• 11:30 dentist\n• 18:00 call with Leo": (
        "• Stand-up at 9:00\n• Dentist at 11:30\n• A call with Leo at 18:00"
    ),
    "I couldn't build today's digest: the search service timed out twice. I'll try again tomorrow at 9:00.": (
        "No digest today, sorry: the search timed out both times. Next attempt tomorrow at 9:00."
    ),
    "They're planning a surprise party for you on Saturday 7pm at Luigi's.": (
        "On Saturday at 7pm there is a surprise party for you at Luigi's."
    ),
    "Got it — 5 bullets from now on.": "Done. Your briefs will have 5 bullets.",
    "Noted: 5 bullets.": "Understood, I'll use 5 bullets from now on.",
    "Five.": "You like 5 bullets, Dana.",
    "Recovered: hi": "I'm back. The command printed: hi",
    "Any time.": "You're welcome, Dana!",
    "What would you like me to book, and for when?": "Happy to. What should I book, and when should it be?",
    "one": "This is one.",
    "after compact": "I am here after the compaction.",
    "after compact 2": "Here I am after compact 2.",
    "Report sent.": "The report is on its way to you.",
    "All three checked.": "I have checked all three things.",
    "Scheduled: weekdays at 9:00.": "You'll get the digest every weekday at 9:00.",
    "Your notes contain alpha and beta.": "In your notes there are two lines, alpha and beta.",
    "": "",
}
"""Every answer of the recordings, and another one that says the same in as many lines."""


def harmless(trace: Trace) -> Iterator[tuple[str, Trace]]:
    """The trace, changed as the next run of an agent that does its work may differ."""
    other = OTHER_WORDS[trace.output]
    sent = [call for event in trace.of_type("final_output") for call in event.data.get("sent_by") or ()]
    for call in trace.calls():
        if call.call_id in sent:
            yield "the message in other words", with_args(trace, call, {**call.args, "text": other})
        if "query" in call.args:
            query = "latest news about AI, today"
            yield "the query in other words", with_args(trace, call, {**call.args, "query": query})
    if other and not sent:
        yield "the answer in other words", with_output(trace, other)
    first = next((call for call in trace.calls() if call.succeeded and call.tool != "outbound_send"), None)
    if first:
        key = next(iter(first.args), "query")
        link = {"tool": first.tool, "call_id": "one-more"}
        look = replace(
            first.event, event_id="more", data={**link, "args": {**first.args, key: "something else"}}
        )
        found: Event = replace(
            first.results[-1],
            event_id="more-found",
            parent_event_id="more",
            data={**link, "success": True, "result": "nothing"},
        )
        earlier = [event for event in trace.events if event.seq < first.event.seq]
        yield "one more look at first", rebuilt(trace, inserted(trace.events, earlier[-1], [look, found]))
        if "outbound_send" not in trace.tool_counts():
            at_last = inserted(trace.events, before_output(trace), [look, found])
            yield "one more look at last", rebuilt(trace, at_last)


@pytest.mark.usefixtures("recording")
def test_what_is_harmless_breaks_no_draft() -> None:
    """Other words for the same, and one look more than was needed."""
    for path in drafts():
        test = load_test(path, registry=BUILT_IN)
        trace = run_test(test, RunOptions(run_id="run-1", root=Path.cwd(), registry=BUILT_IN)).trace
        assert trace
        critical = [bound for bound in test.checks if bound.spec.severity == "critical"]
        broken = {
            what: found
            for what, changed in harmless(trace)
            if (found := failing_ids(critical, changed, test.case))
        }
        assert broken == {}
