"""What holds for all tests: they say the same on a developer's machine and in CI."""

import os

import pytest
from hypothesis import settings

settings.register_profile("agenteval", deadline=None)  # a machine that is busy makes no test fail
settings.load_profile("agenteval")

for name in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"):  # images for containers set them, users do not
    os.environ.pop(name, None)


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
