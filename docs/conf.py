"""Sphinx's settings for the site: the pages of this folder, in the parts and the order of README.md."""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parent
REPOSITORY = "https://github.com/agenteval/agenteval"

project = "agenteval"
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["shop"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "agenteval"
html_theme_options = {"source_repository": REPOSITORY, "source_branch": "main", "source_directory": "docs/"}
html_show_copyright = False
html_copy_source = False


def contents_of(index: str) -> str:
    """Return a table of contents for each part of the index: its heading, and the pages that it links to.

    The index is read where the code is hosted, too, and a table of contents would show as a block of code there.
    """
    tables = []
    for heading, part in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", index, re.MULTILINE | re.DOTALL):
        pages = re.findall(r"\]\(([\w-]+)\.md\)", part)
        tables.append("\n".join(["```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```"]))
    return "\n\n".join(tables)


def prepare(_: Sphinx, name: str, source: list[str]) -> None:
    """Add the tables of contents to the index, and lead to the repository where a link leaves this folder."""
    if name == root_doc:
        source[0] += "\n" + contents_of(source[0])
    source[0] = re.sub(r"\]\(\.\./([^)\s]+)\)", _in_repository, source[0])


def _in_repository(link: re.Match[str]) -> str:
    kind = "tree" if (DOCS.parent / link[1].partition("#")[0]).is_dir() else "blob"
    return f"]({REPOSITORY}/{kind}/main/{link[1]})"


def add_index(app: Sphinx, error: Exception | None) -> None:
    """Give the site its first page: servers look for `index.html`."""
    if error is None and app.builder.name == "html":
        shutil.copy(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the functions above to the build."""
    app.connect("source-read", prepare)
    app.connect("build-finished", add_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
