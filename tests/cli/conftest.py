"""Fixtures of the tests of the command line."""

import os
from pathlib import Path

import pytest

from projects import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project in the current directory, and no settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("AGENTEVAL_")]:
        monkeypatch.delenv(name)
    return Project(tmp_path)
