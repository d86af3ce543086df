"""What strangers see of the project elsewhere: its site, and its README on an index of packages."""

import importlib.util
import re
import tomllib
from types import ModuleType

import pytest
import yaml

from pages import DOCS, ROOT, text_of


@pytest.fixture(scope="module")
def conf() -> ModuleType:
    """The settings of the site."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_site_has_the_parts_of_the_index(conf: ModuleType) -> None:
    """Four tables of contents, in which each page stands once."""
    text = conf.contents_of(text_of(DOCS / "README.md"))
    assert re.findall(r":caption: (.*)", text) == ["Start", "How to", "Reference", "Why"]
    pages = sorted(page.stem for page in DOCS.glob("*.md") if page.name != "README.md")
    assert sorted(re.findall(r"^[\w-]+$", text, re.MULTILINE)) == pages


def test_links_out_of_the_folder_lead_to_the_repository(conf: ModuleType) -> None:
    """The site has the pages of docs/ alone. Links within it stay as they are."""
    source = ["[a](../CONTRIBUTING.md#add-an-adapter) [b](../examples) [c](live.md)"]
    conf.prepare(None, "page", source)
    assert source == [
        f"[a]({conf.REPOSITORY}/blob/main/CONTRIBUTING.md#add-an-adapter) [b]({conf.REPOSITORY}/tree/main/examples) [c](live.md)"
    ]


def test_the_readme_has_no_relative_link_on_an_index() -> None:
    """There, nothing of the repository is beside it; pictures come as files, not as pages about them."""
    settings = tomllib.loads(text_of(ROOT / "pyproject.toml"))["tool"]["hatch"]["metadata"]["hooks"]
    text = text_of(ROOT / "README.md")
    for rule in settings["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 10
    assert [target for target in targets if not target.startswith("https://")] == []
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert [target for target in pictures if "/blob/" in target] == []


def test_the_citation_is_of_this_version() -> None:
    """Version and licence are those of the package."""
    import agenteval

    cited = yaml.safe_load(text_of(DOCS / "CITATION.cff"))
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    assert (cited["version"], cited["license"]) == (agenteval.__version__, project["license"])


def test_pythons_are_those_of_ci() -> None:
    """Each version that the classifiers promise is tested, and the oldest is the one that is required."""
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    ci = yaml.safe_load(text_of(ROOT / ".github/workflows/ci.yml"))
    assert ci["jobs"]["test"]["strategy"]["matrix"]["python"] == promised
    assert project["requires-python"] == f">={promised[0]}"
