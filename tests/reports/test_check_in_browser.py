"""The report of a check in a real browser: rates on the first screen, differences below them, trials as marks."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from agenteval.comparing.check_report import CheckReport
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.html import render
from browsing import PHONE, SAYS, Open
from check_reports import SAMPLES, all_measured, checked_run


def written(check: CheckReport, folder: Path) -> Path:
    """The report of a stored check, in a file."""
    path = folder / "check.html"
    path.write_bytes(render(checked_run(folder / "runs", check), Redactor()))
    return path


def test_the_rates_are_on_the_first_screen(visit: Open, tmp_path: Path) -> None:
    """The worst test first, and open: its answers, the assertion that fell, the ways, and a link to its result."""
    page = visit(written(all_measured(), tmp_path))
    expect(page.get_by_role("heading", level=1)).to_have_text("1 test is worse")
    lines = page.locator(".measured > summary")
    assert lines.locator(".outcome").all_inner_texts() == ["worse", "unclear", "better", "held"]
    worse = page.locator(".measured").first
    expect(lines.first).to_be_in_viewport()
    expect(worse.locator(".sides .rate").last).to_contain_text("0")
    expect(worse.get_by_role("img", name="0 of 6 trials passed, 50% needed")).to_be_visible()
    expect(worse.locator(".answer").last).to_have_text("It ships tomorrow.")
    expect(worse.locator(".plain").first).to_contain_text("names-order 6 of 6 → 0 of 6")
    worse.get_by_role("link", name="its result").click()
    expect(page.locator('[id="test-shop.refund"]')).to_be_in_viewport()
    expect(page.locator(".measured[open]")).to_have_count(1)


def test_what_was_not_measured_or_seen_stands_out(visit: Open, tmp_path: Path) -> None:
    """Of a check without the model, too."""
    check = SAMPLES["reached"]()
    check.allow_unmeasured = True
    page = visit(written(check, tmp_path))
    warnings = page.locator(".checked > .callout.is-warn").all_inner_texts()
    assert warnings == [
        "Not measured: 3 tests that only the model could judge.",
        "no test saw skills/digest/SKILL.md",
    ]
    page.get_by_text("5 changed files").click()
    expect(page.locator(".files li").first).to_have_text(
        "prompts/system.md modified, its text stands in requests: shop.refund, shop.order"
    )


def test_each_failing_trial_can_be_opened(visit: Open, tmp_path: Path) -> None:
    """On the line of a test there is a mark for each trial; below it each trial opens, with its reason."""
    page = visit(written(all_measured(), tmp_path), "#test-shop.address")
    test = page.locator('[id="test-shop.address"]')
    expect(test.locator("summary .dots .icon").nth(5)).to_be_visible()
    test.locator(".trial", has_text="trial 6").click()
    expect(test.locator(".trial[open]")).to_contain_text("names-order")


def test_hostile_words_in_a_check_do_nothing(visit: Open, tmp_path: Path) -> None:
    """In files, differences, answers and calls."""
    check = all_measured()
    check.files[0].path = check.parts[0].difference = check.next_step = check.exit_reason = SAYS
    made = check.tests[0].measurement
    assert made is not None
    made.answers, made.calls[0].lines, made.ways[0].calls, made.advice = [SAYS, SAYS], [SAYS], [SAYS], SAYS
    page = visit(written(check, tmp_path))
    assert "taken" not in page.title().split("=")[0]
    assert page.locator("img, iframe, base, a[href^=javascript], meta[http-equiv=refresh]").count() == 0


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize(
    "options",
    [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": PHONE}],
    ids=["light", "phone-dark"],
)
def test_axe_finds_nothing(visit: Open, tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    """In each report, closed and open, in both themes; and nothing stands out to the side of a phone."""
    page = visit(written(SAMPLES[name](), tmp_path), bypass_csp=True, **options)
    page.add_style_tag(content=".test, .measured { content-visibility: visible !important }")
    for opened in (False, True):
        page.evaluate(
            f"for (const each of document.querySelectorAll('details')) each.open = {str(opened).lower()}"
        )
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
