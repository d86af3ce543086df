"""Fixtures of the tests of the command line."""

from pathlib import Path

import pytest

from projects import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project in the current directory."""
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)
