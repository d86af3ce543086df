"""Fixtures of the tests of OpenWOP."""

from pathlib import Path

import pytest

from openwop.suites import SuiteProject


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SuiteProject:
    """An empty project, which is the current directory."""
    monkeypatch.chdir(tmp_path)
    return SuiteProject(tmp_path)
