"""What holds for all tests: they say the same on a developer's machine and in CI."""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile("agenteval", deadline=None)  # a machine that is busy makes no test fail
settings.load_profile("agenteval")

for name in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"):  # images for containers set them, users do not
    os.environ.pop(name, None)


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are processors: many tests wait for processes and time limits."""
    return (3 * (os.cpu_count() or 1) + 1) // 2


@pytest.fixture(autouse=True)
def no_github_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run inside GitHub Actions tells of itself in its own way; tests that want that say so."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of the person who runs the tests are no settings of what they run."""
    for name in [name for name in os.environ if name.startswith("AGENTEVAL_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """One browser for the tests of a module."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()
