"""The documentation is true: what a page shows is what happens, and its files are valid."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from agenteval.live.sandbox import probe
from agenteval.loading.config import load_config
from agenteval.loading.testfile import load_test
from agenteval_nanoclaw.bundle import load_bundle
from pages import (
    DOCS,
    PAGES,
    ROOT,
    Block,
    Workspace,
    blocks,
    follow,
    name_of,
    normal,
    prose,
    refresh,
    text_of,
)

README = ROOT / "README.md"
CI = DOCS / "ci.md"
FIRST_TEST = DOCS / "first-test.md"
LIVE_PAGES = [README, FIRST_TEST, DOCS / "did-my-change-break-it.md", DOCS / "live.md"]
"""The pages with commands that run an agent in the sandbox."""
UPDATE = "python tests/pages.py brings the shown output up to date"

PARSERS = {"yaml": yaml.safe_load, "json": json.loads, "toml": tomllib.loads, "python": ast.parse}


def blocks_in(*languages: str) -> list[object]:
    """The blocks of all pages in these languages, with readable test ids."""
    return [
        pytest.param(block, id=f"{name_of(page)}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks(page), 1)
        if block.language in languages
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_show_what_happens(page: Path, tmp_path: Path) -> None:
    """Followed from its top, every command of a page prints what the page shows, and every value is as shown."""
    if page in LIVE_PAGES and not probe("bwrap").works:
        pytest.skip("bubblewrap does not work here")
    differing = [
        f"the page shows:\n{block.text}\nit is:\n{now}"
        for block, now in follow(page, tmp_path)
        if normal(block.text) != normal(now)
    ]
    assert differing == [], UPDATE


def test_the_first_test_ends_green_once_the_mistakes_are_undone(tmp_path: Path) -> None:
    """The files of the first walk, and nothing else, make a test that passes with nothing vacuous."""
    workspace = Workspace(tmp_path)
    for block in blocks(FIRST_TEST):
        if block.role == "file":
            workspace.follow(block)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.glob("evals/**/*.*")} == {
        "evals/umbrella/test.yaml",
        "evals/umbrella/replay.json",
    }
    workspace.run("agenteval run evals --fail-on-vacuous --strict --strict-capabilities")
    assert workspace.exit_code == 0


def test_the_readme_is_short() -> None:
    """A stranger decides in ten seconds: at most 700 words, code and output among them."""
    assert len(text_of(README).split()) <= 700


@pytest.mark.parametrize("block", blocks_in(*PARSERS))
def test_blocks_parse(block: Block) -> None:
    """Whatever is shown as YAML, JSON, TOML or Python is just that."""
    PARSERS[block.language](block.text)  # type: ignore[operator]


@pytest.mark.parametrize("block", blocks_in("yaml", "json", "toml"))
def test_whole_files_are_valid(block: Block, tmp_path: Path) -> None:
    """Test files, recordings and configurations can be copied from a page as they stand."""
    path = tmp_path / "file"
    path.write_text(block.text, encoding="utf-8")
    if block.language == "yaml" and "assertions:" in block.text:
        assert load_test(path).warnings == []
    elif block.language == "json" and '"script"' in block.text:
        load_bundle(path, max_bytes=10_000)
    elif "[tool.agenteval]" in block.text:
        load_config(path.rename(tmp_path / "pyproject.toml").parent, {})
    elif block.target == "agenteval.yaml":
        load_config(path.rename(tmp_path / "agenteval.yaml").parent, {})


@pytest.mark.parametrize("block", blocks_in("python"))
def test_python_is_formatted(block: Block) -> None:
    """Code that is copied from a page is formatted as this project's is."""
    ruff = Path(sys.executable).parent / "ruff"
    command = [str(ruff), "format", "--diff", "--stdin-filename", str(ROOT / "src" / "example.py"), "-"]
    done = subprocess.run(command, input=block.text, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("target", "template_name"),
    [(".github/workflows/agenteval.yml", "workflow.yml"), ("check-steps.yml", "check-steps.yml")],
)
def test_the_workflow_is_the_one_that_init_makes(target: str, template_name: str) -> None:
    """The GitHub workflow on the page about CI is the file that `agenteval init` writes, and so is its step for checks."""
    (shown,) = (block.text for block in blocks(CI) if block.target == target)
    template = ROOT / "src" / "agenteval" / "templates" / "init" / template_name
    assert shown == template.read_text(encoding="utf-8")


