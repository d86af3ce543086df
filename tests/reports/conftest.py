"""A real browser for tests of HTML.

It needs Chromium, of Debian's packages for instance (`apt-get install chromium`); tests are skipped where there is none.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from browsing import Open


@pytest.fixture
def visit(browser: "Browser") -> "Iterator[Open]":
    """Opens a report. At the end nothing may have been requested, complained about, or thrown."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def visited(path: Path, anchor: str = "", **options: Any) -> "Page":
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"thrown: {error}"))
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: wrong.append(f"request: {request.url}"))
        page.goto(path.as_uri() + anchor)
        assert wrong.pop(0) == f"request: {path.as_uri()}"
        return page

    yield visited
    for context in contexts:
        context.close()
    assert wrong == []
