"""The HTML of mutation testing in a real browser: survivors at once, each with what to add, and nothing that acts."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from agenteval.cli import main
from agenteval.mutation import results
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.html import render_mutants
from browsing import PHONE, SAYS, Open
from projects import Project, make_replay
from runs import EXAMPLES


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two examples, as the command writes it."""
    path = tmp_path_factory.mktemp("mutants") / "examples.html"
    tests = [str(EXAMPLES / "nanoclaw" / name) for name in ("current-news", "graceful-failure")]
    assert main(["mutate", *tests, "-q", "--html", str(path)]) == 0
    return path


def test_it_opens_at_the_survivors(visit: Open, examples: Path) -> None:
    """Each with the difference and the assertion to add; what was noticed is folded away, a test without any is closed."""
    page = visit(examples)
    assert page.title() == "96 % of mutants killed – agenteval"
    expect(page.get_by_role("heading", level=1)).to_have_text("2 mutants survived")
    expect(page.locator(".run span").first).to_have_text("score 96 %")
    assert page.locator(".test .name").all_text_contents() == [
        "nanoclaw.news.current-news.sourced-bullets",
        "nanoclaw.recovery.graceful-failure.honest-answer",
    ]
    first, second = page.locator(".test").all()
    expect(first.locator("h4").first).to_contain_text("the answer begins with a preamble ramble, outcome")
    expect(first.locator("ins").first).to_have_text("+ Sure! Of course. Here is what I found for you:")
    expect(first.locator(".mutant").first.locator("pre").last).to_contain_text("type: output_omits")
    expect(second.locator(".body")).not_to_be_visible()


def test_what_was_noticed_says_by_what(visit: Open, examples: Path) -> None:
    """And what is equivalent says why; it takes no script to see it."""
    page = visit(examples, java_script_enabled=False)
    second = page.locator(".test").last
    second.locator("summary").first.click()
    second.get_by_text("26 mutants noticed or equivalent").click()
    expect(second.locator("li").first).to_be_visible()
    assert "drop-call, equivalent: failed-attempt" in second.inner_text()
    assert "claim-success, killed by offers-a-next-step, admits-the-failure" in second.inner_text()


def test_operators_that_leave_survivors_come_first(visit: Open, examples: Path) -> None:
    """Among categories as well."""
    page = visit(examples)
    expect(page.locator("[aria-labelledby=operators] li b").first).to_have_text("ramble")
    expect(page.locator("[aria-labelledby=categories] li b").first).to_have_text("outcome")


def test_idle_assertions_and_tests_that_were_not_mutated_are_shown(visit: Open, tmp_path: Path) -> None:
    """The latter first, with the reason; a second survivor that the same assertion notices points to the first."""
    project = Project(tmp_path)
    calls: list[dict[str, Any]] = []
    for number in (1, 2):
        link = {"tool": "web_search", "call_id": f"c{number}"}
        calls.append({"type": "tool_call", **link, "args": {"query": f"cats {number}"}})
        calls.append({"type": "tool_result", **link, "success": True, "result": "found"})
    never = {"id": "never", "type": "output_omits", "params": {"patterns": ["xyzzy"]}}
    project.add("pass", "idle", assertions=[never], replay=make_replay(*calls))
    project.add("fail")
    path = tmp_path / "mutants.html"
    main(["mutate", str(tmp_path), "-q", "--html", str(path), "--operators", "duplicate-call"])
    page = visit(path)
    expect(page.locator(".test .outcome").first).to_have_text("Not mutated")
    expect(page.locator(".test .side").first).to_contain_text("the test does not pass as recorded: fail")
    expect(page.locator(".callout")).to_have_text("Idle: never output_omits noticed none of these mutants.")
    expect(page.locator(".mutant").last).to_contain_text(
        "no-duplicate-tool-calls above (no_duplicate_tool_calls) notices it."
    )


def test_no_mutant_is_no_success(visit: Open, tmp_path: Path) -> None:
    """A test that was red already shows nothing, and neither does the report."""
    project = Project(tmp_path)
    project.add("fail")
    path = tmp_path / "mutants.html"
    main(["mutate", str(tmp_path), "-q", "--html", str(path)])
    page = visit(path)
    assert page.title() == "no mutant was judged – agenteval"
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("No mutant was judged")
    expect(heading).to_have_class("is-skipped")


def test_hostile_words_do_nothing(visit: Open, tmp_path: Path) -> None:
    """Wherever a mutant can hold them; they are shown as they are."""
    advice = results.Suggestion(id=SAYS, type=SAYS, params={SAYS: SAYS}, yaml=SAYS)
    common: dict[str, Any] = {"operator": SAYS, "category": SAYS, "what": SAYS, "difference": [f"+ {SAYS}"]}
    mutants = [
        results.MutantResult(**common, status="survived", killed_by=[], rule=None, suggestion=advice),
        results.MutantResult(**common, status="killed", killed_by=[SAYS], rule=None, suggestion=None),
    ]
    counts: dict[str, Any] = {"score": 0.5, "killed": 1, "survived": 1, "equivalent": 0}
    test = results.TestMutation(test_case_id=SAYS, path=SAYS, mutants=mutants, idle_assertions=[], **counts)
    path = tmp_path / "hostile.html"
    path.write_bytes(render_mutants(results.report(0, [test]), Redactor()))
    page = visit(path)
    page.get_by_text("1 mutant noticed or equivalent").click()
    assert page.title() == "50 % of mutants killed – agenteval"
    assert (
        page.locator("script, img, iframe, base, a[href^=javascript], meta[http-equiv=refresh]").count() == 0
    )
    shown = SAYS.replace("\u202e", "\\u202e").replace("\x00", "\\x00").replace("\x1b", "\\x1b")
    assert page.locator(".test .name").text_content() == shown
    assert page.locator(".mutant pre").last.text_content() == shown


@pytest.mark.parametrize(
    "options",
    [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": PHONE}],
    ids=["light", "phone-dark"],
)
def test_axe_finds_nothing(visit: Open, examples: Path, options: dict[str, Any]) -> None:
    """The rules for accessibility of axe-core hold with all of it open, in both themes."""
    page = visit(examples, bypass_csp=True, **options)
    page.add_style_tag(content=".test { content-visibility: visible !important }")
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = Axe().run(page)
    assert found.response["passes"]
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [320, 390, 768])
def test_no_window_is_too_narrow(visit: Open, examples: Path, width: int) -> None:
    """Nothing stands out to the side."""
    page = visit(examples, viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == width