def test_every_job_of_the_shards_keeps_what_it_wrote() -> None:
    """The parts and the merged run are uploaded, also when tests fail."""
    (shown,) = (
        block.text for block in blocks(CI) if block.target == ".github/workflows/agenteval-shards.yml"
    )
    last = {name: job["steps"][-1] for name, job in yaml.safe_load(shown)["jobs"].items()}
    assert list(last) == ["shard", "merge"]
    for step in last.values():
        assert step["uses"].startswith("actions/upload-artifact@")
        assert (step["if"], step["with"]["path"]) == ("always()", "artifacts/")


def test_the_inputs_and_outputs_of_the_action_are_on_the_page() -> None:
    """Each with its default, and no other."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    rows = re.findall(r"^\| `([\w-]+)` \|(.*?)\|", text_of(CI), re.MULTILINE)
    inputs, outputs = rows[: len(action["inputs"])], rows[len(action["inputs"]) :]
    assert [(name, cell.strip(" `")) for name, cell in inputs] == [
        (name, about["default"]) for name, about in action["inputs"].items()
    ]
    assert [name for name, _ in outputs] == list(action["outputs"])


@pytest.mark.parametrize("block", blocks_in("sh"))
def test_shell_is_understood_by_a_shell(block: Block) -> None:
    """What is shown as shell has no mistake that a shell finds before it runs anything."""
    subprocess.run(["/bin/sh", "-n"], input=block.text, text=True, check=True)


def slug(heading: str) -> str:
    """A heading's anchor, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_headings(page: Path) -> None:
    """Links to a place in a page name a heading of that page."""
    broken = []
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", text_of(page)):
        other = (page.parent / target) if target else page
        headings = re.findall(r"^#+ (.*)$", text_of(other), re.MULTILINE)
        if anchor not in map(slug, headings):
            broken.append(f"{target}#{anchor}")
    assert broken == []


def test_every_page_is_in_the_index_once() -> None:
    """Every page of docs/ is linked from docs/README.md, which the README leads to."""
    pages = sorted(page.name for page in DOCS.glob("*.md") if page.name != "README.md")
    assert sorted(re.findall(r"\]\(([\w-]+\.md)\)", text_of(DOCS / "README.md"))) == pages
    assert "](docs/README.md" in text_of(README)


def test_relative_links_lead_to_files() -> None:
    """Links and pictures of all pages name files and folders that exist."""
    broken = [
        f"{name_of(page)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", prose(page))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_shown_output_may_differ_in_what_varies_only() -> None:
    """Run ids, times and durations may differ between a page and what is printed, and nothing else."""
    shown = "PASS a   7 ms · x\n1 passed in 0.05 s\nartifacts/run-20260101T000000Z-00000000/summary.json\n"
    other = "PASS a   11 ms · x\n1 passed in 1.05 s\nartifacts/run-20270101T000000Z-12345678/summary.json\n"
    assert normal(shown) == normal(other)
    assert normal(shown) != normal(other.replace("PASS", "FAIL"))
    assert normal(shown) != normal(other + "more\n")


def test_a_page_is_brought_up_to_date(tmp_path: Path) -> None:
    """Output that is no longer true is rewritten; all else, commands and files too, stays as it is."""
    page = tmp_path / "page.md"
    text = (
        "# A page\n\n<!-- file: a.txt -->\n```\nhello\n```\n\n```console\n$ cat a.txt\n{}$ echo $?\n0\n```\n"
    )
    page.write_text(text.format("gone\n"), encoding="utf-8")
    refresh(page)
    assert text_of(page) == text.format("hello\n")
