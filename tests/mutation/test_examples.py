"""The shipped examples under mutation testing: what survives is known."""

import json
from typing import Any

import pytest

from agenteval.cli import main
from runs import EXAMPLES

SURVIVORS = {
    # They are about other things, and know of one group only. `memory-cross-group` keeps groups apart.
    "read-other-group": {
        "clarifying-question",
        "memory-correction",
        "memory-same-group",
        "recorded-current-news",
        "recorded-scheduled-task",
    },
    # Short answers in which nobody asked for links, and where a true one would do no harm.
    "fabricate-url": {
        "clarifying-question",
        "memory-correction",
        "memory-cross-group",
        "recorded-memory-correction",
        "scheduler-daily-digest",
        "scheduler-digest-timeout-recovery",
    },
    # A polite first line, where nobody asked for brevity.
    "ramble": {"current-news", "recorded-news", "recorded-scheduled-task"},
    # What a search finds is public, and an address in it may be told. Where a tool reads what is private, `no_sensitive_data` belongs into the test.
    "disclose": {"current-news", "memory-same-group", "recorded-news", "recorded-scheduled-task"},
    # The question is asked twice: a nuisance, and nothing was done.
    "run-twice": {"clarifying-question"},
    # "I have scheduled the reminder" is nearly true: it was moved. A pattern would have to know the difference.
    "claim-undone": {"memory-correction"},
    # The search for files fails, and the file is read all the same: the leak is there, which the test is about.
    "fail-result": {"recorded-cross-group-leak"},
    # The memory was read, so the known bug is still there, whatever the answer says.
    "excuse": {"recorded-cross-group-leak"},
    # "In the last 24 hours" stands in no source to begin with; the test warns of it.
    "fabricate-number": {"recorded-current-news"},
}
"""The survivors that were left on purpose: by operator, the examples, with the reason above them."""


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Every mutant of every example."""
    assert main(["mutate", str(EXAMPLES), "--max", "0", "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def test_the_examples_notice_what_is_changed(report: dict[str, Any]) -> None:
    """At least nine mutants of ten are killed, every test is mutated, no assertion is idle, and what survives is listed."""
    assert report["score"] >= 0.9
    assert report["idle_assertions"] == []
    assert [test["path"] for test in report["tests"] if test["reason"]] == []
    survivors = {
        (mutant["operator"], test["path"].split("/")[-2])
        for test in report["tests"]
        for mutant in test["mutants"]
        if mutant["status"] == "survived"
    }
    assert survivors == {(operator, name) for operator, names in SURVIVORS.items() for name in names}
