"""An assertion that did not pass says where it stands in its test file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenteval.judging.verdicts import locate
from agenteval.loading.testfile import LoadedTest, load_test
from projects import Project
from run_builders import judged
from runs import CASES, run_command

TEXT = """\
# A comment, and an umlaut: ä
schema_version: "0.1"
id: nanoclaw.t.placed.x
title: Placed
adapter: nanoclaw
mode: replay
scenario:
  group_id: family
  trigger: user_message
  input_messages: [{role: user, content: Hello?}]
tools:
  available: [web_search, web_fetch]
assertions:
  - id: first
    type: must_call_tool
    params: {tool: web_search}

  - type: must_call_tool   # the id comes later
    id: second
    params: {tool: web_fetch}
  - {"id": third, type: must_call_tool, severity: warning, params: {tool: web_fetch}}
adapter_input:
  replay_file: replay.json
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A test file whose second assertion fails and whose third warns."""
    path = Project(tmp_path).add("pass")
    path.write_text(TEXT, encoding="utf-8")
    return path


def places(assertions: list[dict[str, Any]]) -> dict[str, tuple[int | None, int | None]]:
    """Line and column of each assertion result."""
    return {each["id"]: (each["line"], each["column"]) for each in assertions}


def test_each_no_has_its_line_and_column(path: Path, tmp_path: Path) -> None:
    """A failure and a warning are placed where they begin in the list; a pass is not placed at all."""
    result = run_command([path], tmp_path / "out").only_result()
    assert places(result["assertions"]) == {"first": (None, None), "second": (18, 5), "third": (21, 5)}


def test_an_assertion_that_is_selected_alone_has_the_same_place(path: Path, tmp_path: Path) -> None:
    """`path::id` leaves others out, and counts them all the same."""
    result = run_command([Path(f"{path}::third")], tmp_path / "out").only_result()
    assert places(result["assertions"]) == {"third": (21, 5)}


def test_an_expected_failure_is_placed(path: Path, tmp_path: Path) -> None:
    """A no that the test expects has a place too."""
    expected = "expected: {status: fail, assertions: [second], reason: known}\n"
    path.write_text(TEXT + expected, encoding="utf-8")
    result = run_command([path], tmp_path / "out").only_result()
    assert result["xfail"]
    assert places(result["assertions"])["second"] == (18, 5)


def test_a_check_that_broke_down_is_placed(tmp_path: Path) -> None:
    """An assertion without a verdict is placed; those beside it that passed are not."""
    result = run_command([CASES / "error" / "pattern-runaway"], tmp_path).only_result()
    placed = {name for name, place in places(result["assertions"]).items() if place != (None, None)}
    assert placed == {"runs-away"}


def test_a_skip_is_not_placed(tmp_path: Path) -> None:
    """A capability that is missing is nothing to mend in the file."""
    path = Project(tmp_path).add("skip")
    assert places(run_command([path], tmp_path / "out").only_result()["assertions"]) == {
        "needs-live": (None, None)
    }


def located(test: LoadedTest) -> tuple[int | None, int | None]:
    """Where a failure of the second assertion is said to be."""
    result = judged("fail", "second")
    locate(test, [judged("pass", "first"), result])
    return result.line, result.column


def test_a_place_is_that_of_the_text_that_was_loaded(path: Path) -> None:
    """The file is not read a second time, whatever became of it."""
    test = load_test(path)
    path.unlink()
    assert located(test) == (18, 5)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("title: Placed", 'title: "Pla\u2028ced"'),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("  - type: must_call_tool ", "  - &it {type: must_call_tool, ").replace(
            "   # the id comes later\n    id: second\n    params: {tool: web_fetch}",
            "id: second,\n   params: {tool: web_fetch}}",
        ),
        lambda text: text.replace("assertions:", "assertions: &all") + "x-again: *all\n",
        lambda text: text.replace("assertions:", "x-first: [{a: b}, [{c: d}]]\nassertions:").replace(
            "# A comment, and an umlaut: ä\n", ""
        ),
        lambda text: text + "x-last: [{a: b}, [{c: d}]]\n",
    ],
    ids=[
        "CRLF",
        "a separator",
        "a byte order mark",
        "an anchor",
        "an alias",
        "a list before",
        "a list after",
    ],
)
def test_a_place_is_that_of_the_item_in_the_list(path: Path, change: Callable[[str], str]) -> None:
    """Lines are counted as editors count them; anchors, aliases and other lists change nothing."""
    path.write_bytes(change(TEXT).encode())
    assert located(load_test(path)) == (18, 5)


def test_checks_of_no_list_are_not_placed(path: Path) -> None:
    """The tasks of a suite have checks that stand in no list of assertions of its file."""
    test = load_test(path)
    test.written = None
    assert located(test) == (None, None)
