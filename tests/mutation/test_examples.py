"""The shipped examples under mutation testing: what survives is known, and told on the page."""

import json
import re
from typing import Any

import pytest

from agenteval.cli import main
from pages import DOCS, text_of
from runs import EXAMPLES

ROW = re.compile(r"^\| `([a-z-]+)` \| ((?:`[a-z-]+`(?:, )?)+) \| \S.* \|$", re.MULTILINE)


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Every mutant of every example."""
    assert main(["mutate", str(EXAMPLES), "--max", "0", "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def test_the_examples_notice_what_is_changed(report: dict[str, Any]) -> None:
    """At least nine mutants of ten are killed, every test is mutated, no assertion is idle, and what survives is told."""
    assert report["score"] >= 0.9
    assert report["idle_assertions"] == []
    assert [test["path"] for test in report["tests"] if test["reason"]] == []
    survivors = {
        (mutant["operator"], test["path"].split("/")[-2])
        for test in report["tests"]
        for mutant in test["mutants"]
        if mutant["status"] == "survived"
    }
    told = {
        (row[1], name)
        for row in ROW.finditer(text_of(DOCS / "mutation.md"))
        for name in re.findall(r"`([a-z-]+)`", row[2])
    }
    assert survivors == told
