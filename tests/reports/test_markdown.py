"""Markdown: what a reviewer reads, within what a comment may hold, and nothing that the agent said is obeyed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agenteval.contracts.results import TestResult
from agenteval.reporters.markdown import LONGEST_COMMENT, within
from run_builders import judged, make_result
from stored_runs import FAILED, PASSED, UNREADABLE, mixed, rendered, store


def test_the_report_of_a_run(tmp_path: Path) -> None:
    """Verdict, counts, a fold for each thing to read, the scorecard."""
    text = rendered("markdown", store(tmp_path, PASSED, FAILED))
    assert text == (
        "## ❌ agenteval: 1 test failed\n"
        "\n"
        "| tests | passed | failed |\n"
        "| --- | --- | --- |\n"
        "| 2 | 1 | 1 |\n"
        "\n"
        "<code>run-1</code> · agenteval 0.1.0 · exit 1 in 1.00 s\n"
        "\n"
        "<details><summary><b>FAIL</b> <code>nanoclaw.t.fails</code> <code>searches: expected at least 1 call of "
        "web_search, got 0; the trace calls web_fetch×1</code></summary>\n"
        "\n"
        "<p><code>suite/case/test.yaml:24</code></p>\n"
        "\n"
        "```text\n"
        "suite/case/test.yaml:24:5: searches (must_call_tool) failed\n"
        "  expected at least 1 call of web_search, got 0; the trace calls web_fetch×1\n"
        "  why it is checked: news are looked up\n"
        "  evt-2 web_fetch {}\n"
        "    tool: expected web_search\n"
        "next: do something about the fail\n"
        "```\n"
        "\n"
        "</details>\n"
        "\n"
        "### Scorecard\n"
        "\n"
        "| category | passed | failed | xfailed | warnings | vacuous | skipped |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        "| tool_process | 2 | 1 |  |  |  |  |\n"
    )


def test_what_did_not_pass_comes_first(tmp_path: Path) -> None:
    """Broken files and failures, then warnings, skips and expected failures; of a pass nothing is said."""
    text = rendered("markdown", mixed(tmp_path))
    words = [line.partition("<b>")[2].partition("</b>")[0] for line in text.splitlines() if "<b>" in line]
    assert words == ["ERROR", "FAIL", "WARN", "SKIP", "XFAIL"]
    assert "nanoclaw.t.passes" not in text
    assert text.startswith("## ⛔ agenteval: 1 invalid test spec\n")


def test_a_green_run_is_short(tmp_path: Path) -> None:
    """Verdict, counts, scorecard."""
    text = rendered("markdown", store(tmp_path, PASSED))
    assert text.startswith("## ✅ agenteval: all tests passed\n")
    assert "<details>" not in text


def failures(number: int) -> list[TestResult]:
    """Tests that fail, with long evidence of many bytes."""
    failed = judged("fail", "long", message="\n".join(["ä" * 500] * 8))
    return [make_result("fail", failed, test_case_id=f"nanoclaw.t.{each}") for each in range(number)]


def test_a_comment_is_never_too_long(tmp_path: Path) -> None:
    """What does not fit is counted, not what has nothing to tell; and the scorecard is there all the same."""
    plain = [make_result("pass", judged("pass", "a"), test_case_id=f"nanoclaw.p.{each}") for each in range(9)]
    text = rendered("markdown", store(tmp_path, *failures(40), *plain))
    assert len(text.encode()) <= LONGEST_COMMENT
    shown = text.count("<details>")
    assert f"\n{40 - shown} more did not fit here; `agenteval report` shows all of them.\n" in text
    assert text.count("</details>") == shown
    assert shown > 5
    assert "### Scorecard" in text


def test_broken_files_are_never_crowded_out(tmp_path: Path) -> None:
    """They are why the run ends with exit 3: however many tests failed besides, they are told."""
    text = rendered("markdown", store(tmp_path, *failures(40), problems=[UNREADABLE]))
    assert "more did not fit here" in text
    assert "<code>suite/broken/test.yaml</code>" in text


def test_a_summary_may_be_longer(tmp_path: Path) -> None:
    """The same report for a place that holds more leaves nothing out."""
    assert within(store(tmp_path, *failures(40)), 2**20).count("<details>") == 40


HOSTILE = "@everyone ![x](http://a.example/x) </details><script>alert(1)</script> ```\n```\n# Heading | <b>"


def test_what_the_agent_said_is_not_obeyed(tmp_path: Path) -> None:
    """No heading, image, mention or tag comes of words in a result: they stand in code."""
    failed = judged("fail", "odd", message=HOSTILE)
    text = rendered("markdown", store(tmp_path, make_result("fail", failed, xfail_reason=HOSTILE)))
    tokens = MarkdownIt().parse(text)
    assert sum(token.type == "heading_open" for token in tokens) == 2
    html = "".join(token.content for token in tokens if token.type == "html_block")
    assert "<script" not in html
    fences = [token.content for token in tokens if token.type == "fence"]
    assert len(fences) == 1
    assert "```\n" in fences[0]
    inline = [child for token in tokens for child in token.children or []]
    assert [child.content for child in inline if child.type == "html_inline"] == ["<code>", "</code>"]


def test_a_path_is_not_obeyed(tmp_path: Path) -> None:
    """A folder may be called like an image, or like bold print."""
    path = "evals/![x](https:a.example) __tests__/@x/test.yaml"
    failed = make_result("fail", judged("fail", "odd"), path=path)
    tokens = MarkdownIt().parse(rendered("markdown", store(tmp_path, failed)))
    inside = {child.type for token in tokens for child in token.children or []}
    assert inside <= {"text", "html_inline", "softbreak"}


@given(text=st.text(st.characters(codec=None), max_size=80))
def test_no_text_breaks_the_fold(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One fold, one block of code, two headings: whatever is said."""
    failed = judged("fail", "odd", message=text, description=text)
    run = store(tmp_path_factory.mktemp("run"), make_result("fail", failed))
    tokens = MarkdownIt().parse(rendered("markdown", run))
    assert [token.type for token in tokens if token.type in ("fence", "heading_open")] == [
        "heading_open",
        "fence",
        "heading_open",
    ]
