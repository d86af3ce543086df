"""The project's own files: what they promise is so."""

import ast
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import agenteval
from agenteval import assertions

ROOT = Path(__file__).resolve().parent.parent

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"<!-- example: ([a-z ]+) -->\n```\w*\n(.*?)```", re.DOTALL)
EXAMPLES = dict(EXAMPLE.findall(CONTRIBUTING))


def functions_in(name: str) -> list[str]:
    """The names of the tests in one example of CONTRIBUTING.md."""
    functions = (node for node in ast.parse(EXAMPLES[name]).body if isinstance(node, ast.FunctionDef))
    return [function.name for function in functions if function.name.startswith("test_")]


def module_of(*examples: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The examples as one imported module; what it says of itself can be read from its source."""
    (folder / "contributing_example.py").write_text(
        "".join(EXAMPLES[name] for name in examples), encoding="utf-8"
    )
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "contributing_example", raising=False)
    return import_module("contributing_example")


def announced_assertion(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The example assertion with its tests, in the catalogue."""
    module = module_of("assertion", "assertion tests", folder=folder, monkeypatch=monkeypatch)
    monkeypatch.setitem(sys.modules, "agenteval.assertions.contributing_example", module)
    monkeypatch.setitem(assertions.CATALOGUE, "tools_succeed", "contributing_example")
    return module


@pytest.mark.parametrize("name", functions_in("assertion tests"))
def test_the_assertion_in_contributing_passes_its_tests(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever follows the page step by step arrives at green tests."""
    module = announced_assertion(tmp_path, monkeypatch)
    getattr(module, name)()


def test_the_assertion_in_contributing_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The docstrings of the class become its documentation, as the page says."""
    from agenteval.reference.explanation import explain

    announced_assertion(tmp_path, monkeypatch)
    explanation = explain("tools_succeed")
    assert explanation.description.startswith("Every call of the tool has a successful result, and no error.")
    (tool,) = explanation.parameters
    assert tool.description == "The tool: a name, or a glob such as `web_*`."


@pytest.mark.parametrize("name", EXAMPLES)
def test_code_in_contributing_is_formatted(name: str) -> None:
    """Code that is copied from the page is code that `make lint` accepts."""
    ruff = Path(sys.executable).parent / "ruff"
    command = [str(ruff), "format", "--diff", "--stdin-filename", str(ROOT / "src" / "example.py"), "-"]
    done = subprocess.run(
        command, input=EXAMPLES[name], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


def tracked_files() -> list[Path]:
    """The files that git knows, which are what others get to see."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    names = subprocess.run(
        [git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    files = [ROOT / name for name in names.split("\0") if name]
    return [file for file in files if file.is_file()]


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?<![\w.*])/(?:wor[k]|roo[t]|hom[e])/(?!node\b)\w",  # somebody's machine; node is the user of NanoClaw's image
        r"pythonhoste[d]|pypi\.or[g]|registry\.npmj[s]|deb\.debia[n]",  # where packages come from is pip's business
        r"(?<!nanoclaw )\bissue[s]? #?\d",  # numbers that only insiders can look up
        r"\b(?:C[E]O|workplac[e]|sub-?agent session[s]?)\b",
        r"\b(?:TOD[O]|FIXM[E]|XX[X])\b(?!\")",
    ],
)
def test_no_insider_words(pattern: str) -> None:
    """A stranger understands every file; none speaks of a machine, a registry or a ticket of its makers."""
    found = []
    for file in tracked_files():
        content = file.read_bytes()
        if b"\0" in content:  # a picture, whose bytes spell anything by chance
            continue
        text = content.decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(pattern, line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()[:120]}")
    assert found == []


def test_changelog_keeps_its_form() -> None:
    """Newest first, dated, in the sections of Keep a Changelog; the version is never behind it."""
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    released = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d", heading) for heading in headings[1:]]
    assert headings[0] == "[Unreleased]"
    assert all(released), headings
    versions = [numbers(match[1]) for match in released if match]
    assert versions == sorted(versions, reverse=True)
    assert re.fullmatch(r"\d+\.\d+\.\d+", agenteval.__version__)
    assert [numbers(agenteval.__version__), *versions][0] >= max(versions, default=(0, 0, 0))


def numbers(version: str) -> tuple[int, ...]:
    """A version to compare."""
    return tuple(map(int, version.split(".")))


def test_changelog_sections_are_the_known_ones() -> None:
    """Added, Changed, Deprecated, Removed, Fixed, Security, and no other."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    known = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= known


def test_every_make_target_is_documented() -> None:
    """`make help` lists all that can be made: each target has its line of help."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    documented = re.findall(r"^([a-z]+):.*## \S", text, re.MULTILINE)
    assert sorted(documented) == sorted(phony.split())


def test_links_between_documents_lead_somewhere() -> None:
    """Relative links in the Markdown files name files that exist."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    link = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
    links = ((page, target) for page in pages for target in link.findall(page.read_text(encoding="utf-8")))
    broken = [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()]
    assert broken == []
