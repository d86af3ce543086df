"""The page for people, in a real browser."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from browsing import PHONE
from hosts import KEYS, HostProcess


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("script", [True, False])
def test_runs_and_scorecards(host: HostProcess, browser: Browser, scheme: Any, script: bool) -> None:
    """Both pages, in both themes, on a phone, with and without JavaScript: readable, and nothing wider than the screen."""
    path = host.post()
    host.ended(path)
    context = browser.new_context(color_scheme=scheme, viewport=PHONE, java_script_enabled=script)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(host.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")
    page.get_by_role("link").first.click()
    expect(page.get_by_text("1: passed")).to_be_visible()
    assert page.get_by_role("row").count() == 6
    if script:
        for _ in range(2):
            assert Axe().run(page).violations_count == 0
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            page.goto(host.url)
    context.close()


def test_progress_is_live(host: HostProcess, browser: Browser) -> None:
    """A page that was opened while a run waits shows its end without being loaded again."""
    page = browser.new_page()
    paths = [host.post() for _ in range(30)]
    page.goto(f"{host.url}/page{paths[-1]}")
    loads = []
    page.on("load", lambda _: loads.append(1))
    expect(page.get_by_text("completed")).to_be_visible(timeout=60_000)
    assert not loads
    page.close()


def test_a_key_is_asked_for(guarded: HostProcess, browser: Browser) -> None:
    """By the browser itself; a tenant sees its own runs."""
    assert 'Basic realm="agenteval"' in guarded.ask("/").headers["www-authenticate"]
    path = guarded.post(key=KEYS["acme"])
    guarded.ended(path, key=KEYS["acme"])
    for tenant, runs in (("acme", True), ("other", False)):
        context = browser.new_context(http_credentials={"username": tenant, "password": KEYS[tenant]})
        page = context.new_page()
        page.goto(guarded.url)
        assert (path.rpartition("~2F")[2][:12] in page.content()) is runs
        context.close()
