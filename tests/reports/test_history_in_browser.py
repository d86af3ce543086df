"""The page of `agenteval history` in a real browser: runs, a strip for each test, a test's rates, and two runs compared."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from agenteval.cli import main
from browsing import PHONE, SAYS, Open
from past_runs import keep


@pytest.fixture(scope="module")
def page_of_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs, of which one is damaged; the words of an agent are hostile in a test's id."""
    runs = tmp_path_factory.mktemp("history")
    keep(runs, 1, branch="main", steady="pass", flaky=[12, 12])
    keep(runs, 2, branch=SAYS, steady="pass", flaky=[4, 12], **{SAYS: "pass"})
    keep(runs, 3, branch="main", steady="pass", flaky=[9, 12], **{SAYS: "error"})
    (keep(runs, 4, steady="pass") / "summary.json").write_text("{")
    path = runs / "history.html"
    assert main(["history", str(runs), "--html", str(path)]) == 0
    return path


def test_it_shows_runs_and_tests(visit: Open, page_of_runs: Path) -> None:
    """The newest run and the failing tests are first; the damaged run is one line."""
    page = visit(page_of_runs)
    assert page.title() == "3 runs – agenteval history"
    expect(page.locator("#runs tbody tr")).to_have_count(3)
    expect(page.locator("#runs tbody tr").first).to_contain_text("run-20260103T030405Z-00000003")
    expect(page.locator(".problems li")).to_have_count(1)
    assert page.locator(".past .name").all_text_contents()[::2] == ["flaky", "steady"]
    flaky = page.locator(".past").first
    expect(flaky.locator(".side")).to_have_text("69 % (25 of 36; 53 % to 82 %)")
    flaky.locator("summary").first.click()
    expect(flaky.locator(".rates rect")).to_have_count(3)
    expect(flaky.locator(".changes li")).to_have_text(["Passed → Failed in run-20260102T030405Z-00000002"])
    assert page.locator("img, iframe, base, a[href^=javascript], meta[http-equiv=refresh]").count() == 0


def test_two_runs_are_compared_in_the_page(visit: Open, page_of_runs: Path) -> None:
    """At first the last two; any others can be chosen. The command that shows more is beside it."""
    page = visit(page_of_runs)
    expect(page.locator("#changed tr")).to_have_count(1)
    expect(page.locator("#changed tr")).to_contain_text("passederror")
    page.locator("#before").select_option("0")
    expect(page.locator("#changed tr")).to_have_count(2)
    expect(page.locator("#found")).to_have_text("2 of 3 tests ended otherwise.")
    expect(page.locator("#command")).to_have_text(
        "agenteval compare run-20260101T030405Z-00000001 run-20260103T030405Z-00000003"
    )
    page.locator("#changed a").first.click()
    expect(page.locator(".past").first).to_have_attribute("open", "")


@pytest.mark.parametrize(
    "options",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"color_scheme": "dark", "viewport": PHONE}],
    ids=["light", "dark", "phone-dark"],
)
def test_axe_finds_nothing(visit: Open, page_of_runs: Path, options: dict[str, Any]) -> None:
    """The rules for accessibility of axe-core hold with all of it open, and nothing stands out to the side."""
    page = visit(page_of_runs, bypass_csp=True, **options)
    page.add_style_tag(content=".test { content-visibility: visible !important }")
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = Axe().run(page)
    assert found.response["passes"]
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
