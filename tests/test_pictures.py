"""The pictures of the README show what a run prints and reports now."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest

from live_projects import needs_sandbox
from pages import DOCS, ROOT, text_of

UPDATE = "`python docs/pictures.py` makes the pictures again"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


pictures: Any = _load(DOCS / "pictures.py")


@pytest.fixture(scope="module")
def shop() -> Iterator[Any]:
    """The agent of the README, with its tool broken."""
    with TemporaryDirectory() as folder:
        yield pictures.Shop(Path(folder))


@needs_sandbox
def test_the_console_is_current(shop: Any) -> None:
    """The SVG has the words that the failing test prints now; another version of rich may draw them differently."""
    words = pictures.words_of(pictures.console(shop))
    assert "lookup_order" in words
    assert words == pictures.words_of(text_of(pictures.CONSOLE)), UPDATE


@needs_sandbox
def test_the_report_is_current(shop: Any) -> None:
    """The PNG was taken from a report with the words of today's report."""
    words = pictures.text_in(pictures.REPORT.read_bytes())
    assert pictures.words_of(pictures.report(shop)).encode("ascii", "xmlcharrefreplace").decode() == words, (
        UPDATE
    )


def test_the_readme_shows_both() -> None:
    """Both pictures stand in the README, with a text for those who cannot see them."""
    text = text_of(ROOT / "README.md")
    for picture in (pictures.CONSOLE, pictures.REPORT):
        before, found, _ = text.partition(f"](docs/{picture.name})")
        assert found
        assert len(before.rpartition("![")[2]) > 20
