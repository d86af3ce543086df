"""TAP: a line per test, of which no text can make another."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from run_builders import judged, make_result
from stored_runs import FAILED, mixed, rendered, store

KNOWN = "TODO"
"""TAP's word for a failure that is expected."""
POINT = re.compile(r"(not )?ok (\d+) - (.*)")


def points(text: str) -> list[str]:
    """The lines about tests, once version, plan, numbers and blocks are found to be in order."""
    version, plan, *lines = text.removesuffix("\n").split("\n")
    assert version == "TAP version 14"
    found = [line for line in lines if not line.startswith("  ")]
    assert plan == f"1..{len(found)}"
    matches = [POINT.fullmatch(line) for line in found]
    assert [match and match[2] for match in matches] == [str(number) for number in range(1, len(found) + 1)]
    for block in re.findall(r"^  ---\n(.*?)^  \.\.\.$", text, re.MULTILINE | re.DOTALL):
        assert isinstance(yaml.safe_load(block), dict)
    return found


def test_each_kind_has_its_line(tmp_path: Path) -> None:
    """An expected failure is marked as known, a skip as skipped, a broken file is not ok."""
    assert points(rendered("tap", mixed(tmp_path))) == [
        "ok 1 - nanoclaw.t.passes",
        "not ok 2 - nanoclaw.t.fails",
        "ok 3 - nanoclaw.t.warns",
        "ok 4 - nanoclaw.t.skipped # SKIP live: skipped: it needs supports_live_run",
        f"not ok 5 - nanoclaw.t.xfails # {KNOWN} a known bug",
        "not ok 6 - suite/broken/test.yaml",
    ]


def test_a_failure_has_its_evidence_below(tmp_path: Path) -> None:
    """A block of YAML: message, file and line, and all of the evidence."""
    text = rendered("tap", store(tmp_path, FAILED))
    block = yaml.safe_load(text.partition("  ---\n")[2].partition("  ...\n")[0])
    assert block == {
        "message": "searches: expected at least 1 call of web_search, got 0; the trace calls web_fetch×1",
        "severity": "fail",
        "reason_code": "reason.fail",
        "file": "suite/case/test.yaml",
        "line": 24,
        "column": 5,
        "evidence": (
            "suite/case/test.yaml:24:5: searches (must_call_tool) failed\n"
            "  expected at least 1 call of web_search, got 0; the trace calls web_fetch×1\n"
            "  why it is checked: news are looked up\n"
            "  evt-2 web_fetch {}\n"
            "    tool: expected web_search\n"
            "next: do something about the fail\n"
        ),
    }


def test_a_directive_in_a_name_is_none(tmp_path: Path) -> None:
    """A number sign in an id does not excuse the test."""
    run = store(tmp_path, make_result("fail", judged("fail"), test_case_id=f"a # {KNOWN} \\ b"))
    assert points(rendered("tap", run)) == [f"not ok 1 - a \\# {KNOWN} \\\\ b"]


@given(text=st.text(min_size=1, max_size=60))
def test_no_text_makes_a_line(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever is said, there is one line for the test, and its block is YAML."""
    failed = make_result("fail", judged("fail", "odd", message=text), title=text)
    xfailed = make_result("pass", judged("fail", xfail=True), xfail=True, xfail_reason=text, test_case_id="b")
    assert len(points(rendered("tap", store(tmp_path_factory.mktemp("run"), failed, xfailed)))) == 2
